/**
 * The client of skrldp for JavaScript: it loads the JSON of a mechanism, or of a manifest of mechanisms for blocks of
 * columns, and turns records into reports. `docs/client.md` describes the JSON, `README.md` how to use the client, and
 * `skrldp.d.ts` the types. It refuses what the Python client refuses, for the same reasons. Values that were read from
 * JSON are bigints if they are written as integers, and numbers if they have a fraction or an exponent, because 1 and
 * 1.0 are the same category but are written differently, and 1.0 is not a weight.
 */
const [DOMAIN, ROUNDING] = ["report", "rounding"].map((what) => encoded(`skrldp keyed ${what}, version 1\0`));
const [MOST_CHARACTERS, MOST_BRACKETS, MOST_COMMAS, MOST_CELLS] = [2 ** 28, 2 ** 22, 17 * 2 ** 20, 1e6];
const [FORMAT, MANIFEST] = ["skrldp-mechanism", "skrldp-manifest"];
const [MOST_SYMBOLS, MOST_BLOCKS, LEAST_KEY, CAPACITY] = [2 ** 16, 10_000, 16, 2 ** 32]; // key: bytes
const HALF_PAIR = /\p{Surrogate}/u; // a lone surrogate, which is not valid text

/** Load a mechanism or a manifest that reports records; `skrldp.d.ts` describes the options. */
export async function load(text, options = {}) {
  checkKeys(options, [], ["permanentKey", "digest"], "the options of load", fail);
  if (typeof text !== "string" && !isOctets(text)) fail("a mechanism must be a string or a Uint8Array.", TypeError);
  const { crypto, crypto: { subtle, getRandomValues } = {} } = globalThis;
  if (!subtle || !getRandomValues) fail("WebCrypto is missing: browsers offer it only to pages served over HTTPS.");
  const [isPermanent, secret] = ["permanentKey" in options, options.permanentKey];
  const isKey = isOctets(secret) && secret.length >= LEAST_KEY && new Set(secret).size > 1; // or never filled
  if (isPermanent && !isKey) fail(`permanentKey must be a Uint8Array: at least ${LEAST_KEY} random bytes.`, TypeError);
  const { canonical, stated, reporterOf, rounded, refuseFalseClaims } = read(text);
  refuseFalseClaims();
  const hashOf = async (own) => new Uint8Array(await subtle.digest("SHA-256", encoded(own)));
  const hash = await hashOf(canonical);
  const digest = Array.from(hash, (octet) => octet.toString(16).padStart(2, "0")).join("");
  if ("digest" in options && options.digest !== digest) fail(`this is a different mechanism: its digest is ${digest}.`);
  const tapeOf = isPermanent && (await tapes(subtle, secret, DOMAIN, hash));
  const roundings = new Map(); // for each column with knots, the tapes of people
  for (const column of isPermanent ? rounded : [])
    roundings.set(column, await tapes(subtle, secret, ROUNDING, await hashOf(column)));
  const fresh = () => new DataView(crypto.getRandomValues(new Uint8Array(8)).buffer);
  return Object.freeze(
    Object.assign(stated, {
      ...{ digest, encode: "symbol", isPermanent },
      async report(record, about = {}) {
        checkKeys(about, [], ["id"], "what follows the record", refuse);
        const { id = null } = about;
        if (isPermanent && id === null) refuse("permanent reports need an id");
        if (!isPermanent && id !== null) refuse("fresh reports do not use ids");
        const draw = reporterOf(record);
        if (!isPermanent) return draw(fresh, fresh);
        const person = written(id);
        return draw(tapeOf.bind(null, person), (column) => roundings.get(column)(person, 0));
      },
    }),
  );
}

