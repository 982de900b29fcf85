"""A mechanism as a linear map from distributions of X to distributions of the report Y.

A channel Q answers three questions. (1) Which linear functions c·π of the distribution π does the
distribution Qπ of the report determine? Those with c in the row space of Q. (2) Which weights w of
the reports estimate such a function without bias, and with the least variance at a given
distribution? Those of generalised least squares. (3) What is the variance? The estimate is the
average of the weights of independent reports, so its variance is that of a multinomial.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats
from skrldp.estimation.channels._four_numbers import FourNumbers
from skrldp.mechanism import Mechanism

__all__ = [
    "MOST_DENSE",
    "BlockChannel",
    "Channel",
    "DenseChannel",
    "Weights",
    "central_moments",
    "channel_of",
    "covariance",
]


MOST_DENSE = 2_500  # cells up to which whole matrices are used
# Singular values of W^{1/2} Q are at most 1 here (they are correlations between X and its report).
# Weights are rounded to 2^-32, so a smaller singular value may be due to rounding; an estimate in
# its direction would take some 1e16 reports.
_RANK_TOLERANCE = 1e-8
# Largest share of c outside the row space: c·π then has a bias of at most this times |c|.
_ROW_TOLERANCE = 1e-6
_MOST_NUMBERS = 4_000_000  # in one block of a table of functions by cells or reports
_ROUNDING = 2.0**-32  # by which a matrix's entries may differ from four numbers
_RARE = 1e-12  # least probability of a possible symbol


class Weights(ABC):
    """Weights A of the reports, with A Q the identity on the row space of Q."""

    @abstractmethod
    def estimate(self, shares: Floats) -> Floats:
        """Estimate the distribution of X from the shares of the reports: (b,) to (a,)."""

    @abstractmethod
    def of(self, functions: Floats) -> Floats:
        """Weights of the reports for some functions of the distribution: (m, a) to (m, b)."""

    @abstractmethod
    def moments(self, distribution: Floats) -> tuple[Floats, Floats]:
        """Second and fourth central moments of one report's weight for each cell, (a,).

        They are at a distribution of Y, (b,).
        """

    @abstractmethod
    def own_squares(self, channel: "Channel") -> Floats:
        """Find the expected square of each cell's weight for a report about that cell, (a,)."""


