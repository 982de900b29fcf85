"""What every region can do: bound the worst pair of conditionals for each row."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from skrldp._arrays import chunks
from skrldp._typing import Floats, Indices
from skrldp.support_function import cell_bounds
from skrldp.uncertainty_set import FittedSet, RenyiSet

__all__ = ["MOST_EPS", "ROUNDING", "Region", "WorstPairs", "odds_factor"]


# Relative: covers the products and sums that make a bound of bounds. Twice as much would raise
# proven bounds by some 1e-15.
ROUNDING = 8.0 * np.finfo(float).eps

# Cells of all pairs of all rows that are compared at a time: bounds the memory. Arrays of twice as
# many, 4 megabytes each, are held for the two conditionals of a pair.
_PAIR_CELLS = 1 << 18

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
    conditionals : array of shape (m, 2, a2) or None
        Conditionals of the region that nearly attain it.
    """

    row: Indices
    first: Indices
    second: Indices
    bound: Floats
    conditionals: Floats | None

    def per_row(self, n_rows: int) -> Floats:
        """Greatest bound of each row; 0 for a row without entries.

        Parameters
        ----------
        n_rows : int
            Number of rows.

        Returns
        -------
        array of shape (n_rows,)
        """
        greatest = np.zeros(n_rows)
        np.maximum.at(greatest, self.row, self.bound)
        return greatest


@dataclass(frozen=True, eq=False)
class Region(ABC):
    """Conditionals that are free of one another: the worst pair is the worst of each."""

    conditionals: Floats  # (a1, a2)
    marginal: Floats  # (a1,)
    uncertainty: FittedSet = _EVERYTHING
    same_secret: bool = False  # also compare a secret with itself (Entropy Definition 3)
    observe: str = "all"  # or "nonsensitive": rows are functions of U, the same for every secret

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

    @property
    def row_shape(self) -> tuple[int, int]:
        """Shape of a row: a part of a2 cells for each secret, or one part that serves for all."""
        a1, a2 = self.conditionals.shape
        return (1 if self.observe == "nonsensitive" else a1), a2

    def place(self, secret: Indices) -> Indices:
        """Find the part of a row that tells what is reported under a secret.

        Parameters
        ----------
        secret : integer array of any shape
            The secrets.

        Returns
        -------
        integer array of the same shape
        """
        return np.zeros_like(secret) if self.observe == "nonsensitive" else secret

    def spread(self, rows: Floats) -> Floats:
        """Repeat what serves for all secrets, so that each has its own part.

        Parameters
        ----------
        rows : array of shape (b, *row_shape)
            Rows of a mechanism; those that have a1 parts already stay as they are.

        Returns
        -------
        array of shape (b, a1, a2)
        """
        table = np.asarray(rows, dtype=float)
        if self.observe == "all":
            return table
        return np.broadcast_to(table, (len(table), *self.conditionals.shape))

    def fold(self, distribution: Floats) -> Floats:
        """Take the distribution of the cells of a row: of X, or of U alone.

        Parameters
        ----------
        distribution : array of shape (a1, a2)
            Distribution of (S, U).

        Returns
        -------
        array of shape (number of cells of a row,)
        """
        return distribution.ravel() if self.observe == "all" else distribution.sum(axis=0)

    @cached_property
    def pairs(self) -> tuple[Indices, Indices]:
        """Pairs of secrets that are compared."""
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
        eps: float,
        *,
        against: Floats | None = None,
        above: float = -np.inf,
        conditionals: bool = False,
    ) -> WorstPairs:
        r"""Bound the privacy violation of each row and pair of secrets.

        Parameters
        ----------
        rows : array of shape (b, *row_shape)
            Non-negative rows of a mechanism.
        eps : float
            Privacy parameter, in nats.
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
        rows = self.spread(rows)
        factor = odds_factor(eps)
        most, most_conditionals = self._extremes(rows, conditionals)
        others = rows if against is None else self.spread(against)
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
        return WorstPairs(row, first[pair], second[pair], gaps[row, pair], found)

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
        return replace(self, conditionals=pair)

    def cell_bounds(self) -> tuple[Floats, Floats]:
        """Least and greatest probability of each value under each secret.

        Returns
        -------
        lower, upper : arrays of shape (a1, a2)
        """
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

    def excess(self, rows: Floats, eps: float) -> Floats:
        """Upper bound on the worst violation of each row, 0 if there is none.

        Parameters
        ----------
        rows : array of shape (b, *row_shape)
            Non-negative rows of a mechanism.
        eps : float
            Privacy parameter, in nats.

        Returns
        -------
        array of shape (b,)
        """
        found = np.zeros(len(rows))
        for part in self.parts(len(rows)):
            some = rows[part]
            found[part] = self.worst(some, eps, above=0.0).per_row(len(some))
        return found
