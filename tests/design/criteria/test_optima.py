"""Optima by every criterion: all solvers against enumerated vertices, and formulas."""

import numpy as np
import pytest

from skrldp import JointDistribution, RenyiBall
from skrldp.design.a_optimality import Variance
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.mutual_information import Information
from skrldp.design.pricers import set_indicators
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet

JOINT = JointDistribution([[90, 40, 310], [400, 250, 140]])
PUBLIC = JOINT.probabilities.ravel()
OF_U = np.tile(np.eye(3), 2)


def requirements_of(joint, radius=None, eps=1.0, region="lower"):
    if radius is None:
        radius = RenyiBall().radius_for(joint.n, joint.counts.size)
    return Requirements.of(privacy_region(joint, RenyiSet(2.0, radius), region=region), eps)


def test_what_is_independent_of_the_secret_is_told_as_it_is(cdd):
    joint = JointDistribution(np.outer([2, 3], [10, 25, 15]))
    shares = np.array([0.2, 0.5, 0.3])
    requirements = requirements_of(joint, radius=0.0, eps=0.5)
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


def test_sets_of_values_estimate_many_values_well():
    """Where records are told as values without structure, subset selection is nearly optimal."""
    joint = JointDistribution(np.full((2, 12), 40))
    requirements = requirements_of(joint, radius=np.inf, eps=1.0)
    criterion = Variance(joint.probabilities.ravel(), np.tile(np.eye(12), (1, 2)))
    mixture = criterion.master(requirements.shift(set_indicators(requirements)))
    # Optimised unary encoding of U at the same eps, with the records' own variance.
    q, share = 1.0 / (1.0 + np.e), 1.0 / 12.0
    told = q + share * (0.5 - q)
    encoded = 12.0 * told * (1.0 - told) / (0.5 - q) ** 2
    assert -mixture.solve().value < encoded
