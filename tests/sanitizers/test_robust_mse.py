"""RobustMSESanitizer solves the four problems of the papers: robust utility and robust privacy.

Optima are those of independent prototypes; distortions are those of the sampled matrix at the named
distributions; a distance may be a name, a function or a table.
"""

import itertools
import warnings
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from conftest import REFERENCE, convex_solve, renyi

from skrldp import (
    JointDistribution,
    LikelihoodRatioSet,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    certify,
)
from skrldp.sanitizers.robust_mse import fit_utility_set

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
# The papers' set is meant here, and tables with rare cells too, for which that set is weak.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:the chi-squared set may miss:skrldp.PrivacyLeakWarning",
)

CASES = REFERENCE["mse"]
TOL = 1e-4  # the default of `tol`
COUNTS = np.array([[300, 200, 100], [150, 250, 500]])  # two secrets, U = 0, 1, 2
SPARSE = np.array([[78, 0, 16, 6], [217, 169, 0, 57], [20, 40, 0, 90]])
PROBLEMS = {  # robust_utility, robust_privacy
    "NUNP": (False, False),
    "NURP": (False, True),
    "RUNP": (True, False),
    "RURP": (True, True),
}


def rows_of(counts):
    return np.array([[s, u] for s in range(len(counts)) for u in range(len(counts[0]))])


