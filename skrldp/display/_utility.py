"""Utility as a function of ε."""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from skrldp._params import check_positive
from skrldp._typing import Floats
from skrldp.display._style import (
    BASELINE,
    COLOURS,
    GRID,
    LINES,
    MARKERS,
    legend,
    new_axes,
    number,
    texts,
)
from skrldp.exceptions import PrivacyLeakWarning
from skrldp.sanitizers import (
    BaseSanitizer,
    GRRSanitizer,
    NonRobustSanitizer,
    RobustMSESanitizer,
)

__all__ = ["PrivacyUtilityDisplay"]


_EPS = (0.25, 0.5, 1.0, 2.0, 4.0)
_INFORMATION = "information kept, I(X;Y) / H(X)"
_DISTORTION = "expected distance of the report from U"
_GRR = "GRR (plain LDP)"
_NON_ROBUST = "non-robust (not private)"


class PrivacyUtilityDisplay:
    """Utility against ε for some sanitizers, at the public distribution.

    Utility is the normalised mutual information; for RobustMSE it is the expected distance of the
    report from U, and less is better. The two are not drawn in one display.

    Parameters
    ----------
    curves : dict of name to (eps, utility)
        Two arrays of one length for each curve.
    utility : str, optional
        Label of the utility axis.
    baselines : sequence of names
        Names of the curves that others are compared with; they are drawn in grey.

    Attributes
    ----------
    curves : dict of name to (eps, utility)
        Sorted by ε.
    utility, baselines
        As given.
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.
    lines_ : list of matplotlib Line2D
        One for each curve.

    Examples
    --------
    >>> from skrldp import PrivacyUtilityDisplay
    >>> curves = {"SRR": ([0.5, 1.0, 2.0], [0.03, 0.13, 0.42])}
    >>> PrivacyUtilityDisplay(curves).curves["SRR"][1]
    array([0.03, 0.13, 0.42])
    """

    def __init__(
        self,
        curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
        *,
        utility: str = _INFORMATION,
        baselines: Sequence[str] = (),
    ) -> None:
        if not curves:
            raise ValueError("there is no curve to draw: curves is empty.")
        self.curves: dict[str, tuple[Floats, Floats]] = {}
        for name, (eps, values) in curves.items():
            x, y = np.asarray(eps, dtype=float), np.asarray(values, dtype=float)
            if x.ndim != 1 or x.shape != y.shape or len(x) == 0:
                raise ValueError(
                    f"the curve {name!r} needs two arrays of one length, got shapes {x.shape} and "
                    f"{y.shape}."
                )
            order = np.argsort(x, kind="stable")
            self.curves[name] = x[order], y[order]
        self.utility = utility
        self.baselines = tuple(baselines)

    @classmethod
    def from_estimator(
        cls,
        sanitizer: Any,
        X: Any,
        *,
        eps: Sequence[float] = _EPS,
        sample_weight: Any = None,
        baselines: bool = True,
        verbose: int = 0,
        ax: Any = None,
        **options: Any,
    ) -> "PrivacyUtilityDisplay":
        """Fit sanitizers for several ε and show what utility they have at the public distribution.

        Parameters
        ----------
        sanitizer : sanitizer or dict of name to sanitizer
            Templates, fitted or not: copies of them are fitted.
        X : array, list of rows, or data frame of shape (n, n_columns)
            The public table, as for `fit`.
        eps : sequence of float, default=(0.25, 0.5, 1, 2, 4)
            Privacy parameters, in nats. Each curve takes one fit for each of them.
        sample_weight : array of shape (n,), optional
            How many records each row stands for.
        baselines : bool, default=True
            Whether to add plain local differential privacy (GRR) and the optimum for the public
            distribution alone, which is not private at other distributions; for RobustMSE, the
            baseline is the same problem with neither robust utility nor robust privacy. The columns
            of S, the alphabets and the limits of the search are those of the first sanitizer.
        verbose : int, default=0
            If positive, print each fit's result.
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        **options
            For :meth:`plot`.

        Returns
        -------
        PrivacyUtilityDisplay

        Raises
        ------
        TypeError
            If `sanitizer`, or an entry of it, is not a sanitizer.
        ValueError
            If RobustMSE sanitizers are combined with others, or have different distances.
        """
        templates = _templates(sanitizer)
        first = next(iter(templates.values()))
        distances = isinstance(first, RobustMSESanitizer)
        _check_comparable(templates)
        added = _baselines(templates) if baselines else {}
        grid = np.atleast_1d(np.asarray(eps)).tolist()
        if not grid:
            raise ValueError("eps is empty: give at least one privacy parameter.")
        for level in grid:
            check_positive("eps", level, "in nats")
        attribute = "distortion_" if distances else "normalized_mutual_information_"
        curves = {}
        for name, template in (templates | added).items():
            values = []
            for level in grid:
                start = time.perf_counter()
                copy = clone(template).set_params(eps=level)
                with warnings.catch_warnings():
                    if name in added:  # its name in the legend states that it is not private
                        warnings.simplefilter("ignore", PrivacyLeakWarning)
                    copy.fit(X, sample_weight=sample_weight)
                values.append(getattr(copy, attribute))
                if verbose:
                    seconds = time.perf_counter() - start
                    print(f"{name}, eps={level:g}: {values[-1]:.4g} ({seconds:.1f} s)")
            curves[name] = (grid, values)
        utility = _DISTORTION if distances else _INFORMATION
        return cls(curves, utility=utility, baselines=tuple(added)).plot(ax, **options)

    def plot(self, ax: Any = None) -> "PrivacyUtilityDisplay":
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
        own = ax is None
        ax = new_axes(ax, (6.0, 4.5))
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_, place = [], 0
        for name, label in zip(self.curves, texts(list(self.curves)), strict=True):
            if name in self.baselines:
                index = self.baselines.index(name)
                style: dict[str, Any] = {
                    "color": BASELINE,
                    "linestyle": (":", "-.")[index % 2],
                    "marker": ("+", "x")[index % 2],
                    "zorder": 2,
                }
            else:
                style = {
                    "color": COLOURS[place % len(COLOURS)],
                    "linestyle": LINES[place % len(LINES)],
                    "marker": MARKERS[place % len(MARKERS)],
                    "markeredgecolor": "white",
                    "zorder": 3,
                }
                place += 1
            (line,) = ax.plot(
                *self.curves[name], linewidth=1.8, markersize=7, label=_visible(label), **style
            )
            self.lines_.append(line)
        self._scale()
        legend(ax, above=own)
        return self

    def _scale(self) -> None:
        """Scale ε by factors where it has a wide range, and name the values that were used."""
        ax = self.ax_
        grid = np.unique(np.concatenate([eps for eps, _ in self.curves.values()]))
        if grid[0] > 0 and grid[-1] >= 4.0 * grid[0]:
            ax.set_xscale("log")
        if len(grid) <= 8:
            ax.set_xticks(grid, labels=[number(level) for level in grid])
            ax.minorticks_off()
        utilities = np.concatenate([values for _, values in self.curves.values()])
        if utilities.min() >= 0.0:
            ax.set_ylim(0.0, max(1.05 * utilities.max(), 1e-9))
        ax.set(xlabel="privacy parameter ε (nats)", ylabel=self.utility)
        ax.grid(color=GRID, linewidth=0.6)
        ax.set_axisbelow(True)


