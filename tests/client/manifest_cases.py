"""Manifests of every kind, records that a client reports or refuses, and texts that are none."""

from __future__ import annotations

import copy
import json
from typing import Any

from client_cases import (
    AGES,
    CLAIM,
    HOURS,
    OF_AGES,
    OF_HOURS,
    SIZES,
    S,
    document,
    weights_of,
)

A, B, C = [0, 1, 2], ["here", "there"], ["a", "b", "other"]
ODD = [True, 2.5, None, {"date": "2020-02-29"}]
BIG = 260  # blocks: their numbers take two bytes of a tape


def product(*alphabets: list[Any]) -> list[Any]:
    """All combinations, the last column's categories first."""
    found: list[Any] = [[]]
    for own in alphabets:
        found = [[*before, category] for before in found for category in own]
    return [value[0] for value in found] if len(alphabets) == 1 else found


def block(secrets: list[Any], columns: dict[str, list[Any]], **parts: Any) -> Any:
    """A mechanism of a block, with the columns of U around that of S."""
    named = [[name, False] for name in columns]
    named.insert(1, ["ill", True])
    n_symbols = parts.pop("n_symbols", 3)
    values = product(*columns.values())
    return document(secrets, values, n_symbols, columns=named, **parts)


def of_secrets(**columns: list[Any]) -> Any:
    """A mechanism of a block whose columns are all sensitive."""
    secrets = product(*columns.values())
    return document(secrets, [[]], len(columns) + 2, columns=[[name, True] for name in columns])


def manifest(parts: list[Any], **fields: Any) -> dict[str, Any]:
    """A manifest's JSON with random weights."""
    weights = [row[0] for row in weights_of(len(parts), 1, seed=len(parts), share=1.0)]
    head = {"format": "skrldp-manifest", "version": 2, "weights": weights, "mechanisms": parts}
    return {**head, **fields}


OF_SURVEY = {"counts": [[10**14, 0, 0, 0, 0, 7]] * 2, "records": 812, "size": 1.5e2}


def pairs() -> dict[str, Any]:
    """Three blocks of two columns, one of them by four weights, and one with claims."""
    return manifest(
        [
            block(S, {"age": A, "home": B}, n_symbols=4, claims=[{**CLAIM[0], "secret": [1]}]),
            block(S, {"age": A, "job": C}, blocks=[24, 1, 16, 2], bits=6),
            block(S, {"job": C, "home": B}, n_symbols=5),
        ],
        public={"blocks": [{"counts": [[0, 1, 2, 3, 4, 5]] * 2}, None, OF_SURVEY]},
    )


def transposed() -> dict[str, Any]:
    """Values in another order than that of the columns' categories."""
    first, second = block(S, {"age": A}), block(S, {"home": B, "age": A})
    second["values"] = [[home, age] for age in A for home in B]
    return manifest([first, second, block(S, {"home": B})])


CUT_SIZES = {"edges": [None, 0, 9, None]}


def of_numbers(**fields: Any) -> dict[str, Any]:
    """Columns with bins and knots, in blocks; what is in no bin of one is another value."""
    parts = [
        block(
            S, {"size": SIZES, "age": AGES}, other=[True, None], numbers=[CUT_SIZES, None, OF_AGES]
        ),
        block(S, {"age": AGES, "hours": HOURS}, n_symbols=2, numbers=[OF_AGES, None, OF_HOURS]),
        block(S, {"hours": HOURS}, n_symbols=2, numbers=[OF_HOURS, None]),
    ]
    return manifest(parts, **fields)


def row(ill: Any, age: Any, home: Any, *job: Any) -> dict[str, Any]:
    """A record by column name."""
    names = ("ill", "age", "home", "job")[: 3 + len(job)]
    return dict(zip(names, (ill, age, home, *job), strict=True))


