/** What Python's checker says of proofs, true and changed, is what this one says: the same report and pair fail first. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { verify } from "../verify.js";

const { bases, mutants } = JSON.parse(
  readFileSync(new URL("../../tests/certificate/vectors/verdicts.json", import.meta.url)),
);
const saidOf = async (texts, eps, reports) => {
  const { holds, message, shown } = await verify(...texts, { eps, reports });
  assert.equal(holds, message === "holds");
  return [message.replace(/malformed \(\w+\)/, "malformed"), shown];
};

for (const [name, mechanism, counts, witness, eps, reports, said] of bases) {
  test(`a proof holds: ${name}`, async () => {
    const texts = [mechanism, counts, witness];
    assert.deepEqual(await saidOf(texts, eps, reports), said);
    const octets = texts.map((text) => new TextEncoder().encode(` ${text}\n`));
    assert.deepEqual(await saidOf(octets, eps, reports), said);
  });
}

test("changed proofs have Python's verdicts", async () => {
  for (const [base, changes, eps, said] of mutants) {
    const old = bases[base].slice(1, 4).map((text) => [...text]); // as Python counts characters
    const texts = changes.map((steps, i) =>
      steps.reduce((text, [start, end, now]) => [...text.slice(0, start), ...now, ...text.slice(end)], old[i]).join(""),
    );
    assert.deepEqual(await saidOf(texts, eps, bases[base][5]), said, JSON.stringify([base, changes, eps]));
  }
});

test("hidden characters of names are shown as Python's checker shows them", async () => {
  const [, mechanism, ...others] = bases[0].slice(0, 4);
  const { message } = await verify(mechanism.replace("{", '{"a\u009b\u202e\u{e0041}":1,'), ...others);
  assert.equal(message, 'not shown: there is an unknown field, "a\\u009b\\u202e\\udb40\\udc41".');
});

test("options and texts that are none are refused", async () => {
  const [, ...texts] = bases[0].slice(0, 4);
  for (const options of [{ eps: -1 }, { eps: NaN }, { eps: "1/2" }, { reports: 0 }, { reports: 1.5 }, { reports: 2 }]) {
    assert.equal((await verify(...texts, options)).holds, false, JSON.stringify(options));
  }
  assert.equal((await verify(...texts, { eps: 2 })).holds, true);
  for (const text of ["", "null", "[]", "1", undefined, 7, "\ud800", new Uint8Array([255])]) {
    assert.match((await verify(text, ...texts.slice(1))).message, /^not shown: the texts are malformed/);
  }
});
