"""Which margins reports are to keep, as asked for, and what that asks of a mechanism."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skrldp._params import shown
from skrldp.alphabet import Record, group_cells
from skrldp.design.programs import KeptMargins
from skrldp.joint import JointDistribution

__all__ = ["asks_for_invariance", "kept_margins"]


def asks_for_invariance(invariant: Any) -> bool:
    """Whether margins are to be kept.

    Raises ValueError if `invariant` is neither a truth value nor columns.
    """
    if isinstance(invariant, bool | np.bool_):
        return bool(invariant)
    if isinstance(invariant, str | int) or (isinstance(invariant, list | tuple) and invariant):
        return True
    raise ValueError(
        f"invariant={shown(invariant)} must be True for the distribution of U, False, or a list of "
        "columns of U whose margins reports keep."
    )


def kept_margins(
    invariant: Any,
    record: Record,
    outputs: Sequence[Any],
    joint: JointDistribution,
    observe: str,
) -> KeptMargins | None:
    """Write down the margins that reports are to keep; None if there are none.

    `outputs` are the values of U that public records have. Raises ValueError if there are no such
    columns, or they are sensitive.
    """
    if not asks_for_invariance(invariant):
        return None
    a1, a2 = joint.counts.shape
    place = {value: number for number, value in enumerate(joint.values)}
    reported = np.array([place[output] for output in outputs])
    if isinstance(invariant, bool | np.bool_):
        members = np.eye(len(outputs))
    else:
        listed = invariant if isinstance(invariant, list | tuple) else [invariant]
        margins = []
        for column in listed:
            labels = group_cells(record, column, "all").labels.reshape(a1, a2)
            if (labels != labels[0]).any():
                raise ValueError(
                    f"invariant={shown(invariant)}: column {column!r} is sensitive, and reports of "
                    "this sanitizer are values of the other columns."
                )
            used = labels[0][reported]
            margins.append(np.unique(used)[:, None] == used)
        members = np.concatenate(margins).astype(float)
    copies = 1 if observe == "nonsensitive" else a1
    people = joint.probabilities.sum(axis=0)
    return KeptMargins(
        members=members,
        distribution=people if copies == 1 else joint.probabilities.ravel(),
        draw=people[reported] / people[reported].sum(),
        stands_for=np.tile(np.eye(a2)[reported], (1, copies)),
    )
