"""The categories of one column, and the lookup of values among them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import numpy as np

from skrldp._arrays import smallest_dtype
from skrldp.alphabet.numbers import Bins, Draws, Knots, Numbers
from skrldp.alphabet.values import CategoryError, brief, in_other_type, is_missing, plain

if TYPE_CHECKING:
    from numpy.typing import NDArray


# --- A column whose distinct values are stored once -----------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Factorized:
    """A column encoded as positions into its distinct values."""

    positions: NDArray[Any]  # (n,), each row's index in `distinct`; -1 if its value is missing
    # Python scalars, or values that :func:`plain` converts to such. Values without rows, and
    # duplicate values, are allowed.
    distinct: Sequence[Any] | NDArray[Any]

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, row: int) -> Any:
        position = int(self.positions[row])
        return None if position < 0 else self.distinct[position]

    def spread(self, codes: NDArray[Any], missing: Any) -> NDArray[Any]:
        """Map each row to the code of its value.

        Shapes: `codes` (len(distinct),); returns (n,).
        """
        return np.append(codes, codes.dtype.type(missing)).take(self.positions)


# --- The categories of a column -------------------------------------------------------------------


OTHER = "other"  # the value that replaces a column's rare and unknown values

# By the bytes of a float, the bits of integers that it represents exactly.
_DIGITS = {2: 11, 4: 24, 8: 53}

# Up to this many numbers are looked up in a dictionary. An attacker can choose n numbers with equal
# hashes, which take n**2 steps: at most about 10 ms here. Larger alphabets are searched by
# bisection.
_FEW_NUMBERS = 1000


@dataclass(frozen=True)
class Column:
    """A column's alphabet."""

    name: Any  # column name; index for arrays
    # Distinct Python scalars, in order. A missing value, if it is a category, is None.
    categories: tuple[Any, ...]
    # Values that are not categories and are mapped to the category "other"
    infrequent: tuple[Any, ...] = field(default=(), kw_only=True)
    # If given, values are numbers that are assigned to their bin or rounded to a knot
    numbers: Numbers | None = field(default=None, kw_only=True)

    @classmethod
    def of_values(cls, name: Any, values: Iterable[Any], infrequent: Sequence[Any] = ()) -> Column:
        """Make a column whose categories are given values, in the order of first occurrence."""
        categories = tuple(_distinct([plain(value) for value in values]))
        return cls(name, categories, infrequent=tuple(map(plain, infrequent)))

    @property
    def other(self) -> int | None:
        """Index of the category "other"; None if there is none."""
        return self.categories.index(OTHER) if OTHER in self.categories else None

    @property
    def _entries(self) -> list[tuple[Any, int]]:
        """Every value that can be found, and the index of its category."""
        entries = [(category, code) for code, category in enumerate(self.categories)]
        other_code = self.other
        if self.infrequent and other_code is not None:
            entries += [(value, other_code) for value in self.infrequent]
        return entries

    def __len__(self) -> int:
        return len(self.categories)

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}  # no look-up tables

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The strings that can be found, except those that UTF-8 cannot encode."""
        if self.numbers is not None:
            return ()
        texts = dict.fromkeys(value for value, _ in self._entries if isinstance(value, str))
        return tuple(text for text in texts if is_utf8(text))

    @cached_property
    def _places(self) -> _Places:
        return _Places(self._entries)

    @property
    def is_rounded(self) -> bool:
        """Whether the codes of values are random."""
        return isinstance(self.numbers, Knots)

    @cached_property
    def _of_numbers(self) -> NDArray[np.int64]:
        """Index of the category of each bin or knot, followed by -1 for none, (k + 1,)."""
        categories = () if self.numbers is None else self.numbers.categories
        return np.array([*(self._places[category] for category in categories), -1], dtype=np.int64)

    @cached_property
    def _roundings(self) -> dict[int, set[float]]:
        """By the bytes of a float, the floats to which integer categories are rounded."""
        rounded: dict[int, set[float]] = {size: set() for size in _DIGITS}
        smallest = 1 << min(_DIGITS.values())
        large = [v for v, _ in self._entries if type(v) is int and abs(v) >= smallest]
        for size, digits in _DIGITS.items():
            for integer in large:
                with suppress(OverflowError), np.errstate(over="ignore"):
                    if abs(integer) >= 1 << digits:
                        rounded[size].add(float(np.dtype(f"f{size}").type(integer)))
            rounded[size] -= {math.inf, -math.inf}
        return rounded

    @cached_property
    def may_be_rounded(self) -> bool:
        """Whether a float may be an integer category that was rounded."""
        return self.numbers is None and any(self._roundings.values())

    def refuse_rounded(
        self, values: Sequence[Any] | NDArray[Any] | Factorized, size: int = 8
    ) -> None:
        """Reject floats that may be rounded integer categories.

        `size` is the number of bytes of the values before their conversion to Python. Raises
        CategoryError.
        """
        if not self.may_be_rounded:
            return
        entries: Any = values.distinct if isinstance(values, Factorized) else values
        if isinstance(entries, np.ndarray):
            size, entries = entries.dtype.itemsize, entries.tolist()
        for value in entries:
            if isinstance(value, float | np.floating):
                width = min(getattr(value, "itemsize", size), 8)
                if float(value) in self._roundings[width]:
                    raise CategoryError(
                        f"column {brief(repr(self.name))} contains floats of 2^{_DIGITS[width]} or "
                        "more, which may be rounded, but its categories are integers of this size. "
                        "Read it as integers, for example Int64 in pandas."
                    )

    @cached_property
    def _numbers(self) -> dict[str, tuple[NDArray[Any], NDArray[np.int64]]]:
        return {}  # by the kind of dtype; see `_sorted_numbers`

    def code(self, value: Any) -> int:
        """Find the index of one value, which is not rounded; see :meth:`codes`."""
        if self.numbers is not None:
            return int(self.codes([value])[0])
        if isinstance(value, np.timedelta64):  # some versions of NumPy equate it with a number
            return self._places.of_plain(value)
        return self._places[value]

    def codes(
        self, values: Sequence[Any] | NDArray[Any] | Factorized, draws: Draws | None = None
    ) -> NDArray[Any]:
        """Find the index of each value among the categories; `draws` are only for rounding.

        Shapes: `values` (n,). Returns (n,): -1 for a value that is not a category. Raises TypeError
        if a value cannot be a category: lists, for example.
        """
        if isinstance(self.numbers, Knots):
            return self._rounded(self.numbers, values, draws)
        if isinstance(values, Factorized):
            codes = self.codes(values.distinct).astype(smallest_dtype(len(self), signed=True))
            return values.spread(codes, self.code(None))
        if isinstance(self.numbers, Bins):
            return self._of_numbers[self.numbers.codes(values)]
        if not isinstance(values, np.ndarray):
            return self._codes_of_objects(values)
        if values.dtype.kind in "biuf":
            return self._codes_of_numbers(values)
        if values.dtype.kind in "mM":
            distinct, inverse = np.unique(values, return_inverse=True)
            return self._codes_of_objects(list(distinct))[inverse]
        return self._codes_of_objects(values.tolist())

    def _rounded(self, knots: Knots, values: Any, draws: Draws | None) -> NDArray[Any]:
        """Round each number to one of its two neighbouring knots."""
        if draws is None:
            raise AssertionError(
                f"column {self.name!r} needs random draws, because its numbers are rounded"
            )
        if isinstance(values, Factorized):
            lower, thresholds = knots.thresholds(values.distinct)
            lower, thresholds = values.spread(lower, -1), values.spread(thresholds, 0)
        else:
            lower, thresholds = knots.thresholds(values)
        return self._of_numbers[lower + (draws(self.name, knots, len(lower)) < thresholds)]

    def _codes_of_objects(self, values: Sequence[Any]) -> NDArray[np.int64]:
        find = self._places.__getitem__
        # Some versions of NumPy equate it with a number.
        if np.timedelta64 in set(map(type, values)):
            find = self._places.of_plain
        return np.fromiter(map(find, values), dtype=np.int64, count=len(values))

    def _codes_of_numbers(self, values: NDArray[Any]) -> NDArray[np.int64]:
        kind = {"b": "u8", "u": "u8", "i": "i8", "f": "f8"}[values.dtype.kind]
        values = values.astype(kind, copy=False)
        numbers, codes_of_numbers = self._sorted_numbers(kind)
        codes = np.full(len(values), -1, dtype=np.int64)
        if len(numbers):
            near = np.searchsorted(numbers, values)
            np.minimum(near, len(numbers) - 1, out=near)
            codes = np.where(numbers[near] == values, codes_of_numbers[near], -1)
        if kind == "f8" and None in self._places:
            codes[np.isnan(values)] = self._places[None]
        return codes

    def _sorted_numbers(self, kind: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the categories that a dtype represents exactly, sorted, and their indices."""
        if kind not in self._numbers:
            pairs = []
            for category, code in self._entries:
                if isinstance(category, bool | int | float):
                    number = _exactly(np.dtype(kind), category)
                    if number is not None:
                        pairs.append((number, code))
            pairs.sort()
            self._numbers[kind] = (
                np.array([number for number, _ in pairs], dtype=kind),
                np.array([code for _, code in pairs], dtype=np.int64),
            )
        return self._numbers[kind]


