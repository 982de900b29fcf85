r"""A proven upper bound on information where privacy holds for all distributions.

A mechanism is a sum of private rows v, and its information the sum of their :math:`\mu(v)`. If
:math:`\mu(v) \le \lambda \cdot v + \delta P \cdot v` for every private row, then :math:`I(X;Y)
\le \sum_x \lambda_x + \delta`, since the rows sum to 1. λ are the dual variables of the best
mixture of the rows that are known, δ comes from all extreme rows; rows that are found on the way
are mixed in, and λ with them.

The entries of a row are compared with one another, whatever the values of U. With the least and the
largest entry of each part, :math:`l_s` and :math:`h_s`, a row is private if and only if
:math:`h_s \le e^{\epsilon_{st}} l_t` for every pair of parts. These are a cone K of few dimensions.
An extreme row has all its entries at these ends, and (l, h) on an extreme ray of K: along such a
ray a price less :math:`\lambda \cdot v` is a sum over cells, but for a term of the row's mass m,
for which :math:`-m \log m \le e^y - m (1 + y)` with any y. So each y gives a bound for all patterns
of ends at once, and the best y is found by bisection. With the duals λ of a mixture this proves a
bound as above, whatever the solver's tolerance.
"""

from dataclasses import dataclass
from itertools import combinations, count, product
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from skrldp._typing import Floats, Indices
from skrldp.design.limits import MOST_ENTRIES, MOST_ROUNDS, TIGHT, TOL, Limits
from skrldp.design.programs import RowMixture, used
from skrldp.information import row_information
from skrldp.privacy.requirements import Requirements

_MOST_CELLS = 120  # .3 to .7 s of processor time at 80; twice as many take ten times as long
# Seconds of its linear programs: at least the first, so that a search that ran out of time has a
# bound, and at most the second, since a bound is worth no more. Both are ten times as long as the
# programs take, so twice as much changes nothing.
_SECONDS, _MOST_SECONDS = 1.0, 60.0
_GREATEST_RATIO = 10.0  # of logarithms: a larger one, such as twice as much, is as good as none


@dataclass(frozen=True, eq=False)
class PricedBound:
    """A bound and what was found on the way to it."""

    value: float  # no private mechanism has more information, in nats
    reached: float  # information of ``matrix``
    matrix: Floats  # (b, a), the best mixture of all rows, the given mechanism's and new ones


def log_ratios(requirements: Requirements) -> Floats | None:
    """Bound the logarithms of the ratios of entries of a row, for two parts and within a part.

    What follows from a requirement by way of other parts is along the shortest path.

    Returns (m, m) for the m parts of a row, or None if no requirement is for all distributions.
    """
    everywhere = [one for one in requirements if one.everywhere and one.region.rows.in_order]
    if not everywhere:
        return None
    shape = everywhere[0].region.rows.parts.shape
    ratios = np.full((shape[0], shape[0]), np.inf)
    for one in everywhere:
        if one.region.rows.parts.shape == shape:
            np.minimum.at(ratios, one.part_pairs, one.eps)
    for part in range(len(ratios)):
        ratios = np.minimum(ratios, ratios[:, part, None] + ratios[part])
    return ratios


def everywhere_bound(
    distribution: Floats,
    about: Indices | None,
    requirements: Requirements,
    matrix: Floats,
    *,
    goal: float = TOL,
    limits: Limits | None = None,
) -> PricedBound | None:
    """Bound the information about X, or about a function of it, from above.

    Where privacy for all distributions is all that is required, the rows that are found on the way
    are mixed in.

    Shapes: `distribution` (a,); `about` (a,), the function's values; `matrix` (b, a). Returns
    PricedBound or None: none where nothing is required for all distributions, there are too many
    parts or cells with one value, or a linear program does not end.
    """
    ratios = log_ratios(requirements)
    if ratios is None or not ratios.max() <= _GREATEST_RATIO:
        return None
    values = np.arange(len(distribution)) if about is None else about
    m, patterns = len(ratios), 2.0 ** np.bincount(values).max()
    systems = comb(m * max(m, 2), 2 * m - 1)  # of tight constraints, some of which have a ray each
    if len(values) > _MOST_CELLS or systems * (2 * m - 1) ** 2 > MOST_ENTRIES:
        return None
    rays = _extreme_rays(ratios)
    if len(rays) * patterns * len(values) > MOST_ENTRIES:
        return None
    ends, limits = _Ends.of(rays, distribution, values), limits or Limits(None)
    mixture, best, listed = RowMixture(distribution), np.inf, ends.listed
    alone = all(one.everywhere for one in requirements)

    def add(rows: Floats) -> None:
        mixture.add(rows, ends.prices(rows))

    add(np.concatenate([np.ones((1, matrix.shape[1])), requirements.shift(matrix)]))
    for solves in count(1):
        left = _MOST_SECONDS if limits.left is None else limits.left
        try:
            weights, duals, reached = mixture.solve(min(max(left, _SECONDS), _MOST_SECONDS))
        except TimeoutError:
            return None
        most, rows = (0.0, listed) if listed is not None else ends.priced(duals)
        gains = ends.gains(rows, duals)
        best = min(best, float(duals.sum()) + max(most, float(gains.max())) + TIGHT)
        order = np.argsort(-gains, kind="stable")[: len(values)]
        rows = rows[order[gains[order] > TIGHT]]
        enough = best <= reached * (1.0 + goal) + 2.0 * TIGHT
        if enough or not len(rows) or solves >= MOST_ROUNDS or limits.met:
            break
        add(requirements.shift(rows) if alone else rows)
    if alone:
        matrix = (mixture.rows[: len(weights)] * weights[:, None])[used(weights)]
    return PricedBound(best, reached, matrix)


