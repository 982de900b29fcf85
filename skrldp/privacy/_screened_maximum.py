"""Maxima of functions that are dear to evaluate, where cheap upper bounds of them are known."""

from collections.abc import Callable

import numpy as np

from skrldp._typing import Floats, Indices

__all__ = ["screened_maxima"]


def screened_maxima(
    upper: Floats, exact: Callable[[Indices, Indices], Floats], first: int
) -> Floats:
    """Find the greatest value of each row, evaluating entries in the order of their upper bounds.

    An entry whose bound does not exceed the greatest value of its row so far is left out.

    Shapes: `upper` (n, m). Returns (n,): greatest values, or 0 if those are negative.
    """
    left = np.where(np.isnan(upper), np.inf, upper)  # of what is no number nothing is known
    greatest = np.zeros(len(upper))
    width = min(first, upper.shape[1])
    active = np.flatnonzero(left.max(axis=1, initial=-np.inf) > 0.0)
    while len(active):
        some = left[active]
        columns = np.argpartition(-some, width - 1, axis=1)[:, :width]
        promising = np.take_along_axis(some, columns, axis=1) > greatest[active, None]
        row, column = np.repeat(active, promising.sum(axis=1)), columns[promising]
        values = np.minimum(exact(row, column), left[row, column])
        np.maximum.at(greatest, row, values)
        left[row, column] = -np.inf
        active = active[left[active].max(axis=1) > greatest[active]]
        width = min(2 * width, upper.shape[1])
    return greatest
