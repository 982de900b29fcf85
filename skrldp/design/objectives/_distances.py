"""Distances of reports from values of U, and their expectation as the cost of a design."""

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from skrldp._arrays import refuse_masked
from skrldp._params import OBSERVED, check_choice
from skrldp._typing import Floats
from skrldp.design.programs import ExpectedCost
from skrldp.joint import JointDistribution
from skrldp.sets import FittedSet

__all__ = ["distance_matrix", "expected_distance", "suited_distance"]


DISTANCES = ("auto", "squared", "absolute", "hamming")
_LARGEST = 1e100  # greatest size of numbers whose squares are taken: those stay finite


def distance_matrix(
    distance: str | Callable[[Any, Any], float] | Sequence[Sequence[float]] | Floats,
    values: Sequence[Any],
) -> Floats:
    """Tabulate the distance of each reported value, in columns, from each value, in rows.

    Shapes: `distance` (a2, a2); returns (a2, a2). Raises ValueError if the distance is unknown, is
    not a table of that shape, or is not made of finite non-negative numbers; if it is a numeric one
    and values are not numbers.

    Examples
    --------
    >>> distance_matrix("squared", (1, 2, 4))
    array([[0., 1., 9.],
           [1., 0., 4.],
           [9., 4., 0.]])
    """
    if isinstance(distance, str):
        table = _named(distance, values)
    elif callable(distance):
        table = np.array([[_measured(distance, u, y) for y in values] for u in values])
    else:
        table = _as_table(distance)
        if table.shape != (len(values), len(values)):
            raise ValueError(
                f"the table `distance` has shape {table.shape}, but U has {len(values)} values: it "
                f"needs shape {(len(values), len(values))}, in the order of `joint_.values`."
            )
    wrong = ~np.isfinite(table) | (table < 0)
    if wrong.any():
        u, y = np.argwhere(wrong)[0]
        raise ValueError(
            f"distances must be finite and not negative, but that from value {values[u]!r} to "
            f"value {values[y]!r} is {table[u, y]}."
        )
    return table


def suited_distance(values: Sequence[Any]) -> str:
    """Name the distance that suits some values of U.

    Returns {"squared", "hamming"}: "squared" if all are real numbers of moderate size. Truth values
    are no numbers here; of two of them both distances are the same.

    Examples
    --------
    >>> suited_distance((1, 2.5)), suited_distance((1, None)), suited_distance((1, "other"))
    ('squared', 'hamming', 'hamming')
    """
    for value in values:
        if isinstance(value, bool) or not isinstance(value, Real):
            return "hamming"
        if not abs(value) <= _LARGEST:  # type: ignore[operator]
            return "hamming"
    return "squared"


def _as_table(distance: Any) -> Floats:
    refuse_masked(distance, "the table `distance`")
    try:
        table = np.asarray(distance)
        if table.ndim == 2 and not np.iscomplexobj(table):
            return table.astype(float)
    except (TypeError, ValueError):  # rows of different lengths, or words
        pass
    kind = f"a {type(distance).__name__}" if hasattr(distance, "__len__") else repr(distance)
    raise ValueError(
        "distance must be 'auto', 'squared', 'absolute', 'hamming', a function of two "
        f"values of U, or a table of numbers (real), got {kind}."
    )


def _named(name: str, values: Sequence[Any]) -> Floats:
    if name not in DISTANCES:
        raise ValueError(
            f"distance={name!r} must be one of {', '.join(map(repr, DISTANCES))}, a function of "
            "two values of U, or a table."
        )
    if name == "auto":
        name = suited_distance(values)
    if name == "hamming":
        return np.array([[_hamming(u, y) for y in values] for u in values])
    numbers = _numbers(name, values)
    gap = np.subtract.outer(numbers, numbers)
    return np.abs(gap) if name == "absolute" else gap * gap


def _numbers(name: str, values: Sequence[Any]) -> Floats:
    """Values of U as floats."""
    for value in values:
        if not isinstance(value, Real):
            found = "several columns" if isinstance(value, tuple) else f"the value {value!r}"
            found = "missing values" if value is None else found
            raise ValueError(
                f"distance={name!r} needs numbers, but U has {found}; use "
                "distance='hamming', a function of two values, or a table of distances."
            )
        if abs(value) > _LARGEST:  # type: ignore[operator]
            raise ValueError(
                f"distance={name!r} needs numbers of moderate size, but U has one beyond "
                f"{_LARGEST:g}."
            )
    return np.array(values, dtype=float)


def _hamming(value: Any, output: Any) -> float:
    if isinstance(value, tuple) and isinstance(output, tuple):
        return float(sum(u != y for u, y in zip(value, output, strict=True)))
    return float(value != output)


def _measured(distance: Callable[[Any, Any], float], value: Any, output: Any) -> float:
    found = distance(value, output)
    try:
        return float(found)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"distance({value!r}, {output!r}) must be a number, got {found!r}."
        ) from error


def expected_distance(
    joint: JointDistribution,
    distance: Floats,
    uncertainty: FittedSet,
    *,
    observe: str = "all",
) -> ExpectedCost:
    """Make the distance of reports from U the cost of a design, at the worst of a ball.

    Shapes: `distance` (a2, b).
    """
    alpha, radius = uncertainty.alpha, uncertainty.joint_radius
    assert radius is not None  # as the sanitizer saw
    check_choice("observe", observe, OBSERVED)
    if observe == "nonsensitive":
        return ExpectedCost(distance.T, joint.probabilities.sum(axis=0), alpha, radius)
    cost = np.tile(distance.T, (1, len(joint.secrets)))
    return ExpectedCost(cost, joint.probabilities.ravel(), alpha, radius)
