"""What the commands need of a mechanism's file, and the cells of the records of a table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skrldp.cli._errors import CommandError
from skrldp.cli._formats import categories_of, column_types, with_missing
from skrldp.cli._outputs import STANDARD
from skrldp.mechanism import Mechanism

if TYPE_CHECKING:
    from skrldp.cli._tables import Batches

__all__ = ["cell_reader", "placed", "read_json", "read_mechanism", "record_types", "values_of"]


def read_json(path: str) -> bytes:
    """Read a mechanism's file."""
    try:
        if path == STANDARD:
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise CommandError(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise CommandError(f"{path} is a folder; give the mechanism's JSON.") from None


def read_mechanism(path: str) -> Mechanism:
    """Load a mechanism, as strictly as a client does."""
    text = read_json(path)
    try:
        return Mechanism.from_json(text)
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None


def record_types(
    mechanism: Mechanism, columns: Sequence[str]
) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Say as what the mechanism's columns are read from CSV.

    Returns `converted`: is to be applied to each batch.
    """
    every = categories_of(mechanism)
    own: Mapping[str, Sequence[Any]] = {name: every[name] for name in columns}
    return column_types(own), lambda batch: with_missing(batch, own)


def values_of(batch: Any, columns: Sequence[str]) -> dict[str, Any]:
    """Read columns of a batch as clients take them."""
    from skrldp.batches import read_values

    return {name: read_values(name, batch.column(name)) for name in columns}


def cell_reader(mechanism: Mechanism) -> Callable[[Any], Any]:
    """Return a function from batches of whole records to their cells.

    Returns callable: maps a RecordBatch to an integer array.
    """
    from skrldp.client import RecordReader

    named = mechanism.columns or (("secret", True), ("value", False))
    names = [str(name) for name, _ in named]
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
