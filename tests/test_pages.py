"""HTML of results: it says what they say, is escaped and whole, and uses nothing from outside."""

import json
import pathlib
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from skrldp import (
    AllDistributions,
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
    RenyiBall,
    audit,
    certify,
    privacy_report,
)
from skrldp._pages import page
from skrldp.certificate import counts_to_json, verify, witness_of
from skrldp.cli import main

BAD = "<script>alert('&')</script>"
X = [[s, u] for s in ("no", BAD) for u in (1, "<b>", "often")]
COUNTS = [10, 20, 30, 40, 50, 60]
VOID = {"br", "hr", "img", "input", "link", "meta"}


class Reader(HTMLParser):
    """Words and tags, and tags that are still open."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words = set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def shown():
    names = [BAD, "visits & more"]
    grr = GRRSanitizer(1.0, random_state=0, sensitive=0).fit(X, sample_weight=COUNTS)
    mechanism = grr.mechanism_.named(None, list(zip(names, (True, False), strict=True)))
    estimator = FrequencyEstimator(mechanism).fit(range(6), sample_weight=COUNTS)
    blind = PolyOptSanitizer(
        1.0, uncertainty=LikelihoodRatioSet(region="lower"), observe="nonsensitive", sensitive=0
    )
    blind = blind.fit(X, sample_weight=COUNTS)
    joint = JointDistribution([[7, 10], [26, 57]])
    uniform = np.full((2, 4), 0.5)
    return {
        "Mechanism": (mechanism, [BAD, "visits & more", "<b>", "matrix", "all distributions"]),
        "Mechanism blind": (blind.mechanism_, ["U alone", "A distributions whose"]),
        "Mechanism bare": (
            Mechanism.from_matrix(uniform, "ab", (1, 2)),
            ["claimed nothing", "no column has a name"],
        ),
        "share": (estimator.marginal("visits & more"), ["often", "210 reports", "<b>"]),
        "share of two": (estimator.marginal(), [f"{BAD} often", f"{BAD} visits & more"]),
        "Certificate": (grr.certificate_, ["eps <= ", "all distributions", "2 secrets"]),
        "Certificate of a ball": (certify(uniform, RenyiBall(), joint), ["0.07524", "alpha = 2"]),
        "Certificate of all": (
            certify(uniform, AllDistributions(), joint),
            ["eps <= 0", "0 nats, at the worst distribution"],
        ),
        "Certificate of one": (certify(uniform, RenyiBall(radius=0), joint), ["public"]),
        "Audit": (audit(grr, n=2_000, random_state=0), ["FAULT: reports are repeatable"]),
        "PrivacyReport": (privacy_report(grr), ["proved", "Claims", "Notes"]),
    }


KINDS = [
    "Mechanism", "Mechanism blind", "Mechanism bare", "share", "share of two", "Certificate",
    "Certificate of a ball", "Certificate of all", "Certificate of one", "Audit", "PrivacyReport",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_results_in_notebooks(shown, kind):
    thing, said = shown[kind]
    text = thing._repr_html_()
    reader = Reader(text)
    words = " ".join(" ".join(reader.words).split())
    assert kind.split()[0] in words or kind == "PrivacyReport"
    for phrase in said:
        assert phrase in words
    assert reader.open == []
    assert not {"script", "b", "style", "link", "img"} & reader.tags and "nan" not in words
    assert len(repr(thing)) < 400 or kind == "PrivacyReport" or "share" in kind


def test_long_tables_are_cut():
    mechanism = Mechanism.from_blocks((0.5, 0.5 / 99, 0.0, 0.0), ("s",), range(100))
    estimator = FrequencyEstimator(mechanism, encode="symbol")
    estimate = estimator.fit(range(100), sample_weight=np.full(100, 50)).marginal()
    words = " ".join(Reader(estimate._repr_html_()).words)
    assert "… and 80 more" in words and "s 19 " in words and "s 20 " not in words
    text = mechanism._repr_html_()
    assert "(and 92 more)" in text and "four weights, integers over 2^53" in text


def test_what_is_not_known_is_left_empty():
    half = np.array([[0.75, 0.25], [0.25, 0.75]])
    mechanism = Mechanism.from_matrix(np.hstack([half, half]), ["no", "yes"], [0, 1])
    estimate = FrequencyEstimator(mechanism).fit([0, 1] * 3).marginal(part="sensitive")
    assert estimate._repr_html_().count("></td>") == 2  # the standard errors


def test_everything_is_escaped():
    text = page(
        BAD,
        [(BAD, BAD)],
        header=(BAD, BAD),
        n_more=1,
        sections=[(BAD, None, [BAD]), ("no", (), [])],
    )
    reader = Reader(text)
    assert "".join(reader.words).count(BAD) == 7 and "script" not in reader.tags
    assert "no" not in reader.words


HIDDEN = "\x1b[2J\x9b31m\u202eyes\r"  # clears a terminal, colours it, turns the line round


def test_hidden_characters_are_shown(tmp_path, monkeypatch, capsys):
    """A stranger's names and values, in every text, page, message and file name that is printed."""
    column, secret, value = (f"{name}{HIDDEN}" for name in "usv")
    table = {"s": [secret, "no"] * 30, column: [0, 0, value, 1] * 15}
    grr = GRRSanitizer(1.0, sensitive="s").fit(pd.DataFrame(table))
    estimator = FrequencyEstimator(grr).fit(grr.transform(pd.DataFrame(table)))
    report, shares = privacy_report(grr), estimator.marginal()
    pages = [str(report), report.to_markdown(), report.to_html(), report.to_json(), repr(shares)]
    pages += [it._repr_html_() for it in (shares, grr.mechanism_, grr.certificate_, report)]
    pages += [str(estimator.test_independence("s", column))]
    mechanism, joint = grr.mechanism_, grr.joint_
    proof = mechanism.to_json(), counts_to_json(joint), witness_of(mechanism, joint)
    strange = proof[0].replace("{", '{"a\x9b\u202e\U000e0041":1,', 1)
    said = verify(strange, *proof[1:]).message
    assert said == 'not shown: there is an unknown field, "a\\u009b\\u202e\\udb40\\udc41".'
    pages += [said, *verify(*proof).shown]
    monkeypatch.chdir(tmp_path)
    name, given = f"m\n{HIDDEN}", pathlib.Path("given.json")
    given.write_text(grr.mechanism_.to_json(), "utf-8")
    assert main(["inspect", str(given)]) == main(["inspect", str(given), "--json"]) == 0
    assert main(["inspect", name]) == main(["key", f"{name}/key"]) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 2
    pages += [printed.out, printed.err]
    for text in pages:
        assert not set(HIDDEN[:-1]) & set(text) - set("[2J31myes"), text
        assert "\r" not in text
    assert json.loads(report.to_json()) and r"\x1b[2J\x9b31m\u202eyes" in repr(shares)
