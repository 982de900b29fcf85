"""How often confidence sets of level 0.95 hold the true distribution.

First, tables are drawn from five families of distributions. Then distributions are searched for
at which a set misses as often as possible: with few parameters and fresh tables for the result, or,
for small tables, by exact enumeration of all tables. ``--quick`` does the first part with fewer
tables, and nothing else; ``--reports`` does the bounds from private reports alone.
"""

import itertools
import sys

import numpy as np
from scipy.special import betaincinv, xlogy
from scipy.stats import binom, multinomial

from skrldp import AllDistributions, AOptimalSanitizer, GRRSanitizer, SRRSanitizer
from skrldp.claims import UNITS
from skrldp.joint import CountedReports
from skrldp.sets.bounds_from_reports import (
    COARSE,
    BoundTests,
    conditional_bounds,
    log_critical_product,
)
from skrldp.sets.radii import (
    chi2_radius,
    finite_sample_radius,
    likelihood_ratio_budgets,
)

BETA = 0.05
SHAPES = ((3, 1), (2, 2), (2, 5), (5, 2), (6, 15), (15, 16), (42, 6))
SIZES = (50, 200, 1_000, 30_000)
FAMILIES = ("uniform", "Zipf", "Jeffreys", "rare", "missing")
BALLS = {  # statistic, and its greatest value for n records and a cells
    "chi2, alpha=2": (2, lambda n, a: np.expm1(chi2_radius(2.0, BETA, n, a)) * n),
    "chi2, alpha=1": (1, lambda n, a: chi2_radius(1.0, BETA, n, a) * n),
    "ball, finite": (1, lambda n, a: finite_sample_radius(BETA, n, a) * n),
}
RULES = {"LR, asymptotic": "asymptotic", "LR, finite": "finite-sample"}
GROUPS = 4  # numbers of records of the secrets, and random distributions, for each case


