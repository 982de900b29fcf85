"""RobustMSESanitizer as an estimator of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from robust_mse_fits import COUNTS, SPARSE, fit, frame_of, rows_of
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import KBinsDiscretizer

from skrldp import (
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
)

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
# The papers' set is meant here, and tables with rare cells too, for which that set is weak.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:the chi-squared set may miss:skrldp.PrivacyLeakWarning",
)


def test_fitted_attributes():
    X = frame_of("pandas")[["ill", "age"]]
    found = RobustMSESanitizer(sensitive=0, uncertainty=RenyiBall(beta=0.2)).fit(X)
    assert found.n_features_in_ == 2 and list(found.feature_names_in_) == ["ill", "age"]
    assert found.mechanism_.columns == (("ill", True), ("age", False))
    assert found.uncertainty_ is not found.uncertainty and found.uncertainty_.beta == 0.2
    assert isinstance(found.distortion_, float) and isinstance(found.worst_case_distortion_, float)
    assert not hasattr(found, "mutual_information_")
    assert found.solution_.seconds > 0 and found.solution_.iterations > 0


def fitted_state(sanitizer):
    parameters = sanitizer.get_params()
    return {name: value for name, value in vars(sanitizer).items() if name not in parameters}


class Odd(Exception):
    """What a user's distance raises."""


def breaks(u, y):
    raise Odd


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"distance": "hammin"}, ValueError),
        ({"distance": breaks}, Odd),
        ({"uncertainty": RenyiBall(0.2, radius=0.1)}, ValueError),
    ],
    ids=["no distance", "its own error", "no such region"],
)
def test_a_fit_that_fails_changes_nothing(parameters, error):
    found = fit()
    before, score = fitted_state(found), found.score(rows_of(COUNTS))
    with pytest.raises(error):
        found.set_params(**parameters)
        found.fit(rows_of(SPARSE), sample_weight=SPARSE.ravel())
    assert fitted_state(found) == before
    assert found.score(rows_of(COUNTS)) == score
    assert set(found.transform(rows_of(COUNTS))[:, 0]) <= {0, 1, 2}


def test_a_warning_made_an_error_changes_nothing():
    found = fit()
    before, score = fitted_state(found), found.score(rows_of(COUNTS))
    found.set_params(robust_privacy=False)
    with pytest.raises(PrivacyLeakWarning, match="robust_privacy=False"):
        found.fit(rows_of(SPARSE), sample_weight=SPARSE.ravel())
    assert fitted_state(found) == before and found.score(rows_of(COUNTS)) == score


@pytest.mark.parametrize(
    ("parameters", "messages"),
    [
        (
            {"robust_privacy": False},
            ["robust_privacy=False: privacy holds for the public distribution"],
        ),
        ({"uncertainty": RenyiBall(radius=0.0)}, ["the uncertainty set has radius 0"]),
        (
            {"uncertainty": RenyiBall(radius=0.0), "robust_privacy": False},
            ["the uncertainty set has radius 0"],
        ),
    ],
    ids=["one distribution", "radius 0", "both"],
)
def test_warnings_are_made_once_and_point_at_the_caller(parameters, messages):
    with pytest.warns(PrivacyLeakWarning) as caught:
        RobustMSESanitizer(sensitive=0, **parameters).fit(
            rows_of(COUNTS), sample_weight=COUNTS.ravel()
        )
    assert [
        str(warning.message)[: len(m)] for warning, m in zip(caught, messages, strict=True)
    ] == messages
    assert caught[0].filename == __file__


def test_discretise_then_sanitize():
    rng = np.random.default_rng(0)
    income = rng.normal(40, 12, 500)
    X = pd.DataFrame({"income": income, "age": rng.normal(50, 10, 500) + income / 4})
    bins = KBinsDiscretizer(n_bins=[2, 5], encode="ordinal", strategy="uniform")
    private = Pipeline(
        [("bins", bins), ("priv", RobustMSESanitizer(sensitive=0, eps=1.0, random_state=0))]
    )
    Y = private.fit_transform(X)
    assert Y.shape == (500, 1) and set(Y[:, 0]) <= set(range(5))
    assert list(private.get_feature_names_out()) == ["age"]
    frame = private.set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns) == ["age"] and frame.index.equals(X.index)
    edges = private[0].bin_edges_[1]
    middles = (edges[:-1] + edges[1:]) / 2  # d(bin, age) where a bin stands for its middle
    private.set_params(priv__distance=(middles[:, None] - middles) ** 2)
    private.fit(X)
    assert private.score(X) == pytest.approx(-private[-1].distortion_)


def test_verbose(capsys):
    fit()
    assert capsys.readouterr().out == ""
    found = fit(verbose=1)
    printed = capsys.readouterr().out
    assert "RobustMSESanitizer: S = column 0, U = column 1, JointDistribution(2 secrets" in printed
    assert f"distortion {found.distortion_:.5g} (at worst" in printed
