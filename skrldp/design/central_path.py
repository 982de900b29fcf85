r"""The central path: a nearly optimal mechanism, and conditionals that prove its optimality.

The programs of RobustMSE minimise an expected cost over mechanisms whose rows satisfy a list of
requirements. Each of these is a *block* of constraints on each row. With the λ of each pair of
secrets as additional variables, privacy over a set is one smooth concave inequality for each row
and pair, :math:`\varphi(x_1, x_2) - \lambda_1 - \lambda_2 \ge 0` with :math:`x_i = \lambda_i - q_i
\ge 0` (:class:`PairBlock`); privacy over all distributions is linear in the largest and smallest
entries (:class:`RangeBlock`); and a robust cost is one more concave inequality, with a single mean.
A primal-dual interior-point method (Nocedal and Wright, *Numerical Optimization*, chapters 14 and
19) follows their central path. A Newton step exploits the structure: a block's own variables are
eliminated first, each row of the mechanism has a separate Hessian, and rows are coupled only by the
columns' sums.

Every positive variable (rows, x, slacks) has a *multiplier*, the dual variable of its bound. On the
path, the products of all variables and their multipliers are equal; their common value is the
*barrier parameter*. Elsewhere, their mean is the *complementarity* and their sum the *duality gap*.
A step aims at a lower barrier parameter, the complementarity times the *centring parameter*.
Remaining violations of the nonlinear inequalities must be repaired.

The multipliers are scaled conditionals: they give a lower bound on the cost, so the result does not
rely on the method. Rounding stops the method about 1e-6 from the optimum.

**Single rows.** Linear functions are maximised over single private rows, many at a time.

The rows of :class:`CentralPath` are coupled by the column sums. Here, each row sums to 1 and has
its own objective, barrier parameter and step length.
"""

from dataclasses import dataclass, replace

import numpy as np

from skrldp._typing import Floats
from skrldp.design.limits import ROUNDING, Workers
from skrldp.design.newton_system import (
    Block,
    Coupling,
    Kind,
    Part,
    Steps,
    farthest,
    parts_of,
)
from skrldp.design.pair_blocks import concave_mean
from skrldp.design.programs import Cuts, ExpectedCost

# The usual values of interior-point codes. The path ends when its bounds meet, so they only affect
# the time. Doubling one of them, or halving its distance from 1, changes costs by less than the
# allowed gap of 1e-4, information by at most 6e-5, and the time by less than its random variation
# of a sixth.

# Range of the centring parameter, which is 1 minus the length of the last step (at first 0.5): a
# short step shows that the point is far from the path. With a maximum of 0.9, reports do not
# separate in time: at 252 cells, annealing of 16 reports ends up to 3 % lower.
CENTRING_RANGE = (0.1, 0.99)
# Initial duality gap, in units of the possible gain.
FIRST_GAP = 10.0


@dataclass(frozen=True)
class _Direction:
    """The direction of a step."""

    parts: list[Steps]  # of the rows of each part
    top: float  # step of the top of a robust cost
    costs: Kind  # a robust cost's slacks and multipliers, with their steps
    bounds: Floats  # (2,), number of steps until a variable, or a multiplier, is zero


