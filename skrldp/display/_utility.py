"""Utility as a function of ε."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from skrldp._params import is_number
from skrldp.display._curves import (
    EPS,
    INFORMATION,
    CurveDisplay,
    Fits,
    is_by_pair,
    levels_of,
    read_as,
    templates_of,
    utility_of,
)
from skrldp.sanitizers import GRRSanitizer, NonRobustSanitizer, RobustMSESanitizer

__all__ = ["PrivacyUtilityDisplay"]


_GRR = "GRR (plain LDP)"
_NON_ROBUST = "non-robust (not private)"
_LIMITS = ("max_iter", "time_limit", "n_jobs")  # parameters of a design, not of its promise


class PrivacyUtilityDisplay(CurveDisplay):
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
        """Fit sanitizers for several ε and show what utility they have at the public distribution.

        Parameters
        ----------
        sanitizer : sanitizer or dict of name to sanitizer
            Templates, fitted or not: copies of them are fitted, from the smallest ε to the largest.
            With ``warm_start=True`` each fit begins at the mechanism of the one before.
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
            If RobustMSE sanitizers are combined with others, or have different distances; if an ε
            is given by pair of secrets; if an `eps` is greater than a sanitizer's `eps_all`.
        """
        templates = templates_of(sanitizer)
        utility = utility_of(templates)
        added = _baselines(templates) if baselines else {}
        grid = levels_of("eps", eps)
        for name, template in templates.items():
            _check_eps(name, template, max(grid))
        fits, curves = Fits(X, sample_weight, verbose), {}
        for name, template in (templates | added).items():
            # The name of a baseline in the legend states that it is not private.
            values, copy = [], None
            for level in grid:
                value, copy = fits.fit(
                    name, template, utility, quiet=name in added, again=copy, eps=level
                )
                values.append(value)
            curves[name] = (grid, values)
        return cls(curves, utility=utility.label, baselines=tuple(added)).plot(ax, **options)

    def _scale(self) -> None:
        self._scale_by_factors(named=True)
        self._begin_at_zero([value for _, values in self.curves.values() for value in values])
        self.ax_.set(xlabel="privacy parameter ε (nats)", ylabel=self.utility)


def _check_eps(name: str, template: Any, most: float) -> None:
    """Refuse a template whose other promises are about other ε."""
    if is_by_pair(template):
        raise ValueError(
            f"{name!r} has one ε for each pair of secrets, but this display is about one ε for all "
            "pairs, which would replace them: give it a number for eps."
        )
    eps_all = getattr(template, "eps_all", None)
    if is_number(eps_all) and eps_all < most:
        raise ValueError(
            f"{name!r} has eps_all={eps_all:g}, which must be at least eps={most:g}: leave out "
            "greater values of `eps`, or see PriceDisplay for the utility against eps_all."
        )


def _baselines(templates: dict[str, Any]) -> dict[str, Any]:
    """Return the sanitizers to compare with, unless they are there already."""
    first = next(iter(templates.values()))
    if isinstance(first, RobustMSESanitizer):
        if any(not (t.robust_privacy or t.robust_utility) for t in templates.values()):
            return {}
        return {_NON_ROBUST: clone(first).set_params(robust_privacy=False, robust_utility=False)}
    limits = {name: getattr(first, name) for name in _LIMITS if hasattr(first, name)}
    added = {
        _GRR: read_as(first, GRRSanitizer),
        _NON_ROBUST: read_as(first, NonRobustSanitizer, **limits),
    }
    kinds = {type(template) for template in templates.values()}
    return {
        name: template
        for name, template in added.items()
        if type(template) not in kinds and name not in templates
    }
