/**
 * Checks a proof of privacy in JavaScript, from a mechanism, public counts and a witness, with integers alone. It
 * follows `skrldp/certificate/_verify.py` function by function and reaches the same verdicts: the same report and pair
 * fail first. It uses no floating point, and refuses what `skrldp.js` refuses to read. The mechanism's JSON has the
 * claims: integers, ε, and the set of distributions. The witness has multipliers, which need not be right, because by
 * Theorem 37 (docs/proofs.md) any of them give a bound, and bad ones merely show nothing. Numbers are in units of
 * 2^-128. In what was read from JSON, integers are bigints, and numbers with a point or an exponent are Fractions.
 */
import { read as readStrictly } from "./skrldp.js";

const BITS = 128n;
const WORK = BITS + 32n; // within functions, so that their errors are far below one unit
const ONE = 1n << BITS;
const MOST_EPS = 700n; // a larger ε would claim nothing
const SHOWN = ["secret", "known", "eps", "around"]; // fields of a claim; the others are only stated
const OF_BOX = ["drift", "lower", "upper"];
const NUMBERS = { renyi: ["alpha", "radius"], "likelihood-ratio": ["single", "pair", "drift"], box: OF_BOX };
const UNITS = 8192n; // bounds of a box are multiples of 1/8192
const STATED = ["asked", "attained", "rule", "beta", "n_values", "values_from", "reports"];
const MECHANISM = { "skrldp-mechanism": 5 };
const MANIFEST = { "skrldp-manifest": 2 };
const HEAD = ["format", "version"];
const OF_TABLE = ["secrets", "values", "counts", "records"];
const [OF_MATRIX, OF_BLOCKS] = [["symbols", "weights", "observe"], ["blocks"]];
const OF_MECHANISM = [...HEAD, "columns", "secrets", "values", "denominator_bits", "other", "numbers", "claims"];
const HALF_PAIR = /\p{Surrogate}/u; // a lone surrogate, which is not valid text

class NotShown extends Error {}

/** Check that a mechanism is as private as it claims; `verify.d.ts` describes parameters and results. */
export async function verify(mechanism, counts, witness, { eps = null, reports = 1 } = {}) {
  try {
    const asked = eps === null ? null : real(decimal(String(eps)), "eps", MOST_EPS);
    need(Number.isInteger(reports) && reports > 0, "reports must be an integer >= 1.");
    const { pairs, digests, stated } = await readClaim(mechanism, counts, asked, reports);
    const [given] = await read(witness, { "skrldp-witness": 1 });
    needKeys(given, [...HEAD, "mechanism", "counts", "reports", "couples"]);
    const bound = { mechanism: digests[0], counts: digests[1], reports: BigInt(reports) };
    for (const [name, own] of Object.entries(bound)) {
      need(repr(field(given, name)) === repr(own), `the witness does not match the ${name}.`);
    }
    const couples = list(field(given, "couples"));
    const shown = pairs.map(([rows, one], i) => shownOf(rows, one, list(couples[i])));
    if (couples.length > pairs.length) throw new TypeError("there are couples of nothing");
    need(isReadable(mechanism), "the mechanism is malformed.");
    return { holds: true, message: "holds", shown, stated };
  } catch (problem) {
    const message = problem instanceof NotShown ? problem.message : `the texts are malformed (${problem.name}).`;
    return { holds: false, message: `not shown: ${message}`, shown: [], stated: [] };
  }
}

/** Show a statement for every row and pair, or throw NotShown with the first that fails. */
function shownOf(rows, one, couples) {
  const given = rows.map(() => new Map());
  for (const [y, s, side, slack, kappa, ...more] of couples.map(list)) {
    if (more.length || kappa === undefined) throw new TypeError("no five numbers");
    need([y, s, side].every((number) => typeof number === "bigint"), "a multiplier has no report or group.");
    const couple = [slack, kappa].map((number) => scaled(real(number, "a multiplier")).floor());
    const row = given.at(Number(y));
    const key = `${s} ${side}`;
    row.set(key, [...(row.get(key) ?? []), couple]);
  }
  for (const [y, row] of rows.entries()) {
    const sides = new Sides(one, row, given[y]);
    for (const [s, t, eps] of one.pairs) {
      need(sides.hold(s, t, eps), `${one.about}: report ${y}, groups ${s} and ${t}.`);
    }
  }
  const most = one.pairs.map(([, , eps]) => eps).reduce((a, b) => (b.compare(a) > 0 ? b : a));
  const eps = write(Number(`${(most.n * 10n ** 40n) / most.d}e-40`));
  return `${one.about}: eps <= ${eps} for ${one.pairs.length} pairs of ${one.groups.length} groups`;
}

