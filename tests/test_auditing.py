"""Audits: planted faults are found, sound black boxes pass, and bounds and alarms keep their level.

Randomness from the operating system is replaced by a fixed generator, so that every test is
deterministic. Where a test is statistical, the comment gives its chance to fail for a fresh seed.
"""

import copy
import functools
import itertools
import os
import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from regions import lower
from scipy.stats import binom
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import FunctionTransformer

from skrldp import (
    BlockSanitizer,
    GRRSanitizer,
    JointDistribution,
    Mechanism,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
    audit,
    auditing,
)
from skrldp.auditing import _check_mechanism, _check_repeats, _clopper_pearson
from skrldp.claims_in_words import claim_in_words
from skrldp.sanitizers.access import codec_of, write_reports

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = [
    pytest.mark.usefixtures("fixed_entropy"),
    pytest.mark.filterwarnings("ignore:the values of U were learned"),
]

COUNTS = np.array([[120, 60, 90], [50, 140, 80]])
ROWS = [[s, u] for s in range(2) for u in range(3)]
JOINT = JointDistribution(COUNTS, (0, 1), (0, 1, 2))


@functools.cache
def designed(base, **parameters):
    if base is PolyOptSanitizer:
        parameters = lower(parameters)  # no clock ends its design
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return base(**parameters).fit(ROWS, sample_weight=COUNTS.ravel())


def fitted(cls, encode=None, random_state=None, **parameters):
    """A sanitizer, or one with a fault, whose design is made once."""
    base = next(kind for kind in cls.__mro__ if kind.__module__.startswith("skrldp."))
    sanitizer = copy.copy(designed(base, **parameters))
    sanitizer.__class__ = cls
    return sanitizer.set_params(encode=encode, random_state=random_state)


def fresh():
    """A generator that is seeded from what stands for the operating system."""
    return np.random.default_rng(list(os.urandom(16)))


def response(records, generator=None):
    """Randomised response to S, which refuses unknown values."""
    records = np.asarray(records)
    if not (np.isin(records[:, 0], (0, 1)) & np.isin(records[:, 1], (0, 1, 2))).all():
        raise KeyError("unknown")
    return (records[:, 0] == 1) ^ ((generator or fresh()).random(len(records)) < 0.25)


def faults(found):
    return {check.name: check.message for check in found.findings}


# --- Planted faults ------------------------------------------------------------------------------


class Noiseless:
    """Leaves the noise out for a tenth of the records: they are sent as their likeliest report."""

    def transform(self, X):
        codes = codec_of(self).encode(X).cells(codec_of(self).n_values)
        reports = self.mechanism_.sample(codes).astype(np.int64)
        bare = fresh().random(len(reports)) < 0.1
        reports[bare] = self.mechanism_.matrix.argmax(axis=0)[codes[bare]]
        return write_reports(self, reports, X)


class PassesOn:
    """Sends records with unknown values as they are."""

    def transform(self, X):
        try:
            return super().transform(X)
        except ValueError:
            return np.asarray(X)


# Each is found with probability above 1 - 1e-6 at this n.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "base", "found_by", "words"),
    [
        # The one check that looks at the mechanism: by its matrix, and by few numbers.
        (Noiseless, PolyOptSanitizer, "mechanism", "were expected"),
        (PassesOn, GRRSanitizer, "unknown", "reported rather than refused"),
    ],
)
def test_planted_faults_are_found(fault, base, found_by, words):
    faulty = type(f"Faulty{base.__name__}", (fault, base), {})
    found = audit(fitted(faulty, encode="cells", eps=1.0), n=50_000, random_state=0)
    # Where secrets leak unequally, swapped ones may leak more than before.
    assert set(faults(found)) - {"bound"} == {found_by}
    assert words in faults(found)[found_by]
    assert "FAILED" in str(found) and "FAULT" in str(found)
    assert f"FAILED: {', '.join(faults(found))}" in repr(found)


def test_a_seed_is_a_fault():
    found = faults(audit(fitted(GRRSanitizer, random_state=3), n=5_000, random_state=0))
    assert set(found) == {"random_state", "repeats"}
    assert "random_state=" in found["random_state"]
    assert "two calls report the same records too similarly" in found["repeats"]


