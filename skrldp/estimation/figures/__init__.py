"""Shares, means, variances and quantiles from reports, with errors and intervals."""

from skrldp.estimation.figures._between_populations import difference, ratio
from skrldp.estimation.figures._bounded_mean import average, scores_for
from skrldp.estimation.figures._by_group import Figures, figures_of
from skrldp.estimation.figures._estimate import Estimate
from skrldp.estimation.figures._intervals import Ranges, intervals, score
from skrldp.estimation.figures._likelihood_ranges import CategoryRanges, NumberRanges
from skrldp.estimation.figures._numbers import NumericEstimate, Scaled, mean, quantile, variance
from skrldp.estimation.figures._pairs import Linear, Pairs, Wave
from skrldp.estimation.figures._score_intervals import LeastSquaresRanges

__all__ = [
    "CategoryRanges",
    "Estimate",
    "Figures",
    "LeastSquaresRanges",
    "Linear",
    "NumberRanges",
    "NumericEstimate",
    "Pairs",
    "Ranges",
    "Scaled",
    "Wave",
    "average",
    "difference",
    "figures_of",
    "intervals",
    "mean",
    "quantile",
    "ratio",
    "score",
    "scores_for",
    "variance",
]
