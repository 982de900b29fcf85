"""Proofs, changed in many ways, of which the checkers in Python and JavaScript must say the same.

``python tests/certificate/verdict_cases.py`` writes ``tests/certificate/vectors/verdicts.json``:
bases, and texts that differ from a base, with Python's verdicts. The tests in ``javascript/test/``
read the same file. ``compare`` tries many more with Node.
"""

import json
import random
import re
import subprocess
import sys
import warnings
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent), str(HERE), str(HERE.parent / "client")]

import numpy as np  # noqa: E402
from conftest import few_iterations  # noqa: E402
from fuzz_verify import SETS, as_before, bound_together, changed, proven  # noqa: E402

from fuzz import of_structure, of_text  # noqa: E402
from skrldp import (  # noqa: E402
    AllDistributions,
    BlockSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    RenyiBall,
    SRRSanitizer,
    certify,
)
from skrldp.certificate import counts_to_json, verify, witness_of  # noqa: E402

VECTORS = HERE / "vectors" / "verdicts.json"
CATEGORIES = [["é", "b"], [0, 1.5], ["x", "y"], [False, True]]
KINDS = {
    "closed form": (SRRSanitizer, {"sensitive": [0]}),
    "matrix of a closed form": (IRSanitizer, {"sensitive": [0]}),
    "eps_worst_case": (PolyOptSanitizer, {"sensitive": [0], "eps_worst_case": 2.5}),
    "known": (PolyOptSanitizer, {"sensitive": [0], "observer_columns": [1]}),
    "two secrets, known": (PolyOptSanitizer, {"sensitive": [0, 1], "observer_columns": [3]}),
    "U alone": (PolyOptSanitizer, {"sensitive": [0], "observe": "nonsensitive"}),
    "all distributions": (IRSanitizer, {"sensitive": [0, 2], "uncertainty": AllDistributions()}),
    "one distribution": (PolyOptSanitizer, {"sensitive": [0], "uncertainty": RenyiBall(radius=0)}),
    "order 1/2": (IRSanitizer, {"sensitive": [0], "uncertainty": RenyiBall(alpha=0.5, radius=0.1)}),
    "order 4": (IRSanitizer, {"sensitive": [0], "uncertainty": RenyiBall(alpha=4, radius=0.1)}),
}


