"""Cases that the client in Python and the one in JavaScript must treat alike.

``python tests/client/make_vectors.py`` writes them into ``tests/client/vectors/``, and asserts on the
way that Python treats them so. The tests in ``javascript/test/`` read the same files.

* ``mechanisms.json``: texts with their digests, what is read from them, and permanent reports about
  records; and records that are refused.
* ``refused.json``: texts that are no mechanisms.

What JSON lacks is written as an object of one key: ``{"int": digits}``, ``{"float": "nan"}``, and for
ids ``{"bytes": hexadecimal}``. Long texts are lists of pieces and how often each comes.
"""

from __future__ import annotations

import json
import random
import re
import sys
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
for folder in (HERE.parents[1], HERE.parent, HERE.parent / "mechanism", HERE.parent / "sanitizers"):
    sys.path.insert(0, str(folder))

import test_guarantee
import test_json
import test_others
from skrldp import client
from skrldp.mechanism import StatedLikelihoodRatioSet, StatedRenyiSet, slot_bits
from skrldp.mechanism._categories import revive

KEYS = [bytes(range(32)), bytes(16), bytes(range(200, 56, -1))]  # longer than a block of SHA-256
IDS = [
    "person 1",
    "",
    "é😀",
    0,
    1,
    "1",
    b"1",
    -12,
    2**53 - 1,
    2**53 + 1,
    -(2**70),
    b"\x00\xff",
    b"",
]
IDS += [f"person {number}" for number in range(2, 10)]
ONE = 2**32


# --- Mechanisms ----------------------------------------------------------------------------------


def weights_of(n_symbols: int, n_cells: int, seed: int = 0, share: float = 0.7) -> list[list[int]]:
    """Columns of random weights, some of them 0, that sum to the denominator."""
    rng, total = random.Random(seed), 1 << slot_bits(n_symbols)
    columns = []
    for _ in range(n_cells):
        held = [y for y in range(n_symbols) if rng.random() < share] or [0]
        cuts = sorted(rng.randrange(total + 1) for _ in held[1:])
        column = [0] * n_symbols
        for y, low, high in zip(held, [0, *cuts], [*cuts, total], strict=True):
            column[y] = high - low
        columns.append(column)
    return [list(row) for row in zip(*columns, strict=True)]


def document(secrets: list[Any], values: list[Any], n_symbols: int = 3, **parts: Any) -> dict:
    """A mechanism's JSON with random weights."""
    blind = parts.get("observe") == "nonsensitive"
    fields = {
        "format": "skrldp-mechanism",
        "version": 3,
        "columns": parts.get("columns", [["s", True], ["u", False]]),
        "secrets": secrets,
        "values": values,
    }
    if "blocks" in parts:
        fields["denominator_bits"] = parts["bits"]
    else:
        n_cells = len(values) * (1 if blind else len(secrets))
        fields["denominator_bits"] = slot_bits(n_symbols)
        fields["symbols"] = list(range(n_symbols))
        fields["weights"] = weights_of(n_symbols, n_cells, seed=n_symbols)
    return {**fields, **{name: part for name, part in parts.items() if name != "bits"}}


