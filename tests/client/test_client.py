"""The client: raw records to reports, fresh or permanent, with NumPy alone.

Two routes: the sanitizers' own way from tables to cells, and here the client's. Statistical tests
have a fixed seed or key; each would fail right code with probability 1e-9 for a random one.
"""

import datetime
import math
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from client_records import (
    FORMS,
    KEY,
    ROWS,
    blind,
    by_name,
    dense,
    rows_of,
)
from conftest import ROOT, few_iterations
from hypothesis import given, settings
from hypothesis import strategies as st

import skrldp
from skrldp import (
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
    PrivacyLeakWarning,
)
from skrldp.client import load
from skrldp.design.closed_form import grr
from skrldp.sampling.random_bits import RandomStream
from skrldp.table.columns import Grouping
from skrldp.table.learned_categories import learn

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# Records are read as the sanitizer reads them


@pytest.mark.parametrize("form", FORMS)
def test_reports_are_the_mechanisms(form):
    mechanism = FORMS[form]()
    rows, cells = rows_of()
    expected = mechanism.sample(cells, random_state=5)
    shapes = [
        rows,
        [list(row) for row in rows],
        by_name(rows),
        [{**row, "more": object()} for row in by_name(rows)],
        dict(zip(("age", "ill", "size"), zip(*rows, strict=True), strict=True)),
        np.array(rows, dtype=object),
        pd.DataFrame(by_name(rows)),
        pd.DataFrame(by_name(rows)).astype({"ill": "category", "size": "category"}),
        pl.DataFrame(by_name(rows))[["size", "age", "ill"]],
        pa.table(pl.DataFrame(by_name(rows)).to_dict(as_series=False)),
    ]
    for records in shapes:
        found = load(mechanism.to_json(), random_state=5).report_many(records)
        np.testing.assert_array_equal(found, expected, err_msg=str(type(records)))
        assert found.dtype == expected.dtype == np.uint8


@pytest.mark.parametrize("form", FORMS)
def test_one_by_one_or_together(form):
    mechanism = FORMS[form]()
    rows, cells = rows_of(60)
    client = load(mechanism.to_json(), random_state=np.random.RandomState(3))
    stream = skrldp.sampling.random_bits.RandomStream(np.random.RandomState(3))
    codes = cells % 5 if form == "blind" else cells
    for number, (row, code) in enumerate(zip(rows, codes, strict=True)):
        record = [row, by_name([row])[0], np.array(row, dtype=object), pd.Series(by_name([row])[0])]
        found = client.report(record[number % 4])
        assert type(found) is int
        assert found == mechanism.form.sampler.sample([code], stream)[0]


CATEGORIES = st.one_of(
    st.text("abé1", max_size=2),
    st.integers(-3, 3),
    st.sampled_from([2**53, 2**53 + 1, -(2**63), 2**63, 2**64 - 1, 2**70, 0.5, -0.0, 1e300, 0.1]),
    st.floats(-2, 2),
    st.booleans(),
    st.none(),
    st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 1, 3)),
    st.datetimes(datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)),
    st.sampled_from(
        [
            datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=h)))
            for h in (0, 2)
        ]
    ),
    st.timedeltas(datetime.timedelta(0), datetime.timedelta(seconds=1)),
)


@given(st.lists(st.tuples(*[CATEGORIES] * 3), min_size=2, max_size=12), st.data())
@settings(max_examples=75)
def test_cells_are_those_of_the_table(rows, data):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pandas, for dates of several kinds in one column
            codec, _ = learn(rows, sensitive=[1])
            expected = codec.encode(rows).cells(codec.n_values)
    except (ValueError, TypeError):
        return  # a constant column: there is nothing to design
    names = [("a", False), ("b", True), ("c", False)]
    text = (
        Mechanism.from_blocks(grr(1.0, codec.n_cells), codec.secrets, codec.values)
        .named(None, names)
        .to_json()
    )
    reader = load(text)._reader
    np.testing.assert_array_equal(reader.cells(rows), expected)
    assert [reader.cell(row) for row in rows] == expected.tolist()


