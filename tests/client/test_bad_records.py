"""Records and tables that a client refuses: why and where, and never a person's value."""

from collections import defaultdict

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from small_mechanisms import ROWS, by_name, dense

from skrldp.client import load


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"age": 1, "size": "S"},
            "the record lacks the column 'ill'; the mechanism needs 'age', 'ill'",
        ),
        (defaultdict(lambda: 1), "lacks the column 'age'"),
        (
            (1, "no"),
            "the record has 2 values, but the mechanism has 3 columns: 'age', 'ill', 'size'",
        ),
        ("abc", "the record is of type str; it must be a dict"),
        (np.ones((3, 1)), r"has shape \(3, 1\), but is one row"),
        (
            (1, "perhaps", "S"),
            r"column 'ill': .* a value \(not shown\)\. It knows 'no', 'yes', None",
        ),
        ((1, "no", None), r"columns 'age', 'size': .*not shown.*each value, but not together"),
        ((1, "no", np.array(["S"])), "column 'size' contains values that cannot be categories"),
    ],
)
def test_bad_records(record, message):
    client = load(dense().to_json())
    with pytest.raises(ValueError, match=message) as caught:
        client.report(record)
    assert str(caught.value).endswith("Nothing was reported.")


def test_no_message_says_who_has_an_unknown_value():
    client = load(dense().to_json())
    for name, strange in (("ill", (1, "?", "S")), ("size", (1, "no", "?"))):
        said = set()
        for rows in ([*ROWS, strange], [strange, *ROWS, strange], [strange] * 1000):
            with pytest.raises(ValueError, match=rf"'{name}'.*a value \(not shown\)") as caught:
                client.report_many(rows)
            said.add(str(caught.value))
        assert len(said) == 1 and "?" not in said.pop()


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([*ROWS, (1, "no")], "record 2 has 2 values"),
        ([*by_name(ROWS), {"age": 1}], "record 2 lacks the column 'ill'"),
        ({"age": [1], "ill": ["no", "no"], "size": ["S"]}, "columns differ in length"),
        ({"age": [1], "ill": ["no"]}, "the table lacks the column 'size'"),
        (
            pa.Table.from_arrays([[1], [1], ["no"], ["S"]], names=["age", "age", "ill", "size"]),
            "the table has twice the column 'age'",
        ),
        (pl.DataFrame(by_name(ROWS)).lazy(), "a data frame with its rows in memory"),
        (np.zeros((2, 4)), "the array has 4 values, but the mechanism has 3 columns"),
        (np.zeros((2, 3), dtype=complex), "dtype complex128"),
        ({"age": np.ma.masked_array([1]), "ill": ["no"], "size": ["S"]}, "masked arrays"),
        ((row for row in ROWS), "records must be a list of dicts or tuples"),
    ],
)
def test_bad_tables(records, message):
    with pytest.raises(ValueError, match=message) as caught:
        load(dense().to_json()).report_many(records)
    assert str(caught.value).endswith("Nothing was reported.")


def test_all_or_none():
    """A bad record leaves no trace: the bits that follow are those that would have come."""
    client, other = (load(dense().to_json(), random_state=1) for _ in range(2))
    for records in ([*ROWS, (1, "?", "S")], [*ROWS, (1, "no")]):
        with pytest.raises(ValueError, match="Nothing was reported"):
            client.report_many(records)
    with pytest.raises(ValueError, match="does not use ids"):
        client.report_many(ROWS, ids=[1, 2])
    np.testing.assert_array_equal(client.report_many(ROWS * 50), other.report_many(ROWS * 50))
