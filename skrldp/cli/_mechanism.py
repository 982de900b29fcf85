"""Reading of a mechanism's file, and of a table's values as its categories."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from skrldp._params import at_least
from skrldp.alphabet.numbers import Knots, Numbers
from skrldp.alphabet.values import in_other_type
from skrldp.batches.arrow import arrow_numbers, read_values
from skrldp.claims_in_words import bound_in_words
from skrldp.cli._common import CommandError
from skrldp.cli._tables import STANDARD, Table, coded, mark_missing
from skrldp.client.records import BlockReader, RecordReader
from skrldp.mechanism.manifest import Manifest, read_json
from skrldp.mechanism.mechanism import Mechanism

_ROUNDING = 1e-9  # relative error of a leakage computed in floating point
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?")


def read_mechanism(path: str) -> Any:
    """Load a mechanism or a manifest as strictly as a client does."""
    try:
        return read_json(read_text(path))
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None


def read_true_mechanism(path: str) -> Any:
    """Load a mechanism or a manifest, and reject claims below its own leakage."""
    mechanism = read_mechanism(path)
    for words in false_claims(mechanism):
        raise CommandError(f"{path}: {words}: the claim is false.")
    return mechanism


def false_claims(mechanism: Mechanism | Manifest) -> list[str]:
    """State which claims are exceeded at the public counts, which every set contains."""
    statements = []
    for block in mechanism.mechanisms if isinstance(mechanism, Manifest) else [mechanism]:
        if (
            block.claims is None
            or block.public is None
            or block.claims.main.around.bounds is not None
        ):
            continue
        leakage = block.leakage(block.public.probabilities)
        if leakage > block.claims.eps + _ROUNDING * (1.0 + leakage):
            claimed = f"{bound_in_words(block.claims.main)} is claimed"
            statements.append(f"{claimed}, and {at_least(leakage)} leaks at the public counts")
    return statements


def read_text(path: str) -> bytes:
    """Read a file of JSON, or standard input."""
    return sys.stdin.buffer.read() if path == STANDARD else Path(path).read_bytes()


def columns_of(mechanism: Mechanism | Manifest) -> tuple[tuple[Any, bool], ...]:
    """Return the names of a mechanism's columns, and whether each is sensitive."""
    return mechanism.columns or (("secret", True), ("value", False))


def reader_of(mechanism: Mechanism | Manifest, observe: str | None = None) -> RecordReader:
    """Return the reader of a mechanism's records; `observe` defaults to the mechanism's own."""
    named = columns_of(mechanism)
    if not all(isinstance(name, str) for name, _ in named):
        raise CommandError(
            f"the mechanism's columns are numbered {[n for n, _ in named]}, not named, because it "
            "was designed from an array. Design it from a table with column names, because the "
            "command line finds columns by their names."
        )
    if isinstance(mechanism, Manifest):
        return BlockReader(mechanism)
    return RecordReader.of(mechanism, observe)


# --- Records -------------------------------------------------------------------------------------


def read_records(
    reader: RecordReader, table: Table, missing: Sequence[str], batches: Iterator[Any]
) -> Iterator[Any]:
    """Yield a table's batches, with strings of a mechanism's columns converted to categories."""
    if not table.is_text:
        if missing:
            raise CommandError(f"--missing applies to strings in CSV, but {table.path} has types.")
        yield from batches
        return
    import pyarrow as pa

    known, first, where = reader.known, 0, f"{table.path}: row {{:,}} (counted from 0)"
    for batch in batches:
        arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name, values in known.items():
            array = arrays[name]
            if "" in (listed := values if isinstance(values, list) else []) and None not in listed:
                array = array.fill_null("")  # an empty field may mean the empty string
            read: Any = read_categories if isinstance(values, list) else read_numbers
            arrays[name] = read(mark_missing(array, missing), name, values, where, first)
        yield pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))
        first += batch.num_rows


