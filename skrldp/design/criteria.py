r"""What every criterion of a design by rows offers to the solvers.

A mechanism is a sum of rows, :math:`\sum_v \theta_v v = 1` with weights :math:`\theta_v \ge 0` on
private rows v of any scale. A criterion is a concave function of the weights. Its derivative with
respect to the weight of a row v is the *price* of the row, which is convex and homogeneous of
degree 1 in v. So there is an optimal mechanism of extreme rows, and each solver needs only one of
three views:

- the best weights of given rows, and what a further row would be worth (:class:`Mixture`);
- the linear cost that touches the criterion at a mechanism, for a way along the central path, which
  information alone has (:meth:`Information.expand`);
- the value of a mechanism.

:class:`Information` is the mutual information of the report with the record, or with U alone; the
variances of estimates are in :mod:`skrldp.design.variances`.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from skrldp._typing import Booleans, Floats, Indices
from skrldp.design.limits import LITTLE, TIGHT
from skrldp.design.programs import RowMixture, used
from skrldp.design.solution import ObjectiveBound, least
from skrldp.design.subset_optimum import mutual_information_bound, optimal_response
from skrldp.information import (
    entropy,
    mutual_information,
    row_information,
    row_information_gradient,
)
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements

# Added to the probabilities of reports before a decoder is made of them. Doubled, 2e-4 of the
# information is lost.
SMOOTHING = 1e-5


class Optimum(NamedTuple):
    """The best weights of given rows."""

    weights: Floats  # (m,), weights of the rows
    duals: Floats  # (a,), what a little more of each cell's probability would be worth
    value: float  # the criterion


class Mixture(ABC):
    r"""Weights on rows, which are added as the search finds them.

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
        """Write the rows with a weight as a mechanism.

        Shapes: `weights` (m,); returns (b, a).
        """
        in_use = used(weights)
        matrix: Floats = self.rows[in_use] * weights[in_use, None]
        return matrix

    def mechanism(self, weights: Floats, seconds: float | None = None) -> Floats:
        """Write a mixture as a mechanism, of few rows where that can be in some seconds.

        Shapes: `weights` (m,); returns (b, a).
        """
        return self.supported(weights)


class Criterion(ABC):
    """What a design maximises.

    Parameters
    ----------
    distribution : array of shape (a,)
        Distribution of the cells of a row, at which the design is best.

    Attributes
    ----------
    sense : int
        1 if the published quantity is maximised, -1 if it is minimised.
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
        """Return the same criterion at a different distribution.

        Shapes: `distribution` (a,).
        """

    @abstractmethod
    def value(self, matrix: Floats) -> float:
        """Evaluate a mechanism; larger is better.

        Shapes: `matrix` (b, a).
        """

    def stated(self, matrix: Floats) -> float:
        """Evaluate a mechanism with the published sign: minus the value if it is minimised.

        Shapes: `matrix` (b, a).
        """
        return self.sense * self.value(matrix)

    @abstractmethod
    def bound(self, joint: JointDistribution, requirements: Requirements) -> ObjectiveBound:
        """Bound the published quantity over all mechanisms that meet some requirements."""

    @abstractmethod
    def bound_at(self, distribution: Floats, value: float) -> float:
        """Bound the published quantity over all mechanisms at a different distribution.

        Shapes: `distribution` (a,).
        """

    def optimum_about(self, stated: float, promise: float) -> float | None:
        """Estimate the optimum from what further rows promise; None if they do not say.

        Parameters
        ----------
        stated : float
            The value that was reached, with the published sign.
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
    def mixture(self, *, rough: bool = False) -> Mixture:
        """Begin a mixture of rows that is best by this criterion, or nearly so if `rough`."""


# --- Information ----------------------------------------------------------------------------------


AT_PUBLIC = "the optimum for the public distribution alone"
NEAR_PUBLIC = f"an upper bound on {AT_PUBLIC}"
# Secrets that the linear program distinguishes; the others are merged: .1 s. Twice as many take ten
# times as long.
_MOST_SECRETS = 30


def information_bound(joint: JointDistribution, requirements: Requirements) -> ObjectiveBound:
    r"""Bound I(X; Y) at the public distribution from above.

    In nats: the least bound of the requirements that compare all their secrets, as each bounds
    what is learned of them.

    By the chain rule :math:`I(X;Y) = I(S;Y) + I(U;Y|S)`. The last term is at most H(U|S), and what
    a mechanism that is private at the public distribution reports about S alone is ε-LDP. So the
    optimum for the public distribution alone, :math:`H(U|S) + C_\epsilon(S)`, bounds every
    mechanism that is private over a set that holds it.
    """
    probabilities = joint.probabilities
    bounds = [
        ObjectiveBound(
            entropy(requirements.fold(probabilities)), "entropy of what is reported about"
        )
    ]
    for one in requirements:
        if one.region.compared is None:
            marginal = one.region.marginal
            counts = np.rint(marginal * joint.people.sum()).astype(np.int64)
            of_secret, attained = _of_secret(counts, one.eps)
            value = entropy(probabilities) - entropy(marginal) + of_secret
            bounds.append(ObjectiveBound(value, AT_PUBLIC if attained else NEAR_PUBLIC))
    return least(bounds)


def _of_secret(counts: NDArray[np.int64], eps: float) -> tuple[float, bool]:
    """Bound the information of ε-LDP reports about S, and whether that is nearly attained.

    Rare secrets are distinguished by a hypothetical second ε-LDP report.
    """
    frequent = np.sort(counts[counts > 0])[::-1]
    if len(frequent) < 2 or eps <= 0:
        return 0.0, True
    simple = mutual_information_bound((frequent / frequent.sum())[:, None], eps)
    rest, more = frequent[_MOST_SECRETS - 1 :], 0.0
    if len(frequent) > _MOST_SECRETS:
        share = rest.sum() / frequent.sum()
        more = share * mutual_information_bound((rest / rest.sum())[:, None], eps)
        frequent = np.append(frequent[: _MOST_SECRETS - 1], rest.sum())
    best = optimal_response(frequent, eps, gap=LITTLE)
    bound = min(best.bound + more, simple)
    return bound, more == 0.0 and bound <= best.information * (1.0 + 2.0 * LITTLE)


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
        self.scale = max(entropy(self._reduced), TIGHT)

    def at(self, distribution: Floats) -> "Information":
        """Return the same criterion at a different distribution."""
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
        return max(self.value(matrix), TIGHT)

    def bound(self, joint: JointDistribution, requirements: Requirements) -> ObjectiveBound:
        """Bound the information of every mechanism that meets some requirements, in nats."""
        of_records = information_bound(joint, requirements)
        if self.about is None:
            return of_records
        return least(
            [of_records, ObjectiveBound(entropy(self._reduced), "entropy of what is asked about")]
        )

    def bound_at(self, distribution: Floats, value: float) -> float:
        r"""Bound the information of every mechanism at a different distribution, in nats.

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

    def mixture(self, *, rough: bool = False) -> Mixture:
        """Begin a mixture: a linear program, which is never rough."""
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
