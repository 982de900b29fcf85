"""Convex functions of distributions, evaluated at many points at once."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from skrldp._typing import Booleans, Floats, Indices
from skrldp.estimation.channels import BlockChannel, Channel

__all__ = [
    "BlockLogarithms",
    "Convex",
    "Divergence",
    "Logarithms",
    "Means",
    "diagonal",
    "log_likelihood",
]

_FAR = 0.1  # relative error of a term of a Hessian that need not be exact


class Convex(ABC):
    """A convex function of positive vectors, evaluated at many points at once."""

    @abstractmethod
    def value(self, points: Floats) -> Floats:
        """Values at the points: (m, a) to (m,)."""

    @abstractmethod
    def slope(self, points: Floats) -> Floats:
        """Gradients at the points: (m, a) to (m, a)."""

    @abstractmethod
    def add_curvature(self, points: Floats, factors: Floats, total: Floats) -> None:
        """Add the Hessians at the points, times factors (m,), to `total`, (m, a, a)."""


@dataclass(frozen=True, eq=False)
class Logarithms(Convex):
    """−Σ_y w_y log (R x)_y − offset: a log-likelihood's negative."""

    weights: Floats  # (b,)
    offset: float
    rows: Floats | None = None  # (b, a), R; None for the identity
    square: Floats | None = None  # (a, a), the Hessian where all (R x)_y are 1

    def _inner(self, points: Floats) -> Floats:
        inner: Floats = points if self.rows is None else points @ self.rows.T
        return inner

    def value(self, points: Floats) -> Floats:
        """Values at the points: (m, a) to (m,)."""
        values: Floats = -np.log(self._inner(points)) @ self.weights - self.offset
        return values

    def slope(self, points: Floats) -> Floats:
        """Gradients at the points: (m, a) to (m, a)."""
        prices: Floats = -self.weights / self._inner(points)
        return prices if self.rows is None else prices @ self.rows

    def add_curvature(self, points: Floats, factors: Floats, total: Floats) -> None:
        """Add the Hessians at the points, times factors (m,), to `total`, (m, a, a)."""
        relative = 1.0 / self._inner(points) ** 2
        if self.rows is None:
            diagonal(total)[...] += factors[:, None] * self.weights * relative
            return
        for place, factor in enumerate(factors):
            far = np.flatnonzero(np.abs(relative[place] - 1.0) > _FAR)
            if self.square is None or 2 * len(far) > len(self.rows):
                scaled = self.rows * np.sqrt(factor * self.weights * relative[place])[:, None]
                total[place] += scaled.T @ scaled
            else:
                excess = factor * self.weights[far] * (relative[place, far] - 1.0)
                total[place] += factor * self.square
                total[place] += self.rows[far].T @ (self.rows[far] * excess[:, None])


@dataclass(frozen=True, eq=False)
class BlockLogarithms(Convex):
    """−Σ_y w_y log ((Q x)_y / p_y) − offset for a matrix Q of four probabilities."""

    weights: Floats  # (n,), those of the symbols that were seen
    offset: float
    channel: BlockChannel
    scale: Floats  # (n,), p
    seen: Booleans  # (b,)

    def _report(self, points: Floats) -> Floats:
        """Probabilities of the symbols that were seen."""
        return self.channel.forward(points)[:, self.seen]

    def _spread(self, numbers: Floats) -> Floats:
        """Write numbers of the seen symbols, (m, n), beside zeros for the others, (m, b)."""
        spread = np.zeros((len(numbers), len(self.seen)))
        spread[:, self.seen] = numbers
        return spread

    def value(self, points: Floats) -> Floats:
        """Values at the points: (m, a) to (m,)."""
        inner = self._report(points) / self.scale
        values: Floats = -np.log(inner) @ self.weights - self.offset
        return values

    def slope(self, points: Floats) -> Floats:
        """Gradients at the points: (m, a) to (m, a)."""
        return self.channel.backward(self._spread(-self.weights / self._report(points)))

    def heights(self, points: Floats) -> Floats:
        """D of the Hessians Qᵀ diag(D) Q: (m, a) to (m, b)."""
        return self._spread(self.weights / self._report(points) ** 2)

    def add_curvature(self, points: Floats, factors: Floats, total: Floats) -> None:
        """Add the Hessians at the points, times factors (m,), to `total`, (m, a, a)."""
        matrix = self.channel.dense().matrix
        for place, heights in enumerate(self.heights(points)):
            total[place] += factors[place] * (matrix.T * heights) @ matrix