def fit(counts=COUNTS, eps=0.5, **parameters):
    """Fit to counts, with the papers' set; S and U are whole numbers. Says nothing of weak sets."""
    papers = {"sensitive": 0, "uncertainty": RenyiBall()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        sanitizer = RobustMSESanitizer(eps, **(papers | parameters))
        return sanitizer.fit(rows_of(counts), sample_weight=np.ravel(counts))


def by_cell(sanitizer, distance):
    """Expected distance of the report about each cell, from the definition."""
    mechanism = sanitizer.mechanism_
    expected = []
    for x, (_, u) in enumerate(mechanism.cells):
        reports = zip(mechanism.symbols, mechanism.matrix[:, x], strict=True)
        expected.append(sum(q * distance(u, y) for y, q in reports))
    return np.array(expected)


def squared(u, y):
    return float(u - y) ** 2


def absolute(u, y):
    return abs(float(u - y))


def hamming(u, y):
    return float(u != y)


def worst_of(sanitizer, distance):
    """Greatest expected distance in the ball, by a solver that shares nothing with ours."""
    distribution, ball = sanitizer.joint_.probabilities.ravel(), sanitizer.utility_uncertainty_
    cells = by_cell(sanitizer, distance)
    if np.isinf(ball.B_):
        return cells.max()
    return convex_solve(cells[None], distribution[None], [1.0], ball.alpha, ball.B_)


# --- The four problems ---------------------------------------------------------------------------


@pytest.mark.parametrize("problem", PROBLEMS)
def test_optima_are_those_of_independent_prototypes(problem):
    case = CASES[1]
    robust_utility, robust_privacy = PROBLEMS[problem]
    sanitizer = RobustMSESanitizer(
        case["eps"],
        uncertainty=RenyiBall(2.0, beta=case["beta"]),
        robust_utility=robust_utility,
        robust_privacy=robust_privacy,
        sensitive=0,
    )
    X, counts = rows_of(case["counts"]), np.ravel(case["counts"])
    if robust_privacy:
        sanitizer.fit(X, sample_weight=counts)  # and no warning
    else:
        with pytest.warns(PrivacyLeakWarning, match="robust_privacy=False: privacy holds for the"):
            sanitizer.fit(X, sample_weight=counts)
    expected = sanitizer.distortion_
    if robust_utility:
        expected = sanitizer.worst_case_distortion_
    assert expected == pytest.approx(case[problem], rel=TOL)
    assert sanitizer.solution_.status == "optimal"
    assert sanitizer.solution_.bound <= expected * (1 + 1e-9)
    assert sanitizer.distortion_ <= sanitizer.worst_case_distortion_

    certificate, ball = sanitizer.certificate_, sanitizer.uncertainty_
    assert certificate.holds(case["eps"])
    assert certificate.uncertainty.radius == (ball.B_ if robust_privacy else 0.0)
    again = certify(
        sanitizer.mechanism_, ball if robust_privacy else RenyiBall(radius=0.0), sanitizer.joint_
    )
    assert (again.eps, again.uncertainty) == (certificate.eps, certificate.uncertainty)


# --- The set for the utility ---------------------------------------------------------------------


def test_utility_has_a_set_of_its_own():
    """The design and the worst case are over it, and the proof is not."""
    ball = RenyiBall(1, beta=0.3, radius="finite-sample")
    same, plain, own = (
        fit(SPARSE, uncertainty=RenyiBall(beta=0.2), utility_uncertainty=useful)
        for useful in (RenyiBall(beta=0.2), None, ball)
    )
    assert np.array_equal(same.mechanism_.weights, plain.mechanism_.weights)
    assert plain.utility_uncertainty_.get_params() == plain.uncertainty_.get_params()
    assert plain.utility_uncertainty_.B_ == plain.uncertainty_.B_
    assert own.certificate_.uncertainty == plain.certificate_.uncertainty
    assert own.utility_uncertainty_.get_params() == ball.get_params() and not hasattr(ball, "B_")
    radius = own.utility_uncertainty_.B_
    assert radius == ball.radius_for(own.joint_.n, SPARSE.size)
    for found in (own, plain):
        cells, distribution = by_cell(found, squared), found.joint_.probabilities.ravel()
        worst = convex_solve(cells[None], distribution[None], [1.0], 1.0, radius)
        if found is own:
            assert found.worst_case_distortion_ == pytest.approx(worst, rel=1e-6)
            assert found.solution_.objective == pytest.approx(worst, rel=1e-4)
            assert renyi(distribution, found.worst_case_distribution_.ravel(), 1.0) <= radius
        else:
            assert worst > own.worst_case_distortion_ * (1 - TOL)


@pytest.mark.parametrize(
    ("private", "useful"),
    [
        (LikelihoodRatioSet(0.2), RenyiBall(1, beta=0.2, radius="finite-sample")),
        (LikelihoodRatioSet(radius="asymptotic"), RenyiBall(1, radius="chi2")),
        (LikelihoodRatioSet(radius=0.02, drift=0.01), RenyiBall(1, radius=0.02)),
    ],
)
def test_a_set_of_conditionals_has_a_ball_beside_it(private, useful):
    joint = JointDistribution(COUNTS)
    parameters, fitted = fit_utility_set(None, private, private.fit_set(joint), joint)
    expected = useful.fit_set(joint)
    assert (parameters.get_params(), fitted.rule) == (useful.get_params(), expected.rule)
    assert (fitted.beta, fitted.radius) == (expected.beta, expected.radius + private.drift)
    assert fitted.radius == parameters.B_


@pytest.mark.parametrize(
    ("ball", "problem"),
    [
        (RenyiBall(0.7), "RURP"),
        (RenyiBall(4.0, radius=0.2), "NURP"),
        (RenyiBall(), "RUNP"),
    ],
    ids=repr,
)
def test_distortions_are_those_of_the_matrix(ball, problem):
    utility, privacy = PROBLEMS[problem]
    found = fit(SPARSE, 0.7, uncertainty=ball, robust_utility=utility, robust_privacy=privacy)
    distribution, radius, alpha = found.joint_.probabilities, found.uncertainty_.B_, ball.alpha
    cells = by_cell(found, squared)
    assert found.distortion_ == pytest.approx(distribution.ravel() @ cells, rel=1e-12)
    # at the worst distribution: a plain convex solve, and the distribution that is named
    assert found.worst_case_distortion_ == pytest.approx(worst_of(found, squared), rel=1e-6)
    worst = found.worst_case_distribution_
    assert worst.shape == distribution.shape and worst.min() >= 0
    assert worst.sum() == pytest.approx(1.0, abs=1e-12)
    assert renyi(distribution.ravel(), worst.ravel(), alpha) <= radius * (1 + 1e-9)
    assert found.worst_case_distortion_ * (1 - 1e-6) <= worst.ravel() @ cells
    assert worst.ravel() @ cells <= found.worst_case_distortion_
    assert radius == ball.radius_for(int(SPARSE.sum()), SPARSE.size)


# --- Score ---------------------------------------------------------------------------------------


def test_score_is_minus_the_expected_distance():
    """Sampled and computed; one false alarm in 1e9 runs by Hoeffding's inequality."""
    found = fit(SPARSE, 1.0, distance="absolute")
    others = np.array([[40, 5, 30, 1], [0, 60, 2, 8], [9, 9, 9, 9]])
    X = np.repeat(rows_of(others), 2000 * others.ravel(), axis=0)
    distribution = others.ravel() / others.sum()
    expected = distribution @ by_cell(found, absolute)
    assert found.score(X) == pytest.approx(-expected, rel=1e-12)
    assert found.score(rows_of(others), sample_weight=others.ravel()) == pytest.approx(-expected)
    sampled = np.abs(found.transform(X)[:, 0] - X[:, 1])
    deviation = 3.0 * np.sqrt(np.log(2e9) / (2 * len(X)))  # distances are between 0 and 3
    assert abs(sampled.mean() - expected) < deviation
    assert deviation < 0.1 * expected  # or the test could not fail


def test_a_set_of_radius_0_is_warned_of_once_where_fit_is_called():
    sanitizer = RobustMSESanitizer(sensitive=0, uncertainty=RenyiBall(radius=0.0))
    with pytest.warns(PrivacyLeakWarning, match="the uncertainty set has radius 0") as caught:
        sanitizer.fit(rows_of(COUNTS), sample_weight=COUNTS.ravel())
    assert [warning.filename for warning in caught] == [__file__]


# --- Distances -----------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [absolute, hamming], ids=lambda f: f.__name__)
def test_a_name_a_function_and_a_table_are_one(distance):
    table = [[distance(u, y) for y in range(4)] for u in range(4)]
    spellings = [distance.__name__, distance, pd.DataFrame(table), table]
    fits = [fit(SPARSE, distance=spelling) for spelling in spellings]
    worst = worst_of(fits[0], distance)
    for found in fits:
        np.testing.assert_array_equal(found.mechanism_.weights, fits[0].mechanism_.weights)
        assert found.worst_case_distortion_ == pytest.approx(worst, rel=1e-6)
        assert found.distortion_ == fits[0].distortion_


def test_hamming_counts_the_columns_that_differ():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 600), rng.integers(0, 3, 600), rng.integers(0, 2, 600)])
    found = RobustMSESanitizer(1.0, distance="hamming", sensitive=0).fit(X)
    assert found.joint_.values == tuple(itertools.product(range(3), range(2)))

    def differing(u, y):
        return float(u[0] != y[0]) + float(u[1] != y[1])

    cells = by_cell(found, differing)
    distribution = found.joint_.probabilities.ravel()
    assert found.distortion_ == pytest.approx(distribution @ cells, rel=1e-12)
    by_hand = RobustMSESanitizer(1.0, distance=differing, sensitive=0).fit(X)
    np.testing.assert_array_equal(found.mechanism_.weights, by_hand.mechanism_.weights)


