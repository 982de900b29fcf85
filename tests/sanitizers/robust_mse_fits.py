"""Tables, fits and distances for the tests of RobustMSESanitizer."""

import warnings

import numpy as np
import pytest
from conftest import REFERENCE, convex_solve

from skrldp import PrivacyLeakWarning, RenyiBall, RobustMSESanitizer

CASES = REFERENCE["mse"]

# name: robust_utility, robust_privacy
PROBLEMS = {
    "NUNP": (False, False),
    "NURP": (False, True),
    "RUNP": (True, False),
    "RURP": (True, True),
}

TOL = 1e-4  # the default of `tol`

COUNTS = np.array([[300, 200, 100], [150, 250, 500]])  # two secrets, U = 0, 1, 2

SPARSE = np.array([[78, 0, 16, 6], [217, 169, 0, 57], [20, 40, 0, 90]])

leaks = pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")


def rows_of(counts):
    return np.array([[s, u] for s in range(len(counts)) for u in range(len(counts[0]))])


def fit(counts=COUNTS, eps=0.5, **parameters):
    """Fit to counts, with the papers' set; S and U are whole numbers. Says nothing of weak sets."""
    papers = {"sensitive": 0, "uncertainty": RenyiBall()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        sanitizer = RobustMSESanitizer(eps, **(papers | parameters))
        return sanitizer.fit(rows_of(counts), sample_weight=np.ravel(counts))


def by_cell(sanitizer, distance):
    """Expected distance of the report about each cell, from the definition."""
    mechanism = sanitizer.mechanism_
    expected = []
    for x, (_, u) in enumerate(mechanism.cells):
        reports = zip(mechanism.symbols, mechanism.matrix[:, x], strict=True)
        expected.append(sum(q * distance(u, y) for y, q in reports))
    return np.array(expected)


def squared(u, y):
    return float(u - y) ** 2


def absolute(u, y):
    return abs(float(u - y))


def hamming(u, y):
    return float(u != y)


def worst_of(sanitizer, distance):
    """Greatest expected distance in the ball, by a solver that shares nothing with ours."""
    distribution, ball = sanitizer.joint_.probabilities.ravel(), sanitizer.utility_uncertainty_
    cells = by_cell(sanitizer, distance)
    if np.isinf(ball.B_):
        return cells.max()
    return convex_solve(cells[None], distribution[None], [1.0], ball.alpha, ball.B_)
