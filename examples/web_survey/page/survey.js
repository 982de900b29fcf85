// The questionnaire. The client turns the answers into a report, on this device. The one function
// that sends, `deliver`, is given the report and not the answers.

import { load } from "./skrldp.js";
import { element, percent, read, row } from "./common.js";

const find = (id) => document.getElementById(id);
const form = find("questions");
let survey, mechanism, client;
let prepared; // what would be sent, {digest, id, report}
let sent; // what is sent, {digest, id, report, stored}

async function start() {
  if (!globalThis.crypto?.subtle || !navigator.locks) {
    throw new Error("Browsers allow the randomness that this page needs on secure pages only. " +
      "Open it by https, or as http://localhost on the computer that serves it.");
  }
  survey = JSON.parse(await read("survey.json"));
  document.title = find("title").textContent = survey.title;
  find("introduction").textContent = survey.introduction;
  find("bound").textContent = survey.promise.hidden;
  find("others").textContent = survey.promise.others;
  find("promise").hidden = false;
  const state = remembered();
  if (state?.report !== undefined) return showSent(state);

  const text = await read("mechanism.json");
  client = await load(text, { digest: survey.digest, memoize: random(32) });
  mechanism = JSON.parse(text);
  find("asked").replaceChildren(...survey.questions.map(question));
  form.hidden = false;
}

// -- What this browser remembers -------------------------------------------------------------------
// Before sending nothing: the id and the key are in this page's memory alone. The key has the same
// answers give the same number, however often they are tried. Whoever has it, and the report, can
// rule out answers, and a browser's files may keep what was deleted from its storage.
// From sending on {digest, id, report, stored}, and nothing but this report is ever sent. It is
// written down before it is sent, so that no interruption gives a second one.

const place = () => `skrldp survey ${survey.name}`;
const locked = (work) => navigator.locks.request(place(), work); // one tab at a time
const random = (count) => crypto.getRandomValues(new Uint8Array(count));
const id = Array.from(random(16), (byte) => byte.toString(16).padStart(2, "0")).join("");

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(place()));
  } catch {
    throw new Error("This page cannot read what this browser has sent before, and so does not send " +
      "anything. Allow this site to store data, and reload the page.");
  }
}

function remember(state) {
  localStorage.setItem(place(), JSON.stringify(state));
  return state;
}

// -- Questions and answers -------------------------------------------------------------------------

function question(asked, number) {
  const tag = asked.sensitive
    ? element("span", { class: "tag secret" }, "Hidden by the random number")
    : element("span", { class: "tag" }, "Not hidden: the number may tell it");
  const missing = element("p", { class: "missing", id: `missing-${number}` });
  const about = { id: `answer-${number}`, "aria-describedby": missing.id };
  if (asked.options) {
    const options = asked.options.map((option, index) => element("label", { class: "option" },
      element("input", { type: "radio", name: `question-${number}`, value: index }), option));
    return element("fieldset", about, element("legend", {}, asked.text), tag, ...options, missing);
  }
  const input = element("input", { ...about, inputmode: "numeric", maxlength: 3, spellcheck: false });
  const label = element("label", { class: "question", for: input.id }, asked.text);
  const typed = element("div", { class: "typed" }, input, asked.unit);
  const groups = `Your browser makes a group of it: ${asked.groups.map((g) => g.name).join(", ")}.`;
  return element("div", { class: "card" }, label, element("div", {}, tag), typed, missing,
    element("p", { class: "hint" }, groups));
}

function answerTo(asked, number) {
  const field = find(`answer-${number}`);
  if (asked.options) {
    const chosen = field.querySelector("input:checked");
    return chosen ? { value: asked.options[chosen.value] } : { problem: "Please choose an answer." };
  }
  const typed = field.value.trim();
  const years = /^\d{1,3}$/.test(typed) ? Number(typed) : NaN;
  if (!(asked.least <= years && years <= asked.most)) {
    return { problem: `Please type a whole number from ${asked.least} to ${asked.most}.` };
  }
  return { value: asked.groups.findLast((group) => group.from <= years).name };
}

