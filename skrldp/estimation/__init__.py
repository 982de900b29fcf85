"""From reports to estimates of the distribution of the records, with their uncertainty."""

from skrldp.estimation._block_estimator import BlockEstimator
from skrldp.estimation._by_group import Figures, difference
from skrldp.estimation._calibrator import Calibrator
from skrldp.estimation._drift import DriftTest
from skrldp.estimation._estimate import Estimate
from skrldp.estimation._estimator import FrequencyEstimator
from skrldp.estimation._expected import (
    expected_std_error,
    expected_std_error_of_mean,
    expected_std_errors,
)
from skrldp.estimation._numbers import NumericEstimate

__all__ = [
    "BlockEstimator",
    "Calibrator",
    "DriftTest",
    "Estimate",
    "Figures",
    "FrequencyEstimator",
    "NumericEstimate",
    "difference",
    "expected_std_error",
    "expected_std_error_of_mean",
    "expected_std_errors",
]
