r"""Independent reports of S and of U that are nearly the best, in little time.

S is reported by the most informative ε1-LDP mechanism for its public distribution
(:func:`~skrldp.design.subset_optimum.optimal_response`). The report of U is a mixture of rows
:math:`1 + (e^{\delta_A} - 1) 1_A`, each of which tells whether U is in a set A. Such a row leaks
at most ε2 about S if and only if

.. math:: (e^{\delta_A} - 1) \max (R_1(A) - e^{\epsilon_2} R_2(A)) \le e^{\epsilon_2} - 1,

so every set has a budget of its own: large where the conditionals agree on the set. Randomised
response must give all its rows the budget of the worst value. With several requirements a set has
the least of its budgets; one over all distributions limits all sets alike.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import chunks
from skrldp._typing import Booleans, Floats, Indices
from skrldp.design.closed_form import (
    SplitSearch,
    about_whole_secrets,
    best_split,
    least_odds,
    response_matrix,
)
from skrldp.design.programs import used
from skrldp.design.run import Limits
from skrldp.design.subset_optimum import (
    NEW_SETS,
    SetMixture,
    all_sets,
    best_sets,
    distinct_sets,
    first_sets,
    optimal_response,
    reduced_profit,
    simple_sets,
)
from skrldp.information import mutual_information, product_information
from skrldp.joint import JointDistribution
from skrldp.privacy.regions import Region
from skrldp.privacy.requirements import Requirements
from skrldp.privacy.screening import odds_factor, screened_maxima

_CHUNK = 2_000_000  # sets times pairs of secrets in memory: 16 MB for each array
_FIRST_PAIRS = 4  # pairs of secrets, for each set, whose exact worst case is taken at once


def secrets_of(region: Region, n_values: int) -> Indices:
    """Find the secret that each secret of a region belongs to.

    Returns (n_secrets,): places of values of S.
    """
    return region.rows.parts[region.rows.place, 0] // n_values


def set_drops(region: Region, sets: Booleans, budgets: Floats) -> Floats:
    r"""Find the most that reports on sets of values may say: exp(-δ) for each set.

    Shapes: `sets` (m, a2); `budgets` (n_pairs,). Returns (m,): from 0 (whether U is in the set may
    be said) to 1 (nothing may be said of it, or there is nothing to say: the set has no values, or
    all).
    """
    first, _ = region.pairs
    odds = np.zeros(len(sets))
    probabilities, possible = by_value(region, sets.shape[1])
    number = possible.sum(axis=1)[:, None]
    for part in chunks(len(sets), max(_CHUNK // max(len(first), 1), 1)):
        # Each set stands for a value: bounds and gaps are those of one value at a time.
        inside = sets[part].T.astype(float)
        mass = np.clip(probabilities @ inside, 0.0, 1.0)
        found = possible @ inside
        asked = (found > 0) & (found < number)  # else it is known whether U is in the set
        odds[part] = _odds(replace(region, conditionals=mass, layout=None), asked, budgets)
    unsaid = np.isinf(odds) | ~sets.any(axis=1) | sets.all(axis=1)
    return np.where(unsaid, 1.0, odds / (1.0 + np.where(unsaid, 0.0, odds)))


def by_value(region: Region, n_values: int) -> tuple[Floats, Floats]:
    """Return the probability of each value of U under each secret, and 1 where it is possible.

    Shapes: returns `probabilities, possible` (n_secrets, n_values).
    """
    values = (region.rows.parts % n_values)[region.rows.place]
    probabilities, possible = np.zeros((2, region.n_secrets, n_values))
    secret = np.arange(region.n_secrets)[:, None]
    np.add.at(probabilities, (secret, values), region.conditionals)
    possible[secret, values] = 1.0
    return probabilities, possible


def _odds(region: Region, asked: Booleans, budgets: Floats) -> Floats:
    """Greatest (R1 - e^ε R2) / (e^ε - 1) of each value, with the pair's ε; 0 where it is less.

    Only secrets for which the value is asked count.
    """
    lower, upper = region.cell_bounds()
    first, second = region.pairs
    room = np.expm1(budgets)

    def exact(value: Indices, pair: Indices) -> Floats:
        gap = region.value_gap(value, first[pair], second[pair], budgets[pair])
        return least_odds(gap, room[pair])

    # Each conditional alone is an upper bound.
    rough = least_odds((upper[first] - odds_factor(budgets)[:, None] * lower[second]).T, room)
    rough[~(asked[first] | asked[second]).T] = 0.0
    if not region.shared(first, second).any():  # then that is exact
        return np.asarray(rough.max(axis=1, initial=0.0))
    return screened_maxima(rough, exact, _FIRST_PAIRS)


# Pairs of secrets times values of U that can be looked at in some seconds. A table of 200 x 5 cells
# has 199,000.
_MOST_WORK = 250_000
_SEARCHES = 3  # for sets of values
# Splits of the budget: on up to 40 cells some 30, which is within
# a hundredth of the best on small tables; beyond, all of it for one of the two reports.
_SPLITS, _ENDS = SplitSearch(grid=9, fine=5, levels=3), SplitSearch(grid=2, fine=2, levels=0)
_FEW_CELLS = 40
_GAP = 1e-5  # relative gap of the mechanisms while splits are compared

# The search for sets. All are tried if there are at most so many, times the pairs of secrets (which
# count for eight at most).
_LISTED, _PAIRS_THAT_COUNT = 1 << 12, 8
_NEIGHBOURS = 60_000  # sets times pairs of secrets that one round may evaluate
_NEIGHBOUR_SETS = (64, 3_000)  # and the range of sets that this leaves
_FLIPS = 10_000  # neighbours of sets from which those are drawn
_KEPT = 400  # sets that all splits try, besides the simple ones
_LEAST = 1e-9  # nats that a set must be worth
# Linear programs of one search: so many by the number of values, within the range; few while
# splits are compared.
_PROGRAMS, _PROGRAM_RANGE, _PROGRAMS_WHILE_COMPARING = 600, (8, 50), 3
_PROGRAM_SIZE = 700_000  # but no more than this divided by the squared number of values


@dataclass(frozen=True, eq=False)
class _ProductReporting:
    """Independent reports of S and of U, each by a mechanism of its own."""

    first: Floats  # (b1, a1), mechanism for S
    second: Floats  # (b2, a2), mechanism for U
    information: float  # I(X; Y) at the public distribution, in nats

    @property
    def matrix(self) -> Floats:
        """The mechanism on cells, shape (b1 * b2, a1 * a2)."""
        matrix: Floats = np.kron(self.first, self.second).astype(float)
        return matrix


def quick_reporting(
    joint: JointDistribution, requirements: Requirements, limits: Limits | None = None
) -> Floats | None:
    """Design independent reports: of S and of U, each the best of GRR and an optimised mechanism.

    To spend all of the budget on the report of U is mostly the best, for large budgets and few
    cells often some split of it.

    Returns (b, n_cells): a mechanism that is private up to rounding. None where requirements are
    about other secrets than those of ``joint``, nothing is compared, or there is too much to do.
    """
    a1, a2 = joint.counts.shape
    work = requirements.n_pairs * a2
    if not 0 < work <= _MOST_WORK:
        return None
    eps, blind = requirements.least_eps, requirements.n_cells < joint.counts.size
    if not blind and not all(about_whole_secrets(one, joint) for one in requirements):
        return None
    values = _OwnBudgets(joint, requirements, limits)
    for _ in range(_SEARCHES):
        values.improve(eps)
    if blind:
        of_values = values.reports(np.ones((1, a1)), 0.0, eps)
        public = joint.probabilities.sum(axis=0)
        return max(of_values, key=lambda report: mutual_information(report, public))
    secrets = _LocalReports(joint.people.sum(axis=1), eps)
    search = _SPLITS if joint.counts.size <= _FEW_CELLS else _ENDS

    def split(parts: Floats) -> list[_ProductReporting]:
        return [_best_pair(joint, secrets, values, eps - part, part) for part in parts.tolist()]

    return best_split(split, eps, search).matrix


def _best_pair(
    joint: JointDistribution,
    secrets: "_LocalReports",
    values: "_OwnBudgets",
    secret_eps: float,
    leak: float,
) -> _ProductReporting:
    """Try all combinations: the parts' information does not just add up."""
    firsts = [secrets.design(secret_eps)]
    if secret_eps > 0:  # a budget of 0 leaves nothing to say
        firsts.append(response_matrix(secret_eps, len(joint.secrets)))
    found = [
        _ProductReporting(first, second, product_information(first, second, joint.probabilities))
        for first in firsts
        for second in values.reports(first, secret_eps, leak)
    ]
    return max(found, key=lambda result: result.information)


