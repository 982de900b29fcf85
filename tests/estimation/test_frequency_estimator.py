"""From reports to estimates: counting, identifiability, both methods, marginals and numbers."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator

import skrldp.estimation
from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    Mechanism,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
    client,
)
from skrldp.estimation._estimate import critical_value, project
from skrldp.estimation._read_reports import Rows, count_reports, read_rows
from skrldp.estimation._source import Source, read_source

DISTRIBUTION = np.array([[0.10, 0.15, 0.05], [0.20, 0.40, 0.10]])
COUNTS = np.array([[70, 100, 40], [260, 570, 160]])
TABLE = pd.DataFrame([(s, u) for s in ("no", "yes") for u in (1, 2, 3)], columns=["ill", "visits"])
FINE = 10**12  # so many reports that their shares are the distribution of the report


def grr(k, eps=1.0):
    matrix = np.ones((k, k)) + (np.exp(eps) - 1.0) * np.eye(k)
    return matrix / matrix.sum(axis=0)


def plain(matrix, a1=None):
    """Name the cells of a matrix, as many secrets as asked (1)."""
    a1 = a1 or 1
    return Mechanism.from_matrix(matrix, range(a1), range(np.shape(matrix)[1] // a1))


def fit_counts(mechanism, counts, *args, **options):
    options = {"encode": "symbol"} | options
    symbols = np.arange(len(counts))
    return FrequencyEstimator(mechanism, *args, **options).fit(symbols, sample_weight=counts)


def fit_distribution(mechanism, distribution, *args, **options):
    """Fit what are practically infinitely many reports from a distribution."""
    report = mechanism.matrix @ np.ravel(distribution)
    return fit_counts(mechanism, np.round(FINE * report), *args, **options)


@pytest.fixture(scope="module")
def fitted():
    def fit(sanitizer):
        return sanitizer.fit(TABLE, sample_weight=COUNTS.ravel())

    return {
        "grr": fit(GRRSanitizer(1.0, sensitive=0)),
        "srr": fit(SRRSanitizer(1.0, sensitive=0)),
        "polyopt": fit(PolyOptSanitizer(1.0, sensitive=0, region="lower")),
        "mse": fit(RobustMSESanitizer(1.0, sensitive=0)),
        "blind": fit(PolyOptSanitizer(1.0, sensitive=0, region="lower", observe="nonsensitive")),
    }


# -- counting -------------------------------------------------------------------------------------


def onehot(symbols, b):
    return (np.asarray(symbols)[:, None] == np.arange(b)).astype(int)


SYMBOLS = np.array([3, 0, 5, 5, 2, 1, 1, 1])
CELLS = TABLE.iloc[SYMBOLS]
FORMS = {
    "list": SYMBOLS.tolist(),
    "uint8": SYMBOLS.astype(np.uint8),
    "column of floats": SYMBOLS[:, None].astype(float),
    "objects": SYMBOLS.astype(object),
    "big-endian": SYMBOLS.astype(">i4"),
    "series": pd.Series(SYMBOLS),
    "nullable series": pd.Series(SYMBOLS, dtype="Int64"),
    "polars series": pl.Series(SYMBOLS),
    "pandas": pd.DataFrame({"report": SYMBOLS}),
    "polars": pl.DataFrame({"report": SYMBOLS}),
    "pyarrow": pa.table({"report": SYMBOLS}),
    "one-hot": onehot(SYMBOLS, 6),
    "one-hot booleans": onehot(SYMBOLS, 6).astype(bool),
    "one-hot frame": pd.DataFrame(onehot(SYMBOLS, 6), columns=[f"report_{y}" for y in range(6)]),
    "cells": CELLS,
    "cells in other order": CELLS[["visits", "ill"]],
    "cells as objects": CELLS.to_numpy(object),
    "cells as rows": CELLS.to_numpy(object).tolist(),
    "cells in polars": pl.DataFrame(CELLS.to_dict("list")),
    "categories": CELLS.astype({"ill": "category"}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_form_is_counted_alike(fitted, form, weighted):
    weights = np.arange(8) if weighted else None
    mechanism = fitted["grr"].mechanism_
    estimator = FrequencyEstimator(mechanism).fit(FORMS[form], sample_weight=weights)
    assert estimator.counts_.tolist() == np.bincount(SYMBOLS, weights, minlength=6).tolist()
    assert estimator.n_reports_ == (28 if weighted else 8)


@pytest.mark.parametrize("name", ["grr", "srr", "polyopt", "mse", "blind"])
@pytest.mark.parametrize("encode", ["symbol", "onehot", "cells"])
def test_reads_what_sanitizers_write(fitted, name, encode):
    """Whatever the form, the distribution of the report is that of the mechanism."""
    sanitizer = clone(fitted[name]).set_params(encode=encode, random_state=0)
    sanitizer.fit(TABLE, sample_weight=COUNTS.ravel())
    records = TABLE.iloc[np.repeat(np.arange(6), 50)]
    for X in (records, records.to_numpy(object)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an array after a frame
            reports = sanitizer.transform(X)
        ambiguous = name == "mse" and encode == "cells" and X is not records  # U is 1, 2 or 3
        estimator = FrequencyEstimator(sanitizer, encode="cells" if ambiguous else "auto")
        estimator.fit(reports)
        symbols = sanitizer.set_params(encode="symbol").transform(records)
        sanitizer.set_params(encode=encode)
        source = read_source(sanitizer)
        counts, kinds = count_reports(read_rows(symbols, source, "symbol", None), source, "symbol")
        if encode == "cells":
            merged = estimator._kinds
            assert estimator.counts_.tolist() == np.bincount(merged, counts).tolist()
        else:
            assert estimator.counts_.tolist() == counts.tolist()
            assert kinds.tolist() == list(range(len(counts)))


def test_the_secret_need_not_be_the_first_column(monkeypatch):
    """Reports as cells are counted in the order of the symbols, so that blocks stay blocks."""
    from skrldp.mechanism import BlockForm

    monkeypatch.setattr(BlockForm, "weights", property(lambda _: pytest.fail("matrix built")))
    mechanism = Mechanism.from_blocks((0.4, 0.1, 0.12, 0.02), "abc", range(4))
    mechanism = mechanism.named(None, [("u", False), ("s", True)])
    codes = np.random.default_rng(0).integers(0, 12, 50)
    rows = pd.DataFrame([mechanism.symbols[code][::-1] for code in codes], columns=["u", "s"])
    estimator = FrequencyEstimator(mechanism).fit(rows)
    assert estimator.counts_.tolist() == np.bincount(codes, minlength=12).tolist()
    by_number = FrequencyEstimator(mechanism).fit(codes)
    np.testing.assert_array_equal(estimator.frequencies_, by_number.frequencies_)


def test_cells_that_stand_for_several_symbols(fitted):
    """Two symbols that look alike are one: their rows of Q add up."""
    sanitizer = clone(fitted["polyopt"]).set_params(encode="cells")
    sanitizer.fit(TABLE, sample_weight=COUNTS.ravel())
    mechanism = sanitizer.mechanism_
    written = mechanism.likely_cells(sanitizer.joint_.probabilities)
    assert len(set(written)) < len(written)
    shares = mechanism.matrix @ DISTRIBUTION.ravel()
    weights = np.round(FINE * shares)
    estimator = FrequencyEstimator(sanitizer).fit(TABLE.iloc[written], sample_weight=weights)
    merged = np.array([mechanism.matrix[written == cell].sum(axis=0) for cell in set(written)])
    assert estimator.rank_ == np.linalg.matrix_rank(merged)
    assert estimator.rank_ < fit_distribution(mechanism, DISTRIBUTION).rank_
    known = estimator.identifiable_
    np.testing.assert_allclose(estimator.frequencies_[known], DISTRIBUTION[known], atol=1e-9)
    assert np.isnan(estimator.frequencies_[~known]).all() and (~known).any()


def test_kinds_are_in_the_order_of_the_symbols():
    source = Source(plain(grr(4)), [("b",), ("a",), ("b",), ("c",)], ("u",))
    counts, kinds = count_reports(Rows([["a"], ["c"], ["c"], ["b"], ["a"]]), source, "cells")
    assert kinds.tolist() == [0, 1, 0, 2]
    assert counts.tolist() == [1, 2, 2]
    source = Source(plain(grr(3)), [("x", 2), ("y", 1), ("x", 1)], ("u", "v"))
    counts, kinds = count_reports(Rows([["x", 1], ["x", 1], ["x", 2]]), source, "cells")
    assert kinds.tolist() == [0, 1, 2]
    assert counts.tolist() == [1, 0, 2]


def test_cells_of_a_bare_optimum_cannot_be_told_apart(fitted):
    mechanism = fitted["polyopt"].mechanism_
    with pytest.raises(ValueError, match="Pass the fitted sanitizer in its place"):
        FrequencyEstimator(mechanism).fit(CELLS)
    with pytest.raises(ValueError, match="Pass the fitted sanitizer in its place"):
        FrequencyEstimator(mechanism, encode="cells").fit(CELLS)


WAYS = {  # U, outputs, and whether a number could be a report's number and another one's value
    "numbers in another order": ([0, 1, 2], [2, 1, 0], True),
    "numbers that start at 1": ([1, 2, 3], None, True),
    "numbers that are the reports' own": ([0, 1, 2], None, False),
    "numbers above all reports'": ([10, 20, 30], [30, 20, 10], False),
    "words": (["a", "b", "c"], None, False),
}


@pytest.mark.parametrize("way", WAYS)
def test_from_a_fit_through_clients_to_estimates(way):
    """Numbers of reports and their values are told apart, or an error asks which they are."""
    values, outputs, ambiguous = WAYS[way]
    rng = np.random.default_rng(0)
    u = np.array(values, dtype=object)[rng.choice(3, size=4_000, p=[0.7, 0.1, 0.2])]
    X = np.column_stack([rng.integers(0, 2, 4_000).astype(object), u])
    distance = "hamming" if way == "words" else "squared"
    sanitizer = RobustMSESanitizer(8.0, outputs=outputs, distance=distance, observe="nonsensitive")
    mechanism = sanitizer.fit(X).mechanism_
    text, truth = mechanism.to_json(), [np.mean(u == value) for value in values]

    def shares(estimator):
        return estimator.marginal(1).frequencies

    device = client.load(text, random_state=1)
    sources = (text, mechanism, sanitizer)
    sent, written = device.report_many(X), sanitizer.transform(X)
    for source in sources:
        stated = FrequencyEstimator(source, encode=device.encode).fit(sent)
        np.testing.assert_allclose(shares(stated), truth, atol=0.05)
        if source is sanitizer or mechanism.symbols != (0, 1, 2):
            stated = FrequencyEstimator(source, encode="cells").fit(written)
            np.testing.assert_allclose(shares(stated), truth, atol=0.05)
        named = FrequencyEstimator(source).fit(pd.DataFrame({"report": sent}))
        np.testing.assert_allclose(shares(named), truth, atol=0.05)
        for reports in (sent, written, sent.tolist()):
            estimator = FrequencyEstimator(source)
            if ambiguous:
                with pytest.raises(ValueError, match=r"encode='symbol' for .* encode='cells' for"):
                    estimator.fit(reports)
            else:
                np.testing.assert_allclose(shares(estimator.fit(reports)), truth, atol=0.05)
    if way != "words":
        mean = FrequencyEstimator(text, encode="symbol").fit(sent).mean(1).value
        assert mean == pytest.approx(np.mean(u.astype(float)), abs=0.05 * max(values))


def test_a_column_of_u_that_is_called_report():
    mechanism = plain(grr(3)).named((2, 1, 0), [("s", True), ("report", False)])
    with pytest.raises(ValueError, match="encode='symbol' for"):
        FrequencyEstimator(mechanism).fit(pd.DataFrame({"report": [0, 1, 2]}))


def test_values_some_of_which_are_numbers_of_symbols():
    """Report 0 has the value 0, so no reading is wrong that is possible."""
    mechanism = plain(grr(2)).named((0, 2), [("s", True), ("u", False)])
    for reports in ([0, 2, 2], [0, 1, 1]):
        assert FrequencyEstimator(mechanism).fit(reports).counts_.tolist() == [1, 2]
    for reports, message in (
        ([0, 1, 2], "row 2 of Y has a number that is no symbol"),
        (["a"], "column 0 of Y has 1 row with .* in row 0"),
    ):
        with pytest.raises(ValueError, match=message):
            FrequencyEstimator(mechanism).fit(reports)


def test_values_that_could_be_numbers_of_symbols():
    mechanism = plain(grr(3)).named((1, 2, 3), [("s", True), ("u", False)])
    with pytest.raises(ValueError, match=r"any of \['symbol', 'cells'\]: .* encode='cells'"):
        FrequencyEstimator(mechanism).fit([1, 2, 1])
    as_symbols = FrequencyEstimator(mechanism, encode="symbol").fit([1, 2, 1])
    assert as_symbols.counts_.tolist() == [0, 2, 1]
    as_values = FrequencyEstimator(mechanism, encode="cells").fit([1, 2, 1])
    assert as_values.counts_.tolist() == [2, 1, 0]
    named = FrequencyEstimator(mechanism).fit(pd.Series([1, 2, 1], name="u"))
    assert named.counts_.tolist() == [2, 1, 0]


BAD = {
    "too large": ([0, 6], "row 1 of Y has a number .* 0 to 5"),
    "negative": ([0, 1, -1], "row 2 of Y has a number"),
    "fractions": ([0.5], "row 0 of Y has none"),
    "missing": ([1.0, np.nan], "row 1 of Y has none. Drop rows"),
    "null": (pd.Series([1, None], dtype="Int64"), "row 1 of Y has none"),
    "words": (["a", "b"], "symbols must be whole numbers"),
    "text": (["1", "2"], "symbols must be whole numbers, but Y holds other values"),
    "none": ([], r"0 sample\(s\)"),
    "two ones": (onehot([1, 2], 6) + onehot([2, 2], 6) * [[1], [0]], "but row 0 of Y has 2"),
    "no one": (np.eye(6)[:2] * [[1], [0]], "single 1, but row 1 of Y has 0"),
    "posteriors": (np.full((2, 6), 1 / 6), "whole numbers, but row 0"),
    "width": (np.zeros((3, 4)), "Y has 4 columns, but a report .* or the 2 column"),
    "category": (
        [["no", 1], ["no", 9]],
        "column 1 of Y has 1 row with .* in row 1",
    ),
    "names": (TABLE.rename(columns={"ill": "sick"}), r"\['ill', 'visits'\], but Y has 2: \['sick'"),
    "scalar": (3, "Expected 2D array"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_reports(fitted, case):
    reports, message = BAD[case]
    estimator = FrequencyEstimator(fitted["grr"].mechanism_).fit(SYMBOLS)
    before = vars(estimator).copy()
    with pytest.raises(ValueError, match=message):
        estimator.fit(reports)
    assert vars(estimator) == before  # nothing half-done


def test_combinations_that_are_no_reports():
    symbols = [("a", ("x", 1)), ("b", ("x", 2)), ("b", ("y", 2))]
    mechanism = Mechanism.from_matrix(np.full((3, 6), 1 / 3), "ab", [s[1] for s in symbols])
    mechanism = mechanism.named(symbols, [("u", False), ("s", True), ("v", False)])
    rows = [["x", "a", 1], ["y", "b", 2], ["y", "b", 2]]
    with pytest.raises(ValueError, match=r"any of \['onehot', 'cells'\]"):  # three of each
        FrequencyEstimator(mechanism).fit(rows)
    estimator = FrequencyEstimator(mechanism, encode="cells")
    assert estimator.fit(rows).counts_.tolist() == [1, 0, 2]
    with pytest.raises(ValueError, match="row 1 of Y is a combination"):
        estimator.fit([["x", "a", 1], ["y", "a", 1]])


def test_reports_of_another_mechanism():
    mechanism = plain(np.vstack([grr(3), np.zeros(3)]))
    with pytest.raises(ValueError, match=r"2 reports of symbol 3, .* never sends"):
        FrequencyEstimator(mechanism).fit([0, 3, 1, 3])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], "row 1 has"),
        ([1, 0.5], "row 1 has"),
        ([1, 2, 3], r"expected \(2,\)"),
        ([0, 0], "there is no report"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        FrequencyEstimator(plain(grr(3))).fit([0, 1], sample_weight=weights)


# -- scikit-learn's conventions -------------------------------------------------------------------


def test_parameters(fitted):
    mechanism = fitted["grr"].mechanism_
    estimator = FrequencyEstimator(mechanism, "ml", tol=1e-6)
    assert list(estimator.get_params()) == [
        "encode", "max_iter", "mechanism", "method", "prior", "prior_weight", "public",
        "restrict_to", "time_limit", "tol",
    ]  # fmt: skip
    assert estimator.get_params()["mechanism"] is mechanism
    with pytest.raises(NotFittedError):
        estimator.confidence_interval()
    with pytest.raises(NotFittedError):
        estimator.mean("visits")
    copy = clone(estimator).set_params(method="least-squares").fit(SYMBOLS)
    np.testing.assert_array_equal(
        copy.frequencies_, FrequencyEstimator(mechanism).fit(SYMBOLS).frequencies_
    )
    assert not hasattr(estimator, "frequencies_")
    assert repr(FrequencyEstimator("{}", "ml")) == "FrequencyEstimator(mechanism='{}', method='ml')"


def test_a_covariance_that_is_too_large(monkeypatch, fitted):
    monkeypatch.setattr(skrldp.estimation._categories, "_MOST_COVARIANCE", 12)
    estimator = FrequencyEstimator(fitted["grr"]).fit(SYMBOLS)
    assert estimator.covariance("ill").shape == (2, 2)
    with pytest.raises(ValueError, match="covariance of 3 categories is too large"):
        estimator.covariance("visits")


def test_survives_pickling(fitted):
    estimator = FrequencyEstimator(fitted["polyopt"], "ml").fit(SYMBOLS)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.std_error_, estimator.std_error_)
    assert again.quantile("visits", 0.5).value == estimator.quantile("visits", 0.5).value


def test_columns_of_reports(fitted):
    estimator = FrequencyEstimator(fitted["grr"]).fit(CELLS)
    assert estimator.n_features_in_ == 2
    assert estimator.feature_names_in_.tolist() == ["ill", "visits"]
    estimator.fit(SYMBOLS)
    assert estimator.n_features_in_ == 1
    assert not hasattr(estimator, "feature_names_in_")


def test_who_made_the_reports(fitted):
    sanitizer = fitted["grr"]
    by = [sanitizer, sanitizer.mechanism_, sanitizer.mechanism_.to_json()]
    estimates = [FrequencyEstimator(m).fit(SYMBOLS).frequencies_ for m in by]
    np.testing.assert_array_equal(estimates[0], estimates[1])
    np.testing.assert_array_equal(estimates[0], estimates[2])
    with pytest.raises(ValueError, match=r"not fitted.*FrozenEstimator"):
        clone(FrequencyEstimator(sanitizer)).fit(SYMBOLS)
    frozen = clone(FrequencyEstimator(FrozenEstimator(sanitizer))).fit(SYMBOLS)
    np.testing.assert_array_equal(frozen.frequencies_, estimates[0])
    with pytest.raises(TypeError, match="or a fitted sanitizer, got ndarray"):
        FrequencyEstimator(np.eye(3)).fit(SYMBOLS)
    with pytest.raises(ValueError, match="not a mechanism"):
        FrequencyEstimator("{}").fit(SYMBOLS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "em"}, "method='em' must be one of 'least-squares', 'ml'"),
        ({"encode": "posterior"}, "encode='posterior' must be one of"),
        ({"tol": 0}, "tol=0 must be a positive number"),
        ({"tol": True}, "tol=True"),
        ({"max_iter": 1.5}, "max_iter=1.5 must be a whole number"),
        ({"prior": [1, 2]}, "prior must be None or a JointDistribution"),
        ({"prior": JointDistribution([[1, 2, 3]])}, "a prior needs method='ml'"),
        ({"prior": JointDistribution([[1, 2]]), "method": "ml"}, "the prior has other values"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        FrequencyEstimator(plain(grr(3)), **options).fit([0, 1])


# -- least squares --------------------------------------------------------------------------------


@pytest.mark.parametrize("eps", [0.5, 2.0])
def test_randomised_response_in_closed_form(eps):
    counts = np.array([40, 38, 37, 44, 41])
    p, q = np.exp(eps) / (np.exp(eps) + 4), 1.0 / (np.exp(eps) + 4)
    n, f = counts.sum(), counts / counts.sum()
    estimator = fit_counts(plain(grr(5, eps)), counts)
    np.testing.assert_allclose(estimator.frequencies_[0], (f - q) / (p - q), atol=1e-8)
    error = np.sqrt(f * (1 - f) / n) / (p - q)
    np.testing.assert_allclose(estimator.std_error_[0], error, rtol=1e-8)


@pytest.mark.parametrize("method", ["least-squares", "ml"])
@pytest.mark.parametrize("name", ["grr", "srr", "polyopt", "mse", "blind"])
def test_many_reports_give_the_distribution_where_it_is_identifiable(fitted, name, method):
    estimator = fit_distribution(fitted[name].mechanism_, DISTRIBUTION, method)
    known = estimator.identifiable_
    assert known.all() if name in ("grr", "srr", "polyopt") else not known.any()
    np.testing.assert_allclose(estimator.frequencies_[known], DISTRIBUTION[known], atol=1e-6)
    assert np.isnan(estimator.std_error_[~known]).all()
    assert np.isnan(estimator.frequencies_[~known]).all() or method == "ml"
    # All of these tell the distribution of U, and the last two nothing but that.
    of_value = estimator.marginal("visits")
    assert of_value.identifiable.all()
    np.testing.assert_allclose(of_value.frequencies, DISTRIBUTION.sum(axis=0), atol=1e-6)
    of_secret = estimator.marginal("ill")
    assert of_secret.identifiable.all() == known.all()


def test_a_blind_mechanism_tells_nothing_of_the_secret(fitted):
    estimator = fit_distribution(fitted["blind"].mechanism_, DISTRIBUTION)
    assert np.isnan(estimator.marginal(part="sensitive").frequencies).all()
    assert not estimator.marginal(["ill", "visits"]).identifiable.any()
    with pytest.raises(ValueError, match=r"do not determine the frequencies of 2 of 2 .* 'no'"):
        estimator.marginal("ill").projected()


def test_exact_covariance_of_the_multinomial():
    """Against the sample covariance of the estimate from each single report."""
    rng = np.random.default_rng(0)
    mechanism = plain(rng.dirichlet(np.ones(5), 3).T)
    counts = np.round(100 * mechanism.matrix @ [0.3, 0.4, 0.3])
    estimator = fit_counts(mechanism, counts)
    single = np.array([fit_counts(mechanism, row).frequencies_[0] for row in np.eye(5)])
    report = mechanism.matrix @ estimator.frequencies_[0]  # a distribution
    expected = np.cov(single.T, aweights=report, bias=True) / counts.sum()
    np.testing.assert_allclose(estimator.covariance(), expected, rtol=1e-9)
    np.testing.assert_allclose(estimator.std_error_[0], np.sqrt(np.diag(expected)), rtol=1e-9)


def test_weights_are_best_at_the_uniform_distribution():
    """No other unbiased weights have a smaller variance there; in particular not the plain ones."""
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.full(8, 0.5), 3).T
    mechanism = plain(matrix)
    uniform = np.full(3, 1 / 3)
    best = fit_distribution(mechanism, uniform).covariance() * FINE
    report = matrix @ uniform
    plain_weights = np.linalg.pinv(matrix)
    other = plain_weights @ (np.diag(report) - np.outer(report, report)) @ plain_weights.T
    assert np.linalg.eigvalsh(other - best).min() > -1e-8
    assert np.trace(other) > 1.01 * np.trace(best)


def test_a_split_symbol_changes_nothing():
    matrix, counts = grr(4), np.array([20, 30, 10, 40])
    split = np.vstack([0.25 * matrix[0], matrix[1:], 0.75 * matrix[0]])
    whole = fit_counts(plain(matrix), counts)
    parts = fit_counts(plain(split), [7, 30, 10, 40, 13])
    np.testing.assert_allclose(parts.frequencies_, whole.frequencies_, atol=1e-8)
    by_pinv = np.linalg.pinv(split) @ np.array([7, 30, 10, 40, 13]) / 100
    assert np.abs(by_pinv - whole.frequencies_).max() > 0.01


def test_an_unseen_symbol_does_not_make_certain():
    identity = plain(np.eye(3))
    estimator = fit_counts(identity, [100, 0, 0])
    np.testing.assert_allclose(estimator.frequencies_, [[1, 0, 0]], atol=1e-12)
    likely = fit_counts(identity, [100, 0, 0], "ml")
    for found in (estimator, likely):  # an error of 0 would be wrong, and another one made up
        assert np.isnan(found.std_error_).all()
    exact = 1.0 - 0.025**0.01  # Clopper and Pearson
    np.testing.assert_allclose(
        likely.confidence_interval()[0, 1], [0.0, exact], rtol=0.2, atol=1e-9
    )


def test_estimates_sum_to_one():
    rng = np.random.default_rng(2)
    estimator = fit_counts(plain(rng.dirichlet(np.ones(9), 4).T), rng.integers(1, 50, 9))
    assert estimator.frequencies_.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.abs(estimator.covariance().sum()) < 1e-12  # so the sum does not vary


# -- identifiability ------------------------------------------------------------------------------


def test_a_marginal_may_be_known_where_cells_are_not():
    """The reports tell u by randomised response, and nothing else."""
    response = np.array([[0.75, 0.25], [0.25, 0.75]])
    mechanism = plain(np.hstack([response, response]), a1=2)
    estimator = fit_counts(mechanism, [60, 40])
    assert estimator.rank_ == 2
    assert not estimator.identifiable_.any()
    of_value = estimator.marginal(part="nonsensitive")
    np.testing.assert_allclose(of_value.frequencies, [0.7, 0.3], atol=1e-9)
    np.testing.assert_allclose(of_value.std_error, np.sqrt(0.6 * 0.4 / 100) / 0.5, rtol=1e-8)
    assert np.isnan(estimator.marginal(part="sensitive").std_error).all()


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4))
def test_identifiable_means_that_no_other_distribution_has_the_same_reports(seed, a, rank):
    """The second route: the extreme probabilities of a cell over all distributions with these
    reports."""
    rng = np.random.default_rng(seed)
    rank = min(rank, a)
    matrix = rng.dirichlet(np.ones(6), rank).T @ rng.dirichlet(np.full(rank, 0.3), a).T
    twins = rng.integers(0, a, 2)
    matrix[:, twins[0]] = matrix[:, twins[1]]
    estimator = fit_distribution(plain(matrix), np.full(a, 1 / a))
    sampled = plain(matrix).matrix
    report = sampled.mean(axis=1)
    values = np.linalg.svd(sampled, compute_uv=False)
    assume(not np.any((values < 1e-2) & (values > 1e-10)))  # beyond the programs' tolerance
    for cell in range(a):
        ends = [
            linprog(
                sign * np.eye(a)[cell],
                A_ub=np.vstack([sampled, -sampled]),
                b_ub=np.concatenate([report, -report]) + 1e-9,
                A_eq=np.ones((1, a)),
                b_eq=[1],
            ).fun
            for sign in (1, -1)
        ]
        width = -ends[1] - ends[0]
        if not 1e-4 < width < 1e-2:  # else the cell is hardly left open
            assert estimator.identifiable_[0, cell] == (width < 1e-4)


def test_bounds_of_a_blind_mechanism(fitted):
    """Fréchet's: a cell has at most the probability of its value, and S may be anything."""
    estimator = fit_distribution(fitted["blind"].mechanism_, DISTRIBUTION, "ml")
    of_value = DISTRIBUTION.sum(axis=0)
    np.testing.assert_allclose(estimator.bounds(part="sensitive"), [[0, 1], [0, 1]], atol=1e-6)
    np.testing.assert_allclose(
        estimator.bounds(), [[0, share] for _ in range(2) for share in of_value], atol=1e-5
    )
    known = np.stack([of_value, of_value], axis=1)
    np.testing.assert_allclose(estimator.bounds("visits"), known, atol=1e-5)


