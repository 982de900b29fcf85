"""Score tests keep their level: independence, equal populations, drift, reports of nobody."""

import warnings

import numpy as np
import pandas as pd
import pytest
from fits_of_counts import grr
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import chi2, chi2_contingency, multinomial

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    JointDistribution,
    Mechanism,
    SRRSanitizer,
    SurveyDesign,
)
from skrldp.estimation import PairedReports, same_distribution_test
from skrldp.estimation.channels import Channel
from skrldp.estimation.hypotheses import HypothesisTest, _contrasts, _excess, contradicts, drift_of

ROWS = pd.DataFrame(
    [(s, a, b) for s in (0, 1) for a in "xy" for b in (0, 1, 2)], columns=["ill", "a", "b"]
)


def identity():
    return Mechanism.from_matrix(
        np.eye(12), (0, 1), [(a, b) for a in "xy" for b in (0, 1, 2)]
    ).named(None, [("ill", True), ("a", False), ("b", False)])


def noisy(eps=2.0):
    matrix = grr(12, eps)
    return Mechanism.from_matrix(matrix, (0, 1), [(a, b) for a in "xy" for b in (0, 1, 2)]).named(
        None, [("ill", True), ("a", False), ("b", False)]
    )


def fit(mechanism, counts, **options):
    return FrequencyEstimator(mechanism, encode="symbol", **options).fit(
        range(len(counts)), sample_weight=counts
    )


def test_without_noise_independence_is_pearsons_test():
    """Given a column, the statistics of its strata add up."""
    counts = np.random.default_rng(0).integers(20, 60, 12)
    estimator, tables = fit(identity(), counts), counts.reshape(2, 2, 3)
    whole, given = (estimator.test_independence("a", "b", given=x) for x in (None, "ill"))
    expected, parts = chi2_contingency(tables.sum(axis=0)), [*map(chi2_contingency, tables)]
    assert whole.statistic == pytest.approx(expected.statistic, rel=1e-6)
    assert whole.p_value == pytest.approx(expected.pvalue, abs=0.01)
    assert given.statistic == pytest.approx(sum(part.statistic for part in parts), rel=1e-6)
    assert (whole.degrees_of_freedom, given.degrees_of_freedom) == (expected.dof, 4)


def test_the_score_statistic_is_that_of_the_likelihood_ratio():
    """Of many reports by a mechanism whose noise mixes the tested differences with all else."""
    rng = np.random.default_rng(2)
    matrix = 0.5 * rng.dirichlet(np.full(6, 0.5), size=6).T + 0.5 * np.eye(6)
    mechanism = Mechanism.from_matrix(matrix, (0, 1), "xyz")
    mechanism = mechanism.named(None, [("s", True), ("u", False)])
    population = np.outer([0.3, 0.7], [0.2, 0.5, 0.3]) + 0.003 * np.array([[1, -1, 0], [-1, 1, 0]])
    counts = np.round(1e6 * mechanism.matrix @ population.ravel())
    shares = counts / counts.sum()

    def loss(logits):
        p, q = softmax([0.0, logits[0]]), softmax([0.0, *logits[1:]])
        report = mechanism.matrix @ np.outer(p, q).ravel()
        return 2.0 * counts.sum() * float(shares @ np.log(shares / report))

    best = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9})
    found = fit(mechanism, counts).test_independence("s", "u")
    assert found.degrees_of_freedom == 2
    assert found.statistic == pytest.approx(best.fun, rel=0.03) and best.fun > 10.0


def cycle():
    """Each cell has nearly as many reports of the next one: crosstabs are hardly determined."""
    matrix = 0.52 * np.eye(12) + 0.51 * np.roll(np.eye(12), 1, axis=0) + 0.02
    return Mechanism.from_matrix(matrix / matrix.sum(axis=0), noisy().secrets, noisy().values)


@pytest.mark.slow
def test_true_hypotheses_are_rejected_as_often_as_stated():
    """500 reports: the statistics have the mean 2, and 2.4 by a simulation for the cycle.

    That of 100 samples is above 3.23 in one of 10,000 cases; then .16 would be below p = .05.
    """
    margins = np.multiply.outer(np.multiply.outer([0.3, 0.7], [0.1, 0.9]), [0.05, 0.25, 0.7])
    mechanisms = [one.named(None, noisy().columns) for one in (cycle(), noisy(1.0))]
    rng = np.random.default_rng(3)
    statistics = np.zeros(2)
    for _ in range(100):
        one, other = (
            fit(mechanism, rng.multinomial(500, mechanism.matrix @ margins.ravel()))
            for mechanism in mechanisms
        )
        tests = one.test_independence("a", "b"), same_distribution_test(one, other, "b")
        assert [test.degrees_of_freedom for test in tests] == [2, 2]
        statistics += [test.statistic for test in tests]
    assert (statistics <= 3.23 * 100).all(), statistics


