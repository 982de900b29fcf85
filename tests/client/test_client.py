"""The client: raw records to reports, fresh or permanent, with NumPy alone.

Two routes: the sanitizers' own way from tables to cells, and here the client's. Statistical tests
have a fixed seed or key; each would fail right code with probability 1e-9 for a random one.
"""

import copy
import datetime
import doctest
import hashlib
import hmac
import inspect
import itertools
import json
import math
import pickle
import re
import sqlite3
import subprocess
import sys
import warnings
from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import skrldp
from skrldp import (
    GRRSanitizer,
    Mechanism,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RobustMSESanitizer,
    SRRSanitizer,
)
from skrldp.client import load
from skrldp.client._client import Client
from skrldp.design.closed_form import grr, srr
from skrldp.sampling import RandomStream
from skrldp.table import Grouping, learn

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FALSE_ALARM = 1e-9
KEY = bytes(range(32))
COLUMNS = [("age", False), ("ill", True), ("size", False)]
SECRETS = ("no", "yes", None)
VALUES = ((1, "S"), (1, "M"), (2, "S"), (2, None), (3.5, "M"))  # not all combinations


def stochastic(seed, b, a):
    return np.random.default_rng(seed).dirichlet(np.full(b, 0.7), size=a).T


def dense():
    return Mechanism.from_matrix(stochastic(0, 4, 15), SECRETS, VALUES).named(None, COLUMNS)


def blind():
    mechanism = Mechanism.from_matrix(stochastic(1, 4, 5), SECRETS, VALUES, observe="nonsensitive")
    return mechanism.named(None, COLUMNS)


def blocks():
    return Mechanism.from_blocks(srr(1.0, 3, 5), SECRETS, VALUES).named(None, COLUMNS)


FORMS = {"dense": dense, "blind": blind, "blocks": blocks}


def rows_of(n=300, seed=2):
    """Records (age, ill, size), and their cells."""
    rng = np.random.default_rng(seed)
    s, u = rng.integers(0, 3, n), rng.integers(0, 5, n)
    rows = [(VALUES[j][0], SECRETS[i], VALUES[j][1]) for i, j in zip(s, u, strict=True)]
    return rows, s * 5 + u


def by_name(rows):
    return [dict(zip(("age", "ill", "size"), row, strict=True)) for row in rows]


# Records are read as the sanitizer reads them


def test_it_is_found_where_it_is_looked_for():
    code = "import skrldp; print(skrldp.client.load.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "load", done.stderr
    assert skrldp.client.load is load


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
    stream = skrldp.sampling._random_stream.RandomStream(np.random.RandomState(3))
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
    st.sampled_from([{"unknown": True}, {"min_frequency": 2}, {"unknown": True, "fraction": 0.5}]),
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
        ((2**53 + 1, 2**53), np.array([2.0**53]), [1]),
        ((2**70, 10**400, 0), np.array([2.0**70, 0.0]), [0, 2]),
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
        ((2**53 + 1, 2), np.array([2.0**53])),
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
        ((datetime.datetime(2020, 1, 1), 0), [datetime.date(2020, 1, 1)]),
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
            client = load(form().to_json(), memoize=key)
            for records in ([], (), np.empty((0, 3)), pd.DataFrame(columns=["age", "ill", "size"])):
                assert client.report_many(records, ids=ids).shape == (0,)


def test_without_column_names():
    mechanism = Mechanism.from_matrix(np.eye(4), ("a", "b"), (("x", 1), ("y", 2)))
    client = load(mechanism.to_json())
    assert client.columns == (("secret", True), ("value", False))
    assert client.report(("b", ("x", 1))) == 2
    assert client.report_many([{"secret": "a", "value": ("y", 2)}]).tolist() == [1]


# The whole way


