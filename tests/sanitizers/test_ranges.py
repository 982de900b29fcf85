"""Parameters that arithmetic cannot hold are refused, and what is refused says its range."""

import numpy as np
import pytest
from conftest import few_iterations

from skrldp import (
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    JointDistribution,
    LikelihoodRatioSet,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
)

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")

SANITIZERS = [
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
]
LIMITED = [AOptimalSanitizer, NonRobustSanitizer, PolyOptSanitizer, RobustMSESanitizer]
X = np.array([[0, 1], [0, 2], [1, 1], [1, 2]])
COUNTS = [7, 10, 26, 57]
HUGE = 10**5_000  # more digits than Python writes
HUGE_TOO = pytest.param(HUGE, id="huge")


def fit(sanitizer, weights=COUNTS):
    return sanitizer.set_params(sensitive=0).fit(X, sample_weight=weights)


@pytest.mark.parametrize("cls", SANITIZERS)
def test_eps_out_of_range(cls):
    for eps in (5e-324, 9e-10):
        with pytest.raises(ValueError, match=rf"^eps={eps} must be at least 1e-09 nats"):
            fit(cls(eps))
    with pytest.raises(ValueError, match=r"^eps=a number of 16,610 bits must be a positive finite"):
        fit(cls(HUGE))
    if hasattr(cls(), "eps_worst_case"):
        with pytest.raises(
            ValueError, match=r"^eps_worst_case=.* must be a positive finite number"
        ):
            fit(cls(eps_worst_case=HUGE))
        with pytest.raises(ValueError, match=r"^eps_worst_case=1e-310 must be at least 1e-09 nats"):
            fit(cls(eps_worst_case=1e-310))


@pytest.mark.parametrize("cls", [SRRSanitizer, GRRSanitizer, IRSanitizer, PolyOptSanitizer])
def test_the_smallest_eps_is_certified(cls):
    assert fit(cls(1e-9)).certificate_.holds(1e-9)


@pytest.mark.parametrize("cls", LIMITED)
@pytest.mark.parametrize("value", [float("inf"), HUGE_TOO])
def test_limits_are_finite(cls, value):
    with pytest.raises(ValueError, match=r"^time_limit=.* must be a positive .*None for no limit"):
        fit(cls(time_limit=value))


@pytest.mark.parametrize("kind", [LikelihoodRatioSet, RenyiBall])
def test_beta(kind):
    with pytest.raises(ValueError, match=r"^beta=5e-324 must be a probability of at least 1e-300"):
        fit(PolyOptSanitizer(uncertainty=kind(beta=5e-324)))
    with pytest.raises(ValueError, match=r"^beta=.* must be a positive finite number"):
        fit(PolyOptSanitizer(uncertainty=kind(beta=HUGE)))
    with pytest.raises(ValueError, match=r"^radius=.* must be .* or a number >= 0"):
        fit(PolyOptSanitizer(uncertainty=kind(radius=HUGE)))
    with pytest.raises(ValueError, match=r"radius=1e-100 .* at least 1e-15 if not 0"):
        fit(PolyOptSanitizer(uncertainty=kind(radius=1e-100)))
    joint = JointDistribution(np.reshape(COUNTS, (2, 2)))
    assert kind(beta=1e-300).fit_set(joint).beta == 1e-300


@pytest.mark.parametrize("cls", SANITIZERS)
@pytest.mark.parametrize("weights", [[2**50, 1, 1, 1], [10**12, 1, 0, 0]])
def test_more_records_than_can_be_told_from_one(cls, weights):
    with pytest.raises(ValueError, match=r"sums to .* at most 1,000,000,000,000 records"):
        fit(cls(), weights)


@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sanitizer", [IRSanitizer(), NonRobustSanitizer(), PolyOptSanitizer()])
def test_so_many_records_are_possible(sanitizer):
    with few_iterations():
        assert fit(sanitizer, [10**12 - 3, 1, 1, 1]).certificate_.holds(1.0)
