"""Warnings and notes of a privacy report."""

import math
from collections.abc import Collection
from typing import Any

from skrldp._arrays import LARGEST_EXPONENT
from skrldp._params import at_most
from skrldp._sentences import known_by_category, repeatable
from skrldp.claims import amount, bound, multiplies, odds
from skrldp.mechanism.messages import known_in_groups
from skrldp.sanitizers.access import changes_since_fit, reported_its_own_table
from skrldp.sanitizers.warnings import explain_limit
from skrldp.statement._by_secret import warnings_by_secret
from skrldp.statement._expected_errors import error_warnings
from skrldp.statement._parts import ReportFigures

__all__ = ["notes_of", "warnings_of", "warnings_of_design", "warnings_of_use"]

_LARGE_ODDS = 10.0  # a promise beyond this factor gets a warning
_SHOWN = 5  # secrets that are named
_MOST_CHARACTERS = 60  # of a parameter's value
_MORE = 1e-6  # relative difference from which a leakage is called greater than another


def _capital(words: str) -> str:
    """Begin a sentence."""
    return words[0].upper() + words[1:]


def _brief(value: Any) -> str:
    """Write a parameter's value in a line."""
    text = " ".join(getattr(value, "__name__", repr(value)).split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def warnings_of(report: ReportFigures, fitted: Any, rare_cells: str) -> tuple[str, ...]:
    """Warn of less protection, or less information, than a user may expect."""
    return (
        *warnings_of_use(report, fitted),
        *warnings_of_design(report, fitted, rare_cells),
        *error_warnings(report),
        *warnings_by_secret(report),
    )


def warnings_of_use(report: ReportFigures, fitted: Any) -> list[str]:
    """Warn of what a user did since the fit, and of weak promises."""
    said, proof = [], report.proof
    if fitted.random_state is not None:
        said.append(
            f"{_capital(repeatable(fitted.random_state))}. No guarantee holds; use "
            "random_state=None."
        )
    for name, (before, now) in changes_since_fit(fitted).items():
        said.append(
            f"{name}={_brief(now)} was set after fit, which used {_brief(before)}. The "
            f"mechanism and its proof, {bound(proof.eps_proven, '.6f')}, are still those "
            "of that fit: fit again."
        )
    if reported_its_own_table(fitted):
        said.append(
            "fit_transform reported the same table that it was fitted on. The mechanism depends on "
            "every record of that table, and this dependence is not private: fit on public "
            "records, then transform private ones."
        )
    if math.exp(min(proof.eps_proven, LARGEST_EXPONENT)) > _LARGE_ODDS:
        said.append(
            f"eps = {at_most(proof.eps_proven, '.6g')} is a weak promise: one report may "
            f"change odds of 1 : 1 into {odds(proof.eps_proven)} : 1."
        )
    said += _beyond_one_report(report, getattr(fitted, "eps_all", None))
    return said


def warnings_of_design(report: ReportFigures, fitted: Any, rare_cells: str) -> list[str]:
    """Warn of the set that a mechanism was designed for, and of a design that was stopped."""
    said, promise, proof = [], report.promise, report.proof
    if proof.eps_over_set is not None:
        said.append(
            "Privacy holds at the public distribution alone, and the private records do not follow "
            f"it exactly: over a confidence set {amount(proof.eps_over_set)} can leak, where "
            f"{at_most(promise.eps, '.6g')} was asked. For comparisons, not to protect people."
        )
    if rare_cells:
        said.append(f"{_capital(rare_cells)}.")
    if report.covered.coverage == "given":
        said.append("The radius was given as a number: no confidence is attached to the set.")
    if stopped := explain_limit(fitted.solution_):
        said.append(_capital(stopped))
    return said


def _beyond_one_report(report: ReportFigures, asked: float | None) -> list[str]:
    """Warn of what a second report may tell, and a report to somebody who knows more."""
    beyond, proven = report.beyond, report.proof.eps_proven
    if asked is not None and beyond.eps_all <= asked:
        return []
    said = []
    two = beyond.eps_of_reports[2]
    if two > 2.0 * proven * (1.0 + _MORE):
        said.append(f"two reports about one record may tell {_told(two)}")
    if beyond.eps_all > proven * (1.0 + _MORE):
        said.append(
            "one report may tell an observer who knows something else about the person "
            f"{_told(beyond.eps_all)}"
        )
    if not said:
        return []
    words = ", and ".join(said)
    return [
        f"The proven eps is for one report to an observer who knows nothing else: {words}. "
        "eps_all= is a bound on both."
    ]


def _told(eps: float) -> str:
    if math.isinf(eps):
        return "the secret for certain"
    return f"up to {amount(eps)} (a factor of {odds(eps)})"


def notes_of(
    report: ReportFigures, fitted: Any, others: Collection[Any], cut: Collection[Any] = ()
) -> tuple[str, ...]:
    """Say what else is worth knowing.

    `others` are those of the mechanism, or of all blocks; `cut` the columns of numbers in bins.
    """
    said, covered, table = [], report.covered, report.table
    if fitted.survey_ is not None:
        said.append(f"The public table is {fitted.survey_.describe()}.")
    elif covered.coverage == "asymptotic":
        beta = at_most(report.beyond.beta or 0.0, ".4g")
        said.append(
            f"The radius is asymptotic: beta = {beta} is what it tends to with many "
            f"records for each cell. LikelihoodRatioSet() holds for "
            "any number."
        )
    if covered.drift:
        within = " and, as columns are known, within each of their values" * bool(
            report.promise.known
        )
        said.append(
            f"The set allows for a drift of {covered.drift:.4g} nats since the public records were "
            f"taken, for each secret{within}. That the population has changed by no more is an "
            "assumption."
        )
    if bool(report.beyond.beta) and covered.alphabet == "learned":
        said.append(
            "Rare values of U were learned from the counted records, so beta is not guaranteed. "
            "Report them as one (min_frequency='auto'), or declare them (categories=; 'dtype' for "
            "levels that were fixed in advance)."
        )
    if table.unseen_secrets:
        names = ", ".join(map(repr, table.unseen_secrets[:_SHOWN]))
        more = len(table.unseen_secrets) - _SHOWN
        beyond = f" and {more:,} more" if more > 0 else ""
        held = "the promise includes them"
        if covered.coverage != "all distributions":
            held = f"nothing is known of their conditionals; {held}, which costs utility"
        said.append(f"Secrets without public records: {names}{beyond}; {held}.")
    if table.zero_cells and covered.coverage not in (
        "all distributions",
        "public distribution",
    ):
        said.append(
            f"{table.zero_cells:,} of {table.n_cells:,} cells have no public records; the set "
            "allows for them."
        )
    if any(others):
        grouped = "that are unknown" if True in others else "that were rare in the public table"
        said.append(f"Values of U {grouped} are reported as 'other', which the promise includes.")
    if coarse := known_in_groups(fitted.mechanism_, report.promise.known, cut):
        said.append(known_by_category(coarse))
    if report.promise.observe == "nonsensitive":
        said.append("The mechanism does not see S: a report reveals S only through U.")
    if report.promise.nonsensitive:
        said.append(_about_u(report))
    return tuple(said)


def _about_u(report: ReportFigures) -> str:
    if math.isinf(report.proof.eps_record):
        return "Only S is protected: what a report reveals about U beyond S is not bounded."
    eps = report.proof.eps_record
    if eps <= report.promise.eps:
        return f"U is protected as well: a report {multiplies(eps, 'the odds of any two records')}."
    only = f"Only S is protected by eps = {at_most(report.promise.eps, '.6g')}"
    return f"{only}: a report {multiplies(eps, 'the odds of two values of U')}."