LR = {
    "set": "likelihood-ratio", "single": 0.07, "pair": 0.125, "drift": 0, "rule": "finite-sample",
    "beta": 0.05,
}  # fmt: skip
BALL = {"set": "renyi", "alpha": 2, "radius": 1e-05, "rule": "chi2", "beta": 0.05}
PROOF = {"eps_requested": 1, "eps": 0.1 + 0.2, "eps_attained": 5e-324}
FULL = {
    **PROOF,
    "eps_all": 1e16,
    "eps_given_u": 123456789012345680.0,
    "eps_pairs": [[0, 0.25, None], [0.25, None, -0.0], [None, 0, -0.0]],
    "n_records": 10**20,
    "alphabet": "split",
    "distributions": LR,
    "further": [
        {"secret": [1], "known": [], **PROOF, "distributions": BALL},
        {"secret": [1], "known": [0], **PROOF, "alphabet": "learned", "distributions": LR},
        {"secret": [1], "known": [0, 2], **PROOF, "distributions": "all"},
    ],
}
FULL["eps_given_u"] = 9007199254740993.0
CLAIM = {**PROOF, "n_records": None, "distributions": "all"}
THREE = [["age", False], ["ill", True], ["size", False]]
PAIRS = [[1, "S"], [1, "M"], [2, "S"], [2, None], [3.5, "M"]]
NUMBERS = [
    0, -1, 0.5, 2**53, 2**53 + 1, -(2**63), 10**400, 1e300, -1e-300, 5e-324, 1.7976931348623157e308,
    1e22, 123456789012345680.0, 9999999999999998.0, 0.0001, 0.00001, 1.5e-7, 1e21, 0.1, 1 / 3,
]  # fmt: skip
TEXTS = [
    "", " ", "é", "e\u0301", "😀", "東", "a\"b\\c/d", "\x00\x1f\x7f\x80", "\b\f\n\r\t\v", "\u2028\u2029",
    "__proto__", "constructor", "1", "true", "null", "\ufeff", "\U0010ffff", "#1", "$", "{[,:]}",
]  # fmt: skip
MOMENTS = [
    {"date": "2020-02-29"}, {"date": "0001-01-01"}, {"date": "9999-12-31"}, {"time": "12:30:00"},
    {"time": "12:30:00.000001"}, {"time": "00:00:00+00:00"}, {"time": "23:59:59.999999-23:59"},
    {"time": "12:00:00+00:00:01.000001"}, {"datetime": "2020-01-01T00:00:00"},
    {"datetime": "2020-01-01T00:00:00+00:00"}, {"datetime": "2020-01-01T00:00:00.123456-01:30"},
    {"datetime": "9999-12-31T23:59:59.999999+00:00"}, {"datetime": "0001-01-01T00:00:00-23:59"},
    {"datetime": "1969-12-31T23:59:59.999999+05:45:01.500000"}, {"microseconds": 0},
    {"microseconds": -86399999913600000000}, {"microseconds": 86399999999999999999}, None, "2020-02-29",
]  # fmt: skip
S, U = ["no", "yes"], ["a", "b", "other"]

# Name: the mechanism; records that are reported; records that are refused, with what Python says.
Case = tuple[dict[str, Any], list[Any], list[tuple[Any, str]]]


