"""The formats of tables."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath

from skrldp.cli._errors import CommandError
from skrldp.cli._files import STANDARD, files_of

__all__ = ["Asked", "Kind", "check_delimiter", "kind_of", "kind_to_write"]

_ENDINGS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "tsv",
    ".tsv.gz": "tsv",
    ".jsonl": "jsonl",
    ".jsonl.gz": "jsonl",
    ".ndjson": "jsonl",
    ".ndjson.gz": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrows",
}


@dataclass(frozen=True)
class Asked:
    """What options say of a table's format.

    Attributes
    ----------
    format : str or None
        The format, if its name does not tell it.
    delimiter : str or None
        What is between the fields of CSV.
    """

    format: str | None = None
    delimiter: str | None = None

    def __post_init__(self) -> None:
        own = self.delimiter
        if own == "\\t":  # as shells pass it on
            object.__setattr__(self, "delimiter", "\t")
        elif own is not None and (
            len(own) != 1 or not own.isascii() or own.isalnum() or own in _NO
        ):
            raise CommandError(
                "--delimiter is one character such as ';' or '|', or '\\t' for a tab; no letter, "
                "digit, quote or line end."
            )


_NO = '"\r\n.+-'  # are in fields


@dataclass(frozen=True)
class Kind:
    """A table's format.

    Attributes
    ----------
    name : {"csv", "jsonl", "parquet", "arrow", "arrows"}
    delimiter : str or None
        Of CSV: what is between fields.
    """

    name: str
    delimiter: str | None = None

    @property
    def is_text(self) -> bool:
        """Whether types come from the mechanism, or are inferred."""
        return self.name in ("csv", "jsonl")


def kind_of(path: str, asked: Asked) -> Kind:
    """Tell the format of a table that is read."""
    files = files_of(path)
    if path != STANDARD and not PurePath(path).suffix and not os.path.exists(files[0]):
        raise CommandError(f"{path}: there is no such file or folder.")
    kinds = {_kind(file, asked, "--format") for file in files}
    if len(kinds) > 1:
        raise CommandError(
            f"{path}: the files have several formats; give a pattern such as "
            f"{os.path.join(path, '*.parquet')!r}."
        )
    return kinds.pop()


def kind_to_write(path: str, asked: Asked) -> Kind:
    """Tell the format of a table that is written."""
    return _kind(path, asked, "--output-format")


def _kind(path: str, asked: Asked, option: str) -> Kind:
    found = asked.format or ("csv" if path == STANDARD else _by_name(path, option))
    if found == "tsv":
        return Kind("csv", "\t")
    return Kind("csv", asked.delimiter or ",") if found == "csv" else Kind(str(found))


def _by_name(path: str, option: str) -> str:
    name = PurePath(path).name.lower()
    for ending, kind in _ENDINGS.items():
        if name.endswith(ending):
            return kind
    raise CommandError(
        f"{path}: the name does not tell the format; name the file {', '.join(_ENDINGS)}, or give "
        f"{option}."
    )


def check_delimiter(asked: Asked, *kinds: Kind) -> None:
    """Refuse a delimiter that is used nowhere."""
    if asked.delimiter is not None and asked.delimiter not in {kind.delimiter for kind in kinds}:
        raise CommandError("--delimiter is for CSV; no such file is read or written here.")
