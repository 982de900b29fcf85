"""scikit-learn's own checks of every sanitizer."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from skrldp import (
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
)

# Quick to fit: scikit-learn fits each a hundred times. A solver that must stop at once does so in
# every run alike; one that the clock stops midway does not. Over a ball of order 2 bounds have
# closed forms; one of the sanitizers here has the default set.
QUICK = RenyiBall(radius=0.05)
SANITIZERS = [
    GRRSanitizer(),
    SRRSanitizer(),
    IRSanitizer(budget="theorem5", uncertainty=QUICK),
    PolyOptSanitizer(region="lower", time_limit=1e-6, uncertainty=QUICK),
    AOptimalSanitizer(region="lower", time_limit=1e-6, uncertainty=QUICK),
    NonRobustSanitizer(time_limit=1e-6),
    RobustMSESanitizer(distance="hamming", time_limit=1e-6),
    PolyOptSanitizer(region="lower", time_limit=1e-6, observe="nonsensitive", uncertainty=QUICK),
    RobustMSESanitizer(distance="hamming", time_limit=1e-6, observe="nonsensitive"),
]
# What draws one report a row from one stream must fail the first two, what refuses to pass unknown
# secrets on must fail the third (that weights are counts is tested in test_sanitizers).
EXPECTED = {
    "check_methods_sample_order_invariance": "the i-th draw goes to the i-th row, whichever it is",
    "check_methods_subset_invariance": "a batch of one row starts the stream anew",
    "check_sample_weight_equivalence_on_dense_data": "it transforms secrets left out of one fit",
}
# What does not look at S takes an array that lacks its columns; the check's lacks another one, but
# arrays cannot say which.
BLIND = "of arrays, the columns can only be counted, and those of U alone will do"


def expected(sanitizer):
    if getattr(sanitizer, "observe", "all") == "all":
        return EXPECTED
    return EXPECTED | {"check_transformer_general": BLIND}


@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")  # the checks' tables are tiny
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # so are time limits
@parametrize_with_checks(SANITIZERS, expected_failed_checks=expected)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