def cases() -> dict[str, tuple[dict[str, Any], list[Any], list[tuple[Any, str]]]]:
    """Manifests by name, with records that are reported, and those that are refused and why."""
    whole = {"ill": "yes", "age": 2, "home": "there", "job": "b"}
    lacks = {name: value for name, value in whole.items() if name != "job"}
    refused = [
        (lacks, "lacks the column 'job'"),
        ({**whole, "job": "z"}, "column 'job'"),
        ({**whole, "ill": None}, "column 'ill'"),
        ({**whole, "age": 2.5}, "column 'age'"),
        (["yes", 2, "there"], "values by place"),
        (["yes", 2, "there", "b"], "values by place"),
        ("yes", "must be a dict"),
    ]
    blind = {"observe": "nonsensitive"}
    two = [["no", 0], ["no", 1], ["yes", 1]]
    several = [
        document(two, product(own), 4, columns=[["ill", True], [name, False], ["sex", True]])
        for name, own in (("home", B), ("odd", ODD))
    ]
    others = [
        block(S, {"age": [0, "other"], "job": C}, other=[[7, 1.5], True]),
        block(S, {"job": C}, other=[True], n_symbols=2),
        block(S, {"age": [0, "other"]}, other=[[7, 1.5]]),
    ]
    people = [(0, -1), (17.999, 0.0), (18.0, 1e300), (64.5, 2**70), (18, 10**400)]
    people += [(True, False), (119, None), (119.5, "big"), (-0.0, -1e-300)]
    names = [document(S, [1, 2], 2, columns=[[name, False], [1, True]]) for name in (2, 0)]
    many = [block(S, {f"c{number}": [0, 1]}, n_symbols=2) for number in range(BIG)]
    return {
        "pairs": (
            pairs(),
            [
                whole,
                {**whole, "ill": "no", "age": False, "more": 1},
                row("no", 1.0, "here", "other"),
            ],
            refused,
        ),
        "another order": (
            transposed(),
            [row("yes", 2, "there"), row("no", 1, "here")],
            [([], "values by place")],
        ),
        "one block": (
            manifest([block(S, {"home": B})]),
            [{"ill": "no", "home": "here"}],
            [({"ill": "no", "home": 5}, "home"), (["no", "here"], "values by place")],
        ),
        "S is not seen": (
            manifest([block(S, {"age": A}, **blind), block(S, {"age": A, "home": B}, **blind)]),
            [{"age": 2, "home": "here"}, row("what", 0, "there")],
            [([1, "here"], "values by place"), (row("no", 5, "here"), "column 'age'")],
        ),
        "several secrets": (
            manifest(several),
            [
                {"ill": "yes", "sex": 1, "home": "here", "odd": {"date": "2020-02-29"}},
                {"ill": "no", "sex": True, "home": "there", "odd": None},
                {"ill": "no", "sex": 0, "home": "there", "odd": 2.5},
            ],
            [
                ({"ill": "yes", "sex": 0, "home": "here", "odd": 1}, "not together"),
                ({"ill": "no", "sex": 0, "home": "here", "odd": 2}, "column 'odd'"),
            ],
        ),
        "others": (
            manifest(others),
            [
                {"ill": ill, "age": age, "job": job}
                for ill, age, job in [
                    ("no", 0, "a"),
                    ("no", 7.0, "z"),
                    ("yes", 1.5, None),
                    ("yes", "other", "b"),
                ]
            ],
            [
                ({"ill": "no", "age": 8, "job": "a"}, "column 'age'"),
                ({"ill": "z", "age": 0, "job": "a"}, "column 'ill'"),
            ],
        ),
        "bins and knots": (
            of_numbers(),
            [
                {"ill": "no", "age": age, "size": size, "hours": number % 100}
                for number, (age, size) in enumerate(people)
            ],
            [
                *(
                    ({"ill": "no", "age": age, "size": 1, "hours": 3}, "column 'age'")
                    for age in (-1e-9, 120, None, "18", "[0, 18)", 2**70)
                ),
                ({"ill": "no", "age": 3, "size": 1, "hours": 99.5}, "column 'hours'"),
            ],
        ),
        "nothing but secrets": (
            manifest([of_secrets(age=A, home=B), of_secrets(job=C, age=A), of_secrets(job=C)]),
            [{"age": 2, "home": "there", "job": "b"}, row("what", 0.0, "here", "other")],
            [(lacks, "lacks the column 'job'"), (row("no", 3, "here", "a"), "column 'age'")],
        ),
        "names are places": (
            manifest(names),
            [[1, "no", 2], [2, "yes", 1]],
            [(["no", 1, 2], "column 1"), ([1, "no"], "has 2 values"), ({"ill": "no"}, "lacks")],
        ),
        "many blocks": (
            manifest(many),
            [{"ill": "yes"} | {f"c{number}": number % 2 for number in range(BIG)}],
            [({"ill": "yes"}, "lacks the column 'c0'")],
        ),
    }


