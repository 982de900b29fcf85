"""What reports leave open: the extreme probabilities over all laws that explain them alike."""

import numpy as np
from scipy.optimize import linprog

from skrldp._typing import Floats
from skrldp.exceptions import SolverError

__all__ = ["extremes"]


def extremes(basis: Floats, law: Floats, functions: Floats) -> Floats:
    """Least and greatest value of linear functions over all laws with the same law of the report.

    Two linear programs for each function: laws π with basisᵀ π = basisᵀ law.

    Parameters
    ----------
    basis : array of shape (a, r)
        Basis of the row space of Q.
    law : array of shape (a,)
        One of the laws.
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
    found = np.repeat((functions @ law)[:, None], 2, axis=1)
    limits = {"A_eq": basis.T, "b_eq": basis.T @ law, "bounds": (0.0, None), "method": "highs"}
    for row, function in zip(found, functions, strict=True):
        for end, sign in ((0, 1.0), (1, -1.0)):
            program = linprog(sign * function, **limits)
            if program.status != 0:  # the law itself is feasible, and laws are bounded
                raise SolverError(f"HiGHS found no bound: {program.message}")
            row[end] = sign * program.fun
        # The law is among them, whatever the solver's last digits.
        value = function @ law
        row[:] = min(row[0], value), max(row[1], value)
    return found
