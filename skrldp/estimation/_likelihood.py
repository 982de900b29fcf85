"""Maximum likelihood: accelerated EM, then Newton's method where EM converges slowly.

The average log-likelihood of the reports, L(π) = Σ_y f_y log (Qπ)_y, is concave in the distribution
π. With g = Qᵀ(f / Qπ), its gradient, π·g = Σ f = 1, so for the best distribution π*

    L(π*) − L(π) ≤ g·(π* − π) ≤ max_x g_x − 1,

the *gap*: an upper bound, in nats per report, on how far L(π) is below its maximum, for any π.
"""

import math
import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from skrldp._typing import Floats
from skrldp.estimation._channels import Channel, DenseChannel

__all__ = ["Maximum", "maximise"]


# EM. Chosen by hand: these numbers affect the time alone, since the gap decides when to stop.
_EM_FIRST = 100  # steps of EM before Newton's method, where that is affordable
_LEAST_SHARE = 0.1  # of a cell's probability that an extrapolation leaves: a zero would stay one

# Newton's method on the primal-dual conditions; usual values of interior-point codes (Nocedal and
# Wright, Numerical Optimization, ch. 14 and 19), chosen by hand.
_MOST_NEWTON = 2_500  # cells: a step factorises a matrix of that size, 50 MB
_FRACTION_TO_BOUNDARY = 0.99  # of the way to the nearest zero that a step may go
_LEAST_START = 1e-3  # least probability at the start, in units of the uniform distribution's
_LEAST_BARRIER = 1e-18  # barrier parameter below which nothing but rounding changes
_LEAST_STEP = 1e-10  # of the Newton direction: the line search gives up below
_DECREASE = 1e-4  # part of the predicted decrease that the line search asks for (Armijo)
_ROUNDING = 8.0 * np.finfo(float).eps  # of a likelihood, relative to 1 plus its size
_LONG_STEP = 0.5  # after a longer step the barrier parameter falls by the first factor, else second
_BARRIER_FACTORS = (0.1, 0.9)
_DUAL_RANGE = (1e-10, 1e10)  # of the dual variables, in units of barrier parameter / x
_RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)  # tried in turn until Cholesky's method succeeds


@dataclass(frozen=True)
class Maximum:
    """A distribution, and a bound on how far its likelihood is below the maximum."""

    distribution: Floats  # (a,), distribution of X
    log_likelihood: float  # average over reports, in nats
    gap: float  # upper bound on how far the log-likelihood is below its maximum, in nats per report
    iterations: int  # steps of EM and of Newton's method


def maximise(
    channel: Channel, shares: Floats, tol: float, max_iter: int, time_limit: float | None = None
) -> Maximum:
    """Find a distribution that makes the reports most likely.

    Shapes: shares (b,).
    """
    newton = isinstance(channel, DenseChannel) and channel.n_cells <= _MOST_NEWTON
    first = min(max_iter, _EM_FIRST) if newton else max_iter
    end = math.inf if time_limit is None else time.perf_counter() + time_limit
    best = _em(channel, shares, tol, first, end)
    if newton and best.gap > tol and best.iterations < max_iter:
        assert isinstance(channel, DenseChannel)
        best = _newton(channel.matrix, shares, best, tol, max_iter, end)
    return best


def _value(shares: Floats, report: Floats) -> float:
    seen = shares > 0
    if np.any(report[seen] <= 0):
        return -np.inf
    return float(shares[seen] @ np.log(report[seen]))


def _gradient(channel: Channel, shares: Floats, report: Floats) -> Floats:
    return channel.backward(np.divide(shares, report, out=np.zeros_like(shares), where=shares > 0))


# -- EM -------------------------------------------------------------------------------------------


