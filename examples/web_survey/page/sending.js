// Stores what this browser has sent, and contains the only function that sends.
//
// Before sending, nothing is stored: the id and the key exist only in this page's memory. With the key,
// the same answers always lead to the same number. Anyone who has the key and the
// report can rule out answers, and a browser's files may contain what was deleted from its storage.
// When sending, {digest, invitation, id, block, report, stored} is stored, and only this report is
// ever sent for this invitation. It is stored before it is sent, so that no interruption
// leads to a second one.

const FIELDS = ["digest", "invitation", "id", "block", "report"];

export const random = (count) => crypto.getRandomValues(new Uint8Array(count));
const place = (survey, invitation) => `skrldp survey ${survey.name} ${invitation}`;

export function remembered(survey, invitation) {
  try {
    return JSON.parse(localStorage.getItem(place(survey, invitation)));
  } catch {
    throw new Error("This page cannot read what this browser has sent before, so it does not send " +
      "anything. Allow this site to store data, and reload the page.");
  }
}

export function remember(survey, state) {
  localStorage.setItem(place(survey, state.invitation), JSON.stringify(state));
  return state;
}

// Returns the report that this browser has stored, or else stores `prepared`; null if another tab has
// done so and is still open. One tab may see late what another has written, so the first tab holds the
// lock until it is closed.
export function settle(survey, prepared) {
  const { invitation } = prepared;
  return new Promise((resolve, reject) => {
    navigator.locks.request(place(survey, invitation), { ifAvailable: true }, (lock) => {
      if (!lock) return resolve(null);
      resolve(remembered(survey, invitation) ?? remember(survey, { ...prepared, stored: false }));
      return new Promise(() => {});
    }).catch(reject);
  });
}

// Returns the text that is sent. It contains the report, but not the answers, which this module never sees.
export const bodyOf = (state) =>
  JSON.stringify(Object.fromEntries(FIELDS.map((name) => [name, state[name]])));

export async function deliver(body) {
  const kept = "Your report is stored in this browser, so you can try again now or later.";
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
  const problem = `The server did not accept the report: ${said.error ?? response.status}`;
  const isFinal = response.status >= 400 && response.status < 500 && response.status !== 408;
  throw Object.assign(new Error(isFinal ? problem : `${problem} ${kept}`), { isFinal });
}
