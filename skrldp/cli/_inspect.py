"""``skrldp inspect``: what a mechanism protects and claims, and what follows from it alone."""

from __future__ import annotations

import json as js
import math
from typing import Annotated, Any

import numpy as np

from skrldp._pages import as_json, text_page
from skrldp._sentences import bound, columns_in_words, lines_of_set, sees, series, told_u
from skrldp.alphabet import weakest_source
from skrldp.cli import _options as o
from skrldp.cli._errors import FAILED
from skrldp.cli._mechanism import read_mechanism
from skrldp.cli._progress import tell
from skrldp.mechanism import REPORTS, Manifest, Mechanism, lines_of

__all__ = ["inspect"]

_MOST_ENTRIES = 50_000_000  # of a matrix whose leakage is computed
_SHOWN = 20  # blocks


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
    lines = _lines(own, proven) if is_one else _lines_of_blocks(own, proven)
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
    from skrldp.sets import RenyiSet

    shape = len(own.secrets), len(own.values)
    any_table = JointDistribution(np.ones(shape), own.secrets, own.values)
    proof = certify(own, RenyiSet(1.0, math.inf), any_table)
    return proof.eps_all, proof.eps_given_u


def _lines(own: Mechanism, proven: tuple[float, float] | None) -> list[tuple[str, str]]:
    lines = [("digest", own.digest), *lines_of(own)]
    if proven is not None:
        words = f"{bound(proven[0])} for all distributions; {told_u(proven[1])}"
        lines.append(("proven here", f"{words}; it follows from the mechanism alone"))
    if own.guarantee is not None and not own.guarantee.for_all_distributions:
        words = "skrldp verify proves a claim about a set of distributions, from the public table"
        lines.append(("note", words))
    return lines


def _lines_of_blocks(own: Manifest, proven: tuple[float, float] | None) -> list[tuple[str, str]]:
    secret, other = ([n for n, flag in own.columns if flag is kind] for kind in (True, False))
    lines = [
        ("digest", own.digest),
        ("protects", f"S = {columns_in_words(secret)}; U = {columns_in_words(other)}"),
        ("sees", sees(own.observe)),
        (
            "blocks",
            f"{len(own.blocks):,}; every person reports one, which is drawn without regard "
            "to the record",
        ),
    ]
    parts = list(zip(own.blocks, own.shares, own.mechanisms, strict=True))
    for number, (block, share, one) in enumerate(parts[:_SHOWN]):
        claimed = "" if one.guarantee is None else f", {bound(one.guarantee.eps)} claimed"
        about = f"{columns_in_words(block)}: {one.shape[0]:,} reports, probability {share:.3g}"
        lines.append((f"block {number}", about + claimed))
    if len(parts) > _SHOWN:
        lines.append(("", f"and {len(parts) - _SHOWN:,} more"))
    for name, bins in list(own.bins.items())[:_SHOWN]:
        lines.append((f"{name}", f"numbers in {bins.range}, cut into {', '.join(bins.labels)}"))
    if own.eps is None:
        lines.append(("claimed", "nothing"))
    else:
        words = f"{bound(own.eps)}, that of the worst block"
        if own.beta:
            words += f", unless a set of some block misses: beta = {own.beta:.3g} in all"
        lines += [("claimed", words), ("k reports", _several(own))]
    lines += _sets(own)
    if proven is not None:
        words = f"{bound(proven[0])} for all distributions"
        lines.append(("proven here", f"{words}; it follows from the mechanisms alone"))
    return lines


def _several(own: Manifest) -> str:
    bounds = {k: own.bound_of(k) for k in REPORTS}
    some = {k: eps for k, eps in bounds.items() if eps is not None and math.isfinite(eps)}
    said = "; ".join(f"{bound(eps)} for k = {k}" for k, eps in some.items())
    more = "" if len(some) == len(REPORTS) else "; no bound for more"
    return f"about one person together: {said}{more}"


def _sets(own: Manifest) -> list[tuple[str, str]]:
    """Say for which distributions the blocks' claims hold, and what beta rests on, each once."""
    about: dict[tuple[str, str], list[str]] = {}
    for number, one in enumerate(own.mechanisms):
        if one.guarantee is not None:
            for line in lines_of_set(one.guarantee.distributions, one.guarantee.alphabet):
                about.setdefault(line, []).append(f"{number}")
    found = []
    for (label, words), blocks in about.items():
        more = [f"{len(blocks) - _SHOWN:,} more"] * (len(blocks) > _SHOWN)
        which = f"of block{'s' * (len(blocks) > 1)} {series([*blocks[:_SHOWN], *more])}: "
        found.append((label, words if len(blocks) == len(own.mechanisms) else which + words))
    return sorted(found, key=lambda line: line[0] == "assumes")


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
