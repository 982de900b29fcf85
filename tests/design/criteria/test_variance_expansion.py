"""The expansion of the sum of variances around a mechanism: by differences and by matrices."""

import numpy as np
import pytest

from skrldp.design.criteria import Variance

CELLS = 6


def drawn(seed):
    rng = np.random.default_rng(seed)
    distribution = rng.dirichlet(np.full(CELLS, 2.0)) * 0.9 + 0.1 / CELLS
    matrix = rng.dirichlet(np.full(9, 0.7), size=CELLS).T * 0.9 + 0.1 / 9
    step = rng.normal(size=(9, CELLS)) * 0.01
    return rng, Variance(distribution, rng.normal(size=(2, CELLS))), matrix, step


@pytest.mark.parametrize("heat", [2e-3, 0.05])
def test_an_expansion_has_the_gradient_of_the_logarithm(heat):
    _, criterion, matrix, step = drawn(6)
    step -= step.mean(axis=0)  # to another mechanism
    part = np.diag(max(heat / 100.0, 1e-6) / criterion.distribution)  # of the records' own

    def logarithm(t):
        moved = matrix + t * step
        information = moved.T @ (moved / (moved @ criterion.distribution)[:, None])
        inverse = np.linalg.inv(information + part)
        return np.log(np.trace(criterion.functions @ inverse @ criterion.functions.T))

    cost = criterion.expand(matrix, heat).cost
    expected = (logarithm(1e-4) - logarithm(-1e-4)) / 2e-4
    assert float((criterion.distribution * cost * step).sum()) == pytest.approx(expected, rel=2e-3)


def test_the_curvature_of_the_variance():
    """That of tr C M^-1 C' along the information matrix, divided by the trace."""
    rng, criterion, matrix, step = drawn(7)
    distribution = criterion.distribution
    mass, change = matrix @ distribution, step @ distribution
    information = np.einsum("yi,yj->ij", matrix / mass[:, None], matrix)
    along = np.einsum("yi,yj->ij", matrix / mass[:, None], step)
    along += along.T - np.einsum("yi,yj->ij", matrix * (change / mass**2)[:, None], matrix)

    def total(t):
        inverse = np.linalg.inv(information + t * along)
        return np.trace(criterion.functions @ inverse @ criterion.functions.T)

    second = (total(1e-3) - 2.0 * total(0.0) + total(-1e-3)) / 1e-6
    curvature = criterion.expand(matrix, 0.0).curvature
    found = float((step * curvature(step)).sum())
    assert found == pytest.approx(second / total(0.0), rel=1e-3)
    assert found > 0.0
    other = rng.normal(size=step.shape)
    assert (other * curvature(step)).sum() == pytest.approx((step * curvature(other)).sum())
