"""Changed mechanisms and manifests: both clients must accept them with one digest, or refuse.

``python fuzz/changed_texts.py --number 20000 --seed 1`` compares Python with Node, and prints the
texts about which they differ. A small run is kept in ``tests/client/vectors/mutants.json``, with
the bases that are changed.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tests" / "client")]

from vectors import digest_of, read  # noqa: E402

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
NAMES = [
    "format", "version", "columns", "secrets", "values", "symbols", "denominator_bits", "weights",
    "blocks", "observe", "other", "claims", "eps", "asked", "attained", "reports", "around",
    "n_records", "n_values", "values_from", "secret", "known",
    "set", "alpha", "radius", "rule", "beta", "single", "pair", "drift",
    "mechanisms", "bins", "public", "counts", "records", "size", "lower", "upper", "mechanism",
]  # fmt: skip
WORDS = [
    "all", "nonsensitive", "declared", "frequent", "learned", "renyi", "likelihood-ratio", "chi2",
    "finite-sample", "asymptotic", "survey", "given", "other", "skrldp-mechanism", "date",
    "microseconds", "skrldp-manifest", "box", "reports-asymptotic",
]  # fmt: skip
VALUES = [
    *NUMBERS, *TEXTS, *MOMENTS, *WORDS, *NAMES, None, True, False, [], {}, [[]], [1, 2], ["a", 1],
    1.0, -0.0, 2, 3, 0.05, 2**32, 2**53, [None], [True], {"date": "2021-02-29"},
    {"time": "24:00:00"}, {"time": "12:30:00.100000+00:00"}, {"datetime": "2020-01-01T00:00:00Z"},
    {"datetime": "2020-01-01T00:00:00.000000"}, {"microseconds": 1.0}, {"date": 1},
]  # fmt: skip
PIECES = [
    *'{}[]:,"\\ \t\r\n\v0123456789.-+eEnul', "1.0", "-0", "0.0", "1e0", "1E+2", "01", "1.", ".5",
    "null", "true", "NaN", "Infinity", "\\u0061", "\\ud800", "\\ud83d\\ude00", "\\/", "\\x", "/**/",
    "\ufeff", "\x00", "\xa0", "\ud800", "é", "\x7f", "\u2028", "'", "[[[[[[", "]]]", '"a":1,', "#1",
]  # fmt: skip


def bases() -> list[str]:
    """Return the texts that are changed, none of them long."""
    texts: list[str] = read("mutants")["bases"]
    return texts


def mutants(number: int, seed: int) -> Iterator[tuple[int, str]]:
    """Yield changed texts, each with the number of its base."""
    rng, texts = random.Random(seed), bases()
    while number > 0:
        base = rng.randrange(len(texts))
        if rng.random() < 0.3:
            text = of_text(texts[base], rng)
        else:
            fields = json.loads(texts[base])
            if "mechanisms" in fields and rng.random() < 0.6:
                of_manifest(fields, rng)
            elif "weights" in fields and rng.random() < 0.2:
                move_weight(fields["weights"], rng)
            else:
                for _ in range(rng.choice([1, 1, 1, 2])):
                    of_structure(fields, rng)
            text = json.dumps(fields, ensure_ascii=rng.random() < 0.2)
        if text != texts[base]:
            number -= 1
            yield base, text


def of_text(text: str, rng: random.Random) -> str:
    """Cut something out of a text, or put a piece in, or both."""
    start = rng.randrange(len(text) + 1)
    end = start + rng.choice([0, 0, 1, 1, 2, 8])
    new = rng.choice([*PIECES, "", text[start : start + rng.randrange(20)]])
    return text[:start] + new + text[end:]


def of_structure(fields: dict[str, Any], rng: random.Random) -> None:
    """Change one place of a document, mostly so that it stays close to a mechanism."""
    place, key = rng.choice(list(places(fields)))
    kind = rng.random()
    if kind < 0.15:
        del place[key]
    elif kind < 0.25 and isinstance(place, dict):
        place[rng.choice(NAMES)] = place.pop(key)
    elif kind < 0.35 and isinstance(place, list):
        place.insert(rng.randrange(len(place) + 1), copy.deepcopy(place[key]))
    elif kind < 0.45 and isinstance(place, list):
        rng.shuffle(place)
    elif kind < 0.65 and isinstance(place[key], int | float):
        place[key] = near(place[key], rng)
    elif kind < 0.75:
        other, there = rng.choice(list(places(fields)))
        place[key] = copy.deepcopy(other[there])
    else:
        place[key] = copy.deepcopy(rng.choice(VALUES))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or list of a document with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def near(number: float, rng: random.Random) -> float:
    """Return a number that is close to another, or equal and written in another way."""
    if isinstance(number, bool):
        return int(number)
    found = [number + 1, number - 1, -number, 2 * number]
    found.append(float(number) if abs(number) < 2**1000 else 0.0)
    found += [int(number)] if float(found[-1]).is_integer() else [number * (1 + 2**-52), 1.0]
    return rng.choice(found)


def move_weight(weights: Any, rng: random.Random) -> None:
    """Move weight from one report of a cell to another: the sum stays."""
    is_one = isinstance(weights[0], int)  # column, as that of a manifest's blocks
    table = [weights] if is_one else list(map(list, zip(*weights, strict=True)))
    column = rng.choice(table)
    first, second = rng.randrange(len(column)), rng.randrange(len(column))
    by = rng.choice([1, column[first], rng.randrange(column[first] + 1), column[first] + 1])
    column[first] -= by
    column[second] += by
    weights[:] = table[0] if is_one else map(list, zip(*table, strict=True))


def of_manifest(fields: dict[str, Any], rng: random.Random) -> None:
    """Change what mechanisms of a manifest have in common, in one of them or in all."""
    parts = fields["mechanisms"]
    one, other = rng.choice(parts), rng.choice(parts)
    name = rng.choice(["columns", "secrets", "values", "other", "observe", "symbols"])
    kind = rng.random()
    if kind < 0.2:
        move_weight(fields["weights"], rng)
    elif kind < 0.3:
        rng.shuffle(parts)
    elif kind < 0.5 and name in other:
        one[name] = copy.deepcopy(other[name])
    elif kind < 0.6 and isinstance(one.get(name), list):
        rng.shuffle(one[name])
    else:  # one value by another, wherever it stands
        old, new = rng.choice(leaves(parts)), rng.choice([*VALUES, *leaves(parts)])
        for part in rng.choice([parts, parts, [one]]):
            for key in {"columns", "secrets", "values", "other"} & part.keys():
                part[key] = replaced(part[key], old, new)


def replaced(value: Any, old: Any, new: Any) -> Any:
    """Return a document with one value by another, wherever it stands."""
    if isinstance(value, list):
        return [replaced(item, old, new) for item in value]
    return copy.deepcopy(new) if type(value) is type(old) and value == old else value


def leaves(parts: list[Any]) -> list[Any]:
    """Return the names and categories of mechanisms."""
    found = [name for part in parts for name, _ in part["columns"]]
    for part in parts:
        for member in [*part["secrets"], *part["values"]]:
            found += member if isinstance(member, list) else [member]
    return found


def compare(number: int, seed: int) -> list[tuple[str, str | None, str | None]]:
    """Return the texts about which Python and Node differ, with both verdicts."""
    texts = [text for _, text in mutants(number, seed)]
    answers = subprocess.run(
        ["node", str(HERE / "changed_texts.mjs")],
        input="".join(json.dumps(text) + "\n" for text in texts),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    verdicts = [json.loads(answer) for answer in answers]
    own = list(map(digest_of, texts))
    print(f"{number:,} texts, {sum(it is not None for it in own):,} of them mechanisms to Python")
    triples = zip(texts, own, verdicts, strict=True)
    return [triple for triple in triples if triple[1] != triple[2]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found = compare(arguments.number, arguments.seed)
    for text, python, node in found[:20]:
        print(f"Python: {python}\nNode:   {node}\n{text}\n")
    print(f"{len(found)} differences")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
