"""``skrldp report``: private records in, reports out; and ``skrldp key``."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from skrldp.cli._errors import CommandError
from skrldp.cli._formats import Asked, check_delimiter, kind_of, kind_to_write, needed_columns
from skrldp.cli._ledger import Candidates, held, keyed
from skrldp.cli._mechanism import placed, read_mechanism, record_types, values_of
from skrldp.cli._outputs import STANDARD, new_file
from skrldp.cli._progress import progress
from skrldp.cli._repeated_ids import RepeatedIds
from skrldp.cli._sinks import table_writer
from skrldp.cli._tables import Batches, Wanted, open_batches
from skrldp.mechanism import Mechanism

__all__ = ["make_key", "report"]

REPORT = "report"  # the column of the reports
_BYTES = 32  # of a new key


def make_key(target: str) -> None:
    """Write a new key that its owner alone may read, and print what tells it from others."""
    from skrldp.batches import KeyFile, key_check

    if target == STANDARD:
        raise CommandError("a key is not written to standard output; give the name of a file.")
    with new_file(target, mode=0o600) as file:
        file.write(secrets.token_hex(_BYTES).encode() + b"\n")
    print(key_check(KeyFile(target)))


def report(
    mechanism: str,
    records: str,
    *,
    output: str,
    id: str | None,
    key_file: str | None,
    key_variable: str | None,
    key_check: str | None,
    ledger: str | None,
    limits: Mapping[str, Any],
    keep: Sequence[str],
    text: Sequence[str],
    kind: Asked,
    output_kind: Asked,
    force: bool,
    quiet: bool,
) -> None:
    """Report the records of a table, a batch at a time; all of them or none."""
    _check_keyed(id, key_file, key_variable)
    if key_check is not None and id is None:
        raise CommandError("--key-check goes with --id and a key.")
    limits = {name: given for name, given in limits.items() if given is not None}
    if limits and ledger is None:
        raise CommandError("--max-reports, --epoch and --ledger-key-file go with --ledger.")
    if ledger is not None and id is None:
        raise CommandError("--ledger goes with --id and a key: it remembers who reported.")
    if mechanism == STANDARD == records:
        raise CommandError("mechanism and records cannot both come from standard input.")
    own = read_mechanism(mechanism)
    needed = needed_columns(own)
    reporter: Any
    if id is None:
        reporter = _Fresh(own, needed, keep)
    else:
        key = _key(key_file, key_variable, key_check)
        options = {"id": id, "key": key, "keep": keep, "name": REPORT}
        reporter = keyed(own, options, ledger, limits)
    for name in text:
        if name in needed:
            raise CommandError(
                f"--text {name}: the mechanism says as what its own columns are read."
            )
    in_kind, out_kind = kind_of(records, kind), kind_to_write(output, output_kind)
    check_delimiter(kind, in_kind, out_kind)
    ids = [] if id is None else [id]
    types, converted = record_types(own, needed) if in_kind.is_text else ({}, None)
    texts = [*text, *ids, *(keep if in_kind.name == "csv" else [])]
    wanted = Wanted(list(dict.fromkeys([*ids, *needed, *keep])), types, texts)
    inputs = [mechanism, records, key_file, limits.get("ledger_key"), ledger]
    with (
        nullcontext() if ledger is None else held(ledger, inputs[:-1]) as book,
        new_file(output, force=force, inputs=inputs) as file,
        open_batches(records, in_kind, wanted, converted) as source,
    ):
        schema = reporter.output_schema(source.schema)
        writer = partial(table_writer, file, out_kind, packed=output.lower().endswith(".gz"))
        if book is None:
            with writer(schema) as sink:
                _write(sink, source, reporter.report_batch, id, quiet)
            return
        found = Candidates()
        _write(found, source, reporter.report_batch, id, quiet)
        reports = book.settled(reporter, found.table(schema), with_epoch="epoch" in limits)
        with writer(reports.schema) as sink:
            for batch in reports.to_batches():
                sink.write_batch(batch)


def _write(
    sink: Any, source: Batches, work: Callable[[Any], Any], id: str | None, quiet: bool
) -> None:
    make = placed(work, source)
    rows = progress(
        source.rows, quiet=quiet, what="reported", total=source.total, place=source.place
    )
    if id is None:
        for batch in rows:
            sink.write_batch(make(batch))
        return
    with RepeatedIds(id) as seen:
        for batch in rows:
            try:
                sink.write_batch(make(batch))
            except CommandError:
                if not batch.column(id).null_count:
                    seen.add(batch.column(id))
                    seen.check(source.path)  # which says in which rows of the table the same id is
                raise
            seen.add(batch.column(id))
        seen.check(source.path)


def _check_keyed(id: str | None, key_file: str | None, key_variable: str | None) -> None:
    if key_file is not None and key_variable is not None:
        raise CommandError("give --key-file or --key-variable, not both.")
    if (id is None) != (key_file is None and key_variable is None):
        raise CommandError(
            "reports that stay the same need both --id, the column that says whom a record is "
            "about, and a key, --key-file or --key-variable. Without both, every run draws anew."
        )
    if key_file == STANDARD:
        raise CommandError("the key is not read from standard input; give a file.")


def _key(key_file: str | None, key_variable: str | None, wanted: str | None) -> bytes:
    from skrldp.batches import KeyFile, KeyVariable, key_check

    key = (KeyVariable(str(key_variable)) if key_file is None else KeyFile(key_file)).read()
    found = key_check(key)
    if wanted is not None and wanted.strip().lower() != found:
        raise CommandError(
            f"the key is another one than that of --key-check: its digits are {found}. Reports "
            "with another key are second reports about the same persons."
        )
    return key


class _Fresh:
    """Draws reports anew; the shape of `skrldp.batches.Reporter`.

    Parameters
    ----------
    mechanism : Mechanism
    columns : sequence of str
        Those that the mechanism reads.
    keep : sequence of str
        Those that are passed on.
    """

    def __init__(self, mechanism: Mechanism, columns: Sequence[str], keep: Sequence[str]) -> None:
        from skrldp.client import Client

        self._client, self._columns, self._keep = Client(mechanism), columns, list(keep)
        own = {name for name, _ in self._client.columns}
        for name in keep:
            if name in own or name == REPORT:
                why = "is reported" if name in own else "is the column of the reports"
                raise CommandError(
                    f"--keep {name}: this column {why}, so it cannot be passed on as it is."
                )

    def output_schema(self, schema: Any) -> Any:
        import pyarrow as pa

        kept = [schema.field(name) for name in self._keep]
        return pa.schema([pa.field(REPORT, self._type()), *kept])

    def report_batch(self, batch: Any) -> Any:
        import pyarrow as pa

        made = self._client.report_many(values_of(batch, self._columns))
        columns = [pa.array(made, self._type()), *(batch.column(name) for name in self._keep)]
        return pa.RecordBatch.from_arrays(columns, schema=self.output_schema(batch.schema))

    def _type(self) -> Any:
        import pyarrow as pa

        from skrldp._arrays import smallest_dtype

        return pa.from_numpy_dtype(smallest_dtype(len(self._client.symbols)))
