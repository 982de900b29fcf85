"""What a proof must not overlook: tiny and huge sets, rare reports, extreme numbers."""

import math

import numpy as np
import pytest
from conftest import excess, renyi
from leakage_by_definition import leak

from skrldp import AllDistributions, JointDistribution, Mechanism, RenyiBall
from skrldp.certificate import certify
from skrldp.certificate._leakage import View, least_provable
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.screening import Screened
from skrldp.sets.fitted_sets import REGIONS, RenyiSet

EVEN = JointDistribution([[25, 25], [25, 25]])


# Sets of every size


@pytest.mark.parametrize(
    ("alpha", "radius"), [(0.3, 1e-7), (0.5, 1e-13), (1.0, 1e-13), (1.0, 1e-7), (3.0, 1e-13)]
)
def test_a_tiny_ball_is_not_a_point(alpha, radius):
    """A distribution found by hand, within the ball, leaks more than the public one does."""
    matrix = np.tile([[0.7, 0.3], [0.3, 0.7]], (1, 2))
    tilt = 0.99 * math.sqrt(radius / (8.0 * alpha))  # the divergence is 8 alpha tilt**2, nearly
    distribution = np.array([[0.25 + tilt, 0.25 - tilt], [0.25 - tilt, 0.25 + tilt]])
    assert renyi(EVEN.probabilities.ravel(), distribution.ravel(), alpha) <= radius * (1 + 1e-2)
    at_it = leak(matrix, distribution[None])[0]
    assert at_it > 1e-8
    found = certify(matrix, RenyiBall(alpha, radius=radius), EVEN)
    assert at_it <= found.eps <= 20.0 * at_it
    assert found.uncertainty.radius == radius
    assert certify(matrix, RenyiBall(alpha, radius=0.0), EVEN).eps < 1e-11


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


# Block mechanisms: a few cases stand for all reports


FOURS = [(2, 2, 9, 1), (4, 1, 2, 1), (3, 1, 3, 1), (5, 1, 1, 1), (4, 4, 1, 1), (1, 2, 3, 4)]


# The first is exact, over 32, so that equal parts are rounded alike.
@pytest.mark.parametrize(
    ("seed", "four"), [*enumerate(FOURS), (4, FOURS[0]), (6, FOURS[0]), (7, FOURS[5])]
)
def test_blocks_are_proven_for_every_value_and_every_secret(seed, four):
    """The dense proof looks at each report; the worst pair may stand anywhere, in any order."""
    rng = np.random.default_rng(seed)
    a1, a2 = (4, 1) if seed == 7 else (4, 3) if seed % 2 else (3, 4)
    counts = rng.integers(1, 400, (a1, a2))
    counts[-1] = rng.integers(1, 20, a2)  # the last secret is rare, so it is in the worst pair
    joint = JointDistribution(counts)
    unseen = JointDistribution(np.append(counts[:-1], np.zeros((1, a2), dtype=int), axis=0))
    parts = np.array([1, a2 - 1, a1 - 1, (a1 - 1) * (a2 - 1)])
    four = np.array(four) / (parts @ four)
    names = joint.secrets[::-1], joint.values[::-1]
    block = Mechanism.from_blocks(tuple(four), joint.secrets, joint.values)
    balls = RenyiBall(radius=0.02), RenyiBall(1, radius=0.0), RenyiBall(0.7, radius=0.02)
    for uncertainty in (*balls, AllDistributions()):
        for table in (unseen, joint):
            ours, theirs = (certify(one, uncertainty, table) for one in (block, block.matrix))
            assert ours.eps == pytest.approx(theirs.eps, abs=1e-9)
            assert ours.eps_attained == pytest.approx(theirs.eps_attained, abs=1e-6)
        turned = JointDistribution(counts[::-1, ::-1], *names)  # the last come first
        assert certify(block, uncertainty, turned).eps == pytest.approx(ours.eps, abs=1e-9)
        assert leak(block.matrix, ours.distribution[None])[0] <= ours.eps + 1e-12


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


# Numbers at the edge of what floats hold


def test_a_leakage_whose_exponential_overflows_is_not_proven_small():
    """In the ball P(u1 | s2) may be exp(-4000) / 4, and the first report has 1e-70 of that."""
    matrix = np.array([[0.5, 0.5, 0.0, 1e-70], [0.5, 0.5, 1.0, 1.0 - 1e-70]])
    true = math.log(0.5) + 4000.0 + math.log(4.0) + 70.0 * math.log(10.0)
    assert certify(matrix, RenyiBall(1.0, radius=1000.0), EVEN).eps >= true
    # finite where the exponential is, as for entries of 1e-290
    tiny = np.array([[0.5, 0.5, 1e-290, 1e-290], [0.5, 0.5, 1.0, 1.0]])
    for uncertainty in (AllDistributions(), RenyiBall(1.0, radius=1000.0)):
        found = certify(tiny, uncertainty, EVEN)
        assert found.eps == pytest.approx(math.log(0.5) + 290.0 * math.log(10.0), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("off", [-1e-8, 1e-15, 1e-9])
def test_orders_next_to_one_are_like_one(off):
    """What is proven and attained varies smoothly with the order, here by about 2/3 of it."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        joint = JointDistribution(rng.integers(1, 60, (3, 4)))
        matrix = rng.dirichlet(np.ones(4), 12).T
        matrix /= matrix.sum(axis=0)
        one = certify(matrix, RenyiBall(1.0, radius=0.05), joint)
        near = certify(matrix, RenyiBall(1.0 + off, radius=0.05), joint)
        assert near.eps == pytest.approx(one.eps, abs=abs(off) + 1e-11)
        assert near.eps_attained == pytest.approx(one.eps_attained, abs=abs(off) + 1e-11)
        np.testing.assert_allclose(near.distribution, one.distribution, atol=abs(off) + 1e-7)


@pytest.mark.parametrize("radius", [0.0, 0.1, math.inf])
@pytest.mark.parametrize("region", REGIONS)
def test_a_zero_that_faces_a_positive_is_private_at_no_eps(region, radius):
    over = privacy_region(EVEN, RenyiSet(2.0, radius), region=region)
    rows = np.array([[[0.5, 0.5], [0.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]])
    for eps in (1.0, 700.0, 1e4):  # the last exponential times zero would be no number
        worst = over.worst(rows, eps, above=0.0)
        assert list(zip(worst.row, worst.first, worst.second, strict=True)) == [(0, 0, 1)]
        assert excess(over, rows, eps).tolist() == pytest.approx([0.5, 0.0])


def test_a_bound_that_is_no_number_clears_no_pair(monkeypatch):
    over = privacy_region(EVEN, RenyiSet(2.0, 0.1))
    rows = np.full((1, 2, 2), 0.5)
    assert len(over.worst(rows, 1.0, above=0.0).row) == 0
    unknown = np.full((1, 2), math.nan)
    monkeypatch.setattr(type(over), "_extremes", lambda *_: (unknown, unknown))
    assert over.screened(rows).gaps(np.full(2, 1.0)).tolist() == [[math.inf, math.inf]]
    assert len(over.worst(rows, 0.0, above=0.0).row) == 2  # but the pair's own bound may
