"""The conditionals that an uncertainty set allows."""

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.bounds import cell_bounds
from skrldp.display._simplex import CORNERS, box_outline, region_outline, to_plane
from skrldp.display._style import (
    BASELINE,
    COLOURS,
    LINES,
    MARKERS,
    Ticks,
    chosen,
    legend,
    new_axes,
    number,
    pyplot,
    set_ticks,
    text_width,
    texts,
)
from skrldp.joint import JointDistribution
from skrldp.sanitizers import fitted_sanitizer
from skrldp.uncertainty import AllDistributions, RenyiBall

__all__ = ["UncertaintyDisplay"]

Floats = NDArray[np.float64]

_MOST = 6  # secrets that are drawn if none are named
_COLUMNS = 3
_CORNER = 20  # characters in a line at a triangle's corner


class UncertaintyDisplay:
    """The conditionals of U given each secret: the public ones, and what the set of laws allows.

    Bars show the least and greatest probability of each value in the set. Each end is that of some
    law, but no law has them all. For three values of U there is a picture of all of it: a triangle
    of laws, with the exact region of each conditional, and the box of its bounds around it.

    Parameters
    ----------
    joint : JointDistribution
        The public law.
    alpha, radius : float
        Order and radius (nats) of the ball of laws around it; the radius is infinite for all laws.

    Attributes
    ----------
    joint, alpha, radius
        As given.
    lower, upper : arrays of shape (a1, a2)
        Least and greatest probabilities.
    axes_ : array of matplotlib Axes
        Set by `plot`.
    ax_, figure_ : matplotlib Axes and Figure
        The first of them, and its figure.

    Examples
    --------
    >>> from skrldp import JointDistribution, UncertaintyDisplay
    >>> display = UncertaintyDisplay(JointDistribution([[7, 10], [26, 57]]), 2.0, 0.07524)
    >>> display.lower.round(3)
    array([[0.155, 0.273],
           [0.192, 0.533]])
    """

    def __init__(self, joint: JointDistribution, alpha: float, radius: float) -> None:
        self.joint = joint
        self.alpha = alpha
        self.radius = radius
        self.lower, self.upper = cell_bounds(joint.conditionals, joint.marginal, alpha, radius)

    @classmethod
    def from_estimator(
        cls, sanitizer: Any, *, ax: Any = None, **options: Any
    ) -> "UncertaintyDisplay":
        """Show the uncertainty set of a fitted sanitizer.

        Parameters
        ----------
        sanitizer : sanitizer
            A fitted one, or one inside a FrozenEstimator. The set of GRR and SRR is that of all
            laws, and that of NonRobust the public law alone.
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
        uncertainty = fitted.uncertainty_
        return cls(fitted.joint_, uncertainty.alpha, uncertainty.B_).plot(ax, **options)

    @classmethod
    def from_joint(
        cls,
        joint: JointDistribution,
        uncertainty: RenyiBall | AllDistributions | None = None,
        *,
        ax: Any = None,
        **options: Any,
    ) -> "UncertaintyDisplay":
        """Show a set around a public law, without a sanitizer.

        Parameters
        ----------
        joint : JointDistribution
            The public law.
        uncertainty : RenyiBall or AllDistributions, optional
            The set; None is ``RenyiBall()``.
        ax : matplotlib Axes or list of them, optional
            Where to draw; None makes a figure.
        **options
            For :meth:`plot`.

        Returns
        -------
        UncertaintyDisplay
        """
        uncertainty = RenyiBall() if uncertainty is None else uncertainty
        radius = uncertainty.radius_for(joint.n, joint.counts.size)
        return cls(joint, uncertainty.alpha, radius).plot(ax, **options)

    def plot(
        self, ax: Any = None, *, secrets: Sequence[Any] | None = None, kind: str = "auto"
    ) -> "UncertaintyDisplay":
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or list of them, optional
            Where to draw: one for each secret if there are bars, one for a triangle. None makes a
            figure.
        secrets : sequence, optional
            Which secrets to draw; None: the first six.
        kind : {"auto", "bars", "triangle"}, default="auto"
            "auto" is a triangle for three values of U, bars otherwise.

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
        triangle = n_values == 3 and kind != "bars"
        self.axes_ = self._axes(ax, 1 if triangle else len(places))
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        own = ax is None
        if own:
            self.figure_.suptitle(self._title(len(places)), fontsize="medium")
        if triangle:
            self._draw_triangle(places)
            legend(self.ax_, above=own)
        else:
            self._draw_bars(places)
            if own:
                marks = self.ax_.get_legend_handles_labels()
                self.figure_.legend(*marks, loc="outside lower center", ncols=2, frameon=False)
            rows, names = np.arange(n_values), texts(self.joint.values)
            set_ticks(self.figure_, *(Ticks(axes.yaxis, rows, names) for axes in self.axes_))
        return self

    def _axes(self, ax: Any, needed: int) -> NDArray[Any]:
        """Return as many axes as are needed, new ones if none are given."""
        if ax is not None:
            axes = np.array(ax, dtype=object).ravel()
            if len(axes) != needed:
                raise ValueError(
                    f"ax holds {len(axes)} axes, but {needed} are needed: give a list of as many, "
                    "choose secrets, or leave ax out."
                )
            return axes
        if len(self.joint.values) == 3 and needed == 1:
            return np.array([new_axes(None, (5.6, 4.8))], dtype=object)
        columns = min(_COLUMNS, needed)
        rows = math.ceil(needed / columns)
        names = texts(self.joint.values)
        size = (
            1.2 + text_width(names, 10.0) + 2.1 * columns,
            1.3 + rows * (0.6 + min(max(1.3, 0.26 * len(names)), 7.0)),
        )
        figure, grid = pyplot().subplots(
            rows, columns, sharex=True, sharey=True, squeeze=False, figsize=size,
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
        if math.isinf(self.radius):
            what = "All laws: every conditional is possible"
        elif self.radius == 0:
            what = "The public law alone"
        else:
            what = f"Laws within B = {number(self.radius)} (α = {number(self.alpha)})"
        n_secrets = len(self.joint.secrets)
        return what if drawn == n_secrets else f"{what}; {drawn} of {n_secrets:,} secrets"

    def _draw_bars(self, places: list[int]) -> None:
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
            title = f"{names[s]}\n(no public records)" if unseen else names[s]
            axes.set_title(title, fontsize="medium" if len(names[s]) <= 18 else "small")
            axes.set(xlim=(0.0, min(1.0, 1.05 * top)), ylim=(len(rows) - 0.5, -0.5))
            axes.locator_params(axis="x", nbins=4)
            axes.grid(axis="x", color="#D9D9D9", linewidth=0.6)
            axes.set_axisbelow(True)
            if axes.get_subplotspec() is None or axes.get_subplotspec().is_first_col():
                axes.set_ylabel("value of U")
            axes.set_xlabel("probability given the secret")

    def _draw_triangle(self, places: list[int]) -> None:
        axes, p = self.ax_, self.joint.conditionals
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.fill(*CORNERS.T, facecolor="none", edgecolor="black", linewidth=1.0)
        for tenth in np.arange(0.2, 0.9, 0.2):  # where one probability is constant
            for u in range(3):
                ends = np.zeros((2, 3))
                ends[:, u] = tenth
                ends[[0, 1], [(u + 1) % 3, (u + 2) % 3]] = 1.0 - tenth
                axes.plot(*to_plane(ends).T, color="#D9D9D9", linewidth=0.5, zorder=0)
        sides = ({"ha": "left", "va": "top"}, {"ha": "right", "va": "top"}, {"ha": "center"})
        for corner, name, where in zip(CORNERS, texts(self.joint.values), sides, strict=True):
            above = 0.02 if where["ha"] == "center" else -0.02
            axes.text(corner[0], corner[1] + above, "\n".join(wrap(name, _CORNER)), **where)
        names = texts(self.joint.secrets)
        for place, s in enumerate(places):
            style = {
                "color": COLOURS[place % len(COLOURS)],
                "linestyle": LINES[place % len(LINES)],
            }
            marker = MARKERS[place % len(MARKERS)]
            outline = region_outline(p[s], self.joint.marginal[s], self.alpha, self.radius)
            x, y = to_plane(np.concatenate([outline, outline[:1]])).T
            axes.fill(x, y, color=style["color"], alpha=0.15, linewidth=0)
            axes.plot(x, y, **style, linewidth=1.8)
            box = box_outline(self.lower[s], self.upper[s])
            axes.fill(*to_plane(box).T, facecolor="none", edgecolor=BASELINE, linewidth=0.8)
            if self.joint.marginal[s] > 0:
                axes.plot(*to_plane(p[s]), marker, color=style["color"], markeredgecolor="black")
            axes.plot([], [], marker=marker, **style, markeredgecolor="black",
                      label=f"given {names[s]}")  # fmt: skip
        axes.plot([], [], color=BASELINE, linewidth=0.8, label="box of the bounds")
