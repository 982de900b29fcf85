"""Components of programs: linear constraints, expected costs, and mixtures of rows."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from skrldp._highs import LinearProgram
from skrldp._typing import Booleans, Floats, Indices
from skrldp.design.limits import ROUNDING
from skrldp.information import row_information
from skrldp.privacy.private_rows import Region
from skrldp.privacy.requirements import Requirement
from skrldp.privacy.screening import WorstPairs
from skrldp.support_function import pull_in, support, worst_conditionals


@dataclass(frozen=True, eq=False)
class Cuts:
    """Privacy constraints of single rows, for given conditionals."""

    row: Indices  # (m,), row of the mechanism
    entries: Indices  # (m, 2, k), the entries of the row that belong to the two secrets
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
        """Return the constraints of pairs of secrets.

        Shapes: `row` and `first` and `second` (m,); `conditionals` (m, 2, k); `eps` (m,).
        """
        place = region.rows.place[np.stack([first, second], axis=1)]
        return cls(row, region.rows.parts[place], conditionals, eps)

    @classmethod
    def worst(cls, region: Region, found: WorstPairs) -> "Cuts":
        """Return the constraints that rows violate."""
        assert found.conditionals is not None
        names = found.row, found.first, found.second
        return cls.of(region, *names, found.conditionals, found.eps)

    @classmethod
    def at_public(cls, one: Requirement) -> "Cuts":
        """Return the constraints of a single row at the public conditionals."""
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
        """Return the cuts as linear functions of the mechanism that must not be positive.

        They are divided by the exponential of ε, so that a solver's tolerance has the same meaning
        at every ε.

        Shapes: returns (m, b * a).
        """
        column = self.row[:, None, None] * n_cells + self.entries
        factor = np.stack([np.exp(-self.eps), -np.ones(len(self))], axis=1)
        value = self.conditionals * factor[..., None]
        pointer = np.arange(len(self) + 1) * 2 * self.entries.shape[2]
        table = sp.csr_array(
            (value.ravel(), column.ravel(), pointer), shape=(len(self), n_reports * n_cells)
        )
        table.sum_duplicates()  # sum copies of a part, and a part that is compared with itself
        table.eliminate_zeros()
        return table


def column_sums(n_reports: int, n_cells: int) -> sp.csr_array:
    """Return the column sums of a mechanism as linear functions of its entries, row by row.

    Shapes: returns (a, b * a).
    """
    return sp.csr_array(sp.kron(np.ones((1, n_reports)), sp.eye_array(n_cells)))


@dataclass(frozen=True, eq=False)
class ExpectedCost:
    r"""Expected cost of a mechanism at the worst distribution of a ball.

    The cost is :math:`\max_P \sum_{x,y} P_x Q_{yx} c_{yx}` over the distributions P of the ball. It
    is linear in the mechanism Q if the ball is a point, and convex otherwise.
    """

    cost: Floats  # (b, a), cost of reporting y about a record in cell x
    distribution: Floats  # (a,), centre of the ball
    # alpha, radius: the order and the radius of the ball, in nats. If the radius is 0, the ball
    # contains only its centre; if infinite, all distributions.
    alpha: float = 1.0
    radius: float = 0.0

    @property
    def scale(self) -> float:
        """Scale of the costs: the smallest expected cost of a constant report, if positive.

        Otherwise, it is the largest cost of any report.
        """
        least = float((np.abs(self.cost) @ self.distribution).min())
        return least or float(np.abs(self.cost).max()) or 1.0

    @property
    def robust(self) -> bool:
        """Whether the ball contains more than one distribution."""
        return self.radius > 0.0

    def by_cell(self, matrix: Floats) -> Floats:
        """Return the expected cost of a record in each cell.

        Shapes: `matrix` (b, a); returns (a,).
        """
        return np.einsum("yx,yx->x", matrix, self.cost)

    def at(self, distribution: Floats) -> Floats:
        """Return the expected cost at a distribution as coefficients of the mechanism.

        Shapes: `distribution` (a,); returns (b, a).
        """
        return distribution * self.cost

    def worst_constant(self) -> Floats:
        """Return the expected cost of each constant report.

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
        """Move a distribution into the ball; the step is small if it is nearly inside.

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

        Shapes: `matrix` (b, a). Returns `bound`: no distribution of the ball has a larger expected
        cost, even with rounding errors; `distribution` (a,): a distribution of the ball that nearly
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


# Minimum reduced cost of a new row in nats, scaled to unit sum or per unit of its probability;
# above the linear program's tolerance of 1e-9. Doubling it changes nothing.
LEAST_GAIN = 1e-10


def used(weights: Floats) -> Booleans:
    """Return which rows a mixture uses.

    Shapes: `weights` (m,); returns (m,).
    """
    return weights > ROUNDING  # the weights of a basic solution are 0 or far above this


class RowMixture:
    r"""The weights :math:`\theta_v \ge 0` on rows v that maximise information.

    Maximises :math:`\sum_v \theta_v \mu(v)` under :math:`\sum_v \theta_v v = 1`, as in Entropy
    Theorem 3; rows may be added. The dual variable of a cell is the marginal value of its
    probability. The *reduced cost* of a row that is not included is :math:`\mu(v) - \lambda \cdot
    v`, where λ are the dual variables.

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
