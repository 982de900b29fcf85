"""Check a proof of privacy, from a mechanism, public counts and a witness, in integers.

This file needs only Python and no floating point. Run it by ``python _verify.py mechanism.json
counts.json witness.json``. The mechanism contains the claims: integers, ε and a set. The witness
contains multipliers, which need not be trusted, because by Theorem 37 (docs/proofs.md) any
multipliers give a bound. Groups of cells are those of Theorem 30 and Theorem 31; k reports are
products of rows (Theorem 27). Numbers are in units of 2**-128.
"""

import hashlib
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import combinations_with_replacement, product
from math import ceil, floor
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

BITS = 128
WORK = BITS + 32  # inside of functions, whose errors are many times smaller than a unit
ONE = 1 << BITS
MOST_EPS = 700  # larger bounds have no meaning
SHOWN = {"secret", "known", "eps", "around"}  # fields of a claim, and others that are only stated
NUMBERS = {
    "renyi": {"alpha", "radius"},
    "likelihood-ratio": {"single", "pair", "drift"},
    "box": {"drift", "lower", "upper"},
}
UNITS = 8192  # bounds of a box are multiples of 1/8192
STATED = ("asked", "attained", "rule", "beta", "n_values", "values_from", "reports")
MECHANISM, MANIFEST = {"skrldp-mechanism": 5}, {"skrldp-manifest": 2}
COUNTS, WITNESS = {"skrldp-counts": 1}, {"skrldp-witness": 1}
HEAD = {"format", "version"}
OF_TABLE = {"secrets", "values", "counts", "records"}
OF_MATRIX, OF_BLOCKS = {"symbols", "weights", "observe"}, {"blocks"}
OF_MECHANISM = HEAD | {"columns", "secrets", "values", "denominator_bits"}
OF_MECHANISM |= {"other", "numbers", "claims"}
Table = list[list[int]]


class Verdict(NamedTuple):
    """Whether all claims of a mechanism were shown, and which, or the first failure."""

    holds: bool
    message: str
    shown: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()  # the fields of claims that cannot be shown from these texts


class NotShown(Exception):
    """The reason why a claim was not shown."""


def _twice_atanh(numerator: int, denominator: int) -> int:
    """Return 2 atanh of a ratio in [0, 1/3] in units of 2**-WORK; some hundreds less."""
    ratio = (numerator << WORK) // denominator
    square, term, total, odd = ratio * ratio >> WORK, ratio, 0, 1
    while term:
        total += term // odd
        term, odd = term * square >> WORK, odd + 2
    return 2 * total


LN_2 = _twice_atanh(1, 3)
LN_TABLE = [_twice_atanh(i, 128 + i) for i in range(64)]  # of 1 + i/64


def ln(x: int) -> int:
    """Return the natural logarithm of x > 0; off by 2 units at most."""
    n = x.bit_length() - 1
    m = x << (WORK - n) if n <= WORK else x >> (n - WORK)  # in [1, 2)
    i = (m >> (WORK - 6)) - 64
    c = (64 + i) << (WORK - 6)
    return (LN_TABLE[i] + _twice_atanh(m - c, m + c) + (n - BITS) * LN_2) >> (WORK - BITS)


def exp(y: int) -> tuple[int, int]:
    """Return a lower and an upper bound of the exponential; that of 0 is exact."""
    if y == 0:
        return ONE, ONE
    _need(abs(y) < 4096 * ONE, "a number is too large.")
    k, rest = divmod(y << (WORK - BITS), LN_2)
    rest >>= 8
    term, total, i = 1 << WORK, 0, 1
    while term:
        total += term
        term, i = (term * rest >> WORK) // i, i + 1
    for _ in range(8):
        total = total * total >> WORK
    # Of the 2**WORK or more, about 2**20 may be wrong: k and the squarings multiply a few units.
    error, k = (total >> (BITS + 8)) + 1, k - (WORK - BITS)
    low, minus_high = (x << k if k >= 0 else x >> -k for x in (total - error, -total - error))
    return low, -minus_high