@given(st.integers(0, 10**6))
def test_bounds_are_those_of_all_distributions_with_these_reports(seed):
    """One dimension is left open: the segment of distributions is found by hand."""
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(4), 5).T
    distribution = rng.dirichlet(np.ones(5))
    estimator = fit_distribution(plain(matrix), distribution, "ml")
    bounds = estimator.bounds()
    direction = np.linalg.svd(plain(matrix).matrix)[2][-1]
    with np.errstate(divide="ignore"):
        reach = -distribution / direction
    ends = [distribution + reach[direction > 0].max() * direction]
    ends.append(distribution + reach[direction < 0].min() * direction)
    expected = np.stack([np.minimum(*ends), np.maximum(*ends)], axis=1)
    condition = 1.0 / np.linalg.svd(plain(matrix).matrix, compute_uv=False)[3]
    np.testing.assert_allclose(bounds, expected, atol=1e-4 * condition)
    assert (bounds[:, 0] <= estimator.frequencies_[0]).all()
    assert (bounds[:, 1] >= estimator.frequencies_[0]).all()


def test_bounds_need_a_distribution(fitted):
    with pytest.raises(ValueError, match="use method='ml'"):
        fit_distribution(fitted["blind"].mechanism_, DISTRIBUTION).bounds()


def test_rounding_does_not_identify():
    """Rows that are equal but for the last digits of the weights."""
    matrix = np.full((3, 3), 1 / 3)
    matrix[:, 0] = [0.5, 0.25, 0.25]
    matrix[0, 2] += 2e-10
    matrix[1, 2] -= 2e-10
    estimator = fit_counts(plain(matrix), [100, 100, 100])
    assert estimator.rank_ == 2
    assert estimator.identifiable_.tolist() == [[True, False, False]]