def is_utf8(text: str) -> bool:
    """Whether a string has no lone surrogate, which UTF-8 cannot encode."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _exactly(dtype: np.dtype[Any], category: bool | int | float) -> Any:
    """Return a category as a number of a dtype; None if it would be rounded."""
    try:
        number = float(category) if dtype.kind == "f" else int(category)
    except OverflowError:
        return None
    if dtype.kind != "f" and not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
        return None
    return number if number == category else None


def _distinct(values: list[Any]) -> list[Any]:
    """Return the distinct values, in the order of first occurrence."""
    numbers = [(value, row) for row, value in enumerate(values) if isinstance(value, int | float)]
    if len(numbers) <= _FEW_NUMBERS:
        return list(dict.fromkeys(values))
    numbers.sort()
    first = [
        row for rank, (value, row) in enumerate(numbers)
        if not rank or value != numbers[rank - 1][0]
    ]  # fmt: skip
    first_rows: dict[Any, int] = {}
    for row, value in enumerate(values):
        if not isinstance(value, int | float):
            first_rows.setdefault(value, row)
    return [values[row] for row in sorted([*first, *first_rows.values()])]


def sort_categories(categories: list[Any]) -> list[Any]:
    """Sort categories, a missing value last; incomparable ones by type and string."""
    known = [category for category in categories if category is not None]
    try:
        known.sort()
    except TypeError:  # numbers and strings, for example
        known.sort(key=lambda category: (type(category).__name__, str(category)))
    return known + [None] * (None in categories)


class _Places(dict[Any, int]):
    """Lookup of the indices of categories; -1 for other values."""

    def __init__(self, entries: Sequence[tuple[Any, int]]) -> None:
        super().__init__()
        pairs = [entry for entry in entries if isinstance(entry[0], int | float)]
        self._numbers: tuple[Any, ...] = ()
        if len(pairs) > _FEW_NUMBERS:
            pairs.sort()
            self._numbers, self._places = zip(*pairs, strict=True)
        for category, code in entries:
            if not self._numbers or not isinstance(category, int | float):
                self[category] = code

    def __missing__(self, value: Any) -> int:
        return self.of_plain(value)

    def of_plain(self, value: Any) -> int:
        """Find a value of any library's type."""
        try:
            value = plain(value)
        except (ValueError, OverflowError, ImportError):  # infinite, or a time out of range
            return -1
        code = self.get(value)
        if code is None and isinstance(value, date):  # or a datetime
            code = self.get(in_other_type(value))
        return self._bisected(value) if code is None else code

    def _bisected(self, value: Any) -> int:
        try:
            rank = bisect_left(self._numbers, value)
        except (TypeError, ArithmeticError):  # it is not a number
            return -1
        if rank == len(self._numbers):
            return -1
        number = self._numbers[rank]
        return self._places[rank] if number == value and hash(number) == hash(value) else -1


