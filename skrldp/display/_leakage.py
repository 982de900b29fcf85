"""How much each report changes the odds of the secrets."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._typing import Floats
from skrldp.display._odds import (
    by_column,
    change_everywhere,
    change_given_u,
    change_of_pairs,
    odds_against_others,
)
from skrldp.display._odds_picture import KnownU, OddsPicture
from skrldp.display._style import (
    COLOURS,
    Ticks,
    chosen,
    height_below,
    legend,
    new_axes,
    set_ticks,
    texts,
)
from skrldp.information import conditionals_of
from skrldp.sanitizers import fitted_sanitizer
from skrldp.sets import FittedSet

__all__ = ["LeakageDisplay"]


_ENTRIES = 4_000_000


class LeakageDisplay:
    r"""How much each report changes the odds of the secrets, and the bound e^{±ε}.

    There is a point for each report y and secret s: the odds of s against all other secrets after
    the report, divided by those before, :math:`P(y|S=s) / P(y|S≠s)`, at one distribution of the
    data. A bar shows the greatest change of the odds between any two secrets, which ε bounds.

    That is about somebody who knows this distribution and the report, and nothing else. With `rows`
    the display also shows the greatest change for somebody who knows U, at the worst value of U,
    and the greatest at any distribution whatever.

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
    compared : array of bool of shape (k, k), optional
        Which two secrets the bound is about, symmetric; None: all.
    rows : array of shape (b, a1, a2), optional
        Probability of each report given each cell.
    eps_given_u, eps_all : float
        Bounds for somebody who knows U, and for all distributions, in nats; they are stated beside
        what is computed from `rows`. Infinite for no bound.

    Attributes
    ----------
    odds : array of shape (b, k)
        Factors by which reports change the odds of secrets; NaN for a report that never occurs.
    worst : array of shape (b,)
        Greatest factor between any two secrets that are compared.
    worst_given_u, worst_everywhere : array of shape (b,) or None
        Greatest factor between any two secrets for somebody who knows U, and at any distribution.
    probability : array of shape (b,)
        Probability of each report.
    report_distribution, marginal, eps, symbols, secrets, holds_for, distribution, compared
        As given.
    eps_given_u, eps_all
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
        compared: ArrayLike | None = None,
        rows: ArrayLike | None = None,
        eps_given_u: float = math.inf,
        eps_all: float = math.inf,
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
        self.compared = None if compared is None else np.asarray(compared, dtype=bool)
        if self.compared is not None and self.compared.shape != (k, k):
            raise ValueError(f"compared must have shape {(k, k)}, got {self.compared.shape}.")
        share = self.marginal / self.marginal.sum()
        self.probability = self.report_distribution @ share
        self.odds = odds_against_others(self.report_distribution, share)
        self.worst = change_of_pairs(self.report_distribution, self.compared)
        self.eps_given_u, self.eps_all = eps_given_u, eps_all
        self.worst_given_u: Floats | None = None
        self.worst_everywhere: Floats | None = None
        if rows is not None:
            table = np.asarray(rows, dtype=float)
            if table.ndim != 3 or len(table) != b:
                raise ValueError(
                    f"rows must be a table of {b} reports by secrets by values of U, got shape "
                    f"{table.shape}."
                )
            self.worst_given_u = change_given_u(table)
            self.worst_everywhere = change_everywhere(table)

    @classmethod
    def from_estimator(
        cls,
        sanitizer: Any,
        *,
        distribution: Any = "public",
        known_u: bool = False,
        column: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> "LeakageDisplay":
        """Show how much the reports of a fitted sanitizer change the odds, at a distribution.

        The bound is the proven one, ``certificate_.eps``. Where ε is given by pair of secrets, it
        is the greatest of those that are compared, and so are the bars; the points are odds against
        all others.

        Parameters
        ----------
        sanitizer : sanitizer
            A fitted one, or one inside a FrozenEstimator.
        distribution : {"public", "worst"} or array of shape (a1, a2), default="public"
            The public distribution, the worst one that the certificate found, or any other; the
            bound holds for those of the sanitizer's set. Secrets without mass are left out.
        known_u : bool, default=False
            Whether to show as well what a report tells somebody who knows U, and what it can tell
            at any distribution, with the bounds that are proven for them
            (``certificate_.eps_given_u`` and ``certificate_.eps_all``): two secrets of the table
            are compared for these, whichever they are.
        column : str, optional
            With ``protect="each"``, the sensitive column whose values are the secrets; None is the
            one with the greatest proven bound.
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
            If the distribution is not as described, there are more than four million reports
            times secrets (with `known_u`, reports times cells), or there is no such column.
        """
        fitted = fitted_sanitizer(sanitizer)
        mechanism = fitted.mechanism_
        certificate, place = _certificate_of(fitted.certificate_, column)
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
        reports, wide = mechanism.shape[0], mechanism.shape[1] if known_u else shape[0]
        if reports * wide > _ENTRIES:
            raise ValueError(
                f"{reports:,} reports x {wide:,} {'cells' if known_u else 'secrets'} are more than "
                f"can be drawn ({_ENTRIES:,}): draw a sanitizer with a coarser alphabet."
            )
        secrets, marginal = list(mechanism.secrets), at.sum(axis=1)
        given = mechanism.report_distribution(conditionals_of(at))
        if place is not None:
            secrets, marginal, given = by_column(secrets, place, marginal, given)
        seen = np.flatnonzero(marginal > 0)
        compared = None
        if certificate.eps_pairs is not None:
            compared = np.isfinite(certificate.eps_pairs[np.ix_(seen, seen)])
            np.fill_diagonal(compared, False)
        return cls(
            given[:, seen],
            marginal[seen],
            eps=certificate.eps,
            symbols=mechanism.symbols,
            secrets=[secrets[s] for s in seen],
            holds_for=_pairs_in_words(compared) + _set_in_words(certificate.uncertainty),
            distribution=said,
            compared=compared,
            rows=mechanism.matrix.reshape(reports, *shape) if known_u else None,
            eps_given_u=certificate.eps_given_u,
            eps_all=certificate.eps_all,
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
        high = 4.2 if self.worst_given_u is None else 4.8
        ax = new_axes(ax, (wide, high + height_below(names, 0.8 * wide / shown)))
        self.ax_, self.figure_ = ax, ax.figure
        ax.set(xlim=(-0.7, shown - 0.3), xlabel="report, the most probable first")
        some = self.compared is not None and _pairs_left_out(self.compared)
        pairs = "two secrets that are compared" if some else "any two secrets"
        picture = OddsPicture(ax, change, worst, pairs)
        known_u = None
        if self.worst_given_u is not None and self.worst_everywhere is not None:
            given_u, everywhere = (
                self.worst_given_u[self.order_],
                self.worst_everywhere[self.order_],
            )
            known_u = KnownU(np.log(given_u), np.log(everywhere), self.eps_given_u, self.eps_all)
        picture.draw_bound(self.eps, self.holds_for, known_u)
        if known_u is not None:
            picture.draw_known_u(known_u)
        picture.draw_points(texts(self.secrets), coloured, self.probability[self.order_])
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


def _pairs_in_words(compared: NDArray[np.bool_] | None) -> str:
    """State which pairs of secrets a bound is about, where they differ."""
    if compared is None:
        return ""
    if _pairs_left_out(compared):
        return "the greatest of the pairs that are compared,\n"
    return "the greatest of all pairs, "


def _pairs_left_out(compared: NDArray[np.bool_]) -> bool:
    return bool(compared.sum() < compared.size - len(compared))


def _certificate_of(certificate: Any, column: str | None) -> tuple[Any, int | None]:
    """Return the certificate of one sensitive column, and its place among them."""
    names = list(certificate.each)
    if column is not None and column not in names:
        known = ", ".join(map(repr, names)) or "protected jointly (protect='each' would separate)"
        raise ValueError(f"column={column!r} is no sensitive column: they are {known}.")
    if not names:
        return certificate, None
    if column is None:
        column = max(names, key=lambda name: certificate.each[name].eps)
    return certificate.each[column], names.index(column)


def _set_in_words(around: FittedSet) -> str:
    few = around.is_everything or around.is_point
    return f"for {around.describe() if few else 'the distributions of the uncertainty set'}"
