"""Utility as a function of ε over all distributions."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skrldp._arrays import real_numbers
from skrldp._params import check_positive
from skrldp._typing import Floats
from skrldp.display._curves import (
    INFORMATION,
    CurveDisplay,
    Fits,
    is_by_pair,
    levels_of,
    read_as,
    templates_of,
    utility_of,
    visible,
)
from skrldp.display._style import BASELINE, number, texts
from skrldp.sanitizers import IRSanitizer, SRRSanitizer

__all__ = ["PriceDisplay"]


_STEPS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
_POINTS = ("*", "X", "P", "d", "h", "p")
_GAP = 0.08  # between the names of ticks, as a share of the axis


class PriceDisplay(CurveDisplay):
    """Utility against `eps_all`, the privacy parameter over all distributions.

    A mechanism that is private over a set of distributions may reveal the secret by a second
    report, or to somebody who knows U. With `eps_all` it is private over all distributions as well,
    at a larger parameter than `eps`, and this display shows what that costs. At the right end is
    the utility without such a bound.

    Parameters
    ----------
    curves : mapping of name to (eps_all, utility)
        Two arrays of one length for each curve.
    unbounded : mapping of name to float, optional
        The utility without `eps_all`, of some of the curves.
    points : mapping of name to (eps_all, utility), optional
        Mechanisms to compare with, a point each; an infinite `eps_all` is at the right end.
    eps : float, optional
        Privacy parameter over the uncertainty set, if all have the same; it is named on the axis.
    utility : str, optional
        Label of the utility axis.

    Attributes
    ----------
    curves : dict of name to (eps_all, utility)
        Sorted by `eps_all`.
    unbounded, points, eps, utility
        As given.
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.
    lines_, points_ : lists of matplotlib Line2D
        One for each curve, and for each point.

    Examples
    --------
    >>> from skrldp import PriceDisplay
    >>> display = PriceDisplay({"PolyOpt": ([2.0, 1.0], [0.4, 0.2])}, unbounded={"PolyOpt": 0.6})
    >>> display.curves["PolyOpt"]
    (array([1., 2.]), array([0.2, 0.4]))
    """

    def __init__(
        self,
        curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
        *,
        unbounded: Mapping[str, float] | None = None,
        points: Mapping[str, tuple[float, float]] | None = None,
        eps: float | None = None,
        utility: str = INFORMATION.label,
    ) -> None:
        self._take(curves)
        for name, (levels, _) in self.curves.items():
            if not (np.isfinite(levels).all() and levels[0] > 0):
                raise ValueError(
                    f"the curve {name!r} must have positive finite numbers for eps_all: the "
                    "utility without eps_all belongs into `unbounded`."
                )
        self.unbounded = dict(unbounded or {})
        strange = [name for name in self.unbounded if name not in self.curves]
        if strange:
            raise ValueError(f"unbounded names {strange[0]!r}, but there is no such curve.")
        self.points = dict(points or {})
        for name, (level, _) in self.points.items():
            if not level > 0:
                raise ValueError(f"the point {name!r} must have a positive eps_all, got {level!r}.")
        self.eps = eps
        self.utility = utility

    @classmethod
    def from_table(
        cls,
        sanitizer: Any,
        X: Any,
        *,
        sample_weight: Any = None,
        eps_all: Sequence[float] | None = None,
        points: bool = True,
        verbose: int = 0,
        ax: Any = None,
        **options: Any,
    ) -> "PriceDisplay":
        """Fit sanitizers for several `eps_all` and show their utility at the public distribution.

        Parameters
        ----------
        sanitizer : sanitizer or dict of name to sanitizer
            Templates that have the parameter `eps_all`, fitted or not: copies of them are fitted.
            They may have different `eps`.
        X : array, list of rows, or data frame of shape (n, n_columns)
            The public table, as for `fit`.
        sample_weight : array of shape (n,), optional
            How many records each row stands for.
        eps_all : sequence of float, optional
            Privacy parameters over all distributions, in nats, none less than a sanitizer's `eps`.
            Each curve takes one fit for each of them, and one without `eps_all`. None: `eps`, and
            what is greater of 0.5, 1, 2, 3, 4, 6 and 8.
        points : bool, default=True
            Whether to add SRR, which is private at `eps` for all distributions, and IR, at what its
            certificate proves for all distributions; for each `eps` that is a number. They have the
            columns, the alphabets and the uncertainty set of the first sanitizer with this `eps`.
            Nothing is added to RobustMSE, whose distances they do not aim at.
        verbose : int, default=0
            If positive, print each fit's result.
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        **options
            For :meth:`plot`.

        Returns
        -------
        PriceDisplay

        Raises
        ------
        TypeError
            If `sanitizer`, or an entry of it, is not a sanitizer.
        ValueError
            If one has no `eps_all`, or a greater `eps`; if RobustMSE sanitizers are combined with
            others, or have different distances.
        """
        templates = templates_of(sanitizer)
        utility = utility_of(templates)
        grids = {name: _grid(name, each, eps_all) for name, each in templates.items()}
        fits, curves, unbounded = Fits(X, sample_weight, verbose), {}, {}
        for name, template in templates.items():
            values = [fits.fit(name, template, utility, eps_all=level)[0] for level in grids[name]]
            curves[name] = (grids[name], values)
            unbounded[name] = fits.fit(name, template, utility, eps_all=None)[0]
        found = {}
        for name, template in (_peers(templates) if points else {}).items():
            value, fitted = fits.fit(name, template, INFORMATION)
            found[name] = (fitted.certificate_.eps_all, value)
        levels = {None if is_by_pair(each) else float(each.eps) for each in templates.values()}
        return cls(
            curves,
            unbounded=unbounded,
            points=found,
            eps=levels.pop() if len(levels) == 1 else None,
            utility=utility.label,
        ).plot(ax, **options)

    def _draw_beside(self, name: str, style: dict[str, Any]) -> None:
        """Draw the way to the utility without a bound."""
        if name in self.unbounded:
            (*_, last), (*_, value) = self.curves[name]
            dashed = style | {"linestyle": (0, (2, 2)), "linewidth": 1.2}
            ends = [last, self._end()], [value, self.unbounded[name]]
            self.ax_.plot(*ends, markevery=[1], **dashed)

    def _draw_points(self) -> None:
        self.points_: list[Any] = []
        names = texts([*self.curves, *self.points])[len(self.curves) :]
        for place, (level, value) in enumerate(self.points.values()):
            self.points_ += self.ax_.plot(
                [min(level, self._end())],
                [value],
                color=BASELINE,
                linestyle="none",
                marker=_POINTS[place % len(_POINTS)],
                markersize=12,
                markeredgecolor="white",
                label=visible(names[place]),
                zorder=4,
            )

    def _finite(self) -> list[float]:
        """Return all finite `eps_all` of curves and points."""
        return [
            *self._places(), *(level for level, _ in self.points.values() if level < math.inf)
        ]  # fmt: skip

    def _end(self) -> float:
        """Return the place for no bound, beyond a break; infinite if nothing is there."""
        if not self.unbounded and all(level < math.inf for level, _ in self.points.values()):
            return math.inf
        return max(self._finite()) * self._step()

    def _step(self) -> float:
        """Return the factor between the last bound and the place for no bound."""
        finite = self._finite()
        ratio: float = max(max(finite) / min(finite), 2.0) ** 0.15
        return ratio

    def _scale(self) -> None:
        """Scale and name the axes, that of `eps_all` by factors."""
        self._draw_points()
        ax, end, step, finite = self.ax_, self._end(), self._step(), self._finite()
        first, last = min(finite), max(finite)
        ends = math.isfinite(end)
        ax.set_xscale("log")
        width = math.log((end if ends else last) / first) or 1.0
        ticks = {level: number(level) for level in _apart(self._places(), _GAP * width)}
        if ends:
            ticks[end] = "∞"
            self._break_axis(last * step**0.4, last * step**0.6)
        ax.set_xticks(list(ticks), labels=list(ticks.values()))
        ax.minorticks_off()
        margin = math.exp(0.05 * width)
        ax.set_xlim(first / margin, (end if ends else last) * margin)
        at = "" if self.eps is None else f"\nε = {number(self.eps)} over the uncertainty set"
        ax.set_xlabel(f"ε over all distributions, eps_all (nats); ∞: not bounded{at}")
        ax.set_ylabel(self.utility)
        drawn = [value for _, values in self.curves.values() for value in values]
        drawn += [*self.unbounded.values(), *(value for _, value in self.points.values())]
        self._begin_at_zero(drawn)

    def _break_axis(self, left: float, right: float) -> None:
        """Mark that the axis is interrupted between two places."""
        marks = {"transform": self.ax_.get_xaxis_transform(), "clip_on": False, "zorder": 10}
        for side in (0.0, 1.0):
            self.ax_.plot([left, right], [side, side], color="white", linewidth=3, **marks)
            self.ax_.plot(
                [left, right], [side, side], color="black", linestyle="none", markersize=9,
                marker=[(-0.5, -1.0), (0.5, 1.0)], markeredgewidth=1.0, **marks,
            )  # fmt: skip


def _grid(name: str, template: Any, eps_all: Sequence[float] | None) -> list[float]:
    """Return the values of `eps_all` that a sanitizer is fitted for, checked."""
    if not hasattr(template, "eps_all"):
        raise ValueError(
            f"{name!r} is a {type(template).__name__} and has no parameter eps_all: it is private "
            "at eps for all distributions, so it would be a point of this display and no curve. "
            "Leave it out: with points=True, SRR's point is drawn."
        )
    least = _greatest(template.eps)
    if eps_all is None:
        steps = [step for step in _STEPS if step > 1.2 * least]
        return [least, *steps] if len(steps) > 1 else [least, 1.25 * least, 1.5 * least, 2 * least]
    levels = list(dict.fromkeys(levels_of("eps_all", eps_all)))
    if levels[0] < least:
        raise ValueError(
            f"eps_all={levels[0]:g} is less than eps={least:g} of {name!r}, but the uncertainty "
            "set is among all distributions: leave out values below eps."
        )
    return levels


def _greatest(eps: Any) -> float:
    """Return the greatest ε of two secrets that are compared; `fit` makes the other checks."""
    if not (isinstance(eps, Mapping) or np.ndim(eps)):
        check_positive("eps", eps, "in nats")
        return float(eps)
    given = real_numbers([*eps.values()] if isinstance(eps, Mapping) else eps, "eps").astype(float)
    if given.ndim == 2:
        np.fill_diagonal(given, 0.0)
    return float(given[np.isfinite(given)].max(initial=1e-3))


def _peers(templates: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sanitizers that make the points."""
    if utility_of(templates) != INFORMATION:
        return {}
    by_eps: dict[float, list[Any]] = {}
    for template in templates.values():
        if not is_by_pair(template):
            by_eps.setdefault(float(template.eps), []).append(template)
    peers = {}
    for eps, alike in by_eps.items():
        first = alike[0]
        at = f", ε = {number(eps)}" if len(by_eps) > 1 else ""
        peers[f"SRR{at}"] = read_as(first, SRRSanitizer, eps=eps)
        if not any(isinstance(template, IRSanitizer) for template in alike):
            same = {name: getattr(first, name) for name in ("uncertainty", "known", "eps_known")}
            peers[f"IR{at}"] = read_as(first, IRSanitizer, eps=eps, **same)
    return {name: peer for name, peer in peers.items() if name not in templates}


def _apart(grid: Floats, gap: float) -> list[float]:
    """Choose ticks that leave room for their names; the first and the last are among them."""
    kept = [float(grid[0])]
    for level in grid[:0:-1]:
        if min(abs(math.log(level / other)) for other in kept) >= gap:
            kept.append(float(level))
    return sorted(kept)
