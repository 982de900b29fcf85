r"""The cone of private rows, as a linear program that learns its facets from worst conditionals.

For large alphabets there is a second form, a smaller cone whose linear program is complete from
the start: the rows that are private for the lower-bounds region, so for every region inside it.

**Ranges.** Privacy over all distributions says :math:`\max_u v_{s,u} \le e^\epsilon \min_u
v_{t,u}`. With variables :math:`M_s \ge v_{s,u} \ge m_s` for all u it takes two inequalities for
each entry and one for each pair, :math:`M_s \le e^\epsilon m_t`, instead of one for each pair of
entries. Of the region with lower bounds L, the greatest and least report probabilities under
secret s are :math:`L_s \cdot v_s + (1-\sum L_s) M_s` and the same with :math:`m_s`.

**Products**: exact maxima without a linear program. Where the conditionals of the secrets are
free of one another, a row v is private if :math:`h_s(v_s) \le e^\epsilon l_{s'}(v_{s'})` for all
secrets :math:`s \ne s'`, with h and l the greatest and least report probability of a secret. Say
the least of all l is 1, at the secret z, and the least of the others is r. Then v is private if
and only if

.. math:: l_z \ge 1,\; h_z \le e^\epsilon r, \qquad l_s \ge r,\; h_s \le e^\epsilon \; (s \ne z),

so for a given z and r the secrets are free of one another: the rows are a product of small
polytopes. As r grows, the vertices of each move along straight edges. A vertex of the whole must
have an edge that begins or ends for some secret (else it could move both ways), so only finitely
many r matter, and the extreme rays of the cone are among the products of points on edges there.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb, prod

import numpy as np
import scipy.sparse as sp

from skrldp._highs import LinearProgram
from skrldp._typing import Booleans, Floats
from skrldp.design.constraint_blocks import path_blocks
from skrldp.design.newton_system import Block
from skrldp.design.programs import Cuts, used
from skrldp.design.run import Limits
from skrldp.exceptions import SolverError
from skrldp.privacy.regions import LowerRegion
from skrldp.privacy.requirements import Requirement, Requirements, shifted

# --- Facets, where regions are polytopes with few vertices ----------------------------------------


def is_polyhedral(requirements: Requirements) -> bool:
    """Whether the conditionals of all regions form polytopes with few vertices."""
    return all(one.region.few_vertices for one in requirements)


def facets(requirements: Requirements) -> Floats:
    r"""Inequalities ``row @ v <= 0`` of the private rows v, for polyhedral regions.

    One for each pair of secrets and of extreme conditionals (Entropy (43)).

    Shapes: returns (m, n_cells).
    """
    tables = [_facets_of(one, requirements.n_cells) for one in requirements]
    table = np.concatenate(tables)
    # Where parts are shared, pairs may say the same, and so may several requirements.
    alike = len(tables) > 1 or requirements.items[0].region.rows.shared
    return np.unique(table, axis=0) if alike else table


def _facets_of(one: Requirement, n_cells: int) -> Floats:
    region = one.region
    extremes = [region.vertices(s) for s in range(region.n_secrets)]
    pairs, conditionals = [np.zeros((0, 2), dtype=np.intp)], []
    counts = []
    for pair in np.stack(region.pairs, axis=1):
        first, second = (extremes[secret] for secret in pair)
        most, least = (part.ravel() for part in np.indices((len(first), len(second))))
        conditionals.append(np.stack([first[most], second[least]], axis=1))
        pairs.append(np.tile(pair, (len(most), 1)))
        counts.append(len(most))
    if not conditionals:
        return np.zeros((0, n_cells))
    eps = np.full(sum(counts), one.eps)
    first, second = np.concatenate(pairs).T
    row = np.zeros(len(first), dtype=np.intp)
    cuts = Cuts.of(region, row, first, second, np.concatenate(conditionals), eps)
    table: Floats = cuts.coefficients(1, n_cells).toarray()
    return table


def facet_count(requirements: Requirements) -> int:
    """Count the facets of :func:`facets` without building them."""
    total = 0
    for region in (one.region for one in requirements):
        extremes = np.array([len(region.vertices(s)) for s in range(region.n_secrets)])
        first, second = region.pairs
        total += int(np.sum(extremes[first] * extremes[second]))
    return total


# --- Greatest and least entries as variables ------------------------------------------------------


def range_rows(one: Requirement) -> sp.csr_array:
    """Write privacy over all distributions as functions that must not be positive.

    Returns (m, n_cells + 2 p): the variables are the row, the greatest entries of its p parts, and
    the least.
    """
    layout = one.region.rows
    first, second = one.part_pairs
    each = sp.csr_array(sp.eye_array(len(layout.parts)))
    between = [None, np.exp(-one.eps) * each[first], -each[second]]
    table = sp.block_array([*_within(one), between], format="csr")
    table.sort_indices()
    return table


def lower_rows(one: Requirement, lower: Floats) -> sp.csr_array:
    """Write privacy over all conditionals above lower bounds as functions not to be positive.

    Shapes: `lower` (n_secrets, k). Returns (m, n_cells + 2 p + 2 n_secrets): the variables are the
    row, the greatest entries of its p parts, the least, and the greatest and least report
    probabilities under each secret.
    """
    region, layout = one.region, one.region.rows
    a1, k = lower.shape
    secret = np.arange(a1)
    each = sp.csr_array(sp.eye_array(a1))
    entries = layout.parts[layout.place].ravel()
    under = sp.csr_array(
        (lower.ravel(), entries, k * np.arange(a1 + 1)), shape=(a1, layout.n_cells)
    )
    under.sum_duplicates()
    spare = np.maximum(1.0 - lower.sum(axis=1), 0.0)
    rest = sp.csr_array((spare, (secret, layout.place)), shape=(a1, len(layout.parts)))
    first, second = (each[s] for s in region.pairs)
    table = sp.block_array(
        [
            *([*blocks, None, None] for blocks in _within(one)),
            [under, rest, None, -each, None],  # the greatest probability is at most `most`
            [-under, None, -rest, None, each],  # and the least at least `least`
            [None, None, None, np.exp(-one.eps) * first, -second],
        ],
        format="csr",
    )
    table.eliminate_zeros()
    table.sort_indices()
    return table


def _within(one: Requirement) -> list[list[sp.csr_array | None]]:
    """Say that entries lie between the least and the greatest of their part."""
    layout = one.region.rows
    part, place = np.nonzero(layout.real)
    entry, number = layout.parts[part, place], np.arange(len(part))
    ones = np.ones(len(part))
    cell = sp.csr_array((ones, (number, entry)), shape=(len(part), layout.n_cells))
    own = sp.csr_array((ones, (number, part)), shape=(len(part), len(layout.parts)))
    return [[cell, -own, None], [-cell, None, own]]


def beside(tables: Sequence[sp.csr_array], n_cells: int) -> sp.csr_array:
    """Put functions of one row together, each table with variables of its own after the row.

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


