r"""The cone of private rows, as a linear program that learns its facets from worst conditionals.

**Ranges.** Privacy over all distributions says :math:`\max_u v_{s,u} \le e^\epsilon \min_u
v_{t,u}`. With variables :math:`M_s \ge v_{s,u} \ge m_s` for all u it takes two inequalities for
each entry and one for each pair, :math:`M_s \le e^\epsilon m_t`, instead of one for each pair of
entries.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from skrldp._highs import LinearProgram
from skrldp._typing import Booleans, Floats
from skrldp.design.limits import MOST_ROUNDS, TIGHT, Limits
from skrldp.design.programs import Cuts, used
from skrldp.privacy.requirements import Requirement, Requirements, shifted


def is_polyhedral(requirements: Requirements) -> bool:
    """Whether the conditionals of all regions form polytopes with few vertices."""
    return all(one.region.few_vertices for one in requirements)


# --- Greatest and least entries as variables ------------------------------------------------------


def range_rows(one: Requirement) -> sp.csr_array:
    """Write privacy over all distributions as functions that must not be positive.

    Returns (m, n_cells + 2 p): the variables are the row, the largest entries of its p parts, and
    the least.
    """
    layout = one.region.rows
    first, second = one.part_pairs
    each = sp.csr_array(sp.eye_array(len(layout.parts)))
    between = [None, np.exp(-one.eps) * each[first], -each[second]]
    table = sp.block_array([*_within(one), between], format="csr")
    table.sort_indices()
    return table


def _within(one: Requirement) -> list[list[sp.csr_array | None]]:
    """State that entries lie between the smallest and the largest of their part."""
    layout = one.region.rows
    part, place = np.nonzero(layout.real)
    entry, number = layout.parts[part, place], np.arange(len(part))
    ones = np.ones(len(part))
    cell = sp.csr_array((ones, (number, entry)), shape=(len(part), layout.n_cells))
    own = sp.csr_array((ones, (number, part)), shape=(len(part), len(layout.parts)))
    return [[cell, -own, None], [-cell, None, own]]


def beside(tables: Sequence[sp.csr_array], n_cells: int) -> sp.csr_array:
    """Combine functions of one row, each table with its own variables after the row.

    Shapes: `tables` (m, n_cells + more); returns (sum of m, n_cells + sum of more).
    """
    if not tables:
        return sp.csr_array((0, n_cells))
    rows = sp.vstack([table[:, :n_cells] for table in tables])
    others = sp.block_diag([table[:, n_cells:] for table in tables])
    found = sp.csr_array(sp.hstack([rows, others]))
    found.sort_indices()
    return found


# --- Linear programs ------------------------------------------------------------------------------


# How far a row of unit sum may have to be shifted into the cone while rows are searched. At twice
# as much nothing changes.
_TOLERANCE = 1e-5
# A program with more cuts is purged of those that no optimum touched since it was purged last.
# Twice as many change nothing on tables of 4 and 18 cells.
_MOST_CUTS = 400


def unit_rows(n_cells: int, more: int = 0) -> LinearProgram:
    """Begin a linear program over non-negative rows of unit sum."""
    program = LinearProgram(np.zeros(n_cells + more), upper=1.0)
    unit = np.zeros((1, n_cells + more))
    unit[0, :n_cells] = 1.0
    program.add_rows(unit, 1.0, 1.0)
    return program


class PrivacyCone:
    """Private rows of unit sum, over which linear functions are maximised.

    Every row of every mechanism must lie in this one cone, so whatever cuts one search finds serve
    all others. A row that is returned has been repaired: it is private, not just nearly. What is
    required over all distributions is in the program from the start.

    Parameters
    ----------
    requirements : Requirements
        What a row must satisfy.
    tolerance : float, optional
        How much a row of unit sum may have to be shifted by the repair.
    limits : Limits, optional
        When to stop adding cuts.

    Attributes
    ----------
    solves : int
        Linear programs solved.
    """

    def __init__(
        self,
        requirements: Requirements,
        tolerance: float = _TOLERANCE,
        limits: Limits | None = None,
    ) -> None:
        self.requirements, self.tolerance = requirements, tolerance
        self.limits, self.solves = limits or Limits(None), 0
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
        self._permanent, self._purged = len(self._touched), 0

    def maximise(self, directions: Floats, most: float = np.inf) -> Floats:
        """Maximise linear functions over the private rows of unit sum.

        Shapes: `directions` (m, a). Returns (m, a): private rows. They are optimal up to the
        tolerance, unless rounds, `most` linear programs or time ran out.
        """
        rows = np.full(directions.shape, 1.0 / directions.shape[1])
        shifts = np.zeros(len(rows))
        active = np.arange(len(directions))
        end = self.solves + most
        for _ in range(MOST_ROUNDS):
            try:
                for i in active:
                    rows[i] = self._solve(directions[i])
            except TimeoutError:
                return self.requirements.shift(rows)
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
        cut = found.shifts > np.maximum(self.tolerance, TIGHT * found.odds_room)
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
        stale = self._touched < self._purged
        stale[: self._permanent] = False
        self._purged = self.solves
        if stale.any():
            self._program.delete_rows((np.flatnonzero(stale) + self._fixed).tolist())
            self._touched = self._touched[~stale]
