"""Categories in JSON: strings, numbers, booleans, null, dates, and tuples of them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from skrldp.alphabet import is_missing
from skrldp.alphabet import plain as comparable
from skrldp.mechanism._json_checks import malformed, whole

__all__ = ["alphabet_of", "as_json", "check_categories", "revive", "scalars"]

_TIMES: dict[str, Any] = {
    "datetime": datetime.datetime,
    "date": datetime.date,
    "time": datetime.time,
}
_MICROSECOND = datetime.timedelta(microseconds=1)
_DEEPEST = 4  # levels: an alphabet of reports, each a cell, whose secret is a tuple of categories


def scalars(names: Iterable[Any]) -> tuple[Any, ...]:
    """Turn NumPy's scalars into Python's, in a sequence of categories or of tuples of them.

    Dates, times and durations become those of :mod:`datetime`, as they do in tables: NumPy itself
    would turn those in nanoseconds into whole numbers.
    """
    return tuple(_scalar(name) for name in names)


def _scalar(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return scalars(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return value if np.isnat(value) else comparable(value)
    return value.item() if isinstance(value, np.generic) else value


def alphabet_of(names: Iterable[Any], where: str) -> tuple[Any, ...]:
    """Return an alphabet as a tuple of Python scalars."""
    alphabet = scalars(names)
    if not alphabet:
        raise ValueError(f"{where} are empty; a mechanism needs at least one of each.")
    return alphabet


def as_json(value: Any, depth: int = 1) -> Any:
    """Return a category, or a tuple of them, in the form that JSON stores."""
    if isinstance(value, tuple | list):
        _check_depth(depth)
        return [as_json(item, depth + 1) for item in value]
    value = _scalar(value)
    infinite = isinstance(value, float) and math.isinf(value)
    if infinite or (value is not None and is_missing(value)):
        raise ValueError(f"{value!r} cannot be a category; a missing value is None.")
    if isinstance(value, str):
        _check_text(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        raise TypeError(f"{value!r} has nanoseconds, which JSON's dates cannot hold; round it.")
    for name, kind in _TIMES.items():  # datetime first: it is a date too
        if isinstance(value, kind):
            return {name: _written(value, kind)}
    if isinstance(value, datetime.timedelta):
        return {"microseconds": value // _MICROSECOND}
    raise TypeError(
        f"a category of type {type(value).__name__} ({value!r}) cannot be written as JSON; use "
        "strings, numbers, booleans or dates."
    )


# What to do with values of types that tables hold and JSON does not.
_INSTEAD = {
    "bytes": "strings, as .str.decode('utf-8') or .hex() make them",
    "Decimal": "floats, as .astype(float) makes them, or strings",
    "UUID": "strings, as .astype(str) makes them",
    "Period": "dates, as .dt.to_timestamp() makes them, or strings",
    "Interval": "strings: .cat.rename_categories(str) keeps their order, or .astype(str)",
    "tuple": "a column for each entry",
    "Timestamp": "moments without nanoseconds, as .dt.round('us') makes them",
    "Timedelta": "durations without nanoseconds, as .dt.round('us') makes them",
}


def check_categories(where: str, categories: Iterable[Any]) -> None:
    """Refuse categories that a mechanism's JSON cannot hold, so that no client could report them.

    Raises TypeError if there is one; the message says what to use instead.

    Examples
    --------
    >>> check_categories("column 'day'", [frozenset()])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: column 'day' has values of type frozenset, which no client could have...
    """
    for value in categories:
        try:
            if isinstance(value, tuple | list):
                raise TypeError
            as_json(value)
        except (TypeError, ValueError):
            kind = type(value).__name__
            with_zone = isinstance(value, datetime.datetime | datetime.time) and value.tzinfo
            instead = "text without half surrogate pairs" if isinstance(value, str) else None
            instead = "times in UTC or without a zone" if with_zone else instead
            instead = _INSTEAD.get(kind, instead or "strings, numbers, booleans or dates")
            nanoseconds = " with nanoseconds" if kind.startswith("Time") else ""
            raise TypeError(
                f"{where} has values of type {kind}{nanoseconds}, which no client could have as "
                f"categories; use {instead}."
            ) from None


def _written(value: Any, kind: Any) -> str:
    """Write a date or time as Python's `isoformat` does, if that can be read back."""
    text: str = value.isoformat()
    try:
        if kind.fromisoformat(text) == value:
            return text
    except ValueError:
        pass
    raise ValueError(
        f"{value!r} cannot be written as JSON: {text!r} does not say which moment it is. Use UTC "
        "or no time zone, and years from 1 to 9999."
    )


def revive(value: Any, where: str, depth: int = 2) -> Any:
    """Read a category, or a list of them, from the field `where`."""
    if isinstance(value, list):
        _check_depth(depth)
        return tuple(revive(item, where, depth + 1) for item in value)
    if isinstance(value, str):
        _check_text(value)
    if not isinstance(value, dict):
        return value
    kind, content = next(iter(value.items())) if len(value) == 1 else (None, None)
    try:
        if kind == "microseconds":
            return datetime.timedelta(microseconds=whole(content, kind))
        if kind in _TIMES and isinstance(content, str):
            moment = _TIMES[kind].fromisoformat(content)
            if moment.isoformat() == content:  # nothing was cut off
                return moment
    except (ValueError, OverflowError):
        pass
    raise malformed(f"{where} hold {value!r}, which is no date, time or duration")


def _check_depth(depth: int) -> None:
    if depth > _DEEPEST:
        raise malformed("lists of categories are nested too deeply")


def _check_text(text: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise malformed(f"{text!r} has half a surrogate pair, which is no text") from None
