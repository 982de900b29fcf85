"""A mechanism's file, its columns, and the categories and cells of the records of a table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from skrldp.alphabet import OTHER
from skrldp.cli._errors import CommandError
from skrldp.cli._outputs import STANDARD
from skrldp.mechanism import Manifest, Mechanism, read_json

if TYPE_CHECKING:
    from skrldp.cli._tables import Batches

__all__ = [
    "category_columns",
    "cell_reader",
    "columns_of",
    "names_of",
    "needed_columns",
    "placed",
    "read_either",
    "read_mechanism",
    "read_text",
    "record_types",
    "values_of",
]

_EXACT = 2**53  # up to here float64 holds every whole number


def read_mechanism(path: str, instead: str) -> Mechanism:
    """Load a mechanism, as strictly as a client does; `instead` is what to do with a manifest."""
    own = read_either(path)
    if isinstance(own, Manifest):
        raise CommandError(
            f"{path} is a manifest of {len(own.mechanisms):,} mechanisms, one for each block of "
            f"columns: {instead}"
        )
    return own


def read_either(path: str) -> Mechanism | Manifest:
    """Load a mechanism or a manifest, as strictly as a client does."""
    try:
        return read_json(read_text(path))
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None


def read_text(path: str) -> bytes:
    """Read a file of JSON, or standard input."""
    try:
        if path == STANDARD:
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise CommandError(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise CommandError(f"{path} is a folder; give the file of JSON.") from None


def columns_of(mechanism: Mechanism | Manifest) -> tuple[tuple[Any, bool], ...]:
    """Return the names of a mechanism's columns, and whether each is sensitive."""
    return mechanism.columns or (("secret", True), ("value", False))


def names_of(mechanism: Mechanism | Manifest) -> list[str]:
    """Return the names of a mechanism's columns."""
    return [str(name) for name, _ in columns_of(mechanism)]


def needed_columns(mechanism: Mechanism | Manifest) -> list[str]:
    """Return the names of the columns that a mechanism reads."""
    of_u = mechanism.observe == "nonsensitive"
    names = [name for name, sensitive in columns_of(mechanism) if not (of_u and sensitive)]
    if not all(isinstance(name, str) for name in names):
        raise CommandError(
            f"the mechanism's columns have no names but the numbers {names}, as it was designed "
            "from an array: the command line finds columns by name."
        )
    return names


def record_types(
    mechanism: Mechanism | Manifest, columns: Sequence[str]
) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Say as what the mechanism's columns are read from CSV.

    Returns `converted`: is to be applied to each batch.
    """
    import pyarrow as pa

    every = _categories_of(mechanism)
    own = {name: every[name] for name in columns}
    types = {name: _type(name, values) for name, values in own.items()}
    if isinstance(mechanism, Manifest):
        types |= {name: pa.float64() for name in columns if name in mechanism.bins}
    return types, lambda batch: _with_missing(batch, own)


def _categories_of(mechanism: Mechanism | Manifest) -> dict[str, list[Any]]:
    """Return the categories of each column that a mechanism names.

    Returns dict of str to list: "other" is left out where it stands for other values.
    """
    named = columns_of(mechanism)
    found = _by_column([name for name, sensitive in named if sensitive], mechanism.secrets)
    rest = [name for name, sensitive in named if not sensitive]
    if isinstance(mechanism, Manifest):
        of_u: Mapping[Any, Sequence[Any]] = mechanism.categories
        others = mechanism.others
    else:
        of_u = _by_column(rest, mechanism.values)
        others = dict(zip(rest, mechanism.others or (None,) * len(rest), strict=True))
    for name in rest:
        other = others[name]
        own = [value for value in of_u[name] if other is None or value != OTHER]
        found[name] = [*own, *(other if isinstance(other, tuple) else ())]
    return found


def _by_column(names: Sequence[Any], members: Sequence[Any]) -> dict[str, list[Any]]:
    parts = zip(*members, strict=True) if len(names) > 1 else [members]
    return {name: list(own) for name, own in zip(names, parts, strict=True)}


def _type(name: str, categories: Sequence[Any]) -> Any:
    import pyarrow as pa

    values = [value for value in categories if value is not None]
    if all(isinstance(value, str) for value in values):
        return pa.string()
    if all(isinstance(value, bool) for value in values):
        return pa.bool_()
    if all(isinstance(value, int | float) for value in values):
        whole = all(isinstance(value, int) for value in values)
        return pa.int64() if whole and max(map(abs, values)) >= _EXACT else pa.float64()
    if all(isinstance(value, datetime) for value in values):
        zones = {value.tzinfo is None for value in values}
        if len(zones) == 1:
            return pa.timestamp("us", None if zones.pop() else "UTC")
    elif all(isinstance(value, date) and not isinstance(value, datetime) for value in values):
        return pa.date32()
    elif all(isinstance(value, time) for value in values):
        return pa.time64("us")
    raise CommandError(
        f"column {name!r}: the mechanism's categories are of a kind, or of several kinds, that "
        "text files cannot tell apart; give a Parquet or Arrow file."
    )


def _with_missing(batch: Any, categories: Mapping[str, Sequence[Any]]) -> Any:
    """Take empty texts of CSV as missing where that is a category and the empty text is none."""
    import pyarrow as pa

    columns = batch.columns
    for place, field in enumerate(batch.schema):
        known = categories.get(field.name, ())
        if None in known and "" not in known and pa.types.is_string(field.type):
            import pyarrow.compute as pc  # takes a while

            column = columns[place]
            columns[place] = pc.if_else(pc.equal(column, ""), pa.scalar(None, field.type), column)
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def category_columns(names: Sequence[Any], members: Sequence[Any]) -> dict[str, Any]:
    """Write categories of one column, or combinations of those of several, as Arrow's columns."""
    return {str(name): _column(own) for name, own in _by_column(names, members).items()}


def _column(categories: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(categories)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several types
        return pa.array([None if value is None else str(value) for value in categories])


def values_of(batch: Any, columns: Sequence[str]) -> dict[str, Any]:
    """Read columns of a batch as clients take them."""
    from skrldp.batches import read_values

    return {name: read_values(name, batch.column(name)) for name in columns}


def cell_reader(mechanism: Mechanism) -> Callable[[Any], Any]:
    """Return a function from batches of whole records to their cells.

    Returns callable: maps a RecordBatch to an integer array.
    """
    from skrldp.client import RecordReader

    named, names = columns_of(mechanism), names_of(mechanism)
    reader = RecordReader(named, mechanism.secrets, mechanism.values, "all", mechanism.others)
    return lambda batch: reader.cells(values_of(batch, names))


def placed(work: Callable[[Any], Any], source: Batches) -> Callable[[Any], Any]:
    """Have a function's errors say where in the table the batch is that they are about."""
    first = 0

    def located(batch: Any) -> Any:
        nonlocal first
        try:
            found = work(batch)
        except (TypeError, ValueError) as error:
            last = first + batch.num_rows - 1
            where = f" (rows {first:,} to {last:,}, counted from 0)" if first else ""
            raise CommandError(f"{source.path}{where}: {error}") from None
        first += batch.num_rows
        return found

    return located
