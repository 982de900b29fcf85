"""Parts of audits by themselves: exact p-values, and what each part compares.

Where a test is statistical, the comment gives its chance to fail for a fresh seed.
"""

import itertools
import re

import numpy as np
import pytest
from scipy.stats import binom

from skrldp import JointDistribution, Mechanism, audit
from skrldp.auditing import _checks
from skrldp.auditing._fresh_randomness import check_repeats, check_runs, paired_cells
from skrldp.auditing._kept_numbers import KeptNumbers
from skrldp.auditing._likelihood_ratios import check_mechanism
from skrldp.auditing._made_anew import copies_of
from skrldp.auditing._short_calls import _differs, check_short_calls
from skrldp.auditing._subject import CallableSubject

JOINT = JointDistribution(np.ones((2, 2)), (0, 1), (0, 1))
MECHANISM = Mechanism.from_matrix(np.full((4, 4), 0.2) + 0.2 * np.eye(4), (0, 1), (0, 1))


# --- Coins ---------------------------------------------------------------------------------------


def test_records_in_pairs():
    cells = np.array([2, 5, 9])
    places = paired_cells(cells, 59, np.random.default_rng(0))
    assert len(places) == 60 and (places[::2] == places[1::2]).all()
    assert np.bincount(places)[cells].tolist() == [20, 20, 20]
    assert (np.diff(places[::2]) != 0).any() and len(set(places[::2][:6].tolist())) > 1


def test_the_coins_that_are_tossed():
    """Seven heads, two tails; where both reports of a pair agree with x, or none, there is none."""
    first = np.repeat([0] * 7 + [1] * 2 + [0] * 5, 2)
    second = np.array([[0, 1]] * 7 + [[0, 1]] * 2 + [[0, 0]] * 3 + [[1, 2]] * 2).ravel()
    assert check_repeats(first, second) == pytest.approx(binom.sf(6, 9, 0.5), rel=1e-12)
    assert check_repeats(first, second.reshape(-1, 2)[:, ::-1].ravel()) == pytest.approx(
        binom.sf(1, 9, 0.5), rel=1e-12
    )
    assert check_repeats(first[18:], second[18:]) == 1.0


