"""The targets of make fuzz run, and see texts of every kind."""

import random
import sys
from collections import Counter

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "fuzz"))
from targets import TARGETS

KINDS = {
    "loader": {"refused", "read"},
    "reporter": {"refused", "a mechanism", "a manifest"},
    "checker": {"not shown", "holds"},
}


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_runs(name):
    rng = random.Random(2)
    found = Counter(TARGETS[name](rng) for _ in range(60))
    assert set(found) == KINDS[name]
