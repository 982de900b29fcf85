"""Audits of samplers that misbehave seldom: in one row of a hundred, in short calls, in new copies.

Randomness from the operating system is replaced by a fixed generator, so that every test is
deterministic. Where a test is statistical, the comment gives its chance to fail for a fresh seed.
"""

import copy
import functools
import itertools

import numpy as np
import pytest
from responses import fresh, response, seeded_in_the_module
from scipy.stats import binom

from skrldp import GRRSanitizer, JointDistribution, Mechanism, PolyOptSanitizer, audit
from skrldp.auditing._likelihood_ratios import check_mechanism
from skrldp.auditing._made_anew import copies_of
from skrldp.auditing._short_calls import check_short_calls
from skrldp.auditing._subject import CallableSubject, SanitizerSubject

pytestmark = pytest.mark.usefixtures("fixed_entropy")

COUNTS = np.array([[120, 60, 90], [50, 140, 80]])
ROWS = [[s, u] for s in range(2) for u in range(3)]
JOINT = JointDistribution(COUNTS, (0, 1), (0, 1, 2))


def fitted(fault, base=GRRSanitizer, **parameters):
    cls = type(f"Faulty{base.__name__}", (fault, base), {})
    values = [list(JOINT.secrets), list(JOINT.values)]
    sanitizer = cls(eps=1.0, encode="cells", categories=values, **parameters)
    return sanitizer.fit(ROWS, sample_weight=COUNTS.ravel())


def faults(found):
    return {check.name: check.message for check in found.findings}


# --- Raw rows ------------------------------------------------------------------------------------


class Raw:
    """Sends 1 % of the records as they are."""

    def transform(self, X):
        reports, X = super().transform(X), np.asarray(X)
        bare = fresh().random(len(X)) < 0.01
        reports[bare] = X[bare]
        return reports


def test_one_raw_row_in_a_hundred_is_found():
    """GRR's 6 cells: 7.4 standard deviations above the threshold's 3; misses below 1e-5."""
    found = audit(fitted(Raw), random_state=0)
    assert set(faults(found)) == {"mechanism"}
    assert "of the records seem to be reported without noise" in faults(found)["mechanism"]
    assert found.eps <= found.eps_claimed  # the bound does not see it


def test_raw_rows_that_are_not_the_likeliest_reports():
    """One record in 100 of 20,000, where the mechanism makes it once in 100. Misses: below 1e-9."""
    subject = SanitizerSubject.of(fitted(Raw))
    assert subject.unchanged(np.arange(6)).tolist() == subject.symbols.tolist()
    matrix = np.full((6, 6), 0.01) + 0.94 * np.roll(np.eye(6), 1, axis=0)
    subject.mechanism = Mechanism.from_matrix(matrix, (0, 1), (0, 1, 2))
    places = np.resize(np.arange(6), 20_000)
    codes = subject.mechanism.sample(places).astype(np.int64)
    reports = subject.symbols[codes]
    assert check_mechanism(subject, np.arange(6), places, reports)[0] > 1e-6
    reports[::100] = subject.symbols[places[::100]]
    p_value, words = check_mechanism(subject, np.arange(6), places, reports)
    assert p_value < 1e-9 and words.startswith("report (")
    # A fault in all cells is seen with fewer records by counting.
    few = slice(0, 3_000)
    p_value, words = check_mechanism(subject, np.arange(6), places[few], reports[few])
    assert words.endswith("% of the records seem to be reported unchanged")


def test_counts_are_bounded_for_unequal_cells():
    """P(p <= t) <= t where cells differ much in their likeliest report (1e-6 for a fresh seed)."""
    matrix = np.array([[0.9, 0.3, 0.02, 0.5], [0.05, 0.3, 0.9, 0.2], [0.05, 0.4, 0.08, 0.3]])
    mechanism = Mechanism.from_matrix(matrix, (0, 1), (0, 1))
    joint = JointDistribution(np.ones((2, 2)), (0, 1), (0, 1))
    subject = CallableSubject.of(len, joint, mechanism)
    rng, sizes, p_values = np.random.default_rng(1), [300, 5, 80, 40], []
    places = np.repeat(np.arange(4), sizes)
    for _ in range(500):
        reports = np.concatenate(
            [rng.choice(3, n, p=mechanism.matrix[:, c]) for c, n in enumerate(sizes)]
        )
        p_values.append(check_mechanism(subject, np.arange(4), places, reports)[0])
    for level in (0.3, 0.1, 0.03):
        assert np.sum(np.array(p_values) <= level) <= binom.isf(1e-6, 500, level)


