r"""The most that a private row can be worth, over a box: a linear program that is never too small.

A row v with :math:`P \cdot v = 1` has the information :math:`\mu(v) = \sum_x P_x v_x \log v_x`.
With the mean of each secret, :math:`m_s = P_{U|s} \cdot v_s`, and the shape
:math:`c_x = v_x / m_s`, it is

.. math:: \mu(v) = \sum_s P_s m_s \log m_s + \sum_x P_x m_s c_x \log c_x .

Both are sums of convex functions of one variable. Over a *box*, a range for each mean and each
shape, a convex function is at most its chord. With the chords the information is linear in v and
m, and privacy is outside no finite list of cuts: so a linear program bounds the reduced cost
:math:`\mu(v) - \lambda \cdot v` of all private rows in the box.

Its dual variables prove the bound, whatever the solver's tolerance: any of them give one, by weak
duality (Lagrange). They tell too which parts of the box hold no row that is worth enough.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from skrldp._arrays import LARGEST_EXPONENT
from skrldp._highs import LinearProgram
from skrldp._typing import Booleans, Floats, Indices
from skrldp.design.programs import Cuts
from skrldp.information import row_information
from skrldp.privacy.requirements import Requirements

# Ranges are made wider than they were computed, for rounding: relatively, and by the rest. A range
# below the second is none.
WIDER, CLOSED = 1.0 + 1e-9, 1e-12
_LEAST = 1e-6  # what R . c must exceed for a cut to count
# Nats for a violation by 1 of what the box says: the program then always has a solution. It bears
# on no bound, as the proof is about the program without violations.
_PENALTY = 100.0
_SECANTS = 4  # steps towards where a function meets a target


# --- Boxes ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Box:
    """Ranges of the shapes, one for each cell with records, and then of the means."""

    # lower, upper: (c + a1,), ends of the ranges
    lower: Floats
    upper: Floats

    @property
    def empty(self) -> bool:
        """Whether nothing is inside."""
        return bool(np.any(self.lower > self.upper))

    def halves(self, which: int, at: float, to: float | None = None) -> "tuple[Box, Box]":
        """Cut one range in two."""
        upper, lower = self.upper.copy(), self.lower.copy()
        upper[which], lower[which] = at, at if to is None else to
        return replace(self, upper=upper), replace(self, lower=lower)


class Priced(NamedTuple):
    """What the rows in a box are worth."""

    # No private row in the box has a greater reduced cost, or else it is below the level
    bound: float
    row: Floats  # (a,), the row that the program found
    reduced_cost: float  # its reduced cost
    gaps: Floats  # (c + a1,), by how much the chord of each range makes it too large there
    point: Floats  # (c + a1,), its shapes and means
    box: Box  # the box, less some parts without rows that are worth more than the level
    # (c + a1,), between these two no row in the box is worth more than the level, unless they are
    # in reverse order
    hole: tuple[Floats, Floats]


class Ranges:
    """Shapes of a secret average to 1, means too, and a cut bounds the ratio of two means.

    Parameters
    ----------
    share : array of shape (a,)
        Probability of each cell, given its secret.
    secret : integer array of shape (a,)
        The secret of each cell.
    seen : integer array of shape (c,)
        The cells with records.
    weight : array of shape (a1,)
        Probability of each secret.
    """

    def __init__(self, share: Floats, secret: Indices, seen: Indices, weight: Floats) -> None:
        self._share, self._secret, self._seen, self._weight = share, secret, seen, weight
        self._of, self._a1 = secret[seen], len(weight)
        self._first = self._second = np.zeros(0, dtype=np.intp)
        self._factor, self._more, self._less = np.zeros(0), *np.zeros((2, 0, len(seen)))

    def add(self, cuts: Floats) -> None:
        """Learn cuts, ``factor R_1 . v_s <= R_2 . v_t``.

        Shapes: `cuts` (m, a).
        """
        of_secret = (self._secret[:, None] == np.arange(self._a1)).astype(float)
        positive, negative = np.maximum(cuts, 0.0), np.maximum(-cuts, 0.0)
        plus, minus = positive @ of_secret, negative @ of_secret
        first, second = plus.argmax(axis=1), minus.argmax(axis=1)
        up, down = plus.max(axis=1), minus.max(axis=1)
        # What has no records is not among the shapes, so R_2 must not have it.
        unseen = negative.sum(axis=1) - negative[:, self._seen].sum(axis=1)
        fits = (plus.sum(axis=1) <= up * (1.0 + CLOSED)) & (up > 0)
        fits &= (minus.sum(axis=1) <= down * (1.0 + CLOSED)) & (down > 0)
        fits &= (first != second) & (unseen <= 0)
        up, down = np.where(fits, up, 1.0), np.where(fits, down, 1.0)
        # R . c = 1 + (R - P) . c, which is known better where R is near P.
        public = np.where(of_secret.T > 0, self._share, 0.0)
        more = (positive / up[:, None] - public[first])[:, self._seen]
        less = (negative / down[:, None] - public[second])[:, self._seen]
        self._first = np.append(self._first, first)
        self._second = np.append(self._second, second)
        self._factor = np.append(self._factor, np.where(fits, down / up, np.inf))
        self._more = np.concatenate([self._more, more])
        self._less = np.concatenate([self._less, less])

    def within(self, box: Box) -> Box:
        """Leave out of a box some of what no row can have."""
        box = self._averaged(box)
        if box.empty:
            return box
        c = len(self._seen)
        lower, upper = box.lower.copy(), box.upper.copy()
        low, high = lower[c:], upper[c:]
        ratios = self._ratios(box)
        for _ in range(2):
            np.minimum(high, (ratios * high).min(axis=1), out=high)
            np.maximum(low, (low[:, None] / ratios).max(axis=0), out=low)
        return self._averaged(Box(lower, upper))

    def _averaged(self, box: Box) -> Box:
        """Use that the shapes of each secret average to 1, and the means."""
        c = len(self._seen)
        lower, upper = box.lower.copy(), box.upper.copy()
        one = np.zeros(self._a1, dtype=np.intp)
        for part, weight, group in (
            (slice(0, c), self._share[self._seen], self._of),
            (slice(c, None), self._weight, one),
        ):
            for _ in range(2):
                low, high = weight * lower[part], weight * upper[part]
                rest_low = np.bincount(group, low, self._a1)[group] - low
                rest_high = np.bincount(group, high, self._a1)[group] - high
                most, least = (1.0 - rest_low) / weight, (1.0 - rest_high) / weight
                spare = CLOSED / weight  # for the rounding of sums of about 1
                upper[part] = np.minimum(upper[part], np.maximum(most, 0.0) * WIDER + spare)
                lower[part] = np.maximum(lower[part], least / WIDER - spare)
        return Box(lower, upper)

    def _ratios(self, box: Box) -> Floats:
        """Bound the mean of each secret over that of each other, shape (a1, a1)."""
        c = len(self._seen)
        lower, upper = box.lower[:c], box.upper[:c]
        least = 1.0 + np.maximum(self._more, 0.0) @ lower + np.minimum(self._more, 0.0) @ upper
        most = 1.0 + np.maximum(self._less, 0.0) @ upper + np.minimum(self._less, 0.0) @ lower
        ratio = np.full(len(least), np.inf)
        np.divide(self._factor * most, least, out=ratio, where=least > _LEAST)
        ratios = np.full((self._a1, self._a1), np.inf)
        np.minimum.at(ratios, (self._first, self._second), np.maximum(ratio, _LEAST) * WIDER)
        return ratios


# --- The program ----------------------------------------------------------------------------------


class Relaxation:
    """Bounds on the reduced costs of private rows v with ``P . v = 1``.

    Parameters
    ----------
    requirements : Requirements
        What a row must satisfy.
    distribution : array of shape (a1, a2)
        Distribution of the cells, with records of every secret.
    most : array of shape (a,)
        No private row has a greater entry.
    means : pair of arrays of shape (a1,)
        No private row has a smaller or a greater mean.

    Attributes
    ----------
    solves : int
        Linear programs solved.
    """

    def __init__(
        self,
        requirements: Requirements,
        distribution: Floats,
        most: Floats,
        means: tuple[Floats, Floats],
    ) -> None:
        self.requirements, self.solves = requirements, 0
        self.distribution, self.weight = distribution.ravel(), distribution.sum(axis=1)
        a1, a2 = distribution.shape
        self._a, self._a1, self._most = a1 * a2, a1, most
        self._secret = np.repeat(np.arange(a1), a2)
        self._share = self.distribution / self.weight[self._secret]
        self._seen = np.flatnonzero(self.distribution > 0)
        self._of = self._secret[self._seen]  # the secret of each cell with records
        shapes = 1.0 / self._share[self._seen]
        self.box = Box(
            np.concatenate([np.zeros(len(self._seen)), means[0]]),
            np.concatenate([shapes, means[1]]) * WIDER,
        )
        self._ranges = Ranges(self._share, self._secret, self._seen, self.weight)
        self._cuts = np.zeros((0, self._a))
        self._program = self._begin()
        for one in requirements:
            self._add(Cuts.at_public(one))

    def _begin(self) -> LinearProgram:
        """Write the program without its cuts; columns: v, m, and violations of the rest."""
        a, a1, c = self._a, self._a1, len(self._seen)
        self._columns = a + a1 + 1 + 2 * a1
        program = LinearProgram(np.zeros(self._columns))
        equal = np.zeros((1 + a1, self._columns))
        equal[0, :a] = self.distribution
        equal[1 + self._secret, np.arange(a)] = self._share
        for place, sign in ((a, -1.0), (a + a1 + 1, 1.0), (a + 2 * a1 + 1, -1.0)):
            equal[1 + np.arange(a1), place + np.arange(a1)] = sign
        right = np.zeros(1 + a1)
        right[0] = 1.0
        program.add_rows(equal, right, right)
        shapes, some = np.zeros((2 * c, self._columns)), np.arange(c)
        shapes[some, self._seen], shapes[some, a + self._of] = 1.0, -1.0
        shapes[c + some, self._seen], shapes[c + some, a + self._of] = -1.0, 1.0
        shapes[:, a + a1] = -1.0
        program.add_rows(shapes, -np.inf, 0.0)
        self._ends: Floats = np.ones(2 * c)
        self._fixed = program.n_rows
        return program

    # -- cuts -------------------------------------------------------------------------------------

    def cut(self, rows: Floats, above: float) -> Booleans:
        """Add the privacy constraints that rows violate by more than this.

        Shapes: `rows` (b, a). Returns (b,): which rows violate some.
        """
        violated = np.zeros(len(rows), dtype=bool)
        unit = rows / rows.sum(axis=1, keepdims=True)
        for one in self.requirements:
            found = one.region.worst(unit, one.eps, above=above, conditionals=True)
            if len(found.row):
                violated[found.row] = True
                found = replace(found, row=np.zeros_like(found.row))
                self._add(Cuts.worst(one.region, found))
        return violated

    def _add(self, cuts: Cuts) -> None:
        table = cuts.coefficients(1, self._a).toarray()
        more = np.zeros((len(table), self._columns - self._a))
        self._program.add_rows(np.concatenate([table, more], axis=1), -np.inf, 0.0)
        self._cuts = np.concatenate([self._cuts, table])
        self._ranges.add(table)

    # -- bounds -----------------------------------------------------------------------------------

    def prices(self, rows: Floats) -> Floats:
        """Return the information of rows, of any scale.

        Shapes: `rows` (b, a); returns (b,).
        """
        return row_information(rows, self.distribution)

    def reduced_costs(self, rows: Floats, duals: Floats) -> Floats:
        """Return the reduced costs of rows that are made private, with ``P . v = 1``.

        Shapes: `rows` (b, a); `duals` (a,); returns (b,).
        """
        private = self.requirements.shift(rows)
        return (self.prices(private) - private @ duals) / (private @ self.distribution)

    def price(self, box: Box, duals: Floats, level: float) -> Priced | None:
        """Bound the reduced costs of the private rows in a box.

        Shapes: `duals` (a,). Returns Priced or None: none if there is no row of interest in the
        box.
        """
        box = self._ranges.within(box)
        if box.empty:
            return None
        a, a1, c = self._a, self._a1, len(self._seen)
        slope, offset = _chords(box)
        cost_of_m = self.weight * slope[c:]
        cost_of_m += np.bincount(self._of, self.distribution[self._seen] * offset[:c], a1)
        cost_of_v = -duals
        cost_of_v[self._seen] += self.distribution[self._seen] * slope[:c]
        x, y = self._optimum(box, np.concatenate([cost_of_v, cost_of_m]))
        bound, smaller, hole = self.proven(box, duals, y, level)
        if bound <= level:
            return None
        row = np.maximum(x[:a], 0.0)
        mean = np.bincount(self._secret, self._share * row, a1)
        point = np.concatenate([row[self._seen] / np.maximum(mean[self._of], 1e-300), mean])
        size = np.concatenate([self.distribution[self._seen] * mean[self._of], self.weight])
        point = np.clip(point, box.lower, box.upper)
        gaps = size * (slope * point + offset - xlogy(point, point))
        reduced_cost = float(self.prices(row[None])[0] - duals @ row)
        return Priced(bound, row, reduced_cost, gaps, point, smaller, hole)

    def proven(
        self, box: Box, duals: Floats, y: Floats, level: float
    ) -> tuple[float, Box, tuple[Floats, Floats]]:
        """Bound the reduced cost of the private rows in a box, by weak duality.

        Given the dual variables of the sum, the means and the cuts, what is left is a sum of convex
        functions of one shape each, times the mean: greatest at ends of the ranges.

        Shapes: `duals` (a,); `y` (n_rows,). Returns `bound`: no private row in the box has a
        greater reduced cost; `smaller`: the box, less ends where it is below the level; `hole` (c
        + a1,): within each range it is below the level between these two.
        """
        a1, c, seen = self._a1, len(self._seen), self._seen
        on_means, on_cuts = y[1 : 1 + a1], np.maximum(y[self._fixed :], 0.0)
        linear = -duals - y[0] * self.distribution - on_means[self._secret] * self._share
        linear -= on_cuts @ self._cuts
        unseen = self.distribution == 0
        bound = float(y[0]) + float((np.maximum(linear, 0.0) * self._most)[unseen].sum())
        size = np.concatenate([self.distribution[seen], self.weight])
        slope = np.concatenate([linear[seen], on_means])
        most_of_shapes = _greatest(size[:c], slope[:c], box.lower[:c], box.upper[:c])
        slope[c:] += np.bincount(self._of, most_of_shapes, a1)
        most_of_means = _greatest(size[c:], slope[c:], box.lower[c:], box.upper[c:])
        bound += float(most_of_means.sum())
        # A row is worth less than the bound by what its shape is below the greatest, times the
        # least mean, or by what its mean is below.
        room = (bound - level) * WIDER + CLOSED
        least = np.concatenate([np.maximum(box.lower[c:][self._of], 1e-300), np.ones(a1)])
        target = np.concatenate([most_of_shapes, most_of_means]) - room / least
        smaller, *hole = _above(size, slope, box, target)
        return bound, smaller, (hole[0], hole[1])

    def _optimum(self, box: Box, cost: Floats) -> tuple[Floats, Floats]:
        """Solve the program over a box; return its solution and dual variables."""
        a, a1, c = self._a, self._a1, len(self._seen)
        ends = np.concatenate([-box.upper[:c], box.lower[:c]])
        changed = np.flatnonzero(ends != self._ends)
        self._program.set_coefficients(
            1 + a1 + changed, a + np.tile(self._of, 2)[changed], ends[changed]
        )
        self._ends = ends
        lower, upper = np.zeros(self._columns), np.full(self._columns, np.inf)
        upper[:a] = self._most
        lower[a : a + a1], upper[a : a + a1] = box.lower[c:], box.upper[c:]
        self._program.set_bounds(lower, upper)
        penalties = np.full(self._columns - len(cost), -_PENALTY)
        self._program.set_cost(np.concatenate([cost, penalties]))
        x, y, _ = self._program.solve()
        self.solves += 1
        return x, y


def _greatest(size: Floats, slope: Floats, lower: Floats, upper: Floats) -> Floats:
    """Maximise ``size x log x + slope x`` over ranges."""
    at_lower = size * xlogy(lower, lower) + slope * lower
    return np.maximum(at_lower, size * xlogy(upper, upper) + slope * upper)


def _above(size: Floats, slope: Floats, box: Box, target: Floats) -> tuple[Box, Floats, Floats]:
    """Find where ``size x log x + slope x`` is below a target: at ends of ranges, and within them.

    The functions are convex, so they are below their secants: where these meet the target is on the
    safe side.
    """
    lower, upper = box.lower, box.upper

    def value(x: Floats) -> Floats:
        return np.asarray(size * xlogy(x, x) + slope * x)

    with np.errstate(over="ignore"):
        lowest = np.exp(np.minimum(-slope / np.maximum(size, 1e-300) - 1.0, LARGEST_EXPONENT))
    lowest = np.clip(lowest, lower, upper)
    lowest = np.where(size > 0, lowest, np.where(slope > 0, lower, upper))
    ends = []
    for end in (lower, upper):
        at_end, near = value(end), lowest
        begins_above = at_end >= target
        for _ in range(_SECANTS):
            drop = at_end - value(near)
            part = np.ones(len(end))
            np.divide(at_end - target, drop, out=part, where=begins_above & (drop > CLOSED))
            near = np.where(part < 1.0, end + part * (near - end), near)
        ends.append((near, begins_above))
    (left, from_left), (right, from_right) = ends
    left = left + (CLOSED + 1e-9 * np.abs(left))
    right = right - (CLOSED + 1e-9 * np.abs(right))
    there = value(lowest) < target
    smaller = Box(
        np.where(from_left | ~there, lower, np.maximum(lower, right)),
        np.where(from_right | ~there, upper, np.minimum(upper, left)),
    )
    return smaller, np.where(there, left, upper), np.where(there, right, lower)


def _chords(box: Box) -> tuple[Floats, Floats]:
    """Slopes of the chords of ``x log x`` over ranges, and their values at 0."""
    low, high = xlogy(box.lower, box.lower), xlogy(box.upper, box.upper)
    width = box.upper - box.lower
    slope = np.zeros(len(width))
    np.divide(high - low, width, out=slope, where=width > CLOSED)
    # Over a range that is none, a constant that is not smaller at either end.
    return slope, np.maximum(low - slope * box.lower, high - slope * box.upper)
