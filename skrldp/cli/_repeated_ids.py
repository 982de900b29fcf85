"""Whether two rows of a table have the same id, in memory that does not grow with the table."""

from __future__ import annotations

import tempfile
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skrldp.cli._errors import CommandError

__all__ = ["RepeatedIds"]

_AT_ONCE = 1 << 23  # numbers that are compared at a time: 64 MB


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
        """Note the ids of a batch.

        Parameters
        ----------
        ids : pyarrow.Array
            Whole numbers, texts or bytes, none missing.
        """
        self._file.write(_numbers(ids).tobytes())
        self._rows += len(ids)

    def check(self, path: str) -> None:
        """Raise an error if an id was noted twice.

        Parameters
        ----------
        path : str
            The table, for the message.
        """
        parts = -(-self._rows // _AT_ONCE)
        for part in range(parts):
            own, rows = self._part(part, parts)
            order = np.argsort(own, kind="stable")
            own = own[order]
            twice = np.flatnonzero(own[1:] == own[:-1])
            if len(twice):
                pairs = np.sort(rows[order[[twice[0], twice[0] + 1]]])
                raise CommandError(
                    f"{path}: rows {pairs[0]:,} and {pairs[1]:,} (counted from 0) have the same id "
                    f"in column {self._column!r}, and so may others. A report is about one record "
                    "of each id: keep one row for each."
                )

    def _part(self, part: int, parts: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Read the numbers that leave a remainder, and their rows."""
        self._file.seek(0)
        found, rows = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
        for start in range(0, self._rows, _AT_ONCE):
            block = np.frombuffer(self._file.read(8 * _AT_ONCE), np.uint64)
            own = np.flatnonzero(block % np.uint64(parts) == part)
            found.append(block[own])
            rows.append(own + start)
        return np.concatenate(found), np.concatenate(rows)


def _numbers(ids: Any) -> NDArray[np.uint64]:
    import pyarrow as pa

    if isinstance(ids, pa.DictionaryArray):
        ids = ids.dictionary_decode()
    if isinstance(ids, pa.ExtensionArray):
        ids = ids.storage
    if pa.types.is_integer(ids.type):
        return np.asarray(ids.to_numpy()).astype(np.int64, copy=False).view(np.uint64)
    return np.fromiter(map(hash, ids.to_pylist()), np.int64, len(ids)).view(np.uint64)
