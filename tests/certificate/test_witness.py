"""Proofs that others can check: witnesses, and the checker in whole numbers."""

import ast
import hashlib
import io
import itertools
import json
import re
import subprocess
import sys
import tokenize
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from conftest import few_iterations
from fuzz_verify import COUNTS, SETS, bound_together, fuzz, proven

from skrldp import (
    IRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
    RenyiBall,
    certify,
)
from skrldp.certificate import _verify, counts_to_json, verify
from skrldp.claims import Claims
from skrldp.exceptions import CertificateError

# What designs warn of is no matter here: proofs hold all the same.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::skrldp.exceptions.PrivacyLeakWarning"),
]

CATEGORIES = [["a", "b", "c"], [0, 1], ["x", "y"], [False, True]]


def fitted(kind=PolyOptSanitizer, *, eps=1.0, secrets="abc", **parameters):
    """Fit to a table of four columns."""
    categories = [list(secrets), *CATEGORIES[1:]]
    rows = np.array(list(itertools.product(*categories)), dtype=object)
    weights = np.random.default_rng(5).integers(0, 60, len(rows))
    with few_iterations():
        return kind(eps=eps, categories=categories, **parameters).fit(rows, sample_weight=weights)


def texts_of(san):
    return san.mechanism_.to_json(), counts_to_json(san.joint_), san.certificate_.witness()


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        (
            {"sensitive": [0], "eps_worst_case": 3.0},
            [
                "secret 0, one report",
                "secret 0, all distributions",
                "secret 0 to those who know all others",
            ],
        ),
        (
            {"sensitive": [0], "observer_columns": [1]},
            ["secret 0, one report", "secret 0 to those who know"],
        ),
        ({"sensitive": [0], "observer_columns": [1, 2]}, ["secret 0 to those who know"]),
        ({"sensitive": [0, 1], "observer_columns": [3]}, ["secret 0, 1 to those who know 3"]),
        ({"sensitive": [0], "observe": "nonsensitive"}, ["secret 0, one report"]),
    ],
)
def test_every_kind_of_requirement_is_shown(parameters, shown):
    verdict = verify(*texts_of(fitted(secrets="ab", **parameters)))
    assert verdict.holds, verdict.message
    for words in shown:
        assert any(line.startswith(words) for line in verdict.shown)


def test_all_that_is_claimed_must_be_known():
    mechanism, *rest = texts_of(fitted(sensitive=[0]))
    claim = json.loads(mechanism)
    claim["claims"][0]["eps_pairs"] = [[0.0, 0.1], [0.1, 0.0]]
    assert "a field of a claim is not checked" in verify(json.dumps(claim), *rest).message


@pytest.mark.parametrize("alpha", [0.5, 0.7, 1.0, 2.0, 4.0])
def test_every_order_from_a_half_is_shown(alpha):
    verdict = verify(
        *texts_of(
            fitted(IRSanitizer, sensitive=[0], uncertainty=RenyiBall(alpha=alpha, radius=0.05))
        )
    )
    assert verdict.holds, verdict.message


def test_several_reports_are_shown_at_their_eps():
    san = fitted(IRSanitizer, sensitive=[0], uncertainty=LikelihoodRatioSet(radius=0.02))
    mechanism, counts, _ = texts_of(san)
    two = certify(san.mechanism_, san.uncertainty_, san.joint_, reports=2)
    assert verify(mechanism, counts, two.witness(), eps=two.eps, reports=2).holds
    assert not verify(mechanism, counts, two.witness(), eps=two.eps).holds  # of another number
    less = verify(mechanism, counts, two.witness(), eps=0.99 * two.eps_attained, reports=2)
    assert less.message.startswith("not shown: secret 0, 2 reports: report")
    assert "say which eps" in verify(mechanism, counts, two.witness(), reports=2).message


@pytest.mark.parametrize("kind", SETS)
def test_a_smaller_eps_is_not_shown_and_the_first_report_and_pair_are_named(kind):
    texts = proven(kind)
    attained = json.loads(texts[0])["claims"][0]["attained"]
    message = verify(*texts, eps=attained * (1 - 1e-9)).message
    assert re.match(r'not shown: secret (0|"s"), one report: report ', message)
    assert verify(*texts, eps=2.0).holds


