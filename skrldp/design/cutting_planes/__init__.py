"""Designs with a linear or robust cost: a central path, then linear programs with cuts."""

from skrldp.design.cutting_planes._minimise import minimise
from skrldp.design.cutting_planes._program import CutProgram, cheapest

__all__ = ["CutProgram", "cheapest", "minimise"]
