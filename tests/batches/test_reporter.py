"""Record batches to reports: one report of each record, however often and wherever it is computed.

The reference draws each report from its own tape, by the description alone.
"""

import datetime
import decimal
import functools
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import ROOT
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from reporters import KEY, batch_of, expected_report, reporter
from small_mechanisms import FORMS, blind, blocks, by_name, rows_of

from skrldp.alphabet.categories import Column
from skrldp.batches import KeyVariable
from skrldp.batches.arrow import read_values
from skrldp.client.records import RecordReader
from skrldp.design.closed_form import grr
from skrldp.mechanism.mechanism import Mechanism


def table_of(n):
    """A table of n records with ids, and their cells."""
    rows, cells = rows_of(n)
    persons = [f"person {number}" for number in np.random.default_rng(2).permutation(n)]
    table = pa.Table.from_pylist(by_name(rows))
    return table.append_column("person", [persons]).append_column("more", [np.arange(n)]), cells


# One report of each record


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
@settings(max_examples=12, phases=[Phase.generate])  # smaller orders would tell nothing more
def test_reports_do_not_depend_on_batches_or_order(form, data):
    mechanism = FORMS[form]()
    table, cells = table_of(40)
    cells = cells % 5 if form == "blind" else cells
    expected = {
        person: expected_report(mechanism, int(cell), person)
        for person, cell in zip(table["person"].to_pylist(), cells, strict=True)
    }
    order = data.draw(st.permutations(range(40)))
    cuts = sorted(data.draw(st.lists(st.integers(0, 40), max_size=5)))
    parts = [
        table.take(pa.array(order[start:stop], pa.int64()))
        for start, stop in zip([0, *cuts], [*cuts, 40], strict=True)
    ]
    sent = [batch for part in parts for batch in part.combine_chunks().to_batches()]
    retried = data.draw(st.lists(st.sampled_from(sent), max_size=3))
    found = [
        pair
        for batch in reporter(mechanism)(iter(sent + retried))
        for pair in zip(batch["person"].to_pylist(), batch["report"].to_pylist(), strict=True)
    ]
    assert dict(found) == expected and set(found) == set(expected.items())
    assert len(found) == 40 + sum(map(len, retried))


CHILD = """
import pickle, sys
reporter, batch = pickle.load(sys.stdin.buffer)
[reports] = reporter([batch])
sys.stdout.buffer.write(pickle.dumps((reports, pickle.dumps(reporter))))
"""


def test_another_process_gives_the_same_reports(monkeypatch):
    """It gets the pickle, and reads the key itself; the pickle made there has no key either."""
    monkeypatch.setenv("SKRLDP_TEST_KEY", f" {KEY.hex().upper()}\n")
    sent = reporter(blocks(), key=KeyVariable("SKRLDP_TEST_KEY"), keep=["more"], type="int32")
    batch = table_of(200)[0].combine_chunks().to_batches()[0]
    pickled = pickle.dumps((sent, batch))
    child = [sys.executable, "-c", CHILD]
    done = subprocess.run(child, input=pickled, capture_output=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr.decode()
    reports, again = pickle.loads(done.stdout)
    assert sent.report_batch(batch).equals(reports)
    assert reports.schema.field("report").type == pa.int32()
    for held in (KEY, KEY.hex().encode(), KEY.hex().upper().encode()):
        assert held not in again


# Records are read as the client reads them


MOMENT = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)
VALUES_OF = {
    "int64": ([1, 2, None, 1], pa.int64()),
    "uint64": ([2**64 - 1, 2, 2**63, 1], pa.uint64()),
    "float": ([0.1, 0.0, -0.0, None], pa.float64()),
    "bool": ([True, False, None, True], pa.bool_()),
    "moment": ([MOMENT, MOMENT, None, MOMENT], pa.timestamp("us", tz="Europe/Berlin")),
    "nanoseconds": ([1, 2, None, 1], pa.timestamp("ns")),
    "decimal": ([decimal.Decimal("1.5"), decimal.Decimal(2), None, None], pa.decimal128(5, 2)),
    "string": (["a", "", None, "a"], pa.string()),
    "null": ([None] * 4, pa.null()),
}


