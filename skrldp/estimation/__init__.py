"""Estimates about records from reports, with their uncertainty."""

from skrldp.estimation.blocks import BlockEstimator
from skrldp.estimation.estimator import FrequencyEstimator
from skrldp.estimation.figures import Estimates, difference, pooled, ratio
from skrldp.estimation.hypotheses import DriftTest, HypothesisTest
from skrldp.estimation.pairs import PairedReports, same_distribution_test
from skrldp.estimation.planning import (
    expected_std_error,
    expected_std_error_of_mean,
    expected_std_errors_of_targets,
)
from skrldp.estimation.raking_weights import RakingWeights

__all__ = [
    "BlockEstimator",
    "DriftTest",
    "Estimates",
    "FrequencyEstimator",
    "HypothesisTest",
    "PairedReports",
    "RakingWeights",
    "difference",
    "expected_std_error",
    "expected_std_error_of_mean",
    "expected_std_errors_of_targets",
    "pooled",
    "ratio",
    "same_distribution_test",
]
