"""Engines that hold records: any partitions and order, and lost workers, change no report.

The key is in nothing that an engine plans, sends or writes; ledgers, ids, fits and estimates are
those of the same rows in one process. A test skips where its engine is missing (make test-engines).
"""

import os
import pickle
import traceback

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_records import (
    KEY,
    SECRETS,
    VALUES,
    DiesOnce,
    holds_key,
    in_one_process,
    in_order,
    key_file,
    records,
    reporter,
    write,
)
from lazy_frames import check_engine, in_arrow
from test_docs import TEXTS, blocks

from skrldp import SRRSanitizer, batches
from skrldp.batches import LedgerReporter

pytestmark = [
    # Of Narwhals about Dask, of Ray about its own settings, and of sockets left to the collector.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where clusters write their logs, shuffles and copies of tasks."""
    return tmp_path_factory.mktemp("engines")


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    return key_file(tmp_path_factory.mktemp("secret"))


@pytest.fixture(scope="module")
def workers_find_this_folder():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.path.dirname(__file__), prepend=os.pathsep)
        yield patch


@pytest.fixture(scope="module")
def dask(workers_find_this_folder, place):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    local = distributed.LocalCluster(**options, local_directory=place / "dask")
    with local as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def ray(workers_find_this_folder):
    ray = pytest.importorskip("ray")
    workers_find_this_folder.setenv("RAY_USAGE_STATS_ENABLED", "0")
    workers_find_this_folder.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def spark(workers_find_this_folder, place):
    pytest.importorskip("pyspark")
    import spark_session

    session = spark_session.session(place)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def ibis():
    pytest.importorskip("duckdb")
    return pytest.importorskip("ibis")


# Each engine yields the reports of records in files, in several partitions and orders.


class Reported:
    """Report a partition, as `docs/guide/engines.md` shows: pandas to Arrow and back."""

    def __init__(self, work):
        self.work = work

    def __call__(self, part):
        table = pa.Table.from_pandas(part, preserve_index=False)
        schema = reporter().output_schema(table.schema)
        return pa.Table.from_batches(self.work(table.to_batches(500)), schema).to_pandas()


def of_dask(frame, work):
    empty = pa.Schema.from_pandas(frame.head(0), preserve_index=False)
    meta = reporter().output_schema(empty).empty_table().to_pandas()
    return frame.map_partitions(Reported(work), meta=meta)


def by_dask(client, folder, work):
    import dask.dataframe as dd

    frame = dd.read_parquet(folder)
    for parts in (frame.shuffle("note", npartitions=7), frame.sort_values("note")):
        yield pa.Table.from_pandas(of_dask(parts, work).compute(), preserve_index=False)


def by_ray(ray, folder, work):
    dataset = ray.data.read_parquet(str(folder))
    for parts, rows in ((dataset, 777), (dataset.sort("note"), 7_777)):
        reports = parts.map_batches(work, batch_format="pyarrow", batch_size=rows)
        yield pa.concat_tables(ray.get(reports.to_arrow_refs()))


def of_spark(frame, work):
    from pyspark.sql.types import ShortType, StructField, StructType

    return frame.mapInArrow(
        work, StructType([frame.schema["person"], StructField("report", ShortType())])
    )


def by_spark(spark, folder, work):
    frame = spark.read.parquet(str(folder))
    for parts in (frame.repartition(7, "note"), frame.orderBy("note")):
        yield of_spark(parts, work).toArrow()


