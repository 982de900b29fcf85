"""Public records, counted; private ones: their columns."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from skrldp._typing import Floats
from skrldp.joint import JointDistribution
from skrldp.mechanism import check_categories
from skrldp.surveys import SurveyTotals
from skrldp.table import CellCodec, Codes, Table

__all__ = ["UNKNOWN", "check_columns", "check_weights", "public_joint"]

# In a table whose rows repeat, weights may state that some rows were seen a few times, as after
# resampling; survey weights are in the hundreds and thousands.
_RECORDS_PER_ROW = 3
# Cells of one record among so many have a probability of 1e-12, near what linear programs and
# proofs can tell from none.
_MOST_RECORDS = 10**12


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


def check_weights(weights: Floats, cells: NDArray[Any]) -> None:
    """Refuse weights that cannot be counts of records.

    In a table of distinct rows any counts are possible: each states how often the row occurs. Where
    rows repeat, each row is one record, and weights far above one per row state how many people the
    record represents, not how many records there are, on which privacy depends.

    Shapes: `weights` (n,), whole numbers; `cells` (n,).
    """
    total, seen = int(weights.sum()), cells[weights > 0]
    if total > _MOST_RECORDS:
        raise ValueError(
            f"sample_weight sums to {total:,}, but at most {_MOST_RECORDS:,} records can be told "
            "from a rare cell. Give the number of records of each row, not weights or shares on a "
            "large scale."
        )
    if total <= _RECORDS_PER_ROW * len(seen):
        return
    repeated = len(seen) - len(np.unique(seen))
    if repeated:
        raise ValueError(
            f"sample_weight sums to {total:,} for {len(seen):,} rows, {repeated:,} of which "
            "repeat others. Weights must be counts: how many records of the public table a row "
            "stands for. If they are, pass a table of distinct rows: add up the counts of "
            "equal rows first (in pandas, table.value_counts(dropna=False) of all records, or "
            "table.groupby(columns, dropna=False)['count'].sum()). Survey weights, which say how "
            "many people a record represents, are a column of the table: "
            "survey=SurveyDesign(weights=...). Taken for counts, they would make the set of "
            "distributions far too small."
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
