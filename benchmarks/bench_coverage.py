"""How often 95 % intervals hold the truth: tables x sanitizers x n x populations x figures.

    make coverage                                   half an hour
    make coverage ARGS="--runs 200 --tables 2x12"   a part of it

All samples of a figure are drawn and evaluated together. A figure that is held in less than 93 % of
the samples is drawn again, 20,000 times. ``--rows FILE`` keeps every figure's line.
"""

import argparse
import csv
import sys
import warnings
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from skrldp import (
    AOptimalSanitizer,
    BlockEstimator,
    BlockSanitizer,
    GRRSanitizer,
    PolyOptSanitizer,
    SRRSanitizer,
)
from skrldp.estimation.channels import channel_of
from skrldp.estimation.errors_and_intervals import Sample, combined_ends
from skrldp.estimation.report_weights import WeightedStatistic

TABLES = {
    "2x12": (2, 3, 4),
    "12x4": (12, 2, 2),
    "3x8": (3, 2, 4),
    "2x15": (2, 3, 5),
    "15x2": (15, 2, 1),
    "5x16": (5, 4, 4),
    "6x8": (6, 2, 4),
    "2x20": (2, 5, 4),
}
RARE = {  # shares of groups of 3 to 15 %: of S (axis 0), or of the first column of U (axis 1)
    "2x12": (1, (0.03, 0.12, 0.85)),
    "12x4": (0, (0.03, 0.03, 0.04, 0.05, 0.05, 0.06, 0.07, 0.08, 0.10, 0.12, 0.15, 0.22)),
    "3x8": (0, (0.03, 0.08, 0.89)),
    "2x15": (1, (0.05, 0.15, 0.80)),
    "15x2": (0, (*(0.03,) * 4, *(0.04,) * 3, *(0.05,) * 3, 0.07, 0.09, 0.12, 0.15, 0.18)),
    "5x16": (1, (0.03, 0.08, 0.15, 0.74)),
    "6x8": (0, (0.03, 0.05, 0.08, 0.12, 0.15, 0.57)),
    "2x20": (1, (0.03, 0.05, 0.08, 0.15, 0.69)),
}
SIZES = 200, 2_000, 20_000
POPULATIONS = "public", "drifted", "zeros"
LEVEL, LOW, AGAIN = 0.95, 0.93, 20_000
PUBLIC = 3_000  # records of the public table
MOST_PAIRED = 200  # symbols of a mechanism whose pairs of reports are drawn
STAYED = 0.8  # share of the persons whose record is the same in the second wave
_AT_ONCE = 10_000_000  # numbers in memory: reports of kinds times samples


def sanitizers(eps):
    """Designs that end by their tolerance, so that they are the same on every machine."""
    return {
        "GRR": GRRSanitizer(eps, sensitive="s"),
        "SRR": SRRSanitizer(eps, sensitive="s"),
        "PolyOpt": PolyOptSanitizer(eps, sensitive="s", time_limit=None),
        "AOptimal": AOptimalSanitizer(eps, sensitive="s", targets="all", tol=0.01, time_limit=None),
    }


def populations(public, rng):
    """The public distribution, another one, and one that has nothing in half of the cells."""
    zeros = np.where(rng.random(len(public)) < 0.5, 0.0, rng.dirichlet(np.ones(len(public))))
    drifted = rng.dirichlet(np.full(len(public), 0.5))
    return dict(zip(POPULATIONS, (public, drifted, zeros / zeros.sum()), strict=True))


# -- kinds of figures: ends, estimates and errors of r samples, (r, k, 2) and (r, k) --------------


@dataclass
class Plain:
    """Shares and means, with the reports of n persons."""

    statistic: WeightedStatistic

    def truth(self, population):
        share = self.statistic.g @ population
        nothing = np.full(len(share), np.nan)
        parts = np.divide(self.statistic.c @ population, share, out=nothing, where=share > 0)
        return self.statistic.lowest + parts

    def samples(self, population, n, size, rng):
        report = self.statistic.channel.forward(population)
        return Sample(rng.multinomial(int(n), report / report.sum(), size=size) / n, float(n))

    def drawn(self, population, n, size, rng):
        sample = self.samples(population, n, size, rng)
        estimates = self.statistic.inference(sample)
        return estimates.ends(LEVEL), estimates.weighted, estimates.errors


