"""The house stands as it was drawn: who may import whom, and what stays out.

The order of the rooms is the table `MAY_IMPORT` below; a new room gets its line there.
"""

import ast
import functools
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from conftest import ROOT

from skrldp import PolyOptSanitizer
from skrldp.claims import Claim, Claims
from skrldp.privacy.requirements import Requirement, Requirements

PACKAGE = ROOT / "skrldp"

# The rooms in the order in which data flows, and what each may import besides itself. A room is a
# package or a module of the package itself; of two entries that fit a module, the longer counts.
GROUND = {
    "_arrays", "_frames", "_pages", "_params", "_lists_in_words", "_typing", "exceptions",
}  # fmt: skip
MAY_IMPORT: dict[str, set[str]] = {
    "exceptions": set(),
    "_arrays": set(),
    "_frames": set(),
    "_typing": set(),
    "_pages": set(),
    "_params": set(),
    "_highs": {"exceptions"},
    "datasets": set(),
    "alphabet": set(),
    "_lists_in_words": set(),
    "claims": {"alphabet"},
    "claims_in_words": {"alphabet", "claims"},
    "table": {"alphabet"},
    "information": set(),
    "surveys": {"alphabet", "table"},
    "public_summary": set(),
    "joint": {"alphabet", "information", "public_summary", "surveys"},
    "support_function": set(),
    "sets": {
        "alphabet", "claims", "claims_in_words", "joint", "public_summary", "support_function",
        "surveys",
    },
    "privacy": {"claims", "joint", "support_function", "sets"},
    "design": {"_highs", "information", "joint", "privacy", "sets", "support_function"},
    "targets": {"alphabet"},
    "sampling": set(),
    "pooling": set(),
    "mechanism": {
        "alphabet", "claims", "claims_in_words", "information", "public_summary", "sampling",
        "table",
    },
    "certificate": {
        "alphabet", "claims", "claims_in_words", "information", "joint", "mechanism", "privacy",
        "sets", "support_function",
    },
    "sanitizers": {
        "alphabet", "certificate", "claims", "claims_in_words", "design", "information", "joint",
        "mechanism", "privacy", "pooling", "public_summary", "sampling", "sets", "surveys", "table",
        "targets",
    },
    "client": {"alphabet", "claims", "claims_in_words", "mechanism", "sampling"},
    "batches": {"alphabet", "claims", "claims_in_words", "client", "mechanism", "sampling"},
    "estimation": {
        "alphabet", "certificate", "claims", "claims_in_words", "joint", "mechanism", "pooling",
        "public_summary", "sanitizers", "sets", "surveys", "table", "targets",
    },
    "regression": {"alphabet", "estimation", "table"},
    "auditing": {
        "alphabet", "claims", "claims_in_words", "client", "joint", "mechanism", "sanitizers",
    },
    "report": {
        "alphabet", "certificate", "claims", "claims_in_words", "estimation", "information",
        "mechanism", "sanitizers", "sets", "targets",
    },
    "display": {"estimation", "mechanism", "sanitizers"},
    "model_selection": {"estimation", "sanitizers"},
    "cli": {
        "alphabet", "batches", "certificate", "claims", "claims_in_words", "client", "estimation",
        "joint", "mechanism", "privacy", "report", "sanitizers", "sets", "surveys", "table",
        "targets",
    },
}  # fmt: skip

# Values whose kinds only their own room tells apart: the room, and the modules that define them.
KINDS = {"sets": "sets/*.py", "privacy": "privacy/*.py"}

# Third parties that only these rooms know.
ONLY_IN = {
    "sklearn": {
        "sanitizers",
        "sets.parameter_objects",
        "estimation",
        "model_selection",
        "display",
    },
    "highspy": {"_highs"},
    "narwhals": {"table", "sanitizers", "batches", "estimation", "auditing"},
}
# Third parties that no module loads when it is imported.
LAZY = {"cdd", "cvxpy", "formulaic", "matplotlib", "pandas", "pyarrow", "tqdm"}


class Import(NamedTuple):
    """One imported module or name, with where it stands."""

    target: str  # dotted and absolute; for `from m import n` it is "m.n"
    line: int
    at_import: bool  # runs when the module is imported
    typing: bool = False  # for type checkers alone


@functools.cache
def parsed(source: str) -> ast.Module:
    """The tree of a source, which several tests walk."""
    return ast.parse(source)