def _em(channel: Channel, shares: Floats, tol: float, max_iter: int, end: float) -> Maximum:
    """EM from the uniform distribution, with SQUAREM's extrapolation (Varadhan and Roland 2008).

    One step of EM is π ← π ∘ Qᵀ(f / Qπ). An extrapolation that makes the likelihood smaller than
    the plain steps do is not taken.
    """
    distribution = np.full(channel.n_cells, 1.0 / channel.n_cells)
    report = channel.forward(distribution)
    steps = 0
    while True:
        slope = _gradient(channel, shares, report)
        gap = float(slope.max()) - 1.0
        if gap <= tol or steps + 2 > max_iter or time.perf_counter() >= end:
            return Maximum(distribution, _value(shares, report), max(gap, 0.0), steps)
        once = distribution * slope
        twice = once * _gradient(channel, shares, channel.forward(once))
        steps += 2
        first, second = once - distribution, twice - 2.0 * once + distribution
        curvature = float(np.linalg.norm(second))
        length = float(np.linalg.norm(first)) / curvature if curvature > 0 else 1.0
        start, distribution, report = distribution, twice, channel.forward(twice)
        if length > 1.0:
            further = start + 2.0 * length * first + length**2 * second
            further = np.maximum(further, _LEAST_SHARE * twice)
            further /= further.sum()
            there = channel.forward(further)
            if _value(shares, there) >= _value(shares, report):
                distribution, report = further, there
        distribution = distribution / distribution.sum()


# -- Newton ---------------------------------------------------------------------------------------


def _newton(
    matrix: Floats, shares: Floats, start: Maximum, tol: float, max_iter: int, end: float
) -> Maximum:
    """Minimise −Σ f log Qx + Σ x over x ≥ 0 by a primal-dual interior point method.

    The minimum has Σ x = 1: the gradient along x is 1 less than that of Σ x.
    """
    seen = shares > 0
    rows, f = matrix[seen], shares[seen]
    n_cells = matrix.shape[1]
    x = np.maximum(start.distribution, _LEAST_START / n_cells)
    x /= x.sum()
    barrier = max(start.gap, tol) / n_cells
    dual = barrier / x
    best, steps = start, start.iterations
    while steps < max_iter and time.perf_counter() < end:
        report = rows @ x
        slope = rows.T @ (f / report)
        mass = float(x.sum())
        gap = max(float(slope.max()) * mass - 1.0, 0.0)  # of x / mass
        if gap < best.gap:
            best = Maximum(x / mass, float(f @ np.log(report / mass)), gap, steps)
        if best.gap <= tol or barrier < _LEAST_BARRIER:
            break
        steps += 1
        scaled = rows * (np.sqrt(f) / report)[:, None]
        downhill = slope - 1.0 + barrier / x
        move = _solve(scaled, dual / x, downhill)
        if move is None:
            break
        dual_move = barrier / x - dual - dual / x * move
        step = _longest(x, move)
        value, gain = _barrier(rows, f, x, barrier), float(downhill @ move)
        # Near the end a good step improves the value by less than its rounding error, and the line
        # search would reject it. It is safe to take: the point with the least gap is kept.
        noise = _ROUNDING * (1.0 + abs(value))
        while step > _LEAST_STEP:
            least = value - _DECREASE * step * gain + noise
            if _barrier(rows, f, x + step * move, barrier) <= least:
                break
            step /= 2.0
        x = x + step * move
        dual = dual + _longest(dual, dual_move) * dual_move
        dual = np.clip(dual, *(end * barrier / x for end in _DUAL_RANGE))
        barrier = min(barrier, float(x @ dual) / n_cells)
        barrier *= _BARRIER_FACTORS[0 if step > _LONG_STEP else 1]
    return Maximum(best.distribution, best.log_likelihood, best.gap, steps)


def _solve(scaled: Floats, diagonal: Floats, rhs: Floats) -> Floats | None:
    """Solve (scaledᵀ scaled + diagonal) move = rhs, with a ridge if need be.

    The variables are scaled so that the diagonal is 1, since it spans many orders of magnitude.
    """
    size = 1.0 / np.sqrt(np.sum(scaled**2, axis=0) + diagonal)
    hessian = (scaled * size).T @ (scaled * size)
    hessian.flat[:: len(hessian) + 1] += diagonal * size**2
    for ridge in _RIDGES:
        hessian.flat[:: len(hessian) + 1] += ridge
        try:
            factor = cho_factor(hessian, lower=True)
        except LinAlgError:
            continue
        move: Floats = size * cho_solve(factor, size * rhs)
        return move
    return None


def _longest(x: Floats, move: Floats) -> float:
    """Length of the step along the move, at most 1, that leaves x positive."""
    shrinking = move < 0
    limit = float(np.min(-x[shrinking] / move[shrinking], initial=np.inf))
    return min(1.0, _FRACTION_TO_BOUNDARY * limit)


def _barrier(rows: Floats, f: Floats, x: Floats, barrier: float) -> float:
    return float(-f @ np.log(rows @ x) + x.sum() - barrier * np.log(x).sum())
