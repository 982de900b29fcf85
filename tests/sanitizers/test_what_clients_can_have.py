"""What fits can be written as JSON: `fit` refuses other categories, and says what to use."""

import datetime as dt
import decimal
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrldp import FrequencyEstimator, GRRSanitizer, Mechanism, client

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")

NS = np.array([1, 10**9 + 1], dtype="M8[ns]")
REFUSED = {
    "uuid": ([uuid.UUID(int=1), uuid.UUID(int=2)], "UUID.*astype"),
    "bytes": ([b"a", b"b"], "bytes.*decode"),
    "decimal": ([decimal.Decimal("0.1"), decimal.Decimal(2)], "Decimal.*float"),
    "interval": (pd.cut([1, 5], [0, 3, 6]), "Interval.*rename_categories"),
    "tuple": ([("a", 1), ("b", 2)], "tuple.*column for each"),
    "nanoseconds": (NS, "nanoseconds.*round"),
    "duration": (np.array([1, 2], "m8[ns]"), "nanoseconds.*round"),
    "one of them": (["a", b"b"], "bytes"),
    "half a character": (["a", "\ud800"], "surrogate"),
    "polars decimal": (pl.Series([1, 2], dtype=pl.Decimal(5, 2)), "Decimal.*float"),
    "arrow nanoseconds": (pa.array(NS), "nanoseconds.*round"),
}
ACCEPTED = {
    "dates": [dt.date(2020, 1, 1), dt.date(2021, 1, 1)],
    "durations": np.array([1, 2], "m8[s]"),
    "moments": pd.to_datetime(["2020-01-01", "2021-01-01"], utc=True),
    "numbers": [0.1, np.float32(2.0)],
    "truth": [True, None],
    "mixed": ["a", 10**30],
}


def table(values, other, name):
    """A table of the library of the values, whose column `name` they are."""
    more = "s" if name == "u" else "u"
    if isinstance(values, pl.Series):
        return pl.DataFrame({name: values, more: other}).select("s", "u")[[0, 1] * 20]
    if isinstance(values, pa.Array):
        return pa.table({name: values, more: other}).select(["s", "u"]).take([0, 1] * 20)
    column = values if hasattr(values, "dtype") else pd.Series(values, dtype=object)
    return pd.DataFrame({name: column, more: other})[["s", "u"]].iloc[[0, 1] * 20]


@pytest.mark.parametrize("name", ["s", "u"])
@pytest.mark.parametrize("kind", REFUSED)
def test_what_no_client_could_have_is_refused(kind, name):
    values, message = REFUSED[kind]
    with pytest.raises((TypeError, ValueError), match=f"(?s)column '{name}'.*{message}"):
        GRRSanitizer(sensitive="s").fit(table(values, ["x", "y"], name))


@pytest.mark.parametrize("name", ["s", "u"])
@pytest.mark.parametrize("kind", ACCEPTED)
def test_what_fits_is_written_and_reported(kind, name):
    X = table(ACCEPTED[kind], ["x", "y"], name)
    device = client.load(GRRSanitizer(sensitive="s").fit(X).mechanism_.to_json())
    assert len(device.report_many(X)) == len(X)


def test_texts_end_with_any_character():
    """NumPy's arrays of texts drop zero characters at the end, and would make both values one."""
    X = pl.DataFrame({"s": ["x", "y"], "u": ["a", "a\0"]})[[0, 1] * 200]
    mechanism = Mechanism.from_matrix(np.eye(4), ("x", "y"), ("a", "a\0"))
    text = mechanism.named(None, [("s", True), ("u", False)]).to_json()
    reports = client.load(text).report_many(X)
    assert reports.tolist() == [0, 3] * 200


# --- Weights -------------------------------------------------------------------------------------


@pytest.mark.parametrize("use", ["fit", "estimate", "score of a sanitizer"])
def test_weights_of_other_rows_are_refused(use):
    """A Series says which row each weight belongs to; by position, others would get them."""
    X = pd.DataFrame({"s": ["n", "y", "n", "y"], "u": [0, 1, 1, 0]}, index=[3, 1, 2, 0])
    sanitizer = GRRSanitizer(sensitive=0).fit(X)
    estimator = FrequencyEstimator(sanitizer)
    fit = {
        "fit": GRRSanitizer(sensitive=0).fit,
        "estimate": estimator.fit,
        "score of a sanitizer": sanitizer.score,
    }[use]
    weights = pd.Series([1, 2, 3, 4], index=X.index)
    for other in (weights.sort_index(), weights.reset_index(drop=True), weights.iloc[:3]):
        with pytest.raises(ValueError, match=r"index.*sample_weight\.loc\[X\.index\].*to_numpy"):
            fit(X, sample_weight=other)
    by_label, by_place = fit(X, sample_weight=weights), fit(X, sample_weight=[1, 2, 3, 4])
    if use == "fit":
        np.testing.assert_array_equal(by_label.joint_.counts, by_place.joint_.counts)
    fit(X, sample_weight=pl.Series([1, 2, 3, 4]))  # which has no index
    fit(pl.from_pandas(X), sample_weight=weights)
    if use != "score of a sanitizer":  # which scikit-learn warns of missing names
        fit(X.to_numpy(), sample_weight=weights)
