"""Certificates where numbers are at the edge of what floats hold."""

import math

import numpy as np
import pytest
from conftest import excess

from skrldp import AllDistributions, JointDistribution, RenyiBall, certify
from skrldp.privacy.private_rows import privacy_region
from skrldp.sets.fitted_sets import REGIONS, RenyiSet

EVEN = JointDistribution([[5, 5], [5, 5]])


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
@pytest.mark.parametrize("off", [-1e-8, -1e-11, -1e-15, 1e-15, 1e-12, 1e-9])
def test_orders_next_to_one_are_like_one(off):
    """What is proven and attained varies smoothly with the order, here by about 2/3 of it."""
    for seed in range(4):
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
