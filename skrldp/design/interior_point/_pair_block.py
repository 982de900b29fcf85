"""Privacy of pairs of secrets over a region on the central path.

The λ of a pair of secrets occur in one inequality only, so they are eliminated first (a Schur
complement). What a pair adds to the Hessian of its row is then a diagonal matrix and one of low
rank, a quadratic form in two vectors for each secret.
"""

from collections.abc import Sequence

import numpy as np

from skrldp._typing import Floats
from skrldp.design.interior_point._block import Block, Kind, LowRank, by_row, dual_step
from skrldp.design.interior_point._pair_functions import PairFunction, PairGroups, sum_last
from skrldp.design.programs import Cuts
from skrldp.privacy import Requirement

__all__ = ["PairBlock"]

_RANK = 4  # of what a pair adds to a Hessian, but for its diagonal
# The part of a row's entries up to which that is a low rank.
_LOW = 0.5
_INSIDE = 0.99  # part of the way to the boundary at which curvature is looked at, at most


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
        self._last: tuple[Floats, Floats, Floats] | None = None  # x, and what it was made of

    def start(self, rows: Floats, mean: float) -> None:
        """See :class:`Block`."""
        parts = self.pairs.parts(rows)
        self._lam = np.zeros(parts.shape[:3])
        if not self.pairs.fixed:
            # Of b uniform reports q is exp(-ε)/b and -1/b; each λ takes a quarter of the room.
            room = (1.0 - self.pairs.factor[:, 0]) * float(rows[0, 0]) / 4.0
            self._lam = parts.max(axis=-1) + room[:, None]
        x = self._lam[..., None] - parts
        self._slack = self.pairs(x)[0] - sum_last(self._lam)
        self._dual = mean / self._slack
        self._dual_x = np.zeros_like(x) if self.pairs.fixed else mean / x

    def scale_multipliers(self, factor: float) -> None:
        """See :class:`Block`."""
        self._dual, self._dual_x = self._dual * factor, self._dual_x * factor

    def _x(self, rows: Floats) -> Floats:
        if self._last is None or self._last[0] is not rows or self._last[1] is not self._lam:
            self._last = rows, self._lam, self._lam[..., None] - self.pairs.parts(rows)
        return self._last[2]

    def variables(self, rows: Floats) -> list[tuple[Floats, Floats]]:
        """See :class:`Block`."""
        found = [(self._slack, self._dual)]
        return found if self.pairs.fixed else [*found, (self._x(rows), self._dual_x)]

    def hessian(self, rows: Floats) -> Floats:
        """See :class:`Block`."""
        forms = self._linearise(rows)
        return _assemble(self.pairs, self._gradient, self._diagonal, forms)

    def low_rank(self, rows: Floats) -> LowRank | None:
        """See :class:`Block`: with two secrets, for four functions of each pair."""
        if _RANK * len(self.pairs.first) > _LOW * rows.shape[1]:
            return None
        forms = self._linearise(rows)
        return _low_rank(self.pairs, self._gradient, self._diagonal, forms)

    def _linearise(self, rows: Floats) -> tuple[Floats, Floats, Floats]:
        """Linearise; return the forms of :func:`_assemble`."""
        pairs, slack, dual = self.pairs, self._slack, self._dual
        self._here = x = self._x(rows)
        value, slope, curvature, gradient = pairs(x)
        multiplier = dual[..., None, None]
        scaling = (dual / slack)[..., None, None]
        gradient_form = slope[..., :, None] * slope[..., None, :] * scaling
        if pairs.fixed:
            diagonal, lam_slope = np.zeros_like(x), np.zeros_like(slope)
            mixed = inner = np.zeros_like(curvature)
        else:
            curvature = curvature * multiplier
            diagonal = self._dual_x / x
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
        # Of the means and of φ: gradients, derivatives by the means, and by λ of φ - Σλ. The
        # Hessian by (q, λ) is -(diagonal + gradient mixed); inner is the inverse of that by λ.
        self._gradient, self._slope, self._lam_slope = gradient, slope, lam_slope
        self._diagonal, self._mixed, self._inner = diagonal, mixed, inner
        self._value, self._missed = value, value - sum_last(self._lam) - slack  # by the slacks
        self._residual = self._missed  # what a step makes up for
        return gradient_form, -mixed @ inner, -inner

    def gradient(self, targets: Sequence[Floats]) -> Floats:
        """See :class:`Block`."""
        self._targets = targets
        dual = (targets[0] - self._dual * self._residual) / self._slack
        by_mean, self._lam_rhs = dual[..., None] * self._slope, np.zeros_like(self._lam_slope)
        if self.pairs.fixed:
            return self.pairs.collect(by_mean[..., None] * self._gradient)
        by_part = targets[1] / self._here
        by_lam = -dual[..., None] * self._lam_slope - sum_last(by_part)
        # Minus the step of the λ if the rows stay.
        self._lam_rhs = np.einsum("bmij,bmj->bmi", self._inner, by_lam)
        by_mean += np.einsum("bmij,bmj->bmi", self._mixed, self._lam_rhs)
        by_part += by_mean[..., None] * self._gradient
        by_part += self._diagonal * self._lam_rhs[..., None]
        return self.pairs.collect(by_part)

    def step(self, rows: Floats) -> list[Kind]:
        """See :class:`Block`."""
        parts = self.pairs.parts(rows)
        lam = np.zeros_like(self._lam_rhs)
        along = np.einsum("bmiu,bmiu->bmi", self._gradient, parts)
        if not self.pairs.fixed:
            by_lam = np.einsum("bmiu,bmiu->bmi", self._diagonal, parts)
            by_lam += np.einsum("bmij,bmi->bmj", self._mixed, along)
            lam = np.einsum("bmij,bmj->bmi", self._inner, by_lam) - self._lam_rhs
        x = lam[..., None] - parts
        slack = self._residual - np.einsum("bmi,bmi->bm", self._slope, along)
        slack += np.einsum("bmi,bmi->bm", self._lam_slope, lam)
        dual = dual_step(self._targets[0], self._slack, slack, self._dual)
        self._steps, self._x_step = (lam, slack, dual, self._dual_x), x
        kinds: list[Kind] = [(self._slack, slack, self._dual, dual)]
        if not self.pairs.fixed:
            dual_x = dual_step(self._targets[1], self._here, x, self._dual_x)
            self._steps = lam, slack, dual, dual_x
            kinds.append((self._here, x, self._dual_x, dual_x))
        return kinds

    def correct(self, length: float) -> None:
        """See :class:`Block`: φ is concave, so that steps along its tangent violate privacy."""
        self._before = self._residual
        if self.pairs.fixed:
            return
        x, step = self._here, self._x_step
        fastest = (-step / x).reshape(len(x), -1).max(axis=1)  # no further than φ exists
        part = np.minimum(length, _INSIDE / np.maximum(fastest, _INSIDE / length))
        along = np.einsum("bmiu,bmiu->bmi", self._gradient, step)
        tangent = part[:, None] * np.einsum("bmi,bmi->bm", self._slope, along)
        error = self.pairs.value(x + by_row(part, x) * step) - self._value - tangent
        self._residual = self._missed + error / part[:, None]

    def undo_correction(self) -> None:
        """See :class:`Block`."""
        self._residual = self._before

    def take(self, length: Floats, dual_length: Floats) -> None:
        """See :class:`Block`."""
        lam, slack, dual, dual_x = self._steps
        self._lam = self._lam + by_row(length, lam) * lam
        self._slack = self._slack + by_row(length, slack) * slack
        self._dual = self._dual + by_row(dual_length, dual) * dual
        if not self.pairs.fixed:
            self._dual_x = self._dual_x + by_row(dual_length, dual_x) * dual_x

    def conditionals(self, rows: Floats) -> Floats:
        """Return the conditionals that the multipliers stand for, a pair for each row and pair.

        Shapes: `rows` (b, a). Returns (b, m, 2, k): they sum to 1, and near the end of the path
        they are nearly in the region.
        """
        _, slope, _, gradient = self.pairs(self._x(rows))
        mass = self._dual[..., None, None] * (slope[..., None] * gradient) + self._dual_x
        return np.asarray(mass / mass.sum(axis=-1, keepdims=True))

    def cuts(self, rows: Floats) -> tuple[Cuts, Floats]:
        """See :class:`Block`."""
        found = self.conditionals(rows)
        b, m = found.shape[:2]
        row = np.repeat(np.arange(b), m)
        first, second = (np.tile(secret, b) for secret in self._region.pairs)
        pairs = self._region.pull_in(first, second, found.reshape(b * m, 2, -1))
        cuts = Cuts.of(self._region, row, first, second, pairs, np.full(len(row), self._eps))
        return cuts, self._dual.ravel()


