"""What a user may get wrong without noticing: weights, the protected column, limits, names."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations
from hypothesis import given, settings
from hypothesis import strategies as st
from regions import lower
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer

from skrldp import (
    AOptimalSanitizer,
    BlockSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    MechanismDisplay,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
    audit,
    privacy_report,
)
from skrldp.sanitizers.access import as_sanitizer, changes_since_fit

SANITIZERS = [
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
]
ROWS = np.array([[s, u] for s in range(2) for u in range(3)])
COUNTS = [120, 60, 90, 50, 140, 80]
RECORDS = np.repeat(ROWS, COUNTS, axis=0)
FRAME = pd.DataFrame(RECORDS, columns=["race", "visits"])


# --- Weights are counts --------------------------------------------------------------------------


def test_survey_weights_are_refused():
    """As Adult's fnlwgt: records that repeat, and how many people each represents."""
    rng = np.random.default_rng(0)
    weights = rng.integers(12_285, 1_484_705, len(RECORDS))
    message = (
        rf"sample_weight sums to {weights.sum():,} for 540 rows, 534 of which repeat others, "
        "but must be counts of records. Give survey weights"
    )
    for table in (RECORDS, FRAME):
        sanitizer = IRSanitizer(sensitive=0)
        with pytest.raises(ValueError, match=message):
            sanitizer.fit(table, sample_weight=weights)
        assert not hasattr(sanitizer, "mechanism_")
    with pytest.raises(ValueError, match=r"sums to 54,000 for 540 rows"):  # one weight for all
        IRSanitizer(sensitive=0).fit(RECORDS, sample_weight=100)


def test_a_table_of_distinct_rows_is_counted_elsewhere():
    weights = np.array([77_516, 83_311, 215_646, 234_721, 338_409, 284_582])
    joint = SRRSanitizer(sensitive=0).fit(ROWS, sample_weight=weights).joint_
    assert joint.counts.ravel().tolist() == weights.tolist()
    # Rows that stand for no record do not count, however often they are there.
    again = np.vstack([ROWS, ROWS]), np.concatenate([weights, np.zeros(6)])
    assert SRRSanitizer(sensitive=0).fit(again[0], sample_weight=again[1]).joint_.n == weights.sum()


@settings(max_examples=30)
@given(
    weights=st.lists(st.integers(0, 1000), min_size=12, max_size=12).filter(any),
    together=st.booleans(),
)
def test_added_up_or_few_weights_are_taken(weights, together):
    """Refused is what repeats rows and has over three records a row; added up, it is taken."""
    rows = np.vstack([ROWS, ROWS])
    added = np.add(weights[:6], weights[6:])
    repeated = any(a and b for a, b in zip(weights[:6], weights[6:], strict=True))
    if together:
        assert SRRSanitizer(sensitive=0).fit(ROWS, sample_weight=added).joint_.n == sum(weights)
    elif repeated and sum(weights) > 3 * np.count_nonzero(weights):
        with pytest.raises(ValueError, match="must be counts"):
            SRRSanitizer(sensitive=0).fit(rows, sample_weight=weights)
    else:
        counts = SRRSanitizer(sensitive=0).fit(rows, sample_weight=weights).joint_.counts
        assert counts.ravel().tolist() == added.tolist()


# --- Which column is protected -------------------------------------------------------------------


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_the_first_column_is_named_in_a_warning(output):
    """A ColumnTransformer puts the columns in an order of its own, and arrays have no names."""
    table = FRAME.assign(age=FRAME["visits"] % 2)
    private = make_pipeline(
        ColumnTransformer([("age", "passthrough", ["age"])], remainder="passthrough"),
        SRRSanitizer(eps=1.0),
    ).set_output(transform=output)
    first, others, name = {
        "default": ("0", "1 and 2", 0),
        "pandas": ("'age__age'", "'remainder__race' and 'remainder__visits'", "age__age"),
    }[output]
    with pytest.warns(PrivacyLeakWarning) as said:
        private.fit(table)
    assert [str(one.message) for one in said] == [
        f"sensitive is not given, so the first column, {first}, is protected; columns {others} "
        f"are NOT protected. Name the column to protect, such as sensitive={name!r}."
    ]
    assert private[-1].mechanism_.columns[0] == (name, True)


@pytest.mark.parametrize(
    ("cls", "table"),
    [
        *((cls, FRAME) for cls in (*SANITIZERS, partial(BlockSanitizer, base=GRRSanitizer()))),
        (SRRSanitizer, RECORDS),
        (SRRSanitizer, RECORDS.tolist()),
    ],
)
def test_who_says_it_is_not_warned(cls, table):
    quick = lower({}) if cls in (AOptimalSanitizer, PolyOptSanitizer) else {}
    for own, times in (({"sensitive": 0}, 0), ({}, 1)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PrivacyLeakWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)  # of the limit, which is short
            with few_iterations():
                cls(**quick, **own).fit(table)
        said = [one for one in caught if "sensitive is not given" in str(one.message)]
        assert [one.filename for one in said] == [__file__] * times
        which = "column 'visits' is" if table is FRAME else "column 1 is"
        assert all(which in str(one.message) for one in said)


def test_of_many_columns_a_warning_names_a_few():
    wide = np.column_stack([RECORDS, *[RECORDS[:, :1]] * 98])
    with pytest.warns(PrivacyLeakWarning, match="columns 1, 2, 3 and 96 more are NOT") as said:
        SRRSanitizer().fit(wide)
    assert len(str(said[0].message)) < 250


