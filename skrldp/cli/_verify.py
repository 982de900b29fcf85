"""``skrldp verify``: whether a mechanism is as private as it claims, by its table or a proof."""

from __future__ import annotations

import json as js
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from skrldp._lists_in_words import columns_in_words
from skrldp._pages import in_one_line
from skrldp.alphabet.categories import Column
from skrldp.alphabet.values import chance_of_infrequent
from skrldp.claims import Around, Claim, Claims
from skrldp.claims_in_words import claim_lines, observer_in_words
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
        float | None, o.option("--eps -e NATS", "The bound to verify. By default, the claimed one.")
    ] = None,
    counts: o.Counts = None,
    missing: o.Missing = None,
    witness: Annotated[
        o.Text, o.option("--witness FILE", "The proof to check, written by design.")
    ] = None,
    public_counts: Annotated[
        o.Text,
        o.option("--public-counts FILE", ("The public counts of the proof, in place of PUBLIC.")),
    ] = None,
    pilot: Annotated[
        list[str] | None,
        o.option("--pilot FILE", "A mechanism whose reports replace the public table."),
    ] = None,
) -> int:
    """Verify that a mechanism is as private as it claims.

    With the public table, the bounds are proved again, for the set of distributions that the
    mechanism states, fitted to this table. With --witness, a proof from elsewhere is checked in
    integer arithmetic against --public-counts or the public table, without trust in its author.
    With --pilot, bounds are recomputed from the counts of private reports that the mechanism
    states.
    The exit code is 1 if the claim is not shown.
    """
    loaded = read_mechanism(mechanism)
    if loaded.claims is None:
        raise CommandError(f"{mechanism} claims nothing that could be verified.")
    from_reports = bool(pilot) and witness is public is public_counts is None
    if not from_reports and (
        (public is None) == (public_counts is None) or (public_counts and witness is None)
    ):
        raise CommandError(
            "pass the public table, or --witness with either the table or --public-counts."
        )
    from skrldp.certificate import counts_to_json, witness_of

    is_manifest = isinstance(loaded, Manifest)
    blocks = loaded.mechanisms if is_manifest else [loaded]
    if public_counts is None:
        joints = [
            _joint_of(block, np.ones((len(block.secrets), len(block.values))))
            if from_reports
            else _counted(block, str(public), counts, missing or [])
            for block in blocks
        ]
        joint = joints if is_manifest else joints[0]
        table = counts_to_json(joint).encode()
    else:
        table = read_text(public_counts)
    tell("proving")
    try:
        proof = witness_of(loaded, joint, eps) if witness is None else read_text(witness)
    except (CertificateError, ValueError) as problem:
        print(f"not shown: {problem}")
        return FAILED
    return 0 if _checked(loaded, table, proof, eps, pilot) else FAILED


def _counted(
    mechanism: Mechanism, path: str, counts: str | None, missing: list[str]
) -> JointDistribution:
    """Count the records of a public table in the mechanism's cells."""
    reader = reader_of(mechanism, "all")
    if reader.knots:
        raise CommandError(
            "the mechanism rounds numbers at random, so its counts cannot be recomputed from a "
            "table: pass --witness and --public-counts, written by design."
        )
    names = list(reader.known)
    cells_of = placed(lambda batch: reader.cells(values_of(batch, names)), path)
    totals = np.zeros(len(mechanism.secrets) * len(mechanism.values))
    table = Table(path, with_counts(names, counts, path))
    batches = read_records(reader, table, missing, progress(table.batches(), path))
    for batch, weights, _ in weighted(batches, counts, path):
        totals += np.bincount(cells_of(batch), weights, len(totals))
    return _joint_of(mechanism, totals)


