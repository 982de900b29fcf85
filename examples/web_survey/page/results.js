// Shows the results: estimates with intervals, which the server computed from the reports.

import { element, find, moment, percent, read, row } from "./common.js";

async function start() {
  const results = JSON.parse(await read("results.json"));
  document.title = find("title").textContent = `Results: ${results.title}`;
  find("statements").replaceChildren(...results.privacy.map((text) => element("li", {}, text)));
  find("digest").textContent = results.digest;
  find("privacy").hidden = false;
  const needed = results.needed.toLocaleString("en");
  if (results.questions.length === 0) {
    find("summary").textContent = `Estimates are shown from ${needed} reports on: with fewer, ` +
      "randomness hides nearly everything. Until then, their number is not shown.";
    return;
  }
  find("summary").textContent = `Estimated from ${results.reports.toLocaleString("en")} reports. Each ` +
    `is a random number, but over many reports the randomness averages out. Updated after at least ${needed} ` +
    `further reports, so that nobody can see what one report changes. Open until ` +
    `${moment(results.closes)}.`;
  find("csv").hidden = false;
  const level = percent(results.confidence, 0);
  find("meaning").textContent = `In ${level} of surveys, such an interval contains the true share ` +
    "in the population from which the respondents were drawn. It allows for chance, but not for people who " +
    "did not answer, or did not tell the truth.";
  find("meaning").hidden = false;
  find("questions").replaceChildren(...results.questions.map((asked) => question(asked, results)));
}

function question(asked, { confidence }) {
  const level = percent(confidence, 0);
  const caption = element("caption", {}, element("span", { class: "question" }, asked.text));
  if (asked.sensitive) caption.append(element("span", { class: "tag secret" }, "Hidden in each report"));
  const head = element("tr", {},
    element("th", { scope: "col" }, "Answer"),
    element("th", { scope: "col" }, "From 0 to 100 %"),
    element("th", { scope: "col", class: "figure" }, "Share"),
    element("th", { scope: "col", class: "figure" }, `${level} interval`));
  const rows = asked.shares.map(({ answer, estimate, lower, upper }) =>
    row(answer, estimate, lower, upper, percent(estimate), `${(100 * lower).toFixed(1)} to ${percent(upper)}`));
  const table = element("table", {}, caption, element("thead", {}, head),
    element("tbody", {}, ...rows));
  return element("section", { class: "card" }, table);
}

start().catch((problem) => {
  find("summary").textContent = "";
  find("error").textContent = problem.message;
  find("error").hidden = false;
});
