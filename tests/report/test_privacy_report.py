"""The privacy report: its figures are the sanitizer's, and every warning has its occasion."""

import json
import math
import re
import warnings
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from regions import lower
from sklearn.exceptions import NotFittedError
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
from skrldp import report as report_module
from skrldp._params import at_most
from skrldp.claims import Around, Claim, Claims
from skrldp.claims_in_words import claim_lines, claims_table, five_sentences, odds
from skrldp.surveys.design import SurveyDesign

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

COUNTS = [120, 60, 90, 50, 140, 80]
ROWS = [[s, u] for s in range(2) for u in range(3)]
ALL = [
    GRRSanitizer,
    SRRSanitizer,
    IRSanitizer,
    PolyOptSanitizer,
    NonRobustSanitizer,
    RobustMSESanitizer,
]


def fitted(cls, rows=ROWS, counts=COUNTS, **parameters):
    if cls is PolyOptSanitizer and "time_limit" not in parameters:
        parameters = lower(parameters)  # quick at this size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return cls(**parameters).fit(rows, sample_weight=counts)


@pytest.fixture(autouse=True)
def few_reports(monkeypatch, designs_once):
    """Bound two reports, from few combinations; test_reports_of_more.py looks at more."""
    monkeypatch.setattr(report_module, "_WORK", 1 << 9)
    monkeypatch.setattr(report_module, "REPORTS", (1, 2))


def said_in(report):
    """The text without line breaks."""
    return " ".join(str(report).split())


def said(report, words):
    return sum(words in text for text in report.warnings), sum(words in t for t in report.notes)


# --- Figures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", ALL)
def test_figures_are_the_sanitizers(cls):
    sanitizer = fitted(cls, eps=0.8)
    report = privacy_report(FrozenEstimator(sanitizer))
    certificate, joint = sanitizer.certificate_, sanitizer.joint_
    assert report.sanitizer == cls.__name__
    assert (report.claims.main.asked, report.claims.eps) == (0.8, certificate.eps)
    assert report.claims.main.attained == certificate.eps_attained
    assert report.eps_at_public == sanitizer.mechanism_.leakage(joint.probabilities)
    assert (report.n, report.n_cells, report.shape) == (540, 6, (2, 3))
    assert report.n_reports == sanitizer.mechanism_.shape[0]
    assert report.eps_at_public <= report.claims.eps + 1e-12
    expected = sanitizer.mechanism_.mutual_information(joint.probabilities)
    assert report.mutual_information == expected
    if cls is RobustMSESanitizer:
        assert report.distortion == sanitizer.distortion_
        assert report.worst_case_distortion == sanitizer.worst_case_distortion_
    else:
        assert report.distortion is report.worst_case_distortion is None
        share = sanitizer.normalized_mutual_information_
        assert report.normalized_mutual_information == share


@pytest.mark.parametrize("cls", ALL)
def test_the_worst_case_is_one(cls):
    """The pair, the report and the distribution named have the leakage attained."""
    sanitizer = fitted(cls)
    report, mechanism = privacy_report(sanitizer), sanitizer.mechanism_
    conditionals = report.worst_distribution / report.worst_distribution.sum(axis=1, keepdims=True)
    row = mechanism.report_distribution(conditionals)[mechanism.symbols.index(report.worst_report)]
    first, second = (mechanism.secrets.index(secret) for secret in report.worst_pair)
    assert np.log(row[first] / row[second]) == pytest.approx(report.claims.main.attained, abs=1e-9)


def test_what_many_cells_cannot_show(monkeypatch):
    monkeypatch.setattr(report_module, "_ENTRIES", 1)
    report = privacy_report(fitted(GRRSanitizer))
    assert report.eps_at_public is report.worst_pair is report.worst_report is None
    assert "worst case" not in str(report) and "public distribution  " not in str(report)


def test_dict_and_immutability():
    report = privacy_report(fitted(IRSanitizer))
    figures = report.to_dict()
    assert figures["claims"][0]["eps"] == report.claims.eps
    assert (
        json.loads(json.dumps(figures))["worst_distribution"] == report.worst_distribution.tolist()
    )
    with pytest.raises(AttributeError):
        report.claims.main.asked = 2.0


# --- Warnings and notes --------------------------------------------------------------------------

WARNINGS = [
    ("random_state=3", {"random_state": 3}, {}),
    ("weak promise", {"eps": 2.5, "uncertainty": RenyiBall()}, {"eps": 2.2}),
    ("one report to an observer who knows nothing else", {}, {"eps_worst_case": 3.0}),
    ("one report to an observer who knows nothing else", {}, {"uncertainty": AllDistributions()}),
    ("time limit", {"time_limit": 1e-9}, {}),
    ("given as a number", {"uncertainty": RenyiBall(radius=0.01)}, {}),
    ("public distribution alone", {"uncertainty": RenyiBall(radius=0.0)}, {}),
]


