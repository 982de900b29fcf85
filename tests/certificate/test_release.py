"""What is released is private: repair never exceeds eps, and nothing leaves without a proof."""

import math
from dataclasses import replace

import numpy as np
import pytest
from conftest import excess
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import sharp, table

from skrldp import CertificateError, JointDistribution, Mechanism, RenyiBall
from skrldp.certificate import _release as release_module
from skrldp.certificate import certify, release
from skrldp.claims import Claims
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements, repair
from skrldp.sets.fitted_sets import RenyiSet

EVEN = JointDistribution([[25, 25], [25, 25]])
EVERYTHING = RenyiSet(1.0, math.inf)


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
    """Not even after a repair that does nothing."""
    joint = table(11)
    monkeypatch.setattr(release_module, "repair", lambda matrix, *_: matrix)
    with pytest.raises(CertificateError, match=r"eps=0\.1.*3 secrets x 4 values"):
        release(sharp(11, joint), Requirements.asked(joint, RenyiSet(2.0, 0.05), 0.1))


def test_the_proven_bound_decides_not_the_attained_one(monkeypatch):
    """A mechanism whose leakage was only seen to be small is not released."""
    prove = release_module.prove

    def unsure(*arguments):
        proof = prove(*arguments)
        loose = [replace(one, eps=0.6, attained=0.4) for one in proof.claims]
        return replace(proof, claims=Claims(tuple(loose)))

    matrix = np.array([[0.6, 0.6, 0.4, 0.4], [0.4, 0.4, 0.6, 0.6]])
    promise = Requirements.asked(EVEN, EVERYTHING, 0.5)
    release(matrix, promise)
    monkeypatch.setattr(release_module, "prove", unsure)
    with pytest.raises(CertificateError, match=r"the bound is 0\.6"):
        release(matrix, promise)
    found = unsure(Mechanism.from_matrix(matrix, (0, 1), (0, 1)), promise)
    assert not found.holds(0.5) and found.holds(0.6)


def test_reports_keep_the_numbers_of_the_designs_rows():
    """A report that is never sent is dropped; the others keep their names, which mean something."""
    matrix = np.array([[0.5, 0.5, 0.4, 0.4], [0.0] * 4, [0.5, 0.5, 0.6, 0.6], [0.0] * 4])
    mechanism, _ = release(matrix, Requirements.asked(EVEN, EVERYTHING, 0.5))
    assert mechanism.symbols == (0, 2)
    assert mechanism.shape == (2, 4)
