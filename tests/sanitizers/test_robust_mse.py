"""RobustMSESanitizer: the four problems, what it reports, and what it refuses."""

import itertools
import pickle
import warnings
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from conftest import REFERENCE, convex_solve, on_the_boundary, random_directions, renyi
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

from skrldp import (
    AllDistributions,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    certify,
    privacy_report,
)
from skrldp.certificate import proof_region
from skrldp.sanitizers import changes_since_fit
from skrldp.sanitizers._utility_set import fit_utility_set
from skrldp.sets import RenyiSet

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
# The papers' set is meant here, and tables with rare cells too, for which that set is weak.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:the chi-squared set may miss:skrldp.PrivacyLeakWarning",
)

CASES = REFERENCE["mse"]
# name: robust_utility, robust_privacy
PROBLEMS = {
    "NUNP": (False, False),
    "NURP": (False, True),
    "RUNP": (True, False),
    "RURP": (True, True),
}
TOL = 1e-4  # the default of `tol`
COUNTS = np.array([[300, 200, 100], [150, 250, 500]])  # two secrets, U = 0, 1, 2
SPARSE = np.array([[78, 0, 16, 6], [217, 169, 0, 57], [20, 40, 0, 90]])

leaks = pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")


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
@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: "x".join(map(str, np.shape(case["counts"])))
)
def test_reference(case, problem):
    robust_utility, robust_privacy = PROBLEMS[problem]
    sanitizer = RobustMSESanitizer(
        case["eps"],
        uncertainty=RenyiBall(2.0, beta=case["beta"]),
        robust_utility=robust_utility,
        robust_privacy=robust_privacy,
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
    assert certificate.radius == (ball.B_ if robust_privacy else 0.0)
    again = certify(
        sanitizer.mechanism_, ball if robust_privacy else RenyiBall(radius=0.0), sanitizer.joint_
    )
    assert (again.eps, again.radius) == (certificate.eps, certificate.radius)


@pytest.mark.parametrize("case", CASES[1:3], ids=["3x5", "3x5 large"])
def test_each_problem_is_best_at_its_own(case):
    found = {
        name: fit(case["counts"], case["eps"], robust_utility=utility, robust_privacy=privacy)
        for name, (utility, privacy) in PROBLEMS.items()
    }
    for privacy in ("NP", "RP"):
        plain, robust = found[f"NU{privacy}"], found[f"RU{privacy}"]
        assert plain.distortion_ <= robust.distortion_ * (1 + TOL)
        assert robust.worst_case_distortion_ <= plain.worst_case_distortion_ * (1 + TOL)
    for utility, measure in (("NU", "distortion_"), ("RU", "worst_case_distortion_")):
        private, naive = (getattr(found[f"{utility}{p}"], measure) for p in ("RP", "NP"))
        assert naive < private
    # what is private at one distribution alone is not at the others
    for name in ("NUNP", "RUNP"):
        everywhere = certify(found[name].mechanism_, RenyiBall(), found[name].joint_)
        assert everywhere.eps_attained > case["eps"]


def private_optimum(counts, eps, distance, *, all_distributions, worst_case):
    """Smallest distortion by a linear program, for privacy at one distribution or at all."""
    distribution = counts / counts.sum()
    a1, a2 = counts.shape
    a = a1 * a2
    cost = np.tile([[distance(u, y) for u in range(a2)] for y in range(a2)], a1)  # (b, a)
    rows = []
    for y, (s1, s2) in itertools.product(range(a2), itertools.permutations(range(a1), 2)):
        tests = [
            (distribution[s1] / distribution[s1].sum(), distribution[s2] / distribution[s2].sum())
        ]
        if all_distributions:
            tests = itertools.product(np.eye(a2), np.eye(a2))
        for first, second in tests:
            row = np.zeros((a2, a1, a2))
            row[y, s1], row[y, s2] = first, -np.exp(eps) * second
            rows.append(np.append(row.ravel(), 0.0))
    objective = np.append((cost * distribution.ravel()).ravel(), 0.0)
    if worst_case:  # the worst cell
        objective = np.append(np.zeros(a2 * a), 1.0)
        for x in range(a):
            row = np.zeros((a2, a))
            row[:, x] = cost[:, x]
            rows.append(np.append(row.ravel(), -1.0))
    sums = np.hstack([np.tile(np.eye(a), a2), np.zeros((a, 1))])
    found = linprog(objective, np.array(rows), np.zeros(len(rows)), sums, np.ones(a))
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("counts", [COUNTS, SPARSE], ids=["2x3", "3x4"])
@pytest.mark.parametrize("eps", [0.2, 1.0])
def test_the_public_distribution_alone_is_a_linear_program(counts, eps):
    expected = private_optimum(counts, eps, squared, all_distributions=False, worst_case=False)
    found = fit(counts, eps, robust_utility=False, robust_privacy=False)
    assert found.distortion_ == pytest.approx(expected, rel=TOL)
    assert certify(found.mechanism_, RenyiBall(radius=0.0), found.joint_).holds(eps)
    # a ball without extent makes the four problems one
    point = fit(counts, eps, uncertainty=RenyiBall(radius=0.0))
    np.testing.assert_array_equal(point.mechanism_.weights, found.mechanism_.weights)
    assert point.distortion_ == point.worst_case_distortion_


@pytest.mark.parametrize("robust_utility", [True, False])
@pytest.mark.parametrize("eps", [0.2, 2.0])
def test_all_distributions_are_a_linear_program(robust_utility, eps):
    expected = private_optimum(
        COUNTS, eps, absolute, all_distributions=True, worst_case=robust_utility
    )
    found = fit(
        COUNTS,
        eps,
        uncertainty=AllDistributions(),
        robust_utility=robust_utility,
        distance="absolute",
    )
    value = found.worst_case_distortion_ if robust_utility else found.distortion_
    assert value == pytest.approx(expected, rel=TOL)
    assert found.certificate_.radius == found.uncertainty_.B_ == np.inf
    assert np.count_nonzero(found.worst_case_distribution_) == 1  # the worst cell
    cells = by_cell(found, absolute)
    assert found.worst_case_distortion_ == pytest.approx(cells.max(), rel=1e-12)
    assert cells @ found.worst_case_distribution_.ravel() == pytest.approx(cells.max(), rel=1e-12)


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


def test_utility_at_the_public_distribution_does_not_ask_for_a_set():
    """Only the figure of the worst case does."""
    found = [
        fit(robust_utility=False, utility_uncertainty=RenyiBall(1, radius=radius))
        for radius in (0.0, 0.1)
    ]
    assert np.array_equal(*(sanitizer.mechanism_.weights for sanitizer in found))
    assert found[0].worst_case_distortion_ == found[0].distortion_ == found[1].distortion_
    assert found[1].worst_case_distortion_ > found[0].worst_case_distortion_


@pytest.mark.parametrize(
    ("private", "useful"),
    [
        (LikelihoodRatioSet(0.2), RenyiBall(1, beta=0.2, radius="finite-sample")),
        (LikelihoodRatioSet(radius="asymptotic"), RenyiBall(1, radius="chi2")),
        (LikelihoodRatioSet(drift=0.01), RenyiBall(1, radius="finite-sample")),
        (LikelihoodRatioSet(radius=0.02), RenyiBall(1, radius=0.02)),
        (LikelihoodRatioSet(radius=0.0), RenyiBall(1, radius=0.0)),
        (LikelihoodRatioSet(radius=np.inf), RenyiBall(1, radius=np.inf)),
    ],
)
def test_a_set_of_conditionals_has_a_ball_beside_it(private, useful):
    joint = JointDistribution(COUNTS)
    parameters, fitted = fit_utility_set(None, private, private.fit_set(joint), joint)
    expected = useful.fit_set(joint)
    assert (parameters.get_params(), fitted.rule) == (useful.get_params(), expected.rule)
    assert (fitted.beta, fitted.radius) == (expected.beta, expected.radius + private.drift)
    assert fitted.radius == parameters.B_


@pytest.mark.parametrize("observe", ["all", "nonsensitive"])
def test_privacy_over_conditionals(observe, capsys):
    """Two statements with a beta each; the utility at one distribution asks nothing of its set."""
    private = LikelihoodRatioSet(0.01, drift=1e-3)
    useful = RenyiBall(beta=0.4)
    found = fit(
        uncertainty=private, utility_uncertainty=useful, observe=observe, time_limit=None, verbose=1
    )
    assert found.certificate_.uncertainty == private.fit_set(found.joint_)
    assert "at worst" in (said := capsys.readouterr().out)
    assert "utility beta = 0.4, privacy beta = 0.01" in said
    report = " ".join(str(privacy_report(found)).split())
    assert "(alpha = 2) of the public one; this set misses the true distribution with" in report
    assert "probability about 0.4" in report
    cells, distribution = by_cell(found, squared), found.joint_.probabilities.ravel()
    assert found.distortion_ == pytest.approx(distribution @ cells, rel=1e-12)
    assert -found.score(rows_of(COUNTS), None, COUNTS.ravel()) == pytest.approx(found.distortion_)
    worst = convex_solve(cells[None], distribution[None], [1.0], 2.0, found.utility_uncertainty_.B_)
    assert found.worst_case_distortion_ == pytest.approx(worst, rel=1e-6)
    assert "privacy beta" not in "".join(
        fit(uncertainty=private, robust_privacy=False, verbose=1) and capsys.readouterr().out
    )
    plain = fit(uncertainty=private, observe=observe, robust_utility=False, time_limit=None)
    assert plain.distortion_ <= found.distortion_ * (1 + TOL)
    assert plain.solution_.objective == pytest.approx(plain.distortion_, rel=1e-4)
    assert plain.utility_uncertainty_.beta == 0.01


def test_a_search_reaches_the_utility_set():
    sanitizer = RobustMSESanitizer(0.5, sensitive=0, utility_uncertainty=RenyiBall(1))
    copy = clone(sanitizer).set_params(utility_uncertainty__beta=0.3)
    assert sanitizer.utility_uncertainty.beta == 0.05
    copy.fit(rows_of(COUNTS), sample_weight=COUNTS.ravel())
    assert copy.utility_uncertainty_.beta == 0.3
    assert changes_since_fit(copy) == {}
    copy.set_params(utility_uncertainty__beta=0.4)
    assert changes_since_fit(copy) == {"utility_uncertainty__beta": (0.3, 0.4)}


class Conditionals:
    """A set of conditionals of somebody else's."""

    def fit_set(self, joint):
        return LikelihoodRatioSet(radius=0.1).fit_set(joint)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            LikelihoodRatioSet(),
            "cannot be a LikelihoodRatioSet.* nothing about the marginal of S",
        ),
        (Conditionals(), r"cannot be a Conditionals: .* Use RenyiBall\(alpha=1, radius='finite-s"),
        (RenyiBall, r"got the class RenyiBall: write utility_uncertainty=RenyiBall\(\)"),
        (0.05, r"utility_uncertainty=0\.05 must be None or RenyiBall\("),
        (RenyiBall(radius="finite-sample"), "is a bound for alpha=1 only"),
    ],
)
@pytest.mark.parametrize("robust_utility", [True, False])
def test_sets_that_are_none_for_the_utility(wrong, message, robust_utility):
    with pytest.raises(ValueError, match=message):
        fit(utility_uncertainty=wrong, robust_utility=robust_utility)


