"""Blocks of columns: joint estimation of their margins, as functions of common parameters."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly, read_only
from skrldp._typing import Booleans, Floats

_SECRET = -1  # the index of S among columns


@dataclass(frozen=True, eq=False)
class BlockModel(ReadOnly):
    """The distribution of a block's cells as a linear function of parameters."""

    constant: Floats  # (a,), the distribution if all parameters are 0
    # (a, p), the distribution is ``constant + design @ parameters``; cells are in lexicographic
    # order of the secret and the block's columns
    design: Floats
    # (p_shared,), indices, among the p parameters, of those shared with other blocks
    shared: NDArray[np.intp]
    numbers: NDArray[np.intp]  # (p_shared,), indices of these among all shared parameters
    own: NDArray[np.intp]  # (p - p_shared,), indices of the parameters of this block alone

    @cached_property
    def back(self) -> Floats:
        """A distribution's parameters, without the constant, as linear functions of it: (p, a)."""
        return read_only(np.linalg.pinv(self.design))


@dataclass(frozen=True, eq=False)
class CommonMargins:
    """The parameters that the margins of several blocks have in common.

    A parameter is the joint probability of one category in each of several columns, where no
    category is the last of its column. The parameters of all subsets of a block's columns determine
    its distribution.

    Examples
    --------
    >>> margins = CommonMargins.of(2, [3, 2], [(0,), (0, 1)])
    >>> margins.n_shared, [len(block.own) for block in margins.blocks]
    (5, [0, 6])
    """

    blocks: tuple[BlockModel, ...]
    n_shared: int  # number of shared parameters

    @staticmethod
    def of(
        n_secrets: int, n_categories: Sequence[int], blocks: Sequence[Sequence[int]]
    ) -> "CommonMargins":
        """Find the parameters of blocks, given by the indices of their columns."""
        sizes = {_SECRET: n_secrets, **dict(enumerate(n_categories))}
        named = [_parameters([_SECRET, *block], sizes) for block in blocks]
        count = Counter(chain.from_iterable(named))
        several = [name for name, number in count.items() if number > 1]
        number_of = {name: number for number, name in enumerate(several)}
        models = []
        for block, names in zip(blocks, named, strict=True):
            matrix: Floats = _one_column(n_secrets)
            for column in block:
                matrix = np.kron(matrix, _one_column(sizes[column])).astype(float)
            numbers = np.array([number_of.get(name, -1) for name in names], dtype=np.intp)
            shared, own = np.flatnonzero(numbers >= 0), np.flatnonzero(numbers < 0)
            models.append(BlockModel(matrix[:, 0], matrix[:, 1:], shared, numbers[shared], own))
        return CommonMargins(tuple(models), len(several))


def _one_column(size: int) -> Floats:
    """Express categories' probabilities by a constant and the probabilities of all but the last."""
    matrix = np.zeros((size, size))
    matrix[-1, 0] = 1.0
    matrix[:-1, 1:] = np.eye(size - 1)
    matrix[-1, 1:] = -1.0
    return matrix


def _parameters(columns: Sequence[int], sizes: dict[int, int]) -> list[tuple[tuple[int, int], ...]]:
    """Name the parameters of a block by pairs of a column and a category, in column order."""
    names = []
    for codes in product(*(range(sizes[column]) for column in columns)):
        chosen = [(column, code) for column, code in zip(columns, codes, strict=True) if code]
        names.append(tuple(sorted(chosen)))
    return names[1:]  # the first parameter, without columns, is the constant


# -- generalised least squares over the reports of all blocks -------------------------------------

# Eigenvalues of the information below this share of the largest count as zero: their directions are
# not estimated.
_NOTHING = 1e-10
# Maximum component of a function, relative to its length, in directions without information.
_DETERMINED = 1e-6


class ReportInformation(NamedTuple):
    """Information of one report from a block about the block's parameters."""

    matrix: Floats  # (p, p), Fisher information of a report
    # (b, p), derivative of the report's distribution with respect to the parameters
    channel: Floats
    constant: Floats  # (b,), the report's distribution if all parameters are 0
    # (b,), the distribution of the report at which the information is computed, positive
    report: Floats

    def score(self, counts: Floats) -> Floats:
        """Return the score of reports (b,) for the parameters (p,), by weighted least squares."""
        return self.channel.T @ ((counts - counts.sum() * self.constant) / self.report)


def information_of(model: BlockModel, matrix: Floats, cells: Floats) -> ReportInformation:
    """Compute the information of a block's reports at a distribution of its cells.

    Shapes: `matrix` (b, a), `cells` (a,), in the order of the model's cells.
    """
    report = matrix @ cells
    report = np.maximum(report, report.max() * 1e-12)
    channel = matrix @ model.design
    return ReportInformation(
        channel.T @ (channel / report[:, None]), channel, matrix @ model.constant, report
    )


@dataclass(frozen=True, eq=False)
class _Block:
    """A block's information, partitioned into shared parameters and the block's own."""

    model: BlockModel
    information: Floats  # (p, p), information of all its reports

    @cached_property
    def inverse(self) -> "_Inverse":
        """Inverse of the information about the block's own parameters."""
        own = self.model.own
        return _Inverse.of(self.information[np.ix_(own, own)])

    @cached_property
    def lift(self) -> Floats:
        """Derivative of the fitted parameters with respect to the shared ones: (p, shared)."""
        lift = np.eye(len(self.information))[:, self.model.shared]
        across = self.information[np.ix_(self.model.own, self.model.shared)]
        lift[self.model.own] = -self.inverse.matrix @ across
        return lift

    @cached_property
    def of_shared(self) -> Floats:
        """Information about the shared parameters if the block's own are unknown."""
        return self.lift.T @ self.information @ self.lift


