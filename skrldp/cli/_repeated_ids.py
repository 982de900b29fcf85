"""Whether two rows of a table have the same id, in memory that does not grow with the table."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skrldp.batches import bare, numbers_of
from skrldp.cli._errors import CommandError

__all__ = ["RepeatedIds"]

_AT_ONCE = 1 << 22  # numbers that are compared at a time: 32 MB
_BLOCK = 1 << 20  # numbers that are read at a time


class RepeatedIds:
    """Finds ids that stand in several rows.

    Each id becomes a number of 64 bits, in a temporary file. The numbers of whole numbers differ;
    those of texts and bytes are Python's hashes, by which two different ids of 10⁸ are taken for
    one with a probability of 0.0003. The numbers are then compared, those with the same remainder
    at a time.

    Parameters
    ----------
    column : str
        The column of the ids.
    """

    def __init__(self, column: str) -> None:
        self._column = column
        self._rows = 0

    def __enter__(self) -> Self:
        self._file = tempfile.TemporaryFile()
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, ids: Any) -> None:
        """Note the ids of a batch."""
        self._file.write(_numbers(ids).tobytes())
        self._rows += len(ids)

    def check(self, path: str) -> None:
        """Raise an error if an id was noted twice."""
        parts = -(-self._rows // _AT_ONCE)
        for part in range(parts):
            own = np.concatenate(
                [block[block % np.uint64(parts) == part] for _, block in self._blocks()]
            )
            own.sort()
            twice = np.flatnonzero(own[1:] == own[:-1])
            if len(twice):
                rows = self._rows_of(own[twice[0]])
                raise CommandError(
                    f"{path}: rows {rows[0]:,} and {rows[1]:,} (counted from 0) have the same id "
                    f"in column {self._column!r}, and so may others. A report is about one record "
                    "of each id: keep one row for each."
                )

    def _blocks(self) -> Iterator[tuple[int, NDArray[np.uint64]]]:
        """Yield the numbers, with the row of the first of each block."""
        self._file.seek(0)
        for start in range(0, self._rows, _BLOCK):
            yield start, np.frombuffer(self._file.read(8 * _BLOCK), np.uint64)

    def _rows_of(self, number: np.uint64) -> list[int]:
        return [
            start + row
            for start, block in self._blocks()
            for row in np.flatnonzero(block == number).tolist()
        ]


def _numbers(ids: Any) -> NDArray[np.uint64]:
    import pyarrow as pa

    ids = bare(ids)
    if pa.types.is_integer(ids.type):
        return numbers_of(ids).astype(np.int64, copy=False).view(np.uint64)
    return np.fromiter(map(hash, ids.to_pylist()), np.int64, len(ids)).view(np.uint64)
