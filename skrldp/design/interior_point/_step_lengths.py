"""How much of a Newton step is taken."""

from collections.abc import Callable

import numpy as np

from skrldp._typing import Floats

__all__ = ["farthest", "step_lengths"]

# Usual values of interior-point codes; see _central_path.py.

# Part of the way to the boundary that a step may go: the usual range of such codes is 0.9 to 0.995.
_FRACTION_TO_BOUNDARY = 0.97
# Neighbourhood of the path: no product of a variable and its multiplier is less than this part of
# their mean (usual: 1e-3 to 1e-4). Steps are shortened by the factor until that holds, at most so
# many times.
_LEAST_PRODUCT = 1e-4
_SHORTER, _MOST_SHORTENINGS = 0.8, 12


def farthest(bounds: Floats) -> Floats:
    """Keep a step away from the boundary.

    Parameters
    ----------
    bounds : array of shape (..., 2)
        How many steps take a variable, or a multiplier, to zero.

    Returns
    -------
    array of the same shape
        Of the variables, and of the multipliers, at most 1.
    """
    return np.minimum(1.0, _FRACTION_TO_BOUNDARY * bounds)


def step_lengths(
    bounds: Floats, products: Callable[[Floats], tuple[Floats, Floats]], count: int
) -> tuple[Floats, Floats]:
    """Shorten steps until they stay near the path.

    Parameters
    ----------
    bounds : array of shape (m, 2)
        How many steps of each path take a variable, or a multiplier, to zero.
    products : callable
        Takes lengths, of shape (m, 2), to the sum and the least of the products of variables and
        multipliers of each path, both of shape (m,).
    count : int
        Number of variables of a path.

    Returns
    -------
    lengths : array of shape (m, 2)
        Of the variables, and of the multipliers.
    total : array of shape (m,)
        Sum of the products there.
    """
    lengths = farthest(bounds)
    for _ in range(_MOST_SHORTENINGS):
        total, least = products(lengths)
        far = ~(least >= _LEAST_PRODUCT * total / count)
        if not far.any():
            break
        lengths[far] *= _SHORTER
    return lengths, total
