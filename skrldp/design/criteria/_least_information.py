"""Information about U given the secret, for the secret about which least is told."""

import numpy as np

from skrldp._highs import LinearProgram
from skrldp._typing import Floats, Indices
from skrldp.design.criteria._criterion import (
    SMOOTHING,
    TINY,
    Expandable,
    Expansion,
    Mixture,
    Optimum,
)
from skrldp.design.run import ObjectiveBound
from skrldp.information import entropy, row_information, row_information_gradient
from skrldp.joint import JointDistribution
from skrldp.privacy import Requirements

__all__ = ["LeastInformation"]

# Chosen by hand, as the numbers of design/alternation were.
# Sharpness of the smooth minimum: this part of it is lost to smoothing, at first and at last.
_FIRST_LOSS, _LAST_LOSS = 0.5, 2e-3


class LeastInformation(Expandable):
    r"""The least, over secrets, of the share of H(U | S=s) that reports tell.

    With :math:`p_{u|s}` the conditional distribution of U, a row has the price
    :math:`\mu_s(v) = \sum_u p_{u|s} v_{su} \log(v_{su} / \sum_{u'} p_{u'|s} v_{su'})` for each
    secret, and the prices of a mechanism's rows add up to I(U; Y | S=s). The least of the shares
    :math:`I(U; Y | S=s) / H(U | S=s)` is concave in the weights of rows, and mixing rows is a
    linear program with one more row for each secret.

    Parameters
    ----------
    distribution : array of shape (a,)
        Distribution of X.
    n_secrets : int
        Number of secrets, a1.
    secrets : integer array, optional
        The secrets that count; None: those with records. Secrets with one value of U never do.
    """

    name = "least share of H(U|S=s)"

    def __init__(
        self, distribution: Floats, n_secrets: int, secrets: Indices | None = None
    ) -> None:
        super().__init__(distribution)
        self.n_secrets = n_secrets
        table = distribution.reshape(n_secrets, -1)
        mass = table.sum(axis=1)
        conditionals = table / np.where(mass > 0, mass, 1.0)[:, None]
        entropies = np.array([entropy(row) for row in conditionals])
        counted = np.flatnonzero(mass > 0) if secrets is None else secrets
        self.secrets = counted[entropies[counted] > TINY]
        self._conditionals = conditionals[self.secrets]
        self._entropies = entropies[self.secrets]
        self.scale = 1.0

    def at(self, distribution: Floats) -> "LeastInformation":
        """Return the same criterion at another distribution, about the same secrets."""
        return LeastInformation(distribution, self.n_secrets, self.secrets)

    def _parts(self, rows: Floats) -> Floats:
        """Rows by secret that counts: (m, k, a2)."""
        return rows.reshape(len(rows), self.n_secrets, -1)[:, self.secrets]

    def shares(self, rows: Floats) -> Floats:
        """Return what each row adds to each secret's share.

        Shapes: `rows` (m, a). Returns (m, k): for the k secrets that count.
        """
        parts = self._parts(rows)
        told = [
            row_information(parts[:, place], conditional)
            for place, conditional in enumerate(self._conditionals)
        ]
        return np.array(told).reshape(len(told), len(rows)).T / self._entropies

    def gradients(self, rows: Floats, weights: Floats) -> Floats:
        """Return the gradients of the weighted sum of a row's shares.

        Shapes: `rows` (m, a); `weights` (k,); returns (m, a).
        """
        slopes = np.zeros((len(rows), self.n_secrets, len(self.distribution) // self.n_secrets))
        parts = self._parts(rows)
        for place, secret in enumerate(self.secrets):
            slope = row_information_gradient(parts[:, place], self._conditionals[place])
            slopes[:, secret] = slope * (weights[place] / self._entropies[place])
        return slopes.reshape(len(rows), -1)

    def value(self, matrix: Floats) -> float:
        """Return the least share; 1 where nobody's U is uncertain."""
        return float(np.clip(self.shares(matrix).sum(axis=0).min(initial=1.0), 0.0, 1.0))

    def progress(self, matrix: Floats) -> float:
        """Return the least share itself."""
        return max(self.value(matrix), TINY)

    def bound(self, joint: JointDistribution, requirements: Requirements) -> ObjectiveBound:
        """Nothing is told beyond all of U."""
        return ObjectiveBound(1.0, "all of U told")

    def bound_at(self, distribution: Floats, value: float) -> float:
        """Bound the least share of every mechanism at another distribution.

        As for the mutual information, with the conditional distributions of each secret.
        """
        other = self.at(distribution)
        if not np.array_equal(other.secrets, self.secrets):
            return 1.0
        own, asked = self._conditionals, other._conditionals
        positive = asked > 0
        ratio = np.where(positive, own / np.where(positive, asked, 1.0), np.inf)
        greater = self._entropies / np.maximum(other._entropies * ratio.min(axis=1), TINY)
        return min(1.0, value * float(greater.max(initial=0.0)))

    def mixture(self) -> Mixture:
        """Begin a mixture: a linear program."""
        return _LeastInformationMixture(self)

    def expand(self, matrix: Floats, heat: float) -> Expansion:
        r"""Expand a smooth minimum, :math:`-\log \sum_s \exp(-\beta r_s) / \beta`."""
        smooth = np.maximum(matrix, 0.0) + SMOOTHING
        sharpness = 1.0 / np.clip(heat, _LAST_LOSS, _FIRST_LOSS)
        shares = self.shares(smooth).sum(axis=0)
        weights = np.exp(-sharpness * (shares - shares.min(initial=np.inf)))
        weights /= weights.sum()
        each = [
            self.gradients(smooth, np.eye(len(weights))[place]) for place in range(len(weights))
        ]
        gradients = np.array(each).reshape(len(weights), *smooth.shape)
        mean = np.einsum("s,syx->yx", weights, gradients)
        mass = np.where(self.distribution > 0, self.distribution, 1.0)

        def curvature(step: Floats) -> Floats:
            along = np.einsum("syx,yx->s", gradients, step)
            bent: Floats = np.einsum("s,syx->yx", weights * (along - weights @ along), gradients)
            return sharpness * bent

        return Expansion(-mean / mass, curvature)


class _LeastInformationMixture(Mixture):
    """The mixture of rows with the greatest least share."""

    def __init__(self, criterion: LeastInformation) -> None:
        n_cells = len(criterion.distribution)
        super().__init__(n_cells)
        self.criterion = criterion
        # One variable more: the least share, which no secret's share is below.
        self._program = LinearProgram(np.ones(1), upper=1.0)
        self._program.add_rows(np.zeros((n_cells, 1)), 1.0, 1.0)
        n_secrets = criterion.shares(np.ones((1, n_cells))).shape[1]
        self._program.add_rows(-np.ones((n_secrets, 1)), 0.0, np.inf)
        self._duals, self._weights = np.zeros(n_cells), np.zeros(n_secrets)

    def add(self, rows: Floats) -> None:
        """Add rows."""
        columns = np.concatenate([rows, self.criterion.shares(rows)], axis=1)
        self._program.add_columns(np.zeros(len(rows)), columns)
        self.rows = np.concatenate([self.rows, rows])

    def solve(self, seconds: float | None = None, gap: float = 0.0) -> Optimum:
        """Find the best weights."""
        solution, duals, value = self._program.solve(seconds)
        n_cells = len(self._duals)
        # Shares stand on the side of the greater, so their dual variables are not positive.
        self._duals, self._weights = duals[:n_cells], -duals[n_cells:]
        return Optimum(solution[1:], self._duals, value)

    def reduced_costs(self, rows: Floats) -> Floats:
        """Return the reduced costs of rows."""
        return self.criterion.shares(rows) @ self._weights - rows @ self._duals

    def slopes(self, rows: Floats) -> Floats:
        """Return the gradients of the reduced costs."""
        return self.criterion.gradients(rows, self._weights) - self._duals
