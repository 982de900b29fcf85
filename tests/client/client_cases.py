"""Mechanisms of every kind, and records that a client reports or refuses."""

from __future__ import annotations

import random
from typing import Any

from skrldp.mechanism.forms import slot_bits

ONE = 2**32


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
        "version": 5,
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
        share = 1.0 if "claims" in parts else 0.7  # a claim for all distributions needs no zeros
        fields["weights"] = weights_of(n_symbols, n_cells, seed=n_symbols, share=share)
    return {**fields, **{name: part for name, part in parts.items() if name != "bits"}}


LR = {
    "set": "likelihood-ratio", "single": 0.07, "pair": 0.125, "drift": 0, "rule": "finite-sample",
    "beta": 0.05, "n_records": 10**20, "values_from": "frequent",
}  # fmt: skip
MORE = {**LR, "n_values": 7}
GIVEN = {**MORE, "rule": "given", "beta": None, "values_from": "learned"}
BALL = {"set": "renyi", "alpha": 2, "radius": 1e-05, "rule": "chi2", "beta": 0.05}
BOX = {
    "set": "box", "drift": 0, "rule": "reports", "beta": 0.05, "n_records": 7,
    "values_from": "declared", "lower": [[0, 5000, 1], [9, 0, 8000]],
    "upper": [[8192, 8192, 2], [9, 200, 8192]],
    "reports": [{"mechanism": "ab", "counts": [0, 3]}, {"mechanism": "é", "counts": [4]}],
}  # fmt: skip
PROOF = {"eps": 0.1 + 0.2, "attained": 5e-324}
FULL = [
    {"secret": [1], "known": [], "asked": 1, **PROOF, "around": LR},
    {"secret": [1], "known": [0], **PROOF, "around": GIVEN},
    {"secret": [1], "known": [0, 2], **PROOF, "eps": 60.5, "around": "all"},
    {"secret": [1], "known": [2], "asked": 1, **PROOF, "around": MORE},
    {"secret": [1], "known": [], "eps": 1e16, "attained": 0, "around": "all"},
    {"secret": [1], "known": "all", "eps": 9007199254740993.0, "attained": 0, "around": "all"},
]
CLAIM = [{"secret": [0], "known": [], "asked": 61, **PROOF, "eps": 60.5, "around": "all"}]
THREE = [["age", False], ["ill", True], ["size", False]]
PAIRS = [[1, "S"], [1, "M"], [2, "S"], [2, None], [3.5, "M"]]
NUMBERS = [
    0, -1, 0.5, 2**53, 2**53 + 1, -(2**63), 10**400, 1e300, -1e-300, 5e-324, 1.7976931348623157e308,
    1e22, 123456789012345680.0, 9999999999999998.0, 0.0001, 0.00001, 1.5e-7, 1e21, 0.1, 1 / 3,
]  # fmt: skip
TEXTS = [
    "", " ", "é", "e\u0301", "😀", "東", "a\"b\\c/d", "\x00\x1f\x7f\x80", "\b\f\n\r\t\v",
    "\u2028\u2029",
    "__proto__", "constructor", "1", "true", "null", "\ufeff", "\U0010ffff", "#1", "$", "{[,:]}",
]  # fmt: skip
MOMENTS = [
    {"date": "2020-02-29"}, {"date": "0001-01-01"}, {"date": "9999-12-31"}, {"time": "12:30:00"},
    {"time": "12:30:00.000001"}, {"time": "00:00:00+00:00"}, {"time": "23:59:59.999999-23:59"},
    {"time": "12:00:00+00:00:01.000001"}, {"datetime": "2020-01-01T00:00:00"},
    {"datetime": "2020-01-01T00:00:00+00:00"}, {"datetime": "2020-01-01T00:00:00.123456-01:30"},
    {"datetime": "9999-12-31T23:59:59.999999+00:00"}, {"datetime": "0001-01-01T00:00:00-23:59"},
    {"datetime": "1969-12-31T23:59:59.999999+05:45:01.500000"}, {"microseconds": 0},
    {"microseconds": -86399999913600000000}, {"microseconds": 86399999999999999999}, None,
    "2020-02-29",
]  # fmt: skip
S, U = ["no", "yes"], ["a", "b", "other"]
# Columns of numbers and dates, and their bins and knots.
AGES, SIZES = ["[0, 18)", "[18, 64.5)", "[64.5, 120)"], ["[-inf, 0)", "[0, 9)", "other"]
HOURS, DAYS = [0, 15, 37.5, 99], ["[2020-02-29, 2021-01-01 12:00:00)", "[2021-01-01 12:00:00, inf)"]
MOMENT = "[2020-01-01 11:00:00.500000+00:00, 2020-01-01 12:00:00+00:00)"
OF_AGES, OF_HOURS = {"edges": [0, 18, 64.5, 120]}, {"knots": HOURS}
OF_DAYS = {"edges": [{"date": "2020-02-29"}, {"datetime": "2021-01-01T12:00:00"}, None]}
OF_MOMENTS = {
    "edges": [
        None,
        {"datetime": "2020-01-01T11:00:00.500000+00:00"},
        {"datetime": "2020-01-01T12:00:00+00:00"},
        None,
    ]
}
MOMENTS_CUT = [
    "[-inf, 2020-01-01 11:00:00.500000+00:00)", MOMENT, "[2020-01-01 12:00:00+00:00, inf)",
]  # fmt: skip


