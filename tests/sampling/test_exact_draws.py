"""Tables hold exactly the weights of a mechanism, and all draws together count to them.

That reports have these frequencies is tested in sanitizers/test_reports_of_transform.py.
"""

import bisect
import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import Scripted

from skrldp.sampling.draws import AliasTable, BlockTable
from skrldp.sampling.random_bits import RandomStream


class Unusable:
    def fill(self, out):
        raise AssertionError("drew from the stream")


def bits_for(n_symbols):
    return 32 + (n_symbols - 1).bit_length()


def random_weights(n_symbols, n_cells, *, bits=None, unit=1, sparsity=0.0, seed=0):
    """Integer weights, multiples of `unit`, whose columns sum to 2**bits."""
    rng = np.random.default_rng(seed)
    total = (1 << (bits or bits_for(n_symbols))) // unit
    shares = rng.exponential(size=(n_symbols, n_cells)) ** 3
    shares[rng.random(shares.shape) < sparsity] = 0
    shares[rng.integers(n_symbols, size=n_cells), np.arange(n_cells)] += 1
    weights = np.floor(shares / shares.sum(axis=0) * (total - n_symbols)).astype(np.int64)
    weights[weights.argmax(axis=0), np.arange(n_cells)] += total - weights.sum(axis=0)
    return weights * unit


def dense(table):
    """Weights of a BlockTable, from its definition."""
    secrets, values = np.divmod(np.arange(table.n_cells), table.n_values)
    same_secret, same_value = np.equal.outer(secrets, secrets), np.equal.outer(values, values)
    weights = np.where(
        same_secret,
        np.where(same_value, table.same, table.same_secret),
        np.where(same_value, table.same_value, table.other),
    )
    return weights


def weights_of(table):
    """Weights of an AliasTable, from its slots: each gives what it does not keep to its alias."""
    kept = table.thresholds.astype(np.int64)
    weights = kept.copy()
    cells = np.broadcast_to(np.arange(table.n_cells)[:, np.newaxis], kept.shape)
    np.add.at(weights, (cells, table.alias), (1 << 32) - kept)
    assert not weights[:, table.n_symbols :].any(), "a symbol that does not exist has weight"
    return weights[:, : table.n_symbols].T


# Alias tables: the construction


@st.composite
def weight_matrices(draw):
    n_symbols, n_cells = draw(st.integers(1, 20)), draw(st.integers(1, 5))
    total = 1 << bits_for(n_symbols)
    # Cuts at few places give zero weights, one-hot columns and slots that are exactly full.
    cuts = st.one_of(st.integers(0, total), st.integers(0, n_symbols).map(lambda i: i << 32))
    columns = [
        np.diff([0, *sorted(min(draw(cuts), total) for _ in range(n_symbols - 1)), total])
        for _ in range(n_cells)
    ]
    return np.array(columns, dtype=np.int64).T


@settings(deadline=None, max_examples=75)
@given(weight_matrices())
def test_table_holds_exactly_the_weights(weights):
    table = AliasTable.from_weights(weights, bits_for(len(weights)))
    np.testing.assert_array_equal(weights_of(table), weights)


@pytest.mark.parametrize(
    ("n_symbols", "n_cells"),
    [(1, 50), (256, 50), (257, 50), (1000, 1100)],  # the last has more than 2**20 slots
)
def test_table_holds_exactly_the_weights_of_many_symbols(n_symbols, n_cells):
    weights = random_weights(n_symbols, n_cells, sparsity=0.5)
    table = AliasTable.from_weights(weights.astype(np.uint64), bits_for(n_symbols))
    np.testing.assert_array_equal(weights_of(table), weights)
    assert (table.n_symbols, table.n_cells) == weights.shape
    assert table.alias.dtype == (np.uint8 if n_symbols <= 256 else np.uint16)
    assert table.alias.max() < n_symbols
    for array in (table.thresholds, table.alias):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0


# Alias tables: the draws


