"""What every region can do: bound the worst pair of conditionals for each row."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from skrldp._arrays import chunks
from skrldp._typing import Booleans, Floats, Indices
from skrldp.privacy._layout import Layout
from skrldp.privacy._screened import RoughPairs, Screened
from skrldp.privacy._screened_maximum import screened_maxima
from skrldp.privacy._worst_pairs import WorstPairs, odds_factor, shifts_of
from skrldp.sets import FittedSet, RenyiSet
from skrldp.support_function import cell_bounds

__all__ = ["PowerMeans", "Region"]


# Rows times pairs of secrets whose bounds are held at a time: 2 megabytes for each array.
_PAIRS = 1 << 20

# Pairs of each row that are looked at closely to begin with, when the worst is sought.
_FIRST_PAIRS = 2

_EVERYTHING = RenyiSet(1.0, np.inf)


@dataclass(frozen=True, eq=False)
class PowerMeans:
    r"""What the worst conditional of each secret makes of numbers q, by a power mean.

    :math:`\max R\cdot q` is the least :math:`\lambda - c\,M_\theta(\lambda - q)` over
    :math:`\lambda \ge \max q`, where :math:`M_\theta` is the power mean of exponent θ under p.
    """

    p: Floats  # (a1, a2), weights of the means
    scale: Floats  # (a1,), the factors c; 0 for a secret whose conditional may be anything
    theta: float  # the exponent, at most 1


@dataclass(frozen=True, eq=False)
class Region(ABC):
    """Conditionals that are free of one another: the worst pair is the worst of each."""

    conditionals: Floats  # (a1, a2)
    marginal: Floats  # (a1,), the distribution of the secrets
    weights: Floats  # (a1,), on which budgets depend: of a survey, shares of the records
    uncertainty: FittedSet = _EVERYTHING
    same_secret: bool = False  # also compare a secret with itself (Entropy Definition 3)
    layout: Layout | None = None  # None: rows are tables of shape (a1, a2)
    compared: tuple[Indices, Indices] | None = None  # the pairs; None: all

    # Whether any conditionals are allowed, so that no pair of secrets differs from another.
    is_everything: ClassVar[bool] = False
    # Whether the public conditionals are the only ones, but for secrets without records.
    is_point: ClassVar[bool] = False

    @abstractmethod
    def _extreme(
        self, q: Floats, secret: Indices, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        """Upper bounds of max R.q over the conditionals of each secret, and such R."""

    @abstractmethod
    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Move pairs of conditionals into the region, by little if they are nearly inside.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """

    @abstractmethod
    def wider(self) -> "Region":
        """Return the next larger region, whose privacy is easier to write down, or the same."""

    @property
    def means(self) -> PowerMeans | None:
        """The worst conditional of each secret by power means; None if it is none of these."""
        return None

    @property
    def few_vertices(self) -> bool:
        """Whether the conditionals of each secret are a polytope with few vertices."""
        return False

    def vertices(self, secret: int) -> Floats:
        """List the extreme conditionals of a secret, shape (m, a2), where these are few."""
        raise ValueError(f"a {type(self).__name__} has no vertices to list.")

    def shared(self, first: Indices, second: Indices) -> Booleans:
        """Tell which pairs of secrets share a budget: one takes what the other cannot.

        Shapes: `first` and `second` (m,); returns (m,).
        """
        return np.zeros(len(first), dtype=bool)

    def shared_budget(self, pair: Indices) -> tuple[Floats, Floats | None]:
        """Return what two conditionals may take together, and each of them.

        Shapes: `pair` (m, 2). Returns (m,), and (m, 2), or None where each may take all.
        """
        together = self.uncertainty.pair_budgets(self.weights[pair])
        return together, self.single_budgets[pair] if self.uncertainty.limits_singles else None

    @property
    def alpha(self) -> float:
        """Order of the uncertainty set."""
        return self.uncertainty.alpha

    @cached_property
    def single_budgets(self) -> Floats:
        """What the conditional of each secret may take of the set's budget, shape (a1,)."""
        return self.uncertainty.single_budgets(self.weights)

    @cached_property
    def seen(self) -> Booleans:
        """Which secrets have public records, shape (a1,)."""
        return self.weights > 0

    @property
    def n_secrets(self) -> int:
        """Number of secrets a1."""
        return len(self.weights)

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
        """Cut rows into parts whose pairs of secrets fit into memory together."""
        return chunks(n_rows, max(1, _PAIRS // max(1, len(self.pairs[0]))))

    def worst(
        self,
        rows: Floats,
        eps: float | Floats,
        *,
        above: float = -np.inf,
        conditionals: bool = False,
    ) -> WorstPairs:
        r"""Bound the privacy violation of each row and pair of secrets.

        Shapes: `rows` (b, ...); `eps` (n_pairs,).
        """
        eps = np.broadcast_to(eps, self.pairs[0].shape)
        screened = self.screened(rows)
        row, pair = np.nonzero(screened.gaps(eps) > above)
        found, _ = screened.closely(row, pair, eps[pair], above, conditionals)
        return found

    def screened(self, rows: Floats, against: Floats | None = None) -> Screened:
        """Bound what each secret's conditional makes of rows, so that few pairs are left.

        Shapes: `rows` (b, ...).
        """
        parts = self.rows.spread(rows)
        others = parts if against is None else self.rows.spread(against)
        return Screened(self, parts, others, *self._extremes(parts, others))

    def shifts(
        self,
        rows: Floats,
        eps: float | Floats,
        rounding: float = 0.0,
        callback: Callable[[int], None] | None = None,
    ) -> Floats:
        """Find what must be added to all entries of each row to make it private.

        Shapes: `rows` (b, ...); `eps` (n_pairs,); returns (b,).
        """
        eps = np.broadcast_to(eps, self.pairs[0].shape)
        spare = rounding * (1.0 + odds_factor(eps))
        shifts = np.zeros(len(rows))
        for part in self.parts(len(rows)):
            screened = self.screened(rows[part])

            def closely(row: Indices, pair: Indices, screened: Screened = screened) -> Floats:
                found, _ = screened.closely(row, pair, eps[pair])
                return shifts_of(found.bound + spare[pair], found.eps)

            rough = shifts_of(screened.gaps(eps) + spare, eps)
            shifts[part] = screened_maxima(rough, closely, _FIRST_PAIRS)
            if callback is not None:
                callback(len(shifts[part]))
        return shifts

    def _extremes(self, parts: Floats, others: Floats) -> tuple[Floats, Floats]:
        """Upper bounds of what the conditionals make of each part, and of minus that."""
        n_rows, n_secrets, n_values = parts.shape
        secret = np.tile(np.arange(n_secrets), n_rows)
        most, _ = self._extreme(parts.reshape(-1, n_values), secret, False)
        least, _ = self._extreme(-others.reshape(-1, n_values), secret, False)
        return most.reshape(n_rows, n_secrets), least.reshape(n_rows, n_secrets)

    def closely(
        self, pairs: RoughPairs, above: float, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        """Bound pairs of parts; give the worst conditionals of those whose bound exceeds a number.

        Where conditionals are free of one another, the rough bounds are as close as any.
        """
        if not conditionals:
            return pairs.bound, None
        kept = pairs[pairs.bound > above]
        _, most = self._extreme(kept.part, kept.first, True)
        _, least = self._extreme(-kept.other, kept.second, True)
        assert most is not None and least is not None
        return pairs.bound, np.stack([most, least], axis=1)

    def one_against_rest(self, value: int) -> "Region":
        """Return the region for mechanisms that only ask whether U is this value.

        Returns Region: over conditionals of two cells: the value, and all others together.
        """
        probability = self.conditionals[:, value]
        return self.merged(np.stack([probability, 1.0 - probability], axis=1))

    def among(self, secrets: Indices) -> "Region":
        """Return the region of some secrets, all pairs of which are compared.

        Shapes: `secrets` (m,).
        """
        return replace(
            self,
            conditionals=self.conditionals[secrets],
            marginal=self.marginal[secrets],
            weights=self.weights[secrets],
            layout=None,
            compared=None,
        )

    def merged(self, conditionals: Floats) -> "Region":
        """Return a region for values that are merged: what it allows, this one allows of them.

        Shapes: `conditionals` (a1, k): the public ones of the merged values.
        """
        return replace(self, conditionals=conditionals, layout=None)

    def cell_bounds(self) -> tuple[Floats, Floats]:
        """Least and greatest probability of each value under each secret.

        Shapes: returns `lower, upper` (a1, a2).
        """
        return self._cell_bounds

    @cached_property
    def _cell_bounds(self) -> tuple[Floats, Floats]:
        return cell_bounds(self.conditionals, self.weights, self.alpha, self.single_budgets)

    def value_gap(
        self, value: Indices, first: Indices, second: Indices, eps: float | Floats
    ) -> Floats:
        r"""Upper bounds of :math:`R_1(u) - e^\epsilon R_2(u)` for given values and pairs.

        Shapes: `value` and `first` and `second` (m,); `eps` (m,); returns (m,).
        """
        lower, upper = self.cell_bounds()
        return upper[first, value] - odds_factor(eps) * lower[second, value]
