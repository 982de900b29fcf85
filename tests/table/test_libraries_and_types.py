"""Tables of every library and type are read alike, and decoded into what they were."""

import datetime as dt
import math
import pickle
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import polars.testing as polars_testing
import pyarrow as pa
import pytest
from survey_table import NAN, SURVEY, learn_codec

from skrldp.table.codec import CellCodec

UTC = dt.UTC
DAY = dt.datetime(2024, 2, 29, 12, 30)
NIGHT = dt.datetime(2024, 10, 27, 2, 30)


def encode(codec: CellCodec, X) -> np.ndarray:
    return codec.encode(X).cells(codec.n_values)


def pandas_frame(dtype, values) -> Callable:
    def make() -> pd.DataFrame:
        index = pd.Index(np.arange(3 * len(values))[::-1] * 2, name="row")
        series = pd.Series(values * 3, dtype=dtype, index=index)
        return pd.DataFrame({"u": series, "s": np.arange(len(series)) % 2 == 0})

    return make


def polars_frame(dtype, values) -> Callable:
    series = pl.Series(values * 3, dtype=dtype)
    return lambda: pl.DataFrame({"u": series, "s": ["b", "a", "b"] * len(values)})


def arrow_table(dtype, values) -> Callable:
    column = pa.array(values * 3, type=dtype)
    if isinstance(column, pa.DictionaryArray):  # pyarrow 15 loses whether it is ordered
        parts = column.indices, column.dictionary
        column = pa.DictionaryArray.from_arrays(*parts, ordered=dtype.ordered)
    return lambda: pa.table({"u": column, "s": ["b", "a", "b"] * len(values)})


def array(values, dtype) -> Callable:
    def make() -> np.ndarray:
        return np.array([[v, values[i % 2]] for i, v in enumerate(values * 3)], dtype=dtype)

    return make


SIZES = pd.CategoricalDtype(["small", "medium", "large", "unused"], ordered=True)
COLOURS = pd.CategoricalDtype(["red", "blue", "green"])
BINS = pd.CategoricalDtype(pd.interval_range(0, 3))
DAYS = pd.CategoricalDtype(pd.DatetimeIndex([NIGHT, DAY]))
PARIS_DAYS = pd.CategoricalDtype(DAYS.categories.tz_localize("Europe/Paris", ambiguous=False))

ORDERED = pa.dictionary(pa.int8(), pa.string(), ordered=True)

