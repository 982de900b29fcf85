"""Pricing by branch and bound: the most that any private row can be worth."""

import heapq
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from skrldp._typing import Floats
from skrldp.design.bounds._box import Box, Priced
from skrldp.design.bounds._relaxation import Relaxation
from skrldp.design.run import Limits

__all__ = ["SearchResult", "search"]


_VIOLATED = 1e-6  # violation of a row of unit sum that is cut off; 1e-9 finds the same bounds
# Chords are near the function where their gaps sum up to less than the share of the reduced cost,
# or the amount in nats.
_SMALL_SHARE, _NO_GAP = 0.02, 1e-7
# A range is cut where the row is, but this part of it away from its ends.
_FROM_END = 0.1
# While the chords are far from the function, cuts are tried as long as they help: so many failures
# more than successes, which count twice, end that.
_CREDIT = 60
# A row ends a search that, once it is private, is worth more than the level and than this share of
# the bound: the bound cannot come down to the level with these dual variables.
_ENOUGH = 0.5
_AT_ONCE = 8  # boxes whose rows are cut off together: one call costs little more than one row
# A search is given up that after so many linear programs has a bound above this part of what is
# reached. Of 13 tables with 30 to 3,000 records it gives up six, and of these none was proven to
# 13 % by 1,000 programs.
_HOPELESS = ((100, 1.0), (300, 0.35))


@dataclass
class SearchResult:
    """What a search found."""

    bound: float  # no private row has a greater reduced cost, or else it is below the level
    rows: list[Floats] = field(default_factory=list)  # nearly private, with reduced costs above 0
    hopeless: bool = False  # whether it ended because the bound came down too slowly


class _Queue:
    """Boxes that may hold rows of interest, the most promising first."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Priced]] = []
        self._number = count()

    def __bool__(self) -> bool:
        return bool(self._heap)

    @property
    def top(self) -> float:
        """The greatest bound."""
        return -self._heap[0][0]

    def push(self, priced: Priced | None, most: float = np.inf) -> None:
        """Add a box, whose bound is at most that of the box that it was cut from."""
        if priced is not None:
            entry = -min(priced.bound, most), next(self._number), priced
            heapq.heappush(self._heap, entry)

    def pop(self, most: int) -> list[tuple[float, Priced]]:
        """Take some boxes out, with their bounds."""
        first = [heapq.heappop(self._heap) for _ in range(min(most, len(self._heap)))]
        return [(-negative, priced) for negative, _, priced in first]


def search(
    relaxation: Relaxation,
    duals: Floats,
    level: float,
    solves: int,
    limits: Limits,
    reached: float = np.inf,
) -> SearchResult:
    """Bound the reduced costs of all private rows, best boxes first.

    Shapes: `duals` (a,).
    """
    found, queue, begin = SearchResult(level), _Queue(), relaxation.solves
    credit, goal = _CREDIT, begin + solves
    queue.push(relaxation.price(relaxation.box, duals, level))
    while queue and relaxation.solves < goal and not limits.met:
        done = relaxation.solves - begin
        if any(done >= after and queue.top > part * reached for after, part in _HOPELESS):
            found.hopeless = True
            break
        enough = max(level, _ENOUGH * queue.top)
        batch = queue.pop(_AT_ONCE)
        rows = np.array([priced.row for _, priced in batch])
        reduced_costs = np.array([priced.reduced_cost for _, priced in batch])
        gaps = np.array([priced.gaps.sum() for _, priced in batch])
        near = gaps < np.maximum(_NO_GAP, _SMALL_SHARE * np.array([most for most, _ in batch]))
        tried, violated = near | (credit > 0), np.zeros(len(batch), dtype=bool)
        if tried.any():
            violated[tried] = relaxation.cut(rows[tried], _VIOLATED)
        found.rows += list(rows[reduced_costs > 0.0])
        good = rows[tried & ~violated & (reduced_costs > enough)]
        if len(good):
            if relaxation.reduced_costs(good, duals).max() > enough:  # λ has to change first
                for most, priced in batch:
                    queue.push(priced, most)
                break
            relaxation.cut(good, _VIOLATED)  # they are worth that much only because they violate it
        for k, (most, priced) in enumerate(batch):
            if relaxation.solves >= goal:
                queue.push(priced, most)
                continue
            if violated[k]:
                again = relaxation.price(priced.box, duals, level)
                if again is None or again.bound < most - max(_NO_GAP, _SMALL_SHARE * gaps[k]):
                    credit = min(credit + 2, _CREDIT)
                    queue.push(again, most)
                    continue
                priced = again  # branching is better where the cuts hardly help
            credit -= not near[k]
            for half in _halves(priced):
                queue.push(relaxation.price(half, duals, level), most)
    if queue:
        found.bound = max(found.bound, queue.top)
    return found


def _halves(priced: Priced) -> tuple[Box, Box]:
    """Cut the range whose chord is farthest from the function, or leave out what is between."""
    which = int(np.argmax(priced.gaps))
    low, high = float(priced.box.lower[which]), float(priced.box.upper[which])
    left, right = float(priced.hole[0][which]), float(priced.hole[1][which])
    if left < right:
        return priced.box.halves(which, left, right)
    margin = _FROM_END * (high - low)
    at = float(np.clip(priced.point[which], low + margin, high - margin))
    return priced.box.halves(which, at)
