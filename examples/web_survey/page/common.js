// Shared by both pages: reading from the page's server, and drawing.

export const find = (id) => document.getElementById(id);

export async function read(name) {
  let response;
  try {
    response = await fetch(name, { credentials: "omit", cache: "no-store" });
  } catch {
    throw new Error("The server cannot be reached. Please reload the page later.");
  }
  if (!response.ok) throw new Error(`The server did not send ${name} (${response.status}).`);
  return response.text();
}

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const moment = (text) =>
  new Date(text).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });

export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;

// A bar from 0 to 100 % with the interval as a band and the estimate as a line (null: none). It is decorative,
// because the same numbers are beside it as text.
export function bar(share, lower, upper) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("aria-hidden", "true");
  const inside = (value) => Math.min(1, Math.max(0, value));
  const part = (style, from, to, y, height) => {
    const made = document.createElementNS(svg.namespaceURI, "rect");
    const places = { class: style, x: `${100 * from}%`, width: `${100 * (to - from)}%`, y, height };
    for (const [key, value] of Object.entries(places)) made.setAttribute(key, value);
    svg.append(made);
    return made;
  };
  part("track", 0, 1, 5, 14).setAttribute("rx", 4);
  part("band", inside(lower), inside(upper), 5, 14);
  if (share !== null) {
    const line = part("point", inside(share), inside(share), 2, 20);
    line.setAttribute("width", 4);
    line.setAttribute("transform", "translate(-2)");
  }
  return svg;
}

export function row(label, share, lower, upper, text, range) {
  const cells = [
    element("th", { scope: "row" }, label),
    element("td", { class: "bar" }, bar(share, lower, upper)),
    element("td", { class: "figure" }, text),
  ];
  if (range) cells.push(element("td", { class: "figure range" }, range));
  return element("tr", {}, ...cells);
}
