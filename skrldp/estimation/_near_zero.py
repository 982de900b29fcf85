"""Which standard errors of maximum likelihood are stated: those that zeros do not make too large.

Fisher's information is about distributions without zeros. Near a zero the estimate cannot move
freely, and it spreads less. So the error is computed twice: freely, and as if one record more of
each cell had been seen as it is. That record adds 1/π_x² to the information about the probability
π_x of a cell: next to nothing if the reports know π_x well, and nearly all there is if they know
it to be small only. The spread of the estimate is between the two. An error is stated where they
agree within a tenth. For a share of true records, that is where more than four are expected.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, solve_triangular

from skrldp._typing import Booleans, Floats
from skrldp.estimation._convex import Convex

__all__ = ["NearZero", "agree"]

_KEPT = 0.9  # of a standard error, that must be left when a record of each cell is added
_MOST_KNOWN = 10.0  # times what n reports tell, of what a constraint holds: it is then fixed
_TINY = 1e-300


def agree(free: Floats, anchored: Floats) -> Booleans:
    """Whether variances stay nearly the same if one record more of each cell is added."""
    agreed: Booleans = anchored >= _KEPT**2 * free
    return agreed


class NearZero:
    """Variances of estimates if one record more of each cell had been seen.

    Shapes: matrix (b, a), distribution (a,), report (b,).
    """

    def __init__(
        self,
        matrix: Floats,
        distribution: Floats,
        report: Floats,
        n: float,
        constraints: Sequence[Convex] = (),
    ) -> None:
        # In units of the probabilities themselves, so that zeros divide nothing.
        inverse = np.divide(n, report, out=np.zeros_like(report), where=report > 0)
        rows = matrix * distribution * np.sqrt(inverse)[:, None]
        information = rows.T @ rows
        information.flat[:: len(information) + 1] += 1.0
        for constraint in constraints:
            slope, room = (
                constraint.slope(distribution[None])[0],
                -constraint.value(distribution[None]),
            )
            slope = (slope - slope @ distribution) * distribution  # moves keep the sum
            least = np.linalg.norm(slope) / (_MOST_KNOWN * np.sqrt(n))
            slope /= max(float(room[0]), float(least), _TINY)
            information += np.outer(slope, slope)
        self._distribution = distribution
        self._factor = cho_factor(information, lower=True)[0]
        self._sum = self._scaled(np.ones((1, len(distribution))))[:, 0]

    def _scaled(self, functions: Floats) -> Floats:
        scaled: Floats = solve_triangular(
            self._factor, (functions * self._distribution).T, lower=True
        )
        return scaled

    def variances(self, functions: Floats) -> Floats:
        """Variances of linear functions of the distribution, (m, a) to (m,)."""
        moved = self._scaled(functions)
        shared = self._sum @ moved  # all probabilities together do not vary
        found: Floats = np.sum(moved**2, axis=0) - shared**2 / (self._sum @ self._sum)
        return np.maximum(found, 0.0)