// --- JSON ----------------------------------------------------------------------------------------------
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|:|-[-+.eE\d]+|(?<!\d)(?:\d+[.eE][-+.eE\d]*|\d{16,})/g; // what needs care
const LONG = /(?<!\d)\d{4301}/; // more digits than Python reads as an integer
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** Parse JSON with exact numbers; refuse infinite ones, duplicate keys and half surrogate pairs. */
function parse(text) {
  let [keys, colons] = [0, 0];
  const mark = (token) => {
    if (token === ":") colons++;
    return token === ":" ? token : token[0] === '"' ? `"$${token.slice(1)}` : `"#${token}"`;
  };
  const unmarked = (key) => (++keys && key[0] === "$" ? key.slice(1) : fail("a key is not a string"));
  const revive = (value) => {
    if (typeof value === "number") return BigInt(value);
    if (typeof value === "string") return (value[0] === "#" ? numberOf : checkedText)(value.slice(1));
    if (Array.isArray(value)) for (let i = 0; i < value.length; i++) value[i] = revive(value[i]);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [unmarked(key), revive(item)]));
  };
  try {
    if (isOctets(text)) text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
    if (hasMany(checkedText(text)) || LONG.test(text)) fail("too many characters, brackets, commas or digits");
    const fields = revive(JSON.parse(text.replace(TOKENS, mark)));
    return colons > keys ? fail("duplicate key") : fields;
  } catch (error) {
    if (/^the mechanism/.test(error.message)) throw error;
    return fail(`not a mechanism: the text is not JSON (${brief(error.message)}).`);
  }
}
function hasMany(text) {
  const counts = new Uint32Array(2 ** 16);
  for (let i = 0; i < text.length; i++) counts[text.charCodeAt(i)]++;
  const characters = text.length - counts.subarray(0xd800, 0xdc00).reduce((sum, n) => sum + n); // two units may be one
  return characters > MOST_CHARACTERS || counts[0x5b] + counts[0x7b] > MOST_BRACKETS || counts[0x2c] > MOST_COMMAS;
}
const checkedText = (text) => {
  return HALF_PAIR.test(text) ? malformed(`${show(text)} has half a surrogate pair, so it is not valid text`) : text;
};
const numberOf = (token) => (/[.eE]/.test(token) ? finite(Number(checkedNumber(token))) : BigInt(checkedNumber(token)));
const checkedNumber = (token) => (NUMBER.test(token) ? token : fail("a number is malformed"));
const finite = (number) => (isFinite(number) ? number : fail("a number is not finite"));
/** Write JSON as Python does: without blanks, text unescaped, floats as `repr` writes them. */
function write(value) {
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") {
    const isShort = value === 0 || (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e16);
    if (!isShort) return value.toExponential().replace(/(?<=e[-+])(?=\d$)/, "0"); // two digits at least
    return `${Object.is(value, -0) ? "-" : ""}${value}${Number.isInteger(value) ? ".0" : ""}`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const stated = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${stated.map(([key, item]) => `${write(key)}:${write(item)}`).join(",")}}`;
}

// --- Categories ----------------------------------------------------------------------------------------
// As Python's `isoformat` writes them: parts of a second, and of an offset, only if they are not 0.
const DAY = "(\\d{4}-\\d\\d-\\d\\d)";
const TIME = "(\\d\\d:\\d\\d:\\d\\d)(?:\\.(?!0{6})(\\d{6}))?";
const ZONE = "(?:(?!-00:00$|.00:00:00|.{6}:00$)([-+])(\\d\\d:\\d\\d)(?::(\\d\\d)(?:\\.(?!0{6})(\\d{6}))?)?)?";
const MOMENTS = { date: `^${DAY}$`, time: `^()${TIME}${ZONE}$`, datetime: `^${DAY}T${TIME}${ZONE}$` };
const [SECOND, A_DAY] = [1_000_000n, 86_400_000_000n]; // in microseconds, as all times
const [FIRST, END] = [microseconds("0001-01-01"), microseconds("9999-12-31") + A_DAY];
const OTHER = keyOf("other"); // the value that stands for rare and unknown values
/** A string that equal categories share, as 1, 1.0 and true do; undefined for values that cannot be categories. */
function keyOf(value, depth = 2) {
  if (value === null) return "null";
  if (typeof value === "string") return `text ${value}`;
  if (typeof value === "bigint") return value.toString(16);
  if (typeof value === "boolean" || Number.isInteger(value)) return keyOf(BigInt(value));
  if (typeof value === "number") return `float ${value}`;
  if (!Array.isArray(value)) return isObject(value) ? keyOfMoment(value) : undefined;
  const keys = depth > 4 ? [undefined] : Array.from(value, (item) => keyOf(item, depth + 1)); // levels
  return keys.includes(undefined) ? undefined : joined(keys);
}
const joined = (keys) => `(${keys.map((key) => `${key.length}:${key}`).join("")})`;
function keyOfMoment(value) {
  const [[kind, content] = [], ...more] = Object.entries(value);
  const isDuration = kind === "microseconds" && typeof content === "bigint" && !more.length;
  if (isDuration && content >= -999_999_999n * A_DAY && content < 1_000_000_000n * A_DAY) return `for ${content}`;
  const isMoment = typeof content === "string" && !more.length && Object.hasOwn(MOMENTS, kind);
  const found = isMoment && content.match(MOMENTS[kind]);
  const [, day, clock, fraction = "0", sign, zone = "00:00", seconds = "00", rest = "0"] = found || [];
  const [local, size] = [microseconds(day || "2000-01-01", clock), microseconds("1970-01-01", `${zone}:${seconds}`)];
  if (!found || local === undefined || local < FIRST || size === undefined) return undefined;
  if (!sign) return `${kind} ${content}`;
  const offset = (size + BigInt(rest)) * (sign === "-" ? -1n : 1n);
  if (kind === "datetime") return keyOfInstant(local + BigInt(fraction) - offset);
  const part = ((offset % SECOND) + SECOND) % SECOND;
  return `clock ${local - offset + part} ${fraction} ${part}`;
}
/** Microseconds from 1970 to a second of a day; undefined if there is no such day or second. */
function microseconds(day, clock = "00:00:00") {
  const at = Date.parse(`${day}T${clock}Z`);
  return !isNaN(at) && new Date(at).toISOString() === `${day}T${clock}.000Z` ? BigInt(at) * 1000n : undefined;
}
/** The key of a date as its midnight, or of a midnight as its date, because libraries differ in the type of a day. */
const inOtherType = (key) => key.replace(/^date (.*)$|^datetime (.*)T00:00:00$/s, (_, day, midnight) =>
  day ? `datetime ${day}T00:00:00` : `date ${midnight}`);
const keyOfInstant = (at) => `${at >= FIRST && at < END ? "instant" : "beyond"} ${at}`;
/** The key of a category that records are compared with. */
const keyHeld = (value) => (keyOf(value).startsWith("beyond") ? fail(OUT_OF_RANGE) : keyOf(value));
const OUT_OF_RANGE = "a date or duration is out of range: in UTC, it is not from year 1 to 9999.";

// --- Mechanisms ----------------------------------------------------------------------------------------
/**
 * Read a mechanism or a manifest: `canonical` is its only written form, `stated` what a client exposes.
 * `reporterOf` checks a record; the function that it returns draws, given a function from numbers to random octets.
 * `refuseFalseClaims` compares the claims with what the weights alone show; `verify.js` also uses proofs.
 */
export function read(text) {
  const fields = parse(text);
  if (fields?.format === MANIFEST) return readManifest(fields);
  const mechanism = readMechanism(fields, true);
  const { canonical, cellOf, draw, pick, columns, numbers, refuseFalseClaims } = mechanism;
  const { rounded, categoriesOf } = numberReader(columns, numbers);
  const reporterOf = (record) => {
    const valueAt = pick(record);
    return async (tapeOf, roundingOf) => {
      const cell = cellOf(await categoriesOf(valueAt, roundingOf));
      return draw(cell, await tapeOf(cell));
    };
  };
  return { canonical, stated: statedOf(mechanism), reporterOf, rounded, refuseFalseClaims };
}
/** The properties of a mechanism that a client exposes. */
function statedOf({ columns, secrets, values, observe, claims, symbols, numbers }) {
  let names; // of the reports; listed on demand, because there may be a million
  return {
    ...plain({ columns, secrets, values, observe, numbers: writtenNumbers(columns, numbers) }),
    ...plain({ claims, eps: claims?.[0].eps }),
    get symbols() {
      return (names ??= plain(symbols()));
    },
  };
}
function checkVersion({ version = null }, what, known) {
  if (version !== known) fail(`this ${what} has version ${show(version)}; this release reads version ${known}.`);
}
/** Check a mechanism and return its parts. */
function readMechanism(fields, mayBePublic = false) {
  if (fields?.format !== FORMAT) fail(`not a mechanism: the JSON lacks format='${FORMAT}'.`);
  checkVersion(fields, "mechanism", 5n);
  const [form, optional] = "blocks" in fields ? [["blocks"], []] : [["symbols", "weights"], ["observe"]];
  const needed = ["format", "version", "columns", "secrets", "values", "denominator_bits", ...form];
  checkKeys(fields, needed, [...optional, "other", "numbers", "claims", ...(mayBePublic ? ["public"] : [])], "it");
  const { columns, secrets, values, denominator_bits } = fields;
  const [a1, a2] = [listed(secrets, "secrets").length, listed(values, "values").length];
  const cells = `${grouped(a1)} x ${grouped(a2)} cells`;
  if (a1 * a2 > MOST_CELLS) malformed(`${cells} exceed the limit of ${grouped(MOST_CELLS)}`);
  const isColumn = (it) => Array.isArray(it) && it.length === 2 && typeof it[1] === "boolean";
  const areColumns = listed(columns, "columns").every(isColumn);
  if (!areColumns) malformed("columns must be pairs of a name and true (sensitive) or false");
  if (columns.length) checkNames(columns.map(([name]) => name), "column names");
  for (const [where, flag] of [["secrets", true], ["values", false]]) {
    checkNames(fields[where], where);
    const names = columns.filter(([, isSecret]) => isSecret === flag).map(([name]) => name);
    const n = names.length;
    const fits = (it) => (n === 1 ? !Array.isArray(it) : (n || !flag) && Array.isArray(it) && it.length === n);
    const wrong = `${where} must match the ${n} column${n === 1 ? "" : "s"} ${show(names)}`;
    if (columns.length && !fields[where].every(fits)) malformed(wrong);
  }
  const isBlind = fields.observe === "nonsensitive" && columns.length && columns.every(([, flag]) => flag);
  if (isBlind) malformed("observe='nonsensitive' needs a nonsensitive column");
  const { draw, symbols, body, rows } = "blocks" in fields ? readBlocks(fields) : readWeights(fields);
  const other = "other" in fields ? checkedOthers(fields.other, values) : undefined;
  const numbers = "numbers" in fields ? readNumbers(fields, other) : undefined;
  const claims = "claims" in fields ? readClaims(fields.claims, columns) : undefined;
  if ("public" in fields) checkPublic(fields.public, secrets.length, values.length, numbers);
  const named = columns.length ? columns : [["secret", true], ["value", false]];
  const alphabets = { columns: named, secrets, values, observe: body.observe ?? "all" };
  const head = { format: FORMAT, version: 5n, columns, secrets, values, denominator_bits };
  const stated = numbers && { numbers: writtenNumbers(columns, numbers) };
  const canonical = write({ ...head, ...body, other, ...stated, claims });
  const reading = { pick: pickerOf(alphabets), cellOf: cellReader(alphabets, other) };
  const refuseFalseClaims = () => claims && checkClaims(claims, rows(), columns, values.length);
  return { ...alphabets, ...reading, canonical, symbols, draw, claims, other, numbers, refuseFalseClaims };
}
function readWeights({ symbols, observe = "all", weights, denominator_bits, secrets, values }) {
  const n = listed(symbols, "symbols").length;
  const [bits, isBlind] = [32 + bitLength(n - 1), observe === "nonsensitive"];
  if (n > MOST_SYMBOLS) malformed(`${grouped(n)} reports exceed the limit of ${grouped(MOST_SYMBOLS)}`);
  checkNames(symbols, "symbols");
  if (!isBlind && observe !== "all") malformed(`observe must be 'all' or 'nonsensitive', got ${show(observe)}`);
  checkIntegers([denominator_bits], "denominator_bits");
  const width = values.length * (isBlind ? 1 : secrets.length);
  checkTable(weights, n, width, "weights", `symbols by ${isBlind ? "values" : "cells"}`);
  const wrongBits = `${n} reports need ${bits} denominator bits, got ${denominator_bits}`;
  if (denominator_bits !== BigInt(bits)) malformed(wrongBits);
  const table = weights.map((row) => Float64Array.from(row, Number)); // exact: at most 2^48
  const sumOf = (cell) => table.reduce((sum, row) => sum + row[cell], 0); // exact unless it is more than 2^53
  const wrong = table[0].findIndex((_, cell) => sumOf(cell) !== 2 ** bits);
  if (wrong >= 0) damaged(`the weights of column ${wrong} do not sum to 2**${bits}`);
  const draw = (cell, tape) => drawByAlias(table.map((row) => row[cell]), tape);
  const [a2, some] = [values.length, isBlind ? secrets.slice(0, 2) : secrets]; // all secrets are alike if S is not seen
  const rows = () => table.map((row) => some.map((_, s) => (isBlind ? row : row.subarray(s * a2, (s + 1) * a2))));
  return { draw, symbols: () => symbols, body: { symbols, observe: isBlind ? observe : undefined, weights }, rows };
}
function readBlocks({ blocks, denominator_bits: bits, secrets, values }) {
  checkIntegers([bits], "denominator_bits");
  checkIntegers(listed(blocks, "blocks"), "blocks");
  if (blocks.length !== 4) malformed(`blocks must be four weights, got ${blocks.length}`);
  if (bits < 1n || bits > 53n) malformed(`blocks must have 1 to 53 denominator bits, got ${bits}`);
  if (!blocks.every(isWeight(bits))) malformed("weights are negative or too large");
  const [a1, a2] = [secrets.length, values.length];
  const counts = [1, a2 - 1, a1 - 1, (a1 - 1) * (a2 - 1)];
  const sum = blocks.reduce((total, weight, n) => total + weight * BigInt(counts[n]), 0n);
  if (sum !== 1n << bits) damaged(`the weights of each cell sum to ${sum}, not to 2**${bits}`);
  const symbols = () => secrets.flatMap((secret) => values.map((value) => [secret, value]));
  const [own, foreign] = [blocks.slice(0, 2), blocks.slice(2)].map((two) => two.slice(0, a2).map(Number));
  const rows = () => [[own, foreign, foreign].slice(0, a1)]; // stands for all reports
  return { draw: (cell, tape) => drawByBlocks(blocks, bits, a1, a2, cell, tape), symbols, body: { blocks }, rows };
}
function checkIntegers(numbers, where) {
  const wrong = numbers.find((it) => typeof it !== "bigint");
  if (wrong !== undefined) malformed(`${where} must hold integers, got ${show(wrong)}`);
}
function checkTable(rows, height, width, where, shape) {
  const isWide = listed(rows, where).every((row) => listed(row, `each row of ${where}`).length === width);
  if (rows.length !== height || !isWide) malformed(`${where} must be ${shape}, ${height} x ${width}`);
  if (rows.flat().some((it) => typeof it !== "bigint")) malformed(`${where} must be integers`);
  if (!rows.every((row) => row.every(isWeight(63, 2n ** 63n - 1n)))) malformed(`${where} are negative or too large`);
}
const isWeight = (bits, most = 1n << BigInt(bits)) => (it) => typeof it === "bigint" && it >= 0n && it <= most;
/** Check which values of each column of U are reported as "other": null (none), true (all), or a list. */
function checkedOthers(others, values) {
  const width = Array.isArray(values[0]) ? values[0].length : 1;
  const isWide = (value) => (Array.isArray(value) ? value.length : 1) === width;
  listed(others, "other");
  if (!others.some((it) => it !== null)) malformed("other must not be null for every column");
  if (!values.every(isWide)) malformed("other requires that all values of U have the same number of columns");
  if (others.length !== width) malformed(`other must have an entry for each of the ${width} columns of U`);
  for (const [place, entry] of others.entries()) {
    const known = new Set(entry === null ? [OTHER] : values.map((it) => keyHeld(width > 1 ? it[place] : it)));
    if (!known.has(OTHER)) malformed(`column ${place} of U has values grouped as other, but no value 'other'`);
    if (entry === null || entry === true) continue;
    checkNames(entry, "each of other");
    const keys = entry.map(keyHeld);
    if ([...keys, ...keys.map(inOtherType)].some((key) => known.has(key))) {
      malformed("values in other must be distinct and not values of U");
    }
  }
  const isAll = (value) => width === 1 || value.every((item) => item === "other");
  const isMissing = others.every((entry) => entry === true) && !values.some(isAll);
  if (isMissing) malformed("U lacks the value with 'other' in every column");
  return others;
}

// --- What estimates need from the public table ---------------------------------------------------------
/** Check the public counts of cells, on which neither reports nor digests depend. */
function checkPublic(it, height, width, cut) {
  if (!isObject(it)) malformed("public must be an object");
  checkKeys(it, ["counts"], ["records", "size", "numbers"], "public");
  const { counts, records, size, numbers } = it;
  checkTable(counts, height, width, "counts", "secrets by values");
  const isMany = (sum) => sum > 0n && sum <= 2n ** 53n;
  const isFit = isMany(counts.flat().reduce((sum, count) => sum + count, 0n));
  if (!isFit) malformed("public counts must sum to between 1 and 2**53 records");
  if (records !== undefined) checkIntegers([records], "records");
  if (size !== undefined && typeof size !== "number") malformed(`size must be a decimal number, got ${show(size)}`);
  const isAlone = records === undefined && size !== undefined;
  if (isAlone) malformed("the size of a survey requires its number of records");
  const isPositive = (records === undefined || isMany(records)) && (size === undefined || size > 0);
  if (!isPositive) malformed("a survey's numbers of records must be positive");
  if (numbers === undefined) return;
  const isWhole = listed(numbers, "public numbers").length === cut?.length && numbers.some((own) => own !== null);
  if (!isWhole || !numbers.every((own, n) => own === null || isOfColumn(own, cut[n]))) malformed("public numbers");
}
/** Whether means and variances match a column's bins, or a variance of rounding its knots. */
function isOfColumn(own, column) {
  if (!isObject(own) || !column || (column.edges && column.scale !== "number")) return false;
  const isSpread = (it) => typeof it === "number" && it >= 0;
  checkKeys(own, column.knots ? ["rounding"] : ["means", "variances"], [], "each of public numbers");
  if (column.knots) return isSpread(own.rounding);
  const { means, variances } = own;
  const isLong = [means, variances].every((it) => Array.isArray(it) && it.length === column.categories.length);
  const isOne = (it, n) => (it === null ? variances[n] === null : typeof it === "number" && isSpread(variances[n]));
  return isLong && means.every(isOne);
}
function checkPublicOfBlocks(it, parts) {
  if (!isObject(it)) malformed("public must be an object");
  checkKeys(it, ["blocks"], [], "public");
  const isFit = listed(it.blocks, "blocks").length === parts.length && it.blocks.some((one) => one !== null);
  if (!isFit) malformed(`public must have an entry for each of ${parts.length} blocks, not all null`);
  for (const [block, { secrets, values, numbers }] of parts.entries())
    if (it.blocks[block] !== null) checkPublic(it.blocks[block], secrets.length, values.length, numbers);
}

// --- Manifests -----------------------------------------------------------------------------------------
/** Check the mechanisms of blocks of columns, and the weights with which blocks are drawn. */
function readManifest(fields) {
  checkVersion(fields, "manifest", 2n);
  checkKeys(fields, ["format", "version", "weights", "mechanisms"], ["public"], "it");
  const { version, weights } = fields;
  const parts = listed(fields.mechanisms, "mechanisms").map((each) => readMechanism(each));
  const [n, bits] = [parts.length, 32 + bitLength(parts.length - 1)];
  checkIntegers(listed(weights, "weights"), "weights");
  if (!n || n > MOST_BLOCKS) malformed(`a manifest needs 1 to ${grouped(MOST_BLOCKS)} mechanisms, got ${n}`);
  if (!weights.every(isWeight(62))) malformed("the weights of blocks are negative or too large");
  if (weights.length !== n) malformed(`Expected one weight for each of ${n} mechanisms, got ${weights.length} weights`);
  const isSum = weights.reduce((sum, weight) => sum + weight, 0n) === 1n << BigInt(bits);
  if (!isSum) malformed(`the weights of blocks must sum to 2**${bits}`);
  const [{ observe }, [secrets], shared] = [parts[0], alphabetsOf(parts[0]), namesOf(parts[0], true)];
  const known = checkedTogether(parts, fields.mechanisms);
  if ("public" in fields) checkPublicOfBlocks(fields.public, parts);
  const columns = [...shared.map((name) => [name, true]), ...known.map(({ name }) => [name, !shared.length])];
  const numbers = numbersOfBlocks(parts, columns);
  const [bounds, slots] = [parts.map(({ claims }) => claims?.[0].eps), weights.map(Number)];
  const stated = {
    ...plain({ columns, secrets, observe, eps: bounds.includes(undefined) ? null : Math.max(...bounds) }),
    ...plain({ categories: known.map((own) => own.categories), blocks: parts.map((part) => namesOf(part, false)) }),
    ...plain({ shares: slots.map((weight) => weight / 2 ** bits), numbers: writtenNumbers(columns, numbers) }),
    mechanisms: Object.freeze(parts.map((part) => Object.freeze(statedOf(part)))),
  };
  const head = write({ format: MANIFEST, version, weights }).slice(0, -1);
  const canonical = `${head},"mechanisms":[${parts.map((part) => part.canonical).join(",")}]}`;
  const secret = observe === "all" && shared.length ? [memberReader(columns, true, secrets)] : [];
  const refuseFalseClaims = () => parts.forEach((part) => part.refuseFalseClaims());
  const reader = numberReader(columns, numbers);
  const reporterOf = blockReporter(parts, slots, { columns, observe }, known, secret, reader);
  return { canonical, stated, reporterOf, rounded: reader.rounded, refuseFalseClaims };
}
/** Make the function that checks a record in every column, and returns the one that draws a block and its report. */
function blockReporter(parts, slots, { columns, observe }, known, secret, { categoriesOf }) {
  const places = new Map(columns.map(([name], place) => [keyOf(name), place]));
  const placesOf = parts.map((part) => part.columns.map(([name]) => places.get(keyOf(name))));
  const alone = (place) => columns.map(([name], other) => [name, other !== place]); // one column as U
  const ofU = known.map(({ name, categories, other }) =>
    memberReader(alone(places.get(keyOf(name))), false, categories, [other]),
  );
  const finders = [...secret, ...ofU];
  const firsts = []; // index of each block's first cell among all cells, from 1; 0 is the choice of the block
  parts.reduce((first, part, block) => (firsts[block] = first) + part.secrets.length * part.values.length, 1);
  const pick = pickerOf({ columns, observe }, true);
  return (record) => {
    const rawAt = pick(record);
    return async (tapeOf, roundingOf) => {
      const valueAt = await categoriesOf(rawAt, roundingOf);
      for (const find of finders) find(valueAt);
      const block = drawByAlias(slots, await tapeOf(0));
      const cell = parts[block].cellOf((place) => valueAt(placesOf[block][place]));
      return Object.freeze({ block, report: parts[block].draw(cell, await tapeOf(firsts[block] + cell)) });
    };
  };
}
/** The bins or knots of each column, which must be the same in all blocks. */
function numbersOfBlocks(parts, columns) {
  const found = new Map();
  for (const part of parts) {
    const written = writtenNumbers(part.columns, part.numbers);
    for (const [place, [name]] of part.columns.entries()) {
      const [text, own] = [write(written[place]), part.numbers?.[place] ?? null];
      const isSame = (found.get(keyOf(name)) ?? { text }).text === text;
      if (!isSame) malformed(`column ${show(name)} has different bins or knots in two blocks`);
      found.set(keyOf(name), { text, own });
    }
  }
  return columns.map(([name]) => found.get(keyOf(name)).own);
}
/** The columns of S, which all blocks have, or a block's other columns; all columns if all are sensitive. */
const isWhole = ({ columns }) => columns.every(([, flag]) => flag);
const namesOf = (part, isShared) =>
  part.columns.filter(([, flag]) => (flag && !isWhole(part)) === isShared).map(([name]) => name);
const alphabetsOf = (part) => (isWhole(part) ? [part.values, part.secrets] : [part.secrets, part.values]);
const SAME_SECRET = "All blocks need the same sensitive columns with the same secrets";
/** Check that mechanisms are those of different blocks of one table; find each column of U with its categories. */
function checkedTogether(parts, texts) {
  const found = new Map();
  const keyOfAll = (items) => joined(items.map((item) => keyOf(item)));
  const protectedBy = (part) => `${keyOfAll(namesOf(part, true))} ${keyOfAll(alphabetsOf(part)[0])}`;
  if (texts.some(({ columns }) => !columns.length)) malformed("the mechanisms of a manifest need named columns");
  const blocks = new Set();
  for (const part of parts) {
    const names = namesOf(part, false);
    const [told, block] = [names.map(show).join(", "), joined(names.map((name) => keyOf(name)).sort())];
    const isAlike = part.observe === parts[0].observe;
    if (!isAlike) malformed("observe must be the same for all mechanisms of a manifest");
    const wrong = `the block of ${told} has a different secret than the first block. ${SAME_SECRET}`;
    if (protectedBy(part) !== protectedBy(parts[0])) malformed(wrong);
    if (blocks.has(block)) malformed(`duplicate block: two have the columns ${told}`);
    blocks.add(block);
  }
  for (const part of parts) {
    const [names, values] = [namesOf(part, false), alphabetsOf(part)[1]];
    let combinations = 1;
    for (const [place, name] of names.entries()) {
      const own = new Map();
      for (const value of values) {
        const item = names.length > 1 ? value[place] : value;
        const key = keyHeld(item);
        if (!own.has(key)) own.set(key, item);
      }
      const other = part.other?.[place] ?? null;
      const [others, keys] = [keyOf(other, 1), `${joined([...own.keys()])} ${keyOf(other, 1)}`];
      const column = found.get(keyOf(name)) ?? { name, keys, other, others, categories: [...own.values()] };
      const what = column.others === others ? "categories" : "values grouped as 'other'";
      if (column.keys !== keys) malformed(`column ${show(name)} has different ${what} in two blocks`);
      found.set(keyOf(name), column);
      combinations *= own.size;
    }
    const wrong = `the block of ${names.map(show).join(", ")} needs a value for each of the ${grouped(combinations)}`;
    if (values.length !== combinations)
      malformed(`${wrong} combinations of its columns' categories, got ${grouped(values.length)} values`);
  }
  return [...found.values()];
}

