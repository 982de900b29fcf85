"""Simplicial decomposition: rows that ascend by themselves, and all of them mixed.

A criterion that is concave in the weights of rows (:mod:`skrldp.design.criteria`) has a price for
each row at the best mixture of those known so far. Prices are convex, so the linear function that
touches the price at some row is below it everywhere. The private row that maximises this function
is worth at least as much; central paths (:mod:`skrldp.design.central_path`) find it for many
rows at once. The rows found join the others and are mixed again, until little is gained.
"""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.design.alternation import path_requirements
from skrldp.design.column_generation import SAME_DIGITS, ascend_along_paths
from skrldp.design.constraint_blocks import path_blocks
from skrldp.design.criteria import Criterion, Mixture
from skrldp.design.limits import LITTLE, SPREAD, TOL, Limits
from skrldp.design.newton_system import Block
from skrldp.design.programs import LEAST_GAIN
from skrldp.privacy.requirements import Requirement, Requirements

# Rows that ascend at once. Twice as many take twice the time, in half as many rounds.
_ROWS = 50
# Rounds that gain too little before the search ends; the last ones alone where more than a little
# may be lost: half as many lose 1 % of tables of pairs, in two thirds of the time.
_PATIENCE = 6
# Rounds that are the last ones. So many times as many must gain too little where they promised more
# than the gap of the first mixture: those are degenerate. Without, 7 x 16 cells end after 9 rounds
# at 22.5, instead of 17.
_LATELY = 3
# Gap of a mixture, in units of what the best rows of the last rounds promised, and that of the
# first. Prices of a mixture in the middle of its path make better rows: 1e-3 instead of the second
# takes a quarter longer at 6 x 15 cells.
_GAP, _MOST_GAP = 0.03, 0.1
# Promise of the last rounds, relative, from which on a search is degenerate. At .1 tables of 24 to
# 96 cells take a third longer and end no lower.
_MUCH = 0.3
# That of the last mixture, in units of the gain at which a search ends. Twice as much loses that.
_LAST_GAP = 0.1
# Time for the last mixture and the choice of its rows, in units of the mixture before. With half of
# it, mechanisms at hundreds of cells have five times as many reports.
_LAST_MIXTURES = 4.0
# Gap at which rows' paths end, in units of the gap of a mixture. Three times as much ends 3 %
# higher at 6 x 16 cells after 20 s of a processor.
_END = 0.03
# Rows of sets that are mixed at first, those that are worth most: so many, or one for each cell.
# With twice as many, 434 cells take a tenth longer.
_SETS = 200
# Rows of two levels ascend first, so many for each value of U, until the last rounds gain less than
# a little, relatively. At 2 x 65 cells the sum of variances is 3.25 after 2.2 s of a processor, in
# place of 3.22 after 6.1 s.
_OF_VALUE, _LITTLE = 4, 0.01


def decompose(
    criterion: Criterion,
    requirements: Requirements,
    first: list[Floats],
    *,
    limits: Limits,
    callback: Callable[[float], None] = lambda value: None,
    gain: float = TOL,
) -> tuple[Floats, int, int, str, float | None]:
    """Let rows ascend, and mix them.

    Shapes: `first` (m, a). Returns `matrix` (b, a): the best mechanism, or the first one where time
    was over before any mixture; `n_rows`: number of rows that were mixed; `rounds`: how often some
    ascended; `status`: ``"converged"``, ``"iteration_limit"`` or ``"time_limit"``; `promise`: the
    largest reduced cost of the last rounds' rows, for a whole mechanism of such rows, or None if
    there were too few rounds. The search ends when its last rounds have gained less than `gain`,
    relatively.
    """
    search = _Search(criterion, requirements, first, limits, callback, gain)
    status = search.run()
    matrix = search.best
    with suppress(TimeoutError):
        matrix = search.last()
    return matrix, search.n_rows, search.rounds, status, search.promise


