"""What every region can do: bound the worst pair of conditionals for each row."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from skrldp._arrays import chunks
from skrldp._typing import Booleans, Floats, Indices
from skrldp.row_privacy._layout import Layout
from skrldp.support_function import cell_bounds
from skrldp.uncertainty_set import FittedSet, RenyiSet

__all__ = ["MOST_EPS", "ROUNDING", "Region", "WorstPairs", "odds_factor"]


# Relative: covers the products and sums that make a bound of bounds. Twice as much would raise
# proven bounds by some 1e-15.
ROUNDING = 8.0 * np.finfo(float).eps

# Cells of all pairs of all rows that are compared at a time: bounds the memory. Arrays of twice as
# many, 4 megabytes each, are held for the two conditionals of a pair.
_PAIR_CELLS = 1 << 18

# By how much more than needed rows are lifted, relatively: covers rounding. Twice as much costs
# utility of the same order.
_MARGIN = 1e-9

# Above this ε, exp(ε) times a few thousand is no float any more: see odds_factor.
MOST_EPS = 700.0

_EVERYTHING = RenyiSet(1.0, np.inf)


def odds_factor(eps: float | Floats) -> Any:
    """Return exp(ε), or less where that would overflow: bounds are then too large, never too small.

    Parameters
    ----------
    eps : float or array
        In nats.

    Returns
    -------
    float or array of the same shape
    """
    return np.exp(np.minimum(eps, MOST_EPS))


@dataclass(frozen=True)
class WorstPairs:
    """Pairs of secrets and how much they may violate privacy in some row, one entry each.

    Attributes
    ----------
    row, first, second : arrays of shape (m,)
        Row of the mechanism and the two secrets.
    bound : array of shape (m,)
        Upper bound on ``R1 . v[first] - exp(eps) R2 . v[second]`` over the region.
    eps : array of shape (m,)
        ε of the pair, in nats.
    conditionals : array of shape (m, 2, k) or None
        Conditionals of the region that nearly attain it.
    """

    row: Indices
    first: Indices
    second: Indices
    bound: Floats
    eps: Floats
    conditionals: Floats | None

    @property
    def heights(self) -> Floats:
        r"""What to add to the rows so that they are private for these pairs, shape (m,).

        If a row violates the privacy of a pair by at most δ, adding
        :math:`\delta/(e^\epsilon - 1)` to all its entries makes it private for the pair, and so
        does anything more (docs/proofs.md, the repair lemma).
        """
        return self.bound * (1.0 + _MARGIN) / np.expm1(np.minimum(self.eps, MOST_EPS))

    @property
    def odds_room(self) -> Floats:
        """The height for a violation by exp(ε), shape (m,)."""
        return odds_factor(self.eps) / np.expm1(np.minimum(self.eps, MOST_EPS))

    def of(self, chosen: Booleans) -> "WorstPairs":
        """Take some of the entries.

        Parameters
        ----------
        chosen : boolean array of shape (m,)
            Which.

        Returns
        -------
        WorstPairs
        """
        conditionals = None if self.conditionals is None else self.conditionals[chosen]
        names = self.row[chosen], self.first[chosen], self.second[chosen]
        return WorstPairs(*names, self.bound[chosen], self.eps[chosen], conditionals)

    def per_row(self, n_rows: int) -> Floats:
        """Greatest height of each row; 0 for a row without entries.

        Parameters
        ----------
        n_rows : int
            Number of rows.

        Returns
        -------
        array of shape (n_rows,)
        """
        greatest = np.zeros(n_rows)
        np.maximum.at(greatest, self.row, self.heights)
        return greatest


@dataclass(frozen=True, eq=False)
class Region(ABC):
    """Conditionals that are free of one another: the worst pair is the worst of each."""

    conditionals: Floats  # (a1, a2)
    marginal: Floats  # (a1,)
    uncertainty: FittedSet = _EVERYTHING
    same_secret: bool = False  # also compare a secret with itself (Entropy Definition 3)
    layout: Layout | None = None  # None: rows are tables of shape (a1, a2)
    compared: tuple[Indices, Indices] | None = None  # the pairs; None: all

    @abstractmethod
    def _extreme(
        self, q: Floats, secret: Indices, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        """Upper bounds of max R.q over the conditionals of each secret, and such R."""

    @abstractmethod
    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Move pairs of conditionals into the region, by little if they are nearly inside.

        Parameters
        ----------
        first, second : integer arrays of shape (m,)
            The secrets.
        conditionals : array of shape (m, 2, a2)
            Conditionals of each pair.

        Returns
        -------
        array of shape (m, 2, a2)
        """

    @property
    def alpha(self) -> float:
        """Order of the uncertainty set."""
        return self.uncertainty.alpha

    @cached_property
    def single_budgets(self) -> Floats:
        """What the conditional of each secret may take of the set's budget, shape (a1,)."""
        return self.uncertainty.single_budgets(self.marginal)

    @property
    def n_secrets(self) -> int:
        """Number of secrets a1."""
        return len(self.marginal)

    @cached_property
    def rows(self) -> Layout:
        """The layout of the rows: which entries belong to which secret."""
        return self.layout or Layout.plain(*self.conditionals.shape)

    @cached_property
    def pairs(self) -> tuple[Indices, Indices]:
        """Pairs of secrets that are compared, each in both orders."""
        if self.compared is not None:
            return self.compared
        if self.same_secret:
            first, second = np.indices((self.n_secrets, self.n_secrets))
            return first.ravel(), second.ravel()
        first, second = np.nonzero(~np.eye(self.n_secrets, dtype=bool))
        return first, second

    def parts(self, n_rows: int) -> Iterator[slice]:
        """Cut rows into parts whose pairs of secrets fit into memory together.

        Parameters
        ----------
        n_rows : int
            Number of rows.

        Yields
        ------
        slice
        """
        size = len(self.pairs[0]) * self.conditionals.shape[1]
        return chunks(n_rows, max(1, _PAIR_CELLS // max(1, size)))

    def worst(
        self,
        rows: Floats,
        eps: float | Floats,
        *,
        against: Floats | None = None,
        above: float = -np.inf,
        conditionals: bool = False,
    ) -> WorstPairs:
        r"""Bound the privacy violation of each row and pair of secrets.

        Parameters
        ----------
        rows : array of shape (b, ...), laid out as :attr:`rows` says
            Non-negative rows of a mechanism.
        eps : float or array of shape (n_pairs,)
            Privacy parameter, or one for each of :attr:`pairs`, in nats.
        against : array of the same shape, optional
            Take the second secret's part from these rows instead.
        above : float
            Only pairs whose bound exceeds this are returned.
        conditionals : bool
            Whether to return the worst conditionals too.

        Returns
        -------
        WorstPairs
        """
        parts = self.rows.spread(rows)
        others = parts if against is None else self.rows.spread(against)
        eps = np.broadcast_to(eps, self.pairs[0].shape)
        return self._worst(parts, others, eps, above, conditionals)

    def _worst(
        self, parts: Floats, others: Floats, eps: Floats, above: float, conditionals: bool
    ) -> WorstPairs:
        """Bound the violation of rows whose parts are one for each secret."""
        factor = odds_factor(eps)
        most, most_conditionals = self._extremes(parts, conditionals)
        least, least_conditionals = self._extremes(-others, conditionals)
        first, second = self.pairs
        gaps = most[:, first] + factor * least[:, second]
        gaps += ROUNDING * (np.abs(most[:, first]) + factor * np.abs(least[:, second]))
        gaps[np.isnan(gaps)] = np.inf  # nothing is known of these
        row, pair = np.nonzero(gaps > above)
        found = None
        if most_conditionals is not None and least_conditionals is not None:
            found = np.stack(
                [most_conditionals[row, first[pair]], least_conditionals[row, second[pair]]], axis=1
            )
        return WorstPairs(row, first[pair], second[pair], gaps[row, pair], eps[pair], found)

    def _extremes(self, rows: Floats, conditionals: bool) -> tuple[Floats, Floats | None]:
        n_rows, n_secrets, n_values = rows.shape
        secret = np.tile(np.arange(n_secrets), n_rows)
        bound, found = self._extreme(rows.reshape(-1, n_values), secret, conditionals)
        shape = (n_rows, n_secrets)
        return bound.reshape(shape), None if found is None else found.reshape(*shape, n_values)

    def one_against_rest(self, value: int) -> "Region":
        """Return the region for mechanisms that only ask whether U is this value.

        Parameters
        ----------
        value : int
            Position of the value.

        Returns
        -------
        Region
            Over conditionals of two cells: the value, and all others together.
        """
        probability = self.conditionals[:, value]
        pair = np.stack([probability, 1.0 - probability], axis=1)
        return replace(self, conditionals=pair, layout=None)

    def cell_bounds(self) -> tuple[Floats, Floats]:
        """Least and greatest probability of each value under each secret.

        Returns
        -------
        lower, upper : arrays of shape (a1, a2)
        """
        return self._cell_bounds

    @cached_property
    def _cell_bounds(self) -> tuple[Floats, Floats]:
        return cell_bounds(self.conditionals, self.marginal, self.alpha, self.single_budgets)

    def value_gap(
        self, value: Indices, first: Indices, second: Indices, eps: float | Floats
    ) -> Floats:
        r"""Upper bounds of :math:`R_1(u) - e^\epsilon R_2(u)` for given values and pairs.

        Parameters
        ----------
        value, first, second : integer arrays of shape (m,)
            Value of U and the two secrets.
        eps : float or array of shape (m,)
            In nats.

        Returns
        -------
        array of shape (m,)
        """
        lower, upper = self.cell_bounds()
        return upper[first, value] - odds_factor(eps) * lower[second, value]