@pytest.mark.parametrize(("words", "bad", "good"), WARNINGS)
def test_warnings(words, bad, good):
    assert said(privacy_report(fitted(PolyOptSanitizer, **bad)), words) == (1, 0)
    assert said(privacy_report(fitted(PolyOptSanitizer, **good)), words) == (0, 0)


def test_warning_of_few_records():
    words = "5 of 6 cells have fewer than 10 public records (4 with none, 1 with one)"
    few = {"counts": [0, 0, 1, 0, 0, 4_000], "uncertainty": RenyiBall()}
    report = privacy_report(fitted(PolyOptSanitizer, **few))
    assert said(report, words) == (1, 0)
    for other in (
        few | {"counts": [10] * 6},
        few | {"uncertainty": LikelihoodRatioSet()},
        few | {"uncertainty": AllDistributions()},
    ):
        report = privacy_report(fitted(PolyOptSanitizer, **other))
        assert said(report, words) == (0, 0)


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
def test_warning_of_one_distribution(sanitizer, uncertainty):
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


@pytest.mark.parametrize(
    ("values", "beta"),
    [
        ([f"value {min(i % 7, i % 5)}" for i in range(40)], 0.05),
        ("x" * 300 + "y" * 250 + "z" * 50, 1e-6),  # z is frequent for a beta of .05
    ],
)
def test_a_beta_of_the_distance_is_conditional_too(values, beta):
    """Where the privacy set has no beta, that of the worst distance says where values come from."""
    rows = [["ab"[i % 2], value] for i, value in enumerate(values)]
    sanitizer = RobustMSESanitizer(
        sensitive=[0],
        uncertainty=AllDistributions(),
        utility_uncertainty=RenyiBall(alpha=1.0, beta=beta, radius="finite-sample"),
    )
    with pytest.warns(PrivacyLeakWarning, match="so beta is not guaranteed"):
        sanitizer.fit(rows)
    said = " ".join(privacy_report(sanitizer).worst_case_set.split())
    assert said.endswith("may miss far more often")
    values = sorted({u for _, u in rows})
    sanitizer.set_params(categories=[["a", "b"], values]).fit(rows)
    assert "the values of U are declared" in privacy_report(sanitizer).worst_case_set


def test_warning_of_parameters_set_after_fit():
    sanitizer = fitted(GRRSanitizer, eps=1.0)
    assert privacy_report(sanitizer).warnings == ()
    for change, said in (
        ({"eps": 0.5}, "eps=0.5 was set after fit, which used 1.0."),
        ({"eps": 2.0}, "eps=2.0 was set after fit, which used 1.0."),
        ({"eps": 1.0, "sensitive": -1}, "sensitive=-1 was set after fit, which used None"),
    ):
        warning = privacy_report(sanitizer.set_params(**change)).warnings[0]
        assert warning.startswith(said)
    assert privacy_report(sanitizer.set_params(sensitive=None)).warnings == ()


def test_warning_of_fit_transform():
    """The design knows every record of the table; fit on another one does away with it."""
    words, table = "reported the same table", np.repeat(ROWS, COUNTS, axis=0)
    sanitizer = GRRSanitizer(sensitive=0)
    for wrapped in (sanitizer, make_pipeline(FunctionTransformer(), sanitizer)):
        wrapped.fit_transform(table)
        assert said(privacy_report(sanitizer), words) == (1, 0)
        wrapped.fit(table).transform(table)
        assert said(privacy_report(sanitizer), words) == (0, 0)


def test_the_columns_are_named():
    table = pd.DataFrame(np.repeat(ROWS, COUNTS, axis=0), columns=["sex", "visits"])
    report = privacy_report(GRRSanitizer(sensitive="visits").fit(table))
    assert (report.sensitive, report.nonsensitive) == (("visits",), ("sex",))
    assert report.summary().splitlines()[2].startswith("  - Each person's 'visits' is protected")
    assert "'sex' is protected as well" in said_in(report)
    report = privacy_report(fitted(SRRSanitizer))
    assert report.sensitive == (0,) and "; column 1 is not protected." in said_in(report)


