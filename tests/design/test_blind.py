"""Designs that do not see the secret: their region, their optima by other routes, their release."""

import itertools

import numpy as np
import pytest
from conftest import EXAMPLE, excess, on_the_boundary, optimum, random_directions
from conic_program import solve_conic
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from skrldp import JointDistribution, Mechanism
from skrldp.certificate import release
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.distance_problem import (
    DistanceProblem,
    distance_matrix,
    expected_distance,
)
from skrldp.design.engine import solve
from skrldp.design.newton_system import Point
from skrldp.design.pair_blocks import PairBlock, pair_function
from skrldp.design.vertices import facets
from skrldp.information import entropy, mutual_information, row_information
from skrldp.privacy.private_rows import Layout, LowerRegion, privacy_region
from skrldp.privacy.requirements import (
    Requirement,
    Requirements,
)
from skrldp.sets.fitted_sets import REGIONS, RenyiSet

KINDS = [*REGIONS, "simplex", "point"]
TABLES = [
    np.array([[300, 200, 100], [150, 250, 500]]),
    np.array([[78, 0, 16, 6], [217, 169, 0, 57], [20, 40, 0, 90]]),
    10 * EXAMPLE,
]
TOL = 1e-4
OBSERVED = ("nonsensitive", "all")


def region_of(joint, kind, *, alpha=2.0, radius=0.02, observe="nonsensitive"):
    radius = {"simplex": np.inf, "point": 0.0}.get(kind, radius)
    kind = kind if kind in REGIONS else "joint"
    layout = Layout.plain(*joint.counts.shape, observe)
    return privacy_region(joint, RenyiSet(alpha, radius), region=kind, layout=layout)


def random_rows(rng, n_rows, n_values):
    rows = rng.dirichlet(np.full(n_values, 0.5), size=n_rows)[:, None]
    return rows + 0.05 * (rng.random((n_rows, 1, 1)) < 0.5)


def tiled(matrix, joint):
    return np.tile(matrix, (1, len(joint.secrets)))


# --- The region ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "alpha"),
    [*itertools.product(REGIONS, (0.5, 1.0, 2.0)), ("simplex", 2.0), ("point", 2.0)],
)
def test_the_worst_pairs_are_those_of_tied_rows(kind, alpha):
    rng = np.random.default_rng(0)
    for counts in TABLES:
        joint = JointDistribution(counts)
        blind, seeing = (region_of(joint, kind, alpha=alpha, observe=o) for o in OBSERVED)
        assert blind.rows.parts.shape == (1, counts.shape[1])
        assert seeing.rows.parts.shape == counts.shape
        rows = random_rows(rng, 20, counts.shape[1])
        tied = np.repeat(rows, len(counts), axis=1)
        found = blind.worst(rows, 0.4, conditionals=True)
        expected = seeing.worst(tied, 0.4, conditionals=True)
        for part in ("row", "first", "second", "bound", "conditionals"):
            np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
        np.testing.assert_array_equal(excess(blind, rows, 0.4), excess(seeing, tied, 0.4))
        folded = Requirements.of(blind, 0.4).fold(joint.probabilities)
        np.testing.assert_array_equal(folded, joint.probabilities.sum(0))


# --- The central path ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["joint", "product", "lower", "point", "simplex"])
def test_hessians_of_tied_rows_are_sums_of_blocks(kind):
    """A blind row's Hessian is that of a row with equal parts, in the directions that keep them."""
    rng = np.random.default_rng(0)
    joint = JointDistribution(TABLES[0] if kind == "point" else TABLES[1] + 1)
    (a1, a2), b = joint.counts.shape, 3
    rows = rng.random((b, a2)) + 0.5
    tied = np.tile(rows, (1, a1))
    regions = [region_of(joint, kind, observe=o) for o in OBSERVED]
    if kind == "simplex":  # as lower bounds of 0
        regions = [LowerRegion.around(region) for region in regions]
    asked = [Requirement(region, 0.5) for region in regions]
    blind, seeing = (pair_function(one) for one in asked)
    np.testing.assert_array_equal(blind.parts(rows), seeing.parts(tied))
    parts = blind.parts(rows)
    lam = parts.max(axis=-1) + rng.random(parts.shape[:3])
    x = lam[..., None] - parts
    dual_x, slack, dual = rng.random(x.shape), rng.random(x.shape[:2]), rng.random(x.shape[:2])
    linearised = []
    for one, pairs, of_kind in zip(asked, (blind, seeing), (rows, tied), strict=True):
        n_kinds = 1 if pairs.fixed else 2
        point = Point(of_kind, (lam, slack), (slack, x)[:n_kinds], (dual, dual_x)[:n_kinds])
        linearised.append(PairBlock(one, pairs).linearise(point, np.full(b, 0.01)))
    found, expected = (of_rows.hessian() for of_rows in linearised)
    added = expected.reshape(b, a1, a2, a1, a2).sum(axis=(1, 3))
    np.testing.assert_allclose(found, added, rtol=1e-10, atol=1e-10)
    found, expected = (of_rows.gradient for of_rows in linearised)
    np.testing.assert_allclose(found, expected.reshape(b, a1, a2).sum(axis=1), rtol=1e-8, atol=1e-8)
    push = rng.random(x.shape)
    together = seeing.collect(push).reshape(b, a1, a2).sum(axis=1)
    np.testing.assert_allclose(blind.collect(push), together)


