"""Reports of every form are counted alike; bad reports and parameters are refused."""

import warnings
from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fits_of_counts import (
    DISTRIBUTION,
    FINE,
    TABLE,
    grr,
    plain,
    sanitizers,
)
from lazy_frames import rows_brought
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    RobustMSESanitizer,
    client,
)


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
    "frame of symbols": pl.DataFrame({"report": SYMBOLS}),
    "one-hot frame in other order": pd.DataFrame(
        onehot(SYMBOLS, 6)[:, ::-1], columns=[f"report_{y}" for y in range(5, -1, -1)]
    ),
    "cells in other order": CELLS[["visits", "ill"]],
    "cells as rows": CELLS.to_numpy(object).tolist(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_counted_alike(fitted, form):
    for weights in (None, np.arange(8)):
        estimator = FrequencyEstimator(fitted["grr"].mechanism_)
        estimator.fit(FORMS[form], sample_weight=weights)
        assert estimator.counts_.tolist() == np.bincount(SYMBOLS, weights, minlength=6).tolist()
        assert estimator.n_reports_ == (8 if weights is None else 28)


@pytest.mark.parametrize("name", ["polyopt", "mse", "blind"])
@pytest.mark.parametrize("encode", ["symbol", "onehot", "cells"])
def test_what_sanitizers_write_is_read(fitted, name, encode):
    """The same draws are counted, whatever their form and the form of the records are."""
    sanitizer = copy(fitted[name]).set_params(encode=encode, random_state=0)
    records = TABLE.iloc[np.repeat(np.arange(6), 50)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # other people than the table's; an array
        written = [sanitizer.transform(X) for X in (records, records.to_numpy(object))]
        symbols = sanitizer.set_params(encode="symbol").transform(records).to_numpy().ravel()
        sanitizer.set_params(encode=encode)
        for reports in written:
            is_array = isinstance(reports, np.ndarray)
            is_ambiguous = name == "mse" and encode == "cells" and is_array  # U is 1, 2 or 3
            estimator = FrequencyEstimator(sanitizer, encode="cells" if is_ambiguous else "auto")
            kinds = estimator.fit(reports)._kinds
            assert estimator.counts_.tolist() == np.bincount(kinds[symbols]).tolist()


def test_cells_that_stand_for_several_symbols(fitted):
    """Two symbols that look alike are one: their rows of Q add up."""
    sanitizer = copy(fitted["polyopt"]).set_params(encode="cells")
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


def test_numbers_as_names_in_another_order_are_refused():
    """They may be names or positions: neither reading is safe."""
    sanitizer = GRRSanitizer(sensitive=0, encode="cells", random_state=0)
    records = pd.DataFrame(np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [10, 20, 30, 60], axis=0))
    Y = sanitizer.fit(records).transform(records).set_axis([0, 1], axis=1)
    estimator = FrequencyEstimator(sanitizer, encode="cells").fit(Y)
    with pytest.raises(ValueError, match=r"same columns in a different order.*\[0, 1"):
        estimator.fit(Y[[1, 0]])


WAYS = {  # U in its order, and whether a number could be a report's number and another one's value
    "numbers in another order": ([2, 1, 0], True),
    "numbers that are the reports' own": ([0, 1, 2], False),
    "words": (["a", "b", "c"], False),
}


@pytest.mark.parametrize("way", WAYS)
def test_numbers_of_reports_and_their_values_are_told_apart(way):
    """By name, by `encode`, or by what they can only be; otherwise an error asks."""
    values, is_ambiguous = WAYS[way]
    rng = np.random.default_rng(0)
    u = np.array(values, dtype=object)[rng.choice(3, size=4_000, p=[0.7, 0.1, 0.2])]
    X = np.column_stack([rng.integers(0, 2, 4_000).astype(object), u])
    options = {"categories": [[0, 1], values], "observe": "nonsensitive", "sensitive": 0}
    distance = "hamming" if way == "words" else "squared"
    sanitizer = RobustMSESanitizer(8.0, distance=distance, **options).fit(X)
    text, truth = sanitizer.mechanism_.to_json(), [np.mean(u == value) for value in values]
    device = client.load(text, random_state=1)
    sent, written = device.report_many(X), sanitizer.transform(X)
    for source in (text, sanitizer):
        forms = [(sent, device.encode), (pd.DataFrame({"report": sent}), "auto")]
        forms += [(written, "cells")] * (source is sanitizer)
        forms += [(reports, "auto") for reports in (sent, written)] * (not is_ambiguous)
        for reports, encode in forms:
            estimator = FrequencyEstimator(source, encode=encode).fit(reports)
            np.testing.assert_allclose(estimator.marginal(1).estimate, truth, atol=0.05)
        for reports in (sent, written) if is_ambiguous else ():
            with pytest.raises(ValueError, match=r"encode='symbol' or encode='cells'"):
                FrequencyEstimator(source).fit(reports)


BAD = {
    "too large": ([0, 6], r"1 row of Y has no report .* in 0 \(the first in row 1; .* 0 to 5\."),
    "missing": ([1.0, np.nan], "the first in row 1; .* drop rows that lack a report"),
    "none": ([], r"0 sample\(s\)"),
    "two ones": (onehot([1, 2], 6) + onehot([2, 2], 6) * [[1], [0]], "row 0; .* a single 1 among"),
    "width": (
        np.zeros((3, 4)),
        r"Y has 4 columns, .* have 1 \('symbol'\), 6 \('onehot'\), 2 \('cells'\)\.",
    ),
    "names": (TABLE.rename(columns={"ill": "sick"}), r"\['ill', 'visits'\], but Y has 2: \['sick'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_reports_are_refused_and_change_nothing(fitted, case):
    reports, message = BAD[case]
    estimator = FrequencyEstimator(fitted["grr"].mechanism_).fit(SYMBOLS)
    before = vars(estimator).copy()
    with pytest.raises(ValueError, match=message):
        estimator.fit(reports)
    assert vars(estimator) == before


def test_a_lazy_frame_brings_one_row_more_than_there_are_symbols(fitted, monkeypatch):
    """So many suffice to see that one of them is no report. Wrong columns are not read at all."""
    brought, mechanism = rows_brought(monkeypatch), fitted["grr"].mechanism_
    numbers = pl.LazyFrame({"report": range(1000)})
    with pytest.raises(ValueError, match="0 to 5"):
        FrequencyEstimator(mechanism).fit(numbers)
    assert brought == [7]
    brought.clear()
    two = numbers.with_columns(id=pl.col("report"))
    for encode in ("auto", "symbol", "cells", "onehot"):
        with pytest.raises(ValueError, match=r"but Y has|only the reports"):
            FrequencyEstimator(mechanism, encode=encode).fit(two)
    with pytest.raises(ValueError, match="collect the result, and pass its counts"):
        FrequencyEstimator(mechanism).fit(numbers, sample_weight=np.ones(1000))
    assert not brought


def test_so_few_reports_that_they_have_no_errors_are_warned_of():
    mechanism = plain(grr(3))
    with pytest.warns(UserWarning, match=r"only 4 reports: standard errors need 30 and are NaN"):
        few = FrequencyEstimator(mechanism).fit([0, 1, 2, 2])
    assert np.isnan(few.marginal(part="nonsensitive").std_error).all()


def test_reports_of_another_mechanism():
    mechanism = plain(np.vstack([grr(3), np.zeros(3)]))
    with pytest.raises(ValueError, match=r"2 reports of symbol 3, .* never sends"):
        FrequencyEstimator(mechanism).fit([0, 3, 1, 3])


# -- parameters -----------------------------------------------------------------------------------


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
    with pytest.raises(NotFittedError):
        FrequencyEstimator(sanitizer).mean("visits")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "ml"}, ValueError, "method='ml' must be one of"),
        ({"public": [1, 2]}, TypeError, "public must be a JointDistribution .* got list"),
        ({"survey": "weight"}, TypeError, "survey must be a SurveyDesign or None, got str"),
    ],
)
def test_bad_parameters(options, error, message):
    with pytest.raises(error, match=message):
        FrequencyEstimator(plain(grr(3)), **options).fit([0, 1])
