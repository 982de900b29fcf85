"""Tables of tails: computed again in part as they are proved, and held against exact sums."""

import importlib
import itertools

import numpy as np
import pytest
from conftest import ROOT
from scipy.special import gammaln, xlogy
from scipy.stats import chi2
from small_multinomials import outcomes

from skrldp.sets import tails as kept

ORDERS, KNOTS, *TABLES = kept._tables()
CLASSES = dict(zip((1, kept.LARGE), TABLES, strict=True))
SKEWED = np.array([0.5, 0.2, 0.05, 0.01, 1e-3, 1e-5])


@pytest.fixture(scope="module")
def computing():
    """The programs that make the tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks" / "tail_bounds")
        yield tuple(importlib.import_module(name) for name in ("moments", "tails", "knots"))


@pytest.mark.slow
@pytest.mark.parametrize(("least", "rows"), [(1, (2, 12)), (100, (6,))])
def test_moments_are_those_of_the_proof(computing, least, rows):
    for i in rows:
        proved = np.log(computing[0].bound(ORDERS[i], least))
        assert proved < CLASSES[least].moments[i] < proved + 2e-6


def statistics_of(size, p):
    """Log probabilities of a binomial and its statistics, a column for each p."""
    j = np.arange(size + 1)[:, None]
    log_likelihood = j * np.log(p) + (size - j) * np.log1p(-p)
    g = xlogy(j, j / size) + xlogy(size - j, 1.0 - j / size) - log_likelihood
    binomial = gammaln(size + 1) - gammaln(j + 1) - gammaln(size - j + 1)
    return binomial + log_likelihood, np.maximum(g, 0.0)


@pytest.mark.parametrize(
    ("steps", "sizes"), [(1, (1, 2, 3, 7, 20, 40)), (2, (1, 2, 5, 12, 30)), (3, (1, 2, 4, 9, 16))]
)
def test_tails_bound_small_multinomials(steps, sizes):
    """Every outcome of many distributions, skewed ones too; some come near."""
    rng = np.random.default_rng(0)
    bound, closest = kept.tail_bound(steps, 0), 0.0
    for size in sizes:
        every = outcomes(steps + 1, size)
        skewed = [
            np.append(p, rest) for p in SKEWED for rest in [(1.0 - p) / steps * np.ones(steps)]
        ]
        drawn = rng.dirichlet(np.full(steps + 1, 0.4), size=30).clip(1e-9)
        for distribution in (*skewed, *(drawn / drawn.sum(axis=1, keepdims=True))):
            chance, g = every.statistics(distribution)
            rising = np.argsort(g)
            tail = chance[rising][::-1].cumsum()[::-1]  # the probability of each or more
            ratio = tail / bound(np.maximum(g[rising], 0.0) * (1.0 - 1e-12))
            assert ratio.max() <= 1.0 + 1e-9
            closest = max(closest, ratio[tail < 0.2].max(initial=0.0))
    assert closest > 0.3


@pytest.mark.parametrize("size", [100, 170, 1000])
def test_tails_of_large_steps_bound_binomials(size):
    one, two = kept.tail_bound(1, 1), kept.tail_bound(1, 1, 1)
    logs, statistics = statistics_of(size, np.append(SKEWED, [0.31, 0.5 / size, 2.0 / size]))
    chances = np.exp(logs)
    pairs = itertools.combinations_with_replacement(range(9 if size < 200 else 0), 2)
    for chance, g in zip(chances.T, statistics.T, strict=True):
        above = np.array([chance[g >= y].sum() for y in g])
        assert np.all(above <= one(g * (1.0 - 1e-12)) * (1.0 + 1e-9))
    levels = np.linspace(0.5, 12.0, 24)
    for s, t in pairs:
        sums = statistics[:, s, None] + statistics[:, t]
        chance = (chances[:, s, None] * chances[:, t]).ravel()
        falling = np.argsort(-sums.ravel())
        more = np.append(0.0, chance[falling].cumsum())
        above = more[np.searchsorted(-sums.ravel()[falling], -levels, side="right")]
        assert np.all(above <= two(levels) * (1.0 + 1e-9))


def test_bounds_are_ordered():
    """A tail falls in y and rises with the steps; fewer large steps are worse, up to rounding."""
    y = np.linspace(0.0, 60.0, 241)
    former = np.zeros(y.size)
    for steps in (1, 2, 3, 4, 8, 12, 13, 14, 30):
        large = [kept.tail_bound(steps, number)(y) for number in (steps, steps // 2, 0)]
        pairs = [kept.tail_bound(steps, steps, number)(y) for number in (steps, steps // 2, 0)]
        for falling in (*large, *pairs):
            assert np.all(np.diff(falling) <= 0.0)
        for more, fewer in (*itertools.pairwise(large), *itertools.pairwise(pairs)):
            assert np.all(more <= 1.02 * fewer)
        assert np.all(former <= large[0])
        assert np.all(large[0] <= pairs[0])
        former = large[0]


@pytest.mark.parametrize("least", CLASSES)
def test_heads_are_above_the_limit(least):
    """In the limit of many records a sum is half a chi-squared variable; y goes far beyond 36."""
    y = np.linspace(0.0, 300.0, 1501)
    for steps in range(1, 13):
        limit = (ORDERS[:, None] * y + np.log(chi2.sf(2.0 * y, steps))).max(axis=1)
        assert np.all(CLASSES[least].heads[steps] >= limit)
        assert np.all(CLASSES[least].heads[steps] <= steps * CLASSES[least].moments)