def test_a_claim_about_all_distributions_that_is_false_is_named():
    mechanism, counts, witness = proven("default")
    claim = json.loads(mechanism)
    first, everywhere, *_ = claim["claims"]
    everywhere |= {"eps": first["eps"], "attained": 0.0}
    false = bound_together(json.dumps(claim), counts, witness)
    assert verify(*false).message.startswith("not shown: secret 0, all distributions: report ")


def test_without_its_couples_a_witness_shows_nothing():
    mechanism, counts, witness = proven("default")
    empty = json.loads(witness)
    empty["couples"][0] = []
    assert "report 0" in verify(mechanism, counts, json.dumps(empty)).message
    empty["couples"] = []
    assert "malformed" in verify(mechanism, counts, json.dumps(empty)).message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"a","b"', '"b","a"', "the secrets differ"),
        ('"version":5', '"version":5,"version":5', "a key is there twice"),
        ('"eps":', '"eps":true,"x":', "eps is no number"),
        ('"eps":', '"eps":NaN,"x":', "malformed"),
        ('"eps":', '"eps":1e999999999,"x":', "out of range"),
        ('"asked":1.0', '"asked":0.5', "above what was asked"),
        ('"asked":1.0', '"asked":null', "asked is no number"),
        ('"attained":', '"attained":2.0,"x":', "a field of a claim is not checked"),
        ('"attained":0', '"attained":5', "what is attained is above"),
        ('"claims":[', '"claims":[],"other":[', "nothing is claimed"),
        ('"known":[]', '"known":"all"', "the first claim"),
        ('"n_records":176', '"n_records":177', "the counts are others"),
        ('"weights":[[', '"weights":[[1e1,', "no table"),
        ('"weights":[[', '"weights":[[0', "malformed"),
        ('"format":"skrldp-mechanism"', '"format":"other"', "no skrldp-mechanism"),
        ('"single":', '"single":-', "single is no number"),
    ],
)
def test_claims_that_are_none_are_refused(old, new, words):
    mechanism, counts, witness = proven("default")
    assert old in mechanism
    cheat = json.loads(witness)
    changed = mechanism.replace(old, new, 1)
    cheat["mechanism"] = hashlib.sha256(changed.encode()).hexdigest()
    assert words in verify(changed, counts, json.dumps(cheat)).message


def test_further_claims_are_about_secrets():
    columns = {"sensitive": [0, 1], "observer_columns": [2]}
    mechanism, counts, witness = texts_of(fitted(**columns))
    secrets, known = ([], [0], [0, 2]), ([0], [True], [2, 2])
    for name, value in [*(("secret", own) for own in secrets), *(("known", own) for own in known)]:
        claim = json.loads(mechanism)
        claim["claims"][1][name] = value
        message = verify(json.dumps(claim), counts, witness).message
        assert message == (
            "not shown: a claim is not about the secret columns, within values of others."
        )


def test_a_witness_is_bound_to_mechanism_and_counts():
    mechanism, counts, witness = proven("default")
    other = verify(mechanism + " ", counts, witness.replace("0", "1", 1)).message
    assert other.endswith("the witness does not fit the mechanism.")
    more = json.loads(counts)
    more["counts"][0][0] += 1
    more["counts"][0][1] -= 1
    assert verify(mechanism, json.dumps(more), witness).message.endswith("does not fit the counts.")
    two = verify(mechanism, counts, witness, eps=2.0, reports=2).message
    assert two.endswith("does not fit the reports.")


def test_there_is_no_witness_without_a_claim():
    joint = JointDistribution(COUNTS)
    with pytest.raises(ValueError, match="whose claims are about this set"):
        certify(np.full((2, 9), 0.5), LikelihoodRatioSet(), joint).witness()
    other = Mechanism.from_matrix(np.full((2, 9), 0.5), range(3), range(3))
    with pytest.raises(ValueError, match="whose claims are about this set"):
        certify(other, LikelihoodRatioSet(), joint).witness()


