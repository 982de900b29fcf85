"""Extreme probabilities over all distributions of X with the same distribution of the report."""

import numpy as np

from skrldp._highs import LinearProgram
from skrldp._typing import Floats

__all__ = ["extremes"]


def extremes(basis: Floats, distribution: Floats, functions: Floats) -> Floats:
    """Least and greatest values of linear functions over the distributions of X with equal Qπ.

    Each function has two linear programs, over the distributions π with basisᵀ π = basisᵀ
    distribution. Each starts from the optimal basis of the previous program.

    Shapes: basis (a, r), distribution (a,), functions (m, a) to (m, 2).
    """
    program = LinearProgram(np.zeros(len(distribution)))
    reports = basis.T @ distribution
    program.add_rows(basis.T, reports, reports)
    found = np.empty((len(functions), 2))
    for row, function in zip(found, functions, strict=True):
        for end, sign in ((0, -1.0), (1, 1.0)):
            program.set_cost(sign * function)
            row[end] = sign * program.solve()[2]
        # The given distribution is feasible, so correct the solver's rounding errors.
        value = function @ distribution
        row[:] = min(row[0], value), max(row[1], value)
    return found
