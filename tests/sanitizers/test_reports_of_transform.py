"""Reports are drawn from the certified matrix, and leave in the form and the library asked for.

Every form says the same report; a posterior is Bayes' rule; what is no report and what is no
record of the fitted table is refused as a whole.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
import sklearn
from sanitizer_fits import (
    GOOD,
    LIBRARIES,
    N_ROWS,
    OPTIMA,
    SANITIZERS,
    GivenDesign,
    fitted,
    frame_of,
    make,
)
from scipy.stats import chi2

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
)
from skrldp.sanitizers import reports as _write_reports

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
)

# --- How reports are drawn ------------------------------------------------------------------------


@pytest.mark.parametrize("cls", SANITIZERS)
def test_transform_samples_the_certified_matrix(cls):
    """Chi-squared test of each cell's reports; all together alarm falsely once in 1e9 runs."""
    sanitizer = fitted(make(cls, eps=1.0, encode="symbol"), GOOD)
    n_draws, (n_symbols, n_cells) = 20_000, sanitizer.mechanism_.shape
    for cell, (secret, value) in enumerate(sanitizer.mechanism_.cells):
        X = np.tile([[secret, value]], (n_draws, 1))
        seen = np.bincount(sanitizer.transform(X)[:, 0], minlength=n_symbols)
        expected = n_draws * sanitizer.mechanism_.matrix[:, cell]
        assert np.all(seen[expected == 0] == 0)
        common = expected >= 5
        assert seen[~common].sum() <= 100  # expected: at most 5 for each of at most 4 symbols
        statistic = ((seen - expected)[common] ** 2 / expected[common]).sum()
        assert statistic < chi2.isf(1e-9 / n_cells, max(1, common.sum()))


def test_two_calls_differ_unless_seeded():
    X = np.tile(GOOD, (10, 1))
    secure = SRRSanitizer(1.0, sensitive=0).fit(X)
    assert not np.array_equal(secure.transform(X), secure.transform(X))
    seeded, other = (SRRSanitizer(random_state=k, sensitive=0).fit(X) for k in (3, 4))
    np.testing.assert_array_equal(seeded.transform(X), seeded.transform(X))
    assert not np.array_equal(seeded.transform(X), other.transform(X))


# --- How reports leave ---------------------------------------------------------------------------


def assert_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(found, np.ndarray):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    elif isinstance(found, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected)
    else:
        assert found.equals(expected) and found.schema == expected.schema


# One sanitizer in all libraries, and every other one in one of them.
PAIRS = [(GRRSanitizer, library) for library in LIBRARIES]
PAIRS += list(zip(SANITIZERS[1:], itertools.cycle(LIBRARIES)))


@pytest.mark.parametrize(("cls", "library"), PAIRS)
def test_every_form_leaves_in_the_library_and_is_what_decoding_writes(cls, library):
    X = frame_of(library)
    sanitizer = fitted(make(cls, eps=2.0, sensitive=1, random_state=0), X)
    symbols = sanitizer.set_params(encode="symbol").transform(X)
    for encode in (None, *_write_reports.ENCODINGS):
        Y = sanitizer.set_params(encode=encode).transform(X)
        names = list(sanitizer.get_feature_names_out())
        assert type(Y) is type(X) and Y.shape == (N_ROWS, len(names))
        if library == "numpy":
            assert Y.dtype == (float if encode in ("onehot", "posterior") else np.int64)
        else:
            assert list(getattr(Y, "column_names", None) or Y.columns) == names
        form = encode or ("symbol" if cls in OPTIMA else "cells")
        if form == "onehot":
            expected = np.eye(len(names))[np.asarray(symbols)[:, 0]]
            np.testing.assert_array_equal(np.asarray(Y), expected)
        if form == "posterior":
            np.testing.assert_allclose(np.asarray(Y).sum(axis=1), 3.0)
        if library == "pandas":
            pd.testing.assert_index_equal(Y.index, X.index)
        if form == "cells":
            assert len(names) == (2 if cls is RobustMSESanitizer else 3)  # of these, U alone
            if library == "pandas":
                pd.testing.assert_series_equal(Y.dtypes, X.dtypes[names])
            if library == "polars":
                assert Y.schema == X.select(names).schema
        assert_same(sanitizer.set_params(encode=None).decode(symbols, encode=form), Y)
    assert_same(sanitizer.decode(symbols), sanitizer.decode(symbols, encode="cells"))
    with sklearn.config_context(transform_output="pandas"):
        expected = sanitizer.set_params(encode="onehot").transform(X)
        assert_same(sanitizer.decode(symbols, "onehot"), expected)


