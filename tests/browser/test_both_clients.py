"""Changed mechanisms and proofs, other ones than are kept: Node and Python treat them alike."""

import shutil
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "client"))
sys.path.insert(0, str(ROOT / "tests" / "certificate"))
import verdict_cases

import fuzz

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is missing")


def test_both_clients_say_the_same():
    assert fuzz.compare(1000, seed=1) == []


def test_both_checkers_say_the_same():
    holding, different = verdict_cases.compare(300, seed=2)
    assert holding > 60 and different == []
