"""The cones of private rows: what they return is private, and nothing private is better."""

import numpy as np
import pytest
from conftest import EXAMPLE, on_the_boundary, pairwise, random_directions
from scipy.optimize import linprog

from skrldp import JointDistribution, RenyiBall
from skrldp._highs import LinearProgram
from skrldp.design import cone as cone_module
from skrldp.design.cone import PrivacyCone
from skrldp.design.limits import Limits
from skrldp.design.vertices import facets
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet

TABLES = {
    "2x2": EXAMPLE,
    "2x3": [[9, 0, 31], [40, 25, 14]],
    "3x2 unseen": [[20, 30], [0, 0], [14, 60]],
    "3x3": [[10, 7, 101], [161, 144, 0], [6, 12, 59]],
}


def region_of(table, kind, alpha=2.0, same_secret=False):
    joint = JointDistribution(TABLES.get(table, table) if isinstance(table, str) else table)
    radius = {"point": 0.0, "simplex": np.inf}.get(
        kind, RenyiBall(alpha).radius_for(joint.n, joint.counts.size)
    )
    kind = "lower" if kind in ("point", "simplex") else kind
    return privacy_region(joint, RenyiSet(alpha, radius), region=kind, same_secret=same_secret)


def check_private(rows, region, eps):
    assert np.all(rows >= 0.0)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-14)
    worst = region.worst(rows.reshape(len(rows), *region.conditionals.shape), eps)
    assert len(worst.bound) == len(rows) * len(region.pairs[0])
    assert worst.bound.max() <= 1e-12


def linear_maxima(inequalities, directions):
    """Maxima over {v >= 0, sum v = 1, inequalities @ v <= 0}, by scipy."""
    sides, ones = np.zeros(len(inequalities)), np.ones((1, inequalities.shape[1]))
    return np.array(
        [-linprog(-c, A_ub=inequalities, b_ub=sides, A_eq=ones, b_eq=[1.0]).fun for c in directions]
    )


def directions_for(region, count=12, seed=0, units=True):
    """Random ones, and those whose maximum is a whole face: one report probability of 0."""
    size = region.conditionals.size
    random = np.random.default_rng(seed).normal(size=(count, size))
    return np.concatenate([random, -np.eye(size)]) if units else random


@pytest.mark.parametrize(
    ("kind", "alpha", "table"),
    [
        *(("joint", 2.0, "3x2 unseen"), ("joint", 1.0, "2x3"), ("joint", 0.7, "2x2")),
        *(("product", 2.0, "2x3"), ("product", 0.3, "3x3"), ("box", 2.0, "2x3")),
        *(("lower", 2.0, "3x2 unseen"), ("point", 1.0, "3x3"), ("simplex", 1.0, "3x2 unseen")),
    ],
)
def test_rows_are_private(kind, alpha, table):
    region = region_of(table, kind, alpha)
    directions = directions_for(region, 3)
    # One of the two for each table of two secrets, and for each of three.
    eps, tolerance = ((0.1, 1e-3), (1.5, 1e-9))[list(TABLES).index(table) % 2]
    cone = PrivacyCone(Requirements.of(region, eps), tolerance)
    check_private(cone.maximise(directions), region, eps)
    with pytest.MonkeyPatch.context() as patch:  # cut short
        patch.setattr(cone_module, "MOST_ROUNDS", 1)
        check_private(cone.maximise(directions), region, eps)
    anything = np.random.default_rng(1).dirichlet(np.full(directions.shape[1], 0.2), size=20)
    check_private(Requirements.of(region, eps).shift(7.0 * anything), region, eps)


@pytest.mark.parametrize(
    ("kind", "table", "same_secret"),
    pairwise(["box", "lower", "point", "simplex"], list(TABLES), [False, True]),
)
def test_maxima_over_polyhedra(kind, table, same_secret):
    region = region_of(table, kind, same_secret=same_secret)
    directions = directions_for(region)
    eps = (0.2, 1.0)[(list(TABLES).index(table) + same_secret) % 2]
    rows = PrivacyCone(Requirements.of(region, eps), 1e-9).maximise(directions)
    check_private(rows, region, eps)
    found = np.einsum("ij,ij->i", rows, directions)
    np.testing.assert_allclose(
        found, linear_maxima(facets(Requirements.of(region, eps)), directions), atol=1e-7
    )


def pairs_of_conditionals(joint, alpha, radius, seed=5):
    """Conditionals of many distributions on the ball's boundary, (N, a1, a2)."""
    centre = joint.probabilities.ravel()
    towards = random_directions(np.random.default_rng(seed), 1500, len(centre))
    distributions = on_the_boundary(centre, towards, alpha, radius).reshape(-1, *joint.counts.shape)
    return distributions / distributions.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("alpha", [0.7, 2.0])
