"""Alphabets: which categories a column has, and which combinations of them S and U can take."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skrldp.alphabet import is_missing, plain
from skrldp.table._read import Table, blocks, smallest_dtype

MAX_CATEGORIES = 100_000  # of one column
_LOOKUP_SIZE = 1 << 22  # largest look-up table; beyond it, binary search is used

Given = tuple[Any, ...] | None  # the categories that the user lists for a column; None: observe


@dataclass(frozen=True)
class Column:
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
    """

    name: Any
    categories: tuple[Any, ...]
    dtype: Any = field(default=None, repr=False, compare=False)
    missing: Any = field(default=None, repr=False, compare=False)


# --- One column ----------------------------------------------------------------------------------


def encode_column(
    table: Table, position: int, categories: Sequence[Any]
) -> tuple[np.ndarray, Counter[Any]]:
    """Write a column as indices into its categories.

    Returns
    -------
    codes : ndarray of shape (n_rows,)
        −1 for a value that is no category.
    unknown : Counter
        In how many rows each such value stands.
    """
    index = {category: i for i, category in enumerate(categories)}
    codes = np.empty(table.n_rows, dtype=smallest_dtype(len(categories), signed=True))
    unknown: Counter[Any] = Counter()
    for rows in blocks(table.n_rows):
        positions, distinct = table.factorize(position, rows)
        distinct.append(None)  # position −1, a missing value, reads the last entry
        to_code = np.array([index.get(value, -1) for value in distinct], dtype=codes.dtype)
        codes[rows] = to_code[positions]
        if codes[rows].min() < 0:
            strange = positions[codes[rows] < 0]
            for place, count in zip(*np.unique(strange, return_counts=True), strict=True):
                unknown[distinct[place]] += int(count)
    return codes, unknown


def learn_column(table: Table, position: int, given: Given) -> tuple[Column, np.ndarray]:
    """Learn a column's alphabet, or check the given one, and write the column in it.

    Raises
    ------
    ValueError
        If it has more than `MAX_CATEGORIES` distinct values, or values that are not in `given`.
    """
    name = table.names[position]
    categories = _observe(table, position) if given is None else given
    codes, unknown = encode_column(table, position, categories)
    if unknown:
        raise ValueError(
            f"column {name!r} of the public data has {count_values(unknown)} that `categories` "
            "lacks; list them there, or drop the rows"
        )
    missing = None
    if categories[-1] is None:
        holes = codes == len(categories) - 1
        missing = table.raw(int(holes.argmax()), position) if holes.any() else None
    return Column(name, categories, table.dtype(position), missing), codes


def _observe(table: Table, position: int) -> tuple[Any, ...]:
    values: set[Any] = set()
    for rows in blocks(table.n_rows):
        positions, distinct = table.factorize(position, rows)
        distinct.append(None)
        seen = np.zeros(len(distinct), dtype=bool)
        seen[positions] = True
        values.update(distinct[place] for place in np.flatnonzero(seen))
        if len(values) > MAX_CATEGORIES:
            raise ValueError(
                f"column {table.names[position]!r} has more than {MAX_CATEGORIES:,} distinct "
                f"values; {MEND_LARGE}"
            )
    last = [None] if None in values else []
    values.discard(None)
    return (*_sorted(values), *last)


def _sorted(values: Iterable[Any]) -> list[Any]:
    values = list(values)
    try:
        return sorted(values)
    except TypeError:  # numbers beside strings, say
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def given_categories(categories: Any, names: Sequence[Any]) -> list[Given]:
    """Read the parameter `categories`: one entry per column, None where to observe.

    Raises
    ------
    ValueError
        If it does not fit the columns, or an alphabet is empty or lists a category twice.
    """
    if isinstance(categories, str) and categories == "auto":
        return [None] * len(names)
    if isinstance(categories, str | Set) or not isinstance(categories, Iterable):
        raise ValueError(f"categories must be 'auto', a list or a dict, got {categories!r}")
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
                "columns; give one per column, 'auto' for those to observe"
            )
    return [_given_alphabet(a, name) for a, name in zip(alphabets, names, strict=True)]


