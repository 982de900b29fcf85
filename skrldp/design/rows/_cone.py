"""The cone of private rows, as a linear program that learns its facets from worst conditionals.

For large alphabets there is a second form, a smaller cone whose linear program is complete from the
start: the rows that are private for the lower-bounds region, so for every region inside it.
"""

from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse as sp

from skrldp._highs import LinearProgram
from skrldp._typing import Floats, Indices
from skrldp.design._cuts import Cuts
from skrldp.design._run import Deadline
from skrldp.region import LowerRegion, Region, lift

__all__ = ["CompactCone", "Cone", "PrivacyCone", "unit_rows"]


# Chosen by hand. Doubled one at a time they change nothing on tables of 4 and 18 cells.

# A program with more cuts than the first number is purged of those that no optimum of the last
# solves, so many, touched.
_MOST_CUTS, _MEMORY = 400, 60
_MOST_ROUNDS = 30  # of added cuts for one set of directions
# Violation, for rows of unit sum and divided by exp(eps), that is left to the repair because of the
# linear program's tolerance of 1e-9: four times that.
_SOLVER_VIOLATION = 4e-9
_TOUCHED = 1e-12  # dual variable from which a cut holds the optimum


class Cone(ABC):
    """Private rows of unit sum, over which linear functions are maximised.

    Parameters
    ----------
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.
    deadline : Deadline, optional
        When to stop.

    Attributes
    ----------
    tolerance : float
        How much a row of unit sum may have to be lifted by the repair.
    solves : int
        Linear programs solved.
    """

    tolerance = 0.0

    def __init__(self, region: Region, eps: float, deadline: Deadline | None = None) -> None:
        self.region = region
        self.eps = eps
        self.deadline = deadline or Deadline(None)
        self.solves = 0
        self._shape = region.row_shape

    @abstractmethod
    def maximise(self, directions: Floats) -> Floats:
        """Maximise linear functions over the private rows of unit sum.

        Parameters
        ----------
        directions : array of shape (m, a)
            Linear functions.

        Returns
        -------
        array of shape (m, a)
            Private rows. They are optimal up to the tolerance, unless rounds or time ran out.
        """

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


def unit_rows(n_cells: int) -> LinearProgram:
    """Begin a linear program over non-negative rows of unit sum.

    Parameters
    ----------
    n_cells : int
        Number of cells of a row.

    Returns
    -------
    LinearProgram
    """
    program = LinearProgram(np.zeros(n_cells), upper=1.0)
    program.add_rows(np.ones((1, n_cells)), 1.0, 1.0)
    return program


class PrivacyCone(Cone):
    """The exact cone of any region; see :class:`Cone`.

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
    deadline : Deadline, optional
        When to stop adding cuts.
    """

    def __init__(
        self, region: Region, eps: float, tolerance: float, deadline: Deadline | None = None
    ) -> None:
        super().__init__(region, eps, deadline)
        self.tolerance = tolerance
        self._program = unit_rows(int(np.prod(self._shape)))
        self._touched = np.zeros(0)  # the last solve in which each cut was tight
        first, second = region.pairs
        first, second = first[first != second], second[first != second]
        centre = region.conditionals
        self._add(first, second, np.stack([centre[first], centre[second]], axis=1))
        self._permanent = len(first)

    def maximise(self, directions: Floats) -> Floats:
        """Maximise linear functions over the private rows; see :class:`Cone`."""
        rows = np.full(directions.shape, 1.0 / directions.shape[1])
        excess = np.zeros(len(rows))
        active = np.arange(len(directions))
        for _ in range(_MOST_ROUNDS):
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

    @property
    def _allowed(self) -> float:
        """Violation that is left to the repair."""
        solver = _SOLVER_VIOLATION * float(np.exp(self.eps))
        return max(self.tolerance * float(np.expm1(self.eps)), solver)

    def _solve(self, direction: Floats) -> Floats:
        self._program.set_cost(direction)
        row, duals, _ = self._program.solve(self.deadline.left)
        self.solves += 1
        self._touched[np.abs(duals[1:]) > _TOUCHED] = self.solves
        return np.maximum(row, 0.0)

    def _separate(self, rows: Floats) -> Floats:
        """Cut off the rows that are not private; say by how much they are not."""
        table = rows.reshape(-1, *self._shape)
        worst = self.region.worst(table, self.eps, above=0.0, conditionals=True)
        cut = worst.bound > self._allowed
        if cut.any():
            assert worst.conditionals is not None
            self._add(worst.first[cut], worst.second[cut], worst.conditionals[cut])
            self._purge()
        return worst.per_row(len(rows))

    def _add(self, first: Indices, second: Indices, conditionals: Floats) -> None:
        """Add the cuts of these pairs of secrets and conditionals."""
        places = self.region.place(first), self.region.place(second)
        cuts = Cuts(np.zeros(len(first), dtype=np.intp), *places, conditionals)
        self._program.add_rows(cuts.coefficients((1, *self._shape), self.eps), -np.inf, 0.0)
        self._touched = np.append(self._touched, np.full(len(first), float(self.solves)))

    def _purge(self) -> None:
        if len(self._touched) <= _MOST_CUTS:
            return
        stale = self._touched < self.solves - _MEMORY
        stale[: self._permanent] = False
        if stale.any():
            self._program.delete_rows((np.flatnonzero(stale) + 1).tolist())
            self._touched = self._touched[~stale]


