"""Bounds on one conditional, against Proposition 1's own equation and against random
distributions."""

import itertools
import sys
from decimal import Decimal, localcontext

import numpy as np
import pytest
from conftest import (
    EXAMPLE,
    EXAMPLE_RADIUS,
    ROOT,
    on_the_boundary,
    radius_of_secret,
    random_directions,
    set_probability,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp.support_function import cell_bounds, conditional_radius

sys.path.append(str(ROOT / "examples"))
from entropy_section_8 import l1_radius

ALPHAS = (0.3, 0.5, 0.55, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 20.0)
P = EXAMPLE / EXAMPLE.sum(axis=1, keepdims=True)
MARGINAL = EXAMPLE.sum(axis=1) / EXAMPLE.sum()


def greatest_over_subsets(p, marginal, alpha, radius):
    """Entropy (30) as it stands: the ℓ1 radius by looking at every subset of the values."""
    sums = np.array([[0.0]] * len(p))
    for column in np.asarray(p).T:
        sums = np.hstack([sums, sums + column[:, None]])
    sums = np.clip(sums, 0.0, 1.0)
    _, upper = cell_bounds(sums, marginal, alpha, radius)
    return np.clip(2.0 * (upper - sums)[:, 1:].max(axis=1), 0.0, 2.0)


def test_entropy_example_2_put_right():
    radii = conditional_radius(MARGINAL, 2.0, EXAMPLE_RADIUS)
    np.testing.assert_allclose(radii, [0.4067, 0.0903], atol=5e-5)
    lower, upper = cell_bounds(P, MARGINAL, 2.0, EXAMPLE_RADIUS)
    np.testing.assert_allclose(lower, [[0.1552, 0.2727], [0.1921, 0.5334]], atol=5e-5)
    np.testing.assert_allclose(upper, 1.0 - lower[:, ::-1], atol=1e-14)  # two values


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("radius", [1e-6, 0.05, 1.0, 20.0])
def test_conditional_radius_is_theorem_1(alpha, radius):
    weights = np.array([0.0, 1e-3, 0.05, 0.35, 0.599])
    expected = [radius_of_secret(weight, alpha, radius) for weight in weights]
    np.testing.assert_allclose(conditional_radius(weights, alpha, radius), expected, rtol=1e-7)


@settings(max_examples=60)
@given(
    st.integers(1, 999),
    st.integers(1, 999),
    st.sampled_from([0.05, 0.1, 0.3, 0.49, 0.7, 0.9]),
    st.integers(-8, 8),
)
def test_where_a_conditional_becomes_free_rounding_errs_towards_free(seen, others, alpha, ulps):
    """At C = 1 - P_s the radius is infinite; one unit of rounding below, it may be 2 nats."""
    with localcontext(prec=60):
        share, order = Decimal(seen) / Decimal(seen + others), Decimal(alpha)
        theta = (order - 1) / order
        edge = float((1 - share).ln() / theta)
        radius = edge + ulps * float(np.spacing(edge))
        rest = 1 - (1 - (theta * Decimal(radius)).exp()) / share
        exact = float(rest.ln() / theta) if rest > 0 else np.inf
    found = conditional_radius([seen / (seen + others)], alpha, radius)[0]
    assert found >= exact * (1.0 - 1e-15)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("radius", [1e-8, 0.05, 2.0])
def test_cell_bounds_solve_proposition_1(alpha, radius):
    rho = np.array([0.0, 1e-6, 0.01, 0.2, 0.5, 0.77, 0.999, 1.0])
    weights = np.array([0.02, 0.3, 0.68, 1.0])
    lower, upper = cell_bounds(np.tile(rho, (4, 1)), weights, alpha, radius)
    for i, weight in enumerate(weights):
        own = radius_of_secret(weight, alpha, radius)
        least = [set_probability(r, alpha, own, -1) for r in rho]
        most = [set_probability(r, alpha, own, 1) for r in rho]
        # rounding of the divergence, 1e-16, moves a small ball's edge by 1e-16 / its slope
        np.testing.assert_allclose(lower[i], least, atol=1e-7 if radius < 1e-6 else 2e-10)
        np.testing.assert_allclose(upper[i], most, atol=1e-7 if radius < 1e-6 else 2e-10)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("weight", [0.1, 0.4, 1.0])
def test_the_ends_of_section_3(alpha, weight):
    radius = 0.4
    own = radius_of_secret(weight, alpha, radius)
    (lower,), (upper,) = cell_bounds([[0.0, 1.0]], [weight], alpha, radius)
    if alpha >= 1.0:
        assert (lower[0], upper[1]) == (0.0, 1.0)
        np.testing.assert_allclose([upper[0], lower[1]], [-np.expm1(-own), np.exp(-own)])
    rho = np.linspace(0.01, 0.99, 99) if alpha < 1.0 else np.linspace(0.3, 0.7, 9)
    lower, upper = cell_bounds(rho[None], [weight], alpha, radius)
    if alpha < 1.0:
        edge = np.exp((alpha - 1.0) * own)
        np.testing.assert_array_equal(lower[0] < 1e-14, (1.0 - rho) ** alpha >= edge)
        np.testing.assert_array_equal(upper[0] > 1.0 - 1e-14, rho**alpha >= edge)
    else:
        assert lower.min() > 0.0 and upper.max() < 1.0


@settings(max_examples=100)
@given(st.integers(0, 999), st.integers(1, 999), st.integers(0, 9999), st.floats(-14.0, 2.0))
def test_rounding_moves_the_closed_form_outwards(count, rest, others, log_radius):
    """Against the formula in 60 digits (Entropy (29) and Theorem 1), at the counts' fractions."""
    radius, seen = 10.0**log_radius, count + rest
    (lower,), (upper,) = cell_bounds([[count / seen]], [seen / (seen + others)], 2.0, radius)
    with localcontext(prec=60):
        rho, weight = Decimal(count) / seen, Decimal(seen) / (seen + others)
        growth = (((Decimal(radius) / 2).exp() - 1) / weight + 1) ** 2  # exp(B_s)
        root = ((growth - 1) * (growth - (2 * rho - 1) ** 2)).sqrt()
        least, most = ((growth + 2 * rho - 1 + way * root) / (2 * growth) for way in (-1, 1))
        assert 0 <= least - Decimal(lower[0].item()) <= Decimal("4e-15") or lower[0] == 0.0
        assert 0 <= Decimal(upper[0].item()) - most <= Decimal("4e-15") or upper[0] == 1.0


def test_no_ball_and_every_distribution():
    p, marginal = np.array([[0.2, 0.8], [0.5, 0.5], [0.5, 0.5]]), np.array([0.4, 0.6, 0.0])
    for alpha in ALPHAS:
        lower, upper = cell_bounds(p, marginal, alpha, 0.0)
        np.testing.assert_array_equal(lower, [[0.2, 0.8], [0.5, 0.5], [0.0, 0.0]])
        np.testing.assert_array_equal(upper, [[0.2, 0.8], [0.5, 0.5], [1.0, 1.0]])
        lower, upper = cell_bounds(p, marginal, alpha, np.inf)
        assert lower.max() == 0.0 and upper.min() == 1.0


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("radius", [300.0, 1e3, 1e6])
def test_huge_balls(alpha, radius):
    lower, upper = cell_bounds([[0.3, 0.7], [0.5, 0.5]], [0.2, 0.8], alpha, radius)
    assert np.all((lower >= 0) & (lower < 1e-10)) and np.all((upper <= 1) & (upper > 1 - 1e-10))


@pytest.mark.parametrize(("alpha", "radius"), list(zip(ALPHAS, itertools.cycle([0.01, 0.2, 1.0]))))
def test_no_distribution_of_the_ball_is_outside_the_bounds(alpha, radius):
    rng = np.random.default_rng(8)
    centre = rng.dirichlet(np.ones(8)).reshape(2, 4)
    centre[0, 2] = 0.0
    centre /= centre.sum()
    distributions = on_the_boundary(centre.ravel(), random_directions(rng, 2000, 8), alpha, radius)
    distributions = distributions.reshape(-1, 2, 4)
    distributions = distributions[distributions.sum(axis=2).min(axis=1) > 0]
    conditionals = distributions / distributions.sum(axis=2, keepdims=True)
    marginal = centre.sum(axis=1)
    p = centre / marginal[:, None]
    lower, upper = cell_bounds(p, marginal, alpha, radius)
    assert np.all(conditionals.min(axis=0) >= lower - 1e-12)
    assert np.all(conditionals.max(axis=0) <= upper + 1e-12)
    # and they come near: each bound is used to a good part
    reach = (conditionals.max(axis=0) - p) / np.maximum(upper - p, 1e-300)
    assert reach.min() > 0.3


@given(
    st.lists(st.integers(1, 1000), min_size=2, max_size=7),
    st.floats(0.05, 1.0),
    st.floats(1e-4, 1.5),
    st.sampled_from([0.55, 1.0, 2.0, 3.0]),
)
def test_l1_bound_is_above_the_exact_radius(counts, weight, radius, alpha):
    p = np.array([counts]) / sum(counts)
    exact = greatest_over_subsets(p, [weight], alpha, radius)[0]
    bound = l1_radius(p, [weight], alpha, radius)[0]
    assert exact <= bound + 1e-13 <= 2.0 + 1e-12
    if alpha == 2.0:
        growth = ((np.expm1(radius / 2.0) + weight) / weight) ** 2  # E = exp(B_s)
        least = p.min()
        if least >= (1.0 - np.sqrt(growth - 1.0)) / 2.0:
            square = (growth - 1.0) * (growth - (2.0 * least - 1.0) ** 2)
            peak = ((growth - 1.0) * (1.0 - 2.0 * least) + np.sqrt(square)) / growth
            assert exact == pytest.approx(peak, abs=1e-9)
        else:
            peak = np.sqrt(growth - 1.0)
        assert bound == pytest.approx(peak, abs=1e-9)