def _visible(label: str) -> str:
    """Change a label that starts with an underscore, which legends would leave out."""
    return f" {label}" if label.startswith("_") else label


def _templates(sanitizer: Any) -> dict[str, Any]:
    """Return the templates by name, checked."""
    if isinstance(sanitizer, Mapping):
        templates = dict(sanitizer)
    else:
        templates = {type(sanitizer).__name__.removesuffix("Sanitizer"): sanitizer}
    if not templates:
        raise ValueError("the dict of sanitizers is empty.")
    for template in templates.values():
        if not isinstance(template, BaseSanitizer):
            what = template.__name__ if isinstance(template, type) else type(template).__name__
            raise TypeError(
                "a sanitizer such as PolyOptSanitizer() is needed, or a dict of name to sanitizer, "
                f"got {what}. Copies of it are fitted, so it must not be frozen or in a pipeline."
            )
    return templates


def _check_comparable(templates: dict[str, Any]) -> None:
    """Refuse curves whose utilities are not of one kind."""
    by_distance = [name for name, t in templates.items() if isinstance(t, RobustMSESanitizer)]
    if not by_distance:
        return
    others = [name for name in templates if name not in by_distance]
    if others:
        raise ValueError(
            f"{by_distance[0]!r} is measured by its distance from U and {others[0]!r} by its "
            "information: draw them in two displays."
        )
    first, *rest = (templates[name].distance for name in by_distance)
    for name, distance in zip(by_distance[1:], rest, strict=True):
        if not (distance is first or np.array_equal(distance, first)):
            raise ValueError(
                f"{by_distance[0]!r} and {name!r} have different distances, so their figures "
                "cannot be compared: draw them in two displays."
            )


def _baselines(templates: dict[str, Any]) -> dict[str, Any]:
    """Return the sanitizers to compare with, unless they are there already."""
    first = next(iter(templates.values()))
    if isinstance(first, RobustMSESanitizer):
        if any(not (t.robust_privacy or t.robust_utility) for t in templates.values()):
            return {}
        return {_NON_ROBUST: clone(first).set_params(robust_privacy=False, robust_utility=False)}
    common = {"sensitive": first.sensitive, "categories": first.categories}
    limit = {"time_limit": first.time_limit} if hasattr(first, "time_limit") else {}
    added = {
        _GRR: GRRSanitizer(**common),
        _NON_ROBUST: NonRobustSanitizer(**common, **limit),
    }
    kinds = {type(template) for template in templates.values()}
    return {
        name: template
        for name, template in added.items()
        if type(template) not in kinds and name not in templates
    }
