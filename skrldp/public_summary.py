"""The summary of a public table for estimates, in a mechanism's JSON; clients ignore it.

Estimators use weights of reports with the smallest variance at the public distribution, and compare
the population with it. Reports do not depend on it, and therefore neither do digests.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly, read_only
from skrldp._typing import Floats

MOST_RECORDS = 2**53  # float64 represents all integers up to here, so that no count is rounded


@dataclass(frozen=True)
class PublicNumbers:
    """The public records' means within a column's bins, or the variance of rounding to knots.

    Attributes
    ----------
    means : tuple of k float or None
        Mean of the numbers in each bin; None for a bin without records.
    variances : tuple of k float or None
        Variance of each of these means, as an estimate of the mean of the population.
    rounding : float or None
        For knots, the mean variance that rounding adds to a number.

    Raises
    ------
    ValueError
        If a number is not finite, or a variance is negative.
    """

    means: tuple[float | None, ...] = ()
    variances: tuple[float | None, ...] = ()
    rounding: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        is_missing = [[x is None for x in values] for values in (self.means, self.variances)]
        stated = [x for x in (*self.means, *self.variances, self.rounding) if x is not None]
        spreads = [x for x in (*self.variances, self.rounding) if x is not None]
        is_one_kind = (self.rounding is None) == bool(self.means)
        if is_missing[0] != is_missing[1] or not is_one_kind or not np.isfinite(stated).all():
            raise ValueError("public means of bins and their variances must be finite numbers.")
        if min(spreads, default=0.0) < 0.0:
            raise ValueError("variances of public means must not be negative.")


@dataclass(frozen=True, eq=False)
class PublicSummary(ReadOnly):
    """Counts of the public table by cell, and their effective number of records.

    Attributes
    ----------
    counts : integer array of shape (a1, a2)
        Records of each cell; for surveys, integers in proportion to the weighted totals.
    survey_records : int or None
        For surveys, the number of records; None if the counts are records.
    survey_size : float or None
        For surveys, the effective number of independent records; None if unknown, as for tables of
        very many cells.
    numbers : tuple or None
        For each column with bins or knots of numbers its :class:`PublicNumbers`, otherwise None.
        None if no column has any.

    Raises
    ------
    ValueError
        If the counts are not those of public records.

    Examples
    --------
    >>> PublicSummary(np.array([[7, 10], [26, 57]])).probabilities
    array([[0.07, 0.1 ],
           [0.26, 0.57]])
    """

    counts: NDArray[np.int64]
    survey_records: int | None = None
    survey_size: float | None = None
    numbers: tuple[PublicNumbers | None, ...] | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        counts = self.counts
        if counts.ndim != 2 or counts.dtype != np.int64 or not counts.size or counts.min() < 0:
            raise ValueError("public counts must be a table of non-negative integers.")
        # The sum of floats cannot overflow; if it is small enough, neither can the exact sum.
        if counts.sum(dtype=float) > MOST_RECORDS or not 0 < counts.sum() <= MOST_RECORDS:
            raise ValueError("public counts must sum to between 1 and 2**53 records.")
        n, size = self.survey_records, self.survey_size
        if not (n is None or 0 < n <= MOST_RECORDS) or not (size is None or 0.0 < size < np.inf):
            raise ValueError("a survey's numbers of records must be positive.")
        if n is None and size is not None:
            raise ValueError("the size of a survey requires its number of records.")

    @property
    def n(self) -> int:
        """Number of public records."""
        return int(self.counts.sum()) if self.survey_records is None else self.survey_records

    @property
    def size(self) -> float | None:
        """Effective number of independent records; None if unknown."""
        return float(self.n) if self.survey_records is None else self.survey_size

    @cached_property
    def probabilities(self) -> Floats:
        """Empirical distribution of (S, U), shape (a1, a2); read-only."""
        shares: Floats = read_only(self.counts / self.counts.sum())
        return shares

    def smoothed(self, records: float = 0.5) -> Floats:
        """Distribution of (S, U) after adding records, spread evenly over all cells: (a1, a2)."""
        share = 1.0 / (1.0 + records)  # to avoid overflow
        is_survey = self.survey_records is not None
        counts = self.n * self.probabilities if is_survey else self.counts
        weights = share * counts + records * share / self.counts.size
        return weights / weights.sum()
