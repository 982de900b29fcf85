/** What Python says of mechanisms, manifests, records and ids is what this client says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { load } from "../skrldp.js";

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../tests/client/vectors/${name}.json`, import.meta.url)));
const { ids, mechanisms } = read("mechanisms");
const { manifests } = read("manifests");
const octets = (hexadecimal) => Uint8Array.from(Buffer.from(hexadecimal, "hex"));

/** What the files write as objects: whole numbers of any size, numbers that are not finite, bytes. */
function valueOf(value) {
  if (Array.isArray(value)) return value.map(valueOf);
  if (value?.int !== undefined) return BigInt(value.int);
  if (value?.float !== undefined) return Number({ nan: NaN, inf: Infinity }[value.float] ?? value.float);
  if (value?.bytes !== undefined) return octets(value.bytes);
  if (value?.microseconds?.int !== undefined) return { microseconds: BigInt(value.microseconds.int) };
  return value;
}

const recordOf = (record) =>
  Array.isArray(record) || typeof record !== "object" || record === null
    ? valueOf(record)
    : Object.fromEntries(Object.entries(record).map(([name, value]) => [name, valueOf(value)]));

for (const vector of mechanisms) {
  test(`${vector.name}: digests, what is stated, and every permanent report`, async () => {
    const { texts, digest, observe } = vector;
    const client = await load(texts[0], { digest, permanentKey: octets(vector.key) });
    const fresh = await load(new TextEncoder().encode(texts.at(-1)), { digest });
    for (const { digest: found, columns, symbols, ...stated } of [client, fresh]) {
      assert.equal(found, digest);
      assert.equal(stated.observe, observe);
      assert.equal(symbols.length, vector.n_symbols);
      assert.deepEqual(columns, vector.columns);
      assert.deepEqual(stated.numbers, vector.numbers);
      assert.equal(stated.eps, vector.claims?.[0].eps ?? null);
      for (const [place, claim] of (stated.claims ?? []).entries()) {
        const { around, ...rest } = withNulls(vector.claims[place], claim);
        assert.deepEqual({ ...claim, around: null }, { ...rest, around: null });
        if (around === "all") assert.equal(claim.around, "all");
        const { n_records, ...numbers } = around === "all" ? {} : around;
        for (const [name, it] of Object.entries(numbers)) assert.deepEqual(claim.around[name], it, name);
      }
    }
    for (const [row, record] of vector.records.entries()) {
      const found = [];
      for (const id of ids) found.push(await client.report(recordOf(record), { id: valueOf(id) }));
      assert.deepEqual(found, vector.reports[row], JSON.stringify(record));
      const report = await fresh.report(recordOf(record));
      assert.ok(Number.isInteger(report) && report >= 0 && report < vector.n_symbols);
    }
    for (const [record] of vector.refused) {
      const refused = { message: /Nothing was reported\.$/ };
      await assert.rejects(fresh.report(recordOf(record)), refused, JSON.stringify(record));
      await assert.rejects(client.report(recordOf(record), { id: 1 }), refused);
    }
  });
}

for (const vector of manifests) {
  test(`manifest, ${vector.name}: digests, what is stated, and every permanent block and report`, async () => {
    const { texts, digest, n_symbols } = vector;
    const client = await load(texts[0], { digest, permanentKey: octets(vector.key) });
    const fresh = await load(new TextEncoder().encode(texts.at(-1)), { digest });
    for (const stated of [client, fresh]) {
      for (const name of ["digest", "observe", "columns", "eps", "blocks", "shares", "numbers"]) {
        assert.deepEqual(stated[name], vector[name], name);
      }
      assert.deepEqual(stated.mechanisms.map(({ symbols }) => symbols.length), n_symbols);
    }
    for (const [row, record] of vector.records.entries()) {
      const found = [];
      for (const id of ids) {
        const { block, report } = await client.report(recordOf(record), { id: valueOf(id) });
        found.push([block, report]);
      }
      assert.deepEqual(found, vector.reports[row], JSON.stringify(record));
      const { block, report } = await fresh.report(recordOf(record));
      assert.ok(Number.isInteger(report) && report >= 0 && report < n_symbols[block]);
    }
    for (const [record] of vector.refused) {
      const refused = { message: /Nothing was reported\.$/ };
      for (let draw = 0; draw < 9; draw++) {
        await assert.rejects(fresh.report(recordOf(record)), refused, JSON.stringify(record)); // whatever the block
      }
      await assert.rejects(client.report(recordOf(record), { id: 1 }), refused);
    }
  });
}

/** A claim as the client has it: null is what is not stated. */
const withNulls = (claim, own) => Object.fromEntries(Object.keys(own).map((name) => [name, claim[name] ?? null]));

/** A message with its values as Python and as JSON write them alike, and the part that says what kind it is. */
const SAME = { None: "null", True: "true", False: "false", "'": '"', "(": "[", ")": "]", ",)": "]" };
const alike = (message) => message.replace(/None|True|False|'|,?\)|\(/g, (it) => SAME[it]).replace(/([:,]) /g, "$1");
const kindOf = (message) => alike(message).split(":")[0];

test("every text that Python refuses is refused, for the same kind of reason, mostly in the same words", async () => {
  let [texts, sentences] = [0, 0];
  for (const [name, { text, says }] of Object.entries(read("refused"))) {
    const whole = text.map(([piece, times]) => piece.repeat(times)).join("");
    const { message } = await load(whole).then(() => assert.fail(`${name} was read`), (error) => error);
    assert.ok(message.length < 1000, name);
    assert.equal(kindOf(message), kindOf(says), name);
    texts++;
    if (alike(message.replace(/(not JSON) \(.*/s, "$1")) === alike(says)) sentences++;
  }
  assert.ok(sentences > 0.8 * texts, `${sentences} of ${texts}`); // others name the first of several fields at once
});

test("changed mechanisms are accepted with Python's digest, or refused as there", async () => {
  const { bases, mutants } = read("mutants");
  for (const [base, before, after, between, digest] of mutants) {
    const characters = [...bases[base]]; // as Python counts them
    const text = characters.slice(0, before).join("") + between + characters.slice(characters.length - after).join("");
    const found = await load(text).then((client) => client.digest, () => null);
    assert.equal(found, digest, text);
  }
});
