"""Rows of two levels: private, of the shape that they are named for, and a better start."""

from dataclasses import replace

import numpy as np
import pytest

from skrldp.design import newton_system
from skrldp.design.a_optimality import Variance
from skrldp.design.central_path import RowPaths
from skrldp.design.limits import Limits
from skrldp.design.path_blocks import path_blocks
from skrldp.design.pricers import PathPricer, TwoLevelRows, pricers
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements
from skrldp.sets.parameter_objects import LikelihoodRatioSet

COUNTS = np.random.default_rng(0).integers(20, 900, (4, 5))


def asked(counts=COUNTS, **options):
    joint = JointDistribution(counts)
    around = LikelihoodRatioSet()
    promise = Requirements.asked(joint, around.fit_set(joint), 1.0, fit=around.fit_set, **options)
    return joint, promise.over()


def variance(joint):
    a1, a2 = joint.counts.shape
    return Variance(joint.smoothed().ravel(), np.tile(np.eye(a2), (1, a1)))


@pytest.mark.parametrize("options", [{}, {"eps_worst_case": 3.0}])
def test_rows_are_private_and_have_two_levels(options):
    joint, requirements = asked(**options)
    master = variance(joint).master(requirements.shift(np.eye(20)))
    master.solve()
    found, _ = pricers(requirements, Limits())
    rows = found.ascend(np.zeros((0, 20)), master, 1e-4, np.random.default_rng(1))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    elsewhere = np.broadcast_to(found.values[:, None, None] != np.arange(5), (len(rows), 4, 5))
    others = rows.reshape(-1, 4, 5)[elsewhere].reshape(-1, 4, 4)
    assert np.ptp(others, axis=2).max() < 1e-12
    assert requirements.shifts(rows).max() < 0.05  # paths end near the boundary
    for value in range(5):
        assert master.reduced_costs(rows[found.values == value]).max() > 0.0


@pytest.mark.parametrize("options", [{}, {"eps_worst_case": 3.0}])
def test_each_row_goes_as_it_would_with_the_region_of_its_value_alone(options, monkeypatch):
    monkeypatch.setattr(newton_system, "_ENTRIES", 300)  # so that rows are worked on in parts
    _, requirements = asked(**options)
    found = TwoLevelRows(requirements, Limits())
    slopes = np.random.default_rng(2).normal(size=(len(found.values), 8))
    slopes /= np.ptp(slopes, axis=1, keepdims=True)
    together = RowPaths(slopes, found.blocks)
    for _ in range(8):
        together.advance(np.full(len(slopes), 1e-3))
    for value in range(5):
        own = [replace(one, region=one.region.one_against_rest(value)) for one in requirements]
        here = found.values == value
        alone = RowPaths(slopes[here], path_blocks(Requirements(tuple(own))))
        for _ in range(8):
            alone.advance(np.full(len(alone.rows), 1e-3))
        np.testing.assert_allclose(together.rows[here], alone.rows, rtol=1e-6)


def test_they_are_for_secrets_that_are_compared_as_wholes():
    values = [(u, v) for u in range(5) for v in range(2)]
    joint = JointDistribution(np.repeat(COUNTS, 2, axis=1), list(range(4)), values)
    around = LikelihoodRatioSet()
    promise = Requirements.asked(joint, around.fit_set(joint), 1.0, known=[1], fit=around.fit_set)
    (alone,) = pricers(promise.over(), Limits())
    assert type(alone) is PathPricer
