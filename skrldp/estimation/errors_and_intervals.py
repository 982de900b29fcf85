r"""One statistic for every quantity, and one interval.

A quantity is a ratio :math:`\theta = c\cdot\pi / g\cdot\pi` of two linear functions of the
distribution π of the records; g is 1 for quantities of all records, and the indicator of a group
for those within it. With weights w of the reports for which :math:`Q^T w = c`, the mean of w(Y) is
an exactly unbiased estimate of c·π, whatever π is. The weights depend on the mechanism and the
public distribution alone, never on the reports.

The interval has all θ at which the residual :math:`h_\theta = c - \theta g`, whose mean is 0 if θ
is true, is estimated within z standard errors of 0. The variance is the greater of two: that of
the reports, and that at the distribution next to the public one at which θ is true (tilted
exponentially). It is Wilson's interval with the noise of privacy in it, and for ratios Fieller's.

Where no weights are unbiased, or fewer than 30 reports would determine every value (n
over the kurtosis of w(Y)), weights of bounded bias are taken, and the interval allows for the bias
(Donoho 1994; Armstrong and Kolesár 2018).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from skrldp._typing import Booleans, Floats, Indices
from skrldp.estimation.channels import Channel, FourNumbers, StructuredChannel

LEAST_REPORTS = 30.0  # minimum number that effectively determine a quantity
_PRICES = 0.01, 0.05, 0.2, 1.0, 4.0, 20.0, 100.0, 1e3, 1e4  # of the bias that are tried
_MOST_WEIGHTS = 400  # independent ones for which biased weights are searched
_ROUNDS, _MOST_PRODUCTS = 12, 2_000_000_000  # of a search, in about a second
_SPREAD = 0.01  # of the shares of cells that all have alike
_NO_PENALTY = 1e-10  # of a variance: rounding would decide below it
LEAST_SHARE = 4.0  # of a group, in its standard errors, for a standard error within it
_PARTS = 0.0, 0.25, 0.5  # of the way from the public value to the farther end of its range
_LARGEST_TILT = 500.0  # of a logarithm of a probability
_TILTS, _HALVINGS = 60, 30  # steps of the tilt, and of an end of an interval
# Steps of a table of variances: errors are wrong by less than a thousandth, and while weights are
# compared by less than a hundredth.
_STEPS, _FEW_STEPS = 96, 16


@dataclass(frozen=True, eq=False)
class Sample:
    """The shares of the reports, and how they vary from sample to sample.

    Without `design` there may be r samples at once, of shares (r, b): quantities are then (r, k).
    """

    shares: Floats  # (b,)
    n: float  # number of reports
    design: Floats | None = None  # (b, b), covariance of the shares of a survey; None: independent
    strata: Indices | None = None  # (b,), stratum of each symbol, whose number of reports is given
    whole: "tuple[Sample, slice] | None" = None  # of a group of a survey's reports: all, its place

    @classmethod
    def of_counts(cls, counts: Floats) -> "Sample":
        """Shares of independent reports."""
        return cls(counts / counts.sum(), float(counts.sum()))

    def on_whole(self, weights: Floats) -> "tuple[Sample, Floats]":
        """Return the sample of which this is a group, and weights (k, b) of all of its reports."""
        if self.whole is None:
            return self, weights
        sample, place = self.whole
        found = np.zeros((len(weights), len(sample.shares)))
        found[:, place] = weights
        return sample, found

    def means(self, weights: Floats) -> Floats:
        """Means of weights (k, b): (k,)."""
        found: Floats = self.shares @ weights.T
        return found

    def centred(self, weights: Floats) -> Floats:
        """Weights (k, b) less their mean, within each stratum."""
        sizes = np.maximum(self.shares @ self._of_strata.T, 1e-300)[..., None, :]
        means = (weights * self.shares[..., None, :]) @ self._of_strata.T / sizes
        found: Floats = weights - means @ self._of_strata
        return found

    def covariance(self, first: Floats, second: Floats) -> Floats:
        """Covariances of the means of weights (k, b) and (l, b): (k, l)."""
        if self.design is not None:
            found: Floats = first @ self.design @ second.T
            return found
        return (self.centred(first) * self.shares) @ self.centred(second).T / self.n

    def products(self, first: Floats, second: Floats) -> Floats:
        """Covariances of the means of weights, each with its own counterpart: (k, b) to (k,)."""
        if self.design is not None:
            found: Floats = np.einsum("kb,kb->k", first @ self.design, second)
            return found
        both = self.centred(first) * self.centred(second)
        return np.einsum("...kb,...b->...k", both, self.shares) / self.n

    @cached_property
    def _of_strata(self) -> Floats:
        """Which symbols are of each stratum, (m, b)."""
        if self.strata is None:
            return np.ones((1, self.shares.shape[-1]))
        return (self.strata == np.arange(self.strata.max() + 1)[:, None]).astype(float)


Samples = Sequence[tuple[tuple[Any, ...], Sample]]  # of each group of reports: label, reports


class Moments(NamedTuple):
    """What the weights of reports have in the mean: (..., k) each."""

    top: Floats  # mean of the weights of c
    share: Floats  # of those of g
    cc: Floats  # variances and covariances of these means
    cg: Floats
    gg: Floats
    n: float  # number of reports
    effect: Floats | float = 1.0  # how much a survey's design multiplies variances

    @property
    def at(self) -> Floats:
        """Ratios; NaN where no record of the group is seen."""
        nothing = np.full_like(self.top, np.nan)
        return np.divide(self.top, self.share, out=nothing, where=self.share > 0)

    def variances(self, theta: Floats) -> Floats:
        """Variances of the means of the residuals' weights."""
        found = self.cc - 2.0 * theta * self.cg + theta**2 * self.gg
        return np.maximum(found, 0.0)


