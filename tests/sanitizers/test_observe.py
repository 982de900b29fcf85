"""With observe="nonsensitive", sanitizers do not see the secret, from table to report.

They are as private and less useful, optimal among such mechanisms, and need the columns of U alone.
"""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from conftest import few_iterations
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
from skrldp.information import information_by_secret

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
        if library == "pandas":  # the secret is not looked at
            assert found.transform(X.assign(ill="none of your business")).equals(whole)
    names = ["count", "size"] if cls is RobustMSESanitizer else ["count", "ill", "size"]
    assert sorted(alone.columns) == names  # cells, which are the last of the encodings


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
