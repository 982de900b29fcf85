"""The targets of make fuzz run, and see texts of every kind.

What is stated of crossed options is tried in browser/test_both_clients.py, with both clients.
"""

import random
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "fuzz"))
import pairs
from targets import TARGETS

from skrldp.claims import Claims

KINDS = {
    "loader": {"refused", "read"},
    "reporter": {"refused", "a mechanism", "a manifest"},
    "checker": {"not shown", "holds"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_a_target_runs(name):
    rng = random.Random(2)
    found = Counter(TARGETS[name](rng) for _ in range(30))
    assert set(found) == KINDS[name]


def test_a_false_claim_is_found():
    """A report whose figure is a little less than what is true."""
    case = pairs.make_case([("mechanism", "GRR"), ("records", "few")], np.random.default_rng(3))
    sanitizer = pairs.make_sanitizer(case).fit(case.table)
    first, exactly = sanitizer.mechanism_.claims  # GRR's hold at all distributions
    less = replace(first, eps=0.99 * first.eps, attained=0.0)
    at_u = replace(exactly, eps=0.99 * exactly.eps, attained=0.0)
    for figure, value, words in (
        ("claims", Claims((less, at_u)), "proven"),
        ("claims", Claims((first, at_u)), "to an observer who knows U"),
        ("eps_record", 0.99, "two records"),
        ("eps_at_public", 0.99, "at public"),
    ):
        report = pairs.privacy_report(sanitizer)
        pairs.check_sanitizer(case, sanitizer, report)
        vars(report)[figure] = value if figure == "claims" else value * vars(report)[figure]
        with pytest.raises(pairs.FalseClaimError, match=words):
            pairs.check_sanitizer(case, sanitizer, report)
