"""Weighted records: other tools find the estimates, and replicates their errors."""

import numpy as np
import pandas as pd
import pytest

from skrldp import FrequencyEstimator, IRSanitizer, Mechanism, SRRSanitizer
from skrldp.regression import logit


@pytest.fixture(scope="module")
def estimator():
    rng = np.random.default_rng(0)
    age = rng.integers(1, 4, 8_000)
    ill = rng.random(8_000) < 0.2 * age
    people = pd.DataFrame({"age": age, "ill": np.where(ill, "yes", "no"), "job": ill * 1})
    people["job"] = np.where(rng.random(8_000) < 0.3, 1 - people["job"], people["job"])
    sanitizer = SRRSanitizer(eps=2.0, sensitive="ill", random_state=0).fit(people)
    return FrequencyEstimator(sanitizer).fit(sanitizer.transform(people))


def test_weighted_figures_are_the_estimates_and_replicates_have_their_errors(estimator):
    records = estimator.to_records(300, random_state=1)
    assert list(records)[:5] == ["age", "ill", "job", "weight", "replicate_1"]
    assert records["weight"].sum() == pytest.approx(estimator.n_reports_)
    shares = records.groupby(["age", "job"])["weight"].sum() / estimator.n_reports_
    crosstab = estimator.marginal(["age", "job"])
    np.testing.assert_allclose(shares, crosstab.frequencies, atol=1e-9)
    replicates = [name for name in records if str(name).startswith("replicate_")]
    means = [np.average(records["age"], weights=records[name]) for name in replicates]
    stated = estimator.mean("age")
    assert np.average(records["age"], weights=records["weight"]) == pytest.approx(stated.value)
    # the spread of 300 draws has a relative error of .04
    assert np.std(means) == pytest.approx(stated.std_error, rel=0.17)


def test_other_libraries_models_have_the_coefficients_of_ours_and_replicates_their_errors(
    estimator,
):
    sm = pytest.importorskip("statsmodels.api")
    pytest.importorskip("formulaic")
    with pytest.warns(UserWarning, match="may hold more often"):  # few reports of some cells
        found = logit("ill ~ age + job", estimator)
    records = estimator.to_records(100, random_state=0)
    design = sm.add_constant(records[["age", "job"]].astype(float))
    ill = (records["ill"] == "yes").astype(float)

    def coefficients(weight):
        model = sm.GLM(ill, design, family=sm.families.Binomial(), freq_weights=records[weight])
        return model.fit().params.to_numpy()

    np.testing.assert_allclose(coefficients("weight"), found.params, atol=1e-5)
    spread = np.std([coefficients(f"replicate_{k}") for k in range(1, 101)], axis=0)
    np.testing.assert_allclose(spread, found.bse, rtol=0.35)  # .07 is the spread's own error


def test_a_prior_is_in_the_replicates(estimator):
    prior = estimator.mechanism.joint_
    with_prior = FrequencyEstimator(estimator.mechanism, prior=prior).fit(
        range(len(estimator.counts_)), sample_weight=estimator.counts_
    )
    records = with_prior.to_records(40, random_state=0)
    means = [np.average(records["age"], weights=records[f"replicate_{k}"]) for k in range(1, 41)]
    assert np.std(means) < 0.8 * estimator.mean("age").std_error


def test_bad_input(estimator):
    with pytest.raises(ValueError, match="random_state='x' must be"):
        estimator.to_records(1, random_state="x")
    with pytest.raises(ValueError, match="n_replicates=-1 must be a whole number"):
        estimator.to_records(-1)
    squares = FrequencyEstimator(estimator.mechanism, "least-squares").fit([0, 1, 2])
    with pytest.raises(ValueError, match="least squares may be negative"):
        squares.to_records()
    taken = IRSanitizer(eps=1.0, sensitive=0).fit(
        pd.DataFrame({"ill": [0, 0, 1, 1] * 90, "weight": [0, 1] * 180})
    )
    with pytest.raises(ValueError, match="column 'weight' already"):
        FrequencyEstimator(taken).fit(pd.DataFrame({"ill": [0], "weight": [0]})).to_records()
    own = estimator.mechanism_
    one_secret = Mechanism.from_matrix(
        np.repeat([[0.7, 0.3], [0.3, 0.7]], len(own.values), axis=1), own.secrets, own.values
    )
    with pytest.warns(UserWarning, match="one distribution among many"):
        FrequencyEstimator(one_secret).fit([0, 1, 1]).to_records()
