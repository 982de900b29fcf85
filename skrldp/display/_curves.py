"""Curves: fitting sanitizers for them, drawing their lines, and utility against ε."""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from skrldp._params import check_positive, in_digits, is_number
from skrldp._typing import Floats
from skrldp.display._style import (
    BASELINE,
    COLOURS,
    GRID,
    LINES,
    MARKERS,
    labels,
    legend,
    new_axes,
)
from skrldp.exceptions import PrivacyLeakWarning
from skrldp.sanitizers.access import as_block_sanitizer, fitted_sanitizer
from skrldp.sanitizers.base import BaseSanitizer
from skrldp.sanitizers.closed_forms import GRRSanitizer
from skrldp.sanitizers.non_robust import NonRobustSanitizer
from skrldp.sanitizers.robust_mse import RobustMSESanitizer

EPS = (0.25, 0.5, 1.0, 2.0, 4.0)
_UNITS = {"n": "of reports", "eps": "in nats"}
_GRR = "GRR (plain LDP)"
_NON_ROBUST = "non-robust (not private)"
_LIMITS = ("time_limit", "n_jobs")  # parameters of the search, not of the guarantee
_FEW = 8  # maximum number of values for which each one is labelled on the axis


class Utility(NamedTuple):
    """A utility measure of sanitizers.

    Attributes
    ----------
    attribute : str
        Attribute of a fitted sanitizer.
    label : str
        Label of the axis.
    """

    attribute: str
    label: str


INFORMATION = Utility("normalized_mutual_information_", "information kept, I(X;Y) / H(X)")
DISTORTION = Utility("distortion_", "expected distance of the report from U")

# Parameters that determine the alphabets of a table.
_OF_TABLES = (
    "sensitive",
    "categories",
    "min_frequency",
    "handle_unknown",
    "random_state",
)


def levels_of(name: str, values: Any) -> list[Any]:
    """Return the sorted parameter values at which sanitizers are compared.

    Raises ValueError if there are no values, or one of them is not a positive number.
    """
    levels: list[Any] = np.sort(np.atleast_1d(np.asarray(values))).tolist()
    if not levels:
        raise ValueError(f"{name} must contain at least one positive number.")
    for level in levels:
        check_positive(name, level, _UNITS[name])
    return levels


def _by_name(sanitizer: Any) -> dict[Any, Any]:
    """Name a single sanitizer after its class."""
    if isinstance(sanitizer, Mapping):
        named = dict(sanitizer)
    else:
        named = {type(sanitizer).__name__.removesuffix("Sanitizer"): sanitizer}
    if not named:
        raise ValueError("the dict of sanitizers is empty.")
    return named


def fitted_by_name(sanitizer: Any) -> dict[Any, Any]:
    """Return fitted sanitizers by name, including BlockSanitizers.

    Raises TypeError if one is not a sanitizer, NotFittedError if one has not been fitted, and
    ValueError if there are none.
    """

    def read(candidate: Any) -> Any:
        return as_block_sanitizer(candidate) or fitted_sanitizer(candidate)

    if isinstance(sanitizer, Mapping):
        return {name: read(candidate) for name, candidate in _by_name(sanitizer).items()}
    return _by_name(read(sanitizer))


def templates_of(sanitizer: Any) -> dict[str, Any]:
    """Return templates by name.

    Raises TypeError if one is not a sanitizer, and ValueError if there are none.
    """
    templates = _by_name(sanitizer)
    for template in templates.values():
        if not isinstance(template, BaseSanitizer):
            kind = template.__name__ if isinstance(template, type) else type(template).__name__
            raise TypeError(
                "Expected a sanitizer such as PolyOptSanitizer(), or a dict of name to sanitizer, "
                f"got {kind}. Copies of it are fitted, so it must not be frozen or in a pipeline."
            )
    return templates


def utility_of(templates: Mapping[str, Any]) -> Utility:
    """Return the measure that is used to compare sanitizers.

    Raises ValueError if there is no common measure, because some sanitizers use a distance and
    others information, or because distances differ.
    """
    by_distance = [name for name, t in templates.items() if isinstance(t, RobustMSESanitizer)]
    if not by_distance:
        return INFORMATION
    by_information = [name for name in templates if name not in by_distance]
    if by_information:
        raise ValueError(
            f"{by_distance[0]!r} is measured by its distance from U and "
            f"{by_information[0]!r} by its "
            "information: draw them in two displays."
        )
    first, *rest = (templates[name].distance for name in by_distance)
    for name, distance in zip(by_distance[1:], rest, strict=True):
        if not (distance is first or np.array_equal(distance, first)):
            raise ValueError(
                f"{by_distance[0]!r} and {name!r} have different distances, so their values cannot "
                "be compared: draw them in two displays."
            )
    return DISTORTION