def log_likelihood(
    channel: Channel, weights: Floats, report: Floats | None = None
) -> Logarithms | BlockLogarithms:
    """Write −Σ_y w_y log ((Q x)_y / p_y), with the structure of the channel.

    Shapes: weights w (b,), report p (b,), at which the Hessian is kept; None for p = 1.
    """
    seen = weights > 0
    scale = np.ones(len(weights)) if report is None else report
    if isinstance(channel, BlockChannel):
        return BlockLogarithms(weights[seen], 0.0, channel, scale[seen], seen)
    rows = channel.dense().matrix[seen] / scale[seen, None]
    if report is None:
        return Logarithms(weights[seen], 0.0, rows)
    scaled = rows * np.sqrt(weights[seen])[:, None]
    return Logarithms(weights[seen], 0.0, rows, scaled.T @ scaled)


class Divergence(Convex):
    """Rényi's D_α(centre ‖ x) − radius, which is convex in x (van Erven and Harremoës 2014).

    Shapes: centre (a,).
    """

    def __init__(self, centre: Floats, alpha: float, radius: float) -> None:
        self.cells = np.flatnonzero(centre > 0)
        self.logs, self.alpha, self.radius = np.log(centre[self.cells]), alpha, radius

    def _terms(self, points: Floats) -> Floats:
        """Logarithms of centre^α x^(1−α)."""
        terms: Floats = self.alpha * self.logs + (1.0 - self.alpha) * np.log(points[:, self.cells])
        return terms

    def value(self, points: Floats) -> Floats:
        """Values at the points: (m, a) to (m,)."""
        values: Floats = logsumexp(self._terms(points), axis=1) / (self.alpha - 1.0) - self.radius
        return values

    def slope(self, points: Floats) -> Floats:
        """Gradients at the points: (m, a) to (m, a)."""
        slopes = np.zeros_like(points)
        slopes[:, self.cells] = -softmax(self._terms(points), axis=1) / points[:, self.cells]
        return slopes

    def add_curvature(self, points: Floats, factors: Floats, total: Floats) -> None:
        """Add the Hessians at the points, times factors (m,), to `total`, (m, a, a)."""
        shares, own = softmax(self._terms(points), axis=1), points[:, self.cells]
        slopes = shares / own
        block = (1.0 - self.alpha) * factors[:, None, None] * slopes[:, :, None] * slopes[:, None]
        diagonal(block)[...] += self.alpha * factors[:, None] * shares / own**2
        total[:, self.cells[:, None], self.cells] += block


class Means(Convex):
    """Share · Σ_{x in C} x − Π_{x in C} x^{p_x}: a multiple of a sum, less a geometric mean."""

    def __init__(self, cells: Indices, exponents: Floats, share: float) -> None:
        self.cells, self.exponents, self.share = cells, exponents, share

    def _mean(self, points: Floats) -> Floats:
        mean: Floats = np.exp(np.log(points[:, self.cells]) @ self.exponents)
        return mean

    def value(self, points: Floats) -> Floats:
        """Values at the points: (m, a) to (m,)."""
        values: Floats = self.share * points[:, self.cells].sum(axis=1) - self._mean(points)
        return values

    def slope(self, points: Floats) -> Floats:
        """Gradients at the points: (m, a) to (m, a)."""
        slopes = np.zeros_like(points)
        logs = self.exponents / points[:, self.cells]
        slopes[:, self.cells] = self.share - self._mean(points)[:, None] * logs
        return slopes

    def add_curvature(self, points: Floats, factors: Floats, total: Floats) -> None:
        """Add the Hessians at the points, times factors (m,), to `total`, (m, a, a)."""
        own = points[:, self.cells]
        logs, scale = self.exponents / own, factors * self._mean(points)
        block = -scale[:, None, None] * logs[:, :, None] * logs[:, None, :]
        diagonal(block)[...] += scale[:, None] * logs / own
        total[:, self.cells[:, None], self.cells] += block


def diagonal(matrices: Floats) -> Floats:
    """Diagonals of matrices (m, a, a), as a view of shape (m, a) that can be written to."""
    m, a, _ = matrices.shape
    return matrices.reshape(m, a * a)[:, :: a + 1]
