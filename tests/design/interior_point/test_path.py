"""The central path: its functions by finite differences, its distributions and optima by other
routes."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from conftest import optimum
from scipy.optimize import linprog, minimize

from skrldp import JointDistribution, RenyiBall
from skrldp.design._expected_cost import ExpectedCost
from skrldp.design.interior_point import CentralPath, pair_function
from skrldp.design.interior_point._newton_system import Coupling, row_system
from skrldp.design.interior_point._pair_functions import concave_mean
from skrldp.row_privacy import privacy_region
from skrldp.uncertainty_set import ConditionalsSet, RenyiSet

TABLES = {
    "2x2": [[7, 10], [26, 57]],
    "3x3": [[10, 7, 101], [161, 144, 3], [6, 12, 59]],
    "zero cells": [[9, 0, 31], [40, 25, 0], [1, 2, 8]],
    "unseen": [[20, 30, 5], [0, 0, 0], [14, 60, 9]],
}
# every way in which a region enters the path
REGIONS = [
    *(("joint", alpha) for alpha in (0.6, 1.0, 1.5, 2.0, 4.0)),
    *(("product", alpha) for alpha in (0.3, 0.45, 0.6, 1.0, 1.5, 2.0, 4.0)),
    *(("lower", 2.0), ("lower", 0.4), ("simplex", 1.0), ("point", 1.0), ("pairs", 1.0)),
]


def region_of(table, kind, alpha=2.0, radius=0.05, same_secret=False):
    joint = JointDistribution(TABLES[table])
    if kind == "pairs":  # the shared budget binds for some rows, the single ones for others
        return privacy_region(joint, ConditionalsSet(0.03, 0.04, 0.02), same_secret=same_secret)
    radius = {"point": 0.0, "simplex": np.inf}.get(kind, radius)
    kind = "lower" if kind in ("point", "simplex") else kind
    return privacy_region(joint, RenyiSet(alpha, radius), region=kind, same_secret=same_secret)


def has_path(table, kind):
    return (table, kind) != ("unseen", "point")


# -- power means ----------------------------------------------------------------------------------

THETAS = (0.5, 1.0, 0.0, 0.75, 0.2, 1e-7, -1e-7, -0.3, -2.0 / 3.0, -7.0 / 3.0)


def plain_mean(x, p, theta):
    x, p = x[p > 0], p[p > 0]
    if theta == 0.0:
        return float(np.exp(p @ np.log(x)))
    return float((p @ x**theta) ** (1.0 / theta))


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


# -- privacy of a pair ----------------------------------------------------------------------------


def least_gap(pairs, q):
    """The least of Σλ - φ(λ - q) over λ >= max q, for each pair alone: (m,) from (m, 2, k)."""
    found, precise = [], {"ftol": 1e-16, "gtol": 1e-13}
    for i, part in enumerate(q):
        names = ["first", "second", "p", "scale", "shared", "weight", "radius"]
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


@pytest.mark.parametrize("table", ["3x3", "zero cells", "unseen"])
@pytest.mark.parametrize(("kind", "alpha"), REGIONS)
def test_a_pair_is_private_iff_some_lambda_says_so(kind, alpha, table):
    eps = 0.6
    region = region_of(table, kind, alpha, same_secret=table == "3x3" and alpha == 2.0)
    pairs = pair_function(region, eps)
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
    for kind, alpha in (("box", 2.0), ("joint", 0.5), ("joint", 0.52), ("joint", 0.55)):
        assert pair_function(region_of("3x3", kind, alpha), 1.0) is None
    assert pair_function(region_of("unseen", "point"), 1.0) is None


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
        pairs = pair_function(region, 0.5)
        rows = np.random.default_rng(2).random((1, 2, 2))
        found = least_gap(pairs, pairs.parts(rows)[0])
        expected = np.exp(-0.5) * region.worst(rows, 0.5).bound
        np.testing.assert_allclose(found, expected, atol=2e-6)
        if kind == "product":
            np.testing.assert_array_equal(pairs.scale[0] > 0, left)


@pytest.mark.parametrize("same_secret", [False, True])
def test_parts_and_collect_are_adjoint(same_secret):
    eps = 0.8
    region = region_of("3x3", "joint", same_secret=same_secret)
    pairs = pair_function(region, eps)
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(2, 3, 3))
    parts = pairs.parts(rows)
    for i, (first, second) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        np.testing.assert_allclose(parts[:, i, 0], np.exp(-eps) * rows[:, first], rtol=1e-14)
        np.testing.assert_array_equal(parts[:, i, 1], -rows[:, second])
    other = rng.normal(size=parts.shape)
    assert (parts * other).sum() == pytest.approx((rows * pairs.collect(other)).sum(), rel=1e-12)


@pytest.mark.parametrize("same_secret", [False, True])
@pytest.mark.parametrize("table", ["3x3", "zero cells", "unseen"])
@pytest.mark.parametrize(("kind", "alpha"), REGIONS)
def test_derivatives_of_phi(kind, alpha, table, same_secret):
    """Slopes by differences of values, second derivatives by differences of slopes."""
    pairs = pair_function(region_of(table, kind, alpha, same_secret=same_secret), 0.5)
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


# -- the Newton system ----------------------------------------------------------------------------


class Point:
    """Positive variables, multipliers, and the gradient of the Lagrangian, written out."""

    def __init__(self, kind, alpha, table="3x3", same_secret=False, b=2):
        rng = np.random.default_rng(5)
        region = region_of(table, kind, alpha, same_secret=same_secret)
        self.pairs = pairs = pair_function(region, 0.5)
        self.b, self.shape = b, (b, *region.conditionals.shape)
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
        self.system = row_system(
            pairs, self.lam, x, self.dual_x, self.slack, self.dual, self.row_diagonal
        )
        self.start = pairs(x)[0] - self.lam.sum(axis=-1), x

    def gradient(self, rows, lam):
        """By the rows and the λ; multipliers follow their variables to first order."""
        pairs, (base, x0) = self.pairs, self.start
        x = lam[..., None] - pairs.parts(rows)
        value, slope, _, gradient = pairs(x)
        dual = self.dual - self.dual / self.slack * (value - lam.sum(axis=-1) - base)
        by_x = -dual[..., None, None] * slope[..., None] * gradient
        if not pairs.fixed:
            by_x += self.dual_x / x0 * (x - x0)
        by_rows = -pairs.collect(by_x) + self.row_diagonal * (rows - self.rows)
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
    *(("product", 2.0), ("lower", 2.0), ("simplex", 1.0), ("point", 1.0)),
]


@pytest.mark.parametrize(
    ("table", "same_secret"), [("3x3", False), ("zero cells", True), ("unseen", False)]
)
@pytest.mark.parametrize(("kind", "alpha"), POINTS)
def test_row_system_is_the_schur_complement(kind, alpha, table, same_secret):
    if not has_path(table, kind):
        return
    point = Point(kind, alpha, table, same_secret)
    system, rng = point.system, np.random.default_rng(6)
    a1, k = point.shape[1:]
    weight = rng.random(point.dual.shape)
    barrier = rng.random(point.dual_x.shape)
    reduced_gradient, lam_rhs = system.eliminate(weight, barrier)
    step = rng.normal(size=point.shape)
    lam, x, slack = system.back_substitute(step, lam_rhs)
    np.testing.assert_allclose(
        system.residual, point.start[0] - point.slack, rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(x, lam[..., None] - point.pairs.parts(step), atol=1e-12)

    _value, slope, _, gradient = point.pairs(point.start[1])
    by_part = -weight[..., None, None] * slope[..., None] * gradient
    if not point.pairs.fixed:
        by_part -= barrier
    by_rows, by_lam = -point.pairs.collect(by_part), by_part.sum(axis=-1) + weight[..., None]
    change = (slope[..., None] * gradient * x).sum(axis=(2, 3)) - lam.sum(axis=-1)
    np.testing.assert_allclose(slack, change + system.residual, atol=1e-10)
    for y in range(point.b):
        whole, cells = point.dense(y), a1 * k
        corner, side = whole[:cells, :cells], whole[:cells, cells:]
        if point.pairs.fixed:
            reduced, expected_gradient = corner, by_rows[y].ravel()
            expected_lam = np.zeros(0)
        else:
            inverse = np.linalg.inv(whole[cells:, cells:])
            reduced = corner - side @ inverse @ side.T
            expected_gradient = by_rows[y].ravel() - side @ inverse @ by_lam[y].ravel()
            expected_lam = -inverse @ (by_lam[y].ravel() + side.T @ step[y].ravel())
        scale = np.abs(reduced).max()
        np.testing.assert_allclose(system.hessian[y], reduced, atol=2e-7 * scale)
        np.testing.assert_allclose(system.inverse[y] @ reduced, np.eye(cells), atol=1e-5)
        np.testing.assert_allclose(reduced_gradient[y].ravel(), expected_gradient, atol=1e-6)
        np.testing.assert_allclose(lam[y].ravel()[: len(expected_lam)], expected_lam, atol=1e-6)


@pytest.mark.parametrize("robust", [False, True])
def test_coupling_solves_its_equations(robust):
    point = Point("joint", 2.0, b=4)
    rng = np.random.default_rng(7)
    b, a = 4, 9
    cost, right = rng.normal(size=(b, a)), rng.normal(size=(b, a))
    column_residual, by_cell, by_top = rng.normal(size=a), rng.normal(size=a), 0.7
    root = rng.normal(size=(a, a))
    curvature = root @ root.T / a if robust else None
    change, top = Coupling(point.system, cost, curvature).solve(
        right, column_residual, by_cell, by_top
    )
    np.testing.assert_allclose(change.sum(axis=0), column_residual, atol=1e-9)
    stationary = np.einsum("yij,yj->yi", point.system.hessian, change) + right
    if robust:
        second = curvature @ ((change * cost).sum(axis=0) - top)
        stationary += cost * (by_cell + second)
        assert second.sum() == pytest.approx(by_top, abs=1e-9)
    else:
        assert top == 0.0
    # the same for every report: the multiplier of a column
    np.testing.assert_allclose(stationary, stationary[:1].repeat(b, axis=0), atol=1e-8)


def test_an_indefinite_hessian_is_reported():
    point = Point("joint", 2.0)

    def system(row_diagonal):
        arguments = point.lam, point.start[1], point.dual_x, point.slack, point.dual, row_diagonal
        return row_system(point.pairs, *arguments)

    plain = (
        np.einsum("yii->yi", system(point.row_diagonal).hessian).reshape(point.shape)
        - point.row_diagonal
    )
    assert system(1e-9 * point.row_diagonal) is not None
    assert system(1e-3 - plain) is None  # a small diagonal beside the rest


# -- the path -------------------------------------------------------------------------------------


def vertices_of(region, secret):
    """Extreme conditionals of a polyhedral region (not of boxes)."""
    a2 = region.conditionals.shape[1]
    if region.uncertainty.is_point:
        return region.conditionals[[secret]] if region.marginal[secret] > 0 else np.eye(a2)
    if region.uncertainty.is_everything:
        return np.eye(a2)
    lower = region.lower[secret]
    return lower + (1.0 - lower.sum()) * np.eye(a2)


def privacy_rows(region, eps, b):
    """Every privacy constraint of a polyhedral region, dense, on the whole mechanism."""
    a1, a2 = region.conditionals.shape
    rows = []
    for y, s1, s2 in np.ndindex(b, a1, a1):
        if s1 == s2:
            continue
        for one in vertices_of(region, s1):
            for other in vertices_of(region, s2):
                row = np.zeros((b, a1, a2))
                row[y, s1], row[y, s2] = one, -np.exp(eps) * other
                rows.append(row.ravel())
    return np.array(rows)


def exact(cost, region, eps):
    """The optimum: by linear programming, or as a cone program if the cost is of a finite ball."""
    b, a = cost.cost.shape
    rows, columns = privacy_rows(region, eps, b), np.tile(np.eye(a), b)
    if not cost.robust:
        found = linprog(
            cost.at(cost.distribution).ravel(), rows, np.zeros(len(rows)), columns, np.ones(a)
        )
        assert found.status == 0
        return found.fun
    matrix, top = cp.Variable(b * a, nonneg=True), cp.Variable()
    cells = cp.sum(cp.multiply(cost.cost, cp.reshape(matrix, (b, a), order="C")), axis=0)
    limits = [rows @ matrix <= 0, columns @ matrix == 1, top >= cells]
    value, distribution = top, cost.distribution
    if np.isfinite(cost.radius):
        # sup of P.c over the ball, by the dual with both multipliers (ISIT Theorem 2 at alpha=2)
        dual = cp.Variable(nonneg=True)
        seen = np.flatnonzero(distribution > 0)
        gaps, p = (top - cells)[seen], distribution[seen]
        if cost.alpha == 1.0:
            terms = cp.rel_entr(dual * np.ones(len(seen)), gaps)
            value = top - dual + cost.radius * dual + p @ terms
        else:
            assert cost.alpha == 2.0
            root = cp.Variable(len(seen))
            limits += [
                cp.SOC(dual + gaps[i], cp.hstack([2 * root[i], dual - gaps[i]]))
                for i in range(len(seen))
            ]
            value = top + np.exp(cost.radius) * dual - 2 * p @ root
    return optimum(cp.Problem(cp.Minimize(value), limits))


def proven(path, cost, region, eps):
    """The lower bound that the path's distributions give, put into their sets, in plain loops."""
    distributions, multipliers = path.conditionals()
    assert np.all(multipliers >= 0.0) and np.all(distributions >= 0.0)
    np.testing.assert_allclose(distributions.sum(axis=-1), 1.0, rtol=1e-12)
    distribution = cost.pull_in(path.distribution())
    assert distribution.sum() == pytest.approx(1.0, abs=1e-12)
    b, a1, a2 = path.rows.shape
    lagrangian = (distribution * cost.cost).reshape(b, a1, a2).copy()
    for y in range(b):
        inside = region.pull_in(path.pairs.first, path.pairs.second, distributions[y])
        for i, (s1, s2) in enumerate(zip(path.pairs.first, path.pairs.second, strict=True)):
            lagrangian[y, s1] += multipliers[y, i] * np.exp(-eps) * inside[i, 0]
            lagrangian[y, s2] -= multipliers[y, i] * inside[i, 1]
    return lagrangian.min(axis=0).sum()


