r"""The statistic behind every estimate, and its standard errors and intervals.

A quantity is a ratio :math:`\theta = c\cdot\pi / g\cdot\pi` of two linear functions of the
distribution π of the records; g is 1 for quantities of all records, and the indicator of a group
for quantities within the group. If weights w of the reports satisfy :math:`Q^T w = c`, the mean of
w(Y) is an exactly unbiased estimate of c·π for every π. The weights depend only on the mechanism
and the public distribution, never on the reports.

The interval contains all θ for which the mean of the residual :math:`h_\theta = c - \theta g`,
which is 0 if θ is true, is estimated to be within z standard errors of 0. The variance is the
larger of two: that of the reports, and that at the distribution closest to the public one for which
θ is true (an exponential tilt). The reports include z² hypothetical reports of the symbol that
would move the mean most towards θ, because at a distribution unlike the public one, a symbol with a
large weight may be expected even if it was never sent. In a survey, the people who would send it
have weights ω as well: if one more report could double the variance, the reports do not show the
design effect, which is then at least :math:`n\sum\omega^3/(\sum\omega\sum\omega^2)`. This is
Wilson's interval with the mechanism's noise included, and Fieller's interval for ratios.

If no weights are unbiased, or effectively fewer than 30 reports determine the estimate at every
value (n divided by the kurtosis of w(Y)), weights of bounded bias are used instead, and the
interval allows for the bias (Donoho 1994; Armstrong and Kolesár 2018).

A `Statistic` contains everything that does not depend on the reports; an `Inference` combines it
with reports.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import ndtr, ndtri

from skrldp._typing import Booleans, Floats, Indices

LEAST_REPORTS = 30.0  # minimum effective number of reports that determine a quantity
# Minimum estimated size of a group, in standard errors of that size, for standard errors within it
LEAST_SHARE = 4.0
_LARGEST_TILT = 500.0  # maximum change of a log-probability by a tilt
_TILTS, _HALVINGS = 60, 30  # maximum numbers of steps for the tilt, and for an end of an interval


@dataclass(frozen=True, eq=False)
class Sample:
    """The shares of the reports, and their sampling variation.

    Without `design`, r samples may be combined; shares are then (r, b), and quantities (r, k).
    """

    shares: Floats  # (b,)
    n: float  # number of reports
    design: Floats | None = None  # (b, b), covariance of a survey's shares; None if independent
    # (b,), stratum of each symbol, if the number of reports in each stratum is fixed
    strata: Indices | None = None
    # For groups: the whole sample, and the group's symbols in it
    survey: "tuple[Sample, slice] | None" = None
    # Survey weight of a person whose report may be unseen, relative to the mean
    unseen_weight: Floats | float = 1.0

    @classmethod
    def of_counts(cls, counts: Floats) -> "Sample":
        """Shares of independent reports."""
        return cls(counts / counts.sum(), float(counts.sum()))

    def on_survey(self, weights: Floats) -> "tuple[Sample, Floats]":
        """Return the whole sample to which this group belongs, and weights (k, b) padded for it."""
        if self.survey is None:
            return self, weights
        sample, group = self.survey
        padded = np.zeros((len(weights), len(sample.shares)))
        padded[:, group] = weights
        return sample, padded

    def means(self, weights: Floats) -> Floats:
        """Means of weights (k, b): (k,)."""
        return self.shares @ weights.T

    def centred(self, weights: Floats) -> Floats:
        """Weights (k, b) minus their mean within each stratum."""
        sizes = np.maximum(self.shares @ self._strata.T, 1e-300)[..., None, :]
        means = (weights * self.shares[..., None, :]) @ self._strata.T / sizes
        return weights - means @ self._strata

    def covariance(self, first: Floats, second: Floats) -> Floats:
        """Covariances of the means of weights (k, b) and (l, b): (k, l)."""
        if self.design is not None:
            return first @ self.design @ second.T
        return (self.centred(first) * self.shares) @ self.centred(second).T / self.n

    def products(self, first: Floats, second: Floats) -> Floats:
        """Covariances of the means of weights, row by row: (k, b) to (k,)."""
        if self.design is not None:
            return np.einsum("kb,kb->k", first @ self.design, second)
        products = self.centred(first) * self.centred(second)
        return np.einsum("...kb,...b->...k", products, self.shares) / self.n

    @cached_property
    def _strata(self) -> Floats:
        """Indicators of the symbols of each stratum, (m, b)."""
        if self.strata is None:
            return np.ones((1, self.shares.shape[-1]))
        return (self.strata == np.arange(self.strata.max() + 1)[:, None]).astype(float)


Samples = Sequence[tuple[tuple[Any, ...], Sample]]  # label and reports of each group


class Moments(NamedTuple):
    """Means of the weights of the reports, and their variances and covariances: (..., k) each."""

    top: Floats  # mean of the weights of c
    share: Floats  # mean of the weights of g
    cc: Floats  # variances and covariances of these means
    cg: Floats
    gg: Floats
    n: float  # number of reports
    effect: Floats | float = 1.0  # factor by which a survey's design multiplies variances

    @property
    def ratios(self) -> Floats:
        """Ratios of the means; NaN if no record of the group was observed."""
        undefined = np.full_like(self.top, np.nan)
        return np.divide(self.top, self.share, out=undefined, where=self.share > 0)

    def variances(self, theta: Floats) -> Floats:
        """Variances of the means of the residuals' weights."""
        return np.maximum(self.cc - 2.0 * theta * self.cg + theta**2 * self.gg, 0.0)

    def with_unseen(self, variances: Floats, weights: Floats, quantile: float) -> Floats:
        """Add z² hypothetical reports with these weights to variances of means.

        A symbol that was never sent may be expected up to z² times (Wilson's interval at 0).
        """
        return variances + (self.effect * quantile * weights / self.n) ** 2