def imports(source: str, package: str) -> Iterator[Import]:
    """Yield what `source`, a module of `package` (dotted; "" at the top), imports."""

    def walk(node: ast.AST, at_import: bool, typing: bool = False) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, at_import, typing)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = parts[: len(parts) - node.level + 1] if node.level else []
            base += [node.module] if node.module else []
            for alias in node.names:
                yield Import(".".join([*base, alias.name]), node.lineno, at_import, typing)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.body:
                yield from walk(child, False, True)
            for child in node.orelse:
                yield from walk(child, at_import, typing)
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                    yield from walk(child, at_import and not inside, typing)

    yield from walk(parsed(source), True)


def python_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def module_name(path: Path) -> str:
    """Return the name below skrldp: "design.rows"; "" for skrldp itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in python_files("skrldp")}


@functools.cache
def imports_of(path: Path) -> list[Import]:
    package = ".".join(path.relative_to(ROOT).parent.parts)
    return list(imports(path.read_text(encoding="utf-8"), package))


def covers(names: set[str], module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


def room(module: str) -> str | None:
    """Return the longest entry of MAY_IMPORT that fits `module`."""
    return max((name for name in MAY_IMPORT if covers({name}, module)), key=len, default=None)


def rooms_named(targets: list[str], modules: set[str]) -> set[str]:
    """Return those of `modules` that the imports `targets` name."""
    found = set()
    for target in targets:
        if target.split(".")[0] != "skrldp":
            continue
        name = target.removeprefix("skrldp").removeprefix(".")
        while name and name not in modules:
            name = name.rpartition(".")[0]
        found.add(name)
    return found


def upward(module: str, targets: list[str], modules: set[str]) -> list[str]:
    """Return those of the imports of `module` that MAY_IMPORT does not allow."""
    own = room(module)
    allowed = {own} | MAY_IMPORT[own] | GROUND
    named = rooms_named(targets, modules) - {module}
    return sorted(n or "skrldp itself" for n in named if not (n and covers(allowed, n)))


def behind_doors(module: str, targets: list[str]) -> list[str]:
    """Return the imports of `module` that take what another room keeps to itself.

    A name with an underscore belongs to the package that it stands in, and to what is inside.
    """
    found = []
    for target in targets:
        parts = target.split(".")
        if parts[0] != "skrldp":
            continue
        for place, part in enumerate(parts):
            holder = ".".join(parts[1:place])
            inside = not holder or module == holder or module.startswith(f"{holder}.")
            if part.startswith("_") and not part.startswith("__") and not inside:
                found.append(target)
    return sorted(set(found))


def names_of_others(source: str, own: str) -> set[str]:
    """Return attributes with an underscore that `source` reads and the room `own` never defines."""
    defined = set(
        re.findall(
            r"(?:def|self\.|cls\.|class|^    |object, \"|setattr\(self, \")"
            r"\s*(_[a-z]\w*)",
            own,
            re.MULTILINE,
        )
    )
    read = {
        node.attr
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Attribute) and re.match(r"_(?!_)", node.attr)
    }
    return read - defined


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return import circles: the modules of each strongly connected part of more than one."""
    done: set[str] = set()
    order: list[str] = []

    def visit(node: str, edges: dict[str, set[str]], out: list[str]) -> None:
        if node in done:
            return
        done.add(node)
        for other in sorted(edges.get(node, ())):
            visit(other, edges, out)
        out.append(node)

    for node in graph:
        visit(node, graph, order)
    back: dict[str, set[str]] = {node: set() for node in graph}
    for node, others in graph.items():
        for other in others:
            back.setdefault(other, set()).add(node)
    done.clear()
    found = []
    for node in reversed(order):
        part: list[str] = []
        visit(node, back, part)
        if len(part) > 1:
            found.append(sorted(part))
    return found


