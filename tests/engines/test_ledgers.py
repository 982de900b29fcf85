"""Ledgers in every engine: two days of two designs end as they do in one process."""

import importlib.util

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_records import KEY, SECRETS, VALUES, key_file, records
from test_docs import TEXTS, blocks

from skrldp import SRRSanitizer, batches
from skrldp.batches import LedgerReporter

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.filterwarnings("ignore:Dask support is moving:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
N = 500


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    import spark_cluster

    session = spark_cluster.session("local[2]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


def of_spark(table, request):
    session = request.getfixturevalue("spark")
    return session.createDataFrame(table).repartition(3)


def of_dask(table, request):
    import dask.dataframe as dd

    return dd.from_pandas(table.to_pandas(), npartitions=3)


def of_ibis(table, request):
    import ibis

    return ibis.memtable(table)


ENGINES = {"pyspark": of_spark, "dask": of_dask, "ibis": of_ibis}


def designs():
    table = records(n=400).drop(["person", "note"])
    for eps in (0.5, 1.0):
        yield SRRSanitizer(eps=eps, sensitive="ill").fit(table).mechanism_


def day(number):
    """Return the records of a day: some of the persons, with new values."""
    rng = np.random.default_rng(number)
    table = records("string", n=N).drop(["note"])
    for name, values in (("ill", SECRETS), ("visits", VALUES)):
        place = table.column_names.index(name)
        drawn = pa.array(np.array(values)[rng.integers(0, len(values), N)])
        table = table.set_column(place, name, drawn)
    return table.take(rng.permutation(N)[: N // 2])


def arrow(frame):
    table = pa.table(nw.from_native(frame).lazy().collect("pyarrow").to_native())
    return table.drop_columns([name for name in table.column_names if name.startswith("__index")])


def history(make):
    """Report four days; return what left, and the ledger."""
    ledger, out = LedgerReporter.schema().empty_table(), []
    for number, design in enumerate([*designs()] * 2):
        most = 1 + number // 2
        one = LedgerReporter(design, id="person", key=KEY, max_reports=most, type="int64")
        candidates = make(one(day(number)))
        new = arrow(one.entries(candidates, make(ledger))).cast(ledger.schema)
        ledger = pa.concat_tables([ledger, new])
        reports = arrow(one.reports(candidates, make(ledger)))
        out.append(sorted(zip(*(column.to_pylist() for column in reports.columns), strict=True)))
    return out, sorted(zip(*(column.to_pylist() for column in ledger.columns), strict=True))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_follows_the_rules(engine, request):
    if not importlib.util.find_spec(engine):
        pytest.skip(f"{engine} is missing: make test-engines installs it")
    expected = history(lambda table: table)
    assert [len(reports) for reports in expected[0]][1] < N // 2  # some were left out
    assert history(lambda table: ENGINES[engine](table, request)) == expected


def test_people_who_come_twice_in_a_micro_batch(tmp_path, request):
    """The page's stream with a ledger, when all files come at once: each person has one report."""
    if not importlib.util.find_spec("pyspark"):
        pytest.skip("pyspark is missing: make test-engines installs it")
    spark = request.getfixturevalue("spark")
    code = blocks(TEXTS["docs/guide/engine_ledgers.md"], "python")
    [settle] = [block for block, _ in code if "def settle" in block]
    table = records(n=200).drop(["note"])
    for number in range(2):
        other = table.set_column(1, "ill", table["ill"].take(np.roll(np.arange(200), number)))
        (tmp_path / "records").mkdir(exist_ok=True)
        pq.write_table(other.slice(50 * number), tmp_path / f"records/{number}.parquet")
    stream = spark.readStream.schema(spark.createDataFrame(table).schema)
    stream = stream.parquet(str(tmp_path / "records"))
    own = {"spark": spark, "stream": stream, "folder": tmp_path, "key": key_file(tmp_path)}
    exec(settle, {"batches": batches, "mechanism": next(designs()).to_json(), **own})
    reports = pq.read_table(tmp_path / "reports_of_ledger_of_stream")
    assert sorted(reports["person"].to_pylist()) == sorted(table["person"].to_pylist())
