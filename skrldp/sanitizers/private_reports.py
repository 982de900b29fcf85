"""What replaces a public table: private reports that were counted, or the categories alone."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skrldp._typing import Floats, Indices
from skrldp.certificate import cells_by_record, counted_for
from skrldp.joint import CountedReports, JointDistribution
from skrldp.mechanism.mechanism import Mechanism
from skrldp.table.select import resolve_columns

_STEPS = 500  # of EM towards the most likely distribution; 100 or 2,000 give the same designs


def in_place_of_table(
    sanitizer: Any, X: Any, sample_weight: Any, uncertainty: Any
) -> tuple[Any, tuple[CountedReports, ...] | None]:
    """Return a row for each cell, and the reports, where these or nothing replace a public table.

    A table is returned as it is, with None. Raises ValueError for parameters that need its records,
    and for reports that were weighted, or are of mechanisms with different cells.
    """
    estimators = X if isinstance(X, list | tuple) and any(map(_is_estimator, X)) else [X]
    if X is not None and not _is_estimator(estimators[0]):
        return X, None
    needs = {
        "sample_weight": sample_weight is not None,
        "survey": sanitizer.survey is not None,
        "known": getattr(sanitizer, "known", None) not in (None, [], ()),
        "min_frequency": sanitizer.min_frequency is not None,
        "handle_unknown='infrequent_if_exist'": sanitizer.handle_unknown != "error",
    }
    if asked := [name for name, is_asked in needs.items() if is_asked]:
        raise ValueError(f"{asked[0]} needs the records of a public table: leave it out.")
    if X is None:
        return _all_cells(sanitizer, uncertainty), ()
    found = [_counted(one) for one in estimators]
    first = found[0][0]
    reports = tuple(counted_for(*one, first) for one in found)
    return _frame(list(cells_by_record(first)), [name for name, _ in first.columns]), reports


def _is_estimator(X: Any) -> bool:
    """Whether it is an estimator of frequencies from reports."""
    return hasattr(X, "mechanism") and hasattr(X, "fit")


def _counted(estimator: Any) -> tuple[Mechanism, Any]:
    """Return the mechanism and the number of reports of each kind."""
    check_is_fitted(estimator)
    mechanism: Mechanism = estimator.mechanism_
    if estimator.survey is not None:
        raise ValueError("the reports have survey weights, for which no exact bounds exist.")
    if mechanism.others is not None or mechanism.numbers is not None:
        raise ValueError(
            "the mechanism groups values as 'other', or its columns have Bins or Knots: private "
            "reports replace a public table only where categories= lists all values."
        )
    return mechanism, estimator.counts_


def _all_cells(sanitizer: Any, uncertainty: Any) -> Any:
    """Make a row for each combination of the given categories."""
    given = sanitizer.categories
    lists = given.values() if isinstance(given, dict) else given
    if isinstance(given, str) or not all(isinstance(one, list | tuple) for one in lists):
        raise ValueError(
            "without a public table categories= must list the values of each column, by name or in "
            "the columns' order."
        )
    names = list(given) if isinstance(given, dict) else list(range(len(given)))
    rows = _frame(list(product(*(list(one) for one in lists))), names)
    sensitive = slice(1) if sanitizer.sensitive is None else sanitizer.sensitive
    of_secret = resolve_columns(rows, sensitive, names=names)
    if len(of_secret) < len(names) and hasattr(uncertainty, "beta"):
        raise ValueError(
            "without a public table or reports there is no set smaller than all distributions: "
            "pass sensitive=slice(None), or uncertainty=AllDistributions(), or call fit(reports)."
        )
    return rows


def _frame(rows: Sequence[tuple[Any, ...]], names: Sequence[Any]) -> Any:
    """Make a table: a data frame if columns have names, else an array."""
    if list(names) == list(range(len(names))):
        table = np.empty((len(rows), len(names)), dtype=object)
        table[:] = rows
        return table
    import pandas as pd

    return pd.DataFrame(rows, columns=list(names))


def estimated_joint(
    joint: JointDistribution, cells: Indices, reports: tuple[CountedReports, ...]
) -> JointDistribution:
    """Return the most likely distribution of the cells, given the reports.

    Shapes: `cells` (a,), the cell of each row that stands for one. Without reports, all cells are
    equally likely.
    """
    if len(cells) != joint.counts.size or len(np.unique(cells)) != joint.counts.size:
        raise ValueError(
            "the reports are about other combinations of categories: pass the same categories=, "
            "and leave out no combination."
        )
    order = np.argsort(cells)
    sources = tuple(replace(one, matrix=one.matrix[:, order]) for one in reports)
    joint = replace_counts(joint, np.ones(len(cells)), sources)
    if not joint.n:
        return joint
    distribution = np.full(len(cells), 1.0 / len(cells))
    for _ in range(_STEPS):
        slope = np.zeros(len(cells))
        for one in sources:
            expected = one.matrix @ distribution
            slope += (
                np.divide(one.counts, expected, out=np.zeros(len(expected)), where=one.counts > 0)
                @ one.matrix
            )
        distribution = distribution * slope / joint.n
    return replace_counts(joint, np.rint(joint.n * distribution), sources)


def replace_counts(
    joint: JointDistribution, counts: Floats, reports: tuple[CountedReports, ...]
) -> JointDistribution:
    """Return a distribution with the same alphabets."""
    return JointDistribution(
        counts.reshape(joint.counts.shape),
        joint.secrets,
        joint.values,
        alphabet="declared",
        reports=reports,
    )
