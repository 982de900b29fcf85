"""The A-optimal weights of given rows: against a generic solver."""

import numpy as np
import pytest
from conftest import optimum
from scipy.optimize import nnls

from skrldp.design.a_optimality import Variance
from skrldp.exceptions import SolverError


@pytest.mark.parametrize(("cells", "count", "targets"), [(3, 8, 1), (6, 30, 4)])
def test_the_weights_are_a_generic_solvers(cells, count, targets):
    """minimise tr C M^-1 C', a sum of matrix fractions, by Clarabel."""
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng([cells, count])
    distribution = rng.dirichlet(np.full(cells, 2.0))
    functions = rng.normal(size=(targets, cells))
    rows = rng.random((count, cells)) + rng.choice([0.1, 3.0], size=(count, cells))
    rows = np.concatenate([rows, rows.max() - rows + 0.1])
    criterion = Variance(distribution, functions)
    mixture = criterion.master(rows)
    found = mixture.solve()
    theta = cp.Variable(len(rows), nonneg=True)
    parts = [np.outer(row, row) / (row @ distribution) for row in rows]
    information = sum(weight * part for weight, part in zip(theta, parts, strict=True))
    variance = sum(cp.matrix_frac(function, information) for function in functions)
    means = functions @ distribution
    expected = optimum(cp.Problem(cp.Minimize(variance), [rows.T @ theta == 1])) - means @ means
    assert -found.value == pytest.approx(expected, rel=1e-5)
    matrix = criterion.merged(mixture.mechanism(found.weights), 1e-4)
    assert len(matrix) < len(rows)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0, atol=1e-6)
    assert -criterion.value(matrix) <= expected + 1.1e-4 * (expected + means @ means)


def test_rows_that_make_no_mechanism_are_an_error():
    mixture = Variance(np.full(3, 1 / 3), np.eye(3)).master(
        np.array([[3.0, 2.0, 1.0], [2.0, 2.0, 1.0]])
    )
    with pytest.raises(SolverError, match=r"weights of 2 rows were not found: .* columns off by"):
        mixture.solve()


def test_a_rare_report_stays_where_it_is_needed():
    distribution = np.array([0.4996, 0.5, 0.0004])
    criterion = Variance(distribution, np.eye(3))
    # The third is as rare as the last cell, which nothing else tells from the first.
    mixture = criterion.master(
        np.array([[1.0, 0.0, 1.1], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.5, 0.0]])
    )
    found = mixture.solve()
    assert 0.0 < found.weights[2] * distribution[2] < 1e-3
    matrix = criterion.merged(mixture.mechanism(found.weights), 1e-4)
    assert criterion.value(matrix) == pytest.approx(found.value, rel=2e-4)


def test_rows_are_merged_where_little_is_lost():
    rng = np.random.default_rng(5)
    criterion = Variance(rng.dirichlet(np.full(4, 2.0)), rng.normal(size=(9, 4)))
    rows = rng.random((40, 4)) ** 3
    rows = np.concatenate([rows, rows / 2.0])  # each two tell the same
    matrix = rows / rows.sum(axis=0)
    value, sizes = criterion.value(matrix), []
    for loss in (1e-9, 1e-3, 1e-2, 0.1):
        found = criterion.merged(matrix, loss)
        sizes.append(len(found))
        assert value * (1.0 + loss) * (1.0 + 1e-6) <= criterion.value(found) <= value * (1.0 - 1e-9)
        # Each row is a sum of rows, each of which is in one sum.
        parts = np.array([nnls(matrix.T, row)[1] for row in found])
        np.testing.assert_allclose(parts, 0.0, atol=1e-6)  # old versions of nnls stop there
        np.testing.assert_allclose(found.sum(axis=0), 1.0, atol=1e-12)
    assert sizes[0] == 40
    assert np.all(np.diff(sizes) < 0)


def test_what_else_reports_determine_stays_determined_where_they_are_merged():
    """The shares of U alone are asked for, and reports also tell a little of S."""
    rng = np.random.default_rng(0)
    reports = np.tile(rng.dirichlet(np.full(40, 0.3), 4), (2, 1))  # of 2 secrets and 4 values
    reports *= 1.0 + rng.uniform(-0.2, 0.2, reports.shape)
    matrix = (reports / reports.sum(axis=1, keepdims=True)).T
    distribution = rng.dirichlet(np.full(8, 5.0))
    merged = Variance(distribution, np.tile(np.eye(4), 2)).merged(matrix, 0.1)
    every = Variance(distribution, np.eye(8))
    assert len(merged) <= 20
    assert every.value(merged) > 2.1 * every.value(matrix)  # values are minus variances
