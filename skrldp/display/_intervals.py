"""Estimates with intervals beside 0: what plots of coefficients and of differences share."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skrldp._typing import Floats
from skrldp.display._curves import visible
from skrldp.display._style import (
    BASELINE,
    COLOURS,
    GRID,
    MARKERS,
    Ticks,
    legend,
    new_axes,
    set_ticks,
    text_width,
    texts,
)

__all__ = ["IntervalDisplay", "in_percent"]

_SIZES = (0.15, 0.3, 9.0)  # inches of an interval, of a name, and of all of them at most
_SPREAD = 0.64  # of a row, over which its intervals are spread


class IntervalDisplay:
    """Estimates with intervals, a row for each name and a colour for each series."""

    _ylabel = ""

    def __init__(
        self, intervals: Mapping[str, ArrayLike], names: Sequence[Any], *, label: str
    ) -> None:
        self.names = tuple(names)
        if not (intervals and self.names):
            raise ValueError("there is nothing to draw: intervals or names are empty.")
        self.intervals: dict[str, Floats] = {}
        for series, given in intervals.items():
            found = np.asarray(given, dtype=float)
            if found.shape != (len(self.names), 3):
                raise ValueError(
                    f"{series!r} needs an estimate and the two ends of its interval for each of "
                    f"{len(self.names)} names, got an array of shape {found.shape}."
                )
            if (found[:, 1] > found[:, 2]).any():
                raise ValueError(f"{series!r} has an interval whose lower end is above the upper.")
            self.intervals[series] = found
        self.label = label

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
        bar, row, most = _SIZES
        height = len(names) * max(row, bar * len(self.intervals))
        size = 4.6 + text_width(names), 1.2 + min(max(0.7, height), most)
        ax, own = new_axes(ax, size), ax is None
        self.ax_, self.figure_, self.points_, self.bars_ = ax, ax.figure, [], []
        rows = np.arange(len(names))
        ax.axvline(0.0, color=BASELINE, linewidth=0.9, zorder=1)
        for place, (series, found) in enumerate(self.intervals.items()):
            value, lower, upper = found.T
            shift = (place + 0.5) / len(self.intervals) - 0.5
            heights = rows + _SPREAD * shift
            colour = COLOURS[place % len(COLOURS)]
            self.bars_.append(  # by their middles: an estimate may be outside of its interval
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
                marker=MARKERS[place % len(MARKERS)],
                markersize=5.0,
                color=colour,
                label=visible(texts([series])[0]),
                zorder=3,
            )
        of_rows = np.stack([found[:, 0] for found in self.intervals.values()])
        for where in np.flatnonzero(np.isnan(of_rows).all(axis=0)):
            ax.annotate(
                "not determined",
                (0.0, where),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                color=BASELINE,
                fontsize="x-small",
            )
        ax.set(ylim=(len(names) - 0.5, -0.5), xlabel=self.label, ylabel=self._ylabel)
        ax.grid(axis="x", color=GRID, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
        if len(self.intervals) > 1:
            legend(ax, above=own)
        set_ticks(self.figure_, Ticks(ax.yaxis, rows, names))
        return self


def in_percent(level: float) -> str:
    """Write a level, such as '95 %'."""
    return f"{100.0 * level:g} %"
