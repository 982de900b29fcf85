"""Regressions from reports: how a column of the records depends on others."""

from skrldp.regression.models import RegressionResults, logit, mnlogit, ols, poisson

__all__ = ["RegressionResults", "logit", "mnlogit", "ols", "poisson"]
