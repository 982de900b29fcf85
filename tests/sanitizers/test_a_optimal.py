"""AOptimalSanitizer attains known optima and states the errors that estimates will have.

Its variances are those of the estimator, weights favour their targets, and the optimality gap is
stated; each objective of PolyOptSanitizer is best by itself.
"""

import re

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations
from scipy.special import rel_entr

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    FrequencyEstimator,
    PolyOptSanitizer,
    RenyiBall,
    expected_std_error,
    privacy_report,
)
from skrldp.estimation import expected_std_errors_of_targets
from skrldp.targets import Contrast, Linear, Marginal, Mean

# Time limits are short here; a fit that meets one warns of it.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

COUNTS = np.array([[90, 40, 310], [400, 250, 140]])
EMPTY = np.array([[90, 0, 310], [400, 250, 140]])
FEW = {"uncertainty": RenyiBall(radius=0.01, region="lower")}  # vertices are quickly listed


def fitted(sanitizer, counts=COUNTS):
    rows = [[s, u] for s in range(len(counts)) for u in range(counts.shape[1])]
    return sanitizer.set_params(sensitive=0).fit(rows, sample_weight=counts.ravel())


def people(n_visits=(0, 1, 4)):
    rows = [(s, j, v) for s in ("no", "yes") for j in ("desk", "field") for v in n_visits]
    return pd.DataFrame(rows, columns=["ill", "job", "visits"])


# -- optima ---------------------------------------------------------------------------------------


def test_local_privacy_of_a_uniform_value_is_best_by_subsets():
    """Subset selection is best (Ye and Barg 2018): of one value of three, or two of four."""
    everywhere = {"observe": "nonsensitive", "uncertainty": AllDistributions()}
    one = fitted(AOptimalSanitizer(1.0, **everywhere), np.full((2, 3), 100))
    odds = np.exp(1.0)  # a randomised response, whose matrix has the eigenvalue (e - 1)/(e + 2)
    assert one.variances_.sum() == pytest.approx(2 / 3 * ((odds + 2) / (odds - 1)) ** 2, rel=1e-4)
    two = fitted(AOptimalSanitizer(0.3, **everywhere), np.full((2, 4), 100))
    # Each of the 6 pairs has probability 1/6, and M the threefold eigenvalue 4/3 tanh(eps/2)**2.
    assert two.variances_.sum() == pytest.approx(9 / 4 / np.tanh(0.15) ** 2, rel=1e-4)


# -- figures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "counts"), [("nonsensitive", COUNTS), ("sensitive", EMPTY), ("all", EMPTY)]
)
def test_variances_are_those_that_the_estimator_states(part, counts):
    sanitizer = fitted(AOptimalSanitizer(targets=part, **FEW), counts)
    errors = np.sqrt(sanitizer.variances_)
    expected = expected_std_error(sanitizer, 1, part=part)
    np.testing.assert_allclose(errors, expected.ravel(), 1e-6)
    mechanism, n = sanitizer.mechanism_, 10**10
    reports = np.round(n * (mechanism.matrix @ sanitizer.joint_.probabilities.ravel()))
    estimator = FrequencyEstimator(mechanism, public=sanitizer.joint_, encode="symbol")
    estimator.fit(range(len(reports)), sample_weight=reports)
    stated = estimator.marginal(part=part)
    assert np.isfinite(stated.unbiased).all()
    np.testing.assert_allclose(stated.std_error * np.sqrt(n), errors, rtol=1e-3)
    assert sanitizer.score(*_table(counts)) == pytest.approx(-sanitizer.variances_.sum())
    if counts is COUNTS:
        assert sanitizer.solution_.objective == pytest.approx(sanitizer.variances_.sum(), rel=1e-6)
    assert sanitizer.solution_.bound <= sanitizer.solution_.objective


def _table(counts):
    rows = [[s, u] for s in range(len(counts)) for u in range(counts.shape[1])]
    return rows, None, counts.ravel()


def test_weights_favour_what_they_are_for():
    found = []
    for weight in (0.1, 10.0):
        targets = [Marginal(part="sensitive"), Marginal(part="nonsensitive", weight=weight)]
        one = fitted(AOptimalSanitizer(targets=targets, **FEW))
        total = one.variances_ @ np.array([1.0, 1.0, weight, weight, weight])
        assert one.solution_.objective == pytest.approx(total, rel=1e-6)
        found.append(one.variances_)
    light, heavy = found
    assert heavy[2:].sum() < 0.95 * light[2:].sum() and heavy[:2].sum() > 1.05 * light[:2].sum()


