"""Pricers, which find valuable rows for a mixture, and initial rows of a search."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.design.central_path import RowPaths
from skrldp.design.criteria import Master
from skrldp.design.limits import MOST_ROUNDS, SPREAD, TIGHT, Limits
from skrldp.design.newton_system import Block
from skrldp.design.path_blocks import path_blocks
from skrldp.privacy.requirements import Requirements

# Gap, relative to the range of a row's slopes, below which the slopes follow the row. Doubling it
# loses at most 0.1 %.
_FOLLOW = 3e-3
# A batch of paths ends once this fraction of its rows has converged, because a few rows are slow.
# Values closer to 1 take longer.
_ARRIVED = 0.9
# Maximum number of rows of few levels for each value of U, and for all values. Doubling it doubles
# the time.
_OF_VALUE, _OF_ALL = 4, 400
# Numbers of levels, and relative gain of the last rounds below which the next number of levels is
# tried. Without four levels, the result for 7 x 16 cells is 10 % higher after 5 s.
_LEVELS, _LITTLE_GAIN = (2, 4), 0.02


class Pricer(ABC):
    """A method that improves rows by increasing their price in a master.

    Attributes
    ----------
    tol : float
        Relative gain of the last rounds below which the next pricer takes over.
    """

    tol = 0.0

    @abstractmethod
    def ascend(self, rows: Floats, master: Master, end: float, rng: np.random.Generator) -> Floats:
        """Return rows of unit sum whose prices are at least those of the given rows.

        The rows are private up to the method's errors. `end` is the gap at which ascents end,
        relative to the range of the slopes. Shapes: `rows` (m, a); returns (n, a).
        """


def pricers(requirements: Requirements, tol: float, limits: Limits) -> list[Pricer]:
    """List the pricers of some requirements, in the order in which a search to `tol` uses them."""
    if requirements.of_whole_records:
        return [Thresholds(requirements)]
    shape, along_paths = requirements.shape, PathPricer(requirements, limits)
    is_plain = all(
        item.region.rows.in_order and item.region.conditionals.shape == shape
        for item in requirements
    )
    if is_plain and requirements.any_pair and shape[1] > 2:
        # Four levels cost a rough search a seventh of its time, and gain less than its tolerance
        n_levels = [n for n in _LEVELS[: 1 if tol > _LITTLE_GAIN else None] if n < shape[1]]
        return [*(LevelRows(requirements, n, limits) for n in n_levels), along_paths]
    return [along_paths]


# --- Along central paths --------------------------------------------------------------------------


class PathPricer(Pricer):
    """Ascend along the central paths of single rows."""

    def __init__(self, requirements: Requirements, limits: Limits) -> None:
        self.blocks, self.limits = path_blocks(requirements), limits

    def ascend(self, rows: Floats, master: Master, end: float, rng: np.random.Generator) -> Floats:
        """See :class:`Pricer`."""
        return ascend_along_paths(master.slopes(rows), master.slopes, self.blocks, self.limits, end)


def ascend_along_paths(
    slopes: Floats,
    slopes_at: Callable[[Floats], Floats],
    blocks: list[Block],
    limits: Limits,
    end: float,
) -> Floats:
    """Ascend a convex function of rows, starting from many slopes.

    The initial slopes determine the direction of a path. Near the boundary, the slopes are those at
    the row itself.

    Shapes: `slopes` (m, a). Returns (m, a): rows of unit sum.
    """
    paths = RowPaths(slopes, blocks, workers=limits.workers)
    rows, unit, follow = paths.rows, np.ptp(slopes, axis=1), np.zeros(len(slopes), dtype=bool)
    for _ in range(MOST_ROUNDS):
        is_going = paths.advance(end * unit)
        limits.count()
        rows = np.maximum(paths.rows, np.finfo(float).tiny)
        rows /= rows.sum(axis=1, keepdims=True)
        if not is_going or limits.met or np.mean(paths.gaps <= 2.0 * end * unit) > _ARRIVED:
            break
        follow |= paths.gaps <= _FOLLOW * unit
        if follow.any():
            slopes = np.where(follow[:, None], slopes_at(rows), slopes)
            unit = np.ptp(slopes, axis=1)
            paths.set_slopes(slopes)
    return rows


# --- Rows of few levels ---------------------------------------------------------------------------


class LevelRows(Pricer):
    """Rows with few levels for each secret: one for a value of U, the others for groups.

    Most rows of an optimum approximately have two levels; the others are approximated by rows with
    a few more. Privacy is over the region of the merged values. Initial rows are random, and values
    whose slopes there are similar form a group.

    Parameters
    ----------
    requirements : Requirements
        The requirements on every row.
    n_levels : int
        Number of entries for each secret.
    limits : Limits
        Time, iterations and threads.
    """

    tol = _LITTLE_GAIN

    def __init__(self, requirements: Requirements, n_levels: int, limits: Limits) -> None:
        self.requirements, self.n_levels, self.limits = requirements, n_levels, limits
        n_values = requirements.shape[1]
        self.values = np.repeat(np.arange(n_values), max(min(_OF_VALUE, _OF_ALL // n_values), 1))

    def ascend(self, rows: Floats, master: Master, end: float, rng: np.random.Generator) -> Floats:
        """See :class:`Pricer`."""
        shape, size = self.requirements.shape, len(self.values)
        starts = np.exp(rng.normal(scale=SPREAD, size=(size, shape[0], self.n_levels)))
        is_value = np.arange(shape[1]) == self.values[:, None]
        slopes = master.slopes(expand(starts, 1 - is_value)).reshape(size, *shape)
        keys = np.einsum("bsu,bs->bu", slopes, rng.normal(size=(size, shape[0])))
        ranks = np.where(is_value, -np.inf, keys).argsort(axis=1).argsort(axis=1)
        # Only the value itself is in level 0
        levels = -(-ranks * (self.n_levels - 1) // (shape[1] - 1))
        groups = np.equal(levels[..., None], np.arange(self.n_levels)).astype(float)

        def slopes_at(entries: Floats) -> Floats:
            whole = expand(entries.reshape(starts.shape), levels)
            slopes = master.slopes(whole).reshape(size, *shape) @ groups
            return slopes.reshape(size, -1)

        blocks, initial = self.blocks(groups), slopes_at(starts)
        entries = ascend_along_paths(initial, slopes_at, blocks, self.limits, end)
        rows = expand(entries.reshape(starts.shape), levels)
        return rows / rows.sum(axis=1, keepdims=True)

    def blocks(self, groups: Floats) -> list[Block]:
        """Make the blocks for rows that are constant on groups of values, (b, a2, n_levels)."""

        def of_row(group: Floats) -> list[Block]:
            merged = (
                replace(item, region=item.region.grouped(group)) for item in self.requirements
            )
            return path_blocks(Requirements(tuple(merged)))

        of_rows = (of_row(group) for group in groups)
        return [blocks[0].of_rows(blocks) for blocks in zip(*of_rows, strict=True)]


def expand(entries: Floats, levels: Indices) -> Floats:
    """Expand the entries of levels, (b, a1, n), to rows (b, a), given values' levels (b, a2)."""
    return np.take_along_axis(entries, levels[:, None, :], axis=2).reshape(len(entries), -1)


