"""Ids: of every type, in every library, in whole tables."""

import traceback
import uuid

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reporters import batch_of, expected_report, reporter
from small_mechanisms import dense

from skrldp import batches
from skrldp.batches import arrow

IDS = {
    "int64": ([5, -1, 2**62, 0], pa.int64()),
    "uint64": ([5, 2**64 - 1, 2**62, 0], pa.uint64()),
    "string": (["b", "17", "Zoë, who has a long name", "0"], pa.string()),
    "string_view": (["b", "17", "Zoë, who has a long name", "0"], "string_view"),
    "dictionary": (["b", "17", "Zoë, who has a long name", "0"], "dictionary"),
    "binary": ([b"17", b"b", bytes(40), b"0"], pa.binary()),
    "fixed": ([b"abc", b"bcd", b"cde", b"def"], pa.binary(3)),
    "uuid": ([uuid.UUID(int=n << 64).bytes for n in range(4)], "uuid"),
}


@pytest.mark.parametrize("kind", IDS)
def test_types_of_ids(kind):
    persons, dtype = IDS[kind]
    if dtype in ("string_view", "uuid") and not hasattr(pa, dtype):
        pytest.skip(f"this pyarrow has no {dtype}")
    if dtype == "dictionary":
        column = pa.array(persons).dictionary_encode()
    else:
        column = pa.array(persons, getattr(pa, dtype)() if isinstance(dtype, str) else dtype)
    mechanism, batch = dense(), batch_of(person=column)
    expected = [expected_report(mechanism, 0, person) for person in persons]
    one = reporter(mechanism)
    reports = one.report_batch(batch)
    assert reports["report"].to_pylist() == expected
    assert reports.schema == one.output_schema(batch.schema)
    assert reports["person"].to_pylist() == column.to_pylist()
    part = one.report_batch(batch.slice(1, 2))  # whose buffers are those of the whole
    assert part["report"].to_pylist() == expected[1:3]
    assert one.report_batch(batch.slice(4))["report"].to_pylist() == []
    with pytest.raises(ValueError, match=r"no id in 1 row \(4\) of a batch of 5 rows"):
        one.report_batch(batch_of(person=pa.concat_arrays([column, pa.nulls(1, column.type)])))
    with pytest.raises(ValueError, match="ids in more than one row of a batch"):
        one.report_batch(batch_of(person=pa.concat_arrays([column, column.slice(1, 1)])))


@pytest.mark.parametrize("column", ["ill", "person"])
@pytest.mark.parametrize("odd", [2**70, "classified", ("classified",), pd.Period("1987-06")])
def test_what_arrow_cannot_hold_is_not_quoted(column, odd):
    """Columns of pandas' objects: Arrow's message, and what else is raised, names their values."""
    values = {"person": [1, 2], "age": [1, 2], "ill": ["no", "yes"], "size": ["S", "M"]}
    values[column] = pd.Series([1.5, odd], dtype=object)
    with pytest.raises(ValueError, match=f"column '{column}'") as caught:
        reporter(dense())(pd.DataFrame(values))
    said = "".join(traceback.format_exception_only(caught.value))
    assert not any(quoted in said for quoted in ("classified", "1987", str(2**70), "object at"))
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "batch"])
def test_ids_of_a_table(kind):
    def check(ids, column="person"):
        frame = {
            "polars": lambda: pl.DataFrame({column: ids}),
            "lazy": lambda: pl.LazyFrame({column: ids}),
            "pandas": lambda: pd.DataFrame({column: ids}),
            "pyarrow": lambda: pa.table({column: ids}),
            "batch": lambda: pa.RecordBatch.from_pydict({column: pa.array(ids)}),
        }[kind]()
        batches.check_ids(frame, "person")

    check(["a", "b", "c"])
    check([3, 1, 2])
    with pytest.raises(ValueError, match=r"more than one row: 'a' \(3 rows\). A person"):
        check(["a", "b", "a", "a"])
    with pytest.raises(ValueError, match=r"in more than one row: .*\(2 rows\), ..."):
        check([*range(20), *range(20)])
    with pytest.raises(ValueError, match=r"no id in 2 rows\. Add an id"):
        check(["a", None, None])
    with pytest.raises(ValueError, match=r"no id in 3 rows\. Add an id"):
        check(["a", "", None, ""])
    with pytest.raises(ValueError, match=r"no id in 1 row\. Add an id"):
        check([b"", b"7"])
    with pytest.raises(ValueError, match="must be integers, strings or bytes, not Float64"):
        check([1.0, 2.0])
    with pytest.raises(ValueError, match="lacks the column 'person' of the ids; it has 'name'"):
        check([1, 2], "name")


