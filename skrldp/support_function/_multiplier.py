"""Slacks of pairs for orders near 1/2, as roots in brackets: sure where Newton's method is not."""

from collections.abc import Callable

import numpy as np

from skrldp._arrays import LARGEST_EXPONENT
from skrldp._typing import Floats
from skrldp.support_function._dual import FLOOR, SupportProblem, power_mean

__all__ = ["minimise_at_half", "minimise_by_price"]

# Logarithms that are looked at, relative to the range of q: exp(60) is as good as infinite. Twice
# as wide would cost one step more.
_WIDEST = 60.0
# The outer root: by chords, some 10 where the function is smooth, and every third time, or after so
# many, by the middle. The most close the bracket where it jumps.
_CHORDS, _MOST_POINTS = 24, 80
_MET, _NARROW = 1e-12, 1e-15  # of equation and bracket; every slack gives a valid bound
_NO_SLACK = 1e-14  # last digits of a slack: taken for zero. Twice as much would loosen bounds by it

# The inner root, a slack's: by Newton's steps inside a bracket.
_MOST_LOG_SLACK = 140.0  # above the root at any price that is looked at
_MOST_STEPS = 100  # bisection alone would close the bracket in 51
_DONE, _CLOSE = 1e-12, 1e-13  # of equation and bracket; every slack gives a valid bound
_AT_FLOOR = 2.0  # slacks up to this many floors are at the floor


def minimise_by_price(problem: SupportProblem) -> Floats:
    """Slacks for pairs, 1/2 < alpha < 1, by a root in the price of the shared budget.

    At a price each conditional has its own slack, the root of a decreasing function, and its
    h; the price is right when the h, weighted, add up to A. Slow, and sure: for the few problems
    near 1/2 on which Newton fails.
    """
    log_weight = np.log(problem.weight)

    def spent(price: Floats, slack: Floats) -> tuple[Floats, Floats]:
        return _at_price(problem, log_weight + price[:, None], slack)

    return _at_root(spent, problem.weight)


def minimise_at_half(problem: SupportProblem) -> Floats:
    """Slacks for pairs, alpha = 1/2, by a root in the level that both power means reach.

    The dual function has a kink where the means, divided by the weights, are equal, and its
    minimum lies there. With x = 1 / (slack + gap), the derivative along the kink is zero where the
    weighted shares of variance, Var(x) / E(x^2), add up to what the budget takes off.
    """
    weight = problem.weight
    taken = np.log(weight.sum(axis=1)) + np.log(-np.expm1(-problem.shrink))

    def short(level: Floats, _: Floats) -> tuple[Floats, Floats]:
        slack = _at_level(problem, weight * np.exp(level)[:, None])
        inverse = 1.0 / (slack[..., None] + problem.gaps)
        mean = np.einsum("ntu,ntu->nt", problem.p, inverse)
        second = np.einsum("ntu,ntu->nt", problem.p, inverse**2)
        variance = np.einsum("ntu,ntu->nt", problem.p, (inverse - mean[..., None]) ** 2)
        # A conditional that is above the level without slack does not count.
        share = np.where(slack <= FLOOR, 1.0, variance / second)
        with np.errstate(divide="ignore"):
            return np.log(slack), taken - np.log(np.einsum("nt,nt->n", weight, share))

    return _at_root(short, weight)


def _at_root(excess: Callable[[Floats, Floats], tuple[Floats, Floats]], weight: Floats) -> Floats:
    """Slacks at the last points at which increasing functions were seen to be negative.

    Shapes: `excess` of points (N,) and of log slacks (N, 2) to start from: log slacks and values
    (N,); `weight` (N, 2); returns (N, 2).
    """
    low, high = (np.full(len(weight), end) for end in (-_WIDEST, _WIDEST))
    found, below = excess(low, np.log(weight) + low[:, None])
    log_slack, above, was_short = found, np.full(len(low), np.inf), np.ones(len(low), dtype=bool)
    for step in range(_MOST_POINTS):
        with np.errstate(invalid="ignore"):
            point = low - below * (high - low) / (above - below)
        chord = np.isfinite(point) & (step % 3 < 2) & (step < _CHORDS)
        point = np.clip(np.where(chord, point, (low + high) / 2.0), low, high)
        log_slack, value = excess(point, log_slack)
        short, met = value < 0.0, np.abs(value) < _MET
        # The end that stays twice counts half, so that the chord moves it (the Illinois method).
        again = short == was_short
        above = np.where(short, np.where(again, above / 2.0, above), value)
        below = np.where(short, value, np.where(again, below / 2.0, below))
        found = np.where((short | met)[:, None], log_slack, found)
        low, high = np.where(short | met, point, low), np.where(short & ~met, high, point)
        was_short = short
        if (high - low < _NARROW).all():
            break
    slack = np.exp(found)
    return np.where(slack < _NO_SLACK, FLOOR, slack)


def _at_level(problem: SupportProblem, level: Floats) -> Floats:
    """Slacks at which the harmonic means of slack + gap are at a level, (N, 2); else the floor.

    The mean is concave in the slack, and its inverse in the inverse: tangents bound the root.
    """
    high = np.maximum(level, FLOOR)
    low = np.maximum(level - np.einsum("ntu,ntu->nt", problem.p, problem.gaps), FLOOR)
    for step in range(_MOST_STEPS):
        slack = low if step % 2 else high
        inverse = 1.0 / (slack[..., None] + problem.gaps)
        first = np.einsum("ntu,ntu->nt", problem.p, inverse)
        second = np.einsum("ntu,ntu->nt", problem.p, inverse**2)
        below = slack + (level * first - 1.0) * first / second
        above = 1.0 / np.maximum(
            1.0 / slack + (1.0 / level - first) / (slack**2 * second), 1.0 / high
        )
        low, high = np.maximum(low, below), np.maximum(np.minimum(high, above), FLOOR)
        if (high - low <= _CLOSE * high).all():
            break
    return np.minimum(low, high)


def _at_price(problem: SupportProblem, log_price: Floats, start: Floats) -> tuple[Floats, Floats]:
    """Each conditional's log slack at log prices of its budget, by bracketed Newton steps.

    Shapes: `log_price` and `start` (N, 2); returns (N, 2), and (N,): the log of the part of the
    budget that is spent.
    """
    alpha = problem.alpha
    theta = (alpha - 1.0) / alpha
    log_slack = np.clip(start, np.log(FLOOR), _WIDEST)
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
    gamma = alpha / (2.0 * alpha - 1.0)
    share = np.minimum(gamma * log_price + (gamma - 1.0) * log_sum, LARGEST_EXPONENT)
    h = np.where(resting, np.exp(((1.0 - alpha) * share + log_sum) / alpha), spread)
    with np.errstate(divide="ignore"):
        spent = np.log(np.einsum("nt,nt->n", problem.weight, h))
    return log_slack, spent - np.log(problem.weight.sum(axis=1)) - theta * problem.shrink