def _assemble(
    pairs: PairFunction, gradient: Floats, diagonal: Floats, forms: tuple[Floats, Floats, Floats]
) -> Floats:
    """Hessian of each row: for each pair a diagonal, and a form in (gradient, diagonal).

    The forms are given by their blocks: gradient with gradient, gradient with diagonal, and
    diagonal with diagonal.
    """
    b, _, _, k = gradient.shape
    p = len(pairs.layout.parts)
    by_gradient, cross, by_diagonal = forms
    basis = np.stack([gradient, diagonal], axis=3)  # (b, m, 2, 2, k)
    factor = pairs.factor.T

    def form(i: int, j: int) -> Floats:
        part = np.empty((*by_gradient.shape[:2], 2, 2))
        part[..., 0, 0], part[..., 0, 1] = by_gradient[..., i, j], cross[..., i, j]
        part[..., 1, 0], part[..., 1, 1] = cross[..., j, i], by_diagonal[..., i, j]
        return part * (factor[i] * factor[j])[:, None, None]

    def products(groups: PairGroups, i: int, j: int) -> Floats:
        """Add up over the pairs of each group, shape (g, b, k, k)."""
        g = len(groups.members)
        left = groups.take(basis[:, :, i]).reshape(b, g, -1, k)
        right = groups.take(form(i, j) @ basis[:, :, j]).reshape(b, g, -1, k)
        return np.swapaxes(np.swapaxes(left, -1, -2) @ right, 0, 1)

    hessian = np.zeros((p, p, b, k, k))  # so that blocks are contiguous
    groups, first, second = pairs.of_block
    between = products(groups, 0, 1)
    hessian[first, second] += between
    hessian[second, first] += np.swapaxes(between, -1, -2)
    part, cell, row_diagonal = np.arange(p), np.arange(p * k), np.zeros((b, p, k))
    for i, groups in enumerate(pairs.of_part):
        hessian[part, part] += products(groups, i, i)
        scaled = factor[i][:, None] ** 2 * diagonal[:, :, i]
        row_diagonal += groups.take(scaled).sum(axis=2)
    whole = np.ascontiguousarray(hessian.transpose(2, 0, 3, 1, 4)).reshape(b, p * k, p * k)
    whole[:, cell, cell] += row_diagonal.reshape(b, -1)
    return pairs.layout.gather_forms(whole)


