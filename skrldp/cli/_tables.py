"""Tables in files, read batch by batch; whatever is wrong with a file is said without its values.

Arrow's own messages quote rows and values, which may be secrets, so they are not passed on.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from skrldp.alphabet import brief
from skrldp.cli._errors import CommandError
from skrldp.cli._outputs import STANDARD

__all__ = ["Batches", "open_batches", "read_whole"]

_ROWS = 1 << 16  # of a batch, at most
_BLOCK = 1 << 20  # bytes of a CSV file that are parsed at a time
_HEAD = 1 << 16  # bytes in which a CSV file's header must end
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
_ROW_INDEX = re.compile(r"__index_level_\d+__")  # how pandas writes an index


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


@contextmanager
def open_batches(
    path: str,
    kind: str,
    columns: Sequence[str],
    types: Mapping[str, Any] | None = None,
    converted: Callable[[Any], Any] | None = None,
) -> Iterator[Batches]:
    """Open a table.

    Parameters
    ----------
    path : str
        The file's name; "-" is standard input.
    kind : {"csv", "parquet", "arrow", "arrows"}
        Its format.
    columns : sequence of str
        The columns to read.
    types : mapping of str to DataType, optional
        As what columns of CSV are read; others are inferred from the first rows.
    converted : callable, optional
        Is applied to the batches of a CSV file.

    Yields
    ------
    Batches

    Raises
    ------
    CommandError
        If it is no such table, or lacks a column; while it is read, if it is cut off or damaged.
    """
    with ExitStack() as stack:
        with _in_words(path, kind):
            found = _OPEN[kind](path, stack, columns, types or {})
        pieces = _pieces(found, columns, kind)
        if kind == "csv" and converted is not None:
            pieces = map(converted, pieces)
        yield replace(found, schema=_selected(found.schema, columns), rows=pieces)


def read_whole(path: str, kind: str, columns: Sequence[str] | None, text: Sequence[str]) -> Any:
    """Read a table into memory.

    Parameters
    ----------
    path, kind : str
        As in :func:`open_batches`.
    columns : sequence of str or None
        The columns to read; None reads all.
    text : sequence of str
        Columns of CSV that are texts whatever they look like; the types of others are inferred.

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow as pa
    import pyarrow.csv as pacsv

    with ExitStack() as stack, _in_words(path, kind):
        if kind == "csv":
            source, header = _csv_source(path, stack)[:2]
            names = _checked(header, columns, path, text)
            options = _csv_options([*names, *text], dict.fromkeys(text, pa.string()))
            with _in_words(path, kind, header):
                table = pacsv.read_csv(source, **options).select(names)
        else:
            found = _OPEN[kind](path, stack, columns, {})
            names = [n for n in found.schema.names if columns or not _ROW_INDEX.fullmatch(n)]
            names = list(columns or names)
            batches = [batch.select(names) for batch in found.rows]
            table = pa.Table.from_batches(batches, _selected(found.schema, names))
    if not table.num_rows:
        raise CommandError(f"{path} has no rows.")
    return table


def _pieces(found: Batches, columns: Sequence[str], kind: str) -> Iterator[Any]:
    """Yield batches of the wanted columns and of limited size."""
    rows, n_rows = iter(found.rows), 0
    while True:
        with _in_words(found.path, kind, found.header):
            batch = next(rows, None)
        if batch is None:
            break
        n_rows += batch.num_rows
        batch = batch.select(list(columns))
        for start in range(0, batch.num_rows, _ROWS):
            yield batch.slice(start, _ROWS)
    if not n_rows:
        raise CommandError(f"{found.path} has no rows.")


