"""Many convex programs over distributions at once, by an interior-point method.

A program is to minimise c·x + f(x) over the distributions x with h_j(x) <= 0, where f and all h_j
are convex. Several costs c are taken together: the steps of an interior-point method are then a few
operations on arrays for all of them.

For any x̄ and any multipliers λ >= 0, a convex function lies above its tangent, so with
g = c + f'(x̄) + Σ λ_j h_j'(x̄) no feasible x has a smaller value than

    c·x̄ + f(x̄) + Σ λ_j h_j(x̄) − g·x̄ + min_x g_x.

This *bound* needs no convergence. Together with the value at a feasible point it encloses the
minimum.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from skrldp._typing import Booleans, Floats, Indices
from skrldp.estimation.likelihood._convex_functions import BlockLogarithms, Convex, diagonal

__all__ = ["Minima", "State", "interior", "minimise"]

# Interior-point method; usual values (Boyd and Vandenberghe, Convex Optimization, ch. 11).
_MAX_STEPS = 100
_LEAST_BARRIER = 1e-14  # parameter below which nothing but rounding changes
_DIVERGED = 1e6  # times the first barrier parameter: slacks are down to the rounding of h
_FRACTION_TO_BOUNDARY = 0.99  # of the way to the nearest zero that a step may go
_RIDGES = (1e-15, 1e-12, 1e-9, 1e-6)  # tried in turn until Cholesky's method succeeds
# Lengths of steps, and the factor of the barrier parameter after longer steps and shorter ones.
_LONG_STEPS = (0.9, 0.5)
_PACES = ((0.05, 0.2, 0.9), (0.5, 0.7, 0.95))  # at first, and for programs that were not solved
_FAILED = 10.0  # tolerances: a larger difference counts as not solved
_DUAL_RANGE = (1e-10, 1e10)  # of the dual variables, in units of barrier parameter / x
_TINY = 1e-200
_BEHIND = 10.0  # slacks by which a constraint may be missed before the barrier waits
_NEAR = 10.0  # tolerances: states that are kept are at least this far from their minima
_FEW_CELLS = 40  # up to which the linear systems are solved as one stack
_MOST_NUMBERS = 8_000_000  # in the Hessians of the programs that are solved together
_BLOCK_NUMBERS = 32  # for each cell of a program whose Hessians have a structure
_HALVINGS = 100


def interior(constraints: Sequence[Convex], inner: Floats, edge: Floats) -> Floats:
    """Mix two distributions (a,), evenly or nearer to the edge, until all h_j are negative."""
    share = 0.5
    for _ in range(_HALVINGS):
        point: Floats = share * inner + (1.0 - share) * edge
        if all(constraint.value(point[None])[0] < 0.0 for constraint in constraints):
            break
        share /= 2.0
    return point


@dataclass(frozen=True)
class Minima:
    """Points, and what encloses the minima."""

    points: Floats  # (m, a), feasible points
    values: Floats  # (m,), the objective there: at least the minimum
    bounds: Floats  # (m,), at most the minimum
    steps: int  # greatest number of steps
    on_the_way: "State"

    @property
    def gap(self) -> float:
        """Greatest difference between a value and its bound."""
        return max(float((self.values - self.bounds).max()), 0.0)


def minimise(
    costs: Floats,
    constraints: Sequence[Convex],
    start: Floats,
    tol: float,
    *,
    objective: Convex | None = None,
    scale: float = 1.0,
    begin: "State | None" = None,
    max_steps: float = math.inf,
    end: float = math.inf,
) -> Minima:
    """Solve convex programs that differ in their linear costs alone.

    Shapes: `costs` (m, a); `start` (a,). Returns Minima: with a difference above `tol` if the
    numerical precision did not suffice.
    """
    m, a = costs.shape
    wide = _BLOCK_NUMBERS if _likelihoods(constraints, objective) else a
    step = max(1, _MOST_NUMBERS // (a * wide))
    points, values, bounds = np.tile(start, (m, 1)), np.full(m, np.inf), np.full(m, -np.inf)
    left, steps = np.arange(m), 0
    states = []
    for pace in _PACES:
        taken = 0
        for rows in np.array_split(left, -(-len(left) // step)):
            limits = min(_MAX_STEPS, max_steps - steps), end
            programs = _Programs(costs[rows], constraints, objective, pace, limits)
            found = programs.solve(start, tol, scale, None if begin is None else begin.of(rows))
            states.append(found.on_the_way)
            better = found.values < values[rows]
            points[rows[better]] = found.points[better]
            values[rows] = np.minimum(values[rows], found.values)
            bounds[rows] = np.maximum(bounds[rows], found.bounds)
            taken = max(taken, found.steps)
        if pace == _PACES[0]:
            on_the_way = State.joined(states)
        left, begin, steps = np.flatnonzero(values - bounds > _FAILED * tol), None, steps + taken
        if not left.size:
            break
    return Minima(points, values, bounds, steps, on_the_way)


@dataclass(frozen=True)
class State:
    """The variables of m programs between two steps.

    Points x and slacks of the constraints are positive, with h(x) + slack = 0 at the end; so are
    their dual variables, which are the prices of the constraints.
    """

    x: Floats  # (m, a)
    slack: Floats  # (m, k)
    dual: Floats  # (m, a)
    prices: Floats  # (m, k)
    factor: Floats  # (m,), what the barrier parameter is multiplied by

    @property
    def barrier(self) -> Floats:
        """Average product of a variable and its dual one."""
        products = np.hstack([self.x * self.dual, self.slack * self.prices])
        average: Floats = products.mean(axis=1)
        return average

    @staticmethod
    def joined(states: "Sequence[State]") -> "State":
        """Put programs together."""
        names = ("x", "slack", "dual", "prices", "factor")
        parts = [np.concatenate([getattr(state, name) for state in states]) for name in names]
        return State(*parts)

    def of(self, rows: Booleans | Indices) -> "State":
        """Keep some of the programs."""
        return State(
            self.x[rows],
            self.slack[rows],
            self.dual[rows],
            self.prices[rows],
            self.factor[rows],
        )

    def put(self, rows: Indices, state: "State", which: Booleans) -> None:
        """Write some of the programs of another state into rows of this one."""
        for name in ("x", "slack", "dual", "prices"):
            getattr(self, name)[rows[which]] = getattr(state, name)[which]


class _Programs:
    """Programs that are solved together, by a primal-dual interior-point method."""

    def __init__(
        self,
        costs: Floats,
        constraints: Sequence[Convex],
        objective: Convex | None,
        pace: tuple[float, float, float],
        limits: tuple[float, float] = (_MAX_STEPS, math.inf),
    ) -> None:
        self.costs, self.constraints, self.objective = costs, constraints, objective
        self.pace, (self.max_steps, self.end) = pace, limits

    def solve(self, start: Floats, tol: float, scale: float, begin: State | None = None) -> Minima:
        """Enclose the minima; see :func:`minimise`."""
        m, a = self.costs.shape
        x, room = np.tile(start, (m, 1)), -self._values(start[None])[0]
        slack = np.tile(room, (m, 1))
        barrier = scale / (a + len(room))
        factor = np.full(m, self.pace[0])
        state = State(x, slack, barrier / x, barrier / slack, factor)
        state = state if begin is None else replace(begin, factor=factor)
        kept = State.joined([state])  # a copy
        points, values, bounds = x.copy(), np.full(m, np.inf), np.full(m, -np.inf)
        left, steps = np.arange(m), 0
        while True:
            costs = self.costs[left]
            above, slopes = self._values(state.x), self._slopes(state.x)  # (m, k), (m, k, a)
            value, slope = self._objective(state.x, costs)
            whole = slope + np.einsum("mk,mka->ma", state.prices, slopes)
            bound = value + np.einsum("mk,mk->m", state.prices, above)
            bound += whole.min(axis=1) - np.einsum("ma,ma->m", whole, state.x)
            share = np.min(room / (room + np.maximum(above, 0.0)), axis=1, initial=1.0)[:, None]
            point = share * state.x + (1.0 - share) * start  # feasible, since h is convex
            value = self._objective(point, costs)[0]
            if len(room):
                better = value < values[left]
                bounds[left] = np.fmax(bounds[left], bound)
            else:  # each point is feasible and has its own bound: the pair of the least gap is kept
                better = value - bound < (values - bounds)[left]
                bounds[left[better]] = bound[better]
            points[left[better]], values[left[better]] = point[better], value[better]
            go = ((values - bounds)[left] > tol) & (
                state.barrier > min(_LEAST_BARRIER, tol / (10.0 * a))
            )
            go &= state.barrier < _DIVERGED * barrier  # not NaN either
            kept.put(left, state, (values - bounds)[left] > _NEAR * tol)
            if not go.any() or steps >= self.max_steps or time.perf_counter() >= self.end:
                return Minima(points, values, bounds, steps, kept)
            left, state, steps = left[go], state.of(go), steps + 1
            with np.errstate(over="ignore", invalid="ignore"):  # NaN ends the iterations
                state = self._step(state, above[go], slope[go], slopes[go])

    def _step(self, state: State, above: Floats, slope: Floats, slopes: Floats) -> State:
        """Take one step of Newton's method towards the central path."""
        x, slack, dual, prices = state.x, state.slack, state.dual, state.prices
        wrong = above + slack
        behind = np.any(np.abs(wrong) > _BEHIND * slack, axis=1)
        factor = np.where(behind, np.maximum(state.factor, self.pace[2]), state.factor)
        barrier = (factor * state.barrier)[:, None]
        wanted = barrier / slack + prices / slack * wrong
        # As Σ move = 0, multiples of the all-ones vector drop out: without them less is rounded.
        slope = slope - np.einsum("ma,ma->m", slope, x)[:, None]
        slopes = slopes - np.einsum("mka,ma->mk", slopes, x)[:, :, None]
        downhill = barrier / x - slope - np.einsum("mk,mka->ma", wanted, slopes)
        move = self._move(x, dual / x, prices, slack, slopes, downhill)
        rise = np.einsum("mka,ma->mk", slopes, move)
        dual_move = np.hstack(
            [barrier / x - dual - dual / x * move, wanted - prices + prices / slack * rise]
        )
        own, own_move = np.hstack([x, slack]), np.hstack([move, -wrong - rise])
        both = np.hstack([dual, prices])
        length, dual_length = _longest(own, own_move), _longest(both, dual_move)
        own = own + length[:, None] * own_move
        both = both + dual_length[:, None] * dual_move
        centre = barrier / own
        both = np.clip(both, _DUAL_RANGE[0] * centre, _DUAL_RANGE[1] * centre)
        a, shortest = x.shape[1], np.minimum(length, dual_length)
        quick = [shortest > _LONG_STEPS[0], shortest > _LONG_STEPS[1]]
        return State(
            own[:, :a] / own[:, :a].sum(axis=1, keepdims=True),
            own[:, a:],
            both[:, :a],
            both[:, a:],
            np.select(quick, self.pace[:2], self.pace[2]),
        )

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
        rows = np.concatenate([slopes, np.ones((m, 1, a))], axis=1)  # (m, k + 1, a)
        sides = np.concatenate([rhs[:, None], rows], axis=1)
        found = self._solved(x, ratio, prices, sides).transpose(0, 2, 1)  # (m, a, k + 2)
        schur = rows @ found
        square = schur[:, :, 1:].copy()
        diagonal(square)[:, :k] += slack / prices
        weight = 1.0 / np.sqrt(np.maximum(diagonal(square), _TINY))[:, :, None]
        square *= weight * weight.transpose(0, 2, 1)
        diagonal(square)[...] += _RIDGES[0]
        shares = weight * np.linalg.solve(square, weight * schur[:, :, :1])
        move: Floats = (found[:, :, :1] - found[:, :, 1:] @ shares)[:, :, 0]
        return move

    def _solved(self, x: Floats, ratio: Floats, prices: Floats, sides: Floats) -> Floats:
        """Solve (H + diag(ratio)) found = side for sides (m, j, a)."""
        m, a = x.shape
        functions = [*self.constraints, *([] if self.objective is None else [self.objective])]
        factors = np.column_stack([prices, np.ones(m)])
        likelihoods = _likelihoods(self.constraints, self.objective)
        if likelihoods:
            each = zip(likelihoods, factors.T, strict=False)
            heights = sum((factor[:, None] * one.heights(x) for one, factor in each), np.zeros(1))
            return likelihoods[0].channel.blocks.solved(heights, ratio, sides)
        hessians = np.zeros((m, a, a))
        for function, factor in zip(functions, factors.T, strict=False):
            function.add_curvature(x, factor, hessians)
        diagonal(hessians)[...] += ratio
        return _solved(hessians, sides.transpose(0, 2, 1)).transpose(0, 2, 1)


