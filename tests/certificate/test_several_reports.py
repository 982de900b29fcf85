"""Several reports about one record leak no more than is proven, by all ordered combinations."""

import math
from fractions import Fraction

import numpy as np
import pytest
from conftest import on_the_boundary, random_directions
from leakage_by_definition import leak

from skrldp import (
    JointDistribution,
    Mechanism,
    RenyiBall,
    certify,
)
from skrldp.certificate import _several_reports, prove_reports
from skrldp.certificate._leakage import LeakageBound
from skrldp.certificate._several_reports import SeveralReports, distinct_rows, power
from skrldp.sets.fitted_sets import RenyiSet

EVEN = JointDistribution([[25, 25], [25, 25]])
EVERYTHING = RenyiSet(1.0, math.inf)


def table(seed, a1, a2, zeros=0.0, b=3):
    rng = np.random.default_rng([seed, a1, a2])
    matrix = rng.dirichlet(np.ones(b), a1 * a2).T * (rng.random((b, a1 * a2)) >= zeros)
    matrix[0] += 0.05
    return JointDistribution(rng.integers(5, 60, (a1, a2))), matrix / matrix.sum(axis=0)


def in_the_ball(joint, alpha, radius, count=600):
    centre = joint.probabilities.ravel()
    towards = random_directions(np.random.default_rng(1), count, centre.size)
    found = on_the_boundary(centre, towards, alpha, radius).reshape(-1, *joint.counts.shape)
    return found[found.sum(axis=2).min(axis=1) > 0]


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.7, 1.0, 2.0])
@pytest.mark.parametrize(("shape", "zeros"), [((2, 3), 0.0), ((3, 2), 0.25)])
def test_no_combination_of_reports_leaks_more_and_one_leaks_as_much(shape, alpha, zeros):
    for k, radius in ((1, 0.05), (2, 1e-3), (2, 0.05), (3, 0.3)):
        joint, matrix = table(k, *shape, zeros)
        found = certify(matrix, RenyiBall(alpha, radius=radius), joint, k)
        some = leak(matrix, in_the_ball(joint, alpha, radius), k).max()
        assert some <= found.eps + 1e-12
        here = leak(matrix, found.distribution[None], k)[0]
        assert found.eps_attained == pytest.approx(here, abs=1e-9)
        assert found.eps_attained <= found.eps <= found.eps_worst_case
        if math.isfinite(found.eps):
            assert found.eps - found.eps_attained <= 1e-6
            assert some >= 0.7 * found.eps  # so that this can tell
        assert found.reports == k and found.claim.how == "proof"


def test_two_reports_may_rule_out_what_one_cannot():
    """Given U the first secret's reports are all the same, so two different ones exclude it."""
    matrix = np.array([[1.0, 0.0, 0.5, 0.5], [0.0, 1.0, 0.5, 0.5]])
    one, two = (certify(matrix, RenyiBall(radius=0.01), EVEN, reports=k) for k in (1, 2))
    assert one.eps < 1.0
    assert two.eps == two.eps_attained == math.inf


def test_over_all_distributions_reports_add_up():
    joint, matrix = table(1, 3, 3)
    mechanism = Mechanism.from_matrix(matrix, joint.secrets, joint.values)
    one, *more = prove_reports(mechanism, joint, EVERYTHING, (1, 2, 3, 10))
    for found in more:
        assert (
            found.eps
            == found.eps_worst_case
            == pytest.approx(found.reports * one.eps_worst_case, rel=1e-14)
        )
        assert found.eps >= found.reports * one.eps_worst_case
        assert found.eps_given_u == pytest.approx(found.reports * one.eps_given_u, rel=1e-14)
        assert found.eps_attained == pytest.approx(found.eps, abs=1e-9)
    three = leak(mechanism.matrix, more[1].distribution[None], 3)[0]
    assert more[1].eps_attained == pytest.approx(three, abs=1e-9)


def test_what_cannot_be_enumerated_is_a_sum(monkeypatch):
    """Never below the exact bound, and of the sums the least that can be had."""
    joint, matrix = table(5, 2, 3)
    around = RenyiSet(2.0, 0.05)
    mechanism = Mechanism.from_matrix(matrix, joint.secrets, joint.values)
    exact = prove_reports(mechanism, joint, around, range(1, 5))
    first, all_ = exact[0], exact[0].eps_worst_case
    monkeypatch.setattr(_several_reports.SeveralReports, "_work", lambda self, k: float(k))
    for most in (1, 2, 3):
        found = prove_reports(mechanism, joint, around, (4, 3, 2), first=first, work=most)
        assert [one.reports for one in found] == [4, 3, 2]
        for one in found:
            best, k = exact[one.reports - 1], one.reports
            assert (one.claim.how == "proof") == (k <= most)
            enumerated = min(k, most)
            expected = exact[enumerated - 1].eps + (k - enumerated) * all_
            assert one.eps == pytest.approx(expected, abs=1e-9)
            assert best.eps <= one.eps
            assert exact[enumerated - 1].eps_attained <= one.eps_attained <= best.eps
            there = leak(mechanism.matrix, one.distribution[None], k)[0]
            assert one.eps_attained <= there + 1e-9


def test_sums_of_bounds_are_rounded_upwards():
    for eps, eps_worst_case in np.sort(np.random.default_rng(0).random((200, 2)) * 3).tolist():
        first = LeakageBound(eps, 0.0, np.ones((1, 1)))
        several = SeveralReports(None, None, None, None, first, eps_worst_case, 0.0)
        assert Fraction(several._composed(2)) >= Fraction(eps) + Fraction(eps_worst_case)


