"""Reports that were drawn before, written in another form."""

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations
from hypothesis import given, settings
from hypothesis import strategies as st
from sanitizer_fits import LIBRARIES, SANITIZERS, frame_of, make
from sklearn import config_context

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    SRRSanitizer,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::skrldp.PrivacyLeakWarning",  # the tables are tiny
    "ignore::sklearn.exceptions.ConvergenceWarning",  # so are the limits
)


@pytest.fixture(autouse=True, scope="module")
def _quick():
    with few_iterations():
        yield


ENCODINGS = ["symbol", "onehot", "posterior", "cells"]


def same(found, expected):
    assert type(found) is type(expected)
    if isinstance(found, np.ndarray):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    elif isinstance(found, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected)
    else:
        assert found.equals(expected) and found.schema == expected.schema


# Every sanitizer in some container, and one sanitizer in all of them.
PAIRS = list(zip(SANITIZERS, ("numpy", "polars") * len(SANITIZERS), strict=False))
PAIRS += [(GRRSanitizer, library) for library in [*LIBRARIES, "list"]]


@pytest.mark.parametrize(("cls", "library"), list(dict.fromkeys(PAIRS)))
def test_decoding_is_what_transform_would_have_written(cls, library):
    X = frame_of(library)
    sanitizer = make(cls, eps=2.0, sensitive=1, random_state=7).fit(X)
    symbols = sanitizer.set_params(encode="symbol").transform(X)
    for encode in ENCODINGS:
        expected = sanitizer.set_params(encode=encode).transform(X)
        same(sanitizer.set_params(encode=None).decode(symbols, encode=encode), expected)
    same(sanitizer.decode(symbols), expected)  # cells, whatever the sanitizer writes
    with config_context(transform_output="pandas"):
        expected = sanitizer.set_params(encode="onehot").transform(X)
        same(sanitizer.decode(symbols, "onehot"), expected)


@pytest.mark.slow
@settings(max_examples=30)
@given(reports=st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_every_container_of_symbols(reports):
    """Lists, arrays, columns and series say the same; series become frames with their index."""
    X = pd.DataFrame({"s": ["n", "y"] * 6, "u": list("abc") * 4})
    sanitizer = SRRSanitizer(sensitive="s").fit(X)
    expected = [list(sanitizer.mechanism_.symbols[report]) for report in reports]
    for given_as in (
        reports,
        np.array(reports, dtype=np.uint8),
        np.array(reports, dtype=float)[:, None],
        np.array(reports, dtype=object),
    ):
        assert sanitizer.decode(given_as).tolist() == expected
    series = pd.Series(reports, index=np.arange(len(reports)) + 50, name="sent")
    found = sanitizer.decode(series)
    assert found.index.equals(series.index) and list(found.columns) == ["s", "u"]
    assert found.to_numpy().tolist() == expected
    same(sanitizer.decode(series.to_frame()), found)


@pytest.mark.parametrize(
    ("reports", "said"),
    [
        ([0, 6], r"1 of 2 reports are not symbols .* 0 to 5 \(the first in row 1;"),
        ([0.5], "not symbols of this mechanism.*row 0"),
        (["0"], "not symbols of this mechanism.*row 0"),
        ([0, None], "1 of 2 reports are not symbols .*the first in row 1"),
        (np.array([0.0, np.nan]), "the first in row 1"),
        (np.zeros((3, 2), dtype=int), "has 2 columns, but symbols are one column"),
        (3, "2D|2-dim|table|array"),
        ([], "0 sample"),
    ],
)
def test_what_is_no_symbol_is_refused(reports, said):
    sanitizer = GRRSanitizer().fit([[s, u] for s in range(2) for u in range(3)])
    with pytest.raises((ValueError, TypeError), match=said):
        sanitizer.decode(reports)


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_symbols_are_a_category_of_all_symbols_in_frames_that_were_asked_for(container):
    """Models take columns of numbers for quantities; all that reads reports takes both."""
    pytest.importorskip(container)
    X = frame_of("pandas")
    sanitizer = GRRSanitizer(2.0, sensitive="ill", encode="symbol", random_state=0).fit(X)
    numbers = sanitizer.transform(X)
    Y = sanitizer.set_output(transform=container).transform(X)
    few = sanitizer.transform(X[:3])["report"]  # fewer reports than symbols
    categories = few.cat.categories if container == "pandas" else map(int, few.dtype.categories)
    assert list(categories) == list(range(sanitizer.mechanism_.shape[0]))
    same(sanitizer.decode(Y, encode="symbol"), Y)
    expected = FrequencyEstimator(sanitizer).fit(numbers).counts_
    for reports in (Y, Y["report"]):
        np.testing.assert_array_equal(FrequencyEstimator(sanitizer).fit(reports).counts_, expected)
