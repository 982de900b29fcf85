"""Sanitizers among scikit-learn's tools: copies, searches, pipelines, column transformers."""

import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations
from sanitizer_fits import SANITIZERS, make
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_html_repr

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
    privacy_report,
)
from skrldp.sanitizers.access import as_sanitizer, changes_since_fit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True, scope="module")
def _quick():
    with few_iterations():
        yield


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    ill = rng.random(200) < 0.4
    job = np.where(rng.random(200) < 0.3 + 0.4 * ill, "desk", "field")
    jobs = pd.CategoricalDtype(["field", "desk"], ordered=True)
    frame = {"ill": ill, "job": pd.Categorical(job, dtype=jobs), "age": rng.normal(40, 9, 200)}
    return pd.DataFrame(frame, index=np.arange(200) + 1000)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")
@pytest.mark.parametrize("cls", SANITIZERS)
def test_copies_keep_parameters_output_and_reports(cls, X):
    table = X[["ill", "job"]]
    original = make(cls, eps=0.7, sensitive="ill", random_state=0).set_output(transform="pandas")
    copy = clone(original.fit(table))
    again = pickle.loads(pickle.dumps(original))
    pd.testing.assert_frame_equal(again.transform(table), original.transform(table))
    assert again.certificate_.eps == original.certificate_.eps
    assert "fitted" in estimator_html_repr(original)
    assert str(copy.get_params()) == str(original.get_params())
    assert not hasattr(copy, "mechanism_")
    codes = np.column_stack([X["ill"], X["job"].cat.codes])
    assert isinstance(copy.set_params(sensitive=0).fit_transform(codes), pd.DataFrame)


@pytest.mark.parametrize("cls", SANITIZERS)
def test_unknown_and_positional_parameters_are_refused(cls):
    with pytest.raises(TypeError, match="epsilon"):
        cls(epsilon=1.0)
    with pytest.raises(TypeError, match="positional"):
        cls(1.0, 0)


def test_a_search_over_eps_and_beta_prefers_the_weaker_promise(X):
    search = GridSearchCV(
        IRSanitizer(sensitive=0, uncertainty=RenyiBall()),
        {"eps": [0.5, 2.0], "uncertainty__beta": [0.2, 0.01]},
        cv=3,
        error_score="raise",
    )
    search.fit(X[["ill", "job"]])
    scores = search.cv_results_["mean_test_score"].reshape(2, 2)
    assert np.all(np.diff(scores, axis=0) > 0)  # a larger ε tells more
    assert np.all(scores[:, 0] > scores[:, 1])  # so does a smaller set of distributions
    assert search.best_estimator_.uncertainty_.beta == 0.2


def test_a_column_transformer_keeps_names_dtypes_and_index(X):
    private = ColumnTransformer(
        [("priv", SRRSanitizer(sensitive=0, random_state=0), ["ill", "job"])], remainder="drop"
    ).set_output(transform="pandas")
    reports = private.fit_transform(X.assign(smokes=~X["ill"]))
    assert list(reports.columns) == list(private.get_feature_names_out())
    assert list(reports.columns) == ["priv__ill", "priv__job"]
    assert reports["priv__job"].dtype == X["job"].dtype
    assert reports.index.equals(X.index)


def test_a_subclass_may_change_transform(X):
    class Twice(SRRSanitizer):
        def transform(self, X):
            first = super().transform(X)
            return pd.concat([first, super().transform(X)], axis=1)

    with config_context(transform_output="pandas"):
        reports = Twice(sensitive="ill").fit_transform(X[["ill", "job"]])
    assert list(reports.columns) == ["ill", "job"] * 2  # not renamed by scikit-learn's wrapping


# --- Pipelines stand for their last step ---------------------------------------------------------

ROWS = np.array([[s, u] for s in range(2) for u in range(3)] * 90)
PIPELINES = {
    "frozen step": lambda s: make_pipeline(FunctionTransformer(), FrozenEstimator(s)),
    "frozen pipeline": lambda s: FrozenEstimator(make_pipeline(FunctionTransformer(), s)),
    "nested": lambda s: make_pipeline(FunctionTransformer(), make_pipeline(FrozenEstimator(s))),
}


@pytest.mark.parametrize("wrap", PIPELINES.values(), ids=PIPELINES)
def test_pipelines_stand_for_their_last_step(wrap):
    sanitizer = GRRSanitizer(eps=1.0, sensitive=0).fit(ROWS)
    wrapped = wrap(sanitizer)
    assert as_sanitizer(wrapped) is sanitizer
    assert str(privacy_report(wrapped)) == str(privacy_report(sanitizer))
    Y = sanitizer.transform(ROWS)
    expected = FrequencyEstimator(sanitizer).fit(Y).frequencies_
    np.testing.assert_array_equal(FrequencyEstimator(wrapped).fit(Y).frequencies_, expected)


def test_a_sanitizer_that_is_not_the_last_step_is_named():
    fitted = make_pipeline(GRRSanitizer(sensitive=0).fit(ROWS), FunctionTransformer())
    with pytest.raises(TypeError, match="its step 'grrsanitizer', which is not the last"):
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
