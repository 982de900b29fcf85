"""Standard errors of estimates from blocks, before anybody is asked."""

import numpy as np
import pytest
from block_tables import fitted_blocks, wide_table
from sklearn.base import clone

from skrldp import (
    BlockEstimator,
    FrequencyEstimator,
    expected_std_error,
)
from skrldp.estimation import expected_std_error_of_mean
from skrldp.model_selection import neg_std_error_scorer

TABLE = wide_table()
ASKED = (("age", None), (["age", "job"], None), ("job", "home"), (["ill", "home"], None))


@pytest.mark.slow
def test_planned_errors_are_stated_and_are_the_spread():
    """40 waves: spreads, each of several shares together, within 30 %; false alarms below 1e-4."""
    sanitizer, n = clone(fitted_blocks()).fit(TABLE), 4_000
    planned = [expected_std_error(sanitizer, n, columns, by=by) for columns, by in ASKED]
    of_mean = expected_std_error_of_mean(sanitizer, n, "age", by="home")
    values, stated = [], []
    for seed in range(40):
        sanitizer.random_state = seed
        wave = TABLE.sample(n, replace=True, random_state=seed)
        estimator = BlockEstimator(sanitizer).fit(sanitizer.transform(wave))
        found = [estimator.marginal(columns, by=by) for columns, by in ASKED]
        found.append(estimator.mean("age", by="home"))
        values.append([one.unbiased for one in found])
        stated.append([one.std_error for one in found])
    for place, expected in enumerate([*planned, of_mean]):
        errors = np.mean([one[place] for one in stated], axis=0)
        np.testing.assert_allclose(errors, expected, rtol=0.1)
        spread = np.std([one[place] for one in values], axis=0)
        assert np.sqrt((spread**2).sum() / (expected**2).sum()) == pytest.approx(1.0, abs=0.3)


def test_pairs_have_the_errors_of_the_sanitizer():
    sanitizer = fitted_blocks()
    for error, block in zip(sanitizer.std_error_, sanitizer.blocks_, strict=True):
        found = expected_std_error(sanitizer, 100, list(block))
        assert np.sqrt((found**2).sum()) == pytest.approx(error / 10.0)
    four = expected_std_error(sanitizer, 400, "age")
    np.testing.assert_allclose(four, expected_std_error(sanitizer, 100, "age") / 2.0)
    assert expected_std_error(sanitizer, 100, part="sensitive").shape == (2,)


def test_another_distribution_has_other_errors():
    sanitizer, other = fitted_blocks(), wide_table(3_000, seed=3, young=5.0)
    scorer = neg_std_error_scorer("age", n=500, summary="rms")
    public, moved = scorer(sanitizer, TABLE), scorer(sanitizer, other)
    errors = expected_std_error(sanitizer, 500, "age")
    assert public == pytest.approx(-np.sqrt((errors**2).mean()))
    refitted = clone(sanitizer).fit(other)
    joints = [one.joint_ for one in refitted.sanitizers_]
    for mechanism in (sanitizer, sanitizer.manifest_):
        errors = expected_std_error(mechanism, 500, "age", distribution=joints)
        assert moved == pytest.approx(-np.sqrt((errors**2).mean()))
    assert moved != pytest.approx(public, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no block contains the whole record.*columns="),
        ({"columns": ["age", "nothing"]}, "column 'nothing' does not exist"),
        ({"columns": ["age", "home", "job"]}, "no block contains the columns"),
        ({"columns": "age", "n": 0}, "n=0 must be an integer"),
        ({"columns": "age", "distribution": [0.5, 0.5]}, "one for each block"),
        ({"columns": "age", "mechanism": "manifest"}, "does not contain the distribution"),
    ],
)
def test_what_cannot_be_planned_is_refused(options, message):
    sanitizer = fitted_blocks()
    own = {"n": 100} | options
    if own.pop("mechanism", None):
        sanitizer = sanitizer.manifest_.to_json(public=False)
    with pytest.raises(ValueError, match=message):
        expected_std_error(sanitizer, **own)


def test_other_estimators_point_to_the_one_for_blocks():
    with pytest.raises(TypeError, match="BlockEstimator reads the reports of blocks"):
        FrequencyEstimator(fitted_blocks()).fit([[0, 0]])
