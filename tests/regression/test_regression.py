"""Regressions from reports agree with statsmodels where reports have no noise, and know it else."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from skrldp import (
    BlockEstimator,
    BlockSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    SRRSanitizer,
    SurveyDesign,
)
from skrldp.regression import logit, mnlogit, ols, poisson

pytest.importorskip("formulaic")
sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")

RNG = np.random.default_rng(3)
MODELS = {
    "logit": (logit, "ill ~ age + C(job) + age:C(job)"),
    "ols": (ols, "age ~ ill * job"),
    "poisson": (poisson, "children ~ age + ill"),
    "mnlogit": (mnlogit, "job ~ age + ill"),
}


@pytest.fixture(scope="module")
def people():
    n = 6_000
    age, job = RNG.integers(2, 5, n), RNG.choice(["a", "b", "c"], n)
    ill = RNG.random(n) < 1.0 / (1.0 + np.exp(2.5 - 0.5 * age - 0.4 * (job == "c")))
    children = np.minimum(RNG.poisson(np.exp(0.15 * age - 0.3)), 1)
    return pd.DataFrame({"ill": np.where(ill, "yes", "no"), "age": age, "job": job}).assign(
        children=children
    )


@pytest.fixture(scope="module")
def sanitizer(people):
    return SRRSanitizer(eps=2.0, sensitive="ill", random_state=0).fit(people)


@pytest.fixture(scope="module")
def small(people):
    return SRRSanitizer(eps=2.0, sensitive="ill").fit(people[["ill", "age", "job"]])


def estimate(sanitizer, counts):
    mechanism = sanitizer.mechanism_
    return FrequencyEstimator(sanitizer).fit(range(mechanism.shape[0]), sample_weight=counts)


def expected_counts(sanitizer, n):
    """Counts as good as without noise, at the public distribution."""
    probabilities = sanitizer.joint_.probabilities.ravel()
    return np.rint(n * sanitizer.mechanism_.matrix @ probabilities)


def reference(kind, people, weights=None, **options):
    """Fit statsmodels' model to the records themselves."""
    weights = np.ones(len(people)) if weights is None else weights
    formula, numbers = MODELS[kind][1], people.assign(ill=(people["ill"] == "yes").astype(int))
    if kind == "mnlogit":
        codes = people.assign(job=people["job"].astype("category").cat.codes)
        return smf.mnlogit(formula, codes).fit(disp=0, **options)
    if kind == "ols":
        return smf.wls(formula, people, weights=weights).fit(**options)
    family = {"logit": sm.families.Binomial(), "poisson": sm.families.Poisson()}[kind]
    numbers = numbers if kind == "logit" else people
    model = smf.glm(formula, numbers, family=family, var_weights=weights)
    return model.fit(tol=1e-13, tol_criterion="params", **options)


@pytest.mark.parametrize("kind", MODELS)
def test_without_noise_coefficients_are_those_of_the_records(kind, people, sanitizer):
    model, formula = MODELS[kind]
    found = model(formula, estimate(sanitizer, expected_counts(sanitizer, 1e14))).params
    expected = reference(kind, people).params
    if kind == "mnlogit":
        expected = pd.concat({"b": expected[0], "c": expected[1]})
    np.testing.assert_allclose(found[expected.index], expected, rtol=1e-4, atol=1e-6)


@pytest.fixture(scope="module")
def stating(people):
    """Reports that state the record, so that nothing but the sample's randomness is left."""
    sanitizer = GRRSanitizer(eps=25.0, sensitive="ill", random_state=0).fit(people)
    return sanitizer, sanitizer.transform(people)


