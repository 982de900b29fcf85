"""Audits: bounds that hold, planted faults that are found, and sound sanitizers that pass.

Randomness from the operating system is replaced by a fixed generator, so that every test is
deterministic. Where a test is statistical, the comment gives its chance to fail for a fresh seed.
"""

import copy
import os

import numpy as np
import pandas as pd
import pytest
from fitted_once import COUNTS, fitted
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skrldp import (
    GRRSanitizer,
    IRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    Mechanism,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
    audit,
)
from skrldp._numbers import at_least, at_most
from skrldp.auditing._likelihood_ratios import check_mechanism
from skrldp.auditing._report_index import ReportIndex
from skrldp.auditing._subject import SanitizerSubject, strange_values
from skrldp.sanitizers import codec_of, write_reports

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = [
    pytest.mark.usefixtures("fixed_entropy"),
    pytest.mark.filterwarnings("ignore:the values of U were learned"),
]

DISTRIBUTION = JointDistribution(
    [[30, 10, 20], [10, 30, 20]], ["no", "yes"], ["low", "mid", "high"]
)


def fresh():
    """A generator that is seeded from what stands for the operating system."""
    return np.random.default_rng(list(os.urandom(16)))


def names(found):
    return {check.name for check in found.findings}


def message(found, name):
    return next(check.message for check in found.checks if check.name == name)


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
@pytest.mark.parametrize("base", [GRRSanitizer, PolyOptSanitizer])
@pytest.mark.parametrize(
    ("fault", "found_by", "words"),
    [
        (Noiseless, "mechanism", "without noise"),
        (Swapped, "mechanism", "0 and 1 seem to be swapped"),
        (PassesOn, "unknown", "unknown value"),
        (Seeded, "repeats", "two calls report the same records too similarly"),
        (Restarted, "runs", "1,000 apart"),
        (Stateful, "copies", "two copies report alike"),
    ],
)
def test_planted_faults_are_found(base, fault, found_by, words):
    faulty = type(f"Faulty{base.__name__}", (fault, base), {})
    found = audit(fitted(faulty, eps=1.0), n=50_000, random_state=0)
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

    found = audit(Shuffled(eps=1.0).fit(rows), n=20_000, random_state=0)
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
    found = audit(sanitizer, n=4_000, level=0.999, random_state=1)
    assert found.passed, str(found)
    assert 0.0 <= found.eps <= found.eps_claimed == sanitizer.certificate_.eps
    assert found.subject == cls.__name__
    assert "no fault found" in str(found)


# False alarms: at most 1e-3 each.
@pytest.mark.parametrize("cls", [GRRSanitizer, PolyOptSanitizer, RobustMSESanitizer])
@pytest.mark.parametrize("encode", ["symbol", "onehot", "posterior", "cells"])
def test_reports_in_every_encoding(cls, encode):
    found = audit(fitted(cls, encode=encode), n=4_000, level=0.999, random_state=1)
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
    found = audit(FrozenEstimator(sanitizer), n=10_000, level=0.999, random_state=0)
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
    found = audit(sound, n=20_000, level=0.999, random_state=0)
    assert found.passed, str(found)
    found = audit(faulty, n=20_000, level=0.999, random_state=0)
    assert "mechanism" in names(found)
    words = message(found, "mechanism")  # 5 % lies between two of the shares that are tried
    assert words.startswith(("about 5% of", "about 6% of")), words


# --- Distributions and claims
# -----------------------------------------------------------------------------


def test_distributions_of_a_sanitizer():
    sanitizer = fitted(PolyOptSanitizer, eps=0.5)
    outside = np.array([[0.98, 0.01, 0.01], [0.01, 0.01, 0.98]]) / 2.0
    found = audit(sanitizer, n=20_000, distribution=outside, random_state=0)
    leaks = sanitizer.mechanism_.leakage(outside)
    # Outside the set there is no promise to break, but the mechanism's own leakage is known.
    assert found.passed and found.eps_claimed == pytest.approx(leaks) and leaks > 1.0
    assert found.eps > sanitizer.certificate_.eps
    np.testing.assert_allclose(found.distribution, outside)
    inside = audit(sanitizer, n=20_000, distribution=sanitizer.joint_, random_state=0)
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


# --- Functions -----------------------------------------------------------------------------------


def response(records, p=0.75):
    """Randomised response to the secret, U in clear."""
    records, rng = np.array(records), fresh()
    lie = rng.random(len(records)) > p
    records[lie, 0] = np.where(records[lie, 0] == "yes", "no", "yes")
    return records


