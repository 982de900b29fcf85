"""Coverage of likelihood-ratio sets: the error of their budgets, by enumeration and integrals."""

import dataclasses
import functools
import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, chi2, gamma
from small_multinomials import outcomes

from skrldp.sets import radii as budgets
from skrldp.sets.radii import likelihood_ratio_budgets
from skrldp.sets.tails import tail_bound

RULES = ("finite-sample", "asymptotic")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("counts", "n_values", "beta", "at_least"),
    [
        ((6, 9), 2, 0.3, 0.3),
        ((1, 20), 2, 0.1, 0.2),
        ((2, 3, 4), 2, 0.4, 0.2),
    ],
)
def test_error_of_small_tables(counts, n_values, beta, at_least, rule):
    """By enumeration: the finite-sample error is at most beta, and within reason of it.

    The asymptotic one's is not, which shows that the distributions tried are hard ones.
    """
    rng = np.random.default_rng(1)
    single, pair = likelihood_ratio_budgets(counts, n_values, beta, rule)
    worst = 0.0
    for _ in range(150):
        groups = []
        for size in counts:
            distribution = rng.dirichlet(np.full(n_values, rng.choice([0.2, 1.0, 20.0]))).clip(1e-9)
            distribution = distribution / distribution.sum()
            groups.append(outcomes(n_values, size).statistics(distribution))
        chance = functools.reduce(np.multiply.outer, [chances for chances, _ in groups])
        g = np.sort(np.stack(np.meshgrid(*(g for _, g in groups), indexing="ij")), axis=0)
        error = chance[(g[-1] > single) | (g[-1] + g[-2] > pair)].sum()
        worst = max(worst, error)
    assert worst >= at_least * beta
    assert (worst <= beta) == (rule == "finite-sample")


@pytest.mark.parametrize(
    ("secrets", "n_values", "beta"),
    [(2, 2, 0.05), (2, 5, 0.3), (5, 2, 1e-6), (6, 15, 0.05), (42, 6, 0.3), (42, 6, 1e-6)],
)
def test_asymptotic_error_is_beta(secrets, n_values, beta):
    """By the density of the two largest, integrated over the second largest."""
    single, pair = likelihood_ratio_budgets([9] * secrets, n_values, beta, "asymptotic")
    half = gamma((n_values - 1) / 2.0)

    def missed(root):  # the second largest is root^2, and the largest more than is allowed
        root = max(root, 1e-100)  # the density of one degree of freedom is infinite at 0
        second = root * root
        density = 2.0 * root * half.pdf(second) * half.cdf(second) ** (secrets - 2)
        return density * half.sf(max(second, min(single, pair - second)))

    factor, most = secrets * (secrets - 1), 60.0 + n_values
    breaks = np.sqrt([pair - single, pair / 2.0, most])
    ends = [0.0, *breaks]
    parts = [quad(missed, a, b, epsabs=0.0, limit=200)[0] for a, b in itertools.pairwise(ends)]
    assert factor * sum(parts) == pytest.approx(beta, rel=2e-3)


def test_joint_error_of_unlike_secrets():
    """Of three with two kinds of tails, by integrals over each; rounded up, it is above."""
    single, pair = 6.0, 8.5
    one, two = gamma(0.5), gamma(1.5)
    nodes, weights = np.polynomial.legendre.leggauss(60)

    def points(*ends):  # nodes and weights between each two ends; squares of them, for small roots
        low, high = np.sqrt(ends[:-1])[:, None], np.sqrt(ends[1:])[:, None]
        root = (low + high) / 2.0 + (high - low) / 2.0 * nodes
        return (root**2).ravel(), ((high - low) * weights * root).ravel()

    good = 0.0
    for x, of_x in zip(*points(0.0, pair - single, pair / 2.0, single), strict=True):
        most = min(single, pair - x)
        ends = sorted({0.0, most, min(pair - most, most), min(pair / 2.0, most)})
        y, of_y = points(*ends)
        good += of_x * one.pdf(x) * (of_y * two.pdf(y) * two.cdf(np.minimum(most, pair - y))).sum()
    groups = [(1, one.sf), (2, two.sf)]
    found = budgets._joint_failure(groups, single, pair, 4000, True)
    assert found == pytest.approx(1.0 - good, rel=1e-5)
    assert found < budgets._joint_failure(groups, single, pair, 4000, False) < found * 1.01


