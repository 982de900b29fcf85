"""``skrldp verify``: check a proof in whole numbers, from mechanism, counts and witness."""

from __future__ import annotations

import json as js
from typing import TYPE_CHECKING, Annotated

import numpy as np
from typer import Option

from skrldp._sentences import columns_in_words, lines_of_set, who_knows
from skrldp.cli import _options as o
from skrldp.cli._errors import FAILED, CommandError

if TYPE_CHECKING:
    from skrldp.mechanism import Mechanism

__all__ = ["verify"]


def verify(
    mechanism: o.MechanismFile,
    *,
    witness: Annotated[
        str, o.option("--witness FILE", "The proof, as design or certify --witness wrote it.")
    ],
    counts: Annotated[
        str,
        o.option(
            "--counts FILE", "Public counts, as design or certify --public-counts wrote them."
        ),
    ],
    eps: Annotated[
        float | None, o.eps("What reports should keep. What the mechanism states, if not given.")
    ] = None,
    reports: Annotated[
        int,
        Option(
            "--reports",
            "-k",
            metavar="K",
            min=1,
            help="How many reports about the same record are seen together; more need --eps.",
        ),
    ] = 1,
    radius: Annotated[
        bool,
        Option("--radius", help="Also make the set of distributions again, from counts and beta."),
    ] = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> int:
    """Check a proof that a mechanism is private, without trust in who made it.

    The check takes whole numbers and the standard library alone, in one short file. What is claimed
    is read from the mechanism, never from the witness. The exit code is 1 if it is not shown.
    """
    from skrldp.certificate import verify as check
    from skrldp.cli._mechanism import read_text
    from skrldp.mechanism import Manifest, read_json

    text, table, proof = map(read_text, (mechanism, counts, witness))
    try:
        own = read_json(text)
    except ValueError as error:
        raise CommandError(f"{mechanism}: {error}") from None
    if isinstance(own, Manifest):
        raise CommandError(
            f"{mechanism} is a manifest of {len(own.mechanisms):,} mechanisms, one for each block "
            "of columns. Each has a proof of its own: in Python, write it with "
            "sanitizers_[k].certificate_.witness(), and check it with certificate.verify."
        )
    verdict = check(text, table, proof, eps, reports)
    holds, message, shown = verdict.holds, verdict.message, list(verdict.shown)
    if radius and holds:
        for enough, said in _radii_again(own, table):
            shown.append(said)
            if holds and not enough:
                holds, message = False, f"not shown: {said}"
    if holds:
        shown += [f"{label}: {said}" for label, said in _about(own)]
    if json:
        print(js.dumps({"holds": holds, "message": message, "shown": shown}))
    elif not quiet or not holds:
        print(message, *shown, sep="\n")
    return 0 if holds else FAILED


def _about(own: Mechanism) -> list[tuple[str, str]]:
    """Say of which mechanism something was shown, and of which distributions."""
    from skrldp.mechanism import further_lines, notes_of

    claim = own.guarantee
    assert claim is not None
    notes = [("note", text) for text in notes_of(own)]
    further = further_lines(claim, [name for name, _ in own.columns])
    about = [*lines_of_set(claim.distributions, claim.alphabet), *further, *notes]
    return [*about, ("mechanism", own.digest)]


def _radii_again(own: Mechanism, counts: bytes) -> list[tuple[bool, str]]:
    """Make each set by its rule again; whether the stated one is as large, and a sentence."""
    from skrldp.cli._mechanism import columns_of
    from skrldp.cli._proofs import promise_of
    from skrldp.cli._public import joint_of
    from skrldp.cli._sets import stated_in

    claim = own.guarantee
    assert claim is not None
    columns = columns_of(own)
    sensitive, others = (
        [p for p, (_, f) in enumerate(columns) if f is kind] for kind in (True, False)
    )
    stated = {(): claim.distributions} | {one.known: one.distributions for one in claim.further}
    found = []
    joint = joint_of(own, np.array(js.loads(counts)["counts"]))
    for one in promise_of(own, claim, joint, stated_in(claim), claim.eps).statements:
        known = tuple(others[j] for j in one.known)
        around, again = stated[known], one.uncertainty
        about = f" of {columns_in_words(columns[place][0] for place in sensitive)}"
        about += f" {who_knows(columns[place][0] for place in known)}" if known else ""
        if isinstance(around, str):
            found.append((True, f"radius{about}: there is none, as all distributions are meant"))
        elif around.rule == "given":
            found.append(
                (False, f"radius{about}: given by its numbers, so there is no beta to check")
            )
        else:
            least = {name: figure for name, figure in again.figures.items() if name != "alpha"}
            held = {name: getattr(around, name, None) for name in least}
            enough = all((held[name] or 0.0) >= figure for name, figure in least.items())
            numbers = ", ".join(f"{name}={figure!r}" for name, figure in held.items())
            words = "as large as" if enough else "NOT as large as"
            said = f"radius{about}: {numbers} is {words} the rule {around.rule!r} makes it"
            found.append((enough, said))
    return found
