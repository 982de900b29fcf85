"""``skrldp verify``: whether a mechanism is as private as it says, by its table or by a proof."""

from __future__ import annotations

import json as js
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from skrldp._lists_in_words import columns_in_words
from skrldp._pages import in_one_line, text_page
from skrldp._params import at_least, at_most
from skrldp.alphabet.columns import Column
from skrldp.alphabet.values import chance_of_infrequent
from skrldp.claims import Around, Claim, Claims
from skrldp.claims_in_words import (
    bound_in_words,
    claim_lines,
    observer_in_words,
    origin_of,
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
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism
from skrldp.mechanism.messages import notes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skrldp.joint import JointDistribution
    from skrldp.sets.fitted_sets import FittedSet


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
    if isinstance(own, Manifest) and public is not None:
        raise CommandError(
            f"{mechanism} is a manifest, whose blocks are verified by their proof: give --witness "
            "and --public-counts, as design wrote them. In Python, certify proves each block anew."
        )
    if own.claims is None:
        raise CommandError(f"{mechanism} claims nothing that could be verified.")
    if pilot and witness is None and public is None and public_counts is None:
        blocks = own.mechanisms if isinstance(own, Manifest) else [own]
        joints = [_from_reports(block, pilot) for block in blocks]
        if None in joints:
            return FAILED
        both = zip(blocks, joints, strict=True)
        proven = [_proven(*one, mechanism, eps, reports) for one in both]
        return 0 if all(proven) else FAILED
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
        holds = _checked(own, table, read_text(witness), eps, reports, pilot)
    return 0 if holds else FAILED


# --- Proved again ---------------------------------------------------------------------------------


def _counted(
    own: Mechanism, path: str, counts: str | None, missing: list[str]
) -> JointDistribution:
    """Count the records of a public table in the mechanism's cells."""
    reader = reader_of(own, "all")
    names = list(reader.known)
    cells_of = placed(lambda batch: reader.cells(values_of(batch, names)), path)
    found = np.zeros(len(own.secrets) * len(own.values))
    table = Table(path, with_counts(names, counts, path))
    batches = read_records(reader, table, missing, progress(table.batches(), path))
    for batch, weights, _ in weighted(batches, counts, path):
        found += np.bincount(cells_of(batch), weights, len(found))
    return _joint_of(own, found)


def _from_reports(own: Any, pilots: list[str]) -> JointDistribution | None:
    """Return the estimate that a mechanism states, with the reports that its bounds come from.

    None if the bounds do not follow from them; the reason is printed then.
    """
    from skrldp.certificate import stated_reports, verify_bounds
    from skrldp.joint import JointDistribution

    texts = [read_text(name) for name in pilots]
    verdict = verify_bounds(own.to_json(), texts)
    if not verdict.holds:
        print(in_one_line(verdict.message))
        return None
    reports = stated_reports(own, texts)
    names = own.secrets, own.values
    counts = np.ones((len(names[0]), len(names[1]))) if own.public is None else own.public.counts
    return JointDistribution(counts, *names, alphabet="declared", reports=reports)


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


def _set_as_stated(around: Around, joint: JointDistribution) -> FittedSet:
    """Make the set that a claim is about from the numbers that it states."""
    from skrldp.sets.bounds_from_reports import BoxSet
    from skrldp.sets.fitted_sets import ConditionalsSet, RenyiSet

    if around.is_everything:
        return RenyiSet(1.0, math.inf)
    if around.bounds is not None:
        if joint.reports is None:
            raise CommandError("the bounds come from private reports: give --pilot, not a table.")
        assert around.rule is not None and around.beta is not None
        lower, upper = np.array(around.bounds.lower), np.array(around.bounds.upper)
        drift, n_reports = around.numbers["drift"], around.bounds.n_reports
        return BoxSet(lower, upper, drift, around.rule, around.beta, n_reports, joint.reports)
    numbers: Mapping[str, Any] = around.numbers  # the names are checked by Around
    return (RenyiSet if around.kind == "renyi" else ConditionalsSet)(**numbers)


def _proven_again(
    own: Mechanism, joint: JointDistribution, one: Claim, start: float = 0.0
) -> Claim | None:
    """Prove what a claim is about, for the set that it states; None if nothing is proved of it."""
    from skrldp.certificate import prove
    from skrldp.privacy.requirements import Requirements

    columns = columns_of(own)
    others = [name for name, flag in columns if not flag]
    known = [] if isinstance(one.known, str) else [others.index(name) for name in one.known]
    around = _set_as_stated(one.around, joint)
    centre = around.centred(joint)
    asked = Requirements.asked(
        centre, around, one.eps, known=known, observe=own.observe, columns=columns
    )
    found = prove(own, asked, start=start).claims
    return next((each for each in found if each.about == one.about), None)


def _false_claims(own: Mechanism, joint: JointDistribution) -> tuple[list[Claim], list[str]]:
    """Prove all claims of a mechanism again; also say which of them are false, and how.

    Every claim is compared with what is proved for the set that it states, and the set's numbers
    with those that its rule makes of this table. Nothing that the file says is taken as shown.
    """
    proven, false = [], []
    for one in own.claims or ():
        shown = _proven_again(own, joint, one)
        if shown is not None and shown.attained <= one.eps < shown.eps:
            # Another machine may round its last digits otherwise: is the stated bound proven?
            shown = _proven_again(own, joint, one, start=one.eps)
        if shown is None:
            false.append(f"{bound_in_words(one)} is not proven")
            continue
        proven.append(replace(shown, asked=None, around=_as_counted(one, joint).around))
        if one.attained > shown.eps:
            least = at_least(one.attained)
            words = f"attained {least} is stated, more than {at_most(shown.eps)}"
            false.append(f"{bound_in_words(one)}: {words}")
    assert own.claims is not None
    for one, shown in own.claims.below(proven):
        false.append(f"{bound_in_words(one)} is claimed, and {at_most(shown.eps)} is proven")
    if own.claims.main.around.bounds is not None:  # compared with the reports' counts before
        return proven, false
    for enough, said in _radii_again(own, joint):
        false += [] if enough else [said]
    stated = {one.around.n_records for one in own.claims} - {None, joint.n}
    false += [f"{n:,} public records are stated, and the table has {joint.n:,}" for n in stated]
    return proven, false


def _proven(own: Any, joint: JointDistribution, path: str, eps: float | None, reports: int) -> bool:
    """Prove the claims, for observers who know nothing or some columns; print the page."""
    from skrldp.certificate import certify

    if own.claims.main.around.rule == "survey":
        raise CommandError(
            "the set is that of a survey, whose weights a table of records does not have: give a "
            "proof (--witness) and its --public-counts, or certify it in Python."
        )
    if reports > 1 and own.claims.known is not None:
        raise CommandError("--reports is for mechanisms that promise nothing about known columns.")
    proven, false = _false_claims(own, joint)
    shown = proven[:1]
    if reports > 1:
        main = own.claims.main
        several = certify(own, _set_as_stated(main.around, joint), joint, reports=reports).claim
        shown = [replace(several, secret=main.secret, around=main.around)]
        asked = own.claims.bound_of(reports) if eps is None else eps
        proven += shown
    else:
        asked = own.claims.eps if eps is None else eps
    if shown and shown[0].eps > asked:
        words = f"--eps {eps}" if eps is not None else f"the bound of {reports} reports"
        false.append(f"{words}: {bound_in_words(shown[0])} is proven")
    data, unit = origin_of(own.claims.main.around)
    lines = [(data, f"{joint.n:,} {unit} in {joint.counts.size:,} cells")]
    if own.claims.main.around.rule == "given":
        lines.append(("", "the set is stated by its numbers"))
    if proven and proven[0].about == own.claims.main.about:
        lines += claim_lines(Claims(tuple(proven)), "proved")
    lines += [("FALSE", words) for words in false]
    kept, lost = "the mechanism keeps what it claims", "NOT PROVEN: do not use this mechanism"
    print(text_page(f"Verdict on {path}", [*lines, ("result", lost if false else kept)]))
    return not false


# --- The proof of somebody else ------------------------------------------------------------------


def _checked(
    own: Mechanism | Manifest,
    counts: bytes,
    witness: bytes,
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
    return [(verdict.holds, verdict.message if not verdict.holds else verdict.shown[0])]


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
