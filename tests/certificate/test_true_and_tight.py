"""Certificates are true and tight: no distribution of the set leaks more, and one leaks as much.

The leakage and the ball are written out from their definitions, without the package.
"""

import math

import numpy as np
import pytest
from conftest import (
    on_the_boundary,
    random_directions,
    renyi,
)
from leakage_by_definition import leak
from random_tables import sharp, table

from skrldp import (
    AllDistributions,
    JointDistribution,
    Mechanism,
    RenyiBall,
    certify,
)
from skrldp.design.closed_form import grr, srr
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements, repair
from skrldp.sets.fitted_sets import RenyiSet

ALPHAS = (0.3, 0.5, 0.7, 1.0, 4.0)  # the bound is tight from 0.5 on


def private(seed, joint, alpha, radius, eps):
    return repair(
        sharp(seed, joint),
        Requirements.of(privacy_region(joint, RenyiSet(alpha, radius), region="exact"), eps),
    )


# By hand


def test_reporting_u_by_hand():
    """Two values: the leak is the ratio at the ends of the two conditionals' intervals."""
    joint = JointDistribution([[60, 40], [50, 50], [0, 0]])
    matrix = np.tile([[0.7, 0.3], [0.3, 0.7]], (1, 3))
    everything = certify(matrix, AllDistributions(), joint)
    assert everything.eps == pytest.approx(math.log(7 / 3), abs=1e-10)
    # at the point the reports are 0.54 and 0.5, and anything from 0.3 for the unseen secret
    point = certify(matrix, RenyiBall(radius=0.0), joint)
    assert point.eps == pytest.approx(math.log(0.54 / 0.3), abs=1e-10)
    seen = certify(matrix[:, :4], RenyiBall(radius=0.0), JointDistribution([[60, 40], [50, 50]]))
    assert seen.eps == pytest.approx(math.log(0.5 / 0.46), abs=1e-10)
    assert seen.eps_attained == pytest.approx(seen.eps, abs=1e-10)


def test_a_report_that_rules_a_secret_out_is_an_infinite_leak():
    joint = JointDistribution([[5, 5], [5, 5]])
    matrix = np.array([[1.0, 1.0, 0.9, 0.9], [0.0, 0.0, 0.1, 0.1]])
    for uncertainty in (RenyiBall(radius=0.0), RenyiBall(), RenyiBall(0.4), AllDistributions()):
        found = certify(matrix, uncertainty, joint)
        assert found.eps == found.eps_attained == math.inf
        assert not found.holds(1e6)
    # half a zero: finite in a small ball, infinite where that cell may vanish
    half = np.array([[1.0, 0.5, 0.9, 0.9], [0.0, 0.5, 0.1, 0.1]])
    assert certify(half, RenyiBall(radius=0.1), joint).eps < 5
    assert certify(half, AllDistributions(), joint).eps == math.inf
    # a report that nobody sends is no leak
    assert certify(np.array([[1.0] * 4, [0.0] * 4]), AllDistributions(), joint).eps <= 1e-11


@pytest.mark.parametrize(("eps", "a1", "a2"), [(1e-3, 2, 2), (math.log(2), 3, 4), (10.0, 4, 1)])
def test_randomised_response_over_all_distributions(eps, a1, a2):
    joint = JointDistribution(np.ones((a1, a2), dtype=int))
    for blocks in (grr(eps, a1 * a2), srr(eps, a1, a2)):
        mechanism = Mechanism.from_blocks(blocks, joint.secrets, joint.values)
        found = certify(mechanism, AllDistributions(), joint)
        rounding = 2.0**-52 / min(blocks)  # of the integer weights
        assert found.eps == pytest.approx(eps, abs=1e-10 + rounding)
        assert found.uncertainty.radius == math.inf
        assert mechanism.leakage(found.distribution) == pytest.approx(found.eps_attained, abs=1e-9)
        # smaller sets of distributions leak no more
        assert certify(mechanism, RenyiBall(), joint).eps <= found.eps + 1e-12


# Truth and tightness


@pytest.mark.slow
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(
    ("radius", "seed", "unseen"),
    [(1e-4, 1, False), (0.05, 0, True), (0.05, 1, False), (0.6, 1, False)],
)
def test_no_distribution_of_the_set_leaks_more_and_one_leaks_as_much(alpha, radius, seed, unseen):
    rng = np.random.default_rng(4)
    joint = table(seed, unseen=unseen)
    matrix = private(seed, joint, alpha, radius, 0.8)
    found = certify(matrix, RenyiBall(alpha, radius=radius), joint)
    assert (found.uncertainty.alpha, found.uncertainty.radius) == (alpha, radius)
    # The worst distribution is in the ball, and leaks what was said of it.
    assert found.distribution.shape == (3, 4)
    assert found.distribution.min() >= 0.0
    assert found.distribution.sum() == pytest.approx(1.0, abs=1e-12)
    centre = joint.probabilities.ravel()
    inside = renyi(centre, found.distribution.ravel(), alpha)
    assert inside <= radius * (1 + 1e-9) + (1e-8 if unseen else 1e-13)
    attained = leak(matrix, found.distribution[None])[0]
    assert attained == pytest.approx(found.eps_attained, abs=1e-6)
    assert max(attained, found.eps_attained) <= found.eps
    if alpha >= 0.5:  # a distribution can only come near an unseen secret's limit
        assert found.eps - found.eps_attained <= (1e-3 if unseen else 1e-6)
    # Nothing leaks more, neither at random nor near the worst distribution.
    around = found.distribution.ravel() * np.exp(rng.normal(size=(1500, 12)) * 0.05)
    around = np.maximum(centre + 1.1 * (around / around.sum(axis=1, keepdims=True) - centre), 0.0)
    around /= around.sum(axis=1, keepdims=True)
    towards = np.concatenate([random_directions(rng, 3000, 12), around])
    distributions = on_the_boundary(centre, towards, alpha, radius).reshape(-1, 3, 4)
    distributions = distributions[distributions.sum(axis=2).min(axis=1) > 0]
    worst = leak(matrix, distributions).max()
    assert worst <= found.eps + 1e-12
    if alpha >= 0.5:  # they come near, so the test can tell
        assert worst > 0.75 * found.eps