# -- blocks ---------------------------------------------------------------------------------------

BLOCKS = {
    "GRR": (3, 1, 1, 1),
    "four weights": (8, 2, 3, 1),
    "the value alone": (3, 1, 3, 1),
    "the secret alone": (2, 2, 1, 1),
    "nothing": (1, 1, 1, 1),
    "odd": (2, 1, 1, 2),
}


@pytest.mark.parametrize("kind", BLOCKS)
@pytest.mark.parametrize("shape", [(2, 3), (4, 2), (1, 4)])
def test_blocks_need_no_matrix(kind, shape):
    a1, a2 = shape
    sizes = (1, a2 - 1, a1 - 1, (a1 - 1) * (a2 - 1))
    total = np.dot(BLOCKS[kind], sizes)
    blocks = Mechanism.from_blocks(tuple(w / total for w in BLOCKS[kind]), range(a1), range(a2))
    dense = Mechanism.from_matrix(blocks.matrix, range(a1), range(a2), blocks.symbols)
    shares = np.random.default_rng(0).dirichlet(np.full(a1 * a2, 9.0))
    counts = np.round(10**4 * (blocks.matrix @ shares))
    ours, theirs = fit_counts(blocks, counts), fit_counts(dense, counts)
    assert ours.rank_ == theirs.rank_
    np.testing.assert_array_equal(ours.identifiable_, theirs.identifiable_)
    np.testing.assert_allclose(ours.frequencies_, theirs.frequencies_, atol=1e-7)
    np.testing.assert_allclose(ours.std_error_, theirs.std_error_, atol=1e-7)
    for part in ("sensitive", "nonsensitive"):
        one, other = ours.marginal(part=part), theirs.marginal(part=part)
        np.testing.assert_array_equal(one.identifiable, other.identifiable)
        np.testing.assert_allclose(one.frequencies, other.frequencies, atol=1e-7)
        np.testing.assert_allclose(one.std_error, other.std_error, atol=1e-7)
        np.testing.assert_allclose(
            ours.covariance(part=part), theirs.covariance(part=part), atol=1e-8
        )


