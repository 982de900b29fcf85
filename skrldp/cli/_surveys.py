"""Public tables that are surveys: the options that say how, and their records one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from skrldp.alphabet import brief
from skrldp.cli._distinct import count_rows
from skrldp.cli._errors import CommandError
from skrldp.cli._formats import Kind
from skrldp.cli._mechanism import cell_reader, names_of, record_types
from skrldp.cli._public import joint_of
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism
from skrldp.surveys import SurveyDesign, SurveyTotals, independent_part
from skrldp.table import column_reader, row_contents

__all__ = ["each_record", "survey_joint", "survey_of"]


def survey_of(counts: str | None, max_weight: str | None, **drawn: Any) -> SurveyDesign | None:
    """Make the design of a survey that options state."""
    own = {name: value for name, value in drawn.items() if value not in (None, [])}
    if max_weight is not None:
        own["max_weight"] = _number_or_column(max_weight)
    if not own:
        return None
    if counts is not None:
        raise CommandError("--counts does not go with a survey's design, which is about records.")
    try:
        return SurveyDesign(**own)
    except ValueError as error:
        raise CommandError(f"the options of a survey: {error}") from None


def _number_or_column(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def each_record(table: Any, records: Any, survey: SurveyDesign) -> Any:
    """Return the records of distinct rows that were counted; the design's columns come last."""
    if lacking := [name for name in survey.columns if name not in table.column_names]:
        raise CommandError(
            f"survey column {lacking[0]!r} not found; the columns are {brief(table.column_names)}."
        )
    rest = [name for name in table.column_names if name not in survey.columns]
    table = table.select([*rest, *survey.columns])
    return table.take(np.repeat(np.arange(len(records)), records))


def survey_joint(
    mechanism: Mechanism, path: str, kind: Kind, survey: SurveyDesign
) -> JointDistribution:
    """Return the weighted distribution of a survey's records over the mechanism's cells.

    For an exact set, that of the independent part of the records that a design keeps.
    """
    import pyarrow as pa

    if survey.max_weight is None:
        survey.check_weighted()
    names = names_of(mechanism)
    types, converted = record_types(mechanism, names)
    texts = [name for name, own in types.items() if pa.types.is_string(own)]
    columns = [*names, *survey.columns]
    counted = count_rows(path, kind, columns, text=texts if kind.is_text else (), counts=None)
    table = each_record(*counted, survey)
    records = survey.read(column_reader(table, "survey"))
    cells_of = cell_reader(mechanism)
    batches = table.select(names).combine_chunks().to_batches()
    cells = np.concatenate([cells_of(converted(batch)) for batch in batches])
    n_cells = len(mechanism.secrets) * len(mechanism.values)
    totals = None
    if survey.max_weight is None:
        totals = SurveyTotals.of(records, cells, n_cells)
    else:
        cells = cells[independent_part(records, row_contents(table))]
    return joint_of(mechanism, np.bincount(cells, minlength=n_cells), totals)
