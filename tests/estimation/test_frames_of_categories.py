"""The categories in a frame of estimates are those of the column, missing or not."""

import datetime as dt

import pandas as pd
import pytest

from skrldp import FrequencyEstimator, GRRSanitizer

DAYS = [dt.datetime(2020, 1, 1), dt.datetime(2021, 5, 5, 3)]
# What a column holds, and the dtypes of pandas that hold it.
COLUMNS = {
    "whole numbers": ([6, 7, None], "Int64"),
    "none missing": ([6, 7, 8], "int64"),
    "truth values": ([True, False, None], "boolean"),
    "days": ([*DAYS, None], "datetime64"),
    "texts": (["a", "b", None], "str|object"),
    "beside fractions": ([2**53 + 1, 0.5, None], "object"),
    "mixed": ([1, "a", None], "object"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_hold_the_categories(name):
    """Of shares, in groups, and of several columns."""
    values, dtype = COLUMNS[name]
    public = pd.DataFrame(
        {"s": ["no", "yes"] * 3, "u": pd.Series(values * 2, dtype=object), "w": [1, 2, 2] * 2}
    )
    sanitizer = GRRSanitizer(9.0, sensitive="s", categories="product", random_state=0).fit(public)
    reports = sanitizer.transform(pd.concat([public] * 20))
    estimator = FrequencyEstimator(sanitizer.mechanism_).fit(reports)
    frames = {
        "shares": estimator.marginal("u").to_frame()["u"],
        "by": estimator.marginal("u", by="s").to_frame()["u"],
        "several": estimator.marginal(["w", "u"]).to_frame()["u"],
    }
    for kind, found in frames.items():
        assert str(found.dtype).startswith(tuple(dtype.split("|"))), (kind, found.dtype)
        wanted = set(values)
        assert {None if pd.isna(one) else one for one in found} == wanted, kind
