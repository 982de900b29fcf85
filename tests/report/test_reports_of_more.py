"""What a privacy report says of more than one report, of who knows U, of columns and of pairs."""

import itertools
import json
import math
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations
from regions import lower

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    SRRSanitizer,
    certify,
    privacy_report,
)
from skrldp import report as report_module
from skrldp._params import at_most
from skrldp.claims_in_words import claims_table, set_lines
from skrldp.mechanism.manifest import read_json
from skrldp.mechanism.messages import lines_of, notes_of

pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
)

# Two sensitive columns of two values each, or one of three, and U of two columns.
PEOPLE = pd.DataFrame(
    itertools.product(["ill", "well"], ["rich", "poor"], ["young", "old"], ["0", "1+"]),
    columns=["health", "means", "age", "visits"],
)
RECORDS = [90, 40, 30, 60, 80, 20, 50, 70, 60, 90, 20, 40, 30, 80, 70, 50]
LISTED = {"categories": {"age": ["young", "old"], "visits": ["0", "1+"]}}
LISTED["categories"] |= {"health": ["ill", "well"], "means": ["rich", "poor"]}
THREE = [[s, u] for s in ("red", "green", "blue") for u in range(2)]
OF_THREE = [120, 60, 90, 50, 140, 80]


def fitted(cls=PolyOptSanitizer, rows=THREE, counts=OF_THREE, **parameters):
    if cls is PolyOptSanitizer:
        parameters = lower(parameters)
    with few_iterations(), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return cls(**parameters).fit(rows, sample_weight=counts)


def row(report, known="nothing", reports="1"):
    """The bound in a row of the table of claims."""
    found = [r[3] for r in claims_table(report.claims)[2] if r[:2] == (known, reports)]
    return found[0] if found else None


def words_in(report):
    """The text without line breaks."""
    return " ".join(str(report).split())


def leakage(of_secret, pairs):
    """Greatest log-ratio between two columns of some pairs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return max(np.nanmax(np.log(of_secret[:, s] / of_secret[:, t])) for s, t in pairs)


@pytest.mark.parametrize(
    ("cls", "parameters"),
    [
        (PolyOptSanitizer, {"eps_worst_case": 3.0}),
        (PolyOptSanitizer, {"observer_columns": [1]}),
        (IRSanitizer, {}),
        (SRRSanitizer, {}),
        (NonRobustSanitizer, {}),
    ],
)
def test_reports_about_one_person(cls, parameters):
    """Figures are the certificates', and products of rows leak no more at the public table."""
    sanitizer = fitted(cls, **parameters)
    report, certificate = privacy_report(sanitizer), sanitizer.certificate_
    claims = report.claims
    assert (claims.eps_worst_case, claims.eps_given_u) == (
        certificate.eps_worst_case,
        certificate.eps_given_u,
    )
    rows, shape = sanitizer.mechanism_.matrix, sanitizer.joint_.counts.shape
    conditionals = sanitizer.joint_.conditionals
    for k in (1, 2, 3, 10):
        around, eps = certificate.uncertainty, claims.find(reports=k).eps
        proof = certify(sanitizer.mechanism_, around, sanitizer.joint_, reports=k)
        assert proof.eps <= eps * (1.0 + 1e-9)  # certify may look at more combinations
        assert claims.find(reports=k).attained <= eps
        assert k == 1 or eps <= certificate.eps + (k - 1) * certificate.eps_worst_case + 1e-9
        if k <= 3:
            products = [np.prod(some, axis=0) for some in itertools.product(rows, repeat=k)]
            of_secret = np.einsum("ysu,su->ys", np.reshape(products, (-1, *shape)), conditionals)
            assert leakage(of_secret, itertools.permutations(range(3), 2)) <= eps + 1e-9
        stated = row(report, reports=f"{k}, same record") or row(report, reports=f"{k}")
        if math.isfinite(eps):
            assert stated == at_most(eps, ".6g")
        else:
            assert stated in ("no bound", None)
    said = "one report to an observer who knows nothing else" in " ".join(report.warnings)
    assert said == (cls is not SRRSanitizer and "eps_worst_case" not in parameters)


def test_who_knows_one_of_several_grouped_values_is_told_apart(monkeypatch):
    """Of half of the rare values U = S, of the others U = 1 - S: "other" tells nothing, they do."""
    monkeypatch.setattr(report_module, "_WORK", 1)
    rows = [[s, k, u] for s in (0, 1) for k in "A" for u in (0, 1)]
    rare = [[s, f"{kind}{i}", s ^ kind] for s in (0, 1) for i in range(2) for kind in (0, 1)]
    own = {"sensitive": 0, "observer_columns": [1], "categories": "product"}
    own["uncertainty"] = RenyiBall(radius=0.01)
    counts = [900] * len(rows) + [200] * len(rare)
    sanitizer = fitted(PolyOptSanitizer, rows + rare, counts, min_frequency=500, **own)
    report, mechanism = privacy_report(sanitizer), sanitizer.mechanism_
    first, second = (mechanism.values.index(("other", s)) for s in (0, 1))
    told = mechanism.matrix.reshape(-1, 2, len(mechanism.values))
    who_knows_one = np.stack([told[:, 0, first], told[:, 1, second]], axis=1)
    assert leakage(who_knows_one, [(0, 1), (1, 0)]) > report.claims.known.eps + 0.1
    words = "For column 1, observers are assumed to know the category"
    assert words in " ".join(report.notes)
    loaded = read_json(mechanism.to_json())  # inspect and verify have nothing else
    assert words in str(lines_of(loaded)) and words in str(notes_of(loaded))
    plain = fitted(PolyOptSanitizer, rows, [900] * len(rows), **own)
    assert words not in " ".join(privacy_report(plain).notes)
    assert words not in str(lines_of(plain.mechanism_))


