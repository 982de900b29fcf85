"""Least squares and maximum likelihood, and estimates of linear functions by either."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from skrldp._typing import Floats
from skrldp.aggregate._channels import Channel, DenseChannel, Weights, covariance
from skrldp.aggregate._convex import Logarithms
from skrldp.aggregate._estimate import project
from skrldp.aggregate._interior_point import minimise
from skrldp.aggregate._likelihood import Maximum, maximise
from skrldp.aggregate._region import LikelihoodRegion
from skrldp.aggregate._restriction import Restriction

__all__ = ["TOL_RESTRICTED", "Fit", "least_squares", "most_likely", "one_thread"]

TOL_RESTRICTED = 1e-7  # nats per report that are always enough over a set


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()  # searches for libraries, which takes milliseconds


def one_thread() -> AbstractContextManager[Any]:
    """Let linear algebra use one thread: at these sizes, several threads are slower."""
    limit: AbstractContextManager[Any] = _pools().limit(limits=1, user_api="blas")
    return limit


@dataclass(frozen=True, eq=False)
class Fit:
    """A distribution fitted to reports.

    Attributes
    ----------
    distribution : array of shape (a,)
        The estimate; by least squares the one of least norm, if it is not determined.
    probable : array of shape (a,)
        The estimate projected to the distributions, so that it is non-negative.
    weights : Weights
        Weights of the reports, for standard errors.
    report_distribution : array of shape (b,)
        Distribution of the reports, for standard errors.
    channel : Channel
        The channel of the reports: it determines which functions are identifiable.
    n : float
        Number of reports.
    unbiased : bool
        Whether estimates of functions that are not determined are NaN.
    region : LikelihoodRegion or None
        The likelihood around the estimate, for intervals; None for least squares and for channels
        without a matrix.
    """

    distribution: Floats
    probable: Floats
    weights: Weights
    report_distribution: Floats
    channel: Channel
    n: float
    unbiased: bool
    region: LikelihoodRegion | None = None

    def evaluate(self, functions: Floats) -> tuple[Floats, Floats]:
        """Estimates and standard errors of linear functions of the distribution, (m, a).

        Errors are NaN if the reports do not determine the function; so are the estimates if
        `unbiased`.
        """
        known = self.channel.determines(functions)
        weights = self.weights.of(functions)
        centred = weights - (weights @ self.report_distribution)[:, None]
        errors = np.sqrt(centred**2 @ self.report_distribution / self.n)
        return self._shown(functions @ self.distribution, known), np.where(known, errors, np.nan)

    def cells(self) -> tuple[Floats, Floats]:
        """Estimates and standard errors of the probabilities of the cells."""
        known = self.channel.identifiable
        variances = np.maximum(self.weights.variances(self.report_distribution), 0.0) / self.n
        return self._shown(self.distribution, known), np.where(known, np.sqrt(variances), np.nan)

    def covariance(self, functions: Floats) -> Floats:
        """Covariance of the estimates of linear functions of the distribution, (m, a) to (m, m)."""
        result = covariance(self.weights.of(functions), self.report_distribution, self.n)
        unknown = ~self.channel.determines(functions)
        result[unknown, :] = result[:, unknown] = np.nan
        return result

    def _shown(self, values: Floats, known: NDArray[np.bool_]) -> Floats:
        return np.where(known, values, np.nan) if self.unbiased else values.copy()


def least_squares(channel: Channel, counts: Floats) -> Fit:
    """Fit by least squares, without bias: the weights are those that are best if X is uniform.

    Parameters
    ----------
    channel : Channel
        From distributions of X to distributions of the report.
    counts : array of shape (b,)
        Number of reports of each symbol.

    Returns
    -------
    Fit
    """
    n = float(counts.sum())
    weights = channel.weights(channel.uniform)
    distribution = weights.estimate(counts / n)
    return Fit(
        distribution,
        project(distribution),
        weights,
        channel.floored(counts / n, n),
        channel,
        n,
        True,
    )


def most_likely(
    channel: Channel,
    counts: Floats,
    prior: Floats | None,
    within: Restriction | None,
    tol: float,
    max_iter: int,
    time_limit: float | None = None,
) -> tuple[Fit, Maximum]:
    """Fit by maximum likelihood; a prior's records count as reports that state the cell.

    Parameters
    ----------
    channel : Channel
        From distributions of X to distributions of the report.
    counts : array of shape (b,)
        Number of reports of each symbol.
    prior : array of shape (a,), optional
        Number of public records of each cell; for a channel that has its matrix.
    within : Restriction, optional
        The set of the distributions to choose from; for a channel that has its matrix.
    tol : float
        Gap to stop at, in nats per report or public record.
    max_iter : int
        Greatest number of steps.
    time_limit : float, optional
        Seconds after which no step is begun.

    Returns
    -------
    Fit, Maximum
    """
    if prior is not None:
        assert isinstance(channel, DenseChannel)
        # Reports and public records together: a mechanism that either states the cell or applies Q.
        own = counts.sum() / (counts.sum() + prior.sum())
        direct = (1.0 - own) * np.eye(channel.n_cells)
        channel = DenseChannel(np.vstack([own * channel.matrix, direct]))
        counts = np.concatenate([counts, prior])
    n = float(counts.sum())
    if within is None:
        best = maximise(channel, counts / n, tol, max_iter, time_limit)
    else:
        assert isinstance(channel, DenseChannel)
        best = _most_likely_within(channel.matrix, counts / n, within, tol)
    report_distribution = channel.floored(channel.forward(best.distribution), n)
    weights = channel.weights(report_distribution)
    region = None
    if isinstance(channel, DenseChannel):
        seen = counts > 0
        if within is None:
            within = Restriction((), np.full(channel.n_cells, 1.0 / channel.n_cells))
        region = LikelihoodRegion(
            channel.matrix[seen], counts[seen], best.distribution, within.constraints, within.inside
        )
    return Fit(
        best.distribution,
        best.distribution,
        weights,
        report_distribution,
        channel,
        n,
        False,
        region,
    ), best


def _most_likely_within(matrix: Floats, shares: Floats, within: Restriction, tol: float) -> Maximum:
    """Maximise the likelihood over a set, by the interior-point method for convex programs."""
    seen = shares > 0
    objective = Logarithms(shares[seen], 0.0, matrix[seen])
    found = minimise(
        np.zeros((1, matrix.shape[1])),
        within.constraints,
        within.inside,
        min(tol, TOL_RESTRICTED),
        objective=objective,
    )
    gap = max(float(found.values[0] - found.bounds[0]), 0.0)
    return Maximum(found.points[0], -float(found.values[0]), gap, found.steps)
