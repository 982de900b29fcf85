"""``skrldp certify``: whether a mechanism is as private as it should be, from public counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp._numbers import at_least, at_most
from skrldp.alphabet import source_in_words
from skrldp.cli._errors import FAILED, CommandError
from skrldp.cli._figures import as_json, as_text
from skrldp.cli._formats import Asked, check_delimiter, kind_of
from skrldp.cli._mechanism import cell_reader, placed, read_mechanism, record_types
from skrldp.cli._progress import progress
from skrldp.cli._sets import stated_in, uncertainty_of
from skrldp.cli._tables import Wanted, open_batches
from skrldp.joint import JointDistribution
from skrldp.mechanism import FurtherBound, Guarantee, Mechanism
from skrldp.sets import chance_of_missing

if TYPE_CHECKING:
    from skrldp.certificate import Certificate

__all__ = ["certify", "public_counts"]


def certify(
    mechanism: str,
    public: str,
    *,
    eps: float | None,
    eps_all: float | None,
    uncertainty: str | None,
    beta: float | None,
    reports: int,
    counts: str | None,
    kind: Asked,
    quiet: bool,
    in_json: bool,
) -> int:
    """Prove a bound on a mechanism's leakage, and compare it with what it should be.

    Returns int: 1 if the mechanism is not proven to keep it.
    """
    own = read_mechanism(mechanism)
    claim = own.guarantee
    around = uncertainty_of(uncertainty, beta) or stated_in(claim)
    if around is None:
        raise CommandError(
            f"{mechanism} states no set of distributions; say which, with --uncertainty."
        )
    if eps is None:
        if claim is None:
            raise CommandError(f"{mechanism} states no eps; say what it should keep, with --eps.")
        if claim.eps_pairs is not None:
            raise CommandError(
                f"{mechanism} states an eps for each pair of secrets; say with --eps what all of "
                "them that are compared should keep."
            )
        eps = claim.eps_requested if reports == 1 else claim.bound_of(reports)
    joint = public_counts(own, public, counts=counts, kind=kind, quiet=quiet)
    proofs = _proofs(own, claim, joint, around, eps, reports)
    found = proofs[0][1]
    kept = all(proof.eps <= wanted for _, proof, wanted in proofs)
    if eps_all is not None:
        kept = kept and found.eps_all <= eps_all
    if in_json:
        print(as_json(_figures(own, joint, proofs, eps_all, reports, kept)))
    else:
        print(as_text(f"Certificate of {mechanism}", _lines(joint, proofs, eps_all, claim, kept)))
    return 0 if kept else FAILED


def public_counts(
    mechanism: Mechanism, path: str, *, counts: str | None, kind: Asked, quiet: bool
) -> JointDistribution:
    """Count the records of a public table in the mechanism's cells."""
    names = [str(name) for name, _ in mechanism.columns or (("secret", True), ("value", False))]
    own_kind = kind_of(path, kind)
    check_delimiter(kind, own_kind)
    types, converted = record_types(mechanism, names) if own_kind.is_text else ({}, None)
    columns = [*names, *([] if counts is None else [counts])]
    shape = len(mechanism.secrets), len(mechanism.values)
    found = np.zeros(shape[0] * shape[1])
    with open_batches(path, own_kind, Wanted(columns, types), converted) as source:
        cells_of = placed(cell_reader(mechanism), source)
        rows = progress(
            source.rows, quiet=quiet, what="counted", total=source.total, place=source.place
        )
        for batch in rows:
            weights = None if counts is None else _weights(batch, counts, path)
            found += np.bincount(cells_of(batch), weights, len(found))
    claim = mechanism.guarantee
    return JointDistribution(
        found.reshape(shape),
        mechanism.secrets,
        mechanism.values,
        alphabet=None if claim is None else claim.alphabet,
        most_values=None if claim is None else _n_values(claim),
    )


def _n_values(claim: Guarantee | FurtherBound) -> int | None:
    """Return how many values of U the stated set is made for; None if it does not say."""
    return None if isinstance(claim.distributions, str) else claim.distributions.n_values


