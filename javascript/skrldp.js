/**
 * The client of skrldp where JavaScript runs: it loads the JSON of a mechanism and turns records
 * into reports. `docs/client.md` describes the JSON, and `README.md` beside this file how to use
 * the client. It refuses what the Python client refuses, and needs nothing but WebCrypto.
 *
 *     import { load } from "./skrldp.js";
 *     const client = await load(text, { digest });
 *     const report = await client.report({ ill: "yes", visits: "rare" }); // may leave the device
 *
 * In what was read from JSON, a bigint is a whole number, and a number is one with a fraction or an
 * exponent: 1 and 1.0 are one category, but written differently, and 1.0 is no weight.
 */

const FORMAT = "skrldp-mechanism";
const MOST_CHARACTERS = 2 ** 28;
const MOST_BRACKETS = 2 ** 23;
const MOST_DIGITS = 4300; // of a whole number, as in Python
const MOST_CELLS = 1_000_000;
const MOST_SYMBOLS = 2 ** 16;
const LEAST_KEY = 16; // bytes
const CAPACITY = 2 ** 32; // of a slot of an alias table
const DOMAIN = new TextEncoder().encode("skrldp permanent report, version 1\0");
const NOTHING = "Nothing was reported.";
const HALF_PAIR = /\p{Surrogate}/u; // of surrogates

/**
 * Load a mechanism that reports records; `skrldp.d.ts` has the types.
 *
 * @param {string | Uint8Array} text What `mechanism_.to_json()` wrote; bytes are UTF-8.
 * @param {{memoize?: Uint8Array, digest?: string}} options `memoize`: a secret key of 16 bytes or
 *   more, which makes reports permanent. `digest`: the digest that the mechanism must have.
 */
export async function load(text, options = {}) {
  checkOptions(options, ["memoize", "digest"]);
  const { crypto } = globalThis;
  if (!crypto?.subtle || !crypto.getRandomValues) {
    throw new Error("WebCrypto is missing: browsers have it on pages served over HTTPS only.");
  }
  const hmacKey = (octets) =>
    crypto.subtle.importKey("raw", octets, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const hmac = (key, ...parts) => crypto.subtle.sign("HMAC", key, together(parts));
  const key = "memoize" in options ? await hmacKey(checkedKey(options.memoize)) : null;
  const { canonical, symbols, draw, cellOf, guarantee, ...alphabets } = readMechanism(text);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical));
  const digest = Array.from(new Uint8Array(hash), (o) => o.toString(16).padStart(2, "0")).join("");
  if ("digest" in options && options.digest !== digest) {
    throw new Error(`the mechanism's digest is ${digest}, not ${show(options.digest)}.`);
  }
  const derived = key && (await hmacKey(await hmac(key, DOMAIN, new Uint8Array(hash))));
  let names = null; // there may be a million: they are listed when they are asked for

  return Object.freeze({
    ...plain(alphabets),
    get symbols() {
      return (names ??= plain(symbols()));
    },
    encode: "symbol",
    digest,
    guarantee: guarantee && Object.freeze({ ...NOT_STATED, ...plain(guarantee) }),
    eps: guarantee && guarantee.eps,
    claim: claimOf(guarantee),
    isPermanent: derived !== null,
    async report(record, reportOptions = {}) {
      checkOptions(reportOptions, ["id"]);
      const id = reportOptions.id ?? null;
      if ((derived === null) !== (id === null)) {
        throw new Error(derived ? "permanent reports need an id." : "fresh reports take no id.");
      }
      const person = derived && octetsOf(id);
      const cell = cellOf(record);
      const tape = derived
        ? await hmac(derived, new Uint8Array(new BigUint64Array([BigInt(cell)]).buffer).reverse(), person)
        : crypto.getRandomValues(new Uint8Array(8)).buffer;
      return draw(cell, new DataView(tape));
    },
  });
}

// --- JSON ----------------------------------------------------------------------------------------

// Of valid JSON: texts, with a colon if they are keys, and numbers.
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|-?\d[-+.eE\d]*/g;

