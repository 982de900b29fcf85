"""Ids that stand twice are found, whatever their hashes."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reporters import batch_of, reporter

from skrldp.batches import arrow
from skrldp.batches.arrow import read_ids


def hashes_of(ids):
    return arrow._hashes(read_ids("id", pa.array(ids))).tolist()


@given(st.lists(st.one_of(st.text("ab\0", min_size=1, max_size=20), st.text(min_size=1))))
@settings(max_examples=60)
def test_texts_have_one_hash_each(texts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "_ROWS", 3)
        found = hashes_of(texts)
    assert len(set(zip(texts, found, strict=True))) == len(set(texts)) == len(set(found))


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
@settings(max_examples=60)
def test_integers_have_one_hash_each(numbers):
    found = hashes_of(np.array(numbers, dtype=np.int64))
    assert len(set(zip(numbers, found, strict=True))) == len(set(numbers)) == len(set(found))


@given(st.lists(st.integers(0, 40), max_size=6), st.sampled_from(["uint8", "int64", "uint64"]))
def test_ids_in_any_order_are_compared(numbers, dtype):
    ids = pa.array(numbers, dtype)
    if len(set(numbers)) == len(numbers):
        arrow.refuse_duplicates("id", ids, read_ids("id", ids))
    else:
        with pytest.raises(ValueError, match="ids in more than one row"):
            arrow.refuse_duplicates("id", ids, read_ids("id", ids))


@given(st.lists(st.integers(0, 40), max_size=30), st.sampled_from([0, 20, 58]))
def test_equal_hashes_are_found_among_those_that_begin_alike(numbers, shift):
    hashes = np.array(numbers, dtype=np.uint64) << np.uint64(shift)
    assert arrow._any_twice(hashes) == (len(set(numbers)) < len(numbers))


@pytest.mark.parametrize("n", [1000, 70_000])
def test_one_of_many_ids_is_there_twice(n):
    ids = [f"person {number}" for number in range(n)]
    rng = np.random.default_rng(0)
    for place in (*rng.integers(1, n, 3), n - 1):
        ids[place], kept = ids[0], ids[place]
        with pytest.raises(ValueError, match="more than one row of a batch: 'person 0'"):
            reporter().report_batch(batch_of(person=ids))
        ids[place] = kept
    assert reporter().report_batch(batch_of(person=ids)).num_rows == n


def test_hashes_that_agree_by_chance_are_no_duplicates(monkeypatch):
    monkeypatch.setattr(arrow, "_hashes", lambda ids: np.zeros(len(ids), np.uint64))
    assert reporter().report_batch(batch_of(person=["a", "b"])).num_rows == 2
    with pytest.raises(ValueError, match="more than one row of a batch: 'b'"):
        reporter().report_batch(batch_of(person=["b", "a", "b"]))