def _joint_of(mechanism: Any, counts: Any) -> JointDistribution:
    """Return the distribution of counted records, with the mechanism's source of its values."""
    from skrldp.joint import JointDistribution

    stated = mechanism.claims.main.around
    counts = np.asarray(counts).reshape(len(mechanism.secrets), len(mechanism.values))
    n_values = _most_values_of(stated)
    n_values = None if n_values is None else max(n_values, len(mechanism.values))
    chance = None
    if stated.values_from == "frequent":
        chance = _chance_of_infrequent(mechanism, counts.sum(axis=0), n_values)
    return JointDistribution(
        counts,
        mechanism.secrets,
        mechanism.values,
        alphabet=stated.values_from,
        most_values=n_values,
        beta_of_values=chance,
    )


def _chance_of_infrequent(mechanism: Mechanism, counts: Any, n_values: int | None) -> float:
    """Bound the probability that values with these numbers of records, (a2,), are infrequent."""
    members = [value if isinstance(value, tuple) else (value,) for value in mechanism.values]
    other_names = mechanism.others or (None,) * len(members[0])
    if not any(other_names) and n_values == len(members) + 1:  # combinations were learned
        return chance_of_infrequent(int(counts.sum()), int(counts.min()))
    fewest = []
    for position, name in enumerate(other_names):
        column = Column.of_values(position, (member[position] for member in members))
        records = np.bincount(column.codes([m[position] for m in members]), counts, len(column))
        is_listed = np.arange(len(column)) != (column.other if name else None)
        fewest += (
            [] if isinstance(name, tuple) else [int(records[is_listed].min(initial=counts.sum()))]
        )
    chances = [chance_of_infrequent(int(counts.sum()), records) for records in fewest]
    return len(chances) * max(chances, default=0.0)


def _most_values_of(stated: Around) -> int | None:
    """Return the number of values of U that sets allow for, if it exceeds the number listed.

    For learned values, that is one more than an asymptotic set counts, for values without records.
    None if the claims do not state it.
    """
    if stated.is_everything:
        return None
    if stated.n_values is None:  # an asymptotic set does not state whether that one is listed
        return 0 if stated.rule == "finite-sample" else None
    asymptotic = stated.rule in ("chi2", "asymptotic")
    return int(stated.n_values + (asymptotic and stated.values_from == "frequent"))


def _set_by_rule(stated: Around) -> Any:
    """Make the parameter object of a claimed set, by its rule."""
    from skrldp.sets.parameter_objects import AllDistributions, LikelihoodRatioSet, RenyiBall

    if stated.is_everything:
        return AllDistributions()
    assert stated.rule is not None and stated.beta is not None
    if stated.bounds is not None:
        radius = "asymptotic" if stated.rule == "reports-asymptotic" else "finite-sample"
        return LikelihoodRatioSet(stated.beta, radius=radius, drift=stated.numbers["drift"])
    if stated.kind == "renyi":
        return RenyiBall(stated.numbers["alpha"], beta=stated.beta, radius=stated.rule)
    return LikelihoodRatioSet(stated.beta, radius=stated.rule, drift=stated.numbers["drift"])


def _checked(
    mechanism: Mechanism | Manifest,
    counts: bytes,
    witness: bytes | str,
    eps: float | None,
    pilots: list[str] | None,
) -> bool:
    """Check a proof, recompute the sets of distributions, and print the result."""
    from skrldp.certificate import verify as check

    verdict = check(mechanism.to_json(), counts, witness, eps)
    holds, message, shown = verdict.holds, verdict.message, list(verdict.shown)
    claims = []
    if holds:
        tables = js.loads(counts)
        blocks = mechanism.mechanisms if isinstance(mechanism, Manifest) else [mechanism]
        numbered = zip(blocks, tables.get("blocks", [tables]), strict=True)
        for k, (block, table) in enumerate(numbered):
            assert block.claims is not None
            joint = _joint_of(block, table.get("records", table["counts"]))
            claims.append(Claims(tuple(_as_counted(claim, joint) for claim in block.claims)))
            recheck = _radii_again if block.claims.main.around.bounds is None else _bounds_again
            for enough, sentence in recheck(block, joint, pilots):
                shown.append(f"block {k}, {sentence}" if len(blocks) > 1 else sentence)
                if holds and not enough:
                    holds, message = False, f"not shown: {shown[-1]}"
    if holds:
        known = claims[0] if isinstance(mechanism, Mechanism) else Claims.merged(claims)
        notes = dict.fromkeys(text for block in blocks for text in notes_of(block))
        lines = [*claim_lines(known), *(("note", text) for text in notes)]
        name = "mechanism" if isinstance(mechanism, Mechanism) else "manifest"
        shown += [f"{label}: {sentence}" for label, sentence in [*lines, (name, mechanism.digest)]]
    print(*map(in_one_line, [message, *shown]), sep="\n")
    return holds


