"""Sanitizers among scikit-learn's tools: pipelines, searches, copies, displays."""

import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from sklearn.utils import estimator_html_repr

from skrldp import (
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
)

# Limits are low here so that the tests are quick; a fit that meets one warns of it.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True, scope="module")
def _quick():
    with few_iterations():
        yield


SANITIZERS = [
    GRRSanitizer(sensitive=0, random_state=0),
    SRRSanitizer(sensitive=0, random_state=0),
    IRSanitizer(sensitive=0, random_state=0),
    PolyOptSanitizer(sensitive=0, random_state=0),
    AOptimalSanitizer(sensitive=0, random_state=0, uncertainty=LikelihoodRatioSet(region="lower")),
    NonRobustSanitizer(sensitive=0, random_state=0),
    RobustMSESanitizer(sensitive=0, random_state=0),
]
each_sanitizer = pytest.mark.parametrize("sanitizer", SANITIZERS, ids=lambda s: type(s).__name__)
leaks = pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    ill = rng.random(200) < 0.4
    job = np.where(rng.random(200) < 0.3 + 0.4 * ill, "desk", "field")
    jobs = pd.CategoricalDtype(["field", "desk"], ordered=True)
    frame = {"ill": ill, "job": pd.Categorical(job, dtype=jobs), "age": rng.normal(40, 9, 200)}
    return pd.DataFrame(frame, index=np.arange(200) + 1000)


# --- Copies --------------------------------------------------------------------------------------


@leaks
@each_sanitizer
def test_copies_keep_parameters_output_and_reports(sanitizer, X):
    table = X[["ill", "job"]]
    original = clone(sanitizer).set_params(eps=0.7, sensitive="ill").set_output(transform="pandas")
    copy = clone(original.fit(table))
    again = pickle.loads(pickle.dumps(original))
    pd.testing.assert_frame_equal(again.transform(table), original.transform(table))
    assert again.certificate_.eps == original.certificate_.eps
    assert "fitted" in estimator_html_repr(original)
    assert str(copy.get_params()) == str(original.get_params())
    assert not hasattr(copy, "mechanism_")
    codes = np.column_stack([X["ill"], X["job"].cat.codes])
    assert isinstance(copy.set_params(sensitive=0).fit_transform(codes), pd.DataFrame)
    assert isinstance(clone(sanitizer).fit_transform(codes), np.ndarray)


# --- Searches ------------------------------------------------------------------------------------


def test_grid_search_over_eps_and_beta(X):
    search = GridSearchCV(
        IRSanitizer(sensitive=0, uncertainty=RenyiBall()),
        {"eps": [0.5, 1.0, 2.0], "uncertainty__beta": [0.2, 0.01]},
        cv=3,
        error_score="raise",
    )
    search.fit(X[["ill", "job"]])
    assert search.best_params_ == {"eps": 2.0, "uncertainty__beta": 0.2}
    scores = search.cv_results_["mean_test_score"].reshape(3, 2)
    assert np.all(np.diff(scores, axis=0) > 0)  # a larger ε tells more
    assert np.all(scores[:, 0] > scores[:, 1])  # so does a smaller set of distributions
    assert search.best_estimator_.uncertainty_.beta == 0.2


# --- Pipelines -----------------------------------------------------------------------------------


def test_discretise_then_sanitize(X):
    bins = KBinsDiscretizer(n_bins=4, encode="ordinal", strategy="uniform")
    private = Pipeline([("bins", bins), ("priv", SRRSanitizer(eps=1.0, sensitive=-1))])
    table = X[["age"]].assign(ill=X["ill"].astype(float))
    reports = private.fit_transform(table)
    assert reports.shape == (200, 2) and set(np.unique(reports[:, 0])) <= {0.0, 1.0, 2.0, 3.0}
    frame = private.set_output(transform="pandas").fit_transform(table)
    assert list(frame.columns) == ["age", "ill"] and frame.index.equals(table.index)
    assert list(private.get_feature_names_out()) == ["age", "ill"]


def test_pipeline_passes_weights(X):
    table = X[["ill", "job"]]
    weights = np.arange(200) % 3
    private = make_pipeline(SRRSanitizer(sensitive=0)).fit(
        table, srrsanitizer__sample_weight=weights
    )
    assert private[-1].joint_.n == weights.sum()


def test_frozen_sanitizer_is_not_refitted(X):
    public, others = X[["ill", "job"]][:100], X[["ill", "job"]][100:]
    sanitizer = SRRSanitizer(sensitive=0, encode="onehot").fit(public)
    mechanism = sanitizer.mechanism_
    model = make_pipeline(FrozenEstimator(sanitizer), LogisticRegression())
    model.fit(others, X["age"][100:] > 40)
    assert model[0].mechanism_ is mechanism and model[0].joint_.n == 100
    assert clone(model)[0].mechanism_ is mechanism
    assert model.predict(others).shape == (100,)


# --- Column transformers -------------------------------------------------------------------------


def test_column_transformer(X):
    table = X.assign(smokes=~X["ill"])
    private = ColumnTransformer(
        [("priv", SRRSanitizer(sensitive=0, random_state=0), ["ill", "job"])], remainder="drop"
    ).set_output(transform="pandas")
    reports = private.fit_transform(table)
    assert list(reports.columns) == ["priv__ill", "priv__job"]
    assert reports["priv__job"].dtype == X["job"].dtype
    assert reports.index.equals(X.index)
    assert list(private.get_feature_names_out()) == ["priv__ill", "priv__job"]


def test_column_transformer_of_polars(X):
    pl = pytest.importorskip("polars")
    table = pl.DataFrame({"ill": X["ill"].to_list(), "job": X["job"].to_list()})
    private = ColumnTransformer([("priv", SRRSanitizer(sensitive=0), ["ill", "job"])])
    reports = private.set_output(transform="polars").fit_transform(table)
    assert isinstance(reports, pl.DataFrame) and reports.columns == ["priv__ill", "priv__job"]


def test_inside_a_sanitized_pipeline_encoders_see_the_categories(X):
    model = make_pipeline(SRRSanitizer(sensitive=0), OneHotEncoder(sparse_output=False))
    assert model.fit_transform(X[["ill", "job"]]).shape == (200, 4)


# --- The rest ------------------------------------------------------------------------------------


def test_a_subclass_may_change_transform(X):
    class Twice(SRRSanitizer):
        def transform(self, X):
            first = super().transform(X)
            return pd.concat([first, super().transform(X)], axis=1)

    with config_context(transform_output="pandas"):
        reports = Twice(sensitive="ill").fit_transform(X[["ill", "job"]])
    assert list(reports.columns) == ["ill", "job"] * 2  # not renamed by scikit-learn's wrapping
