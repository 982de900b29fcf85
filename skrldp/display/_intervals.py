"""Estimates with their intervals."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skrldp._typing import Floats
from skrldp.display._style import (
    BASELINE,
    COLOURS,
    GRID,
    MARKERS,
    Ticks,
    labels,
    legend,
    new_axes,
    set_ticks,
    text_width,
    texts,
)
from skrldp.estimation import Estimates

_SIZES = (0.15, 0.3, 9.0)  # inches for each interval and each name, and maximum height
_SPREAD = 0.64  # share of a row over which its intervals are spread


class IntervalDisplay:
    """Estimates with their intervals, with a row for each name and a colour for each series.

    Parameters
    ----------
    intervals : mapping of name to array of shape (m, 3)
        For each series, m estimates with the lower and upper ends of their intervals; NaN if the
        reports do not determine an estimate.
    names : sequence of length m
        Names of the estimates.
    label : str, default="figure"
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
    >>> from skrldp import IntervalDisplay
    >>> display = IntervalDisplay({"wages": [[-3.0, -5.0, -1.0]]}, ["women less men"])
    >>> display.intervals["wages"]
    array([[-3., -5., -1.]])
    """

    _ylabel = ""

    def __init__(
        self, intervals: Mapping[Any, ArrayLike], names: Sequence[Any], *, label: str = "figure"
    ) -> None:
        self.names = tuple(names)
        if not (intervals and self.names):
            raise ValueError("there is nothing to draw: intervals or names are empty.")
        self.intervals: dict[Any, Floats] = {}
        for series, rows in intervals.items():
            bounds = np.asarray(rows, dtype=float)
            if bounds.shape != (len(self.names), 3):
                raise ValueError(
                    f"{series!r} needs an estimate and the two ends of its interval for each of "
                    f"{len(self.names)} names, got an array of shape {bounds.shape}."
                )
            if (bounds[:, 1] > bounds[:, 2]).any():
                raise ValueError(f"{series!r} has an interval whose lower end is above the upper.")
            self.intervals[series] = bounds
        self.label = label

    @classmethod
    def from_figures(
        cls, figures: Any, *, level: float = 0.95, ax: Any = None
    ) -> "IntervalDisplay":
        """Show estimates with their intervals.

        Parameters
        ----------
        figures : Estimates, or dict of name to Estimates
            For example ``estimator.marginal("job")``, ``estimator.mean("wage", by="job")``, or a
            difference of two estimates. Each entry of a dict has its own colour; a row contains the
            estimates with the same label.
        level : float, default=0.95
            Confidence level of the intervals.
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.

        Returns
        -------
        IntervalDisplay

        Raises
        ------
        TypeError
            If these are not estimates.
        ValueError
            If there are no estimates, or the level is not between 0 and 1.
        """
        named = dict(figures) if isinstance(figures, Mapping) else {"": figures}
        read = {name: _read(figure, level) for name, figure in named.items()}
        labels = list(dict.fromkeys(label for _, _, rows in read.values() for label in rows))
        missing = np.full(3, np.nan)
        intervals = {
            name: [rows.get(label, missing) for label in labels]
            for name, (_, _, rows) in read.items()
        }
        title = " / ".join(dict.fromkeys(figure for figure, _, _ in read.values()))
        shown = cls(
            intervals,
            [label[0] if len(label) == 1 else label or "all" for label in labels],
            label=f"{title}, with {100.0 * level:g} % intervals",
        )
        shown._ylabel = next(columns for _, columns, _ in read.values())
        return shown.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.

        Returns
        -------
        self

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        names = texts(self.names)
        bar, row, tallest = _SIZES
        height = len(names) * max(row, bar * len(self.intervals))
        size = 4.6 + text_width(names), 1.2 + min(max(0.7, height), tallest)
        ax, is_new = new_axes(ax, size), ax is None
        self.ax_, self.figure_, self.points_, self.bars_ = ax, ax.figure, [], []
        rows = np.arange(len(names))
        ends = np.stack([bounds[:, 1:] for bounds in self.intervals.values()])
        if np.any(ends <= 0.0) and np.any(ends >= 0.0):
            ax.axvline(0.0, color=BASELINE, linewidth=0.9, zorder=1)
        shown = zip(labels(list(self.intervals)), self.intervals.values(), strict=True)
        for index, (label, bounds) in enumerate(shown):
            value, lower, upper = bounds.T
            shift = (index + 0.5) / len(self.intervals) - 0.5
            heights = rows + _SPREAD * shift
            colour = COLOURS[index % len(COLOURS)]
            # Relative to their middles, because an estimate may be outside its interval
            self.bars_.append(
                ax.errorbar(
                    (lower + upper) / 2.0,
                    heights,
                    xerr=(upper - lower) / 2.0,
                    fmt="none",
                    color=colour,
                    capsize=2.5,
                    zorder=2,
                )
            )
            self.points_ += ax.plot(
                value,
                heights,
                linestyle="none",
                marker=MARKERS[index % len(MARKERS)],
                markersize=5.0,
                color=colour,
                label=label,
                zorder=3,
            )
        of_rows = np.stack([bounds[:, 0] for bounds in self.intervals.values()])
        for where in np.flatnonzero(np.isnan(of_rows).all(axis=0)):
            style = {"va": "center", "color": BASELINE, "fontsize": "x-small"}
            ax.text(0.01, where, "not determined", transform=ax.get_yaxis_transform(), **style)
        ax.set(ylim=(len(names) - 0.5, -0.5), xlabel=self.label, ylabel=self._ylabel)
        ax.grid(axis="x", color=GRID, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
        if len(self.intervals) > 1:
            legend(ax, above=is_new)
        set_ticks(self.figure_, Ticks(ax.yaxis, rows, names))
        return self


def _read(figures: Any, level: float) -> tuple[str, str, dict[tuple[Any, ...], Floats]]:
    """Return the quantity, the columns' names, and the estimates with their intervals by label."""
    if not isinstance(figures, Estimates):
        raise TypeError(
            "Expected estimates such as estimator.marginal(column) or estimator.mean(column, "
            f"by=...), got {type(figures).__name__}."
        )
    rows = np.column_stack([figures.estimate, figures.confidence_interval(level)])
    columns = ", ".join(map(str, figures.names))
    return figures.what, columns, dict(zip(figures.labels, rows, strict=True))
