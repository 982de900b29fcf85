"""Tables in files, read batch by batch: CSV, Parquet, Arrow and JSON lines; one file or a folder.

Values of CSV and JSON are texts, always; an empty field and null are missing. Parquet and Arrow
have types. Arrow's own messages quote rows and values, which may be secrets: none is passed on.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import warnings
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from skrldp._pages import as_json
from skrldp.alphabet.columns import listed
from skrldp.alphabet.values import brief
from skrldp.batches.arrow import arrow_numbers, numbers_of, octets_in
from skrldp.cli._common import CommandError, heed_signals

if TYPE_CHECKING:
    from numpy.typing import NDArray


STANDARD = "-"  # standard input or output
_ENDINGS = {
    "CSV": (".csv", ".tsv"),
    "JSON": (".jsonl", ".ndjson"),
    "Parquet": (".parquet", ".pq"),
    "Arrow": (".arrow", ".feather", ".ipc"),
}
_OF_TEXT = ("CSV", "JSON")
_ROWS = 1 << 16  # of a batch, at most
_LINES = 1 << 14  # of a batch of JSON lines
_HEAD = 1 << 16  # bytes of a CSV file that are looked at at a time: its header must end in them
_DELIMITERS = ",;\t|"
_PRINTED = 32  # bytes below it are line ends and their like
_HIDDEN = (".", "_")  # how names begin that are no part of a table, such as _SUCCESS


def kind_of(path: str, *, packed: bool = True) -> str:
    """Tell a table's format by the file's name."""
    name = PurePath(path).name.lower()
    plain = name.removesuffix(".gz") if packed else name
    ending = ".csv" if path == STANDARD else PurePath(plain).suffix
    for kind, endings in _ENDINGS.items():
        if ending in endings and (plain == name or kind in _OF_TEXT):
            return kind
    known = ", ".join(ending for endings in _ENDINGS.values() for ending in endings)
    raise CommandError(f"{path}: the name does not tell the format; name the file {known}.")


class Table:
    """A table that is read batch by batch.

    Raises CommandError if it is not a table, lacks a column, or its files differ; while it is read,
    if it is cut off or damaged.

    Parameters
    ----------
    path : str
        A file, a folder of files of one format, or "-": CSV from standard input.
    columns : sequence of str, optional
        The columns to be read, in their order; all if None.

    Attributes
    ----------
    kind : {"CSV", "JSON", "Parquet", "Arrow"}
        The format.
    is_text : bool
        Whether all values are texts.
    schema : Schema
        Of the batches.
    """

    def __init__(self, path: str, columns: Sequence[str] | None = None) -> None:
        import pyarrow as pa

        files = _files_of(path)
        kinds = {kind_of(file) for file in files}
        if len(kinds) > 1:
            raise CommandError(f"{path}: the files have several formats; keep one in the folder.")
        self.path, self.kind = path, kinds.pop()
        self.is_text = self.kind in _OF_TEXT
        self._parts: list[_Part] = []
        for file in files:
            with _in_words(file, self.kind):
                part = _OPEN.get(self.kind, _typed)(file)
            if part is not None:
                self._parts.append(part)
        if not self._parts:
            raise CommandError(f"{path} has no rows.")
        first = self._parts[0]
        wanted = _own(first) if columns is None else list(dict.fromkeys(columns))
        for part in self._parts:
            _check(part, wanted, self.kind)
            if columns is None and set(_own(part)) != set(wanted):
                odd = brief(", ".join(map(repr, sorted(set(_own(part)) ^ set(wanted)))))
                raise CommandError(
                    f"{part.path} and {first.path} have different columns: {odd} in one of them. "
                    "Name those to be read, with --column."
                )
            for name in wanted:
                here, there = part.schema.field(name).type, first.schema.field(name).type
                if here != there:
                    raise CommandError(
                        f"{part.path}: column {name!r} has the type {brief(str(here))}, but "
                        f"{brief(str(there))} in {first.path}. Write all files of a table with "
                        "the same types."
                    )
        if columns is None and self.kind == "CSV" and "" in wanted:
            warnings.warn(
                f"{path}: a column without a name is read like the others. Lines that end in a "
                "comma make such a column, and so does the index that pandas writes. Remove it, or "
                "name the columns to be read, with --column.",
                UserWarning,
                stacklevel=2,
            )
        self.schema = pa.schema([first.schema.field(name) for name in wanted])

    def batches(self, *, of_one_line: Sequence[str] = ()) -> Iterator[Any]:
        """Yield record batches; fields of the columns `of_one_line` that have more are an error."""
        n_rows = 0
        for part in self._parts:
            with _in_words(part.path, self.kind):
                for batch in part.batches(self.schema.names):
                    if self.kind == "CSV":
                        _refuse_line_ends(batch, of_one_line, self.path, n_rows)
                    n_rows += batch.num_rows
                    if batch.num_rows:
                        yield batch
        if not n_rows:
            raise CommandError(f"{self.path} has no rows.")
        if self.kind == "CSV":
            self._warn_of_lines(n_rows)

    def _warn_of_lines(self, n_rows: int) -> None:
        """Warn of lines that are no rows: a quote too many swallows records."""
        within = sum(part.n_lines() for part in self._parts) - n_rows
        if within > 0:
            warnings.warn(
                f"{self.path}: {within:,} lines begin within a quoted field, so they are not "
                "records. If no field has line ends, remove the quote that is too many.",
                UserWarning,
                stacklevel=2,
            )


@dataclass(frozen=True)
class _Part:
    """A file: its schema, and functions to its batches, and to the number of its lines of text."""

    path: str
    schema: Any
    batches: Callable[[list[str]], Iterable[Any]]
    n_lines: Callable[[], int] = int


def _files_of(path: str) -> list[str]:
    """List the files of a table, in the order of their names, none of them twice."""
    if path == STANDARD or not os.path.isdir(path):
        return [path]
    names = sorted(os.listdir(path), reverse=True)
    paths = (os.path.join(path, name) for name in names if not name.startswith(_HIDDEN))
    files = sorted({os.path.realpath(file): file for file in paths}.values())
    if inner := [file for file in files if os.path.isdir(file)]:
        raise CommandError(
            f"{path} holds folders, such as {inner[0]}: give one of them. What folders' names say "
            "is not read."
        )
    if not files:
        raise CommandError(f"{path} is a folder without files of a table.")
    return files


def new_name(columns: Sequence[str]) -> str:
    """Return a name that no column has."""
    return max(columns, key=len) + "_"


def with_counts(columns: Sequence[str], counts: str | None, path: str) -> list[str]:
    """Add the column of --counts, if there is one, to those of the records or reports."""
    if counts in columns:
        raise CommandError(
            f"{path}: the column {counts!r} (--counts) is read as a value as well, and a number of "
            "rows is not one: leave out --counts if each row stands for itself."
        )
    return [*columns, *([] if counts is None else [counts])]


def _own(part: _Part) -> list[str]:
    """Return the columns of a file, except an index that pandas wrote."""
    return [name for name in part.schema.names if not name.startswith("__index_level_")]


def _check(part: _Part, columns: Sequence[str], kind: str) -> None:
    """Check that a file has each column once."""
    names = part.schema.names
    if kind == "CSV" and columns and set(names).isdisjoint(columns):
        raise CommandError(
            f"{part.path} lacks the column {columns[0]!r} and all others that are read: its first "
            "line must have the names of the columns (not shown: it may be a record)."
        )
    for name in columns:
        if names.count(name) != 1:
            problem = "lacks the column" if name not in names else "has more than one column"
            has = listed(names)
            raise CommandError(f"{part.path} {problem} {name!r}; its columns are {has}.")


def _refuse_line_ends(batch: Any, columns: Sequence[str], path: str, first: int) -> None:
    """Reject line ends in texts that are written unchanged.

    Two ids that begin with a quote would make one id of all rows between them, secrets and all.
    """
    for name in columns:
        own = octets_in(batch.column(name))
        octets = own.octets[own.ends[0] : own.ends[-1]]
        if octets.min(initial=_PRINTED) >= _PRINTED:
            continue
        is_end = (octets == ord("\n")) | (octets == ord("\r"))
        if is_end.any():
            row = first + np.searchsorted(own.ends, own.ends[0] + is_end.argmax(), "right") - 1
            raise CommandError(
                f"{path}: row {row:,} (counted from 0) has a line end in column {name!r}. If there "
                "is a quote too many, all rows up to the next one are one field: fix it. Texts of "
                "several lines are read from JSON lines, Parquet and Arrow."
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
        raise CommandError(f"{path} is not a CSV file: its first line has no names of columns.")
    # An empty line is how a missing value of a single column is written.
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
            deque(reader(columns, use_threads=False), maxlen=0)  # its error says in which row
            raise

    schema = pa.schema([(name, pa.string()) for name in names])
    if (
        reader([], use_threads=False).schema.names != names
    ):  # Arrow would read other columns as missing
        raise CommandError(f"{path} is not a CSV file: its first line has no names of columns.")
    return _Part(path, schema, batches, lambda: count(opened()) - n_before)


def _n_lines(file: Any, *, with_empty: bool) -> int:
    """Count the lines, or those that are not empty."""
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
    if kind_of(path) == "Parquet":  # Arrow's data sets would import pandas, and read ahead
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


def _json_lines(path: str) -> _Part | None:
    """Open a file of JSON lines; the first of them have the names of all columns."""
    import pyarrow as pa

    first = next(_json_rows(path), None)
    if first is None:
        return None
    names = list(dict.fromkeys(name for row in first for name in row))

    def batches(columns: list[str]) -> Iterator[Any]:
        start = 0
        for rows in _json_rows(path):
            for number, row in enumerate(rows, start):
                if not row.keys() <= set(names) and set(columns) == set(names):
                    raise CommandError(
                        f"{path}: row {number:,} (counted from 0) has a column that the first rows "
                        "lack. Name those to be read, with --column."
                    )
            read = [[text_of(row.get(name)) for row in rows] for name in columns]
            arrays = [pa.array(texts, pa.string()) for texts in read]
            yield pa.RecordBatch.from_arrays(arrays, names=columns)
            start += len(rows)

    return _Part(path, pa.schema([(name, pa.string()) for name in names]), batches)


def _json_rows(path: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the objects of some lines; their numbers are the texts that are written."""
    first = 0
    with gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb") as file:
        lines = (line for line in file if not line.isspace())
        while block := list(islice(lines, _LINES)):
            found = []
            for number, line in enumerate(block, first):
                try:
                    row = _DECODER.decode(line.decode("utf-8-sig"))
                    sound = all(not isinstance(value, dict | list) for value in row.values())
                except (ValueError, RecursionError, AttributeError):
                    sound = False
                if not sound:
                    raise CommandError(
                        f"{path}: row {number:,} (counted from 0) is not a JSON object of texts "
                        "and numbers, has a name twice, or is cut off."
                    )
                found.append(row)
            yield found
            first += len(found)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object with the same name twice, of which JSON's readers take the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=str, parse_float=str, parse_constant=str
)


