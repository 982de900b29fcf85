"""Public tables that are surveys: weights, strata and clusters.

The records of a survey are not drawn independently and alike, so the confidence sets for such
records are too small. :class:`SurveyDesign` states how they were drawn, :class:`SurveyRecords` are
its columns of a table, and :class:`SurveyTotals` estimate the distribution of the population with
the covariance of the estimates. :func:`independent_part` keeps records that are an independent
sample.
"""

from skrldp.surveys._design import SurveyDesign
from skrldp.surveys._records import SurveyRecords, WeightSums
from skrldp.surveys._summary import SurveySummary
from skrldp.surveys._thinning import independent_part
from skrldp.surveys._totals import MOST_CELLS, SurveyTotals

__all__ = [
    "MOST_CELLS",
    "SurveyDesign",
    "SurveyRecords",
    "SurveySummary",
    "SurveyTotals",
    "WeightSums",
    "independent_part",
]
