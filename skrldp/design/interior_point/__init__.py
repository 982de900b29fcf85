"""The interior-point method: a central path through the private mechanisms."""

from skrldp.design.interior_point._pairs import PairFunction, pair_function
from skrldp.design.interior_point._path import CentralPath

__all__ = ["CentralPath", "PairFunction", "pair_function"]
