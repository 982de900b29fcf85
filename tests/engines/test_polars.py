"""Polars' streaming engine: parts of any size, and a plan that is run twice."""

import pytest

pytest.importorskip("polars", reason="Polars is missing: make test-engines installs it")

import polars as pl
import pyarrow.parquet as pq
from block_tables import fitted_blocks, wide_table
from engine_records import KEY, KINDS, in_one_process, in_order, reporter, write

from skrldp import batches


@pytest.mark.parametrize("kind", KINDS)
def test_streamed_in_any_order_and_twice(tmp_path, kind):
    work, parts = reporter(), []

    def report(part):
        parts.append(len(part))
        return work(part)

    frame = pl.scan_parquet(write(tmp_path, kind) / "*.parquet")
    batches.check_ids(frame, "person")
    schema = {"person": frame.collect_schema()["person"], "report": pl.UInt8}
    for order in ("note", "ill"):
        reports = frame.sort(order).map_batches(report, schema=schema, streamable=True)
        for target in (tmp_path / "once.parquet", tmp_path / "twice.parquet"):
            reports.sink_parquet(target)
            assert in_order(pq.read_table(target)) == in_one_process(kind)
    assert len(parts) > 4  # several for each time


def test_blocks_of_columns_are_those_of_one_process(tmp_path):
    """The recipe of the page with the other reporter: in parts, in any order."""
    table = pl.from_pandas(wide_table(9_000, seed=1)).with_row_index("person")
    for number in range(3):
        table[number::3].write_parquet(tmp_path / f"part-{number}.parquet")
    work = batches.BlockReporter(fitted_blocks().manifest_.to_json(), id="person", key=KEY)
    frame = pl.scan_parquet(tmp_path / "part-*.parquet").sort("job", "age")
    schema = {"person": pl.UInt32, "block": pl.UInt8, "report": pl.UInt8}
    reports = frame.map_batches(work, schema=schema, streamable=True)
    reports.sink_parquet(tmp_path / "reports.parquet")
    found = pl.read_parquet(tmp_path / "reports.parquet").sort("person")
    assert found.equals(work(table)) and found["block"].n_unique() == 3