def fitted_copy(
    name: str, template: Any, X: Any, sample_weight: Any, eps: float, *, verbose: int, quiet: bool
) -> Any:
    """Fit a copy of a sanitizer with a different ε; if `verbose` is positive, print its utility.

    If `quiet` is true, there is no warning that the baseline is not private.
    """
    start, copy = time.perf_counter(), clone(template).set_params(eps=eps)
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", PrivacyLeakWarning)
        copy.fit(X, sample_weight=sample_weight)
    if verbose:
        value = getattr(copy, utility_of({name: template}).attribute)
        print(f"{name}, eps={eps:g}: {value:.4g} ({time.perf_counter() - start:.1f} s)")
    return copy


class CurveDisplay:
    """Curves by name, drawn in one style, with baselines in grey.

    Subclasses define the axes.
    """

    curves: dict[str, tuple[Floats, Floats]]
    baselines: tuple[str, ...] = ()
    _size = (6.0, 4.5)  # size of a new figure, in inches
    _ndim = 1  # dimension of the values; 2 if there may be several for each x
    _needs = "needs two arrays of one length"
    _over_curves = False  # whether baselines are drawn on top

    def _take(self, curves: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> None:
        """Convert curves to arrays sorted by x.

        Shapes: x (m,) and y (m,) or, where displays allow it, (m, k). Raises ValueError if there
        are no curves, or the arrays have different lengths.
        """
        if not curves:
            raise ValueError("curves must contain at least one curve.")
        self.curves = {}
        for name, (points, values) in curves.items():
            x, y = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
            if self._ndim == 2 and y.ndim == 1:
                y = y[:, None]
            if x.ndim != 1 or y.ndim != self._ndim or len(x) != len(y) or 0 in y.shape:
                raise ValueError(
                    f"the curve {name!r} {self._needs}, got shapes {x.shape} and "
                    f"{np.shape(values)}."
                )
            order = np.argsort(x, kind="stable")
            self.curves[name] = x[order], y[order]

    def _drawn(self, name: str) -> Floats:
        """Return the values of a curve's line; NaN where the line has gaps."""
        return self.curves[name][1]

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw in; None creates a figure.

        Returns
        -------
        self

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        is_new, self.ax_ = ax is None, new_axes(ax, self._size)
        self.figure_, self.lines_ = self.ax_.figure, []
        for name, label in zip(self.curves, labels(list(self.curves)), strict=True):
            style = self._style(name)
            x, y, text = self.curves[name][0], self._drawn(name), label + self._said(name)
            self.lines_ += self.ax_.plot(x, y, label=text, **style)
            self._draw_beside(name, style)
        self._scale()
        self.ax_.grid(color=GRID, linewidth=0.6)
        self.ax_.set_axisbelow(True)
        legend(self.ax_, above=is_new)
        return self

    def _style(self, name: str) -> dict[str, Any]:
        """Colour, stroke and marker of a curve."""
        if name in self.baselines:
            index = self.baselines.index(name)
            return {
                "color": BASELINE,
                "linestyle": (":", "-.", "--")[index % 3],
                "marker": ("+", "x", "1")[index % 3],
                "linewidth": 1.3,
                "zorder": 4 if self._over_curves else 2,
            }
        index = [curve for curve in self.curves if curve not in self.baselines].index(name)
        return {
            "color": COLOURS[index % len(COLOURS)],
            "linestyle": LINES[index % len(LINES)],
            "marker": MARKERS[index % len(MARKERS)],
            "markeredgecolor": "white",
            "markersize": 7,
            "linewidth": 1.8,
            "zorder": 3,
        }

    def _said(self, name: str) -> str:
        """Return the text that follows a curve's name in the legend."""
        return ""

    def _draw_beside(self, name: str, style: dict[str, Any]) -> None:
        """Draw the parts of a curve other than its line."""

    def _scale(self) -> None:
        """Scale and name the axes."""
        raise NotImplementedError

    def _scale_by_factors(self, *, named: bool) -> None:
        """Use a logarithmic scale for a wide range of x, and label each value if there are few."""
        grid = np.unique(np.concatenate([x for x, _ in self.curves.values()]))
        if grid[0] > 0 and grid[-1] >= 4.0 * grid[0]:
            self.ax_.set_xscale("log")
        if named and len(grid) <= _FEW:
            self.ax_.set_xticks(grid, labels=[in_digits(level) for level in grid])
            self.ax_.minorticks_off()


class PrivacyUtilityDisplay(CurveDisplay):
    """Utility of sanitizers against ε, at the public distribution.

    Utility is the normalised mutual information of record and report. PolyOpt maximises it.
    A-optimal minimises the errors of estimates instead, so its curve may fall as ε rises; compare
    such designs with :class:`EstimationErrorDisplay`. For RobustMSE, utility is the expected
    distance of the report from U, and smaller is better. The two measures cannot be combined in one
    display.

    Parameters
    ----------
    curves : dict of name to (eps, utility)
        Two arrays of equal length for each curve.
    utility : str, optional
        Label of the utility axis.
    baselines : sequence of names
        Names of the curves with which others are compared; they are drawn in grey.

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
        utility: str = INFORMATION.label,
        baselines: Sequence[str] = (),
    ) -> None:
        self._take(curves)
        self.utility = utility
        self.baselines = tuple(baselines)

    @classmethod
    def from_table(
        cls,
        sanitizer: Any,
        X: Any,
        *,
        eps: Sequence[float] = EPS,
        sample_weight: Any = None,
        baselines: bool = True,
        verbose: int = 0,
        ax: Any = None,
        **options: Any,
    ) -> "PrivacyUtilityDisplay":
        """Fit sanitizers for several ε and show their utility at the public distribution.

        Parameters
        ----------
        sanitizer : sanitizer or dict of name to sanitizer
            Templates, fitted or not: copies of them are fitted.
        X : array, list of rows, or data frame of shape (n, n_columns)
            The public table, as for `fit`.
        eps : sequence of float, default=(0.25, 0.5, 1, 2, 4)
            Privacy parameters, in nats. Each curve requires one fit for each value.
        sample_weight : array of shape (n,), optional
            How many records each row represents.
        baselines : bool, default=True
            Whether to add plain local differential privacy (GRR) and the optimum for the public
            distribution alone, which is not private for other distributions. For RobustMSE, the
            baseline is the same problem without robust utility and robust privacy. The columns of
            S, the alphabets and the limits of the search are those of the first sanitizer.
        verbose : int, default=0
            If positive, print the result of each fit.
        ax : matplotlib Axes, optional
            Axes to draw in; None creates a figure.
        **options
            For :meth:`plot`.

        Returns
        -------
        PrivacyUtilityDisplay

        Raises
        ------
        TypeError
            If `sanitizer`, or one of its entries, is not a sanitizer.
        ValueError
            If RobustMSE sanitizers are combined with others, or have different distances; if an
            `eps` is larger than a sanitizer's `eps_worst_case`.
        """
        templates = templates_of(sanitizer)
        utility = utility_of(templates)
        added = _baselines(templates) if baselines else {}
        grid = levels_of("eps", eps)
        for name, template in templates.items():
            _check_eps(name, template, max(grid))
        curves = {}
        for name, template in (templates | added).items():
            fits = [
                fitted_copy(
                    name, template, X, sample_weight, e, verbose=verbose, quiet=name in added
                )
                for e in grid
            ]
            curves[name] = grid, [float(getattr(design, utility.attribute)) for design in fits]
        return cls(curves, utility=utility.label, baselines=tuple(added)).plot(ax, **options)

    def _scale(self) -> None:
        self._scale_by_factors(named=True)
        values = np.concatenate([y for _, y in self.curves.values()])
        if values.min() >= 0.0:
            self.ax_.set_ylim(0.0, max(1.05 * values.max(), 1e-9))
        self.ax_.set(xlabel="privacy parameter ε (nats)", ylabel=self.utility)


def _check_eps(name: str, template: Any, largest: float) -> None:
    """Reject a template whose additional guarantees have a smaller ε."""
    worst_case = getattr(template, "eps_worst_case", None)
    if is_number(worst_case) and worst_case < largest:
        raise ValueError(
            f"{name!r} has eps_worst_case={worst_case:g}, which must be at least eps={largest:g}: "
            "drop larger values of `eps`."
        )


def _baselines(templates: dict[str, Any]) -> dict[str, Any]:
    """Return the baselines, unless they are among the sanitizers."""
    first = next(iter(templates.values()))
    if isinstance(first, RobustMSESanitizer):
        if any(not (t.robust_privacy or t.robust_utility) for t in templates.values()):
            return {}
        return {_NON_ROBUST: clone(first).set_params(robust_privacy=False, robust_utility=False)}
    limits = {name: getattr(first, name) for name in _LIMITS if hasattr(first, name)}
    alphabets = {name: getattr(first, name) for name in _OF_TABLES}
    added = {
        _GRR: GRRSanitizer(**alphabets),
        _NON_ROBUST: NonRobustSanitizer(**alphabets, **limits),
    }
    kinds = {type(template) for template in templates.values()}
    return {
        name: template
        for name, template in added.items()
        if type(template) not in kinds and name not in templates
    }