// --- Numbers that are cut into bins or rounded to knots ------------------------------------------------
/** Check the bins and knots of the columns: their labels, or the knots themselves, are the columns' categories. */
function readNumbers({ numbers, columns, secrets, values }, others) {
  const isFit = listed(numbers, "numbers").length === columns.length && numbers.some((it) => it !== null);
  if (!isFit) malformed(`numbers must have an entry for each of ${columns.length} columns`);
  const counts = { true: 0, false: 0 };
  const widths = (flag) => columns.filter(([, isSecret]) => isSecret === flag).length;
  return numbers.map((entry, place) => {
    const [name, flag] = columns[place];
    const n = counts[flag]++;
    if (entry === null) return null;
    const own = readOneOfNumbers(entry);
    const members = (flag ? secrets : values).map((it) => (widths(flag) > 1 ? it[n] : it));
    const other = flag ? null : (others?.[n] ?? null);
    const known = new Set([...members, ...(Array.isArray(other) ? other : [])].map((it) => keyOf(it)));
    const made = new Set(own.categories.map((it) => keyOf(it)));
    if (own.edges) for (const keys of [known, made]) keys.delete(OTHER);
    const isSame = [...known].every((key) => made.has(key)) && (other === true || known.size === made.size);
    if (!isSame) malformed(`the categories of column ${show(name)} must be its bins or knots`);
    return own;
  });
}
function readOneOfNumbers(entry) {
  if (!isObject(entry)) malformed("each of numbers must be null or an object");
  const kind = "knots" in entry ? "knots" : "edges";
  checkKeys(entry, [kind], ["outside"], "each of numbers");
  const isClipped = "outside" in entry;
  if (isClipped && entry.outside !== "clip") malformed('outside can only be "clip"');
  const last = listed(entry[kind], kind).length - 1;
  const points = entry[kind].map((it) => (Number.isInteger(it) ? BigInt(it) : it));
  const isEnd = (it, n) => it === null && kind === "edges" && (n === 0 || n === last);
  const scales = new Set(points.filter((it, n) => !isEnd(it, n)).map(scaleOf));
  const [scale] = scales;
  const isSmall = (it) => typeof it === "object" || (it !== true && it !== false && it >= -(2 ** 53) && it <= 2 ** 53);
  const isOne = scales.size === 1 && scale && (kind === "edges" || scale === "number");
  if (!isOne || !points.every(isSmall)) malformed(`${kind} must be numbers up to 2^53, or dates of one kind`);
  const limits = points.map((it, n) => (it === null ? (n ? Infinity : -Infinity) : positionOf(it, scale)));
  const isRising = limits.every((it, n) => n === 0 || limits[n - 1] < it);
  if (last < (kind === "edges" ? 2 : 1) || !isRising) malformed(`${kind} are too few, or do not increase`);
  if (!points.every(isShort)) malformed("edges must hold dates and times in their shortest form");
  const names = points.map((it, n) => (it === null ? (n ? "inf" : "-inf") : edgeName(it)));
  const labels = names.slice(1).map((name, n) => `[${names[n]}, ${name})`);
  return { [kind]: points, isClipped, limits, scale, categories: kind === "edges" ? labels : points };
}
/** The scale on which a value is compared: number, date without a time zone, or moment with one. */
function scaleOf(value) {
  if (["number", "bigint", "boolean"].includes(typeof value)) return "number";
  if (value instanceof Date) return "moment";
  const [kind, content] = (isObject(value) && Object.entries(value)[0]) || [];
  if (!["date", "datetime"].includes(kind) || keyOfMoment(value) === undefined) return undefined;
  return kind === "datetime" && content.match(MOMENTS.datetime)[4] ? "moment" : "date";
}
/** A number, or microseconds since 1970; undefined if missing, infinite or on a different scale. */
function positionOf(value, scale) {
  if (scaleOf(value) !== scale) return undefined;
  if (scale === "number") {
    const number = Number(value);
    if (typeof value !== "bigint") return isFinite(number) ? number : undefined;
    return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, number));
  }
  if (value instanceof Date) return isNaN(value) ? undefined : BigInt(value.getTime()) * 1000n;
  if (value.date) return microseconds(value.date);
  const [what, at] = keyOfMoment(value).split(" ");
  if (scale === "moment") return what === "instant" ? BigInt(at) : undefined;
  const [, day, clock, fraction = "0"] = value.datetime.match(MOMENTS.datetime);
  return microseconds(day, clock) + BigInt(fraction);
}
const isShort = (it) => !it?.datetime || /\+00:00$|T(?!00:00:00$)[\d:.]+$/.test(it.datetime);
const edgeName = (it) => (isObject(it) ? (it.date ?? it.datetime.replace("T", " ")) : write(it));
/** Bins and knots in their written form; null for a column without any. */
const writtenNumbers = (columns, numbers) =>
  columns.map((_, place) => {
    const { edges, knots, isClipped } = numbers?.[place] ?? {};
    if (!edges && !knots) return null;
    return { ...(edges ? { edges } : { knots }), ...(isClipped && { outside: "clip" }) };
  });