@pytest.mark.parametrize(("n_symbols", "n_cells"), [(1, 2), (3, 5), (4, 3), (300, 1)])
@pytest.mark.parametrize("sparsity", [0.0, 0.6])
def test_all_draws_of_a_coarse_table_count_to_its_weights(n_symbols, n_cells, sparsity):
    # Weights that are multiples of 2**24 make a coin's upper byte decide. All cells, slots and
    # upper bytes, with the lowest and highest lower bits, are all there is: no statistics, and
    # nothing assumed on how the table was made.
    weights = random_weights(n_symbols, n_cells, unit=1 << 24, sparsity=sparsity)
    table = AliasTable.from_weights(weights, bits_for(n_symbols))
    n_slots = 1 << (n_symbols - 1).bit_length()
    coins = np.arange(256, dtype=np.uint32)[:, np.newaxis] << 24 | np.uint32([0, (1 << 24) - 1])
    x, slot, coin = (
        grid.ravel() for grid in np.meshgrid(np.arange(n_cells), np.arange(n_slots), coins)
    )
    stream = Scripted(**{table.alias.dtype.name: slot, "uint32": coin})
    y = table.sample(x, stream)
    assert stream.exhausted
    counts = np.bincount(y.astype(np.int64) * n_cells + x, minlength=weights.size)
    np.testing.assert_array_equal(counts.reshape(weights.shape), weights >> 23)


def test_a_coin_at_the_threshold_takes_the_alias():
    weights = random_weights(7, 6)
    table = AliasTable.from_weights(weights, 35)
    cells, slots = (index.ravel() for index in np.indices(table.alias.shape))
    thresholds, alias = table.thresholds.ravel(), table.alias.ravel()
    taken = table.sample(cells, Scripted(uint8=slots, uint32=thresholds))
    np.testing.assert_array_equal(taken, alias)
    split = thresholds > 0
    kept = table.sample(
        cells[split], Scripted(uint8=slots[split], uint32=thresholds[split] - np.uint32(1))
    )
    np.testing.assert_array_equal(kept, slots[split])


# Block tables


def block_tables():
    """All kinds of small tables, over 2**10."""
    for n_secrets, n_values in [(1, 1), (1, 2), (2, 1), (1, 7), (7, 1), (2, 2), (2, 5), (4, 3)]:
        for others in [(1, 1, 1), (5, 3, 2), (0, 3, 2), (5, 0, 2), (5, 3, 0), (0, 0, 7), (0, 0, 0)]:
            n_others = (n_values - 1, n_secrets - 1, (n_secrets - 1) * (n_values - 1))
            same = (1 << 10) - sum(n * weight for n, weight in zip(n_others, others, strict=True))
            yield n_secrets, n_values, same, *others
    yield 2, 3, 0, 512, 0, 0
    yield 2, 3, 1, 1, 1021, 0
    yield 4, 4, 64, 64, 64, 64  # uniform
    yield 5, 205, 4, 1, 0, 1  # more symbols than a byte holds
    # The numbers of two secrets, or of two values, are added: up to 2 x 199, more than a byte.
    for n_secrets, n_values in ((200, 1), (1, 256), (2, 100)):
        yield n_secrets, n_values, (1 << 10) - (n_secrets * n_values - 1), 1, 1, 1


@pytest.mark.parametrize("parameters", list(block_tables()), ids=str)
def test_all_draws_of_a_block_table_count_to_its_weights(parameters):
    table = BlockTable(*parameters, bits=10)
    cells = np.arange(table.n_cells)
    if table.n_cells >= 100:
        cells = cells[[0, 1, table.n_cells // 2, -1]]
    draws = np.arange(1 << 10, dtype=np.uint64) << np.uint64(54)
    draws[::2] |= np.uint64((1 << 54) - 1)  # bits below the draw are of no account
    x, draw = (grid.ravel() for grid in np.meshgrid(cells, draws))
    stream = Scripted(uint64=draw)
    y = table.sample(x, stream)
    assert stream.exhausted
    assert y.dtype == np.min_scalar_type(table.n_cells - 1)
    counts = np.zeros((table.n_cells, table.n_cells), dtype=np.int64)
    np.add.at(counts, (y, x), 1)
    expected = dense(table)[:, cells]
    np.testing.assert_array_equal(counts[:, cells], expected)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 5), st.integers(1, 5), st.tuples(*[st.integers(0, 1 << 57)] * 3), st.data())
def test_a_block_table_inverts_the_distribution_function_at_63_bits(n_secrets, n_values, w, data):
    n_others = (n_values - 1, n_secrets - 1, (n_secrets - 1) * (n_values - 1))
    same = (1 << 63) - sum(n * weight for n, weight in zip(n_others, w, strict=True))
    table = BlockTable(n_secrets, n_values, same, *w, bits=63)
    x = data.draw(st.integers(0, table.n_cells - 1))
    s, u = divmod(x, n_values)
    # The symbols in the order of the draws: own cell, own secret, own value, others.
    secrets, values = range(1, n_secrets), range(1, n_values)
    classes = [([0], [0]), ([0], values), (secrets, [0]), (secrets, values)]
    shifts = [shift for one in classes for shift in itertools.product(*one)]
    symbols = [(s + ds) % n_secrets * n_values + (u + du) % n_values for ds, du in shifts]
    column = [(same, w[0], w[1], w[2])[2 * (ds > 0) + (du > 0)] for ds, du in shifts]
    ends = list(itertools.accumulate(column))
    draws = sorted({r for end in [0, *ends] for r in (end - 1, end) if 0 <= r < 1 << 63})
    expected = [symbols[bisect.bisect_right(ends, r)] for r in draws]
    stream = Scripted(uint64=np.array(draws, dtype=np.uint64) << np.uint64(1))
    assert table.sample(np.full(len(draws), x), stream).tolist() == expected


