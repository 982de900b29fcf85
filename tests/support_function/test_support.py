"""The worst distribution of a ball, by routes that share nothing with the module.

(a) a direct convex solve, (b) random distributions on the ball's boundary, and (c) the
distributions that it hands out, completed to joint distributions: they are in the ball and attain
the bound.
"""

import numpy as np
import pytest
from conftest import (
    budget,
    completed,
    convex_solve,
    cost,
    on_the_boundary,
    optimum,
    pairwise,
    random_directions,
    renyi,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp.support_function import (
    divergence,
    log_mean_exp,
    pull_in,
    support,
    worst_conditionals,
)

ALPHAS = (0.5, 0.55, 0.7, 1.0, 2.0, 4.0)


def instance(seed, families, k, zeros=False, secrets=3):
    """A distribution of (S, U), and a linear function of the conditionals of its first secrets."""
    rng = np.random.default_rng([seed, families, k])
    joint = rng.dirichlet(np.full(secrets * k, 1.0)).reshape(secrets, k)
    joint = 0.02 / joint.size + 0.98 * joint
    if zeros:
        joint[rng.random(joint.shape) < 0.3] = 0.0
        joint[:, 0] += 0.01
    joint /= joint.sum()
    q = rng.random((families, k))
    if families == 2:
        q[1] *= -np.exp(rng.uniform(0.1, 1.5))
    return joint, q


def parts(joint, families):
    weight = joint[:families].sum(axis=1)
    return joint[:families] / weight[:, None], weight


def solve(q, joint, alpha, radius, conditionals=False):
    p, weight = parts(joint, len(q))
    found = support(q[None], p[None], weight[None], alpha, radius)
    if not conditionals:
        return float(found.bound[0])
    worst = worst_conditionals(q[None], p[None], weight[None], alpha, radius, found.slack)
    return float(found.bound[0]), worst[0]


# (a) A direct convex solve of max R1.q1 + R2.q2 under the budget of section 3


@pytest.mark.parametrize(
    ("alpha", "families", "radius"), pairwise([0.55, 0.7, 1.0, 1.5, 2.0, 3.0], [1, 2], [0.01, 0.2])
)
def test_agrees_with_a_convex_solver(alpha, families, radius):
    for seed, zeros in ((0, False), (1, True)):
        joint, q = instance(seed, families, 5, zeros)
        direct = convex_solve(q, *parts(joint, families), alpha, radius)
        bound = solve(q, joint, alpha, radius)
        assert bound == pytest.approx(direct, abs=3e-6)  # the conic solver's accuracy


# (b) Distributions on the boundary of the ball


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "radius", "zeros"), pairwise(ALPHAS, [1e-4, 0.05, 0.7], [False, True])
)
def test_no_random_distribution_beats_the_bound(alpha, radius, zeros):
    rng = np.random.default_rng(1)
    joint, q = instance(int(1000 * alpha), 2, 4, zeros)
    bound, worst = solve(q, joint, alpha, radius, conditionals=True)
    rest = joint[2:] / joint[2:].sum(axis=1, keepdims=True)
    centre = joint.ravel()
    best = completed(np.concatenate([worst, rest]), joint, alpha).ravel()
    near = best * np.exp(rng.normal(size=(1500, 12)) * rng.choice([1e-3, 0.03, 0.3], (1500, 1)))
    near += rng.random((1500, 1)) * 1e-2 * (rng.random((1500, 12)) < 0.2)
    near /= near.sum(axis=1, keepdims=True)
    near = np.maximum(centre + 1.3 * (near - centre), 0.0)  # beyond the boundary, then back
    near /= near.sum(axis=1, keepdims=True)
    towards = np.concatenate([random_directions(rng, 1500, 12), near])
    distributions = on_the_boundary(centre, towards, alpha, radius).reshape(-1, 3, 4)[:, :2]
    distributions = distributions[distributions.sum(axis=2).min(axis=1) > 0]
    values = (distributions / distributions.sum(axis=2, keepdims=True) * q).sum(axis=(1, 2))
    assert values.max() <= bound + 1e-12
    single = [solve(q[[i]], joint[[i, 2]], alpha, radius) for i in (0, 1)]  # whole budget each
    assert bound <= sum(single) + 1e-12
    # the distributions near the worst one come close to the bound, so the test can tell
    centre_value = (joint[:2] / joint[:2].sum(axis=1, keepdims=True) * q).sum()
    assert values.max() - centre_value > 0.9 * (bound - centre_value)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "radius"), [(0.2, 0.1), (0.3, 1e-3), (0.45, 0.8)])
