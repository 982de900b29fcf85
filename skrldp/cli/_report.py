"""``skrldp report``: from private records to reports.

:func:`key` writes the key of reports that stay the same; :mod:`skrldp.cli._ledger_file` counts
reports.
"""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Annotated, Any

import numpy as np
from typer import Option

from skrldp.batches import BlockReporter, KeyFile, LedgerReporter, Reporter
from skrldp.batches import key_check as check_of
from skrldp.batches.arrow import any_twice, arrow_numbers
from skrldp.batches.reporter import reported
from skrldp.cli import _common as o
from skrldp.cli._common import CommandError, progress
from skrldp.cli._files import new_file, table_writer
from skrldp.cli._ledger_file import WAIT, opened_ledger
from skrldp.cli._mechanism import placed, read_records, read_true_mechanism, reader_of
from skrldp.cli._tables import STANDARD, Table, kind_of, new_name
from skrldp.mechanism.manifest import Manifest

# --- skrldp key -----------------------------------------------------------------------------------


_BYTES = 32


def key(file: Annotated[str, o.argument("FILE", "The new file.")]) -> None:
    """Make a secret key for repeatable reports.

    Writes 32 random bytes in hexadecimal to a new file that only its owner may read, and prints 16
    digits that identify the key, for report --key-check. Whoever has the key can undo the
    randomness of the reports, but the digits reveal nothing. Store the key where the records are,
    and keep it as long as the reports must stay the same.
    """
    if file == STANDARD:
        raise CommandError("a key is not written to standard output; pass the name of a file.")
    if os.path.lexists(file):
        raise CommandError(
            f"{file} exists, and a key in it may be in use: with a different key "
            "everybody would report a second time. Choose a different name."
        )
    with new_file(file, mode=0o600) as target:
        target.write(secrets.token_hex(_BYTES).encode() + b"\n")
    print(check_of(KeyFile(file)))


# --- skrldp report --------------------------------------------------------------------------------


REPORT = "report"  # the name of the column of reports
BLOCK = "block"  # the name of the column of blocks, for a manifest


