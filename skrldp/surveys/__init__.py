"""Surveys as public tables: weights, strata and clusters.

The records of a survey are not drawn independently, with equal probability, so confidence sets for
independent records would be too small. :class:`SurveyDesign` states how they were drawn,
:class:`SurveyRecords` hold the design's columns of a table, and :class:`SurveyTotals` estimate the
distribution of the population with the covariance of the estimates. :func:`independent_part` keeps
records that are an independent sample.
"""
