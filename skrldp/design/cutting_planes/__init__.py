"""Linear programs over whole mechanisms, with privacy constraints added where they are broken."""

from skrldp.design.cutting_planes._program import CutProgram, Cuts
from skrldp.design.cutting_planes._search import minimise

__all__ = ["CutProgram", "Cuts", "minimise"]
