"""Replacements of a public table: counted private reports, or the categories alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skrldp._params import is_whole
from skrldp._typing import Floats, Indices
from skrldp.alphabet.categories import listed
from skrldp.certificate import cells_by_record, counted_for
from skrldp.joint import CountedReports, JointDistribution
from skrldp.mechanism.mechanism import Mechanism
from skrldp.table.select import resolve_columns

_STEPS = 500  # EM steps towards the most likely distribution; 100 or 2,000 lead to the same designs


@dataclass(frozen=True, eq=False)
class Pilot:
    """The counted reports of a mechanism, and the columns of the design's records."""

    mechanism: Mechanism
    counts: Indices  # (b,)
    order: tuple[Any, ...]  # columns of the mechanism, in the order of the records
    names: tuple[Any, ...]  # their names in the records

    @property
    def rows(self) -> Any:
        """A table with a row for each cell."""
        return table_of(list(cells_by_record(self.mechanism, self.order)), self.names)


def in_place_of_table(
    sanitizer: Any, X: Any, sample_weight: Any, uncertainty: Any
) -> tuple[Any, tuple[CountedReports, ...] | None]:
    """Return a row for each cell, and the reports, if no public table is given.

    A table is returned unchanged, with None. Raises ValueError for parameters that need its
    records, for weighted reports, and for mechanisms with different cells.
    """
    pilots = pilots_of(X)
    if X is not None and pilots is None:
        return X, None
    needs = {
        "sample_weight": sample_weight is not None,
        "survey": sanitizer.survey is not None,
        "observer_columns": getattr(sanitizer, "observer_columns", None) not in (None, [], ()),
        "min_frequency": sanitizer.min_frequency is not None,
        "handle_unknown='infrequent_if_exist'": sanitizer.handle_unknown != "error",
    }
    if required := [name for name, is_required in needs.items() if is_required]:
        raise ValueError(
            f"{required[0]} needs the records of a public table, but there is none: omit it."
        )
    if pilots is None:
        return _all_cells(sanitizer, uncertainty), ()
    like = pilots[0].mechanism
    reports = tuple(counted_for(pilot.mechanism, pilot.counts, like) for pilot in pilots)
    return pilots[0].rows, reports


def pilots_of(X: Any) -> list[Pilot] | None:
    """Return the counted reports of fitted estimators, or of a list of them; None for a table."""
    estimators = X if isinstance(X, list | tuple) and any(map(_is_estimator, X)) else [X]
    if not _is_estimator(estimators[0]):
        return None
    if isinstance(estimators[0], Pilot):
        return list(estimators)
    return [pilot for estimator in estimators for pilot in _counted(estimator)]


def _is_estimator(X: Any) -> bool:
    """Whether it is an estimator, or the reports that an estimator counted."""
    # Ask the type, because a frame of Spark Connect appears to have every attribute.
    return isinstance(X, Pilot) or (hasattr(X, "mechanism") and hasattr(type(X), "fit"))


def _counted(estimator: Any) -> list[Pilot]:
    """Return the reports of the estimator's mechanism, or of each mechanism of its manifest."""
    check_is_fitted(estimator)
    if getattr(estimator, "survey", None) is not None:
        raise ValueError(
            "the reports have survey weights, for which there are no exact bounds. Pass unweighted "
            "reports."
        )
    is_manifest = hasattr(estimator, "manifest_")
    mechanisms = estimator.manifest_.mechanisms if is_manifest else [estimator.mechanism_]
    counts = estimator.counts_ if is_manifest else [estimator.counts_]
    pilots = []
    for mechanism, of_symbols in zip(mechanisms, counts, strict=True):
        if mechanism.others is not None or mechanism.numbers is not None:
            raise ValueError(
                "the mechanism groups values as 'other', or its columns have Bins or Knots, but "
                "private reports can replace a public table only if categories= lists all values."
            )
        names = tuple(name for name, _ in mechanism.columns)
        pilots.append(Pilot(mechanism, of_symbols, names, names))
    return pilots


def listed_categories(categories: Any) -> tuple[list[Any], list[list[Any]]]:
    """Return the columns' names, or their positions, and the values of each column."""
    lists = categories.values() if isinstance(categories, dict) else categories
    if isinstance(categories, str) or not all(isinstance(values, list | tuple) for values in lists):
        raise ValueError(
            "without a public table, categories= must list the values of each column, by name or "
            "in the columns' order."
        )
    names = list(categories) if isinstance(categories, dict) else list(range(len(categories)))
    return names, [*map(list, lists)]


def blank_table(pilots: Sequence[Pilot], categories: Any) -> Any:
    """Make a table of one row without values, with the columns of categories and of reports."""
    has_categories = not pilots or not isinstance(categories, str)
    names = listed_categories(categories)[0] if has_categories else []
    names = list(dict.fromkeys([*names, *(name for pilot in pilots for name in pilot.order)]))
    if all(map(is_whole, names)):
        names.sort()
    return table_of([(None,) * len(names)], names)


def pilots_of_block(
    pilots: Sequence[Pilot], columns: Sequence[Any], names: Sequence[Any]
) -> list[Pilot]:
    """Return the reports about exactly these columns, for a table with the names `names`."""
    of_block = [
        replace(pilot, order=tuple(columns), names=tuple(names))
        for pilot in pilots
        if set(pilot.order) == set(columns) and pilot.counts.any()
    ]
    if not of_block:
        raise ValueError(
            f"no block of reports has exactly the columns [{listed(columns)}]: add these columns, "
            "including the sensitive ones, as a block to the pilot's blocks=."
        )
    return of_block


def _all_cells(sanitizer: Any, uncertainty: Any) -> Any:
    """Make a row for each combination of the given categories."""
    names, lists = listed_categories(sanitizer.categories)
    rows = table_of(list(product(*lists)), names)
    sensitive = slice(1) if sanitizer.sensitive is None else sanitizer.sensitive
    of_secret = resolve_columns(rows, sensitive, names=names)
    if len(of_secret) < len(names) and hasattr(uncertainty, "beta"):
        raise ValueError(
            "without a public table or reports, no set smaller than all distributions is known: "
            "pass sensitive=slice(None), or uncertainty=AllDistributions(), or call fit(reports)."
        )
    return rows


def table_of(rows: Sequence[tuple[Any, ...]], names: Sequence[Any]) -> Any:
    """Make a table: a data frame if columns have names, otherwise an array."""
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

    Shapes: `cells` (a,), the cell of each row. Without reports, all cells are equally likely.
    """
    if len(cells) != joint.counts.size or len(np.unique(cells)) != joint.counts.size:
        raise ValueError(
            "the reports are about different combinations of categories: pass the same "
            "categories=, with all combinations."
        )
    order = np.argsort(cells)
    sources = tuple(replace(pilot, matrix=pilot.matrix[:, order]) for pilot in reports)

    def with_counts(counts: Floats) -> JointDistribution:
        table, names = counts.reshape(joint.counts.shape), (joint.secrets, joint.values)
        return JointDistribution(table, *names, alphabet="declared", reports=sources)

    uniform = with_counts(np.ones(len(cells)))
    if not uniform.n:
        return uniform
    distribution = uniform.probabilities.ravel()
    for _ in range(_STEPS):
        slope = np.zeros(len(cells))
        for pilot in sources:
            expected = np.where(pilot.counts > 0, pilot.matrix @ distribution, 1.0)
            slope += (pilot.counts / expected) @ pilot.matrix
        distribution = distribution * slope / uniform.n
    return with_counts(np.rint(uniform.n * distribution))
