"""Least squares, what reports identify, and channels of four numbers."""

import numpy as np
import pytest
from fits_of_counts import (
    DISTRIBUTION,
    FINE,
    fit_counts,
    fit_distribution,
    grr,
    plain,
    sanitizers,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

import skrldp.estimation
from skrldp import (
    JointDistribution,
    Mechanism,
)
from skrldp.estimation.channels._channels import DenseChannel


@pytest.fixture(scope="module")
def fitted():
    return sanitizers()


# -- least squares --------------------------------------------------------------------------------


@pytest.mark.parametrize("eps", [0.5, 2.0])
def test_randomised_response_in_closed_form(eps):
    counts = np.array([40, 38, 37, 44, 41])
    p, q = np.exp(eps) / (np.exp(eps) + 4), 1.0 / (np.exp(eps) + 4)
    n, f = counts.sum(), counts / counts.sum()
    estimator = fit_counts(plain(grr(5, eps)), counts)
    np.testing.assert_allclose(estimator.frequencies_[0], (f - q) / (p - q), atol=1e-8)
    error = np.sqrt(f * (1 - f) / n) / (p - q)
    np.testing.assert_allclose(estimator.std_error_[0], error, rtol=1e-8)


@pytest.mark.parametrize("method", ["least-squares", "ml"])
@pytest.mark.parametrize("name", ["grr", "srr", "polyopt", "mse", "blind"])
def test_many_reports_give_the_distribution_where_it_is_identifiable(fitted, name, method):
    estimator = fit_distribution(fitted[name].mechanism_, DISTRIBUTION, method)
    known = estimator.identifiable_
    assert known.all() if name in ("grr", "srr", "polyopt") else not known.any()
    np.testing.assert_allclose(estimator.frequencies_[known], DISTRIBUTION[known], atol=1e-6)
    assert np.isnan(estimator.std_error_[~known]).all()
    assert np.isnan(estimator.frequencies_[~known]).all() or method == "ml"
    # All of these tell the distribution of U, and the last two nothing but that.
    of_value = estimator.marginal("visits")
    assert of_value.identifiable.all()
    np.testing.assert_allclose(of_value.frequencies, DISTRIBUTION.sum(axis=0), atol=1e-6)
    of_secret = estimator.marginal("ill")
    assert of_secret.identifiable.all() == known.all()


def test_a_blind_mechanism_tells_nothing_of_the_secret(fitted):
    estimator = fit_distribution(fitted["blind"].mechanism_, DISTRIBUTION)
    assert np.isnan(estimator.marginal(part="sensitive").frequencies).all()
    assert not estimator.marginal(["ill", "visits"]).identifiable.any()
    with pytest.raises(ValueError, match=r"do not determine the frequencies of 2 of 2 .* 'no'"):
        estimator.marginal("ill").projected()


def test_exact_covariance_of_the_multinomial():
    """Against the sample covariance of the estimate from each single report."""
    rng = np.random.default_rng(0)
    mechanism = plain(rng.dirichlet(np.ones(5), 3).T)
    counts = np.round(100 * mechanism.matrix @ [0.3, 0.4, 0.3])
    estimator = fit_counts(mechanism, counts)
    single = np.array([fit_counts(mechanism, row).frequencies_[0] for row in np.eye(5)])
    report = mechanism.matrix @ estimator.frequencies_[0]  # a distribution
    expected = np.cov(single.T, aweights=report, bias=True) / counts.sum()
    np.testing.assert_allclose(estimator.covariance(), expected, rtol=1e-9)
    np.testing.assert_allclose(estimator.std_error_[0], np.sqrt(np.diag(expected)), rtol=1e-9)


def test_weights_are_best_at_the_uniform_distribution():
    """No other unbiased weights have a smaller variance there; in particular not the plain ones."""
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.full(8, 0.5), 3).T
    mechanism = plain(matrix)
    uniform = np.full(3, 1 / 3)
    best = fit_distribution(mechanism, uniform).covariance() * FINE
    report = matrix @ uniform
    plain_weights = np.linalg.pinv(matrix)
    other = plain_weights @ (np.diag(report) - np.outer(report, report)) @ plain_weights.T
    assert np.linalg.eigvalsh(other - best).min() > -1e-8
    assert np.trace(other) > 1.01 * np.trace(best)


def test_a_split_symbol_changes_nothing():
    matrix, counts = grr(4), np.array([20, 30, 10, 40])
    split = np.vstack([0.25 * matrix[0], matrix[1:], 0.75 * matrix[0]])
    whole = fit_counts(plain(matrix), counts)
    parts = fit_counts(plain(split), [7, 30, 10, 40, 13])
    np.testing.assert_allclose(parts.frequencies_, whole.frequencies_, atol=1e-8)
    by_pinv = np.linalg.pinv(split) @ np.array([7, 30, 10, 40, 13]) / 100
    assert np.abs(by_pinv - whole.frequencies_).max() > 0.01