/** Make the function from values to categories: labels of bins, or knots; null for values outside all of them. */
function numberReader(columns, numbers = []) {
  const cut = [...columns.keys()].filter((place) => numbers[place]);
  const nameOf = (place) => write([columns[place][0], numbers[place].knots]);
  const rounded = cut.filter((place) => numbers[place].knots).map(nameOf);
  const categoriesOf = async (valueAt, roundingOf) => {
    const found = new Map();
    for (const place of cut) {
      const { limits, scale, isClipped, knots, categories } = numbers[place];
      const [value, last] = [positionOf(valueAt(place), scale), limits.length - 1];
      const below = value === undefined ? -1 : limits.filter((limit) => limit <= value).length - 1;
      const isOutside = below < 0 || value > limits[last] || (!knots && below === last);
      if (value === undefined || (isOutside && !isClipped)) found.set(place, null);
      else if (!knots) found.set(place, categories[Math.max(0, Math.min(below, last - 1))]);
      else {
        const lower = Math.max(0, Math.min(below, last - 1));
        const inside = Math.max(limits[0], Math.min(limits[last], value));
        const share = (inside - limits[lower]) / (limits[lower + 1] - limits[lower]);
        const tape = await roundingOf(nameOf(place));
        found.set(place, knots[lower + (tape.getUint32(0, true) < Math.floor(share * CAPACITY) ? 1 : 0)]);
      }
    }
    return (place) => (found.has(place) ? found.get(place) : valueAt(place));
  };
  return { rounded, categoriesOf };
}