class Difference(Plain):
    """The first group's figure less the last one's."""

    def truth(self, population):
        both = super().truth(population)
        return both[:1] - both[-1:]

    def drawn(self, population, n, size, rng):
        sample = self.samples(population, n, size, rng)
        estimates = self.statistic.inference(sample)
        ends, values, errors = estimates.ends(LEVEL), estimates.weighted, estimates.errors
        covariance, spread = _covariance(self.statistic, sample), estimates.spread
        with np.errstate(all="ignore"):
            correlation = covariance / (spread[:, 0] * spread[:, -1])
            correlation[np.isnan(errors[:, 0] + errors[:, -1])] = np.nan
            error = np.sqrt(errors[:, 0] ** 2 + errors[:, -1] ** 2 - 2.0 * covariance)
        pair = (each[:, [0, -1]].swapaxes(0, 1) for each in (values, ends, errors))
        found = _less(*pair, correlation)
        return found[:, None], (values[:, 0] - values[:, -1])[:, None], error[:, None]


class Quantile(Plain):
    """The median of the numbers 0, 1, ... from the shares that are at most each of them."""

    def truth(self, population):
        return np.array([np.argmax(super().truth(population) >= 0.5 - 1e-12)], dtype=float)

    def drawn(self, population, n, size, rng):
        ends = super().drawn(population, n, size, rng)[0]
        ends[:, -1] = 1.0
        found = np.stack([np.argmax(ends[..., side] >= 0.5, axis=1) for side in (1, 0)], axis=1)
        nothing = np.full((size, 1), np.nan)
        return found[:, None].astype(float), nothing, nothing


class Weighted(Plain):
    """Persons of every second cell are three times as likely to be asked, and weigh a third."""

    def samples(self, population, n, size, rng):
        weights = np.where(np.arange(len(population)) % 2, 1.0, 3.0)
        asked = population / weights
        classes = [(own, asked * (weights == own) / asked.sum()) for own in np.unique(weights)]
        reports = np.concatenate([self.statistic.channel.forward(one) for _, one in classes])
        counts = rng.multinomial(int(n), reports / reports.sum(), size=size)
        counts = counts.reshape(size, len(classes), -1)
        of_class = np.array([own for own, _ in classes])
        once, twice = (np.einsum("rgb,g->rb", counts, of_class**power) for power in (1, 2))
        total = once.sum(axis=1, keepdims=True)
        cubed = (counts.sum(axis=2) @ of_class**3)[:, None] / twice.sum(axis=1, keepdims=True)
        sample = once / total, float(n), np.empty(0), None, None, n * cubed / total
        return Respondents(*sample, squares=twice / total**2)


@dataclass(frozen=True, eq=False)
class Respondents(Sample):
    """Reports of persons with weights: `squares` are the sums of their squares (r, b)."""

    squares: np.ndarray = None

    def products(self, first, second):
        one, two = self.means(first), self.means(second)
        found = self.squares @ (first * second).T + one * two * self.squares.sum(axis=1)[:, None]
        return found - one * (self.squares @ second.T) - two * (self.squares @ first.T)


class Paired(Plain):
    """The second wave less the first, of the same persons."""

    def truth(self, population):
        second = np.roll(population, 1)
        return (1.0 - STAYED) * (super().truth(second) - super().truth(population))

    def drawn(self, population, n, size, rng):
        own, channel = self.statistic, self.statistic.channel
        reports = channel.forward(np.eye(channel.n_cells))  # (a, b)
        both = STAYED * np.diag(population)
        both += (1.0 - STAYED) * np.outer(population, np.roll(population, 1))
        chances = reports.T @ both @ reports
        counts = rng.multinomial(int(n), chances.ravel() / chances.sum(), size=size)
        counts = counts.reshape(size, *chances.shape) / n
        samples = [Sample(counts.sum(axis=axis), float(n)) for axis in (2, 1)]
        waves = [own.inference(sample) for sample in samples]
        ends = [wave.ends(LEVEL) for wave in waves]
        values = [wave.weighted for wave in waves]
        spread = [wave.spread for wave in waves]
        products = np.einsum("rxy,kx,ky->rk", counts, own.of_c, own.of_c, optimize=True)
        parts = [one - own.lowest for one in values]
        covariance = (products - parts[0] * parts[1]) / n
        with np.errstate(all="ignore"):
            correlation = covariance / (spread[0] * spread[1])
        stated = [wave.errors for wave in waves]
        pairs = values, ends, stated
        known = np.isfinite(stated[0] + stated[1])
        correlation[~known] = np.nan
        found = [
            _less(*(np.stack([two[:, k], one[:, k]]) for one, two in pairs), correlation[:, k])
            for k in range(len(own.c))
        ]
        errors = np.sqrt(np.maximum(spread[0] ** 2 + spread[1] ** 2 - 2.0 * covariance, 0.0))
        return np.stack(found, axis=1), values[1] - values[0], np.where(known, errors, np.nan)


