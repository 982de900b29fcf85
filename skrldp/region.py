r"""Privacy regions: the conditionals that privacy must hold for, and the worst pair of them.

A *row* of a mechanism is :math:`v = (Q_{y|s,u})_{s,u}`. It is private when, for all distinct
secrets :math:`s_1, s_2` and all conditionals :math:`(R_1, R_2)` of the region,
:math:`R_1 \cdot v_{s_1} \le e^\epsilon R_2 \cdot v_{s_2}`. The regions are nested, each safe for
those before it: ``"joint"`` (exactly what the ball of laws allows) ⊂ ``"product"`` (each
conditional in its own ball) ⊂ ``"box"`` (bounds on each probability) ⊂ ``"lower"`` (lower bounds,
the paper's PolyOpt) ⊂ all conditionals.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skrldp.bounds import cell_bounds
from skrldp.joint import JointDistribution
from skrldp.laws import worst_laws
from skrldp.oracle import support

__all__ = ["REGIONS", "Region", "WorstPairs", "privacy_region"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_ROUNDING = 8.0 * np.finfo(float).eps
REGIONS = ("joint", "product", "box", "lower")


@dataclass(frozen=True)
class WorstPairs:
    """Pairs of secrets and how much they may violate privacy in some row, one entry each.

    Attributes
    ----------
    row, first, second : arrays of shape (m,)
        Row of the mechanism and the two secrets.
    bound : array of shape (m,)
        Upper bound on ``R1 . v[first] - exp(eps) R2 . v[second]`` over the region.
    laws : array of shape (m, 2, a2) or None
        Conditionals of the region that nearly attain it.
    """

    row: Indices
    first: Indices
    second: Indices
    bound: Floats
    laws: Floats | None

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
    """Conditionals that are free of one another: the worst pair is two separate worst laws."""

    conditionals: Floats  # (a1, a2)
    marginal: Floats  # (a1,)
    alpha: float = 1.0
    radius: float = np.inf
    same_secret: bool = False  # also compare a secret with itself under two laws (the paper's way)

    @abstractmethod
    def _extreme(self, q: Floats, secret: Indices, laws: bool) -> tuple[Floats, Floats | None]:
        """Upper bounds of max R.q over the conditionals of each secret, and such R."""

    @property
    def n_secrets(self) -> int:
        """Number of secrets a1."""
        return len(self.marginal)

    @cached_property
    def pairs(self) -> tuple[Indices, Indices]:
        """Pairs of secrets that are compared."""
        if self.same_secret:
            first, second = np.indices((self.n_secrets, self.n_secrets))
            return first.ravel(), second.ravel()
        first, second = np.nonzero(~np.eye(self.n_secrets, dtype=bool))
        return first, second

    def worst(
        self,
        rows: Floats,
        eps: float,
        *,
        against: Floats | None = None,
        above: float = -np.inf,
        laws: bool = False,
    ) -> WorstPairs:
        r"""Bound the privacy violation of each row and pair of secrets.

        Parameters
        ----------
        rows : array of shape (b, a1, a2)
            Non-negative rows of a mechanism.
        eps : float
            Privacy parameter, in nats.
        against : array of shape (b, a1, a2), optional
            Take the second secret's part from these rows instead.
        above : float
            Only pairs whose bound exceeds this are returned.
        laws : bool
            Whether to return the worst conditionals too.

        Returns
        -------
        WorstPairs
        """
        rows = np.asarray(rows, dtype=float)
        factor = np.exp(eps)
        most, most_laws = self._extremes(rows, laws)
        least, least_laws = self._extremes(-(rows if against is None else against), laws)
        first, second = self.pairs
        gaps = most[:, first] + factor * least[:, second]
        gaps += _ROUNDING * (np.abs(most[:, first]) + factor * np.abs(least[:, second]))
        row, pair = np.nonzero(gaps > above)
        found = None
        if most_laws is not None and least_laws is not None:
            found = np.stack([most_laws[row, first[pair]], least_laws[row, second[pair]]], axis=1)
        return WorstPairs(row, first[pair], second[pair], gaps[row, pair], found)

    def _extremes(self, rows: Floats, laws: bool) -> tuple[Floats, Floats | None]:
        n_rows, n_secrets, n_values = rows.shape
        secret = np.tile(np.arange(n_secrets), n_rows)
        bound, found = self._extreme(rows.reshape(-1, n_values), secret, laws)
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

    def cell_bounds(self, n_values: int) -> tuple[Floats, Floats]:
        """Least and greatest probability of each value under each secret.

        Parameters
        ----------
        n_values : int
            Size of the alphabet of U.

        Returns
        -------
        lower, upper : arrays of shape (a1, a2)
        """
        return cell_bounds(self.conditionals, self.marginal, self.alpha, self.radius)

    def value_gap(self, value: Indices, first: Indices, second: Indices, eps: float) -> Floats:
        r"""Upper bounds of :math:`R_1(u) - e^\epsilon R_2(u)` for given values and pairs.

        Parameters
        ----------
        value, first, second : integer arrays of shape (m,)
            Value of U and the two secrets.
        eps : float
            In nats.

        Returns
        -------
        array of shape (m,)
        """
        lower, upper = self.cell_bounds(self.conditionals.shape[1])
        return upper[first, value] - np.exp(eps) * lower[second, value]

    def excess(self, rows: Floats, eps: float) -> Floats:
        """Upper bound on the worst violation of each row, 0 if there is none.

        Parameters
        ----------
        rows : array of shape (b, a1, a2)
            Non-negative rows of a mechanism.
        eps : float
            Privacy parameter, in nats.

        Returns
        -------
        array of shape (b,)
        """
        return self.worst(rows, eps, above=0.0).per_row(len(rows))


def _summits(q: Floats) -> Floats:
    laws = np.zeros_like(q)
    np.put_along_axis(laws, q.argmax(axis=-1)[..., None], 1.0, axis=-1)
    return laws


class SimplexRegion(Region):
    """All conditionals: privacy for every law."""

    def _extreme(self, q: Floats, secret: Indices, laws: bool) -> tuple[Floats, Floats | None]:
        return q.max(axis=1), _summits(q) if laws else None


class PointRegion(Region):
    """The public conditionals alone; a secret without public records may have any."""

    def _extreme(self, q: Floats, secret: Indices, laws: bool) -> tuple[Floats, Floats | None]:
        found = np.where((self.marginal > 0)[secret, None], self.conditionals[secret], _summits(q))
        value = np.einsum("nu,nu->n", found, q)
        rounding = (q.shape[1] + 4) * np.finfo(float).eps * np.abs(q).max(axis=1)
        return value + rounding, found if laws else None


@dataclass(frozen=True, eq=False)
class LowerRegion(Region):
    """Conditionals above lower bounds: the paper's polytope (Entropy (42))."""

    lower: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def around(cls, region: Region) -> "LowerRegion":
        """Take the lower bounds from a ball.

        Parameters
        ----------
        region : Region
            Anything with the ball's centre, order and radius.

        Returns
        -------
        LowerRegion
        """
        lower, _ = cell_bounds(region.conditionals, region.marginal, region.alpha, region.radius)
        return cls(
            region.conditionals,
            region.marginal,
            region.alpha,
            region.radius,
            region.same_secret,
            lower,
        )

    def _extreme(self, q: Floats, secret: Indices, laws: bool) -> tuple[Floats, Floats | None]:
        lower = self.lower[secret]
        spare = np.maximum(1.0 - lower.sum(axis=1), 0.0)
        value = np.einsum("nu,nu->n", lower, q) + spare * q.max(axis=1)
        rounding = (q.shape[1] + 4) * np.finfo(float).eps * np.abs(q).max(axis=1)
        return value + rounding, lower + spare[:, None] * _summits(q) if laws else None


