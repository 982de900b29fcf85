"""The sets are as large as they say: every cell counts, and nothing outside is called inside."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from conftest import renyi

from skrldp import JointDistribution, RenyiBall
from skrldp.sets.fitted_sets import RenyiSet
from skrldp.sets.radii import chi2_radius, finite_sample_radius

JOINT = JointDistribution([[7, 10], [26, 57]])


@pytest.mark.parametrize("ball", [RenyiBall(), RenyiBall(1), RenyiBall(1, radius="finite-sample")])
def test_cells_without_records_count(ball):
    """They have a true probability as well: degrees of freedom are counted over all cells."""
    counts = [[7, 0, 10, 0], [26, 0, 0, 57]]
    radius = ball.fit_set(JointDistribution(counts)).radius
    assert radius == ball.radius_for(100, 8) > ball.radius_for(100, 4)


@pytest.mark.parametrize("beta", [1e-6, 0.05, 0.4])
def test_the_finite_sample_radius_satisfies_its_inequality_exactly(beta):
    """In 50 digits: rounding must not leave it inside by its last digits."""
    with localcontext() as context:
        context.prec = 50
        for degrees in (1, 2, 3, 5, 11, 40, 239):
            for n in (1, 7, 100, 32_561):
                x = Decimal(finite_sample_radius(beta, n, degrees + 1)) * n / degrees
                assert x > 1
                assert degrees * (1 + x.ln() - x) <= Decimal(beta).ln()


def test_where_every_distribution_is_inside_the_radius_is_infinite():
    """Below order 1 the divergence has a greatest value; here the quantile meets it exactly."""
    beta = 6.334248366623988e-05  # so that the quantile of one degree is 16
    assert chi2_radius(0.5, beta, 2, 2) == math.inf
    assert chi2_radius(0.5, 1.001 * beta, 2, 2) < math.inf


@pytest.mark.parametrize("alpha", [0.4, 1.0, 2.0])
def test_what_is_outside_by_a_little_is_moved_inside(alpha):
    """A worst distribution that is told must be one of the set, not one near it."""
    conditionals = np.array([[0.9, 0.1], [0.1, 0.9]])
    everything = RenyiSet(alpha, 1e6).distribution_with(JOINT, conditionals, np.arange(2))
    centre = JOINT.probabilities.ravel()
    reach = float(renyi(centre, everything.ravel(), alpha))
    for share in (0.9995, 1.0 - 1e-7, 0.5):
        around = RenyiSet(alpha, reach * share)
        found = around.distribution_with(JOINT, conditionals, np.arange(2))
        inside = float(renyi(centre, found.ravel(), alpha))
        assert around.radius * (1.0 - 1e-6) <= inside <= around.radius * (1.0 + 1e-13)


def test_the_public_distribution_alone_has_no_significance_level():
    """Radius 0 is no confidence set, whatever set it was taken from."""
    for ball in (RenyiBall(), RenyiBall(1, radius="finite-sample"), RenyiBall(radius=0.2)):
        alone = ball.fit_set(JOINT).public_alone
        assert (alone.rule, alone.beta, alone.radius, alone.is_point) == ("given", None, 0.0, True)