# --- What is said of the mechanism ---------------------------------------------------------------

BALLS = [
    RenyiBall(),
    RenyiBall(0.7),
    RenyiBall(4.0, radius=0.2),
    RenyiBall(1, radius="finite-sample"),
]


@pytest.mark.parametrize("ball", BALLS, ids=repr)
@pytest.mark.parametrize("problem", PROBLEMS)
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


@pytest.mark.parametrize("problem", ["NURP", "RURP"])
def test_no_distribution_of_the_set_leaks_or_distorts_more(problem):
    found = fit(SPARSE, 0.7, robust_utility=PROBLEMS[problem][0])
    centre, rng = found.joint_.probabilities.ravel(), np.random.default_rng(0)
    towards = random_directions(rng, 3000, centre.size)
    distributions = on_the_boundary(centre, towards, 2.0, found.uncertainty_.B_)
    assert (distributions @ by_cell(found, squared)).max() <= found.worst_case_distortion_ * (
        1 + 1e-12
    )
    conditionals = distributions.reshape(-1, *SPARSE.shape)
    conditionals = conditionals / conditionals.sum(axis=2, keepdims=True)
    matrix = found.mechanism_.matrix.reshape(-1, *SPARSE.shape)
    reports = np.einsum("bsu,nsu->nbs", matrix, conditionals)
    assert np.log(reports.max(axis=2) / reports.min(axis=2)).max() <= 0.7
    assert found.mechanism_.leakage(found.certificate_.distribution) <= 0.7


def test_below_one_half_each_conditional_alone():
    with pytest.raises(ValueError, match=r"region='joint' needs alpha >= 1/2.*region='product'"):
        fit(SPARSE, uncertainty=RenyiBall(0.3, radius=0.02))
    found = fit(SPARSE, 1.0, uncertainty=RenyiBall(0.3, radius=0.02, region="product"))
    assert found.certificate_.holds(1.0)
    cells, distribution = by_cell(found, squared), found.joint_.probabilities.ravel()
    worst = found.worst_case_distribution_.ravel()
    assert renyi(distribution, worst, 0.3) <= 0.02 * (1 + 1e-9)
    assert worst @ cells == pytest.approx(found.worst_case_distortion_, rel=1e-6)
    distributions = random_directions(np.random.default_rng(0), 3000, distribution.size)
    distributions = on_the_boundary(distribution, distributions, 0.3, 0.02)
    assert (distributions @ cells).max() <= found.worst_case_distortion_ * (1 + 1e-12)
    # without robust privacy there is no joint constraint to fail
    assert fit(uncertainty=RenyiBall(0.3), robust_privacy=False).certificate_.holds(0.5)


@pytest.mark.parametrize("robust_utility", [True, False])
def test_more_cautious_regions_cost_more(robust_utility):
    values = []
    for region in ("joint", "product", "box", "lower"):
        found = fit(
            SPARSE, 1.0, uncertainty=RenyiBall(region=region), robust_utility=robust_utility
        )
        assert found.certificate_.holds(1.0)
        values.append(found.worst_case_distortion_ if robust_utility else found.distortion_)
    assert all(a <= b * (1 + TOL) for a, b in itertools.pairwise(values))
    assert values[-1] > 1.02 * values[0]