def text_of(value: Any) -> str | None:
    """Return a value of JSON, whose numbers were left as texts, as a text; None if missing."""
    return str(value).lower() if isinstance(value, bool) else value


_OPEN: dict[str, Callable[[str], _Part | None]] = {"CSV": _csv, "JSON": _json_lines}


# --- Values --------------------------------------------------------------------------------------


def mark_missing(batch: Any, columns: Sequence[str], missing: Sequence[str]) -> Any:
    """Take texts of columns as missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = list(batch.columns)
    for name in columns:
        place = batch.schema.get_field_index(name)
        for text in missing:
            gone = pc.equal(found[place], text)
            found[place] = pc.if_else(gone, pa.scalar(None, pa.string()), found[place])
    return pa.RecordBatch.from_arrays(found, schema=batch.schema)


def coded(column: Any) -> tuple[NDArray[Any], list[Any]]:
    """Return the codes (n,) of a column's values, -1 where one is missing; and the values."""
    import pyarrow as pa

    if not isinstance(column, pa.DictionaryArray):
        column = column.dictionary_encode()
    indices = column.indices.cast(pa.int64())  # they may be unsigned, as those of Polars
    missing = arrow_numbers(np.full(len(indices), -1))  # a scalar would import pandas
    return numbers_of(pa.compute.coalesce(indices, missing)), column.dictionary.to_pylist()


