"""The page about the command line: its example runs, and the options on it are what --help prints.

python tests/cli/test_command_line_page.py     writes the help on the page anew
"""

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
COMMANDS = ("design", "report")  # whose options are on the page
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


def test_the_page_is_short():
    assert len(PAGE.read_text("utf-8").split()) <= 1_500


def help_of(*command):
    printed = io.StringIO()
    with redirect_stdout(printed):
        assert main([*command, "--help"]) == 0
    return printed.getvalue()


def words(text):
    """Words and options alone: versions of typer decorate them in different ways."""
    plain = re.sub(r"[<\[{(](str|int|float|TEXT)[>\]})]", "", text)
    return re.findall(r"[\w.,:;'-]*\w[\w.]*", plain)


def page_with_help(text):
    blocks = [
        f"```text\n$ skrldp {name} --help\n...\nOptions:{options.rstrip()}\n```\n"
        for name, options in ((n, help_of(n).partition("Options:")[2]) for n in COMMANDS)
    ]
    return text.partition("```text\n$ skrldp design")[0] + "\n".join(blocks)


def test_the_help_is_current(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = PAGE.read_text("utf-8")
    assert words(page_with_help(text)) == words(text), "run this file to write the help anew"


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    PAGE.write_text(page_with_help(PAGE.read_text("utf-8")), "utf-8")
