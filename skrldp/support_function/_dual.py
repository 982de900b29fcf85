"""The dual function of N problems at once, with its derivatives."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import Batch
from skrldp._typing import Floats

__all__ = [
    "FLOOR",
    "DualPoint",
    "SupportProblem",
    "dual",
    "power_mean",
    "prepare",
    "radius_of",
    "split_budget",
    "support_shrink",
    "value",
]


# Relative to the range of q. Gaps below it are last digits, of which the power means of some orders
# would make much; they are taken for zero, which loosens a bound by at most as much.
_NO_GAP = 1e-14
# Stands for a slack of zero, relative to the range of q: small enough for its inverse square root
# to outweigh any cell, and large enough for powers of it to be finite.
FLOOR = 1e-25
# Relative: by so much what a budget allows is moved outwards, so that where a conditional becomes
# free, which takes a logarithm to infinity, and where a part of a budget is taken off the whole,
# rounding errs on the safe side. Twice as much would widen balls by some 1e-15.
_OUTWARDS = 16.0 * np.finfo(float).eps
_LARGE = 30.0  # exponents above it, exp(30) = 1e13, are centred at the greatest


@dataclass(frozen=True)
class SupportProblem(Batch):
    """N problems of T conditionals over k cells, scaled to gaps in [0, 1].

    Budgets are in nats of the joint distribution: a conditional R takes w KL(p || R) at order 1.
    """

    gaps: Floats  # (N, T, k)  (max q - q) / scale
    p: Floats  # (N, T, k)
    weight: Floats  # (N, T)
    shrink: Floats  # (N,)  log of what the budget takes off the power means
    floored: NDArray[np.bool_]  # (N, T)  zero cells hold the maximum: a slack of 0 may be optimal
    radius: Floats  # (N,)  the budget that the conditionals share
    own: Floats | None  # (N, T)  what each may take of it at most; None for all of it
    alpha: float


@dataclass(frozen=True)
class DualPoint(Batch):
    """The dual function at given slacks, with its derivatives."""

    value: Floats  # (N,)
    means: Floats  # (N,)  A^{-1/theta} N_sigma, the part subtracted from the slacks
    mass: Floats  # (N, T)  sum of the maximiser R: the gradient is 1 - mass
    hessian: Floats  # (N, T, T)

    def overwrite(self, some: NDArray[np.bool_], others: "DualPoint") -> None:
        """Put other problems' numbers in place of some."""
        for name, own in vars(self).items():
            own[some] = getattr(others, name)


def power_mean(gaps: Floats, p: Floats, alpha: float) -> tuple[Floats, Floats, Floats]:
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
        log_total, root = log_mean_exp(theta * (logs - centre[..., None]), p)
        log_mean = centre + log_total / theta
        total = np.ones(p.shape[:2])
        root = root / gaps
    first = root.sum(axis=-1)
    second = np.einsum("ntu,ntu->nt", root, 1.0 / gaps)
    return log_mean, first / total, second / first


