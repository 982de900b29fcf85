"""``skrldp verify``: check a proof in whole numbers, from mechanism, counts and witness."""

from __future__ import annotations

import json as js
from pathlib import Path
from typing import Annotated

from typer import Option

from skrldp.cli import _options as o
from skrldp.cli._errors import FAILED, CommandError

__all__ = ["verify"]


def verify(
    mechanism: o.MechanismFile,
    *,
    counts: Annotated[
        str, o.option("--counts FILE", "Public counts, as design --public-counts wrote them.")
    ],
    witness: Annotated[str, o.option("--witness FILE", "The proof, as design --witness wrote it.")],
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
            help="How many reports about one person are seen together; more need --eps.",
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

    files = mechanism, counts, witness
    try:
        texts = [Path(name).read_bytes() for name in files]
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}.") from None
    verdict = check(texts[0], texts[1], texts[2], eps, reports)
    lines = [verdict.message, *verdict.shown]
    holds = verdict.holds
    if radius and holds:
        enough, said = _radius_again(texts[0], texts[1])
        holds = holds and enough
        lines.append(said)
    if json:
        print(js.dumps({"holds": holds, "message": lines[0], "shown": lines[1:]}))
    elif not quiet or not holds:
        print(*lines, sep="\n")
    return 0 if holds else FAILED


def _radius_again(mechanism: bytes, counts: bytes) -> tuple[bool, str]:
    """Make the set by its rule again; whether the stated one is as large, and a sentence."""
    from skrldp.cli._public import n_values_of
    from skrldp.cli._sets import stated_in
    from skrldp.joint import JointDistribution
    from skrldp.mechanism import Mechanism

    own = Mechanism.from_json(mechanism)
    claim = own.guarantee
    if claim is None or isinstance(claim.distributions, str):
        return True, "radius: there is none, as all distributions are meant"
    if claim.distributions.rule == "given":
        return False, "radius: given by its numbers, so no beta is stated that could be checked"
    if claim.further:
        return False, "radius: checked of plain claims alone; certify makes the others again"
    table = js.loads(counts)["counts"]
    alphabet, most = claim.alphabet, n_values_of(claim)
    names = own.secrets, own.values
    joint = JointDistribution(table, *names, alphabet=alphabet, most_values=most)
    again = stated_in(claim).fit_set(joint).figures
    stated = {name: getattr(claim.distributions, name) for name in again}
    enough = all(stated[name] >= figure for name, figure in again.items() if name != "alpha")
    words = "as large as" if enough else "NOT as large as"
    said = ", ".join(f"{name}={figure!r}" for name, figure in stated.items())
    return enough, f"radius: {said} is {words} the rule {claim.distributions.rule!r} makes it"
