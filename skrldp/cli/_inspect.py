"""``skrldp inspect``: what a mechanism protects and claims, and what follows from it alone."""

from __future__ import annotations

import json as js
import math
from typing import Annotated, Any

import numpy as np

from skrldp._pages import as_json, text_page
from skrldp._sentences import bound, told_u
from skrldp.alphabet.values import weakest_source
from skrldp.cli import _common as o
from skrldp.cli._common import FAILED, tell
from skrldp.cli._mechanism import read_mechanism
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism
from skrldp.mechanism.messages import REPORTS, lines_of, lines_of_blocks

__all__ = ["inspect"]

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
    """Say what a mechanism, or a manifest of several, protects and claims.

    Prints what it was designed for, what its maker claims to have proven, and the bounds that
    follow from the mechanism alone, which are proven here. The exit code is 1 if it has another
    digest than --digest.
    """
    own = read_mechanism(mechanism)
    tell("proving")
    proven = _everywhere(own)
    is_one = not isinstance(own, Manifest)
    lines = _lines(own, proven)
    same = digest is None or own.digest == digest.strip().lower()
    if not same:
        lines.append(("result", "ANOTHER DIGEST than the one given: do not use this mechanism"))
    if json:
        print(as_json(_figures(own, proven) | {"digest_as_given": same}))
    else:
        print(text_page(f"{'Mechanism' if is_one else 'Manifest'} {mechanism}", lines))
    return 0 if same else FAILED


def _everywhere(own: Mechanism | Manifest) -> tuple[float, float] | None:
    """Compute the bounds over all distributions, which need no public counts; of worst blocks."""
    if isinstance(own, Manifest):
        found = [_everywhere(one) for one in own.mechanisms]
        known = [each for each in found if each is not None]
        return (max(k[0] for k in known), max(k[1] for k in known)) if None not in found else None
    if math.prod(own.shape) > _MOST_ENTRIES:
        return None
    from skrldp.certificate import certify  # these take a while
    from skrldp.joint import JointDistribution
    from skrldp.sets.fitted_sets import RenyiSet

    shape = len(own.secrets), len(own.values)
    any_table = JointDistribution(np.ones(shape), own.secrets, own.values)
    proof = certify(own, RenyiSet(1.0, math.inf), any_table)
    return proof.eps_all, proof.eps_given_u


def _lines(own: Any, proven: tuple[float, float] | None) -> list[tuple[str, str]]:
    if isinstance(own, Manifest):
        lines, told = [("digest", own.digest), *lines_of_blocks(own)], "the mechanisms"
    else:
        lines, told = [("digest", own.digest), *lines_of(own)], "the mechanism"
    if proven is not None:
        words = f"{bound(proven[0])} for all distributions"
        if any(not sensitive for _, sensitive in own.columns):
            words += f"; {told_u(proven[1])}"
        lines.append(("proven here", f"{words}; it follows from {told} alone"))
    claim = getattr(own, "guarantee", None)
    if claim is not None and not claim.for_all_distributions:
        words = "skrldp verify proves a claim about a set of distributions, from the public table"
        lines.append(("note", words))
    return lines


def _figures(own: Any, proven: tuple[float, float] | None) -> dict[str, Any]:
    """Return what the JSON claims, as it says it, and what was computed here."""
    said = js.loads(own.to_json())
    found = {
        "digest": own.digest,
        "claimed": said.get("guarantee"),
        "proven": None if proven is None else {"eps_all": proven[0], "eps_given_u": proven[1]},
    }
    if isinstance(own, Manifest):
        claims = [one.guarantee for one in own.mechanisms if one.guarantee is not None]
        sources = [one.alphabet for one in claims if not one.for_all_distributions]
        parts = zip(own.blocks, own.shares, said["mechanisms"], strict=True)
        found["blocks"] = [
            {"columns": block, "share": share, "claimed": one["guarantee"]}
            for block, share, one in parts
        ]
        if own.eps is not None:
            source = weakest_source(sources) if sources else None
            found["claimed"] = {"eps": own.eps, "beta": own.beta, "alphabet": source}
    if found["claimed"] is not None:
        bound_of = own.bound_of if isinstance(own, Manifest) else own.guarantee.bound_of
        found["claimed"]["eps_of_reports"] = {k: bound_of(k) for k in REPORTS}
    return found
