"""A survey as a prior: it counts for as many records as it is worth."""

import numpy as np
import pytest
from test_survey_sets import drawn, joint_of

from skrldp import FrequencyEstimator, JointDistribution, SRRSanitizer
from skrldp.sets import effective_size

SHARE = np.array([3, 5, 2, 4]) / 14


def estimate(prior, weight=1.0):
    rows = [[s, u] for s in (0, 1) for u in (0, 1)]
    sanitizer = SRRSanitizer(eps=1.0, random_state=0, sensitive=0).fit(
        np.array(rows), sample_weight=[3, 5, 2, 4]
    )
    reports = sanitizer.transform(np.repeat(rows, 500, axis=0))
    found = FrequencyEstimator(sanitizer, prior=prior, prior_weight=weight).fit(reports)
    return found.frequencies_, found.std_error_


def test_each_effective_record_counts_for_a_report():
    rng = np.random.default_rng(0)
    records, cells = drawn(rng, 60, 50, 0.1, [1, 4], SHARE)
    joint = joint_of(records, cells, (2, 2))
    size = effective_size(joint)
    assert 0.05 * joint.n < size < 0.5 * joint.n
    same = JointDistribution(np.rint(joint.probabilities * 1e9))
    expected = estimate(same, size / same.n)
    for one, other in zip(estimate(joint), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    _, naive = estimate(JointDistribution(joint.counts))
    assert np.all(expected[1] > 1.5 * naive)


def test_the_effective_size_of_independent_records_is_their_number():
    rng = np.random.default_rng(0)
    records, cells = drawn(rng, 5_000, 1, 0.0, [1], SHARE)
    joint = joint_of(records, cells, (2, 2))
    assert effective_size(joint) == pytest.approx(5_000, rel=1e-3)
    assert effective_size(JointDistribution(joint.counts)) == 5_000
    weights = rng.choice([1.0, 4.0], 5_000)
    weighted = type(records)(weights, records.strata, records.clusters)
    kish = weights.sum() ** 2 / (weights**2).sum()
    assert effective_size(joint_of(weighted, cells, (2, 2))) == pytest.approx(kish, rel=0.05)
