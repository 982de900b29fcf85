"""The main steps of docs/proofs.md on random instances, by routes that do not use them.

The package's own bounds are tested against brute force and convex solvers in test_oracle.py,
test_bounds.py, test_region.py and test_certificate.py; here it is the steps of the proofs.
"""

import numpy as np
import pytest
from conftest import budget, completed, cost, random_directions, renyi
from numpy.testing import assert_allclose
from scipy.optimize import minimize, minimize_scalar
from scipy.special import rel_entr

ORDERS = (0.55, 0.75, 1.5, 2.0, 4.0)


def power_mean(p, x, r):
    return np.exp(p @ np.log(x)) if r == 0 else (p @ x**r) ** (1.0 / r)


@pytest.mark.parametrize("r", [-3.0, -0.5, 0.0, 0.3, 0.9])
def test_lemma_1_and_2(rng, r):
    """Reverse Hölder and its case of equality; power means are concave."""
    conjugate = r / (r - 1.0)
    p = rng.dirichlet(np.ones(5))
    for _ in range(100):
        x, z = rng.gamma(0.5, size=(2, 5)) + 1e-3
        right = power_mean(p, x, r) * power_mean(p, z, conjugate)
        assert p @ (x * z) >= right * (1.0 - 1e-12)
        equal = 1.0 / x if r == 0 else x ** (r / conjugate)
        assert_allclose(p @ (x * equal), power_mean(p, x, r) * power_mean(p, equal, conjugate))
        if r != 0:
            sums = power_mean(np.ones(5), x, r) * power_mean(np.ones(5), z, conjugate)
            assert x @ z >= sums * (1.0 - 1e-12)
        middle = power_mean(p, (x + z) / 2.0, r)
        assert middle >= (power_mean(p, x, r) + power_mean(p, z, r)) / 2.0 * (1.0 - 1e-12)


@pytest.mark.parametrize("alpha", [0.3, *ORDERS, 1.0])
def test_theorem_4(rng, alpha):
    """The best marginal found by search agrees with the budget, and is the one of the proof."""
    joint = rng.dirichlet(np.ones(6)).reshape(2, 3)
    weight, p = joint.sum(axis=1), joint / joint.sum(axis=1, keepdims=True)
    for _ in range(5):
        distributions = rng.dirichlet(np.ones(3), size=2)

        def divergence(share, conditionals=distributions):
            distribution = np.array([share, 1.0 - share])[:, None] * conditionals
            return float(renyi(joint.ravel(), distribution.ravel(), alpha))

        found = minimize_scalar(divergence, bounds=(1e-9, 1.0 - 1e-9), options={"xatol": 1e-12})
        least = divergence(found.x)
        assert_allclose(weight @ cost(p, distributions, alpha), budget(alpha, least), rtol=1e-6)
        best = completed(distributions, joint, alpha)
        assert_allclose(renyi(joint.ravel(), best.ravel(), alpha), least, rtol=1e-6)
        # One secret alone: the other keeps its public conditional.
        alone = completed(np.array([distributions[0], p[1]]), joint, alpha)
        used = weight[0] * cost(p[0], distributions[0], alpha)
        assert_allclose(used, budget(alpha, renyi(joint.ravel(), alone.ravel(), alpha)), rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.5, *ORDERS, 1.0])
def test_proposition_6(rng, alpha):
    """The cost is convex from order 1/2 on, and its counterexample below is one."""
    p = rng.dirichlet(np.ones(4))
    first, second = rng.dirichlet(np.full(4, 0.7), size=(2, 200))
    middle = cost(p, (first + second) / 2.0, alpha)
    assert np.all(middle <= (cost(p, first, alpha) + cost(p, second, alpha)) / 2.0 + 1e-12)
    p, corner = np.array([0.001, 0.999]), np.array([1.0, 0.0])
    at_half = cost(p, (p + corner) / 2.0, 0.3)
    assert at_half > (cost(p, p, 0.3) + cost(p, corner, 0.3)) / 2.0 + 0.2


@pytest.mark.parametrize("alpha", [0.3, *ORDERS, 1.0])
def test_theorem_8_and_10(rng, alpha):
    """Merging never raises divergence and loses none of the ball; H is concave."""
    p = np.append(rng.dirichlet(np.ones(4)), 0.0)
    inside = np.array([True, False, True, False, True])
    for distribution in random_directions(rng, 99, 5):
        rho, r = p[inside].sum(), distribution[inside].sum()
        merged = renyi(np.array([rho, 1.0 - rho]), np.array([r, 1.0 - r]), alpha)
        assert merged <= renyi(p, distribution, alpha) + 1e-12
        spread = np.where(inside, p * r / rho, p * (1.0 - r) / (1.0 - rho))
        if 0.0 < r < 1.0:
            assert_allclose(renyi(p, spread, alpha), merged, rtol=1e-9, atol=1e-12)
    (one, two), (r, t) = rng.uniform(0.01, 0.99, size=(2, 2, 500))

    def pair(a, b):
        return renyi(np.stack([a, 1.0 - a], axis=-1), np.stack([b, 1.0 - b], axis=-1), alpha)

    larger = np.maximum(pair(one, r), pair(two, t))
    assert np.all(pair((one + two) / 2.0, (r + t) / 2.0) <= larger + 1e-12)