def power(x: int, exponent: Fraction) -> tuple[int, int]:
    """Return a lower and an upper bound of a power of x > 0; of 0, 0."""
    low, high = sorted([(ln(x) - 2) * exponent, (ln(x) + 2) * exponent]) if x else (0, 0)
    return (exp(floor(low))[0], exp(ceil(high))[1]) if x else (0, 0)


@lru_cache(1 << 14)
def odds(eps: Fraction) -> tuple[int, int]:
    """Return a lower and an upper bound of e to the eps."""
    return exp(floor(eps * ONE))[0], exp(ceil(eps * ONE))[1]


@dataclass(frozen=True, eq=False)
class Statement:
    """Privacy of pairs of groups of cells over a set of distributions."""

    about: str
    groups: Table  # the cells of each
    pairs: list[tuple[int, int, Fraction]]  # two groups, and eps
    counts: Table  # the public people of each group's cells
    sizes: list[int]  # of each group: the weight that determines its share of a budget
    alpha: Fraction | None  # None: all distributions
    budgets: tuple[Fraction, ...]  # of one, of two, drift; of divergences times shares of records
    box: tuple[Table, Table] | None = None  # bounds of each group's conditional; then no order

    @cached_property
    def least_eps(self) -> Fraction:
        """The least eps of all pairs."""
        return min((eps for _, _, eps in self.pairs), default=Fraction(0))

    def inside(self, part: list[int], s: int, eps: Fraction | None) -> int:
        """Bound a side over a box from above: fill the worst cells up to their bounds.

        A conditional is e**-drift times one between the bounds, and the rest is unrestricted.
        """
        assert self.box is not None
        lower, upper = (table[s] for table in self.box)
        total, spare = sum(map(mul, lower, part)), UNITS - sum(lower)
        for v, width in sorted(
            ((v, h - m) for v, m, h in zip(part, lower, upper, strict=True)), reverse=eps is None
        ):
            total, spare = total + v * min(width, spare), max(spare - width, 0)
        undrifted = odds(-self.budgets[2])[0]
        if eps is None:
            return ceil(Fraction(undrifted * total, UNITS)) + (ONE - undrifted) * max(part)
        lowest = floor(Fraction(undrifted * total, UNITS)) + (ONE - undrifted) * min(part)
        return ceil(Fraction(-lowest * odds(eps)[0], ONE))

    def bound(
        self, part: list[int], s: int, eps: Fraction | None, slack: int, kappa: int
    ) -> int | None:
        """Bound U of Theorem 37, or V if eps is given, from above; None if not admissible."""
        end, alpha = max(part) if eps is None else min(part), self.alpha
        height = slack - (end << BITS)
        top = (end << BITS) + slack
        top = top if eps is None else ceil(Fraction(height * odds(eps)[height > 0], ONE))
        if kappa == 0 or alpha is None:
            return top
        people = Counter[int]()  # of each gap, which many cells may have
        for v, n in zip(part, self.counts[s], strict=True):
            people[(abs(end - v) << BITS) + slack] += n
        counted, total = [(n, g) for g, n in people.items() if n], people.total()
        if not counted or (alpha <= 1 and any(g == 0 for _, g in counted)):
            return None
        if alpha == 1:
            known = ln(kappa) + 4 - floor((eps or 0) * ONE)
            logs = sum(n * (known - ln(g)) for n, g in counted)
            return top - kappa + ceil(Fraction(kappa * logs, total << BITS))
        theta, safe = (alpha - 1) / alpha, int(alpha < 1)  # the conservative end of an interval
        mean = Fraction(sum(n * power(g, theta)[safe] for n, g in counted), total << BITS)
        inner = abs(theta) * kappa * mean * Fraction(odds((eps or 0) * theta)[safe], ONE)
        if 2 * alpha == 1:
            return top - kappa if inner <= ONE else None
        root = power(ceil(inner) if safe else floor(inner), 1 / (1 + theta))[safe]
        return top + (-kappa if safe else kappa) + ceil((-1 / theta - 1) * root)


