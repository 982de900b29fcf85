"""How much a report on a set of values may say without leaking too much about the secret."""

from dataclasses import replace

import numpy as np

from skrldp._arrays import chunks
from skrldp._typing import Booleans, Floats, Indices
from skrldp.design.closed_form import least_odds
from skrldp.privacy import Region, odds_factor, screened_maxima

__all__ = ["by_value", "secrets_of", "set_drops"]


_CHUNK = 2_000_000  # sets times pairs of secrets in memory: 16 MB for each array
_FIRST_PAIRS = 4  # pairs of secrets, for each set, whose exact worst case is taken at once


def secrets_of(region: Region, n_values: int) -> Indices:
    """Find the secret that each secret of a region belongs to.

    Returns (n_secrets,): places of values of S.
    """
    return region.rows.parts[region.rows.place, 0] // n_values


def set_drops(region: Region, sets: Booleans, budgets: Floats) -> Floats:
    r"""Find the most that reports on sets of values may say: exp(-δ) for each set.

    Shapes: `sets` (m, a2); `budgets` (n_pairs,). Returns (m,): from 0 (whether U is in the set may
    be said) to 1 (nothing may be said of it, or there is nothing to say: the set has no values, or
    all).
    """
    first, _ = region.pairs
    odds = np.zeros(len(sets))
    probabilities, possible = by_value(region, sets.shape[1])
    number = possible.sum(axis=1)[:, None]
    for part in chunks(len(sets), max(_CHUNK // max(len(first), 1), 1)):
        # Each set stands for a value: bounds and gaps are those of one value at a time.
        inside = sets[part].T.astype(float)
        mass = np.clip(probabilities @ inside, 0.0, 1.0)
        found = possible @ inside
        asked = (found > 0) & (found < number)  # else it is known whether U is in the set
        odds[part] = _odds(replace(region, conditionals=mass, layout=None), asked, budgets)
    unsaid = np.isinf(odds) | ~sets.any(axis=1) | sets.all(axis=1)
    return np.where(unsaid, 1.0, odds / (1.0 + np.where(unsaid, 0.0, odds)))


def by_value(region: Region, n_values: int) -> tuple[Floats, Floats]:
    """Return the probability of each value of U under each secret, and 1 where it is possible.

    Shapes: returns `probabilities, possible` (n_secrets, n_values).
    """
    values = (region.rows.parts % n_values)[region.rows.place]
    probabilities, possible = np.zeros((2, region.n_secrets, n_values))
    secret = np.arange(region.n_secrets)[:, None]
    np.add.at(probabilities, (secret, values), region.conditionals)
    possible[secret, values] = 1.0
    return probabilities, possible


def _odds(region: Region, asked: Booleans, budgets: Floats) -> Floats:
    """Greatest (R1 - e^ε R2) / (e^ε - 1) of each value, with the pair's ε; 0 where it is less.

    Only secrets for which the value is asked count.
    """
    lower, upper = region.cell_bounds()
    first, second = region.pairs
    room = np.expm1(budgets)

    def exact(value: Indices, pair: Indices) -> Floats:
        gap = region.value_gap(value, first[pair], second[pair], budgets[pair])
        return least_odds(gap, room[pair])

    # Each conditional alone is an upper bound.
    rough = least_odds((upper[first] - odds_factor(budgets)[:, None] * lower[second]).T, room)
    rough[~(asked[first] | asked[second]).T] = 0.0
    if not region.shared(first, second).any():  # then that is exact
        return np.asarray(rough.max(axis=1, initial=0.0))
    return screened_maxima(rough, exact, _FIRST_PAIRS)
