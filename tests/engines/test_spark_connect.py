"""Spark Connect: the session is a client of a server, which gets the reporter as a pickle.

A process is a client or has a driver of its own, never both, so this one is started for itself.
"""

import os
import subprocess
import sys

import pytest

pytest.importorskip("grpc_status", reason="Spark Connect is missing: make test-engines installs it")
pytest.importorskip("pyspark", reason="PySpark is missing: make test-engines installs it")

from engine_records import KEY, write

CODE = """
import sys
import warnings

warnings.simplefilter("ignore")  # PySpark's, about pandas 3
from engine_records import in_one_process, in_order, reporter
from lazy_frames import check_engine
from pyspark.sql import SparkSession
from spark_session import bring_java

from skrldp import batches

bring_java()
spark = SparkSession.builder.remote("local[2]").getOrCreate()
assert "connect" in type(spark).__module__
spark.conf.set("spark.sql.session.timeZone", "UTC")
frame = spark.read.parquet(sys.argv[1])
batches.check_ids(frame, "person")
work = reporter(batches.KeyVariable("SKRLDP_KEY"), type="int32")
for partitions in (1, 5):
    reports = frame.repartition(partitions).mapInArrow(work, "person long, report int")
    assert in_order(reports.toArrow()) == in_one_process("integer")
check_engine(
    lambda own: spark.createDataFrame(own.to_arrow()),
    lambda own: spark.createDataFrame(own.to_arrow()).toArrow(),
)
spark.stop()
print("all is well")
"""


def test_reports_and_fits(tmp_path):
    here = os.path.dirname(__file__)
    path = [here, os.path.dirname(here), os.environ.get("PYTHONPATH", "")]
    env = {
        **os.environ,
        "SKRLDP_KEY": KEY.hex(),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
    }
    command = [sys.executable, "-c", CODE, str(write(tmp_path))]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("all is well")
