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

test("README.md and docs/client.md", async () => {
  const { digest } = await load(text);
  const [, permanent] = code("javascript/README.md", "js");
  const own = code("javascript/README.md", "js").join("");
  const told = [];
  const [[, mechanism, counts, witness]] = JSON.parse(page("tests/certificate/vectors/verdicts.json")).bases;
  const parts = { verify, mechanism, counts, witness, load, text, manifest, digest, fetch: () => ({ text: () => text }), console: { log: (...words) => told.push(words) } };
  const run = (lines, more) =>
    new AsyncFunction(...Object.keys(parts), lines.replace(/import .*/g, "") + more)(...Object.values(parts));
  assert.ok(permanent.includes("=== first"));
  assert.equal(await run(own, "return holds && again === first && report in client.symbols && name === client.symbols[report];"), true);
  delete parts.text;
  const [browser] = code("docs/client.md", "js");
  await assert.rejects(run(browser, ""), { message: /digest is [0-9a-f]{64}/ });
  await run(browser.replace(/"2f6c…"/, JSON.stringify(digest)), "");
  assert.equal(told[0][2], JSON.parse(text).claims[0].eps);
});
