"""Numbers of the privacy report are the sanitizer's; warnings and words have their occasion.

Bounds are rounded so that words never promise more than is proven; text, HTML and Markdown agree;
what is told about each secret, and what estimates are worth, is that of the mechanism as sampled.
"""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reports_of_fits import COUNTS, ROWS, fitted, words_of
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
    certify,
    expected_std_error,
    privacy_report,
)
from skrldp._params import at_most
from skrldp.claims import Around, Claim, Claims
from skrldp.claims_in_words import claim_lines, claims_table, five_sentences, odds
from skrldp.surveys.design import SurveyDesign

# A fit that meets its time limit warns of it.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("few_reports"),
]
KINDS = [GRRSanitizer, IRSanitizer, PolyOptSanitizer, NonRobustSanitizer, RobustMSESanitizer]


@pytest.fixture(scope="module", params=KINDS)
def reported(request, few_reports):
    """A sanitizer of each kind, and its report."""
    sanitizer = fitted(request.param, eps=0.8)
    return sanitizer, privacy_report(FrozenEstimator(sanitizer))


@pytest.fixture(scope="module")
def blind(few_reports):
    """The report of a mechanism that does not observe S."""
    return privacy_report(fitted(PolyOptSanitizer, observe="nonsensitive", n_iterations=50))


def counted(report, words):
    """Numbers of warnings and of notes with some words."""
    return sum(words in text for text in report.warnings), sum(words in t for t in report.notes)


# --- Numbers -------------------------------------------------------------------------------------


def test_numbers_are_those_of_the_sanitizer(reported):
    sanitizer, report = reported
    certificate, joint, mechanism = sanitizer.certificate_, sanitizer.joint_, sanitizer.mechanism_
    assert report.sanitizer == type(sanitizer).__name__
    assert (report.claims.main.asked, report.claims.eps) == (0.8, certificate.eps)
    assert report.claims.main.attained == certificate.eps_attained
    assert report.eps_at_public == mechanism.leakage(joint.probabilities) <= certificate.eps + 1e-12
    assert (report.n, report.n_cells, report.shape) == (540, 6, (2, 3))
    assert report.n_reports == mechanism.shape[0]
    assert report.mutual_information == mechanism.mutual_information(joint.probabilities)
    assert report.distortion == getattr(sanitizer, "distortion_", None)
    assert report.worst_case_distortion == getattr(sanitizer, "worst_case_distortion_", None)
    if report.distortion is None:
        share = sanitizer.normalized_mutual_information_
        assert report.normalized_mutual_information == share
    numbers = json.loads(json.dumps(report.to_dict()))
    assert numbers["claims"][0]["eps"] == report.claims.eps
    assert numbers["worst_distribution"] == report.worst_distribution.tolist()
    with pytest.raises(AttributeError):
        report.claims.main.asked = 2.0


def test_the_worst_case_leaks_what_is_attained(reported):
    sanitizer, report = reported
    mechanism = sanitizer.mechanism_
    conditionals = report.worst_distribution / report.worst_distribution.sum(axis=1, keepdims=True)
    row = mechanism.report_distribution(conditionals)[mechanism.symbols.index(report.worst_report)]
    first, second = (mechanism.secrets.index(secret) for secret in report.worst_pair)
    assert np.log(row[first] / row[second]) == pytest.approx(report.claims.main.attained, abs=1e-9)


def test_what_is_said_about_u_is_true(reported):
    """The whole record is bounded by the greatest ratio in a row of the matrix."""
    sanitizer, report = reported
    rows = sanitizer.mechanism_.matrix
    rows = rows[rows.max(axis=1) > 0]
    with np.errstate(divide="ignore"):
        expected = np.log(rows.max(axis=1) / rows.min(axis=1)).max()
    assert report.eps_record == pytest.approx(expected, abs=1e-12)
    assert not isinstance(sanitizer, GRRSanitizer) or expected <= 0.8
    of_u = "protected as well" if expected <= 0.8 else "not protected"
    assert of_u in words_of(report)
    assert counted(report, "U is protected as well") == (0, int(expected <= 0.8))
    assert counted(report, "beyond S is not bounded") == (0, int(np.isinf(expected)))
    assert counted(report, "odds of two values of U by") == (0, int(0.8 < expected < np.inf))


