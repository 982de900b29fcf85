"""The witness of a proof: multipliers with which anybody can check it in integers.

It contains multipliers of every report, group and side that extremes alone do not clear, as short
decimals. They come from the certificate's search (docs/proofs.md, Theorem 12, Theorem 15, Theorem
37), are rounded to as few digits as still show the claim, and are tried by the checker's own
arithmetic.
"""

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from math import floor
from typing import Any

import numpy as np

from skrldp._typing import Floats
from skrldp.certificate import _verify
from skrldp.certificate._verify import ONE, NotShown, Sides, Statement, Verdict, read_claim
from skrldp.exceptions import CertificateError
from skrldp.joint import JointDistribution
from skrldp.mechanism.json_values import as_json
from skrldp.mechanism.manifest import Manifest, read_json
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sets.fitted_sets import FittedSet
from skrldp.support_function import split_budget, support

# Numbers of digits of multipliers, tried in order. Bounds depend on the squares of errors, so that
# eight digits are nearly always enough; with sixteen, floats are written exactly.
_DIGITS = (3, 5, 7, 9, 12, 16)

Couple = tuple[str, str]  # a slack and a multiplier, in their written form


def counts_to_json(joint: JointDistribution | Sequence[JointDistribution]) -> str:
    """Write the public counts, the centre of sets of distributions, for :func:`verify`.

    Parameters
    ----------
    joint : JointDistribution or list of them
        The public table, or that of each block of a manifest. All its counts are written; for
        surveys, integers in proportion to its weighted totals, and the number of records of each
        cell. Publish them only if they are public.

    Returns
    -------
    str
        JSON.

    Examples
    --------
    >>> counts_to_json(JointDistribution([[7, 10], [26, 57]], ["no", "yes"]))  # doctest: +ELLIPSIS
    '{"format":"skrldp-counts","version":1,"secrets":["no","yes"],"values":[0,1],"counts":[[7,...
    """
    head: dict[str, Any] = {"format": "skrldp-counts", "version": 1}
    if isinstance(joint, JointDistribution):
        fields = head | _table_of(joint)
    else:
        fields = head | {"blocks": [_table_of(table) for table in joint]}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _table_of(joint: JointDistribution) -> dict[str, Any]:
    names = {"secrets": as_json(joint.secrets), "values": as_json(joint.values)}
    records = {} if joint.survey is None else {"records": joint.counts.tolist()}
    return {**names, "counts": joint.people.tolist(), **records}


@wraps(_verify.verify)
def verify(
    mechanism: str | bytes,
    counts: str | bytes,
    witness: str | bytes,
    eps: float | str | Fraction | None = None,
    reports: int = 1,
) -> Verdict:
    """Check a proof with the import-free verifier; reject texts that clients would not read."""
    verdict = _verify.verify(mechanism, counts, witness, eps, reports)
    if verdict.holds:
        try:
            read_json(mechanism)
        except ValueError:
            return Verdict(False, "not shown: the mechanism is malformed.")
    return verdict


def states(mechanism: Mechanism, uncertainty: FittedSet) -> bool:
    """Return whether a mechanism's first claim is about this set."""
    if mechanism.claims is None:
        return False
    stated = mechanism.claims.main.around
    restated = uncertainty.stated()
    same = stated.kind, stated.numbers, stated.bounds
    return same == (restated.kind, restated.numbers, restated.bounds)