WEIGHTS = {"none": None, "unequal": np.random.default_rng(5).uniform(0.5, 4.0, 6_000)}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", ["logit", "ols", "poisson"])
def test_of_reports_that_state_the_record_the_covariance_is_whites(kind, weights, people, stating):
    """HC0; the covariance of weighted totals has a factor n / (n - 1) besides."""
    (sanitizer, reports), survey, n = stating, None, len(people)
    if weights != "none":
        reports = reports.assign(weight=WEIGHTS[weights])
        survey = SurveyDesign(weights="weight")
    model, formula = MODELS[kind]
    found = model(formula, FrequencyEstimator(sanitizer, survey=survey).fit(reports))
    own = WEIGHTS["unequal"] if weights == "unequal" else None
    expected = reference(kind, people, own, cov_type="HC0")
    names, factor = expected.params.index, 1.0 if survey is None else n / (n - 1)
    assert found.nobs == n
    np.testing.assert_allclose(found.params[names], expected.params, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.bse[names], expected.bse * np.sqrt(factor), rtol=1e-5)
    covariance = found.cov_params().loc[names, names] / factor
    np.testing.assert_allclose(covariance, expected.cov_params(), rtol=1e-4, atol=1e-9)
    if survey is None:
        np.testing.assert_allclose(found.conf_int().loc[names], expected.conf_int(), rtol=1e-4)
        np.testing.assert_allclose(found.pvalues[names], expected.pvalues, rtol=1e-3, atol=1e-12)


def test_without_noise_clusters_are_those_of_statsmodels(people, stating):
    (sanitizer, reports), places = stating, np.arange(len(people)) * 7919 % 60
    design = SurveyDesign(weights="weight", clusters="place")
    reports = reports.assign(weight=WEIGHTS["unequal"], place=places)
    found = ols(MODELS["ols"][1], FrequencyEstimator(sanitizer, survey=design).fit(reports))
    clusters = {"cov_type": "cluster", "cov_kwds": {"groups": places, "use_correction": False}}
    expected = reference("ols", people, WEIGHTS["unequal"], **clusters).bse * np.sqrt(60 / 59)
    np.testing.assert_allclose(found.bse[expected.index], expected, rtol=1e-6)


@pytest.mark.slow
def test_the_covariance_is_that_of_the_coefficients_derivatives_by_the_reports(small):
    """The delta method with differences in place of derivatives."""
    model, formula = MODELS["mnlogit"]
    n = 1e8
    counts = expected_counts(small, n)
    at = model(formula, estimate(small, counts))
    shares, slopes = counts / counts.sum(), []
    for symbol in range(len(counts)):
        more = np.where(np.arange(len(counts)) == symbol, counts + 1e3, counts)
        slopes.append((model(formula, estimate(small, more)).params - at.params) / 1e3)
    slopes = np.array(slopes) * counts.sum()  # by the shares, up to a constant
    centred = slopes - shares @ slopes
    covariance = (centred * shares[:, None]).T @ centred / counts.sum()
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), at.bse, rtol=1e-3)


@pytest.mark.parametrize(
    ("model", "formula", "message"),
    [
        (logit, "ill ~ agee", "column 'agee'"),
        (logit, "ill ~ age + I(2 * age)", "collinear: .*2 . age"),
        (logit, "ill ~ age + C(ill)", "separation: .*ill"),
        (logit, "job ~ age", "two categories"),
        (poisson, "I(age - 3) ~ ill", "must not be negative"),
        (mnlogit, "I(age * 0) ~ ill", "the response is the same in all estimated"),
        (ols, "age ~ my col", r"cannot be read: Missing operator between .* between backticks"),
        (logit, "ill ~ bs(age, df=3)", r"bs\(\) needs the records.*maximum\(x - 40, 0\)"),
        (ols, "log(children) ~ job", "no finite value where children=0, job=a"),
        (ols, "job ~ age", r"logit and mnlogit .* float\(y\) ~ x"),
        (ols, "age ~ job + `1`", "'1' has a different meaning"),
        (ols, "age ~ I(job == 'z')", "'z' is not a category of 'job'"),
    ],
)
def test_bad_formulas_are_refused(model, formula, message, sanitizer):
    estimator = estimate(sanitizer, expected_counts(sanitizer, 1e6))
    with pytest.raises(ValueError, match=message):
        model(formula, estimator)