# --- Warnings and notes --------------------------------------------------------------------------

WARNINGS = [
    ("random_state=3", IRSanitizer, {"random_state": 3}, {}),
    ("weak promise", IRSanitizer, {"eps": 2.5, "uncertainty": RenyiBall()}, {"eps": 2.2}),
    ("an observer who knows nothing else", PolyOptSanitizer, {}, {"eps_worst_case": 3.0}),
    ("an observer who knows nothing", IRSanitizer, {}, {"uncertainty": AllDistributions()}),
    ("time limit", PolyOptSanitizer, {"time_limit": 1e-9}, {}),
    ("given as a number", IRSanitizer, {"uncertainty": RenyiBall(radius=0.01)}, {}),
    ("public distribution alone", IRSanitizer, {"uncertainty": RenyiBall(radius=0.0)}, {}),
    (
        "5 of 6 cells have fewer than 10 public records (4 with none, 1 with one)",
        IRSanitizer,
        {"counts": [0, 0, 1, 0, 0, 4_000], "uncertainty": RenyiBall()},
        {"counts": [0, 0, 1, 0, 0, 4_000]},
    ),
]


@pytest.mark.parametrize(("words", "cls", "bad", "good"), WARNINGS)
def test_warnings_have_their_occasion(words, cls, bad, good):
    assert counted(privacy_report(fitted(cls, **bad)), words) == (1, 0)
    assert counted(privacy_report(fitted(cls, **good)), words) == (0, 0)


@pytest.mark.parametrize(
    ("sanitizer", "uncertainty"),
    [
        (NonRobustSanitizer(sensitive=0), LikelihoodRatioSet()),
        (
            RobustMSESanitizer(robust_privacy=False, uncertainty=RenyiBall(1.0), sensitive=0),
            RenyiBall(1.0),
        ),
    ],
)
def test_proofs_at_one_distribution_are_warned_of(sanitizer, uncertainty):
    """What can leak over a confidence set is more than was asked."""
    with pytest.warns(PrivacyLeakWarning):
        sanitizer.fit(ROWS, sample_weight=COUNTS)
    report = privacy_report(sanitizer)
    expected = certify(sanitizer.mechanism_, uncertainty, sanitizer.joint_).eps
    assert report.eps_over_set == expected > report.claims.main.asked >= report.claims.eps
    assert f"eps = {at_most(expected, '.4g')} can leak" in " ".join(report.warnings)
    assert privacy_report(fitted(GRRSanitizer)).eps_over_set is None


def test_what_can_leak_over_a_set_around_a_survey():
    """The default set is for independent records: a survey's is the asymptotic one."""
    rows = [
        [s, u, w] for s in "ab" for u in "xyz" for w in (1.0, 2.0, 4.0) for _ in range(9 + int(w))
    ]
    table = pd.DataFrame(rows, columns=["s", "u", "w"])
    sanitizer = NonRobustSanitizer(
        sensitive="s", survey=SurveyDesign(weights="w"), categories={"u": ["x", "y", "z"]}
    )
    with pytest.warns(PrivacyLeakWarning, match="radius 0"):
        sanitizer.fit(table)
    around = LikelihoodRatioSet(radius="asymptotic")
    expected = certify(sanitizer.mechanism_, around, sanitizer.joint_).eps
    assert privacy_report(sanitizer).eps_over_set == expected > 1.0


def test_reports_of_the_public_table_itself_are_warned_of():
    """The design knows every record of the table; fit on another one does away with it."""
    words, table = "reported the table", np.repeat(ROWS, COUNTS, axis=0)
    sanitizer = GRRSanitizer(sensitive=0)
    for wrapped in (sanitizer, make_pipeline(FunctionTransformer(), sanitizer)):
        wrapped.fit_transform(table)
        assert counted(privacy_report(sanitizer), words) == (1, 0)
        wrapped.fit(table).transform(table)
        assert counted(privacy_report(sanitizer), words) == (0, 0)


