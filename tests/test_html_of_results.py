"""HTML of results contains their facts, is escaped and well-formed, and loads nothing."""

import json
import pathlib
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    Mechanism,
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
        self.tags, self.open, words = set(), [], []
        self.handle_data = words.append
        self.feed(text)
        self.close()
        self.words = " ".join(" ".join(words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def results():
    """Each kind of result, and phrases that its page contains."""
    grr = GRRSanitizer(1.0, random_state=0, sensitive=0).fit(X, sample_weight=COUNTS)
    mechanism = grr.mechanism_.named(None, [(BAD, True), ("visits & more", False)])
    estimator = FrequencyEstimator(mechanism).fit(range(6), sample_weight=COUNTS)
    joint, uniform = JointDistribution([[7, 10], [26, 57]]), np.full((2, 4), 0.5)
    return {
        "Mechanism": (mechanism, [BAD, "visits & more", "<b>", "matrix", "all distributions"]),
        "Mechanism without names or claims": (
            Mechanism.from_matrix(uniform, "ab", (1, 2)),
            ["claimed nothing", "no column has a name"],
        ),
        "share of U": (estimator.marginal("visits & more"), ["often", "210 reports", "<b>"]),
        "Certificate": (grr.certificate_, ["eps <= ", "all distributions", "2 secrets"]),
        "Certificate of a ball": (certify(uniform, RenyiBall(), joint), ["0.07524", "alpha = 2"]),
        "Audit": (audit(grr, n=2_000, random_state=0), ["FAULT: reports are repeatable"]),
        "Privacy report": (privacy_report(grr), ["proved", "Claims", "Notes"]),
    }


def test_pages_are_well_formed_and_contain_the_facts(results):
    for kind, (result, phrases) in results.items():
        reader = Reader(result._repr_html_())
        assert reader.open == [] and "nan" not in reader.words
        assert not {"script", "b", "style", "link", "img"} & reader.tags
        for phrase in phrases:
            assert phrase in reader.words, kind
        assert len(repr(result)) < 400 or kind == "Privacy report" or "share" in kind


def test_every_part_of_a_page_is_escaped():
    sections = [(BAD, None, [BAD]), ("absent", (), [])]
    reader = Reader(page(BAD, [(BAD, BAD)], header=(BAD, BAD), n_more=1, sections=sections))
    assert reader.words.count(BAD) == 7 and "script" not in reader.tags
    assert "absent" not in reader.words


HIDDEN = "\x1b[2J\x9b31m\u202eyes\r"  # clears a terminal, colours it, turns the line round


def test_hidden_characters_are_shown(tmp_path, monkeypatch, capsys):
    """A stranger's names and values, in every text, page, message and file name that is printed."""
    column, secret, value = (f"{name}{HIDDEN}" for name in "usv")
    table = pd.DataFrame({"s": [secret, "no"] * 30, column: [0, 0, value, 1] * 15})
    grr = GRRSanitizer(1.0, sensitive="s").fit(table)
    estimator = FrequencyEstimator(grr).fit(grr.transform(table))
    report, shares, mechanism = privacy_report(grr), estimator.marginal(), grr.mechanism_
    texts = [str(report), report.to_markdown(), report.to_html(), report.to_json(), repr(shares)]
    texts += [it._repr_html_() for it in (shares, mechanism, grr.certificate_, report)]
    texts += [str(estimator.test_independence("s", column))]
    proof = mechanism.to_json(), counts_to_json(grr.joint_), witness_of(mechanism, grr.joint_)
    strange = proof[0].replace("{", '{"a\x9b\u202e\U000e0041":1,', 1)
    message = verify(strange, *proof[1:]).message
    assert r'"a\u009b\u202e\udb40\udc41"' in message
    texts += [message, *verify(*proof).shown]
    monkeypatch.chdir(tmp_path)
    name, given = f"m\n{HIDDEN}", pathlib.Path("given.json")
    given.write_text(mechanism.to_json(), "utf-8")
    assert main(["inspect", str(given)]) == main(["inspect", str(given), "--json"]) == 0
    assert main(["inspect", name]) == main(["key", f"{name}/key"]) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 2
    for text in (*texts, printed.out, printed.err):
        assert not set(HIDDEN[:-1]) & set(text) - set("[2J31myes"), text
        assert "\r" not in text
    assert json.loads(report.to_json()) and r"\x1b[2J\x9b31m\u202eyes" in repr(shares)
