"""Ids and kept columns leave with their own values alone, whatever else their buffers hold."""

import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reporters import batch_of, reporter

SECRET = "SECRET" * 4


def dictionary_of_all():
    return pa.array(["a", SECRET, "b"]).dictionary_encode().take(pa.array([0, 2]))


def beneath_missing():
    numbers = np.frombuffer(b"\1" + bytes(7) + b"SECRETSE", dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(numbers)])


class Boxed(pa.ExtensionType):
    """A type of the user's own, stored as something else."""

    def __init__(self, storage):
        super().__init__(storage, "boxed")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls(storage)


def boxed(storage):
    return pa.ExtensionArray.from_storage(Boxed(storage.type), storage)


COLUMNS_WITH_MORE = {
    "a type of one's own": lambda: boxed(pa.array(["a", None, SECRET]).slice(0, 2)),
    "dictionary": dictionary_of_all,
    "views in a dictionary": lambda: pa.DictionaryArray.from_arrays(
        pa.array([0, 2]), pa.array(["a", SECRET, "b"]).cast("string_view")
    ),
    "views": lambda: pa.array(["a", "b", SECRET]).cast("string_view").slice(0, 2),
    "beneath missing": beneath_missing,
    "slice of texts": lambda: pa.array([SECRET, "a", "b", SECRET]).slice(1, 2),
    "slice of numbers": lambda: pa.array([1, 2, int.from_bytes(b"SECRETSE", "little")]).slice(0, 2),
}


def files_of(table):
    """Pickle, and Arrow and Parquet files of a frame."""
    arrow, parquet = io.BytesIO(), io.BytesIO()
    if isinstance(table, pl.DataFrame):
        table.write_ipc(arrow)
        table.write_parquet(parquet)
    else:
        own = pa.Table.from_pandas(table) if isinstance(table, pd.DataFrame) else table
        with pa.ipc.new_file(arrow, own.schema) as file:
            file.write_table(own)
        pq.write_table(own, parquet)
    return pickle.dumps(table), arrow.getvalue(), parquet.getvalue()


@pytest.mark.parametrize("kind", COLUMNS_WITH_MORE)
def test_reports_hold_no_values_of_other_rows(kind):
    """Those of rows that were filtered out, or are missing, stand in buffers and dictionaries."""
    if "views" in kind and not hasattr(pa, "string_view"):
        pytest.skip("PyArrow 15 has no views")
    column = COLUMNS_WITH_MORE[kind]()
    batch = batch_of(person=["a", "b"], more=column)
    one = reporter(keep=["more"])
    found = one.report_batch(batch)
    assert found["more"].to_pylist() == column.to_pylist()
    assert found.schema == one.output_schema(batch.schema)
    assert b"SECRET" in pickle.dumps(batch)
    for octets in (pickle.dumps(found), *files_of(one(pa.Table.from_batches([batch])))[1:2]):
        assert b"SECRET" not in octets


@pytest.mark.parametrize(
    "column",
    [
        pa.StructArray.from_arrays([pa.array(["a", SECRET])], ["x"]),
        pa.array([["a"], [SECRET]]),
        pa.RunEndEncodedArray.from_arrays([1, 2], pa.array(["a", SECRET])),
        boxed(dictionary_of_all()),
    ],
    ids=str,
)
def test_nested_columns_are_not_kept(column):
    with pytest.raises(ValueError, match=r"column 'more' of the type .* cannot be kept"):
        reporter(keep=["more"]).report_batch(batch_of(person=["a", "b"], more=column))


def test_ids_leave_without_the_ids_of_other_rows():
    found = reporter().report_batch(batch_of(person=dictionary_of_all()))
    assert found["person"].to_pylist() == ["a", "b"]
    assert b"SECRET" not in pickle.dumps(found)


TYPES_WITH_MORE = {
    "ordered": lambda: pd.Series(
        pd.Categorical(["a", SECRET, "b"], ["b", SECRET, "a"], ordered=True)
    ),
    "ArrowDtype": lambda: pd.Series(
        ["a", SECRET, "b"], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "Int64": lambda: pd.Series(
        pd.arrays.IntegerArray(
            np.frombuffer(b"\1" + bytes(7) + b"SECRETSE" + b"\1" + bytes(7), dtype=np.int64).copy(),
            np.array([False, True, False]),
        )
    ),
    "str": lambda: pd.Series(["a", SECRET, "b"]),
}


@pytest.mark.parametrize("kind", TYPES_WITH_MORE)
def test_reports_in_pandas_hold_no_values_of_other_rows(kind):
    """Categories stay as they are declared but for those that no row has."""
    own = batch_of(person=[5, 6, 7]).to_pandas().assign(more=TYPES_WITH_MORE[kind]())
    labels = [pd.Categorical(["a", SECRET, "b"]), [1, 2, 3]]
    own.index = pd.MultiIndex.from_arrays(labels, names=["first", "second"])
    rows = [0, 1, 2] if kind == "Int64" else [0, 2]
    records = own.iloc[rows]
    if kind == "Int64":
        records = records.reset_index(drop=True)
    found = reporter(keep=["more"])(records)
    assert found["more"].isna().tolist() == records["more"].isna().tolist()
    assert found["more"].dropna().tolist() == records["more"].dropna().tolist()
    assert found.index.tolist() == records.index.tolist()
    if kind == "ordered":
        assert found["more"].cat.ordered and list(found["more"].cat.categories) == ["b", "a"]
    assert str(found["more"].dtype)[:5] == str(records["more"].dtype)[:5]
    assert b"SECRET" in pickle.dumps(records)
    for octets in files_of(found):
        assert b"SECRET" not in octets


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Int64])
def test_reports_in_polars_hold_no_values_of_other_rows(kind):
    column = pl.Series([1, int.from_bytes(b"SECRETSE", "little"), 3])
    if kind != pl.Int64:
        column = pl.Series(["a", SECRET, "b"]).cast(kind)
    records = pl.from_arrow(batch_of(person=[5, 6, 7])).with_columns(more=column)
    if kind == pl.Int64:
        more = pl.when(pl.col("person") != 6).then("more")
        records = records.with_columns(more=more)
    else:
        records = records.filter(pl.col("person") != 6)
    found = reporter(keep=["more"])(records)
    assert found["more"].dtype == kind
    assert found["more"].to_list() == records["more"].to_list()
    for octets in files_of(found):
        assert b"SECRET" not in octets
