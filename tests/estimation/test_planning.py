"""Errors that are expected before there are reports are those of the reports."""

import numpy as np
import pytest
from block_tables import fitted_blocks, wide_table
from fits_of_counts import DISTRIBUTION, FINE, fit_distribution, sanitizers
from sklearn.base import clone

from skrldp import BlockEstimator, JointDistribution, Mechanism, expected_std_error
from skrldp.estimation import expected_std_error_of_mean, expected_std_errors_of_targets
from skrldp.model_selection import neg_std_error_scorer
from skrldp.targets import Contrast, Marginal, Mean


@pytest.mark.parametrize(
    ("name", "asked"),
    [("grr", {"columns": 1, "by": 0}), ("polyopt", {"part": "sensitive"}), ("mse", {})],
)
def test_the_estimator_states_what_was_expected(name, asked):
    mechanism = sanitizers()[name].mechanism_
    found = expected_std_error(mechanism, FINE, distribution=DISTRIBUTION, **asked)
    public = JointDistribution(
        np.round(FINE * DISTRIBUTION).astype(int), mechanism.secrets, mechanism.values
    )
    stated = fit_distribution(mechanism, DISTRIBUTION, public=public).marginal(**asked)
    known = np.isfinite(stated.std_error)
    assert found[known] == pytest.approx(stated.std_error[known], rel=1e-4)
    assert np.isinf(found[np.isnan(stated.unbiased)]).all()
    assert expected_std_error(mechanism, FINE / 4, distribution=DISTRIBUTION, **asked)[known] == (
        pytest.approx(2.0 * found[known])
    )


def test_means_and_targets_are_planned_alike():
    sanitizer = sanitizers()["srr"]
    alone = expected_std_error_of_mean(sanitizer, 1_000, 1)
    groups = expected_std_error_of_mean(sanitizer, 1_000, 1, by=0)
    targets = [Mean(1), Mean(1, by=0), Marginal(part="sensitive")]
    found = list(expected_std_errors_of_targets(sanitizer, 1_000, targets).values())
    assert found[:3] == pytest.approx([alone, *groups])
    assert found[3:] == pytest.approx(expected_std_error(sanitizer, 1_000, part="sensitive"))
    gap = Contrast(Mean(1, by=0), {"yes": 1.0, "no": -1.0})
    (error,) = expected_std_errors_of_targets(sanitizer, 1_000, gap).values()
    assert error < groups.sum()


@pytest.mark.parametrize("asked", [{"part": "sensitive"}, {"columns": 1, "by": 0}])
def test_a_design_effect_multiplies_the_variance_of_the_records_alone(asked):
    sanitizer = sanitizers()["srr"]
    truth = Mechanism.from_matrix(np.eye(6), ("no", "yes"), (1, 2, 3))
    truth = truth.named(None, [(0, True), (1, False)])
    raw = expected_std_error(truth, 500, distribution=sanitizer.joint_, **asked)
    plain, three = (
        expected_std_error(sanitizer, 500, design_effect=effect, **asked) for effect in (1.0, 3.0)
    )
    assert three**2 - plain**2 == pytest.approx(2.0 * raw**2, rel=1e-6)
    mean = [
        expected_std_error_of_mean(sanitizer, 500, 1, design_effect=effect) for effect in (1, 3)
    ]
    own = expected_std_error_of_mean(truth, 500, 1, distribution=sanitizer.joint_)
    assert mean[1] ** 2 - mean[0] ** 2 == pytest.approx(2.0 * own**2, rel=1e-6)


def test_a_million_cells_are_planned_by_their_structure():
    """The secret is randomised response of a thousand values; each share has one error."""
    names = range(1_000)
    blocks = (0.4, 0.1 / 999, 0.2 / 999, 0.3 / 999**2)
    mechanism = Mechanism.from_blocks(blocks, names, names)
    uniform = np.full((1_000, 1_000), 1e-6)
    found = expected_std_error(mechanism, 10_000, part="sensitive", distribution=uniform)
    p, q = 0.5, 0.5 / 999  # of the reported secret
    share = 1.0 / 1_000
    report = q + (p - q) * share
    expected = np.sqrt(report * (1 - report) / 10_000) / (p - q)
    assert found == pytest.approx(np.full(1_000, expected), rel=1e-3)


PRIVATE = Mechanism.from_matrix(np.full((2, 4), 0.5), (0, 1), (0, 1)).to_json(public=False)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 0}, "n=0 must be an integer of at least 1"),
        ({"distribution": np.ones((3, 2)) / 6}, r"an array of shape \(2, 3\)"),
        ({"columns": 7}, "column 7 does not exist"),
        ({"mechanism": PRIVATE}, "does not contain the distribution"),
        ({"design_effect": 0}, "design_effect"),
    ],
)
def test_wrong_plans_are_refused(given, message):
    asked = {"mechanism": sanitizers()["srr"], "n": 100} | given
    with pytest.raises(ValueError, match=message):
        expected_std_error(**asked)


# -- blocks ---------------------------------------------------------------------------------------

TABLE = wide_table()
ASKED = (("age", None), (["age", "job"], None), ("job", "home"), (["ill", "home"], None))


@pytest.mark.slow
def test_planned_errors_of_blocks_are_stated_and_are_the_spread():
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


def test_another_distribution_of_blocks_has_other_errors():
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
        ({"columns": ["age", "home", "job"]}, "no block contains the columns"),
        ({"columns": "age", "distribution": [0.5, 0.5]}, "one for each block"),
        ({"columns": "age", "design_effect": 2.0}, "design_effect needs a single mechanism"),
    ],
)
def test_plans_of_blocks_that_are_wrong_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        expected_std_error(fitted_blocks(), 100, **options)
