r"""The central path: a near-optimal mechanism, and the conditionals that prove it so.

The programs of RobustMSE minimise an expected cost over mechanisms whose every row meets a list of
requirements. Each of these is a *block* of constraints on each row. With the λ of each pair of
secrets as variables of their own, privacy over a set is one smooth concave inequality for each row
and pair, :math:`\varphi(x_1, x_2) - \lambda_1 - \lambda_2 \ge 0` with
:math:`x_i = \lambda_i - q_i \ge 0` (module ``_pair_functions``); privacy over all distributions is
linear in the greatest and least entries (module ``_range_block``); and a robust cost is one more
concave inequality, with a single mean. A primal-dual interior-point method (Nocedal and Wright,
*Numerical Optimization*, chapters 14 and 19) follows their central path. A Newton step costs what
the structure allows: a block's own variables are eliminated first, each row of the mechanism has a
Hessian of its own, and rows meet only where columns must sum to 1. A cost may have a curvature that
joins all rows; it is only ever applied to steps, and conjugate gradients solve the equations then.

Every positive variable (rows, x, slacks) has a *multiplier*, the dual variable of its bound. On the
path the products of all variables and their multipliers are equal; their common value is the
*barrier parameter*. Elsewhere their mean is the *complementarity*, and their sum the *duality gap*.
A step aims at a lower barrier parameter, the complementarity times the *centring parameter*.

The multipliers are scaled conditionals: they give a lower bound on the cost, so the method need not
be trusted. Rounding ends it some 1e-6 from the optimum.
"""

from dataclasses import dataclass

import numpy as np

from skrldp._typing import Floats
from skrldp.design._constraints import Cuts
from skrldp.design._expected_cost import ExpectedCost
from skrldp.design.interior_point._block import Block, Kind, dual_step
from skrldp.design.interior_point._newton_system import Coupling, Curvature, inverses
from skrldp.design.interior_point._pair_functions import concave_mean

__all__ = ["CentralPath"]

# Usual values of interior-point codes. The path ends when its bounds meet, so they bear on time.
# Doubled one at a time, or half of the way to 1, they change costs by less than the gap of 1e-4
# that is allowed, information by at most 6e-5, and time by less than its noise, a sixth
# (benchmarks/bench_constants.py).

_FIRST_COMPLEMENTARITY = 1.0  # in units of the mean cost of a cell and report
# Part of the way to the boundary that a step may go: the usual range of such codes is 0.9 to 0.995.
_FRACTION_TO_BOUNDARY = 0.97
# Range of the centring parameter, which is 1 less the length of the last step: a short step tells
# that the point is far from the path. The first step follows one of _FIRST_LENGTH.
_CENTRING_RANGE = (0.1, 0.9)
_FIRST_LENGTH = 0.5
# Neighbourhood of the path: no product of a variable and its multiplier is less than this part of
# their mean (usual: 1e-3 to 1e-4). Steps are shortened by the factor until that holds, at most so
# many times.
_LEAST_PRODUCT = 1e-4
_SHORTER, _MOST_SHORTENINGS = 0.8, 12
_LEAST_LENGTH = 1e-3  # a shorter step is not worth taking: rounding has ended the path


@dataclass(frozen=True, eq=False)
class _Step:
    """A direction for the rows and a robust cost; the blocks hold those of their variables."""

    rows: Floats
    dual_rows: Floats
    top: float
    dual_cost: Floats


