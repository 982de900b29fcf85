"""The mechanism as a heat map."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.display._style import MAP, Ticks, height_below, new_axes, set_ticks, text_width, texts
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sanitizers.access import fitted_sanitizer

_ENTRIES = 4_000_000
_PIXELS = 500  # maximum number of rows or columns that are drawn individually


class MechanismDisplay:
    """Heat map of a mechanism: the probability of each report given each cell.

    The columns are cells, grouped by secret. If the mechanism does not observe the secret, a single
    group represents all secrets.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism to show.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism to show.
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.
    image_ : matplotlib AxesImage
        The heat map.
    order_ : array of shape (b,)
        The symbols' indices from top to bottom.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skrldp import MechanismDisplay, SRRSanitizer
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[7, 10, 26, 57])
    >>> display = MechanismDisplay.from_estimator(sanitizer)
    >>> display.ax_.get_ylabel()
    'report'
    >>> plt.close(display.figure_)
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism

    @classmethod
    def from_estimator(
        cls, sanitizer: Any, *, ax: Any = None, **options: Any
    ) -> "MechanismDisplay":
        """Show the mechanism of a fitted sanitizer.

        Parameters
        ----------
        sanitizer : sanitizer
            A fitted sanitizer, or a FrozenEstimator that contains one.
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        **options
            For :meth:`plot`.

        Returns
        -------
        MechanismDisplay

        Raises
        ------
        TypeError, NotFittedError
            If `sanitizer` is not a sanitizer, or has not been fitted.
        ValueError
            As by :meth:`plot`.
        """
        return cls(fitted_sanitizer(sanitizer).mechanism_).plot(ax, **options)

    def plot(
        self, ax: Any = None, *, order: str = "cells", cmap: Any = MAP, colorbar: bool = True
    ) -> "MechanismDisplay":
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        order : {"cells", "symbols"}, default="cells"
            Order of reports from top to bottom: by the cell for which each is most probable, or by
            index.
        cmap : str or matplotlib Colormap, default="cividis"
            Colour map.
        colorbar : bool, default=True
            Whether to draw the colour bar.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the order is unknown, or the mechanism has more than four million entries.
        ImportError
            If matplotlib is not installed.
        """
        if order not in ("cells", "symbols"):
            raise ValueError(f"order={order!r} must be 'cells' or 'symbols'.")
        mechanism = self.mechanism
        b, a = mechanism.shape
        if a * b > _ENTRIES:
            mend = "Draw one with a coarser alphabet."
            if mechanism.form.blocks is not None:
                mend = "Its four different probabilities are mechanism.form.blocks."
            raise ValueError(
                f"a heat map of {b:,} reports x {a:,} cells has {a * b:,} entries, more than can "
                f"be drawn ({_ENTRIES:,}). {mend}"
            )
        all_alike = mechanism.observe == "nonsensitive"
        groups = ["any secret"] if all_alike else texts(mechanism.secrets)
        width = len(mechanism.values)
        matrix = mechanism.matrix[:, : width * len(groups)]
        # The sort is stable, so that reports that are cells stay in order.
        self.order_ = np.arange(b)
        if order == "cells":
            self.order_ = matrix.argmax(axis=1).argsort(kind="stable")
        reports = texts([mechanism.symbols[y] for y in self.order_])
        values = texts(mechanism.values)
        ax = new_axes(ax, _size(reports, groups, values))
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(matrix[self.order_], cmap, colorbar)
        top = self._draw_groups(groups, width)
        cells = np.arange(matrix.shape[1])
        ax.set(xlabel="value of U", ylabel="report")
        set_ticks(
            self.figure_,
            Ticks(ax.yaxis, np.arange(b), reports),
            Ticks(ax.xaxis, cells, values * len(groups), period=width),
            Ticks(top, (np.arange(len(groups)) + 0.5) * width - 0.5, groups, along=ax.xaxis),
        )
        if not len(ax.get_xticks()):
            ax.set_xlabel(f"value of U ({width:,} for each secret)")
        return self

    def _draw(self, matrix: NDArray[np.float64], cmap: Any, colorbar: bool) -> None:
        """Draw the entries in the cells' coordinates or, if there are too many, maxima of blocks.

        Otherwise, a pixel would show an arbitrary one of several entries, and the diagonal could
        vanish.
        """
        b, a = matrix.shape
        high, wide = (math.ceil(size / _PIXELS) for size in matrix.shape)
        for axis, step in ((0, high), (1, wide)):
            matrix = np.maximum.reduceat(matrix, np.arange(0, matrix.shape[axis], step), axis=axis)
        self.image_ = self.ax_.imshow(
            matrix,
            cmap=cmap,
            vmin=0.0,
            interpolation="none",
            aspect="auto",
            extent=(-0.5, matrix.shape[1] * wide - 0.5, matrix.shape[0] * high - 0.5, -0.5),
        )
        self.ax_.set(xlim=(-0.5, a - 0.5), ylim=(b - 0.5, -0.5))
        if colorbar:
            label = "probability of the report"
            if high * wide > 1:
                label = f"greatest {label}\nof each {high} reports x {wide} cells"
            self.figure_.colorbar(self.image_, ax=self.ax_, label=label)

    def _draw_groups(self, groups: list[str], width: int) -> Any:
        """Draw lines between the secrets, and return an axis along the top for their names."""
        box = self.ax_.get_window_extent()
        cell = 72.0 * box.width / self.figure_.dpi / (width * len(groups))
        stroke = min(2.4, max(0.35 * cell, 12.0 / len(groups)))
        for edge in np.arange(1, len(groups)) * width - 0.5:
            self.ax_.axvline(edge, color="white", linewidth=stroke)
            self.ax_.axvline(edge, color="black", linewidth=stroke / 3.0)
        top = self.ax_.secondary_xaxis("top")
        top.set(xlabel="secret", xlim=self.ax_.get_xlim())
        top.tick_params(length=0)
        return top.xaxis


def _size(reports: list[str], groups: list[str], values: list[str]) -> tuple[float, float]:
    """Return the size of a new figure: a fifth of an inch for each entry, within limits."""
    cells = len(groups) * len(values)
    wide = min(max(3.6, 0.22 * cells), 8.0)
    high = min(max(2.6, 0.22 * len(reports)), 7.0)
    names = height_below(values, wide / cells) + height_below(groups, wide / len(groups))
    return wide + 1.6 + text_width(reports), high + 0.9 + names
