"""Bisection on the price of the budget: slow and sure, for orders near 1/2."""

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import LARGEST_EXPONENT
from skrldp._typing import Floats
from skrldp.support_function._bisect import bisect
from skrldp.support_function._dual import FLOOR, SupportProblem, power_mean

__all__ = ["minimise_by_price"]

# Log prices, relative to the range of q, that are looked at: exp(60) is as good as infinite. Twice
# as wide would cost one step more.
_WIDEST = 60.0
_STEPS = 60  # halve the 120 to 1e-16, the last digit of a log price; more would change nothing
_NO_SLACK = 1e-14  # last digits of a slack: taken for zero. Twice as much would loosen bounds by it

# The root in the logarithm of a slack, by Newton's steps inside a bracket.
_MOST_LOG_SLACK = 140.0  # above the root at any price that is looked at
_MOST_STEPS = 100  # bisection alone would close the bracket in 51
_DONE, _CLOSE = 1e-12, 1e-13  # of equation and bracket; every slack gives a valid bound
_AT_FLOOR = 2.0  # slacks up to this many floors are at the floor


def minimise_by_price(problem: SupportProblem) -> Floats:
    """Slacks for pairs, alpha < 1, by bisection on the price of the shared budget.

    At a price each conditional has its own slack, the root of a decreasing function, and its
    h; the price is right when the h, weighted, add up to A. Slow, and sure: for alpha = 1/2, where
    the dual function has a kink, and for the few problems near it on which Newton fails.
    """
    alpha, weight = problem.alpha, problem.weight
    theta = (alpha - 1.0) / alpha
    area = weight.sum(axis=1) * np.exp(theta * problem.shrink)

    def short(price: Floats) -> NDArray[np.bool_]:
        _, h = _at_price(problem, np.log(weight) + price[:, None])
        return np.einsum("nt,nt->n", weight, h) < area

    widest = np.full(len(weight), _WIDEST)
    price = bisect(short, -widest, widest, _STEPS)
    slack, _ = _at_price(problem, np.log(weight) + price[:, None])
    return np.where(slack < _NO_SLACK, FLOOR, slack)


def _at_price(problem: SupportProblem, log_price: Floats) -> tuple[Floats, Floats]:
    """Each conditional's slack and h at log prices of its budget, by bracketed Newton steps."""
    alpha = problem.alpha
    theta = (alpha - 1.0) / alpha
    log_slack = np.clip(log_price, np.log(FLOOR), _WIDEST)
    low, high = np.full(log_slack.shape, np.log(FLOOR)), np.full(log_slack.shape, _MOST_LOG_SLACK)
    tried_floor = np.zeros(log_slack.shape, dtype=bool)
    for _ in range(_MOST_STEPS):
        slack = np.exp(log_slack)
        log_mean, slope, bend = power_mean(slack[..., None] + problem.gaps, problem.p, alpha)
        excess = theta * log_mean + (1.0 + theta) * np.log(slope) + log_price
        low, high = np.where(excess > 0, log_slack, low), np.where(excess > 0, high, log_slack)
        settled = (np.abs(excess) < _DONE) | (high - low < _CLOSE)
        if settled.all():
            break
        step = excess / (slack * (theta**2 * slope + (1.0 + theta) * bend / alpha))
        moved = log_slack + step
        # A step below the bracket is tried at the floor first: many slacks rest there.
        below = (moved <= low) & ~tried_floor & ~settled
        tried_floor |= below
        middle = np.where(below, low, (low + high) / 2.0)
        moved = np.where((moved > low) & (moved < high), moved, middle)
        log_slack = np.where(settled, log_slack, moved)
    log_sum = log_mean * theta
    spread = np.exp(log_sum / alpha + theta * (np.log(slope) + log_sum))
    resting = (slack <= _AT_FLOOR * FLOOR) & (excess < 0)
    if alpha == 0.5:  # at a slack of zero nothing is left of the cells that have a price
        return slack, np.where(resting, 0.0, spread)
    gamma = alpha / (2.0 * alpha - 1.0)
    share = np.minimum(gamma * log_price + (gamma - 1.0) * log_sum, LARGEST_EXPONENT)
    return slack, np.where(resting, np.exp(((1.0 - alpha) * share + log_sum) / alpha), spread)
