"""Regressions from reports: how a column of the records depends on others."""

from skrldp.regression._models import logit, mnlogit, ols, poisson
from skrldp.regression._results import RegressionResults

__all__ = ["RegressionResults", "logit", "mnlogit", "ols", "poisson"]