def test_a_last_digit_does_not_matter():
    """The bound on a row is continuous, and the distribution that is named attains it."""
    region = proof_region(JointDistribution([[0, 2, 1, 1], [3, 3, 2, 1]]), RenyiSet(0.3, 0.05))
    bounds = []
    for digit in (0.0, 1e-16, 1e-12):
        row = np.array([[[0.0372305 - digit, 0.848, 0.0372305, 0.0372305], [0.1] * 4]])
        worst = region.worst(row, 0.4, conditionals=True)
        reached = [
            conditionals[0] @ row[0, first] - np.exp(0.4) * conditionals[1] @ row[0, second]
            for conditionals, first, second in zip(
                worst.conditionals, worst.first, worst.second, strict=True
            )
        ]
        np.testing.assert_allclose(worst.bound, reached, atol=1e-9)
        bounds.append(worst.bound)
    np.testing.assert_allclose(bounds, np.tile(bounds[0], (3, 1)), atol=1e-9)


def test_a_release_costs_what_its_design_costs():
    """A ball of order below 1/2, and two cells that differ in the last digit."""
    counts = [[0, 2, 1, 0], [0, 2, 1, 1], [0, 2, 0, 1], [0, 1, 0, 2]]
    found = fit(
        counts, 2.5, uncertainty=RenyiBall(0.3, radius=0.05, region="box"), distance="hamming"
    )
    assert found.worst_case_distortion_ == pytest.approx(found.solution_.objective, rel=1e-3)


def test_smaller_sets_and_larger_eps_cost_less():
    by_eps = [fit(SPARSE, eps).worst_case_distortion_ for eps in (0.1, 0.5, 1.0, 3.0)]
    rare, often = (
        fit(SPARSE, 0.5, uncertainty=RenyiBall(beta=beta)).worst_case_distortion_
        for beta in (1e-6, 0.9)
    )
    by_beta = [rare, by_eps[1], often]  # 0.05 is the default
    for values in (by_eps, by_beta):
        assert all(b < a for a, b in itertools.pairwise(values))


def test_the_central_path_comes_before_cuts():
    by_path, by_cuts = fit(SPARSE), fit(SPARSE, uncertainty=RenyiBall(region="box"))
    assert (by_path.solution_.solver, by_cuts.solution_.solver) == ("path", "cuts")


def test_the_design_is_deterministic():
    first, second = fit(SPARSE, random_state=1), fit(SPARSE, random_state=None)
    np.testing.assert_array_equal(first.mechanism_.weights, second.mechanism_.weights)
    assert first.certificate_.eps == second.certificate_.eps


def test_a_smaller_tolerance_comes_closer():
    rough, fine = fit(SPARSE, tol=0.3), fit(SPARSE, tol=1e-6)
    assert rough.solution_.gap <= 0.3 and fine.solution_.gap <= 1e-6
    bound = fine.solution_.bound
    assert bound <= fine.worst_case_distortion_ <= bound * (1 + 2e-6)
    assert fine.worst_case_distortion_ <= rough.worst_case_distortion_ <= bound / 0.7


@pytest.mark.parametrize("robust_utility", [True, False])
def test_tiny_eps_gives_the_best_constant_report(robust_utility):
    found = fit(SPARSE, 1e-3, robust_utility=robust_utility)
    distribution, ball = found.joint_.probabilities.ravel()[None], found.uncertainty_
    constants = []
    for y in range(4):
        cells = np.tile([squared(u, y) for u in range(4)], (1, 3))
        at_worst = convex_solve(cells, distribution, [1.0], 2.0, ball.B_)
        constants.append(at_worst if robust_utility else float(distribution[0] @ cells[0]))
    value = found.worst_case_distortion_ if robust_utility else found.distortion_
    assert 0.98 * min(constants) <= value <= min(constants) * (1 + TOL)
    place = found.mechanism_.symbols.index(np.argmin(constants))
    assert found.mechanism_.matrix[place].min() > 0.9
    assert found.certificate_.holds(1e-3)
    # at the public distribution alone there is more to say than a constant
    naive = fit(SPARSE, 1e-3, robust_utility=robust_utility, robust_privacy=False)
    assert naive.distortion_ < 0.5 * found.distortion_ and naive.certificate_.holds(1e-3)
    if not robust_utility:
        least = private_optimum(SPARSE, 1e-3, squared, all_distributions=False, worst_case=False)
        assert naive.distortion_ == pytest.approx(least, rel=TOL)


def test_large_eps_reports_u_as_it_is():
    for counts, eps in ((COUNTS, 12.0), (SPARSE, 30.0), (COUNTS, 1e3)):
        found = fit(counts, eps)
        assert found.worst_case_distortion_ < 1e-4
        assert found.certificate_.holds(eps)
        np.testing.assert_array_equal(
            found.transform(rows_of(counts))[:, 0], rows_of(counts)[:, 1]
        )  # false once in 12,000 runs


def test_time_runs_out():
    found = fit(SPARSE, time_limit=1e-9)
    assert found.solution_.status == "time_limit" and found.certificate_.holds(0.5)
    best = fit(SPARSE, time_limit=None)
    assert best.solution_.status == "optimal"
    assert found.worst_case_distortion_ > 1.01 * best.worst_case_distortion_
    assert len(found.transform(rows_of(SPARSE))) == SPARSE.size


# --- Distances -----------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [squared, absolute, hamming], ids=lambda f: f.__name__)
def test_a_name_a_function_and_a_table_are_one(distance):
    outputs = [0, 1.5, 3]
    table = [[distance(u, y) for y in outputs] for u in range(4)]
    spellings = [distance.__name__, distance, pd.DataFrame(table)]
    if distance is absolute:
        spellings += [table, np.array(table)]
    fits = [fit(SPARSE, distance=spelling, outputs=outputs) for spelling in spellings]
    nobodys = {1.5} if distance is hamming else set()  # no better than 0 and 3 for any value
    assert set(fits[0].mechanism_.symbols) == {0, 1.5, 3} - nobodys
    worst = worst_of(fits[0], distance)
    for found in fits:
        np.testing.assert_array_equal(found.mechanism_.weights, fits[0].mechanism_.weights)
        assert found.worst_case_distortion_ == pytest.approx(worst, rel=1e-6)
        assert found.distortion_ == fits[0].distortion_


def test_scale_and_origin_do_not_matter():
    plain = fit(SPARSE)
    X = rows_of(SPARSE) * [1, 100] + [0, -7]
    moved = clone(plain).fit(X, sample_weight=SPARSE.ravel())
    assert moved.distortion_ == pytest.approx(1e4 * plain.distortion_, rel=2 * TOL)
    assert moved.mechanism_.symbols == (-7, 93, 193, 293)


def test_renaming_secrets_and_values_does_not_matter():
    table = np.random.default_rng(0).random((4, 3)).round(2)
    plain = fit(SPARSE, distance=table, outputs=["a", "b", "c"])
    other = fit(
        SPARSE[::-1][:, [2, 0, 3, 1]], distance=table[[2, 0, 3, 1]], outputs=["a", "b", "c"]
    )
    assert other.worst_case_distortion_ == pytest.approx(plain.worst_case_distortion_, rel=TOL)


