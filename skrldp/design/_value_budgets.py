"""How much a report of U may say without telling too much about the secret."""

from collections.abc import Callable

import numpy as np

from skrldp._arrays import chunks
from skrldp._typing import Floats, Indices
from skrldp.requirements import Requirement, Requirements
from skrldp.row_privacy import PointRegion, Region, SimplexRegion, odds_factor, screened_maxima
from skrldp.support_function import l1_radius

__all__ = ["least_odds", "theorem5_distance", "value_budget"]


_PAIRS_AT_ONCE = 1 << 16  # pairs of secrets whose conditionals are in memory together
_FIRST_GAPS = 64  # pairs of secrets and values whose exact worst case is taken at once


def theorem5_distance(region: Region) -> float:
    """Bound d on the ℓ1 distance of two conditionals in the ball (Entropy (62)).

    Parameters
    ----------
    region : Region
        Anything with the public conditionals and the uncertainty set.

    Returns
    -------
    float
        At most 2; of pairs of secrets that are compared. Secrets with one value of U count as 0.
    """
    first, second = _telling_pairs(region)[1:]
    if len(first) == 0:
        return 0.0
    secrets = np.union1d(first, second)
    if isinstance(region, SimplexRegion) or np.any(region.marginal[secrets] <= 0):
        return 2.0
    p = region.conditionals
    apart = max(
        float(np.abs(p[first[part]] - p[second[part]]).sum(axis=1).max())
        for part in chunks(len(first), _PAIRS_AT_ONCE)
    )
    if isinstance(region, PointRegion):
        return min(2.0, apart)
    budgets = region.single_budgets[secrets]
    reach = l1_radius(p[secrets], region.marginal[secrets], region.alpha, budgets)
    return min(2.0, 2.0 * float(reach.max()) + apart)


def _theorem5_budget(distance: float) -> Callable[[float], float]:
    """δ as a function of ε2, from the ℓ1 distance of the conditionals."""
    return lambda part: float(np.log1p(2.0 * np.expm1(part) / distance)) if distance > 0 else np.inf


def value_budget(requirements: Requirements, budget: str = "tight") -> Callable[[float], float]:
    """Find δ, the budget of the report of U, as a function of what is left of the least ε.

    Parameters
    ----------
    requirements : Requirements
        What a row must satisfy; some pair of secrets is compared.
    budget : {"tight", "theorem5"}
        How δ follows over a set of distributions. With "theorem5" it holds for every δ-LDP report
        of U; with "tight" for GRR.

    Returns
    -------
    callable
        From ε2, the least ε less that of the report of S, to δ, which may be infinite.
    """
    least = requirements.least_eps
    budgets = [_budget(one, least, budget) for one in requirements]
    return lambda part: min(of(part) for of in budgets)


def _budget(one: Requirement, least: float, budget: str) -> Callable[[float], float]:
    """δ as a function of ε2, as far as one requirement goes."""
    telling, first, second = _telling_pairs(one.region)
    spare = one.pair_eps[telling] - least
    if len(first) == 0:  # no report of U tells anything
        return lambda _: np.inf
    if one.everywhere:
        return lambda part: part + float(spare.min())
    if budget == "theorem5":
        of_distance = _theorem5_budget(theorem5_distance(one.region))
        return lambda part: of_distance(part + float(spare.min()))
    return _tight_budget(one.region, first, second, spare)


def _telling_pairs(region: Region) -> tuple[Indices, Indices, Indices]:
    """Pairs of secrets under which U has several values: their places, and the two secrets.

    Where parts are filled up with copies, those are no values.
    """
    first, second = region.pairs
    several = (region.rows.real.sum(axis=1) > 1)[region.rows.place]
    telling = np.flatnonzero(several[first] | several[second])
    return telling, first[telling], second[telling]


def _tight_budget(
    region: Region, first: Indices, second: Indices, spare: Floats
) -> Callable[[float], float]:
    """δ as a function of ε2, from the exact worst pair for each value of U."""
    lower, upper = region.cell_bounds()
    real = region.rows.real[region.rows.place]
    counts = (real[first] | real[second]).T

    def value_eps(part: float) -> float:
        eps = part + spare
        room = np.expm1(eps)
        # Each conditional alone is an upper bound.
        rough = least_odds((upper[first] - odds_factor(eps)[:, None] * lower[second]).T, room)
        rough = np.where(counts, rough, 0.0)

        def exact(_: Indices, entry: Indices) -> Floats:
            value, pair = np.unravel_index(entry, rough.shape)
            gap = region.value_gap(value, first[pair], second[pair], eps[pair])
            return least_odds(gap, room[pair])

        worst = float(screened_maxima(rough.reshape(1, -1), exact, _FIRST_GAPS)[0])
        return float(np.log1p(1.0 / worst)) if worst > 0 else np.inf

    return value_eps


def least_odds(gap: Floats, room: Floats) -> Floats:
    r"""Divide what a report may leak by what it may: 1 / (exp(δ) - 1) for the largest δ.

    Parameters
    ----------
    gap : array
        Greatest :math:`R_1(A) - e^\epsilon R_2(A)`; not positive if all may be said.
    room : array
        :math:`e^\epsilon - 1`, of a shape that broadcasts.

    Returns
    -------
    array of the shape of ``gap``
        From 0, where all may be said, to infinity, where nothing may.
    """
    with np.errstate(divide="ignore"):
        return np.where(gap > 0, gap / np.where(gap > 0, room, 1.0), 0.0)