def test_a_function_and_its_claim():
    """Leakage at DISTRIBUTION: the odds of randomised response times those of U, log 3 + log 3.

    False alarms and misses: below 1e-3.
    """
    found = audit(
        response, n=20_000, distribution=DISTRIBUTION, eps=np.log(9.0), level=0.999, random_state=0
    )
    assert names(found) == {"unknown"}  # it never looks at what U is
    assert "contain it" in message(found, "unknown")
    checked = audit(
        _only_known(response), n=20_000, distribution=DISTRIBUTION, eps=np.log(9.0), random_state=0
    )
    assert checked.passed and 1.8 < checked.eps < np.log(9.0)
    assert checked.subject.endswith("refusing")
    tight = audit(
        _only_known(response), n=20_000, distribution=DISTRIBUTION, eps=1.5, random_state=0
    )
    assert names(tight) == {"bound"} and "told apart" in message(tight, "bound")
    assert np.isnan(audit(_only_known(response), n=5_000, distribution=DISTRIBUTION).eps_claimed)


def _only_known(function):
    def refusing(records):
        if not (
            np.isin(records[:, 0], DISTRIBUTION.secrets)
            & np.isin(records[:, 1], DISTRIBUTION.values)
        ).all():
            raise KeyError("unknown")
        return function(records)

    return refusing


@pytest.mark.parametrize(
    "form",
    [
        lambda rows: rows.tolist(),
        lambda rows: pd.DataFrame(rows),
        lambda rows: pd.DataFrame(rows).iloc[:, 0],
        lambda rows: (rows[:, 0] == "yes").astype(float),
        lambda rows: (rows[:, 0] == "yes").tolist(),
        lambda rows: np.where(rows == "yes", np.nan, -0.0)[:, :1],
        lambda rows: pd.DataFrame({"s": np.where(rows[:, 0] == "yes", None, "x")}),
    ],
)
def test_reports_of_every_form(form):
    """The bound counts reports, whatever they look like. Misses: below 1e-3."""
    found = audit(
        _only_known(lambda records: form(response(records))),
        n=20_000,
        distribution=DISTRIBUTION,
        random_state=0,
    )
    assert found.passed, str(found)
    assert 0.85 < found.eps < np.log(9.0)


def test_functions_that_show_unknown_values():
    """A code of its own for unknown values tells them from all others."""
    known = {"low": 0, "mid": 1, "high": 2}

    def coded(records):
        values = np.array([known.get(u, -1) for u in records[:, 1]])
        noise = fresh().random(len(values)) < 0.5
        values[noise & (values >= 0)] = 1
        return values

    found = audit(coded, n=20_000, distribution=DISTRIBUTION, random_state=0)
    assert "come from no known record" in message(found, "unknown")
    assert np.isinf(found.eps)


def test_functions_that_draw_the_same():
    def seeded(records):
        return np.random.default_rng(0).random(len(records)) < 0.4

    found = audit(seeded, n=2_000, distribution=DISTRIBUTION, random_state=0)
    assert names(found) == {"repeats", "calls"}


def test_pipelines():
    """A pipeline stands for its last step; its transform is a function. False alarms: 1e-3."""
    steps = FunctionTransformer(lambda X: (X == "yes") * 1 + (X == "mid") * 1), GRRSanitizer(eps=1)
    rows = np.array([["no", "low"], ["no", "mid"], ["yes", "low"], ["yes", "mid"]], dtype=object)
    pipeline = make_pipeline(*steps).fit(rows)
    distribution = JointDistribution([[3, 1], [1, 3]], ["no", "yes"], ["low", "mid"])
    found = audit(
        pipeline.transform,
        n=20_000,
        distribution=distribution,
        eps=1.0,
        level=0.999,
        random_state=0,
    )
    assert not {"bound", "repeats", "runs"} & names(found)
    for last in (pipeline[-1], pipeline, FrozenEstimator(pipeline)):
        alone = audit(last, n=5_000, level=0.999, random_state=0)
        assert alone.passed and set(alone.secrets) == {0, 1}  # what the last step is given
    with pytest.raises(TypeError, match=r"audit\(pipeline\.transform.*step that is a sanitizer"):
        audit(make_pipeline(*steps, FunctionTransformer()))


# --- The object ----------------------------------------------------------------------------------


def test_repeatable_for_a_function_without_noise():
    one, two = (
        audit(lambda records: records[:, 1], n=3_000, distribution=DISTRIBUTION, random_state=5)
        for _ in range(2)
    )
    assert str(one) == str(two)


def test_the_result_is_one_story():
    found = audit(fitted(GRRSanitizer, eps=1.0), n=10_000, random_state=0)
    shares = np.array(found.counts) / found.totals
    assert found.eps_estimate == pytest.approx(np.log(shares[0] / shares[1]))
    assert found.eps < found.eps_estimate
    assert [check.name for check in found.checks] == [
        "bound", "mechanism", "repeats", "copies", "runs", "calls", "processes", "unknown",
        "random_state",
    ]  # fmt: skip
    assert all(check.passed for check in found.checks)
    assert f"at least {at_least(found.eps, '.4f')}" in str(found)
    assert f"at most {at_most(found.eps_claimed, '.4f')}" in str(found)
    assert sum(found.totals) < found.n
    with pytest.raises(AttributeError):
        found.eps = 0.0


