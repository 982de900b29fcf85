"""The client reads records as the sanitizer reads tables, and needs NumPy alone.

What it refuses, it refuses with the reason and the place, and never with a person's value.

Two routes: the sanitizers' own way from tables to cells, and here the client's. Which libraries and
types of columns hold the same values is tried in ``tests/table``.
"""

import datetime
import math
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import ROOT
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_mechanisms import FORMS, KEY, ROWS, blind, by_name, dense, rows_of

from skrldp import Mechanism
from skrldp.client import load
from skrldp.design.closed_form import grr
from skrldp.sampling.random_bits import RandomStream
from skrldp.table.encoding import Grouping
from skrldp.table.learned_categories import learn

NAMES = [("a", False), ("b", True), ("c", False)]


@pytest.mark.parametrize("form", FORMS)
def test_records_of_every_shape_get_the_mechanisms_reports(form):
    mechanism = FORMS[form]()
    rows, cells = rows_of()
    expected = mechanism.sample(cells, random_state=5)
    for records in (
        rows,
        [{**row, "more": object()} for row in by_name(rows)],
        dict(zip(("age", "ill", "size"), zip(*rows, strict=True), strict=True)),
        np.array(rows, dtype=object),
        pd.DataFrame(by_name(rows)).astype({"ill": "category", "size": "category"}),
        pl.DataFrame(by_name(rows))[["size", "age", "ill"]],
        pa.table(pl.DataFrame(by_name(rows)).to_dict(as_series=False)),
    ):
        reports = load(mechanism.to_json(), random_state=5).report_many(records)
        np.testing.assert_array_equal(reports, expected, err_msg=str(type(records)))
        assert reports.dtype == expected.dtype == np.uint8


NOONS = [
    datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=hours)))
    for hours in (0, 2)
]
CATEGORIES = st.one_of(
    st.text("abé1", max_size=2),
    st.integers(-3, 3),
    st.sampled_from([2**53, 2**53 + 1, -(2**63), 2**63, 2**64 - 1, 2**70, 0.5, -0.0, 1e300, 0.1]),
    st.floats(-2, 2),
    st.booleans(),
    st.none(),
    st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 1, 3)),
    st.datetimes(datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)),
    st.sampled_from(NOONS),
    st.timedeltas(datetime.timedelta(0), datetime.timedelta(seconds=1)),
)
GROUPINGS = [{}, {"unknown": True}, {"min_frequency": 2}, {"unknown": True, "min_frequency": 3}]


def has_day_and_midnight(values):
    """They are two categories of a table, but no mechanism may have one of them as "other"."""
    days = {datetime.datetime(v.year, v.month, v.day) for v in values if type(v) is datetime.date}
    return any(type(v) is datetime.datetime and v.tzinfo is None and v in days for v in values)


@given(
    st.lists(st.tuples(CATEGORIES, CATEGORIES), min_size=4, max_size=9),
    st.sampled_from(GROUPINGS),
    st.sampled_from(["auto", "product"]),
)
@settings(max_examples=60)
@pytest.mark.filterwarnings("ignore")  # of pandas, for dates of several kinds in one column
def test_cells_are_those_of_the_table(rows, grouping, categories):
    """Of rare and unknown values and combinations too, or an error in both."""
    assume(not any(has_day_and_midnight(column) for column in zip(*rows, strict=True)))
    rows = [(a, place % 3, b) for place, (a, b) in enumerate(rows)]
    table = np.array(rows, dtype=object)  # NumPy would make floats of large numbers
    unknown = "other" if "unknown" in grouping else "error"
    try:
        codec, _ = learn(
            table[:-2], sensitive=[1], grouping=Grouping(**grouping), categories=categories
        )
    except ValueError:
        return  # a constant column, or a secret less: there is nothing to design
    expected = []
    for row in table:
        try:
            expected += codec.encode(row[None], unknown=unknown).cells(codec.n_values).tolist()
        except ValueError:
            expected.append("error")
    mechanism = Mechanism.from_blocks(grr(1.0, codec.n_cells), codec.secrets, codec.values)
    mechanism = replace(mechanism.named(None, NAMES), others=codec.others)
    assert Mechanism.from_json(mechanism.to_json()).others == codec.others
    reader = load(mechanism.to_json())._reader
    for row, cell in zip(rows, expected, strict=True):
        if cell == "error":
            with pytest.raises(ValueError, match="Nothing was reported"):
                reader.cells([row])
        else:
            assert reader.cells([row]).tolist() == [cell]
    known = [row for row, cell in zip(rows, expected, strict=True) if cell != "error"]
    assert reader.cells(known).tolist() == [cell for cell in expected if cell != "error"]


