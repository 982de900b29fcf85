"""The options of the commands, with what their help says."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

__all__: list[str] = []  # the command's functions read them all


class Format(StrEnum):
    """Formats of tables."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"
    arrow = "arrow"
    arrows = "arrows"


class Sanitizer(StrEnum):
    """The sanitizers."""

    polyopt = "polyopt"
    a_optimal = "a-optimal"
    robust_mse = "robust-mse"
    ir = "ir"
    srr = "srr"
    grr = "grr"
    non_robust = "non-robust"


class Uncertainty(StrEnum):
    """The uncertainty sets."""

    likelihood_ratio = "likelihood-ratio"
    renyi = "renyi"
    all = "all"
    public = "public"


class Observe(StrEnum):
    """What a mechanism sees."""

    all = "all"
    nonsensitive = "nonsensitive"


class Method(StrEnum):
    """How frequencies are estimated."""

    ml = "ml"
    least_squares = "least-squares"


def _argument(name: str, words: str) -> Any:
    return typer.Argument(metavar=name, help=words, show_default=False)


def _option(*names: str, words: str, kind: str | None = None) -> Any:
    return typer.Option(*names, metavar=kind, help=words, show_default=False)


# --- Files ---------------------------------------------------------------------------------------

MechanismFile = Annotated[
    str, _argument("MECHANISM", "The mechanism's JSON, as design wrote it. - is standard input.")
]
PublicTable = Annotated[
    str,
    _argument(
        "PUBLIC",
        "The public table: CSV, Parquet, Arrow or JSON lines; or a folder or a quoted "
        "pattern of such files. - is CSV from standard input.",
    ),
]
Records = Annotated[
    str,
    _argument(
        "RECORDS",
        "The private records: CSV, Parquet, Arrow or JSON lines; or a folder or a "
        "quoted pattern of such files. - is standard input.",
    ),
]
Reports = Annotated[
    str,
    _argument(
        "REPORTS",
        "A table with a column of reports, or a folder or a quoted pattern of such. - is "
        "standard input.",
    ),
]
NewKey = Annotated[str, _argument("FILE", "The new file.")]
NewMechanism = Annotated[
    str,
    _option(
        "--output",
        "-o",
        kind="FILE",
        words="Where the mechanism's JSON goes. - is standard "
        "output; the privacy report then goes to standard error.",
    ),
]
Output = Annotated[
    str,
    _option(
        "--output",
        "-o",
        kind="FILE",
        words="Where the table goes; its ending says the format. "
        "Standard output in CSV if not given.",
    ),
]
InFormat = Annotated[
    Format | None,
    _option(
        "--format",
        words="Format of the table that is read, if its name does not tell: .csv, "
        ".tsv, .jsonl or .ndjson (JSON lines), also with .gz; .parquet, .arrow, .feather, .ipc or "
        ".arrows (an Arrow stream).",
    ),
]
Delimiter = Annotated[
    str | None,
    _option(
        "--delimiter",
        kind="CHARACTER",
        words="What is between the fields of CSV files, read or "
        "written. A comma if not given; a tab in .tsv.",
    ),
]
OutFormat = Annotated[
    Format | None, _option("--output-format", words="Format of the table that is written.")
]
Html = Annotated[str | None, _option("--html", kind="FILE", words="Write it as a page, too.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="No progress bar. (There is none either where standard error is no terminal.)",
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print JSON. Numbers that are infinite or not determined are null."
    ),
]

# --- The public table ----------------------------------------------------------------------------

Sensitive = Annotated[
    list[str],
    _option(
        "--sensitive",
        "-s",
        kind="COLUMN",
        words="A column of the secret. Repeat it for several, which are protected together.",
    ),
]
Columns = Annotated[
    list[str] | None,
    _option(
        "--column",
        "-c",
        kind="COLUMN",
        words="Another column of the record; repeat it. All columns of the table if not given.",
    ),
]
Counts = Annotated[
    str | None,
    _option(
        "--counts",
        kind="COLUMN",
        words="Column that says how many records, or reports, each row stands for.",
    ),
]
Categories = Annotated[
    str | None,
    _option(
        "--categories",
        kind="FILE",
        words="JSON with all values that columns may have, "
        '{"column": [values]}. Values that few counted records show void --beta.',
    ),
]
MinFrequency = Annotated[
    str | None,
    _option(
        "--min-frequency",
        kind="RECORDS",
        words='Values of fewer records are reported as "other". "auto": what --beta needs, and '
        "unknown values are others too.",
    ),
]
Text = Annotated[
    list[str] | None,
    _option(
        "--text",
        kind="COLUMN",
        words="Column of a CSV file that is text although it looks "
        "like numbers or dates, such as a postal code; repeat it.",
    ),
]

