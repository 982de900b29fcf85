"""Regions are nested, bound every distribution of the set, and the exact ones are attained."""

import itertools

import numpy as np
import pytest
from conftest import (
    completed,
    convex_solve,
    on_the_boundary,
    pairwise,
    random_directions,
    renyi,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from members_of_sets import members

from skrldp import JointDistribution
from skrldp.privacy.private_rows import JointRegion, ProductRegion, privacy_region
from skrldp.sets.fitted_sets import REGIONS, ConditionalsSet, RenyiSet

ALPHAS = (0.5, 0.55, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0)


def table(seed, a1=3, a2=4, zeros=True, unseen=False):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0 if zeros else 5, 60, size=(a1, a2)) * (rng.random((a1, a2)) > 0.2)
    counts[:, 0] += 1
    if not zeros:
        counts += 5
    if unseen:
        counts[-1] = 0
    return JointDistribution(counts)


def rows_of(seed, joint, b=3):
    rng = np.random.default_rng([seed, 1])
    rows = rng.random((b, *joint.counts.shape))
    rows[0] = (rows[0] > 0.5) * 0.7  # many ties and zeros
    return rows


def worst_of(region, rows, eps, **options):
    """Greatest bound as an array (b, a1, a1), -inf where a pair is not compared."""
    found = region.worst(rows, eps, **options)
    values = np.full((len(rows), region.n_secrets, region.n_secrets), -np.inf)
    values[found.row, found.first, found.second] = found.bound
    return values


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.6, 1.0, 1.5, 2.0, 3.0])
@settings(max_examples=6)
@given(
    st.integers(0, 10**6),
    st.floats(-6.0, 1.0),
    st.floats(0.01, 3.0),
    st.booleans(),
    st.booleans(),
)
def test_nested(alpha, seed, log_radius, eps, same_secret, unseen):
    joint = table(seed, unseen=unseen)
    rows = rows_of(seed, joint)
    radius = 10.0**log_radius
    names = ("exact", *(REGIONS if alpha >= 0.5 else REGIONS[1:]))
    regions = [
        privacy_region(joint, RenyiSet(alpha, radius), region=name, same_secret=same_secret)
        for name in names
    ]
    regions.insert(0, privacy_region(joint, RenyiSet(alpha, 0), same_secret=same_secret))
    regions.append(privacy_region(joint, RenyiSet(alpha, np.inf), same_secret=same_secret))
    bounds = [worst_of(region, rows, eps) for region in regions]
    for tighter, wider in itertools.pairwise(bounds):
        np.testing.assert_array_equal(np.isinf(tighter), np.isinf(wider))
        compared = np.isfinite(tighter)
        assert np.all(tighter[compared] <= wider[compared] + 1e-9 * np.exp(eps))


# Each kind of region with half of the orders, and each order with half of the kinds.
HALF = [(name, alpha) for place, name in enumerate(REGIONS) for alpha in ALPHAS[place % 2 :: 2]]