class _Search:
    """The rows known so far, their mixture, and the best mechanism."""

    def __init__(
        self,
        criterion: Criterion,
        requirements: Requirements,
        first: list[Floats],
        limits: Limits,
        callback: Callable[[float], None],
        gain: float,
    ) -> None:
        self.gain = gain
        self.requirements, self.limits, self.callback = requirements, limits, callback
        self.blocks = _blocks(requirements)
        self.rng = np.random.default_rng(0)  # the design is deterministic
        self.mixture = criterion.mixture(rough=gain > _LITTLE)
        self.two_levels = two_levels(requirements)
        self.best, self.value = first[0], -np.inf  # until some are mixed
        self.values: list[float] = []
        self.promised = [_MOST_GAP / _GAP]
        self.rounds = self.n_rows = 0
        # The shifted unit rows put the all-ones vector inside the cone of the rows, so a strictly
        # positive mixture exists. They stay.
        self._add(requirements.shift(np.eye(requirements.n_cells)))
        rows = np.concatenate(first)
        rows = rows / rows.sum(axis=1, keepdims=True)
        different = np.unique(np.round(rows, SAME_DIGITS), axis=0, return_index=True)[1]
        self._add(rows[np.sort(different)])

    def run(self) -> str:
        """Search; return the status."""
        try:
            return self._search()
        except TimeoutError:
            return "time_limit"

    def _search(self) -> str:
        if self.requirements.any_pair:  # few rows are mixed before many, lest time runs out
            self._mix()
            rows = self.requirements.shift(set_indicators(self.requirements))
            worth = self.mixture.reduced_costs(rows)
            self._add(rows[np.argsort(-worth, kind="stable")[: max(rows.shape[1], _SETS)]])
        while not self._ended():
            began = self.limits.elapsed
            weights = self._mix()
            left = self.limits.left
            if left is not None and left < _LAST_MIXTURES * (self.limits.elapsed - began):
                return "time_limit"
            if self.limits.met:
                return self.limits.status
            self._ascend(weights)
        return "converged"

    def last(self) -> Floats:
        """Mix as well as can be, with the best mixture's rows; return the mechanism."""
        if not self.values:
            return self.best
        if self.values[-1] < self.value:
            self._add(self.best)
        weights, _, value = self.mixture.solve(self.limits.left, _LAST_GAP * self.gain)
        if value < self.value - LITTLE * abs(self.value):
            return self.best
        return self.mixture.mechanism(weights, self.limits.left)

    @property
    def promise(self) -> float | None:
        """What the best rows of the last rounds promised; None if there were too few rounds."""
        if self.rounds < _LATELY:
            return None
        return max(0.0, *self.promised[-_LATELY:]) + self.mixture.added

    def _add(self, rows: Floats) -> None:
        self.mixture.add(rows)
        self.n_rows += len(rows)

    def _mix(self) -> Floats:
        """Find the best weights, nearly, and keep the best mechanism."""
        gap = self._gap
        weights, _, value = self.mixture.solve(self.limits.left, gap)
        self.values.append(value)
        whole = self.mixture.rows * weights[:, None]
        if value > self.value:
            self.value, self.best = value, whole
        self.callback(value)
        return weights

    def _ended(self) -> bool:
        """Whether the last rounds gained too little to go on."""
        if self.gain > _LITTLE:
            return self._gained_little(_LATELY, self.gain)
        much = min(self.promised[-_LATELY:]) > _MUCH
        return self._gained_little(_LATELY * _PATIENCE if much else _PATIENCE, self.gain)

    def _gained_little(self, rounds: int, part: float) -> bool:
        """Whether this many rounds have gained less than a part of the value."""
        if len(self.values) <= rounds:
            return False
        before = self.values[-1 - rounds]
        return self.values[-1] - before <= part * abs(before)

    @property
    def _gap(self) -> float:
        """How close a mixture comes: a part of what the last rounds promised."""
        return min(_GAP * min(self.promised[-_LATELY:]), _MOST_GAP)

    def _ascend(self, weights: Floats) -> None:
        """Let rows ascend, and add those that are worth having."""
        self.rounds += 1
        end = max(_END * self._gap, LITTLE)
        if self._gained_little(_LATELY, _LITTLE):
            self.two_levels = None
        if self.two_levels is not None:
            rows = self.two_levels.ascended(self.mixture, self.limits, _END * end, self.rng)
        else:
            rows = self._starts(weights)
            slopes = self.mixture.slopes(rows)
            rows = ascend_along_paths(
                slopes, self.blocks, self.limits, slopes_at=self.mixture.slopes, end=end
            )
        # Repair takes a third of the time, so that rows that are worth nothing are left out before.
        worth = self.mixture.reduced_costs(rows)
        rows = self.requirements.shift(rows[worth >= min(LEAST_GAIN, worth.max())])
        reduced_costs = self.mixture.reduced_costs(rows)
        self.promised.append(rows.shape[1] * float(reduced_costs.max()))
        order = np.argsort(-reduced_costs, kind="stable")[: rows.shape[1]]
        rows = rows[order[reduced_costs[order] > LEAST_GAIN]]
        _, different = np.unique(np.round(rows, SAME_DIGITS), axis=0, return_index=True)
        if len(different):
            self._add(rows[np.sort(different)])

    def _starts(self, weights: Floats) -> Floats:
        """Choose rows in use, the likely ones more often; now and then perturb them."""
        in_use = np.flatnonzero(self.mixture.support(weights))
        often = np.sqrt(weights[in_use])
        number = min(_ROWS, len(in_use))
        chosen: Indices = self.rng.choice(in_use, number, replace=False, p=often / often.sum())
        rows: Floats = self.mixture.rows[chosen]
        if self.rounds % 2:
            return rows
        return rows * np.exp(self.rng.normal(scale=SPREAD, size=rows.shape))


