"""Marginals, intervals, projection, and numbers about a column."""

import numpy as np
import pandas as pd
import pytest
from fits_of_counts import (
    DISTRIBUTION,
    fit_counts,
    fit_distribution,
    grr,
    plain,
    sanitizers,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
)
from skrldp.estimation.figures._estimate import critical_value, project


@pytest.fixture(scope="module")
def fitted():
    return sanitizers()


# -- marginals ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def four_columns():
    rows = [(a, s, b, t) for a in "xy" for s in (0, 1) for b in (7, 5) for t in "pq"]
    X = pd.DataFrame(rows, columns=["a", "s", "b", "t"])
    X = X[(X["a"] == "x") | (X["b"] == 5)]  # so that U has no (y, 7)
    sanitizer = GRRSanitizer(2.0, sensitive=["s", "t"]).fit(X)
    counts = np.random.default_rng(7).integers(20, 90, len(sanitizer.mechanism_.symbols))
    return fit_counts(sanitizer.mechanism_, counts)


def test_marginals_add_up_cells(four_columns):
    estimator = four_columns
    cells = estimator.mechanism_.cells  # ((s, t), (a, b))
    frequencies = dict(zip(cells, estimator.frequencies_.ravel(), strict=True))
    pick = {
        "a": lambda s, u: u[0],
        "b": lambda s, u: u[1],
        "s": lambda s, u: s[0],
        "t": lambda s, u: s[1],
    }
    for columns in (["a"], ["b"], ["s"], ["t"], ["t", "a"], ["b", "a"], ["b", "s", "a", "t"]):
        marginal = estimator.marginal(columns)
        assert marginal.columns == tuple(columns)
        assert list(marginal.categories) == sorted(marginal.categories)
        sums = dict.fromkeys(marginal.categories, 0.0)
        for (s, u), share in frequencies.items():
            key = tuple(pick[c](s, u) for c in columns)
            sums[key if len(columns) > 1 else key[0]] += share
        np.testing.assert_allclose(marginal.frequencies, list(sums.values()), atol=1e-12)
    assert estimator.marginal("a").categories == estimator.marginal(0).categories == ("x", "y")
    assert ("y", 7) not in estimator.marginal(["a", "b"]).categories


def test_errors_of_marginals(four_columns):
    whole = four_columns.covariance()
    labels = np.array([cell[1][0] == "x" for cell in four_columns.mechanism_.cells])
    functions = np.stack([labels, ~labels]).astype(float)
    expected = functions @ whole @ functions.T
    np.testing.assert_allclose(four_columns.covariance("a"), expected, atol=1e-15)
    np.testing.assert_allclose(
        four_columns.marginal("a").std_error, np.sqrt(np.diag(expected)), rtol=1e-9
    )
    np.testing.assert_allclose(four_columns.std_error_.ravel(), np.sqrt(np.diag(whole)), rtol=1e-9)


def test_parts(four_columns):
    whole = four_columns.marginal()
    assert whole.columns == ("s", "t", "a", "b")
    assert whole.categories[0] == (0, "p", "x", 5)
    np.testing.assert_array_equal(whole.frequencies, four_columns.frequencies_.ravel())
    secret = four_columns.marginal(part="sensitive")
    assert secret.categories == four_columns.mechanism_.secrets
    np.testing.assert_allclose(secret.frequencies, four_columns.frequencies_.sum(axis=1))
    frame = whole.to_frame(level=0.9)
    assert frame.index.names == ["s", "t", "a", "b"]
    assert frame.loc[(0, "p", "x", 5), "frequency"] == whole.frequencies[0]
    np.testing.assert_allclose(frame[["lower", "upper"]], whole.confidence_interval(0.9))
    assert secret.to_frame().index.names == ["s", "t"]
    assert repr(secret) == f"Estimate(s, t: 4 of 4 identifiable, {secret.n_reports:,} reports)"


def test_the_order_of_given_categories():
    X = pd.DataFrame({"s": ["n", "y", "n"], "size": ["S", "L", "M"], "w": [1, 2, 1]})
    order = {"size": ["S", "M", "L"]}
    sanitizer = GRRSanitizer(1.0, sensitive=0, categories=order).fit(X)
    estimator = FrequencyEstimator(sanitizer).fit(sanitizer.transform(X))
    assert estimator.marginal("size").categories == ("S", "M", "L")


