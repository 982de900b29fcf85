"""``skrldp estimate``: reports in, frequencies with confidence intervals out."""

from __future__ import annotations

from typing import Annotated, Literal

from typer import Option

from skrldp.cli import _options as o
from skrldp.cli._errors import CommandError
from skrldp.cli._formats import Asked, Kind, check_delimiter, kind_of, kind_to_write
from skrldp.cli._outputs import STANDARD, new_file
from skrldp.cli._progress import tell

__all__ = ["estimate"]


def estimate(
    mechanism: o.MechanismFile,
    reports: Annotated[
        str,
        o.argument(
            "REPORTS",
            "A table with a column of reports, or a folder or a quoted pattern of such. - is "
            "standard input.",
        ),
    ],
    *,
    output: o.Output = STANDARD,
    of: Annotated[
        list[str] | None,
        o.option(
            "--of COLUMN",
            "Estimate this column; repeat it for combinations. All columns together if not given.",
        ),
    ] = None,
    column: Annotated[
        str, Option("--report-column", metavar="COLUMN", help="The column of the reports.")
    ] = "report",
    counts: o.Counts = None,
    method: Annotated[
        Literal["ml", "least-squares"],
        Option("--method", help="Maximum likelihood (ml), or unbiased least squares."),
    ] = "ml",
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
    from skrldp.cli._estimates import reported_counts, rows_of, table_of
    from skrldp.cli._figures import as_json
    from skrldp.cli._mechanism import columns_of, read_mechanism
    from skrldp.cli._sinks import table_writer

    own = read_mechanism(mechanism)
    named = [name for name, _ in columns_of(own)]
    for name in of or ():
        if name not in named:
            has = ", ".join(map(repr, named))
            raise CommandError(f"{mechanism} has no column {name!r} (--of); it has {has}.")
    if not 0.0 < level < 1.0:
        raise CommandError(f"--level {level} must be a confidence between 0 and 1.")
    json = json or output.lower().endswith(".json")
    in_kind = kind_of(reports, asked := Asked(in_format, delimiter))
    out_kind = Kind("json") if json else kind_to_write(output, Asked(output_format, delimiter))
    check_delimiter(asked, in_kind, out_kind)
    with new_file(output, force=force, inputs=[mechanism, reports]) as file:
        found = reported_counts(own.shape[0], reports, column, counts, in_kind)
        tell("estimating")
        from skrldp.estimation import FrequencyEstimator

        estimator = FrequencyEstimator(own, method=method, encode="symbol")
        estimator.fit(range(len(found)), sample_weight=found)
        marginal = estimator.marginal(of or None)
        tell("computing confidence intervals")
        lower, upper = marginal.confidence_interval(level).T
        if json:
            figures = {
                "digest": own.digest,
                "n_reports": estimator.n_reports_,
                "method": method,
                "level": level,
                "columns": marginal.columns,
                "estimates": rows_of(marginal, lower, upper),
            }
            file.write(as_json(figures).encode() + b"\n")
        else:
            table = table_of(marginal, lower, upper)
            packed = output.lower().endswith(".gz")
            with table_writer(file, out_kind, table.schema, packed=packed) as sink:
                for batch in table.to_batches():
                    sink.write_batch(batch)
