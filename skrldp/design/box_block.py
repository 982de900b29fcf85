r"""Privacy over a box of conditionals, as linear constraints on the central path.

The maximum of :math:`R\cdot q` over the conditionals with :math:`l \le R \le h` is, by duality, the
least value of :math:`(1 - \sum l)\lambda + l\cdot q + (h - l)\cdot t` over λ and
:math:`t \ge 0` with :math:`t_u \ge q_u - \lambda`. So a row is private if and only if some λ and t
for each secret and side, and a number above each of these values, keep one inequality for each
pair. A *side* is q = v, the largest probability of the report, or q = -v, minus the least one.
Where a share of each conditional may be anything, that share times a number above all entries of q
is added.
"""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from skrldp._typing import Floats
from skrldp.design.newton_system import INITIAL_MARGIN, Block, Kind, by_row, dual_step, inverses
from skrldp.design.programs import Cuts
from skrldp.privacy.private_rows import Layout
from skrldp.privacy.requirements import Requirement

_SIGNS = np.array([1.0, -1.0])[:, None]  # of the sides
_EVERY_ROW: Any = slice(None)  # because NumPy declares the indices of ufunc.at without slices


class BoxBlock(Block):
    """See :class:`Block`. Arrays have a row of the mechanism, a secret and a side first.

    Parameters
    ----------
    one : Requirement
        Over a region that is a box.
    """

    def __init__(self, one: Requirement) -> None:
        self._region, self._eps, box = one.region, one.eps, one.region.box
        assert box is not None
        rows, self._factor = one.region.rows, float(np.exp(-one.eps))
        self._first, self._second = one.region.pairs
        n, k = box.lower.shape
        self._layout = Layout(rows.parts[rows.place], np.arange(n), rows.n_cells)
        kept = 1.0 - box.spread
        self._lower = kept * box.lower[None, :, None]  # (1, n, 1, k), or a row for each
        spare = kept * (1.0 - box.lower.sum(axis=1, keepdims=True))
        costs = [spare, kept * (box.upper - box.lower)]
        ones, eye, nothing = np.ones((k, 1)), np.eye(k), np.zeros((k, 1))
        # The positive amounts t, λ + t - q, and T - q, where T is above q, from (λ, t, T) and q.
        own = [np.hstack([nothing, eye]), np.hstack([ones, eye])]
        entries = [np.zeros((k, k)), -eye]
        if box.spread:
            costs.append(np.full((n, 1), box.spread))
            own = [np.hstack([part, nothing]) for part in own]
            own.append(np.hstack([nothing, 0.0 * eye, ones]))
            entries.append(-eye)
        self._costs = np.concatenate(costs, axis=1)[None, :, None]  # (1, n, 1, m)
        self._own, self._entries = np.vstack(own), np.vstack(entries)

    def of(self, place: slice) -> "BoxBlock":
        """See :class:`Block`."""
        found = copy(self)
        if len(self._lower) > 1:
            found._lower, found._costs = self._lower[place], self._costs[place]
        return found

    def of_rows(self, blocks: Sequence[Block]) -> "BoxBlock":
        """See :class:`Block`: they differ in the bounds alone."""
        found, own = copy(self), [one for one in blocks if isinstance(one, BoxBlock)]
        found._lower = np.concatenate([one._lower for one in own])
        found._costs = np.concatenate([one._costs for one in own])
        return found

    def _sides(self, rows: Floats) -> Floats:
        """Return q for each secret and side, (b, n, 2, k)."""
        return self._layout.split(rows)[:, :, None] * _SIGNS

    def start(self, rows: Floats, mean: float) -> None:
        """See :class:`Block`."""
        sides = self._sides(rows)
        margin = INITIAL_MARGIN / 2.0 * (1.0 - self._factor) * float(rows[0, 0])
        k = sides.shape[-1]
        own = np.full((*sides.shape[:3], self._own.shape[1]), sides[..., :1] + margin)
        width = self._costs[..., 1 : k + 1].sum(axis=-1, keepdims=True)
        own[..., 1 : k + 1] = margin / (1.0 + width)
        self._variables = own
        self._most = self._values(sides, own) + margin
        self._duals = [mean / amount for amount in self._amounts(sides)]

    def _values(self, sides: Floats, own: Floats) -> Floats:
        return np.asarray((self._costs * own).sum(axis=-1) + (self._lower * sides).sum(axis=-1))

    def _amounts(self, sides: Floats) -> list[Floats]:
        """Return the positive amounts: of single entries, of maxima, and between two secrets."""
        return self._changes(sides, self._variables, self._most)

    def _changes(self, sides: Floats, own: Floats, most: Floats) -> list[Floats]:
        single = own @ self._own.T + sides @ self._entries.T
        between = -most[:, self._second, 1] - self._factor * most[:, self._first, 0]
        return [single, most - self._values(sides, own), between]

    def scale_multipliers(self, factor: float) -> None:
        """See :class:`Block`."""
        self._duals = [dual * factor for dual in self._duals]

    def variables(self, rows: Floats) -> list[tuple[Floats, Floats]]:
        """See :class:`Block`."""
        return list(zip(self._amounts(self._sides(rows)), self._duals, strict=True))

    def hessian(self, rows: Floats) -> Floats:
        """See :class:`Block`."""
        self._here = self._amounts(self._sides(rows))
        single, above, between = (
            dual / amount for amount, dual in zip(self._here, self._duals, strict=True)
        )
        b, n, _, k = single.shape[0], *single.shape[1:3], self._lower.shape[-1]
        weight = above[..., None, None]
        costs, lower = self._costs[..., None, :], self._lower[..., None, :]
        by_own = np.swapaxes(self._own * single[..., None], -1, -2)
        by_entry = np.swapaxes(self._entries * single[..., None], -1, -2)
        own = by_own @ self._own + weight * np.swapaxes(costs, -1, -2) * costs
        # Of (λ, t, T) with q and the maximum, and of these with each other.
        cross = np.empty((*own.shape[:-1], k + 1))
        cross[..., :k] = by_own @ self._entries + weight * np.swapaxes(costs, -1, -2) * lower
        cross[..., k] = -above[..., None] * self._costs
        rest = np.empty((*own.shape[:-2], k + 1, k + 1))
        rest[..., :k, :k] = by_entry @ self._entries + weight * np.swapaxes(lower, -1, -2) * lower
        rest[..., k, :k] = rest[..., :k, k] = -above[..., None] * self._lower
        rest[..., k, k] = above
        size = own.shape[-1]
        self._inverse = inverses(own.reshape(-1, size, size)).reshape(own.shape)
        self._cross = cross
        rest -= np.swapaxes(cross, -1, -2) @ self._inverse @ cross
        # Then the maxima: all secrets and sides of a row meet in the pairs.
        maxima = np.zeros((b, 2 * n, 2 * n))
        place = np.arange(2 * n)
        maxima[:, place, place] = rest[..., k, k].reshape(b, -1)
        top, bottom = 2 * self._first, 2 * self._second + 1
        pairs = [(top, top, self._factor**2), (bottom, bottom, 1.0)]
        pairs += [(top, bottom, self._factor), (bottom, top, self._factor)]
        for left, right, factor in pairs:
            np.add.at(maxima, (_EVERY_ROW, left, right), factor * between)
        self._of_maxima = inverses(maxima)
        by_maximum = np.zeros((b, n, 2, n, k))
        secret = np.arange(n)
        by_maximum[:, secret, :, secret] = np.swapaxes(rest[..., k, :k] * _SIGNS, 0, 1)
        self._by_maximum = by_maximum.reshape(b, 2 * n, n * k)
        whole = -np.swapaxes(self._by_maximum, 1, 2) @ self._of_maxima @ self._by_maximum
        whole = whole.reshape(b, n, k, n, k)
        whole[:, secret, :, secret] += np.swapaxes(rest[..., :k, :k].sum(axis=2), 0, 1)
        return self._layout.gather_forms(whole.reshape(b, n * k, n * k))

    def gradient(self, targets: Sequence[Floats]) -> Floats:
        """See :class:`Block`."""
        self._targets = targets
        single, above, between = (
            target / amount for target, amount in zip(targets, self._here, strict=True)
        )
        b, n = above.shape[:2]
        own = single @ self._own - above[..., None] * self._costs
        self._alone = (self._inverse @ own[..., None])[..., 0]
        shared = (np.swapaxes(self._cross, -1, -2) @ self._alone[..., None])[..., 0]
        entries = above[..., None] * self._lower - single @ self._entries + shared[..., :-1]
        maxima = (above - shared[..., -1]).reshape(b, -1)
        np.add.at(maxima, (_EVERY_ROW, 2 * self._first), -self._factor * between)
        np.add.at(maxima, (_EVERY_ROW, 2 * self._second + 1), -between)
        self._most_alone = (self._of_maxima @ maxima[..., None])[..., 0]
        found = (entries * _SIGNS).sum(axis=2).reshape(b, -1)
        found += (np.swapaxes(self._by_maximum, 1, 2) @ self._most_alone[..., None])[..., 0]
        return self._layout.gather(found.reshape(b, n, -1))

    def step(self, rows: Floats) -> list[Kind]:
        """See :class:`Block`."""
        b, sides = len(rows), self._sides(rows)
        parts = self._layout.split(rows).reshape(b, -1, 1)
        along = self._of_maxima @ (self._by_maximum @ parts)
        most = (self._most_alone - along[..., 0]).reshape(sides.shape[:3])
        both = np.concatenate([sides, most[..., None]], axis=-1)[..., None]
        own = self._alone - (self._inverse @ (self._cross @ both))[..., 0]
        self._steps = own, most
        changes = self._changes(sides, own, most)
        self._dual_steps = [
            dual_step(target, amount, step, dual)
            for target, amount, step, dual in zip(
                self._targets, self._here, changes, self._duals, strict=True
            )
        ]
        return list(zip(self._here, changes, self._duals, self._dual_steps, strict=True))

    def take(self, length: Floats, dual_length: Floats) -> None:
        """See :class:`Block`."""
        own, most = self._steps
        self._variables = self._variables + by_row(length, own) * own
        self._most = self._most + by_row(length, most) * most
        self._duals = [
            dual + by_row(dual_length, step) * step
            for dual, step in zip(self._duals, self._dual_steps, strict=True)
        ]

    def cuts(self, rows: Floats) -> tuple[Cuts, Floats]:
        """See :class:`Block`."""
        single, above, between = self._duals
        mass = above[..., None] * self._lower - single @ self._entries
        conditionals = mass / mass.sum(axis=-1, keepdims=True)
        pairs = np.stack(
            [conditionals[:, self._first, 0], conditionals[:, self._second, 1]], axis=2
        )
        b, m = between.shape
        first, second = np.tile(self._first, b), np.tile(self._second, b)
        pairs = self._region.pull_in(first, second, pairs.reshape(b * m, 2, -1))
        eps = np.full(b * m, self._eps)
        cuts = Cuts.of(self._region, np.repeat(np.arange(b), m), first, second, pairs, eps)
        return cuts, between.ravel()