def test_ten_thousand_cells_without_a_matrix(monkeypatch):
    from skrldp.mechanism import BlockForm

    monkeypatch.setattr(BlockForm, "weights", property(lambda _: pytest.fail("matrix built")))
    blocks = Mechanism.from_blocks((2e-1, 1e-4, 7.1e-4, 7.01e-5), range(10), range(1000))
    rng = np.random.default_rng(0)
    counts = rng.multinomial(10**6, np.full(10**4, 1e-4))
    estimator = fit_counts(blocks, counts)
    of_secret = estimator.marginal(part="sensitive")
    np.testing.assert_allclose(of_secret.frequencies, estimator.frequencies_.sum(axis=1))
    with pytest.warns(ConvergenceWarning):
        fit_counts(blocks, counts, "ml", max_iter=10)
    with pytest.raises(ValueError, match="a prior works up to 2,500 cells"):
        prior = JointDistribution(np.ones((10, 1000), int))
        fit_counts(blocks, counts, "ml", prior=prior)


def test_likelihood_of_blocks_without_a_matrix(monkeypatch):
    blocks = Mechanism.from_blocks((0.4, 0.1, 0.12, 0.02), range(3), range(4))
    shares = np.random.default_rng(0).dirichlet(np.full(12, 9.0))
    counts = np.round(10**5 * (blocks.matrix @ shares))
    with_matrix = fit_counts(blocks, counts, "ml")
    monkeypatch.setattr(skrldp.estimation._estimator, "MOST_DENSE", 0)
    without = fit_counts(blocks, counts, "ml", max_iter=100_000)
    assert np.isfinite(without.std_error_).all()
    np.testing.assert_allclose(without.frequencies_, with_matrix.frequencies_, atol=1e-4)
    np.testing.assert_allclose(without.std_error_, with_matrix.std_error_, rtol=1e-3)


