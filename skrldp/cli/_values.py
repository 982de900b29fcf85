"""The values that reports stand for, beside their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from skrldp.cli._errors import CommandError
from skrldp.cli._mechanism import category_columns, columns_of

if TYPE_CHECKING:
    from skrldp.mechanism import Manifest, Mechanism

__all__ = ["with_values"]


def with_values(
    mechanism: Mechanism | Manifest, path: str, schema: Any, reports: Iterable[Any], column: str
) -> tuple[Any, Iterator[Any]]:
    """Add columns of values to batches of reports.

    Returns `schema`, `reports`. Raises CommandError if reports are numbers alone, or a column has
    a name that is taken.
    """
    import pyarrow as pa

    own = category_columns(*_meant(mechanism, path))
    taken = [name for name in own if name in schema.names]
    if taken:
        raise CommandError(f"--values: there is a column {taken[0]!r} already.")
    fields = [pa.field(name, values.type) for name, values in own.items()]
    larger = pa.schema([*schema, *fields])

    def added() -> Iterator[Any]:
        for batch in reports:
            numbers = batch.column(column)
            columns = [*batch.columns, *(values.take(numbers) for values in own.values())]
            yield pa.RecordBatch.from_arrays(columns, schema=larger)

    return larger, added()


def _meant(mechanism: Any, path: str) -> tuple[list[Any], list[Any]]:
    """Return the columns that reports are about, and what each of them says."""
    named = columns_of(mechanism)
    symbols = getattr(mechanism, "symbols", ())  # a manifest has none in common
    others = [name for name, sensitive in named if not sensitive]
    if symbols != tuple(range(len(symbols))):
        if set(symbols) <= set(mechanism.values):
            return others, list(symbols)
        cells = {(secret, value) for secret in mechanism.secrets for value in mechanism.values}
        if set(symbols) <= cells:
            secrets = [name for name, sensitive in named if sensitive]
            return [*secrets, *others], [(*_parts(s), *_parts(u)) for s, u in symbols]
    raise CommandError(
        f"--values: the reports of {path} are numbers that stand for no values. They are for "
        "estimates; reports of design --for records are to be read."
    )


def _parts(member: Any) -> tuple[Any, ...]:
    return member if isinstance(member, tuple) else (member,)
