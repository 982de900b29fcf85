"""How much reports tell about each group of people: those with the same secret."""

from typing import Any

import numpy as np

from skrldp._sentences import series
from skrldp.information import shares_of_entropy
from skrldp.statement._parts import ReportFigures

__all__ = ["figures_by_secret", "lines_by_secret", "warnings_by_secret"]

_ALL_SHOWN = 8  # secrets; of more, the two extremes are shown
_NAMED = 5  # secrets in a warning
_LITTLE = 0.5  # of the share over all records: groups below it are warned of
_NOTHING = 5e-4  # a share over all records below it is written as 0.0%


def figures_by_secret(fitted: Any) -> dict[str, Any]:
    """Return figures about each secret, by the names of :class:`Utility`'s fields."""
    joint, told = fitted.joint_, fitted.information_by_secret_
    shares, whole = shares_of_entropy(told, joint.people)
    return {
        "information_by_secret": told,
        "normalized_information_by_secret": shares,
        "normalized_information_given_secret": whole,
    }


def lines_by_secret(report: ReportFigures) -> list[tuple[str, str]]:
    """State the information about each secret, or about the two extremes of many secrets.

    Returns list of (str, str): lines with their labels; none if there is nothing to tell about any
    secret.
    """
    share = report.utility.normalized_information_by_secret
    order = np.argsort(-share, kind="stable")  # the best first, NaN last
    order = order[~np.isnan(share[order])]
    if not len(order):
        return []
    whole = f"{report.utility.normalized_information_given_secret:.1%}"
    said = f"I(U;Y|S=s) is {whole} of H(U|S=s) over all records"
    if len(order) <= _ALL_SHOWN:
        said += f": {series([_named(report, place) for place in order])}"
    else:
        worst, best = _named(report, order[-1]), _named(report, order[0])
        said += (
            f"; the least of {len(order):,} secrets is {worst}, the greatest {best}, and half of "
            f"them have at least {np.median(share[order]):.1%}"
        )
    without = len(share) - len(order)
    if without:
        said += f"; {without:,} of the secrets have at most one value of U, so nothing can be told"
    return [("by secret", said)]


def warnings_by_secret(report: ReportFigures) -> list[str]:
    """Warn of reports that tell nothing about U, or less than half of the average about a secret.

    Returns list of str: at most one.
    """
    share, whole = (
        report.utility.normalized_information_by_secret,
        report.utility.normalized_information_given_secret,
    )
    if whole < _NOTHING:
        n_values = report.table.shape[1]
        return [
            f"Reports tell next to nothing about U: {whole:.1%} of H(U|S=s). U has {n_values:,} "
            "values; with fewer, by bins or groups, or with another sanitizer, reports tell more."
        ]
    poor = np.flatnonzero(share < _LITTLE * whole)
    if not len(poor):
        return []
    poor = poor[np.argsort(share[poor], kind="stable")]
    names = [_named(report, place) for place in poor[:_NAMED]]
    if len(poor) > _NAMED:
        names.append(f"{len(poor) - _NAMED:,} more")
    return [
        f"Reports tell little about some groups: {whole:.1%} of H(U|S=s) is told over all records, "
        f"but {series(names)}. Figures for all records hide this: see "
        "normalized_information_by_secret_."
    ]


def _named(report: ReportFigures, place: int) -> str:
    share = report.utility.normalized_information_by_secret[place]
    records = report.table.records_by_secret[place]
    return f"{share:.1%} for {report.table.secrets[place]!r} ({records:,} records)"
