"""Mechanisms: integer weights that are the matrix, and three forms with one behaviour.

That reports have these probabilities is tested with the samplers (``tests/sampling``).
"""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import Mechanism
from skrldp.design.closed_form import grr, srr
from skrldp.information import information_by_secret
from skrldp.mechanism import forms
from skrldp.mechanism.forms import ValuesForm

SEEDS = st.integers(0, 10**6)


def stochastic(seed, b, a, sparsity=0.3):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(b, 0.5), size=a).T
    matrix[rng.random(matrix.shape) < sparsity] = 0.0
    matrix[rng.integers(b, size=a), np.arange(a)] += 0.1
    return matrix / matrix.sum(axis=0)


def make(matrix, a1, a2, **names):
    return Mechanism.from_matrix(matrix, tuple(range(a1)), tuple(range(a2)), **names)


@given(SEEDS, st.integers(1, 40), st.integers(1, 5), st.integers(1, 5))
def test_weights_are_the_matrix_to_the_last_bit(seed, b, a1, a2):
    matrix = stochastic(seed, b, a1 * a2)
    mechanism = make(matrix, a1, a2)
    bits = mechanism.denominator_bits
    assert bits == 32 + math.ceil(math.log2(b))
    assert mechanism.weights.dtype == np.int64 and mechanism.shape == (b, a1 * a2)
    assert mechanism.weights.min() >= 0
    assert {int(total) for total in mechanism.weights.astype(object).sum(axis=0)} == {2**bits}
    for y, x in np.ndindex(matrix.shape):
        assert mechanism.matrix[y, x] == int(mechanism.weights[y, x]) / 2**bits  # exact in float
    assert not mechanism.weights[matrix == 0].any()
    assert np.abs(mechanism.matrix - matrix).max() < 2.0**-bits * (1 + 1e-6) + 1e-15


@pytest.mark.parametrize(
    "matrix",
    [
        np.ones((2, 3)) / 2,
        np.ones((2, 4)) / 2 + 1e-8,
        np.array([[1.1, 1, 1, 1], [-0.1, 0, 0, 0]]),
        np.array([[np.nan, 1, 1, 1], [0, 0, 0, 0]]),
        np.ma.masked_array(np.full((2, 4), 0.5), np.eye(2, 4)),
        np.full((2, 4), "0.5"),
    ],
)
def test_what_is_not_a_mechanism_is_refused(matrix):
    with pytest.raises(ValueError, match=r"matrix|columns"):
        make(matrix, 2, 2)


def test_leakage_is_isit_32():
    rng = np.random.default_rng(3)
    for seed in range(20):
        mechanism = make(stochastic(seed, 4, 6, sparsity=0.0), 3, 2)
        distribution = rng.dirichlet(np.ones(6)).reshape(3, 2)
        conditionals = distribution / distribution.sum(axis=1, keepdims=True)
        worst = 0.0
        for y in range(4):
            report = [mechanism.matrix[y].reshape(3, 2)[s] @ conditionals[s] for s in range(3)]
            worst = max(worst, *(math.log(p / q) for p in report for q in report))
        assert mechanism.leakage(distribution) == pytest.approx(worst, rel=1e-12)
        np.testing.assert_allclose(
            mechanism.report_distribution(conditionals).sum(axis=0), 1.0, rtol=1e-12
        )


def test_leakage_of_zeros():
    distribution = np.full((2, 2), 0.25)
    # a report that nobody sends: 0/0 = 1
    never = make(np.array([[1.0] * 4, [0.0] * 4]), 2, 2)
    assert never.leakage(distribution) == 0.0
    # a report that one secret alone sends
    telling = make(np.array([[1.0, 1.0, 1.0, 0.9], [0.0, 0.0, 0.0, 0.1]]), 2, 2)
    assert telling.leakage(distribution) == math.inf
    # ... through a value that this distribution does not have
    assert telling.leakage([[0.25, 0.25], [0.5, 0.0]]) == 0.0
    # a secret without mass is left out
    assert telling.leakage([[0.0, 0.0], [0.5, 0.5]]) == 0.0
    with pytest.raises(ValueError, match="shape"):
        telling.leakage([0.25] * 4)


