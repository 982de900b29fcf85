r"""Privacy over all distributions, as a block of constraints on the central path.

Greatest and least entries are variables. For each row and part, :math:`M_s \ge v_{s,u} \ge m_s` for
all u, and :math:`m_t - e^{-\epsilon} M_s \ge 0` for each pair. These are linear, with two variables
for each part and a slack for each entry (twice) and pair, where the general form has two variables
and two slacks for each entry of each pair.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from skrldp._typing import Floats
from skrldp.design.newton_system import INITIAL_MARGIN, Block, Kind, by_row, dual_step, inverses
from skrldp.design.programs import Cuts
from skrldp.privacy.requirements import Requirement


class RangeBlock(Block):
    """See :class:`Block`.

    Parameters
    ----------
    one : Requirement
        Over all distributions.
    """

    def __init__(self, one: Requirement) -> None:
        self._layout = one.region.rows
        self._first, self._second = one.part_pairs
        self._eps, self._factor = one.eps, float(np.exp(-one.eps))
        ones, number = np.ones(len(self._first)), np.arange(len(self._first))
        shape = len(self._layout.parts), len(number)
        self._is_first = csr_array((ones, (self._first, number)), shape=shape)
        self._is_second = csr_array((ones, (self._second, number)), shape=shape)

    def start(self, rows: Floats, mean: float) -> None:
        """See :class:`Block`."""
        b, p = len(rows), len(self._layout.parts)
        share = float(rows[0, 0])
        margin = INITIAL_MARGIN * share * (1.0 - self._factor)
        self._top = np.full((b, p), share + margin)
        self._bottom = np.full((b, p), share - margin)
        self._duals = [mean / amount for amount in self._amounts(rows)]

    def _amounts(self, rows: Floats) -> list[Floats]:
        """Room above the entries, below them, and between two parts."""
        parts = self._layout.split(rows)
        return [
            self._top[..., None] - parts,
            parts - self._bottom[..., None],
            self._bottom[:, self._second] - self._factor * self._top[:, self._first],
        ]

    def scale_multipliers(self, factor: float) -> None:
        """See :class:`Block`."""
        self._duals = [dual * factor for dual in self._duals]

    def variables(self, rows: Floats) -> list[tuple[Floats, Floats]]:
        """See :class:`Block`."""
        return list(zip(self._amounts(rows), self._duals, strict=True))

    def hessian(self, rows: Floats) -> Floats:
        """See :class:`Block`."""
        self._here = self._amounts(rows)
        above, below, between = (
            dual / amount for amount, dual in zip(self._here, self._duals, strict=True)
        )
        b, p, k = above.shape
        own = np.zeros((b, 2 * p, 2 * p))  # of the greatest entries, then of the least
        part = np.arange(p)
        own[:, part, part] = above.sum(axis=2)
        own[:, p + part, p + part] = below.sum(axis=2)
        own[:, part, part] += self._sum_first(self._factor**2 * between)
        own[:, p + part, p + part] += self._sum_second(between)
        own[:, self._first, p + self._second] -= self._factor * between
        own[:, p + self._second, self._first] -= self._factor * between
        inverse = inverses(own)
        self._above, self._below, self._inverse = above, below, inverse
        tops, mixed, bottoms = inverse[:, :p, :p], inverse[:, :p, p:], inverse[:, p:, p:]
        other_above, other_below = above[:, None], below[:, None]
        left = tops[..., None] * other_above + mixed[..., None] * other_below
        right = np.swapaxes(mixed, 1, 2)[..., None] * other_above + bottoms[..., None] * other_below
        form = (
            above[..., None, None] * left[:, :, None] + below[..., None, None] * right[:, :, None]
        )
        whole = -form.reshape(b, p * k, p * k)
        entry = np.arange(p * k)
        whole[:, entry, entry] += (above + below).reshape(b, -1)
        return self._layout.gather_forms(whole)

    def gradient(self, targets: Sequence[Floats]) -> Floats:
        """See :class:`Block`."""
        self._targets = targets
        above, below, between = (
            target / amount for target, amount in zip(targets, self._here, strict=True)
        )
        b, p, _ = above.shape
        rhs = np.zeros((b, 2 * p))
        rhs[:, :p] = above.sum(axis=2)
        rhs[:, p:] = -below.sum(axis=2)
        rhs[:, :p] -= self._sum_first(self._factor * between)
        rhs[:, p:] += self._sum_second(between)
        self._alone = self._solve(rhs)
        tops, bottoms = self._alone[:, :p, None], self._alone[:, p:, None]
        return self._layout.gather(above - below - self._above * tops - self._below * bottoms)

    def _sum_first(self, of_pairs: Floats) -> Floats:
        """Add up over the pairs in which each part is the first, shape (b, p)."""
        return np.asarray(self._is_first @ of_pairs.T).T

    def _sum_second(self, of_pairs: Floats) -> Floats:
        return np.asarray(self._is_second @ of_pairs.T).T

    def _solve(self, rhs: Floats) -> Floats:
        """Return the greatest and least entries, one after the other."""
        return np.asarray((self._inverse @ rhs[..., None])[..., 0])

    def step(self, rows: Floats) -> list[Kind]:
        """See :class:`Block`."""
        parts = self._layout.split(rows)
        along = [(self._above * parts).sum(axis=2), (self._below * parts).sum(axis=2)]
        found = self._solve(np.concatenate(along, axis=1)) + self._alone
        p = parts.shape[1]
        self._step_top, self._step_bottom = found[:, :p], found[:, p:]
        steps = [
            self._step_top[..., None] - parts,
            parts - self._step_bottom[..., None],
            self._step_bottom[:, self._second] - self._factor * self._step_top[:, self._first],
        ]
        self._dual_steps = [
            dual_step(target, amount, step, dual)
            for target, amount, step, dual in zip(
                self._targets, self._here, steps, self._duals, strict=True
            )
        ]
        return list(zip(self._here, steps, self._duals, self._dual_steps, strict=True))

    def take(self, length: Floats, dual_length: Floats) -> None:
        """See :class:`Block`."""
        self._top = self._top + length[:, None] * self._step_top
        self._bottom = self._bottom + length[:, None] * self._step_bottom
        self._duals = [
            dual + by_row(dual_length, dual) * step
            for dual, step in zip(self._duals, self._dual_steps, strict=True)
        ]

    def cuts(self, rows: Floats) -> tuple[Cuts, Floats]:
        """See :class:`Block`."""
        above, below, between = self._duals
        b, m = between.shape
        row = np.repeat(np.arange(b), m)
        most = above / above.sum(axis=2, keepdims=True)
        least = below / below.sum(axis=2, keepdims=True)
        pairs = np.stack([most[:, self._first], least[:, self._second]], axis=2)
        entries = self._layout.parts[np.stack([self._first, self._second], axis=1)]
        cuts = Cuts(
            row, np.tile(entries, (b, 1, 1)), pairs.reshape(b * m, 2, -1), np.full(b * m, self._eps)
        )
        return cuts, between.ravel()
