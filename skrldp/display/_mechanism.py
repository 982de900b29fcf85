"""The mechanism as a heat map."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.display._style import MAP, category_ticks, new_axes, text_width, texts
from skrldp.mechanism import Mechanism
from skrldp.sanitizers import fitted_sanitizer

__all__ = ["MechanismDisplay"]

_ENTRIES = 4_000_000
_PIXELS = 500  # more rows or columns than this are drawn in blocks


class MechanismDisplay:
    """Heat map of a mechanism: the probability of each report given each cell.

    Cells stand in columns, grouped by secret. Where it does not see the secret, there is one group
    that serves for all.

    Parameters
    ----------
    mechanism : Mechanism
        What is shown.

    Attributes
    ----------
    mechanism : Mechanism
        What is shown.
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
    >>> sanitizer = SRRSanitizer(eps=1.0).fit(X, sample_weight=[7, 10, 26, 57])
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
            A fitted one, or one inside a FrozenEstimator.
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
            If it is no sanitizer, or has not been fitted.
        ValueError
            As by :meth:`plot`.
        """
        return cls(fitted_sanitizer(sanitizer).mechanism_).plot(ax, **options)

    def plot(
        self, ax: Any = None, *, order: str = "cells", cmap: Any = MAP, colorbar: bool = True
    ) -> "MechanismDisplay":
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        order : {"cells", "symbols"}, default="cells"
            Reports from top to bottom: by the cell that each is most probable for, or by index.
        cmap : str or matplotlib Colormap, default="cividis"
            Colours.
        colorbar : bool, default=True
            Whether to draw the scale of colours.

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
            few = hasattr(mechanism, "probabilities")
            mend = (
                "Its four different probabilities are mechanism.probabilities."
                if few
                else "Draw one with a coarser alphabet."
            )
            raise ValueError(
                f"a heat map of {b:,} reports x {a:,} cells has {a * b:,} entries, more than can "
                f"be drawn ({_ENTRIES:,}). {mend}"
            )
        blind = mechanism.observe == "nonsensitive"
        groups = ["any secret"] if blind else texts(mechanism.secrets)
        width = len(mechanism.values)
        matrix = mechanism.matrix[:, : width * len(groups)]
        # A stable sort of the first of equals keeps mechanisms whose reports are cells in order.
        self.order_ = (
            matrix.argmax(axis=1).argsort(kind="stable") if order == "cells" else (np.arange(b))
        )
        reports = texts([mechanism.symbols[y] for y in self.order_])
        ax = new_axes(ax, _size(len(matrix), matrix.shape[1], reports))
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(matrix[self.order_], cmap, colorbar)
        category_ticks(ax.yaxis, np.arange(b), reports)
        ax.set_ylabel("report")
        category_ticks(ax.xaxis, np.arange(matrix.shape[1]), texts(mechanism.values) * len(groups))
        ax.set_xlabel("value of U")
        self._draw_groups(groups, width)
        return self

    def _draw(self, matrix: NDArray[np.float64], cmap: Any, colorbar: bool) -> None:
        """Draw the entries, in cells' coordinates; where there are too many, their blocks' maxima.

        A pixel that stood for several entries would show any one of them, and lose the diagonal.
        """
        high, wide = (math.ceil(size / _PIXELS) for size in matrix.shape)
        for axis, step in ((0, high), (1, wide)):
            matrix = np.maximum.reduceat(matrix, np.arange(0, matrix.shape[axis], step), axis=axis)
        b, a = self.mechanism.shape
        if self.mechanism.observe == "nonsensitive":
            a = len(self.mechanism.values)
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

    def _draw_groups(self, groups: list[str], width: int) -> None:
        """Separate the secrets, and name them along the top."""
        for edge in np.arange(1, len(groups)) * width - 0.5:
            self.ax_.axvline(edge, color="white", linewidth=2.4)
            self.ax_.axvline(edge, color="black", linewidth=0.8)
        top = self.ax_.secondary_xaxis("top")
        top.set_xlabel("secret")
        top.tick_params(length=0)
        category_ticks(
            top.xaxis, (np.arange(len(groups)) + 0.5) * width - 0.5, groups, along=self.ax_.xaxis
        )


def _size(high: int, wide: int, reports: list[str]) -> tuple[float, float]:
    """Size of a new figure, in inches: a fifth of one for each entry, within limits."""
    return (
        min(max(3.6, 0.22 * wide), 8.0) + 1.6 + text_width(reports, 10.0),
        min(max(2.6, 0.22 * high), 7.0) + 2.0,
    )
