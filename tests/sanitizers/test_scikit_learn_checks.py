"""scikit-learn's own checks of every sanitizer; long designs end early, to save time."""

import pickle
from functools import wraps

import pytest
from conftest import few_iterations
from sklearn.utils.estimator_checks import parametrize_with_checks

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    BlockSanitizer,
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
)


@pytest.fixture(autouse=True)
def _quick():
    with few_iterations():
        yield


SANITIZERS = [
    GRRSanitizer(),
    SRRSanitizer(),
    IRSanitizer(uncertainty=AllDistributions()),
    PolyOptSanitizer(uncertainty=LikelihoodRatioSet(region="lower")),
    AOptimalSanitizer(observe="nonsensitive", uncertainty=AllDistributions()),
    NonRobustSanitizer(),
    RobustMSESanitizer(uncertainty=AllDistributions()),
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


# A design is a function of its input, so checks that fit one table share it, except for the check
# of just that.
DESIGNS = {}


def remembered(design):
    @wraps(design)
    def remembering(self, promise, *given):
        key = type(self), pickle.dumps((self.get_params(), promise))
        if key not in DESIGNS:
            DESIGNS[key] = design(self, promise, *given)
        return DESIGNS[key]

    return remembering


# The checks leave `sensitive` out, and their tables are tiny.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore:the values of U are the")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(SANITIZERS, expected_failed_checks=expected)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    if check.func.__name__ != "check_fit_idempotent":
        monkeypatch.setattr(type(estimator), "_design", remembered(type(estimator)._design))
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")
@parametrize_with_checks(
    [BlockSanitizer(base=GRRSanitizer())], expected_failed_checks=lambda _: EXPECTED
)
def test_scikit_learn_checks_of_blocks(estimator, check):
    check(estimator)
