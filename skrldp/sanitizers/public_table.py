"""The public table: counted records, and a survey's design."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from skrldp._typing import Floats
from skrldp.alphabet.numbers import Knots
from skrldp.joint import JointDistribution
from skrldp.mechanism.json_values import check_categories
from skrldp.public_summary import PublicNumbers
from skrldp.sanitizers.warnings import warn_of_few_clusters
from skrldp.sets.fitted_sets import FittedSet
from skrldp.sets.survey_effects import effective_records
from skrldp.surveys.design import SurveyDesign, SurveySummary
from skrldp.surveys.records import SurveyRecords, SurveyTotals, WeightSums, independent_part
from skrldp.table.codec import CellCodec, Codes
from skrldp.table.encoding import given_categories
from skrldp.table.numbers import summaries_of
from skrldp.table.read import Table, lazy_frame, read_table
from skrldp.table.select import (
    column_names,
    column_reader,
    is_missing,
    resolve_columns,
    row_contents,
    take_rows,
    weighted_rows,
    without_columns,
)

# In a table with repeated rows, weights may count rows that occur a few times, as after resampling;
# survey weights are in the hundreds and thousands.
_RECORDS_PER_ROW = 3
# Cells of one record among this many have a probability of 1e-12, near the smallest that linear
# programs and proofs can distinguish from 0.
_MOST_RECORDS = 10**12


UNKNOWN = ("error", "infrequent_if_exist")


def public_joint(
    codec: CellCodec, codes: Codes, weights: Callable[[int], Floats] | None, survey: Any = None
) -> JointDistribution:
    """Count the public records of each cell, with categories that clients support.

    `weights` are the counts of rows, `survey` is how they were drawn. Raises ValueError if the
    weights cannot be counts. Raises TypeError if a category is of a type that clients do not
    support.
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
    source, most_values, totals = codec.source, codec.most_values, None
    if survey is not None and survey.records is not None:
        totals = SurveyTotals.of(survey.records, cells, codec.n_cells)
        if codec.beta_of_values is not None:  # no number of dependent records is sufficient
            source, most_values = "learned", None
    return JointDistribution(
        counts,
        codec.secrets,
        codec.values,
        alphabet=source,
        most_values=most_values,
        beta_of_values=codec.beta_of_values,
        survey=totals,
    )


def public_numbers(
    X: Any, codec: CellCodec, weights: Callable[[int], Floats] | None, survey: Any
) -> tuple[PublicNumbers | None, ...] | None:
    """Summarise the numbers of columns with bins or knots; None without such columns."""
    if all(column.numbers is None for column in codec.columns):
        return None
    is_survey = survey is not None and survey.records is not None
    of_rows = survey.records.weights if is_survey else None
    if weights is not None:
        of_rows = weights(read_table(X).n_rows)
    summaries = summaries_of(X, codec.columns, of_rows, is_survey=is_survey)
    stated = tuple(None if summary is None else PublicNumbers(**summary) for summary in summaries)
    return stated if any(stated) else None


def check_weights(weights: Floats, cells: NDArray[Any]) -> None:
    """Reject weights that cannot be counts of records.

    In a table of distinct rows any counts are possible, because each states how often the row
    occurs. If rows repeat, each row is a record, and weights far above one per row state how many
    people the record represents, not the number of records, on which privacy depends.

    Shapes: `weights` (n,), integers; `cells` (n,).
    """
    seen = cells[weights > 0]
    check_counts(int(weights.sum()), len(seen), len(np.unique(seen)))


def check_counts(total: int, n_rows: int, n_distinct: int) -> None:
    """Reject weights as :func:`check_weights` does, given their sum and number."""
    if total > _MOST_RECORDS:
        raise ValueError(
            f"sample_weight sums to {total:,}, but with more than {_MOST_RECORDS:,} records the "
            "probability of a rare cell cannot be distinguished from 0. Pass the number of records "
            "of each row, not scaled weights or shares."
        )
    repeated = n_rows - n_distinct
    if repeated and total > _RECORDS_PER_ROW * n_rows:
        raise ValueError(
            f"sample_weight sums to {total:,} for {n_rows:,} rows, {repeated:,} of which duplicate "
            "others, but must be counts of records. Pass survey weights as a column: "
            "survey=SurveyDesign(weights=...)."
        )