def _as_counted(claim: Claim, joint: JointDistribution) -> Claim:
    """Return a claim, with the source of values that the counted records imply."""
    if claim.around.values_from != "frequent":
        return claim
    of_survey = claim.around.rule == "survey"  # for which many records are not sufficient
    source = "learned" if of_survey else joint.alphabet_for(claim.around.beta)
    return replace(claim, around=replace(claim.around, values_from=source))


def _stated_by_rule(mechanism: Mechanism, joint: JointDistribution, claim: Claim) -> Around:
    """Return the set that a claim's rule computes from counts, in groups by the known columns."""
    from skrldp.privacy.requirements import Requirements

    rule, columns = _set_by_rule(claim.around), columns_of(mechanism)
    names = [name for name, flag in columns if not flag]
    known = [] if isinstance(claim.known, str) else [names.index(name) for name in claim.known]
    of_s = mechanism.claims.main.around if mechanism.claims is not None else claim.around
    main = rule if of_s.is_everything or of_s.rule in ("given", "survey") else _set_by_rule(of_s)
    requirements = Requirements.asked(
        joint,
        main.fit_set(joint),
        known=known,
        observe=mechanism.observe,
        fit=rule.fit_set,
        columns=columns,
    )
    return requirements.items[-1].region.uncertainty.stated()


def _bounds_again(mechanism: Any, _: Any, pilots: list[str] | None) -> list[tuple[bool, str]]:
    """Recompute bounds from private reports, if their mechanisms are given."""
    from skrldp.certificate import verify_bounds

    if not pilots:
        return [(True, "bounds: as stated; --pilot computes them from the counts of reports")]
    verdict = verify_bounds(mechanism.to_json(), [read_text(name) for name in pilots])
    problem = verdict.message.removeprefix("not shown: ")
    return [(verdict.holds, verdict.shown[0] if verdict.holds else problem)]


def _radii_again(mechanism: Any, joint: JointDistribution, _: Any = None) -> list[tuple[bool, str]]:
    """Recompute each set by its rule; return whether the stated one is as large, and a sentence."""
    verdicts = []
    main, everywhere = mechanism.claims.main, mechanism.claims.everywhere
    for claim in mechanism.claims:
        stated, enough = claim.around, True
        if claim.known == "all" or (claim is everywhere and claim is not main):
            continue  # about no set
        if stated.is_everything:
            words = "none is needed, because the claim is about all distributions"
        elif stated.rule in ("given", "survey"):
            words = "stated only by its numbers, which the counts cannot confirm"
        else:
            by_rule = _stated_by_rule(mechanism, joint, claim)
            numbers = {name: size for name, size in stated.numbers.items() if name != "alpha"}
            enough = by_rule.kind == stated.kind and (by_rule.beta or 0.0) <= (stated.beta or 0.0)
            enough = enough and all(size >= by_rule.numbers[name] for name, size in numbers.items())
            text = ", ".join(f"{name}={size!r}" for name, size in numbers.items())
            how = "as large as" if enough else "NOT as large as"
            words = f"{text} is {how} the rule {stated.rule!r} requires"
        subject = f" of {columns_in_words(claim.secret)}" + f" {observer_in_words(claim)}".rstrip()
        verdicts.append((enough, f"radius{subject}: {words}"))
    return verdicts
