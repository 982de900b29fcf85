"""The coefficients that solve the weighted score equations of a family."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linprog

from skrldp._typing import Floats
from skrldp.regression._families import Family

__all__ = ["check_collinear", "check_separated", "solve"]

_STEPS, _HALVINGS = 100, 40
_DONE = 1e-22  # squared length of a Newton step, in the metric of the information
_DEPENDENT = 1e-9  # relative to the largest diagonal entry of R
_APART = 1e-7


def solve(
    regressors: Floats, outcomes: Floats, weights: Floats, family: Family
) -> tuple[Floats, Floats]:
    """Solve ``sum_i w_i x_i (y_i - mean(x_i' b)) = 0`` by Newton's method with halved steps.

    Shapes: regressors (g, p), outcomes (g, j), weights (g,) with sum 1. Returns the coefficients
    (p, j) and the inverse of minus the derivative of the score, (j * p, j * p), coefficients of one
    predictor side by side.
    """
    scale = np.abs(regressors).max(axis=0)
    scaled = regressors / scale
    n_outcomes = outcomes.shape[1]
    found = np.zeros((scaled.shape[1], n_outcomes))
    predictors = scaled @ found
    value = _value(predictors, outcomes, weights, family)
    for _ in range(_STEPS):
        residuals = weights[:, None] * (outcomes - family.mean(predictors))
        score = (scaled.T @ residuals).T.ravel()
        information = _information(scaled, weights, family.variance(predictors))
        step = np.linalg.solve(information, score)
        if step @ score <= _DONE:
            break
        for halving in range(_HALVINGS):
            tried = found + step.reshape(n_outcomes, -1).T * 0.5**halving
            of_tried = _value(scaled @ tried, outcomes, weights, family)
            if of_tried >= value:
                break
        else:  # no step gains anything in floating point
            break
        found, predictors, value = tried, scaled @ tried, of_tried
    information = _information(scaled, weights, family.variance(predictors))
    scales = np.tile(scale, n_outcomes)
    return found / scale[:, None], np.linalg.inv(information) / np.outer(scales, scales)


def _value(predictors: Floats, outcomes: Floats, weights: Floats, family: Family) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        terms = (outcomes * predictors).sum(axis=1) - family.cumulant(predictors)
        return float(weights @ terms)


def _information(regressors: Floats, weights: Floats, variance: Floats) -> Floats:
    weighted = weights[:, None, None] * variance
    blocks = np.einsum("gi,gjk,gl->jikl", regressors, weighted, regressors, optimize=True)
    size = regressors.shape[1] * variance.shape[1]
    return np.asarray(blocks).reshape(size, size)


def check_collinear(regressors: Floats, weights: Floats, names: Sequence[str]) -> None:
    """Raise a ValueError that names the columns which others determine.

    Shapes: regressors (g, p), weights (g,) positive.
    """
    empty = [name for name, column in zip(names, regressors.T, strict=True) if not column.any()]
    if empty:
        raise ValueError(
            f"{_listed(empty)}: 0 in every record that the reports let expect, so that the "
            "coefficient says nothing. Leave the column out, or join its category with another."
        )
    scaled = regressors / np.abs(regressors).max(axis=0)
    diagonal, order = qr(np.sqrt(weights)[:, None] * scaled, mode="r", pivoting=True)
    size = np.zeros(len(names))
    known = np.abs(np.diag(diagonal))
    size[: len(known)] = known
    dependent = sorted(order[size <= _DEPENDENT * size.max()])
    if dependent:
        raise ValueError(
            f"the columns are collinear: {_listed([names[k] for k in dependent])} follows from the "
            "others. Leave it out of the formula."
        )


def check_separated(
    regressors: Floats, outcomes: Floats, family: Family, names: Sequence[tuple[str, ...]]
) -> None:
    """Raise a ValueError if some coefficients are infinite, as the data are separated.

    A direction along which the likelihood never falls is found by a linear program (Konis 2007).

    Shapes: regressors (g, p), outcomes (g, j), of records with positive weights; `names` of the
    coefficients, those of one predictor side by side.
    """
    n_outcomes = outcomes.shape[1]
    rows, equal = [], []
    if family.of_categories:
        every = np.concatenate([1.0 - outcomes.sum(axis=1, keepdims=True), outcomes], axis=1)
        for record, own in zip(regressors, every, strict=True):
            rows += _against_others(record, int(own.argmax()), n_outcomes)
    else:  # the mean of counts may be as near 0 as they are
        rows = [-record for record in regressors[outcomes[:, 0] == 0.0]]
        equal = list(regressors[outcomes[:, 0] > 0.0])
    if not rows:
        return
    matrix = np.array(rows)
    found = linprog(
        -matrix.sum(axis=0),
        A_ub=-matrix,
        b_ub=np.zeros(len(matrix)),
        A_eq=np.array(equal) if equal else None,
        b_eq=np.zeros(len(equal)) if equal else None,
        bounds=(-1.0, 1.0),
        method="highs",
    )
    if found.status == 0 and -found.fun > _APART * max(1.0, np.abs(matrix).max()):
        moved = [":".join(names[int(k)]) for k in np.flatnonzero(np.abs(found.x) > _APART)]
        raise ValueError(
            f"separation: the estimated records are fitted best by infinite coefficients of "
            f"{_listed(moved)}. Leave them out, or join categories with few records."
        )


def _against_others(record: Floats, own: int, n_outcomes: int) -> list[Floats]:
    """How the predictor of a record's category exceeds the others', by the coefficients."""
    found = []
    for other in range(n_outcomes + 1):
        if other != own:
            row = np.zeros((n_outcomes, len(record)))
            if own:
                row[own - 1] += record
            if other:
                row[other - 1] -= record
            found.append(row.ravel())
    return found


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
