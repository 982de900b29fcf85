"""Estimates with standard errors and confidence intervals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp._pages import page
from skrldp._typing import Floats
from skrldp.estimation._fit import project
from skrldp.estimation.figures._intervals import Ranges, critical_value, intervals
from skrldp.estimation.figures._likelihood_ranges import CategoryRanges
from skrldp.estimation.figures._pairs import Linear
from skrldp.table import category_series

__all__ = ["Estimate", "critical_value", "index_of", "labels_of", "project"]

_SHOWN = 50  # categories in HTML


def labels_of(columns: Sequence[Any], categories: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
    """Write each category as a tuple, with an entry for each column."""
    return tuple(c if len(columns) > 1 else (c,) for c in categories)


def index_of(columns: Sequence[Any], labels: Sequence[tuple[Any, ...]]) -> Any:
    """Write labels as the index of a pandas frame, named after the columns."""
    import pandas as pd

    names = [str(name) for name in columns]
    levels = [pd.Index(category_series(own)) for own in zip(*labels, strict=True)]
    if len(names) > 1:
        return pd.MultiIndex.from_arrays(levels, names=names)
    return levels[0].rename(names[0])


def _digits(value: float) -> str:
    """Write a share; an empty text for NaN."""
    return "" if np.isnan(value) else f"{value:.4f}"


def _range(ends: Floats) -> str:
    low, high = map(_digits, ends)
    return f"{low} to {high}" if low else ""


@dataclass(frozen=True, eq=False)
class Estimate(ReadOnly):
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
        Standard errors; NaN where the reports do not determine the probability, or are too few for
        an error: intervals by the likelihood ratio exist all the same.
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
    _ranges: Ranges | None = field(default=None, repr=False)
    _linear: Callable[[], Linear] | None = field(default=None, repr=False)  # None for blocks

    def confidence_interval(
        self, level: float = 0.95, *, simultaneous: bool = False, method: str = "auto"
    ) -> Floats:
        """Confidence intervals of the probabilities.

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval contains the true probability.
        simultaneous : bool, default=False
            Whether `level` is the probability that all intervals do so at once (by Šidák's bound,
            so the true probability is somewhat higher).
        method : {"auto", "likelihood-ratio", "score", "wald"}, default="auto"
            As in :meth:`FrequencyEstimator.confidence_interval`.

        Returns
        -------
        array of shape (k, 2)
            By the likelihood ratio or score within 0 and 1. Where the probability is not
            identifiable, wide for maximum likelihood and NaN for least squares. Wald's are not cut
            off at 0 and 1, and NaN where there is no error.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1, or there is no such method.
        """
        return intervals(
            self.frequencies, self.std_error, self._ranges, level, simultaneous, method
        )

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
        return pd.DataFrame(
            {
                "frequency": self.frequencies,
                "std_error": self.std_error,
                "lower": lower,
                "upper": upper,
                "identifiable": self.identifiable,
            },
            index=index_of(self.columns, labels_of(self.columns, self.categories)),
        )

    def _repr_html_(self) -> str:
        known = int(self.identifiable.sum())
        names = ", ".join(map(str, self.columns))
        title = (
            f"Estimate of {names}: {known:,} of {len(self.categories):,} categories identifiable, "
            f"{self.n_reports:,} reports"
        )
        rows = []
        ends = intervals(
            self.frequencies, self.std_error, self._ranges, 0.95, False, "auto", _SHOWN
        )
        bounds = None
        if isinstance(self._ranges, CategoryRanges) and self._ranges.has_region:
            bounds = self._ranges.bounds(_SHOWN)
        for place, category in enumerate(self.categories[:_SHOWN]):
            text = ", ".join(map(str, category)) if len(self.columns) > 1 else str(category)
            frequency = _digits(self.frequencies[place])
            if bounds is not None and not self.identifiable[place]:
                frequency = _range(bounds[place])
            figures = frequency, _digits(self.std_error[place])
            rows.append((text, *figures, _range(ends[place])))
        header = (names, "frequency", "standard error", "95 % interval")
        return page(title, rows, header=header, n_more=len(self.categories) - len(rows))

    def __repr__(self) -> str:
        known = f"{int(self.identifiable.sum())} of {len(self.categories)} identifiable"
        names = ", ".join(map(str, self.columns))
        return f"Estimate({names}: {known}, {self.n_reports:,} reports)"
