"""What sanitizers see, what observers know, and what holds for every distribution.

With observe="nonsensitive" designs are as private and less useful, and need the columns of U alone.
What is asked by eps_worst_case and observer_columns is proven, and paid for.
"""

import itertools
import warnings
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations
from regions import lower
from sanitizer_fits import N_ROWS, frame_of

from skrldp import (
    AllDistributions,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    certify,
)
from skrldp.claims import Claims
from skrldp.information import information_by_secret
from skrldp.table.codec import Codes

# Time limits are short here so that the tests are quick; a fit that meets one warns of it.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the values of U were learned",  # tables are small
    "ignore::sklearn.exceptions.ConvergenceWarning",
)

BOTH = [PolyOptSanitizer, RobustMSESanitizer]
COUNTS = np.array([[300, 200, 100], [150, 250, 500]])
SPARSE = np.array([[78, 0, 16, 6], [217, 169, 0, 57], [20, 40, 0, 90]])
ENCODINGS = ["symbol", "onehot", "posterior", "cells"]


def rows_of(counts):
    return np.array([[s, u] for s in range(len(counts)) for u in range(len(counts[0]))])


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
            with pytest.raises(ValueError, match=f"(?s){words}.*columns of U .*'size', 'count'"):
                method(records)


# --- scikit-learn --------------------------------------------------------------------------------


def test_an_unknown_value_is_refused():
    found = fit(PolyOptSanitizer)
    for X in ([[7]], [[0, 7]], [["any", 7]]):
        with pytest.raises(ValueError, match="unseen in fit"):
            found.transform(X)
    with pytest.raises(ValueError, match="unseen in fit"):
        found.score([["any", 1]])  # H(X) needs S: the table has it, so it must be known
    with pytest.raises(ValueError, match="unknown value of U do not belong"):
        Codes(np.zeros(2, dtype=int), np.array([0, -1])).cells(3)


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
    with pytest.raises(ValueError) as refused:
        seeing.transform(X[:, [0, 2]])
    assert "nonsensitive" not in str(refused.value)  # such columns would not be sufficient


# --- eps_worst_case and observer_columns ---------------------------------------------------------

FEW_ROWS = [(s, u) for s in ("no", "yes") for u in (0, 1, 2)]
FEW_COUNTS = [2700, 1050, 250, 300, 450, 250]


def fitted(kind, eps=1.0, **options):
    options = {"sensitive": 0, **options}
    return kind(eps, **options).fit(FEW_ROWS, sample_weight=FEW_COUNTS)


def utility(sanitizer):
    if hasattr(sanitizer, "distortion_"):
        return -sanitizer.distortion_
    return sanitizer.mutual_information_


def leakage_over_all(mechanism):
    """From the integer weights, secret against secret, the greatest against the least."""
    table = mechanism.weights.reshape(len(mechanism.symbols), len(mechanism.secrets), -1)
    worst = 0.0
    for s in range(table.shape[1]):
        for t in range(table.shape[1]):
            if s != t:
                most, least = table[:, s].max(axis=1), table[:, t].min(axis=1)
                assert np.all(least[most > 0] > 0)
                worst = max(worst, float(np.log(most[most > 0] / least[most > 0]).max()))
    return worst


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [PolyOptSanitizer, RobustMSESanitizer])
def test_what_a_bound_over_all_distributions_costs(kind):
    with few_iterations(10 if kind is PolyOptSanitizer else 1_000):
        found = [fitted(kind, eps_worst_case=most) for most in (1.0, 2.0, None)]
    values = [utility(sanitizer) for sanitizer in found]
    assert np.all(np.diff(values) > -1e-6)  # a larger one allows more
    assert values[0] < values[-1]
    for sanitizer in found[:2]:
        certificate = sanitizer.certificate_
        main, everywhere = certificate.claims.main, certificate.claims.everywhere
        assert (main.asked, everywhere.asked) == (1.0, sanitizer.eps_worst_case)
        assert certificate.claims.is_kept
        broken = replace(everywhere, asked=0.9 * everywhere.eps)
        assert not Claims((main, broken)).is_kept
        assert certificate.eps <= 1.0
        assert leakage_over_all(sanitizer.mechanism_) <= certificate.eps_worst_case + 1e-12
        assert certificate.eps_worst_case <= sanitizer.eps_worst_case
        assert certificate.eps_worst_case > sanitizer.eps_worst_case - 1e-3
    assert leakage_over_all(found[1].mechanism_) > 1.5


CELLS = pd.MultiIndex.from_product(
    [["no", "yes"], ["a", "b"], ["f", "m"], [0, 1]], names=["ill", "belief", "sex", "visits"]
)


@pytest.mark.parametrize("observe", ["all", "nonsensitive"])
def test_known_columns_and_two_secrets(observe):
    """Also about each of the two secrets by itself, for which nothing was asked."""
    sanitizer = RobustMSESanitizer(
        0.5,
        sensitive=["ill", "belief"],
        categories=list(CELLS.levels),
        distance="hamming",
        uncertainty=RenyiBall(radius=0.001),
        observer_columns="sex",
        observe=observe,
    )
    rng = np.random.default_rng(0)
    sanitizer.fit(CELLS.to_frame(index=False), sample_weight=rng.integers(200, 900, len(CELLS)))
    certificate, joint = sanitizer.certificate_, sanitizer.joint_
    assert certificate.eps <= 0.5 and certificate.claims.known.eps <= 0.5
    assert certificate.claims.known.asked == 0.5
    tried = [certificate.distribution_known]
    for scale in rng.uniform(0.01, 0.04, size=60):
        moved = joint.probabilities * np.exp(rng.normal(scale=scale, size=joint.counts.shape))
        if certificate.uncertainty.contains(joint, moved / moved.sum()):
            tried.append(moved / moved.sum())
    assert len(tried) > 30  # many of them near the boundary
    matrix = sanitizer.mechanism_.matrix
    for distribution in tried:
        # The axes are reports, ill, belief, sex and visits.
        cells = (matrix * distribution.ravel()).reshape(-1, 2, 2, 2, 2)
        for secrets, known in itertools.product(((1, 2), (1,), (2,)), ((), (3,))):
            others = tuple({1, 2, 3, 4} - {*secrets, *known})
            chances = cells.sum(axis=others, keepdims=True)
            chances = chances / chances.sum(axis=0)
            most, least = chances.max(axis=secrets), chances.min(axis=secrets)
            assert np.all(most <= np.exp(0.5) * least * (1 + 1e-9))
