"""How many independent records a survey is worth."""

import numpy as np
import pytest
from test_survey_sets import drawn, joint_of

from skrldp import JointDistribution
from skrldp.sets.radii import effective_size

SHARE = np.array([3, 5, 2, 4]) / 14


def test_clusters_make_records_worth_less():
    rng = np.random.default_rng(0)
    records, cells = drawn(rng, 60, 50, 0.1, [1, 4], SHARE)
    joint = joint_of(records, cells, (2, 2))
    assert 0.05 * joint.n < effective_size(joint) < 0.5 * joint.n


def test_the_effective_size_of_independent_records_is_their_number():
    rng = np.random.default_rng(0)
    records, cells = drawn(rng, 5_000, 1, 0.0, [1], SHARE)
    joint = joint_of(records, cells, (2, 2))
    assert effective_size(joint) == pytest.approx(5_000, rel=1e-3)
    assert effective_size(JointDistribution(joint.counts)) == 5_000
    weights = rng.choice([1.0, 4.0], 5_000)
    weighted = type(records)(weights, records.strata, records.clusters)
    kish = weights.sum() ** 2 / (weights**2).sum()
    assert effective_size(joint_of(weighted, cells, (2, 2))) == pytest.approx(kish, rel=0.05)