@dataclass
class Blocks(Plain):
    """Shares from the reports of two blocks, of which one has a column more."""

    matrices: list  # (b, a) of each block, cells of the whole record
    sizes: np.ndarray

    def samples(self, population, n, size, rng):
        shares = []
        for matrix, own in zip(self.matrices, self.sizes, strict=True):
            report = matrix @ population
            shares.append(rng.multinomial(int(own), report / report.sum(), size=size))
        strata = np.repeat(np.arange(len(shares)), [one.shape[1] for one in shares])
        return Sample(np.concatenate(shares, axis=1) / self.sizes.sum(), float(n), None, strata)


def _covariance(own, sample):
    """Covariance of the estimates of the first and the last figure, (r,)."""
    (m1, m2), (s1, s2) = (weights[[0, -1], None] for weights in (own.of_c, own.of_g))
    one, two = (own.inference(sample).weighted - own.lowest)[:, [0, -1], None].swapaxes(0, 1)
    both = sample.products(m1, m2) - one * sample.products(s1, m2)
    both = both - two * sample.products(m1, s2) + one * two * sample.products(s1, s2)
    with np.errstate(all="ignore"):
        return (both / (sample.means(s1) * sample.means(s2)))[:, 0]


def _less(values, ends, errors, correlation):
    """Intervals (r, 2) of a difference of two estimates, as those of Estimates are made."""
    both = np.ones((2, 2, len(correlation)))
    both[0, 1] = both[1, 0] = correlation
    spreads = norm.ppf(0.5 + LEVEL / 2.0) * np.where(np.isnan(correlation), np.nan, errors)
    return combined_ends(np.array([1.0, -1.0]), np.nan_to_num(values), ends, both, spreads)


# -- the figures of a table -----------------------------------------------------------------------


