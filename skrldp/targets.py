"""Targets of estimation: shares of categories, means, or any linear functions.

A target specifies linear functions of the distribution of X, whose values are shares or means.
:class:`~skrldp.AOptimalSanitizer` minimises the variances of their estimates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skrldp._params import is_number
from skrldp._typing import Floats
from skrldp.alphabet.categories import listed
from skrldp.alphabet.combinations import (
    PARTS,
    Record,
    group_cells,
    group_records,
    means_of_bins,
    numbers_of_cells,
)
from skrldp.alphabet.values import plain_name

__all__ = [
    "Contrast",
    "Linear",
    "Marginal",
    "Mean",
    "Target",
    "WeightedFunctions",
    "contrast_of",
    "functions_of",
    "target_in_words",
]


@dataclass(frozen=True)
class Marginal:
    """The distribution of some columns: the share of each combination of their categories.

    Parameters
    ----------
    columns : name, position, list of them, or None
        Columns of the table; None for a part of the record. Several columns form one crosstab.
    part : {"all", "sensitive", "nonsensitive"}, default="all"
        The part, if `columns` is None: X (the crosstab of S and U), S or U.
    weight : float, default=1.0
        Weight of each share's variance in the design.
    by : name, position or list of them, optional
        Columns that define groups of records, for shares within each group.

    Examples
    --------
    >>> from skrldp.targets import Marginal
    >>> Marginal("occupation", by="sex")
    Marginal(columns='occupation', part='all', weight=1.0, by='sex')
    """

    columns: Any = None
    part: str = "all"
    weight: float = 1.0
    by: Any = None


@dataclass(frozen=True)
class Mean:
    """The mean of a column of numbers.

    Records with a missing value are ignored.

    Parameters
    ----------
    column : name or position
        The column.
    weight : float, default=1.0
        Weight of the mean's variance in the design, which is in squared units of the column.
    by : name, position or list of them, optional
        Columns that define groups of records, for means of the groups.

    Examples
    --------
    >>> from skrldp.targets import Mean
    >>> Mean("hours", weight=0.01)
    Mean(column='hours', weight=0.01, by=None)
    """

    column: Any
    weight: float = 1.0
    by: Any = None


@dataclass(frozen=True, eq=False)
class Linear:
    """Linear functions of the distribution of X.

    Parameters
    ----------
    coefficients : array of shape (a1, a2) or (m, a1, a2)
        Coefficient of each cell, secrets in rows and values of U in columns: the function is their
        mean over records.
    weight : float, default=1.0
        Weight of each function's variance in the design.

    Examples
    --------
    >>> from skrldp.targets import Linear
    >>> Linear([[1.0, 0.0], [0.0, 1.0]]).weight
    1.0
    """

    coefficients: ArrayLike
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class Contrast:
    """A weighted sum of groups' estimates, such as the difference between two groups.

    Parameters
    ----------
    of : Marginal or Mean
        The estimates, with `by`: a share, or a mean, of each group.
    coefficients : dict
        Coefficient of each group, or of each tuple of categories for several columns; 0 for others.
    weight : float, default=1.0
        Weight of each contrast's variance in the design; shares have a contrast for each category.

    Examples
    --------
    >>> from skrldp.targets import Contrast, Mean
    >>> Contrast(Mean("wage", by="sex"), {"male": 1, "female": -1}).coefficients
    {'male': 1, 'female': -1}
    """

    of: Marginal | Mean
    coefficients: Mapping[Any, float]
    weight: float = 1.0


Target = Marginal | Mean | Linear | Contrast


class WeightedFunctions(NamedTuple):
    """Linear functions of the distribution of X, and the weights of their variances.

    Attributes
    ----------
    names : tuple of length m
        Name of each: a tuple of the columns' names and the category for a share, ("mean", column)
        for a mean, ("linear", number) for others; those of groups are followed by the tuple of the
        names of the groups' columns, and the group.
    functions : array of shape (m, a)
        The functions.
    weights : array of shape (m,)
        Weights of their variances.
    scales : array of shape (m,)
        Range of each estimate: 1 for a share, the range of its numbers for a mean.
    """

    names: tuple[Any, ...]
    functions: Floats
    weights: Floats
    scales: Floats


def functions_of(targets: Any, record: Record, distribution: Floats) -> WeightedFunctions:
    """Write targets as linear functions of the distribution of X.

    Shapes: `distribution` (a,). Raises ValueError if a target is invalid, has an unknown column or
    a weight that is not positive, or if all functions are 0.
    """
    several = isinstance(targets, Sequence) and not isinstance(targets, str)
    target_list = list(targets) if several else [targets]
    if not target_list:
        raise ValueError("targets is empty: name at least one quantity to estimate.")
    parsed = [_read(_as_target(target), record, distribution) for target in target_list]
    functions = np.concatenate([target_functions.functions for target_functions in parsed])
    if not functions.any():
        raise ValueError("targets are 0 for all records, so there is nothing to estimate.")
    return WeightedFunctions(
        tuple(name for target_functions in parsed for name in target_functions.names),
        functions,
        np.concatenate([target_functions.weights for target_functions in parsed]),
        np.concatenate([target_functions.scales for target_functions in parsed]),
    )


def target_in_words(name: Any) -> str:
    """Write the name of a target for a message.

    Examples
    --------
    >>> target_in_words((("job",), "clerk")), target_in_words(("mean", "age", ("sex",), "m"))
    ("'job' = 'clerk'", "mean of 'age' where 'sex' = 'm'")
    """
    kind, subject, *groups = name
    if kind == "contrast":
        return f"contrast of {target_in_words(name[1:-1])} by {', '.join(map(repr, name[-1]))}"
    words = f"function {subject}" if kind == "linear" else f"mean of {subject!r}"
    if isinstance(kind, tuple):
        words = _equal(kind, subject)
    return f"{words} where {_equal(*groups)}" if groups else words


def _equal(columns: Sequence[Any], category: Any) -> str:
    return f"{', '.join(map(repr, columns))} = {category!r}"


def _as_target(target: Any) -> Target:
    if isinstance(target, str) and target in PARTS:
        return Marginal(part=target)
    if not isinstance(target, Target):
        choices = ", ".join(map(repr, PARTS))
        column = f", such as Marginal({target!r}) for a column" if isinstance(target, str) else ""
        raise ValueError(
            f"targets contains {target!r}, but a target must be one of {choices}, or a Marginal, "
            f"Mean, Linear or Contrast of skrldp.targets{column}."
        )
    if not (is_number(target.weight) and np.isfinite(target.weight) and target.weight > 0):
        raise ValueError(f"the weight of {target!r} must be a positive number.")
    return target


def _read(target: Target, record: Record, distribution: Floats) -> WeightedFunctions:
    names: tuple[Any, ...]
    if isinstance(target, Contrast):
        return _contrast(target, record, distribution)
    if isinstance(target, Marginal):
        group = group_cells(record, target.columns, target.part)
        functions = group.indicators
        names = tuple((group.name, category) for category in group.categories)
        present = np.ones(functions.shape[1])
    elif isinstance(target, Mean):
        group = group_cells(record, [target.column], "all")
        numbers, present = numbers_of_cells(group, means_of_bins(record, group.name[0]))
        functions, names = numbers[None], (("mean", group.name[0]),)
    else:
        functions = _coefficients(target, record)
        names = tuple(("linear", index) for index in range(len(functions)))
        present = np.ones(functions.shape[1])
    scales = _ranges(functions, present)
    if not isinstance(target, Linear) and target.by is not None:
        groups = group_records(record, target.by, group)
        inside = [_ratios(functions, present * g, distribution) for g in groups.indicators]
        functions = np.concatenate(inside)
        names = tuple((*name, groups.name, g) for g in groups.categories for name in names)
        scales = np.tile(scales, len(groups.categories))
    elif isinstance(target, Mean):
        functions = _ratios(functions, present, distribution)
    return WeightedFunctions(names, functions, np.full(len(names), float(target.weight)), scales)


def _contrast(target: Contrast, record: Record, distribution: Floats) -> WeightedFunctions:
    """Sum the functions of groups, with their coefficients."""
    if not isinstance(target.of, Marginal | Mean) or target.of.by is None:
        raise ValueError(
            f"a Contrast needs a Marginal or a Mean with by=, got {target.of!r}: name the columns "
            "that define the groups."
        )
    groups_read = _read(target.of, record, distribution)
    groups = list(dict.fromkeys(name[-1] for name in groups_read.names))
    numbers = contrast_of(target.coefficients, groups)
    rows = groups_read.functions.reshape(len(groups), -1, groups_read.functions.shape[1])
    functions = np.tensordot(numbers, rows, 1)
    names = tuple(("contrast", *name[:-1]) for name in groups_read.names[: len(functions)])
    weights = np.repeat(float(target.weight), len(names))
    return WeightedFunctions(names, functions, weights, groups_read.scales[: len(names)])


def contrast_of(coefficients: Any, groups: Sequence[Any]) -> Floats:
    """Return the coefficient of each group in a contrast, (k,).

    Raises ValueError for unknown groups, or if the coefficients are not finite or all 0.
    """
    if not isinstance(coefficients, Mapping):
        raise ValueError(
            "the coefficients of a contrast must be a dict such as {group: 1, other: -1}, got "
            f"{type(coefficients).__name__}."
        )
    coefficients = {plain_name(group): number for group, number in coefficients.items()}
    unknown = [group for group in coefficients if group not in groups]
    if unknown:
        raise ValueError(f"group {unknown[0]!r} does not exist. The groups are [{listed(groups)}].")
    ordered = [coefficients.get(group, 0.0) for group in groups]
    if not all(is_number(number) and np.isfinite(number) for number in ordered) or not any(ordered):
        raise ValueError("the coefficients of a contrast must be finite numbers, not all 0.")
    return np.array(ordered, dtype=float)


def _ratios(functions: Floats, present: Floats, distribution: Floats) -> Floats:
    """Linearise means over a part of the records, as ratios of estimates, by the delta method."""
    share = float(distribution @ present)
    if share <= 0:
        return functions * present
    means = functions @ (distribution * present) / share
    return (functions - means[:, None]) * present / share


def _ranges(functions: Floats, present: Floats) -> Floats:
    """Return the range of each function over the records for which it is defined, (m,)."""
    occurring = functions[:, present > 0]
    return np.ptp(occurring, axis=1) if occurring.size else np.zeros(len(functions))


def _coefficients(target: Linear, record: Record) -> Floats:
    shape = len(record.secrets), len(record.values)
    try:
        table = np.asarray(target.coefficients, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError("the coefficients of Linear must be an array of numbers.") from error
    if table.shape[-2:] != shape or table.ndim not in (2, 3) or not np.isfinite(table).all():
        raise ValueError(
            f"the coefficients of Linear must be finite numbers of shape {shape}, one for each "
            f"secret and value of U, or several of these; they have shape {table.shape}."
        )
    return table.reshape(-1, shape[0] * shape[1])
