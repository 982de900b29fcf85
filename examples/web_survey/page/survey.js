// Runs the questionnaire. The client turns the answers into a report on this device. The functions that
// send are in sending.js, which receives the report but not the answers.

import { load } from "./skrldp.js";
import { find, moment, read } from "./common.js";
import { answers, question } from "./questions.js";
import { show } from "./preview.js";
import { bodyOf, deliver, random, remember, remembered, settle } from "./sending.js";

const form = find("questions");
const invitation = location.hash.slice(1); // browsers do not send it with the address
const id = Array.from(random(16), (byte) => byte.toString(16).padStart(2, "0")).join("");
let survey, text, client; // text: the manifest
let prepared; // what would be sent, {digest, invitation, id, block, report}
let sent; // what is sent, {…prepared, stored}

async function start() {
  if (!globalThis.crypto?.subtle || !navigator.locks) {
    throw new Error("This page needs secure randomness, which browsers provide only on secure pages. " +
      "Open it with https, or as http://localhost on the computer that serves it.");
  }
  survey = JSON.parse(await read("survey.json"));
  document.title = find("title").textContent = survey.title;
  find("introduction").textContent = survey.introduction;
  const state = remembered(survey, invitation);
  if (state) return showSent(state);
  const closes = moment(survey.closes);
  if (survey.closed) return say(`This survey closed on ${closes}. Thank you for your interest.`);
  if (!/^[0-9a-f]{32}$/.test(invitation)) {
    return say("This survey is by invitation. Please open the complete link that you were sent.");
  }
  find("closes").textContent = `Open until ${closes}. Your invitation is valid for one report.`;
  find("bound").textContent = survey.promise.hidden;
  find("others").textContent = survey.promise.others;
  find("promise").hidden = false;

  text = await read("manifest.json");
  client = await load(text, { digest: survey.digest, permanentKey: random(32) });
  find("asked").replaceChildren(...survey.questions.map(question));
  form.hidden = false;
}

async function preview() {
  const record = answers(survey);
  if (!record) return;
  const drawn = await client.report(record, { id });
  prepared = { digest: client.digest, invitation, id, ...drawn };
  show(survey, client, text, record, drawn, bodyOf(prepared));
}

function change() {
  find("preview").hidden = true;
  form.querySelector("input").focus();
}

async function send() {
  const state = await settle(survey, prepared);
  if (state) return retry(state);
  forget();
  say("Another tab of this browser has sent the report for this invitation, or is about to. Nothing " +
    "was sent from this one.");
}

async function retry(state) {
  find("error").hidden = true;
  try {
    if (!state.stored) await deliver(bodyOf(state));
  } catch (problem) {
    showSent(state, problem.isFinal);
    throw problem;
  }
  showSent(remember(survey, { ...state, stored: true }));
}

function showSent(state, isRefused = false) {
  sent = state;
  const { report, stored } = state;
  forget();
  find("again").hidden = stored || isRefused;
  if (stored) {
    say(`Thank you. Report ${report} has arrived. Your answers have not left this device, and are no ` +
      "longer stored on it. This browser sends nothing more for this invitation.");
  } else if (isRefused) {
    say(`Report ${report} was not accepted. Your answers are no longer stored on this device.`);
  } else {
    say(`Report ${report} is stored in this browser, but it is not certain that it has arrived.`);
  }
}

// The key and the answers are no longer needed.
function forget() {
  client = prepared = undefined;
  find("asked").replaceChildren();
  find("chances").replaceChildren();
  form.hidden = find("preview").hidden = true;
}

function say(message) {
  find("status").textContent = message;
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
addEventListener("hashchange", () => location.reload()); // the link of another person
start().catch(showError);
