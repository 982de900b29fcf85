"""Regions made of polytopes: one for each secret, free of one another."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.privacy._region import PowerMeans, Region

__all__ = ["BoxRegion", "LowerRegion", "PointRegion", "SimplexRegion", "common", "summits"]

_MOST_BOX_VALUES = 6  # of U: a box may have a2 * 2**(a2 - 1) vertices, 192 here and 448 with 7
_ROUNDING = 1e-15  # of probabilities


def summits(q: Floats) -> Floats:
    """Conditionals with all their mass where q is greatest.

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
        """Return the pairs as they are; see :meth:`Region.pull_in`.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """
        return conditionals


class PointRegion(Region):
    """The public conditionals alone; a secret without public records may have any."""

    is_point = few_vertices = True

    @property
    def means(self) -> PowerMeans | None:
        """The means at the public distribution; None if it says nothing of some secret."""
        one = PowerMeans(self.conditionals, np.ones(self.n_secrets), 1.0)
        return one if self.seen.all() else None

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
        found = np.where(self.seen[secret, None], self.conditionals[secret], summits(q))
        value = np.einsum("nu,nu->n", found, q)
        rounding = (q.shape[1] + 4) * np.finfo(float).eps * np.abs(q).max(axis=1)
        return value + rounding, found if conditionals else None

    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Put the public conditionals in place of others; see :meth:`Region.pull_in`.

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
        """List the lower bounds with what is spare added to one value."""
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
    """Conditionals between lower and upper bounds (Entropy Proposition 1)."""

    lower: Floats
    upper: Floats

    @classmethod
    def around(cls, region: Region) -> "BoxRegion":
        """Take the bounds from a ball."""
        lower, upper = region.cell_bounds()
        return cls(**common(region), lower=lower, upper=upper)

    @property
    def few_vertices(self) -> bool:
        """Whether there are few values of U."""
        return self.conditionals.shape[1] <= _MOST_BOX_VALUES

    def vertices(self, secret: int) -> Floats:
        """List conditionals all of whose entries but one are at a bound."""
        lower, upper = self.lower[secret], self.upper[secret]
        size = len(lower)
        found = []
        for free in range(size):
            others = np.delete(np.arange(size), free)
            for pattern in range(2 ** (size - 1)):
                high = (pattern >> np.arange(size - 1)) & 1
                vertex = np.empty(size)
                vertex[others] = np.where(high == 1, upper[others], lower[others])
                vertex[free] = 1.0 - vertex[others].sum()
                if lower[free] - _ROUNDING <= vertex[free] <= upper[free] + _ROUNDING:
                    found.append(vertex)
        return np.unique(np.round(np.array(found), 15), axis=0)

    def wider(self) -> "Region":
        """Return the lower bounds alone."""
        return LowerRegion.around(self)

    def merged(self, conditionals: Floats) -> "Region":
        """Return the bounds of merged values; see :meth:`Region.merged`."""
        return type(self).around(super().merged(conditionals))

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
        found = lower.copy()
        np.put_along_axis(found, order, np.take_along_axis(lower, order, axis=1) + extra, axis=1)
        value = np.einsum("nu,nu->n", found, q)
        rounding = 4 * (q.shape[1] + 4) * np.finfo(float).eps * np.abs(q).max(axis=1)
        return value + rounding, found if conditionals else None


def common(region: Region) -> dict[str, Any]:
    """Return what regions of all kinds have."""
    return {one.name: getattr(region, one.name) for one in fields(Region)}


def _between(conditionals: Floats, centre: Floats, lower: Floats, upper: Floats) -> Floats:
    """Go from the centre towards other conditionals as far as the bounds allow."""
    step = conditionals - centre
    room = np.where(step > 0, upper - centre, centre - lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(step != 0, np.maximum(room, 0.0) / np.abs(step), 1.0)
    return centre + np.minimum(share.min(axis=-1, keepdims=True), 1.0) * step
