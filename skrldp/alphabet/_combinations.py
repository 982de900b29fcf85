"""The combinations of categories that S, or U, can take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._arrays import chunks, smallest_dtype
from skrldp.alphabet._columns import Column
from skrldp.alphabet._scalars import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Alphabet", "combine"]

# A table with an entry for every possible key finds keys faster than bisection. This is its largest
# size: 8 MB at most. It is built in each call, so it is used only where there are enough rows.
_LARGEST_TABLE = 1 << 22
_ENTRIES_PER_ROW = 4


@dataclass(frozen=True)
class Alphabet:
    """The combinations of categories that some columns can take, each with a number.

    No columns have one combination, the empty tuple: U where all columns are sensitive.

    A key stands for a combination. Column by column, `keys[j]` holds the sorted keys
    ``prefix * len(columns[j + 1]) + category`` of the combinations that exist; a key's place in it
    numbers the prefix that is one column longer.
    """

    columns: tuple[Column, ...]
    # One less than there are columns
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
            parts = [np.unique(_keys(prefix[rows], code[rows], size)) for rows in chunks(len(code))]
            known = np.unique(np.concatenate([np.empty(0, np.int64), *parts]))
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
    ) -> Alphabet:
        """Take some combinations in their own order."""
        if not names:
            return cls(())
        rare = [tuple(map(plain, few)) for few in infrequent or [()] * len(names)]
        if len(names) == 1:
            return cls((Column(names[0], tuple(map(plain, members)), infrequent=rare[0]),))
        values = list(zip(*members, strict=True))
        columns = [
            Column.of_values(name, own, few)
            for name, own, few in zip(names, values, rare, strict=True)
        ]
        codes = [column.codes(own) for column, own in zip(columns, values, strict=True)]
        found, index = cls.observed(columns, codes)
        return cls(found.columns, found.keys, np.argsort(index))

    # -- contents and look-ups --------------------------------------------------------------------

    def combinations(self) -> NDArray[np.int64]:
        """Category indices of every combination.

        Shapes: returns (len(self), n_columns).
        """
        if not self.columns:
            return np.zeros((1, 0), dtype=np.int64)
        prefix, parts = np.arange(len(self)), []
        for column, keys in zip(self.columns[:0:-1], self.keys[::-1], strict=True):
            prefix, category = np.divmod(keys[prefix], len(column))
            parts.append(category)
        found = np.stack([prefix, *parts[::-1]], axis=1)
        return found if self.order is None else found[np.argsort(self.order)]

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

    def number(self, values: Sequence[Any]) -> int:
        """Find the number of one combination.

        Returns int: -1 for an unknown category or combination. Raises TypeError if a value cannot
        be a category.
        """
        if not self.columns:
            return 0
        prefix = self.columns[0].code(values[0])
        for column, value, known in zip(self.columns[1:], values[1:], self.keys, strict=True):
            code = column.code(value)
            if prefix < 0 or code < 0:
                return -1
            key = prefix * len(column) + code
            prefix = int(known.searchsorted(key))
            if prefix == len(known) or known[prefix] != key:
                return -1
        return prefix if prefix < 0 or self.order is None else int(self.order[prefix])

    def index(self, codes: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Find the number of each row's combination, of one column at least.

        Shapes: `codes` (n,). Returns (n,): -1 for an unknown category or combination.
        """
        prefix, n = codes[0], len(self.columns[0])
        for column, code, known in zip(self.columns[1:], codes[1:], self.keys, strict=True):
            prefix = _find(prefix, code, len(column), known, n * len(column))
            n = len(known)
        return prefix if self.order is None else np.append(self.order, -1)[prefix]

    def index_with_others(self, codes: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Find the number of each row's combination, unknown values being "other".

        An unknown category is its column's "other". A combination that is unknown even so is the
        one in which every column is "other".

        Shapes: `codes` (n,). Returns (n,): -1 where a column, or the alphabet, has no such
        category.
        """
        others = [column.other for column in self.columns]
        known = [
            code if other is None else np.where(code < 0, code.dtype.type(other), code)
            for code, other in zip(codes, others, strict=True)
        ]
        index = self.index(known)
        if None in others or not (index < 0).any():
            return index
        fallback = self.index([np.array([other]) for other in others])[0]
        return np.where(index < 0, index.dtype.type(fallback), index)


def _keys(prefix: NDArray[Any], code: NDArray[Any], size: int) -> NDArray[np.int64]:
    return prefix.astype(np.int64) * size + code


def _find(
    prefix: NDArray[Any], code: NDArray[Any], size: int, known: NDArray[np.int64], bound: int
) -> NDArray[Any]:
    """Find every row's key among the sorted `known` ones, all below `bound`; -1 if not there."""
    out = np.empty(len(code), dtype=smallest_dtype(len(known), signed=True))
    table = None
    if bound <= min(_LARGEST_TABLE, _ENTRIES_PER_ROW * len(code)):
        table = np.full(bound, -1, dtype=out.dtype)
        table[known] = np.arange(len(known), dtype=out.dtype)
    for rows in chunks(len(code)):
        unknown = (prefix[rows] < 0) | (code[rows] < 0)
        keys = _keys(prefix[rows], code[rows], size)
        keys[unknown] = 0
        if table is not None:
            place = table[keys]
        else:
            place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            place[known[place] != keys] = -1
        place[unknown] = -1
        out[rows] = place
    return out


def combine(
    secrets: NDArray[Any], values: NDArray[Any], shape: tuple[int, int]
) -> NDArray[np.unsignedinteger[Any]]:
    """Combine the numbers of secrets and of values of U into cells.

    Shapes: `secrets` and `values` (n,). Returns (n,): ``secrets * shape[1] + values``, in the
    smallest unsigned dtype for all cells.
    """
    dtype = smallest_dtype(shape[0] * shape[1])
    if shape[0] == 1:  # then shape[1] itself need not fit the dtype
        return values.astype(dtype)
    cells = secrets.astype(dtype)
    cells *= cells.dtype.type(shape[1])
    np.add(cells, values, out=cells, casting="unsafe")
    return cells
