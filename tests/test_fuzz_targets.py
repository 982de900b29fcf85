"""The targets of make fuzz run, and see texts of every kind."""

import random
import sys
from collections import Counter

import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "fuzz"))
import pairs
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


CROSSED = [
    [("mechanism", "IR"), ("known", "one column"), ("set", "given")],
    [("mechanism", "NURP"), ("unknown", "impute"), ("set", "order 1")],
    [("mechanism", "IR"), ("blocks", "edges"), ("eps_all", "more")],
]


@pytest.mark.parametrize("chosen", CROSSED)
def test_what_is_stated_of_crossed_options_is_true(chosen):
    assert pairs.check(pairs.make_case(chosen, np.random.default_rng(3))) == "true"


def test_a_false_claim_is_found():
    """A report whose figure is a little less than what is true."""
    case = pairs.make_case([("mechanism", "GRR"), ("records", "few")], np.random.default_rng(3))
    sanitizer = pairs.make_sanitizer(case).fit(case.table)
    for figure, words in (
        ("eps_proven", "proven"),
        ("eps_all", "eps_all"),
        ("eps_given_u", "to somebody who knows U"),
        ("eps_record", "two records"),
        ("eps_at_public", "at public"),
    ):
        report = pairs.privacy_report(sanitizer)
        pairs.check_sanitizer(case, sanitizer, report)
        part = next(own for own in vars(report).values() if figure in getattr(own, "__dict__", {}))
        vars(part)[figure] *= 0.99
        with pytest.raises(pairs.FalseClaimError, match=words):
            pairs.check_sanitizer(case, sanitizer, report)


def test_options_that_exclude_each_other_are_refused():
    chosen = [("known", "one column"), ("unknown", "impute")]
    assert pairs.check(pairs.make_case(chosen, np.random.default_rng(3))) == "refused"
