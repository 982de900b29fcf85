"""By how much reports change the odds of secrets, for the display of leakage."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats

__all__ = [
    "by_column",
    "change_everywhere",
    "change_given_u",
    "change_of_pairs",
    "odds_against_others",
]


def odds_against_others(report_distribution: Floats, share: Floats) -> Floats:
    """Factor by which each report changes the odds of each secret against all others.

    Shapes: `report_distribution` (b, k); `share` (k,). Returns (b, k): NaN for a report that never
    occurs.
    """
    others = share[:, None] * (1.0 - np.eye(len(share)))
    with np.errstate(divide="ignore", invalid="ignore"):
        odds: Floats = report_distribution / (report_distribution @ (others / others.sum(axis=0)))
    return odds


def change_of_pairs(report_distribution: Floats, compared: NDArray[np.bool_] | None) -> Floats:
    """Greatest factor by which each report changes the odds of two secrets.

    Shapes: `report_distribution` (b, k); `compared` (k, k). Returns (b,): NaN for a report that
    never occurs.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if compared is None:
            worst: Floats = report_distribution.max(axis=1) / report_distribution.min(axis=1)
            return worst
        worst = np.ones(len(report_distribution))
        for s, partners in enumerate(compared):
            if partners.any():
                least = report_distribution[:, partners].min(axis=1)
                worst = np.fmax(worst, report_distribution[:, s] / least)
    return np.where(report_distribution.any(axis=1), worst, np.nan)


def change_given_u(rows: Floats) -> Floats:
    """Greatest factor by which each report changes the odds of two secrets if U is known.

    Shapes: `rows` (b, a1, a2). Returns (b,): at the worst value of U.
    """
    return _ratio(rows.max(axis=1), rows.min(axis=1)).max(axis=1)


def change_everywhere(rows: Floats) -> Floats:
    """Greatest factor by which each report changes the odds of two secrets at any distribution.

    Shapes: `rows` (b, a1, a2). Returns (b,): at the worst distribution of U given S, whatever it
    is.
    """
    most, least = rows.max(axis=2), rows.min(axis=2)
    if rows.shape[1] < 2:
        return np.ones(len(rows))
    first = least.argmin(axis=1)[:, None]
    lowest, second = np.partition(least, 1, axis=1)[:, :2].T
    of_others = np.where(first == np.arange(rows.shape[1]), second[:, None], lowest[:, None])
    return _ratio(most, of_others).max(axis=1)


def _ratio(above: Floats, below: Floats) -> Floats:
    """Divide; 0 / 0 is 1, since a report that nobody sends changes nothing."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(above > 0, above / below, 1.0)


def by_column(
    secrets: Sequence[Any], column: int, distribution: Floats, report_distribution: Floats
) -> tuple[list[Any], Floats, Floats]:
    """Sum over the other columns of S.

    Shapes: `distribution` (a1,); `report_distribution` (b, a1). Returns `secrets`: values of the
    column; `distribution` (k,): of these; `report_distribution` (b, k): 0 for values without mass.
    """
    values = list(dict.fromkeys(secret[column] for secret in secrets))
    member = np.array([[secret[column] == value for value in values] for secret in secrets], float)
    mass = distribution @ member
    joint = (report_distribution * distribution) @ member
    return values, mass, joint / np.where(mass > 0, mass, 1.0)
