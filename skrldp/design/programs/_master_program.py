"""The master program: the most informative mechanism that is made of given rows."""

import numpy as np

from skrldp._highs import LinearProgram
from skrldp._typing import Booleans, Floats
from skrldp.information import row_information

__all__ = ["LEAST_GAIN", "RowMixture", "used"]


# Nats that a new row must be worth, as a row of unit sum or for each unit of its probability: what
# is less drowns in the linear program's tolerance of 1e-9.
LEAST_GAIN = 1e-10
_USED = 1e-12  # weight or dual variable that counts; those of a basic solution are 0 or far above


def used(weights: Floats) -> Booleans:
    """Tell which rows a mixture uses.

    Shapes: `weights` (m,); returns (m,).
    """
    return weights > _USED


class RowMixture:
    r"""Weights :math:`\theta_v \ge 0` on rows v with the most information.

    Maximises :math:`\sum_v \theta_v \mu(v)` under :math:`\sum_v \theta_v v = 1`, as in Entropy
    Theorem 3; rows are added as they are found. The dual variable of a cell is what a little more
    of its probability would be worth. A row that is not there yet has the *reduced cost*
    :math:`\mu(v) - \lambda \cdot v`, with λ the dual variables.

    Parameters
    ----------
    distribution : array of shape (a,)
        Distribution of the cells of a row.
    """

    def __init__(self, distribution: Floats) -> None:
        self.distribution = distribution
        self.rows: Floats = np.zeros((0, len(distribution)))
        self._program = LinearProgram(np.zeros(0))
        self._program.add_rows(np.zeros((len(distribution), 0)), 1.0, 1.0)

    def add(self, rows: Floats, information: Floats | None = None) -> None:
        """Add rows.

        Shapes: `rows` (m, a); `information` (m,).
        """
        if information is None:
            information = row_information(rows, self.distribution)
        self._program.add_columns(information, rows)
        self.rows = np.concatenate([self.rows, rows])

    def solve(self, seconds: float | None = None) -> tuple[Floats, Floats, float]:
        """Find the best mixture.

        Shapes: returns `weights` (m,), `duals` (a,). Returns `value`: mutual information, in nats.
        """
        return self._program.solve(seconds)