def of_numbers(**parts: Any) -> dict[str, Any]:
    """A mechanism whose columns of U have bins and knots, around that of S."""
    columns = [["age", False], ["ill", True], ["size", False], ["hours", False]]
    values = [[age, size, knot] for age in AGES for size in SIZES for knot in HOURS]
    numbers = [OF_AGES, None, {"edges": [None, 0, 9, 30]}, {**OF_HOURS, "outside": "clip"}]
    own = {"columns": columns, "other": [None, True, None], "numbers": numbers}
    return document(S, values, 5, **{**own, **parts})


# Name: the mechanism; records that are reported; records that are refused, with what Python says.
Case = tuple[dict[str, Any], list[Any], list[tuple[Any, str]]]


def cases() -> dict[str, Case]:
    """Return every kind of mechanism that a client can meet."""
    int_ = [{"int": str(number)} if isinstance(number, int) else number for number in NUMBERS]
    beyond = "each value, but not together"
    found: dict[str, Case] = {
        "a matrix": (
            document(S, U, 4, claims=[{**CLAIM[0], "around": {**BALL, "values_from": "declared"}}],
                public={"counts": [[3, 0, 0], [2**53 - 4, 1, 0]]}),
            [["no", "a"], {"u": "b", "s": "yes", "more": [1]}],
            [
                (["no"], "has 1 values"), (["no", "a", "a"], "has 3 values"), ([], "has 0 values"),
                ({"s": "no"}, "lacks the column 'u'"), ({}, "lacks the column 's'"),
                (["maybe", "a"], "not shown"), (["no", "c"], "not shown"),
                (["no", None], "not shown"),
                (["no", ["a"]], "cannot be|does not know"), ([None, "a"], "not shown"),
                (["no", {"date": "2020-01-01"}], "does not know"), ("no", "type str"),
                (5, "type int"), (None, "type NoneType"), (["no", {"float": "nan"}], "know"),
                (["no", {"float": "inf"}], "know"), (["no", "\ud800"], "know"), ([1, "a"],
                "not shown"),
            ],
        ),
        "four weights": (
            document(
                ["no", "yes", None], PAIRS, columns=THREE, blocks=[28, 5, 4, 1], bits=6,
                claims=[{**FULL[0], "around": BALL}, {**FULL[4], "eps": 3.5, "asked": 4}],
            ),
            [[1, "no", "S"], {"ill": None, "age": 3.5, "size": "M"}, [True, "yes", "M"]],
            [([1, "no", None], beyond), ([9, "no", "S"], "not shown"),
             ([1, "?", "S"], "not shown")],
        ),
        "four large weights": (
            document(S, [1, 2, 3], blocks=[2**52 - 18 * 10**14, 9 * 10**14] * 2, bits=53),
            [["no", 1], ["yes", 3.0], ["yes", 2]],
            [(["no", "1"], "know"), (["no", 1.5], "know")],
        ),
        "equal weights": (document(S, [1, 2], blocks=[1, 1, 1, 1], bits=2), [["no", 1]], []),
        "bins and knots": (
            of_numbers(),
            [
                *([age, "no", 3, 20] for age in (0, -0.0, 17.999, 18.0, 64.5, True)),
                *([5, "yes", size, 99] for size in (-1e300, 0, 8.99, 12, 30, 1e9, None, "x")),
                *([5, "yes", 1, hours] for hours in (-5, 0, 7.5, 15, 37.5, 98.999, 99, 1e300)),
                [5, "yes", 1, {"int": str(10**400)}],
                {"age": 19, "ill": "no", "size": {"int": str(2**70)}, "hours": 1 / 3},
            ],
            [
                *(([age, "no", 1, 1], "knows numbers in") for age in (-1, 120, "5", None, AGES[0])),
                ([{"float": "nan"}, "no", 1, 1], "knows numbers in"),
                ([{"float": "inf"}, "no", 1, 1], "knows numbers in"),
                ([5, "no", 1, {"float": "inf"}], "knows numbers in"),
                ([5, "no", 1, None], "knows numbers in"), ([5, "no", 1, "15"], "knows numbers in"),
                ([5, "no", 1, {"date": "2020-01-01"}], "knows numbers in"),
                ([5, "no", 1], "has 3 values"),
            ],
        ),
        "the same knots": (
            document(S, HOURS, columns=[["ill", True], ["hours", False]], numbers=[None, OF_HOURS]),
            [["no", hours] for hours in (0, 7.5, 98.999, 99)],
            [(["no", hours], "knows numbers in") for hours in (-1, 99.5, None)],
        ),
        "whole numbers": (
            document(
                [[knot, age] for knot in HOURS for age in AGES], [[]], 4,
                columns=[["hours", True], ["age", True]], numbers=[OF_HOURS, OF_AGES],
            ),
            [[20, 3], {"hours": 99, "age": 119.5}],
            [([100, 3], "knows numbers in"), ([3, 120], "knows numbers in")],
        ),
        "dates": (
            document(S, DAYS, columns=[["ill", True], ["day", False]], numbers=[None, OF_DAYS]),
            [
                ["no", {"date": "2020-02-29"}], ["no", {"date": "9999-12-31"}],
                ["no", {"datetime": "2021-01-01T11:59:59.999999"}],
                ["no", {"datetime": "2021-01-01T12:00:00"}],
            ],
            [
                (["no", day], "knows dates in")
                for day in (
                    {"date": "2020-02-28"}, {"datetime": "2021-01-01T12:00:00+00:00"}, 5, None,
                    DAYS[0], {"microseconds": 5}, {"time": "12:00:00"},
                )
            ],
        ),
        "moments in bins": (
            document(
                S, MOMENTS_CUT, columns=[["ill", True], ["at", False]], numbers=[None, OF_MOMENTS]
            ),
            [
                ["no", {"datetime": f"2020-01-01T{at}"}]
                for at in ("11:00:00.500000+00:00", "12:00:00.499999+01:00", "12:00:00+00:00")
            ],
            [
                (["no", at], "knows moments in")
                for at in (
                    {"date": "2020-01-01"}, {"datetime": "2020-01-01T12:00:00"}, 0, None,
                    {"datetime": "9999-12-31T23:59:59-01:00"},
                )
            ],
        ),
        "one secret": (document(["no"], [1, 2, 3], blocks=[4, 2, 8, 8], bits=3), [["no", 2]], []),
        "one value": (document([0, 1, 2], ["x"], blocks=[4, 1, 2, 0], bits=3), [[2.0, "x"]], []),
        "nothing but secrets": (
            document(PAIRS, [[]], 4, columns=[["age", True], ["size", True]],
                claims=[{**CLAIM[0], "secret": [0, 1]}]),
            [[1, "S"], {"size": None, "age": 2}],
            [([1, None], beyond), ([4, "S"], "not shown"), ([1], "has 1 values")],
        ),
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
        "whole numbers that floats round": (
            document(
                [2**53 - 1, 2**53 + 1], [-(2**63) + 1, 1e300, 2**53, 10**400, "other"],
                other=[True],
            ),
            [[{"int": str(2**53 + 1)}, 1e300], [{"float": "9007199254740991.0"}, {"float": "inf"}],
             [{"int": str(2**53 - 1)}, {"float": "9007199254740994.0"}],
             [2**53 - 1, {"int": str(2**53)}], [2**53 - 1, {"int": str(10**400)}]],
            [([{"float": "9007199254740992.0"}, 1e300], "'s' has floats of 2.53 or more"),
             ([2**53 - 1, {"float": "9007199254740992.0"}], "'u' has floats of 2.53 or more"),
             ([2**53 - 1, {"float": "-9223372036854775808.0"}], "as integers: Int64"),
             ([{"float": "9007199254740994.0"}, 1e300], "not shown")],
        ),
        "texts that differ little": (
            document(S, ["é", "Full", "in part", "other"], other=[["f"]]),
            [["no", "é"], ["no", "f"]],
            [(["no", "e\u0301"], r"only in how accents are encoded \(Unicode NFC\)"),
             (["no", "full"], "only in letter case; write"), (["no", "F"], "only in letter case"),
             (["no", " in part"], "only in outer spaces"), (["NO", "é"], "only in letter case"),
             (["no", " IN PART"], "Map such values"), (["no", "E\u0301"], "Map such values")],
        ),
        "truth values": (
            document([True, False], [1.0, 2, -0.0, None, "None"]),
            [[1, True], [0, 2.0], [0.0, False], [True, {"float": "nan"}], [False, "None"]],
            [([2, 1], "not shown"), (["true", 1], "not shown"), ([{"float": "nan"}, 1],
            "not shown")],
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
               [{"datetime": "2020-01-01T01:30:00.123456+00:00"}],
               [{"datetime": "2020-02-29T00:00:00"}], [{"date": "2020-01-01"}]],
            [([{"date": "2020-02-28"}], "know"), ([{"datetime": "2020-02-29T00:00:01"}], "know"),
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
        "others that are listed": (
            document(
                S, [["a", 1], ["other", 1], ["other", "other"]], 3, columns=THREE,
                other=[["few"], [9]],
            ),
            [["few", "no", 1], ["few", "no", 9]],
            [(["a", "no", 9], beyond), (["a", "no", "other"], beyond), (["z", "no", 1], "know")],
        ),
        "many cells": (
            document(
                list(range(300)), list(range(300)), bits=53,
                blocks=[2**53 - 299 * 2**44, 2**44, 0, 0],
            ),
            [[299, 298], [218, 135], [218, 136]],
            [],
        ),
        "no names": (
            document(
                ["a", "b"], [["x", 1], ["y", None]], columns=[],
                claims=[{**CLAIM[0], "secret": []}],
            ),
            [["b", ["x", 1]], {"secret": "a", "value": ["y", None]}, ["b", ["x", 1.0]]],
            [(["b", ["x"]], "know"), (["b", "x"], "know"), (["b", ["y", {"float": "nan"}]],
            "know")],
        ),
        "names that are no texts": (
            document(S, U, columns=[[{"date": "2020-01-01"}, True], [None, False]]),
            [["yes", "b"]],
            [],
        ),
        "one report": (
            document(S, U, 1, claims=[{**FULL[0], "secret": [0], "around": BALL},
                                      {**FULL[1], "secret": [0], "known": [1]}]),
            [["no", "a"]], [],
        ),
        "private reports": (
            document(S, U, 2, claims=[{**FULL[0], "secret": [0], "around": BOX}]),
            [["yes", "b"]], [],
        ),
        "all figures": (
            document(
                [1, 2, 3], [[1, 2], [3, 4]], 3, claims=FULL,
                columns=[["a", False], ["s", True], ["b", False]],
            ),
            [[1, 3, 2]],
            [],
        ),
        "deep names": (
            {**document(S, U, 2), "symbols": [[[["no", "a"], 1.0], "x"], [[["no", "a"], 1.5],
            "x"]]},
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
