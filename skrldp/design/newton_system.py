"""The Newton system of the central path: rows, their blocks of constraints, and their coupling.

Each requirement is a *block* of constraints on every row. Each row of the mechanism has a separate
Hessian. Rows are coupled only by the condition that columns sum to 1, and by a robust cost.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import lu_solve
from scipy.linalg.lapack import dgetrf, dpotrf, dpotri

from skrldp._typing import Floats
from skrldp.design.limits import ROUNDING, TIGHT, Workers
from skrldp.design.programs import Cuts

# Maximum fraction of the distance to the boundary in a step; interior-point codes usually use 0.9
# to 0.995. Halving its distance from 1 does not change the number of steps.
FRACTION_TO_BOUNDARY = 0.97
# Fraction of the initial slack that each variable of a block uses. Doubling it leaves no slack.
INITIAL_MARGIN = 0.25
# Maximum entries in the Hessians of all rows. About five sets of them are in memory, 2.7 GB.
# Doubling it doubles the memory used.
MOST_IN_HESSIANS = 1 << 26


def farthest(bounds: Floats) -> Floats:
    """Keep a step away from the boundary.

    Shapes: `bounds` (..., 2). Returns array of the same shape: the lengths, at most 1, for the
    variables and for the multipliers.
    """
    return np.minimum(1.0, FRACTION_TO_BOUNDARY * bounds)


# A kind of positive variable, its step, its multiplier, and the multiplier's step.
Kind = tuple[Floats, Floats, Floats, Floats]


class LowRank(NamedTuple):
    """Hessians that are the sum of a diagonal and a quadratic form in a few functions of a row."""

    diagonal: Floats  # (b, a), the diagonal
    basis: Floats  # (b, r, a), the functions
    form: Floats  # (b, r, r), the form in their values


@dataclass(frozen=True, eq=False)
class Point:
    """Rows, a block's variables, and its positive amounts with their multipliers."""

    rows: Floats  # (b, a)
    variables: tuple[Floats, ...]  # each (b, ...)
    amounts: tuple[Floats, ...]  # each (b, ...), positive functions of the rows and variables
    multipliers: tuple[Floats, ...]  # with the shapes of the amounts


class Linearised(ABC):
    """A block linearised at a point, with its variables eliminated from the Newton equations.

    Attributes
    ----------
    gradient : array of shape (b, a)
        The requirement's contribution to the gradient of each row.
    """

    gradient: Floats

    @abstractmethod
    def hessian(self) -> Floats:
        """Return the requirement's contribution to the Hessian of each row, (b, a, a)."""

    def low_rank(self) -> LowRank | None:
        """Return the same contribution if it is of low rank, otherwise None."""
        return None

    @abstractmethod
    def steps(self, rows: Floats) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
        """Return the steps of the block's variables and of its amounts, given the step of the rows.

        Shapes: `rows` (b, a).
        """


class Block(ABC):
    """One requirement on all rows, with its own variables.

    The variables occur only in this requirement, so they are eliminated from the Newton equations,
    which leaves a Hessian and a gradient for each row.
    """

    def of(self, place: slice) -> "Block":
        """Return a copy of the block for a part of the rows."""
        return copy(self)

    def of_rows(self, blocks: Sequence["Block"]) -> "Block":
        """Combine the blocks of several rows, of which this is the first, into one block."""
        return self

    @abstractmethod
    def start(self, rows: Floats) -> tuple[Floats, ...]:
        """Choose variables in the interior of the constraints.

        Shapes: `rows` (b, a), positive numbers that are all equal.
        """

    @abstractmethod
    def amounts(self, rows: Floats, variables: tuple[Floats, ...]) -> tuple[Floats, ...]:
        """Return the amounts that must be positive.

        Shapes: `rows` (b, a).
        """

    @abstractmethod
    def linearise(self, point: Point, barrier: Floats) -> Linearised:
        """Linearise the requirement, with the barrier as the target of amounts times multipliers.

        Shapes: `barrier` (b,). Raises ``LinAlgError`` if rounding prevents a linearisation.
        """

    @abstractmethod
    def cuts(self, point: Point) -> tuple[Cuts, Floats]:
        """Convert the multipliers to cuts and their dual variables.

        Returns `cuts`, whose conditionals are in the region, and `multipliers` (m,), in units of
        the path's cost.
        """


