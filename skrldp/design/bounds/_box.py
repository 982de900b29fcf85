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
    """Ranges of the shapes, one for each cell with records, and then of the means.

    Attributes
    ----------
    lower, upper : arrays of shape (c + a1,)
        Ends of the ranges.
    """

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
    """What the rows in a box are worth.

    Attributes
    ----------
    bound : float
        No private row in the box has a greater reduced cost, or else it is below the level.
    row : array of shape (a,)
        The row that the program found.
    reduced_cost : float
        Its reduced cost.
    gaps : array of shape (c + a1,)
        By how much the chord of each range makes it too large there.
    point : array of shape (c + a1,)
        Its shapes and means.
    box : Box
        The box, less some parts without rows that are worth more than the level.
    hole : pair of arrays of shape (c + a1,)
        Between these two no row in the box is worth more than the level, unless they are in reverse
        order.
    """

    bound: float
    row: Floats
    reduced_cost: float
    gaps: Floats
    point: Floats
    box: Box
    hole: tuple[Floats, Floats]
