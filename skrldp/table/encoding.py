"""The columns of a table: the categories of each, and the category of each row.

**Frequencies.** A confidence level can allow for learned values that have many records. The
categories of a declared column are complete. For a learned column, Theorem 36 bounds the number of
the population's categories, counting those without records as one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import chunks, smallest_dtype
from skrldp._params import is_finite, is_whole
from skrldp.alphabet.categories import (
    OTHER,
    Factorized,
    hint_of,
    known_of,
    listed,
    named,
    rows_in_words,
    sort_categories,
)
from skrldp.alphabet.categories import Column as Categories
from skrldp.alphabet.combinations import Alphabet
from skrldp.alphabet.numbers import Bins, Draws, Knots, Numbers
from skrldp.alphabet.values import SEEN_OFTEN, days_of_one_type, plain, spent_on_values
from skrldp.table.read import Table

MOST_CATEGORIES = 100_000  # of one column

# The user's categories of a column, or its bins or knots; "dtype": its levels are declared; None:
# learn them
Given = tuple[Any, ...] | Numbers | Literal["dtype"] | None


@dataclass(frozen=True)
class Column(Categories):
    """A column's alphabet, and the information for writing the column again.

    Attributes
    ----------
    name : str or int
        Column name; position for arrays.
    categories : tuple
        Python scalars, in order. A missing value, if it is a category, is None and comes last.
    dtype : object
        The library's dtype.
    missing : object
        The public table's representation of a missing value: None, NaN, NaT, ….
    declared : bool
        Whether the categories are independent of the rows: listed by the user, or by a dtype whose
        levels do not come from rows or are declared.
    """

    dtype: Any = field(default=None, repr=False, compare=False)
    missing: Any = field(default=None, repr=False, compare=False)
    declared: bool = field(default=False, repr=False, compare=False)

    def written(self, raw: bool) -> tuple[Any, ...]:
        """Return the categories; for bins, representative values of a table."""
        if not (raw and isinstance(self.numbers, Bins)):
            return self.categories
        inside = dict(zip(self.numbers.labels, self.numbers.inside, strict=True))
        return tuple(inside.get(category, category) for category in self.categories)


def encode_column(
    table: Table, position: int, column: Categories, draws: Draws | None = None
) -> tuple[np.ndarray, Counter[Any]]:
    """Encode a column as indices into its categories; `draws` are for columns with knots.

    Returns `codes` (n_rows,): −1 for a value that is not a category; `unknown`: the number of
    records with each such value. Raises CategoryError for floats that may be rounded categories.
    """
    size = table.float_size(position)
    codes = np.empty(table.n_rows, dtype=smallest_dtype(len(column), signed=True))
    unknown: Counter[Any] = Counter()
    for rows in chunks(table.n_rows):
        positions, distinct = table.factorize(position, rows, column.texts)
        column.refuse_rounded(distinct, size)
        codes[rows] = column.codes(Factorized(positions, distinct), draws)
        distinct.append(None)  # index −1, a missing value, reads the last entry
        if codes[rows].min() < 0:
            is_strange = codes[rows] < 0
            weights = None if table.records is None else table.records[rows][is_strange]
            entries, which = np.unique(positions[is_strange], return_inverse=True)
            for entry, count in zip(entries, np.bincount(which, weights), strict=True):
                unknown[distinct[entry]] += int(count)
    return codes, unknown


def learn_column(
    table: Table,
    position: int,
    given: Given,
    *,
    secret: bool = False,
    others: bool = False,
    draws: Draws | None = None,
) -> tuple[Column, np.ndarray] | None:
    """Learn a column's alphabet, or check the given one, and encode the column.

    The alphabet consists of the user's categories, otherwise of the levels of the dtype, or of the
    sorted values of the rows.

    Returns `codes` (n_rows,): indices into its categories. None instead of both if there are more
    than `MOST_CATEGORIES` distinct values. Raises ValueError if the column has values that are not
    in `given`, unless they become "other".
    """
    name, dtype = table.names[position], table.dtype(position)
    listing = given if isinstance(given, tuple) else None
    numbers = given if isinstance(given, Bins | Knots) else None
    if numbers is not None:
        listing = numbers.categories
    levels = None if listing is not None else table.levels(position, given=given == "dtype")
    is_declared = listing is not None
    if listing is None and levels is None:
        observed = _observe(table, position)
        if observed is None:
            return None
        categories, codes = observed
    else:
        categories = (*levels, None) if levels is not None else listing or ()
        known = Categories(name, categories, numbers=numbers)
        codes, unknown = encode_column(table, position, known, draws)
        if unknown and others:
            categories = with_other(categories)
            codes, _ = encode_column(table, position, replace(known, categories=categories))
            codes[codes < 0] = categories.index(OTHER)
        elif None in unknown and numbers is not None:
            raise ValueError(
                f"column {name!r} of the public data has {unknown[None]:,} missing "
                f"value{'s' * (unknown[None] > 1)}, which {type(numbers).__name__} cannot contain. "
                "Drop these rows, or group the numbers into strings, because a missing string is a "
                "category."
            )
        elif unknown and numbers is not None:
            raise ValueError(
                f"column {name!r} of the public data has {_rows(sum(unknown.values()))} not "
                f"{numbers.range}. {_wider(numbers)}, or drop the rows."
            )
        elif unknown:
            remedy = hint_of(known, unknown) or (
                "Add them, drop the rows, or, for a column of U, report them as 'other' with "
                "handle_unknown='infrequent_if_exist'."
            )
            raise ValueError(
                f"column {name!r} of the public data has {rows_in_words(unknown, secret=secret)} "
                f"that `categories` lacks{' (not shown)' if secret else ''}. {remedy}"
            )
        if levels is not None and not np.any(codes == len(levels)):
            categories = categories[:-1]
        if levels is not None and len(categories) == len(levels):  # a missing value in the rows
            is_declared = given == "dtype" or table.fixes_levels(position)
    missing = None
    if categories[-1] is None:
        holes = codes == len(categories) - 1
        missing = table.raw(int(holes.argmax()), position) if holes.any() else None
    return Column(name, categories, dtype, missing, is_declared, numbers=numbers), codes


def _observe(table: Table, position: int) -> tuple[tuple[Any, ...], np.ndarray] | None:
    """Return the sorted values that occur and each row's index; None if there are too many."""
    index: dict[Any, int] = {}  # in the order of first occurrence
    codes_of_chunks = []
    for rows in chunks(table.n_rows):
        positions, distinct = table.factorize(position, rows)
        distinct.append(None)
        seen = np.zeros(len(distinct), dtype=bool)
        seen[positions] = True
        to_code = np.zeros(len(distinct), dtype=np.int64)
        for number in np.flatnonzero(seen):
            to_code[number] = index.setdefault(distinct[number], len(index))
        if len(index) > MOST_CATEGORIES:
            return None
        codes_of_chunks.append(to_code.astype(smallest_dtype(len(index)))[positions])
    observed = days_of_one_type(index)
    categories = tuple(sort_categories([*dict.fromkeys(observed)]))
    dtype = smallest_dtype(len(categories), signed=True)
    ranks = {category: code for code, category in enumerate(categories)}
    rank = np.array([ranks[category] for category in observed], dtype=dtype)
    codes = np.empty(table.n_rows, dtype=dtype)
    for rows, codes_of_chunk in zip(chunks(table.n_rows), codes_of_chunks, strict=True):
        codes[rows] = rank[codes_of_chunk]
    return categories, codes