// --- Claims --------------------------------------------------------------------------------------------
const isCount = (it) => typeof it === "bigint" && it > 0n;
const FIGURES = { renyi: ["alpha", "radius"], "likelihood-ratio": ["single", "pair", "drift"], box: ["drift"] };
const OF_BALLS = ["finite-sample", "survey", "given"];
const RULES = { renyi: ["chi2", ...OF_BALLS], "likelihood-ratio": ["asymptotic", ...OF_BALLS] };
RULES.box = ["reports", "reports-asymptotic"];
const UNITS = 8192n; // bounds of a box are multiples of 1/8192
const OF_SETS = ["n_records", "n_values", "values_from"];
/** Read what the maker claims to have proven, in nats; keys are in canonical order. */
function readClaims(found, columns) {
  if (!Array.isArray(found)) wrongClaim("claims must be a list");
  const claims = found.map((claim) => readClaim(claim, columns));
  const about = new Set(claims.map(({ known, around }) => `${known} ${around === "all"}`));
  const isFirst = Array.isArray(claims[0]?.known) && !claims[0].known.length;
  if (!isFirst) wrongClaim("the first claim must be about one report, with no known columns");
  if (about.size < claims.length) wrongClaim("duplicate claim");
  const most = claims.find(({ known, around }) => known.length === 0 && around === "all")?.eps ?? Infinity;
  const worst = claims.find(({ eps }) => eps > most);
  if (worst) wrongClaim(`eps=${worst.eps} must be at most ${most}, the bound for all distributions`);
  return claims;
}
function readClaim(claim, columns) {
  if (!isObject(claim)) wrongClaim("each of claims must be an object");
  checkKeys(claim, ["secret", "known", "eps", "attained", "around"], ["asked"], "each of claims", wrongClaim);
  const isOf = (flag) => (it, n, all) => typeof it === "bigint" && columns[it]?.[1] === flag && !(all[n - 1] >= it);
  const nSecret = columns.filter(([, flag]) => flag).length;
  const { secret, known } = claim;
  const isWhole = listed(secret, "secret").length === nSecret && secret.every(isOf(true));
  const isFit = isWhole && (known === "all" || listed(known, "known").every(isOf(false)));
  if (!isFit) wrongClaim("its columns are not ascending indices of all sensitive or of nonsensitive columns");
  const [eps, attained] = ["eps", "attained"].map((name) => nats(claim[name], name));
  const asked = "asked" in claim ? nats(claim.asked, "asked") : undefined;
  if (attained > eps) wrongClaim(`attained=${write(attained)} must be at most eps=${write(eps)}`);
  if (eps > asked) wrongClaim(`eps=${write(eps)} must be at most asked=${write(asked)}`);
  return { secret, known, asked, eps, attained, around: readSet(claim.around) };
}
/** Refuse claims, for all distributions or for observers who know U, that are lower than what the weights attain. */
function checkClaims(claims, rows, columns, nValues) {
  const ratio = (upper, lower) => (upper > lower ? upper / lower : 1); // 0 / 0 is 1
  let [everywhere, givenU] = [1, 1];
  for (const parts of rows.filter(({ length }) => length > 1)) { // the weights of one report, by secret
    const most = parts.map((part) => part.reduce((a, b) => Math.max(a, b)));
    const least = parts.map((part) => part.reduce((a, b) => Math.min(a, b)));
    const first = least.indexOf(least.reduce((a, b) => Math.min(a, b)));
    const second = least.reduce((a, b, s) => (s === first ? a : Math.min(a, b)), Infinity);
    const ratios = most.map((upper, s) => ratio(upper, s === first ? second : least[first]));
    everywhere = ratios.reduce((a, b) => Math.max(a, b), everywhere);
    for (let u = 0; u < parts[0].length; u++) {
      const ends = ([a, b], part) => [Math.max(a, part[u]), Math.min(b, part[u])];
      const [upper, lower] = parts.reduce(ends, [0, Infinity]);
      givenU = Math.max(givenU, ratio(upper, lower));
    }
  }
  const nOthers = columns.filter(([, flag]) => !flag).length;
  for (const { known, around, eps } of claims) {
    const isAll = known === "all" || (nOthers && known.length === nOthers);
    const isEverywhere = known.length === 0 && (around === "all" || nValues === 1);
    const attained = Math.log(isAll ? givenU : isEverywhere ? everywhere : 1);
    // A difference larger than rounding errors:
    const isFalse = attained === Infinity || eps < attained - 4 * Number.EPSILON * (1 + attained);
    const where = around === "all" ? " for all distributions" : "";
    const claimed = `it claims eps <= ${eps}${where}`;
    if (isFalse) malformed(`${claimed}, but its weights attain eps=${attained}: the claim is false`);
  }
}
function readSet(around) {
  if (around === "all") return around;
  const isSet = isObject(around) && typeof around.set === "string" && Object.hasOwn(FIGURES, around.set);
  const unknown = `around is not 'all', and its set=${show(around?.set)} is unknown`;
  const names = isSet ? FIGURES[around.set] : wrongClaim(unknown);
  const bounds = around.set === "box" ? ["lower", "upper", "reports"] : [];
  checkKeys(around, ["set", ...names, "rule", "beta", ...bounds], OF_SETS, "around", wrongClaim);
  const figures = Object.fromEntries(names.map((name) => [name, nats(around[name], name)]));
  const [{ set, rule, n_records, n_values, values_from }, { alpha, single, pair }] = [around, figures];
  const isRule = RULES[set].includes(rule);
  const beta = rule === "given" ? around.beta : real(around.beta);
  const isBall = set === "renyi" && alpha > 0 && (rule !== "finite-sample" || alpha === 1);
  const isOf = [n_records, n_values].every((number) => number === undefined || isCount(number));
  const isSource = [undefined, "declared", "frequent", "cut", "learned"].includes(values_from);
  const isBox = bounds.length && isBoxOf(around);
  const isFit = isRule && isOf && isSource && (isBall || isBox || (single <= pair && pair <= 2 * single));
  const isBeta = rule === "given" ? beta === null : beta > 0 && beta < 1;
  if (!isFit || !isBeta) wrongClaim(`the numbers of a set do not match: ${show(around)}`);
  const [lower, upper, reports] = bounds.map((name) => around[name]);
  const told = reports?.map(({ mechanism, counts }) => ({ mechanism, counts }));
  return { set, ...figures, rule, beta, n_records, n_values, values_from, lower, upper, reports: told };
}
/** Whether bounds from reports admit a conditional for each secret, and their counts sum to n_records. */
function isBoxOf({ lower, upper, reports, n_records }) {
  const isWhole = (row) => Array.isArray(row) && row.every((x) => typeof x === "bigint" && x >= 0n);
  const isTable = (rows) => Array.isArray(rows) && rows.every(isWhole);
  const isAlike = isTable(lower) && isTable(upper) && lower.length === upper.length;
  const total = (row) => row.reduce((sum, x) => sum + x, 0n);
  const isInside = (low, high) =>
    low.length === high?.length && low.every((x, u) => x <= high[u] && high[u] <= UNITS) &&
    total(low) <= UNITS && UNITS <= total(high);
  if (!isAlike || !lower.every((low, s) => isInside(low, upper[s])) || !Array.isArray(reports)) return false;
  for (const one of reports) {
    if (!isObject(one)) wrongClaim("each of reports must be an object");
    checkKeys(one, ["mechanism", "counts"], [], "each of reports", wrongClaim);
  }
  const isCounted = reports.every(({ mechanism, counts }) => typeof mechanism === "string" && isWhole(counts));
  return isCounted && reports.length > 0 && n_records === total(reports.flatMap(({ counts }) => counts));
}
const real = (it) => (typeof it === "bigint" || typeof it === "number" ? Number(it) : NaN);
const wrongClaim = (what) => malformed(`in its claims, ${what}`);
const nats = (it, name) =>
  isFinite(real(it)) && real(it) >= 0 ? Number(it) : wrongClaim(`${name}=${show(it)} must be a finite number >= 0`);

