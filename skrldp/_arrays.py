"""Long arrays: chunks of rows, and the smallest dtype for indices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["ROWS", "chunks", "refuse_masked", "smallest_dtype"]

ROWS = 1 << 20  # rows of a table handled at a time: bounds the temporary memory


def chunks(n_rows: int, size: int | None = None) -> Iterator[slice]:
    """Cut ``range(n_rows)`` into slices of at most `size` rows; `ROWS` if it is None."""
    step = ROWS if size is None else size
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def smallest_dtype(n: int, *, signed: bool = False) -> np.dtype[Any]:
    """Return the smallest integer dtype that holds 0, ..., n - 1 (and -1 if `signed`)."""
    return np.min_scalar_type(-max(n, 1) if signed else n - 1)


def refuse_masked(values: Any, name: str) -> None:
    """Raise a ValueError if entries of an array are masked: NumPy would read what lies below."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} must not be masked: a masked entry has no value. Fill it, with "
            "numpy.ma.filled, or leave it out."
        )
