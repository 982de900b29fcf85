"""A mechanism's file, its columns, and the values of a table that are its categories."""

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
from skrldp.alphabet.numbers import Bins, Knots, Numbers
from skrldp.alphabet.values import in_other_type
from skrldp.batches.arrow import arrow_numbers, read_values
from skrldp.claims_in_words import bound_in_words
from skrldp.cli._common import CommandError
from skrldp.cli._tables import STANDARD, Table, coded, mark_missing
from skrldp.client.records import BlockReader, RecordReader
from skrldp.mechanism.manifest import Manifest, read_json
from skrldp.mechanism.mechanism import Mechanism

_ROUNDING = 1e-9  # of a leakage that is computed in floating point
_ROUNDED = 2**53  # integers from here on may have been rounded if they are written as floats
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?")


def read_mechanism(path: str) -> Any:
    """Load a mechanism or a manifest, as strictly as a client does."""
    try:
        return read_json(read_text(path))
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None


def read_true_mechanism(path: str) -> Any:
    """Load a mechanism or a manifest, and refuse one that claims less than it shows itself."""
    mechanism = read_mechanism(path)
    for words in false_claims(mechanism):
        raise CommandError(f"{path}: {words}: the claim is false.")
    return mechanism


def false_claims(mechanism: Mechanism | Manifest) -> list[str]:
    """Say which claims leakage at the public counts exceeds: sets contain this distribution."""
    statements = []
    for one in mechanism.mechanisms if isinstance(mechanism, Manifest) else [mechanism]:
        if one.claims is None or one.public is None or one.claims.main.around.bounds is not None:
            continue
        leakage = one.leakage(one.public.probabilities)
        if leakage > one.claims.eps + _ROUNDING * (1.0 + leakage):
            claimed = f"{bound_in_words(one.claims.main)} is claimed"
            statements.append(f"{claimed}, and {at_least(leakage)} leaks at the public counts")
    return statements


def read_text(path: str) -> bytes:
    """Read a file of JSON, or standard input."""
    return sys.stdin.buffer.read() if path == STANDARD else Path(path).read_bytes()


def columns_of(mechanism: Mechanism | Manifest) -> tuple[tuple[Any, bool], ...]:
    """Return the names of a mechanism's columns, and whether each is sensitive."""
    return mechanism.columns or (("secret", True), ("value", False))


def reader_of(mechanism: Mechanism | Manifest, observe: str | None = None) -> RecordReader:
    """Return the encoder of records; by default, for what the mechanism observes."""
    named = columns_of(mechanism)
    if not all(isinstance(name, str) for name, _ in named):
        raise CommandError(
            f"the mechanism's columns have no names but the numbers {[n for n, _ in named]}, as it "
            "was designed from an array: the command line finds columns by name."
        )
    if isinstance(mechanism, Manifest):
        return BlockReader(mechanism)
    return RecordReader.of(mechanism, observe)


# --- Records -------------------------------------------------------------------------------------


def read_records(
    reader: RecordReader, table: Table, missing: Sequence[str], batches: Iterator[Any]
) -> Iterator[Any]:
    """Yield a table's batches; texts of a mechanism's columns become the categories they meet."""
    if not table.is_text:
        if missing:
            raise CommandError(f"--missing is for texts, and {table.path} has types.")
        yield from batches
        return
    import pyarrow as pa

    known = reader.known
    wanted = {n: own if isinstance(own, Bins | Knots) else _Met(n, own) for n, own in known.items()}
    first = 0
    may_be_empty = [n for n, met in wanted.items() if isinstance(met, _Met) and met.takes_empty]
    for batch in batches:
        if table.kind == "CSV":  # where an empty field may be the empty text
            batch = pa.RecordBatch.from_arrays(
                [
                    column.fill_null("") if name in may_be_empty else column
                    for name, column in zip(batch.schema.names, batch.columns, strict=True)
                ],
                schema=batch.schema,
            )
        marked = mark_missing(batch, list(wanted), missing)
        arrays = dict(zip(marked.schema.names, marked.columns, strict=True))
        for name, met in wanted.items():
            where = f"{table.path}: row {{:,}} (counted from 0)"
            if isinstance(met, _Met):
                arrays[name] = met.array(arrays[name], where, first)
            else:
                arrays[name] = read_numbers(arrays[name], name, met, where, first)
        yield pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))
        first += batch.num_rows


