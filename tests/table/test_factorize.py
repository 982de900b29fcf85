"""Columns as positions into distinct values: with likely texts, and without, the same."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrldp.alphabet.categories import Column
from skrldp.table.encoding import encode_column, learn_column
from skrldp.table.read import read_table

ROWS = ["yes", "no", "", "maybe", "Ja", "no", "never", "näh", "yes "] * 3
SERIES = {
    "polars": lambda rows: pl.DataFrame({"u": pl.Series(rows, dtype=pl.String)}),
    "polars Enum": lambda rows: pl.DataFrame(
        {"u": pl.Series(rows, dtype=pl.Enum(["other", *dict.fromkeys(filter(None, ROWS)), ""]))}
    ),
    "polars Categorical": lambda rows: pl.DataFrame({"u": pl.Series(rows, dtype=pl.Categorical)}),
    "pandas": lambda rows: pd.DataFrame({"u": pd.Series(rows, dtype="string[pyarrow]")}),
    "pandas python": lambda rows: pd.DataFrame({"u": pd.Series(rows, dtype="string[python]")}),
    "pandas object": lambda rows: pd.DataFrame({"u": pd.Series(rows, dtype=object)}),
    "pandas category": lambda rows: pd.DataFrame({"u": pd.Series(rows, dtype="category")}),
    "arrow": lambda rows: pa.table({"u": pa.array(rows, pa.string())}),
    "arrow large": lambda rows: pa.table({"u": pa.array(rows, pa.large_string())}),
    "arrow chunks": lambda rows: pa.table(
        {"u": pa.chunked_array([pa.array(rows[:5], pa.string()), pa.array(rows[5:], pa.string())])}
    ),
    "numpy": lambda rows: np.array(rows, dtype=object)[:, None],
}


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("missing", [False, True], ids=["whole", "with holes"])
@pytest.mark.parametrize(
    "categories",
    [("no", "yes"), ("never", "yes ", "Ja", "", "yes", "maybe", "no", "näh"), ("\ud800", "no")],
    ids=["some", "all", "surrogate"],
)
def test_texts_are_found_as_a_dictionary_finds_them(name, missing, categories):
    rows = [*ROWS, None, None] if missing else ROWS
    column = Column("u", (*categories, None) if missing else categories, infrequent=())
    codes, unknown = encode_column(read_table(SERIES[name](rows)), 0, column)
    place = {value: n for n, value in enumerate(column.categories)}
    assert codes.tolist() == [place.get(value, -1) for value in rows]
    assert unknown == {v: rows.count(v) for v in rows if v not in place}


@pytest.mark.parametrize("name", SERIES)
def test_rare_texts_are_other(name):
    column = Column("u", ("no", "other"), infrequent=("yes", "maybe"))
    codes, unknown = encode_column(read_table(SERIES[name](ROWS[:4])), 0, column)
    assert codes.tolist() == [1, 0, -1, 1]
    assert unknown == {"": 1}


def test_numbers_of_categoricals_may_be_those_of_others():
    """Polars numbers the texts of several Categorical columns together."""
    before = pl.Series(["red", "green", "blue"], dtype=pl.Categorical)
    frame = pl.DataFrame({"u": pl.Series(["blue", None, "white"], dtype=pl.Categorical)})
    codes, unknown = encode_column(read_table(frame), 0, Column("u", ("white", "blue")))
    assert codes.tolist() == [1, -1, 0]
    assert unknown == {None: 1}
    assert before.len() == 3


@pytest.mark.parametrize("name", ["polars", "pandas", "pandas object", "arrow", "numpy"])
def test_columns_of_many_rows_are_learned_by_the_texts_of_the_first(name, monkeypatch):
    monkeypatch.setattr("skrldp.table.read._SOME", 30)
    monkeypatch.setattr("skrldp.table.read._MANY", 31)
    rows = ["no", "yes"] * 15 + ["late", None, "no"]
    table = read_table(SERIES[name](rows))
    column, codes = learn_column(table, 0, None)
    assert column.categories == ("late", "no", "yes", None)
    assert [column.categories[code] for code in codes] == rows
