"""Spark on several workers: tasks that die, run twice or start again change no report.

Every kind of id goes through clusters of two executors in processes of their own.
"""

import json
import os
import sys

import numpy as np
import pytest

reason = "PySpark (extra: spark) is missing"
pytest.importorskip("pyspark", reason=reason)

import engine_faults
import pyarrow as pa
import spark_cluster
from engine_records import (
    KEY,
    KINDS,
    N,
    holds_key,
    in_one_process,
    in_order,
    reporter,
    write,
)

from skrldp import batches

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the test's cluster needs Linux: two loopback addresses, /proc"
)
VARIABLE = "SKRLDP_KEY"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where the cluster writes its logs, shuffles and copies of tasks."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def spark(place):
    """A session on two workers, which alone have the key."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.path.dirname(__file__), prepend=os.pathsep)
        patch.delenv(VARIABLE, raising=False)
        with spark_cluster.cluster(place, **{VARIABLE: KEY.hex()}) as address:
            session = spark_cluster.session(
                address,
                place,
                **{
                    "spark.speculation": "true",
                    "spark.speculation.interval": "100ms",
                    "spark.speculation.multiplier": 1.1,
                    "spark.speculation.quantile": 0.5,
                    "spark.speculation.minTaskRuntime": "100ms",
                },
            )
            yield session
            session.stop()


@pytest.fixture(scope="module")
def frames(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    return {kind: spark.read.parquet(str(write(folder, kind))) for kind in KINDS}


def reported(frame, work=None):
    """Report the records of a frame on the workers, with the key that only they have."""
    own = reporter(batches.KeyVariable(VARIABLE), **OPTIONS)
    schema = frame.sparkSession.createDataFrame(...)
    return frame.mapInArrow(own if work is None else work(own), schema)
