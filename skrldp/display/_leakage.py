"""How much each report changes the odds of the secrets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skrldp._numbers import at_most
from skrldp._typing import Floats
from skrldp.display._style import (
    BASELINE,
    COLOURS,
    MARKERS,
    Ticks,
    chosen,
    height_below,
    legend,
    new_axes,
    number,
    set_ticks,
    texts,
)
from skrldp.information import conditionals_of
from skrldp.sanitizers import fitted_sanitizer
from skrldp.uncertainty_set import FittedSet

__all__ = ["LeakageDisplay"]


_ENTRIES = 4_000_000
_MANY = 500  # points that are drawn as pixels in a vector graphic


class LeakageDisplay:
    r"""How much each report changes the odds of the secrets, and the bound e^{±ε}.

    There is a point for each report y and secret s: the odds of s against all other secrets after
    the report, divided by those before, :math:`P(y|S=s) / P(y|S≠s)`, at one distribution of the
    data. A bar shows the greatest change of the odds between any two secrets, which ε bounds.

    Parameters
    ----------
    report_distribution : array of shape (b, k)
        Distribution of the report given each secret.
    marginal : array of shape (k,)
        Distribution of the secrets, positive.
    eps : float
        Where the bound is drawn, in nats; infinite for no bound.
    symbols, secrets : sequences of length b and k, optional
        Names; 0, 1, ... if not given.
    holds_for : str, optional
        The distributions that the bound is proven for, in words.
    distribution : str, optional
        The distribution at which the points are computed, in words.

    Attributes
    ----------
    odds : array of shape (b, k)
        Factors by which reports change the odds of secrets; NaN for a report that never occurs.
    worst : array of shape (b,)
        Greatest factor between any two secrets.
    probability : array of shape (b,)
        Probability of each report.
    report_distribution, marginal, eps, symbols, secrets, holds_for, distribution
        As given.
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.
    order_ : array of shape (m,)
        The indices of the symbols from left to right: the most probable first. Reports that
        never occur are left out.

    Examples
    --------
    >>> from skrldp import LeakageDisplay
    >>> display = LeakageDisplay([[0.5, 0.25], [0.5, 0.75]], [0.2, 0.8], eps=1.0)
    >>> display.odds.round(2)
    array([[2.  , 0.5 ],
           [0.67, 1.5 ]])
    """

    def __init__(
        self,
        report_distribution: ArrayLike,
        marginal: ArrayLike,
        *,
        eps: float,
        symbols: Sequence[Any] | None = None,
        secrets: Sequence[Any] | None = None,
        holds_for: str = "",
        distribution: str = "",
    ) -> None:
        self.report_distribution = np.asarray(report_distribution, dtype=float)
        self.marginal = np.asarray(marginal, dtype=float)
        if self.report_distribution.ndim != 2:
            raise ValueError(
                "report_distribution must be a table of reports by secrets, got shape "
                f"{self.report_distribution.shape}."
            )
        b, k = self.report_distribution.shape
        if self.marginal.shape != (k,) or not np.all(self.marginal > 0):
            raise ValueError(
                f"marginal must hold {k} positive probabilities, one for each column of "
                f"report_distribution, got shape {self.marginal.shape}: leave out secrets without "
                "mass."
            )
        if k < 2:
            raise ValueError("only one secret has mass, so there are no odds to change.")
        self.eps = eps
        self.symbols = tuple(range(b)) if symbols is None else tuple(symbols)
        self.secrets = tuple(range(k)) if secrets is None else tuple(secrets)
        if (len(self.symbols), len(self.secrets)) != (b, k):
            raise ValueError(
                f"{len(self.symbols)} symbols and {len(self.secrets)} secrets do not name a "
                f"distribution of shape {(b, k)}."
            )
        self.holds_for = holds_for
        self.distribution = distribution
        share = self.marginal / self.marginal.sum()
        self.probability = self.report_distribution @ share
        others = share[:, None] * (1.0 - np.eye(k))
        with np.errstate(divide="ignore", invalid="ignore"):
            self.odds: Floats = self.report_distribution / (
                self.report_distribution @ (others / others.sum(axis=0))
            )
            self.worst: Floats = self.report_distribution.max(
                axis=1
            ) / self.report_distribution.min(axis=1)

    @classmethod
    def from_estimator(
        cls, sanitizer: Any, *, distribution: Any = "public", ax: Any = None, **options: Any
    ) -> "LeakageDisplay":
        """Show how much the reports of a fitted sanitizer change the odds, at a distribution.

        The bound is the proven one, ``certificate_.eps``.

        Parameters
        ----------
        sanitizer : sanitizer
            A fitted one, or one inside a FrozenEstimator.
        distribution : {"public", "worst"} or array of shape (a1, a2), default="public"
            The public distribution, the worst one that the certificate found, or any other; the
            bound holds for those of the sanitizer's set. Secrets without mass are left out.
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        **options
            For :meth:`plot`.

        Returns
        -------
        LeakageDisplay

        Raises
        ------
        TypeError, NotFittedError
            If it is no sanitizer, or has not been fitted.
        ValueError
            If the distribution is not as described, or there are more than four million reports
            times secrets.
        """
        fitted = fitted_sanitizer(sanitizer)
        mechanism, certificate = fitted.mechanism_, fitted.certificate_
        shape = len(mechanism.secrets), len(mechanism.values)
        if isinstance(distribution, str):
            if distribution not in ("public", "worst"):
                raise ValueError(
                    f"distribution={distribution!r} must be 'public', 'worst' or an array."
                )
            at = (
                fitted.joint_.probabilities
                if distribution == "public"
                else certificate.distribution
            )
            said = "public distribution" if distribution == "public" else "worst distribution found"
        else:
            at, said = np.asarray(distribution, dtype=float), "given distribution"
            if at.shape != shape or not np.all(at >= 0) or not np.isclose(at.sum(), 1.0):
                raise ValueError(
                    f"distribution must be a table of {shape[0]} secrets x {shape[1]} values of "
                    f"probabilities with sum 1, got shape {at.shape} and sum {at.sum():.6g}."
                )
        if mechanism.shape[0] * shape[0] > _ENTRIES:
            raise ValueError(
                f"{mechanism.shape[0]:,} reports x {shape[0]:,} secrets are more than can be drawn "
                f"({_ENTRIES:,}): draw a sanitizer with a coarser alphabet."
            )
        marginal = at.sum(axis=1)
        seen = np.flatnonzero(marginal > 0)
        return cls(
            mechanism.report_distribution(conditionals_of(at))[:, seen],
            marginal[seen],
            eps=certificate.eps,
            symbols=mechanism.symbols,
            secrets=[mechanism.secrets[s] for s in seen],
            holds_for=_set_in_words(certificate.uncertainty),
            distribution=said,
        ).plot(ax, **options)

    def plot(self, ax: Any = None, *, secrets: Sequence[Any] | None = None) -> "LeakageDisplay":
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        secrets : sequence, optional
            The secrets to draw in colour. None: if there are two, the rarer one; if there are more,
            the six whose odds change most. The others are drawn in grey; but of two secrets only
            one is drawn, since the other's odds change by the inverse factor.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a secret is unknown.
        ImportError
            If matplotlib is not installed.
        """
        self.order_ = np.argsort(-self.probability, kind="stable")
        self.order_ = self.order_[self.probability[self.order_] > 0]
        with np.errstate(divide="ignore"):
            change, worst = np.log(self.odds[self.order_]), np.log(self.worst[self.order_])
        coloured = self._coloured(change, secrets)
        names = texts([self.symbols[y] for y in self.order_])
        shown, own = len(self.order_), ax is None
        wide = min(max(5.0, 1.5 + 0.25 * shown), 9.0)
        ax = new_axes(ax, (wide, 4.2 + height_below(names, 0.8 * wide / shown)))
        self.ax_, self.figure_ = ax, ax.figure
        ax.set(xlim=(-0.7, shown - 0.3), xlabel="report, the most probable first")
        self._draw_bound(change, worst)
        self._draw_points(change, worst, coloured)
        at = f"\nat the {self.distribution}" if self.distribution else ""
        ax.set_ylabel(f"change of a secret's odds{at}")
        legend(ax, above=own)
        set_ticks(self.figure_, Ticks(ax.xaxis, np.arange(shown), names))
        return self

    def _coloured(self, change: Floats, secrets: Sequence[Any] | None) -> list[int]:
        if secrets is not None:
            return chosen(secrets, self.secrets)
        if len(self.secrets) == 2:
            return [int(self.marginal[1] <= self.marginal[0])]
        most = np.nanmax(np.abs(change), axis=0, initial=0.0)
        return sorted(np.argsort(-most, kind="stable")[: len(COLOURS)].tolist())

    def _draw_bound(self, change: Floats, worst: Floats) -> None:
        """Draw the lines, and scale the axis by them: its ticks are factors."""
        known = np.concatenate([np.abs(change).ravel(), worst])
        eps = self.eps if np.isfinite(self.eps) else 0.0
        top = max(known[np.isfinite(known)].max(initial=0.0), eps, 1e-3)
        self._top = 1.12 * top
        self.ax_.set_ylim(-1.2 * top, 1.2 * top)
        step = (eps if eps > 0.01 * top else top) / 2.0
        step *= max(1, int(np.ceil(top / step / 4.0)))
        ticks = np.arange(-int(1.2 * top / step), int(1.2 * top / step) + 1) * step
        self.ax_.set_yticks(ticks, labels=[_factor(tick) for tick in ticks])
        self.ax_.axhline(0.0, color=BASELINE, linewidth=0.8)
        if not np.isfinite(self.eps):
            return
        label = f"ε = {at_most(eps, '.4g')}"
        if self.holds_for:
            label = f"proven bound, {label}\n({self.holds_for})"
        for place, name in ((eps, label), (-eps, None)):
            self.ax_.axhline(place, color="black", linestyle="--", linewidth=1.2, label=name)

    def _draw_points(self, change: Floats, worst: Floats, coloured: list[int]) -> None:
        ax, places = self.ax_, np.arange(len(change))
        pixels = change.size > _MANY
        share = self.probability[self.order_] / self.probability.max()
        area = 10.0 + (140.0 if len(change) <= 30 else 60.0 if len(change) <= 120 else 12.0) * share
        if len(self.secrets) > 2:
            reach = np.minimum(worst, self._top)
            ax.vlines(
                places,
                -reach,
                reach,
                color="#BFBFBF",
                linewidth=max(0.6, min(4.0, 120.0 / len(places))),
                zorder=1,
                label="any two secrets",
                rasterized=pixels,
            )
        names = texts(self.secrets)
        others = [s for s in range(len(self.secrets)) if s not in coloured]
        if len(self.secrets) > 2 and others:
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
        self.ax_.scatter(
            x[finite], y[finite], s=sizes[finite], zorder=3, edgecolors="white", linewidths=0.5,
            **style,
        )  # fmt: skip
        for end, mark in ((np.inf, r"$\infty$"), (-np.inf, "$0$")):
            at = x[y == end]
            if len(at):
                edge = np.full(len(at), np.sign(end) * self._top)
                self.ax_.scatter(at, edge, s=90, color=style["color"], marker=mark, zorder=4)


def _factor(log: float) -> str:
    """Write the factor by which odds are multiplied or divided."""
    if abs(log) < 1e-12:
        return "1"
    size = f"e^{number(abs(log))}" if abs(log) > 12.0 else f"{np.exp(abs(log)):.3g}"
    return f"× {size}" if log > 0 else f"÷ {size}"


def _set_in_words(around: FittedSet) -> str:
    few = around.is_everything or around.is_point
    return f"for {around.describe() if few else 'the distributions of the uncertainty set'}"