def test_hamming_counts_the_columns_that_differ():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 600), rng.integers(0, 3, 600), rng.integers(0, 2, 600)])
    found = RobustMSESanitizer(1.0, distance="hamming").fit(X)
    assert found.joint_.values == tuple(itertools.product(range(3), range(2)))

    def differing(u, y):
        return float(u[0] != y[0]) + float(u[1] != y[1])

    cells = by_cell(found, differing)
    distribution = found.joint_.probabilities.ravel()
    assert found.distortion_ == pytest.approx(distribution @ cells, rel=1e-12)
    by_hand = RobustMSESanitizer(1.0, distance=differing).fit(X)
    np.testing.assert_array_equal(found.mechanism_.weights, by_hand.mechanism_.weights)


def test_strings_dates_and_booleans():
    X = pd.DataFrame({"s": [0, 1, 1, 0] * 40, "u": list("abca" * 40)})
    found = RobustMSESanitizer(sensitive=0, distance="hamming", random_state=0).fit(X)
    assert found.mechanism_.symbols == ("a", "b", "c")
    assert found.transform(X)["u"].isin(list("abc")).all()

    days = pd.to_datetime(["2024-01-01", "2024-01-05", "2024-01-02", "2024-01-05"] * 40)
    found = RobustMSESanitizer(sensitive=0, distance=lambda u, y: abs((u - y).days)).fit(
        X.assign(u=days)
    )
    assert found.mechanism_.symbols[0] == datetime(2024, 1, 1)
    reports = found.transform(X.assign(u=days))
    assert reports["u"].dtype == X.assign(u=days)["u"].dtype

    flags = X.assign(u=[True, False, False, True] * 40)
    found = RobustMSESanitizer(0.1, sensitive=0).fit(flags)  # False is 0 and True is 1
    assert found.transform(flags)["u"].dtype == bool
    assert found.distortion_ == pytest.approx(
        found.joint_.probabilities.ravel() @ by_cell(found, hamming)
    )


def test_missing_values_are_a_value():
    X = pd.DataFrame({"s": ["n", "y"] * 60, "u": [None, "a", "a", None, "b", "b"] * 20})
    found = RobustMSESanitizer(2.0, sensitive=0, distance="hamming", random_state=0).fit(X)
    assert found.mechanism_.symbols == ("a", "b", None)
    reports = found.transform(X)
    assert reports["u"].dtype == X["u"].dtype and 0 < reports["u"].isna().sum() < 120
    assert set(reports["u"].dropna()) == {"a", "b"}
    # written as the public table writes them
    objects = X.assign(u=pd.Series([np.nan, "a"] * 60, dtype=object))
    reports = clone(found).fit(objects).transform(objects)["u"]
    assert {type(report) for report in reports} == {str, float}
    # of numbers, too, where only some outputs are missing
    numbers = X.assign(u=[np.nan, 1.0, 1.0, np.nan, 2.0, 2.0] * 20)
    found = RobustMSESanitizer(2.0, sensitive=0, distance="hamming", outputs=[2, np.nan]).fit(
        numbers
    )
    assert found.mechanism_.symbols == (2, None)
    assert found.transform(numbers)["u"].dtype == float
    with pytest.raises(ValueError, match="'squared' needs numbers, but U has missing values; use"):
        RobustMSESanitizer(sensitive=0, distance="squared").fit(numbers)


def words(value):
    return value if isinstance(value, str) else None


def wrong_table(value):
    table = np.ones((3, 3))
    table[1, 2] = value
    return table


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"distance": "euclidean"}, "distance='euclidean' must be one of 'auto', 'squared'"),
        ({"distance": None}, "distance must be 'auto', .* a table of numbers .*, got None"),
        ({"distance": [0, 1, 2]}, r"or a table of numbers .*, got a list"),
        ({"distance": [[0, 1], [1]]}, r"or a table of numbers .*, got a list"),
        ({"distance": [["x"] * 3] * 3}, "or a table of numbers"),
        ({"distance": wrong_table(0) * 1j}, "or a table of numbers"),
        ({"distance": np.eye(2)}, r"shape \(2, 2\), but .* 3 values of U and 3 outputs.*\(3, 3\)"),
        (
            {"distance": np.eye(3), "outputs": [0, 1]},
            r"it needs shape \(3, 2\), values of U in rows, in the order of `joint_.values`",
        ),
        ({"distance": wrong_table(-0.5)}, "not negative, .* value 1 to output 2 is -0.5"),
        ({"distance": wrong_table(np.nan)}, "finite .* value 1 to output 2 is nan"),
        ({"distance": wrong_table(np.inf)}, "finite .* value 1 to output 2 is inf"),
        ({"distance": lambda u, y: "far"}, r"distance\(0, 0\) must be a number, got 'far'"),
        ({"distance": lambda u, y: u - y}, "not negative, .* value 0 to output 1 is -1.0"),
        ({"outputs": []}, "outputs is empty: list at least one"),
        ({"outputs": "012"}, "outputs='012' must be None or a list of values"),
        ({"outputs": {0, 1}}, "must be None or a list of values"),
        ({"outputs": {0: "a"}}, "must be None or a list of values"),
        ({"outputs": 3}, "outputs=3 must be None or a list of values"),
        ({"outputs": [0, 1, 1.0]}, "outputs lists 1 more than once"),
        ({"outputs": [0, np.nan, None]}, "outputs lists None more than once"),
        ({"outputs": [0, [1]]}, r"outputs must be single values, as U has one column: not \[1\]"),
        ({"outputs": [0, np.inf]}, "outputs=.* finite numbers, strings"),
        ({"outputs": ["low", "high"]}, "numbers, but outputs has the value 'low'; use dist"),
        ({"outputs": [0, None]}, "numbers, but outputs has missing values; use distance='hamm"),
        ({"outputs": [10**400]}, "'squared' needs numbers of moderate size, but outputs has one"),
        ({"outputs": [1e200]}, r"moderate size, but outputs has one beyond 1e\+100"),
        ({"outputs": [(0,), (1,)], "distance": "hamming"}, r"U has one column: not \(0,\)"),
        ({"tol": 0}, "tol=0 must be a number between 0 and 1"),
        ({"tol": 1.0}, "tol=1.0 must be a number between 0 and 1"),
        ({"tol": "small"}, "tol='small' must be a number between 0 and 1"),
        ({"tol": np.nan}, "tol=nan must be a number between 0 and 1"),
        ({"robust_utility": "yes"}, "robust_utility='yes' must be True or False"),
        ({"robust_privacy": None}, "robust_privacy=None must be True or False"),
        ({"robust_privacy": 1}, "robust_privacy=1 must be True or False"),
        ({"time_limit": 0}, "time_limit=0 must be a positive number of seconds, or None"),
        ({"time_limit": "60 s"}, "time_limit='60 s' must be a positive number of seconds"),
        ({"solver": "simplex"}, "solver='simplex' must be one of 'auto'"),
        (
            {"uncertainty": RenyiBall(region="ball")},
            "region='ball' must be one of 'joint', 'product', 'box', 'lower'",
        ),
        ({"uncertainty": RenyiBall}, r"the class RenyiBall: write uncertainty=RenyiBall\(\)"),
        ({"encode": "values"}, "encode='values' must be one of 'symbol', 'onehot', 'posterior'"),
    ],
    ids=words,
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(**parameters)


STRINGS = pd.DataFrame({"s": ["n", "y"] * 40, "u": list("abba" * 20), "v": [1, 2, 3, 1] * 20})