def block_cases():
    for a1, a2 in ((2, 2), (3, 4), (1, 5), (4, 1)):
        yield a1, a2, grr(0.7, a1 * a2)
        yield a1, a2, srr(0.7, a1, a2)
        yield a1, a2, (0.0, 1 / (a1 * a2), 0.0, 0.0)
        rng = np.random.default_rng([a1, a2])
        raw = rng.random(4)
        yield a1, a2, tuple(raw / (raw @ [1, a2 - 1, a1 - 1, (a1 - 1) * (a2 - 1)]))


@pytest.mark.parametrize(("a1", "a2", "blocks"), list(block_cases()))
def test_blocks_are_their_dense_matrix(a1, a2, blocks):
    block = Mechanism.from_blocks(blocks, tuple(range(a1)), tuple(range(a2)))
    wanted = np.empty((a1 * a2, a1 * a2))
    for y, x in np.ndindex(wanted.shape):
        same_s, same_u = y // a2 == x // a2, y % a2 == x % a2
        wanted[y, x] = blocks[(0 if same_s else 2) + (0 if same_u else 1)]
    wanted += np.diag(1.0 - wanted.sum(axis=0))  # the report of the own cell takes the rest
    np.testing.assert_allclose(block.matrix, wanted, atol=1e-14)
    assert np.all(block.weights.sum(axis=0) == 2**block.denominator_bits)
    assert block.symbols == block.cells and block.shape == wanted.shape

    dense = make(block.matrix, a1, a2)
    rng = np.random.default_rng(5)
    for _ in range(5):
        distribution = rng.dirichlet(np.full(a1 * a2, 0.5)).reshape(a1, a2)
        conditionals = distribution / distribution.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(
            block.report_distribution(conditionals),
            dense.report_distribution(conditionals),
            atol=1e-9,
        )
        assert block.mutual_information(distribution) == pytest.approx(
            dense.mutual_information(distribution), abs=1e-8
        )
        assert block.information_by_secret(distribution) == pytest.approx(
            information_by_secret(block.matrix, distribution), abs=1e-12
        )
        if block.matrix.min() > 0:
            assert block.leakage(distribution) == pytest.approx(
                dense.leakage(distribution), abs=1e-7
            )


@pytest.mark.parametrize(
    ("n_values", "dtype"),
    [(3, np.uint8), (200, np.uint8), (256, np.uint16), (300, np.int16), (300, np.int64)],
)
def test_a_blind_mechanism_does_the_same_for_every_secret(n_values, dtype):
    """The steps from a cell to its value of U depend on types alone, so that no time tells s."""
    form = ValuesForm(np.ones((1, n_values), dtype=np.int64) << 32, 32, n_secrets=2)

    def run(secret):
        values = np.arange(n_values)
        codes = (secret * n_values + values)[secret * n_values + values <= np.iinfo(dtype).max]
        lines = []

        def trace(frame, event, argument):
            lines.append((frame.f_code.co_name, frame.f_lineno, event))
            return trace if frame.f_code.co_filename == forms.__file__ else None

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            places = form.places(codes.astype(dtype))
        finally:
            sys.settrace(before)
        np.testing.assert_array_equal(places, values[: len(codes)])
        return lines

    assert run(0) == run(1)
    few = np.arange(4, dtype=np.uint8)  # a type that holds fewer codes than there are values
    np.testing.assert_array_equal(form.places(few), np.arange(4) % n_values)


@pytest.mark.parametrize("n_values", [3, 127, 128, 254, 255, 256])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int64])
def test_every_secrets_code_is_that_of_its_value(n_values, dtype):
    """Where the secret is not seen: up to the last code that the dtype holds."""
    identity = np.eye(n_values)
    blind = Mechanism.from_matrix(identity, range(3), range(n_values), observe="nonsensitive")
    codes = np.arange(min(3 * n_values, np.iinfo(dtype).max + 1)).astype(dtype)
    reports = blind.sample(codes, 0)
    np.testing.assert_array_equal(reports, codes.astype(int) % n_values)


def test_reports_are_drawn_anew_without_a_seed():
    """A false alarm has the probability 2**-500."""
    coin = Mechanism.from_matrix(np.full((2, 4), 0.5), range(2), range(2))
    codes = np.zeros(500, dtype=np.uint8)
    assert not np.array_equal(coin.sample(codes), coin.sample(codes))
    np.testing.assert_array_equal(coin.sample(codes, 7), coin.sample(codes, 7))
