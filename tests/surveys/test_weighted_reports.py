"""Estimates from weighted reports are about the population that the weights stand for."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from skrldp import FrequencyEstimator, SRRSanitizer, SurveyDesign

N = 3_000
WEIGHTS = SurveyDesign(weights="weight")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    age, job = rng.integers(2, 5, N), rng.choice(["a", "b", "c"], N)
    ill = rng.random(N) < 1 / (1 + np.exp(2.5 - 0.5 * age - 0.4 * (job == "c")))
    return pd.DataFrame({"ill": np.where(ill, "yes", "no"), "age": age, "job": job})


def test_reports_in_any_form_are_the_same_reports(people):
    sanitizer = SRRSanitizer(eps=2.0, sensitive="ill", encode="symbol", random_state=0).fit(people)
    sent, weights = sanitizer.transform(people), np.random.default_rng(1).uniform(1.0, 3.0, N)
    estimator = FrequencyEstimator(sanitizer, survey=WEIGHTS)
    expected = estimator.fit(sent.assign(weight=weights)).frequencies_
    for form in ("cells", "onehot"):
        other = pd.DataFrame(sanitizer.decode(sent, encode=form)).assign(weight=weights)
        np.testing.assert_allclose(estimator.fit(other).frequencies_, expected, atol=1e-7)


def test_errors_are_the_spread_around_the_population_that_the_weights_stand_for(people):
    """Squares of 30 standardised errors have a chi-squared sum; outside in one of 10,000 cases."""
    table = people[["ill", "age"]]
    sanitizer = SRRSanitizer(eps=2.0, sensitive="ill", encode="symbol").fit(table)
    population = sanitizer.joint_.probabilities.ravel()
    often = np.array([1.0, 1.0, 1.0, 3.0, 1.0, 1.0])  # the ill of age 2 answer more often
    asked = population * often / (population @ often)
    of_cells = sanitizer.mechanism_.matrix.cumsum(axis=0).T
    rng, runs, squares, without = np.random.default_rng(0), 30, 0.0, 0.0
    for _ in range(runs):
        cells = rng.choice(6, size=2_000, p=asked)
        sent = (rng.random(2_000)[:, None] > of_cells[cells]).sum(axis=1)
        reports = pd.DataFrame({"report": sent, "weight": 1.0 / often[cells]})
        found = FrequencyEstimator(sanitizer, survey=WEIGHTS).fit(reports).marginal()
        variance = found.covariance()[3, 3]
        squares += (found.unbiased[3] - population[3]) ** 2 / variance
        without += (asked[3] - population[3]) ** 2 / variance
    low, high = chi2.ppf([0.00005, 0.99995], runs)
    assert low < squares < high < without


def test_wrong_weights_are_refused(people):
    stating = SRRSanitizer(eps=2.0, sensitive="ill", random_state=0).fit(people)
    reports = stating.transform(people).assign(weight=2.0)

    def fit(survey, rows):
        return FrequencyEstimator(stating, survey=survey).fit(rows)

    with pytest.raises(ValueError, match="'w'"):
        fit(SurveyDesign(weights="w"), reports)
    with pytest.raises(ValueError, match=r"lazy frame. Collect it"):
        fit(WEIGHTS, pytest.importorskip("polars").from_pandas(reports).lazy())
    with pytest.raises(ValueError, match=r"Survey weights are not counts.*survey="):
        FrequencyEstimator(stating).fit(reports[list(people)], sample_weight=np.full(N, 1.5))
    strange = reports.replace({"job": {"a": "z"}})
    with pytest.raises(ValueError, match=r"rows of Y have no report of this mechanism in 'job'"):
        fit(WEIGHTS, strange)
