"""cddlib is optional: every default fit works without it, and what needs it says so."""

import sys

import numpy as np
import pytest

from skrldp import (
    JointDistribution,
    LikelihoodRatioSet,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
)
from skrldp.design.criterion_problem import CriterionProblem
from skrldp.design.engine import solve
from skrldp.exceptions import SolverError
from skrldp.privacy.regions import Layout, privacy_region
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import RenyiSet

COUNTS = np.array([[46, 11, 8], [43, 2, 30]])
ROWS = np.column_stack([index.ravel() for index in np.indices(COUNTS.shape)])
FITS = {
    "joint": PolyOptSanitizer(1.0, sensitive=0),
    "lower": PolyOptSanitizer(1.0, sensitive=0, uncertainty=LikelihoodRatioSet(region="lower")),
    "box": PolyOptSanitizer(1.0, sensitive=0, uncertainty=LikelihoodRatioSet(region="box")),
    "large eps": PolyOptSanitizer(
        12.0, sensitive=0, uncertainty=LikelihoodRatioSet(region="lower")
    ),  # no products there
    "blind": PolyOptSanitizer(
        1.0, sensitive=0, uncertainty=LikelihoodRatioSet(region="lower"), observe="nonsensitive"
    ),
    "public": NonRobustSanitizer(1.0, sensitive=0),
    "mse": RobustMSESanitizer(1.0, sensitive=0),
}


@pytest.fixture
def no_cddlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "cdd", None)


@pytest.mark.filterwarnings("ignore::skrldp.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize("name", FITS)
def test_defaults_need_no_cddlib(no_cddlib, name):
    found = FITS[name].fit(ROWS, sample_weight=COUNTS.ravel())
    assert found.mutual_information_ > 0.0 if name != "mse" else found.distortion_ > 0.0
    assert found.solution_.status in ("optimal", "converged")


def region_of(radius=0.01, observe="all"):
    joint = JointDistribution(COUNTS)
    return privacy_region(
        joint,
        RenyiSet(2.0, radius),
        region="lower",
        layout=Layout.plain(*joint.counts.shape, observe),
    )


def test_vertices_need_it_only_where_products_do_not_list_them(no_cddlib):
    joint = JointDistribution(COUNTS)
    assert (
        solve(CriterionProblem(joint), Requirements.of(region_of(), 1.0), solver="vertices").status
        == "optimal"
    )
    for region, eps in ((region_of(observe="nonsensitive"), 1.0), (region_of(), 12.0)):
        with pytest.raises(SolverError, match=r"pip install 'skrldp\[vertices\]'"):
            solve(CriterionProblem(joint), Requirements.of(region, eps), solver="vertices")
        found = solve(CriterionProblem(joint), Requirements.of(region, eps))
        assert found.solver != "vertices" and "skrldp[vertices]" in found.message
