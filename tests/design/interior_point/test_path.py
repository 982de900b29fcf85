"""The central path reaches optima, with a proof at every step."""

import cvxpy as cp
import numpy as np
import pytest
from conftest import excess, optimum
from path_tables import TABLES, has_path, region_of
from scipy.optimize import linprog

from skrldp import JointDistribution, RenyiBall
from skrldp.design import newton_system as part_module
from skrldp.design.central_path import CentralPath
from skrldp.design.limits import Workers
from skrldp.design.path_blocks import path_blocks
from skrldp.design.programs import ExpectedCost
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet


def vertices_of(region, secret):
    """Extreme conditionals of a polyhedral region (not of boxes)."""
    a2 = region.conditionals.shape[1]
    if region.uncertainty.is_point:
        return region.conditionals[[secret]] if region.marginal[secret] > 0 else np.eye(a2)
    if region.uncertainty.is_everything:
        return np.eye(a2)
    lower = region.lower[secret]
    return lower + (1.0 - lower.sum()) * np.eye(a2)


def privacy_rows(requirements, b):
    """Every privacy constraint of polyhedral regions, dense, on the whole mechanism."""
    rows = []
    for one in requirements:
        layout = one.region.rows
        for s1, s2 in zip(*one.region.pairs, strict=True):
            if s1 == s2:
                continue
            for first in vertices_of(one.region, s1):
                for second in vertices_of(one.region, s2):
                    row = np.zeros(layout.n_cells)
                    np.add.at(row, layout.parts[layout.place[s1]], first)
                    np.add.at(row, layout.parts[layout.place[s2]], -np.exp(one.eps) * second)
                    rows += [np.kron(y, row) for y in np.eye(b)]
    return np.array(rows)


def exact(cost, requirements):
    """The optimum: by linear programming, or as a cone program if the cost is of a finite ball."""
    b, a = cost.cost.shape
    rows, columns = privacy_rows(requirements, b), np.tile(np.eye(a), b)
    if not cost.robust:
        found = linprog(
            cost.at(cost.distribution).ravel(), rows, np.zeros(len(rows)), columns, np.ones(a)
        )
        assert found.status == 0
        return found.fun
    matrix, top = cp.Variable(b * a, nonneg=True), cp.Variable()
    cells = cp.sum(cp.multiply(cost.cost, cp.reshape(matrix, (b, a), order="C")), axis=0)
    limits = [rows @ matrix <= 0, columns @ matrix == 1, top >= cells]
    value, distribution = top, cost.distribution
    if np.isfinite(cost.radius):
        # sup of P.c over the ball, by the dual with both multipliers (ISIT Theorem 2 at alpha=2)
        dual = cp.Variable(nonneg=True)
        seen = np.flatnonzero(distribution > 0)
        gaps, p = (top - cells)[seen], distribution[seen]
        if cost.alpha == 1.0:
            terms = cp.rel_entr(dual * np.ones(len(seen)), gaps)
            value = top - dual + cost.radius * dual + p @ terms
        else:
            assert cost.alpha == 2.0
            root = cp.Variable(len(seen))
            limits += [
                cp.SOC(dual + gaps[i], cp.hstack([2 * root[i], dual - gaps[i]]))
                for i in range(len(seen))
            ]
            value = top + np.exp(cost.radius) * dual - 2 * p @ root
    return optimum(cp.Problem(cp.Minimize(value), limits))


def proven(path, cost, requirements):
    """The lower bound that the path's conditionals give, in plain loops."""
    distribution = cost.pull_in(path.distribution())
    assert distribution.sum() == pytest.approx(1.0, abs=1e-12)
    b, a = path.rows.shape
    lagrangian = (distribution * cost.cost).reshape(b, a).copy()
    for one, (cuts, multipliers) in zip(requirements, path.cuts(), strict=True):
        assert np.all(multipliers >= 0.0) and np.all(cuts.conditionals >= 0.0)
        np.testing.assert_allclose(cuts.conditionals.sum(axis=-1), 1.0, rtol=1e-12)
        if not one.everywhere:  # they are in the region
            first, second = (np.tile(secret, b) for secret in one.region.pairs)
            inside = one.region.pull_in(first, second, cuts.conditionals)
            np.testing.assert_allclose(cuts.conditionals, inside, atol=1e-9)
        for y, entries, pair, eps, multiplier in zip(
            cuts.row, cuts.entries, cuts.conditionals, cuts.eps, multipliers, strict=True
        ):
            np.add.at(lagrangian[y], entries[0], multiplier * np.exp(-eps) * pair[0])
            np.add.at(lagrangian[y], entries[1], -multiplier * pair[1])
    return lagrangian.min(axis=0).sum()


