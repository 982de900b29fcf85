"""The estimated distribution of cells, for figures that are functions of it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skrldp._typing import Booleans, Floats
from skrldp.alphabet.combinations import Record, group_cells
from skrldp.estimation.blocks import BlockEstimator
from skrldp.estimation.estimator import FrequencyEstimator
from skrldp.estimation.methods import Cells
from skrldp.estimation.statistic import Sample, project

__all__ = ["EstimatedCells", "estimated_cells"]


class EstimatedCells(NamedTuple):
    """The estimated distribution of cells, with the covariance of linear functions of it."""

    cells: Cells
    sample: Sample
    frequencies: Floats  # (a,)

    @property
    def record(self) -> Record:
        """The alphabets whose pairs are the cells."""
        return self.cells.record

    @property
    def n_reports(self) -> int:
        """Number of reports."""
        return round(self.sample.n)

    def covariance(self, functions: Floats) -> tuple[Floats, Booleans]:
        """Covariance of estimates of linear functions, (m, a) to (m, m), and which are determined.

        The derivative of a statistic by the cells' probabilities is such a function (delta method).
        """
        of = self.cells.unbiased(functions, self.sample)
        found = self.sample.covariance(of.of_c, of.of_c)
        found[~of.determined, :] = found[:, ~of.determined] = np.nan
        return found, of.determined


def estimated_cells(estimator: Any, columns: Sequence[Any]) -> EstimatedCells:
    """Read the estimated distribution of the cells that have some columns."""
    if not isinstance(estimator, FrequencyEstimator | BlockEstimator):
        raise TypeError(
            "the reports must come as a fitted FrequencyEstimator or BlockEstimator, got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    cells = estimator._cells(list(columns), None)
    group_cells(cells.record, list(columns), "all")  # refuses others
    if isinstance(estimator, FrequencyEstimator):
        _, sample = estimator._own.one_sample("a regression")
        return EstimatedCells(cells, sample, estimator._own.of_all(sample))
    _, sample = cells.samples[0]
    every = cells.unbiased(np.eye(cells.n_cells), sample)
    if not every.determined.all():
        raise ValueError(
            f"the reports do not determine how {', '.join(map(repr, columns))} go together: report "
            "a block of these columns."
        )
    return EstimatedCells(cells, sample, project(every.estimates(sample), every.variances(sample)))
