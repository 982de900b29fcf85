"""Categories in JSON: strings, numbers, booleans, null, dates, and tuples of them."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np

from skrldp.mechanism._checks import malformed, whole

__all__ = ["plain", "revive"]

_TIMES: dict[str, Any] = {
    "datetime": datetime.datetime,
    "date": datetime.date,
    "time": datetime.time,
}
_MICROSECOND = datetime.timedelta(microseconds=1)
_DEEPEST = 4  # an alphabet, of reports that are cells, of secrets that are several categories


def plain(value: Any, depth: int = 1) -> Any:
    """Write a category, or a tuple of them, as JSON has it."""
    if isinstance(value, tuple | list):
        _check_depth(depth)
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value!r} cannot be a category; a missing value is None.")
    if isinstance(value, str):
        _check_text(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        raise TypeError(f"{value!r} has nanoseconds, which JSON's dates cannot hold; round it.")
    for name, kind in _TIMES.items():  # datetime first: it is a date too
        if isinstance(value, kind):
            return {name: value.isoformat()}
    if isinstance(value, datetime.timedelta):
        return {"microseconds": value // _MICROSECOND}
    raise TypeError(
        f"a category of type {type(value).__name__} ({value!r}) cannot be written as JSON; use "
        "strings, numbers, booleans or dates."
    )


def revive(value: Any, where: str, depth: int = 2) -> Any:
    """Read a category, or a list of them, that stands in the field `where`."""
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
