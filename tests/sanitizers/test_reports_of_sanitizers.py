"""What sanitizers emit, which containers and values they take, and what they refuse."""

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

from skrldp import (
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
)
from skrldp.sanitizers import (
    reports as _write_reports,
)
from skrldp.sanitizers.access import codec_of

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
)


# --- How reports leave ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fits():
    """Fits by class and library, made once."""
    return {}


FORMS = [None, *_write_reports.ENCODINGS]


@pytest.mark.parametrize(
    ("cls", "library", "encode"),
    [
        *((GRRSanitizer, library, encode) for library in LIBRARIES for encode in FORMS),
        *(
            (cls, library, encode)
            for cls, library in zip(SANITIZERS[1:], itertools.cycle(LIBRARIES))
            for encode in FORMS
        ),
    ],
)
def test_every_form_in_every_library(cls, library, encode, fits):
    X = frame_of(library)
    if (cls, library) not in fits:
        fits[cls, library] = fitted(make(cls, sensitive=1, random_state=0), X)
    sanitizer = fits[cls, library].set_params(encode=encode)
    Y, names = sanitizer.transform(X), list(sanitizer.get_feature_names_out())
    assert type(Y) is type(X)
    assert Y.shape == (N_ROWS, len(names))
    if library == "numpy":
        assert Y.dtype == (float if encode in ("onehot", "posterior") else np.int64)
    else:
        assert list(getattr(Y, "column_names", None) or Y.columns) == names
    form = encode or ("symbol" if cls in OPTIMA else "cells")
    if form == "onehot":
        symbols = np.asarray(sanitizer.set_params(encode="symbol").transform(X))[:, 0]
        np.testing.assert_array_equal(np.asarray(Y), np.eye(len(names))[symbols])
    if form == "posterior":
        np.testing.assert_allclose(np.asarray(Y).sum(axis=1), 3.0)
    if library == "pandas":
        pd.testing.assert_index_equal(Y.index, X.index)
    if form == "cells":
        assert len(names) == (2 if cls is RobustMSESanitizer else 3)  # RobustMSE's are U alone
        if library == "pandas":
            pd.testing.assert_series_equal(Y.dtypes, X.dtypes[names])
        if library == "polars":
            assert Y.schema == X.select(names).schema


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


def test_posterior_of_an_impossible_report_is_the_marginal():
    counts = [3, 0, 1, 4]
    X = [["n", "a"], ["n", "b"], ["y", "a"], ["y", "b"]]
    sanitizer = fitted(SRRSanitizer(1.0, encode="posterior", sensitive=0), X, sample_weight=counts)
    # A mechanism whose second report comes from a cell that the public table lacks.
    matrix = [[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0]]
    sanitizer.mechanism_ = Mechanism.from_matrix(matrix, ("n", "y"), ("a", "b"))
    table = _write_reports.posterior(sanitizer.mechanism_, sanitizer.joint_, codec_of(sanitizer))
    np.testing.assert_allclose(table, [[3 / 8, 5 / 8, 4 / 8, 4 / 8]] * 2)


def test_an_optimum_reports_the_most_probable_cell():
    """Neither the symbol's number nor the cell that sends it most often: [1, 0, 0] here."""
    design = np.array([[0.1, 0.5, 0.1, 0.5], [0.5, 0.1, 0.5, 0.1], [0.4, 0.4, 0.4, 0.4]])
    X = np.repeat([[0, 1], [0, 2], [1, 1], [1, 2]], [7, 10, 26, 57], axis=0)
    sanitizer = GivenDesign(2.0, encode="cells", random_state=0, sensitive=0, matrix=design)
    Y = fitted(sanitizer, X).transform(X)
    reports = sanitizer.set_params(encode="symbol").transform(X)[:, 0]
    np.testing.assert_array_equal(Y, np.array([[1, 2], [1, 1], [1, 2]])[reports])


# --- set_output ----------------------------------------------------------------------------------