ENGINES = {
    "dask": (by_dask, "uuid"),
    "ray": (by_ray, "string"),
    "spark": (by_spark, "uuid"),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_any_partitions_in_any_order(engine, request, key, tmp_path):
    run, kind = ENGINES[engine]
    work = reporter(key, type="int16" if engine == "spark" else "uint8")
    runs = list(run(request.getfixturevalue(engine), write(tmp_path, kind), work))
    assert len(runs) > 1
    for reports in runs:
        assert in_order(reports) == in_one_process(kind)


@pytest.mark.parametrize("engine", ["dask", "ray", "spark"])
def test_a_worker_killed_in_the_middle(engine, request, key, tmp_path):
    work = DiesOnce(reporter(key, type="int16" if engine == "spark" else "uint8"), tmp_path)
    run, _ = ENGINES[engine]
    reports = next(run(request.getfixturevalue(engine), write(tmp_path), work))
    assert in_order(reports) == in_one_process("integer")
    assert work.trouble.exists()


@pytest.mark.parametrize("engine", ["dask", "ray", "spark"])
def test_a_key_of_bytes_stays_here(engine, request, tmp_path):
    run, _ = ENGINES[engine]
    with pytest.raises(Exception, match=r"pickle|serializ|deterministically") as caught:
        next(run(request.getfixturevalue(engine), write(tmp_path), reporter()))
    assert not holds_key("".join(traceback.format_exception(caught.value)).encode())


def test_the_key_is_in_no_graph_of_dask_and_no_file(dask, key, tmp_path, place):
    import cloudpickle
    import dask.dataframe as dd

    frame = of_dask(dd.read_parquet(write(tmp_path)), reporter(key))
    graph = frame.dask
    assert len(frame.compute()) > 0
    for data in (cloudpickle.dumps(graph), pickle.dumps(frame)):
        assert b"KeyFile" in data
        assert not holds_key(data)
    assert not holds_key(repr((dict(graph), frame, *dict(graph).values())).encode())
    assert not holds_key(str((dask.get_worker_logs(), dask.get_scheduler_logs())).encode())
    files = [path for path in place.rglob("*") if path.is_file()]
    assert not [path for path in files if holds_key(path.read_bytes())]


def test_the_key_is_in_nothing_that_spark_writes(spark, key, tmp_path, place, capfd):
    """The files are those of the tests above as well."""
    import cloudpickle

    work = reporter(key, type="int16")
    frame = of_spark(spark.read.parquet(str(write(tmp_path))).repartition(3), work)
    assert in_order(frame.toArrow()) == in_one_process("integer")
    frame.explain(mode="extended")
    plans = capfd.readouterr().out
    assert "MapInArrow" in plans
    assert not holds_key(plans.encode()) and not holds_key(cloudpickle.dumps(work))
    texts = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert any("events" in path.parts and b"MapInArrow" in text for path, text in texts.items())
    assert not [path for path, text in texts.items() if holds_key(text)]


def frame_of(engine, table, request):
    made = request.getfixturevalue(engine)
    if engine == "spark":
        return made.createDataFrame(table).repartition(3)
    if engine == "ibis":
        return made.memtable(table)
    import dask.dataframe as dd

    return dd.from_pandas(pl.from_arrow(table).to_pandas(), npartitions=3)


FRAMES = ("spark", "dask", "ibis")


@pytest.mark.parametrize("engine", FRAMES)
def test_ids_are_checked_over_all_partitions(engine, request):
    table = records("string", 300)
    batches.check_ids(frame_of(engine, table, request), "person")
    twice = pa.concat_tables([table, table.slice(7, 1)])
    with pytest.raises(ValueError, match=r"in more than one row: 'person -?\d+ ß' \(2 rows\)"):
        batches.check_ids(frame_of(engine, twice, request), "person")


@pytest.mark.parametrize("engine", FRAMES)
def test_fits_and_estimates_are_those_of_the_rows_at_hand(engine, request):
    def lazy(frame):
        return frame_of(engine, frame.to_arrow(), request)

    at_hand = {
        "spark": lambda frame: lazy(frame).toArrow(),
        "dask": lambda frame: frame.to_pandas(),
        "ibis": lambda frame: frame,
    }
    check_engine(lazy, at_hand[engine])


def designs():
    table = records(n=400).drop(["person", "note"])
    for eps in (0.5, 1.0):
        yield SRRSanitizer(eps=eps, sensitive="ill").fit(table).mechanism_


def day(number, n=500):
    """Return the records of a day: some of the persons, with new values."""
    rng = np.random.default_rng(number)
    table = records("string", n=n).drop(["note"])
    for name, values in (("ill", SECRETS), ("visits", VALUES)):
        drawn = pa.array(np.array(values)[rng.integers(0, len(values), n)])
        table = table.set_column(table.column_names.index(name), name, drawn)
    return table.take(rng.permutation(n)[: n // 2])


def arrow(frame):
    table = in_arrow(frame)
    return table.drop_columns([name for name in table.column_names if name.startswith("__index")])


def history(make):
    """Report four days of two designs; return what left, and the ledger."""
    ledger, out = LedgerReporter.schema().empty_table(), []
    for number, design in enumerate([*designs()] * 2):
        most = 1 + number // 2
        daily = LedgerReporter(design, id="person", key=KEY, max_reports=most, type="int64")
        candidates = make(daily(day(number)))
        new = arrow(daily.entries(candidates, make(ledger))).cast(ledger.schema)
        ledger = pa.concat_tables([ledger, new])
        reports = arrow(daily.reports(candidates, make(ledger)))
        out.append(sorted(zip(*(column.to_pylist() for column in reports.columns), strict=True)))
    return out, sorted(zip(*(column.to_pylist() for column in ledger.columns), strict=True))


@pytest.mark.parametrize("engine", FRAMES)
def test_a_ledger_in_an_engine_ends_as_in_one_process(engine, request):
    expected = history(lambda table: table)
    assert len(expected[0][1]) < 250  # some were left out
    assert history(lambda table: frame_of(engine, table, request)) == expected


def test_people_who_come_twice_in_a_micro_batch(spark, tmp_path):
    """The page's stream with a ledger, when all files come at once: each person has one report."""
    code = blocks(TEXTS["docs/guide/engine_ledgers.md"], "python")
    [settle] = [block for block, _ in code if "def settle" in block]
    table = records(n=200).drop(["note"])
    (tmp_path / "records").mkdir()
    for number in range(2):
        other = table.set_column(1, "ill", table["ill"].take(np.roll(np.arange(200), number)))
        pq.write_table(other.slice(50 * number), tmp_path / f"records/{number}.parquet")
    stream = spark.readStream.schema(spark.createDataFrame(table).schema)
    stream = stream.parquet(str(tmp_path / "records"))
    own = {"spark": spark, "stream": stream, "folder": tmp_path, "key": key_file(tmp_path)}
    exec(settle, {"batches": batches, "mechanism": next(designs()).to_json(), **own})
    reports = pq.read_table(tmp_path / "reports_of_ledger_of_stream")
    assert sorted(reports["person"].to_pylist()) == sorted(table["person"].to_pylist())