@dataclass(frozen=True, eq=False)
class Pool:
    """Estimates from the reports of all blocks together.

    `information` contains the information of all reports of each of the m blocks: m matrices (p,
    p).
    """

    margins: CommonMargins
    information: tuple[Floats, ...]

    @cached_property
    def _blocks(self) -> list[_Block]:
        pairs = zip(self.margins.blocks, self.information, strict=True)
        return [_Block(*pair) for pair in pairs]

    @cached_property
    def _inverse(self) -> "_Inverse":
        """Covariance of the shared parameters."""
        total = np.zeros((self.margins.n_shared, self.margins.n_shared))
        for block in self._blocks:
            total[np.ix_(block.model.numbers, block.model.numbers)] += block.of_shared
        return _Inverse.of(total)

    def _parts(self, number: int, on_cells: Floats) -> tuple[_Block, Floats, Floats]:
        """Express functions of a block's cells (k, a) by the shared parameters and by its own."""
        block = self._blocks[number]
        on_parameters = on_cells @ block.model.design
        across = np.zeros((len(on_cells), self.margins.n_shared))
        across[:, block.model.numbers] = on_parameters @ block.lift
        return block, across, on_parameters[:, block.model.own]

    def determines(self, number: int, on_cells: Floats) -> Booleans:
        """Whether the reports determine functions of a block's cells (k, a): (k,)."""
        block, across, local = self._parts(number, on_cells)
        return block.inverse.determines(local) & self._inverse.determines(across)

    def weights(
        self, number: int, on_cells: Floats, information: Sequence[ReportInformation]
    ) -> tuple[Floats, Floats]:
        """Express estimates of functions of a block's cells (k, a) as sums over reports.

        Returns a constant (k,), and the contribution of a report of each symbol of each block,
        concatenated over blocks (k, sum of b).
        """
        block, across, local = self._parts(number, on_cells)
        along, weights = across @ self._inverse.matrix, []
        for index, (other, reports) in enumerate(zip(self._blocks, information, strict=True)):
            by_score = along[:, other.model.numbers] @ other.lift.T
            if index == number:
                by_score[:, other.model.own] += local @ other.inverse.matrix
            scores = reports.channel / reports.report[:, None]  # (b, p)
            scores = scores - reports.constant @ scores
            weights.append(by_score @ scores.T)
        return on_cells @ block.model.constant, np.concatenate(weights, axis=1)

    def gains(self, functions: Sequence[tuple[int, Floats]]) -> tuple[float, Floats]:
        """Return the sum of the functions' variances, and each block's marginal decrease of it.

        The second, (m,), is minus the derivative with respect to a factor of the block's
        information, at 1.
        """
        total = 0.0
        spread = np.zeros((self.margins.n_shared, self.margins.n_shared))
        gains = np.zeros(len(self._blocks))
        for number, on_cells in functions:
            block, across, local = self._parts(number, on_cells)
            variance = float(np.einsum("kp,pq,kq->", local, block.inverse.matrix, local))
            moved = across @ self._inverse.matrix
            total += variance + float((moved * across).sum())
            gains[number] += variance
            spread += moved.T @ moved
        for number, block in enumerate(self._blocks):
            numbers = block.model.numbers
            gains[number] += float((block.of_shared * spread[np.ix_(numbers, numbers)]).sum())
        return total, gains


class _Inverse(NamedTuple):
    """A generalised inverse of a non-negative definite matrix."""

    matrix: Floats  # (p, p)
    null: Floats  # (p, q), a basis of the null space
    scale: Floats  # (p,), roots of the diagonal

    @staticmethod
    def of(matrix: Floats) -> "_Inverse":
        scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
        scale = np.where(scale > 0, scale, 1.0)
        if not len(matrix):
            return _Inverse(matrix, matrix, scale)
        values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        known = values > _NOTHING * max(float(values[-1]), 0.0)
        vectors = vectors / scale[:, None]
        inverse = (vectors[:, known] / values[known]) @ vectors[:, known].T
        return _Inverse(inverse, vectors[:, ~known], scale)

    def determines(self, functions: Floats) -> Booleans:
        """Whether linear functions (k, p) are constant along the null space."""
        along = np.linalg.norm(functions @ self.null, axis=1)
        return along <= _DETERMINED * np.linalg.norm(functions / self.scale, axis=1)


# -- how often each block is drawn ----------------------------------------------------------

_STEPS = 50
_CLOSE = 1e-3  # relative tolerance of the sum of variances, below the effect of sampling blocks


def best_shares(
    margins: CommonMargins, information: Sequence[Floats], functions: Sequence[tuple[int, Floats]]
) -> Floats:
    """Find the shares of blocks that minimise the sum of the variances of given functions.

    The sum is convex in the shares. Each step multiplies a share by the square root of the block's
    marginal decrease of the sum (Pukelsheim, Optimal Design of Experiments, 1993).

    Shapes: m matrices (p, p), the information of one report; each of `functions` consists of the
    index of a block and an array (k, a) of functions of its cells. Returns (m,).
    """
    shares = np.full(len(information), 1.0 / len(information))
    for _ in range(_STEPS):
        scaled = tuple(r * matrix for r, matrix in zip(shares, information, strict=True))
        total, gains = Pool(margins, scaled).gains(functions)
        # no block's reports lower the sum more
        if (gains <= (1.0 + _CLOSE) * total * shares).all():
            break
        shares = np.sqrt(shares * np.maximum(gains, 0.0))
        shares /= shares.sum()
    return shares
