"""Fixtures of the command line's tests: a folder with a mechanism and records; the command."""

import io
import sys

import pytest
from command_files import DESIGN, table, write

from skrldp.cli import main


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
    (folder / "key").write_text("00112233445566778899aabbccddeeff" * 2)
    write(table(), folder / "records.csv")
    return folder
