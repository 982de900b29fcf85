"""Standard errors of estimates, before anybody is asked, against n or ε."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import exp
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skrldp._params import check_choice, check_flag, check_positive
from skrldp._typing import Floats
from skrldp.display._curves import (
    Fits,
    curve_style,
    fitted_by_name,
    is_by_pair,
    templates_of,
    utility_of,
    visible,
)
from skrldp.display._style import BASELINE, GRID, legend, new_axes, number, texts
from skrldp.estimation import expected_std_error
from skrldp.mechanism import Mechanism
from skrldp.sanitizers import GRRSanitizer

__all__ = ["EstimationErrorDisplay"]

_N = (1_000, 10_000, 100_000, 1_000_000)
_EPS = (0.25, 0.5, 1.0, 2.0, 4.0)
_RAW = "raw records, not private"
_PARTS = {
    "all": "share of a cell",
    "sensitive": "share of a secret",
    "nonsensitive": "share of a value of U",
}
_errors = partial(expected_std_error, asymptotic=True)
_AXES = {"n": "number of reports n", "eps": "privacy parameter ε (nats)"}
_USELESS = 1.0  # an error of a share beyond which an estimate tells nothing


class EstimationErrorDisplay:
    """Standard errors of estimated shares against the number of reports, or against ε.

    They are those of :func:`~skrldp.expected_std_error` with ``asymptotic=True``: known before
    anybody is asked, for records that follow the public distribution or another one.

    Parameters
    ----------
    curves : dict of name to (x, errors)
        For each curve m numbers, of reports or ε, and the errors there: shape (m,), or (m, k) for k
        shares. Infinite where the reports do not determine a share.
    against : {"n", "eps"}, default="n"
        What x is.
    of : str, default="a share"
        What the errors are of, for the axis.
    baselines : sequence of names
        Names of the curves that others are compared with; they are drawn in grey.

    Attributes
    ----------
    curves : dict of name to (x, errors)
        Sorted by x; errors have shape (m, k).
    against, of, baselines
        As given.
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.
    lines_ : list of matplotlib Line2D
        One for each curve: its worst error.

    Examples
    --------
    >>> from skrldp import EstimationErrorDisplay
    >>> curves = {"SRR": ([1_000, 100_000], [[0.03, 0.05], [0.003, 0.005]])}
    >>> EstimationErrorDisplay(curves).worst("SRR")
    array([0.05 , 0.005])
    """

    def __init__(
        self,
        curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
        *,
        against: str = "n",
        of: str = "a share",
        baselines: Sequence[str] = (),
    ) -> None:
        check_choice("against", against, _AXES)
        self.curves = _checked(curves)
        self.against, self.of, self.baselines = against, of, tuple(baselines)

    @classmethod
    def from_sanitizers(
        cls,
        sanitizers: Any,
        *,
        n: Sequence[float] = _N,
        columns: Any = None,
        part: str = "all",
        by: Any = None,
        distribution: Any = None,
        method: str = "ml",
        baselines: bool = True,
        ax: Any = None,
        **options: Any,
    ) -> "EstimationErrorDisplay":
        """Show the errors of fitted sanitizers against the number of reports.

        Parameters
        ----------
        sanitizers : fitted sanitizer, or dict of name to fitted sanitizer
            Pipelines that end in one are taken too. All must have the same secrets and values.
        n : sequence of int, default=(1_000, 10_000, 100_000, 1_000_000)
            Numbers of reports.
        columns, part, by, distribution, method
            Which shares, at which distribution and by which method, as for
            :func:`~skrldp.expected_std_error`. The public distribution is the first sanitizer's.
        baselines : bool, default=True
            Whether to add the error that the true records would have, √(p(1−p)/n), and that of
            plain local differential privacy: randomised response (GRR) of the whole record with the
            same ε.
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        **options
            For :meth:`plot`.

        Returns
        -------
        EstimationErrorDisplay

        Raises
        ------
        TypeError
            If one is no sanitizer.
        ValueError
            As by :func:`~skrldp.expected_std_error`, or if there are no sanitizers or no n.
        """
        check_flag("baselines", baselines)
        fitted = fitted_by_name(sanitizers)
        first = next(iter(fitted.values()))
        grid = _grid("n", n)
        found = first.joint_ if distribution is None else distribution
        mechanisms = {name: one.mechanism_ for name, one in fitted.items()}
        added = _baselines(first.mechanism_, list(fitted.values())) if baselines else {}
        wanted: dict[str, Any] = {"columns": columns, "part": part, "by": by, "method": method}
        curves = {
            name: (
                grid,
                [_errors(one, size, distribution=found, **wanted) for size in grid],
            )
            for name, one in (mechanisms | added).items()
        }
        of = _what(columns, part, by)
        return cls(curves, of=of, baselines=tuple(added)).plot(ax, **options)

    @classmethod
    def from_estimator(
        cls,
        sanitizer: Any,
        X: Any,
        *,
        eps: Sequence[float] = _EPS,
        n: float = 10_000,
        columns: Any = None,
        part: str = "all",
        by: Any = None,
        method: str = "ml",
        sample_weight: Any = None,
        baselines: bool = True,
        verbose: int = 0,
        ax: Any = None,
        **options: Any,
    ) -> "EstimationErrorDisplay":
        """Fit sanitizers for several ε and show their errors at the public distribution.

        Parameters
        ----------
        sanitizer : sanitizer or dict of name to sanitizer
            Templates, fitted or not: copies of them are fitted.
        X : array, list of rows, or data frame of shape (n, n_columns)
            The public table, as for `fit`.
        eps : sequence of float, default=(0.25, 0.5, 1, 2, 4)
            Privacy parameters, in nats. Each curve takes one fit for each of them.
        n : int, default=10_000
            Number of reports.
        columns, part, by, method
            Which shares and by which method, as for :func:`~skrldp.expected_std_error`.
        sample_weight : array of shape (n,), optional
            How many records each row stands for.
        baselines : bool, default=True
            Whether to add the errors of true records and of plain local differential privacy.
        verbose : int, default=0
            If positive, print the utility of each fit.
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        **options
            For :meth:`plot`.

        Returns
        -------
        EstimationErrorDisplay

        Raises
        ------
        TypeError
            If an entry is not a sanitizer.
        ValueError
            If an ε is given by pair of secrets, or there is none; as by
            :func:`~skrldp.expected_std_error`.
        """
        check_flag("baselines", baselines)
        templates, grid = templates_of(sanitizer), _grid("eps", eps)
        fits, curves = Fits(X, sample_weight, verbose), {}
        wanted: dict[str, Any] = {"columns": columns, "part": part, "by": by, "method": method}
        for name, template in templates.items():
            if is_by_pair(template):
                raise ValueError(f"{name!r} has one ε for each pair of secrets: give it a number.")
            own = utility_of({name: template})
            errors = []
            for level in grid:
                _, copy = fits.fit(name, template, own, eps=level)
                errors.append(_errors(copy, n, **wanted))
            curves[name] = grid, errors
        added: dict[str, list[Mechanism]] = {}
        if baselines:
            like, distribution = copy.mechanism_, copy.joint_
            if not any(isinstance(template, GRRSanitizer) for template in templates.values()):
                added["GRR (plain LDP)"] = [_grr(like, level) for level in grid]
            added[_RAW] = [_grr(like, np.inf)] * len(grid)
        for name, mechanisms in added.items():
            same = {"distribution": distribution, **wanted}
            curves[name] = grid, [_errors(one, n, **same) for one in mechanisms]
        of = f"{_what(columns, part, by)}, n = {n:,}"
        return cls(curves, against="eps", of=of, baselines=tuple(added)).plot(ax, **options)

    def worst(self, name: str) -> Floats:
        """Return the greatest error of a curve at each x.

        Parameters
        ----------
        name : str
            The curve.

        Returns
        -------
        array of shape (m,)
            Infinite where the reports do not determine some share.
        """
        worst: Floats = self.curves[name][1].max(axis=1)
        return worst

    def plot(self, ax: Any = None, *, each: bool = False) -> "EstimationErrorDisplay":
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        each : bool, default=False
            Whether to draw the error of each share, as thin lines, besides the worst one.

        Returns
        -------
        self

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_flag("each", each)
        own = ax is None
        ax = new_axes(ax, (6.4, 4.6))
        self.ax_, self.figure_, self.lines_ = ax, ax.figure, []
        place = 0
        for name, label in zip(self.curves, texts(list(self.curves)), strict=True):
            if name in self.baselines:
                style = _grey(self.baselines.index(name))
            else:
                style = curve_style(place)
                place += 1
            x, errors = self.curves[name]
            worst = np.where(np.isfinite(self.worst(name)), self.worst(name), np.nan)
            said = visible(label) + self._not_determined(worst)
            (line,) = ax.plot(x, worst, label=said, **({"linewidth": 1.8, "markersize": 6} | style))
            self.lines_.append(line)
            if each:
                thin = {"color": style["color"], "linewidth": 0.7, "alpha": 0.6, "zorder": 1}
                ax.plot(x, np.where(np.isfinite(errors), errors, np.nan), **thin)
        self._scale(each)
        legend(ax, above=own)
        return self

    def _not_determined(self, worst: Floats) -> str:
        """Say in the legend where a line is missing."""
        missing = np.isnan(worst)
        if not missing.any():
            return ""
        some = "" if missing.all() else f" at some {'n' if self.against == 'n' else 'ε'}"
        return f": not determined{some}"

    def _scale(self, each: bool) -> None:
        """Scale by factors, and mark errors beyond which an estimate tells nothing."""
        ax = self.ax_
        grid = np.unique(np.concatenate([x for x, _ in self.curves.values()]))
        if grid[-1] >= 4.0 * grid[0]:
            ax.set_xscale("log")
        if self.against == "eps" and len(grid) <= 8:
            ax.set_xticks(grid, labels=[number(level) for level in grid])
            ax.minorticks_off()
        drawn = np.concatenate([line.get_ydata() for line in ax.lines])
        if np.any(drawn > 0):
            ax.set_yscale("log", nonpositive="mask")
        if np.any(drawn > _USELESS):
            ax.autoscale(enable=False, axis="y")
            ax.axhspan(_USELESS, ax.get_ylim()[1], color="0.93", zorder=0)
            ax.annotate(
                "above 1: tells nothing",
                (1.0, _USELESS),
                xycoords=ax.get_yaxis_transform(),
                xytext=(-4, 3),
                textcoords="offset points",
                horizontalalignment="right",
                fontsize="small",
                color=BASELINE,
            )
        ax.grid(color=GRID, linewidth=0.6)
        ax.set_axisbelow(True)
        which = "standard errors, worst in bold" if each else "worst standard error"
        ax.set(xlabel=_AXES[self.against], ylabel=f"{which}:\n{self.of}")


def _checked(curves: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> dict[str, tuple[Floats, Floats]]:
    """Return curves as arrays, sorted by x."""
    if not curves:
        raise ValueError("there is no curve to draw: curves is empty.")
    checked = {}
    for name, (places, errors) in curves.items():
        x, y = np.asarray(places, dtype=float), np.asarray(errors, dtype=float)
        y = y[:, None] if y.ndim == 1 else y
        if x.ndim != 1 or y.ndim != 2 or len(x) != len(y) or 0 in y.shape:
            raise ValueError(
                f"the curve {name!r} needs m numbers and errors of shape (m,) or (m, k), got "
                f"shapes {x.shape} and {np.shape(errors)}."
            )
        if not (np.all(x > 0) and np.all(y >= 0)):
            raise ValueError(f"the curve {name!r} needs positive x and errors of at least 0.")
        order = np.argsort(x, kind="stable")
        checked[name] = x[order], y[order]
    return checked


def _grid(name: str, values: Any) -> list[Any]:
    grid: list[Any] = np.atleast_1d(np.asarray(values)).tolist()
    if not grid:
        raise ValueError(f"{name} is empty: give at least one number.")
    for value in grid:
        check_positive(name, value, "in nats" if name == "eps" else "of reports")
    return grid


def _what(columns: Any, part: str, by: Any) -> str:
    what = _PARTS[part] if columns is None else f"share of {_named(columns)}"
    return what if by is None else f"{what} by {_named(by)}"


def _named(columns: Any) -> str:
    return ", ".join(map(str, columns if isinstance(columns, list | tuple) else [columns]))


def _grey(place: int) -> dict[str, Any]:
    return {
        "color": BASELINE,
        "linestyle": (":", "-.", "--")[place % 3],
        "marker": ("+", "x", "1")[place % 3],
        "linewidth": 1.3,
        "zorder": 4,  # above the others: an error like that of raw records is not hidden
    }


def _grr(like: Mechanism, eps: float) -> Mechanism:
    """Randomised response of the whole record; at infinite ε the record itself."""
    others = exp(-eps)  # cannot overflow
    total = 1.0 + (len(like.secrets) * len(like.values) - 1) * others
    weights = (1.0 / total, others / total, others / total, others / total)
    mechanism = Mechanism.from_blocks(weights, like.secrets, like.values)
    return replace(mechanism, columns=like.columns)


def _baselines(like: Mechanism, sanitizers: list[Any]) -> dict[str, Mechanism]:
    """Randomised response with the sanitizers' ε, unless it is among them, and true records."""
    own = {s.eps for s in sanitizers if isinstance(s, GRRSanitizer)}
    asked = sorted({float(s.eps) for s in sanitizers if not is_by_pair(s)} - own)
    added = {f"GRR, ε = {number(eps)} (plain LDP)": _grr(like, eps) for eps in asked}
    return added | {_RAW: _grr(like, np.inf)}
