"""GRR, SRR and independent reporting against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import JointDistribution, LikelihoodRatioSet
from skrldp.design.closed_form import (
    block_matrix,
    grr,
    independent_reporting,
    response_matrix,
    srr,
    value_budget,
)
from skrldp.information import mutual_information
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet


@given(st.floats(1e-3, 30.0), st.integers(1, 6), st.integers(1, 6))
def test_probabilities_by_definition(eps, a1, a2):
    a = a1 * a2
    same, same_secret, same_value, other = grr(eps, a)
    assert same + (a - 1) * other == pytest.approx(1.0, abs=1e-14)
    assert same_secret == same_value == other
    assert same == pytest.approx(math.exp(eps) / (math.exp(eps) + a - 1), rel=1e-12)
    total = math.exp(eps) + math.exp(-eps) * (a2 - 1) + a - a2  # Entropy (58)
    expected = np.array([math.exp(eps), math.exp(-eps), 1.0, 1.0]) / total
    np.testing.assert_allclose(srr(eps, a1, a2), expected, rtol=1e-12)


def test_u_that_says_nothing_of_s_is_reported_as_it_is():
    joint = JointDistribution(np.outer([3, 7], [2, 3, 5]))
    point = privacy_region(joint, RenyiSet(2.0, 0.0))
    found = independent_reporting(joint, Requirements.of(point, 0.5))
    # for any part above 0 the whole of U passes; the rest of the budget is for S
    matrix = block_matrix(found.blocks, (2, 3))
    np.testing.assert_allclose(matrix.reshape(2, 3, 2, 3).sum(axis=(0, 2)), 2 * np.eye(3))
    assert found.information >= joint.entropy - 0.6109  # H(U) at least


SETS = [
    LikelihoodRatioSet().fit_set,
    lambda _: RenyiSet(2.0, 0.01),
    lambda _: RenyiSet(0.3, 0.02),
    lambda _: RenyiSet(2.0, 0.0),
    lambda _: RenyiSet(1.0, np.inf),
]


def promise(seed, a1, sizes, eps, eps_worst_case=None, known=False, fit=SETS[1]):
    """A random table whose first column of U is known; its values go with so many of the second."""
    rng = np.random.default_rng(seed)
    values = [(v, w) for v, size in enumerate(sizes) for w in range(size)]
    counts = rng.integers(0, 200, (a1, len(values))) + np.eye(a1, len(values), dtype=int)
    joint = JointDistribution(counts, tuple(range(a1)), tuple(values))
    return Requirements.asked(
        joint, fit(joint), eps, eps_worst_case=eps_worst_case, known=(0,) if known else (), fit=fit
    )


def missing(matrix, requirements):
    """By how much rows of greatest entry 1 must be raised."""
    return requirements.shifts(matrix / matrix.max(axis=1, keepdims=True)).max()


@settings(max_examples=8)
@given(
    st.integers(0, 10**6),
    st.integers(2, 3),
    st.sampled_from([(1, 1, 2), (3, 1), (2, 2), (4,), (1, 3, 2)]),
    st.floats(0.1, 2.5),
    st.sampled_from([None, 1.0, 1.3, 3.0]),
    st.booleans(),
    st.sampled_from(SETS),
)
def test_private_best_split_and_largest_budget(seed, a1, sizes, eps, more, known, fit):
    promised = promise(seed, a1, sizes, eps, more and more * eps, known, fit)
    joint, requirements = promised.joint, promised.over()
    shape = joint.counts.shape
    found = independent_reporting(joint, requirements)
    matrix = block_matrix(found.blocks, shape)
    assert missing(matrix, requirements) <= 1e-9
    of_secret = response_matrix(found.secret_eps, shape[0])
    of_value = response_matrix(found.value_eps, shape[1])
    np.testing.assert_allclose(matrix, np.kron(of_secret, of_value), atol=1e-13)

    def reports(part, delta):
        first = response_matrix(requirements.least_eps - part, shape[0])
        return np.kron(first, response_matrix(delta, shape[1]))

    value_eps = value_budget(requirements)
    cells = joint.probabilities.ravel()
    every = [
        mutual_information(reports(part, value_eps(part)), cells)
        for part in np.linspace(0.0, requirements.least_eps, 31)
    ]
    assert found.information >= max(every) * (1.0 - 1e-5)
    part = 0.6 * requirements.least_eps
    delta = value_eps(part)
    assert missing(reports(part, delta), requirements) <= 1e-9
    if 0.0 < delta < 30.0:  # a little more would leak
        assert missing(reports(part, 1.001 * delta), requirements) > 0.0


def test_one_secret_may_be_reported_as_it_is():
    joint = JointDistribution([[5, 10, 20]])
    alone = Requirements.asked(joint, RenyiSet(2.0, 0.05), 1.0, eps_worst_case=2.0)
    found = independent_reporting(joint, alone.over())
    assert found.information == pytest.approx(joint.entropy)
