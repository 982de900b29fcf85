"""The page of the JSON format: its sixty lines, its example, its fields."""

import json
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from small_mechanisms import FORMS, by_name, dense, rows_of

from skrldp import Manifest, Mechanism, SRRSanitizer


def reader():
    names = {"__name__": "reader"}
    exec((ROOT / "examples" / "reader.py").read_text(encoding="utf-8"), names)
    return SimpleNamespace(**names)


def tiny(form):
    """Mechanisms of few bits, whose draws can all be tried."""
    document = json.loads(FORMS[form]().to_json())
    if form == "blocks":
        document.update(denominator_bits=6, blocks=[64 - 4 * 3 - 2 * 8 - 8 * 1, 3, 8, 1])
        return document, 6
    rng = np.random.default_rng(0)
    n_symbols, width = np.shape(document["weights"])
    document["weights"] = (rng.multinomial(64, np.ones(n_symbols) / 4, size=width).T << 28).tolist()
    return document, 6


@pytest.mark.parametrize("form", FORMS)
def test_sixty_lines_sample_exactly(form):
    """Every draw there is, in steps where all weights are multiples of a step."""
    document, bits = tiny(form)
    mechanism = Mechanism.from_json(json.dumps(document))
    sixty = reader()
    step = 2 ** (mechanism.denominator_bits - bits)
    doc = sixty.load(json.dumps(document))
    rows, cells = rows_of(40)
    for record, cell in zip(by_name(rows), cells, strict=True):
        counts = [0] * mechanism.shape[0]
        for draw in range(2**bits):
            first = sixty.report(doc, record, lambda n, d=draw: d * step)
            assert first == sixty.report(doc, record, lambda n, d=draw: (d + 1) * step - 1)
            counts[first] += step
        assert counts == mechanism.weights[:, cell].tolist()


def test_sixty_lines_run_by_themselves():
    lines = (ROOT / "examples" / "reader.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    record = json.dumps({"age": 1, "ill": None, "size": "S"})
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(ROOT / "examples" / "reader.py"), record],
        input=dense().to_json().encode(),
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) in range(dense().shape[0])


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d.update(version=6),
        lambda d: d["weights"][0].__setitem__(0, d["weights"][0][0] + 1),
        lambda d: [row.pop() for row in d["weights"]],
        lambda d: d["weights"][0].__setitem__(0, float(d["weights"][0][0])),
        lambda d: d["weights"].append([-w for w in d["weights"][0]]),
    ],
)
def test_sixty_lines_check(damage):
    document = json.loads(dense().to_json())
    damage(document)
    with pytest.raises(ValueError, match=r"mechanism|weights|zip"):
        reader().load(json.dumps(document))


def blocks_of(language):
    page = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


def test_the_pages_json_is_a_mechanism():
    text, manifest = blocks_of("json")
    mechanism = Mechanism.from_json(text)
    again = Manifest.from_json(manifest)
    assert again.to_json() == json.dumps(json.loads(manifest), separators=(",", ":"))
    assert (again.blocks, again.shares.tolist()) == ((("home",), ("work",)), [0.75, 0.25])
    canonical = json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)
    assert mechanism.to_json() == canonical
    X = pd.DataFrame({"ill": ["no", "no", "yes", "yes"], "visits": ["rare", "often"] * 2})
    made = (
        SRRSanitizer(eps=1.0, sensitive="ill").fit(X, sample_weight=[70, 100, 260, 570]).mechanism_
    )
    assert np.abs(made.weights - mechanism.weights).max() <= 16  # as libraries compute exp
    assert (made.columns, made.cells, made.symbols) == (
        mechanism.columns, mechanism.cells, mechanism.symbols,
    )  # fmt: skip


def test_the_page_names_every_field_in_the_canonical_order():
    page = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
    named = re.findall(r"`(?:…)?(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)))
    text, _ = blocks_of("json")
    for document in [json.loads(text), *(json.loads(form().to_json()) for form in FORMS.values())]:
        first = document.pop("claims", [{}])[0]
        around = first.get("around", {})
        fields = [*document, *first, *(around if around != "all" else {})]
        assert sorted(fields, key=named.index) == fields