@pytest.mark.parametrize("cls", ALL)
def test_what_is_said_about_u_is_true(cls):
    """The whole record is bounded by the greatest ratio in a row of the matrix."""
    sanitizer = fitted(cls, eps=0.8)
    report = privacy_report(sanitizer)
    rows = sanitizer.mechanism_.matrix
    rows = rows[rows.max(axis=1) > 0]
    with np.errstate(divide="ignore"):
        expected = np.log(rows.max(axis=1) / rows.min(axis=1)).max()
    assert report.eps_record == pytest.approx(expected, abs=1e-12)
    assert cls is not GRRSanitizer or expected <= 0.8
    of_u = "protected as well" if expected <= 0.8 else "not protected"
    assert of_u in said_in(report)
    assert said(report, "U is protected as well") == (0, int(expected <= 0.8))
    assert said(report, "beyond S is not bounded") == (0, int(np.isinf(expected)))
    assert said(report, "odds of two values of U by") == (0, int(0.8 < expected < np.inf))


NOTES = [
    ("Secrets without public records: 2", {"counts": [9, 9, 9, 9, 0, 0]}, {}),
    ("does not see S", {"observe": "nonsensitive"}, {}),
]


@pytest.mark.parametrize(("words", "present", "absent"), NOTES)
def test_notes(words, present, absent):
    rows, counts = [[s, u] for s in range(3) for u in range(2)], [9, 9, 9, 9, 9, 9]
    for parameters, times in ((present, 1), (absent, 0)):
        arguments = {"rows": rows, "counts": counts} | parameters
        report = privacy_report(fitted(PolyOptSanitizer, **arguments))
        assert said(report, words) == (0, times)
        assert bool(report.unseen_secrets) == (0 in arguments["counts"])
        assert report.zero_cells == arguments["counts"].count(0)


def test_many_unseen_secrets_are_counted():
    rows, counts = [[s, u] for s in range(9) for u in range(2)], [1, 2, 3, 4] + [0] * 14
    report = privacy_report(fitted(GRRSanitizer, rows, counts))
    assert report.unseen_secrets == tuple(range(2, 9))
    assert said(report, "2, 3, 4, 5, 6 and 2 more") == (0, 1)
    assert "18 cells, 14 without records" in said_in(report)


# --- Text and HTML -------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Collects the tags, whether all are closed, and the text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("cls", ALL)
def test_text_and_html_say_the_same(cls):
    report = privacy_report(fitted(cls))
    text = str(report)
    assert max(map(len, text.splitlines())) <= 90
    assert "  " not in text.splitlines()[0]
    page = Tags(report._repr_html_())
    assert page.open == []
    assert not {"script", "style", "link", "img"} & set(page.tags)
    words = " ".join(" ".join(page.words).split())
    plain = " ".join(re.sub(r"^( *- )", " ", text, flags=re.MULTILINE).split())
    assert plain == words
    assert f" 1 {at_most(report.claims.eps, '.6g')} " in words.replace(" A ", " ").replace(
        " all ", " "
    )
    assert f"{report.mutual_information:.4f} nats" in words
    assert f"{report.n:,} records" in words


def test_html_escapes_names():
    rows = [[s, u] for s in ("<script>alert(1)</script>", "a & b") for u in ("<b>", "'\"")]
    report = privacy_report(fitted(GRRSanitizer, rows, [0, 0, 9, 9]))
    page = report._repr_html_()
    assert "<script" not in page and "<b>" not in page and "a & b" not in page
    assert Tags(page).open == []
    assert "<script>alert(1)</script>" in " ".join(Tags(page).words)


def test_odds_are_readable():
    first = privacy_report(fitted(GRRSanitizer)).summary()
    assert all(word in first for word in ("column 0", "at most 2.8", "50 %", "at most 74 %"))
    report = privacy_report(fitted(GRRSanitizer, eps=20.5))
    assert f"into e^{at_most(report.claims.eps, '.4g')} : 1" in report.warnings[0]
    assert (odds(math.log(3.0)), odds(1.0), odds(0.0)) == ("3", "2.8", "1")


def test_words_never_promise_more_than_is_proven():
    """Upper bounds are rounded upwards and lower bounds downwards, wherever they are written."""
    proven, attained = 0.12345617, 0.12345699  # to the nearest: .123456 and .123457
    claims = Claims((Claim(attained, proven, asked=0.12345678),))
    report = replace(privacy_report(fitted(GRRSanitizer)), claims=claims)
    assert claims_table(claims)[2][0][3:6] == ("0.123457", "0.123457", "0.123456")
    words = said_in(report)
    assert "nothing 1 all 0.123457 0.123457 0.123456 proof" in words and "at most 1.2" in words
    claims = Claims((Claim(0.1234567891, 0.1 - 1e-12),))
    found = replace(fitted(GRRSanitizer).certificate_, claims=claims)
    assert "eps<=0.1235, attained 0.09999," in repr(found)
    words = " ".join(words for _, words in claim_lines(claims))
    assert "eps <= 0.12345679" in words and "0.0999999999 nats" in words


