"""What reports say about the probabilities of all cells, for figures that are functions of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skrldp._typing import Booleans, Floats
from skrldp.alphabet import Record, group_cells
from skrldp.estimation._estimator import FrequencyEstimator
from skrldp.estimation._fit import project
from skrldp.estimation.wide import BlockEstimator

__all__ = ["EstimatedCells", "estimated_cells"]


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
    away_from_zero : callable
        Whether linear functions vary as their covariance states, (m, a) to (m,): near a probability
        of 0 estimates cannot move freely, and vary less.
    """

    record: Record
    frequencies: Floats
    n_reports: int
    covariance: Callable[[Floats], Floats]
    determines: Callable[[Floats], Booleans]
    away_from_zero: Callable[[Floats], Booleans]


def estimated_cells(estimator: Any, columns: Sequence[Any]) -> EstimatedCells:
    """Read the estimated distribution of the cells, for any statistic that is a function of it.

    With Ψ the derivatives of a statistic by the probabilities of the cells, (m, a), its covariance
    is ``cells.covariance(Ψ)``: the delta method.

    Parameters
    ----------
    estimator : FrequencyEstimator, BlockEstimator or EstimatedCells
        Fitted to reports, by maximum likelihood. Cells, such as those of :func:`survey_cells`, are
        returned as they are.
    columns : list
        The columns that the statistic is about. Of a BlockEstimator the cells are those of the
        smallest block that has these columns.

    Returns
    -------
    EstimatedCells

    Raises
    ------
    TypeError
        If the estimator is of another kind.
    ValueError
        If there is no such column; if the estimate is by least squares, which is no distribution;
        if no block has the columns, or the reports do not determine their joint distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> from skrldp.estimation import estimated_cells
    >>> X = [["no", 0], ["no", 1], ["yes", 0], ["yes", 1]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> estimator = FrequencyEstimator(sanitizer).fit(range(4), sample_weight=[200, 300, 200, 300])
    >>> cells = estimated_cells(estimator, [0, 1])
    >>> odds = np.log(cells.frequencies) @ [1, -1, -1, 1]  # logarithm of the odds ratio
    >>> error = np.sqrt(cells.covariance(np.array([[1, -1, -1, 1]]) / cells.frequencies)[0, 0])
    >>> round(float(odds), 2), round(float(error), 2)
    (0.0, 0.41)
    """
    if isinstance(estimator, EstimatedCells):
        return estimator
    if not isinstance(estimator, FrequencyEstimator | BlockEstimator):
        raise TypeError(
            "the reports must come as a fitted FrequencyEstimator or BlockEstimator, got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)
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
            lambda functions: np.ones(len(functions), dtype=bool),
        )
    group_cells(estimator.mechanism_, list(columns), "all")  # refuses others
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
        lambda functions: np.isfinite(fit.evaluate(functions)[1]),
    )
