"""RobustMSESanitizer: alphabets with empty cells, how reports leave, and the score."""

import warnings

import numpy as np
import pandas as pd
import pytest
from robust_mse_fits import (
    COUNTS,
    N_ROWS,
    PROBLEMS,
    SPARSE,
    absolute,
    by_cell,
    fit,
    frame_of,
    leaks,
    rows_of,
    squared,
)

from skrldp import (
    AllDistributions,
    PrivacyLeakWarning,
    RobustMSESanitizer,
)

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
# The papers' set is meant here, and tables with rare cells too, for which that set is weak.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:the chi-squared set may miss:skrldp.PrivacyLeakWarning",
)


# --- Alphabets that the public table does not fill -----------------------------------------------


@pytest.mark.parametrize("problem", PROBLEMS)
@leaks
def test_categories_that_the_public_data_lacks(problem):
    utility, privacy = PROBLEMS[problem]
    X = pd.DataFrame(rows_of(COUNTS), columns=["s", "u"])
    found = RobustMSESanitizer(
        0.5,
        sensitive=0,
        categories={"s": [0, 1, 9], "u": [0, 1, 2, 5]},
        robust_utility=utility,
        robust_privacy=privacy,
        random_state=0,
    ).fit(X, sample_weight=COUNTS.ravel())
    assert found.joint_.counts.shape == (3, 4) and found.certificate_.holds(0.5)
    assert found.joint_.values == (0, 1, 2, 5)
    distribution = found.joint_.probabilities.ravel()
    assert found.distortion_ == pytest.approx(distribution @ by_cell(found, squared), rel=1e-12)
    new = pd.DataFrame([[9, 5], [0, 5], [9, 0]], columns=["s", "u"])
    assert found.transform(new)["u"].dtype == X["u"].dtype
    assert found.score(new) <= 0
    posterior = found.set_params(encode="posterior").transform(new)
    assert {"s_9", "u_5"} <= set(posterior.columns)
    # the unseen secret is protected, too: it may have any conditional
    for u in range(4):
        conditionals = np.vstack([found.joint_.conditionals[:2], np.eye(4)[u]])
        assert found.mechanism_.leakage(conditionals / 3) <= 0.5 + 1e-9
    if privacy:
        assert found.certificate_.uncertainty == found.uncertainty_.fit_set(found.joint_)


def test_an_unseen_secret_and_no_robust_privacy():
    found = fit([[0, 3], [2, 0], [0, 0]], uncertainty=AllDistributions(), robust_privacy=False)
    assert found.certificate_.holds(0.5)
    assert found.worst_case_distortion_ == pytest.approx(by_cell(found, squared).max(), rel=1e-9)


# --- How reports leave ---------------------------------------------------------------------------


def names_of(table):
    return list(getattr(table, "column_names", None) or table.columns)


@pytest.mark.parametrize(
    ("sensitive", "library"),
    [
        ("ill", "pandas"),
        ([1], "polars"),
        ([1], "pyarrow"),
        (["size", "age"], "pandas"),
        (["age"], "pyarrow"),
        (lambda X: ["ill", "size"], "polars"),
    ],
    ids=["name", "position", "position of arrow", "two", "first", "function"],
)
def test_cells_are_the_columns_of_u(library, sensitive):
    X = frame_of(library)
    found = RobustMSESanitizer(2.0, sensitive=sensitive, distance="hamming", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        Y = found.fit(X).transform(X)
    secret = sensitive(X) if callable(sensitive) else sensitive
    secret = ["ill"] if secret in ("ill", [1]) else secret
    expected = [name for name in ("age", "ill", "size") if name not in secret]
    assert names_of(Y) == expected == list(found.get_feature_names_out())
    assert type(Y) is type(X) and Y.shape == (N_ROWS, len(expected))
    if library == "pandas":
        pd.testing.assert_index_equal(Y.index, X.index)
        pd.testing.assert_series_equal(Y.dtypes, X.dtypes[expected])
    else:
        assert Y.schema == X.select(expected).schema
    # they are the symbols that were drawn
    drawn = found.set_params(encode="symbol").transform(X)
    symbols = [found.mechanism_.symbols[int(y)] for y in np.asarray(drawn["report"])]
    cells = [np.asarray(Y[name]).tolist() for name in expected]
    rows = cells[0] if len(expected) == 1 else list(zip(*cells, strict=True))
    assert rows == symbols


def test_cells_of_arrays_and_lists():
    for X in (rows_of(SPARSE), rows_of(SPARSE).astype(np.uint8)):
        Y = RobustMSESanitizer(1.0, sensitive=0).fit(X, sample_weight=SPARSE.ravel()).transform(X)
        assert type(Y) is np.ndarray and Y.shape == (12, 1) and Y.dtype == X.dtype
    X = [["yes", 1], ["no", 2], ["no", 1], ["yes", 2]] * 20
    found = RobustMSESanitizer(1.0, random_state=0, sensitive=0).fit(X)
    Y = found.transform(X)
    assert Y.shape == (80, 1) and set(Y[:, 0]) == {1, 2}
    assert list(found.get_feature_names_out()) == ["x1"]
    assert list(found.get_feature_names_out(["married", "children"])) == ["children"]
    last = RobustMSESanitizer(1.0, sensitive=-1).fit([row[::-1] for row in X])
    assert list(last.get_feature_names_out()) == ["x0"]
    Y = found.set_output(transform="pandas").transform(X)
    assert list(Y.columns) == ["x1"] and pd.api.types.is_integer_dtype(Y["x1"])


# --- Score ---------------------------------------------------------------------------------------


def test_score_is_minus_the_expected_distance():
    """Sampled and computed; one false alarm in 1e9 runs by Hoeffding's inequality."""
    found = fit(SPARSE, 1.0, distance="absolute")
    others = np.array([[40, 5, 30, 1], [0, 60, 2, 8], [9, 9, 9, 9]])
    X = np.repeat(rows_of(others), 2000 * others.ravel(), axis=0)
    distribution = others.ravel() / others.sum()
    expected = distribution @ by_cell(found, absolute)
    assert found.score(X) == pytest.approx(-expected, rel=1e-12)
    assert found.score(rows_of(others), sample_weight=others.ravel()) == pytest.approx(-expected)
    sampled = np.abs(found.transform(X)[:, 0] - X[:, 1])
    deviation = 3.0 * np.sqrt(np.log(2e9) / (2 * len(X)))  # distances are between 0 and 3
    assert abs(sampled.mean() - expected) < deviation
    assert deviation < 0.1 * expected  # or the test could not fail


def test_score_at_a_distribution_of_the_set_is_above_its_bound():
    found = fit(SPARSE)
    counts = np.round(1e6 * found.worst_case_distribution_).astype(int)
    score = found.score(rows_of(SPARSE), sample_weight=counts.ravel())
    assert -found.worst_case_distortion_ == pytest.approx(score, rel=1e-4)


def test_score_follows_what_was_fitted():
    found = fit(SPARSE)
    before = found.score(rows_of(SPARSE))
    found.set_params(distance="hamming")
    assert found.score(rows_of(SPARSE)) == before
