"""The functions of a pair of secrets, their derivatives, and the blocks of Newton's system."""

from dataclasses import replace

import numpy as np
import pytest
from path_tables import REGIONS, THETAS, has_path, plain_mean, region_of
from scipy.optimize import minimize

from skrldp import JointDistribution
from skrldp.design.newton_system import Point, inverses
from skrldp.design.pair_blocks import PairBlock, concave_mean, pair_function
from skrldp.privacy.private_rows import LowerRegion, privacy_region
from skrldp.privacy.requirements import Requirement
from skrldp.sets.fitted_sets import RenyiSet


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


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("least", [1e-3, 1e-9, 1e-14])
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
@pytest.mark.parametrize("table", ["3x3", "unseen"])
@pytest.mark.parametrize(("kind", "alpha"), REGIONS)
def test_a_pair_is_private_iff_some_lambda_says_so(kind, alpha, table):
    eps = 0.6
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


def test_regions_without_a_path():
    for kind, alpha in (("joint", 0.5), ("joint", 0.52), ("joint", 0.55)):
        assert pair_function(Requirement(region_of("3x3", kind, alpha), 1.0)) is None
    assert pair_function(Requirement(region_of("unseen", "point"), 1.0)) is None


@pytest.mark.parametrize("alpha", [0.6, 0.8, 0.95])
def test_a_budget_that_frees_conditionals(alpha):
    """Below alpha = 1 a large ball leaves nothing of φ, for a pair or for one secret alone."""
    joint = JointDistribution([[1, 3], [40, 56]])
    theta = (alpha - 1.0) / alpha
    for share, kind, left in (
        (1.01, "joint", [1.0, 1.0]),  # of everything
        (0.5, "joint", [1.0, 1.0]),
        (0.05, "product", [0.0, 1.0]),  # of more than the first secret has
    ):
        radius = np.log1p(-min(share, 0.999999)) / theta if share < 1 else np.inf
        region = privacy_region(joint, RenyiSet(alpha, radius), region=kind)
        if region.uncertainty.is_everything:
            region = LowerRegion.around(region)
        pairs = pair_function(Requirement(region, 0.5))
        rows = np.random.default_rng(2).random((1, 2, 2))
        found = least_gap(pairs, pairs.parts(rows)[0])
        expected = np.exp(-0.5) * region.worst(rows, 0.5).bound
        np.testing.assert_allclose(found, expected, atol=2e-6)
        if kind == "product":
            np.testing.assert_array_equal(pairs.scale[0] > 0, left)


@pytest.mark.parametrize("same_secret", [False, True])
@pytest.mark.parametrize("table", ["3x3", "zero cells", "unseen"])
@pytest.mark.parametrize(("kind", "alpha"), REGIONS)
def test_derivatives_of_phi(kind, alpha, table, same_secret):
    """Slopes by differences of values, second derivatives by differences of slopes."""
    pairs = pair_function(Requirement(region_of(table, kind, alpha, same_secret=same_secret), 0.5))
    if pairs is None:
        return
    rng = np.random.default_rng(4)
    x = rng.random((2, len(pairs.first), 2, 3)) + 0.1
    direction = rng.normal(size=x.shape)
    step = 1e-5

    def first(x):
        _, slope, _, gradient = pairs(x)
        return slope[..., None] * gradient

    values = [pairs(x + s * direction)[0] for s in (step, -step)]
    rise = (first(x) * direction).sum(axis=(2, 3))
    np.testing.assert_allclose((values[0] - values[1]) / (2 * step), rise, atol=1e-8)

    value, slope, curvature, gradient = pairs(x)
    assert np.all(slope >= 0.0) and np.all(value <= (x.max(axis=3)).sum(axis=2) + 1e-12)
    along = np.einsum("bmiu,bmiu->bmi", gradient, direction)
    second = np.einsum("bmij,bmj->bmi", curvature, along)[..., None] * gradient
    second += (slope * (1.0 - pairs.theta))[..., None] * gradient / x * direction
    slopes = [first(x + s * direction) for s in (step, -step)]
    np.testing.assert_allclose((slopes[0] - slopes[1]) / (2 * step), -second, atol=1e-6)
    assert np.all((second * direction).sum(axis=(2, 3)) >= -1e-12)  # φ is concave