// --- Records -------------------------------------------------------------------------------------------
/** Make the function that checks a record and returns a function from column indices to values. */
// A manifest does not state the order of its table's columns, so arrays are read only if names are indices.
function pickerOf({ columns, observe }, isManifest = false) {
  const isPlaces = [...columns.keys()].every((place) => columns.some(([name]) => name === BigInt(place)));
  const order = columns.map(([name], place) => (isManifest ? Number(name) : place));
  const wanted = [...columns.keys()].filter((place) => observe === "all" || !columns[place][1]);
  const texts = columns.map(([name]) => (/string|bigint/.test(typeof name) ? String(name) : Symbol("no name")));
  const names = texts.map((name, n) => (texts.indexOf(name) === texts.lastIndexOf(name) ? name : Symbol(n)));
  const told = wanted.map((place) => show(columns[place][0])).join(", ");
  return (record) => {
    const isArray = Array.isArray(record);
    const isWhole = isArray && record.length === columns.length && (isPlaces || !isManifest);
    const lacks = wanted.find((place) => !isArray && !(isObject(record) && Object.hasOwn(record, names[place])));
    const isFit = isArray ? isWhole || (!isManifest && record.length === wanted.length) : lacks === undefined;
    const what = isArray ? `it has ${record.length} values` : `it lacks ${show(columns[lacks ?? 0][0])}`;
    const arrays = isManifest ? "" : ", or an array in this order";
    if (!isFit) refuse(brief(`the record must be an object with ${told}${arrays}: ${what}`));
    const valueOf = (place, n) => record[!isArray ? names[place] : isWhole ? order[place] : n];
    const values = new Map(wanted.map((place, n) => [place, valueOf(place, n)]));
    return (place) => values.get(place);
  };
}
/** Make the function that finds a record's cell, given the function from column indices to values. */
function cellReader({ columns, secrets, values, observe }, others) {
  const findU = memberReader(columns, false, values, others);
  const findS = observe === "all" ? memberReader(columns, true, secrets) : () => 0;
  return (valueAt) => findS(valueAt) * values.length + findU(valueAt);
}
/** Make the function that finds the index of a record's secret, or of its value of U. */
function memberReader(columns, isSecret, members, others) {
  const places = [...columns.keys()].filter((place) => columns[place][1] === isSecret);
  const titles = places.map((place) => show(columns[place][0]));
  const rows = members.map((member) => (places.length === 1 ? [member] : member).map(keyHeld));
  const numbers = new Map(rows.map((row, number) => [joined(row), number]));
  const entries = places.map((_, n) => (others?.length === places.length ? others[n] : null));
  const lists = entries.map((entry) => (Array.isArray(entry) ? entry : []));
  const few = lists.map((entry) => entry.map((it) => [keyOf(it), OTHER]));
  const known = places.map((_, n) => new Map([...few[n], ...rows.map((row) => [row[n], row[n]])]));
  const held = places.map((_, n) => members.map((it) => (places.length === 1 ? it : it[n])).concat(lists[n]));
  const wholes = held.map((items) => items.filter((it) => typeof it === "bigint"));
  const rounded = wholes.map((items) => new Set(items.map(Number).filter(isLarge)));
  const texts = held.map((items) => items.filter((it) => typeof it === "string"));
  const rest = entries.includes(true) ? numbers.get(joined(places.map(() => OTHER))) : undefined;
  const find = (value, n) => {
    const key = keyOfRaw(value) ?? refuse(`column ${titles[n]} ${NO_CATEGORY}`);
    if (rounded[n].has(value)) refuse(`column ${titles[n]}: ${ROUNDED}`);
    const held = [key, inOtherType(key)].find((it) => known[n].has(it));
    if (held || entries[n] === true) return known[n].get(held) ?? OTHER;
    return refuse(`column ${titles[n]}: the mechanism does not know a value (not shown)${hintOf(value, texts[n])}`);
  };
  return (valueAt) => {
    const keys = places.map((place, n) => find(valueAt(place), n));
    return numbers.get(joined(keys)) ?? rest ?? refuse(brief(`columns ${titles.join(", ")}: ${NOT_TOGETHER}`));
  };
}
const NOT_TOGETHER = "the mechanism knows each value, but not together";
const NO_CATEGORY = "contains a value that is not a string, a number, a boolean, a date or missing";
const ROUNDED = "numbers of 2^53 or more may be rounded, but its categories are integers of this size; pass a BigInt";
const isLarge = (number) => Math.abs(number) >= 2 ** 53 && isFinite(number);
/** Ways in which strings differ that people regard as equal. */
const WAYS = [
  ["how accents are encoded (Unicode NFC)", (text) => text.normalize("NFC")],
  ["letter case", (text) => text.toLowerCase()],
  ["outer spaces", (text) => text.trim()],
];
/** State how a string differs from a known one, if in one way only. */
function hintOf(value, texts) {
  const isNear = ([, key]) => typeof value === "string" && texts.some((text) => key(text) === key(value));
  const way = WAYS.find(isNear);
  return way ? `. A value differs from a known one only in ${way[0]}: use the known spelling` : "";
}
function keyOfRaw(value) {
  if (value instanceof Date) return isNaN(value) ? undefined : keyOfInstant(BigInt(value.getTime()) * 1000n);
  if (!Number.isSafeInteger(value?.microseconds)) return keyOf(Number.isNaN(value) ? null : value);
  return keyOf({ ...value, microseconds: BigInt(value.microseconds) });
}

