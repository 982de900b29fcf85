/** What the pages print runs. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { load } from "../skrldp.js";
import { verify } from "../verify.js";

const page = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const code = (path, language) => [...page(path).matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))].map(([, it]) => it);
const AsyncFunction = (async () => {}).constructor;
const [text, manifest] = code("docs/client.md", "json");

test("README.md", async () => {
  const { digest } = await load(text);
  const [, permanent] = code("javascript/README.md", "js");
  const own = code("javascript/README.md", "js").join("");
  const [[, mechanism, counts, witness]] = JSON.parse(page("tests/certificate/vectors/verdicts.json")).bases;
  const parts = { verify, mechanism, counts, witness, load, text, manifest, digest };
  const run = new AsyncFunction(...Object.keys(parts), `${own.replace(/import .*/g, "")}return holds && again === first && report in client.symbols && name === client.symbols[report];`);
  assert.ok(permanent.includes("=== first"));
  assert.equal(await run(...Object.values(parts)), true);
});
