"""Audits: their bounds hold, and their checks alarm, as often as they state."""

import numpy as np
import pytest
from fitted_once import ROWS, fitted
from scipy.stats import binom

from skrldp import (
    GRRSanitizer,
    JointDistribution,
    PolyOptSanitizer,
    SRRSanitizer,
    audit,
)
from skrldp.auditing._comparisons import Comparison, Groups
from skrldp.auditing._fresh_randomness import check_repeats, check_runs
from skrldp.auditing._likelihood_ratios import check_mechanism
from skrldp.auditing._lower_bound import bound_leakage, clopper_pearson
from skrldp.auditing._subject import CallableSubject, SanitizerSubject

pytestmark = pytest.mark.usefixtures("fixed_entropy")


def test_false_alarms_and_coverage():
    """Of 100 audits at level 0.8 at most a fifth may alarm, and a tenth bound too much.

    For a fresh seed either count passes the limits below with probability below 1e-6, even if the
    rates are as high as they may be.
    """
    sanitizer = fitted(SRRSanitizer, eps=0.7)
    mechanism, joint = sanitizer.mechanism_, sanitizer.joint_
    # Counts as close to the worst distribution as makes no difference.
    worst = np.rint(1e9 * sanitizer.certificate_.distribution)
    worst = JointDistribution(worst, joint.secrets, joint.values)
    places = {record: place for place, record in enumerate(map(tuple, ROWS))}

    def sampled(records):  # what the sanitizer does, without reading and writing tables
        return mechanism.sample([places[tuple(record)] for record in records.tolist()])

    options = {"distribution": [worst, joint], "mechanism": mechanism, "level": 0.8, "calls": 8}
    audits = [audit(sampled, n=400, random_state=seed, **options) for seed in range(100)]
    alarms = sum(not found.passed for found in audits)
    excess = sum(found.eps > mechanism.leakage(found.distribution) + 1e-12 for found in audits)
    assert alarms <= binom.isf(1e-6, 100, 0.2)
    assert excess <= binom.isf(1e-6, 100, 0.1)


def _bounds(rows, n, miss, seeds):
    """Bounds on what two secrets leak by one of three reports, with a claim of log 2."""
    rows, generator = np.cumsum(rows, axis=1), np.random.default_rng(1)

    def report(records):
        chosen = rows[np.asarray(records)[:, 0].astype(int)]
        return (chosen < generator.random(len(chosen))[:, None]).sum(axis=1)

    distribution = JointDistribution([[1], [1]], [0, 1], ["u"])
    subject = CallableSubject.of(report, distribution)
    claims = np.full((2, 2), np.log(2.0))
    compared = Comparison(Groups.of_secrets((0, 1), 1), distribution.probabilities, claims)
    return [
        bound_leakage(subject, [compared], n, miss, np.random.default_rng(seed))
        for seed in range(seeds)
    ]


def test_a_commoner_event_is_bounded_beside_a_rare_one():
    """A report in fifty leaks log 2, a report in two less: the bound must not be 0 for the first.

    It is 0 for about a twentieth of seeds, and without the second event for two thirds of them. For
    a fresh seed the test fails with probability below 1e-6.
    """
    found = _bounds([[0.04, 0.50, 0.46], [0.02, 0.50, 0.48]], 10_000, 0.025, 60)
    assert sum(bound.eps == 0.0 for bound in found) <= 18
    assert all(len(bound.event) < 3 for bound in found)  # all reports together tell nothing
    # At most a fortieth may be above the truth: more than 11 of 60 have a probability below 1e-6.
    assert sum(bound.eps > np.log(2.0) for bound in found) <= 11


def test_two_events_share_the_error_probability():
    """Where nothing leaks, a bound above 0 is an error: 300 at 0.3 pass with chance 1 - 1e-6."""
    found = _bounds([[0.02, 0.50, 0.48]] * 2, 4_000, 0.3, 300)
    assert sum(bound.eps > 0.0 for bound in found) <= binom.isf(1e-6, 300, 0.3)


def test_the_bets_pay_nothing_on_average():
    """P(p <= t) <= t for the bets: 400 tables of the mechanism itself, few records each.

    A fresh seed fails with probability below 1e-6.
    """
    subject = SanitizerSubject.of(fitted(PolyOptSanitizer, encode="cells"))
    rng = np.random.default_rng(3)
    cells = np.arange(6)
    p_values = []
    for _ in range(400):
        places = rng.integers(6, size=60)
        reports = subject.symbols[subject.mechanism.sample(places)]
        p_values.append(check_mechanism(subject, cells, places, reports)[0])
    for level in (0.3, 0.1, 0.03):
        assert np.sum(np.array(p_values) <= level) <= binom.isf(1e-6, 400, level)


def test_the_coins_are_fair():
    """P(p <= t) <= t for both coins (1e-6 for a fresh seed); and they see what is not fair."""
    rng = np.random.default_rng(4)
    pairs, runs = [], []
    for _ in range(300):
        distribution = rng.dirichlet(np.ones(5))
        first, second = rng.choice(5, size=(2, 80), p=distribution)
        pairs.append(check_repeats(first, second))
        runs.append(check_runs(first, rng)[0])
    for level in (0.3, 0.1, 0.03):
        for p_values in (pairs, runs):
            assert np.sum(np.array(p_values) <= level) <= binom.isf(1e-6, 300, level)
    reports = rng.integers(5, size=400)
    assert check_repeats(reports, reports) < 1e-6
    for lag in (1, 7, 64):
        p_value, found = check_runs(
            np.resize(reports[:lag], 2000) if lag > 1 else np.repeat(rng.integers(5, size=1000), 2),
            rng,
        )
        assert p_value < 1e-6 and found % lag == 0


@pytest.mark.parametrize("miss", [0.01, 1e-9, 1e-30])
@pytest.mark.parametrize(("count", "total"), [(0, 50), (1, 50), (25, 50), (50, 50), (0, 750)])
def test_clopper_pearson(count, total, miss):
    """Either bound is the probability at which what was seen is just not too unlikely."""
    low, high = clopper_pearson(count, total, miss)
    if count:
        assert binom.sf(count - 1, total, low) == pytest.approx(miss, rel=1e-6, abs=0.0)
    else:
        assert low == 0.0
    if count < total:
        assert binom.cdf(count, total, high) == pytest.approx(miss, rel=1e-6, abs=0.0)
    else:
        assert high == 1.0


def test_more_records_bound_better():
    sanitizer = fitted(GRRSanitizer, eps=1.0)
    found = [audit(sanitizer, n=n, calls=2, random_state=0).eps for n in (1_000, 10_000, 200_000)]
    assert found[0] < found[1] < found[2] <= 1.0
    assert found[2] > 0.93