def witness_of(
    mechanism: Mechanism | Manifest,
    joint: JointDistribution | Sequence[JointDistribution],
    eps: float | None = None,
    reports: int = 1,
) -> str:
    """Write the multipliers that let anybody check the claims with :func:`verify`.

    For a fitted sanitizer's mechanism, use ``certificate_.witness()``.

    Parameters
    ----------
    mechanism : Mechanism or Manifest
        With claims.
    joint : JointDistribution or list of them
        The public table, or that of each block of a manifest.
    eps : float, optional
        What reports should keep, in nats; what is claimed if not given.
    reports : int, default=1
        How many reports about one record are seen together; more than one need `eps`.

    Returns
    -------
    str
        JSON, bound to the mechanism or manifest and to the counts by their digests.

    Raises
    ------
    ValueError
        If there is no claim, or none that can be checked.
    CertificateError
        If no multipliers were found that show what is claimed.
    """
    if mechanism.claims is None:
        raise ValueError("the mechanism has no claims, so there is nothing to prove.")
    required = None if eps is None else Fraction(str(eps))
    texts = mechanism.to_json(), counts_to_json(joint)
    try:
        pairs, digests, _ = read_claim(*texts, required, reports)
    except NotShown as problem:
        raise ValueError(f"there is no proof of this claim: {problem}") from None
    couples = [",".join(_couples(statement, rows)) for rows, statement in pairs]
    head = {
        "format": "skrldp-witness",
        "version": 1,
        "mechanism": digests[0],
        "counts": digests[1],
        "reports": reports,
    }
    text = json.dumps(head, separators=(",", ":"))
    return f'{text[:-1]},"couples":[{",".join(f"[{text_of_rows}]" for text_of_rows in couples)}]}}'


def _couples(statement: Statement, rows: list[list[int]]) -> Iterator[str]:
    """Write the couples of all reports: report, group, side, slack, multiplier."""
    for y, row in enumerate(rows):
        sides = Sides(statement, row, {})
        left = [pair for pair in sides.left() if not sides.hold(*pair)]
        if not left:
            continue
        if statement.alpha is None:
            raise _unproven(statement, y, left[0])
        problem = _Problem(statement, sides.parts)
        alone = {(s, None): s for s, _, _ in left} | {(t, eps): t for _, t, eps in left}
        best = dict(zip(alone, problem.couples([(side,) for side in alone]), strict=True))
        written: dict[tuple[int, int, Couple], None] = {}
        for s, t, eps in left:
            first, second = best[s, None][0], best[t, eps][0]
            for couples in ((first, None), (None, second), (first, second)):
                if sides.hold(s, t, eps) or _shows(sides, (s, t, eps), couples, written):
                    break
        left = [pair for pair in left if not sides.hold(*pair)]
        together = problem.couples([((s, None), (t, eps)) for s, t, eps in left])
        for pair, (first, second) in zip(left, together, strict=True):
            if not sides.hold(*pair) and not _shows(sides, pair, (first, second), written):
                raise _unproven(statement, y, pair)
        yield from (f"[{y},{s},{side},{a},{b}]" for s, side, (a, b) in written)


def _shows(
    sides: Sides,
    pair: tuple[int, int, Fraction],
    couples: tuple[tuple[float, float] | None, ...],
    written: dict[tuple[int, int, Couple], None],
) -> bool:
    """Write couples with the fewest digits that show a pair, if any do."""
    s, t, eps = pair
    for digits in _DIGITS:
        added = []
        for group, of_pair, couple in ((s, None, couples[0]), (t, eps, couples[1])):
            if couple is None:
                continue
            kappa = couple[1]
            if sides.one.alpha == Fraction(1, 2):  # downwards
                kappa *= 1.0 - 10.0 ** (1 - digits)
            texts = _written(couple[0], digits), _written(kappa, digits)
            slack, multiplier = (floor(Fraction(text) * ONE) for text in texts)
            bound = sides.one.bound(sides.parts[group], group, of_pair, slack, multiplier)
            if bound is not None:
                sides.of(group, of_pair).append((bound, multiplier))
                added.append((group, of_pair, texts))
        if added and sides.hold(s, t, eps):
            written.update(dict.fromkeys((g, int(e is not None), it) for g, e, it in added))
            return True
        for group, of_pair, _ in added:
            sides.of(group, of_pair).pop()
    return False


def _written(number: float, digits: int) -> str:
    """Write a number with this many digits, as in JSON."""
    return str(Decimal(f"{number:.{digits - 1}e}").normalize())


