"""What the displays of curves share: the sanitizers that they fit, and the lines that they draw."""

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from skrldp._typing import Floats
from skrldp.display._style import COLOURS, GRID, LINES, MARKERS
from skrldp.exceptions import PrivacyLeakWarning
from skrldp.sanitizers import BaseSanitizer, RobustMSESanitizer, fitted_sanitizer

__all__ = [
    "DISTORTION",
    "INFORMATION",
    "Fits",
    "Utility",
    "checked_curves",
    "curve_style",
    "fitted_by_name",
    "is_by_pair",
    "read_as",
    "scale_utility",
    "templates_of",
    "utility_of",
    "visible",
]


class Utility(NamedTuple):
    """A figure of sanitizers.

    Attributes
    ----------
    attribute : str
        Of a fitted sanitizer.
    label : str
        For an axis.
    """

    attribute: str
    label: str


INFORMATION = Utility("normalized_mutual_information_", "information kept, I(X;Y) / H(X)")
DISTORTION = Utility("distortion_", "expected distance of the report from U")

# What determines the alphabets that a table is read with.
_OF_TABLES = (
    "sensitive",
    "categories",
    "min_frequency",
    "max_categories",
    "alphabet_fraction",
    "handle_unknown",
    "random_state",
)


def checked_curves(curves: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> dict[str, Any]:
    """Return curves as arrays sorted by their first.

    Shapes: `curves` (k,). Raises ValueError if there is none, or the arrays are not of one length.
    """
    if not curves:
        raise ValueError("there is no curve to draw: curves is empty.")
    checked: dict[str, tuple[Floats, Floats]] = {}
    for name, (eps, values) in curves.items():
        x, y = np.asarray(eps, dtype=float), np.asarray(values, dtype=float)
        if x.ndim != 1 or x.shape != y.shape or len(x) == 0:
            raise ValueError(
                f"the curve {name!r} needs two arrays of one length, got shapes {x.shape} and "
                f"{y.shape}."
            )
        order = np.argsort(x, kind="stable")
        checked[name] = x[order], y[order]
    return checked


def _by_name(sanitizer: Any) -> dict[Any, Any]:
    """Name a sanitizer after its class, if there is no mapping."""
    if isinstance(sanitizer, Mapping):
        named = dict(sanitizer)
    else:
        named = {type(sanitizer).__name__.removesuffix("Sanitizer"): sanitizer}
    if not named:
        raise ValueError("the dict of sanitizers is empty.")
    return named


def fitted_by_name(sanitizer: Any) -> dict[Any, Any]:
    """Return fitted sanitizers by name.

    Raises TypeError, NotFittedError if one is no sanitizer, or has not been fitted. Raises
    ValueError if there is none.
    """
    if isinstance(sanitizer, Mapping):
        return {name: fitted_sanitizer(one) for name, one in _by_name(sanitizer).items()}
    return _by_name(fitted_sanitizer(sanitizer))


def templates_of(sanitizer: Any) -> dict[str, Any]:
    """Return templates by name.

    Raises TypeError if one is no sanitizer. Raises ValueError if there is none.
    """
    templates = _by_name(sanitizer)
    for template in templates.values():
        if not isinstance(template, BaseSanitizer):
            what = template.__name__ if isinstance(template, type) else type(template).__name__
            raise TypeError(
                "a sanitizer such as PolyOptSanitizer() is needed, or a dict of name to sanitizer, "
                f"got {what}. Copies of it are fitted, so it must not be frozen or in a pipeline."
            )
    return templates


def utility_of(templates: Mapping[str, Any]) -> Utility:
    """Return the figure by which sanitizers are compared.

    Raises ValueError if there is no such figure: it is the distance of some and the information of
    others, or distances differ.
    """
    by_distance = [name for name, t in templates.items() if isinstance(t, RobustMSESanitizer)]
    if not by_distance:
        return INFORMATION
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
    return DISTORTION


def is_by_pair(sanitizer: Any) -> bool:
    """Whether a sanitizer's ε is given by pair of secrets."""
    return isinstance(sanitizer.eps, Mapping) or np.ndim(sanitizer.eps) > 0


def read_as(template: Any, cls: Callable[..., Any], **parameters: Any) -> Any:
    """Make another sanitizer that reads a table as this one does."""
    return cls(**{name: getattr(template, name) for name in _OF_TABLES}, **parameters)


class Fits:
    """Fits of copies of sanitizers to one table.

    Parameters
    ----------
    X : array, list of rows, or data frame of shape (n, n_columns)
        The table.
    sample_weight : array of shape (n,) or None
        How many records each row stands for.
    verbose : int
        If positive, print each fit's result.
    """

    def __init__(self, X: Any, sample_weight: Any, verbose: int) -> None:
        self._table = X, sample_weight
        self._verbose = verbose

    def fit(
        self,
        name: str,
        template: Any,
        utility: Utility,
        *,
        quiet: bool = False,
        again: Any = None,
        **parameters: Any,
    ) -> tuple[float, Any]:
        """Fit a copy, with some parameters changed.

        Returns `copy`: the fitted copy.
        """
        X, sample_weight = self._table
        start = time.perf_counter()
        warm = again is not None and getattr(template, "warm_start", False) is True
        copy = (again if warm else clone(template)).set_params(**parameters)
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", PrivacyLeakWarning)
            copy.fit(X, sample_weight=sample_weight)
        value = float(getattr(copy, utility.attribute))
        if self._verbose:
            seconds = time.perf_counter() - start
            said = "".join(
                f", {key}={'none' if number is None else format(number, 'g')}"
                for key, number in parameters.items()
            )
            print(f"{name}{said}: {value:.4g} ({seconds:.1f} s)")
        return value, copy


def curve_style(place: int) -> dict[str, Any]:
    """Colour, stroke and marker of a curve, by its place among the curves."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": LINES[place % len(LINES)],
        "marker": MARKERS[place % len(MARKERS)],
        "markeredgecolor": "white",
        "zorder": 3,
    }


def scale_utility(ax: Any, values: Floats) -> None:
    """Begin the axis of utility at 0, and draw a grid."""
    if values.min() >= 0.0:
        ax.set_ylim(0.0, max(1.05 * values.max(), 1e-9))
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)


def visible(label: str) -> str:
    """Change a label that starts with an underscore, which legends would leave out."""
    return f" {label}" if label.startswith("_") else label
