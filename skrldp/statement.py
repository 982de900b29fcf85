"""The privacy report: what a fitted sanitizer promises, and what it does not, on one page."""

import math
import textwrap
from dataclasses import dataclass, fields
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.certificate import certify, prove
from skrldp.mechanism import Mechanism
from skrldp.sanitizers import fitted_sanitizer, has_few_records
from skrldp.uncertainty import RenyiBall

__all__ = ["PrivacyReport", "privacy_report"]

_WIDTH = 88  # columns of the text
_LABEL = 14
_LARGE_ODDS = 10.0  # a promise beyond this factor deserves a word
_ENTRIES = 20_000_000  # of the reports' law, to look for the worst report in
_SHOWN = 5  # secrets that are named


@dataclass(frozen=True, eq=False)
class PrivacyReport:
    """What a fitted sanitizer promises; made by :func:`privacy_report`.

    Printing it gives text of at most 88 columns; notebooks show a table.

    Attributes
    ----------
    sanitizer : str
        The sanitizer's class.
    eps : float
        What was asked, in nats; every ε here is.
    eps_proven, eps_attained : float
        The certificate's bounds on the leakage over the set: none is greater than the first, some
        law attains the second.
    eps_at_public : float
        Leakage at the public law.
    eps_over_set : float or None
        Where privacy is proven at the public law alone, what can leak over a confidence set: the
        sanitizer's own, or that of ``RenyiBall()`` if it has none. None otherwise.
    alpha, radius : float
        Order and radius (nats) of the set of laws that the proof holds for: radius 0 is the public
        law alone, infinity all laws.
    beta : float or None
        Probability that the set misses the true law; None where the radius does not come from it.
    coverage : str
        What is known of that probability: "asymptotic", "finite-sample", "given" (a radius that
        was given as a number), "public law" or "all laws".
    n, n_cells : int
        Numbers of public records and of cells.
    shape : (int, int)
        Numbers of secrets and of values of U.
    n_reports : int
        Number of different reports.
    observe : str
        What the mechanism sees of a person: "all", or "nonsensitive", U alone.
    worst_law : array of shape (a1, a2)
        The worst law found.
    worst_pair : (secret, secret) or None
        The secrets between which a report tells most there, the likelier first. None where there
        are too many reports to look.
    worst_report : object or None
        That report.
    mutual_information, normalized_mutual_information : float
        I(X; Y) at the public law, in nats, and as a share of H(X).
    distortion, worst_case_distortion : float or None
        Expected distance at the public law, and its bound over the set; RobustMSE has them.
    status : str
        How the design ended, as in ``solution_.status``.
    gap : float
        Relative distance of the design from its bound.
    zero_cells : int
        Number of cells without public records.
    unseen_secrets : tuple
        Secrets without public records.
    few_records : bool
        Whether the asymptotic radius has too few records for each cell.
    adds_up : bool
        Whether k reports about one person leak at most k times ``eps_proven``.
    warnings, notes : tuple of str
        What protects less than one may think, and other things to know.
    """

    sanitizer: str
    eps: float
    eps_proven: float
    eps_attained: float
    eps_at_public: float
    eps_over_set: float | None
    alpha: float
    radius: float
    beta: float | None
    coverage: str
    n: int
    n_cells: int
    shape: tuple[int, int]
    n_reports: int
    observe: str
    worst_law: NDArray[np.float64]
    worst_pair: tuple[Any, Any] | None
    worst_report: Any
    mutual_information: float
    normalized_mutual_information: float
    distortion: float | None
    worst_case_distortion: float | None
    status: str
    gap: float
    zero_cells: int
    unseen_secrets: tuple[Any, ...]
    few_records: bool
    adds_up: bool
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a dict, the worst law as lists.

        Returns
        -------
        dict
        """
        figures = {field.name: getattr(self, field.name) for field in fields(self)}
        return figures | {"worst_law": self.worst_law.tolist()}

    def __str__(self) -> str:
        lines = [f"Privacy report: {self.sanitizer}"]
        for label, text in self._figures():
            lines += _hanging(f"  {label:<{_LABEL}}", text)
        for heading, listed in (("Warnings", self.warnings), ("Notes", self.notes)):
            lines += [heading] if listed else []
            for text in listed:
                lines += _hanging("  - ", text)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        left = "style='text-align:left;vertical-align:top'"
        rows = "".join(
            f"<tr><th {left}>{escape(label)}</th><td {left}>{escape(text)}</td></tr>"
            for label, text in self._figures()
        )
        lists = "".join(
            f"<p><strong>{heading}</strong></p><ul>"
            + "".join(f"<li>{escape(text)}</li>" for text in listed)
            + "</ul>"
            for heading, listed in (("Warnings", self.warnings), ("Notes", self.notes))
            if listed
        )
        return (
            f"<div><p><strong>Privacy report: {escape(self.sanitizer)}</strong></p>"
            f"<table><tbody>{rows}</tbody></table>{lists}</div>"
        )

    def _figures(self) -> list[tuple[str, str]]:
        a1, a2 = self.shape
        zero = f", {self.zero_cells:,} without records" if self.zero_cells else ""
        shown = [
            (
                "asked",
                f"eps = {self.eps:.6g}: a report changes the odds of a secret by a factor of at "
                f"most {_odds(self.eps)}",
            ),
            (
                "proven",
                f"eps <= {self.eps_proven:.6f}, of the mechanism as it is sampled; the worst law "
                f"found leaks {self.eps_attained:.6f}",
            ),
            ("holds for", self._set()),
            ("public law", f"leaks {self.eps_at_public:.6f}, were it the true one"),
        ]
        if self.eps_over_set is not None:
            shown.append(("confidence set", f"over it, {_amount(self.eps_over_set)} can leak"))
        if self.worst_pair is not None:
            first, second = self.worst_pair
            shown.append(
                (
                    "worst case",
                    f"report {self.worst_report!r} is {_odds(self.eps_attained)} times as probable "
                    f"for secret {first!r} as for {second!r}",
                )
            )
        sees = "the whole record" if self.observe == "all" else "U alone, never S"
        together = "k of them leak at most k times the proven eps" if self.adds_up else "one only"
        shown += [
            (
                "public table",
                f"{self.n:,} records; {a1:,} secrets x {a2:,} values = {self.n_cells:,} cells"
                f"{zero}",
            ),
            ("sees", sees),
            ("reports", f"{self.n_reports:,} different ones; about one person: {together}"),
            (
                "utility",
                f"I(X;Y) = {self.mutual_information:.4f} nats, "
                f"{self.normalized_mutual_information:.1%} of H(X), at the public law",
            ),
        ]
        if self.distortion is not None:
            shown.append(
                (
                    "distance",
                    f"{self.distortion:.5g} from U at the public law, at most "
                    f"{self.worst_case_distortion:.5g} over the set",
                )
            )
        gap = "" if self.status == "closed form" else f", {self.gap:.2%} from its bound"
        shown.append(("design", f"{self.status}{gap}"))
        return shown

    def _set(self) -> str:
        if self.coverage == "all laws":
            return "all laws; no law is outside"
        if self.coverage == "public law":
            return "the public law alone; every other law is outside"
        ball = f"the laws within Renyi divergence B = {self.radius:.4g} (alpha = {self.alpha:g})"
        if self.beta is None:
            return f"{ball}; the radius was given, so nothing is known of what it misses"
        kind = "about" if self.coverage == "asymptotic" else "at most"
        return f"{ball}; they miss the true law with probability {kind} {self.beta:.4g}"


def privacy_report(sanitizer: Any) -> PrivacyReport:
    """State what a fitted sanitizer promises, to whom it applies, and what it does not promise.

    Parameters
    ----------
    sanitizer : sanitizer
        A fitted one, or one inside a FrozenEstimator.

    Returns
    -------
    PrivacyReport

    Raises
    ------
    TypeError
        If it is no sanitizer.
    NotFittedError
        If it has not been fitted.

    Examples
    --------
    >>> from skrldp import SRRSanitizer, privacy_report
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> report = privacy_report(SRRSanitizer(eps=1.0).fit(X, sample_weight=[7, 10, 26, 57]))
    >>> report.eps_proven <= 1.0, report.coverage, report.warnings
    (True, 'all laws', ())
    >>> print(report)
    Privacy report: SRRSanitizer
      asked         eps = 1: a report changes the odds of a secret by a factor of at most 2.72
      proven        eps <= 1.000000, of the mechanism as it is sampled; the worst law found
                    leaks 1.000000
      holds for     all laws; no law is outside
      ...
    """
    fitted = fitted_sanitizer(sanitizer)
    joint, certificate, mechanism = fitted.joint_, fitted.certificate_, fitted.mechanism_
    coverage, beta = _coverage(fitted)
    report, pair = _worst(mechanism, certificate.law)
    information, share = fitted._information(joint)
    figures = {
        "sanitizer": type(fitted).__name__,
        "eps": float(fitted.eps),
        "eps_proven": certificate.eps,
        "eps_attained": certificate.eps_attained,
        "eps_at_public": prove(mechanism, joint, 1.0, 0.0).eps_attained,
        "eps_over_set": _over_set(fitted) if coverage == "public law" else None,
        "alpha": certificate.alpha,
        "radius": certificate.radius,
        "beta": beta,
        "coverage": coverage,
        "n": joint.n,
        "n_cells": joint.counts.size,
        "shape": joint.counts.shape,
        "n_reports": mechanism.shape[0],
        "observe": mechanism.observe,
        "worst_law": certificate.law,
        "worst_pair": pair,
        "worst_report": report,
        "mutual_information": information,
        "normalized_mutual_information": share,
        "distortion": getattr(fitted, "distortion_", None),
        "worst_case_distortion": getattr(fitted, "worst_case_distortion_", None),
        "status": fitted.solution_.status,
        "gap": fitted.solution_.gap,
        "zero_cells": int((joint.counts == 0).sum()),
        "unseen_secrets": tuple(
            secret
            for secret, n in zip(joint.secrets, joint.counts.sum(axis=1), strict=True)
            if not n
        ),
        "few_records": coverage == "asymptotic" and has_few_records(fitted.uncertainty_, joint),
        "adds_up": math.isinf(certificate.radius),
    }
    bare = PrivacyReport(**figures)
    return PrivacyReport(**figures, warnings=_warnings(bare, fitted), notes=_notes(bare, fitted))


def _coverage(fitted: Any) -> tuple[str, float | None]:
    radius = fitted.certificate_.radius
    if radius == 0:
        return "public law", None
    if math.isinf(radius):
        return "all laws", None
    kind = fitted.uncertainty_.radius
    if not isinstance(kind, str):
        return "given", None
    beta = float(fitted.uncertainty_.beta)
    return ("asymptotic" if kind == "chi2" else "finite-sample"), beta


def _over_set(fitted: Any) -> float:
    uncertainty = fitted.uncertainty_ if fitted.uncertainty_.B_ > 0 else RenyiBall()
    return certify(fitted.mechanism_, uncertainty, fitted.joint_).eps


def _worst(mechanism: Mechanism, law: NDArray[np.float64]) -> tuple[Any, tuple[Any, Any] | None]:
    """Return the report that tells most at a law, and between which secrets."""
    if mechanism.shape[0] * len(mechanism.secrets) > _ENTRIES:
        return None, None
    marginal = law.sum(axis=1)
    seen = np.flatnonzero(marginal > 0)
    conditionals = law / np.where(marginal > 0, marginal, 1.0)[:, None]
    of_secret = mechanism.report_law(conditionals)[:, seen]
    most, least = of_secret.max(axis=1), of_secret.min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        report = int(np.where(most > 0, most / least, 1.0).argmax())
    first, second = seen[of_secret[report].argmax()], seen[of_secret[report].argmin()]
    names = mechanism.secrets
    return mechanism.symbols[report], (names[first], names[second])


# --- Words ---------------------------------------------------------------------------------------


def _warnings(report: PrivacyReport, fitted: Any) -> tuple[str, ...]:
    said = []
    if fitted.random_state is not None:
        said.append(
            f"random_state={fitted.random_state!r}: reports are repeatable, and whoever knows it "
            "can undo them. No guarantee holds; use random_state=None."
        )
    if report.eps_proven > report.eps:
        said.append(
            f"eps={report.eps:.6g} was set after fit, but the mechanism is proven for "
            f"{report.eps_proven:.6g} only: fit again."
        )
    if report.eps_over_set is not None:
        said.append(
            "Privacy holds at the public law alone, and the private records do not follow it "
            f"exactly: over a confidence set {_amount(report.eps_over_set)} can leak, where "
            f"{report.eps:.6g} was asked. For comparisons, not to protect people."
        )
    if report.few_records:
        said.append(
            f"Only {report.n:,} public records for {report.n_cells:,} cells: the chi-squared set "
            "misses the true law more often than it says below about five records a cell. Use "
            "RenyiBall(alpha=1, radius='finite-sample') or a coarser alphabet."
        )
    if report.coverage == "given":
        said.append("The radius was given as a number: no confidence is attached to the set.")
    if math.exp(min(report.eps_proven, 700.0)) > _LARGE_ODDS:
        said.append(
            f"eps = {report.eps_proven:.6g} is a weak promise: one report may change odds of 1 : 1 "
            f"into {_odds(report.eps_proven)} : 1."
        )
    if not report.adds_up:
        said.append(
            "One report for each person: the first moves what is known of U outside the set, so a "
            "second is no longer covered, and two together may leak far more than twice eps."
        )
    if report.status == "time_limit":
        said.append(
            f"The design stopped at its time limit, {report.gap:.1%} from its bound: privacy is "
            "proven all the same, but there may be more utility, and another fit may differ."
        )
    return tuple(said)


def _notes(report: PrivacyReport, fitted: Any) -> tuple[str, ...]:
    said = []
    if report.coverage == "asymptotic":
        said.append(
            f"The radius is asymptotic: beta = {report.beta:.4g} is what it tends to with many "
            "records for each cell. radius='finite-sample' (alpha=1) holds for any number."
        )
    if report.unseen_secrets:
        names = ", ".join(map(repr, report.unseen_secrets[:_SHOWN]))
        more = len(report.unseen_secrets) - _SHOWN
        beyond = f" and {more:,} more" if more > 0 else ""
        held = {
            "all laws": "their privacy needs no records",
            "public law": "nothing is proven about them",
        }
        told = "whatever they are, the promise includes them, which costs utility"
        said.append(
            f"Secrets without public records: {names}{beyond}. Nothing is known of their "
            f"conditionals; {held.get(report.coverage, told)}."
        )
    if report.zero_cells and report.coverage not in ("all laws", "public law"):
        said.append(
            f"{report.zero_cells:,} of {report.n_cells:,} cells have no public records; the set "
            "allows for them."
        )
    if fitted.handle_unknown == "impute":
        said.append(
            "Values of U that the public table lacks are replaced by draws from the public law: "
            "the promise is kept, and the report says nothing about such a value."
        )
    if report.observe == "nonsensitive":
        said.append("The mechanism does not see S: what a report tells of it, it tells through U.")
    if getattr(fitted, "smoothing", 0):
        said.append(
            f"The design counts {fitted.smoothing:g} more records, spread over all cells, for its "
            "utility; privacy is about the public law as it is."
        )
    said.append("Only S is protected: what a report says of U beyond S is not bounded.")
    return tuple(said)


def _odds(eps: float) -> str:
    return "e^" + f"{eps:.4g}" if eps > 20.0 else f"{math.exp(eps):.3g}"


def _amount(eps: float) -> str:
    return "any amount" if math.isinf(eps) else f"eps = {eps:.4g}"


def _hanging(start: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_on_hyphens=False,
    )
