"""A masked entry has no value: what lies under the mask is read nowhere."""

import numpy as np
import pytest

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    JointDistribution,
    Mechanism,
    RobustMSESanitizer,
    audit,
    client,
)

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")

X = np.array([[s, u] for s in range(2) for u in range(3)] * 20)
SANITIZER = GRRSanitizer(eps=1.0, encode="symbol", random_state=0, sensitive=0).fit(X)
Y = SANITIZER.transform(X).ravel()
DEVICE = client.load(SANITIZER.mechanism_.to_json())


def masked(values):
    """An array with its first entry masked."""
    values = np.asarray(values)
    return np.ma.masked_array(values, np.arange(values.size).reshape(values.shape) == 0)


ONES = masked(np.ones(len(X)))
READERS = {
    "fit": lambda: GRRSanitizer(sensitive=0).fit(masked(X)),
    "fit, rows": lambda: GRRSanitizer(sensitive=0).fit(list(masked(X))),
    "fit, weights": lambda: GRRSanitizer(sensitive=0).fit(X, sample_weight=ONES),
    "transform": lambda: SANITIZER.transform(masked(X)),
    "score": lambda: SANITIZER.score(masked(X)),
    "score, weights": lambda: SANITIZER.score(X, sample_weight=ONES),
    "decode": lambda: SANITIZER.decode(masked(Y)),
    "distance": lambda: RobustMSESanitizer(distance=masked(1.0 - np.eye(3)), sensitive=0).fit(X),
    "sample": lambda: SANITIZER.mechanism_.sample(masked(Y)),
    "matrix": lambda: Mechanism.from_matrix(masked(np.eye(2)), (0, 1), (0,)),
    "counts": lambda: JointDistribution(masked([[1, 2], [3, 4]])),
    "estimator": lambda: FrequencyEstimator(SANITIZER).fit(masked(Y)),
    "estimator, rows": lambda: FrequencyEstimator(SANITIZER).fit(masked(Y[:, None])),
    "estimator, weights": lambda: FrequencyEstimator(SANITIZER).fit(Y, sample_weight=ONES),
    "client": lambda: DEVICE.report(masked(X[0])),
    "client, array": lambda: DEVICE.report_many(masked(X)),
    "client, rows": lambda: DEVICE.report_many(list(masked(X))),
    "client, columns": lambda: DEVICE.report_many({0: masked(X[:, 0]), 1: X[:, 1]}),
    "audit": lambda: audit(masked, n=1000, distribution=SANITIZER.joint_, eps=1.0),
}


@pytest.mark.parametrize("reader", READERS)
def test_masked_entries_are_refused(reader):
    with pytest.raises((TypeError, ValueError), match=r"(?i)mask"):
        READERS[reader]()


def test_a_mask_that_hides_nothing_is_no_mask_of_numbers():
    weights = np.ma.masked_array(np.ones(len(X)))
    assert GRRSanitizer(sensitive=0).fit(X, sample_weight=weights).joint_.n == len(X)
    fitted = FrequencyEstimator(SANITIZER).fit(np.ma.masked_array(Y), sample_weight=weights)
    np.testing.assert_array_equal(fitted.counts_, np.bincount(Y, minlength=6))
