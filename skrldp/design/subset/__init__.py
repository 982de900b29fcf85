"""Mechanisms whose reports are sets of categories: optimal local privacy of one attribute."""

from skrldp.design.subset._extremal import LocalOptimum, optimal_response
from skrldp.design.subset._quick import quick_reporting

__all__ = ["LocalOptimum", "optimal_response", "quick_reporting"]
