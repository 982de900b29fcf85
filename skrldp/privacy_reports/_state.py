"""From a fitted sanitizer to its privacy report."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._numbers import at_most
from skrldp.certificate import certify
from skrldp.information import conditionals_of
from skrldp.mechanism import Mechanism
from skrldp.privacy_reports._report import PrivacyReport, amount, odds
from skrldp.sanitizers import (
    changes_since_fit,
    default_uncertainty,
    explain_rare_cells,
    fitted_sanitizer,
    reported_its_own_table,
)
from skrldp.uncertainty_set import FittedSet, RenyiSet, chance_of_missing

__all__ = ["privacy_report"]

_LARGE_ODDS = 10.0  # a promise beyond this factor gets a warning
_ENTRIES = 20_000_000  # of the reports' distribution; the worst report is not searched for in more
_SHOWN = 5  # secrets that are named
_MOST_CHARACTERS = 60  # of a parameter's value


def privacy_report(sanitizer: Any) -> PrivacyReport:
    """State what a fitted sanitizer promises, to whom it applies, and what it does not promise.

    Parameters
    ----------
    sanitizer : sanitizer
        A fitted one, or a Pipeline that ends in one, or either in a FrozenEstimator. For a
        pipeline, the report is about the last step: the steps before it must not depend on private
        records.

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
    (True, 'all distributions', ())
    >>> print(report)
    Privacy report: SRRSanitizer
      protects      S = column 0; U = column 1: not protected
      asked         eps = 1: a report changes the odds of a secret by a factor of at most 2.72
      proven        eps <= 1.000000, of the mechanism as it is sampled; at the worst distribution
                    found the leakage is 0.999999
      holds for     all distributions of the data
      ...
    """
    fitted = fitted_sanitizer(sanitizer)
    joint, certificate, mechanism = fitted.joint_, fitted.certificate_, fitted.mechanism_
    coverage = _coverage(certificate.uncertainty)
    rare_cells = explain_rare_cells(certificate.uncertainty, joint)
    few = mechanism.shape[0] * len(joint.secrets) <= _ENTRIES
    report, pair = _worst(mechanism, certificate.distribution) if few else (None, None)
    information = mechanism.mutual_information(joint.probabilities)
    share = min(1.0, information / joint.entropy) if joint.entropy > 0 else 0.0
    figures = {
        "sanitizer": type(fitted).__name__,
        "eps": float(fitted.eps),
        "eps_proven": certificate.eps,
        "eps_attained": certificate.eps_attained,
        "eps_at_public": mechanism.leakage(joint.probabilities) if few else None,
        "eps_over_set": _over_set(fitted) if coverage == "public distribution" else None,
        "eps_record": _over_records(mechanism),
        "holds_for": certificate.uncertainty.describe(),
        **_of_the_set(certificate.uncertainty),
        "beta": certificate.uncertainty.beta,
        "coverage": coverage,
        "alphabet": joint.alphabet,
        "n": joint.n,
        "n_cells": joint.counts.size,
        "shape": joint.counts.shape,
        "sensitive": tuple(name for name, flag in mechanism.columns if flag),
        "nonsensitive": tuple(name for name, flag in mechanism.columns if not flag),
        "n_reports": mechanism.shape[0],
        "observe": mechanism.observe,
        "worst_distribution": certificate.distribution,
        "worst_pair": pair,
        "worst_report": report,
        "mutual_information": information,
        "normalized_mutual_information": share,
        "distortion": getattr(fitted, "distortion_", None),
        "worst_case_distortion": getattr(fitted, "worst_case_distortion_", None),
        "worst_case_set": _set_for_utility(getattr(fitted, "utility_uncertainty_", None)),
        "status": fitted.solution_.status,
        "gap": fitted.solution_.gap,
        "zero_cells": int((joint.counts == 0).sum()),
        "unseen_secrets": tuple(
            secret
            for secret, n in zip(joint.secrets, joint.counts.sum(axis=1), strict=True)
            if not n
        ),
        "few_records": bool(rare_cells),
        "adds_up": certificate.uncertainty.is_everything,
    }
    bare = PrivacyReport(**figures)
    warnings = _warnings(bare, fitted, rare_cells)
    return PrivacyReport(**figures, warnings=warnings, notes=_notes(bare, fitted))


def _coverage(around: FittedSet) -> str:
    """Say where the probability comes from with which the set misses the true distribution."""
    if around.is_point:
        return "public distribution"
    if around.is_everything:
        return "all distributions"
    if around.beta is None:
        return "given"
    return "finite-sample" if around.rule == "finite-sample" else "asymptotic"


def _of_the_set(around: FittedSet) -> dict[str, float | None]:
    """Figures of the set; None for those that its kind does not have."""
    figures = ("radius", "single", "pair", "drift")
    found = {name: getattr(around, name, None) for name in figures}
    return {"alpha": None if found["radius"] is None else around.alpha, **found}


def _over_set(fitted: Any) -> float:
    """Bound the leakage over the sanitizer's own set, or the default one if that is a point."""
    around = fitted.uncertainty_.fit_set(fitted.joint_)
    if around.is_point:
        around = default_uncertainty().fit_set(fitted.joint_)
    return certify(fitted.mechanism_, around, fitted.joint_).eps