def telling(values):
    """A mechanism, without any privacy, whose report is the index of the value of U."""
    mechanism = Mechanism.from_matrix(np.eye(len(values)), ("s",), values, observe="nonsensitive")
    return load(mechanism.named(None, [("s", True), ("u", False)]).to_json())


@pytest.mark.parametrize(
    ("known", "column", "places"),
    [
        ((0, 1), np.array([True, False]), [1, 0]),
        ((2**63, -1), np.array([2**63], dtype=np.uint64), [0]),
        ((2**53 + 1, 2**53), np.array([2**53, 2**53 + 1]), [1, 0]),
        ((2.0**70, 10**400, 0), np.array([2.0**70, 0.0]), [0, 2]),
        (("1", 1), [np.str_("1"), np.int8(1)], [0, 1]),
        ((None, "a"), ["a", None, math.nan, pd.NA, np.datetime64("NaT", "s")], [1, 0, 0, 0, 0]),
        ((None, 2), pd.Series([2, None], dtype="Int8"), [1, 0]),
        (("a", "b", None), pa.chunked_array([["b", None, "a"]]).dictionary_encode(), [1, 2, 0]),
        (("a", "b", None), pd.Series(["b", None, "a"], dtype="category"), [1, 2, 0]),
        ((None, 2**53 + 1), pa.chunked_array([[2**53 + 1, None]]), [1, 0]),
        ((datetime.datetime(2020, 1, 1), None), np.array(["NaT", "2020-01-01"], "M8[ns]"), [1, 0]),
        ((NOONS[0], 0), pd.Series(pd.to_datetime(["2020-01-01T14:00+02:00"])), [0]),
    ],
)
def test_a_columns_values_compare_as_in_a_table(known, column, places):
    client = telling(known)
    assert client.report_many({"u": column}).tolist() == places
    each = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    assert [client.report({"u": value}) for value in each] == places


@pytest.mark.parametrize(
    ("known", "column"),
    [
        ((1, 2), np.array([1.5])),
        ((2**53, 2), np.array([2**53 + 1])),
        ((0.1, 2), np.array([0.1], dtype=np.float32)),
        ((1, 2), ["1"]),
        (("1", "2"), np.array([1])),
        ((1, 2), [1j]),
        (("a", "b"), pa.chunked_array([[None, "b"]]).dictionary_encode()),
        ((datetime.datetime(2020, 1, 1), 0), np.array(["2020-01-01T00:00:00.000000001"], "M8[ns]")),
        ((datetime.datetime(2020, 1, 1, 1), 0), [datetime.date(2020, 1, 1)]),
        ((datetime.datetime(2020, 1, 1), 0), [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)]),
    ],
)
def test_what_is_unknown_is_never_reported(known, column):
    client = telling(known)
    first = column[0].as_py() if isinstance(column, pa.ChunkedArray) else column[0]
    for report in (
        lambda: client.report_many({"u": column}),
        lambda: client.report({"u": first}),
        lambda: client.report((first,)),
    ):
        with pytest.raises(ValueError, match=r"column 'u': the mechanism does not know .*Nothing"):
            report()


