"""The Newton system of the central path: one Hessian for each row of the mechanism.

Rows meet only where columns must sum to 1, and in a robust cost.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from skrldp._typing import Floats
from skrldp.design.run import Workers

__all__ = ["Coupling", "inverses"]

_Solution = tuple[Floats, Floats, Floats, float]

# Chosen by hand. Doubled one at a time (benchmarks/bench_constants.py) they change nothing before
# the 13th digit.

# Steps of iterative refinement of each solve, at most: they undo the regularisation below. Each
# multiplies the error by about what the last one changed, relative to the solution, so one that
# changed less than this is the last.
_REFINEMENTS, _REFINED = 2, 1e-6
# Regularisation: what is added to a unit diagonal, the least of these with which Cholesky's method
# succeeds. It begins at a few units of rounding.
_REGULARISATIONS = (1e-15, 1e-13, 1e-11)
_SMALL = 16  # size up to which matrices are inverted from their Cholesky factor


def inverses(matrices: Floats) -> Floats | None:
    """Invert positive definite matrices, scaled to a unit diagonal and regularised.

    By halves: the inverse of a leading block and that of its Schur complement make up the whole,
    so that nearly all work is products of matrices. SciPy's inverse from a Cholesky factor has a
    quarter less to do, but does so more slowly, and keeps other threads waiting.

    Shapes: `matrices` (b, a, a). Returns (b, a, a): nearly the inverses; None if rounding has made
    a matrix indefinite.
    """
    diagonal = np.einsum("yii->yi", matrices)
    if not np.all((diagonal > 0.0) & (diagonal < np.inf)):
        return None
    unit = 1.0 / np.sqrt(diagonal)
    both = unit[:, :, None] * unit[:, None, :]
    scaled = matrices * both
    diagonal = np.einsum("yii->yi", scaled)
    diagonal[:] = 1.0 + _REGULARISATIONS[0]
    try:
        return _inverse(scaled) * both
    except np.linalg.LinAlgError:  # of one or more of them
        found = np.empty_like(scaled)
    for y, matrix in enumerate(scaled):
        for added in _REGULARISATIONS:
            diagonal[y] = 1.0 + added
            try:
                found[y] = _inverse(matrix)
                break
            except np.linalg.LinAlgError:
                continue
        else:
            return None
    return found * both


def _inverse(matrices: Floats) -> Floats:
    """Invert positive definite matrices; LinAlgError if one is not."""
    a = matrices.shape[-1]
    if a <= _SMALL:
        half = np.linalg.inv(np.linalg.cholesky(matrices))
        return np.swapaxes(half, -1, -2) @ half
    h = a // 2
    inverse = np.empty_like(matrices)
    mixed = matrices[..., :h, h:]
    first = _inverse(matrices[..., :h, :h])
    weights = first @ mixed
    last = _inverse(matrices[..., h:, h:] - np.swapaxes(mixed, -1, -2) @ weights)
    corner = weights @ last
    inverse[..., h:, h:] = last
    inverse[..., :h, :h] = first + corner @ np.swapaxes(weights, -1, -2)
    np.negative(corner, out=inverse[..., :h, h:])
    inverse[..., h:, :h] = np.swapaxes(inverse[..., :h, h:], -1, -2)
    return inverse


class Part(Protocol):
    """Some rows, with the Hessian of each and its inverse, both of shape (b, a, a)."""

    place: slice
    hessian: Floats
    inverse: Floats


class _Forms:
    """The Hessians of all rows, and their inverses, in parts that are worked on side by side."""

    def __init__(self, parts: Sequence[Part], workers: Workers) -> None:
        self._parts, self._workers = parts, workers

    def times(self, vectors: Floats) -> Floats:
        """Multiply each row's Hessian with a vector."""
        return self._rows(lambda part: _times(part.hessian, vectors[part.place]))

    def solve(self, vectors: Floats) -> Floats:
        """Multiply the inverse of each row's Hessian with a vector, shape (b, a)."""
        return self._rows(lambda part: _times(part.inverse, vectors[part.place]))

    def solve_all(self, vector: Floats) -> Floats:
        """Multiply the inverse of each row's Hessian with the same vector, shape (a,)."""
        return self._rows(lambda part: part.inverse @ vector)

    def total(self, of_part: Callable[[Part], Floats]) -> Floats:
        """Add up something of each part."""
        found = self._workers.map(of_part, self._parts)
        return np.asarray(sum(found[1:], start=found[0]))

    def _rows(self, of_part: Callable[[Part], Floats]) -> Floats:
        return np.concatenate(self._workers.map(of_part, self._parts))