def _selected(schema: Any, columns: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.schema([schema.field(name) for name in columns])


def _checked(
    names: Sequence[str], columns: Sequence[str] | None, path: str, more: Sequence[str] = ()
) -> list[str]:
    """Return the wanted columns after checking that the table has each of them once."""
    wanted = list(names) if columns is None else list(columns)
    for name in [*wanted, *more]:
        if names.count(name) != 1:
            problem = "lacks the column" if name not in names else "has more than one column"
            has = brief(", ".join(map(repr, names)))
            raise CommandError(f"{path} {problem} {name!r}; its columns are {has}.")
    return wanted


# --- The formats ---------------------------------------------------------------------------------


def _open_csv(
    path: str, stack: ExitStack, columns: Sequence[str] | None, types: Mapping[str, Any]
) -> Batches:
    import pyarrow.csv as pacsv

    source, names, raw = _csv_source(path, stack)
    wanted = _checked(names, columns, path)
    with _in_words(path, "csv", names):
        reader = stack.enter_context(pacsv.open_csv(source, **_csv_options(wanted, types)))
    total = None if path == STANDARD else os.path.getsize(path)
    return Batches(path, reader.schema, reader, total, raw.tell_read, names)


def _csv_options(columns: Sequence[str], types: Mapping[str, Any]) -> dict[str, Any]:
    import pyarrow.csv as pacsv

    columns = list(dict.fromkeys(columns))
    own = {name: kind for name, kind in types.items() if name in columns}
    return {
        "read_options": pacsv.ReadOptions(block_size=_BLOCK),
        "parse_options": pacsv.ParseOptions(newlines_in_values=True),
        "convert_options": pacsv.ConvertOptions(include_columns=columns, column_types=own),
    }


def _csv_source(path: str, stack: ExitStack) -> tuple[Any, list[str], _Counted]:
    """Return the bytes of a CSV file, the names in its header, and what counts the bytes."""
    counted = _Counted(_bytes(path, stack))
    source = _Ahead(counted)
    if source.ahead(2) == b"\x1f\x8b":
        source = _Ahead(gzip.GzipFile(fileobj=io.BufferedReader(source, _BLOCK)))
    head = source.ahead(_HEAD)
    if not head:
        raise CommandError(f"{path} is empty.")
    text = head.decode("utf-8-sig", errors="surrogateescape")
    names = next(csv.reader(io.StringIO(text, newline="")), [])
    if not all(name.isprintable() for name in names):
        raise CommandError(f"{path} is no CSV file: its first line is no text in UTF-8.")
    if not any(names):
        raise CommandError(f"{path} is no CSV file: its first line has no names of columns.")
    if len(head) < _HEAD and "\n" not in text.strip():
        raise CommandError(f"{path} has no rows.")
    return io.BufferedReader(source, _BLOCK), names, counted


def _bytes(path: str, stack: ExitStack) -> Any:
    if path == STANDARD:
        return sys.stdin.buffer
    return stack.enter_context(open(path, "rb"))


class _Counted(io.RawIOBase):
    """A file that counts the bytes that were read."""

    def __init__(self, file: Any) -> None:
        self._file, self._read = file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found: int = self._file.readinto(buffer)
        self._read += found
        return found

    def tell_read(self) -> int:
        return self._read


class _Ahead(_Counted):
    """A file of which the first bytes can be seen before they are read."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self._first = b""

    def ahead(self, n: int) -> bytes:
        """Return the first bytes, fewer only where the file has fewer."""
        while len(self._first) < n and (more := self._file.read(n - len(self._first))):
            self._first += more
        return self._first[:n]

    def readinto(self, buffer: Any) -> int:
        if not self._first:
            return super().readinto(buffer)
        n = min(len(buffer), len(self._first))
        buffer[:n], self._first = self._first[:n], self._first[n:]
        return n


def _open_parquet(
    path: str, stack: ExitStack, columns: Sequence[str] | None, types: Mapping[str, Any]
) -> Batches:
    import pyarrow.parquet as pq

    if path == STANDARD:
        raise CommandError("Parquet cannot be read from standard input; give a file.")
    file = stack.enter_context(pq.ParquetFile(path, pre_buffer=False, buffer_size=_BLOCK))
    wanted = _checked(file.schema_arrow.names, columns, path)
    rows = file.iter_batches(batch_size=_ROWS, columns=wanted)
    return Batches(path, file.schema_arrow, rows, file.metadata.num_rows)


def _open_arrow(
    path: str, stack: ExitStack, columns: Sequence[str] | None, types: Mapping[str, Any]
) -> Batches:
    import pyarrow as pa

    if path == STANDARD:
        raise CommandError("an Arrow file cannot be read from standard input; 'arrows' can.")
    with open(path, "rb") as file:
        if file.read(6) != b"ARROW1":
            return _open_stream(path, stack, columns, types)
    source = stack.enter_context(pa.OSFile(path))
    names = pa.ipc.open_file(source).schema.names
    wanted = _checked(names, columns, path)
    options = pa.ipc.IpcReadOptions(included_fields=[names.index(name) for name in wanted])
    reader = stack.enter_context(pa.ipc.open_file(source, options=options))
    rows = (reader.get_batch(number) for number in range(reader.num_record_batches))
    return Batches(path, reader.schema, rows)


def _open_stream(
    path: str, stack: ExitStack, columns: Sequence[str] | None, types: Mapping[str, Any]
) -> Batches:
    import pyarrow as pa

    file = _bytes(path, stack)
    if path != STANDARD:
        _check_end(file, path)
    counted = _Counted(file)
    reader = stack.enter_context(pa.ipc.open_stream(io.BufferedReader(counted, _BLOCK)))
    _checked(reader.schema.names, columns, path)
    total = None if path == STANDARD else os.path.getsize(path)
    return Batches(path, reader.schema, reader, total, counted.tell_read)


def _check_end(file: Any, path: str) -> None:
    """Refuse a stream that was cut off between two batches, which Arrow would take for its end."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - len(_END_OF_STREAM)))
    if file.read() != _END_OF_STREAM:
        raise CommandError(f"{path} is no Arrow stream, or is cut off: it has no mark of its end.")
    file.seek(0)


_OPEN = {
    "csv": _open_csv,
    "parquet": _open_parquet,
    "arrow": _open_arrow,
    "arrows": _open_stream,
}
_NAMES = {
    "csv": "CSV file",
    "parquet": "Parquet file",
    "arrow": "Arrow file",
    "arrows": "Arrow stream",
}

_TYPES = {
    "double": "number",
    "int64": "whole number",
    "bool": "true or false",
    "date32": "date",
    "time64": "time",
    "timestamp": "date and time",
}


# --- What is wrong with a file -------------------------------------------------------------------


@contextmanager
def _in_words(path: str, kind: str, header: Sequence[str] = ()) -> Iterator[None]:
    """Say what is wrong with a file, without the values that Arrow's messages quote."""
    import pyarrow as pa

    try:
        yield
    except CommandError:
        raise
    except FileNotFoundError:
        raise CommandError(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise CommandError(f"{path} is a folder; give the name of a file.") from None
    except PermissionError:
        raise CommandError(f"{path} may not be read.") from None
    except (EOFError, gzip.BadGzipFile):
        raise CommandError(f"{path} is cut off or damaged: the compressed data is.") from None
    except (pa.ArrowException, OSError, UnicodeError, zlib.error, csv.Error) as error:
        raise CommandError(f"{path} {_problem(str(error), kind, header)}") from None


def _problem(message: str, kind: str, header: Sequence[str]) -> str:
    row = re.search(r"Row #(\d+)", message)
    where = f"row {row[1]}" if row else "a row"
    if wrong := re.search(r"Expected (\d+) columns, got (\d+)", message):
        return (
            f"is cut off or ragged: {where} has {wrong[2]} values where the header has {wrong[1]} "
            "names."
        )
    if "UTF8" in message.upper().replace("-", ""):
        return "has text that is not in UTF-8; convert it first."
    if wrong := re.search(r"In CSV column #(\d+): .*conversion error to (\w+)", message, re.DOTALL):
        place, found = int(wrong[1]), _TYPES.get(wrong[2], wrong[2])
        column = repr(header[place]) if place < len(header) else f"number {place + 1}"
        return (
            f"has a value in column {column} that is no {found} (values are not shown). Mend it; "
            "or read the column as text, with --text, if the mechanism does not read it."
        )
    return f"is no {_NAMES[kind]}, or is cut off or damaged."
