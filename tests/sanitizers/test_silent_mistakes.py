"""What a user may get wrong without noticing is refused, or warned of, before anything is released.

Weights are counts of the rows that they are given with; the protected column is named; masked
entries have no value; categories are those that clients can have; limits and ranges are stated.
"""

import decimal
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sanitizer_fits import OPTIMA, SANITIZERS, make
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
    audit,
    client,
)

ROWS = np.array([[s, u] for s in range(2) for u in range(3)])
COUNTS = [120, 60, 90, 50, 140, 80]
RECORDS = np.repeat(ROWS, COUNTS, axis=0)
FRAME = pd.DataFrame(RECORDS, columns=["race", "visits"])
HUGE = 10**5_000  # more digits than Python writes

# --- Weights are counts --------------------------------------------------------------------------


@settings(max_examples=20)
@given(
    weights=st.lists(st.integers(0, 1000), min_size=12, max_size=12).filter(any),
    together=st.booleans(),
)
def test_added_up_or_few_weights_are_taken(weights, together):
    """Refused is what repeats rows and has over three records a row; added up, it is taken."""
    rows = np.vstack([ROWS, ROWS])
    added = np.add(weights[:6], weights[6:])
    repeated = any(a and b for a, b in zip(weights[:6], weights[6:], strict=True))
    sanitizer = SRRSanitizer(sensitive=0)
    if together:
        assert sanitizer.fit(ROWS, sample_weight=added).joint_.n == sum(weights)
    elif repeated and sum(weights) > 3 * np.count_nonzero(weights):
        with pytest.raises(ValueError, match="must be counts"):
            sanitizer.fit(rows, sample_weight=weights)
    else:
        counts = sanitizer.fit(rows, sample_weight=weights).joint_.counts
        assert counts.ravel().tolist() == added.tolist()


@pytest.mark.parametrize("cls", SANITIZERS)
def test_more_records_than_can_be_told_from_one_are_refused(cls):
    for weights in ([2**50, 1, 1, 1, 1, 1], [10**12, 1, 0, 0, 0, 0]):
        with pytest.raises(ValueError, match=r"sums to .* more than 1,000,000,000,000 records"):
            make(cls).fit(ROWS, sample_weight=weights)


@pytest.mark.parametrize("use", ["fit", "estimate"])
def test_weights_of_other_rows_are_refused(use):
    """A Series says which row each weight belongs to; by position, others would get them."""
    X = pd.DataFrame({"s": ["n", "y", "n", "y"], "u": [0, 1, 1, 0]}, index=[3, 1, 2, 0])
    sanitizer = GRRSanitizer(sensitive=0).fit(X)
    fit = (GRRSanitizer(sensitive=0) if use == "fit" else FrequencyEstimator(sanitizer)).fit
    weights = pd.Series([1, 2, 3, 4], index=X.index)
    for other in (weights.sort_index(), weights.reset_index(drop=True), weights.iloc[:3]):
        with pytest.raises(ValueError, match=r"index.*sample_weight\.loc\[X\.index\].*to_numpy"):
            fit(X, sample_weight=other)
    by_label, by_place = fit(X, sample_weight=weights), fit(X, sample_weight=[1, 2, 3, 4])
    if use == "fit":
        np.testing.assert_array_equal(by_label.joint_.counts, by_place.joint_.counts)
    fit(X, sample_weight=pl.Series([1, 2, 3, 4]))  # which has no index
    fit(pl.from_pandas(X), sample_weight=weights)
    fit(X.to_numpy(), sample_weight=weights)


# --- Which column is protected -------------------------------------------------------------------


def test_the_first_column_is_named_in_a_warning():
    """A ColumnTransformer puts the columns in an order of its own."""
    X = FRAME.assign(age=FRAME["visits"] % 2)
    ordered = ColumnTransformer([("age", "passthrough", ["age"])], remainder="passthrough")
    private = make_pipeline(ordered, SRRSanitizer(eps=1.0)).set_output(transform="pandas")
    words = r"'age__age', is protected; .*'remainder__visits' are NOT .*sensitive='age__age'"
    with pytest.warns(PrivacyLeakWarning, match=words) as caught:
        private.fit(X)
    assert len(caught) == 1
    assert private[-1].mechanism_.columns[0] == ("age__age", True)


@pytest.mark.parametrize("of", [pd.DataFrame.copy, pd.DataFrame.to_numpy])
def test_columns_with_integer_names_in_another_order_are_refused(of):
    """Also where fit saw an array, whose columns are called 0, 1, ...; else U would be S."""
    X = pd.DataFrame([[0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 0]] * 50)
    sanitizer = SRRSanitizer(sensitive=0).fit(of(X))
    for use in (sanitizer.transform, sanitizer.score):
        with pytest.raises(ValueError, match="same order as they were in fit"):
            use(X[[1, 0, 2]])
    assert sanitizer.transform(X[[1, 0, 2]].to_numpy()).shape == X.shape  # which has no names
    blind = RobustMSESanitizer(sensitive=0, distance="hamming", observe="nonsensitive").fit(of(X))
    assert blind.transform(X[[1, 2]]).shape == (200, 2)
    for names in ([2, 1], [0, 2, 1]):
        with pytest.raises(ValueError, match=r"order"):
            blind.transform(X[names])


