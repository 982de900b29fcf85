r"""The central path: a near-optimal mechanism, and the laws that prove it so, by Newton steps.

The programs of RobustMSE minimise an expected cost over mechanisms whose every row is private for
every pair of secrets. With the λ of each pair as variables of their own, privacy is one smooth
concave inequality for each row and pair, :math:`\varphi(x_1, x_2) - \lambda_1 - \lambda_2 \ge 0`
with :math:`x_i = \lambda_i - q_i \ge 0` (module ``_pairs``), and a robust cost is one more, with a
single mean. A primal-dual interior-point method follows their central path. A Newton step costs
what the structure allows: the λ of a pair are eliminated within the pair, each row of the mechanism
has a Hessian of its own, and rows meet only where columns must sum to 1.

The multipliers are laws, scaled: they give a lower bound on the cost, so the method need not be
trusted. Rounding ends it some 1e-6 from the optimum.
"""

from dataclasses import dataclass

import numpy as np

from skrldp._typing import Floats
from skrldp.design._cost import ExpectedCost
from skrldp.design.interior_point._newton import Coupling, RowSystem, row_system
from skrldp.design.interior_point._pairs import PairFunction, concave_mean

__all__ = ["CentralPath"]

_Kind = tuple[Floats, Floats, Floats, Floats]

_START = 1.0  # complementarity at the start, in units of the mean cost
_TO_BOUNDARY = 0.97  # share of the way to the boundary that a step may go
_CENTRING = (0.1, 0.9)  # range of the share of the complementarity that a step aims at
_BALANCE = 1e-4  # least product of a pair of variables, relative to their mean