def _likelihoods(constraints: Sequence[Convex], objective: Convex | None) -> list[BlockLogarithms]:
    """Return all functions if each is a likelihood of four probabilities, else none."""
    functions = [*constraints, *([] if objective is None else [objective])]
    found = [one for one in functions if isinstance(one, BlockLogarithms)]
    return found if len(found) == len(functions) else []


def _longest(x: Floats, move: Floats) -> Floats:
    """Lengths of the steps, at most 1, that leave the rows of x positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(move < 0, -x / move, np.inf)
    return np.minimum(1.0, _FRACTION_TO_BOUNDARY * ratios.min(axis=1))


def _solved(matrices: Floats, rhs: Floats) -> Floats:
    """Solve positive systems, (m, a, a) and (m, a, k); the matrices are overwritten."""
    if matrices.shape[1] <= _FEW_CELLS:
        size = 1.0 / np.sqrt(diagonal(matrices))
        matrices *= size[:, :, None] * size[:, None, :]
        diagonal(matrices)[...] += _RIDGES[0]
        size = size[:, :, None]
        return np.asarray(np.linalg.solve(matrices, size * rhs), dtype=float) * size
    found = np.empty_like(rhs)
    for place, matrix in enumerate(matrices):
        for ridge in _RIDGES:
            matrix.flat[:: len(matrix) + 1] *= 1.0 + ridge
            try:
                factor = cho_factor(matrix.T, lower=True, check_finite=False)  # in LAPACK's order
                found[place] = cho_solve(factor, rhs[place], check_finite=False)
                break
            except LinAlgError:
                continue
        else:
            found[place] = rhs[place] / np.diagonal(matrix)[:, None]  # along the scaled gradient
    return found
