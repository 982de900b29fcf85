"""Numbers cut at fixed edges: the bins of a column, each of which is a category."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.alphabet._scalars import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Bins"]

_EXACT = 2**53  # whole numbers up to here are floats, so that arrays are cut exactly


@dataclass(frozen=True)
class Bins:
    """Intervals of numbers, and the categories that they are.

    A bin has its lower edge, and not its upper one; the last one has both, unless it is open.
    """

    edges: tuple[int | float, ...]  # increasing; the first may be -inf, the last inf
    labels: tuple[str, ...]  # one for each bin

    def __post_init__(self) -> None:
        """Check that these are edges and labels."""
        edges = self.edges
        first, last = int(edges[:1] == (-math.inf,)), len(edges) - int(edges[-1:] == (math.inf,))
        inner = edges[first:last]
        is_increasing = all(low < high for low, high in pairwise(edges))
        if len(edges) < 3 or not is_increasing or not all(abs(edge) <= _EXACT for edge in inner):
            raise ValueError(
                "edges must be at least three increasing numbers, at most 2^53 in size, such as "
                "[0, 18, 65, 120]; -inf and inf at the ends open the outer bins."
            )
        if len(self.labels) != len(edges) - 1 or len(set(self.labels)) < len(self.labels):
            raise ValueError(
                f"{len(edges):,} edges make {len(edges) - 1:,} bins, each with a label of its own."
            )

    @classmethod
    def of_edges(cls, edges: Any) -> Bins:
        """Cut at some edges, and name the bins as intervals are written: "[0, 18)"."""
        wrong = f"edges must be a list of numbers, such as [0, 18, 65, 120], got {edges!r}."
        if isinstance(edges, str | bytes) or not hasattr(edges, "__iter__"):
            raise ValueError(wrong)
        found = tuple(edges.tolist()) if isinstance(edges, np.ndarray) else tuple(edges)
        numbers = [_number(edge) for edge in found]
        if None in numbers:
            raise ValueError(wrong)
        own = tuple(number for number in numbers if number is not None)
        labels = [f"[{low}, {high})" for low, high in pairwise(own)]
        if labels and own[0] == -math.inf:
            labels[0] = f"({own[0]}, {own[1]})"
        if labels and own[-1] != math.inf:
            labels[-1] = f"{labels[-1][:-1]}]"
        return cls(own, tuple(labels))

    @property
    def range(self) -> str:
        """All numbers that have a bin, as an interval."""
        low, high = self.edges[0], self.edges[-1]
        left, right = "(" if low == -math.inf else "[", ")" if high == math.inf else "]"
        return f"{left}{low}, {high}{right}"

    def place(self, value: Any) -> int:
        """Find the bin of one value; -1 for a number outside, and for what is none."""
        try:
            value = plain(value)
            if not isinstance(value, Real | Decimal):
                return -1
            place = bisect_right(self.edges, value) - 1
            is_last, is_infinite = value == self.edges[-1], abs(value) == math.inf
        except (ValueError, ArithmeticError, ImportError):  # infinite, or no number of Decimal
            return -1
        if is_infinite:
            return -1
        return place if place < len(self.labels) else place - 1 if is_last else -1

    def places(self, values: Sequence[Any] | NDArray[Any]) -> NDArray[np.int64]:
        """Find the bin of each value, (n,); -1 as :meth:`place`."""
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf":
            return np.fromiter(map(self.place, values), dtype=np.int64, count=len(values))
        numbers = values.astype(float)  # what is rounded is beyond all edges, and stays so
        edges = np.array(self.edges, dtype=float)
        found: NDArray[np.int64] = np.searchsorted(edges, numbers, side="right") - 1
        found[numbers == edges[-1]] -= 1
        found[(found == len(self.labels)) | ~np.isfinite(numbers)] = -1
        return found


def _number(edge: Any) -> int | float | None:
    """Write an edge as a whole number where it is one; None for what is no number."""
    if isinstance(edge, bool | np.bool_) or not isinstance(edge, Real | Decimal):
        return None
    if isinstance(edge, Integral):
        return int(edge)
    found = float(edge)
    if math.isnan(found):
        return None
    return int(found) if found.is_integer() else found
