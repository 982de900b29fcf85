"""Confidence intervals of figures: Wald's, by the score, by the likelihood ratio."""

from abc import ABC, abstractmethod
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq

from skrldp._params import check_choice, is_finite
from skrldp._typing import Floats

__all__ = [
    "INTERVALS",
    "Ranges",
    "critical_value",
    "intervals",
    "likelihood_drops",
    "score",
    "wald",
]

INTERVALS = ("auto", "likelihood-ratio", "score", "wald")
_FOR_FEW = 0.82  # times the quantile: added to the drop of an end that one report decides
_HARDLY_GREATER = 1.25  # times the error by maximum likelihood: least squares is as good
_SECOND = 0.25  # weight of two degrees of freedom at the boundary
_TINY = 1e-300


class Ranges(ABC):
    """What reports say about figures besides estimates, by the likelihood or least squares."""

    by_likelihood: ClassVar[bool] = False

    @property
    def has_region(self) -> bool:
        """Whether there are intervals by the likelihood ratio."""
        return False

    @property
    def is_quick(self) -> bool:
        """Whether intervals by the likelihood ratio take no more than some two minutes."""
        return False

    def ends(self, drops: tuple[float, float, float], first: int) -> Floats:
        """Ranges of the first figures over the distributions of nearly the same likelihood.

        Shape: (first, 2).
        """
        raise NotImplementedError

    @abstractmethod
    def score(self, z: float, first: int) -> Floats:
        """Score intervals of the first figures, of a half-width of z standard errors.

        Shape: (first, 2).
        """


def intervals(
    values: Floats,
    errors: Floats,
    ranges: Ranges | None,
    level: Any,
    simultaneous: bool,
    method: str,
    first: int | None = None,
) -> Floats:
    """Intervals of figures between 0 and 1, by the method that is asked for.

    Shapes: values and errors (k,) to (k, 2).
    """
    check_choice("method", method, INTERVALS)
    first = len(values) if first is None else min(first, len(values))
    if method == "likelihood-ratio" and not (ranges is not None and ranges.by_likelihood):
        raise ValueError(
            "intervals by the likelihood ratio need FrequencyEstimator(..., method='ml'): use "
            "method='score' here."
        )
    if ranges is None or method == "wald":
        return wald(values, errors, level, simultaneous)[:first]
    number = int(np.isfinite(values).sum()) if simultaneous else 1
    z = critical_value(level, number)
    if method == "score" or (method == "auto" and not ranges.is_quick):
        return ranges.score(z, first)
    if not ranges.has_region:
        raise ValueError(
            "intervals by the likelihood ratio need a mechanism of at most 2,500 cells: use "
            "method='score' here."
        )
    return ranges.ends(likelihood_drops(level, number), first)


def critical_value(level: Any, n_intervals: int = 1) -> float:
    """Half-width of a normal interval in standard errors.

    Examples
    --------
    >>> round(critical_value(0.95), 2), round(critical_value(0.95, 20), 2)
    (1.96, 3.02)
    """
    if not (is_finite(level) and 0.0 < level < 1.0):
        raise ValueError(f"level={level!r} must be a number between 0 and 1.")
    # 1 - level ** (1 / k), without losing digits.
    outside = -np.expm1(np.log(level) / max(n_intervals, 1))
    return -NormalDist().inv_cdf(outside / 2.0)


def wald(values: Floats, errors: Floats, level: Any, simultaneous: bool) -> Floats:
    """Wald intervals around values.

    Shape: (..., 2).
    """
    random = np.isfinite(errors) & (errors > 0)
    z = critical_value(level, int(random.sum()) if simultaneous else 1)
    return np.stack([values - z * errors, values + z * errors], axis=-1)


def score(values: Floats, errors: Floats, unbiased: Floats, own: Floats, z: float) -> Floats:
    """Wilson's intervals, which are within 0 and 1, for estimates by maximum likelihood.

    Where least squares has an error that is hardly greater, the interval is its own, cut off at 0
    and 1 and stretched to the estimate: whether a share near 0 has an error by maximum likelihood
    depends on the estimate, and intervals that do so hold too seldom. Otherwise a share with an
    error is taken as one of as many true records as give it this error. Without any error, all
    numbers from 0 to 1 are in the interval.

    Shapes: values and errors (k,), unbiased and own (k,) to (k, 2).
    """
    rough = np.isfinite(own)
    stated = np.isfinite(errors) & ~(own <= _HARDLY_GREATER * errors)
    ends = np.tile([0.0, 1.0], (len(values), 1))
    for side, sign in enumerate((-1.0, 1.0)):
        by_squares = unbiased + sign * z * own
        both = np.minimum(by_squares, values) if side == 0 else np.maximum(by_squares, values)
        ends[rough, side] = both[rough]
        share, error = values[stated], errors[stated]
        spread = share * (1.0 - share)
        # z² over the number of records: 0 for a share of 1 of one category, whose error is 0.
        ratio = np.divide(z**2 * error**2, spread, out=np.zeros_like(error), where=spread > 0)
        half = z * np.sqrt(error**2 + error**2 * ratio / (4.0 * np.maximum(spread, _TINY)))
        ends[stated, side] = (share + ratio / 2.0 + sign * half) / (1.0 + ratio)
    return np.clip(ends, 0.0, 1.0)


def likelihood_drops(level: Any, n_intervals: int = 1) -> tuple[float, float, float]:
    """By how much the log-likelihood may be below its maximum in an interval.

    In the interior of the simplex the likelihood-ratio statistic of one figure is χ² with one
    degree of freedom. Where other probabilities are at 0, it is a mixture of several χ², whose
    weights depend on the truth (Self and Liang 1987), and can be larger. For an end that is reached
    at the boundary the quantile is that of ¾ χ²₁ + ¼ χ²₂, a choice made by simulation
    (``benchmarks/bench_intervals.py``).

    Where few reports decide on an end, the statistic is that of a Poisson variable rather than a
    normal one. What is then added, divided by the root of their number, makes intervals of a share
    of true records those of Clopper and Pearson, nearly.

    Examples
    --------
    >>> [round(2 * drop, 2) for drop in likelihood_drops(0.95)]
    [3.84, 4.56, 3.21]
    """
    z = critical_value(level, n_intervals)
    outside = 2.0 * NormalDist().cdf(-z)

    def excess(drop: float) -> float:
        single = 2.0 * NormalDist().cdf(-np.sqrt(2.0 * drop))
        return (1.0 - _SECOND) * single + _SECOND * np.exp(-drop) - outside

    inner = z**2 / 2.0
    return inner, float(brentq(excess, inner, 4.0 * inner + 10.0)), _FOR_FEW * z
