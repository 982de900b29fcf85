"""Mechanisms whose reports are sets of categories: optimal local privacy of one attribute."""

from skrldp.design.subset._independent import optimal_reporting
from skrldp.design.subset._quick import quick_reporting

__all__ = ["optimal_reporting", "quick_reporting"]