# --- Texts about columns and values, for messages; they contain nothing of private records --------


_SHOWN, _WIDE = 8, 60  # maximum number of values, and of characters in total
# Differences between strings that look the same to people.
_WAYS: dict[str, Callable[[str], str]] = {
    "how accents are encoded (Unicode NFC)": lambda text: normalize("NFC", text),
    "letter case": str.lower,
    "outer spaces": str.strip,
}


def listed(values: Sequence[Any]) -> str:
    """Show the first few values.

    Examples
    --------
    >>> listed(["ill", "age"])
    "'ill', 'age'"
    >>> listed([f"question {i}" for i in range(300)])
    "'question 0', 'question 1', 'question 2', 'question 3' (and 296 more)"
    """
    shown = [brief(repr(value)) for value in values[:_SHOWN]]
    while len(shown) > 1 and len(", ".join(shown)) > _WIDE:
        shown.pop()
    n_hidden = len(values) - len(shown)
    return ", ".join(shown) + (f" (and {n_hidden:,} more)" if n_hidden > 0 else "")


def known_of(column: Column) -> str:
    """State the valid values of a column: the first few categories, or the range of its bins."""
    if column.numbers is not None:
        return column.numbers.range
    return listed(column.categories)


def named(columns: Sequence[Column]) -> str:
    """Name columns in a sentence: "column 'a'", "columns 'a', 'b'"."""
    plural = "s" if len(columns) > 1 else ""
    return f"column{plural} {listed([column.name for column in columns])}"


def numbered(rows: NDArray[Any]) -> str:
    """List the indices of the first few rows of a public table: "row 3", "rows 0, 2, 5"."""
    numbers = ", ".join(map(str, rows[:_SHOWN])) + (", ..." if len(rows) > _SHOWN else "")
    return f"row{'s' if len(rows) > 1 else ''} {numbers}"


def hint_of(column: Column, values: Iterable[Any]) -> str:
    """State the single way in which an unknown string differs from a known one; "" if none does."""
    texts = {value for value in values if isinstance(value, str)}
    for way, key in _WAYS.items():
        known = set(map(key, column.texts)) if texts else set()
        if any(key(text) in known for text in texts):
            return f"A value differs from a known one only in {way}: use the known spelling."
    return ""


def rows_in_words(unknown: Counter[Any], *, secret: bool = False) -> str:
    """Count the rows of a public table with given values: "3 rows with values 'x', 'y'"."""
    n_missing = unknown.get(None, 0)
    if secret:
        n_rows = sum(unknown.values())
        return f"{n_rows:,} row{'s' if n_rows > 1 else ''} with a value"
    phrases = []
    present = [value for value in unknown if not is_missing(value)]
    if present:
        n_rows = sum(unknown.values()) - n_missing
        rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
        phrases.append(f"{rows} with {'values' if len(present) > 1 else 'value'} {listed(present)}")
    if n_missing:
        phrases.append(f"{n_missing:,} missing value{'s' if n_missing > 1 else ''}")
    return " and ".join(phrases)
