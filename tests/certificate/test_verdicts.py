"""Verdicts that the checkers in Python and JavaScript share; make test-browser runs Node."""

import json

from conftest import ROOT
from verdict_cases import VECTORS, edited, verdict

MODULE = ROOT / "javascript" / "verify.js"
KEPT = json.loads(VECTORS.read_text("utf-8"))


def test_the_verdicts_are_what_python_says():
    """Else run tests/certificate/verdict_cases.py, and see what changed."""
    for name, *texts, eps, reports, said in KEPT["bases"]:
        assert verdict(texts, eps, reports) == said and said[0] == "holds", name
    for base, changes, eps, said in KEPT["mutants"]:
        texts = map(edited, KEPT["bases"][base][1:4], changes)
        assert verdict(list(texts), eps, KEPT["bases"][base][5]) == said


def test_they_are_of_every_kind():
    messages = [said[0] for *_, said in KEPT["mutants"]]
    assert len(KEPT["bases"]) == 20 and 40 < messages.count("holds") < 100
    for words in ("malformed", "report 0", "report 6", "differ", "does not fit", "no mechanism"):
        assert [message for message in messages if words in message], words
    shown = [line for *_, said in KEPT["bases"] for line in said[1]]
    for words in (
        "to those who know columns",
        "all distributions",
        "all others",
        "for 4 pairs",
        "block 1, one report",
    ):
        assert [line for line in shown if words in line], words


def test_the_module_is_one_file_that_imports_nothing():
    text = MODULE.read_text("utf-8")
    assert len(text.splitlines()) <= 545 and max(map(len, text.splitlines())) <= 120
    for word in ("import ", "import(", "require", "Math.random", "fetch", "eval", "console"):
        assert word not in text, word
