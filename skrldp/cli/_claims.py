"""What a mechanism's JSON claims, and what follows from it alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skrldp._sentences import bound, told_u
from skrldp.joint import JointDistribution
from skrldp.mechanism import REPORTS, Manifest, Mechanism, ProvenBound
from skrldp.mechanism import lines_of as claimed
from skrldp.sets import RenyiSet

__all__ = ["common_figures", "everywhere", "figures_of", "lines_of", "set_of"]

_MOST_ENTRIES = 50_000_000  # of a matrix whose leakage is computed


def everywhere(mechanism: Mechanism) -> tuple[float, float] | None:
    """Compute the bounds over all distributions, which need no public counts."""
    if math.prod(mechanism.shape) > _MOST_ENTRIES:
        return None
    from skrldp.certificate import certify  # takes a while

    shape = len(mechanism.secrets), len(mechanism.values)
    any_table = JointDistribution(np.ones(shape), mechanism.secrets, mechanism.values)
    proof = certify(mechanism, RenyiSet(1.0, math.inf), any_table)
    return proof.eps_all, proof.eps_given_u


def lines_of(mechanism: Mechanism, proven: tuple[float, float] | None) -> list[tuple[str, str]]:
    claim = mechanism.guarantee
    lines = [("digest", mechanism.digest), *claimed(mechanism)]
    if proven is not None:
        words = f"{bound(proven[0])} for all distributions; {told_u(proven[1])}"
        lines.append(("proven here", f"{words}; it follows from the mechanism alone"))
    if claim is not None and not claim.for_all_distributions:
        lines.append(
            ("note", "a claim about a set of distributions is proven again by skrldp certify")
        )
    return lines


def common_figures(
    stated: Mechanism | Manifest, proven: tuple[float, float] | None, same: bool
) -> dict[str, Any]:
    """Return the figures of whatever was stated in JSON, a mechanism or a manifest of blocks."""
    return {
        "digest": stated.digest,
        "digest_as_given": same,
        "columns": [{"name": name, "sensitive": bool(flag)} for name, flag in stated.columns],
        "secrets": stated.secrets,
        "observe": stated.observe,
        "claimed": None,
        "proven": None if proven is None else {"eps_all": proven[0], "eps_given_u": proven[1]},
    }


def set_of(claim: ProvenBound | None) -> dict[str, Any]:
    """Return for which distributions something is claimed, and on what that is conditional."""
    if claim is None:
        return dict.fromkeys(("distributions", "beta", "alphabet"))
    around = claim.distributions
    return {
        "distributions": claim.describe_distributions(),
        "beta": None if isinstance(around, str) else around.beta,
        "alphabet": claim.alphabet,
    }


def figures_of(
    mechanism: Mechanism, proven: tuple[float, float] | None, same: bool
) -> dict[str, Any]:
    claim, found = mechanism.guarantee, common_figures(mechanism, proven, same)
    found |= {"values": mechanism.values, "n_reports": mechanism.shape[0]}
    if claim is not None:
        found["claimed"] = {
            "eps_requested": claim.eps_requested,
            "eps": claim.eps,
            "eps_all": claim.eps_all,
            "eps_given_u": claim.eps_given_u,
            **set_of(claim),
            "n_records": claim.n_records,
            "eps_of_reports": {k: claim.bound_of(k) for k in REPORTS},
            "further": [
                {"secret": one.secret, "known": one.known, "eps": one.eps, **set_of(one)}
                for one in claim.further
            ],
        }
    return found
