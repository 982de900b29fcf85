"""Cases that the clients in Python and JavaScript treat alike; make test-browser runs Node."""

import json

import make_vectors
import manifest_cases
import refused_texts
from conftest import ROOT

VECTORS = ROOT / "tests" / "client" / "vectors"
MODULE = ROOT / "javascript" / "skrldp.js"


def test_the_vectors_are_what_python_says():
    """Else run tests/client/make_vectors.py, and see what changed."""
    made = make_vectors.files()
    assert sorted(made) == sorted(path.name for path in VECTORS.iterdir())
    for name, text in made.items():
        assert (VECTORS / name).read_text(encoding="utf-8") == text, f"{name} is another"


def test_all_that_python_refuses_is_among_the_vectors():
    """The cases are taken from the tests of Python's reading; none may be lost on the way."""
    refused = json.loads((VECTORS / "refused.json").read_text(encoding="utf-8"))
    assert len([name for name in refused if name.startswith("matrix: ")]) > 100
    for kind, cases in (
        ("tampered", refused_texts.test_json.TAMPERED),
        ("impossible", refused_texts.test_claims.IMPOSSIBLE),
    ):
        assert len([name for name in refused if name.startswith(kind)]) == len(cases)
    for _, new, _ in refused_texts.test_others.MALFORMED:
        assert f"others: {new}" in refused
    for damage in refused_texts.test_json.DAMAGE:
        for form in ("matrix", "blind", "blocks"):
            assert f"{form}: {damage}" in refused, (form, damage)
    damages = manifest_cases.refused_manifests()
    assert len(damages) > 60 and damages.keys() <= refused.keys()


def test_the_mutants_are_of_both_kinds():
    """Most are refused, but many are mechanisms, and few of these have the digest of their base."""
    kept = json.loads((VECTORS / "mutants.json").read_text(encoding="utf-8"))
    mutants = kept["mutants"]
    digests = [digest for *_, digest in mutants if digest is not None]
    assert len(mutants) == 600 and 60 < len(digests) < 300 and len(set(digests)) > len(digests) / 2
    manifests = [n for n, base in enumerate(kept["bases"]) if "skrldp-manifest" in base[:40]]
    of_manifests = [digest for base, *_, digest in mutants if base in manifests]
    assert len(of_manifests) > 60 and 5 < len(list(filter(None, of_manifests))) < 60


def test_the_module_is_one_short_file_that_imports_nothing():
    text = MODULE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 800 and max(map(len, text.splitlines())) <= 120
    for word in ("import ", "import(", "require", "Math.random", "fetch", "eval", "console"):
        assert word not in text, word