def test_no_multipliers_show_what_is_false():
    from dataclasses import replace

    san = fitted(IRSanitizer, sensitive=[0])
    first, *rest = san.mechanism_.claims
    told = Claims((replace(first, eps=0.5, attained=0.5), *rest))
    mechanism = san.mechanism_.named(None, san.mechanism_.columns, claims=told)
    with pytest.raises(CertificateError, match="no multipliers were found"):
        san.certificate_.about(mechanism, san.joint_).witness()


@pytest.mark.parametrize("kind", SETS)
def test_the_checker_cannot_be_fooled(kind):
    """Some changes are accepted, and all of these are true; 10,000 by make fuzz."""
    _, accepted, false = fuzz(25, 3, kind)
    assert 0 < accepted.total() < 25
    assert not false


def test_logarithms_exponentials_and_powers_are_bounded_in_60_digits():
    rng = np.random.default_rng(0)
    with localcontext() as context:
        context.prec = 60
        unit = Decimal(1) / Decimal(_verify.ONE)
        for _ in range(300):
            x = int(rng.integers(1, 2**60)) << int(rng.integers(0, 200))
            exact = (Decimal(x) * unit).ln() / unit
            assert abs(_verify.ln(x) - exact) <= 2
            y = int(rng.normal() * 2**60) << int(rng.integers(50, 72))
            low, high = _verify.exp(y)
            true = (Decimal(y) * unit).exp() / unit
            assert low <= true <= high <= low + 2 + (low >> 130)
            low, high = _verify.power(x, Fraction(-2, 3))
            true = (Decimal(x) * unit) ** (Decimal(-2) / 3) / unit
            assert low <= true * (1 + Decimal(10) ** -50)
            assert true * (1 - Decimal(10) ** -50) <= high
    assert _verify.odds(Fraction(0)) == (_verify.ONE, _verify.ONE)


def test_the_checker_is_one_short_file_of_pythons_own(tmp_path):
    """It imports the standard library alone, has 370 lines of code at most, and runs alone."""
    source = Path(_verify.__file__).read_text("utf-8")
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)]
    froms = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports for alias in node.names} | {one.module for one in froms}
    assert names <= sys.stdlib_module_names
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_docstring = token.type == tokenize.STRING and token.line.strip().startswith('"""')
        if token.type not in skipped and not is_docstring:
            lines |= set(range(token.start[0], token.end[0] + 1))
    assert len(lines) <= 425
    alone = tmp_path / "checker.py"
    alone.write_text(source, "utf-8")
    texts = proven("default")
    files = [tmp_path / name for name in ("mechanism.json", "counts.json", "witness.json")]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, "utf-8")
    command = [sys.executable, "-I", str(alone), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("holds\nsecret 0, one report: eps <= ")


@pytest.mark.parametrize("kind", ["survey", "ball of a survey"])
def test_a_survey_is_checked_with_its_records(kind):
    """Likelihood ratios are shared out by records, a ball by people: neither by the other."""
    mechanism, counts, witness = proven(kind)
    verdict = verify(mechanism, counts, witness)
    assert verdict.holds and "n_records" not in verdict.stated
    fields, swapped, bare = (json.loads(counts) for _ in range(3))
    bare.pop("records")
    swapped["counts"], swapped["records"] = fields["records"], fields["counts"]
    table = fields["records"]
    table[0][0], table[2][2] = table[2][2], table[0][0]
    moved = json.loads(counts)
    own = moved["records"][0]
    own[:2] = 0, own[0] + own[1]  # as many in all, and for the secret

    def said(public, rule="survey"):
        told = mechanism.replace('"rule":"survey"', f'"rule":"{rule}"')
        if rule == "given":
            told = told.replace('"beta":0.05', '"beta":null')
        return verify(*bound_together(told, json.dumps(public), witness)).message

    assert "report " in said(fields) if kind == "survey" else said(fields) == "holds"
    assert "the counts are others" in said(swapped) and "the counts are others" in said(moved)
    assert "needs records" in said(bare) and "needs records" in said(json.loads(counts), "chi2")
    assert said(json.loads(counts), "given") == "holds"
