"""From reports to estimates of the distribution of the records, with their uncertainty."""

from skrldp.estimation._cells import EstimatedCells, estimated_cells
from skrldp.estimation._drift import DriftTest
from skrldp.estimation._estimator import FrequencyEstimator
from skrldp.estimation._expected import (
    expected_std_error,
    expected_std_error_of_mean,
    expected_std_errors,
    expected_std_errors_of_targets,
)
from skrldp.estimation._paired import PairedReports
from skrldp.estimation._survey_cells import survey_cells
from skrldp.estimation.figures import Estimate, Figures, NumericEstimate, difference, ratio
from skrldp.estimation.hypotheses import (
    HypothesisTest,
    Independence,
    SameDistribution,
    StatedDistribution,
    expected_power,
    likelihood_ratio_test,
)
from skrldp.estimation.wide import BlockEstimator, Calibrator

__all__ = [
    "BlockEstimator",
    "Calibrator",
    "DriftTest",
    "Estimate",
    "EstimatedCells",
    "Figures",
    "FrequencyEstimator",
    "HypothesisTest",
    "Independence",
    "NumericEstimate",
    "PairedReports",
    "SameDistribution",
    "StatedDistribution",
    "difference",
    "estimated_cells",
    "expected_power",
    "expected_std_error",
    "expected_std_error_of_mean",
    "expected_std_errors",
    "expected_std_errors_of_targets",
    "likelihood_ratio_test",
    "ratio",
    "survey_cells",
]