@pytest.mark.parametrize(
    ("columns", "parameters", "message"),
    [
        (
            ["s", "u"],
            {"distance": "squared"},
            "distance='squared' needs numbers, but U has the value 'a'; use distance",
        ),
        (["s", "u"], {"distance": "absolute"}, "'absolute' needs numbers.*distance='hamming'"),
        (
            ["s", "v", "u"],
            {"distance": "squared"},
            "distance='squared' needs numbers, but U has several columns; use",
        ),
        (
            ["s", "u", "v"],
            {"outputs": ["a", "b"]},
            "U has 2 columns, .* tuple of 2 values, but 'a'",
        ),
        (["s", "u", "v"], {"outputs": [("a", 1), ("b",)]}, r"2 values, but \('b',\) is not"),
        (["s", "u", "v"], {"outputs": [("a", 1), ("a", 1.0)]}, r"lists \('a', 1\) more than once"),
        (["s", "u", "v"], {"outputs": ["ab", "cd"], "distance": "hamming"}, "'ab' is not"),
        (["s", "u", "v"], {"outputs": [{"a", 1}], "distance": "hamming"}, "is not"),
    ],
)
def test_values_and_outputs_are_checked(columns, parameters, message):
    with pytest.raises(ValueError, match=message):
        RobustMSESanitizer(sensitive=0, **parameters).fit(STRINGS[columns])


@pytest.mark.parametrize(
    ("values", "taken"),
    [
        ([1, 2], "squared"),
        ([0.5, -1e100], "squared"),
        ([1.0, None], "hamming"),
        ([1.0, 1e101], "hamming"),
        ([False, True], "hamming"),
        (["1", "2"], "hamming"),
        ([datetime(2026, 1, day) for day in (1, 2)], "hamming"),
    ],
    ids=str,
)
def test_the_default_distance_suits_the_values(values, taken):
    table = pd.DataFrame({"s": [0, 0, 1, 1], "u": values * 2})
    found, named = (
        RobustMSESanitizer(0.1, sensitive=0, time_limit=1e-6, **options).fit(
            table, sample_weight=[90, 10, 20, 80]
        )
        for options in ({}, {"distance": taken})
    )
    assert found.distance_ == named.distance_ == taken
    assert found.mechanism_.to_json() == named.mechanism_.to_json()
    assert found.distortion_ == named.distortion_ > 0


def test_the_default_distance_of_columns_and_groups():
    two = RobustMSESanitizer(sensitive=0, time_limit=1e-6).fit(STRINGS[["s", "v", "u"]])
    table = pd.DataFrame({"s": [0, 1] * 30, "u": [1, 2, 1, 2, 1, 3] * 10})
    grouped = RobustMSESanitizer(sensitive=0, time_limit=1e-6, min_frequency=15).fit(table)
    assert "other" in grouped.joint_.values
    assert two.distance_ == grouped.distance_ == "hamming"
    far = np.eye(3)
    np.testing.assert_array_equal(fit(COUNTS, distance=far, time_limit=1e-6).distance_, far)


# --- Outputs -------------------------------------------------------------------------------------


def test_more_outputs_can_only_help():
    values = [
        fit(SPARSE, outputs=outputs).worst_case_distortion_
        for outputs in ([1], [1, 2], [0, 1, 2, 3], [0, 0.5, 1, 1.5, 2, 2.5, 3])
    ]
    assert all(b <= a * (1 + TOL) for a, b in itertools.pairwise(values))
    assert values[-1] < 0.98 * values[2]  # the values of U are not the best outputs
    one = fit(SPARSE, outputs=[1])
    assert one.mechanism_.shape == (1, 12) and np.all(one.mechanism_.matrix == 1)
    assert one.certificate_.eps < 1e-9
    np.testing.assert_array_equal(one.transform(rows_of(SPARSE)), np.ones((12, 1)))


@pytest.mark.parametrize("far", [1e4, -1e6])
def test_an_output_far_away_does_no_harm_to_the_design(far):
    without, more = fit(COUNTS), fit(COUNTS, outputs=[0, 1, 2, far])
    assert more.solution_.objective <= without.solution_.objective * (1 + TOL)
    assert more.solution_.gap <= TOL


@pytest.mark.parametrize("far", [1e4, -1e6])
@pytest.mark.parametrize("eps", [1e-3, 0.5])
def test_an_output_far_away_is_not_sent_by_mistake(far, eps):
    found = fit(COUNTS, eps, outputs=[0, 1, 2, far])
    assert found.worst_case_distortion_ <= found.solution_.objective * (1 + 2 * TOL)


@pytest.mark.parametrize(
    "outputs",
    [[0.5, 2.5], (0.5, 2.5), np.array([0.5, 2.5]), pd.Series([0.5, 2.5])],
    ids=lambda v: type(v).__name__,
)
def test_midpoints_of_bins(outputs):
    found = fit(SPARSE, 2.0, outputs=outputs, random_state=0)
    X = np.repeat(rows_of(SPARSE), 20, axis=0)
    assert found.mechanism_.symbols == (0.5, 2.5)
    reports = found.transform(X)
    assert reports.dtype == float and set(reports[:, 0]) == {0.5, 2.5}
    frame = pd.DataFrame(X, columns=["s", "u"])
    for dtype in ("int64", "Int64", "int8", "category") if type(outputs) is list else ("Int64",):
        table = frame.astype({"u": dtype})
        refitted = clone(found).fit(table).transform(table)
        assert list(refitted.columns) == ["u"]
        assert set(refitted["u"]) == {0.5, 2.5}
    assert worst_of(found, squared) == pytest.approx(found.worst_case_distortion_, rel=1e-6)


def test_outputs_of_a_columns_own_kind_keep_its_dtype():
    X = pd.DataFrame(rows_of(SPARSE), columns=["s", "u"]).astype({"u": "uint8"})
    found = RobustMSESanitizer(sensitive=0, outputs=[3.0, 1]).fit(X, sample_weight=SPARSE.ravel())
    assert found.mechanism_.symbols == (3.0, 1)  # in the order given
    for table in (X, X.astype("int64")):  # that of the public table
        assert found.transform(table)["u"].dtype == "uint8"


def test_tuples_for_several_columns():
    outputs = [("a", 1.5), ("b", None), ("new", 3)]
    found = RobustMSESanitizer(
        3.0, sensitive=0, distance="hamming", outputs=outputs, random_state=0
    )
    reports = found.fit(STRINGS).transform(STRINGS)
    assert set(found.mechanism_.symbols) <= set(outputs)
    assert list(reports.columns) == ["u", "v"] and reports["v"].dtype == float
    seen = {(u, None if np.isnan(v) else v) for u, v in reports.itertuples(index=False)}
    assert seen == {("a", 1.5), ("b", None)}  # nobody is nearer to the new one
    lists = clone(found).set_params(outputs=[list(output) for output in outputs]).fit(STRINGS)
    assert lists.mechanism_.symbols == found.mechanism_.symbols


def test_symbols_survive_json():
    for found in (
        fit(SPARSE, outputs=[0, 1.5, 3]),
        RobustMSESanitizer(sensitive=0, distance="hamming", outputs=[("a", 1.5), ("b", None)]).fit(
            STRINGS
        ),
        RobustMSESanitizer(sensitive=0, distance="hamming").fit(
            STRINGS[["s", "u"]].replace("a", None)
        ),
    ):
        mechanism = found.mechanism_
        again = Mechanism.from_json(mechanism.to_json())
        assert again.symbols == mechanism.symbols
        assert [type(y) for y in again.symbols] == [type(y) for y in mechanism.symbols]
        np.testing.assert_array_equal(again.weights, mechanism.weights)
        assert again.columns == mechanism.columns
        assert certify(again, found.uncertainty_, found.joint_).eps == found.certificate_.eps