@pytest.mark.parametrize(
    ("observe", "n_sensitive", "library"),
    [
        *itertools.product(["all"], [1], ["pandas", "polars", "numpy"]),
        *(("all", 2, "pandas"), ("nonsensitive", 1, "numpy"), ("nonsensitive", 2, "polars")),
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
        region="lower",
        random_state=7,
        time_limit=0.1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        sanitizer.fit(X)
    mechanism = sanitizer.mechanism_
    expected = np.ravel(sanitizer.set_output(transform="default").transform(X))
    client = load(mechanism.to_json(), random_state=7)
    assert client.digest == mechanism.digest
    assert client.guarantee == mechanism.guarantee and client.eps == sanitizer.certificate_.eps
    assert (client.secrets, client.values, client.symbols) == (
        mechanism.secrets, mechanism.values, mechanism.symbols,
    )  # fmt: skip
    assert client.columns == mechanism.columns and client.observe == observe
    np.testing.assert_array_equal(client.report_many(X), expected)
    record = dict(zip([name for name, _ in client.columns], frame.iloc[0], strict=True))
    assert load(mechanism.to_json()).report(record) in range(mechanism.shape[0])


def test_the_symbols_of_reports():
    sanitizer = RobustMSESanitizer(1.0).fit([["a", 1], ["a", 2], ["b", 1], ["b", 2]] * 30)
    client = load(sanitizer.mechanism_.to_json())
    assert client.symbols[client.report(("a", 1))] in (1, 2)
    client = load(GRRSanitizer().fit([["a", 1], ["b", 2]] * 9).mechanism_.to_json())
    assert client.symbols[client.report(("a", 1))] in client.symbols == (
        ("a", 1), ("a", 2), ("b", 1), ("b", 2),
    )  # fmt: skip
    assert load(blocks().to_json()).symbols == blocks().symbols


def chi_square(reports, weights, n_symbols):
    """P-value of the hypothesis that reports have given probabilities."""
    expected = np.asarray(weights) * len(reports)
    observed = np.bincount(reports, minlength=n_symbols)
    assert not observed[expected == 0].any()
    held = expected > 0
    return stats.chi2.sf(((observed - expected)[held] ** 2 / expected[held]).sum(), held.sum() - 1)


@pytest.mark.parametrize("form", FORMS)
def test_fresh_reports_have_the_distribution(form):
    mechanism = FORMS[form]()
    client = load(mechanism.to_json(), random_state=11)
    reports = client.report_many([(2, None, "S")] * 50_000)
    assert chi_square(reports, mechanism.matrix[:, 2 * 5 + 2], mechanism.shape[0]) > FALSE_ALARM
    fresh = load(mechanism.to_json())
    row = [(2, None, "S")] * 500
    assert np.any(fresh.report_many(row) != fresh.report_many(row))
    assert len({fresh.report(row[0]) for _ in range(300)}) > 1


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


# Bad records


ROWS = [(1, "no", "S"), (2, "yes", "S")]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"age": 1, "size": "S"},
            "the record lacks the column 'ill'; the mechanism needs 'age', 'ill'",
        ),
        ({}, "lacks the column 'age'"),
        (defaultdict(lambda: 1), "lacks the column 'age'"),
        (
            (1, "no"),
            "the record has 2 values, but the mechanism has 3 columns: 'age', 'ill', 'size'",
        ),
        ((1, "no", "S", 4), "has 4 values"),
        ("abc", "the record is of type str; it must be a dict"),
        (5, "is of type int"),
        (None, "is of type NoneType"),
        (np.ones((3, 1)), r"has shape \(3, 1\), but is one row"),
        (
            (1, "perhaps", "S"),
            r"column 'ill': .* the value \(not shown\) of record 0 .*knows 'no', 'yes', None",
        ),
        ((9, "no", "S"), r"column 'age': .*not shown.*knows 1, 2, 3\.5"),
        ((1, "no", "XL"), r"column 'size': .*not shown.* knows 'S', 'M', None"),
        ((1, "no", None), r"columns 'age', 'size': .*not shown.*each value, but not together"),
        ((1, "no", ["S"]), "column 'size' holds values that cannot be categories"),
        ((1, "no", np.array(["S"])), "column 'size' holds values that cannot be categories"),
    ],
)
def test_bad_records(record, message):
    client = load(dense().to_json())
    with pytest.raises(ValueError, match=message) as caught:
        client.report(record)
    assert str(caught.value).endswith("Nothing was reported.")


def test_messages_are_short_whatever_was_loaded():
    """Names and categories are somebody else's text, and values a person's."""
    long = "x" * 10**6
    mechanism = Mechanism.from_matrix(np.full((1, 4), 1.0), (f"s{long}", "no"), (f"u{long}", "no"))
    client = load(mechanism.named(None, [(f"S{long}", True), (f"U{long}", False)]).to_json())
    for record in ({}, (1,), (long, "no"), ("no", long), ("no", [long]), 5):
        for report, what in ((client.report, record), (client.report_many, [record])):
            with pytest.raises(ValueError) as caught:
                report(what)
            assert len(str(caught.value)) < 3000