class LagrangianPoint:
    """Positive variables, multipliers, and the gradient of the Lagrangian, written out."""

    def __init__(self, kind, alpha, table="3x3", same_secret=False, b=2):
        rng = np.random.default_rng(5)
        one = Requirement(region_of(table, kind, alpha, same_secret=same_secret), 0.5)
        self.pairs = pairs = pair_function(one)
        self.b, self.shape = b, (b, *one.region.conditionals.shape)
        self.rows = rng.random(self.shape) + 0.1
        parts = pairs.parts(self.rows)
        count = parts.shape[:2]
        self.lam = np.zeros(parts.shape[:3])
        if not pairs.fixed:
            self.lam = parts.max(axis=-1) + rng.random(parts.shape[:3]) + 0.05
        self.dual_x = np.zeros_like(parts) if pairs.fixed else rng.random(parts.shape) + 0.1
        self.slack, self.dual = rng.random(count) + 0.1, rng.random(count) + 0.1
        self.row_diagonal = rng.random(self.shape) + 0.1
        x = self.lam[..., None] - parts
        amounts, multipliers = (self.slack, x), (self.dual, self.dual_x)
        n_kinds = 1 if pairs.fixed else 2
        point = Point(self.rows, (self.lam, self.slack), amounts[:n_kinds], multipliers[:n_kinds])
        self.barrier = 0.3
        self.linearised = PairBlock(one, pairs).linearise(point, np.full(b, self.barrier))
        self.hessian = self.with_diagonal(self.row_diagonal)
        self.inverse = inverses(self.hessian)
        self.start = pairs(x)[0] - self.lam.sum(axis=-1), x

    def with_diagonal(self, row_diagonal):
        """The Hessian of each row, with what the rows' own multipliers add to it."""
        return self.linearised.hessian() + np.array(
            [np.diag(one) for one in row_diagonal.reshape(self.b, -1)]
        )

    def gradient(self, rows, lam):
        """By the rows and the λ; multipliers follow their variables to first order."""
        pairs, (base, x0) = self.pairs, self.start
        x = lam[..., None] - pairs.parts(rows)
        value, slope, _, gradient = pairs(x)
        dual = self.dual - self.dual / self.slack * (value - lam.sum(axis=-1) - base)
        by_x = -dual[..., None, None] * slope[..., None] * gradient
        if not pairs.fixed:
            by_x += self.dual_x / x0 * (x - x0)
        by_rows = -pairs.collect(by_x).reshape(self.shape)
        by_rows += self.row_diagonal * (rows - self.rows)
        return by_rows, by_x.sum(axis=-1) + dual[..., None]

    def dense(self, y):
        """Hessian of row y by (its cells, its λ) in finite differences of the gradient."""
        cells = self.rows[y].size
        free = 0 if self.pairs.fixed else self.lam[y].size
        hessian = np.empty((cells + free, cells + free))
        for i in range(cells + free):
            ends = []
            for step in (1e-5, -1e-5):
                rows, lam = self.rows.copy(), self.lam.copy()
                target, place = (rows, i) if i < cells else (lam, i - cells)
                target[y].reshape(-1)[place] += step
                by_rows, by_lam = self.gradient(rows, lam)
                ends.append(np.append(by_rows[y], by_lam[y].ravel()[:free]))
            hessian[:, i] = (ends[0] - ends[1]) / 2e-5
        return hessian


POINTS = [
    *(("joint", 2.0), ("joint", 0.6), ("joint", 1.0), ("joint", 4.0), ("product", 0.3)),
    *(("product", 2.0), ("lower", 2.0), ("zero", 1.0), ("point", 1.0)),
]


@pytest.mark.parametrize(
    ("table", "same_secret"), [("3x3", False), ("zero cells", True), ("unseen", False)]
)
@pytest.mark.parametrize(("kind", "alpha"), POINTS)
def test_a_block_is_the_schur_complement(kind, alpha, table, same_secret):
    if not has_path(table, kind):
        return
    point = LagrangianPoint(kind, alpha, table, same_secret)
    linearised, pairs, rng = point.linearised, point.pairs, np.random.default_rng(6)
    a1, k = point.shape[1:]
    barrier, (base, x0) = point.barrier, point.start
    residual = base - point.slack
    reduced_gradient = linearised.gradient
    step = rng.normal(size=point.shape)
    (lam, slack), changes = linearised.steps(step)
    x = lam[..., None] - pairs.parts(step)
    expected = (slack,) if pairs.fixed else (slack, x)
    for change, expected_change in zip(changes, expected, strict=True):
        np.testing.assert_allclose(change, expected_change, atol=1e-12)

    _value, slope, _, gradient = pairs(x0)
    weight = (barrier - point.dual * residual) / point.slack
    by_part = -weight[..., None, None] * slope[..., None] * gradient
    if not pairs.fixed:
        by_part -= barrier / x0
    by_rows, by_lam = -pairs.collect(by_part), by_part.sum(axis=-1) + weight[..., None]
    change = (slope[..., None] * gradient * x).sum(axis=(2, 3)) - lam.sum(axis=-1)
    np.testing.assert_allclose(slack, change + residual, atol=1e-10)
    for y in range(point.b):
        whole, cells = point.dense(y), a1 * k
        corner, side = whole[:cells, :cells], whole[:cells, cells:]
        if pairs.fixed:
            reduced, expected_gradient = corner, by_rows[y]
            expected_lam = np.zeros(0)
        else:
            inverse = np.linalg.inv(whole[cells:, cells:])
            reduced = corner - side @ inverse @ side.T
            expected_gradient = by_rows[y] - side @ inverse @ by_lam[y].ravel()
            expected_lam = -inverse @ (by_lam[y].ravel() + side.T @ step[y].ravel())
        scale = np.abs(reduced).max()
        np.testing.assert_allclose(point.hessian[y], reduced, atol=2e-7 * scale)
        np.testing.assert_allclose(point.inverse[y] @ reduced, np.eye(cells), atol=1e-5)
        scale = max(1.0, np.abs(expected_gradient).max())
        np.testing.assert_allclose(reduced_gradient[y], expected_gradient, atol=1e-6 * scale)
        np.testing.assert_allclose(lam[y].ravel()[: len(expected_lam)], expected_lam, atol=1e-6)


def test_an_indefinite_hessian_is_reported():
    point = LagrangianPoint("joint", 2.0)
    plain = np.einsum("yii->yi", point.hessian).reshape(point.shape) - point.row_diagonal
    assert np.all(np.isfinite(inverses(point.with_diagonal(1e-9 * point.row_diagonal))))
    # a small diagonal beside the rest, and what rounding leaves at the end of a path
    broken = [np.full((1, 3, 3), value) for value in (np.nan, np.inf, -1.0, 0.0)]
    for matrix in (point.with_diagonal(1e-3 - plain), *broken):
        with pytest.raises(np.linalg.LinAlgError):
            inverses(matrix)
