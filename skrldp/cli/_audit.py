"""``skrldp audit``: what a sampler leaks at least, judged by its reports alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from typer import Option

from skrldp.cli import _options as o
from skrldp.cli._errors import FAILED, CommandError
from skrldp.cli._progress import done, tell

__all__ = ["audit"]

_CALLS = 10  # short ones of a command: each starts a process


def audit(
    mechanism: o.MechanismFile,
    *,
    public: Annotated[
        str | None,
        o.option(
            "--public FILE",
            "The public table: audit at the public distribution and at the worst one. "
            "At the uniform distribution if not given.",
        ),
    ] = None,
    counts: o.Counts = None,
    command: Annotated[
        str | None,
        o.option(
            "--command COMMAND",
            "Audit this program: it reads records as CSV from standard input and writes "
            "a report in each line. Python's client if not given.",
        ),
    ] = None,
    eps: Annotated[
        float | None, o.eps("The claim. What is proven of the mechanism, if not given.")
    ] = None,
    n: Annotated[
        int, Option("--n", "-n", metavar="N", min=1, help="How many records are made up.")
    ] = 100_000,
    level: o.Level = 0.95,
    in_format: o.InFormat = None,
    delimiter: o.Delimiter = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> int:
    """Test a sampler of reports for faults, by its reports alone.

    Makes up records, has them reported, and bounds from below what the reports leak. The exit code
    is 1 if that is more than the claim, or if randomness is used twice, or unknown values pass. No
    fault is no proof of privacy: certify proves it.
    """
    import math

    from skrldp._pages import as_json
    from skrldp.auditing import audit as examine
    from skrldp.cli._audited import client_of, command_of, figures_of, places_of
    from skrldp.cli._formats import Asked, check_delimiter, kind_of
    from skrldp.cli._mechanism import read_mechanism
    from skrldp.cli._public import public_counts

    own = read_mechanism(
        mechanism,
        "audit the mechanism of a block, each of which is the JSON of a mechanism in the manifest.",
    )
    joint = None
    if public is not None:
        kind = kind_of(public, asked := Asked(in_format, delimiter))
        check_delimiter(asked, kind)
        joint = public_counts(own, public, kind, counts)
    tell("proving")
    places, claim = places_of(own, joint)
    if eps is not None:
        claim = eps
    if not math.isfinite(claim):
        raise CommandError(f"{mechanism} rules out a secret: there is nothing to audit.")
    black_box = client_of(own) if command is None else command_of(own, command)
    calls = 100 if command is None else _CALLS
    tell("reporting records that are made up")
    found = examine(
        black_box, n=n, distribution=places, eps=claim, level=level, mechanism=own, calls=calls
    )
    done()
    if json:
        print(as_json(figures_of(own, found)))
    else:
        subject = "skrldp.client" if command is None else command
        print(replace(found, subject=f"{subject} with {mechanism}"))
    return 0 if found.passed else FAILED
