"""Table entries as Python scalars, and which values are the same category.

Only NumPy is imported, because clients use the same comparison.

**Sources.** A confidence level depends on the source of the values of U. Values learned from the
counted records favour those that happened to be frequent. But values with many records occur in
almost every table, so a confidence level can allow for them (docs/proofs.md, Theorem 36).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

_MOST = 400  # maximum characters of a quoted value, which may be untrusted
_OUT_OF_RANGE = "a date or duration is out of range"


class CategoryError(ValueError):
    """A value cannot be a category; unlike in libraries' messages, the value is not quoted."""


def plain(value: Any) -> Any:
    """Convert an entry of a table to a Python scalar that is the same for every library.

    Missing values of every kind become None, and numpy scalars Python ones. Dates with a time
    become `datetime`, in UTC if they have a time zone, because two moments an hour apart can have
    the same local time at the end of summer time; those with nanoseconds, which `datetime` cannot
    represent, remain `pandas.Timestamp`.

    Raises ValueError for complex and infinite numbers, and times out of every library's range.
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
    """Return a string, with its middle omitted if it is long."""
    return text if len(text) <= _MOST else f"{text[: _MOST // 2]} ... {text[-_MOST // 2 :]}"


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN (of any type of real numbers), NaT or `pandas.NA`."""
    if value is None or type(value).__name__ == "NAType":
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return bool(isinstance(value, float | np.floating | datetime | timedelta) and value != value)


def in_other_type(day: date) -> date:
    """Convert a date to the midnight at which it begins, and such a midnight to a date.

    Libraries differ in which of the two types a column of days has. A value with a time zone or a
    different time of day is returned unchanged.
    """
    if not isinstance(day, datetime):
        return datetime(day.year, day.month, day.day)
    is_midnight = day.timetz() == time() and not getattr(day, "nanosecond", 0)
    return day.date() if is_midnight else day


def days_of_one_type(values: Iterable[Any]) -> list[Any]:
    """Replace midnights by their dates if dates are among the values.

    Otherwise, a column with both types would have two categories for the same day.
    """
    values = list(values)
    if not any(type(value) is date for value in values):
        return values
    return [in_other_type(v) if isinstance(v, datetime) else v for v in values]


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
    """Return a `datetime` or `timedelta`, or the pandas type if they cannot represent it."""
    if np.isnat(value):
        return None
    unit = np.datetime_data(value.dtype)[0]
    if unit in ("W", "D", "h", "m", "s", "ms", "us", "ns"):
        microseconds = value.astype(f"{value.dtype.kind}8[us]")
        moment = microseconds.item()
        exact = microseconds.astype(value.dtype) == value  # neither rounded nor overflowed
        if exact and isinstance(moment, datetime | timedelta):
            return moment
    import pandas as pd

    try:
        return pd.Timestamp(value) if isinstance(value, np.datetime64) else pd.Timedelta(value)
    except (ValueError, OverflowError):
        raise CategoryError(_OUT_OF_RANGE) from None


def plain_name(name: Any) -> Any:
    """Return a key that is equal for the same secret or value in different types.

    Examples
    --------
    >>> plain_name([1.0, "yes"]) == plain_name((True, "yes"))
    True
    """
    return tuple(map(plain, name)) if isinstance(name, tuple | list) else plain(name)


# --- Where the values of U come from --------------------------------------------------------------


SOURCES = ("declared", "frequent", "cut", "learned")  # the last is the weakest

_WORDS = {
    "declared": (
        "the values of U are declared; bins and groups made beforehand must not come from the "
        "counted records either"
    ),
    "frequent": (
        "the values of U were learned from the counted records, but each has enough of them that "
        "this still holds"
    ),
    "cut": (
        "simulated, not proved, because edges of bins were read from the counted records; all "
        "other values of U are declared or have many records"
    ),
    "learned": (
        "only if the values of U do not come from the counted records, but they were learned from "
        "these, some from few records, so the set may miss far more often"
    ),
    None: ("only if the values of U do not come from the counted records, which is unknown"),
}


def source_in_words(source: str | None) -> str:
    """State the condition on which a confidence set's beta depends.

    A set around a table assumes that values of U (and bins, and groups) were fixed before its
    records were counted, because a choice by looking at the counted records favours what happened
    to be frequent among them.

    The values of U are "declared"; declared except for edges of bins, which are quantiles of the
    counted records ("cut"); learned from the counted records, where each value has enough records
    that the set can allow for it ("frequent", Theorem 36); or learned from them otherwise
    ("learned"). None if unknown.

    Examples
    --------
    >>> source_in_words("declared").partition(";")[0]
    'the values of U are declared'
    """
    if source not in _WORDS:
        raise ValueError(f"source={source!r} must be one of {', '.join(map(repr, SOURCES))}.")
    return _WORDS[source]


def weakest_source(sources: Collection[str | None]) -> str | None:
    """Return the weakest of several sources.

    Examples
    --------
    >>> weakest_source(["frequent", "learned", "declared"])
    'learned'
    """
    return None if None in sources else max(sources, key=SOURCES.index)


# --- Learned values that a confidence level can allow for -----------------------------------------


#: Values with this many records count towards the number of values that a confidence set allows
#: for. Fixed in advance, as the theorem requires; at 1 a single record would count, and at 10
#: `frequent_from` rises by 6 to 8 records.
SEEN_OFTEN = 5

# The part of beta spent on learning which values are frequent: 2 % of the set's error probability.
# At half of it, `frequent_from` rises by five records.
_SPENT = 0.02
_MANY = 400  # records, beyond which the bound (below 1e-40) is not computed


def spent_on_values(beta: float) -> float:
    """Return the part of beta spent on learning the values."""
    return _SPENT * beta


def frequent_from(n: int, beta: float) -> int:
    """Find the number of records at which a value is not grouped.

    Returns int: the smallest m for which Theorem 36 holds. With probability at least ``1 - beta``,
    every value with m of the n records is so probable that all values of at least its probability
    have `SEEN_OFTEN` records.

    Examples
    --------
    >>> [frequent_from(n, 0.001) for n in (1_000, 20_000, 1_000_000)]
    [49, 58, 69]
    """
    minimum = SEEN_OFTEN + 2
    while _chance(n, minimum) > beta:
        minimum += 1
    return minimum


def chance_of_infrequent(n: int, fewest: int) -> float:
    """Bound the error probability in Theorem 36 if each kept value has at least this many records.

    Examples
    --------
    >>> chance_of_infrequent(1_000, 49) < 0.001 < chance_of_infrequent(1_000, 48)
    True
    """
    return _chance(n, min(fewest, _MANY))


@lru_cache(1 << 10)
def _chance(n: int, minimum: int) -> float:
    """Bound the probability of Theorem 36 at the best expected count, an integer."""
    means = range(SEEN_OFTEN + 1, minimum)
    return min((_bound(n, mean, minimum) for mean in means), default=math.inf)


def _bound(n: int, mean: int, minimum: int) -> float:
    """Chernoff's bounds for sums of independent indicators, of n / mean values each."""
    below = SEEN_OFTEN - 1
    few = math.exp(below - mean + below * math.log(mean / below))
    many = math.exp(minimum - mean + minimum * math.log(mean / minimum))
    return (n / mean) * (few + many) * (1.0 + 1e-9)  # rounding