def _over_records(mechanism: Mechanism) -> float:
    """Return the logarithm of the greatest ratio of a report's probabilities given two records."""
    a1, a2 = len(mechanism.secrets), len(mechanism.values)
    if mechanism.form.blocks is None:
        n_columns = a2 if mechanism.observe == "nonsensitive" else a1 * a2
        of_record = mechanism.form.columns(np.arange(n_columns))
    else:  # each row of the matrix holds these four, for a fit has two secrets and values at least
        of_record = np.array([mechanism.form.blocks])
    most, least = of_record.max(axis=1), of_record.min(axis=1)
    with np.errstate(divide="ignore"):
        return float(np.log(most[most > 0] / least[most > 0]).max())


def _worst(mechanism: Mechanism, distribution: NDArray[np.float64]) -> tuple[Any, tuple[Any, Any]]:
    """Return the report with the greatest ratio between two secrets, and those secrets."""
    seen = np.flatnonzero(distribution.sum(axis=1) > 0)
    of_secret = mechanism.report_distribution(conditionals_of(distribution))[:, seen]
    most, least = of_secret.max(axis=1), of_secret.min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        report = int(np.where(most > 0, most / least, 1.0).argmax())
    first, second = seen[of_secret[report].argmax()], seen[of_secret[report].argmin()]
    names = mechanism.secrets
    return mechanism.symbols[report], (names[first], names[second])


# --- Words ---------------------------------------------------------------------------------------


def _set_for_utility(uncertainty: Any) -> str | None:
    """Say in words what a worst distance is over, and with which probability that misses."""
    if uncertainty is None:
        return None
    words = RenyiSet(uncertainty.alpha, uncertainty.B_).describe()
    rule = getattr(uncertainty, "radius", None)
    if not isinstance(rule, str):
        return words
    return f"{words}, a set that misses the true one {chance_of_missing(rule, uncertainty.beta)}"


