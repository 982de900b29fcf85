"""Proofs, true and changed, that the checkers in Python and JavaScript judge in the same words.

``javascript/test/verify.test.js`` reads the same file (``make test-browser``). Where a verdict
changes on purpose, ``python tests/certificate/verdict_cases.py`` writes today's: read the diff.
"""

import ast
import json
import random
import re
import sys
from pathlib import Path

from conftest import ROOT
from verdict_cases import edited, kept_bases, read, verdict

sys.path.insert(0, str(ROOT / "fuzz"))
from changed_proofs import bound_together
from changed_texts import of_structure

from skrldp.certificate import _verify, verify
from skrldp.mechanism.manifest import read_json

MODULE = ROOT / "javascript" / "verify.js"
BASES, MUTANTS = read()
# Sentences of the checker that no text brings about: a guard, and an argument of its own.
WITHOUT_A_CASE = {"a number is too large.", "reports must be an integer >= 1."}


def test_the_verdicts_are_what_python_says():
    for name, *texts, eps, reports, said in BASES:
        assert verdict(texts, eps, reports) == said and said[0] == "holds", name
    for base, changes, eps, said in MUTANTS:
        texts = list(map(edited, BASES[base][1:4], changes))
        assert verdict(texts, eps, BASES[base][5]) == said


def test_every_sentence_of_the_checker_has_a_case():
    """And so has every kind of statement that it shows."""
    messages = [said[0] for *_, said in MUTANTS]
    assert 40 < messages.count("holds") < 100
    for node in ast.walk(ast.parse(Path(_verify.__file__).read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_need":
            sentence = node.args[1]
            words = [part.value for part in ast.walk(sentence) if isinstance(part, ast.Constant)]
            words = [word for word in words if isinstance(word, str) and word not in ("g", " or ")]
            is_said = any(all(word in message for word in words) for message in messages)
            assert is_said or words[0] in WITHOUT_A_CASE, words
    shown = [line for *_, said in BASES for line in said[1]]
    for kind in (
        "to those who know 1",
        "all distributions",
        "know all others",
        "for 4 pairs",
        "block 1, secret 0, one report",
    ):
        assert [line for line in shown if kind in line], kind


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


def test_the_module_imports_the_reader_alone():
    text = MODULE.read_text("utf-8")
    first = 'import { read as readStrictly } from "./skrldp.js";'
    assert text.count(first) == 1
    rest = text.replace(first, "")
    assert not re.search(r"import |import\(|require\(|Math\.random|fetch|eval|console", rest)
