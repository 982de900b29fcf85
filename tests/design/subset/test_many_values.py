"""Reports about sets of many values: even groups, and work that is bounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import JointDistribution
from skrldp._params import OBSERVED
from skrldp.certificate import release
from skrldp.design.closed_form import closed_forms
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.subset_optimum import (
    even_groups,
    group_reporting,
)
from skrldp.information import mutual_information
from skrldp.privacy.requirements import Requirements
from skrldp.sets.parameter_objects import LikelihoodRatioSet


def promise(a1, a2, n=20_000, eps=1.0, **options):
    shares = np.random.default_rng(0).dirichlet(np.full(a1 * a2, 0.5))
    counts = np.random.default_rng(1).multinomial(n, shares).reshape(a1, a2)
    joint = JointDistribution(counts)
    return Requirements.asked(joint, LikelihoodRatioSet().fit_set(joint), eps, **options)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_groups_are_even_under_every_secret(seed, a1):
    conditionals = np.random.default_rng(seed).dirichlet(np.ones(60), a1)
    groups = even_groups(conditionals, 300)
    sizes = (groups @ conditionals.T) * 2.0
    halves = sizes[np.abs(sizes - 1.0).max(axis=1) < 0.25]
    assert len(halves) >= 4  # two partitions into halves, at least
    first = groups[:2]
    np.testing.assert_array_equal(first.sum(axis=0), 1)  # each value is in one half
    largest = conditionals.max()
    assert np.abs(first @ conditionals.T - 0.5).max() <= a1 * largest


@pytest.mark.parametrize("observe", OBSERVED)
def test_groups_are_told_privately_and_better_than_by_closed_forms(observe):
    asked = promise(4, 60, observe=observe)
    joint, requirements = asked.joint, asked.over()
    found = group_reporting(joint, requirements)
    public = requirements.fold(joint.probabilities)
    forms = [mutual_information(form, public) for form in closed_forms(joint, requirements)]
    assert mutual_information(found, public) > 5.0 * max(forms)
    _, certificate = release(found, asked)
    assert certificate.holds(1.0)
    # a search without time has them
    short = solve(CriterionProblem(joint), requirements, time_limit=1e-6)
    assert short.status == "time_limit"
    assert short.objective >= mutual_information(found, public) * (1.0 - 1e-9)


@pytest.mark.parametrize("counts", [[[1, 0], [0, 0]], [[3, 0, 0], [0, 0, 9]]])
def test_groups_without_values_are_none(counts):
    joint = JointDistribution(counts)
    asked = Requirements.asked(joint, LikelihoodRatioSet().fit_set(joint), 0.5)
    found = group_reporting(joint, asked.over())
    np.testing.assert_allclose(found.sum(axis=0), 1.0, atol=1e-7)
    assert asked.over().shifts(found).max() <= 1e-12
