"""What is audited: a client or a command; and the figures of an audit."""

from __future__ import annotations

import csv
import io
import shlex
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np

from skrldp.certificate import certify
from skrldp.cli._errors import CommandError
from skrldp.cli._mechanism import columns_of
from skrldp.cli._sets import stated_in
from skrldp.client import Client
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism

__all__ = ["client_of", "command_of", "figures_of", "places_of"]

_SCALE = 1e12  # distributions become counts of so many records


def places_of(
    mechanism: Mechanism, joint: JointDistribution | None
) -> tuple[list[JointDistribution], float]:
    """Return distributions of records to be made up, and the bound that is proven for them.

    They are the public one and the worst one, or the uniform one if there is no public one.
    """
    names = mechanism.secrets, mechanism.values
    if joint is None:
        uniform = JointDistribution(np.ones((len(names[0]), len(names[1]))), *names)
        return [uniform], mechanism.leakage(uniform.probabilities)
    around = stated_in(mechanism.guarantee)
    if around is None:
        return [joint], mechanism.leakage(joint.probabilities)
    proof = certify(mechanism, around, joint)
    worst = np.rint(proof.distribution * _SCALE)
    return [JointDistribution(worst, *names), JointDistribution(joint.counts, *names)], proof.eps


def _names(mechanism: Mechanism) -> list[str]:
    """Name the columns of the audit's records: those of S, then those of U."""
    columns = columns_of(mechanism)
    return [str(name) for flag in (True, False) for name, own in columns if own is flag]


def client_of(mechanism: Mechanism) -> Callable[[Any], Any]:
    client, names = Client(mechanism), _names(mechanism)

    def report(records: Any) -> Any:
        return client.report_many(dict(zip(names, records.T, strict=True)))

    return report


def command_of(mechanism: Mechanism, command: str) -> Callable[[Any], Any]:
    """Return a function that passes records to a command as CSV and reads its reports."""
    words, names = shlex.split(command), _names(mechanism)
    if not words:
        raise CommandError("--command is empty.")

    def report(records: Any) -> Any:
        written = io.StringIO(newline="")
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_text(value) for value in row] for row in records.tolist())
        try:
            done = subprocess.run(
                words, input=written.getvalue().encode(), capture_output=True, check=False
            )
        except OSError as error:
            raise CommandError(f"--command: {words[0]}: {error.strerror}.") from None
        if done.returncode:
            raise CommandError(
                f"--command: {words[0]} ended with exit code {done.returncode}: "
                f"{done.stderr.decode(errors='replace')[-500:].strip()}"
            )
        return _reports(done.stdout, len(records), words[0])

    return report


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _reports(output: bytes, n_records: int, name: str) -> Any:
    """Read the reports that a command wrote, a whole number in each line below a header."""
    lines = output.split()
    lines = lines[1:] if len(lines) == n_records + 1 else lines
    try:
        reports = np.array(lines).astype(np.int64)
    except ValueError:
        raise CommandError(f"--command: {name} wrote something else than whole numbers.") from None
    if len(reports) != n_records:
        raise CommandError(
            f"--command: {name} wrote {len(reports):,} reports about {n_records:,} records."
        )
    return reports


def figures_of(mechanism: Mechanism, found: Any) -> dict[str, Any]:
    return {
        "digest": mechanism.digest,
        "passed": found.passed,
        "eps": found.eps,
        "eps_estimate": found.eps_estimate,
        "eps_claimed": found.eps_claimed,
        "level": found.level,
        "n": found.n,
        "checks": [
            {
                "name": check.name,
                "passed": check.passed,
                "p_value": check.p_value,
                "message": check.message,
            }
            for check in found.checks
        ],
    }