def test_an_unseen_symbol_does_not_make_certain():
    identity = plain(np.eye(3))
    estimator = fit_counts(identity, [100, 0, 0])
    np.testing.assert_allclose(estimator.frequencies_, [[1, 0, 0]], atol=1e-12)
    likely = fit_counts(identity, [100, 0, 0], "ml")
    for found in (estimator, likely):  # an error of 0 would be wrong, and another one made up
        assert np.isnan(found.std_error_).all()
    exact = 1.0 - 0.025**0.01  # Clopper and Pearson
    np.testing.assert_allclose(
        likely.confidence_interval()[0, 1], [0.0, exact], rtol=0.2, atol=1e-9
    )


def test_estimates_sum_to_one():
    rng = np.random.default_rng(2)
    estimator = fit_counts(plain(rng.dirichlet(np.ones(9), 4).T), rng.integers(1, 50, 9))
    assert estimator.frequencies_.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.abs(estimator.covariance().sum()) < 1e-12  # so the sum does not vary


# -- identifiability ------------------------------------------------------------------------------


def test_a_marginal_may_be_known_where_cells_are_not():
    """The reports tell u by randomised response, and nothing else."""
    response = np.array([[0.75, 0.25], [0.25, 0.75]])
    mechanism = plain(np.hstack([response, response]), a1=2)
    estimator = fit_counts(mechanism, [60, 40])
    assert estimator.rank_ == 2
    assert not estimator.identifiable_.any()
    of_value = estimator.marginal(part="nonsensitive")
    np.testing.assert_allclose(of_value.frequencies, [0.7, 0.3], atol=1e-9)
    np.testing.assert_allclose(of_value.std_error, np.sqrt(0.6 * 0.4 / 100) / 0.5, rtol=1e-8)
    assert np.isnan(estimator.marginal(part="sensitive").std_error).all()


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4))
def test_identifiable_means_that_no_other_distribution_has_the_same_reports(seed, a, rank):
    """The second route: the extreme probabilities of a cell over all distributions with these
    reports."""
    rng = np.random.default_rng(seed)
    rank = min(rank, a)
    matrix = rng.dirichlet(np.ones(6), rank).T @ rng.dirichlet(np.full(rank, 0.3), a).T
    twins = rng.integers(0, a, 2)
    matrix[:, twins[0]] = matrix[:, twins[1]]
    estimator = fit_distribution(plain(matrix), np.full(a, 1 / a))
    sampled = plain(matrix).matrix
    report = sampled.mean(axis=1)
    values = np.linalg.svd(sampled, compute_uv=False)
    assume(not np.any((values < 1e-2) & (values > 1e-10)))  # beyond the programs' tolerance
    for cell in range(a):
        ends = [
            linprog(
                sign * np.eye(a)[cell],
                A_ub=np.vstack([sampled, -sampled]),
                b_ub=np.concatenate([report, -report]) + 1e-9,
                A_eq=np.ones((1, a)),
                b_eq=[1],
            ).fun
            for sign in (1, -1)
        ]
        width = -ends[1] - ends[0]
        if not 1e-4 < width < 1e-2:  # else the cell is hardly left open
            assert estimator.identifiable_[0, cell] == (width < 1e-4)


def test_bounds_of_a_blind_mechanism(fitted):
    """Fréchet's: a cell has at most the probability of its value, and S may be anything."""
    estimator = fit_distribution(fitted["blind"].mechanism_, DISTRIBUTION, "ml")
    of_value = DISTRIBUTION.sum(axis=0)
    np.testing.assert_allclose(estimator.bounds(part="sensitive"), [[0, 1], [0, 1]], atol=1e-6)
    np.testing.assert_allclose(
        estimator.bounds(), [[0, share] for _ in range(2) for share in of_value], atol=1e-5
    )
    known = np.stack([of_value, of_value], axis=1)
    np.testing.assert_allclose(estimator.bounds("visits"), known, atol=1e-5)


@given(st.integers(0, 10**6))
def test_bounds_are_those_of_all_distributions_with_these_reports(seed):
    """One dimension is left open: the segment of distributions is found by hand."""
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(4), 5).T
    distribution = rng.dirichlet(np.ones(5))
    estimator = fit_distribution(plain(matrix), distribution, "ml")
    bounds = estimator.bounds()
    direction = np.linalg.svd(plain(matrix).matrix)[2][-1]
    with np.errstate(divide="ignore"):
        reach = -distribution / direction
    ends = [distribution + reach[direction > 0].max() * direction]
    ends.append(distribution + reach[direction < 0].min() * direction)
    expected = np.stack([np.minimum(*ends), np.maximum(*ends)], axis=1)
    condition = 1.0 / np.linalg.svd(plain(matrix).matrix, compute_uv=False)[3]
    np.testing.assert_allclose(bounds, expected, atol=1e-4 * condition)
    assert (bounds[:, 0] <= estimator.frequencies_[0]).all()
    assert (bounds[:, 1] >= estimator.frequencies_[0]).all()


