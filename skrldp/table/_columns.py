"""The columns of a table: the categories of each, and the category of each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from skrldp import alphabet
from skrldp._arrays import chunks, smallest_dtype
from skrldp.alphabet import OTHER, hint_of, plain, rows_in_words
from skrldp.table._read import Table

__all__ = [
    "MOST_CATEGORIES",
    "Column",
    "Given",
    "encode_column",
    "given_categories",
    "learn_column",
    "with_other",
]

MOST_CATEGORIES = 100_000  # of one column

# The categories that the user lists for a column; "dtype": its levels are given; None: learn
Given = tuple[Any, ...] | Literal["dtype"] | None


@dataclass(frozen=True)
class Column(alphabet.Column):
    """A column's alphabet, and what is needed to write the column again.

    Attributes
    ----------
    name : str or int
        Column name; position for arrays.
    categories : tuple
        Python scalars, in order. A missing value, if it is a category, is None and comes last.
    dtype : object
        The library's own dtype.
    missing : object
        What the public table writes for a missing value: None, NaN, NaT, ….
    declared : bool
        Whether the categories were there before the rows: listed by the user, or by a dtype that
        rows cannot have made or whose levels are given.
    """

    dtype: Any = field(default=None, repr=False, compare=False)
    missing: Any = field(default=None, repr=False, compare=False)
    declared: bool = field(default=False, repr=False, compare=False)


def encode_column(
    table: Table, position: int, column: alphabet.Column
) -> tuple[np.ndarray, Counter[Any]]:
    """Write a column as indices into its categories.

    Returns `codes` (n_rows,): −1 for a value that is no category; `unknown`: the number of records
    with each such value. Raises CategoryError for floats that may be categories, rounded.
    """
    size = table.float_size(position)
    codes = np.empty(table.n_rows, dtype=smallest_dtype(len(column), signed=True))
    unknown: Counter[Any] = Counter()
    for rows in chunks(table.n_rows):
        positions, distinct = table.factorize(position, rows, column.texts)
        column.refuse_rounded(distinct, size)
        distinct.append(None)  # position −1, a missing value, reads the last entry
        codes[rows] = column.codes(distinct).astype(codes.dtype)[positions]
        if codes[rows].min() < 0:
            is_strange = codes[rows] < 0
            weights = None if table.records is None else table.records[rows][is_strange]
            places, which = np.unique(positions[is_strange], return_inverse=True)
            for place, count in zip(places, np.bincount(which, weights), strict=True):
                unknown[distinct[place]] += int(count)
    return codes, unknown


def learn_column(
    table: Table, position: int, given: Given, *, secret: bool = False, others: bool = False
) -> tuple[Column, np.ndarray] | None:
    """Learn a column's alphabet, or check the given one, and encode the column.

    The alphabet is what the user lists, else the levels that the dtype lists, else the values
    that rows have, sorted.

    Returns `codes` (n_rows,): indices into its categories. None in place of both if there are more
    than `MOST_CATEGORIES` different values. Raises ValueError if the column has values that are not
    in `given`, unless they become "other".
    """
    name, dtype = table.names[position], table.dtype(position)
    own = given if isinstance(given, tuple) else None
    levels = None if own is not None else table.levels(position, given=given == "dtype")
    is_declared = own is not None
    if own is None and levels is None:
        observed = _observe(table, position)
        if observed is None:
            return None
        categories, codes = observed
    else:
        categories = (*levels, None) if levels is not None else own or ()
        codes, unknown = encode_column(table, position, alphabet.Column(name, categories))
        if unknown and others:
            categories = with_other(categories)
            codes, _ = encode_column(table, position, alphabet.Column(name, categories))
            codes[codes < 0] = categories.index(OTHER)
        elif unknown:
            remedy = hint_of(alphabet.Column(name, categories), unknown) or (
                "List them there, drop the rows, or, for a column of U, count them as 'other' with "
                "handle_unknown='infrequent_if_exist'."
            )
            raise ValueError(
                f"column {name!r} of the public data has {rows_in_words(unknown, secret=secret)} "
                f"that `categories` lacks{' (not shown)' if secret else ''}. {remedy}"
            )
        if levels is not None and not np.any(codes == len(levels)):
            categories = categories[:-1]
        if levels is not None and len(categories) == len(levels):  # a hole is seen in the rows
            is_declared = given == "dtype" or table.fixes_levels(position)
    missing = None
    if categories[-1] is None:
        holes = codes == len(categories) - 1
        missing = table.raw(int(holes.argmax()), position) if holes.any() else None
    return Column(name, categories, dtype, missing, is_declared), codes


def _observe(table: Table, position: int) -> tuple[tuple[Any, ...], np.ndarray] | None:
    """Return the sorted values that occur and each row's index; None if there are too many."""
    index: dict[Any, int] = {}  # in the order in which they are found
    parts = []
    for rows in chunks(table.n_rows):
        positions, distinct = table.factorize(position, rows)
        distinct.append(None)
        seen = np.zeros(len(distinct), dtype=bool)
        seen[positions] = True
        to_code = np.zeros(len(distinct), dtype=np.int64)
        for place in np.flatnonzero(seen):
            to_code[place] = index.setdefault(distinct[place], len(index))
        if len(index) > MOST_CATEGORIES:
            return None
        parts.append(to_code.astype(smallest_dtype(len(index)))[positions])
    categories = (*_sorted(v for v in index if v is not None), *(v for v in index if v is None))
    dtype = smallest_dtype(len(categories), signed=True)
    rank = np.empty(len(categories), dtype=dtype)
    rank[[index[category] for category in categories]] = np.arange(len(categories), dtype=dtype)
    codes = np.empty(table.n_rows, dtype=dtype)
    for rows, part in zip(chunks(table.n_rows), parts, strict=True):
        codes[rows] = rank[part]
    return categories, codes


