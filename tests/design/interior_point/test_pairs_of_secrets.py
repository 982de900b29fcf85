"""The functions of a pair of secrets: which rows they call private, and their derivatives."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import pairwise
from path_tables import REGIONS, THETAS, has_path, plain_mean, region_of
from scipy.optimize import minimize

from skrldp.design.newton_system import inverses
from skrldp.design.pair_blocks import concave_mean, pair_function
from skrldp.privacy.requirements import Requirement


@pytest.mark.parametrize("theta", THETAS)
def test_concave_mean(theta):
    rng = np.random.default_rng(0)
    x, p = rng.random((4, 3, 5)) + 0.05, rng.dirichlet(np.ones(5), size=3)
    p[1, 2:4] = 0.0
    p /= p.sum(axis=1, keepdims=True)
    mean, gradient = concave_mean(x, p, theta)
    assert mean.shape == (4, 3) and gradient.shape == (4, 3, 5)
    close = 1e-7 if 0 < abs(theta) < 1e-6 else 1e-12  # what the plain form loses there
    for i, j in np.ndindex(4, 3):
        assert mean[i, j] == pytest.approx(plain_mean(x[i, j], p[j], theta), rel=close)
        for u in range(5):
            step = 1e-6 * np.eye(5)[u]
            up, down = (concave_mean(x[i, j] + s, p[j], theta)[0] for s in (step, -step))
            assert gradient[i, j, u] == pytest.approx((up - down) / 2e-6, abs=1e-7, rel=1e-6)
    # homogeneous of degree one, so that gradient . x is the mean
    np.testing.assert_allclose(np.einsum("iju,iju->ij", gradient, x), mean, rtol=1e-12)
    np.testing.assert_allclose(concave_mean(1e6 * x, p, theta)[0], 1e6 * mean, rtol=1e-12)


@pytest.mark.parametrize(("theta", "least"), pairwise(THETAS, [1e-3, 1e-9, 1e-14]))
def test_concave_mean_of_numbers_far_apart(theta, least):
    """One point alone too: the mean of a robust cost is of a single array."""
    x, p = np.array([least, 0.5, 3.0, 1e-20]), np.array([0.3, 0.45, 0.25, 0.0])
    close = 1e-6 if 0 < abs(theta) < 1e-6 else 1e-10
    for shaped in (x, x[None], x[None, None]):
        mean, gradient = concave_mean(shaped, p, theta)
        assert np.shape(mean) == shaped.shape[:-1]
        assert gradient.shape == shaped.shape
        expected = plain_mean(x, p, theta)
        np.testing.assert_allclose(mean, expected, rtol=close)
        assert np.all(gradient >= 0.0)
        np.testing.assert_allclose((gradient * shaped).sum(), expected, rtol=close)


def least_gap(pairs, q):
    """The least of Σλ - φ(λ - q) over λ >= max q, for each pair alone: (m,) from (m, 2, k)."""
    found, precise = [], {"ftol": 1e-16, "gtol": 1e-13}
    for i, part in enumerate(q):
        names = ["first", "second", "p", "scale", "shared", "weight", "radius", "factor"]
        names += [] if pairs.own is None else ["own"]
        one = replace(pairs, **{name: getattr(pairs, name)[[i]] for name in names})

        def gap(log_slack, part=part, one=one):
            slack = np.exp(log_slack)
            lam = part.max(axis=1) + slack
            x = slack[:, None] + (part.max(axis=1, keepdims=True) - part)
            value, slope, _, gradient = one(x[None, None])
            rise = 1.0 - slope[0, 0] * gradient[0, 0].sum(axis=-1)
            return lam.sum() - value[0, 0], rise * slack

        best = np.inf
        for start in ([-1.0, -1.0], [-6.0, -3.0], [-3.0, -6.0]):
            limits = [(-32.0, 12.0)] * 2
            tried = minimize(gap, start, jac=True, bounds=limits, options=precise)
            best = min(best, tried.fun)
        found.append(best)
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("region", "table"),
    [(region, ("3x3", "unseen")[place % 2]) for place, region in enumerate(REGIONS)],
)
def test_a_pair_is_private_iff_some_lambda_says_so(region, table):
    (kind, alpha), eps = region, 0.6
    region = region_of(table, kind, alpha, same_secret=table == "3x3" and alpha == 2.0)
    pairs = pair_function(Requirement(region, eps))
    if not has_path(table, kind):
        assert pairs is None
        return
    rng = np.random.default_rng(1)
    rows = rng.random((1, *region.conditionals.shape))
    if table == "3x3":
        rows = 0.3 + 0.2 * (rows > 0.5)  # nearly private, and with ties
    q = pairs.parts(rows)
    for row, part in zip(rows, q, strict=True):
        worst = region.worst(row[None], eps)
        np.testing.assert_array_equal(worst.first, pairs.first)
        np.testing.assert_array_equal(worst.second, pairs.second)
        expected = np.exp(-eps) * worst.bound
        found = -pairs(-part[None])[0][0] if pairs.fixed else least_gap(pairs, part)
        np.testing.assert_allclose(found, expected, atol=2e-6)
        assert np.all(found >= expected - 2e-8)  # a bound at every λ


def test_what_has_no_inverse_is_an_error():
    """So is what rounding leaves at the end of a path."""
    for value in (np.nan, np.inf, -1.0, 0.0):
        with pytest.raises(np.linalg.LinAlgError):
            inverses(np.full((1, 3, 3), value))