def _fitted(kind, *, categories=CATEGORIES, eps=1.0, **parameters):
    rows = np.array(np.meshgrid(*categories, indexing="ij"), dtype=object).reshape(
        len(categories), -1
    )
    weights = np.random.default_rng(5).integers(0, 60, rows.shape[1])
    with few_iterations(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(eps=eps, categories=categories, **parameters).fit(rows.T, sample_weight=weights)


def _texts(san):
    return san.mechanism_.to_json(), counts_to_json(san.joint_), san.certificate_.witness()


@cache
def made():
    """Return the proofs by name: mechanism, counts, witness, ε (or None), reports."""
    found = {f"PolyOpt, {name}": (*proven(name), None, 1) for name in SETS}
    for name, (kind, parameters) in KINDS.items():
        found[name] = (*_texts(_fitted(kind, **parameters)), None, 1)
    around = LikelihoodRatioSet(radius=0.02)
    san = _fitted(IRSanitizer, categories=[[1, 2], list("xy")], sensitive=[0], uncertainty=around)
    two = certify(san.mechanism_, san.uncertainty_, san.joint_, reports=2)
    pilot = GRRSanitizer(sensitive=slice(None), categories=[["é", "b"], [0, 1.5, 2]]).fit()
    counts = np.rint(9_000 * pilot.mechanism_.matrix @ [0.1, 0.2, 0.05, 0.3, 0.15, 0.2])
    reports = FrequencyEstimator(pilot, encode="symbol").fit(range(6), sample_weight=counts)
    for drift in (0.0, 0.1):
        own = IRSanitizer(sensitive=[0], categories=[["é", "b"], [0, 1.5, 2]])
        texts = _texts(own.set_params(uncertainty=LikelihoodRatioSet(drift=drift)).fit(reports))
        found[f"private reports, drift {drift}"] = (*texts, None, 1)
    one = _fitted(
        BlockSanitizer,
        categories=[["a", "b"], [0, 1], ["x", "y"]],
        sensitive=[0],
        base=IRSanitizer(),
    )
    joints = [own.joint_ for own in one.sanitizers_]
    texts = one.manifest_.to_json(), counts_to_json(joints), witness_of(one.manifest_, joints)
    found["blocks"] = (*texts, None, 1)
    found["two reports"] = (*_texts(san)[:2], two.witness(), two.eps, 2)
    return found


def mutants(bases, number, seed):
    """Yield the number of a base, and three changed texts, with an ε."""
    rng = random.Random(seed)
    for _ in range(number):
        base = rng.randrange(len(bases))
        *texts, eps, _ = bases[base]
        yield base, mutant(rng, texts), eps if rng.random() < 0.8 else round(rng.uniform(0, 3), 3)


TEXTS_FOR_LISTS = {
    "two secrets, known": (r'\["x",false\]', '"xf"'),
    "PolyOpt, default": (r'"columns":\[\[0,true\]', '"columns":["ab"'),
    "closed form": (r'"columns":\[\[0,true\]', '"columns":[{"0":1,"1":true}'),
    "U alone": (r'"symbols":\[.*?\],"', '"symbols":"abc","'),
    "blocks": (r'"mechanisms":\[.*\]', '"mechanisms":""'),
}


def texts_for_lists(bases):
    """Yield mechanisms in which a text, or an object, is where a list should be."""
    for name, (old, new) in TEXTS_FOR_LISTS.items():
        *texts, witness = bases[name][:3]
        changed = [re.sub(old, new, text, count=1) for text in texts]
        assert changed[0] != texts[0], name
        yield list(bases).index(name), list(bound_together(*changed, witness)), bases[name][3]


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


def verdict(texts, eps, reports):
    """Return what Python says: its message, and what was shown."""
    said = verify(*texts, eps, reports)
    return [re.sub(r"malformed \(\w+\)", "malformed", said.message), list(said.shown)]


def edits(text, new):
    """Write a text as parts of another one that are replaced, the last one first."""
    steps = SequenceMatcher(None, text, new, autojunk=False).get_opcodes()
    found = [[a, b, new[c:d]] for kind, a, b, c, d in steps if kind != "equal"]
    return found[::-1]


def edited(text, changes):
    """Return a text after such changes."""
    for start, end, new in changes:
        text = text[:start] + new + text[end:]
    return text


def vectors(bases, number=200, seed=0):
    """Return the text of the file."""
    kept = [[name, *some, verdict(some[:3], *some[3:])] for name, some in bases.items()]
    found, every = [], list(bases.values())
    for base, texts, eps in (*mutants(every, number, seed), *texts_for_lists(bases)):
        changes = [edits(old, new) for old, new in zip(every[base], texts, strict=False)]
        found.append([base, changes, eps, verdict(texts, eps, every[base][4])])
    lines = ",\n".join(json.dumps(one) for one in found)
    return f'{{"bases": {json.dumps(kept)},\n"mutants": [\n{lines}\n]}}\n'


def kept_bases():
    """Return the bases in the file, as `made` has them."""
    return {name: tuple(some) for name, *some, _ in json.loads(VECTORS.read_text("utf-8"))["bases"]}


def compare(number, seed):
    """Return the proofs of which Python and Node say different things, with both verdicts.

    Texts that are no JSON have to be refused by both, in whatever words: they are read up to the
    first fault, and readers find the faults of a text in different orders.
    """
    bases = list(kept_bases().values())
    tried = [(texts, eps, bases[b][4]) for b, texts, eps in mutants(bases, number, seed)]
    answers = subprocess.run(
        ["node", str(HERE / "verdicts.mjs")],
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


if __name__ == "__main__":
    VECTORS.parent.mkdir(exist_ok=True)
    VECTORS.write_text(vectors(made()), "utf-8")
