"""Mutual information, from its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import JointDistribution
from skrldp.design.subset_optimum import mutual_information_bound
from skrldp.information import (
    entropy,
    entropy_by_secret,
    information_by_secret,
    mutual_information,
    row_information,
)
from skrldp.privacy.private_rows import privacy_region
from skrldp.privacy.requirements import Requirements, repair
from skrldp.sets.fitted_sets import RenyiSet

SEEDS = st.integers(0, 10**6)


def draw(seed, b=5, a=6, zeros=True):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(b, 0.5), size=a).T
    distribution = rng.dirichlet(np.full(a, 0.7))
    if zeros:
        matrix[rng.random(matrix.shape) < 0.2] = 0.0
        matrix[0] += 1e-3
        matrix /= matrix.sum(axis=0)
        distribution[1] = 0.0
        distribution /= distribution.sum()
    return matrix, distribution


def by_definition(matrix, distribution):
    """The sum of P(x, y) log P(x, y) / (P(x) P(y)), one term after the other."""
    report = [sum(row[x] * distribution[x] for x in range(len(distribution))) for row in matrix]
    total = 0.0
    for y, x in np.ndindex(matrix.shape):
        if distribution[x] * matrix[y, x] > 0:
            total += distribution[x] * matrix[y, x] * np.log(matrix[y, x] / report[y])
    return total


@given(SEEDS)
def test_mutual_information_is_its_definition(seed):
    matrix, distribution = draw(seed)
    assert mutual_information(matrix, distribution) == pytest.approx(
        by_definition(matrix, distribution), abs=1e-12
    )
    assert row_information(matrix, distribution).sum() == pytest.approx(
        by_definition(matrix, distribution), abs=1e-12
    )
    joint = matrix * distribution
    split = entropy(joint.sum(axis=1)) + entropy(distribution) - entropy(joint)
    assert mutual_information(matrix, distribution) == pytest.approx(split, abs=1e-12)
    assert -1e-15 <= mutual_information(matrix, distribution) <= entropy(distribution) + 1e-12


@given(SEEDS, st.floats(0.01, 4.0), st.sampled_from([0.0, 0.05, np.inf]))
def test_no_private_mechanism_passes_the_bound(seed, eps, radius):
    rng = np.random.default_rng(seed)
    a1, a2 = rng.integers(2, 5), rng.integers(1, 4)
    joint = JointDistribution(rng.integers(1, 50, size=(a1, a2)))
    region = privacy_region(joint, RenyiSet(2.0, radius))
    sharp = rng.dirichlet(np.full(6, 0.02), size=a1 * a2).T + 1e-9
    private = repair(sharp / sharp.sum(axis=0), Requirements.of(region, eps))
    distribution = joint.probabilities
    assert (
        mutual_information(private, distribution.ravel())
        <= mutual_information_bound(distribution, eps) + 1e-12
    )


def test_the_bound_is_reached():
    # S hidden altogether, U in clear and independent of S: H(U|S), at eps -> 0
    distribution = np.outer([0.3, 0.7], [0.2, 0.5, 0.3])
    clear = np.tile(np.eye(3), (1, 2))
    assert mutual_information(clear, distribution.ravel()) == pytest.approx(
        entropy(distribution.sum(axis=0))
    )
    assert mutual_information_bound(distribution, 1e-9) == pytest.approx(
        entropy(distribution.sum(axis=0))
    )
    # everything in clear: H(X), at a large eps
    assert mutual_information_bound(distribution, 50.0) == pytest.approx(entropy(distribution))
    # a binary secret alone: eps tanh(eps/2) / 2 against the binary symmetric channel
    even = np.array([[0.5], [0.5]])
    for eps in (0.01, 0.1):
        truth = 1.0 / (1.0 + np.exp(-eps))
        value = mutual_information(np.array([[truth, 1 - truth], [1 - truth, truth]]), even.ravel())
        bound = mutual_information_bound(even, eps)
        assert value <= bound <= 4.01 * value


@given(SEEDS, st.integers(1, 4), st.integers(1, 4))
def test_information_by_secret_obeys_the_chain_rule(seed, a1, a2):
    matrix, distribution = draw(seed, a=a1 * a2, zeros=a1 * a2 > 1)
    table = distribution.reshape(a1, a2)
    told, whole = information_by_secret(matrix, table), entropy_by_secret(table)
    shares = table.sum(axis=1)
    of_secret = by_definition((matrix * distribution).reshape(-1, a1, a2).sum(axis=2), np.ones(a1))
    of_secret += entropy(shares)  # the sum above is of P(s, y) log P(s, y) / P(y)
    seen = shares > 0
    assert np.array_equal(np.isnan(told), ~seen)
    assert np.array_equal(np.isnan(whole), ~seen)
    assert shares[seen] @ told[seen] == pytest.approx(
        by_definition(matrix, distribution) - of_secret, abs=1e-12
    )
    assert np.all((told[seen] >= 0) & (told[seen] <= whole[seen] + 1e-12))
    everything = information_by_secret(np.eye(a1 * a2), table)
    assert everything == pytest.approx(whole, abs=1e-12, nan_ok=True)
    nothing = information_by_secret(np.full((5, a1 * a2), 0.2), table)[seen]
    assert nothing == pytest.approx(np.zeros(seen.sum()), abs=1e-15)
    assert np.all(told[seen & (np.count_nonzero(table, axis=1) == 1)] == 0.0)
