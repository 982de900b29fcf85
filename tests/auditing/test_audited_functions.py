"""Audits of functions that are no sanitizers, their result, and what they refuse."""

import numpy as np
import pandas as pd
import pytest
from audited import DISTRIBUTION, message, names
from fitted_once import COUNTS, fitted
from responses import fresh
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skrldp import (
    BlockSanitizer,
    GRRSanitizer,
    JointDistribution,
    audit,
)
from skrldp._numbers import at_least, at_most
from skrldp.auditing._report_index import ReportIndex
from skrldp.auditing._subject import strange_values

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = [
    pytest.mark.usefixtures("fixed_entropy"),
    pytest.mark.filterwarnings("ignore:the values of U were learned"),
]

WIDE = BlockSanitizer(base=GRRSanitizer()).fit([["no", 1, 2], ["yes", 2, 1], ["no", 2, 2]])


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


def test_frames_of_symbols_follow_a_mechanism():
    sanitizer = GRRSanitizer().fit([["no", 0], ["no", 1], ["yes", 0], ["yes", 1]])
    mechanism, names = sanitizer.mechanism_, sanitizer.joint_

    def report(records):
        secrets, values = (records[:, 0] == "yes") * 1, records[:, 1].astype(int)
        assert set(records[:, 0]) <= {"no", "yes"} and set(values) <= {0, 1}
        return pd.DataFrame({"report": mechanism.sample(2 * secrets + values)})

    distribution = JointDistribution(np.ones((2, 2), int), names.secrets, names.values)
    options = {"distribution": distribution, "mechanism": mechanism, "random_state": 0}
    assert audit(report, n=2_000, level=0.9999, **options).passed


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
        calls=10,
        random_state=0,
    )
    assert not {"bound", "repeats", "runs"} & names(found)
    for last in (pipeline[-1], pipeline, FrozenEstimator(pipeline)):
        alone = audit(last, n=5_000, level=0.999, calls=10, random_state=0)
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
        (WIDE.manifest_, "got Manifest: audit the sanitizers of its blocks, sanitizers_"),
        (WIDE, "got BlockSanitizer: audit the sanitizers of its blocks, sanitizers_"),
        (make_pipeline(WIDE), "got Pipeline: audit the sanitizers of its blocks, sanitizers_"),
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
