"""Reading of tables in batches: CSV, Parquet and Arrow, in one file or a folder.

Values of CSV are always strings, and an empty field is missing. Parquet and Arrow have types.
Arrow's messages are not shown, because they quote rows and values, which may be secret.
"""

from __future__ import annotations

import csv
import io
import os
import re
import sys
import warnings
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.alphabet.categories import listed
from skrldp.alphabet.values import brief
from skrldp.batches.arrow import arrow_numbers, numbers_of, octets_in
from skrldp.cli._common import CommandError

if TYPE_CHECKING:
    from numpy.typing import NDArray


STANDARD = "-"  # standard input or output
_ENDINGS = {
    "CSV": (".csv", ".tsv"),
    "Parquet": (".parquet", ".pq"),
    "Arrow": (".arrow", ".feather", ".ipc"),
}
_ROWS = 1 << 16  # maximum size of a batch
_HEAD = 1 << 16  # bytes of a CSV file read at a time, which must contain the header
_DELIMITERS = ",;\t|"
_PRINTED = 32  # smaller bytes are line ends and similar characters
_HIDDEN = (".", "_")  # prefixes of names that do not belong to a table, such as _SUCCESS


def kind_of(path: str, *, packed: bool = True) -> str:
    """Return a table's format, by the file's name."""
    name = PurePath(path).name.lower()
    plain = name.removesuffix(".gz") if packed else name
    ending = ".csv" if path == STANDARD else PurePath(plain).suffix
    for kind, endings in _ENDINGS.items():
        if ending in endings and (plain == name or kind == "CSV"):
            return kind
    known = ", ".join(ending for endings in _ENDINGS.values() for ending in endings)
    raise CommandError(
        f"{path}: cannot infer the format from the file name; name the file {known}."
    )


class Table:
    """A table that is read in batches.

    Raises CommandError if it is not a table, lacks a column, or its files differ; and while it is
    read, if it is truncated or damaged.

    Parameters
    ----------
    path : str
        A file, a folder of files of one format, or "-" for CSV from standard input.
    columns : sequence of str, optional
        The columns to read, in order; all if None.

    Attributes
    ----------
    kind : {"CSV", "Parquet", "Arrow"}
        The format.
    is_text : bool
        Whether all values are strings, as in CSV.
    schema : Schema
        Schema of the batches.
    """

    def __init__(self, path: str, columns: Sequence[str] | None = None) -> None:
        import pyarrow as pa

        files = _files_of(path)
        kinds = {kind_of(file) for file in files}
        if len(kinds) > 1:
            raise CommandError(
                f"{path}: the files have different formats; keep a single format in the folder."
            )
        self.path, self.kind = path, kinds.pop()
        self.is_text = self.kind == "CSV"
        self._parts: list[_Part] = []
        for file in files:
            with _in_words(file, self.kind):
                table_file = (_csv if self.is_text else _typed)(file)
            if table_file is not None:
                self._parts.append(table_file)
        if not self._parts:
            raise CommandError(f"{path} has no rows.")
        first = self._parts[0]
        wanted = _own(first) if columns is None else list(dict.fromkeys(columns))
        for table_file in self._parts:
            _check(table_file, wanted, self.kind)
            read = _own(table_file) if columns is None else wanted
            for name in sorted({*read, *wanted}):
                types = [_type_of(part, name) for part in (table_file, first)]
                if types[0] != types[1]:
                    raise CommandError(
                        f"column {brief(repr(name))} differs: {types[0]} in {table_file.path}, and "
                        f"{types[1]} in {first.path}. Write all files of a table with the same "
                        "columns and types, or name those to be read, with --column."
                    )
        if columns is None and self.is_text and "" in wanted:
            warnings.warn(
                f"{path}: a column without a name is read like the others. Lines that end in a "
                "comma create such a column, and so does the index that pandas writes. Drop it, or "
                "name the columns to be read, with --column.",
                UserWarning,
                stacklevel=2,
            )
        self.schema = pa.schema([first.schema.field(name) for name in wanted])

    def batches(self, *, of_one_line: Sequence[str] = ()) -> Iterator[Any]:
        """Yield record batches; reject line breaks in the columns `of_one_line`."""
        n_rows = 0
        for table_file in self._parts:
            with _in_words(table_file.path, self.kind):
                for batch in table_file.batches(self.schema.names):
                    if self.is_text:
                        _refuse_line_ends(batch, of_one_line, self.path, n_rows)
                    n_rows += batch.num_rows
                    if batch.num_rows:
                        yield batch
        if not n_rows:
            raise CommandError(f"{self.path} has no rows.")
        if self.is_text:
            self._warn_of_lines(n_rows)

    def _warn_of_lines(self, n_rows: int) -> None:
        """Warn about lines that are not rows, because a superfluous quote merges records."""
        within = sum(table_file.n_lines() for table_file in self._parts) - n_rows
        if within > 0:
            warnings.warn(
                f"{self.path}: {within:,} lines begin within a quoted field, so they are not "
                "records. If no field contains line breaks, remove the stray quote.",
                UserWarning,
                stacklevel=2,
            )