def two_levels(requirements: Requirements) -> "TwoLevelRows | None":
    """Make the rows of two levels; None where whole secrets are not what is compared."""
    shape = requirements.shape
    plain = all(
        one.region.rows.in_order and one.region.conditionals.shape == shape for one in requirements
    )
    return TwoLevelRows(requirements) if plain and requirements.any_pair and shape[1] > 2 else None


class TwoLevelRows:
    """Rows with one entry for each secret at a value of U, and another one elsewhere.

    Most rows of an optimum are nearly so. Such a row is a function of S and of whether U is the
    value; the region of these two cells is that of the merged values, so that few dimensions are
    left.
    """

    def __init__(self, requirements: Requirements) -> None:
        self.shape = requirements.shape
        self.values = np.repeat(np.arange(self.shape[1]), _OF_VALUE)  # of each row
        of_values = [
            _blocks([replace(one, region=one.region.one_against_rest(u)) for one in requirements])
            for u in range(self.shape[1])
        ]
        of_rows = zip(*(of_values[u] for u in self.values), strict=True)
        self.blocks = [blocks[0].of_rows(blocks) for blocks in of_rows]

    def ascended(
        self, mixture: Mixture, limits: Limits, end: float, rng: np.random.Generator
    ) -> Floats:
        """Let some rows of each value ascend, (b, a)."""
        starts = np.exp(rng.normal(scale=SPREAD, size=(len(self.values), self.shape[0], 2)))

        def slopes_at(entries: Floats) -> Floats:
            slopes = mixture.slopes(self.rows(entries)).reshape(-1, *self.shape)
            here = np.take_along_axis(slopes, self.values[:, None, None], axis=2)
            found: Floats = np.concatenate([here, slopes.sum(axis=2, keepdims=True) - here], axis=2)
            return found.reshape(entries.shape)

        slopes = slopes_at(starts.reshape(len(starts), -1))
        found = ascend_along_paths(slopes, self.blocks, limits, slopes_at=slopes_at, end=end)
        rows = self.rows(found)
        return rows / rows.sum(axis=1, keepdims=True)

    def rows(self, entries: Floats) -> Floats:
        """Write two entries for each secret, (b, a1 * 2), as rows, (b, a)."""
        each = entries.reshape(len(entries), self.shape[0], 2)
        rows = np.repeat(each[:, :, 1:], self.shape[1], axis=2)
        np.put_along_axis(rows, self.values[:, None, None], each[:, :, :1], axis=2)
        return rows.reshape(len(entries), -1)


def _blocks(requirements: Iterable[Requirement]) -> list[Block]:
    """Make the blocks of constraints on the path."""
    blocks = path_blocks(path_requirements(Requirements(tuple(requirements))))
    assert blocks is not None  # lower bounds have a central path
    return blocks


def set_indicators(requirements: Requirements) -> Floats:
    """Write rows that reveal whether the value of U, the secret or the cell is in a set.

    Of each, all that follow from a few random sets by turning a random circle of the values: so
    every value is in as many of them. Sets of ``1 / (1 + exp(eps))`` of all values are the best
    for records without structure (Ye and Barg 2018).

    Returns (m, a): rows of 0 and 1, not private.
    """
    rng, shape = np.random.default_rng(0), requirements.shape
    share = 1.0 / (1.0 + np.exp(requirements.least_eps))
    rows = []
    for what in (shape[:1], shape[1:], shape):  # secrets, values of U, cells
        n = math.prod(what)
        sizes = [round(share * n)] * 2
        if what != shape:
            sizes += [1, n // 2]
        for size in (size for size in sizes if 0 < size < n):
            circle, members = rng.permutation(n), rng.permutation(n)[:size]
            sets = np.zeros((n, n))
            turned = circle[(members + np.arange(n)[:, None]) % n]
            np.put_along_axis(sets, turned, 1.0, axis=1)
            whole = sets.reshape(n, *what) if what != shape[:1] else sets[:, :, None]
            rows.append(np.broadcast_to(whole.reshape(n, -1, whole.shape[-1]), (n, *shape)))
    return np.concatenate(rows).reshape(-1, requirements.n_cells)