# --- Alphabets that the public table does not fill -----------------------------------------------


@pytest.mark.parametrize("problem", PROBLEMS)
@leaks
def test_categories_that_the_public_data_lacks(problem):
    utility, privacy = PROBLEMS[problem]
    X = pd.DataFrame(rows_of(COUNTS), columns=["s", "u"])
    found = RobustMSESanitizer(
        0.5,
        sensitive=0,
        categories={"s": [0, 1, 9], "u": [0, 1, 2, 5]},
        robust_utility=utility,
        robust_privacy=privacy,
        random_state=0,
    ).fit(X, sample_weight=COUNTS.ravel())
    assert found.joint_.counts.shape == (3, 4) and found.certificate_.holds(0.5)
    assert found.joint_.values == (0, 1, 2, 5)
    distribution = found.joint_.probabilities.ravel()
    assert found.distortion_ == pytest.approx(distribution @ by_cell(found, squared), rel=1e-12)
    new = pd.DataFrame([[9, 5], [0, 5], [9, 0]], columns=["s", "u"])
    assert found.transform(new)["u"].dtype == X["u"].dtype
    assert found.score(new) <= 0
    posterior = found.set_params(encode="posterior").transform(new)
    assert {"s_9", "u_5"} <= set(posterior.columns)
    # the unseen secret is protected, too: it may have any conditional
    for u in range(4):
        conditionals = np.vstack([found.joint_.conditionals[:2], np.eye(4)[u]])
        assert found.mechanism_.leakage(conditionals / 3) <= 0.5 + 1e-9
    if privacy:
        assert found.certificate_.uncertainty == found.uncertainty_.fit_set(found.joint_)


def test_an_unseen_secret_and_no_robust_privacy():
    found = fit([[0, 3], [2, 0], [0, 0]], uncertainty=AllDistributions(), robust_privacy=False)
    assert found.certificate_.holds(0.5)
    assert found.worst_case_distortion_ == pytest.approx(by_cell(found, squared).max(), rel=1e-9)


def test_unknown_values_are_imputed_or_refused():
    """One false alarm in 1e9 runs."""
    found = fit(COUNTS, 1.0)
    with pytest.raises(ValueError, match=r"column 1 has 1 row with a value unseen.*'impute'"):
        found.transform([[0, 7], [1, 1]])
    found = fit(COUNTS, 1.0, handle_unknown="impute", encode="symbol")
    n = 20_000
    reports = found.transform(np.tile([[1, 7]], (n, 1)))[:, 0]
    expected = found.mechanism_.report_distribution(found.joint_.conditionals)[:, 1]
    seen = np.bincount(reports, minlength=len(expected)) / n
    assert np.abs(seen - expected).max() < np.sqrt(np.log(6e9) / (2 * n))  # Hoeffding, 3 symbols
    with pytest.raises(ValueError, match=r"column 0 has 1 row with a value .*`categories`"):
        found.transform([[0, 1], [7, 1]])


def test_weights_are_repeated_rows():
    weighted = fit(SPARSE)
    rows = np.repeat(rows_of(SPARSE), SPARSE.ravel(), axis=0)
    repeated = clone(weighted).set_params(categories=[[0, 1, 2], [0, 1, 2, 3]]).fit(rows)
    np.testing.assert_array_equal(weighted.mechanism_.weights, repeated.mechanism_.weights)
    assert weighted.distortion_ == repeated.distortion_
    by_weight = weighted.score(rows_of(SPARSE), sample_weight=SPARSE.ravel())
    assert by_weight == pytest.approx(weighted.score(rows), rel=1e-12)
    assert by_weight == pytest.approx(-weighted.distortion_, rel=1e-12)


# --- How reports leave ---------------------------------------------------------------------------

N_ROWS = 80


def columns():
    rng = np.random.default_rng(0)
    sizes = rng.choice(["S", "M", "L"], N_ROWS)
    return {
        "age": rng.integers(0, 3, N_ROWS),
        "ill": rng.random(N_ROWS) < 0.4,
        "size": sizes,
    }


def frame_of(library):
    data = columns()
    if library == "pandas":
        sizes = pd.CategoricalDtype(["S", "M", "L", "XL"], ordered=True)
        data["size"] = pd.Categorical(data["size"], dtype=sizes)
        data["age"] = pd.array(data["age"], dtype="Int64")
        return pd.DataFrame(data, index=pd.Index(np.arange(N_ROWS)[::-1] * 3, name="row"))
    if library == "polars":
        pl = pytest.importorskip("polars")
        kinds = {"age": pl.UInt8, "ill": pl.Boolean, "size": pl.Enum(["S", "M", "L", "XL"])}
        return pl.DataFrame({k: v.tolist() for k, v in data.items()}, schema=kinds)
    pa = pytest.importorskip("pyarrow")
    return pa.table(
        {
            "age": pa.array(data["age"], pa.int16()),
            "ill": data["ill"].tolist(),
            "size": pa.array(data["size"].tolist()).dictionary_encode(),
        }
    )


def names_of(table):
    return list(getattr(table, "column_names", None) or table.columns)


@pytest.mark.parametrize(
    ("sensitive", "library"),
    [
        ("ill", "pandas"),
        ([1], "polars"),
        ([1], "pyarrow"),
        (["size", "age"], "pandas"),
        (["age"], "pyarrow"),
        (lambda X: ["ill", "size"], "polars"),
    ],
    ids=["name", "position", "position of arrow", "two", "first", "function"],
)
def test_cells_are_the_columns_of_u(library, sensitive):
    X = frame_of(library)
    found = RobustMSESanitizer(
        2.0, sensitive=sensitive, distance="hamming", random_state=0, time_limit=0.1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        Y = found.fit(X).transform(X)
    secret = sensitive(X) if callable(sensitive) else sensitive
    secret = ["ill"] if secret in ("ill", [1]) else secret
    expected = [name for name in ("age", "ill", "size") if name not in secret]
    assert names_of(Y) == expected == list(found.get_feature_names_out())
    assert type(Y) is type(X) and Y.shape == (N_ROWS, len(expected))
    if library == "pandas":
        pd.testing.assert_index_equal(Y.index, X.index)
        pd.testing.assert_series_equal(Y.dtypes, X.dtypes[expected])
    else:
        assert Y.schema == X.select(expected).schema
    # they are the symbols that were drawn
    drawn = found.set_params(encode="symbol").transform(X)
    symbols = [found.mechanism_.symbols[int(y)] for y in np.asarray(drawn["report"])]
    cells = [np.asarray(Y[name]).tolist() for name in expected]
    rows = cells[0] if len(expected) == 1 else list(zip(*cells, strict=True))
    assert rows == symbols


def test_cells_of_arrays_and_lists():
    for X in (rows_of(SPARSE), rows_of(SPARSE).astype(np.uint8)):
        Y = RobustMSESanitizer(1.0).fit(X, sample_weight=SPARSE.ravel()).transform(X)
        assert type(Y) is np.ndarray and Y.shape == (12, 1) and Y.dtype == X.dtype
    X = [["yes", 1], ["no", 2], ["no", 1], ["yes", 2]] * 20
    found = RobustMSESanitizer(1.0, random_state=0).fit(X)
    Y = found.transform(X)
    assert Y.shape == (80, 1) and set(Y[:, 0]) == {1, 2}
    assert list(found.get_feature_names_out()) == ["x1"]
    assert list(found.get_feature_names_out(["married", "children"])) == ["children"]
    last = RobustMSESanitizer(1.0, sensitive=-1).fit([row[::-1] for row in X])
    assert list(last.get_feature_names_out()) == ["x0"]
    Y = found.set_output(transform="pandas").transform(X)
    assert list(Y.columns) == ["x1"] and pd.api.types.is_integer_dtype(Y["x1"])


def test_a_table_of_another_library():
    pl = pytest.importorskip("polars")
    found = RobustMSESanitizer(sensitive="ill", distance="hamming", time_limit=0.1)
    found.set_params(uncertainty=AllDistributions()).fit(frame_of("pandas"))
    X = frame_of("polars")
    assert found.transform(X).schema == X.select("age", "size").schema
    assert isinstance(found.set_output(transform="polars").transform(X), pl.DataFrame)


@pytest.fixture(scope="module")
def reporters():
    """Fitted once for each library."""
    found = {}

    def fitted(library, X):
        if library not in found:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PrivacyLeakWarning)
                found[library] = RobustMSESanitizer(2.0, random_state=0, time_limit=0.1).fit(X)
        return found[library]

    return fitted


