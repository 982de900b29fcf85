// Shows what would be sent, and what it reveals.

import { element, find, percent, row } from "./common.js";

// `text` is the manifest, `drawn` the block and its report.
export function show(survey, client, text, record, drawn, body) {
  const { block, report } = drawn;
  const named = (column) => survey.questions.find((asked) => asked.column === column);
  const [about] = client.blocks[block].map(named);
  find("number").textContent = report;
  find("send").textContent = `Send report ${report}`;
  find("about").textContent = `By chance your browser drew the question “${about.text}”. The report is ` +
    "about this and the hidden question. It does not depend on your other answers.";
  find("body").textContent = body;
  const mechanism = JSON.parse(text).mechanisms[block];
  find("chances").replaceChildren(...chances(survey, mechanism, record, report));
  find("preview").hidden = false;
  find("preview-title").focus();
}

// Returns how likely the report is for each answer to the sensitive questions, given the same other answer.
function chances(survey, mechanism, record, report) {
  if (!mechanism.weights || mechanism.observe) return [];
  const given = mechanism.columns.filter(([, secret]) => !secret).map(([name]) => record[name]);
  const same = JSON.stringify(given.length > 1 ? given : given[0]);
  const value = mechanism.values.findIndex((each) => JSON.stringify(each) === same);
  const rows = mechanism.secrets.map((secret, index) => {
    const weight = mechanism.weights[report][index * mechanism.values.length + value];
    const share = weight / 2 ** mechanism.denominator_bits;
    return [`if it is “${[secret].flat().join("”, “")}”`, share];
  });
  const most = Math.max(...rows.map(([, share]) => share)); // the longest bar is the whole width
  const asked = survey.questions.filter((each) => each.sensitive).map((each) => `“${each.text}”`);
  const caption = element("caption", {}, `How likely this number is, with “${given.join("”, “")}” as ` +
    `your answer to the question that was drawn, by the answer to ${asked.join(" and ")}`);
  const bars = rows.map(([label, share]) => row(label, null, 0, share / most, percent(share, 2)));
  const least = Math.min(...rows.map(([, share]) => share));
  return [element("table", {}, caption, element("tbody", {}, ...bars)),
    element("p", { class: "hint", id: "ratio" }, comparison(survey.promise, most / least))];
}

// The table is for observers who know the other answers, for whom a different bound holds.
function comparison({ times, times_known }, ratio) {
  const shown = (Math.ceil(100 * ratio * (1 - 1e-12)) / 100).toFixed(2);
  const here = Number.isFinite(ratio)
    ? `To somebody who knows your other answers, this number is up to ${shown} times as likely with one ` +
      "hidden answer as with another. "
    : "To somebody who knows your other answers, this number rules out a hidden answer. ";
  return here + (times_known === null
    ? `Nothing is promised about them: the ${times} times above are for somebody who knows nothing else.`
    : `For them at most ${times_known} times is promised; the ${times} times above are for somebody who ` +
      "knows nothing else about you.");
}