@pytest.mark.parametrize("form", FORMS)
def test_nothing_in_nothing_out(form):
    for key, ids in ((None, None), (KEY, [])):
        client = load(FORMS[form]().to_json(), permanent_key=key)
        for records in ([], np.empty((0, 3)), pd.DataFrame(columns=["age", "ill", "size"])):
            assert client.report_many(records, ids=ids).shape == (0,)


class Sealed(dict):
    """A record whose secret must not be read."""

    def __getitem__(self, name):
        assert name != "ill", "the secret was read"
        return super().__getitem__(name)


def test_a_blind_mechanism_never_looks_at_the_secret():
    client = load(blind().to_json(), random_state=1)
    expected = blind().sample([2, 3], 1)
    for records in (
        [Sealed(age=2, ill=object(), size="S"), Sealed(age=2, size=None)],
        Sealed(age=[2, 2], ill=[[], {}], size=["S", None]),
        [(2, object(), "S"), (2, None)],
        np.array([[2, "S"], [2, None]], dtype=object),
        pd.DataFrame({"size": ["S", None], "age": [2, 2]}),
    ):
        reports = load(blind().to_json(), random_state=1).report_many(records)
        np.testing.assert_array_equal(reports, expected)
    message = "lacks the column 'size'; the mechanism needs 'age', 'size'"
    with pytest.raises(ValueError, match=message):
        client.report({"age": 2, "ill": "no"})


ALONE = """
import sys
known = sys.stdlib_module_names | {allowed}
class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top not in known and not top.startswith("_sysconfigdata"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
import skrldp.client
assert "numpy" not in sys.modules
import numpy as np
rows = [(1, "no", "S"), (2, "yes", "S")]
for text in {texts!r}:
    fresh = skrldp.client.load(text)
    assert fresh.report(dict(zip(("age", "ill", "size"), rows[0]))) in range(15)
    assert fresh.report_many(rows).shape == (2,)
    moments = np.array(["2020-01-01T00:00:00.000000001"], "M8[ns]")
    for bad in (moments, [moments[0]], [1e400]):
        try:
            fresh.report_many({{"age": bad, "ill": ["no"], "size": ["S"]}})
        except ValueError as error:
            assert "does not know" in str(error), error
        else:
            raise AssertionError("reported")
    try:
        permanent = skrldp.client.load(text, permanent_key=bytes(range(32)))
        print(*permanent.report_many(rows * 20, ids=range(40)))
    except ImportError as error:
        print(error)
assert skrldp.client.ReportLimit.__name__ == "ReportLimit"
"""


@pytest.mark.parametrize("also", [(), ("cryptography", "cffi", "_cffi_backend")])
def test_numpy_is_all_it_needs(also):
    """Every other third-party module is refused; permanent reports need cryptography."""
    texts = [form().to_json() for form in FORMS.values()]
    code = ALONE.format(allowed={"numpy", "skrldp", *also}, texts=texts)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for text, said in zip(texts, done.stdout.splitlines(), strict=True):
        reports = load(text, permanent_key=bytes(range(32))).report_many(ROWS * 20, ids=range(40))
        permanent = " ".join(map(str, reports))
        assert (permanent if also else "computed from a key need the package 'crypto") in said


def test_every_report_has_a_stream_of_its_own(monkeypatch):
    """A stream must not be shared between threads, and a client may be."""
    made = []

    class Counted(RandomStream):
        def __init__(self, *arguments):
            made.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr("skrldp.client.clients.RandomStream", Counted)
    device = load(dense().to_json())
    rows, _ = rows_of(3)
    device.report(rows[0])
    device.report_many(rows)
    assert made == [(), ()]  # of the operating system's entropy


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (defaultdict(lambda: 1), "lacks the column 'age'"),
        (np.ones((3, 1)), r"has shape \(3, 1\), but is one row"),
        ((1, "no", np.array(["S"])), "column 'size' contains values that cannot be categories"),
    ],
)
def test_bad_records(record, message):
    """Those that JSON can hold are vectors of all readers (test_same_in_javascript.py)."""
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
