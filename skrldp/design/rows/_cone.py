"""The cone of private rows, as a linear program that learns its facets from the oracle.

For large alphabets there is a second form, a smaller cone whose linear program is complete from the
start: the rows that are private for the lower-bounds region, so for every region inside it.
"""

import numpy as np
from numpy.typing import NDArray

from skrldp._highs import LinearProgram
from skrldp._typing import Floats
from skrldp.design._run import Deadline
from skrldp.region import LowerRegion, Region, lift

__all__ = ["CompactCone", "PrivacyCone"]


_MOST_CUTS = 400
_MEMORY = 60  # a cut that no optimum of the last so many touched may be dropped


class PrivacyCone:
    """Private rows of unit sum: linear functions are maximised over them.

    Every row of every mechanism must lie in this one cone, so whatever cuts one search finds serve
    all others. A row that is returned has been repaired: it is private, not just nearly.

    Parameters
    ----------
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.
    tolerance : float
        How much a row of unit sum may have to be lifted by the repair.
    deadline : Deadline
        When to stop adding cuts.
    """

    def __init__(
        self, region: Region, eps: float, tolerance: float, deadline: Deadline | None = None
    ) -> None:
        self.region = region
        self.eps = eps
        self.tolerance = tolerance
        self.deadline = deadline or Deadline(None)
        self.solves = 0
        self._shape = region.row_shape
        cells = int(np.prod(self._shape))
        self._program = LinearProgram(np.zeros(cells), upper=1.0)
        self._program.add_rows(np.ones((1, cells)), 1.0, 1.0)
        self._touched = np.zeros(0)  # the last solve in which each cut was tight
        first, second = region.pairs
        first, second = first[first != second], second[first != second]
        centre = region.conditionals
        self._add(first, second, np.stack([centre[first], centre[second]], axis=1))
        self._permanent = len(first)

    def maximise(self, directions: Floats, rounds: int = 30) -> Floats:
        """Maximise linear functions over the private rows of unit sum.

        Parameters
        ----------
        directions : array of shape (m, a)
            Linear functions.
        rounds : int
            How often violated facets are added; fewer rounds give rows further inside.

        Returns
        -------
        array of shape (m, a)
            Private rows. They are optimal up to the tolerance, unless rounds or time ran out.
        """
        rows = np.full(directions.shape, 1.0 / directions.shape[1])
        excess = np.zeros(len(rows))
        active = np.arange(len(directions))
        for _ in range(rounds):
            try:
                for i in active:
                    rows[i] = self._solve(directions[i])
            except TimeoutError:
                return self.inside(rows)
            excess[active] = self._separate(rows[active])
            active = np.flatnonzero(excess > self._allowed)
            if len(active) == 0 or self.deadline.passed:
                break
        return lift(rows, excess, self.eps)

    def inside(self, rows: Floats) -> Floats:
        """Lift rows into the cone, each by as little as its worst violation asks for.

        Parameters
        ----------
        rows : array of shape (b, a)
            Non-negative rows.

        Returns
        -------
        array of shape (b, a)
            Private rows of unit sum.
        """
        unit = rows / rows.sum(axis=1, keepdims=True)
        excess = self.region.excess(unit.reshape(-1, *self._shape), self.eps)
        return lift(unit, excess, self.eps)

    @property
    def _allowed(self) -> float:
        """Violation that is left to the repair."""
        solver = 4e-9 * float(np.exp(self.eps))  # what the linear program takes for nothing
        return max(self.tolerance * float(np.expm1(self.eps)), solver)

    def _solve(self, direction: Floats) -> Floats:
        self._program.set_cost(direction)
        row, duals, _ = self._program.solve(self.deadline.left)
        self.solves += 1
        self._touched[np.abs(duals[1:]) > 1e-12] = self.solves
        return np.maximum(row, 0.0)

    def _separate(self, rows: Floats) -> Floats:
        """Cut off the rows that are not private; say by how much they are not."""
        table = rows.reshape(-1, *self._shape)
        worst = self.region.worst(table, self.eps, above=0.0, laws=True)
        cut = worst.bound > self._allowed  # what is less is left to the lift
        if cut.any():
            assert worst.laws is not None
            self._add(worst.first[cut], worst.second[cut], worst.laws[cut])
            self._purge()
        return worst.per_row(len(rows))

    def _add(self, first: NDArray[np.intp], second: NDArray[np.intp], laws: Floats) -> None:
        rows = np.zeros((len(first), *self._shape))
        index = np.arange(len(first))
        # Divided by exp(eps), so that the solver's tolerance means the same at every eps.
        rows[index, self.region.place(first)] += np.exp(-self.eps) * laws[:, 0]
        rows[index, self.region.place(second)] -= laws[:, 1]
        self._program.add_rows(rows.reshape(len(first), self._program.n_columns), -np.inf, 0.0)
        self._touched = np.append(self._touched, np.full(len(first), float(self.solves)))

    def _purge(self) -> None:
        if len(self._touched) <= _MOST_CUTS:
            return
        stale = self._touched < self.solves - _MEMORY
        stale[: self._permanent] = False
        if stale.any():
            self._program.delete_rows((np.flatnonzero(stale) + 1).tolist())
            self._touched = self._touched[~stale]