# --- RobustMSE -----------------------------------------------------------------------------------


def tied_program(joint, region, cost, eps):
    """The least cost by a linear program over all cells, with equal parts; polyhedral regions."""
    (a1, a2), b = joint.counts.shape, len(cost)
    limits, extremes = [], [region.vertices(s) for s in range(a1)]
    for s, t in itertools.permutations(range(a1), 2):
        for first, second in itertools.product(extremes[s], extremes[t]):
            row = np.zeros((a1, a2))
            row[s] += first
            row[t] -= np.exp(eps) * second
            limits += [np.kron(one, row.ravel()) for one in np.eye(b)]
    ties = [np.kron(one, np.kron(np.eye(a1)[s] - np.eye(a1)[0], u))
            for one in np.eye(b) for s in range(1, a1) for u in np.eye(a2)]  # fmt: skip
    sums = np.tile(np.eye(a1 * a2), (1, b))
    equal, right = np.concatenate([sums, ties]), np.append(np.ones(a1 * a2), np.zeros(len(ties)))
    found = linprog(
        (joint.probabilities.ravel() * np.tile(cost, (1, a1))).ravel(),
        A_ub=np.array(limits), b_ub=np.zeros(len(limits)), A_eq=equal, b_eq=right,
    )  # fmt: skip
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize(
    ("kind", "table"), [("box", 1), ("box", 2), ("lower", 1), ("simplex", 0), ("point", 1)]
)
def test_closest_reports_by_a_plain_linear_program(kind, table):
    joint = JointDistribution(TABLES[table])
    values = range(joint.counts.shape[1])
    distance, region = distance_matrix("squared", values), region_of(joint, kind)
    cost = expected_distance(joint, distance, RenyiSet(2.0, 0.0), observe="nonsensitive")
    found = solve(DistanceProblem(cost), Requirements.of(region, 0.5))
    assert found.objective == pytest.approx(tied_program(joint, region, distance.T, 0.5), rel=TOL)
    assert found.matrix.shape == distance.T.shape and found.gap <= TOL


def tied_conic(joint, cost, eps, radius):
    """The least cost over the exact ball of order 2, by section 4's bound, with equal parts."""
    import cvxpy as cp

    (a1, a2), b = joint.counts.shape, len(cost)
    distribution, weight, centre = joint.probabilities.sum(0), joint.marginal, joint.conditionals
    q = cp.Variable((b, a2), nonneg=True)
    limits = [cp.sum(q, axis=0) == 1]
    for y in range(b):
        for s, t in itertools.permutations(range(a1), 2):
            eta, total = cp.Variable(nonneg=True), np.expm1(radius / 2.0)
            bound = eta * total
            for secret, row in ((s, np.exp(-eps) * q[y]), (t, -q[y])):
                lam, mean, root = cp.Variable(), cp.Variable(), cp.Variable()
                p, kappa, x = centre[secret], eta * weight[secret], lam - row
                terms = [
                    p[u] * p[w] * cp.geo_mean(cp.hstack([x[u], x[w]]))
                    for u in range(a2) for w in range(a2) if p[u] > 0 and p[w] > 0
                ]  # fmt: skip
                limits += [x >= 0, mean <= cp.sum(cp.hstack(terms))]
                limits.append(cp.PowCone3D(kappa, mean, root, 2.0 / 3.0))
                bound = bound + lam + kappa - 3.0 * 2.0 ** (-2.0 / 3.0) * root
            limits.append(bound <= 0)
    return optimum(cp.Problem(cp.Minimize(cp.sum(cp.multiply(distribution * cost, q))), limits))


