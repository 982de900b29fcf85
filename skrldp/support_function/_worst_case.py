r"""Conditionals that attain the support function: cuts for designs, witnesses for certificates.

Each conditional is :math:`R \propto p\,(\lambda - q)^{-1/\alpha}` at the slacks that
:func:`support` found (docs/proofs.md, Lemma 13). Whatever those are, what is returned keeps the
budget, so a cut made of it is never too strong.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import Batch
from skrldp._typing import Floats
from skrldp.support_function._bisect import bisect
from skrldp.support_function._dual import FLOOR, dual, prepare, support_shrink

__all__ = ["divergence", "pull_in", "worst_conditionals"]

# Slacks up to this many floors are at the floor. Newton's steps end on it or far above it.
_AT_FLOOR = 10
# Less of the budget than this share is not worth going for: it moves a conditional by about as
# little. Twice as much would leave cuts weaker by as little.
_WORTHWHILE = 1e-7


def worst_conditionals(
    q: Floats,
    p: Floats,
    weight: Floats,
    alpha: float,
    radius: float | Floats,
    slack: Floats,
    own: Floats | None = None,
) -> Floats:
    """Conditionals inside the ball that (nearly) attain the support function.

    Shapes: `slack` (N, T). Returns (N, T, k): conditionals; they keep the budgets whatever the
    slacks are.
    """
    ball = Ball(p, weight, alpha, np.broadcast_to(np.asarray(radius, dtype=float), len(q)), own)
    problem, _, scale = prepare(q, p, weight, alpha, radius, own)
    logs = -np.log(slack[..., None] + problem.gaps) / alpha
    conditionals = p * np.exp(logs - logs.max(axis=-1, keepdims=True))
    conditionals /= conditionals.sum(axis=-1, keepdims=True)
    summit = np.zeros_like(conditionals)
    np.put_along_axis(summit, q.argmax(axis=-1)[..., None], 1.0, axis=-1)
    conditionals[scale <= 0] = p[scale <= 0]
    at_floor = (slack <= _AT_FLOOR * FLOOR) & (scale > 0)[:, None]
    some = at_floor.any(axis=1)
    if some.any():  # the cells that hold the maximum take the mass that is left over
        those = problem[np.flatnonzero(some)]
        mass = np.where(np.isfinite(those.shrink)[:, None], dual(those, slack[some]).mass, 0.0)
        spare = np.where(at_floor[some], np.clip(1.0 - mass, 0.0, 1.0), 0.0)
        if alpha == 0.5:
            spare[:] = 0.0  # there the budget alone tells
        conditionals[some] += spare[..., None] * (summit[some] - conditionals[some])
    conditionals = ball.pull_in(conditionals)
    some &= ball.room(conditionals)
    if some.any():
        start, goal, floor = conditionals[some], summit[some], at_floor[some]
        part = ball[some]
        best = _push_out(start, goal, floor, part)
        for order in ((0, 1), (1, 0)) if p.shape[1] == 2 else ():
            moved = start
            for secret in order:
                only = np.arange(2) == secret
                moved = _push_out(moved, goal, floor & only, part)
            better = ((moved - best) * q[some]).sum(axis=(1, 2)) > 0
            best = np.where(better[:, None, None], moved, best)
        conditionals[some] = best
    return conditionals


def _push_out(
    conditionals: Floats, summit: Floats, movable: NDArray[np.bool_], ball: "Ball"
) -> Floats:
    """Move the movable conditionals towards their summits as far as the budgets allow."""

    def moved(fraction: Floats) -> Floats:
        part = np.where(movable, fraction[:, None], 0.0)[..., None]
        return (1.0 - part) * conditionals + part * summit

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
    own: Floats | None = None,
) -> Floats:
    """Mix with the centre until the budgets hold: the cost is convex and zero at the centre.

    Shapes: `conditionals` (N, T, k). Returns (N, T, k): conditionals inside the ball.
    """
    radii = np.broadcast_to(np.asarray(radius, dtype=float), len(conditionals))
    return Ball(p, weight, alpha, radii, own).pull_in(conditionals)


@dataclass(frozen=True)
class Ball(Batch):
    """What N groups of T conditionals may be: their budgets, and what conditionals take of them."""

    p: Floats  # (N, T, k)
    weight: Floats  # (N, T)
    alpha: float
    radius: Floats  # (N,)
    own: Floats | None  # (N, T)

    def pull_in(self, conditionals: Floats) -> Floats:
        """Mix with the centre, each conditional by itself and then all alike."""
        if self.own is not None:
            keep = _share_kept(self.own_cost(conditionals), self.own)[..., None]
            conditionals = keep * conditionals + (1.0 - keep) * self.p
        keep = _share_kept(*self.cost(conditionals))[:, None, None]
        return keep * conditionals + (1.0 - keep) * self.p

    def contains(self, conditionals: Floats) -> NDArray[np.bool_]:
        """Whether the budgets are kept."""
        cost, budget = self.cost(conditionals)
        inside = cost <= budget
        if self.own is not None:
            inside &= (self.own_cost(conditionals) <= self.own).all(axis=1)
        return inside

    def room(self, conditionals: Floats) -> NDArray[np.bool_]:
        """Whether a noticeable part of the shared budget is left, and of one that is not."""
        cost, budget = self.cost(conditionals)
        left = cost < budget * (1.0 - _WORTHWHILE)
        if self.own is not None:
            left &= (self.own_cost(conditionals) < self.own * (1.0 - _WORTHWHILE)).any(axis=1)
        return left

    def own_cost(self, conditionals: Floats) -> Floats:
        """Return what each conditional takes, at order 1: its divergence times its weight."""
        return self.weight * _power_sum(conditionals, self.p, 1.0)

    def cost(self, conditionals: Floats) -> tuple[Floats, Floats]:
        """Return what conditionals take of the shared budget, and the budget."""
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
    """How much of a conditional to keep when mixing with the centre, by convexity of the cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(cost > budget, budget / cost, 1.0)


def _power_sum(conditionals: Floats, p: Floats, alpha: float) -> Floats:
    """Sum of p^alpha R^(1-alpha) over the last axis, less 1; at alpha=1 the divergence itself.

    Without the 1 the digits are kept, however near alpha is to 1.
    """
    seen, held = p > 0, conditionals > 0
    against = np.where(held, conditionals, 1.0)
    with np.errstate(over="ignore"):
        log_ratio = np.log(np.where(seen, p, against) / against)
        if alpha == 1.0:
            terms = np.where(held, p * log_ratio, np.inf)
        else:
            missed = np.inf if alpha > 1.0 else -p
            terms = np.where(held, p * np.expm1((alpha - 1.0) * log_ratio), missed)
    return np.where(seen, terms, 0.0).sum(axis=-1)


def divergence(center: Floats, distribution: Floats, alpha: float) -> float:
    """Rényi divergence D_alpha(center || distribution), in nats.

    Returns float: infinite where ``distribution`` misses mass that ``center`` has (alpha >= 1).
    """
    center, distribution = np.ravel(center).astype(float), np.ravel(distribution).astype(float)
    excess = float(_power_sum(distribution, center, alpha))
    if alpha == 1.0 or excess == np.inf:
        return excess
    return float(np.log1p(excess) / (alpha - 1.0)) if excess > -1.0 else float("inf")
