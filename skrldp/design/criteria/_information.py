"""Mutual information of the report with the record, or with U alone."""

import numpy as np
from scipy.special import xlog1py, xlogy

from skrldp._typing import Floats, Indices
from skrldp.design.bounds import information_bound
from skrldp.design.criteria._criterion import (
    SMOOTHING,
    TINY,
    Criterion,
    Mixture,
    Optimum,
)
from skrldp.design.programs import RowMixture
from skrldp.design.run import ObjectiveBound, least
from skrldp.information import (
    entropy,
    mutual_information,
    row_information,
    row_information_gradient,
)
from skrldp.joint import JointDistribution
from skrldp.privacy import Requirements

__all__ = ["Information"]


class Information(Criterion):
    r"""Mutual information of the report with X, or with a function of X.

    About X each row has the price :math:`\mu(v) = \sum_x P_x v_x \log(v_x / P \cdot v)`, whatever
    the weights (Entropy (45)). About a function g(X) it is the same of the row's means
    :math:`\bar v_g = E(v_X | g(X) = g)`.

    Parameters
    ----------
    distribution : array of shape (a,)
        Distribution of the cells of a row.
    about : integer array of shape (a,), optional
        Value of the function in each cell; None: X itself.
    name : str
        The information's name.
    """

    unit = "nats"

    def __init__(
        self, distribution: Floats, about: Indices | None = None, name: str = "I(X;Y)"
    ) -> None:
        super().__init__(distribution)
        self.about, self.name = about, name
        self._means: Floats | None = None
        self._reduced: Floats = distribution
        if about is not None:
            mass = np.bincount(about, distribution).astype(float)
            share = np.divide(
                distribution, mass[about], where=mass[about] > 0, out=np.zeros_like(distribution)
            )
            self._means = (about[:, None] == np.arange(len(mass))) * share[:, None]
            self._reduced = mass
        self.scale = max(entropy(self._reduced), TINY)

    def at(self, distribution: Floats) -> "Information":
        """Return the same criterion at another distribution."""
        return Information(distribution, self.about, self.name)

    def reduce(self, rows: Floats) -> Floats:
        """Take the means of rows over the cells with one value of the function.

        Shapes: `rows` (..., a); returns (..., number of values).
        """
        return rows if self._means is None else rows @ self._means

    def prices(self, rows: Floats) -> Floats:
        """Return what each row contributes, in nats.

        Shapes: `rows` (m, a); returns (m,).
        """
        return row_information(self.reduce(rows), self._reduced)

    def gradients(self, rows: Floats) -> Floats:
        """Return the gradients of the prices.

        Shapes: `rows` (m, a); returns (m, a).
        """
        slopes = row_information_gradient(self.reduce(rows), self._reduced)
        return slopes if self._means is None else slopes @ self._means.T

    def value(self, matrix: Floats) -> float:
        """Return the mutual information, in nats."""
        return mutual_information(self.reduce(matrix), self._reduced)

    def progress(self, matrix: Floats) -> float:
        """Return the unit in which the gap of a mechanism on the path counts: its information."""
        return max(self.value(matrix), TINY)

    def bound(self, joint: JointDistribution, requirements: Requirements) -> ObjectiveBound:
        """Bound the information of every mechanism that meets some requirements, in nats."""
        of_records = information_bound(joint, requirements)
        if self.about is None:
            return of_records
        return least(
            [of_records, ObjectiveBound(entropy(self._reduced), "entropy of what is asked about")]
        )

    def bound_at(self, distribution: Floats, value: float) -> float:
        r"""Bound the information of every mechanism at another distribution, in nats.

        This distribution is a mixture of the other one, with a share λ, and of a third. Let T tell
        which it was. I(X; Y) is concave in the distribution of X, so it is at least λ times that at
        the other one. A function's is not: what it is of U depends on S. But
        :math:`I(U;Y) = I(U;Y|T) + I(U;T) - I(U;T|Y) \ge I(U;Y|T) - H(T|U)`.
        """
        positive = distribution > 0
        share = float((self.distribution[positive] / distribution[positive]).min())
        other = self.at(distribution)
        if share <= 0:
            return other.scale
        if self.about is None:
            return value / share
        seen = self._reduced > 0
        told = np.clip(share * other._reduced[seen] / self._reduced[seen], 0.0, 1.0)
        doubt = -(xlogy(told, told) + xlog1py(1.0 - told, -told)) @ self._reduced[seen]
        return min((value + float(doubt)) / share, other.scale)

    def mixture(self) -> Mixture:
        """Begin a mixture: a linear program."""
        return _InformationMixture(self)

    def expand(self, matrix: Floats) -> Floats:
        r"""Return minus the logarithm of posterior over prior, of a slightly smoothed mechanism.

        The posterior sums to 1, so for every mechanism minus the expected cost is at most its
        information.

        Shapes: `matrix` (b, a); returns (b, a).
        """
        smooth = self.reduce(np.maximum(matrix, 0.0) + SMOOTHING)
        cost: Floats = np.log((smooth @ self._reduced)[:, None] / smooth)
        return cost if self.about is None else cost[:, self.about]


class _InformationMixture(Mixture):
    """The most informative mixture of rows."""

    def __init__(self, criterion: Information) -> None:
        super().__init__(len(criterion.distribution))
        self.criterion = criterion
        self._program = RowMixture(criterion.distribution)
        self._duals = np.zeros(len(criterion.distribution))

    def add(self, rows: Floats) -> None:
        """Add rows."""
        self._program.add(rows, self.criterion.prices(rows))
        self.rows = self._program.rows

    def solve(self, seconds: float | None = None, gap: float = 0.0) -> Optimum:
        """Find the best weights."""
        found = Optimum(*self._program.solve(seconds))
        self._duals = found.duals
        return found

    def reduced_costs(self, rows: Floats) -> Floats:
        """Return the reduced costs of rows."""
        return self.criterion.prices(rows) - rows @ self._duals

    def slopes(self, rows: Floats) -> Floats:
        """Return the gradients of the reduced costs."""
        return self.criterion.gradients(rows) - self._duals
