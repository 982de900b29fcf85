"""Certificates are true and tight, and nothing is released that is not proven.

The definitions of the leakage and of the ball are those of ``conftest.py``, without the package.
"""

import itertools
import math

import numpy as np
import pytest
from conftest import (
    EXAMPLE,
    EXAMPLE_DISTRIBUTION,
    excess,
    on_the_boundary,
    random_directions,
    renyi,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import (
    AllDistributions,
    CertificateError,
    JointDistribution,
    Mechanism,
    RenyiBall,
    certify,
)
from skrldp.certificate import release
from skrldp.design.closed_form import grr, srr
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements, repair
from skrldp.sets.fitted_sets import RenyiSet

ALPHAS = (0.5, 0.7, 1.0, 2.0, 4.0)  # 0.3 besides, where the bound is not tight
# Entropy (49), columns (s1,u1), (s1,u2), (s2,u1), (s2,u2), reports in rows
PRINTED = np.array(
    [
        [0.0885, 0.3840, 0.6667, 0.0507],
        [0.0860, 0.3731, 0.0000, 0.3080],
        [0.6162, 0.1813, 0.0000, 0.6159],
        [0.2094, 0.0616, 0.3333, 0.0254],
    ]
)


def table(seed, a1=3, a2=4, unseen=False):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 80, size=(a1, a2)) * (rng.random((a1, a2)) > 0.2)
    counts[:, 0] += 1
    if unseen:
        counts[-1] = 0
    return JointDistribution(counts)


def sharp(seed, joint, b=5, concentration=0.3):
    rng = np.random.default_rng([seed, 3])
    matrix = rng.dirichlet(np.full(b, concentration), size=joint.counts.size).T
    return matrix / matrix.sum(axis=0)


def private(seed, joint, alpha, radius, eps, **options):
    return repair(
        sharp(seed, joint, **options),
        Requirements.of(privacy_region(joint, RenyiSet(alpha, radius), region="exact"), eps),
    )


def leak(matrix, distributions):
    """Leakage of a matrix at distributions (N, a1, a2), from ISIT (32)."""
    conditionals = distributions / distributions.sum(axis=2, keepdims=True)
    reports = np.einsum("bsu,nsu->nbs", matrix.reshape(-1, *distributions.shape[1:]), conditionals)
    return np.log(reports.max(axis=2) / reports.min(axis=2)).max(axis=1)


def distributions_of_the_ball(rng, joint, alpha, radius, count=3000):
    centre = joint.probabilities.ravel()
    towards = random_directions(rng, count, centre.size)
    distributions = on_the_boundary(centre, towards, alpha, radius).reshape(-1, *joint.counts.shape)
    return distributions[distributions.sum(axis=2).min(axis=1) > 0]


# By hand


def test_the_papers_mechanism_holds_at_log_2():
    matrix = PRINTED / PRINTED.sum(axis=0)
    joint = JointDistribution(EXAMPLE)
    found = certify(matrix, RenyiBall(), joint)
    # PolyOpt on the lower-bounds region with s1 = s2: more than the ball asks
    assert found.holds(math.log(2)) and not found.holds(0.3)
    assert found.eps_attained <= found.eps
    distribution = EXAMPLE_DISTRIBUTION[None]  # in the ball (Entropy Example 1)
    assert leak(matrix, distribution)[0] <= found.eps
    assert certify(matrix, AllDistributions(), joint).eps == math.inf  # zeros


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


def test_secrets_that_are_all_alike():
    joint = table(1)
    rows = np.random.default_rng(1).random((4, 4))
    for matrix in (np.full((3, 12), 1 / 3), np.ones((1, 12))):
        assert certify(matrix, AllDistributions(), joint).eps <= 1e-11
    # depends on U alone: private for the secret of U independent of S ...
    blind = np.tile(rows / rows.sum(axis=0), (1, 2))
    even = JointDistribution(np.outer([3, 5], [2, 4, 6, 1]))
    assert certify(blind, RenyiBall(radius=0.0), even).eps <= 1e-10
    assert certify(blind, RenyiBall(radius=0.1), even).eps > 0.05  # ... but not near it