# --- Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (None, "got NoneType"),
        (GRRSanitizer, r"got the class GRRSanitizer: write GRRSanitizer\(\)\.fit\(X\)"),
        (make_pipeline(FunctionTransformer()), "got Pipeline"),
    ],
)
def test_what_is_no_sanitizer(candidate, said):
    with pytest.raises(TypeError, match=said):
        privacy_report(candidate)


def test_not_fitted():
    for candidate in (
        PolyOptSanitizer(sensitive=0),
        FrozenEstimator(PolyOptSanitizer(sensitive=0)),
    ):
        with pytest.raises(NotFittedError):
            privacy_report(candidate)


# --- What estimates are worth --------------------------------------------------------------------


def row_of(report, name):
    """The words of a row of the table of errors, behind its label."""
    table = str(report).partition("Standard errors from 10,000 reports")[2]
    return re.search(rf"^  shares of {re.escape(name)} +(.*)$", table, re.MULTILINE)[1].split()


@pytest.mark.parametrize("cls", ALL)
def test_expected_errors(cls):
    sanitizer = fitted(cls, eps=0.8)
    report = privacy_report(sanitizer)
    for name, part in (("U", "nonsensitive"), ("S", "sensitive")):
        errors = expected_std_error(sanitizer, 10_000, part=part)
        found = report.expected_errors[name]
        assert found["worst"] == pytest.approx(errors.max(), rel=1e-9)
        assert found["median"] == pytest.approx(np.sort(errors)[len(errors) // 2], rel=1e-9)
        unknown = np.isinf(errors).sum()
        assert (found["not_determined"], found["of"]) == (unknown, len(errors))
        assert said(report, f"categories of {name}, however") == (int(unknown > 0), 0)
        assert said(report, f"some category of {name}: the") == (int(1 < errors.max() < np.inf), 0)
        for kind, written in zip(("median", "worst"), row_of(report, name), strict=False):
            value = float(written.replace("none", "inf"))
            assert value == pytest.approx(found[kind], rel=0.05)


def test_errors_are_stated_by_columns():
    """A column's share is a sum of joint shares, whose errors can add up."""
    rows = [[s, u, v] for s in ("no", "yes") for u in range(4) for v in ("a", "b")]
    report = privacy_report(sanitizer := fitted(SRRSanitizer, rows, [50, 20, 10, 70] * 4))
    assert list(report.expected_errors) == ["U", "column 1", "column 2", "S"]
    assert report.to_dict()["expected_errors"] == report.expected_errors
    for place in (1, 2):
        errors = expected_std_error(sanitizer, 10_000, place)
        assert report.expected_errors[f"column {place}"]["worst"] == pytest.approx(errors.max())
        written = row_of(report, f"column {place}")[1]
        assert float(written) == pytest.approx(errors.max(), rel=0.05)
    assert report.expected_errors["column 2"]["worst"] > 1.4 * report.expected_errors["U"]["worst"]
    several = fitted(SRRSanitizer, rows, [50, 20, 10, 70] * 4, sensitive=[0, 2], eps=0.005)
    report = privacy_report(several)
    assert list(report.expected_errors) == ["U", "S", "column 0", "column 2"]
    assert said(report, "the share of some category of column 2: the standard")[0]
    blind = fitted(RobustMSESanitizer, rows, [50, 20, 10, 70] * 4, observe="nonsensitive")
    assert list(privacy_report(blind).expected_errors) == ["U", "column 1", "column 2", "S"]


def test_a_design_that_tells_nothing_is_warned_of():
    rows = [[s, u] for s in range(2) for u in range(3000)]
    large = privacy_report(fitted(SRRSanitizer, rows, [7] * 6000))
    assert "is 0.0% of H(U|S=s)" in " ".join(str(large).split())
    assert said(large, "almost no information about U")[0] == 1
    assert said(privacy_report(fitted(SRRSanitizer)), "almost no information") == (0, 0)


def test_warnings_of_estimates_that_tell_nothing(monkeypatch):
    useless = privacy_report(fitted(GRRSanitizer, eps=0.005))
    assert said(useless, "10,000 reports tell nothing about the share of some category of U")[0]
    blind = privacy_report(fitted(PolyOptSanitizer, observe="nonsensitive"))
    assert blind.expected_errors["S"]["not_determined"] == 2
    assert row_of(blind, "S") == ["none", "none", "2", "of", "2", "are", "not", "determined"]
    assert said(blind, "however many") == (0, 0)  # a note says that it does not see S
    for targets, has in (("sensitive", 1), ("all", 0)):
        report = privacy_report(fitted(AOptimalSanitizer, targets=targets))
        assert said(report, "AOptimalSanitizer(targets='all') determines all shares.") == (has, 0)
        if has:  # a larger table needs what can design for it
            texts = report_module._warnings_of_errors(replace(report, n_cells=2_001))
            assert any("BlockSanitizer(base=" in text for text in texts)
    monkeypatch.setattr(report_module, "_MOST_WORK", 1)
    large = privacy_report(fitted(PolyOptSanitizer))
    assert large.expected_errors == {} and "10,000 reports" not in str(large)
    many = fitted(GRRSanitizer, [[s, u] for s in range(2) for u in range(300)], [9] * 600)
    assert report_module.expected_errors(many)["U"]["of"] == 300  # needs no matrix


# --- The first part, for who decides -------------------------------------------------------------


@pytest.mark.parametrize("cls", ALL)
def test_the_first_part_has_figures_but_no_terms_of_the_trade(cls):
    report = privacy_report(fitted(cls, eps=0.8))
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


MOVED = Around(
    "likelihood-ratio", {"single": 0.1, "pair": 0.1, "drift": 0.1}, "finite-sample", 0.05, 9, 2,
    "declared",
)  # fmt: skip


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([ball("finite-sample", 0.05)], "may fail for at most 5 % of such samples"),
        ([ball("chi2", 0.05)], "if this table is a random sample"),
        ([ball("survey", 0.05)], "if this table was drawn as the survey's design says"),
        (
            [ball("finite-sample", 0.05, values_from="learned")],
            "about 5 % (more, because rare values were learned from it)",
        ),
        ([ball("given", None)], "is unknown."),
        ([Claim(0.5, 0.5, MOVED, (0,))], "changed by no more than the drift"),
        (
            [ball("chi2", 0.05), replace(ball("chi2", 0.01), known=(1,), eps=0.75)],
            "knows column 1, the factor is at most 2.2; one who knows more may learn",
        ),
        ([ball("chi2", 0.05), replace(ball("chi2", 0.01), known=(1,))], "for about 6 % of such"),
        (
            [ball("chi2", 0.05), Claim(1.0, 1.0, secret=(0,))],
            "knows more, the factor is at most 2.8.",
        ),
        (
            [Claim(0.5, 0.5, Around("renyi", {"alpha": 1, "radius": 0}, "given"), (0,))],
            "only if the population is exactly as the public table of 9 records says.",
        ),
        ([Claim(0.5, 0.5, secret=(0,))], "for every population, whatever the public table"),
        ([Claim(0.5, 0.5, secret=(0,))], "these odds by a factor of at most 2.8."),
        (
            [Claim(0.5, 0.5, secret=(0,)), Claim(0.8, 0.8, secret=(0,), reports=2)],
            "at most 2.8 (2.3 if the record is unchanged).",
        ),
        (
            [ball("chi2", 0.05), replace(ball("chi2", 0.05), reports=2, eps=0.8)],
            "may reveal column 0 (a factor of at most 2.3 if the record is unchanged).",
        ),
        ([Claim(20.0, 0.0, secret=(0,))], "A report may reveal column 0."),
        ([Claim(20.0, 0.0, secret=(0,))], "reports about the same person may reveal column 0."),
    ],
)
def test_five_sentences_say_for_whom_it_holds(items, words):
    said = five_sentences(Claims(tuple(items)), (1, 2), False, 9)
    assert len(said) == 5 and all(one.count(". ") == 0 and one.endswith(".") for one in said)
    assert words in " ".join(said)


def test_the_page_in_html_is_a_file_of_its_own(tmp_path):
    rows = [[s, u] for s in ("<b>", "n") for u in "xy"]
    report = privacy_report(fitted(SRRSanitizer, rows, [9] * 4))
    path = tmp_path / "report.html"
    path.write_text("old")
    report.to_html(path)
    text = path.read_text(encoding="utf-8")
    assert text == report.to_html() and text.startswith("<!DOCTYPE html>")
    assert "<b>" not in text and report.digest in text
    assert text.index("In short") < text.index("Claims about") < text.index("does not say")
    assert text.count("<table>") == text.count("</table>") == 3
    assert report.to_markdown().index("In short") < report.to_markdown().index("| shares of U |")
