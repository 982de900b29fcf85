"""``skrldp report``: private records in, reports out.

With :func:`key` for reports that stay the same, and the file in which reports are counted.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from skrldp.batches import KeyFile
from skrldp.batches import key_check as check_of
from skrldp.batches.arrow import arrow_numbers, bare, numbers_of, on_its_own, own_type
from skrldp.cli import _common as o
from skrldp.cli._common import CommandError, progress, tell
from skrldp.cli._mechanism import needed_columns, placed, read_mechanism, read_records, values_of
from skrldp.cli._tables import STANDARD, Table, kind_of, new_file, table_writer
from skrldp.client import BlockClient, Client
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skrldp.batches import LedgerReporter


# --- skrldp key -----------------------------------------------------------------------------------


_BYTES = 32


def key(file: Annotated[str, o.argument("FILE", "The new file.")]) -> None:
    """Make a secret key for reports that stay the same.

    Writes 32 random bytes in hexadecimal into a new file that its owner alone may read, and prints
    16 digits by which the key is known, for report --key-check. Whoever has the key can undo the
    randomness of the reports; the digits tell nothing. Keep the key where the records are, and as
    long as the reports are to stay the same.
    """
    from skrldp.batches import KeyFile, key_check

    if file == STANDARD:
        raise CommandError("a key is not written to standard output; give the name of a file.")
    if os.path.lexists(file):
        raise CommandError(
            f"{file} exists, and a key in it may be in use: another key reports everybody a second "
            "time. Give another name."
        )
    with new_file(file, mode=0o600) as target:
        target.write(secrets.token_hex(_BYTES).encode() + b"\n")
    print(key_check(KeyFile(file)))


# --- The file in which reports are counted --------------------------------------------------------


_PATIENCE = 60.0  # seconds to wait for another run that uses the ledger
_LIMIT = b"skrldp max_reports"  # what the first run had, in the file's metadata


def keyed(
    mechanism: Mechanism | Manifest,
    options: dict[str, Any],
    ledger: str | None,
    limits: Mapping[str, Any],
) -> Any:
    """Return the reporter of keyed reports."""
    from skrldp.batches import BlockReporter, LedgerReporter, Reporter

    if isinstance(mechanism, Manifest):
        if ledger is not None:
            raise CommandError(
                "--ledger is for single mechanisms. Of a manifest, --id and a key give each person "
                "one block for ever; keep the key, and give its digits as --key-check."
            )
        return BlockReporter(mechanism, **options)
    if ledger is None:
        return Reporter(mechanism, **options)
    return LedgerReporter(mechanism, **options, **limits)


@contextmanager
def held(path: str, reporter: LedgerReporter) -> Iterator[_Ledger]:
    """Hold a ledger: another run that wants it waits.

    Raises CommandError if it cannot be held or read.
    """
    if path == STANDARD:
        raise CommandError("a ledger is a Parquet file; give its name.")
    place = Path(path).resolve()
    if not place.parent.is_dir():
        raise CommandError(f"{path}: there is no folder {place.parent}; make it first.")
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
    """A ledger that this run alone has: what it knows of persons, and the entries of this run.

    It does what the reporter's `entries` and `reports` do with tables, but batch by batch.
    """

    def __init__(self, path: str, place: Path, reporter: LedgerReporter) -> None:
        self._path, self._place, self._reporter = path, place, reporter
        self.is_changed = False  # or may be
        self._limit = str(reporter.max_reports).encode()  # what the first run had
        self._new: list[tuple[Any, Any]] = []  # holders and reports
        self._n_rows = self._n_left_out = 0
        self._persons = _Persons.of(self._read(), reporter)

    def output_schema(self, schema: Any, *, with_epoch: bool) -> Any:
        """Return the columns of what leaves, from those of the candidates."""
        import pyarrow as pa

        fields = {field.name: field for field in schema}
        person, report = fields.pop(schema.names[0]), fields.pop("candidate").with_name(REPORT)
        del fields["holder"]
        epoch = [pa.field("epoch", pa.int64())] if with_epoch else []
        return pa.schema([person, report, *epoch, *fields.values()])

    def settle(self, batch: Any, schema: Any) -> Any:
        """Return what may leave of a batch of candidates, and note its new entries."""
        import pyarrow as pa

        candidates, holders = numbers_of(batch.column("candidate")), _octets(batch.column("holder"))
        reports, epochs, is_new = self._persons.settle(holders, candidates)
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
                f"{self._n_left_out:,} of {self._n_rows:,} records were left out: the ledger "
                f"{self._path} has as many reports about these persons as there may be "
                f"(--max-reports {self._reporter.max_reports}), and none of this mechanism.",
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
                columns["holder"] = [octets.hex() for octets in holders.view("V16").tolist()]
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
            with pq.ParquetFile(self._place) as file:
                yield from file.iter_batches(columns=self._reporter.schema().names)

    def _read(self) -> list[Any]:
        """Read the entries: holders, digests by number, epochs, reports; one array of each."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        one, schema = self._reporter, self._reporter.schema()
        digests, start = {one.digest: 0}, 0
        kinds = ("S16", np.int32, np.int64, np.int64)
        try:
            of_file = pq.read_metadata(self._place)
            limit = (of_file.metadata or {}).get(_LIMIT)
            found = [np.empty(of_file.num_rows, kind) for kind in kinds]
            for batch in self._batches():
                own = {field.name: batch.column(field.name).cast(field.type) for field in schema}
                if not pc.all(pc.equal(own["key"], one.ledger_key_check), skip_nulls=False).as_py():
                    raise CommandError(
                        f"the ledger {self._path} has entries under another key: it would know "
                        "nobody. Report with the key with which it began."
                    )
                if any(column.null_count for column in own.values()):
                    raise ValueError
                numbers = pc.dictionary_encode(own["digest"])
                known = numbers.dictionary.to_pylist()
                places = [digests.setdefault(digest, len(digests)) for digest in known]
                code = np.array(places, np.int32)[numbers_of(numbers.indices)]
                report = numbers_of(own["report"])
                if ((code == 0) & ((report < 0) | (report >= one.mechanism.shape[0]))).any():
                    raise ValueError
                columns = _octets(own["holder"]), code, numbers_of(own["epoch"]), report
                for whole, part in zip(found, columns, strict=True):
                    whole[start : start + len(part)] = part
                start += len(batch)
        except FileNotFoundError:
            warnings.warn(
                f"there is no ledger {self._path}: a new one begins, which knows of no report "
                "given before.",
                UserWarning,
                stacklevel=2,
            )
            limit, found = None, [np.empty(0, kind) for kind in kinds]
        except (KeyError, ValueError, pa.ArrowException, OSError):
            raise CommandError(
                f"{self._path} is no ledger, or cannot be read, or was changed: a Parquet file "
                f"with the columns {', '.join(schema.names)}. Restore it. Nothing was reported."
            ) from None
        if limit is not None and limit != self._limit:
            warnings.warn(
                f"the ledger {self._path} began with --max-reports {limit.decode()}, and "
                f"this run has {one.max_reports}. What several reports leak together is "
                "bounded for mechanisms that were all used with the same number.",
                UserWarning,
                stacklevel=2,
            )
            self._limit = limit
        return found