def shifted(rows, requirements):
    """A private mechanism (b, a) near the rows, by as much of each report as they lack."""
    rows = rows / rows.sum(axis=0)
    shift = [excess(one.region, rows, one.eps) / np.expm1(one.eps) for one in requirements]
    shift = np.max(shift, axis=0) * (1 + 1e-9)
    rows = (rows + shift[:, None]) / (1.0 + shift.sum())
    assert all(excess(one.region, rows, one.eps).max() <= 1e-15 for one in requirements)
    return rows


def cost_of(region, kind, b=3, radius=0.0, alpha=2.0, seed=11):
    distribution = (region.marginal[:, None] * region.conditionals).ravel()
    rng = np.random.default_rng(seed)
    if kind == "negative":
        return ExpectedCost(
            rng.normal(size=(b, len(distribution))) - 2.0, distribution, alpha, radius
        )
    distance = np.subtract.outer(np.linspace(0, 2, b), np.arange(region.conditionals.shape[1])) ** 2
    return ExpectedCost(np.tile(distance, (1, region.n_secrets)), distribution, alpha, radius)


# Each kind of region on each table, each cost with each ball: not all of their combinations.
@pytest.mark.parametrize(
    ("kind", "costs", "radius", "alpha", "table"),
    [
        ("lower", "distance", 0.0, 2.0, "3x3"),
        ("lower", "negative", 0.0, 2.0, "zero cells"),
        ("lower", "distance", 0.1, 2.0, "zero cells"),
        ("lower", "negative", 0.1, 1.0, "3x3"),
        ("lower", "distance", 0.1, 2.0, "unseen"),
        ("simplex", "distance", 0.02, 1.0, "3x3"),
        ("simplex", "distance", 0.02, 1.0, "unseen"),
        ("simplex", "negative", np.inf, 2.0, "zero cells"),
        ("point", "distance", 0.0, 2.0, "zero cells"),
        ("point", "negative", 0.3, 2.0, "3x3"),
        ("point", "distance", np.inf, 0.5, "3x3"),
        ("point", "distance", np.inf, 0.5, "zero cells"),
    ],
)
def test_reaches_the_optimum_with_a_proof_at_every_step(kind, costs, radius, alpha, table):
    eps = 0.7
    if not has_path(table, kind):
        return
    region = region_of(table, kind)
    cost = cost_of(region, costs, radius=radius, alpha=alpha)
    best = exact(cost, Requirements.of(region, eps))
    scale = np.abs(cost.cost).max()
    sure = 1e-12 if not cost.robust else 3e-8  # the conic solver's accuracy
    required = Requirements.of(region, eps)
    path = CentralPath(cost, path_blocks(required))
    bounds = [proven(path, cost, required)]
    for _ in range(80):
        if path.gap < 1e-7 * scale or not path.advance(3e-8 * scale):
            break
        bounds.append(proven(path, cost, required))
        assert path.steps == len(bounds) - 1
    assert max(bounds) <= best + sure * scale
    assert max(bounds) >= best - 1e-6 * scale
    assert path.gap <= 1e-6 * scale
    # the mechanism is nearly stochastic, private and optimal
    assert np.all(path.rows > 0.0)
    np.testing.assert_allclose(path.rows.sum(axis=0), 1.0, atol=1e-7)
    assert excess(region, path.rows, eps).max() <= 1e-6
    value = cost.worst(path.rows)[0]
    assert value == pytest.approx(best, abs=3e-6 * scale)
    assert path.value == pytest.approx(best, abs=3e-6 * scale)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["joint", "product"])
@pytest.mark.parametrize(
    ("alpha", "radius"),
    [(0.6, 0.05), (0.8, 0.0), (0.8, 0.05), (1.0, 0.05), (1.5, 0.05), (4.0, 0.05), (4.0, np.inf)],
)
def test_a_proof_at_every_step_over_balls(kind, alpha, radius):
    """No bound on the way passes the cost of the private mechanism at the end."""
    eps = 0.7
    region = region_of("zero cells", kind, alpha)
    cost = cost_of(region, "distance", b=4, radius=radius, alpha=alpha)
    required = Requirements.of(region, eps)
    path = CentralPath(cost, path_blocks(required))
    bounds = [proven(path, cost, required)]
    arrived = 0
    while arrived < 10 and path.advance(1e-6):
        bounds.append(proven(path, cost, required))
        arrived += path.gap <= 2e-6
        assert path.steps < 80
    value = cost.worst(shifted(path.rows, required))[0]
    assert max(bounds) <= value
    assert max(bounds) == pytest.approx(value, rel=2e-5)


