"""JSON lines: a JSON object in each line, whose values have types of their own."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import date, datetime, time
from itertools import islice
from typing import Any

from skrldp.cli._errors import CommandError
from skrldp.cli._opened import BLOCK, Batches, NoRows, Wanted, checked
from skrldp.cli._outputs import STANDARD
from skrldp.cli._text_files import unpacked

__all__ = ["open_json_lines", "typed_column"]

_LINES = 1 << 14  # of a batch
_MARK = b"\xef\xbb\xbf"  # with which some programs begin a text in UTF-8


def open_json_lines(path: str, stack: ExitStack, wanted: Wanted) -> Batches:
    """Open a file of JSON lines."""
    import pyarrow as pa

    source, counted = unpacked(path, stack)
    blocks = _blocks(io.BufferedReader(source, BLOCK), path)
    first = next(blocks, None)
    if first is None:
        raise NoRows(f"{path} has no rows.")
    header = list(dict.fromkeys(name for row in first for name in row))
    columns = checked(header, wanted.columns, path)
    own = frozenset(columns) if wanted.columns is None else None
    types = {name: kind for name, kind in wanted.types.items() if name in columns}
    types |= dict.fromkeys(wanted.texts, pa.string())
    made = {name: _maker(name, wanted) for name in columns}
    start = _batch(first, 0, path, made, types, own)
    types = dict(zip(start.schema.names, start.schema.types, strict=True))

    def batches() -> Iterator[Any]:
        yield start
        row = len(first)
        for block in blocks:
            yield _batch(block, row, path, made, types, own)
            row += len(block)

    total = None if path == STANDARD else os.path.getsize(path)
    return Batches(path, start.schema, batches(), total, counted.tell_read, header)


def typed_column(name: str, path: str, tokens: Sequence[str], *, text: bool) -> Any:
    """Read a column of JSON values.

    Raises CommandError if the values are of several types, or of one that is no category.
    """
    import pyarrow as pa

    values = [json.loads(token) for token in tokens]
    try:
        if text:
            return pa.array([_as_text(value) for value in values], pa.string())
        return pa.array([_as_scalar(value) for value in values])
    except (ValueError, TypeError):  # whose messages quote values
        raise CommandError(
            f"{path} has values of several types in column {name!r}, or such as are no categories: "
            "texts, numbers, true and false, or null (values are not shown). Mend it, or give "
            "--text."
        ) from None


def _blocks(file: io.BufferedReader, path: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the objects of some lines."""
    row, lines = 0, (line for line in file if not line.isspace())
    while block := list(islice(lines, _LINES)):
        found = []
        for line in block:
            try:
                value = json.loads(
                    line.removeprefix(_MARK), parse_constant=_refused, object_pairs_hook=_object
                )
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict):
                raise CommandError(
                    f"{path}: row {row:,} (counted from 0) is no JSON object, has a name "
                    "twice, or is cut off."
                )
            found.append(value)
            row += 1
        yield found


def _refused(constant: str) -> Any:
    raise ValueError


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object with the same name twice, of which JSON's readers take the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _batch(
    rows: Sequence[dict[str, Any]],
    first: int,
    path: str,
    made: dict[str, Callable[[Any], Any]],
    types: dict[str, Any],
    own: frozenset[str] | None,
) -> Any:
    """Return a batch of the wanted columns; if all are, rows may not have others."""
    import pyarrow as pa

    if own is not None:
        for place, row in enumerate(rows):
            if row.keys() - own:
                raise CommandError(
                    f"{path}: row {first + place:,} (counted from 0) has a column that the first "
                    "rows lack. Name the columns that are to be read, with --column."
                )
    columns = []
    for name, make in made.items():
        values: list[Any] = []
        try:
            for row in rows:
                values.append(make(row.get(name)))
            columns.append(pa.array(values, types.get(name)))
        except (ValueError, TypeError, AttributeError):  # whose messages quote values
            row_words = f"row {first + len(values):,}" if len(values) < len(rows) else "a row"
            raise CommandError(
                f"{path}: {row_words} (counted from 0) has a value in column {name!r} that is no "
                f"{_words(name, made, types)} (values are not shown). Mend it."
            ) from None
    return pa.RecordBatch.from_arrays(columns, names=list(made))


def _maker(name: str, wanted: Wanted) -> Callable[[Any], Any]:
    """Return the function from JSON's values to those of a column's type."""
    if name in wanted.texts:
        return _as_text
    kind = wanted.types.get(name)
    if kind is None:
        return _as_json if wanted.raw else _as_scalar
    return {
        "string": lambda value: _of(value, str),
        "bool": lambda value: _of(value, bool),
        "int64": lambda value: _of(value, int),
        "double": lambda value: _of(value, int, float),
        "date32[day]": lambda value: value if value is None else date.fromisoformat(value),
        "time64[us]": lambda value: value if value is None else time.fromisoformat(value),
    }.get(str(kind), lambda value: value if value is None else datetime.fromisoformat(value))


def _words(name: str, made: dict[str, Callable[[Any], Any]], types: dict[str, Any]) -> str:
    if made[name] is _as_text:
        return "text and no whole number"
    kind = str(types.get(name, "value of a category, or of the type of others"))
    return {"string": "text", "bool": "true or false", "double": "number"}.get(kind, kind)


def _of(value: Any, *types: type) -> Any:
    if value is None or (isinstance(value, types) and (types == (bool,) or value is not True)):
        return value
    raise ValueError


def _as_text(value: Any) -> str | None:
    """Return an id, or another text: a whole number's digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    text: str | None = _of(value, str)
    return text


def _as_scalar(value: Any) -> Any:
    if isinstance(value, dict | list):
        raise TypeError
    return value


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
