"""Ordered categories: their quantiles, and their order in tables."""

import numpy as np
import pandas as pd
import pytest

from skrldp import Bins, BlockEstimator, BlockSanitizer, FrequencyEstimator, GRRSanitizer

SIZES = ["small", "middle", "large"]  # not sorted by name


@pytest.fixture(scope="module")
def estimators():
    """Of the same reports, with names and with ranks for the sizes."""
    rng = np.random.default_rng(0)
    rank = np.where(rng.random(4000) < 0.05, -1, rng.choice(3, 4000, p=[0.2, 0.25, 0.55]))
    found = []
    for values in (pd.Categorical.from_codes(rank, SIZES, ordered=True), rank.astype(float)):
        X = pd.DataFrame({"ill": rng.random(4000) < 0.5, "size": values})
        X.loc[rank < 0, "size"] = None
        X["ill"] = np.arange(4000) % 2 == 0
        sanitizer = GRRSanitizer(2.0, sensitive="ill", random_state=1).fit(X)
        found.append(FrequencyEstimator(sanitizer).fit(sanitizer.transform(X)))
    return found


@pytest.mark.parametrize("q", [0.1, 0.4, 0.9])
def test_ordered_categories_have_the_quantiles_of_their_ranks(estimators, q):
    named, ranked = (
        estimators[0].quantile("size", q, order=SIZES),
        estimators[1].quantile("size", q),
    )
    assert SIZES.index(named.estimate[0]) == ranked.estimate[0]
    for level in (0.5, 0.95, 0.999):
        ends = [SIZES.index(end) for end in named.confidence_interval(level)[0]]
        assert ends == ranked.confidence_interval(level)[0].tolist()


def test_bins_have_the_order_of_their_edges():
    """Also where the names sort differently, with open ends, by secret and of blocks."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"ill": rng.random(4000) < 0.5, "age": rng.integers(0, 200, 4000)})
    bins = Bins([-np.inf, 9, 30, 100, np.inf])
    categories = {"ill": [False, True], "age": bins}
    sanitizer = GRRSanitizer(4.0, sensitive="ill", categories=categories, random_state=0).fit(X)
    estimator = FrequencyEstimator(sanitizer).fit(sanitizer.transform(X))
    blocks = BlockSanitizer(
        4.0, base=GRRSanitizer(), sensitive="ill", categories=categories, random_state=0
    ).fit(X)
    of_blocks = BlockEstimator(blocks).fit(blocks.transform(X))
    for q in (0.02, 0.1, 0.4, 0.9):
        expected = np.clip(200 * q, 9, 100)  # the finite edge of an open bin
        for one in (estimator, of_blocks):
            np.testing.assert_allclose(one.quantile("age", q).estimate, expected, atol=15)
            np.testing.assert_allclose(one.quantile("age", q, by="ill").estimate, expected, atol=25)
    low, high = estimator.quantile("age", 0.44).confidence_interval()[0]
    assert 60 < low < 88 < high < 110


@pytest.mark.parametrize("order", [SIZES[:2], [*SIZES, "small"], "small", 3])
def test_the_order_must_be_one(estimators, order):
    with pytest.raises(ValueError, match="from least to greatest, each once"):
        estimators[0].quantile("size", 0.5, order=order)
    with pytest.raises(ValueError, match=r"not numeric.*A mean is of numbers.*need their `order`"):
        estimators[0].quantile("size", 0.5)


def test_estimates_come_in_the_order_that_is_declared():
    """Although some combinations lack, so that the order must be read off the others."""
    X = pd.DataFrame(
        [(0, "x", "small"), (1, "x", "middle"), (0, "y", "middle"), (1, "y", "large")] * 3,
        columns=["s", "u", "size"],
    )
    expected = sorted(SIZES)
    for dtype in ("object", pd.CategoricalDtype(SIZES)):
        sanitizer = GRRSanitizer(2.0, sensitive="s", random_state=0).fit(X.astype({"size": dtype}))
        reports = sanitizer.transform(X.astype({"size": dtype}))
        assert FrequencyEstimator(sanitizer).fit(reports).marginal("size").labels == tuple(
            (size,) for size in expected
        )
        expected = SIZES
