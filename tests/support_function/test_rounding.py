"""Bounds are bounds to the last bit: they are compared with arithmetic of 50 digits."""

import sys
from decimal import Decimal, localcontext

import numpy as np
import pytest
from conftest import ROOT, budget, cost

from skrldp.support_function import (
    cell_bounds,
    log_mean_exp,
    pull_in,
    support,
)

sys.path.append(str(ROOT / "examples"))

RADII = (1e-7, 1e-4, 0.02, 0.5, 3.0)
rng = np.random.default_rng(0)
SHARES = np.concatenate([rng.integers(1, 2**20, 150), [1, 2**19, 2**20 - 1]]) / 2**20  # exact


def exact_ends(share, weight, radius):
    """Entropy (29): the ends of what the ball of order 2 allows for a set of public probability."""
    share, weight, radius = Decimal(float(share)), Decimal(float(weight)), Decimal(radius)
    x = (1 + ((radius / 2).exp() - 1) / weight) ** -2  # exp(-B_s)
    lean = 2 * share - 1
    root = ((1 - x) * (1 - lean * lean * x)).sqrt()
    return (1 + lean * x - root) / 2, (1 + lean * x + root) / 2


@pytest.mark.parametrize("radius", RADII)
def test_ends_of_cells_are_outside_to_the_last_bit(radius):
    weights = rng.uniform(0.01, 1.0, len(SHARES))
    lower, upper = cell_bounds(SHARES[:, None], weights, 2.0, radius)
    pick = np.broadcast_to([1.0, 0.0], (len(SHARES), 1, 2))
    p = np.stack([SHARES, 1.0 - SHARES], axis=1)[:, None]
    most = support(pick, p, weights[:, None], 2.0, radius).bound
    least = -support(-pick, p, weights[:, None], 2.0, radius).bound
    with localcontext() as context:
        context.prec = 50
        for i, (share, weight) in enumerate(zip(SHARES, weights, strict=True)):
            low, high = exact_ends(share, weight, radius)
            for below, above in ((lower[i, 0], upper[i, 0]), (least[i], most[i])):
                assert Decimal(float(below)) <= low < Decimal(float(share))
                assert Decimal(float(share)) < high <= Decimal(float(above))
                # And nearly as tight as it can be: a tiny ball is no point, but small.
                assert Decimal(float(above)) - high < Decimal("2e-7") * (high - low) + Decimal(
                    "1e-13"
                )


def test_powers_of_any_size():
    log_mean, shares = log_mean_exp(np.array([[800.0, 0.0]]), np.array([[0.5, 0.5]]))
    assert log_mean == pytest.approx(800.0 - np.log(2.0))
    np.testing.assert_allclose(shares, [[1.0, 0.0]], atol=1e-300)


@pytest.mark.parametrize("alpha", [0.7, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("over", [1e-5, 5e-4, 0.1])
def test_what_is_a_little_outside_is_pulled_in(alpha, over):
    """Not the least excess over the budget passes: a witness must be in the set."""
    p = rng.dirichlet(np.full(4, 2.0), size=(30, 2))
    weight = rng.uniform(0.1, 0.5, (30, 2))
    radius = 0.03
    limit = budget(alpha, radius)

    def used(conditionals):
        return (weight * cost(p, conditionals, alpha)).sum(axis=1)

    towards = rng.dirichlet(np.full(4, 0.3), size=(30, 2)) * 0.98 + 0.005
    low, high = np.zeros(30), np.ones(30)
    far = used(towards) > 2.0 * limit
    assert far.sum() > 10
    for _ in range(60):
        share = ((low + high) / 2.0)[:, None, None]
        inside = used((1.0 - share) * p + share * towards) <= limit * (1.0 + over)
        low, high = np.where(inside, share[:, 0, 0], low), np.where(inside, high, share[:, 0, 0])
    outside = (1.0 - low[:, None, None]) * p + low[:, None, None] * towards
    assert np.all(used(outside)[far] > limit * (1.0 + over / 2))
    found = pull_in(outside, p, weight, alpha, radius)
    assert np.all(used(found)[far] <= limit * (1.0 + 1e-12))
    np.testing.assert_allclose(found, outside, atol=3.0 * over)