class _Persons(NamedTuple):
    """What a ledger knows of persons, sorted by their keyed ids; the last is a person it lacks."""

    first: NDArray[np.uint64]  # the first half of the keyed id
    holder: NDArray[np.bytes_]  # the keyed id
    may_report: NDArray[np.bool_]  # whether a report is left for this design and epoch
    epoch: NDArray[np.int64]  # of the latest report of this design up to this epoch; -1: none
    report: NDArray[np.int64]  # that report
    now: int  # this epoch

    @classmethod
    def of(cls, entries: list[NDArray[Any]], reporter: LedgerReporter) -> _Persons:
        """Sum up entries, and empty their list; those that were written twice count once."""
        order = np.argsort(_first_half(entries[0]))
        if (np.diff(_first_half(entries[0])[order]) == 0).any():  # else each person has one entry
            order = np.lexsort(entries[::-1])
        holder, code, epoch, report = (entries.pop(0)[order] for _ in range(4))
        is_first, is_once = np.ones((2, len(holder)), bool)
        is_first[1:] = holder[1:] != holder[:-1]
        is_once[1:] = is_first[1:]
        for own in (code, epoch, report):
            is_once[1:] |= own[1:] != own[:-1]
        begins, person = np.flatnonzero(is_first), np.cumsum(is_first) - 1
        given = np.bincount(person, weights=is_once, minlength=len(begins))
        epoch[(code != 0) | (epoch > reporter.epoch)] = -1
        latest = np.maximum.reduceat(epoch, begins) if len(epoch) else epoch
        report[(epoch < 0) | (epoch != latest[person])] = np.iinfo(np.int64).max
        least = np.minimum.reduceat(report, begins) if len(report) else report
        may = (latest != reporter.epoch) & (given < reporter.max_reports)
        holder = np.append(holder[begins], b"")
        more = np.append(may, True), np.append(latest, -1), np.append(least, -1)
        return cls(_first_half(holder), holder, *more, reporter.epoch)

    def settle(
        self, holders: NDArray[np.bytes_], candidates: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Return reports, their epochs (-1: none may leave), and which of them are new."""
        first, nobody = _first_half(holders), len(self.holder) - 1
        order = np.argsort(first)  # searched in order, the cache has what is next
        place = np.empty(len(first), int)
        place[order] = np.searchsorted(self.first[:-1], first[order])
        is_other = self.holder[place] != holders
        while (step := is_other & (place < nobody) & (self.first[place] == first)).any():
            place += step  # past another person with the same first half
            is_other = self.holder[place] != holders
        place[is_other] = nobody
        is_new = self.may_report[place]
        epoch = np.where(is_new, self.now, self.epoch[place])
        return np.where(is_new, candidates, self.report[place]), epoch, is_new


def _first_half(holders: NDArray[np.bytes_]) -> NDArray[np.uint64]:
    return holders.view(">u8")[::2].astype(np.uint64)


def _octets(holders: Any) -> NDArray[np.bytes_]:
    """Read keyed ids, written in hexadecimal; ValueError if one is not."""
    texts = holders.to_pylist()
    octets = b"".join(map(bytes.fromhex, texts))
    if len(octets) != 16 * len(texts) or any(len(text) != 32 for text in texts):
        raise ValueError
    return np.frombuffer(octets, "S16")


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
    needed = needed_columns(own)
    if id is None:
        reporter: Any = _Fresh(own, needed, kept)
    else:
        secret = _key(str(key), key_check)
        options = {"id": id, "key": secret, "keep": kept, "name": REPORT}
        reporter = keyed(own, options, ledger, limits)
    ids, inputs = [] if id is None else [id], [mechanism, records, key, ledger]
    kind_of(output, packed=False)  # a name that does not tell is said before anything is read
    with (
        nullcontext() if ledger is None else held(ledger, reporter) as book,
        new_file(output, inputs=inputs) as file,
    ):
        table = Table(records, [*ids, *needed, *kept])
        schema = reporter.output_schema(table.schema)
        batches = progress(table.batches(of_one_line=[*ids, *kept]), records)
        read = read_records(own, table, needed, missing or [], batches)
        reports = _reports(read, reporter.report_batch, id, records)
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
            "this key was not checked against earlier runs; with another key everybody would "
            f"report a second time. Add --key-check {check_of(secret)} in later runs.",
            UserWarning,
            stacklevel=1,
        )


def _key(path: str, wanted: str | None) -> bytes:
    key = KeyFile(path).read()
    if wanted is not None and wanted.strip().lower() != check_of(key):
        raise CommandError(
            f"the key is another one than that of --key-check: its digits are {check_of(key)}. "
            "Reports with another key are second reports about the same persons."
        )
    return key


def _reports(
    batches: Iterable[Any], work: Callable[[Any], Any], id: str | None, path: str
) -> Iterator[Any]:
    """Yield the reports of each batch; the last only if no id is there twice."""
    make, seen = placed(work, path), _Ids(id, path)
    for batch in batches:
        try:
            made = make(batch)
        except CommandError:
            if id is not None and not batch.column(id).null_count:
                seen.add(batch)
                seen.check()  # which says in which rows of the table the same id is
            raise
        seen.add(batch)
        yield made
    seen.check()


class _Ids:
    """Finds ids that occur in several rows, by numbers of 64 bits, which are kept.

    Those of whole numbers differ; those of texts and bytes are Python's hashes, by which two
    different ids of 10⁸ are taken for one with a probability of 0.0003.
    """

    def __init__(self, column: str | None, path: str) -> None:
        self._column, self._path = column, path
        self._numbers: list[Any] = []

    def add(self, batch: Any) -> None:
        """Note the ids of a batch."""
        import pyarrow as pa

        if self._column is None:
            return
        ids = bare(batch.column(self._column))
        if pa.types.is_integer(ids.type):
            own = numbers_of(ids).astype(np.int64)
        else:
            own = np.fromiter(map(hash, ids.to_pylist()), np.int64, len(ids))
        self._numbers.append(own)

    def check(self) -> None:
        """Raise an error if an id was noted twice."""
        numbers = np.concatenate([np.zeros(0, np.int64), *self._numbers])
        order = np.argsort(numbers, kind="stable")
        twice = np.flatnonzero(np.diff(numbers[order]) == 0)
        if len(twice):
            first, second = order[twice[0]], order[twice[0] + 1]
            raise CommandError(
                f"{self._path}: rows {first:,} and {second:,} (counted from 0) have the same id in "
                f"column {self._column!r}, and so may others. A report is about one record of each "
                "id: keep one row for each."
            )


class _Fresh:
    """Draws reports anew; the shape of `skrldp.batches.Reporter`.

    Parameters
    ----------
    mechanism : Mechanism or Manifest
    columns : sequence of str
        Those that the mechanism reads.
    keep : sequence of str
        Those that are passed on.
    """

    def __init__(
        self, mechanism: Mechanism | Manifest, columns: Sequence[str], keep: Sequence[str]
    ) -> None:
        self._client: Any
        if isinstance(mechanism, Manifest):
            self._client, self._names = BlockClient(mechanism), [BLOCK, REPORT]
        else:
            self._client, self._names = Client(mechanism), [REPORT]
        self._columns, self._keep = columns, list(keep)
        self._types = [own.dtype for own in self._made({name: [] for name in columns})]
        own = {name for name, _ in self._client.columns}
        for name in keep:
            if name in own or name in self._names:
                why = "is reported" if name in own else "is a column of the reports"
                raise CommandError(
                    f"--keep {name}: this column {why}, so it cannot be passed on as it is."
                )

    def output_schema(self, schema: Any) -> Any:
        """Return the columns of the reports."""
        import pyarrow as pa

        kept = [(name, own_type(schema.field(name).type)) for name in self._keep]
        own = zip(self._names, self._types, strict=True)
        return pa.schema([*((name, pa.from_numpy_dtype(one)) for name, one in own), *kept])

    def report_batch(self, batch: Any) -> Any:
        """Report the records of a batch."""
        import pyarrow as pa

        made = self._made(values_of(batch, self._columns))
        kept = (on_its_own(batch.column(name)) for name in self._keep)
        columns = [*map(arrow_numbers, made), *kept]
        return pa.RecordBatch.from_arrays(columns, schema=self.output_schema(batch.schema))

    def _made(self, records: Any) -> list[Any]:
        """Return the numbers of records' reports, and before them those of the blocks."""
        made = self._client.report_many(records)
        return list(made) if len(self._names) > 1 else [made]
