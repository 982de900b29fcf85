"""Differences of figures between groups, or between two sets of reports, with their intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skrldp._typing import Floats
from skrldp.display._intervals import IntervalDisplay, in_percent
from skrldp.estimation import Figures

__all__ = ["DifferenceDisplay"]


class DifferenceDisplay(IntervalDisplay):
    """Differences of figures, with intervals, beside 0.

    Parameters
    ----------
    intervals : mapping of name to array of shape (m, 3)
        For each series m differences, and lower and upper ends of their intervals; NaN where the
        reports do not determine a difference.
    names : sequence of length m
        What the differences are of.
    label : str, default="difference"
        Label of the axis.

    Attributes
    ----------
    intervals, names, label
        As given.
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.
    points_ : list of matplotlib Line2D
        The estimates of each series.
    bars_ : list of matplotlib ErrorbarContainer
        The intervals of each series.

    Examples
    --------
    >>> from skrldp import DifferenceDisplay
    >>> display = DifferenceDisplay({"wages": [[-3.0, -5.0, -1.0]]}, ["women less men"])
    >>> display.intervals["wages"]
    array([[-3., -5., -1.]])
    """

    def __init__(
        self,
        intervals: Mapping[str, ArrayLike],
        names: Sequence[Any],
        *,
        label: str = "difference",
    ) -> None:
        super().__init__(intervals, names, label=label)

    @classmethod
    def from_figures(
        cls,
        figures: Figures,
        reference: Any = None,
        *,
        column: Any = None,
        level: float = 0.95,
        ax: Any = None,
    ) -> "DifferenceDisplay":
        """Show by how much the figures of groups exceed those of one of them.

        Parameters
        ----------
        figures : Figures
            Means, shares or quantiles by group, such as ``estimator.mean("wage", by=["region",
            "sex"])``; or, without a reference, what is a difference already, such as that of two
            waves.
        reference : category, optional
            The group that the others are compared with.
        column : name, optional
            Of groups by several columns: the column that `reference` is a category of. Groups are
            compared that are alike in the other columns.
        level : float, default=0.95
            Level of the intervals.
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.

        Returns
        -------
        DifferenceDisplay

        Raises
        ------
        TypeError
            If these are no figures of groups.
        ValueError
            If there is no such group or column, or figures are quantiles of categories.
        """
        if not isinstance(figures, Figures):
            raise TypeError(
                "figures of groups are needed, such as estimator.mean(column, by=...), got "
                f"{type(figures).__name__}."
            )
        label = f"with {in_percent(level)} intervals"
        if reference is None:
            names = [one if len(one) > 1 else one[0] for one in figures.labels]
            shown = cls({"": _with_ends(figures, level)}, names, label=f"{figures.what}, {label}")
            shown._ylabel = ", ".join(map(str, figures.names))
            return shown.plot(ax)
        groups = [one if isinstance(one, tuple) else (one,) for one in figures.groups]
        columns = figures.names[: len(groups[0])]
        place = _place(column, columns)
        categories = list(dict.fromkeys(group[place] for group in groups))
        if reference not in categories:
            raise ValueError(
                f"reference={reference!r} is no category of {columns[place]!r}; the categories "
                f"are {categories}."
            )
        found: dict[Any, dict[tuple[Any, ...], Floats]] = {}
        for category in categories:
            if category == reference:
                continue
            rows = found.setdefault(category, {})
            for group in groups:
                other = (*group[:place], reference, *group[place + 1 :])
                if group[place] == category and other in groups:
                    rows |= _rows(figures, group, other, place, level)
        names = list(dict.fromkeys(name for rows in found.values() for name in rows))
        left = [name for name in figures.names if name != columns[place]]
        if names == [()]:  # one number for each group
            intervals = {"": [rows[()] for rows in found.values()]}
            names, left = list(found), [columns[place]]
        else:
            missing = np.full(3, np.nan)
            intervals = {
                str(one): [rows.get(name, missing) for name in names] for one, rows in found.items()
            }
            names = [one if len(one) > 1 else one[0] for one in names]
        what = f"{figures.what}, less that of {reference!r},\n{label}"
        shown = cls(intervals, names, label=what)
        shown._ylabel = ", ".join(map(str, left))
        return shown.plot(ax)


def _place(column: Any, columns: Sequence[Any]) -> int:
    """Which of the groups' columns is compared."""
    if column is None and len(columns) == 1:
        return 0
    if column not in columns:
        raise ValueError(
            f"column={column!r} must be one of the columns of the groups, {list(columns)}."
        )
    return list(columns).index(column)


def _rows(
    figures: Figures, group: tuple[Any, ...], other: tuple[Any, ...], place: int, level: float
) -> dict[tuple[Any, ...], Floats]:
    """Differences between two groups, by the other columns' categories and those of shares."""
    keys = [one if len(group) > 1 else one[0] for one in (group, other)]
    difference = figures.difference(*keys)
    fixed = group[:place] + group[place + 1 :]
    if isinstance(difference, Figures):
        ends = _with_ends(difference, level)
        return {fixed + own: row for own, row in zip(difference.labels, ends, strict=True)}
    return {fixed: np.array([difference.value, *difference.confidence_interval(level)])}


def _with_ends(figures: Figures, level: float) -> Floats:
    return np.column_stack([figures.values, figures.confidence_interval(level)])
