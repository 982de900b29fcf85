"""How much of a Newton step is taken."""

from collections.abc import Callable

import numpy as np

from skrldp._typing import Floats

__all__ = ["FIRST_LENGTH", "farthest", "step_lengths"]

# Usual values of interior-point codes; see _central_path.py.

# Part of the way to the boundary that a step may go: the usual range of such codes is 0.9 to 0.995.
_FRACTION_TO_BOUNDARY = 0.97
FIRST_LENGTH = 0.5  # of the step that the first one is taken to follow
# Neighbourhood of the path: no product of a variable and its multiplier is less than this part of
# their mean (usual: 1e-3 to 1e-4). Steps are shortened by the factor until that holds, at most so
# many times.
_LEAST_PRODUCT = 1e-4
_SHORTER, _MOST_SHORTENINGS = 0.8, 12


def farthest(bounds: Floats) -> Floats:
    """Keep a step away from the boundary.

    Shapes: `bounds` (..., 2). Returns array of the same shape: of the variables, and of the
    multipliers, at most 1.
    """
    return np.minimum(1.0, _FRACTION_TO_BOUNDARY * bounds)


def step_lengths(
    bounds: Floats, products: Callable[[Floats], tuple[Floats, Floats]], count: int
) -> tuple[Floats, Floats]:
    """Shorten steps until they stay near the path.

    Shapes: `bounds` (m, 2). Returns `lengths` (m, 2): of the variables, and of the multipliers;
    `total` (m,): sum of the products there.
    """
    lengths = farthest(bounds)
    for _ in range(_MOST_SHORTENINGS):
        total, least = products(lengths)
        far = ~(least >= _LEAST_PRODUCT * total / count)
        if not far.any():
            break
        lengths[far] *= _SHORTER
    return lengths, total