def test_unknown_values_are_counted_and_placed():
    client = load(dense().to_json())
    for bad in ([(1, "?", "S"), (1, "!", "S")], [(1, "no", "?"), (1, "no", "!")]):
        message = r"value \(not shown\) of records 2, 3 \(2 of 4 records\)"
        with pytest.raises(ValueError, match=message) as caught:
            client.report_many([*ROWS, *bad])
        assert "?" not in str(caught.value) and "!" not in str(caught.value)
    many = np.array([[1, "no", f"size {n}"] for n in range(1000)], dtype=object)
    with pytest.raises(ValueError, match=r"records 0, .*, 7, \.\.\. \(1,000 of 1,000") as caught:
        client.report_many(many)
    assert "size 7" not in str(caught.value)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([*ROWS, (1, "no")], "record 2 has 2 values"),
        ([*ROWS, "abc"], "record 2 is of type str"),
        ([*by_name(ROWS), {"age": 1}], "record 2 lacks the column 'ill'"),
        ({"age": [1], "ill": ["no", "no"], "size": ["S"]}, "columns differ in length"),
        ({"age": 1, "ill": "no", "size": "S"}, "column 'age' is no column"),
        ({"age": [1], "ill": ["no"]}, "the table lacks the column 'size'"),
        (pd.DataFrame({"age": [1]}), "the table lacks the column 'ill'"),
        (
            pd.DataFrame([[1, 1, "no", "S"]], columns=["age", "age", "ill", "size"]),
            "'age' is no column",
        ),
        (pl.DataFrame(by_name(ROWS)).lazy(), "a data frame with its rows in memory"),
        (np.zeros((2, 4)), "the array has 4 values, but the mechanism has 3 columns"),
        (np.zeros(3), "an array of records must have shape"),
        (np.zeros((2, 3), dtype=complex), "dtype complex128"),
        (np.ma.masked_array(np.zeros((2, 3))), "masked arrays are not supported"),
        ({"age": np.ma.masked_array([1]), "ill": ["no"], "size": ["S"]}, "masked arrays"),
        ((row for row in ROWS), "records must be a list of dicts or tuples"),
        ("abc", "records must be a list"),
        (7, "records must be a list"),
        (None, "records must be a list"),
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
    with pytest.raises(ValueError, match="id is of no use"):
        client.report_many(ROWS, ids=[1, 2])
    np.testing.assert_array_equal(client.report_many(ROWS * 50), other.report_many(ROWS * 50))


def test_rows_of_a_database():
    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    row = database.execute("select 1 as age, 'no' as ill, 'S' as size").fetchone()
    database.close()
    assert load(dense().to_json()).report(row) in range(4)


# The same person twice


def permanent(mechanism, key=KEY):
    return load(mechanism.to_json(), memoize=key)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_person_gives_the_same_report(form):
    mechanism = FORMS[form]()
    rows, _ = rows_of(5000)
    ids = [f"person {n}" for n in range(5000)]
    client = permanent(mechanism)
    reports = client.report_many(rows, ids=ids)
    np.testing.assert_array_equal(permanent(mechanism).report_many(rows, ids=ids), reports)
    order = np.random.default_rng(0).permutation(5000)
    shuffled = client.report_many([rows[n] for n in order], ids=[ids[n] for n in order])
    np.testing.assert_array_equal(shuffled, reports[order])
    for n in (0, 1, 4095, 4096, 4999):
        assert client.report(rows[n], id=ids[n]) == reports[n]
    assert len(set(client.report_many([rows[0]] * 9, ids=[ids[0]] * 9).tolist())) == 1


def independent(first, second, n):
    """P-value of the hypothesis that two sequences of symbols are independent."""
    table = np.zeros((n, n))
    np.add.at(table, (first, second), 1)
    table = table[np.ix_(table.any(axis=1), table.any(axis=0))]
    return stats.chi2_contingency(table).pvalue