def _brief(value: Any) -> str:
    text = " ".join(getattr(value, "__name__", repr(value)).split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def _warnings(report: PrivacyReport, fitted: Any, rare_cells: str) -> tuple[str, ...]:
    said = []
    if fitted.random_state is not None:
        said.append(
            f"random_state={fitted.random_state!r}: reports are repeatable, and whoever knows it "
            "can undo the randomness. No guarantee holds; use random_state=None."
        )
    for name, (before, now) in changes_since_fit(fitted).items():
        said.append(
            f"{name}={_brief(now)} was set after fit, which used {_brief(before)}. The "
            f"mechanism and its proof, eps <= {at_most(report.eps_proven, '.6f')}, are still those "
            "of that fit: fit again."
        )
    if reported_its_own_table(fitted):
        said.append(
            "fit_transform reported the same table that it was fitted on. The mechanism depends on "
            "every record of that table, and this dependence is not private: fit on public "
            "records, then transform private ones."
        )
    if report.eps_over_set is not None:
        said.append(
            "Privacy holds at the public distribution alone, and the private records do not follow "
            f"it exactly: over a confidence set {amount(report.eps_over_set)} can leak, where "
            f"{at_most(report.eps, '.6g')} was asked. For comparisons, not to protect people."
        )
    if rare_cells:
        said.append(f"{rare_cells[0].upper()}{rare_cells[1:]}.")
    if report.coverage == "given":
        said.append("The radius was given as a number: no confidence is attached to the set.")
    if math.exp(min(report.eps_proven, 700.0)) > _LARGE_ODDS:
        said.append(
            f"eps = {at_most(report.eps_proven, '.6g')} is a weak promise: one report may "
            f"change odds of 1 : 1 into {odds(report.eps_proven)} : 1."
        )
    if not report.adds_up:
        said.append(
            "Send only one report about each person: given the first, the distribution of U can "
            "lie outside the set, so a second is not covered by the proof, and two together may "
            "leak far more than twice eps."
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
        beta = at_most(report.beta or 0.0, ".4g")
        said.append(
            f"The radius is asymptotic: beta = {beta} is what it tends to with many "
            f"records for each cell. LikelihoodRatioSet() holds for "
            "any number."
        )
    if report.drift:
        said.append(
            f"The set allows for a drift of {report.drift:.4g} nats since the public records were "
            "taken. That the population has changed by no more is an assumption."
        )
    if report.beta is not None and report.alphabet == "learned":
        said.append(
            "The values of U were learned from the counted records, so beta is not guaranteed. "
            "Declare them (categories=, dtypes such as category or Enum), or set alphabet_fraction "
            "to learn them from records that are not counted."
        )
    if report.unseen_secrets:
        names = ", ".join(map(repr, report.unseen_secrets[:_SHOWN]))
        more = len(report.unseen_secrets) - _SHOWN
        beyond = f" and {more:,} more" if more > 0 else ""
        held = "the promise includes them, whatever they are"
        if report.coverage != "all distributions":
            held += ", which costs utility"
        said.append(
            f"Secrets without public records: {names}{beyond}. Nothing is known of their "
            f"conditionals; {held}."
        )
    if report.zero_cells and report.coverage not in ("all distributions", "public distribution"):
        said.append(
            f"{report.zero_cells:,} of {report.n_cells:,} cells have no public records; the set "
            "allows for them."
        )
    others = fitted.mechanism_.others or ()
    if any(others):
        grouped = "that are unknown" if True in others else "that were rare in the public table"
        said.append(f"Values of U {grouped} are reported as 'other', which the promise includes.")
    if fitted.handle_unknown == "impute":
        said.append(
            "Values of U that the public table lacks are replaced by draws from the public "
            "distribution: the promise is kept, and the report tells nothing about such a value."
        )
    if report.observe == "nonsensitive":
        said.append("The mechanism does not see S: a report reveals S only through U.")
    if getattr(fitted, "smoothing", 0):
        said.append(
            f"For its utility the design adds {fitted.smoothing:g} records, spread over all cells; "
            "privacy is about the public distribution without them."
        )
    said.append(_about_u(report))
    return tuple(said)


def _about_u(report: PrivacyReport) -> str:
    if math.isinf(report.eps_record):
        return "Only S is protected: what a report reveals about U beyond S is not bounded."
    up_to = f"by up to a factor of {odds(report.eps_record)}."
    if report.eps_record <= report.eps:
        return f"U is protected as well: a report changes the odds of any two records {up_to}"
    only = f"Only S is protected by eps = {at_most(report.eps, '.6g')}"
    return f"{only}: a report may change the odds of two values of U {up_to}"