# -- maximum likelihood ---------------------------------------------------------------------------

CHANNELS = {
    "GRR": (lambda rng: grr(12), 200),
    "lopsided": (lambda rng: rng.dirichlet(np.full(10, 0.3), 6).T, 5000),
    "fewer symbols": (lambda rng: rng.dirichlet(np.full(5, 0.3), 12).T, 1000),
    "few reports": (lambda rng: rng.dirichlet(np.full(30, 0.3), 20).T, 25),
}


def best_distribution(matrix, counts, prior=None):
    import cvxpy as cp

    distribution = cp.Variable(matrix.shape[1], nonneg=True)
    gain = counts @ cp.log(matrix @ distribution)
    if prior is not None:
        gain += prior[prior > 0] @ cp.log(distribution[np.flatnonzero(prior)])
    problem = cp.Problem(cp.Maximize(gain / counts.sum()), [cp.sum(distribution) == 1])
    tight = {f"tol_{name}": 1e-12 for name in ("gap_abs", "gap_rel", "feas")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may fall a digit short of that
        problem.solve(solver=cp.CLARABEL, **tight)
    found = np.maximum(distribution.value, 0.0)
    return found / found.sum()


ROUNDING = 1e-14  # of a likelihood per report, or of a gap, in nats: a few dozen roundings


def proven_gap(matrix, shares, distribution):
    """How much the log-likelihood per report may rise at most: it is concave (see maximise)."""
    return float((matrix.T @ (shares / (matrix @ distribution))).max()) - 1.0


def log_likelihood(matrix, counts, distribution):
    seen = counts > 0
    return float(counts[seen] @ np.log((matrix @ np.ravel(distribution))[seen]) / counts.sum())


@pytest.mark.parametrize("kind", CHANNELS)
def test_em_equals_a_direct_convex_solve(kind):
    make, n = CHANNELS[kind]
    rng = np.random.default_rng(3)
    mechanism = plain(make(rng))
    matrix = mechanism.matrix
    distribution = rng.dirichlet(np.full(matrix.shape[1], 0.5))
    counts = rng.multinomial(n, matrix @ distribution)
    tol = 1e-12  # at a tenth of it, rounding decides for one draw in twenty whether it is reached
    estimator = fit_counts(mechanism, counts, "ml", tol=tol)
    seen = counts > 0
    shares = counts[seen] / counts.sum()
    theirs = best_distribution(matrix[seen], counts[seen])
    ours = estimator.frequencies_[0]
    assert (ours >= 0).all()
    assert ours.sum() == pytest.approx(1.0, abs=1e-12)
    gaps = [proven_gap(matrix[seen], shares, distribution) for distribution in (ours, theirs)]
    assert gaps[0] <= tol + ROUNDING
    ahead = log_likelihood(matrix, counts, ours) - log_likelihood(matrix, counts, theirs)
    assert -gaps[0] - ROUNDING <= ahead <= gaps[1] + ROUNDING
    # With t the ratio of a distribution of reports to the best one, the KKT conditions say that
    # sum f t <= 1, so that sum f (t - 1 - log t) is at most what the likelihood lacks, and
    # t - 1 - log t >= (t - 1)^2 / 3 up to t = 3/2.
    lacks = [gaps[0] + ROUNDING, max(ahead, 0.0) + gaps[0] + ROUNDING]
    apart = sum(np.sqrt(3.0 * lack / shares) for lack in lacks)
    assert apart.max() < 0.1
    ours_sent, theirs_sent = (matrix[seen] @ distribution for distribution in (ours, theirs))
    off = 1.2 * apart * ours_sent
    assert (np.abs(ours_sent - theirs_sent) <= off).all()
    if np.linalg.matrix_rank(matrix[seen]) == matrix.shape[1]:
        assert (np.abs(ours - theirs) <= np.abs(np.linalg.pinv(matrix[seen])) @ off + 1e-12).all()
    assert estimator.score(np.arange(len(counts)), sample_weight=counts) == pytest.approx(
        log_likelihood(matrix, counts, ours), abs=1e-12
    )


@pytest.mark.parametrize("seed", [0, 14, 59, 77])
def test_steps_go_on_where_the_likelihood_shows_no_gain(seed):
    """The last steps gain less than the rounding of the likelihood; only the gap sees them."""
    rng = np.random.default_rng(seed)
    size = rng.integers(3, 25), rng.integers(2, 20)
    matrix = rng.dirichlet(np.full(size[0], rng.choice([0.1, 0.3, 1.0])), size[1]).T
    distribution = rng.dirichlet(np.full(size[1], 0.5))
    counts = rng.multinomial(int(10 ** rng.uniform(1, 6)), plain(matrix).matrix @ distribution)
    assert fit_counts(plain(matrix), counts, "ml", tol=1e-13).gap_ <= 1e-13


@given(st.integers(0, 10**6), st.integers(1, 60))
def test_the_gap_bounds_what_is_left_to_gain(seed, steps):
    rng = np.random.default_rng(seed)
    mechanism = plain(rng.dirichlet(np.full(7, 0.4), 5).T)
    report = mechanism.matrix @ rng.dirichlet(np.full(5, 0.3))
    counts = rng.multinomial(int(rng.integers(1, 300)), report)
    best = fit_counts(mechanism, counts, "ml", tol=1e-11)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        early = fit_counts(mechanism, counts, "ml", max_iter=steps)
    matrix = mechanism.matrix
    gain = log_likelihood(matrix, counts, best.frequencies_) - log_likelihood(
        matrix, counts, early.frequencies_
    )
    assert -best.gap_ - 1e-12 <= gain <= early.gap_ + 1e-12
    assert early.n_iter_ <= steps


def test_where_least_squares_is_a_distribution_it_is_the_most_likely():
    counts = 100 * np.array([25, 30, 20, 25])
    unbiased, likely = (
        fit_counts(plain(grr(4)), counts, method) for method in ("least-squares", "ml")
    )
    assert (unbiased.frequencies_ > 0).all()
    np.testing.assert_allclose(likely.frequencies_, unbiased.frequencies_, atol=1e-5)
    np.testing.assert_allclose(likely.std_error_, unbiased.std_error_, rtol=1e-4)
    assert unbiased.score(range(4), sample_weight=counts) == pytest.approx(
        likely.score(range(4), sample_weight=counts)
    )


def test_too_few_steps_are_told():
    counts = np.random.default_rng(0).integers(10, 30, 30)
    with pytest.warns(ConvergenceWarning, match="after 4 steps: .* nats per report") as caught:
        FrequencyEstimator(plain(grr(30)), "ml", max_iter=4).fit(range(30), sample_weight=counts)
    assert caught[0].filename == __file__


def test_errors_are_those_of_the_information():
    """The inverse of the Hessian of the log-likelihood, by differences, on distributions."""
    rng = np.random.default_rng(5)
    mechanism = plain(rng.dirichlet(np.ones(8), 4).T)
    counts = np.round(10**6 * mechanism.matrix @ [0.4, 0.3, 0.2, 0.1])
    estimator = fit_counts(mechanism, counts, "ml")
    distribution, step = estimator.frequencies_[0], 1e-3
    tangent = np.vstack([np.eye(3), -np.ones(3)])

    def value(move):
        return counts.sum() * log_likelihood(
            mechanism.matrix, counts, distribution + tangent @ move
        )

    hessian = np.empty((3, 3))
    for i, j in np.ndindex(3, 3):
        ends = [
            si * sj * value(step * (si * np.eye(3)[i] + sj * np.eye(3)[j]))
            for si in (1, -1)
            for sj in (1, -1)
        ]
        hessian[i, j] = sum(ends) / (4 * step**2)
    expected = tangent @ np.linalg.inv(-hessian) @ tangent.T
    np.testing.assert_allclose(estimator.covariance(), expected, rtol=1e-3)


# -- prior ----------------------------------------------------------------------------------------


def test_the_mode_of_the_posterior():
    rng = np.random.default_rng(6)
    mechanism = plain(rng.dirichlet(np.full(5, 0.5), 6).T, a1=2)
    counts = rng.multinomial(300, mechanism.matrix @ rng.dirichlet(np.ones(6)))
    records = np.array([40, 0, 20, 30, 5, 5])
    prior = JointDistribution(records.reshape(2, 3))
    estimator = fit_counts(mechanism, counts, "ml", prior=prior, tol=1e-13)
    theirs = best_distribution(mechanism.matrix, counts, records)
    np.testing.assert_allclose(estimator.frequencies_.ravel(), theirs, atol=1e-6)
    assert estimator.rank_ == 5
    assert not estimator.identifiable_.all()  # by the reports alone
    ours, theirs = estimator._fit.spread(np.eye(6))[1], estimator.std_error_.ravel()
    assert np.isfinite(ours).all()  # by the reports and the records together
    np.testing.assert_allclose(theirs[np.isfinite(theirs)], ours[np.isfinite(theirs)])


def test_a_prior_counts_as_much_as_its_records():
    mechanism = plain(np.eye(4), a1=2)
    prior = JointDistribution([[10, 20], [30, 40]])
    estimator = fit_counts(mechanism, [40, 30, 20, 10], "ml", prior=prior)
    np.testing.assert_allclose(estimator.frequencies_, 0.25, atol=1e-7)
    np.testing.assert_allclose(estimator.std_error_, np.sqrt(0.25 * 0.75 / 200), rtol=1e-6)
    many = JointDistribution(10**7 * prior.counts)
    estimator = fit_counts(mechanism, [40, 30, 20, 10], "ml", prior=many)
    np.testing.assert_allclose(estimator.frequencies_, prior.probabilities, atol=1e-6)


# -- marginals ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def four_columns():
    rows = [(a, s, b, t) for a in "xy" for s in (0, 1) for b in (7, 5) for t in "pq"]
    X = pd.DataFrame(rows, columns=["a", "s", "b", "t"])
    X = X[(X["a"] == "x") | (X["b"] == 5)]  # so that U has no (y, 7)
    sanitizer = GRRSanitizer(2.0, sensitive=["s", "t"]).fit(X)
    counts = np.random.default_rng(7).integers(20, 90, len(sanitizer.mechanism_.symbols))
    return fit_counts(sanitizer.mechanism_, counts)


def test_marginals_add_up_cells(four_columns):
    estimator = four_columns
    cells = estimator.mechanism_.cells  # ((s, t), (a, b))
    frequencies = dict(zip(cells, estimator.frequencies_.ravel(), strict=True))
    pick = {
        "a": lambda s, u: u[0],
        "b": lambda s, u: u[1],
        "s": lambda s, u: s[0],
        "t": lambda s, u: s[1],
    }
    for columns in (["a"], ["b"], ["s"], ["t"], ["t", "a"], ["b", "a"], ["b", "s", "a", "t"]):
        marginal = estimator.marginal(columns)
        assert marginal.columns == tuple(columns)
        assert list(marginal.categories) == sorted(marginal.categories)
        sums = dict.fromkeys(marginal.categories, 0.0)
        for (s, u), share in frequencies.items():
            key = tuple(pick[c](s, u) for c in columns)
            sums[key if len(columns) > 1 else key[0]] += share
        np.testing.assert_allclose(marginal.frequencies, list(sums.values()), atol=1e-12)
    assert estimator.marginal("a").categories == estimator.marginal(0).categories == ("x", "y")
    assert ("y", 7) not in estimator.marginal(["a", "b"]).categories


def test_errors_of_marginals(four_columns):
    whole = four_columns.covariance()
    labels = np.array([cell[1][0] == "x" for cell in four_columns.mechanism_.cells])
    functions = np.stack([labels, ~labels]).astype(float)
    expected = functions @ whole @ functions.T
    np.testing.assert_allclose(four_columns.covariance("a"), expected, atol=1e-15)
    np.testing.assert_allclose(
        four_columns.marginal("a").std_error, np.sqrt(np.diag(expected)), rtol=1e-9
    )
    np.testing.assert_allclose(four_columns.std_error_.ravel(), np.sqrt(np.diag(whole)), rtol=1e-9)


def test_parts(four_columns):
    whole = four_columns.marginal()
    assert whole.columns == ("s", "t", "a", "b")
    assert whole.categories[0] == (0, "p", "x", 5)
    np.testing.assert_array_equal(whole.frequencies, four_columns.frequencies_.ravel())
    secret = four_columns.marginal(part="sensitive")
    assert secret.categories == four_columns.mechanism_.secrets
    np.testing.assert_allclose(secret.frequencies, four_columns.frequencies_.sum(axis=1))
    frame = whole.to_frame(level=0.9)
    assert frame.index.names == ["s", "t", "a", "b"]
    assert frame.loc[(0, "p", "x", 5), "frequency"] == whole.frequencies[0]
    np.testing.assert_allclose(frame[["lower", "upper"]], whole.confidence_interval(0.9))
    assert secret.to_frame().index.names == ["s", "t"]
    assert repr(secret) == f"Estimate(s, t: 4 of 4 identifiable, {secret.n_reports:,} reports)"


def test_the_order_of_given_categories():
    X = pd.DataFrame({"s": ["n", "y", "n"], "size": ["S", "L", "M"], "w": [1, 2, 1]})
    order = {"size": ["S", "M", "L"]}
    sanitizer = GRRSanitizer(1.0, sensitive=0, categories=order).fit(X)
    estimator = FrequencyEstimator(sanitizer).fit(sanitizer.transform(X))
    assert estimator.marginal("size").categories == ("S", "M", "L")


@pytest.mark.parametrize(
    ("columns", "part", "message"),
    [
        ("z", "all", r"no column 'z'; the columns are \['a', 's', 'b', 't'\]"),
        (["a", "a"], "all", "each once"),
        ([], "all", "must name columns"),
        (7, "all", "no column 7"),
        (None, "S", "part='S' must be one of 'all', 'sensitive', 'nonsensitive'"),
        ("a", "sensitive", "exclude each other"),
    ],
)
def test_bad_marginals(four_columns, columns, part, message):
    with pytest.raises(ValueError, match=message):
        four_columns.marginal(columns, part=part)


def test_a_mechanism_without_columns():
    estimator = fit_counts(plain(grr(4), a1=2), [10, 20, 30, 40])
    assert estimator.marginal(part="sensitive").columns == ("S",)
    with pytest.raises(ValueError, match="does not name its columns"):
        estimator.marginal("age")


# -- intervals and projection ---------------------------------------------------------------------


def test_intervals():
    estimator = fit_counts(plain(grr(4)), [10, 20, 30, 40])
    interval = estimator.confidence_interval(0.9, method="wald")
    assert interval.shape == (1, 4, 2)
    np.testing.assert_allclose(interval.mean(axis=-1), estimator.frequencies_)
    half = np.diff(interval, axis=-1)[..., 0] / 2
    np.testing.assert_allclose(half / estimator.std_error_, 1.6448536, rtol=1e-6)
    wide = estimator.confidence_interval(0.9, simultaneous=True, method="wald")
    # Šidák: four independent intervals hold at once with the level asked for.
    inside = 2 * norm.cdf(np.diff(wide, axis=-1)[0, :, 0] / 2 / estimator.std_error_[0]) - 1
    np.testing.assert_allclose(inside**4, 0.9)
    with pytest.raises(ValueError, match="level=95 must be a number between 0 and 1"):
        estimator.confidence_interval(95)


def test_what_is_not_identifiable_does_not_widen_the_others(fitted):
    """Simultaneous intervals count what is random and known only."""
    assert critical_value(0.95, 1) == critical_value(0.95)
    assert critical_value(np.nextafter(1.0, 0.0)) == pytest.approx(8.2923611, abs=1e-6)
    response = np.array([[0.75, 0.25, 0.5, 0.5], [0.25, 0.75, 0.5, 0.5]])
    tags = np.kron(np.eye(2), np.ones((1, 2)))  # whether the cell is one of the first two
    estimator = fit_counts(plain(np.vstack([response, tags]) / 2), [30, 20, 40, 10])
    assert estimator.identifiable_.tolist() == [[True, True, False, False]]
    wide = estimator.confidence_interval(simultaneous=True, method="wald")[0, :2]
    half = np.diff(wide)[:, 0] / 2 / estimator.std_error_[0, :2]
    np.testing.assert_allclose(half, critical_value(0.95, 2))
    level = 2.0 * norm.cdf(critical_value(0.95, 2)) - 1.0
    np.testing.assert_allclose(
        estimator.confidence_interval(simultaneous=True), estimator.confidence_interval(level)
    )


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=8))
def test_projection(values):
    """The conditions of Karush, Kuhn and Tucker."""
    values = np.array(values)
    distribution = project(values)
    assert distribution.sum() == pytest.approx(1.0)
    assert (distribution >= 0).all()
    shift = values - distribution
    used = distribution > 0
    assert np.ptp(shift[used]) < 1e-9
    assert (shift[~used] <= shift[used].max() + 1e-9).all()


