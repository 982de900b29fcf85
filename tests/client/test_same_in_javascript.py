"""One suite for every reader: what Python answers to the vectors, JavaScript answers as well.

``javascript/test/vectors.test.js`` reads the same files (``make test-browser``). Where an answer
changes on purpose, ``python tests/client/vectors.py`` writes today's: read the diff.
"""

import re

import pytest
from conftest import ROOT
from vectors import answers, digest_of, mutated, python_record, read, refusal, text_of

from skrldp import client

MODULE = ROOT / "javascript" / "skrldp.js"
MECHANISMS, MANIFESTS = read("mechanisms"), read("manifests")
IDS = MECHANISMS["ids"]
VECTORS = {
    f"{kind}, {vector['name']}": vector
    for kind, vectors in (("mechanism", MECHANISMS), ("manifest", MANIFESTS))
    for vector in vectors[f"{kind}s"]
}


@pytest.mark.parametrize("name", VECTORS)
def test_digests_statements_and_permanent_reports_never_change(name):
    """If reports changed, everyone's would: that would be another version of the format."""
    vector = VECTORS[name]
    assert vector | answers(vector, IDS) == vector
    assert {client.load(text).digest for text in vector["texts"]} == {vector["digest"]}


@pytest.mark.parametrize("name", [name for name, vector in VECTORS.items() if vector["refused"]])
def test_records_are_refused_with_the_column_and_without_the_value(name):
    vector = VECTORS[name]
    key = bytes.fromhex(vector["key"])
    device = client.load(vector["texts"][0], permanent_key=key)
    for record, words in vector["refused"]:
        with pytest.raises(ValueError, match=words) as caught:
            device.report(python_record(record), id=1)
        assert str(caught.value).endswith("Nothing was reported."), record


def test_texts_that_are_no_mechanism_are_refused_for_a_reason():
    """Whatever a text holds, the message is short, in one line, and names what is wrong."""
    for name, entry in read("refused").items():
        said = refusal(text_of(entry["text"]))
        assert said == entry["says"], name
        assert said is not None and len(said) < 1000 and "\n" not in said, name


def test_changed_texts_are_read_with_one_digest_or_refused():
    """Most mutants are refused, but many are mechanisms, and few have the digest of their base."""
    run = read("mutants")
    mutants, bases = run["mutants"], run["bases"]
    for mutant in mutants:
        assert digest_of(mutated(mutant, bases)) == mutant[-1], mutant
    digests = [digest for *_, digest in mutants if digest is not None]
    assert len(mutants) == 600 and 60 < len(digests) < 300 and len(set(digests)) > len(digests) / 2
    manifests = {n for n, base in enumerate(bases) if "skrldp-manifest" in base[:40]}
    of_manifests = [digest for base, *_, digest in mutants if base in manifests]
    assert len(of_manifests) > 60 and 5 < len(list(filter(None, of_manifests))) < 60


def test_the_module_is_one_short_file_that_imports_nothing():
    text = MODULE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 850 and max(map(len, text.splitlines())) <= 120
    assert not re.search(r"import |import\(|require\(|Math\.random|fetch|eval|console", text)
