"""Rare and unknown values of U as one value, "other"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.alphabet import OTHER, Alphabet, spent_on_values
from skrldp.table._columns import Column, with_other

__all__ = ["Grouping", "Records", "group_values"]


@dataclass(frozen=True)
class Grouping:
    """Which values of U are reported as "other".

    Raises
    ------
    ValueError
        If a number is out of its range.
    """

    # A category with fewer records is rare; a float is a share of the records. "auto": as many
    # records as Theorem 36 wants; what is rare then takes unknown values, too.
    min_frequency: Any = None
    # Whether unknown values are "other" too, so that U has this value in any case
    unknown: bool = False
    # Probability that may be spent on having learned the values from the counted records
    beta: float = spent_on_values(0.05)

    def __post_init__(self) -> None:
        """Check the numbers."""
        least = self.min_frequency
        if not (least is None or self.is_auto or _is_whole(least) or _is_share(least)):
            raise ValueError(
                f"min_frequency={least!r} must be None, a whole number >= 1 (of records), a float "
                "between 0 and 1 (a share of the records), or 'auto'."
            )

    @property
    def is_auto(self) -> bool:
        """Whether categories are rare that have too few records for Theorem 36."""
        return isinstance(self.min_frequency, str) and self.min_frequency == "auto"

    @property
    def takes_unknown(self) -> bool:
        """Whether a category "other" stands for unknown values as well."""
        return self.unknown or self.is_auto

    @property
    def is_used(self) -> bool:
        """Whether any values are grouped."""
        return self.unknown or self.min_frequency is not None

    def enough(self, n: int, frequent: int) -> int | None:
        """From how many of n records on categories are not rare; None if that does not count."""
        least = frequent if self.is_auto else self.min_frequency
        return least if least is None or _is_whole(least) else math.ceil(least * n)


def _is_whole(number: Any) -> bool:
    is_integer = isinstance(number, Integral | np.integer) and not isinstance(number, bool)
    return bool(is_integer and number >= 1)


def _is_share(number: Any) -> bool:
    is_float = isinstance(number, Real) and not isinstance(number, Integral)
    return bool(is_float and 0.0 < number < 1.0)


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a public table, by its distinct rows."""

    codes: tuple[NDArray[Any], ...]  # (k,), column by column the category of each distinct row
    row: NDArray[Any]  # (n,), the distinct row of each row of the table
    counts: NDArray[np.int64]  # (k,), how many records each distinct row has

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        codes: Sequence[NDArray[Any]],
        weights: NDArray[Any] | None,
    ) -> Records:
        """Find the distinct rows of a table and add up their records."""
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
    """Leave a column of U its frequent categories; the others become "other".

    Shapes: `codes` (k,); returns `codes` (k,).
    """
    n_categories = len(column)
    counts = np.bincount(codes, weights=records.counts, minlength=n_categories).astype(np.int64)
    occurs = np.bincount(codes, minlength=n_categories) > 0
    is_other = np.array([category == OTHER for category in column.categories])
    # A column of truth values has no others, unless a combination of them is unknown.
    is_bool = column.declared and set(map(type, column.categories)) == {bool}
    has_other = grouping.unknown and (combined or not is_bool)
    kept = np.ones(n_categories, dtype=bool)
    enough = grouping.enough(int(records.counts.sum()), frequent)
    if enough is not None and not (grouping.is_auto and column.declared):  # those may be rare
        kept = counts >= enough
    if combined and grouping.unknown:
        kept &= occurs
    elif combined:
        kept |= ~occurs  # its combinations are unknown as they are
    kept |= is_other
    rare = tuple(c for c, k in zip(column.categories, kept.tolist(), strict=True) if not k)
    categories = tuple(c for c, k in zip(column.categories, kept.tolist(), strict=True) if k)
    if has_other or rare:
        categories = with_other(categories)
    infrequent = () if grouping.takes_unknown and (has_other or rare) else rare
    found = replace(column, categories=categories, infrequent=infrequent)
    place = {category: index for index, category in enumerate(categories)}
    new = np.array([place.get(c, found.other) for c in column.categories], dtype=np.int64)
    return found, new[codes]
