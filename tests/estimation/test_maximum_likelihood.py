"""Maximum likelihood, with and without a prior, against other solvers."""

import warnings

import numpy as np
import pytest
from fits_of_counts import (
    fit_counts,
    grr,
    plain,
)
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from skrldp import (
    JointDistribution,
)

# -- maximum likelihood ---------------------------------------------------------------------------

CHANNELS = {
    "GRR": (lambda rng: grr(12), 200),
    "lopsided": (lambda rng: rng.dirichlet(np.full(10, 0.3), 6).T, 5000),
    "fewer symbols": (lambda rng: rng.dirichlet(np.full(5, 0.3), 12).T, 1000),
    "few reports": (lambda rng: rng.dirichlet(np.full(30, 0.3), 20).T, 25),
}


def best_distribution(matrix, counts, prior=None):
    import cvxpy as cp

    distribution = cp.Variable(matrix.shape[1], nonneg=True)
    gain = counts @ cp.log(matrix @ distribution)
    if prior is not None:
        gain += prior[prior > 0] @ cp.log(distribution[np.flatnonzero(prior)])
    problem = cp.Problem(cp.Maximize(gain / counts.sum()), [cp.sum(distribution) == 1])
    tight = {f"tol_{name}": 1e-12 for name in ("gap_abs", "gap_rel", "feas")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may fall a digit short of that
        problem.solve(solver=cp.CLARABEL, **tight)
    found = np.maximum(distribution.value, 0.0)
    return found / found.sum()


ROUNDING = 1e-14  # of a likelihood per report, or of a gap, in nats: a few dozen roundings


def proven_gap(matrix, shares, distribution):
    """How much the log-likelihood per report may rise at most: it is concave (see maximise)."""
    return float((matrix.T @ (shares / (matrix @ distribution))).max()) - 1.0


def log_likelihood(matrix, counts, distribution):
    seen = counts > 0
    return float(counts[seen] @ np.log((matrix @ np.ravel(distribution))[seen]) / counts.sum())


@pytest.mark.parametrize("kind", CHANNELS)
def test_em_equals_a_direct_convex_solve(kind):
    make, n = CHANNELS[kind]
    rng = np.random.default_rng(3)
    mechanism = plain(make(rng))
    matrix = mechanism.matrix
    distribution = rng.dirichlet(np.full(matrix.shape[1], 0.5))
    counts = rng.multinomial(n, matrix @ distribution)
    tol = 1e-12  # at a tenth of it, rounding decides for one draw in twenty whether it is reached
    estimator = fit_counts(mechanism, counts, "ml", tol=tol)
    seen = counts > 0
    shares = counts[seen] / counts.sum()
    theirs = best_distribution(matrix[seen], counts[seen])
    ours = estimator.frequencies_[0]
    assert (ours >= 0).all()
    assert ours.sum() == pytest.approx(1.0, abs=1e-12)
    gaps = [proven_gap(matrix[seen], shares, distribution) for distribution in (ours, theirs)]
    assert gaps[0] <= tol + ROUNDING
    ahead = log_likelihood(matrix, counts, ours) - log_likelihood(matrix, counts, theirs)
    assert -gaps[0] - ROUNDING <= ahead <= gaps[1] + ROUNDING
    # With t the ratio of a distribution of reports to the best one, the KKT conditions say that
    # sum f t <= 1, so that sum f (t - 1 - log t) is at most what the likelihood lacks, and
    # t - 1 - log t >= (t - 1)^2 / 3 up to t = 3/2.
    lacks = [gaps[0] + ROUNDING, max(ahead, 0.0) + gaps[0] + ROUNDING]
    apart = sum(np.sqrt(3.0 * lack / shares) for lack in lacks)
    assert apart.max() < 0.1
    ours_sent, theirs_sent = (matrix[seen] @ distribution for distribution in (ours, theirs))
    off = 1.2 * apart * ours_sent
    assert (np.abs(ours_sent - theirs_sent) <= off).all()
    if np.linalg.matrix_rank(matrix[seen]) == matrix.shape[1]:
        assert (np.abs(ours - theirs) <= np.abs(np.linalg.pinv(matrix[seen])) @ off + 1e-12).all()
    assert estimator.score(np.arange(len(counts)), sample_weight=counts) == pytest.approx(
        log_likelihood(matrix, counts, ours), abs=1e-12
    )


@pytest.mark.parametrize("seed", [0, 14, 59, 77])
def test_steps_go_on_where_the_likelihood_shows_no_gain(seed):
    """The last steps gain less than the rounding of the likelihood; only the gap sees them."""
    rng = np.random.default_rng(seed)
    size = rng.integers(3, 25), rng.integers(2, 20)
    matrix = rng.dirichlet(np.full(size[0], rng.choice([0.1, 0.3, 1.0])), size[1]).T
    distribution = rng.dirichlet(np.full(size[1], 0.5))
    counts = rng.multinomial(int(10 ** rng.uniform(1, 6)), plain(matrix).matrix @ distribution)
    assert fit_counts(plain(matrix), counts, "ml", tol=1e-13).gap_ <= 1e-13


@given(st.integers(0, 10**6), st.integers(1, 60))
def test_the_gap_bounds_what_is_left_to_gain(seed, steps):
    rng = np.random.default_rng(seed)
    mechanism = plain(rng.dirichlet(np.full(7, 0.4), 5).T)
    report = mechanism.matrix @ rng.dirichlet(np.full(5, 0.3))
    counts = rng.multinomial(int(rng.integers(1, 300)), report)
    best = fit_counts(mechanism, counts, "ml", tol=1e-11)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        early = fit_counts(mechanism, counts, "ml", max_steps=steps)
    matrix = mechanism.matrix
    gain = log_likelihood(matrix, counts, best.frequencies_) - log_likelihood(
        matrix, counts, early.frequencies_
    )
    assert -best.gap_ - 1e-12 <= gain <= early.gap_ + 1e-12
    assert early.n_iter_ <= steps


def test_where_least_squares_is_a_distribution_it_is_the_most_likely():
    counts = 100 * np.array([25, 30, 20, 25])
    unbiased, likely = (
        fit_counts(plain(grr(4)), counts, method) for method in ("least-squares", "ml")
    )
    assert (unbiased.frequencies_ > 0).all()
    np.testing.assert_allclose(likely.frequencies_, unbiased.frequencies_, atol=1e-5)
    np.testing.assert_allclose(likely.std_error_, unbiased.std_error_, rtol=1e-4)
    assert unbiased.score(range(4), sample_weight=counts) == pytest.approx(
        likely.score(range(4), sample_weight=counts)
    )


def test_too_few_steps_are_told():
    counts = np.random.default_rng(0).integers(10, 30, 30)
    with pytest.warns(ConvergenceWarning, match=r"after 4 steps.*nats per report .*Use method="):
        fit_counts(plain(grr(30)), counts, "ml", max_steps=4)


def test_errors_are_those_of_the_information():
    """The inverse of the Hessian of the log-likelihood, by differences, on distributions."""
    rng = np.random.default_rng(5)
    mechanism = plain(rng.dirichlet(np.ones(8), 4).T)
    counts = np.round(10**6 * mechanism.matrix @ [0.4, 0.3, 0.2, 0.1])
    estimator = fit_counts(mechanism, counts, "ml")
    distribution, step = estimator.frequencies_[0], 1e-3
    tangent = np.vstack([np.eye(3), -np.ones(3)])

    def value(move):
        return counts.sum() * log_likelihood(
            mechanism.matrix, counts, distribution + tangent @ move
        )

    hessian = np.empty((3, 3))
    for i, j in np.ndindex(3, 3):
        ends = [
            si * sj * value(step * (si * np.eye(3)[i] + sj * np.eye(3)[j]))
            for si in (1, -1)
            for sj in (1, -1)
        ]
        hessian[i, j] = sum(ends) / (4 * step**2)
    expected = tangent @ np.linalg.inv(-hessian) @ tangent.T
    np.testing.assert_allclose(estimator.covariance(), expected, rtol=1e-3)


# -- prior ----------------------------------------------------------------------------------------


def test_the_mode_of_the_posterior():
    rng = np.random.default_rng(6)
    mechanism = plain(rng.dirichlet(np.full(5, 0.5), 6).T, a1=2)
    counts = rng.multinomial(300, mechanism.matrix @ rng.dirichlet(np.ones(6)))
    records = np.array([40, 0, 20, 30, 5, 5])
    prior = JointDistribution(records.reshape(2, 3))
    estimator = fit_counts(mechanism, counts, "ml", prior=prior, tol=1e-13)
    theirs = best_distribution(mechanism.matrix, counts, records)
    np.testing.assert_allclose(estimator.frequencies_.ravel(), theirs, atol=1e-6)
    assert estimator.rank_ == 5
    assert not estimator.identifiable_.all()  # by the reports alone
    ours, theirs = estimator._fit.spread(np.eye(6))[1], estimator.std_error_.ravel()
    assert np.isfinite(ours).all()  # by the reports and the records together
    np.testing.assert_allclose(theirs[np.isfinite(theirs)], ours[np.isfinite(theirs)])


def test_a_prior_counts_as_much_as_its_records():
    mechanism = plain(np.eye(4), a1=2)
    prior = JointDistribution([[10, 20], [30, 40]])
    estimator = fit_counts(mechanism, [40, 30, 20, 10], "ml", prior=prior)
    np.testing.assert_allclose(estimator.frequencies_, 0.25, atol=1e-7)
    np.testing.assert_allclose(estimator.std_error_, np.sqrt(0.25 * 0.75 / 200), rtol=1e-6)
    many = JointDistribution(10**7 * prior.counts)
    estimator = fit_counts(mechanism, [40, 30, 20, 10], "ml", prior=many)
    np.testing.assert_allclose(estimator.frequencies_, prior.probabilities, atol=1e-6)
