"""``skrldp inspect``: a mechanism's protection and claims, and the bounds that follow from it."""

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
from skrldp.cli._ledger_file import WAIT, is_ledger, opened_ledger
from skrldp.cli._mechanism import false_claims, read_mechanism
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism
from skrldp.mechanism.messages import lines_of, lines_of_blocks

_MOST_ENTRIES = 50_000_000  # maximum size of a matrix whose leakage is computed


def inspect(
    mechanism: o.MechanismFile,
    *,
    digest: Annotated[
        o.Text, o.option("--digest HEX", "The expected digest of the mechanism.")
    ] = None,
    json: o.Json = False,
) -> int:
    """Show what a mechanism or a manifest protects and claims, or what a ledger contains.

    Prints the protected columns, the claims of its maker, and the bounds that follow from the
    mechanism alone, which are proved here. The exit code is 1 if its digest differs from --digest,
    or if it leaks more than it claims at its own public counts. For a ledger, prints its designs,
    the number of reports in each epoch, and a bound on the joint leakage of all reports about a
    person.
    """
    if is_ledger(mechanism):
        with opened_ledger(mechanism, WAIT, read_only=True) as ledger:
            contents = ledger.figures()
        lines = _lines_of_ledger(contents)
        print(as_json(contents) if json else text_page(f"Ledger {mechanism}", lines))
        return 0 if digest is None or digest in contents["designs"] else FAILED
    loaded = read_mechanism(mechanism)
    tell("proving")
    proven = _everywhere(loaded)
    lines = _lines(loaded, proven)
    same = digest is None or loaded.digest == digest.strip().lower()
    if not same:
        lines.append(("result", "ANOTHER DIGEST than the one given: do not use this mechanism"))
    false = false_claims(loaded)
    lines += [("FALSE", words) for words in false]
    if json:
        print(as_json(_figures(loaded, proven) | {"digest_as_given": same, "false": false}))
    else:
        print(text_page(f"{type(loaded).__name__} {mechanism}", lines))
    return FAILED if false or not same else 0


def _lines_of_ledger(contents: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("people", f"{contents['people']:,}")]
    if contents["max_reports"]:
        limit = f"{contents['max_reports']:,}, which together leak {brief_bound(contents['bound'])}"
        lines += [
            ("max reports", f"{limit}, about each person"),
            ("key check", contents["key_check"]),
        ]
    for digest, design in contents["designs"].items():
        counts = (f"{n:,} in epoch {epoch}" for epoch, n in design["reports"].items())
        secret = columns_in_words(design["secret"])
        lines.append(("design", f"{digest[:12]} protects {secret}; reports: {', '.join(counts)}"))
    return [*lines, ("not checked", "whether rows were changed; report checks this with the key")]


def _everywhere(mechanism: Mechanism | Manifest) -> Claims | None:
    """Prove the bounds over all distributions, which need no public counts, for the worst block."""
    if isinstance(mechanism, Manifest):
        claims = [_everywhere(block) for block in mechanism.mechanisms]
        known = [claim for claim in claims if claim is not None]
        return Claims.merged(known) if len(known) == len(claims) else None
    if math.prod(mechanism.shape) > _MOST_ENTRIES:
        return None
    from skrldp.certificate import certify  # these take a while
    from skrldp.joint import JointDistribution
    from skrldp.sets.fitted_sets import RenyiSet

    shape = len(mechanism.secrets), len(mechanism.values)
    any_table = JointDistribution(np.ones(shape), mechanism.secrets, mechanism.values)
    return certify(mechanism, RenyiSet(1.0, math.inf), any_table).claims


def _lines(mechanism: Any, proven: Claims | None) -> list[tuple[str, str]]:
    many = isinstance(mechanism, Manifest)
    lines = [("digest", mechanism.digest), *(lines_of_blocks if many else lines_of)(mechanism)]
    subject = "the mechanisms" if many else "the mechanism"
    if proven is not None:
        words = "; ".join(claim_in_words(claim) for claim in proven)
        lines.append(("proven here", f"{words}; this follows from {subject}"))
    if mechanism.claims is not None and not mechanism.claims.main.around.is_everything:
        source = origin_of(mechanism.claims.main.around)[0]
        lines.append(("note", f"skrldp verify checks claims about a set against the {source}"))
    return lines


def _figures(mechanism: Any, proven: Claims | None) -> dict[str, Any]:
    """Return the claims, and the bounds proved here."""

    def of(claims: Claims | None) -> Any:
        return None if claims is None else claims.figures()

    figures = {"digest": mechanism.digest, "claimed": of(mechanism.claims), "proven": of(proven)}
    if isinstance(mechanism, Manifest):
        blocks = zip(mechanism.blocks, mechanism.shares, mechanism.mechanisms, strict=True)
        figures["blocks"] = [
            {"columns": block, "share": share, "claimed": of(block_mechanism.claims)}
            for block, share, block_mechanism in blocks
        ]
    return figures
