"""The Newton system of the central path: rows, their blocks of constraints, and their coupling.

Each requirement is a *block* of constraints on every row. There is one Hessian for each row of the
mechanism; rows meet only where columns must sum to 1, and in a robust cost.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import lu_solve
from scipy.linalg.lapack import dgetrf, dpotrf, dpotri

from skrldp._typing import Floats
from skrldp.design.limits import ROUNDING, TIGHT, Workers
from skrldp.design.programs import Cuts

# Part of the way to the boundary that a step may go: the usual range of such codes is 0.9 to 0.995.
# Twice as near to it takes as many steps.
FRACTION_TO_BOUNDARY = 0.97
# Length of the step that the first one is assumed to follow. Twice as much takes as many steps.
FIRST_LENGTH = 0.5
# Fraction of the initial slack of each variable of a block. Twice as much leaves no slack.
INITIAL_MARGIN = 0.25
# Numbers in the Hessians of all rows, of which some five sets are kept: 2.7 GB. Twice as many take
# twice the memory.
MOST_IN_HESSIANS = 1 << 26


def farthest(bounds: Floats) -> Floats:
    """Keep a step away from the boundary.

    Shapes: `bounds` (..., 2). Returns array of the same shape: of the variables, and of the
    multipliers, at most 1.
    """
    return np.minimum(1.0, FRACTION_TO_BOUNDARY * bounds)


# A kind of positive variable, its step, its multiplier and that one's step.
Kind = tuple[Floats, Floats, Floats, Floats]


class LowRank(NamedTuple):
    """Hessians that are diagonal but for forms in few functions of a row."""

    diagonal: Floats  # (b, a), the diagonal
    basis: Floats  # (b, r, a), the functions
    form: Floats  # (b, r, r), a quadratic form in their values


class Block(ABC):
    """One requirement on all rows, with its own variables and their multipliers.

    The variables occur in this requirement alone, so they are eliminated from the Newton equations:
    what is left is a Hessian and a gradient for each row.
    """

    def of(self, place: slice) -> "Block":
        """Return a copy for some of the rows."""
        return copy(self)

    def of_rows(self, blocks: Sequence["Block"]) -> "Block":
        """Return a block for many rows, from the block of each, of which this is the first."""
        return self

    @abstractmethod
    def start(self, rows: Floats, mean: float) -> None:
        """Choose variables that are strictly inside, and multipliers.

        Shapes: `rows` (b, a).
        """

    @abstractmethod
    def scale_multipliers(self, factor: float) -> None:
        """Multiply all multipliers by a number."""

    @abstractmethod
    def variables(self, rows: Floats) -> list[tuple[Floats, Floats]]:
        """Return the positive variables, each kind with its multipliers.

        Shapes: `rows` (b, a).
        """

    @abstractmethod
    def hessian(self, rows: Floats) -> Floats:
        """Linearise the requirement.

        Shapes: `rows` (b, a). Returns (b, a, a): what it adds to the Hessian of each row.
        """

    def low_rank(self, rows: Floats) -> LowRank | None:
        """Linearise the requirement as :meth:`hessian` does, where that is of low rank.

        Shapes: `rows` (b, a). Returns LowRank or None: where it is not, nothing is done.
        """
        return None

    @abstractmethod
    def gradient(self, targets: Sequence[Floats]) -> Floats:
        """Eliminate the block's own variables from the right-hand side.

        Returns (b, a): what the requirement adds to the gradient of each row.
        """

    @abstractmethod
    def step(self, rows: Floats) -> list[Kind]:
        """Find the steps of the block's own variables from that of the rows.

        Shapes: `rows` (b, a). Returns list of Kind: the positive variables and multipliers with
        their steps.
        """

    @abstractmethod
    def take(self, length: Floats, dual_length: Floats) -> None:
        """Take a part of the last step.

        Shapes: `length` and `dual_length` (b,).
        """

    @abstractmethod
    def cuts(self, rows: Floats) -> tuple[Cuts, Floats]:
        """Write the multipliers as cuts and the dual variables of these.

        Shapes: `rows` (b, a). Returns `cuts`: with conditionals of the region; `multipliers` (m,):
        in units of the path's cost.
        """


def by_row(of_rows: Floats, like: Floats) -> Floats:
    """Shape what each row has so that it is broadcast along all else.

    Shapes: `of_rows` (b,); `like` (b, ...); returns (b, 1, ..., 1).
    """
    return of_rows.reshape(-1, *(1,) * (like.ndim - 1))


def dual_step(target: Floats, amount: Floats, step: Floats, dual: Floats) -> Floats:
    """Find the step of a multiplier, so that its product with the variable is what is aimed at.

    Shapes: `target` and `amount` and `step` and `dual` (b, ...).
    """
    found: Floats = (target - dual * step) / amount - dual
    return found


# Numbers in the Hessians of one part: so many that threads seldom wait for one another, and so few
# that there is a part for each. Fixed, so that sums are the same however many threads work. With
# twice as many, single rows take 1.6 times as long at 90 cells: memory is allocated again.
_ENTRIES = 250_000


class Part:
    """Some rows, their multipliers, and the constraints on them.

    Parameters
    ----------
    place : slice
        Which of all rows they are.
    rows : array of shape (b, a)
        Rows of positive numbers, all equal.
    blocks : list of Block
        The requirements on each row; each part has its own blocks.
    mean : float
        The product of each positive variable and its multiplier, to begin with.

    Attributes
    ----------
    hessian, inverse : arrays of shape (b, a, a)
        The Hessian of each row, and nearly its inverse.
    """

    def __init__(self, place: slice, rows: Floats, blocks: list[Block], mean: float) -> None:
        self.place, self.rows = place, rows
        self.blocks = [block.of(place) for block in blocks]
        for block in self.blocks:
            block.start(rows, mean)
        self.dual_rows = mean / rows
        self.hessian: Floats
        self.inverse: Floats
        self._low: LowRank | None = None
        self._kinds: list[Kind] = []

    def scale_multipliers(self, factor: float) -> None:
        """Multiply all multipliers by a number."""
        for block in self.blocks:
            block.scale_multipliers(factor)
        self.dual_rows = self.dual_rows * factor

    def complementarity(self) -> tuple[Floats, int]:
        """Add up the products of the positive variables and their multipliers.

        Returns `total` (b,): for each row; `count`: number of variables of a row.
        """
        variables = [(self.rows, self.dual_rows)]
        for block in self.blocks:
            variables += block.variables(self.rows)
        total = sum(_of_rows(amount * dual).sum(axis=1) for amount, dual in variables)
        count = sum(amount.size for amount, _ in variables) // len(self.rows)
        return np.asarray(total), count

    def factorise(self) -> None:
        """Compute the Hessian of each row, and its inverse; ``LinAlgError`` if it has none."""
        self.linearise(plain=True)
        self.inverse = inverses(self.hessian)

    def linearise(self, plain: bool = False) -> None:
        """Compute the Hessian of each row, as far as :meth:`solve` needs it unless plain.

        Raises ``LinAlgError`` if rounding has left none.
        """
        diagonal = self.dual_rows / self.rows
        found = [] if plain else [block.low_rank(self.rows) for block in self.blocks]
        low = [one for one in found if one is not None]
        self._low = None
        if low and len(low) == len(found):
            diagonal += sum(one.diagonal for one in low)
            basis = np.concatenate([one.basis for one in low], axis=1)
            self._low = LowRank(diagonal, basis, _block_diagonal([one.form for one in low]))
            return
        hessian = np.zeros((*self.rows.shape, self.rows.shape[1]))
        for block in self.blocks:
            hessian += block.hessian(self.rows)
        np.einsum("yii->yi", hessian)[:] += diagonal
        self.hessian = hessian

    def solve(self, right: Floats) -> Floats:
        """Solve the equations of each row for some right-hand sides.

        Shapes: `right` (b, a, n); returns (b, a, n). Raises ``LinAlgError`` where they are
        singular.
        """
        if self._low is None:
            return np.asarray(np.linalg.solve(self.hessian, right))
        diagonal, basis = self._low.diagonal[..., None], self._low.basis
        alone = right / diagonal
        weighted = self._low.form @ basis
        inner = weighted @ (np.swapaxes(basis, 1, 2) / diagonal)
        np.einsum("yii->yi", inner)[:] += 1.0
        found = np.linalg.solve(inner, weighted @ alone)  # Woodbury's identity
        return np.asarray(alone - np.swapaxes(basis, 1, 2) @ found / diagonal)

    def gradient(self, barrier: float | Floats) -> Floats:
        """Eliminate the variables of the blocks from the right-hand side.

        Shapes: `barrier` (b,). Returns (b, a): gradient by the rows, without that of the cost.
        """
        of_rows = np.broadcast_to(barrier, len(self.rows))
        self._targets = [[by_row(of_rows, self.rows)]]
        for block in self.blocks:
            amounts = [amount for amount, _ in block.variables(self.rows)]
            self._targets.append([by_row(of_rows, amount) for amount in amounts])
        gradient: Floats = -self._targets[0][0] / self.rows
        for block, targets in zip(self.blocks, self._targets[1:], strict=True):
            gradient += block.gradient(targets)
        return gradient

    def find_steps(self, step: Floats) -> Floats:
        """Find the steps of all variables and multipliers from that of the rows.

        Shapes: `step` (b, a). Returns (b, 2): how many steps it takes until the first variable of
        each row, or the first multiplier, is zero.
        """
        dual = dual_step(self._targets[0][0], self.rows, step, self.dual_rows)
        self._step, self._dual_step = step, dual
        self._kinds = [(self.rows, step, self.dual_rows, dual)]
        for block in self.blocks:
            self._kinds += block.step(step)
        fastest = [
            np.max([_of_rows(-kind[i + 1] / kind[i]).max(axis=1) for kind in self._kinds], axis=0)
            for i in (0, 2)
        ]
        with np.errstate(divide="ignore"):
            return 1.0 / np.abs(np.maximum(np.stack(fastest, axis=1), 0.0))  # no negative zero

    def products(self, lengths: Floats) -> Floats:
        """Add up the products of variables and multipliers after a part of the step.

        Shapes: `lengths` (b, 2). Returns (b,): the sum of each row.
        """
        total = np.zeros(len(self.rows))
        for amount, change, dual, dual_change in self._kinds:
            product = _of_rows(amount) + _of_rows(change) * lengths[:, :1]
            product *= _of_rows(dual) + _of_rows(dual_change) * lengths[:, 1:]
            total += product.sum(axis=1)
        return total

    def take(self, lengths: Floats) -> None:
        """Take a part of the step.

        Shapes: `lengths` (b, 2).
        """
        for block in self.blocks:
            block.take(lengths[:, 0], lengths[:, 1])
        self.rows = self.rows + lengths[:, :1] * self._step
        self.dual_rows = self.dual_rows + lengths[:, 1:] * self._dual_step


def parts_of(b: int, a: int) -> list[slice]:
    """Divide rows into parts with this many entries of Hessians."""
    size = max(_ENTRIES // a**2, 1)
    number = -(-b // size)
    ends = [b * i // number for i in range(number + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]


def _block_diagonal(forms: list[Floats]) -> Floats:
    """Put quadratic forms together that are in different functions."""
    ends = np.cumsum([0, *(form.shape[1] for form in forms)])
    whole = np.zeros((len(forms[0]), ends[-1], ends[-1]))
    for form, (first, last) in zip(forms, pairwise(ends), strict=True):
        whole[:, first:last, first:last] = form
    return whole


def _of_rows(table: Floats) -> Floats:
    return table.reshape(len(table), -1)


# --- The system that couples the rows -------------------------------------------------------------


def inverses(matrices: Floats) -> Floats:
    """Invert positive definite matrices, scaled to a unit diagonal and regularised.

    Shapes: `matrices` (b, a, a). Returns (b, a, a): nearly the inverses. Raises ``LinAlgError`` if
    rounding has made a matrix indefinite.
    """
    diagonal = np.einsum("yii->yi", matrices)
    if not np.all((diagonal > 0.0) & (diagonal < np.inf)):
        raise np.linalg.LinAlgError("a diagonal is not positive")
    unit = 1.0 / np.sqrt(diagonal)
    both = unit[:, :, None] * unit[:, None, :]
    scaled, diagonal_of = matrices * both, np.diag_indices(matrices.shape[-1])
    lower = np.empty_like(scaled)
    for place, matrix in enumerate(scaled):
        for added in (np.finfo(float).eps, ROUNDING, TIGHT):  # the least with which it succeeds
            matrix[diagonal_of] = 1.0 + added
            factor, is_indefinite = dpotrf(matrix, lower=1, clean=0)
            if not is_indefinite:
                lower[place] = dpotri(factor, lower=1)[0]
                break
        else:
            raise np.linalg.LinAlgError("rounding has made a matrix indefinite")
    inverse = np.tril(lower)
    inverse += np.swapaxes(np.tril(lower, -1), -1, -2)
    inverse *= both
    return inverse


def _factorised(system: Floats) -> tuple[Floats, Floats]:
    """Factorise a square system; raises LinAlgError if it is singular, of which SciPy warns."""
    factors, pivots, zero = dgetrf(system)
    if zero:
        raise np.linalg.LinAlgError(f"pivot {zero} is zero")
    return factors, pivots


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
            self._factors = _factorised(columns * self._unit[:, None] * self._unit)
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
        self._factors = _factorised(system)

    def solve(
        self, gradient: Floats, column_residual: Floats, by_cell: Floats, by_top: float
    ) -> tuple[Floats, float]:
        """Solve the Newton equations, with one step of iterative refinement.

        Shapes: `gradient` (b, a); `column_residual` (a,); `by_cell` (a,). Returns `step` (b, a):
        step of the rows; `top`: step of the top.
        """
        step, columns, distribution, top = self._solve(gradient, column_residual, by_cell, by_top)
        left = gradient + self._forms.times(step) - columns
        if self._curvature is not None:
            left += self._cost * distribution
            second = self._curvature @ (np.einsum("yx,yx->x", step, self._cost) - top)
            by_cell, by_top = by_cell + second - distribution, by_top - float(second.sum())
        more = self._solve(left, column_residual - step.sum(axis=0), by_cell, by_top)
        return step + more[0], top + more[3]

    def _solve(
        self, gradient: Floats, column_residual: Floats, by_cell: Floats, by_top: float
    ) -> tuple[Floats, Floats, Floats, float]:
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
