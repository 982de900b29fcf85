"""The code of the README and of the page on estimates runs as printed, and so does the demo."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def python_blocks(page="README.md"):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


def test_pipeline(capsys):
    pytest.importorskip("statsmodels")
    names = {}
    exec(python_blocks()[0], names)
    assert names["reports"].shape == (3183, 3)
    assert names["pipe"]["priv"].certificate_.holds(1.0)
    proven = re.search(r"Certificate\(eps<=([\d.]+), attained", capsys.readouterr().out)
    assert proven
    assert 0.99 < float(proven.group(1)) <= 1.0


def test_certify():
    parser = doctest.DocTestParser()
    test = parser.get_doctest(python_blocks()[1], {}, "README", "README.md", 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_page_on_estimates():
    """The page's code is one session."""
    page = "docs/estimates.md"
    test = doctest.DocTestParser().get_doctest("".join(python_blocks(page)), {}, page, page, 0)
    assert len(test.examples) > 20
    flags = doctest.NORMALIZE_WHITESPACE
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0


def test_demo():
    pytest.importorskip("statsmodels")
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py"), "--seconds", "2"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == ""
    rows = re.findall(r"^(\S.*?)  +([\d.]+) +([\d.]+)% +([\d.]+) +([\d.]+)", result.stdout, re.M)
    utility = {name: float(value) for name, value, *_ in rows}
    proven = {name: float(row[-1]) for name, *row in rows}
    assert utility["GRR (plain LDP)"] < utility["SRR"] < utility["PolyOpt"] < utility["non-robust"]
    assert all(eps <= 1.0 for name, eps in proven.items() if name != "non-robust")
    assert proven["non-robust"] > 1.0
    assert "(report)" in result.stdout
    assert "Privacy report: PolyOptSanitizer" in result.stdout
    assert "no fault found" in result.stdout  # a false alarm has probability 1e-3 at most
