"""The cone taken apart by secret: against linear programs and against cddlib."""

import numpy as np
import pytest
from conftest import EXAMPLE, excess, pairwise
from scipy.optimize import linprog

from skrldp import JointDistribution, RenyiBall
from skrldp.design.cone import ProductCone, facets, product_cone
from skrldp.design.run import Limits
from skrldp.design.vertices import _vertices
from skrldp.exceptions import SolverError
from skrldp.privacy.regions import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet

TABLES = {
    "1x3": [[5, 9, 20]],
    "2x1": [[30], [50]],
    "4x1": [[30], [50], [7], [90]],
    "2x2": EXAMPLE,
    "2x3 zero": [[9, 0, 31], [40, 25, 14]],
    "3x2 unseen": [[20, 30], [0, 0], [14, 60]],
    "2x3 unseen": [[0, 0, 0], [40, 25, 14]],
    "3x3 zeros": [[10, 7, 101], [161, 144, 0], [0, 12, 59]],
    "5x2": [[12, 44], [60, 5], [33, 0], [20, 27], [9, 70]],
}
KINDS = ("box", "lower", "point", "simplex")


def region_of(table, kind, same_secret=False, alpha=2.0):
    joint = JointDistribution(TABLES.get(table, table) if isinstance(table, str) else table)
    radius = {"point": 0.0, "simplex": np.inf}.get(
        kind, RenyiBall(alpha).radius_for(joint.n, joint.counts.size)
    )
    kind = "lower" if kind in ("point", "simplex") else kind
    return privacy_region(joint, RenyiSet(alpha, radius), region=kind, same_secret=same_secret)


def directions_for(size, count=6, seed=0):
    """Random ones, and those whose maximum is a whole face: one report probability."""
    random = np.random.default_rng(seed).normal(size=(count, size))
    return np.concatenate([random, np.eye(size), -np.eye(size)])


def inequalities_of(region, eps):
    size = region.conditionals.size
    return facets(Requirements.of(region, eps)) if len(region.pairs[0]) else np.zeros((1, size))


def linear_maxima(inequalities, directions):
    """Maxima over {v >= 0, sum v = 1, inequalities @ v <= 0}, by scipy."""
    sides, ones = np.zeros(len(inequalities)), np.ones((1, inequalities.shape[1]))
    return np.array(
        [-linprog(-c, A_ub=inequalities, b_ub=sides, A_eq=ones, b_eq=[1.0]).fun for c in directions]
    )


def check_private(rows, region, eps, rounding=1e-12):
    assert np.all(rows >= 0.0)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    table = rows.reshape(-1, *region.conditionals.shape)
    assert excess(region, table, eps).max() <= rounding


@pytest.mark.parametrize(
    ("kind", "table", "same_secret"), pairwise(KINDS, list(TABLES), [False, True])
)
def test_maxima(kind, table, same_secret):
    """Both the search and the list reach what a linear program reaches, and no further."""
    region = region_of(table, kind, same_secret)
    directions = directions_for(region.conditionals.size)
    # A small eps for every other table, and for the rest the other way round with `same_secret`.
    eps = (0.1, 5.0)[(list(TABLES).index(table) + same_secret) % 2]
    cone = ProductCone(Requirements.of(region, eps))
    expected = linear_maxima(inequalities_of(region, eps), directions)
    rows = cone.maximise(directions)
    check_private(rows, region, eps)
    np.testing.assert_allclose((rows * directions).sum(axis=1), expected, atol=1e-7)
    listed = cone.rows()
    assert len(listed) == cone.size
    check_private(listed, region, eps, 1e-9 * np.exp(eps))
    np.testing.assert_allclose((directions @ listed.T).max(axis=1), expected, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
def test_every_vertex_is_listed(kind, shape, cdd):
    rng = np.random.default_rng(shape[0] + 10 * shape[1])
    region = region_of(rng.integers(1, 200, size=shape), kind)
    listed = ProductCone(Requirements.of(region, 0.7)).rows()
    for vertex in _vertices(facets(Requirements.of(region, 0.7))):
        assert np.abs(listed - vertex).max(axis=1).min() < 1e-7


@pytest.mark.parametrize("radius", [1e-12, 1e-8, 1e-6, 50.0])
@pytest.mark.parametrize("kind", ["box", "lower"])
def test_every_radius(kind, radius):
    """Polytopes that are nearly points, and nearly everything."""
    joint = JointDistribution(TABLES["3x3 zeros"])
    region = privacy_region(joint, RenyiSet(2.0, radius), region=kind)
    directions = directions_for(9)
    cone = product_cone(Requirements.of(region, 0.5))
    if cone is None:
        assert radius < 1e-7  # and then there are linear programs
        return
    rows = cone.maximise(directions)
    check_private(rows, region, 0.5)
    expected = linear_maxima(facets(Requirements.of(region, 0.5)), directions)
    np.testing.assert_allclose((rows * directions).sum(axis=1), expected, atol=1e-6)


def test_what_cannot_be_taken_apart():
    for kind, table, eps in (
        ("joint", "2x2", 1.0),  # the secrets share one budget
        ("product", "2x2", 1.0),  # no polytopes
        ("lower", "2x2", 30.0),  # entries too far apart
        ("lower", np.ones((2, 9), dtype=int), 1.0),  # too many vertices for each secret
        ("lower", np.random.default_rng(0).integers(1, 200, size=(20, 4)), 1.0),  # too many in all
    ):
        region = region_of(table, kind)
        assert product_cone(Requirements.of(region, eps)) is None
        with pytest.raises(SolverError):
            ProductCone(Requirements.of(region, eps))


def test_no_time():
    region = region_of("5x2", "lower")
    cone = product_cone(Requirements.of(region, 1.0), Limits(0.0))
    rows = cone.maximise(directions_for(10))
    check_private(rows, region, 1.0)