def pieces(weight, p, q, alpha, radius, multipliers):
    """Psi of Theorem 12 and the R of Lemma 13, as they are printed."""
    theta = (alpha - 1.0) / alpha
    sigma, room = theta / (1.0 + theta), weight.sum() + np.expm1(theta * radius)
    gaps = multipliers[:, None] - q
    sums = (p * gaps**theta).sum(axis=1)
    c = weight ** (1.0 / theta) * sums ** (1.0 / theta)
    z = room ** (-1.0 / theta) * (c**sigma).sum() ** (1.0 / sigma)
    share = c**sigma / (c**sigma).sum()
    distributions = z * (share / sums)[:, None] * p * gaps ** (-1.0 / alpha)
    return multipliers.sum() - z, distributions


@pytest.mark.parametrize("alpha", ORDERS)
def test_theorem_12_to_15(rng, alpha):
    """The bound holds for allowed pairs; gradient, budget and value are those of Lemma 13; at the
    least bound, the gradient's distributions attain it; the price of Theorem 15 gives the same
    bound.
    """
    radius, theta = 0.1, (alpha - 1.0) / alpha
    weight = np.array([0.5, 0.3])
    p, q = rng.dirichlet(np.full(4, 2.0), size=2), rng.normal(size=(2, 4))
    sign = 1.0 if alpha > 1.0 else -1.0

    def used(distributions):  # of the budget; distributions need not sum to 1
        return (
            sign
            * (weight * ((p**alpha * distributions ** (1 - alpha)).sum(1) ** (1 / alpha) - 1)).sum()
        )

    lowest = np.inf
    for _ in range(50):
        multipliers = q.max(axis=1) + rng.gamma(0.5, size=2) + 0.05
        bound, distributions = pieces(weight, p, q, alpha, radius, multipliers)
        assert_allclose(used(distributions), budget(alpha, radius), rtol=1e-9)
        slack = (multipliers * (1.0 - distributions.sum(axis=1))).sum()
        assert_allclose(bound, (distributions * q).sum() + slack, rtol=1e-9, atol=1e-12)
        for i, step in enumerate(np.eye(2) * 1e-6):
            up = pieces(weight, p, q, alpha, radius, multipliers + step)[0]
            down = pieces(weight, p, q, alpha, radius, multipliers - step)[0]
            assert_allclose((up - down) / 2e-6, 1.0 - distributions[i].sum(), rtol=1e-4, atol=1e-6)
        lowest = min(lowest, bound)
        some = rng.dirichlet(np.ones(4), size=2)
        low, high = 0.0, 1.0
        for _ in range(60):  # towards them as far as the budget goes
            middle = (low + high) / 2.0
            fits = used((1 - middle) * p + middle * some) <= budget(alpha, radius)
            low, high = (middle, high) if fits else (low, middle)
        assert (((1 - low) * p + low * some) * q).sum() <= lowest + 1e-9

    def log_gaps(t):
        return pieces(weight, p, q, alpha, radius, q.max(axis=1) + np.exp(t))[0]

    best = minimize(
        log_gaps, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-15}
    )
    multipliers = q.max(axis=1) + np.exp(best.x)
    bound, distributions = pieces(weight, p, q, alpha, radius, multipliers)
    assert_allclose(distributions.sum(axis=1), 1.0, atol=1e-5)
    assert_allclose((distributions * q).sum(), bound, atol=1e-5)

    powers = (p * (multipliers[:, None] - q) ** theta).sum(axis=1)

    def priced(log_price):
        kappa = np.exp(log_price) * weight
        if alpha > 1.0:
            phi = kappa - (1 + 1 / theta) * (theta * kappa * powers) ** (1 / (1 + theta))
        else:
            phi = -kappa + (-1 / theta - 1) * (-theta * kappa * powers) ** (1 / (1 + theta))
        return (multipliers + phi).sum() + np.exp(log_price) * budget(alpha, radius)

    assert_allclose(minimize_scalar(priced, bracket=(-5.0, 5.0)).fun, bound, rtol=1e-7, atol=1e-9)


