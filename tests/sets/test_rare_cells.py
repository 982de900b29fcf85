"""How often an asymptotic set misses where cells are rare: the estimate that warnings rest on."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from skrldp import AllDistributions, JointDistribution, LikelihoodRatioSet, RenyiBall
from skrldp.sets.fitted_sets import estimated_miss
from skrldp.support_function import divergence

# 2,000 tables are drawn: four standard errors, which a correct estimate exceeds in 6 of 100,000
# seeds; the seed is fixed.
SLACK = 4.0 * (0.25 / 2_000) ** 0.5


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_the_estimate_is_that_of_all_tables(alpha):
    """Two cells of few records, beta so large that the set misses in about half of the tables."""
    joint = JointDistribution([[3, 2, 400]])
    around = RenyiBall(alpha, beta=0.4).fit_set(joint)
    missed = 0.0
    for first, second in itertools.product(range(16), range(14)):
        table = np.array([first, second, joint.n - first - second])
        if divergence(table / joint.n, joint.probabilities[0], alpha) > around.radius:
            missed += multinomial.pmf(table, joint.n, joint.probabilities[0])
    assert abs(estimated_miss(around, joint) - missed) < SLACK


def test_the_estimate_for_conditionals_is_that_of_all_tables():
    joint = JointDistribution([[3, 40], [60, 5]])
    around = LikelihoodRatioSet(0.4, radius="asymptotic").fit_set(joint)
    chances, taken = [], []
    for row in joint.counts:
        n, p = row.sum(), row / row.sum()
        number = np.arange(n + 1)
        chances.append(binom.pmf(number, n, p[0]))
        shares = np.column_stack([number, n - number]) / n
        taken.append([n / joint.n * divergence(share, p, 1.0) for share in shares])
    pairs = np.add.outer(*taken) > around.pair
    singles = np.maximum.outer(*taken) > around.single
    missed = np.outer(*chances)[pairs | singles].sum()
    assert abs(estimated_miss(around, joint) - missed) < SLACK
    drifting = LikelihoodRatioSet(0.4, radius="asymptotic", drift=0.1).fit_set(joint)
    assert estimated_miss(drifting, joint) == estimated_miss(around, joint)  # drift is not chance


def test_what_needs_no_estimate():
    rare = JointDistribution([[9_990, 0], [1, 0]])
    for uncertainty in (LikelihoodRatioSet(0.01), RenyiBall(1, beta=0.01, radius="finite-sample")):
        assert estimated_miss(uncertainty.fit_set(rare), rare) == 0.01
    for uncertainty in (AllDistributions(), RenyiBall(radius=0.1), LikelihoodRatioSet(radius=0.1)):
        assert estimated_miss(uncertainty.fit_set(rare), rare) == 0.0
    many = JointDistribution([[9_990, 10], [11, 10]])
    assert estimated_miss(RenyiBall(beta=0.01).fit_set(many), many) == 0.01


def test_rare_cells_are_bad_at_order_two_alone():
    """Nine of ten cells have an expected count of 0.05: 36 % of sets of order 2 miss."""
    joint = JointDistribution([[9_998, 2, 0, 0, 0], [0] * 5])
    assert estimated_miss(RenyiBall().fit_set(joint), joint) > 0.3
    assert estimated_miss(RenyiBall(1).fit_set(joint), joint) < 0.075
