"""Alternation of decoder and mechanism, annealed along the central path; and decomposition."""

from skrldp.design.alternation._alternate import alternate
from skrldp.design.alternation._annealing import Annealing, path_requirements
from skrldp.design.alternation._decomposition import decompose
from skrldp.design.alternation._runs import Run
from skrldp.design.alternation._starts import starts

__all__ = ["Annealing", "Run", "alternate", "decompose", "path_requirements", "starts"]