TABLES = {
    "pandas category": pandas_frame(COLOURS, ["green", "red", None]),
    "pandas ordered": pandas_frame(SIZES, ["medium", "small", "large"]),
    "pandas intervals": pandas_frame(BINS, list(BINS.categories)[::-1]),
    "pandas category of int": pandas_frame(pd.CategoricalDtype([3, 1, 2]), [1, 3, None]),
    "pandas category of dates": pandas_frame(DAYS, list(DAYS.categories)),
    "pandas category of zoned dates": pandas_frame(PARIS_DAYS, list(PARIS_DAYS.categories)),
    "pandas str": pandas_frame(str, ["b", "a", "c"]),
    "pandas string": pandas_frame("string", ["b", "a", None]),
    "pandas string pyarrow": pandas_frame("string[pyarrow]", ["b", "a", None]),
    "pandas pyarrow int": pandas_frame("int64[pyarrow]", [1, 2, None]),
    "pandas Int64": pandas_frame("Int64", [2**53 + 1, 2**53, None]),
    "pandas UInt8": pandas_frame("UInt8", [200, 3, 7]),
    "pandas boolean": pandas_frame("boolean", [True, None, False]),
    "pandas uint64": pandas_frame("uint64", [2**64 - 1, 0, 1]),
    "pandas float64": pandas_frame("float64", [1.5, NAN, -1e300]),
    "pandas float32": pandas_frame("float32", [0.1, NAN, 3.0]),
    "pandas object": pandas_frame(object, ["b", None, "a"]),
    "pandas object NaN": pandas_frame(object, ["b", NAN, "a"]),
    "pandas mixed": pandas_frame(object, ["1", 1, 2.5, dt.date(2024, 1, 1), (1, 2), b"x", pd.NA]),
    "pandas datetime": pandas_frame("datetime64[s]", [DAY, None, NIGHT]),
    "pandas nanoseconds": pandas_frame("datetime64[ns]", [pd.Timestamp(1), DAY, pd.NaT]),
    "pandas zone": pandas_frame("datetime64[ns, UTC]", [DAY, NIGHT, pd.NaT]),
    "pandas timedelta": pandas_frame("timedelta64[ns]", [pd.Timedelta(1), dt.timedelta(1), None]),
    "pandas period": pandas_frame("period[M]", [pd.Period("2024-01"), None, pd.Period("2023-12")]),
    "polars String": polars_frame(pl.String, ["b", "a", None]),
    "polars Categorical": polars_frame(pl.Categorical, ["b", "a", None]),
    "polars Enum": polars_frame(pl.Enum(["z", "b", "a"]), ["b", "a", None]),
    "polars Boolean": polars_frame(pl.Boolean, [True, None, False]),
    "polars Int64": polars_frame(pl.Int64, [2**53 + 1, None, 2**53]),
    "polars NaN": polars_frame(pl.Float64, [0.5, NAN, 1.0]),
    "polars Decimal": polars_frame(pl.Decimal(10, 2), [Decimal("0.10"), None, Decimal("2.00")]),
    "polars Date": polars_frame(pl.Date, [DAY.date(), None, NIGHT.date()]),
    "polars Time": polars_frame(pl.Time, [DAY.time(), None, NIGHT.time()]),
    "polars Datetime ns": polars_frame(pl.Datetime("ns"), [DAY, None, NIGHT]),
    "polars Datetime zone": polars_frame(
        pl.Datetime("us", "UTC"),
        [DAY.replace(tzinfo=UTC), None, NIGHT.replace(tzinfo=UTC)],
    ),
    "polars Duration": polars_frame(pl.Duration("ms"), [dt.timedelta(1), None]),
    "pyarrow string": arrow_table(pa.string(), ["b", "a", None]),
    "pyarrow dictionary": arrow_table(pa.dictionary(pa.int8(), pa.string()), ["b", "a", None]),
    "pyarrow ordered dictionary": arrow_table(ORDERED, ["b", "a", None]),
    "pyarrow int64": arrow_table(pa.int64(), [2**53 + 1, 2**53, None]),
    "pyarrow float": arrow_table(pa.float32(), [0.1, None, 2.0]),
    "pyarrow date": arrow_table(pa.date32(), [DAY.date(), NIGHT.date(), None]),
    "pyarrow timestamp": arrow_table(pa.timestamp("ns"), [pd.Timestamp(1), DAY, None]),
    "pyarrow zone": arrow_table(pa.timestamp("us", "UTC"), [DAY.replace(tzinfo=UTC), None]),
    "numpy int": array([3, -1, 2], np.int16),
    "numpy big-endian": array([3, -1, 2], ">i4"),
    "numpy float": array([1.5, -0.0, NAN], float),
    "numpy longdouble": array([1.5, 0.25, NAN], np.longdouble),
    "numpy bool": array([True, False], bool),
    "numpy str": array(["b", "aa", ""], np.str_),
    "numpy bytes": array([b"b", b"aa"], np.bytes_),
    "numpy object": array(["b", 1, None, 2.5], object),
    "numpy object NaN": array(["b", NAN, 2.5], object),
    "numpy datetime": array(["2024-02-29", "NaT", "1969-01-01"], "datetime64[D]"),
    "numpy nanoseconds": array(["2024-02-29", "1970-01-01T00:00:00.000000001"], "datetime64[ns]"),
    "numpy timedelta": array([1, 2], "timedelta64[h]"),
}


# Levels of column u in the order of the dtype, used or not.
DECLARED = {
    "pandas category": ["red", "blue", "green"],
    "pandas ordered": ["small", "medium", "large", "unused"],
    "pandas intervals": list(BINS.categories),
    "pandas category of int": [3, 1, 2],
    "pandas category of dates": [NIGHT, DAY],
    "pandas category of zoned dates": [
        day.to_pydatetime() for day in PARIS_DAYS.categories.tz_convert("UTC")
    ],
    "polars Enum": ["z", "b", "a"],
    "pyarrow ordered dictionary": ["b", "a"],
    "pandas boolean": [False, True],
    "polars Boolean": [False, True],
}


