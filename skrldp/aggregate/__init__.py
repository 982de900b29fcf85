"""From reports to estimates of the distribution they come from, and how sure one can be."""

from skrldp.aggregate._estimate import Estimate
from skrldp.aggregate._estimator import FrequencyEstimator
from skrldp.aggregate._numeric import NumericEstimate

__all__ = ["Estimate", "FrequencyEstimator", "NumericEstimate"]
