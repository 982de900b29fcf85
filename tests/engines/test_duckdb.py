"""DuckDB: batches of any size in any order, and a function that it calls as often as it likes."""

import pytest

pytest.importorskip("duckdb", reason="DuckDB is missing: make test-engines installs it")

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from engine_records import KINDS, N, in_one_process, in_order, reporter, write

from skrldp import batches


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    return {kind: write(folder, kind) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_batches_of_any_size_in_any_order(folders, kind, tmp_path):
    work, target = reporter(), tmp_path / "reports.parquet"
    with duckdb.connect() as engine:
        records = engine.read_parquet(f"{folders[kind]}/*.parquet")
        batches.check_ids(records, "person")
        for rows, order in ((2_048, "note"), (7_777, "note DESC"), (10**6, "person")):
            reader = records.order(order).to_arrow_reader(rows)
            schema = work.output_schema(reader.schema)
            reports = pa.RecordBatchReader.from_batches(schema, work(reader))
            engine.cursor().from_arrow(reports).write_parquet(str(target))
            assert in_order(pq.read_table(target)) == in_one_process(kind)


def test_a_function_that_is_called_more_than_once(folders):
    """DuckDB calls a function on rows that a filter drops, and again for the rows that it keeps."""
    work, calls = reporter(), []

    def report(person, ill, visits):
        columns = [column.combine_chunks() for column in (person, ill, visits)]
        calls.append(len(columns[0]))
        return work.report_batch(pa.record_batch(columns, ["person", "ill", "visits"]))["report"]

    with duckdb.connect() as engine:
        kinds = ["BIGINT", "VARCHAR", "VARCHAR"]
        # With side effects, so that DuckDB does not merge calls that it sees to be equal.
        engine.create_function("report", report, kinds, "UTINYINT", type="arrow", side_effects=True)
        engine.read_parquet(f"{folders['integer']}/*.parquet").create_view("records")
        call = "report(person, ill, visits)"
        twice = f"SELECT person, {call} AS report, {call} AS again FROM records WHERE {call} < 9"
        both = engine.sql(twice).to_arrow_table()
    assert sum(calls) == 3 * N
    assert both["report"] == both["again"]
    assert in_order(both.drop(["again"])) == in_one_process("integer")
