r"""The worst distribution of a Rényi ball for a linear function of one or two conditionals.

The problem is the *support function* of the ball's conditionals (Entropy Theorem 1, ISIT Theorem 3)

.. math:: \max \sum_{i} R_i \cdot q_i \quad\text{over conditionals } R_i
   \text{ that some distribution of the ball has together},

for one secret or for a pair of them. Lagrangian duality, with the price of the shared budget
eliminated in closed form, leaves one slack :math:`\tau_i \ge 0` for each conditional
(:math:`\lambda_i = \max q_i + \tau_i`, :math:`\theta = (\alpha-1)/\alpha`):

.. math::

    \sum_i \lambda_i
    - A^{-1/\theta}\, N_\sigma\bigl(w_i^{1/\theta} M_\theta(\lambda_i - q_i)\bigr),

where :math:`M_\theta` is the power mean of exponent θ under :math:`\hat P_{U|s_i}`,
:math:`N_\sigma(x) = (\sum x_i^\sigma)^{1/\sigma}` with :math:`\sigma = (\alpha-1)/(2\alpha-1)`,
:math:`w_i = \hat P_{s_i}` and :math:`A = \sum w_i + e^{(\alpha-1)B/\alpha} - 1`. For one secret
this is :math:`\lambda - e^{-B_s} M_\theta(\lambda - q)`. The expression is convex in τ and is an
upper bound at *every* τ, converged or not, which makes a certificate rigorous.
``docs/mathematics.md`` has the derivation. This module contains only numerics on arrays, without
secrets, tables or uncertainty sets; a ball is given by its order and radius.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._arrays import LARGEST_EXPONENT, Batch, chunks
from skrldp._typing import Floats

# An interval of length 1 shrinks to 1e-15, the last digits of the root. Doubling the number of
# steps would change nothing and take twice the time.
_STEPS = 50


def bisect(
    holds: Callable[[Floats], Any], low: Floats, high: Floats, steps: int = _STEPS
) -> Floats:
    """Largest points at which a monotone condition holds.

    Shapes: `low` and `high` (N,). Returns (N,): the largest points tried at which the condition
    held; `low` if there was none.

    Examples
    --------
    >>> import numpy as np
    >>> bisect(lambda x: x * x <= np.array([0.25, 2.0]), np.zeros(2), np.full(2, 4.0)).round(6)
    array([0.5     , 1.414214])
    """
    for _ in range(steps):
        middle = (low + high) / 2.0
        is_valid = holds(middle)
        low, high = np.where(is_valid, middle, low), np.where(is_valid, high, middle)
    return low


# --- The dual function of N problems at once, with its derivatives --------------------------------


# Relative to the range of q. Gaps below this are rounding errors, to which the power means of some
# orders are sensitive. They count as zero, which loosens a bound by at most this amount.
_NO_GAP = 1e-14
# Replaces a slack of zero, relative to the range of q: small enough that its inverse square root
# outweighs any cell, and large enough for finite powers.
FLOOR = 1e-25
# Relative amount by which budgets are enlarged, so that rounding errs on the safe side where a
# conditional becomes unrestricted, at which a logarithm is infinite, and where a part of a budget
# is subtracted from the whole. Doubling it would widen balls by about 1e-15.
_OUTWARDS = 16.0 * np.finfo(float).eps
_LARGE = 30.0  # if exponents exceed this, exp(30) = 1e13, the largest is subtracted


@dataclass(frozen=True)
class SupportProblem(Batch):
    """N problems of T conditionals over k cells, scaled to gaps in [0, 1].

    Budgets are in nats of the joint distribution: a conditional R uses w KL(p || R) at order 1.
    """

    gaps: Floats  # (N, T, k)  (max q - q) / scale
    p: Floats  # (N, T, k)
    weight: Floats  # (N, T)
    shrink: Floats  # (N,)  log of the reduction of the power means by the budget
    # (N, T)  cells with the maximum have probability 0, so a slack of 0 may be optimal
    floored: NDArray[np.bool_]
    radius: Floats  # (N,) the shared budget of the conditionals
    limits: Floats | None  # (N, T) limit of each conditional; None for no limit
    alpha: float


@dataclass(frozen=True)
class DualPoint(Batch):
    """The dual function at given slacks, with its derivatives if no conditional has a limit."""

    value: Floats  # (N,)
    means: Floats  # (N,)  A^{-1/theta} N_sigma, the part subtracted from the slacks
    mass: Floats  # (N, T)  sum of the maximiser R: the gradient is 1 - mass
    hessian: Floats  # (N, T, T)

    def overwrite(self, rows: NDArray[np.bool_], point: "DualPoint") -> None:
        """Replace the values of selected problems."""
        for name, values in vars(self).items():
            values[rows] = getattr(point, name)


def power_mean(gaps: Floats, p: Floats, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Log of the power mean of the gaps, its slope S0/W, and S1/S0 (see dual)."""
    if alpha == 2.0:  # the default, the only case without transcendental functions
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
        log_total, root = log_mean_exp(theta * (logs - centre[..., None]), p)
        log_mean = centre + log_total / theta
        total = np.ones(p.shape[:2])
        root = root / gaps
    first = root.sum(axis=-1)
    second = np.einsum("ntu,ntu->nt", root, 1.0 / gaps)
    return log_mean, first / total, second / first


