"""Pricing by branch and bound: the most that any private row can be worth."""

import heapq
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from skrldp._typing import Floats
from skrldp.design._run import Deadline
from skrldp.design.bounds._box import Box, Priced
from skrldp.design.bounds._relaxation import Relaxation

__all__ = ["Search", "search"]


# A violation of a row of unit sum that is cut off, while the chords are far from the function and
# when they are not: gaps that sum up to less than the share of the profit, or the amount in nats.
_COARSE, _FINE = 1e-6, 1e-9
_SMALL_SHARE, _NO_GAP = 0.02, 1e-7
# A range is cut where the row is, but this part of it away from its ends.
_FROM_END = 0.1
# While the chords are far from the function, cuts are tried as long as they help: so many failures
# more than successes, which count twice, end that.
_CREDIT = 60
# A row that is worth more than the level and than this share of the bound ends a search: the bound
# cannot come down to the level with these dual variables.
_ENOUGH = 0.5
_AT_ONCE = 8  # boxes whose rows are cut off together
_LEAST_PROFIT = 1e-7  # nats: rows with a greater profit are kept


@dataclass
class Search:
    """What a search found.

    Attributes
    ----------
    bound : float
        No private row has a greater reduced profit, or else it is below the level.
    rows : list of (profit, row)
        Rows that are nearly private, with their reduced profits.
    """

    bound: float
    rows: list[tuple[float, Floats]] = field(default_factory=list)


def search(
    relaxation: Relaxation, duals: Floats, level: float, solves: int, deadline: Deadline
) -> Search:
    """Bound the reduced profits of all private rows, best box first.

    Parameters
    ----------
    relaxation : Relaxation
        Bounds over boxes; it learns cuts.
    duals : array of shape (a,)
        What each row costs.
    level : float
        Reduced profit that is near enough to zero, in nats.
    solves : int
        Number of linear programs after which the bound is returned as it is.
    deadline : Deadline
        When to return it at the latest.

    Returns
    -------
    Search
    """
    found, number, end = Search(level), count(), relaxation.solves + solves
    heap: list[tuple[float, int, Priced]] = []
    credit = _CREDIT

    def push(priced: Priced | None, most: float) -> None:
        if priced is not None:
            heapq.heappush(heap, (-min(priced.bound, most), next(number), priced))

    push(relaxation.price(relaxation.box, duals, level), np.inf)
    while heap and relaxation.solves < end and not deadline.passed:
        batch = [heapq.heappop(heap) for _ in range(min(_AT_ONCE, len(heap)))]
        top = -batch[0][0]
        found.rows += [(one.profit, one.row) for _, _, one in batch if one.profit > _LEAST_PROFIT]
        gaps = np.array([float(one.gaps.sum()) for _, _, one in batch])
        near = gaps < np.maximum(_NO_GAP, [_SMALL_SHARE * -key for key, _, _ in batch])
        tried = near if credit <= 0 else np.ones(len(batch), dtype=bool)
        cut = np.zeros(len(batch), dtype=bool)
        for some, above in ((tried & near, _FINE), (tried & ~near, _COARSE)):
            if some.any():
                cut[some] = relaxation.cut(np.array([batch[k][2].row for k in np.flatnonzero(some)]), above)
        good = [batch[k][2] for k in np.flatnonzero(tried & ~cut)]
        good = [one for one in good if one.profit > max(level, _ENOUGH * top)]
        if good:
            rows = np.array([one.row for one in good])
            profits = relaxation.profits(rows, duals)
            if profits.max() > max(level, _ENOUGH * top):  # λ has to change first
                for one in batch:
                    heapq.heappush(heap, one)
                break
            relaxation.cut(rows, _FINE)
        for (negative, _, priced), gap, is_near, is_cut in zip(batch, gaps, near, cut, strict=True):
            if relaxation.solves >= end:
                heapq.heappush(heap, (negative, next(number), priced))
                continue
            if is_cut:
                again = relaxation.price(priced.box, duals, level)
                if again is None or again.bound < -negative - max(_NO_GAP, _SMALL_SHARE * gap):
                    credit = min(credit + 2, _CREDIT)
                    push(again, -negative)
                    continue
                # Branching is better where the cuts hardly help.
                priced = again
            credit -= not is_near
            for half in _halves(priced):
                push(relaxation.price(half, duals, level), -negative)
    if heap:
        found.bound = max(found.bound, -heap[0][0])
    return found


def _halves(priced: Priced) -> tuple[Box, Box]:
    """Cut the range whose chord is farthest from the function."""
    which = int(np.argmax(priced.gaps))
    low, high = float(priced.box.lower[which]), float(priced.box.upper[which])
    left, right = float(priced.hole[0][which]), float(priced.hole[1][which])
    if left < right:
        return priced.box.halves(which, left, right)
    margin = _FROM_END * (high - low)
    at = float(np.clip(priced.point[which], low + margin, high - margin))
    return priced.box.halves(which, at)
