"""Texts that are no mechanisms, nor manifests: those of the tests of Python's reading, and more."""

from __future__ import annotations

import json
import sys
from pathlib import Path

for room in ("", "mechanism", "sanitizers"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / room))

import test_claims  # noqa: E402
import test_json  # noqa: E402
import test_others  # noqa: E402
from client_cases import BALL, CLAIM, THREE, S, document  # noqa: E402
from manifest_cases import refused_manifests  # noqa: E402

from skrldp import client  # noqa: E402


def refused_texts() -> dict[str, str]:
    """Return texts that are no mechanisms, from the tests of Python's reading and from here."""
    found = {}
    forms = {
        "matrix": {**document(S, [1, 2], 2), "claims": [{**CLAIM[0], "around": BALL}]},
        "blind": {**document(S, ["a", "b"], 2, observe="nonsensitive"), "claims": CLAIM},
        "blocks": document(S, [1, 2, 3], blocks=[3, 1, 1, 1], bits=3),
    }
    for form, fields in forms.items():
        for damage, (change, _) in test_json.DAMAGE.items():
            damaged = json.loads(json.dumps(fields))
            change(damaged)
            found[f"{form}: {damage}"] = json.dumps(damaged)
        short = {name: part for name, part in fields.items() if name != "claims"}
        for name in short:
            found[f"{form}: no {name}"] = json.dumps({k: v for k, v in short.items() if k != name})
            for wrong in (None, True, 1.5, -1, "x", [], {}, [None], [[]], {"date": "x"}, [[1, 2]]):
                found[f"{form}: {name} is {wrong}"] = json.dumps({**short, name: wrong})
    dense = test_json.dense().to_json()
    for number, (old, new, message) in enumerate(test_json.TAMPERED):
        found[f"tampered {number}: {message}"] = dense.replace(old, new, 1)
    for number, (claims, message) in enumerate(test_claims.IMPOSSIBLE):
        found[f"impossible {number}: {message}"] = test_claims.stating(claims)
    found |= of_others() | of_categories() | of_json(json.dumps(forms["matrix"])) | of_sizes()
    found |= of_weights() | of_false_claims() | refused_manifests()
    return {name: text for name, text in found.items() if is_refused(text)}


def of_others() -> dict[str, str]:
    fields = document(S, ["desk", "field", "other"], 2, other=[True])
    fields["claims"] = [{**CLAIM[0], "around": {**BALL, "values_from": "frequent"}}]
    text = json.dumps(fields, separators=(",", ":"))
    found = {f"others: {new}": text.replace(old, new, 1) for old, new, _ in test_others.MALFORMED}
    two = document(S, [["a", 1], ["other", 1]], 2, columns=THREE)
    odd = [
        [True, True], [True, 1], [[1], [2]], [["a"], None], [[], None], [None, None],
        [["z", "z"], None], [True], [[1.0, True], None], {"0": True}, [["other"], None],
        [None, True], [["\ud800"], None],
    ]  # fmt: skip
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
        {"date": "2020-01-01T00:00:00"}, {"datetime": "2020-01-01"},
        {"datetime": "2020-01-01 00:00:00"},
        {"datetime": "2020-01-01T24:00:00"}, {"datetime": "2020-01-01T00:00"}, {"time": "12:30"},
        {"datetime": "2020-01-01T00:00:00Z"}, {"datetime": "2020-01-01T00:00:00.000000"},
        {"datetime": "2020-01-01T00:00:00.5"}, {"datetime": "2020-01-01T00:00:00-00:00"},
        {"datetime": "2020-01-01T00:00:00+24:00"}, {"datetime": "2020-01-01T00:00:00+01:60"},
        {"datetime": "2020-01-01T00:00:00+01:00:00"}, {"datetime": "2020-01-01T00:00:00+0100"},
        {"datetime": "2020-01-01T00:00:00+01:00:01.000000"}, {"time": "24:00:00"},
        {"time": "12:60:00"},
        {"time": "12:00:60"},
        {"time": "T12:00:00"},
        {"microseconds": 1.0},
        {"microseconds": True},
        {"microseconds": 86400000000 * 10**9}, {"microseconds": "5"}, {"microseconds": None}, {},
        {"microseconds": -86400000000 * 999999999 - 1}, {"date": "2020-01-01", "time": "12:00:00"},
        {"year": 2020}, {"": ""}, {"date": "٢٠٢٠-01-01"}, {"toString": "x"},
        {"__proto__": "2020-01-01"},
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
        [["s", True], ["u", False], ["x", 0]],
    ):
        found[f"columns {columns}"] = json.dumps({**wide, "columns": columns})
    records = {**document(["a", "b"], [[]], 2), "columns": [["s", True]]}
    found["sees nothing"] = json.dumps({**records, "observe": "nonsensitive"})
    found["no secret"] = json.dumps({**document([[]], ["a", "b"], 2), "columns": [["s", False]]})
    for name in (1.5, [["x"]]):
        found[f"columns repeat {name}"] = json.dumps(
            {**wide, "columns": [[name, True], [name, False]]}
        )
    return found


