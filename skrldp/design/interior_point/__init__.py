"""The interior-point method: a central path through the private mechanisms."""

from skrldp.design.interior_point._block import Block
from skrldp.design.interior_point._blocks import path_blocks
from skrldp.design.interior_point._central_path import CentralPath
from skrldp.design.interior_point._pair_functions import pair_function
from skrldp.design.interior_point._row_paths import RowPaths

__all__ = ["Block", "CentralPath", "RowPaths", "pair_function", "path_blocks"]
