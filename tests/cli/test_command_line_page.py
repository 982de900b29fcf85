"""The page about the command line: its example runs."""

import doctest
import io
import os
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

from conftest import ROOT

from skrldp.cli import main

PAGE = ROOT / "docs" / "guide" / "command_line.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def output_of(command, folder):
    """Do one line of the example; return what it prints."""
    printed = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    words = shlex.split(command)
    assert words[0] == "skrldp"
    with redirect_stdout(printed):
        if "||" in words:
            words = words[: words.index("||")]
            print(f"exit code {main(words[1:])}")
        else:
            assert main(words[1:]) == 0
    return printed.buffer.getvalue().decode()


def test_the_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    done = 0
    for step in (step for block in blocks for step in block.split("$ ")[1:]):
        command, _, expected = step.partition("\n")
        if command.startswith("cat "):
            Path(command.removeprefix("cat ")).write_text(expected)
            continue
        found = output_of(command, tmp_path)
        assert doctest.OutputChecker().check_output(expected, found, FLAGS), f"{command}\n{found}"
        done += 1
    assert done == 10
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]
