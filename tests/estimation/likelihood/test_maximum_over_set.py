"""Maximum likelihood over the distributions of a set, against a direct convex solve."""

import numpy as np
import pytest

from skrldp import AllDistributions, JointDistribution, LikelihoodRatioSet, RenyiBall
from skrldp.estimation.channels._channels import DenseChannel
from skrldp.estimation.likelihood._maximise import maximise
from skrldp.estimation.likelihood._maximum_over_set import greatest_over_set, maximum_over_set


def _case(seed, shape=(3, 4)):
    generator = np.random.default_rng(seed)
    joint = JointDistribution(generator.integers(1, 60, shape))
    matrix = generator.dirichlet(np.full(7, 0.5), shape[0] * shape[1]).T
    truth = generator.dirichlet(np.ones(shape[0] * shape[1]))
    return joint, DenseChannel(matrix), generator.multinomial(3000, matrix @ truth).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_a_direct_convex_solve_agrees(seed):
    cp = pytest.importorskip("cvxpy")
    joint, channel, counts = _case(seed)
    around = LikelihoodRatioSet().fit_set(joint)
    found = maximum_over_set(channel, counts, around, joint)
    # With m the probability of the secret: m D(p || pi/m) <= m budget/w, in cones of exponentials.
    x = cp.Variable(joint.counts.shape, nonneg=True)
    mass, p = cp.sum(x, axis=1), joint.conditionals
    budgets = around.single_budgets(joint.marginal) / joint.marginal
    limits = [
        cp.sum([cp.rel_entr(mass[s] * p[s, u], x[s, u]) for u in range(4)]) <= mass[s] * budgets[s]
        for s in range(3)
    ]
    value = counts @ cp.log(channel.matrix @ cp.reshape(x, (12,), order="C"))
    best = cp.Problem(cp.Maximize(value), [*limits, cp.sum(x) == 1.0]).solve(solver="CLARABEL")
    assert found.log_likelihood <= found.upper_bound <= found.log_likelihood + 1e-3
    assert found.log_likelihood - 1e-3 <= best <= found.upper_bound + 1e-3
    assert counts @ np.log(channel.forward(found.distribution)) == pytest.approx(
        found.log_likelihood, abs=1e-6
    )
    table = found.distribution.reshape(joint.counts.shape)
    inside = table / table.sum(axis=1, keepdims=True)
    excess = np.sum(p * np.log(p / inside), axis=1) - budgets
    assert (excess[table.sum(axis=1) > 1e-9] <= 1e-9).all()


@pytest.mark.parametrize("around", [LikelihoodRatioSet(), RenyiBall(), RenyiBall(0.4)])
def test_the_bound_holds_whenever_it_stops(around):
    joint, channel, counts = _case(5)
    fitted = around.fit_set(joint)
    exact = maximum_over_set(channel, counts, fitted, joint, tol=1e-6)
    early = maximum_over_set(channel, counts, fitted, joint, time_limit=0.0)
    assert early.log_likelihood <= exact.upper_bound
    assert exact.log_likelihood <= early.upper_bound
    assert exact.upper_bound - exact.log_likelihood <= 1e-5


def test_all_distributions_and_the_public_ones_alone():
    joint, channel, counts = _case(7)
    free = maximise(channel, counts / counts.sum(), 1e-10, 10_000).log_likelihood * counts.sum()
    everything = AllDistributions().fit_set(joint)
    found = maximum_over_set(channel, counts, everything, joint)
    assert found.log_likelihood - 1e-3 <= free <= found.upper_bound
    point = LikelihoodRatioSet(radius=0.0).fit_set(joint)
    found = maximum_over_set(channel, counts, point, joint)
    table = found.distribution.reshape(joint.counts.shape)
    inside = table.sum(axis=1) > 0
    np.testing.assert_allclose(
        (table / table.sum(axis=1, keepdims=True))[inside], joint.conditionals[inside], atol=1e-12
    )


def test_a_secret_without_records_may_have_any_conditional():
    joint = JointDistribution([[3, 4], [0, 0]])
    point = LikelihoodRatioSet(radius=0.0).fit_set(joint)
    greatest, _ = greatest_over_set(np.array([[0.0, 7.0, 5.0, 1.0]]), point, joint)
    np.testing.assert_allclose(greatest, [[4.0, 5.0]])
    counts = np.array([0.0, 0.0, 9.0, 1.0])
    found = maximum_over_set(DenseChannel(np.eye(4)), counts, point, joint)
    np.testing.assert_allclose(found.distribution, [0.0, 0.0, 0.9, 0.1], atol=1e-4)
    counts = np.array([1.0, 9.0, 0.0, 0.0])
    found = maximum_over_set(DenseChannel(np.eye(4)), counts, point, joint)
    np.testing.assert_allclose(found.distribution[:2], [3 / 7, 4 / 7], atol=1e-4)
