/** What is JavaScript's own: fresh draws, options, ids, values of this language, and what is not shown. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import { load } from "../skrldp.js";

const ONE = 2 ** 32;
const KEY = Uint8Array.from({ length: 32 }, (_, octet) => octet);
const NOTHING = /Nothing was reported\.$/;
const webCrypto = globalThis.crypto;

/** The JSON of a mechanism with one secret column `ill` and one column `visits`. */
function text(changes = {}) {
  return JSON.stringify({
    format: "skrldp-mechanism",
    version: 5,
    columns: [["ill", true], ["visits", false]],
    secrets: ["no", "yes"],
    values: ["rare", "often"],
    denominator_bits: 34,
    symbols: ["a", "b", "c"],
    weights: [
      [ONE, 2 * ONE, 3 * ONE, 0],
      [3 * ONE, ONE, ONE, 4 * ONE - 2 ** 28],
      [0, ONE, 0, 2 ** 28],
    ],
    ...changes,
  });
}

const BLOCKS = { symbols: undefined, weights: undefined, blocks: [31, 17, 9, 7], denominator_bits: 6 };
const RECORD = { ill: "yes", visits: "often" };

/** Run with another source of randomness, or none. */
async function withCrypto(value, run) {
  Object.defineProperty(globalThis, "crypto", { value, configurable: true, writable: true });
  try {
    return await run();
  } finally {
    Object.defineProperty(globalThis, "crypto", { value: webCrypto, configurable: true, writable: true });
  }
}

test("every draw there is comes out as often as its weight says", async () => {
  let octets;
  const getRandomValues = (out) => {
    out.set(octets.subarray(0, out.length));
    return out;
  };
  await withCrypto({ subtle: webCrypto.subtle, getRandomValues }, async () => {
    const fill = (...numbers) => (octets = Uint8Array.from(numbers));
    for (const [place, ill] of ["no", "yes"].entries()) {
      for (const [cell, visits] of ["rare", "often"].entries()) {
        const matrix = await load(text());
        const counts = [0, 0, 0];
        // All weights are multiples of 2^28, so 16 coins stand for all of them.
        for (let slot = 0; slot < 4; slot++) {
          for (let coin = 0; coin < 16; coin++) {
            fill(slot + 248, 0, 0, 0, coin << 4, 0, 0, 0); // 248: bits that are not used
            const first = await matrix.report({ ill, visits });
            fill(slot, 255, 255, 255, (coin << 4) + 15, 0, 0, 0);
            assert.equal(await matrix.report({ ill, visits }), first);
            counts[first] += 2 ** 28;
          }
        }
        assert.deepEqual(counts, JSON.parse(text()).weights.map((row) => row[2 * place + cell]));
        const blocks = await load(text(BLOCKS));
        const found = [0, 0, 0, 0];
        for (let draw = 0; draw < 64; draw++) {
          fill(255, 255, 255, 255, 255, 255, 255, (draw << 2) + 3);
          found[await blocks.report([ill, visits])]++;
        }
        const shifts = [31, 17, 9, 7];
        const expected = found.map((_, y) => shifts[(y >> 1 === place ? 0 : 2) + ((y & 1) === cell ? 0 : 1)]);
        assert.deepEqual(found, expected);
      }
    }
  });
});

test("fresh reports have the mechanism's distribution (false alarms: 1e-9 for each of two)", async () => {
  const n = 50_000;
  for (const [changes, share, critical] of [
    [{}, [2 / 4, 1 / 4, 1 / 4], 41.4465],
    [BLOCKS, [17 / 64, 31 / 64, 7 / 64, 9 / 64], 44.8401],
  ]) {
    const client = await load(text(changes));
    const counts = share.map(() => 0);
    for (let draw = 0; draw < n; draw++) counts[await client.report(["no", "often"])]++;
    const square = counts.reduce((sum, count, y) => sum + (count - n * share[y]) ** 2 / (n * share[y]), 0);
    assert.ok(square < critical, `${counts} of ${share}`);
  }
});

test("without WebCrypto nothing is loaded, and Math.random is never called", async () => {
  const { random } = Math;
  Math.random = () => assert.fail("Math.random was called");
  try {
    for (const value of [undefined, {}, { getRandomValues() {} }, { subtle: webCrypto.subtle }]) {
      await withCrypto(value, () => assert.rejects(load(text()), /WebCrypto is missing/));
    }
    assert.ok((await (await load(text())).report(RECORD)) < 3);
  } finally {
    Math.random = random;
  }
});

