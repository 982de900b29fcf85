"""How much reports tell about each group of people: those with the same secret."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._params import check_choice
from skrldp._typing import Floats
from skrldp.display._curves import fitted_by_name, visible
from skrldp.display._style import (
    BASELINE,
    COLOURS,
    GRID,
    Ticks,
    chosen,
    legend,
    new_axes,
    set_ticks,
    text_width,
    texts,
)
from skrldp.information import shares_of_entropy

__all__ = ["GroupUtilityDisplay"]

_LABEL = "told about U to somebody who knows the secret,\nI(U;Y|S=s) / H(U|S=s)"
_ORDERS = ("records", "secrets")
_MOST = 60  # secrets that are drawn if none are named
_SIZES = (0.11, 0.19, 9.0)  # inches of a bar, of a name, and of all of them at most


class GroupUtilityDisplay:
    """What reports tell about U, for each secret, by some sanitizers.

    A sanitizer may keep much of the information over all records and little of it about the people
    with a rare secret. There is a bar for each secret and sanitizer: the information that a report
    has about U for somebody who knows the secret, I(U; Y | S=s), as a share of H(U | S=s). The bars
    on top are the same over all records, I(U; Y | S) as a share of H(U | S).

    Parameters
    ----------
    utilities : mapping of name to array of shape (a1,)
        A figure for each secret, at least 0; NaN where there is none. One entry for each sanitizer.
    records : array of shape (a1,)
        Numbers of records with each secret, or their shares.
    secrets : sequence of length a1, optional
        Names of the secrets; 0, 1, ... if not given.
    whole : mapping of name to float, optional
        The figure over all records, for some of the sanitizers.
    utility : str, optional
        Label of the axis of utility.

    Attributes
    ----------
    utilities : dict of name to array of shape (a1,)
        As given.
    shares : array of shape (a1,)
        Share of the records of each secret.
    secrets, whole, utility
        As given.
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.
    bars_ : list of matplotlib BarContainer
        One for each sanitizer.
    order_ : array of shape (m,)
        The places of the secrets that are drawn, from top to bottom.

    Examples
    --------
    >>> from skrldp import GroupUtilityDisplay
    >>> display = GroupUtilityDisplay({"SRR": [0.9, 0.2]}, [950, 50], secrets=["no", "yes"])
    >>> display.shares
    array([0.95, 0.05])
    """

    def __init__(
        self,
        utilities: Mapping[str, ArrayLike],
        records: ArrayLike,
        *,
        secrets: Sequence[Any] | None = None,
        whole: Mapping[str, float] | None = None,
        utility: str = _LABEL,
    ) -> None:
        counts = np.asarray(records, dtype=float)
        if counts.ndim != 1 or not np.all(counts >= 0) or not 0 < counts.sum() < np.inf:
            raise ValueError(
                "records must be a list with the number of records of each secret, with at least "
                f"one record, got an array of shape {counts.shape}."
            )
        if not utilities:
            raise ValueError("there is nothing to draw: utilities is empty.")
        self.utilities: dict[str, Floats] = {}
        for name, figures in utilities.items():
            told = np.asarray(figures, dtype=float)
            if told.shape != counts.shape or np.any(told < 0) or np.any(np.isinf(told)):
                raise ValueError(
                    f"{name!r} needs one figure of at least 0 for each of {len(counts)} secrets, "
                    f"or NaN for none, got an array of shape {told.shape}."
                )
            self.utilities[name] = told
        self.shares: Floats = counts / counts.sum()
        self.secrets = tuple(range(len(counts))) if secrets is None else tuple(secrets)
        if len(self.secrets) != len(counts):
            raise ValueError(
                f"{len(self.secrets)} secrets do not name {len(counts)} numbers of records."
            )
        self.whole = dict(whole or {})
        strange = [name for name in self.whole if name not in self.utilities]
        if strange:
            raise ValueError(f"whole names {strange[0]!r}, but utilities has no such entry.")
        self.utility = utility

    @classmethod
    def from_estimator(
        cls, sanitizer: Any, *, ax: Any = None, **options: Any
    ) -> "GroupUtilityDisplay":
        """Show how much the reports of fitted sanitizers tell about each secret.

        Parameters
        ----------
        sanitizer : sanitizer or dict of name to sanitizer
            Fitted ones, or ones inside a FrozenEstimator; several must have been fitted to one
            table, or to tables with the same records of each cell.
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        **options
            For :meth:`plot`.

        Returns
        -------
        GroupUtilityDisplay

        Raises
        ------
        TypeError, NotFittedError
            If one is no sanitizer, or has not been fitted.
        ValueError
            If there is none, or they were fitted to different tables; as by :meth:`plot`.
        """
        fitted = fitted_by_name(sanitizer)
        first = next(iter(fitted.values())).joint_
        for name, one in fitted.items():
            same = one.joint_.secrets == first.secrets and one.joint_.values == first.values
            if not (same and np.array_equal(one.joint_.people, first.people)):
                raise ValueError(
                    f"{name!r} was fitted to another table than {next(iter(fitted))!r}, or reads "
                    "it otherwise: fit them to one table, with the same sensitive= and categories."
                )
        told = {
            name: shares_of_entropy(one.information_by_secret_, first.people)
            for name, one in fitted.items()
        }
        return cls(
            {name: shares for name, (shares, _) in told.items()},
            first.counts.sum(axis=1),
            secrets=first.secrets,
            whole={name: whole for name, (_, whole) in told.items()},
        ).plot(ax, **options)

    def plot(
        self, ax: Any = None, *, secrets: Sequence[Any] | None = None, order: str = "records"
    ) -> "GroupUtilityDisplay":
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        secrets : sequence, optional
            The secrets to draw. None: all of them; of more than 60 those about which the first
            sanitizer tells least.
        order : {"records", "secrets"}, default="records"
            Secrets from top to bottom: those with the most records first, or as in `secrets`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a secret or the order is unknown.
        ImportError
            If matplotlib is not installed.
        """
        check_choice("order", order, _ORDERS)
        self.order_ = self._places(secrets)
        if order == "records":
            self.order_ = self.order_[np.argsort(-self.shares[self.order_], kind="stable")]
        names = texts([self.secrets[place] for place in self.order_])
        shares = [_percent(share) for share in self.shares[self.order_]]
        if self.whole:
            names, shares = ["all records", *names], ["100 %", *shares]
        rows = np.arange(len(names))
        ax, own = new_axes(ax, _size(names, len(self.utilities))), ax is None
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_bars(rows)
        ax.set(ylim=(len(names) - 0.5, -0.5), xlabel=self.utility, ylabel="secret")
        if len(self.order_) < len(self.secrets):
            ax.set_ylabel(f"secret ({len(self.order_):,} of {len(self.secrets):,})")
        ax.grid(axis="x", color=GRID, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
        right = ax.secondary_yaxis("right")
        right.set(ylabel="records", ylim=ax.get_ylim())
        right.tick_params(length=0)
        legend(ax, above=own)
        set_ticks(
            self.figure_,
            Ticks(ax.yaxis, rows, names),
            Ticks(right.yaxis, rows, shares, along=ax.yaxis),
        )
        return self

    def _places(self, secrets: Sequence[Any] | None) -> NDArray[np.intp]:
        """Return the places of the secrets to draw, in the order of `secrets`."""
        if secrets is not None:
            return np.array(chosen(secrets, self.secrets), dtype=np.intp)
        told = next(iter(self.utilities.values()))
        return np.sort(np.argsort(told, kind="stable")[:_MOST])  # NaN is last

    def _draw_bars(self, rows: NDArray[np.intp]) -> None:
        """Draw a bar for each secret and sanitizer, below those for all records."""
        ax, self.bars_ = self.ax_, []
        height = 0.8 / len(self.utilities)
        drawn = []
        for place, (name, told) in enumerate(self.utilities.items()):
            above = [self.whole.get(name, np.nan)] if self.whole else []
            drawn.append(np.array([*above, *told[self.order_]]))
            self.bars_.append(
                ax.barh(
                    rows - 0.4 + (place + 0.5) * height,
                    np.nan_to_num(drawn[-1]),
                    height=height,
                    color=COLOURS[place % len(COLOURS)],
                    label=visible(texts([name])[0]),
                    zorder=2,
                )
            )
        if self.whole:
            ax.axhline(0.5, color="black", linewidth=0.8)
        ax.set_xlim(0.0, max(1.05 * float(np.nanmax(drawn, initial=0.0)), 1e-9))
        for row in np.flatnonzero(np.isnan(drawn).all(axis=0)):
            ax.annotate(
                "nothing to tell",
                (0.0, row),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                color=BASELINE,
                fontsize="x-small",
            )


def _percent(share: float) -> str:
    """Write a share in two digits; a small one not as 0."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{share:.1%}".replace("%", " %")


def _size(names: Sequence[str], sanitizers: int) -> tuple[float, float]:
    """Size of a new figure, in inches: a bar for each secret and sanitizer, within limits."""
    bar, name, most = _SIZES
    row = max(name, bar * sanitizers + 0.08)
    return 5.2 + text_width(names), 1.3 + min(max(0.9, row * len(names)), most)