@lru_cache(1 << 14)
def reach(statement: Statement, s: int, t: int) -> list[int]:
    """Return the coefficients of N x and N z in h(x, z) at each of the two vertices."""
    single, pair, drift = statement.budgets
    w, w2 = (Fraction(statement.sizes[group], sum(statement.sizes)) for group in (s, t))
    b = pair + (w + w2) * drift
    a, a2 = min(single + w * drift, b), min(single + w2 * drift, b)
    ends = ((a, w), (min(a2, b - a), w2), (min(a, b - a2), w), (a2, w2))
    return [ceil(k / share * ONE) if share else 0 for k, share in ends]


class Sides:
    """The bounds of both sides of a row's pairs, each computed once."""

    def __init__(self, one: Statement, row: list[int], couples: dict[Any, Any]) -> None:
        self.one, self.couples, self.row = one, couples, row
        self.parts = [[row[cell] for cell in cells] for cells in one.groups]
        self.known: dict[tuple[int, Fraction | None], list[tuple[int, int]]] = {}

    def of(self, s: int, eps: Fraction | None) -> list[tuple[int, int]]:
        """Return bounds of a side, each with its multiplier: by extremes, and by the couples."""
        if (s, eps) not in self.known:
            one, part = self.one, self.parts[s]
            bounds = [(one.bound(part, s, eps, 0, 0), 0)]
            if one.box is not None:
                bounds.append((one.inside(part, s, eps), 0))
            if one.alpha is not None and any(one.counts[s]) and not reach(one, s, s)[0]:  # (iv)
                mean = Fraction(sum(map(mul, one.counts[s], part)), sum(one.counts[s]))
                bounds.append((ceil(mean * (ONE if eps is None else -odds(eps)[0])), 0))
            for slack, kappa in self.couples.get((s, int(eps is not None)), ()):
                bounds.append((one.bound(part, s, eps, slack, kappa), kappa))
            self.known[s, eps] = [(bound, kappa) for bound, kappa in bounds if bound is not None]
        return self.known[s, eps]

    def left(self) -> list[tuple[int, int, Fraction]]:
        """Return the pairs; none if no ratio of the row's entries exceeds e to the smallest eps."""
        is_flat = max(self.row) << BITS <= min(self.row) * odds(self.one.least_eps)[0]
        return [] if is_flat else self.one.pairs

    def hold(self, s: int, t: int, eps: Fraction) -> bool:
        """Whether the couples show that a pair is private (Theorem 37 (ii))."""
        first, second = self.of(s, None), self.of(t, eps)
        if first[0][0] + second[0][0] <= 0:
            return True
        a, b, c, d = reach(self.one, s, t)
        couples = product(first, second)
        return any(
            (u + v) * ONE + max(k * a + m * b, k * c + m * d) <= 0 for (u, k), (v, m) in couples
        )


def _need(condition: object, message: str) -> None:
    if not condition:
        raise NotShown(message)


def _number(text: str) -> Fraction:
    exponent = text.lower().partition("e")[2] or "0"
    _need(len(text) < 400 and abs(int(exponent)) < 400, f"{text[:40]} is out of range.")
    return Fraction(text)


def _real(x: Any, label: str, largest: int = 10**300) -> Fraction:
    good = type(x) in (int, Fraction) and 0 <= x <= largest
    _need(good, f"{label} is not a number from 0 to {float(largest):g}.")
    return Fraction(x)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _need(len(dict(pairs)) == len(pairs), "duplicate key.")
    return dict(pairs)


def _read(text: str | bytes, forms: dict[str, int]) -> tuple[dict[str, Any], str]:
    """Parse JSON strictly; also give the digest of the text, without `public` if that is last."""
    data = (text.encode() if isinstance(text, str) else bytes(text)).strip()
    floats: Any = {"parse_float": _number, "parse_constant": _number}
    fields = json.loads(data.decode(), object_pairs_hook=_unique, **floats)
    _need_form(fields, forms)
    # No string contains this mark, because quotes are escaped there.
    head, mark, _ = data.partition(b',"public":')
    return fields, hashlib.sha256(head + b"}" if mark else data).hexdigest()


def _need_form(fields: dict[str, Any], forms: dict[str, int]) -> None:
    known = " or ".join(f"{form} of version {version}" for form, version in forms.items())
    good = repr(forms.get(fields["format"])) == repr(fields["version"])
    _need(good and fields["format"] in forms, f"a text is not a {known}.")