@dataclass(frozen=True)
class _Part:
    """A file's schema, and functions that return its batches and its number of lines."""

    path: str
    schema: Any
    batches: Callable[[list[str]], Iterable[Any]]
    n_lines: Callable[[], int] = int


def _files_of(path: str) -> list[str]:
    """List the files of a table in the order of their names, without duplicates."""
    if path == STANDARD or not os.path.isdir(path):
        return [path]
    names = sorted(os.listdir(path), reverse=True)
    paths = (os.path.join(path, name) for name in names if not name.startswith(_HIDDEN))
    files = sorted({os.path.realpath(file): file for file in paths}.values())
    if inner := [file for file in files if os.path.isdir(file)]:
        raise CommandError(
            f"{path} contains folders, such as {inner[0]}: pass one of them. Values in folders' "
            "names are not read."
        )
    if not files:
        raise CommandError(f"{path} contains no table files: pass a file, or another folder.")
    return files


def new_name(columns: Sequence[str]) -> str:
    """Return a name that differs from all columns."""
    return max(columns, key=len) + "_"


def with_counts(columns: Sequence[str], counts: str | None, path: str) -> list[str]:
    """Add the column of --counts, if there is one, to those of the records or reports."""
    if counts in columns:
        raise CommandError(
            f"{path}: the column {counts!r} (--counts) is also a column of the record, but a "
            "number of rows is not one of its values: omit --counts if each row is one record."
        )
    return [*columns, *([] if counts is None else [counts])]


def _own(table_file: _Part) -> list[str]:
    """Return the columns of a file, except an index written by pandas."""
    return [name for name in table_file.schema.names if not name.startswith("__index_level_")]


def _type_of(table_file: _Part, name: str) -> str:
    names = table_file.schema.names
    return brief(str(table_file.schema.field(name).type)) if name in names else "no such column"


def _check(table_file: _Part, columns: Sequence[str], kind: str) -> None:
    """Check that a file has no duplicate columns."""
    names = table_file.schema.names
    if kind == "CSV" and columns and set(names).isdisjoint(columns):
        raise CommandError(
            f"{table_file.path} lacks the column {columns[0]!r} and all others that are read: its "
            "first line must contain the column names (not shown, because it may be a record)."
        )
    for name in columns:
        if names.count(name) != 1:
            problem = "lacks the column" if name not in names else "has more than one column"
            has = listed(names)
            raise CommandError(f"{table_file.path} {problem} {name!r}; its columns are {has}.")


