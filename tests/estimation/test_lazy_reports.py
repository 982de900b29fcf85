"""Reports that are elsewhere are counted there."""

import numpy as np
import polars as pl
import pytest
from lazy_frames import ENGINES, rows_brought

from skrldp import FrequencyEstimator, SRRSanitizer

TABLE = pl.DataFrame({"s": ["a", "b"] * 3, "u": [1.5, 1.5, None, 3.0, 3.0, None]})
RECORDS = TABLE[np.repeat(np.arange(6), [40, 30, 20, 10, 5, 1])]


@pytest.fixture(scope="module")
def sanitizer():
    return SRRSanitizer(sensitive="s", random_state=0).fit(TABLE)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("encode", ["symbol", "onehot", "cells"])
def test_estimates_are_those_of_the_reports_at_hand(sanitizer, engine, encode):
    reports = sanitizer.set_params(encode=encode).transform(RECORDS)
    if encode == "cells":  # in any order of columns
        reports = reports[:, ::-1]
    lazy = ENGINES[engine](reports)
    expected = FrequencyEstimator(sanitizer, "em").fit(reports)
    found = FrequencyEstimator(sanitizer, "em").fit(lazy)
    assert found.counts_.tolist() == expected.counts_.tolist()
    assert found.counts_.sum() == len(RECORDS)
    np.testing.assert_array_equal(found.frequencies_, expected.frequencies_)
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()


@pytest.mark.parametrize(
    ("reports", "encode", "message"),
    [
        ({"report": [1, 2, 6, 6]}, "auto", "2 rows of Y have no report .* 0 to 5"),
        (
            {f"report_{k}": [k == 0, k == 0, k < 2] for k in range(6)},
            "auto",
            "1 row of Y has .* a single 1 among",
        ),
    ],
)
def test_wrong_reports(sanitizer, reports, encode, message):
    estimator = FrequencyEstimator(sanitizer, encode=encode)
    with pytest.raises((TypeError, ValueError), match=message):
        estimator.fit(pl.LazyFrame(reports))
    with pytest.raises((TypeError, ValueError)):
        estimator.fit(pl.DataFrame(reports))
    assert not hasattr(estimator, "counts_")


def test_no_more_rows_are_brought_than_there_are_symbols_and_one(sanitizer, monkeypatch):
    """So many suffice to see that one of them is no report. Wrong columns are not read at all."""
    brought = rows_brought(monkeypatch)
    numbers = pl.LazyFrame({"report": range(1000)})
    with pytest.raises(ValueError, match="0 to 5"):
        FrequencyEstimator(sanitizer).fit(numbers)
    assert brought == [7]
    brought.clear()
    two = numbers.with_columns(id=pl.col("report"))
    for encode in ("auto", "symbol", "cells", "onehot"):
        with pytest.raises(ValueError, match=r"has 2|but Y has"):
            FrequencyEstimator(sanitizer, encode=encode).fit(two)
    with pytest.raises(ValueError, match="collect the result, and pass its counts"):
        FrequencyEstimator(sanitizer).fit(numbers, sample_weight=np.ones(1000))
    assert not brought