def test_closest_reports_over_the_ball_by_a_conic_program():
    joint = JointDistribution(TABLES[2])
    values = range(joint.counts.shape[1])
    distance = distance_matrix("absolute", values)
    cost = expected_distance(joint, distance, RenyiSet(2.0, 0.0), observe="nonsensitive")
    expected = tied_conic(joint, distance.T, 0.5, 0.02)
    asked = Requirements.of(region_of(joint, "joint"), 0.5)
    values = solve(DistanceProblem(cost), asked).objective, solve_conic(cost, asked).value
    assert values == pytest.approx([expected] * 2, rel=2e-4)


@pytest.mark.parametrize(
    ("alpha", "radius"),
    [(0.3, 0.05), (1.0, 0.05), (2.0, 0.05), (3.0, 0.05), (2.0, 0.0), (1.0, np.inf)],
)
def test_a_ball_of_joint_distributions_is_a_ball_for_u(alpha, radius):
    rng = np.random.default_rng(0)
    for counts in TABLES:
        joint = JointDistribution(counts)
        distance = rng.random((counts.shape[1], 4))
        cost, whole = (
            expected_distance(joint, distance, RenyiSet(alpha, radius), observe=o) for o in OBSERVED
        )
        for matrix in rng.dirichlet(np.ones(4), size=(5, counts.shape[1])).transpose(0, 2, 1):
            value, distribution = cost.worst(matrix)
            expected, full = whole.worst(tiled(matrix, joint))
            assert value == pytest.approx(expected, rel=1e-7)
            if np.isfinite(radius):
                np.testing.assert_allclose(
                    distribution, full.reshape(counts.shape).sum(0), atol=1e-4
                )


# --- PolyOpt -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "table"), [("box", 0), ("box", 2), ("lower", 1), ("simplex", 1), ("point", 1)]
)
def test_vertices_and_columns_agree(kind, table, cdd):
    joint = JointDistribution(TABLES[table])
    region = region_of(joint, kind)
    problem, requirements = CriterionProblem(joint), Requirements.of(region, 0.7)
    listed, generated = (solve(problem, requirements, solver=name) for name in ("vertices", "auto"))
    assert generated.objective == pytest.approx(listed.objective, rel=2e-4)
    assert generated.objective <= listed.objective * (1.0 + 1e-7)
    assert listed.objective <= generated.bound
    value = mutual_information(tiled(listed.matrix, joint), joint.probabilities.ravel())
    assert value == pytest.approx(listed.objective, rel=1e-9)
    extremes = [region.vertices(s) for s in range(region.n_secrets)]
    for s, t in itertools.permutations(range(region.n_secrets), 2):
        for first, second in itertools.product(extremes[s], extremes[t]):
            assert np.all(listed.matrix @ (np.exp(-0.7) * first - second) <= 1e-9)
    assert len(np.unique(facets(Requirements.of(region, 0.7)), axis=0)) == len(
        facets(Requirements.of(region, 0.7))
    )


@pytest.mark.parametrize("solver", ["vertices", "auto"])
@pytest.mark.parametrize("eps", [0.3, 2.0])
def test_for_all_distributions_it_is_plain_local_privacy_of_u(eps, solver, request):
    if solver == "vertices":
        request.getfixturevalue("cdd")
    joint = JointDistribution(TABLES[1])
    distribution = joint.probabilities.sum(axis=0)
    patterns = np.array(list(itertools.product([1.0, np.exp(eps)], repeat=len(distribution))))
    best = -linprog(
        -row_information(patterns, distribution), A_eq=patterns.T, b_eq=np.ones(len(distribution))
    ).fun
    found = solve(
        CriterionProblem(joint),
        Requirements.of(region_of(joint, "simplex"), eps),
        solver=solver,
        time_limit=None,
    )
    assert found.objective == pytest.approx(best, rel=1e-5)
    assert np.all(found.matrix.max(axis=1) <= np.exp(eps) * found.matrix.min(axis=1) * (1 + 1e-6))


@pytest.mark.parametrize("counts", [[[30, 20, 10]] * 2, [[3, 6], [10, 20], [1, 2]]])
def test_what_is_independent_of_s_is_told(counts):
    """At the public distribution alone: nothing about S is in U."""
    joint = JointDistribution(counts)
    distribution, values = joint.probabilities.sum(axis=0), range(len(counts[0]))
    region = region_of(joint, "point")
    found = solve(CriterionProblem(joint), Requirements.of(region, 0.1))
    assert found.objective == pytest.approx(entropy(distribution), rel=1e-6)
    distance = distance_matrix("squared", values)
    closest_ = solve(
        DistanceProblem(
            expected_distance(joint, distance, RenyiSet(2.0, 0.0), observe="nonsensitive")
        ),
        Requirements.of(region, 0.1),
    )
    assert closest_.objective <= 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["joint", "lower"])
