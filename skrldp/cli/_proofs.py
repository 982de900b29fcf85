"""Proofs of what a mechanism promises, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skrldp._numbers import at_most
from skrldp._sentences import (
    attained_at_worst,
    bound,
    holds_for,
    lines_of_set,
    of_reports,
    who_knows,
)
from skrldp.certificate import Certificate, counts_to_json, prove_promise
from skrldp.certificate import certify as prove
from skrldp.cli._errors import CommandError
from skrldp.cli._progress import tell
from skrldp.joint import JointDistribution
from skrldp.mechanism import Guarantee, Mechanism
from skrldp.privacy import Promise

__all__ = ["figures_of", "lines_of", "promise_of", "proof_texts", "proofs_of"]


def proofs_of(
    mechanism: Mechanism,
    claim: Guarantee | None,
    joint: JointDistribution,
    around: Any,
    eps: float,
    reports: int,
) -> list[tuple[str, Certificate, float]]:
    """Prove what is promised: of S, and to somebody who knows columns; each with its ε."""
    further = () if claim is None else claim.further
    if not further:
        return [("one report", prove(mechanism, around, joint, reports=reports), eps)]
    if reports > 1:
        raise CommandError(
            "--reports is for mechanisms that promise nothing within known columns; this one does."
        )
    promise = promise_of(mechanism, claim, joint, around, eps)
    within = [one.eps_requested for one in further]
    known = sorted({place for one in further for place in one.known})
    proof = prove_promise(mechanism, promise)
    observer = who_knows(mechanism.columns[place][0] for place in known)
    found = [("one report", proof, eps)]
    if proof.known is not None:
        found.append((observer, proof.known, max(within)))
    return found


def promise_of(
    mechanism: Mechanism,
    claim: Guarantee | None,
    joint: JointDistribution,
    around: Any,
    eps: float,
) -> Promise:
    """Make the statements of a guarantee again, each with the set that its rule makes."""
    further = () if claim is None else claim.further
    known = sorted({place for one in further for place in one.known})
    others = [place for place, (_, flag) in enumerate(mechanism.columns) if not flag]
    return Promise.of(
        joint,
        around.fit_set(joint),
        eps,
        known=[others.index(place) for place in known],
        eps_known=max((one.eps_requested for one in further), default=None),
        observe=mechanism.observe,
        fit=around.fit_set,
    )


def proof_texts(
    mechanism: Mechanism,
    joint: JointDistribution,
    proof: Certificate,
    witness: str | None,
    counts: str | None,
) -> dict[str, str]:
    """Write the witness of what a mechanism states, or of several reports, and the counts."""
    found = {}
    if witness is not None:
        if not proof.enumerated:
            raise CommandError(
                f"the bound of {proof.reports} reports is a sum of those of fewer, as there are "
                "too many combinations to look at: give a smaller --reports for a --witness."
            )
        tell("writing the witness")
        found[witness] = proof.about(mechanism, joint).witness()
    if counts is not None:
        found[counts] = counts_to_json(joint)
    return found


def lines_of(
    joint: JointDistribution,
    proofs: Sequence[tuple[str, Certificate, float]],
    eps_all: float | None,
    claim: Guarantee | None,
    kept: bool,
) -> list[tuple[str, str]]:
    found = proofs[0][1]
    lines = [("public table", f"{joint.n:,} records in {joint.counts.size:,} cells")]
    if claim is not None and claim.n_records not in (None, joint.n):
        lines.append(("", f"the mechanism was designed with {claim.n_records:,} records"))
    around = found.uncertainty
    lines += lines_of_set(around, found.alphabet)
    if around.rule == "given" and claim is not None:
        words = "the set is stated by its numbers"
        lines.append(
            ("", f"{words}; if the table is a survey, give its --weights, --clusters, ...")
        )
    several = of_reports(found.reports)
    for about, proof, wanted in proofs:
        said = _kept(proof.eps, wanted, several) + (f" ({about})" if len(proofs) > 1 else "")
        lines.append(("proven", said))
        lines.append(("attained", attained_at_worst(proof.eps_attained)))
        if proof.uncertainty is not around:
            condition = proof.alphabet if around.beta is None else ""  # else it is said above
            lines.append(("", f"over {holds_for(proof.uncertainty, condition)}"))
    everywhere = _kept(found.eps_all, eps_all, f"{several}, for all distributions")
    lines.append(("everywhere", everywhere))
    verdict = "the mechanism keeps what was asked" if kept else "NOT PROVEN to keep what was asked"
    return [*lines, ("result", verdict)]


def _kept(eps: float, wanted: float | None, about: str) -> str:
    """State a bound, and whether it is what was asked for."""
    if wanted is None:
        return f"{bound(eps)}{about}"
    verdict = "kept" if eps <= wanted else "not kept"
    return f"{bound(eps)}{about}, asked {at_most(wanted)}: {verdict}"


def figures_of(
    mechanism: Mechanism,
    joint: JointDistribution,
    proofs: Sequence[tuple[str, Certificate, float]],
    eps_all: float | None,
    reports: int,
    kept: bool,
) -> dict[str, Any]:
    found = proofs[0][1]
    return {
        "digest": mechanism.digest,
        "holds": kept,
        "reports": reports,
        "n_records": joint.n,
        "distributions": found.uncertainty.describe(),
        "beta": found.uncertainty.beta,
        "alphabet": found.alphabet,
        "eps_all": found.eps_all,
        "eps_all_requested": eps_all,
        "eps_given_u": found.eps_given_u,
        "proofs": [
            {
                "about": about,
                "eps": proof.eps,
                "eps_attained": proof.eps_attained,
                "eps_requested": wanted,
                "distributions": proof.uncertainty.describe(),
                "beta": proof.uncertainty.beta,
            }
            for about, proof, wanted in proofs
        ],
    }
