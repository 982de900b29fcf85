r"""The worst law of a Rényi ball for a linear function of one or two conditionals.

The problem is the *support function* of what the ball allows (Entropy Theorem 1, ISIT Theorem 3)

.. math:: \max \sum_{i} R_i \cdot q_i \quad\text{over conditionals } R_i
   \text{ that some law of the ball has together},

for one secret or for a pair of them. Lagrangian duality, with the price of the shared budget
eliminated in closed form, leaves one slack :math:`\tau_i \ge 0` for each conditional
(:math:`\lambda_i = \max q_i + \tau_i`, :math:`\theta = (\alpha-1)/\alpha`):

.. math:: \sum_i \lambda_i - A^{-1/\theta}\, N_\sigma\bigl(w_i^{1/\theta} M_\theta(\lambda_i - q_i)\bigr),

where :math:`M_\theta` is the power mean of exponent θ under :math:`\hat P_{U|s_i}`,
:math:`N_\sigma(x) = (\sum x_i^\sigma)^{1/\sigma}` with :math:`\sigma = (\alpha-1)/(2\alpha-1)`,
:math:`w_i = \hat P_{s_i}` and :math:`A = \sum w_i + e^{(\alpha-1)B/\alpha} - 1`. For one secret
this is :math:`\lambda - e^{-B_s} M_\theta(\lambda - q)`. The expression is convex in τ and is an
upper bound at *every* τ, converged or not: that is what makes a certificate rigorous.
``docs/mathematics.md`` has the derivation. This module knows arrays only, not secrets or tables.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FLOOR", "Problem", "Support", "dual", "prepare", "support", "support_shrink"]

Floats = NDArray[np.float64]

FLOOR = 1e-25  # stands for a slack of zero, relative to the range of q
_CHUNK = 1 << 17  # cells per batch: a batch's arrays stay in the cache
_TOLERANCE = 1e-13  # Newton decrement at which a problem is done, relative to the range of q
_NEAR_HALF = 0.52  # up to this order pairs are solved by their price
_BALANCE = 1e-9  # how far from 1 the mass of the worst law may be


@dataclass(frozen=True)
class Support:
    """Upper bounds on N support functions, and the dual slacks that prove them.

    Attributes
    ----------
    bound : array of shape (N,)
        Rigorous upper bounds, rounding included.
    slack : array of shape (N, T)
        Dual slacks, relative to ``scale``.
    scale : array of shape (N,)
        Range of q in each problem.
    """

    bound: Floats
    slack: Floats
    scale: Floats


@dataclass(frozen=True)
class Problem:
    """N problems of T conditionals over k cells, scaled to gaps in [0, 1]."""

    gaps: Floats  # (N, T, k)  (max q - q) / scale
    p: Floats  # (N, T, k)
    weight: Floats  # (N, T)
    shrink: Floats  # (N,)  log of what the budget takes off the power means
    floored: NDArray[np.bool_]  # (N, T)  zero cells hold the maximum: a slack of 0 may be optimal
    alpha: float

    def __getitem__(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> "Problem":
        return Problem(
            self.gaps[index],
            self.p[index],
            self.weight[index],
            self.shrink[index],
            self.floored[index],
            self.alpha,
        )


@dataclass(frozen=True)
class DualPoint:
    """The dual function at given slacks, with its derivatives."""

    value: Floats  # (N,)
    means: Floats  # (N,)  A^{-1/theta} N_sigma, the part subtracted from the slacks
    mass: Floats  # (N, T)  sum of the maximiser R: the gradient is 1 - mass
    hessian: Floats  # (N, T, T)

    def __getitem__(self, index: NDArray[np.bool_]) -> "DualPoint":
        return DualPoint(
            self.value[index], self.means[index], self.mass[index], self.hessian[index]
        )


def _power_mean(gaps: Floats, p: Floats, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Log of the power mean of the gaps, its slope S0/W, and S1/S0 (see dual)."""
    if alpha == 2.0:  # the default, and the only case without transcendental functions
        root = p / np.sqrt(gaps)
        total = np.einsum("ntu,ntu->nt", root, gaps)
        log_mean = 2.0 * np.log(total)
    elif alpha == 1.0:
        root = p / gaps
        total = np.ones(p.shape[:2])
        log_mean = np.einsum("ntu,ntu->nt", p, np.log(gaps))
    else:
        # Centred at the geometric mean: exact as alpha -> 1, and total >= 1 by Jensen.
        theta = (alpha - 1.0) / alpha
        logs = np.log(gaps)
        centre = np.einsum("ntu,ntu->nt", p, logs)
        log_total, root = _log_mean_exp(theta * (logs - centre[..., None]), p)
        log_mean = centre + log_total / theta
        total = np.ones(p.shape[:2])
        root = root / gaps
    first = root.sum(axis=-1)
    second = np.einsum("ntu,ntu->nt", root, 1.0 / gaps)
    return log_mean, first / total, second / first


