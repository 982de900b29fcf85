"""Conversion of requirements to blocks of constraints on the central path."""

from dataclasses import replace

from skrldp.design.box_block import BoxBlock
from skrldp.design.newton_system import Block
from skrldp.design.pair_blocks import PairBlock, pair_function
from skrldp.design.range_block import RangeBlock
from skrldp.privacy.requirements import Requirement, Requirements


def path_blocks(requirements: Requirements) -> list[Block]:
    """Make a block for each requirement that compares at least two secrets.

    A requirement without a central path is replaced by the weakest requirement that implies it and
    has a central path; see :func:`has_path`.
    """
    return [_block(item) for item in requirements if item.n_pairs]


def has_path(one: Requirement) -> bool:
    """Whether a requirement itself has a central path.

    There is no central path for a shared budget near order 1/2, or for the public distribution if a
    secret has no records.
    """
    return one.everywhere or one.region.box is not None or pair_function(one) is not None


def _block(one: Requirement) -> Block:
    if one.everywhere:
        return RangeBlock(one)
    if one.region.box is not None:
        return BoxBlock(one)
    pairs = pair_function(one)
    return (
        _block(replace(one, region=one.region.wider())) if pairs is None else PairBlock(one, pairs)
    )