def test_a_zero_that_faces_a_positive_is_infinite():
    joint = JointDistribution([[5, 5], [5, 5]])
    matrix = np.array([[1.0, 1.0, 0.9, 0.9], [0.0, 0.0, 0.1, 0.1]])
    for uncertainty in (RenyiBall(radius=0.0), RenyiBall(), RenyiBall(0.4), AllDistributions()):
        found = certify(matrix, uncertainty, joint)
        assert found.eps == math.inf and not found.holds(1e6)
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
@pytest.mark.parametrize("alpha", (0.3, *ALPHAS))
@pytest.mark.parametrize(("radius", "seed"), [(1e-3, 0), (0.05, 1), (0.6, 0)])
def test_no_distribution_of_the_set_leaks_more(alpha, radius, seed):
    rng = np.random.default_rng(4)
    joint = table(seed)
    matrix = private(seed, joint, alpha, radius, 0.8)
    found = certify(matrix, RenyiBall(alpha, radius=radius), joint)
    distributions = distributions_of_the_ball(rng, joint, alpha, radius)
    assert leak(matrix, distributions).max() <= found.eps + 1e-12
    around = found.distribution.ravel() * np.exp(rng.normal(size=(1500, 12)) * 0.05)
    around = around / around.sum(axis=1, keepdims=True)
    centre = joint.probabilities.ravel()
    around = np.maximum(centre + 1.1 * (around - centre), 0.0)
    around /= around.sum(axis=1, keepdims=True)
    near = on_the_boundary(centre, around, alpha, radius).reshape(-1, 3, 4)
    near = near[near.sum(axis=2).min(axis=1) > 0]
    worst = leak(matrix, near).max()
    assert worst <= found.eps + 1e-12
    if alpha >= 0.5:  # the random distributions come near, so the test can tell
        assert worst > 0.75 * found.eps


@pytest.mark.slow
@pytest.mark.parametrize("alpha", (0.3, *ALPHAS))
@pytest.mark.parametrize(
    ("radius", "seed", "unseen"),
    [(0.0, 0, False), (1e-4, 1, False), (0.05, 0, True), (0.6, 1, False), (0.6, 1, True)],
)
def test_the_attained_leakage_is_attained(alpha, radius, seed, unseen):
    joint = table(seed, unseen=unseen)
    matrix = private(seed, joint, alpha, radius, 0.8)
    found = certify(matrix, RenyiBall(alpha, radius=radius), joint)
    assert found.distribution.shape == (3, 4) and found.distribution.min() >= 0
    assert found.distribution.sum() == pytest.approx(1.0, abs=1e-12)
    inside = renyi(joint.probabilities.ravel(), found.distribution.ravel(), alpha)
    assert inside <= radius * (1 + 1e-9) + (1e-8 if unseen else 1e-13)
    mechanism = Mechanism.from_matrix(matrix, joint.secrets, joint.values)
    assert mechanism.leakage(found.distribution) == pytest.approx(found.eps_attained, abs=1e-6)
    assert found.eps_attained <= found.eps
    if alpha >= 0.5:
        slack = (
            1e-3 if unseen else 1e-6
        )  # a distribution can only come near an unseen secret's limit
        assert found.eps - found.eps_attained <= slack
    assert (found.uncertainty.alpha, found.uncertainty.radius) == (alpha, radius)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", (0.3, *ALPHAS))
