r"""The least expected cost as one conic program: an independent second route to the optimum.

It shares no step with the package's designs: the worst distributions are replaced by their duals,
written as cones, and Clarabel solves all at once (ISIT Theorems 2 and 4, with the missing
:math:`-e^\epsilon` of ISIT (30)). A row is private for a pair of secrets iff some
:math:`\lambda_i \ge q_i`, with :math:`q_1 = v_{s_1}` and :math:`q_2 = -e^\epsilon v_{s_2}`, have

.. math:: \lambda_1 + \lambda_2 \le \kappa M_\sigma\left(\frac{m_1}{\rho_1},
          \frac{m_2}{\rho_2}\right), \qquad m_i = M_\theta(\lambda_i - q_i),

where M are power means: of order :math:`\theta = (\alpha-1)/\alpha` under the public conditionals,
and :math:`\sigma = (\alpha-1)/(2\alpha-1)` under the weights :math:`\rho_i = w_i/(w_1+w_2)` of the
two secrets; :math:`\kappa \le 1` comes from the budget. A power mean bounds a variable m from
above iff there are :math:`g_u \le x_u^\theta m^{1-\theta}` with :math:`\sum_u p_u g_u \ge m`
(for :math:`0 < \theta < 1`; order 0 alike. Orders α below 1 are not written here).

All is homogeneous of degree one in (q, λ, m, g) and has coefficients of order one, so that a
residual of the solver amounts to an equal change of the mechanism. In the form that ISIT prints,
with the squares of joint probabilities inside the cones, 1e-8 may become a change by 1e-2.
"""

import warnings
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from skrldp._typing import Floats, Indices
from skrldp.design.programs import ExpectedCost, column_sums
from skrldp.privacy.private_rows import JointRegion, Region, SimplexRegion
from skrldp.privacy.requirements import Requirement, Requirements

Part = tuple[Any, list[Any]]  # a cvxpy expression, and the constraints that give it its meaning

# Clarabel's own tolerances are 1e-8, with which the cost is up to 2e-4 too large, and 5e-5 for the
# reduced ones. Steps shorter than the 0.99 of the way to the boundary that Clarabel takes by
# itself stall less often in power cones. 200 iterations are its own limit.
_SETTINGS = {
    **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10),
    **dict.fromkeys(("reduced_tol_gap_abs", "reduced_tol_gap_rel", "reduced_tol_feas"), 1e-6),
    "max_step_fraction": 0.8,
    "max_iter": 500,
}


class Solution(NamedTuple):
    """What the conic solver says; nothing of it is proven."""

    value: float
    matrix: Floats  # (b, a), stochastic and private up to the solver's residuals