def test_maxima_over_the_joint_ball(alpha):
    """Between those over smaller cones and those under the constraints of sampled distributions."""
    joint = JointDistribution([[9, 4, 31], [40, 25, 14]])
    radius, eps = RenyiBall(alpha).radius_for(joint.n, 6), 0.5
    region = privacy_region(joint, RenyiSet(alpha, radius))
    directions = directions_for(region, 8, units=False)
    rows = PrivacyCone(Requirements.of(region, eps), 1e-9).maximise(directions)
    check_private(rows, region, eps)
    found = np.einsum("ij,ij->i", rows, directions)

    lower = privacy_region(joint, RenyiSet(alpha, radius), region="lower")
    assert np.all(found >= linear_maxima(facets(Requirements.of(lower, eps)), directions) - 1e-8)
    product = privacy_region(joint, RenyiSet(alpha, radius), region="product")
    wider = PrivacyCone(Requirements.of(product, eps), 1e-9).maximise(directions)
    assert np.all(found >= np.einsum("ij,ij->i", wider, directions) - 1e-8)
    anything = np.random.default_rng(2).dirichlet(np.full(6, 0.3), size=1500)
    near = rows[np.random.default_rng(3).integers(len(rows), size=1500)]
    for share in (1.0, 0.1, 0.01):
        private = Requirements.of(region, eps).shift(share * anything + (1 - share) * near)
        assert np.all(found >= (private @ directions.T).max(axis=0) - 1e-8)

    conditionals = pairs_of_conditionals(joint, alpha, radius)
    cuts = np.zeros((2, len(conditionals), 2, 3))
    for i in (0, 1):
        cuts[i, :, i] = conditionals[:, i]
        cuts[i, :, 1 - i] = -np.exp(eps) * conditionals[:, 1 - i]
    above = linear_maxima(cuts.reshape(-1, 6), directions)
    assert np.all(found <= above + 1e-8)
    assert np.all(found >= above - 0.15)  # and the samples come near


@pytest.mark.parametrize("kind", ["joint", "lower"])
def test_cuts_are_dropped_and_found_again(monkeypatch, kind):
    region = region_of("3x3", kind)
    directions = directions_for(region, 30, units=False)
    expected = np.einsum(
        "ij,ij->i", PrivacyCone(Requirements.of(region, 0.7), 1e-8).maximise(directions), directions
    )
    dropped = []
    delete = LinearProgram.delete_rows

    def counted(self, rows):
        dropped.extend(rows)
        assert min(rows) > len(region.pairs[0])  # neither the sum nor the public distribution's
        delete(self, rows)

    monkeypatch.setattr(LinearProgram, "delete_rows", counted)
    monkeypatch.setattr(cone_module, "_MOST_CUTS", 20)
    cone = PrivacyCone(Requirements.of(region, 0.7), 1e-8)
    for part in np.array_split(np.arange(len(directions)), 8):
        rows = cone.maximise(directions[part])
        check_private(rows, region, 0.7)
        found = np.einsum("ij,ij->i", rows, directions[part])
        np.testing.assert_allclose(found, expected[part], atol=2e-6)
    assert len(dropped) > 20


@pytest.mark.parametrize("solves", [0, 1, 5, 40])
def test_rows_are_private_when_time_runs_out(monkeypatch, solves):
    """After so many linear programs each further one is out of time."""
    region = region_of("3x3", "joint")
    solve, done = LinearProgram.solve, []

    def interrupted(self, seconds=None):
        if len(done) == solves:
            raise TimeoutError
        done.append(1)
        return solve(self, seconds)

    monkeypatch.setattr(LinearProgram, "solve", interrupted)
    cone = PrivacyCone(Requirements.of(region, 0.5), 1e-9)
    directions = directions_for(region, 11)
    rows = cone.maximise(directions)
    check_private(rows, region, 0.5)
    assert rows.shape == directions.shape
    assert cone.solves == min(solves, len(done)) <= solves
    moved = np.abs(rows - 1.0 / 9).max(axis=1) > 1e-6
    assert moved.sum() >= min(solves, len(rows)) - 1 and moved[0] == (solves > 0)


def test_a_limit_that_was_met():
    region = region_of("3x3", "joint")
    limits = Limits(0.0)
    assert limits.met and limits.left == 0.0
    cone = PrivacyCone(Requirements.of(region, 0.5), 1e-9, limits)
    rows = cone.maximise(directions_for(region, 40))
    check_private(rows, region, 0.5)


def test_what_is_inside_stays_where_it_is():
    region = region_of("2x3", "joint")
    asked = Requirements.of(region, 0.5)
    rows = PrivacyCone(asked, 1e-9).maximise(directions_for(region))
    centre = 0.9 * rows + 0.1 / 6
    np.testing.assert_allclose(asked.shift(centre), centre, atol=1e-15)
    # from outside: to the boundary, not further
    outside = asked.shift(np.eye(6))
    assert np.all(region.worst(outside.reshape(6, 2, 3), 0.5).per_row(6) <= 1e-14)
    further = region.worst(outside.reshape(6, 2, 3) - 1e-6, 0.5).bound.reshape(6, 2).max(axis=1)
    assert np.all(further > 0.0)