def true_distribution(family, shape, n, rng):
    """A distribution of (S, U), of this shape."""
    cells = shape[0] * shape[1]
    if family == "Jeffreys":
        weights = np.maximum(rng.dirichlet(np.full(cells, 0.5)), 1e-12)
    elif family == "uniform":
        weights = np.ones(cells)
    elif family == "Zipf":
        weights = rng.permutation(1.0 / np.arange(1, cells + 1))
    elif family == "rare":  # half of the cells
        weights = np.full(cells, 1e-5)
        weights[: (cells + 1) // 2] = (1.0 - 1e-5 * (cells // 2)) / ((cells + 1) // 2)
        weights = rng.permutation(weights)
    else:  # all but one value of each secret have an expected count of 0.05 to 1
        weights = np.exp(rng.uniform(np.log(0.05), 0.0, size=shape))
        scale = min(1.0, 0.5 * n / weights.sum())
        weights[:, 0] = 0.0
        weights *= scale
        weights[:, 0] = (n - weights.sum()) / shape[0]
    return (weights / weights.sum()).reshape(shape)


def statistic(counts, expected, order):
    """Pearson's statistic (order 2), or half the likelihood-ratio statistic, over the last axis."""
    if order == 2:
        return ((counts - expected) ** 2 / expected).sum(axis=-1)
    return xlogy(counts, counts / expected).sum(axis=-1)


def joint_misses(distribution, n, tables, rng):
    """Of each ball, the share of tables that miss."""
    flat = distribution.ravel()
    counts = rng.multinomial(n, flat, size=tables)
    found = {order: statistic(counts, n * flat, order) for order in (1, 2)}
    return {name: (found[o] > limit(n, flat.size)).mean() for name, (o, limit) in BALLS.items()}


def conditional_misses(distribution, records, tables, rng):
    """Of each set of conditionals, the share of tables that miss, given the records of secrets."""
    conditionals = distribution / distribution.sum(axis=1, keepdims=True)
    found = np.zeros((tables, max(2, len(records))))
    for s in np.flatnonzero(records):
        counts = rng.multinomial(records[s], conditionals[s], size=tables)
        found[:, s] = statistic(counts, records[s] * conditionals[s], 1)
    found = np.sort(found, axis=1)
    misses = {}
    for name, rule in RULES.items():
        single, pair = likelihood_ratio_budgets(records, distribution.shape[1], BETA, rule)
        misses[name] = ((found[:, -1] > single) | (found[:, -1] + found[:, -2] > pair)).mean()
    return misses


def sampled(tables):
    """Print the coverage at the families; return the worst of each set."""
    names = [*BALLS, *RULES]
    print(
        f"Coverage in {tables:,} tables: at 0.95 the standard error is "
        f"{(0.95 * 0.05 / tables) ** 0.5:.4f}"
    )
    print(f"{'shape':>6} {'family':<9} {'n':>6}" + "".join(f"{name:>16}" for name in names))
    rng = np.random.default_rng(0)
    lowest = dict.fromkeys(names, (2.0, ""))
    for shape, family, n in itertools.product(SHAPES, FAMILIES, SIZES):
        total = dict.fromkeys(names, 0.0)
        for _ in range(GROUPS):
            truth = true_distribution(family, shape, n, rng)
            found = joint_misses(truth, n, tables // GROUPS, rng)
            records = rng.multinomial(n, truth.sum(axis=1))
            found |= conditional_misses(truth, records, tables // GROUPS, rng)
            for name in names:
                total[name] += found[name] / GROUPS
        label = f"{shape[0]}x{shape[1]}"
        shares = "".join(f"{1.0 - total[name]:>16.4f}" for name in names)
        print(f"{label:>6} {family:<9} {n:>6}{shares}", flush=True)
        for name in names:
            lowest[name] = min(lowest[name], (1.0 - total[name], f"{label} {family} n={n}"))
    cases = len(SHAPES) * len(FAMILIES) * len(SIZES)
    print(
        f"Lowest of {cases} cases, with a lower bound that holds for all cases at once at 99.9 %:"
    )
    for name, (share, case) in lowest.items():
        lower = lower_bound(share, tables, 0.001 / cases)
        print(f"  {name:<15} {share:.4f}  (>= {lower:.4f})  {case}")


def lower_bound(share, tables, error):
    """Of a probability, from a share of tables (Clopper and Pearson)."""
    held = round(share * tables)
    return float(betaincinv(held, tables - held + 1, error)) if held else 0.0


# --- Search --------------------------------------------------------------------------------------


def two_classes(cells, rare, expected, n):
    """Some cells with an expected count, the others equal among themselves; None if impossible."""
    rest = n - rare * expected
    if rest / (cells - rare) < expected:
        return None
    return np.r_[np.full(rare, expected), np.full(cells - rare, rest / (cells - rare))] / n


def candidates(cells, n):
    """The grid on which the search starts: how many cells are rare, and their expected count."""
    rare = sorted({1, cells // 4, cells // 2, 3 * cells // 4, cells - 1} - {0})
    return [(m, e) for m in rare for e in np.geomspace(0.005, 8.0, 13)]


def ascend(value, starts, best=4):
    """The greatest value found: the best starts, each with nearby expected counts."""
    found = {start: value(*start) for start in starts}
    for factor in (1.36, 1.17, 1.08):
        for n, rare, expected in sorted(found, key=found.get, reverse=True)[:best]:
            for near in (expected / factor, expected * factor):
                found.setdefault((n, rare, near), value(n, rare, near))
    return max(found, key=found.get)


def searched_balls(rng):
    """Print where the balls miss most often."""
    print("\nBalls, searched: rare cells with an expected count each, the others equal")
    for shape, (name, (order, limit)) in itertools.product(SHAPES[1:], BALLS.items()):
        cells = shape[0] * shape[1]

        def miss(n, rare, expected, tables=2_000, cells=cells, order=order, limit=limit):
            truth = two_classes(cells, rare, expected, n)
            if truth is None:
                return 0.0
            counts = rng.multinomial(n, truth, size=tables)
            return (statistic(counts, n * truth, order) > limit(n, cells)).mean()

        starts = [(n, *start) for n in SIZES for start in candidates(cells, n)]
        n, rare, expected = ascend(miss, starts)
        share = 1.0 - miss(n, rare, expected, tables=20_000)
        print(
            f"  {shape[0]}x{shape[1]:<3} {name:<15} {share:.4f}  (>= "
            f"{lower_bound(share, 20_000, 0.001):.4f})  n={n}, {rare} rare cells of {expected:.3g}",
            flush=True,
        )


def failure(values, chances, secrets, single, pair):
    """Probability that of so many independent statistics one or two exceed the bounds.

    Values (increasing) and their probabilities are those of the statistic of one secret.
    """
    below = np.r_[0.0, np.cumsum(chances)]  # of the first 0, 1, ... values

    def at_most(x):
        return below[np.searchsorted(values, x, side="right")]

    alone = (values > pair / 2.0) & (values <= single)  # one secret exceeds the half of the pair's
    held = at_most(pair / 2.0) ** secrets
    held += secrets * (chances[alone] * at_most(pair - values[alone]) ** (secrets - 1)).sum()
    return 1.0 - held


RECORDS = (5, 20, 60, 100, 300, 1_000, 10_000)  # of each secret


def searched_conditionals(rng):
    """Print where the sets of conditionals miss most often."""
    print("\nSets of conditionals, searched: the same for all secrets")
    for shape, (name, rule) in itertools.product(SHAPES[1:], RULES.items()):
        secrets, cells = shape
        budgets = {n: likelihood_ratio_budgets([n] * secrets, cells, BETA, rule) for n in RECORDS}

        def miss(n, rare, expected, tables=20_000, cells=cells, secrets=secrets, budgets=budgets):
            truth = two_classes(cells, rare, expected, n)
            if truth is None:
                return 0.0
            values = statistic(rng.multinomial(n, truth, size=tables), n * truth, 1)
            return failure(np.sort(values), np.full(tables, 1 / tables), secrets, *budgets[n])

        starts = [(n, *start) for n in RECORDS for start in candidates(cells, n)]
        n, rare, expected = ascend(miss, starts)
        share = 1.0 - np.array([miss(n, rare, expected, 20_000) for _ in range(10)])
        error = share.std(ddof=1) / 10**0.5
        print(
            f"  {secrets}x{cells:<3} {name:<15} {share.mean():.4f} +- {error:.4f}  "
            f"{n} records a secret, {rare} rare values of {expected:.3g}",
            flush=True,
        )


def exact():
    """Print where the sets of conditionals miss most often, all tables being enumerated."""
    print("\nSets of conditionals, all tables with equal numbers of records enumerated")
    some = (1, 2, 3, 5, 8, 13, 20, 30)
    many = (*some, 45, 60, 80, 99, 100, 101, 200, 500, 1_000)
    halves = [np.array([p, 1.0 - p]) for p in np.geomspace(1e-4, 0.5, 250)]
    thirds = [
        np.array([i, j, 40 - i - j]) / 40 for i in range(1, 14) for j in range(i, (40 - i) // 2 + 1)
    ]
    thirds += [np.array([p, q, 1.0 - p - q]) for p in np.geomspace(1e-4, 0.02, 6)
               for q in np.geomspace(p, 0.4, 10)]  # fmt: skip
    for secrets, (sizes, truths) in itertools.product((1, 2, 5), ((many, halves), (some, thirds))):
        worst = dict.fromkeys(RULES, (-1.0, ""))
        for n in sizes:
            cells = len(truths[0])
            tables = np.array([t for t in np.ndindex(*[n + 1] * (cells - 1)) if sum(t) <= n])
            tables = np.column_stack([tables, n - tables.sum(axis=1)])
            budgets = {
                name: likelihood_ratio_budgets([n] * secrets, cells, BETA, rule)
                for name, rule in RULES.items()
            }
            for truth in truths:
                values = statistic(tables, n * truth, 1)
                if cells == 2:
                    chances = binom.pmf(tables[:, 0], n, truth[0])
                else:
                    chances = multinomial.pmf(tables, n, truth)
                order = np.argsort(values)
                for name in RULES:
                    missed = failure(values[order], chances[order], secrets, *budgets[name])
                    worst[name] = max(worst[name], (missed, f"{n} records, {truth.round(4)}"))
        for name, (missed, case) in worst.items():
            print(f"  {secrets:>2}x{cells} {name:<15} {1.0 - missed:.4f}  {case}", flush=True)


# --- Bounds from private reports ------------------------------------------------------------------

PILOTS = ("GRR", "SRR", "A-optimal")
BOXES = list(itertools.product(((2, 2), (2, 8), (3, 6), (6, 15)), (100, 2_000, 50_000, 10**6)))
POPULATIONS = ("Jeffreys", "rare", "Zipf", "rare secret")


def pilot_of(kind, shape):
    """Probabilities of the reports of a pilot at ε = 1, (b, a)."""
    sanitizer = {"GRR": GRRSanitizer, "SRR": SRRSanitizer, "A-optimal": AOptimalSanitizer}[kind]
    options = {"sensitive": [0], "uncertainty": AllDistributions()}
    if kind != "SRR":
        options = {"sensitive": slice(None)}
    if kind == "A-optimal":
        options |= {"targets": "all", "time_limit": None}
    categories = [list(range(size)) for size in shape]
    return sanitizer(categories=categories, **options).fit().mechanism_.matrix


def population(family, shape, n, rng):
    """A distribution of (S, U); with a rare secret, its first one has probability 0.001."""
    if family != "rare secret":
        return true_distribution(family, shape, n, rng)
    truth = rng.dirichlet(np.ones(shape[1]), size=shape[0])
    marginal = np.r_[0.001, np.full(shape[0] - 1, 0.999 / (shape[0] - 1))]
    return marginal[:, None] * truth


def rejections(sources, truth, rule):
    """Whether each bound is wrong, and whether p is below 0.05 at its first true hypothesis.

    A bound is wrong only if the first true hypothesis of coarse or of fine steps is rejected, and
    only then is it computed.
    """
    tests = BoundTests(sources, truth.shape, BETA, rule)
    conditionals = (truth / truth.sum(axis=1, keepdims=True)).ravel()
    conditionals = np.concatenate([conditionals, 1.0 - conditionals]) * UNITS
    bounds, wrong = np.arange(tests.n_bounds), np.zeros(tests.n_bounds, dtype=bool)
    for step, level in zip((COARSE, 1), tests.levels, strict=True):
        steps = (np.ceil(conditionals / step - 1e-9) * step).astype(int)
        log_p = tests.log_p(bounds, steps)[0]
        wrong |= (log_p < level) & (steps < UNITS)
    wrong[wrong] = tests.rejected(bounds[wrong]) > conditionals[wrong] + 1e-6
    return wrong, log_p < log_critical_product(0.05, len(sources))


def boxes(draws):
    """Print how often the bounds from private reports hold all conditionals, one wave and two."""
    rng, lowest, largest = np.random.default_rng(2), {}, {}
    print(
        f"private reports, {draws} samples: coverage at least, largest single tail at 0.05, width"
    )
    turn = itertools.cycle(itertools.product((1, 2), POPULATIONS))
    for (shape, n), kind in itertools.product(BOXES, PILOTS):
        matrix, (waves, family) = pilot_of(kind, shape), next(turn)
        truth = population(family, shape, n, rng)
        shown = []
        for rule in ("reports", "reports-asymptotic"):
            missed, tails = 0, 0.0
            for _ in range(draws):
                drawn = rng.multinomial(n // waves, matrix @ truth.ravel(), size=waves)
                sources = [CountedReports(matrix, counts) for counts in drawn]
                wrong, is_small = rejections(sources, truth, rule)
                missed, tails = missed + wrong.any(), tails + is_small / draws
            lower, upper = conditional_bounds(sources, shape, BETA, rule)
            case = f"{shape[0]}x{shape[1]} n={n:,} {kind} {family} {waves} wave(s)"
            coverage, tail = 1.0 - missed / draws, float(np.max(tails))
            lowest[rule] = min(lowest.get(rule, (2.0, "")), (coverage, case))
            largest[rule] = max(largest.get(rule, (-1.0, "")), (tail, case))
            shown += [f"{coverage:.3f} {tail:.3f} {(upper - lower).mean() / UNITS:.3f}"]
        print(f"  {case:50}", *shown, flush=True)
    for rule, (coverage, case) in lowest.items():
        print(f"lowest, {rule}: {coverage:.3f} {case}; largest tail {largest[rule]}")


def main(quick):
    """Run all parts, or the first two with fewer tables."""
    sampled(400 if quick else 4_000)
    boxes(100 if quick else 1_000)
    if not quick:
        searched_balls(np.random.default_rng(1))
        searched_conditionals(np.random.default_rng(2))
        exact()


if __name__ == "__main__":
    if "--reports" in sys.argv:
        boxes(100 if "--quick" in sys.argv else 1_000)
    else:
        main("--quick" in sys.argv)
