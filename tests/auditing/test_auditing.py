"""Audits: planted faults that are found, and sound sanitizers that pass."""

import copy

import numpy as np
import pandas as pd
import pytest
from audited import message, names
from fitted_once import COUNTS, fitted
from responses import fresh
from sklearn.frozen import FrozenEstimator

from skrldp import (
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    Mechanism,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
    audit,
)
from skrldp.auditing._likelihood_ratios import check_mechanism
from skrldp.auditing._subject import SanitizerSubject
from skrldp.sanitizers import codec_of, write_reports

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = [
    pytest.mark.usefixtures("fixed_entropy"),
    pytest.mark.filterwarnings("ignore:the values of U were learned"),
]


# --- Planted faults ------------------------------------------------------------------------------


class Noiseless:
    """Leaves the noise out for 5 % of the records: they are sent as their likeliest report."""

    def transform(self, X):
        codes = codec_of(self).encode(X).cells(codec_of(self).n_values)
        reports = self.mechanism_.sample(codes).astype(np.int64)
        bare = fresh().random(len(reports)) < 0.05
        reports[bare] = self.mechanism_.matrix.argmax(axis=0)[codes[bare]]
        return write_reports(self, reports, X)


class Swapped:
    """Takes one secret for the other."""

    def transform(self, X):
        X = np.array(X, dtype=object)
        X[:, 0] = 1 - X[:, 0].astype(int)
        return super().transform(X.astype(int))


class PassesOn:
    """Sends records with unknown values as they are."""

    def transform(self, X):
        try:
            return super().transform(X)
        except ValueError:
            return np.asarray(X)


class Seeded:
    """Draws the same in every call."""

    def transform(self, X):
        twin = copy.copy(self)
        twin.random_state = np.random.RandomState(0)
        return super(Seeded, twin).transform(X)


class Restarted:
    """Starts its stream again every 1,000 records."""

    def transform(self, X):
        twin, seed = copy.copy(self), int(fresh().integers(2**31))
        twin.random_state = seed
        parts = [super(Restarted, twin).transform(X[i : i + 1000]) for i in range(0, len(X), 1000)]
        return np.concatenate(parts)


class Stateful:
    """Keeps a generator, which its copies continue as well."""

    _generator = None

    def transform(self, X):
        self._generator = self._generator or np.random.default_rng(7)
        twin = copy.copy(self)
        twin.random_state = self._generator
        return super(Stateful, twin).transform(X)


# Each is found with probability above 1 - 1e-9 at this n (the bets and coins are many standard
# deviations out; see benchmarks/bench_audit.py).
@pytest.mark.parametrize(
    ("fault", "base", "found_by", "words"),
    [
        # The one check that looks at the mechanism: by its matrix, and by few numbers.
        (Noiseless, GRRSanitizer, "mechanism", "without noise"),
        (Noiseless, PolyOptSanitizer, "mechanism", "without noise"),
        (Swapped, GRRSanitizer, "mechanism", "0 and 1 seem to be swapped"),
        (Swapped, PolyOptSanitizer, "mechanism", "0 and 1 seem to be swapped"),
        (PassesOn, GRRSanitizer, "unknown", "unknown value"),
        (Seeded, PolyOptSanitizer, "repeats", "two calls report the same records too similarly"),
        (Restarted, GRRSanitizer, "runs", "1,000 apart"),
        (Stateful, PolyOptSanitizer, "copies", "two copies report alike"),
    ],
)
def test_planted_faults_are_found(fault, base, found_by, words):
    faulty = type(f"Faulty{base.__name__}", (fault, base), {})
    found = audit(fitted(faulty, eps=1.0), n=50_000, calls=20, random_state=0)
    assert not found.passed
    assert found_by in names(found)
    assert words in message(found, found_by)
    assert np.isinf(found.eps) == (found_by == "unknown")
    assert "FAILED" in str(found) and "FAULT" in str(found)
    assert f"FAILED: {', '.join(check.name for check in found.findings)}" in repr(found)