def by_row(of_rows: Floats, like: Floats) -> Floats:
    """Reshape an array over rows so that it is broadcast along all other axes.

    Shapes: `of_rows` (b,); `like` (b, ...); returns (b, 1, ..., 1).
    """
    return of_rows.reshape(-1, *(1,) * (like.ndim - 1))


# Number of entries in the Hessians of one part: large enough that threads rarely wait, and small
# enough that there is a part for each thread. It is fixed, so that sums are the same for every
# number of threads. Doubling it takes 1.6 times as long for single rows at 90 cells, because memory
# is reallocated.
_ENTRIES = 250_000


class Part:
    """A part of the rows, their multipliers, and the constraints on them.

    Parameters
    ----------
    place : slice
        Their slice of all rows.
    rows : array of shape (b, a)
        Rows of positive numbers, all equal.
    blocks : list of Block
        The requirements on each row. Each part has its own copies.
    mean : float
        The initial product of each positive variable and its multiplier.
    """

    def __init__(self, place: slice, rows: Floats, blocks: list[Block], mean: float) -> None:
        self.place, self.rows, self.multipliers = place, rows, mean / rows
        self.blocks = [block.of(place) for block in blocks]
        self.points = []
        for block in self.blocks:
            variables = block.start(rows)
            amounts = block.amounts(rows, variables)
            multipliers = tuple(mean / amount for amount in amounts)
            self.points.append(Point(rows, variables, amounts, multipliers))

    def scale_multipliers(self, factor: float) -> None:
        """Multiply all multipliers by a number."""
        self.multipliers = self.multipliers * factor
        self.points = [
            replace(point, multipliers=tuple(each * factor for each in point.multipliers))
            for point in self.points
        ]

    def complementarity(self) -> tuple[Floats, int]:
        """Sum the products of the positive variables and their multipliers.

        Returns `total` (b,), the sum for each row, and `count`, the number of variables of a row.
        """
        pairs = [(self.rows, self.multipliers)]
        for point in self.points:
            pairs += zip(point.amounts, point.multipliers, strict=True)
        total = sum(_of_rows(amount * multiplier).sum(axis=1) for amount, multiplier in pairs)
        count = sum(amount.size for amount, _ in pairs) // len(self.rows)
        return np.asarray(total), count

    def linearise(self, barrier: float | Floats) -> "Equations":
        """Linearise the Newton equations of each row, with the barrier as the target of products.

        Shapes: `barrier` (b,). Raises ``LinAlgError`` if rounding prevents it.
        """
        of_rows = np.broadcast_to(barrier, len(self.rows))
        if any((amount <= 0.0).any() for point in self.points for amount in point.amounts):
            raise np.linalg.LinAlgError("rounding has left no slack")
        blocks = [
            block.linearise(point, of_rows)
            for block, point in zip(self.blocks, self.points, strict=True)
        ]
        return Equations(self, of_rows, blocks)

    def take(self, steps: "Steps", lengths: Floats) -> None:
        """Move along steps by given lengths.

        Shapes: `lengths` (b, 2): of the variables, and of the multipliers.
        """
        moved = iter(
            [_moved(multiplier, step, lengths[:, 1]) for *_, multiplier, step in steps.kinds]
        )
        self.rows = self.rows + lengths[:, :1] * steps.kinds[0][1]
        self.multipliers = next(moved)
        points = []
        for block, point, changes in zip(self.blocks, self.points, steps.variables, strict=True):
            variables = tuple(
                _moved(variable, change, lengths[:, 0])
                for variable, change in zip(point.variables, changes, strict=True)
            )
            amounts = block.amounts(self.rows, variables)
            points.append(Point(self.rows, variables, amounts, tuple(islice(moved, len(amounts)))))
        self.points = points


