"""Figures of utility at the public distribution: information and variances."""

import numpy as np
from pairs_table import FalseClaimError, probabilities, u_columns


def check_utility(case, sanitizer, report):
    """Each figure by its definition, from the integers of the mechanism."""
    joint = sanitizer.joint_
    rows = probabilities(sanitizer.mechanism_)
    cells = rows * joint.probabilities
    _near(report.mutual_information, information(cells.reshape(len(rows), -1)), "I(X;Y)")
    for s, found in enumerate(report.information_by_secret):
        own = cells[:, s]
        if own.sum() > 0 and np.isfinite(found):
            _near(found, information(own / own.sum()), f"I(U;Y|S={joint.secrets[s]})")
    if hasattr(sanitizer, "variances_"):
        _check_variances(case, sanitizer, rows)


def _near(stated, truth, what, room=1e-8):
    if not abs(stated - truth) <= room * (1 + abs(truth)):
        raise FalseClaimError(f"{what}: {stated} is stated, and it is {truth}")


def information(cells):
    """Mutual information of the two axes of a joint distribution, in nats."""
    both = np.outer(cells.sum(axis=1), cells.sum(axis=0))
    held = cells > 0
    return float((cells[held] * np.log(cells[held] / both[held])).sum())


def _check_variances(case, sanitizer, rows):
    """Asymptotic variances of shares and means, by the information matrix of a report."""
    joint = sanitizer.joint_
    law = joint.probabilities.ravel()
    flat = rows.reshape(len(rows), -1)
    means = flat @ law
    flat, means = flat[means > 0], means[means > 0]
    spread = flat / np.sqrt(means)[:, None]
    matrix = spread.T @ spread
    inverse = np.linalg.pinv(matrix, rcond=1e-10, hermitian=True)
    for target, stated in zip(sanitizer.targets_, sanitizer.variances_, strict=True):
        function = _function(case, sanitizer, target)
        if function is None or not np.isfinite(stated):
            continue
        if abs(matrix @ (inverse @ function) - function).max() > 1e-6:
            continue  # hardly determined: rounding decides
        truth = function @ inverse @ function - (function @ law) ** 2
        _near(stated, truth, f"the variance of {target}", 1e-5)


def _function(case, sanitizer, target):
    """The linear function of a share or a mean, over cells; None for others."""
    joint = sanitizer.joint_
    names = [*case.sensitive, *u_columns(sanitizer.mechanism_)]
    records = []
    for s in joint.secrets:
        for u in joint.values:
            parts = (*(s if isinstance(s, tuple) else (s,)), *(u if isinstance(u, tuple) else (u,)))
            records.append(dict(zip(names, parts, strict=True)))
    if len(target) != 2:
        return None
    columns, category = target
    if columns == "mean":
        return np.array([float(record[category]) for record in records])
    if not isinstance(columns, tuple):
        return None
    wanted = category if len(columns) > 1 else (category,)
    try:
        found = [tuple(record[name] for name in columns) == tuple(wanted) for record in records]
    except (KeyError, TypeError):
        return None
    return np.array(found, dtype=float)
