"""Alternation of decoder and mechanism, annealed along the central path."""

from skrldp.design.alternation._alternate import alternate
from skrldp.design.alternation._annealing import Annealing

__all__ = ["Annealing", "alternate"]
