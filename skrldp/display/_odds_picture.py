"""The marks of the display of leakage."""

import math
from typing import Any, NamedTuple

import numpy as np

from skrldp._numbers import at_most
from skrldp._typing import Floats
from skrldp.display._style import BASELINE, COLOURS, MARKERS, number

__all__ = ["KnownU", "OddsPicture"]

_REACH = 4.0  # most that the axis grows by what somebody learns who knows U
_MANY = 500  # points that are drawn as pixels in a vector graphic


class KnownU(NamedTuple):
    """What reports tell somebody who knows U.

    Attributes
    ----------
    given_u, everywhere : arrays of shape (m,)
        Logarithms of the greatest change of odds if U is known, and at any distribution.
    eps_given_u, eps_all : float
        Bounds for them, in nats; infinite for none.
    """

    given_u: Floats
    everywhere: Floats
    eps_given_u: float
    eps_all: float


class OddsPicture:
    """Changes of odds, drawn on axes whose scale is logarithmic.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    change : array of shape (m, k)
        Logarithms of the changes of the odds of secrets by reports, from left to right.
    worst : array of shape (m,)
        Of two secrets.
    pairs : str
        Which two these are, in words.
    """

    def __init__(self, ax: Any, change: Floats, worst: Floats, pairs: str) -> None:
        self._ax = ax
        self._change, self._worst, self._pairs = change, worst, pairs
        self._top = 1.0

    def draw_bound(self, proven: float, holds_for: str, known_u: KnownU | None) -> None:
        """Draw the bound, and scale the axis: its ticks are factors."""
        eps = proven if np.isfinite(proven) else 0.0
        top = max(_greatest(np.abs(self._change)), _greatest(self._worst), eps, 1e-3)
        if known_u is not None:
            more = max(_greatest(known_u.given_u), _greatest(known_u.everywhere))
            top = min(max(top, more), _REACH * top)
        self._top = 1.12 * top
        self._ax.set_ylim(-1.2 * top, 1.2 * top)
        step = (eps if eps > 0.01 * top else top) / 2.0
        step *= max(1, int(np.ceil(top / step / 4.0)))
        ticks = np.arange(-int(1.2 * top / step), int(1.2 * top / step) + 1) * step
        self._ax.set_yticks(ticks, labels=[_factor(tick) for tick in ticks])
        self._ax.axhline(0.0, color=BASELINE, linewidth=0.8)
        if not np.isfinite(proven):
            return
        label = f"ε = {at_most(eps, '.4g')}"
        if holds_for:
            label = f"proven bound, {label}\n({holds_for})"
        for place, name in ((eps, label), (-eps, None)):
            self._ax.axhline(place, color="black", linestyle="--", linewidth=1.2, label=name)

    def draw_known_u(self, known_u: KnownU) -> None:
        """Draw what a report tells somebody who knows U, and what it can tell at all."""
        given_u, places = known_u.given_u, np.arange(len(known_u.given_u))
        thick = max(0.8, min(9.0, 250.0 / len(places)))
        reach = np.minimum(known_u.everywhere, self._top)
        self._ax.vlines(
            places, -reach, reach, color="#E3E3E3", linewidth=thick, zorder=0.5,
            label=f"any distribution: {_bound_in_words('eps_all', known_u.eps_all)}",
        )  # fmt: skip
        beyond = given_u > self._top
        label: str | None = (
            f"somebody who knows U: {_bound_in_words('eps_given_u', known_u.eps_given_u)}"
        )
        if beyond.any():
            label = f"{label}\n(triangles: more than the axis shows)"
        size = min(90.0, (1.6 * thick) ** 2)
        for sign, mark in ((1, "^"), (-1, "v")):
            where = [(~beyond, "_", 1.4), (beyond, mark, 0.0)]
            for some, shape, width in where:
                if some.any():
                    at = sign * np.minimum(given_u[some], self._top)
                    self._ax.scatter(
                        places[some], at, s=size, color="black", marker=shape, linewidths=width,
                        zorder=2, label=label,
                    )  # fmt: skip
                    label = None

    def draw_points(self, names: list[str], coloured: list[int], probability: Floats) -> None:
        """Draw the secrets.

        Shapes: `probability` (m,).
        """
        change, worst = self._change, self._worst
        ax, places = self._ax, np.arange(len(change))
        pixels = change.size > _MANY
        share = probability / probability.max()
        area = 10.0 + (140.0 if len(change) <= 30 else 60.0 if len(change) <= 120 else 12.0) * share
        if len(names) > 2:
            reach = np.minimum(worst, self._top)
            ax.vlines(
                places,
                -reach,
                reach,
                color="#BFBFBF",
                linewidth=max(0.6, min(4.0, 120.0 / len(places))),
                zorder=1,
                label=self._pairs,
                rasterized=pixels,
            )
        others = [s for s in range(len(names)) if s not in coloured]
        if len(names) > 2 and others:
            self._scatter(
                np.tile(places, len(others)),
                change[:, others].T.ravel(),
                area=6.0,
                color=BASELINE,
                marker=".",
                label=f"{len(others):,} other secrets"
                if len(others) > 1
                else f"secret {names[others[0]]}",
                rasterized=pixels,
            )
        for place, s in enumerate(coloured):
            self._scatter(
                places,
                change[:, s],
                area=area,
                color=COLOURS[place % len(COLOURS)],
                marker=MARKERS[place % len(MARKERS)],
                label=f"secret {names[s]}",
                rasterized=pixels,
            )

    def _scatter(self, x: Any, y: Floats, *, area: Any, **style: Any) -> None:
        """Draw points; those of odds that become 0 or infinite are drawn at the edge."""
        finite = np.isfinite(y)
        x, sizes = np.asarray(x), np.broadcast_to(area, y.shape)
        self._ax.scatter(
            x[finite], y[finite], s=sizes[finite], zorder=3, edgecolors="white", linewidths=0.5,
            **style,
        )  # fmt: skip
        for end, mark in ((np.inf, r"$\infty$"), (-np.inf, "$0$")):
            at = x[y == end]
            if len(at):
                edge = np.full(len(at), np.sign(end) * self._top)
                self._ax.scatter(at, edge, s=90, color=style["color"], marker=mark, zorder=4)


def _factor(log: float) -> str:
    """Write the factor by which odds are multiplied or divided."""
    if abs(log) < 1e-12:
        return "1"
    size = f"e^{number(abs(log))}" if abs(log) > 12.0 else f"{np.exp(abs(log)):.3g}"
    return f"× {size}" if log > 0 else f"÷ {size}"


def _greatest(values: Floats) -> float:
    """Return the greatest finite number, at least 0."""
    return float(values[np.isfinite(values)].max(initial=0.0))


def _bound_in_words(name: str, eps: float) -> str:
    return f"{name} = {at_most(eps, '.4g')}" if math.isfinite(eps) else "unbounded"
