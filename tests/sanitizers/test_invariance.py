"""RobustMSE that keeps margins, as PRAM's invariance does, and a linear program of its own."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from skrldp import AllDistributions, PrivacyLeakWarning, RobustMSESanitizer
from skrldp.design.programs import KeptMargins

COUNTS = np.array([[30, 200, 100, 40], [150, 250, 500, 10]])
ROWS = np.argwhere(COUNTS >= 0)
WIDE = pd.DataFrame(
    [(s, a, b) for s in ("no", "yes") for a in ("x", "y") for b in (1, 2, 4)],
    columns=["ill", "home", "size"],
)
OF_WIDE = [60, 10, 40, 80, 30, 90, 20, 70, 50, 15, 45, 100]

pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")


def reported(sanitizer):
    """Shares of the values of U among reports, at the public distribution."""
    shares = sanitizer.mechanism_.matrix @ sanitizer.joint_.probabilities.ravel()
    found = dict(zip(sanitizer.mechanism_.symbols, shares, strict=True))
    return np.array([found.get(value, 0.0) for value in sanitizer.joint_.values])


def optimum(eps, everywhere):
    """Least Hamming distance, by all constraints at once: of each two cells, or at one point."""
    joint = COUNTS / COUNTS.sum()
    (a1, a2), a = joint.shape, joint.size
    cost = np.array([[float(x % a2 != y) for x in range(a)] for y in range(a2)]) * joint.ravel()
    conditionals = joint / joint.sum(axis=1, keepdims=True)
    compared = []
    for s in range(a1):
        for t in {0, 1} - {s}:
            for x in range(a2) if everywhere else [None]:
                for z in range(a2) if everywhere else [None]:
                    row = np.zeros(joint.shape)
                    row[s] = conditionals[s] if x is None else np.eye(a2)[x]
                    row[t] = -np.exp(eps) * (conditionals[t] if z is None else np.eye(a2)[z])
                    compared.append(row.ravel())
    private = np.concatenate([np.kron(np.eye(a2)[[y]], compared) for y in range(a2)])
    equal = np.concatenate(
        [np.kron(np.ones((1, a2)), np.eye(a)), np.kron(np.eye(a2), joint.reshape(1, a))]
    )
    sides = np.concatenate([np.ones(a), joint.sum(axis=0)])
    found = linprog(cost.ravel(), private, np.zeros(len(private)), equal, sides)
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize(("eps", "everywhere"), [(0.5, True), (0.3, False), (1.5, True)])
def test_the_optimum_of_a_linear_program(eps, everywhere):
    sanitizer = RobustMSESanitizer(
        eps,
        uncertainty=AllDistributions(),
        robust_privacy=everywhere,
        robust_utility=False,
        distance="hamming",
        invariant=True,
    )
    if everywhere:
        sanitizer.fit(ROWS, sample_weight=COUNTS.ravel())
    else:
        with pytest.warns(PrivacyLeakWarning, match="robust_privacy=False"):
            sanitizer.fit(ROWS, sample_weight=COUNTS.ravel())
    assert sanitizer.distortion_ == pytest.approx(optimum(eps, everywhere), rel=2e-4)
    assert sanitizer.solution_.bound <= optimum(eps, everywhere) * (1.0 + 1e-7)
    assert sanitizer.certificate_.holds(eps)


@pytest.mark.parametrize("observe", ["all", "nonsensitive"])
@pytest.mark.parametrize("robust", [True, False])
def test_margins_are_kept_up_to_rounding(observe, robust):
    options = {"observe": observe, "robust_utility": robust}
    free = RobustMSESanitizer(0.3, **options).fit(ROWS, sample_weight=COUNTS.ravel())
    kept = RobustMSESanitizer(0.3, invariant=True, **options)
    kept.fit(ROWS, sample_weight=COUNTS.ravel())
    public = kept.joint_.probabilities.sum(axis=0)
    off = np.abs(reported(kept) - public).max()
    assert kept.margin_deviation_ == pytest.approx(off, abs=1e-15)
    assert off < 1e-8 and np.abs(reported(free) - public).max() > 0.01
    assert free.margin_deviation_ is None
    assert kept.certificate_.holds(0.3) and kept.solution_.status == "optimal"
    name = "worst_case_distortion_" if robust else "distortion_"
    assert getattr(kept, name) > getattr(free, name)
    assert kept.solution_.bound <= getattr(kept, name) <= kept.solution_.bound * (1.0 + 2e-4)


def test_margins_of_columns():
    """Fewer margins cost less: none, one, two, and the distribution of both columns together."""
    distances = []
    for invariant in (False, ["size"], ["size", "home"], True):
        own = RobustMSESanitizer(
            1.0,
            sensitive="ill",
            uncertainty=AllDistributions(),
            robust_utility=False,
            invariant=invariant,
        ).fit(WIDE, sample_weight=OF_WIDE)
        distances.append(own.distortion_)
        off = reported(own) - own.joint_.probabilities.sum(axis=0)
        by_size, by_home = np.abs(off.reshape(2, 3).sum(0)), np.abs(off.reshape(2, 3).sum(1))
        assert (by_size.max() < 1e-8) == (invariant is not False)
        if invariant in (["size", "home"], True):
            assert by_home.max() < 1e-8
        if invariant is True:
            assert np.abs(off).max() < 1e-8
    assert np.all(np.diff(distances) > -1e-4 * distances[0])
    assert distances[-1] > distances[0]


def test_a_value_without_public_records_is_never_reported():
    counts = COUNTS.copy()
    counts[:, 2] = 0
    own = RobustMSESanitizer(0.5, invariant=True, categories=[[0, 1], [0, 1, 2, 3]])
    own.fit(ROWS[counts.ravel() > 0], sample_weight=counts[counts > 0])
    assert set(own.mechanism_.symbols) <= {0, 1, 3} and own.margin_deviation_ < 1e-8


def test_reports_drawn_again_are_private_and_keep_all_margins():
    rng = np.random.default_rng(0)
    matrix, people = rng.dirichlet(np.ones(3), size=6).T, rng.dirichlet(np.ones(6))
    values = np.tile(np.eye(3), (1, 2))
    kept = KeptMargins(np.eye(3), people, values @ people, values)
    again = kept.drawn_again(matrix)
    assert kept.deviation(matrix) > 1e-3 and kept.deviation(again) < 1e-15
    np.testing.assert_allclose(again.sum(axis=0), 1.0)
    assert np.linalg.matrix_rank(np.concatenate([matrix, again])) == 3  # made of the same reports


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"invariant": ["ill"]}, "column 'ill' is sensitive"),
        ({"invariant": "typo"}, "there is no column 'typo'"),
        ({"invariant": []}, "must be True for the distribution of U, False, or a list of columns"),
        ({"invariant": True, "outputs": [("x", 1)]}, "invariant= and outputs= exclude each other"),
    ],
)
def test_what_cannot_be_kept_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RobustMSESanitizer(sensitive="ill", **options).fit(WIDE, sample_weight=OF_WIDE)