# --- The cone, taken apart by secret --------------------------------------------------------------


# Sizes beyond which linear programs are as quick, by measurement. A list of all extreme rays may be
# worth more, so points are more where it may be short enough to be made.
_MOST_BASES = 60_000  # choices of tight constraints that are tried, for all secrets
_MOST_POINTS, _MOST_POINTS_LISTED = 12_000, 100_000  # of the secrets' polytopes, in all products
_MOST_ENTRIES = 8_000_000  # of a list of all extreme rays: 64 MB
MOST_LISTED_CELLS = 16  # of a row, for a list at all
_MOST_REFINEMENTS = 30  # of a maximum; three or four are enough as a rule

# Tolerances, for rows whose greatest entry is about 1. Doubled one at a time they change the
# information by at most 3e-10; whatever they lose, the list is compared with a linear program.
_LARGEST_EPS = 10.0  # beyond, entries of one row are too far apart for them
_WORST_CONDITION = 1e8  # beyond, tight constraints are taken for parallel
_THINNEST = 1e-4  # widths of a region, but for a point, at which that would lose vertices
_ROUNDING = 1e-12  # a violation that is none
_HIGHER = 1e-13  # relative gain of a maximum that is one
_SAME = 1e-9  # points nearer than this are one


def product_cone(requirements: Requirements, limits: Limits | None = None) -> "ProductCone | None":
    """Take the cone of private rows apart by secret, if that can be done at little cost."""
    try:
        return ProductCone(requirements, limits)
    except SolverError:
        return None