def cases() -> dict[str, Case]:
    """Return every kind of mechanism that a client can meet."""
    int_ = [{"int": str(number)} if isinstance(number, int) else number for number in NUMBERS]
    beyond = "each value, but not together"
    found: dict[str, Case] = {
        "a matrix": (
            document(S, U, 4, guarantee={**CLAIM, "distributions": BALL, "alphabet": "declared"}),
            [["no", "a"], {"u": "b", "s": "yes", "more": [1]}],
            [
                (["no"], "has 1 values"), (["no", "a", "a"], "has 3 values"), ([], "has 0 values"),
                ({"s": "no"}, "lacks the column 'u'"), ({}, "lacks the column 's'"),
                (["maybe", "a"], "not shown"), (["no", "c"], "'c'"), (["no", None], "None"),
                (["no", ["a"]], "cannot be|does not know"), ([None, "a"], "not shown"),
                (["no", {"date": "2020-01-01"}], "does not know"), ("no", "type str"),
                (5, "type int"), (None, "type NoneType"), (["no", {"float": "nan"}], "know"),
                (["no", {"float": "inf"}], "know"), (["no", "\ud800"], "know"), ([1, "a"], "not shown"),
            ],
        ),
        "four weights": (
            document(
                ["no", "yes", None], PAIRS, columns=THREE, blocks=[28, 5, 4, 1], bits=6,
                guarantee={**CLAIM, "eps_all": 2.5},
            ),
            [[1, "no", "S"], {"ill": None, "age": 3.5, "size": "M"}, [True, "yes", "M"]],
            [([1, "no", None], beyond), ([9, "no", "S"], "9"), ([1, "?", "S"], "not shown")],
        ),
        "four large weights": (
            document(S, [1, 2, 3], blocks=[2**52 - 18 * 10**14, 9 * 10**14] * 2, bits=53),
            [["no", 1], ["yes", 3.0], ["yes", 2]],
            [(["no", "1"], "know"), (["no", 1.5], "know")],
        ),
        "equal weights": (document(S, [1, 2], blocks=[1, 1, 1, 1], bits=2), [["no", 1]], []),
        "one secret": (document(["no"], [1, 2, 3], blocks=[4, 2, 8, 8], bits=3), [["no", 2]], []),
        "one value": (document([0, 1, 2], ["x"], blocks=[4, 1, 2, 0], bits=3), [[2.0, "x"]], []),
        "no noise": (document(S, U, blocks=[2, 0, 0, 0], bits=1), [["no", "b"]], []),
        "without the secret": (
            document(["no", "yes", None], PAIRS, 4, columns=THREE, observe="nonsensitive"),
            [[1, "S"], [2, "anything", None], {"size": "M", "age": {"int": "1"}}, [3.5, [[]], "M"]],
            [([1], "has 1 values"), ([1, None], beyond), ({"ill": "no", "age": 1}, "lacks")],
        ),
        "several secrets": (
            document(
                [["a", 1], ["a", 2], [None, 1]], [[True, "x"], [False, "y"], [2, "y"]], 5,
                columns=[["u", False], ["s", True], [0, True], ["w", False]],
            ),
            [[1, "a", 2, "x"], {"u": 0, "s": None, "0": 1, "w": "y"}],
            [([1, None, 2, "x"], "not shown"), ([2, "a", 1, "x"], beyond)],
        ),
        "numbers": (
            document(S, NUMBERS, observe="nonsensitive"),
            [[value] for value in int_] + [[False], [-0.0], [0.0], ["no", True - 2]],
            [([True], "know"), ([0.3], "know"), ([{"int": str(2**53 + 2)}], "know"),
             ([{"int": str(10**400 + 1)}], "know"), (["0"], "know")],
        ),
        "truth values": (
            document([True, False], [1.0, 2, -0.0, None, "None"]),
            [[1, True], [0, 2.0], [0.0, False], [True, {"float": "nan"}], [False, "None"]],
            [([2, 1], "not shown"), (["true", 1], "not shown"), ([{"float": "nan"}, 1], "not shown")],
        ),
        "texts": (
            document(S, TEXTS, 2, observe="nonsensitive", columns=[["é\"", True], ["\n😀", False]]),
            [[text] for text in TEXTS] + [{"\n😀": "😀"}],
            [(["e\u0301\u0301"], "know"), ([1], "know"), ([None], "know")],
        ),
        "names that objects have": (
            document(S, U, columns=[["__proto__", True], ["constructor", False]]),
            [["no", "a"]],
            [({}, "lacks the column"), ({"constructor": "a"}, "lacks the column '__proto__'")],
        ),
        "moments": (
            document(S, MOMENTS, 2, observe="nonsensitive"),
            [[value] for value in MOMENTS if value is None or "microseconds" not in value]
            + [[{"microseconds": {"int": str(-864 * 10**17 + 864 * 10**8)}}], [{"microseconds": 0}],
               [{"datetime": "2020-01-01T01:00:00+01:00"}], [{"time": "01:00:00+01:00"}],
               [{"datetime": "2020-01-01T01:30:00.123456+00:00"}]],
            [([{"date": "2020-02-28"}], "know"), ([{"datetime": "2020-02-29T00:00:00"}], "know"),
             ([{"time": "00:00:00"}], "know"), ([{"microseconds": 1}], "know"),
             ([{"datetime": "2020-01-01T00:00:00+00:01"}], "know"), ([0], "know")],
        ),
        "any other value": (
            document(S, U, 4, other=[True]),
            [["no", "a"], ["yes", "other"], ["no", "what"], ["yes", None], ["no", {"float": "inf"}],
             ["no", {"float": "nan"}], ["no", {"date": "2020-01-01"}], ["no", {"int": "9" * 30}]],
            [(["maybe", "a"], "not shown")],
        ),
        "some other values": (
            document(S, U, 4, other=[["c", 1, None, {"date": "2020-01-01"}]]),
            [["no", "a"], ["no", "c"], ["no", 1.0], ["no", True], ["yes", None],
             ["yes", {"date": "2020-01-01"}]],
            [(["no", "d"], "know"), (["no", 2], "know"), (["c", "a"], "not shown")],
        ),
        "others together": (
            document(
                S, [["a", 1], ["a", "other"], ["other", "other"], ["b", 1]], 3, columns=THREE,
                other=[True, True],
            ),
            [["a", "no", 1], ["a", "no", 7], ["z", "no", 7], ["b", "yes", 3], ["z", "yes", 1]],
            [(["a", "?", 1], "not shown")],
        ),
        "others of one of two": (
            document(
                S, [["a", 1], ["other", 1], ["a", "other"], ["other", 2]], 3, columns=THREE,
                other=[True, ["few", 9]],
            ),
            [["a", "no", 1], ["x", "no", 1], ["a", "yes", 9], ["x", "no", 2]],
            [(["a", "no", 2], beyond), (["x", "no", 9], beyond), (["a", "no", 8], "know")],
        ),
        "no names": (
            document(["a", "b"], [["x", 1], ["y", None]], columns=[], guarantee=CLAIM),
            [["b", ["x", 1]], {"secret": "a", "value": ["y", None]}, ["b", ["x", 1.0]]],
            [(["b", ["x"]], "know"), (["b", "x"], "know"), (["b", ["y", {"float": "nan"}]], "know")],
        ),
        "names that are no texts": (
            document(S, U, columns=[[{"date": "2020-01-01"}, True], [None, False]]),
            [["yes", "b"]],
            [],
        ),
        "one report": (document(S, U, 1, guarantee=FULL | {"eps_pairs": [[0, 0], [0, 0]],
            "further": [{**FULL["further"][0], "secret": [0]}]}), [["no", "a"]], []),
        "all figures": (
            document(
                [1, 2, 3], [[1, 2], [3, 4]], 3, guarantee=FULL,
                columns=[["a", False], ["s", True], ["b", False]],
            ),
            [[1, 3, 2]],
            [],
        ),
        "deep names": (
            {**document(S, U, 2), "symbols": [[[["no", "a"], 1.0], "x"], [[["no", "a"], 1.5], "x"]]},
            [["no", "a"]],
            [],
        ),
    }  # fmt: skip
    for n in (2, 128, 129, 255, 256, 257, 300):
        values = list(range(2))
        found[f"{n} reports"] = (
            document([0], values, n, observe="nonsensitive"), [[value] for value in values], []
        )  # fmt: skip
    certain = document(S, [1, 2], 4, observe="nonsensitive")
    certain["weights"] = [[0, 1], [4 * ONE, 0], [0, 4 * ONE - 1], [0, 0]]
    found["weights at the ends"] = (certain, [[1], [2]], [])
    even = document(S, [1, 2], 4, observe="nonsensitive")
    even["weights"] = [[ONE, 2 * ONE], [ONE, 0], [ONE, 2 * ONE], [ONE, 0]]
    found["weights that fill slots"] = (even, [[1], [2]], [])
    return found


