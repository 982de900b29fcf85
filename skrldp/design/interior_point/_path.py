r"""The central path: a near-optimal mechanism, and the conditionals that prove it so.

The programs of RobustMSE minimise an expected cost over mechanisms whose every row is private for
every pair of secrets. With the λ of each pair as variables of their own, privacy is one smooth
concave inequality for each row and pair, :math:`\varphi(x_1, x_2) - \lambda_1 - \lambda_2 \ge 0`
with :math:`x_i = \lambda_i - q_i \ge 0` (module ``_pairs``), and a robust cost is one more, with a
single mean. A primal-dual interior-point method (Nocedal and Wright, *Numerical Optimization*,
chapters 14 and 19) follows their central path. A Newton step costs what the structure allows: the λ
of a pair are eliminated within the pair, each row of the mechanism has a Hessian of its own, and
rows meet only where columns must sum to 1.

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
from skrldp.design._cost import ExpectedCost
from skrldp.design.interior_point._newton import Coupling, RowSystem, row_system
from skrldp.design.interior_point._pairs import PairFunction, concave_mean

__all__ = ["CentralPath"]

_Kind = tuple[Floats, Floats, Floats, Floats]

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
    """A direction for every variable."""

    rows: Floats
    lam: Floats
    x: Floats
    slack: Floats
    dual_rows: Floats
    dual_x: Floats
    dual: Floats
    top: float
    cost_slack: Floats
    dual_cost: Floats


class CentralPath:
    """Follow the central path of a design with a linear or robust cost.

    Parameters
    ----------
    cost : ExpectedCost
        What to minimise.
    pairs : PairFunction
        Privacy of each pair of secrets.
    shape : tuple (parts, a2)
        Shape of a row; see :attr:`skrldp.region.Region.row_shape`.
    scale : float, optional
        Unit of the costs; None is their own.
    gap : float, optional
        Duality gap to begin with; None is one that suits a cost that stays as it is.

    Attributes
    ----------
    rows : array of shape (b, parts, a2)
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
        pairs: PairFunction,
        shape: tuple[int, int],
        *,
        scale: float | None = None,
        gap: float | None = None,
    ) -> None:
        self.pairs = pairs
        self.steps, self.gap, self.step_length = 0, np.inf, _FIRST_LENGTH
        self.scale = cost.scale if scale is None else scale
        self._objective = cost
        self._cost = cost.cost / self.scale
        self._theta = 0.0 if cost.alpha == 1.0 else (cost.alpha - 1.0) / cost.alpha
        self._shrink = float(np.exp(-cost.radius))
        b = len(cost.cost)
        self.rows = np.full((b, *shape), 1.0 / b)
        # Of uniform reports q is exp(-eps)/b and -1/b; each λ takes a quarter of the room between.
        self._initialise((1.0 - float(pairs.factor[0, 0])) / (4.0 * b))
        if gap is not None:
            self._scale_multipliers(gap)

    def _initialise(self, margin: float) -> None:
        """Start from uniform reports, which are private with room to spare."""
        parts = self.pairs.parts(self.rows)
        self._lam = np.zeros(parts.shape[:3])
        if not self.pairs.fixed:
            self._lam = parts.max(axis=-1) + margin
        x = self._lam[..., None] - parts
        self._slack = self.pairs(x)[0] - self._lam.sum(axis=-1)
        # Half of it uniform, so that no cell costs nothing.
        distribution = (
            self._objective.distribution + 1.0 / self._objective.distribution.size
        ) / 2.0
        mean_cost = float(np.abs(distribution * self._cost).mean())
        mean = _FIRST_COMPLEMENTARITY * mean_cost / len(self.rows) or 1.0
        self._dual = mean / self._slack
        self._dual_rows = mean / self.rows
        self._dual_x = np.zeros_like(x) if self.pairs.fixed else mean / x
        self._top, self._dual_cost = 0.0, np.zeros(0)
        if self._objective.robust:
            cells = self._by_cell(self.rows)
            self._top = float(cells.max()) + 1.0
            self._dual_cost = mean / (self._top - cells)

    def _scale_multipliers(self, gap: float) -> None:
        """Scale the multipliers to a duality gap."""
        mean, count = self._complementarity(self._lam[..., None] - self.pairs.parts(self.rows))
        factor = gap / (mean * count * self.scale)
        self._dual, self._dual_rows = self._dual * factor, self._dual_rows * factor
        self._dual_x, self._dual_cost = self._dual_x * factor, self._dual_cost * factor
        self.gap = gap

    def set_cost(self, cost: Floats) -> None:
        """Change the costs; the path goes on from where it is.

        Parameters
        ----------
        cost : array of shape (b, a)
            Cost of reporting y about a record in cell x.
        """
        self._cost = cost / self.scale

    def _by_cell(self, rows: Floats) -> Floats:
        return np.einsum("yx,yx->x", rows.reshape(len(rows), -1), self._cost)

    # -- steps ------------------------------------------------------------------------------------

    def _systems(self, x: Floats) -> tuple[RowSystem, Coupling, Floats] | None:
        """Factorise the Newton equations; the third part is the slope of a robust cost."""
        row_diagonal = self._dual_rows / self.rows
        rows = row_system(
            self.pairs, self._lam, x, self._dual_x, self._slack, self._dual, row_diagonal
        )
        if rows is None:
            return None
        if not self._objective.robust:
            return rows, Coupling(rows, self._cost, None), np.zeros(0)
        slack = self._top - self._by_cell(self.rows)
        mean, gradient = concave_mean(slack, self._objective.distribution, self._theta)
        slope = self._shrink * gradient
        exponent = 1.0 - self._theta
        curvature = np.diag(slope * exponent / slack + self._dual_cost / slack)
        curvature -= (slope[:, None] * gradient) * (exponent / mean)
        return rows, Coupling(rows, self._cost, curvature), slope

    def _direction(
        self, x: Floats, systems: tuple[RowSystem, Coupling, Floats], barrier: float
    ) -> _Step:
        """Newton direction to where the products of all variables and multipliers are equal."""
        system, coupling, slope = systems
        b, robust = len(self.rows), self._objective.robust
        dual = (barrier - self._dual * system.residual) / self._slack
        gradient, lam_rhs = system.eliminate(dual, x if self.pairs.fixed else barrier / x)
        gradient = (gradient - barrier / self.rows).reshape(b, -1)
        cost_slack, by_cell, by_top = self._dual_cost, slope, 0.0
        if robust:
            cost_slack = self._top - self._by_cell(self.rows)
            by_cell = slope + barrier / cost_slack
            by_top = 1.0 - float(by_cell.sum())
        else:
            gradient += self._objective.distribution * self._cost
        column_residual = 1.0 - self.rows.reshape(b, -1).sum(axis=0)
        change, top = coupling.solve(gradient, column_residual, by_cell, by_top)
        rows = change.reshape(self.rows.shape)
        lam, dx, slack = system.back_substitute(rows, lam_rhs)

        def dual_step(amount: Floats, step: Floats, dual: Floats) -> Floats:
            return (barrier - dual * step) / amount - dual

        cost_step = top - self._by_cell(rows) if robust else cost_slack
        return _Step(
            rows,
            lam,
            dx,
            slack,
            dual_step(self.rows, rows, self._dual_rows),
            self._dual_x if self.pairs.fixed else dual_step(x, dx, self._dual_x),
            dual_step(self._slack, slack, self._dual),
            top,
            cost_step,
            dual_step(cost_slack, cost_step, self._dual_cost) if robust else cost_slack,
        )

    def _complementarity(self, x: Floats) -> tuple[float, int]:
        """Mean product of the positive variables and their multipliers, and how many there are."""
        amounts = [self.rows, self._slack, x]
        duals = [self._dual_rows, self._dual, self._dual_x]
        if self._objective.robust:
            amounts.append(self._top - self._by_cell(self.rows))
            duals.append(self._dual_cost)
        total = sum(float(np.vdot(a, d)) for a, d in zip(amounts, duals, strict=True))
        count = sum(a.size for a in amounts) - (x.size if self.pairs.fixed else 0)
        return total / count, count

    def _positive(self, step: _Step, x: Floats) -> list[_Kind]:
        """Each kind of positive variable with its direction, its multiplier and that one's."""
        kinds: list[_Kind] = [
            (self.rows, step.rows, self._dual_rows, step.dual_rows),
            (self._slack, step.slack, self._dual, step.dual),
        ]
        if not self.pairs.fixed:
            kinds.append((x, step.x, self._dual_x, step.dual_x))
        if self._objective.robust:
            slack = self._top - self._by_cell(self.rows)
            kinds.append((slack, step.cost_slack, self._dual_cost, step.dual_cost))
        return kinds

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
        x = self._lam[..., None] - self.pairs.parts(self.rows)
        systems = self._systems(x)
        if systems is None:
            return False
        mean, count = self._complementarity(x)
        if centring is None:
            centring = float(np.clip(1.0 - self.step_length, *_CENTRING_RANGE))
        barrier = max(centring * mean, min(mean, least_gap / self.scale / count))
        try:
            step = self._direction(x, systems, barrier)
        except np.linalg.LinAlgError:  # singular to the last digit
            return False
        kinds = self._positive(step, x)
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
        self.rows = self.rows + length * step.rows
        self._lam = self._lam + length * step.lam
        self._slack = self._slack + length * step.slack
        self._dual_rows = self._dual_rows + dual_length * step.dual_rows
        self._dual_x = self._dual_x + dual_length * step.dual_x
        self._dual = self._dual + dual_length * step.dual
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

    def conditionals(self) -> tuple[Floats, Floats]:
        """Conditionals that the multipliers stand for, one pair for each row and pair of secrets.

        Returns
        -------
        conditionals : array of shape (b, m, 2, k)
            They sum to 1, and near the end of the path they are nearly in the region.
        multipliers : array of shape (b, m)
            In units of the cost, for cuts whose second secret has coefficient 1.
        """
        x = self._lam[..., None] - self.pairs.parts(self.rows)
        _, slope, _, gradient = self.pairs(x)
        mass = self._dual[..., None, None] * (slope[..., None] * gradient) + self._dual_x
        total = mass.sum(axis=-1, keepdims=True)
        return mass / total, self._dual * self.scale

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


def _to_boundary(kinds: list[_Kind], part: int) -> float:
    """How many steps it takes until the first variable (part 0) or multiplier (2) is zero."""
    fastest = max(float((-kind[part + 1] / kind[part]).max()) for kind in kinds)
    return 1.0 / fastest if fastest > 0 else np.inf