@dataclass(frozen=True)
class _Edges:
    """Vertices ``base + slope * r`` of a polytope that moves with r, each while it is one."""

    base: Floats  # (m, a2)
    slope: Floats  # (m, a2)
    start: Floats  # (m,)
    end: Floats  # (m,)

    def count(self, steps: Floats) -> int:
        """Count the vertices at all these r together."""
        begun = np.searchsorted(np.sort(self.start), steps, side="right").sum()
        return int(begun - np.searchsorted(np.sort(self.end), steps, side="left").sum())

    def points(self, r: float) -> tuple[Floats, Booleans]:
        """Return the vertices at r, and whether an edge begins or ends there."""
        near = _SAME * self.end.max()
        here = (self.start <= r + near) & (self.end >= r - near)
        base, slope, start, end = (x[here] for x in (self.base, self.slope, self.start, self.end))
        points = np.maximum(base + slope * np.clip(r, start, end)[:, None], 0.0)
        corner = np.minimum(np.abs(start - r), np.abs(end - r)) <= near
        keys = np.round(points / (_SAME * points.max()))
        _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        corners = np.zeros(len(first), dtype=bool)
        np.logical_or.at(corners, which.ravel(), corner)
        return points[first], corners


class ProductCone(Cone):
    """The exact cone of polyhedral regions whose conditionals are free of one another.

    Parameters
    ----------
    requirements : Requirements
        One requirement, of all pairs of secrets, over a polyhedral region.
    limits : Limits, optional
        When to stop refining maxima.

    Attributes
    ----------
    size : int
        Number of rows that :meth:`rows` lists.
    points : int
        Number of points that :meth:`maximise` looks at.

    Raises
    ------
    SolverError
        If the requirements are others, or the region is too large for this.
    """

    def __init__(self, requirements: Requirements, limits: Limits | None = None) -> None:
        super().__init__(requirements, limits)
        one = requirements.only
        # Rows are no products if secrets have the same part, as where U alone is observed.
        if one is None or one.region.compared is not None or not one.region.rows.in_order:
            raise SolverError("this cone cannot be taken apart by secret.")
        self.region, self.eps = region, eps = one.region, float(np.asarray(one.eps))
        a1, a2 = region.conditionals.shape
        if region.rows.shared or not is_polyhedral(requirements) or eps > _LARGEST_EPS:
            raise SolverError("this cone cannot be taken apart by secret.")
        extremes = [region.vertices(s) for s in range(a1)]
        width = np.array([np.ptp(e, axis=0).max() for e in extremes])
        if np.any((width > 0.0) & (width < _THINNEST)):
            raise SolverError("the region is too thin to be told from a point.")
        if sum(comb(a2 + 2 * len(e), a2) for e in extremes) > _MOST_BASES:
            raise SolverError("a secret's polytope may have too many vertices.")
        extremes = [np.where(e > _ROUNDING, e, 0.0) for e in extremes]
        # A cell that no conditional reaches is bound by nothing: a row of its own.
        free = np.concatenate([e.max(axis=0) == 0.0 for e in extremes])
        self._free = np.flatnonzero(free)
        # Points (m, a2) and corners (m,) of each secret, for each product.
        self._products: list[list[tuple[Floats, Booleans]]] = []
        if len(region.pairs[0]) == 0:
            self._products.append([(np.eye(a2), np.ones(a2, dtype=bool))])
        else:
            self._divide(extremes, _MOST_POINTS_LISTED if self._small else _MOST_POINTS)
        self.size = len(self._free) + sum(_corners(p) for p in self._products)
        self.points = sum(len(points) for p in self._products for points, _ in p)
        self._stack()

    @property
    def _small(self) -> bool:
        return self.region.conditionals.size <= MOST_LISTED_CELLS

    @property
    def listable(self) -> bool:
        """Whether :meth:`rows` fits into memory."""
        return self.size * self.region.conditionals.size <= _MOST_ENTRIES

    def _divide(self, extremes: list[Floats], most_points: int) -> None:
        """Find the products: one for each secret of least l and each r that matters."""
        most = float(np.exp(self.eps))
        a1 = len(extremes)
        if self.region.same_secret:  # then h_s <= exp(eps) min l for every s: r = 1 is enough
            alike = [_edges(e, (1.0, 0.0), (most, 0.0), 1.0, 1.0) for e in extremes]
            self._products.append([edges.points(1.0) for edges in alike])
            return
        # Of two secrets one may do for both, if r may be less than 1.
        first = 1.0 / most if a1 == 2 else 1.0
        least = [_edges(e, (1.0, 0.0), (0.0, most), first, most) for e in extremes]
        others = [_edges(e, (0.0, 1.0), (most, 0.0), first, most) for e in extremes]
        divided = []
        for z in range(1 if a1 == 2 else a1):
            secrets = [least[s] if s == z else others[s] for s in range(a1)]
            ends = np.sort(np.concatenate([np.append(e.start, e.end) for e in secrets]))
            steps = ends[np.append(True, np.diff(ends) > _SAME * most)]
            if z > 0:  # at r = 1 all z have the same rows
                steps = steps[steps > 1.0 + _SAME * most]
            divided.append((secrets, steps))
        if sum(e.count(steps) for secrets, steps in divided for e in secrets) > most_points:
            raise SolverError("the secrets' polytopes have too many vertices.")
        for secrets, steps in divided:
            self._products += [[e.points(float(r)) for e in secrets] for r in steps]

    def _stack(self) -> None:
        """Lay the points of all products side by side, for :meth:`maximise`."""
        self._points, self._begin, self._padded = [], [], []
        for s in range(len(self._products[0])):
            sets = [product[s][0] for product in self._products]
            lengths = np.array([len(points) for points in sets])
            begin = np.cumsum(lengths) - lengths
            index = begin[:, None] + np.minimum(np.arange(lengths.max()), lengths[:, None] - 1)
            points = np.concatenate(sets)
            self._points.append(points)
            self._begin.append(begin)
            self._padded.append(points[index])

    def rows(self) -> Floats:
        """List rows of unit sum among which are all extreme rays of the cone.

        Returns (size, a): private up to rounding; some are not extreme, and some occur twice.
        """
        found = [np.eye(self.region.conditionals.size)[self._free]]
        for product in self._products:
            for s, (points, corner) in enumerate(product):  # s: the first secret at a corner
                parts = [p[~c] for p, c in product[:s]] + [points[corner]]
                parts += [p for p, _ in product[s + 1 :]]
                which = np.indices([len(p) for p in parts]).reshape(len(parts), -1)
                found.append(np.hstack([p[i] for p, i in zip(parts, which, strict=True)]))
        table = np.concatenate(found)
        return table / table.sum(axis=1, keepdims=True)

    def maximise(self, directions: Floats) -> Floats:
        """Maximise linear functions over the private rows; see :class:`Cone`."""
        # The products are of rows whose least l is 1, not of rows of unit sum. The best ratio of
        # the direction to the sum is found by Dinkelbach's method: subtract the best so far.
        rows = np.full(directions.shape, 1.0 / directions.shape[1])
        values = directions.mean(axis=1)
        active = np.arange(len(directions))
        self.limits.count()
        for _ in range(_MOST_REFINEMENTS):
            if len(active) == 0 or self.limits.met:
                break
            higher = self._best(directions[active] - values[active, None])
            higher /= higher.sum(axis=1, keepdims=True)
            reached = np.einsum("ij,ij->i", higher, directions[active])
            better = reached > values[active] + _HIGHER * np.abs(directions[active]).max(axis=1)
            active = active[better]
            rows[active], values[active] = higher[better], reached[better]
        if len(self._free):
            best = self._free[directions[:, self._free].argmax(axis=1)]
            alone = np.flatnonzero(directions[np.arange(len(rows)), best] > values)
            rows[alone] = np.eye(directions.shape[1])[best[alone]]
        return self.inside(rows)

    def _best(self, directions: Floats) -> Floats:
        """Maximise over the products as they are."""
        parts = np.split(directions, len(self._points), axis=1)
        total = np.zeros((len(self._products), len(directions)))
        for part, points, begin in zip(parts, self._points, self._begin, strict=True):
            total += np.maximum.reduceat(points @ part.T, begin, axis=0)
        product = total.argmax(axis=0)
        best = []
        for part, padded in zip(parts, self._padded, strict=True):
            points = padded[product]
            chosen = np.einsum("nmu,nu->nm", points, part).argmax(axis=1)
            best.append(points[np.arange(len(part)), chosen])
        return np.hstack(best)