def test_faults_that_the_bound_cannot_see():
    """Swapped secrets leak no more than before: only the bets tell."""

    class Faulty(Swapped, GRRSanitizer):
        pass

    found = audit(fitted(Faulty), n=20_000, random_state=0)
    assert names(found) == {"mechanism", "calls"}
    assert found.eps < found.eps_claimed


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ([3, 2, 1, 0], "in reverse order"),
        ([2, 1, 0], "0 and 2 seem to be swapped"),  # the reverse order of three is a swap
        ([0, 2, 1], "1 and 2 seem to be swapped"),
        ([1, 2, 0], "were expected"),
    ],
)
def test_secrets_in_another_order(order, words):
    """Misses: below 1e-9."""
    rows = [[s, u] for s in range(len(order)) for u in range(2)]

    class Shuffled(SRRSanitizer):
        def transform(self, X):
            return super().transform(np.column_stack([np.array(order)[X[:, 0]], X[:, 1]]))

    found = audit(Shuffled(eps=1.0).fit(rows), n=20_000, calls=20, random_state=0)
    assert words in message(found, "mechanism")


def test_a_fault_that_the_bound_sees():
    """Without any noise a report rules a secret out, and the bound grows as log(n)."""

    class Bare(GRRSanitizer):
        def transform(self, X):
            super().transform(X)  # unknown values are refused
            return np.asarray(X)

    small, large = (audit(fitted(Bare), n=n, random_state=0) for n in (2_000, 50_000))
    for found in (small, large):
        assert names(found) == {"bound", "mechanism", "calls"}
        assert np.isinf(found.eps_estimate)
    assert 3.0 < small.eps < large.eps - 2.0


@pytest.mark.parametrize("seed", [3, np.random.default_rng(0)])
def test_a_seed_is_a_fault(seed):
    found = audit(fitted(GRRSanitizer, random_state=seed), n=5_000, random_state=0)
    assert {"random_state", "copies"} <= names(found)
    assert "random_state=" in message(found, "random_state")
    assert ("repeats" in names(found)) == isinstance(seed, int)


@pytest.mark.parametrize(
    ("encode", "report"),
    [("cells", lambda X: np.zeros((len(X), 2))), ("symbol", lambda X: np.full((len(X), 1), 77))],
)
def test_reports_that_the_mechanism_does_not_have(encode, report):
    class Foreign(GRRSanitizer):
        def transform(self, X):
            super().transform(X)
            return report(X) + 100

    found = audit(fitted(Foreign, encode=encode), n=2_000, random_state=0)
    assert "not the mechanism's" in message(found, "mechanism")


def test_impossible_reports_are_certain():
    """A report of probability 0 is a fault however seldom it comes."""
    subject = SanitizerSubject.of(fitted(GRRSanitizer, encode="symbol"))
    matrix = np.full((6, 6), 0.25)
    matrix[:2] = 0.0
    subject.mechanism = Mechanism.from_matrix(matrix, (0, 1), (0, 1, 2))
    places = np.repeat(np.arange(6), 50)
    reports = np.tile(np.arange(2, 6), 75)
    assert check_mechanism(subject, np.arange(6), places, reports)[0] == 1.0
    reports[7] = 1
    p_value, words = check_mechanism(subject, np.arange(6), places, reports)
    assert p_value == 0.0
    assert words == "report 1 comes from cell (0, 0), which never makes it"


# --- Sound sanitizers ----------------------------------------------------------------------------


SOUND = [
    (GRRSanitizer, {}),
    (SRRSanitizer, {}),
    (IRSanitizer, {}),
    (IRSanitizer, {"underlying": "optimal"}),
    (PolyOptSanitizer, {}),
    (NonRobustSanitizer, {}),
    (RobustMSESanitizer, {}),
    (RobustMSESanitizer, {"robust_privacy": False}),
    (PolyOptSanitizer, {"observe": "nonsensitive"}),
    (RobustMSESanitizer, {"observe": "nonsensitive", "handle_unknown": "impute"}),
    (PolyOptSanitizer, {"handle_unknown": "impute"}),
]


# False alarms: at most 1e-3 each.
@pytest.mark.parametrize(("cls", "parameters"), SOUND)
def test_sound_sanitizers_pass(cls, parameters):
    sanitizer = fitted(cls, **parameters)
    found = audit(sanitizer, n=4_000, level=0.999, calls=20, random_state=1)
    assert found.passed, str(found)
    assert 0.0 <= found.eps <= found.eps_claimed == sanitizer.certificate_.eps
    assert found.subject == cls.__name__
    assert "no fault found" in str(found)


# False alarms: at most 1e-3 each. RobustMSESanitizer has rules of its own for a report's form.
@pytest.mark.parametrize(
    ("cls", "encode"),
    [
        (GRRSanitizer, "onehot"),
        (PolyOptSanitizer, "symbol"),
        (PolyOptSanitizer, "posterior"),
        (PolyOptSanitizer, "cells"),
        (RobustMSESanitizer, "symbol"),
        (RobustMSESanitizer, "cells"),
    ],
)
def test_reports_in_every_encoding(cls, encode):
    found = audit(fitted(cls, encode=encode), n=4_000, level=0.999, calls=20, random_state=1)
    assert found.passed, str(found)