/** Parse JSON with exact numbers; refuse infinite ones, keys that repeat and half characters. */
function parse(text) {
  checkSize(text);
  checkedText(text);
  let keysWritten = 0;
  let keysHeld = 0;
  const revive = (_, value) => {
    if (typeof value === "string") return value[0] === "#" ? number(value) : checkedText(value.slice(1));
    if (!isObject(value)) return value;
    const entries = Object.entries(value);
    keysHeld += entries.length;
    return Object.fromEntries(entries.map(([key, item]) => [key.slice(1), item]));
  };
  let fields;
  try {
    JSON.parse(text); // checks the grammar, which is the same as Python's
    const marked = text.replace(TOKENS, (token, colon) => {
      if (colon) keysWritten++;
      return token[0] === '"' ? `"$${token.slice(1)}` : `"#${token}"`;
    });
    fields = JSON.parse(marked, revive);
  } catch (error) {
    throw new Error(`not a mechanism: the text is not JSON (${brief(error.message)}).`);
  }
  if (keysHeld < keysWritten) throw new Error("not a mechanism: a key is there twice.");
  return fields;
}

function checkSize(text) {
  let [pairs, brackets] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x5b || unit === 0x7b) brackets++;
    if ((unit & 0xfc00) === 0xd800) pairs++; // two units are one character
  }
  for (const [found, most, what] of [
    [text.length - pairs, MOST_CHARACTERS, "characters"],
    [brackets, MOST_BRACKETS, "opening brackets"],
  ]) {
    if (found > most) throw new Error(`not a mechanism: the text has more than ${most} ${what}.`);
  }
}

function checkedText(text) {
  if (HALF_PAIR.test(text)) throw new Error("not a mechanism: half a surrogate pair is no text.");
  return text;
}

function number(marked) {
  const token = marked.slice(1);
  const isWhole = !/[.eE]/.test(token);
  if (isWhole ? token.replace("-", "").length > MOST_DIGITS : !isFinite(token)) {
    throw new Error(`${brief(token)} is no finite number, or has too many digits`);
  }
  return isWhole ? BigInt(token) : Number(token);
}

/** Write JSON as Python does: without blanks, text unescaped, floats as `repr` writes them. */
function write(value) {
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (typeof value === "number") return writeFloat(value);
  if (typeof value === "bigint") return String(value);
  if (!isObject(value)) return JSON.stringify(value) ?? String(value);
  const entries = Object.entries(value).map(([key, item]) => `${write(key)}:${write(item)}`);
  return `{${entries.join(",")}}`;
}

