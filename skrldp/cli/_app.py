"""The commands: their names, options and help. What they do is in modules that they load."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from skrldp.cli import _design_options as do
from skrldp.cli import _ledger_options as lo
from skrldp.cli import _options as o
from skrldp.cli._errors import exit_code_of
from skrldp.cli._formats import Asked

__all__ = ["app", "run"]

_WIDTH = 80
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH}

app = typer.Typer(
    name="skrldp",
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)


def run(args: Sequence[str]) -> int:
    """Run the command.

    Returns int: the exit code.
    """
    try:
        app(list(args), prog_name="skrldp")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2 if stop.code else 0
    return 0


def _finish(work: Callable[[], int | None]) -> None:
    raise typer.Exit(exit_code_of(work))


def _show_version(wanted: bool) -> None:
    if wanted:
        package = sys.modules[__name__.partition(".")[0]]
        typer.echo(f"skrldp {package.__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Robust local differential privacy for tables.

    Design a mechanism from a public table, report private records with it, and estimate from the
    reports. Tables are CSV, Parquet or Arrow files, or JSON lines.

    Exit codes: 0 all is well; 1 a check failed: something is not proven, a fault was found, or a
    digest differs; 2 wrong usage or bad input; 130 interrupted. After an error nothing has been
    written.
    """


