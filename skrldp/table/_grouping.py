"""Rare and unknown values of U as one value, "other", and the records from which it is learned."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.alphabet import OTHER, Alphabet, spent_on_values
from skrldp.table._columns import Column, with_other

__all__ = ["Grouping", "Records", "group_values", "set_aside"]


@dataclass(frozen=True)
class Grouping:
    """Which values of U are reported as "other", and which records decide that.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """

    # A category with fewer records is rare; a float is a share of the records. "auto": as many
    # records as Theorem 36 wants; what is rare then takes unknown values, too.
    min_frequency: Any = None
    # Share of the records from which the alphabet is learned and which are not counted; None if it
    # is learned from the counted records
    fraction: Any = None
    # Whether unknown values are "other" too, so that U has this value in any case
    unknown: bool = False
    # Probability that may be spent on having learned the values from the counted records
    beta: float = spent_on_values(0.05)

    def __post_init__(self) -> None:
        """Check the numbers."""
        least, share = self.min_frequency, self.fraction
        if not (least is None or self.is_auto or _is_whole(least) or _is_share(least)):
            raise ValueError(
                f"min_frequency={least!r} must be None, a whole number >= 1 (of records), a float "
                "between 0 and 1 (a share of the records), or 'auto'."
            )
        if share is not None and not _is_share(share):
            raise ValueError(f"alphabet_fraction={share!r} must be None or between 0 and 1.")
        if share is not None and not self.unknown:
            raise ValueError(
                f"alphabet_fraction={share!r} needs handle_unknown='infrequent_if_exist': counted "
                "records can have values that those set aside lack. They are counted as 'other', "
                "and so they must be reported."
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
    counted: NDArray[np.int64]  # (k,), how many records count towards the public distribution
    # (k,), how many are set aside, to learn the alphabet from; None if all records are counted
    aside: NDArray[np.int64] | None = None

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

    @property
    def deciding(self) -> NDArray[np.int64]:
        """How many records of each distinct row the alphabet is learned from."""
        return self.counted if self.aside is None else self.aside

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which distinct rows the alphabet is learned from: rows that stand for none are listed."""
        is_listed = np.ones(len(self.counted), dtype=bool)
        return is_listed if self.aside is None else self.aside > 0

    def without(self, rows: NDArray[np.bool_]) -> Records:
        """Set some rows of the table aside."""
        aside = np.bincount(self.row[rows], minlength=len(self.counted))
        return replace(self, counted=self.counted - aside, aside=aside)

    def counted_rows(self) -> NDArray[np.int64] | None:
        """Return the counted records of each row of the table, all on the first of equal rows."""
        if self.aside is None:
            return None
        found, first = np.unique(self.row, return_index=True)
        weights = np.zeros(len(self.row), dtype=np.int64)
        weights[first] = self.counted[found]
        return weights


def set_aside(records: Records, columns: Sequence[Column], fraction: float) -> Records:
    """Choose records at random from which the alphabet is learned and which are not counted.

    Each record is chosen with the same probability, independently of the others. Equal rows are
    exchangeable, so it is enough to draw how many of them are chosen: a binomial number. What is
    left is then independent of what was chosen, given how many there are. The random numbers start
    from a hash of the table, so that a fit is repeatable and depends neither on the order of the
    rows nor on whether equal rows are added up, while no cell is favoured in all tables alike.

    Raises ValueError if all records are chosen, or none.
    """
    names = repr([(column.name, column.categories) for column in columns])
    table = np.stack([*records.codes, records.counted]).astype("<i8")
    seed = hashlib.sha256(names.encode("utf-8", "backslashreplace") + table.tobytes()).digest()
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(seed, "big")))
    aside = generator.binomial(records.counted, fraction)
    n, n_aside = int(records.counted.sum()), int(aside.sum())
    if n_aside in (0, n):
        raise ValueError(
            f"alphabet_fraction={fraction!r} of {n:,} record{'' if n == 1 else 's'} leaves none "
            f"{'to count' if n_aside else 'to learn the alphabet from'}; declare the alphabets in "
            "`categories`, or choose another fraction."
        )
    return replace(records, counted=records.counted - aside, aside=aside)


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
    deciding, present = records.deciding, records.present
    counts = np.bincount(codes, weights=deciding, minlength=n_categories).astype(np.int64)
    occurs = np.bincount(codes[present], minlength=n_categories) > 0
    is_other = np.array([category == OTHER for category in column.categories])
    # A column of truth values has no others, unless a combination of them is unknown.
    is_bool = column.declared and set(map(type, column.categories)) == {bool}
    has_other = grouping.unknown and (combined or not is_bool)
    kept = np.ones(n_categories, dtype=bool)
    enough = grouping.enough(int(deciding.sum()), frequent)
    if enough is not None and not (grouping.is_auto and column.declared):  # those may be rare
        kept = counts >= enough
    if grouping.unknown and (combined or (records.aside is not None and not column.declared)):
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
