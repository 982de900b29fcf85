"""Linear constraints on mechanisms: privacy at given conditionals, and columns that sum to 1."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from skrldp._typing import Floats, Indices

__all__ = ["Cuts", "column_sums"]


@dataclass(frozen=True, eq=False)
class Cuts:
    """Privacy constraints of single rows, for given conditionals.

    Attributes
    ----------
    row, first, second : arrays of shape (m,)
        Row of the mechanism and the parts of it that the two secrets have.
    conditionals : array of shape (m, 2, a2)
        Conditionals of the two secrets.
    """

    row: Indices
    first: Indices
    second: Indices
    conditionals: Floats

    def __len__(self) -> int:
        return len(self.row)

    def coefficients(self, shape: tuple[int, int, int], eps: float) -> sp.csr_array:
        """Write the cuts as linear functions of the mechanism that must not be positive.

        Parameters
        ----------
        shape : tuple (b, parts, a2)
            Shape of the mechanism.
        eps : float
            Privacy parameter, in nats. The cuts are divided by its exponential, so that a solver's
            tolerance means the same at every eps.

        Returns
        -------
        sparse array of shape (m, b * parts * a2)
        """
        b, parts, a2 = shape
        start = (self.row[:, None] * parts + np.stack([self.first, self.second], axis=1)) * a2
        column = start[..., None] + np.arange(a2)
        value = self.conditionals * np.array([np.exp(-eps), -1.0])[:, None]
        pointer = np.arange(len(self) + 1) * 2 * a2
        table = sp.csr_array(
            (value.ravel(), column.ravel(), pointer), shape=(len(self), b * parts * a2)
        )
        table.sum_duplicates()  # one part that is compared with itself
        table.eliminate_zeros()
        return table


def column_sums(n_reports: int, n_cells: int) -> sp.csr_array:
    """Write the sums of a mechanism's columns as linear functions of its entries, row by row.

    Parameters
    ----------
    n_reports, n_cells : int
        Shape (b, a) of the mechanism.

    Returns
    -------
    sparse array of shape (a, b * a)
    """
    return sp.csr_array(sp.kron(np.ones((1, n_reports)), sp.eye(n_cells)))
