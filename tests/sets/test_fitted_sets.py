"""Fitted sets contain what their definitions say, and name worst distributions that are inside."""

import dataclasses
import math
import pickle
from itertools import combinations

import numpy as np
import pytest
from conftest import renyi
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr

from skrldp import (
    AllDistributions,
    JointDistribution,
    LikelihoodRatioSet,
    RenyiBall,
)
from skrldp.privacy.private_rows import PointRegion, privacy_region
from skrldp.sets.fitted_sets import ConditionalsSet, RenyiSet
from skrldp.sets.radii import likelihood_ratio_budgets

TABLE = JointDistribution([[7, 10], [26, 57]])


@pytest.mark.parametrize(
    ("ball", "rule", "beta"),
    [
        (RenyiBall(beta=0.1), "chi2", 0.1),
        (RenyiBall(1, radius="finite-sample"), "finite-sample", 0.05),
        (RenyiBall(3.0, radius=0.2), "given", None),
        (AllDistributions(), None, None),
    ],
)
def test_it_knows_where_it_comes_from(ball, rule, beta):
    found = ball.fit_set(TABLE)
    assert (found.rule, found.beta, found.n_records) == (rule, beta, 100)
    assert found.alpha == ball.alpha and found.radius == ball.radius_for(100, 4)
    assert found == pickle.loads(pickle.dumps(found))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.radius = 0.0
    alone = found.public_alone  # no confidence set, whatever set it was taken from
    assert (alone.rule, alone.beta, alone.radius, alone.is_point) == ("given", None, 0.0, True)


@pytest.mark.parametrize("alpha", [0.3, float(np.nextafter(0.5, 0.0)), 0.5, 1.0, 2.0])
def test_its_questions(alpha):
    everything, point = RenyiSet(alpha, math.inf), RenyiSet(alpha, 0.0)
    between, huge = RenyiSet(alpha, 0.1), RenyiSet(alpha, 700.0)
    assert everything.is_everything
    assert not any(ball.is_everything for ball in (huge, between, point))
    assert point.is_point and not any(ball.is_point for ball in (huge, between, everything))
    assert between.joint_is_convex == (alpha >= 0.5)
    assert between.public_alone == point


@pytest.mark.parametrize(
    ("alpha", "radius"), [(2.0, math.nan), (2.0, -0.1), (math.nan, 0.1), (0.0, 0.1), (math.inf, 1)]
)
def test_no_set_has_such_numbers(alpha, radius):
    with pytest.raises(ValueError, match=r"alpha=|radius="):
        RenyiSet(alpha, radius)


@pytest.mark.parametrize("alpha", [0.4, 1.0, 2.0, 5.0])
def test_a_worst_distribution_is_of_the_set_and_not_only_near_it(alpha):
    """It has the conditionals that were asked for, or lies on the edge."""
    rng = np.random.default_rng(4)
    centre = TABLE.probabilities.ravel()
    for conditionals in (np.array([[0.9, 0.1], [0.1, 0.9]]), *rng.dirichlet(np.ones(2), (3, 2))):
        free = RenyiSet(alpha, 1e6).distribution_with(TABLE, conditionals, np.arange(2))
        np.testing.assert_allclose(free / free.sum(axis=1, keepdims=True), conditionals)
        reach = float(renyi(centre, free.ravel(), alpha))
        for share in (1.1, 1.0 - 1e-7, 0.9995, 0.5, 1e-3):
            radius = reach * share
            found = RenyiSet(alpha, radius).distribution_with(TABLE, conditionals, np.arange(2))
            assert found.sum() == pytest.approx(1.0)
            assert found.min() >= 0.0
            inside = float(renyi(centre, found.ravel(), alpha))
            assert min(radius, reach) * (1.0 - 1e-6) <= inside
            assert inside <= radius * (1.0 + 1e-13) + 1e-15  # renyi itself is rounded


# A value that nobody has counts all the same; a secret that nobody has tells nothing.
JOINT = JointDistribution([[70, 10, 0], [26, 57, 0], [0, 0, 0], [300, 1, 0]])


@pytest.mark.parametrize("rule", ["finite-sample", "asymptotic"])
@pytest.mark.parametrize(("beta", "drift"), [(0.05, 0.0), (0.2, 0.03)])
def test_the_budgets_are_those_of_the_rule(rule, beta, drift):
    found = LikelihoodRatioSet(beta, radius=rule, drift=drift).fit_set(JOINT)
    n = JOINT.n
    single, pair = likelihood_ratio_budgets([80, 83, 0, 301], 3, beta, rule)
    assert (found.single * n, found.pair * n) == pytest.approx((single, pair), rel=1e-14)
    assert (found.drift, found.rule, found.beta, found.n_records) == (drift, rule, beta, n)


def test_a_number_is_the_budget_of_two():
    found = LikelihoodRatioSet(radius=0.02, drift=0.03).fit_set(JOINT)
    assert found == ConditionalsSet(0.02, 0.02, 0.03, "given", None, JOINT.n)


