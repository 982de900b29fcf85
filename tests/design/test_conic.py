"""The conic programs that other tests compare with: right by references and by linear programs.

Each table, order and problem is met, not all of their combinations: what the package itself finds
is compared with every reference in tests/sanitizers/test_robust_mse.py.
"""

import itertools

import numpy as np
import pytest
from conftest import EXAMPLE, REFERENCE, excess
from conic_program import solve_conic
from published_conic import solve_published
from scipy.optimize import linprog

from skrldp import JointDistribution, RenyiBall
from skrldp.design.least_cost import minimise
from skrldp.design.programs import ExpectedCost
from skrldp.design.run import Limits
from skrldp.privacy.regions import privacy_region
from skrldp.privacy.requirements import Promise, Requirements, repair
from skrldp.sets.fitted_sets import RenyiSet

CASES = REFERENCE["mse"]
TABLES = {
    "2x2": EXAMPLE,
    "2x3": [[9, 6, 31], [40, 25, 14]],
    "2x3 zero": [[9, 0, 31], [40, 25, 14]],
    "3x2 unseen": [[20, 30], [0, 0], [14, 60]],
}


def distance(joint):
    """Squared distance of the positions of report and value, for each cell."""
    a1, a2 = joint.counts.shape
    value = np.arange(a2)
    return np.tile((value[:, None] - value) ** 2.0, (1, a1))


def problem(table, kind, alpha=2.0, *, robust=False, same_secret=False):
    """Return cost and region, both about the same ball."""
    joint = JointDistribution(TABLES[table] if isinstance(table, str) else table)
    ball = RenyiBall(alpha).radius_for(joint.n, joint.counts.size)
    radius = {"point": 0.0, "simplex": np.inf}.get(kind, ball)
    name = kind if kind in ("product", "box", "lower") else "joint"
    region = privacy_region(joint, RenyiSet(alpha, radius), region=name, same_secret=same_secret)
    distribution = joint.probabilities.ravel()
    return ExpectedCost(distance(joint), distribution, alpha, ball if robust else 0.0), region


def rows_of(matrix, region):
    return matrix.reshape(len(matrix), *region.conditionals.shape)


def violation(matrix, region, eps):
    """By how much the matrix is not private, made stochastic first."""
    clean = np.clip(matrix, 0.0, None)
    return excess(region, rows_of(clean / clean.sum(axis=0), region), eps).max()


def repaired_cost(result, cost, region, eps):
    """Worst expected cost after repair; what is repaired must be a private mechanism."""
    matrix = repair(result.matrix, Requirements.of(region, eps))
    assert np.all(matrix >= 0.0)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0, atol=1e-12)
    assert excess(region, rows_of(matrix, region), eps).max() <= 1e-14
    return cost.worst(matrix)[0]


def least_cost(cost, region_rows, n_distributions=None):
    """Solve the linear program over the matrices with region_rows @ Q_y <= 0, by scipy.

    The cost is the greatest of those at the distributions, or that at the centre of the ball.
    """
    distributions = [cost.distribution] if n_distributions is None else n_distributions
    b, a = cost.cost.shape
    private = np.kron(np.eye(b), region_rows) if len(region_rows) else np.zeros((0, a * b))
    at = np.array([cost.at(distribution).ravel() for distribution in distributions])
    above = np.block([[private, np.zeros((len(private), 1))], [at, np.full((len(at), 1), -1.0)]])
    sums = np.hstack([np.kron(np.ones((1, b)), np.eye(a)), np.zeros((a, 1))])
    goal = np.append(np.zeros(a * b), 1.0)
    bounds = [(0, None)] * (a * b) + [(None, None)]
    tolerances = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")
    found = linprog(
        goal,
        A_ub=above,
        b_ub=np.zeros(len(above)),
        A_eq=sums,
        b_eq=np.ones(a),
        bounds=bounds,
        options=dict.fromkeys(tolerances, 1e-10),
    )
    assert found.status == 0
    return found.fun, found.x[:-1].reshape(b, a)


def by_cuts(cost, region, eps, tolerance=1e-7, rounds=60):
    """The same optimum from distributions of the region alone: a lower bound that closes."""
    rows, distributions = [], [cost.distribution]
    for _ in range(rounds):
        value, matrix = least_cost(cost, np.array(rows), distributions)
        worst = region.worst(rows_of(np.clip(matrix, 0.0, None), region), eps, conditionals=True)
        broken = np.flatnonzero(worst.bound > tolerance)
        greatest, distribution = cost.worst(matrix)
        if len(broken) == 0 and greatest <= value + tolerance:
            return value
        distributions.append(distribution)
        for i in broken:
            cut = np.zeros(region.conditionals.shape)
            cut[worst.first[i]] += np.exp(-eps) * worst.conditionals[i, 0]
            cut[worst.second[i]] -= worst.conditionals[i, 1]
            rows.append(cut.ravel())
    raise AssertionError("the cuts do not close the gap")