@given(
    st.lists(st.tuples(CATEGORIES, CATEGORIES), min_size=4, max_size=9),
    st.sampled_from(
        [{"unknown": True}, {"min_frequency": 2}, {"unknown": True, "min_frequency": 3}]
    ),
    st.sampled_from(["auto", "product"]),
)
@settings(max_examples=30, deadline=None)
def test_others_are_those_of_the_table(rows, grouping, categories):
    """Rare and unknown values and combinations, among the later rows too, or an error in both."""
    rows = [(a, place % 3, b) for place, (a, b) in enumerate(rows)]
    table = np.array(rows, dtype=object)  # NumPy would make floats of large numbers
    unknown = "other" if "unknown" in grouping else "error"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, for dates of several kinds in one column
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
    made = Mechanism.from_blocks(grr(1.0, codec.n_cells), codec.secrets, codec.values)
    made = made.named(None, [("a", False), ("b", True), ("c", False)])
    text = replace(made, others=codec.others).to_json()
    reader = load(text)._reader
    assert Mechanism.from_json(text).others == codec.others
    for row, cell in zip(rows, expected, strict=True):
        if cell == "error":
            with pytest.raises(ValueError, match="Nothing was reported"):
                reader.cell(row)
        else:
            assert reader.cell(row) == cell
    if "error" not in expected:
        assert reader.cells(rows).tolist() == expected


@pytest.mark.parametrize(
    ("known", "column", "places"),
    [
        ((0, 1), np.array([True, False]), [1, 0]),
        ((False, True), np.array([1.0, 0.0], dtype=np.float16), [1, 0]),
        ((0, 0.5), np.array([0.5, -0.0], dtype=">f4"), [1, 0]),
        ((3, 300), np.array([300, 3], dtype=np.uint16), [1, 0]),
        ((2**63, -1), np.array([2**63], dtype=np.uint64), [0]),
        ((2**53 + 1, 2**53), np.array([2**53, 2**53 + 1]), [1, 0]),
        ((2.0**70, 10**400, 0), np.array([2.0**70, 0.0]), [0, 2]),
        ((2**70, 10**400, 0), np.array([0]), [2]),
        ((None, 1), np.array([np.nan, 1.0]), [0, 1]),
        (("1", 1), np.array(["1"]), [0]),
        (("1", 1), np.array(["1", 1], dtype=object), [0, 1]),
        (("1", 1), [np.str_("1"), np.int8(1)], [0, 1]),
        (
            (None, "a"),
            ["a", None, math.nan, pd.NA, pd.NaT, np.datetime64("NaT", "s")],
            [1, 0, 0, 0, 0, 0],
        ),
        ((None, 2), pd.Series([2, None], dtype="Int8"), [1, 0]),
        ((None, 2**53 + 1), pl.Series([2**53 + 1, None]), [1, 0]),
        ((None, 2**53 + 1), pa.chunked_array([[2**53 + 1, None]]), [1, 0]),
        ((datetime.date(2020, 1, 1), 0), pl.Series([datetime.date(2020, 1, 1)]), [0]),
        ((datetime.datetime(2020, 1, 1), 0), np.array(["2020-01-01"], "datetime64[D]"), [0]),
        ((datetime.datetime(2020, 1, 1), None), np.array(["NaT", "2020-01-01"], "M8[ns]"), [1, 0]),
        ((datetime.timedelta(1), 1), np.array([1], "timedelta64[D]"), [0]),
        (
            (datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), 0),
            pd.Series(pd.to_datetime(["2020-01-01T02:00+02:00"])),
            [0],
        ),
        (
            (datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), 0),
            pl.Series([datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)]),
            [0],
        ),
    ],
)
def test_a_columns_values_compare_as_in_a_table(known, column, places):
    mechanism = Mechanism.from_matrix(
        np.ones((1, len(known))), ("s",), known, observe="nonsensitive"
    )
    reader = load(mechanism.named(None, [("s", True), ("u", False)]).to_json())._reader
    assert reader.cells({"u": column}).tolist() == places
    one_by_one = column.to_pylist() if isinstance(column, pa.ChunkedArray) else list(column)
    assert [reader.cell({"u": value}) for value in one_by_one] == places