def _refuse_line_ends(batch: Any, columns: Sequence[str], path: str, first: int) -> None:
    """Reject line ends in strings that are written unchanged.

    Two ids that begin with a quote would merge all rows between them, including secrets, into one
    id.
    """
    for name in columns:
        strings = octets_in(batch.column(name))
        octets = strings.octets[strings.ends[0] : strings.ends[-1]]
        if octets.min(initial=_PRINTED) >= _PRINTED:
            continue
        is_end = (octets == ord("\n")) | (octets == ord("\r"))
        if is_end.any():
            row = (
                first
                + np.searchsorted(strings.ends, strings.ends[0] + is_end.argmax(), "right")
                - 1
            )
            raise CommandError(
                f"{path}: row {row:,} (counted from 0) has a line break in column {name!r}. After "
                "a stray quote, all rows up to the next quote are one field. For strings of "
                "several lines, use Parquet or Arrow."
            )


# --- Formats -------------------------------------------------------------------------------------


def _csv(path: str) -> _Part | None:
    """Open a CSV file: its header determines the separator."""
    import pyarrow as pa
    import pyarrow.csv as pacsv

    text_in = sys.stdin.buffer.read() if path == STANDARD else b""

    def opened() -> Any:
        return pa.BufferReader(text_in) if path == STANDARD else pa.input_stream(path)

    with opened() as file:
        head = file.read(_HEAD)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise CommandError(f"{path} is in UTF-16; convert it to UTF-8.")
    lines = head.decode("utf-8-sig", errors="surrogateescape")
    text = lines.lstrip("\r\n")
    if not text:
        return None
    names: list[str] = []
    for delimiter in _DELIMITERS:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        if len(names) > 1 or not set(_DELIMITERS) & set(names[0]):
            break
    if not any(names) or not all(name.replace("\t", "").isprintable() for name in names):
        raise CommandError(
            f"{path} is not a CSV file: its first line does not contain column names."
        )
    # An empty line represents a missing value of a single column.
    count = partial(_n_lines, with_empty=len(names) == 1)
    n_before = count(io.BytesIO(lines[: len(lines) - len(text)].encode())) + 1  # the header
    if len(head) < _HEAD and count(io.BytesIO(head)) <= n_before:
        return None

    def reader(columns: list[str], *, use_threads: bool) -> Any:
        read = pacsv.ReadOptions(skip_rows=n_before - 1, use_threads=use_threads)
        parsed = pacsv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
        )
        converted = pacsv.ConvertOptions(
            column_types=schema, null_values=[""], strings_can_be_null=True, include_columns=columns
        )
        return pacsv.open_csv(
            opened(), read_options=read, parse_options=parsed, convert_options=converted
        )

    def batches(columns: list[str]) -> Iterator[Any]:
        try:
            yield from reader(columns, use_threads=True)
        except pa.ArrowInvalid:
            deque(reader(columns, use_threads=False), maxlen=0)  # its error states the row
            raise

    schema = pa.schema([(name, pa.string()) for name in names])
    if (
        reader([], use_threads=False).schema.names != names
    ):  # Arrow would read unexpected columns as missing
        raise CommandError(
            f"{path} is not a CSV file: its first line does not contain column names."
        )
    return _Part(path, schema, batches, lambda: count(opened()) - n_before)


def _n_lines(file: Any, *, with_empty: bool) -> int:
    """Count the lines, or the non-empty ones."""
    n_lines, last = 0, b"\n"
    while block := file.read(_HEAD):
        octets = np.frombuffer(last + block, np.uint8)
        is_return, is_feed = octets == ord("\r"), octets == ord("\n")
        is_end = is_return | is_feed
        is_first = is_end[:-1] & ~is_end[1:]
        if with_empty:
            is_first |= is_end[:-1] & is_end[1:] & ~(is_return[:-1] & is_feed[1:])
        n_lines += int(np.count_nonzero(is_first))
        last = block[-1:]
    return n_lines


