"""``skrldp inspect``: what a mechanism protects and claims, and what follows from it alone."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from skrldp._lists_in_words import columns_in_words
from skrldp._pages import as_json, text_page
from skrldp.claims import Claims
from skrldp.claims_in_words import brief_bound, claim_in_words, origin_of
from skrldp.cli import _common as o
from skrldp.cli._common import FAILED, tell
from skrldp.cli._ledger import WAIT, is_ledger, opened_ledger
from skrldp.cli._mechanism import false_claims, read_mechanism
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism
from skrldp.mechanism.messages import lines_of, lines_of_blocks

_MOST_ENTRIES = 50_000_000  # of a matrix whose leakage is computed


def inspect(
    mechanism: o.MechanismFile,
    *,
    digest: Annotated[
        str | None,
        o.option("--digest HEX", "The digest that the mechanism should have."),
    ] = None,
    json: o.Json = False,
) -> int:
    """Show what a mechanism, or a manifest of several, protects and claims; or what a ledger holds.

    Prints what it was designed for, what its maker claims to have proven, and the bounds that
    follow from the mechanism alone, which are proved here. The exit code is 1 if it has another
    digest than --digest, or leaks more than it claims at its own public counts. Of a ledger: its
    designs, how many people reported in each epoch, and how much all reports about a person may
    leak together.
    """
    if is_ledger(mechanism):
        with opened_ledger(mechanism, WAIT, read_only=True) as ledger:
            found = ledger.figures()
        lines = _lines_of_ledger(found)
        print(as_json(found) if json else text_page(f"Ledger {mechanism}", lines))
        return 0 if digest is None or digest in found["designs"] else FAILED
    own = read_mechanism(mechanism)
    tell("proving")
    proven = _everywhere(own)
    lines = _lines(own, proven)
    same = digest is None or own.digest == digest.strip().lower()
    if not same:
        lines.append(("result", "ANOTHER DIGEST than the one given: do not use this mechanism"))
    false = false_claims(own)
    lines += [("FALSE", words) for words in false]
    if json:
        print(as_json(_figures(own, proven) | {"digest_as_given": same, "false": false}))
    else:
        print(text_page(f"{type(own).__name__} {mechanism}", lines))
    return FAILED if false or not same else 0


def _lines_of_ledger(found: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("people", f"{found['people']:,}")]
    if found["max_reports"]:
        most = f"{found['max_reports']:,}, which together leak {brief_bound(found['bound'])}"
        lines += [("max reports", f"{most}, about each person"), ("key check", found["key_check"])]
    for digest, design in found["designs"].items():
        counts = (f"{n:,} in epoch {epoch}" for epoch, n in design["reports"].items())
        secret = columns_in_words(design["secret"])
        lines.append(("design", f"{digest[:12]} protects {secret}; reports: {', '.join(counts)}"))
    return [*lines, ("not checked", "whether rows were changed; report does so, with the key")]


def _everywhere(own: Mechanism | Manifest) -> Claims | None:
    """Prove the bounds over all distributions, which need no public counts; of worst blocks."""
    if isinstance(own, Manifest):
        found = [_everywhere(one) for one in own.mechanisms]
        known = [each for each in found if each is not None]
        return Claims.merged(known) if len(known) == len(found) else None
    if math.prod(own.shape) > _MOST_ENTRIES:
        return None
    from skrldp.certificate import certify  # these take a while
    from skrldp.joint import JointDistribution
    from skrldp.sets.fitted_sets import RenyiSet

    shape = len(own.secrets), len(own.values)
    any_table = JointDistribution(np.ones(shape), own.secrets, own.values)
    return certify(own, RenyiSet(1.0, math.inf), any_table).claims


def _lines(own: Any, proven: Claims | None) -> list[tuple[str, str]]:
    many = isinstance(own, Manifest)
    lines = [("digest", own.digest), *(lines_of_blocks if many else lines_of)(own)]
    told = "the mechanisms" if many else "the mechanism"
    if proven is not None:
        words = "; ".join(claim_in_words(one) for one in proven)
        lines.append(("proven here", f"{words}; this follows from {told}"))
    if own.claims is not None and not own.claims.main.around.is_everything:
        source = origin_of(own.claims.main.around)[0]
        lines.append(("note", f"skrldp verify proves claims about a set, from the {source}"))
    return lines


def _figures(own: Any, proven: Claims | None) -> dict[str, Any]:
    """Return what is claimed, and what was proved here."""

    def of(claims: Claims | None) -> Any:
        return None if claims is None else claims.figures()

    found = {"digest": own.digest, "claimed": of(own.claims), "proven": of(proven)}
    if isinstance(own, Manifest):
        parts = zip(own.blocks, own.shares, own.mechanisms, strict=True)
        found["blocks"] = [
            {"columns": block, "share": share, "claimed": of(one.claims)}
            for block, share, one in parts
        ]
    return found
