"""A mechanism is a function of the public counts, not of rows' order, forms, or who counts."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import few_iterations
from hypothesis import given, settings
from hypothesis import strategies as st
from lazy_frames import ENGINES, check_engine, records

from skrldp import (
    AOptimalSanitizer,
    GRRSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
)

COLUMNS = ["ill", "home", "size"]
CELLS = [(s, h, k) for s in ("no", "yes") for h in ("x", "y") for k in (1, 2)]
FORMS = {
    "pandas": lambda rows: pd.DataFrame(rows, columns=COLUMNS),
    "categories": lambda rows: pd.DataFrame(rows, columns=COLUMNS).astype(
        {"ill": "category", "home": "category"}
    ),
    "polars": lambda rows: pl.DataFrame(rows, schema=COLUMNS, orient="row"),
    "pyarrow": lambda rows: pl.DataFrame(rows, schema=COLUMNS, orient="row").to_arrow(),
    "in chunks": lambda rows: pl.concat(
        [pl.DataFrame(part, schema=COLUMNS, orient="row") for part in (rows[:7], rows[7:])],
        rechunk=False,
    ),
    "lazy": lambda rows: pl.LazyFrame(rows, schema=COLUMNS, orient="row"),
}
SANITIZERS = [
    SRRSanitizer(1.0, sensitive="ill"),
    PolyOptSanitizer(1.0, sensitive="ill"),
    AOptimalSanitizer(1.0, sensitive="ill"),
    RobustMSESanitizer(1.0, sensitive="ill"),
]


@pytest.fixture(autouse=True)
def _quick():
    with few_iterations():
        yield


pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",  # designs end early, to save time
)


@settings(max_examples=6)
@given(
    st.lists(st.integers(3, 9), min_size=8, max_size=8),
    st.integers(0, 2**32 - 1),
    st.sampled_from(sorted(FORMS)),
    st.sampled_from(SANITIZERS),
)
def test_a_permuted_table_in_any_form(counts, seed, form, sanitizer):
    """Values appear in another order, the columns' own order is that of names, and rows repeat."""
    rows = [cell for cell, count in zip(CELLS, counts, strict=True) for _ in range(count)]
    expected = sanitizer.fit(FORMS["pandas"](rows)).mechanism_.to_json()
    order = np.random.default_rng(seed).permutation(len(rows))
    found = sanitizer.fit(FORMS[form]([rows[place] for place in order])).mechanism_.to_json()
    assert found == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine(engine):
    check_engine(ENGINES[engine])


def test_records_are_reported_and_scored_at_hand_alone():
    """And a fit that fails leaves no trace."""
    lazy = records()[["s", "day"]].lazy()
    sanitizer = GRRSanitizer(sensitive="s")
    with pytest.raises(TypeError, match="its rows are needed"):
        sanitizer.fit_transform(lazy)
    with pytest.raises(ValueError, match="rows of a lazy frame, which have no order"):
        sanitizer.fit(lazy, sample_weight=[1, 2])
    with pytest.raises(RuntimeError, match="polars could not count the distinct values"):
        sanitizer.fit(lazy.with_columns(pl.col("s").cast(pl.Int64)))
    assert not hasattr(sanitizer, "_fitted") and not hasattr(sanitizer, "n_features_in_")
    sanitizer.fit(lazy)
    for use in (sanitizer.transform, sanitizer.score):
        with pytest.raises(TypeError, match=r"call \.collect\(\) on it, or.* skrldp\.batches"):
            use(lazy)
