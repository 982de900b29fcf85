"""The expected cost at the worst distribution of a ball: never too small, and attained."""

import cvxpy as cp
import numpy as np
import pytest
from conftest import on_the_boundary, optimum, pairwise, random_directions, renyi
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


def direct_worst(cells, distribution, alpha, radius):
    """The greatest P.cells over the ball, by a convex solver; the ball is convex as written."""
    found, seen = cp.Variable(len(distribution), nonneg=True), np.flatnonzero(distribution > 0)
    held, p = found[seen], distribution[seen]
    if alpha == 1.0:
        inside = p @ np.log(p) - p @ cp.log(held) <= radius
    else:
        power, limit = p**alpha @ cp.power(held, 1.0 - alpha), np.exp((alpha - 1.0) * radius)
        inside = power <= limit if alpha > 1.0 else power >= limit
    return optimum(cp.Problem(cp.Maximize(cells @ found), [inside, cp.sum(found) == 1]))


@pytest.mark.parametrize(
    ("alpha", "zeros", "radius"),  # the solver is not sure of itself at order 5
    pairwise(ALPHAS[:-1], [False, True], [0.01, 0.5]),
)
def test_worst_against_a_convex_solver(alpha, zeros, radius):
    cost, matrix = instance(1, alpha, radius, zeros=zeros)
    direct = direct_worst(cost.by_cell(matrix), cost.distribution, alpha, radius)
    assert cost.worst(matrix)[0] == pytest.approx(direct, abs=3e-6)  # the solver's accuracy


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


@pytest.mark.parametrize(
    ("alpha", "radius", "zeros"),
    pairwise([*ALPHAS, 1.0 - 1e-8, 1.0 + 1e-8], [1e-6, 0.05, 2.0], [False, True]),
)
def test_pull_in(alpha, radius, zeros):
    cost, _ = instance(6, alpha, radius, zeros=zeros)
    rng = np.random.default_rng(8)
    directions = random_directions(rng, 60, 6)
    # near alpha = 1 the test's own divergence has lost its digits
    exact = alpha == 1.0 or abs(alpha - 1.0) > 1e-6
    order, close = (alpha, 1e-9) if exact else (1.0, 1e-6)
    border = on_the_boundary(cost.distribution, directions, order, radius)
    beyond = on_the_boundary(cost.distribution, directions, order, 1.0001 * radius)
    for distribution, edge, outside in zip(directions, border, beyond, strict=True):
        found = cost.pull_in(distribution)
        assert renyi(cost.distribution, found, order) <= radius * (1 + close)
        inside = cost.distribution + 0.98 * (edge - cost.distribution)
        np.testing.assert_array_equal(cost.pull_in(inside), inside)
        if exact:  # from nearly inside, not far
            moved = np.abs(cost.pull_in(outside) - outside).sum()
            assert moved <= 1e-3 * np.abs(outside - cost.distribution).sum()