def texts_of(fields: dict[str, Any]) -> list[str]:
    """Write a document canonically or not: the digest is the same."""
    rng = random.Random(1)
    shuffled = test_json.shuffled(fields, rng)
    blanks = json.dumps(shuffled, separators=(" ,", "\t:\r\n")).replace("/", "\\/")
    return [json.dumps(fields, ensure_ascii=False), blanks]


OF_OLD = [test_guarantee.VERSION_1.replace("LAWS", laws) for laws in ('"all"', test_guarantee.BALL)]
OF_OLD.append(OF_OLD[0].replace('"version":1', '"version":2').replace('"laws"', '"distributions"'))


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
        key = KEYS[number % len(KEYS)]
        texts = texts_of(fields)[: 1 if len(fields.get("symbols", [])) > 100 else 2]
        device = client.load(texts[0], memoize=key)
        assert all(client.load(text).digest == device.digest for text in texts)
        reports = [
            [device.report(python_record(record), id=person) for person in IDS]
            for record in records
        ]
        for record, message in refused:
            check_refused(lambda it=record: device.report(python_record(it), id=1), message)
        stated = json.loads(device.mechanism.to_json())
        made.append(
            {
                "name": name,
                "texts": texts,
                "digest": device.digest,
                "observe": device.observe,
                "columns": stated["columns"] or [["secret", True], ["value", False]],
                "n_symbols": len(device.symbols),
                "guarantee": stated.get("guarantee"),
                "key": key.hex(),
                "records": records,
                "reports": reports,
                "refused": [record for record, _ in refused],
            }
        )
    return made


