"""How often confidence intervals hold the truth: sanitizers x tables x n x populations x figures.

    make coverage                                   an hour or two
    make coverage ARGS="--runs 200 --tables 2x12"   a part of it

A figure that is held in less than 92 % of the samples is drawn again, 20,000 times.
"""

import argparse
import itertools
import warnings

import numpy as np

from skrldp import AOptimalSanitizer, GRRSanitizer, PolyOptSanitizer, SRRSanitizer
from skrldp.estimation.channels import channel_of
from skrldp.estimation.estimator import smoothed
from skrldp.estimation.statistic import Sample, Statistic

TABLES = {
    "2x12": (2, 12),
    "12x4": (12, 4),
    "3x8": (3, 8),
    "2x15": (2, 15),
    "15x2": (15, 2),
    "5x16": (5, 16),
}
SIZES = 200, 2_000, 20_000
POPULATIONS = "public", "drifted", "zeros"
LEVEL, LOW, AGAIN = 0.95, 0.92, 20_000
PUBLIC = 3_000  # records of the public table
_ROWS = 20_000  # figures times samples at once
_SPREAD = 400  # samples of which errors are computed, in each batch


def sanitizers(seconds):
    return {
        "GRR": GRRSanitizer(1.0, sensitive=0),
        "SRR": SRRSanitizer(1.0, sensitive=0),
        "PolyOpt": PolyOptSanitizer(1.0, sensitive=0, time_limit=seconds),
        "AOptimal": AOptimalSanitizer(1.0, sensitive=0, targets="all", time_limit=seconds),
    }


def populations(public, rng):
    """The public distribution, another one, and one that has nothing in half of the cells."""
    zeros = np.where(rng.random(len(public)) < 0.5, 0.0, rng.dirichlet(np.ones(len(public))))
    drifted = rng.dirichlet(np.full(len(public), 0.5))
    return dict(zip(POPULATIONS, (public, drifted, zeros / zeros.sum()), strict=True))


def figures(a1, a2):
    """Shares of S and U, the crosstab, means, shares and means within groups: c and g."""
    secret, value = np.divmod(np.arange(a1 * a2), a2)
    S = (secret == np.arange(a1)[:, None]).astype(float)
    U = (value == np.arange(a2)[:, None]).astype(float)
    numbers = value.astype(float)
    first = np.repeat(S, 2, axis=0)
    return {
        "S": (S, None),
        "U": (U, None),
        "crosstab": (np.eye(a1 * a2), None),
        "mean": (numbers[None], None),
        "mean by S": (S * numbers, S),
        "share by S": (first * np.tile(U[:2], (a1, 1)), first),
    }


def held(statistic, channel, population, n, runs, rng):
    """How often each figure is held, its mean length, and stated over true error."""
    report = channel.forward(population)
    share = statistic.g @ population
    nothing = np.full(len(share), np.nan)
    truth = np.divide(statistic.c @ population, share, out=nothing, where=share > 0)
    hits, length, estimates, errors, left = 0.0, 0.0, [], [], runs
    while left:
        size = min(left, max(1, _ROWS // len(truth)))
        shares = rng.multinomial(n, report / report.sum(), size=size) / n
        low, high = np.moveaxis(statistic.ends_of_many(shares, n, LEVEL), 2, 0)
        hits += ((low <= truth + 1e-9) & (truth - 1e-9 <= high)).sum(axis=0)
        length += (high - low).sum(axis=0)
        samples = [Sample(own, n) for own in shares[:_SPREAD]]
        estimates += [statistic.estimates(sample) for sample in samples]
        errors += [statistic.errors(sample) for sample in samples]
        left -= size
    with np.errstate(all="ignore"):
        ratio = np.sqrt(np.nanmean(np.square(errors), axis=0)) / np.std(estimates, axis=0)
    ratio = np.where(np.isnan(errors).any(axis=0) | statistic.certain, np.nan, ratio)
    return np.where(share > 0, hits / runs, np.nan), length / runs, ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--sanitizers", nargs="*", default=None)
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of a design")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| table | sanitizer | n | population | figure | worst | mean | length | stated/true |")
    print("|---|---|---|---|---|---|---|---|---|")
    low = []
    for table in given.tables:
        a1, a2 = TABLES[table]
        rng = np.random.default_rng([given.seed, a1, a2])
        public = rng.dirichlet(np.full(a1 * a2, 0.7))
        counts = rng.multinomial(PUBLIC, public)
        X = [[s, u] for s in range(a1) for u in range(a2)]
        categories = [list(range(a1)), list(range(a2))]
        for name, sanitizer in sanitizers(given.seconds).items():
            if given.sanitizers and name not in given.sanitizers:
                continue
            sanitizer.set_params(categories=categories).fit(X, sample_weight=counts)
            mechanism, joint = sanitizer.mechanism_, sanitizer.joint_
            channel = channel_of(mechanism, smoothed(joint, mechanism))
            of = populations(joint.probabilities.ravel(), rng)
            asked = itertools.product(SIZES, figures(a1, a2).items())
            for n, (figure, (c, g)) in asked:
                statistic = Statistic.of(channel, c, g).with_bounded_bias(n)
                for kind, population in of.items():
                    found, length, ratio = held(statistic, channel, population, n, given.runs, rng)
                    bad = np.flatnonzero(found < LOW)
                    if len(bad):
                        again = held(statistic[bad], channel, population, n, AGAIN, rng)[0]
                        found[bad] = again
                        low += [
                            (table, name, n, kind, figure, k, x)
                            for k, x in zip(bad, again, strict=True)
                            if x < LOW
                        ]
                    errors = (
                        f"{np.nanmin(ratio):.2f}-{np.nanmax(ratio):.2f}"
                        if np.isfinite(ratio).any()
                        else ""
                    )
                    print(
                        f"| {table} | {name} | {n:,} | {kind} | {figure} | {np.nanmin(found):.3f} "
                        f"| {np.nanmean(found):.3f} | {np.nanmean(length):.3f} | {errors} |",
                        flush=True,
                    )
    print(f"\n{len(low)} figures are held in less than {LOW:.0%} of {AGAIN:,} samples:")
    for one in low:
        print(*one)


if __name__ == "__main__":
    main()