def test_notes_tell_of_unseen_secrets_and_of_mechanisms_that_do_not_see_them(blind):
    rows, counts = [[s, u] for s in range(9) for u in range(2)], [1, 2, 3, 4] + [0] * 14
    report = privacy_report(fitted(GRRSanitizer, rows, counts))
    assert report.unseen_secrets == tuple(range(2, 9)) and report.zero_cells == 14
    assert counted(report, "Secrets without public records: 2, 3, 4, 5, 6 and 2 more") == (0, 1)
    assert "18 cells, 14 without records" in words_of(report)
    assert counted(report, "does not observe S") == (0, 0)
    assert counted(blind, "does not observe S") == (0, 1) and not blind.unseen_secrets


# --- Text and HTML -------------------------------------------------------------------------------


def test_the_page_in_html_is_a_file_that_escapes_names(tmp_path):
    rows = [[s, u] for s in ("<script>alert(1)</script>", "a & b") for u in ("<b>", "'\"")]
    report = privacy_report(fitted(GRRSanitizer, rows, [0, 0, 9, 9]))
    path = tmp_path / "report.html"
    path.write_text("old")
    report.to_html(path)
    text = path.read_text(encoding="utf-8")
    assert text == report.to_html() and text.startswith("<!DOCTYPE html>")
    assert "<script" not in text and "<b>" not in text and report.digest in text
    assert text.index("In short") < text.index("Claims about") < text.index("does not say")


def test_words_never_promise_more_than_is_proven():
    """Upper bounds are rounded upwards and lower bounds downwards, wherever they are written."""
    proven, attained = 0.12345617, 0.12345699  # to the nearest: .123456 and .123457
    claims = Claims((Claim(attained, proven, asked=0.12345678),))
    report = replace(privacy_report(fitted(GRRSanitizer)), claims=claims)
    assert claims_table(claims)[2][0][3:6] == ("0.123457", "0.123457", "0.123456")
    words = words_of(report)
    assert "nothing 1 all 0.123457 0.123457 0.123456 proof" in words and "at most 1.2" in words
    claims = Claims((Claim(0.1234567891, 0.1 - 1e-12),))
    found = replace(fitted(GRRSanitizer).certificate_, claims=claims)
    assert "eps<=0.1235, attained 0.09999," in repr(found)
    words = " ".join(words for _, words in claim_lines(claims))
    assert "eps <= 0.12345679" in words and "0.0999999999 nats" in words


# --- What estimates are worth --------------------------------------------------------------------


def row_of(report, name):
    """The words of a row of the table of errors, behind its label."""
    table = str(report).partition("Standard errors from 10,000 reports")[2]
    return re.search(rf"^  shares of {re.escape(name)} +(.*)$", table, re.MULTILINE)[1].split()


