r"""Privacy of pairs of secrets over a region, as a block of constraints on the central path.

Privacy is one concave function of a row. With :math:`x_i =
\lambda_i - q_i \ge 0`, :math:`q_1 = e^{-\epsilon} v_{s_1}` and :math:`q_2 = -v_{s_2}`, a row is
private for a pair iff some λ has :math:`\varphi(x_1, x_2) \ge \lambda_1 + \lambda_2`, where φ is a
concave mean determined by the region: :math:`A^{-1/\theta} N_\sigma(w_i^{1/\theta} M_\theta(x_i))`
for a shared budget, and :math:`\sum_i c_i M_\theta(x_i)` for conditionals that vary independently.
Lower bounds L correspond to :math:`\theta = 1`, :math:`c_i M_1(x_i) = L_i \cdot x_i`, and unbounded
conditionals to :math:`c_i = 0`.

The λ of a pair of secrets occur in only one inequality, so they are eliminated first (a Schur
complement). A pair's contribution to the Hessian of its row is then a diagonal matrix plus a matrix
of low rank, a quadratic form in two vectors for each secret.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats, Indices
from skrldp.design.newton_system import INITIAL_MARGIN, Block, Linearised, LowRank, Point, by_row
from skrldp.design.programs import Cuts
from skrldp.privacy.private_rows import Layout
from skrldp.privacy.requirements import Requirement
from skrldp.support_function import log_mean_exp, split_budget, support_shrink

# --- Privacy of a pair of secrets as one concave function of a row --------------------------------


def concave_mean(x: Floats, p: Floats, theta: float) -> tuple[Floats, Floats]:
    """Power mean of exponent theta <= 1 over the last axis, and its gradient.

    Shapes: `x` (..., k); `p` (..., k); returns `mean` (...), `gradient` (..., k).
    """
    if x.ndim == 1:
        mean, gradient = concave_mean(x[None], p, theta)
        return mean[0], gradient[0]
    if theta == 0.5:  # the default order, which needs no transcendental functions
        root = np.sqrt(x)
        total = np.einsum("...u,...u->...", p, root)
        # In place, because allocating new arrays would take most of the time
        np.divide(p, root, out=root)
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
    """Sum along the last axis, which is short, several times faster than NumPy's sum.

    Shapes: `array` (..., k); returns (...).
    """
    return np.einsum("...u->...", array)


@dataclass(frozen=True, eq=False)
class PairGroups:
    """Pairs in groups, as a padded table."""

    members: Indices  # (g, n), the pairs of each group, padded with the number of pairs
    full: bool  # whether all groups have n pairs
    in_order: bool  # whether the concatenated groups are the pairs in order

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
        """Return the entries of the pairs of each group, padded with 0.

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

    layout: Layout  # the map from entries of a row to parts
    # first, second: (m,), the parts of a row that belong to the two secrets of each pair
    first: Indices
    second: Indices
    p: Floats  # (m, 2, k), weights of the means; (b, m, 2, k) if they differ between rows
    scale: Floats  # (m, 2), the factors c; used if the budget is not shared
    theta: float  # exponent of the means
    shared: NDArray[np.bool_]  # (m,), pairs with a shared budget
    weight: Floats  # (m, 2), marginals of the secrets
    sigma: float  # exponent that couples a shared pair
    radius: Floats  # (m,), budget that the conditionals of each pair share, in nats
    # (m, 2), limit of each conditional, in nats, at order 1; None for no limit
    own: Floats | None
    factor: Floats  # (m, 2), factors of the parts of a row: exp(-ε) of the pair, and -1
    # whether p are the only conditionals, so that privacy is linear, without any λ
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
        """Add up the parts' entries for each entry of each row: the adjoint of :meth:`parts`.

        Shapes: `parts` (b, m, 2, k). Returns (b, n_cells).
        """
        scaled = self.factor[..., None] * parts
        first, second = self.of_part
        whole = first.take(scaled[:, :, 0]).sum(axis=2) + second.take(scaled[:, :, 1]).sum(axis=2)
        return self.layout.gather(whole)

    def __call__(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        r"""Evaluate φ and the factors of its derivatives.

        Shapes: `x` (b, m, 2, k); returns `value` (b, m). Returns `slope` (b, m, 2): derivatives
        with respect to the two means; `curvature` (b, m, 2, 2): minus the second derivatives with
        respect to the means, and minus the part :math:`f_i (1-\theta) / M_i` of the means' second
        derivatives that is not diagonal in x; `gradient` (b, m, 2, k): gradients of the means.
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

    @cached_property
    def _shared(self) -> slice | NDArray[np.bool_]:
        """The pairs that share a budget, as a slice if these are all pairs."""
        return slice(None) if self.shared.all() else self.shared

    def _together(self, mean: Floats) -> tuple[Floats, Floats, NDArray[np.bool_] | None]:
        """Couple the means of the pairs that share a budget.

        Returns φ, its derivatives with respect to the means, and for which pairs these are constant
        because a limit on the split of the budget is active; None if it is active for no pair.
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
        # scale is the factor due to the budget, which is the same for both
        top = top * (total[:, 0] * self.scale[part, 0])
        return top, inner * (total / weight * self.scale[part]), None


def pair_function(one: Requirement) -> PairFunction | None:
    """Find the function φ of a region.

    Returns PairFunction or None: None for boxes, for the public distribution if some secrets have
    no records, for a shared budget near order 1/2, where φ has a kink, and for all distributions,
    which need no function.
    """
    region, means, alpha = one.region, one.region.means, one.region.alpha
    if means is None:
        return None
    pair = np.stack(region.pairs, axis=1)
    weight, scale, sigma = region.weights[pair], means.scale[pair], 1.0
    shared, radius, own = region.shared(*region.pairs), np.zeros(len(pair)), None
    if shared.any():
        # At order 1/2, sigma is minus infinity and φ is the smaller of two means, which has a kink;
        # near 1/2, Newton steps are short. Use the product region's path or cuts instead.
        if alpha <= 0.55:
            return None
        sigma = (alpha - 1.0) / (2.0 * alpha - 1.0)
        radius, own = region.shared_budget(pair)
        both = shared[:, None]
        together = np.exp(-support_shrink(np.where(both, weight, 1.0), alpha, radius))
        scale = np.where(both, together[:, None], scale)
        shared = shared & (together > 0)  # if neither conditional is bounded, no budget is shared
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


# --- Privacy of pairs of secrets over a region ----------------------------------------------------


class PairBlock(Block):
    r"""The inequalities φ - λ1 - λ2 >= 0 of all rows and pairs; see :class:`Block`.

    Parameters
    ----------
    one : Requirement
        Privacy of pairs of secrets over a region.
    pairs : PairFunction
        The function φ of each pair.
    """

    def __init__(self, one: Requirement, pairs: PairFunction) -> None:
        self._region, self._eps = one.region, one.eps
        self.pairs = pairs

    def of(self, place: slice) -> "PairBlock":
        """See :class:`Block`."""
        found, p = copy(self), self.pairs.p
        if p.ndim > 3:
            found.pairs = replace(self.pairs, p=p[place])
        return found

    def of_rows(self, blocks: Sequence[Block]) -> "PairBlock":
        """See :class:`Block`: the blocks differ only in the weights of the means."""
        found, own = copy(self), [one.pairs.p for one in blocks if isinstance(one, PairBlock)]
        found.pairs = replace(self.pairs, p=np.stack(own))
        return found

    def start(self, rows: Floats) -> tuple[Floats, ...]:
        """See :class:`Block`: the λ of each pair, and the excess of φ over their sum."""
        parts = self.pairs.parts(rows)
        lam = np.zeros(parts.shape[:3])
        if not self.pairs.fixed:
            # For b uniform reports, q is exp(-ε)/b and -1/b; each λ uses a quarter of the slack.
            room = INITIAL_MARGIN * (1.0 - self.pairs.factor[:, 0]) * float(rows[0, 0])
            lam = parts.max(axis=-1) + room[:, None]
        return lam, self.pairs(lam[..., None] - parts)[0] - sum_last(lam)

    def amounts(self, rows: Floats, variables: tuple[Floats, ...]) -> tuple[Floats, ...]:
        """See :class:`Block`: the slack of φ, and x."""
        lam, slack = variables
        return (slack,) if self.pairs.fixed else (slack, lam[..., None] - self.pairs.parts(rows))

    def _x(self, point: Point) -> tuple[Floats, Floats]:
        """Return x and its multipliers, which are 0 if privacy is linear."""
        if not self.pairs.fixed:
            return point.amounts[1], point.multipliers[1]
        x = point.variables[0][..., None] - self.pairs.parts(point.rows)
        return x, np.zeros_like(x)

    def linearise(self, point: Point, barrier: Floats) -> "LinearPairs":
        """See :class:`Block`."""
        pairs, (lam, slack), dual = self.pairs, point.variables, point.multipliers[0]
        x, dual_x = self._x(point)
        value, slope, curvature, gradient = pairs(x)
        multiplier = dual[..., None, None]
        scaling = (dual / slack)[..., None, None]
        gradient_form = slope[..., :, None] * slope[..., None, :] * scaling
        if pairs.fixed:
            diagonal, lam_slope = np.zeros_like(x), np.zeros_like(slope)
            mixed = inner = np.zeros_like(curvature)
        else:
            curvature = curvature * multiplier
            diagonal = dual_x / x
            diagonal += multiplier * (slope * (1.0 - pairs.theta))[..., None] * gradient / x
            sums = sum_last(gradient)
            lam_slope = slope * sums - 1.0
            mixed = curvature * sums[..., None, :]
            mixed = mixed + slope[..., :, None] * lam_slope[..., None, :] * scaling
            lam_hessian = sums[..., :, None] * curvature * sums[..., None, :]
            lam_hessian += lam_slope[..., :, None] * lam_slope[..., None, :] * scaling
            for i in (0, 1):
                lam_hessian[..., i, i] += sum_last(diagonal[..., i, :])
            inner = _inverse_2x2(lam_hessian)
            gradient_form += curvature - mixed @ inner @ np.swapaxes(mixed, -1, -2)
        forms = gradient_form, -mixed @ inner, -inner

        residual = value - sum_last(lam) - slack
        aim = (by_row(barrier, slack) - dual * residual) / slack
        by_mean, lam_alone = aim[..., None] * slope, np.zeros_like(lam_slope)
        if pairs.fixed:
            by_part = by_mean[..., None] * gradient
        else:
            by_part = by_row(barrier, x) / x
            by_lam = -aim[..., None] * lam_slope - sum_last(by_part)
            lam_alone = np.einsum("bmij,bmj->bmi", inner, by_lam)
            by_mean += np.einsum("bmij,bmj->bmi", mixed, lam_alone)
            by_part += by_mean[..., None] * gradient
            by_part += diagonal * lam_alone[..., None]
        return LinearPairs(
            pairs,
            pairs.collect(by_part),
            means=gradient,
            slope=slope,
            lam_slope=lam_slope,
            diagonal=diagonal,
            mixed=mixed,
            inner=inner,
            forms=forms,
            residual=residual,
            lam_alone=lam_alone,
        )

    def conditionals(self, point: Point) -> Floats:
        """Return the conditionals represented by the multipliers, for each row and pair.

        Returns (b, m, 2, k): they sum to 1, and near the end of the path they are nearly in the
        region.
        """
        x, dual_x = self._x(point)
        _, slope, _, gradient = self.pairs(x)
        dual = point.multipliers[0][..., None, None]
        mass = dual * (slope[..., None] * gradient) + dual_x
        return np.asarray(mass / mass.sum(axis=-1, keepdims=True))

    def cuts(self, point: Point) -> tuple[Cuts, Floats]:
        """See :class:`Block`."""
        found = self.conditionals(point)
        b, m = found.shape[:2]
        row = np.repeat(np.arange(b), m)
        first, second = (np.tile(secret, b) for secret in self._region.pairs)
        pairs = self._region.pull_in(first, second, found.reshape(b * m, 2, -1))
        cuts = Cuts.of(self._region, row, first, second, pairs, np.full(len(row), self._eps))
        return cuts, point.multipliers[0].ravel()


@dataclass(frozen=True, eq=False)
class LinearPairs(Linearised):
    """See :class:`Linearised`. The Hessian in (q, λ) is -(diagonal + mixed form of the means)."""

    pairs: PairFunction
    gradient: Floats
    means: Floats  # (b, m, 2, k), gradients of the means
    slope: Floats  # (b, m, 2), derivatives of φ with respect to the means
    lam_slope: Floats  # (b, m, 2), derivatives of φ - Σλ with respect to λ
    diagonal: Floats  # (b, m, 2, k)
    mixed: Floats  # (b, m, 2, 2), the form in the means and λ
    inner: Floats  # (b, m, 2, 2), inverse of the form in λ
    forms: tuple[Floats, Floats, Floats]  # as in the Hessian, without λ
    residual: Floats  # (b, m), the part of φ - Σλ that is not yet in the slack
    lam_alone: Floats  # (b, m, 2), minus the step of λ if the rows are fixed

    def hessian(self) -> Floats:
        """See :class:`Linearised`.

        Each pair adds a diagonal, and a form in (means, diagonal) that consists of three blocks:
        means with means, means with diagonal, and diagonal with diagonal.
        """
        b, _, _, k = self.means.shape
        p = len(self.pairs.layout.parts)
        by_gradient, cross, by_diagonal = self.forms
        basis = np.stack([self.means, self.diagonal], axis=3)  # (b, m, 2, 2, k)
        factor = self.pairs.factor.T

        def form(i: int, j: int) -> Floats:
            part = np.empty((*by_gradient.shape[:2], 2, 2))
            part[..., 0, 0], part[..., 0, 1] = by_gradient[..., i, j], cross[..., i, j]
            part[..., 1, 0], part[..., 1, 1] = cross[..., j, i], by_diagonal[..., i, j]
            return part * (factor[i] * factor[j])[:, None, None]

        def products(groups: PairGroups, i: int, j: int) -> Floats:
            """Sum over the pairs of each group, shape (g, b, k, k)."""
            g = len(groups.members)
            left = groups.take(basis[:, :, i]).reshape(b, g, -1, k)
            right = groups.take(form(i, j) @ basis[:, :, j]).reshape(b, g, -1, k)
            return np.swapaxes(np.swapaxes(left, -1, -2) @ right, 0, 1)

        hessian = np.zeros((p, p, b, k, k))  # so that blocks are contiguous
        groups, first, second = self.pairs.of_block
        between = products(groups, 0, 1)
        hessian[first, second] += between
        hessian[second, first] += np.swapaxes(between, -1, -2)
        part, cell, row_diagonal = np.arange(p), np.arange(p * k), np.zeros((b, p, k))
        for i, groups in enumerate(self.pairs.of_part):
            hessian[part, part] += products(groups, i, i)
            scaled = factor[i][:, None] ** 2 * self.diagonal[:, :, i]
            row_diagonal += groups.take(scaled).sum(axis=2)
        whole = np.ascontiguousarray(hessian.transpose(2, 0, 3, 1, 4)).reshape(b, p * k, p * k)
        whole[:, cell, cell] += row_diagonal.reshape(b, -1)
        return self.pairs.layout.gather_forms(whole)

    def low_rank(self) -> LowRank | None:
        """See :class:`Linearised`: with two secrets, in four functions of each pair."""
        b, m, _, k = self.means.shape
        rank = 4 * m  # two functions for each secret of a pair
        if 2 * rank > self.gradient.shape[1]:
            return None
        p, factor = len(self.pairs.layout.parts), self.pairs.factor[..., None]
        by_gradient, cross, by_diagonal = self.forms
        form = np.zeros((b, m, 2, 2, m, 2, 2))  # pair, gradient or diagonal, secret; and again
        basis = np.zeros((b, m, 2, 2, p, k))
        for pair, places in enumerate(zip(self.pairs.first, self.pairs.second, strict=True)):
            form[:, pair, 0, :, pair, 0] = by_gradient[:, pair]
            form[:, pair, 0, :, pair, 1] = cross[:, pair]
            form[:, pair, 1, :, pair, 0] = np.swapaxes(cross[:, pair], -1, -2)
            form[:, pair, 1, :, pair, 1] = by_diagonal[:, pair]
            for i, place in enumerate(places):
                basis[:, pair, 0, i, place] = factor[pair, i] * self.means[:, pair, i]
                basis[:, pair, 1, i, place] = factor[pair, i] * self.diagonal[:, pair, i]
        functions = self.pairs.layout.gather(basis.reshape(-1, p, k)).reshape(b, rank, -1)
        squared = self.pairs.collect(factor * self.diagonal)
        return LowRank(squared, functions, form.reshape(b, rank, rank))

    def steps(self, rows: Floats) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
        """See :class:`Linearised`."""
        parts = self.pairs.parts(rows)
        lam = np.zeros_like(self.lam_alone)
        along = np.einsum("bmiu,bmiu->bmi", self.means, parts)
        if not self.pairs.fixed:
            by_lam = np.einsum("bmiu,bmiu->bmi", self.diagonal, parts)
            by_lam += np.einsum("bmij,bmi->bmj", self.mixed, along)
            lam = np.einsum("bmij,bmj->bmi", self.inner, by_lam) - self.lam_alone
        slack = self.residual - np.einsum("bmi,bmi->bm", self.slope, along)
        slack += np.einsum("bmi,bmi->bm", self.lam_slope, lam)
        amounts = (slack,) if self.pairs.fixed else (slack, lam[..., None] - parts)
        return (lam, slack), amounts


def _inverse_2x2(matrix: Floats) -> Floats:
    (a, b), (_, d) = np.moveaxis(matrix, (-2, -1), (0, 1))
    inverse = np.stack([np.stack([d, -b], -1), np.stack([-b, a], -1)], -2)
    return inverse / (a * d - b * b)[..., None, None]
