"""Changes of single numbers in a mechanism, its counts and its witness: can the checker be fooled?

    make fuzz ARGS="truth --number 10000 --seed 1"

Each change is made with digests that fit again, as a cheat would. What the checker still accepts
must be true: the worst distributions, computed in 60 digits, may not violate it. Numbers of a claim
are meant as written, in decimals; the float nearest to one may be less by its last digit.
"""

import hashlib
import json
import random
import re
import subprocess
import sys
import warnings
from collections import Counter
from decimal import Decimal, localcontext
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "tests"
sys.path[:0] = [str(HERE.parent), str(TESTS), str(TESTS / "certificate")]

from changed_texts import of_structure, of_text  # noqa: E402
from conftest import few_iterations  # noqa: E402
from verdict_cases import kept_bases, verdict  # noqa: E402

from skrldp import (  # noqa: E402
    JointDistribution,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    RenyiBall,
    SurveyDesign,
)
from skrldp.certificate import counts_to_json, verify  # noqa: E402
from skrldp.support_function import support, worst_conditionals  # noqa: E402

COUNTS = np.array([[40, 5, 9], [12, 33, 8], [7, 2, 60]])
SETS = {
    "default": LikelihoodRatioSet(),
    "drift": LikelihoodRatioSet(drift=0.02),
    "order 2": RenyiBall(),
    "order 0.75": RenyiBall(alpha=0.75),
    "survey": LikelihoodRatioSet(radius="asymptotic"),
    "ball of a survey": RenyiBall(alpha=1.0),
}


@cache
def proven(name):
    """A mechanism, its counts and its witness, as JSON."""
    given = {"categories": [list("abc"), list("xyz")], "uncertainty": SETS[name]}
    rows = [[s, u] for s in "abc" for u in "xyz"]
    weighted = {"sample_weight": COUNTS.ravel()}
    if "survey" in name:  # the rarest secret's records stand for the most people
        rows = pd.DataFrame(np.repeat(rows, COUNTS.ravel(), axis=0), columns=["s", "u"])
        rows["w"] = rows["s"].map({"a": 9.0, "b": 25.0, "c": 1.0}) + np.arange(len(rows)) % 5
        given |= {"survey": SurveyDesign(weights="w")}
        weighted = {}
    san = PolyOptSanitizer(eps=1.0, sensitive=[0], **given)
    with few_iterations(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        san.fit(rows, **weighted)
    return san.mechanism_.to_json(), counts_to_json(san.joint_), san.certificate_.witness()


def other(rng, number):
    """A number near another one, or far away."""
    if isinstance(number, int):
        step = int(10.0 ** rng.uniform(0, len(str(number)))) if number > 1000 else rng.randint(1, 5)
        return max(0, number + step * rng.choice([-1, 1]))
    return abs(number * (1.0 + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-16, 0.5)))


def changed(rng, texts):
    """Change a number or a name; move a weight between reports, or change it alone."""
    mechanism, counts, witness = map(json.loads, texts)
    claims = mechanism["claims"]
    tables = [counts[name] for name in ("counts", "records") if name in counts]
    said = claims[0]
    sets = [one["around"] for one in claims if one["around"] != "all"]
    couples = [couple for some in witness["couples"] for couple in some]
    kinds = ["count", "eps", "name"]
    kinds += ["move", "weight"] * ("weights" in mechanism) + ["witness"] * bool(couples)
    kinds += ["set"] * bool(sets) + ["further"] * (len(claims) > 1)
    kind = rng.choice(kinds)
    if kind in ("move", "weight"):
        weights = mechanism["weights"]
        y, z, x = (rng.randrange(len(some)) for some in (weights, weights, weights[0]))
        new = other(rng, weights[y][x])
        if kind == "move":
            weights[z][x] = max(0, weights[z][x] + weights[y][x] - new)
        weights[y][x] = new
    elif kind == "count":
        table = rng.choice(tables)
        s, u = rng.randrange(len(table)), rng.randrange(len(table[0]))
        table[s][u] = other(rng, table[s][u])
        for around in (around for around in sets if around["set"] != "box"):
            around["n_records"] = int(np.sum(tables[-1]))
    elif kind in ("eps", "further"):
        held = said if kind == "eps" else rng.choice(claims[1:])
        held["eps"] = min(other(rng, held["eps"]), held.get("asked", 1e9))
        held["attained"] = min(held["attained"], held["eps"])
    elif kind == "set":
        held = rng.choice(sets)
        names = ("single", "pair", "drift", "radius", "alpha", "lower", "upper", "reports")
        name = rng.choice([name for name in names if name in held])
        if isinstance(held[name], list):
            rows = [row["counts"] if name == "reports" else row for row in held[name]]
            row = rng.choice(rows)
            place = rng.randrange(len(row))
            row[place] = other(rng, row[place])
        else:
            held[name] = other(rng, float(held[name]))
    elif kind == "witness":
        couple = rng.choice(couples)
        place = rng.randrange(5)
        couple[place] = other(rng, couple[place] if place < 3 else float(couple[place]))
    else:
        names = rng.choice([mechanism, counts])[rng.choice(["secrets", "values"])]
        i, j = rng.randrange(len(names)), rng.randrange(len(names))
        names[i], names[j] = names[j], names[i]
    both = zip(texts, (mechanism, counts, witness), strict=True)
    return kind, bound_together(*[as_before(old, fields) for old, fields in both])


