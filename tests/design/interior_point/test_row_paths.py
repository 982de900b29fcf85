"""Paths of single rows: concave means, Newton's equations, and optima over boxes."""

from itertools import product

import numpy as np
import pytest
from conftest import pairwise
from scipy.optimize import linprog

from skrldp import JointDistribution
from skrldp.design.central_path import RowPaths
from skrldp.design.newton_system import inverses
from skrldp.design.pair_blocks import concave_mean
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


@pytest.mark.parametrize("name", [*SETS, "box"])
def test_steps_make_all_products_equal_the_barrier_to_first_order(name):
    part, rng = part_on_its_way(requirements_of(name))
    steps = part.linearise(0.3).steps(rng.normal(size=part.rows.shape))
    assert sum(len(point.amounts) for point in part.points) + 1 == len(steps.kinds)
    for amount, change, dual, dual_change in steps.kinds:
        product = amount * dual + amount * dual_change + dual * change
        np.testing.assert_allclose(product, 0.3, rtol=1e-9, atol=1e-9)


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


THETAS = (0.5, 1.0, 0.0, 0.75, 0.2, 1e-7, -1e-7, -0.3, -2.0 / 3.0, -7.0 / 3.0)


def plain_mean(x, p, theta):
    x, p = x[p > 0], p[p > 0]
    if theta == 0.0:
        return float(np.exp(p @ np.log(x)))
    return float((p @ x**theta) ** (1.0 / theta))


@pytest.mark.parametrize("theta", THETAS)
def test_concave_mean(theta):
    rng = np.random.default_rng(0)
    x, p = rng.random((4, 3, 5)) + 0.05, rng.dirichlet(np.ones(5), size=3)
    p[1, 2:4] = 0.0
    p /= p.sum(axis=1, keepdims=True)
    mean, gradient = concave_mean(x, p, theta)
    assert mean.shape == (4, 3) and gradient.shape == (4, 3, 5)
    close = 1e-7 if 0 < abs(theta) < 1e-6 else 1e-12  # what the plain form loses there
    for i, j in np.ndindex(4, 3):
        assert mean[i, j] == pytest.approx(plain_mean(x[i, j], p[j], theta), rel=close)
        for u in range(5):
            step = 1e-6 * np.eye(5)[u]
            up, down = (concave_mean(x[i, j] + s, p[j], theta)[0] for s in (step, -step))
            assert gradient[i, j, u] == pytest.approx((up - down) / 2e-6, abs=1e-7, rel=1e-6)
    # homogeneous of degree one, so that gradient . x is the mean
    np.testing.assert_allclose(np.einsum("iju,iju->ij", gradient, x), mean, rtol=1e-12)
    np.testing.assert_allclose(concave_mean(1e6 * x, p, theta)[0], 1e6 * mean, rtol=1e-12)


@pytest.mark.parametrize(("theta", "least"), pairwise(THETAS, [1e-3, 1e-9, 1e-14]))
def test_concave_mean_of_numbers_far_apart(theta, least):
    """One point alone too: the mean of a robust cost is of a single array."""
    x, p = np.array([least, 0.5, 3.0, 1e-20]), np.array([0.3, 0.45, 0.25, 0.0])
    close = 1e-6 if 0 < abs(theta) < 1e-6 else 1e-10
    for shaped in (x, x[None], x[None, None]):
        mean, gradient = concave_mean(shaped, p, theta)
        assert np.shape(mean) == shaped.shape[:-1]
        assert gradient.shape == shaped.shape
        expected = plain_mean(x, p, theta)
        np.testing.assert_allclose(mean, expected, rtol=close)
        assert np.all(gradient >= 0.0)
        np.testing.assert_allclose((gradient * shaped).sum(), expected, rtol=close)


def test_what_has_no_inverse_is_an_error():
    """So is what rounding leaves at the end of a path."""
    for value in (np.nan, np.inf, -1.0, 0.0):
        with pytest.raises(np.linalg.LinAlgError):
            inverses(np.full((1, 3, 3), value))
