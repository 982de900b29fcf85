"""Least squares and maximum likelihood, and estimates of linear functions by either."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Booleans, Floats
from skrldp.estimation.channels import (
    Channel,
    DenseChannel,
    Weights,
    central_moments,
    covariance,
)
from skrldp.estimation.likelihood import (
    MOST_STEPS,
    TOL,
    ConvexSet,
    LikelihoodRegion,
    Maximum,
    NearZero,
    agree,
    maximise,
)

__all__ = ["Fit", "least_squares", "most_likely", "project", "rest_on_enough"]

_LEAST_REPORTS = 5.0  # that an error of least squares rests on, effectively
# For the errors of least squares: nats in all, nats per report, and steps.
_TOL_LIKELY, _LEAST_TOL, _MOST_STEPS = 0.1, 1e-12, 1_000


@dataclass(frozen=True, eq=False)
class Fit:
    """A distribution fitted to reports."""

    distribution: Floats  # (a,), of least norm if least squares does not determine it
    probable: Floats  # (a,), the estimate projected to the distributions
    # Makes the reports most likely, or nearly; by least squares without a matrix: the projection.
    likely: Floats  # (a,)
    weights: Weights  # weights of the reports, for standard errors
    # Of the most likely distribution; unseen symbols have the probability that the others give.
    report_distribution: Floats  # (b,)
    channel: Channel  # the channel of the reports: it determines which functions are identifiable
    n: float  # number of reports
    unbiased: bool  # whether estimates of functions that are not determined are NaN
    near_zero: NearZero | None = None  # None for least squares and channels without a matrix
    region: LikelihoodRegion | None = None  # the same

    def evaluate(self, functions: Floats) -> tuple[Floats, Floats]:
        """Estimates and standard errors of linear functions of the distribution, (m, a).

        Errors are NaN if the reports do not determine the function, or are too few for an error;
        estimates are NaN in the first case if `unbiased`.
        """
        values, free = self.spread(functions)
        return values, np.where(self._stated(functions), free, np.nan)

    def spread(self, functions: Floats) -> tuple[Floats, Floats]:
        """Estimates and their errors as :meth:`evaluate`, but errors whatever they rest on.

        By maximum likelihood near a zero they are greater than the spread of the estimate.
        """
        known = self.channel.determines(functions)
        variances = self._moments(functions)[0]
        errors = np.where(known, np.sqrt(variances / self.n), np.nan)
        return self._shown(functions @ self.distribution, known), errors

    def cells(self, *, free: bool = False) -> tuple[Floats, Floats]:
        """As :meth:`evaluate`, or :meth:`spread` if `free`, of the probabilities of the cells."""
        known = self.channel.identifiable
        second, fourth = self.weights.moments(self.report_distribution)
        variances = second / self.n
        if free:
            stated = np.ones(len(known), dtype=bool)
        elif self.unbiased:
            stated = rest_on_enough(second, fourth, self.n)
        elif self.near_zero is None:
            stated = agree(variances, variances - self._tied(variances, variances))
        else:
            stated = np.empty(len(known), dtype=bool)
            labels = np.arange(len(known))
            for rows, functions in self.channel.indicators(labels, len(known)):
                stated[rows] = agree(variances[rows], self.near_zero.variances(functions))
        errors = np.where(known & stated, np.sqrt(variances), np.nan)
        return self._shown(self.distribution, known), errors

    def of_labels(
        self, labels: NDArray[np.intp], k: int
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Estimates of k categories, their errors, and whether the reports determine them.

        Shapes: labels (a,), the category of each cell.
        """
        channel = self.channel
        if k == channel.n_cells:  # each is a cell
            order = np.argsort(labels)
            values, errors = (found[order] for found in self.cells())
            return values, errors, channel.identifiable[order]
        values, errors, known = np.empty(k), np.empty(k), np.empty(k, dtype=bool)
        for rows, functions in channel.indicators(labels, k):
            values[rows], errors[rows] = self.evaluate(functions)
            known[rows] = channel.determines(functions)
        return values, errors, known

    def _moments(self, functions: Floats) -> tuple[Floats, Floats]:
        return central_moments(self.weights.of(functions), self.report_distribution)

    def _stated(self, functions: Floats) -> Booleans:
        """Whether the spread of an estimate is within a tenth of its error."""
        second, fourth = self._moments(functions)
        variances = second / self.n
        if self.unbiased:
            return rest_on_enough(second, fourth, self.n)
        certain = np.ptp(functions, axis=1) == 0.0
        if self.near_zero is not None:
            return certain | agree(variances, self.near_zero.variances(functions))
        report = self.report_distribution
        own = self.weights.moments(report)[0] / self.n
        weights = self.weights.of(functions)
        centred = (weights - (weights @ report)[:, None]) * report
        with_cells = self.weights.of(centred) / self.n  # covariances; four numbers are symmetric
        tied = np.sum(self._tied(with_cells, own), axis=1)
        return certain | agree(variances, variances - tied)

    def _tied(self, with_cells: Floats, own: Floats) -> Floats:
        """By how much one record more of a cell lowers a variance, given covariance and variance.

        Information that cells share is counted twice, so that rather too few errors are stated.
        """
        known = self.distribution**2 + own
        return np.divide(with_cells**2, known, out=np.zeros_like(with_cells), where=known > 0)

    def covariance(self, functions: Floats, *, free: bool = False) -> Floats:
        """Covariance of the estimates of linear functions of the distribution, (m, a) to (m, m).

        NaN where :meth:`evaluate` states no error, or :meth:`spread` if `free`.
        """
        result = covariance(self.weights.of(functions), self.report_distribution, self.n)
        unknown = ~self.channel.determines(functions)
        if not free:
            unknown |= ~self._stated(functions)
        result[unknown, :] = result[:, unknown] = np.nan
        return result

    def _shown(self, values: Floats, known: NDArray[np.bool_]) -> Floats:
        return np.where(known, values, np.nan) if self.unbiased else values.copy()


