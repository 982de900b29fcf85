"""What is wrong with a table's file, in words, without the values that are in it.

Arrow's own messages quote rows and values, which may be secrets, so they are not passed on.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from skrldp.cli._errors import CommandError

__all__ = ["in_words"]

_NAMES = {
    "csv": "CSV file",
    "jsonl": "file of JSON lines",
    "parquet": "Parquet file",
    "arrow": "Arrow file",
    "arrows": "Arrow stream",
}

_TYPES = {
    "double": "number",
    "int64": "whole number",
    "bool": "true or false",
    "date32": "date",
    "time64": "time",
    "timestamp": "date and time",
}


@contextmanager
def in_words(path: str, kind: str, header: Sequence[str] = ()) -> Iterator[None]:
    """Say what is wrong with a file, without the values that Arrow's messages quote."""
    import pyarrow as pa

    try:
        yield
    except CommandError:
        raise
    except FileNotFoundError:
        raise CommandError(f"{path}: there is no such file.") from None
    except IsADirectoryError:
        raise CommandError(f"{path} is a folder; give the name of a file.") from None
    except PermissionError:
        raise CommandError(f"{path} may not be read.") from None
    except (EOFError, gzip.BadGzipFile):
        raise CommandError(f"{path} is cut off or damaged: the compressed data is.") from None
    except (pa.ArrowException, OSError, UnicodeError, zlib.error, csv.Error) as error:
        raise CommandError(f"{path} {_problem(str(error), kind, header)}") from None


def _problem(message: str, kind: str, header: Sequence[str]) -> str:
    row = re.search(r"Row #(\d+)", message)
    where = f"row {row[1]}" if row else "a row"
    if wrong := re.search(r"Expected (\d+) columns, got (\d+)", message):
        return (
            f"is cut off or ragged: {where} has {wrong[2]} values where the header has {wrong[1]} "
            "names."
        )
    if "UTF8" in message.upper().replace("-", ""):
        return "has text that is not in UTF-8; convert it first."
    if kind == "parquet" and "not in range" in message:
        return (
            "has a column whose dictionary has more values than its narrow codes can number. Write "
            "the column without a dictionary."
        )
    if wrong := re.search(r"In CSV column #(\d+): .*conversion error to (\w+)", message, re.DOTALL):
        place, found = int(wrong[1]), _TYPES.get(wrong[2], wrong[2])
        column = repr(header[place]) if place < len(header) else f"number {place + 1}"
        return (
            f"has a value in column {column} that is no {found} (values are not shown). Mend it; "
            "or read the column as text, with --text, if the mechanism does not read it."
        )
    return f"is no {_NAMES[kind]}, or is cut off or damaged."