def log_mean_exp(exponents: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Log of the mean of exp(exponents) under p, and p weighted by them, normalised to sum 1.

    Accurate for small exponents, whose mean should be near zero, and without overflow for large
    ones.
    """
    exponents = np.where(p > 0, exponents, 0.0)
    greatest = exponents.max(axis=-1)
    large = greatest > _LARGE
    small = np.where(large[..., None], 0.0, exponents)
    log_mean = np.log1p(np.einsum("...u,...u->...", p, np.expm1(small)))
    if large.any():
        powers = np.exp(exponents[large] - greatest[large, None])
        total = np.einsum("nu,nu->n", p[large], powers)
        log_mean[large] = greatest[large] + np.log(total)
    return log_mean, p * np.exp(exponents - log_mean[..., None])


def dual(problem: SupportProblem, slack: Floats) -> DualPoint:
    """Evaluate the dual function with its derivatives."""
    alpha = problem.alpha
    theta = (alpha - 1.0) / alpha
    log_mean, slope, bend = power_mean(slack[..., None] + problem.gaps, problem.p, alpha)
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
        if sigma != 0.0:  # finite here, because at alpha=1/2 pairs are solved by their price
            log_total, share = log_mean_exp(sigma * (logs - centre[:, None]), share)
            log_means += log_total / sigma
    means = np.exp(log_means)
    mass = means[:, None] * share * slope
    hessian = (sigma - 1.0) * mass[:, :, None] * (share * slope)[:, None, :]
    for i in range(families):
        hessian[:, i, i] -= mass[:, i] * ((sigma - theta) * slope[:, i] - bend[:, i] / alpha)
    if problem.limits is not None and families == 2:
        is_capped, spent = split_budget(log_mean, problem.weight, problem.radius, problem.limits)
        if is_capped.any():
            terms = np.exp(log_mean[is_capped] + spent[is_capped])
            means[is_capped] = terms.sum(axis=1)
            mass[is_capped] = terms * slope[is_capped]
    return DualPoint(slack.sum(axis=1) - means, means, mass, hessian)


def split_budget(
    log_mean: Floats, weight: Floats, radius: Floats, limits: Floats
) -> tuple[NDArray[np.bool_], Floats]:
    r"""Split a budget between two conditionals, each with a limit (order 1).

    The part subtracted from the slacks is the minimum of :math:`\sum_i e^{-k_i/w_i} M_i` over the
    splits :math:`k_1 + k_2 \le B`, :math:`k_i \le b_i`. It is convex in :math:`k_1` on the line
    :math:`k_1 + k_2 = B`, so the best split is the unlimited one, clipped to the limits. A
    different split would not be a bound (docs/proofs.md, Theorem 37 and Corollary 38), so the parts
    are rounded outwards.

    Shapes: `log_mean`, `weight` and `limits` (..., 2); `radius` (...). Returns `held` (...), where
    the unlimited split is not allowed, and `kept` (..., 2), minus k/w: the logarithms of the
    factors of the means.
    """
    both_fit = limits.sum(axis=-1) <= radius  # then each conditional has its whole limit
    total = weight.sum(axis=-1)
    # On the line k1 + k2 = B the derivatives with respect to k1 and k2 are equal.
    apart = log_mean[..., 0] - log_mean[..., 1] - np.log(weight[..., 0] / weight[..., 1])
    first = weight.prod(axis=-1) / total * apart + weight[..., 0] / total * radius
    # The second bound if they cross
    allowed = np.clip(first, radius - limits[..., 1], limits[..., 0])
    # Both parts are rounded outwards, because the last digits of a part that is small relative to
    # the budget matter, and the budgets are already rounded.
    spare = _OUTWARDS * radius
    largest = np.minimum(allowed + spare, limits[..., 0])
    rest = np.minimum(radius + spare - allowed, limits[..., 1])
    return both_fit | (allowed != first), np.stack([-largest, -rest], axis=-1) / weight


def _sigma(alpha: float) -> float:
    """Exponent that couples two conditionals; alpha=1/2, a minimum, is treated separately."""
    return (alpha - 1.0) / (2.0 * alpha - 1.0) if alpha > 0.5 else -1.0


def support_shrink(weight: Floats, alpha: float, radius: float | Floats) -> Floats:
    """Return log(A^{1/theta}) without the marginals; infinite for unrestricted conditionals."""
    return radius_of(weight.sum(axis=1), alpha, radius)


def radius_of(total: Floats, alpha: float, radius: float | Floats) -> Floats:
    """Radius that remains for secrets of this total mass, rounded outwards (Entropy Theorem 1)."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if alpha == 1.0:
            radii = radius / total
        else:
            theta = (alpha - 1.0) / alpha
            reach = np.expm1(theta * radius) / total
            radii = np.log1p(reach * (1.0 + _OUTWARDS)) / theta
    return np.where(np.isnan(radii), np.inf, radii)


def prepare(
    q: Floats,
    p: Floats,
    weight: Floats,
    alpha: float,
    radius: float | Floats,
    limits: Floats | None = None,
) -> tuple[SupportProblem, Floats, Floats]:
    """Return the problem scaled to a range of 1, with its tops and scales."""
    top = q.max(axis=-1)
    scale = (top - q.min(axis=-1)).max(axis=1)
    gaps = (top[..., None] - q) / np.where(scale > 0, scale, 1.0)[:, None, None]
    gaps[gaps < _NO_GAP] = 0.0  # raises q slightly, so bounds remain valid
    shrink = support_shrink(weight, alpha, radius)
    floored = ~(np.where(gaps <= 0.0, p, 0.0).sum(axis=-1) > 0.0)
    radius = np.broadcast_to(np.asarray(radius, dtype=float), len(q))
    if limits is not None:
        # A limit just below the budget is set to the budget, because rounding hides the difference.
        near = limits > (1.0 - 2e-12) * radius[:, None]
        limits = np.where(near, radius[:, None], limits)
    return SupportProblem(gaps, p, weight, shrink, floored, radius, limits, alpha), top, scale


def value(problem: SupportProblem, slack: Floats) -> tuple[Floats, Floats]:
    """Return the bound and the subtracted part, at alpha=1/2 with the true minimum."""
    if problem.alpha != 0.5 or slack.shape[1] == 1:
        point = dual(problem, slack)
        return point.value, point.means
    log_mean, _, _ = power_mean(slack[..., None] + problem.gaps, problem.p, 0.5)
    smallest = (log_mean - np.log(problem.weight)).min(axis=1)
    means = np.exp(smallest + np.log(problem.weight.sum(axis=1)) - problem.shrink)
    return slack.sum(axis=1) - means, means


# --- Slacks of conditionals with a separate budget for each
# -----------------------------------------------


# Logarithms of slacks are accurate to the square of the last step. Doubling it would save no step.
_SETTLED = 1e-7
# Usually 4 to 10 steps are needed; more if budgets are so small that rounding hides them. Bisection
# alone would close the bracket in 60 steps.
_ROOT_STEPS = 60
_LEAST_DIVERGENCE = 1e-300  # replaces zero, so that its logarithm is finite


def is_constant(problem: SupportProblem) -> NDArray[np.bool_]:
    """Return which conditionals have the same gap wherever the public one is positive, (N, T)."""
    gaps, seen = problem.gaps, problem.p > 0
    return np.where(seen, gaps, 0.0).max(axis=-1) <= np.where(seen, gaps, np.inf).min(axis=-1)


def single_slacks(problem: SupportProblem, divergence: Floats) -> Floats:
    """Slacks at which the maximisers have given divergences: each conditional's own minimum.

    The divergence is the log of the power mean plus the log of its slope. It decreases in the slack
    and is nearly linear in logarithms, so that a few Newton steps reach the root.

    Shapes: `divergence` (N, T); returns (N, T).
    """
    shape, lowest = problem.weight.shape, np.log(FLOOR)
    gaps: Floats = problem.gaps.reshape(-1, 1, problem.gaps.shape[2])
    p = problem.p.reshape(gaps.shape)
    target = np.log(np.maximum(divergence, _LEAST_DIVERGENCE)).ravel()
    slack = np.full(len(gaps), FLOOR)  # correct if the maximiser is the same at every slack
    active = np.flatnonzero(~is_constant(problem).ravel())
    point = np.log(np.maximum(start(problem), FLOOR)).ravel()
    gaps, p, target, point = (values[active] for values in (gaps, p, target, point))
    low, high = np.full(len(gaps), -np.inf), np.full(len(gaps), _MOST_LOG_SLACK)
    for _ in range(_ROOT_STEPS):
        log_mean, slope, bend = (
            values[:, 0]
            for values in power_mean(np.exp(point)[:, None, None] + gaps, p, problem.alpha)
        )
        reached = np.maximum(log_mean + np.log(slope), _LEAST_DIVERGENCE)
        excess = np.log(reached) - target
        low, high = np.where(excess > 0, point, low), np.where(excess > 0, high, point)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = point + excess * reached * problem.alpha / (np.exp(point) * (bend - slope))
        at_floor = (newton <= lowest) & (low < lowest)
        outside = ~((newton > low) & (newton < high))
        middle = (np.maximum(low, lowest) + high) / 2.0
        moved = np.where(at_floor, lowest, np.where(outside, middle, newton))
        going = np.abs(moved - point) > _SETTLED
        slack[active] = np.exp(moved)
        if not going.any():
            break
        active, point = active[going], moved[going]
        gaps, p, target, low, high = (values[going] for values in (gaps, p, target, low, high))
    return slack.reshape(shape)


def minimise_with_limits(problem: SupportProblem) -> Floats:
    """Slacks for pairs, at order 1, with a limit on each conditional's part of the budget.

    A limit is active if the price of the budget there exceeds the other conditional's price at the
    rest of the budget, which the other conditional then uses. Otherwise, the budget is shared
    freely.
    """
    assert problem.limits is not None
    limits, radius = problem.limits, problem.radius[:, None]
    rest = radius - limits[:, ::-1]
    twice = problem[np.tile(np.arange(len(limits)), 2)]
    budgets = np.concatenate([limits, rest])
    slacks = single_slacks(
        twice, np.where(budgets > 0, budgets, np.tile(limits, (2, 1))) / twice.weight
    )
    log_mean = power_mean(slacks[..., None] + twice.gaps, twice.p, 1.0)[0]
    log_price = log_mean - budgets / twice.weight - np.log(twice.weight)
    log_price[(budgets <= 0) & ~is_constant(twice)] = np.inf
    at_limit, at_rest = np.split(log_price, 2)
    slack_at_limit, slack_at_rest = np.split(slacks, 2)
    both_fit = limits.sum(axis=1, keepdims=True) <= radius
    binds = (at_limit > at_rest[:, ::-1]) | both_fit
    slack = np.where(binds, slack_at_limit, slack_at_rest)
    free = np.flatnonzero(~binds.any(axis=1))
    if len(free):
        between = (slack_at_limit[free] + slack_at_rest[free]) / 2.0
        slack[free], _ = minimise(replace(problem[free], limits=None), between)
    return slack


# --- Newton's method on the dual function of pairs ------------------------------------------------


# Tolerances of convergence. Every point provides a valid bound, so these determine only its
# tightness: doubling them saves a few steps, and loosens bounds by at most the same amount.
_TOLERANCE = 1e-13  # Newton decrement, relative to the range of q: about 450 units of rounding
_BALANCE = 1e-9  # tolerance for the mass of the worst conditional

# Bounds of a step, so that slacks remain positive and the model remains accurate. Steps were
# counted on 3,000 random pairs each at alpha 0.55, 1, 2, 4 and B 0.001, 0.05, 1.

# Maximum share of a slack to subtract; 0.8 or 0.95 change the number of steps by at most a tenth.
_SHRINK = 0.9
# A slack grows at most to 1 plus ten times itself; 4 or 18 take the same number of steps.
_GROWTH = 9.0
_SHORTER = 0.3  # factor by which a step shrinks after the dual function has risen
_SHORTENINGS = 25  # 0.3**25 is below 1e-13, where no step helps
# From order 1 on, 5 to 12 steps are needed on average, and 35 at most. At order 0.55 with B = 1,
# the average is 25, and 1 % of pairs remain after 80; these are solved by their price. Doubling the
# number would take twice as long for these pairs.
_NEWTON_STEPS = 80

# Safeguards against division by zero and cancellation; their size does not matter within a factor
# of 10.
_LEAST_VARIANCE = 1e-30
_LEAST_SLACK = 1e-12
_LEAST_CURVATURE = 1e-300
_SINGULAR = 1e-14  # relative determinants below this are rounding errors
_RISE = 4e-15  # maximum relative increase of the dual function due to rounding


def start(problem: SupportProblem) -> Floats:
    """Return slacks: accurate for a small ball, of the right order of magnitude for a large one."""
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
    """Return the step to the minimiser of the quadratic model with positive slacks."""
    gradient, hessian = 1.0 - point.mass, point.hessian
    lowest = np.where(problem.floored, FLOOR - slack, -_SHRINK * slack)
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
    # If the step passes a bound, use the better of the two edges.
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
    """Take the step, shortened if the dual function would otherwise rise."""
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
    if worse.any():  # no step helps, so keep the slacks
        moved[worse] = slack[worse]
        after.overwrite(worse, point[worse])
    return moved, after


def minimise(problem: SupportProblem, slack: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Slacks that minimise the dual function of pairs, by a vectorised bounded Newton method.

    Also returns the problems that did not converge.
    """
    best = slack.copy()
    active = np.arange(len(slack))
    point = dual(problem, slack)
    for _ in range(_NEWTON_STEPS):
        step = _newton_step(problem, slack, point)
        decrement = -((1.0 - point.mass) * step).sum(axis=1)
        # A tiny slack barely changes the bound but strongly changes the worst conditional, so both
        # must converge.
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


# --- Slacks of pairs for orders near 1/2, where bracketing is reliable and Newton's method is not -


# Range of logarithms, relative to the range of q: exp(60) is practically infinite. Doubling it
# would need one more step.
_WIDEST = 60.0
# The outer root: if the function is smooth, about 10 chords are needed. Every third step, and every
# step after the first number, is a bisection. The second number of steps closes the bracket even at
# jumps.
_CHORDS, _MOST_POINTS = 24, 80
_MET, _NARROW = 1e-12, 1e-15  # tolerances of equation and bracket; every slack gives a valid bound
_NO_SLACK = 1e-14  # slacks below this count as zero; doubling it would loosen bounds by as much

# The inner root, for a slack, by Newton steps within a bracket.
_MOST_LOG_SLACK = 140.0  # above the root for every price that is tried
_MOST_STEPS = 100  # bisection alone would close the bracket in 51
_DONE, _CLOSE = 1e-12, 1e-13  # tolerances of equation and bracket; every slack gives a valid bound


def minimise_by_price(problem: SupportProblem) -> Floats:
    """Slacks for pairs, 1/2 <= alpha < 1, by a root in the price of the shared budget.

    At a given price, each conditional has a slack, which is the root of a decreasing function, and
    an h; at the correct price, the weighted sum of h is A. This is slow but reliable, and serves
    the few problems near 1/2 on which Newton's method fails. At 1/2, where the dual function has a
    kink, the slacks are those of a slightly larger order, which loosens bounds by at most 2e-9 of
    the range of q.
    """
    problem = replace(problem, alpha=max(problem.alpha, 0.5 + 1e-9))
    log_weight, n = np.log(problem.weight), len(problem.weight)
    low, high = np.full(n, -_WIDEST), np.full(n, _WIDEST)
    solution, below = _at_price(problem, log_weight + low[:, None], log_weight + low[:, None])
    log_slack, above = solution, np.full(len(low), np.inf)
    was_short = np.ones(len(low), dtype=bool)
    for step in range(_MOST_POINTS):
        with np.errstate(invalid="ignore"):
            point = low - below * (high - low) / (above - below)
        chord = np.isfinite(point) & (step % 3 < 2) & (step < _CHORDS)
        point = np.clip(np.where(chord, point, (low + high) / 2.0), low, high)
        log_slack, value = _at_price(problem, log_weight + point[:, None], log_slack)
        short, met = value < 0.0, np.abs(value) < _MET
        # If an end of the bracket stays twice, its value is halved so that the chord moves it (the
        # Illinois method).
        stalled = short == was_short
        above = np.where(short, np.where(stalled, above / 2.0, above), value)
        below = np.where(short, value, np.where(stalled, below / 2.0, below))
        solution = np.where((short | met)[:, None], log_slack, solution)
        low, high = np.where(short | met, point, low), np.where(short & ~met, high, point)
        was_short = short
        if (high - low < _NARROW).all():
            break
    slack = np.exp(solution)
    return np.where(slack < _NO_SLACK, FLOOR, slack)


def _at_price(problem: SupportProblem, log_price: Floats, start: Floats) -> tuple[Floats, Floats]:
    """Find each conditional's log slack at log prices of its budget, by bracketed Newton steps.

    Shapes: `log_price` and `start` (N, 2); returns (N, 2), and the log of the used part of the
    budget, (N,).
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
        # If a step ends below the bracket, the floor is tried first, because many slacks are there.
        below = (moved <= low) & ~tried_floor & ~settled
        tried_floor |= below
        middle = np.where(below, low, (low + high) / 2.0)
        moved = np.where((moved > low) & (moved < high), moved, middle)
        log_slack = np.where(settled, log_slack, moved)
    log_sum = log_mean * theta
    spread = np.exp(log_sum / alpha + theta * (np.log(slope) + log_sum))
    resting = (slack <= 2.0 * FLOOR) & (excess < 0)
    gamma = alpha / (2.0 * alpha - 1.0)
    share = np.minimum(gamma * log_price + (gamma - 1.0) * log_sum, LARGEST_EXPONENT)
    h = np.where(resting, np.exp(((1.0 - alpha) * share + log_sum) / alpha), spread)
    with np.errstate(divide="ignore"):
        spent = np.log(np.einsum("nt,nt->n", problem.weight, h))
    return log_slack, spent - np.log(problem.weight.sum(axis=1)) - theta * problem.shrink


# --- An upper bound on the support function (docs/proofs.md, Theorem 12 and Theorem 15) -----------


# Number of cells in a batch, whose arrays of a megabyte each fit into the cache. Half as many took
# 12 % longer, and twice as many 5 %, on 60,000 pairs of 8 values.
_CHUNK = 1 << 17
# Up to this order, pairs are solved by their price. Above it, Newton's method is tried first; up to
# 0.6, it fails on one pair in a hundred if the ball is large.
_NEAR_HALF = 0.52
# Rounding of a power mean, in units: a few operations at alpha = 2, and otherwise powers, whose
# exponents multiply relative errors. Doubling it would raise bounds by about 1e-14.
_UNITS_SQUARE, _UNITS_OTHER = 8.0, 128.0
_UNITS_SUM = 16  # for the few sums other than those over the cells


@dataclass(frozen=True)
class Support:
    """Upper bounds on N support functions, and the dual slacks that prove them."""

    bound: Floats  # (N,), rigorous upper bounds, with rounding errors included
    slack: Floats  # (N, T), dual slacks, relative to ``scale``
    scale: Floats  # (N,), range of q in each problem


def _solve(problem: SupportProblem) -> Floats:
    """Minimise by Newton's method, or by bracketed roots if that fails or is known to fail."""
    if problem.weight.shape[1] == 1:
        return single_slacks(problem, problem.shrink[:, None])
    if problem.limits is not None:
        return minimise_with_limits(problem)
    point, stuck = np.maximum(start(problem), FLOOR), np.arange(len(problem.weight))
    if problem.alpha > _NEAR_HALF:
        point, stuck = minimise(problem, point)
    if problem.alpha < 1.0 and len(stuck):
        alternative = minimise_by_price(problem[stuck])
        better = value(problem[stuck], alternative)[0] < value(problem[stuck], point[stuck])[0]
        point[stuck] = np.where(better[:, None], alternative, point[stuck])
    return point


def _support(
    q: Floats, p: Floats, weight: Floats, alpha: float, radius: Floats, limits: Floats | None
) -> Support:
    problem, top, scale = prepare(q, p, weight, alpha, radius, limits)
    slack = np.full(weight.shape, FLOOR)
    reduction = np.zeros(len(q))
    size = np.zeros(len(q))
    bound_by_budget = (scale > 0) & np.isfinite(problem.shrink) & (radius > 0)
    if bound_by_budget.any():
        inner = problem[bound_by_budget]
        point = _solve(inner)
        reached, means = value(inner, point)
        slack[bound_by_budget] = point
        helps = reached < 0.0
        reduction[bound_by_budget] = np.where(helps, reached, 0.0)
        size[bound_by_budget] = np.where(helps, point.sum(axis=1) + means, 0.0)
    # Rounding errors: sums of k products, and powers, whose exponents multiply the relative error.
    amplification = _UNITS_SQUARE if alpha == 2.0 else _UNITS_OTHER
    unit = (q.shape[-1] + _UNITS_SUM) * np.finfo(float).eps
    margin = unit * (np.abs(top).sum(axis=1) + scale * (1.0 + amplification * size))
    return Support(top.sum(axis=1) + scale * reduction + margin, slack, scale)


def support(
    q: Floats,
    p: Floats,
    weight: Floats,
    alpha: float,
    radius: float | Floats,
    limits: Floats | None = None,
) -> Support:
    r"""Upper bounds on the support function, N problems at once.

    Shapes: `q` (N, T, k); `p` (N, T, k); `weight` (N, T); `radius` (N,); `limits` (N, T).

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
    radii = np.broadcast_to(np.asarray(radius, dtype=float), len(q))
    points = []
    for rows in chunks(max(len(q), 1), count):
        limit = None if limits is None else limits[rows]
        points.append(_support(q[rows], p[rows], weight[rows], alpha, radii[rows], limit))
    if len(points) == 1:
        return points[0]
    columns = zip(*(vars(point).values() for point in points), strict=True)
    return Support(*(np.concatenate(column) for column in columns))


# --- What a ball allows for one conditional (docs/proofs.md, Theorem 4 and Theorem 8) -------------


# Bounds on probabilities are moved outwards by this much, to allow for rounding in the closed form:
# its y has a relative error of 5 units, and changes a bound by at most as much. Doubling it would
# widen the intervals by 2e-15.
_NUDGE = 8.0 * np.finfo(float).eps


def conditional_radius(marginal: ArrayLike, alpha: float, radius: float | Floats) -> Floats:
    r"""Radius of the ball of P(U|s) around the public conditional (Entropy Theorem 1).

    Shapes: `marginal` (a1,); `radius` (a1,). Returns (a1,): :math:`B_s`, in nats; infinite for a
    secret with an unrestricted conditional.

    Examples
    --------
    >>> conditional_radius([0.17, 0.83], 2.0, 0.0752).round(3)
    array([0.407, 0.09 ])
    """
    weight = np.asarray(marginal, dtype=float)
    return np.where(weight <= 0, np.inf, radius_of(weight, alpha, radius))


def cell_bounds(
    p: ArrayLike, marginal: ArrayLike, alpha: float, radius: float | Floats
) -> tuple[Floats, Floats]:
    """Smallest and largest probability of each value in the ball (Entropy (29)).

    Shapes: `p` (a1, k); `marginal` (a1,); `radius` (a1,); returns `lower, upper` (a1, k).

    Examples
    --------
    >>> lower, upper = cell_bounds([[0.07 / 0.17, 0.10 / 0.17]], [0.17], 2.0, 0.07524)
    >>> lower.round(4)
    array([[0.1552, 0.2727]])
    """
    rho = np.asarray(p, dtype=float)
    weight = np.broadcast_to(np.asarray(marginal, dtype=float)[:, None], rho.shape)
    radii = np.broadcast_to(np.asarray(radius, dtype=float).reshape(-1, 1), rho.shape)
    if not radii.any():
        lower, upper = rho.copy(), rho.copy()
    elif alpha == 2.0:
        lower, upper = _chi2_bounds(rho, conditional_radius(weight, alpha, radii))
    else:
        lower, upper = _general_bounds(rho, weight, alpha, radii)
    unseen = weight <= 0
    lower = np.where(unseen, 0.0, np.clip(lower, 0.0, 1.0))
    upper = np.where(unseen, 1.0, np.clip(upper, 0.0, 1.0))
    return lower, upper


def _chi2_bounds(rho: Floats, radii: Floats) -> tuple[Floats, Floats]:
    """Evaluate the closed form at alpha=2 in y = 1 - exp(-B_s), which preserves precision."""
    y = -np.expm1(-radii)
    root = np.sqrt(y * (y + 4.0 * rho * (1.0 - rho) * (1.0 - y)))
    tilt = (2.0 * rho - 1.0) * y
    return rho - (tilt + root) / 2.0 - _NUDGE, rho - (tilt - root) / 2.0 + _NUDGE


def _general_bounds(
    rho: Floats, weight: Floats, alpha: float, radii: Floats
) -> tuple[Floats, Floats]:
    """Bound for any alpha: one probability against the rest, as an alphabet of two values."""
    p = np.stack([rho.ravel(), 1.0 - rho.ravel()], axis=1)[:, None, :]
    w = np.where(weight > 0, weight, 1.0).ravel()[:, None]
    pick = np.broadcast_to(np.array([1.0, 0.0]), p.shape)
    upper = support(pick, p, w, alpha, radii.ravel()).bound
    lower = -support(-pick, p, w, alpha, radii.ravel()).bound
    return lower.reshape(rho.shape), upper.reshape(rho.shape)


# --- Conditionals that attain the support function (docs/proofs.md, Lemma 13) ---------------------


# Unused shares of the budget below this are ignored, because they change a conditional by only
# about this much. Doubling it would weaken cuts by about as much.
_WORTHWHILE = 1e-7


def worst_conditionals(
    q: Floats,
    p: Floats,
    weight: Floats,
    alpha: float,
    radius: float | Floats,
    slack: Floats,
    limits: Floats | None = None,
) -> Floats:
    """Conditionals inside the ball that nearly attain the support function.

    Shapes: `slack` (N, T). Returns (N, T, k): conditionals that satisfy the budgets, whatever the
    slacks.
    """
    ball = Ball(p, weight, alpha, np.broadcast_to(np.asarray(radius, dtype=float), len(q)), limits)
    problem, _, scale = prepare(q, p, weight, alpha, radius, limits)
    logs = -np.log(slack[..., None] + problem.gaps) / alpha
    conditionals = p * np.exp(logs - logs.max(axis=-1, keepdims=True))
    conditionals /= conditionals.sum(axis=-1, keepdims=True)
    summit = np.zeros_like(conditionals)
    np.put_along_axis(summit, q.argmax(axis=-1)[..., None], 1.0, axis=-1)
    conditionals[scale <= 0] = p[scale <= 0]
    # Newton steps end either at the floor or far above it.
    at_floor = (slack <= 10 * FLOOR) & (scale > 0)[:, None]
    rows = at_floor.any(axis=1)
    if rows.any():  # the cells with the maximum receive the remaining mass
        those = problem[np.flatnonzero(rows)]
        mass = np.where(np.isfinite(those.shrink)[:, None], dual(those, slack[rows]).mass, 0.0)
        spare = np.where(at_floor[rows], np.clip(1.0 - mass, 0.0, 1.0), 0.0)
        if alpha == 0.5:
            spare[:] = 0.0  # only the budget matters there
        conditionals[rows] += spare[..., None] * (summit[rows] - conditionals[rows])
    conditionals = ball.pull_in(conditionals)
    rows &= ball.room(conditionals)
    if rows.any():
        start, goal, floor = (
            conditionals[rows],
            summit[rows],
            at_floor[rows],
        )
        balls = ball[rows]
        best = _push_out(start, goal, floor, balls)
        for order in ((0, 1), (1, 0)) if p.shape[1] == 2 else ():
            moved = start
            for secret in order:
                only = np.arange(2) == secret
                moved = _push_out(moved, goal, floor & only, balls)
            better = ((moved - best) * q[rows]).sum(axis=(1, 2)) > 0
            best = np.where(better[:, None, None], moved, best)
        conditionals[rows] = best
    return conditionals


def _push_out(
    conditionals: Floats, summit: Floats, movable: NDArray[np.bool_], ball: "Ball"
) -> Floats:
    """Move the movable conditionals towards their maxima as far as the budgets allow."""

    def moved(fraction: Floats) -> Floats:
        step = np.where(movable, fraction[:, None], 0.0)[..., None]
        return (1.0 - step) * conditionals + step * summit

    def within(fraction: Floats) -> NDArray[np.bool_]:
        return ball.contains(moved(fraction))

    none, all_the_way = np.zeros(len(conditionals)), np.ones(len(conditionals))
    part_of_it = bisect(within, none, all_the_way)
    return moved(np.where(within(all_the_way), 1.0, part_of_it))


def pull_in(
    conditionals: Floats,
    p: Floats,
    weight: Floats,
    alpha: float,
    radius: float | Floats,
    limits: Floats | None = None,
) -> Floats:
    """Mix with the centre until the budgets hold; the cost is convex, and zero at the centre.

    Shapes: `conditionals` (N, T, k). Returns (N, T, k): conditionals inside the ball.
    """
    radii = np.broadcast_to(np.asarray(radius, dtype=float), len(conditionals))
    return Ball(p, weight, alpha, radii, limits).pull_in(conditionals)


@dataclass(frozen=True)
class Ball(Batch):
    """The budgets of N groups of T conditionals, and the costs of conditionals."""

    p: Floats  # (N, T, k)
    weight: Floats  # (N, T)
    alpha: float
    radius: Floats  # (N,)
    limits: Floats | None  # (N, T)

    def pull_in(self, conditionals: Floats) -> Floats:
        """Mix with the centre: first each conditional separately, then all equally."""
        if self.limits is not None:
            keep = _share_kept(self.cost_of_each(conditionals), self.limits)[..., None]
            conditionals = keep * conditionals + (1.0 - keep) * self.p
        keep = _share_kept(*self.cost(conditionals))[:, None, None]
        return keep * conditionals + (1.0 - keep) * self.p

    def contains(self, conditionals: Floats) -> NDArray[np.bool_]:
        """Whether the budgets hold."""
        cost, budget = self.cost(conditionals)
        inside = cost <= budget
        if self.limits is not None:
            inside &= (self.cost_of_each(conditionals) <= self.limits).all(axis=1)
        return inside

    def room(self, conditionals: Floats) -> NDArray[np.bool_]:
        """Whether a noticeable part of the shared budget, and of a separate one, is unused."""
        cost, budget = self.cost(conditionals)
        left = cost < budget * (1.0 - _WORTHWHILE)
        if self.limits is not None:
            left &= (self.cost_of_each(conditionals) < self.limits * (1.0 - _WORTHWHILE)).any(
                axis=1
            )
        return left

    def cost_of_each(self, conditionals: Floats) -> Floats:
        """Return the cost of each conditional at order 1: its divergence times its weight."""
        return self.weight * _power_sum(conditionals, self.p, 1.0)

    def cost(self, conditionals: Floats) -> tuple[Floats, Floats]:
        """Return the part of the shared budget that conditionals cost, and the budget."""
        alpha, radius = self.alpha, self.radius
        power = _power_sum(conditionals, self.p, alpha)
        if alpha == 1.0:
            return np.einsum("nt,nt->n", self.weight, power), radius
        if conditionals.shape[1] == 1:  # convex for every alpha in this form
            with np.errstate(over="ignore"):
                limit = np.expm1((alpha - 1.0) * support_shrink(self.weight, alpha, radius))
            return np.abs(power[:, 0]), np.abs(limit)
        theta = (alpha - 1.0) / alpha
        with np.errstate(divide="ignore", over="ignore"):
            log_h = np.log1p(np.maximum(power, -1.0)) / alpha
            cost = np.einsum("nt,nt->n", self.weight, np.abs(np.expm1(log_h)))
            limit = np.abs(np.expm1(theta * radius))
        return cost, limit


def _share_kept(cost: Floats, budget: Floats) -> Floats:
    """Weight of a conditional in a mixture with the centre, by convexity of the cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(cost > budget, budget / cost, 1.0)


def _power_sum(conditionals: Floats, p: Floats, alpha: float) -> Floats:
    """Sum of p^alpha R^(1-alpha) over the last axis, minus 1; the divergence at alpha=1.

    Subtracting the 1 term by term preserves precision for alpha near 1.
    """
    seen, positive = p > 0, conditionals > 0
    against = np.where(positive, conditionals, 1.0)
    with np.errstate(over="ignore"):
        log_ratio = np.log(np.where(seen, p, against) / against)
        if alpha == 1.0:
            terms = np.where(positive, p * log_ratio, np.inf)
        else:
            missed = np.inf if alpha > 1.0 else -p
            terms = np.where(positive, p * np.expm1((alpha - 1.0) * log_ratio), missed)
    return np.where(seen, terms, 0.0).sum(axis=-1)


def divergence(center: Floats, distribution: Floats, alpha: float) -> float:
    """Rényi divergence D_alpha(center || distribution), in nats.

    Returns float: infinite if ``distribution`` is 0 where ``center`` is positive (alpha >= 1).
    """
    center, distribution = np.ravel(center).astype(float), np.ravel(distribution).astype(float)
    excess = float(_power_sum(distribution, center, alpha))
    if alpha == 1.0 or excess == np.inf:
        return excess
    return float(np.log1p(excess) / (alpha - 1.0)) if excess > -1.0 else float("inf")
