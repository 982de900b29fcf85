"""Quick independent reports with optimised mechanisms: private, repeatable, and well spent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import JointDistribution, LikelihoodRatioSet
from skrldp.certificate import proof_region
from skrldp.design import subset_search as quick
from skrldp.design.subset_optimum import SetMixture, all_sets, optimal_response, set_rows
from skrldp.design.subset_search import quick_reporting, set_drops
from skrldp.information import mutual_information, product_information
from skrldp.privacy.requirements import Promise, Requirements
from skrldp.sets.fitted_sets import RenyiSet

BALL = RenyiSet(2.0, 0.01)
EVERYTHING = RenyiSet(1.0, np.inf)


def table(seed, a1, a2, low=0, n=None):
    rng = np.random.default_rng(seed)
    if n:
        counts = rng.multinomial(n, rng.dirichlet(np.full(a1 * a2, 0.5))).reshape(a1, a2)
    else:
        counts = rng.integers(low, 200, size=(a1, a2))
    return JointDistribution(counts + np.eye(a1, a2, dtype=int))


def tiled(rows, a1):
    """Rows for U as rows for X."""
    return np.repeat(rows[:, None, :], a1, axis=1)


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
def test_product_information(seed, b1, b2):
    rng = np.random.default_rng(seed)
    distribution = rng.dirichlet(np.ones(6)).reshape(2, 3)
    first, second = rng.dirichlet(np.ones(b1), 2).T, rng.dirichlet(np.ones(b2), 3).T
    assert product_information(first, second, distribution) == pytest.approx(
        mutual_information(np.kron(first, second), distribution.ravel()), abs=1e-12
    )


@pytest.mark.parametrize("alpha", [0.4, 0.55, 1.0, 2.0])
@pytest.mark.parametrize("radius", [0.0, 0.01, np.inf])
def test_budgets_of_sets_are_the_largest(alpha, radius):
    joint = table(5, 3, 4, low=20)
    region, part = proof_region(joint, RenyiSet(alpha, radius)), 0.4
    sets = all_sets(4)[1:]
    drops = set_drops(region, sets, np.full(len(region.pairs[0]), part))
    rows = tiled(set_rows(sets, drops), 3)
    assert region.worst(rows, part).bound.max() <= 1e-12
    for row, drop in zip(rows, drops, strict=True):
        if drop > 0:
            more = np.where(row == drop, drop * (1.0 - 1e-5), row)
            assert region.worst(more[None], part).bound.max() > 0


def test_budgets_may_differ_between_pairs():
    joint = table(6, 3, 4, low=20)
    region = proof_region(joint, RenyiSet(2.0, 0.01))
    first, second = region.pairs
    budgets = np.random.default_rng(0).uniform(0.1, 1.0, len(first))
    budgets[0] = 0.0
    sets = all_sets(4)[1:]
    drops = set_drops(region, sets, budgets)
    worst = region.worst(tiled(sets.astype(float), 3), 0.0)
    nothing = worst.bound[(worst.first == first[0]) & (worst.second == second[0])] > 0
    assert nothing.any() and np.all(drops[nothing] == 1.0)  # nothing may be said about this pair
    budgets[0] = 0.2
    drops = set_drops(region, sets, budgets)
    rows, tight = tiled(set_rows(sets, drops), 3), np.full(len(sets), -np.inf)
    for i, budget in enumerate(budgets):
        worst = region.worst(rows, budget)
        here = (worst.first == first[i]) & (worst.second == second[i])
        assert worst.bound[here].max() <= 1e-12
        np.maximum.at(tight, worst.row[here], worst.bound[here])
    np.testing.assert_allclose(tight, 0.0, atol=1e-9)  # each set meets its limit in some pair


def test_pairs_that_s_does_not_tell_apart_leave_more_for_u():
    """With a report of S that joins two secrets, U may say more about that pair."""
    joint = table(3, 3, 5, n=20_000)
    region = proof_region(joint, RenyiSet(2.0, 0.0005))
    part = np.log(1.5)
    values = quick._OwnBudgets(joint, Requirements.of(region, part + 0.3))
    join = np.array([[0.6, 0.6, 0.4], [0.4, 0.4, 0.6]])
    together = values.reports(join, part, 0.3)[0]
    alone = values.reports(np.ones((1, 3)), 0.0, 0.3)[0]
    distribution = joint.probabilities
    assert product_information(join, together, distribution) > product_information(
        join, alone, distribution
    )
    rows = np.kron(join, together).reshape(-1, 3, 5)
    assert region.worst(rows, part + 0.3).bound.max() <= 1e-9


def promise(seed, sizes, eps=1.0, fit=lambda _: BALL, **more):
    """A random table whose first column of U is known, with so many of the second for each."""
    rng = np.random.default_rng(seed)
    values = [(v, w) for v, size in enumerate(sizes) for w in range(size)]
    counts = rng.integers(1, 200, (2, len(values)))
    counts[0, : sizes[0]] *= int(seed) % 2  # this secret may lack one of the known values
    joint = JointDistribution(counts, (0, 1), tuple(values))
    return Promise.of(joint, fit(joint), eps, fit=fit, known=(0,), **more)


@pytest.mark.parametrize(
    ("sizes", "eps", "eps_all", "fit"),
    [
        ((1, 1, 2), 1.0, None, lambda _: BALL),
        ((2, 2), 0.2, 0.3, LikelihoodRatioSet().fit_set),
        ((3, 1), 2.0, 8.0, lambda _: EVERYTHING),
    ],
)
def test_private_for_every_requirement(sizes, eps, eps_all, fit):
    """Before any repair, and the same each time."""
    asked = promise(6, sizes, eps, fit, eps_all=eps_all)
    requirements = asked.requirements()
    found, again = (quick_reporting(asked.joint, requirements) for _ in range(2))
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(found.sum(axis=0), 1.0, atol=1e-12)
    assert requirements.shifts(found / found.max(axis=1, keepdims=True)).max() <= 1e-9


@pytest.mark.parametrize("uncertainty", [BALL, RenyiSet(0.4, 0.01), RenyiSet(2.0, 0.0), EVERYTHING])
@pytest.mark.parametrize("sizes", [(1, 2, 2), (4, 1)])
def test_budgets_within_known_values_are_the_largest(uncertainty, sizes):
    """Against the worst pairs of the whole rows, of parts of unequal sizes."""
    known = promise(5, sizes, fit=lambda _: uncertainty).statements[1]
    region = known.exact_region
    budgets = np.random.default_rng(0).uniform(0.2, 1.0, len(region.pairs[0]))
    sets = all_sets(5)[1:]
    drops = set_drops(region, sets, budgets)
    assert (drops == 0.0).any()  # sets that hold all or none of each part
    for one, drop in zip(sets[:, None], drops, strict=True):
        row = np.tile(set_rows(one, drop), 2)
        assert region.worst(row, budgets).bound.max() <= 1e-12
        if drop > 0:
            less = np.where(row == drop, drop * (1.0 - 1e-5), row)
            assert region.worst(less, budgets).bound.max() > 0.0


@pytest.mark.parametrize("listed", [True, False])
def test_against_all_splits(listed, monkeypatch):
    """On a small table: every split of a grid and all sets, within a hundredth."""
    if not listed:
        monkeypatch.setattr(quick, "_LISTED", 0)
    joint = table(8, 2, 4, n=5_000)
    region, eps = proof_region(joint, RenyiSet(2.0, 0.002)), 1.0
    distribution = joint.probabilities.sum(axis=0)
    sets, best = all_sets(4), 0.0
    for part in np.linspace(0.0, eps, 41):
        mixture = SetMixture(distribution)
        mixture.add(sets, set_drops(region, sets, np.full(2, part)))
        first = optimal_response(joint.counts.sum(axis=1), eps - part).matrix
        weights, _, _ = mixture.solve()
        second = mixture.matrix(weights)
        best = max(best, product_information(first, second, joint.probabilities))
    found = quick_reporting(joint, Requirements.of(region, eps))
    assert mutual_information(found, joint.probabilities.ravel()) >= best * (1 - 0.01)