def _design(
    public: o.PublicTable,
    output: o.NewMechanism,
    sensitive: o.Sensitive,
    eps: o.Eps,
    purpose: do.Purposes = None,
    sanitizer: o.Designer = None,
    column: o.Columns = None,
    counts: o.Counts = None,
    categories: o.Categories = None,
    min_frequency: o.MinFrequency = None,
    weights: do.Weights = None,
    strata: do.Strata = None,
    clusters: do.Clusters = None,
    max_weight: do.MaxWeight = None,
    text: o.Text = None,
    eps_all: o.EpsAll = None,
    known: o.Known = None,
    uncertainty: o.Set = None,
    beta: o.Beta = None,
    observe: o.Observed = None,
    n_jobs: o.Jobs = None,
    time_limit: o.TimeLimit = None,
    max_iter: o.MaxIter = None,
    html: o.Html = None,
    in_format: o.InFormat = None,
    delimiter: o.Delimiter = None,
    json: o.Json = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> None:
    """Design a mechanism from a public table.

    Writes the mechanism, all that is needed to report, and prints its privacy report: what is
    proven, and what is not promised. The exit code is 1 if the mechanism cannot be proven private;
    nothing is written then.
    """
    from skrldp.cli._design import design

    parameters = {
        "eps": eps,
        "eps_all": eps_all,
        "min_frequency": _records(min_frequency),
        "known": known,
        "observe": observe,
        "n_jobs": n_jobs,
        "time_limit": time_limit,
        "max_iter": max_iter,
    }
    _finish(
        lambda: design(
            public,
            output=output,
            purpose=purpose,
            sanitizer=sanitizer,
            sensitive=sensitive,
            columns=column or (),
            counts=counts,
            categories=categories,
            text=text or (),
            parameters=parameters,
            stated_set={"uncertainty": uncertainty, "beta": beta},
            survey={
                "weights": weights,
                "strata": strata,
                "clusters": clusters,
                "max_weight": max_weight,
            },
            page=html,
            kind=Asked(in_format, delimiter),
            force=force,
            quiet=quiet,
            in_json=json,
        )
    )


def _records(number: str | None) -> int | str | None:
    """Read a number of records; what is none is left to the sanitizer to refuse."""
    return int(number) if number is not None and number.isdecimal() else number


def _inspect(
    mechanism: o.MechanismFile,
    digest: o.Digest = None,
    html: o.Html = None,
    json: o.Json = False,
    force: o.Force = False,
) -> None:
    """Say what a mechanism protects and claims.

    Prints what it was designed for, what its maker claims to have proven, and the bounds that
    follow from the mechanism alone, which are proven here. The exit code is 1 if it has another
    digest than --digest.
    """
    from skrldp.cli._inspect import inspect

    _finish(lambda: inspect(mechanism, digest=digest, html=html, force=force, in_json=json))


def _certify(
    mechanism: o.MechanismFile,
    public: o.PublicTable,
    eps: o.EpsToKeep = None,
    eps_all: o.EpsAll = None,
    uncertainty: o.Set = None,
    beta: o.Beta = None,
    reports: o.NumberOfReports = 1,
    counts: o.Counts = None,
    in_format: o.InFormat = None,
    delimiter: o.Delimiter = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Prove how private a mechanism is, from the public table.

    The bound is for the set of distributions that the mechanism states, fitted to this table,
    unless --uncertainty or --beta say otherwise. The exit code is 1 if it is above --eps.
    """
    from skrldp.cli._certify import certify

    _finish(
        lambda: certify(
            mechanism,
            public,
            eps=eps,
            eps_all=eps_all,
            uncertainty=uncertainty,
            beta=beta,
            reports=reports,
            counts=counts,
            kind=Asked(in_format, delimiter),
            quiet=quiet,
            in_json=json,
        )
    )


def _key(file: o.NewKey) -> None:
    """Make a secret key for reports that stay the same.

    Writes 32 random bytes in hexadecimal into a new file that its owner alone may read, and prints
    16 digits by which the key is known, for report --key-check. Whoever has the key can undo the
    randomness of the reports; the digits tell nothing. Keep the key where the records are, and as
    long as the reports are to stay the same.
    """
    from skrldp.cli._report import make_key

    _finish(lambda: make_key(file))


def _report(
    mechanism: o.MechanismFile,
    records: o.Records,
    output: o.Output = "-",
    id: o.Id = None,
    key_file: o.KeyFile = None,
    key_variable: o.KeyVariable = None,
    key_check: o.KeyCheck = None,
    ledger: lo.Ledger = None,
    max_reports: lo.MaxReports = None,
    epoch: lo.Epoch = None,
    ledger_key_file: lo.LedgerKeyFile = None,
    keep: o.Keep = None,
    text: o.Text = None,
    in_format: o.InFormat = None,
    delimiter: o.Delimiter = None,
    output_format: o.OutFormat = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> None:
    """Report private records.

    Writes a column "report" with a whole number for each record, in the records' order: what may
    leave in their place. All records are reported or none.

    Without a key every run draws anew, so a second run is a second report about each person, and
    two reports tell more than one: inspect says how much. With --id and a key the reports are the
    same in every run, as long as key, mechanism and record are. With a ledger, too, people report
    at most K times whatever changes: a first report is repeated, and those who have no report left
    are left out. (In Python, skrldp.client.FreshReports counts fresh reports.)
    """
    from skrldp.cli._report import report

    _finish(
        lambda: report(
            mechanism,
            records,
            output=output,
            id=id,
            key_file=key_file,
            key_variable=key_variable,
            key_check=key_check,
            ledger=ledger,
            limits={"max_reports": max_reports, "epoch": epoch, "ledger_key": ledger_key_file},
            keep=keep or (),
            text=text or (),
            kind=Asked(in_format, delimiter),
            output_kind=Asked(output_format, delimiter),
            force=force,
            quiet=quiet,
        )
    )


def _estimate(
    mechanism: o.MechanismFile,
    reports: o.Reports,
    output: o.Output = "-",
    of: o.Of = None,
    column: o.ReportColumn = "report",
    counts: o.Counts = None,
    method: o.How = o.Method.ml,
    level: o.Level = 0.95,
    in_format: o.InFormat = None,
    delimiter: o.Delimiter = None,
    output_format: o.OutFormat = None,
    json: o.Json = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> None:
    """Estimate how frequent values are among the records, from their reports.

    Writes a row for each combination of values: its frequency, standard error and confidence
    interval. A frequency that the reports do not determine is one of several: the interval holds
    them all, and the error is empty. By least squares, all are empty then.
    """
    from skrldp.cli._estimate import estimate

    _finish(
        lambda: estimate(
            mechanism,
            reports,
            output=output,
            of=of or (),
            column=column,
            counts=counts,
            method=method,
            level=level,
            kind=Asked(in_format, delimiter),
            output_kind=Asked(output_format, delimiter),
            force=force,
            quiet=quiet,
            in_json=json,
        )
    )


def _audit(
    mechanism: o.MechanismFile,
    public: o.AuditedTable = None,
    counts: o.Counts = None,
    command: o.Command = None,
    eps: o.EpsClaimed = None,
    n: o.Number = 100_000,
    level: o.Level = 0.95,
    in_format: o.InFormat = None,
    delimiter: o.Delimiter = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Test a sampler of reports for faults, by its reports alone.

    Makes up records, has them reported, and bounds from below what the reports leak. The exit code
    is 1 if that is more than the claim, or if randomness is used twice, or unknown values pass. No
    fault is no proof of privacy: certify proves it.
    """
    from skrldp.cli._audit import audit

    _finish(
        lambda: audit(
            mechanism,
            public=public,
            counts=counts,
            command=command,
            eps=eps,
            n=n,
            level=level,
            kind=Asked(in_format, delimiter),
            quiet=quiet,
            in_json=json,
        )
    )


app.callback()(_main)
app.command("design")(_design)
app.command("inspect")(_inspect)
app.command("certify")(_certify)
app.command("key")(_key)
app.command("report")(_report)
app.command("estimate")(_estimate)
app.command("audit")(_audit)