def _typed(path: str) -> _Part:
    """Open a Parquet or an Arrow file."""
    if kind_of(path) == "Parquet":  # Arrow's datasets would import pandas, and read ahead
        import pyarrow.parquet as pq

        file = pq.ParquetFile(path, pre_buffer=False)

        def batches(columns: list[str]) -> Iterator[Any]:
            read = file.iter_batches(_ROWS, columns=columns, use_threads=False)
            return (batch.select(columns) for batch in read)

        return _Part(path, file.schema_arrow, batches)
    import pyarrow.dataset as ds
    from pyarrow.fs import LocalFileSystem

    fragment = ds.IpcFileFormat().make_fragment(path, LocalFileSystem())
    schema = fragment.physical_schema
    scanner = partial(fragment.scanner, schema=schema, batch_size=_ROWS)
    return _Part(path, schema, lambda columns: scanner(columns=columns).to_batches())


# --- Values --------------------------------------------------------------------------------------


def mark_missing(column: Any, missing: Sequence[str]) -> Any:
    """Convert given strings of a column to missing values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not missing:
        return column
    is_missing = pc.is_in(column, pa.array(missing, pa.string()))
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), column)


def coded(column: Any) -> tuple[NDArray[Any], list[Any]]:
    """Return the codes (n,) of a column's values, -1 if missing, and the distinct values."""
    import pyarrow as pa

    if not isinstance(column, pa.DictionaryArray):
        column = column.dictionary_encode()
    indices = column.indices.cast(pa.int64())  # they may be unsigned, as in Polars
    missing = arrow_numbers(np.full(len(indices), -1))  # an Arrow scalar would import pandas
    return numbers_of(pa.compute.coalesce(indices, missing)), column.dictionary.to_pylist()


def weighted(
    batches: Iterable[Any], counts: str | None, path: str
) -> Iterator[tuple[Any, NDArray[np.int64], int]]:
    """Yield batches, the number of records of each row, and the number of the first row."""
    first = 0
    for batch in batches:
        ones = np.ones(len(batch), np.int64)
        yield batch, ones if counts is None else whole_numbers(batch, counts, path, first), first
        first += len(batch)


def whole_numbers(batch: Any, name: str, path: str, first: int) -> NDArray[np.int64]:
    """Read a column of integers from 0.

    Shapes: returns (n,). Raises CommandError if there is another value, or a missing one.
    """
    codes, values = coded(batch.column(name))
    numbers = np.array([*map(_whole, values), -1], np.int64)[codes]
    if (numbers < 0).any():
        row = first + int(np.argmax(numbers < 0))
        raise CommandError(
            f"{path}: row {row:,} (counted from 0) has no integer from 0 to 10^15 in column "
            f"{name!r}."
        )
    return numbers


def _whole(value: Any) -> int:
    text = str(value)
    is_one = not isinstance(value, bool) and re.fullmatch("[0-9]{1,15}", text)
    return int(text) if is_one else -1


# --- What is wrong -------------------------------------------------------------------------------


@contextmanager
def _in_words(path: str, kind: str) -> Iterator[None]:
    """Describe the problem of a file, without the values that Arrow's messages quote."""
    import pyarrow as pa

    try:
        yield
    except CommandError:
        raise
    except FileNotFoundError:
        raise CommandError(f"{path}: there is no such file or folder.") from None
    except PermissionError:
        raise CommandError(f"{path} may not be read.") from None
    except (pa.ArrowException, OSError, EOFError, ValueError, zlib.error, csv.Error) as error:
        raise CommandError(f"{path} {_problem(str(error), kind)}") from None


def _problem(message: str, kind: str) -> str:
    row = re.search(r"Row #(\d+)", message)
    where = f"row {row[1]}" if row else "a row"
    if wrong := re.search(r"Expected (\d+) columns, got (\d+)", message):
        return (
            f"is truncated or ragged: {where} has {wrong[2]} values where the header has "
            f"{wrong[1]} names."
        )
    if "multiple columns named" in message:
        return "has more than one column of the same name in its first line."
    if "UTF8" in message.upper().replace("-", ""):
        return "has text that is not in UTF-8; convert it first."
    if kind == "Parquet" and "not in range" in message:
        return (
            "has a column whose dictionary has more values than its codes can represent. Write the "
            "column without a dictionary."
        )
    return f"is not a valid {kind} file, or is truncated or damaged."
