"""RobustMSESanitizer: the four problems, what is said of the mechanism, reports and scores."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import convex_solve, on_the_boundary, random_directions, renyi
from robust_mse_fits import (
    CASES,
    COUNTS,
    PROBLEMS,
    SPARSE,
    TOL,
    absolute,
    by_cell,
    fit,
    leaks,
    private_optimum,
    rows_of,
    squared,
    worst_of,
)
from sanitizer_fits import N_ROWS, frame_of
from sklearn.base import clone

from skrldp import (
    AllDistributions,
    JointDistribution,
    LikelihoodRatioSet,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    certify,
    privacy_report,
)
from skrldp.privacy.private_rows import privacy_region
from skrldp.sanitizers.access import changes_since_fit
from skrldp.sanitizers.robust_mse import fit_utility_set
from skrldp.sets.fitted_sets import RenyiSet

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
# The papers' set is meant here, and tables with rare cells too, for which that set is weak.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:the chi-squared set may miss:skrldp.PrivacyLeakWarning",
)


# --- The four problems ---------------------------------------------------------------------------


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(
    "case", CASES[:2], ids=lambda case: "x".join(map(str, np.shape(case["counts"])))
)
def test_reference(case, problem):
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
    assert found.certificate_.uncertainty.radius == found.uncertainty_.B_ == np.inf
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
        (
            0.05,
            r"utility_uncertainty=0\.05 must be None or an uncertainty set, such as RenyiBall\(",
        ),
        (RenyiBall(radius="finite-sample"), "is a bound for alpha=1 only"),
    ],
)
def test_sets_that_are_none_for_the_utility(wrong, message):
    for robust_utility in (True, False):
        with pytest.raises(ValueError, match=message):
            fit(utility_uncertainty=wrong, robust_utility=robust_utility)


BALLS = [
    RenyiBall(),
    RenyiBall(0.7),
    RenyiBall(4.0, radius=0.2),
    RenyiBall(1, radius="finite-sample"),
]


@pytest.mark.parametrize(
    ("ball", "problem"),
    [*((ball, "RURP") for ball in BALLS), *((BALLS[0], problem) for problem in ("NURP", "RUNP"))],
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
    region = privacy_region(
        JointDistribution([[0, 2, 1, 1], [3, 3, 2, 1]]), RenyiSet(0.3, 0.05), region="exact"
    )
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


def test_large_eps_reports_u_as_it_is():
    for counts, eps in ((COUNTS, 12.0), (SPARSE, 30.0), (COUNTS, 1e3)):
        found = fit(counts, eps)
        assert found.worst_case_distortion_ < 1e-4
        assert found.certificate_.holds(eps)
        np.testing.assert_array_equal(
            found.transform(rows_of(counts))[:, 0], rows_of(counts)[:, 1]
        )  # false once in 12,000 runs


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


# --- How reports leave ---------------------------------------------------------------------------


def names_of(table):
    return list(getattr(table, "column_names", None) or table.columns)


@pytest.mark.parametrize(
    ("sensitive", "library"),
    [
        ("ill", "pandas"),
        ([1], "polars"),
        ([1], "pyarrow"),
        (["size", "count"], "pandas"),
        (["count"], "pyarrow"),
        (lambda X: ["ill", "size"], "polars"),
    ],
    ids=["name", "position", "position of arrow", "two", "first", "function"],
)
def test_cells_are_the_columns_of_u(library, sensitive):
    X = frame_of(library)
    found = RobustMSESanitizer(2.0, sensitive=sensitive, distance="hamming", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        Y = found.fit(X).transform(X)
    secret = sensitive(X) if callable(sensitive) else sensitive
    secret = ["ill"] if secret in ("ill", [1]) else secret
    expected = [name for name in ("size", "ill", "count") if name not in secret]
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
    cells = [
        [None if pd.isna(cell) else cell for cell in np.asarray(Y[name]).tolist()]
        for name in expected
    ]
    rows = cells[0] if len(expected) == 1 else list(zip(*cells, strict=True))
    assert rows == symbols


def test_cells_of_arrays_and_lists():
    for X in (rows_of(SPARSE), rows_of(SPARSE).astype(np.uint8)):
        Y = RobustMSESanitizer(1.0, sensitive=0).fit(X, sample_weight=SPARSE.ravel()).transform(X)
        assert type(Y) is np.ndarray and Y.shape == (12, 1) and Y.dtype == X.dtype
    X = [["yes", 1], ["no", 2], ["no", 1], ["yes", 2]] * 20
    found = RobustMSESanitizer(1.0, random_state=0, sensitive=0).fit(X)
    Y = found.transform(X)
    assert Y.shape == (80, 1) and set(Y[:, 0]) == {1, 2}
    assert list(found.get_feature_names_out()) == ["x1"]
    assert list(found.get_feature_names_out(["married", "children"])) == ["children"]
    last = RobustMSESanitizer(1.0, sensitive=-1).fit([row[::-1] for row in X])
    assert list(last.get_feature_names_out()) == ["x0"]
    Y = found.set_output(transform="pandas").transform(X)
    assert list(Y.columns) == ["x1"] and pd.api.types.is_integer_dtype(Y["x1"])


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


def test_score_follows_what_was_fitted():
    found = fit(SPARSE)
    before = found.score(rows_of(SPARSE))
    found.set_params(distance="hamming")
    assert found.score(rows_of(SPARSE)) == before


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
        RobustMSESanitizer(sensitive=0, **parameters).fit(
            rows_of(COUNTS), sample_weight=COUNTS.ravel()
        )
    assert [
        str(warning.message)[: len(m)] for warning, m in zip(caught, messages, strict=True)
    ] == messages
    assert caught[0].filename == __file__
