r"""A-optimality: the sum of the variances of named estimates.

Let π be the distribution of X and q a mechanism. The maximum-likelihood estimate of π from n
reports has, for large n, the covariance :math:`(M^{-1} - \pi \pi^T) / n` with the *information
matrix* :math:`M = \sum_y q_y q_y^T / (q_y \cdot \pi)`: the constraint that probabilities sum to 1
takes away the second term, since :math:`M \pi = 1`. Linear functions C of π have the sum of
variances :math:`\operatorname{tr} C M^{-1} C^T - |C\pi|^2`, over n. M is linear in the weights of
rows and the trace is convex in M, so a design with the least sum is an *A-optimal design* over
private rows. A row v has the price :math:`v^T G v / (v \cdot \pi)` with
:math:`G = M^{-1} C^T C M^{-1}`.
"""

import numpy as np

from skrldp._typing import Floats
from skrldp.design.criteria._criterion import Criterion, Expansion, Mixture
from skrldp.design.criteria._variance_mixture import VarianceMixture
from skrldp.joint import JointDistribution
from skrldp.requirements import Requirements

__all__ = ["Variance"]

# Part of the information of the records themselves that is added to that of the reports while the
# path is hot: the first number times the heat, and the least and the greatest part.
_PER_HEAT, _LEAST_PART, _GREATEST_PART = 0.01, 1e-6, 1.0
# Singular values up to the first, of reports scaled as for uniform records, are rounding errors of
# 0; a function that reaches further than the second out of the others' space is not determined.
_NULL, _OUTSIDE = 1e-8, 1e-6
_LEAST_MASS = 1e-12  # of a report that no cell with probability makes
_SHARE_BESIDE = 1.0  # of the mechanism beside, for each report
_SMOOTHING = 1e-9  # added to the probabilities of reports


class Variance(Criterion):
    """Sum of the variances of linear functions of the distribution, estimated from one report.

    Parameters
    ----------
    distribution : array of shape (a,)
        Distribution of the cells of a row, positive where a function is not 0.
    functions : array of shape (m, a)
        The functions, scaled by the roots of their weights.
    """

    sense = -1
    name = "sum of variances"
    scale = 1.0
    many_reports = True

    def __init__(
        self, distribution: Floats, functions: Floats, beside: Floats | None = None
    ) -> None:
        super().__init__(distribution)
        self.functions = functions
        self._beside = None if beside is None else self._scaled_information(beside)

    def at(self, distribution: Floats) -> "Variance":
        """Return the same criterion at another distribution."""
        return Variance(distribution, self.functions)

    def bound(self, joint: JointDistribution, requirements: Requirements) -> float:
        """Return the sum of the variances from records themselves."""
        means = self.functions @ self.distribution
        return float(((self.functions**2) @ self.distribution).sum() - means @ means)

    def with_beside(self, matrix: Floats) -> "Variance":
        """Return the criterion of mechanisms that are mixed with a given one.

        Parameters
        ----------
        matrix : array of shape (b, a)
            Mechanism whose reports determine the functions.

        Returns
        -------
        Variance
        """
        return Variance(self.distribution, self.functions, matrix)

    def _scaled_information(self, matrix: Floats) -> Floats:
        """Information matrix in units of the records' own, of shape (a, a)."""
        mass = matrix @ self.distribution
        sent = mass > _LEAST_MASS
        rows = matrix[sent] * np.sqrt(self.distribution) / np.sqrt(mass[sent])[:, None]
        information: Floats = rows.T @ rows
        return information

    def variances(self, matrix: Floats) -> Floats:
        """Return the asymptotic variances of the estimates, times the number of reports.

        Parameters
        ----------
        matrix : array of shape (b, a)
            Mechanism.

        Returns
        -------
        array of shape (m,)
            Infinite where reports do not determine the function.
        """
        sent = matrix[matrix.max(axis=1) > 0]
        unit = sent / np.sqrt(sent.sum(axis=1))[:, None]
        _, sizes, basis = np.linalg.svd(unit, full_matrices=False)
        basis = basis[sizes > _NULL]
        parts = self.functions @ basis.T
        outside = np.linalg.norm(self.functions - parts @ basis, axis=1)
        determined = outside <= _OUTSIDE * np.linalg.norm(self.functions, axis=1)
        mass = np.maximum(sent @ self.distribution, _LEAST_MASS)
        half: Floats = np.linalg.qr(sent / np.sqrt(mass)[:, None] @ basis.T)[1]
        found = (np.linalg.solve(half.T, parts.T) ** 2).sum(axis=0)
        found -= (self.functions @ self.distribution) ** 2
        return np.where(determined, np.maximum(found, 0.0), np.inf)

    def value(self, matrix: Floats) -> float:
        """Return minus the sum of the variances."""
        return -float(self.variances(matrix).sum())

    def bound_at(self, distribution: Floats, value: float) -> float:
        """Bound the sum of the variances of every mechanism at another distribution.

        Where that has at least a share of each probability, its information matrix is at most that
        of this one over the share.
        """
        means = self.functions @ self.distribution
        share = float((distribution / self.distribution).min())
        others = self.functions @ distribution
        at_least = share * (float(means @ means) - value) - float(others @ others)
        raw = float((self.functions**2 @ distribution).sum() - others @ others)
        return max(at_least, raw)

    def mixture(self) -> Mixture:
        """Begin a mixture: a convex program."""
        return VarianceMixture(self.distribution, self.functions)

    def expand(self, matrix: Floats, heat: float) -> Expansion:
        """Expand the logarithm of the sum."""
        part = float(np.clip(_PER_HEAT * heat, _LEAST_PART, _GREATEST_PART))
        rows, distribution = np.maximum(matrix, 0.0) + _SMOOTHING, self.distribution
        scaled = rows / (rows @ distribution)[:, None]
        root = np.sqrt(distribution)
        information = scaled.T @ rows * root * root[:, None]
        if self._beside is None:
            information += part * np.eye(len(root))
        else:
            information += _SHARE_BESIDE * self._beside
        inverse = np.linalg.inv(information) * root * root[:, None]
        half = inverse @ self.functions.T
        total = float(np.vdot(half, self.functions.T))
        weights = half @ half.T
        price = scaled @ weights
        cost = (price * scaled).sum(axis=1)[:, None] - 2.0 * price / distribution

        def curvature(step: Floats) -> Floats:
            change = scaled.T @ step
            change += change.T - (scaled * (step @ distribution)[:, None]).T @ scaled
            bent = inverse @ change @ weights
            bent += bent.T
            along = scaled @ bent
            twice = 2.0 * along - (along * scaled).sum(axis=1)[:, None] * distribution
            return twice / total

        return Expansion(cost / total, curvature)
