"""A table that is being read, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skrldp.alphabet import brief
from skrldp.cli._errors import CommandError

__all__ = ["BATCH_ROWS", "BLOCK", "Batches", "NoRows", "Wanted", "checked", "counts_of"]

BATCH_ROWS = 1 << 16  # at most
BLOCK = 1 << 20  # bytes that are read at a time


class NoRows(CommandError):
    """A table is empty: an error unless others are read together with it."""


@dataclass(frozen=True)
class Wanted:
    """What is to be read of a table.

    Attributes
    ----------
    columns : sequence of str or None
        The columns; None for all.
    types : mapping of str to DataType
        As what columns of text files are read. The types of others are inferred.
    texts : sequence of str
        Columns of text files that are texts whatever they look like, such as ids: a whole number in
        JSON is its digits.
    raw : bool
        Whether all other columns of text files are read as they are written. In JSON lines this is
        the JSON of each value.
    """

    columns: Sequence[str] | None
    types: Mapping[str, Any] = field(default_factory=dict)
    texts: Sequence[str] = ()
    raw: bool = False


@dataclass(frozen=True)
class Batches:
    """A table that is read batch by batch.

    Attributes
    ----------
    path : str
        The file's name.
    schema : Schema
        Of the batches: the columns that were asked for, in that order.
    rows : iterable of RecordBatch
        At most 65,536 rows each.
    total : int or None
        Number of rows or, with `place`, of bytes.
    place : callable or None
        Tells how many bytes were read.
    header : sequence of str
        All columns of the file, for messages.
    """

    path: str
    schema: Any
    rows: Iterable[Any]
    total: int | None = None
    place: Callable[[], int] | None = None
    header: Sequence[str] = ()


def checked(names: Sequence[str], columns: Sequence[str] | None, path: str) -> list[str]:
    """Return the wanted columns after checking that the table has each of them once."""
    wanted = list(names) if columns is None else list(columns)
    for name in wanted:
        if names.count(name) != 1:
            problem = "lacks the column" if name not in names else "has more than one column"
            has = brief(", ".join(map(repr, names)))
            raise CommandError(f"{path} {problem} {name!r}; its columns are {has}.")
    return wanted


def counts_of(batch: Any, name: str, path: str) -> Any:
    """Return a batch's column of counts after checking that it has whole numbers from 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = batch.column(name)
    if not pa.types.is_integer(column.type) or column.null_count:
        raise CommandError(
            f"{path}: the column {name!r} (--counts) must have whole numbers in every row."
        )
    if len(column) and pc.min(column).as_py() < 0:
        raise CommandError(f"{path}: the column {name!r} (--counts) is negative.")
    return column.cast(pa.int64())
