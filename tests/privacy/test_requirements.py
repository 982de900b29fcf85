"""A promise requires of rows what Bayes' rule does, and repaired rows meet it as they are rounded.

Repair adds a constant to each row, the smallest that meets every requirement; what is repaired
stays private when probabilities are rounded.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from members_of_sets import members
from random_rows import joint_and_rows

from skrldp import JointDistribution, LikelihoodRatioSet, RenyiBall
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirement, Requirements, repair
from skrldp.sets.fitted_sets import ConditionalsSet, RenyiSet

# Two sensitive columns and two others; one combination of each never occurs.
SECRETS = [(0, "a"), (0, "b"), (1, "a")]
VALUES = [(x, y) for x in (0, 1) for y in "pqr" if (x, y) != (1, "r")]
EPS, EPS_ALL = 0.7, 2.5


def table(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(5, 60, size=(3, 5))
    counts[0, rng.integers(5)] = 0
    return JointDistribution(counts, SECRETS, VALUES)


def told(rows, distribution, known):
    """P(Y | group) for each group, by summing cells, and the groups: (b, n), [(secret, known)]."""
    cells = list(itertools.product(SECRETS, VALUES))
    keys = [(s, tuple(u[place] for place in known)) for s, u in cells]
    groups = sorted(set(keys))
    member = np.array([[key == group for key in keys] for group in groups])
    mass = member * distribution.ravel()
    seen = mass.any(axis=1)
    told_apart = [group for group, some in zip(groups, seen, strict=True) if some]
    return rows @ mass[seen].T / mass[seen].sum(axis=1), told_apart


def leakage(reports, groups, different):
    """Greatest log ratio of two groups that are compared."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return max(
            np.nanmax(np.log(reports[:, g] / reports[:, h]))
            for (g, one), (h, other) in itertools.permutations(enumerate(groups), 2)
            if different(one, other)
        )


@settings(max_examples=16)
@given(
    st.integers(0, 10**6),
    st.sampled_from([RenyiBall(radius=0.1), RenyiBall(1.0), LikelihoodRatioSet()]),
    st.sampled_from([(), (0,), (1,), (0, 1)]),
    st.sampled_from(["all", "nonsensitive"]),
    st.sampled_from([None, EPS_ALL]),
)
def test_no_distribution_of_the_set_breaks_a_promise(
    seed, uncertainty, known, observe, eps_worst_case
):
    """Repaired rows, at many distributions of each statement's set, by Bayes' rule alone."""
    joint = table(seed)
    promise = Requirements.asked(
        joint,
        uncertainty.fit_set(joint),
        EPS,
        known=known,
        eps_worst_case=eps_worst_case,
        observe=observe,
        fit=uncertainty.fit_set,
    )
    requirements = promise.over()
    rng = np.random.default_rng(seed)
    fixed = repair(rng.dirichlet(np.full(4, 0.2), requirements.n_cells).T, requirements)
    assert fixed.sum(axis=0) == pytest.approx(1.0)
    if observe == "nonsensitive":
        fixed = np.tile(fixed, 3)
    assert {(), known} == {one.claim.known for one in promise.items}
    for statement in promise.items:
        for member in members(rng, statement.joint, statement.region.uncertainty, 8):
            reports, groups = told(
                fixed, statement.whole_distribution(member, joint), statement.claim.known
            )
            apart = leakage(reports, groups, lambda g, h: g[0] != h[0] and g[1] == h[1])
            assert apart <= statement.claim.asked + 1e-9
    if eps_worst_case is not None:
        by_secret = fixed.reshape(-1, 3, 5)
        for s, t in itertools.permutations(range(3), 2):
            ratio = by_secret[:, s].max(axis=1) / by_secret[:, t].min(axis=1)
            assert np.log(ratio.max()) <= eps_worst_case + 1e-9


@pytest.mark.parametrize("eps_worst_case", [EPS, EPS_ALL])
def test_what_follows_is_not_required_twice(eps_worst_case):
    joint = table(3)
    found = Requirements.asked(joint, RenyiSet(2.0, 0.1), EPS, eps_worst_case=eps_worst_case).over()
    assert len(found) == (1 if eps_worst_case == EPS else 2)
    assert found.items[-1].everywhere and found.items[-1].eps == eps_worst_case
    same = Requirements.asked(
        joint, RenyiSet(2.0, np.inf), EPS, eps_worst_case=eps_worst_case
    ).over()
    assert len(same) == 1 and same.least_eps == EPS


def test_sets_of_conditionals_are_fitted_to_the_finer_table():
    """A ball of joint distributions serves for all; what is about conditionals does not."""
    joint, asked = table(4), []

    def fit(finer):
        asked.append(finer)
        return ConditionalsSet(0.01, 0.015)

    found = Requirements.asked(joint, ConditionalsSet(0.02, 0.03), EPS, known=(0,), fit=fit)
    assert [one.claim.known for one in found] == [(), (0,)]
    assert [one.joint for one in found] == [joint, *asked]
    assert [one.region.uncertainty.single for one in found] == [0.02, 0.01]
    for one in found:
        # Counts stay, wherever they stand.
        moved = one.whole_distribution(one.joint.probabilities, joint)
        np.testing.assert_allclose(moved, joint.probabilities, atol=1e-12)


# --- Repair --------------------------------------------------------------------------------------

EVERYTHING = RenyiSet(1.0, np.inf)


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
    joint, rows = joint_and_rows(seed)
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
    joint, rows = joint_and_rows(seed)
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


def test_a_report_that_is_never_sent_stays_so():
    joint, rows = joint_and_rows(2)
    rows[3] = 0.0
    requirements = Requirements.of(privacy_region(joint, EVERYTHING), 0.5)
    fixed = repair(rows.reshape(6, -1), requirements, 1e-6)
    assert not fixed[3].any() and fixed[[0, 1, 2, 4, 5]].all()
