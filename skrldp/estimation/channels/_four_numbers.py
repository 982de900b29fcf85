"""Matrices on pairs (s, u) whose entries are four numbers: products and linear systems."""

import numpy as np

from skrldp._typing import Floats

__all__ = ["FourNumbers"]


class FourNumbers:
    """A matrix on pairs (s, u) that depends only on whether s' = s and whether u' = u.

    Such matrices commute and have four common eigenspaces: the constants, the functions of u alone
    with mean 0, those of s alone with mean 0, and the rest.
    """

    def __init__(self, shape: tuple[int, int], factors: tuple[float, float, float, float]) -> None:
        self.shape, self.factors = shape, factors

    def apply(self, functions: Floats) -> Floats:
        """Multiply rows (..., a) by the matrix."""
        table = functions.reshape(*functions.shape[:-1], *self.shape)
        constant, of_values, of_secrets, rest = self.factors
        by_value = table.mean(axis=-2, keepdims=True)
        by_secret = table.mean(axis=-1, keepdims=True)
        mean = by_value.mean(axis=-1, keepdims=True)
        result = rest * table + (of_values - rest) * by_value + (of_secrets - rest) * by_secret
        result += (constant - of_values - of_secrets + rest) * mean
        return result.reshape(functions.shape)

    def entries(self) -> tuple[float, float, float, float]:
        """Entries (same, same secret, same value, other)."""
        (a1, a2), (constant, of_values, of_secrets, rest) = self.shape, self.factors
        other = (constant - of_values - of_secrets + rest) / (a1 * a2)
        value, secret = (of_values - rest) / a1, (of_secrets - rest) / a2
        return rest + value + secret + other, secret + other, value + other, other

    def solved(self, heights: Floats, ratio: Floats, sides: Floats) -> Floats:
        """Solve (Qᵀ diag(heights) Q + diag(ratio)) x = side, Q being the matrix less `other`.

        On moves x whose sum is 0, Q is the matrix. With B = d I + f 11ᵀ for each value, and the
        sums p of x over values, Q x is B x + e p. Each value has a system that is diagonal but for
        two ranks; what the values share, p and its counterpart, are few unknowns for each problem.

        Shapes: heights and ratio (m, a), sides (m, j, a) to (m, j, a).
        """
        m, (a1, a2) = len(heights), self.shape
        same, same_secret, same_value, other = self.entries()
        d, e, f = same - same_secret - same_value + other, same_secret - other, same_value - other
        heights, ratio = heights.reshape(m, 1, a1, a2), ratio.reshape(m, 1, a1, a2)
        sides = sides.reshape(m, -1, a1, a2)
        if (
            a1 > a2
        ):  # the shared unknowns are one for each secret or one for each value: whichever are fewer
            heights, ratio, sides = (part.swapaxes(2, 3) for part in (heights, ratio, sides))
            e, f = f, e
        whole = self.factors[2 if a1 > a2 else 1]
        system = _Columns(heights, ratio, d, f, whole)
        found = system.solved(sides)
        if e != 0.0:
            k = min(a1, a2)
            units = np.eye(k)[None, :, :, None]
            shared = np.concatenate([system.both(heights * units), units + 0.0 * heights], axis=1)
            own = system.solved(shared)  # answers to p and to its counterpart, (m, 2k, k, l)
            sums = np.concatenate([_sums(own), _sums(heights * system.both(own))], axis=2)
            square = np.eye(2 * k) + e * sums.swapaxes(1, 2)
            square[:, k:, :k] -= e * _sums(heights) * np.eye(k)
            right = np.concatenate([_sums(found), _sums(heights * system.both(found))], axis=2)
            amounts = np.linalg.solve(square, right.swapaxes(1, 2)).swapaxes(1, 2)
            found = found - e * np.einsum("mji,mikl->mjkl", amounts, own)
        if a1 > a2:
            found = found.swapaxes(2, 3)
        return found.reshape(m, -1, a1 * a2)

    def powered(self, exponent: int) -> "FourNumbers":
        """Return the matrix of powers of the entries."""
        same, secret, value, other = (entry**exponent for entry in self.entries())
        return FourNumbers.from_entries(self.shape, (same, secret, value, other))

    @classmethod
    def from_entries(
        cls, shape: tuple[int, int], entries: tuple[float, float, float, float]
    ) -> "FourNumbers":
        """Make the matrix from its entries: find the four eigenvalues."""
        (a1, a2), (same, same_secret, same_value, other) = shape, entries
        rest = (same - same_secret) - (same_value - other)
        of_values, of_secrets = a1 * (same_value - other) + rest, a2 * (same_secret - other) + rest
        constant = a1 * a2 * other + of_values + of_secrets - rest
        return cls(shape, (constant, of_values, of_secrets, rest))


class _Columns:
    """Systems B D B + R for each column of tables, with B = d I + f 11ᵀ; D and R (m, 1, k, l).

    `whole` is d + k f, the eigenvalue of constants. Where that is 0, as of independent responses, B
    is singular, and what the entries of R add must not be lost beside those of D.
    """

    def __init__(self, heights: Floats, ratio: Floats, d: float, f: float, whole: float) -> None:
        self.d, self.f, self.heights = d, f, heights
        self.inverse = 1.0 / (d * d * heights + ratio)  # of the diagonal part
        if f != 0.0:
            weighted = self.inverse * heights
            moments = (self.inverse, weighted, weighted * heights, self.inverse * ratio)
            zeroth, first, second, kept = (part.sum(axis=2, keepdims=True) for part in moments)
            square = f * f * heights.sum(axis=2, keepdims=True)
            self.corner = 1.0 + d * f * first
            if d != 0.0:  # the same, where most of it cancels
                large = kept < heights.shape[2] / 2.0
                self.corner = np.where(large, (whole - f * kept) / d, self.corner)
            self.above, self.square = d * f * zeroth, square
            self.first = self.corner + square * zeroth
            self.below = d * f * second + square * first
            # first * corner - above * below, of which most cancels
            left = (weighted * ratio).sum(axis=2, keepdims=True)
            self.determinant = self.corner**2 + f * f * zeroth * left

    def both(self, tables: Floats) -> Floats:
        """Multiply columns by B."""
        return self.d * tables + self.f * tables.sum(axis=2, keepdims=True)

    def solved(self, sides: Floats) -> Floats:
        """Solve for sides (m, j, k, l)."""
        if self.f == 0.0:
            return self.inverse * sides
        plain = self.inverse * sides
        one = plain.sum(axis=2, keepdims=True)
        other = (self.heights * plain).sum(axis=2, keepdims=True)
        total = (self.corner * one - self.above * other) / self.determinant
        weighted = (self.first * other - self.below * one) / self.determinant
        along, evenly = self.d * self.f * total, self.d * self.f * weighted + self.square * total
        return self.inverse * (sides - along * self.heights - evenly)


def _sums(tables: Floats) -> Floats:
    """Add the columns: (m, j, k, l) to (m, j, k)."""
    return tables.sum(axis=3)
