"""``skrldp report``: private records in, reports out.

With :func:`key` for reports that stay the same, and the file in which reports are counted.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from skrldp.batches import BlockReporter, KeyFile, LedgerReporter, Reporter
from skrldp.batches import key_check as check_of
from skrldp.batches.arrow import any_twice, arrow_numbers, numbers_of
from skrldp.batches.ledger import Persons, holders_of, octets_of
from skrldp.batches.reporter import reported
from skrldp.cli import _common as o
from skrldp.cli._common import CommandError, progress, tell
from skrldp.cli._mechanism import placed, read_mechanism, read_records, reader_of
from skrldp.cli._tables import (
    STANDARD,
    Table,
    checked_target,
    kind_of,
    new_file,
    new_name,
    table_writer,
)
from skrldp.mechanism.manifest import Manifest

# --- skrldp key -----------------------------------------------------------------------------------


_BYTES = 32


def key(file: Annotated[str, o.argument("FILE", "The new file.")]) -> None:
    """Make a secret key for reports that stay the same.

    Writes 32 random bytes in hexadecimal into a new file that its owner alone may read, and prints
    16 digits by which the key is known, for report --key-check. Whoever has the key can undo the
    randomness of the reports; the digits tell nothing. Keep the key where the records are, and as
    long as the reports are to stay the same.
    """
    if file == STANDARD:
        raise CommandError("a key is not written to standard output; give the name of a file.")
    if os.path.lexists(file):
        raise CommandError(
            f"{file} exists, and a key in it may be in use: with another key every "
            "person reports a second time. Give another name."
        )
    with new_file(file, mode=0o600) as target:
        target.write(secrets.token_hex(_BYTES).encode() + b"\n")
    print(check_of(KeyFile(file)))


# --- The file in which reports are counted --------------------------------------------------------


_PATIENCE = 60.0  # seconds to wait for another run that uses the ledger
_LIMIT = b"skrldp max_reports"  # what the first run had, in the file's metadata


def _reporter_of(mechanism: Any, options: dict[str, Any], limits: dict[str, Any] | None) -> Any:
    """Return a reporter: with a ledger if there are limits."""
    of_blocks = isinstance(mechanism, Manifest)
    if limits is None:
        return (BlockReporter if of_blocks else Reporter)(mechanism, **options)
    if of_blocks:
        raise CommandError(
            "--ledger is for single mechanisms. Of a manifest, --id and a key give each person "
            "one block for ever; keep the key, and give its digits as --key-check."
        )
    return LedgerReporter(mechanism, **options, **limits)


@contextmanager
def held(path: str, reporter: LedgerReporter) -> Iterator[_Ledger]:
    """Hold a ledger: another run that wants it waits.

    Raises CommandError if it cannot be held or read.
    """
    if path == STANDARD:
        raise CommandError("a ledger is a Parquet file; give its name.")
    place = checked_target(path, replace=True)
    # SQLite holds its file on every system, and lets go of it when the process ends.
    lock = place.with_name(f".{place.name}.lock")
    try:
        with closing(sqlite3.connect(lock, timeout=_PATIENCE, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            book = _Ledger(path, place, reporter)
            try:
                yield book
            except BaseException as error:
                if book.is_changed:
                    error.add_note(
                        f"The reports are not complete, but the ledger {path} may have the entries "
                        "of this run: another run gives the reports that are in the ledger."
                    )
                raise
    except sqlite3.Error as error:
        raise CommandError(
            f"{path}: another run holds the ledger, or {lock.name} cannot be written ({error}). "
            "Nothing was reported."
        ) from None


class _Ledger:
    """A ledger that this run alone has: what it knows of persons, and the entries of this run."""

    def __init__(self, path: str, place: Path, reporter: LedgerReporter) -> None:
        self._path, self._place, self._reporter = path, place, reporter
        self.is_changed = False  # or may be
        self._limit = str(reporter.max_reports).encode()  # what the first run had
        self._new: list[tuple[Any, Any]] = []  # holders and reports
        self._n_rows = self._n_left_out = 0
        self._persons = self._read()

    def output_schema(self, schema: Any, *, with_epoch: bool) -> Any:
        """Return the columns of what leaves, from those of the candidates."""
        import pyarrow as pa

        own = schema.set(1, schema.field(1).with_name(REPORT))  # which were candidates
        holder = own.get_field_index("holder")
        return own.set(holder, pa.field("epoch", pa.int64())) if with_epoch else own.remove(holder)

    def settle(self, batch: Any, schema: Any) -> Any:
        """Return what may leave of a batch of candidates, and note its new entries."""
        import pyarrow as pa

        candidates, holders = numbers_of(batch["candidate"]), octets_of(batch["holder"])
        known, place = self._persons, self._persons.places(holders)
        is_new = known.may_report[place]
        reports = np.where(is_new, candidates, known.report[place])
        epochs = np.where(is_new, np.int64(self._reporter.epoch), known.epoch[place])
        self._new.append((holders[is_new], candidates[is_new]))
        stays = epochs >= 0
        self._n_rows += len(stays)
        self._n_left_out += len(stays) - int(np.count_nonzero(stays))
        made = {REPORT: arrow_numbers(reports.astype(candidates.dtype)), "epoch": epochs}
        columns = [made[name] if name in made else batch.column(name) for name in schema.names]
        found = pa.RecordBatch.from_arrays([pa.array(own) for own in columns], schema=schema)
        return found if stays.all() else found.filter(pa.array(stays))

    def enter(self, inputs: Sequence[str | None]) -> None:
        """Write the new entries, before anything leaves."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._n_left_out:
            warnings.warn(
                f"{self._n_left_out:,} of {self._n_rows:,} records were left out: these persons "
                f"have no report left in the ledger {self._path} (--max-reports "
                f"{self._reporter.max_reports}).",
                UserWarning,
                stacklevel=2,
            )
        if not any(len(reports) for _, reports in self._new):
            return
        tell("entering the reports into the ledger")
        self.is_changed = True
        one, schema = self._reporter, self._reporter.schema()
        own = schema.with_metadata({_LIMIT: self._limit})
        same = {"key": one.ledger_key_check, "epoch": one.epoch, "digest": one.digest}
        with (
            new_file(self._path, inputs=inputs, replace=True, mode=0o600) as file,
            pq.ParquetWriter(file, own, compression="zstd") as sink,
        ):
            for batch in self._batches():
                sink.write_table(pa.Table.from_batches([batch]).cast(own))
            for holders, reports in self._new:
                columns: dict[str, Any] = {name: [of] * len(reports) for name, of in same.items()}
                columns["holder"] = holders_of(holders)
                columns["report"] = reports
                sink.write_table(pa.table({name: columns[name] for name in own.names}, own))
        if os.name == "posix":  # else the name might be lost with the power, and the reports not
            folder = os.open(self._place.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _batches(self) -> Iterator[Any]:
        """Yield the entries as they are in the file, if there is one."""
        import pyarrow.parquet as pq

        if self._place.exists():
            with pq.ParquetFile(self._place, pre_buffer=False) as file:  # else all is in memory
                yield from file.iter_batches(columns=self._reporter.schema().names)

    def _read(self) -> Persons:
        """Read what the file knows, if there is one."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        one, limit = self._reporter, None
        try:
            of_file = pq.read_metadata(self._place)
            limit = (of_file.metadata or {}).get(_LIMIT)
            persons = Persons.of(one, self._batches(), of_file.num_rows)
        except FileNotFoundError:
            warnings.warn(
                f"there is no ledger {self._path}: a new one begins, which knows of no report "
                "given before.",
                UserWarning,
                stacklevel=2,
            )
            persons = Persons.of(one, (), 0)
        except (KeyError, pa.ArrowException, OSError):
            raise CommandError(
                f"{self._path} is no ledger, or cannot be read: a Parquet file with the columns "
                f"{', '.join(one.schema().names)}. Restore it. Nothing was reported."
            ) from None
        if limit is not None and limit != self._limit:
            warnings.warn(
                f"the ledger {self._path} began with --max-reports {limit.decode()}, and "
                f"this run has {one.max_reports}: the bound on several reports is for one number. "
                f"Give --max-reports {limit.decode()}.",
                UserWarning,
                stacklevel=2,
            )
            self._limit = limit
        return persons


# --- skrldp report --------------------------------------------------------------------------------


REPORT = "report"  # the column of the reports
BLOCK = "block"  # that of the blocks, if they are those of a manifest


def report(
    mechanism: o.MechanismFile,
    records: Annotated[str, o.argument("RECORDS", f"The private records: {o.TABLE}")],
    *,
    output: o.Output = STANDARD,
    id: Annotated[
        str | None, o.option("--id COLUMN", "Whom a record is about: the same id, the same report.")
    ] = None,
    key: Annotated[
        str | None, o.option("--key FILE", "The secret key, as skrldp key wrote it.")
    ] = None,
    key_check: Annotated[
        str | None,
        o.option("--key-check DIGITS", "What skrldp key printed: another key is refused."),
    ] = None,
    ledger: Annotated[
        str | None,
        o.option("--ledger FILE", "Parquet file that remembers who reported; made if not there."),
    ] = None,
    max_reports: Annotated[
        int | None,
        o.option(
            "--max-reports K", "Most reports about a person in the ledger. 1 if not given.", min=1
        ),
    ] = None,
    epoch: Annotated[
        int | None,
        o.option("--epoch N", "The round of reports in the ledger, from 0 upwards.", min=0),
    ] = None,
    keep: Annotated[
        o.Names, o.option("--keep COLUMN", "A column that leaves as it is, unprotected; repeat it.")
    ] = None,
    missing: o.Missing = None,
) -> None:
    """Report private records.

    Writes a column "report" with a whole number for each record, in the records' order: what may
    leave in their place. All records are reported or none. Of a manifest, there is a column
    "block", too: which block of columns the report is about. Both leave together.

    Without a key every run draws anew, so a second run is a second report about each person, and
    two reports tell more than one: inspect says how much. With --id and a key the reports are the
    same in every run, as long as key, mechanism and record are. With a ledger, too, people report
    at most K times whatever changes: a first report is repeated, and those who have no report left
    are left out.
    """
    import pyarrow as pa

    limits = {"max_reports": max_reports, "epoch": epoch}
    limits = {name: given for name, given in limits.items() if given is not None}
    if (id is None) != (key is None):
        raise CommandError(
            "reports that stay the same need both --id, the column that says whom a record is "
            "about, and --key. Without both, every run draws anew."
        )
    if id is None and (key_check is not None or ledger is not None):
        raise CommandError("--key-check and --ledger go with --id and --key.")
    if limits and ledger is None:
        raise CommandError("--max-reports and --epoch go with --ledger.")
    if [mechanism, records, key].count(STANDARD) > 1 or key == STANDARD:
        raise CommandError("one table or one mechanism comes from standard input, and no key.")

    own, kept = read_mechanism(mechanism), keep or []
    reader = reader_of(own)
    needed = list(reader.known)
    # Else the key is one of this run alone, and the ids are the rows' numbers.
    secret = secrets.token_bytes(_BYTES) if key is None else _key(key, key_check)
    rows = new_name([*needed, *kept, BLOCK, REPORT])
    options = {"id": id or rows, "key": secret, "keep": kept, "name": REPORT}
    reporter = _reporter_of(own, options, None if ledger is None else limits)
    ids, inputs = [] if id is None else [id], [mechanism, records, key, ledger]
    kind_of(output, packed=False)  # a name that does not tell is said before anything is read
    with (
        nullcontext() if ledger is None else held(ledger, reporter) as book,
        new_file(output, inputs=inputs) as file,
    ):
        table = Table(records, [*ids, *needed, *kept])
        batches = progress(table.batches(of_one_line=[*ids, *kept]), records)
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
            schema = book.output_schema(schema, with_epoch="epoch" in limits)
            reports = (book.settle(batch, schema) for batch in reports)
        with table_writer(file, output, schema) as sink:
            for batch in reports:
                sink.write_batch(batch)
        if book is not None:
            book.enter(inputs[:-1])
    if id is not None and ledger is None and key_check is None:
        warnings.warn(
            "this key was not checked against earlier runs; with another key every person "
            f"would report a second time. Add --key-check {check_of(secret)} in later runs.",
            UserWarning,
            stacklevel=1,
        )


def _numbered(batches: Iterable[Any], name: str) -> Iterator[Any]:
    """Give batches a column with the numbers of their rows."""
    import pyarrow as pa

    first = 0
    for batch in batches:
        rows = arrow_numbers(np.arange(first, first + len(batch)))
        yield pa.RecordBatch.from_arrays([*batch.columns, rows], [*batch.schema.names, name])
        first += len(batch)


def _key(path: str, wanted: str | None) -> bytes:
    key = KeyFile(path).read()
    if wanted is not None and wanted.strip().lower() != check_of(key):
        raise CommandError(
            f"the key is another one than that of --key-check: its digits are {check_of(key)}. "
            "Reports with another key are second reports about the same persons."
        )
    return key


def _reports(
    batches: Iterable[Any], reporter: Reporter, id: str | None, path: str
) -> Iterator[Any]:
    """Yield the reports of each batch; the last only if no id is there twice."""
    make, numbers = placed(partial(reported, reporter), path), [np.zeros(0, np.uint64)]
    for batch in batches:
        made, hashes = make(batch)
        if id is not None:
            numbers.append(hashes)
        yield made
    _refuse_same(numbers, id, path)


def _refuse_same(numbers: list[Any], id: str | None, path: str) -> None:
    """Raise an error if an id is in two rows, which have one number then.

    Of 10⁸ texts, two have one by chance with a probability of 0.0003.
    """
    every = np.concatenate(numbers)
    numbers.clear()
    if any_twice(every):
        order = np.argsort(every, kind="stable")
        place = np.flatnonzero(np.diff(every[order]) == 0)[0]
        first, second = order[place : place + 2]
        raise CommandError(
            f"{path}: rows {first:,} and {second:,} (counted from 0) have the same id in column "
            f"{id!r}, and so may others. A report is about one record of each id: keep one row for "
            "each."
        )