@pytest.mark.parametrize("library", ["pandas", "polars", "numpy"])
@pytest.mark.parametrize("encode", ["symbol", "onehot", "posterior", "cells"])
@pytest.mark.parametrize("container", ["default", "pandas", "polars"])
def test_names_and_containers(library, encode, container, reporters):
    X = frame_of(library)[["ill", "age"]] if library != "numpy" else rows_of(SPARSE)
    if "polars" in (library, container):
        pytest.importorskip("pyarrow")
    found = reporters(library, X).set_params(encode=encode)
    Y = found.set_output(transform=container).transform(X)
    names, n_symbols = list(found.get_feature_names_out()), found.mechanism_.shape[0]
    assert Y.shape == (len(X), len(names))
    native = {"numpy": np.ndarray, "pandas": pd.DataFrame}
    if container == "default":
        assert type(Y) is type(X)
    elif container == "pandas":
        assert type(Y) is native["pandas"]
    if not isinstance(Y, np.ndarray):
        assert names_of(Y) == names
    secret, value = ("x0", "x1") if library == "numpy" else ("ill", "age")
    if encode == "cells":
        assert names == [value]
    elif encode == "symbol":
        assert names == ["report"] and np.asarray(Y).max() < n_symbols
    elif encode == "onehot":
        assert names == [f"report_{y}" for y in range(n_symbols)]
        assert np.all(np.asarray(Y).sum(axis=1) == 1) and np.all(np.isin(np.asarray(Y), (0, 1)))
    else:
        assert names == [
            *(f"{secret}_{s}" for s in found.joint_.secrets),
            *(f"{value}_{u}" for u in found.joint_.values),
        ]


def test_posterior_is_bayes_rule():
    X = frame_of("pandas")
    found = RobustMSESanitizer(
        2.0,
        sensitive=["ill"],
        distance="hamming",
        outputs=[(0, "S"), (1, "M"), (2, "L"), (2, "XL")],
        encode="posterior",
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        Y = found.fit(X).transform(X)
    joint = found.mechanism_.matrix * found.joint_.probabilities.ravel()
    share = joint / joint.sum(axis=1, keepdims=True)
    reports = found.set_params(encode="symbol").transform(X)["report"]
    for place, (name, categories) in enumerate(
        [("age", [0, 1, 2]), ("ill", [False, True]), ("size", ["S", "M", "L", "XL"])]
    ):
        for category in categories:
            of_category = [(u[0], s, u[1])[place] == category for s, u in found.mechanism_.cells]
            expected = share[reports][:, of_category].sum(axis=1)
            np.testing.assert_allclose(Y[f"{name}_{category}"], expected, atol=1e-12)
        part = [column for column in Y.columns if column.startswith(name)]
        np.testing.assert_allclose(Y[part].sum(axis=1), 1.0)
    assert Y.shape[1] == 9 and Y.index.equals(X.index)


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


def test_score_at_a_distribution_of_the_set_is_above_its_bound():
    found = fit(SPARSE)
    counts = np.round(1e6 * found.worst_case_distribution_).astype(int)
    score = found.score(rows_of(SPARSE), sample_weight=counts.ravel())
    assert -found.worst_case_distortion_ == pytest.approx(score, rel=1e-4)


def test_score_follows_what_was_fitted():
    found = fit(SPARSE)
    before = found.score(rows_of(SPARSE))
    found.set_params(distance="hamming", outputs=[0])
    assert found.score(rows_of(SPARSE)) == before


# --- Estimator -----------------------------------------------------------------------------------


def test_fitted_attributes():
    X = frame_of("pandas")[["ill", "age"]]
    found = RobustMSESanitizer(sensitive=0, uncertainty=RenyiBall(beta=0.2)).fit(X)
    assert found.n_features_in_ == 2 and list(found.feature_names_in_) == ["ill", "age"]
    assert found.mechanism_.columns == (("ill", True), ("age", False))
    assert found.uncertainty_ is not found.uncertainty and found.uncertainty_.beta == 0.2
    assert isinstance(found.distortion_, float) and isinstance(found.worst_case_distortion_, float)
    assert not hasattr(found, "mutual_information_")
    assert found.solution_.seconds > 0 and found.solution_.iterations > 0


def fitted_state(sanitizer):
    parameters = sanitizer.get_params()
    return {name: value for name, value in vars(sanitizer).items() if name not in parameters}


class Odd(Exception):
    """What a user's distance raises."""


def breaks(u, y):
    raise Odd


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"outputs": []}, ValueError),
        ({"distance": "hammin"}, ValueError),
        ({"distance": breaks}, Odd),
        ({"uncertainty": RenyiBall(0.2, radius=0.1)}, ValueError),
    ],
    ids=["no outputs", "no distance", "its own error", "no such region"],
)
def test_a_fit_that_fails_changes_nothing(parameters, error):
    found = fit(outputs=[0.5, 1.5])
    before, score = fitted_state(found), found.score(rows_of(COUNTS))
    with pytest.raises(error):
        found.set_params(**{"outputs": None, **parameters})
        found.fit(rows_of(SPARSE), sample_weight=SPARSE.ravel())
    assert fitted_state(found) == before
    assert found.score(rows_of(COUNTS)) == score
    assert set(found.transform(rows_of(COUNTS))[:, 0]) <= {0.5, 1.5}


def test_column_names_that_scikit_learn_refuses_change_nothing():
    X = pd.DataFrame(np.repeat(rows_of(COUNTS), COUNTS.ravel(), axis=0), columns=["s", "u"])
    found = RobustMSESanitizer(0.5, sensitive=0, outputs=[0.5, 1.5]).fit(X)
    before, score = fitted_state(found), found.score(X)
    with pytest.raises(TypeError, match="string names"):
        found.set_params(outputs=[0, 5]).fit(X.set_axis(["s", 1], axis=1))
    assert found.score(X) == score
    assert fitted_state(found) == before