def _need_keys(fields: dict[str, Any], known: set[str]) -> None:
    strange = [key for key in _object(fields) if key not in known]
    _need(not strange, f"there is an unknown field, {strange and _said(strange[0])}.")


def _said(name: Any) -> str:
    """Write the name of a column as in JSON."""
    if type(name) is Fraction:
        return f"{name.numerator}.0" if name.denominator == 1 else str(name)
    text = json.dumps(name, ensure_ascii=False, default=str)
    return _HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text)


# Characters that control a terminal or reorder a line are escaped, because names are untrusted.
_HIDDEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


def _columns(file: dict[str, Any]) -> tuple[list[Any], list[int], list[int]]:
    """Return the names of the columns, and the positions of the secret ones and of the others."""
    _need_keys(file, OF_MECHANISM | (OF_BLOCKS if "blocks" in file else OF_MATRIX))
    pairs = [tuple(_list(column)) for column in _list(file["columns"])]
    good = all(len(pair) == 2 and type(pair[1]) is bool for pair in pairs)
    _need(good, "columns must be pairs of a name and true (sensitive) or false.")
    names = [name for name, _ in pairs]
    _need(len(set(map(repr, names))) == len(names), "column names repeat.")
    positions = [[i for i, pair in enumerate(pairs) if pair[1] is kind] for kind in (True, False)]
    _need(positions[0], "no column is sensitive.")
    for key, kind in zip(("secrets", "values"), positions, strict=True):
        sizes = {len(it) if type(it) is list else -1 for it in _list(file[key])}
        _need(sizes == {-1 if len(kind) == 1 else len(kind)}, f"the {key} do not fit the columns.")
    return names, positions[0], positions[1]


def _check_together(manifest: dict[str, Any]) -> None:
    """Check that blocks protect the same secret, and that their weights are a distribution."""
    _need_keys(manifest, HEAD | {"weights", "mechanisms", "public"})
    shared, blocks = [], []
    for block in _list(manifest["mechanisms"]):
        _need_form(block, MECHANISM)
        names, secret, nonsensitive = _columns(block)
        own_columns = nonsensitive or secret  # where all columns are secret, they are the block
        alphabet = block["secrets"] if nonsensitive else block["values"]
        common = [names[position] for position in secret] if nonsensitive else []
        shared.append(repr([common, alphabet, block.get("observe", "all")]))
        blocks.append(repr(sorted(repr(names[position]) for position in own_columns)))
    _need(shared, "there are no blocks.")
    for k, protected in enumerate(shared):
        _need(protected == shared[0], f"block {k} has a different secret than block 0.")
    _need(len({*blocks}) == len(blocks), "two blocks have the same columns.")
    weights = _table([manifest["weights"]], 1, len(blocks), "weights")[0]
    _need(sum(weights) == 1 << (32 + (len(blocks) - 1).bit_length()), "the weights' sum is wrong.")


def _table(rows: Any, height: int, width: int, label: str) -> Table:
    good = type(rows) is list and [len(row) for row in rows] == [width] * height
    good = good and all(type(x) is int and x >= 0 for row in rows for x in row)
    _need(good, f"{label} must be a table of {height} x {width} integers >= 0.")
    return list(rows)


