"""Tests of hypotheses agree with those of raw records, and keep their size and power with noise."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import chi2_contingency, power_divergence

from skrldp import FrequencyEstimator, GRRSanitizer, JointDistribution, Mechanism, SRRSanitizer
from skrldp.estimation import (
    Independence,
    SameDistribution,
    StatedDistribution,
    expected_power,
    likelihood_ratio_test,
)


def table(n, rng, effect=0.0):
    s, a = rng.integers(0, 2, n), rng.integers(0, 3, n)
    b = (rng.random(n) < 0.3 + effect * a + 0.2 * s).astype(int)
    return pd.DataFrame({"s": s, "a": a, "b": b})


def exact(effect=0.0):
    """The distribution of the records, (2, 6): secrets by (a, b)."""
    yes = 0.3 + effect * np.arange(3) + 0.2 * np.arange(2)[:, None]
    return np.stack([1.0 - yes, yes], axis=2).reshape(2, 6) / 6.0


@pytest.fixture(scope="module")
def stating():
    """Reports that are as good as the records."""
    return GRRSanitizer(eps=25.0, sensitive="s", random_state=0).fit(
        table(3_000, np.random.default_rng(0))
    )


@pytest.fixture(scope="module")
def noisy():
    return SRRSanitizer(eps=2.0, sensitive="s").fit(table(3_000, np.random.default_rng(0)))


def estimate(sanitizer, counts):
    mechanism = sanitizer.mechanism_
    return FrequencyEstimator(sanitizer).fit(range(mechanism.shape[0]), sample_weight=counts)


def draw(sanitizer, cells, n, rng):
    report = sanitizer.mechanism_.matrix @ cells.ravel()
    return estimate(sanitizer, rng.multinomial(n, report / report.sum()))


def g_statistic(rows, columns):
    found = chi2_contingency(pd.crosstab(rows, columns), lambda_="log-likelihood", correction=False)
    return found.statistic, found.pvalue, found.dof


def test_of_records_the_statistics_are_the_usual_ones(stating):
    people = table(3_000, np.random.default_rng(1), effect=0.02)
    others = table(2_000, np.random.default_rng(2))
    one, two = (FrequencyEstimator(stating).fit(stating.transform(own)) for own in (people, others))
    found = likelihood_ratio_test(Independence("a", "b"), one)
    assert (found.statistic, found.p_value, found.degrees_of_freedom) == pytest.approx(
        g_statistic(people["a"], people["b"]), rel=1e-3
    )
    found = likelihood_ratio_test(Independence("a", "b", given="s"), one)
    parts = [g_statistic(own["a"], own["b"]) for _, own in people.groupby("s")]
    assert found.statistic == pytest.approx(sum(part[0] for part in parts), rel=1e-3)
    assert found.degrees_of_freedom == 4
    shares = {0: 0.3, 1: 0.3, 2: 0.4}
    found = likelihood_ratio_test(StatedDistribution("a", shares), one)
    expected = power_divergence(
        people["a"].value_counts().sort_index(), 3_000 * np.array([0.3, 0.3, 0.4]), lambda_=0
    )
    assert (found.statistic, found.p_value) == pytest.approx(tuple(expected), rel=1e-3)
    found = likelihood_ratio_test(SameDistribution(["a", "b"]), one, two)
    both = pd.concat([people.assign(wave=0), others.assign(wave=1)])
    assert (found.statistic, found.p_value, found.degrees_of_freedom) == pytest.approx(
        g_statistic(both["a"].astype(str) + both["b"].astype(str), both["wave"]), rel=1e-3
    )
    assert found.n_reports == 5_000


def by_em(mechanism, counts, steps=20_000):
    """Greatest likelihood if a and b are independent, by EM with the product of the margins."""
    shape, cells = (2, 3, 2), np.full(12, 1.0 / 12)
    for _ in range(steps):
        report = mechanism.matrix @ cells
        of_cells = (cells * (mechanism.matrix.T @ (counts / report))).reshape(shape)
        of_cells = of_cells / of_cells.sum()
        pairs = of_cells.sum(axis=0)
        product = np.outer(pairs.sum(axis=1), pairs.sum(axis=0))
        cells = (of_cells / pairs * product).ravel()
    return float(counts @ np.log(mechanism.matrix @ cells))


@pytest.mark.parametrize("seed", range(3))
def test_the_greatest_likelihood_under_independence_is_that_of_em(seed, noisy):
    rng = np.random.default_rng(seed)
    estimator = draw(noisy, rng.dirichlet(np.ones(12)), 3_000, rng)
    counts = estimator.counts_
    free = 3_000 * estimator.score(range(len(counts)), sample_weight=counts)
    expected = 2.0 * (free - by_em(noisy.mechanism_, counts))
    found = likelihood_ratio_test(Independence("a", "b"), estimator, n_simulations=0)
    assert found.statistic == pytest.approx(expected, abs=1e-2)


@pytest.mark.parametrize(
    "hypothesis",
    [
        Independence("a", "b"),
        Independence("a", "b", given="s"),
        StatedDistribution("b", {1: 0.4, 0: 0.6}),
        SameDistribution("b"),
    ],
    ids=str,
)
def test_size_and_power_are_as_stated(hypothesis, noisy):
    """Each share of 100 runs is within 3.9 of its spread: one false alarm in 10,000."""
    rng, runs, n = np.random.default_rng(0), 100, 20_000
    for cells in (exact(), exact(0.03)):
        several = hypothesis.n_populations == 2
        rejected = 0
        for _ in range(runs):
            others = [draw(noisy, exact(), n, rng)] if several else []
            found = likelihood_ratio_test(
                hypothesis, draw(noisy, cells, n, rng), *others, n_simulations=0
            )
            rejected += found.p_value <= 0.05
        planned = expected_power(
            hypothesis,
            noisy,
            [n, n] if several else n,
            distribution=[cells, exact()] if several else cells,
        )
        assert abs(rejected / runs - planned) < 3.9 * np.sqrt(planned * (1 - planned) / runs) + 0.01


def test_near_zero_shares_the_p_value_is_simulated(noisy):
    """Half of the categories never occur, where the chi-squared distribution rejects too rarely."""
    rng = np.random.default_rng(3)
    cells = exact().reshape(2, 3, 2).copy()
    cells[:, 0] = 0.0
    cells /= cells.sum()
    estimator = draw(noisy, cells, 2_000, rng)
    found = likelihood_ratio_test(Independence("a", "b"), estimator)
    assert 0 < found.n_simulations <= 200
    few = likelihood_ratio_test(Independence("a", "b"), estimator, n_simulations=5)
    assert few == likelihood_ratio_test(Independence("a", "b"), estimator, n_simulations=5)
    rejected = [
        likelihood_ratio_test(
            Independence("a", "b"), draw(noisy, cells, 2_000, rng), n_simulations=19
        ).p_value
        <= 0.05
        for _ in range(20)
    ]
    assert sum(rejected) <= 5  # of 20 with probability .05: a false alarm in 3,000


def test_drawing_ends_once_a_tenth_of_the_simulations_reach_the_statistic(noisy):
    """Of a true hypothesis: p-values are then that tenth over the number drawn."""
    estimator = draw(noisy, exact(), 2_000, np.random.default_rng(1))
    found = likelihood_ratio_test(Independence("a", "b"), estimator, n_simulations=30)
    assert found.n_simulations < 30
    assert found.p_value == pytest.approx(3 / found.n_simulations)


def test_zeros_of_cells_decide_as_well_whether_the_p_value_is_simulated(noisy, monkeypatch):
    """Shares of s are half and half, but a third of the cells never occurs."""
    monkeypatch.setattr("skrldp.estimation.hypotheses._test._SIMULATIONS", 5)
    cells = without_a_third()
    halves = StatedDistribution("s", {0: 0.5, 1: 0.5})
    rng = np.random.default_rng(0)
    assert likelihood_ratio_test(halves, draw(noisy, cells, 2_000, rng)).n_simulations > 0
    assert likelihood_ratio_test(halves, draw(noisy, exact(), 200_000, rng)).n_simulations == 0


def without_a_third():
    cells = exact().reshape(2, 3, 2).copy()
    cells[:, 0] = 0.0
    return cells / cells.sum()


def test_the_same_distribution_is_the_best_one_of_all_stated_ones(noisy):
    """A sample in which a search on logarithms stayed at a zero, .03 below the greatest."""
    rng = np.random.default_rng(9)
    estimators = [draw(noisy, without_a_third(), 5_000, rng) for _ in range(2)]

    def both(share):
        stated = StatedDistribution("s", {0: 1.0 - share, 1: share})
        found = [likelihood_ratio_test(stated, one, n_simulations=0) for one in estimators]
        return sum(one.statistic for one in found)

    best = minimize_scalar(both, bounds=(0.4, 0.6), method="bounded", options={"xatol": 2e-3})
    found = likelihood_ratio_test(SameDistribution("s"), *estimators, n_simulations=0)
    assert found.statistic == pytest.approx(best.fun, abs=1e-2)


def test_bad_input_is_refused(noisy, stating):
    estimator = draw(noisy, exact(), 1_000, np.random.default_rng(0))
    for hypothesis, others, message in (
        (Independence("a", "c"), (), "no column 'c'"),
        (Independence("a", "a"), (), "each once"),
        (Independence("a", "b"), (estimator,), "about 1 populations, but there are reports of 2"),
        (SameDistribution("a"), (), "about 2 populations"),
        (StatedDistribution("a", {7: 1.0}), (), "7 is no category of 'a'"),
        (StatedDistribution("a", {0: 0.7}), (), "have the sum 1, got 0.7"),
        (StatedDistribution("a", {0: 1.5, 1: -0.5}), (), "that of 1 must be a number >= 0, got -0"),
        (StatedDistribution("a", {0: "all"}), (), "that of 0 must be a number >= 0, got 'all'"),
        (StatedDistribution("a", [0.3, 0.7]), (), r"a dict such as \{0: 0.5, .*got list"),
        (Independence(None, "b"), (), "two columns are needed, got None and 'b'"),
    ):
        with pytest.raises(ValueError, match=message):
            likelihood_ratio_test(hypothesis, estimator, *others)
    for options in (
        {"n_simulations": -1},
        {"n_simulations": 1.5},
        {"random_state": None},
        {"random_state": -1},
    ):
        with pytest.raises(ValueError, match="must be a whole number"):
            likelihood_ratio_test(Independence("a", "b"), estimator, **options)
    for wrong in ("independence", Independence, estimator):
        with pytest.raises(TypeError, match=r"hypothesis must be Independence\(\.\.\.\)"):
            likelihood_ratio_test(wrong, estimator)
        with pytest.raises(TypeError, match=r"hypothesis must be Independence\(\.\.\.\)"):
            expected_power(wrong, noisy, 100, distribution=[1])
    with pytest.raises(TypeError, match="FrequencyEstimators or BlockEstimators, got list"):
        likelihood_ratio_test(Independence("a", "b"), [1, 2])
    counts = JointDistribution(np.ones((2, 6)), *(noisy.joint_.secrets, noisy.joint_.values))
    with_prior = FrequencyEstimator(noisy, prior=counts).fit([0, 1])
    with pytest.raises(ValueError, match="prior or restrict_to"):
        likelihood_ratio_test(Independence("a", "b"), with_prior)
    with pytest.raises(ValueError, match="level=2"):
        expected_power(Independence("a", "b"), noisy, 100, level=2)
    few = SRRSanitizer(eps=2.0, sensitive=0).fit([[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]] * 9)
    with pytest.raises(ValueError, match='categories="product"'):
        likelihood_ratio_test(Independence(1, 2), FrequencyEstimator(few).fit([[0, 0, 0]] * 9))


def test_tables_that_the_reports_do_not_determine_are_refused(noisy):
    tells_secret = np.repeat([[0.7, 0.3], [0.3, 0.7]], 6, axis=1)
    own = noisy.mechanism_
    mechanism = Mechanism.from_matrix(tells_secret, own.secrets, own.values)
    mechanism = mechanism.named(None, own.columns)
    estimator = FrequencyEstimator(mechanism).fit([0, 1, 1])
    with pytest.raises(ValueError, match="do not determine the shares of 'a', 'b'"):
        likelihood_ratio_test(Independence("a", "b"), estimator)


def test_a_test_reads_as_a_sentence(noisy):
    found = likelihood_ratio_test(
        Independence("a", "b"), draw(noisy, exact(0.1), 40_000, np.random.default_rng(0))
    )
    assert str(found).startswith("40,000 reports contradict that 'a' and 'b' are independent (p = ")
    assert "2 degrees of freedom" in found._repr_html_()