def figures(a1, a2, a3):
    """Kinds, with c and g; U has a2 columns' combinations, the last column a3 values."""
    secret, value = np.divmod(np.arange(a1 * a2), a2)
    group, last = np.divmod(value, a3)
    groups = (group == np.arange(a2 // a3)[:, None]).astype(float)
    of_group, each = np.repeat(groups, a3, axis=0), np.tile(last, (a2, 1))
    S = (secret == np.arange(a1)[:, None]).astype(float)
    U = (value == np.arange(a2)[:, None]).astype(float)
    numbers = value.astype(float)
    first = np.repeat(S, 2, axis=0)
    return {
        "share of S": (Plain, S, None),
        "share of U": (Plain, U, None),
        "crosstab": (Plain, np.eye(a1 * a2), None),
        "mean": (Plain, numbers[None], None),
        "mean by S": (Plain, S * numbers, S),
        "share by S": (Plain, first * np.tile(U[:2], (a1, 1)), first),
        "mean by U": (Plain, groups * last, groups),
        "share by U": (Plain, of_group * (each == np.arange(a2)[:, None] % a3), of_group),
        "difference of means": (Difference, S * numbers, S),
        "median": (Quantile, (numbers <= np.arange(a2)[:, None]).astype(float), None),
        "weighted share of U": (Weighted, U, None),
        "weighted mean by S": (Weighted, S * numbers, S),
        "paired mean": (Paired, numbers[None], None),
        "paired share of U": (Paired, U[:2], None),
    }


def of_blocks(columns, X, counts, n):
    """Shares of a column that two blocks have, and of both columns together."""
    blocks = [["u"], ["u", "v"]]
    names, values = ["s", "u", "v"], [list(range(size)) for size in columns]
    design = BlockSanitizer(1.0, base=SRRSanitizer(), sensitive="s", blocks=blocks, random_state=0)
    design.set_params(categories=dict(zip(names, values, strict=True)))
    design.fit(X, sample_weight=counts)
    manifest = design.manifest_
    sizes = np.rint(n * np.asarray(manifest.shares))
    sizes[-1] += n - sizes.sum()
    whole = np.repeat(np.eye(columns[0] * columns[1]), columns[2], axis=1)
    cells = [whole, np.eye(whole.shape[1])]
    matrices = [one.matrix @ own for one, own in zip(manifest.mechanisms, cells, strict=True)]
    sent = [  # any: the weights of reports depend on the blocks' numbers alone
        np.diff(np.rint(np.linspace(0, size, one.shape[0] + 1)))
        for size, one in zip(sizes, manifest.mechanisms, strict=True)
    ]
    reports = np.array([(b, y) for b, own in enumerate(sent) for y in range(len(own))])
    estimator = BlockEstimator(design).fit(reports, sample_weight=np.concatenate(sent))
    found = {}
    for name, asked in (("share of U, blocks", ["u"]), ("crosstab of U, blocks", ["u", "v"])):
        of_cells = estimator._cells(asked, None)
        u, v = np.divmod(np.arange(whole.shape[1]) % (columns[1] * columns[2]), columns[2])
        label = u if len(asked) == 1 else u * columns[2] + v
        c = (label == np.arange(label.max() + 1)[:, None]).astype(float)
        on_block = c if of_cells.channel.n_cells == c.shape[1] else c[:, :: columns[2]]
        statistic = of_cells.statistic(on_block, None, of_cells.samples[0][1])
        found[name] = _Named(statistic, matrices, sizes, c)
    return found


@dataclass
class _Named(Blocks):
    c: np.ndarray = None

    def truth(self, population):
        return self.c @ population


# -- coverage -------------------------------------------------------------------------------------


def held(kind, population, n, runs, rng):
    """How often each figure is held, its mean length, and stated over true error."""
    truth = kind.truth(population)
    hits, length, squares, moments, left = 0.0, 0.0, 0.0, np.zeros((2, len(truth))), runs
    known = np.ones(len(truth), dtype=bool)
    b = kind.statistic.of_c.shape[1]
    each = b**2 if isinstance(kind, Paired) else b * len(truth)
    while left:
        size = int(min(left, max(1, _AT_ONCE // each)))
        ends, estimates, errors = kind.drawn(population, n, size, rng)
        low, high = np.moveaxis(ends, -1, 0)
        slack = 1e-9 * np.maximum(1.0, np.abs(truth))
        hits = hits + ((low <= truth + slack) & (truth - slack <= high)).sum(axis=0)
        length = length + (high - low).sum(axis=0)
        known &= np.isfinite(errors).all(axis=0)
        squares = squares + (errors**2).sum(axis=0)
        moments += np.stack(
            [(estimates - truth).sum(axis=0), ((estimates - truth) ** 2).sum(axis=0)]
        )
        left -= size
    with np.errstate(all="ignore"):
        spread = moments[1] / runs - (moments[0] / runs) ** 2
        ratio = np.sqrt(squares / runs / spread)
    ratio = np.where(known & (spread > 1e-18), ratio, np.nan)
    return np.where(np.isnan(truth), np.nan, hits / runs), length / runs, ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--sanitizers", nargs="*", default=None)
    parser.add_argument("--figures", nargs="*", default=None)
    parser.add_argument("--eps", type=float, default=1.0, help="of all designs without blocks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", default=None, help="file for a line of each table's figures")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, low = [], []
    for table in given.tables:
        columns = TABLES[table]
        a1, a2 = columns[0], columns[1] * columns[2]
        rng = np.random.default_rng([given.seed, a1, a2])
        cells = rng.dirichlet(np.full(a1 * a2, 0.7)).reshape(columns)
        if table in RARE:
            axis, shares = RARE[table]
            cells = np.moveaxis(cells, axis, -1)  # a view of the groups
            cells = np.moveaxis(cells * np.array(shares) / cells.sum(axis=(0, 1)), -1, axis)
        counts = rng.multinomial(PUBLIC, cells.ravel())
        grid = pd.MultiIndex.from_product(map(range, columns), names=["s", "u", "v"])
        X = grid.to_frame(index=False)
        cells = X.assign(u=X["u"] * columns[2] + X["v"])[["s", "u"]]
        asked = []
        for name, sanitizer in sanitizers(given.eps).items():
            if given.sanitizers and name not in given.sanitizers:
                continue
            categories = {"s": list(range(a1)), "u": list(range(a2))}
            sanitizer.set_params(categories=categories).fit(cells, sample_weight=counts)
            mechanism, joint = sanitizer.mechanism_, sanitizer.joint_
            channel = channel_of(mechanism, joint.smoothed().ravel())
            for n in SIZES:
                for figure, (kind, c, g) in figures(a1, a2, columns[2]).items():
                    if kind is Paired and channel.n_symbols > MOST_PAIRED:
                        continue
                    if given.figures is None or figure in given.figures:
                        statistic = WeightedStatistic.of(channel, c, g).with_bounded_bias(n)
                        asked.append((name, n, figure, kind(statistic)))
        if columns[2] > 1 and not given.sanitizers:
            for n in SIZES:
                asked += [("SRR", n, *both) for both in of_blocks(columns, X, counts, n).items()]
        of = populations(counts / counts.sum(), rng)
        print(f"{table}: {len(asked) * len(of)} tables of figures", file=sys.stderr)
        for name, n, figure, kind in asked:
            for population, cells_of in of.items():
                found, length, ratio = held(kind, cells_of, n, given.runs, rng)
                bad = np.flatnonzero(found < LOW)
                if len(bad):
                    again = held(kind, cells_of, n, AGAIN, rng)[0][bad]
                    found[bad] = again
                    low += [
                        (table, name, n, population, figure, k, x)
                        for k, x in zip(bad, again, strict=True)
                        if x < LOW
                    ]
                known = not np.isnan(ratio).all()
                rows.append((table, name, n, population, figure, known, found, length, ratio))
    report(rows, low)
    if given.rows:
        with open(given.rows, "w") as file:
            writer = csv.writer(file)
            writer.writerow(
                [
                    "table",
                    "sanitizer",
                    "n",
                    "population",
                    "figure",
                    "error",
                    "worst",
                    "mean",
                    "length",
                    "ratio",
                ]
            )
            for *labels, found, length, ratio in rows:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    numbers = (
                        np.nanmin(found),
                        np.nanmean(found),
                        np.nanmean(length),
                        np.nanmean(ratio),
                    )
                writer.writerow([*labels, *(f"{x:.4f}" for x in numbers)])


def report(rows, low):
    """Print a line for each kind of figure, over all sanitizers."""
    print(
        "| figure | public: lowest | lowest mean of a table | other populations: lowest "
        "| lowest mean of a table | stated error / true |"
    )
    print("|---|---|---|---|---|---|")
    grouped = defaultdict(list)
    for row in rows:
        grouped[row[4]].append(row)
    for figure, own in grouped.items():
        cells = []
        for public in (True, False):
            found = [row[6] for row in own if (row[3] == "public") == public]
            cells += [f"{min(map(of, found)):.3f}" for of in (np.nanmin, np.nanmean)]
        ratio = np.concatenate([row[8] for row in own])
        ratio = ratio[np.isfinite(ratio)]
        stated = f"{ratio.min():.2f} to {ratio.max():.2f}" if len(ratio) else ""
        print(f"| {figure} | {' | '.join(cells)} | {stated} |")
    means = [(np.nanmean(row[6]), row[:6]) for row in rows]
    determined = [one for one in means if one[1][5] and one[1][3] == "public"]
    print(f"\nLowest mean of a table: {min(means)}; highest where errors are stated at the public")
    print(f"population: {max(determined) if determined else 'none'}.")
    print(f"{len(low)} figures are held in less than {LOW:.0%} of {AGAIN:,} samples:")
    for one in low:
        print(*one)


if __name__ == "__main__":
    main()
