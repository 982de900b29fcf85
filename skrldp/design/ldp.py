r"""The best local differential privacy for one attribute whose law is known.

Every δ-LDP mechanism is a mixture of rows :math:`1 + (e^\delta - 1) 1_A` over sets A of values
(Kairouz, Oh and Viswanath 2016), so the most informative one is a linear program over sets. It is
solved with the sets found so far; its prices say which set is missing. With public counts that
set is found exactly, however many values there are: what a set is worth depends on its count and
its price alone, and for each count the cheapest set follows by dynamic programming.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp.design._lp import LinearProgram
from skrldp.information import entropy, row_information

__all__ = ["LocalOptimum", "SetMixture", "all_sets", "optimal_response", "set_rows", "simple_sets"]

Floats = NDArray[np.float64]
Sets = NDArray[np.bool_]

_LISTED = 10  # up to so many values all sets are listed
_WORK = 10_000_000  # values times counts that one round of dynamic programming may look at
_ROUNDS = 200
_LEAST = 1e-10  # nats that a set must be worth, for a report of probability 1


@dataclass(frozen=True, eq=False)
class LocalOptimum:
    """The most informative local mechanism.

    Attributes
    ----------
    matrix : array of shape (b, k)
        Probability of each report given each value; b is at most k.
    information : float
        I(V; Y) at the law, in nats.
    bound : float
        No δ-LDP mechanism has more.
    rounds : int
        Linear programs solved.
    sets : boolean array of shape (m, k)
        The sets looked at, a start for the next δ.
    """

    matrix: Floats
    information: float
    bound: float
    rounds: int
    sets: Sets = field(repr=False)


def optimal_response(
    counts: ArrayLike, eps: float, *, gap: float = 1e-6, first: Sets | None = None
) -> LocalOptimum:
    r"""Most informative local mechanism for an attribute with known counts.

    Maximises the mutual information between value and report over all mechanisms in which no two
    values differ by more than :math:`e^\epsilon` in the probability of any report.

    Parameters
    ----------
    counts : array of shape (k,)
        Whole numbers: how often each value occurs. Zeros are allowed.
    eps : float
        Privacy parameter of the mechanism, in nats; may be infinite.
    gap : float
        Relative distance from the bound at which the search ends.
    first : boolean array of shape (m, k), optional
        Sets to begin with.

    Returns
    -------
    LocalOptimum
        The search ends after 200 rounds at the latest, far from which it stays with up to some
        fifty values. With more than ten values and more than ten million for the number of values
        times the number of records, counts are rounded while searching.

    Raises
    ------
    ValueError
        If the counts are not whole numbers with a positive sum, or ε is negative.

    Notes
    -----
    For small ε the optimum asks whether the value is in one set that has about half of the
    records; for large ε it is randomised response. To find the best set is as hard as to part
    numbers into two equal sums, hence the work grows with the number of records.

    References
    ----------
    P. Kairouz, S. Oh and P. Viswanath, *Extremal mechanisms for local differential privacy*,
    Journal of Machine Learning Research 17, 2016, Theorems 2, 4, 5 and 6.

    Examples
    --------
    >>> best = optimal_response([10, 10, 20, 40], 0.1)
    >>> best.matrix.round(3)
    array([[0.525, 0.525, 0.525, 0.475],
           [0.475, 0.475, 0.475, 0.525]])
    >>> truth = optimal_response([10, 10, 20, 40], 20.0).matrix.argmax(axis=0)
    >>> sorted(truth.tolist())
    [0, 1, 2, 3]
    """
    whole = _whole(counts)
    if not eps >= 0:
        raise ValueError(f"eps={eps!r} must be a number >= 0 (in nats).")
    law = whole / whole.sum()
    if eps == 0 or len(whole) == 1:
        return LocalOptimum(np.ones((1, len(whole))), 0.0, 0.0, 0, simple_sets(len(whole)))
    drop = float(np.exp(-eps))
    pricing = _Listing(law) if len(whole) <= _LISTED else _Counting(whole)
    mixture = SetMixture(law)
    start = simple_sets(len(whole))
    mixture.add(start if first is None else np.concatenate([start, first]), drop)
    bound = _simple_bound(law, eps)
    for rounds in range(1, _ROUNDS + 1):
        _, prices, value = mixture.solve()
        sets, most = pricing.best(prices, drop)
        if pricing.exact:
            bound = min(bound, value + max(most, 0.0))
        if most <= max(_LEAST, gap * value) or not mixture.add(sets, drop):
            break
    matrix = mixture.matrix()
    information = max(0.0, float(row_information(matrix, law).sum()))
    return LocalOptimum(matrix, information, max(bound, information), rounds, mixture.sets)


def simple_sets(size: int) -> Sets:
    """Sets to begin with: none, each value, and all but one.

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