def test_a_uuid_of_duckdb_is_no_id():
    """It hands out a text here and 16 bytes there, of one and the same column."""
    with duckdb.connect() as engine:
        frame = engine.sql("SELECT uuid() AS person FROM range(3)")
        with pytest.raises(
            ValueError, match="16 bytes, which are different ids: cast it to a string"
        ):
            batches.check_ids(frame, "person")
        batches.check_ids(frame.select("person::VARCHAR AS person"), "person")


def test_objects_of_polars_are_no_ids():
    """Arrow would get their memory addresses, which are others in every process."""
    ids = [uuid.UUID(int=number + 1) for number in range(3)]
    table = pl.DataFrame(
        {"person": ids, "age": [1, 1, 1], "ill": ["no"] * 3, "size": ["S"] * 3},
        schema_overrides={"person": pl.Object},
    )
    with pytest.raises(ValueError, match="column 'person' contains values of several types, or of"):
        reporter(dense())(table)
    for frame in (table, table.lazy()):
        with pytest.raises(ValueError, match="must be integers, strings or bytes, not Object"):
            batches.check_ids(frame, "person")


@pytest.mark.parametrize("kind", [object, "category"])
@pytest.mark.parametrize("ids", [["7", b"8"], [b"8", "7"], [*map(str, range(200)), 7]])
def test_ids_of_several_types_are_refused(ids, kind):
    """Of texts and bytes Arrow would make bytes, and everybody would be another person."""
    record = {"age": 1, "ill": "no", "size": "S"}
    table = pd.DataFrame({"person": pd.Series(ids, dtype=object).astype(kind)}).assign(**record)
    for call in (reporter(dense()), lambda frame: batches.check_ids(frame, "person")):
        with pytest.raises(ValueError, match="column 'person' contains values of several types"):
            call(table)
    alike = table.assign(person=pd.Series([b"%d" % n for n in range(len(ids))]).astype(kind))
    assert len(reporter(dense())(alike)) == len(ids)


def test_entries_of_a_dictionary_that_repeat_are_one_id():
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "a"]))
    with pytest.raises(ValueError, match=r"more than one row: 'a' \(2 rows\)"):
        batches.check_ids(pa.table({"person": twice}), "person")


@given(st.lists(st.integers(0, 40), max_size=30), st.sampled_from([0, 20, 58]))
def test_equal_hashes_are_found_among_those_that_begin_alike(numbers, shift):
    hashes = np.array(numbers, dtype=np.uint64) << np.uint64(shift)
    assert arrow.any_twice(hashes) == (len(set(numbers)) < len(numbers))


def test_hashes_that_agree_by_chance_are_no_duplicates(monkeypatch):
    monkeypatch.setattr(
        "skrldp.batches.reporter.hashes_of", lambda ids: np.zeros(len(ids), np.uint64)
    )
    assert reporter().report_batch(batch_of(person=["a", "b"])).num_rows == 2
    assert len(reporter()(pa.table(batch_of(person=["a", "b"])))) == 2
    with pytest.raises(ValueError, match="more than one row of a batch: 'b'"):
        reporter().report_batch(batch_of(person=["b", "a", "b"]))


def test_a_table_is_reported_in_parts_and_judged_as_a_whole():
    """Ids are compared between parts of 65,536 rows, and errors name the rows of the table."""
    keyed, n = reporter(), 131_080
    ids = [*map(str, range(n))]
    records = pa.table(batch_of(person=ids, ill=["no", "yes", None, "no", "yes"] * (n // 5)))
    expected = keyed.report_batch(records.to_batches()[0])
    assert keyed(records).combine_chunks().to_batches() == [expected]
    chunks = pa.concat_tables([records.slice(0, 70_000), records.slice(70_000)])
    assert keyed(chunks).combine_chunks().to_batches() == [expected]
    assert len(keyed(records.slice(n))) == 0
    for person, words in {
        "7": "more than one row of a batch: '7'",
        None: r"no id in 1 row \(131,?079\)",
    }.items():
        wrong = records.set_column(0, "person", pa.array([*ids[:-1], person]))
        with pytest.raises(ValueError, match=words):
            keyed(wrong)