# -- before there are reports ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Statistic(ABC):
    """Quantities and the weights of reports for them, which do not depend on the reports.

    The smallest possible value is subtracted from c for each g, to avoid cancellation: quantities
    are θ = `lowest` + c·π / g·π, and a constant quantity has c = 0. Arrays are (k,) unless their
    shape is given.
    """

    lowest: Floats  # NaN where no cell has g
    width: Floats  # width of the quantity's range
    # The statistic with unbiased weights, if biased weights have replaced them
    plain: "Statistic | None" = None
    is_carried: Booleans | bool = True  # whether enough reports determine it
    # Masses of the classes (k, m) if the true quantities are θ; shared by all weights for the same
    # quantities.
    tilted: dict[bytes, Floats] = field(default_factory=dict, repr=False)

    @cached_property
    def certain(self) -> Booleans:
        """Which quantities are the same for all distributions, or undefined: no cell has g."""
        return ~(self.width > 0.0)

    @cached_property
    def determined(self) -> Booleans:
        """Which quantities have an unbiased estimate."""
        return self.certain | (self.are_unbiased & self.is_carried)

    @property
    @abstractmethod
    def are_unbiased(self) -> Booleans:
        """Which weights are unbiased for every distribution of the records."""

    @property
    @abstractmethod
    def has_formula(self) -> bool:
        """Whether intervals are Wilson's, or the whole range if a quantity is not determined."""

    @property
    @abstractmethod
    def public(self) -> Floats:
        """Quantities of the public distribution, minus their lowest possible values."""

    @property
    @abstractmethod
    def effective(self) -> Floats:
        """Share of the reports that determine a quantity: the inverse kurtosis of its weights."""

    @property
    @abstractmethod
    def classes(self) -> Floats:
        """The cells grouped by c and g, with moments of the weights of reports about them.

        Returns (8, k, m): their mass (0 as padding), c and g; the expected weights, for c and g, of
        a report about such a cell, and the expected products cc, cg and gg.
        """

    @abstractmethod
    def extremes(self, theta: Floats) -> tuple[Floats, Floats]:
        """Smallest and largest residual weight of a report, at θ less the lowest value."""

    @abstractmethod
    def moments(self, sample: Sample) -> Moments:
        """Return means and covariances of the weights."""

    @abstractmethod
    def noise_variances(self, sample: Sample, moments: Moments) -> Floats:
        """Variances that the mechanism adds to residuals; NaN if not determined."""

    def tabled(self, theta: Floats) -> Floats:
        """Properties of the residuals' weights at quantities minus the lowest, (5, ..., k).

        These are the model variances, the middle and half-width of the bias, and the smallest and
        largest weights.
        """
        raise NotImplementedError  # closed-form intervals need no table

    def are_carried(self, moments: Moments) -> Booleans:
        """Which variances one more report, with the largest weight, would not double."""
        theta = np.nan_to_num(moments.ratios)
        variances, largest = moments.variances(theta), np.abs(self.extremes(theta)).max(axis=0)
        return moments.with_unseen(variances, largest, 1.0) <= 2.0 * variances

    def is_weak(self, n: float) -> Booleans:
        """Which estimates are biased, or effectively determined by too few of n reports."""
        return ~(self.certain | (self.determined & (self.effective * n >= LEAST_REPORTS)))

    def with_bounded_bias(self, n: float) -> Self:
        """Replace weights of estimates that are biased, or that too few of n reports determine."""
        return replace(self, is_carried=~self.is_weak(n), plain=self)

    def model_variances(self, theta: Floats) -> Floats:
        """Variances of the residuals' weights at the tilt of p₀ for which θ is true."""
        mass, c, g, mean_c, mean_g, cc, cg, gg = self.classes
        column = theta[:, None]
        if theta.tobytes() not in self.tilted:
            residual = c - column * g
            self.tilted[theta.tobytes()] = tilted_cells(mass, tilt_of(mass, residual), residual)
        p = self.tilted[theta.tobytes()]
        mean = (p * (mean_c - column * mean_g)).sum(axis=1)
        second = (p * (cc - 2.0 * column * cg + column**2 * gg)).sum(axis=1)
        return np.maximum(second - mean**2, 0.0)

    def point_variances(self, moments: Moments) -> Floats:
        """Variances of estimates if the public value is true."""
        return self.model_variances(self.public) / np.maximum(moments.share, 1e-12) ** 2 / moments.n

    def inference(self, sample: Sample) -> "Inference":
        """Combine the statistic with reports."""
        return Inference(self, sample)


