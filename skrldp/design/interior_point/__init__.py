"""The interior-point method: a central path through the private mechanisms."""

from skrldp.design.interior_point._blocks import path_blocks
from skrldp.design.interior_point._central_path import CentralPath
from skrldp.design.interior_point._pair_functions import pair_function

__all__ = ["CentralPath", "pair_function", "path_blocks"]
