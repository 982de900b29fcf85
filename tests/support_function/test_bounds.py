"""Bounds on one conditional, against Proposition 1's equation and formulas in 60 digits."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from conftest import (
    radius_of_secret,
    set_probability,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp.support_function import cell_bounds, conditional_radius, support

ALPHAS = (0.3, 0.5, 0.55, 1.0, 1.5, 2.0, 4.0, 20.0)


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


@settings(max_examples=100)
@given(st.integers(0, 999), st.integers(1, 999), st.integers(0, 9999), st.floats(-14.0, 2.0))
def test_bounds_of_order_two_are_rounded_outwards(count, rest, others, log_radius):
    """Against the formula in 60 digits (Entropy (29) and Theorem 1), at the counts' fractions."""
    radius, seen = 10.0**log_radius, count + rest
    share, weight = count / seen, seen / (seen + others)
    (lower,), (upper,) = cell_bounds([[share]], [weight], 2.0, radius)
    pick, p = np.array([[[1.0, 0.0]]]), np.array([[[share, 1.0 - share]]])
    least_and_most = [
        sign * support(sign * pick, p, np.array([[weight]]), 2.0, radius).bound[0].item()
        for sign in (-1.0, 1.0)
    ]
    with localcontext(prec=60):
        rho, exact_weight = Decimal(count) / seen, Decimal(seen) / (seen + others)
        growth = (((Decimal(radius) / 2).exp() - 1) / exact_weight + 1) ** 2  # exp(B_s)
        root = ((growth - 1) * (growth - (2 * rho - 1) ** 2)).sqrt()
        least, most = ((growth + 2 * rho - 1 + way * root) / (2 * growth) for way in (-1, 1))
        assert 0 <= least - Decimal(lower[0].item()) <= Decimal("4e-15") or lower[0] == 0.0
        assert 0 <= Decimal(upper[0].item()) - most <= Decimal("4e-15") or upper[0] == 1.0
        # So is the support function of one cell, which is nearly as tight unless balls are tiny.
        above = least - Decimal(least_and_most[0]), Decimal(least_and_most[1]) - most
        assert min(above) >= 0
        if log_radius >= -7.0 and count > 0:
            assert max(above) < Decimal("2e-7") * (most - least) + Decimal("1e-13")


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
