"""The options that several commands have, with what their help says."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Argument, Option

__all__: list[str] = []  # the commands read them all


def argument(name: str, words: str) -> Any:
    """Describe a file that a command is given."""
    return Argument(metavar=name, help=words, show_default=False)


def option(declared: str, words: str, **limits: Any) -> Any:
    """Describe an option, declared as "--output -o FILE"; its words say what it is if not given."""
    parts = declared.split()
    names = [part for part in parts if part.startswith("-")]
    metavar = None if len(names) == len(parts) else parts[-1]
    return Option(*names, metavar=metavar, help=words, show_default=False, **limits)


TABLE = (
    "a CSV, Parquet or Arrow file, JSON lines, or a folder of such. - is CSV from standard input."
)
_JSON = "The mechanism's JSON, as design wrote it. - is standard input."
_OUTPUT = (
    "Where the table goes: .csv, .jsonl, .parquet or .arrow. Standard output in CSV if not given."
)
_MISSING = "A text that stands for a missing value, as empty fields do; repeat it."

Names = list[str] | None
MechanismFile = Annotated[str, argument("MECHANISM", _JSON)]
Output = Annotated[str, option("--output -o FILE", _OUTPUT)]
Counts = Annotated[
    str | None, option("--counts COLUMN", "Column that says how many records each row stands for.")
]
Missing = Annotated[Names, option("--missing TEXT", _MISSING)]
Json = Annotated[bool, Option("--json", help="Print JSON. Infinite numbers are null.")]
