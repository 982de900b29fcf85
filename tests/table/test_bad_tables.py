"""Bad tables, categories and columns are refused, with the column, the number and a remedy."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from survey_table import SURVEY, learn_codec

from skrldp import GRRSanitizer
from skrldp.table.select import resolve_columns

GOOD = np.array([[0, 1], [1, 2], [0, 1]])
GOOD_LEVELS = pd.DataFrame(GOOD, columns=pd.MultiIndex.from_tuples([("a", "s"), ("a", "u")]))


class Sparse:
    nnz = 0

    def toarray(self):
        raise AssertionError


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
        (pd.Series([1, 2]), ValueError, r"is a single column, a Series: pass X\.to_frame\(\)"),
        ([[1, 2], [3]], ValueError, "inhomogeneous|Expected 2D"),
        (Sparse(), TypeError, "sparse.*dense.*toarray"),
        (GOOD + 1j, ValueError, "Complex data not supported"),
        (pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"]), ValueError, r"duplicate.*\['a'\]"),
        (GOOD_LEVELS, ValueError, "tuples, as in a MultiIndex.*: X.columns"),
        (pd.DataFrame({"s": [0, 1], "u": [0, -np.inf]}), ValueError, "infinity, in column 'u'"),
        (np.array([[0, [1]], [1, {}]], dtype=object), TypeError, "column 1 .*cannot be categories"),
        ({"s": [0, 1], "u": [0, 1]}, TypeError, r"A dictionary was passed.*use pandas\.DataFrame"),
        (np.ma.masked_array([[0, 1], [1, 0]]), TypeError, "masked array.*numpy.where"),
        (pa.table([[1, 2], [1, 2]], names=["a", "a"]), ValueError, "duplicate"),
        (pl.DataFrame({"a": [1, 2], "b": [[1], [2]]}), TypeError, "column 'b' .*cannot be categ"),
        (GOOD[[0, 2]], ValueError, "only one value, so there is nothing to protect"),
    ],
)
def test_bad_tables(X, error, message):
    with pytest.raises(error, match=message):
        learn_codec(X)


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ("automatic", "categories must be 'auto', 'dtype', 'product', a list or a dict"),
        (["auto"], "contains 1 alphabets, but the table has 2 columns"),
        ({"z": [1]}, r"keys that are not columns: \['z'\]"),
        (["auto", [1, 2, 1.0]], r"categories of column 1 list \[1\] more than once"),
        (["auto", [1, 3]], "column 1 of the public data has 1 row with value 2 that `categories`"),
    ],
)
def test_bad_categories(categories, message):
    with pytest.raises(ValueError, match=message):
        learn_codec(GOOD, categories=categories)


def test_too_many_cells():
    X = np.stack([np.arange(4000) % 2, np.arange(4000)], axis=1)
    with pytest.raises(ValueError, match=r"at least 8,000 cells, .* 1: 4,000; 0: 2\..* Ask Ann\.$"):
        learn_codec(X, max_cells=5000, advice="Ask Ann.")
    ids = np.arange(150_000)
    with pytest.raises(ValueError, match=r"'id': more than 100,000; 'zip': 3,000; 's': 2\. .*Bins"):
        learn_codec(pd.DataFrame({"s": ids % 2, "zip": ids % 3000, "id": ids / 7}))
    declared = pd.DataFrame({"s": [0, 1, 1], "u": pd.Categorical([5, 7, 7], range(9999))})
    with pytest.raises(ValueError, match=r"9,999 \(2 of them used\).*remove_unused_categories"):
        learn_codec(declared, max_cells=5000)
    many = pd.DataFrame(np.stack([ids[:100]] * 40, axis=1) % 10, columns=list(map(str, range(40))))
    with pytest.raises(ValueError, match=r"; 37 more columns\."):
        learn_codec(many, categories="product")


def test_bad_cells():
    codec = learn_codec(GOOD)
    for cells in ([-1], [4], [0.0], [True]):
        with pytest.raises(ValueError, match="cell codes must be integers from 0 to 3"):
            codec.decode(cells, like=GOOD)
    with pytest.raises(ValueError, match="part must be"):
        codec.decode([0], like=GOOD, part="sensitive")


@pytest.mark.parametrize(
    ("sensitive", "positions"),
    [
        ("s", (1,)),
        (2, (2,)),
        (-1, (3,)),
        (["t", "s"], (1, 2)),
        ([1, -3], (1,)),
        (np.array([True, False, False, True]), (0, 3)),
        (slice("s", "b"), (1, 2, 3)),
        (lambda X: X.columns[X.dtypes == "int64"], (2, 3)),
        (lambda X: [False, True, False, False], (1,)),
    ],
)
def test_sensitive_columns(sensitive, positions):
    assert resolve_columns(SURVEY, sensitive) == positions


@pytest.mark.parametrize(
    ("sensitive", "error", "message"),
    [
        ("z", ValueError, r"column 'z' not found; the columns are \['a', 's', 't', 'b'\]"),
        (-5, ValueError, "column -5 not found"),
        ([], ValueError, "selects no column"),
        ([True, False], ValueError, "mask of 2 values, but there are 4 columns"),
        (True, TypeError, "must be a column name or position"),
    ],
)
def test_bad_sensitive_columns(sensitive, error, message):
    with pytest.raises(error, match=message):
        resolve_columns(SURVEY, sensitive)


def test_a_name_in_a_table_without_names():
    with pytest.raises(
        ValueError, match=r"no names\. Pass a position; or, in a Pipeline, .*set_output"
    ):
        resolve_columns(SURVEY.to_numpy(), "s")


@pytest.mark.parametrize("names", [[1, 2, 3], [-1, 0, 1]])
def test_numbers_that_are_names_and_places_of_different_columns_are_refused(names):
    """Else another column would be protected than the one of this name."""
    X = pd.DataFrame([["no", "a", "x"], ["yes", "b", "y"], ["no", "b", "y"]], columns=names)
    number = int(names[0])
    with pytest.raises(
        ValueError, match="may be the column of this name, or the one at this position"
    ):
        resolve_columns(X, [number])
    with pytest.raises(ValueError, match=r"X\.rename\(columns=str\)"):
        GRRSanitizer(sensitive=number).fit(X)
    strings = X.rename(columns=str)
    assert GRRSanitizer(sensitive=str(names[0])).fit(strings).mechanism_.secrets == ("no", "yes")