class Channel(ABC):
    """A mechanism as a linear map, with what its reports determine."""

    n_symbols: int  # b
    n_cells: int  # a
    rank: int
    identifiable: NDArray[np.bool_]  # (a,), whether Qπ determines the cell's probability
    possible: NDArray[np.bool_]  # (b,), whether each symbol has a positive probability in some cell
    has_matrix: bool = True  # whether the matrix is there, or small enough to be made

    @abstractmethod
    def forward(self, distribution: Floats) -> Floats:
        """Distribution of the report, Qπ: (..., a) to (..., b)."""

    @abstractmethod
    def backward(self, prices: Floats) -> Floats:
        """Transposed map, Qᵀg: (..., b) to (..., a)."""

    @abstractmethod
    def determines(self, functions: Floats) -> NDArray[np.bool_]:
        """Whether the distribution of the report determines each function: (m, a) to (m,)."""

    @abstractmethod
    def weights(self, distribution: Floats) -> Weights:
        """Best weights at a distribution of Y, (b,), with no zeros on the possible symbols."""

    def part_moments(
        self, labels: NDArray[np.intp], n_labels: int, report: Floats
    ) -> tuple[Floats, Floats] | None:
        """Central moments of one report's weight for each category; None without a short way.

        Shapes: labels (a,), report (b,) to (k,).
        """
        return None

    @abstractmethod
    def dense(self) -> "DenseChannel":
        """Return the channel of the same matrix, without any structure."""

    @property
    def uniform(self) -> Floats:
        """Distribution of the report if X is uniform, shape (b,)."""
        return self.forward(np.full(self.n_cells, 1.0 / self.n_cells))

    def positive(self, distribution: Floats) -> Floats:
        """Distribution of the report with no zeros on the possible symbols.

        Only the best weights need positive probabilities: the change is far below sampling errors.
        """
        raised = np.where(self.possible, np.maximum(distribution, _RARE), 0.0)
        return raised / raised.sum()

    def indicators(self, labels: NDArray[np.intp], n_labels: int) -> Iterator[tuple[slice, Floats]]:
        """Yield the indicator functions of the labels' cells, in blocks of rows.

        Labels of -1 are left out.
        """
        step = max(1, _MOST_NUMBERS // max(self.n_cells, self.n_symbols))
        for start in range(0, n_labels, step):
            rows = slice(start, min(start + step, n_labels))
            yield rows, (labels == np.arange(rows.start, rows.stop)[:, None]).astype(float)


def central_moments(weights: Floats, distribution: Floats) -> tuple[Floats, Floats]:
    """Second and fourth central moments of weights of one report.

    Shapes: weights (m, b), distribution (b,) to (m,).
    """
    squares = (weights - (weights @ distribution)[:, None]) ** 2  # first, to avoid cancellation
    return squares @ distribution, squares**2 @ distribution


def covariance(weights: Floats, distribution: Floats, n: float) -> Floats:
    """Covariance of the averages of some weights over n reports.

    Shapes: weights (m, b), distribution (b,) to (m, m).
    """
    centred = weights - (weights @ distribution)[:, None]  # first, to avoid cancellation
    result: Floats = (centred * distribution) @ centred.T / n
    return result


# -- any matrix -----------------------------------------------------------------------------------


class _DenseWeights(Weights):
    def __init__(self, matrix: Floats) -> None:
        self._matrix = matrix  # (a, b)

    def estimate(self, shares: Floats) -> Floats:
        estimate: Floats = self._matrix @ shares
        return estimate

    def of(self, functions: Floats) -> Floats:
        weights: Floats = functions @ self._matrix
        return weights

    def moments(self, distribution: Floats) -> tuple[Floats, Floats]:
        return central_moments(self._matrix, distribution)

    def own_squares(self, channel: "Channel") -> Floats:
        assert isinstance(channel, DenseChannel)
        squares: Floats = np.einsum("ay,ay,ya->a", self._matrix, self._matrix, channel.matrix)
        return squares


class DenseChannel(Channel):
    """A channel given by its matrix.

    Shapes: matrix (b, a).
    """

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix
        self.n_symbols, self.n_cells = matrix.shape
        self.possible = matrix.max(axis=1) > 0

    @cached_property
    def basis(self) -> Floats:
        """Orthonormal basis of the row space, shape (a, rank)."""
        seen = self.matrix[self.possible]
        scaled = seen / np.sqrt(seen.mean(axis=1) * self.n_cells)[:, None]
        _, values, vectors = np.linalg.svd(scaled, full_matrices=False)
        basis: Floats = vectors[values > _RANK_TOLERANCE].T
        return basis

    @cached_property
    def rank(self) -> int:  # type: ignore[override]
        """Rank of Q."""
        return self.basis.shape[1]

    @cached_property
    def identifiable(self) -> NDArray[np.bool_]:  # type: ignore[override]
        """Whether the reports determine the probability of each cell."""
        return 1.0 - np.sum(self.basis**2, axis=1) <= _ROW_TOLERANCE**2

    def forward(self, distribution: Floats) -> Floats:
        """Distribution of the report, Qπ: (a,) to (b,)."""
        report: Floats = distribution @ self.matrix.T
        return report

    def backward(self, prices: Floats) -> Floats:
        """Transposed map, Qᵀg: (..., b) to (..., a)."""
        cells: Floats = prices @ self.matrix
        return cells

    def determines(self, functions: Floats) -> NDArray[np.bool_]:
        """Whether the distribution of the report determines each function: (m, a) to (m,)."""
        outside = functions - (functions @ self.basis) @ self.basis.T
        lengths = np.linalg.norm(functions, axis=1)
        return np.linalg.norm(outside, axis=1) <= _ROW_TOLERANCE * lengths

    def dense(self) -> "DenseChannel":
        """Return the channel itself."""
        return self

    def weights(self, distribution: Floats) -> Weights:
        """Best weights at a distribution of the report with no zeros on the possible symbols, (b,).

        With V a basis of the row space and W = 1/p they are V (Vᵀ Qᵀ W Q V)⁻¹ Vᵀ Qᵀ W.
        """
        root = np.zeros(self.n_symbols)
        root[self.possible] = 1.0 / np.sqrt(distribution[self.possible])
        reduced = (self.matrix * root[:, None]) @ self.basis
        q, r = np.linalg.qr(reduced)
        return _DenseWeights(self.basis @ np.linalg.solve(r, q.T) * root)


# -- four probabilities ---------------------------------------------------------------------------


class _BlockWeights(Weights):
    def __init__(self, inverse: FourNumbers) -> None:
        self._inverse = inverse

    def estimate(self, shares: Floats) -> Floats:
        return self._inverse.apply(shares)

    def of(self, functions: Floats) -> Floats:
        return self._inverse.apply(functions)  # symmetric

    def moments(self, distribution: Floats) -> tuple[Floats, Floats]:
        first, second, third, fourth = (
            self._inverse.powered(order).apply(distribution) for order in (1, 2, 3, 4)
        )
        central = fourth - 4.0 * first * third + 6.0 * first**2 * second - 3.0 * first**4
        return np.maximum(second - first**2, 0.0), np.maximum(central, 0.0)

    def own_squares(self, channel: "Channel") -> Floats:
        assert isinstance(channel, BlockChannel)
        same = channel.times(self._inverse.powered(2)).entries()[0]
        return np.full(channel.n_cells, same)


class BlockChannel(Channel):
    """A channel given by four probabilities: exactly, or but for the rounding of a matrix.

    The best weights at the uniform distribution are used at every distribution: if Q is invertible,
    they are the only unbiased ones, and if it tells of U (or of S) alone, by symmetry. A matrix is
    used where rounding would matter, in likelihoods.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        probabilities: tuple[float, float, float, float],
        matrix: Floats | None = None,
    ) -> None:
        self.matrix, self.n_symbols = matrix, shape[0] * shape[1]
        self.n_cells, self.has_matrix = self.n_symbols, self.n_symbols <= MOST_DENSE
        self.blocks = FourNumbers.from_entries(shape, probabilities)
        a1, a2 = shape
        sizes = (1, a2 - 1, a1 - 1, (a1 - 1) * (a2 - 1))
        seen = [abs(factor) > _RANK_TOLERANCE for factor in self.blocks.factors]
        inverse = [
            1.0 / factor if keep else 0.0
            for factor, keep in zip(self.blocks.factors, seen, strict=True)
        ]
        _, of_values, of_secrets, rest = seen
        self.has_best_weights = of_values and of_secrets if rest else not (of_values and of_secrets)
        self._inverse = FourNumbers(shape, tuple(inverse))  # type: ignore[arg-type]
        self._projector = FourNumbers(shape, tuple(map(float, seen)))  # type: ignore[arg-type]
        self.rank = sum(size for size, keep in zip(sizes, seen, strict=True) if keep)
        # By symmetry, the answer is the same for all cells.
        self.identifiable = np.full(self.n_cells, self.rank == self.n_cells)
        self.possible = np.ones(self.n_symbols, dtype=bool)

    def forward(self, distribution: Floats) -> Floats:
        """Distribution of the report, Qπ: (..., a) to (..., b)."""
        if self.matrix is None:
            return self.blocks.apply(distribution)
        report: Floats = distribution @ self.matrix.T
        return report

    def backward(self, prices: Floats) -> Floats:
        """Transposed map, Qᵀg: (..., b) to (..., a)."""
        if self.matrix is None:
            return self.blocks.apply(prices)  # symmetric
        cells: Floats = prices @ self.matrix
        return cells

    def times(self, other: FourNumbers) -> FourNumbers:
        """Product of the matrix and another one."""
        first, second, third, fourth = np.multiply(self.blocks.factors, other.factors)
        return FourNumbers(other.shape, (first, second, third, fourth))

    def determines(self, functions: Floats) -> NDArray[np.bool_]:
        """Whether the distribution of the report determines each function: (m, a) to (m,)."""
        outside = functions - self._projector.apply(functions)
        lengths = np.linalg.norm(functions, axis=1)
        return np.linalg.norm(outside, axis=1) <= _ROW_TOLERANCE * lengths

    def dense(self) -> DenseChannel:
        """Return the channel of the same matrix, without any structure."""
        matrix = self.matrix
        return DenseChannel(self.forward(np.eye(self.n_cells)).T if matrix is None else matrix)

    def weights(self, distribution: Floats) -> Weights:
        """Weights that estimate without bias; the best at the uniform distribution."""
        return _BlockWeights(self._inverse)

    def part_moments(
        self, labels: NDArray[np.intp], n_labels: int, report: Floats
    ) -> tuple[Floats, Floats] | None:
        """Moments for categories of S alone or of U alone, from their shares among the reports.

        An indicator function of S (or U) is a constant plus a function in one eigenspace, so its
        weights are an affine function of the same indicator of the reported s' (or u').
        """
        table = labels.reshape(self._inverse.shape)
        if np.all(table == table[:, :1]):
            factor = self._inverse.factors[2]
        elif np.all(table == table[:1]):
            factor = self._inverse.factors[1]
        else:
            return None
        shares = np.bincount(labels, weights=report, minlength=n_labels)
        if n_labels > 1 and factor == 0.0:
            return np.full(n_labels, np.inf), np.full(n_labels, np.inf)
        product = np.maximum(shares * (1.0 - shares), 0.0)
        return factor**2 * product, factor**4 * product * (1.0 - 3.0 * product)


def channel_of(mechanism: Mechanism, *, most_dense: int = 0) -> Channel:
    """Return the channel of a mechanism.

    Four probabilities whose best weights depend on the distribution have their matrix up to
    `most_dense` cells.
    """
    shape, form = (len(mechanism.secrets), len(mechanism.values)), mechanism.form
    four = form.blocks
    if four is not None:
        channel = BlockChannel(shape, four)
        small = channel.n_cells <= most_dense
        return channel if channel.has_best_weights or not small else DenseChannel(mechanism.matrix)
    found = _four_weights(form.weights, shape, _ROUNDING * 2.0**form.bits)
    if found is not None:
        same, same_secret, same_value, other = (part * 2.0**-form.bits for part in found)
        channel = BlockChannel(shape, (same, same_secret, same_value, other), mechanism.matrix)
        if channel.has_best_weights:
            return channel
    return DenseChannel(mechanism.matrix)


def _four_weights(
    weights: NDArray[np.int64], shape: tuple[int, int], rounding: float
) -> tuple[float, float, float, float] | None:
    """Average the weights of a matrix that four of them give, to rounding; None for others."""
    (a1, a2), a = shape, shape[0] * shape[1]
    if weights.shape != (a, a) or np.ptp(weights.diagonal()) > 2.0 * rounding:
        return None
    table = weights.reshape(a1, a2, a1, a2).astype(float)
    trace, total = float(weights.trace()), float(table.sum())
    of_secrets, of_values = float(np.einsum("sust->", table)), float(np.einsum("sutu->", table))
    sums = trace, of_secrets - trace, of_values - trace, total - of_secrets - of_values + trace
    numbers = a, a * (a2 - 1), a * (a1 - 1), a * (a1 - 1) * (a2 - 1)
    same, same_secret, same_value, other = (
        part / max(number, 1) for part, number in zip(sums, numbers, strict=True)
    )
    secret, value = np.eye(a1)[:, None, :, None], np.eye(a2)[None, :, None, :]
    table -= other + (same_secret - other) * secret + (same_value - other) * value
    table -= (same - same_secret - same_value + other) * secret * value
    if max(table.max(), -table.min()) > rounding:
        return None
    return same, same_secret, same_value, other
