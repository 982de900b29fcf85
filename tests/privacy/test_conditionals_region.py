"""Regions of the set whose conditionals are near the public ones, one by one and two by two."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from members_of_sets import members

from skrldp import JointDistribution
from skrldp.privacy.private_rows import JointRegion, ProductRegion, privacy_region
from skrldp.sets.fitted_sets import ConditionalsSet, RenyiSet


def table(seed, shape=(4, 3), n=300):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, rng.dirichlet(np.full(shape[0] * shape[1], 0.6))).reshape(shape)
    return JointDistribution(counts)


def rows_of(seed, joint, b=3):
    return np.random.default_rng([seed, 1]).random((b, *joint.counts.shape))


SETS = st.builds(
    lambda single, share, drift: ConditionalsSet(single, single * share, drift),
    st.floats(1e-4, 0.3),
    st.floats(1.0, 2.2),
    st.sampled_from([0.0, 0.0, 1e-3, 0.05]),
)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), SETS, st.floats(0.05, 2.0))
def test_no_member_beats_the_region_and_the_worst_are_members(seed, around, eps):
    joint = table(seed)
    rows = rows_of(seed, joint)
    region = privacy_region(joint, around)
    found = region.worst(rows, eps, conditionals=True)
    bounds = np.full((len(rows), *(len(joint.secrets),) * 2), -np.inf)
    bounds[found.row, found.first, found.second] = found.bound
    for distribution in members(np.random.default_rng([seed, 2]), joint, around, 12):
        conditionals = distribution / distribution.sum(axis=1, keepdims=True)
        reports = np.einsum("su,bsu->bs", conditionals, rows)
        gaps = reports[:, :, None] - np.exp(eps) * reports[:, None]
        first, second = np.nonzero(~np.eye(len(joint.secrets), dtype=bool))
        assert np.all(gaps[:, first, second] <= bounds[:, first, second] + 1e-12)
    for row, first, second, bound, pair in zip(
        found.row, found.first, found.second, found.bound, found.conditionals, strict=True
    ):
        value = pair[0] @ rows[row, first] - np.exp(eps) * pair[1] @ rows[row, second]
        assert bound - 1e-5 * np.exp(eps) <= value <= bound
        conditionals = joint.conditionals.copy()
        conditionals[[first, second]] = pair
        whole = around.distribution_with(joint, conditionals, np.array([first, second]))
        assert whole.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(whole[first] / whole[first].sum(), pair[0], atol=1e-9)
        nearly = ConditionalsSet(*(b * (1 + 1e-9) for b in (around.single, around.pair)),
                                 around.drift * (1 + 1e-9))  # fmt: skip
        assert nearly.contains(joint, whole)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), SETS, st.floats(0.05, 2.0))
def test_between_the_balls_of_order_one(seed, around, eps):
    """Larger budgets give larger bounds; equal budgets are the ball of order 1 itself."""
    joint = table(seed)
    rows = rows_of(seed, joint)

    def worst(uncertainty, region="joint"):
        bounds = np.full((len(rows), *(len(joint.secrets),) * 2), -np.inf)
        found = privacy_region(joint, uncertainty, region=region).worst(rows, eps)
        bounds[found.row, found.first, found.second] = found.bound
        return bounds

    slack = 1e-9 * np.exp(eps)
    inner = worst(ConditionalsSet(around.single, around.single))
    middle = worst(ConditionalsSet(around.single, around.pair))
    outer = worst(around)
    apart = worst(around, "product")
    assert np.all(inner <= middle + slack)
    assert np.all(middle <= outer + slack)
    assert np.all(outer <= apart + slack)
    np.testing.assert_allclose(inner, worst(RenyiSet(1.0, around.single)), atol=slack)


def test_a_pair_budget_that_never_binds_shares_nothing():
    joint = table(0)
    assert type(privacy_region(joint, ConditionalsSet(0.02, 0.04))) is ProductRegion
    assert type(privacy_region(joint, ConditionalsSet(0.02, 0.039))) is JointRegion
