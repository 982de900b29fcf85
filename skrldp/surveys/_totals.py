"""Estimates of a population's distribution from a survey, with their covariance."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly, read_only
from skrldp._typing import Floats
from skrldp.surveys._records import SurveyRecords

__all__ = ["MOST_CELLS", "SurveyTotals"]

MOST_CELLS = 2_000  # of which a covariance is kept: 32 megabytes
# People that the whole numbers of `shares` stand for, and the fewest that a cell may have: its
# share is then exact to 5e-5 of itself. A survey of a hundred million records is far above that.
_SCALE = 10**15
_FEWEST = 10**4


@dataclass(frozen=True, eq=False)
class SurveyTotals(ReadOnly):
    """Weighted totals of cells, and their covariance.

    Attributes
    ----------
    totals : array of shape (a,)
        Sum of the weights of each cell's records.
    squares : array of shape (a,)
        Sum of the squared weights.
    covariance : array of shape (a, a) or None
        Of the totals; None for more than 2,000 cells.
    degrees : int
        Degrees of freedom of the covariance.
    """

    totals: Floats
    squares: Floats
    covariance: Floats | None
    degrees: int

    @classmethod
    def of(
        cls, records: SurveyRecords, cells: NDArray[np.integer[Any]], n_cells: int
    ) -> "SurveyTotals":
        """Estimate the totals of cells.

        Parameters
        ----------
        records : SurveyRecords
        cells : integer array of shape (n,)
            Each record's cell.
        n_cells : int
            Number of cells a.

        Returns
        -------
        SurveyTotals

        Raises
        ------
        ValueError
            If no variance can be estimated, or nearly all weight is on few records.

        Examples
        --------
        >>> records = SurveyRecords(np.array([1.0, 3.0, 2.0]), np.zeros(3, int), np.arange(3))
        >>> found = SurveyTotals.of(records, np.array([0, 1, 1]), 2)
        >>> found.totals.tolist(), found.degrees
        ([1.0, 5.0], 2)
        """
        if records.degrees < 1:
            raise ValueError(
                "the survey has as many strata as clusters (or one replicate), so no variance can "
                "be estimated from it."
            )
        totals = np.bincount(cells, records.weights, n_cells)
        least, whole = totals[totals > 0].min(), totals.sum()
        if least * (_SCALE / whole) < _FEWEST:
            raise ValueError(
                f"the weights of a cell's records sum to {least:.2g}, and all weights to "
                f"{whole:.2g}: nearly all weight is on few records, and no distribution can be "
                "estimated. Weights say how many people a record stands for: correct them."
            )
        covariance = None
        if n_cells <= MOST_CELLS:
            covariance = read_only(records.covariance_of_totals(cells, n_cells))
        return cls(
            read_only(totals),
            read_only(np.bincount(cells, records.squares, n_cells)),
            covariance,
            records.degrees,
        )

    @cached_property
    def shares(self) -> NDArray[np.int64]:
        """Whole numbers in proportion to the totals, at least 10,000 where a cell has records."""
        return read_only(np.rint(self.totals * (_SCALE / self.totals.sum())).astype(np.int64))

    def arranged(self, cells: NDArray[np.integer[Any]], n_cells: int) -> "SurveyTotals":
        """Return the totals of other cells: sums of these.

        Parameters
        ----------
        cells : integer array of shape (a,)
            The new cell of each cell.
        n_cells : int
            Number of new cells.

        Returns
        -------
        SurveyTotals
        """
        covariance = None
        if self.covariance is not None and n_cells <= MOST_CELLS:
            whole = np.zeros((n_cells, n_cells))
            np.add.at(whole, np.ix_(cells, cells), self.covariance)
            covariance = read_only(whole)
        return SurveyTotals(
            read_only(np.bincount(cells, self.totals, n_cells)),
            read_only(np.bincount(cells, self.squares, n_cells)),
            covariance,
            self.degrees,
        )