def tilt_of(mass: Floats, residual: Floats) -> Floats:
    """Find λ, (k, 1), for which the tilted mean residual is 0, or nearly so if all have one sign.

    Shapes: mass and residual (k, m).
    """
    scale = np.maximum(np.abs(residual).max(axis=1, keepdims=True), 1e-300)
    x = residual / scale
    inside = np.where(mass > 0.0, x, 0.0)
    low = np.where(inside.max(axis=1, keepdims=True) <= 0.0, _LARGEST_TILT, -_LARGEST_TILT)
    high = np.where(inside.min(axis=1, keepdims=True) >= 0.0, -_LARGEST_TILT, _LARGEST_TILT)
    tilt = (low + high) / 2.0
    for _ in range(_TILTS):
        p = tilted_cells(mass, tilt, x)
        mean = (p * x).sum(axis=1, keepdims=True)
        if (np.minimum(np.abs(mean) / 1e-10, (high - low) / 1e-7) <= 1.0).all():
            break
        low, high = np.where(mean < 0.0, tilt, low), np.where(mean > 0.0, tilt, high)
        spread = np.maximum((p * x**2).sum(axis=1, keepdims=True) - mean**2, 1e-300)
        tilt = tilt - mean / spread
        tilt = np.where((tilt > low) & (tilt < high), tilt, (low + high) / 2.0)
    return tilt / scale


