"""Verdicts that the checkers in Python and JavaScript share; make test-browser runs Node."""

import json
import random

import pytest
from conftest import ROOT
from fuzz_verify import bound_together
from verdict_cases import VECTORS, edited, kept_bases, of_structure, verdict

from skrldp.certificate import _verify, verify
from skrldp.mechanism.manifest import read_json

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
        "to those who know 1",
        "all distributions",
        "know all others",
        "for 4 pairs",
        "block 1, secret 0, one report",
    ):
        assert [line for line in shown if words in line], words


def test_checkers_refuse_what_readers_refuse():
    """Texts that no client would read, with digests that fit again, as a cheat would write them."""
    rng, bases = random.Random(3), list(kept_bases().values())
    refused = 0
    for _ in range(200):
        mechanism, counts, witness, eps, reports = rng.choice(bases)
        fields = json.loads(mechanism)
        of_structure(fields, rng)
        new = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        try:
            read_json(new)
        except ValueError:
            refused += 1
            assert not verify(*bound_together(new, counts, witness), eps, reports).holds
    assert refused > 120


def renamed(fields):
    fields["mechanisms"][1]["columns"][0][0] = "another"


def reversed_secrets(fields):
    fields["mechanisms"][1]["secrets"].reverse()


def without_secret(fields):
    for one in fields["mechanisms"]:
        one["columns"] = [[name, False] for name, _ in one["columns"]]
        for claim in one["claims"]:
            claim["secret"] = []


def more_public(fields):
    fields["mechanisms"][0]["public"] = fields["public"]["blocks"][0]


def without_weight(fields):
    fields["weights"][0] -= 1


@pytest.mark.parametrize("check", [verify, _verify.verify])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (renamed, "block 1 protects another secret than block 0"),
        (reversed_secrets, "block 1 protects another secret than block 0"),
        (without_secret, "no column is secret"),
        (more_public, 'there is an unknown field, "public"'),
        (without_weight, "weights of no manifest"),
    ],
)
def test_manifests_of_no_one_secret_are_named(change, message, check):
    """By the file that needs Python alone, too."""
    mechanism, counts, witness, *_ = kept_bases()["blocks"]
    fields = json.loads(mechanism)
    change(fields)
    texts = bound_together(json.dumps(fields, separators=(",", ":")), counts, witness)
    assert check(*texts).message == f"not shown: {message}."


def test_the_module_imports_the_reader_alone():
    text = MODULE.read_text("utf-8")
    assert len(text.splitlines()) <= 615 and max(map(len, text.splitlines())) <= 120
    first = 'import { read as readStrictly } from "./skrldp.js";'
    assert text.count(first) == 1
    text = text.replace(first, "")
    for word in ("import ", "import(", "require", "Math.random", "fetch", "eval", "console"):
        assert word not in text, word


def test_boxes_are_refused_with_more_drift_or_bounds_between_which_nothing_lies():
    texts = next(texts for name, *texts in KEPT["bases"] if name == "private reports, drift 0.0")
    mechanism, counts, witness = texts[:3]
    for old, new, words in (
        ('"drift":0.0', '"drift":0.001', "report"),
        ('"upper":[[', '"upper":[[8192,8192,8192],[', "no table"),
        ('"lower":[[', '"lower":[[4', "nothing lies"),
        ('"n_records":', '"n_records":1', "counts are others"),
    ):
        changed = mechanism.replace(old, new, 1)
        assert changed != mechanism
        said = verify(*bound_together(changed, counts, witness))
        assert not said.holds and words in said.message, said
    fields = json.loads(mechanism)
    around = fields["claims"][0]["around"]
    around["lower"] = [[0, 0, 0], [0, 0, 0]]
    around["upper"] = [[100, 100, 100], [100, 100, 100]]
    said = verify(*bound_together(json.dumps(fields), counts, witness))
    assert said.message == "not shown: nothing lies between the bounds."
