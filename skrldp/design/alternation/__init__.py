"""Alternation of decoder and mechanism, annealed along the central path."""

from skrldp.design.alternation._alternate import alternate, starts
from skrldp.design.alternation._annealing import Annealing, path_requirements

__all__ = ["Annealing", "alternate", "path_requirements", "starts"]
