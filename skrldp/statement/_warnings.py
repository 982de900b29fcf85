"""Warnings and notes of a privacy report."""

import math
from typing import Any

from skrldp._numbers import at_most
from skrldp.sanitizers import changes_since_fit, reported_its_own_table
from skrldp.statement._by_secret import warnings_by_secret
from skrldp.statement._expected_errors import error_warnings
from skrldp.statement._report import PrivacyReport
from skrldp.statement._words import amount, odds

__all__ = ["notes_of", "warnings_of"]

_LARGE_ODDS = 10.0  # a promise beyond this factor gets a warning
_SHOWN = 5  # secrets that are named
_MOST_CHARACTERS = 60  # of a parameter's value
_MORE = 1e-6  # share by which a leakage must be more than another to be called more
# Limits that end a design: how they are named, and what more to say.
_LIMITS = {
    "time_limit": ("its time limit", ", and another fit may differ"),
    "max_iter": ("max_iter", ""),
}


def _brief(value: Any) -> str:
    text = " ".join(getattr(value, "__name__", repr(value)).split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def warnings_of(report: PrivacyReport, fitted: Any, rare_cells: str) -> tuple[str, ...]:
    """Say what protects less, or what reports tell less of, than a user may think."""
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
    said += _beyond_one_report(report, getattr(fitted, "eps_all", None))
    if report.status in _LIMITS:
        limit, more = _LIMITS[report.status]
        said.append(
            f"The design stopped at {limit}, {report.gap_in_words}. Privacy is proven all the "
            f"same, but there may be more utility{more}."
        )
    said += error_warnings(report)
    said += warnings_by_secret(report)
    return tuple(said)


def _beyond_one_report(report: PrivacyReport, asked: float | None) -> list[str]:
    """Warn of what a second report may tell, and a report to somebody who knows more."""
    if asked is not None and report.eps_all <= asked:
        return []
    said = []
    two = report.eps_of_reports[2]
    if two > 2.0 * report.eps_proven * (1.0 + _MORE):
        said.append(f"two reports about one person may tell {_told(two)}")
    if report.eps_all > report.eps_proven * (1.0 + _MORE):
        said.append(
            "one report may tell somebody who knows something else about the person "
            f"{_told(report.eps_all)}"
        )
    if not said:
        return []
    words = ", and ".join(said)
    return [
        f"The proven eps is for one report to somebody who knows nothing else: {words}. "
        "eps_all= is a bound on both."
    ]


def _told(eps: float) -> str:
    if math.isinf(eps):
        return "the secret for certain"
    return f"up to {amount(eps)} (a factor of {odds(eps)})"


def notes_of(report: PrivacyReport, fitted: Any) -> tuple[str, ...]:
    """Say what else is worth knowing."""
    said = []
    if fitted.survey_ is not None:
        said.append(f"The public table is {fitted.survey_.describe()}.")
    elif report.coverage == "asymptotic":
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
            "Rare values of U were learned from the counted records, so beta is not guaranteed. "
            "Report them as one (min_frequency='auto'), declare them (categories=, dtypes such as "
            "category or Enum), or set alphabet_fraction to learn them from records that are not "
            "counted."
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