# --- Sound sanitizers ----------------------------------------------------------------------------


# False alarms: at most 1e-3 each.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "encode", "parameters"),
    [
        (SRRSanitizer, None, {}),
        (PolyOptSanitizer, "posterior", {}),
        (RobustMSESanitizer, None, {}),
    ],
)
def test_sound_sanitizers_pass(cls, encode, parameters):
    sanitizer = fitted(cls, encode, **parameters)
    found = audit(sanitizer, n=4_000, level=0.999, random_state=1)
    assert found.passed, str(found)
    assert 0.0 <= found.eps <= found.eps_claimed == sanitizer.certificate_.eps
    assert found.subject == cls.__name__
    assert "no fault found" in str(found)


def test_frames_are_audited_with_all_their_columns():
    """Several columns of S and of U, of all kinds, one with missing values. False alarms: 1e-3."""
    rng = np.random.default_rng(5)
    n = 400
    table = pl.DataFrame(
        {
            "kind": pl.Series(rng.choice(["a", "b"], n).tolist(), dtype=pl.Categorical),
            "ill": rng.random(n) < 0.4,
            "day": rng.choice([date(2020, 1, 1), date(2021, 5, 5)], n).tolist(),
            "count": rng.choice([1, 2, None], n).tolist(),
        }
    )
    sanitizer = GRRSanitizer(eps=2.0, sensitive=["kind", "ill"]).fit(table)
    found = audit(FrozenEstimator(sanitizer), n=4_000, level=0.999, random_state=0)
    assert found.passed, str(found)
    (bound,) = found.bounds
    assert bound.claim.secret == ("kind", "ill") and len(bound.event[0]) == 4
    assert bound.secrets[0] in sanitizer.joint_.secrets


@pytest.mark.slow
def test_many_cells_are_looked_at_in_part():
    """Four weights rather than a matrix: 3,000 cells. False alarms: 1e-3."""
    rows = [[s, u] for s in range(30) for u in range(100)]
    noisy = type("Noisy", (Noiseless, GRRSanitizer), {})
    sound, faulty = (cls(eps=3.0, sensitive=0).fit(rows) for cls in (GRRSanitizer, noisy))
    found = audit(sound, n=10_000, level=0.999, random_state=0)
    assert found.passed, str(found)
    found = faults(audit(faulty, n=10_000, level=0.999, random_state=0))
    assert "were expected" in found["mechanism"]


# --- Claims --------------------------------------------------------------------------------------


CELLS = list(itertools.product(("no", "yes"), ("p", "q", "r"), (0, 1)))
OF_CELLS = [90, 40, 30, 70, 20, 60, 35, 80, 85, 25, 55, 45]


class NoiselessNow(RobustMSESanitizer):
    """Sends a third of the records as they are."""

    def transform(self, X):
        reports = super().transform(X)
        bare = np.random.default_rng(0).random(len(reports)) < 1 / 3
        reports[bare] = np.asarray(X, dtype=object)[bare][:, 1:]
        return reports


def test_every_claim_is_tested_by_a_bound_of_its_own():
    """The first is about the report alone. False alarms: 1e-4."""
    found = RobustMSESanitizer(
        0.05,
        sensitive=0,
        observer_columns=[1],
        uncertainty=RenyiBall(1.0, radius=0.01),
        distance="hamming",
        robust_utility=False,
    )
    sanitizer = found.fit(CELLS, sample_weight=OF_CELLS)
    options = {"n": 20_000, "level": 0.9999, "random_state": 0}
    found, proof = audit(sanitizer, **options), sanitizer.certificate_
    assert found.passed, str(found)
    assert [bound.claim for bound in found.bounds] == [proof.claims.main, proof.claims.known]
    assert (found.eps, found.eps_claimed) == (found.bounds[0].eps, proof.eps)
    assert claim_in_words(found.bounds[1].claim) in " ".join(str(found).split())
    faulty = NoiselessNow.__new__(NoiselessNow)
    faulty.__dict__.update(sanitizer.__dict__)
    wrong = audit(faulty, **options)
    checks = [check for check in wrong.findings if check.name == "bound"]
    for check, bound in zip(checks, wrong.bounds, strict=True):
        assert claim_in_words(bound.claim) in check.message and bound.eps > bound.claim.eps
        assert check.p_value == pytest.approx(1e-4 / 4.0)  # half for the bounds, half for each


