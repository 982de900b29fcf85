r"""Privacy over all distributions, as a block of constraints on the central path.

The largest and smallest entries are variables. For each row and part, :math:`M_s \ge v_{s,u} \ge
m_s` for all u, and :math:`m_t - e^{-\epsilon} M_s \ge 0` for each pair. These constraints are
linear, with two variables for each part, two slacks for each entry and one for each pair, whereas
the general form has two variables and two slacks for each entry of each pair.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from skrldp._typing import Floats
from skrldp.design.newton_system import INITIAL_MARGIN, Block, Linearised, Point, by_row, inverses
from skrldp.design.programs import Cuts
from skrldp.privacy.requirements import Requirement


class RangeBlock(Block):
    """See :class:`Block`.

    Parameters
    ----------
    one : Requirement
        Privacy over all distributions.
    """

    def __init__(self, one: Requirement) -> None:
        self.layout = one.region.rows
        self._first, self._second = one.part_pairs
        self._eps, self._factor = one.eps, float(np.exp(-one.eps))
        ones, number = np.ones(len(self._first)), np.arange(len(self._first))
        shape = len(self.layout.parts), len(number)
        self._is_first = csr_array((ones, (self._first, number)), shape=shape)
        self._is_second = csr_array((ones, (self._second, number)), shape=shape)

    def start(self, rows: Floats) -> tuple[Floats, ...]:
        """See :class:`Block`: the largest and the smallest entry of each part."""
        shape, share = (len(rows), len(self.layout.parts)), float(rows[0, 0])
        margin = INITIAL_MARGIN * share * (1.0 - self._factor)
        return np.full(shape, share + margin), np.full(shape, share - margin)

    def amounts(self, rows: Floats, variables: tuple[Floats, ...]) -> tuple[Floats, ...]:
        """See :class:`Block`: the slacks above the entries, below them, and between two parts."""
        top, bottom = variables
        parts = self.layout.split(rows)
        between = bottom[:, self._second] - self._factor * top[:, self._first]
        return top[..., None] - parts, parts - bottom[..., None], between

    def linearise(self, point: Point, barrier: Floats) -> "LinearRanges":
        """See :class:`Block`."""
        pairs = zip(point.amounts, point.multipliers, strict=True)
        above, below, between = (multiplier / amount for amount, multiplier in pairs)
        b, p, _ = above.shape
        matrix = np.zeros((b, 2 * p, 2 * p))  # for the largest entries, followed by the smallest
        part = np.arange(p)
        matrix[:, part, part] = above.sum(axis=2)
        matrix[:, p + part, p + part] = below.sum(axis=2)
        matrix[:, part, part] += self._sum_first(self._factor**2 * between)
        matrix[:, p + part, p + part] += self._sum_second(between)
        matrix[:, self._first, p + self._second] -= self._factor * between
        matrix[:, p + self._second, self._first] -= self._factor * between
        inverse = inverses(matrix)
        to_top, to_bottom, between = (by_row(barrier, each) / each for each in point.amounts)
        rhs = np.zeros((b, 2 * p))
        rhs[:, :p] = to_top.sum(axis=2)
        rhs[:, p:] = -to_bottom.sum(axis=2)
        rhs[:, :p] -= self._sum_first(self._factor * between)
        rhs[:, p:] += self._sum_second(between)
        alone = (inverse @ rhs[..., None])[..., 0]
        by_part = to_top - to_bottom - above * alone[:, :p, None] - below * alone[:, p:, None]
        gradient = self.layout.gather(by_part)
        return LinearRanges(self, gradient, above, below, inverse, alone)

    def _sum_first(self, of_pairs: Floats) -> Floats:
        """Sum over the pairs in which each part is the first, shape (b, p)."""
        return np.asarray(self._is_first @ of_pairs.T).T

    def _sum_second(self, of_pairs: Floats) -> Floats:
        return np.asarray(self._is_second @ of_pairs.T).T

    def cuts(self, point: Point) -> tuple[Cuts, Floats]:
        """See :class:`Block`."""
        above, below, between = point.multipliers
        b, m = between.shape
        row = np.repeat(np.arange(b), m)
        most = above / above.sum(axis=2, keepdims=True)
        least = below / below.sum(axis=2, keepdims=True)
        pairs = np.stack([most[:, self._first], least[:, self._second]], axis=2)
        entries = self.layout.parts[np.stack([self._first, self._second], axis=1)]
        cuts = Cuts(
            row, np.tile(entries, (b, 1, 1)), pairs.reshape(b * m, 2, -1), np.full(b * m, self._eps)
        )
        return cuts, between.ravel()


@dataclass(frozen=True, eq=False)
class LinearRanges(Linearised):
    """See :class:`Linearised`. The scaling of a slack is its multiplier divided by the slack."""

    block: RangeBlock
    gradient: Floats
    above: Floats  # (b, p, k), scalings of the slacks above the entries
    below: Floats  # (b, p, k), and below them
    inverse: Floats  # (b, 2 * p, 2 * p), inverse of the form in the largest and smallest entries
    alone: Floats  # (b, 2 * p), steps of the largest and smallest entries if the rows are fixed

    def hessian(self) -> Floats:
        """See :class:`Linearised`."""
        above, below = self.above, self.below
        b, p, k = above.shape
        tops, mixed, bottoms = (
            self.inverse[:, :p, :p],
            self.inverse[:, :p, p:],
            self.inverse[:, p:, p:],
        )
        other_above, other_below = above[:, None], below[:, None]
        left = tops[..., None] * other_above + mixed[..., None] * other_below
        right = np.swapaxes(mixed, 1, 2)[..., None] * other_above + bottoms[..., None] * other_below
        form = (
            above[..., None, None] * left[:, :, None] + below[..., None, None] * right[:, :, None]
        )
        whole = -form.reshape(b, p * k, p * k)
        entry = np.arange(p * k)
        whole[:, entry, entry] += (above + below).reshape(b, -1)
        return self.block.layout.gather_forms(whole)

    def steps(self, rows: Floats) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
        """See :class:`Linearised`."""
        parts = self.block.layout.split(rows)
        along = [(self.above * parts).sum(axis=2), (self.below * parts).sum(axis=2)]
        rhs = np.concatenate(along, axis=1)
        ends = (self.inverse @ rhs[..., None])[..., 0] + self.alone
        p = parts.shape[1]
        variables = ends[:, :p], ends[:, p:]
        return variables, self.block.amounts(rows, variables)
