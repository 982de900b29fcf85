"""Mechanisms whose reports each tell whether a value is in some set, and which sets to use.

A row is 1 on a set A and ``drop`` elsewhere, up to a factor. The most informative mixture of given
rows is a linear program; with its dual variables each row that is not there has a reduced cost,
and a set with the greatest can be found without listing all of them.
"""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._typing import Booleans, Floats
from skrldp.design.programs import LEAST_GAIN
from skrldp.design.subset._branching import best_set
from skrldp.information import most_of_small_shares

__all__ = [
    "NEW_SETS",
    "Pricing",
    "all_sets",
    "best_sets",
    "distinct_sets",
    "reduced_profit",
    "set_rows",
    "simple_sets",
]


_LISTED = 10  # up to so many values all sets are listed: 1,023 of them
# Values times counts that one round of dynamic programming may look at: some 0.1 s. Beyond, counts
# are rounded for the search.
_WORK = 10_000_000
# Stretches of counts of which the best set each is taken: four for each value, at most 200.
_STRETCHES, _MOST_STRETCHES = 4, 200
NEW_SETS = 2  # for each value, that join the mixture at once
# Branches that a search by branch and bound may look at, and how near to the best it comes, as a
# part of what can be told about many values of small shares.
_BRANCHES, _NEAR = 512, 1e-7


def simple_sets(size: int) -> Booleans:
    """Return the sets to begin with: none, each value, and all but one.

    Shapes: returns (m, k).
    """
    single = np.eye(size, dtype=bool)
    parts = [np.zeros((1, size), dtype=bool)]
    if size > 1:
        parts.append(single)
    if size > 2:
        parts.append(~single)
    return np.concatenate(parts)


def all_sets(size: int) -> Booleans:
    """List every set of values but the full one, which says as much as the empty one.

    Shapes: returns (2**k - 1, k).
    """
    return (np.arange(2**size - 1)[:, None] >> np.arange(size)) & 1 > 0


def distinct_sets(sets: Booleans) -> Booleans:
    """Leave out sets that were there before.

    Shapes: `sets` (m, k). Returns (n, k): in the same order.
    """
    _, places = np.unique(np.packbits(sets, axis=1), axis=0, return_index=True)
    return sets[np.sort(places)]


def set_rows(sets: Booleans, drop: ArrayLike) -> Floats:
    """Return rows that are 1 on a set and ``drop`` elsewhere.

    Shapes: `sets` (m, k); `drop` (m,); returns (m, k).
    """
    return np.where(sets, 1.0, np.broadcast_to(drop, len(sets))[:, None])


def best_sets(counts: NDArray[np.int64], quick: bool = False) -> "Pricing":
    """Choose how the sets with the greatest reduced costs are found.

    Shapes: `counts` (k,).
    """
    if len(counts) <= _LISTED:
        return _Listing(counts / counts.sum())
    return _Branching(counts / counts.sum()) if quick else _Counting(counts)


class Pricing(Protocol):
    """A way to find sets with great reduced costs."""

    def best(self, duals: Floats, drop: float) -> tuple[Booleans, float]:
        """Find sets with positive reduced costs, and bound the greatest one.

        Shapes: `duals` (k,); returns `sets` (m, k). Returns `most`: no set has a greater reduced
        reduced cost, for each unit of its row's probability.
        """


class _Listing:
    """All sets at once, for few values."""

    def __init__(self, distribution: Floats) -> None:
        self.sets = all_sets(len(distribution))
        self.mass = self.sets @ distribution

    def best(self, duals: Floats, drop: float) -> tuple[Booleans, float]:
        gains = reduced_profit(self.mass, self.sets @ duals, float(duals.sum()), drop)
        order = np.argsort(-gains, kind="stable")[: NEW_SETS * len(duals)]
        return self.sets[order[gains[order] > LEAST_GAIN]], float(gains.max())