NEGATIVE = np.ones((3, 3))
NEGATIVE[1, 2] = -0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"distance": "euclidean"}, "distance='euclidean' must be one of 'auto', 'squared'"),
        ({"distance": np.eye(2)}, r"shape \(2, 2\), but U has 3 values.*\(3, 3\)"),
        ({"distance": NEGATIVE}, "non-negative, .* value 1 to value 2 is -0.5"),
        ({"distance": lambda u, y: "far"}, r"distance\(0, 0\) must be a number, got 'far'"),
        ({"utility_uncertainty": LikelihoodRatioSet()}, "be a LikelihoodRatioSet.* marginal"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(**parameters)


@pytest.mark.parametrize(
    "values", [[1.0, None], [False, True], [datetime(2026, 1, day) for day in (1, 2)]], ids=str
)
def test_the_default_distance_of_what_is_no_number_is_hamming(values):
    X = pd.DataFrame({"s": [0, 0, 1, 1], "u": values * 2})
    found = RobustMSESanitizer(0.1, sensitive=0, time_limit=1e-6)
    assert found.fit(X, sample_weight=[90, 10, 20, 80]).distance_ == "hamming"
    assert found.distortion_ > 0


# --- Reports -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("far", "eps"), [(1e4, 0.5), (-1e6, 1e-3)])
def test_a_value_far_away_is_not_sent_by_mistake(far, eps):
    X = rows_of(COUNTS).astype(float)
    X[X[:, 1] == 2, 1] = far
    found = RobustMSESanitizer(eps, distance="squared", uncertainty=RenyiBall(), sensitive=0)
    found.fit(X, sample_weight=COUNTS.ravel())
    assert found.solution_.gap <= TOL
    assert found.worst_case_distortion_ <= found.solution_.objective * (1 + 2 * TOL)
