"""Public records, counted; private ones: their columns."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from skrldp._typing import Floats
from skrldp.joint import JointDistribution
from skrldp.mechanism import check_categories
from skrldp.sanitizers._checks import check_weights
from skrldp.surveys import SurveyTotals
from skrldp.table import CellCodec, Codes, Table

__all__ = ["UNKNOWN", "check_columns", "public_joint"]

UNKNOWN = ("error", "infrequent_if_exist")


def public_joint(
    codec: CellCodec,
    codes: Codes,
    weights: Callable[[int], Floats] | None,
    survey: Any = None,
) -> JointDistribution:
    """Count the public records of each cell, of categories that clients can have.

    `weights` gives the counts of so many rows, `survey` how they were drawn. Raises ValueError if
    the weights cannot be counts. Raises TypeError if a category is of a type that no client could
    have.
    """
    for column in codec.columns:
        check_categories(f"column {column.name!r}", (*column.categories, *column.infrequent))
    cells = codes.cells(codec.n_values)
    counted = codes.counted
    if weights is not None:
        rows = cells if codes.rows is None else codes.rows
        of_rows = weights(len(rows))
        check_weights(of_rows, rows)
        counted = of_rows if counted is None else counted
    counts = np.bincount(cells, counted, codec.n_cells).reshape(codec.n_secrets, codec.n_values)
    source, most, totals = codec.source, codec.most_values, None
    if survey is not None and survey.records is not None:
        totals = SurveyTotals.of(survey.records, cells, codec.n_cells)
        if source == "frequent":  # no number of dependent records is known to be enough
            source, most = "learned", None
    return JointDistribution(
        counts,
        codec.secrets,
        codec.values,
        alphabet=source,
        most_values=most,
        beta_of_values=codec.beta_of_values,
        survey=totals,
    )


def check_columns(sanitizer: Any, X: Any, table: Table, codec: CellCodec, *, observe: str) -> bool:
    """Compare the columns of a table with those seen in `fit`; `table` is X, read.

    Returns bool: whether the table has the columns of U alone. Raises ValueError if it has other
    columns.
    """
    if observe == "nonsensitive" and codec.holds_values_only(table):
        _warn_of_names(sanitizer, table.names)
        return True
    try:
        validate_data(sanitizer, X, skip_check_array=True, reset=False)
    except ValueError as error:
        if observe == "all":
            raise
        wanted = [codec.columns[position].name for position in codec.nonsensitive]
        if not all(isinstance(name, str) for name in wanted):
            wanted = [f"x{name}" for name in wanted]
        raise ValueError(
            f"{str(error).rstrip()}\nWith observe='nonsensitive', those of U alone suffice, in "
            f"this order: {wanted}."
        ) from error
    return False


def _warn_of_names(sanitizer: Any, names: Sequence[Any]) -> None:
    """Warn, as scikit-learn does, that columns are identified by their order alone."""
    named, fitted = all(isinstance(n, str) for n in names), hasattr(sanitizer, "feature_names_in_")
    if named == fitted:
        return
    has, without = ("has", "without") if named else ("does not have valid", "with")
    warnings.warn(
        f"X {has} feature names, but {type(sanitizer).__name__} was fitted {without} feature names",
        UserWarning,
        stacklevel=5,
    )