def as_before(text, fields):
    """Write fields as JSON; the text that there was, if they are the same."""
    if json.loads(text) == fields:
        return text
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def bound_together(mechanism, counts, witness):
    """Write the digests of a mechanism and counts into a witness, as a cheat would."""
    for name, text in (("mechanism", mechanism), ("counts", counts)):
        head, mark, _ = text.partition(',"public":')
        hashed = head + "}" if mark else text
        digest = hashlib.sha256(hashed.encode(errors="replace")).hexdigest()
        witness = re.sub(rf'("{name}": ?")[0-9a-f]{{64}}"', rf'\g<1>{digest}"', witness)
    return mechanism, counts, witness


def false_by(mechanism, counts):
    """Return the greatest violation by distributions of the set, in 60 digits; 0 if none."""
    own, public = json.loads(mechanism), json.loads(counts)
    said, *further = own["claims"]
    around, table = said["around"], public["counts"]
    joint = JointDistribution(table)
    sizes = public.get("records", table) if "single" in around else table
    shares = np.sum(sizes, axis=1) / np.sum(sizes)
    rows = np.array(own["weights"], dtype=float).reshape(-1, *np.shape(table))
    first, second = np.nonzero(~np.eye(len(table), dtype=bool))
    y = np.repeat(np.arange(len(rows)), len(first))
    s, t = np.tile(first, len(rows)), np.tile(second, len(rows))
    pair = np.stack([s, t], axis=1)
    q = np.stack([rows[y, s], -np.exp(said["eps"]) * rows[y, t]], axis=1)
    weight, alpha = shares[pair], around.get("alpha", 1.0)
    drift = around.get("drift", 0.0)
    own_budgets = around.get("single", 0.0) + drift * weight
    radius = around.get("radius", around.get("pair", 0.0)) + drift * weight.sum(axis=1)
    limits = own_budgets if alpha == 1.0 and "single" in around else None
    some = (weight > 0).all(axis=1)
    ball = joint.conditionals[pair][some], weight[some], alpha, radius[some]
    limits = None if limits is None else limits[some]
    found = support(q[some], *ball, limits)
    worst = worst_conditionals(q[some], *ball, found.slack, limits)
    close = np.flatnonzero(found.bound > -1e-10 * np.abs(q[some]).max(axis=(1, 2)))
    weights = np.array(own["weights"], dtype=object).reshape(-1, *np.shape(table))
    violation = Decimal(0)
    with localcontext() as context:
        context.prec = 60
        factor = Decimal(repr(said["eps"])).exp()
        for i in close:
            parts = weights[y[some][i], s[some][i]], weights[y[some][i], t[some][i]]
            places = s[some][i], t[some][i]
            inside = inside_the_set(worst[i], places, (table, sizes), around)
            made = [
                sum(r * int(v) for r, v in zip(*both, strict=True))
                for both in zip(inside, parts, strict=True)
            ]
            violation = max(violation, made[0] - factor * made[1])
        for claim in further:
            if claim["around"] == "all":
                factor = Decimal(repr(claim["eps"])).exp()
                for row in weights:
                    for a, b in zip(first, second, strict=True):
                        if claim["known"] == []:
                            violation = max(violation, int(max(row[a])) - factor * int(min(row[b])))
                        else:
                            gaps = [
                                int(x) - factor * int(z)
                                for x, z in zip(row[a], row[b], strict=True)
                            ]
                            violation = max(violation, *gaps)
    return violation


