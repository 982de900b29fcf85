r"""The best local differential privacy for one attribute whose distribution is known.

Every δ-LDP mechanism is a mixture of rows :math:`1 + (e^\delta - 1) 1_A` over sets A of values
(Kairouz, Oh and Viswanath 2016), so the most informative one is a linear program over sets. It is
solved with the sets found so far; its dual variables say which set is missing. With public counts
that set is found exactly, however many values there are: the reduced cost of a set depends on its
count and the sum of its duals alone, and for each count the least sum follows by dynamic
programming.

**Rows.** A row is 1 on a set A and ``drop`` elsewhere, up to a factor. The most informative
mixture of given rows is a linear program; with its dual variables each row that is not there has
a reduced cost, and a set with the greatest can be found without listing all of them.

**Branch and bound**, for any number of records. Up to its scale a row is 1 on a set A and
``drop`` elsewhere. With m the probability of A, its reduced cost less a multiple ρ of its
probability is :math:`h_\rho(m) - \sum_{s \in A} c_s`, with h concave. If values may be in A in
part, the best A holds the values in the order of :math:`c_s / P_s` up to some point, and at most
one of them in part: a bound at the price of a sum. Where that one value is in A wholly, or not at
all, are the two branches. No set of a branch has a reduced cost above ρ, for each unit of its
probability, once its bound is at most 0.

**Partitions** have groups of values with the same probability under every secret. Whether U is in
a set tells little about S if the set has about the same probability under each secret, so reports
may say a lot about it. The groups of a partition also share the values among them evenly. With
many values a search by small changes of simple sets takes long to find such sets.

**The mixture.** With many values the linear program is written with few coefficients. A row is
:math:`d + (1 - d) 1_A`, with d its drop, or :math:`1 - (1 - d) 1_{A^c}`. The constant parts of all
rows in the mixture add up to one further variable, and what is left has entries on the smaller one
of the set and its complement alone. On 300 values this takes a tenth of the time.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from skrldp._highs import LinearProgram
from skrldp._typing import Booleans, Floats, Indices
from skrldp.design.programs import LEAST_GAIN, RowMixture, used
from skrldp.information import (
    entropy,
    most_of_small_shares,
    mutual_information_bound,
    row_information,
)

# --- The set with the greatest reduced cost, by branch and bound ----------------------------------


_BATCH = 64  # branches that are looked at together


class Found(NamedTuple):
    """What a search has found."""

    # (m, k), sets that were met on the way; the best one is the best of all if the search was
    # complete
    sets: Booleans
    bound: float  # no set has a greater reduced cost


class _Branches(NamedTuple):
    """Sets of values that are in A, and those about which nothing is decided, in sorted order."""

    inside: Booleans
    free: Booleans

    def some(self, chosen: Indices | Booleans | slice) -> "_Branches":
        return _Branches(self.inside[chosen], self.free[chosen])


@dataclass(frozen=True)
class _Relaxation:
    """The problem with values that may be in A in part, sorted by cost over probability."""

    mass: Floats
    cost: Floats
    slope: Floats
    drop: float
    whole: float

    def solve(self, branches: _Branches, rho: float) -> tuple[Floats, Booleans, Indices]:
        """Return the bound of each branch, the values wholly in its set, and the one in part.

        That one is -1 where there is none.
        """
        inside, free = branches
        drop, outside = self.drop, self.drop * np.log(self.drop)
        free_mass = np.where(free, self.mass, 0.0)
        mean = drop + (1.0 - drop) * ((inside @ self.mass)[:, None] + free_mass.cumsum(axis=1))
        # What a little more of A is worth after each value: it falls, and the slopes rise.
        worth = -outside - (1.0 - drop) * (np.log(np.minimum(mean, 1.0)) + 1.0 + rho)
        wholly = inside | (free & (worth >= self.slope))
        left = free & ~wholly
        place = np.where(left.any(axis=1), left.argmax(axis=1), -1)
        mass, cost = wholly @ self.mass, np.where(wholly, self.cost, 0.0).sum(axis=1)
        slope = np.where(place >= 0, self.slope[place], np.inf)
        best_mean = np.exp((-outside - slope) / (1.0 - drop) - 1.0 - rho)
        room = np.where(place >= 0, self.mass[place], 0.0)
        part = np.clip((best_mean - drop) / (1.0 - drop) - mass, 0.0, room)
        place = np.where(part > 0, place, -1)
        mass = mass + part
        cost = cost + part * np.where(part > 0, slope, 0.0)
        mean = np.minimum(drop + (1.0 - drop) * mass, 1.0)
        bound = (1.0 - mass) * outside - mean * (np.log(mean) + rho) - drop * self.whole - cost
        return bound, wholly, place


def best_set(
    distribution: Floats,
    duals: Floats,
    drop: float,
    reduced_cost: Callable[[Booleans], Floats],
    *,
    gap: float,
    nodes: int,
) -> Found:
    """Find the set of values whose row has the greatest reduced cost, or a bound on it.

    Shapes: `distribution` (k,); `duals` (k,).
    """
    size, cost = len(duals), (1.0 - drop) * duals
    free = np.where(cost < 0, -np.inf, np.inf)  # a value without records costs something or gains
    slope = np.divide(cost, distribution, where=distribution > 0, out=free)
    order = np.argsort(slope, kind="stable")
    problem = _Relaxation(
        distribution[order], cost[order], slope[order], drop, float(np.sum(duals))
    )

    def as_asked(sets: Booleans) -> Booleans:
        found = np.zeros_like(sets)
        found[:, order] = sets
        return found

    met = [as_asked(np.tri(size, size, -1, dtype=bool))]
    rho = max(float(reduced_cost(met[0]).max()), 0.0) + gap
    branches = _Branches(np.zeros((1, size), dtype=bool), np.ones((1, size), dtype=bool))
    while len(branches.free) and nodes > 0:
        now, branches = branches.some(slice(-_BATCH, None)), branches.some(slice(None, -_BATCH))
        nodes -= len(now.free)
        bounds, wholly, place = problem.solve(now, rho)
        open_ = bounds > 0
        now, wholly, place = now.some(open_), wholly[open_], place[open_]
        in_part = np.flatnonzero(place >= 0)
        nearly = wholly[in_part].copy()
        nearly[np.arange(len(in_part)), place[in_part]] = True
        near = np.concatenate([wholly, nearly])
        near = as_asked(near[~near.all(axis=1)])
        if len(near):
            met.append(near)
            rho = max(rho, float(reduced_cost(near).max()) + gap)
        # The best whole set of a branch at one rho need not be the best at a greater one.
        whole = now.some(place < 0)
        branches = _joined(branches, now.some(in_part), place[in_part], whole)
    while len(branches.free) and problem.solve(branches, rho)[0].max() > 0:
        rho += gap
        gap *= 2.0
    return Found(np.concatenate(met), rho)


def _joined(branches: _Branches, parents: _Branches, place: Indices, again: _Branches) -> _Branches:
    """Add two branches for each parent, without one of its values and with it, and others again."""
    rows = np.arange(len(place))
    free, inside = parents.free.copy(), parents.inside.copy()
    free[rows, place] = False
    inside[rows, place] = True
    return _Branches(
        np.concatenate([branches.inside, again.inside, parents.inside, inside]),
        np.concatenate([branches.free, again.free, free, free]),
    )


# --- Sets of values, and their rows ---------------------------------------------------------------


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


# --- Partitions of the values into groups ---------------------------------------------------------


MANY_VALUES = 40  # up to so many, a search by small changes of simple sets finds what there is
# Chosen by hand, on tables of 2 x 300, 3 x 200, 5 x 60 and 10 x 100 cells.
_MOST_GROUPS, _GROWTH = 40, 1.25  # numbers of groups: up to so many, each so many times the last
_SPREAD = 0.7  # standard deviation of the logarithms of what the order of the values is shuffled by


def first_sets(conditionals: Floats, most: int, quick: bool = False) -> Booleans:
    """Return the sets that a search begins with: the simple ones, and even groups of many values.

    Shapes: `conditionals` (a1, k); returns (m, k).
    """
    simple = simple_sets(conditionals.shape[1])
    if not quick and conditionals.shape[1] <= MANY_VALUES:
        return simple
    return distinct_sets(np.concatenate([simple, even_groups(conditionals, most)]))


def even_groups(conditionals: Floats, most: int) -> Booleans:
    """Make groups of values by dealing them out, each value to where there is least.

    Shapes: `conditionals` (a1, k). Returns (m, k): the groups of partitions into 2, 3 and more
    groups, each group once; partitions differ by the order in which values are dealt out.
    """
    size, rng = conditionals.shape[1], np.random.default_rng(0)  # the design is deterministic
    numbers = [2]
    while (more := int(np.ceil(numbers[-1] * _GROWTH))) <= min(_MOST_GROUPS, size // 2):
        numbers.append(more)
    found = [
        _dealt(conditionals, number, max(most // (number * len(numbers)), 1), rng)
        for number in numbers
    ]
    return distinct_sets(np.concatenate(found))


def _dealt(
    conditionals: Floats, groups: int, partitions: int, rng: np.random.Generator
) -> Booleans:
    """Deal values out, large ones first: each to the group whose greatest sum stays least."""
    a1, size = conditionals.shape
    shuffled = np.exp(rng.normal(scale=_SPREAD, size=(partitions, size)))
    order = np.argsort(-conditionals.mean(axis=0) * shuffled, axis=1)
    sums, each = np.zeros((partitions, groups, a1)), np.arange(partitions)
    found = np.zeros((partitions, groups, size), dtype=bool)
    for value in order.T:
        added = conditionals[:, value].T
        group = (sums + added[:, None, :]).max(axis=2).argmin(axis=1)
        sums[each, group] += added
        found[each, group, value] = True
    return found.reshape(-1, size)


# --- The most informative mixture of rows ---------------------------------------------------------


_EXACT = 1e-9  # the linear program's tolerance: by how much mended weights may miss the column sums


class SetMixture:
    """The linear program over the sets that are known.

    Parameters
    ----------
    distribution : array of shape (k,)
        Distribution of the value.
    """

    def __init__(self, distribution: Floats) -> None:
        self.sets: Booleans = np.zeros((0, len(distribution)), dtype=bool)
        self.drop: Floats = np.zeros(0)
        self._known: set[bytes] = set()
        many = len(distribution) > MANY_VALUES
        self._program: _Program = (_OfFewEntries if many else _OfRows)(distribution)

    def add(self, sets: Booleans, drop: ArrayLike) -> int:
        """Add the sets that are new.

        Shapes: `sets` (m, k); `drop` (m,). Returns int: how many were new.
        """
        keys = [row.tobytes() for row in np.packbits(sets, axis=1)]
        new = []
        for place, key in enumerate(keys):
            if key not in self._known:
                self._known.add(key)
                new.append(place)
        if new:
            fresh, drops = sets[new], np.broadcast_to(drop, len(sets))[new].astype(float)
            self._program.add(fresh, drops)
            self.sets = np.concatenate([self.sets, fresh])
            self.drop = np.concatenate([self.drop, drops])
        return len(new)

    def solve(self, seconds: float | None = None) -> tuple[Floats, Floats, float]:
        """Solve for the best mixture.

        Shapes: returns `weights` (m,), `duals` (k,). Returns `value`: mutual information, in nats.
        """
        return self._program.solve(seconds)

    def matrix(self, weights: Floats) -> Floats:
        """Return a mixture as a mechanism, with columns that sum to 1 up to rounding.

        Shapes: `weights` (m,); returns (b, k).
        """
        places = used(weights)
        rows, weights = set_rows(self.sets[places], self.drop[places]), weights[places]
        # The solver leaves errors of 1e-9; a basis has as many rows as it needs to mend them.
        exact = np.asarray(np.linalg.lstsq(rows.T, np.ones(rows.shape[1]), rcond=None)[0], float)
        if exact.min() >= 0 and np.abs(exact @ rows - 1.0).max() < _EXACT:
            weights = exact
        return _stochastic(rows * weights[:, None], self.drop[places])


class _Program(Protocol):
    """A linear program whose variables are the weights of sets."""

    def add(self, sets: Booleans, drop: Floats) -> None:
        """Add sets and what rows are outside of them."""

    def solve(self, seconds: float | None) -> tuple[Floats, Floats, float]:
        """Return the weights of the sets, a dual variable for each value, and the information."""


class _OfRows:
    """The program as it is: a coefficient for each set and value."""

    def __init__(self, distribution: Floats) -> None:
        self._mixture = RowMixture(distribution)

    def add(self, sets: Booleans, drop: Floats) -> None:
        self._mixture.add(set_rows(sets, drop))

    def solve(self, seconds: float | None) -> tuple[Floats, Floats, float]:
        return self._mixture.solve(seconds)


class _OfFewEntries:
    """The same with a further variable and a further row, and few coefficients."""

    def __init__(self, distribution: Floats) -> None:
        self.distribution = distribution
        size = len(distribution)
        self._program = LinearProgram(np.zeros(0))
        sides = np.append(np.ones(size), 0.0)
        self._program.add_rows(np.zeros((size + 1, 0)), sides, sides)
        self._program.add_columns(np.zeros(1), np.append(np.ones(size), -1.0)[None])

    def add(self, sets: Booleans, drop: Floats) -> None:
        information = row_information(set_rows(sets, drop), self.distribution)
        large = sets.sum(axis=1) > sets.shape[1] / 2
        value = np.where(large, drop - 1.0, 1.0 - drop)
        entries = (sets != large[:, None]) * value[:, None]
        constant = np.where(large, 1.0, drop)
        self._program.add_columns(information, csr_array(np.column_stack([entries, constant])))

    def solve(self, seconds: float | None) -> tuple[Floats, Floats, float]:
        weights, duals, value = self._program.solve(seconds)
        return weights[1:], duals[:-1], value


def _stochastic(matrix: Floats, drop: Floats) -> Floats:
    """Mend column sums that are off by little, and keep the ratios within rows.

    A multiple of the all-ones row less the errors has the ratio that is allowed if the multiple
    is large enough; the sum of two rows with such a ratio has it too.
    """
    error = matrix.sum(axis=0) - 1.0
    row = int(np.where(drop < 1.0, matrix.max(axis=1), -1.0).argmax())
    low, high = float(error.min()), float(error.max())
    level = high if drop[row] >= 1.0 else (high - drop[row] * low) / (1.0 - drop[row])
    level = max(level, high)
    mended = matrix.copy()
    mended[row] += level - error
    return mended / (1.0 + level)


# --- The optimum ----------------------------------------------------------------------------------


_GROUPS = 200  # sets of many values that are made to begin with, roughly
_ROUNDING = 64.0 * np.finfo(float).eps  # of the sums of dual variables, for each value


@dataclass(frozen=True, eq=False)
class LocalOptimum:
    """The most informative local mechanism."""

    matrix: Floats  # (b, k), probability of each report given each value; b is at most k
    information: float  # I(V; Y) at the known distribution, in nats
    bound: float  # no δ-LDP mechanism has more
    rounds: int  # linear programs solved
    sets: Booleans = field(repr=False)  # (m, k), the sets of the reports, a start for another δ


def optimal_response(
    counts: ArrayLike,
    eps: float,
    *,
    gap: float = 1e-6,
    rounds: int = 200,
    first: Booleans | None = None,
    quick: bool = False,
) -> LocalOptimum:
    r"""Find the most informative local mechanism for an attribute with known counts.

    Maximises the mutual information between value and report over all mechanisms in which no two
    values differ by more than :math:`e^\epsilon` in the probability of any report.

    Shapes: `counts` (k,); `first` (m, k). Returns LocalOptimum: its bound is proven, whatever the
    tolerance of the linear programs. With more than ten values and more than ten million for the
    number of values times the number of records, counts are rounded while searching, and the bound
    is a little less close. Raises ValueError if the counts are not whole numbers with a positive
    sum, or ε is negative.

    For small ε the optimum asks whether the value is in one set that has about half of the
    records; for large ε it is randomised response. To find the best set is as hard as to part
    numbers into two equal sums, hence the work grows with the number of records.

    P. Kairouz, S. Oh and P. Viswanath, *Extremal mechanisms for local differential privacy*,
    Journal of Machine Learning Research 17, 2016, Theorems 2, 4, 5 and 6.

    Examples
    --------
    Only the sums matter here: {0, 1, 2} has half of the records, and so has {3}.

    >>> best = optimal_response([10, 10, 20, 40], 0.1)
    >>> sorted(best.matrix[:, 3].round(3).tolist())
    [0.475, 0.525]
    >>> round(best.information, 6), round(best.bound, 6)
    (0.001249, 0.001249)
    """
    whole = _whole(counts)
    if not eps >= 0:
        raise ValueError(f"eps={eps!r} must be a number >= 0 (in nats).")
    distribution = whole / whole.sum()
    if eps == 0 or len(whole) == 1:
        return LocalOptimum(np.ones((1, len(whole))), 0.0, 0.0, 0, simple_sets(len(whole))[:1])
    drop = float(np.exp(-eps))
    pricing = best_sets(whole, quick)
    mixture = SetMixture(distribution)
    start = first_sets(distribution[None], _GROUPS)
    mixture.add(start if first is None else np.concatenate([start, first]), drop)
    bound = _simple_bound(distribution, eps)
    weights, duals, value = mixture.solve()
    done = 0
    while done < rounds:
        done += 1
        sets, most = pricing.best(duals, drop)
        # With this multiple of the distribution added, the dual variables are feasible.
        rounding = _ROUNDING * len(whole) * float(np.abs(duals).sum())
        bound = min(bound, float(duals.sum()) + max(most, 0.0) + rounding)
        near = bound - value <= max(LEAST_GAIN, gap * value)
        if near or not mixture.add(sets, drop):
            break
        weights, duals, value = mixture.solve()
    matrix = mixture.matrix(weights)
    information = max(0.0, float(row_information(matrix, distribution).sum()))
    in_use = mixture.sets[used(weights)]
    return LocalOptimum(matrix, information, float(max(bound, information)), done, in_use)


def _simple_bound(distribution: Floats, eps: float) -> float:
    """Bound the information by the entropy and by what the odds ratio allows."""
    return (
        entropy(distribution)
        if np.isinf(eps)
        else mutual_information_bound(distribution[:, None], eps)
    )


def _whole(counts: ArrayLike) -> NDArray[np.int64]:
    table = np.asarray(counts)
    if table.ndim != 1 or not np.issubdtype(table.dtype, np.number):
        raise ValueError(f"counts must be a list of numbers, got shape {table.shape}.")
    if not np.all(np.isfinite(table)) or np.any(table < 0) or np.any(table != np.floor(table)):
        raise ValueError("counts must be integers >= 0.")
    whole = table.astype(np.int64)
    if whole.sum() <= 0:
        raise ValueError("counts are all zero.")
    return whole
