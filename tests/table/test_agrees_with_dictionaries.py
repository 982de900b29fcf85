"""Cells and columns of tables are those that a dictionary finds; unknown values have none."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from survey_table import NAN, SURVEY, learn_codec

from skrldp.alphabet.categories import Column
from skrldp.table.encoding import encode_column, learn_column
from skrldp.table.read import read_table

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
    return pl.DataFrame(columns) if library == "polars" else pa.table(columns)


def naive(rows: list[tuple]) -> list[tuple]:
    return [tuple(None if v is None or v != v else v for v in row) for row in rows]


@pytest.mark.parametrize("library", COLUMNS)
@settings(max_examples=25, deadline=None)
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
            codec.encode(Y)
        return
    if not set(part(private, others)) <= known_u:
        with pytest.raises(ValueError, match="unseen in fit"):
            codec.encode(Y)
        return
    codes = codec.encode(Y)
    assert [secrets[s] for s in codes.secrets] == part(private, secret)
    assert [values[u] for u in codes.values] == part(private, others)
    back = codec.decode(codes.cells(codec.n_values), like=Y)
    again = codec.encode(back)
    np.testing.assert_array_equal(again.secrets, codes.secrets)
    np.testing.assert_array_equal(again.values, codes.values)


def test_unknown_values_are_refused():
    codec = learn_codec(SURVEY[["s", "a"]])
    X = pd.DataFrame({"s": ["n", "y", "y", "n"], "a": ["x", "q", None, "y"]})
    remedy = "column 'a'.*'x', 'y'.*`categories`.*unknown='infrequent_if_exist'"
    with pytest.raises(ValueError, match=remedy):
        codec.encode(X)
    with pytest.raises(ValueError, match="unknown must be 'error' or 'other'"):
        codec.encode(X, unknown="ignore")


def test_unknown_secrets_are_always_refused():
    codec = learn_codec(SURVEY[["s", "a"]])
    X = pd.DataFrame({"s": ["n", "maybe", "maybe"], "a": ["x", "x", "x"]})
    for unknown in ("error", "other"):
        with pytest.raises(
            ValueError, match=r"column 's' has a value .*'n', 'y'.*protect"
        ) as caught:
            codec.encode(X, unknown=unknown)
        assert "maybe" not in str(caught.value)


def test_columns_of_other_names_or_in_another_order_are_refused():
    codec = learn_codec(SURVEY[["s", "a"]])
    for X in (SURVEY[["a", "s"]], SURVEY[["s", "a"]].rename(columns={"a": "z"})):
        with pytest.raises(ValueError, match=r"order|unseen at fit time:\n- z"):
            codec.encode(X)


def test_unknown_combinations():
    codec = learn_codec(SURVEY, sensitive=["s", "t"])
    new_value = pd.DataFrame({"a": ["x"], "s": ["y"], "t": [1], "b": [2]})
    with pytest.raises(ValueError, match=r"columns 'a', 'b'.*categories='product'"):
        codec.encode(new_value)
    new_secret = pd.DataFrame({"a": ["x"], "s": ["n"], "t": [1], "b": [1]})
    with pytest.raises(ValueError, match=r"columns 's', 't'.*categories='product'") as caught:
        codec.encode(new_secret, unknown="other")
    assert "('n', 1)" not in str(caught.value)


ROWS = ["yes", "no", "", "maybe", "Ja", "no", "never", "näh", "yes "] * 3
SERIES = {
    "polars": lambda rows: pl.DataFrame({"u": pl.Series(rows, dtype=pl.String)}),
    "polars Enum": lambda rows: pl.DataFrame(
        {"u": pl.Series(rows, dtype=pl.Enum(["other", *dict.fromkeys(filter(None, ROWS)), ""]))}
    ),
    "polars Categorical": lambda rows: pl.DataFrame({"u": pl.Series(rows, dtype=pl.Categorical)}),
    "pandas": lambda rows: pd.DataFrame({"u": pd.Series(rows, dtype="string[pyarrow]")}),
    "pandas object": lambda rows: pd.DataFrame({"u": pd.Series(rows, dtype=object)}),
    "pandas category": lambda rows: pd.DataFrame({"u": pd.Series(rows, dtype="category")}),
    "arrow": lambda rows: pa.table({"u": pa.array(rows, pa.string())}),
    "arrow chunks": lambda rows: pa.table(
        {"u": pa.chunked_array([pa.array(rows[:5], pa.string()), pa.array(rows[5:], pa.string())])}
    ),
    "numpy": lambda rows: np.array(rows, dtype=object)[:, None],
}


CATEGORIES = {
    "few": ("no", "yes"),
    "all": ("never", "yes ", "Ja", "", "yes", "maybe", "no", "näh"),
    "surrogate": ("\ud800", "no"),
    "with missing": ("no", "yes", None),
}


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("kind", CATEGORIES)
def test_texts_are_found_as_a_dictionary_finds_them(name, kind):
    rows = [*ROWS, None, None] if None in CATEGORIES[kind] else ROWS
    column = Column("u", CATEGORIES[kind], infrequent=())
    codes, unknown = encode_column(read_table(SERIES[name](rows)), 0, column)
    index = {value: n for n, value in enumerate(column.categories)}
    assert codes.tolist() == [index.get(value, -1) for value in rows]
    assert unknown == {v: rows.count(v) for v in rows if v not in index}


def test_numbers_of_categoricals_may_be_those_of_others():
    """Polars numbers the texts of several Categorical columns together."""
    before = pl.Series(["red", "green", "blue"], dtype=pl.Categorical)
    frame = pl.DataFrame({"u": pl.Series(["blue", None, "white"], dtype=pl.Categorical)})
    codes, unknown = encode_column(read_table(frame), 0, Column("u", ("white", "blue")))
    assert codes.tolist() == [1, -1, 0]
    assert unknown == {None: 1}
    assert before.len() == 3


def test_columns_of_many_rows_are_learned_by_the_texts_of_the_first():
    rows = ["no", "yes"] * 25_000 + ["late", None, "no"]
    for name in ("polars", "arrow"):
        column, codes = learn_column(read_table(SERIES[name](rows)), 0, None)
        assert column.categories == ("late", "no", "yes", None)
        assert codes[-4:].tolist() == [2, 0, 3, 1]
        assert np.bincount(codes).tolist() == [1, 25_001, 25_000, 1]
