"""Piecewise linear majorants of the tails, rounded up: what the package stores."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

DIGITS = 4  # decimals that are stored


def majorant(log_tail, width, spacing=1.0):
    """Knots, and values there whose linear interpolation is nowhere below a step function.

    On ``((i - 1) * width, i * width]``, ``log_tail[i]`` bounds ``log(exp(y) T(y))``. The values
    returned bound log T.
    """
    cells = len(log_tail) - 1
    per = round(spacing / width)
    knots = spacing * np.arange(cells // per + 1)
    assert per * (len(knots) - 1) == cells
    ends = np.concatenate([np.arange(cells), np.arange(1, cells + 1)])  # of each cell
    wanted = np.tile(log_tail[1:], 2)
    left = np.minimum(ends // per, len(knots) - 2)
    share = (ends - left * per) / per
    rows = np.tile(np.arange(2 * cells), 2)
    values = np.concatenate([1.0 - share, share])
    matrix = csr_array((values, (rows, np.concatenate([left, left + 1]))))
    found = linprog(np.ones(len(knots)), A_ub=-matrix, b_ub=-wanted, bounds=(None, None))
    log_values = round_up(found.x - knots, DIGITS)
    while not np.all(matrix @ (log_values + knots) >= wanted + 1e-9):  # the program's tolerance
        log_values = round_up(log_values + 0.5 * 10.0**-DIGITS, DIGITS)
    return knots, np.maximum.accumulate(log_values[::-1])[::-1]  # T falls, and so does the bound


def round_up(values, digits):
    """Decimals, at least as large, and by more than the error of reading them back."""
    return np.ceil(np.asarray(values) * 10.0**digits + 1e-4) / 10.0**digits