class CentralPath:
    """Follow the central path of a design with a linear or robust cost.

    Parameters
    ----------
    cost : ExpectedCost
        What to minimise.
    blocks : list of Block
        The requirements on each row.
    scale : float, optional
        Unit of the costs; None is their own.
    gap : float, optional
        Duality gap to begin with; None is one that suits a cost that stays as it is.

    Attributes
    ----------
    rows : array of shape (b, a)
        The mechanism. It is private up to an error that vanishes along the path.
    gap : float
        Duality gap, but for the errors that vanish along the path.
    steps : int
        Newton steps taken.
    step_length : float
        Part of the last Newton step that could be taken.
    """

    def __init__(
        self,
        cost: ExpectedCost,
        blocks: list[Block],
        *,
        scale: float | None = None,
        gap: float | None = None,
    ) -> None:
        self.blocks = blocks
        self.steps, self.gap, self.step_length = 0, np.inf, _FIRST_LENGTH
        self.scale = cost.scale if scale is None else scale
        self._objective = cost
        self._cost = cost.cost / self.scale
        self._curvature: Curvature | None = None
        self._theta = 0.0 if cost.alpha == 1.0 else (cost.alpha - 1.0) / cost.alpha
        self._shrink = float(np.exp(-cost.radius))
        b = len(cost.cost)
        self.rows = np.full(cost.cost.shape, 1.0 / b)
        self._initialise()
        if gap is not None:
            self._scale_multipliers(gap)

    def _initialise(self) -> None:
        """Start from uniform reports, which are private with room to spare."""
        # Half of it uniform, so that no cell costs nothing.
        distribution = (
            self._objective.distribution + 1.0 / self._objective.distribution.size
        ) / 2.0
        mean_cost = float(np.abs(distribution * self._cost).mean())
        mean = _FIRST_COMPLEMENTARITY * mean_cost / len(self.rows) or 1.0
        for block in self.blocks:
            block.start(self.rows, mean)
        self._dual_rows = mean / self.rows
        self._top, self._dual_cost = 0.0, np.zeros(0)
        if self._objective.robust:
            cells = self._by_cell(self.rows)
            self._top = float(cells.max()) + 1.0
            self._dual_cost = mean / (self._top - cells)

    def _scale_multipliers(self, gap: float) -> None:
        """Scale the multipliers to a duality gap."""
        mean, count = self._complementarity()
        factor = gap / (mean * count * self.scale)
        for block in self.blocks:
            block.scale_multipliers(factor)
        self._dual_rows = self._dual_rows * factor
        self._dual_cost = self._dual_cost * factor
        self.gap = gap

    def set_cost(self, cost: Floats, curvature: Curvature | None = None) -> None:
        """Change the costs; the path goes on from where it is.

        Parameters
        ----------
        cost : array of shape (b, a)
            Cost of reporting y about a record in cell x.
        curvature : callable, optional
            The Hessian of a cost that is not linear, by the entries of the mechanism: takes a step
            of shape (b, a) to the change of the gradient. Positive semidefinite.
        """
        self._cost, self._curvature = cost / self.scale, curvature

    def _bend(self, step: Floats) -> Floats:
        """Change of the gradient of a curved cost with a step."""
        assert self._curvature is not None  # only asked for then
        bent: Floats = self._curvature(step) / self.scale
        return bent

    def _by_cell(self, rows: Floats) -> Floats:
        return np.einsum("yx,yx->x", rows, self._cost)

    # -- steps ------------------------------------------------------------------------------------

    def _coupling(self) -> tuple[Coupling, Floats] | None:
        """Factorise the Newton equations; the second part is the slope of a robust cost."""
        hessian = np.zeros((*self.rows.shape, self._cost.shape[1]))
        for block in self.blocks:
            hessian += block.hessian(self.rows)
        entry = np.arange(self._cost.shape[1])
        hessian[:, entry, entry] += self._dual_rows / self.rows
        inverse = inverses(hessian)
        if inverse is None:
            return None
        if not self._objective.robust:
            return Coupling(hessian, inverse, self._cost, None), np.zeros(0)
        slack = self._top - self._by_cell(self.rows)
        mean, gradient = concave_mean(slack, self._objective.distribution, self._theta)
        slope = self._shrink * gradient
        exponent = 1.0 - self._theta
        curvature = np.diag(slope * exponent / slack + self._dual_cost / slack)
        curvature -= (slope[:, None] * gradient) * (exponent / mean)
        return Coupling(hessian, inverse, self._cost, curvature), slope

    def _direction(
        self, coupling: Coupling, slope: Floats, barrier: float
    ) -> tuple[_Step, list[Kind]]:
        """Newton direction to where the products of all variables and multipliers are equal."""
        robust = self._objective.robust
        gradient = sum(block.gradient(barrier) for block in self.blocks) - barrier / self.rows
        cost_slack, by_cell, by_top = self._dual_cost, slope, 0.0
        if robust:
            cost_slack = self._top - self._by_cell(self.rows)
            by_cell = slope + barrier / cost_slack
            by_top = 1.0 - float(by_cell.sum())
        else:
            gradient += self._objective.distribution * self._cost
        column_residual = 1.0 - self.rows.sum(axis=0)
        if self._curvature is None:
            rows, top = coupling.solve(gradient, column_residual, by_cell, by_top)
        else:
            rows, top = coupling.solve_curved(gradient, column_residual, self._bend), 0.0
        dual_rows = dual_step(barrier, self.rows, rows, self._dual_rows)
        kinds: list[Kind] = [(self.rows, rows, self._dual_rows, dual_rows)]
        for block in self.blocks:
            kinds += block.step(rows)
        dual_cost = cost_slack
        if robust:
            cost_step = top - self._by_cell(rows)
            dual_cost = dual_step(barrier, cost_slack, cost_step, self._dual_cost)
            kinds.append((cost_slack, cost_step, self._dual_cost, dual_cost))
        return _Step(rows, dual_rows, top, dual_cost), kinds

    def _complementarity(self) -> tuple[float, int]:
        """Mean product of the positive variables and their multipliers, and how many there are."""
        variables = [(self.rows, self._dual_rows)]
        for block in self.blocks:
            variables += block.variables(self.rows)
        if self._objective.robust:
            variables.append((self._top - self._by_cell(self.rows), self._dual_cost))
        total = sum(float(np.vdot(amount, dual)) for amount, dual in variables)
        count = sum(amount.size for amount, _ in variables)
        return total / count, count

    def advance(self, least_gap: float = 0.0, centring: float | None = None) -> bool:
        """Take one Newton step.

        Parameters
        ----------
        least_gap : float
            Gap to aim at; what is nearer to the optimum is worse centred and proves less.
        centring : float, optional
            Centring parameter: the part of the gap that the step aims at. None depends on how far
            the last one went.

        Returns
        -------
        bool
            Whether the step was taken; False when rounding leaves none that is worth it.
        """
        try:
            system = self._coupling()
        except np.linalg.LinAlgError:  # singular to the last digit
            return False
        if system is None:
            return False
        mean, count = self._complementarity()
        if centring is None:
            centring = float(np.clip(1.0 - self.step_length, *_CENTRING_RANGE))
        barrier = max(centring * mean, min(mean, least_gap / self.scale / count))
        try:
            step, kinds = self._direction(*system, barrier)
        except np.linalg.LinAlgError:
            return False
        lengths = [min(1.0, _FRACTION_TO_BOUNDARY * _to_boundary(kinds, part)) for part in (0, 2)]
        for _ in range(_MOST_SHORTENINGS):
            products = [
                (amount + lengths[0] * change) * (dual + lengths[1] * dual_change)
                for amount, change, dual, dual_change in kinds
            ]
            mean = sum(float(p.sum()) for p in products) / count
            if min(float(p.min()) for p in products) >= _LEAST_PRODUCT * mean:
                break
            lengths = [_SHORTER * length for length in lengths]
        if not np.isfinite(mean) or max(lengths) < _LEAST_LENGTH:
            return False
        self._take(step, *lengths)
        self.step_length = min(lengths)
        self.steps += 1
        self.gap = mean * count * self.scale
        return True

    def _take(self, step: _Step, length: float, dual_length: float) -> None:
        for block in self.blocks:
            block.take(length, dual_length)
        self.rows = self.rows + length * step.rows
        self._dual_rows = self._dual_rows + dual_length * step.dual_rows
        if self._objective.robust:
            self._top += length * step.top
            self._dual_cost = self._dual_cost + dual_length * step.dual_cost

    @property
    def value(self) -> float:
        """Cost of the mechanism, nearly."""
        cells = self._by_cell(self.rows)
        if not self._objective.robust:
            return float(self._objective.distribution @ cells) * self.scale
        mean, _ = concave_mean(self._top - cells, self._objective.distribution, self._theta)
        return float(self._top - self._shrink * mean) * self.scale

    # -- what it proves ---------------------------------------------------------------------------

    def cuts(self) -> list[tuple[Cuts, Floats]]:
        """Cuts that the multipliers stand for, with their dual variables in units of the cost.

        Returns
        -------
        list of (Cuts, array of shape (m,))
            For each block. The conditionals are in the regions, and near the end of the path they
            prove a bound on the cost.
        """
        found = (block.cuts(self.rows) for block in self.blocks)
        return [(cuts, multipliers * self.scale) for cuts, multipliers in found]

    def distribution(self) -> Floats:
        """Distribution of X that the multipliers of a robust cost stand for.

        Returns
        -------
        array of shape (a,)
        """
        if not self._objective.robust:
            return self._objective.distribution
        slack = self._top - self._by_cell(self.rows)
        _, gradient = concave_mean(slack, self._objective.distribution, self._theta)
        mass = self._shrink * gradient + self._dual_cost
        return mass / mass.sum()


def _to_boundary(kinds: list[Kind], part: int) -> float:
    """How many steps it takes until the first variable (part 0) or multiplier (2) is zero."""
    fastest = max(float((-kind[part + 1] / kind[part]).max()) for kind in kinds)
    return 1.0 / fastest if fastest > 0 else np.inf
