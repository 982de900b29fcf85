"""DuckDB: any order and any size of batches, read twice, and a function that it calls as it likes."""

import pytest

duckdb = pytest.importorskip("duckdb", reason="DuckDB (extra: duckdb) is missing")

import pyarrow as pa
from engine_records import KEY, KINDS, in_one_process, in_order, reporter, write


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    return {kind: write(folder, kind) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_any_order_and_batch_size(folders, kind, tmp_path):
    work = reporter(KEY)
    with duckdb.connect() as engine:
        records = engine.read_parquet(f"{folders[kind]}/*.parquet")
        for rows, order in ((100, "note"), (7_777, "-note"), (10**6, "person")):
            reports = work(records.order(order).to_arrow_reader(rows))
            reader = pa.RecordBatchReader.from_batches(SCHEMA, reports)
            engine.cursor().from_arrow(reader).write_parquet(str(tmp_path / f"{rows}.parquet"))
            written = pa.parquet.read_table(tmp_path / f"{rows}.parquet")
            assert in_order(written) == in_one_process(kind)


def test_a_function_that_is_called_again(folders):
    """DuckDB may call a function twice for a row, or on rows that a filter drops afterwards."""
    work, calls = reporter(KEY), []

    def report(*columns):
        batch = pa.record_batch([c.combine_chunks() for c in columns], ["person", "ill", "visits"])
        calls.append(len(batch))
        (reports,) = work([batch])
        return reports["report"]

    with duckdb.connect() as engine:
        kinds = ["BIGINT", "VARCHAR", "VARCHAR"]
        engine.create_function("report", report, kinds, "UTINYINT", type="arrow")
        records = engine.read_parquet(f"{folders['integer']}/*.parquet")
        twice = records.select(
            "person, report(person, ill, visits) AS report, report(person, ill, visits) AS again"
        )
