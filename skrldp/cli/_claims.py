"""What a mechanism's JSON claims, and what follows from it alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from skrldp._numbers import at_most
from skrldp.alphabet import brief
from skrldp.cli._mechanism import columns_of
from skrldp.joint import JointDistribution
from skrldp.mechanism import Guarantee, Mechanism
from skrldp.sets import RenyiSet, chance_of_missing

__all__ = ["everywhere", "figures_of", "lines_of"]

_SEVERAL = (1, 2, 3, 10)  # reports about one person
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
    columns = columns_of(mechanism)
    secret = ", ".join(repr(name) for name, flag in columns if flag)
    other = ", ".join(repr(name) for name, flag in columns if not flag)
    n_secrets, n_values = len(mechanism.secrets), len(mechanism.values)
    sees = "the whole record" if mechanism.observe == "all" else f"{other} alone, never the secret"
    lines = [
        ("digest", mechanism.digest),
        ("protects", f"S = {secret}; U = {other}"),
        ("secrets", f"{n_secrets:,}: {_some(mechanism.secrets)}"),
        ("values of U", f"{n_values:,}: {_some(mechanism.values)}"),
        ("sees", sees),
        ("reports", f"{mechanism.shape[0]:,} different ones, numbered from 0"),
    ]
    claim = mechanism.guarantee
    if claim is None:
        lines.append(("claimed", "nothing"))
    else:
        lines += _claims(claim, columns)
    if proven is not None:
        words = f"eps <= {at_most(proven[0])} over all distributions"
        if math.isinf(proven[0]):
            words = "no eps over all distributions: some report rules out a secret"
        elif proven[1] < proven[0]:
            words += f", and {at_most(proven[1])} to somebody who knows U"
        lines.append(("proven here", f"{words}; it follows from the mechanism alone"))
    if claim is not None and not claim.for_all_distributions:
        lines.append(
            ("note", "a claim about a set of distributions is proven again by skrldp certify")
        )
    return lines


def _claims(claim: Guarantee, columns: Sequence[tuple[Any, bool]]) -> list[tuple[str, str]]:
    figures = f"eps <= {at_most(claim.eps)}, asked {at_most(claim.eps_requested)}"
    over = claim.describe_distributions()
    lines = [("claimed", f"{figures}, for {over}")]
    around = claim.distributions
    if not isinstance(around, str) and around.beta is not None:
        misses = f"misses the true distribution {chance_of_missing(around.rule, around.beta)}"
        lines.append(("this set", f"{misses}; {claim.condition}"))
    if claim.n_records is not None:
        lines.append(("public table", f"{claim.n_records:,} records"))
    several = (
        f"{k}: eps <= {at_most(claim.bound_of(k), '.6g')}"
        if math.isfinite(claim.bound_of(k))
        else f"{k}: no bound"
        for k in _SEVERAL
    )
    lines.append(("k reports", f"about one person, together: {'; '.join(several)}"))
    if claim.eps_given_u is not None:
        lines.append(("knows U", f"eps <= {at_most(claim.eps_given_u)} to somebody who knows U"))
    if claim.eps_pairs is not None:
        free = sum(b is None for s, row in enumerate(claim.eps_pairs) for b in row[:s])
        words = "eps differs by pair of secrets"
        lines.append(("pairs", words + (f"; {free:,} pairs are not protected" if free else "")))
    for one in claim.further:
        about = ", ".join(repr(columns[place][0]) for place in one.secret)
        known = ", ".join(repr(columns[place][0]) for place in one.known)
        observer = f" to somebody who knows {known}" if known else ""
        lines.append(("further", f"eps <= {at_most(one.eps)} about {about}{observer}"))
    return lines


def _some(values: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, values[:8])) + (", ..." if len(values) > 8 else "")
    return brief(shown)


def figures_of(
    mechanism: Mechanism, proven: tuple[float, float] | None, same: bool
) -> dict[str, Any]:
    claim = mechanism.guarantee
    found: dict[str, Any] = {
        "digest": mechanism.digest,
        "digest_as_given": same,
        "columns": [{"name": name, "sensitive": bool(flag)} for name, flag in mechanism.columns],
        "secrets": mechanism.secrets,
        "values": mechanism.values,
        "observe": mechanism.observe,
        "n_reports": mechanism.shape[0],
        "claimed": None,
        "proven": None,
    }
    if claim is not None:
        found["claimed"] = {
            "eps_requested": claim.eps_requested,
            "eps": claim.eps,
            "eps_all": claim.eps_all,
            "eps_given_u": claim.eps_given_u,
            "distributions": claim.describe_distributions(),
            "beta": None if isinstance(claim.distributions, str) else claim.distributions.beta,
            "alphabet": claim.alphabet,
            "n_records": claim.n_records,
            "eps_of_reports": {k: claim.bound_of(k) for k in _SEVERAL},
            "eps_pairs": claim.eps_pairs,
            "further": [
                {"secret": one.secret, "known": one.known, "eps": one.eps} for one in claim.further
            ],
        }
    if proven is not None:
        found["proven"] = {"eps_all": proven[0], "eps_given_u": proven[1]}
    return found
