// Asks the built pages' own search what people ask; the page that answers must come first.
// node docs/find.mjs docs/_build/html
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

const FIRST = {
  "standard error NaN": "guide/figures",
  "same person twice": "guide/promise",
  "survey weights": "guide/surveys",
  "drift": "guide/drift",
  "data protection officer": "guide/officer",
  "HTML report": "guide/officer",
  "combine two waves": "guide/waves",
  "missing values": "guide/values",
  "identifier column": "guide/values",
  "unseen category": "guide/values",
  "choose ε": "guide/choosing_eps",
  "how many people": "guide/planning",
  "one private column": "guide/one_column",
  "Spark": "guide/engines",
  "JavaScript": "guide/javascript",
  "key": "guide/batches",
  "seed": "guide/reports",
  "audit": "guide/audit",
  "compare with OpenDP": "leaderboard",
  "cite": "guide/methods",
  "does the set contain this distribution": "guide/sets",
  "warnings": "guide/warnings",
  "leakage at another table": "guide/drift",
};

const folder = process.argv[2];
const code = ["_static/language_data.js", "_static/searchtools.js", "searchindex.js"];
const text = code.map((name) => readFileSync(`${folder}/${name}`, "utf8")).join("\n;\n");
const none = { getElementById: () => ({ lastChild: null }) };
const page = { document: none, _ready() {}, _: (word) => word, SPHINX_HIGHLIGHT_ENABLED: false };
page.window = page;
const search = runInNewContext(`${text}\n;Search`, page);
let wrong = 0;
for (const [question, first] of Object.entries(FIRST)) {
  const results = search._performSearch(...search._parseQuery(question));
  const found = results.reverse().map((result) => result[0]);
  if (found[0] === first) continue;
  wrong += 1;
  const place = found.indexOf(first) + 1 || "nowhere";
  console.error(`${question}: ${first} is ${place}, after ${found.slice(0, 3).join(", ")}`);
}
console.log(`${Object.keys(FIRST).length - wrong} of ${Object.keys(FIRST).length} questions lead to their page first`);
process.exit(wrong ? 1 : 0);
