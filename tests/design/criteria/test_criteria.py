"""Criteria of a design by rows: values, prices, expansions and bounds, from their definitions."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skrldp.design.a_optimality import Variance
from skrldp.design.mutual_information import Information

SHAPE = (2, 3)
CELLS = 6
KINDS = ("I(X;Y)", "I(U;Y)", "variance")
each_kind = pytest.mark.parametrize("kind", KINDS)


def drawn(seed):
    """A generator, and a distribution of X without rare cells."""
    rng = np.random.default_rng(seed)
    return rng, rng.dirichlet(np.full(CELLS, 2.0)) * 0.9 + 0.1 / CELLS


def criterion_of(kind, distribution, seed=0):
    if kind == "I(X;Y)":
        return Information(distribution)
    if kind == "I(U;Y)":
        return Information(distribution, np.tile(np.arange(SHAPE[1]), SHAPE[0]), kind)
    return Variance(distribution, np.random.default_rng([seed, 1]).normal(size=(2, CELLS)))


def mechanism_of(rng, b):
    return rng.dirichlet(np.full(b, 0.7), size=CELLS).T * 0.9 + 0.1 / b


def derivative(function, at, towards, step=1e-5):
    return (function(at + step * towards) - function(at - step * towards)) / (2.0 * step)


def solved(criterion, rows):
    """A mixture at its best, and what one unit of its reduced costs is worth."""
    mixture = criterion.master(rows)
    found = mixture.solve()
    prices = mixture.reduced_costs(mixture.rows) + mixture.rows @ found.duals
    whole = found.value  # prices are homogeneous, so those of a mechanism's rows add up to this
    if isinstance(criterion, Variance):
        whole = float(((criterion.functions @ criterion.distribution) ** 2).sum()) - whole
    return mixture, found, whole / float(found.weights @ prices)


# -- values ---------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(2, 9), st.booleans())
def test_variances_are_those_of_the_best_unbiased_weights(seed, b, empty):
    """Gauss and Markov: weights w of reports estimate c if Q'w = c; the best have the variance."""
    rng, distribution = drawn(seed)
    if empty:  # a cell without records has a share, too, which is estimated as any other
        distribution = np.append(0.0, distribution[1:] / distribution[1:].sum())
    matrix = mechanism_of(rng, b)
    functions = np.concatenate([rng.normal(size=(2, b)) @ matrix, rng.normal(size=(2, CELLS))])
    functions = np.append(functions, np.ones((1, CELLS)), axis=0)
    reports = matrix @ distribution
    root = np.sqrt(reports)[:, None]
    weights = np.linalg.pinv(matrix / root).T @ functions.T / root
    expected = reports @ weights**2 - (functions @ distribution) ** 2
    found = Variance(distribution, functions).variances(matrix)
    determined = np.array([True, True, b >= CELLS, b >= CELLS, True])
    np.testing.assert_array_equal(np.isfinite(found), determined)
    np.testing.assert_allclose(found[determined], expected[determined], rtol=1e-6, atol=1e-9)
    assert found[-1] == pytest.approx(0.0, abs=1e-9)  # that probabilities sum to 1 is known


def test_information_about_a_function_is_that_of_the_merged_cells():
    rng, distribution = drawn(3)
    matrix = mechanism_of(rng, 4)
    joint = (matrix * distribution).reshape(4, *SHAPE).sum(axis=1)
    product = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
    expected = float((joint * np.log(joint / product)).sum())
    assert criterion_of("I(U;Y)", distribution).value(matrix) == pytest.approx(expected)
    assert criterion_of("I(X;Y)", distribution).value(matrix) > expected


# -- prices ---------------------------------------------------------------------------------------


@each_kind
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_prices_prove_the_optimum(kind, seed):
    """No mechanism passes the value by more than its rows' reduced costs; used rows have none."""
    rng, distribution = drawn(seed)
    criterion = criterion_of(kind, distribution, seed)
    rows = np.concatenate([mechanism_of(rng, 5), mechanism_of(rng, 8)])
    mixture, found, unit = solved(criterion, rows)
    matrix = mixture.mechanism(found.weights)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0, atol=1e-6)
    assert criterion.value(matrix) == pytest.approx(found.value, rel=2e-4, abs=1e-8)
    reduced_costs = mixture.reduced_costs(mixture.rows)
    assert reduced_costs.max() <= 1e-5
    assert np.abs(reduced_costs[mixture.support(found.weights)] * unit).max() <= 1e-3 * abs(
        found.value
    )
    for b in (3, 7, 12):
        other = mechanism_of(rng, b)
        least = found.value + unit * mixture.reduced_costs(other).sum()
        assert criterion.value(other) <= least + 1e-6 * abs(least)


@each_kind
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), factor=st.floats(0.01, 100.0))
def test_profits_are_convex_and_homogeneous_and_slopes_their_gradients(kind, seed, factor):
    rng, distribution = drawn(seed)
    mixture, _, _ = solved(criterion_of(kind, distribution, seed), mechanism_of(rng, 8))
    v, w = rng.random((2, CELLS)) + 0.05
    one, two, both, more = mixture.reduced_costs(np.array([v, w, v + w, factor * v]))
    size = abs(one) + abs(two) + 1.0
    assert both <= one + two + 1e-9 * size
    assert more == pytest.approx(factor * one, abs=1e-9 * size * factor)
    slope = mixture.slopes(v[None])[0]
    expected = derivative(lambda row: mixture.reduced_costs(row[None])[0], v, w)
    assert slope @ w == pytest.approx(expected, rel=1e-4, abs=1e-6 * size)
    assert slope @ v == pytest.approx(one, abs=1e-9 * size)  # Euler


# -- expansions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["I(X;Y)", "I(U;Y)"])
def test_an_expansion_has_the_gradient_of_the_criterion(kind):
    rng, distribution = drawn(6)
    criterion = criterion_of(kind, distribution)
    matrix, step = mechanism_of(rng, 9), rng.normal(size=(9, CELLS)) * 0.01
    step -= step.mean(axis=0)  # to another mechanism
    cost = criterion.expand(matrix)
    expected = derivative(lambda matrix: -criterion.value(matrix), matrix, step, 1e-4)
    # The probabilities of reports are smoothed by 1e-5 at most.
    assert float((distribution * cost * step).sum()) == pytest.approx(expected, rel=2e-3)


# -- bounds ---------------------------------------------------------------------------------------


@each_kind
@settings(max_examples=15)
@example(seed=3532)  # information about U may be greater than a share of it
@given(seed=st.integers(0, 10_000))
def test_bounds_hold_at_other_distributions(kind, seed):
    rng, distribution = drawn(seed)
    criterion = criterion_of(kind, distribution, seed)
    other = 0.8 * distribution + 0.2 * rng.dirichlet(np.full(CELLS, 0.3))
    for matrix in (mechanism_of(rng, 4), mechanism_of(rng, 9), np.eye(CELLS)):
        bound = criterion.bound_at(other, criterion.value(matrix))
        stated = criterion.at(other).stated(matrix)
        if np.isfinite(stated):
            assert criterion.sense * stated <= criterion.sense * bound + 1e-9 * abs(bound)
    assert criterion.at(other).value(np.eye(CELLS)) >= criterion.at(other).value(
        mechanism_of(rng, 9)
    )