# --- Texts that are refused ----------------------------------------------------------------------


def stated(thing: Any) -> Any:
    """Return what a guarantee's part would be in JSON."""
    if isinstance(thing, StatedRenyiSet | StatedLikelihoodRatioSet):
        return {"set": thing.kind, **asdict(thing)}
    if is_dataclass(thing):
        found = {name: stated(it) for name, it in vars(thing).items()}
        return {name: it for name, it in found.items() if name != "alphabet" or it is not None}
    if isinstance(thing, tuple | list):
        return [stated(item) for item in thing]
    return {name: stated(it) for name, it in thing.items()} if isinstance(thing, dict) else thing


def refused_texts() -> dict[str, str]:
    """Return texts that are no mechanisms, from the tests of Python's reading and from here."""
    found = {}
    forms = {
        "matrix": {**document(S, [1, 2], 2), "guarantee": {**CLAIM, "distributions": BALL}},
        "blind": {**document(S, ["a", "b"], 2, observe="nonsensitive"), "guarantee": CLAIM},
        "blocks": document(S, [1, 2, 3], blocks=[3, 1, 1, 1], bits=3),
    }
    for form, fields in forms.items():
        for damage, (change, _) in test_json.DAMAGE.items():
            damaged = json.loads(json.dumps(fields))
            change(damaged)
            found[f"{form}: {damage}"] = json.dumps(damaged)
        short = {name: part for name, part in fields.items() if name != "guarantee"}
        for name in short:
            found[f"{form}: no {name}"] = json.dumps({k: v for k, v in short.items() if k != name})
            for wrong in (None, True, 1.5, -1, "x", [], {}, [None], [[]], {"date": "x"}, [[1, 2]]):
                found[f"{form}: {name} is {wrong}"] = json.dumps({**short, name: wrong})
    dense = test_json.dense().to_json()
    for old, new, message in test_json.TAMPERED:
        found[f"tampered: {message} {new[:40]}"] = dense.replace(old, new, 1)
    for laws, old, new in ((test_guarantee.BALL, o, n) for o, n, _ in test_guarantee.OF_VERSION_1):
        text = test_guarantee.VERSION_1.replace("LAWS", laws)
        found[f"version 1: {new}"] = text.replace(old, new, 1)
    bare = json.loads(test_guarantee.BARE.to_json())
    main = {"n_records": None, **stated(test_guarantee.FIGURES)}
    for kind, good, changes, message in test_guarantee.IMPOSSIBLE:
        part = stated({**good, **changes})
        claims: Any = {**main, "n_records": 5}
        if kind in (StatedRenyiSet, StatedLikelihoodRatioSet):
            claims["distributions"] = {"set": kind.kind, **part}
        elif kind is test_guarantee.Statement:
            claims["further"] = [part]
        else:
            claims = {**claims, **part}
        found[f"impossible: {kind.__name__} {message}"] = json.dumps({**bare, "guarantee": claims})
    found |= of_others() | of_categories() | of_json(json.dumps(forms["matrix"])) | of_sizes()
    return {name: text for name, text in found.items() if is_refused(text)}


def of_others() -> dict[str, str]:
    fields = document(S, ["field", "other"], 2, other=[True])
    fields["guarantee"] = {**CLAIM, "distributions": BALL, "alphabet": "split"}
    text = json.dumps(fields, separators=(",", ":"))
    found = {f"others: {new}": text.replace(old, new, 1) for old, new, _ in test_others.MALFORMED}
    two = document(S, [["a", 1], ["other", 1]], 2, columns=THREE)
    odd = [
        [True, True],
        [True, 1],
        [[1], [2]],
        [["a"], None],
        [[], None],
        [None, None],
        [["z", "z"], None],
    ]
    odd += [
        [True],
        [[1.0, True], None],
        {"0": True},
        [["other"], None],
        [None, True],
        [["\ud800"], None],
    ]
    for other in odd:
        found[f"others of two columns: {other}"] = json.dumps({**two, "other": other})
    far = {"datetime": "0001-01-01T00:00:00+01:00"}
    found["others: beyond year 1"] = json.dumps({**fields, "other": [[far]]})
    found["a value beyond year 1"] = json.dumps(document(S, [far], 2))
    found["a secret beyond year 9999"] = json.dumps(
        document([{"datetime": "9999-12-31T23:59:59-00:01"}], [1], 2)
    )
    return found


