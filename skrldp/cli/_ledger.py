"""``skrldp report --ledger``: who has reported, in a Parquet file."""

from __future__ import annotations

import os
import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skrldp.cli._errors import CommandError
from skrldp.cli._outputs import new_file
from skrldp.cli._progress import tell
from skrldp.cli._tables import STANDARD
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism

if TYPE_CHECKING:
    from skrldp.batches import LedgerReporter

__all__ = ["held", "keyed"]

_PATIENCE = 60.0  # seconds to wait for another run that uses the ledger
_ROW = "row of the records"  # a column that restores their order
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
def held(path: str, inputs: Sequence[str | None]) -> Iterator[_Ledger]:
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
            book = _Ledger(path, place, inputs)
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
    """A ledger that this run alone has."""

    def __init__(self, path: str, place: Path, inputs: Sequence[str | None]) -> None:
        self._path, self._place, self._inputs = path, place, inputs
        self.is_changed = False  # or may be
        self._limit: bytes | None = None  # which the first run had, if that is known

    def settled(
        self, reporter: LedgerReporter, schema: Any, found: Iterable[Any], *, with_epoch: bool
    ) -> tuple[Any, Iterator[Any]]:
        """Enter the new reports among candidates into the ledger; then return what may leave.

        Returns `schema`; and the batches, in the order of the candidates.
        """
        import numpy as np
        import pyarrow as pa

        candidates = pa.Table.from_batches(found, schema)
        tell("entering the reports into the ledger")
        ledger = self._read(reporter.schema())
        self._limit = self._limit or str(reporter.max_reports).encode()
        if self._limit != str(reporter.max_reports).encode():
            warnings.warn(
                f"the ledger {self._path} began with --max-reports {self._limit.decode()}, and "
                f"this run has {reporter.max_reports}. What several reports leak together is "
                "bounded for mechanisms that were all used with the same number.",
                UserWarning,
                stacklevel=2,
            )
        candidates = candidates.append_column(_ROW, pa.array(np.arange(len(candidates))))
        new = reporter.entries(candidates, ledger)
        ledger = pa.concat_tables([ledger, new.cast(ledger.schema)])
        if len(new):
            self._write(ledger)
        reports = reporter.reports(candidates, ledger).sort_by(_ROW)
        left_out = len(candidates) - len(reports)
        if left_out:
            warnings.warn(
                f"{left_out:,} of {len(candidates):,} records were left out: the ledger "
                f"{self._path} has as many reports about these persons as there may be "
                f"(--max-reports {reporter.max_reports}), and none of this mechanism.",
                UserWarning,
                stacklevel=2,
            )
        reports = reports.drop_columns([_ROW] if with_epoch else [_ROW, "epoch"])
        return reports.schema, iter(reports.to_batches())

    def _read(self, schema: Any) -> Any:
        """Return the entries."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with self._place.open("rb") as file:
                found = pq.ParquetFile(file).read()
            self._limit = (found.schema.metadata or {}).get(_LIMIT)
            return found.select(schema.names).cast(schema)
        except FileNotFoundError:
            warnings.warn(
                f"there is no ledger {self._path}: a new one begins, which knows of no report "
                "given before.",
                UserWarning,
                stacklevel=2,
            )
            return schema.empty_table()
        except (KeyError, pa.ArrowException, OSError):
            raise CommandError(
                f"{self._path} is no ledger, or cannot be read: a Parquet file with the columns "
                f"{', '.join(schema.names)}. Nothing was reported."
            ) from None

    def _write(self, ledger: Any) -> None:
        import pyarrow.parquet as pq

        self.is_changed = True
        ledger = ledger.replace_schema_metadata({_LIMIT: self._limit})
        with new_file(self._path, inputs=self._inputs, replace=True, mode=0o600) as file:
            pq.write_table(ledger, file, compression="zstd")
        if os.name == "posix":  # else the name might be lost with the power, and the reports not
            folder = os.open(self._place.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
