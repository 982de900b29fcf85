"""Test vectors: mechanisms, records and texts, with what every reader must make of them.

The files in ``tests/client/vectors/`` are read by the tests of Python and of JavaScript. A case is
added there by hand; ``python tests/client/vectors.py`` then writes Python's answers: read the diff.

* ``mechanisms.json``: texts with their digests, what is read from them, and permanent reports about
  records; and records that are refused, with words of the message.
* ``manifests.json``: the same of manifests, whose reports are pairs of a block and a number.
* ``refused.json``: texts that are neither, and what Python says of each.
* ``mutants.json``: texts that differ from a base (its number, the characters kept before and
  behind, what is new), and their digests; null where they are refused. From a run of
  ``fuzz/changed_texts.py``.

What JSON lacks is written as an object of one key: ``{"int": digits}``, ``{"float": "nan"}``, and
for ids ``{"bytes": hexadecimal}``. Refused texts are lists of pieces and how often each comes.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).resolve().parent / "vectors"
if __name__ == "__main__":
    sys.path.insert(0, str(VECTORS.parents[2]))

from skrldp import client  # noqa: E402
from skrldp.mechanism.json_values import numbers_as_json, revive  # noqa: E402


def read(name: str) -> Any:
    """Read a file of vectors."""
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def python_value(value: Any) -> Any:
    """Turn a value of the files into one of Python."""
    if isinstance(value, list):
        return tuple(map(python_value, value))
    if isinstance(value, dict) and len(value) == 1:
        ((kind, content),) = value.items()
        if isinstance(content, dict):
            return python_value({kind: python_value(content)})
        if kind in ("int", "float"):
            return {"int": int, "float": float}[kind](content)
        if kind == "bytes":
            return bytes.fromhex(content)
        if kind in ("date", "time", "datetime", "microseconds"):
            return revive(value, "a record")
    return value


def python_record(record: Any) -> Any:
    """Turn a record of the files into one of Python, whose column "0" is called 0."""
    if isinstance(record, dict):
        return {(0 if name == "0" else name): python_value(it) for name, it in record.items()}
    return python_value(record)


def answers(vector: dict[str, Any], ids: list[Any]) -> dict[str, Any]:
    """Return what Python computes of a mechanism or manifest: its permanent reports, among all."""
    device = client.load(vector["texts"][0], permanent_key=bytes.fromhex(vector["key"]))
    reports = [
        [device.report(python_record(record), id=python_value(person)) for person in ids]
        for record in vector["records"]
    ]
    found = {"digest": device.digest, "reports": [list(map(_as_json, row)) for row in reports]}
    if "blocks" not in vector:
        stated = json.loads(device.mechanism.to_json())
        return found | {
            "observe": device.observe,
            "columns": stated["columns"] or [["secret", True], ["value", False]],
            "n_symbols": len(device.symbols),
            "claims": stated.get("claims"),
            "numbers": stated.get("numbers", [None] * len(device.columns)),
        }
    manifest = device.manifest
    return found | {
        "observe": manifest.observe,
        "columns": [list(column) for column in device.columns],
        "eps": device.eps,
        "blocks": [list(block) for block in manifest.blocks],
        "shares": manifest.shares.tolist(),
        "numbers": [numbers_as_json(manifest.numbers.get(name)) for name, _ in device.columns],
        "n_symbols": [len(mechanism.symbols) for mechanism in manifest.mechanisms],
    }


def _as_json(report: Any) -> Any:
    return list(report) if isinstance(report, tuple) else report


def text_of(pieces: list[Any]) -> str:
    """Join the pieces of a refused text."""
    return "".join(piece * times for piece, times in pieces)


def refusal(text: str) -> str | None:
    """Return why Python refuses a text, without the parser's words; None if it is read."""
    try:
        client.load(text)
    except ValueError as error:
        return re.sub(r"(the text is not JSON) \(.*", r"\1", str(error), flags=re.DOTALL)
    return None


def digest_of(text: str) -> str | None:
    """Return the digest that Python computes, or None if it refuses the text."""
    try:
        return client.load(text).digest
    except ValueError:
        return None


def mutated(mutant: list[Any], bases: list[str]) -> str:
    """Return the text of an entry of ``mutants.json``."""
    base, before, after, new, _ = mutant
    text = bases[base]
    return text[:before] + new + text[len(text) - after :]


def files() -> dict[str, str]:
    """Return the text of each file, with today's answers."""
    made = {}
    for name in ("mechanisms", "manifests"):
        whole = read(name)
        whole[name] = [vector | answers(vector, whole["ids"]) for vector in whole[name]]
        made[name] = json.dumps(whole).replace('{"name"', '\n{"name"') + "\n"
    refused = {
        name: {**entry, "says": refusal(text_of(entry["text"]))}
        for name, entry in read("refused").items()
    }
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in refused.items()]
    run = read("mutants")
    mutants = [[*mutant[:4], digest_of(mutated(mutant, run["bases"]))] for mutant in run["mutants"]]
    kept = ",\n".join(map(json.dumps, mutants))
    return made | {
        "refused": "{\n" + ",\n".join(lines) + "\n}\n",
        "mutants": f'{{"bases": {json.dumps(run["bases"])},\n"mutants": [\n{kept}\n]}}\n',
    }


if __name__ == "__main__":
    for name, text in files().items():
        (VECTORS / f"{name}.json").write_text(text, encoding="utf-8")