def log_mean_exp(exponents: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Log of the mean of exp(exponents) under p, and p in proportion to them (sums to 1).

    Accurate for small exponents, whose mean should be near zero, and safe for large ones.
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
        if sigma != 0.0:  # finite here: at alpha=1/2 a pair is solved by its price
            log_total, share = log_mean_exp(sigma * (logs - centre[:, None]), share)
            log_means += log_total / sigma
    means = np.exp(log_means)
    mass = means[:, None] * share * slope
    hessian = (sigma - 1.0) * mass[:, :, None] * (share * slope)[:, None, :]
    for i in range(families):
        hessian[:, i, i] -= mass[:, i] * ((sigma - theta) * slope[:, i] - bend[:, i] / alpha)
    if problem.own is not None and families == 2:
        held, kept = split_budget(log_mean, problem.weight, problem.radius, problem.own)
        if held.any():
            parts = np.exp(log_mean[held] + kept[held])
            means[held] = parts.sum(axis=1)
            mass[held] = parts * slope[held]
            hessian[held] = 0.0
            for i in range(2):
                hessian[held, i, i] = mass[held, i] * (bend[held, i] - slope[held, i])
    return DualPoint(slack.sum(axis=1) - means, means, mass, hessian)


def split_budget(
    log_mean: Floats, weight: Floats, radius: Floats, own: Floats
) -> tuple[NDArray[np.bool_], Floats]:
    r"""How two conditionals split a budget of which each may take a part at most (order 1).

    The part subtracted from the slacks is the least of :math:`\sum_i e^{-k_i/w_i} M_i` over the
    splits :math:`k_1 + k_2 \le B`, :math:`k_i \le b_i`. It is convex in :math:`k_1` on the line
    :math:`k_1 + k_2 = B`, so the best split is the unlimited one moved to the nearest that is
    allowed. Another split would be no bound (docs/proofs.md, Theorem 37 and Corollary 38), so the
    parts are rounded outwards.

    Shapes: `log_mean` (..., 2); `weight` and `own` (..., 2); `radius` (...). Returns `held` (...):
    where the unlimited split is not allowed; `kept` (..., 2): minus k/w, the logarithms of what is
    left of the means.
    """
    both = own.sum(axis=-1) <= radius  # then nothing is shared
    total = weight.sum(axis=-1)
    # On the line k1 + k2 = B the derivatives by k1 and k2 are equal.
    apart = log_mean[..., 0] - log_mean[..., 1] - np.log(weight[..., 0] / weight[..., 1])
    first = weight.prod(axis=-1) / total * apart + weight[..., 0] / total * radius
    allowed = np.clip(first, radius - own[..., 1], own[..., 0])  # the latter where they cross
    # Outwards on both sides, for a part that is small beside the budget: its last digits count, and
    # the budgets are rounded already.
    spare = _OUTWARDS * radius
    most = np.minimum(allowed + spare, own[..., 0])
    rest = np.minimum(radius + spare - allowed, own[..., 1])
    return both | (allowed != first), np.stack([-most, -rest], axis=-1) / weight


def _sigma(alpha: float) -> float:
    """Exponent that couples two conditionals (at alpha=1/2 a minimum, treated apart)."""
    return (alpha - 1.0) / (2.0 * alpha - 1.0) if alpha > 0.5 else -1.0


def support_shrink(weight: Floats, alpha: float, radius: float | Floats) -> Floats:
    """log(A^{1/theta}) without the marginals' part; infinite where the conditionals are free."""
    return radius_of(weight.sum(axis=1), alpha, radius)


def radius_of(total: Floats, alpha: float, radius: float | Floats) -> Floats:
    """Radius that is left for secrets of this total mass (Entropy Theorem 1), rounded outwards."""
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
    own: Floats | None = None,
) -> tuple[SupportProblem, Floats, Floats]:
    top = q.max(axis=-1)
    scale = (top - q.min(axis=-1)).max(axis=1)
    gaps = (top[..., None] - q) / np.where(scale > 0, scale, 1.0)[:, None, None]
    gaps[gaps < _NO_GAP] = 0.0  # raises q a little, so bounds stay bounds
    shrink = support_shrink(weight, alpha, radius)
    floored = ~(np.where(gaps <= 0.0, p, 0.0).sum(axis=-1) > 0.0)
    radius = np.broadcast_to(np.asarray(radius, dtype=float), len(q))
    return SupportProblem(gaps, p, weight, shrink, floored, radius, own, alpha), top, scale


def value(problem: SupportProblem, slack: Floats) -> tuple[Floats, Floats]:
    """Return the bound and the subtracted part, at alpha=1/2 with the true minimum."""
    if problem.alpha != 0.5 or slack.shape[1] == 1:
        point = dual(problem, slack)
        return point.value, point.means
    log_mean, _, _ = power_mean(slack[..., None] + problem.gaps, problem.p, 0.5)
    least = (log_mean - np.log(problem.weight)).min(axis=1)
    means = np.exp(least + np.log(problem.weight.sum(axis=1)) - problem.shrink)
    return slack.sum(axis=1) - means, means