def lifted(rows, region, eps):
    """A private mechanism (b, a) near the rows, by as much of each report as they lack."""
    rows = rows / rows.sum(axis=0)
    lift = region.excess(rows, eps) / np.expm1(eps) * (1 + 1e-9)
    rows = (rows + lift[:, None, None]) / (1.0 + lift.sum())
    assert region.excess(rows, eps).max() <= 1e-15
    return rows.reshape(len(rows), -1)


def cost_of(region, kind, b=3, radius=0.0, alpha=2.0, seed=11):
    distribution = (region.marginal[:, None] * region.conditionals).ravel()
    rng = np.random.default_rng(seed)
    if kind == "negative":
        return ExpectedCost(
            rng.normal(size=(b, len(distribution))) - 2.0, distribution, alpha, radius
        )
    distance = np.subtract.outer(np.linspace(0, 2, b), np.arange(region.conditionals.shape[1])) ** 2
    return ExpectedCost(np.tile(distance, (1, region.n_secrets)), distribution, alpha, radius)


@pytest.mark.parametrize("table", ["3x3", "zero cells", "unseen"])
@pytest.mark.parametrize(
    ("kind", "costs", "radius", "alpha"),
    [
        ("lower", "distance", 0.0, 2.0),
        ("lower", "negative", 0.0, 2.0),
        ("lower", "distance", 0.1, 2.0),
        ("lower", "negative", 0.1, 1.0),
        ("simplex", "distance", 0.02, 1.0),
        ("simplex", "negative", np.inf, 2.0),
        ("point", "distance", 0.0, 2.0),
        ("point", "negative", 0.3, 2.0),
        ("point", "distance", np.inf, 0.5),
    ],
)
def test_reaches_the_optimum_with_a_proof_at_every_step(kind, costs, radius, alpha, table):
    eps = 0.7
    if not has_path(table, kind):
        return
    region = region_of(table, kind)
    cost = cost_of(region, costs, radius=radius, alpha=alpha)
    best = exact(cost, region, eps)
    scale = np.abs(cost.cost).max()
    sure = 1e-12 if not cost.robust else 3e-8  # the conic solver's accuracy
    path = CentralPath(cost, pair_function(region, eps), region.conditionals.shape)
    bounds = [proven(path, cost, region, eps)]
    for _ in range(80):
        if path.gap < 1e-7 * scale or not path.advance(3e-8 * scale):
            break
        bounds.append(proven(path, cost, region, eps))
        assert path.steps == len(bounds) - 1
    assert max(bounds) <= best + sure * scale
    assert max(bounds) >= best - 1e-6 * scale
    assert path.gap <= 1e-6 * scale
    # the mechanism is nearly stochastic, private and optimal
    assert np.all(path.rows > 0.0)
    np.testing.assert_allclose(path.rows.sum(axis=0), 1.0, atol=1e-7)
    assert region.excess(path.rows, eps).max() <= 1e-6
    value = cost.worst(path.rows.reshape(len(path.rows), -1))[0]
    assert value == pytest.approx(best, abs=3e-6 * scale)
    assert path.value == pytest.approx(best, abs=3e-6 * scale)


