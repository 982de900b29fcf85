"""Standard errors before anybody is asked: those the estimator will state, and the true spread."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
    SRRSanitizer,
    expected_std_error,
)
from skrldp.estimation import expected_std_error_of_mean

FINE = 10**12  # so many reports that their shares are the distribution of the report
PARTS = ("all", "sensitive", "nonsensitive")
COUNTS = np.array([[70, 100, 40], [260, 570, 160]])
TABLE = pd.DataFrame([(s, u) for s in ("no", "yes") for u in (1, 2, 4)], columns=["ill", "visits"])


def estimated(mechanism, distribution, method):
    """Fit what are practically infinitely many reports."""
    counts = np.round(FINE * (mechanism.matrix @ np.ravel(distribution)))
    estimator = FrequencyEstimator(mechanism, method, encode="symbol")
    return estimator.fit(range(len(counts)), sample_weight=counts)


@st.composite
def mechanisms(draw):
    """Draw a mechanism, with fewer symbols than cells or more, and a distribution."""
    a1, a2, b = (draw(st.integers(2, most)) for most in (3, 3, 10))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    matrix = rng.dirichlet(np.full(b, 0.8), a1 * a2).T + 0.02
    if draw(st.booleans()):  # does not see S
        matrix = np.tile(matrix[:, :a2], a1)
    mechanism = Mechanism.from_matrix(matrix / matrix.sum(axis=0), range(a1), range(a2))
    return mechanism, rng.dirichlet(np.full(a1 * a2, 2.0)).reshape(a1, a2) * 0.9 + 0.1 / (a1 * a2)


@settings(max_examples=40)
@given(mechanisms(), st.sampled_from(["ml", "least-squares"]), st.sampled_from(PARTS))
def test_what_the_estimator_will_state(case, method, part):
    mechanism, distribution = case
    expected = expected_std_error(
        mechanism.to_json(), FINE, part=part, distribution=distribution, method=method
    )
    stated = estimated(mechanism, distribution, method).marginal(part=part)
    np.testing.assert_array_equal(np.isfinite(expected), stated.identifiable)
    # Rounding the shares to 1e-12 moves estimates by at most some 1e-12 / smallest singular value.
    np.testing.assert_allclose(
        expected, np.where(stated.identifiable, stated.std_error, np.inf), rtol=1e-4
    )
    if method == "ml" and part == "all":  # from the Fisher information itself
        rows, cells = mechanism.matrix, distribution.ravel()
        information = rows.T @ (rows / (rows @ cells)[:, None])
        variances = np.diag(np.linalg.pinv(information, hermitian=True)) - cells**2
        known = stated.identifiable.ravel()
        np.testing.assert_allclose(expected[known] ** 2 * FINE, variances[known], rtol=1e-4)


def product(of_secrets, of_values, a1, a2):
    """Four probabilities of a randomised response of S, and of U for itself, by their odds."""
    s, u = 1.0 / (of_secrets + a1 - 1), 1.0 / (of_values + a2 - 1)
    return of_secrets * s * of_values * u, of_secrets * s * u, s * of_values * u, s * u


# With odds of 1 the reported secret (or value) is noise: these alone are then determined.
OF_U = [{"part": "nonsensitive"}, {"columns": "v"}, {"columns": ["u", "v"]}]
OF_S = [{"part": "sensitive"}]
OF_BOTH = [{"part": "all"}, {"columns": ["s", "v"]}]


@pytest.mark.parametrize(
    ("odds", "determined"),
    [((2.0, 5.0), OF_U + OF_S + OF_BOTH), ((1.0, 5.0), OF_U), ((2.0, 1.0), OF_S)],
)
def test_four_probabilities_need_no_matrix(odds, determined):
    """The short way for S and U alone, and the matrix of the same mechanism."""
    values = [(u, v) for u in range(3) for v in "xyz"]
    named = ("s", True), ("u", False), ("v", False)
    own = replace(Mechanism.from_blocks(product(*odds, 3, 9), "abc", values), columns=named)
    dense = replace(Mechanism.from_matrix(own.matrix, "abc", values), columns=named)
    distribution = np.random.default_rng(0).dirichlet(np.full(27, 3.0)).reshape(3, 9)
    for method, wanted in itertools.product(("ml", "least-squares"), OF_U + OF_S + OF_BOTH):
        asked = wanted | {"distribution": distribution, "method": method}
        short = expected_std_error(own, 500, asymptotic=True, **asked)
        by_matrix = expected_std_error(dense, 500, asymptotic=True, **asked)
        np.testing.assert_allclose(short, by_matrix, rtol=1e-6)
        assert np.isfinite(short).all() == (wanted in determined)
        for n in (500, 10**9):
            short = expected_std_error(own, n, **asked)
            np.testing.assert_allclose(short, expected_std_error(dense, n, **asked), rtol=1e-6)
        assert np.isfinite(short).all() == (wanted in determined)


def test_a_million_cells():
    """Randomised response: a share's error is that of reports over the difference of their odds."""
    a1, a2, n = 200, 5_000, 10_000
    same, other = 0.5, 0.5 / (a1 * a2 - 1)
    mechanism = Mechanism.from_blocks((same, other, other, other), range(a1), range(a2))
    secrets = np.random.default_rng(0).dirichlet(np.ones(a1))
    distribution = np.repeat(secrets[:, None] / a2, a2, axis=1)
    seen = (same - other) * secrets + a2 * other
    expected = np.sqrt(seen * (1.0 - seen) / n) / (same - other)
    for method in ("ml", "least-squares"):
        errors = expected_std_error(
            mechanism,
            n,
            part="sensitive",
            distribution=distribution,
            method=method,
            asymptotic=True,
        )
        np.testing.assert_allclose(errors, expected, rtol=1e-6)


