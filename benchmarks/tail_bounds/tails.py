"""Rigorous upper bounds of tails by dynamic programming (docs/proofs.md, Theorem 23).

``T_0(y) = 1{y <= 0}`` and ``T_{j+1}(y) = sup E T_j(y - N kl(J / N || p))`` over J ~ Bin(N, p) with
N >= least, and over the constant 0. The tables hold ``U_j[i] >= exp(y) T_j(y)`` for y in
``((i - 1) WIDTH, i WIDTH]``. The numbers of steps in comments are those of the proof.
"""

from itertools import pairwise

import numpy as np
from moments import log_pi
from scipy.sparse import csr_array
from scipy.special import erfc, xlogy

LAST, WIDTH = 36.0, 0.02  # y up to here, in cells of this width
CUT = 48.0  # larger statistics are left to Chernoff's bound
CELLS = round(LAST / WIDTH)
GRID = WIDTH * np.arange(CELLS + 1)
FINER = 5  # the first step uses so many times finer cells
TINY = 1e-3  # smallest m = N p but for the cell at 0 (step 4)
MIDDLE = 14.0  # from this m on, cells are coarser
LARGE_VARIANCE = {1: 300.0, 100: 400.0}  # from this N p (1 - p) on, the normal bound (step 5)
ROUNDING = 1e-9
SHIFTS = int(CUT / WIDTH) + 2
# Lengths of the windows over which the largest value is taken; the last is all that lies below.
WINDOWS = (3, 5, 8, 13, 25, 60, None)


def statistic(j, m, size):
    """N kl(j / N || m / N), or its limit for infinite N."""
    g = xlogy(j, j) - j * np.log(m) - j + m
    if np.isfinite(size):
        g = g + xlogy(size - j, size - j) - xlogy(size - j, size - m) - m + j
    return np.maximum(g, 0.0)


# Cells of (N, m): step 3.


def largest_mean(size, variance):
    """Largest m = N p with p <= 1/2 and N p (1 - p) <= variance."""
    if size / 4.0 <= variance:
        return size / 2.0
    return size * (1.0 - np.sqrt(1.0 - 4.0 * variance / size)) / 2.0


def cut(first, last, low, high, step):
    """Cells of m in [low, high] for N from first to last, of equal width in the angle."""
    if high <= low:
        return []
    if first == last:
        root = np.sqrt(first)
        ends = 2.0 * root * np.arcsin(np.sqrt(np.array([low, high]) / first))
        count = int(np.ceil((ends[1] - ends[0]) / step))
        m = first * np.sin(np.linspace(*ends, count + 1) / 2.0 / root) ** 2
    else:
        ends = 2.0 * np.sqrt([low, high])
        m = np.linspace(*ends, int(np.ceil((ends[1] - ends[0]) / step)) + 1) ** 2 / 4.0
    m[0], m[-1] = low, high
    return [(first, last, *cell) for cell in pairwise(m)]


def cells(least, variance):
    """(first N, last N, lower m, upper m): all N >= least, p <= 1/2, N p (1 - p) < variance."""
    found = []
    size = least
    while size <= 115:
        middle = min(MIDDLE, size / 2.0)
        found.append((size, size, 0.0, TINY))
        found += cut(size, size, TINY, middle, 0.02)
        found += cut(size, size, MIDDLE, largest_mean(size, variance), 0.06)
        size += 1
    start = size
    while size < 3000:
        last = int(size * (1.0 + min(0.5, 0.01 * size / MIDDLE)))
        found.append((size, last, 0.0, TINY))
        found += cut(size, last, TINY, MIDDLE, 0.02)
        size = last + 1
    found.append((size, np.inf, 0.0, TINY))
    found += cut(size, np.inf, TINY, MIDDLE, 0.02)
    size = start
    while size < 6 * variance + 3000:
        p = largest_mean(size, variance) / size
        last = int(size * (1.0 + min(0.5, 0.02 / p)))
        if size <= 4 * variance <= last:
            most = 2.0 * variance
        else:
            most = max(largest_mean(size, variance), largest_mean(last, variance))
        found += cut(size, last, MIDDLE, most, 0.08)
        size = last + 1
    # The largest mean falls in N from 4 * variance on.
    return found + cut(size, np.inf, MIDDLE, largest_mean(size, variance), 0.08)


def atoms(first, last, low, high):
    """Outcomes j, weights b, and the least and largest statistic in a cell (steps 2 and 4)."""
    reach = np.sqrt(2.0 * CUT * high) + CUT
    start, stop = max(0, int(low - reach)), int(min(first, high + reach + 2))
    j = np.arange(start, stop + 1)
    lower, upper = statistic(j, max(low, 1e-300), last), statistic(j, high, last)
    least = np.where(j < low, lower, np.where(j > high, upper, 0.0))
    # What is left out lies beyond the cut, on either side one binomial tail.
    kept = np.flatnonzero(least <= CUT)
    if (kept[0] == 0 < start) or (kept[-1] == j.size - 1 and not stop == first == last):
        raise ArithmeticError(f"the outcomes looked at do not reach the cut: {first, last, low}")
    j, least = j[kept[0] : kept[-1] + 1], least[kept[0] : kept[-1] + 1]
    weight = np.exp(log_pi(j) + log_pi(first - j) - log_pi(first)) * (1.0 + ROUNDING)
    if low > 0.0:
        inside = min(high, first * (1.0 - 1e-12))
        largest = np.maximum(statistic(j, low, first), statistic(j, inside, first))
    else:
        largest = np.where(j == 0, 2.0 * high, np.inf)
    return weight, least, largest


