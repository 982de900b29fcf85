"""The conditionals of three values in a Rényi ball, as shapes in a triangle."""

import math
from collections.abc import Sequence
from itertools import product
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from skrldp._typing import Floats
from skrldp.display._style import BASELINE, COLOURS, GRID, LINES, MARKERS
from skrldp.support_function import conditional_radius, support, worst_conditionals

__all__ = [
    "CORNERS",
    "Shape",
    "are_small",
    "box_outline",
    "draw_triangle",
    "region_outline",
    "to_plane",
]


# Corners of the triangle: the first value at the lower left, then counterclockwise.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
_DIRECTIONS = 360
_SMALL = 0.4  # shapes that fill less of the triangle are enlarged
_LINE = 14  # characters in a line at a corner
_SHORT_LINE = 8  # and beside an enlargement


class Shape(NamedTuple):
    """What is drawn about one secret.

    Attributes
    ----------
    name : str
        Name of the secret.
    centre : array of shape (3,) or None
        Public conditional; None if the secret has no public records.
    outline, box : arrays of shape (m, 3)
        Boundary of the region, and corners of the box around it.
    """

    name: str
    centre: Floats | None
    outline: Floats
    box: Floats


def to_plane(conditionals: Floats) -> Floats:
    """Place distributions in the triangle.

    Shapes: `conditionals` (..., 3); returns (..., 2).
    """
    return conditionals @ CORNERS


def region_outline(p: Floats, weight: float, alpha: float, radius: float) -> Floats:
    """Boundary of the set of one secret's conditionals over a ball of joint distributions.

    The set is convex, so it is the convex hull of the maximisers of linear functions, which the
    support function gives.

    Shapes: `p` (3,). Returns (m, 3): distributions along the boundary.
    """
    if weight > 0 and radius == 0:
        return p[None, :]
    if np.isinf(conditional_radius([weight], alpha, radius)[0]):
        return np.eye(3)
    angle = np.linspace(0.0, 2.0 * np.pi, _DIRECTIONS, endpoint=False)
    plane = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    q = (plane @ CORNERS.T)[:, None, :]
    centre = np.broadcast_to(p, q.shape)
    weights = np.full((len(q), 1), weight)
    slack = support(q, centre, weights, alpha, radius).slack
    return worst_conditionals(q, centre, weights, alpha, radius, slack)[:, 0]


def box_outline(lower: Floats, upper: Floats) -> Floats:
    """Corners of the polygon of distributions of three values between bounds.

    Shapes: `lower` and `upper` (3,). Returns (m, 3): in order around the polygon; fewer than six
    where bounds meet.
    """
    found = []
    for free in range(3):  # at a corner two probabilities are at their bounds
        others = [u for u in range(3) if u != free]
        for ends in product((0, 1), repeat=2):
            distribution = np.empty(3)
            distribution[others] = [
                (lower, upper)[end][u] for end, u in zip(ends, others, strict=True)
            ]
            distribution[free] = 1.0 - distribution[others].sum()
            if lower[free] - 1e-12 <= distribution[free] <= upper[free] + 1e-12:
                found.append(distribution)
    corners = np.unique(np.round(found, 12), axis=0)
    x, y = (to_plane(corners) - to_plane(corners).mean(axis=0)).T
    return corners[np.argsort(np.arctan2(y, x))]


def are_small(shapes: Sequence[Shape]) -> bool:
    """Whether shapes together fill little of the triangle, but are more than points."""
    return 0.0 < _frame(shapes)[1] < _SMALL


def _frame(shapes: Sequence[Shape]) -> tuple[Floats, float]:
    """Centre and side of the square around shapes."""
    points = to_plane(np.concatenate([part for s in shapes for part in (s.outline, s.box)]))
    low, high = points.min(axis=0), points.max(axis=0)
    return (low + high) / 2.0, float((high - low).max())