def _moved(values: Floats, steps: Floats, lengths: Floats) -> Floats:
    return values + by_row(lengths, values) * steps


class Equations:
    """The Newton equations of some rows at a point.

    Attributes
    ----------
    place : slice
        Their slice of all rows.
    gradient : array of shape (b, a)
        Gradient with respect to the rows, without that of the cost.
    """

    def __init__(self, part: Part, barrier: Floats, blocks: list[Linearised]) -> None:
        self.place = part.place
        self._rows, self._multipliers, self._points = part.rows, part.multipliers, part.points
        self._barrier, self._blocks = barrier, blocks
        gradient: Floats = -by_row(barrier, part.rows) / part.rows
        for block in blocks:
            gradient += block.gradient
        self.gradient = gradient

    @cached_property
    def hessian(self) -> Floats:
        """The Hessian of each row, (b, a, a)."""
        hessian = np.zeros((*self._rows.shape, self._rows.shape[1]))
        for block in self._blocks:
            hessian += block.hessian()
        np.einsum("yii->yi", hessian)[:] += self._multipliers / self._rows
        return hessian

    @cached_property
    def inverse(self) -> Floats:
        """Approximate inverse of each Hessian; raises ``LinAlgError`` if there is none."""
        return inverses(self.hessian)

    @cached_property
    def low_rank(self) -> LowRank | None:
        """The Hessians in low-rank form if all blocks allow it, otherwise None."""
        each = [block.low_rank() for block in self._blocks]
        low = [form for form in each if form is not None]
        if not low or len(low) < len(each):
            return None
        diagonal = self._multipliers / self._rows
        diagonal += sum(form.diagonal for form in low)
        basis = np.concatenate([form.basis for form in low], axis=1)
        return LowRank(diagonal, basis, _block_diagonal([form.form for form in low]))

    def solve(self, right: Floats) -> Floats:
        """Solve the equations of each row for some right-hand sides.

        Shapes: `right` (b, a, n); returns (b, a, n). Raises ``LinAlgError`` if they are singular.
        """
        if self.low_rank is None:
            return np.asarray(np.linalg.solve(self.hessian, right))
        diagonal, basis = self.low_rank.diagonal[..., None], self.low_rank.basis
        alone = right / diagonal
        weighted = self.low_rank.form @ basis
        inner = weighted @ (np.swapaxes(basis, 1, 2) / diagonal)
        np.einsum("yii->yi", inner)[:] += 1.0
        found = np.linalg.solve(inner, weighted @ alone)  # Woodbury's identity
        return np.asarray(alone - np.swapaxes(basis, 1, 2) @ found / diagonal)

    def steps(self, rows: Floats) -> "Steps":
        """Find the steps of all variables and multipliers, given the step of the rows.

        Shapes: `rows` (b, a).
        """
        changes = [block.steps(rows) for block in self._blocks]
        kinds = [self._kind(self._rows, rows, self._multipliers)]
        for point, (_, amounts) in zip(self._points, changes, strict=True):
            kinds += map(self._kind, point.amounts, amounts, point.multipliers)
        return Steps(kinds, [variables for variables, _ in changes])

    def _kind(self, amount: Floats, step: Floats, multiplier: Floats) -> Kind:
        """Find the step of a multiplier for the target product with its amount."""
        aim = by_row(self._barrier, amount)
        return amount, step, multiplier, (aim - multiplier * step) / amount - multiplier


class Steps(NamedTuple):
    """Steps of all variables of a part of the rows, and of their multipliers."""

    kinds: list[Kind]  # positive amounts, beginning with the rows
    variables: list[tuple[Floats, ...]]  # of each block

    @property
    def bounds(self) -> Floats:
        """Number of steps until a row's first amount, and first multiplier, is 0, (b, 2)."""
        fastest = [
            np.max([_of_rows(-kind[i + 1] / kind[i]).max(axis=1) for kind in self.kinds], axis=0)
            for i in (0, 2)
        ]
        with np.errstate(divide="ignore"):
            return 1.0 / np.abs(np.maximum(np.stack(fastest, axis=1), 0.0))  # avoids negative zero

    def products(self, lengths: Floats) -> Floats:
        """Sum the products of amounts and multipliers after partial steps.

        Shapes: `lengths` (b, 2). Returns (b,): the sum of each row.
        """
        total = np.zeros(len(lengths))
        for amount, change, dual, dual_change in self.kinds:
            product = _of_rows(amount) + _of_rows(change) * lengths[:, :1]
            product *= _of_rows(dual) + _of_rows(dual_change) * lengths[:, 1:]
            total += product.sum(axis=1)
        return total