def test_alarms_about_few_reports_are_as_rare_as_stated():
    """Pearson's statistic of 200 reports, most symbols expected once: the chi-squared .001 is .005.

    100,000 samples: the .999 quantile has a p-value within .0003 of .001 with 1e-3.
    """
    shares = np.array([0.005] * 20 + [0.1] * 9)
    white = (_contrasts(shares) / np.sqrt(shares)[:, None]).T
    drawn = np.random.default_rng(0).multinomial(200, shares, 100_000) / 200
    found = 200 * ((drawn @ white.T) ** 2).sum(axis=1)
    excess = _excess(white, shares, 200.0)
    np.testing.assert_allclose(56 + excess[0], found.var(), rtol=0.03)
    rare = HypothesisTest.of("", np.quantile(found, 0.999), 28, 200, excess).p_value
    assert 0.0006 < rare < 0.0013


def test_a_survey_of_few_clusters_has_as_few_degrees_of_freedom():
    rng = np.random.default_rng(8)
    rows = pd.DataFrame({"report": rng.integers(0, 12, 400), "place": rng.integers(0, 4, 400)})
    design = SurveyDesign(clusters="place")
    estimator = FrequencyEstimator(identity(), encode="symbol", survey=design).fit(rows)
    assert estimator.test_independence(["ill", "a"], "b").degrees_of_freedom == 3


def test_pairs_make_a_test_of_two_waves_sharper():
    rng = np.random.default_rng(4)
    before = rng.integers(0, 12, 4_000)
    after = np.where(rng.random(4_000) < 0.05, 11, before)
    one, two = (FrequencyEstimator(identity()).fit(wave) for wave in (before, after))
    pairs = PairedReports(one, two, before, after)
    plain, paired = (same_distribution_test(one, two, "b", paired=p) for p in (None, pairs))
    assert paired.statistic > plain.statistic
    swapped = same_distribution_test(two, one, "b", paired=pairs)
    assert swapped.statistic == pytest.approx(paired.statistic)
    other = FrequencyEstimator(identity()).fit(before)
    with pytest.raises(ValueError, match="two other estimators"):
        same_distribution_test(other, one, "b", paired=pairs)


def test_combinations_that_are_no_cells_are_refused():
    mechanism = Mechanism.from_matrix(grr(6), (0, 1), [("x", 0), ("x", 1), ("y", 0)]).named(
        None, [("ill", True), ("a", False), ("b", False)]
    )
    with pytest.raises(ValueError, match="categories='product'"):
        fit(mechanism, [9] * 6).test_independence("a", "b")
    blind = Mechanism.from_matrix(np.kron(np.ones((1, 2)), grr(3)), (0, 1), (0, 1, 2))
    with pytest.raises(ValueError, match="is not identifiable from these"):
        fit(blind.named(None, [("s", True), ("u", False)]), [9] * 3).test_independence("s", "u")


# -- does the population fit the public table? ----------------------------------------------------


def public_and_reports(rng, n_public, n, mechanism, population=None):
    distribution = np.array([0.02, 0.05, 0.1, 0.03, 0.2, 0.05, 0.2, 0.05, 0.1, 0.1, 0.07, 0.03])
    counts = rng.multinomial(n_public, distribution)
    public = JointDistribution(counts.reshape(2, 6), mechanism.secrets, mechanism.values)
    population = distribution if population is None else population
    reports = rng.multinomial(n, mechanism.matrix @ population)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return fit(mechanism, reports, public=public)


@pytest.mark.parametrize("n", [1_000, 1_000_000])
def test_the_public_tables_own_error_raises_no_alarm(n):
    """60 samples of 3,000 public records: the sum of statistics is one; false alarm 1e-4."""
    rng = np.random.default_rng(5)
    mechanism = GRRSanitizer(2.0, sensitive="ill", categories="product").fit(ROWS).mechanism_
    found = [public_and_reports(rng, 3_000, n, mechanism).drift_test() for _ in range(60)]
    least, most = chi2.ppf([5e-5, 1 - 5e-5], sum(test.degrees_of_freedom for test in found))
    assert least <= sum(test.statistic for test in found) <= most


def test_rare_cells_of_the_public_table_raise_no_alarm():
    """200 samples, a million reports without noise: at most .05 below p = .05, .001 below .001."""
    rng = np.random.default_rng(7)
    distribution = np.full(12, 1e-3)  # one public record in the mean
    distribution[[0, 6]] = 0.495
    mechanism, below = identity(), []
    for _ in range(200):
        counts = rng.multinomial(1_000, distribution).reshape(2, 6)
        public = JointDistribution(counts, mechanism.secrets, mechanism.values)
        channel = Channel(np.eye(12), public.smoothed().ravel())
        sent = rng.multinomial(1_000_000, distribution).astype(float)
        below.append(drift_of(channel, sent, public.summary(), mechanism).p_value)
    assert np.mean(np.array(below) < 0.05) <= 0.12  # false alarm 1e-4
    assert np.mean(np.array(below) < 0.001) <= 0.02  # 1e-4


