"""How often 95 % intervals of estimates hold, for several mechanisms and tables.

For each case, 1,000 samples of reports are drawn from one distribution and fitted. Printed are the
least and the greatest coverage over the figures of each kind (cells, shares of U, shares of S), for
Wald's intervals and those by the likelihood ratio, and the mean lengths of both. A coverage of 95 %
has a standard error of 0.7 %. Cases "boundary" have cells of probability 0, whose intervals are
printed apart ("zeros"). ``--quick`` draws 100 samples, ``--seed 1`` others.
"""

import argparse
import time

import numpy as np

from skrldp import (
    AOptimalSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    SRRSanitizer,
)
from skrldp.estimation.figures._intervals import critical_value, likelihood_drops


def distribution(kind, shape, rng):
    """A distribution of (S, U) of this shape."""
    weights = rng.dirichlet(np.full(shape[0] * shape[1], 4.0))
    if kind == "skewed":
        weights = np.sort(rng.dirichlet(np.full(shape[0] * shape[1], 0.5)))[::-1]
    if kind == "rare":  # a value of U of .01, and one of .02
        values = np.r_[0.01, 0.02, 0.97 * rng.dirichlet(np.ones(shape[1] - 2))]
        weights = np.outer(rng.dirichlet(np.full(shape[0], 4.0)), values).ravel()
    if kind == "boundary":
        weights[rng.permutation(len(weights))[: len(weights) // 3]] = 0.0
    return (weights / weights.sum()).reshape(shape)


MECHANISMS = {
    "GRR": lambda eps: GRRSanitizer(eps),
    "SRR": lambda eps: SRRSanitizer(eps),
    "IR": lambda eps: IRSanitizer(eps),
    "A-optimal": lambda eps: AOptimalSanitizer(eps),
    "PolyOpt": lambda eps: PolyOptSanitizer(eps, time_limit=10.0, random_state=0),
    "blind": lambda eps: PolyOptSanitizer(
        eps, observe="nonsensitive", time_limit=10.0, random_state=0
    ),
}
CASES = (  # mechanism, shape, distribution, eps, public records, reports
    ("GRR", (2, 3), "even", 1.0, 1_000, 2_000),
    ("GRR", (2, 3), "boundary", 1.0, 1_000, 2_000),
    ("GRR", (5, 4), "skewed", 2.0, 5_000, 5_000),
    ("SRR", (2, 3), "even", 1.0, 1_000, 2_000),
    ("SRR", (2, 3), "boundary", 1.0, 1_000, 2_000),
    ("SRR", (5, 4), "skewed", 1.0, 5_000, 16_000),
    ("SRR", (3, 10), "even", 1.0, 5_000, 16_000),
    ("IR", (2, 3), "even", 1.0, 1_000, 2_000),
    ("IR", (5, 4), "boundary", 1.0, 5_000, 5_000),
    ("IR", (5, 4), "skewed", 1.0, 5_000, 16_000),
    ("PolyOpt", (2, 3), "even", 1.0, 1_000, 2_000),
    ("PolyOpt", (2, 3), "boundary", 1.0, 1_000, 2_000),
    ("PolyOpt", (3, 4), "even", 1.0, 5_000, 16_000),
    ("PolyOpt", (5, 4), "skewed", 1.0, 5_000, 16_000),
    ("blind", (2, 3), "even", 1.0, 1_000, 2_000),
    ("GRR", (2, 10), "rare", 1.0, 5_000, 300),
    ("IR", (2, 10), "rare", 1.0, 5_000, 300),
    ("A-optimal", (2, 10), "rare", 1.0, 5_000, 300),
)


def study(case, samples, seed, restricted):
    """Print the coverage of one case."""
    name, shape, kind, eps, n_public, n = case
    rng = np.random.default_rng(seed)
    truth = distribution(kind, shape, rng)
    X = [[s, u] for s in range(shape[0]) for u in range(shape[1])]
    public = rng.multinomial(n_public, truth.ravel())
    sanitizer = MECHANISMS[name](eps).set_params(sensitive=0).fit(X, sample_weight=public)
    mechanism = sanitizer.mechanism_
    options = {}
    if restricted:
        options = {"restrict_to": LikelihoodRatioSet(0.05), "public": sanitizer.joint_}
    cells = np.eye(truth.size)
    a1, a2 = shape
    kinds = {
        "cells": cells[truth.ravel() > 0],
        "zeros": cells[truth.ravel() == 0],
        "U": np.tile(np.eye(a2), (1, a1)),
        "S": np.repeat(np.eye(a1), a2, axis=1),
    }
    kinds = {key: functions for key, functions in kinds.items() if len(functions)}
    every = np.vstack(list(kinds.values()))
    exact = every @ truth.ravel()
    held, length = np.zeros((2, len(every))), np.zeros((2, len(every)))
    symbols, started = range(mechanism.shape[0]), time.process_time()
    for counts in rng.multinomial(n, mechanism.matrix @ truth.ravel(), size=samples):
        estimator = FrequencyEstimator(mechanism, "ml", encode="symbol", **options)
        estimator.fit(symbols, sample_weight=counts)
        found = estimator._fit.region.ends(every, *likelihood_drops(0.95))
        values, errors = estimator._fit.spread(every)
        half = critical_value(0.95) * errors
        for place, (low, high) in enumerate(((values - half, values + half), found.T)):
            held[place] += (low <= exact + 1e-9) & (exact <= high + 1e-9)
            length[place] += high - low
    spent = time.process_time() - started
    start = 0
    for key, functions in kinds.items():
        own = slice(start, start + len(functions))
        start = own.stop
        (wald, ratio), (long, short) = held[:, own] / samples, length[:, own] / samples
        print(
            f"{name:<8} {a1}x{a2:<3} {kind:<9} {key:<6} {wald.min():6.3f} {wald.max():6.3f}"
            f" {ratio.min():8.3f} {ratio.mean():6.3f} {ratio.max():6.3f}"
            f" {np.mean(long):8.4f} {np.mean(short):8.4f} {spent:6.0f} s",
            flush=True,
        )


def main():
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100 samples for each case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a mechanism")
    parser.add_argument("--restricted", action="store_true", help="restrict_to the default set")
    arguments = parser.parse_args()
    samples = 100 if arguments.quick else 1_000
    print(f"{samples:,} samples; a row tells least and greatest coverage over its figures")
    print(
        f"{'':<29}{'Wald':>13} {'LR: least, mean, most':>24} {'lengths: Wald, LR':>17} {'CPU':>8}"
    )
    for case in CASES:
        if arguments.only in case[0]:
            study(case, samples, arguments.seed, arguments.restricted)


if __name__ == "__main__":
    main()