def with_other(categories: Sequence[Any]) -> tuple[Any, ...]:
    """Add the category "other" if it is absent, before a missing value, which remains last."""
    if OTHER in categories:
        return tuple(categories)
    last = categories[-1:] if categories and categories[-1] is None else ()
    return (*categories[: len(categories) - len(last)], OTHER, *last)


# --- Categories that the user lists ---------------------------------------------------------------


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
                f"categories has keys that are not columns: [{listed(strange)}]; the columns are "
                f"[{listed(names)}]"
            )
        alphabets = [categories.get(name, "auto") for name in names]
    else:
        alphabets = list(categories)
        if len(alphabets) != len(names):
            raise ValueError(
                f"categories contains {len(alphabets)} alphabets, but the table has {len(names)} "
                "columns; pass one per column, or 'auto' to learn it from the table"
            )
    return [_given_alphabet(a, name) for a, name in zip(alphabets, names, strict=True)]


def _given_alphabet(alphabet: Any, name: Any) -> Given:
    if isinstance(alphabet, Bins | Knots):
        return alphabet
    if isinstance(alphabet, str) and alphabet in ("auto", "dtype"):
        return None if alphabet == "auto" else "dtype"
    if isinstance(alphabet, str | Set) or not isinstance(alphabet, Iterable):  # sets are unordered
        raise ValueError(
            f"the categories of column {name!r} must be 'auto', 'dtype', a list, Bins or Knots, "
            f"got {alphabet!r}"
        )
    try:
        values = days_of_one_type(plain(value) for value in alphabet)
    except ValueError as error:
        raise ValueError(f"{error}, in the categories of column {name!r}") from error
    if not values:
        raise ValueError(f"the categories of column {name!r} are empty")
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise ValueError(f"the categories of column {name!r} list {twice} more than once")
    return (*(v for v in values if v is not None), *(v for v in values if v is None))


# --- Messages that reject unknown categories and combinations of categories -----------------------


OTHERWISE = "handle_unknown='infrequent_if_exist' in `fit`"