@dataclass(frozen=True, eq=False)
class BoxRegion(Region):
    """Conditionals between lower and upper bounds (Entropy Proposition 1)."""

    lower: Floats = field(default_factory=lambda: np.empty((0, 0)))
    upper: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def around(cls, region: Region) -> "BoxRegion":
        """Take the bounds from a ball.

        Parameters
        ----------
        region : Region
            Anything with the ball's centre, order and radius.

        Returns
        -------
        BoxRegion
        """
        bounds = cell_bounds(region.conditionals, region.marginal, region.alpha, region.radius)
        return cls(
            region.conditionals,
            region.marginal,
            region.alpha,
            region.radius,
            region.same_secret,
            *bounds,
        )

    def _extreme(self, q: Floats, secret: Indices, laws: bool) -> tuple[Floats, Floats | None]:
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
        return value + rounding, found if laws else None


class ProductRegion(Region):
    """Each conditional anywhere in its own ball, whatever the others are (Entropy (24))."""

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Secrets whose conditional may be anything, shape (a1,)."""
        if self.alpha == 1.0:
            return self.marginal <= 0
        reach = np.expm1((self.alpha - 1.0) / self.alpha * self.radius)
        return (self.marginal <= 0) | (self.marginal + reach <= 0)

    def _extreme(self, q: Floats, secret: Indices, laws: bool) -> tuple[Floats, Floats | None]:
        value, found = q.max(axis=1), _summits(q) if laws else None
        ball = ~self.free[secret]
        if ball.any():
            s = secret[ball]
            problem = q[ball, None], self.conditionals[s, None], self.marginal[s, None]
            best = support(*problem, self.alpha, self.radius)
            value[ball] = best.bound
            if found is not None:
                laws_found = worst_laws(*problem, self.alpha, self.radius, best.slack)
                found[ball] = laws_found[:, 0]
        return value, found


class JointRegion(ProductRegion):
    """Exactly what the ball of joint laws allows: a pair of conditionals shares one budget."""

    def value_gap(self, value: Indices, first: Indices, second: Indices, eps: float) -> Floats:
        r"""Upper bounds of :math:`R_1(u) - e^\epsilon R_2(u)`; see :class:`Region`.

        Parameters
        ----------
        value, first, second : integer arrays of shape (m,)
            Value of U and the two secrets.
        eps : float
            In nats.

        Returns
        -------
        array of shape (m,)
        """
        gap = super().value_gap(value, first, second, eps)
        shared = ~self.free[first] & ~self.free[second] & (first != second)
        if shared.any():
            pair = np.stack([first[shared], second[shared]], axis=1)
            probability = self.conditionals[pair, value[shared, None]]
            p = np.stack([probability, 1.0 - probability], axis=2)
            q = np.zeros_like(p)
            q[:, 0, 0], q[:, 1, 0] = 1.0, -np.exp(eps)
            best = support(q, p, self.marginal[pair], self.alpha, self.radius)
            gap[shared] = np.minimum(gap[shared], best.bound)
        return gap

    def worst(
        self,
        rows: Floats,
        eps: float,
        *,
        against: Floats | None = None,
        above: float = -np.inf,
        laws: bool = False,
    ) -> WorstPairs:
        """Bound the violation of each row and pair; see :meth:`Region.worst`.

        Parameters
        ----------
        rows : array of shape (b, a1, a2)
            Non-negative rows of a mechanism.
        eps : float
            Privacy parameter, in nats.
        against : array of shape (b, a1, a2), optional
            Take the second secret's part from these rows instead.
        above : float
            Only pairs whose bound exceeds this are returned.
        laws : bool
            Whether to return the worst conditionals too.

        Returns
        -------
        WorstPairs
        """
        rows = np.asarray(rows, dtype=float)
        rough = super().worst(rows, eps, against=against, above=above, laws=laws)
        # A free secret costs nothing, so the other has the whole budget: nothing to refine.
        shared = ~self.free[rough.first] & ~self.free[rough.second] & (rough.first != rough.second)
        if not shared.any():
            return rough
        row, first, second = (part[shared] for part in (rough.row, rough.first, rough.second))
        pair = np.stack([first, second], axis=1)
        others = rows if against is None else against
        q = np.stack([rows[row, first], -np.exp(eps) * others[row, second]], axis=1)
        problem = q, self.conditionals[pair], self.marginal[pair]
        best = support(*problem, self.alpha, self.radius)
        bound = rough.bound.copy()
        exact = best.bound + _ROUNDING * np.abs(q).max(axis=(1, 2))
        bound[shared] = np.minimum(bound[shared], exact)
        keep = bound > above
        found = rough.laws
        if found is not None:
            wanted = keep[shared]
            part = tuple(array[wanted] for array in problem)
            found = found.copy()
            found[np.flatnonzero(shared)[wanted]] = worst_laws(
                part[0], part[1], part[2], self.alpha, self.radius, best.slack[wanted]
            )
            found = found[keep]
        return WorstPairs(
            rough.row[keep], rough.first[keep], rough.second[keep], bound[keep], found
        )


def privacy_region(
    joint: JointDistribution,
    *,
    alpha: float,
    radius: float,
    region: str = "joint",
    same_secret: bool = False,
) -> Region:
    """Build the privacy region of a ball of laws around the public one.

    Parameters
    ----------
    joint : JointDistribution
        The public law.
    alpha, radius : float
        Order and radius (nats) of the ball.
    region : {"joint", "product", "box", "lower"}
        How closely the region follows the ball.
    same_secret : bool
        Also compare a secret with itself under two laws, as Entropy Definition 3 does; it is not
        part of the privacy promise and only costs utility.

    Returns
    -------
    Region

    Raises
    ------
    ValueError
        If the region is unknown, or is the joint one with alpha < 1/2, where it is not convex.
    """
    if region not in REGIONS:
        raise ValueError(f"region={region!r} must be one of {', '.join(map(repr, REGIONS))}.")
    arguments = joint.conditionals, joint.marginal, alpha, radius, same_secret
    if radius == 0:
        return PointRegion(*arguments)
    if np.isinf(radius):
        return SimplexRegion(*arguments)
    if region == "joint":
        if alpha < 0.5:
            raise ValueError(
                f"region='joint' needs alpha >= 1/2, got alpha={alpha}: below, what the ball "
                "allows for two conditionals together is not convex, and a bound from duality "
                "would be loose. Use region='product', 'box' or 'lower', or a larger alpha."
            )
        return JointRegion(*arguments)
    ball = ProductRegion(*arguments)
    if region == "product":
        return ball
    return BoxRegion.around(ball) if region == "box" else LowerRegion.around(ball)
