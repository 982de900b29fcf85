"""Changed mechanisms, other ones than those that are kept: Node and Python treat them alike."""

import shutil
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "client"))
import fuzz


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is missing")
def test_both_clients_say_the_same():
    assert fuzz.compare(1000, seed=1) == []
