"""The central path reaches optima, with a proof at every step."""

import numpy as np
import pytest
from conftest import excess
from scipy.optimize import linprog

from skrldp import JointDistribution
from skrldp.design.central_path import CentralPath
from skrldp.design.path_blocks import path_blocks
from skrldp.design.programs import ExpectedCost
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import ConditionalsSet, RenyiSet

TABLES = {
    "3x3": [[10, 7, 101], [161, 144, 3], [6, 12, 59]],
    "zero cells": [[9, 0, 31], [40, 25, 0], [1, 2, 8]],
    "unseen": [[20, 30, 5], [0, 0, 0], [14, 60, 9]],
}
# Budgets of one conditional and of two, without and with drift.
CONDITIONALS = {
    "pairs": ConditionalsSet(0.008, 0.011),
    "drift": ConditionalsSet(0.008, 0.011, 0.004),
}


def region_of(table, kind, alpha=2.0, radius=0.05):
    joint = JointDistribution(TABLES[table])
    if kind in CONDITIONALS:
        return privacy_region(joint, CONDITIONALS[kind])
    radius = {"point": 0.0, "simplex": np.inf}.get(kind, radius)
    name = "lower" if kind in ("point", "simplex") else kind
    return privacy_region(joint, RenyiSet(alpha, radius), region=name)


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
    """The least cost at one distribution, by linear programming."""
    b, a = cost.cost.shape
    rows, columns = privacy_rows(requirements, b), np.tile(np.eye(a), b)
    found = linprog(
        cost.at(cost.distribution).ravel(), rows, np.zeros(len(rows)), columns, np.ones(a)
    )
    assert found.status == 0
    return found.fun


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


@pytest.mark.parametrize(
    ("kind", "costs", "table"),
    [
        ("lower", "distance", "3x3"),
        ("lower", "negative", "zero cells"),
        ("lower", "distance", "unseen"),
        ("simplex", "distance", "unseen"),
        ("simplex", "negative", "zero cells"),
        ("point", "distance", "zero cells"),
        ("point", "negative", "3x3"),
    ],
)
def test_reaches_the_optimum_with_a_proof_at_every_step(kind, costs, table):
    eps = 0.7
    region = region_of(table, kind)
    cost = cost_of(region, costs)
    best = exact(cost, Requirements.of(region, eps))
    scale = np.abs(cost.cost).max()
    required = Requirements.of(region, eps)
    path = CentralPath(cost, path_blocks(required))
    bounds = [proven(path, cost, required)]
    for _ in range(80):
        if path.gap < 1e-7 * scale or not path.advance(3e-8 * scale):
            break
        bounds.append(proven(path, cost, required))
        assert path.steps == len(bounds) - 1
    assert max(bounds) <= best + 1e-12 * scale
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
@pytest.mark.parametrize(
    ("kind", "alpha", "radius"),
    [
        *(("joint", 0.6, 0.05), ("joint", 1.0, 0.05), ("joint", 1.5, 0.0), ("joint", 4.0, np.inf)),
        *(("product", 0.8, 0.05), ("product", 1.0, 0.0), ("product", 4.0, 0.05)),
        *(("pairs", 2.0, 0.0), ("drift", 2.0, 0.01)),
    ],
)
def test_a_proof_at_every_step_over_sets(kind, alpha, radius):
    region = region_of("zero cells", kind, alpha)
    cost = cost_of(region, "distance", b=4, radius=radius, alpha=alpha)
    assert_bounds_and_costs_meet(cost, Requirements.of(region, 0.7))


@pytest.mark.parametrize(
    ("options", "observe"), [({"eps_worst_case": 1.1}, "all"), ({"known": (0,)}, "nonsensitive")]
)
def test_a_proof_at_every_step_for_several_requirements(options, observe):
    """Over the exact ball, where no linear program is the whole truth."""
    secrets, values = [(0, "a"), (0, "b"), (1, "a")], [(0, "p"), (0, "q"), (1, "p")]
    joint = JointDistribution(TABLES["3x3"], secrets, values)
    promise = Requirements.asked(joint, RenyiSet(2.0, 0.02), 0.8, observe=observe, **options)
    required = promise.over()
    assert len(required) > 1
    table = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.5], [3.0, 2.0, 0.0]])
    distance = np.tile(table, (1, required.n_cells // 3))
    cost = ExpectedCost(distance, required.fold(joint.probabilities))
    assert_bounds_and_costs_meet(cost, required)


def assert_bounds_and_costs_meet(cost, required):
    """No bound on the way passes the cost of the private mechanism at the end."""
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