def tilt_of(mass: Floats, residual: Floats) -> Floats:
    """Find λ, (k, 1), for which the tilted mean residual is 0, or next to 0 where it has one sign.

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
    found: Floats = tilt / scale
    return found


def tilted_cells(public: Floats, tilt: Floats, residual: Floats) -> Floats:
    """Return distributions (k, a), or one (a,), tilted by λ (k, 1) times residuals (k, a)."""
    logs = np.log(np.maximum(public, 1e-300)) + tilt * residual
    cells = np.exp(logs - logs.max(axis=1, keepdims=True))
    found: Floats = cells / cells.sum(axis=1, keepdims=True)
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Statistic:
    """Estimates of k quantities from reports.

    The smallest possible value is subtracted from c for each g, so that little cancels out:
    quantities are θ = `least` + c·π / g·π, and a quantity that is certain has c = 0.
    """

    channel: Channel
    c: Floats  # (k, a)
    g: Floats  # (k, a)
    of_c: Floats  # (k, b), weights of the reports
    of_g: Floats  # (k, b)
    least: Floats  # (k,), NaN where no cell has g
    size: Floats  # (k,), of the range of the quantity
    plain: "Statistic | None" = None  # with unbiased weights, where others replaced them
    steps: int = _STEPS  # of the table of variances
    # Classes (k, m) where quantities θ are true: the same for all weights of the same quantities.
    tilted: dict[bytes, Floats] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, channel: Channel, c: Floats, g: Floats | None = None) -> "Statistic":
        """Take the best unbiased weights: shapes (k, a); `g` is 1 if it is None."""
        of_all = g is None
        g = np.ones_like(c) if g is None else g
        least, most = (
            end * np.divide(end * c, g, out=np.full_like(c, np.inf), where=g > 0).min(axis=1)
            for end in (1.0, -1.0)
        )
        c = c - np.where(least <= most, least, 0.0)[:, None] * g
        of_c = channel.weights(c)
        of_g = np.ones_like(of_c) if of_all else channel.weights(g)
        least = np.where(least <= most, least, np.nan)
        return cls(channel=channel, c=c, g=g, of_c=of_c, of_g=of_g, least=least, size=most - least)

    # -- before there are reports -----------------------------------------------------------------

    @cached_property
    def certain(self) -> Booleans:
        """Which quantities are equal everywhere, or undefined as a group is empty, (k,)."""
        return ~(self.size > 0.0)

    @cached_property
    def determined(self) -> Booleans:
        """Which quantities have an unbiased estimate, (k,)."""
        of_g = self.channel.determines(self.g, self.of_g)
        return self.certain | (self.channel.determines(self.c, self.of_c) & of_g)

    @cached_property
    def public(self) -> Floats:
        """Values at the public distribution, minus the smallest ones, (k,)."""
        share = self.g @ self.channel.public
        found = np.full_like(share, np.nan)
        return np.divide(self.c @ self.channel.public, share, out=found, where=share > 0)

    @cached_property
    def effective(self) -> Floats:
        """Part of the reports that carry a quantity, (k,): the inverse kurtosis of its weights.

        The largest over some values of the quantity: of a rare category few records decide, and the
        interval knows; only few reports for every value must be avoided.
        """
        found, far = np.zeros(len(self.c)), np.where(2.0 * self.public < self.size, self.size, 0.0)
        for part in _PARTS:
            theta = self.public + part * (far - self.public)
            report = self._reports_at(theta) if part else self.channel.report
            weights = self._residual_weights(theta)
            apart = weights - (weights * report).sum(axis=1, keepdims=True)
            second, fourth = (apart**2 * report).sum(axis=1), (apart**4 * report).sum(axis=1)
            own = np.divide(second**2, fourth, out=np.ones_like(second), where=fourth > 0)
            found = np.maximum(found, own)
        return found

    def _reports_at(self, theta: Floats) -> Floats:
        """Distributions of the reports where θ is true, next to the public one, (k, b)."""
        at, (mass, c, g) = theta[:, None], self.classes[:3]
        tilt = tilt_of(mass, c - at * g)
        return self.channel.forward(tilted_cells(self.channel.public, tilt, self.c - at * self.g))

    @cached_property
    def classes(self) -> Floats:
        """The cells with the same c and g, put together, and what reports about them weigh.

        Returns (8, k, m): their mass (0 for the rest of a row), c and g; the expected weights of a
        report about such a cell, of c and of g, and their products cc, cg and gg.
        """
        one, two, public = self.of_c, self.of_g, self.channel.public
        weights = one, two, one**2, one * two, two**2
        back = np.stack([self.channel.backward(each) for each in weights], axis=1)  # (k, 5, a)
        rows = []
        for pairs, of_figure in zip(self.c + 1j * self.g, back, strict=True):
            own, place = np.unique(pairs, return_inverse=True)
            mass = np.bincount(place, public)
            means = [np.bincount(place, public * each) / mass for each in of_figure]
            rows.append(np.stack([mass, own.real, own.imag, *means]))
        found = np.zeros((len(rows[0]), len(rows), max(row.shape[1] for row in rows)))
        for k, row in enumerate(rows):
            found[:, k, : row.shape[1]] = row
        return found

    # -- from reports -----------------------------------------------------------------------------

    def moments(self, sample: Sample) -> Moments:
        """Return what the weights have in the mean."""
        pairs = (self.of_c, self.of_c), (self.of_c, self.of_g), (self.of_g, self.of_g)
        cc, cg, gg = (sample.products(*pair) for pair in pairs)
        found = Moments(sample.means(self.of_c), sample.means(self.of_g), cc, cg, gg, sample.n)
        if sample.design is None:
            return found
        theta = np.clip(np.nan_to_num(found.at), 0.0, self.size)
        plain = self.moments(Sample(sample.shares, sample.n)).variances(theta)
        of_design = found.variances(theta)
        effect = np.divide(of_design, plain, out=np.ones_like(plain), where=plain > 0)
        return Moments(*found[:-1], effect)

    def estimates(self, sample: Sample) -> Floats:
        """Estimates as the weights make them, (k,); NaN where no record of the group is seen."""
        return self.least + np.where(self.certain, 0.0, self.moments(sample).at)

    def unbiased(self, sample: Sample) -> Floats:
        """Return the unbiased estimates, (k,); NaN where there are none."""
        own = self.plain or self
        return np.where(own.determined, own.estimates(sample), np.nan)

    def points(self, sample: Sample) -> Floats:
        """Return the unbiased estimates, (k,), and those of bounded bias where there are none."""
        unbiased = self.unbiased(sample)
        return np.where(np.isnan(unbiased), self.estimates(sample), unbiased)

    def influence(self, sample: Sample) -> Floats:
        """Return what one report adds to the estimates, times the number of reports: (k, b).

        It is 0 for quantities without a record.
        """
        seen = self.moments(sample)
        apart = sample.centred(self._residual_weights(seen.at))
        share = seen.share[:, None]
        return np.divide(apart, share, out=np.zeros_like(apart), where=share > 0)

    def spread(self, sample: Sample) -> Floats:
        """Return the standard deviations of the estimates, (k,)."""
        seen = self.moments(sample)
        found: Floats = np.sqrt(seen.variances(seen.at)) / seen.share
        return found

    def errors(self, sample: Sample) -> Floats:
        """State standard errors, (k,); NaN where weights are biased, or few reports carry them.

        A ratio has one only if its denominator is surely not near 0: the error is that of a linear
        approximation.
        """
        seen = self.moments(sample)
        known = seen.share >= LEAST_SHARE * np.sqrt(np.maximum(seen.gg, 0.0))
        stated = self.certain | (known & ~self.is_weak(sample.n))
        return np.where(stated, self.spread(sample), np.nan)

    def noise_errors(self, sample: Sample) -> Floats:
        """Part of the standard errors that the mechanism adds, (k,).

        It is about those who reported; NaN where the reports do not determine it.
        """
        seen = self.moments(sample)
        theta = np.nan_to_num(seen.at)
        squares = (self.c - theta[:, None] * self.g) ** 2
        weights = self.channel.weights(squares)
        known = self.channel.determines(squares, weights) & np.isfinite(self.errors(sample))
        variance = sample.means(self._residual_weights(theta) ** 2 - weights) / sample.n
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.sqrt(np.maximum(variance, 0.0)) / seen.share
        return np.where(known, found, np.nan)

    def variances(self, sample: Sample) -> Floats:
        """Variances at the public value, (k,), as weights of the points."""
        share = np.maximum(self.moments(sample).share, 1e-12)
        found: Floats = self.model_variances(self.public) / share**2 / sample.n
        if self.plain is None:
            return found
        return np.where(self.plain.determined, self.plain.variances(sample), found)

    def model_variances(self, theta: Floats) -> Floats:
        """Variances of the residuals' weights where θ, (k,), is true, next to p₀."""
        mass, c, g, first_c, first_g, cc, cg, gg = self.classes
        at = theta[:, None]
        if theta.tobytes() not in self.tilted:
            residual = c - at * g
            self.tilted[theta.tobytes()] = tilted_cells(mass, tilt_of(mass, residual), residual)
        p = self.tilted[theta.tobytes()]
        mean = (p * (first_c - at * first_g)).sum(axis=1)
        second = (p * (cc - 2.0 * at * cg + at**2 * gg)).sum(axis=1)
        return np.maximum(second - mean**2, 0.0)

    def ends(self, sample: Sample, level: float) -> Floats:
        """Find the ends of the confidence intervals, (k, 2)."""
        seen = self.moments(sample)
        if self.are_plain and self.determined.all():
            return _wilson(seen, self.classes[5].T, ndtri(0.5 + level / 2.0))
        # A residual that has one sign at all values counts as 0 where it is next to 0.
        whole = np.stack([np.zeros_like(seen.top), np.broadcast_to(self.size, seen.top.shape)])
        low, high = seen.top - whole * seen.share - self._tabled(whole)[1]
        left = np.where(low * high > 0, np.where(np.abs(low) < np.abs(high), low, high), 0.0)
        part = np.divide(low - left, low - high, out=np.zeros_like(low), where=low != high)
        at = np.clip(part, 0.0, 1.0) * self.size

        def outside(theta: Floats) -> Booleans:
            model, shift, bias = self._tabled(theta)
            error = np.sqrt(np.maximum(seen.variances(theta), seen.effect * model / seen.n))
            half = bias + _critical(bias / np.maximum(error, 1e-200), level) * error
            far: Booleans = np.abs(seen.top - theta * seen.share - left - shift) > half
            return far

        far = outside(whole)
        inner, outer = np.where(far, at, whole), whole
        for _ in range(_HALVINGS if far.any() else 0):
            half_way = (inner + outer) / 2.0
            beyond = outside(half_way)
            inner, outer = np.where(beyond, inner, half_way), np.where(beyond, half_way, outer)
        return np.moveaxis(self.least + outer, 0, -1)

    @cached_property
    def _table(self) -> tuple[Floats, Floats]:
        """Tabulate what intervals need, at x of the quantities' ranges: x (g,), (3, k, g).

        These are model variances, and the middle and size of the bias.
        """
        x = (1.0 - np.cos(np.pi * np.arange(self.steps + 1) / self.steps)) / 2.0
        found = np.zeros((3, len(self.c), len(x)))
        for place, part in enumerate(x):
            found[0, :, place] = self.model_variances(part * self.size)
            if not self.determined.all():
                found[1:, :, place] = self.bias(part * self.size)
        found[1:, self.determined] = 0.0
        return x, np.nan_to_num(found, posinf=1e100)

    def _tabled(self, theta: Floats) -> Floats:
        """Look up the table, (3, ..., k), at values minus the smallest ones."""
        x, table = self._table
        at = np.clip(np.nan_to_num(theta / np.where(self.certain, 1.0, self.size)), 0.0, 1.0)
        steps = np.arccos(1.0 - 2.0 * at) * (self.steps / np.pi)
        place = np.minimum(steps.astype(np.intp), self.steps - 1)
        part = (at - x[place]) / (x[place + 1] - x[place])
        rows = np.arange(len(self.size))
        found: Floats = (1.0 - part) * table[:, rows, place] + part * table[:, rows, place + 1]
        return found

    @cached_property
    def are_plain(self) -> bool:
        """Whether all are shares of the records, of which none is certain."""
        shares = ((self.c == 0.0) | (self.c == 1.0)).all() and (self.g == 1.0).all()
        return bool(shares and not self.certain.any())

    def bias(self, theta: Floats) -> tuple[Floats, Floats]:
        """Middle and largest distance from it of the expected residual, over all cells, (k,)."""
        at = theta[:, None]
        off = self._off[0] - at * self._off[1]
        most, least = off.max(axis=1), off.min(axis=1)
        return (most + least) / 2.0, (most - least) / 2.0

    @cached_property
    def _off(self) -> tuple[Floats, Floats]:
        """Bias of the weights of c and of g about each cell, (k, a) each."""
        back = self.channel.backward
        return back(self.of_c) - self.c, back(self.of_g) - self.g

    def _residual_weights(self, theta: Floats) -> Floats:
        found: Floats = self.of_c - theta[:, None] * self.of_g
        return found

    # -- where no weights are unbiased, or too few reports carry them -----------------------------

    def is_weak(self, n: float) -> Booleans:
        """Which weights are biased, or carried by too few of n reports, (k,)."""
        carried = self.effective * n >= LEAST_REPORTS
        found: Booleans = ~(self.certain | (self.determined & carried))
        return found

    def with_bounded_bias(self, n: float) -> "Statistic":
        """Replace weights that are biased, or carried by too few of n reports."""
        weak = self.is_weak(n)
        of_c, of_g = self.of_c.copy(), self.of_g.copy()
        if weak.any():
            of_c[weak], of_g[weak] = self._rows(weak)._shortest(n)
        return replace(self, of_c=of_c, of_g=of_g, plain=self)

    def _rows(self, rows: Booleans) -> "Statistic":
        names = "c", "g", "of_c", "of_g", "least", "size"
        return replace(self, tilted={}, **{name: getattr(self, name)[rows] for name in names})

    def _shortest(self, n: float) -> tuple[Floats, Floats]:
        """Find the weights whose intervals are expected to be shortest at the public distribution.

        Any weights are valid, because their bias is computed. The first of those as good is taken.
        """
        channel, size = self.channel, self.size[:, None]
        candidates = [(self.of_c, self.of_g), (np.zeros_like(self.of_c), self.of_g)]
        # For a symmetric mechanism all weights of a share have two values, and the same kurtosis.
        is_hopeless = channel.is_symmetric and self.determined.all()
        if not is_hopeless and min(channel.n_symbols, channel.n_cells) <= _MOST_WEIGHTS:
            for of_c, of_g in _shrunk(channel, self.c / size, self.g, self.public / self.size, n):
                candidates.append((size * of_c, of_g))
                if np.ptp(self.g):
                    candidates.append((size * of_c, self.of_g))
        lengths = [
            replace(self, of_c=c, of_g=g, steps=_FEW_STEPS)._expected_lengths(n)
            for c, g in candidates
        ]
        best = np.argmin(np.round(lengths, 4), axis=0), np.arange(len(self.c))
        parts = zip(zip(*candidates, strict=True), (self.c, self.g), strict=True)
        of_c, of_g = (_centred(channel, np.stack(part)[best], own) for part, own in parts)
        return of_c, of_g

    def _expected_lengths(self, n: float) -> Floats:
        """Lengths of the intervals for the expected reports, in ranges of the quantities, (k,).

        Infinite where too few of n reports carry the weights.
        """
        ends = self.ends(Sample(self.channel.report, n), 0.95)
        carried = (np.ptp(self.of_c, axis=1) == 0.0) | (self.effective * n >= LEAST_REPORTS)
        return np.where(carried, np.ptp(ends, axis=1) / self.size, np.inf)


