"""Means with a bounded bias: where no unbiased one exists, and at the worst distribution."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from skrldp import (
    AllDistributions,
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    RenyiBall,
    RobustMSESanitizer,
)
from skrldp.estimation.channels._channels import DenseChannel
from skrldp.estimation.figures._bounded_mean import half_width, scores_for

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")

STARS = np.arange(1.0, 6.0)
CELLS = [[group, stars] for group in ("a", "b") for stars in range(1, 6)]
COUNTS = np.array([[100, 200, 900, 900, 700], [500, 400, 700, 200, 100]])
JOINT = JointDistribution(COUNTS, ("a", "b"), range(1, 6))


@pytest.fixture(scope="module")
def sanitizer():
    return RobustMSESanitizer(eps=0.5, sensitive=0).fit(CELLS, sample_weight=COUNTS.ravel())


def estimated(sanitizer, counts):
    estimator = FrequencyEstimator(sanitizer, "least-squares", encode="symbol")
    return estimator.fit(range(len(counts)), sample_weight=counts)


def test_it_is_the_mean_where_none_is_unbiased(sanitizer):
    shares = sanitizer.mechanism_.matrix @ JOINT.probabilities.ravel()
    counts = np.round(20_000 * shares).astype(int)
    estimator = estimated(sanitizer, counts)
    found, asked = estimator.mean(1), estimator.bounded_mean(1)
    assert (found.value, found.bias) == (asked.value, asked.bias)
    truth = JOINT.probabilities.sum(axis=0) @ STARS
    low, high = found.confidence_interval()
    assert low < truth < high and found.value == pytest.approx((low + high) / 2.0)
    assert high - low < 0.15  # in stars, from 1 to 5
    assert found.bias > 0.0 and "Rényi" in found.within
    alone = FrequencyEstimator(sanitizer.mechanism_, "least-squares", encode="symbol")
    alone.fit(range(len(counts)), sample_weight=counts)
    assert np.isnan(alone.mean(1).value)  # no public table
    same = alone.bounded_mean(1, RenyiBall(1.0, radius="finite-sample"), joint=sanitizer.joint_)
    assert same.bias == pytest.approx(found.bias)


@pytest.mark.parametrize(
    "around", [RenyiBall(), RenyiBall(1.0), LikelihoodRatioSet(), AllDistributions()]
)
def test_the_bias_is_bounded_at_random_distributions_of_the_set(around, sanitizer):
    channel = DenseChannel(sanitizer.mechanism_.matrix)
    fitted, numbers = around.fit_set(JOINT), np.tile(STARS, 2)
    found = scores_for(channel, numbers, fitted, JOINT, 5000.0)
    excess = channel.backward(found.scores) - numbers
    generator = np.random.default_rng(1)
    reached = 0.0
    for _ in range(300):
        wild = generator.dirichlet(np.full(10, 0.2)).reshape(2, 5)
        if isinstance(around, LikelihoodRatioSet):
            secrets, marginal = np.arange(2), generator.dirichlet([0.3, 0.3])
            own = wild / wild.sum(axis=1, keepdims=True)
            inside = fitted.distribution_with(JOINT, own, secrets)
            inside = marginal[:, None] * inside / inside.sum(axis=1, keepdims=True)
        else:
            shares = np.geomspace(1e-4, 1.0, 60)[:, None, None]
            mixed = (1.0 - shares) * JOINT.probabilities + shares * wild
            inside = [one for one in mixed if fitted.contains(JOINT, one)][-1]
        assert abs(excess @ inside.ravel()) <= found.bias * (1.0 + 1e-9)
        reached = max(reached, abs(excess @ inside.ravel()))
    assert reached > 0.3 * found.bias  # it is no idle bound


def test_intervals_at_the_worst_distribution(sanitizer):
    """Of 400 intervals 95 % contain the mean: a fresh seed fails with a probability of 1e-6."""
    matrix, truth = sanitizer.mechanism_.matrix, np.tile(STARS, 2)
    excess = matrix.T @ np.array(sanitizer.mechanism_.symbols, dtype=float).ravel() - truth
    ball = RenyiBall(1.0, radius="finite-sample").fit_set(JOINT)
    tilted = JOINT.probabilities.ravel() * np.exp(np.linspace(0.0, 2.0, 400)[:, None] * excess)
    tilted /= tilted.sum(axis=1, keepdims=True)
    worst = [one for one in tilted if ball.contains(JOINT, one.reshape(2, 5))][-1]
    generator, hits = np.random.default_rng(0), 0
    channel = DenseChannel(matrix)
    found = scores_for(channel, truth, ball, JOINT, 2000.0)
    for counts in generator.multinomial(2000, matrix @ worst / (matrix @ worst).sum(), 400):
        value = counts @ found.scores / 2000
        error = np.sqrt((counts @ (found.scores - value) ** 2) / 2000 / 2000)
        hits += abs(value - worst @ truth) <= half_width(found.bias, error, 0.95)
    assert hits >= binom.ppf(1e-6, 400, 0.95)


@pytest.mark.parametrize("bias", [0.0, 0.3, 2.0, 19.9, 25.0])
def test_half_widths_cover_at_the_bias_itself(bias):
    half = half_width(bias, 1.0, 0.9)
    assert norm.cdf(half - bias) - norm.cdf(-half - bias) == pytest.approx(0.9, abs=1e-9)


def test_an_invertible_mechanism_needs_no_set():
    sanitizer = GRRSanitizer(eps=2.0, sensitive=0).fit(CELLS, sample_weight=COUNTS.ravel())
    report = sanitizer.mechanism_.matrix @ JOINT.probabilities.ravel()
    estimator = estimated(sanitizer, np.round(5_000 * report))
    assert estimator.mean(1).within == ""
    free = estimator.bounded_mean(1, AllDistributions())
    assert free.bias < 0.2 and free.within == "all distributions"
    with pytest.raises(ValueError, match="not numeric"):
        estimator.bounded_mean(0)


def test_missing_values_are_refused():
    cells = [[s, u] for s in "ab" for u in (1.0, 2.0, None)]
    sanitizer = GRRSanitizer(eps=1.0, sensitive=0).fit(np.array(cells, dtype=object))
    with pytest.raises(ValueError, match="has missing values"):
        estimated(sanitizer, [9, 8, 7, 6, 5, 4]).bounded_mean(1)
