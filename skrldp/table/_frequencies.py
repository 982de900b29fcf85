"""Which learned values have so many records that a confidence level can allow for the learning.

A column may be declared, and its categories are then all there are. Of a learned column Theorem 36
says how many categories of the population there may be, those without records being one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.alphabet import OTHER, SEEN_OFTEN
from skrldp.table._columns import Column

__all__ = ["Frequencies", "Rare", "most_categories", "most_values"]


_SHOWN = 3  # rare values that are named
_ANY = 2**53  # records, more than there are


@dataclass(frozen=True)
class Rare:
    """Columns, one or all of U together, with categories or combinations of too few records."""

    names: tuple[Any, ...]
    n: int  # how many; 0 if it is their "other", which does not take unknown values
    some: tuple[tuple[Any, int], ...]  # the rarest ones, and how many records each has

    @classmethod
    def of(cls, names: Sequence[Any], values: Sequence[Any], counts: Any, least: int) -> Rare:
        """Find the values that have fewer records than the least."""
        rare = [k for k in np.argsort(counts, kind="stable").tolist() if counts[k] < least]
        some = tuple((values[k], int(counts[k])) for k in rare[:_SHOWN])
        return cls(tuple(names), len(rare), some)


@dataclass(frozen=True)
class Frequencies:
    """What the records say about the categories of a table's columns."""

    # For each column of the table the most categories that the population may have, in so far as
    # they are told apart; None if the theorem does not hold for it, or it was not looked at
    sizes: tuple[int | None, ...]
    rare: tuple[Rare, ...]  # the columns for which it does not hold
    least: int  # how many records each category needs
    fewest: int = _ANY  # how many records each category has that is learned and kept

    @classmethod
    def of(
        cls,
        columns: Mapping[int, tuple[Column, Column]],
        counts: Mapping[int, NDArray[Any]],
        open_columns: Collection[int],
        least: int,
        n_columns: int,
    ) -> Frequencies:
        """Look at columns."""
        sizes: list[int | None] = [None] * n_columns
        rare, fewest = [], _ANY
        for place, (column, grouped) in columns.items():
            is_open = place in open_columns
            sizes[place], kept = most_categories(column, counts[place], grouped, is_open, least)
            numbers = [*kept.values()]
            fewest = min([fewest, *numbers])
            if sizes[place] is None:
                rare.append(Rare.of((column.name,), [*kept], numbers, least))
        return cls(tuple(sizes), tuple(rare), least, fewest)

    def product(self, positions: Sequence[int]) -> int | None:
        """Multiply the sizes of some columns; None if one is not known."""
        product = 1
        for position in positions:
            size = self.sizes[position]
            if size is None:
                return None
            product *= size
        return product


def most_categories(
    column: Column, counts: NDArray[np.int64], grouped: Column, takes_unknown: bool, least: int
) -> tuple[int | None, dict[Any, int]]:
    """Bound the number of categories of one column.

    Shapes: `counts` (k,). Returns `most`: none if a category that is kept has too few records;
    `kept`: the records of each category that is learned and kept.
    """
    if column.declared:
        return len(column) + (grouped.other is not None and column.other is None), {}
    open_other = takes_unknown and grouped.other is not None
    if grouped.infrequent and not open_other:
        return None, {}
    number = dict(zip(column.categories, counts.tolist(), strict=True))
    own = [c for c in grouped.categories if not (open_other and c == OTHER)]
    kept = {category: int(number.get(category, 0)) for category in own}
    return (None if min(kept.values(), default=least) < least else most_values(counts)), kept


def most_values(counts: NDArray[Any]) -> int:
    """Count the values that may be frequent in the population, and one for all others.

    Shapes: `counts` (k,).
    """
    return int(np.count_nonzero(counts >= SEEN_OFTEN)) + 1
