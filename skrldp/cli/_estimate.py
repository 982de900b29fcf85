"""``skrldp estimate``: reports in, frequencies with confidence intervals out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skrldp.cli._errors import CommandError
from skrldp.cli._figures import as_json
from skrldp.cli._formats import Asked, Kind, check_delimiter, kind_of, kind_to_write
from skrldp.cli._mechanism import read_mechanism
from skrldp.cli._outputs import new_file
from skrldp.cli._progress import progress
from skrldp.cli._sinks import table_writer
from skrldp.cli._tables import Wanted, open_batches

__all__ = ["estimate"]


def estimate(
    mechanism: str,
    reports: str,
    *,
    output: str,
    of: Sequence[str],
    column: str,
    counts: str | None,
    method: str,
    level: float,
    kind: Asked,
    output_kind: Asked,
    force: bool,
    quiet: bool,
    in_json: bool,
) -> None:
    """Estimate frequencies of the records from their reports."""
    own = read_mechanism(mechanism)
    named = [name for name, _ in own.columns or (("secret", True), ("value", False))]
    for name in of:
        if name not in named:
            has = ", ".join(map(repr, named))
            raise CommandError(f"{mechanism} has no column {name!r} (--of); it has {has}.")
    if not 0.0 < level < 1.0:
        raise CommandError(f"--level {level} must be a confidence between 0 and 1.")
    in_json = in_json or output.lower().endswith(".json")
    in_kind = kind_of(reports, kind)
    out_kind = Kind("json") if in_json else kind_to_write(output, output_kind)
    check_delimiter(kind, in_kind, out_kind)
    with new_file(output, force=force, inputs=[mechanism, reports]) as file:
        found = _counted(own.shape[0], reports, column, counts, in_kind, quiet)
        from skrldp.estimation import FrequencyEstimator

        estimator = FrequencyEstimator(own, method=method, encode="symbol")
        estimator.fit(range(len(found)), sample_weight=found)
        marginal = estimator.marginal(list(of) or None)
        lower, upper = marginal.confidence_interval(level).T
        if in_json:
            figures = {
                "digest": own.digest,
                "n_reports": estimator.n_reports_,
                "method": method,
                "level": level,
                "columns": marginal.columns,
                "estimates": _rows(marginal, lower, upper),
            }
            file.write(as_json(figures).encode() + b"\n")
        else:
            table = _table(marginal, lower, upper)
            packed = output.lower().endswith(".gz")
            with table_writer(file, out_kind, table.schema, packed=packed) as sink:
                for batch in table.to_batches():
                    sink.write_batch(batch)


def _counted(
    n_symbols: int, path: str, column: str, counts: str | None, kind: Kind, quiet: bool
) -> Any:
    """Count how often each symbol was reported, a batch at a time."""
    import pyarrow as pa

    found = np.zeros(n_symbols, dtype=np.int64)
    columns = [column, *([] if counts is None else [counts])]
    types = dict.fromkeys(columns, pa.int64())
    first = 0
    with open_batches(path, kind, Wanted(columns, types)) as source:
        rows = progress(
            source.rows, quiet=quiet, what="counted", total=source.total, place=source.place
        )
        for batch in rows:
            numbers, *weights = (_whole(batch, name, path, first) for name in columns)
            wrong = (numbers < 0) | (numbers >= n_symbols)
            if wrong.any():
                row = first + int(np.argmax(wrong))
                raise CommandError(
                    f"{path}: row {row:,} (counted from 0) has a number in column {column!r} that "
                    f"is no report: the mechanism's are numbered 0 to {n_symbols - 1}. These are "
                    "reports of another mechanism, or none."
                )
            if weights:
                if weights[0].min() < 0:
                    raise CommandError(f"{path}: the column {counts!r} (--counts) is negative.")
                np.add.at(found, numbers, weights[0])
            else:
                found += np.bincount(numbers, minlength=n_symbols)
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


def _rows(marginal: Any, lower: Any, upper: Any) -> list[dict[str, Any]]:
    several = len(marginal.columns) > 1
    figures = zip(
        marginal.categories,
        marginal.frequencies,
        marginal.std_error,
        lower,
        upper,
        marginal.identifiable,
        strict=True,
    )
    return [
        {
            "category": dict(
                zip(map(str, marginal.columns), category if several else (category,), strict=True)
            ),
            "frequency": frequency,
            "std_error": error,
            "lower": low,
            "upper": high,
            "identifiable": bool(known),
        }
        for category, frequency, error, low, high, known in figures
    ]


def _table(marginal: Any, lower: Any, upper: Any) -> Any:
    """Write an estimate as an Arrow table, the categories first."""
    import pyarrow as pa

    several = len(marginal.columns) > 1
    parts = zip(*marginal.categories, strict=True) if several else [marginal.categories]
    columns: dict[str, Any] = {}
    for name, categories in zip(marginal.columns, parts, strict=True):
        columns[str(name)] = _column(list(categories))
    figures = {
        "frequency": marginal.frequencies,
        "std_error": marginal.std_error,
        "lower": lower,
        "upper": upper,
        "identifiable": marginal.identifiable,
    }
    clash = columns.keys() & figures.keys()
    if clash:
        columns = {f"{name} (column)" if name in clash else name: c for name, c in columns.items()}
    return pa.table(
        columns | {name: pa.array(figure, from_pandas=True) for name, figure in figures.items()}
    )


def _column(categories: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(categories)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several types
        return pa.array([None if value is None else str(value) for value in categories])