@pytest.mark.parametrize(
    ("columns", "part", "message"),
    [
        ("z", "all", r"no column 'z'; the columns are \['a', 's', 'b', 't'\]"),
        (["a", "a"], "all", "each once"),
        ([], "all", "must name columns"),
        (7, "all", "no column 7"),
        (None, "S", "part='S' must be one of 'all', 'sensitive', 'nonsensitive'"),
        ("a", "sensitive", "exclude each other"),
    ],
)
def test_bad_marginals(four_columns, columns, part, message):
    with pytest.raises(ValueError, match=message):
        four_columns.marginal(columns, part=part)


def test_a_mechanism_without_columns():
    estimator = fit_counts(plain(grr(4), a1=2), [10, 20, 30, 40])
    assert estimator.marginal(part="sensitive").columns == ("S",)
    with pytest.raises(ValueError, match="does not name its columns"):
        estimator.marginal("age")


# -- intervals and projection ---------------------------------------------------------------------


def test_intervals():
    estimator = fit_counts(plain(grr(4)), [10, 20, 30, 40])
    interval = estimator.confidence_interval(0.9, method="wald")
    assert interval.shape == (1, 4, 2)
    np.testing.assert_allclose(interval.mean(axis=-1), estimator.frequencies_)
    half = np.diff(interval, axis=-1)[..., 0] / 2
    np.testing.assert_allclose(half / estimator.std_error_, 1.6448536, rtol=1e-6)
    wide = estimator.confidence_interval(0.9, simultaneous=True, method="wald")
    # Šidák: four independent intervals hold at once with the level asked for.
    inside = 2 * norm.cdf(np.diff(wide, axis=-1)[0, :, 0] / 2 / estimator.std_error_[0]) - 1
    np.testing.assert_allclose(inside**4, 0.9)
    with pytest.raises(ValueError, match="level=95 must be a number between 0 and 1"):
        estimator.confidence_interval(95)


def test_what_is_not_identifiable_does_not_widen_the_others(fitted):
    """Simultaneous intervals count what is random and known only."""
    assert critical_value(0.95, 1) == critical_value(0.95)
    assert critical_value(np.nextafter(1.0, 0.0)) == pytest.approx(8.2923611, abs=1e-6)
    response = np.array([[0.75, 0.25, 0.5, 0.5], [0.25, 0.75, 0.5, 0.5]])
    tags = np.kron(np.eye(2), np.ones((1, 2)))  # whether the cell is one of the first two
    estimator = fit_counts(plain(np.vstack([response, tags]) / 2), [30, 20, 40, 10])
    assert estimator.identifiable_.tolist() == [[True, True, False, False]]
    wide = estimator.confidence_interval(simultaneous=True, method="wald")[0, :2]
    half = np.diff(wide)[:, 0] / 2 / estimator.std_error_[0, :2]
    np.testing.assert_allclose(half, critical_value(0.95, 2))
    level = 2.0 * norm.cdf(critical_value(0.95, 2)) - 1.0
    np.testing.assert_allclose(
        estimator.confidence_interval(simultaneous=True), estimator.confidence_interval(level)
    )


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=8))
def test_projection(values):
    """The conditions of Karush, Kuhn and Tucker."""
    values = np.array(values)
    distribution = project(values)
    assert distribution.sum() == pytest.approx(1.0)
    assert (distribution >= 0).all()
    shift = values - distribution
    used = distribution > 0
    assert np.ptp(shift[used]) < 1e-9
    assert (shift[~used] <= shift[used].max() + 1e-9).all()


def test_projected_estimates():
    estimate = fit_counts(plain(grr(3)), [16, 2, 2]).marginal()
    assert (estimate.frequencies < 0).any()
    np.testing.assert_allclose(estimate.projected(), [1, 0, 0], atol=1e-12)


# -- numbers --------------------------------------------------------------------------------------


def direct(values, counts):
    """Reports that are the cells themselves, two secrets alike."""
    mechanism = Mechanism.from_matrix(np.eye(2 * len(values)), "ab", values)
    mechanism = mechanism.named(None, [("s", True), ("x", False)])
    return fit_counts(mechanism, np.tile(counts, 2))


