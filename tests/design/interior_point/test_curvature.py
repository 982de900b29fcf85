"""Costs with a curvature that joins the reports: the Newton equations, and a path to the end."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import optimum

from skrldp import JointDistribution
from skrldp.design.interior_point import CentralPath, path_blocks
from skrldp.design.interior_point import _newton_system as newton
from skrldp.design.interior_point._newton_system import Coupling, inverses
from skrldp.design.programs import ExpectedCost
from skrldp.design.rows._facets import facets
from skrldp.design.run import Workers
from skrldp.privacy import Requirements, privacy_region
from skrldp.sets import RenyiSet


def parts_with(hessian, size):
    """Rows in parts of a size, with their Hessians."""
    places = [slice(first, first + size) for first in range(0, len(hessian), size)]
    return [
        SimpleNamespace(place=place, hessian=hessian[place], inverse=inverses(hessian[place]))
        for place in places
    ]


def test_conjugate_gradients_solve_the_newton_equations(monkeypatch):
    monkeypatch.setattr(newton, "_CONJUGATE_GOOD", 1e-24)  # to the end
    rng = np.random.default_rng(1)
    b, a, rank = 5, 4, 6
    roots = rng.normal(size=(b, a, a))
    hessian = roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(a)
    joins = rng.normal(size=(rank, b * a)) * 3.0
    gradient, residual = rng.normal(size=(b, a)), rng.normal(size=a)
    coupling = Coupling(parts_with(hessian, 2), Workers(), np.zeros((b, a)), None)
    step = coupling.solve_curved(
        gradient, residual, lambda step: (joins.T @ (joins @ step.ravel())).reshape(b, a)
    )
    whole = joins.T @ joins
    for y in range(b):
        whole[y * a : (y + 1) * a, y * a : (y + 1) * a] += hessian[y]
    sums = np.tile(np.eye(a), b)
    system = np.block([[whole, sums.T], [sums, np.zeros((a, a))]])
    expected = np.linalg.solve(system, np.concatenate([-gradient.ravel(), residual]))[: a * b]
    np.testing.assert_allclose(step.sum(axis=0), residual, atol=1e-9)
    np.testing.assert_allclose(step.ravel(), expected, atol=1e-8)


def test_a_path_to_the_least_of_a_quadratic_cost():
    cp = pytest.importorskip("cvxpy")
    joint = JointDistribution([[7, 10], [26, 57]])
    requirements = Requirements.of(privacy_region(joint, RenyiSet(2.0, 0.05), region="lower"), 0.7)
    distribution, rng = joint.probabilities.ravel(), np.random.default_rng(2)
    b, a = 5, 4
    factor, aim = rng.normal(size=(3, b * a)), rng.normal(size=3)

    def gradient(rows):
        return (factor.T @ (factor @ rows.ravel() - aim)).reshape(b, a)

    def expand(rows):
        cost = gradient(rows) / distribution
        return cost, lambda step: (factor.T @ (factor @ step.ravel())).reshape(b, a)

    start = np.full((b, a), 1.0 / b)
    cost = ExpectedCost(expand(start)[0], distribution)
    path = CentralPath(cost, path_blocks(requirements), scale=1.0, gap=10.0)
    while path.gap > 1e-7 and path.steps < 80:
        path.set_cost(*expand(path.rows))
        assert path.advance()
    rows = cp.Variable((b, a), nonneg=True)
    distance = cp.sum_squares(factor @ cp.reshape(rows, (b * a,), order="C") - aim) / 2
    limits = [cp.sum(rows, axis=0) == 1, rows @ facets(requirements).T <= 0]
    expected = optimum(cp.Problem(cp.Minimize(distance), limits))
    found = factor @ path.rows.ravel() - aim
    assert found @ found / 2 == pytest.approx(expected, abs=1e-5)
    assert path.steps < 60  # Newton's method, not a gradient's