def _rows(file: dict[str, Any], a1: int, a2: int) -> Table:
    """Return the weights of each report in each cell, whose columns sum to the denominator."""
    cells = list(product(range(a1), range(a2)))
    if "blocks" in file:
        four = _table([file["blocks"]], 1, 4, "blocks")[0]
        rows = [[four[2 * (s != s2) + (u != u2)] for s, u in cells] for s2, u2 in cells]
    else:
        repeats = a1 if file.get("observe", "all") == "nonsensitive" else 1
        table = _table(file["weights"], len(_list(file["symbols"])), a1 * a2 // repeats, "weights")
        rows = [row * repeats for row in table]
    bits = file["denominator_bits"]
    _need(type(bits) is int and 0 <= bits < 64, "denominator_bits are out of range.")
    _need({sum(x) for x in zip(*rows, strict=True)} == {1 << bits}, "the weights' sum is wrong.")
    return rows


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise TypeError
    return value


def _object(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise TypeError
    return value


def _codes(names: list[Any], several: bool, positions: list[int]) -> list[int]:
    """Return a number for each combination of given columns of an alphabet."""
    codes: dict[str, int] = {}
    keys = [repr([(_list(it) if several else [it])[i] for i in positions]) for it in names]
    return [codes.setdefault(key, len(codes)) for key in keys]


def _checked_set(stated: Any, names: set[str]) -> None:
    """Reject a set with unknown fields, or without a rule or a beta."""
    known = set(stated) <= {"set", "n_records", *STATED[2:6], *names}
    _need(known and {"rule", "beta"} <= set(stated), "a set has an unchecked field.")


def _box_of(box: Any, a1: int, a2: int) -> tuple[None, tuple[Fraction, ...], tuple[Table, Table]]:
    """Return the drift and the bounds of a box, which must have a conditional of each secret."""
    lower, upper = (_table(box[name], a1, a2, name) for name in ("lower", "upper"))
    for low, high in zip(lower, upper, strict=True):
        fits = all(x <= y <= UNITS for x, y in zip(low, high, strict=True))
        _need(fits and sum(low) <= UNITS <= sum(high), "no distribution lies between the bounds.")
    total = 0
    for report in _list(box["reports"]):
        _need(set(report) == {"mechanism", "counts"}, "a set has an unchecked field.")
        _need(type(report["mechanism"]) is str, "reports must name their mechanism.")
        total += sum(_table([report["counts"]], 1, len(_list(report["counts"])), "reports")[0])
    _need(total and repr(box.get("n_records")) == repr(total), "the counts do not match.")
    return None, (Fraction(0), Fraction(0), _real(box["drift"], "drift", 1000)), (lower, upper)


def _set_of(ball: Any, tables: Table) -> tuple[Fraction | None, tuple[Fraction, ...]]:
    """Return the order and the budgets of a set; no order for all distributions."""
    if ball == "all":
        return None, (Fraction(0),) * 3
    names = NUMBERS.get(ball["set"], set())
    _need(names, "sets of this kind cannot be checked.")
    _checked_set(ball, names)
    rule, total = ball["rule"], sum(tables[-1])
    fits = rule == "given" or (rule == "survey") == (len(tables) > 1)
    _need(fits, "a survey's set, and no other, needs records beside the counts.")
    _need(repr(ball.get("n_records", total)) == repr(total), "the counts do not match.")
    if "single" in names:
        single, pair, drift = (_real(ball[name], name) for name in ("single", "pair", "drift"))
        _need(single <= pair, "pair is less than single.")
        return Fraction(1), (single, pair, drift)
    alpha, radius = _real(ball["alpha"], "alpha", 1000), _real(ball["radius"], "radius", 1000)
    _need(2 * alpha >= 1, "sets of this kind cannot be checked.")
    if alpha != 1:
        low, high = (Fraction(end, ONE) - 1 for end in odds(radius * (alpha - 1) / alpha))
        radius = high if alpha > 1 else -low
    return alpha, (radius, radius, Fraction(0))


def _statements(file: dict[str, Any], tables: Table, eps: Fraction | None) -> list[Statement]:
    """List the claims, each with its groups of cells; the first at `eps` if given."""
    claims, secrets, values = (file[key] for key in ("claims", "secrets", "values"))
    a1, a2 = len(secrets), len(values)
    names, secret_at, others_at = _columns(file)
    subject = f"secret {', '.join(_said(names[i]) for i in secret_at)}"
    _need(a1 > 1, "there must be at least two secrets.")
    _need(type(claims) is list and claims, "nothing is claimed.")
    listed: list[Statement] = []
    for claim in claims:
        bound = _real(claim["eps"], "eps", MOST_EPS)
        _need(SHOWN <= set(claim) <= SHOWN | {*STATED[:2]}, "a claim has an unchecked field.")
        _need(_real(claim["attained"], "attained") <= bound, "attained is larger than eps.")
        limit = _real(claim.get("asked", bound), "asked")
        _need(bound <= limit, "eps is larger than asked.")
        secret, knows_all = _list(claim["secret"]), claim["known"] == "all"
        known = [] if knows_all else _list(claim["known"])
        inner = [others_at.index(p) for p in known if type(p) is int and p in others_at]
        good = secret == secret_at and {type(p) for p in secret} <= {int}
        good = good and len(inner) == len(known) and inner == sorted({*inner})
        _need(good, "a claim is not about the sensitive columns, given other columns.")
        alone = not (known or knows_all)
        _need(listed or alone, "the first claim must be about one report, with no known columns.")
        _need(not (listed and alone) or claim["around"] == "all", "duplicate claim.")
        observer = "all others" if knows_all else ", ".join(_said(names[i]) for i in known)
        label = f"{subject} to those who know {observer}"
        if alone:
            label = f"{subject}, {'all distributions' if listed else 'one report'}"
        value = list(range(a2)) if knows_all else _codes(values, len(others_at) > 1, inner)
        bound = eps if eps is not None and not listed else bound
        # Compare groups of cells with different secrets and equal known values.
        members: dict[tuple[int, int], list[int]] = {}
        for s, u in product(range(a1), range(a2)):
            members.setdefault((s, value[u]), []).append(s * a2 + u)
        compared = [
            (i, j, bound)
            for (i, (s, v)), (j, (t, v2)) in product(enumerate(members), repeat=2)
            if s != t and v == v2
        ]
        groups, region = list(members.values()), claim["around"]
        box: tuple[Any, ...]
        if region != "all" and region["set"] == "box":
            _checked_set(region, NUMBERS["box"] | {"reports"})
            _need(alone, "a box needs a claim without known columns.")
            box = _box_of(region, a1, a2)
        else:
            box = _set_of(region, tables)
        tables_of = [[[table[cell] for cell in cells] for cells in groups] for table in tables]
        sizes = list(map(sum, tables_of[-1 if "single" in region else 0]))  # a ball's: of people
        listed.append(Statement(label, groups, compared, tables_of[0], sizes, *box))
    return listed


def read_claim(
    mechanism: str | bytes, counts: str | bytes, eps: Fraction | None = None, reports: int = 1
) -> tuple[list[tuple[Table, Statement]], list[str], tuple[str, ...]]:
    """Read rows, statements, digests and unshown fields, for `reports` reports at `eps`.

    A manifest has a mechanism for each block, and its counts a table.
    """
    file, digest = _read(mechanism, MECHANISM | MANIFEST)
    public, of_counts = _read(counts, COUNTS)
    stated: set[str] = set()
    if file["format"] == "skrldp-manifest":
        _need(reports == 1, "several reports of blocks are not checked.")
        _check_together(file)
        _need_keys(public, HEAD | {"blocks"})
        claims = []
        for k, (block, table) in enumerate(zip(file["mechanisms"], public["blocks"], strict=True)):
            pairs = _part(block, table, eps, 1, OF_TABLE, stated)
            claims += [(rows, replace(it, about=f"block {k}, {it.about}")) for rows, it in pairs]
    else:
        bare = {key: it for key, it in file.items() if key != "public"}
        claims = _part(bare, public, eps, reports, HEAD | OF_TABLE, stated)
    return claims, [digest, of_counts], tuple(name for name in STATED if name in stated)


def _part(
    file: Any, public: Any, eps: Fraction | None, reports: int, keys: set[str], stated: set[str]
) -> list[tuple[Table, Statement]]:
    """Read the rows and statements of one mechanism; add the unshown fields."""
    _need_keys(public, keys)
    for key in ("secrets", "values"):
        names = file[key]
        _need(type(names) is list and repr(names) == repr(public[key]), f"the {key} differ.")
        _need(len(set(map(repr, names))) == len(names), f"the {key} repeat.")
    a1, a2 = len(file["secrets"]), len(file["values"])
    kinds = ("counts", *(["records"] if "records" in public else []))  # of a survey
    tables = [[n for row in _table(public[name], a1, a2, name) for n in row] for name in kinds]
    seen = [[n > 0 for n in table] for table in tables]
    _need(any(seen[0]) and seen[0] == seen[-1], "the counts do not match.")
    if reports == 1 and eps is not None and eps >= _real(file["claims"][0]["eps"], "eps", MOST_EPS):
        eps = None  # the claim states more than the set shows
    statements, rows = _statements(file, tables, eps), _rows(file, a1, a2)
    sets = [claim["around"] for claim in file["claims"] if claim["around"] != "all"]
    stated |= {name for claim in (*file["claims"], *sets) for name in claim if name in STATED}
    if reports > 1:  # one row for each multiset of reports
        _need("knots" not in repr(file.get("numbers")), "several reports of knots are not checked.")
        _need(eps is not None, "several reports need eps, because nothing is claimed about them.")
        several = combinations_with_replacement(rows, reports)
        rows = [[reduce(mul, cell) for cell in zip(*members, strict=True)] for members in several]
        subject = statements[0].about.removesuffix("one report")
        statements = [replace(statements[0], about=f"{subject}{reports} reports")]
    return [(rows, statement) for statement in statements]


def verify(
    mechanism: str | bytes,
    counts: str | bytes,
    witness: str | bytes,
    eps: float | str | Fraction | None = None,
    reports: int = 1,
) -> Verdict:
    """Check that a mechanism is as private as it claims, in integer arithmetic.

    Parameters
    ----------
    mechanism, counts, witness : str or bytes
        JSON of a mechanism with claims, or of a manifest of several; of the counts that sets are
        around; of multipliers.
    eps : float, optional
        The bound to check, in nats; by default, the claimed one.
    reports : int
        Number of reports about one record that are seen together; more than one need `eps`.

    Returns
    -------
    Verdict
        ``holds``; a ``message`` that names the first report and pair that fail; what was ``shown``,
        and which fields of the claims are only ``stated``.

    Examples
    --------
    >>> verify('{"format": "a", "version": 1}', "", "").message
    'not shown: a text is not a skrldp-mechanism of version 5 or skrldp-manifest of version 2.'
    """
    try:
        required = None if eps is None else _real(_number(str(eps)), "eps", MOST_EPS)
        _need(type(reports) is int and reports > 0, "reports must be an integer >= 1.")
        pairs, digests, stated = read_claim(mechanism, counts, required, reports)
        file, _ = _read(witness, WITNESS)
        _need_keys(file, HEAD | {"mechanism", "counts", "reports", "couples"})
        for name, true in zip(("mechanism", "counts", "reports"), (*digests, reports), strict=True):
            _need(repr(file[name]) == repr(true), f"the witness does not match the {name}.")
        claims = zip(pairs, map(_list, _list(file["couples"])), strict=True)
        return Verdict(True, "holds", tuple(_shown(*pair, some) for pair, some in claims), stated)
    except NotShown as problem:
        return Verdict(False, f"not shown: {problem}")
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as problem:
        return Verdict(False, f"not shown: the texts are malformed ({type(problem).__name__}).")


def _shown(rows: Table, claim: Statement, couples: list[list[Any]]) -> str:
    """Check a statement for every row and pair; raise NotShown for the first failure."""
    couples_of_row: list[dict[Any, Any]] = [{} for _ in rows]
    for y, s, side, slack, kappa in map(_list, couples):
        _need({type(y), type(s), type(side)} == {int}, "a multiplier has no report or group.")
        couple = [floor(_real(number, "a multiplier") * ONE) for number in (slack, kappa)]
        couples_of_row[y].setdefault((s, side), []).append(couple)
    for y, row in enumerate(rows):
        sides = Sides(claim, row, couples_of_row[y])
        for s, t, eps in sides.left():
            _need(sides.hold(s, t, eps), f"{claim.about}: report {y}, groups {s} and {t}.")
    number, limit = len(claim.pairs), float(max(eps for _, _, eps in claim.pairs))
    return f"{claim.about}: eps <= {limit} for {number} pairs of {len(claim.groups)} groups"


if __name__ == "__main__":
    files: Any = [Path(name).read_bytes() for name in sys.argv[1:4]]
    verdict = verify(*files, *sys.argv[4:5])
    print(verdict.message, *verdict.shown, " ".join(["only stated:", *verdict.stated]), sep="\n")
    sys.exit(not verdict.holds)