def read_numbers(column: Any, name: str, numbers: Numbers, where: str, first: int) -> Any:
    """Read the numbers or dates of texts that are to be cut into bins or rounded to knots."""
    import pyarrow as pa

    kind = "number" if isinstance(numbers, Knots) else numbers.kind
    codes, texts = coded(column)
    read = [_number(text) if kind == "number" else _moment(text, kind) for text in texts]
    sound = np.array([value is not None for value in read] + [True])[codes]
    if not sound.all():
        row = where.format(first + int(np.argmin(sound)))
        raise CommandError(
            f"{row} has a text in column {name!r} that is not a {kind} (not shown), and the column "
            f"has {type(numbers).__name__}."
        )
    found = pa.array([*read, None], pa.float64() if kind == "number" else None)
    return found.take(arrow_numbers(np.where(codes < 0, len(texts), codes)))


def _number(text: str) -> float | None:
    return float(text) if NUMBER.fullmatch(text) else None


def _moment(text: str, kind: str) -> datetime | None:
    """Read a date or time, of a time zone or without, in UTC; None for any other text."""
    with suppress(ValueError):
        found = datetime.fromisoformat(text)
        if (found.tzinfo is None) == (kind == "date"):
            return found if found.tzinfo is None else found.astimezone(UTC)
    return None


class _Met:
    """The categories of a column, and which texts match them: both "5" and "5.0" match 5."""

    def __init__(self, name: str, categories: Sequence[Any]) -> None:
        self._name, self._categories = name, list(categories)
        self._keys = {_key_of(own): own for own in reversed(categories) if own is not None}
        self._are_texts = all(isinstance(own, str) for own in self._keys.values())
        self.takes_empty = self._are_texts and "" in categories and None not in categories

    def array(self, column: Any, where: str, first: int) -> Any:
        """Return the categories that texts meet, of the categories' own type.

        A text that meets none is missing, if no category is; where these are texts, it stays.
        """
        import pyarrow as pa

        if self._are_texts:
            return column
        codes, texts = coded(column)
        found = [next((self._keys[k] for k in _keys(t) if k in self._keys), None) for t in texts]
        unknown = np.array([own is None for own in found] + [False])[codes]
        if None in self._categories and unknown.any():
            row = where.format(first + int(np.argmax(unknown)))
            raise CommandError(
                f"{row} has a text in column {self._name!r} that is none of the mechanism's "
                "values (not shown). Map it to one of them, or to a missing value."
            )
        try:
            kind = pa.array(self._categories).type
            met = pa.array([*found, None], kind)
        except OverflowError:
            raise CommandError(
                f"column {self._name!r}: the mechanism's categories are integers of more than 64 "
                "bits, which no column of a file holds; report in Python or JavaScript."
            ) from None
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise CommandError(
                f"column {self._name!r}: the mechanism's categories are of several kinds, which "
                "texts cannot tell apart; give a Parquet or an Arrow file."
            ) from None
        return met.take(arrow_numbers(np.where(codes < 0, len(texts), codes)))


def _key_of(category: Any) -> tuple[str, Any]:
    """Return the kind of a category, and what it is compared by."""
    if isinstance(category, bool):
        return "truth", category
    if isinstance(category, int) and abs(category) >= _ROUNDED:
        return "large", Decimal(category)
    if isinstance(category, int | float):
        return "number", Decimal(repr(category))
    if isinstance(category, date) and not isinstance(category, datetime):
        category = in_other_type(category)
    return type(category).__name__, category


def _keys(text: str) -> Iterator[tuple[str, Any]]:
    """Yield what a text may mean: itself, a number, true or false, a date or a time."""
    yield "str", text
    if NUMBER.fullmatch(text):
        yield "number", Decimal(text)
        if text.lstrip("+-").isdecimal():
            yield "large", Decimal(text)
    elif text.lower() in ("true", "false"):
        yield "truth", text.lower() == "true"
    else:
        kinds: tuple[Any, ...] = (datetime, time)  # a date is read as its midnight
        for kind in kinds:
            with suppress(ValueError):
                yield kind.__name__, kind.fromisoformat(text)


def values_of(batch: Any, columns: Sequence[str]) -> dict[str, Any]:
    """Read columns of a batch as clients take them."""
    return {name: read_values(name, batch.column(name)) for name in columns}


def placed(work: Callable[[Any], Any], path: str) -> Callable[[Any], Any]:
    """Have a function's errors say where in the table the batch is that they are about."""
    first = 0

    def located(batch: Any) -> Any:
        nonlocal first
        try:
            found = work(batch)
        except (TypeError, ValueError) as error:
            last = first + batch.num_rows - 1
            where = f" (rows {first:,} to {last:,}, counted from 0)" if first else ""
            raise CommandError(f"{path}{where}: {error}") from None
        first += batch.num_rows
        return found

    return located