def test_projected_estimates():
    estimate = fit_counts(plain(grr(3)), [16, 2, 2]).marginal()
    assert (estimate.frequencies < 0).any()
    np.testing.assert_allclose(estimate.projected(), [1, 0, 0], atol=1e-12)


# -- numbers --------------------------------------------------------------------------------------


def direct(values, counts):
    """Reports that are the cells themselves, two secrets alike."""
    mechanism = Mechanism.from_matrix(np.eye(2 * len(values)), "ab", values)
    mechanism = mechanism.named(None, [("s", True), ("x", False)])
    return fit_counts(mechanism, np.tile(counts, 2))


def test_mean_and_variance_without_noise():
    """The textbook's errors, for reports that tell the cell."""
    values, counts = (10.0, 20.0, 50.0), np.array([30, 50, 20])
    sample = np.repeat(values, 2 * counts)
    estimator = direct(values, counts)
    mean, variance = estimator.mean("x"), estimator.variance("x")
    assert mean.value == pytest.approx(sample.mean())
    assert mean.std_error == pytest.approx(sample.std() / np.sqrt(200))
    assert variance.value == pytest.approx(sample.var())
    fourth = np.mean((sample - sample.mean()) ** 4)
    assert variance.std_error == pytest.approx(np.sqrt((fourth - sample.var() ** 2) / 200))
    lower, upper = mean.confidence_interval(0.9, method="wald")
    assert (upper - lower) / 2 == pytest.approx(1.6448536 * mean.std_error)
    assert estimator.mean("x").value == estimator.mean(1).value


