"""The regions that a Rényi ball allows: each conditional alone, and all together."""

from functools import cached_property

import numpy as np

from skrldp._typing import Booleans, Floats, Indices
from skrldp.privacy._polyhedra import LowerRegion, common, summits
from skrldp.privacy._region import PowerMeans, Region
from skrldp.privacy._screened import ROUNDING, RoughPairs
from skrldp.privacy._worst_pairs import odds_factor
from skrldp.support_function import conditional_radius, pull_in, support, worst_conditionals

__all__ = ["JointRegion", "ProductRegion"]


# Rows times pairs of secrets up to which all pairs are bounded at once, rather than those alone
# that the product of balls does not clear. It decides speed only: on random rows all at once took a
# tenth less for 400 pairs at 5 x 5 cells, and twice as long for 630 at 15 x 16.
_FEW_PAIRS = 600


class ProductRegion(Region):
    """Each conditional anywhere in its own ball, whatever the others are (Entropy (24))."""

    @cached_property
    def free(self) -> Booleans:
        """Secrets whose conditional may be anything, shape (a1,)."""
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
        """Return the lower bounds that the ball gives."""
        return LowerRegion.around(self)

    def _extreme(
        self, q: Floats, secret: Indices, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        value, found = q.max(axis=1), summits(q) if conditionals else None
        ball = ~self.free[secret]
        if ball.any():
            s = secret[ball]
            problem = q[ball, None], self.conditionals[s, None], self.weights[s, None]
            own_ball = self.alpha, self.single_budgets[s]
            best = support(*problem, *own_ball)
            value[ball] = best.bound
            if found is not None:
                conditionals_found = worst_conditionals(*problem, *own_ball, best.slack)
                found[ball] = conditionals_found[:, 0]
        return value, found

    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Mix each conditional with the public one until it is in its ball.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """
        found = conditionals.copy()
        for i, secret in enumerate((first, second)):
            ball = ~self.free[secret]
            s = secret[ball]
            found[ball, i] = pull_in(
                conditionals[ball, None, i],
                self.conditionals[s, None],
                self.weights[s, None],
                self.alpha,
                self.single_budgets[s],
            )[:, 0]
        return found


class JointRegion(ProductRegion):
    """Exactly what a set allows in which two conditionals share a budget."""

    def shared(self, first: Indices, second: Indices) -> Booleans:
        """Tell which secrets are two that have records; a free one costs nothing."""
        return self.seen[first] & self.seen[second] & (first != second)

    def wider(self) -> Region:
        """Return the region in which no two conditionals share a budget."""
        return ProductRegion(**common(self))

    def _extremes(self, parts: Floats, others: Floats) -> tuple[Floats, Floats]:
        """Upper bounds of what the conditionals make of each part, and of minus that."""
        unshared = not self.seen.all() or self.same_secret
        few = len(parts) * len(self.pairs[0]) <= _FEW_PAIRS
        if few and not unshared:  # then the ball of each conditional costs more than it saves
            return parts.max(axis=2), -others.min(axis=2)
        return super()._extremes(parts, others)

    def pull_in(self, first: Indices, second: Indices, conditionals: Floats) -> Floats:
        """Mix pairs of conditionals with the public ones until they keep the budget.

        Shapes: `first` and `second` (m,); `conditionals` (m, 2, a2); returns (m, 2, a2).
        """
        shared = self.shared(first, second)
        pair = np.stack([first[shared], second[shared]], axis=1)
        found = conditionals.copy()
        found[~shared] = super().pull_in(first[~shared], second[~shared], conditionals[~shared])
        around = self.conditionals[pair], self.weights[pair], self.alpha
        found[shared] = pull_in(conditionals[shared], *around, *self.shared_budget(pair))
        return found

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
            gap[shared] = np.fmin(gap[shared], best.bound)  # of two bounds, what is a number
        return gap

    def closely(
        self, pairs: RoughPairs, above: float, conditionals: bool
    ) -> tuple[Floats, Floats | None]:
        """Bound pairs that share a budget by what both take of it."""
        # A free secret costs nothing, so the other has the whole budget: nothing to refine.
        shared = self.shared(pairs.first, pairs.second)
        both = pairs[shared]
        pair = np.stack([both.first, both.second], axis=1)
        q = np.stack([both.part, -odds_factor(both.eps)[:, None] * both.other], axis=1)
        problem = q, self.conditionals[pair], self.weights[pair]
        radius, own = self.shared_budget(pair)
        best = support(*problem, self.alpha, radius, own)
        bound = pairs.bound.copy()
        exact = best.bound + ROUNDING * np.abs(q).max(axis=(1, 2))
        bound[shared] = np.fmin(bound[shared], exact)  # of two bounds, what is a number
        if not conditionals:
            return bound, None
        kept = bound > above
        found = np.empty((np.count_nonzero(kept), 2, pairs.part.shape[1]))
        found[~shared[kept]] = super().closely(pairs[kept & ~shared], -np.inf, True)[1]
        wanted = kept[shared]
        found[shared[kept]] = worst_conditionals(
            q[wanted],
            problem[1][wanted],
            problem[2][wanted],
            self.alpha,
            radius[wanted],
            best.slack[wanted],
            None if own is None else own[wanted],
        )
        return bound, found
