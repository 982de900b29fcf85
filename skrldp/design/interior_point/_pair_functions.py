r"""Privacy of a pair of secrets as one concave function of a row: what the central path needs.

With :math:`x_i = \lambda_i - q_i \ge 0`, :math:`q_1 = e^{-\epsilon} v_{s_1}` and
:math:`q_2 = -v_{s_2}`, a row is private for a pair iff some λ has
:math:`\varphi(x_1, x_2) \ge \lambda_1 + \lambda_2`, where φ is a concave mean that the region
gives: :math:`A^{-1/\theta} N_\sigma(w_i^{1/\theta} M_\theta(x_i))` for a shared budget,
:math:`\sum_i c_i M_\theta(x_i)` for conditionals that are free of one another. Lower bounds L are
the case :math:`\theta = 1`, :math:`c_i M_1(x_i) = L_i \cdot x_i`, and no bounds :math:`c_i = 0`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats, Indices
from skrldp.privacy import Layout, Requirement
from skrldp.support_function import log_mean_exp, split_budget, support_shrink

__all__ = ["PairFunction", "PairGroups", "concave_mean", "pair_function", "sum_last"]


# Order alpha up to which a shared budget has no central path. At 1/2 sigma is minus infinity and φ
# is the lesser of two means, which has a kink; near 1/2 Newton steps are short. Chosen by hand. The
# path of the product region, or cuts, take its place.
_NEAR_HALF = 0.55


def concave_mean(x: Floats, p: Floats, theta: float) -> tuple[Floats, Floats]:
    """Power mean of exponent theta <= 1 over the last axis, and its gradient.

    Shapes: `x` (..., k); `p` (..., k); returns `mean` (...), `gradient` (..., k).
    """
    if x.ndim == 1:
        mean, gradient = concave_mean(x[None], p, theta)
        return mean[0], gradient[0]
    if theta == 0.5:  # the default order, without transcendental functions
        root = np.sqrt(x)
        total = np.einsum("...u,...u->...", p, root)
        np.divide(p, root, out=root)  # in place: new arrays would take most of the time
        root *= total[..., None]
        return total * total, root
    if theta == 1.0:
        return np.einsum("...u,...u->...", p, x), np.broadcast_to(p, x.shape)
    logs = np.log(x)
    centre = np.einsum("...u,...u->...", p, logs)
    if theta == 0.0:
        mean = np.exp(centre)
        return mean, mean[..., None] * p / x
    log_total, weights = log_mean_exp(
        theta * (logs - centre[..., None]), np.broadcast_to(p, x.shape)
    )
    mean = np.exp(centre + log_total / theta)
    return mean, mean[..., None] * weights / x


def sum_last(array: Floats) -> Floats:
    """Sum along the last axis, which is short: several times faster than NumPy's own sum.

    Shapes: `array` (..., k); returns (...).
    """
    return np.einsum("...u->...", array)


@dataclass(frozen=True, eq=False)
class PairGroups:
    """Pairs in groups, as a table; groups that are shorter than others are filled up."""

    members: Indices  # (g, n), the pairs of each group; the number of pairs where there are no more
    full: bool  # whether all groups have n pairs
    in_order: bool  # whether the groups, one after the other, are the pairs in their order

    @classmethod
    def of(cls, group: Indices, count: int) -> "PairGroups":
        """Sort pairs by their group.

        Shapes: `group` (m,).
        """
        order = np.argsort(group, kind="stable")
        sizes = np.bincount(group, minlength=count)
        members = np.full((count, sizes.max(initial=0)), len(group))
        place = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        members[group[order], place] = order
        full = bool(np.all(sizes == members.shape[1]))
        return cls(members, full, full and bool(np.all(order == np.arange(len(group)))))

    def take(self, of_pairs: Floats) -> Floats:
        """Take what belongs to the pairs of each group, 0 where there are no more.

        Shapes: `of_pairs` (b, m, ...); returns (b, g, n, ...).
        """
        b, _, *rest = of_pairs.shape
        if self.in_order:
            return of_pairs.reshape(b, *self.members.shape, *rest)
        if not self.full:
            of_pairs = np.concatenate([of_pairs, np.zeros((b, 1, *rest))], axis=1)
        return of_pairs[:, self.members]


@dataclass(frozen=True, eq=False)
class PairFunction:
    """The function φ of each pair of secrets."""

    layout: Layout  # which entries of a row belong to which part
    # first, second: (m,), the parts of a row that the secrets of each pair have
    first: Indices
    second: Indices
    p: Floats  # (m, 2, k), weights of the means
    scale: Floats  # (m, 2), the factors c; used where the budget is not shared
    theta: float  # exponent of the means
    shared: NDArray[np.bool_]  # (m,), pairs with a shared budget
    weight: Floats  # (m, 2), marginals of the secrets
    sigma: float  # exponent that couples a shared pair
    radius: Floats  # (m,), what the conditionals of each pair may take together, in nats
    # (m, 2), what each of them may take, in nats, at order 1; None for all of it
    own: Floats | None
    factor: Floats  # (m, 2), what the parts of a row are multiplied by: exp(-ε) of the pair, and -1
    # whether the conditionals p are the only ones: privacy is linear then, without any λ
    fixed: bool = False

    @cached_property
    def of_part(self) -> tuple["PairGroups", "PairGroups"]:
        """Pairs in which each part is the first, and the second."""
        count = len(self.layout.parts)
        return PairGroups.of(self.first, count), PairGroups.of(self.second, count)

    @cached_property
    def of_block(self) -> tuple["PairGroups", Indices, Indices]:
        """Pairs that have the same two parts, and these parts."""
        keys, which = np.unique(
            self.first * len(self.layout.parts) + self.second, return_inverse=True
        )
        first, second = np.divmod(keys, len(self.layout.parts))
        return PairGroups.of(which.ravel(), len(keys)), first, second

    def parts(self, rows: Floats) -> Floats:
        """Return the q of each row and pair.

        Shapes: `rows` (b, n_cells); returns (b, m, 2, k).
        """
        parts = self.layout.split(rows)
        pairs = np.stack([parts[:, self.first], parts[:, self.second]], axis=2)
        return self.factor[..., None] * pairs

    def collect(self, parts: Floats) -> Floats:
        """Add up what belongs to each entry of each row: the adjoint of :meth:`parts`.

        Shapes: `parts` (b, m, 2, k). Returns (b, n_cells): the same function of the rows.
        """
        scaled = self.factor[..., None] * parts
        first, second = self.of_part
        whole = first.take(scaled[:, :, 0]).sum(axis=2) + second.take(scaled[:, :, 1]).sum(axis=2)
        return self.layout.gather(whole)

    def __call__(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        r"""Evaluate φ and what its derivatives are made of.

        Shapes: `x` (b, m, 2, k); returns `value` (b, m). Returns `slope` (b, m, 2): derivatives by
        the two means; `curvature` (b, m, 2, 2): minus the second derivatives by the means, and
        minus the part :math:`f_i (1-\theta) / M_i` of theirs that is not diagonal in x; `gradient`
        (b, m, 2, k): gradients of the means.
        """
        mean, gradient = concave_mean(x, self.p, self.theta)
        slope = np.broadcast_to(self.scale, mean.shape).copy()
        value = np.einsum("bmi,mi->bm", mean, self.scale)
        curvature = np.zeros((*mean.shape, 2))
        if self.shared.any():
            part = self._shared
            top, inner, held = self._together(mean[:, part])
            value[:, part], slope[:, part] = top, inner
            outer = -(1.0 - self.sigma) * inner[..., :, None] * inner[..., None, :]
            outer /= top[..., None, None]
            for i in (0, 1):
                outer[..., i, i] += (1.0 - self.sigma) * inner[..., i] / mean[:, part, i]
            if held is not None:
                outer[held] = 0.0
            curvature[:, part] = outer
        for i in (0, 1):
            curvature[..., i, i] -= slope[..., i] * (1.0 - self.theta) / mean[..., i]
        return value, slope, curvature, gradient

    def value(self, x: Floats) -> Floats:
        """Evaluate φ alone.

        Shapes: `x` (b, m, 2, k); returns (b, m).
        """
        if self.theta == 0.0:  # without the gradient: in half of the time
            mean = np.exp(np.einsum("...u,...u->...", self.p, np.log(x)))
        elif self.theta == 0.5:
            mean = np.einsum("...u,...u->...", self.p, np.sqrt(x)) ** 2
        else:
            mean, _ = concave_mean(x, self.p, self.theta)
        value: Floats = np.einsum("bmi,mi->bm", mean, self.scale)
        if self.shared.any():
            value[:, self._shared] = self._together(mean[:, self._shared])[0]
        return value

    @cached_property
    def _shared(self) -> slice | NDArray[np.bool_]:
        """The pairs that share a budget, as a slice where these are all."""
        return slice(None) if self.shared.all() else self.shared

    def _together(self, mean: Floats) -> tuple[Floats, Floats, NDArray[np.bool_] | None]:
        """Couple the means of the pairs that share a budget.

        Returns φ, its derivatives by the means, and where none of them depends on the means,
        because the best split of the budget is not allowed; None for nowhere.
        """
        part = self._shared
        weight = self.weight[part]
        if self.theta == 0.0:
            own = np.full_like(weight, np.inf) if self.own is None else self.own[part]
            held, kept = split_budget(np.log(mean), weight, self.radius[part], own)
            left = np.exp(kept)
            return sum_last(mean * left), left, held
        total = weight.sum(axis=1, keepdims=True)
        top, inner = concave_mean(mean / weight, weight / total, self.sigma)
        # scale holds the factor that the budget takes off, the same for both
        top = top * (total[:, 0] * self.scale[part, 0])
        return top, inner * (total / weight * self.scale[part]), None


def pair_function(one: Requirement) -> PairFunction | None:
    """Find the function φ of a region.

    Returns PairFunction or None: none for boxes, for the public distribution with unseen secrets,
    for a shared budget near order 1/2, where φ has a kink, and for all distributions, which need no
    function.
    """
    region, means, alpha = one.region, one.region.means, one.region.alpha
    if means is None:
        return None
    pair = np.stack(region.pairs, axis=1)
    weight, scale, sigma = region.weights[pair], means.scale[pair], 1.0
    shared, radius, own = region.shared(*region.pairs), np.zeros(len(pair)), None
    if shared.any():
        if alpha <= _NEAR_HALF:
            return None
        sigma = (alpha - 1.0) / (2.0 * alpha - 1.0)
        radius, own = region.shared_budget(pair)
        both = shared[:, None]
        together = np.exp(-support_shrink(np.where(both, weight, 1.0), alpha, radius))
        scale = np.where(both, together[:, None], scale)
        shared = shared & (together > 0)  # without a bound on either, nothing is shared
    return PairFunction(
        layout=region.rows,
        first=region.rows.place[pair[:, 0]],
        second=region.rows.place[pair[:, 1]],
        p=means.p[pair],
        scale=scale,
        theta=means.theta,
        shared=shared,
        weight=weight,
        sigma=sigma,
        radius=radius,
        own=own,
        factor=np.tile([np.exp(-one.eps), -1.0], (len(pair), 1)),
        fixed=region.is_point,
    )
