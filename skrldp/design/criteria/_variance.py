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
from skrldp.design.criteria._criterion import Criterion, Mixture
from skrldp.design.criteria._merged_rows import merged_rows
from skrldp.design.criteria._variance_mixture import VarianceMixture
from skrldp.design.run import ObjectiveBound
from skrldp.joint import JointDistribution
from skrldp.privacy import Requirements

__all__ = ["Variance"]

# Singular values up to the first, of reports scaled as for uniform records, are rounding errors of
# 0; a function that reaches further than the second out of the others' space is not determined.
_NULL, _OUTSIDE = 1e-8, 1e-6
_OF_CELLS = 0.1  # what the variances of all cells count, where reports are put together
_LEAST_MASS = 1e-12  # of a report that no cell with probability makes


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

    def __init__(self, distribution: Floats, functions: Floats) -> None:
        super().__init__(distribution)
        self.functions = functions

    def at(self, distribution: Floats) -> "Variance":
        """Return the same criterion at another distribution."""
        return Variance(distribution, self.functions)

    def bound(self, joint: JointDistribution, requirements: Requirements) -> ObjectiveBound:
        """Return the sum of the variances from records themselves."""
        return ObjectiveBound(
            self._of_records(self.distribution), "estimates from the records themselves"
        )

    def _of_records(self, distribution: Floats) -> float:
        """Sum of the variances of the functions of one record."""
        means = self.functions @ distribution
        return float((self.functions**2 @ distribution).sum() - means @ means)

    def variances(self, matrix: Floats) -> Floats:
        """Return the asymptotic variances of the estimates, times the number of reports.

        Shapes: `matrix` (b, a). Returns (m,): infinite where reports do not determine the function.
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
        return max(at_least, self._of_records(distribution))

    def optimum_about(self, stated: float, promise: float) -> float | None:
        r"""Estimate the least sum of variances from what further rows promise.

        The trace is convex in the weights, so it falls by no more than its slope says: by the
        promise, relatively, if no row has a greater reduced cost than those that were found.
        """
        means = self.functions @ self.distribution
        squares = float(means @ means)
        least = stated - promise * (stated + squares)
        return min(max(least, self._of_records(self.distribution)), stated)

    def merged(self, matrix: Floats, loss: float) -> Floats:
        """Put rows together as long as the sum of the variances grows by no more than `loss`.

        What else the reports determine stays determined: the variances of all cells count for a
        tenth.
        """
        sent, value = matrix[matrix.max(axis=1) > 0], self.value(matrix)
        if not np.isfinite(value) or not (sent @ self.distribution).all():
            return matrix
        functions, every = self.functions, np.diag((self.distribution > 0) * 1.0)
        of_cells = Variance(self.distribution, every).value(matrix)
        if np.isfinite(of_cells) and of_cells < 0.0:
            functions = np.vstack([functions, np.sqrt(_OF_CELLS * value / of_cells) * every])
            value *= 1.0 + _OF_CELLS
        means = functions @ self.distribution
        most = float(means @ means) - (1.0 + loss) * value
        merged = merged_rows(sent, self.distribution, functions, most)
        return merged if np.isfinite(self.value(merged)) else matrix

    def mixture(self) -> Mixture:
        """Begin a mixture: a convex program."""
        return VarianceMixture(self.distribution, self.functions)