def test_missing_numbers_are_left_out():
    estimator = direct((10.0, 20.0, None), np.array([30, 50, 20]))
    sample = np.repeat([10.0, 20.0], [60, 100])
    mean = estimator.mean("x")
    assert mean.value == pytest.approx(sample.mean())
    assert mean.std_error == pytest.approx(sample.std() / np.sqrt(160))
    assert estimator.variance("x").value == pytest.approx(sample.var())
    assert estimator.quantile("x", 0.3).value == 10.0
    assert estimator.quantile("x", 0.4).value == 20.0


@pytest.mark.parametrize("q", [0.05, 0.25, 0.5, 0.9])
def test_quantiles_without_noise(q):
    rng = np.random.default_rng(8)
    counts = rng.integers(1, 9, 100)
    values = tuple(float(v) for v in rng.permutation(100))
    sample = np.sort(np.repeat(values, 2 * counts))
    quantile = direct(values, counts).quantile("x", q)
    assert quantile.value == np.quantile(sample, q, method="inverted_cdf")
    lower, upper = quantile.confidence_interval(0.95)
    assert lower <= quantile.value <= upper
    # The order statistics whose ranks are 1.96 standard errors from q, or a neighbour.
    n = len(sample)
    ranks = n * (q + 1.96 * np.sqrt(q * (1 - q) / n) * np.array([-1, 1]))
    expected = sample[np.clip(ranks, 0, n - 1).astype(int)]
    assert abs(lower - expected[0]) <= 1 and abs(upper - expected[1]) <= 1
    assert expected[1] - expected[0] >= 3
    assert quantile.std_error == pytest.approx((upper - lower) / 2 / 1.959964)
    wider = quantile.confidence_interval(0.999)
    assert wider[0] <= lower and wider[1] >= upper


