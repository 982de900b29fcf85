"""``skrldp estimate``: reports in, frequencies with confidence intervals out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from typer import Option

from skrldp._lists_in_words import columns_in_words
from skrldp.alphabet.categories import listed
from skrldp.cli import _common as o
from skrldp.cli._common import CommandError, progress, tell
from skrldp.cli._files import new_file, table_writer
from skrldp.cli._mechanism import columns_of, read_true_mechanism
from skrldp.cli._report import BLOCK, REPORT
from skrldp.cli._tables import STANDARD, Table, kind_of, weighted, whole_numbers, with_counts
from skrldp.mechanism.manifest import Manifest


def estimate(
    mechanism: o.MechanismFile,
    reports: Annotated[str, o.argument("REPORTS", f"What report wrote: {o.TABLE}")],
    *,
    output: o.Output = STANDARD,
    of: Annotated[
        o.Names,
        o.option(
            "--of COLUMN", "Estimate this column; repeat it for combinations. By default, all."
        ),
    ] = None,
    by: Annotated[
        o.Names, o.option("--by COLUMN", "Estimate within the groups of this column; repeatable.")
    ] = None,
    counts: o.Counts = None,
    level: Annotated[float, Option(metavar="PROBABILITY", help="Confidence level.")] = 0.95,
    spreadsheet: Annotated[
        bool,
        Option(
            "--spreadsheet", help=("Put ' before labels that spreadsheets would read as formulas.")
        ),
    ] = False,
) -> None:
    """Estimate how frequent values are among the records, from their reports.

    Writes a row for each combination of values: its share, standard error and confidence interval.
    If the reports do not determine a share, only the interval is written. The error is also empty
    if too few reports determine the share. For a manifest, the reports of all blocks are combined;
    name columns of a single block.
    """
    loaded = read_true_mechanism(mechanism)
    named = [name for name, _ in columns_of(loaded)]
    for option, names in (("--of", of), ("--by", by)):
        for name in names or ():
            if name not in named:
                has = listed(named)
                raise CommandError(f"{mechanism} has no column {name!r} ({option}); it has {has}.")
    if by and not of:
        raise CommandError("--by requires --of, the column whose shares are estimated.")
    if isinstance(loaded, Manifest):
        _check_together(loaded, mechanism, [*(of or named), *(by or ())])
    kind_of(output, packed=False)  # reject an unknown file format before anything is read
    with new_file(output, inputs=[mechanism, reports]) as file:
        shares = _fitted(loaded, reports, counts).marginal(of or None, by=by or None)
        tell("computing confidence intervals")
        table = _table(shares, level)
        if spreadsheet:
            table = _for_spreadsheets(table)
        with table_writer(file, output, table.schema) as sink:
            for batch in table.to_batches():
                sink.write_batch(batch)


def _fitted(mechanism: Any, path: str, counts: str | None) -> Any:
    """Count the reports, and fit the estimator of a mechanism or a manifest to them."""
    if not isinstance(mechanism, Manifest):
        numbers = _count((mechanism.shape[0],), path, [REPORT], counts)
        from skrldp.estimation import FrequencyEstimator

        estimator = FrequencyEstimator(mechanism, encode="symbol")
        return estimator.fit(range(len(numbers)), sample_weight=numbers)
    sizes = [block.shape[0] for block in mechanism.mechanisms]
    numbers = _count((len(sizes), max(sizes)), path, [BLOCK, REPORT], counts)
    pairs = np.argwhere(numbers)
    wrong = pairs[pairs[:, 1] >= np.array(sizes)[pairs[:, 0]]]
    if len(wrong):
        block, report = wrong[0].tolist()
        raise CommandError(
            f"{path} has a report {report} of block {block}, whose mechanism has "
            f"{sizes[block]:,} reports. These are reports of a different manifest."
        )
    from skrldp.estimation import BlockEstimator

    return BlockEstimator(mechanism).fit(pairs, sample_weight=numbers[tuple(pairs.T)])


def _count(sizes: tuple[int, ...], path: str, columns: Sequence[str], counts: str | None) -> Any:
    """Count the combinations of several columns of integers, each below its size."""
    totals = np.zeros(sizes, dtype=np.int64)
    table = Table(path, with_counts(columns, counts, path))
    for batch, weights, first in weighted(progress(table.batches(), path), counts, path):
        numbers = [whole_numbers(batch, name, path, first) for name in columns]
        for column, entries, size in zip(columns, numbers, sizes, strict=True):
            if (entries >= size).any():
                row = first + int(np.argmax(entries >= size))
                raise CommandError(
                    f"{path}: row {row:,} (counted from 0) of column {column!r} must be a {column} "
                    f"of the mechanism, from 0 to {size - 1}. These are not reports, or they are "
                    "from a different mechanism."
                )
        np.add.at(totals, tuple(numbers), weights)
    tell("estimating")
    return totals


def _check_together(manifest: Manifest, path: str, columns: Sequence[str]) -> None:
    """Reject columns that no block contains together."""
    if any(
        {name for name, _ in block.columns}.issuperset(columns) for block in manifest.mechanisms
    ):
        return
    raise CommandError(
        f"no block of {path} has the columns {columns_in_words(columns)} together: name columns of "
        "one block, with --of and --by; skrldp inspect lists the blocks."
    )


def _table(shares: Any, level: float) -> Any:
    """Return an estimate as an Arrow table, with the categories first."""
    import pyarrow as pa

    low, high = shares.confidence_interval(level).T
    estimate = np.where(np.isnan(shares.unbiased), np.nan, shares.estimate)
    statistics = {
        "estimate": estimate,
        "std_error": shares.std_error,
        "conf_low": low,
        "conf_high": high,
    }
    columns = {
        f"{name} (column)" if name in statistics else f"{name}": _categories(list(labels))
        for name, labels in zip(shares.names, zip(*shares.labels, strict=True), strict=True)
    }
    return pa.table(
        columns | {name: pa.array(figure, from_pandas=True) for name, figure in statistics.items()}
    )


def _for_spreadsheets(table: Any) -> Any:
    """Escape labels and names that a spreadsheet would execute, because they are untrusted."""
    import pyarrow as pa

    columns = [
        pa.array([_marked(value) for value in column.to_pylist()], column.type)
        for column in table.columns
    ]
    return pa.table(columns, [_marked(name) for name in table.column_names])


def _marked(value: Any) -> Any:
    is_formula = isinstance(value, str) and re.match(r"[=+\-@\t\r]", value)
    return f"'{value}" if is_formula else value


def _categories(values: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several types
        return pa.array([None if value is None else str(value) for value in values])