# --- Limits and ranges ---------------------------------------------------------------------------


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


@pytest.mark.parametrize("cls", SANITIZERS)
def test_values_out_of_range_are_refused_with_their_range(cls):
    wrong = [
        ("eps", 9e-10, "at least 1e-09 nats"),
        ("eps", HUGE, "a number of 16,610 bits must be a positive finite"),
        *(("eps", value, "positive finite") for value in (0, np.nan, np.inf, True, "1", None, 1j)),
    ]
    if cls in (*OPTIMA, RobustMSESanitizer):
        wrong += [("time_limit", value, "positive .*None for") for value in (np.inf, HUGE)]
    if hasattr(cls(), "eps_worst_case"):
        wrong += [("eps_worst_case", HUGE, "positive finite"), ("eps_worst_case", 1e-310, "1e-09")]
        wrong += [("eps_worst_case", 0.5, "must be at least eps=1")]
    for name, value, words in wrong:
        with pytest.raises(ValueError, match=rf"^{name}=.*{words}"):
            cls(sensitive=0, **{name: value}).fit(ROWS, sample_weight=COUNTS)


@pytest.mark.parametrize("kind", [LikelihoodRatioSet, RenyiBall])
def test_sets_out_of_range_are_refused_with_their_range(kind):
    joint = JointDistribution(np.reshape(COUNTS, (2, 3)))
    for options, words in (
        ({"beta": 5e-324}, r"^beta=5e-324 must be a probability of at least 1e-300"),
        ({"beta": HUGE}, r"^beta=.* must be a positive finite number"),
        ({"radius": HUGE}, r"^radius=.* must be .* or a number >= 0"),
        ({"radius": 1e-100}, r"radius=1e-100 .* at least 1e-15 if not 0"),
    ):
        with pytest.raises(ValueError, match=words):
            kind(**options).fit_set(joint)
    assert kind(beta=1e-300).fit_set(joint).beta == 1e-300


# --- Masked entries ------------------------------------------------------------------------------

X = np.array([[s, u] for s in range(2) for u in range(3)] * 30)
SANITIZER = GRRSanitizer(eps=1.0, encode="symbol", random_state=0, sensitive=0).fit(X)
Y = SANITIZER.transform(X).ravel()
DEVICE = client.load(SANITIZER.mechanism_.to_json())


def masked(values):
    """An array with its first entry masked."""
    values = np.asarray(values)
    return np.ma.masked_array(values, np.arange(values.size).reshape(values.shape) == 0)


ONES = masked(np.ones(len(X)))
READERS = {
    "fit": lambda: GRRSanitizer(sensitive=0).fit(masked(X)),
    "transform": lambda: SANITIZER.transform(masked(X)),
    "decode": lambda: SANITIZER.decode(masked(Y)),
    "distance": lambda: RobustMSESanitizer(distance=masked(1.0 - np.eye(3)), sensitive=0).fit(X),
    "estimator": lambda: FrequencyEstimator(SANITIZER).fit(masked(Y)),
    "estimator, weights": lambda: FrequencyEstimator(SANITIZER).fit(Y, sample_weight=ONES),
    "client": lambda: DEVICE.report(masked(X[0])),
    "audit": lambda: audit(masked, n=1000, distribution=SANITIZER.joint_, eps=1.0),
}


@pytest.mark.parametrize("reader", READERS)
def test_masked_entries_are_refused(reader):
    with pytest.raises((TypeError, ValueError), match=r"(?i)mask"):
        READERS[reader]()


# --- What clients can have -----------------------------------------------------------------------

NS = np.array([1, 10**9 + 1], dtype="M8[ns]")
REFUSED = [
    ([uuid.UUID(int=1), uuid.UUID(int=2)], "UUID.*astype"),
    ([decimal.Decimal("0.1"), decimal.Decimal(2)], "Decimal.*float"),
    (pd.cut([1, 5], [0, 3, 6]), "Interval.*rename_categories"),
    ([("a", 1), ("b", 2)], "tuple.*column for each"),
    (NS, "nanoseconds.*round"),
    (["a", b"b"], "bytes.*decode"),
    (["a", "\ud800"], "surrogate"),
]


@pytest.mark.parametrize("name", ["s", "u"])
def test_what_no_client_could_have_is_refused(name):
    for values, message in REFUSED:
        column = values if hasattr(values, "dtype") else pd.Series(values, dtype=object)
        frame = pd.DataFrame({"s": ["x", "y"], "u": ["x", "y"]} | {name: column})
        with pytest.raises((TypeError, ValueError), match=f"(?s)column '{name}'.*{message}"):
            GRRSanitizer(sensitive="s").fit(frame.iloc[[0, 1] * 20])