def weighted(
    batches: Iterable[Any], counts: str | None, path: str
) -> Iterator[tuple[Any, NDArray[np.int64], int]]:
    """Yield batches, how many records each row stands for, and the number of the first row."""
    first = 0
    for batch in batches:
        ones = np.ones(len(batch), np.int64)
        yield batch, ones if counts is None else whole_numbers(batch, counts, path, first), first
        first += len(batch)


def whole_numbers(batch: Any, name: str, path: str, first: int) -> NDArray[np.int64]:
    """Read a column of integers from 0.

    Shapes: returns (n,). Raises CommandError if there is another value, or none.
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
    """Say what is wrong with a file, without the values that Arrow's messages quote."""
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
            f"is cut off or ragged: {where} has {wrong[2]} values where the header has {wrong[1]} "
            "names."
        )
    if "multiple columns named" in message:
        return "has more than one column of the same name in its first line."
    if "UTF8" in message.upper().replace("-", ""):
        return "has text that is not in UTF-8; convert it first."
    if kind == "Parquet" and "not in range" in message:
        return (
            "has a column whose dictionary has more values than its narrow codes can number. Write "
            "the column without a dictionary."
        )
    return f"is no {kind} file, or is cut off or damaged."


# --- Files that are written whole or not at all ---------------------------------------------------


