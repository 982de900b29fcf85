r"""The criterion of A-optimality: the sum of the variances of given estimates.

Let π be the distribution of X and q a mechanism. The maximum-likelihood estimate of π from n
reports has, for large n, the covariance :math:`(M^{-1} - \pi \pi^T) / n`, with the *information
matrix* :math:`M = \sum_y q_y q_y^T / (q_y \cdot \pi)`: the second term is the reduction due to the
constraint that probabilities sum to 1, since :math:`M \pi = 1`. The variances of estimates of
linear functions C of π sum to :math:`\operatorname{tr} C M^{-1} C^T - |C\pi|^2`, divided by n. M is
linear in the weights of rows and the trace is convex in M, so a design with the smallest sum is an
*A-optimal design* over private rows. The price of a row v is :math:`v^T G v / (v \cdot \pi)`, with
:math:`G = M^{-1} C^T C M^{-1}`.

Reports that are nearly equal are merged, and the best mixture of given rows is found by a
primal-dual interior-point method.
"""

import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.lapack import dpocon, dpotrf

from skrldp._typing import Booleans, Floats
from skrldp.design.criteria import Criterion, Master, Optimum
from skrldp.design.limits import EQUAL, LITTLE, ROUNDING, TIGHT
from skrldp.design.newton_system import FRACTION_TO_BOUNDARY
from skrldp.design.solution import ObjectiveBound
from skrldp.exceptions import SolverError
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements

# --- The A-optimal mixture of given rows, by a primal-dual interior-point method ------------------


# Minimum centring parameter near the requested gap, where the point should be on the central path,
# because later mixtures start there. It also applies to steps of at most this length, which are not
# corrected. Otherwise, the minimum is its cube. Doubling it takes more steps.
_CENTRING = 0.1
# A mixture starts from the previous weights, with this share of the total weight and of the mean
# price spread evenly. With half or three times this share, the number of steps is the same.
_SPREAD = 0.1
# Share of the previous prices and duals in those used to price further rows, because the prices of
# rough mixtures oscillate. Without it, the result for 7 x 16 cells is 9 % higher after 5 s; at
# 0.7, 4 % higher.
_PREVIOUS = 0.5
# If rows exceed the first number plus this many per cell, those with the smallest weights are
# removed when others are added. Keeping twice as many doubles the time for pairs of columns, whose
# first mixtures are rough.
_MOST_ROWS, _ROWS_A_CELL = 150, 3
# Growth factor of this limit, up to the second number, because late mixtures need more rows:
# without it, the result for 90 cells is 2 % higher after 10 s of processor time. Doubling the
# maximum takes four times as long at 434 cells.
_GROWTH, _MOST_IN_ALL = 1.02, 1_000
# Reports with a probability below this, divided by the number of cells, are omitted if little is
# lost. Doubling it changes nothing at 18 cells.
_RARE = 0.02
# Maximum number of steps. Successful ones take at most 25.
_MOST_STEPS = 40


