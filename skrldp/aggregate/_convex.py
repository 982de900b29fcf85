"""Convex functions of distributions, and many convex programs over distributions at once.

A program is to minimise c·x + f(x) over the distributions x with h_j(x) <= 0, where f and all h_j
are convex. Several costs c are taken together: the steps of an interior-point method are then a few
operations on arrays for all of them.

For any x̄ and any multipliers λ >= 0, a convex function lies above its tangent, so with
g = c + f'(x̄) + Σ λ_j h_j'(x̄) no feasible x has a smaller value than

    c·x̄ + f(x̄) + Σ λ_j h_j(x̄) − g·x̄ + min_x g_x.

This *bound* needs no convergence. Together with the value at a feasible point it encloses the
minimum.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from skrldp._typing import Floats

__all__ = ["Convex", "Logarithms", "Means", "Minima", "Powers", "minimise"]

# Interior-point method; usual values (Boyd and Vandenberghe, Convex Optimization, ch. 11).
_MAX_STEPS = 100
_LEAST_BARRIER = 1e-14  # parameter below which nothing but rounding changes
_FRACTION_TO_BOUNDARY = 0.99  # of the way to the nearest zero that a step may go
_FRACTION_OF_SLACK = 0.01  # of the slack of a constraint that a step leaves
_DECREASE = 1e-4  # part of the predicted decrease that the line search asks for (Armijo)
_ROUNDING = 64.0 * np.finfo(float).eps
_HALVINGS = 40
_BARRIER_FACTORS = (0.05, 0.2, 0.5)  # after a step longer than a half, a shorter one, and none
_DUAL_RANGE = (1e-8, 1e8)  # of the dual variables, in units of barrier parameter / x
_RIDGES = (1e-15, 1e-12, 1e-9, 1e-6)  # tried in turn until Cholesky's method succeeds
_FEW_CELLS = 40  # up to which the linear systems are solved as one stack
_MOST_NUMBERS = 8_000_000  # in the Hessians of the programs that are solved together


class Convex(ABC):
    """A convex function of positive vectors, evaluated at many points at once."""

    @abstractmethod
    def value(self, points: Floats) -> Floats:
        """Values at the points: (m, a) to (m,)."""

    @abstractmethod
    def slope(self, points: Floats) -> Floats:
        """Gradients at the points: (m, a) to (m, a)."""

    @abstractmethod
    def add_curvature(self, points: Floats, factors: Floats, total: Floats) -> None:
        """Add the Hessians at the points, times factors (m,), to `total`, (m, a, a)."""


class Logarithms(Convex):
    """−Σ_y w_y log (R x)_y − offset: a log-likelihood's negative.

    Parameters
    ----------
    weights : array of shape (b,)
        Positive weights w.
    offset : float
        What is subtracted.
    rows : array of shape (b, a), optional
        The matrix R; the identity if there is none.
    """

    def __init__(self, weights: Floats, offset: float, rows: Floats | None = None) -> None:
        self.weights, self.offset, self.rows = weights, offset, rows

    def _inner(self, points: Floats) -> Floats:
        inner: Floats = points if self.rows is None else points @ self.rows.T
        return inner

    def value(self, points: Floats) -> Floats:
        """Values at the points: (m, a) to (m,)."""
        values: Floats = -np.log(self._inner(points)) @ self.weights - self.offset
        return values

    def slope(self, points: Floats) -> Floats:
        """Gradients at the points: (m, a) to (m, a)."""
        prices: Floats = -self.weights / self._inner(points)
        return prices if self.rows is None else prices @ self.rows

    def add_curvature(self, points: Floats, factors: Floats, total: Floats) -> None:
        """Add the Hessians at the points, times factors (m,), to `total`, (m, a, a)."""
        curvature = factors[:, None] * self.weights / self._inner(points) ** 2
        if self.rows is None:
            _diagonal(total)[...] += curvature
        else:
            for place, scale in enumerate(curvature):
                scaled = self.rows * np.sqrt(scale)[:, None]
                total[place] += scaled.T @ scaled


class Powers(Convex):
    """± Σ_x w_x x^p − offset, with the sign that makes it convex: a power divergence.

    Parameters
    ----------
    weights : array of shape (a,)
        Weights w >= 0.
    power : float
        Any number < 1 but 0.
    offset : float
        What is subtracted.
    """

    def __init__(self, weights: Floats, power: float, offset: float) -> None:
        self.power, self.offset = power, offset
        self.weights = weights if power < 0 else -weights

    def value(self, points: Floats) -> Floats:
        """Values at the points: (m, a) to (m,)."""
        values: Floats = points**self.power @ self.weights - self.offset
        return values

    def slope(self, points: Floats) -> Floats:
        """Gradients at the points: (m, a) to (m, a)."""
        slopes: Floats = self.power * self.weights * points ** (self.power - 1.0)
        return slopes

    def add_curvature(self, points: Floats, factors: Floats, total: Floats) -> None:
        """Add the Hessians at the points, times factors (m,), to `total`, (m, a, a)."""
        second = self.power * (self.power - 1.0) * self.weights
        _diagonal(total)[...] += factors[:, None] * second * points ** (self.power - 2.0)


class Means(Convex):
    """Share · Σ_{x in C} x − Π_{x in C} x^{p_x}: a multiple of a sum, less a geometric mean.

    Parameters
    ----------
    cells : array of int
        The cells C.
    exponents : array of the same shape
        Exponents p >= 0 with sum 1.
    share : float
        The factor of the sum.
    """

    def __init__(self, cells: Floats, exponents: Floats, share: float) -> None:
        self.cells, self.exponents, self.share = cells, exponents, share

    def _mean(self, points: Floats) -> Floats:
        mean: Floats = np.exp(np.log(points[:, self.cells]) @ self.exponents)
        return mean

    def value(self, points: Floats) -> Floats:
        """Values at the points: (m, a) to (m,)."""
        values: Floats = self.share * points[:, self.cells].sum(axis=1) - self._mean(points)
        return values

    def slope(self, points: Floats) -> Floats:
        """Gradients at the points: (m, a) to (m, a)."""
        slopes = np.zeros_like(points)
        logs = self.exponents / points[:, self.cells]
        slopes[:, self.cells] = self.share - self._mean(points)[:, None] * logs
        return slopes

    def add_curvature(self, points: Floats, factors: Floats, total: Floats) -> None:
        """Add the Hessians at the points, times factors (m,), to `total`, (m, a, a)."""
        own = points[:, self.cells]
        logs, scale = self.exponents / own, factors * self._mean(points)
        block = -scale[:, None, None] * logs[:, :, None] * logs[:, None, :]
        _diagonal(block)[...] += scale[:, None] * logs / own
        total[:, self.cells[:, None], self.cells] += block


def _diagonal(matrices: Floats) -> Floats:
    """Diagonals of matrices (m, a, a), as a view of shape (m, a) that can be written to."""
    m, a, _ = matrices.shape
    return matrices.reshape(m, a * a)[:, :: a + 1]


@dataclass(frozen=True)
class Minima:
    """Points, and what encloses the minima.

    Attributes
    ----------
    points : array of shape (m, a)
        Feasible points.
    values : array of shape (m,)
        The objective there: at least the minimum.
    bounds : array of shape (m,)
        At most the minimum.
    steps : int
        Greatest number of steps.
    """

    points: Floats
    values: Floats
    bounds: Floats
    steps: int


def minimise(
    costs: Floats,
    constraints: Sequence[Convex],
    start: Floats,
    tol: float,
    *,
    objective: Convex | None = None,
    scale: float = 1.0,
) -> Minima:
    """Solve convex programs that differ in their linear costs alone.

    Parameters
    ----------
    costs : array of shape (m, a)
        Linear part c of each objective.
    constraints : sequence of Convex
        Functions h_j that are to be at most 0.
    start : array of shape (a,)
        A positive distribution at which all h_j are negative.
    tol : float
        Difference between value and bound to stop at.
    objective : Convex, optional
        Convex part f of all objectives.
    scale : float
        How far the objective is from its minimum at the start, roughly.

    Returns
    -------
    Minima
        With a difference above `tol` if the numerical precision did not suffice.
    """
    m, a = costs.shape
    step = max(1, _MOST_NUMBERS // a**2)
    parts = [
        _Programs(costs[i : i + step], constraints, objective).solve(start, tol, scale)
        for i in range(0, m, step)
    ]
    minimise.last=(max(part.steps for part in parts), max((part.values-part.bounds).max() for part in parts))
    return Minima(
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.bounds for part in parts]),
        max(part.steps for part in parts),
    )


class _Programs:
    """Programs that are solved together, by a primal-dual interior-point method."""

    def __init__(
        self, costs: Floats, constraints: Sequence[Convex], objective: Convex | None
    ) -> None:
        self.costs, self.constraints, self.objective = costs, constraints, objective

    def solve(self, start: Floats, tol: float, scale: float) -> Minima:
        m, a = self.costs.shape
        size = a + len(self.constraints)
        x = np.tile(start, (m, 1))
        room = -self._values(start[None])[0]
        points, values, bounds = x.copy(), np.full(m, np.inf), np.full(m, -np.inf)
        left = np.arange(m)
        slack = np.tile(room, (m, 1))  # h(x) + slack = 0 at the end
        dual, prices = scale / size / x, scale / size / slack
        factor = np.full(m, _BARRIER_FACTORS[0])
        steps = 0
        while True:
            costs = self.costs[left]
            above, slopes = self._values(x), self._slopes(x)  # (m, k), (m, k, a)
            value, slope = self._objective(x, costs)
            whole = slope + np.einsum("mk,mka->ma", prices, slopes)
            bound = value + np.einsum("mk,mk->m", prices, above)
            bound += whole.min(axis=1) - np.einsum("ma,ma->m", whole, x)
            bounds[left] = np.maximum(bounds[left], bound)
            share = np.min(room / (room + np.maximum(above, 0.0)), axis=1, initial=1.0)[:, None]
            point = share * x + (1.0 - share) * start  # feasible, since h is convex
            value = self._objective(point, costs)[0]
            better = value < values[left]
            points[left[better]], values[left[better]] = point[better], value[better]
            go = (values - bounds)[left] > tol
            barrier = np.einsum("ma,ma->m", x, dual) + np.einsum("mk,mk->m", slack, prices)
            go &= barrier > size * _LEAST_BARRIER
            if not go.any() or steps == _MAX_STEPS:
                return Minima(points, values, bounds, steps)
            left, x, slack, above = left[go], x[go], slack[go], above[go]
            dual, prices, factor = dual[go], prices[go], factor[go]
            slopes, slope = slopes[go], slope[go]
            steps += 1
            barrier = (factor * barrier[go] / size)[:, None]
            wrong = above + slack
            wanted = barrier / slack + prices / slack * wrong
            # As Σ move = 0, a multiple of 1 can be taken from a slope: most of it is one.
            slopes = slopes - np.einsum("mka,ma->mk", slopes, x)[:, :, None]
            downhill = barrier / x - slope - np.einsum("mk,mka->ma", wanted, slopes)
            move = self._move(x, dual / x, prices, slack, slopes, downhill)
            rise = np.einsum("mka,ma->mk", slopes, move)
            dual_move = np.hstack([barrier / x - dual - dual / x * move,
                                   wanted - prices + prices / slack * rise])
            own, own_move = np.hstack([x, slack]), np.hstack([move, -wrong - rise])
            both = np.hstack([dual, prices])
            length, dual_length = _longest(own, own_move), _longest(both, dual_move)
            own = own + length[:, None] * own_move
            both = both + dual_length[:, None] * dual_move
            x, slack, dual, prices = own[:, :a], own[:, a:], both[:, :a], both[:, a:]
            x = x / x.sum(axis=1, keepdims=True)
            shortest = np.minimum(length, dual_length)
            factor = np.select([shortest > 0.9, shortest > 0.5], _BARRIER_FACTORS[:2], _BARRIER_FACTORS[2])

    def _values(self, x: Floats) -> Floats:
        found = [constraint.value(x) for constraint in self.constraints]
        return np.stack(found, axis=1) if found else np.zeros((len(x), 0))

    def _slopes(self, x: Floats) -> Floats:
        found = [constraint.slope(x) for constraint in self.constraints]
        return np.stack(found, axis=1) if found else np.zeros((len(x), 0, x.shape[1]))

    def _objective(self, x: Floats, costs: Floats) -> tuple[Floats, Floats]:
        value, slope = np.einsum("ma,ma->m", costs, x), costs
        if self.objective is not None:
            value, slope = value + self.objective.value(x), slope + self.objective.slope(x)
        return value, slope

    def _move(
        self, x: Floats, ratio: Floats, prices: Floats, slack: Floats, slopes: Floats, rhs: Floats
    ) -> Floats:
        """Newton's direction: (H + Σ prices / slack · slope slopeᵀ) move + shift = rhs, Σ move = 0.

        The slopes are eliminated by Schur's complement: near the end prices / slack is so large
        that nothing else of the sum would be left after rounding.
        """
        (m, a), k = x.shape, slopes.shape[1]
        hessians = np.zeros((m, a, a))
        for place, constraint in enumerate(self.constraints):
            constraint.add_curvature(x, prices[:, place], hessians)
        if self.objective is not None:
            self.objective.add_curvature(x, np.ones(m), hessians)
        _diagonal(hessians)[...] += ratio
        size = 1.0 / np.sqrt(_diagonal(hessians))
        hessians *= size[:, :, None] * size[:, None, :]
        rows = np.concatenate([slopes, np.ones((m, 1, a))], axis=1)  # (m, k + 1, a)
        sides = np.concatenate([rhs[:, None], rows], axis=1) * size[:, None, :]
        found = _solved(hessians, sides.transpose(0, 2, 1)) * size[:, :, None]  # (m, a, k + 2)
        schur = rows @ found
        square = schur[:, :, 1:].copy()
        _diagonal(square)[:, :k] += slack / prices
        shares = np.linalg.solve(square, schur[:, :, :1])
        move: Floats = (found[:, :, :1] - found[:, :, 1:] @ shares)[:, :, 0]
        return move


def _longest(x: Floats, move: Floats) -> Floats:
    """Lengths of the steps, at most 1, that leave the rows of x positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(move < 0, -x / move, np.inf)
    return np.minimum(1.0, _FRACTION_TO_BOUNDARY * ratios.min(axis=1))


def _solved(matrices: Floats, rhs: Floats) -> Floats:
    """Solve positive systems with a diagonal of ones, (m, a, a) and (m, a, k)."""
    if matrices.shape[1] <= _FEW_CELLS:
        _diagonal(matrices)[...] += _RIDGES[0]
        return np.linalg.solve(matrices, rhs)
    found = np.empty_like(rhs)
    for place, matrix in enumerate(matrices):
        for ridge in _RIDGES:
            matrix.flat[:: len(matrix) + 1] += ridge
            try:
                found[place] = cho_solve(cho_factor(matrix, lower=True), rhs[place])
                break
            except LinAlgError:
                continue
        else:
            found[place] = rhs[place]  # a step along the scaled gradient
    return found
