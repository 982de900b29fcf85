"""Newton's method on the dual function, for all problems at once."""

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats
from skrldp.support_function._dual import FLOOR, DualPoint, SupportProblem, dual

__all__ = ["minimise", "start"]


# When a problem is done. Every point gives a valid bound, so these decide only how tight it is:
# twice as large, a step is saved here and there, and bounds are looser by at most as much.
_TOLERANCE = 1e-13  # Newton decrement, relative to the range of q: some 450 units of rounding
_BALANCE = 1e-9  # how far from 1 the mass of the worst conditional may be

# Bounds of a step, so that slacks stay positive and no step leaves where the model is any good.
# Steps were counted on 3,000 random pairs each at alpha .55, 1, 2, 4 and B .001, .05, 1.
_SHRINK = 0.9  # at most this share of a slack is taken off; .8 or .95: as many steps within a tenth
_GROWTH = 9.0  # a slack at most grows to 1 plus ten times itself; 4 or 18: as many steps
_SHORTER = 0.3  # share of a step that is tried next where the dual function rose
_SHORTENINGS = 25  # 0.3**25 is below 1e-13: then no step helps
# From order 1 on 5 to 12 do on average, and 35 at most. At .55 with B = 1 it is 25, and 1 % are
# left after 80: they are solved by their price. With twice as many they would take twice as long.
_MOST_STEPS = 80

# Guards against division by zero and lost digits; their size does not matter within a factor of 10.
_LEAST_VARIANCE = 1e-30
_LEAST_SLACK = 1e-12
_LEAST_CURVATURE = 1e-300
_SINGULAR = 1e-14  # determinants below this, relatively, are rounding
_RISE = 4e-15  # relative: by so much the dual function may rise, by rounding alone


def start(problem: SupportProblem) -> Floats:
    """Return slacks that are right for a small ball, and of the right order for a large one."""
    alpha, p, gaps, weight = problem.alpha, problem.p, problem.gaps, problem.weight
    theta = (alpha - 1.0) / alpha
    mean = np.einsum("ntu,ntu->nt", p, gaps)
    variance = np.maximum(np.einsum("ntu,ntu->nt", p, gaps * gaps) - mean**2, 0.0)
    budget = problem.radius if alpha == 1.0 else np.abs(np.expm1(theta * problem.radius))
    curve = 0.5 if alpha == 1.0 else 1.0 / (2.0 * abs(theta) * alpha)
    spread = np.sqrt(
        np.maximum((variance / weight).sum(axis=1), _LEAST_VARIANCE) * curve / alpha / budget
    )
    level = spread[:, None] * weight * (1.0 if alpha == 1.0 else abs(theta))
    top = np.where(gaps <= 0.0, p, 0.0).sum(axis=-1)
    small = np.maximum(level * np.maximum(top, _LEAST_SLACK) ** alpha, _LEAST_SLACK)
    return np.where(level > 2.0 * mean, level - mean, np.minimum(level, small))


def _newton_step(problem: SupportProblem, slack: Floats, point: DualPoint) -> Floats:
    """Minimiser of the quadratic model that keeps the slacks positive (T = 1 or 2)."""
    gradient, hessian = 1.0 - point.mass, point.hessian
    lowest = np.where(problem.floored, FLOOR - slack, -_SHRINK * slack)
    if slack.shape[1] == 1:
        return np.maximum(-gradient / np.maximum(hessian[:, 0], _LEAST_CURVATURE), lowest)
    g1, g2 = gradient.T
    low1, low2 = lowest.T
    h12 = hessian[:, 0, 1]
    h11 = np.maximum(hessian[:, 0, 0], _LEAST_CURVATURE)
    h22 = np.maximum(hessian[:, 1, 1], _LEAST_CURVATURE)
    determinant = h11 * h22 - h12 * h12
    regular = determinant > _SINGULAR * h11 * h22
    determinant = np.where(regular, determinant, 1.0)
    step1 = np.where(regular, (h12 * g2 - h22 * g1) / determinant, -g1 / h11)
    step2 = np.where(regular, (h12 * g1 - h11 * g2) / determinant, -g2 / h22)
    most1, most2 = (1.0 + _GROWTH * slack).T
    step1, step2 = np.minimum(step1, most1), np.minimum(step2, most2)
    # Where a bound is passed, the best of the two edges.
    edge2 = np.clip(-(g2 + h12 * low1) / h22, low2, most2)
    edge1 = np.clip(-(g1 + h12 * low2) / h11, low1, most1)
    first = low1 * (g1 + h11 * low1 / 2 + h12 * edge2) + edge2 * (g2 + h22 * edge2 / 2)
    second = edge1 * (g1 + h11 * edge1 / 2 + h12 * low2) + low2 * (g2 + h22 * low2 / 2)
    outside = (step1 < low1) | (step2 < low2)
    on_first = first <= second
    step1 = np.where(outside, np.where(on_first, low1, edge1), step1)
    step2 = np.where(outside, np.where(on_first, edge2, low2), step2)
    return np.stack([step1, step2], axis=1)


def _descend(
    problem: SupportProblem, slack: Floats, point: DualPoint, step: Floats
) -> tuple[Floats, DualPoint]:
    """Take the step, shortened where the dual function would rise."""
    moved = np.maximum(slack + step, FLOOR)
    after = dual(problem, moved)
    allowance = _RISE * (1.0 + slack.sum(axis=1))
    for _ in range(_SHORTENINGS):
        worse = ~(after.value <= point.value + allowance)
        if not worse.any():
            break
        moved[worse] = (1.0 - _SHORTER) * slack[worse] + _SHORTER * moved[worse]
        after.overwrite(worse, dual(problem[worse], moved[worse]))
    worse = ~(after.value <= point.value + allowance)
    if worse.any():  # no step helps: stay
        moved[worse] = slack[worse]
        after.overwrite(worse, point[worse])
    return moved, after


def minimise(problem: SupportProblem, slack: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Slacks that minimise the dual function, by a bounded Newton method for all at once.

    Returns the problems that did not converge too.
    """
    best = slack.copy()
    active = np.arange(len(slack))
    point = dual(problem, slack)
    for _ in range(_MOST_STEPS):
        step = _newton_step(problem, slack, point)
        decrement = -((1.0 - point.mass) * step).sum(axis=1)
        # A tiny slack moves the bound by nothing and the worst conditional by much: ask for both.
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
