"""Mechanisms, sanitizers of a small table, and fits to given reports."""

from functools import cache

import numpy as np
import pandas as pd

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
)

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


def fit_counts(mechanism, counts, method="unbiased", **options):
    """Fit counts of symbols."""
    options = {"encode": "symbol"} | options
    symbols = np.arange(len(counts))
    return FrequencyEstimator(mechanism, method, **options).fit(symbols, sample_weight=counts)


def fit_distribution(mechanism, distribution, *args, **options):
    """Fit what are practically infinitely many reports from a distribution."""
    report = mechanism.matrix @ np.ravel(distribution)
    return fit_counts(mechanism, np.round(FINE * report), *args, **options)


@cache
def sanitizers():
    """Fit each sanitizer once."""

    def fit(sanitizer):
        return sanitizer.fit(TABLE, sample_weight=COUNTS.ravel())

    return {
        "grr": fit(GRRSanitizer(1.0, sensitive=0)),
        "srr": fit(SRRSanitizer(1.0, sensitive=0)),
        "polyopt": fit(
            PolyOptSanitizer(1.0, sensitive=0, uncertainty=LikelihoodRatioSet(region="lower"))
        ),
        "mse": fit(RobustMSESanitizer(1.0, sensitive=0)),
        "blind": fit(
            PolyOptSanitizer(
                1.0,
                sensitive=0,
                uncertainty=LikelihoodRatioSet(region="lower"),
                observe="nonsensitive",
            )
        ),
    }
