r"""The set with the greatest reduced cost, by branch and bound: for any number of records.

Up to its scale a row is 1 on a set A and ``drop`` elsewhere. With m the probability of A, its
reduced cost less a multiple ρ of its probability is :math:`h_\rho(m) - \sum_{s \in A} c_s`, with
h concave. If values may be in A in part, the best A holds the values in the order of
:math:`c_s / P_s` up to some point, and at most one of them in part: a bound at the price of a sum.
Where that one value is in A wholly, or not at all, are the two branches. No set of a branch has a
reduced cost above ρ, for each unit of its probability, once its bound is at most 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skrldp._typing import Booleans, Floats, Indices

__all__ = ["Found", "best_set"]


_BATCH = 64  # branches that are looked at together


class Found(NamedTuple):
    """What a search has found."""

    # (m, k), sets that were met on the way; the best one is the best of all if the search was
    # complete
    sets: Booleans
    bound: float  # no set has a greater reduced cost


class _Branches(NamedTuple):
    """Sets of values that are in A, and those about which nothing is decided, in sorted order."""

    inside: Booleans
    free: Booleans

    def some(self, chosen: Indices | Booleans | slice) -> "_Branches":
        return _Branches(self.inside[chosen], self.free[chosen])


@dataclass(frozen=True)
class _Relaxation:
    """The problem with values that may be in A in part, sorted by cost over probability."""

    mass: Floats
    cost: Floats
    slope: Floats
    drop: float
    whole: float

    def solve(self, branches: _Branches, rho: float) -> tuple[Floats, Booleans, Indices]:
        """Return the bound of each branch, the values wholly in its set, and the one in part.

        That one is -1 where there is none.
        """
        inside, free = branches
        drop, outside = self.drop, self.drop * np.log(self.drop)
        free_mass = np.where(free, self.mass, 0.0)
        mean = drop + (1.0 - drop) * ((inside @ self.mass)[:, None] + free_mass.cumsum(axis=1))
        # What a little more of A is worth after each value: it falls, and the slopes rise.
        worth = -outside - (1.0 - drop) * (np.log(np.minimum(mean, 1.0)) + 1.0 + rho)
        wholly = inside | (free & (worth >= self.slope))
        left = free & ~wholly
        place = np.where(left.any(axis=1), left.argmax(axis=1), -1)
        mass, cost = wholly @ self.mass, np.where(wholly, self.cost, 0.0).sum(axis=1)
        slope = np.where(place >= 0, self.slope[place], np.inf)
        best_mean = np.exp((-outside - slope) / (1.0 - drop) - 1.0 - rho)
        room = np.where(place >= 0, self.mass[place], 0.0)
        part = np.clip((best_mean - drop) / (1.0 - drop) - mass, 0.0, room)
        place = np.where(part > 0, place, -1)
        mass = mass + part
        cost = cost + part * np.where(part > 0, slope, 0.0)
        mean = np.minimum(drop + (1.0 - drop) * mass, 1.0)
        bound = (1.0 - mass) * outside - mean * (np.log(mean) + rho) - drop * self.whole - cost
        return bound, wholly, place


def best_set(
    distribution: Floats,
    duals: Floats,
    drop: float,
    reduced_cost: Callable[[Booleans], Floats],
    *,
    gap: float,
    nodes: int,
) -> Found:
    """Find the set of values whose row has the greatest reduced cost, or a bound on it.

    Shapes: `distribution` (k,); `duals` (k,).
    """
    size, cost = len(duals), (1.0 - drop) * duals
    free = np.where(cost < 0, -np.inf, np.inf)  # a value without records costs something or gains
    slope = np.divide(cost, distribution, where=distribution > 0, out=free)
    order = np.argsort(slope, kind="stable")
    problem = _Relaxation(
        distribution[order], cost[order], slope[order], drop, float(np.sum(duals))
    )

    def as_asked(sets: Booleans) -> Booleans:
        found = np.zeros_like(sets)
        found[:, order] = sets
        return found

    met = [as_asked(np.tri(size, size, -1, dtype=bool))]
    rho = max(float(reduced_cost(met[0]).max()), 0.0) + gap
    branches = _Branches(np.zeros((1, size), dtype=bool), np.ones((1, size), dtype=bool))
    while len(branches.free) and nodes > 0:
        now, branches = branches.some(slice(-_BATCH, None)), branches.some(slice(None, -_BATCH))
        nodes -= len(now.free)
        bounds, wholly, place = problem.solve(now, rho)
        open_ = bounds > 0
        now, wholly, place = now.some(open_), wholly[open_], place[open_]
        in_part = np.flatnonzero(place >= 0)
        nearly = wholly[in_part].copy()
        nearly[np.arange(len(in_part)), place[in_part]] = True
        near = np.concatenate([wholly, nearly])
        near = as_asked(near[~near.all(axis=1)])
        if len(near):
            met.append(near)
            rho = max(rho, float(reduced_cost(near).max()) + gap)
        branches = _joined(branches, now.some(in_part), place[in_part])
    while len(branches.free) and problem.solve(branches, rho)[0].max() > 0:
        rho += gap
        gap *= 2.0
    return Found(np.concatenate(met), rho)


def _joined(branches: _Branches, parents: _Branches, place: Indices) -> _Branches:
    """Add two branches for each parent: without one of its values, and with it."""
    rows = np.arange(len(place))
    free, inside = parents.free.copy(), parents.inside.copy()
    free[rows, place] = False
    inside[rows, place] = True
    return _Branches(
        np.concatenate([branches.inside, parents.inside, inside]),
        np.concatenate([branches.free, free, free]),
    )
