"""The Newton system of the central path: one Hessian for each row of the mechanism.

The λ of a pair of secrets occur in one inequality only, so they are eliminated there and then: what
a pair adds to the Hessian of its row is a diagonal and a form in two vectors for each secret.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from skrldp._typing import Floats
from skrldp.design.interior_point._pairs import PairFunction

__all__ = ["Coupling", "RowSystem", "row_system"]

_Solution = tuple[Floats, Floats, Floats, float]

_REFINEMENTS = 2  # of each solve: they undo what made the inverses exist
_LIFTS = (1e-15, 1e-13, 1e-11)  # added to the unit diagonal, so that Cholesky's method succeeds


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
    tilt : array of shape (b, m, 2)
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
    tilt: Floats
    hessian: Floats
    inverse: Floats

    def force(self, weight: Floats, barrier: Floats) -> tuple[Floats, Floats]:
        """Take the gradient by the rows once the λ are eliminated.

        Parameters
        ----------
        weight : array of shape (b, m)
            Price that φ - Σλ is to have.
        barrier : array of shape (b, m, 2, k)
            Prices that the x are to have.

        Returns
        -------
        force : array of shape (b, parts, k)
        eased : array of shape (b, m, 2)
            Step of the λ if the rows stay, negated.
        """
        push = weight[..., None, None] * (self.slope[..., None] * self.gradient)
        eased = np.zeros_like(self.tilt)
        if not self.pairs.fixed:
            push += barrier
            pull = -weight[..., None] * self.tilt - barrier.sum(axis=-1)
            eased = np.einsum("bmij,bmj->bmi", self.inner, pull)
            push += self.diagonal * eased[..., None]
            along = np.einsum("bmij,bmj->bmi", self.mixed, eased)
            push += self.gradient * along[..., None]
        return self.pairs.collect(push), eased

    def follow(self, rows: Floats, eased: Floats) -> tuple[Floats, Floats, Floats]:
        """Take the steps of what depends on the rows.

        Parameters
        ----------
        rows : array of shape (b, parts, k)
            Step of the rows.
        eased : array of shape (b, m, 2)
            From :meth:`force`.

        Returns
        -------
        lam : array of shape (b, m, 2)
        x : array of shape (b, m, 2, k)
        slack : array of shape (b, m)
            It takes the residual back.
        """
        parts = self.pairs.parts(rows)
        lam = np.zeros_like(eased)
        if not self.pairs.fixed:
            across = np.einsum("bmiu,bmiu->bmi", self.gradient, parts)
            fallen = np.einsum("bmiu,bmiu->bmi", self.diagonal, parts)
            fallen += np.einsum("bmij,bmi->bmj", self.mixed, across)
            lam = np.einsum("bmij,bmj->bmi", self.inner, fallen) - eased
        x = lam[..., None] - parts
        slack = np.einsum("bmi,bmiu,bmiu->bm", self.slope, self.gradient, x)
        slack += self.residual - lam.sum(axis=-1)
        return lam, x, slack


def row_system(
    pairs: PairFunction,
    lam: Floats,
    x: Floats,
    price_x: Floats,
    slack: Floats,
    price: Floats,
    own: Floats,
) -> RowSystem | None:
    """Linearise the privacy of all rows and factorise it.

    Parameters
    ----------
    pairs : PairFunction
        Privacy of each pair of secrets.
    lam : array of shape (b, m, 2)
        The λ.
    x, price_x : arrays of shape (b, m, 2, k)
        ``λ - q`` and its prices.
    slack, price : arrays of shape (b, m)
        What stands for φ - Σλ, and its prices.
    own : array of shape (b, parts, k)
        Diagonal that the rows have anyway.

    Returns
    -------
    RowSystem or None
        None if rounding has made a Hessian indefinite.
    """
    value, slope, curve, gradient = pairs(x)
    weight = price[..., None, None]
    stiffness = (price / slack)[..., None, None]
    core = slope[..., :, None] * slope[..., None, :] * stiffness
    if pairs.fixed:
        diagonal, tilt = np.zeros_like(x), np.zeros_like(slope)
        mixed = inner = np.zeros_like(curve)
    else:
        curve = curve * weight
        diagonal = price_x / x
        diagonal += weight * (slope * (1.0 - pairs.theta))[..., None] * gradient / x
        sums = gradient.sum(axis=-1)
        tilt = slope * sums - 1.0
        mixed = curve * sums[..., None, :] + slope[..., :, None] * tilt[..., None, :] * stiffness
        by_lam = sums[..., :, None] * curve * sums[..., None, :]
        by_lam += tilt[..., :, None] * tilt[..., None, :] * stiffness
        for i in (0, 1):
            by_lam[..., i, i] += diagonal[..., i, :].sum(axis=-1)
        inner = _inverse_2x2(by_lam)
        core += curve - mixed @ inner @ np.swapaxes(mixed, -1, -2)
    hessian = _assemble(pairs, gradient, diagonal, (core, -mixed @ inner, -inner), own)
    inverse = _inverse(hessian)
    if inverse is None:
        return None
    residual = value - lam.sum(axis=-1) - slack
    return RowSystem(
        pairs, residual, gradient, slope, diagonal, mixed, inner, tilt, hessian, inverse
    )


def _assemble(
    pairs: PairFunction,
    gradient: Floats,
    diagonal: Floats,
    forms: tuple[Floats, Floats, Floats],
    own: Floats,
) -> Floats:
    """Hessian of each row: a diagonal, and for each pair a form in (gradient, diagonal)."""
    b, a1, k = own.shape
    core, cross, corner = forms
    basis = np.stack([gradient, diagonal], axis=3)  # (b, m, 2, 2, k)
    factor = pairs.factor[:, 0]

    def form(i: int, j: int) -> Floats:
        part = np.empty((*core.shape[:2], 2, 2))
        part[..., 0, 0], part[..., 0, 1] = core[..., i, j], cross[..., i, j]
        part[..., 1, 0], part[..., 1, 1] = cross[..., j, i], corner[..., i, j]
        return part * (factor[i] * factor[j])

    hessian = np.zeros((b, a1, a1, k, k))
    blocks = core.shape[1] if a1 > 1 else 1  # pairs have a block each, or all the same one
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
        own = own + factor[i] ** 2 * diagonal[:, members, i].sum(axis=2)
    whole = np.ascontiguousarray(np.moveaxis(hessian, 3, 2)).reshape(b, a1 * k, a1 * k)
    whole[:, cell, cell] += own.reshape(b, -1)
    return whole


def _inverse_2x2(matrix: Floats) -> Floats:
    (a, b), (_, d) = np.moveaxis(matrix, (-2, -1), (0, 1))
    inverse = np.stack([np.stack([d, -b], -1), np.stack([-b, a], -1)], -2)
    return inverse / (a * d - b * b)[..., None, None]


def _inverse(matrices: Floats) -> Floats | None:
    """Inverse of positive definite matrices, scaled to a unit diagonal and lifted a little."""
    unit = 1.0 / np.sqrt(np.einsum("yii->yi", matrices))
    both = unit[:, :, None] * unit[:, None, :]
    scaled = matrices * both
    halves = np.empty_like(matrices)
    for y, matrix in enumerate(scaled):
        for lift in _LIFTS:
            np.fill_diagonal(matrix, 1.0 + lift)
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
    are a law, and through one λ of its own, its *top*.

    Parameters
    ----------
    rows : RowSystem
        The factorised rows.
    cost : array of shape (b, a)
        Cost of each report in each cell.
    curve : array of shape (a, a) or None
        Hessian of a robust cost by the expected costs of the cells; None for a linear cost.
    """

    def __init__(self, rows: RowSystem, cost: Floats, curve: Floats | None) -> None:
        self._rows, self._cost, self._curve = rows, cost, curve
        plain = rows.inverse.sum(axis=0)
        if curve is None:
            self._unit = 1.0 / np.sqrt(np.diagonal(plain))
            self._system = plain * self._unit[:, None] * self._unit
            return
        half = np.einsum("yij,yj->ij", rows.inverse, cost)
        full = np.einsum("yi,yij,yj->ij", cost, rows.inverse, cost)
        a = len(plain)
        self._bend = curve / (1.0 + np.diagonal(curve))[:, None]  # of order one, as the rest
        system = np.zeros((2 * a + 1, 2 * a + 1))
        system[:a, :a], system[:a, a:-1] = plain, -half
        system[a:-1, :a] = -self._bend @ half.T
        system[a:-1, a:-1] = np.diag(1.0 / (1.0 + np.diagonal(curve))) + self._bend @ full
        system[a:-1, -1] = self._bend.sum(axis=1)
        system[-1, a:-1] = 1.0  # the law is one
        self._system = system

    def solve(
        self, force: Floats, short: Floats, by_cell: Floats, by_top: float
    ) -> tuple[Floats, float]:
        """Solve the Newton equations.

        Parameters
        ----------
        force : array of shape (b, a)
            Gradient by the rows; of a robust cost, without the part that goes through the cells.
        short : array of shape (a,)
            What the columns lack to 1.
        by_cell : array of shape (a,)
            Gradient of a robust cost by the expected costs of the cells.
        by_top : float
            Gradient of a robust cost by its top.

        Returns
        -------
        change : array of shape (b, a)
            Step of the rows.
        top : float
            Step of the top.
        """
        change, columns, law, top = self._solve(force, short, by_cell, by_top)
        for _ in range(_REFINEMENTS):
            left = force + _times(self._rows.hessian, change) - columns
            left_cell, left_top = by_cell, by_top
            if self._curve is not None:
                left += self._cost * law
                bent = self._curve @ (np.einsum("yx,yx->x", change, self._cost) - top)
                left_cell, left_top = by_cell + bent - law, by_top - float(bent.sum())
            more = self._solve(left, short - change.sum(axis=0), left_cell, left_top)
            change, columns = change + more[0], columns + more[1]
            law, top = law + more[2], top + more[3]
        return change, top

    def _solve(self, force: Floats, short: Floats, by_cell: Floats, by_top: float) -> _Solution:
        inverse, cost, a = self._rows.inverse, self._cost, force.shape[1]
        moved = _times(inverse, force)
        right = short + moved.sum(axis=0)
        if self._curve is None:
            columns = self._unit * np.linalg.solve(self._system, self._unit * right)
            return inverse @ columns - moved, columns, np.zeros(a), 0.0
        cells = by_cell / (1.0 + np.diagonal(self._curve))
        cells -= self._bend @ np.einsum("yi,yi->i", cost, moved)
        total = [float(by_cell.sum()) + by_top]
        found = np.linalg.solve(self._system, np.concatenate([right, cells, total]))
        columns, law, top = found[:a], found[a:-1], float(found[-1])
        change = _times(inverse, columns - cost * law) - moved
        return change, columns, law, top


def _times(matrices: Floats, vectors: Floats) -> Floats:
    return (matrices @ vectors[..., None])[..., 0]
