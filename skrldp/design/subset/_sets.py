"""Mechanisms whose reports each tell whether a value is in some set, and which sets to use.

A row is 1 on a set A and ``drop`` elsewhere, up to a factor. The most informative mixture of given
rows is a linear program; its prices say what a row that is not there would be worth, and a set
that is worth most can be found without listing all of them.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._highs import LinearProgram
from skrldp._typing import Booleans, Floats
from skrldp.information import row_information

__all__ = ["SetMixture", "all_sets", "best_sets", "distinct", "set_rows", "simple_sets", "worth"]


_LISTED = 10  # up to so many values all sets are listed
_WORK = 10_000_000  # values times counts that one round of dynamic programming may look at
_USED = 1e-12  # weight of a row that counts
_LEAST = 1e-10  # nats that a set must be worth, for a report of probability 1


def simple_sets(size: int) -> Booleans:
    """Return the sets to begin with: none, each value, and all but one.

    Parameters
    ----------
    size : int
        Number of values k.

    Returns
    -------
    boolean array of shape (m, k)
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

    Parameters
    ----------
    size : int
        Number of values k.

    Returns
    -------
    boolean array of shape (2**k - 1, k)
    """
    return (np.arange(2**size - 1)[:, None] >> np.arange(size)) & 1 > 0


def distinct(sets: Booleans) -> Booleans:
    """Leave out sets that were there before.

    Parameters
    ----------
    sets : boolean array of shape (m, k)
        Sets of values.

    Returns
    -------
    boolean array of shape (n, k)
        In the same order.
    """
    _, places = np.unique(np.packbits(sets, axis=1), axis=0, return_index=True)
    return sets[np.sort(places)]


def set_rows(sets: Booleans, drop: ArrayLike) -> Floats:
    """Return rows that are 1 on a set and ``drop`` elsewhere.

    Parameters
    ----------
    sets : boolean array of shape (m, k)
        The sets.
    drop : float or array of shape (m,)
        exp(-δ), between 0 and 1.

    Returns
    -------
    array of shape (m, k)
    """
    return np.where(sets, 1.0, np.broadcast_to(drop, len(sets))[:, None])


class SetMixture:
    """The linear program over the sets that are known.

    Parameters
    ----------
    law : array of shape (k,)
        Law of the value.
    """

    def __init__(self, law: Floats) -> None:
        self.law = law
        self.sets: Booleans = np.zeros((0, len(law)), dtype=bool)
        self.drop: Floats = np.zeros(0)
        self._known: set[bytes] = set()
        self._program = LinearProgram(np.zeros(0))
        self._program.add_rows(np.zeros((len(law), 0)), 1.0, 1.0)

    def add(self, sets: Booleans, drop: ArrayLike) -> int:
        """Add the sets that are new.

        Parameters
        ----------
        sets : boolean array of shape (m, k)
            Sets of values.
        drop : float or array of shape (m,)
            What their rows are outside the set.

        Returns
        -------
        int
            How many were new.
        """
        keys = [row.tobytes() for row in np.packbits(sets, axis=1)]
        new = []
        for place, key in enumerate(keys):
            if key not in self._known:
                self._known.add(key)
                new.append(place)
        if new:
            fresh, drops = sets[new], np.broadcast_to(drop, len(sets))[new]
            rows = set_rows(fresh, drops)
            self._program.add_columns(row_information(rows, self.law), rows)
            self.sets = np.concatenate([self.sets, fresh])
            self.drop = np.concatenate([self.drop, drops])
        return len(new)

    def solve(self) -> tuple[Floats, Floats, float]:
        """Solve for the best mixture.

        Returns
        -------
        weights : array of shape (m,)
        prices : array of shape (k,)
            Worth of a little more of each value's probability.
        value : float
            Mutual information, in nats.
        """
        return self._program.solve()

    def used(self) -> Booleans:
        """Return the sets of the best mixture.

        Returns
        -------
        boolean array of shape (b, k)
        """
        weights, _, _ = self.solve()
        return self.sets[weights > _USED]

    def matrix(self) -> Floats:
        """Return the best mixture as a mechanism, with columns that sum to 1 up to rounding.

        Returns
        -------
        array of shape (b, k)
        """
        weights, _, _ = self.solve()
        used = weights > _USED
        rows, weights = set_rows(self.sets[used], self.drop[used]), weights[used]
        # The solver leaves errors of 1e-9; a basis has as many rows as it needs to mend them.
        exact = np.asarray(np.linalg.lstsq(rows.T, np.ones(rows.shape[1]), rcond=None)[0], float)
        if exact.min() >= 0 and np.abs(exact @ rows - 1.0).max() < 1e-9:
            weights = exact
        return _stochastic(rows * weights[:, None], self.drop[used])


def _stochastic(matrix: Floats, drop: Floats) -> Floats:
    """Mend column sums that are off by little, and keep the ratios within rows.

    A multiple of the all-ones row less the errors has the ratio that is allowed if the multiple
    is large enough; the sum of two rows with such a ratio has it too.
    """
    error = matrix.sum(axis=0) - 1.0
    row = int(np.where(drop < 1.0, matrix.max(axis=1), -1.0).argmax())
    low, high = float(error.min()), float(error.max())
    lift = high if drop[row] >= 1.0 else (high - drop[row] * low) / (1.0 - drop[row])
    lift = max(lift, high)
    mended = matrix.copy()
    mended[row] += lift - error
    return mended / (1.0 + lift)


def best_sets(counts: NDArray[np.int64]) -> "_Listing | _Counting":
    """Choose how the sets that are worth most at given prices are found.

    Parameters
    ----------
    counts : array of shape (k,)
        Whole numbers with a positive sum.

    Returns
    -------
    object
        Its ``best(prices, drop)`` returns sets and the greatest worth of all sets; ``exact`` says
        whether no set is worth more.
    """
    few = len(counts) <= _LISTED
    return _Listing(counts / counts.sum()) if few else _Counting(counts)


class _Listing:
    """All sets at once, for few values."""

    exact = True

    def __init__(self, law: Floats) -> None:
        self.sets = all_sets(len(law))
        self.mass = self.sets @ law

    def best(self, prices: Floats, drop: float) -> tuple[Booleans, float]:
        gains = worth(self.mass, self.sets @ prices, float(prices.sum()), drop)
        order = np.argsort(-gains, kind="stable")[: 2 * len(prices)]
        return self.sets[order[gains[order] > _LEAST]], float(gains.max())


class _Counting:
    """The cheapest set for each count of records, by dynamic programming."""

    def __init__(self, counts: NDArray[np.int64]) -> None:
        whole = counts // np.gcd.reduce(counts)
        most = max(_WORK // len(whole), 1)
        self.exact = bool(whole.sum() <= most)
        if not self.exact:
            whole = np.rint(whole * (most / whole.sum())).astype(np.int64)
        self.counts = whole
        self.total = int(whole.sum())
        self.law = counts / counts.sum()

    def best(self, prices: Floats, drop: float) -> tuple[Booleans, float]:
        cheapest, taken = self._cheapest(prices)
        whole, mass = float(prices.sum()), np.arange(self.total + 1) / self.total
        gains = worth(mass, cheapest, whole, drop)
        # The best of each stretch of counts: neighbours are nearly the same set.
        stretches = np.array_split(np.arange(self.total + 1), min(4 * len(prices), 200))
        peaks = np.array([part[gains[part].argmax()] for part in stretches if len(part)])
        sets = self._trace(peaks[gains[peaks] > _LEAST], taken)
        if self.exact:
            return sets, float(gains.max())
        true = worth(sets @ self.law, sets @ prices, whole, drop)
        return sets[true > _LEAST], float(true.max(initial=0.0))

    def _cheapest(self, prices: Floats) -> tuple[Floats, Booleans]:
        """Least price of a set for each count, and which values were taken on the way."""
        cheapest = np.full(self.total + 1, np.inf)
        cheapest[0] = 0.0
        taken = np.zeros((len(prices), self.total + 1), dtype=bool)
        reach = 0
        for value, (count, price) in enumerate(zip(self.counts.tolist(), prices, strict=True)):
            reach += count
            other = cheapest[: reach + 1 - count] + price
            part = cheapest[count : reach + 1]
            better = other < part
            taken[value, count : reach + 1] = better
            part[better] = other[better]
        return cheapest, taken

    def _trace(self, totals: NDArray[np.intp], taken: Booleans) -> Booleans:
        """Find sets that attain the least price at the given counts."""
        left = totals.copy()
        sets = np.zeros((len(left), len(self.counts)), dtype=bool)
        for value in range(len(self.counts) - 1, -1, -1):
            sets[:, value] = taken[value, left]
            left -= np.where(sets[:, value], self.counts[value], 0)
        return sets


def worth(mass: Floats, price: Floats, whole: float, drop: ArrayLike) -> Floats:
    """Return what rows gain over their price, for each unit of their probability at the law.

    Parameters
    ----------
    mass : array of shape (m,)
        Probability of each set.
    price : array of shape (m,)
        Sum of the prices of its values.
    whole : float
        Sum of all prices.
    drop : float or array of shape (m,)
        What the rows are outside the set.

    Returns
    -------
    array of shape (m,)
        In nats.
    """
    drop = np.asarray(drop, dtype=float)
    mean = np.minimum(mass + (1.0 - mass) * drop, 1.0)
    outside = drop * np.log(np.where(drop > 0, drop, 1.0))
    logs = np.log(np.where(mean > 0, mean, 1.0))
    gain = (1.0 - mass) * outside - mean * logs
    spent = drop * whole + (1.0 - drop) * np.where(drop < 1.0, price, 0.0)
    return (gain - spent) / np.maximum(mean, 1e-300)