def test_one_secret_works_below_one_half(alpha, radius):
    for seed in (1, 2):
        joint, q = instance(seed, 1, 4, zeros=seed == 2)
        bound = solve(q, joint, alpha, radius)
        direct = convex_power_solve(q[0], *parts(joint, 1), alpha, radius)
        assert bound == pytest.approx(direct, abs=3e-6)


def convex_power_solve(q, p, weight, alpha, radius):
    """One secret, its ball written as sum p^alpha R^(1-alpha) >= C: concave for every alpha < 1."""
    import cvxpy as cp

    distribution = cp.Variable(len(q), nonneg=True)
    seen = np.flatnonzero(p[0] > 0)
    inside = (np.exp((alpha - 1.0) * radius / alpha) - 1.0 + weight[0]) / weight[0]
    limits = [cp.sum(distribution) == 1]
    if inside > 0:
        mean = p[0, seen] ** alpha @ cp.power(distribution[seen], 1.0 - alpha)
        limits.append(mean >= inside**alpha)
    problem = cp.Problem(cp.Maximize(q @ distribution), limits)
    return optimum(problem)


@pytest.mark.parametrize(
    ("alpha", "radius"), [(0.501, 0.03), (0.51, 1e-3), (0.51, 0.4), (0.55, 0.03), (0.6, 0.4)]
)
def test_zero_cells_of_small_secrets_near_one_half(alpha, radius):
    """The powers are steep there: (1/phi - 1) and 1/(1 - phi) grow without bound."""
    for seed in (6, 26, 46, 94):
        joint, q = instance(seed, 2, 2, zeros=True)
        joint[0] *= 10.0 ** -(seed % 4)
        joint /= joint.sum()
        bound, distributions = solve(q, joint, alpha, radius, conditionals=True)
        near = 5e-3 if alpha < 0.505 else 1e-6
        assert (distributions * q).sum() == pytest.approx(bound, abs=near)
        p, weight = parts(joint, 2)
        used = (weight * cost(p, distributions, alpha)).sum()
        assert used <= budget(alpha, radius) * (1 + 1e-9)


# (c) The distributions handed out


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "families"), [*pairwise(ALPHAS, [1, 2])])
def test_distributions_are_inside_and_attain_the_bound(alpha, families):
    rng = np.random.default_rng(4)
    for seed in range(25):
        joint, q = instance(seed, families, int(rng.integers(2, 7)), zeros=seed % 3 == 0)
        radius = 10.0 ** rng.uniform(-6, 0)
        bound, distributions = solve(q, joint, alpha, radius, conditionals=True)
        assert distributions.min() >= 0
        np.testing.assert_allclose(distributions.sum(axis=1), 1.0, rtol=1e-12)
        rest = joint[families:]
        full = np.concatenate([distributions, rest / rest.sum(axis=1, keepdims=True)])
        distribution = completed(full, joint, alpha)
        assert renyi(joint.ravel(), distribution.ravel(), alpha) <= radius * (1 + 1e-9) + 1e-14
        assert divergence(joint, distribution, alpha) <= radius * (1 + 1e-9) + 1e-14
        assert (distributions * q).sum() == pytest.approx(bound, abs=1e-7)
        assert (distributions * q).sum() <= bound