def parts_of(b: int, a: int) -> list[slice]:
    """Divide rows into parts whose Hessians have up to this many entries."""
    size = max(_ENTRIES // a**2, 1)
    number = -(-b // size)
    ends = [b * i // number for i in range(number + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]


def _block_diagonal(forms: list[Floats]) -> Floats:
    """Combine quadratic forms in different functions."""
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

    Shapes: `matrices` (b, a, a). Returns (b, a, a): approximate inverses. Raises ``LinAlgError`` if
    a matrix is numerically indefinite.
    """
    diagonal = np.einsum("yii->yi", matrices)
    if not np.all((diagonal > 0.0) & (diagonal < np.inf)):
        raise np.linalg.LinAlgError("a diagonal is not positive")
    unit = 1.0 / np.sqrt(diagonal)
    both = unit[:, :, None] * unit[:, None, :]
    scaled, diagonal_of = matrices * both, np.diag_indices(matrices.shape[-1])
    lower = np.empty_like(scaled)
    for place, matrix in enumerate(scaled):
        # The smallest regularisation that succeeds
        for added in (np.finfo(float).eps, ROUNDING, TIGHT):
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
    """Factorise a square system; raise LinAlgError if it is singular, where SciPy only warns."""
    factors, pivots, zero = dgetrf(system)
    if zero:
        raise np.linalg.LinAlgError(f"pivot {zero} is zero")
    return factors, pivots


class _Forms:
    """The Hessians of all rows, and their inverses, in parts that are processed in parallel."""

    def __init__(self, parts: Sequence[Equations], workers: Workers) -> None:
        self._parts, self._workers = parts, workers

    def times(self, vectors: Floats) -> Floats:
        """Multiply each row's Hessian by a vector."""
        return self._rows(lambda part: _times(part.hessian, vectors[part.place]))

    def solve(self, vectors: Floats) -> Floats:
        """Multiply the inverse of each row's Hessian by a vector, shape (b, a)."""
        return self._rows(lambda part: _times(part.inverse, vectors[part.place]))

    def solve_all(self, vector: Floats) -> Floats:
        """Multiply the inverse of each row's Hessian by the same vector, shape (a,)."""
        return self._rows(lambda part: part.inverse @ vector)

    def total(self, of_part: Callable[[Equations], Floats]) -> Floats:
        """Sum a function over the parts."""
        found = self._workers.map(of_part, self._parts)
        return np.asarray(sum(found[1:], start=found[0]))

    def _rows(self, of_part: Callable[[Equations], Floats]) -> Floats:
        return np.concatenate(self._workers.map(of_part, self._parts))


class Coupling:
    """The system after elimination of the rows: the column sums, and a robust cost.

    A robust cost depends on the rows through the expected costs of the cells, whose multipliers
    are a distribution of X, and through one λ of its own, its *top*.

    Parameters
    ----------
    parts : sequence of Part
        All rows, with the Hessian of each and its approximate inverse.
    workers : Workers
        Threads.
    cost : array of shape (b, a)
        Cost of each report in each cell.
    curvature : array of shape (a, a) or None
        Hessian of a robust cost with respect to the expected costs of the cells; None for a linear
        cost.
    """

    def __init__(
        self, parts: Sequence[Equations], workers: Workers, cost: Floats, curvature: Floats | None
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
        # Scaled to order one, like the rest of the system.
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

        Shapes: `gradient` (b, a); `column_residual` (a,); `by_cell` (a,). Returns `step` (b, a),
        the step of the rows, and `top`, the step of the top.
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