def report(
    mechanism: o.MechanismFile,
    records: Annotated[str, o.argument("RECORDS", f"The private records: {o.TABLE}")],
    *,
    output: o.Output = STANDARD,
    id: Annotated[
        o.Text,
        o.option("--id COLUMN", "Column that identifies people: the same id gets the same report."),
    ] = None,
    key: Annotated[
        o.Text, o.option("--key FILE", "File of the secret key, written by skrldp key.")
    ] = None,
    key_check: Annotated[
        o.Text,
        o.option(
            "--key-check DIGITS",
            "The digits that skrldp key printed: a different key is rejected.",
        ),
    ] = None,
    ledger: Annotated[
        o.Text,
        o.option("--ledger FILE", "DuckDB file that records who has reported; created if absent."),
    ] = None,
    max_reports: Annotated[
        int | None,
        o.option(
            "--max-reports K",
            "Maximum number of reports about each person in a new ledger. Default: 1.",
            min=1,
        ),
    ] = None,
    raise_max_reports: Annotated[
        bool, Option("--raise-max-reports", help="Allow --max-reports to raise the ledger's limit.")
    ] = False,
    epoch: Annotated[
        int | None,
        o.option("--epoch N", "The round of reports in the ledger, from 0 upwards.", min=0),
    ] = None,
    wait: Annotated[
        float | None,
        o.option(
            "--wait SECONDS",
            "How long to wait for another run that uses the ledger. Default: 60.",
            min=0,
        ),
    ] = None,
    keep: Annotated[
        o.Names,
        o.option(
            "--keep COLUMN", "A column that leaves unchanged, without protection; repeatable."
        ),
    ] = None,
    missing: o.Missing = None,
) -> None:
    """Report private records.

    Writes a column "report" with an integer for each record, in the records' order. The reports may
    leave in place of the records. All records are reported or none. For a manifest, a column
    "block" states which block of columns the report is about; both leave together.

    Without a key, every run draws new reports. A second run is therefore a second report about each
    person, and two reports reveal more than one, as inspect shows. With --id and a key, the reports
    are the same in every run, as long as key, mechanism and record are the same. With --ledger as
    well, people report at most K times, whatever changes: a first report is repeated, and people
    without reports left are omitted.
    """
    import pyarrow as pa

    if (id is None) != (key is None):
        raise CommandError(
            "repeatable reports need both --id, the column that identifies people, and --key. "
            "Without both, every run draws new reports."
        )
    if id is None and (key_check is not None or ledger is not None):
        raise CommandError("--key-check and --ledger require --id and --key.")
    if ledger is None and (raise_max_reports or (max_reports, epoch, wait) != (None,) * 3):
        raise CommandError(
            "--max-reports, --raise-max-reports, --epoch and --wait require --ledger."
        )
    if [mechanism, records, key].count(STANDARD) > 1 or key == STANDARD:
        raise CommandError(
            "standard input can supply either the table or the mechanism, but not a key."
        )

    loaded, names_kept = read_true_mechanism(mechanism), keep or []
    if ledger is not None and isinstance(loaded, Manifest):
        raise CommandError(
            "--ledger supports only single mechanisms. For a manifest, --id and a key always give "
            "each person the same block; keep the key, and pass its digits as --key-check."
        )
    reader = reader_of(loaded)
    needed = list(reader.known)
    # Otherwise the key is for this run only, and the ids are the row numbers.
    secret = secrets.token_bytes(_BYTES) if key is None else KeyFile(key).read()
    rows = new_name([*needed, *names_kept, BLOCK, REPORT])
    options: dict[str, Any] = {"id": id or rows, "key": secret, "keep": names_kept, "name": REPORT}
    options["key_check"] = None if key_check is None else key_check.strip().lower()
    wait = WAIT if wait is None else wait
    begun: Any = nullcontext() if ledger is None else opened_ledger(ledger, wait)
    ids, inputs = [] if id is None else [id], [mechanism, records, key, ledger]
    kind_of(output, packed=False)  # reject an unknown file format before anything is read
    with begun as book, new_file(output, inputs=inputs) as file:
        if book is None:
            kind = BlockReporter if isinstance(loaded, Manifest) else Reporter
            reporter: Reporter = kind(loaded, **options)
        else:
            limit = book.limit(max_reports, is_raised=raise_max_reports)
            reporter = LedgerReporter(loaded, **options, max_reports=limit, epoch=epoch or 0)
            book.begin(reporter)
        table = Table(records, [*ids, *needed, *names_kept])
        batches = progress(table.batches(of_one_line=[*ids, *names_kept]), records)
        read = read_records(reader, table, missing or [], batches)
        source = table.schema
        if id is None:
            source, read = source.append(pa.field(rows, pa.int64())), _numbered(read, rows)
        schema = reporter.output_schema(source)
        reports = _reports(read, reporter, id, records)
        if id is None:
            schema = schema.remove(0)
            reports = (batch.select(schema.names) for batch in reports)
        if book is not None:
            schema = schema.set(1, schema.field(1).with_name(REPORT)).remove(2)  # of holders
            schema = schema if epoch is None else schema.insert(2, pa.field("epoch", pa.int64()))
            reports = book.settle(reports, schema)
        with table_writer(file, output, schema) as sink:
            for batch in reports:
                sink.write_batch(batch)
        if book is not None:
            book.enter()
    if id is not None and ledger is None and key_check is None:
        warnings.warn(
            "this key was not checked against earlier runs; with a different key "
            f"everybody would report a second time. Add --key-check {reporter.key_check} "
            "in later runs.",
            UserWarning,
            stacklevel=1,
        )


def _numbered(batches: Iterable[Any], name: str) -> Iterator[Any]:
    """Add a column with row numbers to batches."""
    import pyarrow as pa

    first = 0
    for batch in batches:
        rows = arrow_numbers(np.arange(first, first + len(batch)))
        yield pa.RecordBatch.from_arrays([*batch.columns, rows], [*batch.schema.names, name])
        first += len(batch)


def _reports(
    batches: Iterable[Any], reporter: Reporter, id: str | None, path: str
) -> Iterator[Any]:
    """Yield the reports of each batch, the last one only if all ids are distinct."""
    make, numbers = placed(partial(reported, reporter), path), [np.zeros(0, np.uint64)]
    for batch in batches:
        reports, hashes = make(batch)
        if id is not None:
            numbers.append(hashes)
        yield reports
    _refuse_same(numbers, id, path)


def _refuse_same(numbers: list[Any], id: str | None, path: str) -> None:
    """Raise an error if an id occurs in two rows, by comparing hashes.

    Among 10⁸ ids, a collision by chance has a probability of 0.0003.
    """
    every = np.concatenate(numbers)
    numbers.clear()
    if any_twice(every):
        order = np.argsort(every, kind="stable")
        position = np.flatnonzero(np.diff(every[order]) == 0)[0]
        first, second = order[position : position + 2]
        raise CommandError(
            f"{path}: rows {first:,} and {second:,} (counted from 0) have the same id in column "
            f"{id!r}, and there may be more such rows. Keep one row for each id, because a report "
            "is about a single record."
        )
