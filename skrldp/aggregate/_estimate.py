"""Estimates with standard errors and confidence intervals."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._html import page
from skrldp._params import is_finite
from skrldp._typing import Floats

__all__ = ["Estimate", "critical_value", "project", "wald"]

_SHOWN = 50  # categories in HTML


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
    return NormalDist().inv_cdf(1.0 - outside / 2.0)


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


def project(values: Floats) -> Floats:
    """Closest distribution to a point, in Euclidean distance.

    Parameters
    ----------
    values : array of shape (k,)
        Any numbers.

    Returns
    -------
    array of shape (k,)
        Non-negative, with sum 1.

    Examples
    --------
    >>> project(np.array([0.7, 0.5, -0.2]))
    array([0.6, 0.4, 0. ])
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(values) + 1)
    last = np.flatnonzero(falling > excess)[-1]
    return np.maximum(values - excess[last], 0.0)


def _digits(value: float) -> str:
    """Write a share; an empty text for NaN."""
    return "" if np.isnan(value) else f"{value:.4f}"


@dataclass(frozen=True, eq=False)
class Estimate:
    """The estimated distribution of some columns.

    Attributes
    ----------
    columns : tuple
        Names of the columns.
    categories : tuple of length k
        The categories, in the order of the frequencies: scalars for one column, tuples for several.
    frequencies : array of shape (k,)
        Estimated probabilities. By least squares they are unbiased, may be negative, and are NaN
        where the reports do not determine them; by maximum likelihood they are a distribution.
    std_error : array of shape (k,)
        Standard errors; NaN where the reports do not determine the probability.
    identifiable : array of shape (k,)
        Whether the distribution of the report determines the probability.
    n_reports : int
        Number of reports.
    """

    columns: tuple[Any, ...]
    categories: tuple[Any, ...]
    frequencies: Floats
    std_error: Floats
    identifiable: NDArray[np.bool_]
    n_reports: int

    def confidence_interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Floats:
        """Wald intervals: the estimate plus and minus a multiple of its standard error.

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval contains the true probability.
        simultaneous : bool, default=False
            Whether `level` is the probability that all intervals do so at once (by Šidák's bound,
            so the true probability is somewhat higher).

        Returns
        -------
        array of shape (k, 2)
            Not cut off at 0 and 1; NaN where the probability is not identifiable.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1.
        """
        return wald(self.frequencies, self.std_error, level, simultaneous)

    def projected(self) -> Floats:
        """Closest distribution to the frequencies.

        Returns
        -------
        array of shape (k,)
            Non-negative, with sum 1; no longer unbiased.

        Raises
        ------
        ValueError
            If the reports do not determine some frequencies.
        """
        if np.isnan(self.frequencies).any():
            unknown = [c for c, f in zip(self.categories, self.frequencies, strict=True) if f != f]
            raise ValueError(
                f"the reports do not determine the frequencies of {len(unknown)} of "
                f"{len(self.categories)} categories, such as {unknown[0]!r}, so there is nothing "
                "to project. method='ml' always estimates a distribution."
            )
        return project(self.frequencies)

    def to_frame(self, level: float = 0.95) -> Any:
        """Write the estimate as a pandas frame, with the categories as its index.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns "frequency", "std_error", "lower", "upper" and "identifiable".
        """
        import pandas as pd

        lower, upper = self.confidence_interval(level).T
        names = [str(name) for name in self.columns]
        index = (
            pd.MultiIndex.from_tuples(self.categories, names=names)
            if len(names) > 1
            else pd.Index(list(self.categories), name=names[0])
        )
        return pd.DataFrame(
            {
                "frequency": self.frequencies,
                "std_error": self.std_error,
                "lower": lower,
                "upper": upper,
                "identifiable": self.identifiable,
            },
            index=index,
        )

    def _repr_html_(self) -> str:
        known = int(self.identifiable.sum())
        names = ", ".join(map(str, self.columns))
        title = (
            f"Estimate of {names}: {known:,} of {len(self.categories):,} categories identifiable, "
            f"{self.n_reports:,} reports"
        )
        rows = []
        intervals = self.confidence_interval()
        for place, category in enumerate(self.categories[:_SHOWN]):
            text = ", ".join(map(str, category)) if len(self.columns) > 1 else str(category)
            low, high = map(_digits, intervals[place])
            interval = f"{low} to {high}" if low else ""
            figures = _digits(self.frequencies[place]), _digits(self.std_error[place])
            rows.append((text, *figures, interval))
        header = (names, "frequency", "standard error", "95 % interval")
        return page(title, rows, header=header, n_more=len(self.categories) - len(rows))

    def __repr__(self) -> str:
        known = f"{int(self.identifiable.sum())} of {len(self.categories)} identifiable"
        names = ", ".join(map(str, self.columns))
        return f"Estimate({names}: {known}, {self.n_reports:,} reports)"