def test_proposition_17(rng):
    """The greatest and least of R.v over R >= L, at the corners of that set."""
    for _ in range(50):
        lower = rng.dirichlet(np.ones(4)) * rng.uniform()
        v, spare = rng.uniform(size=4), 1.0 - lower.sum()
        corners = (lower + spare * np.eye(4)) @ v
        assert_allclose(corners.max(), lower @ v + spare * v.max())
        assert_allclose(corners.min(), lower @ v + spare * v.min())


def test_lemma_18_and_corollary_19(rng):
    """Any matrix is repaired for random distributions, at the price that is stated."""
    eps = 0.5
    for _ in range(50):
        matrix = rng.dirichlet(np.full(4, 0.3), size=6).T.reshape(4, 2, 3)
        distributions = rng.dirichlet(np.ones(3), size=(2, 40))
        probability = np.einsum("snu,ysu->ysn", distributions, matrix)
        gaps = probability[:, [0, 1]].max(2) - np.exp(eps) * probability[:, [1, 0]].min(2)
        shift = np.maximum(gaps.max(axis=1), 0.0) / np.expm1(eps)
        repaired = (matrix + shift[:, None, None]) / (1.0 + shift.sum())
        assert_allclose(repaired.sum(axis=0), 1.0)
        probability = np.einsum("snu,ysu->ysn", distributions, repaired)
        gaps = probability[:, [0, 1]].max(2) - np.exp(eps) * probability[:, [1, 0]].min(2)
        assert gaps.max() <= 1e-12
        assert np.abs(repaired - matrix).max() <= shift.sum() + 1e-12


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def two_sides(rng):
    """Counts and a row of two secrets, with budgets, and admissible multipliers near good ones."""
    counts = rng.integers(0, 30, size=(2, 4)) + np.array([1, 0, 0, 0])
    row = rng.random((2, 4)) * np.array([[np.exp(rng.uniform(0, 1))], [1.0]])
    single = rng.uniform(0.3, 3.0, 2)
    return counts, row, single, rng.uniform(single.max(), 1.2 * single.sum())


def one_side(counts, row, slack, multiplier):
    """U of Theorem 37 for q = row; minus the second part times e^eps gives V."""
    gaps, kappa = row.max() - row + slack, multiplier * counts.sum()
    some = counts > 0
    logs = np.log(kappa / gaps[some])
    return row.max() + slack - kappa + multiplier * (counts[some] * logs).sum()


def test_theorem_37_and_corollary_38(rng):
    """The bound holds for any multipliers; the best one is that of the best split."""
    for _ in range(8):
        counts, row, single, pair = two_sides(rng)
        q = np.stack([row[0], -np.exp(rng.uniform(0.1, 1.0)) * row[1]])
        sizes = counts.sum(axis=1)

        def reached(x, z, single=single, pair=pair):
            a, b = np.minimum(single, pair)
            return max(x * a + z * min(b, pair - a), x * min(a, pair - b) + z * b)

        def bound(log, counts=counts, q=q, reached=reached):
            slack, multiplier = np.exp(log[:2]), np.exp(log[2:])
            sides = [one_side(counts[i], q[i], slack[i], multiplier[i]) for i in (0, 1)]
            return sum(sides) + reached(*multiplier)

        best = min(
            (
                minimize(
                    bound, start, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-9}
                )
                for start in (np.full(4, -2.0), np.full(4, -4.0))
            ),
            key=lambda found: found.fun,
        )
        for _ in range(20):  # conditionals inside, from the centre towards any, as far as they go
            centre = counts / sizes[:, None]
            far = rng.dirichlet(np.full(4, 0.3), 2)
            for share in np.linspace(1.0, 0.0, 60):
                r = share * far + (1 - share) * centre
                taken = sizes * rel_entr(centre, r).sum(axis=1)
                if np.all(taken <= single) and taken.sum() <= pair:
                    break
            assert (r * q).sum() <= bound(rng.uniform(-6.0, 2.0, 4)) + 1e-12
            assert (r * q).sum() <= best.fun + 1e-12
        slack = np.exp(best.x[:2])
        gaps = q.max(axis=1, keepdims=True) - q + slack[:, None]
        means = np.exp((counts * np.log(gaps)).sum(axis=1) / sizes)
        first = np.linspace(0.0, min(single[0], pair), 4001)
        second = np.minimum(single[1], pair - first)
        left = means[0] * np.exp(-first / sizes[0]) + means[1] * np.exp(-second / sizes[1])
        assert_allclose(best.fun, (q.max(axis=1) + slack).sum() - left.min(), atol=2e-4)