# -- objectives of PolyOpt ------------------------------------------------------------------------


def test_each_objective_is_best_by_itself():
    counts = np.array([[30, 28, 12], [900, 40, 700]])
    all_, about_u = (
        fitted(PolyOptSanitizer(0.7, objective=objective, **FEW), counts)
        for objective in ("I(X;Y)", "I(U;Y)")
    )

    def information_about_u(sanitizer):
        joint = sanitizer.joint_.probabilities
        by_value = (sanitizer.mechanism_.matrix * joint.ravel()).reshape(-1, 2, 3).sum(axis=1)
        product = by_value.sum(axis=1)[:, None] * by_value.sum(axis=0)
        return float(rel_entr(by_value, product).sum())

    assert information_about_u(about_u) > 1.001 * information_about_u(all_)
    assert about_u.solution_.objective == pytest.approx(information_about_u(about_u), rel=1e-6)
    assert all_.mutual_information_ > about_u.mutual_information_
    assert all(s.certificate_.holds(0.7) for s in (all_, about_u))


# -- what is wrong --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sanitizer", "message"),
    [
        (AOptimalSanitizer(targets=Linear(np.ones((3, 2)))), r"of shape \(2, 3\).* shape \(3, 2\)"),
        (
            AOptimalSanitizer(observe="nonsensitive", targets=["nonsensitive", "sensitive"]),
            r"targets must be functions of U, and \(\(0,\), 0\) is not",
        ),
        (PolyOptSanitizer(objective="I(S;Y)"), r"objective='I\(S;Y\)' must be one of 'I\(X;Y\)'"),
    ],
)
def test_messages(sanitizer, message):
    with pytest.raises(ValueError, match=message):
        fitted(sanitizer, EMPTY)


# -- how far from the optimum ---------------------------------------------------------------------


def test_the_optimum_is_estimated_where_its_bound_is_useless(cdd):
    everywhere = {"uncertainty": AllDistributions(), "eps": 1.0}
    exact = fitted(AOptimalSanitizer(**everywhere, solver="vertices")).solution_
    assert exact.status == "optimal"
    assert exact.estimate is None
    sanitizer = AOptimalSanitizer(**everywhere)
    found = fitted(sanitizer).solution_
    assert found.bound < found.estimate <= found.objective
    assert found.estimate == pytest.approx(exact.objective, rel=0.03)
    assert found.objective > 2.0 * found.bound
    assert found.gap_in_words.endswith("% from an unproved estimate of the optimum")
    assert re.search(r"design +converged; about", str(privacy_report(sanitizer)))


# -- what designs for named targets say -----------------------------------------------------------


def test_errors_of_named_targets_are_reported_and_useless_ones_warned_of():
    """The errors are those that estimation states for as many reports, by another route."""
    counts = np.array([4, 1, 3, 2, 6, 2, 1, 1])
    rows = people((20, 60))
    gap = Contrast(Mean("visits", by="job"), {"desk": 1, "field": -1})
    targets = [Marginal("job", by="ill"), Mean("visits"), gap]
    options = {"sensitive": "ill", "targets": targets, "uncertainty": AllDistributions()}
    design = AOptimalSanitizer(eps=0.5, **options)
    with few_iterations(5):
        many = design.fit(rows, sample_weight=10_000 * counts)
    errors = expected_std_errors_of_targets(many, 10_000 * counts.sum(), targets)
    for words, name in [
        ("'job' = 'desk' where 'ill' = 'no'", (("job",), "desk", ("ill",), "no")),
        ("mean of 'visits'", ("mean", "visits")),
        ("contrast of mean of 'visits' by 'job'", ("contrast", "mean", "visits", ("job",))),
    ]:
        of_report = privacy_report(many).expected_errors[f"target: {words}"]["worst"]
        # The design smooths its groups.
        assert of_report == pytest.approx(errors[name] * np.sqrt(counts.sum()), rel=1e-4)
    words = "'job' = 'desk' where 'ill' = 'no': .*smallest_n returns"
    with few_iterations(5), pytest.warns(UserWarning, match=words) as told:
        few = AOptimalSanitizer(eps=0.5, **options).fit(rows, sample_weight=counts)
    errors = expected_std_errors_of_targets(few, counts.sum(), targets)
    scales = [1.0] * 4 + [40.0] * 2
    poor = sum(not e <= 0.3 * s for e, s in zip(errors.values(), scales, strict=True))
    assert poor > 0 and f"estimate {poor} of 6 targets" in str(told[-1].message)
