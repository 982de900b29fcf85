r"""The leakage of several reports about one record, to an observer who sees all of them.

k independent reports are one report of a mechanism whose rows are products of k rows. The order
of the reports contains no information, and the number of orders cancels in every ratio, so each
multiset of rows is compared once. If there are too many multisets, the bound is a sum: given the
first reports, the distribution of U may be arbitrary, so each further report adds at most the bound
over all distributions (docs/proofs.md, Theorem 27).
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain, combinations_with_replacement, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats
from skrldp.certificate._leakage import LeakageBound, View, block_views, bound_over, leakage_at
from skrldp.joint import JointDistribution
from skrldp.mechanism.all_distributions import times
from skrldp.mechanism.mechanism import Mechanism
from skrldp.privacy.private_rows import Region
from skrldp.sets.fitted_sets import FittedSet

# Multisets of reports are enumerated if their number, times the cells of all pairs of secrets, is
# at most this. On one core in 2026 this took about a second, but ten seconds for reports with a
# leakage of 40 nats, because rounding then prevents a proof of the smallest bound.
WORK = 1e7

# A pair of secrets costs at least as much as this many cells.
_CELLS_OF_A_PAIR = 8

# Cells of products in memory at a time, in two arrays.
_PART_CELLS = 1 << 18

# Maximum number of factors of a product: more reports are bounded from above by sums, and from
# below by this many equal ones.
_MOST_FACTORS = 1 << 12

# Difference in nats between a bound and the attained leakage up to which no further search is made.
_TIGHT = 1e-6

Rounded = tuple[Floats, Floats]  # upper and lower bounds of non-negative numbers


@dataclass(eq=False)
class SeveralReports:
    """Bounds of k reports about one record over a set of distributions."""

    mechanism: Mechanism | Floats  # (b, a1 * a2), a mechanism, or its probabilities
    region: Region  # the region of the set
    joint: JointDistribution  # the public distribution
    uncertainty: FittedSet  # the set
    first: LeakageBound  # the bound of one report
    eps_worst_case: float  # proven bound of one report over all distributions
    work: float  # the maximum amount of enumeration

    @cached_property
    def known(self) -> dict[int, LeakageBound]:
        """The exact bounds so far."""
        return {1: self.first}

    def bound(self, k: int) -> LeakageBound:
        """Return the bound of k reports."""
        first, upper = self.first, times(k, self.eps_worst_case)
        if k == 1:
            return first
        if self.uncertainty.is_everything or upper == 0.0 or np.isinf(first.attained):
            leakage = self._leakage_of_equal(k, first.distribution)
            return LeakageBound(upper, min(leakage, upper), first.distribution)
        n_enumerated = self._most_enumerable(k)
        if n_enumerated not in self.known:
            self.known[n_enumerated] = bound_over(
                lambda: self._enumerated(n_enumerated),
                self.joint,
                self.uncertainty,
                self._composed(n_enumerated),
            )
        best = self.known[n_enumerated]
        if n_enumerated == k:
            return best
        eps, attained, distribution = self._composed(k), best.attained, best.distribution
        lower, worst = self._leakage_of_equal(k, distribution), distribution
        # For large block mechanisms, a search would take as long as the proof, which is too long.
        if self._blocks is None and lower < eps - _TIGHT:
            equal = bound_over(lambda: self._equal(k), self.joint, self.uncertainty)
            if equal.attained > lower:
                lower, worst = equal.attained, equal.distribution
        if lower >= attained:
            attained, distribution = lower, worst
        return LeakageBound(eps, min(attained, eps), distribution, enumerated=False)

    def _leakage_of_equal(self, k: int, distribution: Floats) -> float:
        return max(leakage_at(view, distribution) for view in self._equal(k))

    def _composed(self, k: int) -> float:
        """Smallest sum of an exact bound of some reports and a bound for all others."""
        sums = [times(k, self.eps_worst_case)]
        for j, exact in self.known.items():
            if j <= k:
                rest = times(k - j, self.eps_worst_case)
                sums.append(float(np.nextafter(exact.eps + rest, np.inf)) if rest else exact.eps)
        return min(sums)

    # --- multisets of rows

    def _most_enumerable(self, k: int) -> int:
        """Largest number of reports, at most k, whose multisets are few enough to enumerate."""
        factors = range(1, min(k, _MOST_FACTORS) + 1)
        return max(1, bisect_right(factors, self.work, key=self._work))

    def _work(self, k: int) -> float:
        a1, a2 = self.region.conditionals.shape
        n_rows = n_multisets(self._n_distinct, k, self.work)
        return n_rows * (len(self.region.pairs[0]) * (a2 + _CELLS_OF_A_PAIR) + k * a1 * a2)

    @property
    def _blocks(self) -> tuple[float, float, float, float] | None:
        return self.mechanism.form.blocks if isinstance(self.mechanism, Mechanism) else None

    @property
    def _n_distinct(self) -> int:
        """Number of rows, without the matrix of four weights."""
        return self.mechanism.shape[0] if self._blocks is not None else len(self._rows[0])

    @cached_property
    def _rows(self) -> Rounded:
        mechanism = self.mechanism
        return distinct_rows(mechanism.weights if isinstance(mechanism, Mechanism) else mechanism)

    def _view(self, products: Rounded) -> View:
        shape = (-1, *self.region.conditionals.shape)
        above, below = products
        return View(above.reshape(shape), below.reshape(shape), self.region, rounded=True)

    def _equal(self, k: int) -> Iterator[View]:
        """Make views of k equal reports, or of fewer for very many."""
        n_equal = min(k, _MOST_FACTORS)
        if self._blocks is None:
            yield self._view(power(self._rows, n_equal))
            return
        four = np.array([self._blocks])
        above, below = power((four, four), n_equal)
        yield from block_views(tuple(below[0]), self.region, tuple(above[0]))

    def _enumerated(self, k: int) -> Iterator[View]:
        """Make views of all multisets of k rows, in batches."""
        above, below = self._rows
        multisets = combinations_with_replacement(range(len(above)), k)
        size = max(1, _PART_CELLS // above.shape[1])
        yield self._view(power(self._rows, k))  # often the worst ones, which speeds up the others
        while len(chosen := np.fromiter(chain.from_iterable(islice(multisets, size)), np.intp)):
            members = chosen.reshape(-1, k).T
            yield self._view(reduce(product, ((above[y], below[y]) for y in members)))


def n_multisets(n: int, k: int, limit: float) -> int:
    """Count the multisets of k out of n; every count above `most` may be capped."""
    count = 1
    for i in range(1, min(k, n - 1) + 1):
        count = count * (n + k - i) // i
        if count > limit:
            break
    return count


def distinct_rows(table: NDArray[Any]) -> Rounded:
    """Return one row of each class of proportional rows: a factor cancels in every ratio.

    Integers are compared exactly. Rows of floats are merged only if they are equal up to a power of
    two.
    """
    rows = table[table.any(axis=1)]
    if np.issubdtype(rows.dtype, np.integer):
        rows = np.unique(rows // np.gcd.reduce(rows, axis=1, keepdims=True), axis=0)
        values = rows.astype(float)
        is_exact = rows < 2**53  # floats hold these exactly
        above = np.where(is_exact, values, np.nextafter(values, np.inf)) * 2.0**-64
        below = np.where(is_exact, values, np.nextafter(values, 0.0)) * 2.0**-64
        return scaled((above, below))
    rows = np.unique(scaled((rows, rows))[0], axis=0)
    return rows, rows


def product(first: Rounded, second: Rounded) -> Rounded:
    """Multiply bounds, rounding outwards; zeros stay zeros, and rows are scaled if they are small.

    One unit in the last place covers the rounding of a product even if it underflows, and scaling
    upwards is exact.
    """
    above, below = first[0] * second[0], first[1] * second[1]
    positive = (first[0] > 0) & (second[0] > 0)
    above = np.where(positive, np.nextafter(above, np.inf), 0.0)
    return scaled((above, np.nextafter(below, 0.0)))


def scaled(rows: Rounded) -> Rounded:
    """Multiply each row by a power of two that brings its largest entry to 1/2 or above."""
    exponent = np.frexp(rows[0].max(axis=1, keepdims=True))[1]
    upwards = np.maximum(-exponent, 0)
    return np.ldexp(rows[0], upwards), np.ldexp(rows[1], upwards)


def power(rows: Rounded, k: int) -> Rounded:
    """Raise bounds to a power, by squaring; see :func:`product`."""
    result, square = rows, rows
    for digit in bin(k - 1)[:1:-1] if k > 1 else "":
        if digit == "1":
            result = product(result, square)
        square = product(square, square)
    return result