def test_outputs_that_can_be_read_only_once():
    """They are refused or they work; nothing in between."""
    found = RobustMSESanitizer(0.5, uncertainty=RenyiBall(), outputs=iter([0, 1, 2]))
    try:
        found.fit(rows_of(COUNTS), sample_weight=COUNTS.ravel())
    except ValueError as error:
        assert "empty" not in str(error)
        assert not fitted_state(found)
    else:
        assert found.distortion_ == fit().distortion_


def test_a_warning_made_an_error_changes_nothing():
    found = fit()
    before, score = fitted_state(found), found.score(rows_of(COUNTS))
    found.set_params(robust_privacy=False, outputs=[0, 5])
    with pytest.raises(PrivacyLeakWarning, match="robust_privacy=False"):
        found.fit(rows_of(SPARSE), sample_weight=SPARSE.ravel())
    assert fitted_state(found) == before and found.score(rows_of(COUNTS)) == score


@pytest.mark.parametrize(
    ("parameters", "messages"),
    [
        (
            {"robust_privacy": False},
            ["robust_privacy=False: privacy holds for the public distribution"],
        ),
        ({"uncertainty": RenyiBall(radius=0.0)}, ["the uncertainty set has radius 0"]),
        (
            {"uncertainty": RenyiBall(radius=0.0), "robust_privacy": False},
            ["the uncertainty set has radius 0"],
        ),
    ],
    ids=["one distribution", "radius 0", "both"],
)
def test_warnings_are_made_once_and_point_at_the_caller(parameters, messages):
    with pytest.warns(PrivacyLeakWarning) as caught:
        RobustMSESanitizer(**parameters).fit(rows_of(COUNTS), sample_weight=COUNTS.ravel())
    assert [
        str(warning.message)[: len(m)] for warning, m in zip(caught, messages, strict=True)
    ] == messages
    assert caught[0].filename == __file__


def test_clone_and_parameters():
    table = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    asked = {"distance": table, "outputs": [0, 1, 2], "robust_utility": False, "tol": 1e-3}
    found = fit(uncertainty=None, **asked)
    copy = clone(found)
    assert copy.get_params() == found.get_params() and not hasattr(copy, "mechanism_")
    assert copy.fit(rows_of(COUNTS), sample_weight=COUNTS.ravel()).distortion_ == found.distortion_
    names = RobustMSESanitizer(uncertainty=RenyiBall()).get_params()
    assert {
        "robust_utility",
        "robust_privacy",
        "distance",
        "outputs",
        "uncertainty__region",
    } <= set(names)
    again = RobustMSESanitizer().set_params(**{k: v for k, v in names.items() if "__" not in k})
    assert again.set_params(uncertainty__beta=0.3).get_params()["uncertainty__beta"] == 0.3
    arrays = RobustMSESanitizer(distance=np.eye(3), outputs=np.arange(3))
    assert "outputs=array([0, 1, 2])" in repr(clone(arrays))
    assert "RobustMSESanitizer" in arrays._repr_html_()


def test_pickle():
    found = fit(SPARSE, distance=squared, outputs=[0.5, 2.5], random_state=0)
    again = pickle.loads(pickle.dumps(found))
    X = np.repeat(rows_of(SPARSE), 10, axis=0)
    np.testing.assert_array_equal(again.transform(X), found.transform(X))
    assert again.score(X) == found.score(X)
    assert again.certificate_.eps == found.certificate_.eps


def test_every_call_draws_anew_unless_seeded():
    X = np.repeat(rows_of(SPARSE), 100, axis=0)
    secure = fit(SPARSE)
    assert not np.array_equal(secure.transform(X), secure.transform(X))
    seeded = fit(SPARSE, random_state=3)
    np.testing.assert_array_equal(seeded.transform(X), seeded.transform(X))


def test_discretise_then_sanitize():
    rng = np.random.default_rng(0)
    income = rng.normal(40, 12, 500)
    X = pd.DataFrame({"income": income, "age": rng.normal(50, 10, 500) + income / 4})
    bins = KBinsDiscretizer(n_bins=[2, 5], encode="ordinal", strategy="uniform")
    private = Pipeline(
        [("bins", bins), ("priv", RobustMSESanitizer(sensitive=0, eps=1.0, random_state=0))]
    )
    Y = private.fit_transform(X)
    assert Y.shape == (500, 1) and set(Y[:, 0]) <= set(range(5))
    assert list(private.get_feature_names_out()) == ["age"]
    frame = private.set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns) == ["age"] and frame.index.equals(X.index)
    edges = private[0].bin_edges_[1]
    middles = (edges[:-1] + edges[1:]) / 2  # d(bin, age) where a bin stands for its middle
    distance = (middles[:, None] - np.arange(30, 90, 5)) ** 2
    private.set_params(priv__outputs=np.arange(30, 90, 5), priv__distance=distance)
    reports = private.fit(X).transform(X)["age"]
    assert reports.between(30, 85).all()
    assert private.score(X) == pytest.approx(-private[-1].distortion_)


def test_column_transformer():
    X = frame_of("pandas")[["ill", "age", "size"]]
    private = ColumnTransformer(
        [("priv", RobustMSESanitizer(sensitive=0, random_state=0), ["ill", "age"])],
        remainder="drop",
    ).set_output(transform="pandas")
    Y = private.fit_transform(X)
    assert list(Y.columns) == ["priv__age"] == list(private.get_feature_names_out())
    assert Y["priv__age"].dtype == "Int64" and Y.index.equals(X.index)


@leaks
def test_grid_search():
    rng = np.random.default_rng(0)
    secret = rng.integers(0, 2, 600)
    X = np.column_stack([secret, rng.binomial(2, 0.3 + 0.3 * secret)])
    grid = {
        "eps": [0.3, 2.0],
        "robust_privacy": [True, False],
        "uncertainty__beta": [0.5, 0.01],
    }
    search = GridSearchCV(
        RobustMSESanitizer(uncertainty=RenyiBall()), grid, cv=2, error_score="raise"
    ).fit(X)
    results = pd.DataFrame(search.cv_results_)
    assert search.best_params_["eps"] == 2.0 and not search.best_params_["robust_privacy"]
    score = results.set_index([f"param_{name}" for name in grid])["mean_test_score"]
    assert (score.max() <= 0) and (score.xs(2.0) > score.xs(0.3)).all()
    private = score.xs(True, level="param_robust_privacy")
    assert (private < score.xs(False, level="param_robust_privacy")).all()
    wide, narrow = (private.xs(beta, level="param_uncertainty__beta") for beta in (0.01, 0.5))
    assert (wide < narrow).all()
    assert search.best_estimator_.uncertainty_.beta == search.best_params_["uncertainty__beta"]


def test_pipeline_passes_weights():
    private = make_pipeline(RobustMSESanitizer())
    private.fit(rows_of(COUNTS), robustmsesanitizer__sample_weight=COUNTS.ravel())
    assert private[-1].joint_.n == COUNTS.sum()


def test_verbose(capsys):
    fit()
    assert capsys.readouterr().out == ""
    found = fit(verbose=1)
    printed = capsys.readouterr().out
    assert "RobustMSESanitizer: S = column 0, U = column 1, JointDistribution(2 secrets" in printed
    assert f"distortion {found.distortion_:.5g} (at worst" in printed