@pytest.mark.parametrize("kind", VALUES_OF)
def test_types_of_values(kind):
    """One by one through the client, and as Arrow holds them: plain, in dictionaries, in parts."""
    values, dtype = VALUES_OF[kind]
    column = pa.array(values, dtype)
    one_by_one = column.to_pylist()
    members = Column.of_values("u", one_by_one).categories
    reader = RecordReader([("s", True), ("u", False)], ["x"], members, "all")
    expected = reader.cells([("x", value) for value in one_by_one]).tolist()
    forms = [column, pa.concat_arrays([column, column]).slice(4)]
    if kind != "null":  # Arrow makes no dictionary of these
        encoded = column.dictionary_encode()
        many = pa.concat_arrays([encoded.dictionary] * 5)  # more than rows
        forms += [encoded, pa.DictionaryArray.from_arrays(encoded.indices, many)]
        few = encoded.slice(1, 1)
        found = reader.cells({"s": ["x"], "u": read_values("u", few)})
        assert found.tolist() == expected[1:2]
    for form in forms:
        found = reader.cells({"s": ["x"] * 4, "u": read_values("u", form)})
        assert found.tolist() == expected
    few = RecordReader([("s", True), ("u", False)], ["x"], members[:1], "all")
    if len(members) > 1:
        with pytest.raises(ValueError, match="column 'u': the mechanism does not know"):
            few.cells({"s": ["x"] * 4, "u": read_values("u", column)})


def test_a_blind_mechanism_needs_no_secrets():
    batch = batch_of(person=[1, 2]).select(["size", "person", "age"])
    one = reporter(blind())
    assert one.columns == ("person", "age", "size")
    assert one.report_batch(batch).equals(one.report_batch(batch_of(person=[1, 2])))


# What comes in and out


def test_whatever_gives_record_batches():
    table = table_of(30)[0]
    one = reporter(keep=["more"], name="answer")
    [whole] = one(table.to_batches())
    for batches_of in (table.to_reader(), iter(table.to_batches()), table.to_batches()):
        found = pa.Table.from_batches(one(batches_of))
        assert found["answer"].to_pylist() == whole["answer"].to_pylist()
    assert whole.schema.names == ["person", "answer", "more"]
    assert whole["answer"].type == pa.uint8() and one.encode == "symbol"
    assert list(one(iter([]))) == []
    for wrong in (["x"], [table], 5):
        with pytest.raises(TypeError, match=r"iterator of Arrow record batches|not iterable"):
            list(one(wrong))


def test_whole_tables():
    """A table in, a table of the same library out; its ids are compared in all of its parts."""
    table = table_of(30)[0]
    one = reporter(keep=["more"], name="answer")
    [batch] = table.to_batches()
    expected = pa.Table.from_batches([one.report_batch(batch)])
    parts = pa.concat_tables([table.slice(0, 10), table.slice(10)])
    assert one(parts).equals(expected) and one(batch).equals(one.report_batch(batch))
    assert one(table.slice(0, 0)).equals(expected.slice(0, 0))
    found = one(pl.from_arrow(table))
    assert isinstance(found, pl.DataFrame)
    assert found.equals(pl.from_arrow(expected)) and found["answer"].dtype == pl.UInt8
    frame = table.to_pandas().set_index(pd.Index(range(100, 130), name="row"))
    found = one(frame)
    assert found.index.equals(frame.index) and found["answer"].dtype == "uint8"
    assert found.reset_index(drop=True).equals(expected.to_pandas())
    for twice in (pa.concat_tables([table, table]), pd.concat([frame, frame.head(1)])):
        with pytest.raises(ValueError, match="ids in more than one row"):
            one(twice)
    for wrong in (table.drop(["ill"]), frame.drop(columns="ill")):
        with pytest.raises(ValueError, match=r"one column 'ill', but have none: .*'person'"):
            one(wrong)
    with pytest.raises(TypeError, match="got a lazy frame"):
        list(one(pl.LazyFrame({"person": [1]})))