class CompactCone:
    r"""Rows of unit sum that are private for the lower-bounds region, in a complete program.

    With :math:`M_s \ge v_{s,u} \ge m_s` for all u, the greatest and least report probabilities
    under secret s are :math:`L_s \cdot v_s + (1-\sum L_s) M_s` and the same with
    :math:`m_s`: that takes two rows for each cell and one for each pair of secrets.

    Parameters
    ----------
    region : Region
        Conditionals that privacy must hold for; lower bounds are put around them.
    eps : float
        Privacy parameter, in nats.
    deadline : Deadline
        When to stop.
    """

    tolerance = 0.0  # nothing is left to a repair

    def __init__(self, region: Region, eps: float, deadline: Deadline | None = None) -> None:
        self.region = LowerRegion.around(region)
        self.eps = eps
        self.deadline = deadline or Deadline(None)
        self.solves = 0
        parts, a2 = region.row_shape
        self._cells = parts * a2
        columns = self._cells + 2 * parts + 2 * region.n_secrets
        self._program = LinearProgram(np.zeros(columns), upper=1.0)
        self._describe()

    def _describe(self) -> None:
        a1, a2 = self.region.conditionals.shape
        a, n, parts = self._cells, self._program.n_columns, self.region.row_shape[0]
        cell, s = np.arange(a), np.arange(a1)
        part, own = cell // a2, self.region.place(s)
        top, bottom = a + np.arange(parts), a + parts + np.arange(parts)
        most, least = a + 2 * parts + s, a + 2 * parts + a1 + s
        spare = np.maximum(1.0 - self.region.lower.sum(axis=1), 0.0)
        unit = np.zeros((1, n))
        unit[0, :a] = 1.0
        self._program.add_rows(unit, 1.0, 1.0)
        above, below = np.zeros((a, n)), np.zeros((a, n))
        above[cell, cell], above[cell, top[part]] = 1.0, -1.0
        below[cell, cell], below[cell, bottom[part]] = -1.0, 1.0
        reach, depth = np.zeros((a1, n)), np.zeros((a1, n))
        place = own[:, None] * a2 + np.arange(a2)
        reach[s[:, None], place] = depth[s[:, None], place] = self.region.lower
        reach[s, top[own]], reach[s, most] = spare, -1.0
        depth[s, bottom[own]], depth[s, least] = spare, -1.0
        first, second = self.region.pairs
        pairs = np.zeros((len(first), n))
        index = np.arange(len(first))
        pairs[index, most[first]] = np.exp(-self.eps)
        pairs[index, least[second]] = -1.0
        for rows in (above, below, reach, -depth, pairs):
            self._program.add_rows(rows, -np.inf, 0.0)

    def maximise(self, directions: Floats) -> Floats:
        """Maximise linear functions over these rows; see :class:`PrivacyCone`.

        Parameters
        ----------
        directions : array of shape (m, a)
            Linear functions.

        Returns
        -------
        array of shape (m, a)
        """
        rows = np.full(directions.shape, 1.0 / self._cells)
        cost = np.zeros(self._program.n_columns)
        for i, direction in enumerate(directions):
            cost[: self._cells] = direction
            self._program.set_cost(cost)
            try:
                solution, _, _ = self._program.solve(self.deadline.left)
            except TimeoutError:
                break
            self.solves += 1
            rows[i] = np.maximum(solution[: self._cells], 0.0)
        return self.inside(rows)

    def inside(self, rows: Floats) -> Floats:
        """Lift rows into the cone; see :class:`PrivacyCone`.

        Parameters
        ----------
        rows : array of shape (b, a)
            Non-negative rows.

        Returns
        -------
        array of shape (b, a)
        """
        unit = rows / rows.sum(axis=1, keepdims=True)
        excess = self.region.excess(unit.reshape(-1, *self.region.row_shape), self.eps)
        return lift(unit, excess, self.eps)
