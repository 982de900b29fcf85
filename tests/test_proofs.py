"""The first steps of docs/proofs.md on random instances, by routes that do not use them.

What follows from them is tested on the package's own bounds, against brute force and convex
solvers, in test_support.py, test_bounds.py, test_budgets.py, test_region.py and
test_requirements.py.
"""

import numpy as np
import pytest
from conftest import budget, completed, cost, random_directions, renyi
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

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


@pytest.fixture
def rng():
    return np.random.default_rng(0)
