"""PolyOptSanitizer(max_error=): as much information as leaves shares that can be estimated."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from skrldp import AOptimalSanitizer, PolyOptSanitizer, RenyiBall, expected_std_error
from skrldp.sanitizers import _optimal_base

COUNTS = np.array([[46, 211, 88, 30], [143, 52, 30, 201]])
X = np.array([[s, u] for s in range(2) for u in range(4)])
KNOWN = [[0, 1], [0, 1, 2, 3]]


def fit(cls=PolyOptSanitizer, **parameters):
    return cls(eps=1.0, categories=KNOWN, **parameters).fit(X, sample_weight=COUNTS.ravel())


def errors(sanitizer):
    """Expected errors of the shares of U, of the mechanism as it is sampled."""
    return expected_std_error(sanitizer, 10_000, 1, asymptotic=True)


@pytest.fixture
def solved_once(monkeypatch):
    """A design is a function of its input: the two that are mixed are also fitted by themselves."""
    solve, known = _optimal_base.solve, {}

    def once(*given, **options):
        key = pickle.dumps((given, options))
        if key not in known:
            known[key] = solve(*given, **options)
        return known[key]

    monkeypatch.setattr(_optimal_base, "solve", once)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"objective": "I(U;Y)", "uncertainty": RenyiBall()},
        {"objective": "least_informed", "eps_all": 3.0},
        {"observe": "nonsensitive"},
    ],
)
def test_shares_have_at_most_the_errors_that_are_asked_for(more, solved_once):
    best, shared = fit(**more), {k: v for k, v in more.items() if k != "objective"}
    least = errors(fit(AOptimalSanitizer, **shared))
    mixed = fit(max_error=1.5, **more)
    assert (errors(mixed) <= 1.5 * least * (1 + 1e-3)).all()
    assert mixed.certificate_.holds(1.0)
    lost = 1.0 - mixed.solution_.objective / best.solution_.objective
    assert -1e-6 <= lost <= 1.5**-2  # no more reports are lost than are always enough
    assert mixed.solution_.bound == best.solution_.bound


def test_what_can_be_estimated_anyway_stays_as_it_is():
    """A mechanism that sees U alone tells its shares with errors that are not far from least."""
    blind = {"observe": "nonsensitive"}
    best, precise = fit(**blind), errors(fit(AOptimalSanitizer, **blind))
    ratio = (errors(best) / precise).max()
    assert np.isfinite(ratio)
    assert fit(max_error=1.01 * ratio, **blind).mechanism_.digest == best.mechanism_.digest


@settings(max_examples=5)
@given(st.integers(0, 2**32 - 1))
def test_the_share_of_reports_that_is_always_enough(seed):
    """Of any two mechanisms: variances of a mixture are at most those of its part, by its share."""
    from skrldp.design import Solution
    from skrldp.design.criteria import Information, Variance
    from skrldp.sanitizers._mixed_designs import mixed

    rng = np.random.default_rng(seed)
    distribution = rng.dirichlet(np.ones(6))
    one, two = (rng.dirichlet(np.full(b, 0.5), size=6).T for b in (4, 9))
    shares = Variance(distribution, np.tile(np.eye(3), 2))
    information = Information(distribution)
    first = Solution("converged", "columns", information.value(one), 9.0, matrix=one)
    found = mixed(
        first, Solution("converged", "columns", 0.0, 9.0, matrix=two), information, shares, 2
    )
    assert (shares.variances(found.matrix) <= 4.0 * shares.variances(two) * (1 + 1e-9)).all()
    np.testing.assert_allclose(found.matrix.sum(axis=0), 1.0)
    assert found.objective >= 0.75 * first.objective - 1e-12


@pytest.mark.parametrize("wrong", [1, 1.0, 0.5, -2, float("nan"), float("inf"), "2", True])
def test_bad_input(wrong):
    with pytest.raises(ValueError, match=r"max_error=.* must be a number above 1"):
        fit(max_error=wrong)


def test_empty_cells_need_smoothing():
    counts = COUNTS.copy()
    counts[0, 0] = 0
    sanitizer = PolyOptSanitizer(categories=KNOWN, smoothing=0, max_error=2.0)
    with pytest.raises(ValueError, match="positive smoothing"):
        sanitizer.fit(X, sample_weight=counts.ravel())


def test_both_designs_share_one_limit_of_time_and_are_counted(monkeypatch):
    limits, found, solve = [], [], _optimal_base.solve

    def watched(*args, **options):
        limits.append(options["time_limit"])
        found.append(solve(*args, **options))
        return found[-1]

    monkeypatch.setattr(_optimal_base, "solve", watched)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sanitizer = fit(max_error=1.5, time_limit=8.0)
    assert len(limits) == 2
    assert sum(limits) <= 8.0
    assert sanitizer.n_iter_ == sum(one.iterations for one in found)
    assert sanitizer.solution_.seconds == sum(one.seconds for one in found)