// --- Drawing -------------------------------------------------------------------------------------------
/** Draw by the exact alias table of a cell: the tape has the bits of a slot, then 32 of a coin. */
function drawByAlias(weights, tape) {
  const slots = [...Array(2 ** bitLength(weights.length - 1)).keys()];
  const surplus = slots.map((slot) => (weights[slot] ?? 0) - CAPACITY);
  const thresholds = surplus.map((more) => (more < 0 ? CAPACITY + more : 0));
  const [alias, donors] = [[...slots], slots.filter((slot) => surplus[slot] > 0)];
  let [donor, taken, given] = [0, 0, surplus[donors[0]]];
  for (const taker of slots.filter((slot) => surplus[slot] < 0)) {
    alias[taker] = donors[donor];
    taken -= surplus[taker];
    for (; given <= taken && donor < donors.length - 1; given += surplus[donors[++donor]]) {
      thresholds[donors[donor]] = CAPACITY + given - taken; // the next donor supplies the rest
      alias[donors[donor]] = donors[donor + 1];
    }
  }
  const isWide = weights.length > 256;
  const slot = (isWide ? tape.getUint16(0, true) : tape.getUint8(0)) & (slots.length - 1);
  return tape.getUint32(isWide ? 2 : 1, true) < thresholds[slot] ? slot : alias[slot];
}
/** Draw by inversion: the kind of report (same secret or not, same value or not), then a report of this kind. */
function drawByBlocks(blocks, bits, a1, a2, cell, tape) {
  let [rest, kind] = [tape.getBigUint64(0, true) >> (64n - bits), 0];
  const width = () => (kind & 1 ? a2 - 1 : 1);
  const mass = () => blocks[kind] * BigInt((kind & 2 ? a1 - 1 : 1) * width());
  for (; rest >= mass(); kind++) rest -= mass();
  const rank = Number(rest / blocks[kind]); // distance from the record's cell, within its kind
  const secret = (Math.floor(cell / a2) + (kind >> 1) + Math.floor(rank / width())) % a1;
  return secret * a2 + (((cell % a2) + (kind & 1) + (rank % width())) % a2);
}