def begins_with(node: ast.AST) -> str:
    """Return the name with which an expression of attributes, calls and items begins."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def private_names(source: str, package: str = "") -> list[str]:
    """Return what `source` uses of scikit-learn that starts with an underscore."""
    dotted = [i.target for i in imports(source, package)]
    dotted += [
        ast.unparse(node)
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Attribute) and begins_with(node) == "sklearn"
    ]
    return [
        name for name in dotted if re.match(r"sklearn\.", name) and re.search(r"\._(?!_)", name)
    ]


def classes_in(files: str) -> set[str]:
    """Return the classes of some modules, and the unions of them that have a name."""
    found = set()
    for path in PACKAGE.glob(files):
        for node in parsed(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
                found |= {name.id for name in node.targets if isinstance(name, ast.Name)}
    return found


def asked_kinds(source: str) -> list[tuple[str, int]]:
    """Return the classes that `source` asks whether something is one of, and the lines."""
    found = []
    for node in ast.walk(parsed(source)):
        asked: list[ast.AST] = []
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
                asked = node.args[1:]
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Call):
            asked = list(node.comparators) if begins_with(node.left) == "type" else []
        names = [each for one in asked for each in ast.walk(one)]
        found += [(each.id, node.lineno) for each in names if isinstance(each, ast.Name)]
        found += [(each.attr, node.lineno) for each in names if isinstance(each, ast.Attribute)]
    return found


def test_imports_point_down():
    found = []
    for module in filter(None, MODULES):
        name = f"skrldp.{module}"
        if not room(module):
            found.append(f"{name} has no place yet: give its room a line in MAY_IMPORT")
            continue
        targets = [i.target for i in imports_of(MODULES[module])]
        if wrong := upward(module, targets, set(MODULES)):
            found.append(f"{name} may not import {', '.join(wrong)} (MAY_IMPORT says what)")
        if taken := behind_doors(module, targets):
            found.append(f"{name} takes {', '.join(taken)}; import from the room itself")
    assert not found, "\n".join(found)


def test_the_order_has_no_circle():
    assert not circles(MAY_IMPORT)


def test_no_import_circles():
    """Imports inside functions count, and those for type checkers alone."""
    graph = {}
    for module, path in MODULES.items():
        targets = [i.target for i in imports_of(path)]
        others = rooms_named(targets, set(MODULES)) - {module, ""}
        graph[module] = others
    assert not circles(graph)


@pytest.mark.parametrize("name", sorted({m.split(".")[0] for m in MODULES if m}))
def test_nobody_reads_anothers_underscores(name):
    paths = [path for module, path in MODULES.items() if module.split(".")[0] == name]
    own = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    assert not names_of_others(own, own)


def test_third_parties_stay_in_their_rooms():
    found = []
    for module, path in MODULES.items():
        for item in imports_of(path):
            top = item.target.split(".")[0]
            where = f"{path.relative_to(ROOT)}:{item.line}"
            if top in ONLY_IN and not covers(ONLY_IN[top], module):
                found.append(f"{where}: {top} belongs in {ONLY_IN[top]}")
            if top in LAZY and item.at_import:
                found.append(f"{where}: import {top} inside the function that needs it")
    assert not found, "\n".join(found)


def test_nobody_asks_for_the_kind_of_a_set_or_a_region():
    """What differs between them is a method or a property of theirs."""
    kinds = {name: own for own, files in KINDS.items() for name in classes_in(files)}
    assert {"RenyiSet", "FittedSet", "SimplexRegion"} <= set(kinds)
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for module, path in MODULES.items()
        for name, line in asked_kinds(path.read_text(encoding="utf-8"))
        if name in kinds and room(module) != kinds[name]
    ]
    assert not found, "\n".join(found)


def test_nothing_private_of_scikit_learn():
    files = python_files("skrldp", "tests", "examples", "benchmarks", "docs")
    found = {
        str(path.relative_to(ROOT)): names
        for path in files
        if path != Path(__file__).resolve()
        and "sklearn" in (text := path.read_text("utf-8"))  # parsing all would take seconds
        and (names := private_names(text))
    }
    assert not found


# What is asked for is refused, and told. scikit-learn itself loads pandas where it finds it, and
# does without where it does not, and pandas loads pyarrow.
REFUSED = """
import sys
class Refuse:
    asked = set()
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top in {modules}:
            self.asked.add(top)
            raise ModuleNotFoundError(f"{{name}} must not be loaded", name=name)
sys.meta_path.insert(0, Refuse())
import skrldp
{action}
print(*sorted(Refuse.asked - {{"pandas", "pyarrow"}}))
"""
EVERY_NAME = "[getattr(skrldp, name) for name in skrldp.__all__]"
# Designs and proofs need no estimator; the solvers' own libraries they may load.
PLAIN = """
import skrldp.certificate
import skrldp.design.engine
assert not Refuse.asked
try:
    skrldp.RenyiBall
except ModuleNotFoundError:
    pass