def check_columns(sanitizer: Any, X: Any, table: Table, codec: CellCodec, *, observe: str) -> bool:
    """Compare the columns of a table with those seen in `fit`; `table` is X, read.

    Returns bool: whether the table has only the columns of U. Raises ValueError for unexpected
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
            f"{str(error).rstrip()}\nWith observe='nonsensitive', the columns of U are sufficient, "
            f"in this order: {wanted}."
        ) from error
    return False


def _warn_of_names(sanitizer: Any, names: Sequence[Any]) -> None:
    """Warn, as scikit-learn does, that columns are identified only by their order."""
    named, fitted = all(isinstance(n, str) for n in names), hasattr(sanitizer, "feature_names_in_")
    if named == fitted:
        return
    has, without = ("has", "without") if named else ("does not have valid", "with")
    warnings.warn(
        f"X {has} feature names, but {type(sanitizer).__name__} was fitted {without} feature names",
        UserWarning,
        stacklevel=5,
    )


# --- Surveys --------------------------------------------------------------------------------------


# Remedy for weights that are not counts.
WEIGHTED = "name their column in the sanitizer's survey=SurveyDesign(weights=...)"


@dataclass(frozen=True, eq=False)
class Survey:
    """A survey's records, weighted, and their description."""

    summary: SurveySummary
    records: SurveyRecords | None  # None if the remaining records are independent


def check_survey(name: str, value: Any) -> None:
    """Reject an invalid survey design."""
    if not isinstance(value, SurveyDesign | None):
        raise ValueError(
            f"{name}={value!r} must be None or a SurveyDesign, as in "
            "SurveyDesign(weights='weight', clusters='household')."
        )


def read_survey(
    sanitizer: Any, X: Any, sample_weight: Any, uncertainty: Any
) -> tuple[Any, Survey | None]:
    """Read the design of a public table; return the records, without its columns.

    For an exact set, only an independent part of the records is kept. Raises ValueError if a column
    is missing or wrong, or the design lacks what an exact set needs.
    """
    design = sanitizer.survey
    if design is None:
        return X, None
    _refuse_shared_columns(sanitizer)
    if sample_weight is not None:
        raise ValueError(
            "sample_weight= counts equal records, but survey= needs each of them: pass one row for "
            "each record, with its weight in a column of the design."
        )
    exact = getattr(uncertainty, "radius", None) == "finite-sample"
    if not exact:
        design.check_weighted()
    if lazy_frame(X) is None:
        records = design.read(column_reader(X, "survey"))
        rest = without_columns(X, design.columns, "survey")
    else:
        rest, records = _read_lazy(sanitizer, X, exact=exact)
    _refuse_missing_secrets(sanitizer, rest)
    n = records.n_records
    summary = SurveySummary(design, exact, n, n, records.n_clusters, records.degrees)
    if not exact:
        return rest, Survey(summary, records)
    if design.max_weight is None:
        label, unit = ("weight", "record")
        if design.clusters is not None:
            label, unit = "sum of weights", "cluster"
        raise ValueError(
            f"the exact set of a survey needs SurveyDesign(max_weight=...), the largest {label} "
            f"that its plan could give a {unit}. If it is unknown, use "
            "uncertainty=LikelihoodRatioSet(radius='asymptotic')."
        )
    drawn = independent_part(records, row_contents(X))
    if not drawn.any():
        raise ValueError(
            f"of {len(drawn):,} records, none was kept, because max_weight={design.max_weight} is "
            "far above their weights. Use LikelihoodRatioSet(radius='asymptotic')."
        )
    return take_rows(rest, drawn), Survey(replace(summary, n_records=int(drawn.sum())), None)