// --- Helpers -------------------------------------------------------------------------------------------
const isObject = (it) => typeof it === "object" && it !== null && !Array.isArray(it) && !(it instanceof Date);
function encoded(text) {
  return new TextEncoder().encode(text);
}
const isOctets = (it) => ArrayBuffer.isView(it) && it[Symbol.toStringTag] === "Uint8Array";
const bitLength = (n) => 32 - Math.clz32(n);
const brief = (text) => (text.length <= 400 ? text : `${text.slice(0, 200)} ... ${text.slice(-200)}`);
const show = (value) => brief(write(value) ?? "undefined");
const grouped = (n) => n.toLocaleString("en");
const listed = (it, where) => (Array.isArray(it) ? it : malformed(`${where} must be a list`));
const malformed = (what) => fail(`the mechanism is malformed: ${brief(what)}.`);
const damaged = (what) => fail(`the mechanism is damaged: ${what}.`);
const refuse = (what) => fail(`${what}. Nothing was reported.`);
/** Invisible characters, which may control a terminal or reorder a line. */
const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu; // except joiners, which some scripts need
function fail(message, Kind = Error) {
  throw new Kind(message.replace(HIDDEN, (hidden) => `\\u{${hidden.codePointAt(0).toString(16)}}`));
}
function checkKeys(fields, needed, optional, where, tell = malformed) {
  const missing = needed.filter((key) => !Object.hasOwn(fields, key));
  if (missing.length) tell(`${where} lacks ${missing.map(show).join(", ")}`);
  const strange = Object.keys(fields).find((key) => !needed.includes(key) && !optional.includes(key));
  if (strange !== undefined) tell(`${where} has the unknown key ${show(strange)}`);
}
function checkNames(names, where) {
  if (!listed(names, where).length) malformed(`${where} are empty`);
  const seen = new Map();
  for (const name of names) {
    const isDeep = Array.isArray(name) && !/[{]/.test(show(name));
    const wrong = `${where} hold ${show(name)}, which is not a date, time or duration`;
    const key = keyOf(name) ?? malformed(isDeep ? "lists of categories are nested too deeply" : wrong);
    if (seen.has(key)) malformed(`${where} repeat, because ${show(seen.get(key))} and ${show(name)} are equal`);
    seen.set(key, name);
  }
}
/** Convert to plain JavaScript: integers up to 2^53 become numbers, and everything is frozen. */
function plain(value) {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return Object.freeze(value.map(plain));
  if (!isObject(value)) return value ?? null;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)])));
}
/** Make the function to the bytes that a key, a mechanism's hash, a number and a person determine, by a CBC-MAC. */
async function tapes(subtle, secret, domain, hash) {
  const hmacKey = await subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const derived = await subtle.sign("HMAC", hmacKey, Uint8Array.from([...domain, ...hash]));
  const key = await subtle.importKey("raw", derived, "AES-CBC", false, ["encrypt"]);
  return async ({ letter, value, octets }, number) => {
    const blocks = new Uint8Array(16 + 16 * Math.ceil(octets.length / 16));
    blocks.set(octets, 16);
    const first = [(BigInt(letter.charCodeAt(0)) << 56n) | BigInt(number), value];
    first.forEach((half, place) => new DataView(blocks.buffer).setBigUint64(8 * place, half));
    const made = await subtle.encrypt({ name: "AES-CBC", iv: new Uint8Array(16) }, key, blocks);
    return new DataView(made, blocks.length - 16, 16); // before the block of padding
  };
}
/** Write an id: integers of 64 bits and their digits by value, other strings and bytes with their length. */
function written(id) {
  if (id.length === 0) refuse("an id is empty, perhaps because it is missing: pass a different id for each person");
  if (isOctets(id)) return { letter: "b", value: BigInt(id.length), octets: id };
  const text = typeof id === "bigint" || Number.isSafeInteger(id) ? `${BigInt(id)}` : id;
  const isText = typeof text === "string" && !HALF_PAIR.test(text);
  if (!isText) refuse("an id must be a string, a Uint8Array, a bigint or an integer up to 2^53");
  const value = /^(?:0|-?[1-9]\d{0,19})$/.test(text) ? BigInt(text) : 2n ** 64n;
  if (value >= -(2n ** 63n) && value < 2n ** 64n)
    return { letter: value < 0n ? "n" : "i", value: BigInt.asUintN(64, value), octets: [] };
  if (typeof id === "bigint") refuse("an id is an integer of more than 64 bits: pass it as a string everywhere");
  const octets = new TextEncoder().encode(text);
  return { letter: "s", value: BigInt(octets.length), octets };
}
