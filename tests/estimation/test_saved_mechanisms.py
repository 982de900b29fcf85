"""A mechanism that was saved and read gives the estimates of the process that designed it."""

import numpy as np
import pandas as pd
import pytest

from skrldp import (
    BlockEstimator,
    BlockSanitizer,
    FrequencyEstimator,
    IRSanitizer,
    LikelihoodRatioSet,
    SurveyDesign,
)
from skrldp.estimation import expected_std_error


def people(n=1000, seed=0):
    """Rows of an unbalanced table, and a weight of each."""
    rng = np.random.default_rng(seed)
    ill = np.where(rng.random(n) < 0.2, "yes", "no")
    age = np.where(rng.random(n) < np.where(ill == "yes", 0.7, 0.2), "old", "young")
    work = rng.choice(["none", "part", "full"], n, p=[0.05, 0.15, 0.8])
    table = pd.DataFrame({"ill": ill, "age": age, "work": work})
    return table.assign(weight=rng.integers(1, 9, n) / 4)


def of_survey():
    around = LikelihoodRatioSet(radius="asymptotic")
    sanitizer = IRSanitizer(eps=1.5, uncertainty=around, sensitive="ill", random_state=0)
    known = [["no", "yes"], ["old", "young"], ["full", "none", "part"]]
    return sanitizer.set_params(survey=SurveyDesign("weight"), categories=known).fit(people())


def of_blocks():
    table = people().drop(columns="weight")
    known = {name: sorted(set(table[name])) for name in table}
    sanitizer = BlockSanitizer(eps=1.0, sensitive="ill", blocks="singles", categories=known)
    return sanitizer.set_params(random_state=0).fit(table)


def numbers_of(source, reports):
    """All that is estimated from reports, as texts that show every bit."""
    if reports.shape[1] == 2:
        fitted = BlockEstimator(source).fit(reports)
        shares = [fitted.marginal("ill"), fitted.marginal("work", by="ill")]
    else:
        fitted = FrequencyEstimator(source, encode="symbol").fit(reports)
        shares = [fitted.marginal("ill"), fitted.marginal("age", by="ill"), fitted.marginal()]
    test = fitted.drift_test()
    found = [test.statistic, test.p_value, test.leakage, test.leakage_at_least]
    for one in shares:
        found += [*one.estimate, *one.std_error, *one.confidence_interval().ravel()]
    found += list(expected_std_error(source, 1000, "ill"))
    return [float(number).hex() for number in found]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:respondents|those who")
@pytest.mark.parametrize("design", [of_survey, of_blocks])
def test_estimates_are_the_same_bit_for_bit(design):
    sanitizer = design()
    if design is of_blocks:
        made, other = sanitizer.manifest_, people(700, seed=1).replace({"age": {"old": "young"}})
        reports = sanitizer.transform(other.drop(columns="weight")).to_numpy()
    else:
        made = sanitizer.mechanism_
        reports = made.sample(np.random.default_rng(2).integers(0, made.shape[1], 700), 3)
        reports = reports.astype(np.int64)[:, None]
    assert numbers_of(made.to_json(), reports) == numbers_of(sanitizer, reports)