def test_no_number_of_reports_is_too_large():
    joint, matrix = table(0, 2, 2)
    mechanism = Mechanism.from_matrix(matrix, joint.secrets, joint.values)
    numbers = (1, 1000, 10**9, 10**400)
    one, *more = prove_reports(mechanism, joint, RenyiSet(2.0, 0.05), numbers, work=1e5)
    for found in (one, *more):  # NumPy's floats are written otherwise
        figures = found.eps, found.eps_attained, found.eps_worst_case, found.eps_given_u
        assert {type(figure) for figure in figures} == {float}
    for found in more:
        assert one.eps < found.eps_attained <= found.eps <= found.eps_worst_case
        total = found.reports * one.eps_worst_case if found.reports < 10**300 else math.inf
        assert found.eps_worst_case == pytest.approx(total, rel=1e-14)
    same = np.full((2, 4), 0.5)
    for k in (1, 2, 10**400):
        found = certify(same, RenyiBall(), EVEN, k)
        assert found.eps_worst_case == found.eps_given_u == found.eps == 0.0


@pytest.mark.parametrize("reports", [0, -1, 1.0, "2", None, True])
def test_a_number_of_reports_is_asked_for(reports):
    with pytest.raises(ValueError, match=r"reports=.* must be an integer >= 1"):
        certify(np.full((2, 4), 0.5), RenyiBall(), EVEN, reports=reports)
    mechanism = Mechanism.from_matrix(np.full((2, 4), 0.5), (0, 1), (0, 1))
    with pytest.raises(ValueError, match="reports="):
        prove_reports(mechanism, EVEN, EVERYTHING, (1, reports))


# Rows


def test_proportional_rows_are_one():
    """A report split in parts of 1 : 3 and one that is never sent tell nothing new."""
    weights = np.array([[8, 4, 6, 2], [24, 12, 18, 6], [0, 0, 0, 0], [2, 18, 10, 26]])
    above, below = distinct_rows(weights)
    assert above.shape == (2, 4) and np.array_equal(above, below)
    split, whole = weights / 34.0, np.array([weights[:3].sum(axis=0), weights[3]]) / 34.0
    for matrix in (split, weights[:, ::-1] / 34.0):
        assert len(distinct_rows(matrix)[0]) in (2, 3)
    large = np.array([[2**62 - 1, 2**53 + 1, 3, 1], [5, 2**53 - 1, 2, 7]])  # no floats hold these
    for row, high, low in zip(large[[1, 0]], *distinct_rows(large), strict=True):
        factor = Fraction(2) ** round(math.log2(high.max() / float(row.max())))
        for true, most, least in zip(row.tolist(), high, low, strict=True):
            assert Fraction(least) <= true * factor <= Fraction(most)
    ours, theirs = (
        certify(Mechanism.from_matrix(m, (0, 1), (0, 1)), RenyiBall(), EVEN, 3)
        for m in (split, whole)
    )
    assert ours.eps == pytest.approx(theirs.eps, abs=1e-9)


def test_products_are_rounded_outwards():
    """Against exact fractions; each row of the result has a power of two as its factor."""
    rng = np.random.default_rng(0)
    rows = rng.random((40, 4)) * 2.0 ** -rng.integers(0, 60, (40, 4))
    rows[:8] *= 10.0 ** -rng.integers(0, 310, (8, 4))
    rows[rng.random(rows.shape) < 0.1] = 0.0
    rows[:, 0] = 0.3 + 0.5 * rng.random(40)
    for k in (1, 2, 3, 7, 20):
        above, below = power((rows, rows), k)
        for row, high, low in zip(rows, above, below, strict=True):
            exact = [Fraction(x) ** k for x in row]
            factor = Fraction(2) ** round(math.log2(Fraction(high.max()) / max(exact)))
            for true, most, least in zip(exact, high, low, strict=True):
                assert Fraction(least) <= true * factor <= Fraction(most)
                assert (most > 0) == (true > 0)
                if least > 1e-290:
                    assert most <= least * (1.0 + 4 * k * np.finfo(float).eps)


def test_what_underflows_is_no_leak_without_bound():
    tiny = np.array([[0.5, 0.5, 1e-200, 1e-200], [0.5, 0.5, 1.0, 1.0]])
    one, two = (certify(tiny, RenyiBall(1.0, radius=0.5), EVEN, k) for k in (1, 2))
    assert one.eps == pytest.approx(math.log(0.5) + 200 * math.log(10.0), rel=1e-12)
    assert two.eps == pytest.approx(2.0 * one.eps, rel=1e-12)
    assert one.eps < two.eps_attained <= two.eps


def test_small_blocks_are_like_any_matrix():
    joint = JointDistribution([[9, 30, 20], [40, 10, 15], [30, 30, 5]])
    block = Mechanism.from_blocks((0.25, 0.11, 0.07, 0.065), joint.secrets, joint.values)
    for k in (2, 3):
        ours, theirs = (certify(m, RenyiBall(), joint, k) for m in (block, block.matrix))
        assert ours.eps == pytest.approx(theirs.eps, abs=1e-9) and ours.claim.how == "proof"
        assert ours.eps_attained == pytest.approx(ours.eps, abs=1e-6)
    long = prove_reports(block, joint, RenyiBall().fit_set(joint), (3,), work=0)[0]
    equal = (block.matrix**3).reshape(-1, 3, 3)
    conditionals = long.distribution / long.distribution.sum(axis=1, keepdims=True)
    report = np.einsum("bsu,su->bs", equal, conditionals)
    there = float(np.log(report.max(axis=1) / report.min(axis=1)).max())
    assert long.eps_attained == pytest.approx(there, abs=1e-9)