@pytest.mark.parametrize("container", ["pandas", "polars"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_outputs_are_of_the_library_that_was_asked_for(library, container):
    native = {"pandas": pd.DataFrame, "polars": pytest.importorskip("polars").DataFrame}[container]
    X = frame_of(library)
    sanitizer = SRRSanitizer(sensitive=1, random_state=0).fit(X)
    plain = sanitizer.transform(X)
    with sklearn.config_context(transform_output=container):
        assert type(sanitizer.transform(X)) is native
        assert type(sanitizer.set_output(transform="default").transform(X)) is type(plain)
    Y = sanitizer.set_output(transform=container).set_output(transform=None).transform(X)
    assert type(Y) is native and Y.shape == plain.shape
    assert list(Y.columns) == list(sanitizer.get_feature_names_out())
    if library == container:
        assert Y.equals(plain)
    if library == "polars" and container == "pandas":
        assert list(Y["size"].cat.categories) == ["S", "M", "L", "XL"]


# --- Warnings ------------------------------------------------------------------------------------


def test_rare_cells_warn():
    """Nine of ten cells with an expected count of 0.05: the 95 % set of order 2 misses in 36 %."""
    X = np.indices((2, 5)).reshape(2, -1).T
    rare = np.r_[9_999, 1, np.zeros(8, int)]
    message = (
        r"chi-squared .*about 0\.[34]\d? .*0\.05, .* 9 of 10 .*8 with none, 1 with one.*LikelihoodR"
    )
    with pytest.warns(PrivacyLeakWarning, match=message):
        IRSanitizer(uncertainty=RenyiBall(), sensitive=0).fit(X, sample_weight=rare)
    IRSanitizer(uncertainty=LikelihoodRatioSet(), sensitive=0).fit(
        X, sample_weight=rare
    )  # true for any counts
    IRSanitizer(uncertainty=RenyiBall(), sensitive=0).fit(X, sample_weight=rare + 10)
    SRRSanitizer(sensitive=0).fit(
        X, sample_weight=rare
    )  # private at all distributions: nothing to warn of


# --- Bad input -----------------------------------------------------------------------------------


FRAME = pd.DataFrame({"s": ["y", "n"] * 20, "u": [1, 1, 2, 2] * 10})


@pytest.mark.parametrize(
    ("sanitizer", "message"),
    [
        (SRRSanitizer(encode="onehots"), "encode='onehots' must be one of 'symbol', 'onehot'"),
        (SRRSanitizer(handle_unknown="drop"), "handle_unknown='drop' must be one of"),
        (SRRSanitizer(verbose=-1), "verbose=-1 must be an integer"),
        (PolyOptSanitizer(solver="magic"), "solver='magic' must be one of 'auto'"),
        (PolyOptSanitizer(time_limit=0), "time_limit=0 must be a positive number"),
        (PolyOptSanitizer(observe="some"), "observe='some' must be one of 'all', 'nonsens"),
        *(
            (cls(uncertainty=0.05), "uncertainty=0.05 must be None or an uncertainty set")
            for cls in SANITIZERS
        ),
    ],
)
def test_parameters_are_checked(sanitizer, message):
    with pytest.raises(ValueError, match=message):
        fitted(sanitizer.set_params(sensitive=0), GOOD)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([-1.0] + [1.0] * 39, "counts .*row 0"),
        ([0.5] * 40, "counts .*row 0"),
        ([0] * 40, "zero in every row"),
        ([1] * 39, "one count per row"),
        ([np.nan] * 40, "no value in rows 0, 1, .* of 40"),
    ],
)
def test_weights_are_checked(weights, message):
    with pytest.raises(ValueError, match=message):
        SRRSanitizer(sensitive="s").fit(FRAME, sample_weight=weights)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (FRAME[["u", "s"]], "must be in the same order"),
        (FRAME.rename(columns={"u": "v"}), "unseen at fit time:\n- v"),
        (FRAME[["s"]], "yet now missing:\n- u"),
        (FRAME[:0], r"0 sample\(s\)"),
        (FRAME.assign(u=[3, 1] * 20), r"column 'u' has a value unseen.*infrequent"),
        (FRAME.assign(s=["z", "y"] * 20), r"column 's' has a value unseen"),
        (FRAME["s"], "is one column"),
    ],
)
def test_transform_returns_all_rows_or_none(X, message):
    sanitizer = SRRSanitizer(sensitive="s").fit(FRAME)
    for method in (sanitizer.transform, sanitizer.score):
        with pytest.raises(ValueError, match=message):
            method(X)


def test_feature_names_are_checked():
    sanitizer = SRRSanitizer(sensitive="s").fit(FRAME)
    with pytest.raises(ValueError, match="should have length equal to number of features"):
        sanitizer.get_feature_names_out(["s"])
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        sanitizer.get_feature_names_out(["s", "v"])
    assert list(SRRSanitizer(sensitive=0).fit(GOOD).get_feature_names_out(["a", "b"])) == ["a", "b"]