def of_categories() -> dict[str, str]:
    odd = [
        {"date": "2021-02-29"}, {"date": "0000-01-01"}, {"date": "2020-1-1"}, {"date": "20200101"},
        {"date": "10000-01-01"}, {"date": "2020-01-01\n"}, {"date": "2020-W01-1"}, {"date": 5},
        {"date": "2020-01-01T00:00:00"}, {"datetime": "2020-01-01"}, {"datetime": "2020-01-01 00:00:00"},
        {"datetime": "2020-01-01T24:00:00"}, {"datetime": "2020-01-01T00:00"}, {"time": "12:30"},
        {"datetime": "2020-01-01T00:00:00Z"}, {"datetime": "2020-01-01T00:00:00.000000"},
        {"datetime": "2020-01-01T00:00:00.5"}, {"datetime": "2020-01-01T00:00:00-00:00"},
        {"datetime": "2020-01-01T00:00:00+24:00"}, {"datetime": "2020-01-01T00:00:00+01:60"},
        {"datetime": "2020-01-01T00:00:00+01:00:00"}, {"datetime": "2020-01-01T00:00:00+0100"},
        {"datetime": "2020-01-01T00:00:00+01:00:01.000000"}, {"time": "24:00:00"}, {"time": "12:60:00"},
        {"datetime": "2020-01-01T00:00:00+00:00:00.000001"}, {"time": "12:00:60"}, {"time": "T12:00:00"},
        {"datetime": "2020-01-01T00:00:00-00:00:00.000001"}, {"microseconds": 1.0}, {"microseconds": True},
        {"microseconds": 86400000000 * 10**9}, {"microseconds": "5"}, {"microseconds": None}, {},
        {"microseconds": -86400000000 * 999999999 - 1}, {"date": "2020-01-01", "time": "12:00:00"},
        {"year": 2020}, {"": ""}, {"date": "٢٠٢٠-01-01"}, {"toString": "x"}, {"__proto__": "2020-01-01"},
    ]  # fmt: skip
    found = {
        f"category {json.dumps(value)}": json.dumps(document(S, [value, "x"], 2)) for value in odd
    }
    pairs = [
        [1, 1.0], [0, False], [-0.0, 0], ["a", "a"], [None, None], [10**30, 1e30], [2**60, 2.0**60],
        [{"time": "12:00:00+00:00"}, {"time": "14:00:00+02:00"}], [[1], [True]],
        [{"datetime": "2020-01-01T00:00:00+00:00"}, {"datetime": "2019-12-31T19:00:00-05:00"}],
        [{"microseconds": 5}, {"microseconds": 5}],
    ]  # fmt: skip
    for columns in ([["s", True], ["u", False]], []):
        for pair in pairs:
            text = json.dumps(document(S, pair, 2, columns=columns))
            found[f"equal, {len(columns)} columns: {pair}"] = text
    deep = [[[[["a"]]]], [[[["a"]]]], "x"]
    for part in ("secrets", "values", "symbols"):
        fields = document(S, ["a", "b"], 2, columns=[])
        found[f"deep {part}"] = json.dumps({**fields, part: [deep[0], "b"]})
    wide = document(S, ["a", "b"], 2)
    for columns in (
        [["s", True]],
        [["u", False]],
        [["s", True], ["u", 0]],
        [["s", True, 1]],
        ["su"],
    ):
        found[f"columns {columns}"] = json.dumps({**wide, "columns": columns})
    for name in (1.5, [["x"]]):
        found[f"columns repeat {name}"] = json.dumps(
            {**wide, "columns": [[name, True], [name, False]]}
        )
    return found


