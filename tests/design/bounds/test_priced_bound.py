"""The bound by pricing: never below what a mechanism reaches, and near the optimum."""

import numpy as np
import pytest
from scipy.special import xlogy

from skrldp import LikelihoodRatioSet, RenyiBall
from skrldp.design.bounds import priced_bound, relaxation_of
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.design.relaxation import Box
from skrldp.information import mutual_information
from skrldp.joint import JointDistribution
from skrldp.privacy.regions import Layout, privacy_region
from skrldp.privacy.requirements import Requirements

TABLES = {
    "2x3": [[30, 50, 20], [80, 40, 60]],
    "3x2": [[40, 90], [70, 30], [55, 65]],
    "with an empty cell": [[30, 0, 20], [80, 40, 60]],
}
SETS = {"ball": RenyiBall(), "likelihood ratios": LikelihoodRatioSet()}
GOAL = 0.02


def problem(counts, eps, kind="likelihood ratios", region="joint", **layout):
    joint = JointDistribution(counts)
    around = SETS[kind].fit_set(joint)
    return joint, Requirements.of(privacy_region(joint, around, region=region, **layout), eps)


@pytest.mark.parametrize(("name", "eps"), [("2x3", 0.4), ("3x2", 1.5), ("with an empty cell", 1.5)])
def test_the_optimum_by_vertices_is_met(name, eps):
    joint, requirements = problem(TABLES[name], eps, region="box")
    optimum = solve(CriterionProblem(joint), requirements, solver="vertices")
    assert optimum.status == "optimal"
    uninformed = np.ones((1, joint.counts.size))  # it finds all rows by itself
    found = priced_bound(joint, requirements, uninformed, goal=GOAL, solves=3_000)
    assert optimum.objective <= found.value <= optimum.objective * (1.0 + 2.0 * GOAL)
    assert found.reached <= optimum.objective + 1e-8


@pytest.mark.parametrize(
    ("name", "kind"), [("2x3", "ball"), ("with an empty cell", "likelihood ratios")]
)
def test_it_is_near_what_a_private_mechanism_reaches(name, kind):
    joint, requirements = problem(TABLES[name], 1.0, kind)
    uninformed = np.ones((1, joint.counts.size))
    found = priced_bound(joint, requirements, uninformed, goal=GOAL, solves=3_000)
    assert np.allclose(found.matrix.sum(axis=0), 1.0)
    assert requirements.shifts(found.matrix).max() <= 1e-8
    reached = mutual_information(found.matrix, joint.probabilities.ravel())
    assert reached == pytest.approx(found.reached, abs=1e-8)
    assert reached <= found.value <= reached * (1.0 + 1.01 * GOAL)
    # Its work is counted: with less of it the bound is a bound, and the same each time.
    less, again = (priced_bound(joint, requirements, found.matrix, solves=3) for _ in range(2))
    assert (again.value, again.solves) == (less.value, less.solves)
    assert less.value >= reached
    assert less.solves <= 6


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", TABLES)
def test_no_private_row_is_lost_or_undervalued(name, kind):
    """Rows on the boundary of privacy, boxes around them, and dual variables at random."""
    rng = np.random.default_rng(3)
    joint, requirements = problem(TABLES[name], 0.7, kind)
    distribution, a = joint.probabilities.ravel(), joint.counts.size
    relaxation = relaxation_of(joint.probabilities, joint.conditionals, requirements)
    seen = distribution > 0
    rows = requirements.shift(rng.dirichlet(np.full(a, 0.3), size=150))
    rows /= (rows @ distribution)[:, None]
    assert np.all(rows <= relaxation._most)
    relaxation.cut(rows[:50], -1e-3)
    means = np.einsum("bsu,su->bs", rows.reshape(-1, *joint.counts.shape), joint.conditionals)
    shapes = rows / np.repeat(means, joint.counts.shape[1], axis=1)
    points = np.concatenate([shapes[:, seen], means], axis=1)
    assert np.all((points >= relaxation.box.lower) & (points <= relaxation.box.upper))
    shrunk = left_out = 0
    for row, point in zip(rows, points, strict=True):
        duals = distribution * rng.normal(0.5, 0.5, size=a)
        reduced_cost = distribution @ xlogy(row, row) - duals @ row
        spread = rng.uniform(0.0, 0.9, size=(2, len(point)))
        # Many ranges end at the row, and in some boxes nearly all do.
        spread *= rng.random(spread.shape) < rng.choice([0.05, 0.5])
        box = Box(point * (1.0 - spread[0]), point * (1.0 + spread[1]))
        priced = relaxation.price(box, duals, reduced_cost - 1e-3)
        assert priced is not None
        assert priced.bound >= reduced_cost - 1e-12
        kept(point, priced.box, priced.hole)
        # Whatever the dual variables are, they prove a bound, and leave no such row out.
        length = relaxation._program.n_rows
        y = rng.normal(size=length) * (rng.random(length) < 0.3)
        bound, smaller, hole = relaxation.proven(box, duals, y, reduced_cost - 0.1)
        assert bound >= reduced_cost - 1e-12
        kept(point, smaller, hole)
        kept(point, relaxation._ranges.within(box), hole)
        shrunk += np.any(priced.box.upper - priced.box.lower < 0.9 * (box.upper - box.lower))
        left, right = priced.hole
        left_out += np.any((box.lower < left) & (left < right) & (right < box.upper))
    assert shrunk > 5  # so the test has seen what could go wrong
    assert left_out > 5


def kept(point, box, hole):
    """Assert that the box has the point, and the hole has not."""
    assert np.all((box.lower <= point + 1e-12) & (point <= box.upper + 1e-12))
    assert not np.any((hole[0] + 1e-12 < point) & (point < hole[1] - 1e-12))


def test_a_bound_that_comes_down_too_slowly_is_given_up():
    few = [[9, 1, 0, 1, 2, 1], [1, 3, 4, 1, 6, 1]]
    joint, requirements = problem(few, 1.0)
    found = priced_bound(joint, requirements, np.ones((1, 12)))
    assert 100 <= found.solves < 150
    more = priced_bound(joint, requirements, found.matrix, solves=30)
    assert found.reached < found.value < more.value


def test_designs_state_it():
    joint, requirements = problem(TABLES["2x3"], 1.0)
    quick = solve(CriterionProblem(joint), requirements)
    found = solve(CriterionProblem(joint), requirements, time_limit=600.0)
    assert (quick.status, found.status) == ("converged", "converged")
    assert found.objective <= found.bound <= found.objective * 1.0011
    assert quick.objective <= quick.bound and found.bound <= quick.bound


def test_where_it_does_not_apply():
    joint, requirements = problem([[30, 50, 20], [0, 0, 0]], 1.0)
    assert priced_bound(joint, requirements, np.ones((1, 6))) is None
    joint, requirements = problem(
        TABLES["2x3"], 1.0, layout=Layout.plain(2, 3, observe="nonsensitive")
    )
    assert priced_bound(joint, requirements, np.ones((1, 3))) is None
