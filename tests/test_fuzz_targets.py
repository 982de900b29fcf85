"""The targets of make fuzz run, and see texts of every kind."""

import json
import random
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT, few_iterations

sys.path.insert(0, str(ROOT / "fuzz"))
import pairs
import pairs_proofs
from targets import TARGETS

from skrldp import Mechanism
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


CROSSED = [
    [("mechanism", "GRR"), ("table", "polars lazy"), ("values", "missing")],
    [("mechanism", "AOptimal"), ("blocks", "bins"), ("sensitive", "all columns")],
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("chosen", CROSSED)
def test_what_is_stated_of_crossed_options_is_true(chosen):
    with few_iterations():
        assert pairs.check(pairs.make_case(chosen, np.random.default_rng(3))) == "true"


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


@pytest.fixture(scope="module")
def fitted():
    """A case whose figures are checked, and its sanitizer."""
    case = pairs.make_case([("mechanism", "IR")], np.random.default_rng(3))
    return case, pairs.make_sanitizer(case).fit(case.table)


def test_a_false_claim_of_a_json_is_found(fitted):
    """Those that the weights alone contradict are refused when they are read."""
    case, sanitizer = fitted
    fields = json.loads(sanitizer.mechanism_.to_json())
    fields["claims"][0] |= {"eps": 0.99 * fields["claims"][0]["eps"], "attained": 0.0}
    mechanism = Mechanism.from_json(json.dumps(fields))
    case.truths.clear()
    with pytest.raises(pairs.FalseClaimError, match="JSON, "):
        pairs.check_stated(case, SimpleNamespace(mechanism_=mechanism, joint_=sanitizer.joint_))


def test_a_false_claim_of_certify_or_a_checker_is_found(fitted, monkeypatch):
    case, sanitizer = fitted
    certify, verify = pairs_proofs.certify, pairs_proofs.verify

    def less(*arguments, everywhere, **options):
        proof = certify(*arguments, **options)
        claims = [
            replace(one, eps=0.9 * one.eps, attained=0.0)
            if one.known != "all" and one.around.is_everything is everywhere
            else one
            for one in proof.claims
            if not (everywhere and one.known == "all")
        ]
        return replace(proof, claims=Claims(tuple(claims)))

    for everywhere in (False, True):
        monkeypatch.setattr(pairs_proofs, "certify", partial(less, everywhere=everywhere))
        with pytest.raises(pairs.FalseClaimError, match="certify"):
            pairs.check_certify(case, sanitizer)
    monkeypatch.setattr(pairs_proofs, "certify", certify)
    case.truths.clear()
    pairs.check_stated(case, sanitizer)
    honest = verify(sanitizer.mechanism_.to_json(), *_proof(sanitizer))
    monkeypatch.setattr(pairs_proofs, "verify", lambda *_: honest)
    with pytest.raises(pairs.FalseClaimError, match="the checker says"):
        pairs.check_proofs(case, sanitizer)


def _proof(sanitizer):
    return pairs_proofs.counts_to_json(sanitizer.joint_), sanitizer.certificate_.witness()
