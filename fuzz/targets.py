"""What readers of foreign texts must keep, whatever they are given: one function for each.

A target takes a `random.Random`, makes a changed text with the generators of the tests, and raises
if something is wrong; it returns in a word what became of the text. Hypothesis draws the random
numbers, so that a failing text is made shorter.
"""

import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("", "client", "certificate", "cli")
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / name) for name in ROOMS)]

from changed_proofs import kept_bases  # noqa: E402
from changed_proofs import mutant as mutant_of_proof  # noqa: E402
from changed_texts import mutants  # noqa: E402

from skrldp import client  # noqa: E402
from skrldp.certificate import verify  # noqa: E402
from skrldp.mechanism.manifest import read_json  # noqa: E402

PROOFS = list(kept_bases().values())


def loader(rng: random.Random) -> str:
    """A text is refused with a ValueError, or read to one canonical text, with one digest."""
    text = changed_mechanism(rng)
    try:
        own = read_json(text)
    except ValueError:
        return "refused"
    again = read_json(own.to_json().encode())
    assert again.digest == own.digest and again.to_json() == own.to_json(), text
    return "read"


def reporter(rng: random.Random) -> str:
    """A client refuses a record with an unknown value, unless that is "other", and shows none."""
    try:
        device = client.load(changed_mechanism(rng))
    except ValueError:
        return "refused"
    many = isinstance(device, client.BlockClient)
    stated = device.manifest if many else device.mechanism
    seen = [name for name, flag in device.columns if stated.observe == "all" or not flag]
    of_u = stated.secrets if many else stated.values
    record = {name: rng.choice(stated.secrets if flag else of_u) for name, flag in device.columns}
    record[rng.choice(seen)] = unknown = f"unknown {rng.getrandbits(30)}"
    others = (stated.others.values() if many else stated.others) or ()
    try:
        device.report(record)
    except (ValueError, TypeError) as error:
        assert unknown not in str(error), error
    else:
        assert True in others or any(others), record
    return "a manifest" if many else "a mechanism"


def checker(rng: random.Random) -> str:
    """The checker of proofs says "holds" or "not shown", and never raises anything."""
    *texts, eps, reports = rng.choice(PROOFS)
    verdict = verify(*mutant_of_proof(rng, texts), eps, reports)
    assert verdict.holds == (verdict.message == "holds"), verdict
    assert verdict.holds or verdict.message.startswith("not shown: "), verdict
    return "holds" if verdict.holds else "not shown"


def changed_mechanism(rng: random.Random) -> str:
    """Return a changed mechanism or manifest, as the tests of both clients change it."""
    return next(mutants(1, rng.getrandbits(64)))[1]


TARGETS = {"loader": loader, "reporter": reporter, "checker": checker}
