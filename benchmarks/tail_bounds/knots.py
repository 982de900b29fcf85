"""Piecewise linear majorants of the tails, rounded up: what the package stores."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

DIGITS = 4  # decimals that are stored
SPACING = 1.0  # of the knots


def conditions(table, width):
    """Matrix A and vector b: values v of log T at the knots are a majorant iff ``A v >= b``.

    ``table[i]`` bounds ``exp(y) T(y)`` for y in ``((i - 1) * width, i * width]``. Both ends of each
    cell are conditions.
    """
    cells = len(table) - 1
    per = round(SPACING / width)
    ends = np.concatenate([np.arange(cells), np.arange(1, cells + 1)])
    wanted = np.tile(np.log(table[1:]), 2) - ends * width
    left = np.minimum(ends // per, cells // per - 1)
    share = (ends - left * per) / per
    values = np.concatenate([1.0 - share, share])
    columns = np.concatenate([left, left + 1])
    return csr_array((values, (np.tile(np.arange(2 * cells), 2), columns))), wanted


def majorant(table, width):
    """The least sum of values that meets the conditions, rounded up and made to fall in y."""
    matrix, wanted = conditions(table, width)
    found = linprog(np.ones(matrix.shape[1]), A_ub=-matrix, b_ub=-wanted, bounds=(None, None))
    values = round_up(found.x, DIGITS)
    while np.any(matrix @ values < wanted + 1e-9):  # the program's tolerance
        values = round_up(values + 0.5 * 10.0**-DIGITS, DIGITS)
    return np.maximum.accumulate(values[::-1])[::-1]


def round_up(values, digits):
    """Decimals, at least as large, and by more than the error of reading them back."""
    return np.ceil(np.asarray(values) * 10.0**digits + 1e-4) / 10.0**digits