def normal_bound(variance):
    """P(G >= y) on the finer grid, wherever N p (1 - p) >= variance (step 5)."""
    u = WIDTH / FINER * np.arange(FINER * CELLS + 2)
    low, high = np.full_like(u, 1e-6), np.ones_like(u)
    for _ in range(50):  # d(low) >= u / variance
        middle = (low + high) / 2.0
        enough = middle * np.log(middle) - middle + 1.0 >= u / variance
        low[enough] = middle[enough]
        high[~enough] = middle[~enough]
    normal = erfc((np.sqrt(2.0 * u) - 1.0 / np.sqrt(low * variance)) / np.sqrt(2.0))
    normal[(u >= 0.99 * variance) | (u * variance < 1.0)] = 1.0
    return np.minimum(np.minimum(1.0, 2.0 * np.exp(-u)), normal) * (1.0 + ROUNDING)


class Programme:
    """The steps' cells as sparse matrices: one row for a cell, one column for a shift of y."""

    def __init__(self, least):
        variance = LARGE_VARIANCE[least]
        self.normal = normal_bound(variance)
        self.cells = cells(least, variance)
        fine = np.zeros(FINER * CELLS + 1)  # fine[i] >= P(G >= y) for y beyond the i-th point
        columns, weights, lengths = [], [], []
        for cell in self.cells:
            weight, smallest, largest = atoms(*cell)
            if cell[2] > 0.0:
                i = np.ceil((largest + 1e-9) / (WIDTH / FINER)).astype(int) - 1
                i = np.minimum(i, fine.size - 1)
                sums = np.bincount(i, weight * np.exp(-smallest), fine.size)
                np.maximum(fine, sums[::-1].cumsum()[::-1], out=fine)
            columns.append(np.floor((smallest - 1e-9).clip(0.0) / WIDTH).astype(int))
            weights.append(weight)
            lengths.append(np.ceil((largest - smallest + 2e-9) / WIDTH) + 2)
        self.single = fine + 2.0 * np.exp(-CUT)
        rows = np.repeat(np.arange(len(self.cells)), [len(x) for x in columns])
        columns, weights, lengths = map(np.concatenate, (columns, weights, lengths))
        self.matrices, shorter = [], 0.0
        for window in WINDOWS:
            fits = (lengths > shorter) & (lengths <= (window or np.inf))
            shorter = window
            part = (weights[fits], (rows[fits], columns[fits]))
            self.matrices.append(csr_array(part, shape=(len(self.cells), SHIFTS)))

    def first(self):
        """U_1; at most 2, by Chernoff's bound on either side."""
        tail = np.maximum(self.single, self.normal[:-1])
        growth = np.exp(WIDTH / FINER * np.arange(1, tail.size))
        fine = np.minimum(growth, np.maximum(growth * tail[:-1], np.exp(2.0 * TINY)))
        fine = np.minimum(fine, 2.0)
        return np.append(1.0, fine.reshape(CELLS, FINER).max(axis=1))

    def next(self, table):
        """U_{j+1} from U_j."""
        best = np.maximum(self.by_cells(table), self.by_layers(table))
        best = np.minimum(np.maximum(best, table), np.exp(GRID))
        best[0] = 1.0
        return best

    def by_cells(self, table):
        """Where N p (1 - p) is below the limit (steps 1 to 4)."""
        before = SHIFTS + 70
        extended = np.append(np.exp(WIDTH * np.arange(-before, 0)), table)  # index before + i
        shifted = []
        for window in WINDOWS:
            if window is None:
                largest = np.maximum.accumulate(extended)
            else:
                padded = np.append(np.zeros(window - 1), extended)
                largest = np.lib.stride_tricks.sliding_window_view(padded, window).max(axis=1)
            # row s, column i: the largest value at the indices i - s - window + 1 to i - s
            rows = np.lib.stride_tricks.sliding_window_view(largest, CELLS + 1)
            shifted.append(np.ascontiguousarray(rows[before::-1][:SHIFTS]))
        best = np.zeros(CELLS + 1)
        for start in range(0, len(self.cells), 2000):
            part = slice(start, start + 2000)
            pairs = zip(self.matrices, shifted, strict=True)
            sums = sum(matrix[part] @ rows for matrix, rows in pairs if matrix.nnz)
            np.maximum(best, sums.max(axis=0), out=best)
        return best * (1.0 + ROUNDING) + 2.0 * np.exp(LAST - CUT)

    def by_layers(self, table):
        """Where it is above (step 5)."""
        tail = np.minimum.accumulate(np.minimum(1.0, table * np.exp(-GRID)))
        chance = self.normal[::FINER][: CELLS + 1]
        layers = np.convolve(-np.diff(tail), chance[:CELLS])[:CELLS]
        value = tail + np.append(0.0, layers) + (1.0 - tail[0]) * chance
        return np.append(1.0, value[:-1] * np.exp(GRID[1:])) * (1.0 + ROUNDING)


def tables(least, steps):
    """U_1, ..., U_steps, a row each."""
    programme = Programme(least)
    found = [programme.first()]
    while len(found) < steps:
        found.append(programme.next(found[-1]))
    return np.array(found)
