"""The result of an audit."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp._numbers import at_least, at_most, p_in_words
from skrldp._pages import page, text_page

__all__ = ["Audit", "Check", "of_reports"]


def of_reports(reports: int) -> str:
    """Say that a figure is about several reports; nothing if it is about one.

    Returns str: with a space in front, to be put behind the figure.
    """
    return "" if reports == 1 else f" of {reports:,} reports about each person"


@dataclass(frozen=True)
class Check:
    """One check of an audit.

    Attributes
    ----------
    name : str
        "bound", "mechanism", "repeats", "copies", "runs", "calls", "processes", "unknown" or
        "random_state".
    passed : bool
        Whether there was no fault.
    p_value : float
        Upper bound on the probability of such an observation if there is no fault; 0 for a certain
        fault.
    message : str
        What was found.
    """

    name: str
    passed: bool
    p_value: float
    message: str


@dataclass(frozen=True, eq=False)
class Audit(ReadOnly):
    """What samples show of a black box's leakage; made by :func:`audit`.

    Attributes
    ----------
    subject : str
        What was audited.
    eps : float
        Lower bound on the leakage of all reports about a person together, in nats, at confidence
        ``level``: infinite where unknown values pass through.
    eps_estimate : float
        Estimate of the leakage of the event that the bound is for.
    eps_claimed : float
        What the leakage should not exceed at ``distribution``, in nats: the certificate's upper
        bound. NaN if nothing is claimed.
    level : float
        Confidence. If there is no fault, then with at least this probability `eps` does not exceed
        the leakage and all checks pass.
    n : int
        Number of records that the bound was computed from; each check used at most as many.
    distribution : array of shape (a1, a2)
        The distribution of (S, U) that the bound is for.
    secrets : (secret, secret)
        The pair: the event is more probable under the first.
    reports : int
        How many reports about each person the bound and the claim are about.
    event : tuple
        The reports that make up the event, each as it came: a scalar if it has one column. Of
        several reports about each person, the combinations: tuples of that many reports.
    counts, totals : (int, int)
        How many of the records of each secret had such a report, or such reports.
    checks : tuple of Check
        All checks, in order.
    about : str
        What the bound is about, in words: a sensitive column that is protected by itself, or what
        is known of the persons. Empty if it is about S and the reports alone.
    """

    subject: str
    eps: float
    eps_estimate: float
    eps_claimed: float
    level: float
    n: int
    distribution: NDArray[np.float64]
    secrets: tuple[Any, Any]
    reports: int
    event: tuple[Any, ...]
    counts: tuple[int, int]
    totals: tuple[int, int]
    checks: tuple[Check, ...]
    about: str = ""

    @property
    def findings(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def passed(self) -> bool:
        """Whether no fault was found. This is no proof of privacy: the certificate is."""
        return not self.findings

    def __repr__(self) -> str:
        faults = ", ".join(check.name for check in self.findings)
        verdict = "passed" if self.passed else f"FAILED: {faults}"
        claimed = at_most(self.eps_claimed, ".6g")
        claim = "" if math.isnan(self.eps_claimed) else f", claimed {claimed}"
        least = at_least(self.eps, ".4g") + of_reports(self.reports)
        return f"Audit(eps>={least}{claim}, n={self.n:,}, {verdict})"

    def __str__(self) -> str:
        return text_page(self._title(), self._lines())

    def _repr_html_(self) -> str:
        return page(self._title(), self._lines())

    def _title(self) -> str:
        return f"Audit of {self.subject}: {self.n:,} records, confidence {self.level:.4g}"

    def _lines(self) -> list[tuple[str, str]]:
        several = self.reports > 1
        event = f"{len(self.event):,} {'combinations of ' if several else ''}reports"
        if len(self.event) == 1:
            event = f"report{'s' if several else ''} {self.event[0]!r}"
        shares = [k / n if n else math.nan for k, n in zip(self.counts, self.totals, strict=True)]
        claim = "nothing is claimed"
        if not math.isnan(self.eps_claimed):
            claim = f"at most {at_most(self.eps_claimed, '.4f')}"
        least = f"at least {at_least(self.eps, '.4f')} nats{of_reports(self.reports)}"
        lines = [
            ("leakage", f"{least} (estimate {self.eps_estimate:.4f})"),
            ("claimed", claim),
            *([("about", self.about)] if self.about else []),
            (
                "seen in",
                f"{event}: {shares[0]:.2%} of {self.secrets[0]!r}, {shares[1]:.2%} of "
                f"{self.secrets[1]!r}",
            ),
        ]
        for check in self.checks:
            verdict = "ok" if check.passed else "FAULT"
            p_value = p_in_words(check.p_value)
            lines.append((check.name, f"{verdict}: {check.message} ({p_value})"))
        verdict = "no fault found" if self.passed else "FAILED"
        lines.append(("verdict", f"{verdict}; an audit proves no privacy, a certificate does"))
        return lines
