"""What both samplers share: the size of their blocks of rows, and checks of codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["BLOCK", "Stream", "check_codes"]

# Rows per block. A block's buffers take some 25 bytes a row, so that they stay in a core's
# second-level cache, and the interpreter's share of the time stays below a tenth.
BLOCK = 1 << 15


class Stream(Protocol):
    """A source of random bits for the tables."""

    def fill(self, out: NDArray[Any]) -> None: ...


def check_codes(codes: ArrayLike, n_cells: int) -> NDArray[Any]:
    """Return the codes as an array, after checking that all of them are cells."""
    codes = np.asarray(codes)
    if codes.dtype.kind not in "iu":
        raise TypeError(f"codes must be integers, got dtype {codes.dtype}")
    if codes.ndim != 1:
        raise ValueError(f"codes must be one-dimensional, got shape {codes.shape}")
    if codes.size and (codes.max() >= n_cells or (codes.dtype.kind == "i" and codes.min() < 0)):
        bad = np.flatnonzero((codes < 0) | (codes >= n_cells))
        raise ValueError(
            f"codes must lie in [0, {n_cells}); {bad.size} do not, the first at place {bad[0]}"
        )
    return codes