def all_sets(size: int) -> Sets:
    """Every set of values but the full one, which says as much as the empty one.

    Parameters
    ----------
    size : int
        Number of values k.

    Returns
    -------
    boolean array of shape (2**k - 1, k)
    """
    return (np.arange(2**size - 1)[:, None] >> np.arange(size)) & 1 > 0


def set_rows(sets: Sets, drop: ArrayLike) -> Floats:
    """Rows that are 1 on a set and ``drop`` elsewhere.

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
        self.sets: Sets = np.zeros((0, len(law)), dtype=bool)
        self.drop: Floats = np.zeros(0)
        self._known: set[bytes] = set()
        self._program = LinearProgram(np.zeros(0))
        self._program.add_rows(np.zeros((len(law), 0)), 1.0, 1.0)

    def add(self, sets: Sets, drop: ArrayLike) -> int:
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

    def matrix(self) -> Floats:
        """The best mixture as a mechanism, with columns that sum to 1 up to rounding.

        Returns
        -------
        array of shape (b, k)
        """
        weights, _, _ = self.solve()
        used = weights > 1e-12
        rows, weights = set_rows(self.sets[used], self.drop[used]), weights[used]
        # The solver leaves errors of 1e-9; a basis has as many rows as it needs to mend them.
        exact = np.linalg.lstsq(rows.T, np.ones(rows.shape[1]), rcond=None)[0]
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


class _Listing:
    """All sets at once, for few values."""

    exact = True

    def __init__(self, law: Floats) -> None:
        self.sets = all_sets(len(law))
        self.mass = self.sets @ law

    def best(self, prices: Floats, drop: float) -> tuple[Sets, float]:
        worth = _worth(self.mass, self.sets @ prices, float(prices.sum()), drop)
        order = np.argsort(-worth, kind="stable")[: 2 * len(prices)]
        return self.sets[order[worth[order] > _LEAST]], float(worth.max())


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

    def best(self, prices: Floats, drop: float) -> tuple[Sets, float]:
        cheapest, taken = self._cheapest(prices)
        whole, mass = float(prices.sum()), np.arange(self.total + 1) / self.total
        worth = _worth(mass, cheapest, whole, drop)
        # The best of each stretch of counts: neighbours are nearly the same set.
        stretches = np.array_split(np.arange(self.total + 1), min(4 * len(prices), 200))
        peaks = np.array([part[worth[part].argmax()] for part in stretches if len(part)])
        sets = self._trace(peaks[worth[peaks] > _LEAST], taken)
        if self.exact:
            return sets, float(worth.max())
        true = _worth(sets @ self.law, sets @ prices, whole, drop)
        return sets[true > _LEAST], float(true.max(initial=0.0))

    def _cheapest(self, prices: Floats) -> tuple[Floats, Sets]:
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

    def _trace(self, totals: NDArray[np.intp], taken: Sets) -> Sets:
        """Sets that attain the least price at the given counts."""
        left = totals.copy()
        sets = np.zeros((len(left), len(self.counts)), dtype=bool)
        for value in range(len(self.counts) - 1, -1, -1):
            sets[:, value] = taken[value, left]
            left -= np.where(sets[:, value], self.counts[value], 0)
        return sets


def _worth(mass: Floats, price: Floats, whole: float, drop: float) -> Floats:
    """What rows gain over their price, for each unit of their probability at the law."""
    mean = np.minimum(mass + (1.0 - mass) * drop, 1.0)
    outside = drop * np.log(drop) if drop > 0 else 0.0
    logs = np.log(np.where(mean > 0, mean, 1.0))
    gain = (1.0 - mass) * outside - mean * logs
    spent = drop * whole + (1.0 - drop) * price
    return (gain - spent) / np.maximum(mean, 1e-300)


def _simple_bound(law: Floats, eps: float) -> float:
    """Entropy, or what the odds ratio allows (information.mutual_information_bound)."""
    if np.isinf(eps):
        return entropy(law)
    return min(entropy(law), (1.0 - float(law @ law)) * eps * float(np.tanh(eps / 2.0)))


def _whole(counts: ArrayLike) -> NDArray[np.int64]:
    table = np.asarray(counts)
    if table.ndim != 1 or not np.issubdtype(table.dtype, np.number):
        raise ValueError(f"counts must be a list of numbers, got shape {table.shape}.")
    if not np.all(np.isfinite(table)) or np.any(table < 0) or np.any(table != np.floor(table)):
        raise ValueError("counts must be whole numbers >= 0.")
    whole = table.astype(np.int64)
    if whole.sum() <= 0:
        raise ValueError("counts are all zero.")
    return whole
