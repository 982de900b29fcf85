"""Maxima of functions that are dear to evaluate, where cheap upper bounds of them are known."""

from collections.abc import Callable

import numpy as np

from skrldp._typing import Floats, Indices

__all__ = ["screened_maxima"]


def screened_maxima(
    upper: Floats, exact: Callable[[Indices, Indices], Floats], first: int
) -> Floats:
    """Find the greatest value of each row, evaluating entries in the order of their upper bounds.

    A row is done when no bound of what is left exceeds the greatest value so far.

    Parameters
    ----------
    upper : array of shape (n, m)
        Upper bounds of the values.
    exact : callable
        Takes integer arrays of rows and columns, and returns the values there; what exceeds the
        upper bound counts as the bound.
    first : int
        Entries of a row that are evaluated at once to begin with, twice as many each time after.

    Returns
    -------
    array of shape (n,)
        Greatest values, or 0 if those are negative.
    """
    order = np.argsort(-upper, axis=1, kind="stable")
    upper = np.take_along_axis(upper, order, axis=1)
    greatest = np.zeros(len(upper))
    start, width = 0, first
    while start < upper.shape[1]:
        active = np.flatnonzero(upper[:, start] > greatest)
        if len(active) == 0:
            break
        columns = order[active, start : start + width]
        values = exact(np.repeat(active, columns.shape[1]), columns.ravel())
        values = np.minimum(values.reshape(columns.shape), upper[active, start : start + width])
        greatest[active] = np.maximum(greatest[active], values.max(axis=1))
        start, width = start + width, 2 * width
    return greatest
