"""From reports to estimates of the distribution of the records, with their uncertainty."""

from skrldp.aggregate._drift import DriftTest
from skrldp.aggregate._estimate import Estimate
from skrldp.aggregate._estimator import FrequencyEstimator
from skrldp.aggregate._expected import (
    expected_std_error,
    expected_std_error_of_mean,
    expected_std_errors,
)
from skrldp.aggregate._numbers import NumericEstimate

__all__ = [
    "DriftTest",
    "Estimate",
    "FrequencyEstimator",
    "NumericEstimate",
    "expected_std_error",
    "expected_std_error_of_mean",
    "expected_std_errors",
]
