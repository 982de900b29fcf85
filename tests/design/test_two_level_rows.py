"""Rows of two levels: private, of the shape that they are named for, and a better start."""

import numpy as np
import pytest

from skrldp.design.decomposition import two_levels
from skrldp.design.run import Limits
from skrldp.design.variances import Variance
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


@pytest.mark.parametrize("options", [{}, {"eps_all": 3.0}])
def test_rows_are_private_and_have_two_levels(options):
    joint, requirements = asked(**options)
    mixture = variance(joint).mixture()
    mixture.add(requirements.shift(np.concatenate([np.eye(20), np.ones((1, 20))])))
    mixture.solve()
    found = two_levels(requirements)
    assert len(found) == 5
    for value, one in enumerate(found):
        rows = one.ascended(mixture, Limits(), 1e-4, np.random.default_rng(1))
        assert np.allclose(rows.sum(axis=1), 1.0)
        others = np.delete(rows.reshape(-1, 4, 5), value, axis=2)
        assert np.ptp(others, axis=2).max() < 1e-12
        assert requirements.shifts(rows).max() < 0.05  # paths end near the boundary
        assert mixture.reduced_costs(rows).max() > 0.0


@pytest.mark.parametrize("options", [{}, {"eps_all": 3.0}])
def test_a_row_is_as_private_as_its_two_levels(options):
    """Merging values with equal entries loses nothing: the same shift mends both."""
    _, requirements = asked(**options)
    pairs = np.random.default_rng(2).lognormal(size=(6, 8))
    for one in two_levels(requirements):
        own = one.requirements.shifts(pairs)
        np.testing.assert_allclose(requirements.shifts(one.rows(pairs)), own, rtol=1e-5, atol=1e-9)


def test_they_are_for_several_secrets_that_are_compared_as_wholes():
    assert not two_levels(asked(COUNTS[:2])[1])
    values = [(u, v) for u in range(5) for v in range(2)]
    joint = JointDistribution(np.repeat(COUNTS, 2, axis=1), list(range(4)), values)
    around = LikelihoodRatioSet()
    promise = Requirements.asked(joint, around.fit_set(joint), 1.0, known=[1], fit=around.fit_set)
    assert not two_levels(promise.over())
