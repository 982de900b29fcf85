import datetime as dt
import decimal
import math
import pickle
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrldp.table import CellCodec, column_names, learn
from skrldp.table._columns import Column
from skrldp.table._select import resolve_columns

UTC = dt.timezone.utc  # noqa: UP017 (read by tests that compare zones)
NAN = float("nan")
DAY = dt.datetime(2024, 2, 29, 12, 30)
NIGHT = dt.datetime(2024, 10, 27, 2, 30)


def learn_codec(X, **options) -> CellCodec:
    return learn(X, **options)[0]


def encode(codec: CellCodec, X) -> np.ndarray:
    return codec.encode(X).cells(codec.n_values)


# --- Tables of every library and dtype -----------------------------------------------------------


def pandas_frame(dtype, values) -> Callable:
    def make() -> pd.DataFrame:
        if isinstance(dtype, str) and "pyarrow" in dtype:
            pytest.importorskip("pyarrow")
        index = pd.Index(np.arange(3 * len(values))[::-1] * 2, name="row")
        series = pd.Series(values * 3, dtype=dtype, index=index)
        return pd.DataFrame({"u": series, "s": np.arange(len(series)) % 2 == 0})

    return make


def polars_frame(dtype_of: Callable, values) -> Callable:
    def make():
        pl = pytest.importorskip("polars")
        series = pl.Series(values * 3, dtype=dtype_of(pl))
        return pl.DataFrame({"u": series, "s": ["b", "a", "b"] * len(values)})

    return make


def arrow_table(type_of: Callable, values) -> Callable:
    def make():
        pa = pytest.importorskip("pyarrow")
        array = pa.array(values * 3, type=type_of(pa))
        return pa.table({"u": array, "s": ["b", "a", "b"] * len(values)})

    return make


def array(values, dtype) -> Callable:
    def make() -> np.ndarray:
        return np.array([[v, values[i % 2]] for i, v in enumerate(values * 3)], dtype=dtype)

    return make


SIZES = pd.CategoricalDtype(["small", "medium", "large", "unused"], ordered=True)
COLOURS = pd.CategoricalDtype(["red", "blue", "green"])
BINS = pd.CategoricalDtype(pd.interval_range(0, 3))
DAYS = pd.CategoricalDtype(pd.DatetimeIndex([NIGHT, DAY]))
PARIS_DAYS = pd.CategoricalDtype(DAYS.categories.tz_localize("Europe/Paris", ambiguous=False))

