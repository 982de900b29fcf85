"""Tapes computed from a key: AES over whole arrays against one row at a time, by the definition.

Statistical tests have a fixed key; each would fail right code with probability 1e-9 for a random
one.
"""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keyed_tapes import DIGEST, KEY, same_id, tape, written
from scipy import stats

from skrldp.design.closed_form import srr
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sampling.draws import BLOCK
from skrldp.sampling.random_bits import (
    IntegerIds,
    KeyedStream,
    OctetIds,
    Tapes,
)

FALSE_ALARM = 1e-9


def ids_of(persons, gap=b""):
    """Ids of one kind, in the form that the stream takes; not all bytes need belong to an id."""
    if isinstance(persons[0], int):
        return IntegerIds(np.array(persons, dtype=np.int64 if min(persons) < 0 else np.uint64))
    octets = [p.encode() if isinstance(p, str) else p for p in persons]
    ends = np.cumsum([len(gap), *map(len, octets)])
    data = np.frombuffer(gap + b"".join(octets) + gap, dtype=np.uint8)
    return OctetIds(data, ends, are_strings=isinstance(persons[0], str))


PERSONS = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6),
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=6),
    st.lists(st.text(max_size=40), min_size=1, max_size=6),
    st.lists(
        st.one_of(st.integers(-(2**64), 2**65).map(str), st.text("-+0123456789 .é", max_size=21)),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.binary(max_size=70), min_size=1, max_size=6),
    st.lists(st.binary(min_size=16, max_size=16), min_size=1, max_size=6),
)
CELLS = st.integers(0, 2**56 - 1)


@given(PERSONS, st.data())
@settings(max_examples=30)
def test_tapes_are_those_that_are_described(persons, data):
    cells = data.draw(st.lists(CELLS, min_size=len(persons), max_size=len(persons)))
    ids = ids_of(persons, data.draw(st.binary(max_size=3)))
    found = KeyedStream(KEY, DIGEST).tapes(np.array(cells), ids)
    expected = [tape(cell, person) for cell, person in zip(cells, persons, strict=True)]
    assert [row.tobytes() for row in found] == expected


@given(
    st.tuples(CELLS, st.one_of(st.integers(-(2**63), 2**64 - 1), st.text(), st.binary())),
    st.tuples(CELLS, st.one_of(st.integers(-(2**63), 2**64 - 1), st.text(), st.binary())),
)
def test_nothing_is_written_as_the_beginning_of_something_else(one, other):
    """What the proof for CBC-MAC asks of its inputs."""
    if (one[0], same_id(one[1])) != (other[0], same_id(other[1])):
        assert not written(*one).startswith(written(*other))


EDGES = [2**63 - 1, -(2**63), 2**64 - 1, 2**53 + 1, 10**19, 0, 7, -7, 10, 123_456_789]
TEXTS = [
    "007", "+7", " 7", "7 ", "7.0", "7e0", "-0", "00",
    "-", "", "\u0667", "0x7", "7a", "a7", "-07", "--7",
    "18446744073709551616", "28446744073709551615",
    "-9223372036854775809", "1" * 21,
]  # fmt: skip


def test_a_text_of_decimal_digits_is_the_integer():
    """In one column with other texts, which are ids of their own."""
    stream = KeyedStream(KEY, DIGEST)
    found = stream.tapes(np.full(30, 5), ids_of([*map(str, EDGES), *TEXTS]))
    assert len(np.unique(found, axis=0)) == 30
    for number, row in zip(EDGES, found[:10], strict=True):
        assert (stream.tapes(np.array([5]), ids_of([number]))[0] == row).all(), number
    expected = [tape(5, text) for text in TEXTS]
    assert [row.tobytes() for row in found[10:]] == expected


DENSE = Mechanism.from_matrix(
    np.random.default_rng(0).dirichlet(np.ones(5), size=6).T, ("a", "b"), (0, 1, 2)
)
BLOCKS = Mechanism.from_blocks(srr(1.0, 2, 3), ("a", "b"), (0, 1, 2))


@pytest.mark.parametrize("mechanism", [DENSE, BLOCKS])
def test_rows_of_a_large_table_are_drawn_as_if_alone(mechanism):
    """A table is drawn in blocks, whose ends change nothing."""
    persons = np.arange(2 * BLOCK + 5, dtype=np.uint64)
    cells, sampler, stream = persons % 6, mechanism.form.sampler, KeyedStream(KEY, DIGEST)
    reports = stream.sample(sampler, cells, IntegerIds(persons))
    for rows in slice(BLOCK - 3, BLOCK + 3), slice(2 * BLOCK - 3, None), slice(0, None, 97):
        alone = stream.sample(sampler, cells[rows], IntegerIds(persons[rows]))
        np.testing.assert_array_equal(reports[rows], alone)


@pytest.mark.parametrize("mechanism", [DENSE, BLOCKS])
def test_samplers_read_eight_bytes_at_most(mechanism):
    tapes = np.zeros((1, 8), dtype=np.uint8)
    mechanism.form.sampler.sample([0], Tapes(tapes))
    for cells, fewer in ([0], tapes[:, :4].copy()), ([0, 0], tapes):
        with pytest.raises(AssertionError, match="one number for each record"):
            mechanism.form.sampler.sample(cells, Tapes(fewer))


def independent(first, second, n):
    """P-value of the hypothesis that two sequences of symbols are independent."""
    table = np.zeros((n, n))
    np.add.at(table, (first, second), 1)
    return stats.chi2_contingency(table).pvalue


@pytest.mark.parametrize("mechanism", [DENSE, BLOCKS])
def test_reports_follow_the_mechanism_and_tell_nothing_of_each_other(mechanism):
    """Over persons; and between cells, types of ids, mechanisms and keys."""
    n, b = 20_000, mechanism.shape[0]
    sampler, numbers = mechanism.form.sampler, np.arange(n)
    ids, texts = IntegerIds(numbers), ids_of([f"person {i}" for i in numbers])
    same, changed = np.full(n, 4), np.full(n, 3)
    stream = KeyedStream(KEY, DIGEST)
    base = stream.sample(sampler, same, ids)
    counts, expected = np.bincount(base, minlength=b), n * mechanism.matrix[:, 4]
    assert stats.chisquare(counts, expected * (n / expected.sum())).pvalue > FALSE_ALARM
    for other in (
        stream.sample(sampler, changed, ids),
        stream.sample(sampler, same, texts),
        KeyedStream(KEY, DIGEST[::-1]).sample(sampler, same, ids),
        KeyedStream(KEY[::-1], DIGEST).sample(sampler, same, ids),
        np.roll(base, 1),
    ):
        assert independent(base, other, b) > FALSE_ALARM
    assert independent(base, base, b) < FALSE_ALARM


def test_what_does_not_fit():
    stream, ids = KeyedStream(KEY, DIGEST), IntegerIds(np.arange(3))
    with pytest.raises(ValueError, match="there are 2 cells, but 3 ids"):
        stream.sample(DENSE.form.sampler, [0, 1], ids)
    with pytest.raises(ValueError, match=r"codes must lie in \[0, 6\)"):
        stream.sample(DENSE.form.sampler, [0, 1, 6], ids)
    none = np.zeros(0, dtype=int)
    assert stream.sample(DENSE.form.sampler, none, IntegerIds(none)).shape == (0,)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="would contain its key"):
            pickle.dumps(stream, protocol)
    assert KEY.hex() not in repr(vars(stream)) and repr(KEY) not in repr(vars(stream))