@pytest.mark.parametrize("alpha", [0.6, 0.8, 1.0, 1.5, 4.0])
@pytest.mark.parametrize("kind", ["joint", "product"])
@pytest.mark.parametrize("radius", [0.0, 0.05, np.inf])
def test_a_proof_at_every_step_over_balls(kind, alpha, radius):
    """No bound on the way passes the cost of the private mechanism at the end."""
    eps = 0.7
    region = region_of("zero cells", kind, alpha)
    cost = cost_of(region, "distance", b=4, radius=radius, alpha=alpha)
    path = CentralPath(cost, pair_function(region, eps), region.conditionals.shape)
    bounds = [proven(path, cost, region, eps)]
    arrived = 0
    while arrived < 10 and path.advance(1e-6):
        bounds.append(proven(path, cost, region, eps))
        arrived += path.gap <= 2e-6
        assert path.steps < 80
    value = cost.worst(lifted(path.rows, region, eps))[0]
    assert max(bounds) <= value
    assert max(bounds) == pytest.approx(value, rel=2e-5)


@pytest.mark.parametrize("problem", ["NUNP", "NURP", "RUNP", "RURP"])
def test_without_an_aim_until_rounding_ends_it(problem):
    """The bounds stay bounds where nothing else can be relied on any more."""
    joint = JointDistribution(TABLES["3x3"])
    radius = RenyiBall().radius_for(joint.n, 9)
    private, useful = (radius if letter == "R" else 0.0 for letter in (problem[2], problem[0]))
    region = privacy_region(joint, RenyiSet(2.0, private))
    cost = cost_of(region, "distance", radius=useful)
    path = CentralPath(cost, pair_function(region, 0.5), (3, 3))
    bounds, values = [], []
    while path.advance():
        bounds.append(proven(path, cost, region, 0.5))
        values.append(cost.worst(lifted(path.rows, region, 0.5))[0])
        assert path.steps < 200
    assert max(bounds) <= min(values)
    assert max(bounds) == pytest.approx(min(values), rel=1e-5)


