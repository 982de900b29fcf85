"""The house stands as it was drawn: who may import whom, and what stays out.

The order of the rooms is the table `MAY_IMPORT` below; a new module gets its line there.
"""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "skrldp"
MAX_LINES = 400

# A package ("design") stands for all of its modules, in what may import and in what is imported.
# Of two entries that fit a module, the longer one counts. Modules yet to be written may be listed.
MAY_IMPORT: dict[str, set[str]] = {
    "exceptions": set(),
    "information": set(),
    "stream": set(),
    "sampling": {"sampling"},
    "_scalars": set(),
    "_frames": {"_scalars"},
    "_alphabet": {"_frames", "_scalars"},
    "_palettes": {"_frames", "_scalars"},
    "_codec": {"_frames", "_alphabet", "_palettes"},
    "table": {"_frames", "_alphabet", "_codec", "_scalars"},
    "joint": {"information"},
    "uncertainty": set(),
    "oracle": {"oracle"},
    "laws": {"oracle"},
    "bounds": {"oracle"},
    "region": {"joint", "oracle", "laws", "bounds", "region"},
    "guarantee": set(),
    "document": {"guarantee", "document"},
    "mechanism": {
        "sampling", "stream", "information", "guarantee", "document", "serialization", "mechanism",
    },
    "serialization": {"sampling", "mechanism", "document"},
    "certificate": {
        "region", "laws", "joint", "uncertainty", "mechanism", "exceptions", "certificate",
    },
    "design._lp": {"exceptions"},
    "design.solution": set(),
    "design.closed_form": {"region", "bounds", "joint", "information"},
}  # fmt: skip
BEFORE_DESIGN = {name for name in MAY_IMPORT if not name.startswith(("_", "design."))}
for name in (
    "cost", "_pairs", "_newton", "interior", "_program", "cuts", "conic", "distortion",
    "cone", "facets", "product_cone", "vertices", "columns", "polyopt", "alternation", "annealing",
    "_progress", "sets", "ldp", "independent",
):  # fmt: skip
    MAY_IMPORT[f"design.{name}"] = {
        "region", "oracle", "laws", "bounds", "joint", "information", "certificate", "design",
        "exceptions",
    }  # fmt: skip
MAY_IMPORT["design"] = {"design"}  # the package's __init__
MAY_IMPORT["sanitizers"] = BEFORE_DESIGN | {"design", "sanitizers"}
MAY_IMPORT["client"] = {"sampling", "stream", "document", "guarantee", "_scalars", "client"}
MAY_IMPORT["aggregate"] = {"mechanism", "joint", "table", "exceptions", "aggregate"}
MAY_IMPORT["auditing"] = {
    "sanitizers", "certificate", "mechanism", "joint", "laws", "table", "auditing",
}  # fmt: skip
MAY_IMPORT["statement"] = {"sanitizers", "certificate", "mechanism", "uncertainty", "statement"}
for name in ("display", "model_selection", "datasets"):
    MAY_IMPORT[name] = MAY_IMPORT["sanitizers"] | {"client", "aggregate", name}

# Third parties that only these rooms know.
ONLY_IN = {
    "sklearn": {"sanitizers", "uncertainty", "aggregate", "model_selection", "display"},
    "highspy": {"design._lp"},
}
# Third parties that no module loads when it is imported.
LAZY = {"cdd", "cvxpy", "matplotlib", "pandas", "tqdm"}


class Import(NamedTuple):
    """One imported module or name, with where it stands."""

    target: str  # dotted and absolute; for `from m import n` it is "m.n"
    line: int
    at_import: bool  # runs when the module is imported


def imports(source: str, package: str) -> Iterator[Import]:
    """Yield what `source`, a module of `package` (dotted; "" at the top), imports."""

    def walk(node: ast.AST, at_import: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, at_import)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = parts[: len(parts) - node.level + 1] if node.level else []
            base += [node.module] if node.module else []
            for alias in node.names:
                yield Import(".".join([*base, alias.name]), node.lineno, at_import)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.body:
                yield from walk(child, False)
            for child in node.orelse:
                yield from walk(child, at_import)
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from walk(child, at_import and not inside)

    yield from walk(ast.parse(source), True)


