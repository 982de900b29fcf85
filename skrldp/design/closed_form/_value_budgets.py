"""How much a report of U may say without telling too much about the secret."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skrldp._arrays import chunks
from skrldp._typing import Floats, Indices
from skrldp.privacy import Region, Requirement, Requirements, odds_factor, screened_maxima

__all__ = ["least_odds", "value_budget"]


_MOST_ROUGH = 1 << 22  # upper bounds that are in memory together
_FIRST_GAPS = 64  # pairs of secrets and values whose exact worst case is taken at once


# δ of each of some ε2, of shape (n,).
_Budget = Callable[[Floats], Floats]


def value_budget(requirements: Requirements) -> Callable[[Any], Any]:
    """Find δ, the budget of the report of U, as a function of what is left of the least ε.

    Returns callable: from ε2, the least ε less that of the report of S, to δ, which may be
    infinite; or from an array of some ε2 to one of their δ, which takes little longer than one.
    """
    least = requirements.least_eps
    budgets = [_budget(one, least) for one in requirements]

    def value_eps(part: Any) -> Any:
        parts = np.atleast_1d(np.asarray(part, dtype=float))
        found = np.min([of(parts) for of in budgets], axis=0)
        return found if np.ndim(part) else float(found[0])

    return value_eps


def _budget(one: Requirement, least: float) -> _Budget:
    """δ as a function of ε2, as far as one requirement goes."""
    first, second = _telling_pairs(one.region)
    spare = one.eps - least
    if len(first) == 0:  # no report of U tells anything
        return lambda parts: np.full(parts.shape, np.inf)
    if one.everywhere:
        return lambda parts: parts + spare
    return _tight_budget(one.region, first, second, spare)


def _telling_pairs(region: Region) -> tuple[Indices, Indices]:
    """Pairs of secrets under which U has several values.

    Where parts are filled up with copies, those are no values.
    """
    first, second = region.pairs
    several = (region.rows.real.sum(axis=1) > 1)[region.rows.place]
    telling = several[first] | several[second]
    return first[telling], second[telling]


def _tight_budget(region: Region, first: Indices, second: Indices, spare: float) -> _Budget:
    """δ as a function of ε2, from the exact worst pair for each value of U."""
    lower, upper = region.cell_bounds()
    real = region.rows.real[region.rows.place]
    counts = (real[first] | real[second]).T

    def some(parts: Floats) -> Floats:
        eps = parts + spare
        room = np.expm1(eps)
        # Each conditional alone is an upper bound.
        rough = upper[first].T - odds_factor(eps)[:, None, None] * lower[second].T
        rough = np.where(counts, least_odds(rough, room[:, None, None]), 0.0)

        def exact(row: Indices, entry: Indices) -> Floats:
            value, pair = np.unravel_index(entry, counts.shape)
            gap = region.value_gap(value, first[pair], second[pair], eps[row])
            return least_odds(gap, room[row])

        worst = screened_maxima(rough.reshape(len(parts), -1), exact, _FIRST_GAPS)
        with np.errstate(divide="ignore"):
            return np.log1p(1.0 / worst)

    def value_eps(parts: Floats) -> Floats:
        size = max(1, _MOST_ROUGH // counts.size)
        return np.concatenate([some(parts[rows]) for rows in chunks(len(parts), size)])

    return value_eps


def least_odds(gap: Floats, room: Floats) -> Floats:
    r"""Divide what a report may leak by what it may: 1 / (exp(δ) - 1) for the largest δ.

    Returns array of the shape of ``gap``: from 0, where all may be said, to infinity, where nothing
    may.
    """
    with np.errstate(divide="ignore"):
        return np.where(gap > 0, gap / np.where(gap > 0, room, 1.0), 0.0)
