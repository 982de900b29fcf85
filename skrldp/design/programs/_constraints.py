"""Linear constraints on mechanisms: privacy at given conditionals, and columns that sum to 1."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from skrldp._typing import Floats, Indices
from skrldp.privacy import Region, Requirement, WorstPairs

__all__ = ["Cuts", "column_sums"]


@dataclass(frozen=True, eq=False)
class Cuts:
    """Privacy constraints of single rows, for given conditionals."""

    row: Indices  # (m,), row of the mechanism
    entries: Indices  # (m, 2, k), the entries of the row that the two secrets have
    conditionals: Floats  # (m, 2, k), conditionals of the two secrets
    eps: Floats  # (m,), ε of each pair, in nats

    @classmethod
    def of(
        cls,
        region: Region,
        row: Indices,
        first: Indices,
        second: Indices,
        conditionals: Floats,
        eps: Floats,
    ) -> "Cuts":
        """Write down the constraints of pairs of secrets.

        Shapes: `row` and `first` and `second` (m,); `conditionals` (m, 2, k); `eps` (m,).
        """
        place = region.rows.place[np.stack([first, second], axis=1)]
        return cls(row, region.rows.parts[place], conditionals, eps)

    @classmethod
    def worst(cls, region: Region, found: WorstPairs) -> "Cuts":
        """Write down the constraints that some rows violate."""
        assert found.conditionals is not None
        names = found.row, found.first, found.second
        return cls.of(region, *names, found.conditionals, found.eps)

    @classmethod
    def at_public(cls, one: Requirement) -> "Cuts":
        """Write down the constraints of a single row at the public conditionals."""
        first, second = one.region.pairs
        differ = first != second
        first, second = first[differ], second[differ]
        public = one.region.conditionals
        pairs = np.stack([public[first], public[second]], axis=1)
        row, eps = np.zeros(len(first), dtype=np.intp), np.full(len(first), one.eps)
        return cls.of(one.region, row, first, second, pairs, eps)

    def __len__(self) -> int:
        return len(self.row)

    def coefficients(self, n_reports: int, n_cells: int) -> sp.csr_array:
        """Write the cuts as linear functions of the mechanism that must not be positive.

        They are divided by the exponential of ε, so that a solver's tolerance means the same at
        every ε.

        Shapes: returns (m, b * a).
        """
        column = self.row[:, None, None] * n_cells + self.entries
        factor = np.stack([np.exp(-self.eps), -np.ones(len(self))], axis=1)
        value = self.conditionals * factor[..., None]
        pointer = np.arange(len(self) + 1) * 2 * self.entries.shape[2]
        table = sp.csr_array(
            (value.ravel(), column.ravel(), pointer), shape=(len(self), n_reports * n_cells)
        )
        table.sum_duplicates()  # copies, and one part that is compared with itself
        table.eliminate_zeros()
        return table


def column_sums(n_reports: int, n_cells: int) -> sp.csr_array:
    """Write the sums of a mechanism's columns as linear functions of its entries, row by row.

    Shapes: returns (a, b * a).
    """
    return sp.csr_array(sp.kron(np.ones((1, n_reports)), sp.eye_array(n_cells)))
