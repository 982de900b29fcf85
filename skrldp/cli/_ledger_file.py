"""A ledger: the DuckDB file that records each person's reports."""

from __future__ import annotations

import json
import math
import os
import re
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.batches import LedgerReporter
from skrldp.batches.arrow import arrow_numbers, bare, numbers_of, octets_in
from skrldp.batches.ledger_reporter import IS_NEW, SETTLED, SETTLED_AT, digests_of_ledger, settled
from skrldp.claims_in_words import brief_bound
from skrldp.cli._common import CommandError, heed_signals, tell
from skrldp.cli._files import checked_target, new_file
from skrldp.cli._tables import STANDARD

if TYPE_CHECKING:
    from numpy.typing import NDArray

_VERSION = 1
_DOMAIN = b"skrldp ledger file, version 1\0"
_TABLES = """
CREATE TABLE settings (version INTEGER, key_check VARCHAR, max_reports BIGINT, parts BLOB,
  seal BLOB);
CREATE TABLE designs (design UINTEGER, digest VARCHAR, secret VARCHAR, eps DOUBLE, eps_all DOUBLE);
CREATE TABLE reports (part UTINYINT NOT NULL, holder UUID NOT NULL, epoch BIGINT NOT NULL,
  design UINTEGER NOT NULL, report UINTEGER NOT NULL);
"""
# Rows with the same first byte of the holder form a part, whose keyed digests are summed. A run
# therefore reads and checks only the parts that contain its people.
_N_PARTS = 256
_MAGIC = b"DUCK"  # in DuckDB files, after eight bytes
_CONFIG: dict[str, Any] = {
    "storage_compatibility_version": "v1.5.0",  # the oldest version that reads the file
    "memory_limit": "50MB",  # enough for reading; a run of many rows uses more
    "threads": 2,
    "arrow_lossless_conversion": True,  # UUIDs are 16 bytes
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
_MEMORY = "100MB"  # for a run of many rows
_CHUNK = 1 << 18  # candidates that are settled at a time by one scan of the ledger
_ROWS = 1 << 16  # rows of the ledger checked at a time
WAIT = 60.0  # maximum wait in seconds for another process that uses a ledger
_PAUSE = 0.2  # seconds between attempts to open a ledger that another process uses


def is_ledger(path: str) -> bool:
    """Whether a file is a DuckDB file, by its first bytes."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read(12)[8:] == _MAGIC
    return False


@contextmanager
def opened_ledger(path: str, wait: float, *, read_only: bool = False) -> Iterator[Ledger]:
    """Open a ledger with exclusive access; create it if it does not exist.

    Raises CommandError if it is not a ledger, or another process still uses it after `wait` s.
    """
    import duckdb

    if path == STANDARD:
        raise CommandError("a ledger is a DuckDB file; pass its name.")
    file, book = checked_target(path, may_exist=True), None
    try:
        if not file.exists():
            _create(path, file)
        with _connected(file, path, wait, read_only) as engine, TemporaryDirectory() as folder:
            engine.execute(f"SET temp_directory = '{folder}'")  # accessible only to its owner
            engine.execute("SET enable_progress_bar = false")  # it goes to standard output
            book = Ledger(path, engine)
            yield book
    except BaseException as error:
        raised, is_changed = error, book is not None and book.is_changed
        # As in DuckDB's message
        if isinstance(error, RuntimeError) and "interrupted" in str(error):
            raised = KeyboardInterrupt()
        elif isinstance(error, duckdb.Error):
            ending = "" if is_changed else " Nothing was reported."
            raised = CommandError(f"{path} {_problem(str(error))}{ending}")
        if is_changed:
            raised.add_note(
                f"The reports are not complete, but the ledger {path} may have the entries of this "
                "run: run again to obtain the reports that are in the ledger."
            )
        raise raised from None


def _create(path: str, target: Path) -> None:
    """Create an empty ledger atomically, with access only for its owner."""
    import duckdb

    with TemporaryDirectory() as folder:
        new = Path(folder, "ledger")
        with duckdb.connect(new, config=_CONFIG) as engine:
            engine.execute(_TABLES)
        try:
            with new_file(path, mode=0o600) as file:
                file.write(new.read_bytes())
        except CommandError:
            if not target.exists():  # otherwise another process was first
                raise
    # Otherwise the name might be lost in a power failure, but not the reports
    if os.name == "posix":
        parent = os.open(target.parent, os.O_RDONLY)
        os.fsync(parent)
        os.close(parent)


def _connected(file: Path, path: str, wait: float, read_only: bool) -> Any:
    """Connect to a DuckDB file as soon as no other process uses it."""
    import duckdb

    until, user = time.monotonic() + wait, ""
    while True:
        try:
            return duckdb.connect(file, read_only, config=_CONFIG)
        except duckdb.IOException as error:
            if not re.search(r"set lock|used by another", str(error)):
                raise
            number = re.search(r"PID \d+", str(error))
        is_told = bool(user)
        user = f"another process ({number[0]})" if number else "another process"
        if time.monotonic() >= until:
            raise CommandError(
                f"{user} uses the ledger {path}. Run again when it has ended, or wait longer with "
                "--wait SECONDS. Nothing was reported."
            )
        if not is_told:
            words = f"{user} uses the ledger {path}; waiting up to {wait:g} s."
            warnings.warn(words, UserWarning, stacklevel=2)
        time.sleep(_PAUSE)


def _problem(message: str) -> str:
    for words in ("No space left on device", "File too large", "Permission denied"):
        if words in message:
            return f"cannot be written: {words}."
    if "Out of Memory" in message:
        return f"needs more than {_MEMORY} of memory."
    return (
        "is damaged, or is not a ledger, which is a DuckDB file that report --ledger created. "
        "Restore it from a copy."
    )


class Ledger:
    """A ledger to which this process has exclusive access."""

    def __init__(self, path: str, engine: Any) -> None:
        self._path, self._engine = path, engine
        self.is_changed = False  # or may be
        settings = engine.execute("FROM settings").fetchall()
        designs = engine.execute("SELECT * EXCLUDE (design) FROM designs ORDER BY design")
        self.designs = designs.fetchall()
        new: Any = (_VERSION, None, None, bytes(24 * _N_PARTS), None)
        version, self.key_check, self.max_reports, parts, self._seal = (settings or [new])[0]
        if version != _VERSION:
            raise CommandError(
                f"{path} is a ledger of version {version}, and this skrldp reads version "
                f"{_VERSION}. Update skrldp. Nothing was reported."
            )
        if not settings:
            warnings.warn(
                f"there is no ledger {path}: a new one is created, without any earlier reports.",
                UserWarning,
                stacklevel=2,
            )
        # (256, 3): the number of rows, and the two halves of the sum of their digests
        self._parts = np.frombuffer(parts or b"", "<u8").reshape(-1, 3)
        self._checked_parts: set[int] = set()

    def bound(self, reports: int) -> float:
        """Bound the joint leakage of this many reports about a person, over all designs."""
        bounds = (eps + (reports - 1) * eps_further for _, _, eps, eps_further in self.designs)
        return math.nextafter(max(bounds, default=0.0), math.inf)

    def limit(self, required: int | None, *, is_raised: bool) -> int:
        """Return the maximum number of reports about each person in the ledger.

        Raises CommandError or ValueError if this number was not agreed on, or has no bound.
        """
        limit = self.max_reports
        if limit is None or required in (None, limit):
            return required or limit or 1
        if required < limit:
            raise CommandError(
                f"the ledger {self._path} has --max-reports {limit}, and that many reports "
                f"may already have been made: {required} is too few. Omit it."
            )
        if math.isinf(bound := self.bound(required)):
            raise CommandError(
                f"the ledger {self._path} counts reports of a mechanism that bounds one report "
                f"about each person, not {required}. Omit --max-reports."
            )
        if not is_raised:
            raise CommandError(
                f"the ledger {self._path} has --max-reports {limit}, and {required} would let "
                f"{required} reports about a person leak {brief_bound(bound)} together. Omit it, "
                "or add --raise-max-reports."
            )
        return required

    def figures(self) -> dict[str, Any]:
        """Count people and reports without the key, so that nothing is verified."""
        people = "SELECT count(*) FROM (SELECT DISTINCT holder FROM reports)"
        counts = "SELECT design, epoch, count(*) FROM reports GROUP BY ALL ORDER BY ALL"
        reports = self._engine.execute(counts).fetchall()
        bound = None if self.max_reports is None else self.bound(self.max_reports)
        return {
            "max_reports": self.max_reports,
            "bound": bound,
            "people": self._engine.execute(people).fetchall()[0][0],
            "key_check": self.key_check,
            "designs": {
                digest: {
                    "secret": json.loads(secret),
                    "reports": {str(epoch): n for number, epoch, n in reports if number == design},
                }
                for design, (digest, secret, *_) in enumerate(self.designs, 1)
            },
        }

    def begin(self, reporter: LedgerReporter) -> None:
        """Check the ledger's seal, and begin a transaction.

        Raises CommandError if the ledger has a different key or secret, or was changed.
        """
        claims, key_check = reporter.mechanism.claims, reporter.ledger_key_check
        if self.key_check not in (None, key_check):
            raise CommandError(
                f"{self._path} contains reports under a different key, so nobody would be "
                f"recognised. Report with the key whose check digits are {self.key_check}."
            )
        self._reporter, self._n_rows, self._n_left_out = reporter, 0, 0
        self._digests = digests_of_ledger(reporter, _DOMAIN)
        [(n_rows,)] = self._engine.execute("SELECT count(*) FROM reports").fetchall()
        is_sealed = self._seal == self._sealed() if self._seal else not self.designs
        self._refuse_changes(is_same=is_sealed and n_rows == self._parts[:, 0].sum())
        secret = json.dumps(sorted(claims.main.secret))
        for _, protected, *_ in self.designs:
            if protected != secret:
                raise CommandError(
                    f"{self._path} counts reports about {protected}, but this mechanism protects "
                    f"{secret}, and no bound holds for both together. Start a new ledger."
                )
        self._engine.begin()
        self.key_check, self.max_reports = key_check, reporter.max_reports
        digests = [digest for digest, *_ in self.designs]
        if reporter.digest not in digests:
            digests.append(reporter.digest)
            self.designs.append((reporter.digest, secret, claims.eps, claims.eps_worst_case))
            values = (len(digests), *self.designs[-1])
            self._engine.execute("INSERT INTO designs VALUES (?, ?, ?, ?, ?)", values)
        design = 1 + digests.index(reporter.digest)
        self._design, self._epoch = design, reporter.epoch

    def _checked(self, candidates: Any) -> Any:
        """Return the rows of the candidates' parts, after checking each part once."""
        parts = [part for (part,) in candidates.project("part").distinct().fetchall()]
        if new := sorted(set(parts) - self._checked_parts):
            tell("checking the ledger")
            is_same = np.array_equal(self._digested(self._rows_of(new))[new], self._parts[new])
            self._refuse_changes(is_same=is_same)
            self._checked_parts.update(new)
        return self._rows_of(parts)

    def _rows_of(self, parts: list[int]) -> Any:
        return self._engine.table("reports").filter(f"part IN ({', '.join(map(str, parts))})")

    def _refuse_changes(self, *, is_same: bool) -> None:
        if not is_same:
            raise CommandError(
                f"{self._path} is damaged, or was changed by another program: it does not match "
                "its keyed digest. Restore a copy that contains all reports. Nothing was reported."
            )

    def _digested(self, rows: Any) -> NDArray[np.uint64]:
        """Count the rows and sum their keyed digests (256, 3), each of a design and 32 bytes."""
        totals = np.zeros((3, _N_PARTS), "<u8")
        relation = rows.project("part, holder, epoch, report::UBIGINT AS report, design")
        for batch in relation.to_arrow_reader(_ROWS):
            octets = np.empty((len(batch), 4), "<u8")
            octets[:, :2] = octets_in(bare(batch["holder"])).octets.view("<u8").reshape(-1, 2)
            for column, name in ((2, "epoch"), (3, "report")):
                octets[:, column] = numbers_of(batch[name])
            digests = self._digests(octets, numbers_of(batch["design"]))
            parts = numbers_of(batch["part"])
            totals[0] += np.bincount(parts, minlength=_N_PARTS).astype("<u8")
            for half in (0, 1):
                np.add.at(totals[1 + half], parts, digests[:, half])
        return totals.T

    def _sealed(self) -> bytes:
        """Compute the keyed digest of the settings, the designs and the parts."""
        settings = [_VERSION, self.key_check, self.max_reports, self._parts.tobytes().hex()]
        octets = np.array([json.dumps([settings, self.designs]).encode()])
        return bytes(self._digests(octets, np.zeros(1, np.uint8)).tobytes())  # for no design

    def settle(self, batches: Iterable[Any], schema: Any) -> Iterator[Any]:
        """Yield the reports that may leave for batches of candidates, and insert entries."""
        import pyarrow as pa

        engine, design, epoch = self._engine, self._design, self._epoch
        for table in _in_chunks(batches):
            if len(table) > _ROWS:
                engine.execute(f"SET memory_limit = '{_MEMORY}'")
            # DuckDB finds tables by the names of variables; registered ones would remain in memory.
            made = {name: table[name] for name in ("holder", "candidate")}
            numbered = pa.table(made | {"row": arrow_numbers(np.arange(len(table)))})  # noqa: F841
            candidates = engine.sql(
                "SELECT * REPLACE (holder::UUID AS holder), "
                "('0x' || left(holder, 2))::UTINYINT AS part FROM numbered"
            )
            frames = candidates, self._checked(candidates)
            outcome_frame = settled(*frames, ("design", design), epoch, self.max_reports)
            outcomes = outcome_frame.sort("row").to_native().to_arrow_table().combine_chunks()
            new = engine.sql(
                f'SELECT part, holder, {epoch} AS epoch, {design} AS design, "{SETTLED}" AS report '
                f'FROM outcomes WHERE "{IS_NEW}"'
            )
            self._parts = self._parts + self._digested(new)
            new.insert_into("reports")
            kind = schema.field("report").type
            settled_columns = {
                "report": outcomes[SETTLED].cast(kind),
                "epoch": outcomes[SETTLED_AT],
            }
            columns = [
                settled_columns[name] if name in settled_columns else table[name]
                for name in schema.names
            ]
            leaves = np.flatnonzero(numbers_of(outcomes[SETTLED_AT].chunk(0)) >= 0)
            out = pa.table(columns, schema=schema).take(arrow_numbers(leaves))
            self._n_rows += len(table)
            self._n_left_out += len(table) - len(out)
            yield from out.to_batches()

    def enter(self) -> None:
        """Commit the new entries to the file, before anything leaves."""
        if self._n_left_out:
            warnings.warn(
                f"{self._n_left_out:,} of {self._n_rows:,} records were left out, because these "
                f"people have used all their reports in the ledger {self._path} (--max-reports "
                f"{self.max_reports}).",
                UserWarning,
                stacklevel=2,
            )
        seal, execute = self._sealed(), self._engine.execute
        if seal == self._seal:
            return
        tell("entering the reports into the ledger")
        settings = (_VERSION, self.key_check, self.max_reports, self._parts.tobytes(), seal)
        execute("DELETE FROM settings")
        execute("INSERT INTO settings VALUES (?, ?, ?, ?, ?)", settings)
        heed_signals()
        self.is_changed = True
        mask = os.umask(0o077)  # DuckDB's log is accessible only to its owner, as the ledger is
        try:
            self._engine.commit()
            execute("CHECKPOINT")  # from here on, the file itself contains all entries
        finally:
            os.umask(mask)


def _in_chunks(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches as tables of many rows."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= _CHUNK:
            yield pa.Table.from_batches(waiting)
            waiting.clear()
    if waiting:
        yield pa.Table.from_batches(waiting)
