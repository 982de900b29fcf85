"""Cases that the client in Python and the one in JavaScript must treat alike.

``python tests/client/make_vectors.py`` writes them into ``tests/client/vectors/``, and asserts that
Python treats them so. The tests in ``javascript/test/`` read the same files.

* ``mechanisms.json``: texts with their digests, what is read from them, and permanent reports about
  records; and records that are refused.
* ``manifests.json``: the same of manifests, whose reports are pairs of a block and a number.
* ``refused.json``: texts that are neither.
* ``mutants.json``: a run of ``fuzz.py``: texts that differ from a base (its number, the characters
  kept before and behind, what is new), and their digests; null where they are refused.

What JSON lacks is written as an object of one key: ``{"int": digits}``, ``{"float": "nan"}``, and
for ids ``{"bytes": hexadecimal}``. Texts are lists of pieces and how often each comes.
"""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent), str(HERE)]

from client_cases import S, U, cases, document  # noqa: E402
from manifest_cases import cases as manifests  # noqa: E402
from refused_texts import is_refused, refused_texts, test_json  # noqa: E402

from fuzz import bases, kept  # noqa: E402
from skrldp import client  # noqa: E402
from skrldp.mechanism.json_values import numbers_as_json, revive  # noqa: E402

KEYS = [
    bytes(range(32)),
    bytes(range(16)),
    bytes(range(200, 56, -1)),
]  # longer than a block of SHA-256
IDS = [
    "person 1", " ", "é😀", 0, 1, "1", b"1", -12, 2**53 - 1, 2**53 + 1, str(-(2**70)), b"\x00\xff",
    b" ",
]  # fmt: skip
IDS += [f"person {number}" for number in range(2, 10)]
# Integers as texts, and texts that are none; beyond 64 bits; one block of 16 bytes and more.
IDS += ["-7", "007", "-0", 2**64 - 1, str(2**64), -(2**63), "9" * 20, "x" * 16, b"x" * 33]


def texts_of(fields: dict[str, Any]) -> list[str]:
    """Write a document canonically or not: the digest is the same."""
    rng = random.Random(1)
    shuffled = test_json.shuffled(fields, rng)
    blanks = json.dumps(shuffled, separators=(" ,", "\t:\r\n")).replace("/", "\\/")
    return [json.dumps(fields, ensure_ascii=False), blanks]


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
        if kind in ("date", "time", "datetime", "microseconds"):
            return revive(value, "a record")
    return value


def python_record(record: Any) -> Any:
    if isinstance(record, dict):
        return {(0 if name == "0" else name): python_value(it) for name, it in record.items()}
    return python_value(record)


def plain_id(person: Any) -> Any:
    if isinstance(person, bytes):
        return {"bytes": person.hex()}
    return {"int": str(person)} if isinstance(person, int) else person


def mechanism_vectors() -> list[dict[str, Any]]:
    made = []
    for number, (name, (fields, records, refused)) in enumerate(cases().items()):
        device, vector = vector_of(name, number, fields, records, refused)
        stated = json.loads(device.mechanism.to_json())
        own = {
            "observe": device.observe,
            "columns": stated["columns"] or [["secret", True], ["value", False]],
            "n_symbols": len(device.symbols),
            "claims": stated.get("claims"),
            "numbers": stated.get("numbers", [None] * len(device.columns)),
        }
        made.append({**vector, **own})
    return made


def manifest_vectors() -> list[dict[str, Any]]:
    made = []
    for number, (name, (fields, records, refused)) in enumerate(manifests().items()):
        device, vector = vector_of(name, number, fields, records, refused)
        manifest = device.manifest
        own = {
            "observe": manifest.observe,
            "columns": device.columns,
            "eps": device.eps,
            "blocks": manifest.blocks,
            "shares": manifest.shares.tolist(),
            "numbers": [numbers_as_json(manifest.numbers.get(name)) for name, _ in device.columns],
            "n_symbols": [len(one.symbols) for one in manifest.mechanisms],
        }
        made.append({**vector, **own})
    return made


def vector_of(
    name: str, number: int, fields: dict[str, Any], records: list[Any], refused: list[Any]
) -> tuple[Any, dict[str, Any]]:
    """Return a client with permanent reports, and what mechanisms and manifests have in common."""
    key = KEYS[number % len(KEYS)]
    is_long = len(fields.get("symbols", [])) > 100 or len(fields.get("mechanisms", [])) > 100
    texts = texts_of(fields)[: 1 if is_long else 2]
    device = client.load(texts[0], permanent_key=key)
    assert all(client.load(text).digest == device.digest for text in texts)
    reports = [
        [device.report(python_record(record), id=person) for person in IDS] for record in records
    ]
    for record, message in refused:
        check_refused(device, record, message)
    vector = {
        "name": name,
        "texts": texts,
        "digest": device.digest,
        "key": key.hex(),
        "records": records,
        "reports": reports,
        "refused": [record for record, _ in refused],
    }
    return device, vector


def check_refused(device: Any, record: Any, message: str) -> None:
    """Check that Python refuses a record, and says why."""
    try:
        device.report(python_record(record), id=1)
    except ValueError as error:
        assert re.search(message, str(error)), (message, str(error))
    else:
        raise AssertionError(f"not refused: {record}")


def pieces(text: str) -> list[Any]:
    """Write a text as pieces, and how often each comes: some repeat one character very often."""
    found: list[Any] = []
    end = 0
    for run in re.finditer(r"(.)\1{99,}", text, flags=re.DOTALL):
        found += [[text[end : run.start()], 1], [run[1], len(run[0])]]
        end = run.end()
    return [*found, [text[end:], 1]]


def files() -> dict[str, str]:
    """Return the text of each file."""
    ids = list(map(plain_id, IDS))
    whole = {"ids": ids, "mechanisms": mechanism_vectors()}
    of_blocks = {"ids": ids, "manifests": manifest_vectors()}
    refused = refused_texts()
    runs = {name: pieces(text) for name, text in refused.items()}
    start, end = json.dumps(document(S, U, columns=[["@", True], ["u", False]])).split("@")
    runs["many brackets"] = [[start, 1], ["[", 2**22], [end, 1]]
    runs["many commas"] = [[start, 1], [",", 17 * 2**20], [end, 1]]
    for name in ("many brackets", "many commas"):
        assert is_refused("".join(piece * times for piece, times in runs[name]))
    lines = [f"{json.dumps(name)}: {json.dumps(run)}" for name, run in runs.items()]
    mutants = ",\n".join(map(json.dumps, kept()))
    return {
        "mechanisms.json": json.dumps(whole).replace('{"name"', '\n{"name"') + "\n",
        "manifests.json": json.dumps(of_blocks).replace('{"name"', '\n{"name"') + "\n",
        "refused.json": "{\n" + ",\n".join(lines) + "\n}\n",
        "mutants.json": f'{{"bases": {json.dumps(bases())},\n"mutants": [\n{mutants}\n]}}\n',
    }


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / "vectors" / name).write_text(text, encoding="utf-8")
