"""A fit is a function of the public counts, takes effect all at once, and serves whole calls.

Neither the order of rows, their form nor who counts them changes a mechanism; a fit that is
interrupted or fails leaves what was fitted before.
"""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import few_iterations
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupted_fits import interrupted_fits
from lazy_frames import ENGINES, check_engine

from skrldp import (
    AOptimalSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
)
from skrldp.sanitizers import base

COLUMNS = ["ill", "home", "size"]
CELLS = [(s, h, k) for s in ("no", "yes") for h in ("x", "y") for k in (1, 2)]
FORMS = {
    "pandas": lambda rows: pd.DataFrame(rows, columns=COLUMNS),
    "polars": lambda rows: pl.DataFrame(rows, schema=COLUMNS, orient="row"),
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
    mechanism = sanitizer.fit(FORMS[form]([rows[place] for place in order])).mechanism_.to_json()
    assert mechanism == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_counts_as_a_table_at_hand(engine):
    check_engine(ENGINES[engine])


# --- All at once ---------------------------------------------------------------------------------

FIRST = [[s, u] for s in ("no", "yes") for u in ("a", "b")]
SECOND = [[w, s, u] for w in (5, 6, 7) for s in ("left", "right") for u in (0, 1)]


def state(sanitizer):
    """The shape of the table that each attribute is of, which is one."""
    mechanism, n_features = sanitizer.mechanism_, {2: (2, 2), 3: (3, 4)}
    shapes = {
        sanitizer.joint_.counts.shape,
        (len(mechanism.secrets), len(mechanism.values)),
        sanitizer.certificate_.distribution.shape,
        n_features[sanitizer.n_features_in_],
        n_features[len(sanitizer.get_feature_names_out())],
    }
    (shape,) = shapes
    return shape


def test_an_interrupted_fit_leaves_one_fit_whole():
    first, seen = SRRSanitizer(sensitive=0).fit(FIRST), set()
    for sanitizer in interrupted_fits(
        lambda: copy.deepcopy(first), lambda sanitizer: sanitizer.fit(SECOND), base
    ):
        shape = state(sanitizer)
        seen.add(shape)
        rows = FIRST if shape == (2, 2) else SECOND
        assert sanitizer.transform(rows).shape == np.shape(rows)
    assert seen == {(2, 2), (3, 4)}


class FitsMeanwhile(RobustMSESanitizer):
    """Another thread fits a different table while records are read."""

    def _encode(self, *arguments, **options):
        codes = super()._encode(*arguments, **options)
        self.fit([[s, u] for s in (0, 1) for u in (10, 20, 30)] * 9)
        return codes


def test_a_fit_in_the_middle_of_a_transform_changes_nothing():
    rows = [[s, u] for s in (0, 1) for u in (1, 2)] * 9
    options = {"random_state": 3, "sensitive": 0}
    expected = RobustMSESanitizer(**options).fit(rows).transform(rows)
    sanitizer = FitsMeanwhile(**options).fit(rows)
    np.testing.assert_array_equal(sanitizer.transform(rows), expected)
    assert sanitizer.joint_.counts.shape == (2, 3)
