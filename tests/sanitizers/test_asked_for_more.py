"""eps_worst_case and observer_columns are proven, and paid for, by every solver that takes them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations

from skrldp import (
    PolyOptSanitizer,
    RenyiBall,
    RobustMSESanitizer,
)

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")

ROWS = [(s, u) for s in ("no", "yes") for u in (0, 1, 2)]
COUNTS = [2700, 1050, 250, 300, 450, 250]


def fitted(kind, eps=1.0, **options):
    options = {"sensitive": 0, **options}
    return kind(eps, **options).fit(ROWS, sample_weight=COUNTS)


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
