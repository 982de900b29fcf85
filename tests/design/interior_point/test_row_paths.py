"""Paths of single rows: Newton's equations are solved, and paths over boxes end at the optimum."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from skrldp import JointDistribution
from skrldp.design.central_path import RowPaths
from skrldp.design.newton_system import Part
from skrldp.design.path_blocks import path_blocks
from skrldp.privacy.private_rows import BoxRegion, Layout, privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import ConditionalsSet, RenyiSet

TABLE = np.random.default_rng(0).integers(5, 60, size=(2, 9))
SETS = {
    "ball": (RenyiSet(2.0, 0.02), "joint"),
    "product": (RenyiSet(0.4, 0.02), "product"),
    "pairs": (ConditionalsSet(0.03, 0.04, 0.02), "joint"),
    "lower": (RenyiSet(2.0, 0.02), "lower"),
    "public": (RenyiSet(2.0, 0.0), "joint"),
}


def requirements_of(name):
    uncertainty, region = SETS.get(name, (RenyiSet(2.0, 0.02), name))
    joint = JointDistribution(TABLE)
    return Requirements.of(privacy_region(joint, uncertainty, region=region), 0.7)


def part_on_its_way(requirements, steps=6):
    rng = np.random.default_rng(1)
    paths = RowPaths(rng.normal(size=(5, requirements.n_cells)), path_blocks(requirements))
    for _ in range(steps):
        assert paths.advance(np.full(5, 1e-3))
    (part,) = paths._parts
    return part, rng


@pytest.mark.parametrize("name", SETS)
def test_two_secrets_have_hessians_of_low_rank(name):
    part, rng = part_on_its_way(requirements_of(name))
    right = rng.normal(size=(5, part.rows.shape[1], 2))
    equations = part.linearise(1e-6)
    assert equations.low_rank is not None
    np.testing.assert_allclose(equations.hessian @ equations.solve(right), right, atol=1e-6)


@pytest.mark.parametrize("name", [*SETS, "box"])
def test_steps_make_all_products_equal_the_barrier_to_first_order(name):
    part, rng = part_on_its_way(requirements_of(name))
    steps = part.linearise(0.3).steps(rng.normal(size=part.rows.shape))
    assert sum(len(point.amounts) for point in part.points) + 1 == len(steps.kinds)
    for amount, change, dual, dual_change in steps.kinds:
        product = amount * dual + amount * dual_change + dual * change
        np.testing.assert_allclose(product, 0.3, rtol=1e-9, atol=1e-9)


def test_a_row_of_few_entries_and_many_pairs_has_whole_hessians():
    joint = JointDistribution(np.arange(1, 13).reshape(4, 3))
    region = privacy_region(joint, RenyiSet(2.0, 0.02), region="joint")
    part = Part(slice(0, 2), np.full((2, 12), 1 / 12), path_blocks(Requirements.of(region, 1.0)), 1)
    equations = part.linearise(1e-6)
    assert equations.low_rank is None
    right = np.ones((2, 12, 1))
    np.testing.assert_allclose(equations.hessian @ equations.solve(right), right, atol=1e-9)


EPS = 0.7


def region_of(n, k, observe, spread, seed=0):
    rng = np.random.default_rng(seed)
    conditionals = rng.dirichlet(np.full(k, 3.0), size=n)
    lower = conditionals * rng.uniform(0.2, 0.9, size=(n, k))
    upper = np.minimum(conditionals + rng.uniform(0.0, 0.3, size=(n, k)), 1.0)
    marginal = np.full(n, 1.0 / n)
    layout = Layout.plain(n, k, observe)
    bounds = {"lower": lower, "upper": upper, "spread": spread}
    return BoxRegion(conditionals, marginal, marginal, layout=layout, **bounds)


def extremes(region, secret):
    """The vertices of a box of conditionals, with what is spread at each value."""
    plain = BoxRegion.vertices(region, secret)
    eye = np.eye(plain.shape[1])
    kept = 1.0 - region.spread
    return [kept * vertex + region.spread * one for vertex in plain for one in eye]


def greatest(region, slope):
    """The greatest value of a linear function over the private rows of unit sum."""
    rows, cuts = region.rows, []
    for s, t in zip(*region.pairs, strict=True):
        for most, least in product(extremes(region, s), extremes(region, t)):
            cut = np.zeros(rows.n_cells)
            np.add.at(cut, rows.parts[rows.place[s]], most)
            np.add.at(cut, rows.parts[rows.place[t]], -np.exp(EPS) * least)
            cuts.append(cut)
    ones = np.ones((1, rows.n_cells))
    return -linprog(-slope, A_ub=cuts, b_ub=np.zeros(len(cuts)), A_eq=ones, b_eq=[1.0]).fun


@pytest.mark.parametrize("spread", [0.0, 0.1])
@pytest.mark.parametrize(
    ("n", "k", "observe"), [(2, 3, "all"), (3, 2, "all"), (2, 4, "nonsensitive")]
)
def test_paths_end_at_the_best_private_rows(n, k, observe, spread):
    region = region_of(n, k, observe, spread)
    blocks = path_blocks(Requirements.of(region, EPS))
    slopes = np.random.default_rng(1).normal(size=(4, region.rows.n_cells))
    paths = RowPaths(slopes, blocks)
    for _ in range(60):
        if paths.gaps.max() < 1e-9 or not paths.advance(np.full(4, 1e-10)):
            break
    rows = paths.rows / paths.rows.sum(axis=1, keepdims=True)
    assert region.worst(rows, EPS).bound.max() < 1e-7
    best = [greatest(region, slope) for slope in slopes]
    np.testing.assert_allclose((rows * slopes).sum(axis=1), best, atol=1e-6)


def test_rows_with_boxes_of_their_own_are_those_of_each_box():
    regions = [region_of(2, 3, "all", 0.05, seed) for seed in range(3)]
    each = [path_blocks(Requirements.of(region, EPS))[0] for region in regions]
    slopes = np.random.default_rng(2).normal(size=(3, 6))
    slopes /= np.ptp(slopes, axis=1, keepdims=True)  # paths begin with the mean of these
    together = RowPaths(slopes, [each[0].of_rows(each)])
    alone = [RowPaths(slopes[[i]], [each[i]]) for i in range(3)]
    for _ in range(8):
        together.advance(np.full(3, 1e-6))
        for one in alone:
            one.advance(np.full(1, 1e-6))
    np.testing.assert_allclose(together.rows, np.vstack([one.rows for one in alone]), rtol=1e-9)
