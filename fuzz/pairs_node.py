"""What JavaScript says of the same mechanisms and proofs: one process of Node for many of them."""

import json
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pairs_table import FalseClaimError

from skrldp import client
from skrldp.mechanism.json_values import as_json

_SCRIPT = Path(__file__).with_suffix(".mjs")
_KEY = bytes(range(32))


class Asked(NamedTuple):
    """A proof, and what Python says of it."""

    texts: tuple  # mechanism, counts, witness
    eps: float | None
    reports: int
    verdict: tuple


@dataclass
class Node:
    """What Node is to be asked, and what Python says."""

    lines: list = field(default_factory=list)
    answers: list = field(default_factory=list)

    def proof(self, one):
        """Ask what the checker says of a proof."""
        self.lines.append(["proof", *one.texts, one.eps, one.reports])
        self.answers.append([one.verdict.message, list(one.verdict.shown)])

    def client(self, text, records):
        """Ask what the client states, and what it reports with a key; records are dictionaries."""
        device = client.load(text, permanent_key=_KEY)
        fields = json.loads(text)
        parts = fields.get("mechanisms", [fields])
        reports = [_reported(device, record, str(i)) for i, record in enumerate(records)]
        written = [[_written(record), str(i)] for i, record in enumerate(records)]
        self.lines.append(["client", text, written, list(_KEY)])
        self.answers.append(
            {
                "digest": device.digest,
                "eps": max(one["claims"][0]["eps"] for one in parts),
                "observe": parts[0].get("observe", "all"),
                "claims": [one["claims"] for one in parts],
                "reports": reports,
            }
        )

    def ask(self):
        """Compare both, and forget them; return how many were compared."""
        if not self.lines or shutil.which("node") is None:
            return 0
        said = subprocess.run(
            ["node", str(_SCRIPT)],
            input="".join(json.dumps(line) + "\n" for line in self.lines),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        lines, answers = list(self.lines), list(self.answers)
        self.lines.clear()
        self.answers.clear()
        for line, own, other in zip(lines, answers, map(json.loads, said), strict=True):
            if _stated(own) != _stated(other):
                raise FalseClaimError(f"JavaScript says {other}, Python {own}, of {line}")
        return len(lines)


def _reported(device, record, name):
    try:
        found = device.report(record, id=name)
    except ValueError:
        return None
    return [int(one) for one in found] if isinstance(found, tuple) else int(found)


def _written(record):
    """A record as JSON has it; one of columns without names is a list."""
    if all(isinstance(name, int) for name in record):
        return [as_json(record[name]) for name in sorted(record)]
    return {name: as_json(value) for name, value in record.items()}


def _stated(answer):
    """An answer without what is not stated."""
    if isinstance(answer, dict):
        return {k: _stated(v) for k, v in answer.items() if v is not None and k != "format"}
    return [_stated(one) for one in answer] if isinstance(answer, list) else answer
