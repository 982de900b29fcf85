"""``skrldp verify``: whether a mechanism is as private as it says, by its table or by a proof."""

from __future__ import annotations

import json as js
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from skrldp._lists_in_words import columns_in_words
from skrldp._pages import in_one_line
from skrldp.alphabet.columns import Column
from skrldp.alphabet.values import chance_of_infrequent
from skrldp.claims import Around, Claim, Claims
from skrldp.claims_in_words import (
    claim_lines,
    observer_in_words,
)
from skrldp.cli import _common as o
from skrldp.cli._common import FAILED, CommandError, progress, tell
from skrldp.cli._mechanism import (
    columns_of,
    placed,
    read_mechanism,
    read_records,
    read_text,
    reader_of,
    values_of,
)
from skrldp.cli._tables import Table, weighted, with_counts
from skrldp.exceptions import CertificateError
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism
from skrldp.mechanism.messages import notes_of

if TYPE_CHECKING:
    from skrldp.joint import JointDistribution


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
    pilot: Annotated[
        list[str] | None,
        o.option("--pilot FILE", "A mechanism whose reports replace the public table."),
    ] = None,
) -> int:
    """Verify that a mechanism is as private as it claims.

    From the public table, the bounds are proved again, for the set of distributions that the
    mechanism states, fitted to this table. With --witness the proof of somebody else is checked, in
    integers and without trust in who made it: against --public-counts, or the public table.
    With --pilot, bounds are computed again from the counts of private reports that the mechanism
    states.
    The exit code is 1 if the claim is not shown.
    """
    own = read_mechanism(mechanism)
    if own.claims is None:
        raise CommandError(f"{mechanism} claims nothing that could be verified.")
    from_reports = bool(pilot) and witness is public is public_counts is None
    if not from_reports and (
        (public is None) == (public_counts is None) or (public_counts and witness is None)
    ):
        raise CommandError("give the public table; or --witness, and it or --public-counts.")
    if reports > 1 and own.claims.known is not None:
        raise CommandError("--reports is for mechanisms that promise nothing about known columns.")
    if eps is None and reports > 1:
        eps = own.claims.bound_of(reports)
    from skrldp.certificate import counts_to_json, witness_of

    is_manifest = isinstance(own, Manifest)
    blocks = own.mechanisms if is_manifest else [own]
    if public_counts is None:
        joints = [
            _joint_of(one, np.ones((len(one.secrets), len(one.values))))
            if from_reports
            else _counted(one, str(public), counts, missing or [])
            for one in blocks
        ]
        joint = joints if is_manifest else joints[0]
        table = counts_to_json(joint).encode()
    else:
        table = read_text(public_counts)
    tell("proving")
    try:
        proof = witness_of(own, joint, eps, reports) if witness is None else read_text(witness)
    except (CertificateError, ValueError) as problem:
        print(f"not shown: {problem}")
        return FAILED
    return 0 if _checked(own, table, proof, eps, reports, pilot) else FAILED


def _counted(
    own: Mechanism, path: str, counts: str | None, missing: list[str]
) -> JointDistribution:
    """Count the records of a public table in the mechanism's cells."""
    reader = reader_of(own, "all")
    if reader.knots:
        raise CommandError(
            "the mechanism rounds numbers at random, so that its counts cannot be computed again "
            "from a table: give --witness and --public-counts, as design wrote them."
        )
    names = list(reader.known)
    cells_of = placed(lambda batch: reader.cells(values_of(batch, names)), path)
    totals = np.zeros(len(own.secrets) * len(own.values))
    table = Table(path, with_counts(names, counts, path))
    batches = read_records(reader, table, missing, progress(table.batches(), path))
    for batch, weights, _ in weighted(batches, counts, path):
        totals += np.bincount(cells_of(batch), weights, len(totals))
    return _joint_of(own, totals)


