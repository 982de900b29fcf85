"""The recipes of `docs/guide/engines.md` run as scripts, and all write the same reports."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pyarrow.dataset as ds
import pytest
from engine_records import in_order
from test_docs import TEXTS, blocks

from skrldp import batches

PAGE = TEXTS["docs/guide/engines.md"]
FIRST, *SECTIONS = re.split(r"^## ", PAGE.partition("\n## ")[2], flags=re.MULTILINE)
SECTIONS = {section.partition("\n")[0]: section for section in SECTIONS}
NEEDED = {"Spark": "pyspark", "Dask": "dask.dataframe", "DuckDB": "duckdb", "Polars": "polars"}
ALSO = {"Designs and estimates": "Polars"}
LAST = '\n(folder / "mechanism.json").write_text(mechanism)\n'


@pytest.mark.parametrize("name", [name for name in SECTIONS if any(blocks(SECTIONS[name], "python"))])
def test_recipe(name, tmp_path):
    package = NEEDED.get(ALSO.get(name, name), "pyarrow")
    if find_spec(package.partition(".")[0]) is None:
        pytest.skip(f"{package} is not installed")
    sections = [FIRST, *([SECTIONS[ALSO[name]]] if name in ALSO else []), SECTIONS[name]]
    code = "".join(code for section in sections for code, _ in blocks(section, "python"))
    if name == "Spark":
        import spark_cluster

        spark_cluster.bring_java()
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", code + LAST]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    text, key = (tmp_path / "mechanism.json").read_text(), batches.KeyFile(tmp_path / "skrldp.key")
    records = ds.dataset(tmp_path / "records").to_table()
    reporter = batches.Reporter(text, id="person", key=key)
    (expected,) = reporter(records.combine_chunks().to_batches())
    written = list(tmp_path.glob("reports*"))
    assert len(written) == code.count('folder / "reports') - (name in ALSO)
    for path in written:
        assert in_order(ds.dataset(path, format="parquet").to_table()) == in_order(expected)


def test_every_engine_has_a_recipe():
    assert NEEDED.keys() <= SECTIONS.keys()
