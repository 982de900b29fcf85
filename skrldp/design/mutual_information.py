"""The criterion of mutual information of the report with the record, or a function of it."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from skrldp._typing import Floats, Indices
from skrldp.design.annealing import annealed
from skrldp.design.criteria import Criterion, Master, Optimum
from skrldp.design.limits import EQUAL, LITTLE, TIGHT, Limits
from skrldp.design.non_robust import optimum_at_public
from skrldp.design.programs import RowMixture
from skrldp.design.solution import AT_PUBLIC, NEAR_PUBLIC, ObjectiveBound, Solution, least
from skrldp.design.subset_optimum import mutual_information_bound, optimal_response
from skrldp.information import (
    entropy,
    mutual_information,
    row_information,
    row_information_gradient,
)
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements

# Added to the probabilities of reports before computing a decoder. Doubling it loses 2e-4 of the
# information.
SMOOTHING = 1e-5
# For each initial mechanism by annealing: n, for a fraction 1/n of the remaining time, and the
# number of reports. Doubling the number of reports doubles the time.
_ANNEALED = (2, 16), (1, 40)
# Maximum number of secrets in the linear program, which takes 0.1 s; the others are merged.
# Doubling it takes ten times as long.
_MOST_SECRETS = 30


def information_bound(joint: JointDistribution, requirements: Requirements) -> ObjectiveBound:
    r"""Bound I(X; Y) at the public distribution from above.

    The bound is in nats, and is the smallest bound of the requirements that compare all their
    secrets, because each requirement bounds the information about its secrets.

    By the chain rule :math:`I(X;Y) = I(S;Y) + I(U;Y|S)`. The last term is at most H(U|S), and the
    reports of a mechanism that is private at the public distribution are ε-LDP for S. Therefore the
    optimum for the public distribution alone, :math:`H(U|S) + C_\epsilon(S)`, bounds every
    mechanism that is private over a set that contains this distribution.
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
    """Bound the information of ε-LDP reports about S, and return whether it is nearly attained.

    Rare secrets are distinguished by a hypothetical second report, also of ε-LDP.
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

    For information about X, the price of a row is :math:`\mu(v) = \sum_x P_x v_x \log(v_x / P \cdot
    v)`, whatever the weights (Entropy (45)). For information about a function g(X), it is the same
    expression of the row's means :math:`\bar v_g = E(v_X | g(X) = g)`.

    Parameters
    ----------
    distribution : array of shape (a,)
        Distribution of the cells of a row.
    about : integer array of shape (a,), optional
        Value of the function in each cell; by default, X itself.
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
        """Average rows over the cells with the same value of the function.

        Shapes: `rows` (..., a); returns (..., number of values).
        """
        return rows if self._means is None else rows @ self._means

    def prices(self, rows: Floats) -> Floats:
        """Return each row's contribution, in nats.

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

    def bound(self, joint: JointDistribution, requirements: Requirements) -> ObjectiveBound:
        """Bound the information of every mechanism that satisfies requirements, in nats."""
        of_records = information_bound(joint, requirements)
        if self.about is None:
            return of_records
        return least(
            [of_records, ObjectiveBound(entropy(self._reduced), "entropy of what is asked about")]
        )

    def bound_at(self, distribution: Floats, value: float) -> float:
        r"""Bound the information of every mechanism at a different distribution, in nats.

        The criterion's distribution is a mixture of the other one, with a share λ, and a third one.
        Let T indicate which of these two a record comes from. I(X; Y) is concave in the
        distribution of X, so it is at least λ times its value at the other distribution. The
        information about a function such as U is not concave, because the reports about a value of
        U also depend on S. But :math:`I(U;Y) = I(U;Y|T) + I(U;T) - I(U;T|Y) \ge I(U;Y|T) - H(T|U)`.
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

    def formula(
        self, joint: JointDistribution, requirements: Requirements, limits: Limits
    ) -> Solution | None:
        """Return the optimum at the public distribution alone, or of reports of whole records."""
        if self.about is not None:
            return None
        return optimum_at_public(joint, requirements, self.distribution, limits)

    def starts(self, requirements: Requirements, limits: Limits) -> list[Floats]:
        """Anneal mechanisms of different numbers of reports."""
        if not requirements.any_pair:
            return []
        start = self.distribution, self.expand, self.scale, requirements
        return [annealed(*start, n_reports, limits.part(1.0 / n)) for n, n_reports in _ANNEALED]

    def master(self, rows: Floats) -> Master:
        """Begin a linear program."""
        return _InformationMaster(self, rows)

    def expand(self, matrix: Floats) -> Floats:
        r"""Return minus the logarithm of posterior over prior, of a slightly smoothed mechanism.

        The posterior sums to 1, so for every mechanism minus the expected cost is at most its
        information.

        Shapes: `matrix` (b, a); returns (b, a).
        """
        smooth = self.reduce(np.maximum(matrix, 0.0) + SMOOTHING)
        cost: Floats = np.log((smooth @ self._reduced)[:, None] / smooth)
        return cost if self.about is None else cost[:, self.about]


class _InformationMaster(Master):
    """The most informative mixture of rows; reduced costs are relative to the entropy."""

    row_gap = EQUAL  # a basic solution has so few rows that all must be at the boundary

    def __init__(self, criterion: Information, rows: Floats) -> None:
        super().__init__(rows)
        self.criterion = criterion
        self._program = RowMixture(criterion.distribution)
        self._duals = np.zeros(rows.shape[1])
        self.add(rows)

    def add(self, rows: Floats) -> None:
        """Add rows."""
        self._program.add(rows, self.criterion.prices(rows))
        self.rows = self._program.rows

    def solve(self, seconds: float | None = None, gap: float = 0.0) -> Optimum:
        """Find the best weights."""
        weights, duals, value = self._program.solve(seconds)
        self._duals = duals / self.criterion.scale
        return Optimum(weights, self._duals, value)

    def reduced_costs(self, rows: Floats) -> Floats:
        """Return the reduced costs of rows."""
        return self.criterion.prices(rows) / self.criterion.scale - rows @ self._duals

    def slopes(self, rows: Floats) -> Floats:
        """Return the gradients of the reduced costs."""
        return self.criterion.gradients(rows) / self.criterion.scale - self._duals