ONLY_PANDAS = (
    "pandas mixed",
    "pandas intervals",
    "pandas period",
    "pandas category of zoned dates",  # older pyarrow drops the zone
)


def assert_same(result, expected) -> None:
    assert type(result) is type(expected)
    if isinstance(expected, np.ndarray):
        assert result.dtype == expected.dtype.newbyteorder("=") or result.dtype == expected.dtype
        if expected.dtype == object:  # numpy finds no NaN equal to another in object arrays
            assert repr(result.tolist()) == repr(expected.tolist())
        else:
            np.testing.assert_array_equal(result, expected)
    elif isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(result, expected, check_freq=False)
    elif hasattr(expected, "schema") and type(expected).__module__.startswith("pyarrow"):
        assert result.schema.equals(expected.schema)
        assert result.to_pylist() == expected.to_pylist()
    else:
        polars_testing.assert_frame_equal(result, expected, categorical_as_str=True)


@pytest.mark.parametrize("name", TABLES)
def test_decoding_gives_back_what_was_encoded(name):
    X = TABLES[name]()
    codec = learn_codec(X, sensitive=-1)
    cells = encode(codec, X)
    assert cells.dtype == np.uint8
    assert_same(codec.decode(cells, like=X), X)
    copy = pickle.loads(pickle.dumps(codec))
    assert copy == codec
    assert_same(copy.decode(copy.encode(X).cells(copy.n_values), like=X), X)
    part = X[:, :1] if isinstance(X, np.ndarray) else getattr(X, "select", X.__getitem__)(["u"])
    assert_same(codec.decode(cells, like=X, part="nonsensitive"), part)


@pytest.mark.parametrize("name", TABLES)
def test_alphabets_are_plain_ordered_and_missing_comes_last(name):
    """In the order that the dtype declares; sorted if it declares none."""
    codec = learn_codec(TABLES[name](), sensitive=-1)
    for column in codec.columns:
        present = [value for value in column.categories if value is not None]
        assert not any(isinstance(value, np.generic) for value in present)
        assert None not in column.categories[:-1]
        declared = DECLARED.get(name) if column.name == "u" else None
        if declared is not None:
            assert present == declared
        elif "mixed" not in name and "object" not in name:
            assert present == sorted(present)
        assert len(set(column.categories)) == len(column.categories)


@pytest.mark.parametrize("name", [name for name in TABLES if not name.startswith("numpy")])
def test_a_frame_reads_the_same_in_every_library(name):
    """A codec fitted on one library encodes what the others make of the same table."""
    if name in ONLY_PANDAS:
        pytest.skip("only pandas has this dtype")
    X = TABLES[name]()
    codec = learn_codec(X, sensitive="s")
    expected = encode(codec, X)
    if isinstance(X, pd.DataFrame):
        arrow = pa.Table.from_pandas(X, preserve_index=False)
        others = [arrow]
        if "category of" not in name:  # older polars have categories of strings only
            others.append(pl.from_arrow(arrow))
    elif isinstance(X, pl.DataFrame):
        others = [X.to_arrow()]
    else:
        others = [pl.from_arrow(X)]
    for other in others:
        np.testing.assert_array_equal(encode(codec, other), expected)
        decoded = codec.decode(expected, like=other)
        assert type(decoded) is type(other)
        np.testing.assert_array_equal(encode(codec, decoded), expected)


def test_numbers_match_by_value_and_strings_never():
    codec = learn_codec(pd.DataFrame({"s": [0, 1, 0, 1], "u": [0, 1, 2, 2]}))
    for dtype in ("float64", "int8", "Int64", "Float32", object):
        X = pd.DataFrame({"s": [1, 0], "u": [2, 0]}).astype(dtype)
        assert encode(codec, X).tolist() == [5, 0]
    assert encode(codec, np.array([[True, False]])).tolist() == [3]
    assert encode(codec, np.array([[0.0, -0.0]])).tolist() == [0]
    with pytest.raises(ValueError, match=r"column 's' has a value unseen in fit"):
        codec.encode(pd.DataFrame({"s": ["1", "0"], "u": [2, 0]}))