def _corners(product: list[tuple[Floats, Booleans]]) -> int:
    """Count the combinations of points of which at least one is a corner."""
    every = prod(len(points) for points, _ in product)
    return every - prod(int((~corner).sum()) for _, corner in product)


def _edges(
    extremes: Floats,
    lower: tuple[float, float],
    upper: tuple[float, float],
    first: float,
    last: float,
) -> _Edges:
    """Follow the vertices of {v >= 0, lower <= extremes @ v <= upper} for r from first to last.

    The bounds are pairs (c, d) for ``c + d * r``. Every choice of a2 tight constraints is tried:
    it gives a point that moves straight, and a vertex while the other constraints hold.
    """
    size = extremes.shape[1]
    sides = np.concatenate([np.eye(size), extremes, -extremes])  # sides @ v >= still + moving * r
    bounds = np.array([[0.0, 0.0]] * size + [lower] * len(extremes) + [upper] * len(extremes))
    bounds[size + len(extremes) :] *= -1.0
    tight = np.array(list(combinations(range(len(sides)), size)))
    scale = np.linalg.norm(sides, axis=1, keepdims=True)
    sides, bounds = sides / scale, bounds / scale
    tight = tight[np.linalg.det(sides[tight]) != 0.0]
    inverse = np.linalg.inv(sides[tight])
    sound = np.linalg.norm(inverse, axis=(1, 2)) < _WORST_CONDITION
    tight, found = tight[sound], inverse[sound] @ bounds[tight[sound]]
    base, slope = found[:, :, 0], found[:, :, 1]
    slack = base @ sides.T - bounds[:, 0]
    growth = slope @ sides.T - bounds[:, 1]
    index = np.arange(len(tight))[:, None]
    slack[index, tight] = growth[index, tight] = 0.0
    nothing = _ROUNDING * last
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = (-slack - nothing) / growth
    rising, falling = growth > _ROUNDING, growth < -_ROUNDING
    start = np.maximum(np.where(rising, crossing, -np.inf).max(axis=1), first)
    end = np.minimum(np.where(falling, crossing, np.inf).min(axis=1), last)
    holds = np.all(rising | falling | (slack >= -nothing), axis=1)
    there = holds & (start <= end)
    base, slope, start, end = base[there], slope[there], start[there], end[there]
    # More constraints than needed may be tight on an edge, which is then found more than once.
    ends = [base + slope * start[:, None], base + slope * end[:, None], start[:, None]]
    keys = np.round(np.hstack(ends) / (_SAME * last))
    _, once = np.unique(keys, axis=0, return_index=True)
    return _Edges(base[once], slope[once], start[once], end[once])


