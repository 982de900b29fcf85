"""Two conditionals that share a budget, of which each may take a part at most.

The routes that share nothing with the module's own: the best of all splits of the budget, each
conditional by itself, and what the module hands out as worst.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp.support_function import (
    Ball,
    divergence,
    pull_in,
    split_budget,
    support,
    worst_conditionals,
)

SINGLES = st.floats(0.02, 1.3)  # shares of the common budget; above 1 they do not limit


def instance(seed, k, zeros=False):
    """Conditionals of two secrets of random weights, and a direction."""
    rng = np.random.default_rng([seed, k])
    p = rng.dirichlet(np.full(k, 0.7), 2) + 1e-6
    if zeros:
        p[rng.random(p.shape) < 0.3] = 0.0
        p[:, 0] += 0.01
    q = rng.random((2, k))
    q[1] *= -np.exp(rng.uniform(0.0, 2.0))
    return q, p / p.sum(axis=1, keepdims=True), rng.dirichlet([0.7, 0.7, 1.0])[:2]


def alone(q, p, weight, budgets):
    """The worst of one conditional with each of some budgets of its own."""
    budgets = np.atleast_1d(budgets)
    n = (len(budgets), 1, 1)
    around = np.tile(p, n), np.full(n[:2], weight)
    bound = support(np.tile(q, n), *around, 1.0, np.maximum(budgets, 1e-12)).bound
    return np.where(budgets < 1e-12, p @ q, bound)


def best_split(q, p, weight, radius, own):
    """The greatest sum over the allowed splits: concave, so ever finer grids close in on it."""
    low, high = max(0.0, radius - own[1]), min(radius, own[0])
    if own.sum() <= radius:
        return sum(alone(q[i], p[i], weight[i], own[i])[0] for i in (0, 1))
    for _ in range(6):
        first = np.linspace(low, high, 33)
        together = alone(q[0], p[0], weight[0], first)
        together = together + alone(q[1], p[1], weight[1], radius - first)
        best = int(together.argmax())
        low, high = first[max(best - 1, 0)], first[min(best + 1, 32)]
    return float(together[best])


def test_is_the_best_of_all_splits():
    rng = np.random.default_rng(0)
    for seed in range(60):
        q, p, weight = instance(seed, int(rng.integers(2, 6)), zeros=seed % 3 == 0)
        radius = 10.0 ** rng.uniform(-4, 0)
        own = radius * rng.uniform(0.02, 1.2, 2)
        bound = float(support(q[None], p[None], weight[None], 1.0, radius, own[None]).bound[0])
        assert bound == pytest.approx(best_split(q, p, weight, radius, own), rel=2e-7, abs=2e-9)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    k=st.integers(2, 7),
    log_radius=st.floats(-12.0, 4.0),
    shares=st.tuples(SINGLES, SINGLES),
    zeros=st.booleans(),
)
def test_what_is_handed_out_keeps_both_budgets_and_attains(seed, k, log_radius, shares, zeros):
    q, p, weight = instance(seed, k, zeros)
    radius = np.exp(log_radius)
    own = radius * np.array(shares)
    ball = p[None], weight[None], 1.0, radius
    found = support(q[None], *ball, own[None])
    worst = worst_conditionals(q[None], *ball, found.slack, own[None])[0]
    taken = np.array([weight[i] * divergence(p[i], worst[i], 1.0) for i in (0, 1)])
    assert np.all(taken <= own * (1 + 1e-12))
    assert taken.sum() <= radius * (1 + 1e-12)
    attained = float((worst * q).sum())
    assert attained <= found.bound[0]
    assert found.bound[0] - attained <= 1e-5 * np.abs(q).max()
    # no distribution that keeps the budgets is above the bound
    others = np.random.default_rng(seed).dirichlet(np.full(k, 0.4), (50, 2))
    inside = pull_in(others, *(np.broadcast_to(x, (50, *x.shape)) for x in (p, weight)), 1.0,
                     radius, np.broadcast_to(own, (50, 2)))  # fmt: skip
    assert (inside * q).sum(axis=(1, 2)).max() <= found.bound[0]
    each = weight * np.array([[divergence(p[i], r[i], 1.0) for i in (0, 1)] for r in inside])
    assert np.all(each <= own * (1 + 1e-9))
    assert np.all(each.sum(axis=1) <= radius * (1 + 1e-9))


@settings(max_examples=100)
@given(
    logs=st.tuples(st.floats(-700.0, 5.0), st.floats(-700.0, 5.0)),
    weights=st.tuples(st.floats(1e-9, 0.5), st.floats(1e-9, 0.5)),
    radius=st.floats(1e-9, 1e3),
    shares=st.tuples(SINGLES, SINGLES),
)
def test_the_split_takes_no_less_than_is_allowed(logs, weights, radius, shares):
    """What is left of the means is never above what any allowed split leaves: bounds are safe."""
    log_mean, weight = np.array([logs]), np.array([weights])
    own = radius * np.array([shares])
    held, kept = split_budget(log_mean, weight, np.array([radius]), own)
    if not held[0]:
        return
    left = np.exp(log_mean[0] + kept[0]).sum()
    most = min(own[0, 0], radius)
    first = np.linspace(min(max(0.0, radius - own[0, 1]), most), most, 101)
    splits = np.stack([first, np.minimum(radius - first, own[0, 1])], axis=1)
    assert left <= np.exp(log_mean - splits / weight).sum(axis=1).min() * (1 + 1e-13)


@pytest.mark.parametrize("rare", [0, 1])
def test_the_part_of_a_rare_secret_is_right_to_its_last_digit(rare):
    """It is small beside the budget of both: what is rounded there must not be missing here."""
    rng = np.random.default_rng(0)
    weight, logs = np.full((300, 2), 0.5), np.full((300, 2), -700.0)
    weight[:, rare], logs[:, rare] = 1e-9, 0.0
    part = 1e-9 * rng.uniform(0.5, 50.0, 300)
    own = np.full((300, 2), 1.5)
    own[:, rare] = part  # it takes all of its own
    _, kept = split_budget(logs, weight, np.ones(300), own)
    assert np.all(kept[:, rare] <= -part / 1e-9)
    own = 1.0 - np.stack([part, part], axis=1)
    own[:, rare] = 1.5  # it takes what the other leaves
    logs[:, 1 - rare], logs[:, rare] = 0.0, -700.0
    _, kept = split_budget(logs, weight, np.ones(300), own)
    assert np.all(kept[:, rare] <= -(1.0 - own[:, 1 - rare]) / 1e-9)


@pytest.mark.parametrize("light", [0, 1])
def test_what_the_other_leaves_of_budgets_with_drift_is_no_less_than_stated(light):
    """Drift is added in floats: what a heavy secret leaves must not lose digits, on either side."""
    rng = np.random.default_rng(1)
    weight, logs = np.full((500, 2), 0.9), np.full((500, 2), -700.0)
    weight[:, light] = 10.0 ** rng.uniform(-9, -7, 500)
    logs[:, 1 - light] = 0.0  # the heavy one takes all of its own
    single, drift = 10.0 ** rng.uniform(-2, 0, (2, 500))
    pair = single + weight[:, light] * rng.uniform(0.5, 20.0, 500)
    own = single[:, None] + drift[:, None] * weight
    radius = pair + drift * weight.sum(axis=1)
    held, kept = split_budget(logs, weight, radius, own)
    assert held.all()
    exact = [
        Fraction(c2) - Fraction(c1) + Fraction(d) * Fraction(w)
        for c1, c2, d, w in zip(single, pair, drift, weight[:, light], strict=True)
    ]
    left = np.array([float(k / Fraction(w)) for k, w in zip(exact, weight[:, light], strict=True)])
    assert np.all(-kept[:, light] >= left * (1 - 1e-14))


@settings(max_examples=50)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 6), off=st.sampled_from([-1e-6, 1e-6]))
def test_a_ball_contains_what_keeps_each_of_its_budgets(seed, k, off):
    _, p, weight = instance(seed, k)
    found = np.random.default_rng(seed).dirichlet(np.full(k, 0.9), 2) + 1e-9
    found /= found.sum(axis=1, keepdims=True)
    taken = np.array([weight[i] * divergence(p[i], found[i], 1.0) for i in (0, 1)])
    for tight in range(3):  # the first part, the second, both together
        factors = np.where(np.arange(3) == tight, 1.0 + off, 2.0)
        budgets = np.append(taken, taken.sum()) * factors
        ball = Ball(p[None], weight[None], 1.0, budgets[2:], budgets[None, :2])
        assert ball.contains(found[None])[0] == (off > 0.0)
