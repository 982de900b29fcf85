"""Pairs that bounds of single secrets clear need no search: the results are those of all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import JointDistribution, certify
from skrldp.certificate import _leakage
from skrldp.privacy import private_rows
from skrldp.privacy import private_rows as _region
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.screening import screened_maxima
from skrldp.sets.fitted_sets import ConditionalsSet, RenyiSet
from skrldp.support_function import support

SETS = (
    RenyiSet(1.0, 0.02),
    RenyiSet(2.0, 0.3),
    RenyiSet(0.5, 0.05),
    RenyiSet(3.0, 0.001),
    ConditionalsSet(0.01, 0.013),
    ConditionalsSet(0.01, 0.013, drift=0.02),
    ConditionalsSet(0.01, 0.02),  # nothing is shared: the rough bounds are exact
)


def instance(seed, a1=6, a2=4, b=5):
    rng = np.random.default_rng(seed)
    joint = JointDistribution(rng.geometric(0.02, (a1, a2)))
    rows = rng.dirichlet(np.full(b, rng.choice([0.3, 3.0, 100.0])), a1 * a2).T
    return joint, rows / rows.sum(axis=0)


def every_pair(region, rows, eps):
    """Bounds of all pairs of all rows, by the support function alone, shape (b, n_pairs)."""
    first, second = region.pairs
    pair = np.stack([first, second], axis=1)
    parts = region.rows.spread(rows)
    own = region.single_budgets[pair] if region.uncertainty.limits_singles else None
    shared = region.uncertainty.pair_budgets(region.weights[pair])
    about = region.conditionals[pair], region.weights[pair], region.alpha, shared, own
    factor = np.exp(eps)[:, None]
    return np.array(
        [support(np.stack([v[first], -factor * v[second]], 1), *about).bound for v in parts]
    )


@settings(max_examples=10)
@given(
    st.integers(0, 10**6),
    st.sampled_from(SETS),
    st.floats(0.05, 3.0),
    st.booleans(),
    st.sampled_from([0.0, 1e-6, 1e-3]),
)
def test_screened_heights_are_those_of_all_pairs(seed, around, eps, differ, rounding):
    joint, rows = instance(seed)
    region = privacy_region(joint, around)
    eps = np.full(30, eps) * (np.random.default_rng(seed).uniform(0.5, 1.5, 30) if differ else 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(private_rows, "_FEW_PAIRS", 0)  # screened by the ball of each secret
        patch.setattr(_region, "_PAIRS", 2 * 30)  # two rows at a time
        patch.setattr(_region, "_FIRST_PAIRS", 1)
        shifts = region.shifts(rows, eps, rounding)
        above = np.quantile(every_pair(region, rows, eps), 0.8)
        found = region.worst(rows, eps, above=above, conditionals=True)
    bounds = every_pair(region, rows, eps)
    missing = (bounds + rounding * (1.0 + np.exp(eps))) / np.expm1(eps)
    needed = np.maximum(missing.max(axis=1), 0.0)
    assert np.all(shifts >= needed)  # by the margin
    np.testing.assert_allclose(shifts, needed, rtol=1e-8, atol=1e-13)
    # What exceeds a number is all there, with conditionals that nearly attain it.
    assert len(found.row) >= (bounds > above).sum()
    parts = region.rows.spread(rows)
    worst, least = found.conditionals[:, 0], found.conditionals[:, 1]
    attained = np.einsum("mu,mu->m", worst, parts[found.row, found.first])
    lost = np.einsum("mu,mu->m", least, parts[found.row, found.second])
    np.testing.assert_allclose(attained - np.exp(found.eps) * lost, found.bound, atol=1e-6)


@settings(max_examples=6)
@given(st.integers(0, 10**6), st.sampled_from(SETS))
def test_the_proof_is_that_of_all_pairs(seed, around):
    """However many pairs are looked at together, and however rows are cut into parts."""
    joint, rows = instance(seed)
    region = privacy_region(joint, around)
    proofs = []
    for first, pairs, few in ((1, 30, 0), (64, 1 << 20, 600)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_leakage, "_FIRST_PAIRS", first)
            patch.setattr(_region, "_PAIRS", pairs)
            patch.setattr(private_rows, "_FEW_PAIRS", few)
            proofs.append(certify(rows, around, joint))
    for proof in proofs:
        assert every_pair(region, rows, np.full(30, proof.eps)).max() <= 1e-14
        below = np.full(30, max(proof.eps_attained - 1e-9, 1e-12))
        assert every_pair(region, rows, below).max() > 0.0
        assert proof.eps - proof.eps_attained < 1e-7
    assert proofs[0].eps == pytest.approx(proofs[1].eps, abs=1e-8)


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_greatest_values_without_evaluating_all(seed, first):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(7, 20))
    upper = values + rng.exponential(0.3, values.shape) * (rng.random(values.shape) < 0.8)
    asked = np.zeros(values.shape, dtype=int)

    def exact(row, column):
        asked[row, column] += 1
        return values[row, column]

    found = screened_maxima(upper, exact, first)
    np.testing.assert_array_equal(found, np.maximum(values.max(axis=1), 0.0))
    assert asked.max() <= 1
    if first == 1:  # what is asked for might have been the greatest
        assert np.all((asked == 0) | (upper > 0.0))


def test_a_bound_that_is_no_number_leaves_nothing_out():
    upper = np.array([[np.nan, 2.0], [1.0, 0.5]])
    values = np.array([[3.0, 1.0], [0.2, 0.4]])
    found = screened_maxima(upper, lambda row, column: values[row, column], 1)
    assert found.tolist() == [3.0, 0.4]