def tilted_cells(public: Floats, tilt: Floats, residual: Floats) -> Floats:
    """Tilt distributions (k, a), or a single one (a,), by λ (k, 1) times residuals (k, a)."""
    logs = np.log(np.maximum(public, 1e-300)) + tilt * residual
    cells = np.exp(logs - logs.max(axis=1, keepdims=True))
    return cells / cells.sum(axis=1, keepdims=True)


# -- from reports ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Inference:
    """Estimates, errors and intervals of a statistic's quantities from a sample, (k,) each."""

    statistic: Statistic
    sample: Sample

    @cached_property
    def moments(self) -> Moments:
        """Means and covariances of the weights."""
        return self.statistic.moments(self.sample)

    @property
    def weighted(self) -> Floats:
        """The estimates by the weights; NaN if no record of the group was observed."""
        statistic = self.statistic
        return statistic.lowest + np.where(statistic.certain, 0.0, self.moments.ratios)

    @property
    def _plain(self) -> "Inference":
        """The estimates with unbiased weights, if the statistic's weights are biased."""
        plain = self.statistic.plain
        return self if plain is None else plain.inference(self.sample)

    @property
    def unbiased(self) -> Floats:
        """The unbiased estimates; NaN if there are none."""
        return np.where(self._plain.statistic.determined, self._plain.weighted, np.nan)

    @property
    def points(self) -> Floats:
        """The unbiased estimates, or those of bounded bias if there are none."""
        unbiased = self.unbiased
        return np.where(np.isnan(unbiased), self.weighted, unbiased)

    @property
    def spread(self) -> Floats:
        """Standard deviations of the estimates."""
        return np.sqrt(self.moments.variances(self.moments.ratios)) / self.moments.share

    @property
    def errors(self) -> Floats:
        """Standard errors; NaN if weights are biased, or determined by few reports.

        Also NaN if one more report, with the largest weight, would double the variance; and for
        ratios whose denominator may be near 0, because the error is that of a linear approximation.
        """
        statistic, moments = self.statistic, self.moments
        has_share = moments.share >= LEAST_SHARE * np.sqrt(np.maximum(moments.gg, 0.0))
        is_carried = statistic.are_carried(moments)
        stated = statistic.certain | (has_share & is_carried & ~statistic.is_weak(self.sample.n))
        return np.where(stated, self.spread, np.nan)

    @property
    def noise_errors(self) -> Floats:
        """The part of the standard errors that the mechanism adds.

        The part is conditional on those who reported; NaN if the reports do not determine it.
        """
        variances = self.statistic.noise_variances(self.sample, self.moments)
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = np.sqrt(np.maximum(variances, 0.0)) / self.moments.share
        return np.where(np.isfinite(self.errors), errors, np.nan)

    @property
    def variances(self) -> Floats:
        """Variances of the point estimates if the public values are true, used to weight them."""
        variances, plain = self.statistic.point_variances(self.moments), self._plain
        if plain is self:
            return variances
        return np.where(plain.statistic.determined, plain.variances, variances)

    def ends(self, level: float) -> Floats:
        """Find the ends of the confidence intervals, (k, 2)."""
        statistic, moments = self.statistic, self.moments
        width, determined = statistic.width, statistic.determined
        quantile = ndtri(0.5 + level / 2.0)
        if statistic.has_formula:
            extremes = statistic.extremes(np.zeros_like(width))
            ends = _wilson(moments, statistic.classes[5].T, extremes, quantile)
            return np.where(determined[:, None], ends, [0.0, 1.0])
        # A residual with the same sign at all quantities counts as 0 if it is nearly 0.
        limits = np.stack([np.zeros_like(moments.top), np.broadcast_to(width, moments.top.shape)])
        low, high = moments.top - limits * moments.share - statistic.tabled(limits)[1]
        left = np.where(low * high > 0, np.where(np.abs(low) < np.abs(high), low, high), 0.0)
        part = np.divide(low - left, low - high, out=np.zeros_like(low), where=low != high)
        middle = np.clip(part, 0.0, 1.0) * width

        def is_outside(theta: Floats) -> Booleans:
            model, shift, bias, smallest, largest = statistic.tabled(theta)
            distance = moments.top - theta * moments.share - left - shift
            opposite = np.where(distance < 0.0, largest, smallest)
            seen = moments.with_unseen(moments.variances(theta), opposite, quantile)
            error = np.sqrt(np.maximum(seen, moments.effect * model / moments.n))
            half = bias + _critical(bias / np.maximum(error, 1e-200), level) * error
            return np.abs(distance) > half

        outside = is_outside(limits)
        inner, outer = np.where(outside, middle, limits), limits
        for _ in range(_HALVINGS if outside.any() else 0):
            half_way = (inner + outer) / 2.0
            beyond = is_outside(half_way)
            inner, outer = np.where(beyond, inner, half_way), np.where(beyond, half_way, outer)
        return np.moveaxis(statistic.lowest + outer, 0, -1)


