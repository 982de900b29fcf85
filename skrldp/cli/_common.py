"""The common parts of commands: options, progress, errors and exit codes."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

from typer import Argument, Option

from skrldp._pages import in_one_line
from skrldp.exceptions import CertificateError, SkrldpError

# --- Options that several commands have, with what their help says --------------------------------


def argument(name: str, words: str) -> Any:
    """Describe an argument that is a file."""
    return Argument(metavar=name, help=words, show_default=False)


def option(declared: str, words: str, **limits: Any) -> Any:
    """Describe an option, declared as "--output -o FILE", with its default in words."""
    *names, metavar = declared.split()
    return Option(*names, metavar=metavar, help=words, show_default=False, **limits)


TABLE = "a CSV, Parquet or Arrow file, or a folder of such files. - reads CSV from standard input."
_JSON = "The mechanism's JSON, written by design. - reads standard input."
_OUTPUT = "Output file: .csv, .parquet or .arrow. By default, CSV on standard output."
_MISSING = "A string that means a missing value, like empty fields; repeatable."

Names = list[str] | None
Text = str | None
MechanismFile = Annotated[str, argument("MECHANISM", _JSON)]
Output = Annotated[str, option("--output -o FILE", _OUTPUT)]
Counts = Annotated[
    Text,
    option(
        "--counts COLUMN",
        "Column with the number of records or reports that each row represents.",
    ),
]
Missing = Annotated[Names, option("--missing TEXT", _MISSING)]
Json = Annotated[bool, Option("--json", help="Print JSON, with null for infinite numbers.")]


# --- What a command is doing, in lines on standard error, if that is a terminal -------------------


def for_people() -> bool:
    """Whether progress is printed."""
    return sys.stderr.isatty()


def tell(step: str) -> None:
    """Print the current step."""
    if for_people():
        print(f"skrldp: {in_one_line(step)}", file=sys.stderr)


def progress(batches: Iterable[Any], path: str) -> Iterator[Any]:
    """Yield the batches of a table, and show the number of rows so far."""
    tell(f"reading {path}")
    if not for_people():
        yield from batches
        return
    from tqdm import tqdm

    with tqdm(unit=" rows", unit_scale=True, leave=False) as bar:
        for batch in batches:
            yield batch
            bar.update(batch.num_rows)


# --- What becomes of a command's errors: a message in one line, and the exit code -----------------


FAILED, WRONG, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141

# Python terms in the package's messages, and the command line's terms for them.
_AS_COMMANDS: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"make one with secrets\.token_hex\(32\)": "make one with skrldp key FILE",
    r"Write the bytes of a key with key\.hex\(\), or make": "Make",
    r"KeyFile takes the path of a file, not a key": "a key file is given by its name, not as a key",
    r" of (?:the|a) batch(?: of [\d,]+ rows)?": "",
    r"sample_weight(?= sums to)": "the column of --counts",
    r"Pass survey weights as a column: survey=SurveyDesign\(weights=\.\.\.\)": (
        "Use one row for each combination of values; survey weights need Python: SurveyDesign"
    ),
    r"\bmin_frequency='auto'": "--min-frequency auto",
    r"list categories": "list them with --categories",
    r"free text: drop it": "free text: leave it out with --column",
    r"(?: as strings)?\. (?:Convert them, then p|P)ass categories=\{'(.*)': Bins\(\[(.*?)\]\)\}": (
        r'. Use --bins "\1=\2"'
    ),
    r'("(.*)=.* or )Knots\(\[(.*?)\]\)(?= for means)': r'\1--knots "\2=\3"',
    r"np\.datetime64\('(.*?)'\)": lambda match: match[1] + "2000-01-01"[len(match[1]) :],
    r"np\.inf": "inf",
    r"Convert them to dates, and pass Bins of dates": "Write them as 2024-12-31, and use --bins",
    r"\bkey_check=": "--key-check ",
    r"\beps_worst_case=(?=\d)": "--eps-worst-case ",
    r"\beps_worst_case=": "--eps-worst-case",
    r"\bobserver_columns\b": "--observer-column",
    r"\bmax_reports=": "--max-reports ",
}
_UNWRITTEN = "interrupted; nothing was written."


class CommandError(Exception):
    """Wrong usage or bad input; the message states the problem, its place and a remedy."""


def heed_signals() -> None:
    """Wait for the timer that repeats a signal which arrived during an import."""
    if hasattr(signal, "getitimer"):
        time.sleep(min(2.0 * signal.getitimer(signal.ITIMER_REAL)[1], 0.1))


def exit_code_of(work: Callable[[], int | None]) -> int:
    """Run a command, print errors and warnings in one line each, and return the exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _warn
            code = work() or 0
            sys.stdout.flush()
            return code
    except BrokenPipeError:  # as with `| head`: the reader stopped
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # else Python complains when it ends
        return PIPE_CLOSED
    except (CommandError, SkrldpError, ValueError, TypeError, OSError) as error:
        _say("error", error)
        return FAILED if isinstance(error, CertificateError) else WRONG
    except KeyboardInterrupt as stop:
        _say("error", " ".join(["interrupted.", *_notes(stop)]) if _notes(stop) else _UNWRITTEN)
        return INTERRUPTED


def _warn(message: Warning | str, category: type[Warning], *where: Any, **options: Any) -> None:
    # Those of scikit-learn and of this package, but no deprecations
    if issubclass(category, UserWarning):
        _say("warning", message)


def _notes(message: object) -> list[str]:
    """Return the notes of an error, which name files that are left behind."""
    return getattr(message, "__notes__", [])


def _say(kind: str, message: object) -> None:
    text = str(message)
    if isinstance(message, OSError) and message.strerror:
        name = "" if message.filename is None else f"{message.filename}: "
        text = f"{name}{message.strerror}."
    text = " ".join([text, *_notes(message)])
    print(f"skrldp: {kind}: {in_one_line(of_commands(text))}", file=sys.stderr)


def of_commands(text: str) -> str:
    """Replace Python terms in a text by the command line's."""
    for python, meant in _AS_COMMANDS.items():
        text = re.sub(python, meant, text)
    return text