def _read_lazy(sanitizer: Any, X: Any, *, exact: bool) -> tuple[Table, SurveyRecords]:
    """Fetch the distinct rows of a lazy frame within clusters, with sums of weights."""
    design = sanitizer.survey
    needed = {
        "replicate_weights=": design.replicate_weights is not None,
        "radius='finite-sample'": exact,
        "Knots": any(isinstance(entry, Knots) for entry in _entries(sanitizer.categories)),
    }
    for label, is_asked in needed.items():
        if is_asked:
            raise ValueError(
                f"a survey with {label} needs the rows of the public table, but this is a lazy "
                "frame: collect it, with only the columns of the record and of the design."
            )
    design_columns = [name for name in design.columns if name != design.weights]
    table, sums = weighted_rows(X, design.weights, design_columns)
    assert table.records is not None
    records = design.read(column_reader(table, "survey"), WeightSums(table.records, **sums))
    return without_columns(table, design_columns, "survey"), records


def _entries(categories: Any) -> Iterable[Any]:
    """Return the entries of `categories` for single columns."""
    return categories.values() if isinstance(categories, Mapping) else categories


def _refuse_shared_columns(sanitizer: Any) -> None:
    """Reject columns that are named both for the design and for the record."""
    for parameter in ("sensitive", "observer_columns", "categories"):
        selected = getattr(sanitizer, parameter, None)
        named = selected if isinstance(selected, list | tuple | dict) else [selected]
        names = [name for name in named if isinstance(name, str)]
        if twice := [name for name in names if name in sanitizer.survey.columns]:
            raise ValueError(
                f"columns {twice} are named in both {parameter}= and survey=. A column of the "
                "design is neither S nor U: if its values are also part of the record, add a "
                "copy under a different name for the design."
            )


def _refuse_missing_secrets(sanitizer: Any, X: Any) -> None:
    """Reject records without a secret, unless missing is among the declared categories."""
    sensitive, names = sanitizer.sensitive, read_table(X).names
    given = given_categories(sanitizer.categories, names)
    for position in resolve_columns(X, slice(1) if sensitive is None else sensitive, names=names):
        listed = given[position]
        if isinstance(listed, tuple) and None in listed:
            continue
        if n_missing := int(is_missing(X, [position]).sum()):
            raise ValueError(
                f"{n_missing:,} records of the survey lack a value in the sensitive column "
                f"{names[position]!r}. Reweight others to represent them: "
                f"SurveyDesign.complete(sample, {names[position]!r}, within=[...])."
            )


def records_of(sanitizer: Any, X: Any) -> Any:
    """Return private records without the columns of a survey's design, which are optional there."""
    design = sanitizer.survey
    if design is None or lazy_frame(X) is not None:
        return X
    names = column_names(X)
    if any(isinstance(name, str) and name not in names for name in design.columns):
        return X
    n_all = sanitizer.n_features_in_ + len(design.columns)
    return without_columns(X, design.columns, "survey") if len(names) == n_all else X


def told_of_survey(
    survey: Survey | None, joint: JointDistribution, confidence_set: FittedSet, codes: Codes
) -> SurveySummary | None:
    """Return the summary, with effective numbers of records if the set depends on them.

    Warns PrivacyLeakWarning if there are too few clusters for an estimated covariance.
    """
    if survey is None or survey.records is None or confidence_set.rule != "survey":
        return None if survey is None else survey.summary
    records = survey.records
    clusters = records.clusters_of_secrets(codes.secrets, len(joint.secrets))
    warn_of_few_clusters(clusters.tolist(), joint.secrets, records.degrees)
    effective = tuple(zip(joint.secrets, effective_records(joint).tolist(), strict=True))
    return replace(
        survey.summary,
        n_records=joint.n,
        n_clusters=records.n_clusters,
        degrees=records.degrees,
        effective=effective,
    )
