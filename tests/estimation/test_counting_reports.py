"""Reports of every form are counted alike; bad reports and parameters are refused."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from fits_of_counts import (
    COUNTS,
    DISTRIBUTION,
    FINE,
    TABLE,
    grr,
    plain,
    sanitizers,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

import skrldp.estimation.shares_and_means
from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    Mechanism,
    RobustMSESanitizer,
    client,
)
from skrldp.estimation.reports import read_reports, read_source


@pytest.fixture(scope="module")
def fitted():
    return sanitizers()


# -- counting -------------------------------------------------------------------------------------


def onehot(symbols, b):
    return (np.asarray(symbols)[:, None] == np.arange(b)).astype(int)


SYMBOLS = np.array([3, 0, 5, 5, 2, 1, 1, 1])
CELLS = TABLE.iloc[SYMBOLS]
FORMS = {
    "list": SYMBOLS.tolist(),
    **{name: SYMBOLS.astype(name) for name in ("i1", "u1", "u2", "u8", "f2")},
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
    "one-hot frame in other order": pd.DataFrame(
        onehot(SYMBOLS, 6)[:, ::-1], columns=[f"report_{y}" for y in range(5, -1, -1)]
    ),
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # as many of each cell, unlike the table
            estimator.fit(reports)
        symbols = sanitizer.set_params(encode="symbol").transform(records)
        sanitizer.set_params(encode=encode)
        counts = np.bincount(np.ravel(symbols), minlength=len(sanitizer.mechanism_.symbols))
        if encode == "cells":
            merged = estimator._kinds
            assert estimator.counts_.tolist() == np.bincount(merged, counts).tolist()
        else:
            assert estimator.counts_.tolist() == counts.tolist()


def test_the_secret_need_not_be_the_first_column():
    """Reports as cells are counted in the order of the symbols."""
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
    estimator = FrequencyEstimator(sanitizer)
    estimator.fit(TABLE.iloc[written], sample_weight=weights)
    merged = np.array([mechanism.matrix[written == cell].sum(axis=0) for cell in set(written)])
    assert np.linalg.matrix_rank(merged) < np.linalg.matrix_rank(mechanism.matrix)
    known = estimator.identifiable_
    np.testing.assert_allclose(estimator.frequencies_[known], DISTRIBUTION[known], atol=1e-6)
    assert np.isnan(estimator.frequencies_[~known]).all() and (~known).any()


@pytest.mark.parametrize("encode", ["cells", "onehot"])
def test_numbers_as_names_in_another_order_are_refused(encode):
    """They may be names or positions: neither reading is safe."""
    sanitizer = GRRSanitizer(sensitive=0, encode=encode, random_state=0)
    records = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [10, 20, 30, 60], axis=0)
    Y = sanitizer.fit(pd.DataFrame(records)).transform(pd.DataFrame(records))
    Y.columns = range(Y.shape[1])
    estimator = FrequencyEstimator(sanitizer, encode=encode).fit(Y)
    with pytest.raises(ValueError, match=r"same columns in a different order.*\[0, 1"):
        estimator.fit(Y[Y.columns[::-1]])
    swapped = FrequencyEstimator(sanitizer, encode=encode).fit(Y.to_numpy())
    np.testing.assert_array_equal(swapped.counts_, estimator.counts_)


def test_kinds_are_in_the_order_of_the_symbols():
    """Symbols 1 and 3 are written alike, and the alphabet is in another order."""
    mechanism = plain(grr(4)).named(("b", "a", "c", "a"), [("u", False)])
    reports = read_reports([["a"], ["c"], ["c"], ["b"], ["a"]], read_source(mechanism), "cells")
    assert reports.kinds.tolist() == [0, 1, 2, 1]
    assert reports.numbers.tolist() == [1, 2, 2, 0, 1]


def test_reports_beside_ids_are_to_be_fitted_alone():
    Y = pd.DataFrame({"person": [7, 8], "report": [0, 1]})
    for size in (2, 4):  # of two symbols, the columns could be one-hot
        own = plain(grr(size)).named(tuple("abcd"[:size]), [("u", False)])
        with pytest.raises(ValueError, match=r"alone, Y\[\['report'\]\]"):
            FrequencyEstimator(own).fit(Y)


def test_cells_of_a_bare_optimum_cannot_be_told_apart(fitted):
    mechanism = fitted["polyopt"].mechanism_
    with pytest.raises(ValueError, match="pass the fitted sanitizer in its place"):
        FrequencyEstimator(mechanism).fit(CELLS)
    with pytest.raises(ValueError, match="pass the fitted sanitizer in its place"):
        FrequencyEstimator(mechanism, encode="cells").fit(CELLS)


WAYS = {  # U in its order, and whether a number could be a report's number and another one's value
    "numbers in another order": ([2, 1, 0], True),
    "numbers that start at 1": ([1, 2, 3], True),
    "numbers that are the reports' own": ([0, 1, 2], False),
    "numbers above all reports'": ([30, 20, 10], False),
    "words": (["a", "b", "c"], False),
}


@pytest.mark.parametrize("way", WAYS)
def test_from_a_fit_through_clients_to_estimates(way):
    """Numbers of reports and their values are told apart, or an error asks which they are."""
    values, ambiguous = WAYS[way]
    rng = np.random.default_rng(0)
    u = np.array(values, dtype=object)[rng.choice(3, size=4_000, p=[0.7, 0.1, 0.2])]
    X = np.column_stack([rng.integers(0, 2, 4_000).astype(object), u])
    distance = "hamming" if way == "words" else "squared"
    sanitizer = RobustMSESanitizer(
        8.0, categories=[[0, 1], values], distance=distance, observe="nonsensitive", sensitive=0
    )
    mechanism = sanitizer.fit(X).mechanism_
    text, truth = mechanism.to_json(), [np.mean(u == value) for value in values]

    def shares(estimator):
        return estimator.marginal(1).estimate

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
                with pytest.raises(ValueError, match=r"encode='symbol' or encode='cells'"):
                    estimator.fit(reports)
            else:
                np.testing.assert_allclose(shares(estimator.fit(reports)), truth, atol=0.05)
    if way != "words":
        mean = FrequencyEstimator(text, encode="symbol").fit(sent).mean(1).estimate[0]
        assert mean == pytest.approx(np.mean(u.astype(float)), abs=0.05 * max(values))


def test_a_column_of_u_that_is_called_report():
    mechanism = plain(grr(3)).named((2, 1, 0), [("s", True), ("report", False)])
    with pytest.raises(ValueError, match="encode='symbol' or"):
        FrequencyEstimator(mechanism).fit(pd.DataFrame({"report": [0, 1, 2]}))


def test_values_some_of_which_are_numbers_of_symbols():
    """Report 0 has the value 0, so no reading is wrong that is possible."""
    mechanism = plain(grr(2)).named((0, 2), [("s", True), ("u", False)])
    for reports in ([0, 2, 2], [0, 1, 1]):
        assert FrequencyEstimator(mechanism).fit(reports * 2).counts_.tolist() == [2, 4]
    for reports, message in (
        ([0, 1, 2], "the first in row 2; .* an integer from 0 to 1"),
        (["a"], "the first in row 0; .* a combination of categories"),
    ):
        with pytest.raises(ValueError, match=message):
            FrequencyEstimator(mechanism).fit(reports)


BAD = {
    "too large": ([0, 6], r"1 row of Y has no report .* in 0 \(the first in row 1; .* 0 to 5\."),
    "255": (np.array([0, 255], np.uint8), "the first in row 1; .* 0 to 5"),
    "infinity": (np.array([0, np.inf], np.float16), "the first in row 1; .* 0 to 5"),
    "negative": ([0, 1, -1], "the first in row 2; .* an integer from 0 to 5"),
    "fractions": ([0.5], "the first in row 0; .* an integer"),
    "missing": ([1.0, np.nan], "the first in row 1; .* drop rows that lack a report"),
    "null": (pd.Series([1, None], dtype="Int64"), "the first in row 1"),
    "words": (["a", "b"], "2 rows of Y have no report .* an integer"),
    "text": (["1", "2"], "2 rows of Y have no report .* an integer"),
    "octets": (pd.Series([b"1", 2], dtype=object), "an integer"),
    "none": ([], r"0 sample\(s\)"),
    "two ones": (onehot([1, 2], 6) + onehot([2, 2], 6) * [[1], [0]], "row 0; .* a single 1 among"),
    "no one": (np.eye(6)[:2] * [[1], [0]], "row 1; .* a single 1 among zeros"),
    "posteriors": (np.full((2, 6), 1 / 6), "2 rows .* a single 1 among zeros"),
    "width": (
        np.zeros((3, 4)),
        r"Y has 4 columns, .* have 1 \('symbol'\), 6 \('onehot'\), 2 \('cells'\)\.",
    ),
    "category": (
        [["no", 1], ["no", 9]],
        "1 row of Y has no report of this mechanism in 1 .the first in row 1;",
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
    with pytest.raises(
        ValueError, match=r"Specify their form, for example encode='cells'"
    ):  # three of each
        FrequencyEstimator(mechanism).fit(rows)
    estimator = FrequencyEstimator(mechanism, encode="cells")
    assert estimator.fit(rows * 2).counts_.tolist() == [2, 0, 4]
    with pytest.raises(ValueError, match=r"in 0, 1, 2 \(the first in row 1; .* a combination"):
        estimator.fit([["x", "a", 1], ["y", "a", 1]])


def test_so_few_reports_that_they_have_no_errors_are_warned_of():
    mechanism = plain(grr(3))
    with pytest.warns(UserWarning, match=r"only 4 reports: standard errors need 30 and are NaN"):
        few = FrequencyEstimator(mechanism).fit([0, 1, 2, 2])
    assert np.isnan(few.marginal(part="nonsensitive").std_error).all()
    reports = pd.DataFrame({"report": [0, 1, 2, 2] * 2, "region": ["a"] * 7 + ["b"]})
    with pytest.warns(UserWarning, match=r"only 1 reports of a group: .*, or coarser groups"):
        FrequencyEstimator(mechanism, groups="region").fit(reports)


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
    estimator = FrequencyEstimator(mechanism, "em")
    assert list(estimator.get_params()) == [
        *("encode", "groups", "mechanism", "method", "public", "survey")
    ]
    assert estimator.get_params()["mechanism"] is mechanism
    with pytest.raises(NotFittedError):
        estimator.mean("visits")
    copy = clone(estimator).set_params(method="unbiased").fit(SYMBOLS)
    np.testing.assert_array_equal(
        copy.frequencies_, FrequencyEstimator(mechanism).fit(SYMBOLS).frequencies_
    )
    assert not hasattr(estimator, "frequencies_")
    assert repr(FrequencyEstimator("{}", "em")) == "FrequencyEstimator(mechanism='{}', method='em')"


def test_more_figures_than_memory_holds(monkeypatch, fitted):
    monkeypatch.setattr(skrldp.estimation.shares_and_means, "_MOST_NUMBERS", 12)
    estimator = FrequencyEstimator(fitted["grr"].mechanism_).fit(SYMBOLS)
    assert len(estimator.mean("visits", by="ill").estimate) == 2
    with pytest.raises(ValueError, match="6 estimates of 6 cells are too many"):
        estimator.marginal("visits", by="ill")


def test_survives_pickling(fitted):
    estimator = FrequencyEstimator(fitted["polyopt"].mechanism_).fit(SYMBOLS)
    again = pickle.loads(pickle.dumps(estimator))
    for asked in (lambda e: e.marginal("visits"), lambda e: e.quantile("visits")):
        np.testing.assert_array_equal(asked(again).estimate, asked(estimator).estimate)
        ends = asked(again).confidence_interval()
        np.testing.assert_array_equal(ends, asked(estimator).confidence_interval())


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
    estimates = [FrequencyEstimator(m).fit(SYMBOLS).marginal().unbiased for m in by]
    np.testing.assert_allclose(estimates[0], estimates[1])  # GRR has one unbiased estimate
    np.testing.assert_array_equal(estimates[1], estimates[2])
    with pytest.raises(ValueError, match=r"not fitted.*mechanism_"):
        clone(FrequencyEstimator(sanitizer)).fit(SYMBOLS)
    frozen = clone(FrequencyEstimator(FrozenEstimator(sanitizer))).fit(SYMBOLS)
    np.testing.assert_array_equal(frozen.marginal().unbiased, estimates[0])
    with pytest.raises(TypeError, match=r"or a fitted sanitizer .*, got ndarray"):
        FrequencyEstimator(np.eye(3)).fit(SYMBOLS)
    with pytest.raises(ValueError, match="not a mechanism"):
        FrequencyEstimator("{}").fit(SYMBOLS)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "ml"}, ValueError, "method='ml' must be one of"),
        ({"encode": "posterior"}, ValueError, "encode='posterior' must be one of"),
        ({"public": [1, 2]}, TypeError, "public must be a JointDistribution .* got list"),
        ({"public": JointDistribution([[1, 2]])}, ValueError, "public must have the values"),
        ({"survey": "weight"}, TypeError, "survey must be a SurveyDesign or None, got str"),
    ],
)
def test_bad_parameters(options, error, message):
    with pytest.raises(error, match=message):
        FrequencyEstimator(plain(grr(3)), **options).fit([0, 1])
