"""What the displays share: colours, words that fit, and ticks that do not overlap."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BASELINE",
    "COLOURS",
    "LINES",
    "MAP",
    "MARKERS",
    "category_ticks",
    "chosen",
    "new_axes",
    "number",
    "pyplot",
    "text_width",
    "texts",
    "words",
]

# Okabe and Ito's colours, without the yellow that is lost on white; neighbours differ in grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", (0, (5, 1.5)), (0, (4, 1.5, 1, 1.5)), (0, (1.5, 1)))
BASELINE = "#595959"
MAP = "cividis"  # even in lightness, and the same for all eyes

_WIDTHS = (24, 32, 48)  # characters of a name; the wider ones where names would look alike
_STEPS = (1, 2, 5)


def pyplot() -> Any:
    """Import matplotlib.pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "displays are drawn with matplotlib, which is not installed: pip install skrldp[plot]."
        ) from error
    return plt


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return the axes, or those of a new figure of this size in inches."""
    plt = pyplot()
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def number(value: float) -> str:
    """Write a number in four digits."""
    return f"{value:.4g}"


def words(category: Any) -> str:
    """Write a category in one line, such as matplotlib shows as it is.

    Parameters
    ----------
    category : object
        A value of a column, or a tuple of several columns' values; None is a missing one.

    Returns
    -------
    str
    """
    if isinstance(category, tuple):
        return ", ".join(words(part) for part in category)
    if category is None:
        return "missing"
    if isinstance(category, float | np.floating):
        return f"{float(category):.10g}"
    return " ".join(str(category).split()) or "(empty)"


def texts(categories: Sequence[Any]) -> list[str]:
    """Write categories so that they fit on an axis.

    Parameters
    ----------
    categories : sequence of length k
        Values, or tuples of them.

    Returns
    -------
    list of k strings
        Long ones lose their middle, but not so much that two look alike.
    """
    whole = [words(category) for category in categories]
    for width in _WIDTHS:
        short = [_shortened(name, width) for name in whole]
        if len(set(short)) == len(set(whole)):
            break
    return [name.replace("$", r"\$") for name in short]  # not the start of a formula


def _shortened(name: str, width: int) -> str:
    if len(name) <= width:
        return name
    left = (width - 1) // 2
    return f"{name[:left].rstrip()}…{name[-(width - 1 - left) :].lstrip()}"


def text_width(names: Sequence[str], points: float) -> float:
    """Width of the longest of some names, in inches; about."""
    return max(map(len, names), default=0) * 0.62 * points / 72.0


def category_ticks(
    axis: Any,
    places: NDArray[Any] | Sequence[float],
    names: Sequence[str],
    *,
    along: Any = None,
) -> None:
    """Name places along an axis: as many as there is room for, turned where that is needed.

    Parameters
    ----------
    axis : matplotlib Axis
        Whose ticks are set.
    places, names : sequences of length k
        Where the names go, in the order of the axis.
    along : matplotlib Axis
        The axis that has the limits, if it is another.
    """
    plt = pyplot()
    from matplotlib.font_manager import FontProperties

    horizontal = axis.axis_name == "x"
    size = plt.rcParams[f"{axis.axis_name}tick.labelsize"]
    points = FontProperties(size=size).get_size_in_points()
    along = axis if along is None else along
    box = along.axes.get_window_extent()
    # What a layout engine still takes for names and colour bars.
    room = 0.8 * (box.width if horizontal else box.height) / axis.axes.figure.dpi
    low, high = sorted(along.get_view_interval())
    places = np.asarray(places, dtype=float)
    gap = float(np.diff(places).min()) if len(places) > 1 else high - low
    gap_inches = room * gap / max(high - low, 1e-12)
    line = 1.35 * points / 72.0
    turned = horizontal and text_width(names, points) + line / 2.0 > gap_inches
    needed = line if turned or not horizontal else text_width(names, points) + line / 2.0
    step = _step(math.ceil(needed / gap_inches))
    axis.set_ticks(places[::step], labels=list(names)[::step])
    axis.axes.tick_params(axis=axis.axis_name, rotation=90 if turned else 0)


def _step(least: int) -> int:
    """Round a step up to 1, 2 or 5 times a power of ten."""
    step = 1
    while True:
        for factor in _STEPS:
            if factor * step >= least:
                return factor * step
        step *= 10


def chosen(wanted: Sequence[Any], secrets: Sequence[Any]) -> list[int]:
    """Find the places of some secrets.

    Parameters
    ----------
    wanted : sequence
        Some of the secrets.
    secrets : sequence
        All of them.

    Returns
    -------
    list of int

    Raises
    ------
    ValueError
        If none is wanted, or one is unknown.
    """
    if isinstance(wanted, str) or len(wanted) == 0:
        raise ValueError(f"secrets={wanted!r} must be a list of secrets, with at least one.")
    unknown = [secret for secret in wanted if secret not in secrets]
    if unknown:
        known = ", ".join(map(repr, secrets[:8])) + (", ..." if len(secrets) > 8 else "")
        raise ValueError(f"there is no secret {unknown[0]!r}; the secrets are {known}.")
    return [list(secrets).index(secret) for secret in wanted]
