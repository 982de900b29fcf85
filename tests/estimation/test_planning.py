"""Errors that are expected before there are reports are those of the reports."""

import numpy as np
import pytest
from fits_of_counts import DISTRIBUTION, FINE, fit_distribution, sanitizers

from skrldp import JointDistribution, Mechanism, expected_std_error
from skrldp.estimation import expected_std_error_of_mean, expected_std_errors_of_targets
from skrldp.targets import Contrast, Marginal, Mean


@pytest.mark.parametrize("name", ["grr", "polyopt", "mse"])
@pytest.mark.parametrize("asked", [{}, {"part": "sensitive"}, {"columns": 1, "by": 0}])
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
