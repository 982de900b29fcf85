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