def solve_conic(cost: ExpectedCost, requirements: Requirements) -> Solution:
    """Minimise an expected cost over the private mechanisms."""
    assert all(one.region.weights.all() for one in requirements)  # every secret has records
    n_reports, n_cells = cost.cost.shape
    scale = float(np.abs(cost.cost).max()) or 1.0
    q = cp.Variable(n_reports * n_cells, nonneg=True)  # row by row
    objective, conditions = _expected_cost(q, cost, scale)
    conditions += [column_sums(n_reports, n_cells) @ q == 1.0]
    for one in requirements:
        layout = one.region.rows
        entries = layout.parts[layout.place].ravel()  # each secret's part, one after the other
        spread = sp.csr_array(
            (np.ones(len(entries)), (np.arange(len(entries)), entries)),
            shape=(len(entries), n_cells),
        )
        conditions += _private(
            sp.csr_array(sp.kron(sp.eye_array(n_reports), spread)) @ q, n_reports, one
        )

    problem = cp.Problem(cp.Minimize(objective), conditions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # where it stalls near the optimum
        value = problem.solve(solver=cp.CLARABEL, **_SETTINGS)
    assert problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
    return Solution(float(value) * scale, q.value.reshape(n_reports, n_cells))


def _power_mean(x: Any, p: Floats, order: float) -> Part:
    """Variables below the power means of the rows of x, given flat, under p; x >= 0 with them."""
    n, k = p.shape
    mean, group = cp.Variable(n), np.repeat(np.arange(n), k)
    held, zero = np.flatnonzero(p.ravel() > 0), np.flatnonzero(p.ravel() <= 0)
    conditions = [x[zero] >= 0.0] if len(zero) else []
    x, each, term = x[held], mean[group[held]], cp.Variable(len(held))
    entries = p.ravel()[held], (group[held], np.arange(len(held)))
    total = sp.csr_array(entries, shape=(n, len(held))) @ term
    if order == 0.5:  # symmetric cones, much easier than power cones
        return mean, [*conditions, _below_geometric_mean(term, x, each), total >= mean]
    if order == 0.0:
        return mean, [*conditions, cp.ExpCone(term, each, x), total >= 0.0]
    return mean, [*conditions, cp.PowCone3D(x, each, term, order), total >= mean]


def _below_geometric_mean(g: Any, x: Any, y: Any) -> Any:
    """Cones that say g² <= x y and x, y >= 0."""
    return cp.SOC(x + y, cp.vstack([2.0 * g, x - y]))


def _shrinkage(weight: Floats, alpha: float, radius: Floats) -> Floats:
    r"""Factor κ that the budget leaves to the power means; 0 where conditionals are free."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if alpha == 1.0:
            left = np.exp(-radius / weight)
        else:
            theta = (alpha - 1.0) / alpha
            available = weight + np.expm1(theta * radius)
            left = np.where(available > 0, (weight / available) ** (1.0 / theta), 0.0)
    return np.where(weight > 0, left, 0.0)


def _expected_cost(q: Any, cost: ExpectedCost, scale: float) -> Part:
    """Write the objective, divided by the scale."""
    n_reports, n_cells = cost.cost.shape
    if not cost.robust:
        return (cost.at(cost.distribution) / scale).ravel() @ q, []
    place = np.tile(np.arange(n_cells), n_reports), np.arange(cost.cost.size)
    cells = sp.csr_array(((cost.cost / scale).ravel(), place)) @ q
    top = cp.Variable()
    if np.isinf(cost.radius):
        return top, [top >= cells]
    mean, conditions = _power_mean(
        top - cells, cost.distribution[None], (cost.alpha - 1.0) / cost.alpha
    )
    return top - np.exp(-cost.radius) * mean[0], conditions


def _private(q: Any, n_reports: int, one: Requirement) -> list[Any]:
    """Say that every row is private for every pair of secrets that is compared."""
    region = one.region
    first, second = region.pairs
    if not isinstance(region, SimplexRegion):
        assert isinstance(region, JointRegion) or region.uncertainty.limits_singles
        return _pairs(q, n_reports, region, np.full(len(first), one.eps), (first, second))
    # Over all distributions: the greatest and the least entry of each secret.
    a1, a2 = region.conditionals.shape
    group = np.repeat(np.arange(n_reports * a1), a2)
    most, least = cp.Variable(n_reports * a1), cp.Variable(n_reports * a1)
    row = a1 * np.repeat(np.arange(n_reports), len(first))
    ours, other = row + np.tile(first, n_reports), row + np.tile(second, n_reports)
    return [most[group] >= q, least[group] <= q, most[ours] <= np.exp(one.eps) * least[other]]


def _slack(
    q: Any, n_reports: int, region: Region, secret: Indices, factor: Floats
) -> tuple[Any, Any]:
    """Variables λ, one for each report and pair, and λ - factor q over the cells of its secret."""
    a2 = region.conditionals.shape[1]
    family = (region.n_secrets * np.arange(n_reports)[:, None] + secret).ravel()
    top = cp.Variable(len(family))
    cell = (a2 * family[:, None] + np.arange(a2)).ravel()
    scaled = cp.multiply(np.repeat(np.tile(factor, n_reports), a2), q[cell])
    return top, top[np.repeat(np.arange(len(family)), a2)] - scaled


def _pairs(
    q: Any, n_reports: int, region: Region, eps: Floats, pairs: tuple[Indices, Indices]
) -> list[Any]:
    r"""Privacy for pairs of secrets that share the budget, divided by exp(eps).

    Where each conditional has a budget of its own besides, the greatest sum of :math:`\lambda` is
    the least of :math:`t_1 m_1 + t_2 m_2` over the t that both budgets allow. By duality it is
    what a split :math:`m_i = m_i' + m_i''` gives at most, the least of :math:`t \cdot m'` over the
    t of the shared budget, and the least of :math:`t \cdot m''` over those of the single ones.
    """
    alpha = region.alpha
    theta = (alpha - 1.0) / alpha
    sigma = (alpha - 1.0) / (2.0 * alpha - 1.0)
    weight = np.stack([region.weights[secret] for secret in pairs], axis=1)
    share = np.tile(weight / weight.sum(axis=1, keepdims=True), (n_reports, 1))
    radius = region.uncertainty.pair_budgets(weight)
    kept = np.tile(_shrinkage(weight.sum(axis=1), alpha, radius), n_reports)
    conditions, tops, means = [], [], []
    alone: list[Any] = []  # parts of the means that the single budgets limit
    for side, secret, factor in ((0, pairs[0], np.exp(-eps)), (1, pairs[1], -np.ones(len(eps)))):
        top, slack = _slack(q, n_reports, region, secret, factor)
        p = np.tile(region.conditionals[secret], (n_reports, 1))
        mean, part = _power_mean(slack, p, theta)
        conditions += part
        tops.append(top)
        if region.uncertainty.limits_singles:
            own = _shrinkage(weight[:, side], alpha, region.single_budgets[secret])
            single = cp.Variable(mean.size, nonneg=True)
            alone.append(cp.multiply(np.tile(own, n_reports), single))
            mean = mean - single
            conditions.append(mean >= 0.0)
        means.append(cp.multiply(1.0 / share[:, side], mean))
    both = cp.hstack(means)[np.arange(share.size).reshape(2, -1).T.ravel()]  # pair by pair
    mean, part = _power_mean(both, share, sigma)
    allowed = cp.multiply(kept, mean) + (sum(alone) if alone else 0.0)
    return [*conditions, *part, tops[0] + tops[1] <= allowed]