# --- Short calls ---------------------------------------------------------------------------------


class RawIfShort:
    """Sends calls of fewer than ten records as they are."""

    def transform(self, X):
        reports = super().transform(X)
        return np.asarray(X) if len(X) < 10 else reports


class SeededIfShort:
    """Begins with one of eight seeds in calls of fewer than ten records, in turn."""

    calls = 0

    def transform(self, X):
        type(self).calls += 1
        twin = copy.copy(self)
        if len(X) < 100:
            twin.random_state = np.random.RandomState(type(self).calls % 8)
        return super(SeededIfShort, twin).transform(X)


@pytest.mark.parametrize("base", [GRRSanitizer, PolyOptSanitizer])
@pytest.mark.parametrize("fault", [RawIfShort, SeededIfShort])
def test_faults_of_short_calls_are_found(base, fault):
    """Misses: below 1e-3 (50 single records, and eight seeds in turn)."""
    found = faults(audit(fitted(fault, base), n=4_000, random_state=0))
    assert set(found) == {"calls"}
    assert "do not follow the mechanism" in found["calls"] or "apart get too" in found["calls"]


class RawAtFirst:
    """Sends the records as they are in the first call."""

    calls = 0

    def transform(self, X):
        self.calls += 1
        return np.asarray(X, dtype=object) if self.calls == 1 else super().transform(X)


def test_a_raw_first_call_is_found():
    """The audit's own first call chooses what is tested, and so is tested by nothing itself."""
    found = faults(audit(fitted(RawAtFirst), n=2_000, random_state=0))
    assert "reported without noise" in found["mechanism"]  # misses: below 1e-9
    calls = itertools.count()

    def raw_at_first(records):
        raw = np.asarray(records)[:, 0] == 1
        return response(records) if next(calls) else raw

    options = {"n": 4_000, "distribution": JOINT, "level": 0.999, "random_state": 0}
    found = faults(audit(raw_at_first, **options))  # misses: below 1e-6
    assert "first calls report otherwise" in found["calls"]


def test_calls_that_repeat_earlier_ones():
    """Calls 24 apart begin alike, although all reports are as common as they should be."""
    rng, calls = np.random.default_rng(5), iter(range(100))
    stream = np.stack([rng.permutation(np.arange(12) % 4) for _ in range(2)], axis=1).ravel()

    def report(records):
        return np.append(stream[next(calls) % 24], rng.integers(4, size=len(records) - 1))

    subject = CallableSubject.of(report, JOINT)
    subject.index.add(np.arange(4), 4)
    p_value, words = check_short_calls(subject, 1, *[rng.integers(4, size=4_000)] * 2, 100, rng)
    assert p_value < 0.004 and words.startswith("calls 24 apart get too similar")


def test_functions_whose_short_calls_are_raw():
    """Without a mechanism, short calls are compared with a long one. Misses: below 1e-6."""

    def raw_if_short(records):
        reports = response(records)
        return np.asarray(records)[:, 0] == 1 if len(records) < 10 else reports

    options = {"n": 4_000, "distribution": JOINT, "level": 0.999, "random_state": 0}
    found = faults(audit(raw_if_short, **options))
    assert set(found) == {"calls"} and "report otherwise than a long call" in found["calls"]
    assert audit(response, **options).passed  # false alarms: below 1e-3


def test_functions_whose_reports_depend_on_other_records():
    """Raw records in another order look private; alone, each value reports itself."""
    rng, cells = (
        np.random.default_rng(0),
        {value: place for place, value in enumerate(map(tuple, ROWS))},
    )

    def shuffled(records):
        return rng.permutation([cells[tuple(record)] for record in np.asarray(records).tolist()])

    found = faults(audit(shuffled, n=2_000, distribution=JOINT, eps=1.0, random_state=0))
    assert "depend on a call's other records" in found["calls"]