TABLES = {
    "pandas category": pandas_frame(COLOURS, ["green", "red", None]),
    "pandas ordered": pandas_frame(SIZES, ["medium", "small", "large"]),
    "pandas intervals": pandas_frame(BINS, list(BINS.categories)[::-1]),
    "pandas category of int": pandas_frame(pd.CategoricalDtype([3, 1, 2]), [1, 3, None]),
    "pandas category of dates": pandas_frame(DAYS, list(DAYS.categories)),
    "pandas category of zoned dates": pandas_frame(PARIS_DAYS, list(PARIS_DAYS.categories)),
    "pandas str": pandas_frame(str, ["b", "a", "c"]),
    "pandas string": pandas_frame("string", ["b", "a", None]),
    "pandas string python": pandas_frame("string[python]", ["b", "a", None]),
    "pandas string pyarrow": pandas_frame("string[pyarrow]", ["b", "a", None]),
    "pandas pyarrow int": pandas_frame("int64[pyarrow]", [1, 2, None]),
    "pandas Int64": pandas_frame("Int64", [2**53 + 1, 2**53, None]),
    "pandas UInt8": pandas_frame("UInt8", [200, 3, 7]),
    "pandas boolean": pandas_frame("boolean", [True, None, False]),
    "pandas Float64": pandas_frame("Float64", [0.1, None, -2.5]),
    "pandas bool": pandas_frame("bool", [True, False, True]),
    "pandas int8": pandas_frame("int8", [-128, 127, 0]),
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
    "polars String": polars_frame(lambda pl: pl.String, ["b", "a", None]),
    "polars Categorical": polars_frame(lambda pl: pl.Categorical, ["b", "a", None]),
    "polars Enum": polars_frame(lambda pl: pl.Enum(["z", "b", "a"]), ["b", "a", None]),
    "polars Boolean": polars_frame(lambda pl: pl.Boolean, [True, None, False]),
    "polars Int8": polars_frame(lambda pl: pl.Int8, [3, None, -1]),
    "polars Int64": polars_frame(lambda pl: pl.Int64, [2**53 + 1, None, 2**53]),
    "polars Float32": polars_frame(lambda pl: pl.Float32, [0.1, None, 1.0]),
    "polars NaN": polars_frame(lambda pl: pl.Float64, [0.5, NAN, 1.0]),
    "polars Decimal": polars_frame(
        lambda pl: pl.Decimal(10, 2), [decimal.Decimal("0.10"), None, decimal.Decimal("2.00")]
    ),
    "polars Date": polars_frame(lambda pl: pl.Date, [DAY.date(), None, NIGHT.date()]),
    "polars Time": polars_frame(lambda pl: pl.Time, [DAY.time(), None, NIGHT.time()]),
    "polars Datetime": polars_frame(lambda pl: pl.Datetime("us"), [DAY, None, NIGHT]),
    "polars Datetime ns": polars_frame(lambda pl: pl.Datetime("ns"), [DAY, None, NIGHT]),
    "polars Datetime zone": polars_frame(
        lambda pl: pl.Datetime("us", "UTC"),
        [DAY.replace(tzinfo=UTC), None, NIGHT.replace(tzinfo=UTC)],
    ),
    "polars Duration": polars_frame(lambda pl: pl.Duration("ms"), [dt.timedelta(1), None]),
    "pyarrow string": arrow_table(lambda pa: pa.string(), ["b", "a", None]),
    "pyarrow dictionary": arrow_table(
        lambda pa: pa.dictionary(pa.int8(), pa.string()), ["b", "a", None]
    ),
    "pyarrow bool": arrow_table(lambda pa: pa.bool_(), [True, False, None]),
    "pyarrow int64": arrow_table(lambda pa: pa.int64(), [2**53 + 1, 2**53, None]),
    "pyarrow float": arrow_table(lambda pa: pa.float32(), [0.1, None, 2.0]),
    "pyarrow date": arrow_table(lambda pa: pa.date32(), [DAY.date(), NIGHT.date(), None]),
    "pyarrow timestamp": arrow_table(lambda pa: pa.timestamp("ns"), [pd.Timestamp(1), DAY, None]),
    "pyarrow zone": arrow_table(
        lambda pa: pa.timestamp("us", "UTC"), [DAY.replace(tzinfo=UTC), None]
    ),
    "numpy int": array([3, -1, 2], np.int16),
    "numpy big-endian": array([3, -1, 2], ">i4"),
    "numpy float": array([1.5, -0.0, NAN], float),
    "numpy float16": array([1.5, 0.1, NAN], np.float16),
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
    "pandas boolean": [False, True],
    "pandas bool": [False, True],
    "polars Boolean": [False, True],
    "pyarrow bool": [False, True],
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
        testing = pytest.importorskip("polars.testing")
        testing.assert_frame_equal(result, expected, categorical_as_str=True)


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


@pytest.mark.parametrize("name", TABLES)
def test_part_of_the_columns(name):
    X = TABLES[name]()
    codec = learn_codec(X, sensitive=-1)
    part = codec.decode(encode(codec, X), like=X, part="nonsensitive")
    expected = (
        X[:, :1]
        if isinstance(X, np.ndarray)
        else X.drop_columns(["s"])
        if name.startswith("pyarrow")
        else X[["u"]]
    )
    assert_same(part, expected)


@pytest.mark.parametrize("name", [name for name in TABLES if not name.startswith("numpy")])
def test_a_frame_reads_the_same_in_every_library(name):
    """A codec fitted on one library encodes what the others make of the same table."""
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
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


# --- Numbers -------------------------------------------------------------------------------------


def test_numbers_match_by_value_and_strings_never():
    codec = learn_codec(pd.DataFrame({"s": [0, 1, 0, 1], "u": [0, 1, 2, 2]}))
    for dtype in ("float64", "int8", "Int64", "Float32", object):
        X = pd.DataFrame({"s": [1, 0], "u": [2, 0]}).astype(dtype)
        assert encode(codec, X).tolist() == [5, 0]
    assert encode(codec, np.array([[True, False]])).tolist() == [3]
    assert encode(codec, np.array([[0.0, -0.0]])).tolist() == [0]
    with pytest.raises(ValueError, match=r"column 's' has 2 rows with a value unseen in fit"):
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


def test_polars_nanoseconds():
    pl = pytest.importorskip("polars")
    series = pl.Series([1, 2, None], dtype=pl.Int64)
    for dtype in (pl.Datetime("ns"), pl.Duration("ns"), pl.Datetime("ns", "Europe/Paris")):
        X = pl.DataFrame({"s": [0, 1, 1], "u": series.cast(dtype)})
        codec = learn_codec(X)
        assert codec.n_values == 3
        assert_same(codec.decode(encode(codec, X), like=X), X)


def test_arrow_dictionaries():
    """Of dates, and with another dictionary in every chunk."""
    pa = pytest.importorskip("pyarrow")
    chunks = [pa.array([DAY.date(), None]), pa.array([NIGHT.date(), DAY.date()])]
    u = pa.chunked_array([chunk.dictionary_encode() for chunk in chunks])
    X = pa.table({"s": [0, 1, 1, 0], "u": u})
    codec = learn_codec(X)
    assert codec.values == (DAY.date(), NIGHT.date(), None)
    assert encode(codec, X).tolist() == [0, 5, 4, 0]
    assert_same(codec.decode(encode(codec, X), like=X), X)


def test_every_missing_value_is_one_category():
    holes = [None, NAN, np.nan, pd.NA, pd.NaT, np.datetime64("NaT", "s"), np.float32("nan")]
    X = np.empty((len(holes) + 1, 2), dtype=object)
    X[:, 0] = ["y", *["n"] * len(holes)]
    X[:, 1] = ["a", *holes]
    codec = learn_codec(X)
    assert codec.values == ("a", None)
    assert encode(codec, X).tolist() == [2] + [1] * len(holes)


def test_mixed_types_sort_by_type_then_text():
    codec = learn_codec([["n", "x"], ["y", 3], ["y", None], ["n", 10], ["n", 2.5]])
    assert codec.values == (2.5, 10, 3, "x", None)


# --- Alphabets -----------------------------------------------------------------------------------

SURVEY = pd.DataFrame(
    {"a": ["x", "y", "y", "x"], "s": ["n", "y", "y", "n"], "t": [2, 1, 2, 2], "b": [1, 1, 2, 1]}
)


def test_several_columns_take_observed_combinations():
    codec = learn_codec(SURVEY, sensitive=["t", "s"])
    assert codec.sensitive == (1, 2)
    assert codec.nonsensitive == (0, 3)
    assert codec.secrets == (("n", 2), ("y", 1), ("y", 2))
    assert codec.values == (("x", 1), ("y", 1), ("y", 2))
    assert encode(codec, SURVEY).tolist() == [0, 4, 8, 0]
    pd.testing.assert_frame_equal(codec.decode(encode(codec, SURVEY), like=SURVEY), SURVEY)


def test_given_categories_keep_their_order_and_combine():
    codec = learn_codec(SURVEY, sensitive=["s", "t"], categories={"s": ["y", "n", "?"]})
    assert codec.columns[1].categories == ("y", "n", "?")
    assert codec.secrets == tuple((s, t) for s in "yn?" for t in (1, 2))
    assert codec.values == (("x", 1), ("y", 1), ("y", 2))  # U had none given
    by_list = learn_codec(
        SURVEY, sensitive=["s", "t"], categories=["auto", np.array(["y", "n", "?"]), "auto", "auto"]
    )
    assert by_list == codec


def test_given_categories_of_one_column():
    codec = learn_codec([[0, 5], [1, 6]], categories=["auto", [None, 7.0, 6, np.int8(5)]])
    assert codec.values == (7.0, 6, 5, None)
    assert encode(codec, [[1, NAN], [0, 7]]).tolist() == [7, 0]


def test_given_categories_that_the_dtype_cannot_hold():
    frame = pd.DataFrame({"s": pd.Categorical(["n", "y"]), "u": [1, 2]})
    codec = learn_codec(frame, categories={"s": ["n", "y", "?"], "u": [1, 2, None]})
    back = codec.decode(range(9), like=frame)
    assert back["s"].dtype == pd.CategoricalDtype(["n", "y", "?"])
    assert back["u"].tolist()[:2] == [1, 2] and math.isnan(back["u"][2])

    array = learn_codec(np.array([["n", "a"], ["y", "b"]]), categories=["auto", ["b", "a", "long"]])
    assert array.decode([2], like=array_like(2)).tolist() == [["n", "long"]]
    ints = learn_codec(np.array([[0, 1], [1, 2]]), categories=["auto", [1, 2, 2.5]])
    assert ints.decode([2, 0], like=array_like(2)).tolist() == [[0, 2.5], [0, 1]]
    mixed = learn_codec(np.array([[0, 1], [1, 2]]), categories=["auto", [1, 2, "three"]])
    assert mixed.decode([2, 0], like=array_like(2)).tolist() == [[0, "three"], [0, 1]]


def array_like(n_columns: int) -> np.ndarray:
    return np.zeros((1, n_columns), dtype=int)


def test_given_categories_in_polars():
    pl = pytest.importorskip("polars")
    enum = pl.Enum(["n", "y"])
    frame = pl.DataFrame({"s": ["n", "y"], "u": [1, 2]}, schema={"s": enum, "u": pl.Int64})
    codec = learn_codec(frame, categories={"s": ["?", "n", "y"], "u": [1.0, 2.0, 3]})
    back = codec.decode(range(9), like=frame)
    assert back.schema == {"s": pl.Enum(["n", "y", "?"]), "u": pl.Int64}
    assert encode(codec, back).tolist() == list(range(9))
    mixed = learn_codec(frame, categories={"u": [1, 2, "three"]})
    with pytest.raises(ValueError, match="no polars column can hold the categories of column 'u'"):
        mixed.decode([0], like=frame)


def test_marginals_name_each_cells_category():
    codec = learn_codec(SURVEY, sensitive=["s", "t"])
    for position, column in enumerate(codec.columns):
        marginal = codec.marginal(position)
        assert marginal.shape == (codec.n_cells,)
        decoded = codec.decode(np.arange(codec.n_cells), like=SURVEY)[column.name]
        assert [column.categories[i] for i in marginal] == decoded.tolist()


def test_many_columns_do_not_explode():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (500, 40))
    X[:, 0] = np.arange(500) % 2
    codec = learn_codec(X)
    assert codec.n_values == len(np.unique(X[:, 1:], axis=0))
    assert_same(codec.decode(encode(codec, X), like=X), X)


