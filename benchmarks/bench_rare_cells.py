"""How often the warning about rare cells is given: where it should be, and where it should not.

Distributions are sorted by how often a 95 % set really misses them: in at most 6 % of tables
(right), in more than 10 % (too often), or between. ``--quick`` takes fewer of them.
"""

import sys
import time

import numpy as np
from bench_coverage import FAMILIES, SIZES, conditional_misses, joint_misses, true_distribution

from skrldp import JointDistribution, LikelihoodRatioSet, RenyiBall
from skrldp.sets import estimated_miss

BETA = 0.05
SETS = {
    "chi2, alpha=2": RenyiBall(),
    "chi2, alpha=1": RenyiBall(1.0),
    "LR, asymptotic": LikelihoodRatioSet(radius="asymptotic"),
}
KINDS = (
    "misses too often",
    "between",
    "right, rare cells",
    "right, counts below 10",
    "right, all >= 10",
)


def distributions(shape, n, rng):
    """Those of the coverage benchmark, and others: a share of the cells has one expected count."""
    for family in FAMILIES:
        yield true_distribution(family, shape, n, rng)
    cells = shape[0] * shape[1]
    for share in (0.3, 0.9):
        rare = round(share * cells)
        for expected in (0.001, 0.01, 0.05, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0):
            rest = (n - rare * expected) / max(1, cells - rare)
            if 0 < rare < cells and rest >= 8.0:
                truth = np.r_[np.full(rare, expected), np.full(cells - rare, rest)] / n
                yield rng.permutation(truth).reshape(shape)


def kind_of(miss, least):
    """Sort by the share of tables that miss, and the least expected count."""
    if miss > 2.0 * BETA:
        return KINDS[0]
    if miss > 1.2 * BETA:
        return KINDS[1]
    return KINDS[2] if least < 0.1 else KINDS[3] if least < 10.0 else KINDS[4]


def main(shapes, tables):
    """Print for each kind of distribution how many there are, and the share of tables warned of."""
    rng = np.random.default_rng(0)
    found = {(name, kind): [] for name in SETS for kind in KINDS}
    seconds = []
    for shape in shapes:
        for n in SIZES:
            for truth in distributions(shape, n, rng):
                missed = joint_misses(truth, n, 4_000, rng)
                records = rng.multinomial(n, truth.sum(axis=1))
                missed |= conditional_misses(truth, records, 4_000, rng)
                kinds = {name: kind_of(missed[name], n * truth.min()) for name in SETS}
                for counts in rng.multinomial(n, truth.ravel(), size=tables):
                    joint = JointDistribution(counts.reshape(shape))
                    for name, uncertainty in SETS.items():
                        around, start = uncertainty.fit_set(joint), time.perf_counter()
                        warned = estimated_miss(around, joint) > 2.0 * BETA
                        seconds.append(time.perf_counter() - start)
                        found[name, kinds[name]].append(warned)
    print(f"{'set':<15} {'distribution':<23} {'number':>7} {'tables warned of':>17}")
    for (name, kind), warned in found.items():
        if warned:
            print(f"{name:<15} {kind:<23} {len(warned) // tables:>7} {np.mean(warned):>17.3f}")
    print(f"Seconds of an estimate: {np.median(seconds):.3f} (median), {max(seconds):.2f} (most)")


if __name__ == "__main__":
    if "--quick" in sys.argv:
        main(((2, 5),), 2)
    else:
        main(((2, 2), (2, 5), (6, 15)), 4)
