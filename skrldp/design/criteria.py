r"""The interface between the search for rows and its criteria.

A mechanism is a sum of rows, :math:`\sum_v \theta_v v = 1`, with weights :math:`\theta_v \ge 0` on
private rows v of any scale. A criterion is a concave function of the weights. Its derivative with
respect to the weight of a row v is the *price* of the row, which is convex and homogeneous of
degree 1 in v. Therefore some optimal mechanism consists of extreme rows. A criterion's
:class:`Master` finds the best weights of given rows, and the value of a further row.

The criteria are :class:`~skrldp.design.mutual_information.Information` and
:class:`~skrldp.design.a_optimality.Variance`.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from skrldp._typing import Booleans, Floats
from skrldp.design.limits import LITTLE, Limits
from skrldp.design.programs import used
from skrldp.design.solution import ObjectiveBound, Solution
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements


class Optimum(NamedTuple):
    """The best weights of given rows."""

    weights: Floats  # (m,), weights of the rows
    duals: Floats  # (a,), marginal values of the cells' probabilities
    value: float  # the criterion


class Master(ABC):
    r"""The best weights on a growing set of rows.

    The *reduced cost* of a row v that is not included is :math:`\pi(v) - \lambda \cdot v`, with its
    price π at the best weights and the dual variables λ of the column sums, relative to the size of
    the criterion.

    Parameters
    ----------
    rows : array of shape (m, a)
        Rows, some strictly positive mixture of which is a mechanism.

    Attributes
    ----------
    rows : array of shape (m, a)
        The rows.
    n_removals : int
        Number of times that rows were removed to make room for others. Removed rows may become
        useful again.
    added : float
        Relative amount that was added to the criterion so that its optimum is unique.
    row_gap : float
        Gap at which further rows are close enough to the boundary, relative to the range of slopes.
    """

    row_gap = LITTLE

    def __init__(self, rows: Floats) -> None:
        self.rows: Floats = np.zeros((0, rows.shape[1]))
        self.n_removals = 0
        self.added = 0.0

    @abstractmethod
    def add(self, rows: Floats) -> None:
        """Add rows.

        Shapes: `rows` (m, a).
        """

    @abstractmethod
    def solve(self, seconds: float | None = None, gap: float = 0.0) -> Optimum:
        """Find the best weights, for which reduced costs and slopes are then computed.

        Their relative optimality gap may be up to `gap`. Raises ``TimeoutError`` at the time limit.
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
        """Return which rows are in use.

        Shapes: `weights` (m,); returns (m,).
        """
        return used(weights)

    def mechanism(self, weights: Floats, seconds: float | None = None) -> Floats:
        """Convert a mixture to a mechanism, with few rows if time permits.

        Shapes: `weights` (m,); returns (b, a).
        """
        in_use = used(weights)
        matrix: Floats = self.rows[in_use] * weights[in_use, None]
        return matrix


class Criterion(ABC):
    """The objective that a design maximises.

    Parameters
    ----------
    distribution : array of shape (a,)
        Distribution of the cells of a row at which the design is optimal.

    Attributes
    ----------
    sense : int
        1 if the published quantity is maximised, -1 if it is minimised.
    name : str
        That quantity's name.
    unit : str
        Its unit.
    """

    sense = 1
    name: str
    unit = ""

    def __init__(self, distribution: Floats) -> None:
        self.distribution = distribution

    @abstractmethod
    def at(self, distribution: Floats) -> "Criterion":
        """Return the same criterion at a different distribution.

        Shapes: `distribution` (a,).
        """

    @abstractmethod
    def value(self, matrix: Floats) -> float:
        """Evaluate a mechanism; larger is better.

        Shapes: `matrix` (b, a).
        """

    def stated(self, matrix: Floats) -> float:
        """Evaluate a mechanism with the published sign: minus the value for minimised quantities.

        Shapes: `matrix` (b, a).
        """
        return self.sense * self.value(matrix)

    @abstractmethod
    def bound(self, joint: JointDistribution, requirements: Requirements) -> ObjectiveBound:
        """Bound the published quantity over all mechanisms that satisfy the requirements."""

    @abstractmethod
    def bound_at(self, distribution: Floats, value: float) -> float:
        """Bound the published quantity over all mechanisms at a different distribution.

        Shapes: `distribution` (a,).
        """

    def optimum_about(self, stated: float, promise: float) -> float | None:
        """Estimate the optimum from the reduced costs of further rows; None if there is none.

        Parameters
        ----------
        stated : float
            The value that was reached, with the published sign.
        promise : float
            Largest reduced cost found, scaled to a mechanism that consists of such rows.
        """
        return None

    def merged(self, matrix: Floats, loss: float) -> Floats:
        """Return a mechanism with fewer rows that is nearly as good, if one is known.

        `loss` is the acceptable relative loss. Shapes: `matrix` (b, a); returns (c, a).
        """
        return matrix

    @abstractmethod
    def master(self, rows: Floats) -> Master:
        """Make a master from rows, some strictly positive mixture of which is a mechanism.

        Shapes: `rows` (m, a).
        """

    def formula(
        self, joint: JointDistribution, requirements: Requirements, limits: Limits
    ) -> Solution | None:
        """Return the optimum if it is known without a search."""
        return None

    def starts(self, requirements: Requirements, limits: Limits) -> list[Floats]:
        """Return mechanisms whose rows are good initial rows, each of shape (b, a)."""
        return []