@pytest.mark.parametrize("lookup_size", [0, 1 << 22])
def test_blocks_and_ways_to_look_up_agree(monkeypatch, lookup_size):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (1000, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = NAN
    expected = encode(learn_codec(X, sensitive=[0, 1]), X)
    monkeypatch.setattr("skrldp._arrays.ROWS", 7)
    monkeypatch.setattr("skrldp.alphabet._combinations._LARGEST_TABLE", lookup_size)
    codec = learn_codec(X, sensitive=[0, 1])
    np.testing.assert_array_equal(encode(codec, X), expected)
    X[0] = [0, 0, 9, 0]
    assert codec.encode(X, unknown="mark").values[0] == -1


def test_codec_holds_no_rows():
    frame = pd.DataFrame({"s": np.arange(50_000) % 2, "u": np.arange(50_000) % 3})
    frame["v"] = pd.Categorical.from_codes(frame["u"], ["a", "b", "c"])
    assert len(pickle.dumps(learn_codec(frame))) < 3000


def test_cell_codes_use_the_smallest_dtype():
    X = np.stack([np.arange(600) % 2, np.arange(600) // 2], axis=1)
    codec = learn_codec(X)
    assert encode(codec, X[:1]).dtype == np.uint16
    assert codec.encode(X).secrets.dtype == np.int8
    np.testing.assert_array_equal(encode(codec, X), X[:, 0] * 300 + X[:, 1])


def test_decoding_other_numbers_of_rows():
    codec = learn_codec(SURVEY)
    every = codec.decode(np.arange(codec.n_cells), like=SURVEY)
    assert every.index.equals(pd.RangeIndex(codec.n_cells))
    assert len(codec.decode([], like=SURVEY)) == 0


def test_column_is_a_plain_value():
    assert learn_codec(SURVEY).columns[0] == Column("a", ("x", "y"))


# --- Against a plain Python encoder --------------------------------------------------------------

SCALARS = st.sampled_from([0, 1, 2, -1, 0.5, True, False, "", "0", "1", "x", None, NAN, 1.0, -0.0])
COLUMNS = {
    "numpy": SCALARS,
    "pandas": SCALARS,
    "polars": st.sampled_from(["", "0", "x", "é", None]),
    "pyarrow": st.sampled_from([0.5, -0.0, 0.0, 1.0, NAN, None]),
}


def make_table(library: str, rows: list[tuple]):
    if library == "numpy":
        table = np.empty((len(rows), len(rows[0])), dtype=object)
        table[:] = rows
        return table
    columns = {f"c{i}": list(column) for i, column in enumerate(zip(*rows, strict=True))}
    if library == "pandas":
        return pd.DataFrame(columns, dtype=object)
    module = pytest.importorskip(library)
    return module.DataFrame(columns) if library == "polars" else module.table(columns)


def naive(rows: list[tuple]) -> list[tuple]:
    return [tuple(None if v is None or v != v else v for v in row) for row in rows]


@pytest.mark.parametrize("library", COLUMNS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_agrees_with_dictionaries(library, data):
    width = data.draw(st.integers(2, 4))
    row = st.tuples(*[COLUMNS[library]] * width)
    public = data.draw(st.lists(row, min_size=2, max_size=12))
    private = data.draw(st.lists(row, min_size=1, max_size=12))
    chosen = st.lists(st.integers(0, width - 1), min_size=1, max_size=width - 1, unique=True)
    secret = sorted(data.draw(chosen))
    others = [p for p in range(width) if p not in secret]

    def part(rows, positions):
        return [tuple(row[p] for p in positions) for row in naive(rows)]

    known_s, known_u = set(part(public, secret)), set(part(public, others))
    X = make_table(library, public)
    if len(known_s) < 2 or len(known_u) < 2:
        with pytest.raises(ValueError, match="has only one value"):
            learn_codec(X, sensitive=secret)
        return
    codec = learn_codec(X, sensitive=secret)

    def as_tuples(members, positions):
        return [(m,) for m in members] if len(positions) == 1 else list(members)

    secrets, values = as_tuples(codec.secrets, secret), as_tuples(codec.values, others)
    assert set(secrets) == known_s and len(secrets) == len(known_s)
    assert set(values) == known_u and len(values) == len(known_u)

    Y = make_table(library, private)
    if not set(part(private, secret)) <= known_s:
        with pytest.raises(ValueError, match="unseen in fit"):
            codec.encode(Y, unknown="mark")
        return
    codes = codec.encode(Y, unknown="mark")
    assert [secrets[s] for s in codes.secrets] == part(private, secret)
    found = [values[u] if u >= 0 else None for u in codes.values]
    assert found == [u if u in known_u else None for u in part(private, others)]
    if None in found:
        with pytest.raises(ValueError, match="unseen in fit"):
            codec.encode(Y)
        with pytest.raises(ValueError, match="unknown value of U"):
            codes.cells(codec.n_values)
    else:
        back = codec.decode(codec.encode(Y).cells(codec.n_values), like=Y)
        again = codec.encode(back)
        np.testing.assert_array_equal(again.secrets, codes.secrets)
        np.testing.assert_array_equal(again.values, codes.values)


# --- Unknown values ------------------------------------------------------------------------------


def test_unknown_values_are_marked_or_refused():
    codec = learn_codec(SURVEY[["s", "a"]])
    X = pd.DataFrame({"s": ["n", "y", "y", "n"], "a": ["x", "q", None, "y"]})
    assert codec.encode(X, unknown="mark").values.tolist() == [0, -1, -1, 1]
    with pytest.raises(
        ValueError,
        match=r"column 'a' has 2 rows with a value unseen in fit \(not shown; rows 1, 2 of 4\); "
        r"known are 'x', 'y'\. .*`categories`.*unknown='impute'",
    ):
        codec.encode(X)
    with pytest.raises(ValueError, match="unknown must be 'error', 'mark' or 'other'"):
        codec.encode(X, unknown="ignore")


def test_unknown_secrets_are_always_refused():
    codec = learn_codec(SURVEY[["s", "a"]])
    X = pd.DataFrame({"s": ["n", "maybe", "maybe"], "a": ["x", "x", "x"]})
    for unknown in ("error", "mark"):
        with pytest.raises(
            ValueError, match=r"column 's' has 2 rows .*'n', 'y'.*protect"
        ) as caught:
            codec.encode(X, unknown=unknown)
        assert "maybe" not in str(caught.value)


def test_a_few_rows_are_named():
    codec = learn_codec(SURVEY[["s", "b"]])
    X = pd.DataFrame({"s": "n", "b": np.arange(100) % 12 + 1})
    with pytest.raises(ValueError, match=r"82 rows .*rows 2, 3, .*, 9, \.\.\. of 100"):
        codec.encode(X)


def test_unknown_combinations():
    codec = learn_codec(SURVEY, sensitive=["s", "t"])
    new_value = pd.DataFrame({"a": ["x"], "s": ["y"], "t": [1], "b": [2]})
    assert codec.encode(new_value, unknown="mark").values.tolist() == [-1]
    with pytest.raises(
        ValueError,
        match=r"columns 'a', 'b': 1 row with a combination of values unseen in fit "
        r"\(not shown; row 0 of 1\); .*categories='product'",
    ):
        codec.encode(new_value)
    new_secret = pd.DataFrame({"a": ["x"], "s": ["n"], "t": [1], "b": [1]})
    with pytest.raises(ValueError, match=r"columns 's', 't'.*to protect it") as caught:
        codec.encode(new_secret, unknown="mark")
    assert "('n', 1)" not in str(caught.value)


def test_missing_without_a_category():
    codec = learn_codec(np.array([[0.0, 1.0], [1.0, 2.0]]))
    with pytest.raises(ValueError, match=r"column 1 has 2 rows with a value unseen in fit .*None"):
        codec.encode(np.array([[0, NAN], [1, NAN]]))


# --- Bad input -----------------------------------------------------------------------------------

GOOD = np.array([[0, 1], [1, 2], [0, 1]])


class Sparse:
    nnz = 0

    def toarray(self):
        raise AssertionError


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
        (pd.DataFrame({"a": [], "b": []}), ValueError, r"0 sample\(s\) \(shape=\(0, 2\)\)"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (
            np.zeros(3),
            ValueError,
            "Expected 2D array, got 1D array instead.*\n?.*Reshape your data",
        ),
        (pd.Series([1, 2]), ValueError, "Expected 2D array, got 1D array instead"),
        (np.zeros((2, 2, 2)), ValueError, "Expected 2D array, got 3D"),
        ([[1, 2], [3]], ValueError, "inhomogeneous|Expected 2D"),
        (Sparse(), TypeError, "sparse.*dense.*toarray"),
        (GOOD + 1j, ValueError, "Complex data not supported"),
        (GOOD[:, :1] + 1j, ValueError, "Complex data not supported"),
        (pd.DataFrame({"s": [0, 1], "u": [1j, 0]}), ValueError, "Complex.* in column 'u'"),
        (np.zeros(2, dtype=[("s", int), ("u", int)]), TypeError, "structured arrays"),
        (pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"]), ValueError, r"duplicate.*\['a'\]"),
        (np.array([[0, np.inf], [1, 0]]), ValueError, "contains infinity, in column 1"),
        (pd.DataFrame({"s": [0, 1], "u": [0, -np.inf]}), ValueError, "infinity, in column 'u'"),
        (np.array([[0, [1]], [1, {}]], dtype=object), TypeError, "column 1 .*cannot be categories"),
        (GOOD[:, :1], ValueError, r"1 feature\(s\)"),
        (GOOD[:1], ValueError, r"S \(column 0\) has only one value \(n_samples=1\)"),
        (GOOD[[0, 2]], ValueError, "only one value, so there is nothing to protect"),
        (
            np.array([[0, 1], [1, 1]]),
            ValueError,
            r"U \(column 1\) has only one value.*nothing to r",
        ),
    ],
)
def test_bad_tables(X, error, message):
    with pytest.raises(error, match=message):
        learn_codec(X)


def test_bad_tables_of_other_libraries():
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    with pytest.raises(ValueError, match="duplicate"):
        learn_codec(pa.table([[1, 2], [1, 2]], names=["a", "a"]))
    frame = pl.DataFrame({"a": [1, 2], "b": [[1], [2]]})
    with pytest.raises(TypeError, match=r"column 'b' .*cannot be categories"):
        learn_codec(frame)
    infinite = pl.DataFrame({"a": [1, 2], "b": [1.0, np.inf]})
    with pytest.raises(ValueError, match="infinity, in column 'b'"):
        learn_codec(infinite)


def test_all_columns_sensitive():
    with pytest.raises(ValueError, match=r"2 feature\(s\), all sensitive"):
        learn_codec(GOOD, sensitive=[0, 1])


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ("automatic", "categories must be 'auto', 'product', a list or a dict, got 'automatic'"),
        (2, "categories must be 'auto', 'product', a list or a dict, got 2"),
        (["auto", {1, 2}], "categories of column 1 must be 'auto' or a list"),
        (["auto"], "lists 1 alphabets, but the table has 2 columns"),
        ({"z": [1]}, r"keys that are no columns: \['z'\]"),
        (["auto", "ab"], "categories of column 1 must be 'auto' or a list, got 'ab'"),
        (["auto", []], "categories of column 1 are empty"),
        (["auto", [1, 2, 1.0]], r"categories of column 1 list \[1\] more than once"),
        (["auto", [1, np.inf]], "infinity, in the categories of column 1"),
        (["auto", [1, 3]], "column 1 of the public data has 1 row with value 2 that `categories`"),
    ],
)
def test_bad_categories(categories, message):
    with pytest.raises(ValueError, match=message):
        learn_codec(GOOD, categories=categories)


def test_too_many_cells():
    X = np.stack([np.arange(4000) % 2, np.arange(4000)], axis=1)
    message = (
        r"at least 8,000 cells, more than 5,000\. Levels per column: 1: 4,000; 0: 2; their product "
        r"is 8,000\. .*KBinsDiscretizer.* Ask Ann\.$"
    )
    with pytest.raises(ValueError, match=message):
        learn_codec(X, max_cells=5000, advice="Ask Ann.")
    ids = np.arange(300_000)
    with pytest.raises(
        ValueError,
        match=r"100,000 distinct values at most\. Levels per column: 'id': more than 100,000; "
        r"'zip': 3,000; 's': 2; their product is more than 600,006,000\. .*KBins",
    ):
        learn_codec(pd.DataFrame({"s": ids % 2, "zip": ids % 3000, "id": ids / 7}))
    declared = pd.DataFrame({"s": [0, 1, 1], "u": pd.Categorical([5, 7, 7], range(9999))})
    with pytest.raises(
        ValueError, match=r"'u': 9,999 \(2 of them used\).*remove_unused_categories"
    ):
        learn_codec(declared, max_cells=5000)
    many = pd.DataFrame(np.stack([ids[:100]] * 40, axis=1) % 10, columns=list(map(str, range(40))))
    with pytest.raises(ValueError, match=r"; 30 more columns; their product is about 1e40"):
        learn_codec(many, categories="product")
    wide = pd.DataFrame({"s": ids[:400] % 2, "b": ids[:400], "c": ids[:400]})
    with pytest.raises(ValueError, match="at least 160,000 cells"):
        learn_codec(wide, categories={"b": ids[:400]}, max_cells=10_000)
    with pytest.raises(ValueError, match="at least 400 cells"):
        learn_codec(wide, max_cells=300)


def test_columns_must_be_those_of_fit():
    codec = learn_codec(SURVEY)
    with pytest.raises(
        ValueError,
        match=r"feature names should match.*\nFeature names unseen.*\n"
        r"- z\nFeature names seen at fit time, yet now missing:\n- b",
    ):
        codec.encode(SURVEY.rename(columns={"b": "z"}))
    with pytest.raises(ValueError, match="in the same order as they were in fit"):
        codec.encode(SURVEY[["s", "a", "t", "b"]])
    with pytest.raises(ValueError, match="now missing:\n- b"):
        codec.encode(SURVEY[["a", "s", "t"]])
    with pytest.raises(ValueError, match="X has 3 features, but this sanitizer was fitted with 4"):
        codec.encode(SURVEY.to_numpy()[:, :3])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        codec.encode(SURVEY[:0])


def test_bad_cells():
    codec = learn_codec(GOOD)
    for cells in ([-1], [4], [0.0], [True]):
        with pytest.raises(ValueError, match="cell codes must be integers from 0 to 3"):
            codec.decode(cells, like=GOOD)
    with pytest.raises(ValueError, match="part must be"):
        codec.decode([0], like=GOOD, part="sensitive")


# --- Choosing columns ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sensitive", "positions"),
    [
        ("s", (1,)),
        (2, (2,)),
        (-1, (3,)),
        (np.int64(2), (2,)),
        (["t", "s"], (1, 2)),
        (("s", 0), (0, 1)),
        ([1, -3], (1,)),
        (pd.Index(["b"]), (3,)),
        (np.array([True, False, False, True]), (0, 3)),
        (slice(1, 3), (1, 2)),
        (slice("s", "b"), (1, 2, 3)),
        (slice(None, "s"), (0, 1)),
        (lambda X: X.columns[X.dtypes == "int64"], (2, 3)),
        (lambda X: slice(0, 1), (0,)),
        (lambda X: [False, True, False, False], (1,)),
    ],
)
def test_sensitive_columns(sensitive, positions):
    assert resolve_columns(SURVEY, sensitive) == positions


@pytest.mark.parametrize(
    ("sensitive", "error", "message"),
    [
        ("z", ValueError, r"column 'z' not found; the columns are \['a', 's', 't', 'b'\]"),
        (4, ValueError, "column 4 not found"),
        (-5, ValueError, "column -5 not found"),
        ([], ValueError, "selects no column"),
        ([True, False], ValueError, "mask of 2 values, but there are 4 columns"),
        (True, TypeError, "must be a column name or position"),
        (1.5, TypeError, "must be a column name or position"),
        ([None], TypeError, "must be a column name or position"),
    ],
)
def test_bad_sensitive_columns(sensitive, error, message):
    with pytest.raises(error, match=message):
        resolve_columns(SURVEY, sensitive)


def test_column_names():
    assert column_names(SURVEY) == ["a", "s", "t", "b"]
    assert column_names(GOOD) == [0, 1]
    assert column_names([[1, "a"]]) == [0, 1]
