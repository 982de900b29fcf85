"""Numbers in public tables: counts are rounded at random, and engines cut as rows are cut."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lazy_frames import ENGINES
from scipy.stats import chi2

from skrldp import Bins, Knots
from skrldp.table.encoding import Column
from skrldp.table.learned_categories import learn
from skrldp.table.numbers import split_counts, summaries_of
from skrldp.table.read import read_table


def test_counts_are_split_with_the_variance_of_independent_records():
    """Squares of 400 standardised counts have a chi-squared sum; outside in 2 of 10^6 cases."""
    p, n = np.linspace(0.1, 0.9, 400), 100
    table = read_table(pd.DataFrame({"row": range(400), "x": p}))
    codes = [np.arange(400), np.zeros(400, dtype=int)]
    (row, knot), counts = split_counts(table, codes, np.full(400, n), {1: Knots([0, 1])})
    raised = np.bincount(row, counts * knot, 400)
    np.testing.assert_array_equal(np.bincount(row, counts), n)
    squares = ((raised - n * p) ** 2 / (n * p * (1.0 - p))).sum()
    assert chi2.ppf(1e-6, 400) < squares < chi2.isf(1e-6, 400)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "bins", [Bins([0, 10, 30], outside="clip"), Bins([-np.inf, 0, 10, 30, np.inf])]
)
def test_engines_cut_numbers_at_and_beyond_the_edges_as_rows_are_cut(engine, bins):
    table = pl.DataFrame({"s": [0, 1] * 6, "x": [-5.0, 0.0, 9.9, 10.0, 29.0, 30.0] * 2})
    codecs_and_codes = [learn(X, categories={"x": bins}) for X in (table, ENGINES[engine](table))]
    counts = [
        np.bincount(codes.cells(codec.n_values), codes.counted, codec.n_cells).tolist()
        for codec, codes in codecs_and_codes
    ]
    assert counts[0] == counts[1] and sum(counts[0]) == 12


def test_survey_weights_count_as_shares_and_counts_as_records():
    """Public means of bins are as exact as records are many, however a survey scales weights."""
    rng, bins = np.random.default_rng(0), Bins([0, 20, 100])
    table = pd.DataFrame({"x": rng.uniform(0.0, 100.0, 300)})
    weights, column = rng.choice([1.0, 4.0], 300), Column("x", bins.labels, numbers=bins)

    def variances(scale, *, is_survey):
        (summary,) = summaries_of(table, [column], scale * weights, is_survey=is_survey)
        return np.array(summary["variances"])

    once = variances(1.0, is_survey=True)
    np.testing.assert_allclose(variances(10.0, is_survey=True), once)
    assert np.all(variances(10.0, is_survey=False) < 0.11 * variances(1.0, is_survey=False))
    assert np.all(once > variances(1.0, is_survey=False))  # there are fewer than summed weights
