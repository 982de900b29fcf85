"""The partition of the cells by the categories of one or several columns."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skrldp._params import check_choice
from skrldp._typing import Floats

__all__ = ["PARTS", "CellGroups", "Record", "group_cells", "group_records", "numbers_of_cells"]

PARTS = ("all", "sensitive", "nonsensitive")


class Record(Protocol):
    """The alphabets of S and U, with the columns that they are made of."""

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
    """Group the cells by some columns, or by a part of the record.

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
                "all columns are sensitive, so there are no others whose shares could be "
                "estimated: use part='all'."
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
        raise ValueError(f"columns={columns!r} and part={part!r} exclude each other.")
    places = _positions(record, columns)
    read = [_column(record, place) for place in places]
    key = np.zeros(a1 * a2, dtype=np.int64)
    for categories, codes, sensitive in read:
        key = key * len(categories) + codes[secret if sensitive else value]
    present, labels = np.unique(key, return_inverse=True)
    rest, parts = present, []
    for categories, _, _ in reversed(read):
        rest, code = np.divmod(rest, len(categories))
        parts.append([categories[c] for c in code])
    names = tuple(record.columns[place][0] for place in places)
    found = tuple(zip(*reversed(parts), strict=True)) if len(read) > 1 else tuple(parts[0])
    return CellGroups(names, found, labels.reshape(-1).astype(np.intp))


def group_records(record: Record, by: Any, estimated: CellGroups) -> CellGroups:
    """Group the cells by the columns `by`, within which other columns are estimated.

    Raises ValueError if there is no such column, or it is one of those that are estimated.
    """
    groups = group_cells(record, by, "all")
    both = [name for name in groups.name if name in estimated.name]
    if both:
        raise ValueError(f"by={by!r}: column {both[0]!r} is the one that is estimated.")
    return groups


def numbers_of_cells(group: CellGroups) -> tuple[Floats, Floats]:
    """Read the categories of one column as numbers.

    Returns `numbers` (a,): each cell's number, 0 where it is missing; `present` (a,): 1 where there
    is a number, 0 where it is missing. Raises ValueError if a category is no number, or all are
    missing.
    """
    numbers = []
    for category in group.categories:
        if category is not None and not isinstance(category, Real):
            raise ValueError(
                f"column {group.name[0]!r} is not numeric: it has the category {category!r}. "
                "(Quantiles of ordered categories need their `order`.)"
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
    wanted = list(columns) if isinstance(columns, list | tuple) else [columns]
    places = []
    for name in wanted:
        if name in names:
            places.append(names.index(name))
        elif isinstance(name, Integral) and -len(names) <= int(name) < len(names):
            places.append(int(name) % len(names))
        else:
            raise ValueError(f"there is no column {name!r}; the columns are {names}.")
    if not places or len(set(places)) < len(places):
        raise ValueError(f"columns={columns!r} must name columns, each once; they are {names}.")
    return places


def _column(record: Record, place: int) -> tuple[list[Any], NDArray[np.intp], bool]:
    """Return a column's categories in order, and the code of each secret (or value of U)."""
    flags = [flag for _, flag in record.columns]
    sensitive = flags[place]
    alphabet: Sequence[Any] = record.secrets if sensitive else record.values
    within = sum(flag == sensitive for flag in flags[:place])
    if flags.count(sensitive) > 1:
        columns = list(zip(*alphabet, strict=True))
        own = columns[within]
        sizes = [len(set(column)) for column in columns]
        # If the alphabet has all combinations, they are in the order of the columns' own alphabets.
        ordered = np.prod(sizes, dtype=float) == len(alphabet)
    else:
        own, ordered = tuple(alphabet), True
    categories = list(dict.fromkeys(own))
    if not ordered:
        categories = _ordered(columns[:within], own)
    index = {category: code for code, category in enumerate(categories)}
    return categories, np.array([index[c] for c in own], dtype=np.intp), sensitive


def _ordered(prefixes: Sequence[Sequence[Any]], own: Sequence[Any]) -> list[Any]:
    """Order a column's categories as in the alphabet, if that is in lexicographic order.

    Rows that agree in the preceding columns (`prefixes`) have the categories in their order.
    Categories that no such rows compare are sorted.
    """
    before: dict[Any, set[Any]] = {category: set() for category in own}
    rows = list(zip(*prefixes, own, strict=True))
    for row, other in itertools.pairwise(rows):
        if row[:-1] == other[:-1]:
            before[other[-1]].add(row[-1])
    rank = {category: place for place, category in enumerate(_sorted(list(before)))}
    sorter = TopologicalSorter(before)
    try:
        sorter.prepare()
    except CycleError:  # the alphabet is in another order
        return list(rank)
    found: list[Any] = []
    ready: list[Any] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=rank.__getitem__)
        found.append(ready.pop(0))
        sorter.done(found[-1])
    return found


def _sorted(categories: list[Any]) -> list[Any]:
    """Sort categories, a missing value last; keep their order if they cannot be compared."""
    try:
        known = sorted(category for category in categories if category is not None)
    except TypeError:
        return categories
    return known + [None] * (None in categories)
