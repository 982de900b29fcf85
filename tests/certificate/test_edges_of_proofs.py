"""What a certificate must not overlook, and what a release must not skip."""

import math
from dataclasses import replace

import numpy as np
import pytest
from conftest import renyi

from skrldp import AllDistributions, CertificateError, JointDistribution, Mechanism, RenyiBall
from skrldp.certificate import _release as release_module
from skrldp.certificate import certify, release
from skrldp.certificate._leakage import View, least_provable
from skrldp.claims import Claims
from skrldp.privacy.requirements import Requirements
from skrldp.privacy.screening import Screened
from skrldp.sets.fitted_sets import RenyiSet

EVEN = JointDistribution([[25, 25], [25, 25]])
EVERYTHING = RenyiSet(1.0, math.inf)


def leak(matrix, distribution):
    """Leakage of a matrix at one distribution (a1, a2), from ISIT (32)."""
    conditionals = distribution / distribution.sum(axis=1, keepdims=True)
    reports = np.einsum("bsu,su->bs", np.reshape(matrix, (-1, *distribution.shape)), conditionals)
    return float(np.log(reports.max(axis=1) / reports.min(axis=1)).max())


# Sets of every size


@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("radius", [1e-13, 1e-7])
def test_a_tiny_ball_is_not_a_point(alpha, radius):
    """A distribution found by hand, within the ball, leaks more than the public one does."""
    matrix = np.tile([[0.7, 0.3], [0.3, 0.7]], (1, 2))
    tilt = 0.99 * math.sqrt(radius / (8.0 * alpha))  # the divergence is 8 alpha tilt**2, nearly
    distribution = np.array([[0.25 + tilt, 0.25 - tilt], [0.25 - tilt, 0.25 + tilt]])
    assert renyi(EVEN.probabilities.ravel(), distribution.ravel(), alpha) <= radius * (1 + 1e-2)
    at_it = leak(matrix, distribution)
    assert at_it > 1e-8
    found = certify(matrix, RenyiBall(alpha, radius=radius), EVEN)
    assert at_it <= found.eps <= 20.0 * at_it
    assert found.uncertainty.radius == radius
    assert certify(matrix, RenyiBall(alpha, radius=0.0), EVEN).eps < 1e-11


@pytest.mark.parametrize("radius", [51.0, 700.0])
def test_a_huge_ball_is_not_everything(radius):
    """Its certificate says what was proven: nothing else fits the numbers of a claim."""
    around = RenyiSet(2.0, radius)
    assert not around.is_everything and not around.is_point
    assert f"{radius:g}" in around.describe()
    matrix = np.tile([[0.7, 0.3], [0.3, 0.7]], (1, 2))
    found = certify(matrix, around, EVEN)
    assert (found.uncertainty.alpha, found.uncertainty.radius) == (2.0, radius)
    assert found.eps == pytest.approx(math.log(7 / 3), abs=1e-9)


def test_a_rare_report_counts():
    """One report in 10**10 tells the secrets apart: that is a leak like any other."""
    rare = 1e-10
    matrix = np.array([[0.5, 0.5, 0.5, 0.5], [0.5 - rare * math.e**3] * 2 + [0.5 - rare] * 2])
    matrix = np.concatenate([matrix, [[rare * math.e**3] * 2 + [rare] * 2]])
    matrix[1] = 1.0 - matrix[0] - matrix[2]
    for uncertainty in (AllDistributions(), RenyiBall(), RenyiBall(radius=0.0)):
        found = certify(Mechanism.from_matrix(matrix, (0, 1), (0, 1)), uncertainty, EVEN)
        assert found.eps > 2.5  # 3 but for the rounding of so small a probability
        assert certify(matrix, uncertainty, EVEN).eps == pytest.approx(3.0, abs=1e-4)


def test_a_report_that_rules_a_secret_out_is_seen_to():
    """Already at the public distribution: the leakage that is attained is infinite as well."""
    matrix = np.array([[1.0, 1.0, 0.9, 0.9], [0.0, 0.0, 0.1, 0.1]])
    for uncertainty in (RenyiBall(radius=0.0), RenyiBall(), AllDistributions()):
        found = certify(matrix, uncertainty, EVEN)
        assert found.eps == found.eps_attained == math.inf


# Block mechanisms: a few cases stand for all reports


FOURS = [(2, 2, 9, 1), (4, 1, 2, 1), (3, 1, 3, 1), (5, 1, 1, 1), (4, 4, 1, 1), (1, 2, 3, 4)]


@pytest.mark.parametrize(("seed", "four"), list(enumerate(FOURS)))  # the first is exact, over 32
def test_blocks_are_proven_for_every_value_and_every_secret(seed, four):
    """The dense proof looks at each report; the worst pair and value stand anywhere."""
    rng = np.random.default_rng(seed)
    a1, a2 = (4, 3) if seed % 2 else (3, 4)
    counts = rng.integers(1, 400, (a1, a2))
    counts[-1] = rng.integers(1, 20, a2)  # the last secret is rare, so it is in the worst pair
    joint = JointDistribution(counts)
    parts = np.array([1, a2 - 1, a1 - 1, (a1 - 1) * (a2 - 1)])
    four = np.array(four) / (parts @ four)
    block = Mechanism.from_blocks(tuple(four), joint.secrets, joint.values)
    for uncertainty in (RenyiBall(radius=0.02), RenyiBall(1, radius=0.0), AllDistributions()):
        ours = certify(block, uncertainty, joint)
        theirs = certify(block.matrix, uncertainty, joint)
        assert ours.eps == pytest.approx(theirs.eps, abs=1e-9)
        turned = JointDistribution(counts[::-1, ::-1])  # the last value and secret come first
        assert certify(block, uncertainty, turned).eps == pytest.approx(ours.eps, abs=1e-9)
        assert leak(block.matrix, ours.distribution) <= ours.eps + 1e-12


# The search for the least provable ε


class Stubborn:
    """A region in which a violation is seen at any ε, and no conditionals that show it."""

    pairs = np.array([0, 1]), np.array([1, 0])

    def parts(self, n_rows):
        return [slice(0, n_rows)]

    def screened(self, rows, against):
        return Screened(self, rows, against, np.full((1, 2), math.inf), np.zeros((1, 2)))

    def closely(self, pairs, *_):
        m = len(pairs.first)
        return np.full(m, 1e-3), np.zeros((m, 2, 2))


def test_what_cannot_be_proven_is_infinite():
    rows = np.full((1, 2, 2), 0.5)
    assert least_provable(View(rows, rows, Stubborn()), 0.1)[0] == math.inf


# Release


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
