"""What a design minimises: an expected cost, at one distribution or at the worst of a ball."""

from dataclasses import dataclass

import numpy as np

from skrldp._typing import Floats
from skrldp.support_function import pull_in, support, worst_conditionals

__all__ = ["ExpectedCost"]


@dataclass(frozen=True, eq=False)
class ExpectedCost:
    r"""Expected cost of a mechanism at the worst distribution of a ball.

    It is :math:`\max_P \sum_{x,y} P_x Q_{yx} c_{yx}` over the distributions P of the ball, linear
    in the mechanism Q if the ball is a point and convex otherwise.
    """

    cost: Floats  # (b, a), cost of reporting y about a record in cell x
    distribution: Floats  # (a,), centre of the ball
    # alpha, radius: Its order and radius (nats). Radius 0: this distribution alone; infinite: the
    # worst cell.
    alpha: float = 1.0
    radius: float = 0.0

    @property
    def scale(self) -> float:
        """Size of the costs that matter: the least one that a constant report has, or any has."""
        least = float((np.abs(self.cost) @ self.distribution).min())
        return least or float(np.abs(self.cost).max()) or 1.0

    @property
    def robust(self) -> bool:
        """Whether more than one distribution counts."""
        return self.radius > 0.0

    def by_cell(self, matrix: Floats) -> Floats:
        """Take the expected cost of a record in each cell.

        Shapes: `matrix` (b, a); returns (a,).
        """
        return np.einsum("yx,yx->x", matrix, self.cost)

    def at(self, distribution: Floats) -> Floats:
        """Write the expected cost at a distribution as coefficients of the mechanism.

        Shapes: `distribution` (a,); returns (b, a).
        """
        return distribution * self.cost

    def worst_constant(self) -> Floats:
        """Take the expected cost of each constant report.

        Shapes: returns (b,).
        """
        if not self.robust:
            return self.cost @ self.distribution
        constant = np.zeros_like(self.cost)
        values = np.empty(len(constant))
        for report in range(len(constant)):
            constant[report] = 1.0
            values[report] = self.worst(constant)[0]
            constant[report] = 0.0
        return values

    def pull_in(self, distribution: Floats) -> Floats:
        """Move a distribution into the ball, by little if it is nearly inside.

        Shapes: `distribution` (a,); returns (a,).
        """
        if not self.robust:
            return self.distribution
        if np.isinf(self.radius):
            return distribution
        ball = self.distribution[None, None], np.ones((1, 1)), self.alpha, self.radius
        return pull_in(distribution[None, None], *ball)[0, 0]

    def worst(self, matrix: Floats) -> tuple[float, Floats]:
        """Bound the expected cost at every distribution of the ball.

        Shapes: `matrix` (b, a). Returns `bound`: no distribution of the ball has a greater expected
        cost, rounding included; `distribution` (a,): a distribution of the ball that (nearly)
        attains it.
        """
        cells = self.by_cell(matrix)
        if not self.robust:
            return float(self.distribution @ cells), self.distribution
        if np.isinf(self.radius):
            return float(cells.max()), (np.arange(len(cells)) == cells.argmax()).astype(float)
        problem = (
            cells[None, None],
            self.distribution[None, None],
            np.ones((1, 1)),
            self.alpha,
            self.radius,
        )
        best = support(*problem)
        return float(best.bound[0]), worst_conditionals(*problem, best.slack)[0, 0]
