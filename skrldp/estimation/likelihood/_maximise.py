"""Maximum likelihood: accelerated EM, then Newton's method where EM converges slowly.

The average log-likelihood of the reports, L(π) = Σ_y f_y log (Qπ)_y, is concave in the distribution
π. With g = Qᵀ(f / Qπ), its gradient, π·g = Σ f = 1, so for the best distribution π*

    L(π*) − L(π) ≤ g·(π* − π) ≤ max_x g_x − 1,

the *gap*: an upper bound, in nats per report, on how far L(π) is below its maximum, for any π.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skrldp._typing import Floats
from skrldp.estimation.channels import MOST_DENSE, BlockChannel, Channel
from skrldp.estimation.likelihood._convex_functions import Convex, log_likelihood
from skrldp.estimation.likelihood._convex_set import ConvexSet
from skrldp.estimation.likelihood._interior_point import minimise

__all__ = ["MOST_STEPS", "TOL", "TOL_RESTRICTED", "Maximum", "maximise"]

# Nats per report by which a maximum may be missed: that moves an estimate from a million reports by
# at most .014 of its error, and twice as much by .02. And the most steps.
TOL, MOST_STEPS = 1e-10, 10_000
TOL_RESTRICTED = 1e-7  # nats per report that are always enough over a set


# EM. Chosen by hand: these numbers affect the time alone, since the gap decides when to stop.
_EM_FIRST = 100  # steps of EM before Newton's method, where that is affordable
_LEAST_SHARE = 0.1  # of a cell's probability that an extrapolation leaves: EM never leaves a zero

_MOST_SHARED = 4e6  # cells times the fewer of secrets and values: half the numbers of an array
_LEAST_START = 1e-3  # least probability at the start, in units of the uniform distribution's


@dataclass(frozen=True)
class Maximum:
    """A distribution, and a bound on how far its likelihood is below the maximum."""

    distribution: Floats  # (a,), distribution of X
    log_likelihood: float  # average over reports, in nats
    gap: float  # upper bound on how far the log-likelihood is below its maximum, in nats per report
    iterations: int  # steps of EM and of Newton's method


def maximise(
    channel: Channel,
    shares: Floats,
    tol: float = TOL,
    max_steps: int = MOST_STEPS,
    time_limit: float | None = None,
    within: ConvexSet | None = None,
) -> Maximum:
    """Find a distribution that makes the reports most likely; over a set, without limits.

    Shapes: shares (b,).
    """
    if within is not None:
        limits = within.constraints
        return _interior(channel, shares, within.inside, min(tol, TOL_RESTRICTED), limits)
    newton = channel.n_cells <= MOST_DENSE  # a step factorises a matrix of that size, 50 MB
    if isinstance(channel, BlockChannel):
        newton = channel.n_cells * min(channel.blocks.shape) <= _MOST_SHARED
    first = min(max_steps, _EM_FIRST) if newton else max_steps
    end = math.inf if time_limit is None else time.perf_counter() + time_limit
    best = _em(channel, shares, tol, first, end)
    if newton and best.gap > tol and best.iterations < max_steps:
        best = _newton(channel, shares, best, tol, max_steps, end)
    return best


def _value(shares: Floats, report: Floats) -> float:
    seen = shares > 0
    if np.any(report[seen] <= 0):
        return -np.inf
    return float(shares[seen] @ np.log(report[seen]))


def _gradient(channel: Channel, shares: Floats, report: Floats) -> Floats:
    return channel.backward(np.divide(shares, report, out=np.zeros_like(shares), where=shares > 0))


# -- EM -------------------------------------------------------------------------------------------


def _em(channel: Channel, shares: Floats, tol: float, max_steps: int, end: float) -> Maximum:
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
        if gap <= tol or steps + 2 > max_steps or time.perf_counter() >= end:
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
    channel: Channel, shares: Floats, start: Maximum, tol: float, max_steps: int, end: float
) -> Maximum:
    """Go on from a distribution by the interior-point method."""
    inner = np.maximum(start.distribution, _LEAST_START / channel.n_cells)
    options = {"scale": max(start.gap, tol), "max_steps": max_steps - start.iterations, "end": end}
    found = _interior(channel, shares, inner / inner.sum(), tol, (), **options)
    steps = start.iterations + found.iterations
    return replace(start if found.gap >= start.gap else found, iterations=steps)


def _interior(
    channel: Channel,
    shares: Floats,
    start: Floats,
    tol: float,
    constraints: Sequence[Convex],
    **options: Any,
) -> Maximum:
    """Maximise by the interior-point method for convex programs, from a point inside.

    Shapes: shares (b,), start (a,).
    """
    free, objective = np.zeros((1, channel.n_cells)), log_likelihood(channel, shares)
    found = minimise(free, constraints, start, tol, objective=objective, **options)
    return Maximum(found.points[0], -float(found.values[0]), found.gap, found.steps)
