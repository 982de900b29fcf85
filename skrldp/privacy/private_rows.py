"""Regions of conditionals, and the worst pair of conditionals for each row."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from skrldp._arrays import chunks
from skrldp._params import check_choice
from skrldp._typing import Booleans, Floats, Indices
from skrldp.joint import JointDistribution
from skrldp.privacy.screening import (
    ROUNDING,
    RoughPairs,
    Screened,
    WorstPairs,
    odds_factor,
    screened_maxima,
    shifts_of,
)
from skrldp.sets.fitted_sets import REGIONS, Box, FittedSet, RenyiSet
from skrldp.support_function import (
    cell_bounds,
    conditional_radius,
    pull_in,
    support,
    worst_conditionals,
)


@dataclass(frozen=True, eq=False)
class Layout:
    """The entries of a row, arranged in one part for each secret.

    A *secret* here is whatever an observer might want to distinguish: a value of S, a value of one
    of several sensitive columns, or a value of S together with known values of U. Its part holds
    the entries of the cells that are possible under it.
    """

    # (p, k), the entries of each part. A part with fewer than k entries is padded with copies of
    # its first one, whose public probability is 0, so that no maximum changes (docs/proofs.md).
    parts: Indices
    # (n_secrets,), the part of each secret. Secrets that the mechanism does not observe share
    # theirs.
    place: Indices
    n_cells: int  # number of entries of a row

    @classmethod
    def plain(cls, n_secrets: int, n_values: int, observe: str = "all") -> "Layout":
        """Lay out rows whose entries are cells in order, or values of U for all secrets."""
        if observe == "nonsensitive":
            return cls(np.arange(n_values)[None], np.zeros(n_secrets, dtype=np.intp), n_values)
        n_cells = n_secrets * n_values
        return cls(np.arange(n_cells).reshape(n_secrets, n_values), np.arange(n_secrets), n_cells)

    @cached_property
    def in_order(self) -> bool:
        """Whether the concatenated parts are the row."""
        return self.parts.size == self.n_cells and bool(
            np.all(self.parts.ravel() == np.arange(self.n_cells))
        )

    @property
    def shared(self) -> bool:
        """Whether several secrets have the same part."""
        return len(self.parts) < len(self.place)

    @cached_property
    def real(self) -> Booleans:
        """Which entries of the parts are not copies, shape (p, k)."""
        columns = np.arange(self.parts.shape[1])
        earlier = columns[:, None] > columns
        same = self.parts[:, :, None] == self.parts[:, None, :]
        return ~(same & earlier).any(axis=2)

    def split(self, rows: Floats) -> Floats:
        """Split rows into their parts.

        Shapes: `rows` (b, ...); returns (b, p, k).
        """
        flat = np.asarray(rows, dtype=float).reshape(len(rows), self.n_cells)
        if self.in_order:
            return flat.reshape(len(rows), *self.parts.shape)
        return flat[:, self.parts]

    def spread(self, rows: Floats) -> Floats:
        """Return each secret's part of each row.

        Shapes: `rows` (b, ...); returns (b, n_secrets, k).
        """
        split_rows = self.split(rows)
        if len(self.parts) == 1:
            return np.broadcast_to(
                split_rows, (len(split_rows), len(self.place), split_rows.shape[2])
            )
        return split_rows[:, self.place] if self.shared else split_rows

    def gather(self, part_entries: Floats) -> Floats:
        """Sum the part entries of each entry of a row: the adjoint of :meth:`split`.

        Shapes: `part_entries` (b, p, k). Returns (b, n_cells): the same function of the rows.
        """
        return self._gathered(part_entries.reshape(len(part_entries), -1), 1)

    def gather_forms(self, forms: Floats) -> Floats:
        """Sum the part entries of every pair of entries of a row.

        Shapes: `forms` (b, p * k, p * k). Returns (b, n_cells, n_cells): the same forms of the
        rows.
        """
        return self._gathered(self._gathered(forms, 1), 2)

    def _gathered(self, table: Floats, axis: int) -> Floats:
        if self.in_order:
            return table
        order, starts = self._groups
        sorted_table = np.take(table, order, axis=axis)
        if len(order) == self.n_cells:  # no copies
            return sorted_table
        return np.asarray(np.add.reduceat(sorted_table, starts, axis=axis))

    @cached_property
    def _groups(self) -> tuple[Indices, Indices]:
        """The indices of the parts sorted by entry, and where those of each entry begin."""
        entries = self.parts.ravel()
        order = np.argsort(entries, kind="stable")
        return order, np.searchsorted(entries[order], np.arange(self.n_cells))


# --- Every region bounds the worst pair of conditionals for each row ------------------------------


# Maximum rows times pairs of secrets whose bounds are in memory: 2 megabytes for each array.
_PAIRS = 1 << 20

# Initial number of pairs of each row that are examined closely in the search for the worst pair.
_FIRST_PAIRS = 2

_EVERYTHING = RenyiSet(1.0, np.inf)


@dataclass(frozen=True, eq=False)
class PowerMeans:
    r"""The maximum of R·q over each secret's conditionals R, by a power mean.

    :math:`\max R\cdot q` is the least :math:`\lambda - c\,M_\theta(\lambda - q)` over
    :math:`\lambda \ge \max q`, where :math:`M_\theta` is the power mean of exponent θ under p.
    """

    p: Floats  # (a1, a2), weights of the means
    scale: Floats  # (a1,), the factors c; 0 for a secret with an unrestricted conditional
    theta: float  # the exponent, at most 1


@dataclass(frozen=True, eq=False)
class Region(ABC):
    """Conditionals that vary independently: the worst pair consists of the worst of each."""

    conditionals: Floats  # (a1, a2)
    marginal: Floats  # (a1,), the distribution of the secrets
    weights: Floats  # (a1,), on which budgets depend: for surveys, shares of the records
    uncertainty: FittedSet = _EVERYTHING
    same_secret: bool = False  # also compare a secret with itself (Entropy Definition 3)
    layout: Layout | None = None  # None: rows are tables of shape (a1, a2)
    compared: tuple[Indices, Indices] | None = None  # the pairs; None: all

    # Whether conditionals are unrestricted, so that all pairs of secrets are equivalent.
    is_everything: ClassVar[bool] = False
    # Whether only the public conditionals are allowed, except for secrets without records.
    is_point: ClassVar[bool] = False

    @abstractmethod
    def _extreme(
        self, q: Floats, secret: Indices, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        """Upper bounds of max R·q over the conditionals of each secret, with maximisers R."""

    @abstractmethod
    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Move pairs of conditionals into the region, by a small step if they are nearly inside.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """

    @abstractmethod
    def wider(self) -> "Region":
        """Return the next larger region, whose constraints are simpler, or this one."""

    @property
    def means(self) -> PowerMeans | None:
        """The power means that give each secret's worst conditional; None if they do not apply."""
        return None

    @property
    def box(self) -> Box | None:
        """The bounds of each conditional if it varies freely between them, else None."""
        return None

    @property
    def few_vertices(self) -> bool:
        """Whether the conditionals of each secret are a polytope with few vertices."""
        return False

    def vertices(self, secret: int) -> Floats:
        """List the extreme conditionals of a secret, shape (m, a2), if these are few."""
        raise ValueError(f"a {type(self).__name__} has no vertices to list.")

    def shared(self, first: Indices, second: Indices) -> Booleans:
        """Return which pairs of secrets share a budget.

        Shapes: `first` and `second` (m,); returns (m,).
        """
        return np.zeros(len(first), dtype=bool)

    def shared_budget(self, pair: Indices) -> tuple[Floats, Floats | None]:
        """Return the budgets of two conditionals together, and of each.

        Shapes: `pair` (m, 2). Returns (m,), and (m, 2), or None if each may use the whole budget.
        """
        together = self.uncertainty.pair_budgets(self.weights[pair])
        return together, self.single_budgets[pair] if self.uncertainty.limits_singles else None

    @property
    def alpha(self) -> float:
        """Order of the uncertainty set."""
        return self.uncertainty.alpha

    @cached_property
    def single_budgets(self) -> Floats:
        """The budget of each secret's conditional, shape (a1,)."""
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
        """The compared pairs of secrets, each in both orders."""
        if self.compared is not None:
            return self.compared
        if self.same_secret:
            first, second = np.indices((self.n_secrets, self.n_secrets))
            return first.ravel(), second.ravel()
        first, second = np.nonzero(~np.eye(self.n_secrets, dtype=bool))
        return first, second

    def parts(self, n_rows: int) -> Iterator[slice]:
        """Divide rows into batches whose pairs of secrets fit into memory."""
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
        worst, _ = screened.closely(row, pair, eps[pair], above, conditionals)
        return worst

    def screened(self, rows: Floats, against: Floats | None = None) -> Screened:
        """Bound R·v over each secret's conditionals R, so that few pairs remain.

        Shapes: `rows` (b, ...).
        """
        first_parts = self.rows.spread(rows)
        second_parts = first_parts if against is None else self.rows.spread(against)
        return Screened(self, first_parts, second_parts, *self._extremes(first_parts, second_parts))

    def shifts(
        self,
        rows: Floats,
        eps: float | Floats,
        rounding: float = 0.0,
        callback: Callable[[int], None] | None = None,
    ) -> Floats:
        """Find a number for each row, close to the smallest, whose addition makes it private.

        Shapes: `rows` (b, ...); `eps` (n_pairs,); returns (b,).
        """
        eps = np.broadcast_to(eps, self.pairs[0].shape)
        spare = rounding * (1.0 + odds_factor(eps))
        shifts = np.zeros(len(rows))
        for batch in self.parts(len(rows)):
            screened = self.screened(rows[batch])

            def closely(row: Indices, pair: Indices, screened: Screened = screened) -> Floats:
                worst, _ = screened.closely(row, pair, eps[pair])
                return shifts_of(worst.bound + spare[pair], worst.eps)

            rough = shifts_of(screened.gaps(eps) + spare, eps)
            shifts[batch] = screened_maxima(rough, closely, _FIRST_PAIRS)
            if callback is not None:
                callback(len(shifts[batch]))
        return shifts

    def _extremes(self, first_parts: Floats, second_parts: Floats) -> tuple[Floats, Floats]:
        """Upper bounds of R·v for each part v, and of −R·v."""
        n_rows, n_secrets, n_values = first_parts.shape
        secret = np.tile(np.arange(n_secrets), n_rows)
        upper, _ = self._extreme(first_parts.reshape(-1, n_values), secret, False)
        minus_lower, _ = self._extreme(-second_parts.reshape(-1, n_values), secret, False)
        return upper.reshape(n_rows, n_secrets), minus_lower.reshape(n_rows, n_secrets)

    def closely(
        self, pairs: RoughPairs, above: float, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        """Bound pairs of parts, with worst conditionals of those whose bound exceeds a number.

        If conditionals vary independently, the rough bounds are returned, because they cannot be
        improved.
        """
        if not conditionals:
            return pairs.bound, None
        violating = pairs[pairs.bound > above]
        _, first = self._extreme(violating.part, violating.first, True)
        _, second = self._extreme(-violating.other, violating.second, True)
        assert first is not None and second is not None
        return pairs.bound, np.stack([first, second], axis=1)

    def one_against_rest(self, value: int) -> "Region":
        """Return the region for mechanisms that observe only whether U is this value.

        Returns Region: over conditionals of two cells, the value and all others together.
        """
        is_value = np.arange(self.conditionals.shape[1]) == value
        return self.grouped(np.stack([is_value, ~is_value], axis=1).astype(float))

    def among(self, secrets: Indices) -> "Region":
        """Return the region of a subset of secrets, in which all pairs are compared.

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
        """Return a region for merged values that contains all merged conditionals of this one.

        Shapes: `conditionals` (a1, k): the public ones of the merged values.
        """
        return replace(self, conditionals=conditionals, layout=None)

    def grouped(self, groups: Floats) -> "Region":
        """Return the region of groups of values.

        Shapes: `groups` (a2, k): 1 if a value is in a group, otherwise 0.
        """
        return self.merged(self.conditionals @ groups)

    def cell_bounds(self) -> tuple[Floats, Floats]:
        """Smallest and largest probability of each value under each secret.

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


# --- Polytopes: one for each secret, independent of each other ------------------------------------


_MOST_BOX_VALUES = 6  # of U: a box may have a2 * 2**(a2 - 1) vertices, 192 here and 448 with 7
_ROUNDING = 1e-15  # of probabilities


def summits(q: Floats) -> Floats:
    """Conditionals with all their mass where q is largest.

    Shapes: `q` (n, k); returns (n, k).
    """
    conditionals = np.zeros_like(q)
    np.put_along_axis(conditionals, q.argmax(axis=-1)[..., None], 1.0, axis=-1)
    return conditionals


class SimplexRegion(Region):
    """All conditionals: privacy for every distribution."""

    is_everything = few_vertices = True

    def vertices(self, secret: int) -> Floats:
        """List the conditionals with one value."""
        return np.eye(self.conditionals.shape[1])

    def wider(self) -> "Region":
        """Return the region itself: there is no larger one."""
        return self

    def _extreme(
        self, q: Floats, secret: Indices, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        return q.max(axis=1), summits(q) if conditionals else None

    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Return the pairs unchanged; see :meth:`Region.pull_in`.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """
        return conditionals


class PointRegion(Region):
    """The public conditionals alone; a secret without public records may have any."""

    is_point = few_vertices = True

    @property
    def means(self) -> PowerMeans | None:
        """The means at the public distribution; None if a secret has no records."""
        power_means = PowerMeans(self.conditionals, np.ones(self.n_secrets), 1.0)
        return power_means if self.seen.all() else None

    def vertices(self, secret: int) -> Floats:
        """List the public conditional, or those with one value."""
        if self.seen[secret]:
            return self.conditionals[[secret]]
        return np.eye(self.conditionals.shape[1])

    def wider(self) -> "Region":
        """Return lower bounds, which are the public probabilities."""
        return LowerRegion.around(self)

    def _extreme(
        self, q: Floats, secret: Indices, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        conditional = np.where(self.seen[secret, None], self.conditionals[secret], summits(q))
        value = np.einsum("nu,nu->n", conditional, q)
        rounding = (q.shape[1] + 4) * np.finfo(float).eps * np.abs(q).max(axis=1)
        return value + rounding, conditional if conditionals else None

    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Replace conditionals by the public ones; see :meth:`Region.pull_in`.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """
        pair = np.stack([first, second], axis=1)
        return np.where(self.seen[pair][..., None], self.conditionals[pair], conditionals)


@dataclass(frozen=True, eq=False, kw_only=True)
class LowerRegion(Region):
    """Conditionals above lower bounds: the paper's polytope (Entropy (42))."""

    lower: Floats
    few_vertices = True

    @classmethod
    def around(cls, region: Region) -> "LowerRegion":
        """Take the lower bounds from a ball."""
        lower, _ = region.cell_bounds()
        return cls(**common(region), lower=lower)

    @property
    def means(self) -> PowerMeans:
        """The means under the lower bounds."""
        total = self.lower.sum(axis=1)
        free = (total <= 0)[:, None]
        shares = self.lower / np.where(free, 1.0, total[:, None])
        return PowerMeans(np.where(free, self.conditionals, shares), total, 1.0)

    def vertices(self, secret: int) -> Floats:
        """List the lower bounds with the remaining probability added to one value."""
        lower = self.lower[secret]
        return lower + max(1.0 - float(lower.sum()), 0.0) * np.eye(len(lower))

    def wider(self) -> "Region":
        """Return the region itself."""
        return self

    def merged(self, conditionals: Floats) -> "Region":
        """Return the lower bounds of merged values; see :meth:`Region.merged`."""
        return type(self).around(super().merged(conditionals))

    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Mix with the public conditionals until the bounds hold; see :meth:`Region.pull_in`.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """
        pair = np.stack([first, second], axis=1)
        return _between(
            conditionals, self.conditionals[pair], self.lower[pair], np.ones_like(conditionals)
        )

    def _extreme(
        self, q: Floats, secret: Indices, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        lower = self.lower[secret]
        spare = np.maximum(1.0 - lower.sum(axis=1), 0.0)
        value = np.einsum("nu,nu->n", lower, q) + spare * q.max(axis=1)
        rounding = (q.shape[1] + 4) * np.finfo(float).eps * np.abs(q).max(axis=1)
        return value + rounding, lower + spare[:, None] * summits(q) if conditionals else None


@dataclass(frozen=True, eq=False, kw_only=True)
class BoxRegion(Region):
    """Conditionals between lower and upper bounds (Entropy Proposition 1).

    A share of each conditional, the spread, is unrestricted.
    """

    lower: Floats
    upper: Floats
    spread: float = 0.0

    @classmethod
    def around(cls, region: Region) -> "BoxRegion":
        """Take the bounds from a ball."""
        lower, upper = region.cell_bounds()
        return cls(**common(region), lower=lower, upper=upper)

    @cached_property
    def _cell_bounds(self) -> tuple[Floats, Floats]:
        bounded = 1.0 - self.spread
        return bounded * self.lower, np.minimum(bounded * self.upper + self.spread, 1.0)

    @property
    def box(self) -> Box:
        """The bounds."""
        return Box(self.lower, self.upper, self.spread)

    @property
    def few_vertices(self) -> bool:
        """Whether there are few values of U."""
        return self.conditionals.shape[1] <= _MOST_BOX_VALUES and not self.spread

    def vertices(self, secret: int) -> Floats:
        """List conditionals all of whose entries but one are at a bound."""
        lower, upper = self.lower[secret], self.upper[secret]
        size = len(lower)
        vertices = []
        for free in range(size):
            fixed = np.delete(np.arange(size), free)
            for pattern in range(2 ** (size - 1)):
                high = (pattern >> np.arange(size - 1)) & 1
                vertex = np.empty(size)
                vertex[fixed] = np.where(high == 1, upper[fixed], lower[fixed])
                vertex[free] = 1.0 - vertex[fixed].sum()
                if lower[free] - _ROUNDING <= vertex[free] <= upper[free] + _ROUNDING:
                    vertices.append(vertex)
        return np.unique(np.round(np.array(vertices), 15), axis=0)

    def wider(self) -> "Region":
        """Return the lower bounds alone."""
        return LowerRegion.around(self)

    def grouped(self, groups: Floats) -> "Region":
        """Return the bounds of the groups' sums; see :meth:`Region.grouped`."""
        others, conditionals = 1.0 - groups, self.conditionals @ groups
        lower = np.maximum(self.lower @ groups, 1.0 - self.upper @ others)
        upper = np.minimum(self.upper @ groups, 1.0 - self.lower @ others)
        return replace(self, conditionals=conditionals, layout=None, lower=lower, upper=upper)

    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Mix with the public conditionals until the bounds hold; see :meth:`Region.pull_in`.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """
        pair = np.stack([first, second], axis=1)
        return _between(conditionals, self.conditionals[pair], self.lower[pair], self.upper[pair])

    def _extreme(
        self, q: Floats, secret: Indices, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        # Fill the most valuable cells up to their bound until the mass is spent.
        lower, width = self.lower[secret], (self.upper - self.lower)[secret]
        order = np.argsort(-q, axis=1, kind="stable")
        filled = np.cumsum(np.take_along_axis(width, order, axis=1), axis=1)
        before = filled - np.take_along_axis(width, order, axis=1)
        spare = np.maximum(1.0 - lower.sum(axis=1), 0.0)[:, None]
        extra = np.clip(spare - before, 0.0, np.take_along_axis(width, order, axis=1))
        extreme = lower.copy()
        np.put_along_axis(extreme, order, np.take_along_axis(lower, order, axis=1) + extra, axis=1)
        extreme = (1.0 - self.spread) * extreme + self.spread * summits(q)
        value = np.einsum("nu,nu->n", extreme, q)
        rounding = 4 * (q.shape[1] + 4) * np.finfo(float).eps * np.abs(q).max(axis=1)
        return value + rounding, extreme if conditionals else None


def common(region: Region) -> dict[str, Any]:
    """Return the fields that all kinds of regions have."""
    return {attribute.name: getattr(region, attribute.name) for attribute in fields(Region)}


def _between(conditionals: Floats, centre: Floats, lower: Floats, upper: Floats) -> Floats:
    """Move from the centre towards other conditionals as far as the bounds allow."""
    step = conditionals - centre
    room = np.where(step > 0, upper - centre, centre - lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(step != 0, np.maximum(room, 0.0) / np.abs(step), 1.0)
    return centre + np.minimum(share.min(axis=-1, keepdims=True), 1.0) * step


# --- Regions of balls: each conditional in its own, or pairs that share a budget ------------------


# Rows times pairs of secrets up to which all pairs are bounded at once, rather than only those that
# the product of balls does not clear. It affects only speed: on random rows, bounding all pairs at
# once took a tenth less time for 400 pairs at 5 x 5 cells, and twice as long for 630 pairs at 15 x
# 16.
_FEW_PAIRS = 600


class ProductRegion(Region):
    """Each conditional varies in its own ball, independently of the others (Entropy (24))."""

    @cached_property
    def free(self) -> Booleans:
        """Secrets with an unrestricted conditional, shape (a1,)."""
        return np.isinf(self._radii)

    @cached_property
    def _radii(self) -> Floats:
        return conditional_radius(self.weights, self.alpha, self.single_budgets)

    @property
    def means(self) -> PowerMeans:
        """The means of the ball's order."""
        theta = (self.alpha - 1.0) / self.alpha
        return PowerMeans(self.conditionals, np.exp(-self._radii), theta)

    def wider(self) -> Region:
        """Return the lower bounds implied by the ball."""
        return LowerRegion.around(self)

    def _extreme(
        self, q: Floats, secret: Indices, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        value, worst = q.max(axis=1), summits(q) if conditionals else None
        ball = ~self.free[secret]
        if ball.any():
            s = secret[ball]
            problem = q[ball, None], self.conditionals[s, None], self.weights[s, None]
            own_ball = self.alpha, self.single_budgets[s]
            best = support(*problem, *own_ball)
            value[ball] = best.bound
            if worst is not None:
                conditionals_found = worst_conditionals(*problem, *own_ball, best.slack)
                worst[ball] = conditionals_found[:, 0]
        return value, worst

    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Mix each conditional with the public one until it is in its ball.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """
        moved = conditionals.copy()
        for i, secret in enumerate((first, second)):
            ball = ~self.free[secret]
            s = secret[ball]
            moved[ball, i] = pull_in(
                conditionals[ball, None, i],
                self.conditionals[s, None],
                self.weights[s, None],
                self.alpha,
                self.single_budgets[s],
            )[:, 0]
        return moved


class JointRegion(ProductRegion):
    """The exact region of a set in which two conditionals share a budget."""

    def shared(self, first: Indices, second: Indices) -> Booleans:
        """Return which pairs are two different secrets with records; other pairs share nothing."""
        return self.seen[first] & self.seen[second] & (first != second)

    def wider(self) -> Region:
        """Return the region in which no two conditionals share a budget."""
        return ProductRegion(**common(self))

    def _extremes(self, first_parts: Floats, second_parts: Floats) -> tuple[Floats, Floats]:
        """Upper bounds of R·v for each part v, and of −R·v."""
        unshared = not self.seen.all() or self.same_secret
        few = len(first_parts) * len(self.pairs[0]) <= _FEW_PAIRS
        if few and not unshared:  # then the ball of each conditional costs more than it saves
            return first_parts.max(axis=2), -second_parts.min(axis=2)
        return super()._extremes(first_parts, second_parts)

    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Mix pairs of conditionals with the public ones until they are within the budget.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """
        shared = self.shared(first, second)
        pair = np.stack([first[shared], second[shared]], axis=1)
        moved = conditionals.copy()
        moved[~shared] = super().pull_in(first[~shared], second[~shared], conditionals[~shared])
        centre = self.conditionals[pair], self.weights[pair], self.alpha
        moved[shared] = pull_in(conditionals[shared], *centre, *self.shared_budget(pair))
        return moved

    def value_gap(
        self, value: Indices, first: Indices, second: Indices, eps: float | Floats
    ) -> Floats:
        r"""Upper bounds of :math:`R_1(u) - e^\epsilon R_2(u)`; see :class:`Region`.

        Shapes: `value` and `first` and `second` (m,); `eps` (m,); returns (m,).
        """
        gap = super().value_gap(value, first, second, eps)
        shared = self.shared(first, second)
        if shared.any():
            pair = np.stack([first[shared], second[shared]], axis=1)
            probability = self.conditionals[pair, value[shared, None]]
            p = np.stack([probability, 1.0 - probability], axis=2)
            q = np.zeros_like(p)
            q[:, 0, 0], q[:, 1, 0] = 1.0, -odds_factor(np.broadcast_to(eps, shared.shape)[shared])
            best = support(q, p, self.weights[pair], self.alpha, *self.shared_budget(pair))
            gap[shared] = np.fmin(gap[shared], best.bound)  # the bound that is not NaN
        return gap

    def closely(
        self, pairs: RoughPairs, above: float, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        """Bound pairs that share a budget by optimising its division."""
        # An unrestricted secret uses no budget, so the other has all of it and nothing is left to
        # refine.
        shared = self.shared(pairs.first, pairs.second)
        sharing = pairs[shared]
        pair = np.stack([sharing.first, sharing.second], axis=1)
        q = np.stack([sharing.part, -odds_factor(sharing.eps)[:, None] * sharing.other], axis=1)
        problem = q, self.conditionals[pair], self.weights[pair]
        radius, limits = self.shared_budget(pair)
        best = support(*problem, self.alpha, radius, limits)
        bound = pairs.bound.copy()
        exact = best.bound + ROUNDING * np.abs(q).max(axis=(1, 2))
        bound[shared] = np.fmin(bound[shared], exact)  # the bound that is not NaN
        if not conditionals:
            return bound, None
        is_violating = bound > above
        worst = np.empty((np.count_nonzero(is_violating), 2, pairs.part.shape[1]))
        worst[~shared[is_violating]] = super().closely(
            pairs[is_violating & ~shared], -np.inf, True
        )[1]
        wanted = is_violating[shared]
        worst[shared[is_violating]] = worst_conditionals(
            q[wanted],
            problem[1][wanted],
            problem[2][wanted],
            self.alpha,
            radius[wanted],
            best.slack[wanted],
            None if limits is None else limits[wanted],
        )
        return bound, worst


# --- From a public distribution and a set around it to a region -----------------------------------


def exact_kind(uncertainty: FittedSet) -> str:
    """Name the tightest region that proofs can use: the exact one if it is convex."""
    return "joint" if uncertainty.joint_is_convex else "product"


def privacy_region(
    joint: JointDistribution,
    uncertainty: FittedSet,
    *,
    region: str = "joint",
    same_secret: bool = False,
    layout: Layout | None = None,
    compared: tuple[Indices, Indices] | None = None,
) -> Region:
    """Build the privacy region of a set of distributions around the public one.

    Shapes: `compared` (n_pairs,). Raises ValueError if the region is unknown, or is the joint one
    with alpha < 1/2, where it is not convex.
    """
    if region == "exact":
        region = exact_kind(uncertainty)
    check_choice("region", region, REGIONS)
    public = joint.conditionals, joint.marginal, uncertainty.secret_weights(joint)
    arguments = *public, uncertainty, same_secret, layout, compared
    if uncertainty.is_point:
        return PointRegion(*arguments)
    if uncertainty.is_everything:
        return SimplexRegion(*arguments)
    if uncertainty.box is not None:
        box = BoxRegion(*arguments, **vars(uncertainty.box))
        return LowerRegion.around(box) if region == "lower" else box
    if region == "joint" and uncertainty.shares_budget:
        if not uncertainty.joint_is_convex:
            raise ValueError(
                f"region='joint' needs alpha >= 1/2, got alpha={uncertainty.alpha}: use "
                f"RenyiBall({uncertainty.alpha}, region='product')."
            )
        return JointRegion(*arguments)
    ball = ProductRegion(*arguments)
    if region in ("joint", "product"):
        return ball
    return BoxRegion.around(ball) if region == "box" else LowerRegion.around(ball)
