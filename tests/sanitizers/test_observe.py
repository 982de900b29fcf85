"""observe="nonsensitive": sanitizers that do not see the secret, from table to report."""

import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations, pairwise
from conic_program import solve_conic
from regions import lower
from robust_mse_fits import COUNTS, SPARSE, rows_of
from sanitizer_fits import LIBRARIES, N_ROWS, frame_of

from skrldp import (
    AllDistributions,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    certify,
)
from skrldp.design.distance_problem import distance_matrix, expected_distance
from skrldp.information import information_by_secret
from skrldp.privacy.private_rows import Layout, privacy_region
from skrldp.privacy.requirements import Requirements

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

BOTH = [PolyOptSanitizer, RobustMSESanitizer]
ENCODINGS = ["symbol", "onehot", "posterior", "cells"]
LIBRARIES = [*LIBRARIES, "list"]


def make(cls, eps=0.7, **parameters):
    if cls is PolyOptSanitizer:
        parameters = lower(parameters)
    else:
        parameters.setdefault("distance", "hamming")
    return cls(eps, **{"sensitive": 0, "observe": "nonsensitive", **parameters})


def fit(cls, X=None, counts=COUNTS, eps=0.7, **parameters):
    weights = {} if X is not None else {"sample_weight": np.ravel(counts)}
    # PolyOpt is global where vertices are listed
    quick = few_iterations() if cls is PolyOptSanitizer else nullcontext()
    with quick, warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return make(cls, eps, **parameters).fit(rows_of(counts) if X is None else X, **weights)


def without_secret(X):
    if isinstance(X, list):
        return [[row[0], row[2]] for row in X]
    if isinstance(X, np.ndarray):
        return X[:, [0, 2]]
    return X.drop(columns="ill") if isinstance(X, pd.DataFrame) else _dropped(X)


def _dropped(X):
    return X.drop("ill") if hasattr(X, "height") else X.drop_columns("ill")


def as_pandas(Y):
    if isinstance(Y, np.ndarray):
        return pd.DataFrame(Y)
    return Y if isinstance(Y, pd.DataFrame) else Y.to_pandas()


# --- What is designed, and what is proven --------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    ("uncertainty", "counts"),
    [
        (None, COUNTS),
        (RenyiBall(1.0), SPARSE),
        (AllDistributions(), COUNTS),
    ],
)
def test_less_useful_and_as_private(cls, uncertainty, counts):
    more = {"time_limit": None} if cls is PolyOptSanitizer else {}
    alone, all_ = (
        fit(cls, counts=counts, uncertainty=uncertainty, observe=observe, **more)
        for observe in ("nonsensitive", "all")
    )
    if cls is PolyOptSanitizer:
        assert 0.0 < alone.mutual_information_ <= all_.mutual_information_ * (1.0 + 1e-4)
        information = alone.mechanism_.mutual_information(alone.joint_.probabilities)
        assert alone.mutual_information_ == information
    else:
        assert alone.worst_case_distortion_ >= all_.worst_case_distortion_ * (1.0 - 2e-4)
        assert alone.distortion_ <= alone.worst_case_distortion_
    told = information_by_secret(alone.mechanism_.matrix, alone.joint_.counts)
    assert alone.information_by_secret_ == pytest.approx(told, abs=1e-12)
    mechanism, ball = alone.mechanism_, alone.uncertainty_
    assert (mechanism.observe, all_.mechanism_.observe) == ("nonsensitive", "all")
    parts = mechanism.weights.reshape(-1, *counts.shape)
    assert np.all(parts == parts[:, :1])
    assert mechanism.weights.sum(axis=0).tolist() == [2**mechanism.denominator_bits] * counts.size
    # the certificate is that of the whole matrix over all cells, by anybody's account
    whole = certify(mechanism.matrix, ball, alone.joint_)
    assert alone.certificate_.eps == pytest.approx(whole.eps, abs=1e-9) and whole.eps <= 0.7 + 1e-9
    assert alone.certificate_.holds(0.7)
    assert mechanism.leakage(alone.certificate_.distribution) == pytest.approx(
        alone.certificate_.eps_attained, abs=1e-9
    )


@pytest.mark.parametrize("robust", [(False, True), (True, False), (True, True)])
def test_the_four_problems(robust):
    names = {"robust_utility": robust[0], "robust_privacy": robust[1], "distance": "squared"}
    alone, all_ = (fit(RobustMSESanitizer, observe=o, **names) for o in ("nonsensitive", "all"))
    joint = alone.joint_
    near, around = (one.fit_set(joint) for one in (alone.utility_uncertainty_, alone.uncertainty_))
    near, around = (
        one if kept else one.public_alone for one, kept in zip((near, around), robust, strict=True)
    )
    distance = distance_matrix("squared", joint.values)
    cost = expected_distance(joint, distance, near, observe="nonsensitive")
    region = privacy_region(joint, around, layout=Layout.plain(*joint.counts.shape, "nonsensitive"))
    conic = solve_conic(cost, Requirements.of(region, 0.7))
    value = "worst_case_distortion_" if robust[0] else "distortion_"
    assert getattr(alone, value) >= getattr(all_, value) * (1.0 - 2e-4)
    assert getattr(alone, value) == pytest.approx(conic.value, rel=2e-4)
    assert getattr(alone, value) == pytest.approx(alone.solution_.objective, rel=1e-6)
    assert alone.solution_.bound <= getattr(alone, value) * (1.0 + 1e-9)
    assert alone.certificate_.uncertainty == around


