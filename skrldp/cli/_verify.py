"""``skrldp verify``: whether a mechanism is as private as it says, by its table or by a proof."""

from __future__ import annotations

import json as js
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from skrldp._pages import text_page
from skrldp._params import at_most
from skrldp._sentences import (
    attained_at_worst,
    bound,
    columns_in_words,
    holds_for,
    lines_of_set,
    of_reports,
    who_knows,
)
from skrldp.alphabet.columns import Column
from skrldp.alphabet.values import chance_of_infrequent
from skrldp.cli import _common as o
from skrldp.cli._common import FAILED, CommandError, progress, tell
from skrldp.cli._mechanism import (
    check_columns,
    columns_of,
    placed,
    read_mechanism,
    read_records,
    read_text,
    values_of,
)
from skrldp.cli._tables import Table, whole_numbers, with_counts
from skrldp.mechanism.mechanism import Mechanism
from skrldp.mechanism.messages import further_lines, notes_of

if TYPE_CHECKING:
    from skrldp.certificate import Certificate
    from skrldp.joint import JointDistribution
    from skrldp.privacy.requirements import Promise

__all__ = ["verify"]


def verify(
    mechanism: o.MechanismFile,
    public: Annotated[str | None, o.argument("PUBLIC", f"The public table: {o.TABLE}")] = None,
    *,
    eps: Annotated[
        float | None, o.option("--eps -e NATS", "What reports should keep. The claim if not given.")
    ] = None,
    reports: Annotated[
        int,
        o.option(
            "--reports -k K", "How many reports about one record are seen. 1 if not given.", min=1
        ),
    ] = 1,
    counts: o.Counts = None,
    missing: o.Missing = None,
    witness: Annotated[
        str | None, o.option("--witness FILE", "A proof as design wrote it, to be checked.")
    ] = None,
    public_counts: Annotated[
        str | None, o.option("--public-counts FILE", "What the proof is about, without PUBLIC.")
    ] = None,
) -> int:
    """Verify that a mechanism is as private as it claims.

    From the public table, the bounds are proven anew, for the set of distributions that the
    mechanism states, fitted to this table. With --witness the proof of somebody else is checked, in
    whole numbers and without trust in who made it: against --public-counts, or the public table.
    The exit code is 1 if the claim is not shown.
    """
    own = read_mechanism(
        mechanism,
        "in Python, verify the mechanism of each block, those of Manifest.from_json(text)"
        ".mechanisms, with certify or with certificate.verify.",
    )
    claim = own.guarantee
    if claim is None:
        raise CommandError(f"{mechanism} claims nothing that could be verified.")
    if (public is None) == (public_counts is None) or (public_counts and witness is None):
        raise CommandError("give the public table; or --witness, and it or --public-counts.")
    joint = None if public is None else _counted(own, public, counts, missing or [])
    tell("proving")
    if witness is None:
        assert joint is not None
        holds = _proven(own, joint, mechanism, eps, reports)
    else:
        from skrldp.certificate import counts_to_json

        table = read_text(str(public_counts)) if joint is None else counts_to_json(joint).encode()
        holds = _checked(own, table, read_text(witness), eps, reports)
    return 0 if holds else FAILED


# --- Proven anew ---------------------------------------------------------------------------------


def _counted(
    own: Mechanism, path: str, counts: str | None, missing: list[str]
) -> JointDistribution:
    """Count the records of a public table in the mechanism's cells."""
    from skrldp.client.records import RecordReader

    named = columns_of(own)
    names = check_columns([name for name, _ in named])
    reader = RecordReader(named, own.secrets, own.values, "all", own.others)
    cells_of = placed(lambda batch: reader.cells(values_of(batch, names)), path)
    found = np.zeros(len(own.secrets) * len(own.values))
    first = 0
    table = Table(path, with_counts(names, counts, path))
    for batch in read_records(own, table, names, missing, progress(table.batches(), path)):
        weights = None if counts is None else whole_numbers(batch, counts, path, first)
        found += np.bincount(cells_of(batch), weights, len(found))
        first += batch.num_rows
    return _joint_of(own, found)


def _joint_of(own: Mechanism, counts: Any) -> JointDistribution:
    """Return the distribution of counted records, with what the mechanism states of its values."""
    from skrldp.joint import JointDistribution

    claim: Any = own.guarantee
    counts = np.asarray(counts).reshape(len(own.secrets), len(own.values))
    most = _most_values_of(claim)
    most = None if most is None else max(most, len(own.values))
    chance = None
    if claim.alphabet == "frequent":
        chance = _chance_of_infrequent(own, counts.sum(axis=0), most)
    return JointDistribution(
        counts,
        own.secrets,
        own.values,
        alphabet=claim.alphabet,
        most_values=most,
        beta_of_values=chance,
    )