# --- Levels --------------------------------------------------------------------------------------


def test_false_alarms_and_coverage():
    """Of 100 audits at level 0.8 at most a fifth may alarm, and a tenth bound too much.

    Each of the three checks of reports has a third of a tenth, because they share it.

    For a fresh seed either count passes the limits below with probability below 1e-6, even if the
    rates are as high as they may be.
    """
    mechanism = fitted(SRRSanitizer, eps=0.7).mechanism_
    places = {record: place for place, record in enumerate(map(tuple, ROWS))}

    def sampled(records):
        return mechanism.sample([places[tuple(record)] for record in records.tolist()])

    options = {"distribution": JOINT, "mechanism": mechanism, "level": 0.8}
    audits = [audit(sampled, n=400, random_state=seed, **options) for seed in range(100)]
    alarms = sum(not found.passed for found in audits)
    excess = sum(found.eps > found.eps_claimed + 1e-12 for found in audits)
    assert alarms <= binom.isf(1e-6, 100, 0.2)
    assert excess <= binom.isf(1e-6, 100, 0.1)
    checks = [check for audited in audits for check in audited.checks if check.name != "bound"]
    assert {check.passed == (check.p_value > 0.1 / 3) for check in checks} == {True}


def test_bounds_where_nothing_leaks():
    """A bound above 0 is an error: 200 at 0.3 pass with chance 1 - 1e-6 for a fresh seed."""
    rng = np.random.default_rng(1)
    joint = JointDistribution([[1], [1]], [0, 1], ["u"])
    box, (claim,) = auditing._of_function(
        lambda records: rng.choice(3, len(records), p=[0.02, 0.5, 0.48]), joint, None, None
    )
    groups = auditing._groups(box, claim, rng)
    found = [auditing._bound_leakage(box, claim, groups, 2_000, 0.3, rng) for _ in range(200)]
    assert sum(bound.eps > 0.0 for bound in found) <= binom.isf(1e-6, 200, 0.3)
    assert all(len(bound.event) < 3 for bound in found)  # all reports together tell nothing


def test_evidence_is_an_average_of_likelihood_ratios():
    """Over all samples, each times its probability, it adds up to 1, so Markov's bound holds."""
    expected, places, total = np.array([[0.25, 0.5], [0.75, 0.5]]), np.array([0, 0, 0, 1, 1]), 0.0
    for reports in itertools.product((0, 1), repeat=5):
        pairs, counts = np.unique(np.array(reports) * 2 + places, return_counts=True)
        found = auditing._evidence(expected, *np.divmod(pairs, 2), counts)
        total += np.exp(found) * expected[reports, places].prod()
    assert total == pytest.approx(1.0, rel=1e-9)


def test_impossible_reports_are_certain():
    """A report of probability 0 is a fault however seldom it comes."""
    matrix = np.full((6, 6), 0.25)
    matrix[:2] = 0.0
    box, _ = auditing._of_function(len, JOINT, Mechanism.from_matrix(matrix, (0, 1), (0, 1, 2)), 1)
    places, reports = np.repeat(np.arange(6), 50), np.tile(np.arange(2, 6), 75)
    assert _check_mechanism(box, np.arange(6), places, reports)[0] == 1.0
    reports[7] = 1
    p_value, words = _check_mechanism(box, np.arange(6), places, reports)
    assert (p_value, words) == (
        0.0, "report 1 of cell (0, 0) came 1 times in 50, where 0.0 were expected"
    )  # fmt: skip


