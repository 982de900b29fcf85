"""Files that are not complete: whatever ends a run but a kill, they do not stay."""

import os
import signal
import subprocess
import sys
import time

import pytest
from command_files import call, designed, folder, ready

from skrldp.cli._common import CommandError
from skrldp.cli._files import new_file

__all__ = ["call", "designed", "folder", "ready"]  # fixtures

COMMAND = "import sys; from skrldp.cli import main; sys.exit(main())"
GOOD = ("report", "mechanism.json", "records.csv", "-o", "out.csv")


def parts(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".part"))


def heed_signals():
    """As in a terminal: nohup, and shells in the background, pass on that some are ignored."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def started(folder, *before):
    """Start a report of records that never end; wait until its file is there."""
    process = subprocess.Popen(
        [*before, sys.executable, "-c", COMMAND, "report", "mechanism.json", "-", *GOOD[3:]],
        cwd=folder,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
    )
    known = parts(folder)
    deadline = time.monotonic() + 60
    while parts(folder) == known and time.monotonic() < deadline:
        time.sleep(0.02)
    return process


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_leaves_nothing(ready, name):
    process = started(ready)
    assert len(parts(ready)) == 1
    process.send_signal(getattr(signal, name))
    code, err = process.wait(timeout=60), process.stderr.read()
    process.communicate()
    assert (code, err) == (130, b"skrldp: error: interrupted; nothing was written.\n")
    assert parts(ready) == []


IN_AN_IMPORT = """
import os, signal, sys

class Finder:
    def find_spec(self, name, *more):
        if name == "pyarrow.csv":
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                for _ in range(1000):  # the handler runs in here
                    pass
            except KeyboardInterrupt:  # as callbacks of Python's own imports do
                pass

sys.meta_path.insert(0, Finder())
from skrldp.cli import main
sys.exit(main())
"""


def test_a_signal_in_an_import_ends_the_command(ready):
    """Python may swallow what a signal raises there."""
    done = subprocess.run(
        [sys.executable, "-c", IN_AN_IMPORT, *GOOD],
        cwd=ready,
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
        timeout=60,
    )
    words = b"skrldp: error: interrupted; nothing was written.\n"
    assert (done.returncode, done.stderr) == (130, words)
    assert not (ready / "out.csv").exists()


def test_what_is_to_outlive_its_terminal_does(ready):
    """As nohup asks: the signal stays ignored."""
    process = started(ready, "nohup")
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate((ready / "records.csv").read_bytes(), timeout=60)
    assert process.returncode == 0, err
    assert (ready / "out.csv").exists()


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_is_there_at_the_last_moment_is_not_replaced(folder, monkeypatch, has_links):
    """Two runs of ``skrldp key FILE`` that were timed lost the first key, which was in use."""

    def refused(*names):
        raise PermissionError(1, "Operation not permitted")

    if not has_links:
        monkeypatch.setattr(os, "link", refused)
    with new_file("first") as file:
        file.write(b"whole")
    assert (folder / "first").read_text() == "whole"
    chmod = os.chmod
    monkeypatch.setattr("skrldp.cli._files.checked_target", lambda target, **_: folder / target)

    def with_other_run(*names):
        chmod(*names)
        (folder / "out").write_text("the other run's")

    monkeypatch.setattr(os, "chmod", with_other_run)
    with (
        pytest.raises(CommandError, match="out exists; choose a different name"),
        new_file("out") as own,
    ):
        own.write(b"mine")
    assert (folder / "out").read_text() == "the other run's"
    assert sorted(os.listdir(folder)) == ["first", "out"]


def test_a_link_to_no_file_is_refused(folder):
    """Whoever made the link would choose which file is written."""
    (folder / "out").symlink_to("elsewhere")
    wrong = "out is a symbolic link to a file that is not there"
    with pytest.raises(CommandError, match=wrong), new_file("out"):
        pass
    assert os.listdir(folder) == ["out"]


def test_who_may_read_a_file(folder):
    mask = os.umask(0)
    os.umask(mask)
    for name, mode, expected in (("own", 0o600, 0o600), ("usual", None, 0o666 & ~mask)):
        with new_file(name, mode=mode) as file:
            assert (folder / parts(folder)[0]).stat().st_mode & 0o777 == 0o600
            file.write(b"new")
        assert (folder / name).stat().st_mode & 0o777 == expected
