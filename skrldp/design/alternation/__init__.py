"""Alternation of decoder and mechanism, annealed along the central path."""

from skrldp.design.alternation._alternate import alternate, starts
from skrldp.design.alternation._annealing import Annealing, path_requirements
from skrldp.design.alternation._from_known import alternate_from

__all__ = ["Annealing", "alternate", "alternate_from", "path_requirements", "starts"]
