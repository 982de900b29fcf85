"""Coefficients of regressions with their intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skrldp.display._intervals import IntervalDisplay, in_percent

__all__ = ["CoefficientDisplay"]

_CONSTANTS = ("Intercept", "const")


class CoefficientDisplay(IntervalDisplay):
    """Coefficients of one regression or several, with intervals.

    There is a row for each regressor, and a colour for each regression: how much of a difference is
    left when other things are held fixed is seen beside 0.

    Parameters
    ----------
    intervals : mapping of name to array of shape (m, 3)
        For each regression its coefficients, and lower and upper ends of their intervals; NaN where
        the reports do not determine a coefficient, or the regression does not have it.
    names : sequence of length m
        Names of the coefficients.
    label : str, default="coefficient"
        Label of the axis.

    Attributes
    ----------
    intervals, names, label
        As given.
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.
    points_ : list of matplotlib Line2D
        The estimates of each regression.
    bars_ : list of matplotlib ErrorbarContainer
        The intervals of each regression.

    Examples
    --------
    >>> from skrldp import CoefficientDisplay
    >>> display = CoefficientDisplay({"reports": [[-4.1, -4.5, -3.7]]}, ["age"])
    >>> display.names
    ('age',)
    """

    def __init__(
        self,
        intervals: Mapping[str, ArrayLike],
        names: Sequence[Any],
        *,
        label: str = "coefficient",
    ) -> None:
        super().__init__(intervals, names, label=label)

    @classmethod
    def from_results(
        cls, results: Any, *, level: float = 0.95, intercept: bool = False, ax: Any = None
    ) -> "CoefficientDisplay":
        """Show the coefficients of regressions.

        Parameters
        ----------
        results : RegressionResults, or dict of name to RegressionResults
            Of the functions of :mod:`skrldp.regression`; results of statsmodels with names of
            coefficients may stand beside them. Of one multinomial regression each category has a
            colour.
        level : float, default=0.95
            Level of the intervals.
        intercept : bool, default=False
            Whether intercepts are drawn.
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.

        Returns
        -------
        CoefficientDisplay

        Raises
        ------
        TypeError
            If a result has no names of coefficients.
        ValueError
            If there is no result, or the level is not between 0 and 1.
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level={level!r} must be between 0 and 1.")
        if isinstance(results, Mapping):
            series = {name: _estimates(one, level) for name, one in results.items()}
        else:
            series = {"": _estimates(results, level)}
            categories = [term[0] for term in series[""] if isinstance(term, tuple)]
            if categories:
                series = {
                    category: {
                        name: found for (own, name), found in series[""].items() if own == category
                    }
                    for category in dict.fromkeys(categories)
                }
        names = [
            name
            for name in dict.fromkeys(name for found in series.values() for name in found)
            if intercept or (name[-1] if isinstance(name, tuple) else name) not in _CONSTANTS
        ]
        missing = np.full(3, np.nan)
        intervals = {
            one: [found.get(name, missing) for name in names] for one, found in series.items()
        }
        label = f"coefficient, with its {in_percent(level)} interval"
        return cls(intervals, names, label=label).plot(ax)


def _estimates(result: Any, level: float) -> dict[Any, Any]:
    """Coefficient and ends of its interval, by name."""
    params: Any = getattr(result, "params", None)
    if not (hasattr(params, "index") and getattr(params, "ndim", 0) == 1):
        raise TypeError(
            "a result of skrldp.regression is needed, or one of statsmodels from a formula, got "
            f"{type(result).__name__}."
        )
    ends = np.asarray(result.conf_int(alpha=1.0 - level))
    return dict(zip(params.index, np.column_stack([params, ends]), strict=True))