@pytest.mark.parametrize(("name", "alpha"), HALF)
def test_no_distribution_of_the_ball_beats_any_region(name, alpha):
    """Random joint distributions, all pairs of secrets of each at once."""
    rng = np.random.default_rng(1)
    for seed, radius in ((0, 0.01), (1, 0.2), (2, 1.5)):
        joint = table(seed)
        rows, eps = rows_of(seed, joint, b=4), 0.5
        centre = joint.probabilities.ravel()
        distributions = on_the_boundary(
            centre, random_directions(rng, 400, centre.size), alpha, radius
        )
        distributions = distributions.reshape(-1, *joint.counts.shape)
        distributions = distributions[distributions.sum(axis=2).min(axis=1) > 0]
        conditionals = distributions / distributions.sum(axis=2, keepdims=True)
        reports = np.einsum("nsu,bsu->nbs", conditionals, rows)
        gaps = (reports[..., None] - np.exp(eps) * reports[:, :, None, :]).max(axis=0)
        region = privacy_region(joint, RenyiSet(alpha, radius), region=name)
        bounds = worst_of(region, rows, eps)
        first, second = np.nonzero(~np.eye(3, dtype=bool))
        assert np.all(gaps[:, first, second] <= bounds[:, first, second] + 1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_joint_region_is_attained(alpha):
    joint, eps, radius = table(3), 0.7, 0.05
    rows = rows_of(3, joint)
    region = privacy_region(joint, RenyiSet(alpha, radius))
    found = region.worst(rows, eps, conditionals=True)
    assert len(found.row) == 3 * 6
    for row, first, second, bound, pair in zip(
        found.row, found.first, found.second, found.bound, found.conditionals, strict=True
    ):
        value = pair[0] @ rows[row, first] - np.exp(eps) * pair[1] @ rows[row, second]
        assert bound - 1e-7 <= value <= bound
        conditionals = joint.conditionals.copy()
        conditionals[[first, second]] = pair
        distribution = completed(conditionals, joint.probabilities, alpha)
        assert renyi(joint.probabilities.ravel(), distribution.ravel(), alpha) <= radius * (
            1 + 1e-9
        )


@pytest.mark.parametrize("alpha", [0.55, 0.7, 0.9])
def test_a_secret_that_the_budget_could_free_still_pays(alpha):
    """Below alpha = 1 a pair is worst together, not each alone, even where one could be free."""
    joint = JointDistribution([[1, 1, 2], [25, 30, 41]])
    radius = np.log1p(-0.06) * alpha / (alpha - 1.0)  # the budget: 0.06, above P(s1) = 0.04
    rows = np.array([[[0.9, 0.5, 0.1], [0.2, 0.8, 0.3]]])
    eps = 0.4
    found = privacy_region(joint, RenyiSet(alpha, radius)).worst(rows, eps)
    for first, second, bound in zip(found.first, found.second, found.bound, strict=True):
        q = np.stack([rows[0, first], -np.exp(eps) * rows[0, second]])
        p, marginal = joint.conditionals[[first, second]], joint.marginal[[first, second]]
        assert bound == pytest.approx(convex_solve(q, p, marginal, alpha, radius), abs=3e-6)


def test_the_joint_region_needs_orders_from_a_half():
    with pytest.raises(ValueError, match=r"needs alpha >= 1/2.*product"):
        privacy_region(table(7), RenyiSet(0.499, 0.1), region="joint")
    with pytest.raises(ValueError, match=r"joint.*lower"):
        privacy_region(table(7), RenyiSet(2.0, 0.1), region="polytope")


@pytest.mark.parametrize("name", REGIONS)
def test_same_secret_adds_the_diagonal_alone(name):
    """Two distributions of one secret, each with the whole budget."""
    joint, eps = table(6), 0.4
    rows, around, diagonal = rows_of(6, joint), RenyiSet(2.0, 0.2), np.eye(3, dtype=bool)
    plain = worst_of(privacy_region(joint, around, region=name), rows, eps)
    region = privacy_region(joint, around, region=name, same_secret=True)
    added = worst_of(region, rows, eps)
    assert np.all(np.isneginf(plain[:, diagonal]))
    np.testing.assert_array_equal(plain[:, ~diagonal], added[:, ~diagonal])
    single = "product" if name == "joint" else name
    apart = privacy_region(joint, around, region=single, same_secret=True)
    expected = worst_of(apart, rows, eps)[:, diagonal]
    np.testing.assert_allclose(added[:, diagonal], expected, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "alpha", "radius", "a2"),
    pairwise(REGIONS, [0.55, 1.0, 2.0, 3.0], [0.0, 0.1, np.inf], [2, 4]),
)
def test_single_values_are_full_rows(name, alpha, radius, a2):
    """value_gap, cell_bounds and one_against_rest against the rows e_u, that only ask for u."""
    joint, eps = table(12, a2=a2, unseen=radius == 0.0), 0.4
    region = privacy_region(joint, RenyiSet(alpha, radius), region=name)
    rows = np.repeat(np.eye(a2)[:, None, :], 3, axis=1)  # row u is e_u for every secret
    full = worst_of(region, rows, eps)
    first, second = region.pairs
    lower, upper = region.cell_bounds()
    assert np.all((lower >= 0) & (lower <= joint.conditionals + 1e-12) | (upper == 1))
    for u in range(a2):
        value = np.full(len(first), u)
        gaps = region.value_gap(value, first, second, eps)
        if name == "lower" and 0 < radius < np.inf:  # the ball's bounds are tighter
            assert np.all(gaps <= full[u, first, second] + 1e-9)
        else:
            np.testing.assert_allclose(gaps, full[u, first, second], atol=1e-8)
        pair = region.one_against_rest(u)
        asks = np.zeros((1, 3, 2))
        asks[0, :, 0] = 1.0
        merged = worst_of(pair, asks, eps)[0, first, second]
        assert np.all(merged >= gaps - 1e-8)
        if name in ("joint", "product"):
            np.testing.assert_allclose(merged, full[u, first, second], atol=1e-8)
    most = worst_of(region, rows, -1e3)[:, first, second]
    if name != "lower":
        np.testing.assert_allclose(most, upper[first].T, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "alpha", "radius", "unseen"),
    pairwise(REGIONS, [0.3, 0.5, 0.7, 1.0, 2.0, 4.0], [1e-6, 0.02, 1.0], [False, True]),
)
def test_pull_in_ends_inside_and_leaves_what_is_inside(name, alpha, radius, unseen):
    """No direction of the result goes beyond the region's bound; the worst pairs stay."""
    if name == "joint" and alpha < 0.5:
        return
    joint, eps, rng = table(13, unseen=unseen), 0.4, np.random.default_rng(14)
    around = RenyiSet(alpha, radius)
    region = privacy_region(joint, around, region=name, same_secret=True)
    rows = rng.random((40, *joint.counts.shape))
    bounds = worst_of(region, rows, eps)
    first, second = rng.integers(3, size=(2, 60))  # equal ones too
    centre = joint.conditionals[np.stack([first, second], axis=1)]
    anywhere = rng.dirichlet(np.full(4, 0.4), size=(60, 2))
    anywhere[:5] = np.eye(4)[rng.integers(4, size=(5, 2))]
    for size in (1.0, 0.1, 1e-3):
        distributions = size * anywhere + (1.0 - size) * centre
        found = region.pull_in(first, second, distributions)
        assert found.shape == distributions.shape and np.all(found >= 0.0)
        np.testing.assert_allclose(found.sum(axis=2), 1.0, atol=1e-13)
        most = np.einsum("mu,bmu->bm", found[:, 0], rows[:, first])
        least = np.einsum("mu,bmu->bm", found[:, 1], rows[:, second])
        assert np.all(most - np.exp(eps) * least <= bounds[:, first, second] + 1e-9)
        again = region.pull_in(first, second, found)
        np.testing.assert_allclose(again, found, atol=1e-9)
    worst = region.worst(rows, eps, conditionals=True)
    moved = region.pull_in(worst.first, worst.second, worst.conditionals) - worst.conditionals
    steps = worst.conditionals - joint.conditionals[np.stack([worst.first, worst.second], axis=1)]
    assert np.all(np.abs(moved).sum(axis=(1, 2)) <= 1e-3 * np.abs(steps).sum(axis=(1, 2)) + 1e-12)