class CompactCone(Cone):
    r"""The cone of the lower-bounds region around a region, in a complete program.

    With :math:`M_s \ge v_{s,u} \ge m_s` for all u, the greatest and least report probabilities
    under secret s are :math:`L_s \cdot v_s + (1-\sum L_s) M_s` and the same with
    :math:`m_s`: that takes two rows for each cell and one for each pair of secrets.

    Parameters
    ----------
    region : Region
        Conditionals that privacy must hold for; lower bounds are put around them.
    eps : float
        Privacy parameter, in nats.
    deadline : Deadline, optional
        When to stop.
    """

    def __init__(self, region: Region, eps: float, deadline: Deadline | None = None) -> None:
        self._lower = LowerRegion.around(region)
        super().__init__(self._lower, eps, deadline)
        parts, a2 = self._shape
        self._cells = parts * a2
        columns = self._cells + 2 * parts + 2 * region.n_secrets
        self._program = LinearProgram(np.zeros(columns), upper=1.0)
        unit = np.zeros((1, columns))
        unit[0, : self._cells] = 1.0
        self._program.add_rows(unit, 1.0, 1.0)
        self._program.add_rows(self._inequalities(), -np.inf, 0.0)

    def _inequalities(self) -> sp.csr_array:
        """Rows that must not be positive, by the blocks of variables (v, M, m, most, least)."""
        a1, a2 = self.region.conditionals.shape
        parts, secret = self._shape[0], np.arange(a1)
        cell, each = sp.csr_array(sp.eye(self._cells)), sp.csr_array(sp.eye(a1))
        part = sp.csr_array(sp.kron(sp.eye(parts), np.ones((a2, 1))))  # the part of each cell
        lower, own = self._lower.lower, self.region.place(secret)
        columns = (own[:, None] * a2 + np.arange(a2)).ravel()
        under = sp.csr_array((lower.ravel(), columns, a2 * np.arange(a1 + 1)), (a1, self._cells))
        spare = np.maximum(1.0 - lower.sum(axis=1), 0.0)
        rest = sp.csr_array((spare, (secret, own)), (a1, parts))
        first, second = (each[s] for s in self.region.pairs)
        table = sp.block_array(
            [
                [cell, -part, None, None, None],  # v <= M
                [-cell, None, part, None, None],  # m <= v
                [under, rest, None, -each, None],  # the greatest probability is at most `most`
                [-under, None, -rest, None, each],  # and the least at least `least`
                [None, None, None, np.exp(-self.eps) * first, -second],
            ],
            format="csr",
        )
        table.eliminate_zeros()
        table.sort_indices()
        return table

    def maximise(self, directions: Floats) -> Floats:
        """Maximise linear functions over these rows; see :class:`Cone`."""
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