def python_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def module_name(path: Path) -> str:
    """Return the name below skrldp: "design.columns"; "" for skrldp itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in python_files("skrldp")}


WITH_INIT = pytest.mark.skipif("" not in MODULES, reason="there is no skrldp/__init__.py yet")


def imports_of(path: Path) -> list[Import]:
    package = ".".join(path.relative_to(ROOT).parent.parts)
    return list(imports(path.read_text(encoding="utf-8"), package))


def covers(names: set[str], module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


def room(module: str) -> str | None:
    """Return the longest entry of MAY_IMPORT that fits `module`."""
    return max((name for name in MAY_IMPORT if covers({name}, module)), key=len, default=None)


def is_placed(module: str) -> bool:
    """Tell whether `module` has a place; each way of choosing Q needs a line of its own."""
    entry = room(module)
    return entry is not None and (entry != "design" or module == "design")


def rooms_named(targets: list[str], modules: set[str]) -> set[str]:
    """Return the rooms among `modules` that the imports `targets` name."""
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
    allowed = MAY_IMPORT[room(module)]
    named = rooms_named(targets, modules) - {module}
    return sorted(n or "skrldp itself" for n in named if not (n and covers(allowed, n)))


def private_names(source: str, package: str = "") -> list[str]:
    """Return what `source` uses of scikit-learn that starts with an underscore."""
    dotted = [i.target for i in imports(source, package)]
    dotted += [ast.unparse(n) for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Attribute)]
    return [
        name for name in dotted if re.match(r"sklearn\.", name) and re.search(r"\._(?!_)", name)
    ]


@pytest.mark.parametrize("module", [m for m in MODULES if m])
def test_imports_point_down(module):
    assert is_placed(module), f"skrldp.{module} has no place yet: give it a line in MAY_IMPORT"
    wrong = upward(module, [i.target for i in imports_of(MODULES[module])], set(MODULES))
    assert not wrong, f"skrldp.{module} may not import {', '.join(wrong)} (MAY_IMPORT says what)"


@pytest.mark.parametrize("module", MODULES)
def test_third_parties_stay_in_their_rooms(module):
    for item in imports_of(MODULES[module]):
        top = item.target.split(".")[0]
        where = f"{MODULES[module].relative_to(ROOT)}:{item.line}"
        if top in ONLY_IN:
            assert covers(ONLY_IN[top], module), f"{where}: {top} belongs in {ONLY_IN[top]}"
        if top in LAZY:
            assert not item.at_import, f"{where}: import {top} inside the function that needs it"


def test_nothing_private_of_scikit_learn():
    files = python_files("skrldp", "tests", "examples", "benchmarks", "docs")
    found = {
        str(path.relative_to(ROOT)): names
        for path in files
        if path != Path(__file__).resolve() and (names := private_names(path.read_text("utf-8")))
    }
    assert not found


@pytest.mark.parametrize("module", MODULES)
def test_rooms_are_small(module):
    lines = len(MODULES[module].read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES, f"{lines} lines: this is asking to be two rooms"


LOADED = """
import sys
{action}
print(*sorted({{name.split(".")[0] for name in sys.modules}} & set({modules})))
"""
# scikit-learn itself loads pandas where it finds it, and does without where it does not.
# So the question for pandas is whether importing works when it cannot be had.
REFUSED = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {modules}:
            raise ModuleNotFoundError(f"{{name}} must not be loaded", name=name)
sys.meta_path.insert(0, Refuse())
{action}
"""
ACTIONS = {
    "import": "import skrldp",
    "every name": "import skrldp; [getattr(skrldp, name) for name in skrldp.__all__]",
}


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@WITH_INIT
@pytest.mark.parametrize("action", ACTIONS)
def test_import_loads_nothing_heavy(action):
    assert run(LOADED.format(modules=sorted(LAZY - {"pandas"}), action=ACTIONS[action])) == ""
    assert run(REFUSED.format(modules=sorted(LAZY), action=ACTIONS[action])) == ""


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
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = project["dependencies"] + extras["plot"] + extras["examples"] + extras["test"]
    bounds = dict(line.split(">=") for line in needed)
    text = (ROOT / "tests" / "minimum-constraints.txt").read_text(encoding="utf-8")
    assert dict(re.findall(r"^([\w-]+)==(\S+)$", text, re.MULTILINE)) == bounds


@WITH_INIT
def test_versions_agree():
    skrldp = importlib.import_module("skrldp")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert skrldp.__version__ == project["version"]
    assert f"\nversion: {project['version']}\n" in citation


# The checks themselves must be able to fail.


def test_the_reader_sees_every_kind_of_import():
    source = """
import numpy as np, cvxpy
from . import region
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
        "skrldp.design.region": True,
        "skrldp.joint.JointDistribution": True,
        "skrldp.table": True,
        "pandas": False,
        "cdd": True,
        "matplotlib.pyplot": False,
    }


@pytest.mark.parametrize(
    ("module", "target", "wrong"),
    [
        ("region", "skrldp.mechanism.Mechanism", ["mechanism"]),
        ("region", "skrldp.oracle.worst_pair", []),
        ("joint", "skrldp.PolyOptSanitizer", ["skrldp itself"]),
        ("design._lp", "skrldp.design.columns", ["design.columns"]),
        ("design.columns", "skrldp.design._lp.solve", []),
        ("design.columns", "skrldp.sanitizers._base.Base", ["sanitizers._base"]),
        ("sanitizers.grr", "skrldp.design.columns", []),
        ("sanitizers.grr", "skrldp.display.MechanismDisplay", ["display"]),
        ("client", "skrldp.region.Region", ["region"]),
        ("datasets._fair", "skrldp.aggregate.FrequencyEstimator", []),
        ("table", "numpy.ndarray", []),
    ],
)
def test_the_order_is_told(module, target, wrong):
    modules = {
        "", "aggregate", "design", "design._lp", "design.columns", "display", "mechanism",
        "oracle", "region", "sanitizers", "sanitizers._base",
    }  # fmt: skip
    assert upward(module, [target], modules) == wrong


def test_a_new_module_needs_a_place():
    assert not is_placed("attic")
    assert not is_placed("design.new_way")
    assert is_placed("design") and is_placed("design._lp") and is_placed("sanitizers.new_class")


@pytest.mark.parametrize(
    ("source", "private"),
    [
        ("from sklearn.utils._param_validation import Interval", True),
        ("from sklearn.base import _fit_context", True),
        ("import sklearn\nsklearn.utils._tags", True),
        ("from sklearn import __version__", False),
        ("from sklearn.utils.validation import validate_data", False),
    ],
)
def test_private_names_are_seen(source, private):
    assert bool(private_names(source)) is private
