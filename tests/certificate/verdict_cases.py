"""Proofs, changed in many ways, of which the checkers in Python and JavaScript must say the same.

``tests/certificate/vectors/verdicts.json`` has bases (mechanism, counts, witness, ε, reports) and
texts that differ from a base, with Python's verdicts; the tests in ``javascript/test/`` read the
same file. A case is added there by hand; ``python tests/certificate/verdict_cases.py`` then writes
today's verdicts: read the diff. ``fuzz/changed_proofs.py`` tries many more.
"""

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from skrldp.certificate import verify  # noqa: E402

VECTORS = HERE / "vectors" / "verdicts.json"


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


if __name__ == "__main__":
    VECTORS.write_text(judged(*read()), "utf-8")