def _extreme_rays(ratios: Floats) -> Floats:
    """List the extreme rays of K by their spanning trees of tight constraints, (r, 2, m)."""
    m = len(ratios)
    # Constraints log x[i] - log x[j] <= c; lower ends first.
    pairs = [(s, m + s, 0.0) for s in range(m)]
    pairs += [(m + s, t, ratios[s, t]) for s, t in product(range(m), repeat=2) if s != t or m == 1]
    table, right = np.zeros((len(pairs), 2 * m)), np.array([most for *_, most in pairs])
    for row, (greater, less, _) in enumerate(pairs):
        table[row, greater], table[row, less] = 1.0, -1.0
    tight = np.array(list(combinations(range(len(pairs)), 2 * m - 1)))
    systems = table[tight][:, :, 1:]  # the first lower end is 1
    trees = np.abs(np.linalg.det(systems)) > 0.5  # determinants are -1, 0 and 1
    logs = np.linalg.solve(systems[trees], right[tight[trees]][:, :, None])[:, :, 0]
    logs = np.pad(logs, ((0, 0), (1, 0)))
    logs = logs[np.all(logs @ table.T <= right + TIGHT, axis=1)]  # more rays are harmless
    logs = np.unique(np.round(logs, 12), axis=0)
    return np.exp(logs).reshape(-1, 2, m)


class _Ends(NamedTuple):
    """Rows whose entries are at the ends of an extreme ray's ranges, value by value."""

    distribution: Floats  # (a,)
    mass: Floats  # (k,), of each value of the function
    values: Indices  # (a,), the function's value in each cell
    entries: Floats  # (r, p, a), of each ray and pattern
    told: Floats  # (r, p, k), the values' parts of the price, before the row's mass
    sent: Floats  # (r, p, k), their parts of the row's mass

    @classmethod
    def of(cls, rays: Floats, distribution: Floats, values: Indices) -> "_Ends":
        """Write down all patterns of the cells that have a value in common."""
        a, k, m = len(distribution), int(values.max()) + 1, rays.shape[2]
        place = np.zeros(a, dtype=np.intp)  # of a cell among those of its value
        for value in range(k):
            same = np.flatnonzero(values == value)
            place[same] = np.arange(len(same))
        patterns = np.array(list(product((0, 1), repeat=int(place.max()) + 1)))
        part = np.repeat(np.arange(m), a // m)
        entries = rays[:, patterns[:, place], part]
        mass = np.bincount(values, distribution, k).astype(float)
        of_value = (values[:, None] == np.arange(k)) * distribution[:, None]
        sent = entries @ of_value
        means = np.divide(sent, mass, out=np.ones_like(sent), where=mass > 0)
        return cls(distribution, mass, values, entries, mass * xlogy(means, means), sent)

    @property
    def listed(self) -> Floats | None:
        """All rows, where they are few: (n, a)."""
        r, p, a = self.entries.shape
        # By bisection the bound would be 2 % to 20 % above the optimum at 8 to 12 cells, whose
        # patterns have masses far apart.
        if r * float(p) ** len(self.mass) * a > MOST_ENTRIES:
            return None
        chosen = np.indices((p,) * len(self.mass)).reshape(len(self.mass), -1)[self.values]
        return self.entries[:, chosen, np.arange(a)[:, None]].swapaxes(1, 2).reshape(-1, a)

    def prices(self, rows: Floats) -> Floats:
        """Return what each row contributes, in nats."""
        of_value = (self.values[:, None] == np.arange(len(self.mass))) * self.distribution[:, None]
        share = np.divide(of_value, self.mass, out=np.zeros_like(of_value), where=self.mass > 0)
        return row_information(rows @ share, self.mass)

    def gains(self, rows: Floats, duals: Floats) -> Floats:
        """Return the reduced costs of rows, for mass 1."""
        gains: Floats = (self.prices(rows) - rows @ duals) / (rows @ self.distribution)
        return gains

    def priced(self, duals: Floats) -> tuple[float, Floats]:
        """Bound the reduced costs of all private rows of mass 1; return rows of many patterns.

        Shapes: `duals` (a,). Returns the bound, at least 0, and (n, a).
        """
        of_value = self.values[:, None] == np.arange(len(self.mass))
        worth = self.told - self.sent - (self.entries * duals) @ of_value
        low, high = (np.log(end(self.sent, axis=1).sum(axis=1)) for end in (np.min, np.max))
        least = np.exp(low)
        rows = []
        for _ in range(MOST_ROUNDS):
            middle = (low + high) / 2.0
            chosen = np.argmax(worth - self.sent * middle[:, None, None], axis=1)
            mass = np.take_along_axis(self.sent, chosen[:, None], axis=1)[:, 0].sum(axis=1)
            more = mass > np.exp(middle)
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        most = np.full(len(low), np.inf)
        for y in (low, high):
            total = worth - self.sent * y[:, None, None]
            most = np.minimum(most, np.exp(y) + total.max(axis=1).sum(axis=1))
            chosen = total.argmax(axis=1)[:, self.values]
            rows.append(np.take_along_axis(self.entries, chosen[:, None], axis=1)[:, 0])
        return float((np.maximum(most, 0.0) / least).max()), np.concatenate(rows)
