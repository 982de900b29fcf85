"""The public distribution is its counts, exactly; what are no counts is refused."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import EXAMPLE
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skrldp import JointDistribution, Mechanism
from skrldp.public_summary import PublicSummary

TABLES = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.integers(0, 10**6)
).filter(lambda table: table.sum() > 0)


@given(TABLES)
def test_probabilities_are_the_counts(counts):
    joint = JointDistribution(counts)
    assert joint.n == counts.sum()
    np.testing.assert_allclose(joint.probabilities * joint.n, counts, rtol=1e-14)
    np.testing.assert_allclose(joint.marginal, joint.probabilities.sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(joint.conditionals.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(
        joint.conditionals * joint.marginal[:, None], joint.probabilities, atol=1e-15
    )
    unseen = counts.sum(axis=1) == 0
    assert np.all(joint.conditionals[unseen] == 1.0 / counts.shape[1])
    positive = joint.probabilities[counts > 0]
    assert joint.entropy == pytest.approx(-sum(p * np.log(p) for p in positive), abs=1e-12)


def test_it_keeps_its_own_counts():
    counts = EXAMPLE.copy()
    joint = JointDistribution(counts)
    counts[0, 0] = 99
    assert joint.counts[0, 0] == 7
    with pytest.raises(ValueError, match="read-only"):
        joint.counts[0, 0] = 1
    with pytest.raises(AttributeError):
        joint.counts = counts


@pytest.mark.parametrize(
    "counts",
    [
        [[0, 0], [0, 0]],
        [[1, -1], [2, 3]],
        [[1.5, 1], [2, 3]],
        [[np.nan, 1], [2, 3]],
        [[10**400, 1], [1, 1]],
        np.array([[2**64 - 50, 100], [30, 60]], dtype=np.uint64),  # -50 as int64
        [[2**52, 2**52], [1, 0]],
        np.ma.masked_array([[5, 1], [2, 3]], [[True, False], [False, False]]),
        [[1 + 2j, 1], [2, 3]],
        [["1", "2"]],
        [[]],
    ],
)
def test_what_is_not_a_table_of_counts_is_refused(counts):
    with pytest.raises(ValueError, match="counts"):
        JointDistribution(counts)


def test_the_greatest_tables_are_exact():
    most = np.array([[2**53 - 2, 1], [1, 0]], dtype=np.uint64)
    for counts in (most, most.astype(object), np.ma.masked_array(most, False)):
        assert JointDistribution(counts).n == 2**53
        assert JointDistribution(counts).counts[0, 0] == 2**53 - 2


@pytest.mark.parametrize("names", [{"secrets": ("a",)}, {"values": ("a", "b", "c")}])
def test_names_must_fit(names):
    with pytest.raises(ValueError, match="do not match"):
        JointDistribution(EXAMPLE, **names)


@given(TABLES, st.integers(0, 2**32 - 1))
def test_records_and_their_counts_are_the_same(counts, seed):
    counts = counts % 7
    counts[0, 0] += 1
    a1, a2 = counts.shape
    names = [f"s{i}" for i in range(a1)], [f"u{i}" for i in range(a2)]
    cells = np.repeat(np.arange(a1 * a2), counts.ravel())
    np.random.default_rng(seed).shuffle(cells)
    by_record = JointDistribution.from_codes(
        (cells // a2).astype(np.int8), (cells % a2).astype(np.int16), names
    )
    every = np.arange(a1 * a2)
    by_weight = JointDistribution.from_codes(every // a2, every % a2, names, counts.ravel())
    for joint in (by_record, by_weight):
        np.testing.assert_array_equal(joint.counts, counts)
        assert (joint.secrets, joint.values) == (tuple(names[0]), tuple(names[1]))


@pytest.mark.parametrize(
    "weights",
    [
        *([1.5, 1], [-1, 1], [np.nan, 1], [0, 0], [1, 2, 3], [2.0**53, 2.0], ["1", "2"]),
        *(np.ma.masked_array([5, 2], [True, False]), [1 + 2j, 1]),
    ],
)
def test_weights_that_are_not_counts_are_refused(weights):
    with pytest.raises(ValueError, match="sample_weight"):
        JointDistribution.from_codes(
            np.array([0, 1]), np.array([0, 0]), (("a", "b"), ("u",)), weights
        )


@pytest.mark.parametrize("records", [0.5, 1e300])
def test_smoothing_adds_so_many_records(records):
    """In all, spread over the cells: 100 records and 0.5 more are 100.5."""
    found = JointDistribution(EXAMPLE).smoothed(records)
    expected = (EXAMPLE / (100 + records)) + (records / (100 + records)) / 4
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64])
def test_codes_of_any_dtype_are_counted_where_they_belong(dtype):
    """The code of a cell, up to 399 here, needs more bits than that of a secret or a value."""
    secrets, values = np.divmod(np.arange(400), 20)
    names = range(20), range(20)
    found = JointDistribution.from_codes(secrets.astype(dtype), values.astype(dtype), names)
    np.testing.assert_array_equal(found.counts, np.ones((20, 20)))


def test_public_counts_have_the_cells_of_their_mechanism():
    mechanism = Mechanism.from_matrix([[0.5] * 4, [0.5] * 4], (0, 1), (0, 1))
    replace(mechanism, public=PublicSummary(np.ones((2, 2), dtype=int)))
    with pytest.raises(ValueError, match=r"public counts must have shape \(2, 2\)"):
        replace(mechanism, public=PublicSummary(np.ones((4, 1), dtype=int)))