def test_arrays_and_frames_stand_in_for_each_other():
    frame = pd.DataFrame({"s": ["n", "y", "n"], "u": ["a", "b", "b"]})
    values = frame.to_numpy(dtype=object)
    by_frame, by_array = learn_codec(frame), learn_codec(values)
    assert encode(by_frame, values).tolist() == encode(by_array, frame).tolist() == [0, 3, 1]
    assert_same(by_frame.decode([0, 3, 1], like=values), values)
    pd.testing.assert_frame_equal(by_array.decode([0, 3, 1], like=frame), frame)


def test_moments_are_instants():
    """The hour that the clocks repeat in autumn is two hours, and zones do not matter."""
    hours = pd.date_range("2024-10-27 00:30", periods=3, freq="h", tz="UTC")
    frame = pd.DataFrame({"s": [0, 1, 1], "u": hours.tz_convert("Europe/Paris")})
    codec = learn_codec(frame)
    assert codec.n_values == 3
    assert codec.values[0] == dt.datetime(2024, 10, 27, 0, 30, tzinfo=UTC)
    assert encode(codec, frame.assign(u=hours)).tolist() == [0, 4, 5]
    pd.testing.assert_frame_equal(codec.decode([0, 4, 5], like=frame), frame)


def test_mixed_types_sort_by_type_then_text():
    codec = learn_codec([["n", "x"], ["y", 3], ["y", None], ["n", 10], ["n", 2.5]])
    assert codec.values == (2.5, 10, 3, "x", None)


def test_given_categories_keep_their_order_and_combine():
    codec = learn_codec(SURVEY, sensitive=["s", "t"], categories={"s": ["y", "n", "?"]})
    assert codec.columns[1].categories == ("y", "n", "?")
    assert codec.secrets == tuple((s, t) for s in "yn?" for t in (1, 2))
    assert codec.values == (("x", 1), ("y", 1), ("y", 2))  # U had none given
    by_list = learn_codec(
        SURVEY, sensitive=["s", "t"], categories=["auto", np.array(["y", "n", "?"]), "auto", "auto"]
    )
    assert by_list == codec


def test_given_categories_that_the_dtype_cannot_hold():
    frame = pd.DataFrame({"s": pd.Categorical(["n", "y"]), "u": [1, 2]})
    codec = learn_codec(frame, categories={"s": ["n", "y", "?"], "u": [1, 2, None]})
    back = codec.decode(range(9), like=frame)
    assert back["s"].dtype == pd.CategoricalDtype(["n", "y", "?"])
    assert back["u"].tolist()[:2] == [1, 2] and math.isnan(back["u"][2])

    ints = np.zeros((1, 2), dtype=int)
    for given, row in (([1, 2, 2.5], [0, 2.5]), ([1, 2, "three"], [0, "three"])):
        array = learn_codec(np.array([[0, 1], [1, 2]]), categories=["auto", given])
        assert array.decode([2, 0], like=ints).tolist() == [row, [0, 1]]


def test_given_categories_in_polars():
    enum = pl.Enum(["n", "y"])
    frame = pl.DataFrame({"s": ["n", "y"], "u": [1, 2]}, schema={"s": enum, "u": pl.Int64})
    codec = learn_codec(frame, categories={"s": ["?", "n", "y"], "u": [1.0, 2.0, 3]})
    back = codec.decode(range(9), like=frame)
    assert back.schema == {"s": pl.Enum(["n", "y", "?"]), "u": pl.Int64}
    assert encode(codec, back).tolist() == list(range(9))
    mixed = learn_codec(frame, categories={"u": [1, 2, "three"]})
    with pytest.raises(ValueError, match="no polars column can hold the categories of column 'u'"):
        mixed.decode([0], like=frame)


def test_codec_holds_no_rows():
    frame = pd.DataFrame({"s": np.arange(50_000) % 2, "u": np.arange(50_000) % 3})
    frame["v"] = pd.Categorical.from_codes(frame["u"], ["a", "b", "c"])
    assert len(pickle.dumps(learn_codec(frame))) < 3000


def test_decoding_other_numbers_of_rows():
    codec = learn_codec(SURVEY)
    every = codec.decode(np.arange(codec.n_cells), like=SURVEY)
    assert every.index.equals(pd.RangeIndex(codec.n_cells))
    assert len(codec.decode([], like=SURVEY)) == 0
