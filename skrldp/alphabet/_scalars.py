"""Table entries as Python scalars: which values are the same category.

Only NumPy is imported, since clients use the same comparison.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

__all__ = ["CategoryError", "brief", "is_missing", "plain", "plain_name"]


_MOST = 400  # characters of what a message quotes: somebody else may have written it
_OUT_OF_RANGE = "a date or duration is out of range"


class CategoryError(ValueError):
    """A value cannot be a category; unlike libraries' messages, its message does not quote it."""


def plain(value: Any) -> Any:
    """Turn one entry of a table into a Python scalar, the same whatever its library.

    Missing values of every kind become None, numpy scalars Python ones. Dates with a time become
    `datetime`, in UTC if they have a time zone, because two moments an hour apart can have the same
    local time at the end of summer time; those with nanoseconds, which `datetime` cannot hold, stay
    `pandas.Timestamp`.

    Raises ValueError for complex and infinite numbers, and moments out of the range of every
    library.
    """
    if type(value) in (str, int, bool):
        return value
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = _moment(value)
    elif isinstance(value, np.generic):
        value = value.item()
    if is_missing(value):
        return None
    if isinstance(value, datetime | timedelta):
        try:
            return _plain_moment(value)
        except (ValueError, OverflowError):
            raise CategoryError(_OUT_OF_RANGE) from None
    if isinstance(value, complex):
        raise CategoryError("Complex data not supported")
    if isinstance(value, float | np.floating):
        if math.isinf(value):
            raise CategoryError("Input X contains infinity")
        return float(value) + 0.0  # -0.0 becomes 0.0
    return value


def brief(text: str) -> str:
    """Return a text, with its middle left out if it is long."""
    return text if len(text) <= _MOST else f"{text[: _MOST // 2]} ... {text[-_MOST // 2 :]}"


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN (of any type of real numbers), NaT or `pandas.NA`."""
    if value is None or type(value).__name__ == "NAType":
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return bool(isinstance(value, float | np.floating | datetime | timedelta) and value != value)


def _plain_moment(value: Any) -> Any:
    if isinstance(value, timedelta):
        has_nanoseconds = getattr(value, "nanoseconds", 0)
        return value if has_nanoseconds else getattr(value, "to_pytimedelta", lambda: value)()
    if value.tzinfo is not None:
        value = value.astimezone(UTC)
    if getattr(value, "nanosecond", 0):
        return value
    return getattr(value, "to_pydatetime", lambda: value)()


def _moment(value: np.datetime64 | np.timedelta64) -> Any:
    """Return a `datetime` or `timedelta`, or what pandas has where these cannot hold the value."""
    if np.isnat(value):
        return None
    unit = np.datetime_data(value.dtype)[0]
    if unit in ("W", "D", "h", "m", "s", "ms", "us", "ns"):
        whole = value.astype(f"{value.dtype.kind}8[us]")
        moment = whole.item()
        exact = whole.astype(value.dtype) == value  # neither rounded nor overflown
        if exact and isinstance(moment, datetime | timedelta):
            return moment
    import pandas as pd

    try:
        return pd.Timestamp(value) if isinstance(value, np.datetime64) else pd.Timedelta(value)
    except (ValueError, OverflowError):
        raise CategoryError(_OUT_OF_RANGE) from None


def plain_name(name: Any) -> Any:
    """Give the names of one secret or value the same key, whatever types they are written in.

    Examples
    --------
    >>> plain_name([1.0, "yes"]) == plain_name((True, "yes"))
    True
    """
    return tuple(map(plain, name)) if isinstance(name, tuple | list) else plain(name)
