"""Floats that may be whole numbers that were rounded are no integer categories."""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrldp import FrequencyEstimator, GRRSanitizer, batches, client

LARGE = [2**53 - 1, 2**53, 2**53 + 1, -(2**60) - 1]
KEY = bytes(range(32))


def fitted(values=LARGE, **options):
    """A sanitizer of integers, whose own column of integers may have missing values."""
    u = pd.array([*values, None] * 2, dtype="Int64")
    public = pd.DataFrame({"s": np.repeat(["no", "yes"], len(u) // 2), "u": u})
    return GRRSanitizer(1.0, sensitive="s", random_state=0, **options).fit(public)


FLOATS = {
    "pandas": lambda u: pd.DataFrame({"s": "no", "u": pd.Series(u, dtype=float)}),
    "pandas nullable": lambda u: pd.DataFrame({"s": "no", "u": pd.Series(u, dtype="Float64")}),
    "pandas object": lambda u: pd.DataFrame({"s": "no", "u": pd.Series(u, dtype=object)}),
    "pandas category": lambda u: pd.DataFrame({"s": "no", "u": pd.Categorical(u)}),
    "polars": lambda u: pl.DataFrame({"s": ["no"] * len(u), "u": pl.Series(u, dtype=pl.Float64)}),
    "pyarrow": lambda u: pa.table({"s": ["no"] * len(u), "u": pa.array(u, pa.float64())}),
    "dictionary": lambda u: pa.table({"s": ["no"] * len(u), "u": pa.array(u).dictionary_encode()}),
}


@pytest.mark.parametrize("handle_unknown", ["error", "infrequent_if_exist"])
@pytest.mark.parametrize("kind", FLOATS)
def test_large_floats_are_refused(kind, handle_unknown):
    """By transforms, clients, reporters and estimators, and not as "other" either."""
    sanitizer = fitted(handle_unknown=handle_unknown)
    words = r"column '?[u1]'? has floats of 2\^53 or more, .* Read it as integers: Int64"
    for value in (2.0**53, -(2.0**60)):
        table = FLOATS[kind]([2.0**53 - 1, value])
        with pytest.raises(ValueError, match=words):
            sanitizer.transform(table)
        with pytest.raises(ValueError, match=words):
            FrequencyEstimator(sanitizer).fit(table)
        device = client.load(sanitizer.mechanism_.to_json())
        with pytest.raises(ValueError, match=f"{words}.*Nothing was reported"):
            device.report_many(table)
        for record in ({"s": "no", "u": value}, ["no", value], ("no", np.float64(value))):
            with pytest.raises(ValueError, match=f"{words}.*Nothing was reported"):
                device.report(record)
        reporter = batches.Reporter(sanitizer.mechanism_, id="id", key=KEY)
        table = nw.from_native(table).with_row_index("id").to_native()
        with pytest.raises(ValueError, match=f"{words}.*Nothing was reported"):
            reporter(table)
    if handle_unknown == "error":  # pyarrow has no column for "other" beside numbers
        sanitizer.transform(FLOATS[kind]([2.0**53 - 1, 2.0**53 - 1]))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_narrow_floats(dtype):
    """They are rounded from smaller numbers on."""
    digits = np.finfo(dtype).nmant + 1
    sanitizer = fitted([2**digits - 1, 2**digits + 1, 7])
    below, above = (np.array([number, 7], dtype=dtype) for number in (2**digits - 1, 2**digits))
    words = rf"column 'u' has floats of 2\^{digits} or more"
    device = client.load(sanitizer.mechanism_.to_json())
    assert len(device.report_many({"s": ["no", "no"], "u": below})) == 2
    with pytest.raises(ValueError, match=words):
        device.report_many({"s": ["no", "no"], "u": above})
    if dtype == "float32":
        libraries = (pd.DataFrame, pl.DataFrame, pa.table)
        for make in libraries:
            sanitizer.transform(make({"s": ["no", "no"], "u": below}))
            with pytest.raises(ValueError, match=words):
                sanitizer.transform(make({"s": ["no", "no"], "u": above}))


def test_integers_stay_exact():
    """As integers of any kind, in lists beside floats too; a column of floats keeps its own."""
    sanitizer = fitted([*LARGE, 10**18])
    marks = sanitizer.transform(pd.DataFrame({"s": "no", "u": pd.Series(LARGE, dtype="Int64")}))
    for table in (
        pl.DataFrame({"s": ["no"] * 4, "u": LARGE}),
        pa.table({"s": ["no"] * 4, "u": LARGE}),
        pd.DataFrame({"s": "no", "u": pd.Series(LARGE, dtype=object)}),
    ):
        found = sanitizer.transform(table)
        assert nw.from_native(found)["u"].to_list() == marks["u"].tolist()
    rows = [[0.5, 2**53 + 1], [1.5, 2**53], [0.5, 7], [1.5, 2**53 + 1]]
    listed = GRRSanitizer(1.0, random_state=0, sensitive=0).fit(rows)
    assert listed.joint_.values == (7, 2**53, 2**53 + 1)
    floats = pd.DataFrame({"s": ["no", "yes"] * 2, "u": [2.0**53, 2.0**60, 1e300, 0.5]})
    GRRSanitizer(1.0, sensitive="s").fit(floats).transform(floats)