class VarianceMaster(Master):
    r"""Weights θ on rows that minimise :math:`\operatorname{tr} C M(\theta)^{-1} C^T`.

    Parameters
    ----------
    distribution : array of shape (a,)
        Distribution of the cells of a row, positive.
    functions : array of shape (m, a)
        The linear functions C.
    rows : array of shape (k, a)
        Permanent rows, some strictly positive mixture of which is a mechanism.

    Attributes
    ----------
    duals : array of shape (a,)
        Dual variables of the column sums at the best weights, relative to the sum of variances;
        averaged with the previous ones if the weights are rough.
    price : array of shape (a, a)
        The matrix G, which defines the price of a row v as vᵀ G v / (v · distribution); scaled and
        averaged like `duals`.
    """

    def __init__(self, distribution: Floats, functions: Floats, rows: Floats) -> None:
        super().__init__(rows)
        self._most = float(_MOST_ROWS + _ROWS_A_CELL * len(distribution))
        self.distribution, self._root = distribution, np.sqrt(distribution)
        self._functions = functions * self._root
        if len(functions) > len(distribution):  # an equivalent set of functions
            self._functions = np.linalg.qr(self._functions)[1]
        self._priced = self._functions  # and all cells, if needed
        self._squares = float(((functions @ distribution) ** 2).sum())
        self._first = 0  # number of permanent initial rows
        self._weights, self._gap = np.zeros(0), 0.0
        self.duals = self._last_duals = np.zeros(len(distribution))
        self.price = np.zeros((len(distribution),) * 2)
        # At the best weights, with the squares of the means included: the sum of the priced
        # variances, and that of the functions' variances alone.
        self._total = self._asked = -np.inf
        self.add(rows)
        self._first = len(self.rows)

    def add(self, rows: Floats) -> None:
        """Add rows, replacing useless ones except the initial ones."""
        rows = rows[rows @ self.distribution > ROUNDING * rows.sum(axis=1)]
        most = int(min(self._most, _MOST_IN_ALL)) - len(rows)
        if len(self._weights) == len(self.rows) > most:
            order = -self._weights
            order[: self._first] = -np.inf
            kept = max(most, self._first + len(self.distribution))
            stay = np.sort(np.argsort(order, kind="stable")[:kept])
            self.rows, self._weights = self.rows[stay], self._weights[stay]
            self.n_removals += 1
            self._most *= _GROWTH
        self.rows = np.concatenate([self.rows, rows / rows.sum(axis=1, keepdims=True)])

    def _best(
        self,
        rows: Floats,
        end: float = np.inf,
        gap: float = 0.0,
        begun: tuple[Floats, Floats] | None = None,
    ) -> "_Point":
        point = _Point(rows, self._root, self._priced, max(gap, TIGHT), begun)
        while not point.ended and point.steps < _MOST_STEPS:
            if time.perf_counter() >= end:
                if point.residual <= TIGHT:
                    break
                raise TimeoutError(
                    f"the time limit was reached before the weights of {len(rows)} rows were found"
                )
            if not point.step():
                break
        return point

    def solve(self, seconds: float | None = None, gap: float = 0.0) -> Optimum:
        """Find the best weights.

        Raises SolverError if no mixture of the rows is a mechanism; ``TimeoutError`` at the time
        limit.
        """
        end = np.inf if seconds is None else time.perf_counter() + seconds
        count, self._gap = len(self._weights), gap
        begun = (self._begun(), self._last_duals) if count else None
        point = self._best(self.rows, end, gap, begun)
        in_time = time.perf_counter() < end
        if not point.good and count and in_time:
            point = self._best(self.rows, end, gap)
        if not point.good and in_time:
            point = self._best_with_cells(end, gap)
        if not point.good and in_time:
            raise SolverError(
                f"the weights of {len(self.rows)} rows were not found: gap {point.gap:.1e}, sums "
                f"of columns off by {point.residual:.1e}."
            )
        self._weights, self._total = point.weights, point.total
        self._last_duals = point.duals / point.relative
        previous = _PREVIOUS if count and gap > LITTLE else 0.0
        self.duals = previous * self.duals + (1.0 - previous) * self._last_duals
        self.price = previous * self.price + (1.0 - previous) * point.price
        self._asked = point.variance_of(self._functions)
        if self._priced is not self._functions:
            self.added = self._total / self._asked - 1.0
        return Optimum(self._weights, self.duals, self._squares - point.total)

    def _begun(self) -> Floats:
        """Spread a part of the last weights over all rows, keeping the required column sums.

        The initial rows compensate for added and removed rows.
        """
        count, n_cells = len(self._weights), len(self.distribution)
        spread = np.full(len(self.rows), n_cells / len(self.rows))
        weights = (1.0 - _SPREAD) * np.pad(self._weights, (0, len(self.rows) - count))
        if self._first != n_cells:
            return weights + _SPREAD * spread
        sums = np.stack([np.ones(n_cells), self.rows[count:].sum(axis=0)], axis=1)
        alone, by_new = np.linalg.solve(self.rows[:n_cells].T, sums).T
        share = 0.5 * alone.min() / max(by_new.max(), TIGHT)
        spread[:n_cells], spread[n_cells:count], spread[count:] = alone - share * by_new, 0.0, share
        begun = weights + _SPREAD * spread
        begun[:n_cells] += np.linalg.solve(self.rows[:n_cells].T, 1.0 - begun @ self.rows)
        return np.maximum(begun, ROUNDING)

    def _best_with_cells(self, end: float, gap: float) -> "_Point":
        """Find weights with a small, decreasing multiple of all cells' variances added.

        The best reports may contain information only about the functions, so that their information
        matrix is singular. The sum of the functions' variances exceeds the minimum by at most the
        amount added.
        """
        n_cells = len(self.distribution)
        found, begun = None, None
        for part in (LITTLE, EQUAL, TIGHT):  # in units of the functions' sum of variances
            before = self._priced
            size = np.sqrt(part * float((self._functions**2).sum()) / n_cells)
            self._priced = np.linalg.qr(np.vstack([self._functions, size * np.eye(n_cells)]))[1]
            point = self._best(self.rows, end, gap, begun)
            if not point.good and found is not None:
                self._priced = before
                break
            found, begun = point, (point.weights, point.duals / point.relative)
            if point.total <= (1.0 + LITTLE) * point.variance_of(self._functions):
                break
        assert found is not None
        return found

    def at_most(self, rows: Floats, value: float) -> float:
        r"""Bound minus the sum of variances of all mixtures of some rows, by weak duality.

        With any matrix H, :math:`\operatorname{tr} C M^{-1} C^T \ge (\operatorname{tr} C H)^2 / h`,
        where h bounds the value of a mechanism at the prices of :math:`H H^T`. Here H is
        :math:`M^{-1} C^T` at the best weights, whose prices exceed the bound given by the duals by
        at most the largest reduced cost.
        """
        missed = float((self.reduced_costs(rows) / rows.sum(axis=1)).max(initial=0.0))
        worth = float(self.duals.sum()) + len(self.duals) * missed
        most = self._total * worth
        least = self._asked**2 / most if most > 0.0 else 0.0  # a variance cannot be negative
        return self._squares - least

    def support(self, weights: Floats) -> Booleans:
        """Return which rows have more than a very small probability."""
        return weights * (self.rows @ self.distribution) > EQUAL

    def mechanism(self, weights: Floats, seconds: float | None = None) -> Floats:
        """Convert a mixture to a mechanism, without negligible rows if possible."""
        end = np.inf if seconds is None else time.perf_counter() + seconds
        mass = weights * (self.rows @ self.distribution) * len(self.distribution)
        # Rough weights do not show which rows matter, and callers that use them merge rows anyway.
        for share in (_RARE, _RARE / 100.0) if self._gap <= LITTLE else ():
            frequent = mass > share
            if not frequent.any():
                continue
            with suppress(TimeoutError):
                begun = (weights[frequent], self._last_duals)
                point = self._best(self.rows[frequent], end, 0.0, begun)
                if point.good and point.total <= self._total * (1.0 + LITTLE):
                    return self.rows[frequent] * point.weights[:, None]
        return super().mechanism(weights)

    def reduced_costs(self, rows: Floats) -> Floats:
        """Return the reduced costs of rows, relative to the sum of variances."""
        mass = rows @ self.distribution
        priced = ((rows @ self.price) * rows).sum(axis=1) / np.maximum(mass, ROUNDING)
        return priced - rows @ self.duals

    def slopes(self, rows: Floats) -> Floats:
        """Return the gradients of the reduced costs."""
        mass = np.maximum(rows @ self.distribution, ROUNDING)[:, None]
        along = rows @ self.price / mass
        own = (along * rows).sum(axis=1)[:, None] / mass
        slope: Floats = 2.0 * along - own * self.distribution - self.duals
        return slope