def refuse_categories(
    column: Categories, unknown: Iterable[Any], *, secret: bool, or_else: str = OTHERWISE
) -> NoReturn:
    """Reject values that a column's alphabet lacks, without revealing them or their records.

    `unknown` are these values; `or_else` is a further remedy for values of U. Always raises
    ValueError.
    """
    raise ValueError(
        f"column {column.name!r} has a value unseen in fit (not shown). Known values are "
        f"{known_of(column)}. "
        + (hint_of(column, unknown) or _remedy(secret, or_else, column.numbers))
    )


def refuse_combinations(columns: Sequence[Categories]) -> NoReturn:
    """Reject combinations of known categories that the alphabet lacks, without revealing them.

    Always raises ValueError.
    """
    raise ValueError(
        f"{named(columns)}: a combination of known values was unseen in fit (not shown). Pass "
        "categories='product' to `fit` to allow all combinations."
    )


def _remedy(secret: bool, or_else: str, numbers: Numbers | None) -> str:
    listing = "List every value in `categories`" if numbers is None else _wider(numbers)
    if secret:
        return f"{listing} to protect it"
    if isinstance(numbers, Knots):  # which have no "other"
        return f"{listing}."
    return f"{listing}, or use {or_else}"


def _wider(numbers: Numbers) -> str:
    """State the remedies for numbers outside."""
    kind = type(numbers).__name__
    return f"Give {kind} a wider range, or pass {kind}(..., outside='clip')"


def _rows(n: int) -> str:
    return "1 row that is" if n == 1 else f"{n:,} rows that are"


# --- Numbers of records from which a confidence level can allow for learned values ----------------


_SHOWN = 3  # maximum number of rare values to name
_ANY = 2**53  # more records than any table has


@dataclass(frozen=True)
class Rare:
    """Columns, a single one or all of U, whose categories or combinations have too few records."""

    names: tuple[Any, ...]
    n: int  # how many; 0 if it is their "other" and does not include unknown values
    some: tuple[tuple[Any, int], ...]  # the rarest ones, and the number of records of each

    @classmethod
    def of(cls, names: Sequence[Any], values: Sequence[Any], counts: Any, minimum: int) -> Rare:
        """Find the values with fewer records than the minimum."""
        rare = [k for k in np.argsort(counts, kind="stable").tolist() if counts[k] < minimum]
        some = tuple((values[k], int(counts[k])) for k in rare[:_SHOWN])
        return cls(tuple(names), len(rare), some)


@dataclass(frozen=True)
class Frequencies:
    """The frequencies of the categories of a table's columns."""

    # For each column of the table, the maximum number of distinguished categories in the
    # population; None if the theorem does not apply, or the column was not examined
    sizes: tuple[int | None, ...]
    rare: tuple[Rare, ...]  # the columns to which it does not apply
    least: int  # number of records that each category needs
    fewest: int = _ANY  # minimum number of records of learned categories that are kept

    @classmethod
    def of(
        cls,
        columns: Mapping[int, tuple[Column, Column]],
        counts: Mapping[int, NDArray[Any]],
        open_columns: Collection[int],
        minimum: int,
        n_columns: int,
    ) -> Frequencies:
        """Examine columns."""
        sizes: list[int | None] = [None] * n_columns
        rare, fewest = [], _ANY
        for position, (column, grouped) in columns.items():
            is_open = position in open_columns
            sizes[position], kept_counts = most_categories(
                column, counts[position], grouped, is_open, minimum
            )
            numbers = [*kept_counts.values()]
            fewest = min([fewest, *numbers])
            if sizes[position] is None:
                rare.append(Rare.of((column.name,), [*kept_counts], numbers, minimum))
        return cls(tuple(sizes), tuple(rare), minimum, fewest)

    def product(self, positions: Sequence[int]) -> int | None:
        """Multiply the sizes of columns; None if one is unknown."""
        product = 1
        for position in positions:
            size = self.sizes[position]
            if size is None:
                return None
            product *= size
        return product


def most_categories(
    column: Column, counts: NDArray[np.int64], grouped: Column, takes_unknown: bool, minimum: int
) -> tuple[int | None, dict[Any, int]]:
    """Bound the number of categories of one column.

    Shapes: `counts` (k,). Returns `n_possible`: None if a kept category has too few records;
    `kept_counts`: the records of each learned category that is kept.
    """
    if column.declared:
        return len(column) + (grouped.other is not None and column.other is None), {}
    open_other = takes_unknown and grouped.other is not None
    if grouped.infrequent and not open_other:
        return None, {}
    number = dict(zip(column.categories, counts.tolist(), strict=True))
    categories = [c for c in grouped.categories if not (open_other and c == OTHER)]
    kept_counts = {category: int(number.get(category, 0)) for category in categories}
    is_rare = min(kept_counts.values(), default=minimum) < minimum
    return None if is_rare else most_values(counts), kept_counts