def test_only_fitted_estimates_have_regressions(sanitizer, people):
    with pytest.raises(NotFittedError):
        logit("ill ~ age", FrequencyEstimator(sanitizer))
    with pytest.raises(TypeError, match="FrequencyEstimator or BlockEstimator, got DataFrame"):
        logit("ill ~ age", people)


def test_an_estimate_that_takes_columns_for_independent_does_not_determine_coefficients(people):
    """IR tells how age and job go together, and of illness nothing: more than "ill" stays open."""
    sanitizer = IRSanitizer(eps=1.0, sensitive="ill").fit(people[["ill", "age", "job"]])
    estimator = estimate(sanitizer, expected_counts(sanitizer, 1e6))
    with pytest.warns(UserWarning, match=r"of 'Intercept', 'ill\[T.yes\]', 'job\[T.b\]'"):
        assert ols("age ~ ill + job", estimator).params.isna().all()
    found, expected = ols("age ~ job", estimator), smf.ols("age ~ job", people).fit()
    np.testing.assert_allclose(found.params, expected.params, atol=1e-3)


def test_records_with_missing_values_are_left_out(people):
    """Coefficients and errors are those of the other records alone."""
    table = people[["ill", "age"]].astype({"age": object})
    table.loc[::3, "age"] = None
    sanitizer = GRRSanitizer(eps=25.0, sensitive="ill", random_state=0).fit(table)
    found = ols("age ~ ill", FrequencyEstimator(sanitizer).fit(sanitizer.transform(table)))
    rest = table.dropna().astype({"age": float})
    expected = smf.ols("age ~ ill", rest).fit(cov_type="HC0")
    np.testing.assert_allclose(found.params, expected.params, rtol=1e-5)
    np.testing.assert_allclose(found.bse, expected.bse, rtol=1e-5)


def test_predictions_and_tests_of_several_coefficients_are_those_of_statsmodels(people, stating):
    estimator = FrequencyEstimator(stating[0]).fit(stating[1])
    found = ols("age ~ ill + job", estimator)
    expected = smf.ols("age ~ ill + job", people).fit(cov_type="HC0")
    np.testing.assert_allclose(found.predict(people), expected.predict(people), rtol=1e-6)
    both = np.eye(4)[2:]
    own, test = found.wald_test(both), expected.wald_test(both, scalar=True, use_f=False)
    assert own.degrees_of_freedom == 2
    summary = found.summary()
    assert list(summary) == ["coef", "std err", "z", "P>|z|", "[0.025", "0.975]"]
    np.testing.assert_allclose(summary.iloc[:, 4:], found.conf_int())
    assert (own.statistic, own.p_value) == pytest.approx((test.statistic, test.pvalue), 1e-4)
    for contrast, words in (
        ([1, 0], "4 coefficients"),
        (np.zeros(4), "none of zeros"),
        (np.ones((2, 4)), "linearly independent rows"),
    ):
        with pytest.raises(ValueError, match=words):
            found.wald_test(contrast)
    with pytest.raises(ValueError, match=r"\['ill', 'job'\]; it lacks \['job'\]"):
        found.predict(people[["ill"]])


def test_columns_of_one_block_are_enough(people):
    sanitizer = BlockSanitizer(
        eps=2.0,
        sensitive="ill",
        blocks=[["age", "job"], "children"],
        categories={name: sorted(set(people[name])) for name in people},
        base=SRRSanitizer(),
        random_state=0,
    ).fit(people)
    records = pd.concat([people] * 10, ignore_index=True)
    estimator = BlockEstimator(sanitizer).fit(sanitizer.transform(records))
    found = logit("ill ~ age + job", estimator)
    truth = smf.logit(
        "ill ~ age + job", people.assign(ill=(people["ill"] == "yes").astype(int))
    ).fit(disp=0)
    off = (found.params[truth.params.index] - truth.params) / found.bse[truth.params.index]
    assert (off.abs() < 4.5).all()  # a false alarm in 30,000
    with pytest.raises(ValueError, match="block"):
        logit("ill ~ age + children", estimator)