// --- Fractions -----------------------------------------------------------------------------------------
class Fraction {
  constructor(n, d = 1n) {
    [this.n, this.d] = [n, d]; // d > 0
  }
  plus = ({ n, d }) => new Fraction(this.n * d + n * this.d, this.d * d);
  minus = ({ n, d }) => new Fraction(this.n * d - n * this.d, this.d * d);
  times = ({ n, d }) => new Fraction(this.n * n, this.d * d);
  over = ({ n, d }) => new Fraction(n < 0n ? -this.n * d : this.n * d, n < 0n ? -this.d * n : this.d * n);
  compare = ({ n, d }) => Number(this.n * d > n * this.d) - Number(this.n * d < n * this.d);
  floor = () => floorDiv(this.n, this.d);
  ceil = () => -floorDiv(-this.n, this.d);
}
const [NONE, WHOLE] = [new Fraction(0n), new Fraction(1n)];
const floorDiv = (a, b) => a / b - (a % b < 0n ? 1n : 0n); // b > 0
const ceilDiv = (a, b) => -floorDiv(-a, b);
const scaled = (number) => new Fraction(number.n * ONE, number.d);
const least = (a, b) => (a.compare(b) <= 0 ? a : b);
const absolute = (x) => (x < 0n ? -x : x);
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0n);
const range = (length) => Array.from({ length }, (_, i) => i);
const write = (float) => (Number.isInteger(float) ? `${float}.0` : String(float));
const product = (first, second) => first.flatMap((a) => second.map((b) => [a, b]));

// --- Logarithms and exponentials -----------------------------------------------------------------------
/** 2 atanh of a ratio in [0, 1/3] in units of 2^-WORK; a few hundred units below. */
function twiceAtanh(numerator, denominator) {
  const ratio = (numerator << WORK) / denominator;
  const square = (ratio * ratio) >> WORK;
  let [term, total, odd] = [ratio, 0n, 1n];
  while (term) {
    total += term / odd;
    [term, odd] = [(term * square) >> WORK, odd + 2n];
  }
  return 2n * total;
}
const LN_2 = twiceAtanh(1n, 3n);
const LN_TABLE = range(64).map((i) => twiceAtanh(BigInt(i), BigInt(128 + i))); // of 1 + i/64

/** The natural logarithm of x > 0; off by 2 units at most. */
function ln(x) {
  const hexadecimal = x.toString(16);
  const n = BigInt(4 * hexadecimal.length - Math.clz32(parseInt(hexadecimal[0], 16)) + 27); // bits, less one
  const m = n <= WORK ? x << (WORK - n) : x >> (n - WORK); // in [1, 2)
  const i = (m >> (WORK - 6n)) - 64n;
  const c = (64n + i) << (WORK - 6n);
  return (LN_TABLE[Number(i)] + twiceAtanh(m - c, m + c) + (n - BITS) * LN_2) >> (WORK - BITS);
}

/** A lower and an upper bound of the exponential; that of 0 is exact. */
function exp(y) {
  if (y === 0n) return [ONE, ONE];
  need(absolute(y) < 4096n * ONE, "a number is too large.");
  const large = y << (WORK - BITS);
  const k = floorDiv(large, LN_2);
  const rest = (large - k * LN_2) >> 8n;
  let [term, total, i] = [1n << WORK, 0n, 1n];
  while (term) {
    total += term;
    [term, i] = [((term * rest) >> WORK) / i, i + 1n];
  }
  for (let squaring = 0; squaring < 8; squaring++) total = (total * total) >> WORK;
  // Of 2^WORK units or more, about 2^20 may be wrong, because k and the squarings multiply a few units.
  const error = (total >> (BITS + 8n)) + 1n;
  const shifted = (x, by) => (by >= 0n ? x << by : x >> -by);
  const ends = [total - error, -total - error].map((x) => shifted(x, k - (WORK - BITS)));
  return [ends[0], -ends[1]];
}

/** A lower and an upper bound of a power of x > 0; of 0, 0. */
function power(x, exponent) {
  if (x === 0n) return [0n, 0n];
  const ends = [ln(x) - 2n, ln(x) + 2n].map((end) => exponent.times(new Fraction(end)));
  const [low, high] = exponent.n < 0n ? ends.reverse() : ends;
  return [exp(low.floor())[0], exp(high.ceil())[1]];
}