@pytest.mark.parametrize(
    ("library", "output"),
    [("pandas", "default"), ("polars", "default"), ("pyarrow", "default"), ("polars", "pandas")],
)
def test_frames_of_every_library(library, output):
    """Several columns of S and of U, of all kinds, one with missing values. False alarms: 1e-3."""
    rng = np.random.default_rng(5)
    n = 400
    table = pd.DataFrame(
        {
            "kind": pd.Categorical(rng.choice(["a", "b"], n)),
            "ill": rng.random(n) < 0.4,
            "day": pd.to_datetime(rng.choice(["2020-01-01", "2021-05-05"], n)),
            "count": pd.array(rng.choice([1, 2, None], n).tolist(), dtype="Int64"),
            "weight": rng.choice([0.5, 1.5], n),
        }
    )
    if library == "polars":
        table = pytest.importorskip("polars").from_pandas(table)
    elif library == "pyarrow":
        table = pytest.importorskip("pyarrow").Table.from_pandas(table)
    sanitizer = GRRSanitizer(eps=2.0, sensitive=["kind", "ill"]).fit(table)
    sanitizer.set_output(transform=output)
    found = audit(FrozenEstimator(sanitizer), n=4_000, level=0.999, calls=10, random_state=0)
    assert found.passed, str(found)
    assert found.secrets[0] in sanitizer.joint_.secrets
    assert len(found.event[0]) == 5


def test_many_cells_are_looked_at_in_part():
    """Four weights rather than a matrix: 6,400 cells. False alarms: 1e-3."""
    rows = [[s, u] for s in range(40) for u in range(160)]

    class Noisy(GRRSanitizer):
        def transform(self, X):
            reports, X = super().transform(X), np.asarray(X)
            bare = fresh().random(len(X)) < 0.05
            reports[bare] = X[bare]
            return reports

    sound, faulty = (cls(eps=3.0).fit(rows) for cls in (GRRSanitizer, Noisy))
    found = audit(sound, n=20_000, level=0.999, calls=10, random_state=0)
    assert found.passed, str(found)
    found = audit(faulty, n=20_000, level=0.999, calls=10, random_state=0)
    assert "mechanism" in names(found)
    words = message(found, "mechanism")  # 5 % lies between two of the shares that are tried
    assert words.startswith(("about 5% of", "about 6% of")), words


# --- Distributions and claims --------------------------------------------------------------------


def test_distributions_of_a_sanitizer():
    sanitizer = fitted(PolyOptSanitizer, eps=0.5)
    outside = np.array([[0.98, 0.01, 0.01], [0.01, 0.01, 0.98]]) / 2.0
    found = audit(sanitizer, n=20_000, distribution=outside, calls=10, random_state=0)
    leaks = sanitizer.mechanism_.leakage(outside)
    # Outside the set there is no promise to break, but the mechanism's own leakage is known.
    assert found.passed and found.eps_claimed == pytest.approx(leaks) and leaks > 1.0
    assert found.eps > sanitizer.certificate_.eps
    np.testing.assert_allclose(found.distribution, outside)
    inside = audit(sanitizer, n=20_000, distribution=sanitizer.joint_, calls=10, random_state=0)
    assert inside.eps_claimed == sanitizer.certificate_.eps
    several = audit(
        sanitizer,
        n=20_000,
        distribution=[outside.tolist(), COUNTS, sanitizer.joint_],
        random_state=0,
    )
    np.testing.assert_allclose(several.distribution, outside)  # where most leaks
    assert several.eps > 1.0
    assert "bound" in names(
        audit(sanitizer, n=20_000, distribution=outside, eps=0.5, random_state=0)
    )


def test_secrets_without_mass_are_left_out():
    rows = [[s, u] for s in range(3) for u in range(2)]
    sanitizer = PolyOptSanitizer(uncertainty=LikelihoodRatioSet(region="lower")).fit(
        rows, sample_weight=[9, 4, 5, 8, 0, 0]
    )
    distribution = np.array([[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]])
    found = audit(sanitizer, n=5_000, distribution=distribution, level=0.999, random_state=0)
    assert found.passed and set(found.secrets) == {0, 1}
    with pytest.raises(ValueError, match="one secret only"):
        audit(sanitizer, distribution=[[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