def _weights(batch: Any, name: str, path: str) -> Any:
    import pyarrow as pa

    column = batch.column(name)
    if not pa.types.is_integer(column.type) or column.null_count:
        raise CommandError(
            f"{path}: the column {name!r} (--counts) must have whole numbers in every row."
        )
    return column.to_numpy()


def _proofs(
    mechanism: Mechanism,
    claim: Guarantee | None,
    joint: JointDistribution,
    around: Any,
    eps: float,
    reports: int,
) -> list[tuple[str, Certificate, float]]:
    """Prove what is promised: of S, and to somebody who knows columns; each with its ε."""
    from skrldp.certificate import certify as prove
    from skrldp.certificate import prove_promise
    from skrldp.privacy import Promise

    further = () if claim is None else claim.further
    pairs = None if claim is None else claim.eps_pairs
    if not further and pairs is None:
        return [("one report", prove(mechanism, around, joint, reports=reports), eps)]
    if reports > 1:
        raise CommandError(
            "--reports is for mechanisms that protect all pairs of secrets at one eps, to people "
            "who know nothing else; this one promises more."
        )
    sensitive = [place for place, (_, flag) in enumerate(mechanism.columns) if flag]
    others = [place for place, (_, flag) in enumerate(mechanism.columns) if not flag]
    known = sorted({place for one in further for place in one.known})
    within = [one.eps_requested for one in further if one.known]
    wanted: Any = eps
    if pairs is not None:
        wanted = np.array([[math.inf if b is None else eps for b in row] for row in pairs])
    promise = Promise.of(
        joint,
        around.fit_set(joint),
        wanted,
        known=[others.index(place) for place in known],
        eps_known=max(within, default=None),
        each=any(len(one.secret) < len(sensitive) for one in further),
        observe=mechanism.observe,
        fit=around.fit_set,
        secret_names=[str(mechanism.columns[place][0]) for place in sensitive],
        most_values=[_n_values(one) for one in further if not one.known] or None,
    )
    proof = prove_promise(mechanism, promise)
    columns = ", ".join(repr(mechanism.columns[place][0]) for place in known)
    found = []
    for name, one in proof.each.items() or [("", proof)]:
        about = f" about {name!r}" if name else ""
        found.append((f"one report{about}", one, eps))
        if one.known is not None:
            found.append((f"to somebody who knows {columns}{about}", one.known, max(within)))
    return found


def _lines(
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
    lines.append(("holds for", around.describe()))
    if around.beta is not None:
        misses = f"misses the true distribution {chance_of_missing(around.rule, around.beta)}"
        lines.append(("this set", f"{misses}; {source_in_words(joint.alphabet)}"))
    for about, proof, wanted in proofs:
        several = f" of {proof.reports} reports" if proof.reports > 1 else ""
        verdict = "kept" if proof.eps <= wanted else "not kept"
        words = f"eps <= {at_most(proof.eps)}{several}, asked {at_most(wanted)}: {verdict}"
        lines.append(("proven", words + (f" ({about})" if len(proofs) > 1 else "")))
        lines.append(
            ("attained", f"{at_least(proof.eps_attained)} at the worst distribution found")
        )
    everywhere = f"eps <= {at_most(found.eps_all)}"
    if eps_all is not None:
        verdict = "kept" if found.eps_all <= eps_all else "not kept"
        everywhere += f", asked {at_most(eps_all)}: {verdict}"
    lines.append(("everywhere", f"{everywhere} (over all distributions)"))
    verdict = "the mechanism keeps what was asked" if kept else "NOT PROVEN to keep what was asked"
    return [*lines, ("result", verdict)]


def _figures(
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
        "eps_all": found.eps_all,
        "eps_all_requested": eps_all,
        "eps_given_u": found.eps_given_u,
        "proofs": [
            {
                "about": about,
                "eps": proof.eps,
                "eps_attained": proof.eps_attained,
                "eps_requested": wanted,
            }
            for about, proof, wanted in proofs
        ],
    }
