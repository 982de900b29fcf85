"""Missing values are one value, whatever a library writes for them."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrldp import FrequencyEstimator, GRRSanitizer, SurveyDesign, batches, client

HOLES = [
    None,
    np.nan,
    pd.NA,
    pd.NaT,
    np.float32("nan"),
    np.datetime64("NaT", "s"),
    np.timedelta64("NaT", "s"),
    Decimal("NaN"),
]
KEY = bytes(range(32))


def of(hole):
    u = pd.Series(["a", hole, "b", hole], dtype=object)
    return pd.DataFrame({"s": ["no", "no", "yes", "yes"], "u": u})


@pytest.fixture(scope="module")
def expected():
    sanitizer = GRRSanitizer(1.0, sensitive="s", random_state=0).fit(of(None))
    reports = sanitizer.transform(pd.concat([of(None)] * 500))
    shares = FrequencyEstimator(sanitizer).fit(reports).marginal("s", by="u")
    return sanitizer, shares, *results(sanitizer, of(None))


def results(sanitizer, table):
    """What is made of a table: reports of three kinds, and the counts of its rows as reports."""
    ids = [3, 4, 5, 6]
    device = client.load(sanitizer.mechanism_.to_json(), permanent_key=KEY)
    one_by_one = [
        device.report({"s": s, "u": u}, id=i)
        for s, u, i in zip(table["s"], table["u"], ids, strict=True)
    ]
    reporter = batches.Reporter(sanitizer.mechanism_, id="id", key=KEY)
    return (
        sanitizer.transform(table).fillna("?").to_numpy().tolist(),
        one_by_one,
        device.report_many(table, ids=ids).tolist(),
        reporter(table.assign(id=ids))["report"].tolist(),
        FrequencyEstimator(sanitizer).fit(pd.concat([table] * 2)).counts_.tolist(),
    )


@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: f"{type(hole).__name__} {hole}")
def test_holes_of_every_kind_are_one_category(expected, hole):
    """For sanitizers, clients, reporters and estimators, and in given categories."""
    sanitizer, shares, *known = expected
    assert list(results(sanitizer, of(hole))) == known
    for options in ({}, {"categories": {"u": ["a", "b", hole]}}):
        again = GRRSanitizer(1.0, sensitive="s", **options).fit(of(hole))
        assert again.mechanism_.digest == sanitizer.mechanism_.digest
    differences = [shares.difference(one, "a").estimate for one in (hole, None)]
    assert np.array_equal(*differences)


# --- Weights -------------------------------------------------------------------------------------


def columns(values):
    """Columns that hold some numbers, two of them missing."""
    whole = [None if value is None else int(value) for value in values]
    dictionary = pa.array(values).dictionary_encode()
    return {
        "Int64": pd.DataFrame({"w": pd.Series(whole, dtype="Int64")}),
        "NA": pd.DataFrame(
            {"w": pd.Series([pd.NA if v is None else v for v in values], dtype=object)}
        ),
        "category": pd.DataFrame({"w": pd.Series(values).astype("category")}),
        "polars": pl.DataFrame({"w": whole}),
        "dictionary": pa.table({"w": dictionary}),
    }


@pytest.mark.parametrize("kind", columns([1.0]))
def test_weights_with_missing_values(kind):
    """Named by column and row; with none missing, the numbers are those that stand there."""
    base = {"s": ["no", "yes"] * 4, "u": ["a", "b", "b", "a"] * 2}

    def fitted(values, **design):
        own = columns(values)[kind]
        table = own.assign(**base) if isinstance(own, pd.DataFrame) else None
        if isinstance(own, pl.DataFrame):
            table = own.with_columns(**{name: pl.Series(v) for name, v in base.items()})
        elif table is None:
            table = pa.table({**base, "w": own["w"]})
        return GRRSanitizer(1.0, sensitive="s", survey=SurveyDesign(**design)).fit(table)

    numbers = [2.0, 3.0, 2.0, 5.0, 2.0, 1.0, 2.0, 2.0]
    found = fitted(numbers, weights="w").joint_
    assert np.allclose(found.probabilities.sum(axis=1), [8 / 19, 11 / 19])
    holes = [*numbers[:4], None, 1.0, None, 2.0]
    with pytest.raises(ValueError, match="lacks the weight of 2 of 8 records: rows 4, 6"):
        fitted(holes, weights="w")
    plain = pd.DataFrame(base)
    with pytest.raises(ValueError, match="sample_weight has no value in rows 4, 6 of 8"):
        GRRSanitizer(1.0, sensitive="s").fit(plain, sample_weight=_bare(columns(holes)[kind]))


def _bare(table):
    return table["w"].to_numpy() if isinstance(table, pl.DataFrame) else table["w"]


def test_reports_with_missing_values_are_refused():
    """Those in dictionaries, too, of which NumPy's arrays hold other reports in their place."""
    public = pd.DataFrame({"s": ["no", "yes"] * 2, "u": ["a", "a", "b", "b"]})
    sanitizer = GRRSanitizer(1.0, sensitive="s", encode="symbol").fit(public)
    for kind, table in columns([0.0, 3.0, None, 1.0]).items():
        with pytest.raises(ValueError, match=r"in 'w' \(the first in row 2;"):
            FrequencyEstimator(sanitizer, encode="symbol").fit(table)
            raise AssertionError(kind)
    found = FrequencyEstimator(sanitizer, encode="symbol").fit(
        columns([3.0, 3.0, 1.0] * 2)["dictionary"]
    )
    assert found.counts_.tolist() == [0, 2, 0, 4]
