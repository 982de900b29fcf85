"""The Newton system of the central path: one Hessian for each row of the mechanism.

The λ of a pair of secrets occur in one inequality only, so they are eliminated first (a Schur
complement). What a pair adds to the Hessian of its row is then a diagonal matrix and one of low
rank, a quadratic form in two vectors for each secret.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from skrldp._typing import Floats
from skrldp.design.interior_point._pairs import PairFunction

__all__ = ["Coupling", "RowSystem", "row_system"]

_Solution = tuple[Floats, Floats, Floats, float]

# Chosen by hand. Doubled one at a time (benchmarks/bench_constants.py) they change nothing before
# the 13th digit.

# Steps of iterative refinement of each solve: they undo the regularisation below.
_REFINEMENTS = 2
# Regularisation: what is added to a unit diagonal, the least of these with which Cholesky's method
# succeeds. It begins at a few units of rounding.
_REGULARISATIONS = (1e-15, 1e-13, 1e-11)


@dataclass(frozen=True, eq=False)
class RowSystem:
    """The linearised conditions of a point, with what one factorisation of them gives.

    Attributes
    ----------
    pairs : PairFunction
        Privacy of each pair of secrets.
    residual : array of shape (b, m)
        By how much the slacks miss what they stand for.
    gradient : array of shape (b, m, 2, k)
        Gradients of the means.
    slope : array of shape (b, m, 2)
        Derivatives of φ by the means.
    diagonal : array of shape (b, m, 2, k)
        Diagonal part of the Hessian by q.
    mixed : array of shape (b, m, 2, 2)
        L: the Hessian by (q, λ) is ``-(diagonal + gradient L)``.
    inner : array of shape (b, m, 2, 2)
        Inverse of the Hessian by λ.
    lam_slope : array of shape (b, m, 2)
        Derivatives of φ - Σλ by λ.
    hessian, inverse : arrays of shape (b, a, a)
        Hessian of each row without the λ, and (nearly) its inverse.
    """

    pairs: PairFunction
    residual: Floats
    gradient: Floats
    slope: Floats
    diagonal: Floats
    mixed: Floats
    inner: Floats
    lam_slope: Floats
    hessian: Floats
    inverse: Floats

    def eliminate(self, dual: Floats, dual_x: Floats) -> tuple[Floats, Floats]:
        """Eliminate the λ from the right-hand side of the Newton equations.

        Parameters
        ----------
        dual : array of shape (b, m)
            Multiplier that φ - Σλ is to have.
        dual_x : array of shape (b, m, 2, k)
            Multipliers that the x are to have.

        Returns
        -------
        gradient : array of shape (b, parts, k)
            Gradient by the rows, with the λ eliminated.
        lam_rhs : array of shape (b, m, 2)
            Minus the step of the λ if the rows stay; for :meth:`back_substitute`.
        """
        by_part = dual[..., None, None] * (self.slope[..., None] * self.gradient)
        lam_rhs = np.zeros_like(self.lam_slope)
        if not self.pairs.fixed:
            by_part += dual_x
            by_lam = -dual[..., None] * self.lam_slope - dual_x.sum(axis=-1)
            lam_rhs = np.einsum("bmij,bmj->bmi", self.inner, by_lam)
            by_part += self.diagonal * lam_rhs[..., None]
            along = np.einsum("bmij,bmj->bmi", self.mixed, lam_rhs)
            by_part += self.gradient * along[..., None]
        return self.pairs.collect(by_part), lam_rhs

    def back_substitute(self, rows: Floats, lam_rhs: Floats) -> tuple[Floats, Floats, Floats]:
        """Find the steps of the eliminated variables from that of the rows.

        Parameters
        ----------
        rows : array of shape (b, parts, k)
            Step of the rows.
        lam_rhs : array of shape (b, m, 2)
            From :meth:`eliminate`.

        Returns
        -------
        lam : array of shape (b, m, 2)
        x : array of shape (b, m, 2, k)
        slack : array of shape (b, m)
            A full step makes the residual zero, to first order.
        """
        parts = self.pairs.parts(rows)
        lam = np.zeros_like(lam_rhs)
        if not self.pairs.fixed:
            along = np.einsum("bmiu,bmiu->bmi", self.gradient, parts)
            by_lam = np.einsum("bmiu,bmiu->bmi", self.diagonal, parts)
            by_lam += np.einsum("bmij,bmi->bmj", self.mixed, along)
            lam = np.einsum("bmij,bmj->bmi", self.inner, by_lam) - lam_rhs
        x = lam[..., None] - parts
        slack = np.einsum("bmi,bmiu,bmiu->bm", self.slope, self.gradient, x)
        slack += self.residual - lam.sum(axis=-1)
        return lam, x, slack


def row_system(
    pairs: PairFunction,
    lam: Floats,
    x: Floats,
    dual_x: Floats,
    slack: Floats,
    dual: Floats,
    row_diagonal: Floats,
) -> RowSystem | None:
    """Linearise the privacy of all rows and factorise it.

    Parameters
    ----------
    pairs : PairFunction
        Privacy of each pair of secrets.
    lam : array of shape (b, m, 2)
        The λ.
    x, dual_x : arrays of shape (b, m, 2, k)
        ``λ - q`` and its multipliers.
    slack, dual : arrays of shape (b, m)
        The slack variables for φ - Σλ, and their multipliers.
    row_diagonal : array of shape (b, parts, k)
        Diagonal that the bounds ``rows >= 0`` add to the Hessian.

    Returns
    -------
    RowSystem or None
        None if rounding has made a Hessian indefinite.
    """
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
        sums = gradient.sum(axis=-1)
        lam_slope = slope * sums - 1.0
        mixed = curvature * sums[..., None, :]
        mixed = mixed + slope[..., :, None] * lam_slope[..., None, :] * scaling
        lam_hessian = sums[..., :, None] * curvature * sums[..., None, :]
        lam_hessian += lam_slope[..., :, None] * lam_slope[..., None, :] * scaling
        for i in (0, 1):
            lam_hessian[..., i, i] += diagonal[..., i, :].sum(axis=-1)
        inner = _inverse_2x2(lam_hessian)
        gradient_form += curvature - mixed @ inner @ np.swapaxes(mixed, -1, -2)
    forms = gradient_form, -mixed @ inner, -inner
    hessian = _assemble(pairs, gradient, diagonal, forms, row_diagonal)
    inverse = _inverse(hessian)
    if inverse is None:
        return None
    residual = value - lam.sum(axis=-1) - slack
    return RowSystem(
        pairs, residual, gradient, slope, diagonal, mixed, inner, lam_slope, hessian, inverse
    )


def _assemble(
    pairs: PairFunction,
    gradient: Floats,
    diagonal: Floats,
    forms: tuple[Floats, Floats, Floats],
    row_diagonal: Floats,
) -> Floats:
    """Hessian of each row: a diagonal, and for each pair a form in (gradient, diagonal).

    The forms are given by their blocks: gradient with gradient, gradient with diagonal, and
    diagonal with diagonal.
    """
    b, a1, k = row_diagonal.shape
    by_gradient, cross, by_diagonal = forms
    basis = np.stack([gradient, diagonal], axis=3)  # (b, m, 2, 2, k)
    factor = pairs.factor[:, 0]

    def form(i: int, j: int) -> Floats:
        part = np.empty((*by_gradient.shape[:2], 2, 2))
        part[..., 0, 0], part[..., 0, 1] = by_gradient[..., i, j], cross[..., i, j]
        part[..., 1, 0], part[..., 1, 1] = cross[..., j, i], by_diagonal[..., i, j]
        return part * (factor[i] * factor[j])

    hessian = np.zeros((b, a1, a1, k, k))
    blocks = by_gradient.shape[1] if a1 > 1 else 1  # pairs have a block each, or all the same one
    left = basis[:, :, 0].reshape(b, blocks, -1, k)
    right = (form(0, 1) @ basis[:, :, 1]).reshape(b, blocks, -1, k)
    between = np.swapaxes(left, -1, -2) @ right
    first, second = pairs.first[:blocks], pairs.second[:blocks]
    hessian[:, first, second] += between
    hessian[:, second, first] += np.swapaxes(between, -1, -2)
    secret, cell = np.arange(a1), np.arange(a1 * k)
    for i, members in enumerate(pairs.of_part):
        left = basis[:, members, i].reshape(b, a1, -1, k)
        right = (form(i, i)[:, members] @ basis[:, members, i]).reshape(b, a1, -1, k)
        hessian[:, secret, secret] += np.swapaxes(left, -1, -2) @ right
        row_diagonal = row_diagonal + factor[i] ** 2 * diagonal[:, members, i].sum(axis=2)
    whole = np.ascontiguousarray(np.moveaxis(hessian, 3, 2)).reshape(b, a1 * k, a1 * k)
    whole[:, cell, cell] += row_diagonal.reshape(b, -1)
    return whole


def _inverse_2x2(matrix: Floats) -> Floats:
    (a, b), (_, d) = np.moveaxis(matrix, (-2, -1), (0, 1))
    inverse = np.stack([np.stack([d, -b], -1), np.stack([-b, a], -1)], -2)
    return inverse / (a * d - b * b)[..., None, None]


def _inverse(matrices: Floats) -> Floats | None:
    """Inverse of positive definite matrices, scaled to a unit diagonal and regularised."""
    unit = 1.0 / np.sqrt(np.einsum("yii->yi", matrices))
    both = unit[:, :, None] * unit[:, None, :]
    scaled = matrices * both
    halves = np.empty_like(matrices)
    for y, matrix in enumerate(scaled):
        for added in _REGULARISATIONS:
            np.fill_diagonal(matrix, 1.0 + added)
            root, failed = dpotrf(matrix.T, lower=1)
            if not failed:
                break
        else:
            return None
        halves[y], _ = dpotri(root, lower=1)
    lower = np.tril(halves)
    inverse = lower + np.swapaxes(lower, -1, -2)
    np.einsum("yii->yi", inverse)[:] *= 0.5
    return inverse * both


class Coupling:
    """What is left once the rows are eliminated: columns sum to 1, and a robust cost.

    A robust cost depends on the rows through the expected costs of the cells, whose multipliers
    are a distribution of X, and through one λ of its own, its *top*.

    Parameters
    ----------
    rows : RowSystem
        The factorised rows.
    cost : array of shape (b, a)
        Cost of each report in each cell.
    curvature : array of shape (a, a) or None
        Hessian of a robust cost by the expected costs of the cells; None for a linear cost.
    """

    def __init__(self, rows: RowSystem, cost: Floats, curvature: Floats | None) -> None:
        self._rows, self._cost, self._curvature = rows, cost, curvature
        columns = rows.inverse.sum(axis=0)
        if curvature is None:
            self._unit = 1.0 / np.sqrt(np.diagonal(columns))
            self._system = columns * self._unit[:, None] * self._unit
            return
        mixed = np.einsum("yij,yj->ij", rows.inverse, cost)
        cells = np.einsum("yi,yij,yj->ij", cost, rows.inverse, cost)
        scale = 1.0 / (1.0 + np.diagonal(curvature))
        # Of order one, as the rest of the system is.
        self._scaled = scaled = curvature / (1.0 + np.diagonal(curvature))[:, None]
        a = len(columns)
        self._system = np.block(
            [  # unknowns: multipliers of the columns, those of the cells, step of the top
                [columns, -mixed, np.zeros((a, 1))],
                [-scaled @ mixed.T, np.diag(scale) + scaled @ cells, scaled.sum(axis=1)[:, None]],
                [np.zeros((1, a)), np.ones((1, a)), np.zeros((1, 1))],
            ]
        )

    def solve(
        self, gradient: Floats, column_residual: Floats, by_cell: Floats, by_top: float
    ) -> tuple[Floats, float]:
        """Solve the Newton equations, with iterative refinement.

        Parameters
        ----------
        gradient : array of shape (b, a)
            Gradient by the rows; of a robust cost, without the part that goes through the cells.
        column_residual : array of shape (a,)
            What the columns lack to 1.
        by_cell : array of shape (a,)
            Gradient of a robust cost by the expected costs of the cells.
        by_top : float
            Gradient of a robust cost by its top.

        Returns
        -------
        step : array of shape (b, a)
            Step of the rows.
        top : float
            Step of the top.
        """
        step, columns, distribution, top = self._solve(gradient, column_residual, by_cell, by_top)
        for _ in range(_REFINEMENTS):
            left = gradient + _times(self._rows.hessian, step) - columns
            left_cell, left_top = by_cell, by_top
            if self._curvature is not None:
                left += self._cost * distribution
                second = self._curvature @ (np.einsum("yx,yx->x", step, self._cost) - top)
                left_cell, left_top = by_cell + second - distribution, by_top - float(second.sum())
            more = self._solve(left, column_residual - step.sum(axis=0), left_cell, left_top)
            step, columns = step + more[0], columns + more[1]
            distribution, top = distribution + more[2], top + more[3]
        return step, top

    def _solve(
        self, gradient: Floats, column_residual: Floats, by_cell: Floats, by_top: float
    ) -> _Solution:
        inverse, cost, a = self._rows.inverse, self._cost, gradient.shape[1]
        alone = _times(inverse, gradient)  # minus the step of the rows without the coupling
        rhs = column_residual + alone.sum(axis=0)
        if self._curvature is None:
            columns = self._unit * np.linalg.solve(self._system, self._unit * rhs)
            return inverse @ columns - alone, columns, np.zeros(a), 0.0
        cells = by_cell / (1.0 + np.diagonal(self._curvature))
        cells -= self._scaled @ np.einsum("yi,yi->i", cost, alone)
        total = [float(by_cell.sum()) + by_top]
        found = np.linalg.solve(self._system, np.concatenate([rhs, cells, total]))
        columns, distribution, top = found[:a], found[a:-1], float(found[-1])
        step = _times(inverse, columns - cost * distribution) - alone
        return step, columns, distribution, top


def _times(matrices: Floats, vectors: Floats) -> Floats:
    return (matrices @ vectors[..., None])[..., 0]
