"""cddlib is optional: every default fit works without it, and what needs it says so."""

import sys

import numpy as np
import pytest

from skrldp import (
    LikelihoodRatioSet,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
)
from skrldp.exceptions import SolverError

COUNTS = np.array([[46, 11, 8], [43, 2, 30]])
ROWS = np.column_stack([index.ravel() for index in np.indices(COUNTS.shape)])
FITS = {
    "joint": PolyOptSanitizer(1.0, sensitive=0),
    "lower": PolyOptSanitizer(1.0, sensitive=0, uncertainty=LikelihoodRatioSet(region="lower")),
    "blind": PolyOptSanitizer(
        1.0, sensitive=0, uncertainty=LikelihoodRatioSet(region="lower"), observe="nonsensitive"
    ),
    "public": NonRobustSanitizer(1.0, sensitive=0),
    "mse": RobustMSESanitizer(1.0, sensitive=0),
}


@pytest.fixture
def no_cddlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "cdd", None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skrldp.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize("name", FITS)
def test_defaults_need_no_cddlib(no_cddlib, name):
    found = FITS[name].fit(ROWS, sample_weight=COUNTS.ravel())
    assert found.mutual_information_ > 0.0 if name != "mse" else found.distortion_ > 0.0
    assert found.solution_.status in ("optimal", "converged")


@pytest.mark.filterwarnings("ignore::skrldp.exceptions.PrivacyLeakWarning")
def test_vertices_need_it(no_cddlib):
    sanitizer = PolyOptSanitizer(
        1.0, sensitive=0, uncertainty=LikelihoodRatioSet(region="lower"), solver="vertices"
    )
    with pytest.raises(SolverError, match=r"pip install 'skrldp\[vertices\]'"):
        sanitizer.fit(ROWS, sample_weight=COUNTS.ravel())