@pytest.mark.parametrize("lag", [1, 3, 4, 10, 16, 32, 64, 512, 1_000])
def test_every_distance_is_looked_at(lag):
    """Each stretch of records is reported twice. Misses: below 1e-9."""
    rng = np.random.default_rng(lag)
    stretches = rng.integers(9, size=(max(1, 512 // lag), 1, lag)).repeat(2, axis=1)
    p_value, found = check_runs(stretches.ravel(), rng)
    assert p_value < 1e-9 and found == lag


def test_the_least_p_value_counts_for_all_distances():
    rng = np.random.default_rng(2)
    lags = np.array([1, 5, 8, 300])
    for _ in range(10):
        reports = rng.integers(3, size=400)
        alone = [check_runs(reports, np.random.default_rng(1), lags[i : i + 1]) for i in range(3)]
        p_value, found = check_runs(reports, np.random.default_rng(1), lags)
        assert p_value == pytest.approx(min(1.0, 3 * min(alone)[0]), rel=1e-12)
        assert found == min(alone)[1]
    assert check_runs(reports[:1], rng) == (1.0, 0)


@pytest.mark.parametrize("workers", [2, 3, 7])
def test_workers_that_begin_with_the_same_numbers(workers):
    """Later workers may have one record less. Misses: below 1e-9."""
    rng = np.random.default_rng(workers)
    parts = np.array_split(np.arange(1_000), workers)
    noise = rng.choice(3, size=len(parts[0]), p=[0.8, 0.15, 0.05])
    reports = np.concatenate([noise[: len(part)] for part in parts])
    p_value, found = check_runs(reports, rng)
    assert p_value < 1e-9 and found % len(noise) in (0, len(noise) - 1)


def test_a_tenth_of_the_records_repeats_earlier_ones():
    """Of some 2,040 coins 1,206 are expected to be heads; misses: below 1e-6."""
    rng = np.random.default_rng(5)
    reports = rng.integers(4, size=20_000)
    again = rng.random(20_000 - 1_237) < 0.1
    reports[1_237:][again] = reports[:-1_237][again]
    assert check_runs(reports, rng)[1] == 1_237


def test_all_distances_count_as_tests():
    """The likeliest distance has the p-value that it has among all."""
    rng = np.random.default_rng(6)
    reports = rng.integers(4, size=400)
    reports[123:] = np.where(rng.random(277) < 0.7, reports[:-123], reports[123:])
    found = check_runs(reports, np.random.default_rng(1))
    assert 1e-12 < found[0] < 0.05
    assert found == check_runs(reports, np.random.default_rng(1), np.arange(1, 201))


def test_a_stream_that_returns_all_the_time():
    """All stretches are the same, so records to compare with are taken at random."""
    rng = np.random.default_rng(3)
    p_value, found = check_runs(np.tile(rng.integers(9, size=1_000), 8), rng)
    assert p_value < 1e-9 and found == 1_000


# --- Counts --------------------------------------------------------------------------------------


def test_counts_have_their_exact_p_value():
    """95 of 150 reports are the likeliest ones, 0.4 of which are expected; four tests are made."""
    subject = CallableSubject.of(len, JOINT, MECHANISM)
    places = np.repeat(np.arange(4), 50)[:150]
    reports = (places + np.resize([0, 0, 1, 0, 2, 0, 3, 0], 150)) % 4
    count = int((reports == places).sum())
    p_value, words = check_mechanism(subject, np.arange(4), places, reports)
    assert words.endswith("% of the records seem to be reported without noise")
    assert p_value == pytest.approx(4 * binom.sf(count - 1, 150, 0.4), rel=1e-9)


# --- Short calls ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 5, 9, 20, 60])
@pytest.mark.parametrize("mechanism", [None, MECHANISM])
def test_every_size_of_short_calls(size, mechanism):
    """Raw answers in calls of one size alone. Misses: below 1e-6."""
    rng = np.random.default_rng(size)

    def report(records):
        raw = len(records) == size
        return np.zeros(len(records), dtype=int) if raw else rng.integers(4, size=len(records))

    subject = CallableSubject.of(report, JOINT, mechanism)
    if mechanism is not None:
        subject.mechanism = Mechanism.from_matrix(np.full((4, 4), 0.25), (0, 1), (0, 1))
    subject.index.add(np.arange(4), 4)
    p_value, words = check_short_calls(subject, 0, *rng.integers(4, size=(2, 4_000)), 100, rng)
    assert p_value < 1e-6
    assert words.startswith(f"calls of {size} record{'s' if size > 1 else ''} ")


def test_short_calls_have_the_same_records():
    """A black box may write into what it is given."""
    rng, seen = np.random.default_rng(0), []

    def report(records):
        seen.extend(map(tuple, records.tolist()))
        records[:] = 0
        return rng.integers(4, size=len(records))

    subject = CallableSubject.of(report, JOINT)
    long = subject.index.add(rng.integers(4, size=400), 400)
    check_short_calls(subject, 3, long, long, 16, rng)
    assert set(seen) == {(1, 1)} and len(seen) == 8 + 2 * (5 + 9 + 20 + 60)


def test_p_values_of_short_calls():
    """P(p <= t) <= t (1e-6 for a fresh seed); and what never changes is no fault."""
    rng = np.random.default_rng(6)
    differ = [_differs(*(rng.integers(12, size=n) for n in (60, 600)), rng) for _ in range(300)]
    subject = CallableSubject.of(lambda records: rng.integers(3, size=len(records)), JOINT)
    subject.index.add(np.arange(3), 3)
    whole = [
        check_short_calls(subject, 0, *rng.integers(3, size=(2, 500)), 20, rng)[0]
        for _ in range(120)
    ]
    for level in (0.3, 0.1, 0.03):
        assert np.sum(np.array(differ) <= level) <= binom.isf(1e-6, 300, level)
        assert np.sum(np.array(whole) <= level) <= binom.isf(1e-6, 120, level)
    assert _differs(np.zeros(20), np.zeros(90), rng) == 1.0


# --- Which records the checks are about ----------------------------------------------------------


@pytest.mark.parametrize("mechanism", [False, True])
@pytest.mark.parametrize("constant", [0, 1])
def test_the_checks_are_about_the_cell_whose_reports_differ_most(mechanism, constant, monkeypatch):
    """One secret is always reported as 0; the stream of the other begins anew every ten rows."""
    rng = np.random.default_rng(4)

    def report(records):
        records = np.asarray(records)
        assert np.isin(records, (0, 1)).all()
        stream = np.resize(rng.integers(4, size=10), len(records))
        return np.where(records[:, 0] == constant, 0, stream)

    matrix = np.full((4, 4), 0.25)
    matrix[:, 2 * constant : 2 * constant + 2] = np.eye(4)[:, :1]
    own = Mechanism.from_matrix(matrix, (0, 1), (0, 1))
    asked = []

    def compared(subject, cells, places, reports):
        asked.append(np.bincount(places, minlength=4))
        return check_mechanism(subject, cells, places, reports)

    monkeypatch.setattr(_checks, "check_mechanism", compared)
    options = {"n": 2_000, "distribution": JOINT, "random_state": 0, "calls": 2}
    found = audit(report, mechanism=own if mechanism else None, **options)
    runs = next(check for check in found.checks if check.name == "runs")
    assert not runs.passed and re.search("records [0-9]*0 apart", runs.message)
    if mechanism:  # the reports of all three long calls, and of the first one of a copy
        assert asked[0].sum() == 6_500 and 3_000 < asked[0].max() < 3_500


# --- Copies --------------------------------------------------------------------------------------


def test_copies_have_defaults_and_shared_variables_of_their_own():
    def made():
        held = [0]
        same = held

        def count(seen=[0], *, also={"n": 0}):  # noqa: B006
            held[0] += 1
            seen[0] += 1
            also["n"] += 1
            return same[0], seen[0], also["n"]

        return count

    count = made()
    assert count() == (1, 1, 1)
    one, two = copies_of(count)
    assert (one(), one(), two(), count()) == ((2, 2, 2), (3, 3, 3), (2, 2, 2), (2, 2, 2))


class Held:
    number, flag, text = 3, True, "a"
    entries, table = [1, "b", 2], {"x": 1, "y": "z"}
    many = [0] * 1_001
    counted = itertools.count(7, 2)

    def report(self, records):
        return records


def test_numbers_are_set_back_where_they_are():
    """Only numbers that changed, in the same lists; what came meanwhile remains."""
    kept = KeptNumbers(Held().report)
    entries, table = Held.entries, Held.table
    assert kept.set_back() == []
    Held.number, Held.flag, Held.text = 4, False, "c"
    entries[2], table["x"], table["new"], Held.many[0] = 9, 5, 6, 1
    entries.append(8)
    assert [next(Held.counted) for _ in range(3)] == [7, 9, 11]
    assert set(kept.set_back()) == {
        "Held.number", "Held.counted", "Held.entries[2]", "Held.table['x']",
    }  # fmt: skip
    assert (Held.number, Held.flag, Held.text, Held.many[0]) == (3, False, "c", 1)
    assert Held.entries is entries == [1, "b", 2, 8]
    assert Held.table is table == {"x": 1, "y": "z", "new": 6}
    assert [next(Held.counted) for _ in range(2)] == [7, 9]


def test_numbers_of_classes_in_functions():
    """No module has the class, and its subclass counts in it."""

    class Base:
        calls = 0

    class Derived(Base):
        def report(self, records):
            Base.calls += 1
            return records

    kept = KeptNumbers(Derived().report)
    Derived().report([])
    assert (kept.set_back(), Base.calls) == (["Base.calls"], 0)


@pytest.mark.parametrize("kind", ["noise", "number"])
def test_reports_that_are_all_different_are_refused(kind):
    """Nothing can be counted of them: raw records with a last digit of their own would pass."""
    numbers, rng = itertools.count(), np.random.default_rng(0)

    def report(records):
        if kind == "noise":
            return records[:, 0] + rng.normal(0.0, 1e-6, size=len(records))
        return [[secret, next(numbers)] for secret in records[:, 0]]

    with pytest.raises(ValueError, match="reports are like no other, so the audit has nothing to"):
        audit(report, n=2_000, distribution=JOINT, eps=1.0, random_state=0)