@cache
def _critical_values(level: float) -> tuple[Floats, Floats]:
    """Tabulate biases t in standard errors, and z with P(abs(N(t, 1)) <= t + z) = level."""
    biases = np.linspace(0.0, 8.0, 161)
    values = np.full_like(biases, ndtri(0.5 + level / 2.0))
    for _ in range(_HALVINGS):  # each step covers a part of the distance
        values = (values + ndtri(level + ndtr(-2.0 * biases - values))) / 2.0
    return biases, values


def _critical(biases: Floats, level: float) -> Floats:
    """Critical values, in addition to the bias, for biases in standard errors."""
    return np.interp(biases, *_critical_values(level))


def _wilson(
    moments: Moments, squares: Floats, extremes: tuple[Floats, Floats], quantile: float
) -> Floats:
    """Intervals of shares: where |m − θ| ≤ z √(max(V(θ), v)/n), V(θ) = θκ₁ + (1−θ)κ₀ − θ².

    Shapes: moments (..., k), `squares` κ₀ and κ₁ (2, k), `extremes` (k,) each, to (..., k, 2).
    """
    share, variance = np.clip(moments.top, 0.0, 1.0), quantile**2 * np.maximum(moments.cc, 0.0)
    q, (zero, one) = quantile**2 * moments.effect / moments.n, squares
    low, high = _solutions(share, q * zero, q * (one - zero), -q)
    below, above = (
        _solutions(share, variance + (q * weight) ** 2, -2.0 * q**2 * weight, q**2)
        for weight in extremes  # weight of the hypothetical reports, minus θ
    )
    ends = np.minimum(low, below[0]), np.maximum(high, above[1])
    return np.clip(np.stack(ends, axis=-1), 0.0, 1.0)


