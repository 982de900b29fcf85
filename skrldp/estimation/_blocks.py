"""Matrices that are made of four numbers."""

from skrldp._typing import Floats

__all__ = ["Blocks"]


class Blocks:
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

    def powered(self, exponent: int) -> "Blocks":
        """Return the matrix of powers of the entries."""
        same, secret, value, other = (entry**exponent for entry in self.entries())
        return Blocks.from_entries(self.shape, (same, secret, value, other))

    @classmethod
    def from_entries(
        cls, shape: tuple[int, int], entries: tuple[float, float, float, float]
    ) -> "Blocks":
        """Make the matrix from its entries: find the four eigenvalues."""
        (a1, a2), (same, same_secret, same_value, other) = shape, entries
        rest = (same - same_secret) - (same_value - other)
        of_values, of_secrets = a1 * (same_value - other) + rest, a2 * (same_secret - other) + rest
        constant = a1 * a2 * other + of_values + of_secrets - rest
        return cls(shape, (constant, of_values, of_secrets, rest))
