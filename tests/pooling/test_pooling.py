"""Reports of blocks together give what least squares over the whole joint distribution does."""

import numpy as np
import pytest
from scipy.optimize import minimize

from skrldp.pooling import CommonMargins, Pool, best_shares, information_of

SIZES, SECRETS = (2, 3, 2), 2


def margin(distribution, block):
    """The distribution of the cells of a block, of one of shape (2, 2, 3, 2)."""
    away = tuple(place + 1 for place in range(3) if place not in block)
    return distribution.sum(axis=away).ravel()


def taken(block):
    """The matrix that makes the block's cells of those of the whole table, (a, 24)."""
    cells = np.eye(24).reshape(24, SECRETS, *SIZES)
    return np.stack([margin(one, block) for one in cells], axis=1)


@pytest.fixture(params=[[(0,), (0, 1), (0, 2), (1, 2)], [(0,), (1,), (2,)], [(0, 1, 2), (1, 2)]])
def pooled(request):
    """Blocks, their margins, and reports at a random distribution by random mechanisms."""
    rng = np.random.default_rng(0)
    blocks = request.param
    distribution = rng.dirichlet(np.ones(24)).reshape(SECRETS, *SIZES)
    margins = CommonMargins.of(SECRETS, SIZES, blocks)
    information, sizes = [], 500.0 * np.arange(1, len(blocks) + 1)
    for block, model in zip(blocks, margins.blocks, strict=True):
        cells = margin(distribution, block)
        matrix = rng.dirichlet(np.ones(len(cells) + 2), size=len(cells)).T
        information.append(information_of(model, matrix, cells))
    pool = Pool(margins, tuple(n * one.matrix for n, one in zip(sizes, information, strict=True)))
    return blocks, distribution, margins, pool, information, sizes


def evaluated(pool, information, sizes, asked):
    """Values of functions of blocks at the expected reports, and their covariance."""
    found = [pool.weights(*one, information) for one in asked]
    values, each = (np.concatenate(own) for own in zip(*found, strict=True))
    covariance, start = 0.0, 0
    for n, one in zip(sizes, information, strict=True):
        own = each[:, start : start + len(one.report)]
        values = values + n * own @ one.report
        own = own - (own @ one.report)[:, None]
        covariance = covariance + n * (own * one.report) @ own.T
        start += len(one.report)
    return values, covariance


def test_expected_reports_give_the_distribution_back(pooled):
    blocks, distribution, _, pool, *reports = pooled
    for number, block in enumerate(blocks):
        cells = margin(distribution, block)
        asked = number, np.eye(len(cells))
        np.testing.assert_allclose(evaluated(pool, *reports, [asked])[0], cells, atol=1e-10)
        assert pool.determines(*asked).all()


def test_covariance_is_that_of_least_squares_over_the_whole_table(pooled):
    """The other route: the joint distribution of all columns, with a pseudoinverse."""
    blocks, _, margins, pool, *reports = pooled
    total = np.zeros((24, 24))
    for block, model, own in zip(blocks, margins.blocks, pool.information, strict=True):
        back = np.linalg.pinv(model.design) @ taken(block)
        total += back.T @ own @ back
    tangent = np.linalg.svd(np.ones((1, 24)))[2][1:].T
    spread = tangent @ np.linalg.pinv(tangent.T @ total @ tangent, rcond=1e-11) @ tangent.T
    asked = [(0, np.eye(len(taken(blocks[0])))), (1, np.eye(len(taken(blocks[1]))))]
    functions = np.concatenate([taken(blocks[0]), taken(blocks[1])])
    expected = functions @ spread @ functions.T
    np.testing.assert_allclose(evaluated(pool, *reports, asked)[1], expected, atol=1e-12)


def test_gains_are_minus_the_derivatives(pooled):
    blocks, _, margins, pool, *reports = pooled
    asked = [(number, np.eye(len(taken(block)))) for number, block in enumerate(blocks)]
    total, gains = pool.gains(asked)
    assert total == pytest.approx(np.trace(evaluated(pool, *reports, asked)[1]))
    assert gains.sum() == pytest.approx(total)  # the sum is homogeneous of degree -1
    for number in range(len(blocks)):
        step = 1e-4
        more = [own * (1 + step * (k == number)) for k, own in enumerate(pool.information)]
        less = [own * (1 - step * (k == number)) for k, own in enumerate(pool.information)]
        ends = [Pool(margins, tuple(own)).gains(asked)[0] for own in (more, less)]
        assert (ends[1] - ends[0]) / (2 * step) == pytest.approx(gains[number], rel=1e-6)


def test_best_shares_against_a_generic_solver(pooled):
    blocks, _, margins, pool, *_ = pooled
    asked = [(number, np.eye(len(taken(block)))) for number, block in enumerate(blocks)]

    def total(shares):
        scaled = tuple(r * own for r, own in zip(shares, pool.information, strict=True))
        return Pool(margins, scaled).gains(asked)[0]

    def of_logits(logits):
        shares = np.exp(logits - logits.max())
        return total(shares / shares.sum())

    found = best_shares(margins, pool.information, asked)
    assert found.sum() == pytest.approx(1.0)
    best = minimize(of_logits, np.zeros(len(blocks)), method="Nelder-Mead", tol=1e-10)
    assert total(found) <= best.fun * (1 + 1e-3)