if sys.platform != "win32":
    import fcntl


_EXISTS = "{} exists; give another name, or remove it first."
_MOST = 80  # characters of a file's name in that of its temporary file


@contextmanager
def new_file(
    target: str,
    *,
    inputs: Sequence[str | None] = (),
    replace: bool = False,
    mode: int | None = None,
) -> Iterator[IO[bytes]]:
    """Open a file that gets its name when it is complete.

    Until then it is a temporary file in the same folder, which goes away after an error. If the
    process is killed it stays, until the same output is written again. What goes to standard output
    is kept until it is complete, too. Who may read it: as of the file that it replaces; `mode` is
    for a file that was not there.

    Raises CommandError if there is such a file, or no such folder.
    """
    if target == STANDARD:
        with tempfile.TemporaryFile() as spool:
            yield spool
            heed_signals()
            spool.seek(0)
            sys.stdout.flush()
            try:
                shutil.copyfileobj(spool, sys.stdout.buffer)
                sys.stdout.buffer.flush()
            except BaseException as error:
                error.add_note("Standard output may have a part of it.")
                raise
        return
    path = checked_target(target, replace=replace, inputs=inputs)
    _remove_left(path)
    while True:
        # Its name is known before the file is there: so whenever a signal comes, it goes away.
        name = path.with_name(f"{_prefix(path)}{secrets.token_hex(8)}.part")
        try:
            with _created(name, target) as file:
                with suppress(OSError):  # without locks, no file is taken for left behind
                    _lock(file)
                if not os.fstat(file.fileno()).st_nlink:
                    continue  # another process took it for left behind before it was locked
                yield file
                heed_signals()  # the last moment: what is there now stays
                file.flush()
                os.fsync(file.fileno())
                os.chmod(name, _mode_of(path, mode))
                if sys.platform == "win32":  # where no open file is removed or renamed
                    file.close()
                _give_name(name, path, target, replace=replace)  # before the lock goes
                return
        except BaseException as error:
            if isinstance(error, OSError) and error.filename is None:
                error.filename = target  # such as of a full disk
            with suppress(OSError):
                os.unlink(name)
            raise


