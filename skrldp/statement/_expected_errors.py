"""What estimates from reports are worth: standard errors per 10,000 reports, in the report."""

import math
from typing import Any

import numpy as np

from skrldp._pages import Table
from skrldp._typing import Floats
from skrldp.estimation import expected_std_error
from skrldp.mechanism.mechanism import Mechanism
from skrldp.statement._parts import ReportFigures
from skrldp.targets import target_in_words

__all__ = [
    "N_REPORTS",
    "error_tables",
    "error_warnings",
    "expected_errors",
    "expected_errors_of_columns",
]

N_REPORTS = 10_000
_TARGET, _MOST_TARGETS = "target: ", 50
_USELESS = 1.0  # error of a share beyond which its estimate tells nothing
# Multiplications beyond which a matrix is not decomposed here; that takes one or two seconds.
_MOST_WORK = 5e8


def expected_errors(fitted: Any) -> dict[str, dict[str, float]]:
    """Summarise the standard errors of unbiased estimates of shares of U, of S, and by columns.

    The share of a column's category is a sum of shares of values, whose errors can add up.

    Returns dict: for "U" and "S", and for each column where they have several, the "worst" and the
    "median" error at the public distribution, infinite where the reports do not determine a share,
    and how many shares are "not_determined" "of" how many. Empty if the matrix is too large to be
    decomposed here.
    """
    mechanism: Mechanism = fitted.mechanism_
    blocks = mechanism.form.blocks is not None
    b, a = mechanism.shape
    if not blocks and float(a) * b * min(a, b) > _MOST_WORK:
        return {}
    wanted: dict[str, tuple[Any, str]] = {}
    for part, kind, sensitive in (("U", "nonsensitive", False), ("S", "sensitive", True)):
        names = [name for name, flag in mechanism.columns if flag is sensitive]
        if not names:  # nothing is left of U
            continue
        wanted[part] = None, kind
        if len(names) > 1:
            wanted |= {f"column {name!r}": (name, "all") for name in names}
    found = {}
    for name, (columns, part) in wanted.items():
        found[name] = _summary(expected_std_error(fitted, N_REPORTS, columns, part=part))
    return found | _of_targets(fitted)


def _of_targets(fitted: Any) -> dict[str, dict[str, float]]:
    """Return the errors of the targets that a design was asked for by name."""
    if isinstance(getattr(fitted, "targets", None), str | None):
        return {}
    errors = np.sqrt(fitted.variances_ / N_REPORTS)[:_MOST_TARGETS, None]
    return {
        f"{_TARGET}{target_in_words(name)}": _summary(error)
        for name, error in zip(fitted.targets_, errors, strict=False)
    }


def expected_errors_of_columns(sanitizer: Any) -> dict[str, dict[str, float]]:
    """Summarise the errors of S and of each column of U, from the reports of all blocks."""
    manifest = sanitizer.manifest_
    names = [column.name for column in manifest.encoders]
    wanted: dict[str, tuple[Any, str]] = {f"column {name!r}": (name, "all") for name in names}
    if manifest.in_every_block:
        wanted = {"S": (None, "sensitive"), **wanted}
    return {
        name: _summary(expected_std_error(sanitizer, N_REPORTS, columns, part=part))
        for name, (columns, part) in wanted.items()
    }


def _summary(errors: Floats) -> dict[str, float]:
    return {
        "worst": float(errors.max()),
        "median": float(np.quantile(errors, 0.5, method="higher")),
        "not_determined": int(np.isinf(errors).sum()),
        "of": len(errors),
    }


def error_tables(report: ReportFigures) -> list[Table]:
    """State the errors in a table, or nothing if they are not known."""
    rows = []
    for name, found in report.utility.expected_errors.items():
        unknown, of = found["not_determined"], found["of"]
        lacks = f"{unknown:,} of {of:,} are not determined" if unknown else ""
        label = name if name.startswith(_TARGET) else f"shares of {name}"
        rows.append((label, _error(found["median"]), _error(found["worst"]), lacks))
    if not rows:
        return []
    title = f"Standard errors from {N_REPORTS:,} reports (unbiased)"
    return [(title, ("", "median", "worst", ""), rows)]


def _error(value: float) -> str:
    return f"{value:.2g}" if math.isfinite(value) else "none"


def error_warnings(report: ReportFigures) -> list[str]:
    """Warn of shares that reports do not determine, or that they tell nothing about.

    That a mechanism which does not see S does not determine its shares is no surprise, and stands
    in a note.
    """
    said, names = [], list(report.utility.expected_errors)
    blind = report.promise.observe == "nonsensitive"
    unseen = names[names.index("S") :] if blind and names else []  # S, and its columns
    for name, found in report.utility.expected_errors.items():
        if name.startswith(_TARGET):  # `fit` warns of these, which are no shares of a category
            continue
        if found["not_determined"]:
            if name in unseen:
                continue
            which = f"{found['not_determined']:,} of the {found['of']:,}"
            said.append(
                f"Reports do not determine the share of {which} categories of {name}, however "
                "many reports there are: other sanitizers are needed to estimate them."
            )
        elif found["worst"] > _USELESS:
            said.append(
                f"{N_REPORTS:,} reports tell nothing about the share of some category of {name}: "
                f"the standard error of an unbiased one is {found['worst']:.2g}. "
                "expected_std_error says how sanitizers differ in this, smallest_n how many "
                "reports it takes."
            )
    return said
