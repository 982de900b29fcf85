"""The options that several commands have, with what their help says."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from typer import Argument, Option

__all__: list[str] = []  # the commands read them all

Format = Literal["csv", "tsv", "jsonl", "parquet", "arrow", "arrows"]


def argument(name: str, words: str) -> Any:
    """Describe a file that a command is given."""
    return Argument(metavar=name, help=words, show_default=False)


def option(declared: str, words: str, **limits: Any) -> Any:
    """Describe an option, declared as "--output -o FILE"; its words say what it is if not given."""
    parts = declared.split()
    names = [part for part in parts if part.startswith("-")]
    metavar = None if len(names) == len(parts) else parts[-1]
    return Option(*names, metavar=metavar, help=words, show_default=False, **limits)


def eps(words: str) -> Any:
    """Describe a privacy parameter."""
    return option("--eps -e NATS", words)


# --- Files ---------------------------------------------------------------------------------------

MechanismFile = Annotated[
    str, argument("MECHANISM", "The mechanism's JSON, as design wrote it. - is standard input.")
]
PublicTable = Annotated[
    str,
    argument(
        "PUBLIC",
        "The public table: CSV, Parquet, Arrow or JSON lines; or a folder or a quoted "
        "pattern of such files. - is CSV from standard input.",
    ),
]
Output = Annotated[
    str,
    option(
        "--output -o FILE",
        "Where the table goes; its ending says the format. Standard output in CSV if not given.",
    ),
]
InFormat = Annotated[
    Format | None,
    option(
        "--format",
        "Format of the table that is read, if its name does not tell: .csv, .tsv, "
        ".jsonl or .ndjson (JSON lines), also with .gz; .parquet, .arrow, .feather, "
        ".ipc or .arrows (an Arrow stream).",
    ),
]
Delimiter = Annotated[
    str | None,
    option(
        "--delimiter CHARACTER",
        "What is between the fields of CSV files, read or written. A comma if not "
        "given; a tab in .tsv.",
    ),
]
OutFormat = Annotated[
    Format | None, option("--output-format", "Format of the table that is written.")
]
Html = Annotated[str | None, option("--html FILE", "Write it as a page, too.")]
Witness = Annotated[
    str | None,
    option("--witness FILE", "Where a proof goes that others can check, with verify."),
]
PublicCounts = Annotated[
    str | None,
    option(
        "--public-counts FILE",
        "Where the counts of the public table's cells go, which others need to check a proof.",
    ),
]
Force = Annotated[bool, Option("--force", help="Replace files that exist.")]
Quiet = Annotated[
    bool,
    Option(
        "--quiet",
        "-q",
        help="No progress bar. (There is none either where standard error is no terminal.)",
    ),
]
Json = Annotated[
    bool,
    Option("--json", help="Print JSON. Numbers that are infinite or not determined are null."),
]
Counts = Annotated[
    str | None,
    option(
        "--counts COLUMN", "Column that says how many records, or reports, each row stands for."
    ),
]
Text = Annotated[
    list[str] | None,
    option(
        "--text COLUMN",
        "Column of a CSV file that is text although it looks like numbers or dates, "
        "such as a postal code; repeat it.",
    ),
]

# --- How the public table was drawn --------------------------------------------------------------

Weights = Annotated[
    str | None,
    option(
        "--weights COLUMN",
        "Column of sampling weights, if the public table is a survey: how many "
        "people a record stands for.",
    ),
]
Strata = Annotated[
    list[str] | None,
    option(
        "--strata COLUMN",
        "Column of the survey's strata; repeated, the combinations of several are the strata.",
    ),
]
Clusters = Annotated[
    list[str] | None,
    option(
        "--clusters COLUMN",
        "Column of the survey's clusters, such as households or places; repeat it as --strata.",
    ),
]
Nest = Annotated[bool, option("--nest", "Codes of clusters begin anew in each stratum.")]
Singleton = Annotated[
    Literal["center", "certainty"] | None,
    option(
        "--singleton",
        "What to do with a stratum of one cluster: an error unless given; its distance "
        "from the mean of all, or no variance as it was drawn with certainty.",
    ),
]
ReplicateWeights = Annotated[
    list[str] | None,
    option(
        "--replicate-weights COLUMN",
        "Column of replicate weights, in place of strata and clusters; repeat it, as a shell does "
        "with --replicate-weights=w{1..80}.",
    ),
]
Scale = Annotated[
    float | None,
    option(
        "--scale FACTOR",
        "What the squared deviations of the replicates' figures are multiplied by: 1/R for R "
        "balanced half samples, (R-1)/R for the jackknife.",
    ),
]
MaxWeight = Annotated[
    str | None,
    option(
        "--max-weight WEIGHT",
        "The greatest weight that the survey could give a record, or the greatest "
        "sum of a cluster; or a column with that of each stratum. With it the confidence set is "
        "exact, from an independent part of the records; without, it is for many clusters.",
    ),
]
StratumSizes = Annotated[
    str | None,
    option(
        "--stratum-sizes COLUMN",
        "Column of how many people of the population are in each record's stratum. With "
        "--max-weight, where there are strata.",
    ),
]

# --- What is promised ----------------------------------------------------------------------------

EpsAll = Annotated[
    float | None,
    option(
        "--eps-all NATS",
        "The same over all distributions: a bound on what further reports add, and "
        "on what a report tells somebody who knows the other columns.",
    ),
]
Beta = Annotated[
    float | None,
    option(
        "--beta PROBABILITY",
        "The probability with which the confidence set may miss the true "
        "distribution. 0.05 in a design if not given.",
    ),
]
Set = Annotated[
    Literal["likelihood-ratio", "renyi", "all", "public"] | None,
    option(
        "--uncertainty",
        "The distributions for which privacy holds: a confidence set around the "
        "public one (likelihood-ratio, the default of a design, or renyi), all, or "
        "the public one alone.",
    ),
]
Level = Annotated[float, Option("--level", metavar="PROBABILITY", help="Confidence level.")]
