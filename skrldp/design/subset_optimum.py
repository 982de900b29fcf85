r"""The best local differential privacy for one attribute whose distribution is known.

Every δ-LDP mechanism is a mixture of rows :math:`1 + (e^\delta - 1) 1_A` over sets A of values
(Kairouz, Oh and Viswanath 2016), so the most informative one is a linear program over sets. It is
solved with the current sets, and its dual variables determine which set is missing.

**Fractional sets.** Up to its scale, a row is 1 on a set A and ``drop`` elsewhere. If m is the
probability of A, the row's reduced cost minus a multiple ρ of its probability is :math:`h_\rho(m) -
\sum_{s \in A} c_s`, with a concave function h. All sets of the most frequent values are tried. To
bound all sets, the other values may be fractionally in A. Then the best A contains them in the
order of :math:`c_s / P_s` up to some point, and at most one of them fractionally. This requires
only cumulative sums, and the sets are nearly optimal without the fractional value.

**Partitions** divide the values into groups whose probability is about the same under every secret.
Whether U is in such a group reveals little about S, so reports may contain much information about
it. The groups of a partition also have similar probabilities.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._typing import Booleans, Floats
from skrldp.design.limits import MOST_ENTRIES, MOST_ROUNDS, ROUNDING, SPREAD, Limits
from skrldp.design.programs import RowMixture, used
from skrldp.information import entropy, row_information
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements

# --- Bounds by formulas --------------------------------------------------------------------------


def most_of_small_shares(eps: float) -> float:
    r"""Bound the information of an ε-LDP report about a value, for every distribution of it.

    With :math:`M = \epsilon / (e^\epsilon - 1)` it is :math:`M - 1 - \log M`, the largest
    :math:`m e^\epsilon \epsilon / p - \log p` with :math:`p = 1 - m + m e^\epsilon`. This belongs
    to a report that is :math:`e^\epsilon` times as probable under values with a total share of m.
    The bound is nearly attained if there are many values with small shares.

    Returns float: in nats, for a positive `eps`.

    Examples
    --------
    >>> round(most_of_small_shares(1.0), 4)
    0.1233
    """
    if eps < 1e-4:
        return eps * eps / 8.0  # to eight digits
    mean = eps * np.exp(-eps) / -np.expm1(-eps)
    return float(mean - 1.0 - np.log(eps) + eps + np.log(-np.expm1(-eps)))


def mutual_information_bound(joint: Floats, eps: float, marginal: Floats | None = None) -> float:
    r"""Upper bound on I(X; Y) for every mechanism that is private at the distribution ``joint``.

    :math:`H(U|S) + \min(H(S), (1-\sum_s P_s^2)\,\epsilon\tanh(\epsilon/2), M - 1 - \log M)`:
    the report reveals about U at most its entropy given S, and about S at most what the bound on
    the odds ratio allows; see :func:`most_of_small_shares` for the last.

    Shapes: `joint` (a1, a2); `marginal` (n_secrets,), the distribution of the protected attribute
    if it is not S. Returns float: in nats.
    """
    marginal = joint.sum(axis=1) if marginal is None else marginal
    secret = entropy(marginal)
    odds = (1.0 - float(marginal @ marginal)) * eps * np.tanh(eps / 2.0)
    told = min(secret, float(odds), most_of_small_shares(eps) if eps > 0 else 0.0)
    return entropy(joint) - secret + told


# --- Sets with the largest reduced costs ----------------------------------------------------------


class BestSets(NamedTuple):
    """Sets with positive reduced costs, and a bound."""

    sets: Booleans  # (m, k), in descending order
    bound: float  # upper bound on the reduced cost of a set, per unit of its row's probability


def best_sets(
    distribution: Floats, duals: Floats, drop: float, n_whole: int | None = None
) -> BestSets:
    """Find sets of values whose rows have large reduced costs.

    The `n_whole` most frequent values are in a set or not; to bound all sets, the others may be
    partly in it. By default, these are all values if there are at most 16, otherwise ten: twice as
    many would take a thousand times as long. Shapes: `distribution` (k,); `duals` (k,).
    """
    size = len(duals)
    if drop <= 0:
        return BestSets(np.zeros((0, size), dtype=bool), np.inf)
    cost, outside = (1.0 - drop) * duals, drop * np.log(drop)
    slope = np.where(cost < 0, -np.inf, np.inf)  # a value without records only costs or only gains
    np.divide(cost, distribution, where=distribution > 0, out=slope)
    order = np.argsort(-distribution, kind="stable")
    if n_whole is None:
        n_whole = size if size * 2.0**size <= MOST_ENTRIES else 10
    frequent, others = order[:n_whole], order[n_whole:]
    # The order in which the best sets contain them
    others = others[np.argsort(slope[others], kind="stable")]
    slope = np.append(slope[others], np.inf)
    state = np.arange(2 ** len(frequent))
    sets = np.zeros((len(state), size), dtype=bool)
    sets[:, frequent] = (state[:, None] >> np.arange(len(frequent))) % 2 == 1
    masses, costs = (
        np.column_stack([sets @ each, np.tile(each[others], (len(state), 1))]).cumsum(axis=1)
        for each in (distribution, cost)
    )
    means = np.minimum(drop + (1.0 - drop) * masses, 1.0)
    rho, near = 0.0, 1e-9 * most_of_small_shares(-float(np.log(drop)))
    for _ in range(MOST_ROUNDS):  # Dinkelbach's method: the largest gains at a multiple ρ
        worth = -outside - (1.0 - drop) * (np.log(means[:, 1:]) + 1.0 + rho)
        last = np.count_nonzero(worth >= slope[:-1], axis=1)
        start, end = means[state, last], means[state, np.minimum(last + 1, len(others))]
        best_mean = np.exp((-outside - slope[last]) / (1.0 - drop) - 1.0 - rho)
        mean = np.clip(best_mean, start, end)
        part = (mean - start) / (1.0 - drop)
        spent = costs[state, last] + part * np.where(part > 0.0, slope[last], 0.0)
        gains = (1.0 - masses[state, last] - part) * outside - mean * (np.log(mean) + rho)
        gains -= drop * float(duals.sum()) + spent
        if gains.max() <= near * drop:
            break
        rho += float((gains / mean).max())
    bound = rho + max(float(gains.max()), 0.0) / drop
    sets[:, others] = np.arange(len(others)) < last[:, None]
    gains = reduced_profit(sets @ distribution, sets @ duals, float(duals.sum()), drop)
    best = sets[np.argsort(-gains, kind="stable")[:size]]
    sets = np.concatenate([best, _neighbours(best, distribution, duals, drop)])
    sets = sets[~sets.all(axis=1)]
    gains = reduced_profit(sets @ distribution, sets @ duals, float(duals.sum()), drop)
    best_first = np.argsort(-gains, kind="stable")
    return BestSets(sets[best_first[gains[best_first] > near]], bound)


def _neighbours(sets: Booleans, distribution: Floats, duals: Floats, drop: float) -> Booleans:
    """Find the best sets that differ from given sets in one value, one for each value.

    Without these, degenerate dual variables would remain degenerate for many rounds.
    """
    more = np.where(sets, -1.0, 1.0)
    mass = (sets @ distribution)[:, None] + more * distribution
    spent = (sets @ duals)[:, None] + more * duals
    gains = reduced_profit(mass, spent, float(duals.sum()), drop)
    best = np.argsort(-gains, axis=None, kind="stable")[: len(duals)]
    row, value = np.unravel_index(best, gains.shape)
    return sets[row] ^ (np.arange(len(duals)) == value[:, None])


# --- Sets of values, and their rows ---------------------------------------------------------------


def simple_sets(size: int) -> Booleans:
    """Return the initial sets: the empty set, each single value, and all values except one.

    Shapes: returns (m, k).
    """
    single = np.eye(size, dtype=bool)
    parts = [np.zeros((1, size), dtype=bool)]
    if size > 1:
        parts.append(single)
    if size > 2:
        parts.append(~single)
    return np.concatenate(parts)


def distinct_sets(sets: Booleans) -> Booleans:
    """Remove duplicate sets.

    Shapes: `sets` (m, k). Returns (n, k), in the same order.
    """
    _, places = np.unique(np.packbits(sets, axis=1), axis=0, return_index=True)
    return sets[np.sort(places)]


def set_rows(sets: Booleans, drop: ArrayLike) -> Floats:
    """Return rows that are 1 on a set and ``drop`` elsewhere.

    Shapes: `sets` (m, k); `drop` (m,); returns (m, k).
    """
    return np.where(sets, 1.0, np.broadcast_to(drop, len(sets))[:, None])


def reduced_profit(mass: Floats, duals: Floats, whole: float, drop: ArrayLike) -> Floats:
    """Return the reduced costs of rows per unit of their probability.

    Shapes: `mass` (m,); `duals` (m,); `drop` (m,). Returns (m,): in nats.
    """
    drop = np.asarray(drop, dtype=float)
    mean = np.minimum(mass + (1.0 - mass) * drop, 1.0)
    outside = drop * np.log(np.where(drop > 0, drop, 1.0))
    logs = np.log(np.where(mean > 0, mean, 1.0))
    gain = (1.0 - mass) * outside - mean * logs
    spent = drop * whole + (1.0 - drop) * np.where(drop < 1.0, duals, 0.0)
    return (gain - spent) / np.maximum(mean, np.finfo(float).tiny)


# --- The optimum ----------------------------------------------------------------------------------


def _stochastic(matrix: Floats, drop: float) -> Floats:
    """Correct column sums with small errors, without increasing the ratios within rows.

    A multiple of the all-ones row minus the errors has an allowed ratio if the multiple is large
    enough, and the sum of two rows with an allowed ratio also has an allowed ratio.
    """
    error = matrix.sum(axis=0) - 1.0
    level = max(float(error.max() - drop * error.min()) / (1.0 - drop), float(error.max()))
    mended = matrix.copy()
    mended[matrix.max(axis=1).argmax()] += level - error
    return mended / (1.0 + level)


@dataclass(frozen=True, eq=False)
class LocalOptimum:
    """The most informative local mechanism."""

    matrix: Floats  # (b, k), probability of each report given each value; b is at most k
    information: float  # I(V; Y) at the known distribution, in nats
    bound: float  # upper bound for all δ-LDP mechanisms
    rounds: int  # linear programs solved


def optimal_response(
    counts: NDArray[np.int64], eps: float, *, gap: float = 1e-6, limits: Limits | None = None
) -> LocalOptimum:
    r"""Find the most informative local mechanism for an attribute with known counts.

    Maximises the mutual information between value and report over all mechanisms in which no two
    values differ by more than :math:`e^\epsilon` in the probability of any report.

    Shapes: `counts` (k,). Returns LocalOptimum: its bound is proved, whatever the tolerance of the
    linear programs.

    For small ε, the optimum reports whether the value is in a set with about half of the records;
    for large ε, it is randomised response. Finding the best set is as hard as dividing numbers into
    two groups of equal sum.

    P. Kairouz, S. Oh and P. Viswanath, *Extremal mechanisms for local differential privacy*,
    Journal of Machine Learning Research 17, 2016, Theorems 2, 4, 5 and 6.

    Examples
    --------
    Only sums of counts matter: {0, 1, 2} contains half of the records, and so does {3}.

    >>> best = optimal_response([10, 10, 20, 40], 0.1)
    >>> sorted(best.matrix[:, 3].round(3).tolist())
    [0.475, 0.525]
    >>> round(best.information, 6), round(best.bound, 6)
    (0.001249, 0.001249)
    """
    distribution, drop = np.asarray(counts) / np.sum(counts), float(np.exp(-eps))
    size = len(distribution)
    if drop == 1.0 or size == 1:
        return LocalOptimum(np.ones((1, size)), 0.0, 0.0, 0)
    sets = simple_sets(size)
    mixture = RowMixture(distribution)
    bound = _simple_bound(distribution, eps)
    unit = bound or 1.0  # at a small ε, the information is below a linear program's tolerance

    def mixed(more: Booleans) -> tuple[Floats, Floats, float]:
        rows = set_rows(more, drop)
        mixture.add(rows, row_information(rows, distribution) / unit)
        weights, duals, value = mixture.solve()
        return weights, duals * unit, value * unit

    weights, duals, value = mixed(sets)
    done = 0
    while mixture.rows.size <= MOST_ENTRIES and not (limits is not None and limits.met):
        done += 1
        found = best_sets(distribution, duals, drop)
        # If this multiple of the distribution is added, the dual variables are feasible.
        rounding = ROUNDING * size * float(np.abs(duals).sum())
        bound = min(bound, float(duals.sum()) + max(found.bound, 0.0) + rounding)
        known, sets = len(sets), distinct_sets(np.concatenate([sets, found.sets]))
        if bound - value <= gap * value or len(sets) == known:
            break
        weights, duals, value = mixed(sets[known:])
    in_use = used(weights)
    matrix = _stochastic(mixture.rows[: len(weights)][in_use] * weights[in_use, None], drop)
    information = max(0.0, float(row_information(matrix, distribution).sum()))
    return LocalOptimum(matrix, information, float(max(bound, information)), done)


def _simple_bound(distribution: Floats, eps: float) -> float:
    """Bound the information by the entropy and by what the odds ratio allows."""
    return (
        entropy(distribution)
        if np.isinf(eps)
        else mutual_information_bound(distribution[:, None], eps)
    )


# --- Reports on groups of values ------------------------------------------------------------------


def even_groups(conditionals: Floats, most: int) -> Booleans:
    """Partition values into groups of similar probability under every secret.

    Shapes: `conditionals` (a1, k). Returns (m, k): the groups of partitions into 2, 3 and more
    groups, each group once; partitions differ by the order in which values are dealt out.
    """
    size, rng = conditionals.shape[1], np.random.default_rng(0)  # the design is deterministic
    numbers = [2]
    while (more := math.ceil(numbers[-1] * 1.25)) <= min(math.isqrt(most), size // 2):
        numbers.append(more)
    found = [
        _dealt(conditionals, number, max(most // (number * len(numbers)), 1), rng)
        for number in numbers
    ]
    sets = distinct_sets(np.concatenate(found))
    return sets[sets.any(axis=1)]


def _dealt(
    conditionals: Floats, groups: int, partitions: int, rng: np.random.Generator
) -> Booleans:
    """Assign values in descending order, each to the group whose largest sum remains smallest."""
    a1, size = conditionals.shape
    shuffled = np.exp(rng.normal(scale=SPREAD, size=(partitions, size)))
    order = np.argsort(-conditionals.mean(axis=0) * shuffled, axis=1)
    sums, each = np.zeros((partitions, groups, a1)), np.arange(partitions)
    found = np.zeros((partitions, groups, size), dtype=bool)
    for value in order.T:
        added = conditionals[:, value].T
        group = (sums + added[:, None, :]).max(axis=2).argmin(axis=1)
        sums[each, group] += added
        found[each, group, value] = True
    return found.reshape(-1, size)


def group_reporting(
    joint: JointDistribution, requirements: Requirements, n_sets: int = 800
) -> Floats | None:
    """Report whether U is in one of many balanced groups of values, without a search.

    Each set has as large an odds ratio as the requirements allow for that set, whereas randomised
    response is limited by the worst value. With half as many sets, up to 20 % is lost at 10 x 100
    and 25 x 40 cells.

    Returns (b, n_cells): a private mechanism; None if the computation would be too large.
    """
    size = joint.counts.shape[1]
    if len(joint.conditionals) * size * (size + n_sets) > MOST_ENTRIES:
        return None
    sets = np.concatenate(
        [np.ones((1, size)), np.eye(size), even_groups(joint.conditionals, n_sets)]
    )
    again = requirements.n_cells // size  # every secret has the same part of a row
    rows = requirements.shift(np.tile(sets, again))[:, :size]
    mixture = RowMixture(joint.probabilities.sum(axis=0))
    mixture.add(rows)
    weights, _, _ = mixture.solve()
    return np.tile((mixture.rows * weights[:, None])[used(weights)], again)