@pytest.mark.parametrize("form", FORMS)
def test_permanent_reports_have_the_distribution_of_fresh_ones(form):
    """Over persons; and independent between records, keys and mechanisms of one person."""
    mechanism, n = FORMS[form](), 20_000
    b, ids = mechanism.shape[0], range(n)
    client = permanent(mechanism)
    base = client.report_many([(2, None, "S")] * n, ids=ids)
    assert chi_square(base, mechanism.matrix[:, 2 * 5 + 2], b) > FALSE_ALARM
    other = mechanism.named(None, [("age", False), ("sick", True), ("size", False)])
    for reports in (
        client.report_many([(1, None, "M")] * n, ids=ids),  # the record changed
        permanent(mechanism, KEY[::-1]).report_many([(2, None, "S")] * n, ids=ids),
        permanent(other).report_many([(2, None, "S")] * n, ids=ids),
        client.report_many([(2, None, "S")] * n, ids=[str(person) for person in ids]),
    ):
        assert independent(base, reports, b) > FALSE_ALARM
    assert independent(base, base, b) < FALSE_ALARM


def test_a_blind_mechanisms_permanent_report_is_of_u_alone():
    client = permanent(blind())
    assert {client.report((2, s, "S"), id=b"x") for s in ("no", "yes", None)} == {
        client.report((2, "S"), id=b"x")
    }


@pytest.mark.parametrize("form", FORMS)
def test_the_bits_are_those_that_are_described(form):
    """The sampler's bits are the bytes of HMAC-SHA256, worked out here by the definition."""
    mechanism = FORMS[form]()
    digest = bytes.fromhex(mechanism.digest)
    domain = b"skrldp permanent report, version 1\0"
    derived = hmac.new(KEY, domain + digest, hashlib.sha256).digest()
    written = {
        "é": b"s\xc3\xa9",
        b"\x00": b"b\x00",
        -12: b"i-12",
        2**70: b"i1180591620717411303424",
    }
    rows, cells = rows_of(40)
    cells = cells % 5 if form == "blind" else cells
    for row, cell in zip(rows, cells, strict=True):
        for person, octets in written.items():
            message = int(cell).to_bytes(8, "big") + octets
            tape = list(hmac.new(derived, message, hashlib.sha256).digest())

            def fill(out, tape=tape):
                octets = bytes(tape[: out.itemsize])
                del tape[: out.itemsize]
                out[...] = int.from_bytes(octets, "little")

            expected = mechanism.form.sampler.sample([cell], SimpleNamespace(fill=fill))[0]
            assert permanent(mechanism).report(row, id=person) == expected


def test_permanent_reports_outlive_releases():
    """If these reports change, everyone's do: that would be another version of the domain."""
    matrix = [[0.5, 0.25, 0.125, 0.25], [0.25, 0.25, 0.75, 0.5], [0.25, 0.5, 0.125, 0.25]]
    mechanism = Mechanism.from_matrix(matrix, ("a", "b"), (0, 1)).named(
        None, [("s", True), ("u", False)]
    )
    rows = [("b", 0)] * 24
    reports = permanent(mechanism).report_many(rows, ids=range(24))
    assert "".join(map(str, reports)) == "121110111001010010011110"


def test_ids_are_told_apart_by_type():
    client = permanent(dense())
    rows, n = [(2, None, "S")], 2000
    numbers = client.report_many(rows * n, ids=range(n))
    for ids in ([str(i) for i in range(n)], [str(i).encode() for i in range(n)]):
        assert np.any(client.report_many(rows * n, ids=ids) != numbers)
    for ids in (np.arange(n), pd.Series(range(n)), [np.int8(i % 100) for i in range(100)]):
        found = client.report_many(rows * len(ids), ids=ids)
        np.testing.assert_array_equal(found, numbers[: len(ids)])


@pytest.mark.parametrize("bad", [None, True, 1.0, ("a",), "\ud800", math.nan])
def test_bad_ids(bad):
    client = permanent(dense())
    with pytest.raises(ValueError, match=r"an id must be|surrogate|need an id"):
        client.report(ROWS[0], id=bad)
    with pytest.raises(ValueError, match=r"an id must be|surrogate"):
        client.report_many(ROWS, ids=["fine", bad])