def _centred(channel: Channel, weights: Floats, functions: Floats) -> Floats:
    """Move weights (k, b) of functions (k, a) so that their bias is as large in both directions."""
    off = channel.backward(weights) - functions
    found: Floats = weights - (off.max(axis=1, keepdims=True) + off.min(axis=1, keepdims=True)) / 2
    return found


def _shrunk(
    channel: Channel, c: Floats, g: Floats, theta: Floats, n: float
) -> Iterator[tuple[Floats, Floats]]:
    """Weights of c and g with the least variance / (n · price) + mean square of the bias.

    The mean is over all cells alike, and over those where the bias of c − θg is the largest: each
    round multiplies the cells' shares by its size, as Lawson does for minimax fits.

    Shapes: `c` and `g` (k, a), `theta` (k,); pairs of (k, b).
    """
    directions = channel.directions - channel.report @ channel.directions
    on_cells = channel.matrix.T @ directions  # (a, r)
    (k, a), r = c.shape, on_cells.shape[1]
    both, residual = np.stack([c, g], axis=1), c - theta[:, None] * g  # (k, 2, a)
    left, values, right = np.linalg.svd(on_cells - on_cells.mean(axis=0), full_matrices=False)
    along = (both - both.mean(axis=2, keepdims=True)) @ left
    n_rounds = int(min(_ROUNDS, _MOST_PRODUCTS // (len(_PRICES) * k * a * r**2)))
    for price in _PRICES:
        penalty = max(1.0 / (n * price), _NO_PENALTY)
        chosen = along * (values / (values**2 + a * penalty)) @ right  # (k, 2, r)
        shares = np.full_like(c, 1.0 / a)
        yield tuple((chosen @ directions.T).swapaxes(0, 1))
        for _ in range(n_rounds):
            off = (chosen[:, 0] - theta[:, None] * chosen[:, 1]) @ on_cells.T - residual
            off -= (off.max(axis=1, keepdims=True) + off.min(axis=1, keepdims=True)) / 2.0
            shares *= np.maximum(np.abs(off), 1e-6 * np.abs(off).max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            shares = (1.0 - _SPREAD) * shares + _SPREAD / a
            means = shares @ on_cells
            square = (on_cells.T * shares[:, None]) @ on_cells - means[:, :, None] * means[:, None]
            weighted = both * shares[:, None]
            sides = weighted @ on_cells - weighted.sum(axis=2)[..., None] * means[:, None]
            system = square + penalty * np.eye(r)
            chosen = np.linalg.solve(system, sides.swapaxes(1, 2)).swapaxes(1, 2)
        if n_rounds:
            yield tuple((chosen @ directions.T).swapaxes(0, 1))


@cache
def _critical_values(level: float) -> tuple[Floats, Floats]:
    """Tabulate biases t in standard errors, and z: abs(N(t, 1)) <= t + z at the level."""
    biases = np.linspace(0.0, 8.0, 161)
    found = np.full_like(biases, ndtri(0.5 + level / 2.0))
    for _ in range(_HALVINGS):  # of the distance
        found = (found + ndtri(level + ndtr(-2.0 * biases - found))) / 2.0
    return biases, found


def _critical(biases: Floats, level: float) -> Floats:
    """Critical values for biases in standard errors, beside the bias itself."""
    return np.interp(biases, *_critical_values(level))


# -- single cells, too many for a matrix ----------------------------------------------------------


class CellShares(Statistic):
    """Shares of all cells of a channel of which no matrix is made."""

    channel: StructuredChannel

    @classmethod
    def of_cells(cls, channel: StructuredChannel) -> "CellShares":
        """Take the shares of each cell."""
        no, none = np.zeros((0, 0)), np.zeros(channel.n_cells)
        return cls(channel=channel, c=no, g=no, of_c=no, of_g=no, least=none, size=none + 1.0)

    @property
    def are_plain(self) -> bool:
        """Whether all are shares of the records."""
        return True

    @cached_property
    def determined(self) -> Booleans:
        """Which shares have an unbiased estimate, (a,): by symmetry all, or none."""
        first = np.eye(1, self.channel.n_cells)
        known = self.channel.determines(first, self.channel.weights(first))
        return np.repeat(known, self.channel.n_cells)

    @property
    def public(self) -> Floats:
        """Probabilities of the cells at the public distribution, (a,)."""
        return self.channel.public

    @cached_property
    def effective(self) -> Floats:
        """Part of the reports that carry a share, (a,), at the public distribution."""
        first, second, third, fourth = (
            self.channel.inverse.powered(k).apply(self.channel.report) for k in (1, 2, 3, 4)
        )
        central = fourth - 4.0 * first * third + 6.0 * first**2 * second - 3.0 * first**4
        return (second - first**2) ** 2 / np.maximum(central, 1e-300)

    @cached_property
    def classes(self) -> Floats:
        """The other cells and the cell, with what reports about them weigh, (8, a, 2)."""
        p, squared = self.public, self.channel.inverse.powered(2)
        of_own = FourNumbers(squared.shape, self.channel.blocks.entries * squared.entries)
        inside = of_own.apply(np.ones_like(p))
        outside = (squared.apply(self.channel.report) - p * inside) / (1.0 - p)
        one = np.ones((len(p), 2))
        c = one * [0.0, 1.0]
        mass, second = np.stack([1.0 - p, p], axis=1), np.stack([outside, inside], axis=1)
        return np.stack([mass, c, one, c, one, second, c, one])

    def moments(self, sample: Sample) -> Moments:
        """Return what the weights have in the mean."""
        found = self.channel.inverse.apply(sample.shares)
        squares = self.channel.inverse.powered(2).apply(sample.shares)
        none = np.zeros_like(found)
        return Moments(found, none + 1.0, (squares - found**2) / sample.n, none, none, sample.n)

    def noise_errors(self, sample: Sample) -> Floats:
        """Part of the standard errors that the mechanism adds, (a,)."""
        seen = self.moments(sample)
        found = np.sqrt(np.maximum(seen.cc + (seen.top**2 - seen.top) / sample.n, 0.0))
        return np.where(self.is_weak(sample.n), np.nan, found)

    def ends(self, sample: Sample, level: float) -> Floats:
        """Find the ends of the intervals, (a, 2); 0 and 1 where too few reports carry them."""
        weak = self.is_weak(sample.n)
        found = np.tile([0.0, 1.0], (len(weak), 1))
        return found if weak.all() else np.where(weak[:, None], found, super().ends(sample, level))


def _wilson(seen: Moments, squares: Floats, quantile: float) -> Floats:
    """Intervals of shares: where |m − θ| ≤ z √(max(V(θ), v)/n), V(θ) = θκ₁ + (1−θ)κ₀ − θ².

    Shapes: moments (..., k), `squares` κ₀ and κ₁ (2, k), to (..., k, 2).
    """
    at, plain = np.clip(seen.top, 0.0, 1.0), quantile * np.sqrt(np.maximum(seen.cc, 0.0))
    q, (zero, one) = quantile**2 * seen.effect / seen.n, squares
    half = at + q * (one - zero) / 2.0
    root = np.sqrt(np.maximum(half**2 - (1.0 + q) * (at**2 - q * zero), 0.0))
    low = np.minimum((half - root) / (1.0 + q), at - plain)
    high = np.maximum((half + root) / (1.0 + q), at + plain)
    return np.clip(np.stack([low, high], axis=-1), 0.0, 1.0)


# -- several quantities ----------------------------------------------------------------------------


def project(values: Floats, variances: Floats) -> Floats:
    """Distribution next to unbiased shares, in units of their variances: max(m + λv, 0).

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
    coefficients: Floats, values: Floats, ends: Floats, correlation: Floats
) -> Floats:
    """Intervals of weighted sums, from those of the quantities and their correlations.

    Each side has the variance that the length of the intervals shows there (Zou and Donner 2008).
    Quantities whose correlation is not known (NaN) may move so that the sum moves most.

    Shapes: `coefficients` (k,), `values` (k, m), `ends` (k, m, 2), `correlation` (k, k, m).
    """
    signs = np.sign(coefficients)
    together = signs[:, None, None] * signs[None, :, None]
    correlation = np.where(np.isnan(correlation), together, np.clip(correlation, -1.0, 1.0))
    found = np.empty((values.shape[1], 2))
    for side, sign in ((0, -1.0), (1, 1.0)):
        lengths = np.abs(values - ends[..., 0]), np.abs(values - ends[..., 1])
        moves = coefficients[:, None] * np.where((signs > 0)[:, None] == bool(side), *lengths[::-1])
        square = np.einsum("im,jm,ijm->m", moves, moves, correlation)
        found[:, side] = coefficients @ values + sign * np.sqrt(np.maximum(square, 0.0))
    return found


def ratio_ends(values: Floats, ends: Floats, correlation: Floats) -> Floats:
    """Fieller's sets of ratios of two estimates, from both intervals (Donner and Zou 2012).

    They contain each ratio r at which the interval of first − r·second, as `combined_ends` makes
    it, contains 0: any number that the signs allow if the second may be 0.

    Shapes: `values` (2, m), `ends` (2, m, 2), `correlation` (m,).
    """
    sign = np.where(ends[1, :, 1] < 0.0, -1.0, 1.0)  # of the denominator
    ends = np.sort(sign[:, None] * ends, axis=-1)
    low, high = np.moveaxis(ends, -1, 0)
    top, base = np.clip(np.where(np.isnan(values), (low + high) / 2.0, sign * values), low, high)
    lowest = _lowest_ratio(top, low[0], base, ends[1], correlation)
    highest = -_lowest_ratio(-top, -high[0], base, ends[1], -correlation)
    unbounded = low[1] < 0.0
    limits = np.where(unbounded, -np.inf, lowest), np.where(unbounded, np.inf, highest)
    return np.stack(limits, axis=-1)


def _lowest_ratio(
    top: Floats, lower: Floats, base: Floats, of_base: Floats, correlation: Floats
) -> Floats:
    """Lower ends of the sets of ratios whose denominators, with ends (m, 2), are at least 0."""
    is_positive = lower >= 0.0
    x, y = top - lower, np.where(is_positive, of_base[:, 1] - base, base - of_base[:, 0])
    unknown = np.where(is_positive, -1.0, 1.0)  # the correlation of the widest set
    correlation = np.where(np.isnan(correlation), unknown, np.clip(correlation, -1.0, 1.0))
    a, b, c = top**2 - x**2, top * base - correlation * x * y, base**2 - y**2
    root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        positive = np.where(a > 0.0, a / (b + root), np.where(np.isnan(a), np.nan, 0.0))
        return np.where(is_positive, positive, np.where(c > 0.0, (b - root) / c, -np.inf))
