"""The fitted uncertainty set: what it holds, and what it answers."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from conftest import renyi

from skrldp import (
    AllDistributions,
    IRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    RenyiBall,
)
from skrldp.sets.fitted_sets import RenyiSet

JOINT = JointDistribution([[7, 10], [26, 57]])


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
    found = ball.fit_set(JOINT)
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
    between = RenyiSet(alpha, 0.1)
    assert [s.is_everything for s in (everything, between, point)] == [True, False, False]
    assert [s.is_point for s in (everything, between, point)] == [False, False, True]
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
    centre = JOINT.probabilities.ravel()
    for conditionals in (np.array([[0.9, 0.1], [0.1, 0.9]]), *rng.dirichlet(np.ones(2), (3, 2))):
        free = RenyiSet(alpha, 1e6).distribution_with(JOINT, conditionals, np.arange(2))
        np.testing.assert_allclose(free / free.sum(axis=1, keepdims=True), conditionals)
        reach = float(renyi(centre, free.ravel(), alpha))
        for share in (1.1, 1.0 - 1e-7, 0.9995, 0.5, 1e-3):
            radius = reach * share
            found = RenyiSet(alpha, radius).distribution_with(JOINT, conditionals, np.arange(2))
            assert found.sum() == pytest.approx(1.0)
            assert found.min() >= 0.0
            inside = float(renyi(centre, found.ravel(), alpha))
            assert min(radius, reach) * (1.0 - 1e-6) <= inside
            assert inside <= radius * (1.0 + 1e-13) + 1e-15  # renyi itself is rounded


def test_fitted_attributes_of_a_sanitizers_copy():
    """What was fitted is on the copy, in the units of its class; the user's object stays bare."""
    rows = [[s, u] for s in (0, 1) for u in (0, 1)]
    for given, attributes in (
        (RenyiBall(radius=0.2), {"B_": 0.2}),
        (AllDistributions(), {"B_": math.inf}),
        (LikelihoodRatioSet(radius=0.2), {"single_": 20.0, "pair_": 20.0}),
        (LikelihoodRatioSet(0.1, drift=0.01), None),
    ):
        before = dict(vars(given))
        copy = (
            IRSanitizer(uncertainty=given, categories=[[0, 1], [0, 1]], sensitive=0)
            .fit(rows, sample_weight=[7, 10, 26, 57])
            .uncertainty_
        )
        added = {name: value for name, value in vars(copy).items() if name not in before}
        assert vars(given) == before and copy is not given
        if attributes is None:
            around = given.fit_set(JOINT)
            attributes = {"single_": 100 * around.single, "pair_": 100 * around.pair}
        assert added == pytest.approx(attributes)
