"""Wide tables, of which each person reports one block of columns."""

from skrldp.estimation.wide._block_design import (
    OfBlock,
    block_with,
    blocks_with,
    expected_blocks,
    expected_pool,
    names_in,
)
from skrldp.estimation.wide._block_estimator import BlockEstimator
from skrldp.estimation.wide._calibrator import Calibrator

__all__ = [
    "BlockEstimator",
    "Calibrator",
    "OfBlock",
    "block_with",
    "blocks_with",
    "expected_blocks",
    "expected_pool",
    "names_in",
]