def test_deterministic():
    def run():
        region = region_of("zero cells", "joint", 1.5)
        cost = cost_of(region, "negative", radius=0.1, alpha=1.5)
        path = CentralPath(cost, pair_function(region, 0.4), (3, 3))
        while path.steps < 15 and path.advance(1e-6):
            pass
        return (
            path.rows,
            path.conditionals()[0],
            path.conditionals()[1],
            path.distribution(),
            path.gap,
        )

    for one, other in zip(run(), run(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("alpha", [0.3, 2.0, 5.0])
@pytest.mark.parametrize("table", ["2x2", "zero cells"])
def test_a_cost_of_any_order_for_all_distributions(alpha, table):
    """With an infinite radius the order of the ball does not matter."""
    region = region_of(table, "simplex")
    cost = cost_of(region, "negative", radius=np.inf, alpha=alpha)
    best = exact(cost, region, 0.7)
    path = CentralPath(cost, pair_function(region, 0.7), region.conditionals.shape)
    while path.gap > 1e-7 and path.advance(3e-8):
        assert path.steps < 80
    assert path.value == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("radius", [0.1, np.inf])
def test_a_cost_that_only_cells_without_records_have(radius):
    """At the public distribution all is free, so that its mean cost is no unit for the start."""
    joint = JointDistribution([[10, 20, 0], [30, 15, 0]])
    region = privacy_region(joint, RenyiSet(2.0, 0.05), region="lower")
    cost = np.zeros((2, 6))
    cost[1, 2], cost[0, 5] = 1.0, 1.0
    cost = ExpectedCost(cost, joint.probabilities.ravel(), 2.0, radius)
    path = CentralPath(cost, pair_function(region, 0.5), (2, 3))
    while path.gap > 1e-6 and path.advance(1e-7):
        assert path.steps < 80
    assert path.value == pytest.approx(exact(cost, region, 0.5), abs=1e-5)
