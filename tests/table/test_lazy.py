"""Lazy frames are counted where they are: what is learned is what the same rows at hand give."""

import datetime as dt
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lazy_frames import ENGINES, duckdb_connection, from_duckdb, rows_brought

from skrldp import SRRSanitizer, batches
from skrldp.table.encoding import Grouping
from skrldp.table.learned_categories import learn
from skrldp.table.select import column_names, resolve_columns

VALUES = {
    pl.String: ["", "a", "b", "ü", "other"],
    pl.Int32: [-1, 0, 7],
    pl.Float64: [0.0, -0.0, 0.25, 3.0, math.nan],
    pl.Float32: [0.5, math.nan],
    pl.Boolean: [False, True],
    pl.Date: [dt.date(2024, 2, 29), dt.date(1900, 1, 1)],
    pl.Datetime("us"): [dt.datetime(2024, 1, 1, 5), dt.datetime(2024, 1, 1, 17, 0, 0, 1)],
    pl.Datetime("us", "Europe/Madrid"): [dt.datetime(2024, 1, 1, 5, tzinfo=dt.UTC)],
    pl.Enum(["z", "x", "y"]): ["x", "y", "z"],
    pl.Categorical: ["x", "w"],
}


@st.composite
def tables(draw):
    """A small frame of polars, its first column with two values at least."""
    n = draw(st.integers(4, 30))
    columns = [pl.Series("s", [0, 1] * n, dtype=pl.Int64)[:n]]
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3))
    for place, kind in enumerate(kinds):
        own = VALUES[kind] if draw(st.booleans()) else VALUES[kind][:2]
        own = [*own, *[None] * draw(st.booleans())]
        values = draw(st.lists(st.sampled_from(own), min_size=n, max_size=n))
        columns.append(pl.Series(f"U {place}", values, dtype=kind, strict=False))
    return pl.DataFrame(columns)


OPTIONS = [
    {},
    {"categories": "product"},
    {"sensitive": [-1, "s"]},
    {"sensitive": slice(None)},
    {"categories": {"s": [2, 1, 0]}, "grouping": Grouping(0.3)},
    {"grouping": Grouping(min_frequency=0.2, unknown=True)},
    {"grouping": Grouping(2, unknown=True)},
]


def as_known_to(engine, eager):
    """DuckDB makes an ENUM of a category whose levels are the rows', so an ENUM is text."""
    return eager if engine == "polars" else eager.with_columns(pl.col(pl.Enum).cast(pl.String))


def learnt(X, **options):
    """What a table teaches, or the error."""
    try:
        codec, codes = learn(X, **options)
    except ValueError as error:
        return str(error), None
    counts = np.bincount(codes.cells(codec.n_values), codes.counted, codec.n_cells)
    return codec, counts.tolist()


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=12)
@given(tables(), st.sampled_from(OPTIONS))
def test_a_lazy_frame_teaches_what_its_rows_do(engine, eager, options):
    X = ENGINES[engine](eager)
    eager = as_known_to(engine, eager)
    (found, counts), (expected, wanted) = learnt(X, **options), learnt(eager, **options)
    assert counts == wanted
    if counts is None:
        assert found == expected
        return
    assert repr(found) == repr(expected)
    assert found.source == expected.source
    for one, other in zip(found.columns, expected.columns, strict=True):
        assert (one.declared, one.infrequent) == (other.declared, other.infrequent)
        column = eager[one.name]
        if not (column.dtype.is_float() and column.is_nan().any() and column.has_nulls()):
            assert repr(one.missing) == repr(other.missing)  # which is first, NaN or missing?
        if engine == "polars":
            assert one.dtype == other.dtype
    back = found.decode(np.arange(found.n_cells), like=eager)
    assert found.encode(back).cells(found.n_values).tolist() == list(range(found.n_cells))


WIDE = pl.DataFrame({"s": [0, 1] * 600, "u": range(1200), "v": [k % 7 for k in range(1200)]})
BAD = {
    "cells": (WIDE, {"max_cells": 100}),
    "product": (WIDE, {"categories": "product", "max_cells": 5000}),
    "secrets": (WIDE, {"sensitive": ["u", "v"], "max_cells": 500}),
    "unused levels": (
        WIDE.with_columns(w=pl.lit("a", pl.Enum(["c", "b", "a"]))).drop("u", "v"),
        {"max_cells": 5, "advice": "Ask Ann."},
    ),
    "listed": (WIDE, {"categories": {"v": range(6)}}),
    "constant": (WIDE.with_columns(s=pl.lit(3)), {}),
    "no rows": (WIDE[:0], {}),
    "infinite": (WIDE.with_columns(v=pl.lit(math.inf)), {}),
    "lists": (WIDE.with_columns(v=pl.concat_list("s")), {}),
}