const ODDS = new Map();
/** A lower and an upper bound of e to the eps. */
function odds(eps) {
  const key = `${eps.n}/${eps.d}`;
  if (!ODDS.has(key)) ODDS.set(key, [exp(scaled(eps).floor())[0], exp(scaled(eps).ceil())[1]]);
  return ODDS.get(key);
}

// --- Bounds --------------------------------------------------------------------------------------------
/** Bound U of Theorem 37, or V if eps is given, from above; null if not admissible. */
function boundOf({ counts, alpha }, part, s, eps, slack, kappa) {
  const [lowest, highest] = part.reduce(([a, b], v) => [v < a ? v : a, v > b ? v : b], [part[0], part[0]]);
  const height = slack - (lowest << BITS);
  const top = eps === null ? (highest << BITS) + slack : ceilDiv(height * odds(eps)[Number(height > 0n)], ONE);
  const gaps = part.map((v) => ((eps === null ? highest - v : v - lowest) << BITS) + slack);
  const counted = counts[s].map((n, i) => [n, gaps[i]]).filter(([n]) => n);
  const total = sum(counted.map(([n]) => n));
  if (kappa === 0n || alpha === null) return top;
  const order = alpha.compare(WHOLE);
  if (!counted.length || (order <= 0 && counted.some(([, g]) => g === 0n))) return null;
  if (order === 0) {
    const known = ln(kappa) + 4n - scaled(eps ?? NONE).floor();
    const logs = sum(counted.map(([n, g]) => n * (known - ln(g))));
    return top - kappa + ceilDiv(kappa * logs, total << BITS);
  }
  const theta = alpha.minus(WHOLE).over(alpha);
  const end = Number(order < 0); // which end of an interval is safe
  const mean = new Fraction(sum(counted.map(([n, g]) => n * power(g, theta)[end])), total << BITS);
  const factor = new Fraction(absolute(theta.n) * kappa * odds((eps ?? NONE).times(theta))[end], theta.d * ONE);
  const inner = factor.times(mean);
  if (2n * alpha.n === alpha.d) return inner.compare(new Fraction(ONE)) <= 0 ? top - kappa : null;
  const root = power(end ? inner.ceil() : inner.floor(), WHOLE.over(WHOLE.plus(theta)))[end];
  const rest = new Fraction(-root).over(theta).minus(new Fraction(root)).ceil();
  return top + (end ? -kappa : kappa) + rest;
}

/** Bound a side over a box from above: fill the best cells up to their bounds, then drift. */
function inside({ box: [lower, upper], budgets: [, , drift] }, part, s, eps) {
  const cells = part.map((v, u) => [v, lower[s][u], upper[s][u] - lower[s][u]]);
  cells.sort(([v], [w]) => Number(v > w ? -1n : v < w) * (eps === null ? 1 : -1));
  let [total, spare] = [sum(cells.map(([v, low]) => low * v)), UNITS - sum(lower[s])];
  for (const [v, , width] of cells) {
    const taken = width < spare ? width : spare;
    [total, spare] = [total + v * taken, spare - taken];
  }
  const kept = odds(new Fraction(-drift.n, drift.d))[0];
  const free = (ONE - kept) * cells[0][0];
  if (eps === null) return ceilDiv(kept * total, UNITS) + free;
  return ceilDiv(-(floorDiv(kept * total, UNITS) + free) * odds(eps)[0], ONE);
}

/** What h(x, z) takes of N x and of N z at one vertex, and at the other. */
function reach({ sizes, budgets: [single, pair, drift] }, s, t) {
  const [w, w2] = [s, t].map((group) => new Fraction(sizes[group], sum(sizes)));
  const b = pair.plus(w.plus(w2).times(drift));
  const [a, a2] = [w, w2].map((share) => least(single.plus(share.times(drift)), b));
  const ends = [[a, w], [least(a2, b.minus(a)), w2], [least(a, b.minus(a2)), w], [a2, w2]];
  return ends.map(([k, share]) => (share.n ? scaled(k.over(share)).ceil() : 0n));
}

