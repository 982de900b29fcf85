"""Some rows of mechanisms on a central path, with all that concerns these rows alone."""

from copy import copy
from itertools import pairwise

import numpy as np

from skrldp._typing import Floats
from skrldp.design.interior_point._block import Block, Kind, LowRank, by_row, dual_step
from skrldp.design.interior_point._newton_system import inverses

__all__ = ["Part", "parts_of"]

# Entries of the Hessians of one part, but no fewer rows than these: so many that threads seldom
# wait for one another (two gain 1.5 times at 240 cells, where parts of a fifth gain 1.3 times), and
# so few that there is a part for each. Fixed, so that sums are the same however many threads work.
_ENTRIES, _FEWEST_ROWS = 500_000, 4


# Range of the products that a corrected direction aims at, in units of the barrier parameter. Usual
# values are 0.1 and 10; these end nearer to the path, and the mechanisms found along it are better.
_PRODUCTS = (0.5, 2.0)


class Part:
    """Some rows, their multipliers, and the constraints on them.

    Parameters
    ----------
    place : slice
        Which of all rows they are.
    rows : array of shape (b, a)
        Rows of positive numbers, all equal.
    blocks : list of Block
        The requirements on each row; each part has blocks of its own.
    mean : float
        The product of each positive variable and its multiplier, to begin with.

    Attributes
    ----------
    hessian, inverse : arrays of shape (b, a, a)
        The Hessian of each row, and nearly its inverse.
    """

    def __init__(self, place: slice, rows: Floats, blocks: list[Block], mean: float) -> None:
        self.place, self.rows = place, rows
        self.blocks = [copy(block) for block in blocks]
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

    def factorise(self) -> bool:
        """Compute the Hessian of each row, and its inverse.

        Returns bool: whether rounding has left the Hessians definite.
        """
        hessian = np.zeros((*self.rows.shape, self.rows.shape[1]))
        try:
            for block in self.blocks:
                hessian += block.hessian(self.rows)
        except np.linalg.LinAlgError:
            return False
        entry = np.arange(self.rows.shape[1])
        hessian[:, entry, entry] += self.dual_rows / self.rows
        inverse = inverses(hessian)
        if inverse is None:
            return False
        self.hessian, self.inverse = hessian, inverse
        return True

    def linearise(self) -> None:
        """Compute the Hessian of each row, as far as :meth:`solve` needs it.

        Raises ``LinAlgError`` if rounding has left none.
        """
        diagonal = self.dual_rows / self.rows
        found = [block.low_rank(self.rows) for block in self.blocks]
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
        return self._gradient()

    def correct(self, lengths: Floats, barrier: float) -> Floats:
        """Aim anew at what a part of the step misses.

        These are products far from the barrier parameter, and requirements that are curved.

        Shapes: `lengths` (2,). Returns (b, a): gradient by the rows, as from :meth:`gradient`.
        """
        self._before = self._targets
        low, high = (factor * barrier for factor in _PRODUCTS)
        kinds, targets = iter(self._kinds), []
        for of_block in self._targets:
            corrected = []
            for target in of_block:
                amount, step, dual, dual_step = next(kinds)
                product = (amount + lengths[0] * step) * (dual + lengths[1] * dual_step)
                missing = np.maximum(np.clip(product, low, high) - product, -high)
                corrected.append(target + missing)
            targets.append(corrected)
        self._targets = targets
        for block in self.blocks:
            block.correct(float(lengths[0]))
        return self._gradient()

    def undo_correction(self) -> Floats:
        """Aim at what was aimed at before the last correction.

        Returns (b, a): gradient by the rows, as from :meth:`gradient`.
        """
        self._targets = self._before
        for block in self.blocks:
            block.undo_correction()
        return self._gradient()

    def _gradient(self) -> Floats:
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

    def products(self, lengths: Floats) -> tuple[Floats, Floats]:
        """Multiply variables and multipliers after a part of the step.

        Shapes: `lengths` (b, 2). Returns `total, least` (b,): sum and least of the products of each
        row.
        """
        found = []
        for amount, change, dual, dual_change in self._kinds:
            product = _of_rows(amount) + _of_rows(change) * lengths[:, :1]
            product *= _of_rows(dual) + _of_rows(dual_change) * lengths[:, 1:]
            found.append(product)
        total = sum(product.sum(axis=1) for product in found)
        return np.asarray(total), np.min([product.min(axis=1) for product in found], axis=0)

    def take(self, lengths: Floats) -> None:
        """Take a part of the step.

        Shapes: `lengths` (b, 2).
        """
        for block in self.blocks:
            block.take(lengths[:, 0], lengths[:, 1])
        self.rows = self.rows + lengths[:, :1] * self._step
        self.dual_rows = self.dual_rows + lengths[:, 1:] * self._dual_step


def parts_of(b: int, a: int, entries: int | None = None) -> list[slice]:
    """Divide rows into parts with so many entries of Hessians."""
    size = max((entries or _ENTRIES) // a**2, _FEWEST_ROWS)
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
