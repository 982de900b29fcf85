"""From probabilities to integers over a power of two, the weights of a mechanism."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._arrays import real_numbers
from skrldp._typing import Floats

_COLUMN_TOLERANCE = 1e-9


def slot_bits(n_symbols: int) -> int:
    """Denominator bits of a dense mechanism: 32 bits for the threshold and those of an alias slot.

    Examples
    --------
    >>> slot_bits(16), slot_bits(17)
    (36, 37)
    """
    return 32 + (n_symbols - 1).bit_length()


def check_matrix(matrix: ArrayLike, n_cells: int) -> Floats:
    """Reject anything but a matrix of probabilities with a column for each cell."""
    probabilities = real_numbers(matrix, "the matrix").astype(float)
    if probabilities.ndim != 2 or probabilities.shape[1] != n_cells or len(probabilities) == 0:
        raise ValueError(
            f"the matrix must have shape (b, {n_cells}), one column for each cell, got "
            f"{probabilities.shape}."
        )
    if not np.all(np.isfinite(probabilities)) or np.any(probabilities < 0):
        raise ValueError("the matrix must hold probabilities, got negative or non-finite entries.")
    sums = probabilities.sum(axis=0)
    worst = int(np.abs(sums - 1.0).argmax())
    if abs(sums[worst] - 1.0) > _COLUMN_TOLERANCE:
        raise ValueError(
            f"the columns of a mechanism must sum to 1, but column {worst} sums to {sums[worst]}."
        )
    return probabilities


def round_columns(probabilities: Floats, bits: int) -> NDArray[np.int64]:
    """Largest-remainder rounding of each column to integers that sum to 2**bits exactly."""
    unit = 2**bits
    scaled = probabilities / probabilities.sum(axis=0) * unit
    weights = np.floor(scaled).astype(np.int64)
    missing = unit - weights.sum(axis=0)
    remainder = np.where(scaled > 0, scaled - weights, -1.0)
    rank = np.argsort(np.argsort(-remainder, axis=0, kind="stable"), axis=0, kind="stable")
    weights += rank < missing
    # Rounding errors in the sums can leave a few units too many or too few: the largest entry
    # absorbs them.
    columns = np.arange(weights.shape[1])
    weights[weights.argmax(axis=0), columns] += unit - weights.sum(axis=0)
    return weights
