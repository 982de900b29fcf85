"""The demo runs and says what the README prints."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT


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
    known = dict(re.findall(r"^(PolyOpt.*?)  .*%.* ([\d.]+|inf)$", result.stdout, re.M))
    assert float(known["PolyOpt"]) > 4.0 >= float(known["PolyOpt, eps_all=4"])
    assert "(report)" in result.stdout
    assert "Privacy report: PolyOptSanitizer" in result.stdout
    assert "no fault found" in result.stdout  # a false alarm has probability 1e-3 at most
