"""Independent reporting with optimised mechanisms: never worse, always private, well spent."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import JointDistribution
from skrldp.certificate import proof_region, release
from skrldp.design.closed_form import SplitSearch, independent_reporting
from skrldp.design.subset import _independent as independent
from skrldp.design.subset import optimal_reporting
from skrldp.design.subset._budgets import set_drops
from skrldp.design.subset._extremal import optimal_response
from skrldp.design.subset._set_mixture import SetMixture
from skrldp.design.subset._sets import all_sets, set_rows
from skrldp.information import mutual_information, product_information
from skrldp.privacy import Promise, Requirements
from skrldp.sets import RenyiSet


@pytest.fixture(scope="module", autouse=True)
def few_splits():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(independent, "_SPLITS", SplitSearch(4, 5, 6))
        yield


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


@settings(max_examples=3)
@given(
    st.integers(0, 10**6),
    st.integers(2, 3),
    st.integers(2, 3),
    st.floats(0.05, 3.0),
    st.sampled_from([0.3, 0.5, 1.0, 2.0, 3.0]),
    st.sampled_from([0.0, 0.005, 0.1, np.inf]),
    st.sampled_from(["tight", "theorem5"]),
)
def test_private_and_never_worse(seed, a1, a2, eps, alpha, radius, budget):
    joint = table(seed, a1, a2)
    region = proof_region(joint, RenyiSet(alpha, radius))
    best = optimal_reporting(joint, Requirements.of(region, eps), budget)
    plain = independent_reporting(joint, Requirements.of(region, eps), budget)
    assert best.information >= plain.information - 1e-12
    assert (best.blocks is None) == (best.names != ("grr", "grr"))
    assert best.secret_eps + best.leak == pytest.approx(eps)
    np.testing.assert_allclose(best.matrix.sum(axis=0), 1.0, atol=1e-12)
    assert best.information == pytest.approx(
        mutual_information(best.matrix, joint.probabilities.ravel()), abs=1e-12
    )
    # The design itself is private up to rounding, before any repair.
    rows = best.matrix.reshape(-1, a1, a2)
    assert region.worst(rows, eps + 1e-7).bound.max() <= 1e-9
    mechanism, certificate = release(best.matrix, Promise.of(joint, RenyiSet(alpha, radius), eps))
    assert certificate.holds(eps)
    assert mechanism.mutual_information(joint.probabilities) >= best.information - 1e-5


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


@pytest.mark.parametrize(("seed", "eps"), [(2, 1.0)])
def test_search_finds_what_enumeration_finds(seed, eps, monkeypatch):
    joint = table(seed, 2, 9, n=20_000)
    region = proof_region(joint, RenyiSet(2.0, 0.0005))
    every = optimal_reporting(joint, Requirements.of(region, eps))
    monkeypatch.setattr(independent, "_LISTED", 0)
    found = optimal_reporting(joint, Requirements.of(region, eps))
    assert found.information == pytest.approx(every.information, rel=0.01)


def test_pairs_that_s_does_not_tell_apart_leave_more_for_u():
    """With a report of S that joins two secrets, U may say more about that pair."""
    joint = table(3, 3, 5, n=20_000)
    region = proof_region(joint, RenyiSet(2.0, 0.0005))
    part = np.log(1.5)
    values = independent.OwnBudgets(joint, Requirements.of(region, part + 0.3), [])
    join = np.array([[0.6, 0.6, 0.4], [0.4, 0.4, 0.6]])
    together = values.reports(join, part, 0.3)["optimal"]
    alone = values.reports(np.ones((1, 3)), 0.0, 0.3)["optimal"]
    distribution = joint.probabilities
    assert product_information(join, together, distribution) > product_information(
        join, alone, distribution
    )
    rows = np.kron(join, together).reshape(-1, 3, 5)
    assert region.worst(rows, part + 0.3).bound.max() <= 1e-9


def test_against_all_splits(monkeypatch):
    """On a small table: every split of a fine grid, without a search."""
    monkeypatch.setattr(independent, "_SPLITS", SplitSearch(17, 5, 6))
    joint = table(8, 2, 4, n=5_000)
    region, eps = proof_region(joint, RenyiSet(2.0, 0.002)), 1.0
    distribution = joint.probabilities.sum(axis=0)
    sets, best = all_sets(4), 0.0
    for part in np.linspace(0.0, eps, 101):
        mixture = SetMixture(distribution)
        mixture.add(sets, set_drops(region, sets, np.full(2, part)))
        first = optimal_response(joint.counts.sum(axis=1), eps - part).matrix
        weights, _, _ = mixture.solve()
        second = mixture.matrix(weights)
        best = max(best, product_information(first, second, joint.probabilities))
    assert optimal_reporting(joint, Requirements.of(region, eps)).information >= best * (1 - 1e-3)


def test_theorem_5_holds_for_every_local_mechanism():
    joint = table(9, 3, 6, n=2_000)
    region, eps = proof_region(joint, RenyiSet(2.0, 0.01)), 0.8
    best = optimal_reporting(joint, Requirements.of(region, eps), "theorem5")
    assert best.names[1] == "optimal"
    assert region.worst(tiled(best.second, 3), best.leak).bound.max() <= 1e-12


def test_one_secret_and_one_value():
    for counts in ([[5], [10], [20]], [[5, 10, 20]]):
        joint = JointDistribution(counts)
        region = proof_region(joint, RenyiSet(2.0, 0.05))
        best = optimal_reporting(joint, Requirements.of(region, 1.0))
        assert (
            best.information
            >= independent_reporting(joint, Requirements.of(region, 1.0)).information - 1e-12
        )


def test_it_is_repeatable():
    joint = table(4, 3, 10, n=10_000)
    region = proof_region(joint, RenyiSet(2.0, 0.001))
    first, second = (
        optimal_reporting(joint, Requirements.of(region, 0.7)).matrix for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
