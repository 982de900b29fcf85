"""The linear program over whole mechanisms under the privacy constraints found so far."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from skrldp._highs import LinearProgram
from skrldp._typing import Floats, Indices
from skrldp.design._cost import ExpectedCost
from skrldp.region import Region

__all__ = ["CutProgram", "Cuts", "weak_duality"]


@dataclass(frozen=True, eq=False)
class Cuts:
    """Privacy constraints of single rows, for given conditionals.

    Attributes
    ----------
    row, first, second : arrays of shape (m,)
        Row of the mechanism and the parts of it that the two secrets have.
    laws : array of shape (m, 2, a2)
        Conditionals of the two secrets.
    """

    row: Indices
    first: Indices
    second: Indices
    laws: Floats

    def __len__(self) -> int:
        return len(self.row)

    def coefficients(self, shape: tuple[int, int, int], eps: float) -> csr_array:
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
        value = self.laws * np.array([np.exp(-eps), -1.0])[:, None]
        where = np.arange(len(self)) * 2 * a2
        pointer = np.append(where, len(self) * 2 * a2)
        table = csr_array(
            (value.ravel(), column.ravel(), pointer), shape=(len(self), b * parts * a2)
        )
        table.sum_duplicates()  # one part that is compared with itself
        table.eliminate_zeros()
        return table


class CutProgram:
    """The linear program over stochastic matrices under the cuts found so far.

    Parameters
    ----------
    cost : ExpectedCost
        What to minimise.
    region : Region
        Conditionals that privacy must hold for.
    eps : float
        Privacy parameter, in nats.
    """

    def __init__(self, cost: ExpectedCost, region: Region, eps: float) -> None:
        self.cost = cost
        self.region = region
        self.eps = eps
        self.solves = 0
        b, a = cost.cost.shape
        self.shape = (b, *region.row_shape)
        self._scale = cost.scale
        self._laws: list[Floats] = []  # of the robust cost
        self._law_rows: list[int] = []
        self._cut_rows = np.zeros(0, dtype=np.intp)
        self._cuts = [csr_array((0, b * a))]
        # Costs of at least 1, so that the worst of them is no smaller than a variable can be.
        self._positive = (cost.cost - cost.cost.min()) / self._scale + 1.0
        linear = -cost.at(cost.law).ravel() / self._scale
        if cost.robust:
            linear = np.append(np.zeros(b * a), -1.0)
        self._program = LinearProgram(linear, upper=np.inf)
        cell = np.arange(a)
        columns = (cell[:, None] + a * np.arange(b)).ravel()
        ones = csr_array(
            (np.ones(b * a), columns, np.arange(a + 1) * b), shape=(a, self._program.n_columns)
        )
        self._program.add_rows(ones, 1.0, 1.0)

    def __len__(self) -> int:
        return len(self._cut_rows)

    def add(self, cuts: Cuts) -> None:
        """Add privacy constraints.

        Parameters
        ----------
        cuts : Cuts
            With conditionals of the region.
        """
        if not len(cuts):
            return
        table = cuts.coefficients(self.shape, self.eps)
        self._cuts.append(table)
        start = self._program.n_rows
        self._cut_rows = np.append(self._cut_rows, start + np.arange(len(cuts)))
        self._program.add_rows(table, -np.inf, 0.0)

    def add_law(self, law: Floats) -> None:
        """Let a law count for the robust cost.

        Parameters
        ----------
        law : array of shape (a,)
            A law of the ball.
        """
        self._laws.append(law)
        self._law_rows.append(self._program.n_rows)
        row = np.append((law * self._positive).ravel(), -1.0)
        self._program.add_rows(csr_array(row[None]), -np.inf, 0.0)

    def solve(self, seconds: float | None = None) -> tuple[Floats, float]:
        """Solve the program.

        Parameters
        ----------
        seconds : float, optional
            Time it may take; ``TimeoutError`` beyond.

        Returns
        -------
        matrix : array of shape (b, a)
            Cheapest under the cuts so far; seldom private.
        bound : float
            No private mechanism is cheaper. It follows from the program's prices by weak duality,
            whether they are optimal or not.
        """
        x, duals, _ = self._program.solve(seconds)
        self.solves += 1
        b, a = self.cost.cost.shape
        matrix = np.maximum(x[: b * a].reshape(b, a), 0.0)
        prices = np.maximum(duals[self._cut_rows], 0.0) * self._scale
        law = self.cost.law
        if self.cost.robust:
            share = np.maximum(duals[self._law_rows], 0.0)
            if share.sum() > 0:
                law = share @ np.array(self._laws) / share.sum()
        return matrix, weak_duality(self.cost.at(law), vstack(self._cuts, format="csr"), prices)


def weak_duality(cost: Floats, cuts: csr_array, prices: Floats) -> float:
    """Bound the cost of every mechanism that satisfies some cuts from below.

    With any non-negative prices on the cuts each cell can do no better than take its cheapest
    report.

    Parameters
    ----------
    cost : array of shape (b, a)
        Linear cost of the mechanism.
    cuts : sparse array of shape (m, b * a)
        Functions that must not be positive.
    prices : array of shape (m,)
        Non-negative.

    Returns
    -------
    float
    """
    priced = cost + (cuts.T @ prices).reshape(cost.shape)
    return float(priced.min(axis=0).sum())
