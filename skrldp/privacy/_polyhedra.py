"""Regions made of polytopes: one for each secret, free of one another."""

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.privacy._region import Region

__all__ = ["BoxRegion", "LowerRegion", "PointRegion", "SimplexRegion", "summits"]


def summits(q: Floats) -> Floats:
    """Conditionals with all their mass where q is greatest.

    Shapes: `q` (n, k); returns (n, k).
    """
    conditionals = np.zeros_like(q)
    np.put_along_axis(conditionals, q.argmax(axis=-1)[..., None], 1.0, axis=-1)
    return conditionals


class SimplexRegion(Region):
    """All conditionals: privacy for every distribution."""

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

    def _extreme(
        self, q: Floats, secret: Indices, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        found = np.where((self.marginal > 0)[secret, None], self.conditionals[secret], summits(q))
        value = np.einsum("nu,nu->n", found, q)
        rounding = (q.shape[1] + 4) * np.finfo(float).eps * np.abs(q).max(axis=1)
        return value + rounding, found if conditionals else None

    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Put the public conditionals in place of others; see :meth:`Region.pull_in`.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """
        pair = np.stack([first, second], axis=1)
        return np.where((self.marginal > 0)[pair][..., None], self.conditionals[pair], conditionals)


@dataclass(frozen=True, eq=False)
class LowerRegion(Region):
    """Conditionals above lower bounds: the paper's polytope (Entropy (42))."""

    lower: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def around(cls, region: Region) -> "LowerRegion":
        """Take the lower bounds from a ball."""
        lower, _ = region.cell_bounds()
        return cls(**_common(region), lower=lower)

    def one_against_rest(self, value: int) -> "Region":
        """Return the region for mechanisms that only ask whether U is this value."""
        return type(self).around(super().one_against_rest(value))

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


@dataclass(frozen=True, eq=False)
class BoxRegion(Region):
    """Conditionals between lower and upper bounds (Entropy Proposition 1)."""

    lower: Floats = field(default_factory=lambda: np.empty((0, 0)))
    upper: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def around(cls, region: Region) -> "BoxRegion":
        """Take the bounds from a ball."""
        lower, upper = region.cell_bounds()
        return cls(**_common(region), lower=lower, upper=upper)

    def one_against_rest(self, value: int) -> "Region":
        """Return the region for mechanisms that only ask whether U is this value."""
        return type(self).around(super().one_against_rest(value))

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


def _common(region: Region) -> dict[str, Any]:
    """Return what regions of all kinds have."""
    return {one.name: getattr(region, one.name) for one in fields(Region)}


def _between(conditionals: Floats, centre: Floats, lower: Floats, upper: Floats) -> Floats:
    """Go from the centre towards other conditionals as far as the bounds allow."""
    step = conditionals - centre
    room = np.where(step > 0, upper - centre, centre - lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(step != 0, np.maximum(room, 0.0) / np.abs(step), 1.0)
    return centre + np.minimum(share.min(axis=-1, keepdims=True), 1.0) * step
