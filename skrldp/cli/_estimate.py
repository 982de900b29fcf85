"""``skrldp estimate``: reports in, frequencies with confidence intervals out."""

from __future__ import annotations

from typing import Annotated, Any, Literal

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
    by: Annotated[
        list[str] | None,
        o.option(
            "--by COLUMN",
            "Estimate within groups: shares among the records with each value of this column; "
            "repeat it.",
        ),
    ] = None,
    column: Annotated[
        str, Option("--report-column", metavar="COLUMN", help="The column of the reports.")
    ] = "report",
    counts: o.Counts = None,
    method: Annotated[
        Literal["ml", "least-squares"] | None,
        o.option(
            "--method",
            "Maximum likelihood (ml, the default), or unbiased least squares. Reports of a "
            "manifest are estimated by least squares.",
        ),
    ] = None,
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
    them all, and the error is empty. By least squares, all are empty then. Of a manifest, the
    reports of all blocks are put together, by least squares; name columns of one block.
    """
    from skrldp._pages import as_json
    from skrldp.cli._estimates import parts_of, rows_of, table_of
    from skrldp.cli._manifests import check_together
    from skrldp.cli._mechanism import columns_of, read_either
    from skrldp.cli._sinks import table_writer
    from skrldp.mechanism import Manifest

    own = read_either(mechanism)
    named = [name for name, _ in columns_of(own)]
    for option, names in (("--of", of), ("--by", by)):
        for name in names or ():
            if name not in named:
                has = ", ".join(map(repr, named))
                raise CommandError(f"{mechanism} has no column {name!r} ({option}); it has {has}.")
    if by and not of:
        raise CommandError("--by goes with --of, the column whose shares are estimated.")
    is_one = not isinstance(own, Manifest)
    if isinstance(own, Manifest):
        check_together(own, mechanism, [*(of or named), *(by or ())])
        if method == "ml":
            raise CommandError("--method ml is for single mechanisms: leave it out for a manifest.")
    if not 0.0 < level < 1.0:
        raise CommandError(f"--level {level} must be a confidence between 0 and 1.")
    json = json or output.lower().endswith(".json")
    in_kind = kind_of(reports, asked := Asked(in_format, delimiter))
    out_kind = Kind("json") if json else kind_to_write(output, Asked(output_format, delimiter))
    check_delimiter(asked, in_kind, out_kind)
    with new_file(output, force=force, inputs=[mechanism, reports]) as file:
        estimator = _fitted(own, method, reports, column, counts, in_kind)
        estimate = estimator.marginal(of or None, by=by or None)
        tell("computing confidence intervals")
        parts = parts_of(estimate, level)
        if json:
            figures = {
                "digest": own.digest,
                "n_reports": estimator.n_reports_,
                "method": method or ("ml" if is_one else "least-squares"),
                "level": level,
                "columns": parts[0],
                "estimates": rows_of(parts),
            }
            file.write(as_json(figures).encode() + b"\n")
        else:
            table = table_of(parts)
            packed = output.lower().endswith(".gz")
            with table_writer(file, out_kind, table.schema, packed=packed) as sink:
                for batch in table.to_batches():
                    sink.write_batch(batch)


def _fitted(
    own: Any,
    method: str | None,
    reports: str,
    column: str,
    counts: str | None,
    kind: Kind,
) -> Any:
    """Count the reports, and fit the estimator of a mechanism or a manifest to them."""
    from skrldp.mechanism import Mechanism

    if isinstance(own, Mechanism):
        from skrldp.cli._estimates import count_numbers

        found = count_numbers((own.shape[0],), reports, [column], counts, kind)
        tell("estimating")
        from skrldp.estimation import FrequencyEstimator

        estimator = FrequencyEstimator(own, method=method or "ml", encode="symbol")
        return estimator.fit(range(len(found)), sample_weight=found)
    from skrldp.cli._manifests import reported_blocks

    pairs, numbers = reported_blocks(own, reports, column, counts, kind)
    tell("estimating")
    from skrldp.estimation import BlockEstimator

    return BlockEstimator(own).fit(pairs, sample_weight=numbers)