def _given_alphabet(alphabet: Any, name: Any) -> Given:
    if isinstance(alphabet, str) and alphabet == "auto":
        return None
    if isinstance(alphabet, str | Set) or not isinstance(alphabet, Iterable):  # sets have no order
        raise ValueError(
            f"the categories of column {name!r} must be 'auto' or a list, got {alphabet!r}"
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


# --- Several columns -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Alphabet:
    """The combinations of categories that S (or U) can take, numbered in lexicographic order.

    Column by column, `steps[j]` holds the sorted keys ``prefix * sizes[j + 1] + category`` of the
    combinations that exist; a key's place in it numbers the prefix that is one column longer.
    """

    positions: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.steps[-1]) if self.steps else self.sizes[0]

    def combinations(self) -> np.ndarray:
        """Category indices of every combination, shape (len(self), n_columns)."""
        prefix = np.arange(len(self))
        columns = []
        for size, keys in zip(self.sizes[:0:-1], self.steps[::-1], strict=True):
            prefix, category = np.divmod(keys[prefix], size)
            columns.append(category)
        return np.stack([prefix, *columns[::-1]], axis=1)

    def members(self, columns: Sequence[Column]) -> tuple[Any, ...]:
        """Scalars if there is one column, tuples of them if several."""
        if len(self.positions) == 1:
            return columns[self.positions[0]].categories
        alphabets = (columns[position].categories for position in self.positions)
        picked = (
            [alphabet[index] for index in indices.tolist()]
            for alphabet, indices in zip(alphabets, self.combinations().T, strict=True)
        )
        return tuple(zip(*picked, strict=True))

    def index(self, codes: Sequence[np.ndarray]) -> np.ndarray:
        """Return the number of each row's combination; −1 for a new one or an unknown category."""
        prefix, n_prefixes = codes[0], self.sizes[0]
        for code, size, keys in zip(codes[1:], self.sizes[1:], self.steps, strict=True):
            prefix = _extend(prefix, code, size, keys, n_prefixes * size)
            n_prefixes = len(keys)
        return prefix


def _keys(prefix: np.ndarray, code: np.ndarray, size: int) -> np.ndarray:
    return prefix.astype(np.int64) * size + code


def _extend(
    prefix: np.ndarray, code: np.ndarray, size: int, known: np.ndarray, bound: int
) -> np.ndarray:
    """Find every row's key among the sorted `known` ones, all below `bound`; −1 if not there."""
    out = np.empty(len(code), dtype=smallest_dtype(len(known), signed=True))
    if bound <= _LOOKUP_SIZE:
        table = np.full(bound, -1, dtype=out.dtype)
        table[known] = np.arange(len(known), dtype=out.dtype)
    for rows in blocks(len(code)):
        invalid = (prefix[rows] < 0) | (code[rows] < 0)
        keys = _keys(prefix[rows], code[rows], size)
        keys[invalid] = 0
        if bound <= _LOOKUP_SIZE:
            place = table[keys]
        else:
            place = np.searchsorted(known, keys)
            place[known[np.minimum(place, len(known) - 1)] != keys] = -1
        place[invalid] = -1
        out[rows] = place
    return out


def learn_alphabet(
    columns: Sequence[Column],
    codes: Sequence[np.ndarray],
    positions: tuple[int, ...],
    *,
    is_product: bool,
    max_size: float,
) -> Alphabet:
    """List the combinations of some columns' categories: all of them, or those that rows have.

    Raises
    ------
    ValueError
        If there are more than `max_size`.
    """
    sizes = tuple(len(columns[position].categories) for position in positions)
    if is_product:
        check_size(math.prod(sizes), max_size, columns)
    steps: list[np.ndarray] = []
    prefix, n_prefixes = codes[positions[0]], sizes[0]
    for position, size in zip(positions[1:], sizes[1:], strict=True):
        bound = n_prefixes * size
        if is_product:
            keys = np.arange(bound)
        else:
            keys = _observed_keys(prefix, codes[position], size)
            check_size(len(keys), max_size, columns)
            prefix = _extend(prefix, codes[position], size, keys, bound)
        steps.append(keys)
        n_prefixes = len(keys)
    return Alphabet(positions, sizes, tuple(steps))


def _observed_keys(prefix: np.ndarray, code: np.ndarray, size: int) -> np.ndarray:
    found = [np.unique(_keys(prefix[rows], code[rows], size)) for rows in blocks(len(code))]
    return np.unique(np.concatenate(found))


def check_size(n_cells: int, max_cells: float, columns: Sequence[Column]) -> None:
    """Refuse an alphabet too large to design for, naming the column to blame.

    Raises
    ------
    ValueError
        If `n_cells` exceeds `max_cells`.
    """
    if n_cells > max_cells:
        widest = max(columns, key=lambda column: len(column.categories))
        raise ValueError(
            f"the table has at least {n_cells:,} cells, more than {max_cells:,}: column "
            f"{widest.name!r} has {len(widest.categories):,} distinct values; {MEND_LARGE}"
        )


# --- Words ---------------------------------------------------------------------------------------

MEND_LARGE = (
    "discretise it, for example with KBinsDiscretizer(encode='ordinal'), or group its values"
)
_SHOWN = 5


def count_values(unknown: Counter[Any]) -> str:
    """Say which values stand in how many rows: "3 rows with values 'x', 'y'"."""
    parts = []
    n_missing = unknown.get(None, 0)
    present = [value for value in unknown if not is_missing(value)]
    if present:
        n_rows = sum(unknown.values()) - n_missing
        rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
        parts.append(f"{rows} with {'values' if len(present) > 1 else 'value'} {listed(present)}")
    if n_missing:
        parts.append(f"{n_missing:,} missing value{'s' if n_missing > 1 else ''}")
    return " and ".join(parts)


def listed(values: Sequence[Any]) -> str:
    """Show the first few values."""
    more = len(values) - _SHOWN
    return ", ".join(map(repr, values[:_SHOWN])) + (f" (and {more:,} more)" if more > 0 else "")