def draw_triangle(
    ax: Any, shapes: Sequence[Shape], values: Sequence[str], *, enlarged: bool
) -> None:
    """Draw shapes in the triangle of distributions."""
    centre, side = _frame(shapes)
    side *= 1.2
    step = 0.2
    if enlarged:
        step = next(f * 10.0**e for e in range(-6, 1) for f in (1, 2, 5) if f * 10.0**e > side / 8)
    ax.set_aspect("equal")
    _draw_frame(ax, step)
    for place, shape in enumerate(shapes):
        _draw_shape(ax, shape, place)
    ax.plot([], [], color=BASELINE, linewidth=0.8, label="box of the bounds")
    ax.plot([], [], color=GRID, linewidth=0.8, label=f"grid of {step:g}")
    if not enlarged:
        _name_corners(ax, values, _LINE)
        return
    corner = centre - side / 2.0
    ax.set(
        xlim=(corner[0], corner[0] + side), ylim=(corner[1], corner[1] + side), xticks=[], yticks=[]
    )
    whole = ax.inset_axes((1.04, 0.25, 0.55, 0.75))
    whole.set_aspect("equal")
    whole.fill(*CORNERS.T, facecolor="none", edgecolor="black", linewidth=1.0)
    for place, shape in enumerate(shapes):
        whole.fill(*to_plane(shape.outline).T, color=COLOURS[place % len(COLOURS)])
    frame = corner + side * np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    whole.fill(*frame.T, facecolor="none", edgecolor="black", linewidth=0.6)
    _name_corners(whole, values, _SHORT_LINE, fontsize="x-small")


def _draw_frame(ax: Any, step: float) -> None:
    """Draw the triangle, and lines along which one probability is a multiple of the step."""
    ax.fill(*CORNERS.T, facecolor="none", edgecolor="black", linewidth=1.0)
    levels = np.arange(1, math.ceil(1.0 / step - 1e-9)) * step
    for u in range(3):
        ends = np.zeros((2, len(levels), 3))
        ends[:, :, u] = levels
        ends[0, :, (u + 1) % 3] = ends[1, :, (u + 2) % 3] = 1.0 - levels
        ax.plot(*np.moveaxis(to_plane(ends), 2, 0), color=GRID, linewidth=0.6, zorder=0)


def _draw_shape(ax: Any, shape: Shape, place: int) -> None:
    colour, line = COLOURS[place % len(COLOURS)], LINES[place % len(LINES)]
    mark = {"marker": MARKERS[place % len(MARKERS)], "color": colour, "markeredgecolor": "black"}
    x, y = to_plane(np.concatenate([shape.outline, shape.outline[:1]])).T
    ax.fill(x, y, color=colour, alpha=0.15, linewidth=0)
    ax.plot(x, y, color=colour, linestyle=line, linewidth=1.8)
    ax.fill(*to_plane(shape.box).T, facecolor="none", edgecolor=BASELINE, linewidth=0.8)
    if shape.centre is not None:
        ax.plot(*to_plane(shape.centre), **mark)
    else:
        mark = {"color": colour}
    ax.plot([], [], **mark, linestyle=line, label=shape.name)


def _name_corners(ax: Any, values: Sequence[str], width: int, **style: Any) -> None:
    """Name the corners of the triangle, in lines of so many characters, and leave room for that."""
    ax.set_axis_off()
    names = [wrap(value, width) for value in values]
    line = 1.2 / width  # of the names, in sides of the triangle
    ax.set(
        xlim=(-0.02, 1.02),
        ylim=(-0.04 - line * max(map(len, names[:2])), CORNERS[2, 1] + 0.04 + line * len(names[2])),
    )
    sides = (("left", "top"), ("right", "top"), ("center", "bottom"))
    for corner, lines, (across, along) in zip(CORNERS, names, sides, strict=True):
        above = 0.02 if along == "bottom" else -0.02
        ax.text(corner[0], corner[1] + above, "\n".join(lines), ha=across, va=along, **style)