def test_ids_go_with_permanent_reports():
    client = permanent(dense())
    with pytest.raises(ValueError, match="need an id for each record"):
        client.report_many(ROWS)
    with pytest.raises(ValueError, match="2 records, but 3 ids"):
        client.report_many(ROWS, ids=[1, 2, 3])
    with pytest.raises(ValueError, match="one id for each record, not a single str"):
        client.report_many(ROWS, ids="ab")
    with pytest.raises(ValueError, match="make them permanent by load"):
        load(dense().to_json()).report(ROWS[0], id="me")


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (bytes(15), ValueError, "at least 16 bytes, got 15: make one with secrets.token_bytes"),
        (b"", ValueError, "got 0"),
        ("a" * 32, TypeError, "a key of bytes, got str"),
        (True, TypeError, "got bool"),
        (bytearray(32), TypeError, "got bytearray"),
    ],
)
def test_bad_keys(key, error, message):
    with pytest.raises(error, match=message):
        load(dense().to_json(), memoize=key)


def test_another_mechanism_is_refused():
    mechanism = dense()
    digest = mechanism.digest
    assert load(mechanism.to_json(), digest=digest).digest == digest
    assert load(mechanism.to_json().encode(), digest=digest, memoize=KEY).digest == digest
    text = mechanism.to_json().replace('"S"', '"s"')
    for wrong in (digest, digest.upper(), "", digest[:-1], f"{digest} "):
        with pytest.raises(ValueError, match=r"this is another mechanism: its digest is [0-9a-f]"):
            load(text, digest=wrong)
    for wrong in (digest.encode(), 0, False, [digest]):
        with pytest.raises(TypeError, match="digest must be a str"):
            load(mechanism.to_json(), digest=wrong)


def test_a_key_leaves_nothing_to_chance():
    assert load(dense().to_json(), memoize=bytes(16)).report(ROWS[0], id=1) in range(4)
    with pytest.raises(ValueError, match="take no random_state"):
        load(dense().to_json(), memoize=KEY, random_state=0)


def test_the_key_is_not_written_with_the_client():
    """Pickles are stored and sent; a permanent client is loaded anew, with its key."""
    client = permanent(dense())
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="load it again, with its key"):
            pickle.dumps(client, protocol)
    twin = copy.deepcopy(client)  # which stays in memory
    assert twin.report(ROWS[0], id=1) == client.report(ROWS[0], id=1)
    fresh = pickle.loads(pickle.dumps(load(dense().to_json())))
    assert fresh.digest == client.digest and fresh.report(ROWS[0]) in range(4)


def test_a_client_in_words():
    client = permanent(dense())
    assert repr(client) == f"Client(4 permanent reports, no claim, digest {client.digest[:12]})"
    assert "KEY" not in repr(client) and KEY.hex() not in repr(vars(client))
    assert isinstance(client, Client) and client.eps is None
    assert "Client(15 fresh reports" in repr(load(blocks().to_json()))


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
text = {text!r}
rows = [(1, "no", "S"), (2, "yes", "S")]
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
permanent = skrldp.client.load(text, memoize=bytes(32))
assert skrldp.client.FreshReports.__name__ == "FreshReports"
print(*permanent.report_many(rows * 20, ids=range(40)))
"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("also", [(), ("cryptography", "cffi", "_cffi_backend")])
def test_numpy_is_all_it_needs(form, also):
    """Every other third-party module is refused; cryptography is used where it is there."""
    text = FORMS[form]().to_json()
    code = ALONE.format(allowed={"numpy", "skrldp", *also}, text=text)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    reports = load(text, memoize=bytes(32)).report_many(ROWS * 20, ids=range(40))
    assert done.stdout.split() == [str(report) for report in reports]


# The standard library alone


def reader():
    names = {"__name__": "reader"}
    exec((ROOT / "examples" / "reader.py").read_text(encoding="utf-8"), names)
    return SimpleNamespace(**names)


def tiny(form):
    """Mechanisms of few bits, whose draws can all be tried."""
    document = json.loads(FORMS[form]().to_json())
    if form == "blocks":
        document.update(denominator_bits=6, blocks=[64 - 4 * 3 - 2 * 8 - 8 * 1, 3, 8, 1])
        return document, 6
    rng = np.random.default_rng(0)
    n_symbols, width = np.shape(document["weights"])
    document["weights"] = (rng.multinomial(64, np.ones(n_symbols) / 4, size=width).T << 28).tolist()
    return document, 6


