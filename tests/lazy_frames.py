"""Lazy frames of every engine, made from a frame of polars, and what must hold for each of them.

An engine is a function of a polars frame; `check_engine` is the whole test of one. Where it changes
types, such as days to moments, `at_hand` makes the data frame to compare with.
"""

import datetime as dt
import functools
import itertools
import math
import re

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from skrldp import FrequencyEstimator, GRRSanitizer, SRRSanitizer
from skrldp.table.lazy import LazyTable
from skrldp.table.learned_categories import learn

__all__ = ["ENGINES", "check_engine", "check_same_fit", "in_arrow", "records", "rows_brought"]


NUMBERS = itertools.count()


@functools.cache
def duckdb_connection():
    return pytest.importorskip("duckdb", reason="DuckDB is not installed").connect()


def from_duckdb(frame):
    """Return a relation of DuckDB; polars' Enum becomes an ENUM of the same values."""
    connection, name = duckdb_connection(), f"table_{next(NUMBERS)}"
    enums = [
        f'"{column}"::enum({", ".join(map(repr, dtype.categories.to_list()))}) as "{column}"'
        for column, dtype in frame.schema.items()
        if isinstance(dtype, pl.Enum)
    ]
    connection.register(name, frame.to_arrow())
    relation = connection.table(name)
    return relation.select(f"* replace ({', '.join(enums)})") if enums else relation


ENGINES = {"polars": pl.DataFrame.lazy, "duckdb": from_duckdb}


def in_arrow(frame):
    """Bring a frame of any library, as a table of Arrow."""
    return pa.table(nw.from_native(frame).lazy().collect("pyarrow").to_native())


def rows_brought(monkeypatch):
    """Return a list that will hold the number of rows of every result that is brought."""
    brought, collect = [], nw.LazyFrame.collect

    def counting(self, *args, **kwargs):
        result = collect(self, *args, **kwargs)
        brought.append(len(result))
        return result

    monkeypatch.setattr(nw.LazyFrame, "collect", counting)
    return brought


def records(n=300, seed=0):
    """Return a frame with a column of each type that all engines have; the first is a string."""
    rng = np.random.default_rng(seed)
    days = [dt.date(2024, 1, day) for day in (1, 2)]
    moments = [dt.datetime(2024, 1, 1, hour) for hour in (5, 17)]

    def some(values, chance=None):
        return [values[place] for place in rng.choice(len(values), n, p=chance)]

    return pl.DataFrame(
        {
            "s": some(["no", "yes"]),
            "text": some(["", "a", "ü", None]),
            "whole": pl.Series(some([3, -1, None]), dtype=pl.Int64),
            "real": pl.Series(some([0.5, 2.0, None]), dtype=pl.Float64),
            "flag": some([True, False]),
            "day": some(days),
            "moment": some(moments),
        }
    )


def check_same_fit(lazy, eager, sanitizer):
    """A sanitizer learns the same from both, up to what its library calls dtypes."""
    found, expected = (sanitizer.__class__(**sanitizer.get_params()).fit(X) for X in (lazy, eager))
    np.testing.assert_array_equal(found.joint_.counts, expected.joint_.counts)
    for name in ("secrets", "values", "alphabet"):
        assert getattr(found.joint_, name) == getattr(expected.joint_, name), name
    assert found.n_features_in_ == expected.n_features_in_
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    assert found.mechanism_.to_json() == expected.mechanism_.to_json()
    return found, expected


def check_engine(make, at_hand=lambda frame: frame):
    """Fits and estimates of an engine are those of the same rows at hand."""
    lazy, eager = make(records()), at_hand(records())
    sanitizer = SRRSanitizer(sensitive="s", categories="product", random_state=0)
    found, expected = check_same_fit(lazy, eager, sanitizer)
    check_same_fit(
        lazy,
        eager,
        SRRSanitizer(
            sensitive=["s", "flag"],
            min_frequency=0.05,
            handle_unknown="infrequent_if_exist",
        ),
    )
    symbols = [one.set_params(encode="symbol").transform(eager) for one in (found, expected)]
    assert np.array_equal(*symbols)

    nan, holes = math.nan, [1.0, math.nan, None, 2.0, math.nan]
    odd = {"a": holes, "b": [1.0, nan, 2.0, nan, 5.0], "c": [1, None, None, 2, 3], "d": ["x"] * 5}
    numbers = LazyTable.of(nw.from_native(make(pl.DataFrame(odd)))).numbers()
    assert (numbers.distinct, numbers.missing) == ((3, 4, 4, 1), (3, 2, 2, 0))
    assert numbers.n_rows == 5

    narrow = records()[["s", "real"]]
    mechanism = GRRSanitizer(sensitive="s", random_state=0).fit(narrow)
    for encode in ("symbol", "onehot", "cells"):
        reports = mechanism.set_params(encode=encode).transform(narrow)
        expected = FrequencyEstimator(mechanism).fit(reports)
        found = FrequencyEstimator(mechanism).fit(make(reports))
        assert found.counts_.tolist() == expected.counts_.tolist()
        assert found.n_reports_ == len(narrow)
        np.testing.assert_array_equal(found.frequencies_, expected.frequencies_)

    messages = []
    for X in (lazy, eager):
        with pytest.raises(ValueError, match=r"more than 200.* 'text': 4; 'whole': 3") as e:
            learn(X, sensitive="s", max_cells=200)
        # An engine stops counting beyond the limit, so that both state another lower bound.
        messages.append(re.sub("at least [0-9,]+", "", str(e.value)))
    assert messages[0] == messages[1]
    with pytest.raises(TypeError, match=r"lazy frame.*call .*\(.*skrldp\.batches"):
        mechanism.transform(lazy)