def _low_rank(
    pairs: PairFunction, gradient: Floats, diagonal: Floats, forms: tuple[Floats, Floats, Floats]
) -> LowRank:
    """Hessian of each row as :func:`_assemble` writes it, but not multiplied out."""
    b, m, _, k = gradient.shape
    p, factor = len(pairs.layout.parts), pairs.factor[..., None]
    by_gradient, cross, by_diagonal = forms
    form = np.zeros((b, m, 2, 2, m, 2, 2))  # pair, gradient or diagonal, secret; and again
    basis = np.zeros((b, m, 2, 2, p, k))
    for pair, places in enumerate(zip(pairs.first, pairs.second, strict=True)):
        form[:, pair, 0, :, pair, 0] = by_gradient[:, pair]
        form[:, pair, 0, :, pair, 1] = cross[:, pair]
        form[:, pair, 1, :, pair, 0] = np.swapaxes(cross[:, pair], -1, -2)
        form[:, pair, 1, :, pair, 1] = by_diagonal[:, pair]
        for i, place in enumerate(places):
            basis[:, pair, 0, i, place] = factor[pair, i] * gradient[:, pair, i]
            basis[:, pair, 1, i, place] = factor[pair, i] * diagonal[:, pair, i]
    functions = pairs.layout.gather(basis.reshape(-1, p, k)).reshape(b, _RANK * m, -1)
    squared = pairs.collect(factor * diagonal)
    return LowRank(squared, functions, form.reshape(b, _RANK * m, _RANK * m))


def _inverse_2x2(matrix: Floats) -> Floats:
    (a, b), (_, d) = np.moveaxis(matrix, (-2, -1), (0, 1))
    inverse = np.stack([np.stack([d, -b], -1), np.stack([-b, a], -1)], -2)
    return inverse / (a * d - b * b)[..., None, None]
