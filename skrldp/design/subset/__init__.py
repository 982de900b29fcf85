"""Mechanisms whose reports are sets of categories: optimal local privacy of one attribute."""

from skrldp.design.subset._alone import reports_of_one
from skrldp.design.subset._independent import optimal_reporting

__all__ = ["optimal_reporting", "reports_of_one"]