# --- Which cone a design uses ---------------------------------------------------------------------


# How far a row of unit sum may have to be shifted into the exact cone while columns are searched.
# By hand; doubled, nothing changes.
_SEARCH_TOLERANCE = 1e-5
# Cells times pairs of secrets up to which the exact cone is searched; beyond, the complete program
# of a smaller cone. Beyond half of them, linear programs take longer than central paths.
_LARGEST = 4_000
# A cone is curved if linear programs need so many rounds of cuts, on average, for one direction. Of
# Adult's tables of 10 and 40 cells it is 1.6 to 3.9; on tables of 3x5 and 4x8 cells with 30 records
# it is 8 and 11. So many random directions are tried.
_PATIENCE, _TRIED = 6.0, 10


class Cones:
    """The cones of private rows, each made when it is first asked for.

    Parameters
    ----------
    requirements : Requirements
        What a row must satisfy.
    limits : Limits
        When to stop.
    """

    def __init__(self, requirements: Requirements, limits: Limits) -> None:
        self.requirements, self.limits = requirements, limits

    @cached_property
    def product(self) -> ProductCone | None:
        """The exact cone taken apart by secret, where that can be done."""
        return product_cone(self.requirements, self.limits)

    @cached_property
    def exact(self) -> ProductCone | PrivacyCone | None:
        """The exact cone, unless that would take too long to search."""
        if self.product is not None:
            return self.product
        if self._size > _LARGEST:
            return None
        return PrivacyCone(self.requirements, _SEARCH_TOLERANCE, self.limits)

    @property
    def large(self) -> bool:
        """Whether the exact cone has too many constraints for linear programs."""
        return 2 * self._size > _LARGEST

    @cached_property
    def _size(self) -> int:
        return self.requirements.n_cells * self.requirements.n_pairs

    @cached_property
    def blocks(self) -> list[Block] | None:
        """The constraints of central paths, where rows of the exact cone ascend along them."""
        return path_blocks(self.requirements) if isinstance(self.exact, PrivacyCone) else None

    @cached_property
    def by_paths(self) -> bool:
        """Whether linear programs over the exact cone take too long, and paths are better.

        They do if the cone is large, or so curved that they need many cuts.
        """
        cone, most = self.exact, _PATIENCE * _TRIED
        if self.blocks is None or not isinstance(cone, PrivacyCone):
            return False
        if self.large:
            return True
        directions = np.random.default_rng(0).normal(size=(_TRIED, self.requirements.n_cells))
        before = cone.solves
        cone.maximise(directions, most)
        return cone.solves - before >= most

    @cached_property
    def best(self) -> Cone:
        """The exact cone, or a smaller one that is quickly searched."""
        if self.exact is not None:
            return self.exact
        return CompactCone(self.requirements, self.limits)