# --- Rows of two levels where the whole record is the secret --------------------------------------


class Thresholds(Pricer):
    r"""The best rows if the whole record is the secret.

    A row is private for every distribution if its largest entry is at most :math:`e^\epsilon` times
    its smallest. A linear function is maximised by a row that is :math:`e^\epsilon` on the cells
    with the largest slopes, and 1 elsewhere.
    """

    def __init__(self, requirements: Requirements) -> None:
        self.drop = float(np.exp(-requirements.least_eps))

    def ascend(self, rows: Floats, master: Master, end: float, rng: np.random.Generator) -> Floats:
        """See :class:`Pricer`. Random initial rows, two for each cell, are added."""
        n_cells = rows.shape[1]
        rows = np.concatenate([rows, rng.dirichlet(np.ones(n_cells), size=2 * n_cells)])
        reduced_costs, rising = np.full(len(rows), -np.inf), np.arange(len(rows))
        for _ in range(MOST_ROUNDS):
            higher = self._best_rows(master.slopes(rows[rising]))
            reached = master.reduced_costs(higher)
            is_better = reached > reduced_costs[rising] + TIGHT
            rising = rising[is_better]
            rows[rising], reduced_costs[rising] = higher[is_better], reached[is_better]
            if not len(rising):
                break
        return rows

    def _best_rows(self, slopes: Floats) -> Floats:
        """Maximise linear functions over private rows of unit sum, (m, a)."""
        n_cells, added = slopes.shape[1], 1.0 - self.drop
        order = np.argsort(-slopes, axis=1)
        sums = np.take_along_axis(slopes, order, axis=1).cumsum(axis=1)
        sizes = np.arange(1, n_cells + 1)
        values = (self.drop * sums[:, -1:] + added * sums) / (self.drop * n_cells + added * sizes)
        rows = np.full(slopes.shape, self.drop)
        is_in_set = sizes <= values.argmax(axis=1)[:, None] + 1
        np.put_along_axis(rows, order, np.where(is_in_set, 1.0, self.drop), axis=1)
        return rows / rows.sum(axis=1, keepdims=True)


# --- Initial rows ---------------------------------------------------------------------------------


def set_indicators(requirements: Requirements) -> Floats:
    """Return rows that indicate whether the value of U, the secret or the cell is in a set.

    Each random set is rotated around a random circle of the values, so that every value is in
    equally many sets. Sets with a fraction ``1 / (1 + exp(eps))`` of all values are the best if the
    values have no structure (Ye and Barg 2018).

    Returns (m, a): rows of 0 and 1, not private.
    """
    rng, shape = np.random.default_rng(0), requirements.shape
    share = 1.0 / (1.0 + np.exp(requirements.least_eps))
    rows = []
    for axes in (shape[:1], shape[1:], shape):  # secrets, values of U, cells
        n = math.prod(axes)
        sizes = [round(share * n)] * 2
        if axes != shape:
            sizes += [1, n // 2]
        for size in (size for size in sizes if 0 < size < n):
            circle, members = rng.permutation(n), rng.permutation(n)[:size]
            sets = np.zeros((n, n))
            rotated = circle[(members + np.arange(n)[:, None]) % n]
            np.put_along_axis(sets, rotated, 1.0, axis=1)
            table = sets.reshape(n, *axes) if axes != shape[:1] else sets[:, :, None]
            rows.append(np.broadcast_to(table.reshape(n, -1, table.shape[-1]), (n, *shape)))
    return np.concatenate(rows).reshape(-1, requirements.n_cells)
