"""Repair: any stochastic matrix becomes private, and stays so when it is rounded."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import JointDistribution
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirement, Requirements, repair
from skrldp.sets.fitted_sets import RenyiSet

EVERYTHING = RenyiSet(1.0, np.inf)


def instance(seed, a1=3, a2=7, b=6):
    rng = np.random.default_rng(seed)
    joint = JointDistribution(rng.integers(1, 60, (a1, a2)))
    rows = rng.random((b, a1, a2)) * 10.0 ** rng.uniform(-6, 0, (b, 1, 1))
    return joint, rows


def violation(requirements, rows):
    """Greatest bound of a pair, of all rows and requirements."""
    return max(one.region.worst(rows, one.eps).bound.max() for one in requirements)


def several(joint, seed):
    """Requirements of several kinds, each with pairs and an ε of its own."""
    rng = np.random.default_rng([seed, 1])
    items = []
    for around in (RenyiSet(2.0, 0.05), EVERYTHING, RenyiSet(1.0, 0.3)):
        region = privacy_region(joint, around)
        chosen = rng.random(len(region.pairs[0])) < 0.7
        chosen[0] = True
        compared = tuple(part[chosen] for part in region.pairs)
        region = privacy_region(joint, around, compared=compared)
        items.append(Requirement(region, rng.uniform(0.2, 4.0)))
    return Requirements(tuple(items))


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e-9, 1e-3]))
def test_what_is_repaired_stays_private_when_it_is_rounded(seed, rounding):
    joint, rows = instance(seed)
    requirements = several(joint, seed)
    fixed = repair(rows.reshape(6, -1), requirements, rounding)
    np.testing.assert_allclose(fixed.sum(axis=0), 1.0, atol=1e-12)
    assert violation(requirements, fixed) <= 0.0
    shifts = requirements.shifts(rows / rows.sum(axis=0), rounding)
    # Dividing by the column sums leaves a part of what the rounding may be.
    shrunk = rounding / (1.0 + shifts.sum())
    rng = np.random.default_rng(seed)
    for _ in range(5):
        moved = fixed + shrunk * rng.choice([-1.0, 1.0], size=fixed.shape)
        assert violation(requirements, moved) <= 0.0


@given(st.integers(0, 10**6))
@settings(max_examples=12)
def test_heights_are_the_greatest_and_no_more_than_is_needed(seed):
    joint, rows = instance(seed)
    requirements = several(joint, seed)
    shifts = requirements.shifts(rows)
    each = [Requirements((one,)).shifts(rows) for one in requirements]
    np.testing.assert_array_equal(shifts, np.max(each, axis=0))
    flat = rows.reshape(6, -1)
    shifted = requirements.shift(flat)
    np.testing.assert_allclose(shifted.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(requirements.shifts(shifted) <= 1e-12, True)
    for row, height in zip(flat, shifts, strict=True):
        if height > 1e-6:  # a little less does not do
            assert violation(requirements, (row + 0.999 * height)[None]) > 0.0
        else:
            assert violation(requirements, (row + height)[None]) <= 0.0


def test_repair_goes_as_far_inside_as_it_is_told():
    joint, rows = instance(1)
    rows[1:] *= (1.0 - 1e-6) / rows[1:].sum(axis=0)
    rows[0] = 1e-6  # private, but not by as much as the slack asks
    matrix = rows.reshape(len(rows), -1)
    for uncertainty in (EVERYTHING, RenyiSet(2.0, 0.05)):
        region = privacy_region(joint, uncertainty)
        for slack in (0.0, 1e-4):
            fixed = repair(matrix, Requirements.of(region, 0.5), slack / (1.0 + np.exp(0.5)))
            shrunk = np.ptp(fixed[1]) / np.ptp((matrix / matrix.sum(axis=0))[1])
            found = region.worst(fixed.reshape(rows.shape), 0.5)
            assert found.bound.max() < -slack * shrunk < 0.1 if slack else found.bound.max() < 0.0


def test_a_report_that_is_never_sent_stays_so():
    joint, rows = instance(2)
    rows[3] = 0.0
    requirements = Requirements.of(privacy_region(joint, EVERYTHING), 0.5)
    fixed = repair(rows.reshape(6, -1), requirements, 1e-6)
    assert not fixed[3].any() and fixed[[0, 1, 2, 4, 5]].all()