def _give_name(name: Path, path: Path, target: str, *, replace: bool) -> None:
    """Rename a complete file; unless `replace`, in a step that fails if another has that name."""
    try:
        if replace:
            os.replace(name, path)
        elif sys.platform == "win32":
            os.rename(name, path)
        else:
            try:
                os.link(name, path)
            except FileExistsError:
                raise
            except OSError:  # file systems without links: an empty file holds the name until then
                os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
                try:
                    os.replace(name, path)
                except BaseException:
                    os.unlink(path)
                    raise
            else:
                os.unlink(name)
    except FileExistsError:
        raise CommandError(_EXISTS.format(target)) from None


def table_writer(file: IO[bytes], target: str, schema: Any) -> Any:
    """Return what writes batches in the format of the target's name, by ``write_batch``."""
    import pyarrow as pa

    kind = kind_of(target, packed=False)
    for field in schema if kind in _OF_TEXT else ():
        if "binary" in str(field.type) or isinstance(field.type, pa.BaseExtensionType):
            raise CommandError(
                f"column {field.name!r} has the type {field.type}, for which CSV and JSON have no "
                "words; write Parquet or Arrow."
            )
    if kind == "CSV":
        import pyarrow.csv as pacsv

        return pacsv.CSVWriter(file, schema)
    if kind == "Parquet":
        import pyarrow.parquet as pq

        return pq.ParquetWriter(file, schema)
    return pa.ipc.new_file(file, schema) if kind == "Arrow" else nullcontext(_JsonLines(file))


class _JsonLines:
    """Writes rows as JSON objects, each in a line."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write_batch(self, batch: Any) -> None:
        for row in batch.to_pylist():
            self._file.write(as_json(row, indent=None).encode() + b"\n")


def _created(name: Path, target: str) -> IO[bytes]:
    try:
        return open(name, "xb", opener=partial(os.open, mode=0o600))
    except OSError as error:
        raise CommandError(
            f"{target}: the folder {name.parent} cannot be written to ({error.strerror})."
        ) from None


def _remove_left(path: Path) -> None:
    """Remove the temporary files of processes that were killed: those that nobody has locked."""
    ours = re.compile(re.escape(_prefix(path)) + r"[0-9a-f]{16}\.part")
    with suppress(OSError):  # a folder that cannot be read
        for name in filter(ours.fullmatch, os.listdir(path.parent)):
            with suppress(OSError), open(path.parent / name, "r+b") as left:
                _lock(left, wait=False)
                os.unlink(left.name)


def _lock(file: IO[bytes], *, wait: bool = True) -> None:
    if sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def _prefix(path: Path) -> str:
    return f".{path.name[:_MOST]}."


def checked_target(target: str, *, replace: bool, inputs: Sequence[str | None] = ()) -> Path:
    """Return where to write, through links."""
    if os.path.islink(target) and not os.path.exists(target):
        raise CommandError(
            f"{target} is a symbolic link to a file that is not there; remove the link, or give "
            "another name."
        )
    path = Path(target).resolve()
    if not path.parent.is_dir():
        raise CommandError(f"{target}: there is no folder {path.parent}; make it first.")
    for name in inputs:
        if name not in (None, STANDARD) and Path(str(name)).resolve() in (path, path.parent):
            raise CommandError(f"{target} is to be read and written; give the output another name.")
    if path.is_dir():
        raise CommandError(f"{target} is a folder; give the name of a file.")
    if path.exists() and not path.is_file():
        raise CommandError(f"{target} is not a regular file; '-' is standard output.")
    if path.exists() and not replace:
        raise CommandError(_EXISTS.format(target))
    return path


def _mode_of(path: Path, new: int | None) -> int:
    """Return the permissions of a file, or what a new one gets: by default the usual ones."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    if new is not None:
        return new
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
