"""Reports of people who were drawn in clusters, and drift tests around a survey.

False alarms below 1e-6, or as a test says, with fixed seeds.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from block_tables import fitted_blocks

from skrldp import (
    FrequencyEstimator,
    JointDistribution,
    SRRSanitizer,
    SurveyDesign,
    expected_std_error,
)
from skrldp.estimation import expected_std_error_of_mean

SHARE = np.array([0.3, 0.1, 0.15, 0.45])
ROWS = np.array([[s, u] for s in (0, 1) for u in (0, 1)])


def clustered(rng, clusters, size, correlation):
    own = rng.dirichlet(SHARE * (1.0 - correlation) / correlation, size=clusters)
    return rng.multinomial(size, own)


@pytest.mark.slow
def test_the_design_effect_adds_to_the_sampling_part_of_the_variance():
    """As the guide on planning says: 150 surveys of 100 clusters of 20, correlation .1.

    Their spread is that far off in one of 10,000 cases.
    """
    sanitizer = SRRSanitizer(eps=2.0, sensitive=0).fit(ROWS, sample_weight=[30, 10, 15, 45])
    rng, n, effect = np.random.default_rng(0), 2_000, 1 + 19 * 0.1
    estimator = FrequencyEstimator(sanitizer, encode="symbol")
    found = []
    for _ in range(150):
        people = clustered(rng, 100, 20, 0.1).sum(axis=0)
        reports = rng.multinomial(people, sanitizer.mechanism_.matrix.T).sum(axis=0)
        estimator.fit(range(len(reports)), sample_weight=reports)
        found.append(estimator.frequencies_.sum(axis=0)[0])
    share = SHARE[[0, 2]].sum()
    stated = expected_std_error(sanitizer, n, 1)[0]
    planned = expected_std_error(sanitizer, n, 1, design_effect=effect)[0]
    assert planned == pytest.approx(np.sqrt(stated**2 + (effect - 1) * share * (1 - share) / n))
    # A mean of 0 and 1 is a share, and shares within a group have the group's people.
    mean = expected_std_error_of_mean(sanitizer, n, 1, design_effect=effect)
    shares = expected_std_error(sanitizer, n, 1, design_effect=effect)
    assert mean == pytest.approx(shares[1])
    within = SHARE[2] / SHARE[2:].sum()
    usual, more = (
        expected_std_error(sanitizer, n, 1, by=0, design_effect=own)[2] for own in (1.0, effect)
    )
    added = (effect - 1) * within * (1 - within) / (n * SHARE[2:].sum())
    assert more == pytest.approx(np.sqrt(usual**2 + added))
    assert planned > 1.2 * stated
    assert np.std(found) == pytest.approx(planned, rel=3.9 / np.sqrt(2 * 150))


def test_design_effects_that_have_no_meaning_are_refused():
    sanitizer = SRRSanitizer(eps=2.0, sensitive=0).fit(ROWS, sample_weight=[30, 10, 15, 45])
    with pytest.raises(ValueError, match="design_effect=0 must be a positive finite number"):
        expected_std_error(sanitizer, 100, design_effect=0)
    blocks = fitted_blocks()
    column = blocks.manifest_.blocks[0][0]
    with pytest.raises(ValueError, match="design_effect needs a single mechanism"):
        expected_std_error(blocks, 100, column, design_effect=2.0)


@pytest.mark.slow
def test_the_test_of_drift_knows_how_little_a_clustered_survey_says():
    """Reports of the population: few of 20 surveys are contradicted, most are as plain samples."""
    rng, misses = np.random.default_rng(0), np.zeros(2)
    design = SurveyDesign(clusters="place")
    for seed in range(20):
        counts = clustered(rng, 40, 50, 0.4)
        place, cell = np.repeat(np.indices(counts.shape).reshape(2, -1), counts.ravel(), axis=1)
        sample = pd.DataFrame({"ill": cell // 2, "visits": cell % 2, "place": place})
        values = {"ill": [0, 1], "visits": [0, 1]}
        sanitizer = SRRSanitizer(4.0, sensitive="ill", survey=design, categories=values)
        sanitizer = sanitizer.set_params(random_state=seed).fit(sample)
        sent = rng.multinomial(200_000, sanitizer.mechanism_.matrix @ SHARE)
        naive = JointDistribution(sanitizer.joint_.counts, *names(sanitizer))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of drift
            found = [
                FrequencyEstimator(sanitizer, public=public, encode="symbol").fit(
                    range(4), None, sent
                )
                for public in (None, naive)
            ]
        misses += np.array([one.drift_test().p_value for one in found]) < 0.05
    assert misses[0] <= 3
    assert misses[1] >= misses[0] + 8


def names(sanitizer):
    return sanitizer.joint_.secrets, sanitizer.joint_.values
