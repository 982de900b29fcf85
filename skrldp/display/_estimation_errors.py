"""Expected standard errors of estimates against n or ε."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skrldp._params import as_list, check_choice, check_flag, in_digits
from skrldp._typing import Floats
from skrldp.display._curves import (
    EPS,
    CurveDisplay,
    fitted_by_name,
    fitted_copy,
    levels_of,
    templates_of,
)
from skrldp.display._style import BASELINE
from skrldp.estimation import expected_std_error
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sanitizers.block_sanitizer import BlockSanitizer
from skrldp.sanitizers.closed_forms import GRRSanitizer

_N = (1_000, 10_000, 100_000, 1_000_000)
_RAW = "raw records, not private"
_PARTS = {
    "all": "share of a cell",
    "sensitive": "share of a secret",
    "nonsensitive": "share of a value of U",
}
_AXES = {"n": "number of reports n", "eps": "privacy parameter ε (nats)"}
_USELESS = 1.0  # standard error of a share above which an estimate is useless


class EstimationErrorDisplay(CurveDisplay):
    """Expected standard errors of shares against the number of reports, or against ε.

    They are computed by :func:`~skrldp.expected_std_error` before any data are collected, for
    records that follow the public or a different distribution.

    Parameters
    ----------
    curves : dict of name to (x, errors)
        For each curve, m numbers of reports or values of ε, and the errors: shape (m,), or (m, k)
        for k shares. An error is infinite if the reports do not determine the share.
    against : {"n", "eps"}, default="n"
        Meaning of x.
    of : str, default="a share"
        Name of the estimated quantity, for the label of the axis.
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
        One for each curve, which shows its largest error.

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
        self._take(curves)
        for name, (x, errors) in self.curves.items():
            if not (np.all(x > 0) and np.all(errors >= 0)):
                raise ValueError(f"the curve {name!r} needs positive x and errors of at least 0.")
        self.against, self.of, self.baselines = against, of, tuple(baselines)

    _size = (6.4, 4.6)
    _over_curves = True  # errors equal to those of raw records remain visible
    _ndim = 2
    _needs = "needs m numbers and errors of shape (m,) or (m, k)"

    @classmethod
    def from_estimator(
        cls,
        sanitizer: Any,
        *,
        n: Sequence[float] = _N,
        columns: Any = None,
        part: str = "all",
        by: Any = None,
        distribution: Any = None,
        design_effect: float = 1.0,
        baselines: bool = True,
        ax: Any = None,
        **options: Any,
    ) -> "EstimationErrorDisplay":
        """Show the errors of fitted sanitizers against the number of reports.

        Parameters
        ----------
        sanitizer : fitted sanitizer, or dict of name to fitted sanitizer
            Pipelines that end in a sanitizer are also accepted. Either all must have the same
            secrets and values, or each must be a BlockSanitizer with a block that contains
            `columns`.
        n : sequence of int, default=(1_000, 10_000, 100_000, 1_000_000)
            Numbers of reports.
        columns, part, by, distribution
            The shares, and the distribution, as for :func:`~skrldp.expected_std_error`. By default,
            the distribution is the first sanitizer's public distribution.
        design_effect : float, default=1.0
            Design effect of samples of households or places, as for
            :func:`~skrldp.expected_std_error`; it also applies to true records. Not for blocks.
        baselines : bool, default=True
            Whether to add the error of the true records, √(p(1−p)/n), and that of plain local
            differential privacy: randomised response (GRR) of the whole record, or of the whole
            block, with the same ε.
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
            If an entry is not a sanitizer. ValueError As by :func:`~skrldp.expected_std_error`, and
            if there are no sanitizers or no `n`.
        """
        check_flag("baselines", baselines)
        fitted, grid = fitted_by_name(sanitizer), levels_of("n", n)
        of_blocks = {k: v for k, v in fitted.items() if isinstance(v, BlockSanitizer)}
        if of_blocks and len(of_blocks) < len(fitted):
            raise ValueError(
                "a BlockSanitizer can be compared only with other BlockSanitizers, because the "
                "errors of a sanitizer with one mechanism are those of all its columns together."
            )
        wanted: dict[str, Any] = {"columns": columns, "part": part, "by": by}
        wanted["design_effect"] = design_effect
        planned = {name: (source, distribution) for name, source in of_blocks.items()}
        first, added = next(iter(fitted.values())), {}
        if not of_blocks:
            joint = first.joint_ if distribution is None else distribution
            planned = {name: (source.mechanism_, joint) for name, source in fitted.items()}
            if baselines:
                plain = _baselines(first.mechanism_, list(fitted.values()))
                added = {name: (source, joint) for name, source in plain.items()}
        elif baselines:
            added = _baselines_of_blocks(first, columns, by, distribution)
        curves = {
            name: (
                grid,
                [expected_std_error(source, size, distribution=at, **wanted) for size in grid],
            )
            for name, (source, at) in (planned | added).items()
        }
        of = _what(columns, part, by)
        return cls(curves, of=of, baselines=tuple(added)).plot(ax, **options)

    @classmethod
    def from_table(
        cls,
        sanitizer: Any,
        X: Any,
        *,
        eps: Sequence[float] = EPS,
        n: float = 10_000,
        columns: Any = None,
        part: str = "all",
        by: Any = None,
        sample_weight: Any = None,
        design_effect: float = 1.0,
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
            Privacy parameters, in nats. Each curve requires one fit for each value.
        n : int, default=10_000
            Number of reports.
        columns, part, by
            The shares, as for :func:`~skrldp.expected_std_error`.
        sample_weight : array of shape (n,), optional
            How many records each row represents.
        design_effect : float, default=1.0
            Design effect of samples of households or places, as for
            :func:`~skrldp.expected_std_error`; it also applies to true records. Not for blocks.
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
            If there are no values of ε, and as by :func:`~skrldp.expected_std_error`.
        """
        check_flag("baselines", baselines)
        templates, grid = templates_of(sanitizer), levels_of("eps", eps)
        curves = {}
        wanted: dict[str, Any] = {"columns": columns, "part": part, "by": by}
        wanted["design_effect"] = design_effect
        for name, template in templates.items():
            fits = [
                fitted_copy(name, template, X, sample_weight, e, verbose=verbose, quiet=False)
                for e in grid
            ]
            curves[name] = grid, [expected_std_error(mechanism, n, **wanted) for mechanism in fits]
        added: dict[str, list[Mechanism]] = {}
        if baselines:
            like, distribution = fits[-1].mechanism_, fits[-1].joint_
            if not any(isinstance(template, GRRSanitizer) for template in templates.values()):
                added["GRR (plain LDP)"] = [_grr(like, level) for level in grid]
            added[_RAW] = [_grr(like, np.inf)] * len(grid)
        for name, mechanisms in added.items():
            same = {"distribution": distribution, **wanted}
            curves[name] = grid, [expected_std_error(m, n, **same) for m in mechanisms]
        of = f"{_what(columns, part, by)}, n = {n:,}"
        return cls(curves, against="eps", of=of, baselines=tuple(added)).plot(ax, **options)

    def worst(self, name: str) -> Floats:
        """Return the largest error of a curve at each x.

        Parameters
        ----------
        name : str
            The curve.

        Returns
        -------
        array of shape (m,)
            Infinite if the reports do not determine one of the shares.
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
            Whether to draw the error of each share, as thin lines, in addition to the worst one.

        Returns
        -------
        self

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_flag("each", each)
        self._each = each
        return super().plot(ax)

    def _drawn(self, name: str) -> Floats:
        worst = self.worst(name)
        return np.where(np.isfinite(worst), worst, np.nan)

    def _draw_beside(self, name: str, style: dict[str, Any]) -> None:
        """Draw the error of each share."""
        if self._each:
            x, errors = self.curves[name]
            thin = {"color": style["color"], "linewidth": 0.7, "alpha": 0.6, "zorder": 1}
            self.ax_.plot(x, np.where(np.isfinite(errors), errors, np.nan), **thin)

    def _said(self, name: str) -> str:
        """State in the legend why a line is missing."""
        missing = np.isnan(self._drawn(name))
        if not missing.any():
            return ""
        where = "" if missing.all() else f" at some {'n' if self.against == 'n' else 'ε'}"
        return f": not determined{where}"

    def _scale(self) -> None:
        """Use logarithmic scales, and shade errors so large that an estimate is useless."""
        ax = self.ax_
        self._scale_by_factors(named=self.against == "eps")
        drawn = np.concatenate([line.get_ydata() for line in ax.lines])
        if np.any(drawn > 0):
            ax.set_yscale("log", nonpositive="mask")
        if np.any(drawn > _USELESS):
            ax.autoscale(enable=False, axis="y")
            ax.axhspan(_USELESS, ax.get_ylim()[1], color="0.93", zorder=0)
            style = {"ha": "right", "va": "top", "fontsize": "small", "color": BASELINE}
            # no curves are here, because errors decrease
            ax.text(0.99, 0.99, "above 1: tells nothing", transform=ax.transAxes, **style)
        which = "standard errors, worst in bold" if self._each else "worst standard error"
        ax.set(xlabel=_AXES[self.against], ylabel=f"{which}:\n{self.of}")


def _what(columns: Any, part: str, by: Any) -> str:
    text = _PARTS[part] if columns is None else f"share of {_named(columns)}"
    return text if by is None else f"{text} by {_named(by)}"


def _named(columns: Any) -> str:
    return ", ".join(map(str, as_list(columns)))


def _grr(like: Mechanism, eps: float) -> Mechanism:
    """Randomised response of the whole record, or the record itself if ε is infinite."""
    different = exp(-eps)  # cannot overflow
    total = 1.0 + (len(like.secrets) * len(like.values) - 1) * different
    weights = (1.0 / total, different / total, different / total, different / total)
    mechanism = Mechanism.from_blocks(weights, like.secrets, like.values)
    return replace(mechanism, columns=like.columns)


def _baselines(like: Mechanism, sanitizers: list[Any]) -> dict[str, Mechanism]:
    """Raw records, and GRR at every ε of the sanitizers that has none yet."""
    eps_of_grr = {s.eps for s in sanitizers if isinstance(s, GRRSanitizer)}
    missing = sorted({float(s.eps) for s in sanitizers} - eps_of_grr)
    added = {f"GRR, ε = {in_digits(eps)} (plain LDP)": _grr(like, eps) for eps in missing}
    return added | {_RAW: _grr(like, np.inf)}


def _baselines_of_blocks(
    sanitizer: Any, columns: Any, by: Any, distribution: Any
) -> dict[str, tuple[Any, Any]]:
    """Randomised response in each block, true records, and the distributions of the blocks."""
    manifest = sanitizer.manifest_
    joints = distribution
    if joints is None:
        joints = [block_sanitizer.joint_ for block_sanitizer in sanitizer.sanitizers_]
    plain = [_grr(mechanism, sanitizer.eps) for mechanism in manifest.mechanisms]
    wanted = {*as_list(columns), *as_list(by)}
    of = [{name for name, _ in mechanism.columns} for mechanism in manifest.mechanisms]
    block = next((number for number, names in enumerate(of) if wanted <= names), 0)
    return {
        f"GRR, ε = {in_digits(sanitizer.eps)} (plain LDP)": (
            Manifest.of(plain, manifest.shares),
            joints,
        ),
        _RAW: (_grr(manifest.mechanisms[block], np.inf), joints[block]),
    }