function answers() {
  const record = {};
  let first;
  survey.questions.forEach((asked, number) => {
    const { value, problem = "" } = answerTo(asked, number);
    find(`missing-${number}`).textContent = problem;
    if (problem) first ??= find(`answer-${number}`);
    record[asked.column] = value;
  });
  (first?.querySelector("input") ?? first)?.focus();
  return first ? null : record;
}

// -- From answers to a report ----------------------------------------------------------------------

async function preview() {
  const record = answers();
  if (!record) return;
  const report = await client.report(record, { id });
  prepared = { digest: client.digest, id, report };
  find("number").textContent = report;
  find("send").textContent = `Send report ${report}`;
  find("body").textContent = JSON.stringify(prepared);
  find("chances").replaceChildren(...chances(record, report));
  find("preview").hidden = false;
  find("preview-title").focus();
}

// How likely the report is for each answer to the sensitive questions, the others being the same.
function chances(record, report) {
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
  const caption = element("caption", {}, "How likely this number is, with your other answers as they " +
    `are, by the answer to ${asked.join(" and ")}`);
  const bars = rows.map(([label, share]) => row(label, null, 0, share / most, percent(share, 2)));
  const least = Math.min(...rows.map(([, share]) => share));
  return [element("table", {}, caption, element("tbody", {}, ...bars)),
    element("p", { class: "hint", id: "ratio" }, comparison(most / least))];
}

// What the table shows is about observers who know the other answers, for whom another bound holds.
function comparison(ratio) {
  const { times, times_known } = survey.promise;
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

function change() {
  find("preview").hidden = true;
  form.querySelector("input").focus();
}

// -- Sending ---------------------------------------------------------------------------------------

async function send() {
  const state = await locked(() => {
    const now = remembered();
    return now?.report === undefined ? remember({ ...prepared, stored: false }) : now;
  });
  await retry(state);
}

async function retry(state) {
  find("error").hidden = true;
  try {
    const { digest, id, report } = state;
    if (!state.stored) await deliver(JSON.stringify({ digest, id, report }));
  } catch (problem) {
    showSent(state);
    throw problem;
  }
  showSent(remember({ ...state, stored: true }));
}

async function deliver(body) {
  const kept = "Your report is kept in this browser, and you can try again, also later.";
  let response;
  try {
    response = await fetch("reports", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(20_000),
    });
  } catch {
    throw new Error(`The server cannot be reached. ${kept}`);
  }
  if (response.ok) return;
  const said = await response.json().catch(() => ({}));
  throw new Error(`The server did not take the report: ${said.error ?? response.status} ${kept}`);
}

function showSent(state) {
  sent = state;
  const { report, stored } = state;
  client = prepared = undefined; // the key and the answers are needed no more
  find("asked").replaceChildren();
  find("chances").replaceChildren();
  form.hidden = find("preview").hidden = true;
  find("again").hidden = stored;
  find("status").textContent = stored
    ? `Thank you. Report ${report} has arrived. Your answers have not left this device, and are no ` +
      "longer kept on it. This browser has answered this survey and sends nothing more for it."
    : `Report ${report} is ready, but it is not certain that it has arrived.`;
  find("status").hidden = false;
  find("status").focus();
}

// -- Errors are shown in the page ------------------------------------------------------------------

function showError(problem) {
  find("error").textContent = problem.message;
  find("error").hidden = false;
  find("error").focus();
}

function attempt(work) {
  return async (event) => {
    event.preventDefault();
    find("error").hidden = true;
    const buttons = document.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    try {
      await work();
    } catch (problem) {
      showError(problem);
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  };
}

form.addEventListener("submit", attempt(preview));
form.addEventListener("input", () => { find("preview").hidden = true; });
find("change").addEventListener("click", change);
find("send").addEventListener("click", attempt(send));
find("retry").addEventListener("click", attempt(() => retry(sent)));
start().catch(showError);
