"""The repository is as CONTRIBUTING.md describes it, and the package loads only what it needs.

`make lint` enforces the order of the rooms, with the contracts of import-linter in pyproject.toml.
"""

import ast
import pkgutil
import re
import subprocess
import sys
import tomllib

import pytest
from conftest import ROOT

import skrldp

PACKAGE = ROOT / "skrldp"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MODULES = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
LISTED_ROOMS = [
    "auditing", "batches", "client", "datasets", "display", "estimation", "model_selection",
    "regression",
]  # fmt: skip
PUBLIC_IN_ROOMS = {
    *(f"targets.{name}" for name in ("Contrast", "Linear", "Marginal", "Mean")),
    *(f"claims.{name}" for name in ("Around", "Claim", "Claims")),
    *(f"certificate.{name}" for name in ("Verdict", "counts_to_json", "verify")),
    *(f"certificate.{name}" for name in ("verify_bounds", "witness_of")),
}
HEAVY = {"cdd", "cvxpy", "formulaic", "matplotlib", "pandas", "pyarrow", "tqdm"}


def room(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_the_tree_in_contributing_has_every_room():
    tree = CONTRIBUTING.partition("```text\nskrldp/\n")[2].partition("tests/")[0]
    listed = re.findall(r"^  (\S+)  ", tree, flags=re.MULTILINE)
    packages = {f"{path.parent.name}/" for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py"}
    assert sorted(listed) == sorted(packages | modules)


def test_answers_to_where_is_name_files_and_functions():
    answers = re.findall(r"^\| Where [^|]*\? \| (.*) \|$", CONTRIBUTING, flags=re.MULTILINE)
    assert len(answers) >= 15
    for answer in answers:
        names = set(re.findall(r"`([^`<]+)`", answer))
        files = {name for name in names if re.search(r"\.py$|/$", name)}
        paths = [PACKAGE / name for name in files]
        assert paths and all(path.exists() for path in paths), answer
        code = "\n".join(MODULES.get(path, "") for path in paths)
        for part in (part for name in names - files for part in name.split(".")):
            assert re.search(rf"^ *(def|class) {part}\b", code, re.MULTILINE), f"{answer}: {part}"


def test_the_reference_lists_every_public_name():
    text = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ((?:[a-z_]+\.)*\w+)$", text, re.MULTILINE))
    public = set(skrldp.__all__) | PUBLIC_IN_ROOMS
    for name in LISTED_ROOMS:
        names = set(skrldp.__getattr__(name).__all__)  # whether or not it is imported already
        public |= {f"{name}.{item}" for item in names - set(skrldp.__all__)}
    assert listed == public
    for name in listed:
        assert pkgutil.resolve_name(f"skrldp.{name}")


@pytest.mark.parametrize("name", sorted({room(path) for path in MODULES} - {"__init__"}))
def test_rooms_read_no_private_attributes_of_others(name):
    code = "\n".join(text for path, text in MODULES.items() if room(path) == name)
    definition = r"(?:def|self\.|cls\.|class|^    |object, \"|setattr\(self, \")\s*(_[a-z]\w*)"
    read = {node.attr for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)}
    private = {attribute for attribute in read if re.match(r"_[a-z]", attribute)}
    assert private <= set(re.findall(definition, code, re.MULTILINE))


def test_only_sets_and_privacy_ask_for_the_class_of_a_set_or_region():
    """Other rooms call a method or read a property, so that a new set needs one module."""
    for owner in ("sets", "privacy"):
        code = "\n".join(text for path, text in MODULES.items() if room(path) == owner)
        classes = "|".join(re.findall(r"^class (\w+)", code, re.MULTILINE))
        question = (
            rf"(?:is(?:instance|subclass)\([^()]*|type\(\w+\) (?:is|==) |case )\b({classes})\b"
        )
        asked = {path: re.findall(question, text) for path, text in MODULES.items()}
        assert not {p: names for p, names in asked.items() if names and room(p) != owner}


def test_only_public_names_of_scikit_learn_are_used():
    imported = r"^ *from sklearn(?:\S*\._|\S* import .*\b_(?!_))"
    private = re.compile(rf"{imported}|^[^\"#\n]*\bsklearn\.[\w.]*\b_", re.MULTILINE)
    for folder in ("skrldp", "tests", "examples", "benchmarks", "docs"):
        for path in (ROOT / folder).rglob("*.py"):
            assert not private.search(path.read_text(encoding="utf-8")), path


# scikit-learn loads pandas, and pandas pyarrow, if they are installed, and works without them.
REFUSE = """
import sys
class Refuse:
    refused = set()
    def find_spec(self, name, path=None, target=None):
        if (top := name.split(".")[0]) in {modules}:
            self.refused.add(top)
            raise ModuleNotFoundError(f"{{name}} must not be loaded", name=name)
sys.meta_path.insert(0, Refuse())
import skrldp
{action}
print(*Refuse.refused - {{"pandas", "pyarrow"}})
"""
DESIGN_AND_PROVE = "import skrldp.certificate, skrldp.design.engine"


@pytest.mark.parametrize(
    ("modules", "action"),
    [
        (HEAVY, "[getattr(skrldp, name) for name in skrldp.__all__]"),
        ({"sklearn"}, DESIGN_AND_PROVE),
    ],
)
def test_imports_load_nothing_heavy(modules, action):
    code = REFUSE.format(modules=sorted(modules), action=action)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_no_machine_and_no_registry_is_named():
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no git")
    if listed.returncode or not listed.stdout:
        pytest.skip("this is not a git checkout with files")
    folders = (f"/{folder}/" for folder in ("work", "tmp/v", "root"))
    hosts = (
        f"{host}.org" for host in ("pypi", "files.pythonhosted", "registry.npmjs", "deb.debian")
    )
    banned = re.compile("|".join(map(re.escape, (*folders, *hosts))))
    for path in filter(lambda path: path.is_file(), map(ROOT.joinpath, listed.stdout.split("\0"))):
        assert not banned.search(path.read_text(encoding="utf-8", errors="ignore")), path


def test_the_oldest_versions_tested_are_the_bounds_that_users_see():
    """A package has the same bound wherever it is named, and no upper bound."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = settings["project"]["optional-dependencies"] | settings["dependency-groups"]
    tested = ("vertices", "plot", "examples", "cli", "test")
    engines = ("spark", "dask", "ray", "duckdb", "polars", "engines")
    lines = sum((groups[name] for name in tested + engines), settings["project"]["dependencies"])
    bounds = {tuple(re.sub(r"\[.*\]", "", line).split(">=")) for line in lines}
    text = (ROOT / "tests" / "minimum-constraints.txt").read_text(encoding="utf-8")
    assert sorted(bounds) == sorted(re.findall(r"^([\w-]+)==(\S+)$", text, re.MULTILINE))