class _LocalReports:
    """The most informative δ-LDP mechanism for given counts, at many δ."""

    def __init__(self, counts: NDArray[np.int64], eps: float) -> None:
        self.counts = counts
        self.sets = simple_sets(len(counts))
        self.design(eps, _programs(len(counts)))

    def design(self, eps: float, rounds: int = _PROGRAMS_WHILE_COMPARING) -> Floats:
        """Design the mechanism for a δ; its sets are kept as a start for the next."""
        best = optimal_response(self.counts, eps, gap=_GAP, rounds=rounds, first=self.sets)
        self.sets = _kept(self.sets, best.sets)
        return best.matrix


class _OwnBudgets:
    """For each set of values the budget that the requirements allow it."""

    def __init__(
        self, joint: JointDistribution, requirements: Requirements, limits: Limits | None = None
    ) -> None:
        self.requirements, self.limits = requirements, limits or Limits()
        self.counts = joint.people.sum(axis=0)
        self.distribution = self.counts / self.counts.sum()
        size = len(self.counts)
        self.pairs = max(requirements.n_pairs, 1)
        self.all = 2**size * min(self.pairs, _PAIRS_THAT_COUNT) <= _LISTED
        self.most = int(np.clip(_NEIGHBOURS // self.pairs, *_NEIGHBOUR_SETS))
        under = [by_value(one.region, size)[0] for one in requirements]
        quick = self.limits.left is not None
        self.sets = (
            all_sets(size) if self.all else first_sets(np.concatenate(under), self.most, quick)
        )

    def reports(self, first: Floats, secret_eps: float, leak: float) -> list[Floats]:
        """Return mechanisms for U, optimised and GRR, to go with one for S."""
        unspent = secret_eps - np.minimum(_leaks(first), secret_eps)
        drops = self._drops(self.sets, leak, unspent)
        mixture = SetMixture(self.distribution)
        mixture.add(self.sets, drops)
        weights, _, _ = mixture.solve()
        worst = float(drops[self.sets.sum(axis=1) == 1].max(initial=0.0))  # GRR has one δ
        delta = -float(np.log(worst)) if worst > 0 else np.inf
        return [mixture.matrix(weights), response_matrix(delta, len(self.distribution))]

    def _drops(self, sets: Booleans, part: float, unspent: Floats | None = None) -> Floats:
        """Find the drops that all requirements allow, if `part` is left of the least ε.

        More is left for pairs of secrets of which the report of S says less than it may.
        """
        drops = np.zeros(len(sets))
        for one in self.requirements:
            budgets = np.full(one.n_pairs, one.eps - self.requirements.least_eps + part)
            if unspent is not None:
                secret = secrets_of(one.region, sets.shape[1])
                first, second = one.region.pairs
                budgets = budgets + unspent[secret[first], secret[second]]
            drops = np.maximum(drops, set_drops(one.region, sets, budgets))
        return drops

    def improve(self, part: float) -> None:
        """Find sets that are worth having at this ε2, from those in use to their neighbours."""
        if self.all:
            return
        rng = np.random.default_rng(0)  # the design is deterministic
        pricing = best_sets(self.counts)
        known, drops = self.sets, self._drops(self.sets, part)
        mixture = SetMixture(self.distribution)
        mixture.add(known, drops)
        weights, duals, value = mixture.solve()
        for _ in range(_programs(len(self.distribution))):
            if self.limits.left == 0.0:
                break
            in_use = used(weights)
            guesses, _ = pricing.best(duals, float(np.median(mixture.drop[in_use])))
            promising, _ = _worthwhile(known, drops, self.distribution, duals, -np.inf)
            near = _neighbours(np.concatenate([mixture.sets[in_use], promising]), rng)
            new = _new(np.concatenate([guesses, near]), known)
            if len(new) > self.most:
                new = new[rng.choice(len(new), self.most, replace=False)]
            known = np.concatenate([known, new])
            drops = np.concatenate([drops, self._drops(new, part)])
            least = max(_LEAST, _GAP * value)
            if not mixture.add(*_worthwhile(known, drops, self.distribution, duals, least)):
                break
            try:
                weights, duals, value = mixture.solve(self.limits.left)
            except TimeoutError:  # the sets of the last program that ended
                break
        self.sets = _kept(self.sets, mixture.sets[: len(weights)][used(weights)])


def _leaks(matrix: Floats) -> Floats:
    """Return how much a report of S leaks about each two secrets at most, in nats: (a1, a1)."""
    worst = np.zeros((matrix.shape[1],) * 2)
    for row in matrix:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(row[:, None] / row)
        worst = np.fmax(worst, ratio)
    return worst


def _worthwhile(
    sets: Booleans, drops: Floats, distribution: Floats, duals: Floats, least: float
) -> tuple[Booleans, Floats]:
    """Pick the sets with the greatest reduced costs, and more than the least."""
    gains = reduced_profit(sets @ distribution, sets @ duals, float(duals.sum()), drops)
    order = np.argsort(-gains, kind="stable")[: NEW_SETS * len(distribution)]
    order = order[gains[order] > least]
    return sets[order], drops[order]


def _neighbours(sets: Booleans, rng: np.random.Generator) -> Booleans:
    """Change one value or two of each set; if there are too many ways, some."""
    size = sets.shape[1]
    one, other = np.triu_indices(size)  # the same one twice: a single change
    if len(sets) * len(one) <= _FLIPS:
        which, flip = (index.ravel() for index in np.indices((len(sets), len(one))))
    else:
        which, flip = rng.integers(len(sets), size=_FLIPS), rng.integers(len(one), size=_FLIPS)
    near = sets[which].copy()
    each = np.arange(len(near))
    near[each, one[flip]] ^= True
    twice = one[flip] != other[flip]
    near[each[twice], other[flip][twice]] ^= True
    return near


def _new(sets: Booleans, known: Booleans) -> Booleans:
    """Return those that are not known yet, each once; the full set is the empty one."""
    sets = distinct_sets(sets[~sets.all(axis=1)])
    seen = {row.tobytes() for row in np.packbits(known, axis=1)}
    return sets[[row.tobytes() not in seen for row in np.packbits(sets, axis=1)]]


def _kept(sets: Booleans, used: Booleans) -> Booleans:
    """Put the sets in use before the others, and the simple ones before all."""
    simple = simple_sets(sets.shape[1])
    return distinct_sets(np.concatenate([simple, used, sets]))[: len(simple) + _KEPT]


def _programs(size: int) -> int:
    """Linear programs for one search: they take long where there are many values."""
    return min(int(np.clip(_PROGRAMS // size, *_PROGRAM_RANGE)), _PROGRAM_SIZE // size**2)