function writeFloat(value) {
  if (value === 0 || !isFinite(value)) return Object.is(value, -0) ? "-0.0" : value.toFixed(1);
  const [, sign, digits, power] = /^(-?)([\d.]+)e(.*)$/.exec(value.toExponential());
  const figures = digits.replace(".", "");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    return `${sign}${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${figures}`;
  const whole = figures.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${figures.slice(exponent + 1) || "0"}`;
}

// --- Categories ----------------------------------------------------------------------------------

const DAY = "(\\d{4}-\\d\\d-\\d\\d)";
const TIME = "(\\d\\d:\\d\\d:\\d\\d)(?:\\.(\\d{6}))?";
const ZONE = "(?:([-+])(\\d\\d:\\d\\d)(?::(\\d\\d)(?:\\.(\\d{6}))?)?)?";
const MOMENTS = {
  date: new RegExp(`^${DAY}$`),
  time: new RegExp(`^()${TIME}${ZONE}$`),
  datetime: new RegExp(`^${DAY}T${TIME}${ZONE}$`),
};
const A_DAY = 86_400_000_000n; // in microseconds, as all times
const [FIRST, END] = [microseconds("0001-01-01"), microseconds("9999-12-31") + A_DAY];
const DEEPEST = 4; // levels of lists: alphabet, cell, secret of several columns, category

/**
 * A text that two values share if they are one category: 1, 1.0 and true are, and moments with a
 * time zone if they are at once. Undefined for what is no category.
 */
function keyOf(value, depth = 2) {
  if (value === null) return "null";
  if (typeof value === "string") return `text ${value}`;
  if (typeof value === "bigint") return value.toString(16);
  if (typeof value === "boolean" || Number.isInteger(value)) return keyOf(BigInt(value));
  if (typeof value === "number") return `float ${value}`;
  if (!Array.isArray(value)) return isObject(value) ? keyOfMoment(value) : undefined;
  const keys = depth > DEEPEST ? [undefined] : Array.from(value, (item) => keyOf(item, depth + 1));
  return keys.includes(undefined) ? undefined : joined(keys);
}

const joined = (keys) => `(${keys.map((key) => `${key.length}:${key}`).join("")})`;
const KEY_OF_OTHER = keyOf("other"); // the value that stands for rare and unknown values

/** The key of a date, time or duration, written as Python's `isoformat` writes it. */
function keyOfMoment(value) {
  const [[kind, content] = [], ...more] = Object.entries(value);
  if (kind === "microseconds" && typeof content === "bigint" && !more.length) {
    const isHeld = content >= -999_999_999n * A_DAY && content < 1_000_000_000n * A_DAY;
    return isHeld ? `for ${content}` : undefined;
  }
  if (more.length || typeof content !== "string" || !Object.hasOwn(MOMENTS, kind)) return undefined;
  const found = MOMENTS[kind].exec(content);
  if (!found) return undefined;
  const [, day, clock, fraction = "0", sign, zone, seconds, tail = "0"] = found;
  const local = microseconds(day || "2000-01-01", clock);
  if (local === undefined || local < FIRST || fraction === "000000") return undefined;
  if (!sign) return `${kind} ${content}`;
  const size = microseconds("1970-01-01", `${zone}:${seconds ?? "00"}`);
  const isLonger = tail === "000000" || (seconds === "00" && tail === "0"); // than need be
  if (size === undefined || isLonger || (size === 0n && (sign === "-" || seconds))) return undefined;
  const offset = (size + BigInt(tail)) * (sign === "-" ? -1n : 1n);
  if (kind === "datetime") return keyOfInstant(local + BigInt(fraction) - offset);
  const part = ((offset % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return `clock ${local - offset + part} ${fraction} ${part}`;
}

/** Microseconds from 1970 to a time of a day; undefined if there is no such day or time. */
function microseconds(day, clock = "00:00:00") {
  const at = new Date(`${day}T${clock}Z`);
  const isThere = !Number.isNaN(at.getTime()) && at.toISOString() === `${day}T${clock}.000Z`;
  return isThere ? BigInt(at.getTime()) * 1000n : undefined;
}

const keyOfInstant = (at) => `${at >= FIRST && at < END ? "instant" : "beyond"} ${at}`;


// --- Reading a mechanism -------------------------------------------------------------------------

const NEEDED = ["format", "version", "columns", "secrets", "values", "denominator_bits"];

/** Check a mechanism's JSON and take it apart; `canonical` is the one text that it is written as. */
function readMechanism(text) {
  const fields = parse(typeof text === "string" ? text : decoded(text));
  must(fields?.format === FORMAT, `it does not say format="${FORMAT}"`);
  const version = [1n, 2n, 3n].indexOf(fields.version) + 1;
  must(version, () => `it has version ${show(fields.version)}; versions 1, 2 and 3 are read`);
  const isBlocks = Object.hasOwn(fields, "blocks");
  const form = isBlocks ? ["blocks"] : ["symbols", "weights"];
  const optional = isBlocks ? ["other", "guarantee"] : ["observe", "other", "guarantee"];
  checkKeys(fields, [...NEEDED, ...form], optional, "it");
  const { columns, secrets, values, denominator_bits: bits } = fields;
  for (const name of ["columns", "secrets", "values"]) checkList(fields[name], name);
  const nCells = secrets.length * values.length;
  must(nCells <= MOST_CELLS, `${nCells} cells are more than ${MOST_CELLS}`);
  const isColumn = (it) => Array.isArray(it) && it.length === 2 && typeof it[1] === "boolean";
  must(columns.every(isColumn), "columns must be pairs of a name and true (sensitive) or false");
  checkNames(columns.map(([name]) => name), "column names", 0);
  for (const [part, flag] of [["secrets", true], ["values", false]]) {
    checkNames(fields[part], part);
    const n = columns.filter(([, sensitive]) => sensitive === flag).length;
    const fits = (it) => (n > 1 ? it?.length === n : n === 1) && Array.isArray(it) === n > 1;
    must(!columns.length || fields[part].every(fits), `${part} do not fit the ${n} columns of theirs`);
  }
  const { draw, listed: symbols, ...read } = isBlocks ? readBlocks(fields) : readWeights(fields);
  const written = { format: FORMAT, version: 3n, columns, secrets, values, denominator_bits: bits, ...read };
  if ("other" in fields) written.other = checkedOthers(fields.other, values);
  const guarantee = "guarantee" in fields ? readGuarantee(fields.guarantee, version, fields) : null;
  if (guarantee) written.guarantee = guarantee;
  const alphabets = { columns: columns.length ? columns : UNNAMED, secrets, values, observe: read.observe ?? "all" };
  const cellOf = recordReader(alphabets, fields.other);
  return { ...alphabets, canonical: write(written), symbols, guarantee, draw, cellOf };
}

function checkNames(names, where, least = 1) {
  must(checkList(names, where).length >= least, `${where} are empty`);
  const seen = new Map();
  for (const name of names) {
    const key = keyOf(name);
    must(key !== undefined, () => `${where} hold ${show(name)}, which is no category`);
    must(!seen.has(key), () => `${where} repeat: ${show(seen.get(key))} and ${show(name)} are equal`);
    seen.set(key, name);
  }
}

function readWeights({ symbols, weights, observe = "all", denominator_bits, secrets, values }) {
  const n = checkList(symbols, "symbols").length;
  must(n <= MOST_SYMBOLS, `${n} reports are more than ${MOST_SYMBOLS}`);
  checkNames(symbols, "symbols");
  const bits = 32 + bitLength(n - 1);
  must(denominator_bits === BigInt(bits), `${n} reports have ${bits} denominator_bits`);
  const isBlind = observe === "nonsensitive";
  must(isBlind || observe === "all", 'observe is neither "all" nor "nonsensitive"');
  const width = values.length * (isBlind ? 1 : secrets.length);
  const isRow = (row) => Array.isArray(row) && row.length === width;
  must(Array.isArray(weights) && weights.length === n && weights.every(isRow), `weights are not ${n} x ${width}`);
  for (const row of weights) checkWeights(row, bits);
  const table = weights.map((row) => Float64Array.from(row, Number)); // exact: at most 2^48
  for (let cell = 0; cell < width; cell++) {
    const sum = table.reduce((total, row) => total + row[cell], 0); // 2^bits only if exactly so
    must(sum === 2 ** bits, `the weights of column ${cell} do not sum to 2^${bits}`);
  }
  const draw = (cell, tape) => drawByAlias(table.map((row) => row[cell]), tape);
  return { draw, listed: () => symbols, symbols, ...(isBlind && { observe }), weights };
}

function readBlocks({ blocks, denominator_bits: bits, secrets, values }) {
  must(typeof bits === "bigint" && bits >= 1n && bits <= 53n, "blocks have 1 to 53 denominator_bits");
  must(Array.isArray(blocks) && blocks.length === 4, "blocks must be four weights");
  checkWeights(blocks, bits);
  const [a1, a2] = [secrets.length, values.length];
  const counts = [1, a2 - 1, a1 - 1, (a1 - 1) * (a2 - 1)];
  const sum = blocks.reduce((total, weight, kind) => total + weight * BigInt(counts[kind]), 0n);
  must(sum === 1n << bits, `the weights of each cell sum to ${sum}, not to 2^${bits}`);
  const draw = (cell, tape) => drawByBlocks(blocks, bits, a1, a2, cell, tape);
  const listed = () => secrets.flatMap((secret) => values.map((value) => [secret, value]));
  return { draw, listed, blocks };
}

function checkWeights(weights, bits) {
  const most = 1n << BigInt(bits);
  const isWeight = (weight) => typeof weight === "bigint" && weight >= 0n && weight <= most;
  must(weights.every(isWeight), "weights are no whole numbers, negative, or too large");
}

/** Check which values of each column of U are reported as "other": null, true, or a list. */
function checkedOthers(others, values) {
  const width = Array.isArray(values[0]) ? values[0].length : 1;
  must(Array.isArray(others) && others.length === width, `other needs ${width} entries, as U has columns`);
  must(others.some((entry) => entry !== null), "other is null for every column");
  const rows = values.map((value) => (Array.isArray(value) ? value : [value]));
  must(rows.every((row) => row.length === width), "other needs values of U that are equally long");
  others.forEach((entry, place) => {
    if (entry === null) return;
    const known = new Set(rows.map((row) => keyInTime(row[place])));
    must(known.has(KEY_OF_OTHER), `column ${place} of U has others, but no value "other"`);
    if (entry === true) return;
    checkNames(entry, "each of other");
    must(!entry.some((value) => known.has(keyInTime(value))), "other has values that are values of U");
  });
  const isWanted = width > 1 && others.every((entry) => entry === true);
  const isThere = rows.some((row) => row.every((value) => value === "other"));
  must(isThere || !isWanted, 'U has no value in which all columns are "other"');
  return others;
}

// --- The guarantee -------------------------------------------------------------------------------

const PROOF = ["eps_requested", "eps", "eps_attained"];
const OPTIONAL = [[], [], ["alphabet"], ["alphabet", "eps_all", "eps_given_u", "eps_pairs", "further"]];
const NOT_STATED = { eps_all: null, eps_given_u: null, eps_pairs: null, alphabet: null, further: [] };
const SETS = {
  renyi: { figures: ["alpha", "radius"], rules: ["chi2", "finite-sample", "given"] },
  "likelihood-ratio": { figures: ["single", "pair", "drift"], rules: ["finite-sample", "asymptotic", "given"] },
};

/** Read what the maker claims to have proven, with its keys in canonical order. */
function readGuarantee(claims, version, { secrets, columns }) {
  const proof = readProof(claims, ["n_records"], OPTIONAL[version], "guarantee", version);
  const { n_records } = claims;
  must(n_records === null || (typeof n_records === "bigint" && n_records >= 1n), "n_records is no whole number >= 1");
  const stated = (name) => (name in claims ? nats(claims[name], name) : undefined);
  const [eps_all, eps_given_u] = [stated("eps_all"), stated("eps_given_u")];
  must(!(proof.eps > eps_all || eps_given_u > eps_all), "eps or eps_given_u is more than eps_all");
  const { eps_requested, eps, eps_attained, alphabet, distributions } = proof;
  const eps_pairs = "eps_pairs" in claims ? readPairs(claims.eps_pairs, eps, secrets.length) : undefined;
  const further = "further" in claims ? readFurther(claims.further, columns) : undefined;
  for (const each of further ?? []) {
    must(!(each.eps > eps_all) && (each.known.length || each.eps <= eps), "a further eps is above the main ones");
  }
  return defined({
    eps_requested, eps, eps_attained, eps_all, eps_given_u, eps_pairs, n_records, alphabet, distributions, further,
  });
}

function readFurther(statements, columns) {
  must(checkList(statements, "guarantee.further").length, "guarantee.further is empty");
  const read = statements.map((claims) => {
    const proof = readProof(claims, ["secret", "known"], ["alphabet"], "each of guarantee.further", 3);
    const { secret, known } = claims;
    for (const [places, flag] of [[secret, true], [known, false]]) {
      const isPlace = (place, n) => typeof place === "bigint" && columns[place]?.[1] === flag && !(places[n - 1] >= place);
      must(Array.isArray(places) && places.every(isPlace), "a bound is about columns that are not there, or not of this kind");
    }
    must(secret.length, "a bound is about no secret");
    return { secret, known, ...proof };
  });
  const pairs = new Set(read.map(({ secret, known }) => `${secret};${known}`));
  must(pairs.size === read.length, "two of guarantee.further are about the same columns");
  return read;
}

function readProof(claims, needed, optional, where, version) {
  const key = version === 1 ? "laws" : "distributions";
  must(isObject(claims), `${where} must be an object`);
  checkKeys(claims, [...needed, ...PROOF, key], optional, where);
  for (const name of optional) must(claims[name] !== null, `${name} is null: leave it out`);
  const [eps_requested, eps, eps_attained] = PROOF.map((name) => nats(claims[name], name));
  must(eps_attained <= eps, `eps_attained=${eps_attained} is more than eps=${eps}`);
  const distributions = readSet(claims[key], `${where}.${key}`, version);
  const { alphabet } = claims;
  must(alphabet === undefined || distributions !== "all", "a guarantee for all distributions has no alphabet");
  must([undefined, "declared", "split", "learned"].includes(alphabet), "alphabet is of no known kind");
  return defined({ eps_requested, eps, eps_attained, alphabet, distributions });
}

function readSet(around, where, version) {
  if (around === "all") return around;
  const kind = version === 1 ? "renyi" : around?.set;
  must(isObject(around) && Object.hasOwn(SETS, kind), `${where} is neither "all" nor a known set`);
  const { figures, rules } = SETS[kind];
  checkKeys(around, [...(version === 1 ? [] : ["set"]), ...figures, "rule", "beta"], [], where);
  const { rule } = around;
  must(rules.includes(rule), `the rule of ${where} is none of ${rules}`);
  const beta = rule === "given" ? around.beta : real(around.beta);
  must(rule === "given" ? beta === null : beta > 0 && beta < 1, `beta of ${where} does not fit its rule`);
  const read = Object.fromEntries(figures.map((name) => [name, nats(around[name], name)]));
  const { alpha, single, pair } = read;
  must(alpha === undefined || alpha > 0, "alpha is not above 0");
  must(alpha === undefined || rule !== "finite-sample" || alpha === 1, "this rule is for alpha=1");
  must(single === undefined || (single <= pair && pair <= 2 * single), "pair is not within single and twice that");
  return { set: kind, ...read, rule, beta };
}

function readPairs(table, eps, n) {
  const isSquare = Array.isArray(table) && table.every((row) => Array.isArray(row) && row.length === n);
  must(isSquare && table.length === n, "eps_pairs must have one row and one column for each secret");
  const bound = (entry, isSelf) => (entry === null ? (isSelf ? 0 : null) : real(entry));
  const read = table.map((row, s) => row.map((entry, t) => bound(entry, s === t)));
  read.forEach((row, s) =>
    row.forEach((it, t) => {
      must(it === null || (it >= 0 && it <= (s === t ? 0 : eps)), `eps_pairs[${s}][${t}] is not from 0 to eps`);
      must(it === read[t][s], "eps_pairs is not symmetric");
    }),
  );
  return read;
}

const real = (it) => (typeof it === "bigint" || typeof it === "number" ? Number(it) : NaN);

function nats(value, name) {
  const figure = real(value);
  must(figure >= 0 && figure < Infinity, () => `${name}=${show(value)} is no finite number >= 0`);
  return figure;
}

/** State the bound in words; nothing here can be checked without the public records. */
function claimOf(guarantee) {
  if (!guarantee) return "nothing is claimed";
  const { eps, eps_all, distributions } = guarantee;
  const next = distributions === "all" ? eps : eps_all;
  const over = distributions === "all" ? "all distributions" : "the set of distributions that it names";
  const more = next === undefined ? "no bound on a second one" : `at most ${next} more for each further one`;
  return `eps <= ${eps} for one report, at ${over}; ${more}`;
}

// --- Records -------------------------------------------------------------------------------------

/** Make the function that finds a record's cell, or refuses the record. */
function recordReader({ columns, secrets, values, observe }, others) {
  const placesOf = (flag) => columns.flatMap(([, it], place) => (it === flag ? [place] : []));
  const ofU = partReader(columns, placesOf(false), values, others, false);
  const ofS = observe === "all" && partReader(columns, placesOf(true), secrets, null, true);
  const wanted = columns.flatMap(([, isSecret], place) => (ofS || !isSecret ? [place] : []));
  const names = columns.map(([name]) => (typeof name === "bigint" ? String(name) : name));
  const listed = brief(wanted.map((place) => show(columns[place][0])).join(", "));
  return (record) => {
    let raw;
    if (Array.isArray(record)) {
      const isWhole = record.length === columns.length;
      if (!isWhole && record.length !== wanted.length) throw refused(`the record has ${record.length} values, but the columns are ${listed}`);
      raw = (place) => record[isWhole ? place : wanted.indexOf(place)];
    } else {
      if (!isObject(record)) throw refused(`the record must be an object of the columns ${listed}, or an array`);
      for (const place of wanted) {
        const name = names[place];
        if (typeof name !== "string" || names.indexOf(name) !== names.lastIndexOf(name)) throw refused("these columns have no names as objects have: give an array");
        if (!Object.hasOwn(record, name)) throw refused(`the record lacks the column ${show(name)}; needed are ${listed}`);
      }
      raw = (place) => record[names[place]];
    }
    return (ofS ? ofS(raw) * values.length : 0) + ofU(raw);
  };
}

function partReader(columns, places, members, others, isSecret) {
  const rows = members.map((member) => (places.length === 1 ? [member] : member).map(keyInTime));
  const entries = places.map((_, j) => (others?.length === places.length ? others[j] : null));
  const known = entries.map((entry, j) => {
    const rare = Array.isArray(entry) ? entry.map((value) => [keyOf(value), KEY_OF_OTHER]) : [];
    return new Map([...rare, ...rows.map((row) => [row[j], row[j]])]);
  });
  const numbers = new Map(rows.map((row, n) => [joined(row), n]));
  const hasFallback = entries.includes(true) && known.every((column) => column.get(KEY_OF_OTHER));
  const all = joined(places.map(() => KEY_OF_OTHER));
  const named = places.map((place) => show(columns[place][0]));
  return (raw) => {
    const found = places.map((place, j) => {
      const value = raw(place);
      const key = keyOfRaw(value);
      if (key === undefined) throw refused(`column ${named[j]} holds what cannot be a category`);
      const own = known[j].get(key) ?? (entries[j] === true ? KEY_OF_OTHER : undefined);
      const what = isSecret ? "the secret (not shown)" : () => show(value);
      if (own === undefined) throw refused(`column ${named[j]}: the mechanism does not know ${isSecret ? "the secret (not shown)" : show(value)}`);
      return own;
    });
    const number = numbers.get(joined(found)) ?? (hasFallback ? numbers.get(all) : undefined);
    if (number === undefined) throw refused(`columns ${named}: the mechanism knows each value, but not together`);
    return number;
  };
}

function keyOfRaw(value) {
  if (Number.isNaN(value)) return "null";
  if (value instanceof Date) return isNaN(value) ? undefined : keyOfInstant(BigInt(value.getTime()) * 1000n);
  if (Number.isSafeInteger(value?.microseconds)) return keyOf({ ...value, microseconds: BigInt(value.microseconds) });
  return keyOf(value);
}

// --- Drawing -------------------------------------------------------------------------------------

/** Draw by the exact alias table of one cell's weights: bits of a slot, then 32 of a coin. */
function drawByAlias(weights, tape) {
  const n = 2 ** bitLength(weights.length - 1);
  const surplus = Array.from({ length: n }, (_, slot) => (weights[slot] ?? 0) - CAPACITY);
  const thresholds = Array(n).fill(0);
  const alias = [...thresholds.keys()];
  const donors = [...alias].filter((slot) => surplus[slot] > 0);
  let [donor, taken, given] = [0, 0, surplus[donors[0]]];
  for (const taker of [...alias].filter((slot) => surplus[slot] < 0)) {
    thresholds[taker] = CAPACITY + surplus[taker];
    alias[taker] = donors[donor];
    taken -= surplus[taker];
    while (given <= taken && donor < donors.length - 1) {
      if (given < taken) { // the next donor makes up for what this one lacks
        thresholds[donors[donor]] = CAPACITY + given - taken;
        alias[donors[donor]] = donors[donor + 1];
      }
      given += surplus[donors[++donor]];
    }
  }
  const isWide = weights.length > 256;
  const slot = (isWide ? tape.getUint16(0, true) : tape.getUint8(0)) & (n - 1);
  return tape.getUint32(isWide ? 2 : 1, true) < thresholds[slot] ? slot : alias[slot];
}

/** Draw by inversion: first the kinds of reports (own secret or not, own value or not), then one. */
function drawByBlocks(blocks, bits, a1, a2, cell, tape) {
  let rest = tape.getBigUint64(0, true) >> (64n - bits);
  for (const [kind, weight] of blocks.entries()) {
    const [ds, du] = [kind >> 1, kind & 1]; // the first shifts of the secret and of the value
    const width = du ? a2 - 1 : 1;
    const mass = weight * BigInt((ds ? a1 - 1 : 1) * width);
    if (rest < mass) {
      const rank = Number(rest / weight);
      const secret = (Math.floor(cell / a2) + ds + Math.floor(rank / width)) % a1;
      return secret * a2 + ((cell % a2) + du + (rank % width)) % a2;
    }
    rest -= mass;
  }
  throw new Error("the weights do not sum up");
}

// --- Helpers -------------------------------------------------------------------------------------

const UNNAMED = [["secret", true], ["value", false]];
const isObject = (it) => typeof it === "object" && it !== null && !Array.isArray(it);
const isOctets = (it) => ArrayBuffer.isView(it) && it[Symbol.toStringTag] === "Uint8Array";
const bitLength = (n) => 32 - Math.clz32(n);
const brief = (text) => (text.length <= 400 ? text : `${text.slice(0, 200)} ... ${text.slice(-200)}`);
const refused = (what) => new Error(`${what}. ${NOTHING}`);
const defined = (it) => Object.fromEntries(Object.entries(it).filter(([, value]) => value !== undefined));

function must(isSo, what) {
  if (!isSo) throw new Error(`the mechanism is malformed: ${brief(typeof what === "string" ? what : what())}.`);
}

function checkList(value, where) {
  must(Array.isArray(value), `${where} must be a list`);
  return value;
}

function checkKeys(fields, needed, optional, where) {
  for (const key of needed) must(Object.hasOwn(fields, key), `${where} lacks ${key}`);
  const strange = Object.keys(fields).find((key) => !needed.includes(key) && !optional.includes(key));
  must(strange === undefined, () => `${where} has the unknown key ${show(strange)}`);
}

function checkOptions(options, known) {
  const strange = Object.keys(options).find((name) => !known.includes(name));
  if (strange !== undefined) throw new TypeError(`there is no option ${strange}, only ${known}.`);
}

function show(value) {
  try {
    return brief(write(value));
  } catch {
    return `a value of type ${typeof value}`;
  }
}

/** What was read as JavaScript has it: whole numbers are numbers up to 2^53, and all is frozen. */
function plain(value) {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return Object.freeze(value.map(plain));
  if (!isObject(value)) return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, it]) => [key, plain(it)])));
}

function keyInTime(value) {
  const key = keyOf(value);
  must(!key.startsWith("beyond"), () => `${show(value)} is beyond the years 1 to 9999`);
  return key;
}

function decoded(octets) {
  if (!isOctets(octets)) throw new TypeError("a mechanism is read from a string or a Uint8Array.");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(octets);
  } catch {
    throw new Error("not a mechanism: the text is not JSON (it is not UTF-8).");
  }
}

function checkedKey(key) {
  const mend = "make one with crypto.getRandomValues(new Uint8Array(32)), and keep it secret.";
  if (!isOctets(key)) throw new TypeError(`memoize must be a key, a Uint8Array: ${mend}`);
  if (key.length < LEAST_KEY) throw new Error(`memoize must have ${LEAST_KEY} bytes or more: ${mend}`);
  return key;
}

function together(parts) {
  const octets = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    octets.set(part, at);
    at += part.length;
  }
  return octets;
}

/** Write an id as bytes, those of different types differently. */
function octetsOf(id) {
  if (isOctets(id)) return together([[0x62], id]);
  if (typeof id === "string" && HALF_PAIR.test(id)) {
    throw new Error("an id has half a surrogate pair, which is no text.");
  }
  const isWhole = typeof id === "bigint" || Number.isSafeInteger(id);
  if (!isWhole && typeof id !== "string") {
    throw new TypeError("an id must be a string, a Uint8Array, a bigint or a whole number below 2^53.");
  }
  return new TextEncoder().encode(`${isWhole ? "i" : "s"}${isWhole ? BigInt(id) : id}`);
}