class CentralPath:
    """Follow the central path of a design with a linear or robust cost.

    Parameters
    ----------
    cost : ExpectedCost
        The cost to minimise.
    blocks : list of Block
        The requirements on each row.
    scale : float, optional
        Unit of the costs; by default, the costs' own scale.
    gap : float, optional
        Initial duality gap; the default is suitable for a cost that does not change.
    workers : Workers, optional
        Threads; None for the calling thread.

    Attributes
    ----------
    gap : float
        Duality gap, except for errors that vanish along the path.
    steps : int
        Newton steps taken.
    step_length : float
        Fraction of the last Newton step that was taken.
    """

    def __init__(
        self,
        cost: ExpectedCost,
        blocks: list[Block],
        *,
        scale: float | None = None,
        gap: float | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.steps, self.gap, self.step_length = 0, np.inf, 0.5
        self.scale = cost.scale if scale is None else scale
        self._objective, self._workers = cost, workers or Workers()
        self._cost = cost.cost / self.scale
        self._theta = 0.0 if cost.alpha == 1.0 else (cost.alpha - 1.0) / cost.alpha
        self._shrink = float(np.exp(-cost.radius))
        self._start(blocks)
        if gap is not None:
            self._scale_multipliers(gap)

    def _start(self, blocks: list[Block]) -> None:
        """Start from uniform reports, which satisfy the privacy constraints strictly."""
        # Half of it is uniform, so that the cost of every cell counts.
        distribution = (
            self._objective.distribution + 1.0 / self._objective.distribution.size
        ) / 2.0
        mean_cost = float(np.abs(distribution * self._cost).mean())
        b, a = self._cost.shape
        mean = mean_cost / b or 1.0
        uniform = np.full((b, a), 1.0 / b)
        places = parts_of(b, a)
        self._parts = [Part(place, uniform[place], blocks, mean) for place in places]
        self._top, self._dual_cost = 0.0, np.zeros(0)
        if self._objective.robust:
            cells = self._by_cell(uniform)
            self._top = float(cells.max()) + 1.0
            self._dual_cost = mean / (self._top - cells)

    @property
    def rows(self) -> Floats:
        """The mechanism, shape (b, a), private up to an error that vanishes along the path."""
        return np.concatenate([part.rows for part in self._parts])

    def _scale_multipliers(self, gap: float) -> None:
        """Scale the multipliers to a duality gap."""
        mean, count = self._complementarity(self.rows)
        factor = gap / (mean * count * self.scale)
        for part in self._parts:
            part.scale_multipliers(factor)
        self._dual_cost = self._dual_cost * factor
        self.gap = gap

    def set_cost(self, cost: Floats) -> None:
        """Change the costs; the path continues from its current point.

        Shapes: `cost` (b, a).
        """
        self._cost = cost / self.scale

    def _by_cell(self, rows: Floats) -> Floats:
        return np.einsum("yx,yx->x", rows, self._cost)

    # -- steps ------------------------------------------------------------------------------------

    def _direction(self, rows: Floats, barrier: float) -> _Direction:
        """Find the Newton direction."""
        equations = self._workers.map(lambda part: part.linearise(barrier), self._parts)
        gradient = np.concatenate([of_part.gradient for of_part in equations])
        by_cell, by_top, curvature = np.zeros(0), 0.0, None
        if self._objective.robust:
            slack = self._top - self._by_cell(rows)
            slope, curvature = self._robust_cost(slack)
            by_cell = slope + barrier / slack
            by_top = 1.0 - float(by_cell.sum())
        else:
            gradient += self._objective.distribution * self._cost
        coupling = Coupling(equations, self._workers, self._cost, curvature)
        residual = 1.0 - rows.sum(axis=0)
        step, top = coupling.solve(gradient, residual, by_cell, by_top)
        parts = self._workers.map(lambda of_part: of_part.steps(step[of_part.place]), equations)
        costs = self._cost_steps(rows, step, top, barrier)
        nearest = [_to_boundary(costs), *(steps.bounds.min(axis=0) for steps in parts)]
        return _Direction(parts, top, costs, np.min(nearest, axis=0))

    def _robust_cost(self, slack: Floats) -> tuple[Floats, Floats]:
        """Find the slope of a robust cost in the cells' slacks, and minus its curvature."""
        mean, gradient = concave_mean(slack, self._objective.distribution, self._theta)
        slope = self._shrink * gradient
        exponent = 1.0 - self._theta
        curvature = np.diag(slope * exponent / slack + self._dual_cost / slack)
        curvature -= (slope[:, None] * gradient) * (exponent / mean)
        return slope, curvature

    def _complementarity(self, rows: Floats) -> tuple[float, int]:
        """Mean product of the positive variables and their multipliers, and their number."""
        found = self._workers.map(Part.complementarity, self._parts)
        total = sum(float(of_rows.sum()) for of_rows, _ in found)
        count = sum(len(of_rows) * number for of_rows, number in found)
        if self._objective.robust:
            total += float((self._top - self._by_cell(rows)) @ self._dual_cost)
            count += self._dual_cost.size
        return total / count, count

    def _cost_steps(self, rows: Floats, step: Floats, top: float, barrier: float) -> Kind:
        """Find the steps of a robust cost's slacks and their multipliers; none without one."""
        if not self._objective.robust:
            return (np.zeros(0),) * 4
        slack, slack_step = self._top - self._by_cell(rows), top - self._by_cell(step)
        dual = (barrier - self._dual_cost * slack_step) / slack - self._dual_cost
        return slack, slack_step, self._dual_cost, dual

    def _products(self, direction: _Direction, lengths: Floats) -> float:
        """Sum the products of variables and multipliers after a partial step."""
        slack, slack_step, dual, step = direction.costs
        products = (slack + lengths[0] * slack_step) * (dual + lengths[1] * step)
        found = self._workers.map(
            lambda steps: steps.products(_each(lengths, steps.kinds[0][0])), direction.parts
        )
        return float(products.sum()) + sum(float(of_rows.sum()) for of_rows in found)

    def advance(self, least_gap: float = 0.0, centring: float | None = None) -> bool:
        """Take one Newton step.

        Returns bool: whether the step was taken; False if rounding prevents further progress.
        """
        if self.gap <= ROUNDING**2 * self.scale:  # only rounding errors are left
            return False
        rows = self.rows
        mean, count = self._complementarity(rows)
        if centring is None:
            centring = float(np.clip(1.0 - self.step_length, *CENTRING_RANGE))
        barrier = max(centring * mean, min(mean, least_gap / self.scale / count))
        try:
            direction = self._direction(rows, barrier)
        except np.linalg.LinAlgError:  # numerically singular
            return False
        lengths = farthest(direction.bounds)
        total = self._products(direction, lengths)
        if not np.isfinite(total) or lengths.max() < 1e-3:  # rounding stopped the path
            return False
        moves = zip(self._parts, direction.parts, strict=True)
        self._workers.map(lambda move: move[0].take(move[1], _each(lengths, move[0].rows)), moves)
        self._top += float(lengths[0]) * direction.top
        self._dual_cost = self._dual_cost + lengths[1] * direction.costs[3]
        self.step_length = float(lengths.min())
        self.steps += 1
        self.gap = total * self.scale
        return True

    def arrived(self, gap: float) -> bool:
        """Whether the gap is approximately at its target."""
        return self.gap <= 2.0 * gap

    @property
    def value(self) -> float:
        """Approximate cost of the mechanism."""
        cells = self._by_cell(self.rows)
        if not self._objective.robust:
            return float(self._objective.distribution @ cells) * self.scale
        mean, _ = concave_mean(self._top - cells, self._objective.distribution, self._theta)
        return float(self._top - self._shrink * mean) * self.scale

    # -- bounds from the multipliers -----------------------------------------------------------

    def cuts(self) -> list[tuple[Cuts, Floats]]:
        """Return the cuts that the multipliers represent, with dual variables in units of the cost.

        Returns (m,): the conditionals are in the regions, and near the end of the path they prove a
        bound on the cost.
        """
        found = []
        for part in self._parts:
            for block, point in zip(part.blocks, part.points, strict=True):
                cuts, multipliers = block.cuts(point)
                cuts = replace(cuts, row=cuts.row + part.place.start)
                found.append((cuts, multipliers * self.scale))
        return found

    def distribution(self) -> Floats:
        """Return the distribution of X that the multipliers of a robust cost represent.

        Shapes: returns (a,).
        """
        if not self._objective.robust:
            return self._objective.distribution
        slack = self._top - self._by_cell(self.rows)
        _, gradient = concave_mean(slack, self._objective.distribution, self._theta)
        mass = self._shrink * gradient + self._dual_cost
        return mass / mass.sum()


def _each(lengths: Floats, rows: Floats) -> Floats:
    """Use the same lengths for each row."""
    return np.broadcast_to(lengths, (len(rows), 2))


def _to_boundary(kind: Kind) -> Floats:
    """Return the number of steps until the first variable, and the first multiplier, is zero."""
    fastest = [(-kind[i + 1] / kind[i]).max(initial=0.0) for i in (0, 2)]
    with np.errstate(divide="ignore"):
        return 1.0 / np.abs(fastest)  # avoids negative zero


# --- Single rows ----------------------------------------------------------------------------------


class RowPaths:
    """Follow the central paths of several rows.

    Parameters
    ----------
    slopes : array of shape (b, a)
        Linear functions to maximise, one for each row.
    blocks : list of Block
        The requirements on each row.
    workers : Workers, optional
        Threads; None for the calling thread.

    Attributes
    ----------
    gaps : array of shape (b,)
        Duality gap of each row, except for errors that vanish along the path.
    """

    def __init__(
        self, slopes: Floats, blocks: list[Block], *, workers: Workers | None = None
    ) -> None:
        self._workers = workers or Workers()
        b, a = slopes.shape
        uniform = np.full((b, a), 1.0 / a)
        places = parts_of(b, a)
        self._parts = [Part(place, uniform[place], blocks, 1.0) for place in places]
        self._count = self._parts[0].complementarity()[1]
        gap = FIRST_GAP * float(np.ptp(slopes, axis=1).mean()) or 1.0
        for part in self._parts:
            part.scale_multipliers(gap / self._count)
        self.gaps = np.full(b, gap)
        self._lengths = np.full(b, 0.5)
        self.set_slopes(slopes)

    def set_slopes(self, slopes: Floats) -> None:
        """Change the linear functions; the paths continue from their current points.

        Shapes: `slopes` (b, a).
        """
        self._slopes = slopes

    @property
    def rows(self) -> Floats:
        """The rows, shape (b, a), private up to errors that vanish along the path."""
        return np.concatenate([part.rows for part in self._parts])

    def advance(self, least_gaps: Floats) -> bool:
        """Take one Newton step of each row.

        Shapes: `least_gaps` (b,). Returns bool: whether it was taken; False if rounding stopped a
        path.
        """
        return all(
            self._workers.map(lambda part: self._advance(part, least_gaps[part.place]), self._parts)
        )

    def _advance(self, part: Part, least_gaps: Floats) -> bool:
        place, count = part.place, self._count
        mean = part.complementarity()[0] / count
        centring = np.clip(1.0 - self._lengths[place], *CENTRING_RANGE)
        barrier = np.maximum(centring * mean, np.minimum(mean, least_gaps / count))
        try:
            equations = part.linearise(barrier)
            gradient = equations.gradient - self._slopes[place]
            both = equations.solve(np.stack([gradient, np.ones_like(gradient)], axis=2))
        except np.linalg.LinAlgError:
            return False
        alone, ones = both[..., 0], both[..., 1]
        missing = 1.0 - part.rows.sum(axis=1)
        multiplier = (missing + alone.sum(axis=1)) / ones.sum(axis=1)
        steps = equations.steps(multiplier[:, None] * ones - alone)
        lengths = farthest(steps.bounds)
        total = steps.products(lengths)
        if not np.isfinite(total).all():
            return False
        part.take(steps, lengths)
        self._lengths[place], self.gaps[place] = lengths.min(axis=1), total
        return True