def without_cells(error):
    """Return a message without the number of cells, which is smaller if not all were fetched."""
    return re.sub("at least [0-9,]+ cells", "too many cells", str(error.value))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", BAD)
def test_bad_lazy_frames_are_refused_in_the_words_for_tables_at_hand(name, engine, monkeypatch):
    eager, options = BAD[name]
    X, brought = ENGINES[engine](eager), rows_brought(monkeypatch)
    with pytest.raises((TypeError, ValueError)) as lazy_error:
        learn(X, **options)
    with pytest.raises(lazy_error.type) as error:
        learn(as_known_to(engine, eager), **options)
    assert without_cells(lazy_error) == without_cells(error)
    assert max(brought, default=0) <= options.get("max_cells", 1200) + 1


@pytest.mark.parametrize("engine", ENGINES)
def test_at_most_one_row_a_cell_is_brought(engine, monkeypatch):
    eager = pl.DataFrame({"s": [0, 1] * 5000, "u": [k % 10 for k in range(10_000)]})
    X, brought = ENGINES[engine](eager), rows_brought(monkeypatch)
    learn(X)
    assert sum(brought) == 2 + 10  # a row of numbers for each column, and the distinct rows
    learn(X, max_cells=20)
    assert max(brought) == 10
    brought.clear()
    for max_cells in (9, 19):
        with pytest.raises(ValueError, match=rf"at least (10|20) cells, more than {max_cells}\."):
            learn(X, max_cells=max_cells)
    assert max(brought) <= 10


def test_nothing_is_computed_to_find_columns(monkeypatch):
    X = WIDE.lazy()
    brought = rows_brought(monkeypatch)
    monkeypatch.setattr(pl.LazyFrame, "collect", None)
    seen = []

    def secret(frame):
        seen.append(frame)
        return ["v", "s"]

    assert resolve_columns(X, secret) == (0, 2)
    assert resolve_columns(from_duckdb(WIDE), -1) == (2,)
    assert seen[0] is X and not brought
    with pytest.raises(TypeError, match=r"call \.collect\(\) on it, or.* use skrldp\.batches"):
        column_names(X)
    with pytest.raises(ValueError, match="Sum the counts of equal rows"):
        learn(X, weights=np.ones)


def test_levels_of_an_engine_that_pandas_made_of_the_rows_are_learned():
    """DuckDB reads a category as an ENUM."""
    table = pd.DataFrame({"s": [0, 1, 1], "u": pd.Series(["x", "z", "x"], dtype="category")})
    X = duckdb_connection().from_df(table)
    assert "ENUM" in str(X.types[1])
    codec, _ = learn(X)
    assert (codec.values, codec.source) == (("x", "z"), "learned")


def test_errors_of_engines_do_not_quote_values():
    eager = pl.DataFrame({"s": ["a", "b"], "u": ["1", "secret"]})
    for X in (
        eager.lazy().with_columns(pl.col("u").cast(pl.Int64)),
        from_duckdb(eager).select('s, u::int as "u"'),
    ):
        with pytest.raises(RuntimeError, match="could not count the distinct values") as error:
            learn(X)
        assert "secret" not in str(error.value)
        assert "secret" in str(error.value.__context__)
        assert error.value.__suppress_context__
    with pytest.raises(RuntimeError, match=r"polars could not return .*ColumnNotFoundError"):
        learn(eager.lazy().select("v"))


def test_a_frame_that_narwhals_reads_no_longer():
    """As narwhals says of Dask's: a package of its own will read them."""
    frame = type("DataFrame", (), {"__module__": "dask.dataframe", "columns": ("a",)})()
    for call in (SRRSanitizer(sensitive="a").fit, lambda frame: batches.check_ids(frame, "a")):
        with pytest.raises(TypeError, match="frame of dask without the package 'narwhals-dask'"):
            call(frame)