"""


def asked(modules: set[str], action: str) -> str:
    code = REFUSED.format(modules=sorted(modules), action=action)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_no_name_loads_what_is_heavy():
    assert asked(LAZY, EVERY_NAME) == ""


def test_designs_and_proofs_do_without_scikit_learn():
    assert asked({"sklearn"}, PLAIN) == "sklearn"  # of an estimator, at the end


def test_no_machine_and_no_registry_is_named():
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no git")
    if listed.returncode or not listed.stdout:
        pytest.skip("this is not a git checkout with files")
    hosts = ("pypi", "files.pythonhosted", "registry.npmjs", "deb.debian")
    banned = [f"/{folder}/" for folder in ("work", "tmp/v", "root")]
    banned += [f"{host}.org" for host in hosts]
    found = [
        f"{name} has {word}"
        for name in listed.stdout.rstrip("\0").split("\0")
        if (ROOT / name).is_file()
        for text in [(ROOT / name).read_text(encoding="utf-8", errors="ignore")]
        for word in banned
        if word in text
    ]
    assert not found


def test_minimum_versions_agree():
    """The oldest versions that are tested are the bounds that users see, and there is no cap."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    extras = {**project["optional-dependencies"], **settings["dependency-groups"]}
    engines = ("spark", "dask", "ray", "duckdb", "polars", "engines")
    ours = (extras[name] for name in ("vertices", "plot", "examples", "cli", "test", *engines))
    needed = (re.sub(r"\[.*\]", "", line) for line in sum(ours, project["dependencies"]))
    bounds = [line.split(">=") for line in needed]
    text = (ROOT / "tests" / "minimum-constraints.txt").read_text(encoding="utf-8")
    assert dict(re.findall(r"^([\w-]+)==(\S+)$", text, re.MULTILINE)) == dict(bounds)
    assert len({tuple(bound) for bound in bounds}) == len(dict(bounds))


# The checks themselves must be able to fail.


def test_the_reader_sees_every_kind_of_import():
    source = """
import numpy as np, cvxpy
from . import vertices
from ..joint import JointDistribution
from skrldp import table
if TYPE_CHECKING:
    import pandas
class A:
    import cdd
def f():
    import matplotlib.pyplot
"""
    seen = {item.target: item.at_import for item in imports(source, "skrldp.design")}
    assert seen == {
        "numpy": True,
        "cvxpy": True,
        "skrldp.design.vertices": True,
        "skrldp.joint.JointDistribution": True,
        "skrldp.table": True,
        "pandas": False,
        "cdd": True,
        "matplotlib.pyplot": False,
    }


def test_what_is_forbidden_is_seen():
    modules = {"", "_highs", "design", "design.vertices", "sanitizers"}
    for module, target, wrong in (
        ("joint", "skrldp.PolyOptSanitizer", ["skrldp itself"]),
        ("_highs", "skrldp.design.vertices", ["design.vertices"]),
        ("design.rows", "skrldp.sanitizers.Base", ["sanitizers"]),
        ("sanitizers.closed_forms", "skrldp.design.vertices", []),
    ):
        assert upward(module, [target], modules) == wrong
    assert room("attic") is None and room("design.new_way") == "design"
    for module, target, taken in (
        ("certificate._release", "skrldp.certificate._views.views", False),
        ("design.rows", "skrldp.certificate._views.views", True),
        ("sanitizers.closed_forms", "skrldp.privacy._ROUNDING", True),
        ("sanitizers.closed_forms", "skrldp._typing.Floats", False),
    ):
        assert bool(behind_doors(module, [target])) is taken
    asked = asked_kinds("if type(a) is RenyiSet or isinstance(b, SimplexRegion | PointRegion): 0")
    assert {name for name, _ in asked} == {"SimplexRegion", "PointRegion", "RenyiSet"}
    own = "class A:\n    _kind: str\n    def _own(self):\n        self._set = other._own()\n"
    assert names_of_others(own, own) == set()
    assert names_of_others("x._codec.columns + y._own()", own) == {"_codec"}
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]
    assert private_names("from sklearn.base import _fit_context")
    assert private_names("import sklearn\nsklearn.utils._tags")
    assert not private_names("from sklearn import __version__")


def test_the_way_from_eps_to_its_proof_is_short():
    """The files with functions that a fit gives its eps, or what is made of it."""
    eps, files = 0.7331, set()

    def has_eps(value):
        if isinstance(value, Claim):
            return value.asked == eps
        if isinstance(value, list | tuple):
            return any(map(has_eps, value[:9]))
        if isinstance(value, np.ndarray):
            return value.dtype == float and value.size > 0 and bool((value == eps).all())
        if isinstance(value, float):
            return value == eps
        return isinstance(value, Requirement | Requirements | Claims)

    def look(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(f"{PACKAGE}/"):
            given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if any(has_eps(frame.f_locals.get(name)) for name in given):
                files.add(code.co_filename)

    rows = [[s, u] for s in range(2) for u in range(5)]
    sanitizer = PolyOptSanitizer(eps, sensitive=0, categories=[range(2), range(5)])
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        sanitizer.fit(rows, sample_weight=np.arange(50, 150, 10))
    finally:
        sys.setprofile(before)
    assert 15 <= len(files) < 25, files  # and base.py, which reads the parameter
