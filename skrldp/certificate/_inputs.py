"""Checks of what is to be certified."""

import numpy as np
from numpy.typing import ArrayLike

from skrldp._arrays import real_numbers
from skrldp._typing import Floats
from skrldp.joint import JointDistribution
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism

# Sums of b probabilities that were divided by their sum are 1 up to about b units of rounding, and
# a few more. Twice as many would let pass sums that are off by some 1e-15 more.
_LAST_DIGITS = 4


def checked_matrix(matrix: ArrayLike, joint: JointDistribution) -> Floats:
    """Check that an array is a mechanism as it stands, so that what is proven is about it."""
    of_blocks = isinstance(matrix, Manifest) or hasattr(matrix, "manifest_")
    if of_blocks or hasattr(matrix, "get_params"):
        way = "give its `mechanism_` after fit."
        if of_blocks:
            way = (
                "certify each block's, manifest.mechanisms[k], around the public distribution of "
                "its columns, sanitizers_[k].joint_. A report leaks no more than the worst of them."
            )
        raise TypeError(f"a mechanism is needed, got {type(matrix).__name__}: {way}")
    numbers = real_numbers(matrix, "the mechanism")
    Mechanism.from_matrix(numbers, joint.secrets, joint.values)  # checks shape and signs
    table = numbers.astype(float)
    off = np.abs(table.sum(axis=0) - 1.0)
    if off.max() > (len(table) + _LAST_DIGITS) * np.finfo(float).eps:
        raise ValueError(
            f"column {int(off.argmax())} of the mechanism sums to 1 only up to {off.max():.1g}. "
            "Divide by the sums: matrix / matrix.sum(axis=0)."
        )
    return table
