"""A table and its files; fixtures: a folder with a mechanism and records, and the command."""

import datetime
import io
import sys

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from skrldp.batches import key_check
from skrldp.cli import main

DAYS = [datetime.date(2026, 1, day) for day in (1, 2)]


def table():
    """300 records: a secret, a number, a postal code with a zero in front, and a day."""
    n = 300
    return pa.table(
        {
            "person": [7 * row for row in range(n)],
            "ill": [("no", "yes")[row % 3 == 0] for row in range(n)],
            "visits": [row % 4 for row in range(n)],
            "zip": [("01", "02")[row % 5 == 0] for row in range(n)],
            "day": [DAYS[row % 7 < 3] for row in range(n)],
        }
    )


def write(records, path):
    """Write a table in the format that the file's name says."""
    name = str(path)
    if name.endswith(".parquet"):
        pq.write_table(records, path, row_group_size=100)
    elif name.endswith((".csv", ".csv.gz", ".tsv")):
        options = pacsv.WriteOptions(delimiter="\t" if name.endswith(".tsv") else ",")
        with pa.output_stream(path) as sink:  # compresses by the name
            pacsv.write_csv(records, sink, options)
    else:
        with pa.ipc.new_file(path, records.schema) as sink:
            sink.write_table(records, max_chunksize=100)
    return path


DESIGN = ("--sanitizer", "srr", "-s", "ill", "-c", "visits", "-c", "zip", "-c", "day", "-e", "1")


KEY = bytes.fromhex("00112233445566778899aabbccddeeff" * 2)
KEYED = ("--id", "person", "--key", "key")
CHECKED = (*KEYED, "--key-check", key_check(KEY))  # the run is known to have the same key


def read(path):
    """Read a table that a command wrote, by the name's ending."""
    name = str(path)
    if name.endswith(".parquet"):
        return pq.read_table(path)
    if name.endswith(".csv"):
        return pacsv.read_csv(path)
    return pa.ipc.open_file(path).read_all()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(capsys, monkeypatch):
    """Run the command in this process: exit code, standard output, standard error."""

    def called(*args, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = main([str(arg) for arg in args])
        told = capsys.readouterr()
        return code, told.out, told.err

    return called


@pytest.fixture(scope="session")
def designed(tmp_path_factory):
    """The JSON of a mechanism for the columns of the table but the person."""
    target = tmp_path_factory.mktemp("designed") / "mechanism.json"
    public = write(table(), target.with_name("public.parquet"))
    assert main(["design", str(public), *DESIGN, "-o", str(target)]) == 0
    return target.read_bytes()


@pytest.fixture
def ready(folder, designed):
    """The folder with mechanism.json, a key, and the records as CSV."""
    (folder / "mechanism.json").write_bytes(designed)
    (folder / "key").touch(0o600)
    (folder / "key").write_text(KEY.hex())
    write(table(), folder / "records.csv")
    return folder