def test_numbers_that_are_not_determined(fitted):
    X = pd.DataFrame([(s, u) for s in (0, 1) for u in (1, 2)], columns=["s", "u"])
    sanitizer = PolyOptSanitizer(1.0, sensitive=0, region="lower", observe="nonsensitive")
    sanitizer.fit(X, sample_weight=[300, 100, 200, 400])
    counts = np.full(sanitizer.mechanism_.shape[0], 50)
    for method in ("least-squares", "ml"):
        estimator = fit_counts(sanitizer.mechanism_, counts, method)
        assert np.isfinite(estimator.mean("u").std_error)
        for number in (estimator.mean("s"), estimator.variance("s"), estimator.quantile("s", 0.5)):
            assert np.isnan(number.std_error)
            if method == "least-squares":
                assert np.isnan(number.value) and np.isnan(number.confidence_interval()).all()
            else:
                most = 0.25 if number.value == estimator.variance("s").value else 1.0
                np.testing.assert_allclose(number.confidence_interval(), [0.0, most], atol=1e-5)


def test_bad_numbers(fitted):
    estimator = fit_distribution(fitted["grr"].mechanism_, DISTRIBUTION)
    with pytest.raises(ValueError, match="column 'ill' is not numeric: it has the category 'no'"):
        estimator.mean("ill")
    with pytest.raises(ValueError, match=r"q=1\.0 must be a number between 0 and 1"):
        estimator.quantile("visits", 1.0)
    with pytest.raises(ValueError, match="level=0"):
        estimator.quantile("visits", 0.5).confidence_interval(0)


@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")
def test_score_of_other_reports(fitted):
    """Of all distributions the true one predicts reports best, and minus infinity is an answer."""
    mechanism = plain(np.eye(3))
    estimator = fit_counts(mechanism, [50, 50, 0])
    assert estimator.score([0, 1]) == pytest.approx(np.log(0.5))
    assert estimator.score([0, 2]) == -np.inf
    assert (
        FrequencyEstimator(GRRSanitizer(1.0, sensitive=0).fit(TABLE)).fit(SYMBOLS).score(CELLS) < 0
    )
    sanitizer = NonRobustSanitizer(1.0, sensitive=0).fit(TABLE, sample_weight=COUNTS.ravel())
    estimator = fit_distribution(sanitizer.mechanism_, DISTRIBUTION, "ml")
    report = sanitizer.mechanism_.matrix @ DISTRIBUTION.ravel()
    weights = np.round(10**6 * report)
    expected = weights @ np.log(report) / weights.sum()
    assert estimator.score(range(len(weights)), sample_weight=weights) == pytest.approx(expected)