def test_an_index_that_is_reported_does_not_leave():
    frame = table_of(5)[0].to_pandas()
    for names in (["ill"], ["person", "ill"], ["size"]):
        with pytest.raises(ValueError, match=f"the index .*'{names[-1]}'.*reset_index"):
            reporter()(frame.set_index(names, drop=False))
    assert reporter()(frame.set_index("person", drop=False)).index.name == "person"


def test_all_rows_of_a_batch_or_none():
    good, bad = batch_of(person=[1, 2]), batch_of(person=[3, 4], size=["S", "XXL"])
    reports = reporter()(iter([good, bad]))
    assert next(reports).num_rows == 2
    with pytest.raises(ValueError, match=r"not shown|each value, but not together"):
        next(reports)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"person": [1.0, 2.0]}, "must be integers, strings or bytes, not double. Cast integers"),
        ({"person": [{"classified": 1}, {"classified": 2}]}, "strings or bytes, not struct."),
        ({"person": [None, None]}, r"no id in 2 rows \(0, 1\) of a batch of 2 rows"),
        ({"person": ["a", ""]}, r"no id in 1 row \(1\) of a batch of 2 rows"),
        ({"person": ["a", "a"]}, "in more than one row of a batch: 'a'. Keep one row for each id"),
        ({"person": list("abab") * 9}, "in more than one row of a batch: 'a', 'b'"),
        ({"ill": ["no", "secret!"]}, r"a value \(not shown\)"),
        ({"age": [{"a": 1}] * 2}, "column 'age' contains values that cannot be categories"),
    ],
)
def test_bad_batches(columns, message):
    with pytest.raises(ValueError, match=message) as caught:
        reporter().report_batch(batch_of(**columns))
    assert "secret!" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"id": "ill"}, ValueError, "the column 'ill' is reported by the mechanism"),
        ({"keep": ["size"]}, ValueError, "the column 'size' is reported by the mechanism"),
        ({"keep": ["ill"]}, ValueError, "must not be output unchanged"),
        ({"keep": ["report"]}, ValueError, "different names"),
        ({"keep": "more"}, TypeError, "a list of column names"),
        ({"id": 5}, TypeError, "id must be the name of a column"),
        ({"type": "float32"}, ValueError, "type must be one of uint8"),
        ({"key": "ab" * 16}, TypeError, "key must be KeyFile"),
        ({"key": bytes(15)}, ValueError, "at least 16 bytes .*got 15"),
        ({"key": lambda: KEY}, ValueError, "must be one that workers can import"),
        ({"key": functools.partial(reporter)}, ValueError, "must be one that workers can import"),
        ({"key_check": KEY.hex()}, ValueError, "key_check must be the 16 hexadecimal digits"),
        ({"mechanism": []}, TypeError, "mechanism must be a Mechanism or the text .* got list"),
        ({"mechanism": "{}"}, ValueError, "mechanism"),
    ],
)
def test_bad_arguments(given, error, message):
    with pytest.raises(error, match=message):
        reporter(**given)


def test_a_type_must_hold_the_symbols():
    mechanism = Mechanism.from_blocks(grr(1.0, 200), ("no", "yes"), tuple(range(100)))
    mechanism = mechanism.named(None, [("ill", True), ("place", False)])
    with pytest.raises(ValueError, match="int8 cannot hold 200 different reports"):
        reporter(mechanism, type=pa.int8())
    with pytest.raises(ValueError, match="batches have names, but the mechanism has"):
        reporter(mechanism.named(None, [(0, True), (1, False)]))
