"""Alternation of decoder and mechanism, annealed along the central path."""

from skrldp.design.alternation._annealing import Annealing
from skrldp.design.alternation._restarts import alternate

__all__ = ["Annealing", "alternate"]