def inside_the_set(worst, places, tables, around):
    """Conditionals in 60 digits that keep the stated budgets, mixed with the public ones."""
    counts, sizes = ([[Decimal(n) for n in table[s]] for s in places] for table in tables)
    total = Decimal(int(np.sum(tables[1])))
    centre = [[n / sum(some) for n in some] for some in counts]
    shares = [sum(some) / total for some in sizes]
    far = [[Decimal(float(x)) for x in r] for r in worst]
    far = [[x / sum(r) for x in r] for r in far]
    alpha, drift = Decimal(repr(around.get("alpha", 1.0))), Decimal(repr(around.get("drift", 0.0)))

    def cost(r, p):
        if any(x == 0 < n for x, n in zip(r, p, strict=True)):
            return Decimal("Infinity") if alpha >= 1 else Decimal(1)
        both = [(n, x) for x, n in zip(r, p, strict=True) if n > 0]
        if alpha == 1:
            return sum(n * (n / x).ln() for n, x in both)
        return abs(
            sum((alpha * n.ln() + (1 - alpha) * x.ln()).exp() for n, x in both) ** (1 / alpha) - 1
        )

    def keeps(r):
        taken = [w * cost(x, p) for w, x, p in zip(shares, r, centre, strict=True)]
        if "radius" in around:
            radius = Decimal(repr(around["radius"]))
            return sum(taken) <= (
                radius if alpha == 1 else abs((radius * (alpha - 1) / alpha).exp() - 1)
            )
        each = [Decimal(repr(around["single"])) + drift * w for w in shares]
        both = Decimal(repr(around["pair"])) + drift * sum(shares)
        return all(k <= a for k, a in zip(taken, each, strict=True)) and sum(taken) <= both

    low, high = Decimal(0), Decimal(1) + Decimal("1e-9")
    for _ in range(50):
        share = (low + high) / 2
        mixed = [
            [share * x + (1 - share) * n for x, n in zip(r, p, strict=True)]
            for r, p in zip(far, centre, strict=True)
        ]
        low, high = (share, high) if min(map(min, mixed)) >= 0 and keeps(mixed) else (low, share)
    return [
        [low * x + (1 - low) * n for x, n in zip(r, p, strict=True)]
        for r, p in zip(far, centre, strict=True)
    ]


def fuzz(number, seed, name):
    """Try changes; count them by kind, with those accepted, and return those that are false."""
    rng = random.Random(seed)
    texts, tried, accepted, false = proven(name), Counter(), Counter(), []
    assert verify(*texts).holds
    for _ in range(number):
        change, new = changed(rng, texts)
        tried[change] += 1
        if verify(*new).holds:
            accepted[change] += 1
            if false_by(*new[:2]) > 0:
                false.append((change, new))
    return tried, accepted, false


def mutants(bases, number, seed):
    """Yield the number of a base, and three changed texts, with an ε."""
    rng = random.Random(seed)
    for _ in range(number):
        base = rng.randrange(len(bases))
        *texts, eps, _ = bases[base]
        yield base, mutant(rng, texts), eps if rng.random() < 0.8 else round(rng.uniform(0, 3), 3)


def mutant(rng, texts):
    """Change numbers, structure or text of a proof; mostly with digests that fit again."""
    new, kind, place = list(texts), rng.random(), rng.randrange(3)
    if kind < 0.6 and '"skrldp-mechanism"' in texts[0][:40]:
        return list(changed(rng, texts)[1])
    if kind < 0.85:
        fields = json.loads(new[place])
        of_structure(fields, rng)
        new[place] = as_before(new[place], fields)
    else:
        new[place] = of_text(new[place], rng)
    return list(bound_together(*new)) if rng.random() < 0.8 else new


def compare(number, seed):
    """Return the proofs of which Python and Node say different things, with both verdicts.

    Texts that are no JSON have to be refused by both, in whatever words: they are read up to the
    first fault, and readers find the faults of a text in different orders.
    """
    bases = list(kept_bases().values())
    tried = [(texts, eps, bases[b][4]) for b, texts, eps in mutants(bases, number, seed)]
    answers = subprocess.run(
        ["node", str(HERE / "changed_proofs.mjs")],
        input="".join(json.dumps([*texts, *more]) + "\n" for texts, *more in tried),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    own = [verdict(*one) for one in tried]
    both = zip(tried, own, map(json.loads, answers), strict=True)
    different = [one for one in both if one[1] != one[2]]
    refused = [
        not is_json(given[0]) and all(said[0].startswith("not shown") for said in (one, other))
        for given, one, other in different
    ]
    left = [one for one, fine in zip(different, refused, strict=True) if not fine]
    return sum(said[0] == "holds" for said in own), left


def is_json(texts):
    """Whether all texts of a proof are JSON."""
    try:
        return all(json.loads(text) is not None for text in texts)
    except ValueError:
        return False


def run(number, seed):
    """Try changes around every set, and print their counts; return how many are false."""
    found = []
    for name in SETS:
        tried, accepted, false = fuzz(-(-number // len(SETS)), seed, name)
        shares = ", ".join(f"{kind} {accepted[kind]} of {tried[kind]}" for kind in sorted(tried))
        print(
            f"truth, {name}: {tried.total():,} changes, {accepted.total():,} accepted ({shares}); "
            f"{len(false)} of these are false",
            flush=True,
        )
        found += false
    for change, texts in found[:5]:
        print(change, *texts, sep="\n")
    return len(found)
