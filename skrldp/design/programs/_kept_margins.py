"""Margins that reports have in expectation, as PRAM's invariance keeps them."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from skrldp._typing import Floats
from skrldp.privacy import Requirements

__all__ = ["KeptMargins"]


@dataclass(frozen=True, eq=False)
class KeptMargins:
    r"""Linear constraints: at a distribution, reports have given shares of some categories.

    They are :math:`\sum_{y \in C} \sum_x p_x Q_{yx} = \sum_{y \in C} d_y` for each category C. The
    constant reports d keep them, whatever the record is, and so does each report's replacement by a
    draw from the values given it.
    """

    members: Floats  # (m, b), 1 for the reports of each category, 0 for the others
    distribution: Floats  # (a,), of the cells
    draw: Floats  # (b,), all positive: distribution of the reports that keeps all shares
    stands_for: Floats  # (b, a), 1 for the cells whose record is the report, 0 for the others

    @property
    def shares(self) -> Floats:
        """What the reports of each category add up to, shape (m,)."""
        return self.members @ self.draw

    def coefficients(self) -> sp.csr_array:
        """Write the categories' shares as linear functions of the mechanism.

        Shapes: returns (m, b * a).
        """
        return sp.csr_array(sp.kron(self.members, self.distribution[None]))

    def deviation(self, matrix: Floats) -> float:
        """Find by how much a mechanism misses a share at most.

        Shapes: `matrix` (b, a).
        """
        reported = self.members @ (matrix @ self.distribution)
        return float(np.abs(reported - self.shares).max())

    def drawn_again(self, matrix: Floats) -> Floats:
        """Replace each report by a draw from the records given it: all margins are kept then.

        What is private stays so, as it is the report alone that is looked at.

        Shapes: `matrix` (b, a); returns (b, a).
        """
        together = (matrix * self.distribution) @ self.stands_for.T
        sums = together.sum(axis=1, keepdims=True)
        given = np.divide(
            together, sums, out=np.tile(self.draw, (len(matrix), 1)), where=sums > 0.0
        )
        return given.T @ matrix

    def repair(self, matrix: Floats, requirements: Requirements) -> Floats:
        """Make a mechanism private by mixing in constant reports that keep the shares.

        They are as much as the report that needs most (docs/proofs.md, Lemma 18) takes.

        Shapes: `matrix` (b, a); returns (b, a).
        """
        clean = np.clip(matrix, 0.0, None)
        clean = clean / clean.sum(axis=0)
        much = float((requirements.shifts(clean) / self.draw).max())
        return (clean + much * self.draw[:, None]) / (1.0 + much)
