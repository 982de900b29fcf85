"""What reports leave open: extreme probabilities over all distributions that explain them alike."""

import numpy as np

from skrldp._highs import LinearProgram
from skrldp._typing import Floats

__all__ = ["extremes"]


def extremes(basis: Floats, distribution: Floats, functions: Floats) -> Floats:
    """Least and greatest value of linear functions over distributions with equal reports.

    Two linear programs for each function, over the distributions π with basisᵀ π = basisᵀ
    distribution; one after the other, each from the basis of the one before.

    Parameters
    ----------
    basis : array of shape (a, r)
        Basis of the row space of Q.
    distribution : array of shape (a,)
        One of the distributions.
    functions : array of shape (m, a)
        The functions.

    Returns
    -------
    array of shape (m, 2)

    Raises
    ------
    SolverError
        If the solver fails.
    """
    program = LinearProgram(np.zeros(len(distribution)))
    reports = basis.T @ distribution
    program.add_rows(basis.T, reports, reports)
    found = np.empty((len(functions), 2))
    for row, function in zip(found, functions, strict=True):
        for end, sign in ((0, -1.0), (1, 1.0)):
            program.set_cost(sign * function)
            row[end] = sign * program.solve()[2]
        # The given distribution is among them, whatever the solver's last digits.
        value = function @ distribution
        row[:] = min(row[0], value), max(row[1], value)
    return found