def _log_mean_exp(exponents: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Log of the mean of exp(exponents) under p, and p tilted by them (sums to 1).

    Accurate for small exponents, whose mean should be near zero, and safe for large ones.
    """
    exponents = np.where(p > 0, exponents, 0.0)
    greatest = exponents.max(axis=-1)
    large = greatest > 30.0
    small = np.where(large[..., None], 0.0, exponents)
    log_mean = np.log1p(np.einsum("...u,...u->...", p, np.expm1(small)))
    if large.any():
        powers = np.exp(exponents[large] - greatest[large, None])
        total = np.einsum("nu,nu->n", p[large], powers)
        log_mean[large] = greatest[large] + np.log(total)
    return log_mean, p * np.exp(exponents - log_mean[..., None])


def dual(problem: Problem, slack: Floats) -> DualPoint:
    alpha = problem.alpha
    theta = (alpha - 1.0) / alpha
    log_mean, slope, bend = _power_mean(slack[..., None] + problem.gaps, problem.p, alpha)
    families = slack.shape[1]
    if families == 1:
        sigma = 0.0
        share = np.ones_like(slack)
        log_means = log_mean[:, 0] - problem.shrink
    else:
        share = problem.weight / problem.weight.sum(axis=1, keepdims=True)
        logs = log_mean - np.log(problem.weight)
        centre = np.einsum("nt,nt->n", share, logs)
        log_means = centre + np.log(problem.weight.sum(axis=1)) - problem.shrink
        sigma = _sigma(alpha)
        if sigma != 0.0:  # finite here: at alpha=1/2 a pair is solved by its price
            log_total, share = _log_mean_exp(sigma * (logs - centre[:, None]), share)
            log_means += log_total / sigma
    means = np.exp(log_means)
    mass = means[:, None] * share * slope
    hessian = (sigma - 1.0) * mass[:, :, None] * (share * slope)[:, None, :]
    for i in range(families):
        hessian[:, i, i] -= mass[:, i] * ((sigma - theta) * slope[:, i] - bend[:, i] / alpha)
    return DualPoint(slack.sum(axis=1) - means, means, mass, hessian)


def _sigma(alpha: float) -> float:
    """Exponent that couples two conditionals (at alpha=1/2 a minimum, treated apart)."""
    return (alpha - 1.0) / (2.0 * alpha - 1.0) if alpha > 0.5 else -1.0


def support_shrink(weight: Floats, alpha: float, radius: float) -> Floats:
    """log(A^{1/theta}) without the marginals' part; infinite where the conditionals are free."""
    total = weight.sum(axis=1)
    if alpha == 1.0:
        return radius / total
    theta = (alpha - 1.0) / alpha
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        shrink = np.log1p(np.expm1(theta * radius) / total) / theta
    return np.where(np.isnan(shrink), np.inf, shrink)


def _start(problem: Problem, radius: float) -> Floats:
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


def _minimise(problem: Problem, slack: Floats) -> tuple[Floats, NDArray[np.intp]]:
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


def _value(problem: Problem, slack: Floats) -> tuple[Floats, Floats]:
    """The bound and the subtracted part, at alpha=1/2 with the true minimum."""
    if problem.alpha != 0.5 or slack.shape[1] == 1:
        point = dual(problem, slack)
        return point.value, point.means
    log_mean, _, _ = _power_mean(slack[..., None] + problem.gaps, problem.p, 0.5)
    least = (log_mean - np.log(problem.weight)).min(axis=1)
    means = np.exp(least + np.log(problem.weight.sum(axis=1)) - problem.shrink)
    return slack.sum(axis=1) - means, means


def _minimise_by_price(problem: Problem) -> Floats:
    """Slacks for pairs, alpha < 1, by bisection on the price of the shared budget.

    At a price each conditional has its own slack, the root of a decreasing function, and its
    h; the price is right when the h, weighted, add up to A. Slow, and sure: for alpha = 1/2, where
    the dual function has a kink, and for the few problems near it on which Newton fails.
    """
    alpha, weight = problem.alpha, problem.weight
    theta = (alpha - 1.0) / alpha
    area = weight.sum(axis=1) * np.exp(theta * problem.shrink)
    low, high = np.full(len(weight), -60.0), np.full(len(weight), 60.0)
    for _ in range(60):
        price = (low + high) / 2.0
        slack, h = _at_price(problem, np.log(weight) + price[:, None])
        short = np.einsum("nt,nt->n", weight, h) < area
        low, high = np.where(short, price, low), np.where(short, high, price)
    return np.where(slack < 1e-14, FLOOR, slack)


def _at_price(problem: Problem, log_price: Floats) -> tuple[Floats, Floats]:
    """Each conditional's slack and h at log prices of its budget, by bracketed Newton steps."""
    alpha = problem.alpha
    theta = (alpha - 1.0) / alpha
    log_slack = np.clip(log_price, np.log(FLOOR), 60.0)
    low, high = np.full(log_slack.shape, np.log(FLOOR)), np.full(log_slack.shape, 140.0)
    for _ in range(100):
        slack = np.exp(log_slack)
        log_mean, slope, bend = _power_mean(slack[..., None] + problem.gaps, problem.p, alpha)
        excess = theta * log_mean + (1.0 + theta) * np.log(slope) + log_price
        low, high = np.where(excess > 0, log_slack, low), np.where(excess > 0, high, log_slack)
        step = excess / (slack * (theta**2 * slope + (1.0 + theta) * bend / alpha))
        moved = log_slack + step
        log_slack = np.where((moved > low) & (moved < high), moved, (low + high) / 2.0)
        if np.all((np.abs(excess) < 1e-12) | (high - low < 1e-13)):
            break
    log_sum = log_mean * theta
    spread = np.exp(log_sum / alpha + theta * (np.log(slope) + log_sum))
    resting = (slack <= 2.0 * FLOOR) & (excess < 0)
    if alpha == 0.5:  # at a slack of zero nothing is left of the cells that have a price
        return slack, np.where(resting, 0.0, spread)
    gamma = alpha / (2.0 * alpha - 1.0)
    share = np.minimum(gamma * log_price + (gamma - 1.0) * log_sum, 700.0)
    return slack, np.where(resting, np.exp(((1.0 - alpha) * share + log_sum) / alpha), spread)


def prepare(
    q: Floats, p: Floats, weight: Floats, alpha: float, radius: float
) -> tuple[Problem, Floats, Floats]:
    top = q.max(axis=-1)
    scale = (top - q.min(axis=-1)).max(axis=1)
    gaps = (top[..., None] - q) / np.where(scale > 0, scale, 1.0)[:, None, None]
    shrink = support_shrink(weight, alpha, radius)
    floored = ~(np.where(gaps <= 0.0, p, 0.0).sum(axis=-1) > 0.0)
    return Problem(gaps, p, weight, shrink, floored, alpha), top, scale


def _solve(problem: Problem, radius: float) -> Floats:
    """Minimise by Newton's method, and by the price where that is known to fail or did."""
    pairs = problem.weight.shape[1] == 2
    if pairs and 0.5 <= problem.alpha <= _NEAR_HALF:
        return _minimise_by_price(problem)
    found, stuck = _minimise(problem, np.maximum(_start(problem, radius), FLOOR))
    if pairs and problem.alpha < 1.0 and len(stuck):
        other = _minimise_by_price(problem[stuck])
        better = _value(problem[stuck], other)[0] < _value(problem[stuck], found[stuck])[0]
        found[stuck] = np.where(better[:, None], other, found[stuck])
    return found


def _support(q: Floats, p: Floats, weight: Floats, alpha: float, radius: float) -> Support:
    problem, top, scale = prepare(q, p, weight, alpha, radius)
    slack = np.full(weight.shape, FLOOR)
    reduction = np.zeros(len(q))
    size = np.zeros(len(q))
    bound_by_budget = (scale > 0) & np.isfinite(problem.shrink) & (radius > 0)
    if bound_by_budget.any():
        inner = problem[bound_by_budget]
        found = _solve(inner, radius)
        value, means = _value(inner, found)
        slack[bound_by_budget] = found
        helps = value < 0.0
        reduction[bound_by_budget] = np.where(helps, value, 0.0)
        size[bound_by_budget] = np.where(helps, found.sum(axis=1) + means, 0.0)
    # Rounding: sums of k products, and powers whose exponent multiplies the relative error.
    amplification = 8.0 if alpha == 2.0 else 128.0
    unit = (q.shape[-1] + 16) * np.finfo(float).eps
    margin = unit * (np.abs(top).sum(axis=1) + scale * (1.0 + amplification * size))
    return Support(top.sum(axis=1) + scale * reduction + margin, slack, scale)


def support(q: Floats, p: Floats, weight: Floats, alpha: float, radius: float) -> Support:
    """Upper bounds on the support function, N problems at once.

    Parameters
    ----------
    q : array of shape (N, T, k)
        Linear functions of the conditionals; T is 1 or 2.
    p : array of shape (N, T, k)
        Empirical conditionals, rows summing to 1. Zeros are allowed.
    weight : array of shape (N, T)
        Empirical marginals of the secrets, positive.
    alpha : float
        Order of the divergence; at least 1/2 if T is 2.
    radius : float
        Radius B of the ball around the joint law, in nats; positive.

    Returns
    -------
    Support

    Examples
    --------
    >>> import numpy as np
    >>> q = np.array([[[1.0, 0.0]]])
    >>> p = np.array([[[0.4118, 0.5882]]])
    >>> found = support(q, p, np.array([[0.17]]), 2.0, 0.0752)
    >>> round(float(found.bound[0]), 3)    # 1 - 0.2727, Entropy Example 2 put right
    0.727
    """
    count = max(1, _CHUNK // max(1, q.shape[1] * q.shape[2]))
    parts = [
        _support(q[i : i + count], p[i : i + count], weight[i : i + count], alpha, radius)
        for i in range(0, max(len(q), 1), count)
    ]
    if len(parts) == 1:
        return parts[0]
    return Support(
        np.concatenate([part.bound for part in parts]),
        np.concatenate([part.slack for part in parts]),
        np.concatenate([part.scale for part in parts]),
    )
