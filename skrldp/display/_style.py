"""Colours, short names and tick labels for all displays."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Okabe and Ito's colours, without yellow, which is faint on white. Adjacent colours also differ in
# greyscale.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", (0, (5, 1.5)), (0, (4, 1.5, 1, 1.5)), (0, (1.5, 1)))
BASELINE = "#595959"
GRID = "#D9D9D9"
MAP = "cividis"  # perceptually uniform, also for colour-blind readers

# Maximum number of characters of a name; the second, if names would otherwise look the same
_WIDTHS = (24, 36)
_STEPS = (1, 2, 5)
_POINTS = 10.0  # font size for which the default figure sizes are chosen
_LETTER = 0.62  # width of a letter relative to the font size, above DejaVu's average


def pyplot() -> Any:
    """Import matplotlib.pyplot, or raise an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "displays are drawn with matplotlib, which is not installed: pip install skrldp[plot]."
        ) from error
    return plt


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return the axes, or those of a new figure; its size is in inches for fonts of ten points."""
    if ax is not None:
        return ax
    plt = pyplot()
    size = np.array(size) * plt.rcParams["font.size"] / _POINTS
    return plt.subplots(figsize=size, layout="constrained")[1]


def texts(categories: Sequence[Any]) -> list[str]:
    """Write categories as short, distinct names for an axis.

    Returns a list of k strings of one line each. The middle of long names is omitted, and names
    that are then equal are numbered.
    """
    for width in _WIDTHS:
        names = [_shortened(category, width) for category in categories]
        alike = Counter(names)
        if len(alike) == len(names):
            break
    seen: Counter[str] = Counter()
    for index, name in enumerate(names):
        if alike[name] > 1:
            seen[name] += 1
            names[index] = f"{name} #{seen[name]}"
    return [name.replace("$", r"\$") for name in names]  # escaped, because $ starts a formula


def labels(names: Sequence[Any]) -> list[str]:
    """Write names for a legend, which would omit names that start with an underscore."""
    return [f" {name}" if name.startswith("_") else name for name in texts(names)]


def _shortened(category: Any, width: int) -> str:
    if isinstance(category, tuple):
        n_entries = max(len(category), 1)
        return ", ".join(_shortened(entry, max(8, width // n_entries)) for entry in category)
    name = _words(category)
    if not isinstance(category, str):  # a shortened number would be a different number
        width = max(width, _WIDTHS[0])
    if len(name) <= width:
        return name
    left = (width - 1) // 2
    return f"{name[:left].rstrip()}…{name[-(width - 1 - left) :].lstrip()}"


def _words(value: Any) -> str:
    if value is None:
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{float(value):.10g}"
    return " ".join(str(value).split()) or "(empty)"


def font_size(which: str) -> float:
    """Size of a kind of text, such as "xtick.labelsize", in points."""
    plt = pyplot()
    from matplotlib.font_manager import FontProperties

    size: float = FontProperties(size=plt.rcParams[which]).get_size_in_points()
    return size


def text_width(names: Sequence[str], points: float = _POINTS) -> float:
    """Approximate width of the longest name, in inches."""
    return max(map(len, names), default=0) * _LETTER * points / 72.0


def height_below(names: Sequence[str], gap: float) -> float:
    """Height that names along an x axis require, in inches, at ten points."""
    turned = _is_turned(names, _POINTS, gap)
    return text_width(names) if turned else 1.4 * _POINTS / 72.0


def _is_turned(names: Sequence[str], points: float, gap: float) -> bool:
    return text_width(names, points) + 0.7 * points / 72.0 > gap


class Ticks(NamedTuple):
    """Names for positions along an axis.

    Attributes
    ----------
    axis : matplotlib Axis
        The axis whose ticks are set.
    positions, names : sequences of length k
        Positions of the names, in order.
    along : matplotlib Axis or None
        The axis whose limits apply, if it is a different one.
    period : int or None
        Number of positions after which names repeat. Each repetition omits the same names, or all
        of them if there is no space.
    """

    axis: Any
    positions: NDArray[Any]
    names: Sequence[str]
    along: Any = None
    period: int | None = None

    def set(self) -> None:
        """Label as many positions as fit into the axes at their current size."""
        name = self.axis.axis_name
        points = font_size(f"{name}tick.labelsize")
        along = self.axis if self.along is None else self.along
        box = along.axes.get_window_extent()
        room = (box.width if name == "x" else box.height) / along.axes.figure.dpi
        low, high = sorted(along.get_view_interval())
        step = np.diff(self.positions[:2])[0] if len(self.positions) > 1 else high - low
        gap = room * float(step)
        gap /= high - low
        turned = name == "x" and _is_turned(self.names, points, gap)
        line = 1.35 * points / 72.0
        step = _step(math.ceil(line / gap - 1e-9)) if turned or name == "y" else 1
        index = np.arange(len(self.positions))
        if self.period is None:
            index = index[::step]
        else:  # space for the first name of the next repetition
            within = index % self.period
            keep = (within % step == 0) & (self.period - within >= step)
            index = index[keep]
        self.axis.set_ticks(self.positions[index], labels=[self.names[int(i)] for i in index])
        self.axis.axes.tick_params(axis=name, rotation=90 if turned else 0)


def set_ticks(figure: Any, *ticks: Ticks) -> None:
    """Set tick names for an estimated size, and again when the layout has determined sizes."""
    root = figure.figure  # the whole figure, even for a subfigure
    layout = root.get_layout_engine()
    for turn in range(1 if layout is None else 2):
        if turn:
            layout.execute(root)
        for axis_ticks in ticks:
            axis_ticks.set()


def _step(minimum: int) -> int:
    """Round a step up to 1, 2 or 5 times a power of ten."""
    steps = (factor * 10**power for power in count() for factor in _STEPS)
    return next(step for step in steps if step >= minimum)


def legend(ax: Any, *, above: bool) -> Any:
    """Add a legend above the axes, where it hides nothing, or inside them."""
    if not above:
        return ax.legend(fontsize="small")
    names = [line for name in ax.get_legend_handles_labels()[1] for line in name.split("\n")]
    width = 0.9 * text_width(names, font_size("legend.fontsize")) + 0.6
    columns = max(1, min(3, len(names), int(0.9 * ax.figure.get_figwidth() / width)))
    return ax.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns, frameon=False, borderpad=0.2
    )
