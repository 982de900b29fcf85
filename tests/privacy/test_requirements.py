"""What a promise requires of rows, against Bayes' rule on columns of records."""

import itertools

import numpy as np
import pytest
from conftest import on_the_boundary, random_directions
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import JointDistribution
from skrldp.privacy.requirements import Requirements, repair
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


@settings(max_examples=12)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(), (0,), (1,), (0, 1)]),
    st.sampled_from(["all", "nonsensitive"]),
    st.sampled_from([None, EPS_ALL]),
)
def test_no_distribution_of_the_ball_breaks_a_promise(seed, known, observe, eps_worst_case):
    """Rows that meet the requirements, at many distributions of the ball, by Bayes' rule alone."""
    joint, radius = table(seed), 0.1
    promise = Requirements.asked(
        joint,
        RenyiSet(2.0, radius),
        EPS,
        known=known,
        eps_worst_case=eps_worst_case,
        observe=observe,
    )
    requirements = promise.over()
    rng = np.random.default_rng(seed)
    fixed = repair(rng.dirichlet(np.full(4, 0.2), requirements.n_cells).T, requirements)
    if observe == "nonsensitive":
        fixed = np.tile(fixed, 3)
    centre = joint.probabilities.ravel()
    towards = random_directions(rng, 60, centre.size) + 1e-12
    around = on_the_boundary(centre, towards / towards.sum(axis=1, keepdims=True), 2.0, radius)
    for distribution in (centre, *around):
        reports, groups = told(fixed, distribution, ())
        assert leakage(reports, groups, lambda g, h: g[0] != h[0]) <= EPS + 1e-9
        if known:
            reports, groups = told(fixed, distribution, known)
            apart = leakage(reports, groups, lambda g, h: g[0] != h[0] and g[1] == h[1])
            assert apart <= EPS + 1e-9
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


def test_searches_begin_with_rows_of_the_right_length():
    """Whatever the layout of the first requirement is: parts may overlap, or have copies."""
    for observe, shape in (("all", (3, 5)), ("nonsensitive", (1, 5))):
        options = {"known": (0,), "observe": observe}
        for eps_worst_case in (None, EPS, EPS_ALL):
            found = Requirements.asked(
                table(6), RenyiSet(2.0, 0.1), EPS, eps_worst_case=eps_worst_case, **options
            ).over()
            assert found.shape == shape
            parts, size = Requirements(found.items).shape
            assert parts * size == found.n_cells
