"""Categories in JSON, and checks of mechanisms that are read or written."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.alphabet.categories import OTHER, Column, is_utf8
from skrldp.alphabet.numbers import Bins, Knots, Numbers
from skrldp.alphabet.values import brief, is_missing
from skrldp.alphabet.values import plain as comparable
from skrldp.claims import wrong_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_CELLS = 1_000_000
MOST_SYMBOLS = 1 << 16  # of a matrix of weights


def malformed(problem: str) -> ValueError:
    """Return the error for an invalid mechanism."""
    return ValueError(f"the mechanism is malformed: {brief(problem)}.")


def check_keys(
    fields: dict[str, Any], needed: Sequence[str], optional: Sequence[str], where: str
) -> None:
    """Check that an object has all required keys, and no unknown ones."""
    if wrong := wrong_keys(fields, needed, optional, where):
        raise malformed(wrong)


def check_columns(columns: Iterable[Any]) -> tuple[tuple[Any, bool], ...]:
    """Return columns as pairs of a name and whether it is sensitive."""
    pairs = tuple(columns)
    for pair in pairs:
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise ValueError(
                f"columns must be pairs of a name and whether it is sensitive, got {pair!r}."
            )
        if not isinstance(pair[1], bool | np.bool_):
            raise ValueError(f"Expected True or False for column {pair[0]!r}, got {pair[1]!r}.")
    return tuple((name, bool(sensitive)) for name, sensitive in pairs)


def check_alphabets(
    secrets: Sequence[Any],
    values: Sequence[Any],
    symbols: Sequence[Any] | None,
    columns: Sequence[tuple[Any, bool]],
) -> None:
    """Check that no name repeats and that the alphabets are those of the columns."""
    names = [name for name, _ in columns]
    alphabets = {"secrets": secrets, "values": values, "column names": names}
    if symbols is not None:
        alphabets["symbols"] = symbols
    for where, alphabet in alphabets.items():
        if not alphabet and where != "column names":
            raise malformed(f"{where} are empty")
        seen: dict[Any, Any] = {}
        for name in alphabet:  # 1, 1.0 and True are one category
            key = unique_key(name)
            if key in seen:
                raise malformed(f"{where} repeat, because {seen[key]!r} and {name!r} are equal")
            seen[key] = name
    if columns:
        _check_arity("secrets", secrets, [name for name, sensitive in columns if sensitive])
        _check_arity("values", values, [name for name, sensitive in columns if not sensitive])
    check_numbers(len(secrets), len(values))


def check_numbers(n_secrets: int, n_values: int, n_symbols: int = 1) -> None:
    """Check that there are not too many cells, nor too many reports of a matrix."""
    if n_secrets * n_values > MOST_CELLS:
        raise malformed(f"{n_secrets:,} x {n_values:,} cells exceed the limit of {MOST_CELLS:,}")
    if n_symbols > MOST_SYMBOLS:
        raise malformed(f"{n_symbols:,} reports exceed the limit of {MOST_SYMBOLS:,}")


def unique_key(name: Any) -> Any:
    """Return a key that is equal for equal names, and is found quickly whatever the names are.

    Python hashes numbers by a known rule, so an attacker can choose many with the same hash, for
    which a dictionary takes quadratic time. The hashes of strings depend on a random number.
    """
    if isinstance(name, tuple):
        return tuple(map(unique_key, name))
    if isinstance(name, str):
        return f"text {name}"
    if isinstance(name, float):
        if not name.is_integer():
            return name.hex()
        name = int(name)
    return f"{int(name):x}" if isinstance(name, int) else name


def _check_arity(label: str, names: Sequence[Any], columns: Sequence[Any]) -> None:
    """Check that a single column has categories, and several have tuples; U may be empty."""
    n = len(columns)
    widths = {len(name) if isinstance(name, tuple) else 1 for name in names}
    if (
        (n == 0 and label == "secrets")
        or widths != {n}
        or (n == 1 and any(isinstance(name, tuple) for name in names))
    ):
        raise malformed(f"{label} must match the {n} column{'' if n == 1 else 's'} {columns}")


def check_blocks(
    blocks: tuple[int, int, int, int], n_secrets: int, n_values: int, bits: int
) -> None:
    """Check that four weights are a distribution on the cells."""
    if not 1 <= bits <= 53:
        raise malformed(f"blocks must have 1 to 53 denominator bits, got {bits}")
    # Even if no report has this probability, it must be valid
    if min(blocks) < 0 or max(blocks) > 1 << bits:
        raise malformed("weights are negative or too large")
    counts = (1, n_values - 1, n_secrets - 1, (n_secrets - 1) * (n_values - 1))
    total = sum(weight * count for weight, count in zip(blocks, counts, strict=True))
    if total != 1 << bits:
        raise ValueError(
            f"the mechanism is damaged: the weights of each cell sum to {total}, not to 2**{bits}."
        )


def check_weights(weights: NDArray[np.int64], bits: int) -> None:
    """Check that each column of weights is a distribution on the reports."""
    n_symbols = len(weights)
    check_numbers(1, 1, n_symbols)
    if bits != 32 + (n_symbols - 1).bit_length():
        raise malformed(
            f"{n_symbols} reports need {32 + (n_symbols - 1).bit_length()} denominator bits, got "
            f"{bits}"
        )
    if weights.min() < 0:
        raise malformed("weights are negative")
    # At most 2**16 weights of at most 2**48, so sums cannot wrap around to 2**bits.
    wrong = weights.max(axis=0) > 1 << bits
    wrong |= weights.sum(axis=0, dtype=np.uint64) != 1 << bits
    if wrong.any():
        raise ValueError(
            f"the mechanism is damaged: the weights of column {int(wrong.argmax())} do not sum to "
            f"2**{bits}."
        )


def whole(number: Any, where: str) -> int:
    """Return an integer from the field `where`; True and 1.0 are rejected."""
    if type(number) is not int:
        raise malformed(f"{where} must hold integers, got {number!r}")
    return number


# --- Categories: strings, numbers, booleans, null, dates, and tuples of them ----------------------


_TIMES: dict[str, Any] = {
    "datetime": datetime.datetime,
    "date": datetime.date,
    "time": datetime.time,
}
_MICROSECOND = datetime.timedelta(microseconds=1)
_DEEPEST = 4  # levels: an alphabet of reports, each a cell, whose secret is a tuple of categories


def scalars(names: Iterable[Any]) -> tuple[Any, ...]:
    """Convert NumPy scalars to Python's, in a sequence of categories or of tuples of them.

    Dates, times and durations become those of :mod:`datetime`, as in tables, because NumPy itself
    converts those in nanoseconds to integers.
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
        raise ValueError(f"{where} must not be empty.")
    return alphabet


