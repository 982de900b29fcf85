"""Bounds of conditionals from private reports: by two routes, and as often true as they say."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar
from scipy.stats import combine_pvalues, multinomial

from skrldp import JointDistribution
from skrldp.sets import bounds_from_reports as bounds
from skrldp.sets.bounds_from_reports import UNITS, BoxSet, CountedReports, conditional_bounds
from skrldp.sets.fitted_sets import Box

BETA = 0.05


def response(a, eps=1.0):
    matrix = np.ones((a, a)) + np.expm1(eps) * np.eye(a)
    return matrix / matrix.sum(axis=0)


def lopsided(a, b, seed):
    """A mechanism that does not determine its cells, with a report that is never sent."""
    matrix = np.random.default_rng(seed).dirichlet(np.ones(b - 1), size=a).T
    return np.vstack([matrix, np.zeros(a)])


def log_p(source, shape, secret, value, theta, is_upper):
    """Bound log p with the definition: a linear program in place of the closed form."""
    matrix, f = source.matrix, source.counts / source.counts.sum()
    a = matrix.shape[1]
    r = matrix.mean(axis=1)
    used = r > 0
    half = matrix[used] / np.sqrt(r[used])[:, None]
    inverse = np.linalg.pinv(half, rcond=1e-8) / np.sqrt(r[used])  # (a, b)
    cells = np.arange(a).reshape(shape)
    h = np.zeros(a)
    h[cells[secret]] = -theta
    h[cells[secret, value]] += 1.0
    w, h = (inverse.T @ h, h) if not is_upper else (-inverse.T @ h, -h)
    matrix, f = matrix[used], f[used]
    if f @ w <= 0:
        return 0.0

    def exponent(lam):
        top = lam * w.max()
        moments = np.exp(lam * w - top) @ matrix
        found = linprog(-moments, A_ub=h[None], b_ub=[0.0], A_eq=np.ones((1, a)), b_eq=[1.0])
        return np.log(-found.fun) + top - lam * (f @ w)

    far = 20.0 * (f @ w) / (f @ w**2)
    return source.counts.sum() * min(minimize_scalar(exponent, bounds=(0, far)).fun, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(("matrix", "shape"), [(lopsided(6, 5, 0), (3, 2)), (response(4), (1, 4))])
def test_bounds_stop_where_the_definition_does(matrix, shape):
    truth = np.random.default_rng(1).dirichlet(np.ones(shape[0] * shape[1]))
    source = CountedReports(matrix, np.random.default_rng(2).multinomial(4_000, matrix @ truth))
    lower, upper = conditional_bounds([source], shape, BETA, "reports")
    level = np.log(0.99 * BETA / (2 * truth.size))
    for s, u in itertools.product(*map(range, shape)):
        # The last that was rejected, and the first that was not, up to the best λ's tolerance.
        for units, step, is_upper in ((lower[s, u], 1, False), (upper[s, u], -1, True)):
            end = UNITS if is_upper else 0
            if units != end:
                assert log_p(source, shape, s, u, units / UNITS, is_upper) < level + 1e-6
            after = (units + step if units != end else end) / UNITS
            assert log_p(source, shape, s, u, after, is_upper) > level - 3e-3


@pytest.mark.slow
@pytest.mark.parametrize(("matrix", "n"), [(lopsided(4, 3, 3), 24), (response(4)[[0, 1, 2]], 6)])
def test_no_bound_is_wrong_more_often_than_it_says(matrix, n):
    """Exactly: each possible count of the reports, weighted with its probability."""
    matrix = matrix / matrix.sum(axis=0)
    b, beta = len(matrix), 0.5
    kinds = [k for k in itertools.product(range(n + 1), repeat=b) if sum(k) == n]
    kinds = [k for k in kinds if not any(k[y] for y in np.flatnonzero(matrix.max(axis=1) == 0))]
    boxes = [
        conditional_bounds([CountedReports(matrix, np.array(k))], (2, 2), beta, "reports")
        for k in kinds
    ]
    lower, upper = np.array(boxes).swapaxes(0, 1) / UNITS
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(150):
        truth = rng.dirichlet(np.full(4, rng.choice([0.1, 1.0, 10.0]))).reshape(2, 2)
        chance = multinomial.pmf(kinds, n, matrix @ truth.ravel())
        conditional = truth / truth.sum(axis=1, keepdims=True)
        for wrong in (lower > conditional, upper < conditional):
            worst = max(worst, (chance @ wrong.reshape(len(kinds), -1)).max())
    assert 0 < worst <= beta / 8


def test_several_sources_multiply_their_p_values():
    p = [3e-4, 0.02, 0.4]
    critical = bounds.log_critical_product(combine_pvalues(p, "fisher").pvalue, 3)
    assert critical == pytest.approx(np.log(p).sum())
    matrix, n = response(8), 20_000
    truth = np.random.default_rng(0).dirichlet(np.ones(8))
    halves = [CountedReports(matrix, np.rint(n / 2 * matrix @ truth)) for _ in range(2)]
    whole = CountedReports(matrix, halves[0].counts * 2)
    width = [
        np.subtract(*conditional_bounds(s, (2, 4), BETA, "reports")[::-1]).mean() / UNITS
        for s in ([whole], halves, halves[:1])
    ]
    assert width[0] < width[1] < 1.2 * width[0] < width[2]


def test_bounds_narrow_with_reports_and_hold_for_one_value():
    matrix, truth = response(6), np.array([0.1, 0.2, 0.1, 0.05, 0.25, 0.3])
    conditional = truth.reshape(2, 3) / truth.reshape(2, 3).sum(axis=1, keepdims=True)
    for rule in ("reports", "reports-asymptotic"):
        last = UNITS
        for n in (100, 2_000, 50_000, 2_000_000):
            source = CountedReports(matrix, np.rint(n * matrix @ truth))
            lower, upper = conditional_bounds([source], (2, 3), BETA, rule)
            assert (lower <= conditional * UNITS).all()
            assert (upper >= conditional * UNITS).all()
            assert (upper - lower).mean() <= last
            last = (upper - lower).mean()
        assert last < 0.03 * UNITS
    lower, upper = conditional_bounds([source], (6, 1), BETA, "reports")
    assert (lower == UNITS).all()
    assert (upper == UNITS).all()


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_a_box_contains_its_corners_and_mixtures_with_anything(spread):
    """As linear programs find them: conditionals between the bounds, apart from a free share."""
    rng, contained = np.random.default_rng(3), []
    lower, upper = np.array([0.1, 0.2, 0.0]), np.array([0.5, 0.6, 0.3])
    box = Box(lower[None], upper[None], spread)
    for conditional in rng.dirichlet([2.0, 2.0, 1.0], 120):
        of_box = [(x, y) for x, y in zip((1 - spread) * lower, (1 - spread) * upper, strict=True)]
        free = [(0.0, 1.0)] * 3
        sums = np.vstack([np.hstack([np.eye(3), np.eye(3)]), [1.0] * 3 + [0.0] * 3])
        found = linprog(
            np.zeros(6), A_eq=sums, b_eq=[*conditional, 1 - spread], bounds=of_box + free
        )
        contained.append(found.status == 0)
        assert box.contains(conditional[None])[0] == contained[-1]
    assert 12 < sum(contained) < 108


def test_drift_admits_a_share_of_any_distribution():
    """With drift δ, the share 1 − e^−δ of each conditional may be anything, and no more."""
    joint = JointDistribution([[50, 50], [30, 70]])
    near = np.rint(UNITS * (joint.conditionals - 0.01)).astype(int)
    options = {"rule": "reports", "beta": BETA, "n_records": 200, "reports": ()}

    def contains(drift, share):
        around = BoxSet(near, near + UNITS // 50, drift, **options)
        moved = (1.0 - share) * joint.conditionals + share * np.array([[1.0, 0.0], [1.0, 0.0]])
        return around.contains(joint, joint.marginal[:, None] * moved)

    drifted = -np.expm1(-0.1)
    assert contains(0.1, drifted) and not contains(0.0, drifted) and not contains(0.1, 2 * drifted)