def test_mean_and_variance_without_noise():
    """The textbook's errors, for reports that tell the cell."""
    values, counts = (10.0, 20.0, 50.0), np.array([30, 50, 20])
    sample = np.repeat(values, 2 * counts)
    estimator = direct(values, counts)
    mean, variance = estimator.mean("x"), estimator.variance("x")
    assert mean.value == pytest.approx(sample.mean())
    assert mean.std_error == pytest.approx(sample.std() / np.sqrt(200))
    assert variance.value == pytest.approx(sample.var())
    fourth = np.mean((sample - sample.mean()) ** 4)
    assert variance.std_error == pytest.approx(np.sqrt((fourth - sample.var() ** 2) / 200))
    lower, upper = mean.confidence_interval(0.9, method="wald")
    assert (upper - lower) / 2 == pytest.approx(1.6448536 * mean.std_error)
    assert estimator.mean("x").value == estimator.mean(1).value


def test_missing_numbers_are_left_out():
    estimator = direct((10.0, 20.0, None), np.array([30, 50, 20]))
    sample = np.repeat([10.0, 20.0], [60, 100])
    mean = estimator.mean("x")
    assert mean.value == pytest.approx(sample.mean())
    assert mean.std_error == pytest.approx(sample.std() / np.sqrt(160))
    assert estimator.variance("x").value == pytest.approx(sample.var())
    assert estimator.quantile("x", 0.3).value == 10.0
    assert estimator.quantile("x", 0.4).value == 20.0


@pytest.mark.parametrize("q", [0.05, 0.25, 0.5, 0.9])
def test_quantiles_without_noise(q):
    rng = np.random.default_rng(8)
    counts = rng.integers(1, 9, 100)
    values = tuple(float(v) for v in rng.permutation(100))
    sample = np.sort(np.repeat(values, 2 * counts))
    quantile = direct(values, counts).quantile("x", q)
    assert quantile.value == np.quantile(sample, q, method="inverted_cdf")
    lower, upper = quantile.confidence_interval(0.95)
    assert lower <= quantile.value <= upper
    # The order statistics whose ranks are 1.96 standard errors from q, or a neighbour.
    n = len(sample)
    ranks = n * (q + 1.96 * np.sqrt(q * (1 - q) / n) * np.array([-1, 1]))
    expected = sample[np.clip(ranks, 0, n - 1).astype(int)]
    assert abs(lower - expected[0]) <= 1 and abs(upper - expected[1]) <= 1
    assert expected[1] - expected[0] >= 3
    assert quantile.std_error == pytest.approx((upper - lower) / 2 / 1.959964)
    wider = quantile.confidence_interval(0.999)
    assert wider[0] <= lower and wider[1] >= upper


def test_numbers_that_are_not_determined(fitted):
    X = pd.DataFrame([(s, u) for s in (0, 1) for u in (1, 2)], columns=["s", "u"])
    sanitizer = PolyOptSanitizer(
        1.0, sensitive=0, uncertainty=LikelihoodRatioSet(region="lower"), observe="nonsensitive"
    )
    sanitizer.fit(X, sample_weight=[300, 100, 200, 400])
    counts = np.full(sanitizer.mechanism_.shape[0], 50)
    for method in ("least-squares", "ml"):
        estimator = fit_counts(sanitizer.mechanism_, counts, method)
        assert np.isfinite(estimator.mean("u").std_error)
        for number in (estimator.mean("s"), estimator.variance("s"), estimator.quantile("s", 0.5)):
            assert np.isnan(number.std_error)
            if method == "least-squares":
                assert np.isnan(number.value) and np.isnan(number.confidence_interval()).all()
            else:
                most = 0.25 if number.value == estimator.variance("s").value else 1.0
                np.testing.assert_allclose(number.confidence_interval(), [0.0, most], atol=1e-5)


def test_bad_numbers(fitted):
    estimator = fit_distribution(fitted["grr"].mechanism_, DISTRIBUTION)
    with pytest.raises(ValueError, match="column 'ill' is not numeric: it has the category 'no'"):
        estimator.mean("ill")
    with pytest.raises(ValueError, match=r"q=1\.0 must be a number between 0 and 1"):
        estimator.quantile("visits", 1.0)
    with pytest.raises(ValueError, match="level=0"):
        estimator.quantile("visits", 0.5).confidence_interval(0)
