"""Ibis: fits on its tables. It has no recipe: the engine behind a table reports."""

import pytest

pytest.importorskip("ibis", reason="Ibis is missing: make test-engines installs it")
pytest.importorskip("duckdb", reason="DuckDB is missing: make test-engines installs it")

import ibis
from lazy_frames import check_engine


def test_fits_and_estimates_are_those_of_the_rows_at_hand():
    check_engine(lambda frame: ibis.memtable(frame.to_arrow()))
