"""Choosing columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from skrldp.table._lazy import lazy_names
from skrldp.table._read import lazy_frame, read_table

__all__ = ["column_names", "resolve_columns"]


def column_names(X: Any) -> list[Any]:
    """Names of a table's columns; positions for an array.

    Examples
    --------
    >>> column_names([["no", 1], ["yes", 2]])
    [0, 1]
    """
    return list(read_table(X).names)


def resolve_columns(
    X: Any, selection: Any, what: str = "sensitive", names: Sequence[Any] | None = None
) -> tuple[int, ...]:
    """Find the positions of the columns that a parameter selects; `names` are those of X, if known.

    Returns tuple of int: in the table's order, each once. Raises ValueError if there is no such
    column, or none is selected. Raises TypeError if the selection is none of the above.

    Examples
    --------
    >>> resolve_columns([["no", 1, 2.5]], [-1, 0])
    (0, 2)
    """
    if names is None:
        lazy = lazy_frame(X)
        names = column_names(X) if lazy is None else lazy_names(lazy)
    names = list(names)
    if callable(selection):
        selection = selection(X)
    positions = _selected(selection, names, what)
    if not positions:
        raise ValueError(f"{what}={selection!r} selects no column; the columns are {names}")
    return tuple(sorted(set(positions)))


def _selected(selection: Any, names: list[Any], what: str) -> list[int]:
    if isinstance(selection, slice):
        start, stop = selection.start, selection.stop
        if isinstance(start, str):
            start = _position(start, names, what)
        if isinstance(stop, str):
            stop = _position(stop, names, what) + 1  # a slice of names includes its end
        return list(range(len(names)))[start : stop : selection.step]
    if isinstance(selection, str) or not isinstance(selection, Iterable):
        return [_position(selection, names, what)]
    items = list(selection)
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != len(names):
            raise ValueError(
                f"{what} is a mask of {len(items)} values, but there are {len(names)} columns"
            )
        return [position for position, selected in enumerate(items) if selected]
    return [_position(item, names, what) for item in items]


def _position(selection: Any, names: list[Any], what: str) -> int:
    if isinstance(selection, bool) or not isinstance(selection, str | Integral):
        raise TypeError(
            f"{what} must be a column name or position, a list of them, a slice, a boolean mask "
            f"or a callable, got {selection!r}"
        )
    if isinstance(selection, str):
        if selection in names:
            return names.index(selection)
    elif -len(names) <= int(selection) < len(names):
        place = int(selection) % len(names)
        if selection in names and names.index(selection) != place:
            raise ValueError(
                f"{what} column {selection!r} may be the one of this name or the one at this "
                f"place, {names[place]!r}: the columns are {names}. Rename them to strings, "
                "X.rename(columns=str), and give names."
            )
        return place
    message = f"{what} column {selection!r} not found; the columns are {names}"
    if isinstance(selection, str) and names == list(range(len(names))):
        message += (
            ": the table has no names. Give a position; or, in a Pipeline, let the steps before "
            "keep names by .set_output(transform='pandas')"
        )
    raise ValueError(message)