# --- The time limit ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [PolyOptSanitizer, RobustMSESanitizer])
@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")
def test_a_design_that_met_its_limit_says_so(cls):
    with pytest.warns(
        ConvergenceWarning, match="time limit.*at most .* the best possible.*time_limit"
    ) as caught:
        sanitizer = cls(time_limit=1e-9).fit(RECORDS)
    assert [w.filename for w in caught if w.category is ConvergenceWarning] == [__file__]
    assert sanitizer.solution_.status == "time_limit"
    assert sanitizer.certificate_.holds(1.0)


# --- Names of parameters -------------------------------------------------------------------------


@pytest.mark.parametrize("cls", SANITIZERS)
def test_unknown_parameters_are_refused(cls):
    with pytest.raises(TypeError, match="epsilon"):
        cls(epsilon=1.0)
    with pytest.raises(TypeError, match="positional"):
        cls(1.0, 0)
    assert clone(cls(eps=0.5)).get_params() == cls(eps=0.5).get_params()


# --- What has been set since ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "change"),
    [
        ({"sensitive": 0}, {"sensitive": 1}),
        ({"eps": 0.5}, {"eps": 1.0}),
        ({"uncertainty": RenyiBall()}, {"uncertainty__beta": 0.01}),
        ({"categories": [[0, 1], [0, 1, 2]]}, {"categories": [[0, 1], [0, 1, 2, 3]]}),
        ({"categories": {0: [0, 1], 1: [0, 1, 2]}}, {"categories": {0: [0, 1], 1: [2, 1, 0]}}),
        ({"distance": np.eye(3)}, {"distance": 2 * np.eye(3)}),
    ],
)
@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")
def test_parameters_set_after_fit_are_seen(start, change):
    sanitizer = clone(RobustMSESanitizer(**start)).fit(RECORDS)
    assert changes_since_fit(sanitizer) == {}
    sanitizer.set_params(encode="cells", random_state=None, verbose=0)
    assert changes_since_fit(sanitizer) == {}
    sanitizer.set_params(**change)
    (name,) = change
    changed = changes_since_fit(sanitizer)
    assert name in changed
    said = [text for text in privacy_report(sanitizer).warnings if "was set after fit" in text]
    assert len(said) == len(changed) and any(text.startswith(f"{name}=") for text in said)
    assert changes_since_fit(sanitizer.set_params(**start)) == {}


def test_a_list_changed_in_place_is_seen():
    sensitive = [0]
    sanitizer = SRRSanitizer(sensitive=sensitive).fit(np.column_stack([RECORDS, RECORDS[:, 0]]))
    sensitive.append(1)
    assert changes_since_fit(sanitizer) == {"sensitive": ([0], [0, 1])}


# --- Pipelines -----------------------------------------------------------------------------------

PIPELINES = {
    "pipeline": lambda s: make_pipeline(FunctionTransformer(), s),
    "frozen step": lambda s: make_pipeline(FunctionTransformer(), FrozenEstimator(s)),
    "frozen pipeline": lambda s: FrozenEstimator(make_pipeline(FunctionTransformer(), s)),
    "nested": lambda s: make_pipeline(FunctionTransformer(), make_pipeline(FrozenEstimator(s))),
}


@pytest.mark.parametrize("wrap", PIPELINES.values(), ids=PIPELINES)
def test_pipelines_stand_for_their_last_step(wrap):
    sanitizer = GRRSanitizer(eps=1.0, sensitive=0).fit(RECORDS)
    wrapped = wrap(sanitizer)
    assert as_sanitizer(wrapped) is sanitizer
    assert str(privacy_report(wrapped)) == str(privacy_report(sanitizer))
    Y = sanitizer.transform(RECORDS)
    expected = FrequencyEstimator(sanitizer).fit(Y).frequencies_
    np.testing.assert_array_equal(FrequencyEstimator(wrapped).fit(Y).frequencies_, expected)


def test_pipelines_are_audited_and_drawn():
    """The audit's records are those of the last step: here codes of bins, not ages."""
    bins = KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    table = np.column_stack([RECORDS[:, 0], RECORDS[:, 1] * 20.0 + 17.3])
    private = make_pipeline(bins, GRRSanitizer(eps=1.0, sensitive=0)).fit(table)
    found = audit(private, n=5_000, level=1 - 1e-9, random_state=0)
    assert found.passed and found.subject == "GRRSanitizer"
    pytest.importorskip("matplotlib").use("agg")
    display = MechanismDisplay.from_estimator(private)
    pytest.importorskip("matplotlib.pyplot").close("all")
    assert display.mechanism is private[-1].mechanism_


def test_what_is_not_fitted_or_not_last():
    for whole in (
        make_pipeline(FunctionTransformer(), GRRSanitizer(sensitive=0)),
        GRRSanitizer(sensitive=0),
    ):
        with pytest.raises(NotFittedError):
            privacy_report(whole)
        with pytest.raises(ValueError, match="not fitted"):
            FrequencyEstimator(whole).fit([[0, 0]])
    fitted = GRRSanitizer(sensitive=0).fit(RECORDS)
    with pytest.raises(TypeError, match="its step 'grrsanitizer', which is not the last"):
        privacy_report(make_pipeline(fitted, FunctionTransformer()))
    with pytest.raises(TypeError, match="that ends in one"):
        FrequencyEstimator(make_pipeline(fitted, FunctionTransformer())).fit([[0, 0]])
