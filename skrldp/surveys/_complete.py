"""Records without an answer, left out: others like them stand for them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skrldp.surveys._columns import codes_of

__all__ = ["complete_records"]


def complete_records(
    sample: Any, design: Any, answers: Any = None, within: Sequence[Any] = ()
) -> Any:
    """Drop records that lack an answer, and raise the weights of others; see `SurveyDesign`."""
    from skrldp.table import (
        column_names,
        column_reader,
        is_missing,
        resolve_columns,
        take_rows,
        with_values,
    )

    if design.weights is None:
        raise ValueError(
            "records that stand for others need weights: add a column of ones, and name it in "
            "SurveyDesign(weights=...)."
        )
    own = resolve_columns(sample, list(design.columns), "survey")
    rest = [place for place in range(len(column_names(sample))) if place not in own]
    asked = rest if answers is None else resolve_columns(sample, answers, "answers")
    read = column_reader(sample, "within")
    records = design.read(column_reader(sample, "survey"))
    kept = ~is_missing(sample, asked)
    classes = np.zeros(len(kept), dtype=np.intp)
    for name in within:
        code = codes_of("class", name, read)
        classes = np.unique(classes * (int(code.max()) + 1) + code, return_inverse=True)[1]

    columns = {design.weights: records.weights}
    if records.replicates is not None:
        columns |= dict(zip(design.replicate_weights or (), records.replicates.T, strict=True))
    raised = {}
    for name, weights in columns.items():
        whole = np.bincount(classes, weights)
        answered = np.bincount(classes[kept], weights[kept], len(whole))
        if np.any((answered <= 0) & (whole > 0)):
            raise ValueError(
                f"{int(np.sum((answered <= 0) & (whole > 0))):,} of {len(whole):,} classes have no "
                "record with all answers that could stand for the others: make classes larger."
            )
        factor = np.divide(whole, answered, out=np.ones_like(whole), where=answered > 0)
        (place,) = resolve_columns(sample, [name], "survey")
        raised[place] = weights * factor[classes]
    return take_rows(with_values(sample, raised), kept)