def project(values: Floats) -> Floats:
    """Closest distribution to a point, in Euclidean distance.

    Shapes: values (k,) to (k,).

    Examples
    --------
    >>> project(np.array([0.7, 0.5, -0.2]))
    array([0.6, 0.4, 0. ])
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(values) + 1)
    last = np.flatnonzero(falling > excess)[-1]
    return np.maximum(values - excess[last], 0.0)


def rest_on_enough(second: Floats, fourth: Floats, n: float) -> Booleans:
    """Whether the variance of an average of n weights rests on enough of the reports.

    n times the squared second moment over the fourth is their effective number: of a share of the
    reports that is small, the number of reports that have it.
    """
    enough: Booleans = n * second**2 >= _LEAST_REPORTS * fourth
    return enough


def least_squares(
    channel: Channel,
    counts: Floats,
    likely: Floats | None = None,
    time_limit: float | None = None,
) -> Fit:
    """Fit by least squares, without bias: the weights are those that are best if X is uniform.

    Shapes: counts (b,), likely (a,).
    """
    n = float(counts.sum())
    weights = channel.weights(channel.uniform)
    distribution = weights.estimate(counts / n)
    probable = project(distribution)
    if likely is None:
        likely = probable
        if isinstance(channel, DenseChannel) and distribution.min() < 0.0:
            tol = max(_TOL_LIKELY / n, _LEAST_TOL)
            likely = maximise(channel, counts / n, tol, _MOST_STEPS, time_limit).distribution
    report = channel.positive(channel.forward(likely))
    return Fit(distribution, probable, likely, weights, report, channel, n, True)


def most_likely(
    channel: Channel,
    counts: Floats,
    prior: Floats | None,
    within: ConvexSet | None,
    tol: float = TOL,
    max_steps: int = MOST_STEPS,
    time_limit: float | None = None,
) -> tuple[Fit, Maximum]:
    """Fit by maximum likelihood; a prior's records count as reports that state the cell.

    Shapes: counts (b,), prior (a,).
    """
    if prior is not None or within is not None:
        channel = channel.dense()
    if prior is not None:
        assert isinstance(channel, DenseChannel)
        # Reports and public records together: a mechanism that either states the cell or applies Q.
        own = counts.sum() / (counts.sum() + prior.sum())
        direct = (1.0 - own) * np.eye(channel.n_cells)
        channel = DenseChannel(np.vstack([own * channel.matrix, direct]))
        counts = np.concatenate([counts, prior])
    n = float(counts.sum())
    best = maximise(channel, counts / n, tol, max_steps, time_limit, within)
    report_distribution = channel.positive(channel.forward(best.distribution))
    weights = channel.weights(report_distribution)
    region = near_zero = None
    if channel.has_matrix:
        if within is None:
            within = ConvexSet((), np.full(channel.n_cells, 1.0 / channel.n_cells))
        limits, inside = within.constraints, within.inside
        region = LikelihoodRegion(channel, counts, best.distribution, limits, inside)
        near_zero = NearZero(channel, best.distribution, report_distribution, n, limits)
    return Fit(
        best.distribution,
        best.distribution,
        best.distribution,
        weights,
        report_distribution,
        channel,
        n,
        False,
        near_zero,
        region,
    ), best