# --- Tables without the secret -------------------------------------------------------------------


@pytest.fixture(scope="module")
def seen():
    """Fits by class and library, made once."""
    return {}


@pytest.mark.parametrize(("cls", "library", "encode"), pairwise(BOTH, LIBRARIES, ENCODINGS))
def test_the_columns_of_u_are_enough(cls, library, encode, seen):
    X = frame_of(library)
    if (cls, library) not in seen:
        seen[cls, library] = fit(cls, X, sensitive=1, random_state=0, eps=2.0)
    found = seen[cls, library].set_params(encode=encode)
    whole, alone = found.transform(X), found.transform(without_secret(X))
    assert type(alone) is type(whole)
    pd.testing.assert_frame_equal(as_pandas(alone), as_pandas(whole))
    if library not in ("numpy", "list"):
        assert list(as_pandas(alone).columns) == list(found.get_feature_names_out())
    if library == "pandas":
        pd.testing.assert_index_equal(alone.index, X.index)
    if encode == "cells":
        names = ["count", "size"] if cls is RobustMSESanitizer else ["count", "ill", "size"]
        if library == "pandas":
            assert sorted(alone.columns) == names
            pd.testing.assert_series_equal(alone.dtypes, X.dtypes[list(alone.columns)])
        assert alone.shape[1] == len(names)


def test_the_secret_is_not_looked_at():
    X = frame_of("pandas")
    found = fit(RobustMSESanitizer, X, sensitive="ill", random_state=0)
    other = X.assign(ill="none of your business")
    pd.testing.assert_frame_equal(found.transform(other), found.transform(without_secret(X)))


# --- Errors that say what is wrong ---------------------------------------------------------------


WRONG_COLUMNS = {
    "yet now missing:\n- count\n- ill\n": lambda X: X[["size"]],
    "yet now missing:\n- ill\n": lambda X: X[["count", "size"]],
    "unseen at fit time:\n- years\n": lambda X: X.rename(columns={"count": "years"}),
    "unseen at fit time:\n- extra\n": lambda X: X[["size", "count"]].assign(extra=1),
    "must be in the same order as they were in fit": lambda X: X[["ill", "size", "count"]],
}


def test_other_columns_are_refused_and_those_of_u_named():
    X = frame_of("pandas")
    found = fit(RobustMSESanitizer, X, sensitive="ill")
    for part, change in WRONG_COLUMNS.items():
        for method in (found.transform, found.score):
            with pytest.raises(ValueError, match="feature names should match") as error:
                method(change(X))
            assert part in str(error.value)
            assert "those of U alone suffice, in this order: ['size', 'count']." in str(error.value)
    bare = fit(RobustMSESanitizer, frame_of("numpy"), sensitive=1)
    with pytest.raises(ValueError, match="4 features, but RobustMSESanitizer is expecting 3") as e:
        bare.transform(np.zeros((2, 4)))
    assert "those of U alone suffice, in this order: ['x0', 'x2']." in str(e.value)
    seeing = fit(RobustMSESanitizer, X, sensitive="ill", observe="all")
    with pytest.raises(ValueError, match=r"yet now missing:\n- ill\n$"):
        seeing.transform(X[["size", "count"]])


@pytest.mark.parametrize("cls", BOTH)
def test_an_unknown_value_is_refused(cls):
    found = fit(cls)
    for X in ([[7]], [[0, 7]], [["any", 7]]):
        with pytest.raises(ValueError, match="unseen in fit"):
            found.transform(X)
    with pytest.raises(ValueError, match="unseen in fit"):
        found.score([["any", 1]])  # H(X) needs S: the table has it, so it must be known


# --- scikit-learn --------------------------------------------------------------------------------


def test_the_score_is_about_u_alone_without_the_secret():
    X = np.repeat(rows_of(COUNTS), COUNTS.ravel(), axis=0)
    found = fit(RobustMSESanitizer)  # distances need U only
    assert found.score(X) == found.score(X[:, 1:]) == pytest.approx(-found.distortion_, rel=1e-12)
    found = fit(PolyOptSanitizer)
    assert found.score(X) == pytest.approx(found.normalized_mutual_information_, rel=1e-12)
    distribution = COUNTS.sum(axis=0) / COUNTS.sum()
    entropy = -(distribution * np.log(distribution)).sum()
    assert found.score(X[:, 1:]) == pytest.approx(found.mutual_information_ / entropy, rel=1e-9)


def test_what_was_fitted_counts_not_what_is_set_afterwards():
    X = frame_of("numpy")
    found = fit(PolyOptSanitizer, X, sensitive=1).set_params(observe="all")
    assert found.transform(without_secret(X)).shape == (N_ROWS, 1)
    seeing = fit(PolyOptSanitizer, X, sensitive=1, observe="all")
    with pytest.raises(ValueError, match="X has 2 features, but PolyOptSanitizer is expecting 3"):
        seeing.set_params(observe="nonsensitive").transform(without_secret(X))