@pytest.mark.parametrize(
    ("known", "column"),
    [
        ((1, 2), np.array([1.5])),
        ((2**53, 2), np.array([2**53 + 1])),
        ((0.1, 2), np.array([0.1], dtype=np.float32)),
        ((1, 2), np.array([np.nan])),
        ((1, 2), np.array([np.inf])),
        ((1, 2), ["1"]),
        (("1", "2"), np.array([1])),
        ((1, 2), np.array([1], "timedelta64[s]")),
        ((1, 2), [math.inf]),
        ((1, 2), [1j]),
        ((1, 2), [None]),
        ((255, 1), np.array([-1], dtype=np.int8)),
        ((datetime.datetime(2020, 1, 1), 0), np.array(["2020-01-01T00:00:00.000000001"], "M8[ns]")),
        ((datetime.datetime(2020, 1, 1, 1), 0), [datetime.date(2020, 1, 1)]),
        ((datetime.datetime(2020, 1, 1), 0), [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)]),
        ((datetime.datetime(2020, 1, 1), 0), np.array([2**62], "M8[s]")),
    ],
)
def test_what_is_unknown_is_never_reported(known, column):
    mechanism = Mechanism.from_matrix(
        np.ones((1, len(known))), ("s",), known, observe="nonsensitive"
    )
    client = load(mechanism.named(None, [("s", True), ("u", False)]).to_json())
    for call in (
        lambda: client.report_many({"u": column}),
        lambda: client.report({"u": column[0]}),
        lambda: client.report((column[0],)),
    ):
        with pytest.raises(
            ValueError, match=r"column 'u': the mechanism does not know .*Nothing was"
        ):
            call()


def test_256_values_of_one_secret():
    values = tuple(range(256))
    for observe in ("all", "nonsensitive"):
        mechanism = Mechanism.from_matrix(np.eye(256), (0,), values, observe=observe)
        client = load(mechanism.named(None, [("s", True), ("u", False)]).to_json())
        X = np.stack([np.zeros(256, int), np.arange(256)], axis=1)
        np.testing.assert_array_equal(client.report_many(X), np.arange(256))


def test_nothing_in_nothing_out():
    for form in FORMS.values():
        for key, ids in ((None, None), (KEY, [])):
            client = load(form().to_json(), permanent_key=key)
            for records in ([], (), np.empty((0, 3)), pd.DataFrame(columns=["age", "ill", "size"])):
                assert client.report_many(records, ids=ids).shape == (0,)


# The whole way


@pytest.mark.parametrize(
    ("observe", "n_sensitive", "library"),
    [
        ("all", 1, "polars"),
        ("all", 2, "pandas"),
        ("nonsensitive", 1, "numpy"),
        ("nonsensitive", 2, "polars"),
    ],
)
def test_from_fit_to_report(observe, n_sensitive, library):
    rng = np.random.default_rng(4)
    columns = {
        "ill": rng.random(400) < 0.3,
        "sex": np.array(["f", "m"])[rng.integers(0, 2, 400)],
        "visits": rng.integers(0, 3, 400),
    }
    frame = pd.DataFrame(columns)
    X = {"pandas": frame, "polars": pl.DataFrame(columns), "numpy": frame.to_numpy()}[library]
    place = list(range(n_sensitive))
    sanitizer = PolyOptSanitizer(
        1.0,
        sensitive=place,
        observe=observe,
        uncertainty=LikelihoodRatioSet(region="lower"),
        random_state=7,
    )
    with few_iterations(), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        sanitizer.fit(X)
    mechanism = sanitizer.mechanism_
    expected = np.ravel(sanitizer.set_output(transform="default").transform(X))
    client = load(mechanism.to_json(), random_state=7)
    assert client.digest == mechanism.digest
    assert client.claims == mechanism.claims and client.eps == sanitizer.certificate_.eps
    assert (client.secrets, client.values, client.symbols) == (
        mechanism.secrets, mechanism.values, mechanism.symbols,
    )  # fmt: skip
    assert client.columns == mechanism.columns and client.observe == observe
    np.testing.assert_array_equal(client.report_many(X), expected)
    record = dict(zip([name for name, _ in client.columns], frame.iloc[0], strict=True))
    assert load(mechanism.to_json()).report(record) in range(mechanism.shape[0])


# Secrets that are not to be looked at


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
        found = load(blind().to_json(), random_state=1).report_many(records)
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(
        ValueError, match="lacks the column 'size'; the mechanism needs 'age', 'size'"
    ):
        client.report({"age": 2, "ill": "no"})


# NumPy alone


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
