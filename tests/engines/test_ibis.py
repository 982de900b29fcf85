"""Ibis: fits on its tables. (The engine behind a table reports; there is no recipe for Ibis alone.)"""

import pytest

ibis = pytest.importorskip("ibis", reason="Ibis (extra: engines) is missing")
pytest.importorskip("duckdb", reason="DuckDB (extra: duckdb) is missing")

from lazy_frames import check_engine


def test_fits_and_estimates_are_those_of_the_rows_at_hand():
    check_engine(lambda frame: ibis.memtable(frame.to_arrow()))
