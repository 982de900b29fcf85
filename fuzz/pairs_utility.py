"""Figures of utility at the public distribution: information, variances and margins."""

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
    deviation = getattr(sanitizer, "margin_deviation_", None)
    if deviation is not None:
        _check_margins(case, sanitizer, cells, deviation)


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


def _check_margins(case, sanitizer, cells, stated):
    """How far margins of reports are from those of the public records."""
    joint, mechanism = sanitizer.joint_, sanitizer.mechanism_
    invariant = case.parameters["invariant"]
    columns = u_columns(mechanism)
    kept = [columns] if invariant is True else [[name] for name in invariant]
    split = {
        "values": [v if isinstance(v, tuple) else (v,) for v in joint.values],
        "symbols": [v if isinstance(v, tuple) else (v,) for v in mechanism.symbols],
    }
    worst = 0.0
    for names in kept:
        places = [columns.index(name) for name in names]
        shares = {}
        for key, own, sign in (
            ("values", joint.probabilities.sum(axis=0), 1.0),
            ("symbols", cells.sum(axis=(1, 2)), -1.0),
        ):
            for value, share in zip(split[key], own, strict=True):
                part = tuple(value[place] for place in places)
                shares[part] = shares.get(part, 0.0) + sign * share
        worst = max(worst, *map(abs, shares.values()))
    _near(stated, worst, "the deviation of margins", 1e-6)
