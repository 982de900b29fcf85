r"""Privacy over a box of conditionals, as linear constraints on the central path.

The maximum of :math:`R\cdot q` over the conditionals with :math:`l \le R \le h` is, by duality, the
minimum of :math:`(1 - \sum l)\lambda + l\cdot q + (h - l)\cdot t` over λ and :math:`t \ge 0` such
that :math:`t_u \ge q_u - \lambda`. Therefore a row is private if and only if some λ and t for each
secret and side, and a number above each of these values, satisfy one inequality for each pair. A
*side* is q = v, for the largest probability of the report, or q = -v, for minus the smallest one.
If a share of each conditional is unrestricted, that share times a number above all entries of q is
added.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skrldp._typing import Floats
from skrldp.design.newton_system import INITIAL_MARGIN, Block, Linearised, Point, by_row, inverses
from skrldp.design.programs import Cuts
from skrldp.privacy.private_rows import Layout
from skrldp.privacy.requirements import Requirement


class BoxBlock(Block):
    """See :class:`Block`. The first axes of arrays are the mechanism's row, secret and side.

    Parameters
    ----------
    one : Requirement
        Privacy of pairs of secrets over a box.
    """

    signs: ClassVar[Floats] = np.array([[1.0], [-1.0]])  # of the sides

    def __init__(self, one: Requirement) -> None:
        self._region, self._eps, box = one.region, one.eps, one.region.box
        assert box is not None
        rows, self.factor = one.region.rows, float(np.exp(-one.eps))
        self.first, self.second = one.region.pairs
        n, k = box.lower.shape
        self.layout = Layout(rows.parts[rows.place], np.arange(n), rows.n_cells)
        kept = 1.0 - box.spread
        self.lower = kept * box.lower[None, :, None]  # (1, n, 1, k), or a row for each
        spare = kept * (1.0 - box.lower.sum(axis=1, keepdims=True))
        costs = [spare, kept * (box.upper - box.lower)]
        ones, eye, nothing = np.ones((k, 1)), np.eye(k), np.zeros((k, 1))
        # The positive amounts t, λ + t - q, and T - q, with T above q, from (λ, t, T) and q.
        own = [np.hstack([nothing, eye]), np.hstack([ones, eye])]
        entries = [np.zeros((k, k)), -eye]
        if box.spread:
            costs.append(np.full((n, 1), box.spread))
            own = [np.hstack([part, nothing]) for part in own]
            own.append(np.hstack([nothing, 0.0 * eye, ones]))
            entries.append(-eye)
        self.costs = np.concatenate(costs, axis=1)[None, :, None]  # (1, n, 1, m)
        self.by_inner, self.by_entry = np.vstack(own), np.vstack(entries)

    def of(self, place: slice) -> "BoxBlock":
        """See :class:`Block`."""
        found = copy(self)
        if len(self.lower) > 1:
            found.lower, found.costs = self.lower[place], self.costs[place]
        return found

    def of_rows(self, blocks: Sequence[Block]) -> "BoxBlock":
        """See :class:`Block`: the blocks differ only in the bounds."""
        found, own = copy(self), [one for one in blocks if isinstance(one, BoxBlock)]
        found.lower = np.concatenate([one.lower for one in own])
        found.costs = np.concatenate([one.costs for one in own])
        return found

    def _sides(self, rows: Floats) -> Floats:
        """Return q for each secret and side, (b, n, 2, k)."""
        return self.layout.split(rows)[:, :, None] * self.signs

    def start(self, rows: Floats) -> tuple[Floats, ...]:
        """See :class:`Block`: (λ, t, T) of each secret and side, and numbers above the maxima."""
        sides = self._sides(rows)
        margin = INITIAL_MARGIN / 2.0 * (1.0 - self.factor) * float(rows[0, 0])
        k = sides.shape[-1]
        inner = np.full((*sides.shape[:3], self.by_inner.shape[1]), sides[..., :1] + margin)
        width = self.costs[..., 1 : k + 1].sum(axis=-1, keepdims=True)
        inner[..., 1 : k + 1] = margin / (1.0 + width)
        return inner, self._values(sides, inner) + margin

    def _values(self, sides: Floats, inner: Floats) -> Floats:
        return np.asarray((self.costs * inner).sum(axis=-1) + (self.lower * sides).sum(axis=-1))

    def amounts(self, rows: Floats, variables: tuple[Floats, ...]) -> tuple[Floats, ...]:
        """See :class:`Block`: of single entries, of maxima, and between two secrets."""
        sides, (inner, most) = self._sides(rows), variables
        single = inner @ self.by_inner.T + sides @ self.by_entry.T
        between = -most[:, self.second, 1] - self.factor * most[:, self.first, 0]
        return single, most - self._values(sides, inner), between

    def linearise(self, point: Point, barrier: Floats) -> "LinearBoxes":
        """See :class:`Block`."""
        pairs = zip(point.amounts, point.multipliers, strict=True)
        single, above, between = (multiplier / amount for amount, multiplier in pairs)
        b, n, _, k = single.shape[0], *single.shape[1:3], self.lower.shape[-1]
        weight = above[..., None, None]
        costs, lower = self.costs[..., None, :], self.lower[..., None, :]
        scaled = np.swapaxes(self.by_inner * single[..., None], -1, -2)
        by_entry = np.swapaxes(self.by_entry * single[..., None], -1, -2)
        form = scaled @ self.by_inner + weight * np.swapaxes(costs, -1, -2) * costs
        # Eliminate (λ, t, T), by their form with q and the maximum, and the form in the latter two.
        cross = np.empty((*form.shape[:-1], k + 1))
        cross[..., :k] = scaled @ self.by_entry + weight * np.swapaxes(costs, -1, -2) * lower
        cross[..., k] = -above[..., None] * self.costs
        rest = np.empty((*form.shape[:-2], k + 1, k + 1))
        rest[..., :k, :k] = by_entry @ self.by_entry + weight * np.swapaxes(lower, -1, -2) * lower
        rest[..., k, :k] = rest[..., :k, k] = -above[..., None] * self.lower
        rest[..., k, k] = above
        size = form.shape[-1]
        inverse = inverses(form.reshape(-1, size, size)).reshape(form.shape)
        rest -= np.swapaxes(cross, -1, -2) @ inverse @ cross
        # Then eliminate the maxima, which couple all secrets and sides of a row through the pairs.
        maxima = np.zeros((b, 2 * n, 2 * n))
        every_row: Any = slice(None)  # NumPy's annotation of ufunc.at has no slices
        place = np.arange(2 * n)
        maxima[:, place, place] = rest[..., k, k].reshape(b, -1)
        top, bottom = 2 * self.first, 2 * self.second + 1
        terms = [(top, top, self.factor**2), (bottom, bottom, 1.0)]
        terms += [(top, bottom, self.factor), (bottom, top, self.factor)]
        for left, right, factor in terms:
            np.add.at(maxima, (every_row, left, right), factor * between)
        of_maxima = inverses(maxima)
        by_secret, secret = np.zeros((b, n, 2, n, k)), np.arange(n)
        by_secret[:, secret, :, secret] = np.swapaxes(rest[..., k, :k] * self.signs, 0, 1)
        by_maximum = by_secret.reshape(b, 2 * n, n * k)

        single, above, between = (by_row(barrier, each) / each for each in point.amounts)
        by_inner = single @ self.by_inner - above[..., None] * self.costs
        alone = (inverse @ by_inner[..., None])[..., 0]
        shared = (np.swapaxes(cross, -1, -2) @ alone[..., None])[..., 0]
        entries = above[..., None] * self.lower - single @ self.by_entry + shared[..., :-1]
        rhs = (above - shared[..., -1]).reshape(b, -1)
        np.add.at(rhs, (every_row, top), -self.factor * between)
        np.add.at(rhs, (every_row, bottom), -between)
        most_alone = (of_maxima @ rhs[..., None])[..., 0]
        by_cell = (entries * self.signs).sum(axis=2).reshape(b, -1)
        by_cell += (np.swapaxes(by_maximum, 1, 2) @ most_alone[..., None])[..., 0]
        gradient = self.layout.gather(by_cell.reshape(b, n, -1))
        return LinearBoxes(
            self, gradient, inverse, cross, of_maxima, by_maximum, rest, alone, most_alone
        )

    def cuts(self, point: Point) -> tuple[Cuts, Floats]:
        """See :class:`Block`."""
        single, above, between = point.multipliers
        mass = above[..., None] * self.lower - single @ self.by_entry
        conditionals = mass / mass.sum(axis=-1, keepdims=True)
        pairs = np.stack([conditionals[:, self.first, 0], conditionals[:, self.second, 1]], axis=2)
        b, m = between.shape
        first, second = np.tile(self.first, b), np.tile(self.second, b)
        pairs = self._region.pull_in(first, second, pairs.reshape(b * m, 2, -1))
        eps = np.full(b * m, self._eps)
        cuts = Cuts.of(self._region, np.repeat(np.arange(b), m), first, second, pairs, eps)
        return cuts, between.ravel()


@dataclass(frozen=True, eq=False)
class LinearBoxes(Linearised):
    """See :class:`Linearised`. The (λ, t, T) are eliminated first, then the maxima."""

    block: BoxBlock
    gradient: Floats
    inverse: Floats  # (b, n, 2, m, m), inverse of the form in (λ, t, T)
    cross: Floats  # (b, n, 2, m, k + 1), the form in (λ, t, T), and q and the maximum
    of_maxima: Floats  # (b, 2 * n, 2 * n), inverse of the form in the maxima
    by_maximum: Floats  # (b, 2 * n, n * k), the form in the maxima and the entries
    rest: Floats  # (b, n, 2, k + 1, k + 1), the form in q and the maximum
    alone: Floats  # (b, n, 2, m), steps of (λ, t, T) if everything else is fixed
    most_alone: Floats  # (b, 2 * n), steps of the maxima if the rows are fixed

    def hessian(self) -> Floats:
        """See :class:`Linearised`."""
        b, n, _, size, _ = self.rest.shape
        k, secret = size - 1, np.arange(n)
        whole = -np.swapaxes(self.by_maximum, 1, 2) @ self.of_maxima @ self.by_maximum
        whole = whole.reshape(b, n, k, n, k)
        whole[:, secret, :, secret] += np.swapaxes(self.rest[..., :k, :k].sum(axis=2), 0, 1)
        return self.block.layout.gather_forms(whole.reshape(b, n * k, n * k))

    def steps(self, rows: Floats) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
        """See :class:`Linearised`."""
        parts = self.block.layout.split(rows)
        along = self.of_maxima @ (self.by_maximum @ parts.reshape(len(rows), -1, 1))
        most = (self.most_alone - along[..., 0]).reshape(*parts.shape[:2], 2)
        both = np.concatenate([parts[:, :, None] * self.block.signs, most[..., None]], axis=-1)[
            ..., None
        ]
        variables = self.alone - (self.inverse @ (self.cross @ both))[..., 0], most
        return variables, self.block.amounts(rows, variables)
