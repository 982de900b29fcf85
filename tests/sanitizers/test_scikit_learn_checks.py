"""Sanitizers pass scikit-learn's own checks and work with its tools.

Pipelines stand for their last step, parameters that are set after `fit` are reported, and every
parameter is described.
"""

import inspect
import pickle
import re
from functools import wraps

import numpy as np
import pytest
from conftest import few_iterations
from sanitizer_fits import SANITIZERS
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    BlockSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    NonRobustSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    privacy_report,
)
from skrldp.sanitizers.access import as_sanitizer, changes_since_fit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True, scope="module")
def _quick():
    with few_iterations():
        yield


# --- scikit-learn's checks -----------------------------------------------------------------------

# What the others add to these is the mechanism alone.
CHECKED = [
    GRRSanitizer(),
    NonRobustSanitizer(),
    AOptimalSanitizer(observe="nonsensitive", uncertainty=AllDistributions()),
    RobustMSESanitizer(uncertainty=AllDistributions()),
    BlockSanitizer(base=GRRSanitizer()),
]
# What draws one report a row from one stream must fail the first two, what refuses to pass unknown
# secrets on must fail the third (that weights are counts is tested in test_silent_mistakes.py).
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
@parametrize_with_checks(CHECKED, expected_failed_checks=expected)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    if check.func.__name__ != "check_fit_idempotent" and hasattr(estimator, "_design"):
        monkeypatch.setattr(type(estimator), "_design", remembered(type(estimator)._design))
    check(estimator)


# --- Parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [*SANITIZERS, BlockSanitizer], ids=lambda cls: cls.__name__)
def test_every_parameter_is_described_with_its_default(cls):
    doc = inspect.cleandoc(cls.__doc__)
    section = doc.split("\nParameters\n----------\n")[1].split("\n\nAttributes\n")[0]
    lines = dict(re.findall(r"^(\w+) : (.*)$", section, flags=re.MULTILINE))
    parameters = inspect.signature(cls).parameters
    assert lines.keys() == parameters.keys()
    assert next(iter(parameters)) == "eps"
    for name, parameter in parameters.items():
        stated = re.search(r"default=(.*)$", lines[name])
        if stated is None:
            continue
        default = parameter.default
        texts = (repr(default), f'"{default}"', f"{default:_}" if isinstance(default, int) else "")
        assert stated[1] in texts or float(stated[1]) == default, name


# --- Pipelines stand for their last step ---------------------------------------------------------

ROWS = np.array([[s, u] for s in range(2) for u in range(3)] * 90)


def test_frozen_and_nested_pipelines_stand_for_their_last_step():
    sanitizer = GRRSanitizer(eps=1.0, sensitive=0).fit(ROWS)
    inner = make_pipeline(FunctionTransformer(), FrozenEstimator(sanitizer))
    wrapped = FrozenEstimator(make_pipeline(FunctionTransformer(), inner))
    assert as_sanitizer(wrapped) is sanitizer
    assert str(privacy_report(wrapped)) == str(privacy_report(sanitizer))
    Y = sanitizer.transform(ROWS)
    expected = FrequencyEstimator(sanitizer).fit(Y).frequencies_
    np.testing.assert_array_equal(FrequencyEstimator(wrapped).fit(Y).frequencies_, expected)


def test_a_sanitizer_that_is_not_the_last_step_is_named():
    fitted = make_pipeline(GRRSanitizer(sensitive=0).fit(ROWS), FunctionTransformer())
    with pytest.raises(TypeError, match="Its step 'grrsanitizer' is a sanitizer, but not the last"):
        privacy_report(fitted)
    with pytest.raises(TypeError, match="that ends in one"):
        FrequencyEstimator(fitted).fit([[0, 0]])


# --- Parameters that were set after fit -----------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "change"),
    [
        ({"sensitive": [0]}, {"sensitive": 1}),
        ({"eps": 0.5}, {"eps": 1.0}),
        ({"uncertainty": RenyiBall()}, {"uncertainty__beta": 0.01}),
        ({"categories": {0: [0, 1], 1: [0, 1, 2]}}, {"categories": {0: [0, 1], 1: [2, 1, 0]}}),
        ({"distance": np.eye(3)}, {"distance": 2 * np.eye(3)}),
    ],
)
@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")
def test_parameters_set_after_fit_are_reported(start, change):
    sanitizer = clone(RobustMSESanitizer(**start)).fit(ROWS)
    sanitizer.set_params(encode="cells", random_state=None, verbose=0)  # which `transform` reads
    assert changes_since_fit(sanitizer) == {}
    sanitizer.set_params(**change)
    (name,) = change
    changed = changes_since_fit(sanitizer)
    assert name in changed
    stated = [text for text in privacy_report(sanitizer).warnings if "was set after fit" in text]
    assert len(stated) == len(changed) and any(text.startswith(f"{name}=") for text in stated)
    assert changes_since_fit(sanitizer.set_params(**start)) == {}
