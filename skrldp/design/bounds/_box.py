"""Ranges of the shapes and means of rows, and what the rows within are worth."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from skrldp._typing import Floats

__all__ = ["CLOSED", "WIDER", "Box", "Priced"]


# Ranges are made wider than they were computed, for rounding: relatively, and by the rest. A range
# below the second is none.
WIDER, CLOSED = 1.0 + 1e-9, 1e-12


@dataclass(frozen=True, eq=False)
class Box:
    """Ranges of the shapes, one for each cell with records, and then of the means."""

    # lower, upper: (c + a1,), ends of the ranges
    lower: Floats
    upper: Floats

    @property
    def empty(self) -> bool:
        """Whether nothing is inside."""
        return bool(np.any(self.lower > self.upper))

    def halves(self, which: int, at: float, to: float | None = None) -> "tuple[Box, Box]":
        """Cut one range in two."""
        upper, lower = self.upper.copy(), self.lower.copy()
        upper[which], lower[which] = at, at if to is None else to
        return replace(self, upper=upper), replace(self, lower=lower)


class Priced(NamedTuple):
    """What the rows in a box are worth."""

    # No private row in the box has a greater reduced cost, or else it is below the level
    bound: float
    row: Floats  # (a,), the row that the program found
    reduced_cost: float  # its reduced cost
    gaps: Floats  # (c + a1,), by how much the chord of each range makes it too large there
    point: Floats  # (c + a1,), its shapes and means
    box: Box  # the box, less some parts without rows that are worth more than the level
    # (c + a1,), between these two no row in the box is worth more than the level, unless they are
    # in reverse order
    hole: tuple[Floats, Floats]
