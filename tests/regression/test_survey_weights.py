"""Regressions from reports whose senders have survey weights agree with statsmodels' weighted ones.

Of reports that state the record nothing but the weights is left, and then the covariance is White's
(HC0) with weights, or that of clusters; the covariance of totals has factors n / (n - 1) besides.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from skrldp import FrequencyEstimator, GRRSanitizer, SRRSanitizer, SurveyDesign
from skrldp.regression import logit, mnlogit, ols, poisson

pytest.importorskip("formulaic")
sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")

N, CLUSTERS = 3_000, 60
WEIGHTS = SurveyDesign(weights="weight")
FORMULAS = {"ols": "age ~ ill + job", "logit": "ill ~ age + job", "poisson": "child ~ age + job"}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    age, job = rng.integers(2, 5, N), rng.choice(["a", "b", "c"], N)
    ill = rng.random(N) < 1 / (1 + np.exp(2.5 - 0.5 * age - 0.4 * (job == "c")))
    child = (rng.random(N) < 0.2 * age).astype(int)
    return pd.DataFrame({"ill": np.where(ill, "yes", "no"), "age": age, "job": job, "child": child})


@pytest.fixture(scope="module")
def stating(people):
    return GRRSanitizer(eps=25.0, sensitive="ill", random_state=0).fit(people)


@pytest.fixture(scope="module")
def reports(people, stating):
    rng = np.random.default_rng(6)
    weights = rng.uniform(0.5, 4.0, N) * np.where(people["age"] > 3, 2.0, 1.0)
    clusters = rng.integers(0, CLUSTERS, N)
    return stating.transform(people).assign(weight=weights, place=clusters)


def reference(kind, people, weights, **options):
    numbers = people.assign(ill=(people["ill"] == "yes") * 1.0)
    if kind == "ols":
        return smf.wls("age ~ C(ill) + job", numbers, weights=weights).fit(**options)
    family = {"logit": sm.families.Binomial(), "poisson": sm.families.Poisson()}[kind]
    model = smf.glm(FORMULAS[kind], numbers, family=family, var_weights=weights)
    return model.fit(tol=1e-13, tol_criterion="params", **options)


@pytest.mark.parametrize("kind", FORMULAS)
def test_without_noise_the_covariance_is_the_sandwich_with_weights(kind, people, stating, reports):
    cells = FrequencyEstimator(stating, survey=WEIGHTS).fit(reports.drop(columns="place"))
    found = {"ols": ols, "logit": logit, "poisson": poisson}[kind](FORMULAS[kind], cells)
    expected = reference(kind, people, reports["weight"].to_numpy(), cov_type="HC0")
    order = expected.params.index.str.replace("C(ill)[T.1.0]", "ill[T.yes]", regex=False)
    np.testing.assert_allclose(found.params[order], expected.params, rtol=1e-6, atol=1e-8)
    errors = expected.bse.to_numpy() * np.sqrt(N / (N - 1))
    np.testing.assert_allclose(found.bse[order], errors, rtol=1e-6)
    assert found.nobs == N


def test_without_noise_clusters_are_those_of_statsmodels(people, stating, reports):
    design = SurveyDesign(weights="weight", clusters="place")
    found = ols(FORMULAS["ols"], FrequencyEstimator(stating, survey=design).fit(reports))
    groups = {"groups": reports["place"].to_numpy(), "use_correction": False}
    weights = reports["weight"].to_numpy()
    expected = reference("ols", people, weights, cov_type="cluster", cov_kwds=groups)
    errors = expected.bse.to_numpy() * np.sqrt(CLUSTERS / (CLUSTERS - 1))
    names = ["Intercept", "ill[T.yes]", "job[T.b]", "job[T.c]"]
    np.testing.assert_allclose(found.bse[names], errors, rtol=1e-6)


def test_a_multinomial_model_of_two_categories_is_logistic(stating, reports):
    cells = FrequencyEstimator(stating, survey=WEIGHTS).fit(reports.drop(columns="place"))
    one, other = logit("ill ~ age + job", cells), mnlogit("ill ~ age + job", cells)
    np.testing.assert_allclose(other.params, one.params, rtol=1e-6)
    np.testing.assert_allclose(other.bse, one.bse, rtol=1e-6)


def test_equal_weights_are_none(people):
    table = people[["ill", "age"]]
    sanitizer = SRRSanitizer(eps=2.0, sensitive="ill", random_state=0).fit(table)
    sent = sanitizer.transform(table)
    weighted = FrequencyEstimator(sanitizer, survey=WEIGHTS).fit(sent.assign(weight=2.5))
    found = logit("ill ~ age", weighted)
    expected = logit("ill ~ age", FrequencyEstimator(sanitizer).fit(sent))
    np.testing.assert_allclose(found.params, expected.params, rtol=1e-6)
    # There are as many kinds of reports as cells, so that the estimate expects the shares seen.
    np.testing.assert_allclose(found.bse, expected.bse * np.sqrt(N / (N - 1)), rtol=1e-4)


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


def test_what_is_no_survey_is_refused(people, stating, reports):
    def fit(survey, rows):
        return FrequencyEstimator(stating, survey=survey).fit(rows)

    with pytest.raises(TypeError, match="survey must be a SurveyDesign or None, got str"):
        fit("weight", reports)
    with pytest.raises(ValueError, match="'w'"):
        fit(SurveyDesign(weights="w"), reports)
    with pytest.raises(ValueError, match="lazy frame: collect it"):
        fit(WEIGHTS, pytest.importorskip("polars").from_pandas(reports).lazy())
    with pytest.raises(ValueError, match=r"Survey weights are not counts.*survey="):
        FrequencyEstimator(stating).fit(reports[list(people)], sample_weight=reports["weight"])
    strange = reports.drop(columns="place").replace({"job": {"a": "z"}})
    with pytest.raises(ValueError, match=r"rows of Y have no report of this mechanism in 'job'"):
        fit(WEIGHTS, strange)