# --- Sets of conditionals, one by one and two by two ---------------------------------------------


def conditionals_table(seed):
    rng = np.random.default_rng(seed)
    return JointDistribution(rng.multinomial(300, rng.dirichlet(np.full(12, 0.6))).reshape(4, 3))


CONDITIONALS = st.builds(
    lambda single, share, drift: ConditionalsSet(single, single * share, drift),
    st.floats(1e-4, 0.3),
    st.floats(1.0, 2.2),
    st.sampled_from([0.0, 0.0, 1e-3, 0.05]),
)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), CONDITIONALS, st.floats(0.05, 2.0))
def test_no_member_beats_the_region_and_the_worst_are_members(seed, around, eps):
    joint = conditionals_table(seed)
    rows = np.random.default_rng([seed, 1]).random((3, 4, 3))
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
@given(st.integers(0, 10_000), CONDITIONALS, st.floats(0.05, 2.0))
def test_between_the_balls_of_order_one(seed, around, eps):
    """Larger budgets give larger bounds; equal budgets are the ball of order 1 itself."""
    joint = conditionals_table(seed)
    rows = np.random.default_rng([seed, 1]).random((3, 4, 3))

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
    joint = conditionals_table(0)
    assert type(privacy_region(joint, ConditionalsSet(0.02, 0.04))) is ProductRegion
    assert type(privacy_region(joint, ConditionalsSet(0.02, 0.039))) is JointRegion
