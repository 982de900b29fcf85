"""Spark on two workers: tasks that are killed, run twice or lost change no report.

The workers alone have the key. It must not be in anything that Spark writes.
"""

import os
import sys

import pytest

pytest.importorskip("pyspark", reason="PySpark is missing: make test-engines installs it")
if sys.platform != "linux":
    pytest.skip("the tests' Spark cluster needs Linux", allow_module_level=True)

import cloudpickle
import spark_cluster
from engine_faults import Troubled, dawdle, die, kill_executor, of_task
from engine_records import KEY, KINDS, N, holds_key, in_one_process, in_order, reporter, write
from lazy_frames import check_engine
from pyspark.sql.types import IntegerType, StructField, StructType

from skrldp import batches

pytestmark = [
    # Said of any pandas 3 when rows go to or come from Python; here they go as Arrow.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    # PySpark 4.0 leaves its sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
VARIABLE = "SKRLDP_KEY"
AFTER = 3  # seconds, after which Spark starts a second copy of a task that the others left behind


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where the cluster writes its logs, shuffles and copies of tasks."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def spark(place):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.path.dirname(__file__), prepend=os.pathsep)
        patch.delenv(VARIABLE, raising=False)
        with spark_cluster.cluster(place, **{VARIABLE: KEY.hex()}) as address:
            settings = {
                "spark.speculation": "true",
                "spark.speculation.interval": "100ms",
                "spark.speculation.multiplier": 1.01,
                "spark.speculation.quantile": 0.5,
                "spark.speculation.minTaskRuntime": f"{AFTER}s",
            }
            session = spark_cluster.session(address, place, **settings)
            yield session
            session.stop()


@pytest.fixture(scope="module")
def frames(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    return {kind: spark.read.parquet(str(write(folder, kind))) for kind in KINDS}


def reported(frame, trouble_in=None, trouble=None):
    """Report the records of a frame; return the frame and what was watched."""
    check = batches.key_check(KEY)  # the driver has no key
    work = reporter(batches.KeyVariable(VARIABLE), type="int32", key_check=check)
    if trouble_in is not None:
        work = Troubled(work, trouble_in, trouble, of_task)
    schema = StructType([frame.schema["person"], StructField("report", IntegerType())])
    return frame.mapInArrow(work, schema), work


@pytest.mark.parametrize("kind", KINDS)
def test_any_partitions_in_any_order_and_twice(frames, kind, tmp_path):
    assert VARIABLE not in os.environ
    for frame in (
        *(frames[kind].repartition(partitions, "note") for partitions in (1, 3, 7)),
        frames[kind].orderBy("note"),
    ):
        assert in_order(reported(frame)[0].toArrow()) == in_one_process(kind)
    frame, work = reported(frames[kind].coalesce(1), tmp_path)
    for times in (1, 2):
        assert in_order(frame.toArrow()) == in_one_process(kind)
        assert len(work.starts()) >= times


@pytest.mark.parametrize("trouble", [die, kill_executor])
def test_a_task_killed_in_the_middle(frames, trouble, tmp_path):
    frame, work = reported(frames["integer"].repartition(3), tmp_path, trouble)
    assert in_order(frame.toArrow()) == in_one_process("integer")
    assert work.happened()
    partitions = [partition for partition, _, _ in work.starts()]
    assert len(partitions) > len(set(partitions))


def test_lost_partitions_are_computed_again(frames, tmp_path):
    """An executor dies after it has reported, and takes what it had reported with it."""
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    frame, work = reported(frames["string"].repartition(2), folders[0])
    later = Troubled(iter, folders[1], kill_executor, of_task)
    frame = frame.repartition(3).mapInArrow(later, frame.schema)
    assert in_order(frame.toArrow()) == in_one_process("string")
    assert later.happened()
    first = [partition for partition, attempt, _ in work.starts() if attempt == 0]
    assert len(first) > len(set(first))  # in a second run of a stage that had ended


def test_a_second_copy_of_a_slow_task(frames, tmp_path):
    """Spark runs a task again that dawdles, and takes the reports of the copy."""
    frame, work = reported(frames["uuid"].repartition(4), tmp_path, dawdle)
    assert in_order(frame.toArrow()) == in_one_process("uuid")
    assert work.happened()
    assert max(attempt for _, attempt, _ in work.starts()) >= 1


def test_fits_and_estimates_are_those_of_the_rows_at_hand(spark):
    def lazy(frame):
        return spark.createDataFrame(frame.to_arrow()).repartition(3)

    check_engine(lazy, lambda frame: lazy(frame).toArrow())


def test_the_key_is_in_nothing_that_spark_writes(frames, place, capfd):
    """Runs last: the files are those of all tests above."""
    frame, work = reported(frames["integer"])
    assert in_order(frame.toArrow()) == in_one_process("integer")
    frame.explain(mode="extended")
    plans = capfd.readouterr().out
    assert "MapInArrow" in plans
    assert not holds_key(plans.encode())
    assert not holds_key(cloudpickle.dumps(work))
    files = [path for path in place.rglob("*") if path.is_file()]
    texts = {path: path.read_bytes() for path in files}
    assert any("events" in path.parts and b"MapInArrow" in text for path, text in texts.items())
    assert any("work" in path.parts and b"Executor" in text for path, text in texts.items())
    assert not [path for path, text in texts.items() if holds_key(text)]


def test_a_key_of_bytes_stays_here(frames):
    assert holds_key(cloudpickle.dumps(lambda: KEY))
    schema = StructType([frames["integer"].schema["person"], StructField("report", IntegerType())])
    with pytest.raises(Exception, match="cannot be pickled or sent to workers") as caught:
        frames["integer"].mapInArrow(reporter(KEY, type="int32"), schema).toArrow()
    assert not holds_key(str(caught.value).encode())


def test_ids_are_checked_over_all_partitions(frames):
    batches.check_ids(frames["integer"], "person")
    some = frames["integer"].orderBy("person").limit(1)
    twice = frames["integer"].unionByName(some)
    with pytest.raises(ValueError, match=rf"'person'.*{-(N // 3)} \(2 rows\)"):
        batches.check_ids(twice, "person")
