"""Texts about columns and values, for messages.

Messages end up in logs, so they must contain nothing of private records: values of U tell about
the secret as well. They show categories, which are public, and numbers of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from skrldp.alphabet._columns import Column
from skrldp.alphabet._scalars import brief, is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["hint_of", "known_of", "listed", "named", "numbered", "rows_in_words"]

_SHOWN = 8
# How texts may differ that people take for the same.
_WAYS: dict[str, Callable[[str], str]] = {
    "how accents are encoded (Unicode NFC)": lambda text: normalize("NFC", text),
    "letter case": str.lower,
    "outer spaces": str.strip,
}


def listed(values: Sequence[Any]) -> str:
    """Show the first few values."""
    more = len(values) - _SHOWN
    shown = brief(", ".join(map(repr, values[:_SHOWN])))
    return shown + (f" (and {more:,} more)" if more > 0 else "")


def known_of(column: Column) -> str:
    """Say which values a column may have: the first few categories, or the range of its bins."""
    if column.bins is not None:
        return f"numbers in {column.bins.range}"
    return listed(column.categories)


def named(columns: Sequence[Column]) -> str:
    """Name some columns in a sentence: "column 'a'", "columns 'a', 'b'"."""
    plural = "s" if len(columns) > 1 else ""
    return f"column{plural} {brief(', '.join(repr(column.name) for column in columns))}"


def numbered(rows: NDArray[Any], what: str = "row") -> str:
    """Give the numbers of the first few rows: "row 3", "rows 0, 2, 5"."""
    some = ", ".join(map(str, rows[:_SHOWN])) + (", ..." if len(rows) > _SHOWN else "")
    return f"{what}{'s' if len(rows) > 1 else ''} {some}"


def hint_of(column: Column, values: Iterable[Any]) -> str:
    """Say how an unknown text differs from a known one, if in one way alone; "" if none does."""
    texts = {value for value in values if isinstance(value, str)}
    for what, key in _WAYS.items():
        known = set(map(key, column.texts)) if texts else set()
        if any(key(text) in known for text in texts):
            return f"A value differs from a known one only in {what}; write it in the same way."
    return ""


def rows_in_words(unknown: Counter[Any], *, secret: bool = False) -> str:
    """Say which values stand in how many rows of a public table: "3 rows with values 'x', 'y'"."""
    n_missing = unknown.get(None, 0)
    if secret:
        n_rows = sum(unknown.values())
        return f"{n_rows:,} row{'s' if n_rows > 1 else ''} with a value"
    parts = []
    present = [value for value in unknown if not is_missing(value)]
    if present:
        n_rows = sum(unknown.values()) - n_missing
        rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
        parts.append(f"{rows} with {'values' if len(present) > 1 else 'value'} {listed(present)}")
    if n_missing:
        parts.append(f"{n_missing:,} missing value{'s' if n_missing > 1 else ''}")
    return " and ".join(parts)