@pytest.mark.parametrize("problem", ["NUNP", "RURP"])
def test_without_an_aim_until_rounding_ends_it(problem):
    """The bounds stay bounds where nothing else can be relied on any more."""
    joint = JointDistribution(TABLES["3x3"])
    radius = RenyiBall().radius_for(joint.n, 9)
    private, useful = (radius if letter == "R" else 0.0 for letter in (problem[2], problem[0]))
    region = privacy_region(joint, RenyiSet(2.0, private))
    cost = cost_of(region, "distance", radius=useful)
    required = Requirements.of(region, 0.5)
    path = CentralPath(cost, path_blocks(required))
    bounds, values = [], []
    while path.advance():
        bounds.append(proven(path, cost, required))
        values.append(cost.worst(shifted(path.rows, required))[0])
        assert path.steps < 200
    assert max(bounds) <= min(values)
    assert max(bounds) == pytest.approx(min(values), rel=1e-5)


def test_the_same_with_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(part_module, "_ENTRIES", 0)
    region = region_of("zero cells", "joint", 1.5)
    cost = cost_of(region, "negative", b=5, radius=0.1, alpha=1.5)

    def run(n_jobs, parts=5):
        workers = Workers(n_jobs)
        path = CentralPath(cost, path_blocks(Requirements.of(region, 0.4)), workers=workers)
        while path.steps < 15 and path.advance(1e-6):
            pass
        workers.close()
        assert len(path.cuts()) == parts
        cuts = np.concatenate([cuts.conditionals for cuts, _ in path.cuts()])
        rows = np.concatenate([cuts.row for cuts, _ in path.cuts()])
        multipliers = np.concatenate([found for _, found in path.cuts()])
        return path.rows, rows, cuts, multipliers, path.distribution(), path.gap

    first, *others = run(1), run(1), run(3)
    for other in others:
        for one, same in zip(first, other, strict=True):
            np.testing.assert_array_equal(one, same)
    monkeypatch.undo()  # all in one part: but for rounding
    for one, same in zip(first[:2], run(1, parts=1)[:2], strict=True):
        np.testing.assert_allclose(one, same, atol=1e-9)


@pytest.mark.parametrize("radius", [0.1, np.inf])
def test_a_cost_that_only_cells_without_records_have(radius):
    """At the public distribution all is free, so that its mean cost is no unit for the start."""
    joint = JointDistribution([[10, 20, 0], [30, 15, 0]])
    region = privacy_region(joint, RenyiSet(2.0, 0.05), region="lower")
    cost = np.zeros((2, 6))
    cost[1, 2], cost[0, 5] = 1.0, 1.0
    cost = ExpectedCost(cost, joint.probabilities.ravel(), 2.0, radius)
    required = Requirements.of(region, 0.5)
    path = CentralPath(cost, path_blocks(required))
    while path.gap > 1e-6 and path.advance(1e-7):
        assert path.steps < 80
    assert path.value == pytest.approx(exact(cost, required), abs=1e-5)


def lists():
    """Requirements of several kinds on the same rows, over polyhedral regions."""
    secrets = [(0, "a"), (0, "b"), (1, "a")]
    values = [(0, "p"), (0, "q"), (1, "p")]
    joint = JointDistribution(TABLES["3x3"], secrets, values)
    ball = RenyiSet(2.0, 0.05)
    for options in (
        {"eps": 0.5, "eps_worst_case": 1.2},
        {"eps": 0.5, "known": (0,)},
    ):
        for observe in ("all", "nonsensitive"):
            promise = Requirements.asked(joint, ball, **options, observe=observe)
            yield joint, promise.over("lower"), ball


@pytest.mark.parametrize(("case", "robust"), [(i, i // 2 % 2 == 0) for i in range(4)])
def test_several_requirements_by_a_linear_program(case, robust):
    joint, required, ball = list(lists())[case]
    distance = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.5], [3.0, 2.0, 0.0], [1.0, 1.0, 1.0]])
    cost = np.tile(distance, (1, required.n_cells // 3))
    radius = ball.radius if robust else 0.0
    cost = ExpectedCost(cost, required.fold(joint.probabilities), 2.0, radius)
    best = exact(cost, required)
    path = CentralPath(cost, path_blocks(required))
    bounds = []
    while path.gap > 1e-7 and path.advance(3e-8):
        assert path.steps < 80
        bounds.append(proven(path, cost, required))
    assert max(bounds) <= best + 3e-8
    assert max(bounds) == pytest.approx(best, abs=2e-6)
    assert path.value == pytest.approx(best, abs=3e-6)
    assert required.shifts(path.rows).max() <= 2e-6
