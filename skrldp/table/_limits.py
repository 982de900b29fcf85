"""The error messages for a table with too many cells, or too many distinct rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skrldp.table._columns import MOST_CATEGORIES, Column

__all__ = ["Size", "too_many_cells", "too_many_rows"]

_SHOWN = 10  # columns that a message lists


@dataclass(frozen=True)
class Size:
    """A column's name and number of levels, and how many of these the table has."""

    name: object
    levels: int  # how many values the column can have
    used: int  # how many of them the table has
    is_open: bool = False  # whether the column has more different values than are counted

    @classmethod
    def of(cls, name: object, column: Column | None, codes: np.ndarray | None) -> Size:
        """Count the levels of a column that was read."""
        if column is None or codes is None:
            return cls.open(name)
        return cls(name, len(column), int(np.count_nonzero(np.bincount(codes))))

    @classmethod
    def open(cls, name: object) -> Size:
        """Return the size of a column with more different values than are counted."""
        return cls(name, MOST_CATEGORIES + 1, MOST_CATEGORIES + 1, True)

    def words(self) -> str:
        """Return a text: "'zip': 50,000 (12 of them used)"."""
        if self.is_open:
            return f"{self.name!r}: more than {MOST_CATEGORIES:,}"
        unused = f" ({self.used:,} of them used)" if self.used < self.levels else ""
        return f"{self.name!r}: {self.levels:,}{unused}"


def too_many_cells(n_cells: int, most: int, sizes: Sequence[Size], advice: str) -> ValueError:
    """Return the error for a table with too many cells, or a column with too many values."""
    what = f"the table has at least {n_cells:,} cells, more than {most:,}"
    if any(size.is_open for size in sizes):
        what = f"a column may have {MOST_CATEGORIES:,} distinct values at most"
    return _too_many(what, sizes, advice)


def too_many_rows(n_rows: int, most: int, sizes: Sequence[Size], advice: str) -> ValueError:
    """Return the error for a lazy frame with too many distinct rows to group their values here."""
    what = (
        f"the table has {n_rows:,} distinct rows, more than {most:,}, and it takes all of them to "
        "group rare or unknown values"
    )
    return _too_many(what, sizes, advice)


def _too_many(what: str, sizes: Sequence[Size], advice: str) -> ValueError:
    is_open = any(size.is_open for size in sizes)
    largest = sorted(sizes, key=lambda size: -size.levels)
    more = len(sizes) - _SHOWN
    others = f"; {more:,} more column{'s' if more > 1 else ''}" if more > 0 else ""
    levels = "; ".join(size.words() for size in largest[:_SHOWN])
    product = math.prod(size.levels for size in sizes)
    whole = f"{product:,}" if product < 10**15 else f"about 1e{math.floor(math.log10(product))}"
    unused = ""
    if any(size.used < size.levels for size in sizes):
        unused = ", drop unused levels (of a category column by cat.remove_unused_categories())"
    return ValueError(
        f"{what}. Levels per column: {levels}{others}; their product is "
        f"{'more than ' if is_open else ''}{whole}. Leave columns out, discretise numbers (for "
        f"example with KBinsDiscretizer(encode='ordinal')){unused}, or group values."
        f"{' ' if advice else ''}{advice}"
    )
