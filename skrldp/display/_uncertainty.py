"""The conditionals that an uncertainty set allows."""

import math
from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.display._style import (
    COLOURS,
    GRID,
    Ticks,
    chosen,
    legend,
    new_axes,
    pyplot,
    scaled,
    set_ticks,
    text_width,
    texts,
)
from skrldp.display._triangle import Shape, are_small, box_outline, draw_triangle, region_outline
from skrldp.joint import JointDistribution
from skrldp.sanitizers import default_uncertainty, fitted_sanitizer
from skrldp.sets import FittedSet, fitted_set
from skrldp.support_function import cell_bounds

__all__ = ["UncertaintyDisplay"]


_MOST = 6  # secrets that are drawn if none are named
_COLUMNS = 3
_LINE = 20  # characters in a line above a panel
_CHARACTER = 0.09  # inches, of the title


class UncertaintyDisplay:
    """The conditionals of U given each secret: the public ones, and what the set allows.

    Bars show the least and greatest probability of each value over the set. Each bound is attained
    by some distribution, but no distribution attains all of them. They are what each conditional
    may be by itself; where two share a budget, they cannot both go that far. For three values of U
    the whole set can be drawn: a triangle of distributions shows the exact set of each conditional,
    and the box of its bounds.

    Parameters
    ----------
    joint : JointDistribution
        The public distribution.
    uncertainty : LikelihoodRatioSet, RenyiBall, AllDistributions or FittedSet, optional
        The set around it; None is the sanitizers' default.

    Attributes
    ----------
    joint : JointDistribution
        As given.
    uncertainty : FittedSet
        The set, fitted to the public distribution.
    lower, upper : arrays of shape (a1, a2)
        Least and greatest probabilities.
    axes_ : array of matplotlib Axes
        Set by `plot`.
    ax_, figure_ : matplotlib Axes and Figure
        The first of them, and its figure.

    Examples
    --------
    >>> from skrldp import JointDistribution, RenyiBall, UncertaintyDisplay
    >>> display = UncertaintyDisplay(JointDistribution([[7, 10], [26, 57]]), RenyiBall())
    >>> display.lower.round(3)
    array([[0.155, 0.273],
           [0.192, 0.533]])
    """

    def __init__(self, joint: JointDistribution, uncertainty: Any = None) -> None:
        around = fitted_set(joint, default_uncertainty() if uncertainty is None else uncertainty)
        self.joint = joint
        self.uncertainty: FittedSet = around
        self._weights = around.secret_weights(joint)
        self._budgets = around.single_budgets(self._weights)
        self.lower, self.upper = cell_bounds(
            joint.conditionals, self._weights, around.alpha, self._budgets
        )

    @classmethod
    def from_estimator(
        cls, sanitizer: Any, *, ax: Any = None, **options: Any
    ) -> "UncertaintyDisplay":
        """Show the uncertainty set of a fitted sanitizer.

        Parameters
        ----------
        sanitizer : sanitizer
            A fitted one, or one inside a FrozenEstimator. The set of GRR and SRR is all
            distributions, and that of NonRobust is the public distribution alone.
        ax : matplotlib Axes or list of them, optional
            Where to draw; None makes a figure.
        **options
            For :meth:`plot`.

        Returns
        -------
        UncertaintyDisplay

        Raises
        ------
        TypeError, NotFittedError
            If it is no sanitizer, or has not been fitted.
        ValueError
            As by :meth:`plot`.
        """
        fitted = fitted_sanitizer(sanitizer)
        return cls(fitted.joint_, fitted.uncertainty_).plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        secrets: Sequence[Any] | None = None,
        kind: str = "auto",
        zoom: bool = True,
    ) -> "UncertaintyDisplay":
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or list of them, optional
            Where to draw: one for each secret if there are bars, one for a triangle. None makes a
            figure.
        secrets : sequence, optional
            Which secrets to draw; None: the first six.
        kind : {"auto", "bars", "triangle"}, default="auto"
            "auto" is a triangle for three values of U, bars otherwise.
        zoom : bool, default=True
            Whether to enlarge regions that are small in the triangle, and draw the whole of it
            beside them.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the kind or a secret is unknown, or the axes are too few or too many.
        ImportError
            If matplotlib is not installed.
        """
        n_values = len(self.joint.values)
        if kind not in ("auto", "bars", "triangle"):
            raise ValueError(f"kind={kind!r} must be 'auto', 'bars' or 'triangle'.")
        if kind == "triangle" and n_values != 3:
            raise ValueError(
                f"kind='triangle' is for three values of U, but there are {n_values}: use 'bars'."
            )
        places = (
            list(range(min(_MOST, len(self.joint.secrets))))
            if secrets is None
            else chosen(secrets, self.joint.secrets)
        )
        own = ax is None
        if n_values == 3 and kind != "bars":
            shapes = self._shapes(places)
            enlarged = zoom and are_small(shapes)
            size = (7.4 if enlarged else 5.6, 4.8)
            self._take(ax, 1, lambda: [new_axes(None, size)])
            draw_triangle(self.ax_, shapes, texts(self.joint.values), enlarged=enlarged)
            legend(self.ax_, above=own)
        else:
            self._take(ax, len(places), lambda: self._new_panels(len(places)))
            self._draw_bars(places, own)
        if own:
            self.figure_.suptitle(self._title(len(places)), fontsize="medium")
        return self

    def _take(self, ax: Any, needed: int, new: Callable[[], Any]) -> None:
        """Take as many axes as are needed: those given, or new ones."""
        axes = np.array(new() if ax is None else ax, dtype=object).ravel()
        if len(axes) != needed:
            raise ValueError(
                f"ax holds {len(axes)} axes, but {needed} are needed: give a list of as many, "
                "choose secrets, or leave ax out."
            )
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure

    def _new_panels(self, needed: int) -> NDArray[Any]:
        """Make a panel for each secret."""
        columns = min(_COLUMNS, needed)
        rows = math.ceil(needed / columns)
        names = texts(self.joint.values)
        size = (
            1.2 + text_width(names) + 2.1 * columns,
            1.3 + rows * (0.6 + min(max(1.3, 0.26 * len(names)), 7.0)),
        )
        figure, grid = pyplot().subplots(
            rows, columns, sharex=True, sharey=True, squeeze=False, figsize=scaled(size),
            layout="constrained",
        )  # fmt: skip
        figure.get_layout_engine().set(w_pad=0.12)  # room for the numbers at the panels' ends
        axes = grid.ravel()
        for spare in axes[needed:]:
            spare.set_visible(False)
        for last in axes[max(0, needed - columns) : needed]:  # above a hidden one there are ticks
            last.tick_params(labelbottom=True)
        return np.asarray(axes[:needed])

    def _title(self, drawn: int) -> str:
        around = self.uncertainty
        what = around.describe()
        what = what[0].upper() + what[1:]
        if around.is_everything:
            what += ": every conditional is possible"
        n_secrets = len(self.joint.secrets)
        if drawn < n_secrets:
            what += f"; {drawn} of {n_secrets:,} secrets"
        return "\n".join(wrap(what, int(self.figure_.get_figwidth() / _CHARACTER)))

    def _draw_bars(self, places: list[int], own: bool) -> None:
        p = self.joint.conditionals
        rows = np.arange(p.shape[1])
        size = max(1.5, min(5.0, 150.0 / len(rows)))
        top = self.upper[places].max()
        names = texts(self.joint.secrets)
        for axes, s in zip(self.axes_, places, strict=True):
            axes.hlines(
                rows, self.lower[s], self.upper[s], color=COLOURS[0], linewidth=size,
                alpha=0.45, label="what the set allows", rasterized=len(rows) > 500,
            )  # fmt: skip
            unseen = self.joint.marginal[s] <= 0
            if not unseen:
                axes.plot(
                    p[s], rows, "o", color="black", markersize=size, label="public conditional",
                    clip_on=False, zorder=3,
                )  # fmt: skip
            lines = [*wrap(names[s], _LINE), *(["(no public records)"] if unseen else [])]
            axes.set_title("\n".join(lines), fontsize="medium")
            axes.set(xlim=(0.0, min(1.0, 1.05 * top)), ylim=(len(rows) - 0.5, -0.5))
            axes.locator_params(axis="x", nbins=3)
            axes.grid(axis="x", color=GRID, linewidth=0.6)
            axes.set_axisbelow(True)
            if axes.get_subplotspec() is None or axes.get_subplotspec().is_first_col():
                axes.set_ylabel("value of U")
            axes.set_xlabel("probability given the secret")
        if own:
            marks = {
                label: mark
                for axes in self.axes_
                for mark, label in zip(*axes.get_legend_handles_labels(), strict=True)
            }
            self.figure_.legend(
                marks.values(), marks, loc="outside lower center", ncols=2, frameon=False
            )
        values = texts(self.joint.values)
        set_ticks(self.figure_, *(Ticks(axes.yaxis, rows, values) for axes in self.axes_))

    def _shapes(self, places: list[int]) -> list[Shape]:
        joint, names = self.joint, texts(self.joint.secrets)
        p, weight, budgets = joint.conditionals, self._weights, self._budgets
        return [
            Shape(
                f"given {names[s]}",
                p[s] if weight[s] > 0 else None,
                region_outline(p[s], weight[s], self.uncertainty.alpha, budgets[s]),
                box_outline(self.lower[s], self.upper[s]),
            )
            for s in places
        ]