def _solutions(
    share: Floats, constant: Floats, linear: Floats, square: Floats | float
) -> tuple[Floats, Floats]:
    """Find the ends of all θ with (m − θ)² ≤ constant + linear θ + square θ²."""
    middle = share + linear / 2.0
    root = np.sqrt(np.maximum(middle**2 - (1.0 - square) * (share**2 - constant), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (middle - root) / (1.0 - square), (middle + root) / (1.0 - square)
    return np.where(square < 1.0, ends[0], -np.inf), np.where(square < 1.0, ends[1], np.inf)


# -- several quantities ----------------------------------------------------------------------------


def project(values: Floats, variances: Floats) -> Floats:
    """Find the distribution closest to unbiased shares, relative to variances: max(m + λv, 0).

    Shapes: (k,) to (k,).

    Examples
    --------
    >>> project(np.array([0.7, 0.5, -0.2]), np.ones(3))
    array([0.6, 0.4, 0. ])
    """
    variances = np.maximum(variances, 1e-300)
    order = np.argsort(-values / variances)
    lifts = (1.0 - np.cumsum(values[order])) / np.cumsum(variances[order])
    kept = np.flatnonzero(values[order] + lifts * variances[order] > 0.0)[-1]
    return np.maximum(values + lifts[kept] * variances, 0.0)


def combined_ends(
    factors: Floats, values: Floats, ends: Floats, correlation: Floats, spreads: Floats
) -> Floats:
    """Intervals of weighted sums, from those of the quantities and their correlations.

    The variance on each side is that implied by the length of the intervals on that side (Zou and
    Donner 2008), or by z standard errors if these are longer, because an interval that ends where
    the range of the quantity does is too short for its variance. The same sums of the quantities'
    ends limit the result, and are the result if a correlation is unknown (NaN).

    Shapes: `factors` (k,), `values` (k, m), `ends` (k, m, 2), `correlation` (k, k, m), `spreads`
    (k, m): z standard errors, NaN if unknown.
    """
    signs = np.sign(factors)
    together = signs[:, None, None] * signs[None, :, None]
    correlation = np.where(np.isnan(correlation), together, np.clip(correlation, -1.0, 1.0))
    values, combined = np.clip(values, *np.moveaxis(ends, -1, 0)), []
    for side, sign, inner in ((0, -1.0, np.maximum), (1, 1.0, np.minimum)):
        outer = np.where((signs > 0)[:, None], ends[..., side], ends[..., 1 - side])
        moves = factors[:, None] * np.fmax(np.abs(values - outer), spreads)
        square = np.einsum("im,jm,ijm->m", moves, moves, correlation)
        end = factors @ values + sign * np.sqrt(np.maximum(square, 0.0))
        combined.append(inner(end, factors @ outer))
    return np.stack(combined, axis=-1)


def ratio_ends(values: Floats, ends: Floats, correlation: Floats, spreads: Floats) -> Floats:
    """Fieller's sets of ratios of two estimates, from both intervals (Donner and Zou 2012).

    A set contains each ratio r for which the interval of first − r·second, by `combined_ends`,
    contains 0. If the second may be 0, it contains every number that is compatible with the signs.

    Shapes: `values` (2, m), `ends` (2, m, 2), `correlation` (m,), `spreads` (2, m).
    """
    sign = np.where(ends[1, :, 1] < 0.0, -1.0, 1.0)  # ends of the denominator
    ends = np.sort(sign[:, None] * ends, axis=-1)
    low, high = np.moveaxis(ends, -1, 0)
    top, base = np.clip(np.where(np.isnan(values), (low + high) / 2.0, sign * values), low, high)
    points, unknown = np.stack([top, base]), np.full_like(correlation, np.nan)
    wide = np.stack([np.fmin(low, points - spreads), np.fmax(high, points + spreads)], axis=-1)
    lowest, highest = np.full_like(top, -np.inf), np.full_like(top, np.inf)
    for (of_top, of_base), correlated in ((wide, correlation), (ends, unknown)):
        lowest = np.maximum(lowest, _lowest_ratio(top, of_top[:, 0], base, of_base, correlated))
        highest = np.minimum(
            highest, -_lowest_ratio(-top, -of_top[:, 1], base, of_base, -correlated)
        )
    unbounded = low[1] < 0.0
    limits = np.where(unbounded, -np.inf, lowest), np.where(unbounded, np.inf, highest)
    return np.stack(limits, axis=-1)


def _lowest_ratio(
    top: Floats, lower: Floats, base: Floats, of_base: Floats, correlation: Floats
) -> Floats:
    """Lower ends of the sets of ratios whose denominators, with ends (m, 2), are non-negative."""
    is_positive = lower >= 0.0
    x, y = top - lower, np.where(is_positive, of_base[:, 1] - base, base - of_base[:, 0])
    unknown = np.where(is_positive, -1.0, 1.0)  # the correlation of the widest set
    correlation = np.where(np.isnan(correlation), unknown, np.clip(correlation, -1.0, 1.0))
    a, b, c = top**2 - x**2, top * base - correlation * x * y, base**2 - y**2
    root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        positive = np.where(a > 0.0, a / (b + root), np.where(np.isnan(a), np.nan, 0.0))
        return np.where(is_positive, positive, np.where(c > 0.0, (b - root) / c, -np.inf))