class Coupling:
    """What is left once the rows are eliminated: columns sum to 1, and a robust cost.

    A robust cost depends on the rows through the expected costs of the cells, whose multipliers
    are a distribution of X, and through one λ of its own, its *top*.

    Parameters
    ----------
    parts : sequence of Part
        All rows, with the Hessian of each and (nearly) its inverse.
    workers : Workers
        Who does the work.
    cost : array of shape (b, a)
        Cost of each report in each cell.
    curvature : array of shape (a, a) or None
        Hessian of a robust cost by the expected costs of the cells; None for a linear cost.
    """

    def __init__(
        self, parts: Sequence[Part], workers: Workers, cost: Floats, curvature: Floats | None
    ) -> None:
        self._forms = _Forms(parts, workers)
        self._cost, self._curvature = cost, curvature
        columns = self._forms.total(lambda part: part.inverse.sum(axis=0))
        if curvature is None:
            self._unit = 1.0 / np.sqrt(np.diagonal(columns))
            self._factors = lu_factor(columns * self._unit[:, None] * self._unit)
            return
        mixed = self._forms.total(
            lambda part: np.einsum("yij,yj->ij", part.inverse, cost[part.place])
        )
        cells = self._forms.total(
            lambda part: np.einsum(
                "yi,yij,yj->ij", cost[part.place], part.inverse, cost[part.place]
            )
        )
        scale = 1.0 / (1.0 + np.diagonal(curvature))
        # Of order one, as the rest of the system is.
        self._scaled = scaled = curvature / (1.0 + np.diagonal(curvature))[:, None]
        a = len(columns)
        system = np.block(
            [  # unknowns: multipliers of the columns, those of the cells, step of the top
                [columns, -mixed, np.zeros((a, 1))],
                [-scaled @ mixed.T, np.diag(scale) + scaled @ cells, scaled.sum(axis=1)[:, None]],
                [np.zeros((1, a)), np.ones((1, a)), np.zeros((1, 1))],
            ]
        )
        self._factors = lu_factor(system)

    def solve(
        self, gradient: Floats, column_residual: Floats, by_cell: Floats, by_top: float
    ) -> tuple[Floats, float]:
        """Solve the Newton equations, with iterative refinement.

        Shapes: `gradient` (b, a); `column_residual` (a,); `by_cell` (a,). Returns `step` (b, a):
        step of the rows; `top`: step of the top.
        """
        step, columns, distribution, top = self._solve(gradient, column_residual, by_cell, by_top)
        for _ in range(_REFINEMENTS):
            left = gradient + self._forms.times(step) - columns
            left_cell, left_top = by_cell, by_top
            if self._curvature is not None:
                left += self._cost * distribution
                second = self._curvature @ (np.einsum("yx,yx->x", step, self._cost) - top)
                left_cell, left_top = by_cell + second - distribution, by_top - float(second.sum())
            more = self._solve(left, column_residual - step.sum(axis=0), left_cell, left_top)
            step, columns = step + more[0], columns + more[1]
            distribution, top = distribution + more[2], top + more[3]
            if np.linalg.norm(more[0]) <= _REFINED * np.linalg.norm(step):
                break
        return step, top

    def _solve(
        self, gradient: Floats, column_residual: Floats, by_cell: Floats, by_top: float
    ) -> _Solution:
        cost, a = self._cost, gradient.shape[1]
        alone = self._forms.solve(gradient)  # minus the step of the rows without the coupling
        rhs = column_residual + alone.sum(axis=0)
        if self._curvature is None:
            columns = self._unit * lu_solve(self._factors, self._unit * rhs)
            return self._forms.solve_all(columns) - alone, columns, np.zeros(a), 0.0
        cells = by_cell / (1.0 + np.diagonal(self._curvature))
        cells -= self._scaled @ np.einsum("yi,yi->i", cost, alone)
        total = [float(by_cell.sum()) + by_top]
        found = lu_solve(self._factors, np.concatenate([rhs, cells, total]))
        columns, distribution, top = found[:a], found[a:-1], float(found[-1])
        step = self._forms.solve(columns - cost * distribution) - alone
        return step, columns, distribution, top


def _times(matrices: Floats, vectors: Floats) -> Floats:
    return (matrices @ vectors[..., None])[..., 0]
