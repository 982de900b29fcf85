"""Reports that are counted, and estimates as tables."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from skrldp.cli._errors import CommandError
from skrldp.cli._formats import Kind
from skrldp.cli._fresh import BLOCK
from skrldp.cli._mechanism import category_columns
from skrldp.cli._opened import counts_of
from skrldp.cli._progress import progress
from skrldp.cli._tables import Wanted, open_batches

__all__ = ["count_numbers", "parts_of", "rows_of", "table_of"]


def count_numbers(
    sizes: tuple[int, ...], path: str, columns: Sequence[str], counts: str | None, kind: Kind
) -> Any:
    """Count how often the whole numbers of some columns are there, a batch at a time.

    Returns an array of shape `sizes`, above which no number may be.
    """
    import pyarrow as pa

    found = np.zeros(sizes, dtype=np.int64)
    wanted = [*columns, *([] if counts is None else [counts])]
    first = 0
    with open_batches(path, kind, Wanted(wanted, dict.fromkeys(wanted, pa.int64()))) as source:
        for batch in progress(source, "counted"):
            numbers = []
            for column, size in zip(columns, sizes, strict=True):
                own = _whole(batch, column, path, first)
                wrong = (own < 0) | (own >= size)
                if wrong.any():
                    row = first + int(np.argmax(wrong))
                    raise CommandError(
                        f"{path}: row {row:,} (counted from 0) has a number in column {column!r} "
                        f"that is no {'block' if column == BLOCK else 'report'}: the mechanism's "
                        f"are numbered 0 to {size - 1}. These are reports of another mechanism, "
                        "or none."
                    )
                numbers.append(own)
            weights = None if counts is None else counts_of(batch, counts, path).to_numpy()
            np.add.at(found, tuple(numbers), 1 if weights is None else weights)
            first += batch.num_rows
    return found


def _whole(batch: Any, name: str, path: str, first: int) -> Any:
    """Read a column of whole numbers."""
    import pyarrow as pa

    column = batch.column(name)
    if column.null_count:
        row = first + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise CommandError(
            f"{path}: row {row:,} (counted from 0) has nothing in column {name!r}: leave such rows "
            "out."
        )
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            with contextlib.suppress(pa.ArrowInvalid):  # which would quote a value
                column = column.cast(pa.int64())
    if not pa.types.is_integer(column.type):
        raise CommandError(
            f"{path}: column {name!r} has the type {column.type}, but reports are whole numbers. "
            "--report-column names that of the reports."
        )
    numbers = column.to_numpy()
    if numbers.dtype == np.uint64 and numbers.max(initial=0) > np.iinfo(np.int64).max:
        numbers = np.where(numbers > np.iinfo(np.int64).max, -1, numbers)
    return numbers.astype(np.int64)


Parts = tuple[list[str], list[Any], dict[str, Any]]


def parts_of(found: Any, level: float) -> Parts:
    """Return the columns that an estimate is about, its categories, and its figures."""
    lower, upper = found.confidence_interval(level).T
    is_by_group = hasattr(found, "labels")
    values = found.values if is_by_group else found.frequencies
    figures = {
        "frequency": values,
        "std_error": found.std_error,
        "lower": lower,
        "upper": upper,
        "identifiable": np.isfinite(values) if is_by_group else found.identifiable,
    }
    if is_by_group:
        return list(map(str, found.names)), list(found.labels), figures
    return list(map(str, found.columns)), list(found.categories), figures


def rows_of(parts: Parts) -> list[dict[str, Any]]:
    """Return an estimate as a dict for each category, or combination of categories."""
    names, categories, figures = parts
    found = []
    for place, category in enumerate(categories):
        own = category if len(names) > 1 else (category,)
        one = {name: values[place] for name, values in figures.items()}
        found.append({"category": dict(zip(names, own, strict=True)), **one})
    return found


def table_of(parts: Parts) -> Any:
    """Write an estimate as an Arrow table, the categories first."""
    import pyarrow as pa

    names, categories, figures = parts
    columns = category_columns(names, categories)
    columns = {
        f"{name} (column)" if name in figures else name: column for name, column in columns.items()
    }
    return pa.table(
        columns | {name: pa.array(figure, from_pandas=True) for name, figure in figures.items()}
    )