def _joint_of(own: Any, counts: Any) -> JointDistribution:
    """Return the distribution of counted records, with what the mechanism states of its values."""
    from skrldp.joint import JointDistribution

    stated = own.claims.main.around
    counts = np.asarray(counts).reshape(len(own.secrets), len(own.values))
    most = _most_values_of(stated)
    most = None if most is None else max(most, len(own.values))
    chance = None
    if stated.values_from == "frequent":
        chance = _chance_of_infrequent(own, counts.sum(axis=0), most)
    return JointDistribution(
        counts,
        own.secrets,
        own.values,
        alphabet=stated.values_from,
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


def _most_values_of(stated: Around) -> int | None:
    """Return how many values of U sets are to allow for, if more than are listed.

    Where values were learned, that is one more than an asymptotic set counts: what no record has.
    None if what is claimed does not say.
    """
    if stated.is_everything:
        return None
    if stated.n_values is None:  # an asymptotic set does not say whether that one is listed
        return 0 if stated.rule == "finite-sample" else None
    asymptotic = stated.rule in ("chi2", "asymptotic")
    return int(stated.n_values + (asymptotic and stated.values_from == "frequent"))


def _set_by_rule(around: Around) -> Any:
    """Make the parameter object of a set that is claimed: by its rule."""
    from skrldp.sets.parameter_objects import AllDistributions, LikelihoodRatioSet, RenyiBall

    if around.is_everything:
        return AllDistributions()
    assert around.rule is not None and around.beta is not None
    if around.bounds is not None:
        radius = "asymptotic" if around.rule == "reports-asymptotic" else "finite-sample"
        return LikelihoodRatioSet(around.beta, radius=radius, drift=around.numbers["drift"])
    if around.kind == "renyi":
        return RenyiBall(around.numbers["alpha"], beta=around.beta, radius=around.rule)
    return LikelihoodRatioSet(around.beta, radius=around.rule, drift=around.numbers["drift"])


def _checked(
    own: Mechanism | Manifest,
    counts: bytes,
    witness: bytes | str,
    eps: float | None,
    reports: int,
    pilots: list[str] | None,
) -> bool:
    """Check a proof, make the sets of distributions again, and print what is shown."""
    from skrldp.certificate import verify as check

    verdict = check(own.to_json(), counts, witness, eps, reports)
    holds, message, shown = verdict.holds, verdict.message, list(verdict.shown)
    claims = []
    if holds:
        tables = js.loads(counts)
        blocks = own.mechanisms if isinstance(own, Manifest) else [own]
        each = zip(blocks, tables.get("blocks", [tables]), strict=True)
        for k, (one, table) in enumerate(each):
            assert one.claims is not None
            joint = _joint_of(one, table.get("records", table["counts"]))
            claims.append(Claims(tuple(_as_counted(each, joint) for each in one.claims)))
            again = _radii_again if one.claims.main.around.bounds is None else _bounds_again
            for enough, said in again(one, joint, pilots):
                shown.append(f"block {k}, {said}" if len(blocks) > 1 else said)
                if holds and not enough:
                    holds, message = False, f"not shown: {shown[-1]}"
    if holds:
        known = claims[0] if isinstance(own, Mechanism) else Claims.merged(claims)
        notes = dict.fromkeys(text for one in blocks for text in notes_of(one))
        about = [*claim_lines(known), *(("note", text) for text in notes)]
        name = "mechanism" if isinstance(own, Mechanism) else "manifest"
        shown += [f"{label}: {said}" for label, said in [*about, (name, own.digest)]]
    print(*map(in_one_line, [message, *shown]), sep="\n")
    return holds


def _as_counted(one: Claim, joint: JointDistribution) -> Claim:
    """Return a claim, with what the counted records say of where values come from."""
    if one.around.values_from != "frequent":
        return one
    of_survey = one.around.rule == "survey"  # for which many records do not suffice
    source = "learned" if of_survey else joint.alphabet_for(one.around.beta)
    return replace(one, around=replace(one.around, values_from=source))


def _stated_by_rule(own: Mechanism, joint: JointDistribution, claim: Claim) -> Around:
    """Return the set that a claim's rule makes of counts, in groups by the known columns."""
    from skrldp.privacy.requirements import Requirements

    rule, columns = _set_by_rule(claim.around), columns_of(own)
    others = [name for name, flag in columns if not flag]
    known = [] if isinstance(claim.known, str) else [others.index(name) for name in claim.known]
    of_s = own.claims.main.around if own.claims is not None else claim.around
    main = rule if of_s.is_everything or of_s.rule in ("given", "survey") else _set_by_rule(of_s)
    asked = Requirements.asked(
        joint,
        main.fit_set(joint),
        known=known,
        observe=own.observe,
        fit=rule.fit_set,
        columns=columns,
    )
    return asked.items[-1].region.uncertainty.stated()


def _bounds_again(own: Any, _: Any, pilots: list[str] | None) -> list[tuple[bool, str]]:
    """Compute bounds from private reports again, if their mechanisms are given."""
    from skrldp.certificate import verify_bounds

    if not pilots:
        return [(True, "bounds: as stated; --pilot computes them from the counts of reports")]
    verdict = verify_bounds(own.to_json(), [read_text(name) for name in pilots])
    problem = verdict.message.removeprefix("not shown: ")
    return [(verdict.holds, verdict.shown[0] if verdict.holds else problem)]


def _radii_again(own: Any, joint: JointDistribution, _: Any = None) -> list[tuple[bool, str]]:
    """Make each set by its rule again; whether the stated one is as large, and a sentence."""
    found = []
    main, everywhere = own.claims.main, own.claims.everywhere
    for claim in own.claims:
        around, enough = claim.around, True
        if claim.known == "all" or (claim is everywhere and claim is not main):
            continue  # about no set
        if around.is_everything:
            words = "there is none, as all distributions are meant"
        elif around.rule in ("given", "survey"):
            words = "stated by its numbers alone, which counts cannot show"
        else:
            again = _stated_by_rule(own, joint, claim)
            numbers = {name: size for name, size in around.numbers.items() if name != "alpha"}
            enough = again.kind == around.kind and (again.beta or 0.0) <= (around.beta or 0.0)
            enough = enough and all(size >= again.numbers[name] for name, size in numbers.items())
            said = ", ".join(f"{name}={size!r}" for name, size in numbers.items())
            how = "as large as" if enough else "NOT as large as"
            words = f"{said} is {how} the rule {around.rule!r} makes it"
        about = f" of {columns_in_words(claim.secret)}" + f" {observer_in_words(claim)}".rstrip()
        found.append((enough, f"radius{about}: {words}"))
    return found