def test_bounds_need_a_distribution(fitted):
    with pytest.raises(ValueError, match="use method='ml'"):
        fit_distribution(fitted["blind"].mechanism_, DISTRIBUTION).bounds()


def test_rounding_does_not_identify():
    """Rows that are equal but for the last digits of the weights."""
    matrix = np.full((3, 3), 1 / 3)
    matrix[:, 0] = [0.5, 0.25, 0.25]
    matrix[0, 2] += 2e-10
    matrix[1, 2] -= 2e-10
    estimator = fit_counts(plain(matrix), [100, 100, 100])
    assert estimator.rank_ == 2
    assert estimator.identifiable_.tolist() == [[True, False, False]]


# -- blocks ---------------------------------------------------------------------------------------

BLOCKS = {
    "GRR": (3, 1, 1, 1),
    "four weights": (8, 2, 3, 1),
    "the value alone": (3, 1, 3, 1),
    "the secret alone": (2, 2, 1, 1),
    "nothing": (1, 1, 1, 1),
    "odd": (2, 1, 1, 2),
}


@pytest.mark.parametrize("kind", BLOCKS)
@pytest.mark.parametrize("shape", [(2, 3), (4, 2), (1, 4)])
def test_blocks_need_no_matrix(kind, shape):
    a1, a2 = shape
    sizes = (1, a2 - 1, a1 - 1, (a1 - 1) * (a2 - 1))
    total = np.dot(BLOCKS[kind], sizes)
    blocks = Mechanism.from_blocks(tuple(w / total for w in BLOCKS[kind]), range(a1), range(a2))
    dense = Mechanism.from_matrix(blocks.matrix, range(a1), range(a2), blocks.symbols)
    shares = np.random.default_rng(0).dirichlet(np.full(a1 * a2, 9.0))
    counts = np.round(10**4 * (blocks.matrix @ shares))
    ours, theirs = fit_counts(blocks, counts), fit_counts(dense, counts)
    assert ours.rank_ == theirs.rank_
    np.testing.assert_array_equal(ours.identifiable_, theirs.identifiable_)
    np.testing.assert_allclose(ours.frequencies_, theirs.frequencies_, atol=1e-7)
    np.testing.assert_allclose(ours.std_error_, theirs.std_error_, atol=1e-7)
    for part in ("sensitive", "nonsensitive"):
        one, other = ours.marginal(part=part), theirs.marginal(part=part)
        np.testing.assert_array_equal(one.identifiable, other.identifiable)
        np.testing.assert_allclose(one.frequencies, other.frequencies, atol=1e-7)
        np.testing.assert_allclose(one.std_error, other.std_error, atol=1e-7)
        np.testing.assert_allclose(
            ours.covariance(part=part), theirs.covariance(part=part), atol=1e-8
        )


def test_ten_thousand_cells_without_a_matrix(monkeypatch):
    from skrldp.mechanism import BlockForm

    monkeypatch.setattr(BlockForm, "weights", property(lambda _: pytest.fail("matrix built")))
    blocks = Mechanism.from_blocks((2e-1, 1e-4, 7.1e-4, 7.01e-5), range(10), range(1000))
    rng = np.random.default_rng(0)
    counts = rng.multinomial(10**6, np.full(10**4, 1e-4))
    estimator = fit_counts(blocks, counts)
    of_secret = estimator.marginal(part="sensitive")
    np.testing.assert_allclose(of_secret.frequencies, estimator.frequencies_.sum(axis=1))
    with pytest.warns(ConvergenceWarning):
        fit_counts(blocks, counts, "ml", max_steps=10)
    with pytest.raises(ValueError, match="a prior works up to 2,500 cells"):
        prior = JointDistribution(np.ones((10, 1000), int))
        fit_counts(blocks, counts, "ml", prior=prior)


def test_likelihood_of_blocks_without_a_matrix(monkeypatch):
    blocks = Mechanism.from_blocks((0.4, 0.1, 0.12, 0.02), range(3), range(4))
    shares = np.random.default_rng(0).dirichlet(np.full(12, 9.0))
    counts = np.round(10**5 * (blocks.matrix @ shares))
    without = fit_counts(blocks, counts, "ml")
    assert np.isfinite(without.std_error_).all()
    ends = without._fit.region.ends(np.eye(12), 2.0)
    estimator = skrldp.estimation._estimator
    monkeypatch.setattr(estimator, "channel_of", lambda own, **_: DenseChannel(own.matrix))
    with_matrix = fit_counts(blocks, counts, "ml")
    np.testing.assert_allclose(without.frequencies_, with_matrix.frequencies_, atol=1e-5)
    np.testing.assert_allclose(without.std_error_, with_matrix.std_error_, rtol=1e-5)
    np.testing.assert_allclose(ends, with_matrix._fit.region.ends(np.eye(12), 2.0), atol=2e-6)
