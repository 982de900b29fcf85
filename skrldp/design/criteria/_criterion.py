r"""What every criterion of a design by rows offers to the solvers.

A mechanism is a sum of rows, :math:`\sum_v \theta_v v = 1` with weights :math:`\theta_v \ge 0` on
private rows v of any scale. A criterion is a concave function of the weights. Its derivative by the
weight of a row v is the *price* of the row, which is convex and homogeneous of degree 1 in v. So
there is an optimal mechanism of extreme rows, and each solver needs only one of three views:

- the best weights of given rows, and what a further row would be worth (:class:`Mixture`);
- the linear cost that touches the criterion at a mechanism, for a way along the central path, which
  information alone has (:meth:`Information.expand`);
- the value of a mechanism.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from skrldp._typing import Booleans, Floats
from skrldp.design.programs import used
from skrldp.design.run import ObjectiveBound
from skrldp.joint import JointDistribution
from skrldp.privacy import Requirements

__all__ = ["SMOOTHING", "TINY", "Criterion", "Mixture", "Optimum"]

# Added to the probabilities of reports before a decoder is made of them. Doubled, 2e-4 of the
# information is lost (benchmarks/bench_constants.py).
SMOOTHING = 1e-5
TINY = 1e-9  # nats: less is none, and nothing is divided by less


class Optimum(NamedTuple):
    """The best weights of given rows."""

    weights: Floats  # (m,), weights of the rows
    duals: Floats  # (a,), what a little more of each cell's probability would be worth
    value: float  # the criterion


class Mixture(ABC):
    r"""Weights on rows that are added as they are found.

    A row v that is not there yet has the *reduced cost* :math:`\pi(v) - \lambda \cdot v`, with
    its price π at the best weights and the dual variables λ of the columns' sums.

    Parameters
    ----------
    n_cells : int
        Number of cells of a row.

    Attributes
    ----------
    rows : array of shape (m, a)
        The rows.
    dropped : int
        How often rows were dropped to make room for others; they may be of use again.
    added : float
        What was added to the criterion so that the weights are found, relatively.
    """

    def __init__(self, n_cells: int) -> None:
        self.rows: Floats = np.zeros((0, n_cells))
        self.dropped = 0
        self.added = 0.0

    @abstractmethod
    def add(self, rows: Floats) -> None:
        """Add rows.

        Shapes: `rows` (m, a).
        """

    @abstractmethod
    def solve(self, seconds: float | None = None, gap: float = 0.0) -> Optimum:
        """Find the best weights; reduced costs and slopes refer to them from then on.

        They may be as far from the best ones as `gap`, relatively.
        """

    @abstractmethod
    def reduced_costs(self, rows: Floats) -> Floats:
        """Return the reduced costs of rows.

        Shapes: `rows` (m, a); returns (m,).
        """

    @abstractmethod
    def slopes(self, rows: Floats) -> Floats:
        """Return the gradients of the reduced costs.

        Shapes: `rows` (m, a); returns (m, a).
        """

    def at_most(self, rows: Floats, value: float) -> float:
        """Bound the criterion of all mixtures of rows, none of which is worth adding.

        `value` is the criterion at the best weights. Shapes: `rows` (m, a).
        """
        return value

    def support(self, weights: Floats) -> Booleans:
        """Tell which rows are in use.

        Shapes: `weights` (m,); returns (m,).
        """
        return used(weights)

    def supported(self, weights: Floats) -> Floats:
        """Write the rows in use, times their weights: a mechanism, nearly.

        Shapes: `weights` (m,); returns (b, a).
        """
        in_use = self.support(weights)
        matrix: Floats = self.rows[in_use] * weights[in_use, None]
        return matrix

    def mechanism(self, weights: Floats) -> Floats:
        """Write a mixture as a mechanism.

        Shapes: `weights` (m,); returns (b, a).
        """
        in_use = used(weights)
        return self.rows[in_use] * weights[in_use, None]


class Criterion(ABC):
    """What a design maximises.

    Parameters
    ----------
    distribution : array of shape (a,)
        Distribution of the cells of a row, at which the design is best.

    Attributes
    ----------
    sense : int
        1 if the quantity that readers know is maximised, -1 if it is minimised.
    name : str
        That quantity's name.
    unit : str
        Its unit.
    scale : float
        Size of prices: a duality gap of this size is one of all that matters.
    """

    sense = 1
    name: str
    unit = ""
    scale: float

    def __init__(self, distribution: Floats) -> None:
        self.distribution = distribution

    @abstractmethod
    def at(self, distribution: Floats) -> "Criterion":
        """Return the same criterion at another distribution.

        Shapes: `distribution` (a,).
        """

    @abstractmethod
    def value(self, matrix: Floats) -> float:
        """Evaluate a mechanism; greater is better.

        Shapes: `matrix` (b, a).
        """

    def stated(self, matrix: Floats) -> float:
        """Evaluate a mechanism as readers know it: minus the value if that is minimised.

        Shapes: `matrix` (b, a).
        """
        return self.sense * self.value(matrix)

    @abstractmethod
    def bound(self, joint: JointDistribution, requirements: Requirements) -> ObjectiveBound:
        """Bound what readers know of every mechanism that meets some requirements."""

    @abstractmethod
    def bound_at(self, distribution: Floats, value: float) -> float:
        """Bound what readers know of every mechanism at another distribution.

        Shapes: `distribution` (a,).
        """

    def optimum_about(self, stated: float, promise: float) -> float | None:
        """Estimate the optimum from what further rows promise; None if they do not say.

        Parameters
        ----------
        stated : float
            What was reached, as readers know it.
        promise : float
            Greatest reduced cost that was found, for a whole mechanism of such rows.
        """
        return None

    def merged(self, matrix: Floats, loss: float) -> Floats:
        """Return a mechanism of fewer rows, if any is known that is nearly as good.

        `loss` is what it may lose, relatively. Shapes: `matrix` (b, a); returns (c, a).
        """
        return matrix

    @abstractmethod
    def mixture(self) -> Mixture:
        """Begin a mixture of rows that is best by this criterion."""
