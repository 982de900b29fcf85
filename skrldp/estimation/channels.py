"""A mechanism as a linear map from distributions of records to those of reports.

If the records have distribution π, the reports have distribution Qπ. Qπ determines a linear
function c·π if c is in the row space of Q, that is, if there are weights w of the reports with Qᵀw
= c. The *best* of these weights at a distribution p have the smallest variance there. They are R⁻¹Q
(QᵀR⁻¹Q)⁺ c, where R is the diagonal matrix of Qp (Gauss and Markov).
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from skrldp._typing import Booleans, Floats
from skrldp.mechanism.mechanism import Mechanism

MOST_DENSE = 2_500  # maximum number of cells for which whole matrices are used
# The same limit for cells of S or U alone, for whose shares a covariance is computed
_MOST_PART = 250
# Singular values of R^{-1/2} Q P^{1/2} are correlations, at most 1. Weights are rounded to 2^-32,
# so a smaller one may be due to rounding; an estimate in its direction would take about 1e16
# reports.
_RANK_TOLERANCE = 1e-8
_UNBIASED = 1e-6  # maximum bias that counts as zero: Qᵀw - c, relative to the largest entry of c
_RARE = 1e-12  # minimum probability of a possible symbol


class Channel:
    """A mechanism as a linear map; `public` is the distribution at which weights are best."""

    matrix: Floats

    def __init__(self, matrix: Floats, public: Floats, *, is_symmetric: bool = False) -> None:
        self.matrix, self.public, self.is_symmetric = matrix, public, is_symmetric
        self.n_symbols, self.n_cells = matrix.shape
        self.possible = matrix.max(axis=1) > 0  # (b,), whether the symbol is possible in some cell

    def forward(self, distribution: Floats) -> Floats:
        """Distribution of the report, Qπ: (..., a) to (..., b)."""
        return distribution @ self.matrix.T

    def backward(self, values: Floats) -> Floats:
        """Average over the reports about each cell, Qᵀw: (..., b) to (..., a)."""
        return values @ self.matrix

    def weights(self, functions: Floats) -> Floats:
        """Best weights of the reports for linear functions: (k, a) to (k, b)."""
        return functions @ self._inverse

    def determines(self, functions: Floats, weights: Floats) -> Booleans:
        """Whether weights (k, b) estimate functions (k, a) without bias."""
        bias = np.abs(self.backward(weights) - functions).max(axis=1)
        return bias <= _UNBIASED * np.abs(functions).max(axis=1)

    @property
    def most_repeated(self) -> float:
        """Largest probability, over cells, that two independent reports are equal."""
        return float((self.matrix**2).sum(axis=0).max())

    @cached_property
    def report(self) -> Floats:
        """Distribution of the report, (b,), at the public one; positive for possible symbols."""
        raised = np.where(self.possible, np.maximum(self.forward(self.public), _RARE), 0.0)
        return raised / raised.sum()

    @cached_property
    def _factors(self) -> tuple[Floats, Floats, Floats]:
        """Decompose R^{-1/2} Q P^{1/2} = U D V: R^{-1/2} U (b, r), D (r,), P^{1/2} V (a, r)."""
        roots = np.sqrt(self.public), np.sqrt(np.where(self.possible, self.report, np.inf))
        scaled = self.matrix * roots[0] / roots[1][:, None]
        left, values, right = np.linalg.svd(scaled, full_matrices=False)
        known = values > _RANK_TOLERANCE
        return left[:, known] / roots[1][:, None], values[known], roots[0][:, None] * right[known].T

    @property
    def directions(self) -> Floats:
        """Orthonormal weights of reports that span all information about the records: (b, r)."""
        return self._factors[0]

    @cached_property
    def _inverse(self) -> Floats:
        """R⁻¹Q (QᵀR⁻¹Q)⁺, transposed: (a, b)."""
        left, values, right = self._factors
        return (right / values) @ left.T


# -- four probabilities ---------------------------------------------------------------------------


class FourNumbers(NamedTuple):
    """A matrix on pairs (s, u) whose entries depend only on whether s' = s and whether u' = u."""

    shape: tuple[int, int]
    entries: Floats  # (4,): same cell, same secret, same value, other

    def apply(self, functions: Floats) -> Floats:
        """Multiply rows (..., a) by the matrix."""
        same, same_secret, same_value, rest = self.entries
        table = functions.reshape(*functions.shape[:-1], *self.shape)
        of_secret, of_value = (table.sum(axis=axis, keepdims=True) for axis in (-1, -2))
        product = (same - same_secret - same_value + rest) * table
        product += (same_secret - rest) * of_secret + (same_value - rest) * of_value
        product += rest * of_value.sum(axis=-1, keepdims=True)
        return product.reshape(functions.shape)

    def inverse(self) -> "FourNumbers":
        """Return the (generalised) inverse, by the eigenvalues of four common eigenspaces.

        They are the constants, the functions of u alone with mean 0, those of s alone with mean 0,
        and the remaining functions.
        """
        (a1, a2), (same, same_secret, same_value, distinct) = self.shape, self.entries
        rest = same - same_secret - same_value + distinct
        of_values, of_secrets = a1 * (same_value - distinct), a2 * (same_secret - distinct)
        of_constant = a1 * a2 * distinct + of_values + of_secrets
        values = rest + np.array([of_constant, of_values, of_secrets, 0.0])
        known = np.abs(values) > _RANK_TOLERANCE
        constant, of_values, of_secrets, rest = np.divide(1.0, values, out=np.zeros(4), where=known)
        value, secret = (of_values - rest) / a1, (of_secrets - rest) / a2
        distinct = (constant - of_values - of_secrets + rest) / (a1 * a2)
        entries = np.array([rest + value + secret, secret, value, 0.0]) + distinct
        return FourNumbers(self.shape, entries)

    def powered(self, exponent: int) -> "FourNumbers":
        """Return the matrix of powers of the entries."""
        return FourNumbers(self.shape, self.entries**exponent)


class StructuredChannel(Channel):
    """A channel that is defined by four probabilities, with too many cells for a matrix.

    If Q is invertible, the unbiased weights are unique; otherwise, by symmetry, those of the
    uniform distribution are used.
    """

    def __init__(self, blocks: FourNumbers, public: Floats) -> None:
        self.blocks, self.public, self.is_symmetric = blocks, public, True
        self.n_symbols = self.n_cells = blocks.shape[0] * blocks.shape[1]
        self.possible = np.ones(self.n_symbols, dtype=bool)
        self.inverse = blocks.inverse()

    def forward(self, distribution: Floats) -> Floats:
        """Distribution of the report, Qπ: (..., a) to (..., b)."""
        return self.blocks.apply(distribution)

    def backward(self, values: Floats) -> Floats:
        """Average over the reports about each cell, Qᵀw: (..., b) to (..., a)."""
        return self.blocks.apply(values)  # symmetric

    @property
    def most_repeated(self) -> float:
        """Probability that two independent reports about a cell are equal."""
        return float(self.blocks.powered(2).apply(np.ones(self.n_cells))[0])

    def weights(self, functions: Floats) -> Floats:
        """Weights of the reports for linear functions: (k, a) to (k, b)."""
        return self.inverse.apply(functions)  # symmetric

    def of_part(self, axis: int) -> Channel:
        """Return the channel from S to the reported S, or from U to the reported U."""
        shape = list(self.blocks.shape)
        same, of_same, different, both_differ = self.blocks.entries
        if axis == 0:
            of_same, different = different, of_same
        n_others, shape[axis] = shape[axis] - 1, 1
        diagonal, off_diagonal = same + n_others * of_same, different + n_others * both_differ
        entries = [diagonal, 0.0, off_diagonal, 0.0] if axis else [diagonal, off_diagonal, 0.0, 0.0]
        four = FourNumbers((shape[0], shape[1]), np.array(entries))
        public = self.public.reshape(self.blocks.shape).sum(axis=axis)
        if len(public) <= _MOST_PART:
            return Channel(four.apply(np.eye(len(public))), public, is_symmetric=True)
        return StructuredChannel(four, public)


def channel_of(mechanism: Mechanism, public: Floats) -> Channel:
    """Return the channel of a mechanism, with best weights at a distribution of the cells (a,)."""
    entries, shape = mechanism.form.blocks, (len(mechanism.secrets), len(mechanism.values))
    if entries is None or len(public) <= MOST_DENSE:
        return Channel(mechanism.matrix, public, is_symmetric=entries is not None)
    return StructuredChannel(FourNumbers(shape, np.array(entries)), public)


# -- the most likely distribution -----------------------------------------------------------------
#
# The average log-likelihood of the reports, L(π) = Σ_y f_y log (Qπ)_y, is concave in the
# distribution π. With g = Qᵀ(f / Qπ), its gradient, π·g = Σ f = 1, so that for the maximum π*
#
#     L(π*) − L(π) ≤ g·(π* − π) ≤ max_x g_x − 1,
#
# the *gap*: an upper bound, in nats per report, on how far L(π) is below its maximum, for any π.

# Minimum share of a cell's probability that an extrapolation leaves, because EM cannot leave zero.
_LEAST_SHARE = 0.1


class MostLikely(NamedTuple):
    """A distribution, and a bound on how far its likelihood is below the maximum."""

    distribution: Floats  # (a,)
    gap: float  # nats per report


def most_likely(channel: Channel, shares: Floats, tol: float, max_iter: int) -> MostLikely:
    """Maximise the likelihood of reports (b,), starting from the public distribution.

    One step of EM is π ← π ∘ Qᵀ(f / Qπ); SQUAREM extrapolates two of them (Varadhan and Roland
    2008). An extrapolation with a smaller likelihood than the plain steps is rejected.
    """
    distribution = channel.public
    for _ in range(max_iter // 2):
        slope = gradient(channel, shares, distribution)
        gap = float(slope.max()) - 1.0
        if gap <= tol:
            break
        once = distribution * slope
        twice = once * gradient(channel, shares, once)
        first, second = once - distribution, twice - 2.0 * once + distribution
        curvature = float(np.linalg.norm(second))
        length = float(np.linalg.norm(first)) / curvature if curvature > 0 else 1.0
        start, distribution = distribution, twice / twice.sum()
        if length > 1.0:
            extrapolated = start + 2.0 * length * first + length**2 * second
            extrapolated = np.maximum(extrapolated, _LEAST_SHARE * twice)
            extrapolated /= extrapolated.sum()
            if _value(channel, shares, extrapolated) >= _value(channel, shares, distribution):
                distribution = extrapolated
    gap = float(gradient(channel, shares, distribution).max()) - 1.0
    return MostLikely(distribution, max(gap, 0.0))


def _value(channel: Channel, shares: Floats, distribution: Floats) -> float:
    seen = shares > 0
    report = channel.forward(distribution)[seen]
    return float(shares[seen] @ np.log(report)) if report.min() > 0 else -np.inf


def gradient(channel: Channel, shares: Floats, distribution: Floats) -> Floats:
    """Gradient of the log-likelihood of reports (b,): also the factors of an EM step, (a,)."""
    report = channel.forward(distribution)
    seen = shares > 0
    return channel.backward(np.divide(shares, report, out=np.zeros_like(shares), where=seen))