@pytest.mark.parametrize(
    ("alpha", "seed", "k", "radius"),
    [(0.5, 58, 5, 0.03), (0.5, 148, 2, 0.4)],
)
def test_distributions_where_the_maximum_is_on_zero_cells(alpha, seed, k, radius):
    joint, q = instance(seed, 2, k, zeros=True)
    joint[0] *= 10.0 ** -(seed % 4)
    joint /= joint.sum()
    bound, distributions = solve(q, joint, alpha, radius, conditionals=True)
    assert bound == pytest.approx(convex_solve(q, *parts(joint, 2), alpha, radius), abs=1e-5)
    assert (distributions * q).sum() == pytest.approx(bound, abs=1e-6)


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.3, 0.5, 0.55, 0.7, 1.0, 1.5, 2.0, 4.0]),
    st.floats(-6.0, 1.0),
    st.integers(1, 2),
    st.booleans(),
)
def test_distributions_pulled_in_are_inside(seed, alpha, log_radius, families, zeros):
    """On the way to the centre, as far as the convexity of the cost makes sure, and no further."""
    families = 1 if alpha < 0.5 else families
    joint, _ = instance(seed, families, 5, zeros)
    p, weight = parts(joint, families)
    radius = 10.0**log_radius
    limit = budget(alpha, radius)
    rng = np.random.default_rng(seed)
    distributions = rng.dirichlet(np.full(5, 0.5), size=(30, families))
    distributions[:4] = np.eye(5)[rng.integers(5, size=(4, families))]
    distributions[4:12] = 0.99 * p + 0.01 * distributions[4:12]
    many = np.broadcast_to(p, distributions.shape), np.broadcast_to(weight, distributions.shape[:2])
    found = pull_in(distributions, *many, alpha, radius)
    taken = (weight * cost(p, found, alpha)).sum(axis=1)
    assert np.all(taken <= limit * (1 + 1e-12) + 1e-15)
    before = (weight * cost(p, distributions, alpha)).sum(axis=1)
    inside = before < limit * (1 - 1e-9)
    np.testing.assert_array_equal(found[inside], distributions[inside])
    step, whole = found - p, distributions - p
    share = (step * whole).sum(axis=(1, 2)) / (whole * whole).sum(axis=(1, 2))
    np.testing.assert_allclose(step, share[:, None, None] * whole, atol=1e-14)
    assert np.all(share >= 0.0) and np.all(share <= 1.0 + 1e-12)
    if families == 2:  # the cost is shared out in proportion
        with np.errstate(divide="ignore"):
            expected = np.minimum(1.0, limit / before)
        np.testing.assert_allclose(share, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.7, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("over", [1e-12, 1e-5, 5e-4, 0.1])
def test_what_is_a_little_outside_is_pulled_in(alpha, over):
    """Not the least excess over the budget passes: a witness must be in the set."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        joint, _ = instance(seed, 2, 4)
        p, weight = parts(joint, 2)
        outside = rng.dirichlet(np.full(4, 0.3), 2) * 0.98 + 0.005
        limit = (weight * cost(p, outside, alpha)).sum() / (1.0 + over)
        sign = np.sign(alpha - 1.0)
        radius = limit if alpha == 1.0 else np.log1p(sign * limit) * alpha / (alpha - 1.0)
        found = pull_in(outside[None], p[None], weight[None], alpha, radius)[0]
        assert (weight * cost(p, found, alpha)).sum() <= limit * (1.0 + 1e-12)
        np.testing.assert_allclose(found, outside, atol=3.0 * over)


def test_divergence_is_entropy_21():
    rng = np.random.default_rng(5)
    for alpha in (*ALPHAS, 0.1, 20.0):
        centre, distribution = rng.dirichlet(np.ones(6), size=2)
        centre[2] = 0.0
        centre /= centre.sum()
        expected = renyi(centre, distribution, alpha)
        assert divergence(centre, distribution, alpha) == pytest.approx(expected)
        assert divergence(centre, centre, alpha) == pytest.approx(0.0, abs=1e-15)
        distribution[0] = 0.0
        distribution /= distribution.sum()
        expected = renyi(centre, distribution, alpha) if alpha < 1.0 else np.inf
        assert divergence(centre, distribution, alpha) == pytest.approx(expected)
        assert np.isinf(divergence(*np.eye(2), alpha))  # apart


# (d) The corners


def test_powers_of_any_size():
    log_mean, shares = log_mean_exp(np.array([[800.0, 0.0]]), np.array([[0.5, 0.5]]))
    assert log_mean == pytest.approx(800.0 - np.log(2.0))
    np.testing.assert_allclose(shares, [[1.0, 0.0]], atol=1e-300)


@pytest.mark.parametrize(("alpha", "radius"), pairwise(ALPHAS, [1e-6, 0.1, 5.0]))
def test_what_needs_no_search(alpha, radius):
    joint, _ = instance(1, 2, 4)
    constant = np.array([[0.3] * 4, [-0.7] * 4])
    assert solve(constant, joint, alpha, radius) == pytest.approx(-0.4, abs=1e-12)
    assert solve(0 * constant, joint, alpha, radius) == 0.0
    single = np.array([[0.25], [-0.5]])
    bound, distributions = solve(
        single, joint[:, :1] / joint[:, :1].sum(), alpha, radius, conditionals=True
    )
    assert bound == pytest.approx(-0.25, abs=1e-12)
    np.testing.assert_array_equal(distributions, [[1.0], [1.0]])
    # one constant part: the other has the whole budget
    q = np.array([[0.1, 0.9, 0.3, 0.2], [-0.7] * 4])
    bound, distributions = solve(q, joint, alpha, radius, conditionals=True)
    assert bound == pytest.approx(solve(q[:1], joint, alpha, radius) - 0.7, abs=3e-8)
    assert (distributions * q).sum() == pytest.approx(bound, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "radius"),
    [
        (alpha, radius)
        for alpha in (0.5, 0.7, 1.0, 2.0, 20.0, 1.0 - 1e-8, 1.0 + 1e-8)
        for radius in (1e-12, 1e-3, 1e3)
    ],
)
def test_finite_and_sane_at_the_extremes(alpha, radius):
    """No warning either: the test suite turns them into errors."""
    for seed in range(2):
        joint, q = instance(seed, 2, 5, zeros=seed % 2 == 0)
        joint = joint * np.array([10.0**-seed, 1.0, 1.0])[:, None]
        joint /= joint.sum()
        for scale in (1e-12, 1.0, 1e12):
            bound, distributions = solve(q * scale, joint, alpha, radius, conditionals=True)
            top = q.max(axis=1).sum()
            centre = (joint[:2] / joint[:2].sum(axis=1, keepdims=True) * q).sum()
            assert np.all(np.isfinite(distributions)) and distributions.min() >= 0
            np.testing.assert_allclose(distributions.sum(axis=1), 1.0, rtol=1e-12)
            attained = (distributions * q).sum()
            # near alpha = 1 the budget is known to 1e-16 / |alpha - 1|, so distributions may pass
            # it by that
            near = 1e-9 if 0 < abs(alpha - 1.0) < 1e-6 else 0.0
            assert centre - 1e-9 <= attained <= bound / scale + near
            assert bound / scale <= top + 1e-10
            if radius == 1e-12:
                assert bound / scale == pytest.approx(centre, abs=2e-4)
            if radius == 1e3:
                assert bound / scale == pytest.approx(top, abs=1e-9)


@settings(max_examples=20)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.5, 0.6, 1.0, 1.5, 2.0, 3.0]),
    st.floats(1e-4, 1.0),
    st.sampled_from([1e-12, 3e-5, 7.0, 1e12]),
)
def test_homogeneous_monotone_and_blind_to_order(seed, alpha, radius, scale):
    joint, q = instance(seed, 2, 6, zeros=seed % 2 == 0)
    bound = solve(q, joint, alpha, radius)
    tiny = 1e-9
    assert solve(scale * q, joint, alpha, radius) / scale == pytest.approx(bound, abs=tiny)
    order = np.random.default_rng(seed).permutation(6)
    assert solve(q[:, order], joint[:, order], alpha, radius) == pytest.approx(bound, abs=tiny)
    swapped = np.concatenate([joint[[1, 0]], joint[2:]])
    assert solve(q[::-1].copy(), swapped, alpha, radius) == pytest.approx(bound, abs=tiny)
    assert solve(q, joint, alpha, 1.2 * radius) >= bound - tiny
    assert solve(q + 0.25, joint, alpha, radius) == pytest.approx(bound + 0.5, abs=tiny)
    # merging two cells of equal value changes nothing
    q[:, 1] = q[:, 0]
    whole = solve(q, joint, alpha, radius)
    merged = np.concatenate([joint[:, :1] + joint[:, 1:2], joint[:, 2:]], axis=1)
    assert solve(q[:, 1:], merged, alpha, radius) == pytest.approx(whole, abs=tiny)


def test_batches_do_not_change_the_answer():
    rng = np.random.default_rng(7)
    count, k = 3000, 60  # several batches
    p = rng.dirichlet(np.ones(k), size=(count, 2))
    weight = np.full((count, 2), 0.4)
    q = rng.random((count, 2, k)) * [[[1.0], [-2.0]]]
    found = support(q, p, weight, 2.0, 0.01)
    assert found.bound.shape == (count,) and found.slack.shape == (count, 2)
    tail = support(q[-5:], p[-5:], weight[-5:], 2.0, 0.01)
    np.testing.assert_allclose(found.bound[-5:], tail.bound, atol=1e-10)
