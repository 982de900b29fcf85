"""Bounds of rows hold to the last bit, and a repair leaves what it promises to leave."""

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from skrldp import JointDistribution, Mechanism
from skrldp.certificate import may_stand_in
from skrldp.row_privacy import privacy_region, repair
from skrldp.support_function import support
from skrldp.uncertainty_set import RenyiSet

SEEDS = range(3)
EVERYTHING = RenyiSet(1.0, np.inf)


def instance(seed, a1=3, a2=7, b=6):
    rng = np.random.default_rng(seed)
    joint = JointDistribution(rng.integers(1, 60, (a1, a2)))
    rows = rng.random((b, a1, a2)) * 10.0 ** rng.uniform(-6, 0, (b, 1, 1))
    return joint, rows


def exact_maxima(region, q, secret):
    """Greatest R.q over one secret's conditionals, in fractions, by the region's own numbers."""
    terms = [Fraction(float(x)) for x in q]
    if type(region).__name__ == "SimplexRegion":
        return max(terms)
    if type(region).__name__ == "PointRegion":
        return sum(
            Fraction(float(r)) * x for r, x in zip(region.conditionals[secret], terms, strict=True)
        )
    lower = [Fraction(float(x)) for x in region.lower[secret]]
    upper = [
        Fraction(float(x)) for x in getattr(region, "upper", np.ones_like(region.lower))[secret]
    ]
    left, value = 1 - sum(lower), sum(r * x for r, x in zip(lower, terms, strict=True))
    for place in sorted(range(len(terms)), key=lambda u: -terms[u]):
        more = min(left, upper[place] - lower[place])
        left, value = left - more, value + more * terms[place]
    return value


def regions(joint):
    ball = RenyiSet(2.0, 0.05)
    yield privacy_region(joint, EVERYTHING)
    yield privacy_region(joint, RenyiSet(2.0, 0.0))
    yield privacy_region(joint, ball, region="lower")
    yield privacy_region(joint, ball, region="box")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", range(4), ids=["simplex", "point", "lower", "box"])
def test_a_polytopes_maximum_is_bounded_to_the_last_bit(seed, kind):
    joint, rows = instance(seed, a2=40)
    region = list(regions(joint))[kind]
    q = np.concatenate([rows[:, 0], -rows[:, 1]])
    for secret in range(3):
        found, _ = region._extreme(q, np.full(len(q), secret), False)
        for bound, row in zip(found, q, strict=True):
            most = exact_maxima(region, row, secret)
            assert most <= Fraction(float(bound))
            assert float(bound) <= float(most) + 1e-13 * np.abs(row).max()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", range(4), ids=["simplex", "point", "lower", "box"])
def test_a_violation_is_bounded_to_the_last_bit(seed, kind):
    """All that floating point adds up to one: exp(eps), products, differences."""
    joint, rows = instance(seed)
    region = list(regions(joint))[kind]
    for eps in (1e-9, 0.3, 2.0, 40.0):
        found = region.worst(rows, eps)
        with localcontext() as context:
            context.prec = 50
            factor = Fraction(Decimal(eps).exp())
        assert len(found.row) == 6 * 6
        for row, first, second, bound in zip(
            found.row, found.first, found.second, found.bound, strict=True
        ):
            most = exact_maxima(region, rows[row, first], first)
            least = -exact_maxima(region, -rows[row, second], second)
            assert most - factor * least <= Fraction(float(bound))


def test_all_that_exceeds_is_returned():
    """However small: a caller asks for what is above a number, and gets it."""
    joint, rows = instance(0)
    for region in (*regions(joint), privacy_region(joint, RenyiSet(2.0, 0.05))):
        everything = region.worst(rows, 0.3)
        for above in np.sort(everything.bound)[[0, 5, 17, -2]] - 1e-13:
            some = region.worst(rows, 0.3, above=above)
            assert len(some.row) == (everything.bound > above).sum()
        np.testing.assert_array_equal(
            region.excess(rows, 0.3), np.maximum(everything.per_row(len(rows)), 0.0)
        )
        assert region.excess(rows * 1e-9, 0.3) == pytest.approx(region.excess(rows, 0.3) * 1e-9)


def test_a_closer_bound_that_is_no_number_leaves_the_rougher_one(monkeypatch):
    joint, rows = instance(0)
    region = privacy_region(joint, RenyiSet(2.0, 0.05))
    exact = region.worst(rows, 0.3)

    def failing(*arguments):
        return replace(support(*arguments), bound=np.full(len(arguments[0]), np.nan))

    monkeypatch.setattr("skrldp.row_privacy._balls.support", failing)
    rough = region.worst(rows, 0.3)
    assert len(rough.bound) == len(exact.bound) and np.all(rough.bound >= exact.bound)


# Repair


def test_repair_goes_as_far_inside_as_it_is_told():
    joint, rows = instance(1)
    rows[1:] *= (1.0 - 1e-6) / rows[1:].sum(axis=0)
    rows[0] = 1e-6  # private, but not by as much as the slack asks
    matrix = rows.reshape(len(rows), -1)
    for uncertainty in (EVERYTHING, RenyiSet(2.0, 0.05)):
        region = privacy_region(joint, uncertainty)
        for slack in (0.0, 1e-4):
            fixed = repair(matrix, region, 0.5, slack)
            shrunk = np.ptp(fixed[1]) / np.ptp((matrix / matrix.sum(axis=0))[1])
            found = region.worst(fixed.reshape(rows.shape), 0.5)
            assert found.bound.max() < -slack * shrunk < 0.1 if slack else found.bound.max() < 0.0


def test_a_report_that_is_never_sent_stays_so():
    joint, rows = instance(2)
    rows[3] = 0.0
    fixed = repair(rows.reshape(6, -1), privacy_region(joint, EVERYTHING), 0.5, 1e-6)
    assert not fixed[3].any() and fixed[[0, 1, 2, 4, 5]].all()


@pytest.mark.parametrize("share", [0.02, 0.98])
def test_repair_makes_a_stand_in_possible(share):
    """From either side: the stand-in may give a report more often than people do, or less."""
    joint = JointDistribution([[30, 70], [60, 40]])
    stand_in = np.array([share, 1.0 - share])
    around, eps = RenyiSet(2.0, 1e-4), 0.3
    region = privacy_region(joint, around, observe="nonsensitive")
    for matrix in (
        np.array([[0.9, 0.2], [0.1, 0.8]]),
        np.array([[0.05, 0.01], [0.5, 0.5], [0.45, 0.49]]),
        np.array([[0.01, 0.05], [0.5, 0.5], [0.49, 0.45]]),
    ):
        fixed = repair(matrix, region, eps, 1e-8, stand_in)
        mechanism = Mechanism.from_matrix(fixed, (0, 1), (0, 1), observe="nonsensitive")
        assert may_stand_in(mechanism, stand_in, joint, around, eps)
        alone = repair(matrix, region, eps, 1e-8)
        mechanism = Mechanism.from_matrix(alone, (0, 1), (0, 1), observe="nonsensitive")
        assert not may_stand_in(mechanism, stand_in, joint, around, eps)
