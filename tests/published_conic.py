"""The conic program as ISIT Theorems 2 and 4 print it, with the sign of (30) put right.

The squares of joint probabilities stand inside the cones, so that
the solver's residuals are large changes of the mechanism. Tests and benchmarks compare with it.
"""

import conic_program as conic
import numpy as np
import pytest

from skrldp.privacy.private_rows import JointRegion


def solve_published(cost, requirements):
    """Minimise as ``solve_conic`` does, with Clarabel's own tolerances."""
    region = requirements.only.region
    balls = [region.alpha] if isinstance(region, JointRegion) else []
    balls += [cost.alpha] if 0.0 < cost.radius < np.inf else []
    assert all(alpha == 2.0 for alpha in balls), "ISIT has no other order"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conic, "_SETTINGS", {})
        patch.setattr(conic, "_pairs", published_pairs)
        if balls and cost.robust:
            patch.setattr(conic, "_expected_cost", published_cost)
        return conic.solve_conic(cost, requirements)


def published_cost(q, cost, scale):
    """Theorem 2; its B is exp(B) - 1 here."""
    import cvxpy as cp
    import scipy.sparse as sp

    n_reports, n_cells = cost.cost.shape
    place = np.tile(np.arange(n_cells), n_reports), np.arange(cost.cost.size)
    cells = sp.csr_array(((cost.cost / scale).ravel(), place)) @ q
    top, dual, root = cp.Variable(), cp.Variable(), cp.Variable(n_cells)
    inside = cp.multiply(cost.distribution**2, top - cells)
    cones = conic._below_geometric_mean(root, inside, dual * np.ones(n_cells))
    return top - 2.0 * cp.sum(root) + np.exp(cost.radius) * dual, [top >= cells, cones]


def published_pairs(q, n_reports, region, eps, pairs):
    """Theorem 4, with w_i constant, which is best."""
    import cvxpy as cp

    dual = cp.Variable(n_reports * len(pairs[0]))
    total = 0.0
    limits = []
    for secret, factor in zip(pairs, (np.ones(len(eps)), -np.exp(eps)), strict=True):
        top, slack = conic._slack(q, n_reports, region, secret, factor)
        joint = np.tile(region.conditionals[secret] * region.weights[secret, None], (n_reports, 1))
        inside = cp.multiply(joint.ravel() ** 2, slack)
        mean, part = conic._power_mean(inside, np.ones_like(joint), 0.5)  # (Σ P √(w - v))²
        root = cp.Variable(len(joint))
        limits += [*part, slack >= 0.0, cp.PowCone3D(dual, mean, root, 2.0 / 3.0)]
        total += top - (2.0 ** (-2.0 / 3.0) + 2.0 ** (1.0 / 3.0)) * root
    budget = (
        np.expm1(region.uncertainty.radius / 2.0)
        + region.weights[pairs[0]]
        + region.weights[pairs[1]]
    )
    return [*limits, total + cp.multiply(np.tile(budget, n_reports), dual) <= 0.0]
