"""Coverage of Rényi balls, and their radii.

A statistical test's false-alarm rate, the chance that right code fails it, is 1e-9; its draws are
fixed by a seed.
"""

import math

import numpy as np
import pytest
from conftest import budget, cost, random_directions, renyi
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skrldp import AllDistributions, RenyiBall
from skrldp.sets.radii import finite_sample_radius

FALSE_ALARM = 1e-9
ALPHAS = (0.3, 0.5, 0.55, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("beta", "n", "a"), [(0.05, 1000, 10), (0.01, 75, 15), (0.5, 10**6, 240)])
def test_chi2_radius_is_the_formula(alpha, beta, n, a):
    q = stats.chi2.ppf(1.0 - beta, a - 1)
    if alpha == 1.0:
        expected = q / (2 * n)
    else:
        inside = 1.0 + alpha * (alpha - 1.0) * q / (2 * n)
        expected = math.log(inside) / (alpha - 1.0) if inside > 0 else math.inf
    assert RenyiBall(alpha, beta=beta).radius_for(n, a) == pytest.approx(expected, rel=1e-9)


def test_small_tables_below_alpha_one_have_no_radius():
    q = stats.chi2.ppf(0.95, 14)
    edge = 0.25 * q / 2  # alpha (1 - alpha) q = 2 n
    assert RenyiBall(0.5).radius_for(math.floor(edge), 15) == math.inf
    assert math.isfinite(RenyiBall(0.5).radius_for(math.ceil(edge), 15))


@pytest.mark.parametrize(
    ("alpha", "n", "least", "most"),
    # n >> a; the chi-squared distribution is right to about 1/n, so the band is a little wider.
    [(1.0, 20_000, 0.945, 0.955), (2.0, 20_000, 0.945, 0.955), (0.6, 20_000, 0.945, 0.955)],
)
def test_asymptotic_set_covers_as_promised(alpha, n, least, most):
    draws = 20_000
    distribution = np.array([0.1, 0.15, 0.2, 0.25, 0.3])
    sample = np.random.default_rng(5).multinomial(n, distribution, size=draws) / n
    radius = RenyiBall(alpha).radius_for(n, distribution.size)
    covered = int((renyi(sample, distribution, alpha) <= radius).sum())
    assert stats.binom.ppf(FALSE_ALARM / 2, draws, least) <= covered
    assert covered <= stats.binom.ppf(1 - FALSE_ALARM / 2, draws, most)
    # and the test can tell: a radius for another level is refused
    other = RenyiBall(alpha, beta=0.08).radius_for(n, distribution.size)
    wrong = int((renyi(sample, distribution, alpha) <= other).sum())
    assert wrong < stats.binom.ppf(FALSE_ALARM / 2, draws, least)


def agrawal(radius, n, a):
    """Logarithm of the bound on the probability of a miss."""
    x = n * radius / (a - 1)
    return -n * radius + (a - 1) * (1.0 + math.log(x))


@given(st.floats(1e-12, 0.999, allow_subnormal=False), st.integers(1, 10**7), st.integers(2, 3000))
def test_finite_sample_radius_solves_its_inequality(beta, n, a):
    radius = finite_sample_radius(beta, n, a)
    assert radius > (a - 1) / n
    scale = 1e-11 * n * radius
    assert agrawal(radius, n, a) <= math.log(beta) + scale * 1e-2  # holds
    assert agrawal(radius * (1.0 + 1e-13), n, a) == pytest.approx(math.log(beta), abs=scale)


@pytest.mark.parametrize(
    "distribution", [(0.2, 0.3, 0.5), (0.98, 0.01, 0.01), (1 / 3, 1 / 3, 1 / 3)]
)
@pytest.mark.parametrize(("n", "beta"), [(1, 0.5), (5, 0.3), (12, 0.9), (40, 0.05)])
def test_finite_sample_set_covers_exactly(distribution, n, beta):
    """All outcomes of n records on three cells, summed."""
    counts = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)])
    probability = stats.multinomial.pmf(counts, n, distribution)
    assert probability.sum() == pytest.approx(1.0)
    radius = RenyiBall(1, beta=beta, radius="finite-sample").radius_for(n, 3)
    missed = renyi(counts / n, np.array(distribution), 1.0) > radius
    assert probability[missed].sum() <= beta


def test_a_number_is_the_radius_itself():
    assert RenyiBall(3.0, radius=0.25, beta=7).radius_for(10, 4) == 0.25
    assert RenyiBall(radius=0).radius_for(10, 4) == 0.0
    assert RenyiBall(radius=math.inf).radius_for(10, 4) == math.inf
    assert RenyiBall(radius=np.float32(0.5)).radius_for(10, 4) == 0.5
    assert AllDistributions().radius_for(10, 4) == math.inf


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("alpha", [0, -1.0, math.inf, math.nan, "2", True]),
        ("beta", [0, 1, -0.1, math.nan, "0.05"]),
        ("radius", [-1e-9, math.nan, "chi", None, True, (0.1,)]),
    ],
)
def test_parameters_out_of_range_are_refused(name, values):
    for value in values:
        with pytest.raises(ValueError, match=name):
            RenyiBall(**{name: value}).radius_for(100, 4)
    for alpha in (0.999, 2.0):
        with pytest.raises(ValueError, match="alpha=1"):
            RenyiBall(alpha, radius="finite-sample").radius_for(100, 4)


# Section 3: what the ball says about the conditionals


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("radius", [0.02, 0.3, 2.0])
def test_conditionals_of_distributions_in_the_ball_keep_the_budget(alpha, radius):
    """And every set of secrets does, for each term is at least 0."""
    rng = np.random.default_rng(3)
    centre = rng.dirichlet(np.ones(12)).reshape(3, 4)
    centre[0, 1] = centre[2, 3] = 0.0
    centre /= centre.sum()
    towards = random_directions(rng, 3000, 12)
    spread = rng.random(len(towards))[:, None]
    distributions = spread * towards + (1.0 - spread) * centre.ravel()
    inside = distributions[renyi(centre.ravel(), distributions, alpha) <= radius].reshape(-1, 3, 4)
    assert len(inside) > 50
    p = centre / centre.sum(axis=1, keepdims=True)
    parts = cost(p, inside / inside.sum(axis=2, keepdims=True), alpha) * centre.sum(axis=1)
    assert parts.min() > -1e-12
    assert parts.sum(axis=1).max() <= budget(alpha, radius) * (1 + 1e-12)
