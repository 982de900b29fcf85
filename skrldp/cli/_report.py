"""``skrldp report``: private records in, reports out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from skrldp.cli import _options as o
from skrldp.cli._errors import CommandError
from skrldp.cli._formats import Asked, check_delimiter, kind_of, kind_to_write
from skrldp.cli._outputs import STANDARD, new_file
from skrldp.cli._progress import progress

if TYPE_CHECKING:
    from skrldp.cli._opened import Batches

__all__ = ["report"]


def report(
    mechanism: o.MechanismFile,
    records: Annotated[
        str,
        o.argument(
            "RECORDS",
            "The private records: CSV, Parquet, Arrow or JSON lines; or a folder or a "
            "quoted pattern of such files. - is standard input.",
        ),
    ],
    *,
    output: o.Output = STANDARD,
    values: Annotated[
        bool,
        Option(
            "--values",
            help="Write the values that each report stands for, too, a column for each. For "
            "reports that stand for values (design --for records), and not for numbers alone.",
        ),
    ] = False,
    id: Annotated[
        str | None,
        o.option(
            "--id COLUMN",
            "Whom a record is about; needs a key. The same id with the same record then "
            "has the same report in every run.",
        ),
    ] = None,
    key_file: Annotated[
        str | None,
        o.option("--key-file FILE", "The secret key, as skrldp key wrote it."),
    ] = None,
    key_variable: Annotated[
        str | None,
        o.option("--key-variable NAME", "The environment variable with the key."),
    ] = None,
    key_check: Annotated[
        str | None,
        o.option(
            "--key-check DIGITS", "What skrldp key printed: nothing is reported with another key."
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        o.option(
            "--ledger FILE",
            "Parquet file that remembers who reported: at most --max-reports about each "
            "person, in all runs together. It is made if it is not there.",
        ),
    ] = None,
    max_reports: Annotated[
        int | None,
        o.option(
            "--max-reports K",
            "How many reports about each person the ledger may have, of all mechanisms "
            "and epochs together. 1 if not given.",
            min=1,
        ),
    ] = None,
    epoch: Annotated[
        int | None,
        o.option(
            "--epoch N",
            "The round of reports, counted upwards; another one is another report about "
            "each person. 0 if not given.",
            min=0,
        ),
    ] = None,
    ledger_key: Annotated[
        str | None,
        o.option(
            "--ledger-key-file FILE",
            "The key with which the ledger began, if that of the reports is another one.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        o.option("--keep COLUMN", "A column that is passed on as it is, unprotected; repeat it."),
    ] = None,
    text: o.Text = None,
    in_format: o.InFormat = None,
    delimiter: o.Delimiter = None,
    output_format: o.OutFormat = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> None:
    """Report private records.

    Writes a column "report" with a whole number for each record, in the records' order: what may
    leave in their place. All records are reported or none. Of a manifest, there is a column
    "block", too: which block of columns the report is about. Both leave together.

    Without a key every run draws anew, so a second run is a second report about each person, and
    two reports tell more than one: inspect says how much. With --id and a key the reports are the
    same in every run, as long as key, mechanism and record are. With a ledger, too, people report
    at most K times whatever changes: a first report is repeated, and those who have no report left
    are left out. (In Python, skrldp.client.FreshReports counts fresh reports.)
    """
    _check_keyed(id, key_file, key_variable)
    if key_check is not None and id is None:
        raise CommandError("--key-check goes with --id and a key.")
    asked = {"max_reports": max_reports, "epoch": epoch, "ledger_key": ledger_key}
    limits = {name: given for name, given in asked.items() if given is not None}
    if limits and ledger is None:
        raise CommandError("--max-reports, --epoch and --ledger-key-file go with --ledger.")
    if ledger is not None and id is None:
        raise CommandError("--ledger goes with --id and a key: it remembers who reported.")
    if mechanism == STANDARD == records:
        raise CommandError("mechanism and records cannot both come from standard input.")
    from skrldp.cli._fresh import REPORT, Fresh
    from skrldp.cli._ledger import held, keyed
    from skrldp.cli._mechanism import needed_columns, read_either, record_types
    from skrldp.cli._sinks import table_writer
    from skrldp.cli._tables import Wanted, open_batches
    from skrldp.cli._values import with_values

    own, kept, texts = read_either(mechanism), keep or [], text or []
    needed = needed_columns(own)
    reporter: Any
    if id is None:
        reporter = Fresh(own, needed, kept)
    else:
        secret = _key(key_file, key_variable, key_check)
        options = {"id": id, "key": secret, "keep": kept, "name": REPORT}
        reporter = keyed(own, options, ledger, limits)
    for name in texts:
        if name in needed:
            raise CommandError(
                f"--text {name}: the mechanism says as what its own columns are read."
            )
    in_kind = kind_of(records, given := Asked(in_format, delimiter))
    out_kind = kind_to_write(output, Asked(output_format, delimiter))
    check_delimiter(given, in_kind, out_kind)
    ids = [] if id is None else [id]
    types, converted = record_types(own, needed) if in_kind.is_text else ({}, None)
    texts = [*texts, *ids, *(kept if in_kind.name == "csv" else [])]
    wanted = Wanted(list(dict.fromkeys([*ids, *needed, *kept])), types, texts)
    inputs = [mechanism, records, key_file, ledger_key, ledger]
    with (
        nullcontext() if ledger is None else held(ledger, inputs[:-1]) as book,
        new_file(output, force=force, inputs=inputs) as file,
        open_batches(records, in_kind, wanted, converted) as source,
    ):
        schema = reporter.output_schema(source.schema)
        reports = _reports(source, reporter.report_batch, id)
        if book is not None:
            schema, reports = book.settled(reporter, schema, reports, with_epoch="epoch" in limits)
        if values:
            schema, reports = with_values(own, mechanism, schema, reports, REPORT)
        packed = output.lower().endswith(".gz")
        with table_writer(file, out_kind, schema, packed=packed) as sink:
            for batch in reports:
                sink.write_batch(batch)
    if id is not None and ledger is None and key_check is None:
        _warn_of_other_keys(secret)


def _reports(source: Batches, work: Callable[[Any], Any], id: str | None) -> Iterator[Any]:
    """Yield the reports of each batch; the last only if no id is there twice."""
    from skrldp.cli._mechanism import placed
    from skrldp.cli._repeated_ids import RepeatedIds

    make = placed(work, source)
    if id is None:
        yield from map(make, progress(source, "reported"))
        return
    with RepeatedIds(id) as seen:
        for batch in progress(source, "reported"):
            try:
                made = make(batch)
            except CommandError:
                if not batch.column(id).null_count:
                    seen.add(batch.column(id))
                    seen.check(source.path)  # which says in which rows of the table the same id is
                raise
            seen.add(batch.column(id))
            yield made
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


def _warn_of_other_keys(key: bytes) -> None:
    """Warn that the key was not checked against that of earlier runs."""
    from skrldp.batches import key_check

    warnings.warn(
        "this key was not checked against earlier runs; with another key everybody would report a "
        f"second time. Add --key-check {key_check(key)} in later runs.",
        UserWarning,
        stacklevel=3,
    )