/** The bounds of both sides of a row's pairs, each computed once. */
class Sides {
  known = new Map();
  constructor(one, row, couples) {
    Object.assign(this, { one, couples, parts: one.groups.map((cells) => cells.map((cell) => row[cell])) });
  }
  /** Bounds of a side, each with its multiplier: by extremes, and by the couples. */
  of(s, eps) {
    const key = `${s} ${eps && `${eps.n}/${eps.d}`}`;
    if (!this.known.has(key)) {
      const { one, parts: { [s]: part }, couples } = this;
      const found = [[boundOf(one, part, s, eps, 0n, 0n), 0n]];
      if (one.box) found.push([inside(one, part, s, eps), 0n]);
      const total = sum(one.counts[s]);
      if (one.alpha !== null && total && !reach(one, s, s)[0]) { // (iv)
        const mean = sum(part.map((v, i) => v * one.counts[s][i]));
        found.push([ceilDiv(mean * (eps === null ? ONE : -odds(eps)[0]), total), 0n]);
      }
      for (const [slack, kappa] of couples.get(`${s} ${Number(eps !== null)}`) ?? []) {
        found.push([boundOf(one, part, s, eps, slack, kappa), kappa]);
      }
      this.known.set(key, found.filter(([bound]) => bound !== null));
    }
    return this.known.get(key);
  }
  /** Whether some couples show that a pair is private (Theorem 37 (ii)). */
  hold(s, t, eps) {
    const [first, second] = [this.of(s, null), this.of(t, eps)];
    if (first[0][0] + second[0][0] <= 0n) return true;
    const [a, b, c, d] = reach(this.one, s, t);
    return product(first, second).some(([[u, k], [v, m]]) => {
      const [one, other] = [k * a + m * b, k * c + m * d];
      return (u + v) * ONE + (one > other ? one : other) <= 0n;
    });
  }
}

// --- JSON ----------------------------------------------------------------------------------------------
function need(condition, message) {
  if (!condition) throw new NotShown(message);
}
const isFraction = (value) => value instanceof Fraction;
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !isFraction(value);