def test_an_unseen_secret_may_have_any_distribution(kind):
    joint = JointDistribution([[30, 40, 50], [0, 0, 0]])
    found = solve(
        CriterionProblem(joint), Requirements.of(region_of(joint, kind), 0.5), time_limit=None
    )
    widest = solve(
        CriterionProblem(joint), Requirements.of(region_of(joint, "simplex"), 0.5), time_limit=None
    )
    assert widest.objective * (1.0 - TOL) <= found.objective
    _, certificate = release(
        found.matrix, Requirements.asked(joint, RenyiSet(2.0, 0.02), 0.5, observe="nonsensitive")
    )
    assert certificate.holds(0.5)


# --- The release ---------------------------------------------------------------------------------


@st.composite
def problems(draw):
    a1, a2 = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    counts = draw(st.lists(st.integers(0, 60), min_size=a1 * a2, max_size=a1 * a2))
    counts[0] += 1
    matrix = np.random.default_rng(draw(st.integers(0, 99))).dirichlet(np.ones(3), size=a2).T
    alpha, radius = (
        draw(st.sampled_from([0.7, 1.0, 2.0])),
        draw(st.sampled_from([0.0, 0.05, np.inf])),
    )
    return JointDistribution(np.reshape(counts, (a1, a2))), matrix, alpha, radius


@settings(max_examples=20)
@given(problems(), st.sampled_from([0.05, 0.5, 3.0]))
def test_what_is_released_is_proven_and_tied(problem, eps):
    joint, matrix, alpha, radius = problem
    mechanism, certificate = release(
        matrix, Requirements.asked(joint, RenyiSet(alpha, radius), eps, observe="nonsensitive")
    )
    assert certificate.holds(eps)
    assert mechanism.observe == "nonsensitive"
    (b, a), (a1, a2) = mechanism.shape, joint.counts.shape
    assert mechanism.weights.shape == mechanism.matrix.shape == (b, a) and a == a1 * a2
    parts = mechanism.weights.reshape(b, a1, a2)
    assert np.all(parts == parts[:, :1])
    seeing = Mechanism.from_matrix(mechanism.matrix, joint.secrets, joint.values)
    np.testing.assert_array_equal(seeing.weights, mechanism.weights)
    distribution = joint.probabilities
    assert mechanism.leakage(distribution) == pytest.approx(seeing.leakage(distribution), abs=1e-12)
    assert mechanism.leakage(distribution) <= certificate.eps + 1e-12
    value = mechanism.mutual_information(distribution)
    assert value == pytest.approx(seeing.mutual_information(distribution), abs=1e-12)


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_no_distribution_of_the_ball_leaks_more(alpha):
    rng = np.random.default_rng(0)
    joint, radius, eps = JointDistribution(TABLES[0]), 0.02, 1.0
    values = range(3)
    distance = distance_matrix("squared", values)
    region = region_of(joint, "joint", alpha=alpha, radius=radius)
    cost = expected_distance(joint, distance, RenyiSet(alpha, radius), observe="nonsensitive")
    mechanism, certificate = release(
        solve(DistanceProblem(cost), Requirements.of(region, eps)).matrix,
        Requirements.asked(joint, RenyiSet(alpha, radius), eps, observe="nonsensitive"),
    )
    distributions = on_the_boundary(
        joint.probabilities.ravel(), random_directions(rng, 900, 6), alpha, radius
    )
    leaks = [mechanism.leakage(distribution.reshape(2, 3)) for distribution in distributions]
    assert 0.9 * eps < max(leaks) <= certificate.eps <= eps
    assert certificate.eps_attained == pytest.approx(certificate.eps, abs=1e-6)


# --- The mechanism -------------------------------------------------------------------------------


def blind_mechanism():
    matrix = [[0.5, 0.25, 0.125], [0.5, 0.75, 0.875]]
    return Mechanism.from_matrix(matrix, ("no", "yes"), ("a", "b", "c"), observe="nonsensitive")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int64])
def test_values_and_cells_are_sampled_alike(dtype):
    mechanism = blind_mechanism()
    values = np.random.default_rng(0).integers(0, 3, size=1000).astype(dtype)
    expected = mechanism.sample(values, 0)
    for secrets in (np.ones(1000, dtype), np.arange(1000).astype(dtype) % 2):
        np.testing.assert_array_equal(mechanism.sample(secrets * dtype(3) + values, 0), expected)
    shares = np.bincount(mechanism.sample(np.full(40_000, 5, dtype), 1)) / 40_000
    np.testing.assert_allclose(shares, [0.125, 0.875], atol=0.01)
    assert mechanism.sample(np.zeros(0, dtype)).size == 0
