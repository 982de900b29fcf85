"""Estimates from the reports of a survey are about its population, with errors that are the spread.

False alarms below 1e-6, or as a test says, with fixed seeds.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, poisson

from skrldp import (
    FrequencyEstimator,
    JointDistribution,
    Mechanism,
    SRRSanitizer,
    SurveyDesign,
    expected_std_error,
)

SHARE = np.array([0.3, 0.1, 0.15, 0.45])
ROWS = np.array([[s, u] for s in (0, 1) for u in (0, 1)])


def clustered(rng, clusters, size, correlation):
    own = rng.dirichlet(SHARE * (1.0 - correlation) / correlation, size=clusters)
    return rng.multinomial(size, own)


@pytest.mark.slow
def test_the_design_effect_adds_to_the_sampling_part_of_the_variance():
    """As the guide on planning says: 150 surveys of 100 clusters of 20, correlation .1.

    Their spread is that far off in one of 10,000 cases.
    """
    sanitizer = SRRSanitizer(eps=2.0, sensitive=0).fit(ROWS, sample_weight=[30, 10, 15, 45])
    rng, n, effect = np.random.default_rng(0), 2_000, 1 + 19 * 0.1
    estimator = FrequencyEstimator(sanitizer, encode="symbol")
    found = []
    for _ in range(150):
        people = clustered(rng, 100, 20, 0.1).sum(axis=0)
        reports = rng.multinomial(people, sanitizer.mechanism_.matrix.T).sum(axis=0)
        estimator.fit(range(len(reports)), sample_weight=reports)
        found.append(estimator.frequencies_.sum(axis=0)[0])
    share = SHARE[[0, 2]].sum()
    stated = expected_std_error(sanitizer, n, 1)[0]
    planned = expected_std_error(sanitizer, n, 1, design_effect=effect)[0]
    assert planned == pytest.approx(np.sqrt(stated**2 + (effect - 1) * share * (1 - share) / n))
    assert planned > 1.2 * stated
    assert np.std(found) == pytest.approx(planned, rel=3.9 / np.sqrt(2 * 150))


@pytest.mark.slow
def test_the_test_of_drift_knows_how_little_a_clustered_survey_says():
    """Reports of the population: few of 12 surveys are contradicted, most are as plain samples.

    At a level of .05 more than two of 12 are contradicted in .02 of cases.
    """
    rng, misses = np.random.default_rng(0), np.zeros(2)
    design = SurveyDesign(clusters="place")
    for seed in range(12):
        counts = clustered(rng, 40, 50, 0.4)
        place, cell = np.repeat(np.indices(counts.shape).reshape(2, -1), counts.ravel(), axis=1)
        sample = pd.DataFrame({"ill": cell // 2, "visits": cell % 2, "place": place})
        values = {"ill": [0, 1], "visits": [0, 1]}
        sanitizer = SRRSanitizer(4.0, sensitive="ill", survey=design, categories=values)
        sanitizer = sanitizer.set_params(random_state=seed).fit(sample)
        sent = rng.multinomial(200_000, sanitizer.mechanism_.matrix @ SHARE)
        joint = sanitizer.joint_
        naive = JointDistribution(joint.counts, joint.secrets, joint.values)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of drift
            found = [
                FrequencyEstimator(sanitizer, public=public, encode="symbol").fit(
                    range(4), None, sent
                )
                for public in (None, naive)
            ]
        misses += np.array([one.drift_test().p_value for one in found]) < 0.05
    assert misses[0] <= 2
    assert misses[1] >= misses[0] + 5


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

    with pytest.raises(ValueError, match=r"lazy frame. Collect it"):
        fit(WEIGHTS, pytest.importorskip("polars").from_pandas(reports).lazy())
    with pytest.raises(ValueError, match=r"Survey weights are not counts.*survey="):
        FrequencyEstimator(stating).fit(reports[list(people)], sample_weight=np.full(N, 1.5))


def ends_of_a_rare_share(counted, weights):
    """Interval of the share of u = "y", which the first people sent, without noise."""
    mechanism = Mechanism.from_matrix(np.eye(4), (0, 1), "xy")
    mechanism = mechanism.named(None, [("s", True), ("u", False)])
    sent = np.where(np.arange(len(weights)) < counted, 1, 2 * (np.arange(len(weights)) % 2))
    reports = pd.DataFrame({"report": sent, "weight": weights})
    estimator = FrequencyEstimator(mechanism, encode="symbol", survey=WEIGHTS).fit(reports)
    return estimator.marginal("u").confidence_interval()[1]


def test_intervals_allow_for_people_of_large_weight_who_did_not_report():
    """They weigh 3, as do 50 of 200 others. The coverage is exact: no false alarm.

    If an unseen person had the mean weight, the coverage would be .86 where two are expected.
    """
    counts = np.arange(20)
    people = [[3.0] * (count + 50) + [1.0] * (150 - count) for count in counts]
    low, high = np.transpose(list(map(ends_of_a_rare_share, counts, people)))
    for expected in (0.5, 1.0, 1.5, 2.0, 2.6, 3.0, 3.5, 4.0, 5.0):
        truth = 3.0 * expected / (300.0 + 2.0 * expected)
        is_covered = (low <= truth) & (truth <= high)
        assert poisson.pmf(counts, expected) @ is_covered > 0.93


def test_people_of_equal_weights_have_the_interval_of_independent_reports():
    """Wilson's, if nobody has the value: with equal weights, an unseen person has theirs."""
    z2 = chi2.ppf(0.95, 1)
    for weight in (1.0, 7.3):
        assert ends_of_a_rare_share(0, [weight] * 200)[1] == pytest.approx(z2 / (200.0 + z2))