def of_json(text: str) -> dict[str, str]:
    found = {f"cut to {n}": text[:n] for n in range(0, len(text), 37)}
    changes = [
        ('"no"', [
            "'no'", "no", '"no', '"n\no"', '"\\x6e"', '"\\u00"', '"\\ud83d"',
            '"\\ude00\\ud83d"', '"\t"', "01", "1.", ".5", "+1", "1e", "--1", "-", "-01",
            "1.5.5", "1e5e5", "1.5-2", "-1.e5", "0" + "9" * 16, "9" * 16 + '""', "{1.5:2}",
            "{-1:2}", "{" + "9" * 16 + ":2}", "0x1", "1_0", "Infinity", "undefined", "None",
            '"no",', ',"no"', '"no" "x"', '"no"/*x*/', "9" * 4301, "-" + "9" * 4301,
            "0." + "9" * 4301, "1e-" + "9" * 4301, '"' + "9" * 4301 + '"', "-1e999", "1E400",
        ]),
        ("{", [
            "{,", "{}{", "\ufeff{", "\xa0{", "\v{", "x{",
        ]),
        ('"secrets":', [
            '"secrets"', '"secrets"::', "secrets:", '"\\u0073ecrets":[],"secrets":',
            '"__proto__":1,"secrets":', '-1:1,"secrets":', '"secrets":[],"secrets" \n:',
            '"":1,"secrets":', '"":1,"":2,"secrets":',
        ]),
        ('"no"', [
            '"no\ud83d\\ude00"', '"\ud800"',
        ]),
    ]  # fmt: skip
    for old, new in ((old, new) for old, several in changes for new in several):
        assert old in text
        found[f"{old} to {new[:60]!r}"] = text.replace(old, new, 1)
    for tail in ("x", "]", "}", "{}", ",", "\0", "\ufeff"):
        found[f"followed by {tail!r}"] = text + tail
    found |= {
        repr(whole): whole for whole in ("", " ", "null", "[]", "5", '"x"', "{}", "true", "[{}]")
    }
    return found


def of_weights() -> dict[str, str]:
    """Weights that miss their sum by one, and one that is too large though no report has it."""
    found = {}
    for by in (-1, 1):
        for form in ("all", "nonsensitive"):
            fields = document(S, [1, 2], 4, observe=form)
            fields["weights"][3][1] += by
            found[f"weights, {form}: {by}"] = json.dumps(fields)
        found[f"blocks: {by}"] = json.dumps(document(S, [1, 2], blocks=[1, 1, 1, 1 + by], bits=2))
    found["a weight of no report"] = json.dumps(document([1], [1, 2], blocks=[4, 4, 9, 0], bits=3))
    return found


def of_false_claims() -> dict[str, str]:
    """Claims that the weights contradict, whatever the public table is."""
    found, everywhere = {}, {**CLAIM[0], "eps": 60.5}
    forms = {
        "matrix": {"n_symbols": 3},
        "blocks": {"blocks": [3, 1, 2, 2], "bits": 3},
        "blind": {"n_symbols": 2, "observe": "nonsensitive"},
    }
    for form, parts in forms.items():
        fields = document(S, [1, 2], **{"claims": [everywhere], **parts})
        assert not is_refused(json.dumps(fields)), form
        false = [{**everywhere, "eps": 0.25}]
        found[f"{form}: false for all distributions"] = json.dumps({**fields, "claims": false})
        for known in ("all", [1]):
            false = [everywhere, {**everywhere, "known": known, "eps": 0.25}]
            text = json.dumps({**fields, "claims": false})
            assert is_refused(text) is (form != "blind"), form  # there U alone is observed
            found[f"{form}: false to those who know {known}"] = text
    one = document(S, [1], 2, claims=[{**everywhere, "eps": 0.01, "around": BALL}])
    return found | {"false of one value": json.dumps(one)}


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
    cells = document(list(range(1001)), list(range(1000)), blocks=[2**53, 0, 0, 0], bits=53)
    found["a million cells and more"] = json.dumps(cells)
    return found


def is_refused(text: str) -> bool:
    """Whether Python refuses a text, as it must where it is read at all."""
    try:
        client.load(text)
    except ValueError:
        return True
    return False
