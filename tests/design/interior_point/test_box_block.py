"""Rows that are private over a box: the central path against a program that lists vertices."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from skrldp.design.central_path import RowPaths
from skrldp.design.path_blocks import path_blocks
from skrldp.privacy.private_rows import BoxRegion, Layout
from skrldp.privacy.requirements import Requirements

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
