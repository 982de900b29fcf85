"""Fits take effect at once; what they leave to train on is the people, without the noise."""

from copy import copy

import numpy as np
import pandas as pd
import pytest
from interrupted_fits import interrupted_fits
from sklearn.linear_model import LogisticRegression

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    Mechanism,
)
from skrldp.estimation import estimator as module

COLUMNS = ["ill", "age", "sport", "label"]
CELLS = [
    (ill, age, sport, own)
    for ill in ("no", "yes")
    for age in (0, 1, 2)
    for sport in (0, 1)
    for own in ("leaves", "stays")
]
COUNTS = np.random.default_rng(0).integers(100, 3_000, size=len(CELLS))
TABLE = pd.DataFrame(CELLS, columns=COLUMNS)
FEATURES = ["sport", "age"]


@pytest.fixture(scope="module")
def grr():
    return GRRSanitizer(2.0, sensitive="ill").fit(TABLE, sample_weight=COUNTS)


def estimate(mechanism, reports, method="unbiased", **options):
    estimator = FrequencyEstimator(mechanism, method, encode="symbol", **options)
    return estimator.fit(np.arange(len(reports)), sample_weight=np.round(reports))


def learnt(X, y, weights):
    weights = weights / np.sum(weights) * 10_000
    model = LogisticRegression(tol=1e-10, max_iter=1_000).fit(X, y, sample_weight=weights)
    return np.append(model.coef_, model.intercept_)


def test_a_model_learns_the_people_and_not_the_noise(grr):
    share = COUNTS / COUNTS.sum()
    reports = 10**12 * (grr.mechanism_.matrix @ share)  # so many that there is no sampling error
    from_records = learnt(TABLE[FEATURES], TABLE["label"], COUNTS)
    X, y, weights = estimate(grr.mechanism_, reports).to_training_data(FEATURES, "label")
    assert list(X) == FEATURES
    assert y.name == "label"
    assert X.assign(label=y).drop_duplicates().shape == (12, 3)
    np.testing.assert_allclose(learnt(X, y, weights), from_records, atol=1e-4)
    as_rows = learnt(TABLE[FEATURES], TABLE["label"], reports)  # a symbol of GRR is a cell
    assert np.abs(as_rows - from_records).max() > 0.1


def test_the_weights_sum_to_the_effective_number_of_records(grr):
    share = COUNTS / COUNTS.sum()
    told = Mechanism.from_matrix(np.eye(len(share)), ["no", "yes"], grr.mechanism_.values)
    told = told.named(None, [(name, name == "ill") for name in COLUMNS])
    weights = estimate(told, 50_000 * share).to_training_data(FEATURES, "label")[2]
    assert weights.sum() == pytest.approx(50_000, rel=1e-3)  # no noise: every report is a record
    noisy = estimate(grr.mechanism_, 50_000 * (grr.mechanism_.matrix @ share))
    found = noisy.to_training_data(FEATURES, "label")[2].sum()
    of_cells = noisy.marginal([*FEATURES, "label"])
    raw = of_cells.unbiased * (1.0 - of_cells.unbiased) / found
    assert raw.sum() == pytest.approx(np.sum(of_cells.std_error**2), rel=1e-3)
    assert 100 < found < 25_000


def test_negative_estimates_are_no_weights(grr):
    reports = np.ones(len(CELLS))
    reports[:3] = 12  # a few of the others less than the noise alone makes
    estimator = estimate(grr.mechanism_, reports)
    assert estimator.marginal([*FEATURES, "label"]).unbiased.min() < 0
    X, y, weights = estimator.to_training_data(FEATURES, "label")
    assert len(X) == len(y) == len(weights) <= 12
    assert weights.min() > 0


def test_weights_that_reports_do_not_determine(grr):
    half = np.repeat([[0.75, 0.25], [0.25, 0.75]], 12, axis=1)  # tells S alone
    blind = Mechanism.from_matrix(half, ["no", "yes"], grr.mechanism_.values)
    blind = blind.named(None, [(name, name == "ill") for name in COLUMNS])
    with pytest.warns(UserWarning, match="12 of 12 frequencies of features and label"):
        weights = estimate(blind, [600, 400]).to_training_data(FEATURES, "label")[2]
    assert weights.sum() == pytest.approx(1_000)


# -- an interrupted fit ----------------------------------------------------------------------------

FEW = Mechanism.from_matrix((np.eye(4) + 0.5) / 3, (0, 1), (0, 1))
MANY = Mechanism.from_matrix((np.eye(6) + 0.5) / 4, (0, 1), (0, 1, 2))


def test_an_interrupted_fit_leaves_one_fit_whole():
    seen, fitted = set(), FrequencyEstimator(FEW, encode="symbol")
    fitted.fit(range(4), sample_weight=[2] * 4)
    for estimator in interrupted_fits(
        lambda: copy(fitted).set_params(mechanism=MANY),
        lambda estimator: estimator.fit(range(6), sample_weight=[3] * 6),
        module,
    ):
        n = len(estimator.counts_)
        seen.add(n)
        assert estimator.n_reports_ == estimator.counts_.sum() == {4: 8, 6: 18}[n]
        assert estimator.mechanism_.shape[0] == estimator.frequencies_.size == n
        assert len(estimator.marginal().estimate) == n
    assert seen == {4, 6}
