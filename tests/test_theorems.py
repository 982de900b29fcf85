"""Statements of docs/proofs.md and the functions that rely on them name each other."""

import importlib
import inspect
import re
from functools import reduce
from pathlib import Path

import pytest
from conftest import ROOT

import skrldp

PACKAGE = Path(skrldp.__file__).parent
KINDS = "Theorem|Lemma|Proposition"
PROVEN = set(
    re.findall(rf"^### ((?:{KINDS}) \d+):", (ROOT / "docs/proofs.md").read_text("utf-8"), re.M)
)
TABLE = (ROOT / "docs/mathematics.md").read_text("utf-8").partition("## 11. ")[2]
ROWS = [
    (statement, name)
    for said, _, functions in re.findall(r"^\| (.*) \| (.*) \| (.*) \|$", TABLE, re.M)
    for statement in re.findall(rf"(?:{KINDS}) \d+", said)
    for name in re.findall(r"`(.+?)`", functions)
]


def cited(path):
    """The numbered statements that a module names, but for those of the papers."""
    text = re.sub(r"\s+#? *", " ", path.read_text("utf-8"))
    text = re.sub(rf"(Entropy|ISIT)( \d+,)? ({KINDS}) \d+", "", text)
    return set(re.findall(rf"\b(?:{KINDS}) \d+", text))


def named(name):
    """What a dotted name below skrldp stands for."""
    room, *rest = name.split(".")
    if rest[0].startswith("_"):
        room = f"{room}.{rest.pop(0)}"
    return reduce(getattr, rest, importlib.import_module(f"skrldp.{room}"))


@pytest.mark.parametrize(("statement", "name"), ROWS)
def test_functions_name_their_theorems(statement, name):
    assert statement in PROVEN
    assert statement in cited(Path(inspect.getsourcefile(named(name)))), name


def test_theorems_name_their_functions():
    """Each statement that the code names is proven, and listed with a function of that room."""
    places = {(one, room(path)) for path in PACKAGE.rglob("*.py") for one in cited(path)}
    assert {one for one, _ in places} <= PROVEN
    assert places == {(statement, name.split(".")[0]) for statement, name in ROWS}


def room(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_proofs_name_what_there_is():
    """Modules, functions and files that the proofs name exist."""
    quoted = re.findall(r"`([\w./]+)`", (ROOT / "docs/proofs.md").read_text("utf-8"))
    files = {name for name in quoted if "/" in name}
    assert files
    for name in files:
        assert (ROOT / name).is_file() or (PACKAGE / name).is_file(), name
    functions = {name for name in quoted if "." in name and "/" not in name}
    assert functions
    for name in functions:
        assert named(name), name