class _Point:
    """A point of the interior-point method, in units of the sum of variances at its start.

    Each step first predicts how far the products of weights and multipliers can fall, and is then
    corrected accordingly (Mehrotra 1992).
    """

    def __init__(
        self,
        rows: Floats,
        root: Floats,
        functions: Floats,
        gap: float,
        begun: tuple[Floats, Floats] | None = None,
    ) -> None:
        self._sums, self._root, self._functions = rows.T, root, functions
        self._scaled = np.asfortranarray((rows * root / np.sqrt(rows @ root**2)[:, None]).T)
        self.wanted, self.steps, self._unit = gap, 0, 1.0
        self.weights = np.full(len(rows), len(root) / len(rows))
        self.duals = np.zeros(len(root))
        if begun is not None:
            self.weights, self.duals = begun
        self._evaluate()
        self._unit = self.total
        prices, more = self._prices, 1.0 if begun is None else _SPREAD
        costs = self.duals @ self._sums - prices if begun is not None else prices
        self._multipliers = np.abs(costs) + more * prices.mean() + ROUNDING

    def _evaluate(self) -> None:
        """Find the sum of variances, and price the rows."""
        information = (self._scaled * self.weights) @ self._scaled.T
        information[np.diag_indices_from(information)] += ROUNDING  # makes it regular
        half = cholesky(information, lower=True, check_finite=False)
        self._factor, self._known = half, _solve(half, self._scaled)
        variances = _solve(half, self._functions.T)
        self.total = float(np.vdot(variances, variances))
        self._half = _solve(half, variances, transposed=True)
        self._along = self._half.T @ self._scaled
        self._raw = np.einsum("ky,ky->y", self._along, self._along)

    def variance_of(self, functions: Floats) -> float:
        """Sum of the variances of some functions, with the squares of the means included."""
        return float((_solve(self._factor, functions.T) ** 2).sum())

    @property
    def _prices(self) -> Floats:
        prices: Floats = self._raw / self._unit
        return prices

    @property
    def relative(self) -> float:
        """Sum of variances in units of the point."""
        return self.total / self._unit

    @property
    def price(self) -> Floats:
        """Matrix G of the price of a row v, vᵀ G v / (v · distribution), shape (a, a).

        Relative to the sum of variances.
        """
        matrix: Floats = self._half @ self._half.T / self.total
        return matrix * self._root * self._root[:, None]

    @property
    def gap(self) -> float:
        """Duality gap, relative to the sum of variances."""
        missed = np.abs(self.duals @ self._sums - self._prices - self._multipliers)
        return float(self.weights @ (self._multipliers + missed)) / self.relative

    @property
    def residual(self) -> float:
        """How far the column sums are from 1."""
        return float(np.abs(1.0 - self._sums @ self.weights).max())

    @property
    def good(self) -> bool:
        """Whether the weights are usable."""
        return self.gap <= max(LITTLE, self.wanted) and self.residual <= TIGHT

    @property
    def ended(self) -> bool:
        """Whether the weights have the required accuracy."""
        return self.gap <= self.wanted and self.residual <= TIGHT

    def step(self) -> bool:
        """Take a step; False if rounding prevents it."""
        weights, multipliers, prices = self.weights, self._multipliers, self._prices
        hessian = self._known.T @ self._known
        hessian *= self._along.T @ self._along
        hessian *= 2.0 / self._unit
        hessian[np.diag_indices_from(hessian)] += multipliers / weights
        missing = 1.0 - self._sums @ weights
        try:
            factor = cholesky(hessian.T, overwrite_a=True, check_finite=False).T
            sums = _solve(factor, self._sums.T)
            across = sums.T @ sums
            across[np.diag_indices_from(across)] += ROUNDING * np.trace(across)
            half = cholesky(across, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return False

        def direction(aim: Floats | float) -> tuple[Floats, Floats, Floats]:
            """Step, multipliers' step and new duals, for the target products."""
            right = _solve(factor, prices + aim / weights)
            duals = _solve(half, _solve(half, sums.T @ right - missing), transposed=True)
            change = _solve(factor, right - sums @ duals, transposed=True)
            missed = _solve(half, self._sums @ change - missing)  # by rounding
            more = _solve(half, missed, transposed=True)
            change -= _solve(factor, sums @ more, transposed=True)
            duals = duals + more
            return change, aim / weights - multipliers - multipliers / weights * change, duals

        mean = float(weights @ multipliers) / len(weights)
        change, turn, _ = direction(0.0)
        length, other = _length(weights, change, 1.0), _length(multipliers, turn, 1.0)
        predicted = float((weights + length * change) @ (multipliers + other * turn))
        short = length * other <= _CENTRING**2
        near = short or _CENTRING * self.gap <= self.wanted
        least = _CENTRING if near else _CENTRING**3
        aim: Floats | float = max((predicted / len(weights) / mean) ** 3, least) * mean
        if not short:
            aim = aim - length * other * change * turn
        change, turn, duals = direction(aim)
        length, other = _length(weights, change), _length(multipliers, turn)
        if not np.isfinite(length * other) or max(length, other) < ROUNDING:
            return False
        self.steps += 1
        self.weights = weights + length * change
        self._multipliers = multipliers + other * turn
        self.duals = self.duals + other * (duals - self.duals)
        try:
            self._evaluate()
        except np.linalg.LinAlgError:
            return False
        return True


def _solve(factor: Floats, right: Floats, transposed: bool = False) -> Floats:
    """Solve with a lower triangular matrix, or with its transpose."""
    found: Floats = solve_triangular(
        factor, right, lower=True, trans=int(transposed), check_finite=False
    )
    return found


def _length(amounts: Floats, changes: Floats, part: float = FRACTION_TO_BOUNDARY) -> float:
    fastest = float((-changes / amounts).max())
    return min(1.0, part / fastest) if fastest > 0 else 1.0


# --- Fewer reports: those that are nearly equal are merged ----------------------------------------


# Share of the rows that are merged at once. With a quarter, up to 10 % more rows remain for the
# same loss at 2 x 30 cells; with a thirtieth, the same number remains, but merging takes twice as
# long.
_AT_ONCE = 0.1
# Minimum fraction of its information that a direction is assumed to retain when rows are compared.
# Doubling it changes nothing.
_LEAST = 1e-3


def merged_rows(matrix: Floats, distribution: Floats, functions: Floats, most: float) -> Floats:
    """Merge rows while the sum of the variances and squared means is at most `most`.

    A sum of private rows is private. Rows are merged in pairs, beginning with the smallest loss.

    Shapes: `matrix` (b, a), `distribution` (a,), `functions` (m, a); returns (c, a), c at most b.
    """
    root = np.sqrt(distribution)
    scaled = functions * root
    if len(scaled) > len(root):  # an equivalent set of functions
        scaled = np.linalg.qr(scaled)[1]
    merged, share = _Merged.of(matrix, root, scaled), _AT_ONCE
    # With fewer rows than cells, reports would no longer determine all cells.
    while merged is not None and len(merged.matrix) > len(root):
        number = min(max(int(share * len(merged.matrix)), 1), len(merged.matrix) - len(root))
        fewer = _Merged.of(merged.paired(number), root, scaled)
        if fewer is not None and fewer.total <= most:
            matrix, merged = fewer.matrix, fewer
        elif number > 1:
            share /= 2.0
        else:
            break
    return matrix


@dataclass(frozen=True, eq=False)
class _Merged:
    """A mechanism, and the information in its reports.

    `posteriors` (a, b) are relative to the probability of each cell, in the coordinates in which
    the information matrix M is I; `known` (m, b) are their images under C M⁻¹.
    """

    matrix: Floats
    mass: Floats
    posteriors: Floats
    known: Floats
    total: float

    @classmethod
    def of(cls, matrix: Floats, root: Floats, functions: Floats) -> "_Merged | None":
        """Return None if rounding prevents an information matrix."""
        mass = matrix @ root**2
        posteriors = (matrix * root / mass[:, None]).T
        information = posteriors * mass @ posteriors.T
        information[np.diag_indices_from(information)] += ROUNDING
        try:
            half = cholesky(information, lower=True, check_finite=False)
        except LinAlgError:
            return None
        posteriors = solve_triangular(half, posteriors, lower=True, check_finite=False)
        variances = solve_triangular(half, functions.T, lower=True, check_finite=False)
        total = float(np.vdot(variances, variances))
        return cls(matrix, mass, posteriors, variances.T @ posteriors, total)

    def paired(self, number: int) -> Floats:
        """Merge up to this many rows with others, each at most once.

        If two rows have posteriors p and q and masses v and w, their sum has less information; the
        difference is the matrix D = d dᵀ = vw / (v + w) (p - q)(p - q)ᵀ. The sum of variances tr C
        M⁻¹ Cᵀ grows by exactly |C M⁻¹ d|² / (1 - dᵀ M⁻¹ d).
        """
        both = self.mass[:, None] * self.mass / (self.mass[:, None] + self.mass)
        left = np.maximum(1.0 - both * _squares(self.posteriors), _LEAST)
        losses = both * _squares(self.known) / left
        np.fill_diagonal(losses, np.inf)
        nearest, least = losses.argmin(axis=1), losses.min(axis=1)
        free, stays = np.ones((2, len(nearest)), dtype=bool)
        sums = self.matrix.copy()
        for row in np.argsort(least, kind="stable"):
            other = nearest[row]
            if number and free[row] and free[other]:
                free[row] = free[other] = stays[other] = False
                sums[row] += sums[other]
                number -= 1
        return sums[stays]


def _squares(points: Floats) -> Floats:
    """Return the squared distances of columns, (b, b)."""
    squares = (points**2).sum(axis=0)
    found: Floats = np.maximum(squares[:, None] + squares - 2.0 * points.T @ points, 0.0)
    return found


# --- The criterion --------------------------------------------------------------------------------


# Weight of the variances of all cells when reports are merged. Doubling it changes nothing at 18
# cells.
_OF_CELLS = 0.1


class Variance(Criterion):
    """Sum of the variances of linear functions of the distribution, estimated from one report.

    Parameters
    ----------
    distribution : array of shape (a,)
        Distribution of the cells of a row, positive where a function is not 0.
    functions : array of shape (m, a)
        The functions, scaled by the square roots of their weights.
    """

    sense = -1
    name = "sum of variances"

    def __init__(self, distribution: Floats, functions: Floats) -> None:
        super().__init__(distribution)
        self.functions = functions

    def at(self, distribution: Floats) -> "Variance":
        """Return the same criterion at a different distribution."""
        return Variance(distribution, self.functions)

    def bound(self, joint: JointDistribution, requirements: Requirements) -> ObjectiveBound:
        """Return the sum of the variances from raw records."""
        return ObjectiveBound(
            self._of_records(self.distribution), "estimates from the records themselves"
        )

    def _of_records(self, distribution: Floats) -> float:
        """Sum of the variances of the functions of one record."""
        means = self.functions @ distribution
        return float((self.functions**2 @ distribution).sum() - means @ means)

    def variances(self, matrix: Floats) -> Floats:
        """Return the asymptotic variances of the estimates, times the number of reports.

        Shapes: `matrix` (b, a). Returns (m,): infinite if reports do not determine the function.
        """
        sent = matrix[matrix.max(axis=1) > 0]
        mass = np.maximum(sent @ self.distribution, ROUNDING)
        squares = (self.functions @ self.distribution) ** 2
        told = sent / np.sqrt(mass)[:, None]
        lengths = np.sqrt((told**2).sum(axis=0))
        information = (told / lengths).T @ (told / lengths)
        half, is_singular = dpotrf(information, lower=1)
        if not is_singular and dpocon(half, information.sum(axis=0).max(), "L")[0] > TIGHT:
            known = _solve(half, (self.functions / lengths).T)
            return np.maximum((known**2).sum(axis=0) - squares, 0.0)
        unit = sent / np.sqrt(sent.sum(axis=1))[:, None]
        _, sizes, basis = np.linalg.svd(unit, full_matrices=False)
        basis = basis[sizes > TIGHT]  # the others are 0 up to rounding errors
        parts = self.functions @ basis.T
        outside = np.linalg.norm(self.functions - parts @ basis, axis=1)
        determined = outside <= EQUAL * np.linalg.norm(self.functions, axis=1)
        triangle: Floats = np.linalg.qr(told @ basis.T)[1]
        found = (np.linalg.solve(triangle.T, parts.T) ** 2).sum(axis=0) - squares
        return np.where(determined, np.maximum(found, 0.0), np.inf)

    def value(self, matrix: Floats) -> float:
        """Return minus the sum of the variances."""
        return -float(self.variances(matrix).sum())

    def bound_at(self, distribution: Floats, value: float) -> float:
        """Bound the sum of the variances of every mechanism at a different distribution.

        If that distribution has at least a certain share of each probability of this one, its
        information matrix is at most that of this one, divided by the share.
        """
        means = self.functions @ self.distribution
        share = float((distribution / self.distribution).min())
        others = self.functions @ distribution
        at_least = share * (float(means @ means) - value) - float(others @ others)
        return max(at_least, self._of_records(distribution))

    def optimum_about(self, stated: float, promise: float) -> float | None:
        r"""Estimate the smallest sum of variances from the largest reduced cost of further rows.

        If no row has a larger reduced cost than those found, weak duality bounds the trace from
        below by its current value divided by 1 plus the promise, as in
        :meth:`VarianceMaster.at_most`.
        """
        means = self.functions @ self.distribution
        squares = float(means @ means)
        least = (stated + squares) / (1.0 + promise) - squares
        return min(max(least, self._of_records(self.distribution)), stated)

    def merged(self, matrix: Floats, loss: float) -> Floats:
        """Merge rows as long as the sum of the variances grows by no more than `loss`.

        So that the reports still determine everything else that they did, the variances of all
        cells are included with a weight of a tenth.
        """
        sent, value = matrix[matrix.max(axis=1) > 0], self.value(matrix)
        if not np.isfinite(value) or not (sent @ self.distribution).all():
            return matrix
        functions, every = self.functions, np.diag((self.distribution > 0) * 1.0)
        of_cells = Variance(self.distribution, every).value(matrix)
        if np.isfinite(of_cells) and of_cells < 0.0:
            functions = np.vstack([functions, np.sqrt(_OF_CELLS * value / of_cells) * every])
            value *= 1.0 + _OF_CELLS
        means = functions @ self.distribution
        most = float(means @ means) - (1.0 + loss) * value
        merged = merged_rows(sent, self.distribution, functions, most)
        return merged if np.isfinite(self.value(merged)) else matrix

    def master(self, rows: Floats) -> Master:
        """Begin a convex program."""
        return VarianceMaster(self.distribution, self.functions, rows)
