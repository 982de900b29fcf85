"""Bounds of rows hold to the last bit."""

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from random_rows import joint_and_rows

from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet
from skrldp.support_function import support

SEEDS = range(3)
EVERYTHING = RenyiSet(1.0, np.inf)


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
    joint, rows = joint_and_rows(seed, a2=40)
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
    """Floating point rounds exp(eps), products and differences; the bound is above, and close."""
    joint, rows = joint_and_rows(seed, a2=20)
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
            exact = most - factor * least
            assert exact <= Fraction(float(bound))
            scale = rows[row, first].max() + float(factor) * rows[row, second].max()
            assert float(bound) <= float(exact) + 1e-13 * scale


def test_all_that_exceeds_is_returned():
    """However small: a caller asks for what is above a number, and gets it."""
    joint, rows = joint_and_rows(0)
    for region in (*regions(joint), privacy_region(joint, RenyiSet(2.0, 0.05))):
        everything = region.worst(rows, 0.3)
        for above in np.sort(everything.bound)[[0, 5, 17, -2]] - 1e-13:
            some = region.worst(rows, 0.3, above=above)
            assert len(some.row) == (everything.bound > above).sum()
        requirements = Requirements.of(region, 0.3)
        shifts = requirements.shifts(rows)
        highest = [everything.shifts[everything.row == y].max() for y in range(len(rows))]
        np.testing.assert_array_equal(shifts, np.maximum(highest, 0.0))
        assert requirements.shifts(rows * 1e-9) == pytest.approx(shifts * 1e-9)


def test_a_closer_bound_that_is_no_number_leaves_the_rougher_one(monkeypatch):
    joint, rows = joint_and_rows(0)
    region = privacy_region(joint, RenyiSet(2.0, 0.05))
    exact = region.worst(rows, 0.3)

    def failing(*arguments):
        return replace(support(*arguments), bound=np.full(len(arguments[0]), np.nan))

    monkeypatch.setattr("skrldp.privacy.private_rows.support", failing)
    rough = region.worst(rows, 0.3)
    assert len(rough.bound) == len(exact.bound) and np.all(rough.bound >= exact.bound)