def test_html_escapes_names():
    distribution = JointDistribution([[3, 1], [1, 3]], ["<script>", "&"], ["<b>", "c"])
    found = audit(lambda records: records, n=2_000, distribution=distribution)
    page = found._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert page.count("<tr>") == page.count("</tr>") == 3 + len(found.checks) + 1


# --- Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"n": 0}, "n=0 must be a whole number"),
        ({"n": 1e5}, "n=100000.0 must be a whole number"),
        ({"n": True}, "n=True must be"),
        (
            {"n": 150},
            r"n=150 records are too few for 2 secrets and 2 distributions: give at least n=256",
        ),
        ({"eps": -1}, "eps=-1 must be"),
        ({"eps": float("nan")}, "eps=nan must be"),
        ({"level": 1.0}, "level=1.0 must be a confidence"),
        ({"level": "high"}, "level='high' must be"),
        ({"random_state": "x"}, "random_state='x' must be"),
        ({"random_state": -1}, "random_state=-1 must be"),
        ({"distribution": []}, "distribution is an empty list"),
        ({"distribution": [[0.5, 0.5]]}, r"must have shape \(2, 3\), got \(1, 2\)"),
        ({"distribution": "uniform"}, "distribution='uniform' must be an array"),
        ({"distribution": -COUNTS}, "finite probabilities >= 0"),
        ({"distribution": 0 * COUNTS}, "not all of them 0"),
        ({"distribution": JointDistribution(COUNTS, ["a", "b"])}, "are not those of the sanitizer"),
    ],
)
def test_bad_parameters(parameters, said):
    with pytest.raises(ValueError, match=said):
        audit(fitted(GRRSanitizer), **parameters)


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (None, "got NoneType"),
        (GRRSanitizer, r"got GRRSanitizer: write GRRSanitizer\(\).fit\(X\)"),
        (FunctionTransformer(), "audit its transform"),
    ],
)
def test_nothing_to_audit(candidate, said):
    with pytest.raises(TypeError, match=said):
        audit(candidate)


def test_not_fitted():
    for candidate in (GRRSanitizer(), FrozenEstimator(GRRSanitizer())):
        with pytest.raises(NotFittedError):
            audit(candidate)


@pytest.mark.parametrize(
    ("function", "distribution", "error", "said"),
    [
        (response, None, ValueError, "give distribution=JointDistribution"),
        (response, COUNTS, ValueError, "give distribution=JointDistribution"),
        (response, [DISTRIBUTION, JointDistribution(COUNTS)], ValueError, "the same secrets"),
        (lambda records: records[:-1], DISTRIBUTION, ValueError, "one report for each record"),
        (lambda records: None, DISTRIBUTION, TypeError, "must be a table, got NoneType"),
        (
            lambda records: [[1], [1, 2]] * (len(records) // 2),
            DISTRIBUTION,
            ValueError,
            "different lengths",
        ),
        (
            lambda records: [{"a": 1} for _ in records],
            DISTRIBUTION,
            TypeError,
            "cannot be compared",
        ),
        (response, JointDistribution(COUNTS, ["a", ("b", 1)]), ValueError, "different lengths"),
    ],
)
def test_bad_functions(function, distribution, error, said):
    with pytest.raises(error, match=said):
        audit(function, n=1_000, distribution=distribution)


# --- Small parts ---------------------------------------------------------------------------------


def test_equal_reports_have_equal_numbers():
    index = ReportIndex()
    polars = pytest.importorskip("polars")
    forms = [
        np.array([[1, 2], [3, 4]]),
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], dtype=object),
    ]
    for form in forms:
        assert index.add(form, 2).tolist() == [0, 1]
    assert index.row(1) == (3, 4)
    frames = [pd.DataFrame({"a": ["x", None]}), polars.DataFrame({"a": ["x", None]})]
    for frame in frames:
        assert index.add(frame, 2).tolist() == [2, 3]
    assert index.row(2) == "x" and index.row(3) is None
    assert index.add([[2**60], [2**60 + 1]], 2).tolist() == [4, 5]
    with pytest.raises(TypeError, match="lazy"):
        index.add(polars.LazyFrame({"a": [1]}), 1)


@pytest.mark.parametrize(
    "known",
    [
        ("a", "b"),
        ("no such value", None),
        (1, 5),
        (0.5, 2.5),
        (False, True),
        (pd.Timestamp("2020-01-01").to_pydatetime(), None),
        (pd.Timestamp("2020-01-01").date(),),
        (pd.Timedelta(days=1).to_pytimedelta(),),
        (1, "a"),
        (None,),
    ],
)
def test_strange_values_are_strange(known):
    strange = strange_values(known)
    assert not set(strange) & set(known)
    assert (None in strange) == (None not in known)
    assert any(value is not None for value in strange)
