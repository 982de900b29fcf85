"""Weights of the reports for quantities: unbiased ones, and those of bounded bias."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from skrldp._typing import Booleans, Floats
from skrldp.estimation.channels import Channel, FourNumbers, StructuredChannel
from skrldp.estimation.errors_and_intervals import (
    LEAST_REPORTS,
    Moments,
    Sample,
    Statistic,
    tilt_of,
    tilted_cells,
)

_PENALTIES = 0.01, 0.05, 0.2, 1.0, 4.0, 20.0, 100.0, 1e3, 1e4  # candidate penalties on the bias
_MAX_WEIGHTS = 400  # maximum number of independent quantities for which biased weights are sought
# Maximum size of a search, which then takes about a second
_ROUNDS, _MAX_PRODUCTS = 12, 2_000_000_000
_SPREAD = 0.01  # fraction of the cells' shares that is uniform
_NO_PENALTY = 1e-10  # minimum relevant share of a variance, above rounding errors
# Fractions of the distance from the public value to the farther end of its range
_FRACTIONS = 0.0, 0.25, 0.5
# Steps of a table of variances: standard errors are off by less than a thousandth, and by less than
# a hundredth while weights are compared.
_STEPS, _FEW_STEPS = 96, 16


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightedStatistic(Statistic):
    """Quantities c·π / g·π, estimated by means of the reports' weights."""

    channel: Channel
    c: Floats  # (k, a)
    g: Floats  # (k, a)
    of_c: Floats  # (k, b), weights of the reports
    of_g: Floats  # (k, b)
    steps: int = _STEPS  # number of steps in the table of variances

    @classmethod
    def of(cls, channel: Channel, c: Floats, g: Floats | None = None) -> Self:
        """Compute the best unbiased weights for functions (k, a); `g` is 1 by default."""
        is_of_all = g is None
        g = np.ones_like(c) if g is None else g
        lowest, highest = (
            end * np.divide(end * c, g, out=np.full_like(c, np.inf), where=g > 0).min(axis=1)
            for end in (1.0, -1.0)
        )
        c = c - np.where(lowest <= highest, lowest, 0.0)[:, None] * g
        of_c = channel.weights(c)
        of_g = np.ones_like(of_c) if is_of_all else channel.weights(g)
        lowest = np.where(lowest <= highest, lowest, np.nan)
        width = highest - lowest
        return cls(channel=channel, c=c, g=g, of_c=of_c, of_g=of_g, lowest=lowest, width=width)

    @cached_property
    def are_unbiased(self) -> Booleans:
        """Which weights are unbiased, (k,)."""
        of_g = self.channel.determines(self.g, self.of_g)
        return self.channel.determines(self.c, self.of_c) & of_g

    @cached_property
    def has_formula(self) -> bool:
        """Whether all quantities are determined shares of the records, and none is constant."""
        are_shares = ((self.c == 0.0) | (self.c == 1.0)).all() and (self.g == 1.0).all()
        return bool(are_shares and not self.certain.any() and self.determined.all())

    @cached_property
    def public(self) -> Floats:
        """Quantities of the public distribution, minus their lowest possible values, (k,)."""
        share = self.g @ self.channel.public
        undefined = np.full_like(share, np.nan)
        return np.divide(self.c @ self.channel.public, share, out=undefined, where=share > 0)

    @cached_property
    def effective(self) -> Floats:
        """Share of the reports that determine a quantity: the weights' inverse kurtosis, (k,).

        This is the largest share over several values of the quantity. A rare category is determined
        by few records, and its interval allows for that. What must be avoided are weights that few
        reports determine at every value.
        """
        parts = np.zeros(len(self.c))
        farther = np.where(2.0 * self.public < self.width, self.width, 0.0)
        for fraction in _FRACTIONS:
            theta = self.public + fraction * (farther - self.public)
            report = self._reports_at(theta) if fraction else self.channel.report
            weights = self._residual_weights(theta)
            centred = weights - (weights * report).sum(axis=1, keepdims=True)
            second, fourth = (centred**2 * report).sum(axis=1), (centred**4 * report).sum(axis=1)
            part = np.divide(second**2, fourth, out=np.ones_like(second), where=fourth > 0)
            parts = np.maximum(parts, part)
        return parts

    def _reports_at(self, theta: Floats) -> Floats:
        """Distributions of reports at the tilt of the public one for which θ is true, (k, b)."""
        column, (mass, c, g) = theta[:, None], self.classes[:3]
        tilt = tilt_of(mass, c - column * g)
        cells = tilted_cells(self.channel.public, tilt, self.c - column * self.g)
        return self.channel.forward(cells)

    @cached_property
    def classes(self) -> Floats:
        """The cells with the same c and g, grouped, and the moments of their reports' weights."""
        of_c, of_g, public = self.of_c, self.of_g, self.channel.public
        weights = of_c, of_g, of_c**2, of_c * of_g, of_g**2
        back = np.stack([self.channel.backward(each) for each in weights], axis=1)  # (k, 5, a)
        rows = []
        for pairs, of_quantity in zip(self.c + 1j * self.g, back, strict=True):
            distinct, index = np.unique(pairs, return_inverse=True)
            mass = np.bincount(index, public)
            means = [np.bincount(index, public * each) / mass for each in of_quantity]
            rows.append(np.stack([mass, distinct.real, distinct.imag, *means]))
        padded = np.zeros((len(rows[0]), len(rows), max(row.shape[1] for row in rows)))
        for k, row in enumerate(rows):
            padded[:, k, : row.shape[1]] = row
        return padded

    def moments(self, sample: Sample) -> Moments:
        """Return means and covariances of the weights."""
        pairs = (self.of_c, self.of_c), (self.of_c, self.of_g), (self.of_g, self.of_g)
        cc, cg, gg = (sample.products(*pair) for pair in pairs)
        moments = Moments(sample.means(self.of_c), sample.means(self.of_g), cc, cg, gg, sample.n)
        if sample.design is None:
            return moments
        theta = np.clip(np.nan_to_num(moments.ratios), 0.0, self.width)
        independent = self.moments(Sample(sample.shares, sample.n))
        plain, of_design = independent.variances(theta), moments.variances(theta)
        effect = np.divide(of_design, plain, out=np.ones_like(plain), where=plain > 0)
        unseen = np.where(self.are_carried(independent), 0.0, sample.unseen_weight)
        effect = np.maximum(effect, unseen)
        return Moments(*moments[:-1], effect)

    def influence(self, sample: Sample) -> Floats:
        """Return each report's contribution to the estimates, times the number of reports: (k, b).

        It is 0 for quantities of groups without observed records.
        """
        moments = self.moments(sample)
        centred = sample.centred(self._residual_weights(moments.ratios))
        share = moments.share[:, None]
        return np.divide(centred, share, out=np.zeros_like(centred), where=share > 0)

    def noise_variances(self, sample: Sample, moments: Moments) -> Floats:
        """Variances that the mechanism adds to residuals, (k,)."""
        theta = np.nan_to_num(moments.ratios)
        squares = (self.c - theta[:, None] * self.g) ** 2
        weights = self.channel.weights(squares)
        variances = sample.means(self._residual_weights(theta) ** 2 - weights) / sample.n
        return np.where(self.channel.determines(squares, weights), variances, np.nan)

    @cached_property
    def _table(self) -> tuple[Floats, Floats]:
        """Tabulate `tabled` at fractions x (g,) of the quantities' ranges: (5, k, g)."""
        x = (1.0 - np.cos(np.pi * np.arange(self.steps + 1) / self.steps)) / 2.0
        table = np.zeros((5, len(self.c), len(x)))
        for column, fraction in enumerate(x):
            table[0, :, column] = self.model_variances(fraction * self.width)
            if not self.determined.all():
                table[1:3, :, column] = self.bias(fraction * self.width)
            table[3:, :, column] = self.extremes(fraction * self.width)
        table[1:3, self.determined] = 0.0
        return x, np.nan_to_num(table, posinf=1e100)

    def tabled(self, theta: Floats) -> Floats:
        """Interpolate the table at quantities minus their lowest values, (5, ..., k)."""
        x, table = self._table
        fraction = np.nan_to_num(theta / np.where(self.certain, 1.0, self.width))
        fraction = np.clip(fraction, 0.0, 1.0)
        steps = np.arccos(1.0 - 2.0 * fraction) * (self.steps / np.pi)
        step = np.minimum(steps.astype(np.intp), self.steps - 1)
        part = (fraction - x[step]) / (x[step + 1] - x[step])
        rows = np.arange(len(self.width))
        return (1.0 - part) * table[:, rows, step] + part * table[:, rows, step + 1]

    def bias(self, theta: Floats) -> tuple[Floats, Floats]:
        """Middle and half-width of the range of the expected residual over all cells, (k,)."""
        off = self._off[0] - theta[:, None] * self._off[1]
        highest, lowest = off.max(axis=1), off.min(axis=1)
        return (highest + lowest) / 2.0, (highest - lowest) / 2.0

    def extremes(self, theta: Floats) -> tuple[Floats, Floats]:
        """Smallest and largest residual weight of a report, (..., k) each."""
        weights = self._residual_weights(theta)
        return weights.min(axis=-1), weights.max(axis=-1)

    @cached_property
    def _off(self) -> tuple[Floats, Floats]:
        """Bias of the weights of c and of g for each cell, (k, a) each."""
        back = self.channel.backward
        return back(self.of_c) - self.c, back(self.of_g) - self.g

    def _residual_weights(self, theta: Floats) -> Floats:
        return self.of_c - theta[..., None] * self.of_g

    # -- if no weights are unbiased, or too few reports determine an estimate
    # -----------------------------

    def with_bounded_bias(self, n: float) -> Self:
        """Replace weights of estimates that are biased, or that too few of n reports determine."""
        weak = self.is_weak(n)
        of_c, of_g = self.of_c.copy(), self.of_g.copy()
        if weak.any():
            names = "c", "g", "of_c", "of_g", "lowest", "width"
            rows = {name: getattr(self, name)[weak] for name in names}
            of_c[weak], of_g[weak] = replace(self, tilted={}, **rows)._shortest(n)
        return replace(self, of_c=of_c, of_g=of_g, plain=self)

    def _shortest(self, n: float) -> tuple[Floats, Floats]:
        """Find the weights with the shortest expected intervals at the public distribution.

        Any weights are valid, because their bias is computed. In a tie, the first weights are used.
        """
        channel, width = self.channel, self.width[:, None]
        candidates = [(self.of_c, self.of_g), (np.zeros_like(self.of_c), self.of_g)]
        # For a symmetric mechanism, all weights for a share have two values and the same kurtosis.
        is_hopeless = channel.is_symmetric and self.determined.all()
        if not is_hopeless and min(channel.n_symbols, channel.n_cells) <= _MAX_WEIGHTS:
            for of_c, of_g in _shrunk(channel, self.c / width, self.g, self.public / self.width, n):
                candidates.append((width * of_c, of_g))
                if np.ptp(self.g):
                    candidates.append((width * of_c, self.of_g))
        short = replace(self, steps=_FEW_STEPS)
        lengths = [replace(short, of_c=c, of_g=g).expected_lengths(n) for c, g in candidates]
        best = np.argmin(np.round(lengths, 4), axis=0), np.arange(len(self.c))
        pairs = zip(zip(*candidates, strict=True), (self.c, self.g), strict=True)
        of_c, of_g = (_centred(channel, np.stack(each)[best], own) for each, own in pairs)
        return of_c, of_g

    def expected_lengths(self, n: float) -> Floats:
        """Lengths of intervals for expected reports, relative to the quantities' ranges, (k,).

        They are infinite if too few of n reports determine the estimate.
        """
        ends = self.inference(Sample(self.channel.report, n)).ends(0.95)
        carried = (np.ptp(self.of_c, axis=1) == 0.0) | (self.effective * n >= LEAST_REPORTS)
        return np.where(carried, np.ptp(ends, axis=1) / self.width, np.inf)