class _Branching:
    """Some good sets and a bound, by branch and bound."""

    def __init__(self, distribution: Floats) -> None:
        self.distribution = distribution

    def best(self, duals: Floats, drop: float) -> tuple[Booleans, float]:
        whole = float(duals.sum())
        if drop <= 0:
            return np.zeros((0, len(duals)), dtype=bool), np.inf

        def reduced_cost(sets: Booleans) -> Floats:
            return reduced_profit(sets @ self.distribution, sets @ duals, whole, drop)

        gap = _NEAR * most_of_small_shares(-float(np.log(drop)))
        found = best_set(self.distribution, duals, drop, reduced_cost, gap=gap, nodes=_BRANCHES)
        gains = reduced_cost(found.sets)
        order = np.argsort(-gains, kind="stable")[: len(duals)]
        return found.sets[order[gains[order] > LEAST_GAIN]], found.bound


class _Counting:
    """The set with the least sum of duals for each count of records, by dynamic programming."""

    def __init__(self, counts: NDArray[np.int64]) -> None:
        whole = counts // np.gcd.reduce(counts)
        most = max(_WORK // len(whole), 1)
        self.exact = bool(whole.sum() <= most)
        if not self.exact:
            whole = np.rint(whole * (most / whole.sum())).astype(np.int64)
        self.counts = whole
        self.total = int(whole.sum())
        self.distribution = counts / counts.sum()
        self.bounding = _Branching(self.distribution)

    def best(self, duals: Floats, drop: float) -> tuple[Booleans, float]:
        least, taken = self._least_sums(duals)
        whole, mass = float(duals.sum()), np.arange(self.total + 1) / self.total
        gains = reduced_profit(mass, least, whole, drop)
        # The best of each stretch of counts: neighbours are nearly the same set.
        number = min(_STRETCHES * len(duals), _MOST_STRETCHES)
        stretches = np.array_split(np.arange(self.total + 1), number)
        peaks = np.array([part[gains[part].argmax()] for part in stretches if len(part)])
        sets = self._trace(peaks[gains[peaks] > LEAST_GAIN], taken)
        if self.exact:
            return sets, float(gains.max())
        others, most = self.bounding.best(duals, drop)
        sets = np.concatenate([sets, others])
        true = reduced_profit(sets @ self.distribution, sets @ duals, whole, drop)
        return sets[true > LEAST_GAIN], most

    def _least_sums(self, duals: Floats) -> tuple[Floats, Booleans]:
        """Least sum of duals of a set for each count, and which values were taken on the way."""
        least = np.full(self.total + 1, np.inf)
        least[0] = 0.0
        taken = np.zeros((len(duals), self.total + 1), dtype=bool)
        reach = 0
        for value, (count, dual) in enumerate(zip(self.counts.tolist(), duals, strict=True)):
            reach += count
            other = least[: reach + 1 - count] + dual
            part = least[count : reach + 1]
            better = other < part
            taken[value, count : reach + 1] = better
            part[better] = other[better]
        return least, taken

    def _trace(self, totals: NDArray[np.intp], taken: Booleans) -> Booleans:
        """Find sets that attain the least sum at the given counts."""
        left = totals.copy()
        sets = np.zeros((len(left), len(self.counts)), dtype=bool)
        for value in range(len(self.counts) - 1, -1, -1):
            sets[:, value] = taken[value, left]
            left -= np.where(sets[:, value], self.counts[value], 0)
        return sets


def reduced_profit(mass: Floats, duals: Floats, whole: float, drop: ArrayLike) -> Floats:
    """Return what rows gain less what their duals cost, for each unit of their probability.

    Shapes: `mass` (m,); `duals` (m,); `drop` (m,). Returns (m,): in nats.
    """
    drop = np.asarray(drop, dtype=float)
    mean = np.minimum(mass + (1.0 - mass) * drop, 1.0)
    outside = drop * np.log(np.where(drop > 0, drop, 1.0))
    logs = np.log(np.where(mean > 0, mean, 1.0))
    gain = (1.0 - mass) * outside - mean * logs
    spent = drop * whole + (1.0 - drop) * np.where(drop < 1.0, duals, 0.0)
    return (gain - spent) / np.maximum(mean, np.finfo(float).tiny)
