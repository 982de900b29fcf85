"""The sdist and the wheel contain what they should; `make test-package` installs and tries them."""

import importlib.util
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes

import pytest
from conftest import ROOT

import skrldp

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def build(kind, source, folder):
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The unpacked sdist."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(build("sdist", ROOT, folder)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # 3.11.2 has none
        archive.extractall(folder)
    return folder / f"skrldp-{PROJECT['version']}"


@pytest.fixture(scope="module")
def wheel(sources, tmp_path_factory):
    """The unpacked wheel, built from the sdist."""
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(build("wheel", sources, folder)) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def files(folder):
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_sdist_has_what_a_checkout_has(sources):
    shipped = "Makefile", "README.md", "CONTRIBUTING.md", "LICENSE"
    for name in (*shipped, "tests/conftest.py", "javascript/skrldp.js"):
        assert (sources / name).read_bytes() == (ROOT / name).read_bytes()
    assert files(sources / "skrldp") == files(ROOT / "skrldp")


def test_the_wheel_has_the_package_and_nothing_else(wheel):
    info = f"skrldp-{PROJECT['version']}.dist-info"
    held = files(wheel)
    package = {name for name in held if name.startswith("skrldp/")}
    assert package == {f"skrldp/{name}" for name in files(ROOT / "skrldp")}
    assert "skrldp/py.typed" in package
    assert {name.split("/")[0] for name in held} == {"skrldp", info}
    licence = (wheel / info / "licenses" / "LICENSE").read_text(encoding="utf-8")
    assert licence == (ROOT / "LICENSE").read_text(encoding="utf-8")

    metadata = message_from_bytes((wheel / info / "METADATA").read_bytes())
    needed = metadata.get_all("Requires-Dist")
    always = {re.match(r"[\w-]+", line)[0] for line in needed if "extra ==" not in line}
    assert always == {re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]}
    assert not always & {"pycddlib", "pycddlib-standalone"}  # under the GPL, and mostly compiled
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert metadata["Requires-Python"] == PROJECT["requires-python"]


def test_the_bill_of_materials_is_what_is_needed(wheel):
    """In the wheel by PEP 770; nothing is contained but the package."""
    info = f"skrldp-{PROJECT['version']}.dist-info"
    text = (wheel / info / "sboms" / "sbom.cdx.json").read_text(encoding="utf-8")
    assert text == (ROOT / "sbom.cdx.json").read_text(encoding="utf-8")
    bill = json.loads(text)
    said = {
        one["description"].removeprefix("needed, not contained: ") for one in bill["components"]
    }
    assert said == set(PROJECT["dependencies"])
    assert bill["metadata"]["component"]["version"] == PROJECT["version"]


def test_versions_are_in_step():
    """Of the package, its citation, its client in JavaScript, and the bill of materials."""
    package = json.loads((ROOT / "javascript" / "package.json").read_text(encoding="utf-8"))
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert package["version"] == PROJECT["version"] == skrldp.__version__
    assert package["license"] == PROJECT["license"] and "private" not in package
    assert all((ROOT / "javascript" / name).is_file() for name in package["files"])


def test_actions_of_a_release_are_pinned():
    """By the whole commit, with the version beside."""
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    used = re.findall(r"uses: (.*)", text)
    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", one) for one in used)
