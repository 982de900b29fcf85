"""With observe="nonsensitive", sanitizers do not see the secret, from table to report.

They are as private and less useful, optimal among such mechanisms, and need the columns of U alone.
"""

import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations
from conic_program import solve_conic
from regions import lower
from robust_mse_fits import COUNTS, SPARSE, rows_of
from sanitizer_fits import N_ROWS, frame_of

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


# --- What is designed, and what is proven --------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    ("uncertainty", "counts"),
    [
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


@pytest.mark.parametrize(
    ("cls", "library"), [(PolyOptSanitizer, "pandas"), (RobustMSESanitizer, "polars")]
)
def test_the_columns_of_u_are_enough(cls, library):
    X = frame_of(library)
    without = X.drop(columns="ill") if library == "pandas" else X.drop("ill")
    found = fit(cls, X, sensitive=1, random_state=0, eps=2.0)
    for encode in ENCODINGS:
        found.set_params(encode=encode)
        whole, alone = found.transform(X), found.transform(without)
        assert type(alone) is type(whole) and alone.equals(whole)
        assert list(alone.columns) == list(found.get_feature_names_out())
    names = ["count", "size"] if cls is RobustMSESanitizer else ["count", "ill", "size"]
    assert sorted(alone.columns) == names  # cells, which are the last of the encodings


def test_the_secret_is_not_looked_at():
    X = frame_of("pandas")
    found = fit(RobustMSESanitizer, X, sensitive="ill", random_state=0)
    other = X.assign(ill="none of your business")
    pd.testing.assert_frame_equal(found.transform(other), found.transform(X.drop(columns="ill")))


# --- Errors that say what is wrong ---------------------------------------------------------------


def test_other_columns_are_refused_and_those_of_u_named():
    X = frame_of("pandas")
    found = fit(RobustMSESanitizer, X, sensitive="ill")
    for words, records in (
        ("yet now missing:\n- count\n- ill\n", X[["size"]]),
        ("yet now missing:\n- ill\n", X[["count", "size"]]),
        ("unseen at fit time:\n- extra\n", X[["size", "count"]].assign(extra=1)),
        ("must be in the same order as they were in fit", X[["ill", "size", "count"]]),
    ):
        for method in (found.transform, found.score):
            with pytest.raises(ValueError, match=f"(?s){words}.*U alone .*'size', 'count'"):
                method(records)
    bare = fit(RobustMSESanitizer, frame_of("numpy"), sensitive=1)
    with pytest.raises(ValueError, match=r"(?s)4 features.* expecting 3.*U alone .*'x0', 'x2'"):
        bare.transform(np.zeros((2, 4)))
    seeing = fit(RobustMSESanitizer, X, sensitive="ill", observe="all")
    with pytest.raises(ValueError, match=r"yet now missing:\n- ill\n$"):
        seeing.transform(X[["size", "count"]])


def test_an_unknown_value_is_refused():
    found = fit(PolyOptSanitizer)
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
    assert found.transform(X[:, [0, 2]]).shape == (N_ROWS, 1)
    seeing = fit(PolyOptSanitizer, X, sensitive=1, observe="all")
    with pytest.raises(ValueError, match="X has 2 features, but PolyOptSanitizer is expecting 3"):
        seeing.set_params(observe="nonsensitive").transform(X[:, [0, 2]])
