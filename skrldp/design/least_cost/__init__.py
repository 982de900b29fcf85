"""Designs with a linear or robust cost: a central path and cuts, or a conic program."""

from skrldp.design.least_cost._minimise import minimise
from skrldp.design.least_cost._minimise_conic import minimise_conic
from skrldp.design.least_cost._program import CutProgram, cheapest

__all__ = ["CutProgram", "cheapest", "minimise", "minimise_conic"]
