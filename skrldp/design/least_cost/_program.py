"""The linear program over whole mechanisms under the privacy constraints found so far."""

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from skrldp._highs import LinearProgram
from skrldp._typing import Floats
from skrldp.design.programs import Cuts, ExpectedCost, column_sums

__all__ = ["CutProgram", "cheapest", "weak_duality"]


class CutProgram:
    """The linear program over stochastic matrices under the cuts found so far.

    With a robust cost its value is one more variable, at least the cost at each distribution that
    was added.

    Parameters
    ----------
    cost : ExpectedCost
        What to minimise.
    """

    def __init__(self, cost: ExpectedCost) -> None:
        self.cost = cost
        self.solves = 0
        b, a = cost.cost.shape
        self._scale = cost.scale
        self._distributions: list[Floats] = []  # of the robust cost
        self._distribution_rows: list[int] = []
        self._cut_rows = np.zeros(0, dtype=np.intp)
        self._cuts = [csr_array((0, b * a))]
        # Costs of at least 1, so that the worst of them is no smaller than a variable can be.
        self._positive = (cost.cost - cost.cost.min()) / self._scale + 1.0
        linear = -cost.at(cost.distribution).ravel() / self._scale
        if cost.robust:
            linear = np.append(np.zeros(b * a), -1.0)
        self._program = LinearProgram(linear, upper=np.inf)
        ones = column_sums(b, a)
        if cost.robust:
            # of arrays, older SciPy makes a matrix
            ones = csr_array(hstack([ones, csr_array((a, 1))]))
        self._program.add_rows(ones, 1.0, 1.0)

    def __len__(self) -> int:
        return len(self._cut_rows)

    def add(self, cuts: Cuts) -> None:
        """Add privacy constraints."""
        if not len(cuts):
            return
        table = cuts.coefficients(*self.cost.cost.shape)
        self._cuts.append(table)
        start = self._program.n_rows
        self._cut_rows = np.append(self._cut_rows, start + np.arange(len(cuts)))
        self._program.add_rows(table, -np.inf, 0.0)

    def add_distribution(self, distribution: Floats) -> None:
        """Add a distribution at which the robust cost counts.

        Shapes: `distribution` (a,).
        """
        self._distributions.append(distribution)
        self._distribution_rows.append(self._program.n_rows)
        row = np.append((distribution * self._positive).ravel(), -1.0)
        self._program.add_rows(csr_array(row[None]), -np.inf, 0.0)

    def solve(self, seconds: float | None = None) -> tuple[Floats, float]:
        """Solve the program.

        Returns `matrix` (b, a): cheapest under the cuts so far; seldom private; `bound`: no private
        mechanism is cheaper. It follows from the program's dual variables by weak duality, whether
        they are optimal or not.
        """
        x, duals, _ = self._program.solve(seconds)
        self.solves += 1
        b, a = self.cost.cost.shape
        matrix = np.maximum(x[: b * a].reshape(b, a), 0.0)
        multipliers = np.maximum(duals[self._cut_rows], 0.0) * self._scale
        distribution = self.cost.distribution
        if self.cost.robust:
            share = np.maximum(duals[self._distribution_rows], 0.0)
            if share.sum() > 0:
                distribution = share @ np.array(self._distributions) / share.sum()
        bound = weak_duality(
            self.cost.at(distribution),
            vstack(self._cuts, format="csr"),
            multipliers,
        )
        return matrix, bound


def weak_duality(cost: Floats, cuts: csr_array, multipliers: Floats) -> float:
    """Bound the cost of every mechanism that satisfies some cuts from below.

    The Lagrangian with any non-negative multipliers of the cuts is least where each cell takes its
    cheapest report.

    Shapes: `cost` (b, a); `cuts` (m, b * a); `multipliers` (m,).
    """
    lagrangian = cost + (cuts.T @ multipliers).reshape(cost.shape)
    return float(lagrangian.min(axis=0).sum())


def cheapest(cost: ExpectedCost) -> tuple[Floats, float]:
    """Find the cheapest mechanism, private or not: each cell has its cheapest report.

    Shapes: returns `matrix` (b, a). Returns `bound`: no mechanism is cheaper.
    """
    report = np.arange(len(cost.cost))[:, None]
    matrix = (report == cost.cost.argmin(axis=0)).astype(float)
    worst = cost.worst(matrix)[1]
    return matrix, float(cost.at(worst).min(axis=0).sum())