test("texts with too many brackets or commas are refused before they are parsed", async () => {
  const open = '{"format":"skrldp-mechanism","weights":[';
  for (const [piece, most] of [["[]", 2 ** 22], ["{}", 2 ** 22], [",", 17 * 2 ** 20]]) {
    await assert.rejects(load(open + piece.repeat(most) + "]}"), /not JSON \(too many characters, brackets, commas/);
  }
  const inside = text({ secrets: ["[{,".repeat(1000), "no"] }); // within names they count, too, but these are few
  assert.equal((await load(inside)).secrets[0].length, 3000);
});

test("options that are misspelt, missing or of another type are refused", async () => {
  const { digest } = await load(text());
  for (const [options, message] of [
    [{ memoise: KEY }, /unknown key "memoise"/],
    [{ permanentKey: undefined }, /at least 16 random bytes/],
    [{ permanentKey: null }, /at least 16/],
    [{ permanentKey: "a".repeat(32) }, /at least 16/],
    [{ permanentKey: [...KEY] }, /at least 16/],
    [{ permanentKey: KEY.subarray(0, 15) }, /at least 16/],
    [{ permanentKey: new Uint32Array(8) }, /at least 16/],
    [{ permanentKey: new Uint8Array(32).fill(7) }, /at least 16 random bytes/],
    [{ digest: undefined }, /its digest is [0-9a-f]{64}/],
    [{ digest: digest.toUpperCase() }, /different mechanism/],
    [{ digest: digest.replace(/^./, "g") }, /different mechanism/],
    [null, TypeError],
  ]) {
    await assert.rejects(load(text(), options), message);
  }
  await load(text(), { digest, permanentKey: KEY.subarray(0, 16) });
  for (const wrong of [undefined, null, 5, {}, [], new Uint16Array(4), text().split("")]) {
    await assert.rejects(load(wrong), TypeError);
  }
  for (const octets of [[0xff, 0x7b, 0x7d], [0xef, 0xbb, 0xbf, ...Buffer.from(text())], []]) {
    await assert.rejects(load(Uint8Array.from(octets)), /not a mechanism: the text is not JSON/);
  }
  for (const wrong of ["{1.5:2}", "{-1:2}", "[-01]", "[1.5-2]", "[01234567890123456]"]) { // numbers that need care
    await assert.rejects(load(wrong), /not a mechanism: the text is not JSON/, wrong);
  }
  assert.equal((await load(Buffer.from(text()))).digest, digest);
});

test("ids are given where they are needed, and are of three types", async () => {
  const [fresh, permanent] = [await load(text()), await load(text(), { permanentKey: KEY })];
  await assert.rejects(fresh.report(RECORD, { id: 1 }), /fresh reports do not use ids.*Nothing/);
  for (const about of [undefined, {}, { id: undefined }, { id: null }]) {
    await assert.rejects(permanent.report(RECORD, about), /need an id/);
  }
  for (const id of [true, 1.5, 2 ** 53, NaN, ["a"], {}, "\ud800", "a\udc00", Symbol("a"), new ArrayBuffer(4), new Date()]) {
    await assert.rejects(permanent.report(RECORD, { id }), /an id must be/);
  }
  for (const id of [2n ** 64n, -(2n ** 63n) - 1n]) await assert.rejects(permanent.report(RECORD, { id }), /more than 64 bits/);
  for (const id of ["", new Uint8Array(0)]) await assert.rejects(permanent.report(RECORD, { id }), /an id is empty/);
  await assert.rejects(permanent.report(RECORD, { Id: 1 }), /unknown key "Id"/);
  const reports = async (ids) => (await Promise.all(ids.map((id) => permanent.report(["no", "often"], { id })))).join("");
  const numbers = Array.from({ length: 300 }, (_, n) => n);
  const first = await reports(numbers);
  assert.equal(await reports(numbers.map(BigInt)), first);
  assert.equal(await reports(numbers.map(String)), first); // a whole number is the text of its digits
  assert.notEqual(await reports(numbers.map((n) => `0${n}`)), first);
  assert.notEqual(await reports(numbers.map((n) => Buffer.from(String(n)))), first);
  await permanent.report(RECORD, { id: "x".repeat(10 ** 6) });
});

test("values of JavaScript: what is missing, what is a moment, and what is no category", async () => {
  const moment = { datetime: "2026-01-31T12:30:00.250000+00:00" };
  const values = [null, moment, { microseconds: 1_000_000 }, { date: "2026-01-31" }, { datetime: "2026-01-31T12:30:00" }];
  const rows = values.map((_, y) => values.map((_, cell) => (y === cell ? 8 * ONE : 0)));
  const own = { columns: [["s", true], ["u", false]], secrets: [1], values, symbols: [0, 1, 2, 3, 4] };
  const client = await load(text({ ...own, weights: rows, denominator_bits: 35 })); // it hides nothing
  for (const [value, place] of [
    [NaN, 0],
    [null, 0],
    [new Date("2026-01-31T12:30:00.250Z"), 1],
    [{ datetime: "2026-01-31T13:30:00.250000+01:00" }, 1],
    ...client.values.map((known, n) => [known, n]),
    [{ microseconds: 1_000_000n }, 2],
  ]) {
    assert.equal(await client.report([true, value]), place);
  }
  const unknown = [undefined, new Date(NaN), new Date(0), new Date("2026-01-31"), {}, { date: "31.1.2026" }, Symbol("a")];
  for (const value of [...unknown, () => 1, new Map(), new String("a"), new Date(8.64e15), [null], Infinity]) {
    await assert.rejects(client.report({ s: 1, u: value }), NOTHING);
  }
  class Person {
    get s() {
      return 1;
    }
  }
  const inherits = Object.create({ s: 1, u: null });
  for (const record of [inherits, new Person(), new Map([["s", 1], ["u", null]]), "12", 5, null, undefined, new Date()]) {
    await assert.rejects(client.report(record), NOTHING);
  }
});

test("large numbers stay exact", async () => {
  const exact = text({ values: [0, 1] }).replace("[0,1]", "[9007199254740992,9007199254740993]");
  const client = await load(exact);
  assert.deepEqual(client.values, [2n ** 53n, 2n ** 53n + 1n]);
  for (const value of client.values) assert.ok((await client.report(["no", value])) < 3);
  await assert.rejects(client.report(["no", 2 ** 53]), /numbers of 2\^53 or more may be rounded.*pass a BigInt/);
  for (const value of [2 ** 53 + 2, 2n ** 53n + 2n]) {
    await assert.rejects(client.report(["no", value]), /does not know/);
  }
});

test("unknown texts that are nearly known are hinted at, and not shown", async () => {
  const client = await load(text({ secrets: ["caf\u00e9", "Full"] }));
  for (const [value, way] of [
    ["cafe\u0301", "how accents are encoded \\(Unicode NFC\\)"],
    ["FULL", "letter case"],
    ["\tFull ", "outer spaces"],
  ]) {
    const hint = `\\(not shown\\)\\. A value differs from a known one only in ${way}: use the known spelling\\. Nothing`;
    await assert.rejects(client.report([value, "rare"]), (error) => {
      assert.match(error.message, new RegExp(hint));
      assert.ok(!error.message.includes(value));
      return true;
    });
  }
  for (const value of ["full ", "Ful"]) await assert.rejects(client.report([value, "rare"]), /\(not shown\)\. Nothing/);
});

test("columns whose names an object cannot tell apart come in an array", async () => {
  const client = await load(text({ columns: [[0, true], ["0", false]] }));
  await assert.rejects(client.report({ 0: "no" }), /or an array in this order/);
  assert.ok((await client.report(["no", "rare"])) < 3);
});

test("values of records are never shown, nor the key", async () => {
  const client = await load(text(), { permanentKey: KEY });
  for (const secret of ["HIV", ["HIV"], { HIV: 1 }, { date: "HIV" }, new Date("1999-09-09")]) {
    for (const record of [{ ill: secret, visits: "rare" }, [secret, "rare"], [secret, "?"], [secret], { ill: secret }, ["no", secret]]) {
      const error = await client.report(record, { id: "me" }).catch((it) => it);
      assert.match(error.message, NOTHING);
      assert.doesNotMatch(inspect(error), /HIV|1999/);
    }
  }
  const shown = inspect(client, { depth: 9, showHidden: true, getters: true });
  assert.doesNotMatch(shown, /CryptoKey|Uint8Array|000102/);
  assert.ok(Object.isFrozen(client) && Object.isFrozen(client.columns[0]));
});

test("hidden characters of names are shown", async () => {
  const name = "age\u001b[2J\u009b31m\u202eyes";
  const client = await load(text({ columns: [["ill", true], [name, false]] }));
  const shown = ({ message }) => !/[\u001b\u009b\u202e]/.test(message) && message.includes("\\u{202e}");
  await assert.rejects(client.report({ ill: "no" }), shown);
  await assert.rejects(load(text({ [name]: 1 })), shown);
});

test("a mechanism that does not see the secret does not look at it", async () => {
  const weights = [[ONE, 2 * ONE], [3 * ONE, ONE], [0, ONE]];
  const client = await load(text({ observe: "nonsensitive", weights }));
  const record = {
    visits: "rare",
    get ill() {
      return assert.fail("the secret was read");
    },
  };
  for (const each of [record, { visits: "often" }, ["rare"]]) assert.ok((await client.report(each)) < 3);
  await assert.rejects(client.report({ ill: "no" }), /lacks "visits"/);
});

/** A manifest of two blocks, of `home` and of `work`, the first of which is drawn three times in four. */
function manifest(changes = {}) {
  const part = (name, weights) => JSON.parse(text({ columns: [["ill", true], [name, false]], weights }));
  const mechanisms = [part("home"), part("work", [[0, 0, 4 * ONE, 4 * ONE], [4 * ONE, 4 * ONE, 0, 0], [0, 0, 0, 0]])];
  mechanisms[0].weights = JSON.parse(text()).weights;
  return JSON.stringify({ format: "skrldp-manifest", version: 2, weights: [6 * 2 ** 30, 2 ** 31], mechanisms, ...changes });
}
const ANSWERS = { ill: "yes", home: "rare", work: "often" };

test("blocks are drawn before the report, as often as their weights say", async () => {
  let calls;
  const getRandomValues = (out) => {
    out.set(calls.shift());
    return out;
  };
  await withCrypto({ subtle: webCrypto.subtle, getRandomValues }, async () => {
    const client = await load(manifest());
    const counts = { 0: [0, 0, 0], 1: [0, 0, 0] };
    for (let first = 0; first < 2 * 16; first++) {
      for (let second = 0; second < 4 * 16; second++) {
        calls = [[first & 1, 0, 0, 0, (first >> 1) << 4, 0, 0, 0], [second & 3, 0, 0, 0, (second >> 2) << 4, 0, 0, 0]];
        const { block, report } = await client.report(ANSWERS);
        assert.deepEqual(calls, []);
        counts[block][report]++;
      }
    }
    const weights = JSON.parse(text()).weights.map((row) => (row[2] / 2 ** 28) * 24); // of 64 for each of 24 in 32
    assert.deepEqual(counts, { 0: weights, 1: [8 * 64, 0, 0] });
  });
});

test("fresh blocks and reports have their distribution (false alarms: 1e-9)", async () => {
  const [n, client] = [40_000, await load(manifest())];
  const counts = [0, 0, 0, 0];
  for (let draw = 0; draw < n; draw++) {
    const { block, report } = await client.report(ANSWERS);
    counts[block ? 3 : report]++;
  }
  const share = [9 / 16, 3 / 16, 0, 1 / 4];
  assert.equal(counts[2], 0);
  const square = [0, 1, 3].reduce((sum, y) => sum + (counts[y] - n * share[y]) ** 2 / (n * share[y]), 0);
  assert.ok(square < 41.4465, `${counts}`);
});

test("a person's permanent block does not depend on the record", async () => {
  const client = await load(manifest(), { permanentKey: KEY });
  const blocks = new Set();
  for (let id = 0; id < 40; id++) {
    const { block } = await client.report(ANSWERS, { id });
    blocks.add(block);
    for (const home of ["rare", "often"]) {
      for (const ill of ["no", "yes"]) assert.equal((await client.report({ ...ANSWERS, ill, home }, { id })).block, block);
    }
  }
  assert.equal(blocks.size, 2);
  await assert.rejects(client.report(ANSWERS), /need an id/);
});

test("a record is read once, before anything is drawn, in every column", async () => {
  const client = await load(manifest());
  for (const name of Object.keys(ANSWERS)) {
    for (let draw = 0; draw < 20; draw++) {
      await assert.rejects(client.report({ ...ANSWERS, [name]: "?" }), NOTHING);
      await assert.rejects(client.report({ ...ANSWERS, [name]: undefined }), NOTHING);
    }
  }
  const record = { ...ANSWERS };
  const pending = Array.from({ length: 20 }, () => client.report(record));
  record.work = "?";
  for (const { block, report } of await Promise.all(pending)) assert.ok(report < (block ? 1 : 2));
});

test("what a client of a manifest says is frozen, and shows no key", async () => {
  const client = await load(manifest(), { permanentKey: KEY });
  assert.deepEqual(client.columns, [["ill", true], ["home", false], ["work", false]]);
  assert.deepEqual(client.blocks, [["home"], ["work"]]);
  assert.deepEqual(client.shares, [0.75, 0.25]);
  assert.deepEqual(client.categories, [["rare", "often"], ["rare", "often"]]);
  assert.deepEqual(client.mechanisms[1].symbols, ["a", "b", "c"]);
  assert.equal(client.eps, null);
  for (const each of [client, client.mechanisms, client.mechanisms[0], await client.report(ANSWERS, { id: 1 })]) {
    assert.ok(Object.isFrozen(each));
  }
  assert.doesNotMatch(inspect(client, { depth: 9, showHidden: true, getters: true }), /CryptoKey|Uint8Array|000102/);
});
