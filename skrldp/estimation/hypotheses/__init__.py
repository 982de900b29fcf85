"""Hypotheses about the records, and the likelihood ratio of reports under them."""

from skrldp.estimation.hypotheses._hypotheses import (
    Hypothesis,
    Independence,
    SameDistribution,
    StatedDistribution,
)
from skrldp.estimation.hypotheses._test import HypothesisTest, expected_power, likelihood_ratio_test

__all__ = [
    "Hypothesis",
    "HypothesisTest",
    "Independence",
    "SameDistribution",
    "StatedDistribution",
    "expected_power",
    "likelihood_ratio_test",
]
