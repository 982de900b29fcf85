"""Coverage of Rényi balls, and their radii.

A statistical test's false-alarm rate, the chance that right code fails it, is 1e-9; its draws are
fixed by a seed.
"""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from conftest import pairwise, renyi
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skrldp import AllDistributions, JointDistribution, RenyiBall
from skrldp.sets.radii import chi2_radius, finite_sample_radius

FALSE_ALARM = 1e-9
ALPHAS = (0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 4.0)


@pytest.mark.parametrize(
    ("alpha", "table"), pairwise(ALPHAS, [(0.05, 1000, 10), (0.01, 75, 15), (0.5, 10**6, 240)])
)
def test_chi2_radius_is_the_formula(alpha, table):
    beta, n, a = table
    q = stats.chi2.ppf(1.0 - beta, a - 1)
    if alpha == 1.0:
        expected = q / (2 * n)
    else:
        inside = 1.0 + alpha * (alpha - 1.0) * q / (2 * n)
        expected = math.log(inside) / (alpha - 1.0) if inside > 0 else math.inf
    assert RenyiBall(alpha, beta=beta).radius_for(n, a) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.6, 1.0, 2.0])
def test_asymptotic_set_covers_as_promised(alpha):
    """With n >> a the chi-squared distribution is right to about 1/n, so the band is wider."""
    n = draws = 20_000
    least, most = 0.945, 0.955
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


@given(st.floats(1e-12, 0.999, allow_subnormal=False), st.integers(1, 10**7), st.integers(2, 3000))
def test_the_finite_sample_radius_satisfies_its_inequality_exactly_and_hardly_more(beta, n, a):
    """In 50 digits: rounding must not leave it inside by its last digits."""
    with localcontext(prec=50):
        x = Decimal(finite_sample_radius(beta, n, a)) * n / (a - 1)
        assert x > 1
        log_miss = (a - 1) * (1 + x.ln() - x)
        assert log_miss <= Decimal(beta).ln()
        assert log_miss == pytest.approx(Decimal(beta).ln(), abs=Decimal("1e-11") * (a - 1) * x)


@pytest.mark.parametrize("ball", [RenyiBall(), RenyiBall(1), RenyiBall(1, radius="finite-sample")])
def test_cells_without_records_count(ball):
    """They have a true probability as well: degrees of freedom are counted over all cells."""
    counts = [[7, 0, 10, 0], [26, 0, 0, 57]]
    radius = ball.fit_set(JointDistribution(counts)).radius
    assert radius == ball.radius_for(100, 8) > ball.radius_for(100, 4)


def test_where_every_distribution_is_inside_the_radius_is_infinite():
    """Below order 1 the divergence has a greatest value; here the quantile meets it exactly."""
    beta = 6.334248366623988e-05  # so that the quantile of one degree is 16
    assert chi2_radius(0.5, beta, 2, 2) == math.inf
    assert chi2_radius(0.5, 1.001 * beta, 2, 2) < math.inf


@pytest.mark.parametrize(
    ("distribution", "n", "beta"),
    [
        ((0.2, 0.3, 0.5), 1, 0.5),
        ((0.98, 0.01, 0.01), 5, 0.3),
        ((0.98, 0.01, 0.01), 40, 0.05),
        ((1 / 3, 1 / 3, 1 / 3), 12, 0.9),
    ],
)
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
