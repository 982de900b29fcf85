"""The recipes of the pages on engines run as scripts, and all write the same reports."""

import importlib.util
import os
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from engine_records import in_order, records
from test_docs import TEXTS, blocks

from skrldp import SRRSanitizer, batches

FIRST, *SECTIONS = (
    section
    for page in ("engines", "engine_ledgers")
    for section in re.split(r"\n## ", TEXTS[f"docs/guide/{page}.md"])[1:]
)
SECTIONS = {section.partition("\n")[0]: section for section in SECTIONS}
SCRIPTS = {
    "DuckDB and Polars": (
        *("PyArrow alone", "DuckDB", "Polars", "Designs and estimates"),
        *("A table of DuckDB", "Files, with Polars"),
    ),
    "Dask": ("Dask",),
    "Ray": ("Ray",),
    "Spark": ("Spark", "Structured Streaming"),
}
NEEDED = {
    "DuckDB and Polars": ("duckdb", "polars"),
    "Dask": ("dask",),
    "Ray": ("ray",),
    "Spark": ("pyspark",),
}
LAST = '\n(folder / "mechanism.json").write_text(mechanism)\n'


@pytest.mark.parametrize("name", SCRIPTS)
def test_recipe(name, tmp_path):
    missing = [package for package in NEEDED[name] if not importlib.util.find_spec(package)]
    if missing:
        pytest.skip(f"{missing[0]} is missing: make test-engines installs it")
    if name == "Spark":
        import spark_session

        spark_session.bring_java()
    sections = [FIRST, *(SECTIONS[section] for section in SCRIPTS[name])]
    code = "".join(code for section in sections for code, _ in blocks(section, "python"))
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", code + LAST]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    text, key = (tmp_path / "mechanism.json").read_text(), batches.KeyFile(tmp_path / "skrldp.key")
    table = ds.dataset(tmp_path / "records").to_table()
    expected = in_order(batches.Reporter(text, id="person", key=key)(table))
    written = list(tmp_path.glob("reports*"))
    assert len(written) == len(set(re.findall(r'"reports\w*[."]', code)))
    for path in written:
        assert in_order(ds.dataset(path, format="parquet").to_table()) == expected


def test_the_file_of_a_ledger_has_no_candidates(tmp_path):
    """A large table that is dropped leaves its bytes in a file of DuckDB."""
    duckdb = pytest.importorskip("duckdb", reason="make test-engines installs it")
    table = records("uuid", 150_000)
    (tmp_path / "records").mkdir()
    pq.write_table(table, tmp_path / "records/0.parquet")
    public = table.select(["ill", "visits"]).slice(0, 1_000)
    mechanism = SRRSanitizer(sensitive="ill").fit(public).mechanism_
    code = next(blocks(SECTIONS["A table of DuckDB"], "python"))[0]
    own = {"folder": tmp_path, "key": bytes(range(32)), "mechanism": mechanism}
    exec(code, {"duckdb": duckdb, "pa": pa, "batches": batches, **own})
    assert pq.read_metadata(tmp_path / "reports_of_ledger.parquet").num_rows == len(table)
    file = (tmp_path / "ledger.duckdb").read_bytes()
    assert not any(person in file for person in table["person"][:100_000:1_000].to_pylist())


def test_every_recipe_is_run():
    with_code = {name for name, text in SECTIONS.items() if any(blocks(text, "python"))}
    assert with_code == {name for names in SCRIPTS.values() for name in names}


def test_a_function_of_sql_reports_missing_values(tmp_path):
    """DuckDB's own way with NULL is not to call the function: the report would tell of it."""
    duckdb = pytest.importorskip("duckdb", reason="make test-engines installs it")
    table = records(n=300).drop_columns("note")
    for name, place in (("ill", 1), ("visits", 2)):
        values = [
            value if row % (place + 2) else None
            for row, value in enumerate(table[name].to_pylist())
        ]
        table = table.set_column(place, name, pa.array(values))
    (tmp_path / "records").mkdir()
    pq.write_table(table, tmp_path / "records/0.parquet")
    mechanism = SRRSanitizer(sensitive="ill").fit(table.drop_columns("person")).mechanism_
    reporter = batches.Reporter(mechanism, id="person", key=bytes(range(32)))

    def report(person, ill, visits):
        columns = [column.combine_chunks() for column in (person, ill, visits)]
        batch = pa.record_batch(columns, ["person", "ill", "visits"])
        return reporter.report_batch(batch)["report"]

    types = ["BIGINT", "VARCHAR", "VARCHAR"], "UTINYINT"
    with duckdb.connect() as engine:
        engine.create_function("report", report, *types, type="arrow", null_handling="special")
        engine.read_parquet(str(tmp_path / "records/*.parquet")).create_view("records")
        query = "SELECT person, report(person, ill, visits) AS report FROM records"
        engine.sql(query).write_parquet(str(tmp_path / "reports_of_sql.parquet"))
    written = pq.read_table(tmp_path / "reports_of_sql.parquet")
    assert in_order(written) == in_order(reporter(table))
