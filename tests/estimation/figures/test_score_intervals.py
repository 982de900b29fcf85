"""Score intervals: of least squares, and of maximum likelihood where others take too long."""

import numpy as np
import pytest

from skrldp import FrequencyEstimator, Mechanism
from skrldp.estimation.figures import _intervals
from skrldp.estimation.figures._intervals import score
from skrldp.estimation.figures._score_intervals import LeastSquaresRanges
from skrldp.estimation.likelihood import _likelihood_region

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
        estimator = FrequencyEstimator(mechanism, "ml", encode="symbol")
        estimator.fit(np.arange(A1 * A2), sample_weight=counts)
        of_value = estimator.marginal(part="nonsensitive")
        found = of_value.confidence_interval(method="score")
        assert np.all((found >= 0.0) & (found <= 1.0))
        estimates = of_value.frequencies
        assert np.all((found[:, 0] <= estimates + 1e-12) & (found[:, 1] >= estimates - 1e-12))
        held.append((found[:, 0] <= functions @ TRUTH) & (functions @ TRUTH <= found[:, 1]))
    assert np.mean(held) > 0.93
    monkeypatch.setattr(_likelihood_region, "_MOST_WORK", 0.0)  # as above 250 cells
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


# -- least squares --------------------------------------------------------------------------------


def squares(mechanism, counts):
    estimator = FrequencyEstimator(mechanism, "least-squares", encode="symbol")
    return estimator.fit(np.arange(len(counts)), sample_weight=counts)


@pytest.mark.parametrize("counts", [[0, 50, 9], [3, 200, 97], [1, 1, 0]])
def test_reports_that_tell_the_share_have_wilsons_interval(counts):
    from scipy.stats import binomtest

    n = sum(counts)
    found = squares(Mechanism.from_matrix(np.eye(3), [0], range(3)), counts).confidence_interval()
    for own, k in zip(found[0], counts, strict=True):
        exact = binomtest(k, n).proportion_ci(method="wilson")
        # The records of the other categories: one in all that is spread evenly.
        np.testing.assert_allclose(own, exact, atol=0.4 / n**2 + 1e-9, rtol=1e-3)


def test_four_probabilities_and_a_matrix_give_the_same():
    """Of cells, by formula and by their functions; of shares; and of the mean of an indicator."""
    counts = np.random.default_rng(5).multinomial(3_000, NOISY["clear"].matrix @ TRUTH)
    dense = Mechanism.from_matrix(NOISY["clear"].matrix, range(A1), range(A2))
    fits = [squares(mechanism, counts) for mechanism in (NOISY["clear"], dense)]
    for part in ("all", "nonsensitive", "sensitive"):
        ends = [e.marginal(part=part).confidence_interval(0.9) for e in fits]
        np.testing.assert_allclose(*ends, atol=1e-6)  # at distributions found by iteration
    ranges = [LeastSquaresRanges(e._fit, e.frequencies_.ravel(), np.arange(60)) for e in fits]
    one = [LeastSquaresRanges(fits[1]._fit, r.values[[7]], function=np.eye(60)[7]) for r in ranges]
    for by_formula, by_function in zip(ranges, one, strict=True):
        formula, function = by_formula.score(1.7, 60)[7], by_function.score(1.7, 1)[0]
        np.testing.assert_allclose(formula, function, atol=1e-6)


@pytest.mark.parametrize("eps", [1.0, 6.0])
@pytest.mark.parametrize("kind", ["GRR", "independent"])
def test_intervals_of_least_squares_hold(kind, eps):
    """Also of a share of .01 of 300 records; all are within 0 and 1 and none is empty.

    400 samples of ten shares. A coverage of 94 % is below 90 % by chance in 7e-4; there are 40.
    Where an interval is cut off at 0 it misses on one side only, so that 97.5 % is usual there.
    """
    values = np.r_[0.01, 0.02, 0.97 * np.random.default_rng(1).dirichlet(np.full(8, 3.0))]
    truth, keep = np.outer([0.4, 0.6], values).ravel(), np.exp(eps)
    if kind == "GRR":
        matrix = np.full((20, 20), 1.0) + (keep - 1.0) * np.eye(20)
    else:
        matrix = np.kron(np.ones((2, 2)) + (keep - 1.0) * np.eye(2), np.ones((10, 10)))
        matrix *= np.tile(1.0 + 5.0 * np.eye(10), (2, 2))
    mechanism = Mechanism.from_matrix(matrix / matrix.sum(axis=0), range(2), range(10))
    shares, held = np.tile(np.eye(10), 2) @ truth, []
    for counts in np.random.default_rng(2).multinomial(300, mechanism.matrix @ truth, size=400):
        of_value = squares(mechanism, counts).marginal(part="nonsensitive")
        low, high = of_value.confidence_interval().T
        assert np.all((low >= 0.0) & (high <= 1.0) & (low < high))
        inside = np.clip(of_value.frequencies, 0.0, 1.0)
        assert np.all((low <= inside) & (inside <= high))
        held.append((low <= shares) & (shares <= high))
    covered = np.mean(held, axis=0)
    assert covered.min() >= 0.9 and 0.93 <= covered.mean() <= 0.985
    wide = np.diff(of_value.confidence_interval(method="wald"))
    np.testing.assert_allclose(wide[5], 2.0 * 1.959964 * of_value.std_error[5], rtol=1e-6)
