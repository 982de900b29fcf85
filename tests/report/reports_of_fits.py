"""Sanitizers of small tables, the words of their reports, and the leakage of matrices."""

import warnings

import numpy as np
from conftest import few_iterations
from regions import lower

from skrldp import PolyOptSanitizer, PrivacyLeakWarning
from skrldp.claims_in_words import claims_table

ROWS = [[s, u] for s in range(2) for u in range(3)]
COUNTS = [120, 60, 90, 50, 140, 80]


def fitted(cls, rows=ROWS, counts=COUNTS, n_iterations=2, **parameters):
    """Fit a sanitizer whose design ends after few iterations, because any may be reported."""
    if cls is PolyOptSanitizer and "time_limit" not in parameters:
        parameters = lower(parameters)
    with few_iterations(n_iterations), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return cls(**parameters).fit(rows, sample_weight=counts)


def words_of(report):
    """The text of a report without line breaks."""
    return " ".join(str(report).split())


def row(report, known="nothing", reports="1"):
    """The bound in a row of the table of claims."""
    found = [r[3] for r in claims_table(report.claims)[2] if r[:2] == (known, reports)]
    return found[0] if found else None


def leakage(of_secret, pairs):
    """Greatest log-ratio between two columns of some pairs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return max(np.nanmax(np.log(of_secret[:, s] / of_secret[:, t])) for s, t in pairs)
