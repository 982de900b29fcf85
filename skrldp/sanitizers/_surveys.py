"""Public tables that are surveys: their design, apart from the records."""

from dataclasses import dataclass, replace
from typing import Any

from skrldp.joint import JointDistribution
from skrldp.sanitizers._warnings import warn_of_few_clusters
from skrldp.sets import FittedSet, effective_records
from skrldp.surveys import (
    SurveyDesign,
    SurveyRecords,
    SurveySummary,
    WeightSums,
    independent_part,
)
from skrldp.table import (
    Codes,
    Table,
    column_names,
    column_reader,
    is_missing,
    lazy_frame,
    read_table,
    resolve_columns,
    row_contents,
    take_rows,
    weighted_rows,
    without_columns,
)

__all__ = ["WEIGHTED", "Survey", "check_survey", "read_survey", "records_of", "told_of_survey"]

# What to do with weights that are no counts.
WEIGHTED = "give sanitizers survey=SurveyDesign(weights=...), with a column of them"


@dataclass(frozen=True, eq=False)
class Survey:
    """A survey's records, weighted, and what is told of them."""

    summary: SurveySummary
    records: SurveyRecords | None  # None: those kept are independent


def check_survey(sanitizer: Any) -> None:
    """Refuse what is no survey's design."""
    if not isinstance(sanitizer.survey, SurveyDesign | None):
        raise ValueError(
            f"survey={sanitizer.survey!r} must be None or a SurveyDesign, as in "
            "SurveyDesign(weights='weight', clusters='household')."
        )


def read_survey(
    sanitizer: Any, X: Any, sample_weight: Any, uncertainty: Any
) -> tuple[Any, Survey | None]:
    """Read the design of a public table; return the records, without its columns.

    For an exact set an independent part of the records is kept, and they are as any others. Raises
    ValueError if a column is missing or wrong, or the design lacks what an exact set needs.
    """
    design = sanitizer.survey
    if design is None:
        return X, None
    _refuse_shared_columns(sanitizer)
    if sample_weight is not None:
        raise ValueError(
            "sample_weight= are counts of equal records, and survey= is about single ones: give "
            "one row for each record, with its weight in a column of the design."
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
        what, whose = ("weight", "record")
        if design.clusters is not None:
            what, whose = "sum of weights", "cluster"
        raise ValueError(
            f"the exact set of a survey needs SurveyDesign(max_weight=...): the greatest {what} "
            f"that its plan could give a {whose}, not the greatest of the table. If that is not "
            "known, take uncertainty=LikelihoodRatioSet(radius='asymptotic')."
        )
    kept = independent_part(records, row_contents(X))
    if not kept.any():
        raise ValueError(
            f"of {len(kept):,} records none was kept, as max_weight={design.max_weight} is far "
            "above their weights. Use LikelihoodRatioSet(radius='asymptotic')."
        )
    return take_rows(rest, kept), Survey(replace(summary, n_records=int(kept.sum())), None)


def _read_lazy(sanitizer: Any, X: Any, *, exact: bool) -> tuple[Table, SurveyRecords]:
    """Bring a lazy frame's distinct rows within clusters, with sums of weights."""
    design = sanitizer.survey
    needed = {
        "replicate_weights=": design.replicate_weights is not None,
        "radius='finite-sample'": exact,
    }
    for what, is_asked in needed.items():
        if is_asked:
            raise ValueError(
                f"a survey with {what} needs the rows of the public table, and this is a lazy "
                "frame: collect it, with the columns of the record and of the design alone."
            )
    others = [name for name in design.columns if name != design.weights]
    table, sums = weighted_rows(X, design.weights, others)
    assert table.records is not None
    records = design.read(column_reader(table, "survey"), WeightSums(table.records, **sums))
    return without_columns(table, others, "survey"), records


def _refuse_shared_columns(sanitizer: Any) -> None:
    """Refuse columns that are named both for the design and for the record."""
    for parameter in ("sensitive", "known", "categories"):
        own = getattr(sanitizer, parameter, None)
        named = own if isinstance(own, list | tuple | dict) else [own]
        names = [name for name in named if isinstance(name, str)]
        if both := [name for name in names if name in sanitizer.survey.columns]:
            raise ValueError(
                f"columns {both} are named in {parameter}= and in survey=. A column of the design "
                "is neither S nor U: where its values are part of the record as well, give the "
                "design a copy of it under another name."
            )


def _refuse_missing_secrets(sanitizer: Any, X: Any) -> None:
    """Refuse records without a secret, unless a missing one is among the declared categories."""
    sensitive, categories = sanitizer.sensitive, sanitizer.categories
    names = read_table(X).names
    for place in resolve_columns(X, slice(1) if sensitive is None else sensitive, names=names):
        declared: Any = ()
        if isinstance(categories, dict):
            declared = categories.get(names[place], ())
        elif isinstance(categories, list):
            declared = categories[place : place + 1][0] or ()
        if any(value is None or value != value for value in declared):
            continue
        if n_missing := int(is_missing(X, [place]).sum()):
            raise ValueError(
                f"{n_missing:,} records of the survey lack a value in column {names[place]!r}, "
                "which is sensitive. Drop them, so that others stand for them: "
                f"SurveyDesign.complete(sample, {names[place]!r}, within=[...]); or make a missing "
                "answer a secret of its own, with None among the column's categories."
            )


def records_of(sanitizer: Any, X: Any) -> Any:
    """Return private records without the columns of a survey's design, which they need not have."""
    design = sanitizer.survey
    if design is None or lazy_frame(X) is not None:
        return X
    names = column_names(X)
    if any(isinstance(name, str) and name not in names for name in design.columns):
        return X
    whole = sanitizer.n_features_in_ + len(design.columns)
    return without_columns(X, design.columns, "survey") if len(names) == whole else X


def told_of_survey(
    survey: Survey | None, joint: JointDistribution, around: FittedSet, codes: Codes
) -> SurveySummary | None:
    """Return the summary, with effective numbers of records where the set depends on them.

    Warns PrivacyLeakWarning where there are too few clusters for an estimated covariance.
    """
    if survey is None or survey.records is None or around.rule != "survey":
        return None if survey is None else survey.summary
    records = survey.records
    clusters = records.clusters_of_secrets(codes.secrets, len(joint.secrets))
    warn_of_few_clusters(clusters.tolist(), joint.secrets, records.degrees)
    found = tuple(zip(joint.secrets, effective_records(joint).tolist(), strict=True))
    return replace(
        survey.summary,
        n_records=joint.n,
        n_clusters=records.n_clusters,
        degrees=records.degrees,
        effective=found,
    )
