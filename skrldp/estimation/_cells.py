"""What reports say about the probabilities of all cells, for figures that are functions of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skrldp.alphabet import Record
from skrldp._typing import Booleans, Floats
from skrldp.estimation._estimator import FrequencyEstimator
from skrldp.estimation._fit import project
from skrldp.estimation.wide import BlockEstimator

__all__ = ["EstimatedCells", "columns_of", "estimated_cells"]


@dataclass(frozen=True, eq=False)
class EstimatedCells:
    """The estimated distribution of cells, with the covariance of linear functions of it.

    Attributes
    ----------
    record : Record
        The alphabets whose pairs are the cells.
    frequencies : array of shape (a,)
        The distribution.
    n_reports : int
        Number of reports.
    covariance : callable
        Covariance of the estimates of linear functions, (m, a) to (m, m).
    determines : callable
        Whether the reports determine linear functions, (m, a) to (m,).
    """

    record: Record
    frequencies: Floats
    n_reports: int
    covariance: Callable[[Floats], Floats]
    determines: Callable[[Floats], Booleans]


def columns_of(estimator: Any) -> tuple[Any, ...]:
    """Names of the columns that an estimator knows; empty where the mechanism has no names.

    Raises TypeError if the estimator is of another kind, and NotFittedError if it is not fitted.
    """
    if not isinstance(estimator, FrequencyEstimator | BlockEstimator):
        raise TypeError(
            "the reports must come as a fitted FrequencyEstimator or BlockEstimator, got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    if isinstance(estimator, FrequencyEstimator):
        return tuple(name for name, _ in estimator.mechanism_.columns)
    return tuple(name for name, _ in estimator.manifest_.columns)


def estimated_cells(estimator: Any, columns: Sequence[Any]) -> EstimatedCells:
    """Read the estimated distribution of the cells from a fitted estimator.

    Of a BlockEstimator they are the cells of the smallest block that has the columns.

    Raises ValueError if the estimate is no distribution, or no block has the columns.
    """
    if isinstance(estimator, BlockEstimator):
        own = estimator._of_block(list(columns))
        every = np.eye(len(own.record.secrets) * len(own.record.values))
        values = own.evaluate(every)[0]
        if np.isnan(values).any():
            raise ValueError(
                "the reports do not determine the joint distribution of "
                f"{', '.join(map(repr, columns))}: report a block of these columns."
            )
        return EstimatedCells(
            own.record,
            project(values),
            estimator.n_reports_,
            lambda functions: own.pooled(functions).covariance,
            lambda functions: own.pooled(functions).determined,
        )
    fit = estimator._fit
    if estimator.method != "ml":
        raise ValueError(
            "estimates by least squares may be negative, and a model has no solution then: use "
            'FrequencyEstimator(method="ml").'
        )
    return EstimatedCells(
        estimator.mechanism_,
        fit.distribution,
        estimator.n_reports_,
        lambda functions: fit.covariance(functions, free=True),
        fit.channel.determines,
    )
