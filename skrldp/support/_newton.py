"""Newton's method on the dual function, for all problems at once."""

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats
from skrldp.support._problem import FLOOR, DualPoint, Problem, dual

__all__ = ["minimise", "start"]


_TOLERANCE = 1e-13  # Newton decrement at which a problem is done, relative to the range of q
_BALANCE = 1e-9  # how far from 1 the mass of the worst law may be


def start(problem: Problem, radius: float) -> Floats:
    """Slacks that are right for a small ball, and of the right order for a large one."""
    alpha, p, gaps, weight = problem.alpha, problem.p, problem.gaps, problem.weight
    theta = (alpha - 1.0) / alpha
    mean = np.einsum("ntu,ntu->nt", p, gaps)
    variance = np.maximum(np.einsum("ntu,ntu->nt", p, gaps * gaps) - mean**2, 0.0)
    budget = radius if alpha == 1.0 else abs(np.expm1(theta * radius))
    curve = 0.5 if alpha == 1.0 else 1.0 / (2.0 * abs(theta) * alpha)
    spread = np.sqrt(np.maximum((variance / weight).sum(axis=1), 1e-30) * curve / alpha / budget)
    level = spread[:, None] * weight * (1.0 if alpha == 1.0 else abs(theta))
    top = np.where(gaps <= 0.0, p, 0.0).sum(axis=-1)
    small = np.maximum(level * np.maximum(top, 1e-12) ** alpha, 1e-12)
    return np.where(level > 2.0 * mean, level - mean, np.minimum(level, small))


def _newton_step(problem: Problem, slack: Floats, point: DualPoint) -> Floats:
    """Minimiser of the quadratic model that keeps the slacks positive (T = 1 or 2)."""
    gradient, hessian = 1.0 - point.mass, point.hessian
    lowest = np.where(problem.floored, FLOOR - slack, -0.9 * slack)
    if slack.shape[1] == 1:
        return np.maximum(-gradient / np.maximum(hessian[:, 0], 1e-300), lowest)
    g1, g2 = gradient.T
    low1, low2 = lowest.T
    h12 = hessian[:, 0, 1]
    h11, h22 = np.maximum(hessian[:, 0, 0], 1e-300), np.maximum(hessian[:, 1, 1], 1e-300)
    determinant = h11 * h22 - h12 * h12
    regular = determinant > 1e-14 * h11 * h22
    determinant = np.where(regular, determinant, 1.0)
    step1 = np.where(regular, (h12 * g2 - h22 * g1) / determinant, -g1 / h11)
    step2 = np.where(regular, (h12 * g1 - h11 * g2) / determinant, -g2 / h22)
    step1, step2 = (
        np.minimum(step1, 1.0 + 9.0 * slack[:, 0]),
        np.minimum(step2, 1.0 + 9.0 * slack[:, 1]),
    )
    # Where a bound is passed, the best of the two edges.
    edge2 = np.clip(-(g2 + h12 * low1) / h22, low2, 1.0 + 9.0 * slack[:, 1])
    edge1 = np.clip(-(g1 + h12 * low2) / h11, low1, 1.0 + 9.0 * slack[:, 0])
    first = low1 * (g1 + h11 * low1 / 2 + h12 * edge2) + edge2 * (g2 + h22 * edge2 / 2)
    second = edge1 * (g1 + h11 * edge1 / 2 + h12 * low2) + low2 * (g2 + h22 * low2 / 2)
    outside = (step1 < low1) | (step2 < low2)
    on_first = first <= second
    step1 = np.where(outside, np.where(on_first, low1, edge1), step1)
    step2 = np.where(outside, np.where(on_first, edge2, low2), step2)
    return np.stack([step1, step2], axis=1)


def _descend(
    problem: Problem, slack: Floats, point: DualPoint, step: Floats
) -> tuple[Floats, DualPoint]:
    """Take the step, shortened where the dual function would rise."""
    moved = np.maximum(slack + step, FLOOR)
    after = dual(problem, moved)
    allowance = 4e-15 * (1.0 + slack.sum(axis=1))
    for _ in range(25):
        worse = ~(after.value <= point.value + allowance)
        if not worse.any():
            break
        moved[worse] = 0.7 * slack[worse] + 0.3 * moved[worse]
        redone = dual(problem[worse], moved[worse])
        for old, new in (
            (after.value, redone.value),
            (after.means, redone.means),
            (after.mass, redone.mass),
            (after.hessian, redone.hessian),
        ):
            old[worse] = new
    worse = ~(after.value <= point.value + allowance)
    if worse.any():  # no step helps: stay
        moved[worse] = slack[worse]
        for old, new in (
            (after.value, point.value),
            (after.means, point.means),
            (after.mass, point.mass),
            (after.hessian, point.hessian),
        ):
            old[worse] = new[worse]
    return moved, after


def minimise(problem: Problem, slack: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Slacks that minimise the dual function, by a bounded Newton method for all at once.

    Returns the problems that did not converge too.
    """
    best = slack.copy()
    active = np.arange(len(slack))
    point = dual(problem, slack)
    for _ in range(80):
        step = _newton_step(problem, slack, point)
        decrement = -((1.0 - point.mass) * step).sum(axis=1)
        # A tiny slack moves the bound by nothing and the worst law by much: ask for both.
        off = np.where(slack > 2.0 * FLOOR, np.abs(1.0 - point.mass), point.mass - 1.0)
        going = (decrement > _TOLERANCE) | (off.max(axis=1) > _BALANCE)
        if not going.all():
            best[active] = slack
            active_left = active[going]
            if len(active_left) == 0:
                return best, active_left
            active, slack, step = active_left, slack[going], step[going]
            problem, point = problem[going], point[going]
        slack, point = _descend(problem, slack, point, step)
        best[active] = slack
    return best, active
