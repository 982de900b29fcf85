"""Intervals of maximum likelihood where those by the likelihood ratio would take too long."""

import numpy as np
import pytest

from skrldp import FrequencyEstimator, Mechanism
from skrldp.aggregate import _intervals, _ranges
from skrldp.aggregate._intervals import score

A1, A2 = 2, 30
TRUTH = np.random.default_rng(0).dirichlet(np.full(A1 * A2, 0.7))


def blocks(*weights):
    total = np.dot(weights, (1, A2 - 1, A1 - 1, (A1 - 1) * (A2 - 1)))
    return Mechanism.from_blocks(tuple(np.array(weights) / total), range(A1), range(A2))


NOISY = {  # how probable the truth is: most, or so little that most estimates are near 0
    "clear": blocks(0.7, 0.005, 0.003, 0.002),
    "noisy": blocks(0.1, 0.016, 0.015, 0.0148),
}


@pytest.mark.parametrize("name", NOISY)
def test_they_hold_and_stay_within_0_and_1(name, monkeypatch):
    """100 samples of 30 shares: on average 93 % at least, which 95 % miss by chance in 1e-6."""
    mechanism, held = NOISY[name], []
    functions = np.tile(np.eye(A2), (1, A1))
    for counts in np.random.default_rng(1).multinomial(5_000, mechanism.matrix @ TRUTH, size=100):
        estimator = FrequencyEstimator(mechanism, "ml", encode="symbol", tol=1e-6)
        estimator.fit(np.arange(A1 * A2), sample_weight=counts)
        of_value = estimator.marginal(part="nonsensitive")
        found = of_value.confidence_interval(method="score")
        assert np.all((found >= 0.0) & (found <= 1.0))
        estimates = of_value.frequencies
        assert np.all((found[:, 0] <= estimates + 1e-12) & (found[:, 1] >= estimates - 1e-12))
        held.append((found[:, 0] <= functions @ TRUTH) & (functions @ TRUTH <= found[:, 1]))
    assert np.mean(held) > 0.93
    monkeypatch.setattr(_ranges, "_MOST_WORK", 0.0)  # as above 250 cells
    np.testing.assert_array_equal(of_value.confidence_interval(), found)


def test_wilsons_interval_of_a_share_with_an_error():
    from scipy.stats import binomtest

    share, n, z = np.array([0.03, 0.5, 0.9]), 200, _intervals.critical_value(0.95)
    none = np.full(3, np.nan)
    found = score(share, np.sqrt(share * (1 - share) / n), none, none, z)
    for own, p in zip(found, share, strict=True):
        exact = binomtest(round(n * p), n).proportion_ci(method="wilson")
        np.testing.assert_allclose(own, exact, rtol=1e-9)
    np.testing.assert_array_equal(score(share, none, none, none, z), np.tile([0.0, 1.0], (3, 1)))
    cut = score(np.array([0.01]), none[:1], np.array([-0.2]), np.array([0.05]), z)
    np.testing.assert_allclose(cut, [[0.0, 0.01]])
