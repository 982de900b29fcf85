// The questions as a form, and the answers as a record.

import { element, find } from "./common.js";

export function question(asked, number, all) {
  const missing = element("p", { class: "missing", id: `missing-${number}` });
  const head = element("span", { class: "count" }, `${number + 1} of ${all.length} `);
  const tag = element("span", { class: asked.sensitive ? "tag secret" : "tag" },
    asked.sensitive ? "Hidden by the random number" : "Not hidden");
  const about = { id: `answer-${number}`, "aria-describedby": missing.id };
  const choices = asked.typed ? typed(asked, number) : asked.options.map((option, index) =>
    choice(option, { type: "radio", name: `question-${number}`, value: index }));
  return element("fieldset", about, element("legend", {}, head, asked.text, " ", tag),
    element("div", { class: "options" }, ...choices), missing);
}

function choice(option, attributes) {
  return element("label", { class: "option" }, element("input", attributes), option);
}

// A number that the browser converts to a group; the last option is to decline.
function typed({ text, typed: { unit }, options }, number) {
  const input = element("input", { id: `typed-${number}`, "aria-label": text, inputmode: "numeric",
    maxlength: 3, spellcheck: false });
  const declines = choice(options.at(-1), { type: "checkbox" });
  input.addEventListener("input", () => { declines.control.checked = false; });
  const groups = `Your browser converts it to a group: ${options.slice(0, -1).join(", ")}.`;
  return [element("div", { class: "typed" }, input, unit), declines,
    element("p", { class: "groups" }, groups)];
}

function answerTo(asked, number) {
  const field = find(`answer-${number}`);
  const chosen = field.querySelector("input:checked");
  if (!asked.typed) {
    return chosen ? { value: asked.options[chosen.value] } : { problem: "Please choose an answer." };
  }
  if (chosen) return { value: asked.options.at(-1) };
  const { least, most, from } = asked.typed;
  const written = find(`typed-${number}`).value.trim();
  const years = /^\d{1,3}$/.test(written) ? Number(written) : NaN;
  if (!(least <= years && years <= most)) {
    return { problem: `Please type a whole number from ${least} to ${most}, or choose not to say.` };
  }
  return { value: asked.options[from.findLastIndex((start) => start <= years)] };
}

// Returns the record of all answers, or null if some are missing, which the page then shows.
export function answers(survey) {
  const record = {};
  let first;
  survey.questions.forEach((asked, number) => {
    const { value, problem = "" } = answerTo(asked, number);
    find(`missing-${number}`).textContent = problem;
    if (problem) first ??= find(`answer-${number}`);
    record[asked.column] = value;
  });
  first?.querySelector("input").focus();
  return first ? null : record;
}