@pytest.mark.parametrize("n_sizes", [4, 200])
def test_posterior_is_bayes_rule(n_sizes):
    """For dense matrices and for the four weights of many cells alike."""
    X = frame_of("pandas")
    sizes = [["S", "M", "L", "XL", *range(n_sizes - 4)], [False, True], [0, 1, None]]
    options = {"encode": "posterior", "random_state": 0, "categories": sizes}
    sanitizer = SRRSanitizer(sensitive=["ill", "size"], **options).fit(X)
    assert (sanitizer.mechanism_.form.blocks is None) is (n_sizes == 4)
    Y = sanitizer.transform(X)
    assert list(Y.columns)[:4] == ["size_S", "size_M", "size_L", "size_XL"]
    distribution = sanitizer.joint_.probabilities.ravel()
    shares = sanitizer.mechanism_.matrix * distribution
    shares /= shares.sum(axis=1, keepdims=True)
    ill = np.array([secret[1] for secret, _ in sanitizer.mechanism_.cells])  # (size, ill)
    reports = sanitizer.set_params(encode="symbol").transform(X)["report"]
    np.testing.assert_allclose(Y["ill_True"], shares[reports][:, ill].sum(axis=1))
    none = np.array([value is None for _, value in sanitizer.mechanism_.cells])
    np.testing.assert_allclose(Y["count_None"], shares[reports][:, none].sum(axis=1))


def test_an_optimum_reports_the_most_probable_cell():
    """Neither the symbol's number nor the cell that sends it most often: [1, 0, 0] here."""
    design = np.array([[0.1, 0.5, 0.1, 0.5], [0.5, 0.1, 0.5, 0.1], [0.4, 0.4, 0.4, 0.4]])
    X = np.repeat([[0, 1], [0, 2], [1, 1], [1, 2]], [7, 10, 26, 57], axis=0)
    sanitizer = GivenDesign(2.0, encode="cells", random_state=0, sensitive=0, matrix=design)
    Y = fitted(sanitizer, X).transform(X)
    reports = sanitizer.set_params(encode="symbol").transform(X)[:, 0]
    np.testing.assert_array_equal(Y, np.array([[1, 2], [1, 1], [1, 2]])[reports])


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
    assert_same(sanitizer.decode(Y, encode="symbol"), Y)
    expected = FrequencyEstimator(sanitizer).fit(numbers).counts_
    for reports in (Y, Y["report"]):
        np.testing.assert_array_equal(FrequencyEstimator(sanitizer).fit(reports).counts_, expected)


@pytest.mark.parametrize(
    ("reports", "said"),
    [
        ([0, 6], r"1 of 2 reports are not symbols .* 0 to 5 \(the first in row 1;"),
        (["0"], "not symbols of this mechanism.*row 0"),
        (np.array([0.0, np.nan]), "the first in row 1"),
        (np.zeros((3, 2), dtype=int), "has 2 columns, but symbols are a single column"),
        ([], "0 sample"),
    ],
)
def test_what_is_no_symbol_is_refused(reports, said):
    sanitizer = GRRSanitizer(sensitive=0).fit([[s, u] for s in range(2) for u in range(3)])
    with pytest.raises((ValueError, TypeError), match=said):
        sanitizer.decode(reports)


# --- Warnings and bad input ----------------------------------------------------------------------


def test_rare_cells_warn():
    """Nine of ten cells with an expected count of 0.05: the 95 % set of order 2 misses in 36 %."""
    X, rare = np.indices((2, 5)).reshape(2, -1).T, np.r_[9_999, 1, np.zeros(8, int)]
    words = r"chi-squared .*about 0\.[34]\d? .*0\.05, .* 9 of 10 .*8 with none, 1 with one.*Likelih"
    ball = IRSanitizer(uncertainty=RenyiBall(), sensitive=0)
    with pytest.warns(PrivacyLeakWarning, match=words):
        ball.fit(X, sample_weight=rare)
    ball.fit(X, sample_weight=rare + 10)
    exact = IRSanitizer(uncertainty=LikelihoodRatioSet(), sensitive=0)
    exact.fit(X, sample_weight=rare)  # which holds for any counts
    SRRSanitizer(sensitive=0).fit(X, sample_weight=rare)  # private at all distributions


@pytest.mark.parametrize(
    ("sanitizer", "message"),
    [
        (SRRSanitizer(encode="onehots"), "encode='onehots' must be one of 'symbol', 'onehot'"),
        (RobustMSESanitizer(uncertainty=0.05), "uncertainty=0.05 must be None or an uncertainty"),
    ],
)
def test_parameters_are_checked(sanitizer, message):
    with pytest.raises(ValueError, match=message):
        fitted(sanitizer.set_params(sensitive=0), GOOD)