def test_the_coins_that_are_tossed():
    """Seven heads, two tails; where both reports of a pair agree with x, or none, there is none."""
    first = np.repeat([0] * 7 + [1] * 2 + [0] * 5, 2)
    second = np.array([[0, 1]] * 7 + [[0, 1]] * 2 + [[0, 0]] * 3 + [[1, 2]] * 2).ravel()
    assert _check_repeats(first, second) == pytest.approx(binom.sf(6, 9, 0.5), rel=1e-12)
    assert _check_repeats(first, second.reshape(-1, 2)[:, ::-1].ravel()) == pytest.approx(
        binom.sf(1, 9, 0.5), rel=1e-12
    )
    assert _check_repeats(first[18:], second[18:]) == 1.0


@pytest.mark.parametrize("miss", [0.01, 1e-30])
@pytest.mark.parametrize(("count", "total"), [(0, 50), (1, 50), (50, 50)])
def test_bounds_of_probabilities_are_where_what_was_seen_is_just_too_unlikely(count, total, miss):
    low, high = _clopper_pearson(count, total, miss)
    if count:
        assert binom.sf(count - 1, total, low) == pytest.approx(miss, rel=1e-6, abs=0.0)
    if count < total:
        assert binom.cdf(count, total, high) == pytest.approx(miss, rel=1e-6, abs=0.0)
    assert (low == 0.0) == (count == 0) and (high == 1.0) == (count == total)


# --- Unknown values ------------------------------------------------------------------------------


OTHERS = [[s, u] for s in ("no", "yes") for u in ("high", "low", "mid", "rare")]


class TellsTheSecret:
    """Of records with values that it does not know, each report says what the secret is."""

    def transform(self, X):
        X, reports = np.asarray(X), np.array(super().transform(X))
        strange = ~np.isin(X[:, 1], [u for u in self.joint_.values if isinstance(u, str)])
        last = self.mechanism_.shape[0] - 1
        reports[strange] = np.where(X[strange, 0] == "yes", last, 0)[:, None]
        return reports


def with_others(cls, **parameters):
    sanitizer = cls(eps=1.0, sensitive=0, encode="symbol", **parameters)
    return sanitizer.fit(OTHERS, sample_weight=[900, 500, 600, 20, 400, 900, 700, 30])


# Unknown values are reported by symbols that known ones have as well, so that only their
# frequencies tell. The broken one is found for certain (64 reports), the sound one passes with
# probability above 1 - 1e-4.
def test_unknown_values_are_reported_as_the_fit_says():
    parameters = {"handle_unknown": "infrequent_if_exist"}
    options = {"n": 400, "level": 0.9999, "random_state": 0}
    sound = audit(with_others(GRRSanitizer, **parameters), **options)
    assert sound.passed, str(sound)
    broken = type("Broken", (TellsTheSecret, GRRSanitizer), {})
    found = faults(audit(with_others(broken, **parameters), **options))
    assert set(found) == {"unknown"}
    assert "its reports do not follow the mechanism" in found["unknown"]


# --- Functions -----------------------------------------------------------------------------------


def test_a_function_and_its_claim():
    """Leakage: the odds of randomised response times those of U, at most log 3 + log 3.

    False alarms and misses: below 1e-3.
    """

    def in_clear(records):
        return np.column_stack([response(records), records[:, 1]])

    joint = JointDistribution([[30, 10, 20], [10, 30, 20]], (0, 1), (0, 1, 2))
    options = {"n": 20_000, "distribution": joint, "level": 0.999, "random_state": 0}
    found = audit(in_clear, eps=np.log(9.0), **options)
    assert found.passed and 1.8 < found.eps < np.log(9.0)
    assert found.subject.endswith("in_clear")
    tight = faults(audit(in_clear, eps=1.5, **options))
    assert set(tight) == {"bound"} and "told apart by more than the claim" in tight["bound"]
    assert np.isinf(audit(in_clear, **options).eps_claimed)
    passes = faults(audit(lambda records: records, **options))
    assert set(passes) == {"unknown"} and "passes through" in passes["unknown"]


@pytest.mark.parametrize(
    "form",
    [
        lambda lies: pd.Series(lies),
        lambda lies: np.where(lies, np.nan, -0.0)[:, None],
        lambda lies: pd.DataFrame({"s": np.where(lies, None, "x")}),
    ],
)
def test_the_bound_counts_reports_of_every_form(form):
    """Misses: below 1e-3."""
    options = {"n": 20_000, "distribution": JOINT, "random_state": 0}
    found = audit(lambda records: form(response(records)), **options)
    assert found.passed, str(found)
    assert 0.85 < found.eps < np.log(3.0)


