r"""The search for rows: the best mixture of private rows, for every criterion.

A mechanism is a mixture of private rows. A *master* (:class:`~skrldp.design.criteria.Master`) finds
the best weights of the known rows, and from them the price of every further row. Prices are convex,
so the linear function that touches the price at a row is a lower bound everywhere, and the private
row that maximises this function has at least the same price. A *pricer* moves many rows upwards in
this way at once. Each round adds the most valuable rows to the master, which then finds new
weights, until the gains are small.
"""

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from skrldp._typing import Floats
from skrldp.design.criteria import Criterion
from skrldp.design.limits import EQUAL, LITTLE, SPREAD, Limits
from skrldp.design.pricers import Pricer, pricers, set_indicators
from skrldp.design.programs import LEAST_GAIN
from skrldp.privacy.requirements import Requirements, repair

# Number of rows that ascend in a round: at least the first number, and more if cells are few, up to
# the second number of entries. Doubling it doubles the time of a round and halves the number of
# rounds; with 50 rows of 10 cells, the result is 0.2 % worse.
_ROWS, _ENTRIES = 50, 2_000
# Number of last rounds whose best row determines the gap of a mixture. Doubling it takes 10 %
# longer.
_LAST_ROUNDS = 3
# Number of last rounds that determine whether a search ends, for each decimal of its tolerance.
# With half as many, the result for 7 x 16 cells is 1 % worse.
_ROUNDS_A_DECIMAL = 2.0
# If the promise of further rows, relative to the tolerance, is above the first number, the second
# number multiplies the rounds that determine the end, because a search may gain little for a while
# long before its end. Without it, the result for 5 x 6 cells is 18 % higher at a tolerance of 0.02.
_PROMISED, _PATIENCE = 10.0, 3
# Relative gap of a mixture: a fraction of the last rounds' largest reduced cost, and at most the
# second number. Prices near the middle of the master's path result in better rows: with a hundredth
# of the second number, the search takes a quarter longer at 6 x 15 cells.
_GAP, _LARGEST_GAP = 0.03, 0.1
# Gap at which the paths of rows end, relative to that of the mixture. With three times this gap,
# the result for 6 x 16 cells is 3 % higher after 20 s of processor time.
_END = 0.03
# Gap of the last mixture, relative to the tolerance. Doubling it doubles the loss.
_LAST_GAP = 0.1
# Time reserved for the last mixture, in units of the time that the mixture before it took. With
# half of it, mechanisms of hundreds of cells have five times as many reports.
_LAST_MIXTURES = 4.0
# Number of initial rows from closed forms, and from sets, but at least one for each cell. Doubling
# it takes 10 % longer at 434 cells.
_ROWS_OF_A_KIND = 200
# Decimals to which equal rows agree. If there are twice as many, rounding separates equal rows.
_SAME_DIGITS = 9


