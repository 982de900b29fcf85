"""Hypotheses about columns of blocks: those of raw records where reports state them, and plans."""

import numpy as np
import pandas as pd
import pytest
from block_tables import KNOWN, expected_reports, fitted_blocks, wide_table
from scipy.stats import chi2, chi2_contingency, ncx2, power_divergence
from sklearn.base import clone

from skrldp import BlockEstimator, BlockSanitizer, FrequencyEstimator, GRRSanitizer
from skrldp.estimation import (
    Independence,
    SameDistribution,
    StatedDistribution,
    expected_power,
    likelihood_ratio_test,
)


@pytest.fixture(scope="module")
def stated():
    """Reports that are as good as the records, the records, and the block that each reported."""
    sanitizer = BlockSanitizer(
        eps=25.0,
        sensitive="ill",
        blocks="pairs",
        base=GRRSanitizer(),
        categories=KNOWN,
        random_state=0,
    ).fit(wide_table())
    people = wide_table(3_000, seed=1)
    reports = sanitizer.transform(people)
    blocks = [set(block) | {"ill"} for block in sanitizer.manifest_.blocks]
    of = [blocks[k] for k in reports["block"]]
    return BlockEstimator(sanitizer).fit(reports), people, of


def g_statistic(rows, columns):
    found = chi2_contingency(pd.crosstab(rows, columns), lambda_="log-likelihood", correction=False)
    return found.statistic, found.pvalue, found.dof


@pytest.mark.parametrize(
    ("one", "two"), [("ill", "age"), ("ill", "home"), ("job", "age")], ids="-".join
)
def test_of_records_the_statistic_is_that_of_those_who_reported_both(one, two, stated):
    """A secret and a column stand in two blocks, a pair of columns in one."""
    estimator, people, of = stated
    own = people[[{one, two} <= columns for columns in of]]
    found = likelihood_ratio_test(Independence(one, two), estimator, n_simulations=0)
    assert (found.statistic, found.p_value, found.degrees_of_freedom) == pytest.approx(
        g_statistic(own[one], own[two]), rel=1e-3
    )
    assert found.n_reports == len(own)


def test_of_records_distributions_are_compared_with_others_and_with_stated_ones(stated):
    estimator, people, of = stated
    shares = {"no": 0.7, "yes": 0.3}
    found = likelihood_ratio_test(StatedDistribution("ill", shares), estimator)
    counts = people["ill"].value_counts()[list(shares)]
    expected = power_divergence(counts, 3_000 * np.array(list(shares.values())), lambda_=0)
    assert (found.statistic, found.p_value) == pytest.approx(tuple(expected), rel=1e-3)
    others = wide_table(1_000, seed=2)[["ill", "job"]]
    categories = {name: KNOWN[name] for name in others}
    whole = GRRSanitizer(25.0, sensitive="ill", categories=categories, random_state=0).fit(others)
    second = FrequencyEstimator(whole).fit(whole.transform(others))
    found = likelihood_ratio_test(SameDistribution("job"), estimator, second)
    own = people[["job" in columns for columns in of]]
    both = pd.concat([own.assign(wave=0), others.assign(wave=1)])
    assert (found.statistic, found.p_value, found.degrees_of_freedom) == pytest.approx(
        g_statistic(both["job"], both["wave"]), rel=1e-3
    )


@pytest.mark.parametrize(
    "hypothesis", [Independence("ill", "home"), SameDistribution(["ill", "age"])], ids=str
)
def test_the_power_is_planned_by_the_statistic_of_the_expected_reports(hypothesis):
    sanitizer = fitted_blocks()
    tables = [wide_table(seed=3, young=1.1), wide_table()][: hypothesis.n_populations]
    joints = [[one.joint_ for one in clone(sanitizer).fit(own).sanitizers_] for own in tables]
    several, n = len(tables) > 1, 50_000 if len(tables) > 1 else 10_000
    planned = expected_power(
        hypothesis,
        sanitizer,
        [n, n] if several else n,
        distribution=joints if several else joints[0],
    )
    fits = []
    for own in tables:
        rows = expected_reports(sanitizer, own, n=100 * n)
        fits.append(BlockEstimator(sanitizer).fit(rows, sample_weight=rows["count"]))
    found = likelihood_ratio_test(hypothesis, *fits, n_simulations=0)
    freedom = found.degrees_of_freedom
    power = ncx2.sf(chi2.isf(0.05, freedom), freedom, found.statistic / 100.0)
    assert planned == pytest.approx(power, rel=0.02)
    assert 0.1 < planned < 0.99


def test_what_blocks_do_not_tell_is_refused(stated):
    estimator, _, _ = stated
    together = Independence("age", "job", given="home")
    for ask in (
        lambda: likelihood_ratio_test(together, estimator),
        lambda: expected_power(together, fitted_blocks(), 100),
    ):
        with pytest.raises(ValueError, match=r"no block has .*'home', 'age', 'job'.*Design with"):
            ask()
    with pytest.raises(ValueError, match="no column 'x'; the columns are"):
        likelihood_ratio_test(Independence("age", "x"), estimator)
    sanitizer = fitted_blocks()
    number = [set(block) for block in sanitizer.manifest_.blocks].index({"age", "job"})
    few = BlockEstimator(sanitizer).fit(pd.DataFrame({"block": [number], "report": [0]}))
    with pytest.raises(ValueError, match=r"no report is of a block .*'age', 'home'.*Wait for"):
        likelihood_ratio_test(Independence("age", "home"), few)
    with pytest.raises(ValueError, match="a manifest alone"):
        expected_power(Independence("age", "home"), sanitizer.manifest_, 100)