@pytest.mark.parametrize(
    ("case", "kind"),
    list(zip(range(len(CASES)), itertools.cycle(["RURP", "NURP", "RUNP", "NUNP"]))),
)
def test_reference(case, kind):
    reference = CASES[case]
    eps = reference["eps"]
    cost, region = problem(
        reference["counts"], "joint" if kind[2] == "R" else "point", robust=kind[0] == "R"
    )
    result = solve_conic(cost, Requirements.of(region, eps))
    assert result.status == "optimal"
    assert result.value == pytest.approx(reference[kind], abs=1e-6)  # the references' accuracy
    assert violation(result.matrix, region, eps) <= 1e-8
    assert repaired_cost(result, cost, region, eps) == pytest.approx(reference[kind], abs=1e-6)


def test_what_the_published_form_hides():
    """It reports an optimum, below the true one, with a violation that is dear to repair."""
    reference = CASES[2]
    cost, region = problem(reference["counts"], "joint")
    published = solve_published(cost, Requirements.of(region, reference["eps"]))
    assert published.status == "optimal"
    assert 0.95 < published.value / reference["NURP"] < 0.999
    assert violation(published.matrix, region, reference["eps"]) > 1e-3
    after = repaired_cost(published, cost, region, reference["eps"])
    assert after > 1.1 * reference["NURP"]


@pytest.mark.parametrize(
    ("table", "alpha", "robust"),
    [
        ("2x3", 0.5, False),
        ("2x3 zero", 0.7, True),
        ("3x2 unseen", 1.0, False),
        ("2x3 zero", 2.0, True),
    ],
)
def test_joint_region_by_cuts(table, alpha, robust):
    """The cuts know distributions of the region only, and no dual."""
    cost, region = problem(table, "joint", alpha, robust=robust)
    result = solve_conic(cost, Requirements.of(region, 0.8))
    assert result.value == pytest.approx(by_cuts(cost, region, 0.8), abs=1e-6)
    assert repaired_cost(result, cost, region, 0.8) == pytest.approx(result.value, abs=1e-6)


@pytest.mark.parametrize(("table", "alpha"), list(zip(TABLES, itertools.cycle([0.3, 1.0, 2.0]))))
def test_product_region_by_cuts(table, alpha):
    cost, region = problem(table, "product", alpha, robust=True)
    result = solve_conic(cost, Requirements.of(region, 0.8))
    assert result.value == pytest.approx(by_cuts(cost, region, 0.8), abs=1e-6)


@pytest.mark.parametrize("kind", ["joint", "product"])
def test_a_secret_against_itself(kind):
    cost, region = problem("2x3", kind, same_secret=True)
    _, without = problem("2x3", kind)
    value = solve_conic(cost, Requirements.of(region, 0.8)).value
    assert value == pytest.approx(by_cuts(cost, region, 0.8), abs=1e-6)
    assert value > solve_conic(cost, Requirements.of(without, 0.8)).value + 1e-3


@pytest.mark.parametrize(("table", "worst_case"), list(zip(TABLES, itertools.cycle([True, False]))))
def test_all_distributions_and_the_public_distribution(table, worst_case):
    """Both are linear programs; the facets are written out here, one by one."""
    eps = 0.7
    for kind in ("simplex", "point"):
        cost, region = problem(table, kind)
        if worst_case:
            cost = ExpectedCost(cost.cost, cost.distribution, radius=np.inf)
        a1, a2 = region.conditionals.shape
        extremes = [
            region.conditionals[[s]] if kind == "point" and region.marginal[s] > 0 else np.eye(a2)
            for s in range(a1)
        ]
        facets = []
        for s, t in np.argwhere(~np.eye(a1, dtype=bool)):
            for most in extremes[s]:
                for least in extremes[t]:
                    facet = np.zeros((a1, a2))
                    facet[s], facet[t] = most, -np.exp(eps) * least
                    facets.append(facet.ravel())
        distributions = np.eye(a1 * a2) if worst_case else None
        expected, _ = least_cost(cost, np.array(facets), distributions)
        result = solve_conic(cost, Requirements.of(region, eps))
        assert result.status == "optimal"
        assert result.value == pytest.approx(expected, abs=1e-7)
        assert repaired_cost(result, cost, region, eps) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("options", [{"eps_all": 1.1}, {"known": (0,)}])
@pytest.mark.parametrize("observe", ["all", "nonsensitive"])
def test_several_requirements_by_the_central_path(options, observe):
    """Over the exact ball, where no linear program is the whole truth."""
    secrets, values = [(0, "a"), (0, "b"), (1, "a")], [(0, "p"), (0, "q"), (1, "p")]
    counts = [[10, 7, 101], [161, 144, 3], [6, 12, 59]]
    joint = JointDistribution(counts, secrets, values)
    promise = Promise.of(joint, RenyiSet(2.0, 0.02), 0.8, observe=observe, **options)
    required = promise.requirements()
    assert len(required) > 1
    table = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.5], [3.0, 2.0, 0.0]])
    cost = ExpectedCost(
        np.tile(table, (1, required.n_cells // 3)), required.fold(joint.probabilities)
    )
    found = minimise(cost, required, gap=1e-6, limits=Limits(None))
    result = solve_conic(cost, required)
    assert found.bound - 1e-7 <= result.value <= found.objective + 1e-7
    assert found.objective == pytest.approx(result.value, rel=1e-5)
    assert cost.worst(repair(result.matrix, required))[0] >= found.bound
