"""Optima by every criterion: all solvers against cones, enumerated vertices and formulas."""

import numpy as np
import pytest
from conftest import optimum

from skrldp import JointDistribution
from skrldp.design.a_optimality import Variance
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.mutual_information import Information
from skrldp.design.vertices import _vertices, facets
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet

OF_U = np.tile(np.eye(3), 2)


def test_what_is_independent_of_the_secret_is_told_as_it_is(cdd):
    joint = JointDistribution(np.outer([2, 3], [10, 25, 15]))
    shares = np.array([0.2, 0.5, 0.3])
    requirements = Requirements.of(privacy_region(joint, RenyiSet(2.0, 0.0), region="lower"), 0.5)
    whole = joint.probabilities.ravel()
    of_u = solve(CriterionProblem(joint, Variance(whole, OF_U)), requirements, solver="vertices")
    assert of_u.objective == pytest.approx(1.0 - shares @ shares, rel=1e-4)
    about_u = Information(whole, np.tile(np.arange(3), 2), "I(U;Y)")
    told = solve(CriterionProblem(joint, about_u), requirements, solver="vertices")
    assert told.objective == pytest.approx(-shares @ np.log(shares))
    # The secret itself: Warner's randomised response, whatever U is.
    of_s = Variance(whole, np.repeat(np.eye(2), 3, axis=1))
    found = solve(CriterionProblem(joint, of_s), requirements, solver="vertices").objective
    p = 1.0 / (1.0 + np.exp(-0.5))
    reported = 0.4 * p + 0.6 * (1.0 - p)
    assert found == pytest.approx(2 * reported * (1.0 - reported) / (2 * p - 1) ** 2, rel=1e-4)


def least_variance(rows, distribution, function):
    """Minimise the variance of an unbiased estimate over its values and the mechanism.

    With weights θ and estimates w / θ of the reports this is Σ (v·π) w² / θ, where Σ w v is the
    function: a second-order cone program, without an information matrix.
    """
    cp = pytest.importorskip("cvxpy")
    theta, most, told = (cp.Variable(len(rows)) for _ in range(3))
    scaled = cp.multiply(2.0 * np.sqrt(rows @ distribution), told)
    cones = cp.SOC(theta + most, cp.vstack([scaled, theta - most]), axis=0)
    constraints = [rows.T @ theta == 1, rows.T @ told == function, cones]
    found = optimum(cp.Problem(cp.Minimize(cp.sum(most)), constraints))
    return found - (function @ distribution) ** 2


@pytest.mark.parametrize(("n_values", "radius"), [(2, 0.0), (3, np.inf)])
def test_one_function_is_estimated_as_well_as_can_be(n_values, radius, cdd):
    rng = np.random.default_rng(n_values)
    counts = rng.multinomial(3000, rng.dirichlet(np.full(2 * n_values, 2.0))) + 5
    joint = JointDistribution(counts.reshape(2, n_values))
    region = privacy_region(joint, RenyiSet(2.0, radius), region="lower" if radius else "joint")
    requirements = Requirements.of(region, 1.0)
    distribution = joint.probabilities.ravel()
    function = rng.normal(size=2 * n_values)
    least = least_variance(_vertices(facets(requirements)), distribution, function)
    problem = CriterionProblem(joint, Variance(distribution, function[None]))
    for solver in ("vertices", "auto"):
        found = solve(problem, requirements, solver=solver)
        assert found.objective == pytest.approx(least, rel=2e-3)
        assert found.bound <= least * (1.0 + 1e-6)
        assert found.objective >= least * (1.0 - 1e-6)
        if solver == "vertices":
            assert found.bound == pytest.approx(least, rel=1e-3)
