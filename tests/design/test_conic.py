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
