"""Statements of docs/proofs.md and the functions that rely on them name each other.

What these functions do is held in theorem_hashes.json, so that a change asks for the statements to
be read again. After reading, ``python tests/test_theorems.py`` writes it anew.
"""

import ast
import hashlib
import importlib
import inspect
import json
import re
import textwrap
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

HASHES = Path(__file__).with_name("theorem_hashes.json")


def hash_of(source):
    """A hash of what a definition does: of its tree, without docstrings, comments and layout."""
    tree = ast.parse(textwrap.dedent(source))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return hashlib.sha256(repr(told(tree)).encode()).hexdigest()[:16]


def told(part):
    """A part of a tree as lists, without what is empty: later Pythons have more of it."""
    if isinstance(part, list):
        return [told(one) for one in part]
    if not isinstance(part, ast.AST):
        return repr(part)
    fields = [(name, own) for name, own in ast.iter_fields(part) if own is not None and own != []]
    return [type(part).__name__, *((name, told(own)) for name, own in fields)]


def hashes():
    names = sorted({name for _, name in ROWS})
    return {name: hash_of(inspect.getsource(named(name))) for name in names}


def cited(path):
    """The numbered statements that a module names, but for those of the papers."""
    text = re.sub(r"\s+#? *", " ", path.read_text("utf-8"))
    text = re.sub(rf"(Entropy|ISIT)( \d+,)? ({KINDS}) \d+", "", text)
    return set(re.findall(rf"\b(?:{KINDS}) \d+", text))


def named(name):
    """What a dotted name below skrldp stands for."""
    parts = name.split(".")
    module = [part for part in parts[:-1] if part.islower()]
    return reduce(
        getattr, parts[len(module) :], importlib.import_module(".".join(["skrldp", *module]))
    )


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


def test_what_theorems_stand_behind_is_as_it_was_read():
    """The functions of the table, but not those that they call."""
    kept, now = json.loads(HASHES.read_text("utf-8")), hashes()
    changed = {name for name in kept.keys() | now if kept.get(name) != now.get(name)}
    again = sorted({f"{statement} for {name}" for statement, name in ROWS if name in changed})
    assert not changed, (
        f"read in docs/proofs.md whether these still hold: {'; '.join(again) or changed}. If they "
        "do, write the hashes anew: python tests/test_theorems.py"
    )


def test_a_hash_is_of_what_is_done():
    source = "def f(x, y=1):\n    'It adds.'\n    return x + y\n"
    same = "def f(\n    x,\n    y=1,\n):\n    # a comment\n    return (x + y)\n"
    assert hash_of(source) == hash_of(same) == hash_of(textwrap.indent(source, "    "))
    for one, other in (("x + y", "x - y"), ("y=1", "y=2"), ("x + y", "y + x"), ("return ", "")):
        assert hash_of(source) != hash_of(source.replace(one, other)), other


if __name__ == "__main__":
    HASHES.write_text(json.dumps(hashes(), indent=1) + "\n", "utf-8")
