"""Reports that no distribution of records makes are told; those that one makes are not."""

import warnings

import numpy as np
import pytest
from scipy.stats import multinomial

from skrldp import FrequencyEstimator, GRRSanitizer, Mechanism, SRRSanitizer
from skrldp.estimation.channels import Channel
from skrldp.estimation.hypotheses import contradicts

X = np.array([["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]], dtype=object)
COUNTS = [50, 100, 250, 600]


@pytest.mark.parametrize("cls", [GRRSanitizer, SRRSanitizer])
def test_raw_records_are_told(cls):
    sanitizer = cls(eps=1.0, sensitive=0, random_state=0).fit(X, sample_weight=COUNTS)
    estimator = FrequencyEstimator(sanitizer.mechanism_, encode="cells")
    with pytest.warns(
        UserWarning, match="no distribution of records explains.*raw records"
    ) as said:
        estimator.fit(X, sample_weight=COUNTS)
    assert said[0].filename == __file__
    records = np.repeat(X, COUNTS, axis=0)
    estimator.fit(sanitizer.transform(records))  # no warning, which would be an error here


@pytest.mark.parametrize("level", [0.2, 0.02])
@pytest.mark.parametrize("n", [1, 5, 12])
def test_false_alarms_are_rare_at_every_number_of_reports(n, level):
    """Exactly, over all counts, where symbols are rare, and at a distribution at the boundary."""
    matrix = np.array([[0.9, 0.5], [0.0995, 0.499], [0.0005, 0.001]])
    channel, report = Channel(matrix, np.array([0.01, 0.99])), matrix @ [1.0, 0.0]
    alarms = 0.0
    for first, second in np.ndindex(n + 1, n + 1):
        counts = np.array([first, second, n - first - second], dtype=float)
        if counts[2] >= 0.0 and contradicts(channel, counts, level):
            alarms += multinomial.pmf(counts, n, report)
    assert 0.0 < alarms <= level


def test_thousands_of_rare_symbols_are_no_contradiction():
    """A chi-squared approximation would see one in each of these samples."""
    rng = np.random.default_rng(0)
    matrix = np.vstack([0.9 * np.array([[0.8, 0.3], [0.2, 0.7]]), np.full((3_000, 2), 0.1 / 3_000)])
    mechanism = Mechanism.from_matrix(matrix, (0, 1), (0,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (100, 1_000, 10_000):
            counts = rng.multinomial(n, mechanism.matrix @ [0.4, 0.6])
            estimator = FrequencyEstimator(mechanism, encode="symbol")
            estimator.fit(np.arange(3_002), sample_weight=counts)