def as_json(value: Any, depth: int = 1) -> Any:
    """Return a category, or a tuple of them, in the form that JSON stores."""
    if isinstance(value, tuple | list):
        _check_depth(depth)
        return [as_json(item, depth + 1) for item in value]
    value = _scalar(value)
    infinite = isinstance(value, float) and math.isinf(value)
    if infinite or (value is not None and is_missing(value)):
        raise ValueError(f"{value!r} cannot be a category. Use None for a missing value.")
    if isinstance(value, str):
        _check_text(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        raise TypeError(
            f"{value!r} has nanoseconds, which JSON cannot store. Round it to microseconds."
        )
    for name, kind in _TIMES.items():  # datetime first, because it is also a date
        if isinstance(value, kind):
            return {name: _written(value, kind)}
    if isinstance(value, datetime.timedelta):
        return {"microseconds": value // _MICROSECOND}
    raise TypeError(
        f"a category of type {type(value).__name__} ({value!r}) cannot be written as JSON. Use "
        "strings, numbers, booleans or dates."
    )


# Remedies for values of types that exist in tables but not in JSON.
_INSTEAD = {
    "bytes": "strings, for example from .str.decode('utf-8') or .hex()",
    "Decimal": "floats from .astype(float), or strings",
    "UUID": "strings from .astype(str)",
    "Period": "dates from .dt.to_timestamp(), or strings",
    "Interval": "strings: .cat.rename_categories(str) keeps their order, or .astype(str)",
    "tuple": "a column for each entry",
    "Timestamp": "times without nanoseconds, from .dt.round('us')",
    "Timedelta": "durations without nanoseconds, from .dt.round('us')",
}


def check_categories(where: str, categories: Iterable[Any]) -> None:
    """Reject categories that a mechanism's JSON cannot store, because no client could report them.

    Raises TypeError if there is one, with a message that names an alternative.

    Examples
    --------
    >>> check_categories("column 'day'", [frozenset()])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: column 'day' has values of type frozenset, which clients cannot report....
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
                f"{where} has values of type {kind}{nanoseconds}, which clients cannot report. Use "
                f"{instead}."
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
        f"{value!r} cannot be written as JSON, because {text!r} is ambiguous. Use UTC or no time "
        "zone, and years from 1 to 9999."
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
            if moment.isoformat() == content:  # the string was not truncated
                return moment
    except (ValueError, OverflowError):
        pass
    raise malformed(f"{where} hold {value!r}, which is not a date, time or duration")


def _check_depth(depth: int) -> None:
    if depth > _DEEPEST:
        raise malformed("lists of categories are nested too deeply")


def _check_text(text: str) -> None:
    if not is_utf8(text):
        raise malformed(f"{text!r} has half a surrogate pair, so it is not valid text")


# --- Which values of U are reported as "other" ----------------------------------------------------


Others = bool | tuple[Any, ...] | None


def check_others(others: Any, values: Sequence[Any]) -> None:
    """Check that a column has the value "other" if values are reported as "other".

    Raises ValueError if they do not fit.
    """
    widths = [len(value) if isinstance(value, tuple) else 1 for value in values]
    width = widths[0]
    if set(widths) != {width}:
        raise malformed("other requires that all values of U have the same number of columns")
    if not isinstance(others, tuple) or len(others) != width:
        raise malformed(f"other must have an entry for each of the {width} columns of U")
    for index, entry in enumerate(others):
        if entry is None:
            continue
        column = Column.of_values(index, (v[index] if width > 1 else v for v in values))
        if column.other is None:
            raise malformed(
                f"column {index} of U has values grouped as other, but no value {OTHER!r}"
            )
        if entry is True:
            continue
        if not isinstance(entry, tuple) or not entry:
            raise malformed("each of other must be null, true, or a list of values")
        known = column.codes(entry)
        if (known >= 0).any() or len(Column.of_values(index, entry)) < len(entry):
            raise malformed("values in other must be distinct and not values of U")
    if width > 1 and all(entry is True for entry in others) and (OTHER,) * width not in values:
        raise malformed(f"U lacks the value with {OTHER!r} in every column")


# --- Numbers that are cut into bins or rounded to knots -------------------------------------------


def check_numbers_of(
    numbers: Any,
    columns: Sequence[tuple[Any, bool]],
    secrets: Sequence[Any],
    values: Sequence[Any],
    others: Sequence[Any] | None,
) -> None:
    """Check that bins and knots match the categories of their columns.

    If all unknown values are "other", bins may be unknown as well. Raises ValueError if they do not
    fit.
    """
    if not isinstance(numbers, tuple) or len(numbers) != len(columns) or not any(numbers):
        raise malformed(f"numbers must have an entry for each of {len(columns)} columns")
    for flag, members in ((True, secrets), (False, values)):
        indices = [index for index, (_, sensitive) in enumerate(columns) if sensitive is flag]
        if not indices:
            continue
        alphabets = list(zip(*members, strict=True)) if len(indices) > 1 else [tuple(members)]
        entries = (others or (None,) * len(indices)) if not flag else (None,) * len(indices)
        for index, alphabet, entry in zip(indices, alphabets, entries, strict=True):
            column_numbers = numbers[index]
            if column_numbers is None:
                continue
            known = {*alphabet, *(entry if isinstance(entry, tuple) else ())}
            categories = set(column_numbers.categories)
            if isinstance(column_numbers, Bins):
                known, categories = known - {OTHER}, categories - {OTHER}
            if not (known <= categories if entry is True else known == categories):
                raise malformed(
                    f"the categories of column {columns[index][0]!r} must be its bins or knots"
                )


def check_public_numbers(public: Sequence[Any], numbers: Sequence[Numbers | None] | None) -> None:
    """Check that public means are of the columns' bins, and rounding of columns with knots."""
    if numbers is None or len(public) != len(numbers) or not any(public):
        raise malformed("public numbers require columns with bins or knots")
    for summary, rule in zip(public, numbers, strict=True):
        if summary is None:
            continue
        n_bins = len(rule.labels) if isinstance(rule, Bins) and rule.kind == "number" else 0
        if rule is None or len(summary.means) != n_bins or (n_bins == 0) != isinstance(rule, Knots):
            raise malformed("public numbers do not match the bins or knots of their column")


_ENDS = (-math.inf, math.inf)


def numbers_as_json(numbers: Numbers | None) -> Any:
    """Write bins or knots; null for an infinite edge, and omitting defaults."""
    if numbers is None:
        return None
    if isinstance(numbers, Knots):
        fields: dict[str, Any] = {"knots": list(numbers.points)}
    else:
        fields = {"edges": [None if edge in _ENDS else as_json(edge) for edge in numbers.edges]}
    if numbers.outside != "error":
        fields["outside"] = numbers.outside
    return fields


def numbers_from_json(entry: Any) -> Numbers | None:
    """Read the output of :func:`numbers_as_json`."""
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise malformed("each of numbers must be null or an object")
    kind = "knots" if "knots" in entry else "edges"
    check_keys(entry, (kind,), ("outside",), "each of numbers")
    points, outside = entry[kind], entry.get("outside", "error")
    if not isinstance(points, list) or entry.get("outside") == "error":
        raise malformed(f"{kind} must be a list, and outside='error' must be omitted")
    if any(isinstance(point, str | bool | list) for point in points):
        raise malformed(f"{kind} must be numbers or dates")
    revived = [revive(point, kind) for point in points]
    try:
        if kind == "knots":
            return Knots(revived, outside=outside)
        ends = dict(zip((0, len(revived) - 1), _ENDS, strict=True))
        edges = [ends.get(k, edge) if edge is None else edge for k, edge in enumerate(revived)]
        bins = Bins(edges, outside=outside)
    except ValueError as error:
        raise malformed(str(error).rstrip(".")) from None
    if numbers_as_json(bins)["edges"] != points:  # midnight as a time, or a zone other than UTC
        raise malformed("edges must hold dates and times in their shortest form")
    return bins