@pytest.mark.parametrize("n_values", [2, 5, 30])
def test_steps_are_taken_for_large_with_little_error(n_values):
    """As Theorem 21 asks; the error spent is counted, and a secret of few records spends none."""
    counts = np.array([3, 99, 100, *[180] * 60, 700, *[3_000] * 60, 40_000])
    steps, beta = n_values - 1, 0.01
    tails = budgets._finite_sample(counts, steps, beta)
    assert 0.0 <= tails.missed <= beta / 100.0
    bounds = [tail_bound(steps, number).exponents for number in range(n_values)]
    spent, found = 0.0, []
    for count, secrets in zip(*np.unique(counts, return_counts=True), strict=True):
        alone = budgets._finite_sample(np.array([count]), steps, beta / counts.size)
        ((_, tail),) = alone.groups
        large = max(i for i, bound in enumerate(bounds) if np.array_equal(tail.exponents, bound))
        likely = (steps + 2 - large) / (steps + 1)
        spent += secrets * binom.cdf(99, count, likely) if large else 0.0
        found.append(large)
    assert spent <= tails.missed * (1.0 + 1e-9)
    assert found == sorted(found)
    assert found[:2] == [0, 0]
    assert found[-1] == steps
    assert sum(number for number, _ in tails.groups) == counts.size
    of_two = Counter()  # how many pairs have this tail
    large = dict(zip(np.unique(counts).tolist(), found, strict=True))
    for pair in itertools.combinations(counts.tolist(), 2):
        of_two[tuple(sorted(large[count] for count in pair))] += 1
    expected = {tail_bound(steps, *two).exponents.tobytes(): of_two[two] for two in of_two}
    assert expected == {tail.exponents.tobytes(): number for number, tail in tails.pairs}
    more = budgets._failure(dataclasses.replace(tails, missed=0.5), 50.0, 80.0, 50)
    assert more == pytest.approx(0.5 + budgets._failure(tails, 50.0, 80.0, 50), rel=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_one_secret(rule):
    """Alone, or the only one with records: both budgets are its own."""
    single, pair = likelihood_ratio_budgets([300], 5, 0.05, rule)
    assert single == pair
    assert likelihood_ratio_budgets([0, 300, 0], 5, 0.05, rule) == (single, pair)
    assert likelihood_ratio_budgets([1, 300], 5, 0.05, rule)[1] > pair  # one record counts
    if rule == "asymptotic":
        assert single == pytest.approx(chi2.isf(0.05, 4) / 2.0, rel=1e-6)
    assert likelihood_ratio_budgets([300, 5], 1, 0.05, rule) == (0.0, 0.0)
    assert likelihood_ratio_budgets([0, 0], 5, 0.05, rule) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("rule", "beta"),
    [("finite-sample", 0.4), ("finite-sample", 1e-30), ("asymptotic", 0.4), ("asymptotic", 1e-6)],
)
def test_budgets_fail_with_probability_beta_at_most_and_use_all_of_it(rule, beta):
    """Roots are found to some digits; the budgets are not below them."""
    counts = np.array([5, 60, 400, 9_000])
    single, pair = likelihood_ratio_budgets(counts, 6, beta, rule)
    exact = rule == "finite-sample"
    tails = budgets._finite_sample(counts, 5, beta) if exact else budgets._asymptotic(4, 5)
    assert 0.999 * beta < budgets._failure(tails, single, pair, budgets._FINE) <= beta


def test_refusals():
    with pytest.raises(ValueError, match="rule must be"):
        likelihood_ratio_budgets([5, 5], 3, 0.05, "exact")
    for beta in (0.0, 1.0, float("nan")):
        with pytest.raises(ValueError, match="beta must lie between"):
            likelihood_ratio_budgets([5, 5], 3, beta, "asymptotic")
