"""Alphabets, against dictionaries: what is known is found, and nothing else."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp.alphabet.categories import Column
from skrldp.alphabet.combinations import Alphabet, combine
from skrldp.alphabet.values import plain


@given(data=st.data())
def test_combinations_are_found_if_they_are_known(data):
    """All rows at once, by a table, and each row alone, by bisection; -1 is no category."""
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    columns = [Column(place, tuple("abc"[:size])) for place, size in enumerate(sizes)]
    row = st.tuples(*[st.integers(0, size - 1) for size in sizes])
    public = data.draw(st.lists(row, min_size=1, max_size=20))
    codes = [np.array(column, dtype=np.int8) for column in zip(*public, strict=True)]
    alphabet, index = Alphabet.observed(columns, codes)
    known = sorted(set(public)) if len(sizes) > 1 else [(code,) for code in range(sizes[0])]
    assert [tuple(c) for c in alphabet.combinations().tolist()] == known
    assert [known[number] for number in index] == public
    rows = list(itertools.product(*(range(-1, size) for size in sizes)))
    expected = [known.index(row) if row in known else -1 for row in rows]
    columns_of_rows = list(np.array(rows, dtype=np.int8).T)
    assert alphabet.index([np.tile(own, 10) for own in columns_of_rows]).tolist() == expected * 10
    alone = [alphabet.index([own[[n]] for own in columns_of_rows]) for n in range(len(rows))]
    assert np.concatenate(alone).tolist() == expected


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, unique=True))
def test_members_keep_their_order(members):
    alphabet = Alphabet.of_members("abc", members)
    assert alphabet.members() == tuple(members)
    rows = list(itertools.product(range(5), repeat=3))
    codes = [
        column.codes(values)
        for column, values in zip(alphabet.columns, zip(*rows, strict=True), strict=True)
    ]
    expected = [members.index(row) if row in members else -1 for row in rows]
    assert alphabet.index(codes).tolist() == expected


VALUES = [
    *(-3, -1, 0, 1, 2, 3, 2**53, 2**53 + 1, 2**63, 2**64, 2**70, 10**400, -(2**63)),
    *(0.5, -0.0, 2.0**53, 1e300, 0.1, True, False, None, "a", "1", ""),
]


@pytest.mark.parametrize("many", [[], list(range(10, 1_010))], ids=["few", "many"])
@settings(max_examples=40)
@given(categories=st.lists(st.sampled_from(VALUES), min_size=1))
def test_values_are_found_as_a_dictionary_finds_them(many, categories):
    """Among few numbers, and among so many that they are searched by bisection."""
    categories = categories + many
    column = Column.of_values("u", categories)
    assert list(map(repr, column.categories)) == list(
        map(repr, dict.fromkeys(map(plain, categories)))
    )
    index = {category: place for place, category in enumerate(column.categories)}
    expected = [index.get(value, -1) for value in VALUES]
    assert column.codes(VALUES).tolist() == expected
    assert [column.code(value) for value in VALUES] == expected
    for dtype in (np.int64, np.uint64, np.float64, np.float32, bool):
        held = [value for value in VALUES if _is_held(value, np.dtype(dtype))]
        found = column.codes(np.array(held, dtype=dtype))
        assert found.tolist() == [index.get(value, -1) for value in held]


def _is_held(value, dtype):
    if not isinstance(value, int | float):
        return False
    if dtype.kind != "f":
        limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return value == math.floor(value) and limits[0] <= value <= limits[1]
    return abs(value) < 1e38 and float(dtype.type(value)) == value


class Counted(int):
    """An integer that counts how often it is compared."""

    comparisons = 0

    def __eq__(self, other):
        Counted.comparisons += 1
        return int(self) == other

    def __lt__(self, other):
        Counted.comparisons += 1
        return int(self) < other

    __hash__ = int.__hash__


def test_integers_with_one_hash_take_no_quadratic_time():
    n = 3000
    numbers = [Counted(k * (2**61 - 1)) for k in range(n)]
    assert len(set(map(hash, numbers))) == 1
    Counted.comparisons = 0
    column = Column("u", tuple(numbers))
    assert column.codes(numbers).tolist() == list(range(n))
    assert Counted.comparisons < n * 60  # n**2 / 2 is 75 times more


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([1, 2, 3, 127, 128, 255, 256, 257]), st.sampled_from([1, 2, 127, 128, 256]))
def test_cells_are_exact_in_every_dtype(a1, a2):
    cells = np.arange(a1 * a2)
    secrets, values = cells // a2, cells % a2
    for signed in (np.int64, np.int16):
        found = combine(secrets.astype(signed), values.astype(signed), (a1, a2))
        np.testing.assert_array_equal(found, cells)
        assert found.dtype == np.min_scalar_type(a1 * a2 - 1)
