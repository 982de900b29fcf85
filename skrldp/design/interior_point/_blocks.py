"""From requirements to the blocks of a central path."""

from skrldp.design.interior_point._block import Block
from skrldp.design.interior_point._pair_block import PairBlock
from skrldp.design.interior_point._pair_functions import pair_function
from skrldp.design.interior_point._range_block import RangeBlock
from skrldp.privacy import Requirement, Requirements

__all__ = ["path_blocks"]


def path_blocks(requirements: Requirements) -> list[Block] | None:
    """Make a block of each requirement that compares anything.

    Returns list of Block, or None: none if there is no central path for one of them; see
    :func:`pair_function`.
    """
    blocks = [_block(one) for one in requirements if one.n_pairs]
    found = [block for block in blocks if block is not None]
    return found if len(found) == len(blocks) else None


def _block(one: Requirement) -> Block | None:
    if one.everywhere:
        return RangeBlock(one)
    pairs = pair_function(one)
    return None if pairs is None else PairBlock(one, pairs)