def test_functions_with_a_mechanism():
    """Swapped secrets leak no more; only the mechanism tells. False alarms: at most 1e-3."""
    matrix = np.array([[0.7, 0.7, 0.7, 0.4, 0.4, 0.4], [0.3, 0.3, 0.3, 0.6, 0.6, 0.6]])
    mechanism = Mechanism.from_matrix(matrix, (0, 1), (0, 1, 2))

    def sampler(swapped):
        def report(records):
            response(records)  # unknown values are refused
            lies = fresh().random(len(records)) < np.where(records[:, 0] == swapped, 0.3, 0.6)
            return pd.DataFrame({"report": lies.astype(int)})

        return report

    options = {"n": 20_000, "distribution": JOINT, "level": 0.999, "random_state": 0}
    found = audit(sampler(0), mechanism=mechanism, **options)
    assert found.passed and found.eps <= found.eps_claimed
    assert found.eps_claimed == pytest.approx(np.log(2.0), rel=1e-6)
    assert set(faults(audit(sampler(1), mechanism=mechanism, **options))) == {"mechanism"}
    foreign = faults(audit(lambda records: sampler(0)(records) + 1, mechanism=mechanism, **options))
    assert "not the mechanism's, such as 2" in foreign["mechanism"]
    with pytest.raises(ValueError, match="the mechanism's secrets and values"):
        other = JointDistribution(COUNTS, ("a", "b"), (0, 1, 2))
        audit(sampler(0), mechanism=mechanism, distribution=other)


def test_reports_that_are_all_different_are_refused():
    """Nothing can be counted of them: raw records with a last digit of their own would pass."""
    rng = np.random.default_rng(0)

    def report(records):
        return records[:, 0] + rng.normal(0.0, 1e-6, size=len(records))

    with pytest.raises(ValueError, match="reports are unique, so there is nothing to"):
        audit(report, n=2_000, distribution=JOINT, eps=1.0, random_state=0)


# --- The object, and bad input -------------------------------------------------------------------


def test_audits_with_a_random_state_are_repeated():
    again = audit(lambda X: X[:, 1], n=3_000, distribution=JOINT, random_state=5)
    assert str(again) == str(audit(lambda X: X[:, 1], n=3_000, distribution=JOINT, random_state=5))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"n": 0}, "n=0 must be an integer"),
        ({"n": 150}, "n=150 records are too few for 2 groups of secrets.* n=200"),
        ({"eps": -1}, "eps=-1 must be"),
        ({"eps": 1.0}, "functions. Omit them"),
        ({"level": 1.0}, "level=1.0 must be a number between"),
    ],
)
def test_bad_parameters(parameters, said):
    with pytest.raises(ValueError, match=said):
        audit(fitted(GRRSanitizer), **parameters)


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (GRRSanitizer, r"got GRRSanitizer: write GRRSanitizer\(\).fit\(X\)"),
        (FunctionTransformer(), "audit its transform"),
        (
            BlockSanitizer(base=GRRSanitizer(), sensitive=0),
            "each block's sanitizer in sanitizers_",
        ),
    ],
)
def test_nothing_to_audit(candidate, said):
    with pytest.raises(TypeError, match=said):
        audit(candidate)


@pytest.mark.parametrize(
    ("function", "joint", "error", "said"),
    [
        (response, None, ValueError, "Pass distribution=JointDistribution"),
        (lambda records: records[:-1], JOINT, ValueError, "one report for each record"),
        (lambda records: None, JOINT, TypeError, "must be a table .* got 0D array"),
        (response, JointDistribution(COUNTS, ["a", ("b", 1)]), ValueError, "different lengths"),
        (
            response,
            JointDistribution([[1, 2, 3], [0, 0, 0]], (0, 1), (0, 1, 2)),
            ValueError,
            "only one secret",
        ),
    ],
)
def test_bad_functions(function, joint, error, said):
    with pytest.raises(error, match=said):
        audit(function, n=1_000, distribution=joint)