def _sorted(values: Iterable[Any]) -> list[Any]:
    values = list(values)
    try:
        return sorted(values)
    except TypeError:  # numbers beside strings, say
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def with_other(categories: Sequence[Any]) -> tuple[Any, ...]:
    """Add the category "other" if it is not there, before a missing value, which stays last."""
    if OTHER in categories:
        return tuple(categories)
    last = categories[-1:] if categories and categories[-1] is None else ()
    return (*categories[: len(categories) - len(last)], OTHER, *last)


# --- What the user lists -------------------------------------------------------------------------


def given_categories(categories: Any, names: Sequence[Any]) -> list[Given]:
    """Read the parameter `categories`: one entry per column, None to learn the categories.

    Raises ValueError if `categories` does not fit the columns, or an alphabet is empty or lists a
    category twice.
    """
    if isinstance(categories, str) and categories in ("auto", "dtype", "product"):
        return ["dtype" if categories == "dtype" else None] * len(names)
    if isinstance(categories, str | Set) or not isinstance(categories, Iterable):
        raise ValueError(
            f"categories must be 'auto', 'dtype', 'product', a list or a dict, got {categories!r}"
        )
    if isinstance(categories, Mapping):
        strange = [key for key in categories if key not in names]
        if strange:
            raise ValueError(
                f"categories has keys that are no columns: {strange}; the columns are {list(names)}"
            )
        alphabets = [categories.get(name, "auto") for name in names]
    else:
        alphabets = list(categories)
        if len(alphabets) != len(names):
            raise ValueError(
                f"categories lists {len(alphabets)} alphabets, but the table has {len(names)} "
                "columns; give one per column, or 'auto' to learn it from the table"
            )
    return [_given_alphabet(a, name) for a, name in zip(alphabets, names, strict=True)]


def _given_alphabet(alphabet: Any, name: Any) -> Given:
    if isinstance(alphabet, str) and alphabet in ("auto", "dtype"):
        return None if alphabet == "auto" else "dtype"
    if isinstance(alphabet, str | Set) or not isinstance(alphabet, Iterable):  # sets have no order
        raise ValueError(
            f"the categories of column {name!r} must be 'auto', 'dtype' or a list, got {alphabet!r}"
        )
    try:
        values = [plain(value) for value in alphabet]
    except ValueError as error:
        raise ValueError(f"{error}, in the categories of column {name!r}") from error
    if not values:
        raise ValueError(f"the categories of column {name!r} are empty")
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise ValueError(f"the categories of column {name!r} list {twice} more than once")
    return (*(v for v in values if v is not None), *(v for v in values if v is None))
