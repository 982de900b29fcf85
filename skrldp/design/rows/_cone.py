"""The cone of private rows, as a linear program that learns its facets from worst conditionals.

For large alphabets there is a second form, a smaller cone whose linear program is complete from the
start: the rows that are private for the lower-bounds region, so for every region inside it.
"""

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from skrldp._highs import LinearProgram
from skrldp._typing import Booleans, Floats
from skrldp.design.programs import Cuts, used
from skrldp.design.rows._ranges import beside, lower_rows, range_rows
from skrldp.design.run import Limits
from skrldp.privacy import LowerRegion, Requirement, Requirements, shifted

__all__ = ["CompactCone", "Cone", "PrivacyCone", "unit_rows"]


# Chosen by hand. Doubled one at a time they change nothing on tables of 4 and 18 cells.

# A program with more cuts than the first number is purged of those that no optimum of the last
# solves, so many, touched.
_MOST_CUTS, _MEMORY = 400, 60
_MOST_ROUNDS = 30  # of added cuts for one set of directions
# Violation, for rows of unit sum and divided by exp(eps), that is left to the repair because of the
# linear program's tolerance of 1e-9: four times that.
_SOLVER_VIOLATION = 4e-9


class Cone(ABC):
    """Private rows of unit sum, over which linear functions are maximised.

    Parameters
    ----------
    requirements : Requirements
        What a row must satisfy.
    limits : Limits, optional
        When to stop.

    Attributes
    ----------
    tolerance : float
        How much a row of unit sum may have to be shifted by the repair.
    solves : int
        Linear programs solved.
    """

    tolerance = 0.0

    def __init__(self, requirements: Requirements, limits: Limits | None = None) -> None:
        self.requirements = requirements
        self.limits = limits or Limits(None)
        self.solves = 0

    @abstractmethod
    def maximise(self, directions: Floats) -> Floats:
        """Maximise linear functions over the private rows of unit sum.

        Shapes: `directions` (m, a). Returns (m, a): private rows. They are optimal up to the
        tolerance, unless rounds or time ran out.
        """

    def inside(self, rows: Floats) -> Floats:
        """Lift rows into the cone, each by as little as its worst violation asks for.

        Shapes: `rows` (b, a). Returns (b, a): private rows of unit sum.
        """
        return self.requirements.shift(rows)


def unit_rows(n_cells: int, more: int = 0) -> LinearProgram:
    """Begin a linear program over non-negative rows of unit sum."""
    program = LinearProgram(np.zeros(n_cells + more), upper=1.0)
    unit = np.zeros((1, n_cells + more))
    unit[0, :n_cells] = 1.0
    program.add_rows(unit, 1.0, 1.0)
    return program