def test_short_calls_raise_no_false_alarms():
    """P(p <= t) <= t with a mechanism and without (1e-6 for a fresh seed)."""
    sanitizer = GRRSanitizer(eps=1.0).fit(ROWS, sample_weight=COUNTS.ravel())

    def sampled(records):
        return sanitizer.mechanism_.sample(
            3 * records[:, 0].astype(int) + records[:, 1].astype(int)
        )

    known = CallableSubject.of(sampled, JOINT, sanitizer.mechanism_)
    for subject in (known, CallableSubject.of(response, JOINT)):
        rng = np.random.default_rng(2)
        long = subject.reports(np.full(2_000, 1))
        p_values = [check_short_calls(subject, 1, long, long, 10, rng)[0] for _ in range(60)]
        for level in (0.3, 0.1):
            assert np.sum(np.array(p_values) <= level) <= binom.isf(1e-6, 60, level)


# --- Copies and new processes --------------------------------------------------------------------


class SeededByCall:
    """Takes the number of the call for a seed, which every copy counts from the beginning."""

    def transform(self, X):
        self.calls = getattr(self, "calls", 0) + 1
        twin = copy.copy(self)
        twin.random_state = np.random.RandomState(self.calls)
        return super(SeededByCall, twin).transform(X)


def seeded_by_call():
    calls = 0

    def report(records):
        nonlocal calls
        calls += 1
        return response(records, np.random.default_rng(calls))

    return report


class SeededByCallOfTheClass:
    """Counts the calls of all objects of the class, so that no copy has a count of its own."""

    calls = 0

    def transform(self, X):
        SeededByCallOfTheClass.calls += 1
        twin = copy.copy(self)
        twin.random_state = np.random.RandomState(self.calls)
        return super(SeededByCallOfTheClass, twin).transform(X)


class State:
    calls = 0


calls_in_all = 0
kept, listed, state, counter = {"calls": 0}, [0], State(), itertools.count(5, 3)


def seeded(place, records):
    """Takes a number for a seed that is kept in the given place."""
    global calls_in_all
    calls_in_all += 1
    State.calls += 1
    state.calls += 2
    seeded.calls += 1
    kept["calls"] += 1
    listed[0] += 1
    numbers = (calls_in_all, State.calls, state.calls, seeded.calls, kept["calls"], listed[0])
    seed = next(counter) if place == "counter" else numbers[place]
    return response(records, np.random.default_rng(seed))


seeded.calls = 0


def test_seeds_by_call_number_are_found_in_copies():
    """Copies of functions have their own outer variables. Misses: below 1e-9."""
    found = faults(audit(fitted(SeededByCall), n=4_000, random_state=0))
    assert "copies" in found
    options = {"n": 4_000, "distribution": JOINT, "level": 0.999, "random_state": 0}
    assert set(faults(audit(seeded_by_call(), **options))) == {"copies"}


def test_numbers_that_a_class_keeps_are_set_back():
    """Misses: below 1e-9; false alarms: at most 1e-3."""
    found = audit(fitted(SeededByCallOfTheClass), n=4_000, level=0.999, random_state=0)
    assert set(faults(found)) == {"copies"}
    assert "SeededByCallOfTheClass.calls" in faults(found)["copies"]


@pytest.mark.parametrize("place", [*range(6), "counter"])
def test_numbers_that_a_module_keeps_are_set_back(place):
    """In variables, classes, objects, functions, dictionaries, lists. Misses: below 1e-9."""
    options = {"n": 2_000, "distribution": JOINT, "level": 0.999, "random_state": 0}
    found = audit(functools.partial(seeded, place), calls=8, **options)
    assert set(faults(found)) == {"copies"}
    assert "calls_in_all" in faults(found)["copies"]


def test_numbers_that_are_no_seeds_raise_no_alarm():
    """They go on after the audit as if it had only made calls. False alarms: at most 1e-3."""

    class Counted(GRRSanitizer):
        calls, rows, limit = 0, [0], 7

        def transform(self, X):
            Counted.calls += 1
            self.rows[0] += len(X)
            return super().transform(X)

    sanitizer = Counted(eps=1.0).fit(ROWS, sample_weight=COUNTS.ravel())
    rows = Counted.rows
    found = audit(sanitizer, n=2_000, level=0.999, random_state=0)
    assert found.passed
    assert Counted.calls > 100 and Counted.rows is rows and rows[0] > 5_000 and Counted.limit == 7