def test_grows_with_the_set(alpha):
    joint = table(5)
    matrix = private(5, joint, alpha, 1.0, 1.0)
    radii = [0.0, 1e-6, 1e-3, 0.02, 0.2, 1.0, 5.0, math.inf]
    bounds = [certify(matrix, RenyiBall(alpha, radius=r), joint).eps for r in radii]
    for smaller, larger in itertools.pairwise(bounds):
        assert smaller <= larger + 1e-10
    assert bounds[0] < 0.9 * bounds[5]
    everything = certify(matrix, AllDistributions(), joint).eps
    assert bounds[-1] == pytest.approx(everything, abs=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_planted_violations_are_caught(alpha):
    """Move probability between two reports until one known distribution of the set leaks eps +
    1e-6."""
    eps, radius = 0.7, 0.08
    for seed in range(1 if alpha < 0.6 else 2):  # at order 1/2 a proof takes long
        joint = table(seed)
        mechanism, proof = release(
            sharp(seed, joint), Requirements.asked(joint, RenyiSet(alpha, radius), eps)
        )
        distribution = proof.distribution
        conditionals = distribution / distribution.sum(axis=1, keepdims=True)
        matrix = np.array(mechanism.matrix)
        reports = np.einsum("bsu,su->bs", matrix.reshape(-1, 3, 4), conditionals)
        y = int((reports.max(axis=1) / reports.min(axis=1)).argmax())
        most = int(reports[y].argmax())
        wanted = reports[y].min() * np.exp(eps + 1e-6) - reports[y, most]
        assert wanted > 0
        # raise row y in the cells of that secret, at the cost of the other rows
        rows = matrix.reshape(-1, 3, 4)
        share = wanted / ((1.0 - rows[y, most]) @ conditionals[most])
        assert share < 1.0
        rows[:, most] *= 1.0 - share
        rows[y, most] += share
        spoilt = rows.reshape(-1, 12)
        assert leak(spoilt, distribution[None])[0] >= eps + 0.99e-6
        found = certify(spoilt, RenyiBall(alpha, radius=radius), joint)
        assert not found.holds(eps)
        assert found.eps >= eps + 0.99e-6


# Repair and release


@settings(max_examples=30)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.3, 0.5, 0.7, 1.0, 2.0, 4.0]),
    st.sampled_from([0.0, 1e-3, 0.1, 2.0, np.inf]),
    st.floats(1e-3, 5.0),
)
def test_repair_makes_anything_private(seed, alpha, radius, eps):
    joint = table(seed, unseen=seed % 3 == 0)
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(5, 0.1), size=12).T
    matrix = np.nan_to_num(matrix) + rng.normal(size=matrix.shape) * 1e-9  # a solver's output
    region = privacy_region(joint, RenyiSet(alpha, radius), region="exact")
    fixed = repair(matrix, Requirements.of(region, eps))
    assert fixed.min() >= 0
    np.testing.assert_allclose(fixed.sum(axis=0), 1.0, rtol=1e-12)
    assert excess(region, fixed.reshape(-1, 3, 4), eps).max() <= 1e-12
    assert np.abs(repair(fixed, Requirements.of(region, eps)) - fixed).max() <= 1e-9 / np.expm1(eps)


@settings(max_examples=30)
@given(
    st.integers(0, 10**6),
    st.floats(0.3, 4.0),
    st.sampled_from([0.0, 1e-9, 1e-3, 0.05, 0.5, 5.0, np.inf]),
    st.floats(-3.0, 1.0),
    st.booleans(),
    st.integers(1, 6),
)
def test_release_never_weakens(seed, alpha, radius, log_eps, unseen, b):
    joint, eps = table(seed, unseen=unseen), 10.0**log_eps
    matrix = sharp(seed, joint, b=b, concentration=0.05)
    mechanism, proof = release(matrix, Requirements.asked(joint, RenyiSet(alpha, radius), eps))
    assert proof.eps <= eps and proof.holds(eps)
    assert proof.eps_attained <= proof.eps
    # the proof is about the mechanism that is handed out
    again = certify(mechanism, RenyiBall(alpha, radius=radius), joint)
    assert again.eps == pytest.approx(proof.eps, abs=1e-12)
    dense = certify(mechanism.matrix, RenyiBall(alpha, radius=radius), joint)
    assert dense.eps == pytest.approx(proof.eps, abs=1e-9)
    assert mechanism.leakage(joint.probabilities) <= eps
    assert mechanism.weights.any(axis=1).all()  # no report that is never sent


def test_release_uses_the_budget():
    joint = table(10)
    for eps in (0.01, 0.5, 3.0):
        matrix = sharp(10, joint, concentration=0.1)
        _, proof = release(matrix, Requirements.asked(joint, RenyiSet(2.0, 0.05), eps))
        assert proof.eps > 0.95 * eps


def test_nothing_unproven_is_released(monkeypatch):
    import skrldp.certificate._release as module

    joint = table(11)
    monkeypatch.setattr(module, "repair", lambda matrix, *_: matrix)  # a repair that does nothing
    with pytest.raises(CertificateError, match=r"eps=0\.1.*3 secrets x 4 values"):
        release(sharp(11, joint), Requirements.asked(joint, RenyiSet(2.0, 0.05), 0.1))