class PrivacyCone(Cone):
    """The exact cone of any requirements; see :class:`Cone`.

    Every row of every mechanism must lie in this one cone, so whatever cuts one search finds serve
    all others. A row that is returned has been repaired: it is private, not just nearly. What is
    required over all distributions is in the program from the start.

    Parameters
    ----------
    requirements : Requirements
        What a row must satisfy.
    tolerance : float
        How much a row of unit sum may have to be shifted by the repair.
    limits : Limits, optional
        When to stop adding cuts.
    """

    def __init__(
        self, requirements: Requirements, tolerance: float, limits: Limits | None = None
    ) -> None:
        super().__init__(requirements, limits)
        self.tolerance = tolerance
        everywhere = tuple(one for one in requirements if one.everywhere)
        self._cut = tuple(one for one in requirements if not one.everywhere)
        self._whole = Requirements(everywhere) if everywhere else None
        complete = beside([range_rows(one) for one in everywhere], requirements.n_cells)
        n_cells = requirements.n_cells
        self._program = unit_rows(n_cells, complete.shape[1] - n_cells)
        self._program.add_rows(complete, -np.inf, 0.0)
        self._fixed = self._program.n_rows
        self._touched = np.zeros(0)  # the last solve in which each cut was tight
        for one in self._cut:
            self._add(Cuts.at_public(one))
        self._permanent = len(self._touched)

    def maximise(self, directions: Floats, most: float = np.inf) -> Floats:
        """Maximise linear functions over the private rows; see :class:`Cone`.

        Shapes: `directions` (m, a); returns (m, a).
        """
        rows = np.full(directions.shape, 1.0 / directions.shape[1])
        shifts = np.zeros(len(rows))
        active = np.arange(len(directions))
        end = self.solves + most
        for _ in range(_MOST_ROUNDS):
            try:
                for i in active:
                    rows[i] = self._solve(directions[i])
            except TimeoutError:
                return self.inside(rows)
            shifts[active], cut = self._separate(rows[active])
            self.limits.count()
            active = active[cut]
            if len(active) == 0 or self.limits.met or self.solves >= end:
                break
        return shifted(rows, shifts)

    def _solve(self, direction: Floats) -> Floats:
        cost = np.zeros(self._program.n_columns)
        cost[: len(direction)] = direction
        self._program.set_cost(cost)
        row, duals, _ = self._program.solve(self.limits.left)
        self.solves += 1
        self._touched[used(np.abs(duals[self._fixed :]))] = self.solves
        return np.maximum(row[: len(direction)], 0.0)

    def _separate(self, rows: Floats) -> tuple[Floats, Booleans]:
        """Cut off the rows that are not private; say by how much to shift them, and which."""
        shifts, some = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
        if self._whole is not None:
            shifts = self._whole.shifts(rows)
        for one in self._cut:
            shifts = np.maximum(shifts, self._separate_by(one, rows, some))
        self._purge()
        return shifts, some

    def _separate_by(self, one: Requirement, rows: Floats, some: Booleans) -> Floats:
        found = one.region.worst(rows, one.eps, above=0.0, conditionals=True)
        cut = found.shifts > np.maximum(self.tolerance, _SOLVER_VIOLATION * found.odds_room)
        if cut.any():
            some[found.row[cut]] = True
            worst = found[cut]  # a constraint on one row is one on all
            self._add(Cuts.worst(one.region, replace(worst, row=np.zeros_like(worst.row))))
        return found.per_row(len(rows))

    def _add(self, cuts: Cuts) -> None:
        """Add cuts; the further variables do not occur in them."""
        table = cuts.coefficients(1, self.requirements.n_cells)
        table.resize(len(cuts), self._program.n_columns)
        self._program.add_rows(table, -np.inf, 0.0)
        self._touched = np.append(self._touched, np.full(len(cuts), float(self.solves)))

    def _purge(self) -> None:
        if len(self._touched) <= _MOST_CUTS:
            return
        stale = self._touched < self.solves - _MEMORY
        stale[: self._permanent] = False
        if stale.any():
            self._program.delete_rows((np.flatnonzero(stale) + self._fixed).tolist())
            self._touched = self._touched[~stale]


class CompactCone(Cone):
    """A smaller cone, of the lower-bounds regions around regions, in a complete program.

    Parameters
    ----------
    requirements : Requirements
        What a row must satisfy; lower bounds are put around what is not for all distributions.
    limits : Limits, optional
        When to stop.
    """

    def __init__(self, requirements: Requirements, limits: Limits | None = None) -> None:
        smaller = [
            one if one.everywhere else replace(one, region=LowerRegion.around(one.region))
            for one in requirements
        ]
        super().__init__(Requirements(tuple(smaller)), limits)
        tables = [
            range_rows(one) if one.everywhere else lower_rows(one, one.region.cell_bounds()[0])
            for one in requirements
        ]
        complete = beside(tables, requirements.n_cells)
        self._program = unit_rows(requirements.n_cells, complete.shape[1] - requirements.n_cells)
        self._program.add_rows(complete, -np.inf, 0.0)

    def maximise(self, directions: Floats) -> Floats:
        """Maximise linear functions over these rows; see :class:`Cone`."""
        n_cells = directions.shape[1]
        rows = np.full(directions.shape, 1.0 / n_cells)
        cost = np.zeros(self._program.n_columns)
        self.limits.count()
        for i, direction in enumerate(directions):
            cost[:n_cells] = direction
            self._program.set_cost(cost)
            try:
                solution, _, _ = self._program.solve(self.limits.left)
            except TimeoutError:
                break
            self.solves += 1
            rows[i] = np.maximum(solution[:n_cells], 0.0)
        return self.inside(rows)