def test_what_a_module_keeps_is_found_in_new_processes():
    """Misses below 1e-9, false alarms at most 1e-3 each."""
    options = {"n": 4_000, "distribution": JOINT, "level": 0.999, "random_state": 0}
    alone = audit(seeded_in_the_module, **options)
    assert alone.passed
    said = {check.name: check.message for check in alone.checks}
    assert said["copies"] == "not checked: no copies can be made"
    assert said["processes"].startswith("not tried: in Python, processes=True")
    assert f"ok: {said['processes']}" in " ".join(str(alone).split())
    found = audit(seeded_in_the_module, processes=True, **options)
    assert set(faults(found)) == {"processes"}
    found = audit(response, processes=True, **options)
    assert found.passed
    (told,) = (check.message for check in found.checks if check.name == "processes")
    assert told == "new processes draw independently"


def test_copies_of_functions_share_nothing():
    def counter():
        held = [0]

        def count(step, /, *, by=1):
            held[0] += step * by
            return held[0]

        return count

    count = counter()
    assert count(5) == 5
    one, two = copies_of(count)
    assert (one(1), one(1, by=2), two(1), count(1)) == (6, 8, 6, 6)
    assert copies_of(response) == []
    lock = __import__("threading").Lock()
    assert copies_of(lambda records: lock) == []  # cannot be copied


# --- Functions with a mechanism ------------------------------------------------------------------


def test_a_function_is_compared_with_its_mechanism():
    """Swapped secrets leak no more; only the mechanism tells. False alarms: at most 1e-3."""
    matrix = np.array([[0.7, 0.7, 0.7, 0.4, 0.4, 0.4], [0.3, 0.3, 0.3, 0.6, 0.6, 0.6]])
    mechanism = Mechanism.from_matrix(matrix, (0, 1), (0, 1, 2))

    def sampler(swapped):
        def report(records):
            response(records)  # unknown values are refused
            lies = fresh().random(len(records)) < np.where(records[:, 0] == swapped, 0.3, 0.6)
            return lies.astype(int)

        return report

    options = {"n": 20_000, "distribution": JOINT, "level": 0.999, "random_state": 0}
    found = audit(sampler(0), mechanism=mechanism, **options)
    assert found.passed and found.eps <= found.eps_claimed
    assert found.eps_claimed == pytest.approx(np.log(2.0), rel=1e-6)
    twice = audit(sampler(0), mechanism=mechanism, reports=2, **options)
    assert twice.passed and twice.eps_claimed == pytest.approx(2 * np.log(2.0), rel=1e-6)
    wrong = faults(audit(sampler(1), mechanism=mechanism, **options))
    assert "seem to be swapped" in wrong["mechanism"] and "bound" not in wrong
    foreign = faults(audit(lambda records: sampler(0)(records) + 1, mechanism=mechanism, **options))
    assert "not the mechanism's, such as 2" in foreign["mechanism"]
    with pytest.raises(ValueError, match="are not those of the mechanism"):
        other = JointDistribution(COUNTS, ("a", "b"), (0, 1, 2))
        audit(sampler(0), mechanism=mechanism, distribution=other)
    with pytest.raises(ValueError, match="a sanitizer has its own"):
        audit(GRRSanitizer(eps=1.0).fit(ROWS), mechanism=mechanism)


# --- Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"calls": 1}, "calls=1 must be a whole number >= 2"),
        ({"calls": 10.0}, "calls=10.0 must be"),
        ({"processes": 2}, "processes=2 must be True or False"),
    ],
)
def test_bad_parameters(parameters, said):
    with pytest.raises(ValueError, match=said):
        audit(response, distribution=JOINT, **parameters)


def test_functions_that_new_processes_cannot_have(monkeypatch):
    options = {"n": 1_000, "distribution": JOINT, "processes": True}
    with pytest.raises(ValueError, match=r"cannot be pickled.*Define it in a module"):
        audit(lambda records: response(records), **options)
    monkeypatch.setattr(response, "__module__", "__main__")
    monkeypatch.setattr(__import__("__main__"), "response", response, raising=False)
    with pytest.raises(ValueError, match=r"could not make the reports: .*must be able to import"):
        audit(response, **options)