def test_expected_errors_are_those_of_estimates(reported):
    sanitizer, report = reported
    for name, part in (("U", "nonsensitive"), ("S", "sensitive")):
        errors = expected_std_error(sanitizer, 10_000, part=part)
        expected = report.expected_errors[name]
        assert expected["worst"] == pytest.approx(errors.max(), rel=1e-9)
        assert expected["median"] == pytest.approx(np.sort(errors)[len(errors) // 2], rel=1e-9)
        unknown = np.isinf(errors).sum()
        assert (expected["not_determined"], expected["of"]) == (unknown, len(errors))
        assert counted(report, f"categories of {name}, however") == (int(unknown > 0), 0)
        is_useless = int(1 < errors.max() < np.inf)
        assert counted(report, f"some category of {name}: the") == (is_useless, 0)
        for kind, written in zip(("median", "worst"), row_of(report, name), strict=False):
            value = float(written.replace("none", "inf"))
            assert value == pytest.approx(expected[kind], rel=0.05)


def test_designs_that_tell_nothing_are_warned_of(blind):
    rows = [[s, u] for s in range(2) for u in range(3000)]
    large = privacy_report(fitted(SRRSanitizer, rows, [7] * 6000))
    assert "is 0.0% of H(U|S=s)" in words_of(large)
    assert counted(large, "almost no information about U")[0] == 1
    assert counted(privacy_report(fitted(SRRSanitizer)), "almost no information") == (0, 0)
    assert blind.expected_errors["S"]["not_determined"] == 2
    assert row_of(blind, "S") == ["none", "none", "2", "of", "2", "are", "not", "determined"]
    assert counted(blind, "however many") == (0, 0)  # a note says that it does not observe S
    for targets, times in (("sensitive", 1), ("all", 0)):
        report = privacy_report(fitted(AOptimalSanitizer, targets=targets))
        words = "AOptimalSanitizer(targets='all') determines all shares."
        assert counted(report, words) == (times, 0)


# --- The first part, for who decides -------------------------------------------------------------


def test_the_first_part_has_numbers_but_no_terms_of_the_trade(reported):
    report = reported[1]
    first = report.summary()
    assert str(report).startswith(first) and first.count("\n  - ") == 5
    for word in ("eps", "nats", "likelihood", "leakage", "beta", "distribution", "U =", "e^"):
        assert word not in first
    text, claims = " ".join(first.split()), report.claims
    assert f"values of column 0 by a factor of at most {odds(claims.eps)}" in text
    if claims.eps_worst_case <= claims.eps:
        assert "holds whatever else an observer knows about the person" in text
    elif claims.eps_worst_case < 10:
        assert f"knows more, the factor is at most {odds(claims.eps_worst_case)}." in text
    else:
        assert "one who knows more may learn column 0 from one report" in text
    assert ("warning" in first) == (len(report.warnings) > 0)


def ball(rule, beta, **about):
    alpha = 1.0 if rule == "finite-sample" else 2.0
    about = {"values_from": "declared"} | about
    around = Around("renyi", {"alpha": alpha, "radius": 0.1}, rule, beta, **about)
    return Claim(0.5, 0.5, around, (0,))


@pytest.mark.parametrize(
    ("items", "words"),
    [
        (
            [ball("finite-sample", 0.05, values_from="learned")],
            "about 5 % (more, because rare values were learned from it)",
        ),
        ([ball("given", None)], "is unknown."),
        (
            [ball("chi2", 0.05), replace(ball("chi2", 0.01), known=(1,), eps=0.75)],
            "knows column 1, the factor is at most 2.2; one who knows more may learn",
        ),
        (
            [Claim(0.5, 0.5, secret=(0,)), Claim(0.8, 0.8, secret=(0,), reports=2)],
            "at most 2.8 (2.3 if the record is unchanged).",
        ),
    ],
)
def test_five_sentences_say_for_whom_it_holds(items, words):
    said = five_sentences(Claims(tuple(items)), (1, 2), False, 9)
    assert len(said) == 5 and all(one.count(". ") == 0 and one.endswith(".") for one in said)
    assert words in " ".join(said)


# --- What is told about each secret -------------------------------------------------------------

# Three values and secrets; with few records of the last, little may be told about its people.
CONDITIONALS = np.array([[5, 3, 2], [3, 4, 3], [2, 3, 5]])


def report_of(cls, counts, **parameters):
    names = [[f"s{i}" for i in range(len(counts))], list(range(len(counts[0])))]
    rows = [[s, u] for s in names[0] for u in names[1]]
    return privacy_report(
        cls(sensitive=0, categories=names, **parameters).fit(rows, sample_weight=np.ravel(counts))
    )


def warned(report):
    return [text for text in report.warnings if "some groups" in text]


def test_a_group_about_which_little_is_told_is_warned_of():
    counts = CONDITIONALS * [[400], [40], [4]]
    report = report_of(
        PolyOptSanitizer, counts, eps=0.3, uncertainty=LikelihoodRatioSet(region="lower")
    )
    share, whole = (
        report.normalized_information_by_secret,
        report.normalized_information_given_secret,
    )
    assert share[2] < whole / 2 < share[0]  # what this test is about
    poor = [f"{share[s]:.1%} for 's{s}'" for s in np.argsort(share) if share[s] < whole / 2]
    (text,) = warned(report)
    assert all(name in text for name in poor) and "'s0'" not in text
    assert f"{whole:.1%} of H(U|S=s) over all records" in text
    for s, n in enumerate(counts.sum(axis=1)):
        assert f"{share[s]:.1%} for 's{s}' ({n:,} records)" in words_of(report)
    assert not warned(report_of(SRRSanitizer, counts))  # as much about each, though little
