"""Optimised independent reporting under several requirements."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import JointDistribution, LikelihoodRatioSet
from skrldp.design.closed_form import SplitSearch, independent_reporting
from skrldp.design.subset import _independent as independent
from skrldp.design.subset import optimal_reporting
from skrldp.design.subset._budgets import set_drops
from skrldp.design.subset._sets import all_sets, set_rows
from skrldp.information import mutual_information
from skrldp.privacy import Promise, repair
from skrldp.sets import RenyiSet

BALL = RenyiSet(2.0, 0.01)
EVERYTHING = RenyiSet(1.0, np.inf)


@pytest.fixture(scope="module", autouse=True)
def few_splits():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(independent, "_SPLITS", SplitSearch(4, 3, 2))
        yield


def promise(seed, a1, sizes, eps=1.0, fit=lambda _: BALL, **more):
    """A random table whose first column of U may be known, with so many of the second for each."""
    rng = np.random.default_rng(seed)
    values = [(v, w) for v, size in enumerate(sizes) for w in range(size)]
    counts = rng.integers(1, 200, (a1, len(values)))
    counts[0, : sizes[0]] *= int(seed) % 2  # this secret may lack one of the known values
    joint = JointDistribution(counts, tuple(range(a1)), tuple(values))
    return Promise.of(joint, fit(joint), eps, fit=fit, **more)


@settings(max_examples=3)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(1, 1, 2), (3, 1), (2, 2), (1,)]),
    st.floats(0.1, 2.0),
    st.sampled_from([None, 1.0, 1.5, 4.0]),
    st.sampled_from([LikelihoodRatioSet().fit_set, lambda _: BALL, lambda _: EVERYTHING]),
    st.sampled_from(["tight", "theorem5"]),
)
def test_private_for_all_and_never_worse(seed, sizes, eps, more, fit, budget):
    promised = promise(seed, 2, sizes, eps, fit, eps_all=more and more * eps, known=(0,))
    joint, requirements = promised.joint, promised.requirements()
    best = optimal_reporting(joint, requirements, budget)
    plain = independent_reporting(joint, requirements, budget)
    assert best.information >= plain.information - 1e-12
    np.testing.assert_allclose(best.matrix.sum(axis=0), 1.0, atol=1e-12)
    rows = best.matrix / best.matrix.max(axis=1, keepdims=True)
    assert requirements.shifts(rows).max() <= 1e-9  # before any repair


@pytest.mark.parametrize("uncertainty", [BALL, RenyiSet(0.4, 0.01), RenyiSet(2.0, 0.0), EVERYTHING])
@pytest.mark.parametrize("sizes", [(1, 2, 2), (4, 1)])
def test_budgets_within_known_values_are_the_largest(uncertainty, sizes):
    """Against the worst pairs of the whole rows, of parts of unequal sizes."""
    known = promise(5, 2, sizes, fit=lambda _: uncertainty, known=(0,)).statements[1]
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


def test_better_than_repair_and_growing_with_what_is_allowed():
    wide = promise(8, 2, (2, 2), 0.5)
    cells = wide.joint.probabilities.ravel()
    free = optimal_reporting(wide.joint, wide.requirements())
    before, gains = 0.0, []
    for eps_all in (0.5, 1.0, 2.0, 6.0):
        asked = promise(8, 2, (2, 2), 0.5, eps_all=eps_all).requirements()
        found = optimal_reporting(wide.joint, asked).information
        gains.append(found / mutual_information(repair(free.matrix, asked), cells))
        assert before * (1.0 - 1e-4) <= found <= free.information * (1.0 + 1e-4)
        before = found
    assert min(gains) >= 1.0 - 1e-9
    assert max(gains) > 1.05