class RowSearch:
    """The state of a search: the master, the pricers, and the best mechanism so far.

    Parameters
    ----------
    criterion : Criterion
        The criterion to maximise.
    requirements : Requirements
        The requirements on every row.
    first : list of array of shape (b, a)
        Mechanisms with the initial rows.
    limits : Limits
        Time, iterations and threads.
    show : callable
        Function that receives the value of every mixture.
    tol : float
        Relative gain of the last rounds at which the search ends.
    """

    def __init__(
        self,
        criterion: Criterion,
        requirements: Requirements,
        first: list[Floats],
        limits: Limits,
        show: Callable[[float], None],
        tol: float,
    ) -> None:
        self.requirements, self.limits, self.show, self.tol = requirements, limits, show, tol
        self.rng = np.random.default_rng(0)  # the design is deterministic
        self.best, self.value = repair(max(first, key=criterion.value), requirements), -np.inf
        self.values: list[float] = []
        self.promised = [_LARGEST_GAP / _GAP]
        self.rounds = self.n_rows = 0
        # The shifted unit rows keep the all-ones vector inside the cone of the rows, so that a
        # strictly positive mixture exists.
        self.n_starts = max(_ROWS, _ENTRIES // requirements.n_cells)
        self.master = criterion.master(requirements.shift(np.eye(requirements.n_cells)))
        rows = np.concatenate(sorted(first, key=criterion.value, reverse=True))
        self._add(requirements.shift(rows[: max(rows.shape[1], _ROWS_OF_A_KIND)]))

    def run(self) -> str:
        """Search, and return the status."""
        status = "time_limit"
        with suppress(TimeoutError):
            status = self._search()
        with suppress(TimeoutError):
            self._finish()
        return status

    def _search(self) -> str:
        weights = self._mix()
        if self.requirements.any_pair:
            rows = self.requirements.shift(set_indicators(self.requirements))
            order = np.argsort(-self.master.reduced_costs(rows), kind="stable")
            self._add(rows[order[: max(rows.shape[1], _ROWS_OF_A_KIND)]])
            weights = self._mix()
        for pricer in pricers(self.requirements, self.tol, self.limits):
            first_round = self.rounds
            while not self._gained_little(pricer, first_round):
                starts = self._in_use(weights) if self.rounds % 2 == 0 else self._new(weights)
                self._price(pricer, starts, max(_END * self._gap, self.master.row_gap))
                began = self.limits.elapsed
                weights = self._mix()
                left = self.limits.left
                if left is not None and left < _LAST_MIXTURES * (self.limits.elapsed - began):
                    return "time_limit"
                if self.limits.met:
                    return self.limits.status
        # Move the rows in use closer to the boundary.
        self._price(pricer, self._in_use(weights), EQUAL)
        return "converged"

    def _gained_little(self, pricer: Pricer, first_round: int) -> bool:
        """Whether a pricer's last rounds had a relative gain below its tolerance."""
        tol = max(self.tol, pricer.tol)
        window = math.ceil(-_ROUNDS_A_DECIMAL * math.log10(tol))
        if not pricer.tol and min(self.promised[-_LAST_ROUNDS:]) > _PROMISED * tol:
            window *= _PATIENCE
        if self.rounds - first_round < window:
            return False
        before = self.values[-1 - window]
        return self.values[-1] - before <= tol * abs(before)

    @property
    def promise(self) -> float | None:
        """Largest reduced cost of the last rounds; None if there were too few rounds."""
        if self.rounds < _LAST_ROUNDS:
            return None
        return max(0.0, *self.promised[-_LAST_ROUNDS:]) + self.master.added

    @property
    def _gap(self) -> float:
        """The gap of a mixture: a fraction of the last rounds' largest reduced cost."""
        return min(_GAP * min(self.promised[-_LAST_ROUNDS:]), _LARGEST_GAP)

    def _add(self, rows: Floats) -> None:
        """Add rows without duplicates."""
        rows = rows / rows.sum(axis=1, keepdims=True)
        _, first = np.unique(np.round(rows, _SAME_DIGITS), axis=0, return_index=True)
        self.master.add(rows[np.sort(first)])
        self.n_rows += len(first)

    def _mix(self) -> Floats:
        """Find nearly optimal weights, and keep the best mechanism."""
        weights, _, value = self.master.solve(self.limits.left, self._gap)
        self.values.append(value)
        if value > self.value:
            used = weights > 0.0
            self.value, self.best = value, self.master.rows[used] * weights[used, None]
        self.show(value)
        return weights

    def _price(self, pricer: Pricer, starts: Floats, end: float) -> None:
        """Let rows ascend, and add the valuable ones."""
        self.rounds += 1
        rows = pricer.ascend(starts, self.master, end, self.rng)
        # Repair takes a third of the time, so worthless rows are dropped before it.
        reduced_costs = self.master.reduced_costs(rows)
        rows = self.requirements.shift(rows[reduced_costs >= min(LEAST_GAIN, reduced_costs.max())])
        reduced_costs = self.master.reduced_costs(rows)
        self.promised.append(rows.shape[1] * float(reduced_costs.max()))
        # Keep one row per cell, or a quarter of the starts if that is more, because with few cells
        # the best rows are nearly identical.
        n_best = max(rows.shape[1], self.n_starts // 4)
        order = np.argsort(-reduced_costs, kind="stable")[:n_best]
        rows = rows[order[reduced_costs[order] > LEAST_GAIN]]
        if len(rows):
            self._add(rows)

    def _in_use(self, weights: Floats, size: tuple[int, ...] = ()) -> Floats:
        """Sample rows in use by the roots of their weights; with replacement if a size is given."""
        in_use = np.flatnonzero(self.master.support(weights))
        likely = np.sqrt(weights[in_use]) / np.sqrt(weights[in_use]).sum()
        is_drawn_again = bool(size)
        size = size or (min(self.n_starts, len(in_use)),)
        chosen = self.rng.choice(in_use, size, replace=is_drawn_again, p=likely)
        return np.asarray(self.master.rows[chosen])

    def _new(self, weights: Floats) -> Floats:
        """Perturb rows in use, and combine new rows from the parts of several."""
        parts = self.requirements.shape[0]
        in_use = self._in_use(weights, (self.n_starts, parts))
        rows = in_use.reshape(self.n_starts, parts, parts, -1)
        rows[::2] = rows[::2, :1] * np.exp(self.rng.normal(scale=SPREAD, size=rows[::2].shape))
        part = np.arange(parts)
        return rows[:, part, part].reshape(self.n_starts, -1)

    def _finish(self) -> None:
        """Find the optimal mixture of the best mixture's rows."""
        if not self.values:
            return
        if self.values[-1] < self.value:
            self._add(self.best)
        weights, _, value = self.master.solve(self.limits.left, _LAST_GAP * self.tol)
        if value >= self.value - LITTLE * abs(self.value):
            self.best = self.master.mechanism(weights, self.limits.left)
