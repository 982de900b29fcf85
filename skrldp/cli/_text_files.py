"""CSV files, and the bytes of any text file, compressed or not."""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from skrldp.cli._errors import CommandError
from skrldp.cli._opened import BLOCK, Batches, NoRows, Wanted, checked
from skrldp.cli._outputs import STANDARD
from skrldp.cli._problems import in_words

__all__ = ["Ahead", "Counted", "bytes_of", "csv_options", "open_csv", "unpacked"]

_DELIMITERS = {";": "semicolon", "\t": "tab", "|": "bar", ",": "comma"}
_HEAD = 1 << 16  # bytes in which a CSV file's header must end


def open_csv(path: str, delimiter: str, stack: ExitStack, wanted: Wanted) -> Batches:
    """Open a CSV file."""
    import pyarrow.csv as pacsv

    lines, names, raw = _csv_source(path, delimiter, stack)
    source = io.BufferedReader(lines, BLOCK)
    if wanted.columns and set(names).isdisjoint(wanted.columns):
        raise CommandError(
            f"{path} lacks the column {wanted.columns[0]!r} and all others that are read: its "
            "first line must have the names of the columns (not shown: it may be a record)."
        )
    columns = checked(names, wanted.columns, path)
    checked(names, wanted.texts, path)
    with in_words(path, "csv", names):
        reader = stack.enter_context(
            pacsv.open_csv(source, **csv_options(columns, wanted, delimiter))
        )
    total = None if path == STANDARD else os.path.getsize(path)
    rows = _of_one_line(reader, [name for name in columns if name in wanted.texts], path, lines)
    return Batches(path, reader.schema, rows, total, raw.tell_read, names)


def _of_one_line(batches: Any, texts: Sequence[str], path: str, lines: _Lines) -> Iterator[Any]:
    """Yield batches whose texts, which may leave as they are, have no line ends.

    Two ids that begin with a quote would make one id of all rows between them, secrets and all. In
    other columns there may be line ends, so that lines which are no rows are warned of.
    """
    import pyarrow.compute as pc  # takes a while

    first = 0
    for batch in batches:
        for name in texts:
            within = pc.match_substring_regex(batch.column(name), "[\r\n]")
            if pc.any(within).as_py():
                row = first + within.index(True).as_py()
                raise CommandError(
                    f"{path}: row {row:,} (counted from 0) has a line end in column {name!r}. Is "
                    "there a quote too many? All rows up to the next quote are one field then. "
                    "Mend it; fields that have line ends are read from JSON lines, Parquet and "
                    "Arrow."
                )
        first += batch.num_rows
        yield batch
    within = lines.n_lines - 1 - first
    if within > 0:
        warnings.warn(
            f"{path}: {within:,} of {lines.n_lines:,} lines begin within a quoted field, so they "
            "are no rows of their own, and no records. If no field has line ends, there is a quote "
            "too many: mend it, and run the command again.",
            UserWarning,
            stacklevel=2,
        )


def csv_options(columns: Sequence[str], wanted: Wanted, delimiter: str = ",") -> dict[str, Any]:
    """Return the options of Arrow's readers of CSV."""
    import pyarrow as pa
    import pyarrow.csv as pacsv

    columns = list(dict.fromkeys(columns))
    types = dict.fromkeys(columns if wanted.raw else wanted.texts, pa.string())
    own = {name: kind for name, kind in {**types, **wanted.types}.items() if name in columns}
    return {
        "read_options": pacsv.ReadOptions(block_size=BLOCK, use_threads=False),
        "parse_options": pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "convert_options": pacsv.ConvertOptions(include_columns=columns, column_types=own),
    }


def _csv_source(path: str, delimiter: str, stack: ExitStack) -> tuple[_Lines, list[str], Counted]:
    """Return the bytes of a CSV file, the names in its header, and what counts the bytes."""
    source, counted = unpacked(path, stack)
    head = source.ahead(_HEAD)
    if not head:
        raise NoRows(f"{path} is empty.")
    text = head.decode("utf-8-sig", errors="surrogateescape")
    names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    if not all(name.replace("\t", "").isprintable() for name in names):
        raise CommandError(f"{path} is no CSV file: its first line is no text in UTF-8.")
    if not any(names):
        raise CommandError(f"{path} is no CSV file: its first line has no names of columns.")
    if len(names) == 1 and (other := next((c for c in _DELIMITERS if c in names[0]), None)):
        raise CommandError(
            f"{path}: the first line has no {_in_words(delimiter)} but {_in_words(other)}; say "
            "with --delimiter what is between the fields."
        )
    if len(head) < _HEAD and len(text.strip().splitlines()) < 2:
        raise NoRows(f"{path} has no rows.")
    return _Lines(source), names, counted


def _in_words(delimiter: str) -> str:
    return _DELIMITERS.get(delimiter, repr(delimiter))


def unpacked(path: str, stack: ExitStack) -> tuple[Ahead, Counted]:
    """Open a text file, compressed with gzip or not.

    Returns `source`: the text's bytes; `counted`: counts the file's bytes.
    """
    counted = Counted(bytes_of(path, stack))
    source = Ahead(counted)
    if source.ahead(2) == b"\x1f\x8b":
        source = Ahead(gzip.GzipFile(fileobj=io.BufferedReader(source, BLOCK)))
    return source, counted


def bytes_of(path: str, stack: ExitStack) -> Any:
    """Open a file."""
    return sys.stdin.buffer if path == STANDARD else stack.enter_context(open(path, "rb"))


class Counted(io.RawIOBase):
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
        """Return the number of bytes."""
        return self._read


class _Lines(Counted):
    """A file of which the lines are counted that are read; those without a character are not."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.n_lines, self._ended = 0, True

    def readinto(self, buffer: Any) -> int:
        n = super().readinto(buffer)
        octets = np.frombuffer(memoryview(buffer)[:n], dtype=np.uint8)
        ends = np.concatenate([[self._ended], (octets == 10) | (octets == 13)])
        self.n_lines += int(np.count_nonzero(ends[:-1] & ~ends[1:]))
        self._ended = bool(ends[-1])
        return n


class Ahead(Counted):
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
