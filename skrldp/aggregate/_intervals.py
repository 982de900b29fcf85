"""Confidence intervals of the frequencies of categories: Wald's, and by the likelihood ratio."""

from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from skrldp._params import check_choice, is_finite
from skrldp._typing import Floats
from skrldp.aggregate._bounds import extremes
from skrldp.aggregate._region import LikelihoodRegion

__all__ = ["INTERVALS", "Ranges", "critical_value", "intervals", "likelihood_drops", "wald"]

INTERVALS = ("auto", "likelihood-ratio", "wald")
_MOST_CELLS = 250  # up to which "auto" is the likelihood ratio: half a second for each category
_SECOND = 0.25  # weight of two degrees of freedom at the boundary
_FLAT = 1e-4  # nats by which the likelihood may differ to count as the same, within a set


@dataclass(frozen=True, eq=False)
class Ranges:
    """What the likelihood says about the probabilities of some categories.

    Attributes
    ----------
    region : LikelihoodRegion
        The likelihood.
    labels : array of shape (a,)
        Category of each cell.
    values : array of shape (k,)
        The estimates.
    known : array of bool, shape (k,)
        Whether the reports determine them.
    basis : array of shape (a, r)
        Basis of the row space of the mechanism.
    """

    region: LikelihoodRegion
    labels: NDArray[np.intp]
    values: Floats
    known: NDArray[np.bool_]
    basis: Floats
    _found: dict[tuple[float, float, int], Floats] = field(default_factory=dict)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.labels)

    def _functions(self, categories: NDArray[np.intp]) -> Floats:
        return (self.labels == categories[:, None]).astype(float)

    def ends(self, drops: tuple[float, float], first: int) -> Floats:
        """Ranges of the first categories over the distributions of nearly the same likelihood.

        Parameters
        ----------
        drops : tuple of float
            By how much the log-likelihood may be too low, in nats, inside and at the boundary.
        first : int
            Number of categories.

        Returns
        -------
        array of shape (first, 2)
        """
        key = (*drops, first)
        if key not in self._found:
            self._found[key] = self.region.ends(self._functions(np.arange(first)), *drops)
        return self._found[key].copy()

    def bounds(self, first: int) -> Floats:
        """Ranges of the first categories over the distributions of the same likelihood.

        Parameters
        ----------
        first : int
            Number of categories.

        Returns
        -------
        array of shape (first, 2)
        """
        found = np.stack([self.values[:first]] * 2, axis=1)
        left = np.flatnonzero(~self.known[:first])
        if not left.size:
            return found
        if self.region.constraints:
            found[left] = self.region.ends(self._functions(left), _FLAT)
        else:
            found[left] = extremes(self.basis, self.region.distribution, self._functions(left))
        return found


def intervals(
    values: Floats,
    errors: Floats,
    ranges: Ranges | None,
    level: Any,
    simultaneous: bool,
    method: str,
    first: int | None = None,
) -> Floats:
    """Intervals of the probabilities of categories, by the method that is asked for.

    Parameters
    ----------
    values, errors : arrays of shape (k,)
        Estimates and standard errors.
    ranges : Ranges or None
        What the likelihood says; None for least squares and for very many cells.
    level : float
        Probability that an interval contains the true value.
    simultaneous : bool
        Whether all of them do so at once.
    method : {"auto", "likelihood-ratio", "wald"}
        Which intervals.
    first : int, optional
        Number of categories, the first ones, whose intervals are wanted; all if None.

    Returns
    -------
    array of shape (k, 2), or (first, 2)

    Raises
    ------
    ValueError
        If there is no such method, or no likelihood to use.
    """
    check_choice("method", method, INTERVALS)
    first = len(values) if first is None else min(first, len(values))
    if method == "likelihood-ratio" and ranges is None:
        raise ValueError(
            "intervals by the likelihood ratio need FrequencyEstimator(..., method='ml') and a "
            "mechanism of at most 2,500 cells: use method='wald' here."
        )
    if ranges is None or method == "wald" or (method == "auto" and ranges.n_cells > _MOST_CELLS):
        return wald(values, errors, level, simultaneous)[:first]
    return ranges.ends(likelihood_drops(level, len(values) if simultaneous else 1), first)


def critical_value(level: Any, n_intervals: int = 1) -> float:
    """Half-width of a normal interval in standard errors.

    Parameters
    ----------
    level : float
        Probability that all intervals contain their true values.
    n_intervals : int
        Number of intervals. Šidák's bound is used, which holds for normal estimates with any
        correlations.

    Returns
    -------
    float

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

    Parameters
    ----------
    values, errors : arrays of one shape
        NaN errors make NaN intervals.
    level : float
        Probability that an interval contains the true value.
    simultaneous : bool
        Whether all of them contain their true values at once with that probability.

    Returns
    -------
    array of shape (..., 2)
    """
    random = np.isfinite(errors) & (errors > 0)
    z = critical_value(level, int(random.sum()) if simultaneous else 1)
    return np.stack([values - z * errors, values + z * errors], axis=-1)


def likelihood_drops(level: Any, n_intervals: int = 1) -> tuple[float, float]:
    """By how much the log-likelihood may be below its maximum in an interval.

    In the interior of the simplex the likelihood-ratio statistic of one figure is χ² with one
    degree of freedom. Where other probabilities are at 0, it is a mixture of several χ², whose
    weights depend on the truth (Self and Liang 1987), and can be larger. For an end that is reached
    at the boundary the quantile is that of ¾ χ²₁ + ¼ χ²₂, a choice made by simulation
    (``benchmarks/bench_intervals.py``).

    Parameters
    ----------
    level : float
        Probability that all intervals contain their true values.
    n_intervals : int
        Number of intervals; Šidák's bound is used.

    Returns
    -------
    tuple of float
        In nats: in the interior, and at the boundary.

    Examples
    --------
    >>> [round(2 * drop, 2) for drop in likelihood_drops(0.95)]
    [3.84, 4.56]
    """
    z = critical_value(level, n_intervals)
    outside = 2.0 * NormalDist().cdf(-z)

    def excess(drop: float) -> float:
        single = 2.0 * NormalDist().cdf(-np.sqrt(2.0 * drop))
        return (1.0 - _SECOND) * single + _SECOND * np.exp(-drop) - outside

    inner = z**2 / 2.0
    return inner, float(brentq(excess, inner, 4.0 * inner + 10.0))
