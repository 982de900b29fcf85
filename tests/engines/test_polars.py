"""Polars' streaming engine: parts of any size, and a plan that is run twice."""

import pytest

pytest.importorskip("polars", reason="Polars is missing: make test-engines installs it")

import polars as pl
import pyarrow.parquet as pq
from engine_records import KINDS, in_one_process, in_order, reporter, write

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