def _chance_of_infrequent(own: Mechanism, counts: Any, most: int | None) -> float:
    """Bound the probability that values with so few of these records are not frequent (a2,)."""
    members = [value if isinstance(value, tuple) else (value,) for value in own.values]
    others = own.others or (None,) * len(members[0])
    if not any(others) and most == len(members) + 1:  # combinations were learned as such
        return chance_of_infrequent(int(counts.sum()), int(counts.min()))
    fewest = []
    for place, other in enumerate(others):
        column = Column.of_values(place, (member[place] for member in members))
        records = np.bincount(column.codes([m[place] for m in members]), counts, len(column))
        kept = np.arange(len(column)) != (column.other if other else None)
        fewest += [] if isinstance(other, tuple) else [int(records[kept].min(initial=counts.sum()))]
    chances = [chance_of_infrequent(int(counts.sum()), records) for records in fewest]
    return len(chances) * max(chances, default=0.0)


def _as_counted(claim: Any, joint: JointDistribution) -> Any:
    """Return what is claimed, with what the counted records say of where values come from."""

    def judged(one: Any) -> Any:
        if one.alphabet != "frequent":
            return one
        return replace(one, alphabet=joint.alphabet_for(one.distributions.beta))

    return judged(replace(claim, further=tuple(map(judged, claim.further))))


def _most_values_of(claim: Any) -> int | None:
    """Return how many values of U sets are to allow for, if more than are listed.

    Where values were learned, that is one more than an asymptotic set counts: what no record has.
    None if what is claimed does not say.
    """
    stated = claim.distributions
    if isinstance(stated, str):
        return None
    if stated.n_values is None:  # an asymptotic set does not say whether that one is listed
        return 0 if stated.rule == "finite-sample" else None
    asymptotic = stated.rule in ("chi2", "asymptotic")
    return int(stated.n_values + (asymptotic and claim.alphabet == "frequent"))


def _set_of(claim: Any) -> Any:
    """Make the set that a guarantee states, by its rule."""
    from skrldp.sets.parameter_objects import AllDistributions, LikelihoodRatioSet, RenyiBall

    around = claim.distributions
    if isinstance(around, str):
        return AllDistributions()
    kinds: Any = {"likelihood-ratio": LikelihoodRatioSet, "renyi": RenyiBall}
    return kinds[around.kind](**around.parameters)


def _promise_of(own: Mechanism, joint: JointDistribution, eps: float) -> Promise:
    """Make the statements of a guarantee again, each with the set that its rule makes."""
    from skrldp.privacy.requirements import Promise

    claim: Any = own.guarantee
    around = _set_of(claim)
    known = _known_by(claim)
    columns = columns_of(own)
    others = [place for place, (_, flag) in enumerate(columns) if not flag]
    return Promise.of(
        joint,
        around.fit_set(joint),
        eps,
        known=[others.index(place) for place in known],
        observe=own.observe,
        fit=around.fit_set,
    )


def _known_by(claim: Any) -> list[int]:
    return sorted({place for one in claim.further for place in one.known})


def _proven(
    own: Mechanism, joint: JointDistribution, path: str, eps: float | None, reports: int
) -> bool:
    """Prove what is claimed, to whoever knows nothing or some columns; print the page."""
    from skrldp.certificate import certify, prove_promise

    claim: Any = own.guarantee
    if eps is None:
        eps = claim.eps_requested if reports == 1 else claim.bound_of(reports)
    proofs: list[tuple[str, Certificate, float]] = []
    if not claim.further:
        found = certify(own, _set_of(claim), joint, reports=reports)
        proofs.append(("one report", found, eps))
    elif reports > 1:
        raise CommandError("--reports is for mechanisms that promise nothing about known columns.")
    else:
        found = prove_promise(own, _promise_of(own, joint, eps))
        proofs.append(("one report", found, eps))
        if found.known is not None:
            observer = who_knows(own.columns[place][0] for place in _known_by(claim))
            proofs.append((observer, found.known, eps))
    holds = all(proof.eps <= wanted for _, proof, wanted in proofs)
    if reports == 1 and claim.eps_all is not None:
        holds = holds and found.eps_all <= claim.eps_all
    print(text_page(f"Verdict on {path}", _lines(own, joint, proofs, holds)))
    return holds


