"""Proofs, changed in many ways, of which the checkers in Python and JavaScript must say the same.

``tests/certificate/vectors/verdicts.json`` has bases (mechanism, counts, witness, ε, reports) and
texts that differ from a base, with Python's verdicts; the tests in ``javascript/test/`` read the
same file. A case is added there by hand; ``python tests/certificate/verdict_cases.py`` then writes
today's verdicts: read the diff. ``compare`` tries many more mutants with Node.
"""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE.parent), str(HERE), str(ROOT / "fuzz")]

from changed_texts import of_structure, of_text  # noqa: E402
from fuzz_verify import as_before, bound_together, changed  # noqa: E402

from skrldp.certificate import verify  # noqa: E402

VECTORS = HERE / "vectors" / "verdicts.json"


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


def verdict(texts, eps, reports):
    """Return what Python says: its message, and what was shown."""
    said = verify(*texts, eps, reports)
    return [re.sub(r"malformed \(\w+\)", "malformed", said.message), list(said.shown)]


def edited(text, changes):
    """Return a text of which parts are replaced, the last one first."""
    for start, end, new in changes:
        text = text[:start] + new + text[end:]
    return text


def read():
    """Return the bases, and the mutants: a base, the changes of each text, and an ε."""
    whole = json.loads(VECTORS.read_text("utf-8"))
    return whole["bases"], whole["mutants"]


def judged(bases, found):
    """Return the text of the file, with today's verdicts."""
    for base in bases:
        base[-1] = verdict(base[1:4], *base[4:6])
    for one in found:
        base, changes, eps, _ = one
        texts = list(map(edited, bases[base][1:4], changes))
        one[-1] = verdict(texts, eps, bases[base][5])
    lines = ",\n".join(map(json.dumps, found))
    return f'{{"bases": {json.dumps(bases)},\n"mutants": [\n{lines}\n]}}\n'


def kept_bases():
    """Return the bases by name: mechanism, counts, witness, ε, reports."""
    return {name: tuple(some) for name, *some, _ in read()[0]}


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
    VECTORS.write_text(judged(*read()), "utf-8")
