"""The formats of tables, and how CSV's texts become the mechanism's categories."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from skrldp.alphabet import OTHER
from skrldp.cli._errors import CommandError
from skrldp.cli._files import STANDARD, files_of

if TYPE_CHECKING:
    from skrldp.mechanism import Mechanism

__all__ = [
    "Asked",
    "Kind",
    "categories_of",
    "check_delimiter",
    "column_types",
    "kind_of",
    "kind_to_write",
    "needed_columns",
    "with_missing",
]

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
_EXACT = 2**53  # up to here float64 holds every whole number


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


def needed_columns(mechanism: Mechanism) -> list[str]:
    """Return the names of the columns that a mechanism reads."""
    named = mechanism.columns or (("secret", True), ("value", False))
    of_u = mechanism.observe == "nonsensitive"
    names = [name for name, sensitive in named if not (of_u and sensitive)]
    if not all(isinstance(name, str) for name in names):
        raise CommandError(
            f"the mechanism's columns have no names but the numbers {names}, as it was designed "
            "from an array: the command line finds columns by name."
        )
    return names


def categories_of(mechanism: Mechanism) -> dict[str, list[Any]]:
    """Return the categories of each column that a mechanism names.

    Returns dict of str to list: "other" is left out where it stands for other values.
    """
    named = mechanism.columns or (("secret", True), ("value", False))
    found: dict[str, list[Any]] = {}
    for members, flag in ((mechanism.secrets, True), (mechanism.values, False)):
        names = [name for name, sensitive in named if sensitive is flag]
        others = mechanism.others or () if not flag else ()
        for place, name in enumerate(names):
            own = list(members) if len(names) == 1 else [member[place] for member in members]
            other = others[place] if place < len(others) else None
            if other is not None:
                own = [value for value in own if value != OTHER]
                own += other if isinstance(other, tuple) else ()
            found[name] = own
    return found


def column_types(categories: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the Arrow type as which each column of a text file is read."""
    return {name: _type(name, values) for name, values in categories.items()}


def _type(name: str, categories: Sequence[Any]) -> Any:
    import pyarrow as pa

    values = [value for value in categories if value is not None]
    if all(isinstance(value, str) for value in values):
        return pa.string()
    if all(isinstance(value, bool) for value in values):
        return pa.bool_()
    if all(isinstance(value, int | float) for value in values):
        whole = all(isinstance(value, int) for value in values)
        return pa.int64() if whole and max(map(abs, values)) >= _EXACT else pa.float64()
    if all(isinstance(value, datetime) for value in values):
        zones = {value.tzinfo is None for value in values}
        if len(zones) == 1:
            return pa.timestamp("us", None if zones.pop() else "UTC")
    elif all(isinstance(value, date) and not isinstance(value, datetime) for value in values):
        return pa.date32()
    elif all(isinstance(value, time) for value in values):
        return pa.time64("us")
    raise CommandError(
        f"column {name!r}: the mechanism's categories are of a kind, or of several kinds, that "
        "text files cannot tell apart; give a Parquet or Arrow file."
    )


def with_missing(batch: Any, categories: Mapping[str, Sequence[Any]]) -> Any:
    """Take empty texts of CSV as missing where that is a category and the empty text is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = batch.columns
    for place, field in enumerate(batch.schema):
        known = categories.get(field.name, ())
        if None in known and "" not in known and pa.types.is_string(field.type):
            column = columns[place]
            columns[place] = pc.if_else(pc.equal(column, ""), pa.scalar(None, field.type), column)
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
