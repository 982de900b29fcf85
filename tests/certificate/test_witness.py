"""Proofs that others can check: witnesses of all kinds are shown, and the checker cannot be fooled.

The checker's verdicts on changed proofs are vectors of both languages (``test_verdicts.py``).
"""

import ast
import itertools
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, few_iterations

sys.path.insert(0, str(ROOT / "fuzz"))
from changed_proofs import COUNTS, SETS, fuzz, proven

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
ONE = {"sensitive": [0]}


def fitted(kind=PolyOptSanitizer, *, secrets="abc", **parameters):
    """Fit to a table of four columns."""
    categories = [list(secrets), [0, 1], ["x", "y"], [False, True]]
    rows = np.array(list(itertools.product(*categories)), dtype=object)
    weights = np.random.default_rng(5).integers(0, 60, len(rows))
    with few_iterations():
        return kind(eps=1.0, categories=categories, **parameters).fit(rows, sample_weight=weights)


@cache
def improved():
    """A quick sanitizer, for what is about any mechanism."""
    return fitted(IRSanitizer, **ONE, uncertainty=LikelihoodRatioSet(radius=0.02))


def texts_of(san):
    return san.mechanism_.to_json(), counts_to_json(san.joint_), san.certificate_.witness()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        (
            {**ONE, "eps_worst_case": 3.0},
            ["secret 0, one report", "secret 0, all dist", "secret 0 to those who know all others"],
        ),
        (
            {**ONE, "observer_columns": [1]},
            ["secret 0, one report", "secret 0 to those who know 1"],
        ),
        ({"sensitive": [0, 1], "observer_columns": [3]}, ["secret 0, 1 to those who know 3"]),
        ({**ONE, "observe": "nonsensitive"}, ["secret 0, one report"]),
    ],
)
def test_every_kind_of_requirement_is_shown(parameters, shown):
    verdict = verify(*texts_of(fitted(secrets="ab", **parameters)))
    assert verdict.holds, verdict.message
    for words in shown:
        assert any(line.startswith(words) for line in verdict.shown)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.5, 4.0])
def test_every_order_from_a_half_is_shown(alpha):
    around = RenyiBall(alpha=alpha, radius=0.05)
    verdict = verify(*texts_of(fitted(IRSanitizer, secrets="ab", **ONE, uncertainty=around)))
    assert verdict.holds, verdict.message


def test_several_reports_are_shown_at_their_eps():
    san = improved()
    mechanism, counts, _ = texts_of(san)
    two = certify(san.mechanism_, san.uncertainty_, san.joint_, reports=2)
    assert verify(mechanism, counts, two.witness(), eps=two.eps, reports=2).holds
    other = verify(mechanism, counts, two.witness(), eps=two.eps)
    assert other.message.endswith("does not match the reports.")
    for reports in (0, 1.0, True):
        wrong = verify(mechanism, counts, two.witness(), eps=two.eps, reports=reports)
        assert "reports must be an integer" in wrong.message
    less = verify(mechanism, counts, two.witness(), eps=0.99 * two.eps_attained, reports=2)
    assert less.message.startswith("not shown: secret 0, 2 reports: report")


def test_there_is_no_witness_without_a_claim_about_this_set():
    joint = JointDistribution(COUNTS)
    matrix = np.full((2, 9), 0.5)
    for mechanism in (matrix, Mechanism.from_matrix(matrix, range(3), range(3))):
        with pytest.raises(ValueError, match="whose claims are about this set"):
            certify(mechanism, LikelihoodRatioSet(), joint).witness()


def test_no_multipliers_show_what_is_false():
    san = improved()
    first, *rest = san.mechanism_.claims
    told = Claims((replace(first, eps=0.5, attained=0.5), *rest))
    mechanism = san.mechanism_.named(None, san.mechanism_.columns, claims=told)
    with pytest.raises(CertificateError, match="no multipliers were found"):
        san.certificate_.about(mechanism, san.joint_).witness()


@pytest.mark.slow
@pytest.mark.parametrize("kind", SETS)
def test_the_checker_cannot_be_fooled(kind):
    """Some changes are accepted, and all of these are true; 10,000 by make fuzz."""
    _, accepted, false = fuzz(25, 3, kind)
    assert 0 < accepted.total() < 25
    assert not false


def test_a_survey_is_checked_with_its_records():
    verdict = verify(*proven("survey"))
    assert verdict.holds
    assert "n_records" not in verdict.stated


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


def test_the_checker_is_one_file_of_pythons_own(tmp_path):
    """It imports the standard library alone, and runs by itself."""
    source = Path(_verify.__file__).read_text("utf-8")
    nodes = list(ast.walk(ast.parse(source)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert names <= sys.stdlib_module_names
    alone = tmp_path / "checker.py"
    alone.write_text(source, "utf-8")
    files = [tmp_path / name for name in ("mechanism.json", "counts.json", "witness.json")]
    for file, text in zip(files, proven("default"), strict=True):
        file.write_text(text, "utf-8")
    command = [sys.executable, "-I", str(alone), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("holds\nsecret 0, one report: eps <= ")