@pytest.mark.parametrize("eps_worst_case", [None, 2.0])
def test_reports_about_a_record_that_changes_are_told_apart(eps_worst_case):
    """U2 = U1 xor S: each is distributed as in the table, and both together tell S."""
    rows, counts = [[s, u] for s in (0, 1) for u in (0, 1)], [4000] * 4
    sanitizer = IRSanitizer(0.5, categories=[[0, 1], [0, 1]], sensitive=0)
    if eps_worst_case is not None:
        sanitizer = AOptimalSanitizer(
            0.5, eps_worst_case=eps_worst_case, categories=[[0, 1], [0, 1]], sensitive=0
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        sanitizer.fit(rows, sample_weight=counts)
    report, of_record = privacy_report(sanitizer), sanitizer.mechanism_.matrix.reshape(-1, 2, 2)
    of_secret = [
        sum(np.outer(of_record[:, s, u], of_record[:, s, u ^ s]).ravel() / 2 for u in (0, 1))
        for s in (0, 1)
    ]
    assert (
        leakage(np.transpose(of_secret), [(0, 1), (1, 0)]) > report.claims.find(reports=2).eps + 0.1
    )
    said = row(report, reports="2")
    if eps_worst_case is None:
        assert said == "no bound"
    else:
        bound = report.claims.eps + report.claims.eps_worst_case
        assert leakage(np.transpose(of_secret), [(0, 1), (1, 0)]) <= bound
        assert said == at_most(bound, ".6g")


def test_what_is_not_bounded_is_said():
    sanitizer = fitted()
    assert row(privacy_report(sanitizer), reports="2") == "no bound"
    late = privacy_report(sanitizer.set_params(eps_worst_case=3.0))  # asked for after fit: too late
    assert "an observer who knows nothing else" in " ".join(late.warnings)
    blind = privacy_report(fitted(observe="nonsensitive"))
    assert blind.claims.eps_given_u == 0.0 and row(blind, "all of U") == "0"


@pytest.mark.parametrize(
    ("uncertainty", "more", "together", "words"),
    [
        (None, LISTED, 0.1, "one of them with probability at most 0.1"),
        (None, {}, 0.05, ""),  # the same event, as values are learned
        (LikelihoodRatioSet(0.01, radius="asymptotic"), {}, 0.02, "with probability about 0.02"),
        (LikelihoodRatioSet(radius=0.01, drift=0.01), {}, None, "how often they miss is unknown"),
        (RenyiBall(1), {}, 0.05, ""),
    ],
)
def test_known_columns_and_how_often_sets_miss(uncertainty, more, together, words, monkeypatch):
    monkeypatch.setattr(report_module, "REPORTS", (1, 2))  # quick
    sanitizer = fitted(
        rows=PEOPLE, counts=RECORDS, observer_columns="age", uncertainty=uncertainty, **more
    )
    report, proof = privacy_report(sanitizer), sanitizer.certificate_
    known = proof.claims.known
    assert report.claims.known == known and known.known == ("age",)
    assert row(report, "'age'") == at_most(known.eps, ".6g")
    assert report.claims.beta == together
    assert words in words_in(report)
    moved = "that the population has changed by at most the drift since"
    assert (moved in words_in(report)) == (getattr(uncertainty, "drift", 0.0) > 0.0)


def test_pages_for_auditors_and_programs():
    """The same figures and sentences, and what beta rests on wherever there is one."""
    san = fitted(rows=PEOPLE, counts=RECORDS)
    report = privacy_report(san)
    read = json.loads(report.to_json())
    assert read["digest"] == san.mechanism_.digest and report.digest in report.to_markdown()
    assert set(read) == set(report.to_dict())
    assert read["claims"][0]["eps"] == report.claims.eps and read["notes"] == list(report.notes)
    card = report.to_markdown()
    plain = re.sub(r"\\(.)", r"\1", card)
    for said in (
        *report.warnings,
        *report.notes,
        *dict(set_lines(report.claims.main.around)).values(),
    ):
        assert said in plain
    assert "independently" in words_in(report)
    assert read["in_short"] == [line[2:] for line in plain.splitlines()[4:9]]
    everywhere = privacy_report(fitted(rows=PEOPLE, counts=RECORDS, uncertainty=AllDistributions()))
    assert "assumes" not in str(everywhere)
