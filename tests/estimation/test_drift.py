"""The test for drift: valid p-values in the set, power outside, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    NonRobustSanitizer,
    RenyiBall,
    RobustMSESanitizer,
)
from skrldp.estimation.likelihood._maximum_over_set import greatest_over_set

JOINT = JointDistribution([[300, 200, 100], [100, 150, 350]])
CELLS = [[s, u] for s in range(2) for u in range(3)]
MATRIX = 0.1 + 0.4 * np.eye(6)


def p_values(distribution, within, n, repetitions, seed=0):
    mechanism = Mechanism.from_matrix(MATRIX, JOINT.secrets, JOINT.values)
    generator = np.random.default_rng(seed)
    shares = mechanism.matrix @ distribution.ravel()
    found = []
    for counts in generator.multinomial(n, shares / shares.sum(), repetitions):
        estimator = FrequencyEstimator(mechanism).fit(range(6), sample_weight=counts)
        found.append(estimator.drift_test(within, joint=JOINT).p_value)
    return np.array(found)


def at_boundary(within):
    direction = np.array([[1.0, -0.5, 0.0, 0.0, 1.0, -1.0]])
    _, conditionals = greatest_over_set(direction, within.fit_set(JOINT), JOINT)
    return np.array([[0.3], [0.7]]) * conditionals[0]


@pytest.mark.parametrize("n", [60, 4000])
def test_false_alarms_at_a_single_point(n):
    """The hardest case: nothing but P(S) is free. A fresh seed fails with probability 1e-6."""
    found = p_values(JOINT.probabilities, LikelihoodRatioSet(radius=0.0), n, 120)
    for level in (0.05, 0.2):
        assert np.sum(found <= level) <= binom.isf(1e-6, 120, level)
    assert np.sum(found <= 0.5) > 8  # it is no test that never rejects


def test_false_alarms_at_the_boundary_and_power_beyond():
    """At the boundary a fresh seed fails with a probability below 1e-6."""
    within = LikelihoodRatioSet()
    boundary = at_boundary(within)
    found = p_values(boundary, within, 20_000, 20)
    assert np.sum(found <= 0.05) <= binom.isf(1e-6, 20, 0.05)
    drifted = np.maximum(boundary + 2.0 * (boundary - boundary.sum() * JOINT.probabilities), 1e-3)
    drifted *= np.array([[0.3], [0.7]]) / drifted.sum(axis=1, keepdims=True)
    assert (p_values(drifted, within, 20_000, 5) < 0.001).all()


def test_the_distribution_of_s_is_free():
    moved = np.array([[0.05], [0.95]]) * JOINT.conditionals
    found = p_values(moved, LikelihoodRatioSet(), 50_000, 5)
    assert (found > 0.5).all()
    ball = RenyiBall()  # it limits P(S) too, but the test is about the conditionals
    np.testing.assert_array_equal(p_values(moved, ball, 50_000, 2) > 0.5, True)


def test_the_set_of_the_sanitizer():
    sanitizer = RobustMSESanitizer(eps=1.0, sensitive=0).fit(
        CELLS, sample_weight=JOINT.counts.ravel()
    )
    n_symbols = sanitizer.mechanism_.shape[0]
    shares = sanitizer.mechanism_.matrix @ JOINT.probabilities.ravel()
    counts = np.round(10_000 * shares).astype(int)
    fitted = FrequencyEstimator(sanitizer, encode="symbol")
    fitted.fit(range(n_symbols), sample_weight=counts)
    found = fitted.drift_test()
    assert found.p_value > 0.9
    assert found.within == sanitizer.certificate_.uncertainty.describe()
    assert found == fitted.drift_test(LikelihoodRatioSet(), joint=sanitizer.joint_)
    assert str(found).startswith(f"{counts.sum():,} reports do not contradict")
    assert "(p < 1e-300; " in str(replace(found, p_value=0.0))
    assert f"{counts.sum():,} reports" in found._repr_html_()


def test_where_there_is_nothing_to_test():
    weights = {"sample_weight": JOINT.counts.ravel()}
    grr = GRRSanitizer(eps=1.0, sensitive=0).fit(CELLS, **weights)
    sent = {"sample_weight": np.round(1_000 * grr.mechanism_.matrix @ JOINT.probabilities.ravel())}
    fitted = FrequencyEstimator(grr).fit(range(6), **sent)
    with pytest.raises(ValueError, match="give another one, such as within=LikelihoodRatioSet"):
        fitted.drift_test()
    assert 0.0 <= fitted.drift_test(LikelihoodRatioSet()).p_value <= 1.0
    alone = FrequencyEstimator(grr.mechanism_).fit(range(6), **sent)
    with pytest.raises(ValueError, match="public distribution is not known"):
        alone.drift_test(LikelihoodRatioSet())
    with pytest.raises(ValueError, match="set is not known"):
        alone.drift_test(joint=grr.joint_)
    with pytest.raises(ValueError, match="the public distribution has other"):
        alone.drift_test(LikelihoodRatioSet(), joint=JointDistribution([[1, 2]]))
    with pytest.raises(ValueError, match="within must be an uncertainty set such as"):
        fitted.drift_test(within=0.05)
    with pytest.warns(UserWarning):
        point = NonRobustSanitizer(eps=1.0, sensitive=0).fit(CELLS, **weights)
    n_symbols = point.mechanism_.shape[0]
    told = FrequencyEstimator(point, encode="symbol").fit(range(n_symbols))
    assert 0.0 <= told.drift_test().p_value <= 1.0
