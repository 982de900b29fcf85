"""Missing values are one value, whatever a library writes for them."""

from decimal import Decimal

import narwhals.stable.v2 as nw
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


@pytest.mark.parametrize("first", [None, "a"])
def test_the_missing_value_is_the_last_category(first):
    """Wherever it stands in the table, and whatever order a type declares."""
    u = [first, "b", None, "a"]
    for values, expected in (
        (pd.Series(u, dtype=object), ["a", "b", None]),
        (pd.Series(u, dtype="string"), ["a", "b", None]),
        (pd.Categorical(u, ["b", "a"]), ["b", "a", None]),
        (pd.Series([2.5, np.nan, -1.0, 2.5]), [-1.0, 2.5, None]),
    ):
        table = pd.DataFrame({"s": ["no", "yes"] * 2, "u": values})
        sanitizer = GRRSanitizer(1.0, sensitive="s").fit(table)
        assert list(sanitizer.mechanism_.values) == expected


KINDS = {
    "NA": lambda numbers: pd.DataFrame({"w": pd.Series(numbers, dtype="Int64").astype(object)}),
    "category": lambda numbers: pd.DataFrame({"w": pd.Series(numbers).astype("category")}),
    "polars": lambda numbers: pl.DataFrame({"w": numbers}),
    "dictionary": lambda numbers: pa.table({"w": pa.array(numbers).dictionary_encode()}),
}
BASE = {"s": ["no", "yes"] * 4, "u": ["a", "b", "b", "a"] * 2}


@pytest.mark.parametrize("kind", KINDS)
def test_missing_weights_and_reports_are_named_by_column_and_row(kind):
    """With none missing, the numbers are those that are in the table, in dictionaries too."""

    def fitted(numbers):
        table = nw.from_native(KINDS[kind](numbers))
        own = [nw.new_series(name, BASE[name], backend=table.implementation) for name in BASE]
        design = SurveyDesign(weights="w")
        return GRRSanitizer(1.0, sensitive="s", survey=design).fit(
            table.with_columns(*own).to_native()
        )

    found = fitted([2, 3, 2, 5, 2, 1, 2, 2]).joint_
    assert np.allclose(found.probabilities.sum(axis=1), [8 / 19, 11 / 19])
    holes = [2, 3, 2, 5, None, 1, None, 2]
    with pytest.raises(ValueError, match="lacks the weight of 2 of 8 records: rows 4, 6"):
        fitted(holes)
    plain = GRRSanitizer(1.0, sensitive="s", encode="symbol")
    with pytest.raises(ValueError, match="sample_weight has no value in rows 4, 6 of 8"):
        plain.fit(pd.DataFrame(BASE), sample_weight=KINDS[kind](holes)["w"])
    estimator = FrequencyEstimator(plain.fit(pd.DataFrame(BASE)))
    with pytest.raises(ValueError, match=r"in 'w' \(the first in row 2;"):
        estimator.fit(KINDS[kind]([0, 3, None, 1]))
    counts = estimator.set_params(encode="symbol").fit(KINDS[kind]([3, 3, 1] * 2)).counts_
    assert counts.tolist() == [0, 2, 0, 4]