@pytest.mark.parametrize("form", FORMS)
def test_sixty_lines_sample_exactly(form):
    """Every draw there is, in steps where all weights are multiples of a step."""
    document, bits = tiny(form)
    mechanism = Mechanism.from_json(json.dumps(document))
    sixty = reader()
    step = 2 ** (mechanism.denominator_bits - bits)
    doc = sixty.load(json.dumps(document))
    rows, cells = rows_of(40)
    for record, cell in zip(by_name(rows), cells, strict=True):
        counts = [0] * mechanism.shape[0]
        for draw in range(2**bits):
            first = sixty.report(doc, record, lambda n, d=draw: d * step)
            assert first == sixty.report(doc, record, lambda n, d=draw: (d + 1) * step - 1)
            counts[first] += step
        assert counts == mechanism.weights[:, cell].tolist()


def test_sixty_lines_run_by_themselves():
    lines = (ROOT / "examples" / "reader.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    record = json.dumps({"age": 1, "ill": None, "size": "S"})
    for form in FORMS:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(ROOT / "examples" / "reader.py"), record],
            input=FORMS[form]().to_json().encode(),
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) in range(FORMS[form]().shape[0])


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d.update(version=4),
        lambda d: d["weights"][0].__setitem__(0, d["weights"][0][0] + 1),
        lambda d: d["weights"].pop(),
        lambda d: d["weights"][1].pop(),
        lambda d: [row.pop() for row in d["weights"]],
        lambda d: d["weights"][0].__setitem__(0, float(d["weights"][0][0])),
        lambda d: d["weights"].append([-w for w in d["weights"][0]]),
        lambda d: d.update(weights=[]),
    ],
)
def test_sixty_lines_check(damage):
    document = json.loads(dense().to_json())
    damage(document)
    with pytest.raises(ValueError, match=r"mechanism|weights|zip"):
        reader().load(json.dumps(document))


def test_sixty_lines_refuse_what_is_unknown():
    sixty, doc = reader(), json.loads(dense().to_json())
    for record in ({"age": 1, "ill": "?", "size": "S"}, {"age": 9, "ill": "no", "size": "S"}):
        with pytest.raises(ValueError, match="not in list"):
            sixty.report(doc, record)
    with pytest.raises(KeyError):
        sixty.report(doc, {"age": 1, "ill": "no"})
    assert "randbelow" in str(inspect.signature(sixty.report))


# The page about it


def blocks_of(language):
    page = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


def test_the_pages_code_runs_as_printed():
    session = "\n".join(blocks_of("python"))
    test = doctest.DocTestParser().get_doctest(session, {}, "client.md", "client.md", 0)
    assert len(test.examples) > 20
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_pages_json_is_a_mechanism():
    (text,) = blocks_of("json")
    mechanism = Mechanism.from_json(text)
    canonical = json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)
    assert mechanism.to_json() == canonical
    X = pd.DataFrame({"ill": ["no", "no", "yes", "yes"], "visits": ["rare", "often"] * 2})
    made = (
        SRRSanitizer(eps=1.0, sensitive="ill").fit(X, sample_weight=[70, 100, 260, 570]).mechanism_
    )
    assert np.abs(made.weights - mechanism.weights).max() <= 16  # as libraries compute exp
    assert (made.columns, made.cells, made.symbols) == (
        mechanism.columns, mechanism.cells, mechanism.symbols,
    )  # fmt: skip


def test_the_page_names_every_field_in_the_canonical_order():
    page = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
    named = re.findall(r"`(?:…)?(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)))
    (text,) = blocks_of("json")
    for document in [json.loads(text), *(json.loads(form().to_json()) for form in FORMS.values())]:
        fields = [*document, *document.pop("guarantee", {})]
        assert sorted(fields, key=named.index) == fields


def test_every_report_has_a_stream_of_its_own(monkeypatch):
    """A stream must not be shared between threads, and a client may be."""
    made = []

    class Counted(RandomStream):
        def __init__(self, *arguments):
            made.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr("skrldp.client._client.RandomStream", Counted)
    device = load(dense().to_json())
    rows, _ = rows_of(3)
    device.report(rows[0])
    device.report_many(rows)
    assert made == [(), ()]  # of the operating system's entropy
