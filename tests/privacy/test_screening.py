"""Pairs that bounds of single secrets clear need no search: the results are those of all pairs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp import JointDistribution, certify
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


def instance(seed, a1=6, a2=4, b=21):
    """More than 600 pairs in all, which are screened by the ball of each secret."""
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
    shifts, bounds = region.shifts(rows, eps, rounding), every_pair(region, rows, eps)
    above = np.quantile(bounds, 0.8)
    found = region.worst(rows, eps, above=above, conditionals=True)
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


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from(SETS), st.sampled_from([2, 21]))
def test_the_proof_is_that_of_all_pairs(seed, around, n_reports):
    """However many pairs are looked at together."""
    joint, rows = instance(seed, b=n_reports)
    region, proof = privacy_region(joint, around), certify(rows, around, joint)
    assert every_pair(region, rows, np.full(30, proof.eps)).max() <= 1e-14
    below = np.full(30, max(proof.eps_attained - 1e-9, 1e-12))
    assert every_pair(region, rows, below).max() > 0.0
    assert proof.eps - proof.eps_attained < 1e-7


def test_many_rows_are_bounded_in_parts():
    """A million pairs are too many for one step, and none is left out between two of them."""
    rng = np.random.default_rng(0)
    joint, rows = JointDistribution(np.ones((40, 2), int)), rng.random((700, 40, 2))
    region = privacy_region(joint, RenyiSet(1.0, np.inf))
    greatest, least = rows.max(axis=2), rows.min(axis=2)
    expected = greatest.max(axis=1) - np.e * least.min(axis=1)
    same = greatest.argmax(axis=1) == least.argmin(axis=1)  # no pair is of one secret alone
    shifts = region.shifts(rows, np.ones(len(region.pairs[0])))
    np.testing.assert_allclose(
        shifts[~same], np.maximum(expected, 0.0)[~same] / np.expm1(1.0), rtol=1e-8, atol=1e-13
    )
    assert same.mean() < 0.2


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
