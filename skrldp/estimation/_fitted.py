"""Fitted estimators as functions take them."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from skrldp.estimation._estimator import FrequencyEstimator

__all__ = ["by_reports_alone"]


def by_reports_alone(estimator: Any) -> FrequencyEstimator:
    """Return a fitted estimator that takes nothing but reports into account."""
    if not isinstance(estimator, FrequencyEstimator):
        raise TypeError(
            f"the reports must come as fitted FrequencyEstimators, got {type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    if estimator.prior is not None or estimator.restrict_to is not None:
        raise ValueError(
            "a prior or restrict_to adds to what the reports say: fit an estimator without them."
        )
    return estimator
