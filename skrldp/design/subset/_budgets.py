"""How much a report on a set of values may say without leaking too much about the secret."""

from dataclasses import replace

import numpy as np

from skrldp._typing import Booleans, Floats, Indices
from skrldp.design._screened_maximum import screened_maxima
from skrldp.row_privacy import Region

__all__ = ["set_drops"]


_CHUNK = 2_000_000  # sets times pairs of secrets in memory: 16 MB for each array
_FIRST_PAIRS = 4  # pairs of secrets, for each set, whose exact worst case is taken at once


def set_drops(region: Region, sets: Booleans, budgets: Floats) -> Floats:
    r"""Find the most that reports on sets of values may say: exp(-δ) for each set.

    Parameters
    ----------
    region : Region
        The exact region of a ball: what it allows for a set depends on its public probabilities
        alone.
    sets : boolean array of shape (m, a2)
        Sets of values of U.
    budgets : array of shape (n_pairs,)
        What a report may leak about each pair of secrets of ``region.pairs``, in nats.

    Returns
    -------
    array of shape (m,)
        From 0 (whether U is in the set may be said) to 1 (nothing may be said of it).
    """
    first, _ = region.pairs
    odds = np.zeros(len(sets))
    chunk = max(_CHUNK // max(len(first), 1), 1)
    for start in range(0, len(sets), chunk):
        # Each set stands for a value: bounds and gaps are those of one value at a time.
        mass = np.clip(region.conditionals @ sets[start : start + chunk].T, 0.0, 1.0)
        odds[start : start + chunk] = _odds(replace(region, conditionals=mass), budgets)
    unsaid = np.isinf(odds)
    return np.where(unsaid, 1.0, odds / (1.0 + np.where(unsaid, 0.0, odds)))


def _odds(region: Region, budgets: Floats) -> Floats:
    """Greatest (R1 - e^ε R2) / (e^ε - 1) of each value, with the pair's ε; 0 where it is less."""

    def relative(gap: Floats, room: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.where(gap > 0, gap / np.where(gap > 0, room, 1.0), 0.0)

    lower, upper = region.cell_bounds()
    first, second = region.pairs
    room = np.expm1(budgets)

    def exact(value: Indices, pair: Indices) -> Floats:
        gap = region.value_gap(value, first[pair], second[pair], budgets[pair])
        return relative(gap, room[pair])

    # Each conditional alone is an upper bound.
    rough = relative((upper[first] - np.exp(budgets)[:, None] * lower[second]).T, room)
    return screened_maxima(rough, exact, _FIRST_PAIRS)
