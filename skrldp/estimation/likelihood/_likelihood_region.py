"""The distributions whose likelihood is near the greatest, and ranges of figures over them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skrldp._typing import Booleans, Floats
from skrldp.estimation._threads import one_thread
from skrldp.estimation.channels import Channel
from skrldp.estimation.likelihood._convex_functions import (
    BlockLogarithms,
    Convex,
    Logarithms,
    log_likelihood,
)
from skrldp.estimation.likelihood._interior_point import State, interior, minimise

__all__ = ["LikelihoodRegion", "Reached"]

_TOL = 1e-6  # between the two bounds on an end, in units of the function's range
_TOL_CENTRE = 1e-2
_ROUGH = 1e-5  # the same, in the first pass, which only chooses the drops
_ZERO = 1e-5  # a probability that counts as zero
_SCALE = 0.1  # of the first barrier parameter
_TINY = 1e-200
# Programs times cells cubed, up to which method="auto" is the likelihood ratio: two minutes.
_MOST_WORK = 250.0**4
_ROUNDING = 1e-12  # share of symbols that were not seen
_LEAST_NUMBER = 1e-3  # reports, see _effective_number
_ROUNDS = 30  # of Dinkelbach's method for ratios; each squares the error
_LEFT = 0.1  # of a probability, at least, when a point is moved away from the estimate
_STEP = 0.05  # of the drop: what is added for few reports is a multiple of this


class Reached(NamedTuple):
    """Minima of m programs over a region."""

    bounds: Floats  # (m,), at most the minima
    points: Floats  # (m, a), where they are reached
    at_boundary: Booleans  # (m,), whether the minimum has zeros or meets a constraint
    drop: float = 0.0  # how far the log-likelihood might fall
    on_the_way: State | None = None  # where the iterations were shortly before

    def of(self, rows: Booleans) -> "Reached":
        """Keep some of the programs."""
        state = None if self.on_the_way is None else self.on_the_way.of(rows)
        bounds, points, at_boundary = self.bounds[rows], self.points[rows], self.at_boundary[rows]
        return Reached(bounds, points, at_boundary, self.drop, state)


@dataclass(frozen=True, eq=False)
class LikelihoodRegion:
    """The distributions whose log-likelihood is within a given distance of the greatest."""

    channel: Channel
    counts: Floats  # (b,), number of reports of each symbol
    distribution: Floats  # (a,), a distribution of greatest likelihood
    constraints: Sequence[Convex]  # of the distribution, as functions that are at most 0
    inside: Floats  # (a,), a positive distribution at which these functions are negative

    def _likelihood(self, drop: float) -> Convex:
        """At most 0 where the log-likelihood is at most `drop` below the greatest."""
        return replace(self._below_greatest, offset=drop)

    @cached_property
    def _below_greatest(self) -> Logarithms | BlockLogarithms:
        """How far the log-likelihood is below the greatest."""
        return log_likelihood(self.channel, self.counts, self._report)

    @cached_property
    def _report(self) -> Floats:
        """Distribution of the report at the estimate."""
        return self.channel.forward(self.distribution)

    @cached_property
    def _seen(self) -> Booleans:
        """Symbols that were seen."""
        return self.counts > 0

    @cached_property
    def _centres(self) -> dict[float, Floats]:
        return {}

    def _centre(self, constraints: Sequence[Convex]) -> Floats:
        """Find a point in the middle of the region: its analytic centre, roughly."""
        start = interior(constraints, self.inside, self.distribution)
        found = minimise(np.zeros((1, len(start))), constraints, start, _TOL_CENTRE)
        return found.points[0]

    def is_quick(self, n_programs: float) -> bool:
        """Whether so many programs take two minutes at most, by the number of cells."""
        return n_programs * float(len(self.distribution)) ** 3 <= _MOST_WORK

    def ends(
        self,
        functions: Floats,
        drop: float,
        at_boundary: float | None = None,
        for_few: float = 0.0,
        given: Booleans | None = None,
    ) -> Floats:
        """Least and greatest values of linear functions over the region.

        Shapes: `functions` (m, a); `given` (a,). Returns (m, 2): bounds from outside: the range is
        never wider than these, and narrower by some 1e-6 of the range of the coefficients at most,
        as far as the numerical precision suffices.
        """
        given = np.ones(functions.shape[1], dtype=bool) if given is None else given
        least = functions[:, given].min(axis=1)
        spread = functions[:, given].max(axis=1) - least
        found = np.stack([least, least], axis=1)
        vary = np.flatnonzero(spread > 0)
        if vary.size:
            unit = given * (functions[vary] - least[vary, None]) / spread[vary, None]
            costs = np.vstack([unit, -unit])

            def solve(own: float, rows: Any, tol: float, before: Reached | None) -> Reached:
                return self.minima(costs[rows], own, given, tol=tol, before=before)

            low, high = np.split(self.settled(solve, drop, at_boundary, for_few), 2)
            ends = np.stack([np.maximum(low, 0.0), np.minimum(-high, 1.0)], axis=1)
            found[vary] += spread[vary, None] * ends
        return found

    def settled(
        self,
        solve: Callable[[float, Any, float, Reached | None], Reached],
        drop: float,
        at_boundary: float | None,
        for_few: float,
    ) -> Floats:
        """Solve programs over the region, each with the drop that belongs to its minimum.

        Shape: (m,).
        """
        first = drop if at_boundary is None else at_boundary
        if first == drop and not for_few:
            return solve(first, slice(None), _TOL, None).bounds
        before = solve(first, slice(None), _ROUGH, None)
        bounds, points = before.bounds.copy(), before.points
        drops = np.where(before.at_boundary, first, drop)
        if for_few:
            added = for_few / np.sqrt(self._effective_number(points))
            drops += _STEP * drop * np.round(added / (_STEP * drop))
        for own in np.unique(drops):
            same = drops == own
            bounds[same] = solve(float(own), same, _TOL, before.of(same)).bounds
        return bounds

    def minima(
        self,
        costs: Floats,
        drop: float,
        given: Booleans,
        *,
        tol: float = _TOL,
        before: Reached | None = None,
    ) -> Reached:
        """Minimise linear functions over the region, divided by the probability of some cells.

        Shapes: costs (m, a), given (a,).
        """
        constraints = [self._likelihood(drop), *self.constraints]
        if drop not in self._centres:
            self._centres[drop] = self._centre(constraints)
        centre = self._centres[drop]
        begin = None if before is None else self._moved(before, drop)
        level = np.zeros(len(costs))
        if not given.all():
            level = costs @ self.distribution / max(float(given @ self.distribution), _ZERO)
        for _ in range(_ROUNDS):  # Dinkelbach (1967): the least ratio is where the minimum is 0
            reduced = costs - level[:, None] * given
            with one_thread():
                found = minimise(reduced, constraints, centre, tol, scale=_SCALE, begin=begin)
            share = found.points @ given
            bounds, values = level + found.bounds / share, level + found.values / share
            if given.all() or np.all(np.abs(values - level) <= tol):
                break
            level = values
        trivial = values <= costs.min(axis=1) + _ZERO  # all mass on the least: no wider range
        zeros = (found.points < _ZERO).any(axis=1) | bool(self.constraints)
        return Reached(bounds, found.points, zeros & ~trivial, drop, found.on_the_way)

    def _moved(self, before: Reached, drop: float) -> State | None:
        """Guess a state of the programs for one drop from the state for another drop.

        The log-likelihood is nearly a square, so that distances from the estimate grow with the
        square root of the drop, and the prices of the likelihood fall with it.
        """
        if before.on_the_way is None:
            return None
        state, stretch = before.on_the_way, np.sqrt(drop / before.drop)
        x = self.distribution + stretch * (state.x - self.distribution)
        x = np.maximum(x, _LEFT * state.x)
        x /= x.sum(axis=1, keepdims=True)
        slack, prices = state.slack.copy(), state.prices.copy()
        slack[:, 0] = np.maximum(-self._likelihood(drop).value(x), slack[:, 0])
        prices[:, 0] /= stretch
        return replace(state, x=x, slack=slack, prices=prices)

    def _effective_number(self, points: Floats) -> Floats:
        """Count the reports that tell each point from the estimate: at least 1e-3.

        It is the effective number of an average of weights, which are the relative differences of
        the symbols' probabilities, at the distribution half way between the two.
        """
        seen, n = self._report[self._seen], float(self.counts.sum())
        there = self.channel.forward(points)[:, self._seen]
        middle, difference = (seen + there) / 2.0, there - seen
        # Symbols that were not seen count together: their shares are what is left.
        unseen = np.clip([1.0 - seen.sum(), *(1.0 - there.sum(axis=1))], _ROUNDING, None)
        middle = np.column_stack([middle, (unseen[0] + unseen[1:]) / 2.0])
        relative = np.column_stack([difference, unseen[1:] - unseen[0]]) / middle
        second, fourth = (np.sum(middle * relative**power, axis=1) for power in (2, 4))
        number: Floats = n * second**2 / np.maximum(fourth, _TINY)
        return np.maximum(number, _LEAST_NUMBER)
