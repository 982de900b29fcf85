// What this browser remembers, and the one function that sends.
//
// Before sending nothing is stored: the id and the key are in this page's memory alone. The key has
// the same answers give the same number, however often they are tried. Whoever has it, and the
// report, can rule out answers, and a browser's files may keep what was deleted from its storage.
// From sending on {digest, invitation, id, block, report, stored}, and nothing but this report is
// ever sent for this invitation. It is written down before it is sent, so that no interruption
// gives a second one.

const FIELDS = ["digest", "invitation", "id", "block", "report"];

export const random = (count) => crypto.getRandomValues(new Uint8Array(count));
const place = (survey, invitation) => `skrldp survey ${survey.name} ${invitation}`;

export function remembered(survey, invitation) {
  try {
    return JSON.parse(localStorage.getItem(place(survey, invitation)));
  } catch {
    throw new Error("This page cannot read what this browser has sent before, and so does not send " +
      "anything. Allow this site to store data, and reload the page.");
  }
}

export function remember(survey, state) {
  localStorage.setItem(place(survey, state.invitation), JSON.stringify(state));
  return state;
}

// The report that this browser has written down, or from now on `prepared`; null if another tab has
// settled and is still open. What one tab writes another may read late, so the first tab keeps the
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

// The text that is sent: of the report, not of the answers, which this module never has.
export const bodyOf = (state) =>
  JSON.stringify(Object.fromEntries(FIELDS.map((name) => [name, state[name]])));

export async function deliver(body) {
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
  const problem = `The server did not take the report: ${said.error ?? response.status}`;
  const isFinal = response.status >= 400 && response.status < 500 && response.status !== 408;
  throw Object.assign(new Error(isFinal ? problem : `${problem} ${kept}`), { isFinal });
}
