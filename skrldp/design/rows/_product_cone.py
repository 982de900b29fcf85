r"""The cone of private rows, taken apart by secret: exact maxima without a linear program.

Where the conditionals of the secrets are free of one another, a row v is private if
:math:`h_s(v_s) \le e^\epsilon l_{s'}(v_{s'})` for all secrets :math:`s \ne s'`, with h and l the
greatest and least report probability of a secret. Say the least of all l is 1, at the secret z,
and the least of the others is r. Then v is private if and only if

.. math:: l_z \ge 1,\; h_z \le e^\epsilon r, \qquad l_s \ge r,\; h_s \le e^\epsilon \; (s \ne z),

so for a given z and r the secrets are free of one another: the rows are a product of small
polytopes. As r grows, the vertices of each move along straight edges. A vertex of the whole must
have an edge that begins or ends for some secret (else it could move both ways), so only finitely
many r matter, and the extreme rays of the cone are among the products of points on edges there.
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

import numpy as np

from skrldp._typing import Booleans, Floats
from skrldp.design.rows._cone import Cone
from skrldp.design.rows._facets import is_polyhedral
from skrldp.design.run import Limits
from skrldp.exceptions import SolverError
from skrldp.privacy import Requirements

__all__ = ["ProductCone", "product_cone"]


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