def _centred(channel: Channel, weights: Floats, functions: Floats) -> Floats:
    """Shift weights (k, b) of functions (k, a) so that their bias is symmetric."""
    off = channel.backward(weights) - functions
    return weights - (off.max(axis=1, keepdims=True) + off.min(axis=1, keepdims=True)) / 2


def _shrunk(
    channel: Channel, c: Floats, g: Floats, theta: Floats, n: float
) -> Iterator[tuple[Floats, Floats]]:
    """Weights of c and g that minimise variance / (n · price) + mean squared bias.

    At first, all cells have equal weight in the mean. Each round multiplies the weight of a cell by
    the absolute bias of c − θg there, as Lawson's algorithm does for minimax fits.

    Shapes: `c` and `g` (k, a), `theta` (k,). Yields pairs of (k, b).
    """
    directions = channel.directions - channel.report @ channel.directions
    on_cells = channel.matrix.T @ directions  # (a, r)
    (k, a), r = c.shape, on_cells.shape[1]
    functions, residual = np.stack([c, g], axis=1), c - theta[:, None] * g  # (k, 2, a)
    left, values, right = np.linalg.svd(on_cells - on_cells.mean(axis=0), full_matrices=False)
    along = (functions - functions.mean(axis=2, keepdims=True)) @ left
    n_rounds = int(min(_ROUNDS, _MAX_PRODUCTS // (len(_PENALTIES) * k * a * r**2)))
    for price in _PENALTIES:
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
            weighted = functions * shares[:, None]
            sides = weighted @ on_cells - weighted.sum(axis=2)[..., None] * means[:, None]
            system = square + penalty * np.eye(r)
            chosen = np.linalg.solve(system, sides.swapaxes(1, 2)).swapaxes(1, 2)
        if n_rounds:
            yield tuple((chosen @ directions.T).swapaxes(0, 1))


# -- single cells, too many for a matrix ----------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class CellShares(Statistic):
    """Shares of all cells of a channel without a matrix, (a,) each."""

    channel: StructuredChannel
    has_formula = True

    @classmethod
    def of_cells(cls, channel: StructuredChannel) -> "CellShares":
        """Compute the weights of each cell's share."""
        zeros = np.zeros(channel.n_cells)
        return cls(channel=channel, lowest=zeros, width=zeros + 1.0)

    @cached_property
    def are_unbiased(self) -> Booleans:
        """Which shares have unbiased weights; by symmetry, all or none."""
        first = np.eye(1, self.channel.n_cells)
        determined = self.channel.determines(first, self.channel.weights(first))
        return np.repeat(determined, self.channel.n_cells)

    @property
    def public(self) -> Floats:
        """Probabilities of the cells at the public distribution."""
        return self.channel.public

    @cached_property
    def effective(self) -> Floats:
        """Share of the reports that determine a cell's share, at the public distribution."""
        first, second, third, fourth = (
            self.channel.inverse.powered(k).apply(self.channel.report) for k in (1, 2, 3, 4)
        )
        central = fourth - 4.0 * first * third + 6.0 * first**2 * second - 3.0 * first**4
        return (second - first**2) ** 2 / np.maximum(central, 1e-300)

    @cached_property
    def classes(self) -> Floats:
        """All other cells and each cell, with moments of their reports' weights, (8, a, 2)."""
        p, squared = self.public, self.channel.inverse.powered(2)
        entries = FourNumbers(squared.shape, self.channel.blocks.entries * squared.entries)
        inside = entries.apply(np.ones_like(p))
        outside = (squared.apply(self.channel.report) - p * inside) / (1.0 - p)
        ones = np.ones((len(p), 2))
        c = ones * [0.0, 1.0]
        mass, second = np.stack([1.0 - p, p], axis=1), np.stack([outside, inside], axis=1)
        return np.stack([mass, c, ones, c, ones, second, c, ones])

    def extremes(self, theta: Floats) -> tuple[Floats, Floats]:
        """Smallest and largest weight of a report, minus θ: (..., a) each."""
        a1, a2 = self.channel.inverse.shape
        entries = self.channel.inverse.entries[[True, a2 > 1, a1 > 1, a1 > 1 and a2 > 1]]
        return entries.min() - theta, entries.max() - theta

    def moments(self, sample: Sample) -> Moments:
        """Return means and variances of the weights."""
        means = self.channel.inverse.apply(sample.shares)
        squares = self.channel.inverse.powered(2).apply(sample.shares)
        zeros = np.zeros_like(means)
        return Moments(means, zeros + 1.0, (squares - means**2) / sample.n, zeros, zeros, sample.n)

    def noise_variances(self, sample: Sample, moments: Moments) -> Floats:
        """Variances that the mechanism adds."""
        return moments.cc + (moments.top**2 - moments.top) / sample.n
