"""The expected cost at the worst distribution of a ball: never too small, and attained."""

import numpy as np
import pytest
from conftest import on_the_boundary, random_directions, renyi
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp.design.programs import ExpectedCost

ALPHAS = (0.3, 0.5, 1.0, 1.5, 2.0, 5.0)


def instance(seed, alpha=2.0, radius=0.1, b=3, a=6, zeros=False):
    """A cost of any sign, the ball for it, and a mechanism."""
    rng = np.random.default_rng([seed, 7])
    distribution = rng.dirichlet(np.ones(a)) + 0.01
    if zeros:
        distribution[rng.permutation(a)[: a // 3]] = 0.0
    cost = ExpectedCost(rng.normal(size=(b, a)), distribution / distribution.sum(), alpha, radius)
    return cost, rng.dirichlet(np.full(b, 0.5), size=a).T


def expected(cost, distribution, matrix):
    """The expected cost, report by report and cell by cell."""
    return sum(
        distribution[x] * matrix[y, x] * cost.cost[y, x]
        for y in range(matrix.shape[0])
        for x in range(matrix.shape[1])
    )


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from(ALPHAS),
    st.floats(-6.0, 0.5),
    st.booleans(),
)
def test_worst_is_never_passed_and_is_attained(seed, alpha, log_radius, zeros):
    radius = 10.0**log_radius
    cost, matrix = instance(seed, alpha, radius, zeros=zeros)
    cells = cost.by_cell(matrix)
    bound, worst = cost.worst(matrix)
    assert worst.min() >= 0.0
    assert worst.sum() == pytest.approx(1.0, abs=1e-12)
    assert renyi(cost.distribution, worst, alpha) <= radius * (1 + 1e-9) + 1e-14
    assert bound - 1e-7 * np.ptp(cells) <= expected(cost, worst, matrix) <= bound

    rng = np.random.default_rng(seed)
    near = worst * np.exp(rng.normal(size=(150, len(worst))) * 0.1) + 1e-4 * rng.random((150, 1))
    towards = np.concatenate([random_directions(rng, 450, len(worst)), near, np.eye(len(worst))])
    towards = towards / towards.sum(axis=1, keepdims=True)
    distributions = on_the_boundary(cost.distribution, towards, alpha, radius)
    assert np.all(distributions @ cells <= bound + 1e-12)
    assert cost.distribution @ cells <= bound


def test_one_distribution_and_all_distributions_by_hand():
    for seed in range(5):
        nominal, matrix = instance(seed, radius=0.0, zeros=True)
        bound, distribution = nominal.worst(matrix)
        assert not nominal.robust
        assert bound == pytest.approx(expected(nominal, nominal.distribution, matrix), abs=1e-13)
        np.testing.assert_array_equal(distribution, nominal.distribution)

        every, matrix = instance(seed, radius=np.inf, zeros=True)
        by_cell = [expected(every, unit, matrix) for unit in np.eye(6)]
        bound, distribution = every.worst(matrix)
        assert every.robust
        assert bound == pytest.approx(max(by_cell), abs=1e-13)
        np.testing.assert_array_equal(distribution, np.eye(6)[np.argmax(by_cell)])