# Both tables


def both_tables():
    yield AliasTable.from_weights(random_weights(200, 200), 40)
    yield BlockTable(20, 10, 256 - 199, 1, 1, 1, bits=8)


both = pytest.mark.parametrize("table", list(both_tables()), ids=lambda table: type(table).__name__)


@both
@pytest.mark.parametrize("dtype", ["u1", "u8", "i2", ">i4"])
def test_any_integer_dtype_and_layout_of_codes(table, dtype):
    codes = np.random.default_rng(0).integers(127, size=1000)
    expected = table.sample(codes, RandomStream(0))
    assert expected.dtype == np.uint8
    np.testing.assert_array_equal(table.sample(codes.astype(dtype), RandomStream(0)), expected)
    np.testing.assert_array_equal(table.sample(codes.tolist(), RandomStream(0)), expected)
    strided = np.stack([codes, codes], axis=1).astype(dtype)[:, 0]
    np.testing.assert_array_equal(table.sample(strided, RandomStream(0)), expected)


@both
@pytest.mark.parametrize(
    ("codes", "error", "message"),
    [
        ([0.0, 1.0], TypeError, "codes must be integers, got dtype float64"),
        ([True], TypeError, "codes must be integers, got dtype bool"),
        ([[0, 1]], ValueError, "one-dimensional"),
        ([0, -1, 5], ValueError, r"\[0, 200\); 1 do not, the first at index 1"),
        ([0, 200, 250], ValueError, r"\[0, 200\); 2 do not, the first at index 1"),
        (np.array([2**64 - 1], dtype=np.uint64), ValueError, r"\[0, 200\)"),
    ],
)
def test_bad_codes_are_refused_before_anything_is_drawn(table, codes, error, message):
    with pytest.raises(error, match=message):
        table.sample(codes, Unusable())


@both
def test_memory_is_bounded_by_a_block(table):
    codes = np.zeros(5_000_000, dtype=np.uint8)
    stream = RandomStream()
    tracemalloc.start()
    reports = table.sample(codes, stream)
    peak = tracemalloc.get_traced_memory()[1] - reports.nbytes
    tracemalloc.stop()
    assert peak < 2e6


@pytest.mark.parametrize(
    ("weights", "bits", "error", "message"),
    [
        (np.full((2, 2), 0.5), 33, TypeError, "weights must be integers"),
        (np.zeros((3, 0), dtype=int), 34, ValueError, "non-empty matrix"),
        (np.full((2, 2), 1 << 31), 32, ValueError, "2 symbols need bits=33 .*, got 32"),
        (np.full((2, 2), 1 << 31), 33, ValueError, "2 do not, the first is column 0"),
        (np.array([[-1, 0], [(1 << 33) + 1, 1 << 33]]), 33, ValueError, "must lie in"),
        (np.array([[1 << 34], [1 << 63]], dtype=np.uint64), 33, ValueError, "must lie in"),
        (np.zeros(((1 << 16) + 1, 1), dtype=int), 49, ValueError, "65536 symbols, got 65537"),
    ],
)
def test_bad_weights(weights, bits, error, message):
    with pytest.raises(error, match=message):
        AliasTable.from_weights(weights, bits)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ((2, 2, 1.0, 1, 1, 1, 2), TypeError, "same must be an integer"),
        ((2, 2, 4, -1, 1, 0, 2), ValueError, "same_secret must not be negative"),
        ((0, 2, 4, 0, 0, 0, 2), ValueError, "at least 1"),
        ((2, 2, 0, 1, 1, 1, 2), ValueError, r"must sum to 2\*\*2, got 3"),  # the rest would be one
        ((2, 2, 1 << 64, 0, 0, 0, 64), ValueError, "bits must lie in"),
        ((1, 1, 1, 0, 0, 0, 0), ValueError, "bits must lie in"),
    ],
)
def test_bad_block_tables(parameters, error, message):
    with pytest.raises(error, match=message):
        BlockTable(*parameters)