def of_json(text: str) -> dict[str, str]:
    found = {f"cut to {n}": text[:n] for n in range(0, len(text), 37)}
    for old, new in (
        ('"no"', "'no'"),
        ('"no"', "no"),
        ('"no"', '"no'),
        ('"no"', '"n\no"'),
        ('"no"', '"\\x6e"'),
        ('"no"', '"\\u00"'),
        ('"no"', '"\\ud83d"'),
        ('"no"', '"\\ude00\\ud83d"'),
        ('"no"', '"\t"'),
        ('"no"', "01"),
        ('"no"', "1."),
        ('"no"', ".5"),
        ('"no"', "+1"),
        ('"no"', "1e"),
        ('"no"', "--1"),
        ('"no"', "0x1"),
        ('"no"', "1_0"),
        ('"no"', "Infinity"),
        ('"no"', "undefined"),
        ('"no"', "None"),
        ('"no"', '"no",'),
        ('"no"', ',"no"'),
        ('"no"', '"no" "x"'),
        ('"no"', '"no"/*x*/'),
        ('"no"', "9" * 4301),
        ('"no"', "-" + "9" * 4301),
        ('"no"', "-1e999"),
        ('"no"', "1E400"),
        ("{", "{,"),
        ("{", "{}{"),
        ("{", "\ufeff{"),
        ("{", "\xa0{"),
        ("{", "\v{"),
        ("{", "x{"),
        ('"secrets":', '"secrets"'),
        ('"secrets":', '"secrets"::'),
        ('"secrets":', "secrets:"),
        ('"secrets":', '"\\u0073ecrets":[],"secrets":'),
        ('"secrets":', '"__proto__":1,"secrets":'),
        ('"secrets":', '"secrets":[],"secrets" \n:'),
        ('"secrets":', '"":1,"secrets":'),
        ('"secrets":', '"":1,"":2,"secrets":'),
        ('"no"', '"no\ud83d\\ude00"'),
        ('"no"', '"\ud800"'),
    ):
        assert old in text
        found[f"{old} to {new[:60]!r}"] = text.replace(old, new, 1)
    for tail in ("x", "]", "}", "{}", ",", "\0", "\ufeff"):
        found[f"followed by {tail!r}"] = text + tail
    found |= {
        repr(whole): whole for whole in ("", " ", "null", "[]", "5", '"x"', "{}", "true", "[{}]")
    }
    return found


def of_sizes() -> dict[str, str]:
    """Texts that would fill the memory, and long ones, which messages must not repeat."""
    fields, long = document(S, ["a", "b"], 2), "x" * 10**6
    found = {f"a long {name}": "" for name in test_json.ECHOES}
    for name, damage in test_json.ECHOES.items():
        damaged = json.loads(json.dumps(fields))
        damage(damaged)
        found[f"a long {name}"] = json.dumps(damaged)
    found["a long exponent"] = '{"a":1e' + "9" * 10**6 + "}"
    found["a long key twice"] = "{" + f'"{long}":1,"{long}":1' + "}"
    found["many cells"] = json.dumps({**fields, "values": [7], "secrets": [8]})
    sevens = "[" + "7," * 1_000_001 + "7]"
    found["many cells"] = found["many cells"].replace("[7]", sevens, 1)
    found["many brackets"] = json.dumps(fields)[:-1] + "[" * (2**23 + 1)
    return found


def is_refused(text: str) -> bool:
    """Whether Python refuses a text, as it must where it is read at all."""
    try:
        client.load(text)
    except ValueError:
        return True
    return False


def check_refused(call: Any, message: str) -> None:
    try:
        call()
    except ValueError as error:
        assert re.search(message, str(error)), (message, str(error))
    else:
        raise AssertionError(f"not refused: {message}")


# --- The files -----------------------------------------------------------------------------------


def pieces(text: str) -> list[Any]:
    """Write a text as pieces, and how often each comes: some repeat one character very often."""
    found: list[Any] = []
    end = 0
    for run in re.finditer(r"(..?)\1{99,}", text, flags=re.DOTALL):
        found += [[text[end : run.start()], 1], [run[1], len(run[0]) // len(run[1])]]
        end = run.end()
    return [*found, [text[end:], 1]]


def files() -> dict[str, str]:
    """Return the text of each file."""
    whole = {"ids": list(map(plain_id, IDS)), "mechanisms": mechanism_vectors()}
    refused = refused_texts()
    lines = [f"{json.dumps(name)}: {json.dumps(pieces(text))}" for name, text in refused.items()]
    return {
        "mechanisms.json": json.dumps(whole).replace('{"name"', '\n{"name"') + "\n",
        "refused.json": "{\n" + ",\n".join(lines) + "\n}\n",
    }


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / "vectors" / name).write_text(text, encoding="utf-8")