def most_values(counts: NDArray[Any]) -> int:
    """Count the values that may be frequent in the population, plus one for all others.

    Shapes: `counts` (k,).
    """
    return int(np.count_nonzero(counts >= SEEN_OFTEN)) + 1


# --- Rare and unknown values of U as one value, "other" -------------------------------------------


@dataclass(frozen=True)
class Grouping:
    """Which values of U are reported as "other".

    Raises
    ------
    ValueError
        If a number is out of its range.
    """

    # A category with fewer records is rare; a float is a share of the records. "auto": the number
    # that Theorem 36 requires; the rare ones then also include unknown values.
    min_frequency: Any = None
    # Whether unknown values are also "other", so that U has this value in any case
    unknown: bool = False
    # Probability that may be spent on learning the values from the counted records
    beta: float = spent_on_values(0.05)

    def __post_init__(self) -> None:
        """Check the numbers."""
        minimum = self.min_frequency
        is_count = is_whole(minimum) and minimum >= 1
        is_share = is_finite(minimum) and not is_whole(minimum) and 0.0 < minimum < 1.0
        if not (minimum is None or self.is_auto or is_count or is_share):
            raise ValueError(
                f"min_frequency={minimum!r} must be None, an integer >= 1 (of records), a float "
                "between 0 and 1 (a share of the records), or 'auto'."
            )

    @property
    def is_auto(self) -> bool:
        """Whether categories with too few records for Theorem 36 are rare."""
        return isinstance(self.min_frequency, str) and self.min_frequency == "auto"

    @property
    def takes_unknown(self) -> bool:
        """Whether the category "other" also includes unknown values."""
        return self.unknown or self.is_auto

    @property
    def is_used(self) -> bool:
        """Whether any values are grouped."""
        return self.unknown or self.min_frequency is not None

    def enough(self, n: int, frequent: int) -> int | None:
        """Minimum number of n records of a category that is not rare; None without a minimum."""
        minimum = frequent if self.is_auto else self.min_frequency
        return minimum if minimum is None or is_whole(minimum) else math.ceil(minimum * n)


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a public table, grouped by distinct rows."""

    codes: tuple[NDArray[Any], ...]  # (k,) for each column, the category of each distinct row
    row: NDArray[Any]  # (n,), the distinct row of each row of the table
    counts: NDArray[np.int64]  # (k,), the number of records of each distinct row

    @classmethod
    def of(
        cls, columns: Sequence[Column], codes: Sequence[NDArray[Any]], weights: NDArray[Any] | None
    ) -> Records:
        """Find the distinct rows of a table and count their records."""
        alphabet, row = Alphabet.observed(columns, codes)
        distinct = alphabet.combinations().T
        counts = np.bincount(row, weights=weights, minlength=len(alphabet)).astype(np.int64)
        return cls(tuple(distinct), row, counts)


def group_values(
    column: Column,
    codes: NDArray[Any],
    records: Records,
    grouping: Grouping,
    frequent: int,
    *,
    combined: bool,
) -> tuple[Column, NDArray[Any]]:
    """Replace rare categories of a column of U by "other", except for knots.

    Shapes: `codes` (k,); returns `codes` (k,).
    """
    if column.is_rounded:
        return column, codes
    n_categories = len(column)
    counts = np.bincount(codes, weights=records.counts, minlength=n_categories).astype(np.int64)
    occurs = np.bincount(codes, minlength=n_categories) > 0
    is_other = np.array([category == OTHER for category in column.categories])
    # A boolean column has no other values, unless a combination is unknown.
    is_bool = column.declared and set(map(type, column.categories)) == {bool}
    has_other = grouping.unknown and (combined or not is_bool)
    is_kept = np.ones(n_categories, dtype=bool)
    enough = grouping.enough(int(records.counts.sum()), frequent)
    if enough is not None and not (grouping.is_auto and column.declared):  # these may be rare
        is_kept = counts >= enough
    if combined and grouping.unknown:
        is_kept &= occurs
    elif combined:
        is_kept |= ~occurs  # its combinations are unknown in any case
    is_kept |= is_other
    rare = tuple(c for c, k in zip(column.categories, is_kept.tolist(), strict=True) if not k)
    categories = tuple(c for c, k in zip(column.categories, is_kept.tolist(), strict=True) if k)
    if has_other or rare:
        categories = with_other(categories)
    infrequent = () if grouping.takes_unknown and (has_other or rare) else rare
    grouped = replace(column, categories=categories, infrequent=infrequent)
    codes_kept = {category: code for code, category in enumerate(categories)}
    new = np.array([codes_kept.get(c, grouped.other) for c in column.categories], dtype=np.int64)
    return grouped, new[codes]
