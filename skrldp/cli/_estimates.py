"""Reports that are counted, and estimates as tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from skrldp.cli._errors import CommandError
from skrldp.cli._formats import Kind
from skrldp.cli._mechanism import category_columns
from skrldp.cli._opened import counts_of
from skrldp.cli._progress import progress
from skrldp.cli._tables import Wanted, open_batches

__all__ = ["reported_counts", "rows_of", "table_of"]


def reported_counts(n_symbols: int, path: str, column: str, counts: str | None, kind: Kind) -> Any:
    """Count how often each symbol was reported, a batch at a time."""
    import pyarrow as pa

    found = np.zeros(n_symbols, dtype=np.int64)
    columns = [column, *([] if counts is None else [counts])]
    types = dict.fromkeys(columns, pa.int64())
    first = 0
    with open_batches(path, kind, Wanted(columns, types)) as source:
        for batch in progress(source, "counted"):
            numbers = _whole(batch, column, path, first)
            wrong = (numbers < 0) | (numbers >= n_symbols)
            if wrong.any():
                row = first + int(np.argmax(wrong))
                raise CommandError(
                    f"{path}: row {row:,} (counted from 0) has a number in column {column!r} that "
                    f"is no report: the mechanism's are numbered 0 to {n_symbols - 1}. These are "
                    "reports of another mechanism, or none."
                )
            weights = None if counts is None else counts_of(batch, counts, path).to_numpy()
            np.add.at(found, numbers, 1 if weights is None else weights)
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
    if not pa.types.is_integer(column.type):
        raise CommandError(
            f"{path}: column {name!r} has the type {column.type}, but reports are whole numbers. "
            "--report-column names that of the reports."
        )
    numbers = column.to_numpy()
    if numbers.dtype == np.uint64 and numbers.max(initial=0) > np.iinfo(np.int64).max:
        numbers = np.where(numbers > np.iinfo(np.int64).max, -1, numbers)
    return numbers.astype(np.int64)


def rows_of(marginal: Any, lower: Any, upper: Any) -> list[dict[str, Any]]:
    """Return an estimate as a dict for each category, or combination of categories."""
    names = list(map(str, marginal.columns))
    figures = _figures(marginal, lower, upper)
    found = []
    for place, category in enumerate(marginal.categories):
        own = category if len(names) > 1 else (category,)
        one = {name: values[place] for name, values in figures.items()}
        found.append({"category": dict(zip(names, own, strict=True)), **one})
    return found


def table_of(marginal: Any, lower: Any, upper: Any) -> Any:
    """Write an estimate as an Arrow table, the categories first."""
    import pyarrow as pa

    columns = category_columns(marginal.columns, marginal.categories)
    figures = _figures(marginal, lower, upper)
    columns = {
        f"{name} (column)" if name in figures else name: column for name, column in columns.items()
    }
    return pa.table(
        columns | {name: pa.array(figure, from_pandas=True) for name, figure in figures.items()}
    )


def _figures(marginal: Any, lower: Any, upper: Any) -> dict[str, Any]:
    return {
        "frequency": marginal.frequencies,
        "std_error": marginal.std_error,
        "lower": lower,
        "upper": upper,
        "identifiable": marginal.identifiable,
    }
