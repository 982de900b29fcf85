"""Where every column is sensitive, the whole record is the secret, for every population.

Each row of weights has at most the ratio e^eps, several reports add up, and what is about U is
refused; blocks of secrets are pooled.
"""

import math

import numpy as np
import pandas as pd
import pytest

from skrldp import (
    AOptimalSanitizer,
    BlockEstimator,
    BlockSanitizer,
    GRRSanitizer,
    Manifest,
    Mechanism,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RenyiBall,
    SRRSanitizer,
)
from skrldp.client import load
from skrldp.design.subset_optimum import optimal_response

ALL = [GRRSanitizer, SRRSanitizer, PolyOptSanitizer, AOptimalSanitizer, NonRobustSanitizer]
TABLE = pd.DataFrame(
    [["no", "low"], ["no", "mid"], ["yes", "low"], ["yes", "mid"], ["yes", "high"]],
    columns=["ill", "income"],
)
COUNTS = [500, 300, 20, 150, 30]
RECORDS = TABLE.loc[np.repeat(np.arange(5), COUNTS)]


def fitted(cls, columns=("ill", "income"), eps=0.8, **parameters):
    parameters.setdefault("sensitive", slice(None))
    return cls(eps, **parameters).fit(RECORDS[list(columns)])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    ("columns", "sensitive"),
    [
        (("ill", "income"), slice(None)),
        (("income",), None),
    ],
)
def test_every_row_as_sampled_has_at_most_the_ratio(cls, columns, sensitive):
    sanitizer = fitted(cls, columns, sensitive=sensitive)
    weights = [[int(w) for w in row] for row in sanitizer.mechanism_.weights]
    assert all(math.log(max(row) / min(row)) <= 0.8 for row in weights)
    assert sanitizer.mechanism_.values == ((),)
    claims = sanitizer.mechanism_.claims
    assert claims.main.around.is_everything
    assert claims.eps <= 0.8
    assert [claims.bound_of(k) <= k * 0.8 for k in (1, 2, 10)] == [True] * 3
    text = sanitizer.mechanism_.to_json()
    assert Mechanism.from_json(text).digest == sanitizer.mechanism_.digest
    assert len(sanitizer.transform(TABLE[list(columns)])) == 5
    report = load(text).report(dict(zip(columns, TABLE[list(columns)].iloc[0], strict=True)))
    assert 0 <= report < len(sanitizer.mechanism_.symbols)


def test_a_set_of_distributions_plays_no_part():
    plain = fitted(PolyOptSanitizer)
    other = fitted(PolyOptSanitizer, uncertainty=RenyiBall(radius=0.0), eps_worst_case=2.0)
    assert other.mechanism_.digest == plain.mechanism_.digest
    assert other.certificate_.uncertainty.is_everything


def test_most_information_is_the_staircase_optimum():
    for cls in (PolyOptSanitizer, NonRobustSanitizer):
        best = optimal_response(COUNTS, 0.8).information
        assert fitted(cls).mutual_information_ == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize(
    ("sanitizer", "words"),
    [
        (PolyOptSanitizer(observe="nonsensitive"), "observe='nonsensitive'.* omit it"),
        (PolyOptSanitizer(objective="I(U;Y)"), r"objective='I\(U;Y\)' concerns only U"),
        (GRRSanitizer(min_frequency=5), "min_frequency groups only values of U"),
        (AOptimalSanitizer(observer_columns="ill"), "both sensitive and in observer_columns"),
        (AOptimalSanitizer(targets="nonsensitive"), "all columns are sensitive"),
    ],
)
def test_what_is_about_u_is_refused(sanitizer, words):
    with pytest.raises(ValueError, match=words):
        sanitizer.set_params(sensitive=slice(None)).fit(TABLE, sample_weight=COUNTS)


WIDE = pd.DataFrame(
    np.random.default_rng(0).integers(0, [2, 3, 5], (3_000, 3)), columns=["ill", "age", "job"]
)


@pytest.mark.parametrize("blocks", ["singles", "pairs", [["ill", "job"], "age"]])
def test_blocks_of_secrets_are_private_and_pooled(blocks):
    sanitizer = BlockSanitizer(1.0, sensitive=slice(None), blocks=blocks, random_state=0)
    manifest = sanitizer.fit(WIDE).manifest_
    for mechanism in manifest.mechanisms:
        weights = [[int(w) for w in row] for row in mechanism.weights]
        assert all(math.log(max(row) / min(row)) <= 1.0 for row in weights)
    assert {flag for _, flag in manifest.columns} == {True}
    assert manifest.in_every_block == ()
    assert manifest.claims.beta == 0.0
    assert manifest.claims.bound_of(3) <= 3.0
    assert Manifest.from_json(manifest.to_json()).digest == manifest.digest
    estimator = BlockEstimator(sanitizer).fit(sanitizer.transform(pd.concat([WIDE] * 20)))
    for name in WIDE:
        shares = estimator.marginal(name).to_frame()
        truth = WIDE[name].value_counts(normalize=True).sort_index().to_numpy()
        assert (np.abs(shares["unbiased"] - truth) < 5 * shares["std_error"]).all()