@pytest.mark.parametrize("method", ["ml", "least-squares"])
def test_means(method):
    sanitizer = GRRSanitizer(1.0, sensitive="ill").fit(TABLE, sample_weight=COUNTS.ravel())
    stated = estimated(sanitizer.mechanism_, sanitizer.joint_.probabilities, method).mean("visits")
    expected = expected_std_error_of_mean(sanitizer, FINE, "visits", method=method)
    assert expected == pytest.approx(stated.std_error, rel=1e-6)
    blind = PolyOptSanitizer(
        1.0,
        sensitive="visits",
        uncertainty=LikelihoodRatioSet(region="lower"),
        observe="nonsensitive",
    )
    blind.fit(TABLE, sample_weight=COUNTS.ravel())
    assert expected_std_error_of_mean(blind, 100, "visits") == np.inf


def test_the_mean_of_no_number():
    rows = [(s, u) for s in ("no", "yes") for u in (1.0, 2.0, None)]
    table = pd.DataFrame(rows, columns=["s", "u"])
    sanitizer = SRRSanitizer(1.0, sensitive="s").fit(table)
    missing = np.zeros((2, 3))
    missing[:, sanitizer.joint_.values.index(None)] = 0.5
    assert expected_std_error_of_mean(sanitizer, 100, "u", distribution=missing) == np.inf
    whole = Mechanism.from_matrix(np.eye(6), sanitizer.joint_.secrets, sanitizer.joint_.values)
    whole = replace(whole, columns=sanitizer.mechanism_.columns)
    estimator = FrequencyEstimator(whole, encode="symbol").fit(
        np.flatnonzero(missing.ravel())  # reports of missing values alone
    )
    for found in (estimator.mean("u"), estimator.variance("u")):
        assert np.isnan(found.value) and np.isnan(found.std_error)


def test_cells_without_records():
    """Where π is 0 there is no error to state, and nothing divides by 0."""
    truth = Mechanism.from_matrix(np.eye(4), range(2), range(2))
    for method in ("ml", "least-squares"):
        asked = {"distribution": [[0.5, 0.5], [0.0, 0.0]], "method": method}
        errors = expected_std_error(truth, 100, **asked)
        np.testing.assert_allclose(errors, [0.05, 0.05, np.nan, np.nan], atol=1e-6)
        errors = expected_std_error(truth, 100, asymptotic=True, **asked)
        np.testing.assert_allclose(errors, [0.05, 0.05, 0.0, 0.0], atol=1e-6)
        asked = {"part": "sensitive", "distribution": np.full((2, 2), 0.25), "method": method}
        assert expected_std_error(truth, 1, asymptotic=True, **asked)[0] == pytest.approx(0.5)
        assert np.isnan(expected_std_error(truth, 1, **asked)[0])


def test_bad_input():
    sanitizer = GRRSanitizer(1.0, sensitive="ill").fit(TABLE, sample_weight=COUNTS.ravel())
    own, joint = sanitizer.mechanism_, sanitizer.joint_
    for n in (0, 0.5, 2.5, -3, np.nan, np.inf, "10", None, True):
        with pytest.raises(ValueError, match=r"n=.* must be a whole number of reports"):
            expected_std_error(sanitizer, n)
    with pytest.raises(ValueError, match="there is no column 'age'"):
        expected_std_error(sanitizer, 10, "age")
    with pytest.raises(ValueError, match="method='mle' must be one of"):
        expected_std_error(sanitizer, 10, method="mle")
    with pytest.raises(ValueError, match=r"give distribution=.*or pass the fitted sanitizer"):
        expected_std_error(own, 10)
    with pytest.raises(ValueError, match=r"give distribution="):
        expected_std_error(own.to_json(), 10)
    with pytest.raises(ValueError, match=r"must have shape \(2, 3\)"):
        expected_std_error(own, 10, distribution=joint.probabilities.T)
    for wrong in (COUNTS, -joint.probabilities, np.full((2, 3), np.nan)):
        with pytest.raises(ValueError, match="whose sum is 1"):
            expected_std_error(own, 10, distribution=wrong)
    with pytest.raises(ValueError, match="other secrets than the mechanism"):
        expected_std_error(own, 10, distribution=JointDistribution(COUNTS))
    with pytest.raises(ValueError, match="not fitted"):
        expected_std_error(GRRSanitizer(sensitive=0), 10)
    with pytest.raises(TypeError, match="must be a Mechanism"):
        expected_std_error(own.matrix, 10)
