"""Tables and fits for the tests of all sanitizers."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations
from regions import lower

from skrldp import (
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RobustMSESanitizer,
    SRRSanitizer,
)
from skrldp.certificate import release
from skrldp.design.solution import Solution
from skrldp.sanitizers.fitted_state import Designed
from skrldp.sanitizers.parameters import with_parameters

CLOSED_FORMS = [GRRSanitizer, SRRSanitizer, IRSanitizer]
INFORMATIVE = [*CLOSED_FORMS, PolyOptSanitizer, NonRobustSanitizer]
OPTIMA = [PolyOptSanitizer, NonRobustSanitizer, AOptimalSanitizer]
SANITIZERS = [*CLOSED_FORMS, *OPTIMA, RobustMSESanitizer]
LISTED = [PolyOptSanitizer, AOptimalSanitizer]
N_ROWS = 60
GOOD = np.array([[0, 1], [1, 2], [0, 2], [1, 1]] * 10)


def make(cls, exact=False, **parameters):
    """A sanitizer that is quick to fit."""
    parameters.setdefault("sensitive", 0)
    if cls in LISTED and not exact:
        parameters = lower(parameters)  # whose vertices are listed
    if cls is RobustMSESanitizer:
        parameters.setdefault("distance", "hamming")  # for values of any kind
    return cls(**parameters)


def fitted(sanitizer, X, **weights):
    with few_iterations(), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return sanitizer.fit(X, **weights)


def frame_of(library):
    """A table with a nullable and an ordered categorical column, in every library."""
    rng = np.random.default_rng(0)
    size = rng.choice(["S", "M", "L"], N_ROWS)
    count = [None if draw == 0 else int(draw) for draw in rng.integers(0, 2, N_ROWS)]
    ill = rng.random(N_ROWS) < 0.4
    if library == "pandas":
        sizes = pd.CategoricalDtype(["S", "M", "L", "XL"], ordered=True)
        columns = {
            "size": pd.Categorical(size, dtype=sizes),
            "ill": ill,
            "count": pd.array(count, dtype="Int64"),
        }
        return pd.DataFrame(columns, index=pd.Index(np.arange(N_ROWS)[::-1] * 2, name="row"))
    if library == "polars":
        pl = pytest.importorskip("polars")
        sizes = pl.Series(size.tolist(), dtype=pl.Enum(["S", "M", "L", "XL"]))
        return pl.DataFrame({"size": sizes, "ill": ill.tolist(), "count": count})
    rows = np.column_stack([size == "M", ill, [-1 if c is None else c for c in count]]).astype(int)
    return rows if library == "numpy" else rows.tolist()


LIBRARIES = ["pandas", "polars", "numpy"]


def solution_of(matrix):
    return Solution("converged", "none", 1.0, 1.0, 1, 0.0, matrix=matrix)


@with_parameters
class GivenDesign(NonRobustSanitizer):
    """Repairs and proves a design that is given, instead of a search."""

    matrix: Any = None

    def _design(self, promise, confidence_set, record):
        mechanism, certificate = release(self.matrix, promise)
        designed = Designed(mechanism, certificate, solution_of(self.matrix))
        return designed.numbered(promise.joint)
