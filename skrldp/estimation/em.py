"""The most likely distribution of the records, by accelerated EM.

The average log-likelihood of the reports, L(π) = Σ_y f_y log (Qπ)_y, is concave in the
distribution π. With g = Qᵀ(f / Qπ), its gradient, π·g = Σ f = 1, so for the best distribution π*

    L(π*) − L(π) ≤ g·(π* − π) ≤ max_x g_x − 1,

the *gap*: an upper bound, in nats per report, on how far L(π) is below its maximum, for any π.
"""

from typing import NamedTuple

import numpy as np

from skrldp._typing import Floats
from skrldp.estimation.channels import Channel

__all__ = ["MostLikely", "most_likely"]

_LEAST_SHARE = 0.1  # of a cell's probability that an extrapolation leaves: EM never leaves a zero


class MostLikely(NamedTuple):
    """A distribution, and a bound on how far its likelihood is below the maximum."""

    distribution: Floats  # (a,)
    gap: float  # nats per report


def most_likely(channel: Channel, shares: Floats, tol: float, max_iter: int) -> MostLikely:
    """Maximise the likelihood of reports (b,), from the public distribution.

    One step of EM is π ← π ∘ Qᵀ(f / Qπ); SQUAREM extrapolates two of them (Varadhan and Roland
    2008). An extrapolation that makes the likelihood smaller than the plain steps do is not taken.
    """
    distribution = channel.public
    for _ in range(max_iter // 2):
        slope = _gradient(channel, shares, distribution)
        gap = float(slope.max()) - 1.0
        if gap <= tol:
            break
        once = distribution * slope
        twice = once * _gradient(channel, shares, once)
        first, second = once - distribution, twice - 2.0 * once + distribution
        curvature = float(np.linalg.norm(second))
        length = float(np.linalg.norm(first)) / curvature if curvature > 0 else 1.0
        start, distribution = distribution, twice / twice.sum()
        if length > 1.0:
            further = start + 2.0 * length * first + length**2 * second
            further = np.maximum(further, _LEAST_SHARE * twice)
            further /= further.sum()
            if _value(channel, shares, further) >= _value(channel, shares, distribution):
                distribution = further
    gap = float(_gradient(channel, shares, distribution).max()) - 1.0
    return MostLikely(distribution, max(gap, 0.0))


def _value(channel: Channel, shares: Floats, distribution: Floats) -> float:
    seen = shares > 0
    report = channel.forward(distribution)[seen]
    return float(shares[seen] @ np.log(report)) if report.min() > 0 else -np.inf


def _gradient(channel: Channel, shares: Floats, distribution: Floats) -> Floats:
    report = channel.forward(distribution)
    seen = shares > 0
    return channel.backward(np.divide(shares, report, out=np.zeros_like(shares), where=seen))