def _damages() -> dict[str, Any]:
    """Functions that change one thing of a manifest."""

    def part(number: int, **fields: Any) -> Any:
        return lambda made: made["mechanisms"][number].update(fields)

    def everywhere(**fields: Any) -> Any:
        return lambda made: [one.update(copy.deepcopy(fields)) for one in made["mechanisms"]]

    found = {
        f"{name} is {wrong}": (lambda made, name=name, wrong=wrong: made.update({name: wrong}))
        for name in ("weights", "mechanisms", "version", "format")
        for wrong in (None, True, 0, 1, 2.0, 3, "x", [], {}, [None], [1], [[]], [{}])
        if (name, wrong) != ("version", True)
    }
    found |= {
        f"without {name}": (lambda made, name=name: made.pop(name))
        for name in ("weights", "mechanisms", "version", "format")
    }
    found |= {
        f"first weight {wrong}": (lambda made, wrong=wrong: made["weights"].__setitem__(0, wrong))
        for wrong in (0, -1, 1.0, True, None, "1", 2**62, 2**64, -(2**70), 10**400)
    }
    return found | {
        "another key": lambda made: made.update(more=1),
        "one weight less": lambda made: made["weights"].pop(),
        "one weight more": lambda made: made["weights"].append(0),
        "weights that wrap": lambda made: made["weights"].__setitem__(
            slice(0, 2), [made["weights"][0] + 1, made["weights"][1] - 1 - 2**40]
        ),
        "one block twice": lambda made: made["mechanisms"].__setitem__(1, made["mechanisms"][0]),
        "one block twice, columns in another order": lambda made: made["mechanisms"].__setitem__(
            1, block(S, {"home": B, "age": A})
        ),
        "no names": everywhere(columns=[]),
        "another format inside": part(0, format="skrldp-manifest"),
        "a manifest inside": lambda made: made["mechanisms"].__setitem__(0, pairs()),
        "no format inside": lambda made: made["mechanisms"][0].pop("format"),
        "another version inside": part(0, version=6),
        "public counts inside": part(0, public={"counts": [[1] * 6] * 2}),
        "a public list": lambda made: made.update(public=[None] * 3),
        "public counts of all": lambda made: made.update(public={"counts": [[1]]}),
        "nothing public": lambda made: made.update(public={"blocks": [None] * 3}),
        "public counts of one block": lambda made: made["public"]["blocks"].pop(),
        "public counts of another block": lambda made: made["public"]["blocks"][0]["counts"].pop(),
        "more that is public": lambda made: made["public"].update(counts=[[1]]),
        "secrets in another order": part(0, secrets=["yes", "no"]),
        "other secrets": part(2, secrets=["no", "maybe"]),
        "secrets of another column": part(
            1, columns=[["age", False], ["sick", True], ["job", False]]
        ),
        "another category": lambda made: made["mechanisms"][2]["values"].__setitem__(
            0, ["a", "far"]
        ),
        "categories in another order": lambda made: made["mechanisms"][2]["values"].reverse(),
        "a combination that is missing": part(
            0,
            values=[[0, "here"], [0, "there"], [1, "here"], [1, "there"], [2, "here"], [3, "here"]],
        ),
        "nothing but secrets in one block": lambda made: made["mechanisms"].__setitem__(
            2, of_secrets(job=C, home=B)
        ),
        "others in one block only": part(1, other=[None, ["z"]]),
        "S is not seen by one block": lambda made: made["mechanisms"].__setitem__(
            0, block(S, {"age": A, "home": B}, observe="nonsensitive")
        ),
    }


def _damages_of_numbers() -> dict[str, Any]:
    """Bins and knots that do not fit a manifest's columns, for its first mechanism."""
    wrong_edges = [
        None, [0, 120], [0, 18, 18, 120], [0, 18, 120, 64.5], [0, None, 64.5, 120],
        [None, None, None, None], [0, 18, True, 120], [0, 18, "64.5", 120],
        [0, 18, 64.5, 2**53 + 1], [0, 18, 64.5, 1e16], [0, 18, 64.5, 10**400],
        [0, 18, 64.5, 100, 120], [0, 18, [64.5], 120], [0, 18, 65, 120], [],
        [0, 18, {"date": "2020-01-01"}, 120], [{"microseconds": n} for n in range(4)],
    ]  # fmt: skip
    days = [{"date": f"2020-01-0{day}"} for day in (1, 2, 3, 4)]
    wrong_days = [
        days, [{"datetime": "2020-01-01T00:00:00"}, *days[1:]],
        [{"datetime": "2020-01-01T00:00:00+00:00"}, *days[1:]],
        [{"datetime": f"2020-01-0{day}T00:00:00+01:00"} for day in (1, 2, 3, 4)],
    ]  # fmt: skip
    found = {f"edges {edges}": [None, None, {"edges": edges}] for edges in wrong_edges + wrong_days}
    found |= {f"numbers are {wrong}": wrong for wrong in (None, [], {}, [[]], "x", 1, [None] * 3)}
    return found | {
        "an entry less": [CUT_SIZES, None],
        "knots of labels": [None, None, {"knots": [0, 18, 64.5, 120]}],
        "knots and edges": [None, None, {**OF_AGES, **OF_HOURS}],
        "another key": [None, None, {**OF_AGES, "more": 1}],
        "the default is stated": [None, None, {**OF_AGES, "outside": "error"}],
        "another outside": [None, None, {**OF_AGES, "outside": "drop"}],
        "bins of the secret": [CUT_SIZES, {"edges": [0, 1, 2]}, OF_AGES],
        "bins that another block has not": [CUT_SIZES, None, None],
        "clipped in one block": [CUT_SIZES, None, {**OF_AGES, "outside": "clip"}],
        "too few bins": [{"edges": [0, 9, None]}, None, OF_AGES],
    }


def refused_manifests() -> dict[str, str]:
    """Texts that look like manifests and are none."""
    found = {}
    for name, change in _damages().items():
        made = copy.deepcopy(pairs())
        change(made)
        found[f"manifest: {name}"] = json.dumps(made)
    for name, wrong in _damages_of_numbers().items():
        made = of_numbers()
        made["mechanisms"][0]["numbers"] = wrong
        found[f"manifest: {name}"] = json.dumps(made)
    text = json.dumps(pairs())
    found["manifest: a key twice"] = text.replace('"version"', '"version": 2, "version"', 1)
    found["manifest: cut"] = text[:-1]
    differ = manifest([block(S, {"job": C}, other=[["z"]]), block(S, {"job": C, "home": B})])
    found["manifest: others of one of two blocks"] = json.dumps(differ)
    return found