def read_numbers(column: Any, name: str, numbers: Numbers, where: str, first: int) -> Any:
    """Convert strings to numbers or dates, for bins or knots."""
    import pyarrow as pa

    kind = "number" if isinstance(numbers, Knots) else numbers.kind
    codes, texts = coded(column)
    read = [_number(text) if kind == "number" else _moment(text, kind) for text in texts]
    sound = np.array([value is not None for value in read] + [True])[codes]
    if not sound.all():
        row = where.format(first + int(np.argmin(sound)))
        raise CommandError(
            f"{row} has a string in column {name!r} that is not a {kind} (not shown), but the "
            f"column has {type(numbers).__name__}."
        )
    numbers_read = pa.array([*read, None], pa.float64() if kind == "number" else None)
    return numbers_read.take(arrow_numbers(np.where(codes < 0, len(texts), codes)))


def _number(text: str) -> float | None:
    return float(text) if NUMBER.fullmatch(text) else None


def _moment(text: str, kind: str) -> datetime | None:
    """Parse a date or time, with or without a time zone, in UTC; None for any other string."""
    with suppress(ValueError):
        moment = datetime.fromisoformat(text)
        if (moment.tzinfo is None) == (kind == "date"):
            return moment if moment.tzinfo is None else moment.astimezone(UTC)
    return None


def read_categories(
    column: Any, name: str, categories: Sequence[Any], where: str, first: int
) -> Any:
    """Convert strings to categories: both "5" and "5.0" mean 5.

    A string that means no category becomes missing, unless missing is a category; columns of
    strings remain unchanged.
    """
    import pyarrow as pa

    by_meaning = {_meaning_of(category): category for category in reversed(categories)}
    if not {type(category) for category in categories} - {str, type(None)}:
        return column
    codes, texts = coded(column)
    meant = [next((m for m in _meanings(text) if m in by_meaning), None) for text in texts]
    is_unknown = np.array([meaning is None for meaning in meant] + [False])[codes]
    if None in categories and is_unknown.any():
        row = where.format(first + int(np.argmax(is_unknown)))
        raise CommandError(
            f"{row} has a string in column {name!r} that is not one of the mechanism's values (not "
            "shown). Map it to one of them, or to a missing value."
        )
    try:
        kind = pa.array(categories).type
        values = pa.array([*(None if m is None else by_meaning[m] for m in meant), None], kind)
    except (OverflowError, pa.ArrowInvalid, pa.ArrowTypeError):
        raise CommandError(
            f"column {name!r}: the mechanism's categories are of several types, or integers of "
            "more than 64 bits, which no column of a file can store; report in Python or "
            "JavaScript."
        ) from None
    return values.take(arrow_numbers(np.where(codes < 0, len(texts), codes)))


def _meaning_of(category: Any) -> tuple[type, Any]:
    """Return the key by which a category is compared."""
    if isinstance(category, int | float) and not isinstance(category, bool):
        return Decimal, Decimal(repr(category))
    if isinstance(category, date) and not isinstance(category, datetime):
        category = in_other_type(category)
    return type(category), category


def _meanings(text: str) -> Iterator[tuple[type, Any]]:
    """Yield the possible meanings of a string: itself, a number, a boolean, a date or a time."""
    yield str, text
    if NUMBER.fullmatch(text):
        yield Decimal, Decimal(text)
    if text.lower() in ("true", "false"):
        yield bool, text.lower() == "true"
    kinds: tuple[Any, ...] = (datetime, time)  # a date is its midnight
    for kind in kinds:
        with suppress(ValueError):
            yield kind, kind.fromisoformat(text)


def values_of(batch: Any, columns: Sequence[str]) -> dict[str, Any]:
    """Convert columns of a batch to the form that clients accept."""
    return {name: read_values(name, batch.column(name)) for name in columns}


def placed(work: Callable[[Any], Any], path: str) -> Callable[[Any], Any]:
    """Wrap a function so that its errors state the rows of the batch in the table."""
    first = 0

    def located(batch: Any) -> Any:
        nonlocal first
        try:
            result = work(batch)
        except (TypeError, ValueError) as error:
            last = first + batch.num_rows - 1
            where = f" (rows {first:,} to {last:,}, counted from 0)" if first else ""
            raise CommandError(f"{path}{where}: {error}") from None
        first += batch.num_rows
        return result

    return located