def test_another_population_is_named_with_what_it_leaks():
    """The distribution of S may change; that of U given S may not."""
    rng = np.random.default_rng(6)
    sanitizer = SRRSanitizer(2.0, sensitive="ill", categories="product")
    table = np.array([0.02, 0.05, 0.1, 0.03, 0.2, 0.05, 0.2, 0.05, 0.1, 0.1, 0.07, 0.03])
    table = table.reshape(2, 6)
    within = table / table.sum(axis=1, keepdims=True)
    same = (np.array([[0.7], [0.3]]) * within).ravel()
    fitted = sanitizer.fit(ROWS, sample_weight=np.round(10_000 * table.ravel()))
    found = public_and_reports(rng, 10_000, 40_000, fitted.mechanism_, same).drift_
    assert found.p_value > 1e-3 and found.degrees_of_freedom == 10
    moved = within.copy()
    moved[0] = [0.3, 0.3, 0.3, 0.1 / 3, 0.1 / 3, 0.1 / 3]
    population = (np.array([[0.5], [0.5]]) * moved).ravel()
    sent = rng.multinomial(40_000, fitted.mechanism_.matrix @ population)
    bare = Mechanism.from_matrix(
        fitted.mechanism_.matrix, fitted.mechanism_.secrets, fitted.mechanism_.values
    ).named(None, fitted.mechanism_.columns)  # SRR's own promise holds for every population
    with pytest.warns(UserWarning, match=r"differ from the public table in 'a'"):
        estimator = fit(bare, sent, public=fitted.joint_)
    assert FrequencyEstimator(fitted, encode="symbol").fit(range(12), None, sent).drift_ is not None
    found = estimator.drift_
    true = fitted.mechanism_.leakage(population.reshape(2, 6))
    assert found.columns[0] == "a" and found.leakage == pytest.approx(true, rel=0.3)
    assert found.leakage_at_least <= true <= found.leakage_at_most
    everywhere = fit(fitted.mechanism_, sent, public=fitted.joint_).drift_
    assert everywhere.leakage_at_most <= fitted.mechanism_.claims.eps_worst_case


@pytest.mark.slow
def test_leakage_elsewhere_is_between_the_bounds_and_said_as_it_is():
    """25 populations without people in some cells: a bound fails in at most 5 %; 6: 1e-3."""
    rng = np.random.default_rng(8)
    table = np.array([[30.0, 20, 10, 5], [10, 20, 30, 40]])
    rows = [[s, u] for s in ("no", "yes") for u in range(4)]
    sanitizer = IRSanitizer(1.0, sensitive=0).fit(rows, sample_weight=100 * table.ravel())
    mechanism, outside = sanitizer.mechanism_, 0
    for _ in range(25):
        population = rng.dirichlet(np.full(8, 0.3))
        sent = rng.multinomial(20_000, mechanism.matrix @ population)
        with pytest.warns(UserWarning, match="respondents differ from the public table") as said:
            found = fit(sanitizer, sent).drift_
        true = mechanism.leakage(population.reshape(2, 4))
        outside += not found.leakage_at_least <= true <= found.leakage_at_most
        words = str(said[0].message)
        assert "up to" not in words and len(words) <= 250
        assert ("may be unbounded" in words) == np.isinf(found.leakage_at_most)
        assert ("AllDistributions()" in words) == (found.leakage > 2.0)
    assert outside <= 6


# -- reports that no distribution of records makes ------------------------------------------------


def test_raw_records_are_told_from_reports():
    X = np.array([["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]], dtype=object)
    counts = [50, 100, 250, 600]
    sanitizer = SRRSanitizer(eps=1.0, sensitive=0, random_state=0).fit(X, sample_weight=counts)
    estimator = FrequencyEstimator(sanitizer.mechanism_, encode="cells")
    with pytest.warns(UserWarning, match="no distribution of records explains") as said:
        estimator.fit(X, sample_weight=counts)
    assert said[0].filename == __file__
    records = np.repeat(X, counts, axis=0)
    estimator.fit(sanitizer.transform(records))  # no warning, which would be an error here


@pytest.mark.parametrize("n", [1, 5, 12])
def test_contradictions_are_rarely_false_at_every_number_of_reports(n):
    """Exactly, over all counts, where symbols are rare, and at a distribution at the boundary."""
    matrix = np.array([[0.9, 0.5], [0.0995, 0.499], [0.0005, 0.001]])
    channel, report = Channel(matrix, np.array([0.01, 0.99])), matrix @ [1.0, 0.0]
    for level in (0.2, 0.02):
        alarms = 0.0
        for first, second in np.ndindex(n + 1, n + 1):
            counts = np.array([first, second, n - first - second], dtype=float)
            if counts[2] >= 0.0 and contradicts(channel, counts, level):
                alarms += multinomial.pmf(counts, n, report)
        assert 0.0 < alarms <= level


def test_thousands_of_rare_symbols_are_no_contradiction():
    """A chi-squared approximation would see one in each of these samples."""
    rng = np.random.default_rng(0)
    matrix = np.vstack([0.9 * np.array([[0.8, 0.3], [0.2, 0.7]]), np.full((3_000, 2), 0.1 / 3_000)])
    mechanism = Mechanism.from_matrix(matrix, (0, 1), (0,))
    for n in (100, 10_000):  # a warning would be an error
        fit(mechanism, rng.multinomial(n, mechanism.matrix @ [0.4, 0.6]))
