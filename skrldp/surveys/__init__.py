"""Public tables that are surveys: weights, strata and clusters.

The records of a survey are not drawn independently, with equal probability, so the confidence sets
for such records are too small. :class:`SurveyDesign` states how they were drawn,
:class:`SurveyRecords` are its columns of a table, and :class:`SurveyTotals` estimate the
distribution of the population with the covariance of the estimates. :func:`independent_part` keeps
records that are an independent sample.
"""