/** A required field. */
function field(fields, name) {
  if (!isObject(fields) || !Object.hasOwn(fields, name)) throw new TypeError(`no ${name}`);
  return fields[name];
}
function list(value) {
  if (!Array.isArray(value)) throw new TypeError("no list");
  return value;
}
/** A JSON number as a fraction. */
function fraction(value) {
  if (typeof value !== "bigint" && !isFraction(value)) throw new TypeError("no number");
  return isFraction(value) ? value : new Fraction(value);
}
function real(value, what, most = 10n ** 300n) {
  const number = isFraction(value) || typeof value === "bigint" ? fraction(value) : new Fraction(-1n);
  const said = most < 10n ** 6n ? most : "1e+300";
  need(number.n >= 0n && number.n <= most * number.d, `${what} is not a number from 0 to ${said}.`);
  return number;
}
/** A string that equal values share; 1 and 1.0 are different names. */
function repr(value) {
  if (isFraction(value)) return value.d === 1n ? `${value.n}.0` : `${value.n}/${value.d}`;
  if (Array.isArray(value)) return `[${value.map(repr).join(", ")}]`;
  if (isObject(value)) return `{${Object.entries(value).map((entry) => entry.map(repr).join(": ")).join(", ")}}`;
  return typeof value === "bigint" ? String(value) : `${JSON.stringify(value)}`.replace(HIDDEN, escaped);
}
/** Characters that control a terminal or reorder a line, because a stranger may have chosen the names. */
const HIDDEN =
  /[\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const escaped = (hidden) =>
  hidden.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
/** A decimal as it is written. */
function decimal(text) {
  const [, sign, before, after = "", exponent = "0"] = text.match(/^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/) ?? [];
  if (before === undefined) throw new TypeError("no number");
  need(text.length < 400 && Math.abs(Number(exponent)) < 400, `${text.slice(0, 40)} is out of range.`);
  const power = Number(exponent) - after.length;
  const digits = BigInt(sign + before + after) * 10n ** BigInt(Math.max(power, 0));
  const divisor = 10n ** BigInt(Math.max(-power, 0));
  let [a, b] = [absolute(digits), divisor];
  while (a) [a, b] = [b % a, a];
  return new Fraction(digits / b, divisor / b);
}
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|:|-?\d[-+.eE\d]*/g;
function parse(text) {
  let [keys, colons] = [0, 0];
  const mark = (token) => {
    if (token === ":") colons++;
    return token === ":" ? token : token[0] === '"' ? `"$${token.slice(1)}` : `"#${token}"`;
  };
  const numberOf = (digits) => {
    if (/[.eE]/.test(digits)) return decimal(digits);
    if (digits.length > 4300) throw new TypeError("too many digits"); // Python reads no longer integers
    return BigInt(digits);
  };
  const revive = (value) => {
    if (typeof value === "string") return value[0] === "#" ? numberOf(value.slice(1)) : value.slice(1);
    if (Array.isArray(value)) return value.map(revive);
    if (!isObject(value)) return value;
    const entries = Object.entries(value);
    keys += entries.length;
    return Object.fromEntries(entries.map(([key, item]) => [key.slice(1), revive(item)]));
  };
  JSON.parse(text); // checks the grammar
  const found = revive(JSON.parse(text.replace(TOKENS, mark)));
  need(colons === keys, "duplicate key.");
  return found;
}
/** Parse JSON strictly; also give the digest of the text, without `public` if that is last. */
async function read(text, forms) {
  if (typeof text === "string" && HALF_PAIR.test(text)) throw new TypeError("half a surrogate pair");
  const octets = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const isBlank = (octet) => octet === 32 || (octet >= 9 && octet <= 13);
  let [start, end] = [0, octets.length];
  while (start < end && isBlank(octets[start])) start++;
  while (start < end && isBlank(octets[end - 1])) end--;
  const data = octets.slice(start, end);
  const decoded = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  const found = parse(decoded);
  needForm(found, forms);
  const mark = decoded.indexOf(',"public":'); // no string contains it, because quotes are escaped there
  const hashed = mark < 0 ? data : new TextEncoder().encode(`${decoded.slice(0, mark)}}`);
  const hash = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", hashed));
  return [found, Array.from(hash, (octet) => octet.toString(16).padStart(2, "0")).join("")];
}
function needForm(found, forms) {
  const known = Object.entries(forms).map(([form, version]) => `${form} of version ${version}`).join(" or ");
  const form = field(found, "format");
  if (Array.isArray(form) || isObject(form)) throw new TypeError("no form");
  const isForm = typeof form === "string" && Object.hasOwn(forms, form);
  const version = repr(field(found, "version"));
  need(isForm && version === String(forms[form]), `a text is not a ${known}.`);
}
/** Whether clients would read a mechanism. */
function isReadable(text) {
  try {
    readStrictly(text).refuseFalseClaims();
    return true;
  } catch {
    return false;
  }
}
function needKeys(fields, known) {
  const keys = isObject(fields) ? Object.keys(fields) : list(undefined);
  const strange = keys.find((key) => !known.includes(key));
  need(strange === undefined, `there is an unknown field, ${repr(strange)}.`);
}
/** The names of the columns, and the indices of the sensitive ones and of the others. */
function columnsOf(own) {
  if (!isObject(own)) throw new TypeError("no mechanism");
  needKeys(own, [...OF_MECHANISM, ...(Object.hasOwn(own, "blocks") ? OF_BLOCKS : OF_MATRIX)]);
  const pairs = list(field(own, "columns")).map(list);
  const isPair = (pair) => pair.length === 2 && typeof pair[1] === "boolean";
  need(pairs.every(isPair), "columns must be pairs of a name and true (sensitive) or false.");
  const names = pairs.map(([name]) => name);
  need(new Set(names.map(repr)).size === names.length, "column names repeat.");
  const places = [true, false].map((kind) => range(pairs.length).filter((place) => pairs[place][1] === kind));
  need(places[0].length, "no column is sensitive.");
  for (const [i, key] of ["secrets", "values"].entries()) {
    const widths = new Set(list(field(own, key)).map((it) => (Array.isArray(it) ? it.length : -1)));
    const width = places[i].length === 1 ? -1 : places[i].length;
    need(widths.size === 1 && widths.has(width), `the ${key} do not fit the columns.`);
  }
  return { names, places: places[0], others: places[1] };
}
/** Check that blocks have the same secret, and weights with the right sum. */
function checkTogether(own) {
  needKeys(own, [...HEAD, "weights", "mechanisms", "public"]);
  const [shared, blocks] = [[], []];
  for (const one of list(field(own, "mechanisms"))) {
    needForm(one, MECHANISM);
    const { names, places, others } = columnsOf(one);
    const block = others.length ? others : places; // if all columns are sensitive, they are the block
    const alphabet = others.length ? one.secrets : one.values;
    const common = others.length ? places.map((place) => names[place]) : [];
    shared.push(repr([common, alphabet, Object.hasOwn(one, "observe") ? one.observe : "all"]));
    blocks.push(block.map((place) => repr(names[place])).sort().join());
  }
  need(shared.length, "there are no blocks.");
  for (const [k, one] of shared.entries()) need(one === shared[0], `block ${k} has a different secret than block 0.`);
  need(new Set(blocks).size === blocks.length, "two blocks have the same columns.");
  const [weights] = tableOf([field(own, "weights")], 1, blocks.length, "weights");
  const bits = BigInt(64 - Math.clz32(blocks.length - 1));
  need(sum(weights) === 1n << bits, "the weights' sum is wrong.");
}
function tableOf(rows, height, width, what) {
  const isCount = (x) => typeof x === "bigint" && x >= 0n;
  const isRow = (row) => Array.isArray(row) && row.length === width && row.every(isCount);
  if (Array.isArray(rows)) rows.forEach((row) => typeof row === "string" || isObject(row) || list(row));
  const isTable = Array.isArray(rows) && rows.length === height && rows.every(isRow);
  need(isTable, `${what} must be a table of ${height} x ${width} integers >= 0.`);
  return rows;
}

// --- Claims --------------------------------------------------------------------------------------------
/** The weights of each report in each cell, whose columns sum to the denominator. */
function rowsOf(own, a1, a2) {
  const cells = product(range(a1), range(a2));
  let rows;
  if (Object.hasOwn(own, "blocks")) {
    const [four] = tableOf([own.blocks], 1, 4, "blocks");
    rows = cells.map(([s2, u2]) => cells.map(([s, u]) => four[2 * Number(s !== s2) + Number(u !== u2)]));
  } else {
    const again = own.observe === "nonsensitive" ? a1 : 1;
    const table = tableOf(field(own, "weights"), list(field(own, "symbols")).length, (a1 * a2) / again, "weights");
    rows = table.map((row) => range(again).flatMap(() => row));
  }
  const bits = field(own, "denominator_bits");
  need(typeof bits === "bigint" && bits >= 0n && bits < 64n, "denominator_bits are out of range.");
  const fits = rows.length && cells.every((_, cell) => sum(rows.map((row) => row[cell])) === 1n << bits);
  need(fits, "the weights' sum is wrong.");
  return rows;
}
/** Indices of the combinations of some columns of an alphabet. */
function codesOf(names, several, places) {
  const found = new Map();
  return names.map((name) => {
    const parts = several ? list(name) : [name];
    const key = places.map((place) => (place < parts.length ? repr(parts[place]) : repr(list(undefined)))).join();
    if (!found.has(key)) found.set(key, found.size);
    return found.get(key);
  });
}
/** Whether an object has all required fields, and no others except the optional ones. */
function hasFields(fields, needed, more) {
  const names = isObject(fields) ? Object.keys(fields) : list(undefined);
  const every = new Set([...needed, ...more]);
  return needed.every((name) => Object.hasOwn(fields, name)) && names.every((name) => every.has(name));
}
/** Refuse a set with fields other than its numbers and those that are only stated. */
function checkSet(said, names) {
  const isChecked = hasFields(said, ["rule", "beta"], ["set", "n_records", ...STATED.slice(2, 6), ...names]);
  need(isChecked, "a set has an unchecked field.");
}
/** The drift and the bounds of a box, which must have a conditional of each secret. */
function boxOf(said, a1, a2) {
  const [lower, upper] = ["lower", "upper"].map((name) => tableOf(field(said, name), a1, a2, name));
  for (const [s, low] of lower.entries()) {
    const isFit = low.every((x, u) => x <= upper[s][u] && upper[s][u] <= UNITS);
    need(isFit && sum(low) <= UNITS && UNITS <= sum(upper[s]), "no distribution lies between the bounds.");
  }
  let total = 0n;
  for (const one of list(field(said, "reports"))) {
    need(hasFields(one, ["mechanism", "counts"], []), "a set has an unchecked field.");
    need(typeof one.mechanism === "string", "reports must name their mechanism.");
    total += sum(tableOf([one.counts], 1, list(one.counts).length, "reports")[0]);
  }
  need(total && repr(said.n_records ?? null) === repr(total), "the counts do not match.");
  return { alpha: null, budgets: [NONE, NONE, real(field(said, "drift"), "drift", 1000n)], box: [lower, upper] };
}
/** The order and the budgets of a set; no order for all distributions. */
function setOf(said, tables) {
  if (said === "all") return { alpha: null, budgets: [NONE, NONE, NONE] };
  const set = field(said, "set");
  const names = typeof set === "string" && Object.hasOwn(NUMBERS, set) ? NUMBERS[set] : [];
  if (Array.isArray(set) || isObject(set)) throw new TypeError("no kind");
  need(names.length, "sets of this kind cannot be checked.");
  checkSet(said, names);
  const isFit = said.rule === "given" || (said.rule === "survey") === tables.length > 1;
  need(isFit, "a survey's set, and no other, needs records beside the counts.");
  const isTotal = !Object.hasOwn(said, "n_records") || repr(said.n_records) === repr(sum(tables.at(-1)));
  need(isTotal, "the counts do not match.");
  if (names.includes("single")) {
    const budgets = names.map((name) => real(field(said, name), name));
    need(budgets[0].compare(budgets[1]) <= 0, "pair is less than single.");
    return { alpha: WHOLE, budgets };
  }
  const [alpha, radius] = names.map((name) => real(field(said, name), name, 1000n));
  need(2n * alpha.n >= alpha.d, "sets of this kind cannot be checked.");
  const order = alpha.compare(WHOLE);
  if (order === 0) return { alpha, budgets: [radius, radius, NONE] };
  const [low, high] = odds(radius.times(alpha.minus(WHOLE)).over(alpha));
  const budget = new Fraction(order > 0 ? high - ONE : ONE - low, ONE);
  return { alpha, budgets: [budget, budget, NONE] };
}
/** All claims, each with its groups of cells; the first at `eps` if that is given. */
function statementsOf(own, tables, eps) {
  const [claims, secrets, values] = ["claims", "secrets", "values"].map((name) => field(own, name));
  const [a1, a2] = [secrets.length, values.length];
  const { names, places, others } = columnsOf(own);
  const told = (some) => some.map((place) => repr(names[place])).join(", ");
  const subject = `secret ${told(places)}`;
  need(a1 > 1, "there must be at least two secrets.");
  need(Array.isArray(claims) && claims.length, "nothing is claimed.");
  const found = [];
  for (const one of claims) {
    const bound = real(field(one, "eps"), "eps", MOST_EPS);
    need(hasFields(one, SHOWN, STATED.slice(0, 2)), "a claim has an unchecked field.");
    const least = real(field(one, "attained"), "attained");
    need(least.compare(bound) <= 0, "attained is larger than eps.");
    const most = real(Object.hasOwn(one, "asked") ? one.asked : bound, "asked");
    need(bound.compare(most) <= 0, "eps is larger than asked.");
    const isWhole = one.known === "all";
    const [secret, known] = [numbersOf(one.secret), isWhole ? [] : numbersOf(one.known)];
    const isRising = known.every((place, n) => !n || place > known[n - 1]);
    const isFit = secret.join() === places.join() && isRising && known.every((place) => others.includes(place));
    need(isFit, "a claim is not about the sensitive columns, given other columns.");
    const isAlone = !isWhole && !known.length;
    need(found.length || isAlone, "the first claim must be about one report, with no known columns.");
    const value = isWhole ? range(a2) : codesOf(values, others.length > 1, known.map((p) => others.indexOf(p)));
    const observer = isWhole ? "all others" : told(known);
    need(!found.length || !isAlone || one.around === "all", "duplicate claim.");
    const alone = found.length ? "all distributions" : "one report";
    const about = isAlone ? `${subject}, ${alone}` : `${subject} to those who know ${observer}`;
    const least_eps = eps !== null && !found.length ? eps : bound;
    const groups = new Map(); // groups of cells are compared if their secrets differ and their known values are equal
    for (const [s, u] of product(range(a1), range(a2))) {
      const codes = [s, value[u]];
      const { cells } = groups.get(codes.join()) ?? groups.set(codes.join(), { codes, cells: [] }).get(codes.join());
      cells.push(s * a2 + u);
    }
    const members = [...groups.values()];
    const pairs = product(range(members.length), range(members.length)).flatMap(([i, j]) => {
      const [[s, v], [t, v2]] = [members[i].codes, members[j].codes];
      return s !== t && v === v2 ? [[i, j, least_eps]] : [];
    });
    const cells = members.map((group) => group.cells);
    let around;
    if (one.around !== "all" && field(one.around, "set") === "box") {
      checkSet(one.around, [...OF_BOX, "reports"]);
      need(isAlone, "a box needs a claim without known columns.");
      around = boxOf(one.around, a1, a2);
    } else around = setOf(one.around, tables);
    const each = tables.map((table) => cells.map((some) => some.map((cell) => table[cell])));
    const sizes = each.at(Object.hasOwn(one.around, "single") ? -1 : 0).map(sum); // a ball's: of people
    found.push({ about, groups: cells, pairs, counts: each[0], sizes, ...around });
  }
  return found;
}
const numbersOf = (some) => list(some).map((place) => (typeof place === "bigint" ? Number(place) : NaN));
/** Rows and statements, digests and what is only stated: at the claimed eps or another, of reports together. */
async function readClaim(mechanism, counts, eps, reports) {
  const [own, digest] = await read(mechanism, { ...MECHANISM, ...MANIFEST });
  const [open, ofCounts] = await read(counts, { "skrldp-counts": 1 });
  const found = { pairs: [], digests: [digest, ofCounts], stated: new Set() };
  const add = (part) => {
    found.pairs.push(...part.pairs);
    part.stated.forEach((name) => found.stated.add(name));
  };
  if (own.format === "skrldp-manifest") {
    need(reports === 1, "several reports of blocks are not checked.");
    checkTogether(own);
    needKeys(open, [...HEAD, "blocks"]);
    const [parts, tables] = [own.mechanisms, list(field(open, "blocks"))];
    for (const [k, one] of parts.entries()) {
      if (k >= tables.length) throw new TypeError("no table");
      needKeys(tables[k], OF_TABLE);
      const part = partOf(one, tables[k], eps, 1);
      add({ ...part, pairs: part.pairs.map(([rows, it]) => [rows, { ...it, about: `block ${k}, ${it.about}` }]) });
    }
    if (tables.length > parts.length) throw new TypeError("a table of nothing");
  } else {
    needKeys(open, [...HEAD, ...OF_TABLE]);
    const bare = Object.entries(own).filter(([key]) => key !== "public");
    add(partOf(Object.fromEntries(bare), open, eps, reports));
  }
  return { ...found, stated: STATED.filter((name) => found.stated.has(name)) };
}
/** The rows and statements of one mechanism, and the fields that are only stated. */
function partOf(own, open, eps, reports) {
  for (const key of ["secrets", "values"]) {
    const names = field(own, key);
    need(Array.isArray(names) && repr(names) === repr(field(open, key)), `the ${key} differ.`);
    need(new Set(names.map(repr)).size === names.length, `the ${key} repeat.`);
  }
  const [a1, a2] = [own.secrets.length, own.values.length];
  const both = ["counts", ...(Object.hasOwn(open, "records") ? ["records"] : [])]; // of a survey
  const tables = both.map((name) => tableOf(field(open, name), a1, a2, name).flat());
  const seen = tables.map((table) => table.map((n) => n > 0n));
  need(seen[0].includes(true) && seen[0].join() === seen.at(-1).join(), "the counts do not match.");
  const first = reports === 1 && eps !== null ? field(list(field(own, "claims"))[0], "eps") : null;
  if (first !== null && eps.compare(real(first, "eps", MOST_EPS)) >= 0) eps = null; // the stated claim is stronger
  let statements = statementsOf(own, tables, eps);
  let rows = rowsOf(own, a1, a2);
  const sets = own.claims.map(({ around }) => around).filter((around) => around !== "all");
  const stated = [...own.claims, ...sets].flatMap((one) => Object.keys(one)).filter((name) => STATED.includes(name));
  if (reports > 1) { // one row for each multiset of reports
    const numbers = Array.isArray(own.numbers) ? own.numbers : [];
    const isRounded = numbers.some((it) => typeof it === "object" && it !== null && Object.hasOwn(it, "knots"));
    need(!isRounded, "several reports of knots are not checked.");
    need(eps !== null, "several reports need eps, because nothing is claimed about them.");
    const together = (some) => rows[0].map((_, cell) => some.reduce((a, y) => a * rows[y][cell], 1n));
    rows = multisets(rows.length, reports).map(together);
    const subject = statements[0].about.slice(0, -"one report".length);
    statements = [{ ...statements[0], about: `${subject}${reports} reports` }];
  }
  return { pairs: statements.map((one) => [rows, one]), stated };
}
/** Combinations with replacement of the numbers below n, k of each, in order. */
function multisets(n, k, from = 0) {
  if (k === 0) return [[]];
  return range(n - from).flatMap((i) => multisets(n, k - 1, from + i).map((rest) => [from + i, ...rest]));
}