def test_drift_adds_to_the_divergence_of_each():
    around, marginal = ConditionalsSet(0.02, 0.03, 0.1), np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(around.single_budgets(marginal), [0.04, 0.05, 0.07])
    pairs = marginal[[[0, 1], [1, 2]]]
    np.testing.assert_allclose(around.pair_budgets(pairs), [0.08, 0.11])


@pytest.mark.parametrize("figures", [(0.0, 0.0, 1e-9), (1e-9, 1e-9, 0.0), (1e-9, 2e-9, 0.0)])
def test_a_tiny_set_is_not_a_point(figures):
    """What is proven for the public conditionals alone holds for no others."""
    around = ConditionalsSet(*figures)
    assert not around.is_point and around.public_alone.is_point
    assert not isinstance(privacy_region(JOINT, around), PointRegion)


def parts_taken(distribution):
    """What the conditionals of a distribution take of the budgets, in nats of the joint one."""
    conditionals = distribution / distribution.sum(axis=1, keepdims=True)
    return JOINT.marginal * rel_entr(JOINT.conditionals, conditionals).sum(axis=1)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), off=st.sampled_from([-1e-6, 1e-6]))
def test_it_contains_what_its_definition_says(seed, off):
    """Whatever the marginal of S: each conditional by itself, and two together."""
    rng = np.random.default_rng(seed)
    distribution = rng.dirichlet(np.ones(4))[:, None] * rng.dirichlet(np.ones(3), 4) + 1e-6
    second, first = np.sort(parts_taken(distribution)[JOINT.marginal > 0])[-2:]
    singles = ConditionalsSet(first * (1.0 + off), 2.0 * first)
    pair = (first + second) * (1.0 + off)
    for around in (singles, ConditionalsSet(min(2.0 * first, pair), pair)):
        assert around.contains(JOINT, distribution) == (off > 0.0)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    secrets=st.sampled_from([(0, 1), (3, 0), (1, 2), (2, 2), (3, 3)]),
    share=st.floats(1.0, 2.0),
    drift=st.sampled_from([0.0, 0.01]),
)
def test_a_worst_distribution_is_inside(seed, secrets, share, drift):
    conditionals = np.random.default_rng(seed).dirichlet(np.ones(3), 4) + 1e-9
    conditionals /= conditionals.sum(axis=1, keepdims=True)
    around = ConditionalsSet(0.002, 0.002 * share, drift)
    found = around.distribution_with(JOINT, conditionals, np.array(secrets))
    taken = parts_taken(np.where(found > 0.0, found, 1e-300))
    assert found.sum() == pytest.approx(1.0)
    assert np.all(taken <= 0.002 + drift * JOINT.marginal + 1e-13)
    for s, t in combinations(range(4), 2):
        room = 0.002 * share + drift * (JOINT.marginal[s] + JOINT.marginal[t])
        assert taken[s] + taken[t] <= room + 1e-13


@pytest.mark.parametrize(
    "figures",
    [(math.nan, 1.0), (0.1, math.nan), (-0.1, 0.1), (0.1, 0.1, math.nan), (0.1, 0.1, math.inf),
     (0.1, 0.1, -0.1), (0.2, 0.1)],
)  # fmt: skip
def test_no_set_has_such_figures(figures):
    with pytest.raises(ValueError, match=r"must be a"):
        ConditionalsSet(*figures)


@pytest.mark.parametrize(
    "rule", [LikelihoodRatioSet(radius="asymptotic"), RenyiBall(alpha=1.0), RenyiBall()]
)
def test_sets_cover_values_that_stand_alone_because_they_are_frequent(rule):
    """Of 60 values that are alike the four most frequent, and the rest; 5 % of 100 are 5."""
    rng, missed = np.random.default_rng(0), 0
    for _ in range(100):
        counts = rng.multinomial(3_000, np.full(120, 1 / 120)).reshape(2, 60)
        kept = np.argsort(counts.sum(axis=0))[-4:]
        rest = counts.sum(axis=1) - counts[:, kept].sum(axis=1)
        joint = JointDistribution(np.column_stack([counts[:, kept], rest]), most_values=60)
        truth = np.tile([*[1 / 120] * 4, 56 / 120], (2, 1))
        missed += not rule.fit_set(joint).contains(joint, truth)
    assert missed <= 10


@pytest.mark.parametrize(
    ("alphabet", "most", "made_for"),
    [("declared", 9, 9), ("declared", 3, None), ("frequent", 4, None), ("frequent", 9, 8)],
)
def test_asymptotic_sets_count_grouped_values_one_by_one(alphabet, most, made_for):
    """Of learned values one more may have no records; with many records it has some."""
    joint = JointDistribution(JOINT.counts, alphabet=alphabet, most_values=most)
    found = LikelihoodRatioSet(radius="asymptotic").fit_set(joint)
    single, _ = likelihood_ratio_budgets([80, 83, 0, 301], made_for or 3, 0.05, "asymptotic")
    assert found.n_values == made_for
    assert found.single * joint.n == pytest.approx(single, rel=1e-14)
    assert RenyiBall().fit_set(joint).n_values == made_for