class _Problem:
    """The search for the best multipliers of a row, for one side or both sides of a pair."""

    def __init__(self, statement: Statement, rows: list[list[int]]) -> None:
        assert statement.alpha is not None
        self.one, self.alpha = statement, float(statement.alpha)
        self.theta = (self.alpha - 1.0) / self.alpha
        width = max(map(len, rows))
        # Groups of fewer cells are padded with copies of their first one, without records.
        self.parts = np.array([[*row, *row[:1] * (width - len(row))] for row in rows], float)
        counts = [
            [*row_counts, *[0] * (width - len(row_counts))] for row_counts in statement.counts
        ]
        self.counts = np.array(counts, dtype=float)
        self.weight = np.array(statement.sizes) / sum(statement.sizes)
        self.single, self.pair, self.drift = map(float, statement.budgets)

    def couples(
        self, sides_wanted: list[tuple[tuple[int, Fraction | None], ...]]
    ) -> list[tuple[tuple[float, float], ...]]:
        """Find slacks and multipliers of the one or two sides of each problem."""
        if not sides_wanted:
            return []
        groups = np.array([[group for group, _ in sides] for sides in sides_wanted])
        factor = np.array([[np.exp(float(e or 0)) for _, e in sides] for sides in sides_wanted])
        second = np.array([[e is not None for _, e in sides] for sides in sides_wanted])
        q = self.parts[groups] * np.where(second, -factor, 1.0)[..., None]
        sizes = self.counts.sum(axis=1)
        p = (self.counts / np.where(sizes > 0, sizes, 1.0)[:, None])[groups]
        weight = self.weight[groups]
        budgets = self.single + self.drift * weight
        radius = (
            self.pair + self.drift * weight.sum(axis=1) if groups.shape[1] == 2 else budgets[:, 0]
        )
        slack, kappa = np.zeros(weight.shape), np.zeros(weight.shape)
        has_records = (weight > 0).all(axis=1)
        ball = p[has_records], weight[has_records], self.alpha, self._radius(radius[has_records])
        limits = budgets[has_records] if self.alpha == 1.0 and groups.shape[1] == 2 else None
        bounds = support(q[has_records], *ball, limits)
        slack[has_records] = bounds.slack * bounds.scale[:, None]
        problem = q[has_records], p[has_records], weight[has_records], radius[has_records], limits
        kappa[has_records] = self._multipliers(slack[has_records], *problem)
        return [tuple(zip(*pair, strict=True)) for pair in zip(slack / factor, kappa, strict=True)]

    def _radius(self, budget: Floats) -> Floats:
        """Return the radius of a ball from its budget."""
        if self.alpha == 1.0:
            return budget
        return np.log1p(np.copysign(budget, self.theta)) / self.theta

    def _multipliers(
        self, slack: Floats, q: Floats, p: Floats, w: Floats, budget: Floats, limits: Floats | None
    ) -> Floats:
        """Return the multipliers N x that go with slacks, of Theorem 37."""
        gaps = q.max(axis=2, keepdims=True) - q + slack[..., None]
        logs = np.log(np.where(p > 0, np.maximum(gaps, np.finfo(float).tiny), 1.0))
        if self.alpha == 1.0:
            means = (p * logs).sum(axis=2)
            price = (w * (means - np.log(w))).sum(axis=1) - budget
            shared = w * np.exp(price / w.sum(axis=1))[:, None]
            if limits is None:
                return shared
            is_capped, log_shares = split_budget(means, w, budget, limits)
            return np.where(is_capped[:, None], np.exp(means + log_shares), shared)
        powers = w * (p * np.exp(self.theta * logs)).sum(axis=2)
        if self.alpha == 0.5:  # slightly less than the maximum, because numbers are rounded
            return w / powers.max(axis=1)[:, None] * (1.0 - 1e-15)
        area = w.sum(axis=1) + np.copysign(budget, self.theta)
        size = abs(self.theta)
        terms = ((size * powers) ** (1.0 / (1.0 + self.theta))).sum(axis=1)
        price = (terms / (size * np.maximum(area, np.finfo(float).tiny))) ** (
            1.0 + 1.0 / self.theta
        )
        return w * price[:, None]


def _unproven(statement: Statement, y: int, pair: tuple[int, int, Fraction]) -> CertificateError:
    return CertificateError(
        f"no multipliers were found that prove this: {statement.about}, report {y}, groups "
        f"{pair[0]} and {pair[1]}, eps={float(pair[2])}."
    )