@dataclass(frozen=True, eq=False)
class _Step:
    """A direction for every variable."""

    rows: Floats
    lam: Floats
    x: Floats
    slack: Floats
    price_rows: Floats
    price_x: Floats
    price: Floats
    top: float
    gap: Floats
    price_gap: Floats


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
    reach : float
        Part of the last of them that could be taken.
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
        self.steps, self.gap, self.reach = 0, np.inf, 0.5
        self.scale = cost.scale if scale is None else scale
        self._objective = cost
        self._cost = cost.cost / self.scale
        self._theta = 0.0 if cost.alpha == 1.0 else (cost.alpha - 1.0) / cost.alpha
        self._shrink = float(np.exp(-cost.radius))
        b = len(cost.cost)
        self.rows = np.full((b, *shape), 1.0 / b)
        self._begin((1.0 - float(pairs.factor[0, 0])) / (4.0 * b))
        if gap is not None:
            self._heat(gap)

    def _begin(self, margin: float) -> None:
        """Start from uniform reports, which are private with room to spare."""
        parts = self.pairs.parts(self.rows)
        self._lam = np.zeros(parts.shape[:3])
        if not self.pairs.fixed:
            self._lam = parts.max(axis=-1) + margin
        x = self._lam[..., None] - parts
        self._slack = self.pairs(x)[0] - self._lam.sum(axis=-1)
        law = (self._objective.law + 1.0 / self._objective.law.size) / 2.0  # no cell costs nothing
        mean = _START * float(np.abs(law * self._cost).mean()) / len(self.rows) or 1.0
        self._price = mean / self._slack
        self._price_rows = mean / self.rows
        self._price_x = np.zeros_like(x) if self.pairs.fixed else mean / x
        self._top, self._price_gap = 0.0, np.zeros(0)
        if self._objective.robust:
            cells = self._by_cell(self.rows)
            self._top = float(cells.max()) + 1.0
            self._price_gap = mean / (self._top - cells)

    def _heat(self, gap: float) -> None:
        """Scale the prices to a duality gap."""
        mean, count = self._complementarity(self._lam[..., None] - self.pairs.parts(self.rows))
        factor = gap / (mean * count * self.scale)
        self._price, self._price_rows = self._price * factor, self._price_rows * factor
        self._price_x, self._price_gap = self._price_x * factor, self._price_gap * factor
        self.gap = gap

    def reprice(self, cost: Floats) -> None:
        """Change the costs; the path goes on from where it is.

        Parameters
        ----------
        cost : array of shape (b, a)
            Cost of reporting y about a record in cell x.
        """
        self._cost = cost / self.scale

    def _by_cell(self, rows: Floats) -> Floats:
        return np.einsum("yx,yx->x", rows.reshape(len(rows), -1), self._cost)

    # -- going on ---------------------------------------------------------------------------------

    def _systems(self, x: Floats) -> tuple[RowSystem, Coupling, Floats] | None:
        """Factorise the Newton equations; the third part is the slope of a robust cost."""
        own = self._price_rows / self.rows
        rows = row_system(self.pairs, self._lam, x, self._price_x, self._slack, self._price, own)
        if rows is None:
            return None
        if not self._objective.robust:
            return rows, Coupling(rows, self._cost, None), np.zeros(0)
        gap = self._top - self._by_cell(self.rows)
        mean, gradient = concave_mean(gap, self._objective.law, self._theta)
        slope = self._shrink * gradient
        bend = 1.0 - self._theta
        curve = np.diag(slope * bend / gap + self._price_gap / gap)
        curve -= (slope[:, None] * gradient) * (bend / mean)
        return rows, Coupling(rows, self._cost, curve), slope

    def _direction(
        self, x: Floats, systems: tuple[RowSystem, Coupling, Floats], aim: float
    ) -> _Step:
        """Newton direction towards products of `aim` of all variables and their prices."""
        system, coupling, slope = systems
        b, robust = len(self.rows), self._objective.robust
        weight = (aim - self._price * system.residual) / self._slack
        force, eased = system.force(weight, x if self.pairs.fixed else aim / x)
        force = (force - aim / self.rows).reshape(b, -1)
        gap, by_cell, by_top = self._price_gap, slope, 0.0
        if robust:
            gap = self._top - self._by_cell(self.rows)
            by_cell = slope + aim / gap
            by_top = 1.0 - float(by_cell.sum())
        else:
            force += self._objective.law * self._cost
        short = 1.0 - self.rows.reshape(b, -1).sum(axis=0)
        change, top = coupling.solve(force, short, by_cell, by_top)
        rows = change.reshape(self.rows.shape)
        lam, dx, slack = system.follow(rows, eased)

        def rise(amount: Floats, step: Floats, price: Floats) -> Floats:
            return (aim - price * step) / amount - price

        gap_step = top - self._by_cell(rows) if robust else gap
        return _Step(
            rows,
            lam,
            dx,
            slack,
            rise(self.rows, rows, self._price_rows),
            self._price_x if self.pairs.fixed else rise(x, dx, self._price_x),
            rise(self._slack, slack, self._price),
            top,
            gap_step,
            rise(gap, gap_step, self._price_gap) if robust else gap,
        )

    def _complementarity(self, x: Floats) -> tuple[float, int]:
        """Mean product of the positive variables and their prices, and how many there are."""
        amounts = [self.rows, self._slack, x]
        prices = [self._price_rows, self._price, self._price_x]
        if self._objective.robust:
            amounts.append(self._top - self._by_cell(self.rows))
            prices.append(self._price_gap)
        total = sum(float(np.vdot(a, p)) for a, p in zip(amounts, prices, strict=True))
        count = sum(a.size for a in amounts) - (x.size if self.pairs.fixed else 0)
        return total / count, count

    def _positive(self, step: _Step, x: Floats) -> list[_Kind]:
        """Each kind of positive variable with its direction, its price and that one's."""
        kinds: list[_Kind] = [
            (self.rows, step.rows, self._price_rows, step.price_rows),
            (self._slack, step.slack, self._price, step.price),
        ]
        if not self.pairs.fixed:
            kinds.append((x, step.x, self._price_x, step.price_x))
        if self._objective.robust:
            gap = self._top - self._by_cell(self.rows)
            kinds.append((gap, step.gap, self._price_gap, step.price_gap))
        return kinds

    def advance(self, least: float = 0.0, share: float | None = None) -> bool:
        """Take one step.

        Parameters
        ----------
        least : float
            Gap to aim at; what is nearer to the optimum is worse centred and proves less.
        share : float, optional
            Part of the gap that a step aims at; None depends on how far the last one went.

        Returns
        -------
        bool
            Whether it was worth taking; False when rounding leaves no way on.
        """
        x = self._lam[..., None] - self.pairs.parts(self.rows)
        systems = self._systems(x)
        if systems is None:
            return False
        mean, count = self._complementarity(x)
        if share is None:
            share = float(np.clip(1.0 - self.reach, *_CENTRING))
        aim = max(share * mean, min(mean, least / self.scale / count))
        try:
            step = self._direction(x, systems, aim)
        except np.linalg.LinAlgError:  # singular to the last digit
            return False
        kinds = self._positive(step, x)
        reach = [min(1.0, _TO_BOUNDARY * _reach(kinds, part)) for part in (0, 2)]
        for _ in range(12):  # keep the products of one size
            products = [
                (amount + reach[0] * change) * (price + reach[1] * rise)
                for amount, change, price, rise in kinds
            ]
            mean = sum(float(p.sum()) for p in products) / count
            if min(float(p.min()) for p in products) >= _BALANCE * mean:
                break
            reach = [0.8 * r for r in reach]
        if not np.isfinite(mean) or max(reach) < 1e-3:
            return False
        self._take(step, *reach)
        self.reach = min(reach)
        self.steps += 1
        self.gap = mean * count * self.scale
        return True

    def _take(self, step: _Step, reach: float, reach_price: float) -> None:
        self.rows = self.rows + reach * step.rows
        self._lam = self._lam + reach * step.lam
        self._slack = self._slack + reach * step.slack
        self._price_rows = self._price_rows + reach_price * step.price_rows
        self._price_x = self._price_x + reach_price * step.price_x
        self._price = self._price + reach_price * step.price
        if self._objective.robust:
            self._top += reach * step.top
            self._price_gap = self._price_gap + reach_price * step.price_gap

    @property
    def value(self) -> float:
        """Cost of the mechanism, nearly."""
        cells = self._by_cell(self.rows)
        if not self._objective.robust:
            return float(self._objective.law @ cells) * self.scale
        mean, _ = concave_mean(self._top - cells, self._objective.law, self._theta)
        return float(self._top - self._shrink * mean) * self.scale

    # -- what it proves ---------------------------------------------------------------------------

    def laws(self) -> tuple[Floats, Floats]:
        """Conditionals that the multipliers stand for, one pair for each row and pair of secrets.

        Returns
        -------
        laws : array of shape (b, m, 2, k)
            They sum to 1, and near the end of the path they are nearly in the region.
        prices : array of shape (b, m)
            In units of the cost, for cuts whose second secret has coefficient 1.
        """
        x = self._lam[..., None] - self.pairs.parts(self.rows)
        _, slope, _, gradient = self.pairs(x)
        mass = self._price[..., None, None] * (slope[..., None] * gradient) + self._price_x
        total = mass.sum(axis=-1, keepdims=True)
        return mass / total, self._price * self.scale

    def law(self) -> Floats:
        """Law of X that the multipliers of a robust cost stand for.

        Returns
        -------
        array of shape (a,)
        """
        if not self._objective.robust:
            return self._objective.law
        gap = self._top - self._by_cell(self.rows)
        _, gradient = concave_mean(gap, self._objective.law, self._theta)
        mass = self._shrink * gradient + self._price_gap
        return mass / mass.sum()


def _reach(kinds: list[_Kind], part: int) -> float:
    """How many steps it takes until the first of the variables (part 0) or prices (2) is zero."""
    fastest = max(float((-kind[part + 1] / kind[part]).max()) for kind in kinds)
    return 1.0 / fastest if fastest > 0 else np.inf