def _lines(
    own: Mechanism,
    joint: JointDistribution,
    proofs: list[tuple[str, Certificate, float]],
    holds: bool,
) -> list[tuple[str, str]]:
    claim: Any = own.guarantee
    found = proofs[0][1]
    lines = [("public table", f"{joint.n:,} records in {joint.counts.size:,} cells")]
    if claim.n_records not in (None, joint.n):
        lines.append(("", f"the mechanism was designed with {claim.n_records:,} records"))
    around = found.uncertainty
    lines += lines_of_set(around, found.alphabet)
    if around.rule == "given":
        words = "the set is stated by its numbers, as that of a survey is: certify it in Python"
        lines.append(("", words))
    several = of_reports(found.reports)
    for about, proof, wanted in proofs:
        kept = "kept" if proof.eps <= wanted else "not kept"
        said = f"{bound(proof.eps)}{several}, asked {at_most(wanted)}: {kept}"
        lines.append(("proven", said + (f" ({about})" if len(proofs) > 1 else "")))
        lines.append(("attained", attained_at_worst(proof.eps_attained)))
        if proof.uncertainty is not around:
            condition = proof.alphabet if around.beta is None else ""  # else it is said above
            lines.append(("", f"over {holds_for(proof.uncertainty, condition)}"))
    words = f"{bound(found.eps_all)}{several}, for all distributions"
    if found.reports == 1 and claim.eps_all is not None:
        kept = "kept" if found.eps_all <= claim.eps_all else "not kept"
        words += f", claimed {at_most(claim.eps_all)}: {kept}"
    lines.append(("everywhere", words))
    verdict = "the mechanism keeps what was asked" if holds else "NOT PROVEN to keep what was asked"
    return [*lines, ("result", verdict)]


# --- The proof of somebody else ------------------------------------------------------------------


def _checked(
    own: Mechanism, counts: bytes, witness: bytes, eps: float | None, reports: int
) -> bool:
    """Check a proof, make the sets of distributions again, and print what is shown."""
    from skrldp.certificate import verify as check

    claim: Any = own.guarantee
    verdict = check(own.to_json(), counts, witness, eps, reports)
    holds, message, shown = verdict.holds, verdict.message, list(verdict.shown)
    if holds:
        for enough, said in _radii_again(own, counts):
            shown.append(said)
            if holds and not enough:
                holds, message = False, f"not shown: {said}"
    if holds:
        claim = _as_counted(claim, _joint_of(own, js.loads(counts)["counts"]))
        about = lines_of_set(claim.distributions, claim.alphabet)
        about += further_lines(claim, [name for name, _ in own.columns])
        about += [("note", text) for text in notes_of(own)]
        shown += [f"{label}: {said}" for label, said in [*about, ("mechanism", own.digest)]]
    print(message, *shown, sep="\n")
    return holds


def _radii_again(own: Mechanism, counts: bytes) -> list[tuple[bool, str]]:
    """Make each set by its rule again; whether the stated one is as large, and a sentence."""
    claim: Any = own.guarantee
    columns = columns_of(own)
    sensitive, others = (
        [p for p, (_, f) in enumerate(columns) if f is kind] for kind in (True, False)
    )
    stated = {(): claim.distributions} | {one.known: one.distributions for one in claim.further}
    found = []
    joint = _joint_of(own, js.loads(counts)["counts"])
    for one in _promise_of(own, joint, claim.eps).statements:
        known = tuple(others[j] for j in one.known)
        around: Any = stated[known]
        about = f" of {columns_in_words(columns[place][0] for place in sensitive)}"
        about += f" {who_knows(columns[place][0] for place in known)}" if known else ""
        if isinstance(around, str):
            found.append((True, f"radius{about}: there is none, as all distributions are meant"))
            continue
        if around.rule == "given":
            words = "given by its numbers, so there is no beta to check"
            found.append((True, f"radius{about}: {words}"))
            continue
        figures = one.uncertainty.figures
        least = {name: figure for name, figure in figures.items() if name != "alpha"}
        held = {name: getattr(around, name, None) for name in least}
        enough = all((held[name] or 0.0) >= figure for name, figure in least.items())
        numbers = ", ".join(f"{name}={figure!r}" for name, figure in held.items())
        words = "as large as" if enough else "NOT as large as"
        said = f"radius{about}: {numbers} is {words} the rule {around.rule!r} makes it"
        found.append((enough, said))
    return found
