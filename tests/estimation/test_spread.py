"""Standard errors that are stated are the spread of the estimates, to within a tenth.

Reports are drawn REPEAT times and fitted. Seeds are fixed. A spread of 250 values has a relative
error of 4.5 %; four of them are allowed beyond the tenth, which one of the some 90 figures here
would exceed with new seeds in 1 % of all runs.
"""

import numpy as np
import pytest

from skrldp import (
    AOptimalSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    LikelihoodRatioSet,
    Mechanism,
    PolyOptSanitizer,
    SRRSanitizer,
    expected_std_error,
)

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")

REPEAT = 250
TENTH = 0.1 + 4.0 / np.sqrt(2 * REPEAT)
TRUTH = np.array([[0.30, 0.22, 0.004], [0.16, 0.30, 0.016]])
X = [[s, u] for s in (0, 1) for u in (0, 1, 2)]
SANITIZERS = {
    "GRR": GRRSanitizer(1.0, sensitive=0),
    "SRR": SRRSanitizer(1.0, sensitive=0),
    "PolyOpt": PolyOptSanitizer(1.0, uncertainty=LikelihoodRatioSet(region="lower"), sensitive=0),
    "A-optimal": AOptimalSanitizer(
        1.0, targets="all", uncertainty=LikelihoodRatioSet(region="lower"), sensitive=0
    ),
}
PARTS = ("all", "nonsensitive", "sensitive")


def with_rare_symbols():
    """As designs that have not converged: two of six symbols are all but never sent.

    Without them the others would not determine the distribution.
    """
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.full(4, 0.4), 6).T
    rare = np.array([[1e-6], [2e-8]]) * rng.dirichlet(np.ones(6), 2)
    return Mechanism.from_matrix(
        np.vstack([matrix * (1.0 - rare.sum(axis=0)), rare]), (0, 1), range(3)
    )


def mechanism_of(name):
    if name == "rare symbols":
        return with_rare_symbols()
    counts = np.round(2_000 * TRUTH).astype(int).ravel()
    return SANITIZERS[name].fit(X, sample_weight=counts).mechanism_


# GRR and SRR are one kind of channel, PolyOpt and A-optimal are another: each is fitted in one way.
@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("GRR", "least-squares"),
        ("SRR", "ml"),
        ("PolyOpt", "ml"),
        ("A-optimal", "least-squares"),
        ("rare symbols", "least-squares"),
        ("rare symbols", "ml"),
    ],
)
def test_errors_are_the_spread(name, method):
    mechanism, n = mechanism_of(name), 3_000
    estimator = FrequencyEstimator(mechanism, method, encode="symbol")
    symbols, found = np.arange(mechanism.shape[0]), []
    report = mechanism.matrix @ TRUTH.ravel()
    for counts in np.random.default_rng(0).multinomial(n, report, size=REPEAT):
        estimator.fit(symbols, sample_weight=counts)
        parts = [estimator.marginal(part=part) for part in PARTS]
        found.append(
            [
                np.concatenate([getattr(p, what) for p in parts])
                for what in ("frequencies", "std_error")
            ]
        )
    values, errors = np.swapaxes(found, 0, 1)
    spread, share = values.std(axis=0), np.isfinite(errors).mean(axis=0)
    asked = {"distribution": TRUTH, "method": method}
    expected = np.concatenate([expected_std_error(mechanism, n, part=p, **asked) for p in PARTS])
    known = np.isfinite(expected)
    np.testing.assert_allclose(spread[known], expected[known], rtol=TENTH)
    often = share > 0.3
    stated = np.sqrt(np.nanmean(errors[:, often] ** 2, axis=0))
    np.testing.assert_allclose(stated, spread[often], rtol=TENTH)
    # What is expected is what is stated, but for samples at the edge of having an error.
    always = share > 0.95
    assert known[always].all() and np.all(share[~known] < 0.8)
    stated = np.sqrt(np.nanmean(errors[:, always] ** 2, axis=0))
    np.testing.assert_allclose(stated, expected[always], rtol=0.1)
    if name == "rare symbols":
        assert not known.all()
    elif method == "least-squares":
        assert known.all()
    if method == "ml":
        half = np.diff(parts[1].confidence_interval())[:, 0] / 2.0 / 1.96
        own = np.isfinite(parts[1].std_error)
        assert own.any() == (name != "rare symbols")
        np.testing.assert_allclose(half[own], parts[1].std_error[own], rtol=0.25)