# --- What is promised ----------------------------------------------------------------------------

Eps = Annotated[
    float,
    _option(
        "--eps",
        "-e",
        kind="NATS",
        words="No report changes the odds of two secrets by more than a factor of e to this.",
    ),
]
EpsToKeep = Annotated[
    float | None,
    _option(
        "--eps",
        "-e",
        kind="NATS",
        words="What the mechanism should keep. What its design asked for, if not given.",
    ),
]
EpsClaimed = Annotated[
    float | None,
    _option(
        "--eps",
        "-e",
        kind="NATS",
        words="The claim. What is proven of the mechanism, if not given.",
    ),
]
EpsAll = Annotated[
    float | None,
    _option(
        "--eps-all",
        kind="NATS",
        words="The same over all distributions: a bound on what "
        "further reports add, and on what a report tells somebody who knows the other columns.",
    ),
]
Known = Annotated[
    list[str] | None,
    _option(
        "--known", kind="COLUMN", words="A column that observers may know of a person; repeat it."
    ),
]
Beta = Annotated[
    float | None,
    _option(
        "--beta",
        kind="PROBABILITY",
        words="The probability with which the confidence set may "
        "miss the true distribution. 0.05 in a design if not given.",
    ),
]
Set = Annotated[
    Uncertainty | None,
    _option(
        "--uncertainty",
        words="The distributions for which privacy holds: a confidence set "
        "around the public one (likelihood-ratio, the default of a design, or renyi), all, or "
        "the public one alone.",
    ),
]
Observed = Annotated[
    Observe | None,
    _option(
        "--observe",
        words="What the mechanism sees of a person: the whole record, or not the secret.",
    ),
]
NumberOfReports = Annotated[
    int,
    typer.Option(
        "--reports",
        "-k",
        metavar="K",
        min=1,
        help="How many reports about one person are seen together.",
    ),
]

# --- The design ----------------------------------------------------------------------------------

Designer = Annotated[
    Sanitizer | None,
    _option("--sanitizer", words="What is designed, in place of --for; the guide says which."),
]
Jobs = Annotated[
    int | None,
    _option(
        "--n-jobs", kind="N", words="Number of threads or processes; -1: one for each processor."
    ),
]
TimeLimit = Annotated[
    float | None,
    _option(
        "--time-limit",
        kind="SECONDS",
        words="The search stops then. The design depends on the machine if this is given.",
    ),
]
MaxIter = Annotated[
    int | None, _option("--max-iter", kind="N", words="The search stops after so many iterations.")
]

# --- Reports -------------------------------------------------------------------------------------

Id = Annotated[
    str | None,
    _option(
        "--id",
        kind="COLUMN",
        words="Whom a record is about; needs a key. The same id with "
        "the same record then has the same report in every run.",
    ),
]
KeyFile = Annotated[
    str | None, _option("--key-file", kind="FILE", words="The secret key, as skrldp key wrote it.")
]
KeyVariable = Annotated[
    str | None,
    _option("--key-variable", kind="NAME", words="The environment variable with the key."),
]
KeyCheck = Annotated[
    str | None,
    _option(
        "--key-check",
        kind="DIGITS",
        words="What skrldp key printed: nothing is reported with another key.",
    ),
]
Keep = Annotated[
    list[str] | None,
    _option(
        "--keep",
        kind="COLUMN",
        words="A column that is passed on as it is, unprotected; repeat it.",
    ),
]

# --- Estimates and audits ------------------------------------------------------------------------

Of = Annotated[
    list[str] | None,
    _option(
        "--of",
        kind="COLUMN",
        words="Estimate this column; repeat it for combinations. All "
        "columns together if not given.",
    ),
]
ReportColumn = Annotated[
    str, typer.Option("--report-column", metavar="COLUMN", help="The column of the reports.")
]
How = Annotated[
    Method, typer.Option("--method", help="Maximum likelihood (ml), or unbiased least squares.")
]
Level = Annotated[float, typer.Option("--level", metavar="PROBABILITY", help="Confidence level.")]
Digest = Annotated[
    str | None, _option("--digest", kind="HEX", words="The digest that the mechanism should have.")
]
AuditedTable = Annotated[
    str | None,
    _option(
        "--public",
        kind="FILE",
        words="The public table: audit at the public distribution and "
        "at the worst one. At the uniform distribution if not given.",
    ),
]
Command = Annotated[
    str | None,
    _option(
        "--command",
        kind="COMMAND",
        words="Audit this program: it reads records as CSV from "
        "standard input and writes a report in each line. Python's client if not given.",
    ),
]
Number = Annotated[
    int, typer.Option("--n", "-n", metavar="N", min=1, help="How many records are made up.")
]
