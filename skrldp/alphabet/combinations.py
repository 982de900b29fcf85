"""The possible combinations of categories of S, or of U; and cells grouped by categories."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import chunks, smallest_dtype
from skrldp._params import as_list, check_choice
from skrldp._typing import Floats
from skrldp.alphabet.categories import Column, listed, sort_categories
from skrldp.alphabet.numbers import Bins, Numbers
from skrldp.alphabet.values import plain

# Maximum size of a lookup table with an entry for every possible key, 8 MB, which is faster than
# bisection. It is built in each call, and therefore used only for many rows.
_LARGEST_TABLE = 1 << 22
_ENTRIES_PER_ROW = 4
# Rows whose keys are in memory at a time, so that they fit into a core's second-level cache
_ROWS = 1 << 15


@dataclass(frozen=True)
class Alphabet:
    """The numbered combinations of categories of several columns.

    Without columns there is one combination, the empty tuple: U if all columns are sensitive.

    A key stands for a combination. Column by column, `keys[j]` holds the sorted keys
    ``prefix * len(columns[j + 1]) + category`` of the combinations that exist; a key's index in it
    is the number of the prefix that is one column longer.
    """

    columns: tuple[Column, ...]
    # One entry fewer than columns
    keys: tuple[NDArray[np.int64], ...] = ()
    # Number of each combination, in the order of the keys; None for 0, 1, 2, ...
    order: NDArray[np.int64] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        if self.keys:
            return len(self.keys[-1])
        return len(self.columns[0]) if self.columns else 1

    # -- constructors -----------------------------------------------------------------------------

    @classmethod
    def product(cls, columns: Sequence[Column]) -> Alphabet:
        """List all combinations, in lexicographic order."""
        if not columns:
            return cls(())
        n, keys = len(columns[0]), []
        for column in columns[1:]:
            n *= len(column)
            keys.append(np.arange(n))
        return cls(tuple(columns), tuple(keys))

    @classmethod
    def observed(
        cls,
        columns: Sequence[Column],
        codes: Sequence[NDArray[Any]],
        check: Callable[[int], None] = lambda n: None,
    ) -> tuple[Alphabet, NDArray[Any]]:
        """List the combinations that occur in rows, in lexicographic order.

        Shapes: `codes` (n,). Returns `index` (n,): the number of each row's combination.
        """
        prefix, n, keys = codes[0], len(columns[0]), []
        for column, code in zip(columns[1:], codes[1:], strict=True):
            size = len(column)
            uniques = [
                np.unique(_keys(prefix[rows], code[rows], size)) for rows in chunks(len(code))
            ]
            known = np.unique(np.concatenate([np.empty(0, np.int64), *uniques]))
            check(len(known))
            prefix = _find(prefix, code, size, known, n * size)
            keys.append(known)
            n = len(known)
        return cls(tuple(columns), tuple(keys)), prefix

    @classmethod
    def of_members(
        cls,
        names: Sequence[Any],
        members: Sequence[Any],
        infrequent: Sequence[Sequence[Any]] | None = None,
        numbers: Sequence[Numbers | None] | None = None,
    ) -> Alphabet:
        """Use given combinations in the given order."""
        if not names:
            return cls(())
        rare = [tuple(map(plain, few)) for few in infrequent or [()] * len(names)]
        cut = numbers or [None] * len(names)
        if len(names) == 1:
            categories = tuple(map(plain, members))
            return cls((Column(names[0], categories, infrequent=rare[0], numbers=cut[0]),))
        values = list(zip(*members, strict=True))
        columns = [
            Column.of_values(name, categories, few)
            for name, categories, few in zip(names, values, rare, strict=True)
        ]
        codes = [column.codes(members) for column, members in zip(columns, values, strict=True)]
        alphabet, index = cls.observed(columns, codes)
        columns = [replace(column, numbers=k) for column, k in zip(columns, cut, strict=True)]
        return cls(tuple(columns), alphabet.keys, np.argsort(index))

    # -- contents and look-ups --------------------------------------------------------------------

    def combinations(self) -> NDArray[np.int64]:
        """Category indices of every combination.

        Shapes: returns (len(self), n_columns).
        """
        if not self.columns:
            return np.zeros((1, 0), dtype=np.int64)
        prefix, codes = np.arange(len(self)), []
        for column, keys in zip(self.columns[:0:-1], self.keys[::-1], strict=True):
            prefix, category = np.divmod(keys[prefix], len(column))
            codes.append(category)
        combinations = np.stack([prefix, *codes[::-1]], axis=1)
        return combinations if self.order is None else combinations[np.argsort(self.order)]

    def members(self) -> tuple[Any, ...]:
        """Categories if there is one column, otherwise tuples of them."""
        if not self.columns:
            return ((),)
        if len(self.columns) == 1:
            return self.columns[0].categories
        picked: Iterable[list[Any]] = (
            [column.categories[index] for index in indices.tolist()]
            for column, indices in zip(self.columns, self.combinations().T, strict=True)
        )
        return tuple(zip(*picked, strict=True))

    def index(self, codes: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Find the number of each row's combination, for at least one column.

        Shapes: `codes` (n,). Returns (n,): -1 for an unknown category or combination.
        """
        prefix, n = codes[0], len(self.columns[0])
        for column, code, known in zip(self.columns[1:], codes[1:], self.keys, strict=True):
            prefix = _find(prefix, code, len(column), known, n * len(column))
            n = len(known)
        return prefix if self.order is None else np.append(self.order, -1).take(prefix)

    def index_with_others(self, codes: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Find the number of each row's combination, with unknown values as "other".

        An unknown category is its column's "other". A combination that is still unknown becomes the
        one in which every column is "other".

        Shapes: `codes` (n,). Returns (n,): -1 if a column, or the alphabet, has no such category.
        """
        other_codes = [column.other for column in self.columns]
        known = [
            code if other_code is None else np.where(code < 0, code.dtype.type(other_code), code)
            for code, other_code in zip(codes, other_codes, strict=True)
        ]
        index = self.index(known)
        if None in other_codes or not (index < 0).any():
            return index
        fallback = self.index([np.array([other_code]) for other_code in other_codes])[0]
        return np.where(index < 0, index.dtype.type(fallback), index)


def _keys(prefix: NDArray[Any], code: NDArray[Any], size: int) -> NDArray[np.int64]:
    return prefix.astype(np.int64) * size + code


def _find(
    prefix: NDArray[Any], code: NDArray[Any], size: int, known: NDArray[np.int64], bound: int
) -> NDArray[Any]:
    """Find every row's key among the sorted `known` ones, all below `bound`; -1 if absent."""
    out = np.empty(len(code), dtype=smallest_dtype(len(known), signed=True))
    table = None
    if bound <= min(_LARGEST_TABLE, _ENTRIES_PER_ROW * len(code)):
        table = np.full((bound // size + 1, size + 1), -1, dtype=out.dtype)  # -1: the last of each
        table[:-1, :-1].flat[known] = np.arange(len(known), dtype=out.dtype)
    for rows in chunks(len(code), _ROWS):
        if table is not None:
            out[rows] = table.take(_keys(prefix[rows], code[rows], size + 1))
            continue
        keys = _keys(prefix[rows], code[rows], size)
        positions = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        positions[(known[positions] != keys) | (prefix[rows] < 0) | (code[rows] < 0)] = -1
        out[rows] = positions
    return out


def combine(
    secrets: NDArray[Any], values: NDArray[Any], shape: tuple[int, int]
) -> NDArray[np.unsignedinteger[Any]]:
    """Combine the numbers of secrets and of values of U into cells.

    Shapes: `secrets` and `values` (n,). Returns (n,): ``secrets * shape[1] + values``, in the
    smallest unsigned dtype for all cells.
    """
    dtype = smallest_dtype(shape[0] * shape[1])
    if shape[0] == 1:  # shape[1] itself need not fit the dtype then
        return values.astype(dtype)
    cells = secrets.astype(dtype)
    cells *= cells.dtype.type(shape[1])
    np.add(cells, values, out=cells, casting="unsafe")
    return cells


# --- The partition of the cells by the categories of one or several columns -----------------------


PARTS = ("all", "sensitive", "nonsensitive")


class Record(Protocol):
    """The alphabets of S and U, with their columns."""

    @property
    def secrets(self) -> tuple[Any, ...]:
        """Values of S; tuples if it has several columns."""

    @property
    def values(self) -> tuple[Any, ...]:
        """Values of U; tuples if it has several columns."""

    @property
    def columns(self) -> tuple[tuple[Any, bool], ...]:
        """Each column's name, and whether it is sensitive; empty if they have no names."""


@dataclass(frozen=True)
class CellGroups:
    """A partition of the cells."""

    # Names of the columns, for the whole record with those of S first; "S" and "U" if the columns
    # have no names
    name: tuple[Any, ...]
    categories: tuple[Any, ...]  # (k,), scalars for one column, tuples for several
    labels: NDArray[np.intp]  # (a,), index of each cell's category

    @property
    def indicators(self) -> Floats:
        """1 for the cells of each category, 0 for the others, shape (k, a)."""
        return (self.labels == np.arange(len(self.categories))[:, None]).astype(float)


def group_cells(record: Record, columns: Any, part: str) -> CellGroups:
    """Group the cells by given columns, or by a part of the record.

    Raises ValueError if there are no such columns.
    """
    check_choice("part", part, PARTS)
    a1, a2 = len(record.secrets), len(record.values)
    secret, value = np.divmod(np.arange(a1 * a2), a2)
    if columns is None:
        named = record.columns or (("S", True), ("U", False))
        of_secret = tuple(name for name, sensitive in named if sensitive)
        of_value = tuple(name for name, sensitive in named if not sensitive)
        if part == "nonsensitive" and not of_value:
            raise ValueError(
                "all columns are sensitive, so there are no other columns to estimate: "
                "use part='all'."
            )
        if part == "sensitive" or not of_value:
            return CellGroups(of_secret, record.secrets, secret)
        if part == "nonsensitive":
            return CellGroups(of_value, record.values, value)
        cells = tuple(
            (s if len(of_secret) > 1 else (s,)) + (u if len(of_value) > 1 else (u,))
            for s, u in itertools.product(record.secrets, record.values)
        )
        return CellGroups(of_secret + of_value, cells, np.arange(a1 * a2))
    if part != "all":
        raise ValueError(
            f"columns={columns!r} and part={part!r} cannot be combined: pass only one of them."
        )
    positions = _positions(record, columns)
    read = [_column(record, position) for position in positions]
    key = np.zeros(a1 * a2, dtype=np.int64)
    for categories, codes, sensitive in read:
        key = key * len(categories) + codes[secret if sensitive else value]
    present, labels = np.unique(key, return_inverse=True)
    rest, parts = present, []
    for categories, _, _ in reversed(read):
        rest, code = np.divmod(rest, len(categories))
        parts.append([categories[c] for c in code])
    names = tuple(record.columns[position][0] for position in positions)
    combined = tuple(zip(*reversed(parts), strict=True)) if len(read) > 1 else tuple(parts[0])
    return CellGroups(names, combined, labels.reshape(-1).astype(np.intp))


def group_records(record: Record, by: Any, estimated: CellGroups) -> CellGroups:
    """Group the cells by the columns `by`, within which other columns are estimated.

    Raises ValueError if there is no such column, or it is one of those that are estimated.
    """
    groups = group_cells(record, by, "all")
    shared = [name for name in groups.name if name in estimated.name]
    if shared:
        raise ValueError(
            f"by={by!r}: column {shared[0]!r} is itself estimated: group by different columns."
        )
    return groups


def means_of_bins(record: Record, name: Any) -> dict[Any, float | None]:
    """Return the public mean of each bin of a column; empty for a column without bins."""
    cut = getattr(record, "numbers_by_name", {}).get(name)
    known = getattr(record, "public_numbers", {}).get(name)
    if known is None or not isinstance(cut, Bins):
        return {}
    return dict(zip(cut.labels, known.means, strict=True))


def numbers_of_cells(
    group: CellGroups, means: Mapping[Any, float | None] | None = None
) -> tuple[Floats, Floats]:
    """Convert the categories of one column to numbers, bins to their public means.

    Returns `numbers` (a,): each cell's number, 0 if missing; `present` (a,): 1 for a number, 0 if
    missing. Raises ValueError if a category is not a number, or all are missing.
    """
    numbers = []
    for category in group.categories:
        category = (means or {}).get(category, category)
        if category is not None and not isinstance(category, Real):
            raise ValueError(
                f"column {group.name[0]!r} is not numeric: it has the category {category!r}. For "
                "shares, use marginal(). Means need booleans or numbers (Knots or Bins in "
                "categories=), and quantiles of ordered categories need their `order`."
            )
        numbers.append(np.nan if category is None else float(category))
    cells = np.array(numbers)[group.labels]
    present = ~np.isnan(cells)
    if not present.any():
        raise ValueError(f"column {group.name[0]!r} has no numbers, only missing values.")
    return np.where(present, cells, 0.0), present.astype(float)


def _positions(record: Record, columns: Any) -> list[int]:
    if not record.columns:
        raise ValueError(
            "this mechanism does not name its columns, so there is no column "
            f"{columns!r}: use part='sensitive' or part='nonsensitive'."
        )
    names = [name for name, _ in record.columns]
    positions = []
    for name in as_list(columns):
        if name in names:
            positions.append(names.index(name))
        elif isinstance(name, Integral) and -len(names) <= int(name) < len(names):
            positions.append(int(name) % len(names))
        else:
            raise ValueError(f"column {name!r} does not exist. The columns are [{listed(names)}].")
    if not positions or len(set(positions)) < len(positions):
        raise ValueError(
            f"columns={columns!r} must list columns without repetition. The columns are "
            f"[{listed(names)}]."
        )
    return positions


def _column(record: Record, position: int) -> tuple[list[Any], NDArray[np.intp], bool]:
    """Return a column's categories in order, and the code of each secret (or value of U)."""
    flags = [flag for _, flag in record.columns]
    sensitive = flags[position]
    alphabet: Sequence[Any] = record.secrets if sensitive else record.values
    within = sum(flag == sensitive for flag in flags[:position])
    if flags.count(sensitive) > 1:
        columns = list(zip(*alphabet, strict=True))
        categories_of_rows = columns[within]
        sizes = [len(set(column)) for column in columns]
        # If the alphabet has all combinations, they are in the order of the columns' alphabets.
        ordered = np.prod(sizes, dtype=float) == len(alphabet)
    else:
        categories_of_rows, ordered = tuple(alphabet), True
    categories = list(dict.fromkeys(categories_of_rows))
    if not ordered:
        categories = _ordered(columns[:within], categories_of_rows)
    index = {category: code for code, category in enumerate(categories)}
    return categories, np.array([index[c] for c in categories_of_rows], dtype=np.intp), sensitive


def _ordered(prefixes: Sequence[Sequence[Any]], categories: Sequence[Any]) -> list[Any]:
    """Order a column's categories as in the alphabet, if that is in lexicographic order.

    Rows that agree in the preceding columns (`prefixes`) determine the order of their categories.
    Categories that no such rows compare are sorted.
    """
    before: dict[Any, set[Any]] = {category: set() for category in categories}
    rows = list(zip(*prefixes, categories, strict=True))
    for row, next_row in itertools.pairwise(rows):
        if row[:-1] == next_row[:-1]:
            before[next_row[-1]].add(row[-1])
    rank = {category: position for position, category in enumerate(sort_categories(list(before)))}
    sorter = TopologicalSorter(before)
    try:
        sorter.prepare()
    except CycleError:  # the alphabet is in a different order
        return list(rank)
    ordered: list[Any] = []
    ready: list[Any] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=rank.__getitem__)
        ordered.append(ready.pop(0))
        sorter.done(ordered[-1])
    return ordered
