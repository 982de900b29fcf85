"""What sdist and wheel hold, and that the wheel works by itself.

Here they are built and tried with what is installed already; `make test-package` installs them in
fresh environments.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes

import pytest
from conftest import ROOT

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
        archive.extractall(folder, filter="data")
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
    for name in (
        "Makefile",
        "README.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "tests/conftest.py",
        "javascript/skrldp.js",
    ):
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


def test_the_wheel_works_by_itself(wheel, tmp_path):
    command = [sys.executable, "-W", "error", str(ROOT / "tests" / "smoke.py")]
    found = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr


def test_every_supported_python_is_named():
    """From the oldest on, without a gap."""
    named = [
        int(line.rpartition(".")[2])
        for line in PROJECT["classifiers"]
        if line.startswith("Programming Language :: Python :: 3.")
    ]
    oldest = int(PROJECT["requires-python"].removeprefix(">=3."))
    assert named == list(range(oldest, named[-1] + 1))
